/* SPDX-License-Identifier: BSD-3-Clause
 *
 * log_text: whatever a client sends, what reaches the log is one short line of valid UTF-8. */
#include "log.h"
#include "runner.h"

#include <stdio.h>
#include <string.h>

/* Bytes of the UTF-8 sequence at `text` by the table of RFC 3629, section 4; 0 when there is none. */
static size_t utf8_bytes(const unsigned char *text, size_t bytes) {
    static const struct {
        unsigned char first_low, first_high, second_low, second_high;
        size_t bytes;
    } rows[] = {
        {0x00, 0x7F, 0, 0, 1},       {0xC2, 0xDF, 0x80, 0xBF, 2}, {0xE0, 0xE0, 0xA0, 0xBF, 3},
        {0xE1, 0xEC, 0x80, 0xBF, 3}, {0xED, 0xED, 0x80, 0x9F, 3}, {0xEE, 0xEF, 0x80, 0xBF, 3},
        {0xF0, 0xF0, 0x90, 0xBF, 4}, {0xF1, 0xF3, 0x80, 0xBF, 4}, {0xF4, 0xF4, 0x80, 0x8F, 4},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        if (text[0] < rows[i].first_low || text[0] > rows[i].first_high || bytes < rows[i].bytes) {
            continue;
        }
        if (rows[i].bytes > 1 && (text[1] < rows[i].second_low || text[1] > rows[i].second_high)) {
            return 0;
        }
        for (size_t k = 2; k < rows[i].bytes; k++) {
            if (text[k] < 0x80 || text[k] > 0xBF) {
                return 0;
            }
        }
        return rows[i].bytes;
    }
    return 0;
}

/* Whether `out` is NUL-terminated within its room, valid UTF-8, and holds no control character (C0, DEL, C1). */
static bool is_fit_for_a_log(const char *out) {
    size_t bytes = strnlen(out, LOG_TEXT_BYTES);
    for (size_t i = 0; i < bytes;) {
        const unsigned char *p = (const unsigned char *)out + i;
        size_t n = utf8_bytes(p, bytes - i);
        if (n == 0 || p[0] < 0x20 || p[0] == 0x7F || (p[0] == 0xC2 && p[1] < 0xA0)) {
            return false;
        }
        i += n;
    }
    return bytes < LOG_TEXT_BYTES;
}

static void test_log_text_escapes_what_is_no_text(void) {
    static const struct {
        const char *text;
        const char *expected;
    } rows[] = {
        {"", ""},
        {"a/b?v>5", "a/b?v>5"},
        {"a\tb\nc\rd", "a\\x09b\\x0ac\\x0dd"},
        {"\x1b[31mred", "\\x1b[31mred"},
        {"\x7f", "\\x7f"},
        {"a\\x41", "a\\x5cx41"}, /* what looks like an escape was none */
        {"gr\xC3\xBC\xC3\x9F", "gr\xC3\xBC\xC3\x9F"},
        {"\xE2\x82\xAC", "\xE2\x82\xAC"},
        {"\xF0\x9F\x98\x80", "\xF0\x9F\x98\x80"},
        {"\xF4\x8F\xBF\xBF", "\xF4\x8F\xBF\xBF"},
        {"\xC2\x80\xC2\x9F", "\\xc2\\x80\\xc2\\x9f"}, /* C1 controls */
        {"\xC2\xA0", "\xC2\xA0"},
        {"\xE2\x80\xA8\xE2\x80\xA9",
         "\\xe2\\x80\\xa8\\xe2\\x80\\xa9"}, /* line, paragraph separator */
        {"\xC3", "\\xc3"},                  /* cut */
        {"\xC3(", "\\xc3("},
        {"\x80", "\\x80"},
        {"\xC0\xAF", "\\xc0\\xaf"},                   /* over-long */
        {"\xE0\x80\xAF", "\\xe0\\x80\\xaf"},          /* over-long */
        {"\xE0\x9F\xBF", "\\xe0\\x9f\\xbf"},          /* over-long */
        {"\xF0\x80\x80\xAF", "\\xf0\\x80\\x80\\xaf"}, /* over-long */
        {"\xED\xA0\x80", "\\xed\\xa0\\x80"},          /* a surrogate */
        {"\xED\xBF\xBF", "\\xed\\xbf\\xbf"},          /* a surrogate */
        {"\xF4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"}, /* beyond U+10FFFF */
        {"\xF5\x80\x80\x80", "\\xf5\\x80\\x80\\x80"}, /* beyond U+10FFFF */
        {"\xF8\x88\x80\x80\x80", "\\xf8\\x88\\x80\\x80\\x80"},
        {"\xFF\xFE", "\\xff\\xfe"},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        char out[LOG_TEXT_BYTES];
        const char *result = log_text(out, rows[i].text, strlen(rows[i].text));
        CHECK(result == out, "row %zu", i);
        CHECK(strcmp(out, rows[i].expected) == 0, "row %zu: %s, expected %s", i, out,
              rows[i].expected);
    }
}

