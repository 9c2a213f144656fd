/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the plugin tells about itself: counters that are exact when every message is counted by hand, the $SYS topics that
 * carry them, and the messages and log lines about refused subscriptions.
 */
#include "admin.h"
#include "scenario.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define PREFIX "$SYS/broker/subscription-filter/"

/* The broker's own $SYS messages are switched off: what comes there is ours. */
#define START(options) broker_start(PLUGIN NO_STATE CONTROL "sys_interval 0\n" options)

/* The counters come at the start only. */
#define SELDOM "plugin_opt_sys_interval 86400\n"

/* ---- counting ---- */

struct counts {
    long passed, dropped, unknown, ambiguous;
};

static struct counts read_counts(struct client *admin) {
    const json_t *messages =
        json_object_get(admin_data(admin, "{'command':'getStats'}"), "messages");
    CHECK(json_integer_value(json_object_get(messages, "unexplained")) == 0 &&
              json_integer_value(json_object_get(messages, "undecided")) == 0,
          "nothing is unexplained or undecided");
    return (struct counts){
        (long)json_integer_value(json_object_get(messages, "passed")),
        (long)json_integer_value(json_object_get(messages, "dropped")),
        (long)json_integer_value(json_object_get(messages, "unknown")),
        (long)json_integer_value(json_object_get(messages, "ambiguous")),
    };
}

/* Check by how much the counters have risen since the last call. */
static void check_counts(struct client *admin, const char *what, long passed, long dropped,
                         long unknown) {
    struct counts counts = read_counts(admin);
    CHECK(counts.passed == passed && counts.dropped == dropped && counts.unknown == unknown &&
              counts.ambiguous == 0,
          "%s: %ld passed, %ld dropped, %ld unknown, %ld ambiguous", what, counts.passed,
          counts.dropped, counts.unknown, counts.ambiguous);
    admin_data(admin, "{'command':'resetStats'}");
}

/* x=1, x=2 and no x, at each QoS. */
static void publish_nine(struct client *writer, const char *topic) {
    for (int qos = 0; qos <= 2; qos++) {
        publish(writer, topic, "1", qos, "1");
        publish(writer, topic, "2", qos, "2");
        publish(writer, topic, "none", qos, NULL);
    }
}

static void test_one_filter_counts_each_copy_once(void) {
    struct broker *broker = START("");
    struct client *admin = admin_open(broker, "admin");
    struct client *writer = client_open(broker, "writer");
    struct client *plain = client_open(broker, "plain");
    struct client *reader = client_open(broker, "reader");
    subscribe(plain, "#", 2);
    publish_nine(writer, "t");
    check_counts(admin, "no filter anywhere", 0, 0, 0);
    subscribe(reader, "t?x=1", 2);
    publish_nine(writer, "t");
    publish_nine(writer, "u");
    check_counts(admin, "one filter", 3, 6, 3);
    client_fence(reader, writer);
    check_counts(admin, "a plain subscription beside it", 0, 0, 0);
    subscribe(reader, "t?sql:x IS NULL OR x > 1", 0);
    publish_nine(writer, "t");
    check_counts(admin, "no value, but an answer", 6, 3, 0);
    subscribe(reader, "t", 2);
    publish_nine(writer, "t");
    check_counts(admin, "no filter any more", 0, 0, 0);

    const char *user[2 * 257 + 1] = {0};
    for (size_t i = 0; i < 2 * 257; i++) {
        user[i] = "x";
    }
    subscribe(reader, "t?tag:*", 0);
    client_publish(writer, &(struct publish){.topic = "t", .qos = 1, .user = user});
    user[2 * 256] = NULL;
    client_publish(writer, &(struct publish){.topic = "t", .qos = 1, .user = user});
    check_counts(admin, "too many properties are no unknown value", 1, 1, 0);
}

