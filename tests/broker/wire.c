/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The clients of the model test (see wire.h).
 */
#include "wire.h"
#include "harness_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

void wire_init(struct wire *wire) {
    *wire = (struct wire){
        .fd = -1,
        .in = malloc(WIRE_BUFFER_BYTES),
    };
    REQUIRE(wire->in != NULL, "out of memory");
}

void wire_deinit(struct wire *wire) {
    if (wire->fd >= 0) {
        close(wire->fd);
    }
    free(wire->in);
    fields_free(&wire->out);
    free(wire->received);
    *wire = (struct wire){.fd = -1};
}

/* ---- writing --------------------------------------------------------------------------------------------------- */

bool wire_flush(struct wire *wire) {
    bool sent = packet_send(wire->fd, wire->out.bytes, wire->out.n);
    wire->out.n = 0;
    return sent;
}

static uint16_t next_mid(struct wire *wire) {
    wire->last_mid = wire->last_mid == UINT16_MAX ? 1 : (uint16_t)(wire->last_mid + 1);
    return wire->last_mid;
}

uint16_t wire_put_publish(struct wire *wire, const struct publish *publish) {
    uint16_t mid = publish->qos > 0 ? next_mid(wire) : 0;
    put_publish(&wire->out, wire->protocol, mid, publish);
    return mid;
}

void wire_put_ack(struct wire *wire, enum raw_type type, uint16_t mid) {
    struct fields body = {.n = 0};
    put_u16(&body, mid);
    put_packet(&wire->out, type | (type == RAW_PUBREL ? 2 : 0), &body);
}

/* ---- reading --------------------------------------------------------------------------------------------------- */

/* The Subscription Identifier among the properties of a PUBLISH; false when there are two: this broker sends each copy
 * apart. */
static bool read_id(struct rest properties, uint32_t *id_out) {
    return take_subscription_ids(&properties, id_out) <= 1 && !properties.bad;
}

static struct wire_message *new_message(struct wire *wire) {
    if (wire->n_received == wire->capacity) {
        size_t capacity = wire->capacity == 0 ? 64 : wire->capacity * 2;
        struct wire_message *grown = realloc(wire->received, capacity * sizeof *grown);
        REQUIRE(grown != NULL, "out of memory");
        wire->received = grown;
        wire->capacity = capacity;
    }
    struct wire_message *message = &wire->received[wire->n_received++];
    *message = (struct wire_message){.number = 0};
    return message;
}

/* Acknowledge a message that was received. */
static void acknowledge(struct wire *wire, struct wire_message *message) {
    if (message->qos > 0) {
        wire_put_ack(wire, message->qos == 1 ? RAW_PUBACK : RAW_PUBREC, message->mid);
    }
    message->acknowledged = true;
}

static bool read_publish(struct wire *wire, unsigned flags, struct rest rest) {
    struct wire_message *message = new_message(wire);
    message->qos = flags >> 1 & 3;
    message->retain = (flags & 1) != 0;
    size_t topic_bytes;
    const char *topic = take_text(&rest, &topic_bytes);
    if (rest.bad || topic_bytes >= WIRE_TOPIC_BYTES) {
        return false;
    }
    memcpy(message->topic, topic, topic_bytes);
    if (message->qos > 0) {
        message->mid = take_u16(&rest);
    }
    if (wire->protocol == 5 && !read_id(take_properties(&rest), &message->id)) {
        return false;
    }
    char payload[16] = "";
    memcpy(payload, rest.at, rest.left < sizeof payload - 1 ? rest.left : sizeof payload - 1);
    message->number = (unsigned)strtoul(payload, NULL, 10);
    if (!wire->deaf || message->qos == 0) {
        acknowledge(wire, message);
    }
    return !rest.bad;
}

static struct wire_answer *note_answer(struct wire *wire, enum raw_type type, uint16_t mid,
                                       int code) {
    static struct wire_answer too_many;
    struct wire_answer *answer =
        wire->n_answers < WIRE_ANSWERS ? &wire->answers[wire->n_answers++] : &too_many;
    *answer = (struct wire_answer){.type = type, .mid = mid, .code = code};
    return answer;
}

