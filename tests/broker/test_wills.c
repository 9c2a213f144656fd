/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Messages that no PUBLISH announces: wills, delayed wills, what other plugins publish, $SYS. The same rules hold
 * for them.
 */
#include "scenario.h"

#include <stdio.h>
#include <stdlib.h>

#define PUBLISHER "plugin " TEST_PLUGINS_DIR "/test_publish.so\n"

/* ---- wills ------------------------------------------------------------------------------------------------------- */

static struct client *dying(struct broker *broker, const char *id, const struct publish *will,
                            uint32_t delay_s, uint32_t expiry_s) {
    return client_connect(
        broker, &(struct client_options){
                    .id = id, .will = will, .will_delay_s = delay_s, .expiry_s = expiry_s});
}

static void test_wills_are_filtered(void) {
    struct broker *broker = broker_start(PLUGIN NO_STATE);
    struct client *writer = client_open(broker, "writer");
    struct client *reader = client_open(broker, "reader");
    struct client *kept = keep(broker, "kept");
    subscribe(reader, "t/%2B?x=1&y>5", 2);
    subscribe(kept, "t/%2B?x=1&y>5", 2);
    client_disconnect(kept);
    for (int qos = 0; qos <= 2; qos++) {
        for (int retain = 0; retain <= 1; retain++) {
            static const struct {
                const char *x;
                const char *y;
            } rows[] = {{"1", "6"}, {"1", "5"}, {"2", "6"}};
            for (size_t i = 0; i < N_ROWS(rows); i++) {
                char topic[16];
                snprintf(topic, sizeof topic, "t/%zu", i);
                struct client *client =
                    dying(broker, "dying",
                          &(struct publish){.topic = topic,
                                            .payload = i == 0 ? "yes" : "no",
                                            .qos = qos,
                                            .retain = retain != 0,
                                            .user = USER("x", rows[i].x, "y", rows[i].y)},
                          0, 0);
                client_drop(client);
            }
        }
    }
    /* Without properties, and one of MQTT 3.1.1, which can have none. */
    client_drop(
        dying(broker, "dying", &(struct publish){.topic = "t/9", .payload = "no", .qos = 1}, 0, 0));
    client_drop(client_connect(
        broker, &(struct client_options){
                    .id = "old",
                    .protocol = 4,
                    .will = &(struct publish){.topic = "t/9", .payload = "no", .qos = 1}}));
    CHECK_ARRIVED(reader, writer, "yes yes yes yes yes yes");
    client_reconnect(kept);
    CHECK_ARRIVED(kept, writer, "yes yes yes yes");
}

/* A client that leaves in order has none; one that is taken over has. */
static void test_takeover_and_disconnect(void) {
    struct broker *broker = broker_start(PLUGIN NO_STATE);
    struct client *writer = client_open(broker, "writer");
    struct client *reader = client_open(broker, "reader");
    subscribe(reader, "t?x=1", 1);
    const struct publish yes = {.topic = "t", .payload = "yes", .qos = 1, .user = USER("x", "1")};
    const struct publish no = {.topic = "t", .payload = "no", .qos = 1, .user = USER("x", "2")};
    client_disconnect(dying(broker, "dying", &yes, 0, 0));
    CHECK_ARRIVED(reader, writer, "");
    struct client *taken = dying(broker, "taken", &yes, 0, 0);
    client_open(broker, "taken");
    client_await_closed(taken);
    taken = dying(broker, "taken", &no, 0, 0);
    client_open(broker, "taken");
    client_await_closed(taken);
    CHECK_ARRIVED(reader, writer, "yes");
}

