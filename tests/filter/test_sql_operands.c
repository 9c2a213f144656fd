/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What operands and operators of the sql dialect mean (LANGUAGE, operands), row by row. The truth tables of that
 * section are in test_truth.c, the edges of numbers in test_numbers.c.
 */
#include <string.h>

#include "rows.h"
#include "runner.h"

/* clang-format off */
#define T ROW_TRUE
#define F ROW_FALSE
#define U ROW_UNKNOWN
#define BAD ROW_BAD

static void test_equality_of_names_and_strings(void) {
    static const struct row rows[] = {
        {"sql:a = 'x'", T, {"a", "x"}},
        {"sql:a = 'x'", F, {"a", "X"}},
        {"sql:a = 'x'", F, {"a", "x "}},
        {"sql:a <> 'x'", F, {"a", "x"}},
        {"sql:a != 'x'", T, {"a", "y"}},
        {"sql:'x' <> a", T, {"a", "y"}},
        {"sql:a = '5'", T, {"a", "5"}},
        {"sql:a = '5'", F, {"a", "5.0"}},
        {"sql:a = ''", T, {"a", ""}},
        {"sql:a = 'true'", F, {"a", "TRUE"}},
        {"sql:a = b", T, {"a", "x", "b", "x"}},
        {"sql:a = b", F, {"a", "5", "b", "5.0"}},
        {"sql:a - b = 0", T, {"a", "5", "b", "5.0"}},
        {"sql:a = b", F, {"a", "true", "b", "TRUE"}},
        {"sql:a = b", T, {"a", "", "b", ""}},
        {"sql:a <> b", T, {"a", "x", "b", "y"}},
        {"sql:a = a", T, {"a", "x"}},
        {"sql:a = a", U, {NULL}},
        {"sql:'x' = 'x'", T, {NULL}},
        {"sql:'x' = 'X'", F, {NULL}},
        {"sql:'x' <> ''", T, {NULL}},
        {"sql:'true' <> ' 5'", T, {NULL}},
        {"sql:(a) = ('x')", T, {"a", "x"}},
    };
    rows_check(NULL, rows, N_ROWS(rows));
}

static void test_the_last_of_several_properties_counts(void) {
    static const struct row rows[] = {
        {"sql:a = 'y'", T, {"a", "x", "a", "y"}},
        {"sql:a = 'x'", F, {"a", "x", "a", "y"}},
        {"sql:a = 5", U, {"a", "5", "a", "y"}},
        {"sql:a > 5", T, {"a", "x", "b", "1", "a", "6"}},
        {"sql:a LIKE 'x%'", F, {"a", "x", "a", ""}},
        {"sql:a IS NULL", F, {"a", "", "a", ""}},
    };
    rows_check(NULL, rows, N_ROWS(rows));
}

static void test_equality_with_numbers(void) {
    static const struct row rows[] = {
        {"sql:a = 5", T, {"a", "5"}},
        {"sql:a = 5", T, {"a", "5.0"}},
        {"sql:a = 5", T, {"a", " 5 "}},
        {"sql:a = 5", T, {"a", "+05"}},
        {"sql:a = 5", T, {"a", "0.5e1"}},
        {"sql:a = 5", F, {"a", "6"}},
        {"sql:a = 5", U, {"a", "5L"}},
        {"sql:a = 5", U, {"a", "5x"}},
        {"sql:a = 5", U, {"a", ""}},
        {"sql:a = 5", U, {"a", "'5'"}},
        {"sql:a <> 5", F, {"a", "5.0"}},
        {"sql:a <> 5", T, {"a", "6"}},
        {"sql:a != 5", U, {"a", "x"}},
        {"sql:5 = a", T, {"a", "5"}},
        {"sql:5 <> a", U, {"a", "x"}},
        {"sql:a = 2 + 3", T, {"a", "5"}},
        {"sql:a + 0 = b + 0", T, {"a", "5", "b", "5.0"}},
        {"sql:+a = b", T, {"a", "5", "b", "5.0"}},
        {"sql:a = -b", T, {"a", "-5", "b", "5"}},
        {"sql:5 = 5.0", T, {NULL}},
        {"sql:5 <> 5.0", F, {NULL}},
        {"sql:5 = 6", F, {NULL}},
        {"sql:-0.0 = 0", T, {NULL}},
    };
    rows_check(NULL, rows, N_ROWS(rows));
}

static void test_equality_with_conditions(void) {
    static const struct row rows[] = {
        {"sql:a = TRUE", T, {"a", "true"}},
        {"sql:a = TRUE", T, {"a", "TrUe"}},
        {"sql:a = TRUE", F, {"a", "FALSE"}},
        {"sql:a = TRUE", U, {"a", "yes"}},
        {"sql:a = TRUE", U, {"a", "1"}},
        {"sql:a = TRUE", U, {"a", " true"}}, /* nothing is trimmed */
        {"sql:a = TRUE", U, {"a", "true "}},
        {"sql:a = TRUE", U, {"a", "tru"}},
        {"sql:a = TRUE", U, {"a", "truee"}},
        {"sql:a = TRUE", U, {"a", ""}},
        {"sql:a = TRUE", U, {"a", "tr\xC3\xBC""e"}},
        {"sql:a = FALSE", T, {"a", "False"}},
        {"sql:a <> FALSE", T, {"a", "true"}},
        {"sql:a <> FALSE", U, {"a", "x"}},
        {"sql:TRUE = a", T, {"a", "true"}},
        {"sql:a = (b = 5)", T, {"a", "true", "b", "5"}},
        {"sql:a = (b = 5)", T, {"a", "false", "b", "6"}},
        {"sql:a = (b = 5)", U, {"a", "true"}},
        {"sql:(a = 5) = b", T, {"a", "5", "b", "true"}},
        {"sql:(a = 5) = (b = 5)", T, {"a", "6", "b", "6"}},
        {"sql:(a = 5) = (b = 5)", U, {"a", "6"}},
        {"sql:(a = 5) <> (b = 5)", T, {"a", "6", "b", "5"}},
        {"sql:TRUE = TRUE", T, {NULL}},
        {"sql:TRUE <> FALSE", T, {NULL}},
        {"sql:TRUE = (NULL IS NULL)", T, {NULL}},
        {"sql:a = (b IS NULL)", T, {"a", "true"}},
        {"sql:a = (NOT b)", T, {"a", "true", "b", "false"}},
        {"sql:a = (b AND c)", T, {"a", "false", "b", "false"}},
        {"sql:a = (b LIKE 'x')", T, {"a", "true", "b", "x"}},
    };
    rows_check(NULL, rows, N_ROWS(rows));
}

