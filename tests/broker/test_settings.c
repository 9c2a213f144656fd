/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The settings of a running broker: config_file at start and on SIGHUP. A file is taken as a whole or not at all; what is
 * wrong with it is named with file, line and key; what changes is logged, and concerns new subscriptions only.
 */
#include "admin.h"
#include "scenario.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#define FILE_NAME "settings.json"
#define FILE_LINE "plugin_opt_config_file @DIR@/" FILE_NAME "\n"

enum { SETTINGS_ROOM = 1 << 16 };

/* A broker with the plugin, further options and this text as its config_file; not started. */
static struct broker *with_file(const char *options, const char *text) {
    struct broker *broker = broker_new(PLUGIN NO_STATE FILE_LINE "%s", options);
    broker_write_file(broker, FILE_NAME, text);
    return broker;
}

static struct broker *run_with_file(const char *options, const char *text) {
    struct broker *broker = with_file(options, text);
    broker_run(broker);
    return broker;
}

static void reload(struct broker *broker, const char *text) {
    broker_write_file(broker, FILE_NAME, text);
    broker_reload(broker);
}

/* Replace the file by bytes. */
static void write_bytes(struct broker *broker, const char *bytes, size_t n) {
    char path[256];
    snprintf(path, sizeof path, "%s/" FILE_NAME, broker_dir(broker));
    FILE *file = fopen(path, "wb");
    REQUIRE(file != NULL && fwrite(bytes, 1, n, file) == n && fclose(file) == 0, "%s", path);
}

static int subscribe_code(struct client *client, const char *topic) {
    int code = client_subscribe(client, topic, 1);
    if (code >= 0 && code < 3) {
        CHECK(client_unsubscribe(client, topic) == 0, "%s", topic);
    }
    return code;
}

/* ---- what the file may say ---- */

/* The settings in force, as clients see them: one letter each, large when it is what the defaults do not do. */
static const char *in_force(struct broker *broker, struct client *client, struct client *writer) {
    static char text[6];
    strcpy(text, "edrbf");
    /* enabled: "t?x" is a bad filter */
    text[0] = subscribe_code(client, "t?x") == REFUSED ? 'e' : 'E';
    text[1] = subscribe_code(client, "t?tag:a") == 1 ? 'd' : 'D';
    publish(writer, "retained", "", 1, NULL);
    client_publish(
        writer,
        &(struct publish){
            .topic = "retained", .payload = "r", .qos = 1, .retain = true, .user = USER("x", "2")});
    CHECK(client_subscribe(client, "retained?x=1", 1) == 1, "retained");
    text[2] = client_fence(client, writer) == 1 ? 'r' : 'R';
    client_clear(client);
    client_unsubscribe(client, "retained?x=1");
    text[3] = subscribe_code(client, "t?x=1234567") == 1 ? 'b' : 'B';
    CHECK(client_subscribe(client, "one?x=1", 1) == 1, "one filter");
    text[4] = client_subscribe(client, "two?x=1", 1) == 1 ? 'f' : 'F';
    client_unsubscribe(client, "one?x=1");
    client_unsubscribe(client, "two?x=1");
    CHECK(broker_is_running(broker), "running");
    return text;
}

