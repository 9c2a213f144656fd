/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Subscription strings: where sf_subscription_split finds the parts, and what sf_topic_decode decodes and refuses
 * (LANGUAGE, subscription strings).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "runner.h"

/* clang-format off */
/* The parts as text; NULL where there is none: no '?', not shared. */
struct split_row {
    const char *text;
    const char *topic;
    const char *share;
    const char *expression;
    enum sf_dialect dialect;
    const char *body;
};

static const struct split_row split_rows[] = {
    {"a/b", "a/b", NULL, NULL, SF_DIALECT_KV, ""},
    {"", "", NULL, NULL, SF_DIALECT_KV, ""},
    {"a/b?", "a/b", NULL, "", SF_DIALECT_KV, ""},
    {"?", "", NULL, "", SF_DIALECT_KV, ""},
    {"?a=1", "", NULL, "a=1", SF_DIALECT_KV, "a=1"},
    {"a/b?x=1&y>2", "a/b", NULL, "x=1&y>2", SF_DIALECT_KV, "x=1&y>2"},
    {"t?a=b?c", "t", NULL, "a=b?c", SF_DIALECT_KV, "a=b?c"}, /* the first ? */
    {"t??", "t", NULL, "?", SF_DIALECT_KV, "?"},
    {"a%3Fb", "a%3Fb", NULL, NULL, SF_DIALECT_KV, ""},
    {"a%3Fb?sql:TRUE", "a%3Fb", NULL, "sql:TRUE", SF_DIALECT_SQL, "TRUE"},
    {"t?kv:a=1", "t", NULL, "kv:a=1", SF_DIALECT_KV, "a=1"},
    {"t? KV: a=1", "t", NULL, " KV: a=1", SF_DIALECT_KV, " a=1"},
    {"t?tag:A||B", "t", NULL, "tag:A||B", SF_DIALECT_TAG, "A||B"},
    {"t?\t\n\v\f\r TaG:A", "t", NULL, "\t\n\v\f\r TaG:A", SF_DIALECT_TAG, "A"},
    {"t?SQL:", "t", NULL, "SQL:", SF_DIALECT_SQL, ""},
    {"t?sql", "t", NULL, "sql", SF_DIALECT_KV, "sql"},
    {"t?sq", "t", NULL, "sq", SF_DIALECT_KV, "sq"},
    {"t? a=1", "t", NULL, " a=1", SF_DIALECT_KV, " a=1"}, /* without a prefix the body is the whole */
    {"t?sql%3Aa", "t", NULL, "sql%3Aa", SF_DIALECT_KV, "sql%3Aa"},
    {"t?%73ql:a", "t", NULL, "%73ql:a", SF_DIALECT_KV, "%73ql:a"},
    {"t?sql :a", "t", NULL, "sql :a", SF_DIALECT_KV, "sql :a"},
    {"t?sql:sql:a", "t", NULL, "sql:sql:a", SF_DIALECT_SQL, "sql:a"},
    {"t?xsql:a", "t", NULL, "xsql:a", SF_DIALECT_KV, "xsql:a"},
    {"sql:a", "sql:a", NULL, NULL, SF_DIALECT_KV, ""},
    {"$SYS/a?b=1", "$SYS/a", NULL, "b=1", SF_DIALECT_KV, "b=1"},
    {"$share/g/a/b", "$share/g/a/b", "g", NULL, SF_DIALECT_KV, ""},
    {"$share/g/a?x=1", "$share/g/a", "g", "x=1", SF_DIALECT_KV, "x=1"},
    {"$share/group one/a?tag:x", "$share/group one/a", "group one", "tag:x", SF_DIALECT_TAG, "x"},
    {"$share/g%2B/a?x=1", "$share/g%2B/a", "g%2B", "x=1", SF_DIALECT_KV, "x=1"},
    {"$share/g//a", "$share/g//a", "g", NULL, SF_DIALECT_KV, ""},
    {"$share/g", "$share/g", NULL, NULL, SF_DIALECT_KV, ""},
    {"$share/g?a/b=1", "$share/g", NULL, "a/b=1", SF_DIALECT_KV, "a/b=1"},
    {"$share", "$share", NULL, NULL, SF_DIALECT_KV, ""},
    {"$share?a=1", "$share", NULL, "a=1", SF_DIALECT_KV, "a=1"},
    {"$SHARE/g/a", "$SHARE/g/a", NULL, NULL, SF_DIALECT_KV, ""},
    {"$shared/g/a", "$shared/g/a", NULL, NULL, SF_DIALECT_KV, ""},
    {"a/$share/g/a", "a/$share/g/a", NULL, NULL, SF_DIALECT_KV, ""},
};
/* clang-format on */

