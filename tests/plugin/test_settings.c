/* SPDX-License-Identifier: BSD-3-Clause
 *
 * settings: every option with what it takes, at its limits and beyond; and the exact text for what it does not take,
 * which is all an operator sees of a plugin that does not load. */
#include "runner.h"
#include "settings.h"

#include "broker.h"

#include <stdio.h>
#include <string.h>

enum { MAX_OPTIONS = 16 };

/* Options as the broker hands them over: without the prefix plugin_opt_. */
static bool read_pairs(const char *const *pairs, size_t n_pairs, struct settings *settings,
                       char error[SETTINGS_ERROR_BYTES]) {
    struct mosquitto_opt options[MAX_OPTIONS];
    static char texts[MAX_OPTIONS][2][1024];
    REQUIRE(n_pairs <= MAX_OPTIONS, "%zu", n_pairs);
    for (size_t i = 0; i < n_pairs; i++) {
        for (size_t k = 0; k < 2; k++) {
            snprintf(texts[i][k], sizeof texts[i][k], "%s", pairs[2 * i + k]);
        }
        options[i] = (struct mosquitto_opt){.key = texts[i][0], .value = texts[i][1]};
    }
    strcpy(error, "unchanged");
    memset(settings, 0xA5, sizeof *settings);
    return settings_read(settings, options, (int)n_pairs, error);
}

static bool read_one(const char *key, const char *value, struct settings *settings,
                     char error[SETTINGS_ERROR_BYTES]) {
    const char *const pair[] = {key, value};
    return read_pairs(pair, 1, settings, error);
}

/* All settings as one text, in the order of the struct. */
static const char *written(const struct settings *settings) {
    static char text[1024];
    snprintf(text, sizeof text,
             "enabled %d, dialects %u, filter_retained %d, tag_key %s, strict_integers %d, "
             "max_expression_bytes %zu, max_filters_per_client %zu, state_file %s, config_file %s, "
             "control %d, sys_interval_s %u",
             settings->live.enabled, settings->live.dialects, settings->live.filter_retained,
             settings->tag_key == NULL ? "-" : settings->tag_key, settings->strict_integers,
             settings->live.max_expression_bytes, settings->live.max_filters_per_client,
             settings->state_file == NULL ? "-" : settings->state_file,
             settings->config_file == NULL ? "-" : settings->config_file, settings->control,
             settings->sys_interval_s);
    return text;
}

static const char defaults[] =
    "enabled 1, dialects 7, filter_retained 0, tag_key TAGS, strict_integers 0, "
    "max_expression_bytes 4096, max_filters_per_client 1000, state_file -, config_file -, "
    "control 0, sys_interval_s 10";

static void test_settings_defaults(void) {
    struct settings settings;
    char error[SETTINGS_ERROR_BYTES];
    REQUIRE(read_pairs(NULL, 0, &settings, error), "%s", error);
    CHECK(strcmp(written(&settings), defaults) == 0, "%s", written(&settings));
    settings_deinit(&settings);
    CHECK(settings.tag_key == NULL, "freed");
    settings_deinit(&settings);
}

/* ---- good values ---- */

