/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Memory for one compilation: taken piece by piece, given back at once. The first pieces come from a buffer of the
 * caller's, so that a short expression needs no malloc. */
#ifndef SUBFILTER_ARENA_H
#define SUBFILTER_ARENA_H

#include <stddef.h>

struct sf_arena_chunk;

struct sf_arena {
    struct sf_arena_chunk *chunks;
    char *next;
    size_t left;    /* in the chunk that is in use */
    size_t allowed; /* more chunks may have so many bytes in all */
};

/* `first` (first_bytes, aligned as malloc's memory is) must outlive the arena; `allowed` caps what is allocated
 * beyond. */
void sf_arena_init(struct sf_arena *arena, void *first, size_t first_bytes, size_t allowed);

/* Everything from sf_arena_alloc is gone then. */
void sf_arena_deinit(struct sf_arena *arena);

/* `bytes` that are zero and aligned for any type. NULL: out of memory, or beyond what is allowed. */
void *sf_arena_alloc(struct sf_arena *arena, size_t bytes);

#endif
