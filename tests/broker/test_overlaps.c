/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Several subscriptions of one client on one topic. Each has a Subscription Identifier, so every copy says which
 * one it was sent for: its filter must hold, and every subscription whose filter holds must get its copy. Where
 * the broker's order cannot tell which subscription a copy is for, a copy may come too many, never one too few;
 * these cases say where that is.
 */
#include "scenario.h"

#include <jansson.h>
#include <mosquitto.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_SUBSCRIPTIONS = 64, MAX_COPIES = 512, PLAIN = 0 };

/* Subscription number i has the identifier i + 1. */
struct overlap {
    const char *topic;
    int x; /* the filter is x=<x>; PLAIN: none */
    int qos;
    bool no_local;
};

static void subscribe_overlap(struct client *client, const struct overlap *overlap, uint32_t id) {
    char text[128];
    if (overlap->x == PLAIN) {
        snprintf(text, sizeof text, "%s", overlap->topic);
    } else {
        /* What follows the '?' is in the last level, so a wildcard there is written as an escape. */
        size_t bytes = strlen(overlap->topic);
        char last = overlap->topic[bytes - 1];
        snprintf(text, sizeof text, "%.*s%s?x=%d",
                 (int)(last == '#' || last == '+' ? bytes - 1 : bytes), overlap->topic,
                 last == '#'   ? "%23"
                 : last == '+' ? "%2B"
                               : "",
                 overlap->x);
    }
    int code = client_subscribe_with(
        client, &(struct subscribe){
                    .topic = text, .qos = overlap->qos, .id = id, .no_local = overlap->no_local});
    REQUIRE(code == overlap->qos, "%s: 0x%02x", text, (unsigned)code);
}

/* Whether the message is for this subscription. */
static bool holds(const struct overlap *overlap, const char *topic, int x) {
    bool matches = false;
    mosquitto_topic_matches_sub(overlap->topic, topic, &matches);
    return matches && (overlap->x == PLAIN || overlap->x == x);
}

/* How many collected copies of `payload` carry the identifier; every copy must carry exactly one. */
static unsigned copies_for(const struct client *client, const char *payload, uint32_t id) {
    unsigned n = 0;
    for (size_t i = 0; i < client_count(client); i++) {
        const struct message *message = client_message(client, i);
        CHECK(message->n_ids == 1, "%s: %zu identifiers", payload, message->n_ids);
        n += message->n_ids == 1 && message->ids[0] == id && strcmp(message->payload, payload) == 0;
    }
    return n;
}

/* Each subscription has got the copies it should have. `own`: the publisher is this client. */
static void check_copies(struct client *client, const struct overlap *overlaps, size_t n,
                         const char *topic, int x, const char *payload, bool own) {
    for (size_t i = 0; i < n; i++) {
        unsigned expected = holds(&overlaps[i], topic, x) && !(own && overlaps[i].no_local);
        unsigned got = copies_for(client, payload, (uint32_t)i + 1);
        CHECK(got == expected, "%s: %s on %s with x=%d: %u copies for %s?x=%d, not %u",
              client_id(client), payload, topic, x, got, overlaps[i].topic, overlaps[i].x,
              expected);
    }
}

static void publish_x(struct client *writer, const char *topic, const char *payload, int qos,
                      int x) {
    char value[16];
    snprintf(value, sizeof value, "%d", x);
    publish(writer, topic, payload, qos, x == PLAIN ? NULL : value);
}

static const struct overlap table[] = {
    {"a/b", 1, 1, false},   {"a/+", 2, 2, false},     {"a/#", 1, 0, false},
    {"a/b/#", 2, 1, false}, {"+/b", 1, 2, false},     {"+/+", 3, 1, false},
    {"#", 2, 1, false},     {"+/#", PLAIN, 0, false}, {"a/b/c", 1, 1, false},
    {"a/+/c", 2, 1, false}, {"+/b/#", 3, 2, false},   {"a/b/+", PLAIN, 1, false},
    {"a", 1, 1, false},     {"+", 2, 1, false},       {"/", 1, 1, false},
    {"/+", 2, 1, false},    {"+/+/#", 1, 2, false},   {"/#", 3, 0, false},
    {"a/", 2, 1, false},    {"a//", 1, 1, false},
};
static const char *const topics[] = {"a/b", "a",   "a/b/c", "b/b",     "/",   "/b",
                                     "a/",  "a//", "b",     "a/b/c/d", "a/c", "//"};