/* The reader's own will, which it would get itself: in a session that is kept, and in one that ends with it. */
static void test_a_clients_own_will(void) {
    struct broker *broker = broker_start(PLUGIN NO_STATE);
    struct client *writer = client_open(broker, "writer");
    static const char *const values[] = {"1", "2"};
    for (size_t i = 0; i < N_ROWS(values); i++) {
        const struct publish will = {
            .topic = "t", .payload = "own", .qos = 1, .user = USER("x", values[i])};
        struct client *kept = client_connect(
            broker,
            &(struct client_options){.id = "kept", .keep = true, .expiry_s = 3600, .will = &will});
        subscribe(kept, "t?x=1", 1);
        client_drop(kept);
        client_clear(
            kept); /* it may have got it while its connection was being closed, unacknowledged */
        client_reconnect(kept);
        CHECK_ARRIVED(kept, writer, i == 0 ? "own" : "");
        client_disconnect(kept);
        client_disconnect(client_open(broker, "kept"));

        struct client *other = client_open(broker, "other");
        subscribe(other, "t?x=1", 1);
        struct client *ending = dying(broker, "ending", &will, 0, 0);
        subscribe(ending, "t?x=1", 1);
        subscribe(ending, "+", 1);
        client_drop(ending);
        CHECK_ARRIVED(other, writer, i == 0 ? "own" : "");
        client_disconnect(other);
    }
}

static void test_delayed_wills(void) {
    struct broker *broker = broker_start(PLUGIN NO_STATE);
    struct client *writer = client_open(broker, "writer");
    struct client *reader = client_open(broker, "reader");
    struct client *kept = keep(broker, "kept");
    REQUIRE(client_subscribe_with(reader,
                                  &(struct subscribe){.topic = "t?x=1", .qos = 1, .id = 1}) == 1,
            "1");
    REQUIRE(client_subscribe_with(reader,
                                  &(struct subscribe){.topic = "%23?x=2", .qos = 1, .id = 2}) == 1,
            "2");
    REQUIRE(client_subscribe_with(reader,
                                  &(struct subscribe){.topic = "end?x=1", .qos = 1, .id = 3}) == 1,
            "3");
    subscribe(kept, "t?x=1", 1);
    client_disconnect(kept);
    /* In order of their time: the session's end, if it comes first, and then the delay. */
    client_drop(
        dying(broker, "a",
              &(struct publish){.topic = "t", .payload = "a1", .qos = 1, .user = USER("x", "1")}, 1,
              100));
    client_drop(
        dying(broker, "b",
              &(struct publish){.topic = "t", .payload = "b2", .qos = 1, .user = USER("x", "2")}, 1,
              100));
    client_drop(
        dying(broker, "c",
              &(struct publish){.topic = "t", .payload = "c3", .qos = 1, .user = USER("x", "3")}, 1,
              100));
    client_drop(
        dying(broker, "d",
              &(struct publish){.topic = "t", .payload = "d1", .qos = 1, .user = USER("x", "1")},
              100, 1));
    client_drop(
        dying(broker, "e",
              &(struct publish){.topic = "end", .payload = "e1", .qos = 1, .user = USER("x", "1")},
              3, 100));
    /* Nobody sent this will: its client came back in time. */
    struct client *back = client_connect(
        broker, &(struct client_options){
                    .id = "f",
                    .keep = true,
                    .expiry_s = 100,
                    .will_delay_s = 1,
                    .will = &(struct publish){
                        .topic = "t", .payload = "f1", .qos = 1, .user = USER("x", "1")}});
    client_drop(back);
    client_reconnect(back);
    REQUIRE(client_await(reader, 4), "the wills do not come");
    client_fence(reader, writer);
    static const struct {
        const char *payload;
        uint32_t id;
    } rows[] = {{"a1", 1}, {"b2", 2}, {"d1", 1}, {"e1", 3}};
    CHECK(client_count(reader) == N_ROWS(rows), "%zu", client_count(reader));
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        CHECK(client_count_payload(reader, rows[i].payload) == 1, "%s", rows[i].payload);
        for (size_t k = 0; k < client_count(reader); k++) {
            const struct message *message = client_message(reader, k);
            CHECK(strcmp(message->payload, rows[i].payload) != 0 ||
                      (message->n_ids == 1 && message->ids[0] == rows[i].id),
                  "%s for %u", message->payload, message->ids[0]);
        }
    }
    client_reconnect(kept);
    client_fence(kept, writer);
    CHECK(client_count(kept) == 2 && client_count_payload(kept, "a1") == 1 &&
              client_count_payload(kept, "d1") == 1,
          "%zu", client_count(kept));
}

