/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The control API, the refusals under $SYS, config_file and the journal without memory: each allocation fails in turn,
 * alone and with all after it. What comes of it is the whole text, an error in its place, or none, but never a text with
 * something missing; an error means that nothing was done. (Leaks are found by the sanitizer build.)
 */
#include "control.h"
#include "failing_memory.h"
#include "fake_broker.h"
#include "plugin.h"
#include "runner.h"
#include "subscription_string.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void arm(size_t n, bool alone) {
    if (alone) {
        memory_arm_one(n);
    } else {
        memory_arm(n);
    }
}

/* ---- a plugin with two sessions ---- */

static struct plugin plugin;
static char path[64];   /* config_file */
static char *published; /* the last message */

static void keep(const char *topic, const void *payload, size_t bytes) {
    bool armed = memory.armed;
    memory.armed = false; /* this is the test's own memory */
    (void)topic;
    free(published);
    published = strndup(payload, bytes);
    memory.armed = armed;
}

static void tear_down(void *user) {
    (void)user;
    sessions_deinit(&plugin.sessions);
    sf_schema_free(plugin.schema);
    settings_deinit(&plugin.settings);
    plugin = (struct plugin){0};
    free(published);
    published = NULL;
    unlink(path);
}

static void add(const char *id, const char *topic, const char *expression) {
    struct sf_filter *filter = NULL;
    REQUIRE(sf_compile(plugin.schema, NULL, expression, strlen(expression), &filter, NULL) == SF_OK,
            "%s", expression);
    struct session *session = sessions_get(&plugin.sessions, id);
    size_t name_bytes = share_topic_offset(topic) == 0 ? 0 : share_name_bytes(topic);
    REQUIRE(session != NULL && session_subscribe(&plugin.sessions, session, topic, name_bytes,
                                                 filter, 0, 0) != NULL,
            "%s", topic);
}

static void write_config(const char *text) {
    FILE *file = fopen(path, "w");
    REQUIRE(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0, "%s", path);
}

static void set_up(void) {
    static char name[] = "config_file";
    struct mosquitto_opt options[] = {{.key = name, .value = path}};
    char error[SETTINGS_ERROR_BYTES];
    fake_reset();
    fake_publish = keep;
    snprintf(path, sizeof path, "/tmp/subfilter-control-%ld.json", (long)getpid());
    write_config("{\"enabled\": true, \"max_expression_bytes\": 100}\n");
    REQUIRE(settings_read(&plugin.settings, options, 1, error), "%s", error);
    plugin.schema = sf_schema_new();
    REQUIRE(plugin.schema != NULL, "out of memory");
    test_defer(tear_down, NULL);
    add("a", "t", "x=1");
    add("a", "u/+", "sql:x = 1 OR y = 'z'");
    add("b", "$share/g/t", "x=1");
    plugin.delivery.counts.passed = 7;
    plugin.refused = 3;
}

/* ---- commands ---- */

static void send_text(const char *payload) {
    struct mosquitto *client = fake_place(0, "admin");
    const struct mosquitto_evt_control event = {
        .client = client,
        .topic = CONTROL_TOPIC,
        .payload = payload,
        .payloadlen = (uint32_t)strlen(payload),
    };
    free(published);
    published = NULL;
    control_handle(&plugin, &event);
}

/* The answers that came: NULL when none; otherwise a list of objects, each with its error or its data. New. */
static json_t *answers(size_t row, size_t n) {
    if (published == NULL) {
        return NULL;
    }
    json_t *root = json_loads(published, 0, NULL);
    json_t *responses = json_incref(json_object_get(root, "responses"));
    json_decref(root);
    CHECK(json_is_array(responses), "row %zu, %zu: %s", row, n, published);
    size_t index;
    json_t *response;
    json_array_foreach(responses, index, response) {
        bool failed = json_is_string(json_object_get(response, "error"));
        bool done = json_is_object(json_object_get(response, "data"));
        CHECK(failed != done, "row %zu, %zu: %s", row, n, published);
    }
    return responses;
}

