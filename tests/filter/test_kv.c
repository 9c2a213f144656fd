/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The key-value dialect (LANGUAGE, kv) and the escapes in it, row by row. */
#include <string.h>

#include "rows.h"
#include "runner.h"

/* clang-format off */
#define YES ROW_TRUE
#define NO ROW_NO
#define BAD ROW_BAD

static void test_kv_equality_is_by_bytes(void) {
    static const struct row rows[] = {
        {"room=a", YES, {"room", "a"}},
        {"room=a", NO, {"room", "A"}},
        {"room=a", NO, {"Room", "a"}},
        {"room=a", NO, {"room", "a "}},
        {"room=a", NO, {"room", " a"}},
        {"room=a", NO, {"room", "ab"}},
        {"room=ab", NO, {"room", "a"}},
        {"room=a", NO, {"room", ""}},
        {"room=a", NO, {"roo", "ma"}},
        {"room=a", NO, {"", "a"}},
        {"room=a", NO, {NULL}},
        {"v=5", YES, {"v", "5"}},
        {"v=5", NO, {"v", "5.0"}},
        {"v=5", NO, {"v", "05"}},
        {"v=5", NO, {"v", "+5"}},
        {"v=5.0", NO, {"v", "5"}},
        {"v>=5&v<=5", YES, {"v", "5.0"}},
        {"room='a'", NO, {"room", "a"}},
        {"room='a'", YES, {"room", "'a'"}},
        {"room=\"a\"", YES, {"room", "\"a\""}},
        {"\"room\"=a", YES, {"\"room\"", "a"}},
        {"a b=c d", YES, {"a b", "c d"}},
        {"a=x y  z", YES, {"a", "x y  z"}},
        {"a=x y  z", NO, {"a", "x y z"}},
        {"a=TRUE", NO, {"a", "true"}},
        {"\xE6\xB8\xA9=\xE5\x8C\x97", YES, {"\xE6\xB8\xA9", "\xE5\x8C\x97"}},
        {"a=\xF0\x9F\x99\x82", YES, {"a", "\xF0\x9F\x99\x82"}},
        {"a=e\xCC\x81", NO, {"a", "\xC3\xA9"}}, /* nothing is normalised */
    };
    rows_check(NULL, rows, N_ROWS(rows));
}

static void test_kv_without_a_usable_value_is_unknown(void) {
    static const struct row rows[] = {
        {"a=1", ROW_UNKNOWN, {NULL}},
        {"a=1", ROW_UNKNOWN, {"b", "1"}},
        {"a=1", ROW_FALSE, {"a", ""}},
        {"a>1", ROW_UNKNOWN, {NULL}},
        {"a>1", ROW_UNKNOWN, {"a", "x"}},
        {"a>1", ROW_UNKNOWN, {"a", "x", "a", "0"}},
        {"a>1", ROW_UNKNOWN, {"a", "0", "a", "x"}},
        {"a>1", ROW_TRUE, {"a", "x", "a", "2"}},
        {"a>1", ROW_FALSE, {"a", "0"}},
        {"a=1&b=1", ROW_UNKNOWN, {"a", "1"}},
        {"a=1&b=1", ROW_UNKNOWN, {"b", "1"}},
        {"a=1&b=1", ROW_FALSE, {"a", "2"}},
        {"a=1&b=1", ROW_FALSE, {"b", "2"}},
    };
    rows_check(NULL, rows, N_ROWS(rows));
}

static void test_kv_any_value_of_a_repeated_property_counts(void) {
    static const struct row rows[] = {
        {"a=1", YES, {"a", "1", "a", "2"}},
        {"a=2", YES, {"a", "1", "a", "2"}},
        {"a=3", NO, {"a", "1", "a", "2"}},
        {"a=1&a=2", YES, {"a", "1", "a", "2"}},
        {"a=1&a=2&a=3", NO, {"a", "1", "a", "2"}},
        {"v>10&v<5", YES, {"v", "20", "v", "3"}},
        {"v>10&v<5", NO, {"v", "7", "v", "8"}},
        {"v>10", YES, {"v", "abc", "v", "11"}},
        {"v>10", YES, {"v", "11", "v", "abc"}},
        {"v>10", NO, {"v", "abc", "v", "", "v", "9"}},
        {"a=x", YES, {"b", "x", "a", "y", "b", "y", "a", "x", "c", "x"}},
        {"a=x&v>=2", YES, {"v", "1", "a", "x", "v", "2"}},
    };
    rows_check(NULL, rows, N_ROWS(rows));
}

