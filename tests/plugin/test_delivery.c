/* SPDX-License-Identifier: BSD-3-Clause
 *
 * delivery, case by case: what the random test (test_delivery_model.c) meets only now and then, and what is counted.
 * Each READ is judged by delivery_world.c; here is said how many copies may pass. */
#include "delivery_world.h"
#include "runner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- short ways to say things ---- */

static void connect_all(int n) {
    for (int i = 0; i < n; i++) {
        world_connect(i, (size_t)i, true);
    }
}

static struct world_message message(enum origin origin, int publisher, const char *topic,
                                    const char *k) {
    return (struct world_message){.origin = origin,
                                  .publisher = publisher,
                                  .topic = topic,
                                  .k = k,
                                  .qos = origin == FROM_PUBREL ? 2 : 0,
                                  .cut_after = -1};
}

/* Publish and say how many copies passed. */
static size_t publish(const struct world_message *what) {
    size_t before = world.n_passed;
    world_publish(what);
    return world.n_passed - before;
}

/* A message that nothing but counting tells from the one before: at the same addresses, no event, nobody known. */
static size_t publish_again(const char *topic, const char *k) {
    const struct world_message again = message(FROM_PLUGIN, NOBODY, topic, k);
    return publish(&again);
}

/* ---- two messages at the same three addresses ---- */

/* What the sessions hold; each row is one session's subscription. The first message has k=1, the second k=2, and so on in
 * turn: an answer from the message before would be wrong each time. */
struct holding {
    int session;
    const char *topic;
    const char *group;
    enum rule rule;
    bool no_local;
};

static void test_messages_at_the_same_addresses(void) {
    enum { MAX = 8 };
    static const struct {
        const char *what;
        struct holding holdings[MAX];
    } rows[] = {
        {"one session, one filter", {{0, "t", "", K_IS_1}}},
        {"two sessions", {{0, "t", "", K_IS_1}, {1, "t", "", K_IS_2}}},
        {"several subscriptions",
         {{0, "t", "", K_IS_1}, {0, "+", "", K_IS_2}, {0, "#", "", K_IS_1}}},
        {"a plain one among them", {{0, "t", "", PLAIN}, {0, "+", "", K_IS_2}}},
        {"only the last has a filter", {{0, "t", "", PLAIN}, {0, "#", "", K_IS_1}}},
        {"a session without filters first", {{0, "t", "", PLAIN}, {1, "t", "", K_IS_1}}},
        {"one group, one member", {{0, "t", "g", K_IS_1}}},
        {"one group, three members",
         {{0, "t", "g", K_IS_1}, {1, "t", "g", K_IS_1}, {2, "t", "g", K_IS_1}}},
        {"groups on several levels",
         {{0, "t", "g", K_IS_1}, {1, "+", "g", K_IS_2}, {2, "#", "h", K_IS_1}}},
        {"own and shared", {{0, "t", "", K_IS_1}, {0, "t", "g", K_IS_2}, {1, "t", "g", K_IS_2}}},
        {"shared by sessions without filters",
         {{0, "t", "g", PLAIN}, {1, "t", "g", PLAIN}, {2, "#", "h", K_IS_1}}},
        {"no local, publisher unknown", {{0, "t", "", K_IS_1, true}, {1, "t", "", K_IS_2}}},
        {"no local behind another",
         {{0, "t", "", K_IS_1}, {0, "#", "", K_IS_2, true}, {1, "#", "", K_IS_1}}},
        {"one by one, then several",
         {{0, "t", "", K_IS_1}, {1, "t", "", K_IS_1}, {2, "+", "", K_IS_2}, {2, "#", "", K_IS_1}}},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        world_start(false);
        connect_all(3);
        bool no_local = false;
        for (const struct holding *h = rows[i].holdings;
             h < rows[i].holdings + MAX && h->topic != NULL; h++) {
            world_subscribe(h->session, h->topic, h->group, h->rule, h->no_local);
            no_local |= h->no_local;
        }
        world_event();
        for (int round = 0; round < 12; round++) {
            publish_again("t", round % 2 == 0 ? "1" : "2");
        }
        CHECK(world.n_extra == 0 || no_local, "%s: %zu extra copies", rows[i].what, world.n_extra);
        REQUIRE(!test_has_failed(), "%s", rows[i].what);
    }
}

/* What makes two messages differ for the plugin is enough alone: no counting is needed. A client that was asked about
 * its first subscription only (the fan-out was cut short) is asked about the first one again. */
static void test_any_difference_starts_a_message(void) {
    static const struct {
        const char *what;
        struct world_message next;
    } rows[] = {
        {"other addresses", {.place = 1, .topic = "t"}},
        {"another topic at the same address", {.topic = "u"}},
        {"another QoS", {.topic = "t", .qos = 1}},
        {"the retain flag", {.topic = "t", .retain = true}},
        {"no properties", {.topic = "t", .k = NULL}},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        world_start(false);
        connect_all(1);
        world_subscribe(0, "t", "", K_IS_1, false);
        world_subscribe(0, "u", "", K_IS_1, false);
        world_subscribe(0, "#", "", K_IS_2, false);
        world_event();
        struct world_message first = message(FROM_PLUGIN, NOBODY, "t", "1");
        first.cut_after = 1;
        CHECK(publish(&first) == 1, "%s: the first copy", rows[i].what);
        struct world_message second = rows[i].next;
        second.origin = FROM_PLUGIN;
        second.publisher = NOBODY;
        second.cut_after = -1;
        second.k = strcmp(rows[i].what, "no properties") == 0 ? NULL : "1";
        size_t expected = second.k != NULL;
        CHECK(publish(&second) == expected, "%s", rows[i].what);
    }
    world_start(false);
    connect_all(1);
    world_subscribe(0, "t", "", K_IS_1, false);
    world_subscribe(0, "#", "", K_IS_2, false);
    world_event();
    struct world_message first = message(FROM_PLUGIN, NOBODY, "t", "1");
    first.cut_after = 1;
    CHECK(publish(&first) == 1, "the first copy");
    world_event();
    CHECK(publish_again("t", "1") == 1, "an event");
}