static void test_equality_refuses_other_kinds(void) {
    static const struct row rows[] = {
        {"sql:5 = 'x'", BAD, {NULL}},
        {"sql:'5' = 5", BAD, {NULL}},
        {"sql:'x' <> TRUE", BAD, {NULL}},
        {"sql:TRUE = 'true'", BAD, {NULL}},
        {"sql:5 = TRUE", BAD, {NULL}},
        {"sql:TRUE != 1", BAD, {NULL}},
        {"sql:a + 1 = '2'", BAD, {NULL}},
        {"sql:a + 1 = TRUE", BAD, {NULL}},
        {"sql:(a = 1) = 1", BAD, {NULL}},
        {"sql:(a = 1) = 'x'", BAD, {NULL}},
        {"sql:a = NULL", BAD, {NULL}},
        {"sql:a <> NULL", BAD, {NULL}},
        {"sql:NULL = a", BAD, {NULL}},
        {"sql:NULL = NULL", BAD, {NULL}},
        {"sql:5 = NULL", BAD, {NULL}},
        {"sql:'x' = NULL", BAD, {NULL}},
        {"sql:TRUE = NULL", BAD, {NULL}},
        {"sql:(a = 5) <> NULL", BAD, {NULL}},
        {"sql:a = (NULL)", BAD, {NULL}},
        {"sql:$qos = '1'", BAD, {NULL}},
        {"sql:$qos = TRUE", BAD, {NULL}},
        {"sql:$retain = 1", BAD, {NULL}},
        {"sql:$retain = 'true'", BAD, {NULL}},
        {"sql:$qos = $retain", BAD, {NULL}},
        {"sql:('x') = (5)", BAD, {NULL}},
        {"sql:a = b = c", BAD, {NULL}}, /* a further = takes no name */
        {"sql:a = b <> c", BAD, {NULL}},
        {"sql:a <> 5 = c", BAD, {NULL}},
        {"sql:a = b = (c)", BAD, {NULL}},
        {"sql:a = b = $topic", BAD, {NULL}},
        {"sql:a = TRUE = b", BAD, {NULL}},
        {"sql:a IS NULL = b", BAD, {NULL}},
        {"sql:a IS NOT NULL <> b", BAD, {NULL}},
        {"sql:a = b = TRUE = c", BAD, {NULL}},
        {"sql:a = b = 5", BAD, {NULL}},
        {"sql:a = b = 'x'", BAD, {NULL}},
        {"sql:(a = b) = c", F, {"a", "1", "b", "1", "c", "false"}},
        {"sql:(a IS NULL) = c", T, {"c", "true"}},
        {"sql:a = b = (c = d)", T, {"a", "1", "b", "1", "c", "2", "d", "2"}},
        {"sql:a = b = $retain", U, {"a", "1", "b", "1"}},
        {"sql:a = b = (c IS NULL) = TRUE", T, {"a", "1", "b", "1"}},
        {"sql:a < 5 = c", T, {"a", "4", "c", "true"}},
    };
    rows_check(NULL, rows, N_ROWS(rows));
}

static void test_ordering(void) {
    static const struct row rows[] = {
        {"sql:a > 5", T, {"a", "6"}},
        {"sql:a > 5", F, {"a", "5"}},
        {"sql:a >= 5", T, {"a", "5.0"}},
        {"sql:a < 5", T, {"a", "-6"}},
        {"sql:a < 5", F, {"a", "5"}},
        {"sql:a <= 5", T, {"a", " 5\t"}},
        {"sql:a <= 5", F, {"a", "5.0000001"}},
        {"sql:a < 5", U, {"a", "four"}},
        {"sql:5 > a", T, {"a", "4"}},
        {"sql:a < b", T, {"a", "9", "b", "10"}}, /* as numbers, not as text */
        {"sql:a < b", U, {"a", "x", "b", "y"}},
        {"sql:a < b", U, {"a", "1"}},
        {"sql:a < a", F, {"a", "1"}},
        {"sql:5 < 6", T, {NULL}},
        {"sql:5 >= 6", F, {NULL}},
        {"sql:a + 1 < b - 1", T, {"a", "1", "b", "4"}},
        {"sql:a > 'x'", BAD, {NULL}},
        {"sql:a > '5'", BAD, {NULL}},
        {"sql:'x' < a", BAD, {NULL}},
        {"sql:'x' < 'y'", BAD, {NULL}},
        {"sql:a > TRUE", BAD, {NULL}},
        {"sql:TRUE > FALSE", BAD, {NULL}},
        {"sql:a > NULL", BAD, {NULL}},
        {"sql:NULL <= 5", BAD, {NULL}},
        {"sql:(a = 5) > 1", BAD, {NULL}},
        {"sql:a > (b < c)", BAD, {NULL}},
        {"sql:$retain > 0", BAD, {NULL}},
        {"sql:a > (b)", T, {"a", "2", "b", "1"}},
    };
    rows_check(NULL, rows, N_ROWS(rows));
}