static void test_kv_ordering(void) {
    static const struct row rows[] = {
        {"v>25", YES, {"v", "26"}},
        {"v>25", NO, {"v", "25"}},
        {"v>25", NO, {"v", "24"}},
        {"v<25", YES, {"v", "24"}},
        {"v<25", NO, {"v", "25"}},
        {"v<25", NO, {"v", "26"}},
        {"v>=25", YES, {"v", "25"}},
        {"v>=25", YES, {"v", "26"}},
        {"v>=25", NO, {"v", "24"}},
        {"v<=25", YES, {"v", "25"}},
        {"v<=25", YES, {"v", "24"}},
        {"v<=25", NO, {"v", "26"}},
        {"v>25", YES, {"v", "25.000001"}},
        {"v>25", YES, {"v", "2.51e1"}},
        {"v>25", YES, {"v", " \t26\r\n\v\f"}},
        {"v>25", NO, {"v", "26C"}},
        {"v>25", NO, {"v", "2 6"}},
        {"v>25", NO, {"v", ""}},
        {"v>25", NO, {"v", " "}},
        {"v>25", NO, {"w", "26"}},
        {"v<25", NO, {NULL}},
        {"v>-1", YES, {"v", "-0.5"}},
        {"v>=-0", YES, {"v", "0"}},
        {"v<=-0.0", YES, {"v", "0"}},
        {"v>+5", YES, {"v", "6"}},
        {"v>5.", YES, {"v", "5.5"}},
        {"v>.5", YES, {"v", "1"}},
        {"v>1e3", YES, {"v", "1001"}},
        {"v>1E+3", NO, {"v", "1000"}},
        {"v>=1e-3", YES, {"v", ".001"}},
        {"v>9007199254740992", YES, {"v", "9007199254740993"}},
        {"v>9007199254740992.0", YES, {"v", "9007199254740993"}},
        {"v>1 ", YES, {"v", "2"}},
        {"v>%31", YES, {"v", "2"}},
        {"v>%20 1%09", YES, {"v", "2"}}, /* white space around a number, also when it was escaped */
        {"v> 1%2E5e%2B1", YES, {"v", "16"}},
    };
    rows_check(NULL, rows, N_ROWS(rows));
}

static void test_kv_trims_keys_and_values(void) {
    static const struct row rows[] = {
        {" a = x ", YES, {"a", "x"}},
        {"\t\n\v\f\r a\t\n\v\f\r =\t\n\v\f\r x\t\n\v\f\r ", YES, {"a", "x"}},
        {"a=x & b=y", YES, {"a", "x", "b", "y"}},
        {"a = x y ", YES, {"a", "x y"}},
        {"a b = x", YES, {"a b", "x"}},
        {"a=\xC2\xA0x", NO, {"a", "x"}}, /* only ASCII white space */
        {"a=\xC2\xA0x", YES, {"a", "\xC2\xA0x"}},
        {"a=\xE3\x80\x80", YES, {"a", "\xE3\x80\x80"}},
        {"a=x\xE2\x80\x8B", NO, {"a", "x"}},
        {"a >= 5", YES, {"a", "5"}},
        {"a=%20x%20", YES, {"a", " x "}},
        {" a = %20 ", YES, {"a", " "}},
        {"%09a=x", YES, {"\ta", "x"}},
    };
    rows_check(NULL, rows, N_ROWS(rows));
}

static void test_kv_refuses_what_has_not_exactly_one_operator(void) {
    static const struct row rows[] = {
        {"a", BAD, {NULL}},
        {"a b", BAD, {NULL}},
        {"a!", BAD, {NULL}},
        {"a:5", BAD, {NULL}},
        {"v=1=2", BAD, {NULL}},
        {"a!=1", BAD, {NULL}},
        {"a! =1", BAD, {NULL}},
        {"a!>1", BAD, {NULL}},
        {"a!<=1", BAD, {NULL}},
        {"!=1", BAD, {NULL}},
        {"a<>1", BAD, {NULL}},
        {"a><1", BAD, {NULL}},
        {"a=>5", BAD, {NULL}},
        {"a=<5", BAD, {NULL}},
        {"a==5", BAD, {NULL}},
        {"a===5", BAD, {NULL}},
        {"a=b>1", BAD, {NULL}},
        {"a>>1", BAD, {NULL}},
        {"a<<1", BAD, {NULL}},
        {"a>==1", BAD, {NULL}},
        {"a>= =1", BAD, {NULL}},
        {"a> =1", BAD, {NULL}},
        {"a< =1", BAD, {NULL}},
        {"a>1>0", BAD, {NULL}},
        {"a=1&b", BAD, {NULL}},
        {"a=1&b=2=3", BAD, {NULL}},
        {"a=b c=d", BAD, {NULL}},
        {"amount > 100 AND region = BEIJING", BAD, {NULL}},
        {"a!b=1", YES, {"a!b", "1"}},
        {"a=!1", YES, {"a", "!1"}},
        {"a=!", YES, {"a", "!"}},
        {"a%21=1", YES, {"a!", "1"}},
        {"a%3D=1", YES, {"a=", "1"}},
        {"a%3C%3e=%3D%3c%3E", YES, {"a<>", "=<>"}},
        {"!a=1", YES, {"!a", "1"}},
        {"a|b=c|d", YES, {"a|b", "c|d"}},
        {"a||b=c", YES, {"a||b", "c"}},
        {"a=b?c", YES, {"a", "b?c"}},
    };
    rows_check(NULL, rows, N_ROWS(rows));
}

