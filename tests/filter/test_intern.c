/* SPDX-License-Identifier: BSD-3-Clause
 *
 * filter/intern.h by itself: against a table that is searched from end to end, and what it keeps of memory. */
#include "intern.h"

#include <stdio.h>
#include <string.h>

#include "runner.h"

enum { MAX_TEXTS = 500 };

static const uint64_t key[2] = {1, 2};

/* A text that may be interned. */
struct entry {
    uint32_t n_references;
    uint32_t id;
};

static struct sf_text text_of(size_t i, char *buffer, size_t buffer_bytes) {
    int n = i == 0 ? 0 : snprintf(buffer, buffer_bytes, "text-%zu", i);
    return (struct sf_text){buffer, (size_t)n};
}

static void undo_intern(void *user) {
    sf_intern_deinit(user);
}

static bool is_id_taken(const struct entry *entries, uint32_t id, size_t except) {
    for (size_t i = 0; i < MAX_TEXTS; i++) {
        if (i != except && entries[i].n_references > 0 && entries[i].id == id) {
            return true;
        }
    }
    return false;
}

static void acquire(struct sf_intern *intern, struct entry *entries, size_t i) {
    char buffer[32];
    struct sf_text text = text_of(i, buffer, sizeof buffer);
    uint32_t id = SF_NO_ID;
    REQUIRE(sf_intern_acquire(intern, text, &id) == SF_OK, "text %zu", i);
    if (entries[i].n_references++ == 0) {
        entries[i].id = id;
        CHECK(!is_id_taken(entries, id, i), "text %zu has the id of another, %u", i, id);
    }
    CHECK(entries[i].id == id, "text %zu has changed its id from %u to %u", i, entries[i].id, id);
    CHECK(strlen(sf_intern_at(intern, id)->text) == text.bytes, "text %zu", i);
}

static void release(struct sf_intern *intern, struct entry *entries, size_t i) {
    if (entries[i].n_references > 0) {
        bool was_last = sf_intern_release(intern, entries[i].id);
        entries[i].n_references--;
        CHECK(was_last == (entries[i].n_references == 0), "text %zu", i);
    }
}

static void check_all(const struct sf_intern *intern, const struct entry *entries) {
    uint32_t n_living = 0;
    for (size_t i = 0; i < MAX_TEXTS; i++) {
        char buffer[32];
        uint32_t id = sf_intern_find(intern, text_of(i, buffer, sizeof buffer));
        uint32_t expected = entries[i].n_references > 0 ? entries[i].id : SF_NO_ID;
        CHECK(id == expected, "text %zu: %u instead of %u", i, id, expected);
        n_living += entries[i].n_references > 0 ? 1 : 0;
    }
    CHECK(intern->n_living == n_living, "%u instead of %u", intern->n_living, n_living);
}

static void test_intern_agrees_with_a_naive_table(void) {
    static struct entry entries[MAX_TEXTS];
    static struct sf_intern intern; /* test_defer runs when the case is over */
    uint64_t state = test_seed();
    uint32_t most = 0;
    sf_intern_init(&intern, key);
    test_defer(undo_intern, &intern);
    for (int round = 0; round < 20000; round++) {
        /* now mostly taking, now mostly giving back, so that the table grows and shrinks */
        bool takes = test_random(&state) % 8 < (round / 2000 % 2 == 0 ? 6u : 2u);
        size_t i = test_random(&state) % MAX_TEXTS;
        if (takes) {
            acquire(&intern, entries, i);
        } else {
            release(&intern, entries, i);
        }
        most = intern.n_living > most ? intern.n_living : most;
        if (round % 500 == 0) {
            check_all(&intern, entries);
        }
    }
    CHECK(intern.n_used <= most, "%u ids for at most %u texts", intern.n_used, most);
    for (size_t i = 0; i < MAX_TEXTS; i++) {
        while (entries[i].n_references > 0) {
            release(&intern, entries, i);
        }
    }
    check_all(&intern, entries);
    CHECK(intern.n_buckets <= 16, "%u buckets are left", intern.n_buckets);
}

/* What a client can do: one name after the other. */
static void test_intern_does_not_grow_by_ever_new_texts(void) {
    static struct sf_intern intern; /* test_defer runs when the case is over */
    sf_intern_init(&intern, key);
    test_defer(undo_intern, &intern);
    for (size_t i = 1; i < 10000; i++) {
        char buffer[32];
        uint32_t id = SF_NO_ID;
        REQUIRE(sf_intern_acquire(&intern, text_of(i, buffer, sizeof buffer), &id) == SF_OK, "%zu",
                i);
        CHECK(id == 0 && sf_intern_release(&intern, id), "text %zu has id %u", i, id);
    }
    CHECK(intern.n_entries <= 4 && intern.n_buckets <= 8, "%u entries, %u buckets",
          intern.n_entries, intern.n_buckets);
}

/* All texts in one bucket: clear_bucket has to move those behind. */
static void test_intern_survives_collisions(void) {
    static struct entry entries[MAX_TEXTS];
    static struct sf_intern intern; /* test_defer runs when the case is over */
    sf_intern_init(&intern, key);
    test_defer(undo_intern, &intern);
    for (size_t i = 0; i < 5; i++) {
        acquire(&intern, entries, i);
    }
    for (uint32_t id = 0; id < 5; id++) { /* as if all had the last bucket as theirs */
        intern.entries[id].hash = UINT32_MAX;
    }
    for (uint32_t i = 0; i < intern.n_buckets; i++) {
        intern.buckets[i] = (struct sf_intern_bucket){.id = SF_NO_ID};
    }
    for (uint32_t id = 0; id < 5; id++) {
        uint32_t at = (intern.n_buckets - 1 + id) % intern.n_buckets;
        intern.buckets[at] = (struct sf_intern_bucket){UINT32_MAX, id};
    }
    static const uint32_t order[] = {1, 0, 3};
    for (size_t i = 0; i < N_ROWS(order); i++) {
        CHECK(sf_intern_release(&intern, order[i]), "id %u", order[i]);
    }
    uint32_t last = intern.n_buckets - 1;
    CHECK(intern.buckets[last].id == 2 && intern.buckets[0].id == 4, "%u, %u",
          intern.buckets[last].id, intern.buckets[0].id);
    CHECK(intern.buckets[1].id == SF_NO_ID && intern.n_living == 2, "%u", intern.buckets[1].id);
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        TEST(test_intern_agrees_with_a_naive_table),
        TEST(test_intern_does_not_grow_by_ever_new_texts),
        TEST(test_intern_survives_collisions),
    };
    return run_tests(argc, argv, cases, N_ROWS(cases));
}
