/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the plugin refuses, and that a refusal costs the one entry only: SUBACK 0x87 for it, a line in the log that says
 * who, what, why and where, and nothing else of the client or of anybody changes.
 */
#include "scenario.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- every form that the language refuses ---- */

static const struct {
    const char *subscription;
    const char *code;
    int offset; /* in the subscription as sent; -1: not looked at */
} forms[] = {
    /* clang-format off */
    /* topic filters */
    {"?x=1",                            "topic",    0},
    {"a%23?x=1",                        "topic",    1},
    {"a/%2Bb?x=1",                      "topic",   -1},
    {"%23/a?x=1",                       "topic",   -1},
    {"a/%23/b?x=1",                     "topic",   -1},
    {"%23%23?x=1",                      "topic",   -1},
    {"$share/g?x=1",                    "topic",   -1},
    {"$share/g/?x=1",                   "topic",   -1},
    {"$share//t?x=1",                   "topic",   -1},
    {"$share/%2B/t?x=1",                "topic",   -1},
    {"$share/g%23/t?x=1",               "topic",   -1},
    {"$share/?x=1",                     "topic",   -1},
    {"$share?x",                        "operator", 7},
    /* kv */
    {"t?",                              "empty",    2},
    {"t? ",                             "empty",   -1},
    {"t?kv:",                           "empty",    5},
    {"t?kv: ",                          "empty",   -1},
    {"t?x=1&",                          "empty",    6},
    {"t?&x=1",                          "empty",    2},
    {"t?x=1&&y=2",                      "empty",    6},
    {"t?x=1& &y=2",                     "empty",   -1},
    {"t?=1",                            "empty",    2},
    {"t? =1",                           "empty",   -1},
    {"t?x=",                            "empty",    4},
    {"t?x>",                            "empty",    4},
    {"t?x>=",                           "empty",    5},
    {"t?x= &y=1",                       "empty",   -1},
    {"t?x",                             "operator", 2},
    {"t?x=1&y",                         "operator", 6},
    {"t?x=1=2",                         "operator", 5},
    {"t?x==5",                          "operator", 4},
    {"t?x=>5",                          "operator", 4},
    {"t?x=<5",                          "operator", 4},
    {"t?x<>5",                          "operator", 4},
    {"t?x>5>1",                         "operator", 5},
    {"t?x=b>1",                         "operator", 5},
    {"t?x>==5",                         "operator", 5},
    {"t?x!=1",                          "operator", 3},
    {"t?x! =1",                         "operator",-1},
    {"t?x!>1",                          "operator", 3},
    {"t?x>abc",                         "number",   4},
    {"t?x>5,5",                         "number",   4},
    {"t?x>0x10",                        "number",   4},
    {"t?x>1e999",                       "number",   4},
    {"t?x>inf",                         "number",   4},
    {"t?x>nan",                         "number",   4},
    {"t?x>1_000",                       "number",   4},
    {"t?x>.",                           "number",   4},
    {"t?x>1e",                          "number",   4},
    {"t?x>5 5",                         "number",   4},
    {"t?y=1&x<=five",                   "number",   9},
    {"t?x=%00",                         "escape",   4},
    {"t?x=ab%00",                       "escape",  -1},
    {"t?%00=1",                         "escape",   2},
    {"t?x=%FF",                         "escape",  -1},
    {"t?x=%C3",                         "escape",  -1},
    {"t?x=%C3%28",                      "escape",  -1},
    {"t?x=%ED%A0%80",                   "escape",  -1},
    {"t?x=%C0%80",                      "escape",  -1},
    {"t?x=%F4%90%80%80",                "escape",  -1},
    /* tag */
    {"t?tag:",                          "empty",    6},
    {"t?tag: ",                         "empty",   -1},
    {"t?tag:a||",                       "empty",    9},
    {"t?tag:||a",                       "empty",    6},
    {"t?tag:a||||b",                    "empty",    9},
    {"t?tag:a|| ||b",                   "empty",   -1},
    {"t?tag:%00",                       "escape",   6},
    {"t?TAG:a%FE",                      "escape",  -1},
    /* sql */
    {"t?sql:",                          "empty",    6},
    {"t?sql:  ",                        "empty",   -1},
    {"t?sql: /* nothing */ ",           "empty",   -1},
    {"t?sql:a = ",                      "empty",   -1},
    {"t?sql:a AND",                     "empty",   -1},
    {"t?sql:AND a",                     "syntax",   6},
    {"t?sql:()",                        "empty",    7},
    {"t?sql:NOT",                       "empty",    9},
    {"t?sql:a = 5 5",                   "syntax",  12},
    {"t?sql:a b",                       "syntax",   8},
    {"t?sql:a = 5)",                    "syntax",  11},
    {"t?sql:a = 'x' 'y'",               "syntax",  14},
    {"t?sql:a ; b",                     "syntax",   8},
    {"t?sql:a BETWEEN 1 5",             "syntax",  18},
    {"t?sql:a IS 5",                    "syntax",  11},
    {"t?sql:a NOT = 5",                 "syntax",  12},
    {"t?sql:a & b",                     "syntax",   8},
    {"t?sql:a = 'x",                    "unclosed",10},
    {"t?sql:a = 'x''",                  "unclosed",10},
    {"t?sql:\"a = 1",                   "unclosed", 6},
    {"t?sql:(a = 1",                    "unclosed", 6},
    {"t?sql:a = 1 /* x",                "unclosed",12},
    {"t?sql:a = 1 -- x",                "unclosed",12},
    {"t?sql:a IN ('x'",                 "unclosed",-1},
    {"t?sql:a-b = 1",                   "name",    -1},
    {"t?sql:$foo = 1",                  "name",     6},
    {"t?sql:$QOS = 1",                  "name",     6},
    {"t?sql:\"\" = 1",                  "name",     6},
    {"t?sql:a\u2013b = 1",              "name",    -1},
    {"t?sql:a = 5f",                    "number",  10},
    {"t?sql:a = 0x10",                  "number",  10},
    {"t?sql:a = 1_000",                 "number",  10},
    {"t?sql:a = 5AND b = 1",            "number",  10},
    {"t?sql:a = 9223372036854775808",   "number",  10},
    {"t?sql:a = 1e999",                 "number",  10},
    {"t?sql:a = 5.5L",                  "number",  10},
    {"t?sql:a > 'abc'",                 "kind",    10},
    {"t?sql:'a' = 5",                   "kind",    -1},
    {"t?sql:TRUE > 5",                  "kind",     6},
    {"t?sql:'a'",                       "kind",     6},
    {"t?sql:5",                         "kind",     6},
    {"t?sql:a AND 5",                   "kind",    12},
    {"t?sql:NOT 5",                     "kind",    10},
    {"t?sql:NULL = a",                  "kind",    -1},
    {"t?sql:a = b = c",                 "kind",    -1},
    {"t?sql:5 LIKE 'x'",                "kind",     6},
    {"t?sql:'a' IN ('a')",              "kind",     6},
    {"t?sql:a %2B 'x' = 5",             "kind",    12},
    {"t?sql:TRUE = 5",                  "kind",    -1},
    {"t?sql:a = 5 IS NULL = b",         "kind",    -1},
    {"t?sql:a LIKE 'x' ESCAPE 'ab'",    "pattern", -1},
    {"t?sql:a LIKE 'x' ESCAPE ''",      "pattern", -1},
    {"t?sql:a LIKE 'x!' ESCAPE '!'",    "pattern", -1},
    {"t?sql:a BETWEEN 5 AND 1",         "bounds",  -1},
    {"t?sql:a NOT BETWEEN 5 AND 1",     "bounds",  -1},
    {"t?sql:a BETWEEN 5 AND -5",        "bounds",  -1},
    /* clang-format on */
};