static const char *const requests[] = {
    "{\"commands\":[{\"command\":\"getStats\",\"correlationData\":\"1\"}]}",
    "{\"commands\":[{\"command\":\"listFilters\"}]}",
    "{\"commands\":[{\"command\":\"listFilters\",\"clientid\":\"b\",\"correlationData\":\"1\"}]}",
    "{\"commands\":[{\"command\":\"resetStats\"}]}",
    "{\"commands\":[{\"command\":\"setEnabled\",\"enabled\":false}]}",
    "{\"commands\":[{\"command\":\"testFilter\",\"expression\":\"sql:a = 1 AND b > "
    "2\",\"properties\":{\"a\":\"1\"},"
    "\"attributes\":{\"$qos\":1,\"$topic\":\"t\"}}]}",
    "{\"commands\":[{\"command\":\"testFilter\",\"subscription\":\"t%23?x=1\"}]}",
    "{\"commands\":[{\"command\":\"testFilter\",\"subscription\":\"t?x=>1\"}]}",
    "{\"commands\":[{\"command\":\"what\"}]}",
    "{\"commands\":[7]}",
    "{\"commands\":7}",
    "{",
};

static void reset_state(void) {
    plugin.settings.live.enabled = true;
    plugin.delivery.counts.passed = 7;
    plugin.refused = 3;
    write_config("{\"enabled\": true, \"max_expression_bytes\": 100}\n");
}

/* Whether the file says that filters are on. */
static bool file_is_on(void) {
    struct live_settings live = {0};
    char error[SETTINGS_ERROR_BYTES];
    CHECK(settings_read_file(&live, path, error), "%s", error);
    CHECK(live.max_expression_bytes == 100, "%zu", live.max_expression_bytes);
    return live.enabled;
}

/* That what was done is what the answer says. */
static void check_done(size_t row, size_t n, const json_t *responses) {
    const json_t *response = json_array_get(responses, 0);
    bool failed = response != NULL && json_object_get(response, "error") != NULL;
    if (failed) {
        CHECK(plugin.settings.live.enabled && file_is_on(), "row %zu, %zu: changed", row, n);
        CHECK(plugin.delivery.counts.passed == 7 && plugin.refused == 3, "row %zu, %zu: reset", row,
              n);
    }
    CHECK(plugin.settings.live.enabled == file_is_on(), "row %zu, %zu: file", row, n);
    CHECK(plugin.sessions.n_filters == 3 && sf_schema_filters(plugin.schema) == 2,
          "row %zu, %zu: filters", row, n);
}

static void test_control_without_memory(void) {
    set_up();
    for (size_t row = 0; row < N_ROWS(requests); row++) {
        for (int alone = 0; alone <= 1; alone++) {
            bool failed = true;
            for (size_t n = 0; failed; n++) {
                reset_state();
                arm(n, alone);
                send_text(requests[row]);
                failed = memory_disarm();
                json_t *responses = answers(row, n);
                check_done(row, n, responses);
                CHECK(failed || json_array_size(responses) == 1, "row %zu, %zu: an answer", row, n);
                json_decref(responses);
                REQUIRE(n < 5000 && !test_has_failed(), "row %zu, %zu", row, n);
            }
        }
    }
}

/* ---- settings ---- */

static void test_settings_file_without_memory(void) {
    set_up();
    write_config(
        "{\"enabled\": false, \"dialects\": [\"kv\", \"tag\"], \"max_filters_per_client\": 5}\n");
    bool failed = true;
    for (size_t n = 0; failed; n++) {
        struct live_settings live = {
            .enabled = true, .dialects = SF_DIALECT_ALL, .max_filters_per_client = 9};
        char error[SETTINGS_ERROR_BYTES] = "";
        arm(n, false);
        bool read = settings_read_file(&live, path, error);
        failed = memory_disarm();
        CHECK(read == !failed, "%zu: %s", n, error);
        CHECK(live.enabled == failed && live.max_filters_per_client == (failed ? 9 : 5),
              "%zu: all or nothing", n);
        CHECK(!failed || strncmp(error, "config_file ", 12) == 0, "%zu: %s", n, error);
        REQUIRE(n < 5000, "%zu", n);
    }
    write_config("{\"enabled\": true,\n\"en\\u0061ble\": 1}");
    failed = true;
    for (size_t n = 0; failed; n++) {
        struct live_settings live = {.enabled = false};
        char error[SETTINGS_ERROR_BYTES] = "";
        arm(n, false);
        CHECK(!settings_read_file(&live, path, error), "%zu", n);
        failed = memory_disarm();
        CHECK(!live.enabled && error[0] != '\0', "%zu: %s", n, error);
        CHECK(failed || strstr(error, ", line 2: \"enable\" is no setting") != NULL, "%s", error);
    }
}

