/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The sql dialect's text: tokens, comments, escapes and grammar (LANGUAGE, sql and text), row by row. What
 * operands mean is in test_sql_operands.c.
 */
#include <string.h>

#include "rows.h"
#include "runner.h"

/* clang-format off */
#define T ROW_TRUE
#define F ROW_FALSE
#define U ROW_UNKNOWN
#define BAD ROW_BAD

static void test_sql_strings(void) {
    static const struct row rows[] = {
        {"sql:a = 'it''s'", T, {"a", "it's"}},
        {"sql:a = ''", T, {"a", ""}},
        {"sql:a = ''", F, {"a", "x"}},
        {"sql:a = ''''", T, {"a", "'"}},
        {"sql:a = ''''''", T, {"a", "''"}},
        {"sql:a = ' x '", T, {"a", " x "}},
        {"sql:a = '\"'", T, {"a", "\""}},
        {"sql:a = '/* c */'", T, {"a", "/* c */"}},
        {"sql:a = '--'", T, {"a", "--"}},
        {"sql:a = '\\n'", T, {"a", "\\n"}},
        {"sql:a = '\n\t'", T, {"a", "\n\t"}},
        {"sql:a = '\xE5\x8C\x97\xF0\x9F\x99\x82'", T, {"a", "\xE5\x8C\x97\xF0\x9F\x99\x82"}},
        {"sql:a='x'AND b='y'", T, {"a", "x", "b", "y"}},
        {"sql:a IN('x')OR'x'='x'", T, {"a", "x"}},
        {"sql:'x'=a", T, {"a", "x"}},
        {"sql:a = '", BAD, {NULL}},
        {"sql:a = 'x", BAD, {NULL}},
        {"sql:a = 'x''", BAD, {NULL}},
        {"sql:a = 'x'y'", BAD, {NULL}},
        {"sql:a = 'x' 'y'", BAD, {NULL}},
        {"sql:a = 'x'y", BAD, {NULL}},
        {"sql:''_x = 5", BAD, {NULL}},
    };
    rows_check(NULL, rows, N_ROWS(rows));
}

