/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The harness against a plain broker, without our plugin: that messages, sessions, logs and ends of brokers are what it
 * says they are, and above all that a fence proves what it claims.
 */
#include "harness.h"
#include "raw.h"

#include <stdio.h>
#include <string.h>

static void test_messages_arrive_as_published(void) {
    struct broker *broker = broker_start("%s", "");
    struct client *reader = client_open(broker, "reader");
    struct client *writer = client_open(broker, "writer");
    for (int qos = 0; qos <= 2; qos++) {
        struct subscribe subscribe = {.topic = "t/#", .qos = qos, .id = 7};
        int granted = client_subscribe_with(reader, &subscribe);
        CHECK(granted == qos, "QoS %d: %d", qos, granted);

        struct publish publish = {.topic = "t/a",
                                  .payload = "hello",
                                  .qos = qos,
                                  .user =
                                      USER("location", "roomA", "empty", "", "location", "roomB"),
                                  .content_type = "text/plain",
                                  .response_topic = "answers"};
        CHECK(client_publish(writer, &publish) == 0, "QoS %d", qos);
        CHECK(client_fence(reader, writer) == 1, "QoS %d: %zu messages", qos, client_count(reader));

        const struct message *message = client_message(reader, 0);
        CHECK(strcmp(message->topic, "t/a") == 0 && strcmp(message->payload, "hello") == 0,
              "QoS %d: %s %s", qos, message->topic, message->payload);
        CHECK(message->qos == qos && !message->retain, "QoS %d: %d", qos, message->qos);
        CHECK(message->n_ids == 1 && message->ids[0] == 7, "QoS %d: %zu", qos, message->n_ids);
        CHECK(message->n_user == 3 && strcmp(message->user[5], "roomB") == 0, "QoS %d: %zu", qos,
              message->n_user);
        CHECK(strcmp(message_user(message, "location"), "roomA") == 0, "QoS %d", qos);
        CHECK(strcmp(message_user(message, "empty"), "") == 0, "QoS %d", qos);
        CHECK(message_user(message, "absent") == NULL, "QoS %d", qos);
        CHECK(strcmp(message->content_type, "text/plain") == 0, "QoS %d", qos);
        CHECK(strcmp(message->response_topic, "answers") == 0, "QoS %d", qos);
        client_clear(reader);
    }
}

static void test_mqtt_3_clients_work(void) {
    struct broker *broker = broker_start("%s", "");
    static const int protocols[] = {3, 4};
    for (size_t i = 0; i < N_ROWS(protocols); i++) {
        struct client_options options = {.id = "three", .protocol = protocols[i]};
        struct client *three = client_connect(broker, &options);
        CHECK(client_subscribe(three, "t", 2) == 2, "protocol %d", protocols[i]);
        CHECK(client_publish(three, &(struct publish){.topic = "t", .payload = "x", .qos = 2}) == 0,
              "protocol %d", protocols[i]);
        CHECK(client_fence(three, three) == 1, "protocol %d: %zu", protocols[i],
              client_count(three));
        CHECK(client_unsubscribe(three, "t") == 0, "protocol %d", protocols[i]);
        client_disconnect(three);
    }
}

/* Bursts of every QoS through windows of several sizes: each of the fences must count all of them. */
static void test_a_fence_comes_last(void) {
    enum { ROUNDS = 20, BURST = 30 };
    static const uint16_t windows[] = {1, 3, 20};
    uint64_t state = test_seed();
    for (size_t i = 0; i < N_ROWS(windows); i++) {
        struct broker *broker = broker_start("max_inflight_messages %u\n", windows[i]);
        struct client *writer = client_open(broker, "writer");
        struct client_options options = {.id = "reader", .receive_maximum = windows[i]};
        struct client *reader = client_connect(broker, &options);
        REQUIRE(client_subscribe(reader, "#", 2) == 2, "subscribe");
        for (int round = 0; round < ROUNDS; round++) {
            for (int n = 1; n < BURST; n++) {
                int qos = (int)(test_random(&state) % 3);
                client_publish_later(writer,
                                     &(struct publish){.topic = "t", .payload = "x", .qos = qos});
            }
            REQUIRE(client_flush(writer), "window %u, round %d", windows[i], round);
            client_publish(writer, &(struct publish){.topic = "t", .payload = "x", .qos = 2});
            size_t n = client_fence(reader, writer);
            CHECK(n == BURST, "window %u, round %d: %zu of %d", windows[i], round, n, (int)BURST);
            client_clear(reader);
        }
    }
}

