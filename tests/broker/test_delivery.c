/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Filters at work in the broker: who gets which message, whatever its QoS, its topic and its properties. Each case that
 * expects nothing proves it by a fence, and most have a subscriber beside it that does get the message.
 */
#include "scenario.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the table of the seeds ---- */

static const struct {
    const char *subscription;
    size_t delivered;
} seeds[] = {
    {"sensor/+/temperature?location=roomA", 1},
    {"sensor/+/temperature?location=roomB", 0},
    {"sensor/+/temperature?location=roomA&unit=celsius", 1},
    {"sensor/+/temperature?location=roomA&unit=fahrenheit", 0},
    {"sensor/+/temperature", 1},
};

static void test_the_table_of_the_seeds_at_every_qos(void) {
    struct broker *broker = start_plugin("");
    struct client *writer = client_open(broker, "writer");
    struct client *readers[N_ROWS(seeds)];
    for (size_t i = 0; i < N_ROWS(seeds); i++) {
        readers[i] = client_open(broker, NULL);
    }
    for (int subscribed = 0; subscribed <= 2; subscribed++) {
        for (size_t i = 0; i < N_ROWS(seeds); i++) {
            int granted = client_subscribe(readers[i], seeds[i].subscription, subscribed);
            CHECK(granted == subscribed, "%s: %d", seeds[i].subscription, granted);
        }
        for (int published = 0; published <= 2; published++) {
            client_publish(writer, &(struct publish){
                                       .topic = "sensor/1/temperature",
                                       .payload = "21.5",
                                       .qos = published,
                                       .user = USER("location", "roomA", "unit", "celsius"),
                                   });
            for (size_t i = 0; i < N_ROWS(seeds); i++) {
                size_t n = client_fence(readers[i], writer);
                CHECK(n == seeds[i].delivered, "%s, QoS %d to %d: %zu", seeds[i].subscription,
                      published, subscribed, n);
                const struct message *message = n == 0 ? NULL : client_message(readers[i], 0);
                int qos = published < subscribed ? published : subscribed;
                CHECK(message == NULL || (message->qos == qos && message->n_user == 2 &&
                                          strcmp(message->payload, "21.5") == 0 &&
                                          strcmp(message->topic, "sensor/1/temperature") == 0 &&
                                          strcmp(message_user(message, "unit"), "celsius") == 0),
                      "%s, QoS %d to %d: the message as published", seeds[i].subscription,
                      published, subscribed);
                client_clear(readers[i]);
            }
        }
    }
}

/* ---- dropped messages cost nothing ---- */

static void test_dropped_messages_use_up_no_window(void) {
    enum { DROPPED = 60, MATCHING = 25 };
    struct broker *broker = start_plugin("max_inflight_messages 20\nmax_queued_messages 30\n");
    struct client *writer = client_open(broker, "writer");
    for (int qos = 1; qos <= 2; qos++) {
        struct client *reader =
            client_connect(broker, &(struct client_options){.receive_maximum = 2});
        REQUIRE(client_subscribe(reader, "t?wanted=yes", qos) == qos, "QoS %d", qos);
        for (int i = 0; i < DROPPED + MATCHING; i++) {
            client_publish_later(
                writer, &(struct publish){.topic = "t",
                                          .payload = "x",
                                          .qos = qos,
                                          .user = USER("wanted", i < DROPPED ? "no" : "yes")});
        }
        REQUIRE(client_flush(writer), "QoS %d", qos);
        size_t n = client_fence(reader, writer);
        CHECK(n == MATCHING, "QoS %d: %zu of %d", qos, n, (int)MATCHING);
        client_disconnect(reader);
    }
}

