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

/* With strict_integers. */
static const struct row strict_rows[] = {
    {"sql:a = 5", {"a", "5.0"}, {"a is '5.0', which is not an integer"}, {NULL}},
    {"sql:a = -5", {"a", "x"}, {"a is 'x', which is not a number"}, {NULL}},
    {"sql:5 BETWEEN a AND b", {"a", "4.5", "b", "6"}, {"a is '4.5', which is not an integer", "b is '6'"}, {NULL}},
    {"sql:a BETWEEN 1 AND 9.0", {"a", "5.5"}, {"a is '5.5', which is not an integer"}, {NULL}},
    {"sql:a IN (5, 'x')", {"a", "5.5"}, {"a is '5.5', which is not an integer"}, {NULL}},
    {"sql:(a = 5) IS NULL", {"a", "5.0"}, {"a is '5.0', which is not an integer"}, {NULL}},
    /* where no integer literal is met, that is not why */
    {"sql:a > b", {"a", "5.5"}, {"a is '5.5'", "b is absent"}, {"integer"}},
    {"sql:a > 5.0 / b", {"a", "5.5", "b", "0"}, {"divides by zero"}, {"integer"}},
    {"sql:a + 1 > b", {"a", "5.5"}, {"b is absent"}, {"integer"}},
    {"sql:b BETWEEN a AND 5", {"a", "5.5"}, {"b is absent"}, {"integer"}},
};
/* clang-format on */

static void check_row(const struct row *row, bool strict_integers) {
    struct sf_options options = SF_OPTIONS_INIT;
    options.strict_integers = strict_integers;
    struct engine_properties storage;
    struct ref_message source = engine_message(row->pairs, &storage);
    struct sf_schema *schema = sf_schema_new();
    struct sf_message *message = schema != NULL ? sf_message_new(schema) : NULL;
    struct sf_filter *filter = NULL;
    struct engine_text text = {NULL, 0, 0};
    enum sf_truth truth = SF_FALSE;
    bool explained =
        message != NULL &&
        sf_compile(schema, &options, row->expr, strlen(row->expr), &filter, NULL) == SF_OK &&
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
        check_row(&rows[i], false);
    }
    for (size_t i = 0; i < N_ROWS(strict_rows); i++) {
        check_row(&strict_rows[i], true);
    }
}

/* However often a name is in a condition it is told once, and not all of very many. */
static void test_explain_is_short(void) {
    char sum[1000] = "sql:0";
    for (int i = 0; i < 50; i++) {
        size_t bytes = strlen(sum);
        snprintf(sum + bytes, sizeof sum - bytes, " + n%d + n%d", i, i);
    }
    strcat(sum, " > 1");
    const struct row row = {
        sum, {"n0", "1"}, {": n0 is '1'; n1 is absent; ", "n31 is absent; ...\n"}, {"n32 is"}};
    check_row(&row, false);
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
        TEST(test_explain_is_short),
        TEST(test_explain_of_hostile_text_is_clean),
    };
    return run_tests(argc, argv, cases, N_ROWS(cases));
}