static void test_each_key_at_start_and_on_sighup(void) {
    static const struct {
        const char *text;
        const char *force;
        const char *logged; /* on SIGHUP, from the defaults */
    } rows[] = {
        {"{}", "edrbf", "nothing has changed"},
        {"{\"enabled\": true}", "edrbf", "nothing has changed"},
        {"{\"dialects\": \"kv,sql\"}", "eDrbf", "dialects kv,sql,tag -> kv,sql"},
        {"{\"dialects\": [\"KV\"]}", "eDrbf", "dialects kv,sql,tag -> kv"},
        {"{\"dialects\": [\"tag\", \"sql\", \"kv\"]}", "edrbf", "nothing has changed"},
        {"{\"retained\": \"filter\"}", "edRbf", "retained deliver -> filter"},
        {"{\"max_expression_bytes\": 5}", "edrBf", "max_expression_bytes 4096 -> 5"},
        {"{\"max_filters_per_client\": 1}", "edrbF", "max_filters_per_client 1000 -> 1"},
        {"{\"max_filters_per_client\": 0}", "edrbf", "max_filters_per_client 1000 -> 0"},
        {"{\"dialects\": \"kv\",\n \"retained\": \"filter\",\n\"max_expression_bytes\": 6, "
         "\"max_filters_per_client\": 1, \"enabled\": true}\n\n",
         "eDRBF",
         "dialects kv,sql,tag -> kv, retained deliver -> filter, max_expression_bytes 4096 -> 6, "
         "max_filters_per_client 1000 -> 1"},
    };
    struct broker *running = run_with_file("", "{}");
    struct client *client = client_open(running, "c");
    struct client *writer = client_open(running, "writer");
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        struct broker *broker = run_with_file("", rows[i].text);
        const char *force =
            in_force(broker, client_open(broker, "c"), client_open(broker, "writer"));
        CHECK(strcmp(force, rows[i].force) == 0, "row %zu, at start: %s", i, force);

        char line[512];
        reload(running, rows[i].text);
        snprintf(line, sizeof line, "subscription-filter: config_file %s/" FILE_NAME " read: %s.\n",
                 broker_dir(running), rows[i].logged);
        CHECK(broker_await_log(running, line), "row %zu", i);
        force = in_force(running, client, writer);
        CHECK(strcmp(force, rows[i].force) == 0, "row %zu, on SIGHUP: %s", i, force);
        reload(running, "{}");
        CHECK(broker_await_log(running, " read: "), "row %zu: and back", i);
    }
}

/* An option given in mosquitto.conf holds where the file is silent, and again when the file falls silent. */
static void test_the_file_goes_before_mosquitto_conf(void) {
    struct broker *broker =
        run_with_file("plugin_opt_max_filters_per_client 1\nplugin_opt_dialects kv,sql\n",
                      "{\"max_filters_per_client\": 0}");
    struct client *client = client_open(broker, "c");
    struct client *writer = client_open(broker, "writer");
    CHECK(strcmp(in_force(broker, client, writer), "eDrbf") == 0, "at start");
    reload(broker, "{\"dialects\": \"kv,sql,tag\"}");
    CHECK(broker_await_log(broker,
                           "read: dialects kv,sql -> kv,sql,tag, max_filters_per_client 0 -> 1.\n"),
          "logged");
    CHECK(strcmp(in_force(broker, client, writer), "edrbF") == 0, "on SIGHUP");
    reload(broker, "{}");
    CHECK(broker_await_log(broker, "read: dialects kv,sql,tag -> kv,sql.\n"), "logged");
    CHECK(strcmp(in_force(broker, client, writer), "eDrbF") == 0, "silent");
}

/* Where the option stands does not matter, and without one SIGHUP changes nothing. */
static void test_sighup_without_a_file(void) {
    struct broker *broker =
        broker_start(PLUGIN NO_STATE CONTROL "plugin_opt_max_filters_per_client 1\n");
    struct client *admin = admin_open(broker, "admin");
    admin_data(admin, "{'command':'setEnabled','enabled':false}");
    broker_reload(broker);
    CHECK(client_subscribe(admin, "t?x", 1) == 1, "still off");
    CHECK(broker_log_count(broker, "config_file") == 0, "nothing is said");
}

/* ---- what it may not ---- */

