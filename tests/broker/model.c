/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The model: sessions, subscriptions, and what the end of a broker does to them (see model.h). Rules that are the
 * broker's own, and not the plugin's, are marked "broker:"; the cases test_model_of_broker_… run without the plugin.
 */
#include "model_internal.h"

#include <stdio.h>
#include <string.h>

void model_init(struct model *model, struct model_rules *rules) {
    memset(model, 0, sizeof *model);
    model->rules = rules;
    for (int i = 0; i < MODEL_CLIENTS; i++) {
        model->sessions[i].will = -1;
    }
}

/* ---- sessions -------------------------------------------------------------------------------------------------- */

struct model_subscription *model_find(struct model *model, int client, const char *group,
                                      const char *topic) {
    struct model_session *session = &model->sessions[client];
    for (size_t i = 0; i < session->n_subscriptions; i++) {
        struct model_subscription *subscription = &session->subscriptions[i];
        if (strcmp(subscription->group, group) == 0 && strcmp(subscription->topic, topic) == 0) {
            return subscription;
        }
    }
    return NULL;
}

bool model_has_filters(const struct model_session *session) {
    for (size_t i = 0; i < session->n_subscriptions; i++) {
        if (session->subscriptions[i].filter >= 0) {
            return true;
        }
    }
    return false;
}

/* Whether the broker counts other subscriptions than the plugin knows of. */
bool model_is_mismatched(const struct model_session *session) {
    for (size_t i = 0; i < session->n_subscriptions; i++) {
        if (!session->subscriptions[i].seen || session->subscriptions[i].gone) {
            return true;
        }
    }
    return false;
}

static struct model_subscription *new_subscription(struct model_session *session) {
    REQUIRE(session->n_subscriptions < MODEL_SUBSCRIPTIONS,
            "more subscriptions than the model can hold");
    return &session->subscriptions[session->n_subscriptions++];
}

static void drop_subscription(struct model_session *session,
                              struct model_subscription *subscription) {
    *subscription = session->subscriptions[--session->n_subscriptions];
}

static bool is_removed(const struct model *model, const struct model_session *session,
                       const struct model_subscription *subscription) {
    for (size_t i = 0; i < session->n_removed; i++) {
        const struct model_removed *removed = &session->removed[i];
        struct model_subscription other = {.filter = removed->filter};
        if (strcmp(removed->topic, subscription->topic) == 0 &&
            strcmp(removed->group, subscription->group) == 0 &&
            (removed->group[0] == '\0' ||
             model_meaning(model, &other) == model_meaning(model, subscription))) {
            return true;
        }
    }
    return false;
}

static void forget_removed(const struct model *model, struct model_session *session,
                           const struct model_subscription *subscription) {
    for (size_t i = session->n_removed; i-- > 0;) {
        struct model_session one = {.n_removed = 1, .removed = {session->removed[i]}};
        if (is_removed(model, &one, subscription)) {
            session->removed[i] = session->removed[--session->n_removed];
        }
    }
}

/* The plugin remembers what a session in its journal has removed. */
static void note_removed(const struct model *model, struct model_session *session,
                         const struct model_subscription *subscription) {
    if (session->stored && subscription->seen) {
        forget_removed(model, session, subscription);
        REQUIRE(session->n_removed < MODEL_REMOVED, "more was removed than the model can remember");
        struct model_removed *removed = &session->removed[session->n_removed++];
        snprintf(removed->topic, sizeof removed->topic, "%s", subscription->topic);
        snprintf(removed->group, sizeof removed->group, "%s", subscription->group);
        removed->filter = subscription->filter;
    }
}

/* What was on its way to a client cannot be seen any more. */
static void hide_places(struct model *model, int client) {
    for (size_t i = 0; i < model->n_tokens; i++) {
        for (size_t k = 0; k < model->tokens[i].n_places; k++) {
            struct model_place *place = &model->tokens[i].places[k];
            if (place->client == client && !place->taken) {
                place->hidden = true;
            }
        }
    }
}

/* A session is over, and nobody remembers it. */
static void forget_session(struct model *model, int client) {
    hide_places(model, client);
    memset(&model->sessions[client], 0, sizeof model->sessions[client]);
    model->sessions[client].will = -1;
}

static void remove_subscriptions(struct model *model, struct model_session *session) {
    for (size_t i = 0; i < session->n_subscriptions; i++) {
        note_removed(model, session, &session->subscriptions[i]);
    }
    session->n_subscriptions = 0;
}

