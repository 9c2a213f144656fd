/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The clients of the model test: MQTT 5 and 3.1.1 at the level of packets, because a model has to know exactly what the
 * broker knows: which messages were acknowledged, and when nothing more is coming.
 *
 * A client is either awake (it acknowledges at once) or deaf (it reads, but acknowledges nothing before it is woken).
 * What it has received belongs to it once it is acknowledged, or has QoS 0; the broker sends everything else again in
 * the next connection of a kept session, so it is forgotten with the connection.
 *
 * Nothing here ends the case: what goes wrong comes back as one of the negative codes, and the test says in which step.
 */
#ifndef TEST_WIRE_H
#define TEST_WIRE_H

#include "harness.h"
#include "packet.h"
#include "raw.h"

/* In place of a reason code, which is 0 to 255. */
enum {
    WIRE_CLOSED = -1,  /* the connection ended before the answer */
    WIRE_STALLED = -2, /* no answer within the deadline */
    WIRE_GARBLED = -3, /* a packet that does not belong here */
};

enum {
    WIRE_TOPIC_BYTES = 32,
    WIRE_ENTRIES = 4, /* of one SUBSCRIBE */
};

/* A message as received. Its payload begins with its number. */
struct wire_message {
    unsigned number;
    uint32_t id; /* Subscription Identifier; 0: none */
    uint16_t mid;
    uint8_t qos;
    bool retain;
    bool acknowledged; /* or QoS 0 */
    char topic[WIRE_TOPIC_BYTES];
};

/* An answer that has come and that nobody has asked for yet. */
struct wire_answer {
    enum raw_type type;
    uint16_t mid;
    int code;
    int codes[WIRE_ENTRIES]; /* SUBACK: all, code is the first */
};

enum { WIRE_ANSWERS = 32, WIRE_BUFFER_BYTES = 1 << 16 };

/* A client; all zero but for fd is one that was never connected. */
struct wire {
    int fd; /* -1: not connected */
    int protocol;
    bool deaf;
    uint16_t last_mid;
    int disconnect_code; /* of the DISCONNECT that the broker sent; 0: none */
    size_t n_progress;   /* PUBLISH and PUBREL packets read so far */
    struct wire_message *received;
    size_t n_received;
    size_t capacity;
    struct wire_answer answers[WIRE_ANSWERS];
    size_t n_answers;
    unsigned char *in; /* WIRE_BUFFER_BYTES */
    size_t in_bytes;
    struct fields out; /* what wire_flush sends */
};

void wire_init(struct wire *wire);
void wire_deinit(struct wire *wire);

/* Connect one that is not connected. The code of the CONNACK, or negative; *present_out: session present. */
int wire_connect(struct wire *wire, struct broker *broker, const struct mqtt_connect *options,
                 bool *present_out);

/* Subscribe with `n` entries, which have the first one's Subscription Identifier. 0 and for each the granted QoS or a
 * reason code; or negative as above. */
int wire_subscribe(struct wire *wire, const struct subscribe *entries, size_t n,
                   int codes_out[WIRE_ENTRIES]);

/* The reason code (MQTT 3.1.1: 0); negative as above. */
int wire_unsubscribe(struct wire *wire, const char *topic);

/* Append a PUBLISH to what wire_flush sends; returns its packet identifier (0 with QoS 0). */
uint16_t wire_put_publish(struct wire *wire, const struct publish *publish);

/* Append an acknowledgement. */
void wire_put_ack(struct wire *wire, enum raw_type type, uint16_t mid);

/* Send what was appended. False: the connection is closed. */
bool wire_flush(struct wire *wire);

/* Wait for an answer of this type with this packet identifier (0 where the type has none). Its reason code; negative
 * as above. */
int wire_await(struct wire *wire, enum raw_type type, uint16_t mid);

/* Return when the broker has nothing more for this client: in a round trip nothing new came, and everything that was
 * acknowledged had been acknowledged before it. 0, or negative as above. */
int wire_settle(struct wire *wire);

/* Acknowledge everything, and go on doing so. */
bool wire_wake(struct wire *wire);

/* DISCONNECT with this reason code (MQTT 3.1.1: without), and return when the broker has closed the connection. */
void wire_disconnect(struct wire *wire, int reason, const uint32_t *expiry_s);

/* Close without DISCONNECT, and return when the broker has closed its side: then a will has been published. */
void wire_drop(struct wire *wire);

/* Wait until the broker closes the connection. 0, or WIRE_STALLED. */
int wire_await_closed(struct wire *wire);

/* The connection is gone, or the broker is: forget it, and what was not acknowledged. */
void wire_lose(struct wire *wire);

#endif
