/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The plugin's tables, messages, decisions and the loading of its files without memory: each allocation fails in turn,
 * alone and with all after it. What fails says so, leaves things as they were and leaks nothing; and what promises not to
 * allocate does not. (The control API and the writing of files are in test_oom.c.) */
#include "delivery_world.h"
#include "failing_memory.h"
#include "journal_fixture.h"
#include "runner.h"
#include "settings.h"
#include "subscription_string.h"

#include <jansson.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_FAILURES = 5000 }; /* of one call; it must have succeeded long before */

/* ---- trying again and again ---- */

static long most_kept; /* blocks that a failed attempt may leave for the next one */

/* Call `attempt(user)` with the first, the second, … allocation failing, until none fails; once with all others after it
 * failing as well, once with it alone if `alone`. It says whether it succeeded. A failure must not leak. */
static size_t until_it_works(const char *what, bool alone, bool (*attempt)(void *user),
                             void *user) {
    for (size_t n = 0; n < MAX_FAILURES; n++) {
        long before = memory.n_living;
        if (alone) {
            memory_arm_one(n);
        } else {
            memory_arm(n);
        }
        bool done = attempt(user);
        bool failed = memory_disarm();
        if (done) {
            return n;
        }
        REQUIRE(failed, "%s: failed with memory", what);
        CHECK(memory.n_living - before <= most_kept, "%s, allocation %zu: %ld blocks more", what, n,
              memory.n_living - before);
    }
    REQUIRE(false, "%s: never works", what);
    return 0;
}

static bool chance(uint64_t *state) {
    return test_random(state) % 2 == 0;
}

/* ---- map ---- */

static struct map map;

static void deinit_map(void *user) {
    (void)user;
    map_deinit(&map);
}

static bool put_number(void *user) {
    uintptr_t number = *(uintptr_t *)user;
    return map_put(&map, (const void *)(number * 16), NULL, user);
}

static void test_map_without_memory(void) {
    test_defer(deinit_map, NULL);
    static uintptr_t numbers[500];
    size_t n_failures = 0;
    for (uintptr_t i = 0; i < N_ROWS(numbers); i++) {
        numbers[i] = i + 1;
        n_failures += until_it_works("map_put", false, put_number, &numbers[i]);
        CHECK(map.count == i + 1, "%zu pairs", map.count);
    }
    CHECK(n_failures > 5, "%zu failures", n_failures);
    memory_arm(0);
    for (uintptr_t i = 0; i < N_ROWS(numbers);
         i++) { /* shrinking would like memory, and does without */
        map_remove(&map, (const void *)(numbers[i] * 16), NULL);
        for (uintptr_t k = i + 1; k < N_ROWS(numbers); k += 37) {
            CHECK(map_get(&map, (const void *)(numbers[k] * 16), NULL) == &numbers[k], "%zu",
                  (size_t)k);
        }
    }
    memory_disarm();
    CHECK(map.count == 0, "%zu pairs", map.count);
}

/* ---- topic_tree ---- */

static struct topic_tree tree;

static void deinit_tree(void *user) {
    (void)user;
    topic_tree_deinit(&tree);
}

static void test_topic_tree_without_memory(void) {
    test_defer(deinit_tree, NULL);
    static char filters[400][64];
    uint64_t state = test_seed();
    size_t n_failures = 0;
    for (size_t i = 0; i < N_ROWS(filters); i++) {
        static const char *const ends[] = {"", "/+", "/#", "/a/b/c", "/+/+/#", "/"};
        snprintf(filters[i], sizeof filters[i], "t%u/x%u%s", (unsigned)(test_random(&state) % 5),
                 (unsigned)(test_random(&state) % 40), ends[test_random(&state) % N_ROWS(ends)]);
        bool was_empty = tree.root == NULL;
        bool known = topic_tree_find(&tree, filters[i]) != NULL;
        for (size_t n = 0;; n++) {
            long before = memory.n_living;
            memory_arm(n);
            struct topic_node *node = topic_tree_add(&tree, filters[i]);
            memory_disarm();
            if (node != NULL) {
                n_failures += n;
                CHECK(!known || n == 0, "%s: allocates for one that is there", filters[i]);
                break;
            }
            REQUIRE(n < MAX_FAILURES && memory.n_living == before,
                    "%s, allocation %zu: %ld blocks more", filters[i], n, memory.n_living - before);
            CHECK((tree.root == NULL) == was_empty, "%s, allocation %zu: the root", filters[i], n);
            CHECK(topic_tree_find(&tree, filters[i]) == NULL, "%s, allocation %zu", filters[i], n);
            for (size_t k = 0; k < i; k += 13) {
                CHECK(topic_tree_find(&tree, filters[k]) != NULL, "%s is lost for %s", filters[k],
                      filters[i]);
            }
        }
    }
    CHECK(n_failures > N_ROWS(filters), "%zu failures", n_failures);
    memory_arm(0);
    for (size_t i = 0; i < N_ROWS(filters); i++) {
        topic_tree_release(&tree, topic_tree_find(&tree, filters[i]));
    }
    memory_disarm();
    CHECK(tree.root == NULL, "empty");
}