static void test_messages_are_told_by_each_address(void) {
    world_start(false);
    connect_all(1);
    world_subscribe(0, "t", "", K_IS_1, false);
    world_subscribe(0, "#", "", K_IS_2, false);
    static const char *const parts[] = {"topic", "payload", "properties", "length", "nothing"};
    for (size_t part = 0; part < N_ROWS(parts); part++) {
        struct mosquitto_evt_acl_check other =
            fake_message(1, "t", (const char *const[]){"k", "1", NULL});
        struct mosquitto_evt_acl_check check =
            fake_message(0, "t", (const char *const[]){"k", "1", NULL});
        check.client = world.client[0];
        world_event();
        CHECK(world_delivers(&check), "%s: the first copy", parts[part]);
        check.topic = part == 0 ? other.topic : check.topic;
        check.payload = part == 1 ? other.payload : check.payload;
        check.properties = part == 2 ? other.properties : check.properties;
        check.payloadlen += part == 3;
        bool is_other = world_delivers(&check); /* then it is t's copy, or else #'s */
        CHECK(is_other == (part != 4), "%s", parts[part]);
    }
}

/* The broker gives up in the middle of a message. With QoS 0, or an MQTT 5 publisher, it disconnects the publisher, which is
 * an event; not with QoS 1 and an older client. The next message has another topic at the same address. */
static void test_messages_cut_short_without_an_event(void) {
    for (int version = 4; version <= 5; version++) {
        world_start(false);
        connect_all(2);
        world.client[1]->protocol_version = version;
        world_subscribe(0, "t", "", K_IS_1, false);
        world_subscribe(0, "#", "", K_IS_2, false);
        world_subscribe(0, "u", "", K_IS_1, false);
        struct world_message first = message(FROM_PUBLISH, 1, "t", "1");
        first.qos = 1;
        first.cut_after = 1;
        CHECK(publish(&first) == 1, "version %d: the first copy", version);
        if (version == 5) {
            world_event();
        }
        struct world_message next = message(FROM_PLUGIN, NOBODY, "u", "1");
        next.qos = 1;
        CHECK(publish(&next) == 1, "version %d: a new message for u's filter", version);
    }
}

/* Two groups of two members, one of which, of several kinds, the plugin cannot follow. In the first message the first group
 * asks the known member and the second one the other; in the next, at the same addresses, it is the other way round: then
 * nobody is asked twice before the known member of the second group, who was not asked about the first message. */
static void test_turns_of_members_that_are_not_known(void) {
    static const char *const kinds[] = {"not registered any more", "never seen",
                                        "with another count", "of other groups as well"};
    for (size_t kind = 0; kind < N_ROWS(kinds); kind++) {
        enum { FIRST_KNOWN, FIRST_OTHER, SECOND_OTHER, SECOND_KNOWN };
        world_start(false);
        connect_all(4);
        world_subscribe(FIRST_KNOWN, "t", "g", K_IS_1, false);
        world_subscribe(FIRST_OTHER, "t", "g", K_IS_1, false);
        world_subscribe(SECOND_OTHER, "+", "g", K_IS_1, false);
        world_subscribe(SECOND_KNOWN, "+", "g", K_IS_1, false);
        for (int other = FIRST_OTHER; other <= SECOND_OTHER; other++) {
            switch (kind) {
            case 0:
                world_end(other, true);
                break;
            case 1:
                world_sweep(other);
                break;
            case 2:
                world_add_unknown(other, "elsewhere", "");
                break;
            default:
                world_subscribe(other, "#", "h", K_IS_1, false);
                world_subscribe(other, "t/#", "h", K_IS_1, false);
            }
        }
        world_event();
        for (int round = 0; round < 8; round++) {
            publish_again("t", round % 2 == 0 ? "1" : "2");
            REQUIRE(!test_has_failed(), "%s, round %d", kinds[kind], round);
            if (round == 2) {
                world_event(); /* the next ones begin with the other member */
            }
        }
    }
}

/* A group's turn that is not known makes groups doubtful that had theirs, too: the next message may be theirs again. */
static void test_a_group_that_had_its_turn_may_be_meant(void) {
    enum { KNOWN, OTHER, BOTH };
    world_start(false);
    connect_all(3);
    world_subscribe(KNOWN, "t", "g", K_IS_1, false);
    world_subscribe(BOTH, "t", "g", K_IS_1, false);
    world_subscribe(OTHER, "+", "g", K_IS_2, false);
    world_subscribe(BOTH, "+", "g", K_IS_2, false);
    world_end(OTHER, true);
    world_event();
    for (int round = 0; round < 8; round++) {
        publish_again("t", "1");
        REQUIRE(!test_has_failed(), "round %d", round);
    }
}

