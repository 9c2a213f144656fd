/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An arena in chunks, each twice as large as the one before. */
#include "arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct sf_arena_chunk {
    struct sf_arena_chunk *next;
    size_t bytes;
    max_align_t memory[];
};

enum { FIRST_CHUNK_BYTES = 4096 };

void sf_arena_init(struct sf_arena *arena, void *first, size_t first_bytes, size_t allowed) {
    *arena = (struct sf_arena){.next = first, .left = first_bytes, .allowed = allowed};
}

void sf_arena_deinit(struct sf_arena *arena) {
    while (arena->chunks != NULL) {
        struct sf_arena_chunk *chunk = arena->chunks;
        arena->chunks = chunk->next;
        free(chunk);
    }
    *arena = (struct sf_arena){0};
}

/* Make room for `bytes` in one piece. What is left of the chunk before is lost. */
static int add_chunk(struct sf_arena *arena, size_t bytes) {
    size_t wanted = arena->chunks == NULL ? FIRST_CHUNK_BYTES : 2 * arena->chunks->bytes;
    if (wanted > arena->allowed) {
        wanted = arena->allowed;
    }
    if (wanted < bytes) {
        wanted = bytes;
    }
    if (wanted > arena->allowed) {
        return -1;
    }
    struct sf_arena_chunk *chunk = malloc(sizeof *chunk + wanted);
    if (chunk == NULL) {
        return -1;
    }
    chunk->next = arena->chunks;
    chunk->bytes = wanted;
    arena->chunks = chunk;
    arena->next = (char *)chunk->memory;
    arena->left = wanted;
    arena->allowed -= wanted;
    return 0;
}

void *sf_arena_alloc(struct sf_arena *arena, size_t bytes) {
    const size_t unit = _Alignof(max_align_t);
    if (bytes > SIZE_MAX - unit) {
        return NULL;
    }
    size_t rounded = (bytes + unit - 1) / unit * unit;
    if (rounded > arena->left && add_chunk(arena, rounded) != 0) {
        return NULL;
    }
    void *memory = arena->next;
    arena->next += rounded;
    arena->left -= rounded;
    return memset(memory, 0, rounded);
}