/* ---- sessions ---- */

static struct sessions sessions;
static struct sf_schema *schema;

static void deinit_sessions(void *user) {
    (void)user;
    sessions_deinit(&sessions);
    sf_schema_free(schema);
    schema = NULL;
}

struct wanted {
    const char *id;
    const char *text;
    struct sf_filter *filter;
};

static bool get_session(void *user) {
    return sessions_get(&sessions, user) != NULL;
}

static bool make_subscription(void *user) {
    const struct wanted *wanted = user;
    struct session *session = sessions_find(&sessions, wanted->id);
    size_t name_bytes = share_topic_offset(wanted->text) == 0 ? 0 : share_name_bytes(wanted->text);
    size_t before[] = {sessions.n_subscriptions, sessions.n_filters, sessions.n_no_local,
                       session_count(session)};
    bool done = session_subscribe(&sessions, session, wanted->text, name_bytes, wanted->filter, 4,
                                  0) != NULL;
    bool same = before[0] == sessions.n_subscriptions && before[1] == sessions.n_filters &&
                before[2] == sessions.n_no_local && before[3] == session_count(session);
    CHECK(done || same, "%s of %s: counted", wanted->text, wanted->id);
    CHECK((session_find(&sessions, session, wanted->text) != NULL) || !done, "%s of %s",
          wanted->text, wanted->id);
    return done;
}

static bool note_as_removed(void *user) {
    const struct wanted *wanted = user;
    return session_note_removed(sessions_find(&sessions, wanted->id), wanted->text, 1000);
}

static void test_sessions_without_memory(void) {
    schema = sf_schema_new();
    REQUIRE(schema != NULL, "memory");
    test_defer(deinit_sessions, NULL);
    size_t n_failures = 0;
    for (size_t i = 0; i < 600; i++) {
        char id[32], text[64];
        snprintf(id, sizeof id, "client-%zu", i % 200);
        n_failures += until_it_works("sessions_get", i % 3 == 0, get_session, id);
        snprintf(text, sizeof text, i % 3 == 0 ? "$share/g%zu/t/%zu" : "t/%zu/%zu", i % 50, i);
        struct wanted wanted = {.id = id, .text = text};
        REQUIRE(sf_compile(schema, NULL, "v=1", 3, &wanted.filter, NULL) == SF_OK, "memory");
        most_kept = 1; /* a longer list, not filled yet */
        n_failures += until_it_works("session_subscribe", i % 2 == 0, make_subscription, &wanted);
        most_kept = 0;
        wanted.filter = NULL;
        wanted.text = "gone";
        n_failures += until_it_works("session_note_removed", i % 2 != 0, note_as_removed, &wanted);
        REQUIRE(!test_has_failed(), "%s of %s", text, id);
    }
    CHECK(n_failures > 1000, "%zu failures", n_failures);
    CHECK(sessions.n_sessions == 200 && sessions.n_subscriptions == 600 &&
              sessions.n_filters == 600,
          "%zu sessions, %zu subscriptions", sessions.n_sessions, sessions.n_subscriptions);

    /* changing what is there needs none */
    struct wanted again = {.id = "client-1", .text = "t/1/1"};
    memory_arm(0);
    CHECK(make_subscription(&again), "a plain one in place of a filter");
    memory_disarm();
    CHECK(sessions.n_filters == 599, "%zu", sessions.n_filters);
}

