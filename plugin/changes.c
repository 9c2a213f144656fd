/* SPDX-License-Identifier: BSD-3-Clause
 *
 * changes: see the header.
 */
#include "changes.h"

#include "plugin.h"

#include <errno.h>
#include <stdlib.h>

#include <utlist.h>

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

void change_end(struct plugin *plugin, struct session *session) {
    journal_end(&plugin->journal, session);
    if (plugin->sweep_next == session) {
        plugin->sweep_next = session->hh.next;
    }
    if (session->due) {
        DL_DELETE(plugin->due, session);
    }
    session_remove(&plugin->sessions, session);
}
