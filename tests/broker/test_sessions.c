/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Filters over the life of a session: offline, resumed, taken over, ended, expired; and what the broker does to a queue
 * when its client comes back.
 */
#include "scenario.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- kept sessions ----------------------------------------------------------------------------------------------- */

/* The queue has room for those that match only: the others must not have been in it. */
static void test_only_matching_messages_are_queued(void) {
    for (int qos = 1; qos <= 2; qos++) {
        struct broker *broker =
            broker_start(PLUGIN NO_STATE "max_inflight_messages 1\nmax_queued_messages 3\n");
        struct client *writer = client_open(broker, "writer");
        struct client *reader = keep(broker, "reader");
        subscribe(reader, "t?x=1", qos);
        client_disconnect(reader);
        for (int i = 0; i < 30; i++) {
            publish(writer, "t", "no", qos, "2");
        }
        publish(writer, "t", "a", qos, "1");
        publish(writer, "t", "b", qos, "1");
        publish(writer, "t", "no", qos, NULL);
        publish(writer, "t", "c", qos, "1");
        client_reconnect(reader);
        REQUIRE(client_session_present(reader), "QoS %d: the session is gone", qos);
        CHECK(client_await(reader, 3), "QoS %d", qos);
        CHECK_ARRIVED(reader, writer, "a b c");
        publish(writer, "t", "d", qos, "2");
        publish(writer, "t", "e", qos, "1");
        CHECK_ARRIVED(reader, writer, "e");
    }
}

/* A message of QoS 0 is not queued by the broker unless it is told to. */
static void test_queued_qos_0_is_filtered(void) {
    struct broker *broker = broker_start(PLUGIN NO_STATE "queue_qos0_messages true\n");
    struct client *writer = client_open(broker, "writer");
    struct client *reader = keep(broker, "reader");
    subscribe(reader, "t?x=1", 0);
    client_disconnect(reader);
    publish(writer, "t", "a", 0, "2");
    publish(writer, "t", "b", 0, "1");
    client_reconnect(reader);
    CHECK(client_await(reader, 1), "queued");
    CHECK_ARRIVED(reader, writer, "b");
}

/* The broker asks READ again for every queued message when a client comes back, and one that is denied there would
 * keep its place in the in-flight window for ever. Here the filter that let them in has gone. */
static void test_a_filter_replaced_while_messages_are_queued(void) {
    static const struct {
        int qos;
        const char *replacement;
    } rows[] = {
        {1, "t?x=2"},
        {2, "t?x=2"},
        {1, "t?sql:x IS NULL"},
        {2, "t"},
    };
    enum { N = 7 };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        struct broker *broker = broker_start(PLUGIN NO_STATE "max_inflight_messages 2\n");
        struct client *writer = client_open(broker, "writer");
        const struct raw_options options = {
            .id = "raw", .keep = true, .expiry_s = 3600, .receive_maximum = 2};
        struct raw *raw = raw_connect(broker, &options);
        unsigned qos = (unsigned)rows[i].qos;
        raw_subscribe_granted(raw, "t?x=1", qos);
        for (int k = 0; k < N; k++) {
            char payload[2] = {(char)('a' + k), '\0'};
            publish(writer, "t", payload, rows[i].qos, "1");
        }
        size_t n = raw_ping(raw, NULL, 0);
        CHECK(n == 2, "row %zu: %zu in flight", i, n);
        raw_subscribe_granted(raw, rows[i].replacement, qos);
        raw_drop(raw);

        /* The library acknowledges whatever comes. */
        struct client *reader = client_connect(
            broker, &(struct client_options){
                        .id = "raw", .keep = true, .expiry_s = 3600, .receive_maximum = 2});
        REQUIRE(client_session_present(reader), "row %zu: the session is gone", i);
        CHECK(client_await(reader, N), "row %zu", i);
        CHECK_ARRIVED(reader, writer, "a b c d e f g");
        /* Nothing has been used up: more than the window goes through. */
        for (int k = 0; k < 5; k++) {
            publish(writer, "t", "new", rows[i].qos, "2");
            publish(writer, "t", "old", rows[i].qos, "1");
            publish(writer, "t", "none", rows[i].qos, NULL);
        }
        const char *got = arrived(reader, writer);
        const char *expected =
            strchr(rows[i].replacement, '?') == NULL
                ? "new old none new old none new old none new old none new old none"
            : strstr(rows[i].replacement, "NULL") ? "none none none none none"
                                                  : "new new new new new";
        CHECK(strcmp(got, expected) == 0, "row %zu: '%s' arrived", i, got);
    }
}

