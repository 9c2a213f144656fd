/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Texts and names of every length up to some dozens, that differ in one place or by one byte at the end: whoever
 * compares eight bytes at once, looks at beginnings first, sorts or halves lists has its edges here. Values lie in
 * memory of exactly their size.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "rows.h"
#include "runner.h"

#define MAX_LENGTH 40

/* `bytes` letters; the one at `changed` is another one than without (SIZE_MAX: none is). */
static void write_text(char *to, size_t bytes, size_t changed) {
    for (size_t i = 0; i < bytes; i++) {
        to[i] = (char)('a' + (i * 7) % 25 + (i == changed ? 1 : 0));
    }
    to[bytes] = '\0';
}

/* `pattern`, each @ replaced by `text`, evaluated against a message whose property `name` is `value`. */
static void check(const char *pattern, const char *text, const char *name, const char *value,
                  bool expected) {
    char expr[1024];
    size_t bytes = 0;
    for (const char *c = pattern; *c != '\0'; c++) {
        bytes += (size_t)snprintf(expr + bytes, sizeof expr - bytes, "%.*s",
                                  *c == '@' ? MAX_LENGTH + 2 : 1, *c == '@' ? text : c);
    }
    char *name_copy = engine_exact_copy(name, strlen(name));
    char *value_copy = engine_exact_copy(value, strlen(value));
    struct ref_property property = {{name_copy, strlen(name)}, {value_copy, strlen(value)}};
    struct ref_message message = {.properties = &property, .n_properties = 1};
    struct sf_options options = SF_OPTIONS_INIT;
    options.tag_key = "a";
    rows_check_one(&options, (struct ref_text){expr, bytes}, &message,
                   expected ? ROW_TRUE : ROW_NO);
    free(name_copy);
    free(value_copy);
}

struct operator{
    const char *pattern;
    bool empty_is_fine; /* kv and tag have no empty text */
};

static const struct operator equalities[] = {
    {"a=@", false},           {"tag:@", false},           {"tag:x||@||y", false},
    {"sql:a = '@'", true},    {"sql:a IN ('@')", true},   {"sql:a IN ('@~', '~@', '@', '~')", true},
    {"sql:a LIKE '@'", true}, {"sql:NOT a <> '@'", true},
};

static void test_equality_of_every_length(void) {
    char text[MAX_LENGTH + 2];
    char value[MAX_LENGTH + 2];
    for (size_t bytes = 0; bytes <= MAX_LENGTH; bytes++) {
        write_text(text, bytes, SIZE_MAX);
        for (size_t i = 0; i < N_ROWS(equalities); i++) {
            if (bytes == 0 && !equalities[i].empty_is_fine) {
                continue;
            }
            check(equalities[i].pattern, text, "a", text, true);
            write_text(value, bytes + 1, SIZE_MAX);
            check(equalities[i].pattern, text, "a", value, false);
            for (size_t changed = 0; changed < bytes; changed++) {
                write_text(value, bytes, changed);
                check(equalities[i].pattern, text, "a", value, false);
            }
            if (bytes > 0) {
                write_text(value, bytes - 1, SIZE_MAX);
                check(equalities[i].pattern, text, "a", value, false);
            }
        }
    }
}

static void test_searches_of_every_length(void) {
    static const struct {
        const char *pattern;
        bool at_start; /* holds for the text with something behind it */
        bool at_end;   /* ... before it */
    } rows[] = {
        {"sql:a STARTSWITH '@'", true, false}, {"sql:a LIKE '@%'", true, false},
        {"sql:a ENDSWITH '@'", false, true},   {"sql:a LIKE '%@'", false, true},
        {"sql:a CONTAINS '@'", true, true},    {"sql:a LIKE '%@%'", true, true},
    };
    char text[MAX_LENGTH + 2];
    char value[2 * MAX_LENGTH];
    for (size_t bytes = 1; bytes <= MAX_LENGTH; bytes++) {
        write_text(text, bytes, SIZE_MAX);
        for (size_t i = 0; i < N_ROWS(rows); i++) {
            check(rows[i].pattern, text, "a", text, true);
            snprintf(value, sizeof value, "%s~", text);
            check(rows[i].pattern, text, "a", value, rows[i].at_start);
            snprintf(value, sizeof value, "~%s", text);
            check(rows[i].pattern, text, "a", value, rows[i].at_end);
            snprintf(value, sizeof value, "%.*s", (int)bytes - 1, text);
            check(rows[i].pattern, text, "a", value, false);
            check(rows[i].pattern, text, "a", text + 1, false);
            for (size_t changed = 0; changed < bytes; changed++) {
                write_text(value, bytes, changed);
                check(rows[i].pattern, text, "a", value, false);
            }
        }
    }
}

static void test_names_of_every_length(void) {
    static const char *const patterns[] = {"@=1", "sql:@ = '1'", "sql:@ > 0 AND @x IS NULL",
                                           "sql:@y = 'z' OR @ = '1'"};
    char text[MAX_LENGTH + 2];
    char name[MAX_LENGTH + 2];
    for (size_t bytes = 1; bytes <= MAX_LENGTH; bytes++) {
        write_text(text, bytes, SIZE_MAX);
        for (size_t i = 0; i < N_ROWS(patterns); i++) {
            check(patterns[i], text, text, "1", true);
            for (size_t changed = 0; changed < bytes; changed++) {
                write_text(name, bytes, changed);
                check(patterns[i], text, name, "1", false);
            }
            write_text(name, bytes + 1, SIZE_MAX);
            check(patterns[i], text, name, "1", false);
            write_text(name, bytes - 1, SIZE_MAX);
            check(patterns[i], text, name, "1", false);
        }
    }
}

/* Lists of 1 to 20 texts of one length with a common beginning: each is found, and nothing between them. */
static void test_lists_find_each_of_texts_that_begin_alike(void) {
    static const char *const beginnings[] = {"",
                                             "a",
                                             "abcdef",
                                             "abcdefg",
                                             "abcdefgh",
                                             "abcdefghijklmn",
                                             "\xE5\x8C\x97\xE5\x8C\x97\xE5\x8C\x97"};
    char expr[1024];
    char value[64];
    for (size_t b = 0; b < N_ROWS(beginnings); b++) {
        for (int n = 1; n <= 20; n++) {
            size_t bytes = (size_t)snprintf(expr, sizeof expr, "sql:a IN (");
            for (int i = 0; i < n; i++) { /* 11 and n have no common divisor, mostly: in no order */
                bytes += (size_t)snprintf(expr + bytes, sizeof expr - bytes, "%s'%s%02d'",
                                          i == 0 ? "" : ", ", beginnings[b], 2 * ((i * 11) % n));
            }
            snprintf(expr + bytes, sizeof expr - bytes, ")");
            for (int i = 0; i <= 2 * n; i++) {
                snprintf(value, sizeof value, "%s%02d", beginnings[b], i);
                bool is_listed = false;
                for (int k = 0; k < n; k++) {
                    is_listed = is_listed || 2 * ((k * 11) % n) == i;
                }
                check(expr, "", "a", value, is_listed);
            }
        }
    }
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        TEST(test_equality_of_every_length),
        TEST(test_searches_of_every_length),
        TEST(test_names_of_every_length),
        TEST(test_lists_find_each_of_texts_that_begin_alike),
    };
    return run_tests(argc, argv, cases, N_ROWS(cases));
}