/* The log line of a refusal up to the sentence. */
static void expected_line(char out[512], const char *id, const char *shown, const char *code,
                          int offset) {
    int used =
        snprintf(out, 512, "subscription-filter: client %s: subscription '%s' refused (%s, offset ",
                 id, shown, code);
    if (offset >= 0) {
        snprintf(out + used, 512 - (size_t)used, "%d): ", offset);
    }
}

static void test_every_bad_form_costs_its_entry_alone(void) {
    struct broker *broker = start_plugin("");
    struct client *writer = client_open(broker, "writer");
    for (size_t i = 0; i < N_ROWS(forms); i++) {
        char id[16];
        snprintf(id, sizeof id, "row%zu", i);
        struct client *client = client_open(broker, id);
        const char *entries[] = {"before?x=1", forms[i].subscription, "after"};
        int codes[3];
        bool answered = client_subscribe_many(client, entries, 3, 1, codes);
        CHECK(answered && codes[0] == 1 && codes[1] == REFUSED && codes[2] == 1,
              "row %zu, %s: %02x %02x %02x", i, forms[i].subscription, (unsigned)codes[0],
              (unsigned)codes[1], (unsigned)codes[2]);
        if (!answered) {
            continue;
        }
        char line[512];
        expected_line(line, id, forms[i].subscription, forms[i].code, forms[i].offset);
        CHECK(broker_log_count(broker, line) == 1, "row %zu: not in the log: %s", i, line);
        publish_user(writer, "before", USER("x", "1"));
        publish_user(writer, "before", USER("x", "2"));
        publish_user(writer, "t", USER("x", "1", "TAGS", "a", "a", "5"));
        publish_user(writer, "after", USER("x", "2"));
        size_t n = count_arrived(client, writer);
        CHECK(n == 2, "row %zu, %s: %zu messages", i, forms[i].subscription, n);
        client_disconnect(client);
    }
}

