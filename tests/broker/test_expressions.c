/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What subscription strings mean in the broker: escapes, the dialects, system attributes and large messages, with real
 * messages. That the engine answers right is tested without a broker (tests/filter); here it is what reaches it.
 */
#include "scenario.h"

#include <stdio.h>
#include <string.h>

/* ---- escapes ---- */

static void test_escapes_in_topic_filters(void) {
    static const struct {
        const char *subscription;
        const char *topic;
        size_t delivered; /* with room=a, v=30 */
    } rows[] = {
        /* clang-format off */
        {"home/%23?room=a",          "home/x/y",    1},
        {"home/%23?room=a",          "home",        1},
        {"home/%23?room=b",          "home/x",      0},
        {"home/%23?room=a",          "garden/x",    0},
        {"sensor/%2B?v>25",          "sensor/1",    1},
        {"sensor/%2b?v>25",          "sensor/1",    1},
        {"sensor/%2B?v>25",          "sensor/1/2",  0},
        {"sensor/+/t?v>25",          "sensor/1/t",  1},
        {"%2B/%2B/%23?v>25",         "a/b/c/d",     1},
        {"%23?v>30",                 "sensor/1",    0},
        {"%23?v>25",                 "sensor/1",    1},
        {"a%3Fb?sql:TRUE",           "a?b",         1},
        {"a%3fb?sql:FALSE",          "a?b",         0},
        {"a%3Fb?room=a",             "a",           0},
        {"%3F?room=a",               "?",           1},
        {"a%253Fb?room=a",           "a%3Fb",       1},
        {"a%253Fb?room=a",           "a?b",         0},
        {"100%25?room=a",            "100%",        1},
        {"100%?room=a",              "100%",        1},
        {"a%41?room=a",              "a%41",        1},
        {"a%2?room=a",               "a%2",         1},
        {"%2523?room=a",             "%23",         1},
        {"a%2526?room=a",            "a%26",        1},
        {"a%26b?room=a",             "a%26b",       1},
        {"/%2B?room=a",              "/x",          1},
        {"/?room=a",                 "/",           1},
        {" a ?room=a",               " a ",         1},
        {"a%23",                     "a%23",        1},
        {"home/%23",                 "home/%23",    1},
        {"home/%23",                 "home/x",      0},
        /* clang-format on */
    };
    struct broker *broker = start_plugin("");
    struct client *writer = client_open(broker, "writer");
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        struct client *reader = client_open(broker, NULL);
        int granted = client_subscribe(reader, rows[i].subscription, 1);
        CHECK(granted == 1, "row %zu, %s: %d", i, rows[i].subscription, granted);
        publish_user(writer, rows[i].topic, USER("room", "a", "v", "30"));
        size_t n = count_arrived(reader, writer);
        CHECK(n == rows[i].delivered, "row %zu, %s: %zu of %s", i, rows[i].subscription, n,
              rows[i].topic);
        client_disconnect(reader);
    }
}

