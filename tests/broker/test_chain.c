/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The plugin among others: access control sees the topic filter without the expression, the order of loading is checked,
 * and whatever other plugins do, no filter is ever silently ignored. The small plugins are in plugins/.
 */
#include "scenario.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* A command for plugins/kick.c or plugins/publish.c. */
static void tell(struct client *writer, const char *topic, const char *payload) {
    client_publish(writer, &(struct publish){.topic = topic, .payload = payload, .qos = 1});
}

/* ---- access control ---- */

static struct broker *start_dynsec(const char *acls) {
    struct broker *broker = broker_new(PLUGIN NO_STATE DYNSEC);
    write_dynsec(broker, acls);
    broker_run(broker);
    return broker;
}

static void test_dynamic_security_sees_the_base_topic(void) {
    struct broker *broker = start_dynsec(
        ",{\"acltype\":\"subscribeLiteral\",\"topic\":\"secret\",\"allow\":false}"
        ",{\"acltype\":\"subscribeLiteral\",\"topic\":\"secret/#\",\"allow\":false}"
        ",{\"acltype\":\"subscribePattern\",\"topic\":\"own/%c/#\",\"allow\":true,\"priority\":5}"
        ",{\"acltype\":\"subscribePattern\",\"topic\":\"own/#\",\"allow\":false,\"priority\":4}"
        ",{\"acltype\":\"subscribeLiteral\",\"topic\":\"a?room=a\",\"allow\":false}"
        ",{\"acltype\":\"unsubscribeLiteral\",\"topic\":\"stay\",\"allow\":false}");
    struct client *writer = client_open(broker, "writer");
    struct client *reader = client_open(broker, "reader");
    static const struct {
        const char *subscription;
        int code;
    } rows[] = {
        {"secret", REFUSED},
        {"secret?room=a", REFUSED},
        {"secret?sql:room = 'a'", REFUSED},
        {"secret?tag:*", REFUSED},
        {"secret/%23?room=a", REFUSED},
        {"secret/x?room=a", 1},
        {"own/reader/x?room=a", 1},
        {"own/reader/%23?room=a", 1},
        {"own/writer/x?room=a", REFUSED},
        {"own/%2B/x?room=a", REFUSED},
        {"open?room=a", 1},
        {"a?room=a", 1}, /* a rule for the text with its expression means nothing */
        {"stay?room=a", 1},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        int code = client_subscribe(reader, rows[i].subscription, 1);
        CHECK(code == rows[i].code, "%s: 0x%02x", rows[i].subscription, (unsigned)code);
    }
    publish_room(writer, "secret", "a");
    size_t n = count_arrived(reader, writer);
    CHECK(n == 0, "secret: %zu", n);
    static const char *const topics[] = {"secret/x", "own/reader/y", "open", "a", "stay"};
    for (size_t i = 0; i < N_ROWS(topics); i++) {
        check_filtered(reader, writer, topics[i], "granted");
    }
    CHECK(broker_log_count(broker, "subscription-filter: client reader: subscription") == 0,
          "the refusals are not ours");

    static const char *const removals[] = {"stay", "stay?room=a", "stay?x"};
    for (size_t i = 0; i < N_ROWS(removals); i++) {
        int code = client_unsubscribe(reader, removals[i]);
        CHECK(code == REFUSED, "unsubscribe %s: 0x%02x", removals[i], (unsigned)code);
        check_filtered(reader, writer, "stay", removals[i]);
    }
}

/* A filter that another plugin denies leaves what was there, and no trace for the next entry. */
static void test_a_denied_filter_leaves_nothing_behind(void) {
    struct broker *broker =
        start_dynsec(",{\"acltype\":\"subscribeLiteral\",\"topic\":\"secret\",\"allow\":false}");
    struct client *writer = client_open(broker, "writer");
    struct client *reader = client_open(broker, "reader");
    static const char *const entries[] = {"open?room=a", "secret?room=b", "plain", "secret?room=b"};
    int codes[4];
    REQUIRE(client_subscribe_many(reader, entries, 4, 1, codes), "closed");
    CHECK(codes[0] == 1 && codes[1] == REFUSED && codes[2] == 1 && codes[3] == REFUSED,
          "%02x %02x %02x %02x", (unsigned)codes[0], (unsigned)codes[1], (unsigned)codes[2],
          (unsigned)codes[3]);
    CHECK(client_subscribe(reader, "also", 1) == 1, "plain after a denied filter");
    publish_room(writer, "plain", "c");
    publish_room(writer, "also", "c");
    CHECK(count_arrived(reader, writer) == 2, "plain ones get everything");
    check_filtered(reader, writer, "open", "as before");
    CHECK(client_unsubscribe(reader, "secret?room=b") == 0x11, "it was never there");
}

