/* SPDX-License-Identifier: BSD-3-Clause
 *
 * delivery against a model of the broker that does, at random and far too often, what could mislead it: see
 * delivery_world.h. */
#include "delivery_world.h"
#include "runner.h"

#include <stdio.h>
#include <string.h>

static uint64_t state;

/* What a world has, as bits: the fewer, the more must be exact. */
enum {
    WITH_GROUPS = 1,
    WITH_NO_LOCAL = 2,
    WITH_STRANGERS = 4,
    WITH_DOLLAR = 8,
    WITH_KICKS = 16,
    N_FLAVOURS = 32
};
static unsigned flavour;

/* How many filters a world chooses from, and of five subscriptions, how many are shared: where few are asked about, a
 * message must be told from the one before it by those few. */
static size_t n_filters, n_shared_of_5;

static size_t n_avoided; /* messages that the plugin is known to take for the one before */

static uint64_t below(uint64_t n) {
    return test_random(&state) % n;
}

static const char *pick_filter(void) {
    static const char *const filters[] = {"a/b", "a/#", "a/+", "a/b/#", "+/b",
                                          "#",   "+/+", "a",   "a/+/#", "+"};
    if ((flavour & WITH_DOLLAR) != 0 && below(8) == 0) {
        return below(2) == 0 ? "$SYS/#" : "$SYS/broker/log/N";
    }
    return filters[below(n_filters)];
}

static const char *pick_topic(void) {
    static const char *const topics[] = {"a", "a/b", "a/b", "a/b", "a/c", "a/b/c", "$SYS/x"};
    return topics[below((flavour & WITH_DOLLAR) != 0 ? N_ROWS(topics) : N_ROWS(topics) - 1)];
}

static const char *pick_k(void) {
    static const char *const values[] = {"1", "1", "2", "3", NULL};
    return values[below(N_ROWS(values))];
}

static const char *pick_group(void) {
    bool shared = (flavour & WITH_GROUPS) != 0 && below(5) < n_shared_of_5;
    return !shared ? "" : below(2) == 0 ? "g" : "h";
}

/* A place where no client is, or a place that was free last. */
static size_t free_place(void) {
    for (;;) {
        size_t place = below(WORLD_PLACES);
        if (fake_clients[place].id[0] == '\0') {
            return place;
        }
    }
}

static bool is_live(int session) {
    return world.client[session] != NULL && world.client[session]->registered;
}

static int pick_live(void) {
    int session = (int)below(WORLD_SESSIONS);
    for (int i = 0; i < WORLD_SESSIONS; i++) {
        int candidate = (session + i) % WORLD_SESSIONS;
        if (is_live(candidate)) {
            return candidate;
        }
    }
    return NOBODY;
}

/* ---- steps ---- */

static void step_subscribe(int session) {
    static const char *const retained[] = {"a", "a/b", "a/c", "a/b/c", "$SYS/x", NULL};
    const char *filter = pick_filter(), *group = pick_group();
    if (world.n_subscriptions + 1 >= WORLD_SUBSCRIPTIONS) {
        world_unsubscribe(session, filter, group);
        return;
    }
    world_subscribe(session, filter, group, (enum rule)below(N_RULES),
                    (flavour & WITH_NO_LOCAL) != 0 && below(8) == 0);
    if (group[0] == '\0' && below(2) == 0) {
        world_replay(session, filter, retained, pick_k());
    }
}

static void step_session(int session) {
    if (world.client[session] == NULL) {
        world_connect(session, free_place(), (flavour & WITH_STRANGERS) == 0 || below(4) != 0);
    } else if (!is_live(session)) {
        world_free(session);
        if (below(2) == 0) {
            world_sweep(session);
        }
    } else if (below(3) != 0) {
        size_t place = free_place();
        if (below(2) == 0) {
            const struct world_message queued = {.topic = pick_topic(), .k = pick_k(), .qos = 1};
            world_recheck(session, place, &queued);
        }
        world_move(session, place, below(3) != 0);
    } else {
        world_end(session, below(2) == 0);
    }
}

