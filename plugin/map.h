/* SPDX-License-Identifier: BSD-3-Clause
 *
 * map: a hash table from a pair of addresses to an address, for the delivery path: open addressing, one probe of one
 * cache line in the common case. Clients are found by (client, NULL), subscriptions by (session, topic filter).
 */
#ifndef PLUGIN_MAP_H
#define PLUGIN_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map_slot {
    const void *a; /* NULL: free */
    const void *b;
    void *value;
};

struct map {
    struct map_slot *slots; /* NULL while capacity is 0 */
    size_t capacity;        /* 0 or a power of two */
    size_t count;
};

/* The slot where the search for (a, b) starts. Addresses differ in their middle bits: multiply, take the high ones. */
static inline size_t map_start(const struct map *map, const void *a, const void *b) {
    uint64_t hash = (uint64_t)(uintptr_t)a * UINT64_C(0x9E3779B97F4A7C15);
    hash = (hash ^ (hash >> 29) ^ (uint64_t)(uintptr_t)b) * UINT64_C(0xBF58476D1CE4E5B9);
    return (size_t)(hash >> 32) & (map->capacity - 1);
}

/* The value of (a, b), or NULL. `a` is not NULL. */
static inline void *map_get(const struct map *map, const void *a, const void *b) {
    if (map->capacity == 0) {
        return NULL;
    }
    for (size_t i = map_start(map, a, b);; i = (i + 1) & (map->capacity - 1)) {
        const struct map_slot *slot = &map->slots[i];
        if (slot->a == a && slot->b == b) {
            return slot->value;
        }
        if (slot->a == NULL) {
            return NULL;
        }
    }
}

/* Set the value of (a, b), which may be there already. `a` and `value` are not NULL.
 * false: out of memory, nothing has changed; impossible when (a, b) is there or map_reserve made room. */
bool map_put(struct map *map, const void *a, const void *b, void *value) __attribute__((warn_unused_result));

/* Make room for one more pair, so that the next map_put of a new pair cannot fail. false: out of memory. */
bool map_reserve(struct map *map) __attribute__((warn_unused_result));

/* Remove (a, b) if it is there. The table shrinks when it is mostly empty. */
void map_remove(struct map *map, const void *a, const void *b);

/* Free all memory of the table (not what the values point to). The map is empty and usable afterwards. */
void map_deinit(struct map *map);

#endif