/* A client whose place cannot be noted is found by its identifier, and nobody else is found there. */
static void test_session_place_without_memory(void) {
    schema = NULL;
    test_defer(deinit_sessions, NULL);
    static char places[64];
    size_t n_failures = 0;
    for (size_t i = 0; i < N_ROWS(places); i++) {
        char id[32];
        snprintf(id, sizeof id, "c%zu", i);
        struct session *session = sessions_get(&sessions, id);
        REQUIRE(session != NULL, "memory");
        struct mosquitto *client = (struct mosquitto *)(void *)&places[i];
        memory_arm(0);
        session_set_client(&sessions, session, client, 7);
        bool failed = memory_disarm();
        n_failures += failed;
        CHECK(session->client == (failed ? NULL : client), "%s", id);
        CHECK(map_get(&sessions.by_client, client, NULL) == (failed ? NULL : session), "%s", id);
        session_set_client(&sessions, session, client, 7);
        CHECK(map_get(&sessions.by_client, client, NULL) == session, "%s", id);
    }
    CHECK(n_failures > 1, "%zu failures", n_failures);
}

static void test_session_bury_without_memory(void) {
    test_defer(deinit_sessions, NULL);
    struct session *session = sessions_get(&sessions, "c");
    REQUIRE(session != NULL, "memory");
    static const char *const texts[] = {"a", "b/+", "$share/g/a", "#"};
    for (size_t i = 0; i < N_ROWS(texts); i++) {
        size_t name_bytes = share_topic_offset(texts[i]) == 0 ? 0 : share_name_bytes(texts[i]);
        REQUIRE(session_subscribe(&sessions, session, texts[i], name_bytes, NULL, 0, 0) != NULL,
                "memory");
    }
    for (size_t n = 0;; n++) {
        REQUIRE(n < MAX_FAILURES, "%zu", n);
        memory_arm(n);
        bool done = session_bury(&sessions, session);
        memory_disarm();
        CHECK(session_count(session) + HASH_COUNT(session->removed) == N_ROWS(texts),
              "allocation %zu: %u and %u", n, session_count(session), HASH_COUNT(session->removed));
        if (done) {
            break;
        }
    }
    CHECK(session_count(session) == 0, "%u", session_count(session));
}

/* ---- delivery ---- */

static bool init_delivery(void *user) {
    struct delivery *delivery = user;
    bool done = delivery_init(delivery, &sessions, schema);
    if (!done) {
        delivery_deinit(delivery); /* allowed, and does nothing */
    }
    return done;
}

static void test_delivery_init_without_memory(void) {
    schema = sf_schema_new();
    REQUIRE(schema != NULL, "memory");
    test_defer(deinit_sessions, NULL);
    struct delivery delivery;
    CHECK(until_it_works("delivery_init", false, init_delivery, &delivery) > 3, "few");
    delivery_deinit(&delivery);
    CHECK(until_it_works("delivery_init", true, init_delivery, &delivery) > 3, "few");
    delivery_deinit(&delivery);
}

static bool reserve_answer(void *user) {
    return delivery_reserve(&world.delivery, user);
}

static void test_delivery_reserve_without_memory(void) {
    enum { N = 300 };
    static struct sf_filter *filters[N];
    world_start(false);
    size_t n_failures = 0;
    for (size_t i = 0; i < N; i++) {
        char text[32];
        snprintf(text, sizeof text, "v=%zu", i);
        REQUIRE(sf_compile(world.schema, NULL, text, strlen(text), &filters[i], NULL) == SF_OK,
                "memory");
        n_failures += until_it_works("delivery_reserve", false, reserve_answer, filters[i]);
        CHECK(sf_filter_id(filters[i]) < world.delivery.n_answers, "%zu", i);
    }
    CHECK(n_failures >= 5, "%zu failures", n_failures);
    for (size_t i = 0; i < N; i++) {
        sf_filter_unref(filters[i]);
    }
}

/* Each READ of a message, the first time: whatever cannot be found out is not delivered, and counted; nothing that is not
 * wanted passes; and with memory all is right again. */
