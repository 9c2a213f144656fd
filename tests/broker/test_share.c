/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shared subscriptions with filters: the filter is a part of the group's identity, so that each message goes to
 * one member of every group whose filter holds, and none is lost because the wrong member's turn it was.
 */
#include "scenario.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

enum { N_MESSAGES = 30 };

static struct client *member(struct broker *broker, const char *id, const char *subscription,
                             int qos) {
    struct client *client = client_open(broker, id);
    subscribe(client, subscription, qos);
    return client;
}

/* Publish N_MESSAGES with each of x=1, 2, 3. The payload is x and the number. */
static void publish_all(struct client *writer, const char *topic, int qos) {
    for (int i = 0; i < N_MESSAGES; i++) {
        for (const char *x = "123"; *x != '\0'; x++) {
            char payload[16], value[2] = {*x, '\0'};
            snprintf(payload, sizeof payload, "%c.%d", *x, i);
            publish(writer, topic, payload, qos, value);
        }
    }
}

/* How many of the collected messages have this x. */
static size_t count_x(const struct client *client, char x) {
    size_t n = 0;
    for (size_t i = 0; i < client_count(client); i++) {
        n += client_message(client, i)->payload[0] == x;
    }
    return n;
}

/* The turn moves on with every message of the topic, also with those that the filter keeps back. */
static void test_equal_filters_balance(void) {
    static const char *const spellings[] = {
        "$share/g/t?x=1&y>=5",
        "$share/g/t? x = 1 & y >= 5 ",
        "$share/g/t?kv:x=1&y>=5",
        "$share/g/%74?x=1&y>=5",
    };
    for (int qos = 0; qos <= 2; qos++) {
        struct broker *broker = broker_start(PLUGIN NO_STATE);
        struct client *writer = client_open(broker, "writer");
        struct client *members[3];
        for (size_t i = 0; i < N_ROWS(members); i++) {
            char id[8];
            snprintf(id, sizeof id, "m%zu", i);
            members[i] = member(broker, id, spellings[i], qos);
        }
        for (int i = 0; i < N_MESSAGES; i++) {
            client_publish(writer, &(struct publish){.topic = "t",
                                                     .payload = "yes",
                                                     .qos = qos,
                                                     .user = USER("x", "1", "y", "5")});
            client_publish(writer, &(struct publish){.topic = "t",
                                                     .payload = "no",
                                                     .qos = qos,
                                                     .user = USER("x", "1", "y", "4")});
        }
        for (size_t i = 0; i < N_ROWS(members); i++) {
            size_t n = client_fence(members[i], writer);
            CHECK(n == N_MESSAGES / N_ROWS(members) && client_count_payload(members[i], "yes") == n,
                  "QoS %d: %zu messages for %s", qos, n, spellings[i]);
        }
    }
}

static void test_different_filters_lose_nothing(void) {
    for (int qos = 0; qos <= 2; qos++) {
        struct broker *broker = broker_start(PLUGIN NO_STATE);
        struct client *writer = client_open(broker, "writer");
        struct client *one[] = {member(broker, "a", "$share/g/t?x=1", qos),
                                member(broker, "b", "$share/g/t?x=1", qos)};
        struct client *two = member(broker, "c", "$share/g/t?x=2", qos);
        struct client *more = member(broker, "d", "$share/g/t?x>1", qos);
        struct client *plain[] = {member(broker, "e", "$share/g/t", qos),
                                  member(broker, "f", "$share/g/t", qos)};
        struct client *old =
            client_connect(broker, &(struct client_options){.id = "old", .protocol = 4});
        subscribe(old, "$share/g/t", qos);
        publish_all(writer, "t", qos);

        size_t n_one = client_fence(one[0], writer) + client_fence(one[1], writer);
        CHECK(n_one == N_MESSAGES && client_count(one[0]) == N_MESSAGES / 2, "QoS %d: x=1: %zu",
              qos, n_one);
        CHECK(count_x(one[0], '1') + count_x(one[1], '1') == N_MESSAGES, "QoS %d: x=1", qos);
        CHECK(client_fence(two, writer) == N_MESSAGES && count_x(two, '2') == N_MESSAGES,
              "QoS %d: x=2", qos);
        CHECK(client_fence(more, writer) == 2 * N_MESSAGES && count_x(more, '1') == 0,
              "QoS %d: x>1", qos);
        /* The members without a filter, of whatever protocol version, are a group of their own, and that gets
         * everything. */
        size_t n_plain = client_fence(plain[0], writer) + client_fence(plain[1], writer) +
                         client_fence(old, writer);
        CHECK(n_plain == 3 * N_MESSAGES && client_count(plain[0]) == N_MESSAGES,
              "QoS %d: plain: %zu", qos, n_plain);
    }
}

