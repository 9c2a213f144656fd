/* SPDX-License-Identifier: BSD-3-Clause
 *
 * map: linear probing at a load of at most two thirds; removal moves later entries back instead of leaving marks, so a
 * table in which clients come and go for years stays as fast as a new one.
 */
#include "map.h"

#include <stdlib.h>

enum { MIN_CAPACITY = 16 };

static void insert(struct map *map, const void *a, const void *b, void *value) {
    size_t i = map_start(map, a, b);
    while (map->slots[i].a != NULL) {
        i = (i + 1) & (map->capacity - 1);
    }
    map->slots[i] = (struct map_slot){.a = a, .b = b, .value = value};
    map->count++;
}

static bool resize(struct map *map, size_t capacity) {
    struct map bigger = {.capacity = capacity};
    bigger.slots = calloc(capacity, sizeof *bigger.slots);
    if (bigger.slots == NULL) {
        return false;
    }
    for (size_t i = 0; i < map->capacity; i++) {
        if (map->slots[i].a != NULL) {
            insert(&bigger, map->slots[i].a, map->slots[i].b, map->slots[i].value);
        }
    }
    free(map->slots);
    *map = bigger;
    return true;
}

bool map_reserve(struct map *map) {
    if ((map->count + 1) * 3 <= map->capacity * 2) {
        return true;
    }
    return resize(map, map->capacity == 0 ? MIN_CAPACITY : map->capacity * 2);
}

static struct map_slot *find(const struct map *map, const void *a, const void *b) {
    if (map->capacity == 0) {
        return NULL;
    }
    size_t i = map_start(map, a, b);
    while (map->slots[i].a != NULL) {
        if (map->slots[i].a == a && map->slots[i].b == b) {
            return &map->slots[i];
        }
        i = (i + 1) & (map->capacity - 1);
    }
    return NULL;
}

bool map_put(struct map *map, const void *a, const void *b, void *value) {
    struct map_slot *slot = find(map, a, b);
    if (slot != NULL) {
        slot->value = value;
        return true;
    }
    if (!map_reserve(map)) {
        return false;
    }
    insert(map, a, b, value);
    return true;
}

void map_remove(struct map *map, const void *a, const void *b) {
    struct map_slot *slot = find(map, a, b);
    if (slot == NULL) {
        return;
    }
    size_t mask = map->capacity - 1;
    size_t hole = (size_t)(slot - map->slots);
    for (size_t i = (hole + 1) & mask; map->slots[i].a != NULL; i = (i + 1) & mask) {
        size_t home = map_start(map, map->slots[i].a, map->slots[i].b);
        /* an entry may move back into the hole unless its search starts after the hole */
        if (((i - home) & mask) >= ((i - hole) & mask)) {
            map->slots[hole] = map->slots[i];
            hole = i;
        }
    }
    map->slots[hole] = (struct map_slot){0};
    map->count--;
    if (map->capacity > MIN_CAPACITY && map->count * 8 < map->capacity) {
        (void)resize(map, map->capacity / 2); /* a failure leaves it large */
    }
}

void map_deinit(struct map *map) {
    free(map->slots);
    *map = (struct map){0};
}