/* A session is over. If the broker may have saved it, the plugin remembers what it has had. */
static void end_session(struct model *model, int client) {
    struct model_session *session = &model->sessions[client];
    remove_subscriptions(model, session);
    static struct model_session over;
    over = *session;
    forget_session(model, client);
    if (over.stored && over.saved) {
        session->stored = true;
        session->saved = true;
        memcpy(session->removed, over.removed, sizeof session->removed);
        session->n_removed = over.n_removed;
    }
}

/* ---- connections ----------------------------------------------------------------------------------------------- */

/* Does nothing when there is none. `dying` as in struct fan_out. */
static void send_will(struct model *model, int client, int dying) {
    int will = model->sessions[client].will;
    model->sessions[client].will = -1;
    if (will >= 0) {
        model_pass_on(model, (unsigned)will, false, dying);
    }
}

/* broker: a takeover sends the will when the session ends with it and it is not delayed; after the subscriptions of a
 * clean start are removed, and before those of a session that is not kept. */
static void take_over(struct model *model, int client, const struct model_connect *connect,
                      bool present) {
    struct model_session *session = &model->sessions[client];
    if (connect->clean) {
        remove_subscriptions(model, session);
    }
    if (present || session->delayed) {
        session->will = -1;
    }
    send_will(model, client, client);
}

bool model_connect(struct model *model, int client, const struct model_connect *connect) {
    struct model_session *session = &model->sessions[client];
    bool present = session->exists && session->kept && !connect->clean;
    if (session->online) {
        take_over(model, client, connect, present);
    }
    session->saved = session->saved || !connect->clean;
    if (!present) {
        end_session(model, client);
    }
    session->exists = true;
    session->online = true;
    session->deaf = false;
    session->kept = connect->kept;
    session->row = session->row || connect->kept;
    session->saved = session->saved || !connect->clean;
    session->clean_start = connect->clean;
    session->protocol = connect->protocol;
    session->will = connect->will;
    session->delayed = connect->delayed;
    session->order = ++model->connections;
    return present;
}

void model_disconnect(struct model *model, int client, enum model_end end, const bool *kept) {
    struct model_session *session = &model->sessions[client];
    if (kept != NULL) {
        session->kept = *kept;
    }
    if (end == MODEL_DISCONNECTED) {
        session->will = -1;
    }
    if (!session->delayed) {
        send_will(model, client, end == MODEL_WITH_WILL ? -1 : client);
    }
    session->online = false;
    session->deaf = false;
    session->saved = session->saved || session->kept;
    if (!session->kept) {
        end_session(model, client);
    }
}

bool model_is_undone_by_kick(const struct model *model, const struct model_session *session,
                             const struct model_subscription *subscription) {
    return !model->rules->plain && session->protocol == 5 && !subscription->seen &&
           strchr(subscription->topic, '?') != NULL;
}

void model_kick(struct model *model, int client, bool with_will, const char *denied) {
    struct model_session *session = &model->sessions[client];
    struct model_subscription *subscription =
        denied == NULL || !session->kept ? NULL : model_find(model, client, "", denied);
    if (subscription != NULL) {
        subscription->gone = true; /* broker: without an event, before the will is sent */
    }
    for (size_t i = session->n_subscriptions; i-- > 0;) {
        if (session->kept && model_is_undone_by_kick(model, session, &session->subscriptions[i])) {
            drop_subscription(session, &session->subscriptions[i]);
        }
    }
    if (session->online) {
        model_disconnect(model, client, with_will ? MODEL_LOST : MODEL_DISCONNECTED, NULL);
    }
    if (subscription != NULL) {
        subscription = model_find(model, client, "", denied);
        note_removed(model, session, subscription);
        drop_subscription(session, subscription);
    }
}

void model_expire(struct model *model, int client) {
    send_will(model, client, client);
    end_session(model, client);
}

/* ---- subscriptions --------------------------------------------------------------------------------------------- */

/* broker: retained messages on subscribe: MQTT 3 always, MQTT 5 as retain handling says, shared never. */
static void send_retained(struct model *model, int client,
                          const struct model_subscription *subscription, bool existed,
                          int retain_handling) {
    struct model_session *session = &model->sessions[client];
    bool wanted =
        session->protocol != 5 || retain_handling == 0 || (retain_handling == 1 && !existed);
    for (size_t i = 0; i < MODEL_RETAINED && wanted && subscription->group[0] == '\0'; i++) {
        unsigned number = model->retained[i].message;
        const struct model_message *message = &model->rules->messages[number];
        if (!model->retained[i].used || !model_matches(subscription->topic, message->topic) ||
            (model->rules->filter_retained && !model_holds(model, subscription, message))) {
            continue;
        }
        int qos = message->qos < subscription->qos ? message->qos : subscription->qos;
        struct model_copy copy = {
            .message = number,
            .id = subscription->id,
            .qos = (uint8_t)qos,
            .retain = true,
        };
        model_add_copy(session, &copy);
    }
}