static const struct {
    const char *text;
    const char *logged; /* behind the path */
} bad_files[] = {
    /* clang-format off */
    /* keys */
    {"{\"enabled\": true,\n \"enable\": false}",        ", line 2: \"enable\" is no setting"},
    {"{\"\": 1}",                                       ", line 1: \"\" is no setting"},
    {"{\n\n \"Enabled\" \n : true}",                    ", line 3: \"Enabled\" is no setting"},
    {"{\"plugin_opt_enabled\": true}",                  ", line 1: \"plugin_opt_enabled\" is no setting"},
    {"{\"enabled\": true,\r\n\"control\": true}",       ", line 2: \"control\" cannot be changed while the broker runs"},
    {"{\"tag_key\": \"T\"}",                            ", line 1: \"tag_key\" cannot be changed while the broker runs"},
    {"{\"strict_integers\": true}",                     ", line 1: \"strict_integers\" cannot be changed"},
    {"{\"state_file\": \"none\"}",                      ", line 1: \"state_file\" cannot be changed"},
    {"{\"config_file\": \"x\"}",                        ", line 1: \"config_file\" cannot be changed"},
    {"{\"sys_interval\": 1}",                           ", line 1: \"sys_interval\" cannot be changed"},
    {"{\"retained\": \"{\\\"en\\n\",\n\"en\\u0061ble\": 1}", ", line 1: \"retained\" takes deliver or filter"},
    {"{\"retained\": \"filter\",\n\"en\\u0061ble\": 1}", ", line 2: \"enable\" is no setting"},
    {"{\"a\\u0001\\\"\\u001b[31m\": 1}",                ", line 1: \"a\\x01\"\\x1b[31m\" is no setting"},
    /* types */
    {"{\"enabled\": \"true\"}",                         ", line 1: \"enabled\" takes true or false, not quoted"},
    {"{\"enabled\": 1}",                                ", line 1: \"enabled\" takes true or false, not quoted"},
    {"{\"enabled\": null}",                             ", line 1: \"enabled\" takes true or false, not quoted"},
    {"{\n\"enabled\": {\"enabled\": true}}",            ", line 2: \"enabled\" takes true or false, not quoted"},
    {"{\"dialects\": 7}",                               ", line 1: \"dialects\" takes a list of kv, sql and tag"},
    {"{\"dialects\": [\"kv\",\n 7]}",                   ", line 1: \"dialects\" takes a list of kv, sql and tag"},
    {"{\"dialects\": [\"kv\", [\"sql\"]]}",             ", line 1: \"dialects\" takes a list of kv, sql and tag"},
    {"{\"dialects\": {\"kv\": true}}",                  ", line 1: \"dialects\" takes a list of kv, sql and tag"},
    {"{\"retained\": true}",                            ", line 1: \"retained\" takes deliver or filter"},
    {"{\"retained\": [\"filter\"]}",                    ", line 1: \"retained\" takes deliver or filter"},
    {"{\"max_expression_bytes\": \"4096\"}",            ", line 1: \"max_expression_bytes\" takes a number from 1 to 65535"},
    {"{\"max_expression_bytes\": 4096.0}",              ", line 1: \"max_expression_bytes\" takes a number from 1 to 65535"},
    {"{\"max_filters_per_client\": true}",              ", line 1: \"max_filters_per_client\" takes a number from 0 (no limit) to 1000000"},
    {"{\"max_filters_per_client\": 1e3}",               ", line 1: \"max_filters_per_client\" takes a number from 0"},
    /* ranges */
    {"{\"dialects\": \"\"}",                            ", line 1: \"dialects\" takes a list of kv, sql and tag"},
    {"{\"dialects\": []}",                              ", line 1: \"dialects\" takes a list of kv, sql and tag"},
    {"{\"dialects\": \"kv,xml\"}",                      ", line 1: \"dialects\" takes a list of kv, sql and tag"},
    {"{\"dialects\": [\"kv,\"]}",                       ", line 1: \"dialects\" takes a list of kv, sql and tag"},
    {"{\"retained\": \"keep\"}",                        ", line 1: \"retained\" takes deliver or filter"},
    {"{\"retained\": \"Filter\"}",                      ", line 1: \"retained\" takes deliver or filter"},
    {"{\"max_expression_bytes\": 0}",                   ", line 1: \"max_expression_bytes\" takes a number from 1 to 65535"},
    {"{\"max_expression_bytes\": 65536}",               ", line 1: \"max_expression_bytes\" takes a number from 1 to 65535"},
    {"{\"max_expression_bytes\": -1}",                  ", line 1: \"max_expression_bytes\" takes a number from 1 to 65535"},
    {"{\"max_filters_per_client\": 1000001}",           ", line 1: \"max_filters_per_client\" takes a number from 0"},
    {"{\"max_filters_per_client\": 99999999999999999999}", ", line 1: "},
    /* the same key twice */
    {"{\"enabled\": true,\n\"dialects\": \"kv\",\n\"enabled\": true}", ", line 3: duplicate object key near '\"enabled\"'"},
    /* not JSON, or not an object */
    {"",                                                ", line 1: "},
    {"  \n ",                                           ", line 2: "},
    {"{\n\"enabled\": true",                            ", line 2: "},
    {"enabled true",                                    ", line 1: "},
    {"{\"enabled\": true,}",                            ", line 1: "},
    {"{'enabled': true}",                               ", line 1: "},
    {"{\"enabled\": true} // comment",                  ", line 1: end of file expected"},
    {"{\"enabled\": true}\n\n{\"enabled\": false}",     ", line 3: end of file expected"},
    {"\xEF\xBB\xBF{\"enabled\": true}",                 ", line 1: "},
    {"{\"retained\": \"\xFF\"}",                        ", line 1: "},
    {"{\"retained\": \"\\u0000\"}",                     ", line 1: "},
    {"[]",                                              ", line 1: it is not a JSON object"},
    {"[{\"enabled\": true}]",                           ", line 1: it is not a JSON object"},
    {"true",                                            ", line 1: "},
    {"\"enabled\"",                                     ", line 1: "},
    /* clang-format on */
};

