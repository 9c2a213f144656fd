/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See the header. With FAKE_COPYING defined the accessors that hand out a property's own text are missing, as in some
 * builds of the broker, and it has to be copied. */
#include "fake_broker.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) && !defined(__SANITIZE_ADDRESS__)
#define __SANITIZE_ADDRESS__
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#define POISON(object)   ASAN_POISON_MEMORY_REGION(&(object), sizeof(object))
#define UNPOISON(object) ASAN_UNPOISON_MEMORY_REGION(&(object), sizeof(object))
#else
#define POISON(object)   ((void)(object))
#define UNPOISON(object) ((void)(object))
#endif

/* ---- clients ---- */

struct mosquitto fake_clients[FAKE_PLACES];

unsigned fake_hash(const char *id) {
    unsigned hash = 2166136261u;
    for (; *id != '\0'; id++) {
        hash = (hash ^ (unsigned char)*id) * 16777619u;
    }
    return hash == 0 ? 1 : hash;
}

struct mosquitto *fake_place(size_t place, const char *id) {
    struct mosquitto *client = &fake_clients[place];
    *client = (struct mosquitto){.protocol_version = 5};
    snprintf(client->id, sizeof client->id, "%s", id);
    return client;
}

void fake_register(struct mosquitto *client) {
    client->registered = true;
    client->id_hashv = fake_hash(client->id);
}

void fake_unregister(struct mosquitto *client) {
    client->registered = false;
    client->id_hashv = 0;
}

struct mosquitto *mosquitto_client(const char *clientid) {
    for (size_t i = 0; clientid != NULL && i < FAKE_PLACES; i++) {
        if (fake_clients[i].registered && strcmp(fake_clients[i].id, clientid) == 0) {
            return &fake_clients[i];
        }
    }
    return NULL;
}

const char *mosquitto_client_id(const struct mosquitto *client) {
    return client == NULL ? NULL : client->id;
}

unsigned mosquitto_client_id_hashv(const struct mosquitto *client) {
    return client == NULL ? 0 : client->id_hashv;
}

int mosquitto_client_sub_count(const struct mosquitto *client) {
    return client == NULL ? 0 : client->sub_count;
}

int mosquitto_client_protocol_version(const struct mosquitto *client) {
    return client == NULL ? 0 : client->protocol_version;
}

bool mosquitto_client_clean_session(const struct mosquitto *client) {
    return client == NULL || client->clean_start;
}

int mosquitto_apply_on_all_clients(int (*functor)(const struct mosquitto *, void *),
                                   void *context) {
    for (size_t i = 0; i < FAKE_PLACES; i++) {
        int rc = fake_clients[i].registered ? functor(&fake_clients[i], context) : 0;
        if (rc != 0) {
            return rc;
        }
    }
    return MOSQ_ERR_SUCCESS;
}

/* ---- properties and messages ---- */

struct mqtt5__property {
    struct mqtt5__property *next;
    int identifier;
    char *name; /* NULL unless it is a User Property */
    char *value;
};

static struct place {
    char topic[FAKE_TOPIC_BYTES];
    char payload[8];
    struct mqtt5__property properties[FAKE_PROPERTIES];
    size_t n_properties;
} places[FAKE_PLACES];

int fake_reads_until_failure = -1;
long fake_copies_out;

void fake_free_message(size_t place) {
    struct place *at = &places[place];
    UNPOISON(at->properties);
    for (size_t i = 0; i < at->n_properties; i++) {
        free(at->properties[i].name);
        free(at->properties[i].value);
    }
    at->n_properties = 0;
    POISON(at->topic);
    POISON(at->payload);
    POISON(at->properties);
}