/* Whether the plugin accepts a filter for this subscription. */
static bool may_filter(struct model *model, int client,
                       const struct model_subscription *subscription) {
    const struct model_session *session = &model->sessions[client];
    const struct model_subscription *old =
        model_find(model, client, subscription->group, subscription->topic);
    size_t n = 0;
    for (size_t i = 0; i < session->n_subscriptions; i++) {
        n += session->subscriptions[i].filter >= 0;
    }
    return model->rules->filters[subscription->filter].valid && !model_is_mismatched(session) &&
           (n < model->rules->max_filters || (old != NULL && old->filter >= 0));
}

int model_subscribe(struct model *model, int client, const struct model_subscription *subscription,
                    int retain_handling) {
    struct model_session *session = &model->sessions[client];
    bool filtered = subscription->filter >= 0;
    if (filtered && !may_filter(model, client, subscription)) {
        return MODEL_DENIED;
    }
    struct model_subscription *old =
        model_find(model, client, subscription->group, subscription->topic);
    bool existed = old != NULL;
    if (old != NULL && old->group[0] != '\0' &&
        model_meaning(model, old) != model_meaning(model, subscription)) {
        note_removed(model, session, old); /* it leaves the group it was in */
        drop_subscription(session, old);
        old = NULL;
    }
    if (old == NULL) {
        old = new_subscription(session);
    }
    *old = *subscription;
    old->seen = true;
    old->ghost = false;
    session->stored = session->stored || (filtered && model->rules->persistence != MODEL_MEMORY);
    forget_removed(model, session, old);
    send_retained(model, client, old, existed, retain_handling);
    return subscription->qos;
}

int model_unsubscribe(struct model *model, int client, const char *group, const char *topic) {
    struct model_session *session = &model->sessions[client];
    struct model_subscription *subscription = model_find(model, client, group, topic);
    if (subscription == NULL) {
        /* broker: it does not look where nobody has ever subscribed below a first level with $ */
        return topic[0] == '$' ? MODEL_ANY_CODE : MODEL_NO_SUBSCRIPTION;
    }
    note_removed(model, session, subscription);
    drop_subscription(session, subscription);
    return 0;
}

/* ---- the end of a broker --------------------------------------------------------------------------------------- */

/* Whether the broker brings a session back. broker: mosquitto.db has no sessions whose last CONNECT had Clean Start;
 * persist-sqlite keeps one that was to end with its last connection, and then does not know that any more. */
static bool survives(const struct model *model, const struct model_session *session) {
    switch (model->rules->persistence) {
    case MODEL_DATABASE:
        return session->exists && session->kept && !session->clean_start;
    case MODEL_SQLITE:
        return session->exists && session->row;
    default:
        return false;
    }
}

static void forget_connection(struct model_session *session) {
    session->online = false;
    session->deaf = false;
    session->clean_start = false;
    session->protocol = 0;
    session->kept = true;
    session->will = -1;
}

/* The subscriptions of a session that only the broker has brought back. broker: mosquitto.db has no shared ones. */
static void restore_unstored(const struct model *model, struct model_session *session) {
    for (size_t i = session->n_subscriptions; i-- > 0;) {
        struct model_subscription *subscription = &session->subscriptions[i];
        subscription->filter = -1;
        subscription->seen = false;
        subscription->ghost = false;
        if (model->rules->persistence == MODEL_DATABASE && subscription->group[0] != '\0') {
            drop_subscription(session, subscription);
        }
    }
}

/* broker: persist-sqlite has no messages of QoS 0, not even those that wait for the next connection. */
static void drop_qos_0(struct model *model, int client) {
    struct model_session *session = &model->sessions[client];
    size_t left = 0;
    for (size_t i = 0; i < session->n_copies; i++) {
        if (session->copies[i].qos > 0) {
            session->copies[left++] = session->copies[i];
        }
    }
    session->n_copies = left;
    for (size_t i = 0; i < model->n_tokens; i++) {
        for (size_t k = 0; k < model->tokens[i].n_places; k++) {
            struct model_place *place = &model->tokens[i].places[k];
            if (place->client == client && !place->taken && place->copy.qos == 0) {
                place->hidden = true;
            }
        }
    }
}