/* The same where the topic was allowed before: the old filter stays. */
static void test_a_denied_replacement_leaves_the_old_filter(void) {
    struct broker *broker = broker_start(PLUGIN NO_STATE OTHER("kick"));
    struct client *writer = client_open(broker, "writer");
    struct client *reader = client_open(broker, "reader");
    REQUIRE(client_subscribe(reader, "t?room=a", 1) == 1, "subscribe");
    tell(writer, "deny", "t");
    static const char *const again[] = {"t?room=b", "t", "t?sql:TRUE"};
    for (size_t i = 0; i < N_ROWS(again); i++) {
        CHECK(client_subscribe(reader, again[i], 1) == REFUSED, "%s", again[i]);
        check_filtered(reader, writer, "t", again[i]);
    }
    tell(writer, "deny", "");
    CHECK(client_subscribe(reader, "t", 1) == 1, "allowed again");
    publish_room(writer, "t", "b");
    CHECK(count_arrived(reader, writer) == 1, "plain");
}

static void check_acl_file(const char *config) {
    struct broker *broker = broker_new("%s", config);
    broker_write_file(broker, "acl",
                      "topic readwrite open/#\ntopic readwrite fence/#\ntopic write shut/#\n"
                      "pattern readwrite own/%c/#\npattern write own/#\n"
                      "topic deny open/secret\n");
    broker_run(broker);
    struct client *writer = client_open(broker, "writer");
    struct client *reader = client_open(broker, "reader");
    static const char *const filters[] = {
        "shut/a?room=a",       "open/a?room=a",      "open/secret?room=a",
        "own/reader/x?room=a", "own/other/x?room=a", "open/b/%23?sql:room = 'a'",
    };
    for (size_t i = 0; i < N_ROWS(filters); i++) {
        CHECK(client_subscribe(reader, filters[i], 1) == 1, "%s", filters[i]);
    }
    publish_room(writer, "shut/a", "a");
    publish_room(writer, "own/other/x", "a");
    client_publish(writer, &(struct publish){.topic = "open/secret", .user = USER("room", "a")});
    CHECK(count_arrived(reader, writer) == 0, "denied");
    check_filtered(reader, writer, "open/a", "allowed");
    check_filtered(reader, writer, "own/reader/x", "allowed by a pattern");
    check_filtered(reader, writer, "open/b/c", "allowed");

    /* acl_file registers again on SIGHUP: it stays behind us. */
    broker_write_file(broker, "acl",
                      "topic readwrite shut/#\ntopic readwrite fence/#\n"
                      "topic write open/#\n");
    broker_reload(broker);
    check_filtered(reader, writer, "shut/a", "allowed now");
    publish_room(writer, "open/a", "a");
    CHECK(count_arrived(reader, writer) == 0, "denied now");
    CHECK(client_subscribe(reader, "shut/b?room=a", 1) == 1, "subscribe after SIGHUP");
    check_filtered(reader, writer, "shut/b", "subscribed after SIGHUP");
}

static void test_acl_file_decides_at_delivery(void) {
    check_acl_file(PLUGIN NO_STATE "acl_file @DIR@/acl\n");
    check_acl_file("acl_file @DIR@/acl\n" PLUGIN NO_STATE);
    check_acl_file(PLUGIN NO_STATE
                   "plugin @PLUGINS@/mosquitto_acl_file.so\nplugin_opt_acl_file @DIR@/acl\n");
}