/* Deal with one packet. False: it does not belong here. */
static bool read_packet(struct wire *wire, unsigned first_byte, struct rest rest) {
    enum raw_type type = (enum raw_type)(first_byte & 0xF0);
    uint16_t mid = 0;
    switch (type) {
    case RAW_PUBLISH:
        wire->n_progress++;
        return read_publish(wire, first_byte & 0x0F, rest);
    case RAW_PUBREL:
        wire->n_progress++;
        wire_put_ack(wire, RAW_PUBCOMP, take_u16(&rest));
        return !rest.bad;
    case RAW_CONNACK: {
        uint16_t present = (uint16_t)take_byte(&rest);
        note_answer(wire, type, present, (int)take_byte(&rest));
        return !rest.bad;
    }
    case RAW_SUBACK:
    case RAW_UNSUBACK: {
        mid = take_u16(&rest);
        if (wire->protocol == 5) {
            take_properties(&rest);
        }
        struct wire_answer *answer = note_answer(wire, type, mid, 0);
        for (size_t i = 0; i < WIRE_ENTRIES && rest.left > 0; i++) {
            answer->codes[i] = (int)take_byte(&rest); /* MQTT 3.1.1 has none in UNSUBACK */
        }
        answer->code = answer->codes[0];
        return !rest.bad && rest.left == 0;
    }
    case RAW_PUBACK:
    case RAW_PUBREC:
    case RAW_PUBCOMP:
        mid = take_u16(&rest);
        note_answer(wire, type, mid, take_reason(&rest));
        return !rest.bad;
    case RAW_PINGRESP:
        note_answer(wire, type, 0, 0);
        return true;
    case RAW_DISCONNECT:
        wire->disconnect_code = take_reason(&rest);
        return true;
    default:
        return false;
    }
}

/* Deal with all whole packets that are there. */
static bool read_packets(struct wire *wire) {
    size_t used = 0;
    bool good = true;
    while (good && wire->in_bytes - used >= 2) {
        struct rest rest = {.at = wire->in + used + 1, .left = wire->in_bytes - used - 1};
        struct rest body = rest;
        size_t bytes = take_varint(&body);
        if (body.bad || body.left < bytes) {
            break; /* not all of it is there */
        }
        unsigned first_byte = wire->in[used];
        used += (size_t)(body.at - wire->in) - used + bytes;
        body.left = bytes;
        good = read_packet(wire, first_byte, body);
    }
    wire->in_bytes -= used;
    memmove(wire->in, wire->in + used, wire->in_bytes);
    if (wire->out.n > 0) {
        (void)wire_flush(wire); /* a connection that is closed shows when it is read */
    }
    return good;
}

/* Receive something and deal with it. 0, or negative. */
static int receive(struct wire *wire, int64_t deadline_ms) {
    for (;;) {
        if (wire->fd < 0) {
            return WIRE_CLOSED;
        }
        ssize_t got = recv(wire->fd, wire->in + wire->in_bytes, WIRE_BUFFER_BYTES - wire->in_bytes,
                           MSG_DONTWAIT);
        if (got > 0) {
            wire->in_bytes += (size_t)got;
            return read_packets(wire) ? 0 : WIRE_GARBLED;
        }
        if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
            return WIRE_CLOSED;
        }
        if (!harness_wait(&wire->fd, 1, deadline_ms)) {
            return WIRE_STALLED;
        }
    }
}

/* Whether the answer is there; it is taken out. */
static bool take_answer(struct wire *wire, enum raw_type type, uint16_t mid,
                        struct wire_answer *answer_out) {
    for (size_t i = 0; i < wire->n_answers; i++) {
        if (wire->answers[i].type == type && (wire->answers[i].mid == mid || type == RAW_CONNACK)) {
            *answer_out = wire->answers[i];
            wire->n_answers--;
            memmove(wire->answers + i, wire->answers + i + 1,
                    (wire->n_answers - i) * sizeof *wire->answers);
            return true;
        }
    }
    return false;
}

/* Wait for an answer. 0, or negative. */
static int await_answer(struct wire *wire, enum raw_type type, uint16_t mid,
                        struct wire_answer *answer_out) {
    int64_t deadline_ms = harness_deadline();
    while (!take_answer(wire, type, mid, answer_out)) {
        int failed = receive(wire, deadline_ms);
        if (failed != 0) {
            return failed;
        }
    }
    return 0;
}

int wire_await(struct wire *wire, enum raw_type type, uint16_t mid) {
    struct wire_answer answer = {.code = 0};
    int failed = await_answer(wire, type, mid, &answer);
    return failed != 0 ? failed : answer.code;
}

int wire_settle(struct wire *wire) {
    size_t before;
    do {
        struct fields empty = {.n = 0};
        before = wire->n_progress;
        put_packet(&wire->out, RAW_PINGREQ, &empty);
        if (!wire_flush(wire)) {
            return WIRE_CLOSED;
        }
        int failed = wire_await(wire, RAW_PINGRESP, 0);
        if (failed != 0) {
            return failed;
        }
    } while (wire->n_progress != before && !wire->deaf);
    return 0;
}

