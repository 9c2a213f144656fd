/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Messages: properties, attributes, reset and reuse, the limit of properties, and what a change of the schema
 * means for a message that was bound before it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "runner.h"

struct fixture {
    struct sf_schema *schema;
    struct sf_message *message;
    struct sf_filter *filters[64];
    size_t n_filters;
};

static struct fixture fixture;

static void close_fixture(void *user) {
    (void)user;
    sf_message_free(fixture.message);
    for (size_t i = 0; i < fixture.n_filters; i++) {
        sf_filter_unref(fixture.filters[i]);
    }
    sf_schema_free(fixture.schema);
}

static void open_fixture(void) {
    fixture = (struct fixture){.schema = sf_schema_new()};
    REQUIRE(fixture.schema != NULL, "%s", "memory");
    fixture.message = sf_message_new(fixture.schema);
    test_defer(close_fixture, NULL);
    REQUIRE(fixture.message != NULL, "%s", "memory");
}

static struct sf_filter *compile(const char *text) {
    struct sf_filter *filter = NULL;
    struct sf_error error = {.text = ""};
    enum sf_status status = sf_compile(fixture.schema, NULL, text, strlen(text), &filter, &error);
    REQUIRE(status == SF_OK, "%s: %s", text, error.text);
    fixture.filters[fixture.n_filters++] = filter;
    return filter;
}

static void reset(void) {
    REQUIRE(sf_message_reset(fixture.message) == SF_OK, "%s", "memory");
}

static bool add(const char *name, const char *value) {
    return sf_message_add(fixture.message, name, strlen(name), value, strlen(value));
}

static void check(const struct sf_filter *filter, enum sf_truth expected) {
    enum sf_truth truth = SF_FALSE;
    const char *wrong = engine_check_truth(filter, fixture.message, &truth);
    CHECK(wrong == NULL && truth == expected, "%s: %s, expected %s: %s",
          sf_filter_text(filter, NULL), engine_truth_name(truth), engine_truth_name(expected),
          wrong == NULL ? "" : wrong);
}

/* kv and tag: false and unknown are one */
static void check_no(const struct sf_filter *filter) {
    enum sf_truth truth = SF_TRUE;
    const char *wrong = engine_check_truth(filter, fixture.message, &truth);
    CHECK(wrong == NULL && truth != SF_TRUE, "%s: %s", sf_filter_text(filter, NULL),
          engine_truth_name(truth));
}

static void test_add_tells_which_names_are_read(void) {
    open_fixture();
    reset();
    CHECK(!add("a", "1"), "%s", "no filter reads anything yet");
    compile("a=1&b>2");
    compile("sql:c IS NULL AND \"d e\" = $topic");
    compile("tag:X");
    reset();
    static const struct {
        const char *name;
        bool is_read;
    } rows[] = {{"a", true},      {"b", true},       {"c", true},   {"d e", true},   {"TAGS", true},
                {"A", false},     {"tags", false},   {"", false},   {"aa", false},   {"d", false},
                {"topic", false}, {"$topic", false}, {"a ", false}, {"TAGSX", false}};
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        CHECK(add(rows[i].name, "x") == rows[i].is_read, "%s", rows[i].name);
    }
}

static void test_names_and_values_are_lengths_not_strings(void) {
    open_fixture();
    struct sf_filter *filter = compile("sql:a = 'xy'");
    struct sf_filter *prefix = compile("sql:ab = 'xy'");
    reset();
    sf_message_add(fixture.message, "abc", 1, "xyz", 2);
    check(filter, SF_TRUE);
    check(prefix, SF_UNKNOWN);
    reset();
    sf_message_add(fixture.message, "a\0", 2, "xy", 2); /* another name */
    check(filter, SF_UNKNOWN);
    reset();
    sf_message_add(fixture.message, "a", 1, "xy\0", 3);
    check(filter, SF_FALSE);
    reset();
    sf_message_add(fixture.message, "a", 1, "xyz", 0); /* empty, not absent */
    check(filter, SF_FALSE);
    check(prefix, SF_UNKNOWN);
}