static void test_replacing_a_filter_moves_the_member(void) {
    struct broker *broker = broker_start(PLUGIN NO_STATE);
    struct client *writer = client_open(broker, "writer");
    struct client *mover = member(broker, "mover", "$share/g/t?x=1", 1);
    struct client *one = member(broker, "one", "$share/g/t?x=1", 1);
    struct client *two = member(broker, "two", "$share/g/t?x=2", 1);
    struct client *plain = member(broker, "plain", "$share/g/t", 1);
    struct client *all[] = {mover, one, two, plain};
    static const struct {
        const char *subscription;
        size_t got[4]; /* mover, one, two, plain */
        bool refused;
    } rows[] = {
        {"$share/g/t?x=1", {15, 15, 30, 90}, false}, {"$share/g/t?x=2", {15, 30, 15, 90}, false},
        {"$share/g/t?x=3", {30, 30, 30, 90}, false}, {"$share/g/t?x", {30, 30, 30, 90}, true},
        {"$share/g/t", {45, 30, 30, 45}, false},     {"$share/g/t?x=1", {15, 15, 30, 90}, false},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        int code = client_subscribe(mover, rows[i].subscription, 1);
        CHECK(code == (rows[i].refused ? 0x87 : 1), "row %zu: 0x%02x", i, (unsigned)code);
        publish_all(writer, "t", 1);
        for (size_t k = 0; k < N_ROWS(all); k++) {
            size_t n = client_fence(all[k], writer);
            CHECK(n == rows[i].got[k], "row %zu: %s got %zu, not %zu", i, client_id(all[k]), n,
                  rows[i].got[k]);
            client_clear(all[k]);
        }
    }
}

static void test_unsubscribe(void) {
    static const char *const texts[] = {"$share/g/t", "$share/g/t?x=1", "$share/g/t?something else",
                                        "$share/g/t?"};
    for (size_t i = 0; i < N_ROWS(texts); i++) {
        struct broker *broker = broker_start(PLUGIN NO_STATE);
        struct client *writer = client_open(broker, "writer");
        struct client *leaver = member(broker, "leaver", "$share/g/t?x=1", 1);
        struct client *stayer = member(broker, "stayer", "$share/g/t?x=1", 1);
        struct client *plain = member(broker, "plain", "$share/g/t", 1);
        subscribe(leaver, "$share/h/t?x=2", 1);
        CHECK(client_unsubscribe(leaver, texts[i]) == 0, "%s", texts[i]);
        CHECK(client_unsubscribe(leaver, texts[i]) == 0x11, "%s: none is left", texts[i]);
        publish_all(writer, "t", 1);
        CHECK(client_fence(stayer, writer) == N_MESSAGES, "%s: %zu", texts[i],
              client_count(stayer));
        CHECK(client_fence(plain, writer) == 3 * N_MESSAGES, "%s: %zu", texts[i],
              client_count(plain));
        CHECK(client_fence(leaver, writer) == N_MESSAGES && count_x(leaver, '2') == N_MESSAGES,
              "%s: the other group", texts[i]);
        /* And back. */
        subscribe(leaver, "$share/g/t?x=1", 1);
        client_clear(stayer);
        publish(writer, "t", "1", 1, "1");
        publish(writer, "t", "1", 1, "1");
        CHECK(client_fence(stayer, writer) == 1, "%s: %zu", texts[i], client_count(stayer));
    }
}

