/* SPDX-License-Identifier: BSD-3-Clause
 *
 * reconcile: see the header. The only question that the broker answers about one subscription is whether removing it
 * changes the count; so each known subscription is removed, and put back when it was there. Nothing else can run between
 * the two calls. What changes is the member's place in its share group's rotation.
 */
#include "reconcile.h"

#include "changes.h"
#include "log.h"
#include "plugin.h"

#include <stdlib.h>
#include <string.h>

/* Add, or set to what we know of it, one subscription in the broker. false: out of memory, it is lost. */
static bool add_to_broker(const struct subscription *subscription, char *text) {
    char *id = subscription->session->id;
    const struct mosquitto_subscription add = {
        .clientid = id,
        .topic_filter = text,
        .identifier = subscription->identifier,
        .options = subscription->options,
    };
    if (mosquitto_subscription_add(&add) <= 0) { /* negative: it is there already */
        return true;
    }
    char shown_id[LOG_TEXT_BYTES];
    char shown[LOG_TEXT_BYTES];
    say_error("client %s: out of memory: its subscription '%s' is lost.", log_text(shown_id, id, strlen(id)),
              log_text(shown, text, strlen(text)));
    return false;
}

/* Whether the broker has `text`; it has it afterwards as before. */
static bool broker_has(const struct subscription *subscription, struct mosquitto *client, char *text) {
    int before = mosquitto_client_sub_count(client);
    mosquitto_subscription_delete(subscription->session->id, text);
    if (mosquitto_client_sub_count(client) == before) {
        return false;
    }
    return add_to_broker(subscription, text);
}

/* Ask `keep` for each subscription of a list, with its text, and forget those for which it says no. */
static void keep_if(struct plugin *plugin, struct subscription_list *list, struct mosquitto *client,
                    bool (*keep)(const struct subscription *, struct mosquitto *, char *)) {
    for (uint32_t i = list->count; i-- > 0;) { /* backwards: removing moves the last one into the gap */
        struct subscription *subscription = list->items[i];
        char *text = malloc(subscription_text_bytes(subscription) + 1);
        if (text == NULL) {
            return; /* the counts differ: decided without memory */
        }
        subscription_write_text(subscription, text);
        if (!keep(subscription, client, text)) {
            change_unsubscribe(plugin, subscription);
        }
        free(text);
    }
}

void reconcile_removed(struct plugin *plugin, struct session *session, struct mosquitto *client) {
    session->has_unknown |= !session_is_complete(session, mosquitto_client_sub_count(client));
    if (session->has_unknown) { /* or else one that we do not know may stand for one that is gone */
        keep_if(plugin, &session->normal, client, broker_has);
        keep_if(plugin, &session->shared, client, broker_has);
        session->has_unknown = !session_is_complete(session, mosquitto_client_sub_count(client));
    }
}

static bool restore(const struct subscription *subscription, struct mosquitto *client, char *text) {
    (void)client;
    return add_to_broker(subscription, text);
}

size_t reconcile_restored(struct plugin *plugin) {
    size_t n_ended = 0;
    struct session *session, *next;
    HASH_ITER(hh, plugin->sessions.by_id, session, next) {
        struct mosquitto *client = mosquitto_client(session->id);
        if (client == NULL) {
            change_end(plugin, session);
            n_ended++;
            continue;
        }
        session->saved = true;
        for (struct removed_topic *removed = session->removed; removed != NULL; removed = removed->hh.next) {
            mosquitto_subscription_delete(session->id, removed->text);
        }
        keep_if(plugin, &session->normal, client, restore);
        keep_if(plugin, &session->shared, client, restore);
    }
    return n_ended;
}
