/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The tag dialect (LANGUAGE, tag), row by row. */
#include <string.h>

#include "rows.h"
#include "runner.h"

/* clang-format off */
#define YES ROW_TRUE
#define NO ROW_NO
#define BAD ROW_BAD

static void test_tag_matches_one_of_the_tags(void) {
    static const struct row rows[] = {
        {"tag:PAID", YES, {"TAGS", "PAID"}},
        {"tag:PAID", NO, {"TAGS", "paid"}},
        {"tag:PAID", NO, {"TAGS", "PAID "}},
        {"tag:PAID", NO, {"TAGS", "PAID||SHIPPED"}},
        {"tag:PAID", NO, {"TAGS", "PAI"}},
        {"tag:PAID", NO, {"tags", "PAID"}},
        {"tag:PAID", NO, {"TAGS", ""}},
        {"tag:PAID", NO, {"a", "PAID"}},
        {"tag:PAID", NO, {NULL}},
        {"tag:PAID||SHIPPED", YES, {"TAGS", "PAID"}},
        {"tag:PAID||SHIPPED", YES, {"TAGS", "SHIPPED"}},
        {"tag:PAID||SHIPPED", NO, {"TAGS", "NEW"}},
        {"tag:PAID || SHIPPED", YES, {"TAGS", "SHIPPED"}},
        {"tag:\t PAID\r\n\v\f||SHIPPED ", YES, {"TAGS", "PAID"}},
        {"tag:a b", YES, {"TAGS", "a b"}},
        {"tag:A||A||A", YES, {"TAGS", "A"}},
        {"tag:A||B", YES, {"TAGS", "C", "TAGS", "B"}}, /* any value of a repeated property */
        {"tag:A||B", YES, {"TAGS", "A", "TAGS", "C"}},
        {"tag:A||B", NO, {"TAGS", "C", "TAGS", "D"}},
        {"tag:5", NO, {"TAGS", "5.0"}},
        {"tag:a=1&b>2", YES, {"TAGS", "a=1&b>2"}},
        {"tag:'a'", YES, {"TAGS", "'a'"}},
        {"tag:\xE5\x8C\x97||x", YES, {"TAGS", "\xE5\x8C\x97"}},
        {"TAG:A", YES, {"TAGS", "A"}},
        {" \tTaG:A", YES, {"TAGS", "A"}},
        {"tag:tag:A", YES, {"TAGS", "tag:A"}},
        {"tag:sql:A", YES, {"TAGS", "sql:A"}},
    };
    rows_check(NULL, rows, N_ROWS(rows));
}

static void test_tag_without_the_property_is_unknown(void) {
    static const struct row rows[] = {
        {"tag:PAID", ROW_UNKNOWN, {NULL}},
        {"tag:PAID||SHIPPED", ROW_UNKNOWN, {"tags", "PAID"}},
        {"tag:PAID", ROW_FALSE, {"TAGS", ""}},
        {"tag:PAID||SHIPPED", ROW_FALSE, {"TAGS", "OPEN"}},
        {"tag:*", ROW_TRUE, {NULL}},
    };
    rows_check(NULL, rows, N_ROWS(rows));
}

static void test_tag_splits_at_each_double_bar_from_the_left(void) {
    static const struct row rows[] = {
        {"tag:a|b", YES, {"TAGS", "a|b"}},
        {"tag:a|b", NO, {"TAGS", "a"}},
        {"tag:a|||b", YES, {"TAGS", "a"}},
        {"tag:a|||b", YES, {"TAGS", "|b"}},
        {"tag:a|||b", NO, {"TAGS", "b"}},
        {"tag:a|||b", NO, {"TAGS", "a|"}},
        {"tag:a| |b", YES, {"TAGS", "a| |b"}},
        {"tag:|a", YES, {"TAGS", "|a"}},
        {"tag:a|", YES, {"TAGS", "a|"}},
        {"tag:|", YES, {"TAGS", "|"}},
        {"tag:a||b|", YES, {"TAGS", "b|"}},
        {"tag:", BAD, {NULL}},
        {"tag: ", BAD, {NULL}},
        {"tag:||", BAD, {NULL}},
        {"tag:|||", BAD, {NULL}},
        {"tag:||||", BAD, {NULL}},
        {"tag:||a", BAD, {"TAGS", "a"}},
        {"tag:a||", BAD, {"TAGS", "a"}},
        {"tag:a|| ||b", BAD, {"TAGS", "a"}},
        {"tag:a||||b", BAD, {"TAGS", "a"}},
        {"tag:a|||||b", BAD, {"TAGS", "a"}}, /* a, nothing, |b */
    };
    rows_check(NULL, rows, N_ROWS(rows));
}

