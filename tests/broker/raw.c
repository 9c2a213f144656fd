/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The raw client (see raw.h): a socket, a writer of MQTT 5 fields, and a reader that takes packets apart only as far as
 * the cases need.
 */
#include "raw.h"
#include "harness_internal.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define MAX_PACKET (1U << 20) /* bytes; what the cases send and get is much smaller */

/* MQTT 5 property identifiers */
#define PROP_MESSAGE_EXPIRY  0x02
#define PROP_CONTENT_TYPE    0x03
#define PROP_RESPONSE_TOPIC  0x08
#define PROP_CORRELATION     0x09
#define PROP_SUBSCRIPTION_ID 0x0B
#define PROP_SESSION_EXPIRY  0x11
#define PROP_RECEIVE_MAXIMUM 0x21
#define PROP_TOPIC_ALIAS     0x23
#define PROP_USER            0x26
#define PROP_PAYLOAD_FORMAT  0x01

struct raw {
    int fd;
    unsigned char *in; /* what has been received; MAX_PACKET bytes */
    size_t in_bytes;
    size_t used; /* the packet that was read last, at the front of `in` */
    struct raw_packet packet;
};

/* ---- writing --------------------------------------------------------------------------------------------------- */

/* A packet in the making; on overflow the case ends. */
struct fields {
    unsigned char *bytes;
    size_t n;
};

static void put(struct fields *fields, const void *bytes, size_t n) {
    REQUIRE(fields->n + n <= MAX_PACKET, "the packet is too big");
    if (n > 0) {
        memcpy(fields->bytes + fields->n, bytes, n);
    }
    fields->n += n;
}

static void put_byte(struct fields *fields, unsigned byte) {
    unsigned char value = (unsigned char)byte;
    put(fields, &value, 1);
}

static void put_u16(struct fields *fields, unsigned value) {
    put_byte(fields, value >> 8 & 0xFF);
    put_byte(fields, value & 0xFF);
}

static void put_u32(struct fields *fields, uint32_t value) {
    put_u16(fields, value >> 16);
    put_u16(fields, value & 0xFFFF);
}

static void put_varint(struct fields *fields, size_t value) {
    do {
        unsigned byte = value & 0x7F;
        value >>= 7;
        put_byte(fields, value > 0 ? byte | 0x80 : byte);
    } while (value > 0);
}

static void put_text(struct fields *fields, const void *text, size_t bytes) {
    put_u16(fields, (unsigned)bytes);
    put(fields, text, bytes);
}

static void put_string(struct fields *fields, const char *text) {
    put_text(fields, text, strlen(text));
}

static struct fields fields_new(void) {
    struct fields fields = {.bytes = malloc(MAX_PACKET)};
    REQUIRE(fields.bytes != NULL, "out of memory");
    return fields;
}

/* Send the fields as a packet and free them. */
static bool send_fields(struct raw *raw, unsigned first_byte, struct fields *fields) {
    bool sent = raw_send_packet(raw, first_byte, fields->bytes, fields->n);
    free(fields->bytes);
    return sent;
}

bool raw_send(struct raw *raw, const void *bytes, size_t n) {
    const char *at = bytes;
    while (n > 0) {
        ssize_t sent = send(raw->fd, at, n, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) {
            continue;
        }
        if (sent <= 0) {
            return false;
        }
        at += sent;
        n -= (size_t)sent;
    }
    return true;
}

bool raw_send_packet(struct raw *raw, unsigned first_byte, const void *body, size_t bytes) {
    struct fields packet = fields_new();
    put_byte(&packet, first_byte);
    put_varint(&packet, bytes);
    put(&packet, body, bytes);
    bool sent = raw_send(raw, packet.bytes, packet.n);
    free(packet.bytes);
    return sent;
}

bool raw_publish(struct raw *raw, uint16_t mid, const struct publish *publish) {
    struct fields properties = fields_new();
    if (publish->expiry_s > 0) {
        put_byte(&properties, PROP_MESSAGE_EXPIRY);
        put_u32(&properties, publish->expiry_s);
    }
    if (publish->content_type != NULL) {
        put_byte(&properties, PROP_CONTENT_TYPE);
        put_string(&properties, publish->content_type);
    }
    if (publish->response_topic != NULL) {
        put_byte(&properties, PROP_RESPONSE_TOPIC);
        put_string(&properties, publish->response_topic);
    }
    for (const char *const *at = publish->user; at != NULL && *at != NULL; at += 2) {
        put_byte(&properties, PROP_USER);
        put_string(&properties, at[0]);
        put_string(&properties, at[1]);
    }

    struct fields body = fields_new();
    put_string(&body, publish->topic);
    if (publish->qos > 0) {
        put_u16(&body, mid);
    }
    put_varint(&body, properties.n);
    put(&body, properties.bytes, properties.n);
    free(properties.bytes);
    if (publish->payload != NULL) {
        put(&body, publish->payload,
            publish->payload_bytes > 0 ? publish->payload_bytes : strlen(publish->payload));
    }
    return send_fields(raw, RAW_PUBLISH | (unsigned)publish->qos << 1 | (publish->retain ? 1 : 0),
                       &body);
}

bool raw_ack(struct raw *raw, enum raw_type type, uint16_t mid) {
    unsigned char body[] = {(unsigned char)(mid >> 8), (unsigned char)(mid & 0xFF)};
    return raw_send_packet(raw, type | (type == RAW_PUBREL ? 2 : 0), body, sizeof body);
}

