/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What clients send to the control API that is no good command, or that they may not send: the answer is an error, and
 * nothing more comes of it. Everything is logged with the client that sent it.
 */
#include "admin.h"
#include "scenario.h"

#include <stdio.h>
#include <stdlib.h>

#define NOT_AUTHORIZED 0x87

/* The one answer, as its error; "" when it has none. */
static const char *error_of(json_t *answer) {
    json_t *responses = json_object_get(answer, "responses");
    REQUIRE(json_array_size(responses) == 1, "%zu answers", json_array_size(responses));
    const char *error = json_string_value(json_object_get(json_array_get(responses, 0), "error"));
    return error == NULL ? "" : error;
}

/* The same of the answer to a request; valid until the next call. */
static const char *send_for_error(struct client *admin, const struct publish *request) {
    static char error[256];
    json_t *answer = admin_exchange(admin, request);
    snprintf(error, sizeof error, "%s", error_of(answer));
    json_decref(answer);
    return error;
}

static json_t *send_text(struct client *admin, const char *payload) {
    return admin_send(admin,
                      &(struct publish){.topic = CONTROL_TOPIC, .payload = payload, .qos = 1});
}

/* Settings and counters as at the start, the broker and the client alive. */
static void check_untouched(struct client *admin, const char *what) {
    CHECK(client_is_connected(admin), "%s: connected", what);
    CHECK(admin_stat(admin, "enabled") == 1 && admin_stat(admin, "subscriptions") == 0 &&
              admin_stat(admin, "filters") == 0 && admin_stat(admin, "refused") == 0,
          "%s: untouched", what);
}

/* ---- payloads ---- */