static void test_delivery_read_without_memory(void) {
    enum { N = 40 };
    static char value[9000];
    memset(value, 'x', sizeof value - 1);
    const char *const pairs[] = {"k", "1", "long", value, NULL};
    size_t n_failures = 0;
    for (size_t n = 0; n < 60; n++) {
        for (int alone = 0; alone < 2; alone++) {
            world_start(false);
            world_connect(0, 0, true);
            for (size_t i = 0; i < N; i++) {
                char topic[32];
                snprintf(topic, sizeof topic,
                         i == 0   ? "a/b"
                         : i == 1 ? "a/+"
                         : i == 2 ? "a/#"
                                  : "t/%zu",
                         i);
                world_subscribe(0, topic, "", i == 0 ? K_IS_2 : K_IS_1, false);
            }
            world_subscribe(0, "a/b", "g", K_IS_1, false);
            world_event();
            struct mosquitto_evt_acl_check check = fake_message(0, "a/b", pairs);
            check.client = world.client[0];
            static const bool wanted[] = {false, true, true, true}; /* a/b, a/+, a/#, g */
            bool passed[N_ROWS(wanted)];
            if (alone) {
                memory_arm_one(n);
            } else {
                memory_arm(n);
            }
            for (size_t i = 0; i < N_ROWS(wanted); i++) {
                passed[i] = world_delivers(&check);
            }
            bool failed = memory_disarm();
            n_failures += failed;
            struct delivery_counts counts = world.delivery.counts;
            size_t n_passed = 0;
            for (size_t i = 0; i < N_ROWS(wanted); i++) {
                n_passed += passed[i];
                CHECK(failed || passed[i] == wanted[i], "%zu: copy %zu", n, i);
            }
            CHECK(counts.passed == n_passed && counts.dropped == N_ROWS(wanted) - n_passed,
                  "%zu: %u passed, %u dropped", n, (unsigned)counts.passed,
                  (unsigned)counts.dropped);
            CHECK(failed || counts.undecided == 0, "%zu: %u", n, (unsigned)counts.undecided);
            CHECK(n_passed == 3 || counts.undecided > 0 || counts.ambiguous > 0, "%zu: %zu passed",
                  n, n_passed);

            struct mosquitto_evt_acl_check next = fake_message(1, "a/b", pairs);
            next.client = world.client[0];
            for (size_t i = 0; i < N_ROWS(wanted); i++) {
                CHECK(world_delivers(&next) == wanted[i], "%zu: copy %zu afterwards", n, i);
            }
            REQUIRE(!test_has_failed(), "allocation %zu, alone %d", n, alone);
        }
    }
    CHECK(n_failures > 3, "%zu", n_failures);
}

/* No memory for the seventeenth topic filter of a list that begins as the one before. */
static void test_delivery_read_without_memory_for_a_longer_list(void) {
    enum { N = 17 };
    world_start(false);
    world_connect(0, 0, true);
    world_connect(1, 1, true);
    world_subscribe(1, "+/b/c/d/e/f/+", "", K_IS_1,
                    false); /* asked first: it finds that there is no memory */
    for (unsigned i = 0; i + 1 < N; i++) {
        char topic[48];
        snprintf(topic, sizeof topic, "+/b/%s/%s/%s/%s/+", i & 8 ? "+" : "c", i & 4 ? "+" : "d",
                 i & 2 ? "+" : "e", i & 1 ? "+" : "f");
        world_subscribe(0, topic, "", K_IS_1, false);
    }
    world_subscribe(0, "+/+/+/+/+/+/2", "", K_IS_2, false); /* in the broker's order the last */
    static const char *const topics[] = {"a/b/c/d/e/f/1", "a/b/c/d/e/f/2"};
    for (size_t i = 0; i < N_ROWS(topics); i++) {
        world_event();
        struct mosquitto_evt_acl_check check =
            fake_message(0, topics[i], (const char *const[]){"k", "2", NULL});
        if (i == 1) {
            memory_arm_one(0);
        }
        check.client = world.client[1];
        bool passed = world_delivers(&check);
        check.client = world.client[0];
        size_t n_reads = i == 0 ? N - 1 : N;
        for (size_t k = 0; k < n_reads; k++) {
            passed = world_delivers(&check);
            CHECK(i == 1 || !passed, "%s: copy %zu", topics[i], k);
        }
        CHECK(memory_disarm() == (i == 1), "%s: memory", topics[i]);
        CHECK(passed == (i == 1), "%s: the last copy", topics[i]);
    }
}