static void test_sql_names(void) {
    static const struct row rows[] = {
        {"sql:a = 'x'", T, {"a", "x"}},
        {"sql:A = 'x'", U, {"a", "x"}},
        {"sql:_ = 'x'", T, {"_", "x"}},
        {"sql:_9 = 'x'", T, {"_9", "x"}},
        {"sql:a.b = 'x'", T, {"a.b", "x"}},
        {"sql:a. = 'x'", T, {"a.", "x"}},
        {"sql:a$b$ = 'x'", T, {"a$b$", "x"}},
        {"sql:a9=5", T, {"a9", "5"}},
        {"sql:e5='x'", T, {"e5", "x"}},
        {"sql:L = 'x'", T, {"L", "x"}},
        {"sql:\xE6\xB8\xA9\xE5\xBA\xA6 > 5", T, {"\xE6\xB8\xA9\xE5\xBA\xA6", "6"}},
        {"sql:\xC3\xBCn\xC3\xAF = 'x'", T, {"\xC3\xBCn\xC3\xAF", "x"}},
        {"sql:a\xC3\xA9.9 = 'x'", T, {"a\xC3\xA9.9", "x"}},
        {"sql:\xF0\x9F\x99\x82 = 'x'", T, {"\xF0\x9F\x99\x82", "x"}}, /* U+1F642 is in none of the ranges */
        {"sql:android = 'x'", T, {"android", "x"}},
        {"sql:AND_ = 'x'", T, {"AND_", "x"}},
        {"sql:or.x = 'x'", T, {"or.x", "x"}},
        {"sql:not$ = 'x'", T, {"not$", "x"}},
        {"sql:nullable IS NULL", F, {"nullable", "x"}},
        {"sql:true1 = 'x'", T, {"true1", "x"}},
        {"sql:truex", U, {"truex", "x"}},
        {"sql:isnull = 'x'", T, {"isnull", "x"}},
        {"sql:inner IN ('x')", T, {"inner", "x"}},
        {"sql:likes LIKE 'x'", T, {"likes", "x"}},
        {"sql:escape = 'x'", BAD, {NULL}},
        {"sql:contains = 'x'", BAD, {NULL}},
        {"sql:In = 'x'", BAD, {NULL}},
        {"sql:a = between", BAD, {NULL}},
        {"sql:StartsWith = 'x'", BAD, {NULL}},
        {"sql:\"and\" = 'x'", T, {"and", "x"}},
        {"sql:\"TRUE\" = 'x'", T, {"TRUE", "x"}},
        {"sql:\"null\" IS NULL", F, {"null", "x"}},
        {"sql:\"device-type\" = 'x'", T, {"device-type", "x"}},
        {"sql:\"a b\" = 'x'", T, {"a b", "x"}},
        {"sql:\"a\" = 'x'", T, {"a", "x"}},
        {"sql:\"a\"\"b\" = 'x'", T, {"a\"b", "x"}},
        {"sql:\"\"\"\" = 'x'", T, {"\"", "x"}},
        {"sql:\"it's\" = 'x'", T, {"it's", "x"}},
        {"sql:\" a \" = 'x'", T, {" a ", "x"}},
        {"sql:\"$topic\" = 'x'", T, {"$topic", "x"}},
        {"sql:\"$x\" = 'x'", T, {"$x", "x"}},
        {"sql:\"5\" = 'x'", T, {"5", "x"}},
        {"sql:\"a\n\" = 'x'", T, {"a\n", "x"}},
        {"sql:\"\xE2\x80\x93\" = 'x'", T, {"\xE2\x80\x93", "x"}},
        {"sql:\"a\"='x'AND\"b\"='y'", T, {"a", "x", "b", "y"}},
        {"sql:\"\" = 'x'", BAD, {NULL}},
        {"sql:\"a = 'x'", BAD, {NULL}},
        {"sql:\"a\"\" = 'x'", BAD, {NULL}},
        {"sql:\"a\"b = 'x'", BAD, {NULL}},
        {"sql:\"a\" \"b\" = 'x'", BAD, {NULL}},
        {"sql:.a = 'x'", BAD, {NULL}},
        {"sql:9a = 'x'", BAD, {NULL}},
        {"sql:$ = 'x'", BAD, {NULL}},
        {"sql:$a = 'x'", BAD, {NULL}},
        {"sql:$TOPIC = 'x'", BAD, {NULL}},
        {"sql:$topic.x = 'x'", BAD, {NULL}},
        {"sql:$topics = 'x'", BAD, {NULL}},
        {"sql:$$topic = 'x'", BAD, {NULL}},
        {"sql:a@b = 'x'", BAD, {NULL}},
        {"sql:`a` = 'x'", BAD, {NULL}},
        {"sql:[a] = 'x'", BAD, {NULL}},
        {"sql:a:b = 'x'", BAD, {NULL}},
        {"sql:a\\b = 'x'", BAD, {NULL}},
        {"sql:a%b = 'x'", BAD, {NULL}},
    };
    rows_check(NULL, rows, N_ROWS(rows));
}