/* Each changes one part of the defaults: `was` becomes `is`. */
static void test_settings_take_good_values(void) {
    static const struct {
        const char *key, *value, *was, *is;
    } rows[] = {
        {"enabled", "false", "enabled 1", "enabled 0"},
        {"enabled", "FALSE", "enabled 1", "enabled 0"},
        {"enabled", "0", "enabled 1", "enabled 0"},
        {"enabled", "true", "enabled 1", "enabled 1"},
        {"enabled", "True", "enabled 1", "enabled 1"},
        {"enabled", "1", "enabled 1", "enabled 1"},
        {"dialects", "kv", "dialects 7", "dialects 1"},
        {"dialects", "sql", "dialects 7", "dialects 2"},
        {"dialects", "tag", "dialects 7", "dialects 4"},
        {"dialects", "kv,sql,tag", "dialects 7", "dialects 7"},
        {"dialects", "tag,kv", "dialects 7", "dialects 5"},
        {"dialects", " kv , sql ", "dialects 7", "dialects 3"},
        {"dialects", "\tkv,\tsql\t", "dialects 7", "dialects 3"},
        {"dialects", "KV,Sql", "dialects 7", "dialects 3"},
        {"dialects", "kv,kv", "dialects 7", "dialects 1"},
        {"retained", "deliver", "retained 0", "retained 0"},
        {"retained", "filter", "retained 0", "retained 1"},
        {"tag_key", "kind", "tag_key TAGS", "tag_key kind"},
        {"tag_key", "a b", "tag_key TAGS", "tag_key a b"},
        {"tag_key", "\xC3\xBC", "tag_key TAGS", "tag_key \xC3\xBC"},
        {"strict_integers", "true", "integers 0", "integers 1"},
        {"max_expression_bytes", "1", "bytes 4096", "bytes 1"},
        {"max_expression_bytes", "65535", "bytes 4096", "bytes 65535"},
        {"max_expression_bytes", "0000000000000000000000000000007", "bytes 4096", "bytes 7"},
        {"max_filters_per_client", "0", "client 1000", "client 0"},
        {"max_filters_per_client", "1000000", "client 1000", "client 1000000"},
        {"state_file", "none", "state_file -", "state_file none"},
        {"state_file", "/var/lib/a file.jsonl", "state_file -", "state_file /var/lib/a file.jsonl"},
        {"config_file", "/etc/x.json", "config_file -", "config_file /etc/x.json"},
        {"control", "true", "control 0", "control 1"},
        {"sys_interval", "0", "interval_s 10", "interval_s 0"},
        {"sys_interval", "86400", "interval_s 10", "interval_s 86400"},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        struct settings settings;
        char error[SETTINGS_ERROR_BYTES];
        if (!CHECK(read_one(rows[i].key, rows[i].value, &settings, error), "%s %s: %s", rows[i].key,
                   rows[i].value, error)) {
            continue;
        }
        const char *place = strstr(defaults, rows[i].was);
        REQUIRE(place != NULL, "row %zu", i);
        char expected[1024];
        snprintf(expected, sizeof expected, "%.*s%s%s", (int)(place - defaults), defaults,
                 rows[i].is, place + strlen(rows[i].was));
        CHECK(strcmp(written(&settings), expected) == 0, "%s %s: %s", rows[i].key, rows[i].value,
              written(&settings));
        settings_deinit(&settings);
    }
}

static void test_settings_take_all_options_at_once(void) {
    static const char *const pairs[] = {"sys_interval",
                                        "60",
                                        "control",
                                        "1",
                                        "config_file",
                                        "c",
                                        "state_file",
                                        "s",
                                        "max_filters_per_client",
                                        "5",
                                        "max_expression_bytes",
                                        "100",
                                        "strict_integers",
                                        "1",
                                        "tag_key",
                                        "t",
                                        "retained",
                                        "filter",
                                        "dialects",
                                        "tag",
                                        "enabled",
                                        "0"};
    struct settings settings;
    char error[SETTINGS_ERROR_BYTES];
    REQUIRE(read_pairs(pairs, N_ROWS(pairs) / 2, &settings, error), "%s", error);
    CHECK(strcmp(written(&settings),
                 "enabled 0, dialects 4, filter_retained 1, tag_key t, strict_integers 1, "
                 "max_expression_bytes 100, max_filters_per_client 5, state_file s, config_file c, "
                 "control 1, sys_interval_s 60") == 0,
          "%s", written(&settings));
    const struct sf_options options = settings_compile_options(&settings);
    CHECK(options.dialects == 4 && options.max_expression_bytes == 100 && options.strict_integers &&
              strcmp(options.tag_key, "t") == 0,
          "as the engine gets them");
    settings_deinit(&settings);
}

