/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sessions: see the header. Adding allocates everything first and links it afterwards, so that a failure leaves nothing
 * half done.
 */
#define HASH_NONFATAL_OOM            1
#define uthash_nonfatal_oom(element) (element)->hashed = false

#include "sessions.h"

#include "subscription_string.h"

#include <stdlib.h>
#include <string.h>

enum { NO_LOCAL = 0x04 };

/* ---- sessions ---- */

struct session *sessions_find(const struct sessions *sessions, const char *id) {
    struct session *session = NULL;
    HASH_FIND_STR(sessions->by_id, id, session);
    return session;
}

struct session *sessions_get(struct sessions *sessions, const char *id) {
    struct session *session = sessions_find(sessions, id);
    if (session != NULL) {
        return session;
    }
    size_t bytes = strlen(id);
    session = calloc(1, sizeof *session + bytes + 1);
    if (session == NULL) {
        return NULL;
    }
    memcpy(session->id, id, bytes);
    session->follower_removals = NO_FOLLOWER;
    session->hashed = true;
    HASH_ADD_KEYPTR(hh, sessions->by_id, session->id, bytes, session);
    if (!session->hashed) {
        free(session);
        return NULL;
    }
    sessions->n_sessions++;
    return session;
}

void sessions_forget_client(struct sessions *sessions, const struct mosquitto *client) {
    struct session *session = map_get(&sessions->by_client, client, NULL);
    if (session != NULL) {
        session->client = NULL;
        map_remove(&sessions->by_client, client, NULL);
    }
}

void session_set_client(struct sessions *sessions, struct session *session, struct mosquitto *client,
                        uint32_t client_hash) {
    if (session->client == client && session->client_hash == client_hash) {
        return;
    }
    if (session->client != NULL) {
        map_remove(&sessions->by_client, session->client, NULL);
        session->client = NULL;
    }
    sessions_forget_client(sessions, client);
    if (map_put(&sessions->by_client, client, NULL, session)) {
        session->client = client;
        session->client_hash = client_hash;
    }
}

static void free_removed(struct session *session, struct removed_topic *removed) {
    HASH_DELETE(hh, session->removed, removed);
    free(removed);
}

void session_forget_removed(struct session *session, const char *text) {
    struct removed_topic *removed = NULL;
    HASH_FIND_STR(session->removed, text, removed);
    if (removed != NULL) {
        free_removed(session, removed);
    }
}

bool session_note_removed(struct session *session, const char *text, size_t most) {
    session_forget_removed(session, text);
    size_t bytes = strlen(text);
    struct removed_topic *removed = calloc(1, sizeof *removed + bytes + 1);
    if (removed == NULL) {
        return false;
    }
    memcpy(removed->text, text, bytes);
    removed->hashed = true;
    HASH_ADD_KEYPTR(hh, session->removed, removed->text, bytes, removed);
    if (!removed->hashed) {
        free(removed);
        return false;
    }
    if (HASH_COUNT(session->removed) > most) {
        free_removed(session, session->removed); /* uthash keeps the order of insertion */
    }
    return true;
}

void session_remove(struct sessions *sessions, struct session *session) {
    while (session->removed != NULL) {
        free_removed(session, session->removed);
    }
    while (session->normal.count > 0) {
        subscription_remove(sessions, session->normal.items[session->normal.count - 1]);
    }
    while (session->shared.count > 0) {
        subscription_remove(sessions, session->shared.items[session->shared.count - 1]);
    }
    if (session->client != NULL) {
        map_remove(&sessions->by_client, session->client, NULL);
    }
    HASH_DELETE(hh, sessions->by_id, session);
    sessions->n_sessions--;
    sessions->removals++;
    sessions->last_read = NULL;
    free(session->normal.items);
    free(session->shared.items);
    free(session);
}

void sessions_deinit(struct sessions *sessions) {
    struct session *session, *next;
    HASH_ITER(hh, sessions->by_id, session, next) {
        session_remove(sessions, session);
    }
    map_deinit(&sessions->by_client);
    map_deinit(&sessions->by_topic);
    topic_tree_deinit(&sessions->tree);
    topic_tree_deinit(&sessions->shared_tree);
    *sessions = (struct sessions){0};
}

/* ---- finding subscriptions ---- */