/* The broker queues for a member that is offline when it is its turn; no message is lost, and none comes twice. */
static void test_a_member_offline(void) {
    struct broker *broker = broker_start(PLUGIN NO_STATE "max_queued_messages 0\n");
    struct client *writer = client_open(broker, "writer");
    struct client *kept = keep(broker, "kept");
    subscribe(kept, "$share/g/t?x=1", 1);
    struct client *other = member(broker, "other", "$share/g/t?x=1", 1);
    struct client *gone = member(broker, "gone", "$share/g/t?x=1", 1);
    client_disconnect(kept);
    client_disconnect(gone); /* its session ends: it leaves the group */
    client_ping(writer);
    publish_all(writer, "t", 1);
    client_reconnect(kept);
    size_t n = client_fence(kept, writer);
    CHECK(n == N_MESSAGES / 2 && count_x(kept, '1') == n, "kept: %zu", n);
    n = client_fence(other, writer);
    CHECK(n == N_MESSAGES / 2 && count_x(other, '1') == n, "other: %zu", n);
    client_clear(kept);
    client_clear(other);
    publish_all(writer, "t", 2);
    CHECK(client_fence(kept, writer) + client_fence(other, writer) == N_MESSAGES, "afterwards");
    CHECK(client_count(kept) == N_MESSAGES / 2, "it is still a member");
}

/* Groups of several members after a restart, with a store that has never heard of them, and one that has. */
static void test_groups_come_back(void) {
    static const char *const configs[] = {
        PLUGIN PERSISTENT,
        PLUGIN "plugin_opt_state_file @DIR@/" STATE_FILE "\n" SQLITE "plugin_opt_flush_period 0\n",
    };
    for (size_t row = 0; row < N_ROWS(configs); row++) {
        struct broker *broker = broker_start("%s", configs[row]);
        static const char *const ids[] = {"a", "b", "c", "d"};
        static const char *const texts[] = {"$share/g/t?x=1", "$share/g/t?x=1", "$share/g/t?x=2",
                                            "$share/h/t?x=1"};
        struct client *members[N_ROWS(ids)];
        for (size_t i = 0; i < N_ROWS(ids); i++) {
            members[i] = keep(broker, ids[i]);
            subscribe(members[i], texts[i], 1);
            client_disconnect(members[i]);
        }
        broker_stop(broker);
        broker_run(broker);
        struct client *writer = client_open(broker, "writer");
        publish_all(writer, "t", 1);
        static const size_t expected[] = {N_MESSAGES / 2, N_MESSAGES / 2, N_MESSAGES, N_MESSAGES};
        for (size_t i = 0; i < N_ROWS(ids); i++) {
            client_reconnect(members[i]);
            size_t n = client_fence(members[i], writer);
            CHECK(n == expected[i] && count_x(members[i], i == 2 ? '2' : '1') == n,
                  "store %zu, %s: %zu", row, ids[i], n);
        }
    }
}

/* ---- the inner name ---------------------------------------------------------------------------------------------- */

/* Connect in this version of the protocol, send a SUBSCRIBE or UNSUBSCRIBE of `filter`, disconnect. Whether the
 * broker has closed the connection without an answer to it. */