/* A run of messages, many of them at the same addresses and on the same topic, with events between only where the broker
 * has them. */
static void step_publish(void) {
    const char *topic = pick_topic();
    size_t place = below(3);
    for (size_t n = below(6) + 1; n > 0; n--) {
        int publisher = pick_live();
        uint64_t nesting = below(3) == 0 ? test_random(&state) : 0;
        struct world_message message = {
            .origin = publisher == NOBODY ? FROM_PLUGIN : (enum origin)below(4),
            .place = below(4) == 0 ? below(3) : place,
            .topic = below(4) == 0 ? pick_topic() : topic,
            .k = pick_k(),
            .retain = below(8) == 0,
            .kick_after = (flavour & WITH_KICKS) != 0 && below(16) == 0 ? (int)below(6) : 0,
            .with_will = below(2) == 0,
            .cut_after = below(16) == 0 ? (int)below(6) : -1,
            .nesting = &nesting,
        };
        message.publisher = message.origin == FROM_PLUGIN ? NOBODY : publisher;
        message.qos = message.origin == FROM_PUBLISH  ? (uint8_t)below(2)
                      : message.origin == FROM_PUBREL ? 2
                                                      : (uint8_t)below(3);
        if (world_cannot_tell(&message)) {
            n_avoided++;
            world_event();
        }
        if (!world_publish(&message)) {
            return;
        }
    }
}

static void random_step(void) {
    int session = (int)below(WORLD_SESSIONS);
    uint64_t kind = below(20);
    if (kind == 0 || world.client[session] == NULL) {
        step_session(session);
    } else if (!is_live(session)) {
        step_publish();
        if (below(4) == 0) {
            step_session(session);
        }
    } else if (kind < 4) {
        step_subscribe(session);
    } else if (kind < 9) {
        for (size_t n = 0; n < 4; n++) {
            world_unsubscribe(session, pick_filter(), pick_group());
        }
    } else if (kind == 9 && (flavour & WITH_STRANGERS) != 0 &&
               world.n_subscriptions + 1 < WORLD_SUBSCRIPTIONS) {
        world_add_unknown(session, pick_filter(), pick_group());
    } else if (kind == 10) {
        world_remove_unknown(session);
    } else {
        step_publish();
    }
}

static void test_delivery_answers_for_the_right_subscription(void) {
    state = test_seed();
    size_t n_worlds = test_long() ? 480 : 12;
    size_t n_extra_in_all = 0;
    for (flavour = 0; flavour < N_FLAVOURS; flavour++) {
        size_t n_reads = 0, n_extra = 0;
        n_avoided = 0;
        for (size_t i = 0; i < n_worlds; i++) {
            world_start(i % 2 != 0);
            n_filters = i % 3 == 0 ? 10 : i % 3 == 1 ? 5 : 2;
            n_shared_of_5 = i % 4 + 2;
            for (size_t step = 0; step < 300; step++) {
                random_step();
                REQUIRE(!test_has_failed(), "flavour %u, world %zu, step %zu", flavour, i, step);
            }
            n_reads += world.n_reads;
            n_extra += world.n_extra;
        }
        test_note("flavour %u: %zu READs, %zu extra copies, %zu times an event was put in between",
                  flavour, n_reads, n_extra, n_avoided);
        CHECK(n_reads > n_worlds * 1000, "flavour %u: %zu READs test little", flavour, n_reads);
        CHECK(n_extra == 0 || flavour != 0, "where the order tells everything: %zu extra copies",
              n_extra);
        CHECK(n_extra < n_reads / 4, "flavour %u: %zu extra copies", flavour, n_extra);
        n_extra_in_all += n_extra;
    }
    CHECK(n_extra_in_all > 0, "%s",
          "what the order cannot tell was never tried"); /* one flavour may lack it */
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        TEST(test_delivery_answers_for_the_right_subscription),
    };
    return run_tests(argc, argv, cases, N_ROWS(cases));
}
