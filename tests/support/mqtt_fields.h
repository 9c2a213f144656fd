/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The fields of MQTT packets, for clients that make their packets themselves: written one after the other into a block
 * that grows, and taken one after the other from what was received.
 *
 *     struct fields body = {0};
 *     put_string(&body, "t");
 *     put_u16(&body, 1);
 *     put_packet(&out, 0x32, &body);
 */
#ifndef TESTS_SUPPORT_MQTT_FIELDS_H
#define TESTS_SUPPORT_MQTT_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* MQTT 5 property identifiers */
enum {
    PROP_PAYLOAD_FORMAT = 0x01,
    PROP_MESSAGE_EXPIRY = 0x02,
    PROP_CONTENT_TYPE = 0x03,
    PROP_RESPONSE_TOPIC = 0x08,
    PROP_CORRELATION = 0x09,
    PROP_SUBSCRIPTION_ID = 0x0B,
    PROP_SESSION_EXPIRY = 0x11,
    PROP_WILL_DELAY = 0x18,
    PROP_RECEIVE_MAXIMUM = 0x21,
    PROP_TOPIC_ALIAS = 0x23,
    PROP_USER = 0x26,
};

/* ---- writing --------------------------------------------------------------------------------------------------- */

/* Fields in the making. Empty when zeroed. Out of memory ends the process. */
struct fields {
    unsigned char *bytes;
    size_t n;
    size_t capacity;
};

/* Free the bytes; it is empty again. */
void fields_free(struct fields *fields);

void put(struct fields *fields, const void *bytes, size_t n);
void put_byte(struct fields *fields, unsigned byte);
void put_u16(struct fields *fields, unsigned value);
void put_u32(struct fields *fields, uint32_t value);
void put_varint(struct fields *fields, size_t value);

/* With the length in front, in two bytes. */
void put_text(struct fields *fields, const void *text, size_t bytes);
void put_string(struct fields *fields, const char *text);
void put_user_property(struct fields *fields, const char *name, const char *value);

/* Properties, with their length in front; they are freed. */
void put_properties(struct fields *fields, struct fields *properties);

/* A packet, whose body is freed. */
void put_packet(struct fields *fields, unsigned first_byte, struct fields *body);

/* ---- reading --------------------------------------------------------------------------------------------------- */

/* What is left of a body. Once more is taken than there is, it is bad, and what is taken is 0 or empty. */
struct rest {
    const unsigned char *at;
    size_t left;
    bool bad;
};

unsigned take_byte(struct rest *rest);
uint16_t take_u16(struct rest *rest);
uint32_t take_varint(struct rest *rest);

/* A text with its length in front; borrowed from what was received. */
const char *take_text(struct rest *rest, size_t *bytes_out);

/* The reason code at the end of an acknowledgement, which is left out when it is 0. */
int take_reason(struct rest *rest);

/* Properties with their length in front. */
struct rest take_properties(struct rest *rest);

/* Take all properties of a PUBLISH: how many Subscription Identifiers there are, and the first of them (or 0). Bad when
 * there is a property that a PUBLISH cannot have. */
size_t take_subscription_ids(struct rest *properties, uint32_t *first_out);

#endif