/* Others say "not mine" for what they have no rule for, and the last word counts: ours must not become it. */
static void test_a_denial_by_default_stays_one(void) {
    static const char *const configs[] = {
        PLUGIN NO_STATE DYNSEC,
        "per_listener_settings true\n" PLUGIN NO_STATE LISTENER("1") DYNSEC,
    };
    for (size_t i = 0; i < N_ROWS(configs); i++) {
        struct broker *broker = broker_new("%s", configs[i]);
        broker_write_file(
            broker, "dynsec.json",
            "{\"defaultACLAccess\":{\"publishClientSend\":true,\"publishClientReceive\":false,"
            "\"subscribe\":false,\"unsubscribe\":false},\"clients\":[],"
            "\"groups\":[{\"groupname\":\"all\",\"roles\":[{\"rolename\":\"r\"}]}],"
            "\"anonymousGroup\":\"all\",\"roles\":[{\"rolename\":\"r\",\"acls\":["
            "{\"acltype\":\"subscribePattern\",\"topic\":\"fence/#\",\"allow\":true},"
            "{\"acltype\":\"publishClientReceive\",\"topic\":\"fence/#\",\"allow\":true},"
            "{\"acltype\":\"subscribePattern\",\"topic\":\"open/#\",\"allow\":true},"
            "{\"acltype\":\"subscribePattern\",\"topic\":\"blind/#\",\"allow\":true},"
            "{\"acltype\":\"publishClientReceive\",\"topic\":\"open/#\",\"allow\":true}]}]}");
        broker_run(broker);
        struct client *writer = client_open(broker, "writer");
        struct client *reader = client_open(broker, "reader");
        CHECK(client_subscribe(reader, "other?room=a", 1) == REFUSED, "row %zu: subscribe", i);
        CHECK(client_subscribe(reader, "blind/t?room=a", 1) == 1, "row %zu", i);
        CHECK(client_subscribe(reader, "open/t?room=a", 1) == 1, "row %zu", i);
        publish_room(writer, "blind/t", "a");
        CHECK(count_arrived(reader, writer) == 0, "row %zu: receive", i);
        check_filtered(reader, writer, "open/t", configs[i]);
        CHECK(client_unsubscribe(reader, "open/t?room=a") == REFUSED, "row %zu: unsubscribe", i);
        check_filtered(reader, writer, "open/t", configs[i]);
    }
}

/* ---- kicks ---- */

static void run_dynsec_command(struct broker *broker, const char *command) {
    struct client *admin = client_open(broker, "admin");
    char text[512];
    snprintf(text, sizeof text, "{\"commands\":[%s]}", command);
    client_publish_later(
        admin,
        &(struct publish){.topic = "$CONTROL/dynamic-security/v1", .payload = text, .qos = 1});
    client_await_closed(admin); /* everybody without a name is kicked */
}

static void test_a_kick_by_dynamic_security_changes_no_filter(void) {
    struct broker *broker = start_dynsec("");
    const struct client_options options = {.id = "reader", .keep = true, .expiry_s = 100};
    struct client *reader = client_connect(broker, &options);
    static const char *const topics[] = {"a", "b", "c", "d"};
    static const char *const filters[] = {"a?room=a", "b?room=a", "c?sql:room = 'a'", "d?tag:*"};
    int codes[4];
    REQUIRE(client_subscribe_many(reader, filters, 4, 1, codes), "subscribe");
    client_fence(reader, reader);

    run_dynsec_command(broker,
                       "{\"command\":\"addRoleACL\",\"rolename\":\"r\",\"acltype\":"
                       "\"subscribeLiteral\",\"topic\":\"b\",\"allow\":false,\"priority\":9}");
    CHECK(client_await_closed(reader) == 0x98, "kicked");
    struct client *writer = client_open(broker, "writer");
    for (size_t i = 0; i < N_ROWS(topics); i++) {
        publish_room(writer, topics[i], "a");
        publish_room(writer, topics[i], "b");
    }
    client_reconnect(reader);
    REQUIRE(client_session_present(reader), "kept");
    size_t n = client_fence(reader, writer);
    CHECK(n == 4 && client_count_payload(reader, "a") == 3, "offline: %zu; a, c, and d twice", n);
    client_clear(reader);
    check_filtered(reader, writer, "a", "after the kick");
    check_filtered(reader, writer, "c", "after the kick");
    publish_room(writer, "b", "a");
    CHECK(count_arrived(reader, writer) == 0, "b was removed");
    CHECK(client_subscribe(reader, "b?room=a", 1) == REFUSED, "and is denied");

    run_dynsec_command(broker, "{\"command\":\"removeRoleACL\",\"rolename\":\"r\",\"acltype\":"
                               "\"subscribeLiteral\",\"topic\":\"b\"}");
    client_await_closed(reader);
    client_await_closed(writer);
    client_reconnect(reader);
    writer = client_open(broker, "writer");
    publish_room(writer, "b", "a");
    publish_room(writer, "b", "b");
    CHECK(count_arrived(reader, writer) == 0, "b does not come back by itself");
    CHECK(client_unsubscribe(reader, "b") == 0x11, "it is not there");
    CHECK(client_subscribe(reader, "b?room=a", 1) == 1, "subscribe again");
    for (size_t i = 0; i < 3; i++) {
        check_filtered(reader, writer, topics[i], "at the end");
    }
}

