/* SPDX-License-Identifier: BSD-3-Clause
 *
 * reconcile: what to do when the broker's subscriptions of a session may no longer be the ones we know. The broker tells
 * plugins how many a session has, not which.
 */
#ifndef PLUGIN_RECONCILE_H
#define PLUGIN_RECONCILE_H

#include <stddef.h>

struct mosquitto;
struct plugin;
struct session;

/* Find out which of the known subscriptions the broker has silently removed, as it does when another plugin kicks a
 * client and denies some of its subscriptions (DESIGN fact F7), and forget them. `client` is registered and holds the
 * session. Costs something only when the counts differ, or did before. */
void reconcile_removed(struct plugin *plugin, struct session *session, struct mosquitto *client);

/* After a restart, before the first packet of a client: make the broker's subscriptions of each session in the journal
 * equal to the journal (missing ones are added, removed ones that came back are deleted), and end the sessions that the
 * broker no longer has. Returns how many sessions it ended. */
size_t reconcile_restored(struct plugin *plugin);

#endif