static bool is_part(const char *text, size_t offset, size_t bytes, const char *expected) {
    return bytes == strlen(expected) && offset <= strlen(text) && bytes <= strlen(text) - offset &&
           memcmp(text + offset, expected, bytes) == 0;
}

static void check_split(const struct split_row *row, const char *text, size_t bytes) {
    struct sf_subscription split;
    memset(&split, 0xAA, sizeof split);
    sf_subscription_split(text, bytes, &split);
    const char *expression = row->expression != NULL ? row->expression : "";
    CHECK(split.has_expression == (row->expression != NULL), "%s", row->text);
    CHECK(is_part(row->text, 0, split.topic_bytes, row->topic), "%s", row->text);
    CHECK(is_part(row->text, split.share_offset, split.share_bytes,
                  row->share != NULL ? row->share : ""),
          "%s", row->text);
    CHECK(split.share_offset == (row->share != NULL ? strlen("$share/") : 0), "%s: %zu", row->text,
          split.share_offset);
    CHECK(is_part(row->text, split.expression_offset, split.expression_bytes, expression), "%s",
          row->text);
    CHECK(split.expression_offset + split.expression_bytes == bytes, "%s: to the end", row->text);
    CHECK(split.dialect == row->dialect, "%s: %d", row->text, split.dialect);
    CHECK(is_part(row->text, split.body_offset, bytes - split.body_offset, row->body),
          "%s: body at %zu", row->text, split.body_offset);
}

static void test_split_finds_the_parts(void) {
    for (size_t i = 0; i < N_ROWS(split_rows); i++) {
        size_t bytes = strlen(split_rows[i].text);
        /* no NUL behind it, and sanitizers see a read beyond the end */
        char *copy = malloc(bytes > 0 ? bytes : 1);
        REQUIRE(copy != NULL, "%s", "memory");
        memcpy(copy, split_rows[i].text, bytes);
        check_split(&split_rows[i], copy, bytes);
        free(copy);
    }
}

static void test_split_of_any_bytes_stays_inside(void) {
    static const char alphabet[] = "$share/g?sqltagkv: \xC3%3F\0#+";
    uint64_t state = test_seed();
    for (int i = 0; i < 20000; i++) {
        char text[32];
        size_t bytes = test_random(&state) % sizeof text;
        for (size_t k = 0; k < bytes; k++) {
            text[k] = alphabet[test_random(&state) % (sizeof alphabet - 1)];
        }
        struct sf_subscription split;
        sf_subscription_split(text, bytes, &split);
        const char *mark = memchr(text, '?', bytes);
        size_t topic_bytes = mark != NULL ? (size_t)(mark - text) : bytes;
        size_t expression_offset = mark != NULL ? topic_bytes + 1 : bytes;
        CHECK(split.has_expression == (mark != NULL) && split.topic_bytes == topic_bytes &&
                  split.expression_offset == expression_offset &&
                  split.expression_bytes == bytes - expression_offset &&
                  split.body_offset >= expression_offset && split.body_offset <= bytes &&
                  split.share_offset + split.share_bytes <= topic_bytes,
              "%.*s", (int)bytes, text);
    }
}

/* ---- topic filters --------------------------------------------------------------------------- */