/* Retained messages come whatever the filter says; those that were not acknowledged are sent again. */
static void test_unacknowledged_retained_copies_come_again(void) {
    for (int qos = 1; qos <= 2; qos++) {
        struct broker *broker = broker_start(PLUGIN NO_STATE "max_inflight_messages 2\n");
        struct client *writer = client_open(broker, "writer");
        for (int i = 0; i < 6; i++) {
            char topic[16];
            snprintf(topic, sizeof topic, "t/%d", i);
            client_publish(writer, &(struct publish){.topic = topic,
                                                     .payload = "kept",
                                                     .qos = qos,
                                                     .retain = true,
                                                     .user = USER("x", "9")});
        }
        struct raw *raw = raw_connect(
            broker, &(struct raw_options){
                        .id = "raw", .keep = true, .expiry_s = 3600, .receive_maximum = 2});
        raw_subscribe(raw, 1, "t/%2B?x=1", 9, (unsigned)qos);
        struct raw_packet packet;
        while (raw_read(raw, &packet) == RAW_PUBLISH) {
        }
        CHECK(packet.type == RAW_SUBACK, "QoS %d: packet 0x%02x", qos, packet.type);
        raw_drop(raw);

        struct client *reader = client_connect(
            broker, &(struct client_options){
                        .id = "raw", .keep = true, .expiry_s = 3600, .receive_maximum = 2});
        CHECK(client_await(reader, 6), "QoS %d", qos);
        publish(writer, "t/1", "no", qos, "2");
        publish(writer, "t/1", "yes", qos, "1");
        CHECK_ARRIVED(reader, writer, "kept kept kept kept kept kept yes");
    }
}

/* Dropped while messages are in flight, in all states of their exchange, many times over. */
static void test_a_client_that_keeps_dropping_loses_nothing(void) {
    enum { ROUNDS = 12 };
    for (int qos = 1; qos <= 2; qos++) {
        struct broker *broker = broker_start(PLUGIN NO_STATE "max_inflight_messages 3\n");
        struct client *writer = client_open(broker, "writer");
        const struct raw_options options = {
            .id = "raw", .keep = true, .expiry_s = 3600, .receive_maximum = 3};
        struct raw *raw = raw_connect(broker, &options);
        raw_subscribe_granted(raw, "t?x=1", (unsigned)qos);
        for (int i = 0; i < ROUNDS; i++) {
            publish(writer, "t", i == 0 ? "first" : "m", qos, "1");
            publish(writer, "t", "no", qos, "2");
        }
        for (int i = 0; i < ROUNDS / 2; i++) {
            struct raw_packet seen[8];
            size_t n = raw_ping(raw, seen, N_ROWS(seen));
            if (n > 0) {
                raw_ack(raw, qos == 1 ? RAW_PUBACK : RAW_PUBREC, seen[0].mid);
                raw_ping(raw, NULL, 0);
            }
            raw_drop(raw);
            raw = raw_connect(broker, &options);
        }
        raw_drop(raw);
        struct client *reader = client_connect(
            broker, &(struct client_options){.id = "raw", .keep = true, .expiry_s = 3600});
        size_t n = client_fence(reader, writer);
        /* With QoS 1 the acknowledged ones are done; with QoS 2 what had got its PUBREC is not sent again either. */
        CHECK(n >= ROUNDS / 2 && n <= ROUNDS, "QoS %d: %zu arrived", qos, n);
        CHECK(client_count_payload(reader, "no") == 0, "QoS %d: unfiltered", qos);
        client_clear(reader);
        for (int i = 0; i < 5; i++) {
            publish(writer, "t", "more", qos, "1");
        }
        CHECK_ARRIVED(reader, writer, "more more more more more");
    }
}

/* ---- takeover and clean start ------------------------------------------------------------------------------------ */