static void test_overlaps_and_groups_count_each_subscription(void) {
    struct broker *broker = START("");
    struct client *admin = admin_open(broker, "admin");
    struct client *writer = client_open(broker, "writer");
    struct client *a = client_open(broker, "a");
    struct client *b = client_open(broker, "b");
    subscribe(a, "t/u?x=1", 1);
    subscribe(a, "t/%2B?x=2", 1);
    subscribe(a, "t/%23?x=1", 1);
    subscribe(a, "%23?x>0", 1);
    subscribe(a, "+/u", 1);
    subscribe(b, "t/u?x=2", 1);
    publish_nine(writer,
                 "t/u"); /* five filters: x=1 three times, x=2 twice, x>0 takes both; and none */
    check_counts(admin, "overlaps", 3 * (2 + 1 + 1 + 1 + 1), 3 * (5 * 3 - 6), 3 * 5);
    subscribe(b, "t/u", 1);

    client_unsubscribe(a, "#");
    client_unsubscribe(a, "t/+");
    client_unsubscribe(a, "t/#");
    client_unsubscribe(a, "t/u");
    subscribe(a, "$share/g/s?x=1", 1);
    subscribe(b, "$share/g/s?x=1", 1);
    publish_nine(writer, "s");
    check_counts(admin, "a group has one turn", 3, 6, 3);
    subscribe(b, "$share/g/s?x=2", 1);
    publish_nine(writer, "s");
    check_counts(admin, "two groups by their filters", 6, 12, 6);
    client_unsubscribe(b, "$share/g/s");
    publish_nine(writer, "s");
    check_counts(admin, "one again", 3, 6, 3);
}

static void test_queue_rechecks_count_nothing(void) {
    struct broker *broker = START("max_inflight_messages 2\n");
    struct client *admin = admin_open(broker, "admin");
    struct client *writer = client_open(broker, "writer");
    struct client *reader = keep(broker, "reader");
    subscribe(reader, "t?x=1", 2);
    client_disconnect(reader);
    for (int i = 0; i < 10; i++) {
        publish_nine(writer, "t");
    }
    check_counts(admin, "offline", 30, 60, 30);
    for (int i = 0; i < 3; i++) { /* connections that acknowledge nothing */
        raw_drop(raw_connect(
            broker, &(struct raw_options){.id = "reader", .keep = true, .expiry_s = 3600}));
    }
    reader = keep(broker, "reader");
    CHECK(client_fence(reader, writer) == 20, "all but those of QoS 0: %zu", client_count(reader));
    check_counts(admin, "re-checked at each reconnection", 0, 0, 0);
    struct client *again = keep(broker, "reader"); /* a takeover */
    publish_nine(writer, "t");
    client_fence(again, writer);
    check_counts(admin, "after a takeover", 3, 6, 3);
}

static void test_retained_messages_count_where_a_filter_decides(void) {
    struct broker *broker = START("");
    struct client *admin = admin_open(broker, "admin");
    struct client *writer = client_open(broker, "writer");
    struct client *reader = client_open(broker, "reader");
    static const struct {
        const char *topic, *x;
    } retained[] = {{"r/1", "1"}, {"r/2", "2"}, {"r/3", "3"}};
    subscribe(reader, "r/2?x=2", 1);
    for (size_t i = 0; i < N_ROWS(retained); i++) {
        client_publish(writer, &(struct publish){.topic = retained[i].topic,
                                                 .payload = "r",
                                                 .qos = 1,
                                                 .retain = true,
                                                 .user = USER("x", retained[i].x)});
    }
    check_counts(admin, "live messages with the retain flag", 1, 0, 0);
    subscribe(reader, "r/%2B?x=1", 1);
    subscribe(reader, "r/2?x=1", 1);
    CHECK(client_fence(reader, writer) == 1 + 3 + 1, "%zu", client_count(reader));
    check_counts(admin, "retained deliver: no filter is asked", 0, 0, 0);

    broker = START("plugin_opt_retained filter\n");
    admin = admin_open(broker, "admin");
    writer = client_open(broker, "writer");
    reader = client_open(broker, "reader");
    for (size_t i = 0; i < N_ROWS(retained); i++) {
        client_publish(writer, &(struct publish){.topic = retained[i].topic,
                                                 .payload = "r",
                                                 .qos = 1,
                                                 .retain = true,
                                                 .user = USER("x", retained[i].x)});
    }
    subscribe(reader, "r/%2B?x=1", 1);
    subscribe(reader, "r/%2B?y=1", 1);
    CHECK(client_fence(reader, writer) == 1, "%zu", client_count(reader));
    check_counts(admin, "retained filter: each is decided", 1, 5, 3);
}

