/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The two truth tables of LANGUAGE, operands, row by row: each expression alone, under NOT, and beside a true, a
 * false and an unknown partner in AND and OR, on either side. Partners are constants and properties, since an
 * engine may decide about constants when it compiles.
 */
#include <string.h>

#include "rows.h"
#include "runner.h"

struct truth_row {
    const char *expr;
    enum sf_truth value;
};

struct partner {
    const char *expr;
    enum sf_truth value;
};

/* The message has t = true and f = false, and no u. */
static const struct partner partners[] = {
    {"TRUE", SF_TRUE},       {"FALSE", SF_FALSE},      {"NULL", SF_UNKNOWN},
    {"t", SF_TRUE},          {"f", SF_FALSE},          {"u", SF_UNKNOWN},
    {"t = 'true'", SF_TRUE}, {"f LIKE 'x'", SF_FALSE}, {"u > 5", SF_UNKNOWN},
    {"u IS NULL", SF_TRUE},  {"NOT t", SF_FALSE},      {"t + 1 = 2", SF_UNKNOWN},
};

static enum sf_truth not(enum sf_truth value) {
    static const enum sf_truth table[] =
        {[SF_FALSE] = SF_TRUE, [SF_TRUE] = SF_FALSE, [SF_UNKNOWN] = SF_UNKNOWN};
    return table[value];
}

static enum sf_truth and (enum sf_truth a, enum sf_truth b) {
    static const enum sf_truth table[3][3] =
        {
            [SF_FALSE] = {[SF_FALSE] = SF_FALSE, [SF_TRUE] = SF_FALSE, [SF_UNKNOWN] = SF_FALSE},
            [SF_TRUE] = {[SF_FALSE] = SF_FALSE, [SF_TRUE] = SF_TRUE, [SF_UNKNOWN] = SF_UNKNOWN},
            [SF_UNKNOWN] =
                {[SF_FALSE] = SF_FALSE, [SF_TRUE] = SF_UNKNOWN, [SF_UNKNOWN] = SF_UNKNOWN},
        };
    return table[a][b];
}

static enum sf_truth or (enum sf_truth a, enum sf_truth b) {
    static const enum sf_truth table[3][3] =
        {
            [SF_FALSE] = {[SF_FALSE] = SF_FALSE, [SF_TRUE] = SF_TRUE, [SF_UNKNOWN] = SF_UNKNOWN},
            [SF_TRUE] = {[SF_FALSE] = SF_TRUE, [SF_TRUE] = SF_TRUE, [SF_UNKNOWN] = SF_TRUE},
            [SF_UNKNOWN] =
                {[SF_FALSE] = SF_UNKNOWN, [SF_TRUE] = SF_TRUE, [SF_UNKNOWN] = SF_UNKNOWN},
        };
    return table[a][b];
}

/* `pattern` with its first @ replaced by `first` and its second by `second`. */
static void check(const struct ref_message *message, enum sf_truth value, const char *pattern,
                  const char *first, const char *second) {
    char expr[256];
    size_t bytes = 0;
    for (const char *c = pattern; *c != '\0'; c++) {
        const char *piece = *c == '@' ? first : c;
        size_t piece_bytes = *c == '@' ? strlen(first) : 1;
        REQUIRE(bytes + piece_bytes < sizeof expr, "%s", pattern);
        memcpy(expr + bytes, piece, piece_bytes);
        bytes += piece_bytes;
        first = *c == '@' ? second : first;
    }
    rows_check_one(NULL, (struct ref_text){expr, bytes}, message, (enum row_answer)value);
}

static void check_beside_partners(const struct ref_message *message, const char *expr,
                                  enum sf_truth value) {
    for (size_t i = 0; i < N_ROWS(partners); i++) {
        const struct partner *partner = &partners[i];
        check(message, and(value, partner->value), "sql:(@) AND @", expr, partner->expr);
        check(message, and(value, partner->value), "sql:@ AND (@)", partner->expr, expr);
        check(message, or (value, partner->value), "sql:(@) OR @", expr, partner->expr);
        check(message, or (value, partner->value), "sql:@ OR (@)", partner->expr, expr);
        check(message, and(not(value), partner->value), "sql:NOT (@) AND @", expr, partner->expr);
        check(message, or (partner->value, not(value)), "sql:@ OR NOT (@)", partner->expr, expr);
        check(message, not(and(value, partner->value)), "sql:NOT ((@) AND @)", expr, partner->expr);
        check(message, not(or (partner->value, value)), "sql:NOT (@ OR (@))", partner->expr, expr);
    }
}

static void check_table(const struct truth_row *rows, size_t n_rows, const char *const *pairs) {
    struct engine_properties storage;
    struct ref_message message = engine_message(pairs, &storage);
    for (size_t i = 0; i < n_rows; i++) {
        const char *expr = rows[i].expr;
        enum sf_truth value = rows[i].value;
        check(&message, value, "sql:@", expr, NULL);
        check(&message, value, "sql:(@)", expr, NULL);
        check(&message, not(value), "sql:NOT (@)", expr, NULL);
        check(&message, value, "sql:NOT NOT (@)", expr, NULL);
        check(&message, value == SF_UNKNOWN ? SF_TRUE : SF_FALSE, "sql:(NOT (@)) IS NULL@", expr,
              "");
        check_beside_partners(&message, expr, value);
    }
}

/* clang-format off */
#define T SF_TRUE
#define F SF_FALSE
#define U SF_UNKNOWN