static void test_takeover_keeps_the_filter(void) {
    static const int protocols[] = {5, 4};
    for (size_t i = 0; i < N_ROWS(protocols); i++) {
        struct broker *broker = broker_start(PLUGIN NO_STATE);
        struct client *writer = client_open(broker, "writer");
        struct client *first = keep(broker, "reader");
        subscribe(first, "t?x=1", 1);
        struct client *second = client_connect(
            broker, &(struct client_options){
                        .id = "reader", .protocol = protocols[i], .keep = true, .expiry_s = 3600});
        CHECK(client_await_closed(first) == 0x8E, "taken over");
        REQUIRE(client_session_present(second), "MQTT %d: the session is gone", protocols[i]);
        for (int qos = 0; qos <= 2; qos++) {
            publish(writer, "t", "no", qos, "2");
            publish(writer, "t", "yes", qos, "1");
        }
        CHECK_ARRIVED(second, writer, "yes yes yes");
        /* And once more, in the other direction. */
        struct client *third = keep(broker, "reader");
        client_await_closed(second);
        publish(writer, "t", "no", 1, "2");
        publish(writer, "t", "yes", 1, "1");
        CHECK_ARRIVED(third, writer, "yes");
    }
}

/* MQTT 3 clients have no filters of their own making: the text is literal, also in a session that has some. */
static void test_mqtt_3_in_a_session_with_filters(void) {
    struct broker *broker = broker_start(PLUGIN NO_STATE);
    struct client *writer = client_open(broker, "writer");
    struct client *reader = keep(broker, "reader");
    subscribe(reader, "t?x=1", 1);
    client_disconnect(reader);
    struct client *old = client_connect(
        broker, &(struct client_options){.id = "reader", .protocol = 4, .keep = true});
    subscribe(old, "t?x=2", 1);
    publish(writer, "t", "a", 1, "1");
    publish(writer, "t", "b", 1, "2");
    publish(writer, "t?x=2", "literal", 1, NULL);
    CHECK_ARRIVED(old, writer, "a literal");
    /* A plain one replaces the filter there too. */
    subscribe(old, "t", 1);
    publish(writer, "t", "c", 1, "2");
    CHECK_ARRIVED(old, writer, "c");
}

static void test_clean_start_ends_the_filter(void) {
    static const bool connected[] = {false, true};
    for (size_t i = 0; i < N_ROWS(connected); i++) {
        struct broker *broker = broker_start(PLUGIN NO_STATE);
        struct client *writer = client_open(broker, "writer");
        struct client *first = keep(broker, "reader");
        subscribe(first, "t?x=1", 1);
        subscribe(first, "u?x=1", 1);
        if (!connected[i]) {
            client_disconnect(first);
        }
        struct client *second = client_open(broker, "reader");
        subscribe(second, "t", 1);
        publish(writer, "t", "a", 1, "2");
        publish(writer, "u", "b", 1, "1");
        CHECK_ARRIVED(second, writer, "a");
    }
}

/* A client may say at DISCONNECT that its session is not to be kept after all. */
static void test_disconnect_can_end_the_session(void) {
    struct broker *broker = broker_start(PLUGIN PERSISTENT);
    struct client *writer = client_open(broker, "writer");
    struct raw *raw =
        raw_connect(broker, &(struct raw_options){.id = "reader", .keep = true, .expiry_s = 3600});
    raw_subscribe_granted(raw, "t?x=1", 1);
    static const unsigned char no_expiry[] = {0, 5, 0x11, 0, 0, 0, 0};
    raw_send_packet(raw, RAW_DISCONNECT, no_expiry, sizeof no_expiry);
    raw_drop(raw);
    publish(writer, "t", "no", 1, "1");
    struct client *again = keep(broker, "reader");
    CHECK(!client_session_present(again), "it is over");
    subscribe(again, "t", 1);
    publish(writer, "t", "a", 1, "2");
    CHECK_ARRIVED(again, writer, "a");
}

