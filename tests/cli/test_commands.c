/* SPDX-License-Identifier: BSD-3-Clause
 *
 * mosquitto_filter, run as its users run it: what is printed where, and the exit code.
 */
#include "cli_runner.h"
#include "runner.h"

#include <stdlib.h>
#include <string.h>

#define SLASHES_10 "//////////"
#define SLASHES_100                                                                                \
    SLASHES_10 SLASHES_10 SLASHES_10 SLASHES_10 SLASHES_10 SLASHES_10 SLASHES_10 SLASHES_10        \
        SLASHES_10 SLASHES_10

/* One run; `out` and `err` as cli_is_expected takes them. */
struct row {
    const char *arguments[CLI_MAX_ARGUMENTS];
    int exit_code;
    const char *out;
    const char *err;
    const char *input;
};

static void join(const char *const *arguments, char *out, size_t bytes) {
    size_t used = 0;
    for (size_t i = 0; i < CLI_MAX_ARGUMENTS && arguments[i] && used < bytes; i++) {
        int n = snprintf(out + used, bytes - used, "%s%.200s", i > 0 ? " " : "", arguments[i]);
        used += n < 0 ? 0 : (size_t)n;
    }
}

static void check_rows(const struct row *rows, size_t n_rows) {
    for (size_t i = 0; i < n_rows; i++) {
        const struct row *row = &rows[i];
        struct cli_call call = {.input = row->input};
        struct cli_result result;
        char name[600];
        memcpy(call.arguments, row->arguments, sizeof call.arguments);
        join(row->arguments, name, sizeof name);
        REQUIRE(cli_run(&call, &result), "%s: cannot be run", name);
        CHECK(result.exit_code == row->exit_code, "%s: exit code %d, not %d", name,
              result.exit_code, row->exit_code);
        CHECK(cli_is_expected(result.out, row->out), "%s: standard output:\n%s", name, result.out);
        CHECK(cli_is_expected(result.err, row->err), "%s: standard error:\n%s", name, result.err);
        cli_result_free(&result);
    }
}

/* clang-format off */

static void test_check_of_an_expression(void) {
    static const struct row rows[] = {
        {{"check", "location=roomA&value>25"}, 0, "valid\n"},
        {{"check", "sql:amount > 100 AND region = 'BEIJING'"}, 0, "valid\n"},
        {{"check", "tag:PAID||SHIPPED"}, 0, "valid\n"},
        {{"check", "sql:a > 'abc'"}, 1, NULL,
         "mosquitto_filter: kind at offset 8: 'abc' is a string; > compares numbers only\n"
         "  sql:a > 'abc'\n"
         "          ^~~~~\n"},
        {{"check", ""}, 1, NULL, "...mosquitto_filter: empty at offset 0: "},
        {{"check", "a==5"}, 1, NULL, "...\n  a==5\n    ^\n"},
        {{"check", "温度>warm"}, 1, NULL, "...\n  温度>warm\n       ^~~~\n"},
        {{"check", "v>\u200b5"}, 1, NULL,
         "mosquitto_filter: number at offset 2: \"<U+200B>5\" is not a number; > compares numbers only\n"
         "  v><U+200B>5\n"
         "    ^~~~~~~~~\n"},
        {{"check", "a\tb>x"}, 1, NULL, "...\n  a<U+0009>b>x\n             ^\n"},
        /* An expression may begin with a dash, after --. */
        {{"check", "--", "-a=1"}, 0, "valid\n"},
        {{"check", "--", "--jsonl=1"}, 0, "valid\n"},
    };
    check_rows(rows, N_ROWS(rows));
}