static void test_between(void) {
    static const struct row rows[] = {
        {"sql:a BETWEEN 1 AND 5", T, {"a", "1"}},
        {"sql:a BETWEEN 1 AND 5", T, {"a", "5"}},
        {"sql:a BETWEEN 1 AND 5", T, {"a", "2.5"}},
        {"sql:a BETWEEN 1 AND 5", F, {"a", "0.99"}},
        {"sql:a BETWEEN 1 AND 5", F, {"a", "5.01"}},
        {"sql:a BETWEEN 1 AND 5", U, {"a", "x"}},
        {"sql:a NOT BETWEEN 1 AND 5", F, {"a", "1"}},
        {"sql:a NOT BETWEEN 1 AND 5", T, {"a", "6"}},
        {"sql:a NOT BETWEEN 1 AND 5", U, {"a", "x"}},
        {"sql:a NOT BETWEEN 1 AND 5", U, {NULL}},
        {"sql:a BETWEEN b AND c", T, {"a", "2", "b", "1", "c", "3"}},
        {"sql:a BETWEEN b AND c", F, {"a", "2", "b", "3", "c", "1"}}, /* reversed at run time: just false */
        {"sql:a NOT BETWEEN b AND c", T, {"a", "2", "b", "3", "c", "1"}},
        {"sql:a BETWEEN b AND 5", F, {"a", "9"}},  /* unknown and false */
        {"sql:a NOT BETWEEN b AND 5", T, {"a", "9"}},
        {"sql:a BETWEEN b AND 5", U, {"a", "4"}},
        {"sql:a BETWEEN 1 AND b", F, {"a", "0"}},
        {"sql:a BETWEEN 1 AND b", U, {"a", "1"}},
        {"sql:5 BETWEEN a AND b", T, {"a", "1", "b", "9"}},
        {"sql:5 BETWEEN 1 AND 9", T, {NULL}},
        {"sql:5 NOT BETWEEN 1 AND 9", F, {NULL}},
        {"sql:a BETWEEN 5 AND 5", T, {"a", "5"}},
        {"sql:a BETWEEN -5 AND -1", T, {"a", "-3"}},
        {"sql:a BETWEEN - 5 AND 1", T, {"a", "-3"}},
        {"sql:a BETWEEN 1 / 0 AND 0", U, {"a", "-3"}},
        {"sql:a BETWEEN 1 / 0 AND 0", F, {"a", "1"}},
        {"sql:a BETWEEN b + 5 AND b", F, {"a", "7", "b", "5"}}, /* not constant, so accepted */
        {"sql:a BETWEEN $qos AND 0", U, {"a", "0"}},
        {"sql:a BETWEEN 5 AND 1", BAD, {NULL}},
        {"sql:a NOT BETWEEN 5 AND 1", BAD, {NULL}},
        {"sql:3 BETWEEN 5 AND 1", BAD, {NULL}},
        {"sql:a BETWEEN 1.0000001 AND 1", BAD, {NULL}},
        {"sql:a BETWEEN 2 + 3 AND 2 * 2", BAD, {NULL}},
        {"sql:a BETWEEN -1 AND -5", BAD, {NULL}},
        {"sql:a BETWEEN (5) AND +1", BAD, {NULL}},
        {"sql:a BETWEEN 9007199254740993 AND 9007199254740992.0", BAD, {NULL}},
        {"sql:a BETWEEN 0 AND -0.0", T, {"a", "0"}},
        {"sql:a BETWEEN '1' AND '5'", BAD, {NULL}},
        {"sql:a BETWEEN 1 AND '5'", BAD, {NULL}},
        {"sql:'3' BETWEEN 1 AND 5", BAD, {NULL}},
        {"sql:a BETWEEN TRUE AND FALSE", BAD, {NULL}},
        {"sql:a BETWEEN NULL AND 5", BAD, {NULL}},
        {"sql:NULL BETWEEN 1 AND 5", BAD, {NULL}},
        {"sql:(a = 5) BETWEEN 1 AND 5", BAD, {NULL}},
        {"sql:$topic BETWEEN 1 AND 5", U, {NULL}},
    };
    rows_check(NULL, rows, N_ROWS(rows));
}

static void test_in(void) {
    static const struct row rows[] = {
        {"sql:a IN ('x')", T, {"a", "x"}},
        {"sql:a IN ('x')", F, {"a", "y"}},
        {"sql:a IN ('x', 'y')", T, {"a", "y"}},
        {"sql:a IN ('x', 'x')", T, {"a", "x"}},
        {"sql:a IN ('')", T, {"a", ""}},
        {"sql:a NOT IN ('x', 'y')", T, {"a", "z"}},
        {"sql:a NOT IN ('x', 'y')", F, {"a", "x"}},
        {"sql:a IN (5)", T, {"a", "5.0"}},
        {"sql:a IN ('5')", F, {"a", "5.0"}},
        {"sql:a IN (1, 2, 3)", T, {"a", " 3 "}},
        {"sql:a IN (-5, +6, - 7)", T, {"a", "-5"}},
        {"sql:a IN (-5, +6, - 7)", T, {"a", "6"}},
        {"sql:a IN (-5, +6, - 7)", T, {"a", "-7"}},
        {"sql:a IN (-5, +6, - 7)", F, {"a", "5"}},
        {"sql:a IN (.5, 5., 1e1, 5L)", T, {"a", "10"}},
        {"sql:a IN (9007199254740993)", F, {"a", "9007199254740992"}},
        {"sql:a IN (9007199254740993)", F, {"a", "9007199254740992.0"}},
        {"sql:a IN (-9223372036854775808)", T, {"a", "-9223372036854775808"}},
        {"sql:a IN (5, 'abc')", T, {"a", "abc"}},
        {"sql:a IN (5, 'abc')", T, {"a", "5"}},
        {"sql:a IN (5, 'abc')", F, {"a", "6"}},
        {"sql:a IN (5, 'abc')", U, {"a", "x"}},
        {"sql:a IN ('abc', 5)", U, {"a", "x"}},
        {"sql:a NOT IN (5, 'abc')", U, {"a", "x"}},
        {"sql:a NOT IN (5, 'abc')", F, {"a", "abc"}},
        {"sql:a NOT IN (5, 'abc')", T, {"a", "6"}},
        {"sql:a IN ('5', 5)", T, {"a", "5.0"}},
        {"sql:(a) IN ('x')", T, {"a", "x"}},
        {"sql:\"a b\" IN ('x')", T, {"a b", "x"}},
        {"sql:$topic IN ('x')", U, {NULL}},
        {"sql:$qos IN (1, 2)", U, {NULL}},
        {"sql:$payload_bytes NOT IN (1, -1.5)", U, {NULL}},
        {"sql:$qos IN ('1')", BAD, {NULL}},
        {"sql:$qos IN (1, '2')", BAD, {NULL}},
        {"sql:$retain IN (1)", BAD, {NULL}},
        {"sql:5 IN (5)", BAD, {NULL}},
        {"sql:'x' IN ('x')", BAD, {NULL}},
        {"sql:a + 1 IN (5)", BAD, {NULL}},
        {"sql:+a IN (5)", BAD, {NULL}},
        {"sql:TRUE IN ('x')", BAD, {NULL}},
        {"sql:NULL IN ('x')", BAD, {NULL}},
        {"sql:(a = 5) IN ('x')", BAD, {NULL}},
    };
    rows_check(NULL, rows, N_ROWS(rows));
}

