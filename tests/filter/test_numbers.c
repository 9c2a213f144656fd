/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Numbers (LANGUAGE, numbers): which texts are numbers, that they convert to the nearest double or the exact integer,
 * and that comparison and arithmetic are exact where they must be.
 *
 * The bits of a double are looked at through the language: m * 2^e is scaled by powers of two, which rounds nothing,
 * until it is the integer m, and that is compared with an integer literal. So no text but the one under test is
 * converted to a double. / */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decimal_comma.h"
#include "rows.h"
#include "runner.h"

#define T   ROW_TRUE
#define F   ROW_FALSE
#define U   ROW_UNKNOWN
#define BAD ROW_BAD

static struct ref_text text_of(const char *text) {
    return (struct ref_text){text, strlen(text)};
}

static void check_with_value(const char *expr, const char *value, enum row_answer expected) {
    struct ref_property property = {{"a", 1}, text_of(value)};
    struct ref_message message = {.properties = &property, .n_properties = 1};
    rows_check_one(NULL, text_of(expr), &message, expected);
}

/* Append " * 4611686018427387904" or " / ..." (2^62) and a last smaller power, until m * 2^e is m. */
static size_t write_scaling(char *to, size_t size, int exponent) {
    const char *op = exponent < 0 ? "*" : "/";
    size_t used = 0;
    for (int left = abs(exponent); left > 0;) {
        int step = left < 62 ? left : 62;
        used += (size_t)snprintf(to + used, size - used, " %s %" PRIu64, op, UINT64_C(1) << step);
        left -= step;
    }
    return used;
}

/* Check that `text` is the double `expected`, as a property and, if `literal`, as a literal. */
static void check_double(const char *text, double expected, bool literal) {
    int exponent = 0;
    double mantissa = ldexp(frexp(expected, &exponent), 53);
    exponent -= 53;
    char scaling[1024];
    scaling[0] = '\0';
    write_scaling(scaling, sizeof scaling, mantissa == 0.0 ? 0 : exponent);

    char expr[6144];
    snprintf(expr, sizeof expr, "sql:+a%s = %" PRId64, scaling, (int64_t)mantissa);
    check_with_value(expr, text, T);
    if (literal) {
        snprintf(expr, sizeof expr, "sql:%s%s = %" PRId64, text, scaling, (int64_t)mantissa);
        check_with_value(expr, text, T);
    }
}

/* ---- forms ----------------------------------------------------------------------------------- */

/* clang-format off */
static const char *const number_forms[] = {
    "0", "5", "007", "+5", "-5", "+0", "-0", "5.", "5.0", ".5", "+.5", "-.5", "0.", "-0.", ".0", "00.00",
    "1e3", "1E3", "1e+3", "1e-3", "1.e3", ".1e3", "1.5e3", "1e0", "1e00", "1e0003", "-1e-0", "0e0", "0e5",
    "9223372036854775807", "-9223372036854775808", "9223372036854775808", "-9223372036854775809",
    "99999999999999999999999999", "1.7976931348623157e308", "1e-400", "-1e-400", "0e999999999999999999999",
    "0.0e-999999999999999999999", "1e-999999999999999999999", "4.9e-324",
};

static const char *const no_number_forms[] = {
    "", "+", "-", ".", "+.", "-.", "e", "e5", "E", ".e5", "+e5", "5e", "5e+", "5e-", "5.e", "5ee5", "5e5.0", "5e5e5",
    "5e 5", "++5", "--5", "+-5", "- 5", "5-", "5+", "5..", "5.5.5", "..5", "5 5", "5. 5", "5 .5", "5,5", "5,000",
    "1_000", "1'000", "5f", "5d", "5L", "5l", "5u", "0x10", "0X1p3", "0b1", "0o7", "x", "5x", "x5", "$5", "5%", "'5'",
    "\"5\"",
    "inf", "Inf", "-inf", "infinity", "INFINITY", "nan", "NaN", "-nan", "nan(1)", "true", "null",
    "1e309", "-1e309", "1e400", "1e99999999999999999999", "1.7976931348623159e308", "-1.7976931348623159e308",
    "\xD9\xA5", "\xEF\xBC\x95", "5\xC2\xA0", "\xC2\xA0""5", "\xE2\x88\x92""5", "5\xE2\x80\x8B", "\xEF\xBB\xBF""5",
    "5\x01", "\b5",
};
/* clang-format on */