struct mosquitto_evt_acl_check fake_message(size_t place, const char *topic,
                                            const char *const *pairs) {
    struct place *at = &places[place];
    fake_free_message(place);
    UNPOISON(at->topic);
    UNPOISON(at->payload);
    UNPOISON(at->properties);
    snprintf(at->topic, sizeof at->topic, "%s", topic);
    for (; pairs != NULL && pairs[0] != NULL && at->n_properties < FAKE_PROPERTIES; pairs += 2) {
        struct mqtt5__property *property = &at->properties[at->n_properties++];
        *property = (struct mqtt5__property){.identifier = MQTT_PROP_USER_PROPERTY};
        if (strcmp(pairs[0], "$content_type") == 0) {
            property->identifier = MQTT_PROP_CONTENT_TYPE;
        } else if (strcmp(pairs[0], "$response_topic") == 0) {
            property->identifier = MQTT_PROP_RESPONSE_TOPIC;
        } else if (strcmp(pairs[0], "$other") == 0) {
            property->identifier = MQTT_PROP_CORRELATION_DATA;
        } else {
            property->name = strdup(pairs[0]);
        }
        property->value = strdup(pairs[1]);
        if (at->n_properties > 1) {
            property[-1].next = property;
        }
    }
    return (struct mosquitto_evt_acl_check){
        .topic = at->topic,
        .payload = at->payload,
        .properties = at->n_properties == 0 ? NULL : at->properties,
        .payloadlen = sizeof at->payload,
        .access = MOSQ_ACL_READ,
    };
}

mosquitto_property *mosquitto_property_next(const mosquitto_property *property) {
    return property->next;
}

int mosquitto_property_identifier(const mosquitto_property *property) {
    return property->identifier;
}

/* An empty text comes as NULL, as the broker gives it. */
static bool copy(const char *text, char **out) {
    *out = NULL;
    if (text == NULL || text[0] == '\0') {
        return true;
    }
    if (fake_reads_until_failure == 0) {
        return false;
    }
    fake_reads_until_failure -= fake_reads_until_failure > 0;
    *out = strdup(text);
    fake_copies_out += *out != NULL;
    return *out != NULL;
}

const mosquitto_property *mosquitto_property_read_string(const mosquitto_property *property,
                                                         int identifier, char **value,
                                                         bool skip_first) {
    (void)skip_first;
    return property->identifier == identifier && copy(property->value, value) ? property : NULL;
}

const mosquitto_property *mosquitto_property_read_string_pair(const mosquitto_property *property,
                                                              int identifier, char **name,
                                                              char **value, bool skip_first) {
    (void)skip_first;
    if (property->identifier != identifier || !copy(property->name, name)) {
        return NULL;
    }
    if (!copy(property->value, value)) {
        mosquitto_free(*name);
        *name = NULL;
        return NULL;
    }
    return property;
}

#ifndef FAKE_COPYING
static uint16_t length(const char *text) {
    return (uint16_t)(text == NULL ? 0 : strlen(text));
}

static const char *text_or_null(const char *text) {
    return text == NULL || text[0] == '\0' ? NULL : text;
}

const char *mosquitto_property_string_name(const mosquitto_property *property) {
    return text_or_null(property->name);
}

uint16_t mosquitto_property_string_name_length(const mosquitto_property *property) {
    return length(property->name);
}

const char *mosquitto_property_string_value(const mosquitto_property *property) {
    return text_or_null(property->value);
}

uint16_t mosquitto_property_string_value_length(const mosquitto_property *property) {
    return length(property->value);
}
#endif

/* ---- memory, log ---- */

void *mosquitto_malloc(size_t size) {
    return malloc(size);
}

char *mosquitto_strdup(const char *text) {
    return strdup(text);
}

void mosquitto_free(void *memory) {
    fake_copies_out -= memory != NULL;
    free(memory);
}

static char log_text_kept[65536];
static size_t log_bytes;

void mosquitto_log_printf(int level, const char *format, ...) {
    (void)level;
    va_list arguments;
    va_start(arguments, format);
    int n =
        vsnprintf(log_text_kept + log_bytes, sizeof log_text_kept - log_bytes, format, arguments);
    va_end(arguments);
    log_bytes += n < 0 ? 0 : (size_t)n;
    if (log_bytes + 2 < sizeof log_text_kept) {
        log_text_kept[log_bytes++] = '\n';
        log_text_kept[log_bytes] = '\0';
    } else {
        log_bytes = sizeof log_text_kept - 1;
    }
}

const char *fake_log(void) {
    return log_text_kept;
}

const char *mosquitto_strerror(int mosq_errno) {
    (void)mosq_errno;
    return "an error";
}

/* ---- subscriptions, events ---- */

