/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Retained messages: on subscribe they come whatever the filter says, unless the option `retained` is `filter`; a
 * live message with the retain flag is filtered like any other.
 */
#include "scenario.h"

#include <stdio.h>
#include <stdlib.h>

#define FILTERED "plugin_opt_retained filter\n"

static void retain(struct client *writer, const char *topic, const char *payload, const char *x) {
    int code = client_publish(writer, &(struct publish){.topic = topic,
                                                        .payload = payload,
                                                        .qos = 1,
                                                        .retain = true,
                                                        .user = x == NULL ? NULL : USER("x", x)});
    REQUIRE(code == 0 || code == 0x10, "0x%02x", (unsigned)code);
}

static void subscribe_handling(struct client *reader, const char *topic, int handling) {
    int code = client_subscribe_with(
        reader, &(struct subscribe){.topic = topic, .qos = 1, .retain_handling = handling});
    REQUIRE(code == 1, "%s: 0x%02x", topic, (unsigned)code);
}

/* Retain Handling is about what the broker sends; the option about what of it passes. Subscribing to the same
 * topic again, with another filter or not, is not a new subscription. */
static void test_retain_handling(void) {
    static const struct {
        int handling;
        bool filtered;
        const char *first;  /* arrives with t/+?x=1 */
        const char *second; /* arrives with t/+?x=2 after that */
    } rows[] = {
        {0, false, "one two none", "one two none"},
        {1, false, "one two none", ""},
        {2, false, "", ""},
        {0, true, "one", "two"},
        {1, true, "one", ""},
        {2, true, "", ""},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        struct broker *broker =
            broker_start(PLUGIN NO_STATE "%s", rows[i].filtered ? FILTERED : "");
        struct client *writer = client_open(broker, "writer");
        retain(writer, "t/1", "one", "1");
        retain(writer, "t/2", "two", "2");
        retain(writer, "t/3", "none", NULL);
        struct client *reader = client_open(broker, "reader");
        subscribe_handling(reader, "t/%2B?x=1", rows[i].handling);
        const char *got = arrived(reader, writer);
        CHECK(strcmp(got, rows[i].first) == 0, "row %zu: '%s' arrived", i, got);
        subscribe_handling(reader, "t/%2B?x=2", rows[i].handling);
        got = arrived(reader, writer);
        CHECK(strcmp(got, rows[i].second) == 0, "row %zu: '%s' arrived at the second", i, got);
        /* From then on both options are the same. */
        publish(writer, "t/1", "no", 1, "1");
        retain(writer, "t/1", "no", "1");
        publish(writer, "t/3", "a", 1, "2");
        retain(writer, "t/2", "b", "2");
        got = arrived(reader, writer);
        CHECK(strcmp(got, "a b") == 0, "row %zu: '%s' arrived live", i, got);
    }
}

/* The flag of a live message, with Retain As Published and without; and what is stored although a reader did not
 * want it. */
static void test_live_messages_with_the_retain_flag(void) {
    for (int as_published = 0; as_published <= 1; as_published++) {
        for (int qos = 0; qos <= 2; qos++) {
            struct broker *broker = broker_start(PLUGIN NO_STATE);
            struct client *writer = client_open(broker, "writer");
            struct client *reader = client_open(broker, "reader");
            int code = client_subscribe_with(
                reader, &(struct subscribe){
                            .topic = "t?x=1", .qos = qos, .retain_as_published = as_published});
            REQUIRE(code == qos, "0x%02x", (unsigned)code);
            for (const char *x = "12"; *x != '\0'; x++) {
                char value[2] = {*x, '\0'};
                client_publish(writer, &(struct publish){.topic = "t",
                                                         .payload = value,
                                                         .qos = qos,
                                                         .retain = true,
                                                         .user = USER("x", value)});
            }
            REQUIRE(client_fence(reader, writer) == 1, "QoS %d: %zu", qos, client_count(reader));
            const struct message *message = client_message(reader, 0);
            CHECK(strcmp(message->payload, "1") == 0, "QoS %d: %s", qos, message->payload);
            CHECK(message->retain == as_published, "QoS %d: retain %d", qos, message->retain);
            struct client *late = client_open(broker, "late");
            subscribe(late, "t?x=1", 1);
            CHECK_ARRIVED(late, writer, "2");
        }
    }
}