/* A client that acknowledges nothing has two places: dropped messages take none of them. */
static void test_dropped_messages_wait_for_no_acknowledgement(void) {
    struct broker *broker = start_plugin("");
    struct client *writer = client_open(broker, "writer");
    for (int qos = 1; qos <= 2; qos++) {
        struct raw *raw =
            raw_connect(broker, &(struct raw_options){.id = "raw", .receive_maximum = 2});
        raw_subscribe(raw, 1, "t?n>1", 5, (unsigned)qos);
        REQUIRE(raw_expect(raw, RAW_SUBACK)->code == qos, "QoS %d", qos);
        static const char *const values[] = {"0", "1", "2", "0", "1", "3", "0", "4", "1"};
        for (size_t i = 0; i < N_ROWS(values); i++) {
            client_publish(
                writer, &(struct publish){.topic = "t", .qos = qos, .user = USER("n", values[i])});
        }
        struct raw_packet got[3];
        size_t n = raw_ping(raw, got, 3);
        REQUIRE(n == 2, "QoS %d: %zu of two places are used", qos, n);
        raw_ack(raw, qos == 1 ? RAW_PUBACK : RAW_PUBREC, got[0].mid);
        if (qos == 2) {
            REQUIRE(raw_expect(raw, RAW_PUBREL)->mid == got[0].mid, "PUBREL");
            raw_ack(raw, RAW_PUBCOMP, got[0].mid);
        }
        n = raw_ping(raw, NULL, 0);
        CHECK(n == 1, "QoS %d: the third one came: %zu", qos, n);
        raw_disconnect(raw);
    }
}

/* ---- replacing and removing ---- */

static void test_subscribing_again_replaces_the_filter(void) {
    static const struct {
        const char *subscription;
        size_t one, two; /* delivered of x=1 and of x=2 */
    } rows[] = {
        {"t?x=1", 1, 0},      {"t?x=2", 0, 1}, {"t", 1, 1},
        {"t?x=1", 1, 0},      {"t?x=1", 1, 0}, {"t?sql:x IN ('1','2')", 1, 1},
        {"t?tag:none", 0, 0}, {"t", 1, 1},     {"t", 1, 1},
        {"%74?x=2", 1, 1}, /* that is another topic: %74 is not decoded */
    };
    struct broker *broker = start_plugin("");
    struct client *writer = client_open(broker, "writer");
    struct client *reader = client_open(broker, "reader");
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        const struct subscribe subscribe = {
            .topic = rows[i].subscription, .qos = (int)(i % 3), .id = (uint32_t)i + 1};
        int granted = client_subscribe_with(reader, &subscribe);
        CHECK(granted == (int)(i % 3), "row %zu, %s: %d", i, subscribe.topic, granted);
        publish_user(writer, "t", USER("x", "1"));
        size_t one = client_fence(reader, writer);
        CHECK(one == rows[i].one, "row %zu, %s: x=1: %zu", i, subscribe.topic, one);
        if (one == 1 && i + 1 < N_ROWS(rows)) {
            const struct message *message = client_message(reader, 0);
            CHECK(message->n_ids == 1 && message->ids[0] == i + 1, "row %zu: identifier", i);
            CHECK(message->qos == (i % 3 > 1 ? 1 : (int)(i % 3)), "row %zu: QoS %d", i,
                  message->qos);
        }
        client_clear(reader);
        publish_user(writer, "t", USER("x", "2"));
        size_t two = count_arrived(reader, writer);
        CHECK(two == rows[i].two, "row %zu, %s: x=2: %zu", i, subscribe.topic, two);
    }
}

