/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A growing text. What it grows out of stays in the arena until that is given back. */
#include "buffer.h"

#include <stdint.h>

static bool grow(struct sf_buffer *buffer, size_t needed) {
    size_t capacity = buffer->capacity < 64 ? 64 : buffer->capacity;
    while (capacity < needed) {
        if (capacity > SIZE_MAX / 2) {
            return false;
        }
        capacity *= 2;
    }
    char *at = sf_arena_alloc(buffer->arena, capacity);
    if (at == NULL) {
        return false;
    }
    if (buffer->bytes > 0) {
        memcpy(at, buffer->at, buffer->bytes);
    }
    buffer->at = at;
    buffer->capacity = capacity;
    return true;
}

void sf_buffer_grow_and_add(struct sf_buffer *buffer, const char *text, size_t bytes) {
    if (buffer->failed || bytes > SIZE_MAX - buffer->bytes ||
        !grow(buffer, buffer->bytes + bytes)) {
        buffer->failed = true;
        return;
    }
    memcpy(buffer->at + buffer->bytes, text, bytes);
    buffer->bytes += bytes;
}
