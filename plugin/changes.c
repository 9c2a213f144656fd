/* SPDX-License-Identifier: BSD-3-Clause
 *
 * changes: see the header.
 */
#include "changes.h"

#include "plugin.h"
#include "subscribe.h"

#include <errno.h>
#include <stdlib.h>

#include <utlist.h>

enum { MAX_OVER = 16384 }; /* plugin.n_over: clients must not grow memory by coming and going */

bool changes_possible(const struct plugin *plugin) {
    return !plugin->journal.unwell;
}

void change_unsubscribe(struct plugin *plugin, struct subscription *subscription) {
    if (subscription->session->stored) {
        char *text = malloc(subscription_text_bytes(subscription) + 1);
        if (text == NULL) {
            journal_set_unwell(&plugin->journal, ENOMEM);
        } else {
            subscription_write_text(subscription, text);
            journal_unsubscribe(&plugin->journal, subscription->session, text);
            free(text);
        }
    }
    subscription_remove(&plugin->sessions, subscription);
}

/* ---- sessions that have ended ---- */

void change_revive(struct plugin *plugin, struct session *session) {
    if (session->over) {
        session->over = false;
        DL_DELETE(plugin->over, session);
        plugin->n_over -= 1 + HASH_COUNT(session->removed);
    }
}

/* Remove it from everywhere: the next session of that name starts afresh. */
static void forget(struct plugin *plugin, struct session *session) {
    journal_forget(&plugin->journal, session);
    change_revive(plugin, session);
    if (plugin->sweep_next == session) {
        plugin->sweep_next = session->hh.next;
    }
    session_remove(&plugin->sessions, session);
}

/* Keep what it had, and forget the oldest of its kind when that is too much. */
static void remember(struct plugin *plugin, struct session *session) {
    if (session->client != NULL) {
        sessions_forget_client(&plugin->sessions, session->client);
    }
    session->stored = true;
    session->over = true;
    DL_APPEND(plugin->over, session);
    plugin->n_over += 1 + HASH_COUNT(session->removed);
    while (plugin->n_over > MAX_OVER) {
        forget(plugin, plugin->over);
    }
}

void change_end(struct plugin *plugin, struct session *session) {
    subscribe_end_refusals(session, true);
    bool remembered = session->stored && session->saved && session_bury(&plugin->sessions, session);
    if (session->due) {
        session->due = false;
        DL_DELETE(plugin->due, session);
    }
    session->ended = false;
    if (remembered) {
        journal_end(&plugin->journal, session);
        remember(plugin, session);
    } else {
        forget(plugin, session);
    }
}