static void test_like(void) {
    static const struct row rows[] = {
        {"sql:a LIKE 'abc'", T, {"a", "abc"}},
        {"sql:a LIKE 'abc'", F, {"a", "abcd"}},
        {"sql:a LIKE 'abc'", F, {"a", "ABC"}},
        {"sql:a LIKE ''", T, {"a", ""}},
        {"sql:a LIKE ''", F, {"a", "x"}},
        {"sql:a LIKE '%'", T, {"a", ""}},
        {"sql:a LIKE '%'", T, {"a", "anything\n"}},
        {"sql:a LIKE '%%'", T, {"a", ""}},
        {"sql:a LIKE '_'", T, {"a", "x"}},
        {"sql:a LIKE '_'", F, {"a", ""}},
        {"sql:a LIKE '_'", F, {"a", "xy"}},
        {"sql:a LIKE '_'", T, {"a", "\xF0\x9F\x99\x82"}}, /* a character, not a byte */
        {"sql:a LIKE '__'", F, {"a", "\xC3\xA9"}},
        {"sql:a LIKE '__'", T, {"a", "e\xCC\x81"}},
        {"sql:a LIKE '_\xC3\xA9_'", T, {"a", "\xE5\x8C\x97\xC3\xA9\xF0\x9F\x99\x82"}},
        {"sql:a LIKE 'x%'", T, {"a", "x"}},
        {"sql:a LIKE 'x%'", T, {"a", "xyz"}},
        {"sql:a LIKE 'x%'", F, {"a", "yx"}},
        {"sql:a LIKE '%x'", T, {"a", "yx"}},
        {"sql:a LIKE '%x'", F, {"a", "xy"}},
        {"sql:a LIKE '%x%'", T, {"a", "yxy"}},
        {"sql:a LIKE '%x%'", F, {"a", "yyy"}},
        {"sql:a LIKE 'a%a'", F, {"a", "a"}}, /* the two may not share */
        {"sql:a LIKE 'a%a'", T, {"a", "aa"}},
        {"sql:a LIKE 'ab%ba'", F, {"a", "aba"}},
        {"sql:a LIKE '%ab%ab%'", F, {"a", "xabx"}},
        {"sql:a LIKE '%ab%ab%'", T, {"a", "abab"}},
        {"sql:a LIKE '%aab%'", T, {"a", "aaab"}},
        {"sql:a LIKE '%a_b%'", T, {"a", "aaxb"}},
        {"sql:a LIKE '%a_b%'", F, {"a", "ab"}},
        {"sql:a LIKE '%_%'", T, {"a", "x"}},
        {"sql:a LIKE '%_%'", F, {"a", ""}},
        {"sql:a LIKE '_%_'", T, {"a", "xy"}},
        {"sql:a LIKE '_%_'", F, {"a", "x"}},
        {"sql:a LIKE '%_'", T, {"a", "\xC3\xA9"}},
        {"sql:a LIKE '%__'", F, {"a", "\xC3\xA9"}},
        {"sql:a LIKE '_%'", F, {"a", ""}},
        {"sql:a LIKE '%a%b%c%'", T, {"a", "xaxbxcx"}},
        {"sql:a LIKE '%a%b%c%'", F, {"a", "xcxbxax"}},
        {"sql:a LIKE 'a%b%c'", T, {"a", "abbcbc"}},
        {"sql:a LIKE '%abab'", T, {"a", "ababab"}},
        {"sql:a LIKE '%_bab'", T, {"a", "abab"}},
        {"sql:a LIKE '5'", T, {"a", "5"}},
        {"sql:a LIKE '5'", F, {"a", "5.0"}},
        {"sql:a LIKE 'it''s'", T, {"a", "it's"}},
        {"sql:a LIKE '\\%'", T, {"a", "\\x"}}, /* no escape character unless one is named */
        {"sql:a NOT LIKE 'x%'", F, {"a", "xyz"}},
        {"sql:a NOT LIKE 'x%'", T, {"a", "yz"}},
        {"sql:'xyz' LIKE 'x%'", T, {NULL}},
        {"sql:'xyz' NOT LIKE 'x%'", F, {NULL}},
        {"sql:(a) LIKE 'x'", T, {"a", "x"}},
        {"sql:$topic LIKE 'x'", U, {NULL}},
        {"sql:5 LIKE '5'", BAD, {NULL}},
        {"sql:a + 1 LIKE '5'", BAD, {NULL}},
        {"sql:TRUE LIKE 't%'", BAD, {NULL}},
        {"sql:NULL LIKE 'x'", BAD, {NULL}},
        {"sql:(a = 5) LIKE 'x'", BAD, {NULL}},
        {"sql:$qos LIKE '1'", BAD, {NULL}},
        {"sql:$retain LIKE 'true'", BAD, {NULL}},
    };
    rows_check(NULL, rows, N_ROWS(rows));
}

