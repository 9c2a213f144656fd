/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Filters after the broker has been ended or has crashed. What the broker restores of a session knows nothing of
 * filters, nothing of shared subscriptions (mosquitto.db), and after a crash is as old as its last save; the
 * journal puts that right before anything is delivered. tests/broker/test_state_file.c is about the journal
 * itself.
 */
#include "scenario.h"

#include <stdio.h>
#include <stdlib.h>

/* The broker's own store, or the plugin that comes with it, which is loaded after ours. */
static const struct store {
    const char *name;
    const char *config;
    bool is_db; /* mosquitto.db: only broker_save writes it before the end */
} stores[] = {
    {"mosquitto.db", PLUGIN PERSISTENT, true},
    {"sqlite",
     PLUGIN "plugin_opt_state_file @DIR@/" STATE_FILE "\n" SQLITE "plugin_opt_flush_period 0\n",
     false},
};

/* Make what has happened durable, as the broker sees it. */
static void save(struct broker *broker, const struct store *store, struct client *client) {
    if (store->is_db) {
        broker_save(broker);
    }
    client_ping(client); /* the save is over, a turn of the loop has passed */
    client_ping(client);
}

static void restart(struct broker *broker, bool crash) {
    if (crash) {
        broker_kill(broker);
    } else {
        broker_stop(broker);
    }
    broker_run(broker);
}

/* Both stores, after an orderly end and after a crash: four rows. */
#define FOR_ALL_ENDS(store, crash)                                                                 \
    for (unsigned row_ = 0; row_ < 4; row_++)                                                      \
        for (const struct store *store = &stores[row_ / 2]; store != NULL; store = NULL)           \
            for (int crash = row_ % 2, once_ = 1; once_ == 1; once_ = 0)

static const char *end_name(bool crash) {
    return crash ? "SIGKILL" : "SIGTERM";
}

static void test_filters_come_back(void) {
    FOR_ALL_ENDS(store, crash) {
        struct broker *broker = broker_start("%s", store->config);
        struct client *writer = client_open(broker, "writer");
        struct client *reader = keep(broker, "reader");
        subscribe(reader, "t?x=1", 1);
        subscribe(reader, "u/+", 2);
        subscribe(reader, "$share/g/s?x=1", 1);
        subscribe(reader, "$share/h/r", 1);
        client_disconnect(reader);
        publish(writer, "t", "no", 1, "2");
        publish(writer, "t", "queued", 1, "1");
        save(broker, store, writer);
        client_disconnect(writer);
        restart(broker, crash);

        /* The very first message after the start. */
        writer = client_open(broker, "writer");
        publish(writer, "t", "no", 1, "2");
        publish(writer, "t", "a", 1, "1");
        publish(writer, "u/v", "b", 1, "2");
        publish(writer, "s", "no", 1, "2");
        publish(writer, "s", "c", 1, "1");
        publish(writer, "r", "d", 1, "2");
        client_reconnect(reader);
        CHECK(client_session_present(reader), "%s, %s", store->name, end_name(crash));
        publish(writer, "t", "no", 2, "2");
        publish(writer, "t", "e", 2, "1");
        const char *got = arrived(reader, writer);
        CHECK(strcmp(got, "queued a b c d e") == 0, "%s, %s: '%s' arrived", store->name,
              end_name(crash), got);
        CHECK(broker_log_count(broker, "1 sessions restored with 2 filters; 0 more") == 1, "log");
    }
}