static void test_nothing_arrives_without_a_subscription(void) {
    struct broker *broker = broker_start("%s", "");
    struct client *reader = client_open(broker, "reader");
    struct client *writer = client_open(broker, "writer");
    REQUIRE(client_subscribe(reader, "a", 1) == 1, "subscribe");
    client_publish(writer, &(struct publish){.topic = "b", .qos = 1});
    CHECK(client_fence(reader, writer) == 0, "%zu", client_count(reader));
    CHECK(client_unsubscribe(reader, "a") == 0, "known");
    CHECK(client_unsubscribe(reader, "a") == 0x11, "no subscription existed");
    client_publish(writer, &(struct publish){.topic = "a", .qos = 1});
    CHECK(client_fence(reader, writer) == 0, "%zu", client_count(reader));
}

static void test_several_entries_have_several_answers(void) {
    struct broker *broker = broker_start("%s", "");
    struct client *client = client_open(broker, "c");
    int codes[3];
    const char *topics[] = {"a", "b/#", "$share/g/c"};
    REQUIRE(client_subscribe_many(client, topics, 3, 1, codes), "closed");
    CHECK(codes[0] == 1 && codes[1] == 1 && codes[2] == 1, "%d %d %d", codes[0], codes[1],
          codes[2]);
    CHECK(client_subscribe(client, "a/#/b", 0) == CLIENT_REFUSED, "libmosquitto checks");
    CHECK(client_is_connected(client), "still there");
}

static void test_kept_sessions_collect_while_offline(void) {
    struct broker *broker = broker_start("%s", "");
    struct client *writer = client_open(broker, "writer");
    struct client_options options = {.id = "reader", .keep = true, .expiry_s = 100};
    struct client *reader = client_connect(broker, &options);
    CHECK(!client_session_present(reader), "new");
    REQUIRE(client_subscribe(reader, "t", 1) == 1, "subscribe");
    client_fence(reader, writer);
    client_disconnect(reader);
    CHECK(!client_is_connected(reader), "disconnected");
    client_publish(writer, &(struct publish){.topic = "t", .payload = "offline", .qos = 1});
    client_reconnect(reader);
    CHECK(client_session_present(reader), "kept");
    CHECK(client_fence(reader, writer) == 1, "%zu", client_count(reader));

    /* The same session by another client: takeover. */
    struct client *second = client_connect(broker, &options);
    CHECK(client_session_present(second), "kept");
    CHECK(client_await_closed(reader) == 0x8E, "session taken over");
    CHECK(client_fence(second, writer) == 0, "%zu", client_count(second));
}

/* The client has read no answer and none of its own messages when it goes. */
static void test_unfinished_exchanges_go_on_after_a_reconnect(void) {
    enum { MESSAGES = 5 };
    static void (*const leave[])(struct client *) = {client_drop, client_disconnect};
    struct broker *broker = broker_start("%s", "");
    for (size_t row = 0; row < 2 * N_ROWS(leave); row++) {
        int qos = 1 + (int)(row % 2);
        struct client *client = client_connect(
            broker, &(struct client_options){.id = "c", .keep = true, .expiry_s = 100});
        REQUIRE(client_subscribe(client, "t", qos) == qos, "row %zu: subscribe", row);
        for (int i = 0; i < MESSAGES; i++) {
            client_publish_later(client, &(struct publish){.topic = "t", .qos = qos});
        }
        leave[row / 2](client);
        CHECK(client_count(client) == 0, "row %zu: %zu", row, client_count(client));
        client_reconnect(client);
        REQUIRE(client_flush(client), "row %zu: connected", row);
        size_t n = client_fence(client, client);
        CHECK(qos == 1 ? n >= MESSAGES : n == MESSAGES, "row %zu: %zu", row, n);
        client_disconnect(client);
    }
}

static void test_retained_messages_and_wills(void) {
    struct broker *broker = broker_start("%s", "");
    struct client *reader = client_open(broker, "reader");
    struct client *writer = client_open(broker, "writer");
    client_publish(writer,
                   &(struct publish){.topic = "r", .payload = "kept", .qos = 1, .retain = true});
    REQUIRE(client_subscribe(reader, "#", 1) == 1, "subscribe");
    CHECK(client_fence(reader, writer) == 1, "%zu", client_count(reader));
    CHECK(client_message(reader, 0)->retain, "retain flag");
    client_clear(reader);

    struct publish will = {.topic = "w", .payload = "gone", .qos = 1, .user = USER("why", "lost")};
    struct client *mortal =
        client_connect(broker, &(struct client_options){.id = "mortal", .will = &will});
    client_drop(mortal);
    CHECK(client_fence(reader, writer) == 1, "%zu", client_count(reader));
    CHECK(strcmp(message_user(client_message(reader, 0), "why"), "lost") == 0, "properties");
}

