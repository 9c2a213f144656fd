/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See the header. */
#include "failing_memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

struct memory memory;

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *block, size_t size);
void __real_free(void *block);
char *__real_realpath(const char *path, char *resolved);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *block, size_t size);
void __wrap_free(void *block);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t most);
char *__wrap_realpath(const char *path, char *resolved);
ssize_t __wrap_getline(char **line, size_t *capacity, FILE *file);

static bool fails(void) {
    if (!memory.armed) {
        return false;
    }
    size_t n = memory.n_calls++;
    if (n < memory.n_until_failure || (memory.only_one && n > memory.n_until_failure)) {
        return false;
    }
    memory.has_failed = true;
    errno = ENOMEM;
    return true;
}

static void *count(void *block) {
    memory.n_living += block != NULL;
    return block;
}

void *__wrap_malloc(size_t size) {
    return fails() ? NULL : count(__real_malloc(size));
}

void *__wrap_calloc(size_t n, size_t size) {
    return fails() ? NULL : count(__real_calloc(n, size));
}

void *__wrap_realloc(void *block, size_t size) {
    if (fails()) {
        return NULL;
    }
    void *grown = __real_realloc(block, size);
    return block == NULL ? count(grown) : grown;
}

void __wrap_free(void *block) {
    memory.n_living -= block != NULL;
    __real_free(block);
}

char *__wrap_strndup(const char *text, size_t most) {
    size_t bytes = strnlen(text, most);
    char *copy = __wrap_malloc(bytes + 1);
    if (copy != NULL) {
        memcpy(copy, text, bytes);
        copy[bytes] = '\0';
    }
    return copy;
}

char *__wrap_strdup(const char *text) {
    return __wrap_strndup(text, strlen(text));
}

char *__wrap_realpath(const char *path, char *resolved) {
    if (resolved != NULL) {
        return __real_realpath(path, resolved);
    }
    return fails() ? NULL : count(__real_realpath(path, NULL));
}

/* As the C library's, with an allocator that can fail. */
ssize_t __wrap_getline(char **line, size_t *capacity, FILE *file) {
    size_t used = 0;
    for (int c = 0; c != '\n' && (c = getc(file)) != EOF;) {
        if (*line == NULL || used + 2 > *capacity) {
            size_t wanted = *line == NULL ? 120 : *capacity * 2;
            char *grown = __wrap_realloc(*line, wanted);
            if (grown == NULL) {
                return -1;
            }
            *line = grown;
            *capacity = wanted;
        }
        (*line)[used++] = (char)c;
        (*line)[used] = '\0';
    }
    return used == 0 ? -1 : (ssize_t)used;
}

static void arm(size_t n, bool only_one) {
    memory.armed = true;
    memory.only_one = only_one;
    memory.n_until_failure = n;
    memory.n_calls = 0;
    memory.has_failed = false;
}

void memory_arm(size_t n) {
    arm(n, false);
}

void memory_arm_one(size_t n) {
    arm(n, true);
}

bool memory_disarm(void) {
    memory.armed = false;
    return memory.has_failed;
}

void *memory_malloc(size_t size) {
    return __wrap_malloc(size);
}

void memory_free(void *block) {
    __wrap_free(block);
}

void *memory_reliable_malloc(size_t size) {
    return count(__real_malloc(size));
}