static size_t n_calls_in_reads;

static void count_calls(bool before) {
    if (before) {
        memory_arm(SIZE_MAX);
    } else {
        memory_disarm();
        n_calls_in_reads += memory.n_calls;
    }
}

/* After warm-up: whatever is asked, READ takes no memory. */
static void test_delivery_read_allocates_nothing(void) {
    uint64_t state = test_seed();
    static const char *const filters[] = {"a", "a/b", "a/+", "+/b", "#", "a/#", "$SYS/#"};
    static const char *const topics[] = {"a", "a/b", "a/c", "$SYS/x"};
    world_start(true);
    for (int i = 0; i < 6; i++) {
        world_connect(i, (size_t)i, true);
    }
    for (int i = 0; i < 40; i++) {
        world_subscribe((int)(test_random(&state) % 6),
                        filters[test_random(&state) % N_ROWS(filters)], chance(&state) ? "" : "g",
                        (enum rule)(test_random(&state) % N_RULES), test_random(&state) % 8 == 0);
    }
    n_calls_in_reads = 0;
    size_t n_reads = world.n_reads;
    for (int i = 0; i < 400; i++) {
        struct world_message message = {.origin = (enum origin)(test_random(&state) % 4),
                                        .publisher = (int)(test_random(&state) % 6),
                                        .place = test_random(&state) % 3,
                                        .topic = topics[test_random(&state) % N_ROWS(topics)],
                                        .k = chance(&state) ? "1" : NULL,
                                        .cut_after = -1};
        message.publisher = message.origin == FROM_PLUGIN ? NOBODY : message.publisher;
        if (world_cannot_tell(&message)) {
            world_event();
        }
        world_around_read = i < 40 ? NULL : count_calls;
        world_publish(&message);
    }
    CHECK(world.n_reads - n_reads > 1000, "%zu READs", world.n_reads - n_reads);
    CHECK(n_calls_in_reads == 0, "%zu allocations", n_calls_in_reads);
}

/* ---- the journal ---- */

static struct state state;

/* All of the file, or an error; never a part of it, which would be written back. One failure alone
 * is for our own code only: jansson's lexer does not notice that it could not keep a character, and goes on. */
static void check_loading(const char *path, const char *expected, bool alone) {
    size_t n = 0, n_failures = 0;
    for (bool failed = true; failed; n++) {
        REQUIRE(n < MAX_FAILURES, "it never works");
        long before = memory.n_living;
        if (alone) {
            memory_arm_one(n);
        } else {
            memory_arm(n);
        }
        bool opened = state_open(&state, path);
        failed = memory_disarm();
        n_failures += !opened;
        CHECK(opened || state.schema == NULL || state.error[0] != '\0', "allocation %zu: no reason",
              n);
        char *loaded = opened ? state_text(&state) : strdup(expected);
        CHECK(strcmp(loaded, expected) == 0, "allocation %zu: loaded\n%sexpected\n%s", n, loaded,
              expected);
        free(loaded);
        state_close(&state);
        CHECK(memory.n_living == before, "allocation %zu: %ld blocks more", n,
              memory.n_living - before);
        bool torn = false;
        char *in_file = journal_file_text(path, &torn, NULL);
        REQUIRE(in_file != NULL && strcmp(in_file, expected) == 0 && !torn,
                "allocation %zu: in the file\n%s", n, in_file == NULL ? "" : in_file);
        free(in_file);
    }
    CHECK(n_failures > (alone ? 10 : 50), "%zu failures", n_failures);
}

static void test_journal_loads_all_or_nothing(void) {
    static char long_topic[300]; /* longer than a first buffer for a line */
    memset(long_topic, 't', sizeof long_topic - 1);
    const char *path = journal_path("j");
    state_start(&state, path);
    state_subscribe(&state, "c1", "a", NULL, 0, 0);
    state_subscribe(&state, "c1", "b", "v=1", 1, 2);
    state_subscribe(&state, "c2", "$share/g/a", "sql:a = 1 OR b = 'x'", 0, 0);
    state_unsubscribe(&state, "c1", "a");
    REQUIRE(state_subscribe(&state, "c3", long_topic, "tag:x||y", 0, 0), "written");
    char *expected = state_text(&state);
    state_close(&state);
    check_loading(path, expected, false);
    json_set_alloc_funcs(memory_reliable_malloc, memory_free);
    check_loading(path, expected, true);
    json_set_alloc_funcs(memory_malloc, memory_free);

    free(expected);
}