struct subscription *session_find(const struct sessions *sessions, const struct session *session, const char *text) {
    size_t topic_offset = share_topic_offset(text);
    if (topic_offset == 0) {
        const struct topic_node *node = topic_tree_find(&sessions->tree, text);
        return node == NULL ? NULL : session_on_node(sessions, session, node);
    }
    for (uint32_t i = 0; i < session->shared.count; i++) {
        if (strcmp(session->shared.items[i]->group->text, text) == 0) {
            return session->shared.items[i];
        }
    }
    return NULL;
}

struct subscription *session_find_shared(const struct sessions *sessions, const struct session *session,
                                         const char *name, size_t name_bytes, const char *topic_filter) {
    const struct topic_node *node = topic_tree_find(&sessions->shared_tree, topic_filter);
    for (uint32_t i = 0; node != NULL && i < session->shared.count; i++) {
        const struct share_group *group = session->shared.items[i]->group;
        if (group->node == node && group->name_bytes == name_bytes &&
            memcmp(group->text + SHARE_PREFIX_BYTES, name, name_bytes) == 0) {
            return session->shared.items[i];
        }
    }
    return NULL;
}

/* ---- share groups ---- */

static struct share_group *get_group(struct sessions *sessions, const char *text, size_t name_bytes) {
    struct share_group *group = NULL;
    HASH_FIND_STR(sessions->groups, text, group);
    if (group != NULL) {
        return group;
    }
    size_t bytes = strlen(text);
    group = calloc(1, sizeof *group + bytes + 1);
    if (group == NULL) {
        return NULL;
    }
    memcpy(group->text, text, bytes);
    group->name_bytes = name_bytes;
    group->node = topic_tree_add(&sessions->shared_tree, text + share_topic_offset(text));
    if (group->node == NULL) {
        free(group);
        return NULL;
    }
    group->hashed = true;
    HASH_ADD_KEYPTR(hh, sessions->groups, group->text, bytes, group);
    if (!group->hashed) {
        topic_tree_release(&sessions->shared_tree, group->node);
        free(group);
        return NULL;
    }
    return group;
}

static void release_group(struct sessions *sessions, struct share_group *group) {
    if (group->n_members == 0) {
        HASH_DELETE(hh, sessions->groups, group);
        topic_tree_release(&sessions->shared_tree, group->node);
        free(group);
    }
}

/* ---- adding and removing subscriptions ---- */

static bool reserve(struct subscription_list *list) {
    if (list->count < list->capacity) {
        return true;
    }
    uint32_t capacity = list->capacity == 0 ? 1 : list->capacity * 2;
    struct subscription **items = realloc(list->items, capacity * sizeof(struct subscription *));
    if (items == NULL) {
        return false;
    }
    list->items = items;
    list->capacity = capacity;
    return true;
}

/* What was known of the session's turns is not true any more. */
static void forget_turns(struct session *session) {
    session->order = session->n_filters == 0 && session->shared.count == 0 ? ORDER_PLAIN : ORDER_NONE;
    session->first = NULL;
    session->turn = NULL;
}

/* Count or uncount what a subscription is. */
static void count(struct sessions *sessions, const struct subscription *subscription, bool add) {
    struct session *session = subscription->session;
    uint32_t filter = subscription->filter != NULL;
    uint32_t no_local = (subscription->options & NO_LOCAL) != 0;
    if (add) {
        session->n_filters += filter;
        session->n_no_local += no_local;
        sessions->n_filters += filter;
        sessions->n_no_local += no_local;
    } else {
        session->n_filters -= filter;
        session->n_no_local -= no_local;
        sessions->n_filters -= filter;
        sessions->n_no_local -= no_local;
    }
}

static struct subscription *add_normal(struct sessions *sessions, struct session *session, const char *text) {
    struct subscription *subscription = calloc(1, sizeof *subscription);
    struct topic_node *node = NULL;
    if (subscription != NULL && reserve(&session->normal) && map_reserve(&sessions->by_topic)) {
        node = topic_tree_add(&sessions->tree, text);
    }
    if (node == NULL || !map_put(&sessions->by_topic, session, node, subscription)) {
        free(subscription); /* map_put cannot fail after map_reserve: node is NULL here */
        return NULL;
    }
    subscription->node = node;
    subscription->index = session->normal.count;
    session->normal.items[session->normal.count++] = subscription;
    return subscription;
}