/* What remains of overlapping subscriptions is filtered as before, for a client that is offline when it is kicked (no
 * event says so) and for one that is not. */
static void test_a_kick_that_removes_one_of_several(void) {
    for (int offline = 0; offline <= 1; offline++) {
        struct broker *broker = broker_start(PLUGIN NO_STATE OTHER("kick"));
        struct client *writer = client_open(broker, "writer");
        const struct client_options options = {.id = "reader", .keep = true, .expiry_s = 100};
        struct client *reader = client_connect(broker, &options);
        static const char *const filters[] = {"t/%23?room=a", "t/x", "t/y?room=c", "u?room=a"};
        int codes[4];
        REQUIRE(client_subscribe_many(reader, filters, 4, 1, codes), "subscribe");
        publish_room(writer, "t/x", "b");
        CHECK(count_arrived(reader, writer) == 1, "offline %d: the plain one", offline);
        if (offline) {
            client_disconnect(reader);
        }
        tell(writer, "deny", "t/x"); /* the plain one */
        tell(writer, "kick", "reader");
        if (!offline) {
            client_await_closed(reader);
        }
        publish_room(writer, "t/x", "a");
        publish_room(writer, "t/x", "b");
        publish_room(writer, "t/y", "c");
        publish_room(writer, "u", "b");
        client_reconnect(reader);
        REQUIRE(client_session_present(reader), "kept");
        size_t n = client_fence(reader, writer);
        CHECK(n == 2 && client_count_payload(reader, "a") == 1 &&
                  client_count_payload(reader, "c") == 1,
              "offline %d: %zu queued", offline, n);
        client_clear(reader);
        tell(writer, "deny", "");
        check_filtered(reader, writer, "t/x", "remaining");
        check_filtered(reader, writer, "u", "remaining");
        CHECK(client_subscribe(reader, "new?room=a", 1) == 1, "offline %d: new filters", offline);
        check_filtered(reader, writer, "new", "new");
    }
}

/* A plugin may kick in the middle of anything: of the chain of a SUBSCRIBE (the entry under way keeps its filter), and
 * while a message is handed to its subscribers. */
static void test_a_kick_in_the_middle_of_a_subscribe(void) {
    struct broker *broker = broker_start(PLUGIN NO_STATE OTHER("kick"));
    struct client *writer = client_open(broker, "writer");
    struct client *reader = client_open(broker, "reader");
    const struct client_options options = {.id = "victim", .keep = true, .expiry_s = 100};
    struct client *victim = client_connect(broker, &options);
    REQUIRE(client_subscribe(victim, "v?room=a", 1) == 1, "subscribe");
    REQUIRE(client_subscribe(victim, "w", 1) == 1, "subscribe");
    client_fence(victim, writer);
    tell(writer, "kick-at-subscribe", "victim");
    CHECK(client_subscribe(reader, "t?room=a", 1) == 1, "granted");
    client_await_closed(victim);
    check_filtered(reader, writer, "t", "the entry under way");
    client_reconnect(victim);
    check_filtered(victim, writer, "v", "the victim");

    /* The client itself: the broker goes on with the entry, and the session is kept. */
    tell(writer, "kick-at-subscribe", "victim");
    CHECK(client_subscribe(victim, "x?room=a", 1) == CLIENT_CLOSED, "kicked");
    publish_room(writer, "x", "a");
    publish_room(writer, "x", "b");
    client_reconnect(victim);
    size_t n = client_fence(victim, writer);
    CHECK(n <= 1 && client_count_payload(victim, "a") == n, "%zu queued", n);
    client_clear(victim);
    check_filtered(victim, writer, "v", "the victim once more");
}