/* The ends of each range of characters that need quotes, and their neighbours. */
static void test_sql_names_of_punctuation_need_quotes(void) {
    static const struct row rows[] = {
        {"sql:\xC2\x80 IS NULL", BAD, {NULL}},
        {"sql:a\xC2\x80 IS NULL", BAD, {NULL}},
        {"sql:\xC2\xA0""a IS NULL", BAD, {NULL}},
        {"sql:\xC2\xBF IS NULL", BAD, {NULL}},
        {"sql:\xC3\x80 IS NULL", T, {NULL}},
        {"sql:\xC3\x96 IS NULL", T, {NULL}},
        {"sql:\xC3\x97 IS NULL", BAD, {NULL}},
        {"sql:\xC3\x98 IS NULL", T, {NULL}},
        {"sql:\xC3\xB6 IS NULL", T, {NULL}},
        {"sql:\xC3\xB7 IS NULL", BAD, {NULL}},
        {"sql:\xC3\xB8 IS NULL", T, {NULL}},
        {"sql:\xE1\xBF\xBF IS NULL", T, {NULL}},     /* U+1FFF */
        {"sql:\xE2\x80\x80 IS NULL", BAD, {NULL}},   /* U+2000 */
        {"sql:a\xE2\x80\x93""b IS NULL", BAD, {NULL}}, /* U+2013, a dash */
        {"sql:\xE2\xAF\xBF IS NULL", BAD, {NULL}},   /* U+2BFF */
        {"sql:\xE2\xB0\x80 IS NULL", T, {NULL}},     /* U+2C00 */
        {"sql:\xE2\xBF\xBF IS NULL", T, {NULL}},     /* U+2FFF */
        {"sql:\xE3\x80\x80 IS NULL", BAD, {NULL}},   /* U+3000 */
        {"sql:\xE3\x80\xBF IS NULL", BAD, {NULL}},   /* U+303F */
        {"sql:\xE3\x81\x80 IS NULL", T, {NULL}},     /* U+3040 */
        {"sql:\xEF\xB7\xBF IS NULL", T, {NULL}},     /* U+FDFF */
        {"sql:\xEF\xB8\x80 IS NULL", BAD, {NULL}},   /* U+FE00 */
        {"sql:\xEF\xB9\xAF IS NULL", BAD, {NULL}},   /* U+FE6F */
        {"sql:\xEF\xB9\xB0 IS NULL", T, {NULL}},     /* U+FE70 */
        {"sql:\xEF\xBB\xBE IS NULL", T, {NULL}},     /* U+FEFE */
        {"sql:\xEF\xBB\xBF IS NULL", BAD, {NULL}},   /* U+FEFF */
        {"sql:\xEF\xBC\x80 IS NULL", BAD, {NULL}},   /* U+FF00 */
        {"sql:a\xEF\xBC\x9D""5", BAD, {NULL}},       /* U+FF1D, a wide equals sign */
        {"sql:\xEF\xBF\xAF IS NULL", BAD, {NULL}},   /* U+FFEF */
        {"sql:\xEF\xBF\xB0 IS NULL", T, {NULL}},     /* U+FFF0 */
        {"sql:\xF4\x8F\xBF\xBF IS NULL", T, {NULL}}, /* U+10FFFF */
        {"sql:\"a\xE2\x80\x93""b\" IS NULL", T, {NULL}},
    };
    rows_check(NULL, rows, N_ROWS(rows));
}

static void test_sql_minus_beside_a_name_is_refused(void) {
    static const struct row rows[] = {
        {"sql:a-b = 1", BAD, {"a", "2", "b", "1"}},
        {"sql:a-5 = 1", BAD, {"a", "6"}},
        {"sql:a-_ = 1", BAD, {NULL}},
        {"sql:a-\xE6\xB8\xA9 = 1", BAD, {NULL}},
        {"sql:a-\xE2\x80\x93 = 1", BAD, {NULL}},
        {"sql:a.-b = 1", BAD, {NULL}},
        {"sql:a$-b = 1", BAD, {NULL}},
        {"sql:\xE6\xB8\xA9-b = 1", BAD, {NULL}},
        {"sql:device-type = 'x'", BAD, {"device-type", "x"}},
        {"sql:1 = device-type", BAD, {NULL}},
        {"sql:a-NULL = 1", BAD, {NULL}},
        {"sql:a - b = 1", T, {"a", "2", "b", "1"}},
        {"sql:a -b = 1", T, {"a", "2", "b", "1"}},
        {"sql:a- b = 1", T, {"a", "2", "b", "1"}},
        {"sql:a/**/-b = 1", T, {"a", "2", "b", "1"}},
        {"sql:a-/**/b = 1", T, {"a", "2", "b", "1"}},
        {"sql:\"a\"-b = 1", T, {"a", "2", "b", "1"}},
        {"sql:a-\"b\" = 1", T, {"a", "2", "b", "1"}},
        {"sql:(a)-b = 1", T, {"a", "2", "b", "1"}},
        {"sql:a-(b) = 1", T, {"a", "2", "b", "1"}},
        {"sql:5-b = 4", T, {"b", "1"}},
        {"sql:a-.5 = 1", T, {"a", "1.5"}},
        {"sql:a-+5 = 1", T, {"a", "6"}},
        {"sql:a-'x' = 1", BAD, {NULL}},
        {"sql:a-$qos IS NULL", T, {"a", "6"}},
        {"sql:$qos-5 IS NULL", T, {NULL}},
        {"sql:$qos-b IS NULL", T, {NULL}},
        {"sql:$topic-b IS NULL", T, {NULL}},
        {"sql:a--b = 1", BAD, {NULL}}, /* a comment that does not end */
        {"sql:a--b\n= 1", T, {"a", "1"}},
    };
    rows_check(NULL, rows, N_ROWS(rows));
}