static void test_a_restart_finds_what_was_saved(void) {
    struct broker *broker = broker_start("persistence true\npersistence_location @DIR@/\n");
    struct client *writer =
        client_connect(broker, &(struct client_options){.id = "writer", .keep = true});
    client_publish(writer,
                   &(struct publish){.topic = "r", .payload = "one", .qos = 1, .retain = true});
    CHECK(broker_stop(broker) == 0, "status %d", broker_status(broker));
    CHECK(!broker_is_running(broker), "stopped");
    client_await_closed(writer);
    broker_run(broker);

    client_reconnect(writer);
    client_publish(writer,
                   &(struct publish){.topic = "r", .payload = "two", .qos = 1, .retain = true});
    broker_kill(broker); /* not saved */
    broker_run(broker);
    struct client *reader = client_open(broker, "reader");
    REQUIRE(client_subscribe(reader, "r", 1) == 1, "subscribe");
    CHECK(client_fence(reader, reader) == 1 && client_count_payload(reader, "one") == 1, "%zu",
          client_count(reader));

    client_publish(reader,
                   &(struct publish){.topic = "r", .payload = "three", .qos = 1, .retain = true});
    broker_save(broker);
    client_ping(reader);
    broker_kill(broker);
    broker_run(broker);
    struct client *last = client_open(broker, "last");
    REQUIRE(client_subscribe(last, "r", 1) == 1, "subscribe");
    CHECK(client_fence(last, last) == 1 && client_count_payload(last, "three") == 1, "%zu",
          client_count(last));
}

static void test_listeners_logs_and_reload(void) {
    struct broker *broker = broker_start("listener @PORT1@ 127.0.0.1\n"
                                         "listener @PORT2@ 127.0.0.1\n"
                                         "allow_anonymous true\n"
                                         "max_queued_messages 10\n");
    client_connect(broker, &(struct client_options){.id = "first"});
    struct client *second =
        client_connect(broker, &(struct client_options){.id = "second", .listener = 2});
    CHECK(broker_await_log(broker, "as first"), "logged");
    CHECK(broker_await_log(broker, "as second"), "logged");
    CHECK(broker_log_count(broker, "as second") == 1, "%zu", broker_log_count(broker, "as second"));
    CHECK(broker_log_count(broker, "as third") == 0, "not logged");
    broker_reload(broker);
    CHECK(client_ping(second), "still connected");
}

static void test_access_control_shows_in_reason_codes(void) {
    struct broker *broker = broker_new("acl_file @DIR@/acl\n");
    broker_write_file(broker, "acl", "topic readwrite open/#\ntopic readwrite fence/#\n");
    broker_run(broker);
    struct client *client = client_open(broker, "c");
    REQUIRE(client_subscribe(client, "#", 2) == 2, "subscribe");
    CHECK(client_publish(client, &(struct publish){.topic = "shut/a", .qos = 1}) == 0x87, "denied");
    CHECK(client_publish(client, &(struct publish){.topic = "shut/a", .qos = 2}) == 0x87, "denied");
    CHECK(client_publish(client, &(struct publish){.topic = "open/a", .qos = 2}) == 0, "granted");
    CHECK(client_fence(client, client) == 1, "%zu", client_count(client));
}

static void test_a_broker_that_does_not_start_says_why(void) {
    struct broker *broker = broker_new("acl_file @DIR@/absent\n");
    broker_expect_failure(broker);
    CHECK(!broker_try_run(broker), "started");
    CHECK(broker_status(broker) != 0, "status %d", broker_status(broker));
    CHECK(broker_await_log(broker, "/absent"), "logged");

    /* And with another configuration it does. */
    broker_configure(broker, "allow_anonymous true\n");
    CHECK(broker_try_run(broker), "status %d", broker_status(broker));
}

static void test_the_brokers_plugins_are_found(void) {
    static const char *const rows[][2] = {
        {"dynamic_security", "config_file @DIR@/dynsec.json"},
        {"persist_sqlite", "db_file @DIR@/db.sqlite"},
        {"acl_file", "acl_file @DIR@/acl"},
        {"password_file", "password_file @DIR@/passwords"},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        struct broker *broker =
            broker_new("plugin @PLUGINS@/mosquitto_%s.so\nplugin_opt_%s\n", rows[i][0], rows[i][1]);
        broker_write_file(broker, "acl", "topic readwrite #\n");
        broker_write_file(broker, "passwords", "");
        CHECK(broker_try_run(broker), "%s", rows[i][0]);
    }
}

