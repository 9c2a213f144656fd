/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Errors (LANGUAGE, errors): code, offset and length in the text as it was sent, and the sentence.
 *
 * Each row has its spot drawn below it: ^^^ under the bytes, or | where the spot is between two. (With an escape
 * sequence of C in the text the drawing is as long as the bytes, not as the source.)
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "runner.h"

struct row {
    const char *text;
    const char *spot;
};

/* clang-format off */
static const struct row escape_rows[] = {
    {"a=%00",
     "  ^^^"},
    {"a=x%00y",
     "   ^^^"},
    {"name= x%2541%00%FF ",
     "            ^^^"},
    {"%00=1",
     "^^^"},
    {"a=%41%00",
     "     ^^^"},
    {"b=%FE&a=%00",
     "  ^^^"},
    {"a=\xe5\x8c\x97%FF",
     "     ^^^"},
    {"a=%FF",
     "  ^^^"},
    {"a=\xff",
     "  ^"},
    {"a=x%C3y",
     "   ^^^"},
    {"a=x%C3%28y",
     "   ^^^"},
    {"a=\xC3%28",
     "  ^"},
    {"a=x%80%80",
     "   ^^^"},
    {"a=%C3",
     "  ^^^"},
    {"a=%E5%8Cx",
     "  ^^^^^^"},
    {"a=\xe5%8C",
     "  ^^^^"},
    {"a=x%F0%9F%99y%82",
     "   ^^^^^^^^^"},
    {"a=%ED%A0%80",
     "  ^^^^^^^^^"},
    {"a=%F5%80",
     "  ^^^"},
    {"%FF=1",
     "^^^"},
    {"tag:%00",
     "    ^^^"},
    {"tag:a||x%00",
     "        ^^^"},
    {"tag:a|| %7C%00z ||b",
     "           ^^^"},
    {"tag:a||%FF",
     "       ^^^"},
    {"sql:a = '\xff'",
     "         ^"},
    {"sql:a = '%23\xe5\x8c'",
     "            ^^"},
};

static const struct row empty_rows[] = {
    {"",
     "|"},
    {"a=1&",
     "    |"},
    {"&a=1",
     "^"},
    {"a=1&&b=2",
     "    ^"},
    {"a=1& &b=2",
     "    ^"},
    {"=1",
     "^"},
    {" =1",
     "^"},
    {">5",
     "^"},
    {"a=",
     "  |"},
    {"a= ",
     "  ^"},
    {"a>",
     "  |"},
    {" a > ",
     "    ^"},
    {"k=&k=0",
     "  ^"},
    {"kv:",
     "   |"},
    {"kv: ",
     "   ^"},
    {"tag:",
     "    |"},
    {"tag: ",
     "    ^"},
    {"tag:||",
     "    ^"},
    {"tag:a||",
     "       |"},
    {"tag:||a",
     "    ^"},
    {"tag:a|| ||b",
     "       ^"},
    {"sql:",
     "    |"},
    {"sql: ",
     "     |"},
    {"sql:/* c */",
     "           |"},
    {"sql:a =",
     "       |"},
    {"sql:a = ",
     "        |"},
    {"sql:a = /* c */ ",
     "                |"},
    {"sql:()",
     "     ^"},
    {"sql:(",
     "     |"},
    {"sql:( ",
     "      |"},
    {"sql:)",
     "    ^"},
    {"sql:a IN ('x',",
     "              |"},
    {"sql:a IN (",
     "          |"},
    {"sql:a IN ()",
     "          ^"},
    {"sql:a IN ('x',)",
     "              ^"},
    {"sql:a AND",
     "         |"},
    {"sql:NOT",
     "       |"},
    {"sql:a BETWEEN",
     "             |"},
    {"sql:a BETWEEN 1 AND",
     "                   |"},
    {"sql:a LIKE",
     "          |"},
    {"sql:a LIKE 'x' ESCAPE",
     "                     |"},
};