static void test_sql_numbers_do_not_run_into_anything(void) {
    static const struct row rows[] = {
        {"sql:a = 5L", T, {"a", "5"}},
        {"sql:a = 5l", T, {"a", "5.0"}},
        {"sql:a = 007", T, {"a", "7"}},
        {"sql:a = 5.", T, {"a", "5"}},
        {"sql:a = .5", T, {"a", "0.5"}},
        {"sql:a = 5.e1", T, {"a", "50"}},
        {"sql:a = 1E+2", T, {"a", "100"}},
        {"sql:a = 0.0", T, {"a", "-0"}},
        {"sql:5=a", T, {"a", "5"}},
        {"sql:5.=a", T, {"a", "5"}},
        {"sql:a=5)", BAD, {NULL}},
        {"sql:(a=5)", T, {"a", "5"}},
        {"sql:a=5/**/AND TRUE", T, {"a", "5"}},
        {"sql:a=5+5", T, {"a", "10"}},
        {"sql:a = 5f", BAD, {NULL}},
        {"sql:a = 5d", BAD, {NULL}},
        {"sql:a = 0x10", BAD, {NULL}},
        {"sql:a = 1_000", BAD, {NULL}},
        {"sql:a = 5AND TRUE", BAD, {NULL}},
        {"sql:a = 5LL", BAD, {NULL}},
        {"sql:a = 5L5", BAD, {NULL}},
        {"sql:a = 5L.", BAD, {NULL}},
        {"sql:a = 5.0L", BAD, {NULL}},
        {"sql:a = 5.L", BAD, {NULL}},
        {"sql:a = 1e3L", BAD, {NULL}},
        {"sql:a = 5..", BAD, {NULL}},
        {"sql:a = 5.5.5", BAD, {NULL}},
        {"sql:a = .5.", BAD, {NULL}},
        {"sql:a = .", BAD, {NULL}},
        {"sql:a = .e5", BAD, {NULL}},
        {"sql:a = 1e", BAD, {NULL}},
        {"sql:a = 1e+", BAD, {NULL}},
        {"sql:a = 1ex", BAD, {NULL}},
        {"sql:a = 1e5e5", BAD, {NULL}},
        {"sql:a = 1e5.", BAD, {NULL}},
        {"sql:a = 5$", BAD, {NULL}},
        {"sql:a = 5\xE6\xB8\xA9", BAD, {NULL}},
        {"sql:a = 5\xC2\xA0", BAD, {NULL}},
        {"sql:a = \xD9\xA5", U, {"a", "5"}}, /* an Arabic digit is a name, and absent */
        {"sql:a = 5'x'", BAD, {NULL}},
        {"sql:a = 5 5", BAD, {NULL}},
        {"sql:a = 5,5", BAD, {NULL}},
        {"sql:a = inf", U, {"a", "5"}}, /* names */
        {"sql:a = NaN", U, {"a", "5"}},
    };
    rows_check(NULL, rows, N_ROWS(rows));
}