static const struct {
    const char *payload;
    const char *error;
} payloads[] = {
    /* clang-format off */
    /* not JSON */
    {"",                                                    "Payload not valid JSON"},
    {" ",                                                   "Payload not valid JSON"},
    {"getStats",                                            "Payload not valid JSON"},
    {"{",                                                   "Payload not valid JSON"},
    {"{\"commands\":[{\"command\":\"getStats\"}]",          "Payload not valid JSON"},
    {"{\"commands\":[{\"command\":\"getStats\"}]} x",       "Payload not valid JSON"},
    {"{'commands':[]}",                                     "Payload not valid JSON"},
    {"\"commands\"",                                        "Payload not valid JSON"},
    {"7",                                                   "Payload not valid JSON"},
    {"{\"commands\":[{\"command\":\"\xFF\"}]}",             "Payload not valid JSON"},
    {"{\"commands\":[{\"command\":\"\xC0\xAF\"}]}",         "Payload not valid JSON"},
    {"{\"commands\":[{\"command\":\"\xED\xA0\x80\"}]}",     "Payload not valid JSON"},
    {"{\"commands\":[{\"command\":\"\\ud800\"}]}",          "Payload not valid JSON"},
    {"{\"commands\":[{\"command\":\"a\\u0000b\"}]}",        "Payload not valid JSON"},
    {"{\"commands\":[{\"command\":\"listFilters\",\"count\":99999999999999999999}]}", "Payload not valid JSON"},
    {"{\"commands\":[{\"command\":\"listFilters\",\"count\":1e999}]}", "Payload not valid JSON"},
    {"\xEF\xBB\xBF{\"commands\":[]}",                       "Payload not valid JSON"},
    /* no list of commands */
    {"{}",                                                  "Invalid/missing commands"},
    {"[]",                                                  "Invalid/missing commands"},
    {"[{\"command\":\"getStats\"}]",                        "Invalid/missing commands"},
    {"{\"command\":\"getStats\"}",                          "Invalid/missing commands"},
    {"{\"Commands\":[]}",                                   "Invalid/missing commands"},
    {"{\"commands\":{}}",                                   "Invalid/missing commands"},
    {"{\"commands\":\"getStats\"}",                         "Invalid/missing commands"},
    {"{\"commands\":null}",                                 "Invalid/missing commands"},
    /* no command */
    {"{\"commands\":[7]}",                                  "Command not an object"},
    {"{\"commands\":[null]}",                               "Command not an object"},
    {"{\"commands\":[\"getStats\"]}",                       "Command not an object"},
    {"{\"commands\":[[{\"command\":\"getStats\"}]]}",       "Command not an object"},
    {"{\"commands\":[{}]}",                                 "Missing command"},
    {"{\"commands\":[{\"command\":7}]}",                    "Missing command"},
    {"{\"commands\":[{\"command\":[\"getStats\"]}]}",       "Missing command"},
    {"{\"commands\":[{\"Command\":\"getStats\"}]}",         "Missing command"},
    {"{\"commands\":[{\"command\":\"getStats\",\"correlationData\":7}]}",    "Invalid correlationData data type."},
    {"{\"commands\":[{\"command\":\"getStats\",\"correlationData\":null}]}", "Invalid correlationData data type."},
    {"{\"commands\":[{\"command\":\"getStats\",\"correlationData\":{}}]}",   "Invalid correlationData data type."},
    /* an unknown one */
    {"{\"commands\":[{\"command\":\"\"}]}",                 "Unknown command"},
    {"{\"commands\":[{\"command\":\"getstats\"}]}",         "Unknown command"},
    {"{\"commands\":[{\"command\":\"getStats \"}]}",        "Unknown command"},
    {"{\"commands\":[{\"command\":\"createClient\"}]}",     "Unknown command"},
    {"{\"commands\":[{\"command\":\"\xE2\x80\xA8\\u001b[2J\\n%s%n\"}]}", "Unknown command"},
    /* arguments */
    {"{\"commands\":[{\"command\":\"listFilters\",\"count\":\"7\"}]}",    "count and offset are numbers from 0, clientid is a string"},
    {"{\"commands\":[{\"command\":\"listFilters\",\"count\":-1}]}",       "count and offset are numbers from 0, clientid is a string"},
    {"{\"commands\":[{\"command\":\"listFilters\",\"count\":1.5}]}",      "count and offset are numbers from 0, clientid is a string"},
    {"{\"commands\":[{\"command\":\"listFilters\",\"count\":null}]}",     "count and offset are numbers from 0, clientid is a string"},
    {"{\"commands\":[{\"command\":\"listFilters\",\"offset\":-1}]}",      "count and offset are numbers from 0, clientid is a string"},
    {"{\"commands\":[{\"command\":\"listFilters\",\"offset\":[]}]}",      "count and offset are numbers from 0, clientid is a string"},
    {"{\"commands\":[{\"command\":\"listFilters\",\"clientid\":7}]}",     "count and offset are numbers from 0, clientid is a string"},
    {"{\"commands\":[{\"command\":\"listFilters\",\"clientid\":null}]}",  "count and offset are numbers from 0, clientid is a string"},
    {"{\"commands\":[{\"command\":\"setEnabled\"}]}",                     "enabled is true or false"},
    {"{\"commands\":[{\"command\":\"setEnabled\",\"enabled\":\"false\"}]}", "enabled is true or false"},
    {"{\"commands\":[{\"command\":\"setEnabled\",\"enabled\":0}]}",       "enabled is true or false"},
    {"{\"commands\":[{\"command\":\"setEnabled\",\"enabled\":null}]}",    "enabled is true or false"},
    {"{\"commands\":[{\"command\":\"testFilter\"}]}",                     "one of expression and subscription is needed, as a string"},
    {"{\"commands\":[{\"command\":\"testFilter\",\"expression\":7}]}",    "one of expression and subscription is needed, as a string"},
    {"{\"commands\":[{\"command\":\"testFilter\",\"expression\":\"x=1\",\"subscription\":\"t?x=1\"}]}", "one of expression and subscription is needed, as a string"},
    {"{\"commands\":[{\"command\":\"testFilter\",\"subscription\":\"t\"}]}", "the subscription has no filter: there is no '?' in it"},
    {"{\"commands\":[{\"command\":\"testFilter\",\"expression\":\"x=1\",\"properties\":7}]}", "properties is an object of strings or a list of [name, value] pairs"},
    {"{\"commands\":[{\"command\":\"testFilter\",\"expression\":\"x=1\",\"properties\":{\"x\":1}}]}", "properties is an object of strings or a list of [name, value] pairs"},
    {"{\"commands\":[{\"command\":\"testFilter\",\"expression\":\"x=1\",\"properties\":[\"x\"]}]}", "properties is an object of strings or a list of [name, value] pairs"},
    {"{\"commands\":[{\"command\":\"testFilter\",\"expression\":\"x=1\",\"properties\":[[\"x\"]]}]}", "properties is an object of strings or a list of [name, value] pairs"},
    {"{\"commands\":[{\"command\":\"testFilter\",\"expression\":\"x=1\",\"properties\":[[\"x\",\"1\",\"2\"]]}]}", "properties is an object of strings or a list of [name, value] pairs"},
    {"{\"commands\":[{\"command\":\"testFilter\",\"expression\":\"x=1\",\"properties\":[[7,\"1\"]]}]}", "properties is an object of strings or a list of [name, value] pairs"},
    {"{\"commands\":[{\"command\":\"testFilter\",\"expression\":\"x=1\",\"properties\":null}]}", "properties is an object of strings or a list of [name, value] pairs"},
    {"{\"commands\":[{\"command\":\"testFilter\",\"expression\":\"x=1\",\"attributes\":[]}]}", "attributes is an object of "},
    {"{\"commands\":[{\"command\":\"testFilter\",\"expression\":\"x=1\",\"attributes\":{\"qos\":1}}]}", "attributes is an object of "},
    {"{\"commands\":[{\"command\":\"testFilter\",\"expression\":\"x=1\",\"attributes\":{\"$qos\":3}}]}", "attributes is an object of "},
    {"{\"commands\":[{\"command\":\"testFilter\",\"expression\":\"x=1\",\"attributes\":{\"$qos\":\"1\"}}]}", "attributes is an object of "},
    {"{\"commands\":[{\"command\":\"testFilter\",\"expression\":\"x=1\",\"attributes\":{\"$payload_bytes\":-1}}]}", "attributes is an object of "},
    {"{\"commands\":[{\"command\":\"testFilter\",\"expression\":\"x=1\",\"attributes\":{\"$retain\":1}}]}", "attributes is an object of "},
    {"{\"commands\":[{\"command\":\"testFilter\",\"expression\":\"x=1\",\"attributes\":{\"$topic\":1}}]}", "attributes is an object of "},
    /* clang-format on */
};