static void test_raw_clients_choose_what_they_send(void) {
    struct broker *broker = broker_start("%s", "");
    struct client *reader = client_open(broker, "reader");
    REQUIRE(client_subscribe(reader, "t", 2) == 2, "subscribe");

    /* Two QoS 2 messages whose PUBREL come in the other order: so do the messages. */
    struct raw *raw = raw_connect(broker, &(struct raw_options){.id = "raw"});
    raw_publish(
        raw, 1,
        &(struct publish){.topic = "t", .payload = "one", .qos = 2, .user = USER("a", "b")});
    CHECK(raw_expect(raw, RAW_PUBREC)->mid == 1, "PUBREC");
    raw_publish(raw, 2, &(struct publish){.topic = "t", .payload = "two", .qos = 2});
    CHECK(raw_expect(raw, RAW_PUBREC)->mid == 2, "PUBREC");
    CHECK(client_fence(reader, reader) == 0, "%zu", client_count(reader));
    raw_ack(raw, RAW_PUBREL, 2);
    CHECK(raw_expect(raw, RAW_PUBCOMP)->mid == 2, "PUBCOMP");
    CHECK(client_fence(reader, reader) == 1, "%zu", client_count(reader));
    raw_ack(raw, RAW_PUBREL, 1);
    CHECK(raw_expect(raw, RAW_PUBCOMP)->mid == 1, "PUBCOMP");
    CHECK(client_fence(reader, reader) == 2, "%zu", client_count(reader));
    CHECK(strcmp(client_message(reader, 0)->payload, "two") == 0, "order");
    CHECK(strcmp(message_user(client_message(reader, 1), "a"), "b") == 0, "properties");
    raw_disconnect(raw);
}

static void test_raw_clients_withhold_acknowledgements(void) {
    struct broker *broker = broker_start("%s", "");
    struct client *writer = client_open(broker, "writer");
    struct raw *raw = raw_connect(broker, &(struct raw_options){.id = "raw", .receive_maximum = 2});
    raw_subscribe(raw, 9, "t", 1, 1);
    const struct raw_packet *suback = raw_expect(raw, RAW_SUBACK);
    CHECK(suback->mid == 9 && suback->code == 1, "SUBACK %u 0x%02x", suback->mid,
          (unsigned)suback->code);
    for (int i = 0; i < 3; i++) {
        client_publish(writer, &(struct publish){
                                   .topic = "t", .payload = "x", .qos = 1, .user = USER("n", "v")});
    }
    struct raw_packet got[3];
    size_t n = raw_ping(raw, got, 3);
    REQUIRE(n == 2, "%zu: the window is full", n);
    CHECK(strcmp(got[0].topic, "t") == 0 && got[0].qos == 1 && got[0].id == 0, "%s", got[0].topic);
    raw_ack(raw, RAW_PUBACK, got[0].mid);
    n = raw_ping(raw, NULL, 0);
    CHECK(n == 1, "%zu: one more", n);

    raw_subscribe(raw, 10, "a/#?x=1", 7, 1);
    CHECK(raw_expect(raw, RAW_DISCONNECT)->code == 0x81, "malformed packet");
    struct raw_packet last;
    CHECK(raw_read(raw, &last) == RAW_CLOSED, "closed");
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        TEST(test_messages_arrive_as_published),
        TEST(test_mqtt_3_clients_work),
        TEST(test_a_fence_comes_last),
        TEST(test_nothing_arrives_without_a_subscription),
        TEST(test_several_entries_have_several_answers),
        TEST(test_kept_sessions_collect_while_offline),
        TEST(test_unfinished_exchanges_go_on_after_a_reconnect),
        TEST(test_retained_messages_and_wills),
        TEST(test_a_restart_finds_what_was_saved),
        TEST(test_listeners_logs_and_reload),
        TEST(test_access_control_shows_in_reason_codes),
        TEST(test_a_broker_that_does_not_start_says_why),
        TEST(test_the_brokers_plugins_are_found),
        TEST(test_raw_clients_choose_what_they_send),
        TEST(test_raw_clients_withhold_acknowledgements),
    };
    return run_tests(argc, argv, cases, N_ROWS(cases));
}