static size_t n_before_failure;

static void fail_in_writes(bool before) {
    if (before) {
        memory_arm_one(n_before_failure);
    } else {
        memory_disarm();
    }
}

/* Whatever fails, and is mended: the file says what memory says. */
static void test_journal_changes_without_memory(void) {
    const char *path = journal_path("j");
    uint64_t random = test_seed();
    state_start(&state, path);
    time_t now = 10;
    for (size_t step = 0; step < 400; step++) {
        n_before_failure = test_random(&random) % 40;
        state_around_write = fail_in_writes;
        state_random_change(&state, &random);
        state_around_write = NULL;
        bool unwell = state.journal.unwell;
        memory_arm(test_random(&random) % 60);
        enum journal_news news = journal_tick(&state.journal, &state.sessions, now += 2);
        bool failed = memory_disarm();
        CHECK(news != JOURNAL_FAILED || failed, "step %zu: %d", step, news);
        CHECK(unwell || news == JOURNAL_NO_NEWS, "step %zu: %d", step, news);
        if (state.journal.unwell) {
            CHECK(journal_tick(&state.journal, &state.sessions, now += 2) == JOURNAL_MENDED,
                  "step %zu", step);
        }
        bool torn = false;
        char *in_file = journal_file_text(path, &torn, NULL);
        char *in_memory = state_text(&state);
        CHECK(in_file != NULL && strcmp(in_file, in_memory) == 0,
              "step %zu: in the file\n%sin memory\n%s", step, in_file, in_memory);
        free(in_file);
        free(in_memory);
        REQUIRE(!test_has_failed(), "step %zu", step);
    }
}

/* ---- settings ---- */

static bool read_settings(void *user) {
    struct settings *settings = user;
    static char keys[][16] = {"tag_key", "state_file", "config_file", "dialects"};
    static char values[][16] = {"key", "state", "config", "kv,sql"};
    struct mosquitto_opt options[N_ROWS(keys)];
    for (size_t i = 0; i < N_ROWS(keys); i++) {
        options[i] = (struct mosquitto_opt){.key = keys[i], .value = values[i]};
    }
    char error[SETTINGS_ERROR_BYTES] = "";
    bool done = settings_read(settings, options, N_ROWS(keys), error);
    CHECK(done || strstr(error, "out of memory") != NULL, "%s", error);
    CHECK(done || settings->tag_key == NULL, "not empty");
    return done;
}

static void test_settings_without_memory(void) {
    struct settings settings;
    for (int alone = 0; alone < 2; alone++) {
        CHECK(until_it_works("settings_read", alone, read_settings, &settings) >= 4, "few");
        CHECK(strcmp(settings.tag_key, "key") == 0 && strcmp(settings.state_file, "state") == 0 &&
                  strcmp(settings.config_file, "config") == 0,
              "read");
        settings_deinit(&settings);
    }
}

int main(int argc, char **argv) {
    json_set_alloc_funcs(memory_malloc, memory_free);
    json_object_seed(1); /* else the first object would allocate for it */
    static const struct test_case cases[] = {
        TEST(test_map_without_memory),
        TEST(test_topic_tree_without_memory),
        TEST(test_sessions_without_memory),
        TEST(test_session_place_without_memory),
        TEST(test_session_bury_without_memory),
        TEST(test_delivery_init_without_memory),
        TEST(test_delivery_reserve_without_memory),
        TEST(test_delivery_read_without_memory),
        TEST(test_delivery_read_without_memory_for_a_longer_list),
        TEST(test_delivery_read_allocates_nothing),
        TEST(test_journal_loads_all_or_nothing),
        TEST(test_journal_changes_without_memory),
        TEST(test_settings_without_memory),
    };
    return run_tests(argc, argv, cases, N_ROWS(cases));
}
