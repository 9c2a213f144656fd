/* SPDX-License-Identifier: BSD-3-Clause
 *
 * map against a table that is searched from end to end. Keys are made so that their searches start near the end of the
 * slots: runs that wrap around are where removal by moving back goes wrong first. */
#include "map.h"
#include "runner.h"

#include <stdlib.h>

enum { MAX_PAIRS = 3000 };

struct pair {
    const void *a;
    const void *b;
    void *value;
};

static struct map map; /* test_defer outlives the stack of a case */
static struct pair naive[MAX_PAIRS];
static size_t n_naive;

static const void *address(uint64_t number) {
    return (const void *)(uintptr_t)number;
}

static struct pair *naive_find(const void *a, const void *b) {
    for (size_t i = 0; i < n_naive; i++) {
        if (naive[i].a == a && naive[i].b == b) {
            return &naive[i];
        }
    }
    return NULL;
}

static void naive_put(const void *a, const void *b, void *value) {
    struct pair *pair = naive_find(a, b);
    if (pair == NULL) {
        pair = &naive[n_naive++];
    }
    *pair = (struct pair){a, b, value};
}

static void naive_remove(const void *a, const void *b) {
    struct pair *pair = naive_find(a, b);
    if (pair != NULL) {
        *pair = naive[--n_naive];
    }
}

static void deinit_map(void *user) {
    (void)user;
    map_deinit(&map);
    n_naive = 0;
}

/* Whether the map holds exactly what the naive table holds, and keeps its own rules. */
static bool is_same(void) {
    size_t n_used = 0;
    for (size_t i = 0; i < map.capacity; i++) {
        n_used += map.slots[i].a != NULL;
    }
    for (size_t i = 0; i < n_naive; i++) {
        if (map_get(&map, naive[i].a, naive[i].b) != naive[i].value) {
            return false;
        }
    }
    return n_used == n_naive && map.count == n_naive && (map.capacity & (map.capacity - 1)) == 0 &&
           map.count * 3 <= map.capacity * 2;
}

/* A key whose search starts in one of the last slots, or in one of the first. */
static const void *key_near_end(uint64_t *state) {
    for (;;) {
        const void *a = address((test_random(state) % 100000 + 1) * 16);
        size_t start = map.capacity == 0 ? 0 : map_start(&map, a, NULL);
        if (map.capacity == 0 || start + 3 >= map.capacity || start < 2) {
            return a;
        }
    }
}

static void test_map_holds_what_a_naive_table_holds(void) {
    test_defer(deinit_map, NULL);
    uint64_t state = test_seed();
    size_t n_steps = test_long() ? 400000 : 30000;
    for (size_t step = 0; step < n_steps; step++) {
        /* phases of growing and of shrinking, between empty and some hundred pairs */
        size_t target = (step / 1000) % 3 == 2 ? 0 : test_random(&state) % 400;
        const void *a = address((test_random(&state) % 300 + 1) * 64);
        const void *b = address(test_random(&state) % 3 * 48);
        void *value = &naive[test_random(&state) % MAX_PAIRS];
        if (n_naive < target) {
            REQUIRE(map_put(&map, a, b, value), "step %zu", step);
            naive_put(a, b, value);
        } else if (n_naive > 0 && test_random(&state) % 4 != 0) {
            struct pair gone = naive[test_random(&state) % n_naive];
            map_remove(&map, gone.a, gone.b);
            naive_remove(gone.a, gone.b);
            CHECK(map_get(&map, gone.a, gone.b) == NULL, "step %zu", step);
        } else {
            map_remove(&map, a, b);
            naive_remove(a, b);
            CHECK(map_get(&map, a, b) == NULL, "step %zu", step);
        }
        REQUIRE(is_same(), "step %zu: %zu pairs, %zu in the map, %zu slots", step, n_naive,
                map.count, map.capacity);
    }
}

