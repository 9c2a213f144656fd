/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Two brokers: a hub with the plugin, and an edge whose bridge subscribes at the hub with filters. The example
 * configuration of docs/scaling.md, what that says about a bridge's options, and what the bridge's losses do to
 * the filter.
 *
 * "end" is a topic without a filter that every edge takes with QoS 2, after all others: what was published at the
 * hub before it has crossed when it has.
 */
#include "scenario.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define HUB       PLUGIN PERSISTENT
#define MQTT_5    "bridge_protocol_version mqttv50\n"
#define KEPT      "cleansession false\nbridge_session_expiry_interval 3600\n"
#define END_TOPIC "topic end in 2\n"

/* An edge that is not started yet: its bridge to `hub` has these options and topic lines. */
static struct broker *edge_new(struct broker *hub, const char *options) {
    return broker_new("listener @PORT@ 127.0.0.1\nallow_anonymous true\npersistence "
                      "true\npersistence_location @DIR@/\n"
                      "connection hub\naddress 127.0.0.1:%d\nremote_clientid edge\nrestart_timeout "
                      "1\nnotifications false\n%s" END_TOPIC,
                      broker_port(hub, 1), options);
}

/* Start it, and wait until the hub has got the last SUBSCRIBE of its bridge. */
static void edge_run(struct broker *edge, struct broker *hub) {
    broker_run(edge);
    bool subscribed =
        broker_await_log(hub, "\tend (QoS 2)") && broker_await_log(hub, "Sending SUBACK to edge");
    REQUIRE(subscribed, "the bridge does not subscribe");
}

/* A client of the edge that collects everything. */
static struct client *collector(struct broker *edge) {
    struct client *reader = client_open(edge, "collector");
    subscribe(reader, "#", 2);
    return reader;
}

static void publish_region(struct client *writer, const char *topic, const char *payload, int qos,
                           const char *region) {
    int code = client_publish(
        writer,
        &(struct publish){.topic = topic,
                          .payload = payload,
                          .qos = qos,
                          .user = region == NULL ? NULL : USER("region", region, "level", "3")});
    REQUIRE(code == 0 || code == 0x10, "0x%02x", (unsigned)code);
}

/* The payloads that have crossed, in order, with blanks between. */
static const char *crossed(struct client *reader, struct client *writer) {
    static char text[1024];
    size_t seen = client_count_payload(reader, "end");
    publish_region(writer, "end", "end", 2, NULL);
    size_t n = client_count(reader);
    while (client_count_payload(reader, "end") == seen) {
        n = client_count(reader) + 1;
        REQUIRE(client_await(reader, n), "nothing crosses any more");
    }
    text[0] = '\0';
    for (size_t i = 0; i < client_count(reader); i++) {
        const char *payload = client_message(reader, i)->payload;
        if (strcmp(payload, "end") != 0) {
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s",
                     text[0] == '\0' ? "" : " ", payload);
        }
    }
    client_clear(reader);
    return text;
}

#define CHECK_CROSSED(reader, writer, payloads)                                                    \
    do {                                                                                           \
        const char *crossed_ = crossed((reader), (writer));                                        \
        CHECK(strcmp(crossed_, (payloads)) == 0, "'%s' crossed", crossed_);                        \
    } while (0)

/* ---- the example ------------------------------------------------------------------------------------------------- */

/* A file of examples/bridge with what is particular to a machine replaced: pairs of a line's beginning and the new
 * line. */
static char *example(const char *name, const char *const *replacements) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/examples/bridge/%s", TEST_SOURCE_DIR, name);
    FILE *in = fopen(path, "re");
    REQUIRE(in != NULL, "%s", path);
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    REQUIRE(out != NULL, "out of memory");
    char line[512];
    unsigned used = 0;
    while (fgets(line, sizeof line, in) != NULL) {
        const char *written = line;
        for (unsigned i = 0; replacements[i] != NULL; i += 2) {
            if (strncmp(line, replacements[i], strlen(replacements[i])) == 0) {
                written = replacements[i + 1];
                used |= 1U << (i / 2);
            }
        }
        fputs(written, out);
    }
    fclose(in);
    fclose(out);
    test_defer(free, text);
    for (unsigned i = 0; replacements[i] != NULL; i += 2) {
        CHECK((used >> (i / 2) & 1) == 1, "%s has no line %s", name, replacements[i]);
    }
    return text;
}