/* A session that ends with its connection, and the next one of the same name in the same turn of the broker's loop. */
static void test_a_session_that_ends_and_starts_at_once(void) {
    static const struct {
        bool keep; /* the second connection asks for the old session */
        const char *topic;
        const char *expected;
    } rows[] = {
        {false, "t", "a b"},
        {true, "t", "a b"},
        {false, "t?x=2", "b"},
        {true, "t?x=2", "b"},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        struct broker *broker = broker_start(PLUGIN NO_STATE);
        struct client *writer = client_open(broker, "writer");
        struct raw *first = raw_connect(broker, &(struct raw_options){.id = "reader"});
        raw_subscribe_granted(first, "t?x=1", 1);
        struct raw *second = raw_open(broker, 1);
        CHECK(client_ping(writer), "row %zu: accepted", i);

        /* clean start or not, no keep alive, a session of an hour */
        const unsigned char connect[] = {0, 4, 'M', 'Q',  'T', 'T', 5,    rows[i].keep ? 0 : 2,
                                         0, 0, 5,   0x11, 0,   0,   0x0E, 0x10,
                                         0, 6, 'r', 'e',  'a', 'd', 'e',  'r'};
        freeze(broker);
        raw_send_packet(first, RAW_DISCONNECT, NULL, 0);
        raw_send_packet(second, RAW_CONNECT, connect, sizeof connect);
        unfreeze(broker);
        const struct raw_packet *connack = raw_expect(second, RAW_CONNACK);
        CHECK(connack->code == 0 && connack->body[0] == 0, "row %zu: a new session", i);
        raw_subscribe_granted(second, rows[i].topic, 0);
        CHECK(client_ping(writer), "row %zu: a turn later", i);
        publish(writer, "t", "a", 0, "1");
        publish(writer, "t", "b", 0, "2");
        struct raw_packet seen[4];
        size_t n = raw_ping(second, seen, N_ROWS(seen));
        CHECK(n == (strlen(rows[i].expected) + 1) / 2, "row %zu: %zu arrived", i, n);
    }
}

/* ---- expiry ------------------------------------------------------------------------------------------------------ */

/* There is no event when a session expires. */
static void test_expiry_ends_the_filter(void) {
    struct broker *broker = broker_start(PLUGIN PERSISTENT);
    struct client *writer = client_open(broker, "writer");
    struct client *plain = client_connect(
        broker, &(struct client_options){.id = "plain", .keep = true, .expiry_s = 1});
    struct client *swept = client_connect(
        broker, &(struct client_options){.id = "swept", .keep = true, .expiry_s = 1});
    struct client *again = client_connect(
        broker, &(struct client_options){.id = "again", .keep = true, .expiry_s = 1});
    subscribe(plain, "t?x=1", 1);
    subscribe(swept, "t?x=1", 1);
    subscribe(again, "t?x=1", 1);
    client_disconnect(plain);
    client_disconnect(swept);
    client_disconnect(again);
    REQUIRE(broker_await_log(broker, "Expiring client plain due to timeout"), "no expiry");
    client_ping(writer);

    /* Clean Start is off, but there is nothing to come back to. */
    client_reconnect(plain);
    CHECK(!client_session_present(plain), "expired");
    subscribe(plain, "t", 1);
    client_reconnect(again);
    subscribe(again, "t?x=2", 1);
    publish(writer, "t", "a", 1, "1");
    publish(writer, "t", "b", 1, "2");
    CHECK_ARRIVED(plain, writer, "a b");
    CHECK_ARRIVED(again, writer, "b");

    /* What is over leaves the state file as well: those that came back at once, the other with the sweep. */
    CHECK(count_lines(broker, STATE_FILE, "\"plain\",\"ended\"") == 1, "%s",
          read_file(broker, STATE_FILE));
    client_disconnect(plain);
    client_disconnect(again);
    broker_stop(broker);
    broker_run(broker);
    client_open(broker, "after the first turn");
    CHECK(count_lines(broker, STATE_FILE, "\"swept\",\"forgotten\"") == 1, "%s",
          read_file(broker, STATE_FILE));
}

/* ---- who it is --------------------------------------------------------------------------------------------------- */

/* The broker uses the address of a client again within milliseconds. */
static void test_addresses_are_used_again(void) {
    struct broker *broker = broker_start(PLUGIN NO_STATE);
    struct client *writer = client_open(broker, "writer");
    for (int i = 0; i < 40; i++) {
        char id[16];
        snprintf(id, sizeof id, "f%d", i);
        struct raw *filtered = raw_connect(
            broker,
            &(struct raw_options){.id = id, .keep = i % 2 == 0, .expiry_s = i % 2 ? 0 : 60});
        raw_subscribe_granted(filtered, "t?x=1", 0);
        raw_disconnect(filtered);

        snprintf(id, sizeof id, "p%d", i);
        struct raw *plain = raw_connect(broker, &(struct raw_options){.id = id});
        raw_subscribe_granted(plain, "t", 0);
        publish(writer, "t", "all", 0, "2");
        size_t n = raw_ping(plain, NULL, 0);
        CHECK(n == 1, "round %d: the plain client got %zu", i, n);
        raw_disconnect(plain);

        snprintf(id, sizeof id, "f%d", i);
        struct raw *again = raw_connect(
            broker, &(struct raw_options){.id = id, .keep = i % 2 == 0, .expiry_s = 60});
        if (i % 2 == 1) {
            raw_subscribe_granted(again, "t?x=1", 0);
        }
        publish(writer, "t", "all", 0, "2");
        publish(writer, "t", "one", 0, "1");
        n = raw_ping(again, NULL, 0);
        CHECK(n == 1, "round %d: the filtered client got %zu", i, n);
        raw_disconnect(again);
    }
}

