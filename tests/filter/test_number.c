/* SPDX-License-Identifier: BSD-3-Clause
 *
 * filter/number.h and decimal.h by themselves: which double a text is, to the last bit, the order of ranks, arithmetic
 * at the edges, and writing. */
#include "number.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>

#include "decimal_comma.h"
#include "runner.h"

static struct sf_number parse(const char *text) {
    return sf_number_parse((struct sf_text){text, strlen(text)});
}

static uint64_t bits_of(double real) {
    uint64_t bits;
    memcpy(&bits, &real, sizeof bits);
    return bits;
}

static double real_of(uint64_t bits) {
    double real;
    memcpy(&real, &bits, sizeof real);
    return real;
}

/* ---- text to double -------------------------------------------------------------------------------------------- */

static void test_number_rounds_to_nearest_even(void) {
    static const struct {
        const char *text;
        double expected;
    } rows[] = {
        {"0.1", 0x1.999999999999ap-4},
        {"1e23", 0x1.52d02c7e14af6p+76}, /* one less than 1e22 * 10 */
        {"9007199254740993.0", 0x1p+53}, /* halfway, to even */
        {"9007199254740993.000000000000000000000000000001", 0x1.0000000000001p+53},
        {"9007199254740995.0", 0x1.0000000000002p+53}, /* halfway, to even */
        {"9007199254740994.999999999999999999999999999999", 0x1.0000000000001p+53},
        {"18446744073709551616", 0x1p+64},
        {"18446744073709550592", 0x1p+64}, /* halfway, to even: up into another power of two */
        {"18446744073709550591", 0x1.fffffffffffffp+63},
        {"1.7976931348623157e308", DBL_MAX},
        {"1.7976931348623158e308", DBL_MAX},
        {"2.2250738585072014e-308", DBL_MIN},
        {"2.2250738585072011e-308", 0x0.fffffffffffffp-1022},
        {"4.9e-324", 0x1p-1074},
        {"2.4703282292062328e-324", 0x1p-1074}, /* more than half of the least */
        {"2.4703282292062327e-324", 0.0},
        {"1e-400", 0.0},
        {"0e999999999999999999999", 0.0},
        {"1e-999999999999999999999", 0.0},
        {"123456789012345678e-17", 0x1.3c0ca428c59fbp+0},
        {"1234567890123456780000000000000000000000e-39", 0x1.3c0ca428c59fbp+0},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        struct sf_number number = parse(rows[i].text);
        CHECK(number.kind == SF_NUMBER_REAL && bits_of(number.real) == bits_of(rows[i].expected),
              "%s: %a instead of %a", rows[i].text, number.real, rows[i].expected);
    }
    CHECK(parse("1.7976931348623159e308").kind == SF_NUMBER_NONE, "beyond the largest double");
    CHECK(parse("1e99999999999999999999").kind == SF_NUMBER_NONE, "far beyond");
}

/* Exactly halfway between two doubles, written with all its digits: to even; with a 1 far behind: up. */
static void test_number_breaks_ties_by_digits_far_behind(void) {
    uint64_t state = test_seed();
    static char text[4096];
    for (int round = 0; round < 2000; round++) {
        /* small exponents have many digits; the text is of twice the number, halved by the digits of 5 */
        uint64_t bits = test_random(&state) % (UINT64_C(600) << 52);
        double below = real_of(bits);
        double above = real_of(bits + 1);
        long double middle = ((long double)below + (long double)above) / 2;
        if (middle <= (long double)below || middle >= (long double)above) {
            continue; /* long double is no wider here */
        }
        int n = snprintf(text, 3000, "%.1100Le", middle);
        double even = bits % 2 == 0 ? below : above;
        CHECK(bits_of(parse(text).real) == bits_of(even), "%a and the next: tie", below);
        /* mantissa digits end before the e: put zeros and a 1 there */
        char *e = strchr(text, 'e');
        REQUIRE(e != NULL && n > 0, "%s", text);
        char exponent[16];
        snprintf(exponent, sizeof exponent, "%s", e);
        size_t zeros = test_random(&state) % 800;
        memset(e, '0', zeros);
        snprintf(e + zeros, sizeof text - (size_t)(e - text) - zeros, "1%s", exponent);
        CHECK(bits_of(parse(text).real) == bits_of(above), "%a and the next: above the tie", below);
    }
}