/* Many at once: the broker's keep-alive of nothing, only connections that are lost in one turn of its loop. */
static void test_many_wills_at_once(void) {
    enum { N = 20 };
    struct broker *broker = broker_start(PLUGIN NO_STATE);
    struct client *writer = client_open(broker, "writer");
    struct client *reader = client_open(broker, "reader");
    REQUIRE(client_subscribe_with(reader,
                                  &(struct subscribe){.topic = "t?x=1", .qos = 1, .id = 1}) == 1,
            "1");
    REQUIRE(client_subscribe_with(reader,
                                  &(struct subscribe){.topic = "%2B?x=2", .qos = 1, .id = 2}) == 1,
            "2");
    struct raw *raws[N];
    for (unsigned i = 0; i < N; i++) {
        raws[i] = raw_open(broker, 1);
        /* CONNECT with a will of QoS 0 on t, with the property x */
        unsigned char connect[] = {0,
                                   4,
                                   'M',
                                   'Q',
                                   'T',
                                   'T',
                                   5,
                                   0x06,
                                   0,
                                   0,
                                   0,
                                   0,
                                   2,
                                   'w',
                                   (unsigned char)('a' + i),
                                   7,
                                   0x26,
                                   0,
                                   1,
                                   'x',
                                   0,
                                   1,
                                   (unsigned char)('1' + i % 3),
                                   0,
                                   1,
                                   't',
                                   0,
                                   1,
                                   (unsigned char)('a' + i)};
        raw_send_packet(raws[i], RAW_CONNECT, connect, sizeof connect);
        CHECK(raw_expect(raws[i], RAW_CONNACK)->code == 0, "connect");
    }
    freeze(broker);
    for (unsigned i = 0; i < N; i++) {
        unsigned char bad = 0xF1; /* no such packet: the broker closes the connection */
        raw_send(raws[i], &bad, 1);
        unsigned char more[] = {2, 0, 0};
        raw_send(raws[i], more, sizeof more);
    }
    unfreeze(broker);
    struct raw_packet packet;
    for (unsigned i = 0; i < N; i++) {
        while (raw_read(raws[i], &packet) != RAW_CLOSED) {
        }
    }
    client_fence(reader, writer);
    for (unsigned i = 0; i < N; i++) {
        char payload[2] = {(char)('a' + i), '\0'};
        size_t n = client_count_payload(reader, payload);
        CHECK(n == (i % 3 < 2), "will %u: %zu", i, n);
    }
    for (size_t k = 0; k < client_count(reader); k++) {
        const struct message *message = client_message(reader, k);
        uint32_t x = (uint32_t)(message->payload[0] - 'a') % 3 + 1;
        CHECK(message->n_ids == 1 && message->ids[0] == x, "%s for %u", message->payload,
              message->ids[0]);
    }
}

/* ---- what other plugins publish ---------------------------------------------------------------------------------- */