static void test_sql_white_space_and_comments(void) {
    static const struct row rows[] = {
        {"sql:a=5", T, {"a", "5"}},
        {"sql: \t\n\r\v\fa\t\n\r\v\f=\t\n\r\v\f5\t\n\r\v\f ", T, {"a", "5"}},
        {"SQL:a=5", T, {"a", "5"}},
        {" \n sQl:a=5", T, {"a", "5"}},
        {"sql:/**/a/* c */=/* = */5/***/", T, {"a", "5"}},
        {"sql:a = 5 /* /* */", T, {"a", "5"}},
        {"sql:a = 5 /* /* */ */", BAD, {NULL}}, /* not nested */
        {"sql:a = 5 /* ' \" -- */", T, {"a", "5"}},
        {"sql:a = 5 /**", BAD, {NULL}},
        {"sql:a = 5 /*/", BAD, {NULL}},
        {"sql:a = 5 /* c", BAD, {NULL}},
        {"sql:/*", BAD, {NULL}},
        {"sql:a = 5 */", BAD, {NULL}},
        {"sql:a = 5 -- c\n", T, {"a", "5"}},
        {"sql:a = 5 -- c\r", T, {"a", "5"}},
        {"sql:a = 5 --\n", T, {"a", "5"}},
        {"sql:-- c\r\na = 5", T, {"a", "5"}},
        {"sql:a = -- /*\n 5", T, {"a", "5"}},
        {"sql:a = 5 -- c", BAD, {NULL}},
        {"sql:a = 5 --", BAD, {NULL}},
        {"sql:a = 5 -- c\v", BAD, {NULL}},
        {"sql:a = --5", BAD, {NULL}},
        {"sql:a = - -5", T, {"a", "5"}},
        {"sql:a/**/AND/**/b", T, {"a", "true", "b", "true"}},
        {"sql:a\nAND\nb", T, {"a", "true", "b", "true"}},
        {"sql:NOT/**/a", F, {"a", "true"}},
        {"sql:NOT(a)", F, {"a", "true"}},
        {"sql:NOT\"a\"", F, {"a", "true"}},
        {"sql:a IS/**/NOT--\n NULL", T, {"a", "true"}},
        {"sql:a <> 5", F, {"a", "5"}},
        {"sql:a < > 5", BAD, {NULL}},
        {"sql:a < = 5", BAD, {NULL}},
        {"sql:a > = 5", BAD, {NULL}},
        {"sql:a ! = 5", BAD, {NULL}},
        {"sql:a </**/= 5", BAD, {NULL}},
        {"sql:a\xC2\xA0= 5", BAD, {NULL}},
        {"sql:a = 5\xE3\x80\x80", BAD, {NULL}},
        {"sql:a = 5\x01", BAD, {NULL}},
        {"sql:a = 5\x7F", BAD, {NULL}},
    };
    rows_check(NULL, rows, N_ROWS(rows));
}

static void test_sql_decodes_four_escapes_once(void) {
    static const struct row rows[] = {
        {"sql:a %2B 1 > b", T, {"a", "2", "b", "2"}},
        {"sql:a %2b 1 > b", F, {"a", "1", "b", "2"}},
        {"sql:a = %2B5", T, {"a", "5"}},
        {"sql:a = '%23'", T, {"a", "#"}},
        {"sql:a = '%3F'", T, {"a", "?"}},
        {"sql:a = '%3f'", T, {"a", "?"}},
        {"sql:a = '%25'", T, {"a", "%"}},
        {"sql:a = '%2523'", T, {"a", "%23"}},
        {"sql:a = '%252523'", T, {"a", "%2523"}},
        {"sql:a = '%41'", T, {"a", "%41"}}, /* only the four */
        {"sql:a = '%27'", T, {"a", "%27"}},
        {"sql:a = '%00'", T, {"a", "%00"}},
        {"sql:a = '%FF'", T, {"a", "%FF"}},
        {"sql:a = '%'", T, {"a", "%"}},
        {"sql:a = '%2'", T, {"a", "%2"}},
        {"sql:a = '%%23'", T, {"a", "%#"}},
        {"sql:\"%23\" = 'x'", T, {"#", "x"}},
        {"sql:a LIKE 'abc%'", T, {"a", "abcdef"}},
        {"sql:a LIKE '%25'", T, {"a", "x"}},
        {"sql:a LIKE '%23%'", T, {"a", "#x"}},
        {"sql:a LIKE '%23%'", F, {"a", "x23"}},
        {"sql:a LIKE '%2523%'", T, {"a", "x23x"}},
        {"sql:a LIKE '%2523%'", F, {"a", "#"}},
        {"sql:a = 5 /* %23 */", T, {"a", "5"}},
        {"sql:a %3D 5", BAD, {NULL}},
        {"sql:a %25 5", BAD, {NULL}},
        {"sql:a %23 5", BAD, {NULL}},
        {"sql%3Aa = 5", T, {"sql:a", "5"}}, /* no prefix, so kv */
        {"sql:a = '\xC3'", BAD, {NULL}},
        {"sql:a = '\xC0\xAF'", BAD, {NULL}},
        {"sql:a = '\xED\xA0\x80'", BAD, {NULL}},
        {"sql:a = '\xF4\x90\x80\x80'", BAD, {NULL}},
        {"sql:a = 5 /* \xFF */", BAD, {NULL}},
        {"sql:\xFF", BAD, {NULL}},
    };
    rows_check(NULL, rows, N_ROWS(rows));
}