/* ---- refusals under $SYS ---- */

static void test_refused_without_memory(void) {
    static const struct sf_error error = {
        .code = SF_E_OPERATOR, .offset = 4, .length = 1, .text = "a reason"};
    static const char whole[] =
        "{\"subscription\":\"t?v=>1\",\"code\":\"operator\",\"offset\":4,\"text\":\"a reason\"}";
    set_up();
    for (int alone = 0; alone <= 1; alone++) {
        bool failed = true;
        for (size_t n = 0; failed; n++) {
            free(published);
            published = NULL;
            arm(n, alone);
            sys_topics_refused(&plugin, "c", "t?v=>1", &error);
            failed = memory_disarm();
            CHECK(published == NULL || strcmp(published, whole) == 0, "%zu: %s", n, published);
            CHECK(published != NULL || failed, "%zu: nothing", n);
            REQUIRE(n < 5000, "%zu", n);
        }
    }
}

/* ---- the journal ---- */

static size_t read_journal(char *text, size_t room) {
    FILE *file = fopen(path, "r");
    REQUIRE(file != NULL, "%s", path);
    size_t bytes = fread(text, 1, room - 1, file);
    fclose(file);
    text[bytes] = '\0';
    return bytes;
}

/* A line that lacks its filter would be a plain subscription after the next start. */
static void test_journal_without_memory(void) {
    static const char *const lines[] = {
        "{\"client\":\"a\",\"topic\":\"v\",\"filter\":\"kv:x=1\",\"options\":1,\"identifier\":7}\n",
        "{\"client\":\"a\",\"topic\":\"v\",\"removed\":true}\n",
    };
    char text[4096], error[JOURNAL_ERROR_BYTES];
    set_up();
    struct session *session = sessions_find(&plugin.sessions, "a");
    for (size_t row = 0; row < N_ROWS(lines) * 2; row++) {
        bool failed = true;
        for (size_t n = 0; failed; n++) {
            struct sessions none = {0};
            const struct sf_options compile = SF_OPTIONS_INIT;
            bool torn = false;
            unlink(path);
            REQUIRE(
                journal_open(&plugin.journal, path, &none, plugin.schema, &compile, &torn, error),
                "%s", error);
            session->stored = true;
            size_t before = read_journal(text, sizeof text);
            arm(n, row >= N_ROWS(lines));
            if (row % N_ROWS(lines) == 0) {
                const struct journal_subscription subscription = {
                    .text = "v", .filter_text = "kv:x=1", .identifier = 7, .options = 1};
                bool written = journal_subscribe(&plugin.journal, session, &subscription);
                CHECK(written != plugin.journal.unwell, "row %zu, %zu", row, n);
            } else {
                journal_unsubscribe(&plugin.journal, session, "v");
            }
            failed = memory_disarm();
            read_journal(text, sizeof text);
            bool whole = strcmp(text + before, lines[row % N_ROWS(lines)]) == 0;
            CHECK(whole || (plugin.journal.unwell && text[before] == '\0'), "row %zu, %zu: %s", row,
                  n, text);
            CHECK(plugin.journal.unwell <= failed, "row %zu, %zu", row, n);
            journal_close(&plugin.journal);
            REQUIRE(n < 5000, "row %zu, %zu", row, n);
        }
    }
}

int main(int argc, char **argv) {
    json_set_alloc_funcs(memory_malloc, memory_free);
    json_object_seed(1);
    static const struct test_case cases[] = {
        TEST(test_control_without_memory),
        TEST(test_settings_file_without_memory),
        TEST(test_refused_without_memory),
        TEST(test_journal_without_memory),
    };
    return run_tests(argc, argv, cases, N_ROWS(cases));
}