static void test_like_escape(void) {
    static const struct row rows[] = {
        {"sql:a LIKE '100!%' ESCAPE '!'", T, {"a", "100%"}},
        {"sql:a LIKE '100!%' ESCAPE '!'", F, {"a", "100x"}},
        {"sql:a LIKE '!_' ESCAPE '!'", T, {"a", "_"}},
        {"sql:a LIKE '!_' ESCAPE '!'", F, {"a", "x"}},
        {"sql:a LIKE '!!' ESCAPE '!'", T, {"a", "!"}},
        {"sql:a LIKE '!a' ESCAPE '!'", T, {"a", "a"}},
        {"sql:a LIKE '!!%' ESCAPE '!'", T, {"a", "!xyz"}},
        {"sql:a LIKE '!\xC3\xA9' ESCAPE '!'", T, {"a", "\xC3\xA9"}},
        {"sql:a LIKE '\\%\\_\\\\%' ESCAPE '\\'", T, {"a", "%_\\x"}},
        {"sql:a LIKE '%%a' ESCAPE '%'", T, {"a", "%a"}}, /* the escape character may be a wildcard */
        {"sql:a LIKE '%%a' ESCAPE '%'", F, {"a", "xa"}},
        {"sql:a LIKE '_%%' ESCAPE '_'", T, {"a", "%x"}},
        {"sql:a LIKE '_%%' ESCAPE '_'", F, {"a", "xx"}},
        {"sql:a LIKE '__' ESCAPE '_'", T, {"a", "_"}},
        {"sql:a LIKE '__' ESCAPE '_'", F, {"a", "xy"}},
        {"sql:a LIKE '\xE5\x8C\x97%\xE5\x8C\x97' ESCAPE '\xE5\x8C\x97'", BAD, {NULL}},
        {"sql:a LIKE '\xE5\x8C\x97%' ESCAPE '\xE5\x8C\x97'", T, {"a", "%"}},
        {"sql:a LIKE '''%' ESCAPE ''''", T, {"a", "%"}},
        {"sql:a LIKE '%!%%' ESCAPE '!'", T, {"a", "x%y"}},
        {"sql:a LIKE '%!%%' ESCAPE '!'", F, {"a", "xy"}},
        {"sql:a LIKE 'x' ESCAPE '!'", T, {"a", "x"}},
        {"sql:a LIKE '' ESCAPE '!'", T, {"a", ""}},
        {"sql:a NOT LIKE '!%' ESCAPE '!'", T, {"a", "x"}},
        {"sql:a LIKE 'x!' ESCAPE '!'", BAD, {NULL}},
        {"sql:a LIKE '!' ESCAPE '!'", BAD, {NULL}},
        {"sql:a LIKE '!!!' ESCAPE '!'", BAD, {NULL}},
        {"sql:a LIKE '%' ESCAPE '%'", BAD, {NULL}},
        {"sql:a LIKE 'x' ESCAPE ''", BAD, {NULL}},
        {"sql:a LIKE 'x' ESCAPE '!!'", BAD, {NULL}},
        {"sql:a LIKE 'x' ESCAPE 'e\xCC\x81'", BAD, {NULL}},
    };
    rows_check(NULL, rows, N_ROWS(rows));
}

static void test_contains_startswith_endswith(void) {
    static const struct row rows[] = {
        {"sql:a CONTAINS 'bc'", T, {"a", "abcd"}},
        {"sql:a CONTAINS 'bd'", F, {"a", "abcd"}},
        {"sql:a CONTAINS 'abcd'", T, {"a", "abcd"}},
        {"sql:a CONTAINS 'abcde'", F, {"a", "abcd"}},
        {"sql:a CONTAINS 'cd'", T, {"a", "abcd"}},
        {"sql:a CONTAINS 'aab'", T, {"a", "aaab"}},
        {"sql:a CONTAINS '%'", F, {"a", "abcd"}},
        {"sql:a CONTAINS '%'", T, {"a", "a%"}},
        {"sql:a CONTAINS ''", T, {"a", ""}},
        {"sql:a CONTAINS ''", T, {"a", "x"}},
        {"sql:a CONTAINS ''", U, {NULL}},
        {"sql:a CONTAINS 'x'", F, {"a", ""}},
        {"sql:a CONTAINS 'B'", F, {"a", "abc"}},
        {"sql:a NOT CONTAINS 'bc'", F, {"a", "abcd"}},
        {"sql:a NOT CONTAINS 'x'", T, {"a", "abcd"}},
        {"sql:a STARTSWITH 'ab'", T, {"a", "abcd"}},
        {"sql:a STARTSWITH 'abcd'", T, {"a", "abcd"}},
        {"sql:a STARTSWITH 'abcde'", F, {"a", "abcd"}},
        {"sql:a STARTSWITH 'bc'", F, {"a", "abcd"}},
        {"sql:a STARTSWITH ''", T, {"a", ""}},
        {"sql:a STARTSWITH ''", U, {NULL}},
        {"sql:a NOT STARTSWITH 'ab'", F, {"a", "abcd"}},
        {"sql:a NOT STARTSWITH 'b'", T, {"a", "abcd"}},
        {"sql:a ENDSWITH 'cd'", T, {"a", "abcd"}},
        {"sql:a ENDSWITH 'abcd'", T, {"a", "abcd"}},
        {"sql:a ENDSWITH 'xabcd'", F, {"a", "abcd"}},
        {"sql:a ENDSWITH 'bc'", F, {"a", "abcd"}},
        {"sql:a ENDSWITH ''", T, {"a", ""}},
        {"sql:a NOT ENDSWITH 'cd'", F, {"a", "abcd"}},
        {"sql:a ENDSWITH '\x97'", BAD, {NULL}},
        {"sql:a ENDSWITH '\xE5\x8C\x97'", T, {"a", "x\xE5\x8C\x97"}},
        {"sql:'abc' CONTAINS 'b'", T, {NULL}},
        {"sql:'abc' STARTSWITH 'b'", F, {NULL}},
        {"sql:'abc' NOT ENDSWITH 'b'", T, {NULL}},
        {"sql:'' CONTAINS ''", T, {NULL}},
        {"sql:$topic CONTAINS 'x'", U, {NULL}},
        {"sql:5 CONTAINS '5'", BAD, {NULL}},
        {"sql:$qos STARTSWITH '1'", BAD, {NULL}},
        {"sql:NULL ENDSWITH 'x'", BAD, {NULL}},
        {"sql:TRUE CONTAINS 't'", BAD, {NULL}},
        {"sql:-a CONTAINS '5'", BAD, {NULL}},
    };
    rows_check(NULL, rows, N_ROWS(rows));
}