/* Options and Subscription Identifier too, and for the shared ones, which the broker does not save at all. */
static void test_options_come_back(void) {
    FOR_ALL_ENDS(store, crash) {
        struct broker *broker = broker_start("%s", store->config);
        struct client *writer = client_open(broker, "writer");
        struct client *reader = keep(broker, "reader");
        const struct subscribe subscriptions[] = {
            {.topic = "t?x=1", .qos = 1, .id = 5, .retain_as_published = true},
            {.topic = "t/%23?x=1", .qos = 2, .id = 6, .no_local = true},
            {.topic = "$share/g/t?x=1", .qos = 0, .id = 7},
            {.topic = "+", .qos = 0, .id = 8},
        };
        for (size_t i = 0; i < N_ROWS(subscriptions); i++) {
            REQUIRE(client_subscribe_with(reader, &subscriptions[i]) == subscriptions[i].qos, "%s",
                    subscriptions[i].topic);
        }
        save(broker, store, writer);
        client_disconnect(writer);
        client_disconnect(reader);
        restart(broker, crash);
        writer = client_open(broker, "writer");
        client_reconnect(reader);
        publish(reader, "t", "own", 1, "2");
        client_publish(
            writer,
            &(struct publish){
                .topic = "t", .payload = "m", .qos = 2, .retain = true, .user = USER("x", "1")});
        client_fence(reader, writer);
        unsigned seen[9] = {0};
        for (size_t i = 0; i < client_count(reader); i++) {
            const struct message *message = client_message(reader, i);
            REQUIRE(message->n_ids == 1 && message->ids[0] < N_ROWS(seen), "%zu identifiers",
                    message->n_ids);
            uint32_t id = message->ids[0];
            if (strcmp(message->payload, "own") == 0) {
                CHECK(id == 8, "%s, %s: identifier %u", store->name, end_name(crash), id);
                continue;
            }
            seen[id]++;
            int qos = id < 7 ? subscriptions[id - 5].qos : 0;
            CHECK(message->qos == qos, "%s: identifier %u: QoS %d", store->name, id, message->qos);
            CHECK(message->retain == (id == 5), "%s: identifier %u: retain", store->name, id);
        }
        for (uint32_t id = 5; id <= 8; id++) {
            CHECK(seen[id] == 1, "%s, %s: identifier %u: %u copies", store->name, end_name(crash),
                  id, seen[id]);
        }
    }
}

/* A subscription that was removed, or got another filter, after the broker's last save. */
static void test_what_was_removed_before_a_crash_stays_removed(void) {
    for (size_t i = 0; i < N_ROWS(stores); i++) {
        struct broker *broker = broker_start("%s", stores[i].config);
        struct client *writer = client_open(broker, "writer");
        struct client *reader = keep(broker, "reader");
        subscribe(reader, "a?x=1", 1);
        subscribe(reader, "b?x=1", 1);
        subscribe(reader, "c", 1);
        subscribe(reader, "d?x=1", 1);
        subscribe(reader, "e", 1);
        subscribe(reader, "$share/g/s?x=1", 1);
        subscribe(reader, "$share/g/r?x=1", 1);
        save(broker, &stores[i], writer);
        CHECK(client_unsubscribe(reader, "b") == 0, "b");
        CHECK(client_unsubscribe(reader, "c") == 0, "c");
        subscribe(reader, "d?x=2", 1);
        subscribe(reader, "e?x=2", 1);
        subscribe(reader, "$share/g/s?x=2", 1); /* another group in the broker */
        CHECK(client_unsubscribe(reader, "$share/g/r?x=1") == 0, "r");
        subscribe(reader, "f?x=1", 1);
        /* Twice: what the first start has put right is not saved either. */
        for (int crash = 1; crash <= 2; crash++) {
            client_drop(writer);
            client_drop(reader);
            broker_kill(broker);
            broker_run(broker);
            writer = client_open(broker, "writer");
            client_reconnect(reader);
            static const char *const topics[] = {"a", "b", "c", "d", "e", "f", "r", "s"};
            for (size_t k = 0; k < N_ROWS(topics); k++) {
                for (const char *x = "1\0002"; *x != '\0'; x += 2) {
                    char payload[8];
                    snprintf(payload, sizeof payload, "%s%s", topics[k], x);
                    publish(writer, topics[k], payload, 1, x);
                    if (*x == '2') {
                        break;
                    }
                }
            }
            const char *got = arrived(reader, writer);
            CHECK(strcmp(got, "a1 d2 e2 f1 s2") == 0, "%s, crash %d: '%s' arrived", stores[i].name,
                  crash, got);
        }
    }
}