static void test_bad_payloads_are_answered(void) {
    struct broker *broker = broker_start(PLUGIN NO_STATE CONTROL);
    struct client *admin = admin_open(broker, "admin");
    for (size_t i = 0; i < N_ROWS(payloads); i++) {
        for (int qos = 0; qos <= 2; qos++) {
            bool retain = qos == 1;
            const char *error =
                send_for_error(admin, &(struct publish){.topic = CONTROL_TOPIC,
                                                        .payload = payloads[i].payload,
                                                        .qos = qos,
                                                        .retain = retain});
            bool cut = strstr(payloads[i].error, " of ") != NULL &&
                       strstr(error, payloads[i].error) == error;
            CHECK(strcmp(error, payloads[i].error) == 0 || cut, "row %zu, QoS %d: %s", i, qos,
                  error);
        }
        if (i % 20 == 0) {
            check_untouched(admin, payloads[i].payload);
        }
    }
    check_untouched(admin, "in the end");
    size_t n = broker_log_count(broker, "subscription-filter: client admin: ");
    CHECK(n >= 3 * N_ROWS(payloads), "each is logged: %zu lines", n);
    /* A retained request is not kept: who subscribes to the topic gets nothing. */
    struct client *curious = client_open(broker, "curious");
    CHECK(client_subscribe(curious, CONTROL_TOPIC, 1) == 1,
          "allowed, since there is no access control");
    send_text(admin, "{\"commands\":[{\"command\":\"getStats\"}]}");
    CHECK(client_fence(curious, admin) == 0, "requests go to the plugin only");
}

/* A list stops at what is no command; what comes before it has been done. */
static void test_what_follows_no_command_is_not_read(void) {
    struct broker *broker = broker_start(PLUGIN NO_STATE CONTROL);
    struct client *admin = admin_open(broker, "admin");
    json_t *answer =
        send_text(admin, "{\"commands\":[{\"command\":\"getStats\"},{\"command\":\"what\"},7,"
                         "{\"command\":\"setEnabled\",\"enabled\":false}]}");
    json_t *responses = json_object_get(answer, "responses");
    CHECK(json_array_size(responses) == 3, "%zu answers", json_array_size(responses));
    CHECK(admin_stat(admin, "enabled") == 1, "not read");
}

