/* SPDX-License-Identifier: BSD-3-Clause
 *
 * wire: just enough MQTT 5 for the benchmark: a broker process with its CPU clock, and connections that subscribe,
 * publish and throw away what they receive. Everything that goes wrong ends the program.
 */
#ifndef BENCH_WIRE_H
#define BENCH_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

struct bench_broker {
    pid_t pid;
    int port;
    char folder[64];
    char config[96]; /* its configuration, in the folder */
    clockid_t cpu;   /* of the whole process */
    int *connections;
    size_t n_connections;
};

/* Start `path` with a configuration that loads `plugin` (NULL: none), and wait until it accepts connections. */
void broker_start(struct bench_broker *broker, const char *path, const char *plugin);

/* End it, close its connections, remove its folder. */
void broker_stop(struct bench_broker *broker);

/* CPU time, user and system, that the broker has used, in nanoseconds. */
uint64_t broker_cpu_ns(const struct bench_broker *broker);

/* Resident memory of the broker in bytes. */
uint64_t broker_resident_bytes(const struct bench_broker *broker);

/* Connect one more client (MQTT 5, Clean Start). Returns its number. */
size_t broker_connect(struct bench_broker *broker);

/* Send one SUBSCRIBE (or UNSUBSCRIBE) with `n` topic filters at QoS 0 and wait for its acknowledgement; a refusal ends
 * the program. */
void broker_subscribe(struct bench_broker *broker, size_t client, const char *const *filters,
                      size_t n);
void broker_unsubscribe(struct bench_broker *broker, size_t client, const char *const *filters,
                        size_t n);

/* A PUBLISH at QoS 0 with User Properties, NULL-terminated pairs; returns its length. */
size_t wire_publish(uint8_t *out, size_t capacity, const char *topic, const char *const *properties,
                    const char *payload);

/* Send `n` messages, of which packets[i] has lengths[i] bytes, in turn, from `client`, and wait until the broker has
 * dealt with all of them (PINGREQ), while every other connection reads away what arrives. Returns the bytes that the
 * other connections have received. */
uint64_t broker_publish(struct bench_broker *broker, size_t client, const uint8_t *const *packets,
                        const size_t *lengths, size_t n_packets, size_t n);

#endif