static void test_what_expressions_see_of_properties(void) {
    static const struct {
        const char *expression;
        const char *user[7]; /* name, value, … */
        size_t delivered;
    } rows[] = {
        /* clang-format off */
        {"k=a%26b",                      {"k", "a&b"},                1},
        {"k=a%26b",                      {"k", "a%26b"},              0},
        {"k=%3D%3c%3E",                  {"k", "=<>"},                1},
        {"%3Dk%26=v",                    {"=k&", "v"},                1},
        {"k=%20v%20",                    {"k", " v "},                1},
        {"k= v ",                        {"k", "v"},                  1},
        {"k= v ",                        {"k", " v "},                0},
        {"k=100%",                       {"k", "100%"},               1},
        {"k=%E5%8C%97",                  {"k", "北"},                 1},
        {"k='v'",                        {"k", "'v'"},                1},
        {"tz=%2B01:00",                  {"tz", "+01:00"},            1},
        {"colour=%23ff0000",             {"colour", "#ff0000"},       1},
        {"q=%3F",                        {"q", "?"},                  1},
        {"k=a?b",                        {"k", "a?b"},                1},
        {"v=5",                          {"v", "5.0"},                0},
        {"v>=5&v<=5",                    {"v", " 5.0 "},              1},
        {"v>9007199254740992",           {"v", "9007199254740993"},   1},
        {"v>10&v<5",                     {"v", "20", "v", "3"},       1},
        {"v>10&v<5",                     {"v", "20"},                 0},
        {"k=1",                          {"k", "0", "k", "1"},        1},
        {"k=1",                          {"K", "1"},                  0},
        {"k=1",                          {NULL},                      0},
        {"kv:k=1",                       {"k", "1"},                  1},
        {"KV: k = 1",                    {"k", "1"},                  1},
        {"kv:kv=1",                      {"kv", "1"},                 1},
        {"sql:k = ''",                   {"k", ""},                   1},
        {"sql:k = ''",                   {"x", ""},                   0},
        {"sql:k IS NULL",                {"x", ""},                   1},
        {"sql:k IS NOT NULL",            {"k", ""},                   1},
        {"sql:k = '1'",                  {"k", "0", "k", "1"},        1},
        {"sql:k = '0'",                  {"k", "0", "k", "1"},        0},
        {"sql:k = 'it''s'",              {"k", "it's"},               1},
        {"sql:a %2B 1 > 5",              {"a", "5"},                  1},
        {"sql:k LIKE 'abc%'",            {"k", "abcdef"},             1},
        {"sql:k LIKE '%2523%'",          {"k", "a23b"},               1},
        {"sql:k LIKE '%2523%'",          {"k", "a%23b"},              1},
        {"sql:k LIKE '%23%'",            {"k", "a#b"},                0},
        {"sql:k LIKE '%23%'",            {"k", "#b"},                 1},
        {"sql:\"device-type\" = 'x'",    {"device-type", "x"},        1},
        {"sql:amount > 100 AND region = 'BEIJING'", {"amount", "150", "region", "BEIJING"}, 1},
        {"sql:amount > 100 AND region = 'BEIJING'", {"amount", "100", "region", "BEIJING"}, 0},
        {"sql:/**/k/**/=/**/'1'/**/",    {"k", "1"},                  1},
        {"tag:PAID||SHIPPED",            {"TAGS", "SHIPPED"},         1},
        {"tag:PAID||SHIPPED",            {"TAGS", "PAI"},             0},
        {"tag:PAID||SHIPPED",            {"tags", "PAID"},            0},
        {"tag:a%7Cb",                    {"TAGS", "a|b"},             1},
        {"tag:*",                        {NULL},                      1},
        {"tag:%2A",                      {"TAGS", "x"},               0},
        {"tag:a",                        {"TAGS", "x", "TAGS", "a"},  1},
        {"k=1",                          {"", "", "k", "1"},          1},
        {"sql:k = '1'",                  {"", "x", "k", "1", "", ""}, 1},
        /* clang-format on */
    };
    struct broker *broker = start_plugin("");
    struct client *writer = client_open(broker, "writer");
    struct client *reader = client_open(broker, "reader");
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        char subscription[256];
        snprintf(subscription, sizeof subscription, "t?%s", rows[i].expression);
        int granted = client_subscribe(reader, subscription, 1);
        CHECK(granted == 1, "row %zu, %s: 0x%02x", i, subscription, (unsigned)granted);
        publish_user(writer, "t", rows[i].user);
        size_t n = count_arrived(reader, writer);
        CHECK(n == rows[i].delivered, "row %zu, %s: %zu", i, subscription, n);
    }
}

static void test_the_tag_key_can_be_another_one(void) {
    struct broker *broker = start_plugin("plugin_opt_tag_key kind\n");
    struct client *writer = client_open(broker, "writer");
    struct client *reader = client_open(broker, "reader");
    REQUIRE(client_subscribe(reader, "t?tag:a||b", 1) == 1, "subscribe");
    publish_user(writer, "t", USER("TAGS", "a"));
    CHECK(count_arrived(reader, writer) == 0, "TAGS");
    publish_user(writer, "t", USER("kind", "b"));
    CHECK(count_arrived(reader, writer) == 1, "kind");
}

static void test_strict_integers(void) {
    for (int strict = 0; strict <= 1; strict++) {
        struct broker *broker = start_plugin(strict ? "plugin_opt_strict_integers true\n" : "");
        struct client *writer = client_open(broker, "writer");
        struct client *reader = client_open(broker, "reader");
        REQUIRE(client_subscribe(reader, "t?sql:a = 5", 1) == 1, "subscribe");
        publish_user(writer, "t", USER("a", "5.0"));
        size_t n = count_arrived(reader, writer);
        CHECK(n == (strict ? 0 : 1), "5.0, strict %d: %zu", strict, n);
        publish_user(writer, "t", USER("a", "5"));
        CHECK(count_arrived(reader, writer) == 1, "5, strict %d", strict);
    }
}