static const struct row operator_rows[] = {
    {"a",
     "^"},
    {"a b",
     "^^^"},
    {" a b ",
     " ^^^"},
    {"a=1&  b\t&c=2",
     "      ^"},
    {" kv: a ",
     "     ^"},
    {"a!",
     "^^"},
    {"v=1=2",
     "   ^"},
    {"a!=1",
     " ^"},
    {"a! =1",
     " ^"},
    {"a!>=1",
     " ^"},
    {"a<>1",
     "  ^"},
    {"a=>5",
     "  ^"},
    {"a==5",
     "  ^"},
    {"a=b>1",
     "   ^"},
    {"a>=5>=6",
     "    ^"},
    {"a=1&b",
     "    ^"},
    {"a=1&b=2=3",
     "       ^"},
    {" kv:a",
     "    ^"},
};

static const struct row syntax_rows[] = {
    {"sql:a = 5)",
     "         ^"},
    {"sql:a IN",
     "        |"},
    {"sql:a IN 'x'",
     "         ^^^"},
    {"sql:a IN (b)",
     "          ^"},
    {"sql:a IN (TRUE)",
     "          ^^^^"},
    {"sql:a IN ('x', NULL)",
     "               ^^^^"},
    {"sql:a IN (-'x')",
     "           ^^^"},
    {"sql:a IN ('x' 'y')",
     "              ^^^"},
    {"sql:= a",
     "    ^"},
    {"sql:a = = 5",
     "        ^"},
    {"sql:a == 5",
     "      ^^"},
    {"sql:a => 5",
     "      ^^"},
    {"sql:a =< 5",
     "      ^^"},
    {"sql:a = > 5",
     "        ^"},
    {"sql:a ! 5",
     "      ^"},
    {"sql:a < b < c",
     "          ^"},
    {"sql:a b",
     "      ^"},
    {"sql:a = 5 b",
     "          ^"},
    {"sql:a = 5;",
     "         ^"},
    {"sql:a = 5 && b",
     "          ^"},
    {"sql:AND a",
     "    ^^^"},
    {"sql:a OR OR b",
     "         ^^"},
    {"sql:a NOT",
     "         |"},
    {"sql:a NOT b",
     "          ^"},
    {"sql:a = NOT b",
     "        ^^^"},
    {"sql:a IS",
     "        |"},
    {"sql:a IS TRUE",
     "         ^^^^"},
    {"sql:a IS NOT b",
     "             ^"},
    {"sql:a BETWEEN 1",
     "               |"},
    {"sql:a BETWEEN 1 OR 2",
     "                ^^"},
    {"sql:a LIKE b",
     "           ^"},
    {"sql:a LIKE 5",
     "           ^"},
    {"sql:a CONTAINS b",
     "               ^"},
    {"sql:%23",
     "    ^^^"},
    {"sql:a %3D 5",
     "      ^"},
    {"sql:a \x01 b",
     "      ^"},
    {"sql:?",
     "    ^"},
};

static const struct row unclosed_rows[] = {
    {"sql:(a = 5",
     "    ^"},
    {"sql:((a = 5)",
     "    ^"},
    {"sql:a = 'x",
     "        ^"},
    {"sql:a = 'x''",
     "        ^"},
    {"sql:\"a = 5",
     "    ^"},
    {"sql:a = 5 /* c",
     "          ^^"},
    {"sql:a = 5 -- c",
     "          ^^"},
    {"sql:a IN ('x'",
     "         ^"},
};

static const struct row name_rows[] = {
    {"sql:\"\"",
     "    ^^"},
    {"sql:$x = 1",
     "    ^^"},
    {"sql:$TOPIC = 1",
     "    ^^^^^^"},
    {"sql:$ = 1",
     "    ^"},
    {"sql:a-b = 1",
     "    ^^^"},
    {"sql:device-type = 'x'",
     "    ^^^^^^^^^^^"},
    {"sql:a\xe2\x80\x93""b = 1",
     "     ^^^"},
    {"sql:\xc2\xa0""a = 1",
     "    ^^"},
};

