/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Text that grows in an arena. */
#ifndef SUBFILTER_BUFFER_H
#define SUBFILTER_BUFFER_H

#include "arena.h"
#include "text.h"

struct sf_buffer {
    struct sf_arena *arena;
    char *at;
    size_t bytes;
    size_t capacity;
    bool failed; /* out of memory; what was written since is lost */
};

/* Out of line: make room first. */
void sf_buffer_grow_and_add(struct sf_buffer *buffer, const char *text, size_t bytes);

static inline void sf_buffer_add(struct sf_buffer *buffer, const char *text, size_t bytes) {
    if (bytes > buffer->capacity - buffer->bytes) {
        sf_buffer_grow_and_add(buffer, text, bytes);
    } else if (bytes > 0) {
        memcpy(buffer->at + buffer->bytes, text, bytes);
        buffer->bytes += bytes;
    }
}

static inline void sf_buffer_add_string(struct sf_buffer *buffer, const char *string) {
    sf_buffer_add(buffer, string, strlen(string));
}

static inline void sf_buffer_add_char(struct sf_buffer *buffer, char c) {
    sf_buffer_add(buffer, &c, 1);
}

static inline struct sf_text sf_buffer_text(const struct sf_buffer *buffer) {
    return (struct sf_text){buffer->at, buffer->bytes};
}

#endif
