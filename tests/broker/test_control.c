/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The commands of the control API: what each answers, and that setEnabled lasts when it has said so. What clients may
 * send instead of commands is in test_control_input.c.
 */
#include "admin.h"
#include "scenario.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#define FILE_NAME "settings.json"
#define FILE_LINE "plugin_opt_config_file @DIR@/" FILE_NAME "\n"

static struct broker *start(const char *options) {
    return broker_start(PLUGIN NO_STATE CONTROL "%s", options);
}

static const char *text_of(const json_t *object, const char *name) {
    const char *text = json_string_value(json_object_get(object, name));
    return text == NULL ? "" : text;
}

static long number_of(const json_t *object, const char *name) {
    const json_t *value = json_object_get(object, name);
    return json_is_integer(value) ? (long)json_integer_value(value) : -1;
}

/* ---- listFilters ---- */

static json_t *list(struct client *admin, const char *arguments) {
    char command[512];
    snprintf(command, sizeof command, "{'command':'listFilters'%s}", arguments);
    return admin_data(admin, command);
}

/* The item for a client and topic in a list; ends the case when there is none or more than one. */
static json_t *find(json_t *data, const char *id, const char *topic) {
    json_t *found = NULL;
    size_t n = 0;
    size_t index;
    json_t *item;
    json_array_foreach(json_object_get(data, "filters"), index, item) {
        if (strcmp(text_of(item, "clientid"), id) == 0 &&
            strcmp(text_of(item, "topic"), topic) == 0) {
            found = item;
            n++;
        }
    }
    REQUIRE(n == 1, "%s of %s: %zu times", topic, id, n);
    return found;
}

static void test_list_filters_shows_what_is_there(void) {
    static const struct {
        const char *id, *subscription, *topic, *expression;
    } rows[] = {
        {"a", "t?x=1", "t", "kv:x=1"},
        {"a", "sensor/+/t?  X = 1 & y>=2.50", "sensor/+/t", "kv:X=1&y>=2.50"},
        {"a", "%23?sql:a = 1 and b = 'it''s'", "#", "sql:a = 1 AND b = 'it''s'"},
        {"a", "a%3Fb?TAG: p || q", "a?b", "tag:p||q"},
        {"b", "t?x=\"\\", "t", "kv:x=\"\\"},
        {"b", "$share/g/t?x=1", "$share/g/t", "kv:x=1"},
        {"b", "\u00e4/\u20ac?\u00fc=\u00e9", "\u00e4/\u20ac", "kv:\u00fc=\u00e9"},
    };
    struct broker *broker = start("");
    struct client *admin = admin_open(broker, "admin");
    struct client *a = client_open(broker, "a");
    struct client *b = client_open(broker, "b");
    subscribe(a, "plain", 1);
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        subscribe(rows[i].id[0] == 'a' ? a : b, rows[i].subscription, 1);
    }
    json_t *data = list(admin, "");
    CHECK(number_of(data, "totalCount") == N_ROWS(rows) && number_of(data, "offset") == 0,
          "counts");
    CHECK(json_array_size(json_object_get(data, "filters")) == N_ROWS(rows),
          "plain ones are not listed");
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        json_t *item = find(data, rows[i].id, rows[i].topic);
        CHECK(strcmp(text_of(item, "expression"), rows[i].expression) == 0, "row %zu: %s", i,
              text_of(item, "expression"));
        CHECK(number_of(item, "passed") == 0 && number_of(item, "dropped") == 0,
              "row %zu: counters", i);
    }

    data = list(admin, ",'clientid':'b'");
    CHECK(number_of(data, "totalCount") == 3, "one client's");
    find(data, "b", "$share/g/t");
    static const char *const others[] = {"nobody", "", "admin", "A"};
    for (size_t i = 0; i < N_ROWS(others); i++) {
        char arguments[64];
        snprintf(arguments, sizeof arguments, ",'clientid':'%s'", others[i]);
        data = list(admin, arguments);
        CHECK(number_of(data, "totalCount") == 0 &&
                  json_array_size(json_object_get(data, "filters")) == 0,
              "'%s'", others[i]);
    }

    client_unsubscribe(a, "t");
    subscribe(b, "t", 1);
    data = list(admin, "");
    CHECK(number_of(data, "totalCount") == N_ROWS(rows) - 2, "unsubscribed and replaced");
    client_disconnect(b);
    data = list(admin, "");
    CHECK(number_of(data, "totalCount") == 3, "a session that is over");
}

