/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How the plugin is loaded: the order among plugins, its options, and the lists of plugins that listeners have. What
 * would let a filter be ignored stops the start, or every filter is refused.
 */
#include "scenario.h"

#include <stdio.h>
#include <string.h>

/* ---- the order of loading ---- */

/* Copy our module to <dir of the broker>/copy.so. */
static void copy_module(struct broker *broker) {
    char path[256];
    snprintf(path, sizeof path, "%s/copy.so", broker_dir(broker));
    FILE *from = fopen(TEST_PLUGIN, "rb"), *to = fopen(path, "wb");
    REQUIRE(from != NULL && to != NULL, "copy %s", path);
    char buffer[65536];
    for (size_t n; (n = fread(buffer, 1, sizeof buffer, from)) > 0;) {
        REQUIRE(fwrite(buffer, 1, n, to) == n, "copy %s", path);
    }
    fclose(from);
    REQUIRE(fclose(to) == 0, "copy %s", path);
}

static void test_a_wrong_order_stops_the_start(void) {
    static const struct {
        const char *config;
        const char *logged; /* names what is to be moved */
    } rows[] = {
        {DYNSEC PLUGIN NO_STATE, "mosquitto_dynamic_security.so is loaded before it"},
        {OTHER("grant") PLUGIN NO_STATE, "test_grant.so is loaded before it"},
        {OTHER("old") PLUGIN NO_STATE, "test_old.so is loaded before it"},
        {OTHER("properties") "plugin " TEST_PLUGIN "\n", "test_properties.so is loaded before it"},
        {"plugin @PLUGINS@/mosquitto_persist_sqlite.so\nplugin_opt_db_file @DIR@/db\n" PLUGIN
             NO_STATE,
         "mosquitto_persist_sqlite.so is loaded before it"},
        {"per_listener_settings true\n" LISTENER("1") OTHER("grant") PLUGIN NO_STATE,
         "test_grant.so is loaded before it"},
        {"plugin_load other " TEST_PLUGINS_DIR "/test_grant.so\nplugin_load ours " TEST_PLUGIN
         "\n" LISTENER("1") "plugin_use ours\nplugin_use other\n",
         "test_grant.so is loaded before it"},
        {PLUGIN NO_STATE PLUGIN NO_STATE, "it is loaded twice"},
        {PLUGIN NO_STATE "plugin " TEST_PLUGIN "\n", "it is loaded twice"},
        {PLUGIN NO_STATE "plugin @DIR@/copy.so\n",
         "mosquitto_subscription_filter.so is loaded before it"},
        {"plugin @DIR@/copy.so\n" PLUGIN NO_STATE, "copy.so is loaded before it"},
        {"per_listener_settings true\n" LISTENER("1") "plugin " TEST_PLUGIN
                                                      "\n" LISTENER("2") "plugin " TEST_PLUGIN "\n",
         "it is loaded twice"},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        struct broker *broker = broker_new("%s", rows[i].config);
        write_dynsec(broker, "");
        copy_module(broker);
        broker_expect_failure(broker);
        CHECK(!broker_try_run(broker), "row %zu: it started", i);
        CHECK(broker_log_count(broker, "subscription-filter: not loaded: ") == 1, "row %zu", i);
        CHECK(broker_log_count(broker, rows[i].logged) == 1, "row %zu: %s", i, rows[i].logged);
        CHECK(broker_status(broker) < 128, "row %zu: status %d", i, broker_status(broker));
    }
}

static void test_the_right_order_starts(void) {
    static const char *const configs[] = {
        PLUGIN NO_STATE DYNSEC,
        PLUGIN NO_STATE OTHER("grant") OTHER("old"),
        "plugin " TEST_PLUGIN "\n" OTHER("old"),
        "auth_plugin " TEST_PLUGIN "\n",
        PLUGIN NO_STATE
        "plugin @PLUGINS@/mosquitto_persist_sqlite.so\nplugin_opt_db_file @DIR@/db\n",
    };
    for (size_t i = 0; i < N_ROWS(configs); i++) {
        struct broker *broker = broker_new("%s", configs[i]);
        write_dynsec(broker, "");
        CHECK(broker_try_run(broker), "row %zu", i);
        struct client *client = client_open(broker, "c");
        CHECK(client_subscribe(client, "t?room=a", 1) == 1, "row %zu", i);
        check_filtered(client, client, "t", configs[i]);
    }
}