/* Random traffic beside a count by the rules alone. */
static void test_random_traffic_is_counted(void) {
    enum { READERS = 6, STEPS = 600 };
    static const struct {
        const char *subscription;
        const char *topic; /* "": every one */
        int x;             /* the value that holds; 9: any but none */
        bool shared;       /* with the same group of another reader: counted at the first one */
    } subscriptions[][3] = {
        {{"a?x=1", "a", 1, false}, {"%2B?x=2", "", 2, false}, {"#", NULL, 0, false}},
        {{"a?x=1", "a", 1, false}, {"b", NULL, 0, false}, {NULL, NULL, 0, false}},
        {{"%23?x>=0", "", 9, false}, {"b?x=0", "b", 0, false}, {"a?x=3", "a", 3, false}},
        {{"$share/g/%2B?x=1", "", 1, false}, {NULL, NULL, 0, false}, {NULL, NULL, 0, false}},
        {{"$share/g/%2B?x=1", "", 1, true}, {NULL, NULL, 0, false}, {NULL, NULL, 0, false}},
        {{"$share/g/%2B?x=2", "", 2, false}, {"b?x=2", "b", 2, false}, {NULL, NULL, 0, false}},
    };
    static const char *const ids[READERS] = {"r0", "r1", "r2", "r3", "r4", "r5"};
    uint64_t random = test_seed();
    struct broker *broker = START("max_queued_messages 0\n");
    struct client *admin = admin_open(broker, "admin");
    struct client *writer = client_open(broker, "writer");
    struct client *readers[READERS];
    bool online[READERS];
    for (size_t r = 0; r < READERS; r++) {
        readers[r] = keep(broker, ids[r]);
        online[r] = true;
        for (size_t s = 0; s < 3 && subscriptions[r][s].subscription != NULL; s++) {
            subscribe(readers[r], subscriptions[r][s].subscription,
                      (int)(test_random(&random) % 3));
        }
    }
    struct counts expected = {0, 0, 0, 0};
    for (int step = 0; step < STEPS; step++) {
        if (test_random(&random) % 10 == 0) {
            size_t r = test_random(&random) % READERS;
            if (online[r]) {
                client_drop(readers[r]);
            } else {
                readers[r] = keep(broker, ids[r]);
            }
            online[r] = !online[r];
            continue;
        }
        const char *topic = test_random(&random) % 2 == 0 ? "a" : "b";
        int x = (int)(test_random(&random) % 5); /* 4: none */
        char text[2] = {(char)('0' + x), '\0'};
        publish(writer, topic, "m", (int)(test_random(&random) % 3), x == 4 ? NULL : text);
        for (size_t r = 0; r < READERS; r++) {
            for (size_t s = 0; s < 3; s++) {
                const char *on = subscriptions[r][s].topic;
                if (on == NULL || subscriptions[r][s].shared ||
                    (on[0] != '\0' && strcmp(on, topic) != 0)) {
                    continue;
                }
                bool holds = x != 4 && (subscriptions[r][s].x == 9 || subscriptions[r][s].x == x);
                expected.passed += holds;
                expected.dropped += !holds;
                expected.unknown += x == 4;
            }
        }
    }
    check_counts(admin, "random traffic", expected.passed, expected.dropped, expected.unknown);
    CHECK(expected.passed > 100 && expected.unknown > 100, "worth counting");
}