static void test_names_are_borrowed_and_values_kept(void) {
    open_fixture();
    struct sf_filter *filter = compile("sql:a = 'x' AND b > 5");
    reset();
    char name[2] = "a";
    char value[2] = "x";
    char number[2] = "7";
    sf_message_add(fixture.message, name, 1, value, 1);
    name[0] = 'b';
    sf_message_add(fixture.message, name, 1, number, 1);
    name[0] = 'z';
    check(filter, SF_TRUE);
}

static void test_reset_forgets_everything(void) {
    open_fixture();
    struct sf_filter *properties = compile("sql:a = 'x' OR b = 'y'");
    struct sf_filter *key_values = compile("a=x");
    struct sf_filter *attributes =
        compile("sql:$topic IS NULL AND $content_type IS NULL AND $response_topic IS NULL AND "
                "$qos IS NULL AND $retain IS NULL AND $payload_bytes IS NULL");
    reset();
    check(properties, SF_UNKNOWN);
    check(attributes, SF_TRUE);
    for (int i = 0; i < 3; i++) {
        add("a", "x");
        sf_message_set_topic(fixture.message, "t", 1);
        sf_message_set_content_type(fixture.message, "c", 1);
        sf_message_set_response_topic(fixture.message, "r", 1);
        sf_message_set_qos(fixture.message, 2);
        sf_message_set_retain(fixture.message, true);
        sf_message_set_payload_bytes(fixture.message, 17);
        check(properties, SF_TRUE);
        check(key_values, SF_TRUE);
        check(attributes, SF_FALSE);
        reset();
        check(properties, SF_UNKNOWN);
        check_no(key_values);
        check(attributes, SF_TRUE);
    }
}

static void test_a_new_message_is_empty(void) {
    open_fixture();
    struct sf_filter *filter = compile("sql:a IS NULL AND $qos IS NULL");
    struct sf_message *message = sf_message_new(fixture.schema);
    REQUIRE(message != NULL, "%s", "memory");
    enum sf_truth truth = sf_eval(filter, message);
    sf_message_free(message);
    CHECK(truth == SF_TRUE, "%s", engine_truth_name(truth));
}

/* A number that was read from one message is not the number of the next. */
static void test_converted_numbers_do_not_outlive_their_message(void) {
    open_fixture();
    struct sf_filter *above = compile("sql:a > 5");
    struct sf_filter *boolean = compile("sql:a = TRUE");
    static const struct {
        const char *value;
        enum sf_truth above, boolean;
    } rows[] = {
        {"6", SF_TRUE, SF_UNKNOWN},        {"4", SF_FALSE, SF_UNKNOWN},
        {"x", SF_UNKNOWN, SF_UNKNOWN},     {"7", SF_TRUE, SF_UNKNOWN},
        {"true", SF_UNKNOWN, SF_TRUE},     {"5.5", SF_TRUE, SF_UNKNOWN},
        {"false", SF_UNKNOWN, SF_FALSE},   {"", SF_UNKNOWN, SF_UNKNOWN},
        {"1e400", SF_UNKNOWN, SF_UNKNOWN}, {"9223372036854775808", SF_TRUE, SF_UNKNOWN},
    };
    char value[32]; /* at one address all the time */
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < N_ROWS(rows); i++) {
            reset();
            strcpy(value, rows[i].value);
            add("a", value);
            check(above, rows[i].above);
            check(boolean, rows[i].boolean);
        }
    }
    /* nor of an earlier property of the same name */
    reset();
    add("a", "6");
    check(above, SF_TRUE);
    add("a", "4");
    check(above, SF_FALSE);
    add("a", "x");
    check(above, SF_UNKNOWN);
}