static void test_the_example(void) {
    static const char *const hub_lines[] = {"global_plugin ",
                                            PLUGIN,
                                            "persistence_location ",
                                            "persistence_location @DIR@/\n",
                                            "listener ",
                                            "listener @PORT@ 127.0.0.1\n",
                                            NULL};
    struct broker *hub = broker_start("%s", example("hub.conf", hub_lines));
    char address[64];
    snprintf(address, sizeof address, "address 127.0.0.1:%d\n", broker_port(hub, 1));
    const char *const edge_lines[] = {
        "listener ",        "listener @PORT@ 127.0.0.1\n",   "address ", address,
        "restart_timeout ", "restart_timeout 1\n" END_TOPIC, NULL};
    struct client *writer = client_open(hub, "writer");
    client_publish(writer, &(struct publish){.topic = "sensors/0/temp",
                                             .payload = "kept",
                                             .qos = 1,
                                             .retain = true,
                                             .user = USER("region", "EU")});
    client_publish(writer, &(struct publish){.topic = "sensors/1/temp",
                                             .payload = "no",
                                             .qos = 1,
                                             .retain = true,
                                             .user = USER("region", "US")});
    struct broker *edge = broker_start("%s", example("edge.conf", edge_lines));
    struct client *reader = collector(edge);
    REQUIRE(broker_await_log(hub, "\talerts/#"), "the last subscription");
    client_ping(writer);

    publish_region(writer, "sensors/1/temp", "a", 1, "EU");
    publish_region(writer, "sensors/1/temp", "no", 1, "US");
    publish_region(writer, "sensors/1/temp", "no", 1, NULL);
    publish_region(writer, "sensors/1/humidity", "no", 1, "EU");
    client_publish(writer, &(struct publish){.topic = "alerts/fire/1",
                                             .payload = "b",
                                             .qos = 1,
                                             .user = USER("level", "3", "region", "ALL")});
    client_publish(writer, &(struct publish){.topic = "alerts",
                                             .payload = "c",
                                             .qos = 2,
                                             .user = USER("level", "4.5", "region", "EU")});
    client_publish(writer, &(struct publish){.topic = "alerts/fire/2",
                                             .payload = "no",
                                             .qos = 1,
                                             .user = USER("level", "2", "region", "EU")});
    client_publish(writer, &(struct publish){.topic = "alerts/fire/2",
                                             .payload = "no",
                                             .qos = 1,
                                             .user = USER("level", "5", "region", "US")});
    CHECK_CROSSED(reader, writer, "kept a b c");

    /* The line is down for a while: what matches waits for it, and nothing else. */
    client_disconnect(reader);
    broker_kill(edge);
    publish_region(writer, "sensors/2/temp", "no", 1, "US");
    publish_region(writer, "sensors/2/temp", "d", 1, "EU");
    broker_run(edge);
    reader = client_open(edge, "other");
    subscribe(reader, "#", 2);
    publish_region(writer, "sensors/2/temp", "no", 1, "US");
    publish_region(writer, "sensors/2/temp", "e", 1, "EU");
    const char *got = crossed(reader, writer);
    /* "d" may have come before the collector, and the retained one comes again with each SUBSCRIBE of the bridge */
    CHECK(strstr(got, "no") == NULL && strstr(got, "e") != NULL, "'%s' crossed", got);
}

/* ---- topic lines ------------------------------------------------------------------------------------------------- */