bool wire_wake(struct wire *wire) {
    wire->deaf = false;
    for (size_t i = 0; i < wire->n_received; i++) {
        if (!wire->received[i].acknowledged) {
            acknowledge(wire, &wire->received[i]);
        }
    }
    return wire_flush(wire);
}

/* ---- requests -------------------------------------------------------------------------------------------------- */

int wire_connect(struct wire *wire, struct broker *broker, const struct mqtt_connect *options,
                 bool *present_out) {
    wire->protocol = options->protocol;
    wire->disconnect_code = 0;
    wire->n_answers = 0;
    wire->in_bytes = 0;
    wire->out.n = 0;
    *present_out = false;
    wire->fd = packet_socket(broker, 1);
    if (wire->fd < 0) {
        wire_lose(wire);
        return WIRE_CLOSED;
    }
    put_connect(&wire->out, options);
    struct wire_answer answer = {.code = 0};
    int failed = wire_flush(wire) ? await_answer(wire, RAW_CONNACK, 0, &answer) : WIRE_CLOSED;
    *present_out = answer.mid != 0; /* where read_packet puts it */
    return failed != 0 ? failed : answer.code;
}

int wire_subscribe(struct wire *wire, const struct subscribe *entries, size_t n,
                   int codes_out[WIRE_ENTRIES]) {
    struct fields body = {.n = 0};
    uint16_t mid = next_mid(wire);
    put_u16(&body, mid);
    if (wire->protocol == 5) {
        struct fields properties = {.n = 0};
        if (entries[0].id > 0) {
            put_byte(&properties, PROP_SUBSCRIPTION_ID);
            put_varint(&properties, entries[0].id);
        }
        put_properties(&body, &properties);
    }
    for (size_t i = 0; i < n; i++) {
        unsigned options = (unsigned)entries[i].qos;
        if (wire->protocol == 5) {
            options |= (entries[i].no_local ? 0x04 : 0) |
                       (entries[i].retain_as_published ? 0x08 : 0) |
                       (unsigned)entries[i].retain_handling << 4;
        }
        put_string(&body, entries[i].topic);
        put_byte(&body, options);
    }
    put_packet(&wire->out, RAW_SUBSCRIBE | 2, &body);
    struct wire_answer answer = {.code = 0};
    int failed = wire_flush(wire) ? await_answer(wire, RAW_SUBACK, mid, &answer) : WIRE_CLOSED;
    memcpy(codes_out, answer.codes, sizeof answer.codes);
    return failed;
}

int wire_unsubscribe(struct wire *wire, const char *topic) {
    struct fields body = {.n = 0};
    uint16_t mid = next_mid(wire);
    put_u16(&body, mid);
    if (wire->protocol == 5) {
        put_varint(&body, 0); /* no properties */
    }
    put_string(&body, topic);
    put_packet(&wire->out, RAW_UNSUBSCRIBE | 2, &body);
    return wire_flush(wire) ? wire_await(wire, RAW_UNSUBACK, mid) : WIRE_CLOSED;
}

/* ---- the end of a connection ----------------------------------------------------------------------------------- */

void wire_lose(struct wire *wire) {
    if (wire->fd >= 0) {
        close(wire->fd);
    }
    wire->fd = -1;
    wire->deaf = false;
    size_t kept = 0;
    for (size_t i = 0; i < wire->n_received; i++) {
        if (wire->received[i].acknowledged) {
            wire->received[kept++] = wire->received[i];
        }
    }
    wire->n_received = kept;
}

int wire_await_closed(struct wire *wire) {
    int64_t deadline_ms = harness_deadline();
    int failed;
    size_t kept = wire->n_received;
    wire->deaf = true; /* the connection is lost: what comes now has not been received */
    do {
        failed = receive(wire, deadline_ms);
    } while (failed == 0);
    wire->n_received = kept;
    wire_lose(wire);
    return failed == WIRE_STALLED ? failed : 0;
}

void wire_disconnect(struct wire *wire, int reason, const uint32_t *expiry_s) {
    struct fields body = {.n = 0};
    if (wire->protocol == 5) {
        struct fields properties = {.n = 0};
        if (expiry_s != NULL) {
            put_byte(&properties, PROP_SESSION_EXPIRY);
            put_u32(&properties, *expiry_s);
        }
        put_byte(&body, (unsigned)reason);
        put_properties(&body, &properties);
    }
    put_packet(&wire->out, RAW_DISCONNECT, &body);
    wire_flush(wire);
    wire_await_closed(wire);
}

void wire_drop(struct wire *wire) {
    shutdown(wire->fd, SHUT_WR);
    wire_await_closed(wire);
}