static void test_attributes_can_be_set_again(void) {
    open_fixture();
    struct sf_filter *filter =
        compile("sql:$topic = 'b' AND $qos = 1 AND $payload_bytes > 9 AND NOT $retain");
    reset();
    sf_message_set_topic(fixture.message, "a", 1);
    sf_message_set_qos(fixture.message, 2);
    sf_message_set_payload_bytes(fixture.message, 5);
    sf_message_set_retain(fixture.message, true);
    check(filter, SF_FALSE);
    sf_message_set_topic(fixture.message, "b", 1);
    sf_message_set_qos(fixture.message, 1);
    sf_message_set_payload_bytes(fixture.message, 10);
    sf_message_set_retain(fixture.message, false);
    check(filter, SF_TRUE);
}

/* ---- the limit of properties ----------------------------------------------------------------- */

static void test_more_than_256_properties_match_nothing(void) {
    open_fixture();
    struct sf_filter *all = compile("tag:*");
    struct sf_filter *truth = compile("sql:TRUE");
    struct sf_filter *unknown = compile("sql:a = 1");
    struct sf_filter *absent = compile("sql:a IS NULL");
    struct sf_filter *read = compile("x=1");
    for (int round = 0; round < 2; round++) {
        reset();
        for (int i = 0; i < SF_MAX_PROPERTIES; i++) {
            add(i % 2 == 0 ? "x" : "unread", "1");
        }
        check(all, SF_TRUE);
        check(truth, SF_TRUE);
        check(unknown, SF_UNKNOWN);
        check(absent, SF_TRUE);
        check(read, SF_TRUE);
        for (int i = 0; i < 3; i++) {
            add(round == 0 ? "unread" : "x", "1");
            check(all, SF_FALSE);
            check(truth, SF_FALSE);
            check(unknown, SF_FALSE);
            check(absent, SF_FALSE);
            check(read, SF_FALSE);
        }
    }
    reset();
    check(all, SF_TRUE);
    check(absent, SF_TRUE);
    check_no(read);
}

static void test_thousands_of_properties_match_nothing(void) {
    open_fixture();
    struct sf_filter *filter = compile("a=1");
    reset();
    for (int i = 0; i < 70000; i++) {
        add("a", "1");
    }
    check(filter, SF_FALSE);
    reset();
    add("a", "1");
    check(filter, SF_TRUE);
}

static void test_256_values_of_one_name_are_all_seen(void) {
    open_fixture();
    struct sf_filter *first = compile("a=v0");
    struct sf_filter *middle = compile("a=v100&a=v200");
    struct sf_filter *last = compile("a=v255");
    struct sf_filter *none = compile("a=v256");
    struct sf_filter *sql = compile("sql:a = 'v255'");
    static char values[SF_MAX_PROPERTIES][8];
    reset();
    for (int i = 0; i < SF_MAX_PROPERTIES; i++) {
        snprintf(values[i], sizeof values[i], "v%d", i);
        add("a", values[i]);
    }
    check(first, SF_TRUE);
    check(middle, SF_TRUE);
    check(last, SF_TRUE);
    check_no(none);
    check(sql, SF_TRUE);
}

static void test_256_names_are_all_seen(void) {
    open_fixture();
    static char names[SF_MAX_PROPERTIES][8];
    char expr[64];
    for (int i = 0; i < SF_MAX_PROPERTIES; i++) {
        snprintf(names[i], sizeof names[i], "n%d", i);
    }
    struct sf_filter *filters[8];
    for (int i = 0; i < 8; i++) {
        snprintf(expr, sizeof expr, "sql:n%d = 'x' AND n%d = 'x'", i * 32, i * 32 + 31);
        filters[i] = compile(expr);
    }
    reset();
    for (int i = 0; i < SF_MAX_PROPERTIES; i++) {
        CHECK(add(names[i], "x") == (i % 32 == 0 || i % 32 == 31), "%s", names[i]);
    }
    for (int i = 0; i < 8; i++) {
        check(filters[i], SF_TRUE);
    }
}

/* ---- changes of the schema ------------------------------------------------------------------- */