static void test_the_log_says_what_was_expected(void) {
    struct broker *broker = start_plugin("");
    struct client *client = client_open(broker, "c");
    CHECK(client_subscribe(client, "t?sql:a > 'abc'", 0) == REFUSED, "refused");
    static const char line[] =
        "client c: subscription 't?sql:a > 'abc'' refused (kind, offset 10): "
        "'abc' is a string; > compares numbers only\n";
    CHECK(strstr(broker_log(broker), line) != NULL, "not in the log: %s", line);
}

/* ---- limits ---- */

/* `subscription` followed by `n` times `part`, and `end`. */
static char *repeat(const char *subscription, const char *part, size_t n, const char *end) {
    size_t bytes = strlen(subscription) + n * strlen(part) + strlen(end) + 1;
    char *text = malloc(bytes);
    REQUIRE(text != NULL, "out of memory");
    char *at = text + sprintf(text, "%s", subscription);
    for (size_t i = 0; i < n; i++) {
        at += sprintf(at, "%s", part);
    }
    strcpy(at, end);
    test_defer(free, text);
    return text;
}

static void test_limits_of_the_language(void) {
    struct broker *broker = start_plugin("");
    const struct {
        const char *name;
        char *good, *bad;
    } rows[] = {
        {"4096 bytes", repeat("t?x=", "y", 4094, ""), repeat("t?x=", "y", 4095, "")},
        {"512 operators, kv", repeat("t?a=1", "&a=1", 511, ""), repeat("t?a=1", "&a=1", 512, "")},
        {"512 operators, sql", repeat("t?sql:a", " OR a", 512, ""),
         repeat("t?sql:a", " OR a", 513, "")},
        {"512 operators, tag", repeat("t?tag:a", "||a", 511, ""),
         repeat("t?tag:a", "||a", 512, "")},
        {"nesting of parentheses", repeat(repeat("t?sql:", "(", 200, "a"), ")", 200, ""),
         repeat(repeat("t?sql:", "(", 201, "a"), ")", 201, "")},
        {"nesting of NOT", repeat("t?sql:", "NOT ", 200, "a"), repeat("t?sql:", "NOT ", 201, "a")},
        {"nesting of signs", repeat("t?sql:5 < ", "- ", 200, "a"),
         repeat("t?sql:5 < ", "- ", 201, "a")},
        {"IN list", repeat("t?sql:a IN (1", ",1", 255, ")"),
         repeat("t?sql:a IN (1", ",1", 256, ")")},
        {"LIKE", repeat("t?sql:a LIKE '%", "_", 64, "%'"),
         repeat("t?sql:a LIKE '%", "_", 65, "%'")},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        char id[16];
        snprintf(id, sizeof id, "limit%zu", i);
        struct client *client = client_open(broker, id);
        int granted = client_subscribe(client, rows[i].good, 1);
        CHECK(granted == 1, "%s, at the limit: 0x%02x", rows[i].name, (unsigned)granted);
        int refused = client_subscribe(client, rows[i].bad, 1);
        CHECK(refused == REFUSED, "%s, one beyond: 0x%02x", rows[i].name, (unsigned)refused);
        char line[64];
        snprintf(line, sizeof line, "client %s: subscription 't?", id);
        CHECK(broker_log_count(broker, line) == 1, "%s: logged", rows[i].name);
        client_disconnect(client);
    }
    CHECK(broker_log_count(broker, " refused (limit, offset ") == N_ROWS(rows), "code limit: %zu",
          broker_log_count(broker, " refused (limit, offset "));
}