static const struct row number_rows[] = {
    {"v>abc",
     "  ^^^"},
    {"v> abc ",
     "   ^^^"},
    {"v>%61bc",
     "  ^^^^^"},
    {"v>1e400",
     "  ^^^^^"},
    {"a=1&v<5,5",
     "      ^^^"},
    {"kv:a=1&v>x",
     "         ^"},
    {"sql:a = 5f",
     "        ^^"},
    {"sql:a = 0x10",
     "        ^^^^"},
    {"sql:a = 1_000",
     "        ^^^^^"},
    {"sql:a = 5AND b",
     "        ^^^^"},
    {"sql:a = 5.5.5",
     "        ^^^^^"},
    {"sql:a = 1e",
     "        ^^"},
    {"sql:a = 1e400",
     "        ^^^^^"},
    {"sql:a = 9223372036854775808",
     "        ^^^^^^^^^^^^^^^^^^^"},
    {"sql:a = -9223372036854775809",
     "         ^^^^^^^^^^^^^^^^^^^"},
    {"sql:a = - 9223372036854775808",
     "          ^^^^^^^^^^^^^^^^^^^"},
    {"sql:a = -/**/9223372036854775808",
     "             ^^^^^^^^^^^^^^^^^^^"},
    {"sql:a = -(9223372036854775808)",
     "          ^^^^^^^^^^^^^^^^^^^"},
    {"sql:a -9223372036854775808 = 1",
     "       ^^^^^^^^^^^^^^^^^^^"},
    {"sql:a = 5LL",
     "        ^^^"},
};

static const struct row kind_rows[] = {
    {"sql:a %2B %2B 'x' = 1",
     "              ^^^"},
    {"sql:a = '%23%23%23' AND b > '%23'",
     "                            ^^^^^"},
    {"sql:a > 'abc'",
     "        ^^^^^"},
    {"sql:5 = 'x'",
     "        ^^^"},
    {"sql:'x' = 5",
     "          ^"},
    {"sql:a = NULL",
     "        ^^^^"},
    {"sql:NULL = a",
     "    ^^^^"},
    {"sql:(NULL) <> NULL",
     "    ^^^^^^"},
    {"sql:a > NULL",
     "        ^^^^"},
    {"sql:a BETWEEN 1 AND NULL",
     "                    ^^^^"},
    {"sql:NULL IN (1)",
     "    ^^^^"},
    {"sql:a + 1 = TRUE",
     "            ^^^^"},
    {"sql:(a = 1) = 1",
     "              ^"},
    {"sql:a = b = c",
     "            ^"},
    {"sql:a IS NULL = c",
     "                ^"},
    {"sql:a < 'x'",
     "        ^^^"},
    {"sql:'x' < a",
     "    ^^^"},
    {"sql:a < TRUE",
     "        ^^^^"},
    {"sql:a + 'x' = 1",
     "        ^^^"},
    {"sql:-'x' = 1",
     "     ^^^"},
    {"sql:NULL + 1 = 1",
     "    ^^^^"},
    {"sql:5",
     "    ^"},
    {"sql:'x'",
     "    ^^^"},
    {"sql:a AND 5",
     "          ^"},
    {"sql:'x' OR a",
     "    ^^^"},
    {"sql:NOT 5",
     "        ^"},
    {"sql:NOT (a + 1)",
     "        ^^^^^^^"},
    {"sql:5 IN (5)",
     "    ^"},
    {"sql:$qos IN ('x')",
     "             ^^^"},
    {"sql:5 LIKE 'x'",
     "    ^"},
    {"sql:NULL CONTAINS 'x'",
     "    ^^^^"},
    {"sql:a BETWEEN 'x' AND 5",
     "              ^^^"},
    {"sql:'x' BETWEEN 1 AND 2",
     "    ^^^"},
    {"sql:a = %2B'x'",
     "           ^^^"},
    {"sql:a = '%23' = c",
     "                ^"},
    {"sql:b = '%2523' AND a > 'x%2By'",
     "                        ^^^^^^^"},
    {"sql:\xe5\x8c\x97 > 'x'",
     "          ^^^"},
    {"sql:a = 5%2B'x'",
     "            ^^^"},
};

static const struct row pattern_rows[] = {
    {"sql:a LIKE 'x!' ESCAPE '!'",
     "           ^^^^"},
    {"sql:a LIKE 'x' ESCAPE '!!'",
     "                      ^^^^"},
    {"sql:a LIKE 'x' ESCAPE ''",
     "                      ^^"},
};

