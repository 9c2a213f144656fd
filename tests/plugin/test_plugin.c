/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The plugin as a whole, its events called by the test in the broker's place: what depends on which thread asks, on events
 * in the middle of things, and on being loaded twice. */
#include "fake_broker.h"
#include "runner.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* the entry points, as the broker finds them */
int mosquitto_plugin_version(int count, const int *versions);
int mosquitto_plugin_init(mosquitto_plugin_id_t *id, void **user, struct mosquitto_opt *options,
                          int n);
int mosquitto_plugin_cleanup(void *user, struct mosquitto_opt *options, int n);

static char identity; /* its address is the plugin's identity */
static void *user;

static mosquitto_plugin_id_t *plugin_id(void) {
    return (mosquitto_plugin_id_t *)(void *)&identity;
}

static void unload(void *unused) {
    (void)unused;
    mosquitto_plugin_cleanup(user, NULL, 0);
    user = NULL;
    fake_reset();
}

static struct mosquitto_opt options[] = {{(char[]){"state_file"}, (char[]){"none"}}};

static void tick(time_t now) {
    struct mosquitto_evt_tick event = {.now_s = now};
    CHECK(fake_call(MOSQ_EVT_TICK, &event) == MOSQ_ERR_SUCCESS, "tick");
}

static void load(void) {
    fake_reset();
    REQUIRE(mosquitto_plugin_init(plugin_id(), &user, options, 1) == MOSQ_ERR_SUCCESS, "%s",
            fake_log());
    test_defer(unload, NULL);
    tick(1);
}

static struct mosquitto *connect_client(size_t place, const char *id) {
    struct mosquitto *client = fake_place(place, id);
    fake_register(client);
    client->clean_start = true;
    struct mosquitto_evt_connect event = {.client = client};
    CHECK(fake_call(MOSQ_EVT_CONNECT, &event) == MOSQ_ERR_SUCCESS, "connect %s", id);
    return client;
}

/* One entry of a SUBSCRIBE, through the chain. Returns whether it was accepted. */
static bool subscribe(struct mosquitto *client, const char *text) {
    char *buffer = strdup(text);
    struct mosquitto_evt_acl_check check = {
        .client = client, .topic = buffer, .access = MOSQ_ACL_SUBSCRIBE};
    int rc = fake_call(MOSQ_EVT_ACL_CHECK, &check);
    if (rc == MOSQ_ERR_PLUGIN_IGNORE) {
        struct mosquitto_evt_subscribe event = {.client = client, .data.topic_filter = buffer};
        rc = fake_call(MOSQ_EVT_SUBSCRIBE, &event);
        if (event.data.topic_filter != buffer) {
            free(event.data.topic_filter);
        }
        client->sub_count += rc == MOSQ_ERR_SUCCESS;
    }
    free(buffer);
    return rc == MOSQ_ERR_SUCCESS;
}

static struct mosquitto_evt_acl_check message(size_t place, const char *topic, const char *k) {
    return fake_message(place, topic, (const char *const[]){"k", k, NULL});
}

static bool passes(struct mosquitto *client, struct mosquitto_evt_acl_check check) {
    check.client = client;
    int rc = fake_call(MOSQ_EVT_ACL_CHECK, &check);
    CHECK(rc == MOSQ_ERR_PLUGIN_IGNORE || rc == MOSQ_ERR_ACL_DENIED, "%d", rc);
    return rc == MOSQ_ERR_PLUGIN_IGNORE;
}

/* The events of a PUBLISH that is at one of the places for messages. */
static void publish_at(size_t place, struct mosquitto *client, const char *topic, const char *k) {
    struct mosquitto_evt_acl_check check = message(place, topic, k);
    check.client = client;
    check.access = MOSQ_ACL_WRITE;
    CHECK(fake_call(MOSQ_EVT_ACL_CHECK, &check) == MOSQ_ERR_PLUGIN_IGNORE, "WRITE");
    struct mosquitto_evt_message event = {.client = client,
                                          .topic = (char *)(uintptr_t)check.topic,
                                          .payload = (void *)(uintptr_t)check.payload,
                                          .properties = check.properties,
                                          .payloadlen = check.payloadlen};
    CHECK(fake_call(MOSQ_EVT_MESSAGE_IN, &event) == MOSQ_ERR_SUCCESS, "MESSAGE_IN");
}