static void test_kv_refuses_what_is_empty(void) {
    static const struct row rows[] = {
        {"", BAD, {NULL}},
        {" ", BAD, {NULL}},
        {"\t\r\n", BAD, {NULL}},
        {"kv:", BAD, {NULL}},
        {" kv: ", BAD, {NULL}},
        {"&", BAD, {NULL}},
        {"&&", BAD, {NULL}},
        {"a=1&", BAD, {"a", "1"}},
        {"&a=1", BAD, {"a", "1"}},
        {"a=1&&b=2", BAD, {"a", "1", "b", "2"}},
        {"a=1& &b=2", BAD, {"a", "1", "b", "2"}},
        {"=", BAD, {NULL}},
        {">=", BAD, {NULL}},
        {"=1", BAD, {"", "1"}},
        {" =1", BAD, {"", "1"}},
        {"a=", BAD, {"a", ""}},
        {"a= ", BAD, {"a", ""}},
        {"a>", BAD, {"a", ""}},
        {">5", BAD, {"", "6"}},
        {"k=&k=0", BAD, {"k", "0"}},
    };
    rows_check(NULL, rows, N_ROWS(rows));
}

static void test_kv_refuses_ordering_by_what_is_no_number(void) {
    static const struct row rows[] = {
        {"v>a", BAD, {"v", "b"}},
        {"v<a", BAD, {"v", "b"}},
        {"v>=a", BAD, {"v", "b"}},
        {"v<=a", BAD, {"v", "b"}},
        {"v>5,5", BAD, {"v", "6"}},
        {"v>1_000", BAD, {"v", "6"}},
        {"v>0x10", BAD, {"v", "6"}},
        {"v>inf", BAD, {"v", "6"}},
        {"v<nan", BAD, {"v", "6"}},
        {"v<1e400", BAD, {"v", "6"}},
        {"v>5L", BAD, {"v", "6"}},
        {"v>- 5", BAD, {"v", "6"}},
        {"v>--5", BAD, {"v", "6"}},
        {"v>.", BAD, {"v", "6"}},
        {"v>e5", BAD, {"v", "6"}},
        {"v>1e", BAD, {"v", "6"}},
        {"v>'5'", BAD, {"v", "6"}},
        {"v>\xD9\xA5", BAD, {"v", "6"}},
        {"v=1e400", YES, {"v", "1e400"}}, /* no number is needed here */
        {"v=nan", YES, {"v", "nan"}},
    };
    rows_check(NULL, rows, N_ROWS(rows));
}