static void test_topic_lines(void) {
    static const struct {
        const char *lines;
        const char *
            expected; /* crosses from the hub to the edge: a is region EU, b region US, c without, on sensors/1/temp */
    } rows[] = {
        {"topic sensors/+/temp?region=EU in 0\n", "a"},
        {"topic sensors/+/temp?region=EU in 1\n", "a"},
        {"topic sensors/+/temp?region=EU in 2\n", "a"},
        {"topic sensors/%23?region=EU in 1\n", "a"},
        {"topic sensors/+/temp?sql:region='EU'/**/AND/**/level>2 in 1\n", "a"},
        {"topic \"sensors/+/temp?sql:region = 'EU' AND level > 2\" in 1\n", "a"},
        {"topic \"sensors/+/temp?region = US\" in 1\n", "b"},
        {"topic sensors/+/temp in 1\n", "a b c"},
        /* A filter is for what comes in: the edge does not ask plugins about its own bridge, so its '?' is literal
         * there. */
        {"topic sensors/+/temp?region=EU both 1\n", "a"},
        {"topic sensors/+/temp?region=EU out 1\n", ""},
        /* The second line is the same subscription with another filter. */
        {"topic sensors/+/temp?region=EU in 1\ntopic sensors/+/temp?region=US in 1\n", "b"},
        {"topic sensors/+/temp?region=EU in 1\ntopic sensors/+/temp in 1\n", "a b c"},
        /* One that the hub refuses. */
        {"topic sensors/+/temp?region in 1\n", ""},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        struct broker *hub = broker_start(HUB);
        char options[512];
        snprintf(options, sizeof options, MQTT_5 "%s", rows[i].lines);
        struct broker *edge = edge_new(hub, options);
        edge_run(edge, hub);
        struct client *writer = client_open(hub, "writer");
        struct client *reader = collector(edge);
        publish_region(writer, "sensors/1/temp", "a", 1, "EU");
        publish_region(writer, "sensors/1/temp", "b", 1, "US");
        publish_region(writer, "sensors/1/temp", "c", 1, NULL);
        const char *got = crossed(reader, writer);
        CHECK(strcmp(got, rows[i].expected) == 0, "row %zu: '%s' crossed", i, got);
        CHECK((broker_log_count(hub, "client edge: subscription 'sensors/+/temp?region' refused") >
               0) == (i == 12),
              "row %zu: log", i);

        /* And nothing goes the other way. */
        struct client *hub_reader = client_open(hub, "hub reader");
        subscribe(hub_reader, "#", 1);
        struct client *edge_writer = client_open(edge, "edge writer");
        publish_region(edge_writer, "sensors/1/temp", "back", 1, "EU");
        CHECK(strstr(crossed(reader, writer), "back") != NULL, "row %zu: at the edge itself", i);
        client_fence(hub_reader, writer);
        CHECK(client_count_payload(hub_reader, "back") == 0, "row %zu: it went out", i);
    }
}

/* Different lines for the two directions. At each connection the bridge sends an UNSUBSCRIBE for every `out` line,
 * in the order of the lines, and that takes a filtered subscription to the same topic filter away, as it does one
 * without a filter. */
static void test_in_and_out_lines(void) {
    static const struct {
        const char *lines;
        const char *expected;
    } rows[] = {
        {"topic sensors/+/temp?region=EU in 1\ntopic sensors/+/temp out 1\n", ""},
        {"topic sensors/+/temp out 1\ntopic sensors/+/temp?region=EU in 1\n", "a"},
        {"bridge_attempt_unsubscribe false\ntopic sensors/+/temp?region=EU in 1\ntopic "
         "sensors/+/temp out 1\n",
         "a"},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        struct broker *hub = broker_start(HUB);
        char options[512];
        snprintf(options, sizeof options, MQTT_5 "%s", rows[i].lines);
        struct broker *edge = edge_new(hub, options);
        edge_run(edge, hub);
        struct client *writer = client_open(hub, "writer");
        struct client *reader = collector(edge);
        publish_region(writer, "sensors/1/temp", "a", 1, "EU");
        publish_region(writer, "sensors/1/temp", "b", 1, "US");
        const char *got = crossed(reader, writer);
        CHECK(strcmp(got, rows[i].expected) == 0, "row %zu: '%s' crossed", i, got);
        /* What goes out does not come back: a bridge over MQTT 5 asks for no-local. */
        struct client *hub_reader = client_open(hub, "hub reader");
        subscribe(hub_reader, "sensors/#", 1);
        publish_region(client_open(edge, "edge writer"), "sensors/2/temp", "out", 1, "EU");
        CHECK(client_await(hub_reader, 1), "row %zu: it goes out", i);
        got = crossed(reader, writer);
        CHECK(strcmp(got, "out") == 0, "row %zu: '%s' at the edge itself", i, got);
    }
}

/* A bridge's prefixes are added and taken off by comparing topics with the whole text of the line, and none
 * matches one with an expression: the messages cross, filtered, under the hub's names. */
