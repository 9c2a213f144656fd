/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A client that does nothing by itself: a connection on which a case sends the MQTT 5 packets it wants, in the order
 * it wants, acknowledges or not, and reads one packet after the other. For what libmosquitto does not let one do:
 * hold back a PUBREL or PUBACK, send invalid topic filters and control characters, not read.
 *
 *     struct raw *raw = raw_connect(broker, &(struct raw_options){.id = "raw"});
 *     raw_publish(raw, 1, &(struct publish){.topic = "t", .qos = 2});
 *     raw_expect(raw, RAW_PUBREC);
 *     …
 *     raw_ack(raw, RAW_PUBREL, 1);
 *
 * Belongs to the running case, as the clients of harness.h do. While it waits it serves those.
 */
#ifndef TEST_RAW_H
#define TEST_RAW_H

#include "harness.h"

/* First byte of a packet without its flags. */
enum raw_type {
    RAW_CONNECT = 0x10,
    RAW_CONNACK = 0x20,
    RAW_PUBLISH = 0x30,
    RAW_PUBACK = 0x40,
    RAW_PUBREC = 0x50,
    RAW_PUBREL = 0x60,
    RAW_PUBCOMP = 0x70,
    RAW_SUBSCRIBE = 0x80,
    RAW_SUBACK = 0x90,
    RAW_UNSUBSCRIBE = 0xA0,
    RAW_UNSUBACK = 0xB0,
    RAW_PINGREQ = 0xC0,
    RAW_PINGRESP = 0xD0,
    RAW_DISCONNECT = 0xE0,
    RAW_CLOSED = 0, /* no packet: the broker has closed the connection */
};

struct raw;

struct raw_options {
    const char *id;
    bool keep; /* Clean Start 0 */
    uint32_t expiry_s;
    uint16_t receive_maximum; /* 0: none is sent */
    unsigned listener;        /* number of the port, from 1 (also 0) */
    const struct publish *will;
};

/* A packet as it came. */
struct raw_packet {
    enum raw_type type;
    unsigned flags;            /* the low four bits of the first byte */
    const unsigned char *body; /* borrowed: valid until the next packet is read */
    size_t bytes;
    /* Read from the body, where the type has it: */
    uint16_t mid;
    int code;        /* CONNACK, acknowledgements, DISCONNECT; SUBACK and UNSUBACK: the first */
    int qos;         /* PUBLISH */
    bool retain;     /* PUBLISH */
    bool dup;        /* PUBLISH */
    char topic[256]; /* PUBLISH, cut */
    const unsigned char *payload; /* PUBLISH, in body */
    size_t payload_bytes;
    uint32_t id; /* PUBLISH: the first Subscription Identifier, 0 if there is none */
};

/* Connect and read the CONNACK, which must accept. */
struct raw *raw_connect(struct broker *broker, const struct raw_options *options);

/* Only the connection to the port, no CONNECT. */
struct raw *raw_open(struct broker *broker, unsigned listener);

/* Send bytes as they are. False: the connection is closed. */
bool raw_send(struct raw *raw, const void *bytes, size_t n);

/* Send a packet: first byte, Remaining Length, body. */
bool raw_send_packet(struct raw *raw, unsigned first_byte, const void *body, size_t bytes);

/* PUBLISH with this packet identifier (not sent with QoS 0). */
bool raw_publish(struct raw *raw, uint16_t mid, const struct publish *publish);

/* PUBACK, PUBREC, PUBREL or PUBCOMP with reason code 0. */
bool raw_ack(struct raw *raw, enum raw_type type, uint16_t mid);

/* SUBSCRIBE with one entry: any bytes as the filter. UNSUBSCRIBE likewise. */
bool raw_subscribe(struct raw *raw, uint16_t mid, const void *filter, size_t bytes,
                   unsigned options);
bool raw_unsubscribe(struct raw *raw, uint16_t mid, const void *filter, size_t bytes);

/* Read the next packet; its type, RAW_CLOSED at the end of the connection. Ends the case when the deadline passes. */
enum raw_type raw_read(struct raw *raw, struct raw_packet *packet_out);

/* Read the next packet, which must be of this type; its contents are valid until the next read. */
const struct raw_packet *raw_expect(struct raw *raw, enum raw_type type);

/* Read packets up to the PINGRESP of a PINGREQ sent now, and return how many PUBLISH packets were among them: all
 * that the broker had written to this connection before. The first `max` are copied to `published_out`, without body
 * and payload. */
size_t raw_ping(struct raw *raw, struct raw_packet *published_out, size_t max);

/* DISCONNECT, and return when the broker has closed the connection. */
void raw_disconnect(struct raw *raw);

/* Close without DISCONNECT, and return when the broker has closed its side. */
void raw_drop(struct raw *raw);

/* The same, but what the broker still sends until it closes its side can be read. */
void raw_hang_up(struct raw *raw);

#endif