static void test_a_refused_replacement_changes_nothing(void) {
    static const char *const refused[] = {"t?", "t?x==2", "t?sql:x = ", "t?tag:||", "t?x=%00"};
    struct broker *broker = start_plugin("");
    struct client *writer = client_open(broker, "writer");
    struct client *reader = client_open(broker, "reader");
    REQUIRE(client_subscribe_with(reader, &(struct subscribe){"t?x=1", .qos = 1, .id = 7}) == 1,
            "subscribe");
    for (size_t i = 0; i < N_ROWS(refused); i++) {
        const struct subscribe again = {refused[i], .qos = 2, .id = 8};
        CHECK(client_subscribe_with(reader, &again) == 0x87, "%s", refused[i]);
        publish_user(writer, "t", USER("x", "1"));
        publish_user(writer, "t", USER("x", "2"));
        size_t n = client_fence(reader, writer);
        REQUIRE(n == 1, "%s: %zu", refused[i], n);
        const struct message *message = client_message(reader, 0);
        CHECK(message->qos == 1 && message->n_ids == 1 && message->ids[0] == 7, "%s", refused[i]);
        client_clear(reader);
    }
    /* Good and bad entries for one topic in one packet: the last good one holds. */
    static const char *const mixed[] = {"t?x=2", "t?x", "t?x=3", "t?x<"};
    int codes[N_ROWS(mixed)];
    REQUIRE(client_subscribe_many(reader, mixed, N_ROWS(mixed), 1, codes), "closed");
    CHECK(codes[0] == 1 && codes[1] == 0x87 && codes[2] == 1 && codes[3] == 0x87,
          "%02x %02x %02x %02x", (unsigned)codes[0], (unsigned)codes[1], (unsigned)codes[2],
          (unsigned)codes[3]);
    for (int x = 1; x <= 3; x++) {
        char value[2] = {(char)('0' + x), '\0'};
        publish_user(writer, "t", USER("x", value));
        size_t n = count_arrived(reader, writer);
        CHECK(n == (x == 3), "x=%s: %zu", value, n);
    }
}

static void test_unsubscribing_takes_any_expression_or_none(void) {
    static const struct {
        const char *subscribed;
        const char *unsubscribed;
        int code;
    } rows[] = {
        {"t?x=1", "t", 0},
        {"t?x=1", "t?x=1", 0},
        {"t?x=1", "t?y=2", 0},
        {"t?x=1", "t?sql:this ( is no filter", 0},
        {"t?x=1", "t?", 0},
        {"t?x=1", "t?%00", 0},
        {"t?x=1", "t??", 0},
        {"t", "t?x=1", 0},
        {"t?x=1", "u?x=1", 0x11},
        {"t?x=1", "?x=1", 0x11},
        {"t?x=1", "t%3Fx=1", 0x11},
        {"+/%23?x=1", "+/#", 0},
        {"+/%23?x=1", "%2B/%23?", 0},
        {"%2B?x=1", "+", 0},
    };
    struct broker *broker = start_plugin("");
    struct client *writer = client_open(broker, "writer");
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        struct client *reader = client_open(broker, NULL);
        REQUIRE(client_subscribe(reader, rows[i].subscribed, 1) == 1, "%s", rows[i].subscribed);
        publish_user(writer, "t", USER("x", "1"));
        size_t before = count_arrived(reader, writer);
        CHECK(before == 1, "%s: %zu before", rows[i].subscribed, before);
        int code = client_unsubscribe(reader, rows[i].unsubscribed);
        CHECK(code == rows[i].code, "%s of %s: 0x%02x", rows[i].unsubscribed, rows[i].subscribed,
              (unsigned)code);
        publish_user(writer, "t", USER("x", "1"));
        size_t after = count_arrived(reader, writer);
        CHECK(after == (code != 0), "%s of %s: %zu after", rows[i].unsubscribed, rows[i].subscribed,
              after);
        if (code == 0) {
            code = client_unsubscribe(reader, rows[i].unsubscribed);
            CHECK(code == 0x11, "%s again: 0x%02x", rows[i].unsubscribed, (unsigned)code);
        }
        client_disconnect(reader);
    }
}

static size_t add_text(unsigned char *packet, size_t at, const char *text) {
    size_t bytes = strlen(text);
    packet[at] = (unsigned char)(bytes >> 8);
    packet[at + 1] = (unsigned char)bytes;
    memcpy(packet + at + 2, text, bytes);
    return at + 2 + bytes;
}