/* The whole session was over when the broker crashed, but its last save still has it. */
static void test_sessions_that_ended_before_a_crash(void) {
    static const struct {
        const char *name;
        bool expires;      /* it ends by time; else by Clean Start */
        bool kept_again;   /* then there is another session, which the broker never saves */
        const char *topic; /* what that one subscribes to */
    } rows[] = {
        {"clean start", false, false, NULL},
        {"clean start, then a plain session", false, true, "u"},
        {"clean start, then another filter", false, true, "u?x=1"},
        {"expiry", true, false, NULL},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        struct broker *broker = broker_start(PLUGIN PERSISTENT);
        struct client *writer = client_open(broker, "writer");
        struct client *reader = client_connect(
            broker, &(struct client_options){
                        .id = "reader", .keep = true, .expiry_s = rows[i].expires ? 1 : 3600});
        subscribe(reader, "t?x=1", 1);
        broker_save(broker);
        client_ping(writer);
        client_disconnect(reader);
        if (rows[i].expires) {
            REQUIRE(broker_await_log(broker, "Expiring client reader due to timeout"), "no expiry");
            client_disconnect(keep(broker, "reader"));
        } else {
            struct client *last = client_connect(
                broker, &(struct client_options){.id = "reader",
                                                 .expiry_s = rows[i].kept_again ? 3600 : 0});
            if (rows[i].topic != NULL) {
                subscribe(last, rows[i].topic, 1);
            }
            client_disconnect(last);
        }
        client_drop(writer);
        broker_kill(broker);
        broker_run(broker);
        writer = client_open(broker, "writer");
        publish(writer, "t", "no", 1, "2");
        struct client *again = keep(broker, "reader");
        publish(writer, "t", "no", 1, "2");
        const char *got = arrived(again, writer);
        CHECK(strstr(got, "no") == NULL, "%s: '%s' arrived", rows[i].name, got);
    }
}

/* After a session with a filter has ended, the next one of that name takes the same topic without: what is
 * remembered of the first must not take that away, whichever of the two the broker has saved. */
static void test_the_next_session_of_the_name_is_another(void) {
    static const bool saved_again[] = {false, true};
    for (size_t i = 0; i < N_ROWS(saved_again); i++) {
        struct broker *broker = broker_start(PLUGIN PERSISTENT);
        struct client *writer = client_open(broker, "writer");
        struct client *reader = keep(broker, "reader");
        subscribe(reader, "t?x=1", 1);
        subscribe(reader, "u?x=1", 1);
        broker_save(broker);
        client_ping(writer);
        client_disconnect(reader);
        client_disconnect(client_open(broker, "reader"));
        client_reconnect(reader);
        CHECK(!client_session_present(reader), "row %zu: a new one", i);
        subscribe(reader, "t", 1);
        subscribe(reader, "v", 1);
        client_disconnect(reader);
        if (saved_again[i]) {
            broker_save(broker);
            client_ping(writer);
        }
        for (int crash = 1; crash <= 2; crash++) {
            client_drop(writer);
            broker_kill(broker);
            broker_run(broker);
            writer = client_open(broker, "writer");
            publish(writer, "t", "a", 1, "2");
            publish(writer, "u", "no", 1, "1");
            client_reconnect(reader);
            CHECK(client_session_present(reader), "row %zu: it is kept", i);
            publish(writer, "t", "b", 1, "2");
            client_ping(reader);
            REQUIRE(client_await(reader, 2), "row %zu, crash %d: t is lost", i, crash);
            CHECK(client_count_payload(reader, "no") == 0, "row %zu, crash %d: u", i, crash);
            client_clear(reader);
            client_disconnect(reader);
        }
    }
}

/* mosquitto.db has no sessions whose last CONNECT had Clean Start. The journal must not bring their filters back
 * to whoever comes under that name. */
static void test_sessions_that_the_broker_lost(void) {
    static const bool crashes[] = {false, true};
    for (size_t i = 0; i < N_ROWS(crashes); i++) {
        struct broker *broker = broker_start(PLUGIN PERSISTENT);
        struct client *lost =
            client_connect(broker, &(struct client_options){.id = "lost", .expiry_s = 3600});
        subscribe(lost, "t?x=1", 1);
        struct client *kept = keep(broker, "kept");
        subscribe(kept, "t?x=1", 1);
        broker_save(broker);
        client_disconnect(lost);
        client_disconnect(kept);
        restart(broker, crashes[i]);
        struct client *writer = client_open(broker, "writer");
        CHECK(broker_log_count(broker,
                               "1 sessions restored with 1 filters; 1 more in the state file "
                               "are over") == 1,
              "log");
        CHECK(count_lines(broker, STATE_FILE, "\"lost\",\"forgotten\"") == 1, "swept");
        struct client *again = keep(broker, "lost");
        CHECK(!client_session_present(again), "lost");
        subscribe(again, "t", 1);
        publish(writer, "t", "a", 1, "2");
        CHECK_ARRIVED(again, writer, "a");
        client_reconnect(kept);
        CHECK_ARRIVED(kept, writer, "");
    }
}

