/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A small model of the rules that the broker and the plugin have to follow together: which sessions there are, what
 * they are subscribed to, and which copies of which messages each client must get. It knows nothing of how either is
 * built; expressions are evaluated by the reference (reference.h).
 *
 * A client that is not fixed by the rules (which member of a share group gets a message) or that the rules allow to get
 * an extra copy (docs/architecture.md, "when the order cannot tell") makes a *token*: one copy with several possible
 * receivers, or none. What the clients then report settles the tokens.
 *
 * A model is a plain value: `struct model saved = model` is a snapshot, which is what a broker that saves has.
 */
#ifndef TEST_MODEL_H
#define TEST_MODEL_H

#include "reference.h"
#include "wire.h"

enum {
    MODEL_CLIENTS = 6,
    MODEL_SUBSCRIPTIONS = 32, /* of one session */
    MODEL_REMOVED = 256,      /* of one session */
    MODEL_COPIES = 1024,      /* waiting for one session */
    MODEL_HELD = 8,           /* QoS 2 messages of one session without PUBREL */
    MODEL_RETAINED = 16,
    MODEL_TOKENS = 1024,
    MODEL_TOPIC_BYTES = WIRE_TOPIC_BYTES,
    MODEL_MAX_USER = 2 * 6 + 1,
    MODEL_DENIED = 0x87,
    MODEL_NO_SUBSCRIPTION = 0x11,
    MODEL_ANY_CODE = -2,
};

/* An expression of the pool. */
struct model_filter {
    const char *text; /* what follows the '?' */
    unsigned meaning; /* equal for two spellings of one filter */
    bool valid;
    struct ref_filter *reference;
};

struct model_message {
    char topic[MODEL_TOPIC_BYTES];
    char payload[32]; /* begins with the number of the message, which is its index */
    int qos;
    bool retain;
    const char *user[MODEL_MAX_USER]; /* name, value, … NULL */
    const char *content_type;
    const char *response_topic;
    int publisher;
};

/* Where the broker keeps its sessions: nowhere, mosquitto.db, or persist-sqlite. */
enum model_persistence { MODEL_MEMORY, MODEL_DATABASE, MODEL_SQLITE };

/* What does not change during a run. */
struct model_rules {
    const struct model_filter *filters;
    struct model_message *messages; /* grows */
    size_t n_messages;
    bool plain; /* the broker alone, without the plugin */
    bool filter_retained;
    size_t max_filters; /* of one client */
    enum model_persistence persistence;
};

struct model_subscription {
    char topic[MODEL_TOPIC_BYTES]; /* the base topic filter, without $share/<group>/ */
    char group[8];                 /* "": not shared */
    int filter;                    /* in the pool; -1: plain */
    int qos;
    bool no_local;
    bool retain_as_published;
    uint32_t id;
    bool seen;  /* the plugin has seen it being made, or restored it */
    bool ghost; /* a crash brought it back; the plugin does not know it */
    bool gone;  /* the broker has removed it; the plugin does not know that yet */
};

struct model_copy {
    unsigned message;
    unsigned sequence; /* of its fan-out; 0: retained */
    uint32_t id;
    uint8_t qos;
    bool retain;
};

struct model_removed {
    char topic[MODEL_TOPIC_BYTES];
    char group[8];
    int filter;
};

struct model_session {
    bool exists;
    bool online;
    bool deaf;
    bool kept;        /* survives the end of the connection */
    bool clean_start; /* of the last CONNECT; mosquitto.db does not save such sessions */
    bool stored;      /* it is in the plugin's journal */
    bool saved;       /* the plugin thinks that the broker may have saved it */
    bool row;         /* persist-sqlite has it */
    int protocol;
    unsigned order; /* of the connections, which is the order of wills at the end */
    int will;       /* message; -1: none */
    bool delayed;   /* it waits for the end of the session, or of the broker */
    struct model_subscription subscriptions[MODEL_SUBSCRIPTIONS];
    size_t n_subscriptions;
    struct model_removed removed[MODEL_REMOVED]; /* since it is stored */
    size_t n_removed;
    struct model_copy copies[MODEL_COPIES]; /* that it must get */
    size_t n_copies;
    struct {
        unsigned message;
        uint16_t mid;
    } held[MODEL_HELD];
    size_t n_held;
};