/* A message without payload clears the retained one; to those who have subscribed it is a message. */
static void test_clearing_is_filtered_too(void) {
    struct broker *broker = broker_start(PLUGIN NO_STATE);
    struct client *writer = client_open(broker, "writer");
    retain(writer, "t", "kept", "1");
    struct client *reader = client_open(broker, "reader");
    subscribe(reader, "t?x=1", 1);
    CHECK_ARRIVED(reader, writer, "kept");
    retain(writer, "t", NULL, "2");
    CHECK(client_fence(reader, writer) == 0, "filtered");
    retain(writer, "t", NULL, "1");
    CHECK(client_fence(reader, writer) == 1 && client_message(reader, 0)->payload_bytes == 0,
          "not");
    struct client *late = client_open(broker, "late");
    subscribe(late, "t?x=1", 1);
    CHECK_ARRIVED(late, writer, "");
}

/* Many of them, with check_retain_source, which asks other questions in between. */
static void test_many_retained_messages(void) {
    static const char *const configs[] = {"check_retain_source true\n",
                                          "check_retain_source true\n" FILTERED,
                                          "check_retain_source false\n" FILTERED};
    enum { N = 300 };
    for (size_t i = 0; i < N_ROWS(configs); i++) {
        struct broker *broker = broker_start(
            PLUGIN NO_STATE "max_queued_messages 0\nmax_inflight_messages 5\n%s", configs[i]);
        struct client *writer = client_open(broker, "writer");
        for (int k = 0; k < N; k++) {
            char topic[16];
            snprintf(topic, sizeof topic, "t/%d", k);
            client_publish_later(writer,
                                 &(struct publish){.topic = topic,
                                                   .payload = k % 3 == 0 ? "1" : "2",
                                                   .qos = 1,
                                                   .retain = true,
                                                   .user = USER("x", k % 3 == 0 ? "1" : "2")});
        }
        REQUIRE(client_flush(writer), "flush");
        client_disconnect(writer);
        writer = client_open(broker, "writer");
        struct client *reader = client_open(broker, "reader");
        subscribe(reader, "t/%23?x=1", 1);
        size_t expected = strstr(configs[i], FILTERED) != NULL ? N / 3 : N;
        size_t n = client_fence(reader, writer);
        CHECK(n == expected, "row %zu: %zu", i, n);
        CHECK(client_count_payload(reader, "1") == N / 3, "row %zu: %zu match", i,
              client_count_payload(reader, "1"));
    }
}

/* A share group gets none, with or without a filter. */
static void test_shared_subscriptions_get_none(void) {
    struct broker *broker = broker_start(PLUGIN NO_STATE);
    struct client *writer = client_open(broker, "writer");
    retain(writer, "t", "kept", "1");
    struct client *reader = client_open(broker, "reader");
    subscribe(reader, "$share/g/t?x=1", 1);
    publish(writer, "t", "no", 1, "2");
    publish(writer, "t", "a", 1, "1");
    /* Right after it: the question about a live message must not be taken for one about a retained message. */
    retain(writer, "t", "no", "2");
    CHECK_ARRIVED(reader, writer, "a");
}

/* Only the subscription that was just made gets them; the others of the client are as they were. */
static void test_the_other_subscriptions_stay_filtered(void) {
    struct broker *broker = broker_start(PLUGIN NO_STATE);
    struct client *writer = client_open(broker, "writer");
    struct client *reader = client_open(broker, "reader");
    REQUIRE(client_subscribe_with(reader,
                                  &(struct subscribe){.topic = "%23?x=1", .qos = 1, .id = 1}) == 1,
            "1");
    retain(writer, "t", "a", "1");
    retain(writer, "t", "b", "2");
    REQUIRE(client_subscribe_with(reader,
                                  &(struct subscribe){.topic = "t?x=1", .qos = 1, .id = 2}) == 1,
            "2");
    retain(writer, "t", "c", "2");
    retain(writer, "t", "d", "1");
    client_fence(reader, writer);
    static const struct {
        const char *payload;
        uint32_t id;
    } rows[] = {{"a", 1}, {"b", 2}, {"d", 2}, {"d", 1}};
    CHECK(client_count(reader) == N_ROWS(rows), "%zu", client_count(reader));
    for (size_t i = 0; i < N_ROWS(rows) && i < client_count(reader); i++) {
        const struct message *message = client_message(reader, i);
        CHECK(strcmp(message->payload, rows[i].payload) == 0 && message->n_ids == 1 &&
                  message->ids[0] == rows[i].id,
              "row %zu: %s for %u", i, message->payload, message->ids[0]);
    }
}