/* Whoever fails to log in with somebody else's client identifier must change nothing: neither end the session, nor take
 * the subscriptions away. */
static void test_a_refused_connection_touches_no_session(void) {
    static const struct {
        bool keep;
        uint32_t expiry_s;
        bool victim_connected;
    } rows[] = {
        {false, 0, true}, {true, 0, true},     {true, 3600, true}, {false, 3600, true},
        {true, 0, false}, {true, 3600, false}, {false, 0, false},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        struct broker *broker = broker_start(
            PLUGIN PERSISTENT "listener @PORT1@ 127.0.0.1\nlistener_allow_anonymous true\n"
                              "listener @PORT2@ 127.0.0.1\nlistener_allow_anonymous false\n");
        struct client *writer = client_open(broker, "writer");
        struct client *victim = keep(broker, "victim");
        subscribe(victim, "t?x=1", 1);
        subscribe(victim, "$share/g/s?x=1", 1);
        if (!rows[i].victim_connected) {
            client_disconnect(victim);
        }
        int code = 0;
        client_try_connect(
            broker,
            &(struct client_options){
                .id = "victim", .listener = 2, .keep = rows[i].keep, .expiry_s = rows[i].expiry_s},
            &code);
        REQUIRE(code != 0, "row %zu: let in", i);
        client_ping(writer); /* a turn of the loop later */
        publish(writer, "t", "no", 1, "2");
        publish(writer, "t", "a", 1, "1");
        publish(writer, "s", "no", 1, "2");
        publish(writer, "s", "b", 1, "1");
        if (!rows[i].victim_connected) {
            client_reconnect(victim);
        }
        CHECK(client_session_present(victim) || rows[i].victim_connected, "row %zu", i);
        const char *got = arrived(victim, writer);
        CHECK(strcmp(got, "a b") == 0, "row %zu: '%s' arrived", i, got);
        CHECK(count_lines(broker, STATE_FILE, "ended") == 0, "row %zu: %s", i,
              read_file(broker, STATE_FILE));
    }
}

/* With log_dest topic the broker publishes log lines between taking over a session and registering the client, and
 * asks READ for them as it does for the queue, which must pass. So these two come unfiltered; no others, and
 * nothing else. */