static void test_tag_star_matches_every_message(void) {
    static const struct row rows[] = {
        {"tag:*", YES, {NULL}},
        {"tag:*", YES, {"TAGS", "A"}},
        {"tag:*", YES, {"a", "b"}},
        {"tag: * ", YES, {NULL}},
        {"tag:A||*", YES, {NULL}},
        {"tag:*||A", YES, {"TAGS", "B"}},
        {"tag:A||*||B", YES, {"TAGS", ""}},
        {"tag:%2A", NO, {NULL}},
        {"tag:%2A", NO, {"TAGS", "A"}},
        {"tag:%2a", YES, {"TAGS", "*"}},
        {"tag:**", NO, {NULL}},
        {"tag:**", YES, {"TAGS", "**"}},
        {"tag:A*", NO, {"TAGS", "AB"}},
    };
    rows_check(NULL, rows, N_ROWS(rows));
}

static void test_tag_decodes_every_escape_once(void) {
    static const struct row rows[] = {
        {"tag:a%7C%7cb", YES, {"TAGS", "a||b"}},
        {"tag:a%7C|b", YES, {"TAGS", "a||b"}},
        {"tag:%7C||b", YES, {"TAGS", "|"}},
        {"tag:%20a%20", YES, {"TAGS", " a "}},
        {"tag:%20", YES, {"TAGS", " "}},
        {"tag:%2541", YES, {"TAGS", "%41"}},
        {"tag:100%", YES, {"TAGS", "100%"}},
        {"tag:%zz", YES, {"TAGS", "%zz"}},
        {"tag:%E5%8C%97", YES, {"TAGS", "\xE5\x8C\x97"}},
        {"tag:%23%2B", YES, {"TAGS", "#+"}},
        {"tag:%00", BAD, {NULL}},
        {"tag:a||b%00", BAD, {NULL}},
        {"tag:%C3", BAD, {NULL}},
        {"tag:%C3||%A9", BAD, {NULL}},
        {"tag:\xFF", BAD, {NULL}},
    };
    rows_check(NULL, rows, N_ROWS(rows));
}

static void test_tag_key_is_an_option(void) {
    static const struct row rows[] = {
        {"tag:A", YES, {"type", "A"}},
        {"tag:A", NO, {"TAGS", "A"}},
        {"tag:*", YES, {NULL}},
        {"tag:B||A", YES, {"TAGS", "B", "type", "C", "type", "A"}},
    };
    struct sf_options options = SF_OPTIONS_INIT;
    options.tag_key = "type";
    rows_check(&options, rows, N_ROWS(rows));

    static const struct row odd[] = {{"tag:A", YES, {"\xE6\xB8\xA9 \"x\"", "A"}}};
    options.tag_key = "\xE6\xB8\xA9 \"x\"";
    rows_check(&options, odd, N_ROWS(odd));
}
/* clang-format on */

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        TEST(test_tag_matches_one_of_the_tags),
        TEST(test_tag_without_the_property_is_unknown),
        TEST(test_tag_splits_at_each_double_bar_from_the_left),
        TEST(test_tag_star_matches_every_message),
        TEST(test_tag_decodes_every_escape_once),
        TEST(test_tag_key_is_an_option),
    };
    return run_tests(argc, argv, cases, N_ROWS(cases));
}