static void check_form(const char *text, bool is_number) {
    check_with_value("sql:+a IS NOT NULL", text, is_number ? T : F);
    check_with_value("sql:a < 1e308 OR a >= -1e308", text, is_number ? T : U);
    check_with_value("a<=1.7976931348623157e308", text, is_number ? T : ROW_NO);
    char expr[64];
    /* as the number of a kv clause; there '%' and what must be escaped have a meaning of their own */
    if (strpbrk(text, "%&=<>") == NULL) {
        snprintf(expr, sizeof expr, "a>=%s", text);
        check_with_value(expr, text, is_number ? T : BAD);
    }
    for (size_t i = 0; i < 6; i++) {
        snprintf(expr, sizeof expr, "%c%s%c", " \t\n\r\v\f"[i], text, " \t\n\r\v\f"[5 - i]);
        check_with_value("sql:+a IS NOT NULL", expr, is_number ? T : F);
    }
}

static void test_forms_that_are_numbers(void) {
    for (size_t i = 0; i < N_ROWS(number_forms); i++) {
        check_form(number_forms[i], true);
    }
}

static void test_forms_that_are_no_numbers(void) {
    for (size_t i = 0; i < N_ROWS(no_number_forms); i++) {
        check_form(no_number_forms[i], false);
    }
    check_with_value("sql:+a IS NULL", " ", T);
    check_with_value("sql:+a IS NULL", "\t\n\v\f\r ", T);
    /* a NUL byte is no white space and ends nothing */
    struct ref_property property = {{"a", 1}, {"5\0", 2}};
    struct ref_message message = {.properties = &property, .n_properties = 1};
    rows_check_one(NULL, text_of("sql:+a IS NULL"), &message, T);
}

static void test_forms_do_not_depend_on_the_locale(void) {
    if (!use_decimal_comma()) {
        return;
    }
    check_with_value("sql:a = 5.5", "5.5", T);
    check_with_value("sql:+a IS NULL", "5,5", T);
    check_with_value("v>5,5", "6", BAD);
    test_forms_that_are_numbers();
    test_forms_that_are_no_numbers();
    check_double("62.5364939768271845828", 0x1.f44abd5aa7ca4p+5, true);
}

/* ---- conversion ------------------------------------------------------------------------------ */