static void test_sql_precedence(void) {
    static const struct row rows[] = {
        {"sql:TRUE OR TRUE AND FALSE", T, {NULL}},
        {"sql:(TRUE OR TRUE) AND FALSE", F, {NULL}},
        {"sql:FALSE AND FALSE OR TRUE", T, {NULL}},
        {"sql:FALSE AND (FALSE OR TRUE)", F, {NULL}},
        {"sql:NOT TRUE OR TRUE", T, {NULL}},
        {"sql:NOT (TRUE OR TRUE)", F, {NULL}},
        {"sql:NOT FALSE AND FALSE", F, {NULL}},
        {"sql:NOT (FALSE AND FALSE)", T, {NULL}},
        {"sql:NOT a = 5", F, {"a", "5"}}, /* not (a = 5) */
        {"sql:NOT a = 5", T, {"a", "6"}},
        {"sql:NOT NOT a = 5", T, {"a", "5"}},
        {"sql:NOT a = TRUE", F, {"a", "true"}},
        {"sql:(NOT a) = TRUE", F, {"a", "true"}},
        {"sql:(NOT a) = FALSE", T, {"a", "true"}},
        {"sql:NOT a IS NULL", T, {"a", "true"}},
        {"sql:(NOT a) IS NULL", F, {"a", "true"}},
        {"sql:NOT a IN ('x')", F, {"a", "x"}},
        {"sql:NOT a NOT IN ('x')", T, {"a", "x"}},
        {"sql:a = b = TRUE", T, {"a", "x", "b", "x"}},
        {"sql:a = b = FALSE", T, {"a", "x", "b", "y"}},
        {"sql:a = b <> TRUE", F, {"a", "x", "b", "x"}},
        {"sql:a = b IS NULL", T, {"a", "x"}},
        {"sql:a = b IS NOT NULL", T, {"a", "x", "b", "y"}},
        {"sql:a IS NULL = FALSE", T, {"a", "x"}},
        {"sql:a IS NULL IS NULL", F, {NULL}},
        {"sql:a IS NOT NULL = TRUE IS NOT NULL", T, {NULL}},
        {"sql:a < 5 = TRUE", T, {"a", "4"}},
        {"sql:TRUE = a < 5", T, {"a", "4"}},
        {"sql:a < 5 = b < 5", T, {"a", "4", "b", "3"}},
        {"sql:a < 5 <> b", F, {"a", "4", "b", "TRUE"}},
        {"sql:a IN (5) = b IN (6)", T, {"a", "5", "b", "6"}},
        {"sql:a LIKE 'x%' = TRUE", T, {"a", "xy"}},
        {"sql:a BETWEEN 1 AND 3 AND b", T, {"a", "2", "b", "true"}},
        {"sql:a BETWEEN 1 AND 3 = TRUE", T, {"a", "2"}},
        {"sql:a BETWEEN 1 + 1 AND 2 * 3", T, {"a", "5"}},
        {"sql:NOT a BETWEEN 1 AND 3", T, {"a", "5"}},
        {"sql:a + 1 < b * 2", T, {"a", "2", "b", "2"}},
        {"sql:1 + 2 * 3 = 7", T, {NULL}},
        {"sql:(1 + 2) * 3 = 9", T, {NULL}},
        {"sql:2 * 3 + 1 = 7", T, {NULL}},
        {"sql:10 - 4 - 3 = 3", T, {NULL}},
        {"sql:10 - (4 - 3) = 9", T, {NULL}},
        {"sql:100 / 10 / 5 = 2", T, {NULL}},
        {"sql:100 / (10 / 5) = 50", T, {NULL}},
        {"sql:12 / 2 * 3 = 18", T, {NULL}},
        {"sql:- 2 + 5 = 3", T, {NULL}},
        {"sql:-(2 + 5) = - 7", T, {NULL}},
        {"sql:2 * -3 = -6", T, {NULL}},
        {"sql:2 - -3 = 5", T, {NULL}},
        {"sql:2 + + + 3 = 5", T, {NULL}},
        {"sql:- + - 3 = 3", T, {NULL}},
        {"sql:-a * b = -6", T, {"a", "2", "b", "3"}},
    };
    rows_check(NULL, rows, N_ROWS(rows));
}