static void test_names_as_conditions(void) {
    static const struct row rows[] = {
        {"sql:a", T, {"a", "true"}},
        {"sql:a", T, {"a", "TRUE"}},
        {"sql:a", F, {"a", "fAlSe"}},
        {"sql:a", U, {"a", "1"}},
        {"sql:a", U, {"a", "t"}},
        {"sql:a", U, {"a", "yes"}},
        {"sql:a", U, {"a", ""}},
        {"sql:a", U, {"a", " true"}},
        {"sql:a", U, {"a", "true\n"}},
        {"sql:a", U, {NULL}},
        {"sql:(a)", T, {"a", "true"}},
        {"sql:((a))", T, {"a", "true"}},
        {"sql:NOT a", F, {"a", "true"}},
        {"sql:NOT a", T, {"a", "false"}},
        {"sql:NOT a", U, {"a", "x"}},
        {"sql:a AND b", T, {"a", "true", "b", "true"}},
        {"sql:a AND b", F, {"a", "false"}},
        {"sql:a AND b", U, {"a", "true", "b", "x"}},
        {"sql:a OR b", T, {"b", "true"}},
        {"sql:a OR b", U, {"a", "x", "b", "false"}},
        {"sql:a OR b", F, {"a", "false", "b", "false"}},
        {"sql:\"and\" AND \"or\"", T, {"and", "true", "or", "true"}},
        {"sql:5", BAD, {NULL}},
        {"sql:'true'", BAD, {NULL}},
        {"sql:(5)", BAD, {NULL}},
        {"sql:a + 1", BAD, {NULL}},
        {"sql:-a", BAD, {NULL}},
        {"sql:$qos", BAD, {NULL}},
        {"sql:NOT 5", BAD, {NULL}},
        {"sql:NOT 'x'", BAD, {NULL}},
        {"sql:NOT a + 1", BAD, {NULL}},
        {"sql:5 AND a", BAD, {NULL}},
        {"sql:a AND 'x'", BAD, {NULL}},
        {"sql:a OR 1", BAD, {NULL}},
        {"sql:'x' OR TRUE", BAD, {NULL}},
        {"sql:NULL", U, {NULL}},
        {"sql:NOT NULL", U, {NULL}},
        {"sql:NULL OR TRUE", T, {NULL}},
        {"sql:NULL AND FALSE", F, {NULL}},
        {"sql:NULL OR FALSE", U, {NULL}},
        {"sql:(NULL)", U, {NULL}},
        {"sql:TRUE", T, {NULL}},
        {"sql:FALSE", F, {NULL}},
        {"sql:NOT FALSE", T, {NULL}},
    };
    rows_check(NULL, rows, N_ROWS(rows));
}

static void test_is_null(void) {
    static const struct row rows[] = {
        {"sql:a IS NULL", T, {NULL}},
        {"sql:a IS NULL", F, {"a", ""}},
        {"sql:a IS NULL", F, {"a", "NULL"}},
        {"sql:a IS NULL", F, {"a", "x"}},
        {"sql:a IS NOT NULL", T, {"a", ""}},
        {"sql:a IS NOT NULL", F, {NULL}},
        {"sql:(a) IS NULL", T, {NULL}},
        {"sql:+a IS NULL", T, {"a", "x"}}, /* arithmetic: unknown is NULL */
        {"sql:+a IS NULL", F, {"a", "5"}},
        {"sql:a + 1 IS NULL", T, {"a", "x"}},
        {"sql:a / b IS NULL", T, {"a", "1", "b", "0"}},
        {"sql:a / b IS NOT NULL", T, {"a", "1", "b", "2"}},
        {"sql:(a = 5) IS NULL", T, {"a", "x"}},
        {"sql:(a = 5) IS NULL", F, {"a", "6"}},
        {"sql:(NOT a) IS NULL", T, {"a", "x"}},
        {"sql:(a AND b) IS NULL", T, {"a", "true"}},
        {"sql:(a OR b) IS NULL", F, {"a", "true"}},
        {"sql:(a LIKE 'x') IS NULL", T, {NULL}},
        {"sql:a LIKE 'x' IS NULL", T, {NULL}},
        {"sql:a IN ('x') IS NOT NULL", F, {NULL}},
        {"sql:(a IS NULL) IS NULL", F, {NULL}},
        {"sql:5 IS NULL", F, {NULL}},
        {"sql:1 / 0 IS NULL", T, {NULL}},
        {"sql:'x' IS NULL", F, {NULL}},
        {"sql:'' IS NOT NULL", T, {NULL}},
        {"sql:TRUE IS NULL", F, {NULL}},
        {"sql:NULL IS NULL", T, {NULL}},
        {"sql:NULL IS NOT NULL", F, {NULL}},
        {"sql:$topic IS NULL", T, {NULL}},
        {"sql:$qos IS NULL", T, {NULL}},
        {"sql:$retain IS NULL", T, {NULL}},
        {"sql:a <> 5 OR a IS NULL", T, {NULL}},
        {"sql:a <> 5 OR a IS NULL", U, {"a", "x"}},
        {"sql:a <> 5 OR (a = 5) IS NULL", T, {"a", "x"}},
        {"sql:a <> 5 OR (a = 5) IS NULL", F, {"a", "5"}},
    };
    rows_check(NULL, rows, N_ROWS(rows));
}

static void test_arithmetic_takes_names_and_numbers(void) {
    static const struct row rows[] = {
        {"sql:a + b = 3", T, {"a", "1", "b", "2"}},
        {"sql:a - b = -1", T, {"a", "1", "b", "2"}},
        {"sql:a * b = 6", T, {"a", "2", "b", "3.0"}},
        {"sql:a / b = 0.5", T, {"a", "1", "b", "2"}},
        {"sql:7 / 2 = 3.5", T, {NULL}},
        {"sql:a / 0 = 1", U, {"a", "1"}},
        {"sql:a / 0.0 = 1", U, {"a", "1"}},
        {"sql:a / -0.0 = 1", U, {"a", "1"}},
        {"sql:0 / 0 = 0", U, {NULL}},
        {"sql:a / (b - b) = 1", U, {"a", "1", "b", "2"}},
        {"sql:a + 1 > 0", U, {"a", "x"}},
        {"sql:a + 1 > 0", U, {NULL}},
        {"sql:0 * a = 0", U, {"a", "x"}},
        {"sql:-a = 5", T, {"a", "-5"}},
        {"sql:-a = 5", U, {"a", "x"}},
        {"sql:+a = 5", T, {"a", "5"}},
        {"sql:a + 'x' = 1", BAD, {NULL}},
        {"sql:'1' + 1 = 2", BAD, {NULL}},
        {"sql:a * TRUE = 1", BAD, {NULL}},
        {"sql:NULL + 1 = 1", BAD, {NULL}},
        {"sql:a / NULL = 1", BAD, {NULL}},
        {"sql:-'x' = 1", BAD, {NULL}},
        {"sql:+TRUE = 1", BAD, {NULL}},
        {"sql:-NULL IS NULL", BAD, {NULL}},
        {"sql:(a = b) + 1 = 2", BAD, {NULL}},
        {"sql:-(a AND b) = 1", BAD, {NULL}},
        {"sql:$retain + 1 = 2", BAD, {NULL}},
        {"sql:$qos + 1 = 2", U, {NULL}},
        {"sql:$topic + 1 = 2", U, {NULL}},
    };
    rows_check(NULL, rows, N_ROWS(rows));
}

