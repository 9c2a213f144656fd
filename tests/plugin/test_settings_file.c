/* SPDX-License-Identifier: BSD-3-Clause
 *
 * settings_file: what config_file may hold, and the exact words for what it may not, with file, line and key; that
 * setEnabled changes nothing else in it; and how a change is described in the log. */
#include "journal_fixture.h"
#include "runner.h"
#include "settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct live_settings before = {.enabled = true,
                                            .dialects = SF_DIALECT_ALL,
                                            .max_expression_bytes = 4096,
                                            .max_filters_per_client = 1000};

static const char *written(const struct live_settings *live) {
    static char text[256];
    snprintf(text, sizeof text, "%d %d %u %zu %zu", live->enabled, live->filter_retained,
             live->dialects, live->max_expression_bytes, live->max_filters_per_client);
    return text;
}

static const char *put(const char *text) {
    const char *path = journal_path("config");
    file_write(path, text, strlen(text));
    return path;
}

static void test_settings_file_takes_good_values(void) {
    static const struct {
        const char *text, *expected;
    } rows[] = {
        {"{}", "1 0 7 4096 1000"},
        {" {\n}\n", "1 0 7 4096 1000"},
        {"{\"enabled\": false}", "0 0 7 4096 1000"},
        {"{\"retained\": \"filter\"}", "1 1 7 4096 1000"},
        {"{\"retained\": \"deliver\"}", "1 0 7 4096 1000"},
        {"{\"dialects\": \"kv\"}", "1 0 1 4096 1000"},
        {"{\"dialects\": \"kv, tag\"}", "1 0 5 4096 1000"},
        {"{\"dialects\": [\"sql\"]}", "1 0 2 4096 1000"},
        {"{\"dialects\": [\"kv\", \"sql\", \"tag\"]}", "1 0 7 4096 1000"},
        {"{\"max_expression_bytes\": 1}", "1 0 7 1 1000"},
        {"{\"max_expression_bytes\": 65535}", "1 0 7 65535 1000"},
        {"{\"max_filters_per_client\": 0}", "1 0 7 4096 0"},
        {"{\"max_filters_per_client\": 1000000}", "1 0 7 4096 1000000"},
        {"{\"enabled\":false,\"retained\":\"filter\",\"dialects\":[\"tag\"],\"max_expression_"
         "bytes\":5,"
         "\"max_filters_per_client\":6}",
         "0 1 4 5 6"},
        {"{\"en\\u0061bled\": false}", "0 0 7 4096 1000"},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        struct live_settings live = before;
        char error[SETTINGS_ERROR_BYTES] = "";
        CHECK(settings_read_file(&live, put(rows[i].text), error), "%s: %s", rows[i].text, error);
        CHECK(strcmp(written(&live), rows[i].expected) == 0, "%s: %s", rows[i].text,
              written(&live));
    }
}

static void test_settings_file_refuses_the_rest(void) {
    static const char *const takes_bool = "line 1: \"enabled\" takes true or false, not quoted";
    static const char *const takes_bytes =
        "line 1: \"max_expression_bytes\" takes a number from 1 to 65535, not quoted";
    static const struct {
        const char *text, *expected;
    } rows[] = {
        {"[]", "line 1: it is not a JSON object"},
        {"{\"enabled\": 1}", takes_bool},
        {"{\"enabled\": \"true\"}", takes_bool},
        {"{\"enabled\": null}", takes_bool},
        {"{\"max_expression_bytes\": 0}", takes_bytes},
        {"{\"max_expression_bytes\": 65536}", takes_bytes},
        {"{\"max_expression_bytes\": -1}", takes_bytes},
        {"{\"max_expression_bytes\": 1.0}", takes_bytes},
        {"{\"max_expression_bytes\": \"5\"}", takes_bytes},
        {"{\n\"enabled\": true,\n\"max_filters_per_client\": 1000001\n}",
         "line 3: \"max_filters_per_client\" takes a number from 0 (no limit) to 1000000, not "
         "quoted"},
        {"{\"retained\": \"all\"}",
         "line 1: \"retained\" takes deliver or filter, as a JSON string"},
        {"{\"retained\": true}", "line 1: \"retained\" takes deliver or filter, as a JSON string"},
        {"{\"retained\": [\"filter\"]}",
         "line 1: \"retained\" takes deliver or filter, as a JSON string"},
        {"{\"tag_key\": \"x\"}", "line 1: \"tag_key\" cannot be changed while the broker runs: it "
                                 "belongs in mosquitto.conf"},
        {"{\"state_file\": \"none\"}", "line 1: \"state_file\" cannot be changed while the broker "
                                       "runs: it belongs in mosquitto.conf"},
        {"{\n \"enabled\": true,\n\n \"what\": 1}", "line 4: \"what\" is no setting"},
        {"{\"plugin_opt_enabled\": true}", "line 1: \"plugin_opt_enabled\" is no setting"},
        {"{\"\": true}", "line 1: \"\" is no setting"},
        {"{\"a\\nb\": 1}", "line 1: \"a\\x0ab\" is no setting"},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        struct live_settings live = before;
        char error[SETTINGS_ERROR_BYTES] = "", expected[SETTINGS_ERROR_BYTES];
        const char *path = put(rows[i].text);
        CHECK(!settings_read_file(&live, path, error), "%s", rows[i].text);
        snprintf(expected, sizeof expected, "config_file %s, %s", path, rows[i].expected);
        CHECK(strcmp(error, expected) == 0, "%s: %s", rows[i].text, error);
        CHECK(strcmp(written(&live), written(&before)) == 0, "%s: changed", rows[i].text);
    }
}