static void test_the_length_limit_can_be_set(void) {
    struct broker *broker = start_plugin("plugin_opt_max_expression_bytes 5\n");
    struct client *client = client_open(broker, "c");
    CHECK(client_subscribe(client, "topic?x=123", 1) == 1, "5 bytes");
    CHECK(client_subscribe(client, "topic?x=1234", 1) == REFUSED, "6 bytes");
    CHECK(client_subscribe(client, "topic?x=%26", 1) == 1, "counted as sent");
    CHECK(client_subscribe(client, "topic?x=a%26", 1) == REFUSED, "counted as sent");
    CHECK(client_subscribe(client, "a/long/topic/does/not/count?x=1", 1) == 1, "topic");
    CHECK(broker_log_count(broker, "(limit, offset ") == 2, "logged");
}

static void test_the_number_of_filters_is_limited(void) {
    struct broker *broker = start_plugin("plugin_opt_max_filters_per_client 3\n");
    struct client *client = client_open(broker, "c");
    static const struct {
        const char *subscription;
        int code;
    } rows[] = {
        {"a?x=1", 1},
        {"b?x=1", 1},
        {"plain", 1},
        {"c?x=1", 1},
        {"d?x=1", REFUSED},
        {"a?x=2", 1},           /* replaces */
        {"plain?x=1", REFUSED}, /* replaces one that is no filter */
        {"more", 1},
        {"%61?x=1", REFUSED}, /* another topic */
        {"c", 1},             /* one less */
        {"d?x=1", 1},
        {"e?x=1", REFUSED},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        int code = client_subscribe(client, rows[i].subscription, 1);
        CHECK(code == rows[i].code, "row %zu, %s: 0x%02x", i, rows[i].subscription, (unsigned)code);
    }
    CHECK(broker_log_count(broker, "client c: subscription 'd?x=1' refused: ") == 1, "logged");
    CHECK(broker_log_count(broker, "plugin_opt_max_filters_per_client") >= 1, "names the option");
    CHECK(client_unsubscribe(client, "a") == 0, "unsubscribe");
    CHECK(client_subscribe(client, "e?x=1", 1) == 1, "room again");
    struct client *other = client_open(broker, "other");
    CHECK(client_subscribe(other, "d?x=1", 1) == 1, "another client");
}

