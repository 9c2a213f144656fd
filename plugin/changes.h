/* SPDX-License-Identifier: BSD-3-Clause
 *
 * changes: what changes a session reaches the mirror and the journal, in this order: written first, then in memory.
 */
#ifndef PLUGIN_CHANGES_H
#define PLUGIN_CHANGES_H

#include <stdbool.h>

struct plugin;
struct session;
struct subscription;

/* Whether the journal is fit for another filter. */
bool changes_possible(const struct plugin *plugin);

/* A subscription is gone, or about to go. */
void change_unsubscribe(struct plugin *plugin, struct subscription *subscription);

/* A session is over: it is removed with all of its subscriptions. If the broker may have saved it, they are remembered as
 * removed: after a crash it may come back as it was. */
void change_end(struct plugin *plugin, struct session *session);

/* A session goes on, perhaps one of that name that had ended. */
void change_revive(struct plugin *plugin, struct session *session);

#endif
