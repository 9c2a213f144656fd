/* SPDX-License-Identifier: BSD-3-Clause
 *
 * message: see the header. The copies never move while the engine holds addresses into them: a message with more text than
 * there is room for is bound again, once there is.
 */
#include "message.h"

#include "broker.h"

#include <stdlib.h>
#include <string.h>

enum { MIN_CAPACITY = 4096 }; /* for text, in bytes */

/* One property that holds text. `name` is NULL unless it is a User Property. */
struct text_property {
    const char *name;
    const char *value;
    size_t name_bytes;
    size_t value_bytes;
    char *name_copy; /* to free, when the broker only hands out copies */
    char *value_copy;
};

/* Read a User Property, content type or response topic. false: out of memory. An empty text may come as NULL. */
static bool read_text(const mosquitto_property *property, int identifier, struct text_property *text) {
    *text = (struct text_property){.value = ""};
    bool pair = identifier == MQTT_PROP_USER_PROPERTY;
    if (mosquitto_property_string_value != NULL && mosquitto_property_string_value_length != NULL &&
        mosquitto_property_string_name != NULL && mosquitto_property_string_name_length != NULL) {
        text->value = mosquitto_property_string_value(property);
        text->value_bytes = text->value == NULL ? 0 : mosquitto_property_string_value_length(property);
        if (pair) {
            text->name = mosquitto_property_string_name(property);
            text->name_bytes = text->name == NULL ? 0 : mosquitto_property_string_name_length(property);
        }
    } else {
        const mosquitto_property *read =
            pair ? mosquitto_property_read_string_pair(property, identifier, &text->name_copy, &text->value_copy, false)
                 : mosquitto_property_read_string(property, identifier, &text->value_copy, false);
        if (read == NULL) {
            return false;
        }
        text->name = text->name_copy;
        text->name_bytes = text->name == NULL ? 0 : strlen(text->name);
        text->value = text->value_copy;
        text->value_bytes = text->value == NULL ? 0 : strlen(text->value);
    }
    text->value = text->value == NULL ? "" : text->value;
    text->name = pair && text->name == NULL ? "" : text->name;
    return true;
}

static void release_text(struct text_property *text) {
    mosquitto_free(text->name_copy);
    mosquitto_free(text->value_copy);
}

static bool holds_text(int identifier) {
    return identifier == MQTT_PROP_USER_PROPERTY || identifier == MQTT_PROP_CONTENT_TYPE ||
           identifier == MQTT_PROP_RESPONSE_TOPIC;
}

/* Bind a property if its text fits behind the `used` bytes. Returns how many are used then, or would be. */
static size_t bind_text(struct message *message, int identifier, const struct text_property *text, size_t used) {
    size_t end = used + text->value_bytes;
    if (end > message->text_capacity) {
        return end;
    }
    char *copy = message->text + used;
    if (text->value_bytes > 0) {
        memcpy(copy, text->value, text->value_bytes);
    }
    if (identifier == MQTT_PROP_CONTENT_TYPE) {
        sf_message_set_content_type(message->bound, copy, text->value_bytes);
    } else if (identifier == MQTT_PROP_RESPONSE_TOPIC) {
        sf_message_set_response_topic(message->bound, copy, text->value_bytes);
    } else if (!sf_message_add(message->bound, text->name, text->name_bytes, copy, text->value_bytes)) {
        return used; /* no filter reads it: its copy may be overwritten */
    }
    return end;
}

/* Bind all that there is room for. Returns the bytes that are needed for all; SIZE_MAX: out of memory. */
static size_t bind_all(struct message *message, const struct mosquitto_evt_acl_check *check, size_t topic_bytes) {
    if (sf_message_reset(message->bound) != SF_OK) {
        return SIZE_MAX;
    }
    if (topic_bytes <= message->text_capacity) {
        memcpy(message->text, check->topic, topic_bytes);
        sf_message_set_topic(message->bound, message->text, topic_bytes);
    }
    sf_message_set_qos(message->bound, check->qos);
    sf_message_set_retain(message->bound, check->retain);
    sf_message_set_payload_bytes(message->bound, check->payloadlen);

    size_t used = topic_bytes;
    for (const mosquitto_property *p = check->properties; p != NULL; p = mosquitto_property_next(p)) {
        int identifier = mosquitto_property_identifier(p);
        if (holds_text(identifier)) {
            struct text_property text;
            if (!read_text(p, identifier, &text)) {
                return SIZE_MAX;
            }
            used = bind_text(message, identifier, &text, used);
            release_text(&text);
        }
    }
    return used;
}

bool message_bind(struct message *message, const struct mosquitto_evt_acl_check *check) {
    size_t topic_bytes = strlen(check->topic);
    size_t bytes = bind_all(message, check, topic_bytes);
    if (bytes != SIZE_MAX && bytes > message->text_capacity) {
        size_t capacity = bytes < MIN_CAPACITY ? MIN_CAPACITY : bytes * 2;
        char *grown = malloc(capacity);
        if (grown == NULL) {
            return false;
        }
        free(message->text);
        message->text = grown;
        message->text_capacity = capacity;
        bytes = bind_all(message, check, topic_bytes);
    }
    return bytes != SIZE_MAX;
}

bool message_init(struct message *message, struct sf_schema *schema) {
    *message = (struct message){.bound = sf_message_new(schema)};
    return message->bound != NULL;
}

void message_deinit(struct message *message) {
    sf_message_free(message->bound);
    free(message->text);
    *message = (struct message){0};
}