static void test_a_kick_in_the_middle_of_a_delivery(void) {
    static const char *const victims[] = {"first", "second", "third"};
    for (size_t i = 0; i < N_ROWS(victims); i++) {
        struct broker *broker = broker_start(PLUGIN NO_STATE OTHER("kick"));
        struct client *writer = client_open(broker, "writer");
        struct client *readers[3];
        for (size_t k = 0; k < 3; k++) {
            const struct client_options options = {.id = victims[k], .keep = true, .expiry_s = 100};
            readers[k] = client_connect(broker, &options);
            REQUIRE(client_subscribe(readers[k], "t?room=a", 1) == 1, "subscribe");
            REQUIRE(client_subscribe(readers[k], "gone?room=b", 1) == 1, "subscribe");
            client_fence(readers[k], writer);
        }
        tell(writer, "deny", "gone");
        tell(writer, "kick-at-out", victims[i]);
        publish_room(writer, "t", "a"); /* the first copy that is sent kicks the victim */
        client_await_closed(readers[i]);
        publish_room(writer, "t", "a");
        publish_room(writer, "t", "b");
        client_reconnect(readers[i]);
        for (size_t k = 0; k < 3; k++) {
            size_t n = client_fence(readers[k], writer);
            CHECK(n == 2 && client_count_payload(readers[k], "a") == n, "victim %s: %s got %zu",
                  victims[i], victims[k], n);
        }
        for (size_t k = 0; k < 3; k++) {
            client_clear(readers[k]);
            check_filtered(readers[k], writer, "t", victims[k]);
            publish_room(writer, "gone", "b");
            size_t gone = count_arrived(readers[k], writer);
            CHECK(gone == (k != i), "victim %s: %s got %zu of the denied one", victims[i],
                  victims[k], gone);
        }
    }
}

/* The others' place among their subscriptions is not lost by it. */
static void test_a_kick_between_two_copies_for_one_client(void) {
    for (int with_will = 0; with_will < 2; with_will++) {
        struct broker *broker = broker_start(PLUGIN NO_STATE OTHER("kick"));
        struct client *writer = client_open(broker, "writer");
        struct client *reader = client_open(broker, "reader");
        REQUIRE(client_subscribe(reader, "t?room=a", 1) == 1, "subscribe");
        REQUIRE(client_subscribe(reader, "%2B?room=b", 1) == 1, "subscribe");
        struct client *next = client_open(broker, "next"); /* is asked between the two */
        REQUIRE(client_subscribe(next, "t", 1) == 1, "subscribe");
        const struct client_options options = {
            .id = "victim",
            .will = with_will ? &(struct publish){.topic = "t", .payload = "will"} : NULL};
        struct client *victim = client_connect(broker, &options);
        tell(writer, "kick-at-out", "victim");
        publish_room(writer, "t", "b");
        client_await_closed(victim);
        size_t n = client_fence(reader, writer);
        CHECK(n == 1 && client_count_payload(reader, "b") == 1, "will %d: %zu copies", with_will,
              n);
    }
}

/* Another plugin subscribes a client: what only that explains is not delivered, new filters are refused. */
static void test_a_subscription_that_nobody_saw(void) {
    struct broker *broker = broker_start(PLUGIN NO_STATE OTHER("kick"));
    struct client *writer = client_open(broker, "writer");
    struct client *reader = client_open(broker, "reader");
    REQUIRE(client_subscribe(reader, "t?room=a", 1) == 1, "subscribe");
    tell(writer, "add", "reader u");
    publish_room(writer, "u", "a");
    CHECK(count_arrived(reader, writer) == 0, "u is not known");
    check_filtered(reader, writer, "t", "the known one");
    client_ping(writer);
    CHECK(
        broker_await_log(broker, "client reader holds subscriptions that this plugin did not see"),
        "logged");
    CHECK(client_subscribe(reader, "v?room=a", 1) == REFUSED, "a new filter");
    CHECK(broker_log_count(broker, "client reader: subscription 'v?room=a' refused: the session "
                                   "holds subscriptions that the plugin did not see") == 1,
          "with the way out");
    CHECK(client_subscribe(reader, "u", 1) == 1, "subscribe again to it");
    CHECK(client_subscribe(reader, "v?room=a", 1) == 1, "then filters are possible");
    publish_room(writer, "u", "x");
    CHECK(count_arrived(reader, writer) == 1, "u is known now");
    check_filtered(reader, writer, "v", "v");
}

/* ---- other plugins ---- */

static void test_a_plugin_that_grants_everything_behind_us(void) {
    static const char *const others[] = {"grant", "old"};
    for (size_t i = 0; i < N_ROWS(others); i++) {
        struct broker *broker =
            broker_start(PLUGIN NO_STATE "plugin " TEST_PLUGINS_DIR "/test_%s.so\n", others[i]);
        struct client *writer = client_open(broker, "writer");
        struct client *reader = client_open(broker, "reader");
        CHECK(client_subscribe(reader, "t?room=a", 1) == 1, "%s", others[i]);
        CHECK(client_subscribe(reader, "t?room", 1) == REFUSED, "%s", others[i]);
        check_filtered(reader, writer, "t", others[i]);
    }
}