/* That doubt goes on in a message that is told from the one before by counting. */
static void test_doubt_goes_on_in_the_next_message(void) {
    enum { OTHER, FIRST, SECOND, LAST };
    world_start(false);
    connect_all(4);
    for (int member = OTHER; member <= SECOND; member++) {
        world_subscribe(member, "t", "g", K_IS_1, false);
    }
    world_subscribe(LAST, "+", "g", K_IS_1, false);
    world_end(OTHER, true);
    world_event();
    for (int round = 0; round < 9; round++) {
        publish_again("t", round % 2 == 0 ? "1" : "2");
        REQUIRE(!test_has_failed(), "round %d", round);
    }
}

/* A client without filters, of whose subscriptions one is not known: the turn that it has for a group is not known either,
 * in this message and in those that are told from it by counting. */
static void test_a_plain_member_that_is_not_known(void) {
    enum { FIRST, SECOND, PLAIN_MEMBER, THIRD, LAST };
    world_start(false);
    connect_all(5);
    world_subscribe(FIRST, "t", "h", K_IS_1, false);
    world_subscribe(SECOND, "t", "h", K_IS_1, false);
    world_subscribe(PLAIN_MEMBER, "+", "g", PLAIN, false);
    world_subscribe(THIRD, "+", "g", PLAIN, false);
    world_subscribe(SECOND, "+", "g", PLAIN, false);
    world_subscribe(THIRD, "elsewhere", "", K_IS_1, false);
    world_subscribe(LAST, "#", "i", K_IS_1, false);
    world_add_unknown(PLAIN_MEMBER, "elsewhere", "");
    world_event();
    for (int round = 0; round < 12; round++) {
        publish_again("t", round % 2 == 0 ? "2" : "1");
        REQUIRE(!test_has_failed(), "round %d", round);
    }
}

/* ---- nested fan-outs ---- */

static void test_log_lines_in_the_middle_change_nothing(void) {
    world_start(false);
    connect_all(2);
    static const char *const filters[] = {"a/b/#", "a/b", "a/+", "a/#", "+/b", "#", "$SYS/#"};
    for (size_t i = 0; i < N_ROWS(filters); i++) {
        world_subscribe(0, filters[i], "", (enum rule)(i % 2 + 1), false);
        world_subscribe(1, filters[i], "", (enum rule)(2 - i % 2), false);
    }
    const uint64_t always = UINT64_MAX;
    for (int round = 0; round < 4; round++) {
        struct world_message outer = message(FROM_PUBLISH, 0, "a/b", round % 2 == 0 ? "1" : "2");
        outer.nesting = &always;
        size_t reads = world.n_reads;
        world_publish(&outer);
        CHECK(world.n_reads - reads > 12 + 12, "%zu READs: some were nested",
              world.n_reads - reads);
    }
    CHECK(world.n_extra == 0, "%zu extra copies", world.n_extra);
}

/* ---- who publishes ---- */

static void test_no_local_is_exact_while_the_publisher_is_known(void) {
    static const struct {
        enum origin origin;
        int qos;
        bool exact;
    } rows[] = {
        {FROM_PUBLISH, 0, true}, {FROM_PUBLISH, 1, true}, {FROM_PUBREL, 2, false},
        {FROM_WILL, 0, false},   {FROM_PLUGIN, 0, false},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        world_start(false);
        connect_all(2);
        world_subscribe(0, "t", "", K_IS_2, true);
        world_subscribe(0, "+", "", K_IS_1, false);
        world_subscribe(0, "#", "", K_IS_2, false);
        for (int publisher = 0; publisher < 2; publisher++) {
            for (int k = 1; k <= 2; k++) {
                struct world_message sent =
                    message(rows[i].origin, publisher, "t", k == 1 ? "1" : "2");
                sent.qos = (uint8_t)rows[i].qos;
                sent.publisher = rows[i].origin == FROM_PLUGIN ? NOBODY : publisher;
                sent.place = (size_t)(2 * publisher + k);
                world_publish(&sent);
                world_event();
            }
        }
        CHECK((world.n_extra == 0) == rows[i].exact, "row %zu: %zu extra copies", i, world.n_extra);
        CHECK((world.delivery.counts.ambiguous == 0) == rows[i].exact, "row %zu: %u counted", i,
              (unsigned)world.delivery.counts.ambiguous);
    }
}

/* An announcement is for the fan-out that follows at once, of that very message. */
static void test_announcements_do_not_outlive_their_message(void) {
    static const char *const what[] = {"an event", "another topic", "another QoS", "no properties",
                                       "the retain flag"};
    for (size_t i = 0; i < N_ROWS(what); i++) {
        world_start(false);
        connect_all(2);
        world_subscribe(0, "t", "", K_IS_1, true);
        world_subscribe(0, "#", "", K_IS_2, false);
        struct world_message announced = message(FROM_PUBLISH, 0, i == 1 ? "u" : "t", "1");
        announced.cut_after = 0; /* nobody is asked about it */
        world_publish(&announced);
        if (i == 0) {
            world_event();
        }
        struct world_message next = message(FROM_PLUGIN, NOBODY, "t", i == 3 ? NULL : "1");
        next.qos = i == 2 ? 1 : 0;
        next.retain = i == 4;
        size_t passed = publish(&next);
        CHECK(passed >= (i == 3 ? 0u : 1u), "%s: %zu copies", what[i], passed);
        CHECK(world.delivery.publisher == NULL, "%s: somebody is taken for its publisher", what[i]);
    }
}