/* What the plugin refuses, whatever the reason. */
static void test_refusals_are_counted(void) {
    struct broker *broker = START("plugin_opt_max_filters_per_client 1\n");
    struct client *admin = admin_open(broker, "admin");
    struct client *client = client_open(broker, "c");
    const char *entries[] = {"a?x=1",      "b?x",   "c?x=1",       "d",
                             "%23%23?x=1", "a?x=2", "$share/g/b?", "e?sql:"};
    int codes[N_ROWS(entries)];
    REQUIRE(client_subscribe_many(client, entries, N_ROWS(entries), 1, codes), "closed");
    long n = 0;
    for (size_t i = 0; i < N_ROWS(entries); i++) {
        n += codes[i] == REFUSED;
    }
    CHECK(n == 5 && admin_stat(admin, "refused") == n, "%ld refused, %ld counted", n,
          admin_stat(admin, "refused"));
    client_subscribe(client_connect(broker, &(struct client_options){.protocol = 4}), "t?x", 1);
    CHECK(admin_stat(admin, "refused") == n, "a literal of MQTT 3");
    subscribe(client, "a?x=3", 1);
    client_unsubscribe(client, "b?x=>");
    CHECK(admin_stat(admin, "refused") == n, "what is no refusal");
}

/* ---- the $SYS topics ---- */

static const char *const topics[] = {
    "enabled",          "subscriptions/count", "filters/count", "messages/passed",
    "messages/dropped", "messages/unknown",    "refused/count",
};

/* The last value that has arrived on a topic below PREFIX, or NULL. */
static const char *value_of(struct client *watcher, const char *name) {
    const char *value = NULL;
    for (size_t i = 0; i < client_count(watcher); i++) {
        const struct message *message = client_message(watcher, i);
        if (strncmp(message->topic, PREFIX, strlen(PREFIX)) == 0 &&
            strcmp(message->topic + strlen(PREFIX), name) == 0) {
            value = message->payload;
        }
    }
    return value;
}

/* Wait for a value. Each round trip lets the broker look at its clock. */
static void await_value(struct client *watcher, const char *name, const char *value) {
    for (const char *now = NULL; now == NULL || strcmp(now, value) != 0;
         now = value_of(watcher, name)) {
        REQUIRE(client_ping(watcher) && client_await(watcher, 1), "%s: closed", name);
    }
}

static void test_counters_are_published_when_they_change(void) {
    struct broker *broker = START("plugin_opt_sys_interval 1\n");
    struct client *watcher = client_open(broker, "watcher");
    struct client *writer = client_open(broker, "writer");
    struct client *reader = client_open(broker, "reader");
    subscribe(watcher, PREFIX "#", 1);
    CHECK(client_await(watcher, N_ROWS(topics)), "retained");
    client_fence(watcher, writer);
    CHECK(client_count(watcher) == N_ROWS(topics), "each once: %zu", client_count(watcher));
    for (size_t i = 0; i < N_ROWS(topics); i++) {
        const char *value = value_of(watcher, topics[i]);
        CHECK(value != NULL && strcmp(value, i == 0 ? "1" : "0") == 0, "%s: %s", topics[i],
              value == NULL ? "-" : value);
        CHECK(client_message(watcher, i)->retain, "%s", client_message(watcher, i)->topic);
    }
    client_clear(watcher);

    subscribe(reader, "t?x=1", 1);
    subscribe(reader, "u?x=1", 1);
    await_value(watcher, "subscriptions/count", "2");
    await_value(watcher, "filters/count", "1");
    publish_nine(writer, "t");
    await_value(watcher, "messages/passed", "3");
    await_value(watcher, "messages/dropped", "6");
    await_value(watcher, "messages/unknown", "3");
    CHECK(client_subscribe(reader, "t?x", 1) == REFUSED, "refused");
    await_value(watcher, "refused/count", "1");
    client_disconnect(reader);
    await_value(watcher, "subscriptions/count", "0");
    await_value(watcher, "filters/count", "0");
    for (size_t i = 0; i < client_count(watcher); i++) {
        const struct message *message = client_message(watcher, i);
        const char *name = message->topic + strlen(PREFIX);
        CHECK(strcmp(name, "enabled") != 0, "it has not changed");
        CHECK(!message->retain, "%s", message->topic);
        for (size_t k = 0; k < i; k++) {
            const struct message *before = client_message(watcher, k);
            CHECK(strcmp(before->topic, message->topic) != 0 ||
                      strcmp(before->payload, message->payload) != 0 ||
                      strcmp(message->payload, "0") == 0,
                  "%s is published twice: %s", name, message->payload);
        }
    }
    /* What is retained is the newest. */
    struct client *late = client_open(broker, "late");
    subscribe(late, PREFIX "messages/+", 1);
    CHECK(client_fence(late, writer) == 3, "%zu", client_count(late));
    CHECK(strcmp(value_of(late, "messages/dropped"), "6") == 0, "%s",
          value_of(late, "messages/dropped"));
}

