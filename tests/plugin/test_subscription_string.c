/* SPDX-License-Identifier: BSD-3-Clause
 *
 * subscription_string: what the broker takes as a shared subscription (its sub__topic_tokenise: "$share", a name without
 * wildcards, and a topic filter that is not empty), and the renamed form of it. */
#include "runner.h"
#include "subscription_string.h"

#include <stdlib.h>
#include <string.h>

static void test_share_parts(void) {
    static const struct {
        const char *text;
        size_t topic_offset; /* 0: not shared */
        size_t name_bytes;
        bool possible;
    } rows[] = {
        /* not shared */
        {"", 0, 0, false},
        {"a", 0, 0, true},
        {"a/b/#", 0, 0, true},
        {"/", 0, 0, true},
        {"#", 0, 0, true},
        {"+/share/g/a", 0, 0, true},
        {"share/g/a", 0, 0, true},
        {"/$share/g/a", 0, 0, true},
        {"$SYS/#", 0, 0, true},
        {"$sharex/g/a", 0, 0, true},
        {"$shar/g/a", 0, 0, true},
        {"$SHARE/g/a", 0, 0, true},
        {"$", 0, 0, true},
        /* shared */
        {"$share/g/a", 9, 1, true},
        {"$share/g/a/b/+/#", 9, 1, true},
        {"$share/group/#", 13, 5, true},
        {"$share/g/+", 9, 1, true},
        {"$share/g//", 9, 1, true},  /* the topic filter "/" */
        {"$share/g//a", 9, 1, true}, /* the topic filter "/a" */
        {"$share/g/$SYS/#", 9, 1, true},
        {"$share/g/$share/h/a", 9, 1, true},
        {"$share/\xC3\xBC/a", 10, 2, true},
        {"$share/g\x01"
         "00112233445566778899aabbccddeeff/a",
         42, 1, true},
        /* neither: the broker closes the connection */
        {"$share", 0, 0, false},
        {"$share/", 0, 0, false},
        {"$share/g", 0, 0, false},
        {"$share/g/", 0, 0, false},
        {"$share//", 0, 0, false},
        {"$share/+/a", 9, 1, false},
        {"$share/#/a", 9, 1, false},
        {"$share/g+/a", 10, 2, false},
        {"$share/+g/#", 10, 2, false},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        size_t offset = share_topic_offset(rows[i].text);
        CHECK(offset == rows[i].topic_offset, "'%s': offset %zu", rows[i].text, offset);
        CHECK(subscription_text_is_possible(rows[i].text) == rows[i].possible, "'%s'",
              rows[i].text);
        if (rows[i].topic_offset != 0) {
            size_t bytes = share_name_bytes(rows[i].text);
            CHECK(bytes == rows[i].name_bytes, "'%s': a name of %zu bytes", rows[i].text, bytes);
        }
    }
}

/* The broker takes a group without a name: what it takes, the mirror has to hold. */
static void test_share_group_without_a_name(void) {
    CHECK(share_topic_offset("$share//a") == 8, "%zu", share_topic_offset("$share//a"));
    CHECK(share_name_bytes("$share//a") == 0, "%zu", share_name_bytes("$share//a"));
    CHECK(subscription_text_is_possible("$share//a"), "the broker takes it");
}

static char *renamed(const char *text, const char *filter) {
    size_t bytes = share_renamed_bytes(text);
    char *out = malloc(bytes + 1);
    REQUIRE(out != NULL, "memory");
    out[bytes] = '#';
    share_rename(text, filter, strlen(filter), out);
    CHECK(strlen(out) + 1 == bytes, "'%s': %zu bytes, %zu reserved", text, strlen(out) + 1, bytes);
    CHECK(out[bytes] == '#', "'%s': written beyond", text);
    return out;
}

static void test_share_rename_of_known_texts(void) {
    /* sha256("abc") = ba7816bf8f01cfea414140de5dae2223… */
    static const struct {
        const char *text;
        const char *expected;
    } rows[] = {
        {"$share/g/a", "$share/g\x01"
                       "ba7816bf8f01cfea414140de5dae2223/a"},
        {"$share/workers/orders/+/#", "$share/workers\x01"
                                      "ba7816bf8f01cfea414140de5dae2223/orders/+/#"},
        {"$share/g//", "$share/g\x01"
                       "ba7816bf8f01cfea414140de5dae2223//"},
        {"$share//a", "$share/\x01"
                      "ba7816bf8f01cfea414140de5dae2223/a"},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        char *out = renamed(rows[i].text, "abc");
        CHECK(strcmp(out, rows[i].expected) == 0, "'%s': %s", rows[i].text, out);
        free(out);
    }
}

static void test_share_rename_keeps_name_and_topic(void) {
    static const char *const texts[] = {"$share/g/a", "$share/a name/+/b/#", "$share/g//",
                                        "$share/\xE2\x82\xAC/$SYS/#"};
    static const char *const filters[] = {"a=1", "sql:a > 1", "tag:*", "x"};
    for (size_t i = 0; i < N_ROWS(texts); i++) {
        for (size_t k = 0; k < N_ROWS(filters); k++) {
            char *out = renamed(texts[i], filters[k]);
            CHECK(share_topic_offset(out) != 0 &&
                      strcmp(out + share_topic_offset(out),
                             texts[i] + share_topic_offset(texts[i])) == 0,
                  "'%s': the topic filter", out);
            CHECK(share_name_bytes(out) == share_name_bytes(texts[i]), "'%s': the name", out);
            CHECK(memcmp(out, texts[i], SHARE_PREFIX_BYTES + share_name_bytes(texts[i])) == 0,
                  "'%s': the name", out);
            CHECK(out[SHARE_PREFIX_BYTES + share_name_bytes(out)] == SHARE_SEPARATOR, "'%s'", out);
            CHECK(subscription_text_is_possible(out), "'%s'", out);
            for (size_t other = 0; other < k; other++) {
                char *second = renamed(texts[i], filters[other]);
                CHECK(strcmp(out, second) != 0, "'%s' for %s and %s", out, filters[k],
                      filters[other]);
                free(second);
            }
            free(out);
        }
    }
}

/* A canonical text is (pointer, length): what stands behind it does not count. */
static void test_share_rename_uses_the_length(void) {
    char first[64], second[64];
    share_rename("$share/g/a", "a=1&b=2", 3, first);
    share_rename("$share/g/a", "a=1", 3, second);
    CHECK(strcmp(first, second) == 0, "%s, %s", first, second);
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        TEST(test_share_parts),
        TEST(test_share_group_without_a_name),
        TEST(test_share_rename_of_known_texts),
        TEST(test_share_rename_keeps_name_and_topic),
        TEST(test_share_rename_uses_the_length),
    };
    return run_tests(argc, argv, cases, N_ROWS(cases));
}