static void test_announced_messages_are_told_by_their_addresses(void) {
    world_start(false);
    connect_all(2);
    world_subscribe(0, "t", "", K_IS_1, true);
    world_subscribe(1, "t", "", K_IS_1, false);
    world_event();
    struct mosquitto_evt_acl_check check =
        fake_message(0, "t", (const char *const[]){"k", "1", NULL});
    check.client = world.client[1]; /* who is asked */
    struct mosquitto_evt_message event = {.client = world.client[0],
                                          .topic = (char *)(uintptr_t)check.topic,
                                          .payload = (void *)(uintptr_t)check.payload,
                                          .properties = check.properties,
                                          .payloadlen = check.payloadlen};
    char other[] = "t";
    for (int part = 0; part < 5; part++) { /* 4: nothing differs */
        struct mosquitto_evt_message changed = event;
        changed.topic = part == 0 ? other : changed.topic;
        changed.payload = part == 1 ? other : changed.payload;
        changed.properties = part == 2 ? NULL : changed.properties;
        changed.payloadlen = part == 3 ? 1 : changed.payloadlen;
        delivery_event(&world.delivery);
        delivery_announce(&world.delivery, &changed);
        (void)world_delivers(&check);
        CHECK((world.delivery.publisher == world.client[0]) == (part == 4), "part %d", part);
    }
    event.qos = 2;
    check.qos = 2;
    delivery_event(&world.delivery);
    delivery_announce(&world.delivery, &event);
    (void)world_delivers(&check);
    CHECK(world.delivery.publisher == NULL, "QoS 2 is delivered at PUBREL");
}

/* ---- where the order cannot tell ---- */

static void test_groups_of_one_client(void) {
    world_start(false);
    connect_all(1);
    world_subscribe(0, "t", "g", K_IS_1, false);
    world_subscribe(0, "+", "h", K_IS_2, false);
    const struct world_message sent = message(FROM_PUBLISH, 0, "t", "1");
    /* one of the two wants it: both questions may be about that one */
    CHECK(publish(&sent) == 2, "a copy for each");
    CHECK(world.n_extra == 1, "%zu extra", world.n_extra);
    CHECK(world.delivery.counts.ambiguous == 2, "%u", (unsigned)world.delivery.counts.ambiguous);
    const struct world_message unwanted = message(FROM_PUBLISH, 0, "t", "5");
    CHECK(publish(&unwanted) == 0, "neither wants it");
}

static void test_another_member_leaves_one_candidate(void) {
    world_start(false);
    connect_all(2);
    world_subscribe(1, "t", "g", K_IS_1, false); /* its turn comes first */
    world_subscribe(0, "t", "g", K_IS_1, false);
    world_subscribe(0, "+", "h", K_IS_2, false);
    const struct world_message sent = message(FROM_PUBLISH, 0, "t", "1");
    CHECK(publish(&sent) == 1, "g's copy");
    CHECK(world.n_extra == 0 && world.delivery.counts.ambiguous == 0, "session 0 can only mean h");
    world_subscribe(0, "#", "h", K_IS_2, false);
    world_event();
    CHECK(publish(&sent) == 3, "g's turn is session 0's: any of its three");
    CHECK(publish(&sent) == 2,
          "g's copy; the next is h's, which leaves in doubt whose the last is");
}

/* The first message of all matches no share group. */
static void test_a_group_elsewhere(void) {
    world_start(false);
    connect_all(1);
    world_subscribe(0, "#", "", K_IS_1, false);
    world_subscribe(0, "u", "g", K_IS_2, false);
    world_event();
    for (int round = 0; round < 3; round++) {
        CHECK(publish_again("t", "1") == 1, "round %d", round);
    }
}

static void test_dollar_topics_are_decided_without_memory(void) {
    world_start(false);
    connect_all(1);
    world_subscribe(0, "$x/y", "", K_IS_1, false);
    world_subscribe(0, "$x/+", "", K_IS_2, false);
    world_subscribe(0, "+/y", "", PLAIN, false); /* no wildcard matches a first level with $ */
    const struct world_message sent = message(FROM_PUBLISH, 0, "$x/y", "1");
    uint64_t number = world.delivery.number;
    CHECK(publish(&sent) == 2, "both copies");
    CHECK(world.n_extra == 1 && world.delivery.counts.ambiguous == 2, "%zu extra", world.n_extra);
    CHECK(world.delivery.number == number, "no new message");
    const struct world_message none = message(FROM_PUBLISH, 0, "$x/y", "3");
    CHECK(publish(&none) == 0, "neither");
    const struct world_message absent = message(FROM_PUBLISH, 0, "$x/y", NULL);
    CHECK(publish(&absent) == 0 && world.delivery.counts.unknown == 2, "neither: %u unknown",
          (unsigned)world.delivery.counts.unknown);
    uint64_t passed = world.delivery.counts.passed;
    world_subscribe(0, "$x/y", "", PLAIN, false);
    world_subscribe(0, "$x/+", "", K_IS_1, false);
    world_subscribe(0, "$x/#", "", PLAIN, false);
    CHECK(publish(&sent) == 3 && world.delivery.counts.passed == passed + 3, "a filter holds: %u",
          (unsigned)(world.delivery.counts.passed - passed));
}