/* The C library rounds correctly too, where it can be told to use a point. */
static void test_number_agrees_with_strtod(void) {
    uint64_t state = test_seed();
    long rounds = test_long() ? 5000000 : 200000;
    for (long round = 0; round < rounds; round++) {
        char text[64];
        unsigned long long digits = test_random(&state) >> test_random(&state) % 64;
        unsigned long long more = test_random(&state) % 1000000000000;
        switch (test_random(&state) % 4) {
        case 0:
            snprintf(text, sizeof text, "%llu.%llu", digits, more);
            break;
        case 1:
            snprintf(text, sizeof text, "%llue%d", digits, (int)(test_random(&state) % 700) - 350);
            break;
        case 2:
            snprintf(text, sizeof text, "%llu%012llu%012llue-%d", digits, more, more,
                     (int)(test_random(&state) % 380));
            break;
        default:
            snprintf(text, sizeof text, "%.17g",
                     real_of(test_random(&state) % (UINT64_C(2046) << 52)));
            break;
        }
        double expected = strtod(text, NULL);
        struct sf_number number = parse(text);
        double actual = number.kind == SF_NUMBER_INTEGER ? (double)number.integer
                        : number.kind == SF_NUMBER_REAL  ? number.real
                                                         : (double)INFINITY;
        CHECK(bits_of(actual) == bits_of(expected), "%s: %a instead of %a", text, actual, expected);
    }
}

static void test_number_scan_stops_where_the_number_does(void) {
    static const struct {
        const char *text;
        size_t bytes;
        bool is_integer;
    } rows[] = {
        {"5", 1, true},     {"50L", 2, true},    {"5.", 2, false},   {"5.5.5", 3, false},
        {".5", 2, false},   {".", 0, true},      {"5e3x", 3, false}, {"5e", 1, true},
        {"5e+", 1, true},   {"5.e-3", 5, false}, {"", 0, true},      {"x5", 0, true},
        {"1_000", 1, true}, {"0x10", 1, true},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        bool is_integer = false;
        size_t bytes =
            sf_number_scan((struct sf_text){rows[i].text, strlen(rows[i].text)}, &is_integer);
        CHECK(bytes == rows[i].bytes, "%s: %zu", rows[i].text, bytes);
        CHECK(bytes == 0 || is_integer == rows[i].is_integer, "%s", rows[i].text);
    }
}

/* ---- order ----------------------------------------------------------------------------------------------------- */

/* Each row is greater than the one before; texts in one row are equal. */
static void test_number_order_is_mathematical(void) {
    static const char *const rows[][2] = {
        {"-1.7976931348623157e308", NULL},
        {"-9223372036854777856.0", NULL},
        {"-9223372036854775808", "-9223372036854775808.0"},
        {"-9223372036854775807", NULL},
        {"-9007199254740993", NULL},
        {"-9007199254740992", "-9007199254740992.0"},
        {"-1.5", NULL},
        {"-1", "-1.0"},
        {"-0.5", NULL},
        {"-4.9e-324", NULL},
        {"0", "-0.0"},
        {"4.9e-324", NULL},
        {"0.5", NULL},
        {"0.99999999999999988", NULL},
        {"1", "1.0"},
        {"1.0000000000000002", NULL},
        {"9007199254740992", "9007199254740992.0"},
        {"9007199254740993", NULL},
        {"9007199254740994", "9007199254740994.0"},
        {"9223372036854774784.0", NULL},
        {"9223372036854775807", NULL},
        {"9223372036854775808.0", NULL},
        {"1.7976931348623157e308", NULL},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        for (size_t j = 0; j < N_ROWS(rows); j++) {
            for (size_t k = 0; k < 4; k++) {
                const char *left = rows[i][k % 2];
                const char *right = rows[j][k / 2];
                if (left != NULL && right != NULL) {
                    enum sf_relation expected = i < j ? SF_LESS : i == j ? SF_EQUAL : SF_GREATER;
                    CHECK(sf_number_compare(parse(left), parse(right)) == expected, "%s and %s",
                          left, right);
                }
            }
        }
    }
}

static void test_number_next_rank_makes_less_less_or_equal(void) {
    static const char *const texts[] = {"0",
                                        "5",
                                        "-5",
                                        "5.5",
                                        "-0.5",
                                        "1e300",
                                        "-1e300",
                                        "9223372036854775807",
                                        "-9223372036854775808"};
    for (size_t i = 0; i < N_ROWS(texts); i++) {
        struct sf_rank rank = sf_number_rank(parse(texts[i]));
        struct sf_rank next = sf_rank_next(rank);
        CHECK(sf_rank_is_less(rank, next) && !sf_rank_is_less(next, rank), "%s", texts[i]);
        for (size_t j = 0; j < N_ROWS(texts); j++) {
            struct sf_rank other = sf_number_rank(parse(texts[j]));
            bool at_most = sf_rank_is_less(other, rank) || sf_rank_is_equal(other, rank);
            CHECK((sf_rank_is_less(other, next) != 0) == at_most, "%s and %s", texts[j], texts[i]);
        }
    }
}