static void test_list_filters_counts_for_each(void) {
    struct broker *broker = start("");
    struct client *admin = admin_open(broker, "admin");
    struct client *reader = client_open(broker, "reader");
    struct client *writer = client_open(broker, "writer");
    subscribe(reader, "t?x=1", 1);
    subscribe(reader, "%2B?x=2", 1);
    subscribe(reader, "#", 1);
    for (int i = 0; i < 10; i++) {
        publish(writer, "t", "m", i % 3, i < 3 ? "1" : i < 8 ? "2" : "3");
    }
    client_fence(reader, writer);
    json_t *data = list(admin, "");
    json_t *item = find(data, "reader", "t");
    CHECK(number_of(item, "passed") == 3 && number_of(item, "dropped") == 7, "t: %ld, %ld",
          number_of(item, "passed"), number_of(item, "dropped"));
    item = find(data, "reader", "+");
    CHECK(number_of(item, "passed") == 5 && number_of(item, "dropped") == 5, "+: %ld, %ld",
          number_of(item, "passed"), number_of(item, "dropped"));

    subscribe(reader, "t? x = 1", 1); /* the same filter: it goes on counting */
    subscribe(reader, "%2B?x=3", 1);  /* another one */
    publish(writer, "t", "m", 1, "1");
    client_fence(reader, writer);
    data = list(admin, "");
    item = find(data, "reader", "t");
    CHECK(number_of(item, "passed") == 4 && number_of(item, "dropped") == 7, "the same");
    item = find(data, "reader", "+");
    CHECK(number_of(item, "passed") == 0 && number_of(item, "dropped") == 1, "another");

    json_t *nothing = admin_data(admin, "{'command':'resetStats'}");
    CHECK(json_object_size(nothing) == 0, "resetStats");
    data = list(admin, "");
    item = find(data, "reader", "t");
    CHECK(number_of(item, "passed") == 0 && number_of(item, "dropped") == 0, "reset");
    CHECK(admin_stat(admin, "passed") == 0 && admin_stat(admin, "dropped") == 0 &&
              admin_stat(admin, "unknown") == 0 && admin_stat(admin, "refused") == 0,
          "reset");
    CHECK(admin_stat(admin, "subscriptions") == 2, "what is no counter stays");
}

/* ---- paging ---- */

enum {
    PAGED_CLIENTS = 7,
    PAGED_FILTERS = 200 /* of each */,
    MAX_LISTED = PAGED_CLIENTS * PAGED_FILTERS
};

/* Subscribe to t<first>, t<first + 1> … with the filter x=<value>. */
static void subscribe_numbered(struct client *client, int first, int n, const char *value) {
    enum {
        ENTRIES = 20,
        BYTES = 4200
    }; /* the broker takes no SUBSCRIBE of more than 100,000 bytes */
    static char texts[ENTRIES][BYTES];
    for (int i = 0; i < n; i += ENTRIES) {
        const char *entries[ENTRIES];
        int codes[ENTRIES];
        size_t count = (size_t)(n - i < ENTRIES ? n - i : ENTRIES);
        for (size_t k = 0; k < count; k++) {
            snprintf(texts[k], BYTES, "t%d?x=%s", first + i + (int)k, value);
            entries[k] = texts[k];
        }
        REQUIRE(client_subscribe_many(client, entries, count, 0, codes), "closed");
        for (size_t k = 0; k < count; k++) {
            REQUIRE(codes[k] == 0, "%s: 0x%02x", texts[k], (unsigned)codes[k]);
        }
    }
}