static void test_subscriptions_that_the_plugin_never_saw(void) {
    world_start(false);
    connect_all(1);
    world_subscribe(0, "t", "", K_IS_1, false);
    world_add_unknown(0, "u", "");
    world_add_unknown(0, "+", "");
    const struct world_message other = message(FROM_PUBLISH, 0, "u", "1");
    CHECK(publish(&other) == 0, "nothing known explains a copy on u");
    struct delivery_counts counts = world.delivery.counts;
    CHECK(counts.unexplained == 2 && counts.dropped == 2 && counts.unknown == 0, "%u unexplained",
          (unsigned)counts.unexplained);
    CHECK(world.delivery.mismatch, "to be logged");
    const struct world_message wanted = message(FROM_PUBLISH, 0, "t", "1");
    CHECK(publish(&wanted) == 2, "t's filter holds: it may be meant both times");
    const struct world_message unwanted = message(FROM_PUBLISH, 0, "t", "2");
    CHECK(publish(&unwanted) == 0, "it does not");
    world_remove_unknown(0);
    CHECK(publish(&wanted) == 1 && publish(&other) == 0, "exact again");
}

/* Asked about a message while the broker counts others than we know, a client may have been asked about the next one
 * when it counts right again. */
static void test_subscriptions_that_go_between_two_messages(void) {
    for (int n = 1; n <= 2; n++) {
        world_start(false);
        connect_all(2);
        world_subscribe(0, "t", "", K_IS_1, false);
        if (n == 2) {
            world_subscribe(0, "#", "", K_IS_2, false);
        }
        world_subscribe(1, "t", "", K_IS_1, false);
        CHECK(publish_again("t", "5") == 0, "%d: while all are known", n);
        world_event();
        world.client[0]->sub_count++; /* another plugin's, elsewhere */
        CHECK(publish_again("t", "1") == (size_t)n + 1, "%d: #'s copy may be t's", n);
        world.client[0]->sub_count--;
        CHECK(publish_again("t", "5") == 0, "%d: the next one is not the first", n);
        CHECK(publish_again("t", "1") == (size_t)n + 1, "%d: no event: as doubtful as before", n);
        world_event();
        CHECK(publish_again("t", "1") == 2, "%d: exact again", n);
    }
}

/* Another plugin makes or removes subscriptions while a message is delivered. What is wanted is not lost. */
static void test_subscriptions_that_change_in_the_middle(void) {
    enum { T, PLUS, HASH, N };
    static const struct {
        const char *what;
        bool asked[N];
        int change[N]; /* before it is asked about */
    } rows[] = {
        {"one is gone", {true, false, true}, {0, 0, -1}},
        {"one is made, and gone", {true, true, true}, {0, 1, -1}},
        {"one is made before all, and gone", {true, true, true}, {1, 0, -1}},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        world_start(false);
        connect_all(1);
        static const char *const filters[] = {"t", "+", "#"};
        for (int k = 0; k < N; k++) {
            world_subscribe(0, filters[k], "", k == PLUS ? K_IS_2 : K_IS_1, false);
        }
        world_event();
        CHECK(publish_again("t", "2") == 1, "%s: before", rows[i].what);
        world_event();
        struct mosquitto_evt_acl_check check =
            fake_message(0, "t", (const char *const[]){"k", "1", NULL});
        check.client = world.client[0];
        for (int k = 0; k < N; k++) {
            world.client[0]->sub_count += rows[i].change[k];
            if (rows[i].asked[k]) {
                bool passed = world_delivers(&check);
                CHECK(passed || k == PLUS, "%s: the copy of %s", rows[i].what, filters[k]);
            }
        }
    }
}

/* ---- counting ---- */

static void test_counts(void) {
    world_start(false);
    connect_all(3);
    world_subscribe(0, "t", "", K_ABOVE_1, false);
    world_subscribe(1, "t", "", K_ABOVE_1, false); /* the same filter: one answer, counted twice */
    world_subscribe(1, "+", "", PLAIN, false);
    world_subscribe(2, "t", "", PLAIN, false);
    static const char *const ks[] = {"1", "2", "3", "abc", NULL};
    for (size_t i = 0; i < N_ROWS(ks); i++) {
        const struct world_message sent = message(FROM_PUBLISH, 2, "t", ks[i]);
        publish(&sent);
    }
    struct delivery_counts counts = world.delivery.counts;
    CHECK(counts.passed == 4 && counts.dropped == 6, "%u passed, %u dropped",
          (unsigned)counts.passed, (unsigned)counts.dropped);
    CHECK(counts.unknown == 4, "absent, or no number: %u", (unsigned)counts.unknown);
    CHECK(counts.ambiguous == 0 && counts.unexplained == 0 && counts.undecided == 0,
          "nothing else");
    const struct session *session = sessions_find(&world.sessions, "s0");
    const struct subscription *subscription = session_find(&world.sessions, session, "t");
    CHECK(subscription->passed == 2 && subscription->dropped == 3, "%u, %u",
          (unsigned)subscription->passed, (unsigned)subscription->dropped);

    world_subscribe(0, "u/v", "", K_IS_1, false);
    world_subscribe(1, "u/v", "", K_IS_2, false); /* another value is there: its guard answers */
    const struct world_message sent = message(FROM_PUBLISH, 2, "u/v", "1");
    CHECK(publish(&sent) == 1 && publish(&sent) == 1, "u/v");
    session = sessions_find(&world.sessions, "s1");
    subscription = session_find(&world.sessions, session, "u/v");
    CHECK(subscription->dropped == 2 && world.delivery.counts.dropped == counts.dropped + 2,
          "u/v: %u", (unsigned)subscription->dropped);
}

