/* SPDX-License-Identifier: BSD-3-Clause
 *
 * mosquitto_filter match --jsonl: one word a line, clear errors, no growth.
 */
#include "cli_runner.h"
#include "runner.h"

#include <stdlib.h>
#include <string.h>

/* `err` as cli_is_expected takes it. */
static const struct row {
    const char *what;
    const char *input;
    int exit_code;
    const char *out;
    const char *err;
} rows[] = {
    /* clang-format off */
    {"no lines", "", 0, "", ""},
    {"the three answers",
     "{\"expr\": \"a=1\", \"props\": [[\"a\", \"1\"]]}\n"
     "{\"expr\": \"a=1\", \"props\": [[\"a\", \"2\"]]}\n"
     "{\"expr\": \"a==1\", \"props\": []}\n", 0, "match\nnomatch\ninvalid\n", ""},
    {"the last line without an end", "{\"expr\": \"a=1\", \"props\": [[\"a\", \"1\"]]}", 0, "match\n", ""},
    {"carriage returns", "{\"expr\": \"a=1\", \"props\": [[\"a\", \"1\"]]}\r\n", 0, "match\n", ""},
    {"all attributes",
     "{\"expr\": \"sql:$topic = 'a' AND $qos = 2 AND $retain AND $payload_bytes = 7 AND $content_type = 'c'"
     " AND $response_topic = 'r'\", \"props\": [], \"attrs\": {\"$topic\": \"a\", \"$qos\": 2, \"$retain\": true,"
     " \"$payload_bytes\": 7, \"$content_type\": \"c\", \"$response_topic\": \"r\"}}\n", 0, "match\n", ""},
    {"attributes do not last",
     "{\"expr\": \"sql:$qos = 1\", \"props\": [], \"attrs\": {\"$qos\": 1}}\n"
     "{\"expr\": \"sql:$qos IS NULL\", \"props\": []}\n", 0, "match\nmatch\n", ""},
    {"other members are ignored", "{\"id\": 7, \"expr\": \"a=1\", \"props\": [], \"expect\": \"match\"}\n", 0, "nomatch\n", ""},
    {"a repeated name: the last one for sql, any for kv",
     "{\"expr\": \"sql:a = '1'\", \"props\": [[\"a\", \"1\"], [\"a\", \"2\"]]}\n"
     "{\"expr\": \"a=1\", \"props\": [[\"a\", \"1\"], [\"a\", \"2\"]]}\n", 0, "nomatch\nmatch\n", ""},
    {"NUL in a value", "{\"expr\": \"a=1\", \"props\": [[\"a\", \"1\\u0000\"]]}\n", 0, "nomatch\n", ""},
    {"NUL in a name", "{\"expr\": \"a=1\", \"props\": [[\"a\\u0000\", \"1\"]]}\n", 0, "nomatch\n", ""},
    {"NUL in an expression", "{\"expr\": \"a=1\\u0000\", \"props\": [[\"a\", \"1\"]]}\n", 0, "invalid\n", ""},
    {"same start, different expression",
     "{\"expr\": \"a=1\", \"props\": [[\"a\", \"11\"]]}\n"
     "{\"expr\": \"a=11\", \"props\": [[\"a\", \"11\"]]}\n", 0, "nomatch\nmatch\n", ""},

    {"not JSON, after a good line",
     "{\"expr\": \"a=1\", \"props\": []}\n"
     "{\"expr\": \"a=1\", \"props\": []\n"
     "{\"expr\": \"a=1\", \"props\": []}\n", 65, "nomatch\n", "...mosquitto_filter: line 2: column "},
    {"an empty line", "\n", 65, "", "...line 1: column "},
    {"two values in a line", "{} {}\n", 65, "", "...line 1: column "},
    {"not UTF-8", "{\"expr\": \"\xFF\", \"props\": []}\n", 65, "", "...line 1: column "},
    {"not an object", "[1, 2]\n", 65, "", "mosquitto_filter: line 1: not an object\n"},
    {"a number", "5\n", 65, "", "mosquitto_filter: line 1: not an object\n"},
    {"no expr", "{\"props\": []}\n", 65, "", "mosquitto_filter: line 1: expr must be a string\n"},
    {"expr of a wrong type", "{\"expr\": 5, \"props\": []}\n", 65, "", "mosquitto_filter: line 1: expr must be a string\n"},
    {"expr twice", "{\"expr\": \"a=1\", \"expr\": \"a=2\", \"props\": []}\n", 65, "", "...line 1: column "},
    {"no props", "{\"expr\": \"a=1\"}\n", 65, "", "mosquitto_filter: line 1: props must be a list of pairs\n"},
    {"props of a wrong type", "{\"expr\": \"a=1\", \"props\": {\"a\": \"1\"}}\n", 65, "",
     "mosquitto_filter: line 1: props must be a list of pairs\n"},
    {"a pair of three", "{\"expr\": \"a=1\", \"props\": [[\"a\", \"1\"], [\"a\", \"1\", \"2\"]]}\n", 65, "",
     "mosquitto_filter: line 1: props[1] is not a pair of strings\n"},
    {"a number as value", "{\"expr\": \"a=1\", \"props\": [[\"a\", 1]]}\n", 65, "",
     "mosquitto_filter: line 1: props[0] is not a pair of strings\n"},
    {"a pair that is none", "{\"expr\": \"a=1\", \"props\": [\"ab\"]}\n", 65, "",
     "mosquitto_filter: line 1: props[0] is not a pair of strings\n"},
    {"wrong also where the filter is invalid", "{\"expr\": \"a==1\", \"props\": [5]}\n", 65, "",
     "mosquitto_filter: line 1: props[0] is not a pair of strings\n"},
    {"attrs of a wrong type", "{\"expr\": \"a=1\", \"props\": [], \"attrs\": []}\n", 65, "",
     "mosquitto_filter: line 1: attrs must be an object\n"},
    {"an unknown attribute", "{\"expr\": \"a=1\", \"props\": [], \"attrs\": {\"qos\": 1}}\n", 65, "",
     "mosquitto_filter: line 1: attrs: there is no attribute 'qos'\n"},
    {"an attribute name that a terminal would obey", "{\"expr\": \"a=1\", \"props\": [], \"attrs\": {\"\\u001b[2J\": 1}}\n",
     65, "", "mosquitto_filter: line 1: attrs: there is no attribute '<U+001B>[2J'\n"},
    {"qos out of range", "{\"expr\": \"a=1\", \"props\": [], \"attrs\": {\"$qos\": 3}}\n", 65, "",
     "mosquitto_filter: line 1: attrs: $qos must be 0, 1 or 2\n"},
    {"qos as text", "{\"expr\": \"a=1\", \"props\": [], \"attrs\": {\"$qos\": \"1\"}}\n", 65, "",
     "mosquitto_filter: line 1: attrs: $qos must be 0, 1 or 2\n"},
    {"qos as a real", "{\"expr\": \"a=1\", \"props\": [], \"attrs\": {\"$qos\": 1.0}}\n", 65, "",
     "mosquitto_filter: line 1: attrs: $qos must be 0, 1 or 2\n"},
    {"retain as a number", "{\"expr\": \"a=1\", \"props\": [], \"attrs\": {\"$retain\": 1}}\n", 65, "",
     "mosquitto_filter: line 1: attrs: $retain must be true or false\n"},
    {"a negative length", "{\"expr\": \"a=1\", \"props\": [], \"attrs\": {\"$payload_bytes\": -1}}\n", 65, "",
     "mosquitto_filter: line 1: attrs: $payload_bytes must be a number of bytes\n"},
    {"an integer beyond 64 bits", "{\"expr\": \"a=1\", \"props\": [], \"attrs\": {\"$payload_bytes\": 9223372036854775808}}\n",
     65, "", "...line 1: column "},
    {"topic as null", "{\"expr\": \"a=1\", \"props\": [], \"attrs\": {\"$topic\": null}}\n", 65, "",
     "mosquitto_filter: line 1: attrs: $topic must be a text\n"},
    /* clang-format on */
};