static const struct row bounds_rows[] = {
    {"sql:a BETWEEN 5 AND 1",
     "              ^^^^^^^"},
    {"sql:a NOT BETWEEN 2 + 3 AND -1",
     "                  ^^^^^^^^^^^^"},
};
/* clang-format on */

static const struct {
    enum sf_status code;
    const struct row *rows;
    size_t n_rows;
} tables[] = {
    {SF_E_ESCAPE, escape_rows, N_ROWS(escape_rows)},
    {SF_E_EMPTY, empty_rows, N_ROWS(empty_rows)},
    {SF_E_OPERATOR, operator_rows, N_ROWS(operator_rows)},
    {SF_E_SYNTAX, syntax_rows, N_ROWS(syntax_rows)},
    {SF_E_UNCLOSED, unclosed_rows, N_ROWS(unclosed_rows)},
    {SF_E_NAME, name_rows, N_ROWS(name_rows)},
    {SF_E_NUMBER, number_rows, N_ROWS(number_rows)},
    {SF_E_KIND, kind_rows, N_ROWS(kind_rows)},
    {SF_E_PATTERN, pattern_rows, N_ROWS(pattern_rows)},
    {SF_E_BOUNDS, bounds_rows, N_ROWS(bounds_rows)},
};

static void check_spot(const struct sf_options *options, const struct row *row,
                       enum sf_status code) {
    static const struct ref_message no_message = {.n_properties = 0};
    struct engine_result result;
    const char *wrong = engine_run(options, row->text, strlen(row->text), &no_message, &result);
    CHECK(wrong == NULL, "%s: %s", row->text, wrong);
    CHECK(result.status == code, "%s: %s, not %s", row->text, sf_status_name(result.status),
          sf_status_name(code));
    if (result.status != SF_OK) {
        size_t offset = strspn(row->spot, " ");
        size_t length = strspn(row->spot + offset, "^");
        CHECK(result.error.offset == offset && result.error.length == length,
              "%s: %zu+%zu, not %zu+%zu: %s", row->text, result.error.offset, result.error.length,
              offset, length, result.error.text);
    }
}

static void test_errors_have_their_code_and_spot(void) {
    for (size_t i = 0; i < N_ROWS(tables); i++) {
        for (size_t k = 0; k < tables[i].n_rows; k++) {
            check_spot(NULL, &tables[i].rows[k], tables[i].code);
        }
    }
}

static void test_error_of_a_dialect_that_is_off(void) {
    static const struct {
        unsigned dialects;
        const char *text;
    } rows[] = {
        {SF_DIALECT_ALL - SF_DIALECT_SQL, "sql:a = 1"},
        {SF_DIALECT_ALL - SF_DIALECT_SQL, " SQL:("},
        {SF_DIALECT_ALL - SF_DIALECT_TAG, "tag:A"},
        {SF_DIALECT_ALL - SF_DIALECT_KV, "kv:a=1"},
        {SF_DIALECT_ALL - SF_DIALECT_KV, "a=1"},
        {SF_DIALECT_ALL - SF_DIALECT_KV, ""},
        {0, "sql:a = 1"},
    };
    static const struct ref_message no_message = {.n_properties = 0};
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        struct sf_options options = SF_OPTIONS_INIT;
        options.dialects = rows[i].dialects;
        struct engine_result result;
        const char *wrong =
            engine_run(&options, rows[i].text, strlen(rows[i].text), &no_message, &result);
        CHECK(wrong == NULL, "%s: %s", rows[i].text, wrong);
        CHECK(result.status == SF_E_DIALECT, "%s: %s", rows[i].text, sf_status_name(result.status));
    }
}

/* The example of LANGUAGE, errors: in the whole subscription string the offset is 10. */
static void test_error_of_the_languages_example(void) {
    static const char subscription[] = "t?sql:a > 'abc'";
    struct sf_subscription split;
    sf_subscription_split(subscription, strlen(subscription), &split);
    struct sf_schema *schema = sf_schema_new();
    REQUIRE(schema != NULL, "%s", "memory");
    struct sf_filter *filter = NULL;
    struct sf_error error = {.text = ""};
    enum sf_status status = sf_compile(schema, NULL, subscription + split.expression_offset,
                                       split.expression_bytes, &filter, &error);
    sf_schema_free(schema);
    CHECK(status == SF_E_KIND, "%s", sf_status_name(status));
    CHECK(split.expression_offset + error.offset == 10 && error.length == 5, "%zu+%zu",
          error.offset, error.length);
    CHECK(strcmp(error.text, "'abc' is a string; > compares numbers only") == 0, "%s", error.text);
}