static void test_unknown_is_counted_apart(void) {
    world_start(false);
    connect_all(1);
    struct session *session = sessions_find(&world.sessions, "s0");
    struct sf_filter *filter = NULL;
    REQUIRE(sf_compile(world.schema, NULL, "sql:k > 1", 9, &filter, NULL) == SF_OK &&
                delivery_reserve(&world.delivery, filter) &&
                session_subscribe(&world.sessions, session, "t", 0, filter, 0, 0) != NULL,
            "memory");
    world.client[0]->sub_count = 1;
    static const struct {
        const char *k;
        unsigned passed, dropped, unknown;
    } rows[] = {{"2", 1, 0, 0}, {"1", 1, 1, 0}, {"abc", 1, 2, 1}, {NULL, 1, 3, 2}};
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        struct mosquitto_evt_acl_check check = fake_message(
            0, "t", rows[i].k == NULL ? NULL : (const char *const[]){"k", rows[i].k, NULL});
        check.client = world.client[0];
        delivery_event(&world.delivery);
        (void)world_delivers(&check);
        struct delivery_counts counts = world.delivery.counts;
        CHECK(counts.passed == rows[i].passed && counts.dropped == rows[i].dropped &&
                  counts.unknown == rows[i].unknown,
              "row %zu: %u, %u, %u", i, (unsigned)counts.passed, (unsigned)counts.dropped,
              (unsigned)counts.unknown);
    }
}

/* Answers are kept by the filters' numbers, and numbers are used again. */
static void test_many_filters_that_come_and_go(void) {
    enum { N = 200 };
    world_start(false);
    connect_all(1);
    struct session *session = sessions_find(&world.sessions, "s0");
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < N; i++) {
            char text[32], topic[32];
            snprintf(text, sizeof text, "k=%d", (i + round) % N);
            snprintf(topic, sizeof topic, "t/%d", i);
            struct sf_filter *filter = NULL;
            REQUIRE(sf_compile(world.schema, NULL, text, strlen(text), &filter, NULL) == SF_OK &&
                        delivery_reserve(&world.delivery, filter) &&
                        session_subscribe(&world.sessions, session, topic, 0, filter, 0, 0) != NULL,
                    "memory");
        }
        world.client[0]->sub_count = N;
        for (int i = 0; i < N; i++) {
            char topic[32], k[16];
            snprintf(topic, sizeof topic, "t/%d", i);
            snprintf(k, sizeof k, "%d", i);
            struct mosquitto_evt_acl_check check =
                fake_message(0, topic, (const char *const[]){"k", k, NULL});
            check.client = world.client[0];
            CHECK(world_delivers(&check) == (round == 0), "round %d, %s", round, topic);
        }
        delivery_event(&world.delivery);
    }
}

/* ---- topics longer than MQTT allows, as only a plugin can publish them ---- */

static void test_topics_of_any_length(void) {
    static const size_t lengths[] = {65534, 65535, 65536, 65537, FAKE_TOPIC_BYTES - 1};
    static char topic[FAKE_TOPIC_BYTES];
    for (size_t i = 0; i < N_ROWS(lengths); i++) {
        world_start(false);
        connect_all(1);
        world_subscribe(0, "#", "", K_IS_1, false);
        world_subscribe(0, "+", "", K_IS_2, false);
        memset(topic, 'x', lengths[i]);
        topic[lengths[i]] = '\0';
        const struct session *session = sessions_find(&world.sessions, "s0");
        REQUIRE(session != NULL, "s0");
        for (int k = 1; k <= 3; k++) {
            char value[2] = {(char)('0' + k), '\0'};
            struct mosquitto_evt_acl_check check =
                fake_message(0, topic, (const char *const[]){"k", value, NULL});
            check.client = world.client[0];
            const struct mosquitto_evt_message event = {.client = check.client, .topic = topic};
            delivery_announce(&world.delivery, &event); /* another plugin rewrote it */
            bool first = world_delivers(&check);        /* "+" */
            bool second = world_delivers(&check);       /* "#" */
            bool exact = lengths[i] <= 65535;
            CHECK(first == (exact ? k == 2 : k <= 2), "%zu bytes, k=%d", lengths[i], k);
            CHECK(second == (exact ? k == 1 : k <= 2), "%zu bytes, k=%d", lengths[i], k);
        }
        fake_free_message(0);
        const struct world_message after = message(FROM_PLUGIN, NOBODY, "t", "1");
        CHECK(publish(&after) == 1, "after %zu bytes", lengths[i]);
    }
}

/* ---- addresses of clients ---- */

static void test_an_address_with_another_client(void) {
    for (int same_hash = 0; same_hash < 2; same_hash++) {
        world_start(false);
        connect_all(1);
        world_subscribe(0, "t", "", K_IS_1, false);
        const struct world_message sent = message(FROM_PUBREL, NOBODY, "t", "2");
        CHECK(publish(&sent) == 0, "filtered");
        unsigned hash = world.client[0]->id_hashv;
        world_end(0, false); /* it expires: no event */
        world_free(0);
        world_connect(1, 0, true);
        if (same_hash) {
            world.client[1]->id_hashv = hash;
        }
        world_subscribe(1, "t", "", PLAIN, false);
        CHECK(publish(&sent) == 1, "same hash %d: plain gets everything", same_hash);
        world_subscribe(1, "t", "", K_IS_2, false);
        CHECK(publish(&sent) == 1, "same hash %d: its own filter", same_hash);
        world_sweep(0);
        CHECK(publish(&sent) == 1, "same hash %d: after the sweep", same_hash);
    }
}

/* Before its CONNECT, which forgets who was there: by its identifier's hash; for $ topics, of which the broker may ask so
 * early, by the identifier. */