/* broker: persist-sqlite loses all properties of a message that has one with an empty value. */
static void lose_properties(struct model_message *message) {
    for (const char *const *at = message->user; *at != NULL; at++) {
        if (**at == '\0') {
            message->user[0] = NULL;
            message->content_type = NULL;
            message->response_topic = NULL;
            return;
        }
    }
}

/* What persist-sqlite does not bring back. */
static void restore_from_sqlite(struct model *model) {
    for (int i = 0; i < MODEL_CLIENTS; i++) {
        drop_qos_0(model, i);
        for (size_t k = 0; k < model->sessions[i].n_held; k++) {
            lose_properties(&model->rules->messages[model->sessions[i].held[k].message]);
        }
    }
    for (size_t i = 0; i < MODEL_RETAINED; i++) {
        struct model_message *message = &model->rules->messages[model->retained[i].message];
        if (message->topic[0] == '$') { /* broker: those are not stored */
            model->retained[i].used = false;
        }
        if (model->retained[i].used) {
            lose_properties(message);
        }
    }
}

/* Whether the will of one session is sent before that of another. broker: when it ends it sends those of connected clients
 * in the order of the connections, and then those that are delayed, the shortest delay first. */
static bool is_sent_before(const struct model_session *left, const struct model_session *right) {
    if (left->delayed || right->delayed) {
        return left->delayed < right->delayed ||
               (left->delayed == right->delayed && left->will < right->will);
    }
    return left->order < right->order;
}

static int next_with_will(const struct model *model) {
    int first = -1;
    for (int i = 0; i < MODEL_CLIENTS; i++) {
        if (model->sessions[i].will >= 0 &&
            (first < 0 || is_sent_before(&model->sessions[i], &model->sessions[first]))) {
            first = i;
        }
    }
    return first;
}

void model_restart(struct model *model) {
    for (int client; (client = next_with_will(model)) >= 0;) {
        send_will(model, client, MODEL_CLIENTS);
    }
    for (int i = 0; i < MODEL_CLIENTS; i++) {
        struct model_session *session = &model->sessions[i];
        if (!survives(model, session)) {
            forget_session(model, i);
            continue;
        }
        forget_connection(session);
        session->saved = session->stored;
        if (!session->stored) {
            restore_unstored(model, session);
        }
    }
    if (model->rules->persistence == MODEL_SQLITE) {
        restore_from_sqlite(model);
    }
    if (model->rules->persistence == MODEL_MEMORY) {
        memset(model->retained, 0, sizeof model->retained);
    }
}

/* A crash brought `session` back as it was saved, while the journal says what `now` was: the journal wins, and what it
 * says nothing about is a ghost. */
static void merge_journal(struct model *model, struct model_session *session,
                          const struct model_session *now) {
    for (size_t i = session->n_subscriptions; i-- > 0;) {
        struct model_subscription *subscription = &session->subscriptions[i];
        if (is_removed(model, now, subscription) || subscription->group[0] != '\0') {
            drop_subscription(session, subscription);
        } else {
            subscription->filter = -1;
            subscription->ghost = true;
            subscription->seen = false;
        }
    }
    for (size_t i = 0; i < now->n_subscriptions; i++) {
        if (!now->subscriptions[i].ghost) {
            int client = (int)(session - model->sessions);
            struct model_subscription *there =
                model_find(model, client, now->subscriptions[i].group, now->subscriptions[i].topic);
            if (there == NULL) {
                there = new_subscription(session);
            }
            *there = now->subscriptions[i];
        }
    }
    session->stored = true;
    session->saved = true;
    memcpy(session->removed, now->removed, sizeof session->removed);
    session->n_removed = now->n_removed;
}

void model_crash(struct model *model, const struct model *saved) {
    static struct model now; /* large */
    now = *model;
    unsigned sequence = model->sequence;
    unsigned connections = model->connections;
    *model = *saved;
    model->sequence = sequence;
    model->connections = connections;
    model->n_receipts = 0;
    for (int i = 0; i < MODEL_CLIENTS; i++) {
        struct model_session *session = &model->sessions[i];
        if (!survives(model, session)) {
            forget_session(model, i);
            continue;
        }
        forget_connection(session);
        if (now.sessions[i].stored) {
            merge_journal(model, session, &now.sessions[i]);
        } else {
            session->stored = false;
            session->saved = false;
            session->n_removed = 0;
            restore_unstored(model, session);
        }
    }
    for (size_t i = 0; i < model->n_tokens; i++) {
        model->tokens[i].optional = true; /* others may have had it before the crash */
    }
}