/* The line that the log must have: `before` is "not loaded" or "the settings are unchanged". */
static void expected_line(char out[1024], struct broker *broker, const char *before,
                          const char *logged) {
    snprintf(out, 1024, "subscription-filter: %s: config_file %s/" FILE_NAME "%s", before,
             broker_dir(broker), logged);
}

static void test_a_bad_file_stops_the_start(void) {
    struct broker *broker = with_file("", "");
    broker_expect_failure(broker);
    for (size_t i = 0; i < N_ROWS(bad_files); i++) {
        char line[1024];
        expected_line(line, broker, "not loaded", bad_files[i].logged);
        size_t before = broker_log_count(broker, line);
        broker_write_file(broker, FILE_NAME, bad_files[i].text);
        CHECK(!broker_try_run(broker), "row %zu: it started", i);
        CHECK(broker_log_count(broker, line) == before + 1, "row %zu: %s", i, line);
        CHECK(broker_status(broker) > 0 && broker_status(broker) < 128, "row %zu: status %d", i,
              broker_status(broker));
    }
}

/* In a running broker: the old settings stay, those of the good keys before the bad one too. */
static void test_a_bad_file_changes_nothing_on_sighup(void) {
    static const char good[] = "{\"dialects\": \"kv\", \"max_expression_bytes\": 6}";
    struct broker *broker = run_with_file("", good);
    struct client *client = client_open(broker, "c");
    struct client *writer = client_open(broker, "writer");
    CHECK(strcmp(in_force(broker, client, writer), "eDrBf") == 0, "at start");
    for (size_t i = 0; i < N_ROWS(bad_files); i++) {
        char line[1024];
        expected_line(line, broker, "the settings are unchanged", bad_files[i].logged);
        reload(broker, bad_files[i].text);
        CHECK(broker_await_log(broker, line), "row %zu: %s", i, line);
    }
    reload(broker, "{\"dialects\": \"kv,sql,tag\", \"max_expression_bytes\": "
                   "4096,\n\"max_filters_per_client\": 1, "
                   "\"retained\": \"filter\", \"enabled\": false,\n\n\"what\": 1}");
    CHECK(broker_await_log(broker, ", line 4: \"what\" is no setting.\n"), "logged");
    CHECK(strcmp(in_force(broker, client, writer), "eDrBf") == 0, "all or nothing");
    reload(broker, "{}");
    CHECK(broker_await_log(broker,
                           "read: dialects kv -> kv,sql,tag, max_expression_bytes 6 -> 4096.\n"),
          "mended");
    CHECK(strcmp(in_force(broker, client, writer), "edrbf") == 0, "mended");
}