/* The sentence speaks the words of the one who wrote the expression, and of what would have been right. */
static void test_errors_say_what_is_wrong(void) {
    static const struct {
        const char *text;
        const char *words[4];
    } words[] = {
        {"sql:device-type = 'x'", {"\"device-type\"", "device - type"}},
        {"sql:$colour = 'x'", {"$colour", "double quotes"}},
        {"sql:a = 5AND b", {"5AND", "blank"}},
        {"sql:a = 1e400", {"1e400", "range"}},
        {"sql:a = NULL", {"= takes no NULL", "write a IS NULL"}},
        {"sql:a = b <> NULL", {"<> takes no NULL", "write a = b IS NOT NULL"}},
        {"sql:NULL = a %2B 1", {"write a + 1 IS NULL"}},
        {"sql:NULL = NULL", {"= takes no NULL", "IS NULL and IS NOT NULL"}},
        {"sql:a >= NULL", {">= takes no NULL", "IS NULL and IS NOT NULL"}},
        {"sql:a BETWEEN NULL AND 5", {"BETWEEN takes no NULL", "IS NULL"}},
        {"sql:a - NULL = 1", {"- takes no NULL", "IS NULL"}},
        {"sql:NULL LIKE 'x'", {"LIKE takes no NULL", "IS NULL"}},
        {"sql:a IN (1, NULL)",
         {"unexpected NULL", "a string in single quotes or a number", "IS NULL"}},
        {"sql:a CONTAINS NULL", {"unexpected NULL", "IS NULL"}},
        {"sql:a NOT NULL", {"unexpected NULL", "IS NOT NULL"}},
        {"sql:a = 'it's'", {"unexpected s", "a ' in a string is written ''"}},
        {"sql:a IN ('O'Brien')", {"unexpected Brien", "''"}},
        {"sql:a == 5", {"unexpected ==", "write ="}},
        {"sql:a => 5", {"unexpected =>", "write >="}},
        {"sql:a =< 5", {"unexpected =<", "write <="}},
        {"sql:a + 1 = TRUE", {"a + 1", "TRUE", "number", "condition"}},
        {"sql:(a = 1) < b", {"(a = 1)", "condition", "<"}},
        {"sql:a BETWEEN 5 AND 1", {"5", "1", "lower"}},
        {"sql:a NOT b", {"unexpected b", "LIKE", "NOT"}},
        {"sql:a IS TRUE", {"unexpected TRUE", "NULL"}},
        {"sql:a ! b", {"!", "NOT", "<>"}},
        {"sql:a IN ('x' 'y')", {"'y'", ")"}},
        {"sql:5 LIKE 'x'", {"5", "number", "LIKE"}},
        {"sql:a LIKE 'x' ESCAPE '!!'", {"ESCAPE", "one character"}},
        {"sql:(a", {"parenthesis", "not closed"}},
        {"sql:a = 'x", {"string", "'"}},
        {"sql:a /* b", {"comment", "*/"}},
        {"sql:a -- b", {"comment", "- -"}},
        {"a b", {"\"a b\"", "operator"}},
        {"a!=1", {"negation", "%21"}},
        {"a==1", {"second operator; write =, or %3D if"}},
        {"a=>1", {"second operator; write >=, or %3E if"}},
        {"a=<1", {"second operator; write <=, or %3C if"}},
        {"a>==1", {"second operator; write %3D if"}},
        {"a=b=1", {"second operator; write %3D if"}},
        {"a<>1", {"second operator; write %3E if"}},
        {"a=", {"value", "missing"}},
        {"=1", {"key", "missing"}},
        {"v>abc", {"\"abc\"", "number", ">"}},
        {"a=%00", {"%00", "NUL"}},
        {"a=%FF", {"%FF", "UTF-8"}},
        {"tag:a||", {"tag", "missing"}},
        /* sql without its prefix */
        {"a > 5 AND b = 'x'", {"second operator", "sql:"}},
        {"region IS NULL", {"no operator", "sql:"}},
        {"a > 5 and b like 'x'", {"not a number", "sql:"}},
        {"a=1&NOT\tb", {"no operator", "sql:"}},
        /* what cannot be seen is named */
        {"v>5\u200b", {"\"5<U+200B>\"", "number"}},
        {"v>%C2%A05", {"\"<U+00A0>5\"", "number"}},
        {"v>%0A5\xc2\xad", {"\"<U+000A>5<U+00AD>\"", "number"}},
        {"v>\ue000", {"\"<U+E000>\""}},
        {"a\u2028b", {"\"a<U+2028>b\"", "operator"}},
        {"\ufefftag:a||b", {"\"<U+FEFF>tag:a||b\"", "operator"}},
        {"\ufeffsql:a IS NULL", {"<U+FEFF>sql:a", "operator"}},
        {"tag:a||\u200b%FF", {"%FF", "UTF-8"}},
        {"sql:\ufeff"
         "a = 1",
         {"<U+FEFF> cannot be seen", "blank", "quotes"}},
        {"sql:a\u00a0= 1", {"<U+00A0> cannot be seen", "blank", "quotes"}},
        {"sql:a = 5\u3000", {"5<U+3000> is not a number"}},
        {"sql:a \x01", {"unexpected character <U+0001>"}},
        {"sql:a > 'x\u200d'", {"'x<U+200D>'", "string"}},
        {"sql:$topic\u2060 = 'a'", {"$topic<U+2060>", "attribute"}},
        {"sql:a\u2013b = 1", {"\"\u2013\" is neither"}},
        {"sql:\U000e0041 > 'x'", {"'x' is a string"}},
        {"sql:'\U000e0041' > a", {"'<U+E0041>'"}},
    };
    static const struct ref_message no_message = {.n_properties = 0};
    for (size_t i = 0; i < N_ROWS(words); i++) {
        struct engine_result result;
        const char *wrong =
            engine_run(NULL, words[i].text, strlen(words[i].text), &no_message, &result);
        CHECK(wrong == NULL && result.status != SF_OK, "%s: %s", words[i].text,
              wrong == NULL ? "accepted" : wrong);
        for (size_t k = 0; k < N_ROWS(words[i].words) && words[i].words[k] != NULL; k++) {
            CHECK(strstr(result.error.text, words[i].words[k]) != NULL, "%s: %s is not in: %s",
                  words[i].text, words[i].words[k], result.error.text);
        }
    }
}

