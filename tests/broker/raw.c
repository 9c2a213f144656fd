/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The raw client (see raw.h): a socket, and a reader that takes packets apart only as far as the cases need.
 */
#include "raw.h"
#include "harness_internal.h"
#include "packet.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define MAX_PACKET (1U << 20) /* bytes; what the cases get is much smaller */

struct raw {
    int fd;
    unsigned char *in; /* what has been received; MAX_PACKET bytes */
    size_t in_bytes;
    size_t used; /* the packet that was read last, at the front of `in` */
    struct raw_packet packet;
};

/* ---- writing --------------------------------------------------------------------------------------------------- */

bool raw_send(struct raw *raw, const void *bytes, size_t n) {
    return packet_send(raw->fd, bytes, n);
}

/* Send the packets and free them. */
static bool send_fields(struct raw *raw, struct fields *packets) {
    bool sent = raw_send(raw, packets->bytes, packets->n);
    fields_free(packets);
    return sent;
}

bool raw_send_packet(struct raw *raw, unsigned first_byte, const void *body, size_t bytes) {
    struct fields fields = {.n = 0};
    struct fields packet = {.n = 0};
    put(&fields, body, bytes);
    put_packet(&packet, first_byte, &fields);
    return send_fields(raw, &packet);
}

bool raw_publish(struct raw *raw, uint16_t mid, const struct publish *publish) {
    struct fields packet = {.n = 0};
    put_publish(&packet, 5, mid, publish);
    return send_fields(raw, &packet);
}

bool raw_ack(struct raw *raw, enum raw_type type, uint16_t mid) {
    unsigned char body[] = {(unsigned char)(mid >> 8), (unsigned char)(mid & 0xFF)};
    return raw_send_packet(raw, type | (type == RAW_PUBREL ? 2 : 0), body, sizeof body);
}

static bool send_filter(struct raw *raw, unsigned first_byte, uint16_t mid, const void *filter,
                        size_t bytes, int options) {
    struct fields body = {.n = 0};
    struct fields packet = {.n = 0};
    put_u16(&body, mid);
    put_varint(&body, 0); /* no properties */
    put_text(&body, filter, bytes);
    if (options >= 0) {
        put_byte(&body, (unsigned)options);
    }
    put_packet(&packet, first_byte, &body);
    return send_fields(raw, &packet);
}

bool raw_subscribe(struct raw *raw, uint16_t mid, const void *filter, size_t bytes,
                   unsigned options) {
    return send_filter(raw, RAW_SUBSCRIBE | 2, mid, filter, bytes, (int)options);
}

bool raw_unsubscribe(struct raw *raw, uint16_t mid, const void *filter, size_t bytes) {
    return send_filter(raw, RAW_UNSUBSCRIBE | 2, mid, filter, bytes, -1);
}

/* ---- reading ---------------------------------------------------------------------------------------------------- */

static void parse_publish(struct raw_packet *packet, struct rest *rest) {
    packet->qos = (int)(packet->flags >> 1 & 3);
    packet->retain = (packet->flags & 1) != 0;
    packet->dup = (packet->flags & 8) != 0;
    size_t bytes = 0;
    const char *topic = take_text(rest, &bytes);
    snprintf(packet->topic, sizeof packet->topic, "%.*s", (int)bytes, topic);
    if (packet->qos > 0) {
        packet->mid = take_u16(rest);
    }
    struct rest properties = take_properties(rest);
    take_subscription_ids(&properties, &packet->id);
    rest->bad |= properties.bad;
    packet->payload = rest->at;
    packet->payload_bytes = rest->left;
}

static void parse(struct raw_packet *packet) {
    struct rest rest = {.at = packet->body, .left = packet->bytes};
    switch (packet->type) {
    case RAW_PUBLISH:
        parse_publish(packet, &rest);
        break;
    case RAW_CONNACK:
        take_byte(&rest);
        packet->code = (int)take_byte(&rest);
        break;
    case RAW_SUBACK:
    case RAW_UNSUBACK:
        packet->mid = take_u16(&rest);
        take_properties(&rest);
        packet->code = (int)take_byte(&rest);
        break;
    case RAW_PUBACK:
    case RAW_PUBREC:
    case RAW_PUBREL:
    case RAW_PUBCOMP:
        packet->mid = take_u16(&rest);
        packet->code = take_reason(&rest);
        break;
    case RAW_DISCONNECT:
        packet->code = take_reason(&rest);
        break;
    default:
        break;
    }
    REQUIRE(!rest.bad, "a packet 0x%02x of the broker is not well-formed", (unsigned)packet->type);
}

/* Whether `in` begins with a whole packet; then its header and all of its length. */
static bool whole_packet(const struct raw *raw, size_t *header_out, size_t *bytes_out) {
    size_t bytes = 0;
    for (size_t i = 1; i < raw->in_bytes && i <= 4; i++) {
        bytes |= (size_t)(raw->in[i] & 0x7F) << (7 * (i - 1));
        if ((raw->in[i] & 0x80) == 0) {
            *header_out = i + 1;
            *bytes_out = bytes;
            return raw->in_bytes >= i + 1 + bytes;
        }
    }
    return false;
}

