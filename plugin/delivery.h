/* SPDX-License-Identifier: BSD-3-Clause
 *
 * delivery: whether a copy of a message goes to a client. The broker asks READ once for each matching subscription,
 * without naming it (DESIGN fact F9); the k-th question about one message and one client is about the k-th of the
 * client's matching subscriptions in the broker's order (decision D7).
 *
 * What is remembered from question to question is the *current message*: its properties, bound once; the answer of each
 * filter, computed once; how far each session has got. docs/architecture.md has the argument why a message is never
 * taken for the one before it although the broker uses addresses again.
 */
#ifndef PLUGIN_DELIVERY_H
#define PLUGIN_DELIVERY_H

#include "message.h"
#include "sessions.h"

#include <stdbool.h>
#include <stdint.h>

struct mosquitto_evt_acl_check;
struct mosquitto_evt_message;

/* What the READs since the start (or the last reset) came to. Plain subscriptions and queue re-checks do not count. */
struct delivery_counts {
    uint64_t passed;
    uint64_t dropped;
    uint64_t unknown;     /* of the dropped: an absent value, or one that did not convert, decided */
    uint64_t ambiguous;   /* copies that were decided by "any of several filters holds" */
    uint64_t unexplained; /* of the dropped: no known subscription of the client matches the topic */
    uint64_t undecided;   /* of the dropped: out of memory */
};

/* The topic filters that match the current message, in the broker's order. */
struct topic_matches {
    uint64_t order; /* another number for another list; the nodes are marked with it */
    struct topic_node **nodes;
    size_t count;
    size_t capacity;
    uint64_t number; /* delivery.number of the message that they match */
    bool failed;     /* out of memory: the list is not complete */
};

struct delivery {
    struct sessions *sessions;
    bool filter_retained; /* option `retained filter` */
    bool mismatch;        /* some session's subscriptions are not the broker's: to be logged from TICK */
    struct delivery_counts counts;

    /* the current message */
    const char *topic; /* the broker's addresses: compared, never read; NULL: the next READ starts a new message */
    const void *payload;
    const void *properties;
    uint32_t payload_bytes;
    uint8_t qos;
    bool retain;
    bool bound;
    bool is_whole;   /* all whom it concerns are asked about it, or an event comes */
    bool is_resumed; /* it may be the one that was interrupted: some may have been asked about it before */
    uint64_t number; /* one more for each message */
    struct topic_matches matches;
    const struct sf_value *values; /* for guards; NULL: they tell nothing */
    uint64_t continues;            /* number of the message before, if this one was told from it by counting; or 0 */
    bool untracked;                /* it may have been the turn of a share group, we do not know of which */
    bool stray;                    /* likewise; whether of this message or the next one the next READ will tell */
    const struct mosquitto *publisher; /* NULL: not known */
    char *topic_text;                  /* a copy */
    struct message message;
    struct topic_matches shared_matches; /* searched when a session with shared subscriptions is asked */
    uint64_t orders;                     /* given to lists so far */
    uint64_t *answers;                   /* by filter id: number << 2 | enum sf_truth */
    size_t n_answers;

    const char *interrupted; /* topic of a message that may not have come to its end, by its address; or NULL */

    /* the message that MESSAGE_IN announced and the next fan-out may be about */
    struct {
        const struct mosquitto *client; /* NULL: none */
        const char *topic;
        const void *payload;
        const void *properties;
        uint32_t payload_bytes;
        uint8_t qos;
        bool retain;
        bool is_whole;    /* when the broker does not come to its end, the publisher is disconnected */
        char *topic_text; /* a copy */
    } announced;

    /* the client that is being sent the retained messages of its new subscription */
    const struct mosquitto *replay_client; /* NULL: none */
    struct subscription *replay;
    char *replay_topic;

    struct message scratch; /* for READs that must not disturb the current message */
};

/* Start; `sessions` and `schema` must outlive it. false: out of memory, nothing to free. */
bool delivery_init(struct delivery *delivery, struct sessions *sessions, struct sf_schema *schema)
    __attribute__((warn_unused_result));

/* Free everything; nothing happens to a zeroed one. */
void delivery_deinit(struct delivery *delivery);

/* Make room for the answers of `filter`, before a subscription uses it. false: out of memory. */
bool delivery_reserve(struct delivery *delivery, const struct sf_filter *filter) __attribute__((warn_unused_result));

/* Something happened that is not a READ: the next READ starts a new message, and a replay of retained messages is over.
 * To be called for every event, before anything is changed. */
void delivery_event(struct delivery *delivery);

/* The same, for an event that may come in the middle of a message's delivery: another plugin kicks a client. */
void delivery_interrupt(struct delivery *delivery);

/* MESSAGE_IN, after delivery_event and all other plugins: the message is about to be delivered. */
void delivery_announce(struct delivery *delivery, const struct mosquitto_evt_message *message);

/* `subscription` is about to be inserted: its retained messages come next (decision D6). */
void delivery_expect_retained(struct delivery *delivery, struct subscription *subscription);

/* The answer to ACL_CHECK(READ): MOSQ_ERR_PLUGIN_IGNORE, the copy is delivered if others let it pass; or
 * MOSQ_ERR_ACL_DENIED. Neither logs nor (after warm-up) allocates. */
int delivery_read(struct delivery *delivery, const struct mosquitto_evt_acl_check *check);

#endif