/* ---- hostile text ---------------------------------------------------------------------------- */

static void check_clean(const char *text, size_t bytes) {
    static const struct ref_message no_message = {.n_properties = 0};
    struct sf_options options = SF_OPTIONS_INIT;
    options.max_expression_bytes = SIZE_MAX;
    struct engine_result result;
    const char *wrong = engine_run(&options, text, bytes, &no_message, &result);
    CHECK(wrong == NULL, "%.*s: %s", bytes < 60 ? (int)bytes : 60, text, wrong);
}

/* Each byte where each kind of thing is expected. */
static void test_errors_about_any_byte_are_clean(void) {
    static const char *const frames[][2] = {
        {"", ""},
        {"a", "=1"},
        {"v>", ""},
        {"a=1&", "=x=y"},
        {"tag:", ""},
        {"tag:a||", "||"},
        {"sql:", ""},
        {"sql:a ", " b"},
        {"sql:a = ", ""},
        {"sql:a > '", "'"},
        {"sql:\"", "\" > 'x'"},
        {"sql:$", " = 1"},
        {"sql:5", " = 1"},
        {"sql:a = '", ""},
        {"sql:a", " = b = c"},
        {"sql:a LIKE 'x' ESCAPE '", "y'"},
        {"sql:(", ""},
        {"sql:a /*", ""},
        {"sql:a IN ('", "' b)"},
    };
    for (size_t i = 0; i < N_ROWS(frames); i++) {
        for (int c = 1; c < 256; c++) { /* a NUL follows below */
            char text[64];
            int bytes = snprintf(text, sizeof text, "%s%c%s", frames[i][0], c, frames[i][1]);
            check_clean(text, (size_t)bytes);
        }
        char text[64];
        int bytes = snprintf(text, sizeof text, "%s%%00%s", frames[i][0], frames[i][1]);
        check_clean(text, (size_t)bytes);
    }
}

