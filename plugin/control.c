/* SPDX-License-Identifier: BSD-3-Clause
 *
 * control: see the header. Each command is a row of a table; its handler fills in "data" or says what is wrong. testFilter
 * works on a schema of its own, so that trying a filter touches nothing that is in force.
 */
#include "control.h"

#include "control_test.h"
#include "json_text.h"
#include "log.h"
#include "plugin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

enum {
    MAX_PAYLOAD_BYTES = 1 << 20,
    MAX_COMMANDS = 100,         /* of one message */
    MAX_LISTED_BYTES = 1 << 20, /* of the filters in all answers to one message, about */
    ITEM_BYTES = 100,           /* of one filter beside its texts */
    PAGE = 100,                 /* filters listed when no count is given */
    MAX_PAGE = 1000,
};

/* One message with commands. */
struct request {
    struct plugin *plugin;
    const struct mosquitto *client;
    json_t *responses;
    size_t room; /* bytes of filters that may still be listed */
};

/* ---- listFilters ---- */

static size_t item_bytes(const struct subscription *subscription) {
    size_t filter_bytes = 0;
    (void)sf_filter_text(subscription->filter, &filter_bytes);
    return strlen(subscription->session->id) + subscription_topic_bytes(subscription) + filter_bytes + ITEM_BYTES;
}

static json_t *describe_subscription(const struct subscription *subscription) {
    char *topic = malloc(subscription_topic_bytes(subscription) + 1);
    if (topic == NULL) {
        return NULL;
    }
    subscription_write_topic(subscription, topic);
    json_t *item = json_pack("{ss, ss, ss, sI, sI}", "clientid", subscription->session->id, "topic", topic,
                             "expression", sf_filter_text(subscription->filter, NULL), "passed",
                             (json_int_t)subscription->passed, "dropped", (json_int_t)subscription->dropped);
    free(topic);
    return item;
}

struct page {
    json_t *items;
    json_int_t offset; /* filters still to skip */
    json_int_t count;  /* filters still to list */
    json_int_t total;
    size_t room; /* bytes of filters that may still be listed */
    bool full;   /* there was one more, but no room */
};

/* List one filter, or end the page when there is no room for it. false: out of memory. */
static bool list_filter(struct page *page, const struct subscription *subscription) {
    size_t bytes = item_bytes(subscription);
    if (bytes > page->room) {
        page->full = true;
        page->count = 0;
        return true;
    }
    page->room -= bytes;
    page->count--;
    return json_array_append_new(page->items, describe_subscription(subscription)) == 0;
}

static bool list_session(struct page *page, const struct session *session) {
    const struct subscription_list *lists[] = {&session->normal, &session->shared};
    page->total += session->n_filters;
    if (page->count == 0 || session->n_filters == 0) {
        return true;
    }
    if (page->offset >= session->n_filters) {
        page->offset -= session->n_filters;
        return true;
    }
    for (size_t i = 0; i < 2; i++) {
        for (uint32_t k = 0; k < lists[i]->count; k++) {
            const struct subscription *subscription = lists[i]->items[k];
            if (subscription->filter == NULL) {
                continue;
            }
            if (page->offset > 0) {
                page->offset--;
            } else if (page->count > 0 && !list_filter(page, subscription)) {
                return false;
            }
        }
    }
    return true;
}

static json_t *list_filters(struct request *request, json_t *command, const char **error) {
    const struct sessions *sessions = &request->plugin->sessions;
    json_int_t count = PAGE, offset = 0;
    const char *client = NULL;
    if (json_unpack(command, "{s?I, s?I, s?s}", "count", &count, "offset", &offset, "clientid", &client) != 0 ||
        count < 0 || offset < 0) {
        *error = "count and offset are numbers from 0, clientid is a string";
        return NULL;
    }
    struct page page = {
        .items = json_array(),
        .offset = offset,
        .count = count > MAX_PAGE ? MAX_PAGE : count,
        .room = request->room,
    };
    bool done = page.items != NULL;
    if (client != NULL) {
        const struct session *session = sessions_find(sessions, client);
        done = done && (session == NULL || list_session(&page, session));
    } else {
        for (const struct session *s = sessions->by_id; done && s != NULL; s = s->hh.next) {
            done = list_session(&page, s);
        }
    }
    if (page.full && json_array_size(page.items) == 0) {
        *error = "the commands before this one have filled the answer; send it in a message of its own";
        done = false;
    }
    if (!done) {
        json_decref(page.items);
        return NULL;
    }
    request->room = page.room;
    return json_pack("{sI, sI, so}", "totalCount", page.total, "offset", offset, "filters", page.items);
}

