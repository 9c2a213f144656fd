/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The caret under an error: it must stand below the spot whatever stands before it.
 */
#include "cli.h"
#include "runner.h"

#include <stdlib.h>
#include <string.h>

/* Text, and blanks, of so many columns. */
#define X10 "xxxxxxxxxx"
#define X30 X10 X10 X10
#define X40 X30 X10
#define X70 X40 X30
#define X72 X70 "xx"
#define S10 "          "
#define S40 S10 S10 S10 S10
#define S70 S40 S10 S10 S10

static const struct row {
    const char *what;
    const char *text;
    size_t bytes; /* 0: up to the NUL */
    size_t offset;
    size_t length;
    const char *expected;
} rows[] = {
    /* clang-format off */
    {"plain", "a > 'abc'", 0, 4, 5,
     "  a > 'abc'\n"
     "      ^~~~~\n"},
    {"one byte", "a==5", 0, 1, 1,
     "  a==5\n"
     "   ^\n"},
    {"the end", "a = ", 0, 4, 0,
     "  a = \n"
     "      ^\n"},
    {"nothing at all", "", 0, 0, 0,
     "  \n"
     "  ^\n"},
    {"two bytes, one column", "é > 'x'", 0, 5, 3,
     "  é > 'x'\n"
     "      ^~~\n"},
    {"three bytes, two columns", "温度 > 'x'", 0, 9, 3,
     "  温度 > 'x'\n"
     "         ^~~\n"},
    {"the wide character itself", "a温b", 0, 1, 3,
     "  a温b\n"
     "   ^~\n"},
    {"inside of a wide character", "a温b", 0, 2, 1,
     "  a温b\n"
     "   ^~\n"},
    {"a combining character", "e\xCC\x81 > 'x'", 0, 6, 3,
     "  e\xCC\x81 > 'x'\n"
     "      ^~~\n"},
    {"a tab", "a\t> 'x'", 0, 4, 3,
     "  a<U+0009>> 'x'\n"
     "             ^~~\n"},
    {"an escape sequence", "\x1B[31m=1", 0, 5, 1,
     "  <U+001B>[31m=1\n"
     "              ^\n"},
    {"a NUL", "a\0=1", 4, 1, 1,
     "  a<U+0000>=1\n"
     "   ^~~~~~~~\n"},
    {"a control character of two bytes", "a\xC2\x85=1", 0, 3, 1,
     "  a<U+0085>=1\n"
     "           ^\n"},
    {"not UTF-8", "a\xFF\xFE=1", 0, 1, 2,
     "  a\\xff\\xfe=1\n"
     "   ^~~~~~~~\n"},
    {"cut short by the end", "a\xE6\xB8", 0, 1, 1,
     "  a\\xe6\\xb8\n"
     "   ^~~~\n"},
    {"text that runs from right to left by an override", "a\xE2\x80\xAE=1", 0, 4, 1,
     "  a<U+202E>=1\n"
     "           ^\n"},
    {"a space that is no blank", "v>\xC2\xA0""5", 0, 2, 2,
     "  v><U+00A0>5\n"
     "    ^~~~~~~~\n"},
    {"the last byte of what cannot be seen", "a\xE2\x80\x8B=1", 0, 3, 1,
     "  a<U+200B>=1\n"
     "   ^~~~~~~~\n"},
    {"the longest name", "a\xF4\x8F\xBF\xBF=1", 0, 5, 1,
     "  a<U+10FFFF>=1\n"
     "             ^\n"},
    {"as long as the window", X72, 0, 71, 1,
     "  " X72 "\n"
     "  " S70 " ^\n"},
    {"the start of a long text", X72 X30, 0, 0, 2,
     "  " X72 "...\n"
     "  ^~\n"},
    {"the middle of a long text", X72 "!?" X72, 0, 72, 2,
     "  ..." X40 "!?" X30 "...\n"
     "     " S40 "^~\n"},
    {"the end of a long text", X72 X30 "!", 0, 103, 0,
     "  ..." X70 "x!\n"
     "     " S70 "  ^\n"},
    {"a spot that is longer than the window", X72 X72, 0, 50, 90,
     "  ..." X72 "...\n"
     "     " S40 "^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~\n"},
    /* clang-format on */
};

static void test_the_caret_stands_under_the_spot(void) {
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        const struct row *row = &rows[i];
        char *actual = NULL;
        size_t actual_bytes = 0;
        FILE *out = open_memstream(&actual, &actual_bytes);
        REQUIRE(out, "out of memory");
        text_print_spot(out, row->text, row->bytes > 0 ? row->bytes : strlen(row->text),
                        row->offset, row->length);
        fclose(out);
        CHECK(strcmp(actual, row->expected) == 0, "%s:\n%sinstead of\n%s", row->what, actual,
              row->expected);
        free(actual);
    }
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        TEST(test_the_caret_stands_under_the_spot),
    };
    text_init();
    return run_tests(argc, argv, cases, N_ROWS(cases));
}