static void test_check_of_a_subscription(void) {
    static const struct row rows[] = {
        {{"check", "--subscription", "a/%2B?x=1"}, 0, "valid\n"},
        {{"check", "--subscription", "a/b"}, 0, "valid, without a filter\n"},
        {{"check", "--subscription", "a/b?"}, 1, NULL, "...empty at offset 4: "},
        {{"check", "--subscription", "t?sql:a > 'abc'"}, 1, NULL,
         "mosquitto_filter: kind at offset 10: 'abc' is a string; > compares numbers only\n"
         "  t?sql:a > 'abc'\n"
         "            ^~~~~\n"},
        {{"check", "--subscription", "a/%23/b?x=1"}, 1, NULL, "...mosquitto_filter: topic at offset 2: "},
        {{"check", "--subscription", "$share/g/?x=1"}, 1, NULL, "...mosquitto_filter: topic at offset "},
        {{"check", "--subscription", "?x=1"}, 1, NULL, "...mosquitto_filter: topic at offset 0: "},
        /* What no client can send. */
        {{"check", "--subscription", "sensor/+?v>25"}, 1, NULL,
         "mosquitto_filter: topic at offset 7: a + that is not a whole level ends the connection; write %2B\n"
         "  sensor/+?v>25\n"
         "         ^\n"},
        {{"check", "--subscription", "t?colour=#ff0000"}, 1, NULL, "...topic at offset 9: a # that is not the last level"},
        {{"check", "--subscription", "home/#?a=1"}, 1, NULL, "...topic at offset 5: "},
        {{"check", "--subscription", "t?sql:a + 1 > b"}, 1, NULL, "...topic at offset 8: "},
        {{"check", "--subscription", "t?a=b\tc"}, 1, NULL, "...topic at offset 5: a control character"},
        {{"check", "--subscription", "t?a=\xC2\x85"}, 1, NULL, "...topic at offset 4: a control character"},
        {{"check", "--subscription", "t?a=\xEF\xBF\xBF"}, 1, NULL, "...topic at offset 4: a code point that is no character"},
        {{"check", "--subscription", "t\xFF"}, 1, NULL, "...topic at offset 1: what is not UTF-8"},
        {{"check", "--subscription", "t?a=%C2%85"}, 0, "valid\n"},
        {{"check", "--subscription", "t" SLASHES_100 SLASHES_100}, 0, "valid, without a filter\n"},
        {{"check", "--subscription", "t" SLASHES_100 "?a=" SLASHES_100}, 0, "valid\n"},
        {{"check", "--subscription", "t" SLASHES_100 "?a=" SLASHES_100 "/"}, 1, NULL,
         "...topic at offset 204: more than 200 slashes"},
        {{"check", "--subscription", "+/+?a=/+/b"}, 1, NULL, "...topic at offset 2: "},
        {{"check", "--subscription", ""}, 1, NULL, "...topic at offset 0: "},
        /* An escape is advised where it helps. */
        {{"check", "--subscription", "sensor/+x"}, 1, NULL, "...ends the connection\n"},
        {{"check", "--subscription", "a/#/b"}, 1, NULL, "...ends the connection\n"},
        {{"check", "--subscription", "a/#/b?x=1"}, 1, NULL, "...ends the connection\n"},
        {{"check", "--subscription", "a/#?x=1"}, 1, NULL, "...write %23\n"},
        {{"check", "--subscription", "+?x=1"}, 1, NULL, "...write %2B\n"},
        {{"check", "--subscription", "a?x=+"}, 1, NULL, "...write %2B\n"},
        {{"check", "--subscription", "+/a?a=/+/b"}, 0, "valid\n"},
        {{"check", "--subscription", "a/+"}, 0, "valid, without a filter\n"},
        {{"check", "--subscription", "a/#"}, 0, "valid, without a filter\n"},
        /* What most likely was meant as one, says so. */
        {{"check", "a/b?x=1"}, 0, "valid\n", "...note: "},
        {{"check", "a/b?sql:x = 'y'"}, 0, "valid\n", "...--subscription"},
        {{"check", "x=1?2"}, 0, "valid\n"},
        {{"check", "sql:x ? 1"}, 1, NULL, "...syntax at offset 6: "},
    };
    check_rows(rows, N_ROWS(rows));
}

/* Valid, and hardly what was meant. */
static void test_check_notes_slips(void) {
    static const struct row rows[] = {
        {{"check", "sql:region = \"EU\""}, 0, "valid\n",
         "mosquitto_filter: note: \"EU\" is the property of that name; a text is written 'EU'\n"},
        {{"check", "sql:\"my key\" = 'x'"}, 0, "valid\n"},
        {{"check", "sql:a = '\"x\"'"}, 0, "valid\n"},
        {{"check", "sql:a = 'it''s \"x\"'"}, 0, "valid\n"},
        {{"check", "region='EU'"}, 0, "valid\n",
         "mosquitto_filter: note: the quotes belong to the value 'EU'; in key=value texts have none\n"},
        {{"check", "a=1&region=\"EU\"&b=2"}, 0, "valid\n", "...the value \"EU\";"},
        {{"check", "a='"}, 0, "valid\n"},
        {{"check", "a=it's 'x'"}, 0, "valid\n"},
        {{"check", "sq:a=1"}, 0, "valid\n", "...with the key \"sq:a\"; sql: in front"},
        {{"check", "SQL a=1"}, 0, "valid\n", "...with the key \"SQL a\"; sql: in front"},
        {{"check", "room and value=1"}, 0, "valid\n", "...the blanks belong to the key"},
        {{"check", "tag:A|B"}, 0, "valid\n", "...only || separates tags"},
        {{"check", "tag:A,B"}, 0, "valid\n", "...only || separates tags"},
        {{"check", "tag:A OR B"}, 0, "valid\n", "...only || separates tags"},
        {{"check", "tag:A||B"}, 0, "valid\n"},
        {{"check", "a=x\u200by"}, 0, "valid\n", "...note: <U+200B> at offset 3 cannot be seen"},
        {{"check", "--subscription", "t?a=x\u200by"}, 0, "valid\n", "...<U+200B> at offset 3 "},
        {{"check", "a=温度"}, 0, "valid\n"},
    };
    check_rows(rows, N_ROWS(rows));
}