static void test_conversion_of_hard_cases(void) {
    static const struct {
        const char *text;
        double value;
    } rows[] = {
        {"0.0", 0.0},
        {"0.1", 0x1.999999999999ap-4},
        {"1e23", 0x1.52d02c7e14af6p+76},
        {"8.41e21", 0x1.c7e83209e90b2p+72},
        {"9.5367431640625e-07", 0x1p-20},
        {"9007199254740993.0", 0x1p+53}, /* half way: to the even one */
        {"9007199254740995.0", 0x1.0000000000002p+53},
        {"9007199254740993.00000000000000000000000000000000000000001", 0x1.0000000000001p+53},
        {"9007199254740992.99999999999999999999999999999999999999999", 0x1p+53},
        {"9223372036854775807.0", 0x1p+63},
        {"9223372036854774784.0", 0x1.fffffffffffffp+62},
        {"1.00000000000000011102230246251565404236316680908203125", 0x1p+0}, /* 1 + 2^-53 */
        {"1.00000000000000011102230246251565404236316680908203124", 0x1p+0},
        {"1.00000000000000011102230246251565404236316680908203126", 0x1.0000000000001p+0},
        {"0.500000000000000166533453693773481063544750213623046875", 0x1.0000000000002p-1},
        {"2.2250738585072014e-308", 0x1p-1022},
        {"2.2250738585072012e-308", 0x1p-1022},
        {"2.2250738585072011e-308", 0x0.fffffffffffffp-1022},
        {"4.9406564584124654e-324", 0x1p-1074},
        {"2.4703282292062328e-324", 0x1p-1074},
        {"2.4703282292062327e-324", 0.0},
        {"7."
         "41098468761869816264853189302332058547589703921487146638378523751013260905313127797949754"
         "54245398"
         "85696948470431685765963899850655339096945981621940161728171894510697854671067917687257517"
         "7347315553"
         "30779540854980960845750095811137303474765809687100959097544227100475730780971111893578483"
         "8675653998"
         "78350301522805593404659373979179073872386829939581848166016912201945649993128979841136206"
         "2484498678"
         "71357218035220901702390328579173252022052897402080290685402160661237554998340267130003581"
         "2486479041"
         "38574340187552090159017259254714629617513415977493871857473787096164563890871811984127167"
         "3056017045"
         "49300470526959016576377688490826798697257336652176556794107250876433756084600398490497214"
         "9117463085"
         "539556354188641513168478436313080237596295773983001708984375e-324",
         0x1p-1073}, /* 3 * 2^-1075 */
        {"1.7976931348623157e308", DBL_MAX},
        {"1.7976931348623158e308", DBL_MAX},
        {"1.797693134862315807e308", DBL_MAX},
        {"17976931348623157000000000000000000000000000000000000000000000000000000000000000000000000"
         "00000000000"
         "00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
         "00000000000"
         "00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
         "00000000000"
         "000000000.0",
         DBL_MAX},
        {"123456789012345678901234567890e-20", 0x1.26580b487e6b7p+30},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        check_double(rows[i].text, rows[i].value, true);
    }
}

/* `count` times `c`, then the rest. */
static void repeat(char *to, size_t size, const char *before, char c, size_t count,
                   const char *behind) {
    size_t used = strlen(before);
    REQUIRE(used + count + strlen(behind) < size, "%s", before);
    memcpy(to, before, used);
    memset(to + used, c, count);
    strcpy(to + used + count, behind);
}

static void test_conversion_of_long_texts(void) {
    static const struct {
        const char *before;
        char digit;
        size_t count;
        const char *behind;
        double value;
    } rows[] = {
        {"1.", '0', 700, "", 1.0},
        {"1.", '0', 700, "1", 1.0},
        {"0.", '9', 700, "", 1.0},
        {"1.0000000000000001110223024625156540423631668090820312", '4', 700, "", 0x1p+0},
        {"1.00000000000000011102230246251565404236316680908203125", '0', 700, "1",
         0x1.0000000000001p+0},
        {"9007199254740993.", '0', 700, "", 0x1p+53},
        {"9007199254740993.", '0', 700, "1", 0x1.0000000000001p+53},
        {"", '0', 700, "5.0", 5.0},
        {"0.", '0', 307, "1", 1e-308},
        {"0.", '0', 400, "1", 0.0},
        {"0.", '0', 400, "1e401", 1.0},
        {"1", '0', 300, ".0", 1e300},
        {"1", '0', 400, "e-400", 1.0},
        {"3", '3', 700, "e-700", 0x1.aaaaaaaaaaaabp+1},
        {"1e", '0', 700, "5", 1e5},
        {"1e-", '9', 700, "", 0.0},
        {"0e", '9', 700, "", 0.0},
        {"0.", '0', 700, "e99999", 0.0},
    };
    char text[1024];
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        repeat(text, sizeof text, rows[i].before, rows[i].digit, rows[i].count, rows[i].behind);
        check_double(text, rows[i].value, true);
    }
    repeat(text, sizeof text, "1", '0', 400, "");
    check_with_value("sql:+a IS NULL", text, T);
    repeat(text, sizeof text, "1e", '9', 700, "");
    check_with_value("sql:+a IS NULL", text, T);
    repeat(text, sizeof text, "-1e", '0', 700, "309");
    check_with_value("sql:+a IS NULL", text, T);

    /* as long as a property value can be */
    char *longest = malloc(65536);
    REQUIRE(longest != NULL, "%s", "memory");
    test_defer(free, longest);
    repeat(longest, 65536, "9007199254740993.", '0', 65500, "1");
    check_double(longest, 0x1.0000000000001p+53, false);
    repeat(longest, 65536, "", '0', 65500, "7");
    check_with_value("sql:a = 7", longest, T);
    repeat(longest, 65536, "", '9', 65535, "");
    check_with_value("sql:+a IS NULL", longest, T);
}

