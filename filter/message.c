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
        free(message->values);
        free(message->texts);
        free(message);
    }
}

/* Room for every id that the schema can give out without growing itself. Nothing is bound. */
static enum sf_status reserve_slots(struct sf_message *message) {
    uint32_t n_slots = sf_slot_of_name(message->schema->names.n_entries);
    if (n_slots <= message->n_slots) {
        return SF_OK;
    }
    size_t n = (size_t)n_slots + SF_MAX_PROPERTIES;
    struct sf_value *values = malloc(n * sizeof *values);
    const char **texts = malloc(n * sizeof *texts);
    if (values == NULL || texts == NULL) {
        free(values);
        free(texts);
        return SF_E_NOMEM;
    }
    for (size_t i = 0; i < n; i++) {
        values[i] = sf_value_absent();
        texts[i] = NULL;
    }
    free(message->values);
    free(message->texts);
    message->values = values;
    message->texts = texts;
    message->n_slots = n_slots;
    return SF_OK;
}

enum sf_status sf_message_reset(struct sf_message *message) {
    for (uint32_t i = 0; i < message->n_touched; i++) {
        message->values[message->touched[i]] = sf_value_absent();
    }
    for (uint32_t i = 0; i < SF_N_ATTRIBUTES && i < message->n_slots; i++) {
        message->values[i] = sf_value_absent();
    }
    message->n_touched = 0;
    message->n_earlier = 0;
    message->n_properties = 0;
    enum sf_status status = reserve_slots(message);
    message->generation = status == SF_OK ? message->schema->generation : 0;
    return status;
}

static void set_text(struct sf_message *message, uint32_t slot, const char *text, size_t bytes) {
    struct sf_value *value = &message->values[slot];
    text = bytes == 0 ? "" : text;
    value->word = sf_text_word(text, bytes);
    value->bytes = (uint32_t)bytes;
    value->state = SF_VALUE_UNTRIED;
    message->texts[slot] = text;
}

/* Move the value in a slot behind the slots. */
static void keep_earlier(struct sf_message *message, uint32_t slot) {
    uint32_t to = message->n_slots + message->n_earlier;
    message->values[to] = message->values[slot];
    message->texts[to] = message->texts[slot];
    message->values[slot].earlier = (uint16_t)message->n_earlier;
    message->n_earlier++;
}

bool sf_message_add(struct sf_message *message, const char *name, size_t name_bytes,
                    const char *value, size_t value_bytes) {
    if (message->n_properties >= SF_MAX_PROPERTIES || value_bytes >= SF_ABSENT) {
        message->n_properties = SF_MAX_PROPERTIES + 1; /* a value of 4 GiB counts as one too many */
        message->generation = 0;
        return false;
    }
    message->n_properties++;
    uint32_t id = sf_intern_find(&message->schema->names, (struct sf_text){name, name_bytes});
    uint32_t slot = id == SF_NO_ID ? 0 : sf_slot_of_name(id);
    if (id == SF_NO_ID || slot >= message->n_slots) {
        return false;
    }
    bool is_first = (message->values[slot].state & SF_VALUE_ABSENT) != 0;
    if (is_first) {
        message->touched[message->n_touched++] = slot;
    } else {
        keep_earlier(message, slot);
    }
    set_text(message, slot, value, value_bytes);
    message->values[slot].state |= is_first ? 0 : SF_VALUE_EARLIER;
    return true;
}

/* ---- numbers --------------------------------------------------------------------------------------------------- */

static void set_number(struct sf_value *value, struct sf_number number) {
    value->state &= (uint8_t) ~(SF_VALUE_UNTRIED | SF_VALUE_NO_NUMBER | SF_VALUE_REAL);
    if (number.kind == SF_NUMBER_NONE) {
        value->state |= SF_VALUE_NO_NUMBER;
        return;
    }
    value->state |= number.kind == SF_NUMBER_REAL ? SF_VALUE_REAL : 0;
    value->rank = sf_number_rank(number);
}

struct sf_number sf_message_number(struct sf_message *message, uint32_t at) {
    struct sf_value *value = &message->values[at];
    if ((value->state & SF_VALUE_UNTRIED) != 0) {
        set_number(value, sf_number_parse(sf_message_text(message, at)));
    }
    if ((value->state & SF_VALUE_NO_NUMBER) != 0) {
        return sf_number_none();
    }
    bool is_real = (value->state & SF_VALUE_REAL) != 0;
    return sf_number_of_rank(is_real ? SF_NUMBER_REAL : SF_NUMBER_INTEGER, value->rank);
}

/* ---- system attributes ----------------------------------------------------------------------------------------- */

static void set_text_attribute(struct sf_message *message, enum sf_attribute attribute,
                               const char *text, size_t bytes) {
    uint32_t slot = sf_slot_of_attribute(attribute);
    if (slot < message->n_slots && bytes < SF_ABSENT) {
        set_text(message, slot, text, bytes);
    }
}

/* A number has no text: as a text it is absent. */
static void set_number_attribute(struct sf_message *message, enum sf_attribute attribute,
                                 struct sf_number number) {
    uint32_t slot = sf_slot_of_attribute(attribute);
    if (slot < message->n_slots) {
        set_number(&message->values[slot], number);
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