static void test_map_removes_across_the_end_of_the_slots(void) {
    test_defer(deinit_map, NULL);
    uint64_t state = test_seed();
    for (size_t round = 0; round < 3000; round++) {
        while (n_naive < 10) { /* two thirds of 16 slots: the table stays small */
            const void *a = key_near_end(&state);
            REQUIRE(map_put(&map, a, NULL, &naive[n_naive]), "round %zu", round);
            naive_put(a, NULL, &naive[n_naive]);
        }
        while (n_naive > 0) {
            struct pair gone = naive[test_random(&state) % n_naive];
            map_remove(&map, gone.a, gone.b);
            naive_remove(gone.a, gone.b);
            REQUIRE(is_same(), "round %zu, %zu pairs left", round, n_naive);
        }
        map_deinit(&map);
    }
}

static void test_map_replaces_a_value(void) {
    test_defer(deinit_map, NULL);
    int first = 0, second = 0;
    CHECK(map_get(&map, address(16), NULL) == NULL, "an empty map");
    map_remove(&map, address(16), NULL);
    REQUIRE(map_put(&map, address(16), NULL, &first), "new");
    REQUIRE(map_put(&map, address(16), NULL, &second), "again");
    CHECK(map.count == 1, "%zu", map.count);
    CHECK(map_get(&map, address(16), NULL) == &second, "the second value");
    CHECK(map_get(&map, address(16), address(16)) == NULL, "another b");
}

static void test_map_shrinks_and_is_usable_after_deinit(void) {
    test_defer(deinit_map, NULL);
    int value = 0;
    for (uint64_t i = 1; i <= 100000; i++) {
        REQUIRE(map_put(&map, address(i * 16), NULL, &value), "%u", (unsigned)i);
    }
    size_t largest = map.capacity;
    CHECK(largest >= 150000, "%zu", largest);
    for (uint64_t i = 1; i <= 100000; i++) {
        map_remove(&map, address(i * 16), NULL);
    }
    CHECK(map.count == 0, "%zu", map.count);
    CHECK(map.capacity <= 16, "%zu slots for nothing, %zu at most", map.capacity, largest);
    map_deinit(&map);
    CHECK(map.slots == NULL && map.capacity == 0, "freed");
    CHECK(map_put(&map, address(16), NULL, &value), "usable again");
}

static void test_map_reserve_makes_room_for_one_pair(void) {
    test_defer(deinit_map, NULL);
    int value = 0;
    for (uint64_t i = 1; i <= 1000; i++) {
        REQUIRE(map_reserve(&map), "%u", (unsigned)i);
        const struct map_slot *slots = map.slots;
        REQUIRE(map_put(&map, address(i * 16), NULL, &value), "%u", (unsigned)i);
        REQUIRE(map.slots == slots, "%u: grown after map_reserve", (unsigned)i);
    }
}

/* Addresses as malloc gives them: their searches must not pile up. */
static void test_map_spreads_heap_addresses(void) {
    test_defer(deinit_map, NULL);
    enum { N = 4096 };
    static void *blocks[N];
    static const size_t sizes[] = {48, 600, 4096};
    for (size_t s = 0; s < N_ROWS(sizes); s++) {
        size_t longest = 0, total = 0;
        for (size_t i = 0; i < N; i++) {
            blocks[i] = malloc(sizes[s]);
            REQUIRE(blocks[i] != NULL && map_put(&map, blocks[i], NULL, blocks[i]), "%zu", i);
        }
        for (size_t i = 0; i < map.capacity; i++) {
            if (map.slots[i].a != NULL) {
                size_t home = map_start(&map, map.slots[i].a, NULL);
                size_t probes = (i - home) & (map.capacity - 1);
                total += probes;
                longest = probes > longest ? probes : longest;
            }
        }
        CHECK(total < N, "blocks of %zu bytes: %zu steps beyond the first for %d pairs", sizes[s],
              total, N);
        CHECK(longest < 64, "blocks of %zu bytes: longest search %zu", sizes[s], longest);
        for (size_t i = 0; i < N; i++) {
            free(blocks[i]);
        }
        map_deinit(&map);
    }
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        TEST(test_map_holds_what_a_naive_table_holds),
        TEST(test_map_removes_across_the_end_of_the_slots),
        TEST(test_map_replaces_a_value),
        TEST(test_map_shrinks_and_is_usable_after_deinit),
        TEST(test_map_reserve_makes_room_for_one_pair),
        TEST(test_map_spreads_heap_addresses),
    };
    return run_tests(argc, argv, cases, N_ROWS(cases));
}
