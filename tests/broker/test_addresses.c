/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The broker uses the address of a client again within milliseconds, for another client or for another connection of
 * the same one. A filter belongs to a session, never to an address: who comes next gets everything.
 */
#include "scenario.h"

#include <stdio.h>
#include <string.h>

/* ---- other clients ---- */

/* One client after the other: with a filter, without one, with another one. Each has one subscription only, and half of
 * them close without DISCONNECT. */
static void test_the_next_client_gets_what_it_asked_for(void) {
    enum { CLIENTS = 30 };
    static const struct {
        const char *filter;
        size_t delivered;
    } kinds[] = {
        {"t?room=a", 1}, {"t", 2}, {"t?room=c", 0}, {"t?sql:room <> 'c'", 2}, {"%23?tag:*", 2}};
    const unsigned rounds = test_long() ? 100000 : 1500;
    struct broker *broker = broker_start(PLUGIN NO_STATE);
    struct client *writer = client_open(broker, "writer");
    struct client *clients[CLIENTS] = {0};
    uint64_t state = test_seed();
    for (unsigned i = 0; i < rounds; i++) {
        size_t who = test_random(&state) % CLIENTS;
        if (clients[who] == NULL) { /* Clean Start 0, but no session outlives its connection */
            char id[16];
            snprintf(id, sizeof id, "client%zu", who);
            clients[who] = client_connect(broker, &(struct client_options){.id = id, .keep = true});
        } else {
            client_reconnect(clients[who]);
        }
        size_t kind = test_random(&state) % N_ROWS(kinds);
        int granted = client_subscribe(clients[who], kinds[kind].filter, 0);
        CHECK(granted == 0, "round %u, %s: %d", i, kinds[kind].filter, granted);
        publish_room(writer, "t", "a");
        publish_room(writer, "t", "b");
        client_ping(clients[who]);
        size_t n = client_count(clients[who]);
        CHECK(n == kinds[kind].delivered, "round %u, %s: %zu", i, kinds[kind].filter, n);
        client_clear(clients[who]);
        if (test_random(&state) % 2 == 0) {
            client_disconnect(clients[who]);
        } else {
            client_drop(clients[who]);
        }
    }
}

/* Many at once, all of them replaced by others; those that stay are not disturbed. */
static void test_addresses_change_hands_in_bulk(void) {
    enum { CLIENTS = 30, ROUNDS = 8 };
    struct broker *broker = broker_start(PLUGIN NO_STATE);
    struct client *writer = client_open(broker, "writer");
    struct raw *raws[CLIENTS];
    const char *filters[CLIENTS] = {0};
    uint64_t state = test_seed();
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < CLIENTS; i++) {
            if (filters[i] != NULL && test_random(&state) % 4 == 0) {
                continue; /* stays */
            }
            if (filters[i] != NULL) {
                raw_drop(raws[i]);
            }
            filters[i] = test_random(&state) % 2 ? "t" : "t?room=a";
            raws[i] = NULL;
        }
        for (size_t i = 0; i < CLIENTS; i++) {
            if (raws[i] == NULL) {
                char id[32];
                snprintf(id, sizeof id, "r%dc%zu", round, i);
                raws[i] = raw_connect(broker, &(struct raw_options){.id = id});
                raw_subscribe_granted(raws[i], filters[i], 0);
            }
        }
        publish_room(writer, "t", "a");
        publish_room(writer, "t", "b");
        for (size_t i = 0; i < CLIENTS; i++) {
            size_t n = raw_ping(raws[i], NULL, 0);
            CHECK(n == (filters[i][1] == '\0' ? 2 : 1), "round %d, %zu, %s: %zu", round, i,
                  filters[i], n);
        }
    }
}

/* Clients that come and go without ever subscribing, between one that has a filter. */
static void test_sessions_without_subscriptions_pass_by(void) {
    struct broker *broker = broker_start(PLUGIN NO_STATE);
    struct client *writer = client_open(broker, "writer");
    struct client *reader = client_open(broker, "reader");
    REQUIRE(client_subscribe(reader, "t?room=a", 1) == 1, "subscribe");
    for (int i = 0; i < 200; i++) {
        struct raw *raw = raw_connect(broker, &(struct raw_options){.id = i % 2 ? "same" : NULL});
        if (i % 3 == 0) {
            raw_disconnect(raw);
        } else {
            raw_drop(raw);
        }
    }
    publish_room(writer, "t", "a");
    publish_room(writer, "t", "b");
    CHECK(count_arrived(reader, writer) == 1, "the reader");
}

