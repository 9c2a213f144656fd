/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A small model of the broker around delivery.c: sessions at addresses, subscriptions in the broker's order, share groups
 * that rotate, messages at addresses that are used again. It tells the plugin what the real one tells it (and no more),
 * asks READ as the real one does, and compares each answer with the filter of the subscription the question is about.
 *
 * The rule that is checked (docs/architecture.md): a copy whose filter holds is always delivered. One whose filter does not
 * hold is not; except where the order cannot tell which subscription the broker asks about, and another subscription of
 * the session that may be meant would take the message: then it is an *extra* copy, and is counted here. */
#ifndef TESTS_PLUGIN_DELIVERY_WORLD_H
#define TESTS_PLUGIN_DELIVERY_WORLD_H

#include "delivery.h"
#include "fake_broker.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    WORLD_SESSIONS = 8,
    WORLD_PLACES = 12, /* addresses for clients */
    WORLD_SUBSCRIPTIONS = 64,
    WORLD_HISTORY = 16,
    NOBODY = -1,
};

/* What a filter says, and what it means. */
enum rule { PLAIN, K_IS_1, K_IS_2, K_ABOVE_1, NO_K, QOS_IS_1, N_RULES };

/* Where a message comes from: this decides which events the plugin sees before the first READ. */
enum origin {
    FROM_PUBLISH, /* QoS 0 or 1: WRITE and MESSAGE_IN, then at once the fan-out */
    FROM_PUBREL,  /* QoS 2: no event */
    FROM_WILL,    /* WRITE */
    FROM_PLUGIN,  /* no event, and nobody published it */
};

/* The truth about one subscription in the broker. */
struct world_subscription {
    int owner;      /* session */
    char topic[48]; /* topic filter, without $share/<group>/ */
    char group[8];  /* "": not shared */
    enum rule rule;
    bool no_local;
    bool known; /* false: made behind the plugin's back */
};

struct world_message {
    enum origin origin;
    int publisher; /* session, or NOBODY */
    size_t place;  /* its addresses: all messages at one place have the same three */
    const char *topic;
    const char *k; /* the value of the User Property k; NULL: it has none */
    uint8_t qos;
    bool retain;
    int kick_after;          /* READs after which another plugin kicks a client; 0: none does */
    bool with_will;          /* … whose will is published then */
    int cut_after;           /* READs after which the broker gives up; negative: it does not */
    const uint64_t *nesting; /* $SYS messages between the READs, by the bits; NULL: none */
};

extern struct world {
    struct sf_schema *schema;
    struct sessions sessions;
    struct delivery delivery;
    struct world_subscription
        subscriptions[WORLD_SUBSCRIPTIONS]; /* in the order in which they were made */
    size_t n_subscriptions;
    struct mosquitto *client[WORLD_SESSIONS]; /* NULL: the broker has no such session */
    struct {
        struct world_message last;
        unsigned
            n; /* messages that differ in nothing the plugin can compare, without an event between; 0: none */
        const struct world_message
            *linked; /* the message of this publishing, once the plugin has noticed it */
        bool doubt;  /* some READ of them could not be assigned to a subscription */
        bool stray;  /* … or of the next one */
        bool cut;    /* a message was cut short, and no event since */
    } chain;
    bool replaying; /* a SUBSCRIBE, and no event since */
    size_t
        interrupted; /* the place of a message that a kick may have interrupted, and 1; 0: none since MESSAGE_IN */
    size_t n_reads;
    size_t n_extra;
    size_t n_passed;
    char history[WORLD_HISTORY]
                [1024]; /* what happened last, the newest at n_history - 1 modulo WORLD_HISTORY */
    size_t n_history;
} world;

/* Called before and after each READ of world_publish; NULL: nothing is. */
extern void (*world_around_read)(bool before);

/* A new, empty world for the running case. */
void world_start(bool filter_retained);

/* The rule's expression; NULL for PLAIN. Whether it holds. */
const char *rule_expression(enum rule rule);
bool rule_holds(enum rule rule, const struct world_message *message);

/* ---- what happens to sessions; `told`: whether the plugin gets the event it would get ---- */

/* A client connects with Clean Start, at this place for clients (where nobody lives). */
void world_connect(int session, size_t place, bool told);

/* A kept session goes on at another place; the old address is free at once. `told` is about CONNECT. */
void world_move(int session, size_t place, bool told);

/* The broker ends the session: its subscriptions stay in the tree, under a client that is not registered any more, until
 * world_free. `told`: DISCONNECT; otherwise it expires. */
void world_end(int session, bool told);
void world_free(int session);

/* The plugin finds out that the session is gone (TICK, sweep). */
void world_sweep(int session);

/* ---- subscriptions ---- */

/* Make or replace; `group` "" is not shared. */
void world_subscribe(int session, const char *topic, const char *group, enum rule rule,
                     bool no_local);
void world_unsubscribe(int session, const char *topic, const char *group);

/* Another plugin makes or removes one, which ours is not told. */
void world_add_unknown(int session, const char *topic, const char *group);
void world_remove_unknown(int session);

/* The subscription made last gets its retained messages: READ for each of these topics (up to NULL) that it matches, with
 * this value of k. Each is checked. */
void world_replay(int session, const char *topic, const char *const *topics, const char *k);

/* ---- messages ---- */

/* Print what happened last, as notes. */
void world_tell(void);

/* READ: whether the plugin lets the copy pass. */
static inline bool world_delivers(const struct mosquitto_evt_acl_check *check) {
    return delivery_read(&world.delivery, check) == MOSQ_ERR_PLUGIN_IGNORE;
}

/* Any event that is not READ. */
void world_event(void);

/* Publish and check each READ. Returns whether all was right; what was not has been said with CHECK. */
bool world_publish(const struct world_message *message);

/* Whether this message would be one of the few that docs/architecture.md says are mistaken for the one before it, were it
 * published now, without an event: at the same addresses, with the same topic, QoS and retain flag, and
 *   - the one before was cut short; or
 *   - it was released by its publisher, or interrupted by a kick so that the plugin forgot its publisher, who has a no-local
 *     subscription that matches, so that one question less was asked than the plugin thinks possible; or
 *   - some questions could not be assigned, and a client has both a subscription of its own and a share group there;
 * or when it is a retained one after a SUBSCRIBE. */
bool world_cannot_tell(const struct world_message *message);

/* A READ for a client that is not registered: the broker re-checks its queue. Checked: it passes, nothing is counted. */
void world_recheck(int session, size_t place, const struct world_message *message);

#endif
