/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Binding messages: each property that some filter reads is put into its name's slot. */
#include "message.h"

#include <assert.h>
#include <stdlib.h>

struct sf_message *sf_message_new(struct sf_schema *schema) {
    struct sf_message *message = calloc(1, sizeof *message);
    if (message == NULL) {
        return NULL;
    }
    message->schema = schema;
    if (sf_message_reset(message) != SF_OK) {
        sf_message_free(message);
        return NULL;
    }
    return message;
}

void sf_message_free(struct sf_message *message) {
    if (message != NULL) {
        free(message->slots);
        free(message);
    }
}

/* Room for every id that the schema can give out without growing itself. */
static enum sf_status reserve_slots(struct sf_message *message) {
    uint32_t n = sf_slot_of_name(message->schema->names.n_entries);
    if (n <= message->n_slots) {
        return SF_OK;
    }
    struct sf_value *slots = realloc(message->slots, n * sizeof *slots);
    if (slots == NULL) {
        return SF_E_NOMEM;
    }
    for (uint32_t i = message->n_slots; i < n; i++) {
        slots[i] = sf_value_absent();
    }
    message->slots = slots;
    message->n_slots = n;
    return SF_OK;
}

enum sf_status sf_message_reset(struct sf_message *message) {
    for (uint32_t i = 0; i < message->n_touched; i++) {
        message->slots[message->touched[i]] = sf_value_absent();
    }
    for (uint32_t i = 0; i < SF_N_ATTRIBUTES && i < message->n_slots; i++) {
        message->slots[i] = sf_value_absent();
    }
    message->n_touched = 0;
    message->n_earlier = 0;
    message->n_properties = 0;
    message->generation = message->schema->generation;
    enum sf_status status = reserve_slots(message);
    message->has_no_memory = status != SF_OK;
    return status;
}

static void set_text(struct sf_value *value, const char *text, size_t bytes) {
    value->at = bytes == 0 ? "" : text;
    value->bytes = (uint32_t)bytes;
    value->word = sf_text_word(value->at, bytes);
    value->kind = SF_NUMBER_UNTRIED;
}

bool sf_message_add(struct sf_message *message, const char *name, size_t name_bytes,
                    const char *value, size_t value_bytes) {
    if (message->n_properties >= SF_MAX_PROPERTIES || value_bytes >= SF_ABSENT) {
        message->n_properties = SF_MAX_PROPERTIES + 1; /* a value of 4 GiB counts as one too many */
        return false;
    }
    message->n_properties++;
    uint32_t id = sf_intern_find(&message->schema->names, (struct sf_text){name, name_bytes});
    uint32_t slot = id == SF_NO_ID ? 0 : sf_slot_of_name(id);
    if (id == SF_NO_ID || slot >= message->n_slots) {
        return false;
    }
    struct sf_value *last = &message->slots[slot];
    uint16_t earlier = 0;
    if (last->bytes == SF_ABSENT) {
        message->touched[message->n_touched++] = slot;
    } else {
        message->earlier[message->n_earlier++] = *last;
        earlier = (uint16_t)message->n_earlier;
    }
    set_text(last, value, value_bytes);
    last->earlier = earlier;
    return true;
}

enum sf_truth sf_message_verdict(const struct sf_message *message) {
    if (message->has_no_memory || message->generation != message->schema->generation) {
        return SF_UNKNOWN;
    }
    return message->n_properties > SF_MAX_PROPERTIES ? SF_FALSE : SF_TRUE;
}

/* ---- system attributes ----------------------------------------------------------------------------------------- */

static struct sf_value *attribute(struct sf_message *message, enum sf_attribute attribute) {
    return message->has_no_memory ? NULL : &message->slots[sf_slot_of_attribute(attribute)];
}

static void set_text_attribute(struct sf_message *message, enum sf_attribute which,
                               const char *text, size_t bytes) {
    struct sf_value *value = attribute(message, which);
    if (value != NULL && bytes < SF_ABSENT) {
        set_text(value, text, bytes);
    }
}

/* A number has no text: it is absent as a text. */
static void set_number_attribute(struct sf_message *message, enum sf_attribute which,
                                 struct sf_number number) {
    struct sf_value *value = attribute(message, which);
    if (value != NULL) {
        value->kind = (uint8_t)number.kind;
        if (number.kind == SF_NUMBER_INTEGER) {
            value->integer = number.integer;
        } else {
            value->real = number.real;
        }
    }
}

void sf_message_set_topic(struct sf_message *message, const char *text, size_t bytes) {
    set_text_attribute(message, SF_ATTRIBUTE_TOPIC, text, bytes);
}

void sf_message_set_content_type(struct sf_message *message, const char *text, size_t bytes) {
    set_text_attribute(message, SF_ATTRIBUTE_CONTENT_TYPE, text, bytes);
}

void sf_message_set_response_topic(struct sf_message *message, const char *text, size_t bytes) {
    set_text_attribute(message, SF_ATTRIBUTE_RESPONSE_TOPIC, text, bytes);
}

void sf_message_set_qos(struct sf_message *message, int qos) {
    set_number_attribute(message, SF_ATTRIBUTE_QOS, sf_number_integer(qos));
}

void sf_message_set_payload_bytes(struct sf_message *message, uint64_t bytes) {
    set_number_attribute(message, SF_ATTRIBUTE_PAYLOAD_BYTES,
                         bytes <= INT64_MAX ? sf_number_integer((int64_t)bytes)
                                            : sf_number_real((double)bytes));
}

/* A condition is read as a name's text is. */
void sf_message_set_retain(struct sf_message *message, bool retain) {
    set_text_attribute(message, SF_ATTRIBUTE_RETAIN, retain ? "true" : "false", retain ? 4 : 5);
}