/* ---- the same client again ---- */

static void test_a_session_that_ended_leaves_no_filter(void) {
    static const struct {
        const char *first, *second;
        size_t delivered;
    } rows[] = {
        {"t?room=a", "t", 2},       {"t", "t?room=a", 1},   {"t?room=a", "t?room=b", 1},
        {"t?room=c", "t?tag:*", 2}, {"%23?room=c", "t", 2}, {"t?room=c", NULL, 0},
    };
    struct broker *broker = broker_start(PLUGIN NO_STATE);
    struct client *writer = client_open(broker, "writer");
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        for (int how = 0; how < 4; how++) {
            const bool keep = how == 3; /* a kept session that Clean Start ends */
            struct raw *raw = raw_connect(
                broker,
                &(struct raw_options){.id = "again", .keep = keep, .expiry_s = keep ? 100 : 0});
            raw_subscribe_granted(raw, rows[i].first, 0);
            publish_room(writer, "t", "a");
            (void)raw_ping(raw, NULL, 0);
            struct raw *old = raw;
            if (how == 0) {
                raw_disconnect(raw);
            } else if (how == 1 || how == 3) {
                raw_drop(raw);
            } /* how == 2: taken over */
            raw = raw_connect(broker, &(struct raw_options){.id = "again"});
            if (how == 2) {
                CHECK(raw_expect(old, RAW_DISCONNECT)->code == 0x8E, "taken over");
            }
            if (rows[i].second != NULL) {
                raw_subscribe_granted(raw, rows[i].second, 0);
            }
            publish_room(writer, "t", "a");
            publish_room(writer, "t", "b");
            size_t n = raw_ping(raw, NULL, 0);
            CHECK(n == rows[i].delivered, "row %zu, way %d: %zu", i, how, n);
            raw_disconnect(raw);
        }
    }
}

static void test_a_session_that_is_kept_keeps_its_filter(void) {
    struct broker *broker = broker_start(PLUGIN NO_STATE);
    struct client *writer = client_open(broker, "writer");
    const struct client_options options = {.id = "kept", .keep = true, .expiry_s = 100};
    struct client *reader = client_connect(broker, &options);
    REQUIRE(client_subscribe(reader, "t?room=a", 1) == 1, "subscribe");
    for (int i = 0; i < 12; i++) {
        struct raw *filler = NULL; /* takes an address that has become free */
        switch (i % 3) {
        case 0:
            client_disconnect(reader);
            break;
        case 1:
            client_drop(reader);
            break;
        default: /* taken over without Clean Start */
            break;
        }
        if (i % 2 == 0) {
            filler = raw_connect(broker, &(struct raw_options){.id = "filler"});
            raw_subscribe_granted(filler, "t", 0);
        }
        publish_room(writer, "t", "a");
        publish_room(writer, "t", "b");
        size_t before = client_count(reader);
        struct client *next = client_connect(broker, &options);
        CHECK(client_session_present(next), "round %d: kept", i);
        publish_room(writer, "t", "a");
        publish_room(writer, "t", "b");
        /* What came to the connection that was taken over was not lost: it was acknowledged, or comes again. */
        size_t n = client_fence(next, writer);
        CHECK(n + before >= 2 && n <= 2, "round %d: %zu, and %zu before", i, n, before);
        CHECK(client_count_payload(next, "b") == 0 && client_count_payload(reader, "b") == 0,
              "round %d: room=b", i);
        if (filler != NULL) {
            CHECK(raw_ping(filler, NULL, 0) == 4, "round %d: the plain one", i);
            raw_drop(filler);
        }
        if (client_is_connected(reader)) {
            CHECK(client_await_closed(reader) == 0x8E, "round %d: taken over", i);
        }
        reader = next;
        client_clear(reader);
    }
}

/* Two connections fight for one identifier; the plain one wins, then the filtered one, … */
static void test_takeovers_with_clean_start(void) {
    struct broker *broker = broker_start(PLUGIN NO_STATE);
    struct client *writer = client_open(broker, "writer");
    struct raw *last = NULL;
    for (int i = 0; i < 50; i++) {
        struct raw *raw =
            raw_connect(broker, &(struct raw_options){.id = "x", .expiry_s = i % 3 == 0 ? 100 : 0});
        if (last != NULL) {
            CHECK(raw_expect(last, RAW_DISCONNECT)->code == 0x8E, "round %d", i);
        }
        raw_subscribe_granted(raw, i % 2 ? "t" : "t?room=a", 0);
        publish_room(writer, "t", "a");
        publish_room(writer, "t", "b");
        size_t n = raw_ping(raw, NULL, 0);
        CHECK(n == (i % 2 ? 2 : 1), "round %d: %zu", i, n);
        last = raw;
    }
}

