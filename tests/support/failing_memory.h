/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An allocator that fails when a test wants it to. An executable that depends on failing_memory_dep (meson.build here)
 * has its own calls of malloc, calloc, realloc, free, strdup, strndup, realpath and getline, and those of the static
 * libraries in it, sent to this file by the linker (--wrap). Calls that libraries make among themselves are not
 * seen, so what runs armed should not lead into them. */
#ifndef TESTS_SUPPORT_FAILING_MEMORY_H
#define TESTS_SUPPORT_FAILING_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

extern struct memory {
    bool armed;
    bool only_one;          /* the others after it succeed again */
    size_t n_until_failure; /* while armed */
    size_t n_calls;         /* while armed, those that failed included */
    bool has_failed;
    long n_living; /* blocks */
} memory;

/* From now on the first n allocations succeed and all others fail. */
void memory_arm(size_t n);

/* From now on one allocation fails, after n that succeed. */
void memory_arm_one(size_t n);

/* Back to normal. Returns whether an allocation has failed. */
bool memory_disarm(void);

/* For libraries that take an allocator: counted and made to fail like the others. */
void *memory_malloc(size_t size);
void memory_free(void *block);

/* The same, but it never fails, for a library that is not under test. */
void *memory_reliable_malloc(size_t size);

#endif
