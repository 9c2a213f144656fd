/* SPDX-License-Identifier: BSD-3-Clause
 *
 * reconcile: what to do when the broker's subscriptions of a session may no longer be the ones we know. The broker tells
 * plugins how many a session has, not which.
 */
#ifndef PLUGIN_RECONCILE_H
#define PLUGIN_RECONCILE_H

struct mosquitto;
struct plugin;
struct session;

/* Find out which of the known subscriptions the broker has silently removed, as it does when another plugin kicks a
 * client and denies some of its subscriptions (DESIGN fact F7), and forget them. `client` is registered and holds the
 * session. Costs something only when the counts differ. */
void reconcile_removed(struct plugin *plugin, struct session *session, struct mosquitto *client);

#endif