/* clang-format off */
static const struct {
    const char *text;
    const char *decoded; /* NULL: refused */
    enum sf_status code;
} decode_rows[] = {
    {"a", "a", SF_OK},
    {"a/b", "a/b", SF_OK},
    {"/", "/", SF_OK},
    {"//", "//", SF_OK},
    {"/a/", "/a/", SF_OK},
    {"a b/ c ", "a b/ c ", SF_OK},
    {"a%3Fb", "a?b", SF_OK},
    {"a%3fb", "a?b", SF_OK},
    {"home/%23", "home/#", SF_OK},
    {"%23", "#", SF_OK},
    {"sensor/%2B", "sensor/+", SF_OK},
    {"sensor/%2b/x", "sensor/+/x", SF_OK},
    {"%2B/%2B/%23", "+/+/#", SF_OK},
    {"100%25", "100%", SF_OK},
    {"%2523", "%23", SF_OK}, /* once */
    {"%252B", "%2B", SF_OK},
    {"%25%32%33", "%%32%33", SF_OK},
    {"a%", "a%", SF_OK},
    {"a%2", "a%2", SF_OK},
    {"%", "%", SF_OK},
    {"%%23", NULL, SF_E_TOPIC}, /* %# */
    {"a%41%20%00", "a%41%20%00", SF_OK}, /* only the four */
    {"a%3D", "a%3D", SF_OK},
    {"#", "#", SF_OK},
    {"+", "+", SF_OK},
    {"a/+/b/#", "a/+/b/#", SF_OK},
    {"+/a", "+/a", SF_OK},
    {"/+", "/+", SF_OK},
    {"/#", "/#", SF_OK},
    {"$SYS/%23", "$SYS/#", SF_OK},
    {"$share/g/a", "$share/g/a", SF_OK},
    {"$share/g/%23", "$share/g/#", SF_OK},
    {"$share/g%3F/a%3Fb", "$share/g?/a?b", SF_OK},
    {"$share/g//", "$share/g//", SF_OK},
    {"$share", "$share", SF_OK}, /* no share group: a topic */
    {"$shared/a", "$shared/a", SF_OK},
    {"\xE5\x8C\x97/%2B", "\xE5\x8C\x97/+", SF_OK},
    {"\xF4\x8F\xBF\xBD", "\xF4\x8F\xBF\xBD", SF_OK},
    {"", NULL, SF_E_TOPIC},
    {"a#", NULL, SF_E_TOPIC},
    {"a%23", NULL, SF_E_TOPIC},
    {"#a", NULL, SF_E_TOPIC},
    {"a/#b", NULL, SF_E_TOPIC},
    {"#/", NULL, SF_E_TOPIC},
    {"#/a", NULL, SF_E_TOPIC},
    {"a/%23/b", NULL, SF_E_TOPIC},
    {"##", NULL, SF_E_TOPIC},
    {"a+", NULL, SF_E_TOPIC},
    {"a/%2Bb", NULL, SF_E_TOPIC},
    {"+a/b", NULL, SF_E_TOPIC},
    {"++", NULL, SF_E_TOPIC},
    {"+#", NULL, SF_E_TOPIC},
    {"+ ", NULL, SF_E_TOPIC},
    {"a/# ", NULL, SF_E_TOPIC},
    {"$share/", NULL, SF_E_TOPIC},
    {"$share/g", NULL, SF_E_TOPIC},
    {"$share/g/", NULL, SF_E_TOPIC},
    {"$share//a", NULL, SF_E_TOPIC},
    {"$share//", NULL, SF_E_TOPIC},
    {"$share/+/a", NULL, SF_E_TOPIC},
    {"$share/%23/a", NULL, SF_E_TOPIC},
    {"$share/g%2B/a", NULL, SF_E_TOPIC},
    {"$share/#", NULL, SF_E_TOPIC},
    {"$share/g/a#", NULL, SF_E_TOPIC},
    {"$share/g/%23/b", NULL, SF_E_TOPIC},
    {"\xFF", NULL, SF_E_ESCAPE},
    {"a/\xC3", NULL, SF_E_ESCAPE},
    {"a/\xC3%2B", NULL, SF_E_ESCAPE},
    {"\xC0\x80", NULL, SF_E_ESCAPE},
    {"\xED\xA0\x80", NULL, SF_E_ESCAPE},
    {"\xF4\x90\x80\x80", NULL, SF_E_ESCAPE},
};
/* clang-format on */

static void check_decode(const char *text, size_t bytes, const char *decoded, enum sf_status code) {
    char *copy = malloc(bytes > 0 ? bytes : 1);
    REQUIRE(copy != NULL, "%s", "memory");
    memcpy(copy, text, bytes);
    struct sf_error error = {.text = ""};
    size_t decoded_bytes = SIZE_MAX;
    enum sf_status status = sf_topic_decode(copy, bytes, &decoded_bytes, &error);
    CHECK(status == code, "%.60s: %s: %s", text, sf_status_name(status), error.text);
    if (status == SF_OK && decoded != NULL) {
        CHECK(decoded_bytes == strlen(decoded) && memcmp(copy, decoded, decoded_bytes) == 0,
              "%.60s: %.*s", text, (int)(decoded_bytes < 60 ? decoded_bytes : 60), copy);
    }
    if (status != SF_OK) {
        CHECK(memcmp(copy, text, bytes) == 0, "%.60s: was changed", text);
        const char *wrong = engine_check_error(status, &error, bytes);
        CHECK(wrong == NULL, "%.60s: %s", text, wrong);
        CHECK(sf_topic_decode(copy, bytes, &decoded_bytes, NULL) == status,
              "%.60s: without an error", text);
    }
    free(copy);
}

static void test_topic_decode(void) {
    for (size_t i = 0; i < N_ROWS(decode_rows); i++) {
        check_decode(decode_rows[i].text, strlen(decode_rows[i].text), decode_rows[i].decoded,
                     decode_rows[i].code);
    }
}

