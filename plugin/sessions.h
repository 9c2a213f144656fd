/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sessions: what the broker's sessions have subscribed to, and under which filter. The broker's own tables are closed to
 * plugins, so this is a mirror: every session, with or without filters, because a copy can only be assigned to the right
 * subscription when all of the session's subscriptions are known (DESIGN decision D7).
 *
 * A *session* is known by its client identifier; `struct mosquitto *` is only where it is at the moment (fact F16).
 * A *subscription* is what the broker has: one per session and topic filter, or per session, share group and topic
 * filter. Its text "in the broker's form" is what the broker's tree holds: no expression, no escapes, and the share group
 * renamed when there is a filter (see subscription_string.h).
 *
 * One thread only: the broker's.
 */
#ifndef PLUGIN_SESSIONS_H
#define PLUGIN_SESSIONS_H

#include "guard.h"
#include "map.h"
#include "subfilter.h"
#include "topic_tree.h"

#include <stdbool.h>
#include <stdint.h>

#include <uthash.h>

struct mosquitto;

/* The members of one share group on one topic filter: each message goes to one of them. */
struct share_group {
    struct topic_node *node; /* in sessions.shared_tree */
    uint64_t served;         /* delivery.number of the last message one of the members was asked READ for */
    size_t n_members;
    size_t name_bytes; /* of the name as clients write it, without the fingerprint */
    UT_hash_handle hh;
    bool hashed;
    char text[]; /* "$share/<name in the broker's form>/<topic filter>", NUL-terminated: the key */
};

struct subscription {
    struct session *session;
    struct topic_node *node;   /* the topic filter, in sessions.tree or sessions.shared_tree */
    struct share_group *group; /* NULL: not shared */
    struct sf_filter *filter;  /* a reference; NULL: plain */
    struct subscription *next; /* in its session's turns */
    struct sf_guard guard;     /* of the filter */
    uint32_t filter_id;
    uint32_t identifier; /* the Subscription Identifier; 0: none */
    uint64_t passed;
    uint64_t dropped;
    uint32_t index;  /* in its list */
    uint8_t options; /* as in SUBSCRIBE: QoS, no local, retain as published, retain handling */
};

struct subscription_list {
    struct subscription **items;
    uint32_t count;
    uint32_t capacity;
};

/* A subscription that a session in the journal has removed: the broker may bring it back after a crash. */
struct removed_topic {
    UT_hash_handle hh;
    bool hashed;
    char text[]; /* in the broker's form, NUL-terminated: the key */
};

#define NO_FOLLOWER UINT64_MAX

/* In session.order: the turns are not known, or not to be gone by; there is nothing to decide (no filter, no share group). */
#define ORDER_NONE  UINT64_C(0)
#define ORDER_PLAIN UINT64_MAX

struct session {
    /* what the delivery path reads of most sessions, together */
    struct mosquitto *client;   /* where the session was last; NULL: not known */
    uint32_t client_hash;       /* mosquitto_client_id_hashv of the identifier */
    uint32_t n_filters;         /* subscriptions with a filter */
    uint64_t seen;              /* delivery.number of the last message it was asked READ for */
    uint64_t order;             /* of the list of topic filters that the turns are for; or one of those below */
    struct subscription *first; /* its turns: those, not shared, that match the message, in the broker's order … */
    struct subscription *turn;  /* … and which is next; NULL: they have had their turn */
    struct session *follower;   /* the session that was asked about after this one the last time … */
    uint64_t follower_removals; /* … while sessions.removals was this: later it may be gone; or NO_FOLLOWER */

    uint32_t n_no_local; /* subscriptions with the no-local option */
    bool due;            /* it is in plugin.due */
    bool ended;          /* the broker ended it; kept until the next TICK, since its will may still be sent */
    bool stored;         /* the journal has records of it */
    bool saved;          /* the broker may have saved it, and bring that back after a crash */
    bool over;           /* it has ended and is in plugin.over: it has no subscriptions, only removed ones */
    bool has_unknown; /* the broker counted other subscriptions than we know, and since then they were not compared */
    bool mismatched;  /* the broker counts other subscriptions than we know: to be logged from TICK */
    bool unexplained; /* it was asked READ for a topic that no known subscription matches: likewise */
    bool mismatch_logged;  /* it was */
    bool adrift;           /* the order cannot tell its turns in that message */
    uint32_t n_unassigned; /* READs for that message whose subscription could not be told */
    uint64_t unassigned;   /* delivery.number of the last message with such READs */
    struct subscription_list normal;
    struct subscription_list shared;
    uint64_t refusals; /* see refusals in subscribe.c */
    long refusals_at_s;
    struct removed_topic *removed; /* uthash; for the journal */
    struct session *prev;          /* in plugin.due or plugin.over */
    struct session *next;
    UT_hash_handle hh;
    bool hashed;
    char id[]; /* NUL-terminated */
};