static void test_errors_about_nul(void) {
    static const struct {
        const char *text;
        size_t bytes;
        size_t offset;
    } rows[] = {
        {"a=\0", 3, 2},
        {"v>5\0", 4, 3},
        {"a=x%41\0y", 8, 6},
        {"\0=1", 3, 0},
        {"tag:\0", 5, 4},
        {"tag:a||\0", 8, 7},
        {"sql:\0", 5, 4},
        {"sql:a = '\0'", 11, 9},
        {"sql:\"a\0\" = 1", 11, 6},
        {"sql:a /*\0*/ = 1", 15, 8},
        {"sql:a = 1\0", 10, 9},
    };
    static const struct ref_message no_message = {.n_properties = 0};
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        struct engine_result result;
        const char *wrong = engine_run(NULL, rows[i].text, rows[i].bytes, &no_message, &result);
        CHECK(wrong == NULL, "row %zu: %s", i, wrong);
        CHECK(result.status == SF_E_ESCAPE && result.error.offset == rows[i].offset &&
                  result.error.length == 1,
              "row %zu: %s at %zu+%zu: %s", i, sf_status_name(result.status), result.error.offset,
              result.error.length, result.error.text);
    }
}

/* The text is cut, and neither a character nor what stands for one is cut in two. */
static void test_errors_about_long_text_are_cut(void) {
    static const char *const fills[] = {
        "'",
        "\"",
        "x",
        "5",
        " ",
        "(",
        "=",
        "&",
        "|",
        "%",
        "\x01",
        "\x7F",
        "\xFF",
        "\xC2\x80",
        "\xE5\x8C\x97",
        "\xF0\x9F\x99\x82",
        "\xC2\xA0",
        "\n",
        "%00",
        "%FF",
        "%0A",
        "\\",
        "''",
        "x\xE5\x8C\x97",
        "xy\xE5\x8C\x97",
        "\x01\xE5\x8C\x97",
        "$",
        "--",
    };
    static const char *const frames[][2] = {
        {"", ""},
        {"a=1&", ""},
        {"v>", ""},
        {"tag:||", ""},
        {"sql:", ""},
        {"sql:a > '", "'"},
        {"sql:'", "'"},
        {"sql:a = '", ""},
        {"sql:\"", "\" > 'x'"},
        {"sql:$x", " = 1"},
        {"sql:5x", ""},
        {"sql:a = b = \"", "\""},
        {"sql:a ", ""},
        {"sql:a LIKE 'x' ESCAPE '", "'"},
        {"sql:x-", " = 1"},
        {"sql:5 IN ('", "')"},
        {"sql:'x' < '", "'"},
    };
    static char text[20000];
    for (size_t i = 0; i < N_ROWS(frames); i++) {
        for (size_t k = 0; k < N_ROWS(fills); k++) {
            for (size_t times = 1; times <= 4096; times = times < 120 ? times + 7 : times * 4) {
                size_t bytes = (size_t)sprintf(text, "%s", frames[i][0]);
                for (size_t n = 0; n < times; n++) {
                    bytes += (size_t)sprintf(text + bytes, "%s", fills[k]);
                }
                bytes += (size_t)sprintf(text + bytes, "%s", frames[i][1]);
                check_clean(text, bytes);
            }
        }
    }
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        TEST(test_errors_have_their_code_and_spot), TEST(test_error_of_a_dialect_that_is_off),
        TEST(test_error_of_the_languages_example),  TEST(test_errors_say_what_is_wrong),
        TEST(test_errors_about_any_byte_are_clean), TEST(test_errors_about_nul),
        TEST(test_errors_about_long_text_are_cut),
    };
    return run_tests(argc, argv, cases, N_ROWS(cases));
}