/* `n` times `part` between two texts; freed when the case ends. */
static char *repeat(const char *before, const char *part, size_t n, const char *after,
                    size_t *bytes_out) {
    size_t part_bytes = strlen(part);
    *bytes_out = strlen(before) + n * part_bytes + strlen(after);
    char *text = malloc(*bytes_out + 1);
    REQUIRE(text != NULL, "out of memory");
    test_defer(free, text);
    char *at = stpcpy(text, before);
    for (size_t i = 0; i < n; i++, at += part_bytes) {
        memcpy(at, part, part_bytes);
    }
    strcpy(at, after);
    return text;
}

static void test_big_payloads_are_answered(void) {
    static const struct {
        const char *what, *before, *part, *after;
        size_t n;
        const char *error; /* NULL: as many answers as there are commands */
    } rows[] = {
        {"open brackets", "", "[", "", 500000, "Payload not valid JSON"},
        {"a deep value", "{\"commands\":[{\"command\":\"getStats\",\"x\":", "[", "", 100000,
         "Payload not valid JSON"},
        {"open objects", "", "{\"a\":", "", 100000, "Payload not valid JSON"},
        {"blanks", "{\"commands\":[{\"command\":\"getStats\"}]}", " ", "", 1100000,
         "Payload too large"},
        {"zeros", "", "0", "", 8 << 20, "Payload too large"},
        {"a name", "{\"commands\":[{\"command\":\"", "n", "\"}]}", 1000000, "Unknown command"},
        {"an expression", "{\"commands\":[{\"command\":\"testFilter\",\"expression\":\"x=", "y",
         "\"}]}", 1000000, ""},
        {"a client", "{\"commands\":[{\"command\":\"listFilters\",\"clientid\":\"", "c", "\"}]}",
         1000000, ""},
        {"keys", "{\"commands\":[{\"command\":\"getStats\"", ",\"x\":{}", "}]}", 100000, ""},
        {"properties",
         "{\"commands\":[{\"command\":\"testFilter\",\"expression\":\"x=1\",\"properties\":[[\"x\","
         "\"1\"]",
         ",[\"x\",\"1\"]", "]}]}", 80000, ""},
        {"101 commands", "{\"commands\":[{\"command\":\"getStats\"}", ",{\"command\":\"getStats\"}",
         "]}", 100, "Too many commands in one message"},
        {"10,001 commands", "{\"commands\":[{\"command\":\"setEnabled\",\"enabled\":false}",
         ",{\"command\":\"setEnabled\",\"enabled\":false}", "]}", 10000,
         "Too many commands in one message"},
        {"100,001 times nothing", "{\"commands\":[7", ",7", "]}", 100000,
         "Too many commands in one message"},
        {"100 commands", "{\"commands\":[{\"command\":\"getStats\"}", ",{\"command\":\"getStats\"}",
         "]}", 99, NULL},
        {"100 filters", "{\"commands\":[{\"command\":\"testFilter\",\"expression\":\"x=1\"}",
         ",{\"command\":\"testFilter\",\"expression\":\"x=1\"}", "]}", 99, NULL},
    };
    struct broker *broker =
        broker_start(PLUGIN NO_STATE CONTROL "plugin_opt_max_expression_bytes 65535\n"
                                             "max_packet_size 20000000\n");
    struct client *admin = admin_open(broker, "admin");
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        size_t bytes = 0;
        const char *payload =
            repeat(rows[i].before, rows[i].part, rows[i].n, rows[i].after, &bytes);
        json_t *answer = admin_send(admin, &(struct publish){.topic = CONTROL_TOPIC,
                                                             .payload = payload,
                                                             .payload_bytes = bytes,
                                                             .qos = 1});
        if (rows[i].error == NULL) {
            size_t n = json_array_size(json_object_get(answer, "responses"));
            CHECK(n == 100, "%s: %zu answers", rows[i].what, n);
        } else {
            CHECK(strcmp(error_of(answer), rows[i].error) == 0, "%s: %s", rows[i].what,
                  error_of(answer));
        }
        check_untouched(admin, rows[i].what);
    }
    for (const char *line = broker_log(broker); *line != '\0';) {
        size_t bytes = strcspn(line, "\n");
        CHECK(bytes < 600, "a line of %zu bytes: %.100s", bytes, line);
        line += bytes + (line[bytes] == '\n');
    }
}