/* ---- getStats, resetStats, setEnabled ---- */

/* Sessions that live; others are only remembered, for what the broker may bring back. */
static json_int_t count_sessions(const struct sessions *sessions) {
    json_int_t n = 0;
    for (const struct session *session = sessions->by_id; session != NULL; session = session->hh.next) {
        n += !session->over;
    }
    return n;
}

static json_t *get_stats(struct request *request, json_t *command, const char **error) {
    (void)command, (void)error;
    const struct plugin *plugin = request->plugin;
    const struct delivery_counts *counts = &plugin->delivery.counts;
    return json_pack("{sb, sI, sI, sI, sI, s{sI, sI, sI, sI, sI, sI}, sI, sb}", "enabled",
                     plugin->settings.live.enabled, "sessions", count_sessions(&plugin->sessions), "knownSubscriptions",
                     (json_int_t)plugin->sessions.n_subscriptions, "subscriptions",
                     (json_int_t)plugin->sessions.n_filters, "filters", (json_int_t)sf_schema_filters(plugin->schema),
                     "messages", "passed", (json_int_t)counts->passed, "dropped", (json_int_t)counts->dropped,
                     "unknown", (json_int_t)counts->unknown, "ambiguous", (json_int_t)counts->ambiguous, "unexplained",
                     (json_int_t)counts->unexplained, "undecided", (json_int_t)counts->undecided, "refused",
                     (json_int_t)plugin->refused, "stateFileWell", !plugin->journal.unwell);
}

static void reset_list(const struct subscription_list *list) {
    for (uint32_t i = 0; i < list->count; i++) {
        list->items[i]->passed = 0;
        list->items[i]->dropped = 0;
    }
}

static json_t *reset_stats(struct request *request, json_t *command, const char **error) {
    (void)command, (void)error;
    struct plugin *plugin = request->plugin;
    json_t *data = json_object();
    if (data == NULL) {
        return NULL; /* before anything is changed, here and below: an error means that nothing has been done */
    }
    plugin->delivery.counts = (struct delivery_counts){0};
    plugin->refused = 0;
    for (const struct session *session = plugin->sessions.by_id; session != NULL; session = session->hh.next) {
        reset_list(&session->normal);
        reset_list(&session->shared);
    }
    return data;
}

static json_t *set_enabled(struct request *request, json_t *command, const char **error) {
    static char reason[SETTINGS_ERROR_BYTES];
    struct settings *settings = &request->plugin->settings;
    int enabled = 0;
    if (json_unpack(command, "{sb}", "enabled", &enabled) != 0) {
        *error = "enabled is true or false";
        return NULL;
    }
    json_t *data = json_pack("{sb}", "enabled", enabled);
    if (data != NULL && settings->config_file != NULL &&
        !settings_write_enabled(settings->config_file, enabled, reason)) {
        *error = reason; /* it would not last */
        json_decref(data);
        return NULL;
    }
    settings->live.enabled = data == NULL ? settings->live.enabled : enabled;
    return data;
}

/* ---- commands ---- */

static json_t *test_filter(struct request *request, json_t *command, const char **error) {
    const struct sf_options options = settings_compile_options(&request->plugin->settings);
    return control_test_filter(&options, command, error);
}

static const struct {
    const char *name;
    /* The "data" of the answer, new. NULL: *error says what is wrong, or stays NULL when memory is short. */
    json_t *(*handle)(struct request *request, json_t *command, const char **error);
} commands[] = {
    {"listFilters", list_filters}, {"testFilter", test_filter}, {"getStats", get_stats},
    {"resetStats", reset_stats},   {"setEnabled", set_enabled},
};