static void test_topic_filters_rewritten_by_a_plugin(void) {
    struct broker *broker = broker_start(PLUGIN NO_STATE OTHER("rewrite"));
    struct client *writer = client_open(broker, "writer");
    struct client *reader = client_open(broker, "reader");
    static const char *const again[] = {"move/t?room=a", "move/t?sql:room = 'a'", "moved/t?room=a"};
    for (size_t i = 0; i < N_ROWS(again); i++) {
        CHECK(client_subscribe(reader, again[i], 1) == 1, "%s", again[i]);
        check_filtered(reader, writer, "moved/t", again[i]);
        publish_room(writer, "move/t", "a");
        CHECK(count_arrived(reader, writer) == 0, "%s: not where it came from", again[i]);
    }
    CHECK(client_subscribe(reader, "u?room=a", 1) == 1, "not rewritten");
    check_filtered(reader, writer, "u", "not rewritten");
    CHECK(client_unsubscribe(reader, "move/t?room=a") == 0, "unsubscribe");
    publish_room(writer, "moved/t", "a");
    CHECK(count_arrived(reader, writer) == 0, "unsubscribed");
    CHECK(client_subscribe(reader, "move/t", 1) == 1, "plain");
    publish_room(writer, "moved/t", "b");
    CHECK(count_arrived(reader, writer) == 1, "plain");
    check_filtered(reader, writer, "u", "not rewritten");
}

static void test_topic_filters_rewritten_during_the_check(void) {
    struct broker *broker = broker_start(PLUGIN NO_STATE OTHER("rewrite") "plugin_opt_where acl\n");
    struct client *writer = client_open(broker, "writer");
    struct client *reader = client_open(broker, "reader");
    int code = client_subscribe(reader, "move/t?room=a", 1);
    CHECK(code == 1 || code == CLIENT_CLOSED, "0x%02x", (unsigned)code);
    if (code == 1) {
        check_filtered(reader, writer, "mOVE/t", "rewritten");
    }
}

static void test_properties_rewritten_by_a_plugin(void) {
    struct broker *broker = broker_start(PLUGIN NO_STATE OTHER("properties"));
    struct client *writer = client_open(broker, "writer");
    struct client *reader = client_open(broker, "reader");
    REQUIRE(client_subscribe(reader, "t?room=a", 2) == 2, "subscribe");
    for (int qos = 0; qos <= 2; qos++) {
        static const struct {
            const char *payload, *room;
            size_t delivered;
        } rows[] = {{"room=a", "b", 1}, {"room=b", "a", 0}, {"as it is", "a", 1}};
        for (size_t i = 0; i < N_ROWS(rows); i++) {
            client_publish(writer, &(struct publish){.topic = "t",
                                                     .payload = rows[i].payload,
                                                     .qos = qos,
                                                     .user = USER("room", rows[i].room)});
            size_t n = client_fence(reader, writer);
            CHECK(n == rows[i].delivered, "QoS %d, %s: %zu", qos, rows[i].payload, n);
            CHECK(n == 0 || strcmp(message_user(client_message(reader, 0), "room"), "a") == 0,
                  "QoS %d, %s: delivered as rewritten", qos, rows[i].payload);
            client_clear(reader);
        }
    }
}

static void test_messages_published_by_a_plugin(void) {
    struct broker *broker = broker_start(PLUGIN NO_STATE OTHER("publish"));
    struct client *writer = client_open(broker, "writer");
    struct client *reader = client_open(broker, "reader");
    struct client *plain = client_open(broker, "plain");
    struct client *echo = client_open(broker, "echo");
    REQUIRE(client_subscribe(reader, "t?room=a", 1) == 1, "subscribe");
    REQUIRE(client_subscribe(plain, "t", 1) == 1, "subscribe");
    REQUIRE(client_subscribe(echo, "out", 0) == 0, "subscribe");
    tell(writer, "tick", "20");
    REQUIRE(client_await(plain, 40), "40 published");
    size_t n = client_fence(reader, writer);
    CHECK(n == 20 && client_count_payload(reader, "plugin a") == 20, "from TICK: %zu", n);
    client_clear(reader);
    for (int i = 0; i < 10; i++) {
        client_publish_later(writer, &(struct publish){.topic = "out", .qos = i % 3});
        client_publish_later(writer, &(struct publish){.topic = "t",
                                                       .payload = "client",
                                                       .qos = i % 3,
                                                       .user = USER("room", i % 2 ? "a" : "b")});
    }
    REQUIRE(client_flush(writer), "flush");
    REQUIRE(client_await(plain, 40 + 20 + 10), "20 more published");
    n = client_fence(reader, writer);
    CHECK(n == 15 && client_count_payload(reader, "plugin a") == 10, "from MESSAGE_OUT: %zu", n);
    client_clear(reader);
    tell(writer, "retain", "");
    REQUIRE(client_await(plain, 70 + 2), "2 more published");
    n = count_arrived(reader, writer);
    CHECK(n == 1, "with the retain flag: %zu", n);
}