static void test_remapping_does_not_work(void) {
    static const struct {
        const char *line;
        const char *topic; /* at the edge */
    } rows[] = {
        {"topic +/temp in 1 local/ sensors/\n", "local/1/temp"},
        {"topic +/temp?region=EU in 1 local/ sensors/\n", "sensors/1/temp"},
        {"topic sensors/+/temp?region=EU in 1 local/\n", "sensors/1/temp"},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        struct broker *hub = broker_start(HUB);
        char options[512];
        snprintf(options, sizeof options, MQTT_5 "%s", rows[i].line);
        struct broker *edge = edge_new(hub, options);
        edge_run(edge, hub);
        struct client *writer = client_open(hub, "writer");
        struct client *reader = collector(edge);
        publish_region(writer, "sensors/1/temp", "no", 1, i == 0 ? NULL : "US");
        client_clear(reader);
        publish_region(writer, "sensors/1/temp", "a", 1, "EU");
        while (client_count_payload(reader, "a") == 0) {
            REQUIRE(client_await(reader, client_count(reader) + 1), "row %zu: nothing crosses", i);
        }
        for (size_t k = 0; k < client_count(reader); k++) {
            const struct message *message = client_message(reader, k);
            CHECK(strcmp(message->topic, rows[i].topic) == 0, "row %zu: on %s", i, message->topic);
            CHECK(i == 0 || strcmp(message->payload, "a") == 0, "row %zu: %s", i, message->payload);
        }
    }
}

/* A bridge over MQTT 5 asks for no-local, which MQTT forbids for shared subscriptions: the hub closes the
 * connection, whether there is a filter or not. */
static void test_shared_subscriptions_are_not_for_bridges(void) {
    struct broker *hub = broker_start(HUB);
    struct broker *edge = edge_new(hub, MQTT_5 "topic $share/g/sensors/+/temp?region=EU in 1\n");
    broker_run(edge);
    CHECK(broker_await_log(hub, "Protocol error from edge: $share subscription with no-local set"),
          "log");
}

/* ---- versions ---------------------------------------------------------------------------------------------------- */

/* Without MQTT 5 the text is a literal topic that nobody publishes to: nothing arrives, nothing is refused. */
static void test_older_protocols(void) {
    static const char *const options[] = {"", "bridge_protocol_version mqttv311\n",
                                          "bridge_protocol_version mqttv31\n"};
    for (size_t i = 0; i < N_ROWS(options); i++) {
        struct broker *hub = broker_start(HUB);
        char text[256];
        snprintf(text, sizeof text, "%stopic sensors/+/temp?region=EU in 1\ntopic plain in 1\n",
                 options[i]);
        struct broker *edge = edge_new(hub, text);
        edge_run(edge, hub);
        struct client *writer = client_open(hub, "writer");
        struct client *reader = collector(edge);
        publish_region(writer, "sensors/1/temp", "no", 1, "EU");
        publish_region(writer, "plain", "a", 1, "EU");
        const char *got = crossed(reader, writer);
        CHECK(strcmp(got, "a") == 0, "row %zu: '%s' crossed", i, got);
        CHECK(broker_log_count(hub, "as edge (p5,") == 0 && broker_log_count(hub, "as edge (p") > 0,
              "row %zu: log", i);
    }
}

/* A hub that is told not to take MQTT 5 keeps the bridge out, which goes on trying. */
static void test_a_hub_that_refuses_mqtt_5(void) {
    struct broker *hub = broker_start("listener @PORT@ 127.0.0.1\nallow_anonymous true\n"
                                      "accept_protocol_versions 3,4\n" HUB);
    struct broker *edge = edge_new(hub, MQTT_5 "topic sensors/+/temp?region=EU in 1\n");
    broker_run(edge);
    CHECK(broker_await_log(edge, "Connection Refused: Unsupported Protocol Version"), "refused");
    CHECK(broker_await_log(edge, "Connection Refused: Unsupported Protocol Version"), "again");
    CHECK(broker_log_count(edge, "reconnecting using MQTT v3.1.1") == 0, "no fallback");
}

/* Wait for a CONNECT on this socket and answer it as a broker that knows MQTT 3 only. */
static void refuse_as_mqtt_3(int listener) {
    int fd = accept(listener, NULL, NULL);
    char connect[256];
    static const char connack[] = {0x20, 2, 0, 1}; /* unacceptable protocol version */
    bool done = fd >= 0 && recv(fd, connect, sizeof connect, 0) > 0 &&
                send(fd, connack, sizeof connack, MSG_NOSIGNAL) == (ssize_t)sizeof connack &&
                shutdown(fd, SHUT_WR) == 0 && recv(fd, connect, sizeof connect, 0) >= 0;
    close(fd);
    REQUIRE(done, "no CONNECT");
}

/* A bridge that once met such a broker, perhaps the hub before it was upgraded, uses MQTT 3.1.1 from then on:
 * until the edge is started again its lines with a filter bring nothing. */