static bool send_filter(struct raw *raw, unsigned first_byte, uint16_t mid, const void *filter,
                        size_t bytes, int options) {
    struct fields body = fields_new();
    put_u16(&body, mid);
    put_varint(&body, 0); /* no properties */
    put_text(&body, filter, bytes);
    if (options >= 0) {
        put_byte(&body, (unsigned)options);
    }
    return send_fields(raw, first_byte, &body);
}

bool raw_subscribe(struct raw *raw, uint16_t mid, const void *filter, size_t bytes,
                   unsigned options) {
    return send_filter(raw, RAW_SUBSCRIBE | 2, mid, filter, bytes, (int)options);
}

bool raw_unsubscribe(struct raw *raw, uint16_t mid, const void *filter, size_t bytes) {
    return send_filter(raw, RAW_UNSUBSCRIBE | 2, mid, filter, bytes, -1);
}

/* ---- reading ---------------------------------------------------------------------------------------------------- */

/* What is left of a body. Fields are taken from the front; a body that is too short ends the case. */
struct rest {
    const unsigned char *at;
    size_t left;
};

static const unsigned char *take(struct rest *rest, size_t n) {
    REQUIRE(rest->left >= n, "a packet of the broker ends too early");
    const unsigned char *taken = rest->at;
    rest->at += n;
    rest->left -= n;
    return taken;
}

static uint16_t take_u16(struct rest *rest) {
    const unsigned char *bytes = take(rest, 2);
    return (uint16_t)(bytes[0] << 8 | bytes[1]);
}

static uint32_t take_varint(struct rest *rest) {
    uint32_t value = 0;
    for (unsigned shift = 0; shift < 28; shift += 7) {
        unsigned char byte = *take(rest, 1);
        value |= (uint32_t)(byte & 0x7F) << shift;
        if ((byte & 0x80) == 0) {
            return value;
        }
    }
    REQUIRE(false, "a packet of the broker has a bad length");
    return 0;
}

/* The first Subscription Identifier among the properties of a PUBLISH. */
static uint32_t subscription_id(struct rest properties) {
    while (properties.left > 0) {
        unsigned property = *take(&properties, 1);
        switch (property) {
        case PROP_SUBSCRIPTION_ID:
            return take_varint(&properties);
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
            REQUIRE(false, "property 0x%02x in a PUBLISH", property);
        }
    }
    return 0;
}

static struct rest take_properties(struct rest *rest) {
    size_t bytes = take_varint(rest);
    return (struct rest){.at = take(rest, bytes), .left = bytes};
}

static void parse_publish(struct raw_packet *packet, struct rest rest) {
    packet->qos = (int)(packet->flags >> 1 & 3);
    packet->retain = (packet->flags & 1) != 0;
    packet->dup = (packet->flags & 8) != 0;
    size_t bytes = take_u16(&rest);
    const unsigned char *topic = take(&rest, bytes);
    snprintf(packet->topic, sizeof packet->topic, "%.*s", (int)bytes, (const char *)topic);
    if (packet->qos > 0) {
        packet->mid = take_u16(&rest);
    }
    packet->id = subscription_id(take_properties(&rest));
    packet->payload = rest.at;
    packet->payload_bytes = rest.left;
}

static void parse(struct raw_packet *packet) {
    struct rest rest = {.at = packet->body, .left = packet->bytes};
    switch (packet->type) {
    case RAW_PUBLISH:
        parse_publish(packet, rest);
        break;
    case RAW_CONNACK:
        take(&rest, 1);
        packet->code = *take(&rest, 1);
        break;
    case RAW_SUBACK:
    case RAW_UNSUBACK:
        packet->mid = take_u16(&rest);
        take_properties(&rest);
        packet->code = *take(&rest, 1);
        break;
    case RAW_PUBACK:
    case RAW_PUBREC:
    case RAW_PUBREL:
    case RAW_PUBCOMP:
        packet->mid = take_u16(&rest);
        packet->code = rest.left > 0 ? *take(&rest, 1) : 0; /* left out: success */
        break;
    case RAW_DISCONNECT:
        packet->code = rest.left > 0 ? *take(&rest, 1) : 0;
        break;
    default:
        break;
    }
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

/* ---- opening and closing ------------------------------------------------------------------------------------------
 * */

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
    test_defer(raw_free, raw);
    raw->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    raw->in = malloc(MAX_PACKET);
    struct sockaddr_in address = {
        .sin_family = AF_INET,
        .sin_port = htons((uint16_t)broker_port(broker, listener == 0 ? 1 : listener))};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(raw->in != NULL && raw->fd >= 0, "out of memory");
    REQUIRE(connect(raw->fd, (struct sockaddr *)&address, sizeof address) == 0, "connect: %s",
            strerror(errno));
    return raw;
}

struct raw *raw_connect(struct broker *broker, const struct raw_options *options) {
    struct raw *raw = raw_open(broker, options->listener);
    struct fields properties = fields_new();
    if (options->expiry_s > 0) {
        put_byte(&properties, PROP_SESSION_EXPIRY);
        put_u32(&properties, options->expiry_s);
    }
    if (options->receive_maximum > 0) {
        put_byte(&properties, PROP_RECEIVE_MAXIMUM);
        put_u16(&properties, options->receive_maximum);
    }

    struct fields body = fields_new();
    put_string(&body, "MQTT");
    put_byte(&body, 5);
    put_byte(&body, options->keep ? 0 : 2);
    put_u16(&body, 0); /* no keep alive */
    put_varint(&body, properties.n);
    put(&body, properties.bytes, properties.n);
    free(properties.bytes);
    put_string(&body, options->id == NULL ? "" : options->id);
    bool sent = send_fields(raw, RAW_CONNECT, &body);
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

void raw_drop(struct raw *raw) {
    shutdown(raw->fd, SHUT_WR);
    await_closed(raw);
}