static double random_double(uint64_t *state) {
    for (;;) {
        uint64_t bits = test_random(state);
        if (test_random(state) % 4 == 0) {
            bits &= ~(UINT64_C(0x7FE) << 52); /* tiny and subnormal */
        }
        double value;
        memcpy(&value, &bits, sizeof value);
        if (isfinite(value)) {
            return value;
        }
    }
}

static void test_conversion_of_random_doubles(void) {
    uint64_t state = test_seed();
    for (int i = 0; i < 3000; i++) {
        double value = random_double(&state);
        char text[64];
        snprintf(text, sizeof text, "%.*e", 16 + (int)(test_random(&state) % 6), value);
        check_double(text, value, false);
    }
}

/* The middle between two neighbours, exactly, and a hair beside it. */
static void test_conversion_half_way(void) {
#if LDBL_MANT_DIG >= 64 && LDBL_MAX_EXP >= 16384
    uint64_t state = test_seed();
    for (int i = 0; i < 1000; i++) {
        double low = fabs(random_double(&state));
        double high = nextafter(low, HUGE_VAL);
        if (!isfinite(high)) {
            continue;
        }
        bool low_is_even = fmod(ldexp(low, low < 0x1p-1021 ? 1074 : 52 - ilogb(low)), 2.0) == 0.0;
        char text[2048];
        /* Exact, with a zero as the last digit: no double between has more digits than this. */
        int bytes =
            snprintf(text, sizeof text, "%.1100Lf", ((long double)low + (long double)high) / 2);
        check_double(text, low_is_even ? low : high, false);
        strcpy(text + bytes, "00001");
        check_double(text, high, false);
        char *last = text + bytes - 1;
        while (*last == '0' || *last == '.') {
            last--;
        }
        *last = (char)(*last - 1); /* a hair less, also when zeros follow it */
        if (strchr(text, '.') > last) {
            continue; /* that would be a whole unit, not a hair */
        }
        check_double(text, low, false);
    }
#else
    test_note("long double is too small to hold the middle of two doubles");
    CU_PASS("no such type");
#endif
}

/* ---- integers and comparison ----------------------------------------------------------------- */

