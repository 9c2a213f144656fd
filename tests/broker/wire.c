/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The clients of the model test (see wire.h).
 */
#include "wire.h"
#include "harness_internal.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

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

void wire_init(struct wire *wire) {
    *wire = (struct wire){
        .fd = -1,
        .in = malloc(WIRE_BUFFER_BYTES),
        .out = malloc(WIRE_BUFFER_BYTES),
    };
    REQUIRE(wire->in != NULL && wire->out != NULL, "out of memory");
}

void wire_deinit(struct wire *wire) {
    if (wire->fd >= 0) {
        close(wire->fd);
    }
    free(wire->in);
    free(wire->out);
    free(wire->received);
    *wire = (struct wire){.fd = -1};
}

/* ---- writing --------------------------------------------------------------------------------------------------- */

/* A body in the making; what the test sends is far smaller. */
struct body {
    unsigned char bytes[2048];
    size_t n;
};

static void put(struct body *body, const void *bytes, size_t n) {
    REQUIRE(body->n + n <= sizeof body->bytes, "the packet is too big");
    memcpy(body->bytes + body->n, bytes, n);
    body->n += n;
}

static void put_byte(struct body *body, unsigned byte) {
    unsigned char value = (unsigned char)byte;
    put(body, &value, 1);
}

static void put_u16(struct body *body, unsigned value) {
    put_byte(body, value >> 8 & 0xFF);
    put_byte(body, value & 0xFF);
}

static void put_u32(struct body *body, uint32_t value) {
    put_u16(body, value >> 16);
    put_u16(body, value & 0xFFFF);
}

static void put_varint(struct body *body, size_t value) {
    do {
        unsigned byte = value & 0x7F;
        value >>= 7;
        put_byte(body, value > 0 ? byte | 0x80 : byte);
    } while (value > 0);
}

static void put_text(struct body *body, const char *text) {
    size_t bytes = strlen(text);
    put_u16(body, (unsigned)bytes);
    put(body, text, bytes);
}

/* A property list with its length in front. */
static void put_properties(struct body *body, const struct body *properties) {
    put_varint(body, properties->n);
    put(body, properties->bytes, properties->n);
}

/* Append a whole packet to what wire_flush sends. */
static void put_packet(struct wire *wire, unsigned first_byte, const struct body *body) {
    struct body head = {.n = 0};
    put_byte(&head, first_byte);
    put_varint(&head, body->n);
    REQUIRE(wire->out_bytes + head.n + body->n <= WIRE_BUFFER_BYTES, "too much to send at once");
    memcpy(wire->out + wire->out_bytes, head.bytes, head.n);
    memcpy(wire->out + wire->out_bytes + head.n, body->bytes, body->n);
    wire->out_bytes += head.n + body->n;
}

bool wire_flush(struct wire *wire) {
    size_t sent = 0;
    while (sent < wire->out_bytes) {
        ssize_t n = send(wire->fd, wire->out + sent, wire->out_bytes - sent, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            break;
        }
        sent += (size_t)n;
    }
    bool done = sent == wire->out_bytes;
    wire->out_bytes = 0;
    return done;
}

static void put_message_properties(struct body *properties, const struct publish *publish) {
    if (publish->content_type != NULL) {
        put_byte(properties, PROP_CONTENT_TYPE);
        put_text(properties, publish->content_type);
    }
    if (publish->response_topic != NULL) {
        put_byte(properties, PROP_RESPONSE_TOPIC);
        put_text(properties, publish->response_topic);
    }
    for (const char *const *at = publish->user; at != NULL && *at != NULL; at += 2) {
        put_byte(properties, PROP_USER);
        put_text(properties, at[0]);
        put_text(properties, at[1]);
    }
}

static uint16_t next_mid(struct wire *wire) {
    wire->last_mid = wire->last_mid == UINT16_MAX ? 1 : (uint16_t)(wire->last_mid + 1);
    return wire->last_mid;
}

uint16_t wire_put_publish(struct wire *wire, const struct publish *publish) {
    struct body body = {.n = 0};
    uint16_t mid = 0;
    put_text(&body, publish->topic);
    if (publish->qos > 0) {
        mid = next_mid(wire);
        put_u16(&body, mid);
    }
    if (wire->protocol == 5) {
        struct body properties = {.n = 0};
        put_message_properties(&properties, publish);
        put_properties(&body, &properties);
    }
    put(&body, publish->payload, strlen(publish->payload));
    put_packet(wire, RAW_PUBLISH | (unsigned)publish->qos << 1 | (publish->retain ? 1 : 0), &body);
    return mid;
}