static void test_enabled_and_large_numbers(void) {
    struct broker *broker = START("plugin_opt_sys_interval 1\nplugin_opt_enabled false\n");
    struct client *admin = admin_open(broker, "admin");
    struct client *watcher = client_open(broker, "watcher");
    subscribe(watcher, PREFIX "#", 1);
    await_value(watcher, "enabled", "0");
    admin_data(admin, "{'command':'setEnabled','enabled':true}");
    await_value(watcher, "enabled", "1");
    client_clear(watcher);
    struct client *readers[20];
    for (size_t i = 0; i < N_ROWS(readers); i++) {
        readers[i] = client_open(broker, NULL);
        subscribe(readers[i], "t?x=1", 0);
    }
    await_value(watcher, "subscriptions/count", "20");
    await_value(watcher, "filters/count", "1");
    client_clear(watcher);
    for (int i = 0; i < 600; i++) {
        client_publish_later(admin,
                             &(struct publish){.topic = "t", .qos = 1, .user = USER("x", "2")});
    }
    client_flush(admin);
    await_value(watcher, "messages/dropped", "12000");
    admin_data(admin, "{'command':'resetStats'}");
    await_value(watcher, "messages/dropped", "0");
}

static void test_the_interval_can_be_long_or_none(void) {
    struct broker *broker = START("plugin_opt_sys_interval 86400\n");
    struct client *watcher = client_open(broker, "watcher");
    subscribe(watcher, PREFIX "#", 1);
    CHECK(client_fence(watcher, watcher) == N_ROWS(topics), "the first ones come at once: %zu",
          client_count(watcher));
    client_clear(watcher);
    subscribe(watcher, "t?x=1", 1);
    CHECK(client_fence(watcher, watcher) == 0, "the next ones tomorrow");
    CHECK(client_subscribe(watcher, "t?x", 1) == REFUSED, "refused");
    CHECK(client_fence(watcher, watcher) == 1, "refusals do not wait");

    broker = START("plugin_opt_sys_interval 0\n");
    watcher = client_open(broker, "watcher");
    subscribe(watcher, PREFIX "#", 1);
    CHECK(client_subscribe(watcher, "t?x", 1) == REFUSED, "refused");
    CHECK(client_fence(watcher, watcher) == 0, "nothing at all: %zu", client_count(watcher));
}

/* examples/prometheus has each of them. */
static void test_the_prometheus_example_knows_all_topics(void) {
    char path[512], line[512];
    snprintf(path, sizeof path, "%s/examples/prometheus/mqtt-exporter.yaml", TEST_SOURCE_DIR);
    FILE *file = fopen(path, "r");
    REQUIRE(file != NULL, "%s", path);
    size_t n_known = 0, n = 0;
    while (fgets(line, sizeof line, file) != NULL) {
        char name[512];
        if (sscanf(line, " mqtt_name: %511s", name) == 1) {
            n++;
            for (size_t i = 0; i < N_ROWS(topics); i++) {
                n_known += strcmp(topics[i], name) == 0;
            }
        }
    }
    fclose(file);
    CHECK(n == N_ROWS(topics) && n_known == n, "%zu metrics, %zu of them known", n, n_known);
}