/* Go through all pages of this size, and check that each filter comes once. Returns the number of pages. */
static size_t read_pages(struct client *admin, size_t n_filters, size_t count,
                         const char *arguments) {
    static bool seen[MAX_LISTED];
    memset(seen, 0, sizeof seen);
    size_t offset = 0;
    size_t pages = 0;
    while (offset < n_filters) {
        char more[128];
        snprintf(more, sizeof more, ",'count':%zu,'offset':%zu%s", count, offset, arguments);
        json_t *data = list(admin, more);
        json_t *filters = json_object_get(data, "filters");
        size_t n = json_array_size(filters);
        REQUIRE((size_t)number_of(data, "totalCount") == n_filters &&
                    (size_t)number_of(data, "offset") == offset,
                "offset %zu: %ld in all", offset, number_of(data, "totalCount"));
        REQUIRE(n > 0 && n <= count, "offset %zu: %zu filters", offset, n);
        for (size_t i = 0; i < n; i++) {
            unsigned long number =
                strtoul(text_of(json_array_get(filters, i), "topic") + 1, NULL, 10);
            REQUIRE(number < n_filters && !seen[number], "number %lu", number);
            seen[number] = true;
        }
        offset += n;
        pages++;
    }
    return pages;
}

static void test_list_filters_in_pages(void) {
    struct broker *broker = start("");
    struct client *admin = admin_open(broker, "admin");
    for (int c = 0; c < PAGED_CLIENTS; c++) {
        char id[32];
        snprintf(id, sizeof id, "client%d", c);
        struct client *client = client_open(broker, id);
        subscribe(client, "plain", 0);
        subscribe_numbered(client, c * PAGED_FILTERS, PAGED_FILTERS, "1");
    }
    static const size_t counts[] = {1000, 999, 200, 77, MAX_LISTED};
    for (size_t i = 0; i < N_ROWS(counts); i++) {
        size_t most = counts[i] > 1000 ? 1000 : counts[i];
        size_t pages = read_pages(admin, MAX_LISTED, counts[i], "");
        CHECK(pages == (MAX_LISTED + most - 1) / most, "%zu at once: %zu pages", counts[i], pages);
    }
    static const struct {
        const char *arguments;
        size_t n;
    } rows[] = {
        {"", 100},
        {",'count':0", 0},
        {",'count':1000000", 1000},
        {",'offset':1350", 50},
        {",'offset':1399", 1},
        {",'offset':1400", 0},
        {",'offset':9223372036854775807", 0},
        {",'count':9223372036854775807,'offset':1390", 10},
        {",'clientid':'client3'", 100},
        {",'clientid':'client3','offset':150", 50},
        {",'clientid':'client3','offset':200", 0},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        json_t *data = list(admin, rows[i].arguments);
        size_t n = json_array_size(json_object_get(data, "filters"));
        CHECK(n == rows[i].n, "%s: %zu", rows[i].arguments, n);
        long total = strstr(rows[i].arguments, "clientid") != NULL ? PAGED_FILTERS : MAX_LISTED;
        CHECK(number_of(data, "totalCount") == total, "%s", rows[i].arguments);
    }
}

/* An answer holds about a megabyte of filters: pages end early, and a second command of the same message has to wait. */
static void test_list_filters_with_long_expressions(void) {
    enum { FILTERS = 400, BYTES = 4000 };
    static char value[BYTES + 1];
    static char payload[4096];
    memset(value, 'y', BYTES);
    struct broker *broker = start("");
    struct client *admin = admin_open(broker, "admin");
    struct client *client = client_open(broker, "c");
    subscribe_numbered(client, 0, FILTERS, value);
    size_t pages = read_pages(admin, FILTERS, 1000, "");
    CHECK(pages == 2, "%zu pages", pages);

    strcpy(payload, "{\"commands\":[");
    for (int i = 0; i < 99; i++) {
        strcat(payload, "{\"command\":\"listFilters\"},");
    }
    strcat(payload, "{\"command\":\"getStats\"}]}");
    json_t *answer =
        admin_send(admin, &(struct publish){.topic = CONTROL_TOPIC, .payload = payload, .qos = 1});
    json_t *responses = json_object_get(answer, "responses");
    REQUIRE(json_array_size(responses) == 100, "%zu answers", json_array_size(responses));
    for (size_t i = 0; i < 100; i++) {
        json_t *response = json_array_get(responses, i);
        bool has_data = json_is_object(json_object_get(response, "data"));
        CHECK(has_data == (i <= 2 || i == 99), "%zu: %s", i, text_of(response, "error"));
        if (!has_data) {
            CHECK(strstr(text_of(response, "error"), "in a message of its own") != NULL, "%zu: %s",
                  i, text_of(response, "error"));
        }
    }
}