static void test_an_address_with_a_client_that_is_not_known_yet(void) {
    for (int same_hash = 0; same_hash < 2; same_hash++) {
        const char *topic = same_hash ? "$x" : "t";
        world_start(false);
        connect_all(2);
        world_subscribe(1, "t", "", K_IS_1, false);
        world_subscribe(0, topic, "", K_IS_1, false);
        world_event();
        struct world_message sent = message(FROM_PLUGIN, NOBODY, "t", "2");
        CHECK(publish(&sent) == 0, "nobody wants it");
        world_event();
        sent.cut_after = 1;
        CHECK(publish(&sent) == 0, "asked about: s1, and not s0");
        unsigned hash = world.client[0]->id_hashv;
        world_free(0);
        world_connect(2, 0, false);
        world.client[2]->id_hashv = same_hash ? hash : world.client[2]->id_hashv;
        struct mosquitto_evt_acl_check check =
            fake_message(0, topic, (const char *const[]){"k", "2", NULL});
        check.client = world.client[2];
        CHECK(world_delivers(&check), "same hash %d: nothing filters", same_hash);
    }
}

/* Two clients whose identifiers have one hash, both there: each has its own session, in whatever order they are asked. */
static void test_clients_of_one_hash(void) {
    world_start(false);
    connect_all(3);
    for (int i = 1; i < 3; i++) {
        world.client[i]->id_hashv = world.client[0]->id_hashv;
    }
    static const enum rule rules[] = {K_IS_1, K_IS_2, NO_K};
    for (int i = 0; i < 3; i++) {
        world_subscribe(i, "t", "", rules[i], false);
    }
    for (int round = 0; round < 12; round++) {
        const struct world_message sent = message(FROM_PUBLISH, 2, "t", round % 2 == 0 ? "1" : "2");
        CHECK(publish(&sent) == 1, "round %d", round);
        int last = round % 4 / 2; /* another order the next time but one */
        world_unsubscribe(last, "t", "");
        world_subscribe(last, "t", "", rules[last], false);
    }
    static const int orders[][3] = {{0, 1, 2}, {1, 2, 0}, {2, 1, 0}, {0, 2, 1}};
    static const char *const ks[] = {"1", "2", NULL}; /* each for one of them */
    for (size_t i = 0; i < N_ROWS(orders) * N_ROWS(ks); i++) {
        const char *k = ks[i % N_ROWS(ks)];
        struct mosquitto_evt_acl_check check =
            fake_message(0, "t", k == NULL ? NULL : (const char *const[]){"k", k, NULL});
        world_event();
        for (size_t n = 0; n < 3; n++) {
            int client = orders[i / N_ROWS(ks)][n];
            check.client = world.client[client];
            CHECK(world_delivers(&check) == (client == (int)(i % N_ROWS(ks))), "row %zu, s%d", i,
                  client);
        }
    }
}