void wire_put_ack(struct wire *wire, enum raw_type type, uint16_t mid) {
    struct body body = {.n = 0};
    put_u16(&body, mid);
    put_packet(wire, type | (type == RAW_PUBREL ? 2 : 0), &body);
}

/* ---- reading --------------------------------------------------------------------------------------------------- */

/* What is left of a body; `bad` once more was taken than there is. */
struct rest {
    const unsigned char *at;
    size_t left;
    bool bad;
};

static const unsigned char *take(struct rest *rest, size_t n) {
    static const unsigned char nothing[4];
    if (rest->left < n) {
        rest->bad = true;
        rest->left = 0;
        return nothing;
    }
    const unsigned char *taken = rest->at;
    rest->at += n;
    rest->left -= n;
    return taken;
}

static unsigned take_u16(struct rest *rest) {
    const unsigned char *bytes = take(rest, 2);
    return (unsigned)bytes[0] << 8 | bytes[1];
}

static uint32_t take_varint(struct rest *rest) {
    uint32_t value = 0;
    for (unsigned shift = 0; shift < 28; shift += 7) {
        unsigned byte = *take(rest, 1);
        value |= (uint32_t)(byte & 0x7F) << shift;
        if ((byte & 0x80) == 0) {
            return value;
        }
    }
    rest->bad = true;
    return 0;
}

static struct rest take_properties(struct rest *rest) {
    size_t bytes = take_varint(rest);
    size_t left = rest->left;
    const unsigned char *at = take(rest, bytes);
    return (struct rest){.at = at, .left = bytes <= left ? bytes : 0, .bad = rest->bad};
}