static void test_unsubscribing_several_entries_at_once(void) {
    struct broker *broker = start_plugin("");
    struct client *writer = client_open(broker, "writer");
    struct raw *raw = raw_connect(broker, &(struct raw_options){.id = "raw"});
    static const char *const subscribed[] = {"a?x=1", "b?x=1", "c", "d?x=1"};
    for (uint16_t i = 0; i < N_ROWS(subscribed); i++) {
        raw_subscribe(raw, i + 1, subscribed[i], strlen(subscribed[i]), 0);
        REQUIRE(raw_expect(raw, RAW_SUBACK)->code == 0, "%s", subscribed[i]);
    }
    unsigned char packet[64] = {0, 9, 0}; /* packet identifier, no properties */
    size_t bytes = add_text(packet, 3, "a");
    bytes = add_text(packet, bytes, "b?other<3");
    bytes = add_text(packet, bytes, "c?x=1");
    bytes = add_text(packet, bytes, "none?x=1");
    raw_send_packet(raw, RAW_UNSUBSCRIBE | 2, packet, bytes);
    const struct raw_packet *answer = raw_expect(raw, RAW_UNSUBACK);
    static const unsigned char codes[] = {0, 0, 0, 0x11};
    CHECK(answer->bytes == 3 + 4 && memcmp(answer->body + 3, codes, 4) == 0,
          "UNSUBACK of %zu bytes", answer->bytes);
    publish_user(writer, "a", USER("x", "1"));
    publish_user(writer, "b", USER("x", "1"));
    publish_user(writer, "c", USER("x", "1"));
    publish_user(writer, "d", USER("x", "1"));
    publish_user(writer, "d", USER("x", "2"));
    struct raw_packet got[4];
    size_t n = raw_ping(raw, got, 4);
    CHECK(n == 1 && strcmp(got[0].topic, "d") == 0, "%zu left", n);
}

static void test_each_topic_of_a_client_has_its_own_filter(void) {
    static const char *const subscriptions[] = {"a?x=1", "b?x=2", "c", "d/%2B?x>5",
                                                "e/%23?y=1&x=1"};
    static const struct {
        const char *topic;
        const char *x;
        size_t delivered;
    } rows[] = {
        {"a", "1", 1}, {"a", "2", 0}, {"a", "6", 0},     {"b", "1", 0},     {"b", "2", 1},
        {"c", "1", 1}, {"c", "9", 1}, {"d/1", "1", 0},   {"d/1", "6", 1},   {"d/2", "7", 1},
        {"d", "7", 0}, {"e", "1", 1}, {"e/1/2", "1", 1}, {"e/1/2", "2", 0}, {"f", "1", 0},
    };
    struct broker *broker = start_plugin("");
    struct client *writer = client_open(broker, "writer");
    struct client *reader = client_open(broker, "reader");
    int codes[N_ROWS(subscriptions)];
    REQUIRE(client_subscribe_many(reader, subscriptions, N_ROWS(subscriptions), 1, codes),
            "closed");
    for (size_t i = 0; i < N_ROWS(subscriptions); i++) {
        CHECK(codes[i] == 1, "%s: 0x%02x", subscriptions[i], (unsigned)codes[i]);
    }
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        publish_user(writer, rows[i].topic, USER("x", rows[i].x, "y", "1"));
        size_t n = count_arrived(reader, writer);
        CHECK(n == rows[i].delivered, "%s with x=%s: %zu", rows[i].topic, rows[i].x, n);
    }
}

static void test_no_local_holds_beside_the_filter(void) {
    struct broker *broker = start_plugin("");
    struct client *other = client_open(broker, "other");
    struct client *self = client_open(broker, "self");
    const struct subscribe subscribe = {.topic = "t?x=1", .qos = 2, .no_local = true};
    REQUIRE(client_subscribe_with(self, &subscribe) == 2, "subscribe");
    REQUIRE(client_subscribe(self, "u?x=1", 2) == 2, "subscribe");
    for (int qos = 0; qos <= 2; qos++) {
        static const char *const values[] = {"1", "2"};
        for (size_t i = 0; i < N_ROWS(values); i++) {
            size_t wanted = i == 0;
            struct publish message = {.qos = qos, .topic = "t", .user = USER("x", values[i])};
            client_publish(self, &message);
            size_t n = count_arrived(self, other);
            CHECK(n == 0, "own, QoS %d, x=%s: %zu", qos, values[i], n);
            client_publish(other, &message);
            n = count_arrived(self, other);
            CHECK(n == wanted, "of another, QoS %d, x=%s: %zu", qos, values[i], n);
            message.topic = "u";
            client_publish(self, &message);
            n = count_arrived(self, other);
            CHECK(n == wanted, "own, without no-local, QoS %d, x=%s: %zu", qos, values[i], n);
        }
    }
}