static void test_kv_decodes_every_escape_once(void) {
    static const struct row rows[] = {
        {"a%3Db=c%26d", YES, {"a=b", "c&d"}},
        {"a=%23", YES, {"a", "#"}},
        {"tz=%2B01:00", YES, {"tz", "+01:00"}},
        {"tz=+01:00", YES, {"tz", "+01:00"}},
        {"colour=%23ff0000", YES, {"colour", "#ff0000"}},
        {"a=%253D", YES, {"a", "%3D"}},
        {"a=%2525", YES, {"a", "%25"}},
        {"a=%25", YES, {"a", "%"}},
        {"a=%", YES, {"a", "%"}},
        {"a=%%", YES, {"a", "%%"}},
        {"a=%4", YES, {"a", "%4"}},
        {"a=%4x", YES, {"a", "%4x"}},
        {"a=%x4", YES, {"a", "%x4"}},
        {"a=%%41", YES, {"a", "%A"}},
        {"a=%4%31", YES, {"a", "%41"}}, /* once: the result is not looked at again */
        {"a=100%", YES, {"a", "100%"}},
        {"a=100%&b=1", YES, {"a", "100%", "b", "1"}},
        {"a=%+4", YES, {"a", "%+4"}},
        {"a=% 4", YES, {"a", "% 4"}},
        {"a=%c3%A9", YES, {"a", "\xC3\xA9"}},
        {"a=\xE5\x8C%97", YES, {"a", "\xE5\x8C\x97"}},
        {"a=%0A%7f%01", YES, {"a", "\n\x7F\x01"}},
        {"a=%26b=1", BAD, {NULL}},
        {"%61=%62", YES, {"a", "b"}},
        {"a%26b=1&c=%26", YES, {"a&b", "1", "c", "&"}},
        {"a=%00", BAD, {NULL}},
        {"%00=1", BAD, {NULL}},
        {"a=x%00y", BAD, {NULL}},
        {"a=%2500", YES, {"a", "%00"}},
        {"a=%FF", BAD, {NULL}},
        {"a=%C3", BAD, {NULL}},
        {"a=%C3&b=%A9", BAD, {NULL}},
        {"a=%C3x", BAD, {NULL}},
        {"a=%80", BAD, {NULL}},
        {"a=%C0%AF", BAD, {NULL}},
        {"a=%E0%80%AF", BAD, {NULL}},
        {"a=%ED%A0%80", BAD, {NULL}},
        {"a=%ED%9F%BF", YES, {"a", "\xED\x9F\xBF"}},
        {"a=%EE%80%80", YES, {"a", "\xEE\x80\x80"}},
        {"a=%F4%8F%BF%BF", YES, {"a", "\xF4\x8F\xBF\xBF"}},
        {"a=%F4%90%80%80", BAD, {NULL}},
        {"a=%F0%8F%BF%BF", BAD, {NULL}},
        {"a=%F5%80%80%80", BAD, {NULL}},
        {"%FF=1", BAD, {NULL}},
        {"a=\xFF", BAD, {NULL}},
        {"a=1&b=\xC3", BAD, {NULL}},
    };
    rows_check(NULL, rows, N_ROWS(rows));
}

static void test_kv_prefix_is_found_in_any_case(void) {
    static const struct row rows[] = {
        {"kv:a=1", YES, {"a", "1"}},
        {"KV:a=1", YES, {"a", "1"}},
        {"kV: a=1", YES, {"a", "1"}},
        {" \tKv:a=1", YES, {"a", "1"}},
        {"kv:kv:a=1", YES, {"kv:a", "1"}},
        {"kv:sql:a=1", YES, {"sql:a", "1"}},
        {"kv:tag:a=1", YES, {"tag:a", "1"}},
        {"kv :a=1", YES, {"kv :a", "1"}},
        {"sql :a=1", YES, {"sql :a", "1"}},
        {"sqlx:a=1", YES, {"sqlx:a", "1"}},
        {"xsql:a=1", YES, {"xsql:a", "1"}},
        {"%73ql:a=1", YES, {"sql:a", "1"}}, /* looked for before any escape is decoded */
        {"sql%3Aa=1", YES, {"sql:a", "1"}},
        {"kv%3Aa=1", YES, {"kv:a", "1"}},
        {"kv=1", YES, {"kv", "1"}},
        {"kv", BAD, {NULL}},
        {"k", BAD, {NULL}},
        {"tag=1", YES, {"tag", "1"}},
        {"sql=1", YES, {"sql", "1"}},
        {"\xC2\xA0sql:a=1", YES, {"\xC2\xA0sql:a", "1"}},
    };
    rows_check(NULL, rows, N_ROWS(rows));
}

/* clang-format on */

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        TEST(test_kv_equality_is_by_bytes),
        TEST(test_kv_without_a_usable_value_is_unknown),
        TEST(test_kv_any_value_of_a_repeated_property_counts),
        TEST(test_kv_ordering),
        TEST(test_kv_trims_keys_and_values),
        TEST(test_kv_refuses_what_has_not_exactly_one_operator),
        TEST(test_kv_refuses_what_is_empty),
        TEST(test_kv_refuses_ordering_by_what_is_no_number),
        TEST(test_kv_decodes_every_escape_once),
        TEST(test_kv_prefix_is_found_in_any_case),
    };
    return run_tests(argc, argv, cases, N_ROWS(cases));
}