static void test_every_copy_is_the_right_one(void) {
    struct broker *broker = broker_start(PLUGIN NO_STATE);
    struct client *writer = client_open(broker, "writer");
    struct client *reader = client_open(broker, "reader");
    for (size_t i = 0; i < N_ROWS(table); i++) {
        subscribe_overlap(reader, &table[i], (uint32_t)i + 1);
    }
    client_fence(reader, writer);
    for (size_t t = 0; t < N_ROWS(topics); t++) {
        for (int x = 0; x <= 3; x++) {
            for (int qos = 0; qos <= 2; qos++) {
                char payload[32];
                snprintf(payload, sizeof payload, "x%d q%d", x, qos);
                publish_x(writer, topics[t], payload, qos, x);
            }
        }
        client_fence(reader, writer);
        for (int x = 0; x <= 3; x++) {
            for (int qos = 0; qos <= 2; qos++) {
                char payload[32];
                snprintf(payload, sizeof payload, "x%d q%d", x, qos);
                check_copies(reader, table, N_ROWS(table), topics[t], x, payload, false);
            }
        }
        client_clear(reader);
    }
}

/* What is subscribed, replaced and removed in between changes which question is about which subscription. */
static void test_changes_of_overlapping_subscriptions(void) {
    struct broker *broker = broker_start(PLUGIN NO_STATE);
    struct client *writer = client_open(broker, "writer");
    struct client *reader = client_open(broker, "reader");
    struct overlap now[N_ROWS(table)];
    memcpy(now, table, sizeof table);
    size_t n = N_ROWS(table);
    for (size_t i = 0; i < n; i++) {
        subscribe_overlap(reader, &now[i], (uint32_t)i + 1);
    }
    client_fence(reader, writer);
    uint64_t random = test_seed();
    unsigned steps = test_long() ? 2000 : 120;
    for (unsigned step = 0; step < steps; step++) {
        size_t i = test_random(&random) % n;
        int x = (int)(test_random(&random) % 4);
        if (test_random(&random) % 3 == 0) {
            CHECK(client_unsubscribe(reader, now[i].topic) <= 0x11, "%s", now[i].topic);
            now[i].x = -1; /* no message has it */
        } else {
            now[i].x = x;
            subscribe_overlap(reader, &now[i], (uint32_t)i + 1);
        }
        const char *topic = topics[test_random(&random) % N_ROWS(topics)];
        x = (int)(test_random(&random) % 4);
        publish_x(writer, topic, "m", (int)(test_random(&random) % 3), x);
        client_fence(reader, writer);
        check_copies(reader, now, n, topic, x, "m", false);
        client_clear(reader);
        if (test_has_failed()) {
            test_note("step %u", step);
            return;
        }
    }
}

/* 50 subscriptions of each of three clients, which publish to each other; one of the clients has no filters. */
static void test_many_subscriptions_of_several_clients(void) {
    enum { N_CLIENTS = 3, N = 50 };
    static const char *const levels[] = {"a", "b", "c", "+"};
    static struct overlap overlaps[N_CLIENTS][N];
    static char names[N_CLIENTS][N][32];
    uint64_t random = test_seed();
    struct broker *broker = broker_start(PLUGIN NO_STATE);
    struct client *writer = client_open(broker, "writer");
    struct client *clients[N_CLIENTS];
    for (int c = 0; c < N_CLIENTS; c++) {
        char id[16];
        snprintf(id, sizeof id, "c%d", c);
        clients[c] = client_open(broker, id);
        for (size_t i = 0; i < N;) {
            char *name = names[c][i];
            name[0] = '\0';
            unsigned depth = 1 + (unsigned)(test_random(&random) % 4);
            for (unsigned d = 0; d < depth; d++) {
                bool last_hash = d == depth - 1 && test_random(&random) % 4 == 0;
                snprintf(name + strlen(name), 32 - strlen(name), "%s%s", d == 0 ? "" : "/",
                         last_hash ? "#" : levels[test_random(&random) % N_ROWS(levels)]);
            }
            bool known = false;
            for (size_t k = 0; k < i; k++) {
                known |= strcmp(names[c][k], name) == 0;
            }
            if (!known) {
                overlaps[c][i] =
                    (struct overlap){name, c == 2 ? PLAIN : (int)(test_random(&random) % 4),
                                     (int)(test_random(&random) % 3), false};
                i++;
            }
        }
    }
    for (size_t i = 0; i < N; i++) { /* interleaved, so that the broker's lists are */
        for (int c = 0; c < N_CLIENTS; c++) {
            subscribe_overlap(clients[c], &overlaps[c][i], (uint32_t)i + 1);
        }
    }
    for (int c = 0; c < N_CLIENTS; c++) {
        client_fence(clients[c], writer);
        client_clear(clients[c]); /* the marker may match '#' of others: those are not collected */
    }
    unsigned rounds = test_long() ? 1000 : 60;
    for (unsigned round = 0; round < rounds && !test_has_failed(); round++) {
        char topic[32] = "";
        unsigned depth = 1 + (unsigned)(test_random(&random) % 4);
        for (unsigned d = 0; d < depth; d++) {
            snprintf(topic + strlen(topic), sizeof topic - strlen(topic), "%s%s", d == 0 ? "" : "/",
                     levels[test_random(&random) % 3]);
        }
        int x = (int)(test_random(&random) % 5);
        struct client *publisher =
            test_random(&random) % 2 == 0 ? writer : clients[test_random(&random) % N_CLIENTS];
        publish_x(publisher, topic, "m", (int)(test_random(&random) % 3), x);
        for (int c = 0; c < N_CLIENTS; c++) {
            client_fence(clients[c], writer);
            check_copies(clients[c], overlaps[c], N, topic, x, "m", false);
            client_clear(clients[c]);
        }
    }
}