/* ---- testFilter ---- */

static void test_test_filter_answers(void) {
    static const struct {
        const char *arguments; /* ' for " */
        const char *result;    /* "true", "false", "unknown" */
        const char *reason;    /* a part of it */
    } rows[] = {
        {"'expression':'room=a&v>5','properties':{'room':'a','v':'6'}", "true", "v"},
        {"'expression':'room=a&v>5','properties':{'room':'a','v':'5'}", "false", "v"},
        {"'expression':'v>5','properties':{'v':'x'}", "unknown", "v"},
        {"'expression':'v>5','properties':{}", "unknown", "v"},
        {"'expression':'v>5'", "unknown", "v"},
        {"'subscription':'a/+?v>5','properties':{'v':'6'}", "true", "v"},
        {"'subscription':'a%23b?v>5','properties':{'v':'6'}", NULL, ""},
        {"'subscription':'$share/g/a%2B?v>5'", NULL, ""},
        {"'expression':'sql:a = 1 AND b = 2','properties':{'a':'1'}", "unknown", "b"},
        {"'expression':'tag:x||y','properties':{'TAGS':'y'}", "true", ""},
        {"'expression':'v>10&v<5','properties':[['v','20'],['v','3']]", "true", ""},
        {"'expression':'sql:v = 3','properties':[['v','20'],['v','3']]", "true", ""},
        {"'expression':'sql:v = 3','properties':[['v','3'],['v','20']]", "false", ""},
        {"'expression':'sql:$qos = 1 AND $retain AND $payload_bytes > "
         "5','attributes':{'$qos':1,'$retain':true,"
         "'$payload_bytes':6}",
         "true", ""},
        {"'expression':'sql:$topic STARTSWITH \\\\u0061','attributes':{'$topic':'abc'}", NULL, ""},
        {"'expression':'sql:$topic = "
         "$content_type','attributes':{'$topic':'x','$content_type':'x'}",
         "true", ""},
        {"'expression':'sql:$response_topic IS NULL','attributes':{'$response_topic':'x'}", "false",
         ""},
        {"'expression':'sql:$qos = 0'", "unknown", "$qos"},
        {"'expression':'\\u00fc=\\ud83d\\ude00','properties':{'\\u00fc':'\\ud83d\\ude00'}", "true",
         "\u00fc"},
        {"'expression':'x=1','properties':{'x':''}", "false", ""},
        {"'expression':'x=1','properties':{'':'1'}", "unknown", "x"},
    };
    struct broker *broker = start("");
    struct client *admin = admin_open(broker, "admin");
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        char command[1024];
        snprintf(command, sizeof command, "{'command':'testFilter',%s}", rows[i].arguments);
        json_t *data = admin_data(admin, command);
        bool valid = json_is_true(json_object_get(data, "valid"));
        CHECK(valid == (rows[i].result != NULL), "row %zu: valid", i);
        if (rows[i].result == NULL) {
            continue;
        }
        CHECK(strcmp(text_of(data, "result"), rows[i].result) == 0, "row %zu: %s", i,
              text_of(data, "result"));
        CHECK(json_is_true(json_object_get(data, "match")) == (strcmp(rows[i].result, "true") == 0),
              "row %zu", i);
        CHECK(strstr(text_of(data, "reason"), rows[i].reason) != NULL &&
                  text_of(data, "reason")[0] != '\0',
              "row %zu: %s", i, text_of(data, "reason"));
    }
    CHECK(admin_stat(admin, "subscriptions") == 0 && admin_stat(admin, "filters") == 0 &&
              admin_stat(admin, "passed") == 0 && admin_stat(admin, "dropped") == 0 &&
              admin_stat(admin, "refused") == 0,
          "nothing else is touched");
}