static bool is_thrown_out(struct broker *broker, unsigned protocol, unsigned type,
                          const char *filter, size_t filter_bytes) {
    bool v5 = (protocol & 0x7F) == 5;
    const char *name = (protocol & 0x7F) == 3 ? "MQIsdp" : "MQTT";
    unsigned char bytes[512];
    size_t n = 0;
    bytes[n++] = RAW_CONNECT;
    bytes[n++] = (unsigned char)(2 + strlen(name) + 4 + v5 + 2 + 1);
    bytes[n++] = 0;
    bytes[n++] = (unsigned char)strlen(name);
    memcpy(bytes + n, name, strlen(name));
    n += strlen(name);
    bytes[n++] = (unsigned char)protocol;
    bytes[n++] = 2; /* clean */
    bytes[n++] = 0; /* keep alive */
    bytes[n++] = 0;
    if (v5) {
        bytes[n++] = 0;
    }
    bytes[n++] = 0;
    bytes[n++] = 1;
    bytes[n++] = 'i'; /* an intruder */

    bytes[n++] = (unsigned char)(type | 2);
    bytes[n++] = (unsigned char)(4U + v5 + filter_bytes + (type == RAW_SUBSCRIBE));
    bytes[n++] = 0;
    bytes[n++] = 7; /* packet identifier */
    if (v5) {
        bytes[n++] = 0;
    }
    bytes[n++] = 0;
    bytes[n++] = (unsigned char)filter_bytes;
    memcpy(bytes + n, filter, filter_bytes);
    n += filter_bytes;
    if (type == RAW_SUBSCRIBE) {
        bytes[n++] = 1;
    }
    bytes[n++] = RAW_DISCONNECT;
    bytes[n++] = 0;

    unsigned char answer[256];
    size_t got = talk(broker, bytes, n, answer, sizeof answer);
    REQUIRE(got >= 4 && answer[0] == RAW_CONNACK && answer[3] == 0, "MQTT 0x%x: no connection",
            protocol);
    size_t next = 2U + answer[1];
    unsigned wanted = type == RAW_SUBSCRIBE ? RAW_SUBACK : RAW_UNSUBACK;
    return !(next < got && answer[next] == wanted);
}

/* Whoever could subscribe to the renamed group would take messages from its members, and get them past other
 * plugins. */
static void test_nobody_enters_by_the_inner_name(void) {
    struct broker *broker = broker_start(PLUGIN PERSISTENT);
    struct client *writer = client_open(broker, "writer");
    struct client *rightful = member(broker, "rightful", "$share/g/t?x=1", 1);
    /* As the state file spells it: the fingerprint after the escaped separator. */
    const char *found = strstr(read_file(broker, STATE_FILE), "$share/g\\u0001");
    REQUIRE(found != NULL, "the group is not in the state file");
    char print[33];
    snprintf(print, sizeof print, "%s", found + strlen("$share/g\\u0001"));
    CHECK(strspn(print, "0123456789abcdef") == 32, "fingerprint %s", print);

    static const unsigned protocols[] = {3, 4, 5, 0x83, 0x84};
    static const struct {
        const char *separator;
        const char *expression;
        bool thrown_out;
    } rows[] = {
        {"\x01", "", true},     {"\x01", "?x=1", true},   {"%01", "", false},
        {"%01", "?x=1", false}, {"%2501", "?x=1", false}, {"", "", false},
        {"\\u0001", "", false}, {"\xC2\x81", "", true},
    };
    for (size_t p = 0; p < N_ROWS(protocols); p++) {
        for (size_t i = 0; i < N_ROWS(rows); i++) {
            char filter[128];
            int bytes = snprintf(filter, sizeof filter, "$share/g%s%s/t%s", rows[i].separator,
                                 print, rows[i].expression);
            bool out = is_thrown_out(broker, protocols[p], RAW_SUBSCRIBE, filter, (size_t)bytes);
            CHECK(out == rows[i].thrown_out, "MQTT 0x%x, row %zu: SUBSCRIBE", protocols[p], i);
            out = is_thrown_out(broker, protocols[p], RAW_UNSUBSCRIBE, filter, (size_t)bytes);
            CHECK(out == rows[i].thrown_out, "MQTT 0x%x, row %zu: UNSUBSCRIBE", protocols[p], i);
        }
    }
    /* Nor do such groups take anything away. */
    struct raw *stranger = raw_connect(broker, &(struct raw_options){.id = "stranger"});
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        char filter[128];
        int bytes = snprintf(filter, sizeof filter, "$share/g%s%s/t%s", rows[i].separator, print,
                             rows[i].expression);
        if (!rows[i].thrown_out) {
            raw_subscribe(stranger, (uint16_t)(i + 1), filter, (size_t)bytes, 0);
            raw_expect(stranger, RAW_SUBACK);
        }
    }
    publish_all(writer, "t", 1);
    CHECK(client_fence(rightful, writer) == N_MESSAGES, "%zu", client_count(rightful));
}