/* Bytes that end in the middle of the text that the parser is given, and NUL among them. */
static void test_nul_bytes_and_odd_lengths(void) {
    static const char whole[] = "{\"commands\":[{\"command\":\"getStats\"}]}\0{\"commands\":[]}";
    struct broker *broker = broker_start(PLUGIN NO_STATE CONTROL);
    struct client *admin = admin_open(broker, "admin");
    size_t good = strlen(whole);
    for (size_t bytes = 1; bytes < sizeof whole; bytes++) {
        const char *error = send_for_error(
            admin, &(struct publish){
                       .topic = CONTROL_TOPIC, .payload = whole, .payload_bytes = bytes, .qos = 0});
        CHECK((error[0] == '\0') == (bytes == good), "%zu bytes: %s", bytes, error);
    }
}

/* ---- log ---- */

static void test_each_command_is_logged_with_its_client(void) {
    static const struct {
        const char *command, *logged;
    } rows[] = {
        {"{'command':'getStats'}", "client admin: {\"command\":\"getStats\"}\n"},
        {"{'command':'setEnabled','enabled':false}",
         "client admin: {\"command\":\"setEnabled\",\"enabled\":false}\n"},
        {"{'command':'setEnabled','enabled':true}",
         "client admin: {\"command\":\"setEnabled\",\"enabled\":true}\n"},
        {"{'command':'resetStats','correlationData':'x'}",
         "client admin: {\"command\":\"resetStats\",\"correlationData\":\"x\"}\n"},
        {"{'command':'testFilter','expression':'x=>1'}",
         "client admin: {\"command\":\"testFilter\",\"expression\":\"x=>1\"}\n"},
        {"{'command':'setEnabled','enabled':7}",
         "client admin: {\"command\":\"setEnabled\",\"enabled\":7}: enabled is true or false\n"},
        {"{'command':'what'}", "client admin: {\"command\":\"what\"}: Unknown command\n"},
        {"7", "client admin: $CONTROL/subscription-filter/v1: Command not an object\n"},
        {"{'command':'\\u001b[2J\\u009b\\n'}",
         "client admin: {\"command\":\"\\x5cu001B[2J\\xc2\\x9b\\x5cn\"}: "},
    };
    struct broker *broker = broker_start(PLUGIN NO_STATE CONTROL);
    struct client *admin = admin_open(broker, "admin");
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        admin_ask(admin, rows[i].command);
        CHECK(broker_await_log(broker, rows[i].logged), "row %zu", i);
    }
    struct client *odd = admin_open(broker, "odd\\id%s%n");
    admin_ask(odd, "{'command':'getStats'}");
    CHECK(broker_await_log(broker, "client odd\\x5cid%s%n: {\"command\":\"getStats\"}\n"),
          "identifier");
}

/* ---- access ---- */

static void test_off_by_default(void) {
    static const char *const options[] = {"", "plugin_opt_control false\n"};
    for (size_t i = 0; i < N_ROWS(options); i++) {
        struct broker *broker = broker_start(PLUGIN NO_STATE "%s", options[i]);
        struct client *client = client_open(broker, "c");
        subscribe(client, CONTROL_TOPIC "/response", 1);
        client_publish(client,
                       &(struct publish){.topic = CONTROL_TOPIC,
                                         .payload = "{\"commands\":[{\"command\":\"setEnabled\","
                                                    "\"enabled\":false}]}",
                                         .qos = 1});
        CHECK(client_fence(client, client) == 1, "row %zu: one answer, the broker's own", i);
        CHECK(strcmp(client_message(client, 0)->payload,
                     "{\"error\": \"endpoint not available\"}") == 0,
              "row %zu: %s", i, client_message(client, 0)->payload);
        CHECK(client_subscribe(client, "t?x", 1) == REFUSED, "row %zu: on", i);
    }
}