static void test_options_change_the_language(void) {
    static const struct row rows[] = {
        {{"match", "tag:PAID", "TAGS=PAID"}, 0, "...match\n"},
        {{"match", "--tag-key", "STATE", "tag:PAID", "STATE=PAID"}, 0, "...match\n"},
        {{"match", "--tag-key=STATE", "tag:PAID", "TAGS=PAID"}, 1, "...nomatch\n"},
        {{"match", "sql:a = 5", "a=5.0"}, 0, "...match\n"},
        {{"match", "--strict-integers", "sql:a = 5", "a=5.0"}, 1, "...nomatch\n"},
        {{"check", "--dialects", "kv,tag", "sql:a = 5"}, 1, NULL, "...dialect at offset 0: "},
        {{"check", "--dialects", "sql", "a=5"}, 1, NULL, "...dialect at offset 0: "},
        {{"check", "--dialects", "sql,kv", "a=5"}, 0, "valid\n"},
        {{"check", "--max-expression-bytes", "3", "a=5"}, 0, "valid\n"},
        {{"check", "--max-expression-bytes", "3", "a=55"}, 1, NULL, "...limit at offset "},
    };
    check_rows(rows, N_ROWS(rows));
}

static void test_match(void) {
    static const struct row rows[] = {
        {{"match", "location=roomA&value>25", "location=roomA", "value=26.5"}, 0, "...match\n"},
        {{"match", "location=roomA&value>25", "location=roomA", "value=25"}, 1, "...nomatch\n"},
        {{"match", "value>25", "location=roomA"}, 1, "...value"},
        {{"match", "sql:a IS NULL"}, 0, "...match\n"},
        {{"match", "sql:TRUE", "a="}, 0, "...match\n"},
        {{"match", "a=b%3Dc", "a=b=c"}, 0, "...match\n"},
        {{"match", "sql:a > 'abc'", "a=1"}, 2, NULL, "...kind at offset 8: "},
        {{"match", "--subscription", "t?a=1", "a=1"}, 0, "...match\n"},
        {{"match", "--subscription", "t/%23/x?a=1", "a=1"}, 2, NULL, "...topic at offset 2: "},
        {{"match", "--subscription", "t", "a=1"}, 0, "match\nno filter: every message on the topic is delivered\n"},
        {{"match", "a=1", "a"}, 64, NULL, "...'a' is not a property: NAME=VALUE is expected\n"},
    };
    check_rows(rows, N_ROWS(rows));
}

