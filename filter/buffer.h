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

void sf_buffer_add(struct sf_buffer *buffer, const char *text, size_t bytes);
void sf_buffer_add_string(struct sf_buffer *buffer, const char *string);

static inline void sf_buffer_add_char(struct sf_buffer *buffer, char c) {
    sf_buffer_add(buffer, &c, 1);
}

static inline struct sf_text sf_buffer_text(const struct sf_buffer *buffer) {
    return (struct sf_text){buffer->at, buffer->bytes};
}

#endif