/* Texts that are no JSON: the words are jansson's, the file and line are ours. */
static void test_settings_file_that_is_no_json(void) {
    static const struct {
        const char *text;
        int line;
    } rows[] = {
        {"", 1},
        {"enabled = true", 1},
        {"{\"enabled\": true,}", 1},
        {"{\n\"enabled\": true\n", 3},
        {"{\"enabled\": true,\n\"enabled\": false}", 2},
        {"{\"enabled\": tru}", 1},
        {"{} x", 1},
        {"{\"enabled\": \"\xFF\"}", 1},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        struct live_settings live = before;
        char error[SETTINGS_ERROR_BYTES] = "", expected[SETTINGS_ERROR_BYTES];
        const char *path = put(rows[i].text);
        CHECK(!settings_read_file(&live, path, error), "%s", rows[i].text);
        snprintf(expected, sizeof expected, "config_file %s, line %d: ", path, rows[i].line);
        CHECK(strncmp(error, expected, strlen(expected)) == 0, "%s: %s", rows[i].text, error);
        CHECK(strcmp(written(&live), written(&before)) == 0, "%s: changed", rows[i].text);
    }
}

static void test_settings_file_that_is_not_there(void) {
    struct live_settings live = before;
    char error[SETTINGS_ERROR_BYTES] = "", expected[SETTINGS_ERROR_BYTES];
    const char *path = journal_path("nothing");
    CHECK(!settings_read_file(&live, path, error), "read");
    snprintf(expected, sizeof expected, "config_file %s: No such file or directory", path);
    CHECK(strcmp(error, expected) == 0, "%s", error);
    CHECK(!settings_write_enabled(path, true, error), "written");
    CHECK(access(path, F_OK) != 0, "made");
    CHECK(!settings_read_file(&live, journal_folder(), error), "a folder");
}

static void test_settings_write_enabled_changes_nothing_else(void) {
    static const char *const texts[] = {
        "{\"enabled\": true, \"max_expression_bytes\": 5, \"dialects\": [\"kv\", \"tag\"]}",
        "{\"max_expression_bytes\": 5, \"dialects\": \"kv,tag\"}",
    };
    for (size_t i = 0; i < N_ROWS(texts); i++) {
        const char *path = put(texts[i]);
        REQUIRE(chmod(path, 0640) == 0, "chmod");
        for (int enabled = 0; enabled < 2; enabled++) {
            char error[SETTINGS_ERROR_BYTES] = "";
            struct live_settings live = before;
            CHECK(settings_write_enabled(path, enabled, error), "%s: %s", texts[i], error);
            CHECK(settings_read_file(&live, path, error), "%s: %s", texts[i], error);
            CHECK(live.enabled == (bool)enabled && live.max_expression_bytes == 5 &&
                      live.dialects == 5,
                  "%s: %s", texts[i], written(&live));
            struct stat status = {0};
            CHECK(stat(path, &status) == 0 && (status.st_mode & 07777) == 0640, "mode %o",
                  (unsigned)status.st_mode);
        }
        char *text = file_read(path, NULL);
        CHECK(strstr(text, "dialects") > strstr(text, "max_expression_bytes"), "another order: %s",
              text);
        free(text);
    }
    static const char broken[] = "{\"enabled\": true, \"what\": 1}";
    const char *path = put(broken);
    char error[SETTINGS_ERROR_BYTES] = "";
    CHECK(!settings_write_enabled(path, false, error), "a file that could not be read again");
    char *text = file_read(path, NULL);
    CHECK(strcmp(text, broken) == 0, "changed: %s", text);
    free(text);
}

static void test_settings_describe_change(void) {
    static const struct {
        struct live_settings now;
        const char *expected;
    } rows[] = {
        {{true, false, SF_DIALECT_ALL, 4096, 1000}, ""},
        {{false, false, SF_DIALECT_ALL, 4096, 1000}, "enabled true -> false"},
        {{true, true, SF_DIALECT_ALL, 4096, 1000}, "retained deliver -> filter"},
        {{true, false, SF_DIALECT_SQL, 4096, 1000}, "dialects kv,sql,tag -> sql"},
        {{false, true, SF_DIALECT_KV | SF_DIALECT_TAG, 1, 0},
         "enabled true -> false, dialects kv,sql,tag -> kv,tag, retained deliver -> filter, "
         "max_expression_bytes 4096 -> 1, max_filters_per_client 1000 -> 0"},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        char text[SETTINGS_ERROR_BYTES] = "unchanged";
        settings_describe_change(&before, &rows[i].now, text);
        CHECK(strcmp(text, rows[i].expected) == 0, "row %zu: %s", i, text);
    }
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        TEST(test_settings_file_takes_good_values),
        TEST(test_settings_file_refuses_the_rest),
        TEST(test_settings_file_that_is_no_json),
        TEST(test_settings_file_that_is_not_there),
        TEST(test_settings_write_enabled_changes_nothing_else),
        TEST(test_settings_describe_change),
    };
    return run_tests(argc, argv, cases, N_ROWS(cases));
}