static void test_bad_options_stop_the_start(void) {
    static const struct {
        const char *options;
        const char *logged;
    } rows[] = {
        {"plugin_opt_enable true\n", "unknown option plugin_opt_enable; the options are enabled,"},
        {"plugin_opt_Enabled true\n", "unknown option plugin_opt_Enabled"},
        {"plugin_opt_enabled yes\n", "option plugin_opt_enabled is 'yes', but takes true or false"},
        {"plugin_opt_enabled true true\n", "plugin_opt_enabled is 'true true'"},
        {"plugin_opt_dialects kv;sql\n", "plugin_opt_dialects is 'kv;sql', but takes"},
        {"plugin_opt_dialects kv,\n", "plugin_opt_dialects is 'kv,', but takes"},
        {"plugin_opt_dialects xml\n", "plugin_opt_dialects is 'xml', but takes"},
        {"plugin_opt_retained drop\n", "plugin_opt_retained is 'drop', but takes"},
        {"plugin_opt_max_expression_bytes 0\n",
         "plugin_opt_max_expression_bytes is '0', but takes"},
        {"plugin_opt_max_expression_bytes 65536\n", "plugin_opt_max_expression_bytes is '65536'"},
        {"plugin_opt_max_expression_bytes 10k\n", "plugin_opt_max_expression_bytes is '10k'"},
        {"plugin_opt_max_expression_bytes -1\n", "plugin_opt_max_expression_bytes is '-1'"},
        {"plugin_opt_max_filters_per_client 1000001\n", "plugin_opt_max_filters_per_client is"},
        {"plugin_opt_max_filters_per_client 99999999999999999999\n",
         "plugin_opt_max_filters_per_client is"},
        {"plugin_opt_strict_integers maybe\n", "plugin_opt_strict_integers is 'maybe'"},
        {"plugin_opt_enabled true\nplugin_opt_enabled true\n",
         "option plugin_opt_enabled is given twice"},
        {"plugin_opt_x\\y 1\n", "unknown option plugin_opt_x\\x5cy"},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        struct broker *broker = broker_new("global_plugin " TEST_PLUGIN "\n%s", rows[i].options);
        broker_expect_failure(broker);
        CHECK(!broker_try_run(broker), "%s: it started", rows[i].options);
        CHECK(broker_log_count(broker, "subscription-filter: not loaded: ") == 1, "%s",
              rows[i].options);
        CHECK(broker_log_count(broker, rows[i].logged) == 1, "not logged: %s", rows[i].logged);
    }
}

/* ---- listeners ---- */

/* Ours in the list of the first listener only: behind whatever is global, and not asked about the second one. */
#define IN_LIST                                                                                    \
    "plugin_load ours " TEST_PLUGIN                                                                \
    "\nplugin_opt_state_file none\n" LISTENER("1") "plugin_use "                                   \
                                                   "ours\n" LISTENER("2")
#define PER_LISTENER                                                                               \
    "per_listener_settings true\n" LISTENER("1") "plugin " TEST_PLUGIN                             \
                                                 "\nplugin_opt_state_file none\n" LISTENER("2")

static void test_in_the_list_of_a_listener_every_filter_is_refused(void) {
    static const char *const configs[] = {
        IN_LIST,
        PER_LISTENER,
        "persistence_location @DIR@/\n" IN_LIST,
        "persistence true\npersistence_location @DIR@/\n" IN_LIST,
        "persistence true\npersistence_location @DIR@/\n" PER_LISTENER,
    };
    for (size_t i = 0; i < N_ROWS(configs); i++) {
        struct broker *broker = broker_start("%s", configs[i]);
        struct client *writer = client_open(broker, "writer");
        struct client *reader = client_open(broker, "reader");
        int code = client_subscribe(reader, "t?room=a", 1);
        CHECK(code == REFUSED, "row %zu: 0x%02x", i, (unsigned)code);
        CHECK(broker_log_count(broker, "client reader: subscription 't?room=a' refused: ") == 1,
              "row %zu: the refusal", i);
        CHECK(broker_log_count(broker, "global_plugin") >= 2, "row %zu: what to change", i);
        CHECK(client_subscribe(reader, "t", 1) == 1, "row %zu: plain", i);
        publish_room(writer, "t", "b");
        CHECK(count_arrived(reader, writer) == 1, "row %zu: plain", i);
        broker_stop(broker);
    }
}

