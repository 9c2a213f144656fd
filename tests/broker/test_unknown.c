/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sessions whose subscriptions the plugin has never seen, because they are older than it: nothing they get
 * changes, and a filter is refused, with the way out in the log, until everything they hold is known. And sessions
 * that have changed while the broker ran without the plugin.
 */
#include "scenario.h"

#include <stdio.h>
#include <stdlib.h>

#define REASON "subscribe again to all of them, or connect with Clean Start"

static const char *const stores[] = {PERSISTENT, "persistence_location @DIR@/\n" SQLITE
                                                 "plugin_opt_flush_period 0\n"};

/* Run the broker with the plugin, or without, on what it has kept. */
static void rerun(struct broker *broker, bool with_plugin, const char *store) {
    broker_stop(broker);
    broker_configure(broker, "%s%s%s", with_plugin ? PLUGIN : "",
                     with_plugin ? "plugin_opt_state_file @DIR@/" STATE_FILE "\n" : "", store);
    broker_run(broker);
}

/* A broker with the plugin, with a session "old" from before it: t, u/#, both plain, and a group that mosquitto.db
 * does not save. */
static struct broker *broker_with_old_session(const char *store, struct client **old_out) {
    struct broker *broker = broker_start("%s", store);
    struct client *old = keep(broker, "old");
    subscribe(old, "t", 1);
    subscribe(old, "u/#", 1);
    client_disconnect(old);
    rerun(broker, true, store);
    *old_out = old;
    return broker;
}

static void test_nothing_is_lost(void) {
    for (size_t i = 0; i < N_ROWS(stores); i++) {
        struct client *old;
        struct broker *broker = broker_with_old_session(stores[i], &old);
        struct client *writer = client_open(broker, "writer");
        struct client *filtered = keep(broker, "filtered"); /* so that there are filters at all */
        subscribe(filtered, "t?x=1", 1);
        publish(writer, "t", "a", 1, "2");
        client_reconnect(old);
        REQUIRE(client_session_present(old), "store %zu: kept", i);
        publish(writer, "t", "b", 1, "2");
        publish(writer, "u/v", "c", 1, NULL);
        subscribe_refused(broker, old, "t?x=1", REASON);
        publish(writer, "t", "d", 1, "2");
        const char *got = arrived(old, writer);
        CHECK(strcmp(got, "a b c d") == 0, "store %zu: '%s' arrived", i, got);
        CHECK_ARRIVED(filtered, writer, "");
    }
}

/* The ways out that the log names, and removing what is not known. */
static void test_ways_out(void) {
    for (size_t i = 0; i < N_ROWS(stores); i++) {
        struct client *old;
        struct broker *broker = broker_with_old_session(stores[i], &old);
        struct client *writer = client_open(broker, "writer");
        client_reconnect(old);
        subscribe(old, "t", 1);
        subscribe_refused(broker, old, "t?x=1", REASON); /* not all yet */
        subscribe(old, "new", 1);
        subscribe_refused(broker, old, "new?x=1", REASON);
        subscribe(old, "u/#", 1);
        subscribe(old, "t?x=1", 1);
        publish(writer, "t", "no", 1, "2");
        publish(writer, "t", "a", 1, "1");
        publish(writer, "u/v", "b", 1, "2");
        CHECK_ARRIVED(old, writer, "a b");
        client_disconnect(old);

        broker = broker_with_old_session(stores[i], &old);
        writer = client_open(broker, "writer");
        client_reconnect(old);
        CHECK(client_unsubscribe(old, "t") == 0 && client_unsubscribe(old, "u/#") == 0,
              "unsubscribe");
        subscribe(old, "t?x=1", 1);
        publish(writer, "t", "no", 1, "2");
        publish(writer, "t", "a", 1, "1");
        CHECK_ARRIVED(old, writer, "a");
        client_disconnect(old);

        broker = broker_with_old_session(stores[i], &old);
        writer = client_open(broker, "writer");
        struct client *clean =
            client_connect(broker, &(struct client_options){.id = "old", .expiry_s = 3600});
        subscribe(clean, "t?x=1", 1);
        publish(writer, "t", "no", 1, "2");
        publish(writer, "t", "a", 1, "1");
        CHECK_ARRIVED(clean, writer, "a");
    }
}

