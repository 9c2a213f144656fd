/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See packet.h.
 */
#include "packet.h"
#include "harness_internal.h"
#include "raw.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

static void put_message_properties(struct fields *properties, const struct publish *publish) {
    if (publish->expiry_s > 0) {
        put_byte(properties, PROP_MESSAGE_EXPIRY);
        put_u32(properties, publish->expiry_s);
    }
    if (publish->content_type != NULL) {
        put_byte(properties, PROP_CONTENT_TYPE);
        put_string(properties, publish->content_type);
    }
    if (publish->response_topic != NULL) {
        put_byte(properties, PROP_RESPONSE_TOPIC);
        put_string(properties, publish->response_topic);
    }
    for (const char *const *at = publish->user; at != NULL && *at != NULL; at += 2) {
        put_user_property(properties, at[0], at[1]);
    }
}

static void put_will(struct fields *body, const struct mqtt_connect *options) {
    if (options->protocol == 5) {
        struct fields properties = {.n = 0};
        if (options->will_delay_s > 0) {
            put_byte(&properties, PROP_WILL_DELAY);
            put_u32(&properties, options->will_delay_s);
        }
        put_message_properties(&properties, options->will);
        put_properties(body, &properties);
    }
    put_string(body, options->will->topic);
    put_text(body, options->will->payload, message_payload_bytes(options->will));
}

static unsigned connect_flags(const struct mqtt_connect *options) {
    const struct publish *will = options->will;
    unsigned flags = options->clean ? 0x02 : 0;
    if (will != NULL) {
        flags |= 0x04 | (unsigned)will->qos << 3 | (will->retain ? 0x20 : 0);
    }
    return flags;
}

void put_connect(struct fields *out, const struct mqtt_connect *options) {
    struct fields body = {.n = 0};
    put_string(&body, "MQTT");
    put_byte(&body, (unsigned)options->protocol);
    put_byte(&body, connect_flags(options));
    put_u16(&body, 0);
    if (options->protocol == 5) {
        struct fields properties = {.n = 0};
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
    put_string(&body, options->id);
    if (options->will != NULL) {
        put_will(&body, options);
    }
    put_packet(out, RAW_CONNECT, &body);
}

void put_publish(struct fields *out, int protocol, uint16_t mid, const struct publish *publish) {
    struct fields body = {.n = 0};
    put_string(&body, publish->topic);
    if (publish->qos > 0) {
        put_u16(&body, mid);
    }
    if (protocol == 5) {
        struct fields properties = {.n = 0};
        put_message_properties(&properties, publish);
        put_properties(&body, &properties);
    }
    put(&body, publish->payload, message_payload_bytes(publish));
    put_packet(out, RAW_PUBLISH | (unsigned)publish->qos << 1 | (publish->retain ? 1 : 0), &body);
}

int packet_socket(struct broker *broker, unsigned listener) {
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)broker_port(broker, listener))};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int one = 1;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && (connect(fd, (struct sockaddr *)&address, sizeof address) != 0 ||
                    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) != 0)) {
        int failure = errno;
        close(fd);
        errno = failure;
        fd = -1;
    }
    return fd;
}

bool packet_send(int fd, const void *bytes, size_t n) {
    const char *at = bytes;
    while (n > 0) {
        ssize_t sent = send(fd, at, n, MSG_NOSIGNAL);
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