/* QoS 2 messages are delivered at their PUBREL: in another order than they came, and with others of the same size in
 * between. All at once, so that no event separates them. */
static void test_pubrel_in_another_order(void) {
    enum { N = 6 };
    static const uint16_t orders[][N] = {
        {6, 5, 4, 3, 2, 1}, {1, 2, 3, 4, 5, 6}, {2, 4, 6, 1, 3, 5}, {3, 1, 2, 6, 5, 4}};
    static const bool at_once[] = {false, true};
    for (size_t row = 0; row < N_ROWS(orders) * 2; row++) {
        const uint16_t *order = orders[row / 2];
        struct broker *broker = broker_start(PLUGIN NO_STATE);
        struct client *writer = client_open(broker, "writer");
        struct client *reader = client_open(broker, "reader");
        for (size_t i = 0; i < N_ROWS(table); i++) {
            struct overlap overlap = table[i];
            overlap.qos =
                row % 4 == 0
                    ? 0
                    : overlap.qos; /* of QoS 0 the broker frees a message when it is through */
            subscribe_overlap(reader, &overlap, (uint32_t)i + 1);
        }
        client_fence(reader, writer);
        struct raw *raw = raw_connect(broker, &(struct raw_options){.id = "raw"});
        for (uint16_t mid = 1; mid <= N; mid++) {
            char payload[16], x[2] = {(char)('0' + mid % 4), '\0'};
            snprintf(payload, sizeof payload, "m%u", mid);
            raw_publish(raw, mid,
                        &(struct publish){.topic = mid % 2 ? "a/b" : "b/b",
                                          .payload = payload,
                                          .qos = 2,
                                          .user = USER("x", x)});
            raw_expect(raw, RAW_PUBREC);
        }
        CHECK(client_fence(reader, writer) == 0, "row %zu: nothing before PUBREL", row);
        unsigned char together[4 * N];
        for (size_t i = 0; i < N; i++) {
            const unsigned char pubrel[] = {RAW_PUBREL | 2, 2, 0, (unsigned char)order[i]};
            memcpy(together + 4 * i, pubrel, 4);
            if (!at_once[row % 2]) {
                raw_send(raw, pubrel, sizeof pubrel);
                raw_expect(raw, RAW_PUBCOMP);
                publish_x(writer, "a/b", "other", 1, (int)i % 4);
            }
        }
        if (at_once[row % 2]) {
            raw_send(raw, together, sizeof together);
            for (size_t i = 0; i < N; i++) {
                raw_expect(raw, RAW_PUBCOMP);
            }
        }
        client_fence(reader, writer);
        for (uint16_t mid = 1; mid <= N; mid++) {
            char payload[16];
            snprintf(payload, sizeof payload, "m%u", mid);
            check_copies(reader, table, N_ROWS(table), mid % 2 ? "a/b" : "b/b", mid % 4, payload,
                         false);
        }
    }
}

/* Messages of two publishers that reach the broker in one turn of its loop, with the same topic, sizes and, since
 * nobody keeps a message of QoS 0, addresses. */