/* $SYS messages are retained and have no properties. */
static void test_sys_messages_on_subscribe(void) {
    for (int filtered = 0; filtered <= 1; filtered++) {
        struct broker *broker = broker_start(PLUGIN NO_STATE "%s", filtered ? FILTERED : "");
        struct client *writer = client_open(broker, "writer");
        retain(writer, "t", "kept", "1");
        struct client *reader = client_open(broker, "reader");
        subscribe(reader, "$SYS/broker/version?x=1", 1);
        CHECK(client_fence(reader, writer) == (filtered ? 0U : 1U), "%zu", client_count(reader));
        client_clear(reader);
        subscribe(reader, "$SYS/broker/version?sql:x IS NULL", 1);
        CHECK(client_fence(reader, writer) == 1, "%zu", client_count(reader));
    }
}

/* $retain is as published. */
static void test_the_retain_attribute(void) {
    struct broker *broker = broker_start(PLUGIN NO_STATE FILTERED);
    struct client *writer = client_open(broker, "writer");
    retain(writer, "t", "kept", NULL);
    struct client *yes = client_open(broker, "yes");
    struct client *no = client_open(broker, "no");
    subscribe(yes, "t?sql:$retain", 1);
    subscribe(no, "t?sql:NOT $retain", 1);
    publish(writer, "t", "live", 1, NULL);
    retain(writer, "t", "both", NULL);
    CHECK_ARRIVED(yes, writer, "kept both");
    CHECK_ARRIVED(no, writer, "live");
}

/* A QoS 2 message with the retain flag that is released in the same turn of the broker's loop as a SUBSCRIBE
 * cannot be told from the retained messages that follow a SUBSCRIBE; where none follow, because of Retain
 * Handling, it is filtered. */
static void test_a_pubrel_right_after_subscribe(void) {
    static const struct {
        unsigned handling;
        bool again; /* the subscription is there already */
        size_t most;
    } rows[] = {{0, false, 1}, {1, false, 1}, {1, true, 0}, {2, false, 0}, {2, true, 0}};
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        struct broker *broker = broker_start(PLUGIN NO_STATE);
        struct raw *raw = raw_connect(broker, &(struct raw_options){.id = "raw"});
        if (rows[i].again) {
            raw_subscribe_granted(raw, "t?x=3", 1);
        }
        raw_publish(
            raw, 5,
            &(struct publish){
                .topic = "t", .payload = "no", .qos = 2, .retain = true, .user = USER("x", "2")});
        raw_expect(raw, RAW_PUBREC);
        const unsigned char both[] = {0x82,
                                      11,
                                      0,
                                      1,
                                      0,
                                      0,
                                      5,
                                      't',
                                      '?',
                                      'x',
                                      '=',
                                      '1',
                                      (unsigned char)(1 | rows[i].handling << 4),
                                      RAW_PUBREL | 2,
                                      2,
                                      0,
                                      5};
        raw_send(raw, both, sizeof both);
        size_t n = raw_ping(raw, NULL, 0);
        CHECK(n <= rows[i].most, "row %zu: %zu arrived", i, n);
        /* A turn later in any case. */
        raw_publish(
            raw, 6,
            &(struct publish){
                .topic = "t", .payload = "no", .qos = 2, .retain = true, .user = USER("x", "2")});
        raw_expect(raw, RAW_PUBREC);
        raw_ack(raw, RAW_PUBREL, 6);
        n = raw_ping(raw, NULL, 0);
        CHECK(n == 0, "row %zu: %zu arrived later", i, n);
    }
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        TEST(test_retain_handling),
        TEST(test_live_messages_with_the_retain_flag),
        TEST(test_clearing_is_filtered_too),
        TEST(test_many_retained_messages),
        TEST(test_shared_subscriptions_get_none),
        TEST(test_the_other_subscriptions_stay_filtered),
        TEST(test_sys_messages_on_subscribe),
        TEST(test_the_retain_attribute),
        TEST(test_a_pubrel_right_after_subscribe),
    };
    return run_tests(argc, argv, cases, N_ROWS(cases));
}