static void test_log_text_shows_a_nul(void) {
    char out[LOG_TEXT_BYTES];
    CHECK(strcmp(log_text(out, "a\0b", 3), "a\\x00b") == 0, "%s", out);
}

/* Characters of one to four bytes at every place relative to the end of the room. */
static void test_log_text_is_cut_between_characters(void) {
    static const struct {
        const char *character;
        const char *shown;
    } rows[] = {
        {"x", "x"},
        {"\xC3\xBC", "\xC3\xBC"},
        {"\xE2\x82\xAC", "\xE2\x82\xAC"},
        {"\xF0\x9F\x98\x80", "\xF0\x9F\x98\x80"},
        {"\n", "\\x0a"},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        for (size_t before = 0; before < 2 * LOG_TEXT_BYTES; before++) {
            char text[4 * LOG_TEXT_BYTES] = "";
            memset(text, 'a', before);
            text[before] = '\0';
            for (size_t k = 0; k < 30; k++) {
                strcat(text, rows[i].character);
            }
            char out[LOG_TEXT_BYTES + 1];
            memset(out, '#', sizeof out);
            log_text(out, text, strlen(text));
            REQUIRE(is_fit_for_a_log(out), "row %zu after %zu bytes: %s", i, before, out);
            CHECK(out[LOG_TEXT_BYTES] == '#', "row %zu after %zu bytes", i, before);

            size_t full = before + 30 * strlen(rows[i].shown);
            size_t bytes = strlen(out);
            bool cut = bytes >= 3 && strcmp(out + bytes - 3, "...") == 0;
            CHECK(cut == (bytes < full), "row %zu after %zu bytes: %s", i, before, out);
            CHECK(cut || bytes == full, "row %zu after %zu bytes: %s", i, before, out);
            /* no more is cut off than the dots and a part of one character take */
            CHECK(!cut || bytes + 4 >= LOG_TEXT_BYTES - 1, "row %zu after %zu bytes: %zu", i,
                  before, bytes);
        }
    }
}

static void test_log_text_survives_random_bytes(void) {
    uint64_t state = test_seed();
    static const unsigned char leads[] = {0xC2, 0xE0, 0xE2, 0xED, 0xF0,
                                          0xF4, 0x80, 0x9F, 0xA0, 0xBF};
    size_t n_steps = test_long() ? 2000000 : 100000;
    for (size_t step = 0; step < n_steps; step++) {
        unsigned char text[300];
        size_t bytes = test_random(&state) % sizeof text;
        for (size_t i = 0; i < bytes; i++) {
            uint64_t number = test_random(&state);
            text[i] = number % 3 == 0 ? (unsigned char)(number >> 8)
                                      : leads[(number >> 8) % N_ROWS(leads)];
        }
        char out[LOG_TEXT_BYTES];
        log_text(out, (const char *)text, bytes);
        REQUIRE(is_fit_for_a_log(out), "step %zu: %s", step, out);
    }
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        TEST(test_log_text_escapes_what_is_no_text),
        TEST(test_log_text_shows_a_nul),
        TEST(test_log_text_is_cut_between_characters),
        TEST(test_log_text_survives_random_bytes),
    };
    return run_tests(argc, argv, cases, N_ROWS(cases));
}