static void test_topic_decode_refuses_nul(void) {
    char text[] = "a\0b";
    size_t decoded_bytes = 0;
    struct sf_error error = {.text = ""};
    enum sf_status status = sf_topic_decode(text, 3, &decoded_bytes, &error);
    CHECK(status == SF_E_TOPIC || status == SF_E_ESCAPE, "%s", sf_status_name(status));
    CHECK(error.offset == 1 && error.length == 1, "%zu+%zu", error.offset, error.length);
}

static void test_topic_decode_limits_the_length_after_decoding(void) {
    enum { MAX = 65535 };
    char *text = malloc(3 * MAX + 3);
    REQUIRE(text != NULL, "%s", "memory");
    test_defer(free, text);
    memset(text, 'a', MAX + 1);
    check_decode(text, MAX, NULL, SF_OK);
    check_decode(text, MAX + 1, NULL, SF_E_TOPIC);
    for (size_t i = 0; i <= MAX; i++) {
        memcpy(text + 3 * i, "%3F", 3);
    }
    size_t decoded_bytes = 0;
    CHECK(sf_topic_decode(text, 3 * MAX, &decoded_bytes, NULL) == SF_OK, "%zu", decoded_bytes);
    CHECK(decoded_bytes == MAX && text[0] == '?' && text[MAX - 1] == '?', "%zu", decoded_bytes);
    for (size_t i = 0; i <= MAX; i++) {
        memcpy(text + 3 * i, "%3F", 3);
    }
    CHECK(sf_topic_decode(text, 3 * MAX + 3, &decoded_bytes, NULL) == SF_E_TOPIC, "%s",
          "one beyond");
}

/* The spot counts escapes as sent. */
static void test_topic_decode_errors_name_the_spot(void) {
    static const struct {
        const char *text;
        const char *spot;
    } rows[] = {
        {"a/b#", "   ^"},
        {"a%3Fb/%23/c", "      ^^^"},
        {"%3F%3F/a%2B", "        ^^^"},
        {"a/#/b", "  ^"},
        {"x/+y", "  ^"},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        char text[64];
        strcpy(text, rows[i].text);
        size_t decoded_bytes = 0;
        struct sf_error error = {.text = ""};
        CHECK(sf_topic_decode(text, strlen(text), &decoded_bytes, &error) == SF_E_TOPIC, "%s",
              rows[i].text);
        size_t offset = strspn(rows[i].spot, " ");
        CHECK(error.offset == offset && error.length == strlen(rows[i].spot) - offset,
              "%s: %zu+%zu: %s", rows[i].text, error.offset, error.length, error.text);
    }
}

static void test_names_of_dialects_and_codes(void) {
    static const char *const names[] = {"ok",     "nomem",    "topic",   "dialect",  "escape",
                                        "empty",  "operator", "syntax",  "unclosed", "name",
                                        "number", "kind",     "pattern", "bounds",   "limit"};
    for (size_t i = 0; i < N_ROWS(names); i++) {
        CHECK(strcmp(sf_status_name((enum sf_status)i), names[i]) == 0, "%zu: %s", i, names[i]);
    }
    CHECK(strcmp(sf_status_name((enum sf_status)N_ROWS(names)), "unknown") == 0, "%s",
          "one beyond");
    CHECK(strcmp(sf_status_name((enum sf_status)1000), "unknown") == 0, "%s", "far beyond");
    CHECK(strcmp(sf_dialect_name(SF_DIALECT_KV), "kv") == 0, "%s", "kv");
    CHECK(strcmp(sf_dialect_name(SF_DIALECT_SQL), "sql") == 0, "%s", "sql");
    CHECK(strcmp(sf_dialect_name(SF_DIALECT_TAG), "tag") == 0, "%s", "tag");
    CHECK(sf_dialect_name((enum sf_dialect)0) == NULL, "%s", "none");
    CHECK(sf_dialect_name((enum sf_dialect)SF_DIALECT_ALL) == NULL, "%s", "all");
    unsigned major, minor, patch;
    char end;
    CHECK(sscanf(sf_version(), "%u.%u.%u%c", &major, &minor, &patch, &end) == 3, "%s",
          sf_version());
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        TEST(test_split_finds_the_parts),
        TEST(test_split_of_any_bytes_stays_inside),
        TEST(test_topic_decode),
        TEST(test_topic_decode_refuses_nul),
        TEST(test_topic_decode_limits_the_length_after_decoding),
        TEST(test_topic_decode_errors_name_the_spot),
        TEST(test_names_of_dialects_and_codes),
    };
    return run_tests(argc, argv, cases, N_ROWS(cases));
}