/* ---- where ? is literal ---- */

static void check_literal(struct broker *broker, struct client *reader, const char *who) {
    struct client *writer = client_open(broker, NULL);
    static const char *const bad[] = {"t?x=1", "t?", "t?sql:(", "a?b"};
    for (size_t i = 0; i < N_ROWS(bad); i++) {
        int granted = client_subscribe(reader, bad[i], 1);
        CHECK(granted == 1, "%s, %s: 0x%02x", who, bad[i], (unsigned)granted);
        publish_user(writer, "t", USER("x", "1"));
        size_t n = count_arrived(reader, writer);
        CHECK(n == 0, "%s, %s: %zu messages of t", who, bad[i], n);
        publish_user(writer, bad[i], USER("x", "2"));
        n = count_arrived(reader, writer);
        CHECK(n == 1, "%s, %s: %zu messages of that topic", who, bad[i], n);
        CHECK(client_unsubscribe(reader, bad[i]) == 0, "%s, %s", who, bad[i]);
        publish_user(writer, bad[i], USER("x", "2"));
        n = count_arrived(reader, writer);
        CHECK(n == 0, "%s, %s: %zu afterwards", who, bad[i], n);
    }
    /* What follows the '?' is no expression of a subscription to t. */
    CHECK(client_subscribe(reader, "t", 1) == 1, "%s", who);
    (void)client_unsubscribe(reader, "t?x=1");
    publish_user(writer, "t", USER("x", "1"));
    CHECK(count_arrived(reader, writer) == 1, "%s: t is still there", who);
    client_disconnect(reader);
    client_disconnect(writer);
}

static void test_mqtt_3_clients_know_no_filters(void) {
    struct broker *broker = start_plugin("");
    for (int protocol = 3; protocol <= 4; protocol++) {
        struct client *reader =
            client_connect(broker, &(struct client_options){.protocol = protocol});
        check_literal(broker, reader, protocol == 3 ? "MQTT 3.1" : "MQTT 3.1.1");
    }
}

static void test_disabled_means_literal_for_all(void) {
    struct broker *broker = start_plugin("plugin_opt_enabled false\n");
    check_literal(broker, client_open(broker, "reader"), "disabled");
}

/* A client that subscribed while filters were off and whose session is kept finds its way out by itself. */
static void test_switching_on_again(void) {
    struct broker *broker =
        broker_new(PLUGIN NO_STATE "plugin_opt_config_file @DIR@/settings.json\n");
    broker_write_file(broker, "settings.json", "{\"enabled\": false}");
    broker_run(broker);
    struct client *writer = client_open(broker, "writer");
    const struct client_options options = {.id = "reader", .keep = true, .expiry_s = 100};
    struct client *reader = client_connect(broker, &options);
    REQUIRE(client_subscribe(reader, "t?x=1", 1) == 1, "literal");
    broker_write_file(broker, "settings.json", "{\"enabled\": true}");
    broker_reload(broker);
    publish_user(writer, "t?x=1", NULL);
    CHECK(count_arrived(reader, writer) == 1, "the literal one goes on");
    CHECK(client_subscribe(reader, "t?x=1", 1) == CLIENT_CLOSED, "the literal one is in the way");
    client_reconnect(reader);
    CHECK(client_subscribe(reader, "t?x=1", 1) == 1, "the filter");
    publish_user(writer, "t?x=1", NULL);
    publish_user(writer, "t", USER("x", "1"));
    publish_user(writer, "t", USER("x", "2"));
    CHECK(count_arrived(reader, writer) == 1, "the filter");

    /* And off again: the filter stays in force (it can be given up), new ones are literal. */
    broker_write_file(broker, "settings.json", "{\"enabled\": false}");
    broker_reload(broker);
    publish_user(writer, "t", USER("x", "2"));
    CHECK(count_arrived(reader, writer) == 0, "in force");
    CHECK(client_subscribe(reader, "u?x=1", 1) == 1, "literal");
    publish_user(writer, "u?x=1", NULL);
    publish_user(writer, "u", USER("x", "1"));
    CHECK(count_arrived(reader, writer) == 1, "literal");
    CHECK(client_unsubscribe(reader, "t?x=1") == 0, "given up");
    publish_user(writer, "t", USER("x", "1"));
    CHECK(count_arrived(reader, writer) == 0, "given up");
}

