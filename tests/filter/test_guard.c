/* SPDX-License-Identifier: BSD-3-Clause
 *
 * filter/guard.h: which filters have a guard, and for which messages it answers. That it is right where it answers is
 * checked with every truth that the tests ask for (tests/support/engine.c). */
#include "guard.h"

#include <string.h>

#include "runner.h"
#include "schema.h"
#include "text.h"

static struct sf_schema *schema;
static struct sf_filter *filter;
static struct sf_message *message;

static void close_fixture(void *user) {
    (void)user;
    sf_message_free(message);
    sf_filter_unref(filter);
    sf_schema_free(schema);
    message = NULL;
    filter = NULL;
    schema = NULL;
}

static void compile(const char *expression) {
    close_fixture(NULL);
    struct sf_error error = {.text = "no schema"};
    schema = sf_schema_new();
    bool ok = schema != NULL &&
              sf_compile(schema, NULL, expression, strlen(expression), &filter, &error) == SF_OK;
    REQUIRE(ok, "%s: %s", expression, error.text);
}

static void test_which_filters_have_one(void) {
    static const struct {
        const char *expression;
        const char *name; /* NULL: none */
        const char *text;
    } rows[] = {
        {"a=x", "a", "x"},
        {"v>5&a=x&b=y", "a", "x"},
        {"a=longer than a word", "a", "longer than a word"},
        {"tag:PAID", "TAGS", "PAID"},
        {"sql:a = 'x'", "a", "x"},
        {"sql:'x' = a", "a", "x"},
        {"sql:a = ''", "a", ""},
        {"sql:a IN ('x')", "a", "x"},
        {"sql:NOT (a <> 'x' OR b = 'y')", "a", "x"},
        {"sql:(b = 'y' OR v > 5) AND a = 'x'", "a", "x"},
        {"sql:a = 'x' AND (b = 'y' AND v > 5)", "a", "x"},
        {"v>5", NULL, NULL},
        {"tag:PAID||SHIPPED", NULL, NULL},
        {"tag:*", NULL, NULL},
        {"sql:a = 5", NULL, NULL},
        {"sql:a <> 'x'", NULL, NULL},
        {"sql:NOT (a = 'x')", NULL, NULL},
        {"sql:a = b", NULL, NULL},
        {"sql:a = 'x' OR v > 5", NULL, NULL},
        {"sql:NOT (a <> 'x' AND b <> 'y')", NULL, NULL},
        {"sql:(a = 'x' OR b = 'y') AND v > 5", NULL, NULL},
        {"sql:(a = 'x') = (b = 'y')", NULL, NULL},
        {"sql:(a = 'x') IS NULL", NULL, NULL},
        {"sql:a IN ('x', 'y')", NULL, NULL},
        {"sql:a STARTSWITH 'x'", NULL, NULL},
    };
    test_defer(close_fixture, NULL);
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        compile(rows[i].expression);
        struct sf_guard guard = sf_filter_guard(filter);
        if (rows[i].name == NULL) {
            CHECK(guard.slot == SF_NO_SLOT, "%s: has a guard", rows[i].expression);
            continue;
        }
        uint32_t id =
            sf_intern_find(&schema->names, (struct sf_text){rows[i].name, strlen(rows[i].name)});
        CHECK(guard.slot == sf_slot_of_name(id), "%s: the slot", rows[i].expression);
        CHECK(guard.bytes == strlen(rows[i].text) &&
                  guard.word == sf_text_word(rows[i].text, strlen(rows[i].text)),
              "%s: the text", rows[i].expression);
    }
    CHECK(sf_filter_guard(NULL).slot == SF_NO_SLOT, "%s", "no filter");
}

static void test_what_it_excludes(void) {
    static const struct {
        const char *what;
        const char *values[4]; /* of a */
        bool excluded;
    } rows[] = {
        {"absent", {NULL}, false},
        {"the text", {"longer than a word"}, false},
        {"shorter", {"longer than a wor"}, true},
        {"longer", {"longer than a words"}, true},
        {"empty", {""}, true},
        {"other beginning", {"Longer than a word"}, true},
        {"other end", {"longer than a worD"}, false},
        {"two values, the last equal", {"x", "longer than a word"}, false},
        {"two values, the first equal", {"longer than a word", "x"}, false},
        {"two values, none equal", {"x", "y"}, false},
    };
    test_defer(close_fixture, NULL);
    compile("a=longer than a word");
    message = sf_message_new(schema);
    REQUIRE(message != NULL, "%s", "memory");
    const struct sf_guard guard = sf_filter_guard(filter);
    const struct sf_guard none = sf_filter_guard(NULL);
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        CHECK(sf_message_reset(message) == SF_OK, "%s", rows[i].what);
        for (const char *const *value = rows[i].values; *value != NULL; value++) {
            sf_message_add(message, "a", 1, *value, strlen(*value));
        }
        const struct sf_value *values = sf_message_values(message);
        REQUIRE(values != NULL, "%s: not bound", rows[i].what);
        CHECK(sf_guard_excludes(&guard, values) == rows[i].excluded, "%s", rows[i].what);
        CHECK(!sf_guard_excludes(&none, values), "%s: no guard", rows[i].what);
    }
}

static void test_messages_that_no_filter_is_to_look_at(void) {
    test_defer(close_fixture, NULL);
    compile("a=x");
    message = sf_message_new(schema);
    REQUIRE(message != NULL, "%s", "memory");
    for (size_t i = 0; i <= SF_MAX_PROPERTIES; i++) {
        CHECK(sf_message_values(message) != NULL, "%zu properties", i);
        sf_message_add(message, "b", 1, "y", 1);
    }
    CHECK(sf_message_values(message) == NULL, "%s", "too many properties");
    CHECK(sf_message_reset(message) == SF_OK && sf_message_values(message) != NULL, "%s",
          "the next one");
    struct sf_filter *other = NULL;
    REQUIRE(sf_compile(schema, NULL, "c=z", 3, &other, NULL) == SF_OK, "%s", "memory");
    CHECK(sf_message_values(message) == NULL, "%s", "bound before there was a name more");
    sf_filter_unref(other);
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        TEST(test_which_filters_have_one),
        TEST(test_what_it_excludes),
        TEST(test_messages_that_no_filter_is_to_look_at),
    };
    return run_tests(argc, argv, cases, N_ROWS(cases));
}