static void test_system_attributes_are_those_of_the_message(void) {
    static const struct {
        const char *expression;
        size_t delivered;
    } rows[] = {
        {"$topic = 't/1'", 1},
        {"$topic = 't'", 0},
        {"$topic STARTSWITH 't/'", 1},
        {"$qos = 2", 1}, /* as published: the subscription has QoS 0 */
        {"$qos < 2", 0},
        {"$payload_bytes = 5", 1},
        {"$payload_bytes > 5", 0},
        {"$content_type = 'text/plain'", 1},
        {"$content_type IS NULL", 0},
        {"$response_topic = 'answers/1'", 1},
        {"$retain", 0},
        {"NOT $retain", 1},
        {"$qos = 2 AND room = 'a' AND $topic = 't/1' AND NOT $retain", 1},
        {"\"$qos\" IS NULL", 1},
    };
    struct broker *broker = start_plugin("");
    struct client *writer = client_open(broker, "writer");
    struct client *reader = client_open(broker, "reader");
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        char subscription[256];
        snprintf(subscription, sizeof subscription, "t/1?sql:%s", rows[i].expression);
        REQUIRE(client_subscribe(reader, subscription, 0) == 0, "%s", subscription);
        client_publish(writer, &(struct publish){.topic = "t/1",
                                                 .payload = "12345",
                                                 .qos = 2,
                                                 .user = USER("room", "a"),
                                                 .content_type = "text/plain",
                                                 .response_topic = "answers/1"});
        size_t n = count_arrived(reader, writer);
        CHECK(n == rows[i].delivered, "%s: %zu", rows[i].expression, n);
    }
    static const struct {
        const char *expression;
        size_t delivered;
    } bare[] = {
        {"$content_type IS NULL AND $response_topic IS NULL", 1},
        {"$payload_bytes = 0 AND $qos = 0 AND $retain", 1},
        {"$content_type = ''", 0},
    };
    for (size_t i = 0; i < N_ROWS(bare); i++) {
        char subscription[256];
        snprintf(subscription, sizeof subscription, "t/1?sql:%s", bare[i].expression);
        REQUIRE(client_subscribe(reader, subscription, 0) == 0, "%s", subscription);
        client_publish(writer, &(struct publish){.topic = "t/1", .retain = true});
        size_t n = count_arrived(reader, writer);
        CHECK(n == bare[i].delivered, "%s: %zu", bare[i].expression, n);
    }
}

/* ---- large messages ---- */

static void test_more_than_256_properties_match_no_filter(void) {
    enum { LIMIT = 256 };
    static const char *const filters[] = {"t?k=v", "t?sql:TRUE", "t?tag:*", "t?sql:nobody IS NULL"};
    static const char *user[2 * (LIMIT + 1) + 1];
    for (size_t i = 0; i < LIMIT + 1; i++) {
        user[2 * i] = i == LIMIT - 1 ? "k" : "filler";
        user[2 * i + 1] = i == LIMIT - 1 ? "v" : "";
    }
    struct broker *broker = start_plugin("");
    struct client *writer = client_open(broker, "writer");
    struct client *plain = client_open(broker, "plain");
    REQUIRE(client_subscribe(plain, "t", 1) == 1, "subscribe");
    struct client *readers[N_ROWS(filters)];
    for (size_t i = 0; i < N_ROWS(filters); i++) {
        readers[i] = client_open(broker, NULL);
        REQUIRE(client_subscribe(readers[i], filters[i], 1) == 1, "%s", filters[i]);
    }
    for (size_t n = LIMIT - 1; n <= LIMIT + 1; n++) {
        const char *end = user[2 * n];
        user[2 * n] = NULL;
        publish_user(writer, "t", user);
        user[2 * n] = end;
        CHECK(count_arrived(plain, writer) == 1, "plain, %zu properties", n);
        for (size_t i = 0; i < N_ROWS(filters); i++) {
            size_t got = count_arrived(readers[i], writer);
            size_t wanted = n <= LIMIT && (i > 0 || n == LIMIT);
            CHECK(got == wanted, "%s, %zu properties: %zu", filters[i], n, got);
        }
    }
}

static void test_values_of_64_kib(void) {
    enum { BYTES = 65535 };
    static char value[BYTES + 1];
    memset(value, 'x', BYTES);
    memcpy(value + BYTES - 3, "end", 3);
    static const struct {
        const char *expression;
        size_t delivered;
    } rows[] = {
        {"sql:v ENDSWITH 'xend'", 1},
        {"sql:v ENDSWITH 'yend'", 0},
        {"sql:v CONTAINS 'xe'", 1},
        {"sql:v LIKE 'x%_d'", 1},
        {"sql:v LIKE '%y%'", 0},
        {"v=x", 0},
        {"v>1", 0},
        {"k=1", 1},
        {"sql:v IS NULL OR v > 5", 0},
    };
    struct broker *broker = start_plugin("");
    struct client *writer = client_open(broker, "writer");
    struct client *reader = client_open(broker, "reader");
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        char subscription[64];
        snprintf(subscription, sizeof subscription, "t?%s", rows[i].expression);
        REQUIRE(client_subscribe(reader, subscription, 1) == 1, "%s", subscription);
        publish_user(writer, "t", USER("v", value, "k", "1", "v", value));
        size_t n = count_arrived(reader, writer);
        CHECK(n == rows[i].delivered, "%s: %zu", rows[i].expression, n);
    }
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        TEST(test_escapes_in_topic_filters),
        TEST(test_what_expressions_see_of_properties),
        TEST(test_the_tag_key_can_be_another_one),
        TEST(test_strict_integers),
        TEST(test_system_attributes_are_those_of_the_message),
        TEST(test_more_than_256_properties_match_no_filter),
        TEST(test_values_of_64_kib),
    };
    return run_tests(argc, argv, cases, N_ROWS(cases));
}