/* A session changes its protocol version: '?' is literal in what an MQTT 3.1.1 connection subscribes to. */
static void test_a_session_changes_its_protocol(void) {
    struct broker *broker = broker_start(PLUGIN NO_STATE);
    struct client *writer = client_open(broker, "writer");
    const struct client_options old = {.id = "both", .protocol = 4, .keep = true};
    const struct client_options new = {.id = "both", .keep = true, .expiry_s = 100};
    struct client *reader = client_connect(broker, &new);
    REQUIRE(client_subscribe(reader, "t?room=a", 1) == 1, "filter");
    client_disconnect(reader);
    reader = client_connect(broker, &old);
    REQUIRE(client_session_present(reader), "kept");
    REQUIRE(client_subscribe(reader, "u?room=a", 1) == 1, "literal");
    publish_room(writer, "t", "a");
    publish_room(writer, "t", "b");
    CHECK(count_arrived(reader, writer) == 1, "the filter holds for MQTT 3.1.1");
    client_publish(writer, &(struct publish){.topic = "u?room=a", .qos = 1});
    client_publish(writer, &(struct publish){.topic = "u", .qos = 1, .user = USER("room", "a")});
    CHECK(count_arrived(reader, writer) == 1, "the literal one");
    CHECK(client_unsubscribe(reader, "t?room=a") == 0, "no such literal");
    publish_room(writer, "t", "a");
    CHECK(count_arrived(reader, writer) == 1, "so the filter is still there");
    client_disconnect(reader);

    reader = client_connect(broker, &new);
    client_publish(writer, &(struct publish){.topic = "u?room=a", .qos = 1});
    CHECK(count_arrived(reader, writer) == 1, "the literal one is still there");
    /* It cannot be told from a check of the literal one whether it is authorized: that costs the connection, once. */
    CHECK(client_subscribe(reader, "u?room=a", 1) == CLIENT_CLOSED,
          "the literal one is in the way");
    CHECK(broker_log_count(broker,
                           "client both: connection closed at subscription 'u?room=a': it was "
                           "held as a literal topic filter") == 1,
          "logged");
    client_reconnect(reader);
    CHECK(client_session_present(reader), "kept");
    client_publish(writer, &(struct publish){.topic = "u?room=a", .qos = 1});
    CHECK(count_arrived(reader, writer) == 0, "the literal one is gone");
    CHECK(client_subscribe(reader, "u?room=a", 1) == 1, "now it is a filter");
    client_publish(writer, &(struct publish){.topic = "u?room=a", .qos = 1});
    client_publish(writer, &(struct publish){.topic = "u", .qos = 1, .user = USER("room", "a")});
    client_publish(writer, &(struct publish){.topic = "u", .qos = 1, .user = USER("room", "b")});
    CHECK(count_arrived(reader, writer) == 1, "a filter");
    client_disconnect(reader);

    reader = client_connect(broker, &old);
    REQUIRE(client_subscribe(reader, "u?room=a", 1) == 1, "literal, beside the filter");
    client_disconnect(reader);
    reader = client_connect(broker, &new);
    CHECK(client_unsubscribe(reader, "u?room=a") == 0, "an exact literal goes first");
    client_publish(writer, &(struct publish){.topic = "u?room=a", .qos = 1});
    client_publish(writer, &(struct publish){.topic = "u", .qos = 1, .user = USER("room", "a")});
    CHECK(count_arrived(reader, writer) == 1, "the filter is left");
    CHECK(client_unsubscribe(reader, "t") == 0, "the base topic takes the filter away");
    publish_room(writer, "t", "a");
    CHECK(count_arrived(reader, writer) == 0, "gone");
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        TEST(test_the_next_client_gets_what_it_asked_for),
        TEST(test_addresses_change_hands_in_bulk),
        TEST(test_sessions_without_subscriptions_pass_by),
        TEST(test_a_session_that_ended_leaves_no_filter),
        TEST(test_a_session_that_is_kept_keeps_its_filter),
        TEST(test_takeovers_with_clean_start),
        TEST(test_a_session_changes_its_protocol),
    };
    return run_tests(argc, argv, cases, N_ROWS(cases));
}