struct sessions {
    struct session *by_id;         /* uthash */
    struct share_group *groups;    /* uthash */
    struct map by_client;          /* (client, NULL) -> session */
    struct map by_topic;           /* (session, node) -> subscription, those that are not shared */
    struct topic_tree tree;        /* of subscriptions that are not shared */
    struct topic_tree shared_tree; /* of shared subscriptions */
    uint64_t removals;             /* sessions removed so far */
    struct session *last_read;     /* the session of the last quick decision; or NULL */
    size_t n_sessions;
    size_t n_subscriptions;
    size_t n_filters;  /* subscriptions with a filter, of all sessions */
    size_t n_no_local; /* subscriptions with no-local, of sessions that have filters or not */
};

/* Free everything. */
void sessions_deinit(struct sessions *sessions);

/* The session of a client identifier (NUL-terminated), or NULL. */
struct session *sessions_find(const struct sessions *sessions, const char *id);

/* The session of a client identifier; made if there is none. NULL: out of memory, nothing has changed. */
struct session *sessions_get(struct sessions *sessions, const char *id) __attribute__((warn_unused_result));

/* Note that `session` is now at `client` (any earlier place of it, and any earlier session there, are forgotten).
 * Out of memory: the place is not noted, and the session is found by its identifier. */
void session_set_client(struct sessions *sessions, struct session *session, struct mosquitto *client,
                        uint32_t client_hash);

/* Forget that anything is at `client`. */
void sessions_forget_client(struct sessions *sessions, const struct mosquitto *client);

/* Remove a session with all of its subscriptions. */
void session_remove(struct sessions *sessions, struct session *session);

/* Subscriptions of a session. */
static inline uint32_t session_count(const struct session *session) {
    return session->normal.count + session->shared.count;
}

/* Whether the broker has as many, by its mosquitto_client_sub_count. */
static inline bool session_is_complete(const struct session *session, int broker_count) {
    return (uint32_t)broker_count == session_count(session);
}

/* The subscription whose text in the broker's form is `text` (NUL-terminated), or NULL. */
struct subscription *session_find(const struct sessions *sessions, const struct session *session, const char *text);

/* The subscription of a session in the share group `name` as clients write it, whatever its filter, or NULL. */
struct subscription *session_find_shared(const struct sessions *sessions, const struct session *session,
                                         const char *name, size_t name_bytes, const char *topic_filter);

/* The subscription of a session on one node of sessions.tree, or NULL. For the delivery path. */
static inline struct subscription *session_on_node(const struct sessions *sessions, const struct session *session,
                                                   const struct topic_node *node) {
    return map_get(&sessions->by_topic, session, node);
}

/* Add a subscription, or change the one that is there, as the broker is about to. `text` (borrowed, NUL-terminated) is
 * in the broker's form; `name_bytes` is the length of its share group as clients write it (0 when it is not shared).
 * `filter` is taken (NULL: plain) when the call succeeds. Counters start again when the filter is another one.
 * NULL: out of memory, nothing has changed. */
struct subscription *session_subscribe(struct sessions *sessions, struct session *session, const char *text,
                                       size_t name_bytes, struct sf_filter *filter, uint8_t options,
                                       uint32_t identifier) __attribute__((warn_unused_result));

/* Remember that a subscription was removed; beyond `most` of them the oldest is forgotten. false: out of memory. */
bool session_note_removed(struct session *session, const char *text, size_t most) __attribute__((warn_unused_result));

/* Remove all subscriptions of a session, but remember them as removed. false: out of memory, some are left. */
bool session_bury(struct sessions *sessions, struct session *session) __attribute__((warn_unused_result));

/* Forget that: it was made again. */
void session_forget_removed(struct session *session, const char *text);

/* Remove one subscription. */
void subscription_remove(struct sessions *sessions, struct subscription *subscription);

/* The text in the broker's form: its length, and the text itself with a NUL (room for length + 1). */
size_t subscription_text_bytes(const struct subscription *subscription);
void subscription_write_text(const struct subscription *subscription, char *out);

/* The topic filter as the client wrote it, without expression: like the above, but with the share group's own name. */
size_t subscription_topic_bytes(const struct subscription *subscription);
void subscription_write_topic(const struct subscription *subscription, char *out);

#endif