/* What is no text at all. */
static void test_files_that_cannot_be_read(void) {
    enum { HUGE_BYTES = 2 << 20 };
    struct broker *broker = run_with_file("", "{\"max_expression_bytes\": 5}");
    struct client *client = client_open(broker, "c");
    char path[256], line[1024];
    snprintf(path, sizeof path, "%s/" FILE_NAME, broker_dir(broker));

    REQUIRE(remove(path) == 0, "remove");
    expected_line(line, broker, "the settings are unchanged", ": No such file or directory.\n");
    broker_reload(broker);
    CHECK(broker_await_log(broker, line), "missing");

    REQUIRE(mkdir(path, 0700) == 0, "mkdir");
    expected_line(line, broker, "the settings are unchanged", ": Is a directory.\n");
    broker_reload(broker);
    CHECK(broker_await_log(broker, line), "a folder");
    REQUIRE(remove(path) == 0, "remove");

    REQUIRE(mkfifo(path, 0600) == 0, "mkfifo");
    expected_line(line, broker, "the settings are unchanged", ", line 1: ");
    broker_reload(broker);
    CHECK(broker_await_log(broker, line), "a pipe that nobody writes to");
    REQUIRE(remove(path) == 0, "remove");

    char *huge = malloc(HUGE_BYTES);
    REQUIRE(huge != NULL, "out of memory");
    test_defer(free, huge);
    memset(huge, ' ', HUGE_BYTES);
    memcpy(huge, "{}", 2);
    write_bytes(broker, huge, HUGE_BYTES);
    expected_line(line, broker, "the settings are unchanged",
                  ": it is larger than a file of settings can be.\n");
    broker_reload(broker);
    CHECK(broker_await_log(broker, line), "huge");

    memset(huge, '[', SETTINGS_ROOM);
    write_bytes(broker, huge, SETTINGS_ROOM);
    expected_line(line, broker, "the settings are unchanged",
                  ", line 1: maximum parsing depth reached");
    broker_reload(broker);
    CHECK(broker_await_log(broker, line), "deep");

    write_bytes(broker, "{}\0{\"enabled\": false}", 21);
    expected_line(line, broker, "the settings are unchanged", ", line 1: end of file expected");
    broker_reload(broker);
    CHECK(broker_await_log(broker, line), "NUL");

    memset(huge, 'k', SETTINGS_ROOM);
    memcpy(huge, "{\"", 2);
    memcpy(huge + SETTINGS_ROOM - 4, "\":1}", 4);
    write_bytes(broker, huge, SETTINGS_ROOM);
    broker_reload(broker);
    CHECK(broker_await_log(broker, "kkk...\" is no setting.\n"), "a long key is cut");

    CHECK(subscribe_code(client, "t?x=1234") == REFUSED && subscribe_code(client, "t?x=123") == 1,
          "the settings are those of the start");
    REQUIRE(remove(path) == 0, "remove");
    CHECK(broker_stop(broker) == 0, "stop");
    broker_expect_failure(broker);
    CHECK(!broker_try_run(broker), "it started without its file");
    expected_line(line, broker, "not loaded", ": No such file or directory.\n");
    CHECK(broker_log_count(broker, "No such file or directory") >= 2 &&
              strstr(broker_log(broker), line) != NULL,
          "%s", line);
}

/* ---- what is in force stays in force ---- */