/* ---- log_dest topic, the HTTP API ---- */

static void test_log_lines_as_messages(void) {
    struct broker *broker = broker_start(PLUGIN NO_STATE "log_dest topic\n");
    struct client *writer = client_open(broker, "writer");
    struct client *logs = client_open(broker, "logs");
    REQUIRE(client_subscribe(logs, "$SYS/broker/log/#", 0) == 0, "subscribe");
    struct client *notices = client_open(broker, "notices");
    REQUIRE(client_subscribe(notices, "$SYS/%23?sql:$topic = '$SYS/broker/log/N'", 0) == 0,
            "subscribe");
    struct client *none = client_open(broker, "none");
    REQUIRE(client_subscribe(none, "$SYS/broker/log/%23?room=a", 0) == 0, "subscribe");
    struct client *reader = client_open(broker, "reader");
    REQUIRE(client_subscribe(reader, "t?room=a", 1) == 1, "subscribe");
    client_fence(logs, writer);
    client_fence(notices, writer);
    client_clear(logs);
    client_clear(notices); /* with the retained ones of $SYS */
    client_clear(none);
    for (int i = 0; i < 20; i++) {
        check_filtered(reader, writer, "t", "among log lines");
        CHECK(client_subscribe(reader, "t?room", 1) == REFUSED, "refused");
        struct client *passing = client_open(broker, "passing");
        client_disconnect(passing);
    }
    size_t n = client_fence(logs, writer);
    size_t refusals = 0, connects = 0;
    for (size_t i = 0; i < n; i++) {
        const char *line = client_message(logs, i)->payload;
        refusals += strstr(line, "client reader: subscription 't?room' refused") != NULL;
        connects += strstr(line, "New client connected") != NULL;
    }
    CHECK(refusals >= 1 && connects == 20, "%zu refusals, %zu connects in %zu lines", refusals,
          connects, n);
    n = client_fence(notices, writer);
    CHECK(n >= 40, "%zu notices", n);
    for (size_t i = 0; i < n; i++) {
        const struct message *message = client_message(notices, i);
        CHECK(message->retain || strcmp(message->topic, "$SYS/broker/log/N") == 0, "%s",
              message->topic);
    }
    n = client_fence(none, writer);
    CHECK(n == 0, "%zu log lines have a User Property", n);
}

/* A client whose queue is full: the broker says so in the middle of the delivery to the others, to all who subscribed to
 * its log lines, and then goes on. */
static void test_a_log_line_in_the_middle_of_a_delivery(void) {
    enum { READERS = 6 };
    struct broker *broker = broker_start(PLUGIN NO_STATE "log_dest topic\nmax_queued_messages 1\n");
    struct client *writer = client_open(broker, "writer");
    struct client *readers[READERS];
    for (size_t i = 0; i < READERS; i++) {
        readers[i] = client_open(broker, NULL);
        REQUIRE(client_subscribe(readers[i], "t?room=a", 0) == 0, "subscribe");
        REQUIRE(client_subscribe(readers[i], "%23?room=b", 0) == 0, "subscribe");
        REQUIRE(client_subscribe(readers[i], "$SYS/broker/log/%23?sql:$topic ENDSWITH 'N'", 0) == 0,
                "subscribe");
    }
    struct raw *stalled[3];
    for (size_t i = 0; i < N_ROWS(stalled); i++) { /* takes one message and acknowledges nothing */
        char id[16];
        snprintf(id, sizeof id, "stalled%zu", i);
        stalled[i] = raw_connect(broker, &(struct raw_options){.id = id, .receive_maximum = 1});
        raw_subscribe(stalled[i], 1, "t?room=a", 8, 1);
        REQUIRE(raw_expect(stalled[i], RAW_SUBACK)->code == 1, "subscribe");
    }
    for (int i = 0; i < 6; i++) {
        publish_room(writer, "t", i % 3 == 2 ? "b" : "a");
    }
    client_ping(writer);
    CHECK(broker_log_count(broker, "Outgoing messages are being dropped for client stalled") == 3,
          "%zu log lines", broker_log_count(broker, "Outgoing messages are being dropped"));
    for (size_t i = 0; i < READERS; i++) {
        client_ping(readers[i]);
        size_t n = client_count_payload(readers[i], "a"),
               other = client_count_payload(readers[i], "b");
        CHECK(n == 4 && other == 2, "reader %zu: %zu of 4, %zu of 2", i, n, other);
        size_t lines = 0;
        for (size_t k = 0; k < client_count(readers[i]); k++) {
            lines += strstr(client_message(readers[i], k)->payload, "being dropped") != NULL;
        }
        CHECK(lines == 3, "reader %zu: %zu log lines", i, lines);
    }
    for (size_t i = 0; i < N_ROWS(stalled); i++) {
        CHECK(raw_ping(stalled[i], NULL, 0) == 1, "stalled %zu", i);
    }
}