static void test_messages_that_follow_at_once(void) {
    struct broker *broker = broker_start(PLUGIN NO_STATE);
    struct client *writer = client_open(broker, "writer");
    struct client *reader = client_open(broker, "reader");
    struct client *single = client_open(broker, "single");
    for (size_t i = 0; i < N_ROWS(table); i++) {
        struct overlap overlap = table[i];
        overlap.qos = 0;
        subscribe_overlap(reader, &overlap, (uint32_t)i + 1);
    }
    static const struct overlap one[] = {{"a/b", 2, 0, false}};
    subscribe_overlap(single, &one[0], 1);
    client_fence(reader, writer);
    struct raw *raws[2];
    for (unsigned i = 0; i < N_ROWS(raws); i++) {
        char id[16];
        snprintf(id, sizeof id, "raw%u", i);
        raws[i] = raw_connect(broker, &(struct raw_options){.id = id});
    }
    freeze(broker);
    for (unsigned k = 0; k < 12; k++) {
        char payload[16], x[2] = {(char)('0' + k % 4), '\0'};
        snprintf(payload, sizeof payload, "m%02u", k);
        raw_publish(raws[k % 2], 0,
                    &(struct publish){.topic = "a/b", .payload = payload, .user = USER("x", x)});
    }
    unfreeze(broker);
    raw_ping(raws[0], NULL, 0);
    raw_ping(raws[1], NULL, 0);
    client_fence(reader, writer);
    for (unsigned k = 0; k < 12; k++) {
        char payload[16];
        snprintf(payload, sizeof payload, "m%02u", k);
        check_copies(reader, table, N_ROWS(table), "a/b", (int)k % 4, payload, false);
    }
    /* This one has a single subscription: the short way through the code. The last one holds. */
    publish_x(writer, "a/b", "end", 0, 2);
    CHECK(client_await(single, 4), "single");
    CHECK(client_count(single) == 4 && client_count_payload(single, "m02") == 1 &&
              client_count_payload(single, "m06") == 1 && client_count_payload(single, "m10") == 1,
          "single: %zu", client_count(single));
}

/* The broker asks nothing about a no-local subscription when its own client publishes. With QoS 0 and 1 we know
 * who that is. */
static void test_no_local(void) {
    static const struct overlap overlaps[] = {
        {"a/b", 1, 1, true},  {"a/+", 1, 1, false},  {"a/#", 2, 1, true},
        {"+/b", 2, 1, false}, {"#", PLAIN, 1, true},
    };
    struct broker *broker = broker_start(PLUGIN NO_STATE);
    struct client *writer = client_open(broker, "writer");
    struct client *first = client_open(broker, "first");
    struct client *second = client_open(broker, "second");
    for (size_t i = 0; i < N_ROWS(overlaps); i++) {
        subscribe_overlap(first, &overlaps[i], (uint32_t)i + 1);
        subscribe_overlap(second, &overlaps[i], (uint32_t)i + 1);
    }
    client_fence(first, writer);
    client_fence(second, writer);
    struct client *publishers[] = {first, second, writer};
    for (size_t p = 0; p < N_ROWS(publishers); p++) {
        for (int qos = 0; qos <= 1; qos++) {
            for (int x = 0; x <= 2; x++) {
                publish_x(publishers[p], "a/b", "m", qos, x);
                client_fence(first, writer);
                client_fence(second, writer);
                check_copies(first, overlaps, N_ROWS(overlaps), "a/b", x, "m",
                             publishers[p] == first);
                check_copies(second, overlaps, N_ROWS(overlaps), "a/b", x, "m",
                             publishers[p] == second);
                client_clear(first);
                client_clear(second);
            }
        }
    }
}

/* A number of the control API's getStats. */
static long statistic(struct client *client, const char *name) {
    static const char topic[] = "$CONTROL/subscription-filter/v1";
    client_clear(client);
    client_publish(client,
                   &(struct publish){.topic = topic,
                                     .payload = "{\"commands\":[{\"command\":\"getStats\"}]}",
                                     .qos = 1});
    REQUIRE(client_await(client, 1), "no answer");
    json_t *root = json_loads(client_message(client, 0)->payload, 0, NULL);
    json_t *data = json_object_get(json_array_get(json_object_get(root, "responses"), 0), "data");
    json_t *number = json_object_get(json_object_get(data, "messages"), name);
    REQUIRE(json_is_integer(number), "%s in %s", name, client_message(client, 0)->payload);
    long value = (long)json_integer_value(number);
    json_decref(root);
    client_clear(client);
    return value;
}