/* The Subscription Identifier among the properties of a PUBLISH; false when there are two, or other things. */
static bool read_id(struct rest properties, uint32_t *id_out) {
    *id_out = 0;
    while (properties.left > 0 && !properties.bad) {
        switch (*take(&properties, 1)) {
        case PROP_SUBSCRIPTION_ID:
            if (*id_out != 0) {
                return false; /* this broker sends each copy apart */
            }
            *id_out = take_varint(&properties);
            break;
        case PROP_PAYLOAD_FORMAT:
            take(&properties, 1);
            break;
        case PROP_TOPIC_ALIAS:
            take(&properties, 2);
            break;
        case PROP_MESSAGE_EXPIRY:
            take(&properties, 4);
            break;
        case PROP_USER:
            take(&properties, take_u16(&properties));
            take(&properties, take_u16(&properties));
            break;
        case PROP_CONTENT_TYPE:
        case PROP_RESPONSE_TOPIC:
        case PROP_CORRELATION:
            take(&properties, take_u16(&properties));
            break;
        default:
            return false;
        }
    }
    return !properties.bad;
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
    size_t topic_bytes = take_u16(&rest);
    const unsigned char *topic = take(&rest, topic_bytes);
    if (rest.bad || topic_bytes >= WIRE_TOPIC_BYTES) {
        return false;
    }
    memcpy(message->topic, topic, topic_bytes);
    if (message->qos > 0) {
        message->mid = (uint16_t)take_u16(&rest);
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

/* The code of an acknowledgement, which is left out when it is 0. */
static int optional_code(struct rest *rest) {
    return rest->left > 0 ? *take(rest, 1) : 0;
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
        wire_put_ack(wire, RAW_PUBCOMP, (uint16_t)take_u16(&rest));
        return !rest.bad;
    case RAW_CONNACK: {
        uint16_t present = *take(&rest, 1);
        note_answer(wire, type, present, *take(&rest, 1));
        return !rest.bad;
    }
    case RAW_SUBACK:
    case RAW_UNSUBACK: {
        mid = (uint16_t)take_u16(&rest);
        if (wire->protocol == 5) {
            take_properties(&rest);
        }
        struct wire_answer *answer = note_answer(wire, type, mid, 0);
        for (size_t i = 0; i < WIRE_ENTRIES && rest.left > 0; i++) {
            answer->codes[i] = *take(&rest, 1); /* MQTT 3.1.1 has none in UNSUBACK */
        }
        answer->code = answer->codes[0];
        return !rest.bad && rest.left == 0;
    }
    case RAW_PUBACK:
    case RAW_PUBREC:
    case RAW_PUBCOMP:
        mid = (uint16_t)take_u16(&rest);
        note_answer(wire, type, mid, optional_code(&rest));
        return !rest.bad;
    case RAW_PINGRESP:
        note_answer(wire, type, 0, 0);
        return true;
    case RAW_DISCONNECT:
        wire->disconnect_code = optional_code(&rest);
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
    if (wire->out_bytes > 0) {
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
    static const struct body empty;
    size_t before;
    do {
        before = wire->n_progress;
        put_packet(wire, RAW_PINGREQ, &empty);
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

static bool open_socket(struct wire *wire, struct broker *broker) {
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)broker_port(broker, 1))};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int one = 1;
    wire->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return wire->fd >= 0 && connect(wire->fd, (struct sockaddr *)&address, sizeof address) == 0 &&
           setsockopt(wire->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) == 0;
}

static void put_will(struct body *body, const struct wire_connect *options) {
    if (options->protocol == 5) {
        struct body properties = {.n = 0};
        if (options->will_delay_s > 0) {
            put_byte(&properties, PROP_WILL_DELAY);
            put_u32(&properties, options->will_delay_s);
        }
        put_message_properties(&properties, options->will);
        put_properties(body, &properties);
    }
    put_text(body, options->will->topic);
    put_text(body, options->will->payload);
}

static void put_connect(struct wire *wire, const struct wire_connect *options) {
    struct body body = {.n = 0};
    const struct publish *will = options->will;
    put_text(&body, "MQTT");
    put_byte(&body, (unsigned)options->protocol);
    unsigned flags = options->clean ? 0x02 : 0;
    if (will != NULL) {
        flags |= 0x04 | (unsigned)will->qos << 3 | (will->retain ? 0x20 : 0);
    }
    put_byte(&body, flags);
    put_u16(&body, 0); /* no keep alive: nothing here depends on the clock */
    if (options->protocol == 5) {
        struct body properties = {.n = 0};
        if (options->expiry_s > 0) {
            put_byte(&properties, PROP_SESSION_EXPIRY);
            put_u32(&properties, options->expiry_s);
        }
        if (options->receive_maximum > 0) {
            put_byte(&properties, PROP_RECEIVE_MAXIMUM);
            put_u16(&properties, options->receive_maximum);
        }
        put_properties(&body, &properties);
    }
    put_text(&body, options->id);
    if (will != NULL) {
        put_will(&body, options);
    }
    put_packet(wire, RAW_CONNECT, &body);
}

int wire_connect(struct wire *wire, struct broker *broker, const struct wire_connect *options,
                 bool *present_out) {
    wire->protocol = options->protocol;
    wire->disconnect_code = 0;
    wire->n_answers = 0;
    wire->in_bytes = 0;
    wire->out_bytes = 0;
    *present_out = false;
    if (!open_socket(wire, broker)) {
        wire_lose(wire);
        return WIRE_CLOSED;
    }
    put_connect(wire, options);
    struct wire_answer answer = {.code = 0};
    int failed = wire_flush(wire) ? await_answer(wire, RAW_CONNACK, 0, &answer) : WIRE_CLOSED;
    *present_out = answer.mid != 0; /* where read_packet puts it */
    return failed != 0 ? failed : answer.code;
}

int wire_subscribe(struct wire *wire, const struct subscribe *entries, size_t n,
                   int codes_out[WIRE_ENTRIES]) {
    struct body body = {.n = 0};
    uint16_t mid = next_mid(wire);
    put_u16(&body, mid);
    if (wire->protocol == 5) {
        struct body properties = {.n = 0};
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
        put_text(&body, entries[i].topic);
        put_byte(&body, options);
    }
    put_packet(wire, RAW_SUBSCRIBE | 2, &body);
    struct wire_answer answer = {.code = 0};
    int failed = wire_flush(wire) ? await_answer(wire, RAW_SUBACK, mid, &answer) : WIRE_CLOSED;
    memcpy(codes_out, answer.codes, sizeof answer.codes);
    return failed;
}

int wire_unsubscribe(struct wire *wire, const char *topic) {
    struct body body = {.n = 0};
    uint16_t mid = next_mid(wire);
    put_u16(&body, mid);
    if (wire->protocol == 5) {
        put_varint(&body, 0); /* no properties */
    }
    put_text(&body, topic);
    put_packet(wire, RAW_UNSUBSCRIBE | 2, &body);
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
    struct body body = {.n = 0};
    if (wire->protocol == 5) {
        struct body properties = {.n = 0};
        if (expiry_s != NULL) {
            put_byte(&properties, PROP_SESSION_EXPIRY);
            put_u32(&properties, *expiry_s);
        }
        put_byte(&body, (unsigned)reason);
        put_properties(&body, &properties);
    }
    put_packet(wire, RAW_DISCONNECT, &body);
    wire_flush(wire);
    wire_await_closed(wire);
}

void wire_drop(struct wire *wire) {
    shutdown(wire->fd, SHUT_WR);
    wire_await_closed(wire);
}