/* SUBSCRIBE with the entries t<first> … t<last>, each with a filter; how many are granted. */
static size_t subscribe_range(struct raw *raw, unsigned first, unsigned last) {
    static unsigned char packet[65536];
    size_t at = 0;
    packet[at++] = 0;
    packet[at++] = 1;
    packet[at++] = 0; /* no properties */
    for (unsigned i = first; i <= last; i++) {
        int bytes = sprintf((char *)packet + at + 2, "t%u?x=1", i);
        packet[at] = 0;
        packet[at + 1] = (unsigned char)bytes;
        at += 2 + (size_t)bytes;
        packet[at++] = 1;
    }
    raw_send_packet(raw, RAW_SUBSCRIBE | 2, packet, at);
    const struct raw_packet *answer = raw_expect(raw, RAW_SUBACK);
    size_t granted = 0;
    for (size_t i = 3; i < answer->bytes; i++) {
        granted += answer->body[i] == 1;
    }
    REQUIRE(answer->bytes == 3 + (last - first + 1), "%zu bytes", answer->bytes);
    return granted;
}

static void test_the_number_of_filters_is_1000_by_default(void) {
    struct broker *broker = start_plugin("");
    struct raw *raw = raw_connect(broker, &(struct raw_options){.id = "raw"});
    size_t n = subscribe_range(raw, 1, 1005);
    CHECK(n == 1000, "%zu of 1005", n);
    n = subscribe_range(raw, 1, 1000);
    CHECK(n == 1000, "%zu replaced", n);

    struct broker *unlimited = start_plugin("plugin_opt_max_filters_per_client 0\n");
    raw = raw_connect(unlimited, &(struct raw_options){.id = "raw"});
    n = subscribe_range(raw, 1, 1005);
    CHECK(n == 1005, "%zu of 1005 without limit", n);
}

/* ---- dialects ---- */

static void test_dialects_can_be_switched_off(void) {
    static const struct {
        const char *dialects;
        int kv, sql, tag;
    } rows[] = {
        {"kv", 1, REFUSED, REFUSED},
        {"sql", REFUSED, 1, REFUSED},
        {"kv,tag", 1, REFUSED, 1},
        {"tag, SQL", REFUSED, 1, 1},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        char option[64];
        snprintf(option, sizeof option, "plugin_opt_dialects %s\n", rows[i].dialects);
        struct broker *broker = start_plugin(option);
        struct client *client = client_open(broker, "c");
        const struct {
            const char *subscription;
            int code;
        } tries[] = {
            {"a?x=1", rows[i].kv},
            {"b?kv:x=1", rows[i].kv},
            {"c?sql:x = 1", rows[i].sql},
            {"d?tag:a", rows[i].tag},
            {"e", 1},
        };
        size_t refused = 0;
        for (size_t k = 0; k < N_ROWS(tries); k++) {
            int code = client_subscribe(client, tries[k].subscription, 1);
            CHECK(code == tries[k].code, "%s, %s: 0x%02x", rows[i].dialects, tries[k].subscription,
                  (unsigned)code);
            refused += tries[k].code == REFUSED;
        }
        CHECK(broker_log_count(broker, " refused (dialect, offset 2): ") == refused,
              "%s: %zu lines", rows[i].dialects,
              broker_log_count(broker, " refused (dialect, offset 2): "));
        CHECK(broker_log_count(broker, "(option dialects)") >= refused, "%s: names the option",
              rows[i].dialects);
        broker_stop(broker);
    }
}

/* ---- what the broker refuses by itself ---- */

