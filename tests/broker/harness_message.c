/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Messages of the harness's clients, in both directions: the properties of one to publish, and the inbox that keeps
 * what was received (see harness.h).
 */
#include "harness.h"
#include "harness_internal.h"

#include <mosquitto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- to publish -------------------------------------------------------------------------------------------------- */

mosquitto_property *message_properties(const struct publish *publish) {
    mosquitto_property *properties = NULL;
    int failed = 0;
    for (const char *const *at = publish->user; at != NULL && *at != NULL; at += 2) {
        REQUIRE(at[1] != NULL, "the property %s has no value", at[0]);
        failed |=
            mosquitto_property_add_string_pair(&properties, MQTT_PROP_USER_PROPERTY, at[0], at[1]);
    }
    if (publish->content_type != NULL) {
        failed |= mosquitto_property_add_string(&properties, MQTT_PROP_CONTENT_TYPE,
                                                publish->content_type);
    }
    if (publish->response_topic != NULL) {
        failed |= mosquitto_property_add_string(&properties, MQTT_PROP_RESPONSE_TOPIC,
                                                publish->response_topic);
    }
    if (publish->expiry_s > 0) {
        failed |= mosquitto_property_add_int32(&properties, MQTT_PROP_MESSAGE_EXPIRY_INTERVAL,
                                               publish->expiry_s);
    }
    REQUIRE(failed == 0, "properties of a message on %s: %s", publish->topic,
            mosquitto_strerror(failed));
    return properties;
}

size_t message_payload_bytes(const struct publish *publish) {
    return publish->payload == NULL || publish->payload_bytes > 0 ? publish->payload_bytes
                                                                  : strlen(publish->payload);
}

/* ---- received ---------------------------------------------------------------------------------------------------- */

static void *checked(void *memory) {
    if (memory == NULL) {
        fputs("out of memory\n", stderr);
        abort(); /* in a callback: REQUIRE would jump over the library */
    }
    return memory;
}

static void message_free(struct message *message) {
    for (size_t i = 0; i < 2 * message->n_user; i++) {
        free(message->user[i]);
    }
    free(message->user);
    free(message->ids);
    free(message->content_type);
    free(message->response_topic);
    free(message->topic);
    free(message->payload);
    free(message);
}

static void add_user(struct message *message, const mosquitto_property *property) {
    char *name = NULL;
    char *value = NULL;
    mosquitto_property_read_string_pair(property, MQTT_PROP_USER_PROPERTY, &name, &value, false);
    size_t n = message->n_user++;
    message->user = checked(realloc(message->user, 2 * (n + 1) * sizeof *message->user));
    /* The library gives NULL for an empty text. */
    message->user[2 * n] = name != NULL ? name : checked(strdup(""));
    message->user[2 * n + 1] = value != NULL ? value : checked(strdup(""));
}

static void add_id(struct message *message, const mosquitto_property *property) {
    uint32_t id = 0;
    mosquitto_property_read_varint(property, MQTT_PROP_SUBSCRIPTION_IDENTIFIER, &id, false);
    message->ids = checked(realloc(message->ids, (message->n_ids + 1) * sizeof *message->ids));
    message->ids[message->n_ids++] = id;
}

static void read_properties(struct message *message, const mosquitto_property *properties) {
    for (const mosquitto_property *at = properties; at != NULL; at = mosquitto_property_next(at)) {
        switch (mosquitto_property_identifier(at)) {
        case MQTT_PROP_USER_PROPERTY:
            add_user(message, at);
            break;
        case MQTT_PROP_SUBSCRIPTION_IDENTIFIER:
            add_id(message, at);
            break;
        case MQTT_PROP_CONTENT_TYPE:
            mosquitto_property_read_string(at, MQTT_PROP_CONTENT_TYPE, &message->content_type,
                                           false);
            break;
        case MQTT_PROP_RESPONSE_TOPIC:
            mosquitto_property_read_string(at, MQTT_PROP_RESPONSE_TOPIC, &message->response_topic,
                                           false);
            break;
        default:
            break;
        }
    }
}

void inbox_add(struct inbox *inbox, const struct mosquitto_message *from,
               const mosquitto_property *properties) {
    size_t bytes = (size_t)from->payloadlen;
    char *payload = checked(calloc(1, bytes + 1));
    if (bytes > 0) {
        memcpy(payload, from->payload, bytes);
    }

    if (strncmp(from->topic, FENCE_PREFIX, strlen(FENCE_PREFIX)) == 0) {
        if (from->qos == 2) { /* copies for other subscriptions prove nothing */
            inbox->fence_seen = (unsigned)strtoul(payload, NULL, 10);
        }
        free(payload);
        return;
    }

    struct message *message = checked(calloc(1, sizeof *message));
    message->topic = checked(strdup(from->topic));
    message->payload = payload;
    message->payload_bytes = bytes;
    message->qos = from->qos;
    message->retain = from->retain;
    read_properties(message, properties);
    struct message **link = inbox->first == NULL ? &inbox->first : &inbox->last->next;
    *link = message;
    inbox->last = message;
    inbox->count++;
}

void inbox_clear(struct inbox *inbox) {
    while (inbox->first != NULL) {
        struct message *message = inbox->first;
        inbox->first = message->next;
        message_free(message);
    }
    inbox->last = NULL;
    inbox->count = 0;
}

const char *message_user(const struct message *message, const char *name) {
    for (size_t i = 0; i < message->n_user; i++) {
        if (strcmp(message->user[2 * i], name) == 0) {
            return message->user[2 * i + 1];
        }
    }
    return NULL;
}
