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

/* A session is over: it is removed with all of its subscriptions. */
void change_end(struct plugin *plugin, struct session *session);

#endif