static void test_raw_wildcards_and_control_characters_end_the_connection(void) {
    struct broker *broker = start_plugin("");
    struct client *bystander = client_open(broker, "bystander");
    REQUIRE(client_subscribe(bystander, "t?x=1", 1) == 1, "subscribe");
    static const struct {
        const char *filter;
        int code;
    } rows[] = {
        {"a/#?x=1", 0x81},       {"a/+?x=1", 0x81},
        {"#?x=1", 0x81},         {"+?x=1", 0x81},
        {"a?x=#1", 0x81},        {"a?sql:x + 1 > 2", 0x81},
        {"a?sql:x+1 > 2", 0x81}, {"a?x>+5", 0x81},
        {"a?#", 0x81},           {"a\tb?x=1", 0x81},
        {"a?x=\t1", 0x81},       {"a?x=\n1", 0x81},
        {"a?x=\x01", 0x81},      {"$share/g\x01x/t?x=1", 0x81},
        {"a?x=\x7f", 0x81},      {"a?x=\xff", 0x81},
        {"a?x=\xc3", 0x81},      {"a?x=\xc2\x85", 0x81},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        struct raw *raw = raw_connect(broker, &(struct raw_options){.id = "raw"});
        raw_subscribe(raw, 1, rows[i].filter, strlen(rows[i].filter), 0);
        struct raw_packet packet;
        enum raw_type type = raw_read(raw, &packet);
        CHECK(type == RAW_DISCONNECT && packet.code == rows[i].code, "row %zu: %02x %02x", i,
              (unsigned)type, (unsigned)packet.code);
        raw_drop(raw);
    }
    char *good = repeat("t?x=", "/", 200, ""), *bad = repeat("t?x=", "/", 201, "");
    struct raw *raw = raw_connect(broker, &(struct raw_options){.id = "raw"});
    raw_subscribe(raw, 1, good, strlen(good), 0);
    CHECK(raw_expect(raw, RAW_SUBACK)->code == 0, "200 levels");
    raw_subscribe(raw, 1, bad, strlen(bad), 0);
    CHECK(raw_expect(raw, RAW_DISCONNECT)->code == 0x81, "201 levels");
    CHECK(broker_log_count(broker, "subscription-filter: client") == 0, "the plugin saw none");
    publish_user(bystander, "t", USER("x", "1"));
    publish_user(bystander, "t", USER("x", "2"));
    CHECK(count_arrived(bystander, bystander) == 1, "the bystander");
}

/* ---- hostile text ---- */

/* Bytes that often make something: letters of keywords, operators, quotes, escapes. */
static size_t random_expression(uint64_t *state, char *out, size_t max) {
    static const char *const parts[] = {
        "x",        "=",      ">",     "<",     "!",
        "&",        "||",     " ",     "'",     "''",
        "\"",       "%",      "%2B",   "%23",   "%00",
        "%FF",      "(",      ")",     ",",     "-",
        "--",       "/*",     "*/",    "*",     "/",
        ".",        "1",      "5e",    "L",     "9223372036854775808",
        "sql:",     "tag:",   "kv:",   "AND",   " OR ",
        "NOT ",     "IN",     " IN(",  "LIKE ", " BETWEEN ",
        "NULL",     " IS ",   "TRUE",  "$qos",  "$",
        "_",        "?",      ";",     "\\",    "\xe5\x8c\x97",
        "CONTAINS", "ESCAPE", "1e308", ".5",    "\xc2\xa0",
        "a",        "b",      "c",     "%25",   "@",
    };
    static const char *const starts[] = {"", "sql:", "sql:", "tag:", "kv:"};
    size_t used = (size_t)sprintf(out, "%s", starts[test_random(state) % N_ROWS(starts)]);
    size_t n = test_random(state) % 60;
    for (size_t i = 0; i < n; i++) {
        const char *part = parts[test_random(state) % N_ROWS(parts)];
        if (used + strlen(part) >= max) {
            break;
        }
        used += (size_t)sprintf(out + used, "%s", part);
    }
    return used;
}

static size_t random_bytes(uint64_t *state, char *out, size_t max) {
    size_t n = test_random(state) % max;
    for (size_t i = 0; i < n; i++) {
        out[i] = (char)(test_random(state) & 0xFF);
    }
    return n;
}