/* GET `path` from the second port; the whole answer. */
static void http_get(struct broker *broker, const char *path, char *answer, size_t max) {
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)broker_port(broker, 2))};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    REQUIRE(fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) == 0, "connect");
    char request[256];
    int bytes = snprintf(request, sizeof request,
                         "GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", path);
    CHECK(send(fd, request, (size_t)bytes, MSG_NOSIGNAL) == bytes, "send");
    size_t used = 0;
    for (ssize_t n; used < max - 1 && (n = read(fd, answer + used, max - 1 - used)) > 0;) {
        used += (size_t)n;
    }
    answer[used] = '\0';
    close(fd);
}

static void test_the_http_api_is_left_alone(void) {
    struct broker *broker =
        broker_new(PLUGIN NO_STATE LISTENER("1") "listener @PORT2@ 127.0.0.1\nprotocol "
                                                 "http_api\nallow_anonymous true\n");
    broker_expect_failure(broker);
    if (!broker_try_run(broker)) {
        CHECK(broker_log_count(broker, "not loaded") == 0, "it failed for another reason");
        test_note("this broker is built without the HTTP API");
        return;
    }
    struct client *writer = client_open(broker, "writer");
    struct client *reader = client_open(broker, "http-api"); /* the name that the API goes by */
    REQUIRE(client_subscribe(reader, "/api/v1/%23?room=a", 1) == 1, "subscribe");
    for (int i = 0; i < 50; i++) {
        client_publish_later(writer, &(struct publish){.topic = "/api/v1/version",
                                                       .qos = 1,
                                                       .user = USER("room", i % 2 ? "a" : "b")});
        char answer[4096];
        http_get(broker, "/api/v1/version", answer, sizeof answer);
        CHECK(strstr(answer, "200 OK") != NULL, "%s", answer);
    }
    REQUIRE(client_flush(writer), "flush");
    size_t n = count_arrived(reader, writer);
    CHECK(n == 25, "%zu", n);
    CHECK(broker_stop(broker) == 0, "status %d", broker_status(broker));
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        TEST(test_dynamic_security_sees_the_base_topic),
        TEST(test_a_denied_filter_leaves_nothing_behind),
        TEST(test_a_denied_replacement_leaves_the_old_filter),
        TEST(test_acl_file_decides_at_delivery),
        TEST(test_a_denial_by_default_stays_one),
        TEST(test_a_kick_by_dynamic_security_changes_no_filter),
        TEST(test_a_kick_that_removes_one_of_several),
        TEST(test_a_kick_in_the_middle_of_a_subscribe),
        TEST(test_a_kick_in_the_middle_of_a_delivery),
        TEST(test_a_kick_between_two_copies_for_one_client),
        TEST(test_a_subscription_that_nobody_saw),
        TEST(test_a_plugin_that_grants_everything_behind_us),
        TEST(test_topic_filters_rewritten_by_a_plugin),
        TEST(test_topic_filters_rewritten_during_the_check),
        TEST(test_properties_rewritten_by_a_plugin),
        TEST(test_messages_published_by_a_plugin),
        TEST(test_log_lines_as_messages),
        TEST(test_a_log_line_in_the_middle_of_a_delivery),
        TEST(test_the_http_api_is_left_alone),
    };
    return run_tests(argc, argv, cases, N_ROWS(cases));
}