/* ---- loading ---- */

static void test_plugin_version(void) {
    static const struct {
        int versions[3];
        int count, expected;
    } rows[] = {{{5}, 1, 5}, {{2, 3, 5}, 3, 5}, {{5, 6}, 2, 5}, {{2, 3, 4}, 3, -1}, {{0}, 0, -1}};
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        CHECK(mosquitto_plugin_version(rows[i].count, rows[i].versions) == rows[i].expected,
              "row %zu", i);
    }
}

static void test_plugin_loaded_twice(void) {
    load();
    struct mosquitto *client = connect_client(0, "c");
    CHECK(subscribe(client, "t?k=1"), "accepted");
    void *second = NULL;
    CHECK(mosquitto_plugin_init(plugin_id(), &second, options, 1) == MOSQ_ERR_ALREADY_EXISTS,
          "twice");
    CHECK(strstr(fake_log(), "it is loaded twice") != NULL, "%s", fake_log());
    mosquitto_plugin_cleanup(second, options, 1); /* as the broker does after a failure (fact F8) */
    CHECK(!passes(client, message(0, "t", "2")), "the first one still filters");
}

static void test_plugin_after_its_end(void) {
    load();
    struct mosquitto *client = connect_client(0, "c");
    CHECK(subscribe(client, "t?k=1"), "accepted");
    mosquitto_plugin_cleanup(user, NULL, 0);
    CHECK(passes(client, message(0, "t", "2")), "READ after the end passes");
    struct mosquitto_evt_disconnect event = {.client = client};
    CHECK(fake_call(MOSQ_EVT_DISCONNECT, &event) == MOSQ_ERR_SUCCESS, "an event after the end");
}

static void test_plugin_refuses_bad_options(void) {
    fake_reset();
    struct mosquitto_opt bad[] = {{(char[]){"enabled"}, (char[]){"maybe"}}};
    void *unused = NULL;
    CHECK(mosquitto_plugin_init(plugin_id(), &unused, bad, 1) != MOSQ_ERR_SUCCESS, "loaded");
    CHECK(strcmp(fake_log(), "Error: subscription-filter: not loaded: option plugin_opt_enabled is "
                             "'maybe', but takes true or "
                             "false.\n") == 0,
          "%s", fake_log());
    mosquitto_plugin_cleanup(unused, bad, 1);
    load();
}

/* ---- threads ---- */

struct call {
    struct mosquitto_evt_acl_check check;
    int rc;
};

static void *call_from_elsewhere(void *data) {
    struct call *call = data;
    /* as the HTTP API does: a client on the stack, of which nothing may be believed */
    struct mosquitto client;
    memset(&client, 0xA5, sizeof client);
    call->check.client = &client;
    call->rc = fake_call(MOSQ_EVT_ACL_CHECK, &call->check);
    return NULL;
}

static int call_in_thread(int access, const char *topic) {
    struct call call = {.check = {.topic = topic, .access = access}};
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, call_from_elsewhere, &call) == 0, "pthread_create");
    pthread_join(thread, NULL);
    return call.rc;
}

static void test_calls_from_another_thread_touch_nothing(void) {
    load();
    struct mosquitto *client = connect_client(0, "c");
    CHECK(subscribe(client, "t?k=1") && subscribe(client, "%23?k=2"), "accepted");
    static const int accesses[] = {MOSQ_ACL_READ, MOSQ_ACL_WRITE, MOSQ_ACL_SUBSCRIBE,
                                   MOSQ_ACL_UNSUBSCRIBE};
    for (size_t i = 0; i < N_ROWS(accesses); i++) {
        char topic[] = "t?k=9"; /* not written to */
        struct mosquitto_evt_acl_check check = message(i, "t", "1");
        CHECK(passes(client, check), "access %d: t, k=1", accesses[i]);
        CHECK(call_in_thread(accesses[i], topic) == MOSQ_ERR_PLUGIN_IGNORE, "access %d",
              accesses[i]);
        CHECK(strcmp(topic, "t?k=9") == 0, "access %d: %s", accesses[i], topic);
        CHECK(!passes(client, check), "access %d: the second copy is #'s, k=2", accesses[i]);
    }
}

/* ---- events in the middle ---- */