/* ---- retained messages ---- */

static void test_live_messages_with_the_retain_flag_are_filtered(void) {
    struct broker *broker = start_plugin("");
    struct client *writer = client_open(broker, "writer");
    for (int handling = 0; handling <= 2; handling++) {
        struct client *reader = client_open(broker, NULL);
        const struct subscribe subscribe = {.topic = "live?x=1",
                                            .qos = 1,
                                            .retain_as_published = true,
                                            .retain_handling = handling};
        REQUIRE(client_subscribe_with(reader, &subscribe) == 1, "handling %d", handling);
        for (int qos = 0; qos <= 2; qos++) {
            struct publish message = {.topic = "live",
                                      .payload = "p",
                                      .qos = qos,
                                      .retain = true,
                                      .user = USER("x", "2")};
            client_publish(writer, &message);
            size_t n = client_fence(reader, writer);
            CHECK(n == 0, "handling %d, QoS %d: %zu of x=2", handling, qos, n);
            message.user = USER("x", "1");
            client_publish(writer, &message);
            n = client_fence(reader, writer);
            CHECK(n == 1 && client_message(reader, 0)->retain, "handling %d, QoS %d: %zu of x=1",
                  handling, qos, n);
            client_clear(reader);
        }
        client_disconnect(reader);
        client_publish(writer, &(struct publish){.topic = "live", .retain = true}); /* removed */
    }
}

/* Retain r/1 with x=1 and r/2 with x=2. */
static struct client *retain_two(struct broker *broker) {
    struct client *writer = client_open(broker, "writer");
    client_publish(
        writer,
        &(struct publish){
            .topic = "r/1", .payload = "one", .qos = 1, .retain = true, .user = USER("x", "1")});
    client_publish(
        writer,
        &(struct publish){
            .topic = "r/2", .payload = "two", .qos = 1, .retain = true, .user = USER("x", "2")});
    return writer;
}

static const struct {
    const char *subscription;
    int handling;
    size_t delivered, filtered; /* with `retained deliver`, with `retained filter` */
} retained_rows[] = {
    /* clang-format off */
    {"r/%2B?x=1",   0, 2, 1},
    {"r/%2B?x=2",   0, 2, 1}, /* replaced: sent again */
    {"r/%2B?x=3",   0, 2, 0},
    {"r/%2B?x=1",   1, 0, 0}, /* only for new subscriptions */
    {"r/%2B?x=1",   2, 0, 0},
    {"r/1?x=1",   1, 1, 1},
    {"r/2?x=1",   1, 1, 0},
    {"r/2",       0, 1, 1}, /* no filter any more */
    {"r/2?x=1",   0, 1, 0},
    {"%2B/%23?x=1", 0, 2, 1},
    {"r/%23?sql:$retain AND x = '2'", 0, 2, 1},
    /* clang-format on */
};

static void check_retained(const char *options, bool filtered) {
    struct broker *broker = start_plugin(options);
    struct client *writer = retain_two(broker);
    struct client *reader = client_open(broker, "reader");
    for (size_t i = 0; i < N_ROWS(retained_rows); i++) {
        const struct subscribe subscribe = {.topic = retained_rows[i].subscription,
                                            .qos = 1,
                                            .retain_handling = retained_rows[i].handling};
        REQUIRE(client_subscribe_with(reader, &subscribe) == 1, "row %zu", i);
        size_t n = client_fence(reader, writer);
        size_t wanted = filtered ? retained_rows[i].filtered : retained_rows[i].delivered;
        CHECK(n == wanted, "row %zu, %s: %zu", i, subscribe.topic, n);
        for (size_t k = 0; k < n; k++) {
            CHECK(client_message(reader, k)->retain, "row %zu: %zu is no retained message", i, k);
        }
        client_clear(reader);
        publish_user(writer, "r/1",
                     USER("x", "9")); /* the next live one is filtered, plain r/2 aside */
        size_t live = count_arrived(reader, writer);
        CHECK(live == 0, "row %zu, %s: %zu live", i, subscribe.topic, live);
    }
}