/* clang-format off */
static void test_comparison_is_exact(void) {
    static const struct row rows[] = {
        {"sql:9007199254740993 > 9007199254740992.0", T, {NULL}},
        {"sql:9007199254740992.0 < 9007199254740993", T, {NULL}},
        {"sql:9007199254740993 = 9007199254740992.0", F, {NULL}},
        {"sql:9007199254740993 = 9007199254740993.0", F, {NULL}}, /* the right one is ...992 as a double */
        {"sql:-9007199254740993 < -9007199254740992.0", T, {NULL}},
        {"sql:9223372036854775807 = 9223372036854775807", T, {NULL}},
        {"sql:9223372036854775807 > 9223372036854775806", T, {NULL}},
        {"sql:9223372036854775807 < 9223372036854775808.0", T, {NULL}},
        {"sql:9223372036854775807 = 9223372036854775808.0", F, {NULL}},
        {"sql:9223372036854775807 > 9223372036854774784.0", T, {NULL}},
        {"sql:-9223372036854775808 = -9223372036854775808.0", T, {NULL}},
        {"sql:-9223372036854775808 > -9223372036854777856.0", T, {NULL}},
        {"sql:-9223372036854775808 < -9223372036854775807", T, {NULL}},
        {"sql:9223372036854775807 < 1e300", T, {NULL}},
        {"sql:-9223372036854775808 > -1e300", T, {NULL}},
        {"sql:0 < 4.9e-324", T, {NULL}},
        {"sql:0 > -4.9e-324", T, {NULL}},
        {"sql:5 < 5.000000000000001", T, {NULL}},
        {"sql:-5 > -5.000000000000001", T, {NULL}},
        {"sql:5 > 4.999999999999999", T, {NULL}},
        {"sql:-5 < -4.999999999999999", T, {NULL}},
        {"sql:0 = -0.0", T, {NULL}},
        {"sql:-0.0 < 0", F, {NULL}},
        {"sql:-0.0 = 0.0", T, {NULL}},
        {"sql:0.1 + 0.2 = 0.3", F, {NULL}},
        {"sql:a = 9007199254740993", F, {"a", "9007199254740992"}},
        {"sql:a = 9007199254740993", T, {"a", "9007199254740993"}},
        {"sql:a = 9007199254740993", F, {"a", "9007199254740993.0"}},
        {"sql:a > 9007199254740992.0", T, {"a", "9007199254740993"}},
        {"sql:a > 9223372036854775807", T, {"a", "9223372036854775808"}},
        {"sql:a > 9223372036854775807", F, {"a", "9223372036854775807"}},
        {"sql:a < -9223372036854775808", F, {"a", "-9223372036854775809"}}, /* a double, and equal */
        {"sql:a = -9223372036854775808", T, {"a", "-9223372036854775809"}},
        {"sql:a < -9223372036854775808", T, {"a", "-9223372036854777857"}},
        {"sql:a < b", T, {"a", "9223372036854775806", "b", "9223372036854775807"}},
        {"sql:a < b", T, {"a", "9223372036854775807", "b", "9223372036854775808"}},
        {"sql:a < b", T, {"a", "-1.5", "b", "-1"}},
        {"sql:a BETWEEN 9007199254740993 AND 9007199254740993", F, {"a", "9007199254740992.0"}},
        {"a>9007199254740992", T, {"a", "9007199254740993"}},
        {"a>=9007199254740993", ROW_NO, {"a", "9007199254740992.0"}},
        {"a<=9007199254740992.0", ROW_NO, {"a", "9007199254740993"}},
        {"a>9223372036854775807", T, {"a", "9223372036854775808"}},
        {"a>9223372036854775808", ROW_NO, {"a", "9223372036854775807"}},
        {"a>=9223372036854775808", ROW_NO, {"a", "9223372036854775807"}},
        {"a<=1e999", BAD, {NULL}},
        {"a>=0.0", T, {"a", "-0"}},
        {"a>0", ROW_NO, {"a", "1e-400"}}, /* too small for a double is 0 */
    };
    rows_check(NULL, rows, N_ROWS(rows));
}