/* ---- why a subscription was refused ---- */

/* Subscribe to all refusals. One of the counters is below that topic too: let it come and be forgotten. */
static void watch_refusals(struct client *watcher) {
    subscribe(watcher, PREFIX "refused/#", 1);
    CHECK(client_fence(watcher, watcher) == 1 &&
              strcmp(value_of(watcher, "refused/count"), "0") == 0,
          "the counter");
    client_clear(watcher);
}

static void test_a_refusal_is_told_under_sys(void) {
    static const struct {
        const char *subscription;
        const char *json;
    } rows[] = {
        {"t?v=>5", "{\"subscription\":\"t?v=>5\",\"code\":\"operator\",\"offset\":4,\"text\":\""},
        {"t?sql:a > 'abc'", "{\"subscription\":\"t?sql:a > "
                            "'abc'\",\"code\":\"kind\",\"offset\":10,\"text\":\"'abc' is a "
                            "string; > compares numbers only\"}"},
        {"a%23?x=1", "{\"subscription\":\"a%23?x=1\",\"code\":\"topic\",\"offset\":1,\"text\":\""},
        {"t?\"q\\w\" \u00e4\u20ac\U0001F600\u2028",
         "{\"subscription\":\"t?\\\"q\\\\w\\\" "
         "\u00e4\u20ac\U0001F600\u2028\",\"code\":\"operator\","},
        {"two?x=1", "{\"subscription\":\"two?x=1\",\"text\":\"the client has 1 filters, as many as "
                    "plugin_opt_max_filters_per_client allows\"}"},
    };
    struct broker *broker = START(SELDOM "plugin_opt_max_filters_per_client 1\n");
    struct client *watcher = client_open(broker, "watcher");
    struct client *plain = client_open(broker, "plain");
    subscribe(plain, "#", 1); /* $ topics are not among them */
    watch_refusals(watcher);
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        char id[16], topic[128];
        snprintf(id, sizeof id, "c%zu", i);
        snprintf(topic, sizeof topic, PREFIX "refused/%s", id);
        struct client *client = client_open(broker, id);
        subscribe(client, "one?x=1", 1);
        int code = client_subscribe(client, rows[i].subscription, 1);
        CHECK(code == REFUSED, "row %zu: 0x%02x", i, (unsigned)code);
        size_t n = client_fence(watcher, watcher);
        REQUIRE(n == 1, "row %zu: %zu messages", i, n);
        const struct message *message = client_message(watcher, 0);
        CHECK(strcmp(message->topic, topic) == 0 && !message->retain && message->qos == 0,
              "row %zu: %s", i, message->topic);
        CHECK(strncmp(message->payload, rows[i].json, strlen(rows[i].json)) == 0, "row %zu: %s", i,
              message->payload);
        json_t *root = json_loads(message->payload, 0, NULL);
        const char *subscription = json_string_value(json_object_get(root, "subscription"));
        CHECK(subscription != NULL && strcmp(subscription, rows[i].subscription) == 0,
              "row %zu: %s", i, message->payload);
        json_decref(root);
        client_clear(watcher);
        client_disconnect(client);
    }
    watch_refusals(client_open(broker, "late")); /* none is retained */
    CHECK(client_fence(plain, plain) == 0, "for nobody else");
}