/* Restored with the persistence plugin, which keeps those as well. */
static void test_sqlite_keeps_clean_start_sessions(void) {
    struct broker *broker = broker_start("%s", stores[1].config);
    struct client *reader =
        client_connect(broker, &(struct client_options){.id = "reader", .expiry_s = 3600});
    subscribe(reader, "t?x=1", 1);
    client_disconnect(reader);
    restart(broker, false);
    struct client *writer = client_open(broker, "writer");
    publish(writer, "t", "no", 1, "2");
    publish(writer, "t", "a", 1, "1");
    struct client *again = keep(broker, "reader");
    CHECK(client_session_present(again), "kept");
    CHECK_ARRIVED(again, writer, "a");
}

/* A client that has left a share group for another filter, ended its session, and come back plain: nothing of the
 * group may be left in the persistence plugin's file. */
static void test_sqlite_forgets_groups_that_were_left(void) {
    struct broker *broker = broker_start("%s", stores[1].config);
    struct client *writer = client_open(broker, "writer");
    struct client *reader = keep(broker, "reader");
    subscribe(reader, "$share/g/s?x=1", 1);
    subscribe(reader, "$share/g/s?x=2", 1);
    subscribe(reader, "$share/g/s", 1);
    subscribe(reader, "$share/g/s?x=3", 1);
    client_disconnect(reader);
    client_disconnect(client_open(broker, "reader"));
    client_reconnect(reader);
    subscribe(reader, "u", 1);
    client_disconnect(reader);
    client_disconnect(writer);
    restart(broker, false);
    writer = client_open(broker, "writer");
    for (const char *const *x = (const char *const[]){"1", "2", "3", NULL}; *x != NULL; x++) {
        publish(writer, "s", "no", 1, *x);
    }
    publish(writer, "u", "yes", 1, NULL);
    client_reconnect(reader);
    CHECK_ARRIVED(reader, writer, "yes");
}

/* Which options the broker is started with matters for new subscriptions; those that are in force stay. */
static void test_filters_survive_a_change_of_options(void) {
    static const struct {
        const char *options;
        const char *new_subscription;
        int code;
    } rows[] = {
        {"plugin_opt_dialects kv\n", "v?sql:x = '1'", 0x87},
        {"plugin_opt_max_expression_bytes 3\n", "v?x=11", 0x87},
        {"plugin_opt_max_filters_per_client 1\n", "v?x=1", 0x87},
        {"plugin_opt_enabled false\n", "v?x=1", 1}, /* a literal topic */
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        struct broker *broker = broker_start(PLUGIN PERSISTENT);
        struct client *reader = keep(broker, "reader");
        subscribe(reader, "t?sql:x = '1'", 1);
        subscribe(reader, "u?x=1", 1);
        client_disconnect(reader);
        broker_stop(broker);
        broker_configure(broker, PLUGIN "%s" PERSISTENT, rows[i].options);
        broker_run(broker);
        struct client *writer = client_open(broker, "writer");
        client_reconnect(reader);
        int code = client_subscribe(reader, rows[i].new_subscription, 1);
        CHECK(code == rows[i].code, "row %zu: 0x%02x", i, (unsigned)code);
        for (const char *const *x = (const char *const[]){"1", "2", NULL}; *x != NULL; x++) {
            publish(writer, "t", *x, 1, *x);
            publish(writer, "u", *x, 1, *x);
            publish(writer, "v", *x, 1, *x);
        }
        const char *got = arrived(reader, writer);
        CHECK(strcmp(got, "1 1") == 0, "row %zu: '%s' arrived", i, got);
    }
}