static void test_integer_literals_have_64_bits(void) {
    static const struct row rows[] = {
        {"sql:a = 9223372036854775807", T, {"a", "9223372036854775807"}},
        {"sql:a = 9223372036854775807L", T, {"a", "9223372036854775807"}},
        {"sql:a = 0009223372036854775807", T, {"a", "9223372036854775807"}},
        {"sql:a = 9223372036854775808", BAD, {NULL}},
        {"sql:a = +9223372036854775808", BAD, {NULL}},
        {"sql:a = 9223372036854775808L", BAD, {NULL}},
        {"sql:a = 18446744073709551616", BAD, {NULL}},
        {"sql:a = 99999999999999999999999", BAD, {NULL}},
        {"sql:a = -9223372036854775807", T, {"a", "-9223372036854775807"}},
        {"sql:a = -9223372036854775808", T, {"a", "-9223372036854775808"}},
        {"sql:a = -9223372036854775808L", T, {"a", "-9223372036854775808"}},
        {"sql:a IN (-9223372036854775808)", T, {"a", "-9223372036854775808"}},
        {"sql:a BETWEEN -9223372036854775808 AND 0", T, {"a", "-9223372036854775808"}},
        {"sql:a = -0009223372036854775808", T, {"a", "-9223372036854775808"}},
        {"sql:a = - 9223372036854775808", BAD, {NULL}},
        {"sql:a IN (- 9223372036854775808)", BAD, {NULL}},
        {"sql:a = - 9223372036854775807", T, {"a", "-9223372036854775807"}},
        {"sql:a = -9223372036854775809", BAD, {NULL}},
        {"sql:a = -19223372036854775808", BAD, {NULL}},
        {"sql:a = -92233720368547758080", BAD, {NULL}},
        {"sql:a IN (-9223372036854775809)", BAD, {NULL}},
        {"sql:a IN (9223372036854775808)", BAD, {NULL}},
        {"sql:a = -(9223372036854775808)", BAD, {NULL}},
        {"sql:a - 9223372036854775808 = 0", BAD, {NULL}},
        {"sql:5 -9223372036854775808 = 0", BAD, {NULL}},
        {"sql:- -9223372036854775808 = a", T, {"a", "9223372036854775808"}},
        {"sql:9223372036854775808.0 = a", T, {"a", "9223372036854775808"}},
        {"sql:a = 1e308", F, {"a", "1"}},
        {"sql:a = 1e309", BAD, {NULL}},
        {"sql:a = -1e309", BAD, {NULL}},
        {"sql:a = 1.7976931348623159e308", BAD, {NULL}},
        {"sql:a IN (1e309)", BAD, {NULL}},
        {"sql:a = 1e-400", T, {"a", "0"}},
        {"sql:a = 0e999999999999999999999", T, {"a", "0"}},
        {"sql:a = 1e99999999999999999999", BAD, {NULL}},
    };
    rows_check(NULL, rows, N_ROWS(rows));
}

