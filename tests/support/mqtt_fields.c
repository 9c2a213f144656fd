/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See mqtt_fields.h.
 */
#include "mqtt_fields.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- writing --------------------------------------------------------------------------------------------------- */

void fields_free(struct fields *fields) {
    free(fields->bytes);
    *fields = (struct fields){.n = 0};
}

void put(struct fields *fields, const void *bytes, size_t n) {
    if (fields->capacity - fields->n < n) {
        size_t capacity = 2 * fields->capacity + n;
        unsigned char *grown = realloc(fields->bytes, capacity);
        if (grown == NULL) {
            fputs("out of memory\n", stderr);
            abort();
        }
        fields->bytes = grown;
        fields->capacity = capacity;
    }
    if (n > 0) {
        memcpy(fields->bytes + fields->n, bytes, n);
    }
    fields->n += n;
}

void put_byte(struct fields *fields, unsigned byte) {
    unsigned char value = (unsigned char)byte;
    put(fields, &value, 1);
}

void put_u16(struct fields *fields, unsigned value) {
    put_byte(fields, value >> 8 & 0xFF);
    put_byte(fields, value & 0xFF);
}

void put_u32(struct fields *fields, uint32_t value) {
    put_u16(fields, value >> 16);
    put_u16(fields, value & 0xFFFF);
}

void put_varint(struct fields *fields, size_t value) {
    do {
        unsigned byte = value & 0x7F;
        value >>= 7;
        put_byte(fields, value > 0 ? byte | 0x80 : byte);
    } while (value > 0);
}

void put_text(struct fields *fields, const void *text, size_t bytes) {
    put_u16(fields, (unsigned)bytes);
    put(fields, text, bytes);
}

void put_string(struct fields *fields, const char *text) {
    put_text(fields, text, strlen(text));
}

void put_user_property(struct fields *fields, const char *name, const char *value) {
    put_byte(fields, PROP_USER);
    put_string(fields, name);
    put_string(fields, value);
}

void put_properties(struct fields *fields, struct fields *properties) {
    put_varint(fields, properties->n);
    put(fields, properties->bytes, properties->n);
    fields_free(properties);
}

void put_packet(struct fields *fields, unsigned first_byte, struct fields *body) {
    put_byte(fields, first_byte);
    put_varint(fields, body->n);
    put(fields, body->bytes, body->n);
    fields_free(body);
}

/* ---- reading --------------------------------------------------------------------------------------------------- */

/* NULL: there are not as many bytes. */
static const unsigned char *take(struct rest *rest, size_t n) {
    if (rest->left < n) {
        rest->bad = true;
        rest->left = 0;
        return NULL;
    }
    const unsigned char *taken = rest->at;
    rest->at += n;
    rest->left -= n;
    return taken;
}

unsigned take_byte(struct rest *rest) {
    const unsigned char *byte = take(rest, 1);
    return byte == NULL ? 0 : *byte;
}

uint16_t take_u16(struct rest *rest) {
    unsigned high = take_byte(rest);
    return (uint16_t)(high << 8 | take_byte(rest));
}

uint32_t take_varint(struct rest *rest) {
    uint32_t value = 0;
    for (unsigned shift = 0; shift < 28; shift += 7) {
        unsigned byte = take_byte(rest);
        value |= (uint32_t)(byte & 0x7F) << shift;
        if ((byte & 0x80) == 0) {
            return value;
        }
    }
    rest->bad = true;
    return 0;
}

const char *take_text(struct rest *rest, size_t *bytes_out) {
    size_t bytes = take_u16(rest);
    const unsigned char *text = take(rest, bytes);
    *bytes_out = text == NULL ? 0 : bytes;
    return text == NULL ? "" : (const char *)text;
}

int take_reason(struct rest *rest) {
    return rest->left > 0 ? (int)take_byte(rest) : 0;
}

struct rest take_properties(struct rest *rest) {
    size_t bytes = take_varint(rest);
    struct rest properties = *rest;
    properties.left = take(rest, bytes) == NULL ? 0 : bytes;
    properties.bad = rest->bad;
    return properties;
}

size_t take_subscription_ids(struct rest *properties, uint32_t *first_out) {
    size_t n = 0;
    size_t bytes;
    *first_out = 0;
    while (properties->left > 0) {
        switch (take_byte(properties)) {
        case PROP_SUBSCRIPTION_ID: {
            uint32_t id = take_varint(properties);
            *first_out = n++ == 0 ? id : *first_out;
            break;
        }
        case PROP_PAYLOAD_FORMAT:
            take(properties, 1);
            break;
        case PROP_TOPIC_ALIAS:
            take(properties, 2);
            break;
        case PROP_MESSAGE_EXPIRY:
            take(properties, 4);
            break;
        case PROP_USER:
            take_text(properties, &bytes);
            take_text(properties, &bytes);
            break;
        case PROP_CONTENT_TYPE:
        case PROP_RESPONSE_TOPIC:
        case PROP_CORRELATION:
            take_text(properties, &bytes);
            break;
        default:
            properties->bad = true;
            properties->left = 0;
            break;
        }
    }
    return n;
}
