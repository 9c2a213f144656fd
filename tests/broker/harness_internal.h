/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the parts of the harness need of each other.
 */
#ifndef TEST_HARNESS_INTERNAL_H
#define TEST_HARNESS_INTERNAL_H

#include "harness.h"

#include <mosquitto.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Milliseconds of a clock that only goes forward. */
int64_t harness_now_ms(void);

/* When a wait that begins now has taken too long. Generous: only failures ever wait for it. */
int64_t harness_deadline(void);

/* Wait until one of `fds` (n of them; may be 0) is readable or closed, or something happened on the connection of a
 * client; serves all clients. False: the deadline has passed. Callers loop around it and look at what they wait for. */
bool harness_wait(const int *fds, size_t n, int64_t deadline_ms);

/* Read and forget what comes on `fd` until the other side closes it; then close it. Ends the case at the deadline. */
void harness_drain(int fd);

#define FENCE_PREFIX "fence/"

/* What a client has received. Empty when zeroed. */
struct inbox {
    struct message *first;
    struct message *last;
    size_t count;
    unsigned fence_seen; /* number of the last fence's marker that came */
};

/* Add a copy of a message; markers of fences are only noted. Out of memory ends the process, because this is called
 * from within libmosquitto, which REQUIRE must not jump over. */
void inbox_add(struct inbox *inbox, const struct mosquitto_message *from,
               const mosquitto_property *properties);
void inbox_clear(struct inbox *inbox);

/* The MQTT 5 properties of a message to publish; free with mosquitto_property_free_all. */
mosquitto_property *message_properties(const struct publish *publish);

size_t message_payload_bytes(const struct publish *publish);

#endif