/* A global plugin that grants by itself, though it is loaded after us: our check is never asked. */
static void test_a_filter_that_went_past_us_closes_the_connection(void) {
    static const char *const configs[] = {
        IN_LIST "global_plugin " TEST_PLUGINS_DIR "/test_grant.so\n",
        PER_LISTENER "global_plugin " TEST_PLUGINS_DIR "/test_grant.so\n",
        "persistence true\npersistence_location @DIR@/\n" IN_LIST "global_plugin " TEST_PLUGINS_DIR
        "/test_grant.so\n",
    };
    for (size_t i = 0; i < N_ROWS(configs); i++) {
        struct broker *broker = broker_start("%s", configs[i]);
        struct client *writer = client_open(broker, "writer");
        struct client *reader = client_open(broker, "reader");
        CHECK(client_subscribe(reader, "t", 1) == 1, "row %zu: plain", i);
        publish_room(writer, "t", "b");
        CHECK(count_arrived(reader, writer) == 1, "row %zu: plain", i);
        CHECK(client_subscribe(reader, "t?room=a", 1) == CLIENT_CLOSED, "row %zu", i);
        CHECK(broker_log_count(broker,
                               "client reader: connection closed at subscription 't?room=a'") == 1,
              "row %zu: logged", i);
        CHECK(broker_log_count(broker, "first global_plugin") >= 1, "row %zu: what to change", i);
        CHECK(client_subscribe(writer, "u", 1) == 1, "row %zu: others go on", i);
        broker_stop(broker);
    }
}

static void test_global_plugin_works_on_all_listeners(void) {
    struct broker *broker = broker_new("per_listener_settings true\n" PLUGIN NO_STATE LISTENER(
        "1") "acl_file @DIR@/acl1\n" LISTENER("2") OTHER("rewrite") "acl_file @DIR@/acl2\n");
    broker_write_file(broker, "acl1", "topic readwrite #\n");
    broker_write_file(broker, "acl2",
                      "topic readwrite t\ntopic readwrite moved/t\ntopic readwrite fence/#\n");
    broker_run(broker);
    struct client *writer = client_open(broker, "writer");
    for (unsigned listener = 1; listener <= 2; listener++) {
        const struct client_options options = {.listener = listener};
        struct client *reader = client_connect(broker, &options);
        CHECK(client_subscribe(reader, "t?room=a", 1) == 1, "listener %u", listener);
        CHECK(client_subscribe(reader, "t?room", 1) == REFUSED, "listener %u", listener);
        check_filtered(reader, writer, "t", listener == 1 ? "first" : "second");
        CHECK(client_subscribe(reader, "u?room=a", 1) == 1, "listener %u", listener);
        publish_room(writer, "u", "a");
        size_t n = count_arrived(reader, writer);
        CHECK(n == (listener == 1), "listener %u: its own acl_file: %zu", listener, n);
    }
    /* The one that rewrites is in the list of the second listener, where it always runs behind us: the broker makes a
     * subscription that we do not know. Nothing of it is delivered, and the log says so. */
    const struct client_options options = {.id = "moved", .listener = 2};
    struct client *reader = client_connect(broker, &options);
    CHECK(client_subscribe(reader, "move/t?room=a", 1) == 1, "rewritten");
    client_fence(reader, writer);
    publish_room(writer, "moved/t", "a");
    publish_room(writer, "moved/t", "b");
    CHECK(count_arrived(reader, writer) == 0, "not known to us");
    CHECK(broker_await_log(broker, "client moved holds subscriptions that this plugin did not see"),
          "logged");
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        TEST(test_a_wrong_order_stops_the_start),
        TEST(test_the_right_order_starts),
        TEST(test_bad_options_stop_the_start),
        TEST(test_in_the_list_of_a_listener_every_filter_is_refused),
        TEST(test_a_filter_that_went_past_us_closes_the_connection),
        TEST(test_global_plugin_works_on_all_listeners),
    };
    return run_tests(argc, argv, cases, N_ROWS(cases));
}