/* ---- system attributes ----------------------------------------------------------------------- */

static void check_attributes(const struct ref_message *message, const struct row *rows, size_t n_rows) {
    for (size_t i = 0; i < n_rows; i++) {
        rows_check_one(NULL, (struct ref_text){rows[i].expr, strlen(rows[i].expr)}, message, rows[i].expected);
    }
}

static void test_attributes(void) {
    static const struct ref_property properties[] = {{{"$topic", 6}, {"property", 8}}, {{"b", 1}, {"true", 4}}};
    static const struct ref_message message = {
        .properties = properties, .n_properties = N_ROWS(properties),
        .topic = {"a/b", 3}, .content_type = {"5.0", 3}, .response_topic = {"", 0},
        .has_qos = true, .qos = 1, .has_retain = true, .retain = true,
        .has_payload_bytes = true, .payload_bytes = 4096,
    };
    static const struct row rows[] = {
        {"sql:$topic = 'a/b'", T, {NULL}},
        {"sql:\"$topic\" = 'property'", T, {NULL}},
        {"sql:$topic LIKE 'a/%'", T, {NULL}},
        {"sql:$topic IN ('x', 'a/b')", T, {NULL}},
        {"sql:$topic STARTSWITH 'a' AND $topic ENDSWITH 'b' AND $topic CONTAINS '/'", T, {NULL}},
        {"sql:$topic = 5", U, {NULL}},
        {"sql:$topic = TRUE", U, {NULL}},
        {"sql:$topic", U, {NULL}},
        {"sql:$topic IS NOT NULL", T, {NULL}},
        {"sql:$content_type = 5", T, {NULL}},
        {"sql:$content_type = '5'", F, {NULL}},
        {"sql:$content_type + 1 = 6", T, {NULL}},
        {"sql:$content_type <> $topic", T, {NULL}},
        {"sql:$response_topic = ''", T, {NULL}},
        {"sql:$response_topic IS NULL", F, {NULL}},
        {"sql:$qos = 1", T, {NULL}},
        {"sql:$qos = 1.0", T, {NULL}},
        {"sql:$qos > 0 AND $qos < 2", T, {NULL}},
        {"sql:$qos IN (1, 2)", T, {NULL}},
        {"sql:($qos) IN (1, 2)", T, {NULL}},
        {"sql:$qos NOT IN (0, 2)", T, {NULL}},
        {"sql:$qos BETWEEN 0 AND 1", T, {NULL}},
        {"sql:$qos = $content_type - 4", T, {NULL}},
        {"sql:$qos IS NULL", F, {NULL}},
        {"sql:-$qos = -1", T, {NULL}},
        {"sql:$payload_bytes = 4096", T, {NULL}},
        {"sql:$payload_bytes / 2 = 2048", T, {NULL}},
        {"sql:$payload_bytes IN (4096)", T, {NULL}},
        {"sql:$qos = $payload_bytes", F, {NULL}},
        {"sql:$retain", T, {NULL}},
        {"sql:NOT $retain", F, {NULL}},
        {"sql:$retain = TRUE", T, {NULL}},
        {"sql:$retain = FALSE", F, {NULL}},
        {"sql:$retain = b", T, {NULL}},
        {"sql:b = $retain", T, {NULL}},
        {"sql:$retain = (b = TRUE)", T, {NULL}},
        {"sql:$retain IS NULL", F, {NULL}},
        {"sql:$retain AND $qos = 1", T, {NULL}},
    };
    check_attributes(&message, rows, N_ROWS(rows));
}

static void test_attributes_that_are_absent_are_unknown(void) {
    static const struct ref_message message = {.n_properties = 0};
    static const struct row rows[] = {
        {"sql:$topic = 'x'", U, {NULL}},
        {"sql:$topic <> 'x'", U, {NULL}},
        {"sql:$content_type = $response_topic", U, {NULL}},
        {"sql:$response_topic LIKE '%'", U, {NULL}},
        {"sql:$topic", U, {NULL}},
        {"sql:$qos = 0", U, {NULL}},
        {"sql:$qos IN (0)", U, {NULL}},
        {"sql:$payload_bytes >= 0", U, {NULL}},
        {"sql:$qos + 1 IS NULL", T, {NULL}},
        {"sql:$retain", U, {NULL}},
        {"sql:$retain = FALSE", U, {NULL}},
        {"sql:NOT $retain", U, {NULL}},
        {"sql:$retain OR $qos = 1 OR TRUE", T, {NULL}},
        {"sql:$topic IS NULL AND $content_type IS NULL AND $response_topic IS NULL AND $qos IS NULL AND "
         "$payload_bytes IS NULL AND $retain IS NULL", T, {NULL}},
    };
    check_attributes(&message, rows, N_ROWS(rows));
}

static void test_attribute_edges(void) {
    static const struct {
        struct ref_message message;
        struct row row;
    } rows[] = {
        {{.has_qos = true, .qos = 0}, {"sql:$qos = 0 AND $qos < 1", T, {NULL}}},
        {{.has_qos = true, .qos = 2}, {"sql:$qos = 2", T, {NULL}}},
        {{.has_retain = true, .retain = false}, {"sql:NOT $retain AND $retain = FALSE", T, {NULL}}},
        {{.has_payload_bytes = true, .payload_bytes = 0}, {"sql:$payload_bytes = 0", T, {NULL}}},
        {{.has_payload_bytes = true, .payload_bytes = INT64_MAX},
         {"sql:$payload_bytes = 9223372036854775807 AND $payload_bytes > 9223372036854775806", T, {NULL}}},
        {{.has_payload_bytes = true, .payload_bytes = (uint64_t)INT64_MAX + 1},
         {"sql:$payload_bytes > 9223372036854775807 AND $payload_bytes = 9223372036854775808.0", T, {NULL}}},
        {{.topic = {"true", 4}}, {"sql:$topic AND $topic = TRUE", T, {NULL}}},
        {{.topic = {"", 0}}, {"sql:$topic = '' AND $topic LIKE '%'", T, {NULL}}},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        check_attributes(&rows[i].message, &rows[i].row, 1);
    }
}