/* On "t", in pairs of room=a and room=b: no event announces them, and they have the same sizes. */
static void test_messages_of_another_plugin(void) {
    enum { N = 10 };
    struct broker *broker = broker_start(PLUGIN NO_STATE PUBLISHER);
    struct client *writer = client_open(broker, "writer");
    struct client *reader = client_open(broker, "reader");
    struct client *single = client_open(broker, "single");
    struct client *group = client_open(broker, "group");
    static const struct subscribe subscriptions[] = {
        {.topic = "t?room=a", .qos = 0, .id = 1},
        {.topic = "%2B?room=b", .qos = 1, .id = 2},
        {.topic = "%23?room=c", .qos = 2, .id = 3},
        {.topic = "t/#", .qos = 0, .id = 4},
    };
    for (size_t i = 0; i < N_ROWS(subscriptions); i++) {
        REQUIRE(client_subscribe_with(reader, &subscriptions[i]) == subscriptions[i].qos, "%s",
                subscriptions[i].topic);
    }
    subscribe(single, "t?room=b", 0);
    subscribe(group, "$share/g/t?room=a", 1);
    static const char *const ways[] = {"tick", "retain"};
    for (size_t w = 0; w < N_ROWS(ways); w++) {
        char count[8];
        snprintf(count, sizeof count, "%d", w == 0 ? N : 1);
        size_t n = w == 0 ? N : 1;
        client_publish(
            writer, &(struct publish){
                        .topic = ways[w], .payload = count, .qos = 1, .user = USER("room", "c")});
        client_ping(writer);
        client_fence(reader, writer);
        CHECK(client_count_payload(reader, "plugin a") == 2 * n, "%s: %zu with a", ways[w],
              client_count_payload(reader, "plugin a"));
        CHECK(client_count_payload(reader, "plugin b") == 2 * n, "%s: %zu with b", ways[w],
              client_count_payload(reader, "plugin b"));
        for (size_t i = 0; i < client_count(reader); i++) {
            const struct message *message = client_message(reader, i);
            if (strcmp(message->topic, "t") != 0) {
                continue;
            }
            uint32_t id = message->n_ids == 1 ? message->ids[0] : 0;
            char room = message->payload[strlen(message->payload) - 1];
            CHECK(id == 4 || (id == 1 && room == 'a') || (id == 2 && room == 'b'), "%s: %s for %u",
                  ways[w], message->payload, id);
        }
        CHECK(client_fence(single, writer) == n && client_count_payload(single, "plugin b") == n,
              "%s: %zu", ways[w], client_count(single));
        CHECK(client_fence(group, writer) == n && client_count_payload(group, "plugin a") == n,
              "%s: %zu", ways[w], client_count(group));
        client_clear(reader);
        client_clear(single);
        client_clear(group);
    }
}

/* ---- $SYS -------------------------------------------------------------------------------------------------------- */

/* They have no properties, and are decided without memory of other messages. */
static void test_sys_messages(void) {
    struct broker *broker = broker_start(PLUGIN NO_STATE "sys_interval 1\n");
    struct client *writer = client_open(broker, "writer");
    struct client *none = client_open(broker, "none");
    struct client *some = client_open(broker, "some");
    struct client *all = client_open(broker, "all");
    for (size_t i = 0; i < 3; i++) {
        struct client *client = i == 0 ? none : i == 1 ? some : all;
        static const char *const texts[] = {"$SYS/broker/%23?x=1",
                                            "$SYS/broker/%23?sql:$topic ENDSWITH '/uptime'",
                                            "$SYS/broker/%23?sql:x IS NULL"};
        int code = client_subscribe_with(
            client, &(struct subscribe){.topic = texts[i], .qos = 0, .retain_handling = 2});
        REQUIRE(code == 0, "%s: 0x%02x", texts[i], (unsigned)code);
        subscribe(client, "t?x=1", 0);
    }
    REQUIRE(client_await(some, 2), "the uptime, twice");
    REQUIRE(client_await(all, 2), "anything");
    publish(writer, "t", "no", 0, "2");
    publish(writer, "t", "yes", 0, "1");
    client_fence(some, writer);
    CHECK_ARRIVED(none, writer, "yes");
    for (size_t i = 0; i < client_count(some); i++) {
        const char *topic = client_message(some, i)->topic;
        CHECK(strcmp(topic, "t") == 0 || strcmp(topic, "$SYS/broker/uptime") == 0, "%s arrived",
              topic);
    }
    CHECK(client_count_payload(some, "yes") == 1 && client_count_payload(some, "no") == 0,
          "beside it");
    /* Wildcards at the front match no $ topic. */
    struct client *wild = client_open(broker, "wild");
    subscribe(wild, "%23?sql:TRUE", 0);
    subscribe(wild, "+/broker/uptime?sql:TRUE", 0);
    client_clear(all);
    REQUIRE(client_await(all, 1), "the next round");
    CHECK(client_fence(wild, writer) == 0, "%zu", client_count(wild));
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        TEST(test_wills_are_filtered), TEST(test_takeover_and_disconnect),
        TEST(test_a_clients_own_will), TEST(test_delayed_wills),
        TEST(test_many_wills_at_once), TEST(test_messages_of_another_plugin),
        TEST(test_sys_messages),
    };
    return run_tests(argc, argv, cases, N_ROWS(cases));
}