/* Append an answer with an error or with data (taken); without memory for it the answer is missing. */
static void answer(json_t *responses, const char *name, json_t *correlation, const char *error, json_t *data) {
    json_t *response = json_pack("{ss}", "command", name);
    bool built = correlation == NULL || json_object_set(response, "correlationData", correlation) == 0;
    if (error != NULL) {
        built = built && json_object_set_new(response, "error", json_string(error)) == 0;
    } else {
        built = built && json_object_set(response, "data", data) == 0;
    }
    if (built) {
        (void)json_array_append(responses, response);
    }
    json_decref(response);
    json_decref(data);
}

/* `command`: NULL for what is none. */
static void log_command(const struct mosquitto *client, const json_t *command, const char *error) {
    char shown_id[LOG_TEXT_BYTES];
    char shown[LOG_TEXT_BYTES];
    struct json_text text = {0};
    const char *id = mosquitto_client_id(client);
    id = id == NULL ? "" : id;
    bool has_text = command != NULL && json_text_add(&text, command, JSON_COMPACT);
    say("client %s: %s%s%s", log_text(shown_id, id, strlen(id)),
        has_text ? log_text(shown, text.bytes, text.used) : CONTROL_TOPIC, error == NULL ? "" : ": ",
        error == NULL ? "" : error);
    free(text.bytes);
}

/* Answer what is no command. */
static void refuse(struct request *request, const char *error) {
    log_command(request->client, NULL, error);
    answer(request->responses, "Unknown command", NULL, error, NULL);
}

/* Carry out one command. false: it is no command at all, and what follows is not read. */
static bool handle_command(struct request *request, json_t *command) {
    json_t *correlation = json_object_get(command, "correlationData");
    const char *name = json_string_value(json_object_get(command, "command"));
    if (!json_is_object(command) || name == NULL || (correlation != NULL && !json_is_string(correlation))) {
        refuse(request, !json_is_object(command) ? "Command not an object"
                        : name == NULL           ? "Missing command"
                                                 : "Invalid correlationData data type.");
        return false;
    }
    const char *error = "Unknown command";
    json_t *data = NULL;
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        if (strcmp(commands[i].name, name) == 0) {
            error = NULL;
            data = commands[i].handle(request, command, &error);
            error = data == NULL && error == NULL ? "out of memory" : error;
        }
    }
    log_command(request->client, command, error);
    answer(request->responses, name, correlation, error, data);
    return true;
}

static void handle_message(struct request *request, const struct mosquitto_evt_control *event) {
    if (event->payloadlen > MAX_PAYLOAD_BYTES) {
        refuse(request, "Payload too large");
        return;
    }
    json_t *message = json_loadb(event->payload == NULL ? "" : event->payload, event->payloadlen, 0, NULL);
    json_t *list = json_object_get(message, "commands");
    if (message == NULL) {
        refuse(request, "Payload not valid JSON");
    } else if (!json_is_array(list)) {
        refuse(request, "Invalid/missing commands");
    } else if (json_array_size(list) > MAX_COMMANDS) {
        refuse(request, "Too many commands in one message");
    } else {
        size_t index;
        json_t *command;
        json_array_foreach(list, index, command) {
            if (!handle_command(request, command)) {
                break;
            }
        }
    }
    json_decref(message);
}

static void publish(const json_t *responses) {
    json_t *message = json_pack("{sO}", "responses", responses);
    struct json_text text = {0};
    if (json_text_add(&text, message, JSON_COMPACT) && text.used <= MQTT_MAX_PAYLOAD) {
        (void)mosquitto_broker_publish_copy(NULL, CONTROL_TOPIC "/response", (int)text.used, text.bytes, 0, false,
                                            NULL);
    }
    free(text.bytes);
    json_decref(message);
}

void control_handle(struct plugin *plugin, const struct mosquitto_evt_control *event) {
    struct request request = {plugin, event->client, json_array(), MAX_LISTED_BYTES};
    handle_message(&request, event);
    publish(request.responses);
    json_decref(request.responses);
}