static void test_match_with_attributes(void) {
    static const struct row rows[] = {
        {{"match", "sql:$qos = 1", "--attr", "$qos=1"}, 0, "...match\n"},
        {{"match", "sql:$qos = 1", "--attr", "qos=1"}, 0, "...match\n"},
        {{"match", "sql:$qos = 1", "--attr", "qos=2", "--attr", "qos=1"}, 0, "...match\n"},
        {{"match", "sql:$qos = 1", "$qos=1"}, 1, "...nomatch\n"},
        {{"match", "sql:\"$qos\" = '1'", "$qos=1"}, 0, "...match\n"},
        {{"match", "sql:$topic = 'a/b' AND $retain AND $payload_bytes = 9223372036854775807", "--attr", "topic=a/b",
          "--attr", "retain=true", "--attr", "payload_bytes=9223372036854775807"}, 0, "...match\n"},
        {{"match", "sql:$retain", "--attr", "retain=false"}, 1, "...nomatch\n"},
        {{"match", "sql:$content_type = 'a' AND $response_topic = ''", "--attr", "content_type=a",
          "--attr", "response_topic="}, 0, "...match\n"},
        {{"match", "a=1", "--attr", "qos=3"}, 64, NULL, "...--attr '$qos=3': 0, 1 or 2 is expected\n"},
        {{"match", "a=1", "--attr", "qos="}, 64, NULL, "...0, 1 or 2 is expected\n"},
        {{"match", "a=1", "--attr", "qos=1x"}, 64, NULL, "...0, 1 or 2 is expected\n"},
        {{"match", "a=1", "--attr", "retain=yes"}, 64, NULL, "...true or false is expected\n"},
        {{"match", "a=1", "--attr", "payload_bytes=-1"}, 64, NULL, "...a number of bytes is expected\n"},
        {{"match", "a=1", "--attr", "payload_bytes=9223372036854775808"}, 64, NULL, "...a number of bytes"},
        {{"match", "a=1", "--attr", "size=1"}, 64, NULL, "...--attr: 'size=1' is not "},
        {{"match", "a=1", "--attr", "qos"}, 64, NULL, "...--attr: 'qos' is not "},
    };
    check_rows(rows, N_ROWS(rows));
}

static void test_explain(void) {
    static const struct row rows[] = {
        {{"explain", "sql:amount > 100 AND region = 'BEIJING'"}, 0, "...dialect     sql\nreads       amount, region\ntree\n"},
        {{"explain", "location=roomA&value>25"}, 0, "...dialect     kv\nreads       location, value\ntree\n"},
        {{"explain", "tag:A||B"}, 0, "...reads       TAGS\n"},
        {{"explain", "sql:TRUE"}, 0, "...reads       no properties\n"},
        {{"explain", "sql:TRUE"}, 0, "...\nprogram\n"},
        {{"explain", "--subscription", "a/b?x=1"}, 0, "...canonical   kv:x=1\n"},
        {{"explain", "--subscription", "a/b"}, 0, "no filter: every message on the topic is delivered\n"},
        {{"explain", "sql:a >"}, 1, NULL, "...empty at offset 7: "},
        /* What came in escaped does not reach the terminal as it is. */
        {{"explain", "a%1Bb=1"}, 0, "...reads       a<U+001B>b\n"},
    };
    check_rows(rows, N_ROWS(rows));
}

static void test_split(void) {
    static const struct row rows[] = {
        {{"split", "sensor/%2B?sql:value  >  25"}, 0,
         "topic       sensor/+\n"
         "dialect     sql\n"
         "expression  value  >  25\n"
         "canonical   sql:value > 25\n"},
        {{"split", "$share/workers/orders/%2B?region=EU"}, 0,
         "topic       orders/+\n"
         "group       workers\n"
         "dialect     kv\n"
         "expression  region=EU\n"
         "canonical   kv:region=EU\n"},
        {{"split", "a%23b"}, 0, "topic       a%23b\nno filter: every message on the topic is delivered\n"},
        {{"split", "a/b?sql:x = "}, 1, "topic       a/b\ndialect     sql\nexpression  x = \n", "...empty at offset 12: "},
        {{"split", "a/%23/b?x=1"}, 1, NULL, "...topic at offset 2: "},
        {{"split", "a/#?x=1"}, 1, NULL, "...topic at offset 2: "},
        {{"split", "?x=1"}, 1, NULL, "...topic at offset 0: "},
    };
    check_rows(rows, N_ROWS(rows));
}

static void test_help_and_version(void) {
    static const struct row rows[] = {
        {{"--help"}, 0, "...usage: mosquitto_filter check "},
        {{"match", "--help", "nonsense"}, 0, "...Exit status: "},
        {{"--version"}, 0, "...mosquitto_filter "},
    };
    check_rows(rows, N_ROWS(rows));
}