static void test_hostile_text_harms_nobody(void) {
    const unsigned rounds = test_long() ? 50000 : 1500;
    struct broker *broker = start_plugin("");
    struct client *bystander = client_open(broker, "bystander");
    REQUIRE(client_subscribe(bystander, "t?x=1", 1) == 1, "subscribe");
    uint64_t state = test_seed();
    struct raw *raw = NULL;
    size_t answered = 0, granted = 0, closed = 0;
    for (unsigned i = 0; i < rounds; i++) {
        if (raw == NULL) {
            raw = raw_connect(broker, &(struct raw_options){.id = "hostile"});
        }
        char text[4096];
        size_t used = (size_t)sprintf(text, "%s?",
                                      i % 3 == 0   ? "$share/g/t"
                                      : i % 3 == 1 ? "t"
                                                   : "%2B/%23");
        used += i % 16 == 0 && closed < 200 ? random_bytes(&state, text + used, 200)
                                            : random_expression(&state, text + used, 2000);
        bool unsubscribe = i % 5 == 4;
        if (unsubscribe) {
            raw_unsubscribe(raw, 1, text, used);
        } else {
            raw_subscribe(raw, 1, text, used, 0);
        }
        struct raw_packet packet;
        enum raw_type type = raw_read(raw, &packet);
        if (type == (unsubscribe ? RAW_UNSUBACK : RAW_SUBACK)) {
            answered++;
            granted += !unsubscribe && packet.code == 0;
            CHECK(packet.code == 0 || packet.code == REFUSED || packet.code == 0x11,
                  "round %u: 0x%02x", i, (unsigned)packet.code);
        } else {
            CHECK(type == RAW_DISCONNECT, "round %u: 0x%02x", i, (unsigned)type);
            raw_drop(raw);
            raw = NULL;
            closed++;
        }
    }
    CHECK(granted > 0 && answered > granted && closed > 0, "%zu answered, %zu granted", answered,
          granted);
    publish_user(bystander, "t", USER("x", "1"));
    publish_user(bystander, "t", USER("x", "2"));
    CHECK(count_arrived(bystander, bystander) == 1, "the bystander");
}

static void test_long_text_is_cut_in_the_log(void) {
    enum { BYTES = 65535 };
    static char text[BYTES];
    memset(text, 'y', BYTES);
    memcpy(text, "t?x==", 5);
    struct broker *broker = start_plugin("");
    struct raw *raw = raw_connect(broker, &(struct raw_options){.id = "a\\b'c"});
    raw_subscribe(raw, 1, text, BYTES, 0);
    CHECK(raw_expect(raw, RAW_SUBACK)->code == REFUSED, "65,535 bytes");
    CHECK(broker_await_log(broker, "client a\\x5cb'c: subscription 't?x==yyy"), "escaped");
    const char *line = strstr(broker_log(broker), "subscription 't?x==yyy");
    const char *end = line == NULL ? NULL : strchr(line, '\n');
    REQUIRE(end != NULL, "the whole line");
    CHECK(end - line < 600, "%d bytes", (int)(end - line));
    CHECK(strstr(line, "yyy...' refused (limit, offset ") != NULL, "cut: %.*s", (int)(end - line),
          line);

    static char topic[BYTES];
    memset(topic, 't', BYTES);
    memcpy(topic + BYTES - 4, "?x=1", 4);
    raw_subscribe(raw, 1, topic, BYTES, 0);
    CHECK(raw_expect(raw, RAW_SUBACK)->code == 0, "a long topic filter");
    CHECK(raw_ping(raw, NULL, 0) == 0, "alive");

    static char id[1000];
    memset(id, 'i', sizeof id - 1);
    raw = raw_connect(broker, &(struct raw_options){.id = id});
    raw_subscribe(raw, 1, "t?", 2, 0);
    CHECK(raw_expect(raw, RAW_SUBACK)->code == REFUSED, "long identifier");
    CHECK(broker_await_log(broker, "iii...: subscription 't?' refused (empty, offset 2): "), "cut");
}