/* Two users, of whom one may use it; the same for an acl_file and for dynamic security. */
static void check_access(struct broker *broker) {
    static const char payload[] = "{\"commands\":[{\"command\":\"setEnabled\",\"enabled\":false}]}";
    struct client *root = client_connect(
        broker, &(struct client_options){.id = "root", .username = "root", .password = "secret"});
    struct client *user = client_connect(
        broker, &(struct client_options){.id = "user", .username = "user", .password = "secret"});
    subscribe(root, CONTROL_TOPIC "/response", 1);
    (void)client_subscribe(user, CONTROL_TOPIC "/response", 1); /* an acl_file denies at delivery */
    int code = client_publish(
        user, &(struct publish){.topic = CONTROL_TOPIC, .payload = payload, .qos = 1});
    CHECK(code == NOT_AUTHORIZED, "user: 0x%02x", (unsigned)code);
    CHECK(client_fence(root, root) == 0, "nothing was done");
    CHECK(admin_stat(root, "enabled") == 1, "nothing was done");
    CHECK(client_fence(user, user) == 0, "answers are for root only");
    CHECK(broker_log_count(broker, "subscription-filter: client user: ") == 0,
          "the plugin was not asked");
    json_t *answer = send_text(root, payload);
    CHECK(error_of(answer)[0] == '\0' && admin_stat(root, "enabled") == 0, "root may");
}

static void test_access_by_acl_file(void) {
    struct broker *broker = broker_new(PLUGIN NO_STATE CONTROL "acl_file @DIR@/acl\n");
    broker_write_file(
        broker, "acl",
        "user root\ntopic readwrite #\ntopic readwrite $CONTROL/subscription-filter/#\n"
        "user user\ntopic readwrite #\n");
    broker_run(broker);
    check_access(broker);
}

/* Run mosquitto_ctrl with these arguments, as an operator would. */
static void ctrl(const char *arguments) {
    char command[1024];
    snprintf(command, sizeof command, "'%s/mosquitto_ctrl' %s > /dev/null 2>&1", TEST_BROKER_BIN,
             arguments);
    int status = system(command);
    REQUIRE(status == 0, "%s: %d", command, status);
}

static void test_access_by_dynamic_security(void) {
    static const char *const commands[] = {
        "createClient user -p secret",
        "createRole reader",
        "addRoleACL reader publishClientSend '#' allow",
        "addRoleACL reader subscribePattern '#' allow",
        "addClientRole user reader",
        "addClientRole root reader",
        "addRoleACL admin publishClientSend '$CONTROL/subscription-filter/#' allow",
        "addRoleACL admin subscribePattern '$CONTROL/subscription-filter/#' allow",
        "addRoleACL admin publishClientReceive '$CONTROL/subscription-filter/#' allow",
    };
    struct broker *broker =
        broker_new(PLUGIN NO_STATE CONTROL "plugin @PLUGINS@/mosquitto_dynamic_security.so\n"
                                           "plugin_opt_config_file @DIR@/dynsec.json\n");
    char arguments[512];
    snprintf(arguments, sizeof arguments, "dynsec init '%s/dynsec.json' root secret",
             broker_dir(broker));
    ctrl(arguments);
    broker_run(broker);
    for (size_t i = 0; i < N_ROWS(commands); i++) {
        snprintf(arguments, sizeof arguments, "-p %d -u root -P secret dynsec %s",
                 broker_port(broker, 1), commands[i]);
        ctrl(arguments);
    }
    check_access(broker);
}

/* MQTT 3 clients are no second class here: the request is a message like any other. */
static void test_mqtt_3_clients_may_ask(void) {
    struct broker *broker = broker_start(PLUGIN NO_STATE CONTROL);
    struct client *admin =
        client_connect(broker, &(struct client_options){.id = "old", .protocol = 4});
    subscribe(admin, CONTROL_TOPIC "/response", 1);
    json_t *answer = send_text(admin, "{\"commands\":[{\"command\":\"getStats\"}]}");
    CHECK(error_of(answer)[0] == '\0', "%s", error_of(answer));
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        TEST(test_bad_payloads_are_answered),
        TEST(test_what_follows_no_command_is_not_read),
        TEST(test_big_payloads_are_answered),
        TEST(test_nul_bytes_and_odd_lengths),
        TEST(test_each_command_is_logged_with_its_client),
        TEST(test_off_by_default),
        TEST(test_access_by_acl_file),
        TEST(test_access_by_dynamic_security),
        TEST(test_mqtt_3_clients_may_ask),
    };
    return run_tests(argc, argv, cases, N_ROWS(cases));
}