static const struct truth_row absent_rows[] = {
    {"a = 5", U}, {"a <> 5", U}, {"a = 'x'", U}, {"a <> 'x'", U}, {"a != 5", U}, {"5 = a", U}, {"'x' <> a", U},
    {"a > 5", U}, {"a < 5", U}, {"a >= 5", U}, {"a <= 5", U}, {"5 < a", U},
    {"a BETWEEN 1 AND 5", U}, {"a NOT BETWEEN 1 AND 5", U},
    {"a IN ('x')", U}, {"a NOT IN ('x')", U}, {"a IN (5)", U}, {"a NOT IN (5, 'x')", U},
    {"a LIKE 'x%'", U}, {"a NOT LIKE 'x%'", U}, {"a LIKE '%'", U}, {"a LIKE ''", U},
    {"a CONTAINS 'x'", U}, {"a NOT CONTAINS 'x'", U}, {"a CONTAINS ''", U},
    {"a STARTSWITH 'x'", U}, {"a NOT STARTSWITH ''", U}, {"a ENDSWITH ''", U}, {"a NOT ENDSWITH 'x'", U},
    {"5 BETWEEN 9 AND a", F}, {"5 NOT BETWEEN 9 AND a", T}, {"5 BETWEEN 1 AND a", U}, {"5 BETWEEN a AND 1", F},
    {"a IS NULL", T}, {"a IS NOT NULL", F},
    {"a", U}, {"a = TRUE", U}, {"a <> TRUE", U}, {"a = FALSE", U}, {"NOT a", U},
    {"a + 1 = 2", U}, {"-a = 2", U}, {"a * 0 = 0", U},
    {"a = b", U}, {"a <> b", U}, {"b = a", U}, {"a < b", U}, {"a = a", U}, {"a <> a", U},
    {"(a = 5) IS NULL", T}, {"(a = 5) IS NOT NULL", F}, {"a + 1 IS NULL", T}, {"a + 1 IS NOT NULL", F},
    {"(a = b) IS NULL", T}, {"(NOT a) IS NULL", T}, {"(a IS NULL) IS NULL", F},
    {"a <> 5 OR a IS NULL", T}, {"a <> 5 OR (a = 5) IS NULL", T},
};

static void test_truth_of_an_absent_property(void) {
    static const char *const b_absent[] = {"t", "true", "f", "false", NULL};
    static const char *const b_present[] = {"t", "true", "f", "false", "b", "7", NULL};
    check_table(absent_rows, N_ROWS(absent_rows), b_absent);
    check_table(absent_rows, N_ROWS(absent_rows), b_present);
}

static void test_truth_of_a_text_that_is_no_number(void) {
    static const struct truth_row rows[] = {
        {"a = 5", U}, {"a <> 5", U}, {"a > 5", U}, {"a IN (5)", U}, {"a NOT IN (5)", U}, {"5 = a", U}, {"5 >= a", U},
        {"a BETWEEN 1 AND 5", U}, {"a NOT BETWEEN 1 AND 5", U}, {"5 BETWEEN 9 AND a", F},
        {"a IN (5, 'abc')", T}, {"a IN ('abc', 5)", T}, {"a NOT IN (5, 'abc')", F},
        {"a NOT IN (5, 'x')", U}, {"a IN (5, 'x')", U}, {"a IN ('x', 'y')", F}, {"a NOT IN ('x', 'y')", T},
        {"a <> '5'", T}, {"a = '5'", F}, {"a NOT IN ('5')", T}, {"a IN ('5')", F},
        {"a", U}, {"a = TRUE", U}, {"a <> TRUE", U}, {"a = FALSE", U}, {"NOT a", U},
        {"a IS NULL", F}, {"a IS NOT NULL", T}, {"(a > 5) IS NOT NULL", F}, {"(a > 5) IS NULL", T},
        {"a + 1 IS NULL", T}, {"a + 1 = 2", U},
        {"a LIKE 'a%'", T}, {"a NOT LIKE 'a%'", F}, {"a CONTAINS 'b'", T}, {"a CONTAINS ''", T},
        {"a = 'abc'", T}, {"a <> 'abc'", F}, {"a = b", U}, {"a = t", F}, {"a <> t", T}, {"a < t", U},
        {"a <> 5 OR a IS NULL", U}, {"a <> 5 OR (a = 5) IS NULL", T},
    };
    static const char *const pairs[] = {"a", "abc", "t", "true", "f", "false", NULL};
    check_table(rows, N_ROWS(rows), pairs);
}

static void test_truth_of_a_number(void) {
    static const struct truth_row rows[] = {
        {"a = 5", T}, {"a <> 5", F}, {"a > 5", F}, {"a >= 5", T}, {"a = '5'", T}, {"a = '5.0'", F},
        {"a IN (5)", T}, {"a IN (6, 'x')", F}, {"a NOT IN (6, 'x')", T}, {"a BETWEEN 1 AND 5", T},
        {"a BETWEEN 6 AND b", F}, {"a BETWEEN 1 AND b", U}, {"a", U}, {"a = TRUE", U}, {"a = t", F}, {"a + t = 1", U},
        {"a IS NULL", F}, {"(a = 5) IS NULL", F}, {"(a = b) IS NULL", T}, {"a / 0 = 1", U}, {"a / 0 IS NULL", T},
    };
    static const char *const pairs[] = {"a", "5", "t", "true", "f", "false", NULL};
    check_table(rows, N_ROWS(rows), pairs);
}
/* clang-format on */

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        TEST(test_truth_of_an_absent_property),
        TEST(test_truth_of_a_text_that_is_no_number),
        TEST(test_truth_of_a_number),
    };
    return run_tests(argc, argv, cases, N_ROWS(cases));
}