static void test_a_bridge_that_has_fallen_back(void) {
    struct broker *hub = broker_new(HUB);
    struct broker *edge = edge_new(hub, MQTT_5 "topic sensors/+/temp?region=EU in 1\n");
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int one = 1;
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)broker_port(hub, 1))};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(listener >= 0 &&
                setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) == 0 &&
                bind(listener, (struct sockaddr *)&address, sizeof address) == 0 &&
                listen(listener, 1) == 0,
            "listen: %s", strerror(errno));
    broker_run(edge);
    refuse_as_mqtt_3(listener);
    close(listener);
    CHECK(broker_await_log(edge, "reconnecting using MQTT v3.1.1"), "it falls back");

    broker_run(hub);
    REQUIRE(broker_await_log(hub, "\tend (QoS 2)"), "the bridge does not connect");
    CHECK(broker_log_count(hub, "as edge (p4,") == 1, "with MQTT 3.1.1");
    struct client *writer = client_open(hub, "writer");
    struct client *reader = collector(edge);
    publish_region(writer, "sensors/1/temp", "no", 1, "EU");
    CHECK_CROSSED(reader, writer, "");
    client_disconnect(reader);
    broker_stop(edge);
    edge_run(edge, hub);
    reader = collector(edge);
    publish_region(writer, "sensors/1/temp", "no", 1, "US");
    publish_region(writer, "sensors/1/temp", "a", 1, "EU");
    CHECK_CROSSED(reader, writer, "a");
}

/* ---- losses ------------------------------------------------------------------------------------------------------ */

/* What is published while the line is down, and the filter afterwards. With MQTT 5 a session is kept only when the
 * bridge says for how long, too. */
static void test_loss_of_the_edge(void) {
    static const struct {
        const char *options;
        bool kept;
    } rows[] = {
        {KEPT, true},
        {"cleansession false\n", false},
        {"cleansession true\n", false},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        struct broker *hub = broker_start(HUB);
        char options[256];
        snprintf(options, sizeof options, MQTT_5 "%stopic sensors/+/temp?region=EU in 1\n",
                 rows[i].options);
        struct broker *edge = edge_new(hub, options);
        edge_run(edge, hub);
        struct client *writer = client_open(hub, "writer");
        struct client *reader = client_connect(
            edge, &(struct client_options){.id = "reader", .protocol = 4, .keep = true});
        subscribe(reader, "#", 2);
        client_disconnect(reader);
        broker_stop(edge);
        publish_region(writer, "sensors/1/temp", "no", 1, "US");
        publish_region(writer, "sensors/1/temp", "a", 1, "EU");
        edge_run(edge, hub);
        client_reconnect(reader);
        publish_region(writer, "sensors/1/temp", "no", 1, "US");
        publish_region(writer, "sensors/1/temp", "b", 1, "EU");
        const char *got = crossed(reader, writer);
        CHECK(strcmp(got, rows[i].kept ? "a b" : "b") == 0, "row %zu: '%s' crossed", i, got);
    }
}

static void test_loss_of_the_hub(void) {
    static const bool crashes[] = {false, true};
    for (size_t i = 0; i < N_ROWS(crashes); i++) {
        struct broker *hub = broker_start(HUB);
        struct broker *edge = edge_new(hub, MQTT_5 KEPT "topic sensors/+/temp?region=EU in 1\n");
        edge_run(edge, hub);
        struct client *reader = collector(edge);
        struct client *writer = client_open(hub, "writer");
        broker_save(hub);
        client_ping(writer);
        client_disconnect(writer);
        if (crashes[i]) {
            broker_kill(hub);
        } else {
            broker_stop(hub);
        }
        broker_run(hub);
        /* Before the bridge is back, perhaps, and after. */
        writer = client_open(hub, "writer");
        publish_region(writer, "sensors/1/temp", "no", 1, "US");
        publish_region(writer, "sensors/1/temp", "a", 1, "EU");
        REQUIRE(broker_await_log(hub, "\tend (QoS 2)"), "the bridge does not come back");
        publish_region(writer, "sensors/1/temp", "no", 1, "US");
        publish_region(writer, "sensors/1/temp", "b", 1, "EU");
        CHECK_CROSSED(reader, writer, "a b");
    }
}

/* Retained messages are sent with each SUBSCRIBE of the bridge, so with each connection: unfiltered unless the hub
 * says otherwise. */