/* The same code, place and text as in the log, when a client subscribes to it. */
static void test_test_filter_says_what_the_log_says(void) {
    static const char *const rows[] = {
        "t?",
        "t?x",
        "t?v=>5",
        "t?x=1=2",
        "t?x>abc",
        "t?sql:a > 'abc'",
        "t?sql:(a",
        "t?sql:a-b=1",
        "t?sql:a = 5f",
        "t?tag:a||",
        "a%23?x=1",
        "?x=1",
        "$share/g?x=1",
        "t?x=%00",
        "t?sql:a BETWEEN 5 AND 1",
        "%2B%2B?sql:TRUE",
        "t?x=1&y",
    };
    struct broker *broker = start("plugin_opt_sys_interval 1\n");
    struct client *admin = admin_open(broker, "admin");
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        char command[256], id[16], line[1024];
        snprintf(id, sizeof id, "c%zu", i);
        struct client *client = client_open(broker, id);
        CHECK(client_subscribe(client, rows[i], 1) == REFUSED, "%s", rows[i]);
        json_t *object = json_pack("{ss, ss}", "command", "testFilter", "subscription", rows[i]);
        char *text = json_dumps(object, 0);
        json_decref(object);
        REQUIRE(text != NULL, "out of memory");
        snprintf(command, sizeof command, "{\"commands\":[%s]}", text);
        free(text);
        json_t *answer = admin_send(
            admin, &(struct publish){.topic = CONTROL_TOPIC, .payload = command, .qos = 1});
        json_t *data =
            json_object_get(json_array_get(json_object_get(answer, "responses"), 0), "data");
        CHECK(json_is_false(json_object_get(data, "valid")) && number_of(data, "length") >= 0, "%s",
              rows[i]);
        snprintf(line, sizeof line, "client %s: subscription '%s' refused (%s, offset %ld): %s\n",
                 id, rows[i], text_of(data, "code"), number_of(data, "offset"),
                 text_of(data, "text"));
        CHECK(strstr(broker_log(broker), line) != NULL, "%s", line);
    }
}

static void test_test_filter_uses_the_settings(void) {
    struct broker *broker =
        start("plugin_opt_tag_key kind\nplugin_opt_strict_integers true\n"
              "plugin_opt_dialects tag,sql\nplugin_opt_max_expression_bytes 20\n");
    struct client *admin = admin_open(broker, "admin");
    static const struct {
        const char *arguments, *member, *value;
    } rows[] = {
        {"'expression':'tag:x','properties':{'kind':'x'}", "result", "true"},
        {"'expression':'sql:a = 5','properties':{'a':'5.0'}", "result", "unknown"},
        {"'expression':'x=1'", "code", "dialect"},
        {"'expression':'tag:12345678901234567'", "code", "limit"},
        {"'expression':'tag:1234567890123456'", "result", "unknown"},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        char command[256];
        snprintf(command, sizeof command, "{'command':'testFilter',%s}", rows[i].arguments);
        json_t *data = admin_data(admin, command);
        CHECK(strcmp(text_of(data, rows[i].member), rows[i].value) == 0, "row %zu: %s", i,
              text_of(data, rows[i].member));
    }
}

/* ---- setEnabled ---- */

/* Whether filters are on: "t?x" is a bad one. */
static bool is_on(struct client *client) {
    int code = client_subscribe(client, "t?x", 1);
    CHECK(code == 1 || code == REFUSED, "0x%02x", (unsigned)code);
    if (code == 1) {
        client_unsubscribe(client, "t?x");
    }
    return code == REFUSED;
}

static void test_set_enabled_without_a_file_lasts_until_the_end(void) {
    struct broker *broker = start("");
    struct client *admin = admin_open(broker, "admin");
    CHECK(is_on(admin), "on");
    json_t *data = admin_data(admin, "{'command':'setEnabled','enabled':false}");
    CHECK(json_is_false(json_object_get(data, "enabled")), "answer");
    CHECK(!is_on(admin) && admin_stat(admin, "enabled") == 0, "off");
    broker_reload(broker);
    CHECK(!is_on(admin), "SIGHUP changes nothing");
    admin_data(admin, "{'command':'setEnabled','enabled':true}");
    CHECK(is_on(admin) && admin_stat(admin, "enabled") == 1, "on");
    admin_data(admin, "{'command':'setEnabled','enabled':false}");
    REQUIRE(broker_stop(broker) == 0, "stop");
    broker_run(broker);
    CHECK(is_on(client_open(broker, "c")), "on after a restart");
}