static void test_retained_messages_are_delivered_on_subscribe(void) {
    check_retained("check_retain_source true\n", false);
    check_retained("check_retain_source false\nplugin_opt_retained deliver\n", false);
}

static void test_retained_messages_can_be_filtered(void) {
    check_retained("plugin_opt_retained filter\n", true);
}

/* A QoS 2 message is handed on at its PUBREL. When that comes right behind a SUBSCRIBE, nothing tells the plugin whether
 * the broker sends a retained message of the new subscription or a live one with the retain flag: it counts as
 * retained, as it would had the SUBSCRIBE come a moment later. The next live one is filtered. */
static void test_a_message_released_with_a_subscribe_counts_as_retained(void) {
    struct broker *broker = start_plugin("");
    struct client *writer = client_open(broker, "writer");
    struct raw *raw = raw_connect(broker, &(struct raw_options){.id = "raw"});
    struct publish message = {
        .topic = "t", .payload = "x", .qos = 2, .retain = true, .user = USER("x", "2")};
    raw_publish(raw, 1, &message);
    REQUIRE(raw_expect(raw, RAW_PUBREC)->mid == 1, "PUBREC");
    static const unsigned char both[] = {0x82, 11,  0,   9, 0,    0, 5, 't', '?',
                                         'x',  '=', '1', 0, 0x62, 2, 0, 1};
    raw_send(raw, both, sizeof both); /* SUBSCRIBE t?x=1 and PUBREL in one segment */
    REQUIRE(raw_expect(raw, RAW_SUBACK)->code == 0, "SUBACK");
    struct raw_packet packet;
    size_t n = 0;
    while (raw_read(raw, &packet) != RAW_PUBCOMP) {
        REQUIRE(packet.type == RAW_PUBLISH, "0x%02x", (unsigned)packet.type);
        n++;
    }
    n += raw_ping(raw, NULL, 0);
    CHECK(n == 1, "%zu messages", n);
    client_publish(writer, &message);
    n = raw_ping(raw, NULL, 0);
    CHECK(n == 0, "%zu live messages with x=2", n);
}

/* ---- wills ---- */

static void test_wills_are_filtered(void) {
    struct broker *broker = start_plugin("");
    struct client *writer = client_open(broker, "writer");
    struct client *reader = client_open(broker, "reader");
    REQUIRE(client_subscribe(reader, "will?x=1", 2) == 2, "subscribe");
    for (int qos = 0; qos <= 2; qos++) {
        static const char *const values[] = {"1", "2"};
        for (size_t i = 0; i < N_ROWS(values); i++) {
            for (int retain = 0; retain <= 1; retain++) {
                const struct publish will = {.topic = "will",
                                             .payload = "w",
                                             .qos = qos,
                                             .retain = retain,
                                             .user = USER("x", values[i])};
                struct client *mortal =
                    client_connect(broker, &(struct client_options){.will = &will});
                client_drop(mortal);
                size_t n = count_arrived(reader, writer);
                CHECK(n == (i == 0), "QoS %d, retain %d, x=%s: %zu", qos, retain, values[i], n);
            }
        }
    }
}