/* ---- bad values ---- */

static const char takes_bool[] = "true or false";
static const char takes_dialects[] = "a list of kv, sql and tag, separated by commas";
static const char takes_bytes[] = "a number from 1 to 65535";
static const char takes_filters[] = "a number from 0 (no limit) to 1000000";
static const char takes_seconds[] = "a number of seconds from 0 (none) to 86400";

static void check_refused(const char *key, const char *value, const char *expected) {
    struct settings settings;
    char error[SETTINGS_ERROR_BYTES];
    CHECK(!read_one(key, value, &settings, error), "%s '%s' was taken", key, value);
    CHECK(strcmp(error, expected) == 0, "%s", error);
    CHECK(settings.tag_key == NULL && settings.state_file == NULL && settings.config_file == NULL,
          "%s '%s': the settings are empty", key, value);
}

static void test_settings_refuse_bad_values(void) {
    static const struct {
        const char *key, *value, *takes;
    } rows[] = {
        {"enabled", "", takes_bool},
        {"enabled", "yes", takes_bool},
        {"enabled", "2", takes_bool},
        {"enabled", "true ", takes_bool},
        {"enabled", "truex", takes_bool},
        {"enabled", "00", takes_bool},
        {"strict_integers", "on", takes_bool},
        {"control", "-1", takes_bool},
        {"dialects", "", takes_dialects},
        {"dialects", " ", takes_dialects},
        {"dialects", ",", takes_dialects},
        {"dialects", "kv,", takes_dialects},
        {"dialects", ",kv", takes_dialects},
        {"dialects", "kv,,sql", takes_dialects},
        {"dialects", "kv sql", takes_dialects},
        {"dialects", "k", takes_dialects},
        {"dialects", "kvs", takes_dialects},
        {"dialects", "kv;sql", takes_dialects},
        {"dialects", "all", takes_dialects},
        {"retained", "", "deliver or filter"},
        {"retained", "Filter", "deliver or filter"},
        {"retained", "filtered", "deliver or filter"},
        {"tag_key", "", "the name of a User Property"},
        {"max_expression_bytes", "", takes_bytes},
        {"max_expression_bytes", "0", takes_bytes},
        {"max_expression_bytes", "65536", takes_bytes},
        {"max_expression_bytes", "-1", takes_bytes},
        {"max_expression_bytes", "+1", takes_bytes},
        {"max_expression_bytes", " 1", takes_bytes},
        {"max_expression_bytes", "1 ", takes_bytes},
        {"max_expression_bytes", "0x10", takes_bytes},
        {"max_expression_bytes", "1e3", takes_bytes},
        {"max_expression_bytes", "5x", takes_bytes},
        {"max_expression_bytes", "4294967297", takes_bytes},
        {"max_expression_bytes", "18446744073709551617", takes_bytes}, /* 2^64 + 1 */
        {"max_filters_per_client", "1000001", takes_filters},
        {"max_filters_per_client", "-1", takes_filters},
        {"max_filters_per_client", "none", takes_filters},
        {"state_file", "", "the path of a file, or none"},
        {"config_file", "", "the path of a file"},
        {"sys_interval", "86401", takes_seconds},
        {"sys_interval", "1.5", takes_seconds},
        {"sys_interval", "10s", takes_seconds},
        {"sys_interval", "4294967296", takes_seconds},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        char expected[SETTINGS_ERROR_BYTES];
        snprintf(expected, sizeof expected, "option plugin_opt_%s is '%s', but takes %s",
                 rows[i].key, rows[i].value, rows[i].takes);
        check_refused(rows[i].key, rows[i].value, expected);
    }
}