/* check_retain_source asks WRITE with a client of its own making between retained messages (fact F14, decision D6). */
static void test_write_checks_between_retained_messages(void) {
    load();
    struct mosquitto *client = connect_client(0, "c");
    CHECK(subscribe(client, "+?k=1"), "accepted");
    struct mosquitto source = {.id = "publisher"};
    static const char *const topics[] = {"a", "b", "c"};
    for (size_t i = 0; i < N_ROWS(topics); i++) {
        struct mosquitto_evt_acl_check check = message(i, topics[i], "2");
        check.retain = true;
        CHECK(passes(client, check), "retained %s", topics[i]);
        check.client = &source;
        check.access = MOSQ_ACL_WRITE;
        CHECK(fake_call(MOSQ_EVT_ACL_CHECK, &check) == MOSQ_ERR_PLUGIN_IGNORE, "WRITE");
    }
    struct mosquitto_evt_acl_check check = message(0, "a", "2");
    check.client = client; /* a registered one publishes */
    check.access = MOSQ_ACL_WRITE;
    CHECK(fake_call(MOSQ_EVT_ACL_CHECK, &check) == MOSQ_ERR_PLUGIN_IGNORE, "WRITE");
    check.access = MOSQ_ACL_READ;
    check.retain = true;
    CHECK(!passes(client, check), "live");
}

/* Each event starts a message: the same addresses are then another one. */
static void test_every_event_starts_a_message(void) {
    static const struct {
        int event;
        const char *name;
    } rows[] = {
        {MOSQ_EVT_TICK, "TICK"},
        {MOSQ_EVT_RELOAD, "RELOAD"},
        {MOSQ_EVT_CONNECT, "CONNECT"},
        {MOSQ_EVT_DISCONNECT, "DISCONNECT"},
        {MOSQ_EVT_CLIENT_OFFLINE, "CLIENT_OFFLINE"},
        {MOSQ_EVT_MESSAGE_IN, "MESSAGE_IN"},
    };
    load();
    struct mosquitto *client = connect_client(0, "c");
    struct mosquitto *other = connect_client(1, "other");
    CHECK(subscribe(client, "t?k=1") && subscribe(client, "%23?k=2"), "accepted");
    static char published[] = "x";
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        struct mosquitto_evt_acl_check check = message(0, "t", "1");
        CHECK(passes(client, check), "%s: the first copy", rows[i].name);
        union {
            struct mosquitto_evt_tick tick;
            struct mosquitto_evt_reload reload;
            struct mosquitto_evt_connect connect;
            struct mosquitto_evt_disconnect disconnect;
            struct mosquitto_evt_client_offline offline;
            struct mosquitto_evt_message message;
        } event;
        memset(&event, 0, sizeof event);
        switch (rows[i].event) {
        case MOSQ_EVT_CONNECT:
            event.connect.client = other;
            break;
        case MOSQ_EVT_DISCONNECT:
            event.disconnect.client = other;
            break;
        case MOSQ_EVT_CLIENT_OFFLINE:
            event.offline.client = other;
            break;
        case MOSQ_EVT_MESSAGE_IN:
            event.message.client = other;
            event.message.topic = published;
            break;
        default:
            break;
        }
        CHECK(fake_call(rows[i].event, &event) == MOSQ_ERR_SUCCESS, "%s", rows[i].name);
        CHECK(passes(client, check), "%s: the first copy of the next one", rows[i].name);
        CHECK(!passes(client, check), "%s: its second", rows[i].name);
    }
}

/* Another plugin kicks a client from MESSAGE_OUT: then the broker goes on with the message under way, after the client's
 * will if it has one. How far others had got with it must not be lost. */