static void test_changes_concern_new_subscriptions_only(void) {
    struct broker *broker = broker_new(PLUGIN PERSISTENT FILE_LINE);
    broker_write_file(broker, FILE_NAME, "{}");
    broker_run(broker);
    struct client *writer = client_open(broker, "writer");
    struct client *reader = keep(broker, "reader");
    subscribe(reader, "a?sql:x = '1' OR x = '11'", 1);
    subscribe(reader, "b?tag:1", 1);
    subscribe(reader, "c?x=1", 1);
    reload(broker,
           "{\"dialects\": \"kv\", \"max_expression_bytes\": 5, \"max_filters_per_client\": 1}");
    for (int restarted = 0; restarted <= 1; restarted++) {
        for (int x = 1; x <= 2; x++) {
            char text[2] = {(char)('0' + x), '\0'};
            publish(writer, "a", "a", 1, text);
            publish(writer, "c", "c", 1, text);
            client_publish(writer,
                           &(struct publish){
                               .topic = "b", .payload = "b", .qos = 1, .user = USER("TAGS", text)});
        }
        CHECK_ARRIVED(reader, writer, "a c b");
        CHECK(client_subscribe(reader, "a?sql:x = '1'", 1) == REFUSED,
              "dialect, length, or number");
        CHECK(client_subscribe(reader, "d?x=1", 1) == REFUSED, "number");
        CHECK(client_subscribe(reader, "c?x=1", 1) == 1, "one of them may be made again");
        if (restarted == 0) {
            client_disconnect(reader);
            REQUIRE(broker_stop(broker) == 0, "stop");
            broker_run(broker);
            client_reconnect(reader);
            writer = client_open(broker, "writer");
        }
    }
}

static void test_switched_off_and_on(void) {
    struct broker *broker = run_with_file("", "{\"enabled\": true}");
    struct client *writer = client_open(broker, "writer");
    struct client *reader = client_open(broker, "reader");
    subscribe(reader, "t?x=1", 1);
    subscribe(reader, "$share/g/s?x=1", 1);
    reload(broker, "{\"enabled\": false}");
    CHECK(broker_await_log(broker, "read: enabled true -> false.\n"), "logged");
    publish(writer, "t", "t1", 1, "1");
    publish(writer, "t", "t2", 1, "2");
    publish(writer, "s", "s1", 1, "1");
    publish(writer, "s", "s2", 1, "2");
    CHECK_ARRIVED(reader, writer, "t1 s1");

    subscribe(reader, "u?x", 1); /* no filter */
    publish(writer, "u?x", "literal", 1, NULL);
    publish(writer, "u", "base", 1, "1");
    CHECK_ARRIVED(reader, writer, "literal");
    subscribe(reader, "t", 1); /* plain: the filter is replaced */
    publish(writer, "t", "t2", 1, "2");
    CHECK_ARRIVED(reader, writer, "t2");

    reload(broker, "{}");
    CHECK(broker_await_log(broker, "read: enabled false -> true.\n"), "logged");
    CHECK(client_subscribe(reader, "v?x", 1) == REFUSED, "a bad filter");
    subscribe(reader, "t?x=1", 1);
    publish(writer, "t", "t1", 1, "1");
    publish(writer, "t", "t2", 1, "2");
    publish(writer, "s", "s1", 1, "1");
    publish(writer, "s", "s2", 1, "2");
    CHECK_ARRIVED(reader, writer, "t1 s1");
}

/* What the retained option says holds from SIGHUP on. */
static void test_retained_can_be_changed(void) {
    struct broker *broker = run_with_file("", "{}");
    struct client *writer = client_open(broker, "writer");
    struct client *reader = client_open(broker, "reader");
    client_publish(
        writer,
        &(struct publish){
            .topic = "t", .payload = "r", .qos = 1, .retain = true, .user = USER("x", "2")});
    static const struct {
        const char *text, *arrives;
    } rows[] = {
        {"{}", "r"},
        {"{\"retained\": \"filter\"}", ""},
        {"{\"retained\": \"deliver\"}", "r"},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        reload(broker, rows[i].text);
        client_ping(writer);
        subscribe(reader, "t?x=1", 1);
        CHECK_ARRIVED(reader, writer, rows[i].arrives);
    }
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        TEST(test_each_key_at_start_and_on_sighup),
        TEST(test_the_file_goes_before_mosquitto_conf),
        TEST(test_sighup_without_a_file),
        TEST(test_a_bad_file_stops_the_start),
        TEST(test_a_bad_file_changes_nothing_on_sighup),
        TEST(test_files_that_cannot_be_read),
        TEST(test_changes_concern_new_subscriptions_only),
        TEST(test_switched_off_and_on),
        TEST(test_retained_can_be_changed),
    };
    return run_tests(argc, argv, cases, N_ROWS(cases));
}