static struct subscription *add_shared(struct sessions *sessions, struct session *session, const char *text,
                                       size_t name_bytes) {
    struct subscription *subscription = calloc(1, sizeof *subscription);
    struct share_group *group = NULL;
    if (subscription != NULL && reserve(&session->shared)) {
        group = get_group(sessions, text, name_bytes);
    }
    if (group == NULL) {
        free(subscription);
        return NULL;
    }
    group->n_members++;
    subscription->group = group;
    subscription->node = group->node;
    subscription->index = session->shared.count;
    session->shared.items[session->shared.count++] = subscription;
    return subscription;
}

struct subscription *session_subscribe(struct sessions *sessions, struct session *session, const char *text,
                                       size_t name_bytes, struct sf_filter *filter, uint8_t options,
                                       uint32_t identifier) {
    struct subscription *subscription = session_find(sessions, session, text);
    if (subscription == NULL) {
        subscription = share_topic_offset(text) == 0 ? add_normal(sessions, session, text)
                                                     : add_shared(sessions, session, text, name_bytes);
        if (subscription == NULL) {
            return NULL;
        }
        subscription->session = session;
        sessions->n_subscriptions++;
    } else {
        count(sessions, subscription, false);
        sf_filter_unref(subscription->filter);
        if (subscription->filter != filter) {
            subscription->passed = 0;
            subscription->dropped = 0;
        }
    }
    subscription->filter = filter;
    subscription->filter_id = filter == NULL ? 0 : sf_filter_id(filter);
    subscription->guard = sf_filter_guard(filter);
    subscription->options = options;
    subscription->identifier = identifier;
    count(sessions, subscription, true);
    forget_turns(session);
    session_forget_removed(session, text); /* what is there is not removed, whatever becomes of the journal */
    return subscription;
}

void subscription_remove(struct sessions *sessions, struct subscription *subscription) {
    struct session *session = subscription->session;
    struct subscription_list *list = subscription->group == NULL ? &session->normal : &session->shared;
    count(sessions, subscription, false);
    list->count--;
    list->items[subscription->index] = list->items[list->count];
    list->items[subscription->index]->index = subscription->index;
    if (subscription->group == NULL) {
        map_remove(&sessions->by_topic, session, subscription->node);
        topic_tree_release(&sessions->tree, subscription->node);
    } else {
        subscription->group->n_members--;
        release_group(sessions, subscription->group);
    }
    forget_turns(session);
    sf_filter_unref(subscription->filter);
    sessions->n_subscriptions--;
    free(subscription);
}

/* ---- text ---- */

size_t subscription_text_bytes(const struct subscription *subscription) {
    return subscription->group == NULL ? topic_node_bytes(subscription->node) : strlen(subscription->group->text);
}

void subscription_write_text(const struct subscription *subscription, char *out) {
    if (subscription->group == NULL) {
        topic_node_write(subscription->node, out);
    } else {
        memcpy(out, subscription->group->text, strlen(subscription->group->text) + 1);
    }
}

size_t subscription_topic_bytes(const struct subscription *subscription) {
    size_t bytes = topic_node_bytes(subscription->node);
    return subscription->group == NULL ? bytes : SHARE_PREFIX_BYTES + subscription->group->name_bytes + 1 + bytes;
}

void subscription_write_topic(const struct subscription *subscription, char *out) {
    if (subscription->group != NULL) {
        size_t bytes = SHARE_PREFIX_BYTES + subscription->group->name_bytes;
        memcpy(out, subscription->group->text, bytes);
        out[bytes] = '/';
        out += bytes + 1;
    }
    topic_node_write(subscription->node, out);
}

bool session_bury(struct sessions *sessions, struct session *session) {
    while (session_count(session) > 0) {
        const struct subscription_list *list = session->normal.count > 0 ? &session->normal : &session->shared;
        struct subscription *subscription = list->items[list->count - 1];
        char *text = malloc(subscription_text_bytes(subscription) + 1);
        if (text == NULL) {
            return false;
        }
        subscription_write_text(subscription, text);
        bool noted = session_note_removed(session, text, SIZE_MAX);
        free(text);
        if (!noted) {
            return false;
        }
        subscription_remove(sessions, subscription);
    }
    return true;
}