static void test_arithmetic_is_exact_within_64_bits(void) {
    static const struct row rows[] = {
        {"sql:9223372036854775806 + 1 = 9223372036854775807", T, {NULL}},
        {"sql:9007199254740992 + 1 = 9007199254740993", T, {NULL}},
        {"sql:a + 1 = 9007199254740993", T, {"a", "9007199254740992"}},
        {"sql:a + 1 = 9007199254740993", F, {"a", "9007199254740992.0"}}, /* one side is a double */
        {"sql:9223372036854775807 + 1 = 9223372036854775808.0", T, {NULL}},
        {"sql:9223372036854775807 + 1 > 9223372036854775807", T, {NULL}},
        {"sql:-9223372036854775807 - 1 = -9223372036854775808", T, {NULL}},
        {"sql:-9223372036854775808 - 1 = -9223372036854775808.0", T, {NULL}},
        {"sql:-9223372036854775808 + -1 < -9223372036854775808", F, {NULL}},
        {"sql:0 - -9223372036854775808 = 9223372036854775808.0", T, {NULL}},
        {"sql:-a = 9223372036854775808.0", T, {"a", "-9223372036854775808"}},
        {"sql:-a = 9223372036854775807", T, {"a", "-9223372036854775807"}},
        {"sql:-a - 1 = -9223372036854775808", T, {"a", "9223372036854775807"}},
        {"sql:3037000499 * 3037000499 = 9223372030926249001", T, {NULL}},
        {"sql:3037000500 * 3037000500 = 9223372037000249344.0", T, {NULL}}, /* 9223372037000250000 as a double */
        {"sql:a * b = -9223372036854775808", T, {"a", "4611686018427387904", "b", "-2"}},
        {"sql:a * b = 9223372036854775808.0", T, {"a", "4611686018427387904", "b", "2"}},
        {"sql:a * -1 = 9223372036854775808.0", T, {"a", "-9223372036854775808"}},
        {"sql:-1 * a = 9223372036854775808.0", T, {"a", "-9223372036854775808"}},
        {"sql:a * 0 = 0", T, {"a", "-9223372036854775808"}},
        {"sql:a * 1 = -9223372036854775808", T, {"a", "-9223372036854775808"}},
        {"sql:9007199254740993 * 1 = 9007199254740993", T, {NULL}},
        {"sql:9007199254740993 * 1.0 = 9007199254740993", F, {NULL}},
        {"sql:9007199254740993 / 1 = 9007199254740993", F, {NULL}}, /* always doubles */
        {"sql:9007199254740993 / 1 = 9007199254740992", T, {NULL}},
        {"sql:1 / 3 * 3 = 1", T, {NULL}},
        {"sql:a + 1 + 1 = 9223372036854775807", T, {"a", "9223372036854775805"}},
        {"sql:a / 2 = -4611686018427387904", T, {"a", "-9223372036854775808"}},
        {"sql:a / -1 = 9223372036854775808.0", T, {"a", "-9223372036854775808"}},
        {"sql:1e308 + 1e308 > 0", U, {NULL}}, /* not finite */
        {"sql:-1e308 - 1e308 < 0", U, {NULL}},
        {"sql:1e308 * 10 IS NULL", T, {NULL}},
        {"sql:1e308 / 1e-10 IS NULL", T, {NULL}},
        {"sql:1e308 * 10 - 1e308 * 10 = 0", U, {NULL}},
        {"sql:1 / (1e308 * 10) = 0", U, {NULL}}, /* unknown from the first step on */
        {"sql:a * a > 0", U, {"a", "1e200"}},
        {"sql:a * a = 0", T, {"a", "1e-200"}},
        {"sql:1e-308 / 1e10 > 0", T, {NULL}}, /* subnormal */
        {"sql:4.9e-324 / 2 = 0", T, {NULL}},
        {"sql:1 / a IS NULL", T, {"a", "-0.0"}},
        {"sql:1 / a IS NULL", T, {"a", "1e-400"}},
        {"sql:0 / a = 0", T, {"a", "5"}},
        {"sql:-a = 0 AND a = 0", T, {"a", "0.0"}},
    };
    rows_check(NULL, rows, N_ROWS(rows));
}
/* clang-format on */

static void test_random_comparisons_of_integers_with_doubles(void) {
    uint64_t state = test_seed();
    for (int i = 0; i < 3000; i++) {
        int shift = (int)(test_random(&state) % 64);
        uint64_t bits = test_random(&state) >> shift;
        int64_t integer = (int64_t)(test_random(&state) % 2 == 0 ? bits : UINT64_C(0) - bits);
        double near = (double)integer;
        near = nextafter(near, test_random(&state) % 2 == 0 ? HUGE_VAL : -HUGE_VAL);
        near = test_random(&state) % 3 == 0 ? (double)integer : near;
        char expr[128];
        char value[64];
        snprintf(value, sizeof value, "%" PRId64, integer);
        snprintf(expr, sizeof expr, "sql:a < %.17e OR a = %.17e AND NOT a > %.17e", near, near,
                 near);
        struct ref_number left = ref_number_parse(value, strlen(value));
        struct ref_number right = {.known = true, .real = near};
        check_with_value(expr, value, ref_number_compare(left, right) <= 0 ? T : F);
    }
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        TEST(test_forms_that_are_numbers),
        TEST(test_forms_that_are_no_numbers),
        TEST(test_forms_do_not_depend_on_the_locale),
        TEST(test_conversion_of_hard_cases),
        TEST(test_conversion_of_long_texts),
        TEST(test_conversion_of_random_doubles),
        TEST(test_conversion_half_way),
        TEST(test_comparison_is_exact),
        TEST(test_integer_literals_have_64_bits),
        TEST(test_arithmetic_is_exact_within_64_bits),
        TEST(test_random_comparisons_of_integers_with_doubles),
    };
    return run_tests(argc, argv, cases, N_ROWS(cases));
}