static void test_each_line_is_answered_or_named(void) {
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        const struct row *row = &rows[i];
        struct cli_call call = {.arguments = {"match", "--jsonl"}, .input = row->input};
        struct cli_result result;
        REQUIRE(cli_run(&call, &result), "%s", row->what);
        CHECK(result.exit_code == row->exit_code, "%s: exit code %d, not %d", row->what,
              result.exit_code, row->exit_code);
        CHECK(strcmp(result.out, row->out) == 0, "%s: standard output:\n%s", row->what, result.out);
        CHECK(cli_is_expected(result.err, row->err), "%s: standard error:\n%s", row->what,
              result.err);
        cli_result_free(&result);
    }
}

static void test_a_raw_nul_is_an_error(void) {
    static const char input[] = "{\"expr\": \"a=1\", \0\"props\": []}\n";
    struct cli_call call = {
        .arguments = {"match", "--jsonl"}, .input = input, .input_bytes = sizeof input - 1};
    struct cli_result result;
    REQUIRE(cli_run(&call, &result), "cannot be run");
    CHECK(result.exit_code == 65, "exit code %d", result.exit_code);
    CHECK(strstr(result.err, "line 1: column "), "%s", result.err);
    cli_result_free(&result);
}

static void test_input_that_cannot_be_read_is_an_error(void) {
    struct cli_call call = {.arguments = {"match", "--jsonl"}, .input_path = "/"};
    struct cli_result result;
    REQUIRE(cli_run(&call, &result), "cannot be run");
    CHECK(result.exit_code == 74, "exit code %d", result.exit_code);
    CHECK(strstr(result.err, "mosquitto_filter: line 1: "), "%s", result.err);
    cli_result_free(&result);
}