static void test_log_lines_while_a_client_comes_back(void) {
    struct broker *broker = broker_start(PLUGIN NO_STATE "log_dest topic\n");
    struct client *reader = keep(broker, "reader");
    struct client *writer = client_open(broker, "writer");
    subscribe(reader, "$SYS/broker/log/%23?x=1", 1);
    subscribe(reader, "t?x=1", 1);
    client_disconnect(reader);
    publish(writer, "t", "no", 1, "2");
    publish(writer, "t", "a", 1, "1");
    client_reconnect(reader);
    publish(writer, "t", "no", 1, "2");
    publish(writer, "t", "b", 1, "1");
    size_t n = client_fence(reader, writer);
    for (size_t i = 0; i < n; i++) {
        const char *payload = client_message(reader, i)->payload;
        CHECK(strcmp(payload, "a") == 0 || strcmp(payload, "b") == 0 ||
                  strstr(payload, "session taken over") || strstr(payload, "New client connected"),
              "'%s' arrived", payload);
    }
    CHECK(client_count_payload(reader, "a") == 1 && client_count_payload(reader, "b") == 1,
          "what matches");
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

/* One short session: CONNECT, SUBSCRIBE and DISCONNECT in one piece. */
static void short_session(struct broker *broker, unsigned number, bool keep_it) {
    char id[16];
    int id_bytes = snprintf(id, sizeof id, "s%08u", number);
    char filter[64];
    int filter_bytes =
        snprintf(filter, sizeof filter, "short/%u?x=%u&y>%u", number % 1000, number, number);

    unsigned char bytes[256];
    size_t n = 0;
    const unsigned char hello[] = {0x10, (unsigned char)(18 + id_bytes),
                                   0,    4,
                                   'M',  'Q',
                                   'T',  'T',
                                   5,    2,
                                   0,    0,
                                   5,    0x11,
                                   0,    0,
                                   0,    keep_it ? 1 : 0,
                                   0,    (unsigned char)id_bytes};
    memcpy(bytes, hello, sizeof hello);
    n += sizeof hello;
    memcpy(bytes + n, id, (size_t)id_bytes);
    n += (size_t)id_bytes;
    const unsigned char head[] = {0x82, (unsigned char)(6 + filter_bytes), 0, 1, 0,
                                  0,    (unsigned char)filter_bytes};
    memcpy(bytes + n, head, sizeof head);
    n += sizeof head;
    memcpy(bytes + n, filter, (size_t)filter_bytes);
    n += (size_t)filter_bytes;
    const unsigned char tail[] = {1, 0xE0, 0};
    memcpy(bytes + n, tail, sizeof tail);
    n += sizeof tail;

    unsigned char answer[256];
    size_t got = talk(broker, bytes, n, answer, sizeof answer);
    /* CONNACK, then SUBACK: its last byte is the granted QoS. */
    REQUIRE(got > 4 && answer[0] == 0x20 && answer[got - 1] == 1, "session %u: %zu bytes", number,
            got);
}

/* Resident memory of the broker. */
static long resident_kib(struct broker *broker) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/status", broker_pid(broker));
    FILE *file = fopen(path, "re");
    REQUIRE(file != NULL, "%s", path);
    char line[256];
    long kib = 0;
    while (fgets(line, sizeof line, file) != NULL && sscanf(line, "VmRSS: %ld", &kib) != 1) {
    }
    fclose(file);
    REQUIRE(kib > 0, "%s", path);
    return kib;
}

/* Every second one of the sessions is kept and expires a second later, without an event; each has a filter of its
 * own and a line in the state file. What stays is what the broker and the allocator keep. */
static void test_memory_does_not_grow_with_ended_sessions(void) {
    const unsigned n = test_long() ? 100000 : 3000;
    const unsigned warm_up = n / 4;
    struct broker *broker = broker_start(PLUGIN PERSISTENT "connection_messages false\n");
    struct client *writer = client_open(broker, "writer");
    for (unsigned i = 0; i < warm_up; i++) {
        short_session(broker, i, i % 2 == 0);
    }
    long before_kib = resident_kib(broker);
    for (unsigned i = warm_up; i < n; i++) {
        short_session(broker, i, i % 2 == 0);
    }
    long after_kib = resident_kib(broker);
    test_note("%u sessions: %ld KiB, then %ld KiB", n, before_kib, after_kib);
    /* A session, its subscription and its filter take more than 1 KiB. Sanitizers keep what was freed. */
    if (TEST_BROKER_PRELOAD[0] == '\0') {
        CHECK(after_kib - before_kib < 16384, "%ld KiB more", after_kib - before_kib);
    }
    char last[16];
    snprintf(last, sizeof last, "s%08u", (n - 1) / 2 * 2);
    char text[64];
    snprintf(text, sizeof text, "Expiring client %s due to timeout", last);
    CHECK(broker_await_log(broker, text), "the last one does not expire");
    client_ping(writer);
    /* The state file is bounded too: what it remembers of ended sessions, and as much again that is dead. */
    size_t lines = count_lines(broker, STATE_FILE, "client");
    CHECK(lines < 40000, "%zu lines in the state file", lines);
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        TEST(test_only_matching_messages_are_queued),
        TEST(test_queued_qos_0_is_filtered),
        TEST(test_a_filter_replaced_while_messages_are_queued),
        TEST(test_unacknowledged_retained_copies_come_again),
        TEST(test_a_client_that_keeps_dropping_loses_nothing),
        TEST(test_takeover_keeps_the_filter),
        TEST(test_mqtt_3_in_a_session_with_filters),
        TEST(test_clean_start_ends_the_filter),
        TEST(test_disconnect_can_end_the_session),
        TEST(test_a_session_that_ends_and_starts_at_once),
        TEST(test_expiry_ends_the_filter),
        TEST(test_addresses_are_used_again),
        TEST(test_a_refused_connection_touches_no_session),
        TEST(test_log_lines_while_a_client_comes_back),
        TEST(test_memory_does_not_grow_with_ended_sessions),
    };
    return run_tests(argc, argv, cases, N_ROWS(cases));
}