/* ---- strict_integers ------------------------------------------------------------------------- */

static void test_strict_integers(void) {
    static const struct row rows[] = {
        {"sql:a = 5", T, {"a", "5"}},
        {"sql:a = 5", T, {"a", " +05 "}},
        {"sql:a = 5", F, {"a", "6"}},
        {"sql:a = 5", U, {"a", "5.0"}},
        {"sql:a = 5", U, {"a", "5e0"}},
        {"sql:a = 5", U, {"a", "6.5"}},
        {"sql:a = 5", U, {"a", "9223372036854775808"}},
        {"sql:a = 5L", U, {"a", "5.0"}},
        {"sql:a <> 5", U, {"a", "6.0"}},
        {"sql:a != 5", T, {"a", "6"}},
        {"sql:5 = a", U, {"a", "5.0"}},
        {"sql:a = 5.0", T, {"a", "5"}},
        {"sql:a = 5.0", T, {"a", "5.00"}},
        {"sql:a = 5e0", T, {"a", "5.0"}},
        {"sql:a = -5", U, {"a", "-5.0"}},
        {"sql:a = -5", T, {"a", "-5"}},
        {"sql:a = +5", U, {"a", "5.0"}},
        {"sql:a = - 5", U, {"a", "-5.0"}},
        {"sql:a = -9223372036854775808", U, {"a", "-9223372036854775808.0"}},
        {"sql:a = -9223372036854775808", T, {"a", "-9223372036854775808"}},
        {"sql:a = - -5", T, {"a", "5.0"}}, /* two signs: no literal any more */
        {"sql:a < - -9223372036854775808", T, {"a", "5.0"}}, /* two as well */
        {"sql:a = 2 + 3", T, {"a", "5.0"}},
        {"sql:(a) = (5)", U, {"a", "5.0"}},
        {"sql:+a = 5", T, {"a", "5.0"}}, /* arithmetic, no name */
        {"sql:a + 0 = 5", T, {"a", "5.0"}},
        {"sql:a > 4", U, {"a", "5.0"}},
        {"sql:a > 4", T, {"a", "5"}},
        {"sql:a >= 4", U, {"a", "5.5"}},
        {"sql:a < 6", U, {"a", "5.0"}},
        {"sql:a <= 6", U, {"a", "5.0"}},
        {"sql:4 < a", U, {"a", "5.0"}},
        {"sql:a > 4.0", T, {"a", "5.0"}},
        {"sql:a < b", T, {"a", "5.0", "b", "6"}},
        {"sql:a IN (5)", U, {"a", "5.0"}},
        {"sql:a IN (5)", T, {"a", "5"}},
        {"sql:a IN (5, 5.0)", T, {"a", "5.0"}},
        {"sql:a IN (-5)", U, {"a", "-5.0"}},
        {"sql:a NOT IN (5)", U, {"a", "6.0"}},
        {"sql:a IN (5, '5.0')", T, {"a", "5.0"}},
        {"sql:a BETWEEN 1 AND 5", T, {"a", "3"}},
        {"sql:a BETWEEN 1 AND 5", U, {"a", "3.0"}},
        {"sql:a BETWEEN 1.0 AND 5.0", T, {"a", "3.5"}},
        {"sql:a BETWEEN 1 AND 5.0", U, {"a", "3.0"}},
        {"sql:a BETWEEN 1 AND 5.0", F, {"a", "6.0"}}, /* the other bound decides */
        {"sql:a BETWEEN 1.0 AND 5", F, {"a", "0.5"}},
        {"sql:a BETWEEN b AND 5", F, {"a", "1.5", "b", "2.0"}},
        {"sql:a BETWEEN b AND 5", U, {"a", "2.5", "b", "2.0"}},
        {"sql:a BETWEEN - 5 AND 5.0", U, {"a", "1.0"}},
        {"sql:5 BETWEEN a AND b", T, {"a", "4", "b", "6"}},
        {"sql:5 BETWEEN a AND b", U, {"a", "4.5", "b", "6"}}, /* 5 >= a: the name meets the integer */
        {"sql:5 BETWEEN a AND b", F, {"a", "4.5", "b", "4"}},
        {"sql:5 BETWEEN a AND 9.0", U, {"a", "4.5"}},
        {"sql:5 BETWEEN 1 AND a", U, {"a", "6.5"}},
        {"sql:5 NOT BETWEEN a AND b", U, {"a", "5.5", "b", "6"}},
        {"sql:5.0 BETWEEN a AND b", T, {"a", "4.5", "b", "6.5"}},
        {"sql:$qos = 1", U, {NULL}},
        {"sql:a = b", T, {"a", "5.0", "b", "5.0"}},
        {"sql:a = '5.0'", T, {"a", "5.0"}},
        {"a>=5", T, {"a", "5.0"}}, /* sql only */
        {"a>4.5&a<6", T, {"a", "5.0"}},
        {"tag:5", T, {"TAGS", "5"}},
    };
    struct sf_options options = SF_OPTIONS_INIT;
    options.strict_integers = true;
    rows_check(&options, rows, N_ROWS(rows));
}
/* clang-format on */

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        TEST(test_equality_of_names_and_strings),
        TEST(test_the_last_of_several_properties_counts),
        TEST(test_equality_with_numbers),
        TEST(test_equality_with_conditions),
        TEST(test_equality_refuses_other_kinds),
        TEST(test_ordering),
        TEST(test_between),
        TEST(test_in),
        TEST(test_like),
        TEST(test_like_escape),
        TEST(test_contains_startswith_endswith),
        TEST(test_names_as_conditions),
        TEST(test_is_null),
        TEST(test_arithmetic_takes_names_and_numbers),
        TEST(test_attributes),
        TEST(test_attributes_that_are_absent_are_unknown),
        TEST(test_attribute_edges),
        TEST(test_strict_integers),
    };
    return run_tests(argc, argv, cases, N_ROWS(cases));
}