/* Names of groups that only look alike. */
static void test_similar_groups_are_different(void) {
    struct broker *broker = broker_start(PLUGIN NO_STATE);
    struct client *writer = client_open(broker, "writer");
    static const char *const texts[] = {
        "$share/g/t?x=1", "$share/gg/t?x=1",  "$share/g/+/u?x=1",
        "$share/G/t?x=1", "$share/g/%23?x=1", "$share/g /t?x=1",
    };
    struct client *members[N_ROWS(texts)];
    for (size_t i = 0; i < N_ROWS(texts); i++) {
        char id[8];
        snprintf(id, sizeof id, "m%zu", i);
        members[i] = member(broker, id, texts[i], 1);
    }
    publish_all(writer, "t", 1);
    for (size_t i = 0; i < N_ROWS(texts); i++) {
        size_t n = client_fence(members[i], writer);
        CHECK(n == (i == 2 ? 0 : N_MESSAGES), "%s: %zu", texts[i], n);
    }
}

/* ---- one client, several subscriptions --------------------------------------------------------------------------- */

/* Shared subscriptions are asked about after the others, so with one of them everything is exact. */
static void test_one_shared_subscription_among_others(void) {
    struct broker *broker = broker_start(PLUGIN NO_STATE);
    struct client *writer = client_open(broker, "writer");
    static const struct subscribe subscriptions[] = {
        {.topic = "t?x=1", .qos = 1, .id = 1},
        {.topic = "$share/g/t?x=2", .qos = 1, .id = 2},
        {.topic = "%23?x=3", .qos = 1, .id = 3},
    };
    struct client *clients[2];
    for (size_t c = 0; c < N_ROWS(clients); c++) {
        clients[c] = client_open(broker, c == 0 ? "a" : "b");
        for (size_t i = 0; i < N_ROWS(subscriptions); i++) {
            REQUIRE(client_subscribe_with(clients[c], &subscriptions[i]) == 1, "%s",
                    subscriptions[i].topic);
        }
    }
    for (int qos = 0; qos <= 2; qos++) {
        publish_all(writer, "t", qos);
        for (size_t c = 0; c < N_ROWS(clients); c++) {
            client_fence(clients[c], writer);
            CHECK(count_x(clients[c], '1') == N_MESSAGES &&
                      count_x(clients[c], '2') == N_MESSAGES / 2 &&
                      count_x(clients[c], '3') == N_MESSAGES,
                  "QoS %d: %zu, %zu, %zu", qos, count_x(clients[c], '1'), count_x(clients[c], '2'),
                  count_x(clients[c], '3'));
            for (size_t i = 0; i < client_count(clients[c]); i++) {
                const struct message *message = client_message(clients[c], i);
                CHECK(message->n_ids == 1 && message->payload[0] == (char)('0' + message->ids[0]),
                      "QoS %d: %s for %u", qos, message->payload,
                      message->n_ids == 1 ? message->ids[0] : 0);
            }
            client_clear(clients[c]);
        }
    }
}

/* With several groups of one client on one topic the broker's order is that of a hash table: a copy passes if any
 * of the filters holds, so no group loses anything, but a copy may come for a group whose filter does not hold. */
static void test_one_client_in_several_groups(void) {
    struct broker *broker = broker_start(PLUGIN NO_STATE);
    struct client *writer = client_open(broker, "writer");
    struct client *reader = client_open(broker, "reader");
    subscribe(reader, "$share/g/t?x=1", 1);
    subscribe(reader, "$share/h/t?x=2", 1);
    struct client *other = member(broker, "other", "$share/h/t?x=2", 1);
    publish_all(writer, "t", 1);
    size_t n = client_fence(reader, writer);
    client_fence(other, writer);
    CHECK(count_x(reader, '3') == 0 && count_x(other, '3') == 0, "no filter holds");
    CHECK(count_x(reader, '1') >= N_MESSAGES, "%zu with x=1", count_x(reader, '1'));
    CHECK(count_x(reader, '2') + count_x(other, '2') >= N_MESSAGES, "with x=2");
    CHECK(count_x(other, '2') == client_count(other), "the other client has one group: exact");
    CHECK(n <= 3 * N_MESSAGES, "%zu", n);
}

/* ---- another plugin's view --------------------------------------------------------------------------------------- */