static void test_generation_changes_with_the_names(void) {
    open_fixture();
    uint64_t start = sf_schema_generation(fixture.schema);
    struct sf_filter *a = compile("a=1");
    uint64_t one = sf_schema_generation(fixture.schema);
    CHECK(one != start, "%s", "a came");
    compile("a=2");
    compile("a=1");
    compile("sql:TRUE");
    CHECK(sf_schema_generation(fixture.schema) == one, "%s", "no name came");
    compile("b=1");
    uint64_t two = sf_schema_generation(fixture.schema);
    CHECK(two != one && two != start, "%s", "b came");
    sf_filter_unref(fixture.filters[--fixture.n_filters]);
    uint64_t three = sf_schema_generation(fixture.schema);
    CHECK(three != two && three != one && three != start, "%s",
          "b went: a number never comes back");
    CHECK(sf_schema_names(fixture.schema) == 1, "%zu", sf_schema_names(fixture.schema));
    reset();
    add("a", "1");
    check(a, SF_TRUE);
}

static void test_a_message_follows_the_schema_after_reset(void) {
    open_fixture();
    struct sf_filter *a = compile("sql:a = 'x'");
    reset();
    add("a", "x");
    check(a, SF_TRUE);
    static char exprs[40][32];
    struct sf_filter *more[40];
    for (int i = 0; i < 40; i++) {
        snprintf(exprs[i], sizeof exprs[i], "sql:more%d = 'x'", i);
        more[i] = compile(exprs[i]);
        reset();
        add("a", "x");
        char name[16];
        snprintf(name, sizeof name, "more%d", i);
        CHECK(add(name, "x"), "%s", name);
        check(a, SF_TRUE);
        check(more[i], SF_TRUE);
        if (i > 0) {
            check(more[i - 1], SF_UNKNOWN);
        }
    }
    while (fixture.n_filters > 1) {
        sf_filter_unref(fixture.filters[--fixture.n_filters]);
        reset();
        add("a", "x");
        check(a, SF_TRUE);
    }
    CHECK(!add("more0", "x"), "%s", "nobody reads it any more");
}

static void test_several_messages_of_one_schema(void) {
    open_fixture();
    struct sf_filter *filter = compile("a=1&b=2");
    struct sf_message *messages[5];
    for (size_t i = 0; i < N_ROWS(messages); i++) {
        messages[i] = sf_message_new(fixture.schema);
        REQUIRE(messages[i] != NULL, "%s", "memory");
        REQUIRE(sf_message_reset(messages[i]) == SF_OK, "%s", "memory");
        sf_message_add(messages[i], "a", 1, i % 2 == 0 ? "1" : "2", 1);
        sf_message_add(messages[i], "b", 1, "2", 1);
    }
    for (size_t i = 0; i < N_ROWS(messages); i++) {
        CHECK((sf_eval(filter, messages[i]) == SF_TRUE) == (i % 2 == 0), "%zu", i);
        sf_message_free(messages[i]);
    }
    sf_message_free(NULL);
    sf_filter_unref(NULL);
    sf_schema_free(NULL);
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        TEST(test_add_tells_which_names_are_read),
        TEST(test_names_and_values_are_lengths_not_strings),
        TEST(test_names_are_borrowed_and_values_kept),
        TEST(test_reset_forgets_everything),
        TEST(test_a_new_message_is_empty),
        TEST(test_converted_numbers_do_not_outlive_their_message),
        TEST(test_attributes_can_be_set_again),
        TEST(test_more_than_256_properties_match_nothing),
        TEST(test_thousands_of_properties_match_nothing),
        TEST(test_256_values_of_one_name_are_all_seen),
        TEST(test_256_names_are_all_seen),
        TEST(test_generation_changes_with_the_names),
        TEST(test_a_message_follows_the_schema_after_reset),
        TEST(test_several_messages_of_one_schema),
    };
    return run_tests(argc, argv, cases, N_ROWS(cases));
}