int (*fake_subscription_add)(const struct mosquitto_subscription *subscription);
int (*fake_subscription_delete)(const char *id, const char *topic_filter);

int mosquitto_subscription_add(const struct mosquitto_subscription *sub) {
    return fake_subscription_add == NULL ? MOSQ_ERR_SUCCESS : fake_subscription_add(sub);
}

int mosquitto_subscription_delete(const char *clientid, const char *topic_filter) {
    return fake_subscription_delete == NULL ? MOSQ_ERR_SUCCESS
                                            : fake_subscription_delete(clientid, topic_filter);
}

void (*fake_publish)(const char *topic, const void *payload, size_t bytes);

int mosquitto_broker_publish_copy(const char *clientid, const char *topic, int payloadlen,
                                  const void *payload, int qos, bool retain,
                                  mosquitto_property *properties) {
    (void)clientid, (void)qos, (void)retain, (void)properties;
    if (fake_publish != NULL) {
        fake_publish(topic, payload, (size_t)payloadlen);
    }
    return MOSQ_ERR_SUCCESS;
}

/* The end of a client without a listener is told to the global list, in which the plugin is here. */
int mosquitto_persist_client_add(struct mosquitto_client *client) {
    mosquitto_free(client->clientid);
    client->clientid = NULL;
    return MOSQ_ERR_SUCCESS;
}

int mosquitto_persist_client_delete(const char *clientid) {
    struct mosquitto client = {.id = ""};
    snprintf(client.id, sizeof client.id, "%s", clientid);
    struct mosquitto_evt_disconnect event = {.client = &client};
    return fake_call(MOSQ_EVT_DISCONNECT, &event);
}

const char *mosquitto_persistence_location(void) {
    return NULL;
}

int mosquitto_plugin_set_info(mosquitto_plugin_id_t *identifier, const char *plugin_name,
                              const char *plugin_version) {
    (void)identifier, (void)plugin_name, (void)plugin_version;
    return MOSQ_ERR_SUCCESS;
}

static struct {
    int event;
    MOSQ_FUNC_generic_callback function;
    void *user;
} callbacks[64];
static size_t n_callbacks;

int mosquitto_callback_register(mosquitto_plugin_id_t *identifier, int event,
                                MOSQ_FUNC_generic_callback cb_func, const void *event_data,
                                void *userdata) {
    (void)identifier, (void)event_data;
    if (n_callbacks == sizeof callbacks / sizeof callbacks[0]) {
        return MOSQ_ERR_NOMEM;
    }
    callbacks[n_callbacks].event = event;
    callbacks[n_callbacks].function = cb_func;
    callbacks[n_callbacks].user = userdata;
    n_callbacks++;
    return MOSQ_ERR_SUCCESS;
}

int mosquitto_callback_unregister(mosquitto_plugin_id_t *identifier, int event,
                                  MOSQ_FUNC_generic_callback cb_func, const void *event_data) {
    (void)identifier, (void)event, (void)cb_func, (void)event_data;
    return MOSQ_ERR_SUCCESS;
}

int fake_call(int event, void *event_data) {
    int rc = event == MOSQ_EVT_ACL_CHECK ? MOSQ_ERR_PLUGIN_DEFER : MOSQ_ERR_SUCCESS;
    for (size_t i = 0; i < n_callbacks; i++) {
        if (callbacks[i].event == event) {
            rc = callbacks[i].function(event, event_data, callbacks[i].user);
            bool next = event == MOSQ_EVT_ACL_CHECK
                            ? rc == MOSQ_ERR_PLUGIN_IGNORE || rc == MOSQ_ERR_PLUGIN_DEFER
                            : rc == MOSQ_ERR_SUCCESS;
            if (!next) {
                break;
            }
        }
    }
    return rc;
}

void fake_reset(void) {
    memset(fake_clients, 0, sizeof fake_clients);
    for (size_t i = 0; i < FAKE_PLACES; i++) {
        fake_free_message(i);
    }
    fake_reads_until_failure = -1;
    fake_copies_out = 0;
    log_text_kept[0] = '\0';
    log_bytes = 0;
    n_callbacks = 0;
    fake_subscription_add = NULL;
    fake_subscription_delete = NULL;
}