/* Where the order cannot tell: a message of QoS 2, whose publisher is not known at PUBREL, and subscriptions with
 * no-local. A copy passes if any filter holds that it may be for: it may be one too many, never one too few, and
 * it is counted. */
static void test_no_local_with_qos_2(void) {
    static const struct overlap overlaps[] = {
        {"a/b", 1, 2, true},
        {"a/+", 2, 2, false},
        {"a/#", 1, 2, false},
        {"#", 3, 2, true},
    };
    struct broker *broker = broker_start(PLUGIN NO_STATE "plugin_opt_control true\n");
    struct client *admin = client_open(broker, "admin");
    subscribe(admin, "$CONTROL/subscription-filter/v1/response", 1);
    struct client *writer = client_open(broker, "writer");
    struct client *reader = client_open(broker, "reader");
    for (size_t i = 0; i < N_ROWS(overlaps); i++) {
        subscribe_overlap(reader, &overlaps[i], (uint32_t)i + 1);
    }
    client_fence(reader, writer);
    struct client *publishers[] = {reader, writer};
    for (size_t p = 0; p < N_ROWS(publishers); p++) {
        for (int x = 0; x <= 3; x++) {
            bool own = publishers[p] == reader;
            long before = statistic(admin, "ambiguous");
            publish_x(publishers[p], "a/b", "m", 2, x);
            client_fence(reader, writer);
            size_t n_holding = 0;
            for (size_t i = 0; i < N_ROWS(overlaps); i++) {
                bool wanted = holds(&overlaps[i], "a/b", x) && !(own && overlaps[i].no_local);
                unsigned got = copies_for(reader, "m", (uint32_t)i + 1);
                n_holding += holds(&overlaps[i], "a/b", x);
                CHECK(got >= wanted && got <= 1, "own %d, x=%d: %u copies for %s", own, x, got,
                      overlaps[i].topic);
                CHECK(!(own && overlaps[i].no_local && got > 0), "x=%d: no-local is the broker's",
                      x);
            }
            if (n_holding == 0) {
                CHECK(client_count(reader) == 0, "x=%d: no filter at all holds", x);
            }
            CHECK(statistic(admin, "ambiguous") > before, "own %d, x=%d: counted", own, x);
            client_clear(reader);
        }
    }
    /* Without no-local in the session nothing is ambiguous with QoS 2 either. */
    CHECK(client_unsubscribe(reader, "a/b") == 0 && client_unsubscribe(reader, "#") == 0,
          "unsubscribe");
    long before = statistic(admin, "ambiguous");
    publish_x(writer, "a/b", "m", 2, 1);
    client_fence(reader, writer);
    CHECK(copies_for(reader, "m", 2) == 0 && copies_for(reader, "m", 3) == 1, "exact again");
    CHECK(statistic(admin, "ambiguous") == before, "and not counted");
}

/* Retained messages come for the subscription that was just made, and leave the order alone. */
static void test_retained_messages_between(void) {
    struct broker *broker = broker_start(PLUGIN NO_STATE "plugin_opt_retained filter\n");
    struct client *writer = client_open(broker, "writer");
    for (size_t t = 0; t < N_ROWS(topics); t++) {
        client_publish(writer, &(struct publish){.topic = topics[t],
                                                 .payload = topics[t],
                                                 .qos = 1,
                                                 .retain = true,
                                                 .user = USER("x", t % 2 ? "1" : "2")});
    }
    struct client *reader = client_open(broker, "reader");
    client_fence(reader, writer);
    for (size_t i = 0; i < N_ROWS(table); i++) {
        subscribe_overlap(reader, &table[i], (uint32_t)i + 1);
        client_fence(reader, writer);
        for (size_t t = 0; t < N_ROWS(topics); t++) {
            unsigned expected = holds(&table[i], topics[t], t % 2 ? 1 : 2);
            unsigned got = copies_for(reader, topics[t], (uint32_t)i + 1);
            CHECK(got == expected, "%s: %u retained copies for %s?x=%d", topics[t], got,
                  table[i].topic, table[i].x);
        }
        client_clear(reader);
        publish_x(writer, "a/b", "m", (int)i % 3, (int)i % 4);
        client_fence(reader, writer);
        check_copies(reader, table, i + 1, "a/b", (int)i % 4, "m", false);
        client_clear(reader);
    }
}