static void test_set_enabled_is_in_the_file_before_the_answer(void) {
    struct broker *broker = broker_new(PLUGIN NO_STATE CONTROL FILE_LINE);
    char path[256];
    struct stat status;
    broker_write_file(broker, FILE_NAME,
                      "{\"max_expression_bytes\": 5,\n \"enabled\":true, \"dialects\": [\"kv\"]}");
    snprintf(path, sizeof path, "%s/" FILE_NAME, broker_dir(broker));
    REQUIRE(chmod(path, 0640) == 0, "chmod");
    broker_run(broker);
    for (int on = 0; on <= 1; on++) {
        struct client *admin = admin_open(broker, "admin");
        admin_data(admin, on ? "{'command':'setEnabled','enabled':true}"
                             : "{'command':'setEnabled','enabled':false}");
        broker_kill(broker);
        const char *text = read_file(broker, FILE_NAME);
        json_t *root = json_loads(text, 0, NULL);
        CHECK(json_object_size(root) == 3 && json_is_boolean(json_object_get(root, "enabled")) &&
                  json_is_true(json_object_get(root, "enabled")) == (on == 1),
              "%s", text);
        CHECK(number_of(root, "max_expression_bytes") == 5 &&
                  json_array_size(json_object_get(root, "dialects")) == 1,
              "the rest stays: %s", text);
        json_decref(root);
        CHECK(strstr(text, "max_expression_bytes") < strstr(text, "enabled") &&
                  strstr(text, "enabled") < strstr(text, "dialects") &&
                  text[strlen(text) - 1] == '\n',
              "in its order: %s", text);
        CHECK(stat(path, &status) == 0 && (status.st_mode & 07777) == 0640, "mode");
        broker_run(broker);
        CHECK(is_on(client_open(broker, "c")) == (on == 1), "after the crash");
    }
    broker_reload(broker);
    CHECK(broker_await_log(broker, "read: nothing has changed."), "the file is what is in force");
}

/* Where it could not last it is not done. */
static void test_set_enabled_that_cannot_be_written(void) {
    struct broker *broker = broker_new(PLUGIN NO_STATE CONTROL FILE_LINE);
    static const char before[] = "{\"enabled\": true}\n";
    char path[256];
    broker_write_file(broker, FILE_NAME, before);
    broker_run(broker);
    struct client *admin = admin_open(broker, "admin");
    /* The name under which the new file is written is taken by a folder that is not empty. */
    snprintf(path, sizeof path, "%s/" FILE_NAME ".new", broker_dir(broker));
    REQUIRE(mkdir(path, 0700) == 0, "mkdir");
    broker_write_file(broker, FILE_NAME ".new/x", "");
    json_t *answer = admin_ask(admin, "{'command':'setEnabled','enabled':false}");
    CHECK(strstr(text_of(answer, "error"), "settings.json cannot be written: ") != NULL, "%s",
          text_of(answer, "error"));
    CHECK(json_object_get(answer, "data") == NULL, "no data");
    CHECK(is_on(admin) && admin_stat(admin, "enabled") == 1, "nothing has changed");
    CHECK(strcmp(read_file(broker, FILE_NAME), before) == 0, "nor has the file");
    CHECK(broker_log_count(
              broker,
              "client admin: {\"command\":\"setEnabled\",\"enabled\":false}: config_file ") == 1,
          "logged");

    /* Nor when the file became one that the broker would not start with. */
    static const struct {
        const char *text, *error;
    } rows[] = {
        {"{\"enabled\": true,\n\"what\": 1}", "line 2: \"what\" is no setting"},
        {"{", "line 1: "},
        {"[]", "line 1: it is not a JSON object"},
        {"", "line 1: "},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        broker_write_file(broker, FILE_NAME, rows[i].text);
        answer = admin_ask(admin, "{'command':'setEnabled','enabled':false}");
        CHECK(strstr(text_of(answer, "error"), rows[i].error) != NULL, "row %zu: %s", i,
              text_of(answer, "error"));
        CHECK(strcmp(read_file(broker, FILE_NAME), rows[i].text) == 0, "row %zu: file", i);
        CHECK(is_on(admin), "row %zu: on", i);
    }
    snprintf(path, sizeof path, "%s/" FILE_NAME, broker_dir(broker));
    REQUIRE(remove(path) == 0, "remove");
    answer = admin_ask(admin, "{'command':'setEnabled','enabled':false}");
    CHECK(strstr(text_of(answer, "error"), "No such file or directory") != NULL, "%s",
          text_of(answer, "error"));
    CHECK(is_on(admin), "on");
}