/* ---- size ---- */

enum { LONG_BYTES = 8 << 20 };

static void feed_long_line(FILE *to) {
    fputs("{\"expr\": \"sql:a ENDSWITH 'xyz'\", \"props\": [[\"a\", \"", to);
    for (size_t i = 0; i < LONG_BYTES; i++) {
        fputc('x', to);
    }
    fputs("yz\"]]}\n", to);
}

static void test_a_line_of_any_length(void) {
    struct cli_result result;
    REQUIRE(cli_run(&(struct cli_call){.arguments = {"match", "--jsonl"}, .feed = feed_long_line},
                    &result),
            "cannot be run");
    CHECK(result.exit_code == 0, "exit code %d: %s", result.exit_code, result.err);
    CHECK(strcmp(result.out, "match\n") == 0, "%s", result.out);
    cli_result_free(&result);
}

/* Lines with ever new expressions and names, and expressions that come back: the tables inside fill up and turn over. */
static void feed_lines(FILE *to, unsigned n_lines) {
    for (unsigned i = 0; i < n_lines; i++) {
        unsigned n = i % 8 == 0 ? i : i % 50;
        fprintf(to,
                "{\"expr\": \"name%u=%u&value>25\", \"props\": [[\"name%u\", \"%u\"], [\"value\", "
                "\"%u\"]]}\n",
                n, n, n, n, i % 3 == 0 ? 26 : 24);
    }
}

enum { FEW = 10000, MANY = 1000000 };

static void feed_few(FILE *to) {
    feed_lines(to, FEW);
}

static void feed_many(FILE *to) {
    feed_lines(to, MANY);
}

/* The lines of `text` that are `word`. (Not by strstr: a sanitizer measures all of the text in each call.) */
static size_t count_lines(const char *text, size_t bytes, const char *word) {
    size_t word_bytes = strlen(word);
    size_t n = 0;
    for (size_t start = 0, at = 0; at < bytes; at++) {
        if (text[at] == '\n') {
            n += at - start == word_bytes && memcmp(text + start, word, word_bytes) == 0;
            start = at + 1;
        }
    }
    return n;
}

static void test_a_million_lines_need_no_more_memory_than_few(void) {
    struct cli_call call = {.arguments = {"match", "--jsonl"}, .feed = feed_few};
    struct cli_result few;
    struct cli_result many;
    REQUIRE(cli_run(&call, &few), "cannot be run");
    call.feed = feed_many;
    REQUIRE(cli_run(&call, &many), "cannot be run");
    CHECK(few.exit_code == 0 && many.exit_code == 0, "exit codes %d and %d: %s", few.exit_code,
          many.exit_code, many.err);
    size_t no = count_lines(many.out, many.out_bytes, "nomatch");
    size_t yes = count_lines(many.out, many.out_bytes, "match");
    CHECK(yes == (MANY + 2) / 3 && yes + no == MANY, "%zu match, %zu do not", yes, no);
    /* Far less than a byte a line. */
    CHECK(many.max_rss_kib <= few.max_rss_kib + 512, "%ld KiB, and %ld KiB for few lines",
          many.max_rss_kib, few.max_rss_kib);
    test_note("%ld KiB for %d lines, %ld KiB for %d", few.max_rss_kib, FEW, many.max_rss_kib, MANY);
    cli_result_free(&few);
    cli_result_free(&many);
}

/* AddressSanitizer keeps what was freed for a while: little of it here, or all growth would be hidden. */
static void keep_quarantine_small(void) {
    const char *given = getenv("ASAN_OPTIONS");
    char options[512];
    snprintf(options, sizeof options, "%s%squarantine_size_mb=1", given ? given : "",
             given ? ":" : "");
    setenv("ASAN_OPTIONS", options, 1);
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        TEST(test_each_line_is_answered_or_named),
        TEST(test_a_raw_nul_is_an_error),
        TEST(test_input_that_cannot_be_read_is_an_error),
        TEST(test_a_line_of_any_length),
        TEST(test_a_million_lines_need_no_more_memory_than_few),
    };
    keep_quarantine_small();
    return run_tests(argc, argv, cases, N_ROWS(cases));
}