/* In one SUBSCRIBE packet, with retained messages for each of its entries. */
static void test_one_packet_with_many_entries(void) {
    struct broker *broker = broker_start(PLUGIN NO_STATE "plugin_opt_retained filter\n");
    struct client *writer = client_open(broker, "writer");
    client_publish(
        writer,
        &(struct publish){
            .topic = "a/b", .payload = "kept", .qos = 1, .retain = true, .user = USER("x", "1")});
    struct client *reader = client_open(broker, "reader");
    static const char *const entries[] = {"a/b?x=1", "a/%2B?x=2", "a/#",        "%23?x=1",
                                          "+/b?x",   "+/b?x=1",   "a/b/%23?x=3"};
    int codes[N_ROWS(entries)];
    REQUIRE(client_subscribe_many(reader, entries, N_ROWS(entries), 1, codes), "closed");
    for (size_t i = 0; i < N_ROWS(entries); i++) {
        CHECK(codes[i] == (i == 4 ? 0x87 : 1), "%s: 0x%02x", entries[i], (unsigned)codes[i]);
    }
    CHECK_ARRIVED(reader, writer, "kept kept kept kept");
    publish_x(writer, "a/b", "m", 1, 1);
    CHECK_ARRIVED(reader, writer, "m m m m");
    publish_x(writer, "a/b", "m", 1, 2);
    CHECK_ARRIVED(reader, writer, "m m");
    publish_x(writer, "a/b", "m", 1, 3);
    CHECK_ARRIVED(reader, writer, "m m");
}

/* MQTT 3.1.1 has no identifiers, and the broker may send one copy for several subscriptions: at least one where
 * any filter holds, none where none does. */
static void test_mqtt_3_takes_the_session_over(void) {
    struct broker *broker = broker_start(PLUGIN NO_STATE);
    struct client *writer = client_open(broker, "writer");
    struct client *reader = keep(broker, "reader");
    static const struct overlap overlaps[] = {
        {"a/b", 1, 1, false}, {"a/+", 2, 1, false}, {"a/#", 2, 1, false}, {"+/b", 3, 1, false}};
    for (size_t i = 0; i < N_ROWS(overlaps); i++) {
        subscribe_overlap(reader, &overlaps[i], (uint32_t)i + 1);
    }
    client_disconnect(reader);
    struct client *old = client_connect(
        broker, &(struct client_options){.id = "reader", .protocol = 4, .keep = true});
    REQUIRE(client_session_present(old), "the session is gone");
    for (int qos = 0; qos <= 2; qos++) {
        for (int x = 0; x <= 4; x++) {
            publish_x(writer, "a/b", "m", qos, x);
            size_t n = client_fence(old, writer);
            size_t holding = 0;
            for (size_t i = 0; i < N_ROWS(overlaps); i++) {
                holding += holds(&overlaps[i], "a/b", x);
            }
            CHECK(n <= holding && (n > 0) == (holding > 0), "QoS %d, x=%d: %zu copies", qos, x, n);
            client_clear(old);
        }
    }
}

/* A client in an offline session: the same answers, and each in the queue once. */
static void test_offline(void) {
    struct broker *broker = broker_start(PLUGIN NO_STATE "queue_qos0_messages true\n");
    struct client *writer = client_open(broker, "writer");
    struct client *reader = keep(broker, "reader");
    for (size_t i = 0; i < N_ROWS(table); i++) {
        subscribe_overlap(reader, &table[i], (uint32_t)i + 1);
    }
    client_fence(reader, writer);
    client_disconnect(reader);
    for (int x = 0; x <= 3; x++) {
        char payload[16];
        snprintf(payload, sizeof payload, "m%d", x);
        publish_x(writer, "a/b", payload, x % 3, x);
    }
    client_reconnect(reader);
    client_fence(reader, writer);
    for (int x = 0; x <= 3; x++) {
        char payload[16];
        snprintf(payload, sizeof payload, "m%d", x);
        check_copies(reader, table, N_ROWS(table), "a/b", x, payload, false);
    }
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        TEST(test_every_copy_is_the_right_one),
        TEST(test_changes_of_overlapping_subscriptions),
        TEST(test_many_subscriptions_of_several_clients),
        TEST(test_pubrel_in_another_order),
        TEST(test_messages_that_follow_at_once),
        TEST(test_no_local),
        TEST(test_no_local_with_qos_2),
        TEST(test_retained_messages_between),
        TEST(test_one_packet_with_many_entries),
        TEST(test_mqtt_3_takes_the_session_over),
        TEST(test_offline),
    };
    return run_tests(argc, argv, cases, N_ROWS(cases));
}