static void test_client_identifiers_in_the_topic(void) {
    enum { LONG = 300 };
    static char many[LONG + 1], umlauts[2 * LONG + 1];
    memset(many, 'i', LONG);
    for (size_t i = 0; i < LONG; i++) {
        memcpy(umlauts + 2 * i, "\u00fc", 2);
    }
    char cut_many[256] = "", cut_umlauts[256] = "";
    memset(cut_many, 'i', 189);
    for (size_t i = 0; i < 63; i++) {
        strcat(cut_umlauts, i % 2 == 0 ? "%C3" : "%BC");
    }
    const struct {
        const char *id, *level;
    } rows[] = {
        {"abcXYZ019-._~", "abcXYZ019-._~"},
        {"a/b", "a%2Fb"},
        {"+", "%2B"},
        {"#", "%23"},
        {"100%", "100%25"},
        {"$SYS ?&=", "%24SYS%20%3F%26%3D"},
        {"count", "%63ount"}, /* the topic of a counter */
        {"counter", "counter"},
        {"\u00fc\u20ac", "%C3%BC%E2%82%AC"},
        {many, cut_many},
        {umlauts, cut_umlauts},
    };
    struct broker *broker = START(SELDOM);
    struct client *watcher = client_open(broker, "watcher");
    watch_refusals(watcher);
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        struct raw *raw = raw_connect(broker, &(struct raw_options){.id = rows[i].id});
        raw_subscribe(raw, 1, "t?x", 3, 1);
        CHECK(raw_expect(raw, RAW_SUBACK)->code == REFUSED, "row %zu", i);
        REQUIRE(client_fence(watcher, watcher) == 1, "row %zu: %zu messages", i,
                client_count(watcher));
        const char *level = client_message(watcher, 0)->topic + strlen(PREFIX "refused/");
        CHECK(strcmp(level, rows[i].level) == 0, "row %zu: %s", i, level);
        client_clear(watcher);
        raw_disconnect(raw);
    }
}

/* The longest strings that MQTT has: cut between characters, and still JSON. */
static void test_long_subscriptions_are_cut(void) {
    enum { BYTES = 65535 };
    static char text[BYTES];
    struct broker *broker = START(SELDOM);
    struct client *watcher = client_open(broker, "watcher");
    watch_refusals(watcher);
    for (size_t shift = 0; shift < 4; shift++) {
        memset(text, '"', BYTES);
        memcpy(text, "t?x==", 5);
        for (size_t i = 5 + shift; i + 8 <= BYTES; i += 4) {
            memcpy(text + i, "\U0001F600", 4);
        }
        struct raw *raw = raw_connect(broker, &(struct raw_options){.id = "long"});
        raw_subscribe(raw, 1, text, BYTES, 0);
        CHECK(raw_expect(raw, RAW_SUBACK)->code == REFUSED, "shift %zu", shift);
        REQUIRE(client_fence(watcher, watcher) == 1, "shift %zu: %zu messages", shift,
                client_count(watcher));
        const struct message *message = client_message(watcher, 0);
        json_t *root = json_loads(message->payload, 0, NULL);
        const char *subscription = json_string_value(json_object_get(root, "subscription"));
        size_t bytes = subscription == NULL ? 0 : strlen(subscription);
        CHECK(bytes > 4092 && bytes <= 4096 && memcmp(subscription, text, bytes) == 0,
              "shift %zu: %zu bytes", shift, bytes);
        json_decref(root);
        client_clear(watcher);
        raw_disconnect(raw);
    }
}

/* Who may see them is a matter of access control. */
static void test_access_to_refusals(void) {
    struct broker *broker = broker_new(PLUGIN NO_STATE SELDOM "acl_file @DIR@/acl\n");
    broker_write_file(broker, "acl",
                      "topic readwrite #\npattern read " PREFIX "refused/%c\n"
                      "user root\ntopic readwrite #\ntopic read $SYS/#\n");
    broker_run(broker);
    struct client *root =
        client_connect(broker, &(struct client_options){.id = "root", .username = "root"});
    watch_refusals(root);
    struct client *a = client_open(broker, "a");
    struct client *b = client_open(broker, "b");
    subscribe(a, PREFIX "#", 1);
    subscribe(b, PREFIX "#", 1);
    CHECK(client_fence(a, a) == 0, "not even the counters");
    CHECK(client_subscribe(a, "t?x", 1) == REFUSED, "refused");
    CHECK(client_fence(root, root) == 1 && client_fence(a, a) == 1 && client_fence(b, b) == 0,
          "root %zu, a %zu, b %zu", client_count(root), client_count(a), client_count(b));
    CHECK(strcmp(client_message(a, 0)->topic, PREFIX "refused/a") == 0, "%s",
          client_message(a, 0)->topic);
}