static void test_a_kick_in_the_middle_of_a_message(void) {
    enum { WITH_WILL = 1, OF_A_KEPT_SESSION = 2 };
    for (int kind = 0; kind < 4; kind++) {
        load();
        struct mosquitto *client = connect_client(0, "c");
        struct mosquitto *victim = connect_client(1, "victim");
        struct mosquitto *second = connect_client(2, "second");
        CHECK(subscribe(client, "t?k=1") && subscribe(client, "%23?k=2"), "accepted");
        CHECK(subscribe(second, "t?k=1") && subscribe(second, "%23?k=2"), "accepted");
        CHECK(subscribe(victim, "v?k=1"), "accepted");
        struct mosquitto_evt_acl_check check = message(0, "t", "2");
        CHECK(!passes(client, check) && !passes(second, check), "kind %d: t, k=1", kind);
        if ((kind & OF_A_KEPT_SESSION) != 0) {
            struct mosquitto_evt_acl_check again = {
                .client = victim, .topic = "v", .access = MOSQ_ACL_SUBSCRIBE};
            CHECK(fake_call(MOSQ_EVT_ACL_CHECK, &again) == MOSQ_ERR_PLUGIN_IGNORE, "v");
            struct mosquitto_evt_client_offline event = {.client = victim,
                                                         .reason = MOSQ_ERR_ADMINISTRATIVE_ACTION};
            CHECK(fake_call(MOSQ_EVT_CLIENT_OFFLINE, &event) == MOSQ_ERR_SUCCESS, "offline");
        } else {
            struct mosquitto_evt_disconnect event = {.client = victim,
                                                     .reason = MOSQ_ERR_ADMINISTRATIVE_ACTION};
            CHECK(fake_call(MOSQ_EVT_DISCONNECT, &event) == MOSQ_ERR_SUCCESS, "disconnect");
        }
        if ((kind & WITH_WILL) != 0) {
            struct mosquitto_evt_acl_check will = message(1, "t", "1");
            will.client = victim;
            will.access = MOSQ_ACL_WRITE;
            CHECK(fake_call(MOSQ_EVT_ACL_CHECK, &will) == MOSQ_ERR_PLUGIN_IGNORE, "will");
            will.access = MOSQ_ACL_READ;
            CHECK(passes(client, will) && !passes(client, will), "kind %d: of the will t's", kind);
        }
        CHECK(passes(client, check) && passes(second, check), "kind %d: #, k=2", kind);
        if ((kind & WITH_WILL) != 0) {
            tick(2);
        } else {
            publish_at(0, client, "t", "2");
        }
        check = message(0, "t", "2");
        CHECK(!passes(client, check) && passes(client, check), "kind %d: the next one", kind);
        unload(NULL);
    }
    load();
}

/* They are asked about a message that comes in the middle of a SUBSCRIBE. NULL: none does. */
static struct mosquitto *asked[2];

static int send_in_the_middle(int event, void *event_data, void *unused) {
    (void)event, (void)event_data, (void)unused;
    if (asked[0] != NULL) {
        struct mosquitto_evt_acl_check check = message(0, "t", "1");
        CHECK(passes(asked[0], check) && passes(asked[1], check), "it is wanted");
    }
    return MOSQ_ERR_SUCCESS;
}

/* A plugin behind us kicks a client, whose will is sent before the entry is committed. Then the one who subscribes was not
 * asked about it, and has a subscription that matches. */
static void test_a_will_in_the_middle_of_a_subscribe(void) {
    fake_reset();
    REQUIRE(mosquitto_plugin_init(plugin_id(), &user, options, 1) == MOSQ_ERR_SUCCESS, "%s",
            fake_log());
    test_defer(unload, NULL);
    mosquitto_callback_register(plugin_id(), MOSQ_EVT_SUBSCRIBE, send_in_the_middle, NULL, NULL);
    tick(1);
    struct mosquitto *clients[3];
    for (size_t i = 0; i < N_ROWS(clients); i++) {
        clients[i] = connect_client(i, (const char *const[]){"plain", "filtered", "late"}[i]);
    }
    asked[0] = NULL;
    CHECK(subscribe(clients[0], "+") && subscribe(clients[1], "%23?k=1"), "accepted");
    memcpy(asked, clients, sizeof asked);
    CHECK(subscribe(clients[2], "%2B?k=1"), "accepted");
    struct mosquitto_evt_acl_check check = message(0, "t", "2"); /* at the same addresses */
    CHECK(passes(clients[0], check), "plain");
    CHECK(!passes(clients[2], check), "+, k=1");
    CHECK(!passes(clients[1], check), "#, k=1");
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        TEST(test_plugin_version),
        TEST(test_plugin_loaded_twice),
        TEST(test_plugin_after_its_end),
        TEST(test_plugin_refuses_bad_options),
        TEST(test_calls_from_another_thread_touch_nothing),
        TEST(test_write_checks_between_retained_messages),
        TEST(test_every_event_starts_a_message),
        TEST(test_a_kick_in_the_middle_of_a_message),
        TEST(test_a_will_in_the_middle_of_a_subscribe),
    };
    return run_tests(argc, argv, cases, N_ROWS(cases));
}