/* Dynamic security kicks a client when its role changes, and asks itself again about the subscriptions of its kept
 * session, in the broker's form: the renamed group. A role that allows $share/g/t alone takes it away then; one
 * that allows $share/# leaves it. When it was subscribed to, both allowed the base topic. */
static void test_dynamic_security_sees_the_renamed_group(void) {
    static const struct {
        const char *pattern;
        size_t expected;
    } rows[] = {{"$share/g/t", 0}, {"$share/#", N_MESSAGES}, {"$share/+/t", N_MESSAGES}, {"#", 0}};
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        struct broker *broker =
            broker_new("allow_anonymous true\nlistener @PORT@ 127.0.0.1\n" PLUGIN NO_STATE
                       "plugin @PLUGINS@/mosquitto_dynamic_security.so\nplugin_opt_config_file "
                       "@DIR@/dynsec.json\n");
        char config[2048];
        /* clang-format off */
        snprintf(config, sizeof config, "{"
                 "\"defaultACLAccess\":{\"publishClientSend\":true,\"publishClientReceive\":true,"
                     "\"subscribe\":false,\"unsubscribe\":true},"
                 "\"roles\":[{\"rolename\":\"all\",\"acls\":["
                     "{\"acltype\":\"subscribePattern\",\"topic\":\"%s\",\"allow\":true},"
                     "{\"acltype\":\"subscribePattern\",\"topic\":\"fence/#\",\"allow\":true},"
                     "{\"acltype\":\"publishClientSend\",\"topic\":\"$CONTROL/#\",\"allow\":true}]}],"
                 "\"clients\":[],"
                 "\"groups\":[{\"groupname\":\"anonymous\",\"roles\":[{\"rolename\":\"all\"}],\"clients\":[]}],"
                 "\"anonymousGroup\":\"anonymous\"}",
                 rows[i].pattern);
        /* clang-format on */
        broker_write_file(broker, "dynsec.json", config);
        broker_run(broker);
        struct client *writer = client_open(broker, "writer");
        struct client *reader = keep(broker, "reader");
        int code = client_subscribe(reader, "$share/g/t?x=1", 1);
        REQUIRE(code == (i == 3 ? 0x87 : 1), "row %zu: 0x%02x", i, (unsigned)code);
        if (i == 3) {
            continue; /* '#' is not for $share */
        }
        publish_all(writer, "t", 1);
        CHECK(client_fence(reader, writer) == N_MESSAGES, "row %zu: before", i);
        struct client *admin = client_open(broker, "admin");
        client_publish_later(
            admin, &(struct publish){.topic = "$CONTROL/dynamic-security/v1",
                                     .payload = "{\"commands\":[{\"command\":\"setAnonymousGroup\","
                                                "\"groupname\":\"anonymous\"}]}"});
        client_await_closed(reader);
        client_clear(reader);
        writer = client_open(broker, "writer");
        client_reconnect(reader);
        REQUIRE(client_session_present(reader), "row %zu: kept", i);
        publish_all(writer, "t", 1);
        size_t n = client_fence(reader, writer);
        CHECK(n == rows[i].expected && count_x(reader, '1') == n, "row %zu: %zu after the kick", i,
              n);
        /* In any case it can be made again. */
        client_clear(reader);
        subscribe(reader, "$share/g/t?x=2", 1);
        publish_all(writer, "t", 1);
        n = client_fence(reader, writer);
        CHECK(n == N_MESSAGES && count_x(reader, '2') == n, "row %zu: %zu at last", i, n);
    }
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        TEST(test_equal_filters_balance),
        TEST(test_different_filters_lose_nothing),
        TEST(test_replacing_a_filter_moves_the_member),
        TEST(test_unsubscribe),
        TEST(test_a_member_offline),
        TEST(test_groups_come_back),
        TEST(test_nobody_enters_by_the_inner_name),
        TEST(test_similar_groups_are_different),
        TEST(test_one_shared_subscription_among_others),
        TEST(test_one_client_in_several_groups),
        TEST(test_dynamic_security_sees_the_renamed_group),
    };
    return run_tests(argc, argv, cases, N_ROWS(cases));
}