/* ---- floods ---- */

enum { LOGGED = 5, FLOOD = 40 };

static void flood(struct client *client) {
    const char *entries[FLOOD];
    int codes[FLOOD];
    for (size_t i = 0; i < FLOOD; i++) {
        entries[i] = "t?x";
    }
    REQUIRE(client_subscribe_many(client, entries, FLOOD, 1, codes), "closed");
    for (size_t i = 0; i < FLOOD; i++) {
        CHECK(codes[i] == REFUSED, "entry %zu: 0x%02x", i, (unsigned)codes[i]);
    }
}

static void test_a_flood_is_told_in_parts(void) {
    struct broker *broker = START(SELDOM);
    struct client *admin = admin_open(broker, "admin");
    struct client *watcher = client_open(broker, "watcher");
    struct client *patient = client_open(broker, "patient");
    struct client *short_lived = client_open(broker, "short");
    struct client *kept = keep(broker, "kept");
    struct client *polite = client_open(broker, "polite");
    watch_refusals(watcher);
    flood(patient);
    CHECK(client_fence(watcher, watcher) == LOGGED, "%zu messages", client_count(watcher));
    CHECK(broker_log_count(broker, "client patient: subscription 't?x' refused") == LOGGED,
          "lines");
    CHECK(admin_stat(admin, "refused") == FLOOD, "%ld counted", admin_stat(admin, "refused"));

    /* The end of a session says how many there were more. */
    flood(short_lived);
    client_disconnect(short_lived);
    CHECK(broker_await_log(broker, "client short: more subscriptions refused: 35.\n"),
          "at the end");
    flood(kept);
    client_drop(kept);
    client_ping(admin);
    CHECK(broker_log_count(broker, "client kept: more") == 0, "it goes on");
    client_open(broker, "kept");
    CHECK(broker_await_log(broker, "client kept: more subscriptions refused: 35.\n"),
          "it was replaced");
    for (int i = 0; i < LOGGED; i++) {
        CHECK(client_subscribe(polite, "t?x", 1) == REFUSED, "refused");
    }
    client_disconnect(polite);
    client_ping(admin);

    /* And so does time, without another refusal. */
    CHECK(broker_log_count(broker, "client patient: more") == 0, "not yet");
    CHECK(broker_await_log(broker, "client patient: more subscriptions refused: 35.\n"),
          "after a while");
    CHECK(broker_log_count(broker, "client polite: more") == 0, "nothing was left out");
    CHECK(client_subscribe(patient, "t?x", 1) == REFUSED, "refused");
    CHECK(broker_log_count(broker, "client patient: subscription 't?x' refused") == LOGGED + 1,
          "a new while");
    CHECK(broker_log_count(broker, "client patient: more") == 1, "said once");
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        TEST(test_one_filter_counts_each_copy_once),
        TEST(test_overlaps_and_groups_count_each_subscription),
        TEST(test_queue_rechecks_count_nothing),
        TEST(test_retained_messages_count_where_a_filter_decides),
        TEST(test_random_traffic_is_counted),
        TEST(test_refusals_are_counted),
        TEST(test_counters_are_published_when_they_change),
        TEST(test_enabled_and_large_numbers),
        TEST(test_the_interval_can_be_long_or_none),
        TEST(test_the_prometheus_example_knows_all_topics),
        TEST(test_a_refusal_is_told_under_sys),
        TEST(test_client_identifiers_in_the_topic),
        TEST(test_long_subscriptions_are_cut),
        TEST(test_access_to_refusals),
        TEST(test_a_flood_is_told_in_parts),
    };
    return run_tests(argc, argv, cases, N_ROWS(cases));
}