static void test_settings_refuse_unknown_options(void) {
    static const char list[] =
        "; the options are enabled, dialects, retained, tag_key, strict_integers, "
        "max_expression_bytes, max_filters_per_client, state_file, config_file, control, "
        "sys_interval";
    static const char *const names[] = {
        "enable", "Enabled", "enabled ", "", "plugin_opt_enabled", "dialect", "max_filters"};
    for (size_t i = 0; i < N_ROWS(names); i++) {
        char expected[SETTINGS_ERROR_BYTES];
        snprintf(expected, sizeof expected, "unknown option plugin_opt_%s%s", names[i], list);
        check_refused(names[i], "true", expected);
    }
}

static void test_settings_refuse_options_given_twice(void) {
    static const char *const names[] = {"enabled",         "dialects",
                                        "retained",        "tag_key",
                                        "strict_integers", "max_expression_bytes",
                                        "state_file",      "max_filters_per_client",
                                        "config_file",     "control",
                                        "sys_interval"};
    static const char *const values[] = {"1", "kv", "filter", "t", "1", "1",
                                         "a", "1",  "a",      "1", "1"};
    for (size_t i = 0; i < N_ROWS(names); i++) {
        const char *const pairs[] = {names[i], values[i], "control", "false", names[i], values[i]};
        bool is_control = strcmp(names[i], "control") == 0;
        struct settings settings;
        char error[SETTINGS_ERROR_BYTES];
        CHECK(!read_pairs(pairs, is_control ? 2 : 3, &settings, error), "%s", names[i]);
        char expected[SETTINGS_ERROR_BYTES];
        snprintf(expected, sizeof expected, "option plugin_opt_%s is given twice", names[i]);
        CHECK(strcmp(error, expected) == 0, "%s", error);
        CHECK(settings.tag_key == NULL, "%s", names[i]);
    }
}

/* A bad option after good ones leaves nothing behind; the sanitizer sees what was not freed. */
static void test_settings_are_empty_after_a_failure(void) {
    static const char *const pairs[] = {"tag_key",     "t", "state_file", "s",
                                        "config_file", "c", "x",          "y"};
    struct settings settings;
    char error[SETTINGS_ERROR_BYTES];
    CHECK(!read_pairs(pairs, 4, &settings, error), "an unknown option");
    CHECK(settings.tag_key == NULL && settings.state_file == NULL && settings.config_file == NULL,
          "empty");
}

/* What the configuration file holds reaches the log in one bounded line. */
static void test_settings_messages_are_bounded(void) {
    char text[1000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    text[0] = '\n';
    static const char *const names[] = {"enabled", NULL};
    for (size_t i = 0; i < 2; i++) {
        struct settings settings;
        char error[SETTINGS_ERROR_BYTES];
        bool unknown = names[i] == NULL;
        CHECK(!read_one(unknown ? text : names[i], unknown ? "1" : text, &settings, error), "%zu",
              i);
        CHECK(strnlen(error, sizeof error) < sizeof error, "%zu", i);
        CHECK(strchr(error, '\n') == NULL && strstr(error, "\\x0axxx") != NULL, "%s", error);
        CHECK(strstr(error, unknown ? "sys_interval" : "but takes true or false") != NULL, "%s",
              error);
    }
}

static void test_settings_take_a_missing_value_as_empty(void) {
    char key[] = "enabled";
    const struct mosquitto_opt option = {.key = key, .value = NULL};
    struct settings settings;
    char error[SETTINGS_ERROR_BYTES];
    CHECK(!settings_read(&settings, &option, 1, error), "no value");
    CHECK(strcmp(error, "option plugin_opt_enabled is '', but takes true or false") == 0, "%s",
          error);
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        TEST(test_settings_defaults),
        TEST(test_settings_take_good_values),
        TEST(test_settings_take_all_options_at_once),
        TEST(test_settings_refuse_bad_values),
        TEST(test_settings_refuse_unknown_options),
        TEST(test_settings_refuse_options_given_twice),
        TEST(test_settings_are_empty_after_a_failure),
        TEST(test_settings_messages_are_bounded),
        TEST(test_settings_take_a_missing_value_as_empty),
    };
    return run_tests(argc, argv, cases, N_ROWS(cases));
}
