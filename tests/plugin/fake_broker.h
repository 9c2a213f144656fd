/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The functions of the broker that the plugin's parts call, for tests that need what the real broker does only by
 * chance: clients at addresses of the test's choice, two messages at the same three addresses, and so on. It answers and
 * notes; it does not route. */
#ifndef TESTS_PLUGIN_FAKE_BROKER_H
#define TESTS_PLUGIN_FAKE_BROKER_H

#include "broker.h"

#include <stdbool.h>
#include <stddef.h>

enum { FAKE_PLACES = 16, FAKE_PROPERTIES = 300, FAKE_TOPIC_BYTES = 70000 };

/* What the broker keeps of a client, as far as plugins can ask. */
struct mosquitto {
    char id[64];
    unsigned id_hashv; /* 0 while it is not registered */
    bool registered;
    bool clean_start;
    int protocol_version;
    int sub_count;
};

/* The addresses clients can have. What is at one of them is gone as soon as something else is put there, as in the
 * broker, which says nothing about it. */
extern struct mosquitto fake_clients[FAKE_PLACES];

/* Forget everything: clients, messages, log, callbacks. */
void fake_reset(void);

/* Put a client there, not registered yet: one that is about to connect. MQTT 5, no subscriptions. */
struct mosquitto *fake_place(size_t place, const char *id);

/* Let mosquitto_client find it under its identifier, or no longer. */
void fake_register(struct mosquitto *client);
void fake_unregister(struct mosquitto *client);

/* The hash that a registered client with this identifier has; never 0. */
unsigned fake_hash(const char *id);

/* A message at one of the places for messages: all that are put at one place have the same three addresses. `pairs`
 * are name, value, name, value …, up to NULL: User Properties, and "$content_type" and "$response_topic". What was there
 * before is gone: with AddressSanitizer reading it fails. */
struct mosquitto_evt_acl_check fake_message(size_t place, const char *topic,
                                            const char *const *pairs);

/* Free what is at a place for messages. */
void fake_free_message(size_t place);

/* What was logged, line by line. */
const char *fake_log(void);

/* Run the callbacks that were registered for an event, in order, as the broker does: up to the first that neither
 * ignores nor defers, or for other events than ACL_CHECK up to the first that fails. */
int fake_call(int event, void *event_data);

/* What mosquitto_subscription_add and _delete do, if a test has something for them to do. */
extern int (*fake_subscription_add)(const struct mosquitto_subscription *subscription);
extern int (*fake_subscription_delete)(const char *id, const char *topic_filter);

/* Gets what is published, if a test has something for it to do. */
extern void (*fake_publish)(const char *topic, const void *payload, size_t bytes);

/* Let the next reading of a property fail for want of memory (where properties are copied), after `n` that do not.
 * Negative: none fails. */
extern int fake_reads_until_failure;

/* How many texts handed out by read_string and read_string_pair have not been given to mosquitto_free yet. */
extern long fake_copies_out;

#endif
