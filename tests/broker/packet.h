/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the clients share that make their packets themselves (raw.h, wire.h).
 */
#ifndef TEST_PACKET_H
#define TEST_PACKET_H

#include "harness.h"
#include "mqtt_fields.h"

struct mqtt_connect {
    const char *id;
    int protocol; /* 5, or 4 for MQTT 3.1.1 */
    bool clean;
    uint32_t expiry_s;        /* MQTT 5 */
    uint16_t receive_maximum; /* MQTT 5; 0: none is sent */
    const struct publish *will;
    uint32_t will_delay_s; /* MQTT 5 */
};

/* Append a CONNECT, without keep alive: nothing here depends on the clock. */
void put_connect(struct fields *out, const struct mqtt_connect *options);

/* Append a PUBLISH with this packet identifier (not sent with QoS 0). */
void put_publish(struct fields *out, int protocol, uint16_t mid, const struct publish *publish);

/* A new socket that is connected to this listener (from 1) and sends small packets at once; -1: errno says why. */
int packet_socket(struct broker *broker, unsigned listener);

/* Send all. False: the connection is closed. */
bool packet_send(int fd, const void *bytes, size_t n);

#endif