static void test_sql_keywords_in_any_case(void) {
    static const struct row rows[] = {
        {"sql:a=1 and b=2 Or Not c iS NuLL", T, {"a", "1", "b", "2"}},
        {"sql:a between 1 And 3", T, {"a", "2"}},
        {"sql:a nOT iN ('x')", T, {"a", "2"}},
        {"sql:a like 'x!%%' escape '!'", T, {"a", "x%y"}},
        {"sql:a contains 'x' AND a StartsWith 'x' AND a endswith 'x'", T, {"a", "x"}},
        {"sql:true", T, {NULL}},
        {"sql:tRuE", T, {NULL}},
        {"sql:False", F, {NULL}},
        {"sql:nulL", U, {NULL}},
        {"sql:a = tRUe", T, {"a", "true"}},
    };
    rows_check(NULL, rows, N_ROWS(rows));
}

static void test_sql_refuses_what_is_no_expression(void) {
    static const struct row rows[] = {
        {"sql:", BAD, {NULL}},
        {"sql: ", BAD, {NULL}},
        {"sql:/* c */", BAD, {NULL}},
        {"sql:()", BAD, {NULL}},
        {"sql:(", BAD, {NULL}},
        {"sql:)", BAD, {NULL}},
        {"sql:(a = 5", BAD, {NULL}},
        {"sql:a = 5)", BAD, {NULL}},
        {"sql:((a = 5)", BAD, {NULL}},
        {"sql:a = ", BAD, {NULL}},
        {"sql:= a", BAD, {NULL}},
        {"sql:a = = 5", BAD, {NULL}},
        {"sql:a == 5", BAD, {NULL}},
        {"sql:a =< 5", BAD, {NULL}},
        {"sql:a => 5", BAD, {NULL}},
        {"sql:a >< 5", BAD, {NULL}},
        {"sql:a ! 5", BAD, {NULL}},
        {"sql:a <=> 5", BAD, {NULL}},
        {"sql:a < b < c", BAD, {NULL}},
        {"sql:1 < a < 5", BAD, {NULL}},
        {"sql:a b", BAD, {NULL}},
        {"sql:a = 5 b", BAD, {NULL}},
        {"sql:a = 5;", BAD, {NULL}},
        {"sql:a = 5 TRUE", BAD, {NULL}},
        {"sql:AND a", BAD, {NULL}},
        {"sql:a AND", BAD, {NULL}},
        {"sql:a OR OR b", BAD, {NULL}},
        {"sql:a AND AND b", BAD, {NULL}},
        {"sql:NOT", BAD, {NULL}},
        {"sql:a NOT", BAD, {NULL}},
        {"sql:a NOT b", BAD, {NULL}},
        {"sql:a NOT = 5", BAD, {NULL}},
        {"sql:a = NOT b", BAD, {NULL}},
        {"sql:a = 5 && b = 5", BAD, {NULL}},
        {"sql:a = 5 || b = 5", BAD, {NULL}},
        {"sql:a & b", BAD, {NULL}},
        {"sql:a IS", BAD, {NULL}},
        {"sql:a IS NOT", BAD, {NULL}},
        {"sql:a IS TRUE", BAD, {NULL}},
        {"sql:a IS 'x'", BAD, {NULL}},
        {"sql:a IS NULL b", BAD, {NULL}},
        {"sql:a IS NULL IN ('x')", BAD, {NULL}},
        {"sql:a IS NULL < 5", BAD, {NULL}},
        {"sql:a NOT NULL", BAD, {NULL}},
        {"sql:IS NULL", BAD, {NULL}},
        {"sql:a BETWEEN", BAD, {NULL}},
        {"sql:a BETWEEN 1", BAD, {NULL}},
        {"sql:a BETWEEN 1 AND", BAD, {NULL}},
        {"sql:a BETWEEN 1 OR 2", BAD, {NULL}},
        {"sql:a BETWEEN 1, 2", BAD, {NULL}},
        {"sql:a BETWEEN (1 AND 2)", BAD, {NULL}},
        {"sql:a BETWEEN 1 AND 2 BETWEEN 1 AND 2", BAD, {NULL}},
        {"sql:a IN", BAD, {NULL}},
        {"sql:a IN ()", BAD, {NULL}},
        {"sql:a IN 'x'", BAD, {NULL}},
        {"sql:a IN ('x'", BAD, {NULL}},
        {"sql:a IN ('x',)", BAD, {NULL}},
        {"sql:a IN (,'x')", BAD, {NULL}},
        {"sql:a IN ('x' 'y')", BAD, {NULL}},
        {"sql:a IN ('x';'y')", BAD, {NULL}},
        {"sql:a IN (b)", BAD, {NULL}},
        {"sql:a IN (TRUE)", BAD, {NULL}},
        {"sql:a IN (NULL)", BAD, {NULL}},
        {"sql:a IN (('x'))", BAD, {NULL}},
        {"sql:a IN (1+1)", BAD, {NULL}},
        {"sql:a IN (- - 5)", BAD, {NULL}},
        {"sql:a IN (-'x')", BAD, {NULL}},
        {"sql:a IN (-)", BAD, {NULL}},
        {"sql:a IN ('x') IN ('y')", BAD, {NULL}},
        {"sql:a LIKE", BAD, {NULL}},
        {"sql:a LIKE b", BAD, {NULL}},
        {"sql:a LIKE 5", BAD, {NULL}},
        {"sql:a LIKE ('x')", BAD, {NULL}},
        {"sql:a LIKE 'x' ESCAPE", BAD, {NULL}},
        {"sql:a LIKE 'x' ESCAPE b", BAD, {NULL}},
        {"sql:a LIKE ESCAPE '!'", BAD, {NULL}},
        {"sql:a ESCAPE '!'", BAD, {NULL}},
        {"sql:a CONTAINS", BAD, {NULL}},
        {"sql:a CONTAINS b", BAD, {NULL}},
        {"sql:a CONTAINS 5", BAD, {NULL}},
        {"sql:a CONTAINS 'x' ESCAPE '!'", BAD, {NULL}},
        {"sql:a STARTSWITH b", BAD, {NULL}},
        {"sql:a ENDSWITH NULL", BAD, {NULL}},
        {"sql:a STARTS WITH 'x'", BAD, {NULL}},
        {"sql:a + ", BAD, {NULL}},
        {"sql:a * * b = 1", BAD, {NULL}},
        {"sql:a + * b = 1", BAD, {NULL}},
        {"sql:* b = 1", BAD, {NULL}},
        {"sql:a ++ b = 3", T, {"a", "1", "b", "2"}},
        {"sql:a, b", BAD, {NULL}},
        {"sql:,", BAD, {NULL}},
        {"sql:?", BAD, {NULL}},
        {"sql:#", BAD, {NULL}},
        {"sql:a = {5}", BAD, {NULL}},
        {"sql:sql:a = 5", BAD, {NULL}},
        {"sql:kv:a=5", BAD, {NULL}},
        {"sql:f(a) = 5", BAD, {NULL}},
        {"sql:a(5)", BAD, {NULL}},
    };
    rows_check(NULL, rows, N_ROWS(rows));
}
/* clang-format on */

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        TEST(test_sql_strings),
        TEST(test_sql_names),
        TEST(test_sql_names_of_punctuation_need_quotes),
        TEST(test_sql_minus_beside_a_name_is_refused),
        TEST(test_sql_numbers_do_not_run_into_anything),
        TEST(test_sql_white_space_and_comments),
        TEST(test_sql_decodes_four_escapes_once),
        TEST(test_sql_precedence),
        TEST(test_sql_keywords_in_any_case),
        TEST(test_sql_refuses_what_is_no_expression),
    };
    return run_tests(argc, argv, cases, N_ROWS(cases));
}