/* ---- the envelope ---- */

static void test_answers_are_in_order_with_their_correlation_data(void) {
    struct broker *broker = start("");
    struct client *admin = admin_open(broker, "admin");
    json_t *answer = admin_send(
        admin, &(struct publish){
                   .topic = CONTROL_TOPIC,
                   .payload = "{\"commands\":["
                              "{\"command\":\"getStats\",\"correlationData\":\"1\"},"
                              "{\"correlationData\":\"\\u00e4\\n\\\"\",\"command\":\"resetStats\"},"
                              "{\"command\":\"nonsense\",\"correlationData\":\"3\"},"
                              "{\"command\":\"setEnabled\",\"correlationData\":\"\"},"
                              "{\"command\":\"listFilters\"}"
                              "]}"});
    static const struct {
        const char *command, *correlation, *error;
    } rows[] = {
        {"getStats", "1", NULL},
        {"resetStats", "\u00e4\n\"", NULL},
        {"nonsense", "3", "Unknown command"},
        {"setEnabled", "", "enabled is true or false"},
        {"listFilters", NULL, NULL},
    };
    json_t *responses = json_object_get(answer, "responses");
    CHECK(json_array_size(responses) == N_ROWS(rows), "%zu answers", json_array_size(responses));
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        json_t *response = json_array_get(responses, i);
        CHECK(strcmp(text_of(response, "command"), rows[i].command) == 0, "row %zu", i);
        const char *correlation = json_string_value(json_object_get(response, "correlationData"));
        CHECK((correlation == NULL) == (rows[i].correlation == NULL) &&
                  (correlation == NULL || strcmp(correlation, rows[i].correlation) == 0),
              "row %zu: correlationData", i);
        CHECK(strcmp(text_of(response, "error"), rows[i].error == NULL ? "" : rows[i].error) == 0,
              "row %zu: %s", i, text_of(response, "error"));
        CHECK((json_object_get(response, "data") == NULL) == (rows[i].error != NULL),
              "row %zu: data", i);
    }
}

/* The line that docs/control.md has. */
static void test_mosquitto_rr_from_the_shell(void) {
    struct broker *broker = start("");
    char command[1024];
    snprintf(command, sizeof command,
             "'%s/mosquitto_rr' -p %d -W 20 -t '$CONTROL/subscription-filter/v1' -e "
             "'$CONTROL/subscription-filter/v1/response' -m "
             "'{\"commands\":[{\"command\":\"getStats\"}]}'",
             TEST_BROKER_BIN, broker_port(broker, 1));
    FILE *output = popen(command, "r");
    char text[4096] = "";
    REQUIRE(output != NULL, "popen");
    size_t bytes = fread(text, 1, sizeof text - 1, output);
    CHECK(pclose(output) == 0, "exit status");
    text[bytes] = '\0';
    json_t *root = json_loads(text, 0, NULL);
    json_t *data = json_object_get(json_array_get(json_object_get(root, "responses"), 0), "data");
    CHECK(json_is_true(json_object_get(data, "enabled")) && number_of(data, "subscriptions") == 0 &&
              json_is_true(json_object_get(data, "stateFileWell")),
          "%s", text);
    json_decref(root);
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        TEST(test_list_filters_shows_what_is_there),
        TEST(test_list_filters_counts_for_each),
        TEST(test_list_filters_in_pages),
        TEST(test_list_filters_with_long_expressions),
        TEST(test_test_filter_answers),
        TEST(test_test_filter_says_what_the_log_says),
        TEST(test_test_filter_uses_the_settings),
        TEST(test_set_enabled_without_a_file_lasts_until_the_end),
        TEST(test_set_enabled_is_in_the_file_before_the_answer),
        TEST(test_set_enabled_that_cannot_be_written),
        TEST(test_answers_are_in_order_with_their_correlation_data),
        TEST(test_mosquitto_rr_from_the_shell),
    };
    return run_tests(argc, argv, cases, N_ROWS(cases));
}