static void test_number_rank_gives_the_number_back(void) {
    uint64_t state = test_seed();
    for (int round = 0; round < 100000; round++) {
        struct sf_number real = sf_number_real(real_of(test_random(&state)));
        struct sf_number integer = sf_number_integer((int64_t)test_random(&state));
        if (real.kind == SF_NUMBER_REAL) {
            struct sf_number back = sf_number_of_rank(SF_NUMBER_REAL, sf_number_rank(real));
            CHECK(bits_of(back.real) == bits_of(real.real), "%a became %a", real.real, back.real);
        }
        CHECK(sf_number_of_rank(SF_NUMBER_INTEGER, sf_number_rank(integer)).integer ==
                  integer.integer,
              "%lld", (long long)integer.integer);
    }
}

/* ---- arithmetic ------------------------------------------------------------------------------------------------ */

typedef struct sf_number operation(struct sf_number left, struct sf_number right);

static void test_number_arithmetic_at_the_edges(void) {
    static const struct {
        const char *left;
        operation *operation;
        const char *right;
        const char *expected; /* NULL: unknown */
    } rows[] = {
        {"9223372036854775806", sf_number_add, "1", "9223372036854775807"},
        {"9223372036854775807", sf_number_add, "1", "9223372036854775808.0"},
        {"-9223372036854775808", sf_number_subtract, "1", "-9223372036854775808.0"},
        {"3037000500", sf_number_multiply, "3037000500", "9223372037000250000.0"},
        {"-9223372036854775808", sf_number_multiply, "-1", "9223372036854775808.0"},
        {"-9223372036854775808", sf_number_divide, "-1", "9223372036854775808.0"},
        {"7", sf_number_divide, "2", "3.5"},
        {"6", sf_number_divide, "2", "3.0"},
        {"6", sf_number_divide, "0", NULL},
        {"6", sf_number_divide, "-0.0", NULL},
        {"0", sf_number_divide, "0", NULL},
        {"1e308", sf_number_add, "1e308", NULL},
        {"1e308", sf_number_multiply, "-10", NULL},
        {"1e-308", sf_number_divide, "1e308", "0.0"},
        {"1", sf_number_add, "0.5", "1.5"},
        {"x", sf_number_add, "1", NULL},
        {"1", sf_number_divide, "x", NULL},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        struct sf_number actual = rows[i].operation(parse(rows[i].left), parse(rows[i].right));
        struct sf_number expected =
            rows[i].expected == NULL ? sf_number_none() : parse(rows[i].expected);
        CHECK(actual.kind == expected.kind, "row %zu: %s, %s: kind %d", i, rows[i].left,
              rows[i].right, (int)actual.kind);
        CHECK(expected.kind == SF_NUMBER_NONE || sf_number_compare(actual, expected) == SF_EQUAL,
              "row %zu: %s, %s", i, rows[i].left, rows[i].right);
    }
    struct sf_number negated = sf_number_negate(sf_number_integer(INT64_MIN));
    CHECK(negated.kind == SF_NUMBER_REAL && negated.real == 9223372036854775808.0, "-INT64_MIN");
}

/* ---- writing --------------------------------------------------------------------------------------------------- */

static void test_number_writes_what_reads_the_same(void) {
    uint64_t state = test_seed();
    char text[SF_NUMBER_TEXT_BYTES];
    for (int round = 0; round < 100000; round++) {
        struct sf_number number = round % 2 == 0 ? sf_number_real(real_of(test_random(&state)))
                                                 : sf_number_integer((int64_t)test_random(&state));
        if (number.kind != SF_NUMBER_NONE) {
            size_t bytes = sf_number_write(number, text);
            struct sf_number back = parse(text);
            CHECK(bytes == strlen(text) && back.kind == number.kind, "%s", text);
            CHECK(sf_number_compare(back, number) == SF_EQUAL, "%s", text);
        }
    }
    sf_number_write(sf_number_real(5.0), text);
    CHECK(strcmp(text, "5.0") == 0, "%s", text);
    sf_number_write(sf_number_real(0.1), text);
    CHECK(strcmp(text, "0.1") == 0, "%s", text);
}

static void test_number_does_not_depend_on_the_locale(void) {
    if (use_decimal_comma()) {
        test_number_writes_what_reads_the_same();
    }
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        TEST(test_number_rounds_to_nearest_even),
        TEST(test_number_breaks_ties_by_digits_far_behind),
        TEST(test_number_agrees_with_strtod),
        TEST(test_number_scan_stops_where_the_number_does),
        TEST(test_number_order_is_mathematical),
        TEST(test_number_next_rank_makes_less_less_or_equal),
        TEST(test_number_rank_gives_the_number_back),
        TEST(test_number_arithmetic_at_the_edges),
        TEST(test_number_writes_what_reads_the_same),
        TEST(test_number_does_not_depend_on_the_locale),
    };
    return run_tests(argc, argv, cases, N_ROWS(cases));
}