struct model_place {
    int client;
    struct model_copy copy;
    bool taken;  /* the client has reported: it was not there, or it is in the receipts */
    bool hidden; /* it may have gone there without anybody seeing it */
};

/* One copy with several possible receivers. */
struct model_token {
    bool optional; /* or none */
    unsigned message;
    size_t n_places;
    struct model_place places[MODEL_CLIENTS];
};

struct model_receipt {
    int client;
    struct model_copy copy;
    bool any_id; /* the client was not told the Subscription Identifier */
};

struct model {
    struct model_rules *rules;
    struct model_session sessions[MODEL_CLIENTS];
    struct {
        bool used;
        unsigned message;
    } retained[MODEL_RETAINED];
    struct model_token tokens[MODEL_TOKENS];
    size_t n_tokens;
    struct model_receipt receipts[MODEL_TOKENS]; /* that only a token explains */
    size_t n_receipts;
    unsigned sequence;
    unsigned connections;
};

/* Where a model function says what is wrong. */
struct model_error {
    char text[1024];
};

void model_init(struct model *model, struct model_rules *rules);

struct model_connect {
    int protocol;
    bool clean;
    bool kept;
    int will; /* message; -1: none */
    bool
        delayed; /* its Will Delay Interval does not pass during a run; that of a later message is longer */
};

/* A connection begins. Returns whether a session is present. A connection that the client has is taken over. */
bool model_connect(struct model *model, int client, const struct model_connect *connect);

enum model_end { MODEL_DISCONNECTED, MODEL_WITH_WILL, MODEL_LOST };

/* A connection ends; *kept (NULL: as it was) is what DISCONNECT says of the session. */
void model_disconnect(struct model *model, int client, enum model_end end, const bool *kept);

/* Whether the plugin takes the broker's second look at a subscription, when its client is kicked, for a SUBSCRIBE, and
 * refuses it: a literal '?' that it does not know of, of an MQTT 5 client. */
bool model_is_undone_by_kick(const struct model *model, const struct model_session *session,
                             const struct model_subscription *subscription);

/* A plugin disconnects a client, which may be offline; of a session that is kept the subscription to the topic filter
 * `denied` (NULL: none) is removed. */
void model_kick(struct model *model, int client, bool with_will, const char *denied);

/* The session of a client that is offline expires. */
void model_expire(struct model *model, int client);

/* The client subscribes; `retain_handling` as in MQTT. Returns the code that must come. */
int model_subscribe(struct model *model, int client, const struct model_subscription *subscription,
                    int retain_handling);

/* MODEL_ANY_CODE when it is not fixed. */
int model_unsubscribe(struct model *model, int client, const char *group, const char *topic);

/* The subscription of a client, or NULL. */
struct model_subscription *model_find(struct model *model, int client, const char *group,
                                      const char *topic);

/* The broker passes a message on, just after it came (`known`: the plugin can tell who published it), or later. */
void model_publish(struct model *model, unsigned message, bool known);

/* A plugin publishes a message to one client alone. */
void model_publish_to(struct model *model, unsigned message, int client);

/* The broker ends by SIGTERM and starts again. */
void model_restart(struct model *model);

/* The broker ends by SIGKILL and starts again; `saved` is the model when mosquitto.db was written last. */
void model_crash(struct model *model, const struct model *saved);

/* A client that is online reports what it has received since it did so last (`n` messages), its connection being
 * settled. False: not what it must get. */
bool model_report(struct model *model, int client, const struct wire_message *received, size_t n,
                  struct model_error *error);

/* After the reports of all clients: whether the receipts fit the tokens. */
bool model_settle(struct model *model, struct model_error *error);

/* Whether a topic filter matches a topic, by the text of MQTT 5 section 4.7. */
bool model_matches(const char *filter, const char *topic);

#endif
