/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What is written for people: sf_explain names the condition that decided and the property that was absent or did not
 * convert; tree and program list every node and instruction on a line of its own. (Whole listings are in
 * tests/data/golden.)
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "runner.h"

struct row {
    const char *expr;
    const char *pairs[9];
    const char *contains[4];
    const char *lacks[3]; /* what had no part in it */
};

/* clang-format off */
static const struct row rows[] = {
    {"sql:a > 5 AND b = 1", {"a", "6"}, {"b = 1", "b is absent"}, {"a > 5"}},
    {"sql:a > 5 AND b = 1", {"a", "x", "b", "1"}, {"a > 5", "'x'", "not a number"}, {"b = 1"}},
    {"sql:a > 5 AND b = 1", {"a", "4"}, {"a > 5", "false", "'4'"}, {"b = 1"}},
    {"sql:a > 5 OR b = 1", {"a", "6"}, {"a > 5", "true", "'6'"}, {"b = 1"}},
    {"sql:a > 5 OR b = 1", {"a", "4", "b", "2"}, {"a > 5", "b = 1"}, {NULL}},
    {"sql:a = $topic", {"a", "x"}, {"$topic is absent"}, {NULL}},
    {"sql:NOT a", {"a", "yes"}, {"'yes'"}, {NULL}},
    {"sql:a LIKE 'x%'", {NULL}, {"a is absent"}, {NULL}},
    {"sql:\"device-type\" = 'x'", {NULL}, {"\"device-type\"", "absent"}, {NULL}},
    {"a=1&b=2", {"a", "1"}, {"b=2", "b is absent"}, {"a=1"}},
    {"a=1&b=2", {"a", "1", "b", "3"}, {"b=2", "'3'"}, {"a=1"}},
    {"a=1&b>2", {"a", "1", "b", "x"}, {"b>2", "'x'"}, {"a=1"}},
    {"tag:A||B", {NULL}, {"TAGS is absent"}, {NULL}},
    {"tag:A||B", {"TAGS", "C"}, {"'C'"}, {NULL}},
};
/* clang-format on */

static void check_row(const struct row *row) {
    struct engine_properties storage;
    struct ref_message source = engine_message(row->pairs, &storage);
    struct sf_schema *schema = sf_schema_new();
    struct sf_message *message = schema != NULL ? sf_message_new(schema) : NULL;
    struct sf_filter *filter = NULL;
    struct engine_text text = {NULL, 0, 0};
    enum sf_truth truth = SF_FALSE;
    bool explained =
        message != NULL &&
        sf_compile(schema, NULL, row->expr, strlen(row->expr), &filter, NULL) == SF_OK &&
        engine_bind(message, &source) &&
        sf_explain(filter, message, engine_write, &text, &truth) == SF_OK;
    CHECK(explained, "%s", row->expr);
    for (size_t i = 0; explained && i < N_ROWS(row->contains) && row->contains[i] != NULL; i++) {
        CHECK(strstr(text.text, row->contains[i]) != NULL, "%s: %s is not in: %s", row->expr,
              row->contains[i], text.text);
    }
    for (size_t i = 0; explained && i < N_ROWS(row->lacks) && row->lacks[i] != NULL; i++) {
        CHECK(strstr(text.text, row->lacks[i]) == NULL, "%s: %s is in: %s", row->expr,
              row->lacks[i], text.text);
    }
    free(text.text);
    sf_filter_unref(filter);
    sf_message_free(message);
    sf_schema_free(schema);
}

static void test_explain_names_what_decided(void) {
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        check_row(&rows[i]);
    }
}

/* Text of a client in an explanation is cut and made harmless; engine_run looks at that. */
static void test_explain_of_hostile_text_is_clean(void) {
    static const char *const pieces[] = {
        "\x01", "\n", "\x1B[2J", "\xC2\x85", "'", "\"", "\xF0\x9F\x99\x82", "x", "%0A", "\\"};
    static char value[5000];
    for (size_t i = 0; i < N_ROWS(pieces); i++) {
        for (size_t times = 1; times < 1000; times = times * 3 + i) {
            size_t bytes = 0;
            for (size_t n = 0; n < times; n++) {
                bytes += (size_t)snprintf(value + bytes, sizeof value - bytes, "%s", pieces[i]);
            }
            struct ref_property property = {{"a", 1}, {value, bytes}};
            struct ref_message message = {.properties = &property, .n_properties = 1};
            static const char *const exprs[] = {"a=1",         "a>1",         "sql:a > 1",
                                                "sql:a = 'x'", "sql:a AND b", "sql:-a = b"};
            for (size_t k = 0; k < N_ROWS(exprs); k++) {
                struct engine_result result;
                const char *wrong = engine_run(NULL, exprs[k], strlen(exprs[k]), &message, &result);
                CHECK(wrong == NULL, "%s with %zu of piece %zu: %s", exprs[k], times, i, wrong);
            }
        }
    }
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        TEST(test_explain_names_what_decided),
        TEST(test_explain_of_hostile_text_is_clean),
    };
    return run_tests(argc, argv, cases, N_ROWS(cases));
}