/* Names that need care in a file of JSON Lines. */
static void test_unusual_names_come_back(void) {
    static const char *const ids[] = {"say \"hi\"", "back\\slash", "\xC3\xBC\xF0\x9F\x98\x80",
                                      "{\"client\":\"x\",\"ended\":true}", "none"};
    FOR_ALL_ENDS(store, crash) {
        struct broker *broker = broker_start("%s", store->config);
        struct client *writer = client_open(broker, "writer");
        struct client *readers[N_ROWS(ids)];
        for (size_t i = 0; i < N_ROWS(ids); i++) {
            readers[i] = keep(broker, ids[i]);
            subscribe(readers[i], "a%3Fb/\"c\"\\/\xF0\x9F\x98\x80?x=\"1\"&y>-5", 1);
            subscribe(readers[i], "$share/g \"q\"/a%3Fb?sql:\"we \"\"ird\" = 'it''s \\ %2525'", 1);
        }
        save(broker, store, writer);
        for (size_t i = 0; i < N_ROWS(ids); i++) {
            client_disconnect(readers[i]);
        }
        client_disconnect(writer);
        restart(broker, crash);
        writer = client_open(broker, "writer");
        const struct publish messages[] = {
            {.topic = "a?b/\"c\"\\/\xF0\x9F\x98\x80",
             .payload = "1",
             .qos = 1,
             .user = USER("x", "\"1\"", "y", "4")},
            {.topic = "a?b/\"c\"\\/\xF0\x9F\x98\x80",
             .payload = "2",
             .qos = 1,
             .user = USER("x", "1", "y", "4")},
            {.topic = "a?b", .payload = "3", .qos = 1, .user = USER("we \"ird", "it's \\ %25")},
            {.topic = "a?b", .payload = "4", .qos = 1, .user = USER("we \"ird", "it's \\ %2525")},
        };
        for (size_t i = 0; i < N_ROWS(messages); i++) {
            client_publish(writer, &messages[i]);
        }
        size_t shared = 0;
        for (size_t i = 0; i < N_ROWS(ids); i++) {
            client_reconnect(readers[i]);
            const char *got = arrived(readers[i], writer);
            shared += strcmp(got, "1 3") == 0;
            CHECK(strcmp(got, "1") == 0 || strcmp(got, "1 3") == 0, "%s, %s, client %s: '%s'",
                  store->name, end_name(crash), ids[i], got);
        }
        CHECK(shared == 1, "%s: %zu members got the message of the group", store->name, shared);
    }
}

/* With nothing to keep the filters in, and sessions that are kept: a warning, and the refusal of what cannot be
 * decided. */
static void test_without_a_place_for_the_journal(void) {
    static const struct {
        const char *config;
        size_t warnings;
    } rows[] = {
        {PLUGIN, 1},
        {PLUGIN NO_STATE, 0},
        {PLUGIN SQLITE "plugin_opt_flush_period 0\n", 1},
        {PLUGIN NO_STATE PERSISTENT, 0},
        {PLUGIN PERSISTENT, 0},
        {PLUGIN "plugin_opt_state_file @DIR@/elsewhere.jsonl\n", 0},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        struct broker *broker = broker_start("%s", rows[i].config);
        struct client *reader = keep(broker, "reader");
        subscribe(reader, "t?x=1", 1);
        size_t n = broker_log_count(broker, "filters will not survive a restart of the broker");
        CHECK(n == rows[i].warnings, "row %zu: %zu warnings", i, n);
        bool in_place = i == 4;
        CHECK((count_lines(broker, STATE_FILE, "reader") > 0) == in_place,
              "row %zu: the default place", i);
        CHECK((count_lines(broker, "elsewhere.jsonl", "reader") > 0) == (i == 5),
              "row %zu: elsewhere", i);
    }

    /* state_file none with sessions that come back: unfiltered, as the documentation says, and new filters are
     * refused until the client has subscribed again. */
    struct broker *broker = broker_start(PLUGIN NO_STATE PERSISTENT);
    struct client *reader = keep(broker, "reader");
    subscribe(reader, "t?x=1", 1);
    client_disconnect(reader);
    restart(broker, false);
    client_reconnect(reader);
    CHECK(client_session_present(reader), "kept");
    subscribe_refused(broker, reader, "t?x=1", "connect with Clean Start");
    subscribe(reader, "t", 1);
    subscribe(reader, "t?x=1", 1);
    struct client *writer = client_open(broker, "writer");
    publish(writer, "t", "no", 1, "2");
    publish(writer, "t", "yes", 1, "1");
    CHECK_ARRIVED(reader, writer, "yes");
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        TEST(test_filters_come_back),
        TEST(test_options_come_back),
        TEST(test_what_was_removed_before_a_crash_stays_removed),
        TEST(test_sessions_that_ended_before_a_crash),
        TEST(test_the_next_session_of_the_name_is_another),
        TEST(test_sessions_that_the_broker_lost),
        TEST(test_sqlite_keeps_clean_start_sessions),
        TEST(test_sqlite_forgets_groups_that_were_left),
        TEST(test_filters_survive_a_change_of_options),
        TEST(test_unusual_names_come_back),
        TEST(test_without_a_place_for_the_journal),
    };
    return run_tests(argc, argv, cases, N_ROWS(cases));
}
