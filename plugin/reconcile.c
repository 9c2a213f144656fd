/* SPDX-License-Identifier: BSD-3-Clause
 *
 * reconcile: see the header. The only question that the broker answers about one subscription is whether removing it
 * changes the count; so each known subscription is removed, and put back when it was there. Nothing else can run between
 * the two calls. What changes is the member's place in its share group's rotation.
 */
#include "reconcile.h"

#include "log.h"
#include "plugin.h"

#include <stdlib.h>
#include <string.h>

/* Whether the broker has `text`; it has it afterwards as before. */
static bool broker_has(const struct subscription *subscription, struct mosquitto *client,
                       char *text) {
    struct session *session = subscription->session;
    int before = mosquitto_client_sub_count(client);
    mosquitto_subscription_delete(session->id, text);
    if (mosquitto_client_sub_count(client) == before) {
        return false;
    }
    const struct mosquitto_subscription again = {
        .clientid = session->id,
        .topic_filter = text,
        .identifier = subscription->identifier,
        .options = subscription->options,
    };
    if (mosquitto_subscription_add(&again) > 0) {
        char shown_id[LOG_TEXT_BYTES];
        char shown[LOG_TEXT_BYTES];
        mosquitto_log_printf(MOSQ_LOG_ERR, "%s: client %s: out of memory: its subscription '%s' is lost.", PLUGIN_NAME,
                             log_text(shown_id, session->id, strlen(session->id)), log_text(shown, text, strlen(text)));
        return false;
    }
    return true;
}

static void check_list(struct plugin *plugin, struct subscription_list *list, struct mosquitto *client) {
    for (uint32_t i = list->count; i-- > 0;) { /* backwards: removing moves the last one into the gap */
        struct subscription *subscription = list->items[i];
        char *text = malloc(subscription_text_bytes(subscription) + 1);
        if (text == NULL) {
            return; /* the counts still differ: decided without memory, and tried again at the next change */
        }
        subscription_write_text(subscription, text);
        if (!broker_has(subscription, client, text)) {
            subscription_remove(&plugin->sessions, subscription);
        }
        free(text);
    }
}

void reconcile_removed(struct plugin *plugin, struct session *session, struct mosquitto *client) {
    if ((uint32_t)mosquitto_client_sub_count(client) == session_count(session)) {
        return;
    }
    check_list(plugin, &session->normal, client);
    check_list(plugin, &session->shared, client);
}