static void test_retained_messages(void) {
    for (int filtered = 0; filtered <= 1; filtered++) {
        struct broker *hub =
            broker_start(PLUGIN "%s" PERSISTENT, filtered ? "plugin_opt_retained filter\n" : "");
        struct client *writer = client_open(hub, "writer");
        client_publish(writer, &(struct publish){.topic = "sensors/1/temp",
                                                 .payload = "a",
                                                 .qos = 1,
                                                 .retain = true,
                                                 .user = USER("region", "EU")});
        client_publish(writer, &(struct publish){.topic = "sensors/2/temp",
                                                 .payload = "b",
                                                 .qos = 1,
                                                 .retain = true,
                                                 .user = USER("region", "US")});
        struct broker *edge = edge_new(hub, MQTT_5 "topic sensors/+/temp?region=EU in 1\n");
        edge_run(edge, hub);
        struct client *reader = collector(edge);
        client_publish(writer, &(struct publish){.topic = "sensors/2/temp",
                                                 .payload = "no",
                                                 .qos = 1,
                                                 .retain = true,
                                                 .user = USER("region", "US")});
        crossed(reader, writer);
        /* At the edge they are retained again. */
        struct client *late = client_open(edge, "late");
        subscribe(late, "sensors/1/temp", 1);
        subscribe(late, "sensors/2/temp", 1);
        CHECK_ARRIVED(late, late, filtered ? "a" : "a b");
    }
}

/* ---- beyond ------------------------------------------------------------------------------------------------------ */

/* The User Properties cross, so clients of the edge can filter further, and so can the next broker in the chain. */
static void test_a_chain(void) {
    struct broker *hub = broker_start(HUB);
    struct broker *middle = broker_new(
        PLUGIN NO_STATE
        "listener @PORT@ 127.0.0.1\nallow_anonymous true\nconnection hub\naddress 127.0.0.1:%d\n"
        "remote_clientid edge\nnotifications false\n" MQTT_5
        "topic sensors/+/temp?region=EU in 1\n" END_TOPIC,
        broker_port(hub, 1));
    edge_run(middle, hub);
    struct broker *edge = edge_new(middle, MQTT_5 "topic sensors/+/temp?value>25 in 1\n");
    edge_run(edge, middle);
    struct client *writer = client_open(hub, "writer");
    struct client *local = client_open(middle, "local");
    subscribe(local, "sensors/+/temp?value<=25", 1);
    struct client *reader = collector(edge);
    static const struct {
        const char *payload;
        const char *region;
        const char *value;
    } rows[] = {{"a", "EU", "30"},  {"b", "EU", "20"},    {"no", "US", "30"},
                {"no", "US", "20"}, {"no", "EU", "warm"}, {"c", "EU", "26"}};
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        client_publish(writer, &(struct publish){
                                   .topic = "sensors/1/temp",
                                   .payload = rows[i].payload,
                                   .qos = 1,
                                   .user = USER("region", rows[i].region, "value", rows[i].value)});
    }
    CHECK_CROSSED(reader, writer, "a c");
    CHECK_ARRIVED(local, local, "b");
}

/* What leaves an edge cannot be filtered there by its own bridge. But the hub can come and fetch it: then the edge
 * has the plugin, and the filter is at the source. */
static void test_the_hub_fetches_from_an_edge(void) {
    struct broker *source = broker_start(HUB);
    struct broker *hub = edge_new(source, MQTT_5 KEPT "topic sensors/+/temp?sql:value>25 in 1\n");
    edge_run(hub, source);
    struct client *sensor = client_open(source, "sensor");
    struct client *reader = collector(hub);
    client_publish(sensor, &(struct publish){.topic = "sensors/1/temp",
                                             .payload = "no",
                                             .qos = 1,
                                             .user = USER("value", "20")});
    client_publish(sensor, &(struct publish){.topic = "sensors/1/temp",
                                             .payload = "a",
                                             .qos = 1,
                                             .user = USER("value", "26")});
    CHECK_CROSSED(reader, sensor, "a");
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        TEST(test_the_example),
        TEST(test_topic_lines),
        TEST(test_in_and_out_lines),
        TEST(test_remapping_does_not_work),
        TEST(test_shared_subscriptions_are_not_for_bridges),
        TEST(test_older_protocols),
        TEST(test_a_hub_that_refuses_mqtt_5),
        TEST(test_a_bridge_that_has_fallen_back),
        TEST(test_loss_of_the_edge),
        TEST(test_loss_of_the_hub),
        TEST(test_retained_messages),
        TEST(test_a_chain),
        TEST(test_the_hub_fetches_from_an_edge),
    };
    return run_tests(argc, argv, cases, N_ROWS(cases));
}