static void test_a_flood_of_refusals_is_not_logged_line_by_line(void) {
    enum { PACKETS = 20, ENTRIES = 50 };
    struct broker *broker = start_plugin("");
    struct client *client = client_open(broker, "flood");
    const char *entries[ENTRIES];
    for (size_t i = 0; i < ENTRIES; i++) {
        entries[i] = "t?x==1";
    }
    for (int i = 0; i < PACKETS; i++) {
        int codes[ENTRIES];
        REQUIRE(client_subscribe_many(client, entries, ENTRIES, 1, codes), "closed");
        for (size_t k = 0; k < ENTRIES; k++) {
            CHECK(codes[k] == REFUSED, "packet %d, entry %zu: 0x%02x", i, k, (unsigned)codes[k]);
        }
    }
    size_t n = broker_log_count(broker, "client flood: subscription 't?x==1' refused");
    CHECK(n >= 1 && n <= 10, "%zu lines for %d refusals", n, PACKETS * ENTRIES);
    struct client *other = client_open(broker, "other");
    CHECK(client_subscribe(other, "t?x==1", 1) == REFUSED, "refused");
    CHECK(broker_log_count(broker, "client other: subscription 't?x==1' refused") == 1,
          "another client's refusal is logged");
}

/* ---- nothing else is touched ---- */

static void test_a_refusal_leaves_the_session_alone(void) {
    struct broker *broker = start_plugin("");
    struct client *writer = client_open(broker, "writer");
    const struct client_options options = {.id = "c", .keep = true, .expiry_s = 100};
    struct client *client = client_connect(broker, &options);
    static const char *const good[] = {"a?x=1", "b", "c/%23?y=1"};
    int codes[3];
    REQUIRE(client_subscribe_many(client, good, 3, 1, codes), "subscribe");
    client_fence(client, writer);
    for (size_t i = 0; i < N_ROWS(forms); i += 7) {
        client_publish_later(writer,
                             &(struct publish){.topic = "a", .qos = 1, .user = USER("x", "1")});
        CHECK(client_subscribe(client, forms[i].subscription, 2) == REFUSED, "%s",
              forms[i].subscription);
        REQUIRE(client_flush(writer), "flush");
        size_t n = count_arrived(client, writer);
        CHECK(n == 1, "%s: %zu", forms[i].subscription, n);
    }
    client_disconnect(client);
    static const char *const topics[] = {"a", "b", "c/1", "c"};
    for (size_t i = 0; i < N_ROWS(topics); i++) {
        publish_user(writer, topics[i], USER("x", "1", "y", "1"));
        publish_user(writer, topics[i], USER("x", "2", "y", "2"));
    }
    client_reconnect(client);
    CHECK(client_session_present(client), "kept");
    size_t n = count_arrived(client, writer);
    CHECK(n == 5, "%zu: a, b twice, c/1, c", n);
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        TEST(test_every_bad_form_costs_its_entry_alone),
        TEST(test_the_log_says_what_was_expected),
        TEST(test_limits_of_the_language),
        TEST(test_the_length_limit_can_be_set),
        TEST(test_the_number_of_filters_is_limited),
        TEST(test_the_number_of_filters_is_1000_by_default),
        TEST(test_dialects_can_be_switched_off),
        TEST(test_raw_wildcards_and_control_characters_end_the_connection),
        TEST(test_hostile_text_harms_nobody),
        TEST(test_long_text_is_cut_in_the_log),
        TEST(test_a_flood_of_refusals_is_not_logged_line_by_line),
        TEST(test_a_refusal_leaves_the_session_alone),
    };
    return run_tests(argc, argv, cases, N_ROWS(cases));
}