static void test_wrong_usage(void) {
    static const struct row rows[] = {
        {{NULL}, 64, NULL, "...a command is missing\nusage: "},
        {{"chekc", "a=1"}, 64, NULL, "...'chekc' is no command\nusage: "},
        {{"\x1B[2J", "a=1"}, 64, NULL, "...'<U+001B>[2J' is no command\nusage: "},
        {{"check"}, 64, NULL, "...check: an expression is missing\n"},
        {{"check", "sql:a", ">", "5"}, 64, NULL, "...check: too many arguments; an expression with blanks needs quotes\n"},
        {{"explain", "a=1", "b=1"}, 64, NULL, "...explain: too many arguments"},
        {{"split", "a?b=1", "c"}, 64, NULL, "...split: too many arguments"},
        {{"match"}, 64, NULL, "...match: an expression is missing\n"},
        {{"check", "--attr", "qos=1", "a=1"}, 64, NULL, "...--attr goes with match only\n"},
        {{"check", "--jsonl"}, 64, NULL, "...--jsonl goes with match only\n"},
        {{"match", "--jsonl", "a=1"}, 64, NULL, "...--jsonl reads expression, properties"},
        {{"match", "--jsonl", "--attr", "qos=1"}, 64, NULL, "...--jsonl reads expression, properties"},
        {{"check", "--nonsense", "a=1"}, 64, NULL, "...--nonsense"},
        {{"check", "a=1", "--tag-key"}, 64, NULL, "...requires an argument"},
        {{"check", "--tag-key", "", "a=1"}, 64, NULL, "...--tag-key: the name is empty\n"},
        {{"check", "--dialects", "", "a=1"}, 64, NULL, "...--dialects: '' is none of kv, sql, tag\n"},
        {{"check", "--dialects", "kv,", "a=1"}, 64, NULL, "...--dialects: '' is none of kv, sql, tag\n"},
        {{"check", "--dialects", "kv,xml", "a=1"}, 64, NULL, "...--dialects: 'xml' is none of kv, sql, tag\n"},
        {{"check", "--max-expression-bytes", "0", "a=1"}, 64, NULL, "...'0' is not a number of bytes\n"},
        {{"check", "--max-expression-bytes", "4k", "a=1"}, 64, NULL, "...'4k' is not a number of bytes\n"},
        {{"check", "--max-expression-bytes", "-1", "a=1"}, 64, NULL, "...'-1' is not a number of bytes\n"},
        {{"check", "--max-expression-bytes", "99999999999999999999", "a=1"}, 64, NULL, "...is not a number of bytes\n"},
    };
    check_rows(rows, N_ROWS(rows));
}

/* clang-format on */

static void test_what_is_too_long_is_cut(void) {
    static char text[65536 + 1];
    memset(text, 'x', sizeof text - 1);
    const struct row rows[] = {
        {{"check", "--subscription", text},
         1,
         NULL,
         "...topic at offset 65535: more than 65535 bytes"},
        {{"match", "a=1", text}, 64, NULL, "...xxx...\nusage: "},
    };
    check_rows(rows, N_ROWS(rows));
    text[65535] = '\0';
    const struct row longest[] = {
        {{"check", "--subscription", text}, 0, "valid, without a filter\n"}};
    check_rows(longest, N_ROWS(longest));
}

static void test_an_answer_that_cannot_be_written_is_an_error(void) {
    static const struct {
        const char *what;
        struct cli_call call;
    } rows[] = {
        {"check, full disk", {.arguments = {"check", "a=1"}, .output_path = "/dev/full"}},
        {"match, full disk", {.arguments = {"match", "a=1", "a=1"}, .output_path = "/dev/full"}},
        {"help, full disk", {.arguments = {"--help"}, .output_path = "/dev/full"}},
        {"jsonl, full disk",
         {.arguments = {"match", "--jsonl"},
          .input = "{\"expr\":\"a=1\",\"props\":[]}\n",
          .output_path = "/dev/full"}},
        {"check, closed pipe", {.arguments = {"check", "a=1"}, .closed_output = true}},
        {"jsonl, closed pipe",
         {.arguments = {"match", "--jsonl"},
          .input = "{\"expr\":\"a=1\",\"props\":[]}\n",
          .closed_output = true}},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        struct cli_result result;
        REQUIRE(cli_run(&rows[i].call, &result), "%s", rows[i].what);
        CHECK(result.exit_code == 74, "%s: exit code %d", rows[i].what, result.exit_code);
        CHECK(strstr(result.err, "mosquitto_filter: standard output: "), "%s: %s", rows[i].what,
              result.err);
        cli_result_free(&result);
    }
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        TEST(test_check_of_an_expression),
        TEST(test_check_of_a_subscription),
        TEST(test_check_notes_slips),
        TEST(test_options_change_the_language),
        TEST(test_match),
        TEST(test_match_with_attributes),
        TEST(test_explain),
        TEST(test_split),
        TEST(test_help_and_version),
        TEST(test_wrong_usage),
        TEST(test_what_is_too_long_is_cut),
        TEST(test_an_answer_that_cannot_be_written_is_an_error),
    };
    return run_tests(argc, argv, cases, N_ROWS(cases));
}