/* Receive something. False: the connection is closed. */
static bool receive(struct raw *raw) {
    int64_t deadline = harness_deadline();
    REQUIRE(raw->in_bytes < MAX_PACKET, "a packet of the broker is too big");
    for (;;) {
        ssize_t got =
            recv(raw->fd, raw->in + raw->in_bytes, MAX_PACKET - raw->in_bytes, MSG_DONTWAIT);
        if (got > 0) {
            raw->in_bytes += (size_t)got;
            return true;
        }
        if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
            return false;
        }
        bool in_time = harness_wait(&raw->fd, 1, deadline);
        REQUIRE(in_time, "nothing comes on the raw connection");
    }
}

/* Read into raw->packet. */
static void read_next(struct raw *raw) {
    raw->in_bytes -= raw->used;
    memmove(raw->in, raw->in + raw->used, raw->in_bytes);
    raw->used = 0;

    struct raw_packet *packet = &raw->packet;
    memset(packet, 0, sizeof *packet);
    size_t header = 0;
    while (!whole_packet(raw, &header, &packet->bytes)) {
        if (!receive(raw)) {
            packet->type = RAW_CLOSED;
            packet->bytes = 0;
            return;
        }
    }
    packet->type = (enum raw_type)(raw->in[0] & 0xF0);
    packet->flags = raw->in[0] & 0x0F;
    packet->body = raw->in + header;
    raw->used = header + packet->bytes;
    parse(packet);
}

enum raw_type raw_read(struct raw *raw, struct raw_packet *packet_out) {
    read_next(raw);
    *packet_out = raw->packet;
    return raw->packet.type;
}

const struct raw_packet *raw_expect(struct raw *raw, enum raw_type type) {
    read_next(raw);
    REQUIRE(raw->packet.type == type, "packet 0x%02x came instead of 0x%02x (code 0x%02x)",
            raw->packet.type, type, (unsigned)raw->packet.code);
    return &raw->packet;
}

size_t raw_ping(struct raw *raw, struct raw_packet *published_out, size_t max) {
    size_t n = 0;
    bool sent = raw_send_packet(raw, RAW_PINGREQ, NULL, 0);
    REQUIRE(sent, "the connection is closed");
    for (;;) {
        read_next(raw);
        REQUIRE(raw->packet.type != RAW_CLOSED, "the connection was closed");
        if (raw->packet.type == RAW_PINGRESP) {
            return n;
        }
        if (raw->packet.type == RAW_PUBLISH) {
            if (n < max) {
                published_out[n] = raw->packet;
                published_out[n].body = NULL;
                published_out[n].payload = NULL;
            }
            n++;
        }
    }
}

/* ---- opening and closing --------------------------------------------------------------------------------------- */

static void raw_free(void *user) {
    struct raw *raw = user;
    if (raw->fd >= 0) {
        close(raw->fd);
    }
    free(raw->in);
    free(raw);
}

struct raw *raw_open(struct broker *broker, unsigned listener) {
    struct raw *raw = calloc(1, sizeof *raw);
    REQUIRE(raw != NULL, "out of memory");
    raw->fd = -1;
    test_defer(raw_free, raw);
    raw->in = malloc(MAX_PACKET);
    REQUIRE(raw->in != NULL, "out of memory");
    raw->fd = packet_socket(broker, listener == 0 ? 1 : listener);
    REQUIRE(raw->fd >= 0, "connect: %s", strerror(errno));
    return raw;
}

struct raw *raw_connect(struct broker *broker, const struct raw_options *options) {
    struct raw *raw = raw_open(broker, options->listener);
    struct fields packet = {.n = 0};
    put_connect(&packet, &(struct mqtt_connect){.id = options->id == NULL ? "" : options->id,
                                                .protocol = 5,
                                                .clean = !options->keep,
                                                .expiry_s = options->expiry_s,
                                                .receive_maximum = options->receive_maximum,
                                                .will = options->will});
    bool sent = send_fields(raw, &packet);
    REQUIRE(sent, "the connection is closed");
    const struct raw_packet *connack = raw_expect(raw, RAW_CONNACK);
    REQUIRE(connack->code == 0, "connection refused with 0x%02x", (unsigned)connack->code);
    return raw;
}

static void await_closed(struct raw *raw) {
    int fd = raw->fd;
    raw->fd = -1;
    harness_drain(fd);
}

void raw_disconnect(struct raw *raw) {
    raw_send_packet(raw, RAW_DISCONNECT, NULL, 0);
    await_closed(raw);
}

void raw_hang_up(struct raw *raw) {
    shutdown(raw->fd, SHUT_WR);
}

void raw_drop(struct raw *raw) {
    raw_hang_up(raw);
    await_closed(raw);
}