/* A kick removes a known subscription of such a session: then the broker counts as many as we know, but others. */
static void test_a_kick_does_not_make_them_known(void) {
    for (int by_another = 0; by_another <= 1; by_another++) {
        struct broker *broker = broker_start(PERSISTENT);
        struct client *old = keep(broker, "old");
        if (!by_another) {
            subscribe(old, "+/b", 1); /* before the plugin */
        }
        client_disconnect(old);
        broker_stop(broker);
        broker_configure(broker, PLUGIN OTHER("kick") PERSISTENT);
        broker_run(broker);
        struct client *writer = client_open(broker, "writer");
        client_reconnect(old);
        if (by_another) {
            publish(writer, "add", "old +/b", 1, NULL);
            subscribe_refused(broker, old, "x?x=1", REASON);
        }
        subscribe(old, "a/+", 1);
        publish(writer, "deny", "a/+", 1, NULL);
        publish(writer, "kick", "old", 1, NULL);
        client_await_closed(old);
        publish(writer, "deny", "", 1, NULL);
        client_reconnect(old);
        REQUIRE(client_session_present(old), "kept");
        subscribe_refused(broker, old, "a/b?x=1", REASON);
        publish(writer, "a/b", "a", 1, "2");
        CHECK_ARRIVED(old, writer, "a");
        subscribe(old, "+/b", 1);
        subscribe(old, "a/b?x=1", 1);
        publish(writer, "a/b", "b", 1, "2");
        publish(writer, "a/b", "c", 1, "1");
        CHECK_ARRIVED(old, writer, "b c c");
    }
}

/* Texts that were literal topics when they were subscribed to. */
static void test_literal_question_marks_from_before(void) {
    struct broker *broker = broker_start(PERSISTENT);
    struct client *old = keep(broker, "old");
    subscribe(old, "t?x=1", 1);
    client_disconnect(old);
    rerun(broker, true, PERSISTENT);
    struct client *writer = client_open(broker, "writer");
    publish(writer, "t", "no", 1, "1");
    publish(writer, "t?x=1", "literal", 1, NULL);
    client_reconnect(old);
    CHECK_ARRIVED(old, writer, "literal");
    subscribe_refused(broker, old, "t?x=1", REASON);
    client_disconnect(old);
    struct client *clean = client_open(broker, "old");
    subscribe(clean, "t?x=1", 1);
    publish(writer, "t?x=1", "literal", 1, NULL);
    publish(writer, "t", "no", 1, "2");
    publish(writer, "t", "a", 1, "1");
    CHECK_ARRIVED(clean, writer, "a");
}

/* A session with filters that goes on without the plugin for a while. Afterwards the state file is what was
 * subscribed to: filters hold again, what was made without the plugin is not known, and is not delivered rather
 * than guessed. */
static void test_a_time_without_the_plugin(void) {
    struct broker *broker = broker_start(PLUGIN PERSISTENT);
    struct client *reader = keep(broker, "reader");
    subscribe(reader, "t?x=1", 1);
    subscribe(reader, "u", 1);
    client_disconnect(reader);
    rerun(broker, false, PERSISTENT);
    struct client *writer = client_open(broker, "writer");
    publish(writer, "t", "a", 1, "2"); /* this is what removing the plugin means */
    client_reconnect(reader);
    CHECK_ARRIVED(reader, writer, "a");
    subscribe(reader, "v", 1);
    client_disconnect(reader);

    rerun(broker, true, PERSISTENT);
    writer = client_open(broker, "writer");
    client_reconnect(reader);
    publish(writer, "t", "no", 1, "2");
    publish(writer, "t", "b", 1, "1");
    publish(writer, "u", "c", 1, "2");
    publish(writer, "v", "unknown", 1, "1");
    REQUIRE(client_await(reader, 2), "what is known");
    client_ping(writer);
    CHECK(client_count_payload(reader, "no") == 0 && client_count_payload(reader, "unknown") == 0,
          "%zu", client_count(reader));
    CHECK(client_count_payload(reader, "b") == 1 && client_count_payload(reader, "c") == 1, "%zu",
          client_count(reader));
    subscribe_refused(broker, reader, "t?x=2", REASON);
    /* The fence's own subscription was made without the plugin as well. */
    subscribe(reader, "fence/reader", 2);
    subscribe(reader, "v", 1);
    subscribe(reader, "t?x=2", 1);
    client_clear(reader);
    publish(writer, "t", "no", 1, "1");
    publish(writer, "t", "d", 1, "2");
    publish(writer, "v", "e", 1, "1");
    CHECK_ARRIVED(reader, writer, "d e");
    CHECK(broker_log_count(broker,
                           "client reader holds subscriptions that this plugin did not see") == 1,
          "logged once");
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        TEST(test_nothing_is_lost),
        TEST(test_ways_out),
        TEST(test_a_kick_does_not_make_them_known),
        TEST(test_literal_question_marks_from_before),
        TEST(test_a_time_without_the_plugin),
    };
    return run_tests(argc, argv, cases, N_ROWS(cases));
}