/* What is remembered of the order in which clients are asked must not outlive their sessions. */
static void test_sessions_that_go_in_any_order(void) {
    static const int orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                    {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (size_t i = 0; i < N_ROWS(orders); i++) {
        world_start(false);
        connect_all(3);
        for (int k = 0; k < 3; k++) {
            world_subscribe(k, "t", "", K_IS_1, false);
        }
        for (int k = 0; k < 3; k++) {
            const struct world_message sent = message(FROM_PUBREL, NOBODY, "t", "1");
            for (int n = 0; n < 3; n++) {
                CHECK(publish(&sent) == (size_t)(3 - k), "row %zu, %d gone", i, k);
            }
            world_end(orders[i][k], false);
            world_free(orders[i][k]);
            world_sweep(orders[i][k]);
        }
    }
}

static void test_a_hash_of_zero(void) {
    world_start(false);
    connect_all(1);
    world.client[0]->id_hashv = 0; /* by chance: it is registered all the same */
    world_subscribe(0, "t", "", K_IS_1, false);
    for (int k = 1; k <= 2; k++) {
        const struct world_message sent = message(FROM_PUBLISH, 0, "t", k == 1 ? "1" : "2");
        CHECK(publish(&sent) == (size_t)(k == 1), "k=%d", k);
    }
}

/* Such a session is gone without an event, and at its address a client reconnects that is not registered yet. */
static void test_a_hash_of_zero_at_an_address_that_is_used_again(void) {
    world_start(false);
    connect_all(2);
    world_subscribe(1, "t", "", K_IS_2, false);
    world_subscribe(0, "t", "", K_IS_1, false);
    world.client[0]->id_hashv = 0;
    world_event();
    CHECK(publish_again("t", "1") == 1, "s0's copy");
    world_event();
    struct world_message sent = message(FROM_PLUGIN, NOBODY, "t", "2");
    sent.cut_after = 1;
    CHECK(publish(&sent) == 1, "s1's copy");
    world_free(0);
    struct mosquitto_evt_acl_check check =
        fake_message(0, "t", (const char *const[]){"k", "2", NULL});
    check.client = fake_place(0, "s1");
    CHECK(world_delivers(&check), "it was in the queue");
}

/* Before MOSQ_EVT_CONNECT: the queue is checked again, and must not be touched. */
static void test_queues_are_checked_again_in_vain(void) {
    world_start(false);
    connect_all(2);
    world_subscribe(0, "t", "", K_IS_1, false);
    world_subscribe(0, "#", "", K_IS_2, false);
    const struct world_message queued = {.topic = "t", .k = "9", .qos = 1};
    struct world_message first = message(FROM_PLUGIN, NOBODY, "t", "1");
    first.cut_after = 1; /* in the middle of a message, to see that nothing is disturbed */
    CHECK(publish(&first) == 1, "the first copy");
    world_recheck(0, 5, &queued);
    CHECK(world.delivery.topic != NULL && world.client[0]->registered,
          "the current message is still known");
    struct mosquitto_evt_acl_check check =
        fake_message(0, "t", (const char *const[]){"k", "1", NULL});
    check.client = world.client[0];
    CHECK(!world_delivers(&check), "the second copy is #'s: k=2");
}

/* ---- retained messages ---- */

static void test_retained_messages_on_subscribe(void) {
    static const char *const topics[] = {"a", "a/b", "a/c", "b", "$SYS/x", NULL};
    for (int filtered = 0; filtered < 2; filtered++) {
        world_start(filtered != 0);
        connect_all(2);
        world_subscribe(1, "#", "", K_IS_1, false);
        world_subscribe(0, "a/#", "", K_IS_1, false);
        world_replay(0, "a/#", topics, "2"); /* judged there */
        world_replay(0, "a/#", topics, "1");
        world_event();
        struct world_message live = message(FROM_PUBREL, NOBODY, "a/b", "2");
        live.retain = true;
        CHECK(publish(&live) == 0, "live with the retain flag: filtered");
    }
}

/* What ends a replay, or is none. Each asks once, for session 0 with the filter k=1, about a retained message with k=2. */
static void test_what_is_no_replay(void) {
    static const char *const what[] = {
        "an event",     "another topic",     "no retain flag",   "another client's turn",
        "a shared one", "a message between", "nothing: a replay"};
    for (size_t i = 0; i < N_ROWS(what); i++) {
        world_start(false);
        connect_all(2);
        world_subscribe(1, "#", "", PLAIN, false);
        world_subscribe(0, "#", i == 4 ? "" : "h", K_IS_1, false);
        world_subscribe(0, "a/b", i == 4 ? "g" : "", K_IS_1, false);
        struct mosquitto_evt_acl_check check =
            fake_message(0, i == 1 ? "a/c" : "a/b", (const char *const[]){"k", "2", NULL});
        check.client = world.client[0];
        check.retain = i != 2;
        if (i == 0) {
            world_event();
        } else if (i == 3) {
            check.client = world.client[1]; /* a fan-out asks others as well */
            CHECK(world_delivers(&check), "plain");
            check.client = world.client[0];
        } else if (i == 5) {
            struct mosquitto_evt_acl_check between = fake_message(1, "x", NULL);
            between.client = world.client[0];
            (void)world_delivers(&between);
        }
        bool passed = world_delivers(&check);
        CHECK(passed == (i + 1 == N_ROWS(what)), "%s: %d", what[i], passed);
    }
}

static void test_log_lines_do_not_end_a_replay(void) {
    world_start(false);
    connect_all(2);
    world_subscribe(1, "$SYS/#", "", K_IS_1, false);
    world_subscribe(0, "$SYS/#", "", K_IS_1, false);
    world_subscribe(0, "a", "", K_IS_1, false);
    for (int round = 0; round < 3; round++) {
        world_replay(0, "a", (const char *const[]){"a", NULL}, "2");
        struct mosquitto_evt_acl_check line = fake_message(1, "$SYS/broker/log/N", NULL);
        for (int i = 0; i < 2; i++) {
            line.client = world.client[i];
            CHECK(!world_delivers(&line), "the log line is filtered");
        }
    }
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        TEST(test_messages_at_the_same_addresses),
        TEST(test_any_difference_starts_a_message),
        TEST(test_messages_are_told_by_each_address),
        TEST(test_messages_cut_short_without_an_event),
        TEST(test_turns_of_members_that_are_not_known),
        TEST(test_a_group_that_had_its_turn_may_be_meant),
        TEST(test_doubt_goes_on_in_the_next_message),
        TEST(test_a_plain_member_that_is_not_known),
        TEST(test_log_lines_in_the_middle_change_nothing),
        TEST(test_no_local_is_exact_while_the_publisher_is_known),
        TEST(test_announcements_do_not_outlive_their_message),
        TEST(test_announced_messages_are_told_by_their_addresses),
        TEST(test_groups_of_one_client),
        TEST(test_another_member_leaves_one_candidate),
        TEST(test_a_group_elsewhere),
        TEST(test_dollar_topics_are_decided_without_memory),
        TEST(test_subscriptions_that_the_plugin_never_saw),
        TEST(test_subscriptions_that_go_between_two_messages),
        TEST(test_subscriptions_that_change_in_the_middle),
        TEST(test_counts),
        TEST(test_unknown_is_counted_apart),
        TEST(test_many_filters_that_come_and_go),
        TEST(test_topics_of_any_length),
        TEST(test_an_address_with_another_client),
        TEST(test_an_address_with_a_client_that_is_not_known_yet),
        TEST(test_clients_of_one_hash),
        TEST(test_sessions_that_go_in_any_order),
        TEST(test_a_hash_of_zero),
        TEST(test_a_hash_of_zero_at_an_address_that_is_used_again),
        TEST(test_queues_are_checked_again_in_vain),
        TEST(test_retained_messages_on_subscribe),
        TEST(test_what_is_no_replay),
        TEST(test_log_lines_do_not_end_a_replay),
    };
    return run_tests(argc, argv, cases, N_ROWS(cases));
}