/* The will of a client whose session is kept goes to its own subscriptions, too. */
static void test_a_client_gets_its_own_will_filtered(void) {
    struct broker *broker = start_plugin("");
    struct client *writer = client_open(broker, "writer");
    static const char *const values[] = {"1", "2"};
    for (size_t i = 0; i < N_ROWS(values); i++) {
        for (uint32_t expiry_s = 0; expiry_s <= 100; expiry_s += 100) {
            const struct publish will = {
                .topic = "will", .payload = "w", .qos = 1, .user = USER("x", values[i])};
            struct raw *mortal = raw_connect(
                broker, &(struct raw_options){
                            .id = "mortal", .keep = true, .expiry_s = expiry_s, .will = &will});
            raw_subscribe(mortal, 1, "will?x=1", strlen("will?x=1"), 1);
            REQUIRE(raw_expect(mortal, RAW_SUBACK)->code == 1, "subscribe");
            raw_hang_up(mortal); /* the broker still sends to it until it closes its side */
            size_t n = 0;
            for (struct raw_packet packet; raw_read(mortal, &packet) != RAW_CLOSED;) {
                n += packet.type == RAW_PUBLISH;
            }
            CHECK(n == (i == 0), "x=%s, expiry %u: %zu at once", values[i], (unsigned)expiry_s, n);
            struct client *back = client_connect(
                broker,
                &(struct client_options){.id = "mortal", .keep = true, .expiry_s = expiry_s});
            CHECK(client_session_present(back) == (expiry_s > 0), "x=%s", values[i]);
            /* The kept session sends it again: it was not acknowledged. */
            n = count_arrived(back, writer);
            CHECK(n == (i == 0 && expiry_s > 0), "x=%s, expiry %u: %zu", values[i],
                  (unsigned)expiry_s, n);
            client_disconnect(back);
            struct client *end = client_open(broker, "mortal"); /* Clean Start */
            client_disconnect(end);
        }
    }
}

static void test_a_delayed_will_is_filtered(void) {
    struct broker *broker = start_plugin("");
    struct client *writer = client_open(broker, "writer");
    struct client *reader = client_open(broker, "reader");
    REQUIRE(client_subscribe(reader, "will?x=1", 1) == 1, "subscribe");
    struct client *plain = client_open(broker, "plain");
    REQUIRE(client_subscribe(plain, "will", 1) == 1, "subscribe");
    static const char *const values[] = {"2", "1"};
    for (size_t i = 0; i < N_ROWS(values); i++) {
        const struct publish will = {
            .topic = "will", .payload = "w", .qos = 1, .user = USER("x", values[i])};
        /* It also ends the session of its client, which has a filter on the will itself. */
        struct client *mortal = client_connect(
            broker, &(struct client_options){.id = "mortal", .will = &will, .will_delay_s = 1});
        REQUIRE(client_subscribe(mortal, "will?x=1", 1) == 1, "subscribe");
        client_drop(mortal);
        REQUIRE(client_await(plain, i + 1), "x=%s: the will", values[i]);
        size_t n = count_arrived(reader, writer);
        CHECK(n == i, "x=%s: %zu", values[i], n);
    }
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        TEST(test_the_table_of_the_seeds_at_every_qos),
        TEST(test_dropped_messages_use_up_no_window),
        TEST(test_dropped_messages_wait_for_no_acknowledgement),
        TEST(test_subscribing_again_replaces_the_filter),
        TEST(test_a_refused_replacement_changes_nothing),
        TEST(test_unsubscribing_takes_any_expression_or_none),
        TEST(test_unsubscribing_several_entries_at_once),
        TEST(test_each_topic_of_a_client_has_its_own_filter),
        TEST(test_no_local_holds_beside_the_filter),
        TEST(test_mqtt_3_clients_know_no_filters),
        TEST(test_disabled_means_literal_for_all),
        TEST(test_switching_on_again),
        TEST(test_live_messages_with_the_retain_flag_are_filtered),
        TEST(test_retained_messages_are_delivered_on_subscribe),
        TEST(test_retained_messages_can_be_filtered),
        TEST(test_a_message_released_with_a_subscribe_counts_as_retained),
        TEST(test_wills_are_filtered),
        TEST(test_a_client_gets_its_own_will_filtered),
        TEST(test_a_delayed_will_is_filtered),
    };
    return run_tests(argc, argv, cases, N_ROWS(cases));
}
