/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See admin.h.
 */
#include "admin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_COMMAND = 8192 };

static void give_back(void *user) {
    json_decref(user);
}

struct client *admin_open(struct broker *broker, const char *id) {
    struct client *admin = client_open(broker, id);
    int code = client_subscribe(admin, CONTROL_TOPIC "/response", 1);
    REQUIRE(code == 1, "the answers: 0x%02x", (unsigned)code);
    return admin;
}

json_t *admin_exchange(struct client *admin, const struct publish *request) {
    client_clear(admin);
    int code = client_publish(admin, request);
    REQUIRE(code == 0 || code == 0x10, "request: 0x%02x", (unsigned)code);
    bool came = client_await(admin, 1);
    REQUIRE(came, "no answer");
    const struct message *answer = client_message(admin, 0);
    json_t *root = json_loadb(answer->payload, answer->payload_bytes, 0, NULL);
    bool good = json_object_size(root) == 1 && json_is_array(json_object_get(root, "responses"));
    REQUIRE(good, "answer: %.300s", answer->payload);
    CHECK(client_count(admin) == 1 && strcmp(answer->topic, CONTROL_TOPIC "/response") == 0 &&
              !answer->retain,
          "%zu messages on %s", client_count(admin), answer->topic);
    client_clear(admin);
    return root;
}

json_t *admin_send(struct client *admin, const struct publish *request) {
    json_t *root = admin_exchange(admin, request);
    test_defer(give_back, root);
    return root;
}

static json_t *ask(struct client *admin, const char *command) {
    char payload[MAX_COMMAND];
    int bytes = snprintf(payload, sizeof payload, "{\"commands\":[%s]}", command);
    REQUIRE(bytes >= 0 && (size_t)bytes < sizeof payload, "a long command");
    for (char *p = payload; (p = strchr(p, '\'')) != NULL;) {
        *p = '"';
    }
    json_t *root = admin_exchange(
        admin, &(struct publish){.topic = CONTROL_TOPIC, .payload = payload, .qos = 1});
    json_t *responses = json_object_get(root, "responses");
    REQUIRE(json_array_size(responses) == 1, "%zu answers to %s", json_array_size(responses),
            payload);
    json_t *response = json_incref(json_array_get(responses, 0));
    json_decref(root);
    return response;
}

json_t *admin_ask(struct client *admin, const char *command) {
    json_t *response = ask(admin, command);
    test_defer(give_back, response);
    return response;
}

json_t *admin_data(struct client *admin, const char *command) {
    json_t *response = admin_ask(admin, command);
    json_t *data = json_object_get(response, "data");
    REQUIRE(json_is_object(data), "%s: %s", command,
            json_string_value(json_object_get(response, "error")));
    return data;
}

long admin_stat(struct client *admin, const char *name) {
    json_t *response = ask(admin, "{'command':'getStats'}");
    json_t *data = json_object_get(response, "data");
    json_t *value = json_object_get(data, name);
    value = value == NULL ? json_object_get(json_object_get(data, "messages"), name) : value;
    long number = json_is_boolean(value) ? json_is_true(value) : (long)json_integer_value(value);
    bool found = json_is_integer(value) || json_is_boolean(value);
    json_decref(response);
    REQUIRE(found, "no %s", name);
    return number;
}
