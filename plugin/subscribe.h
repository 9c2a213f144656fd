/* SPDX-License-Identifier: BSD-3-Clause
 *
 * subscribe: what happens to the entries of SUBSCRIBE and UNSUBSCRIBE packets (DESIGN facts F1 to F7).
 *
 *     ACL_CHECK(SUBSCRIBE)  subscribe_check    splits, compiles, shortens the broker's buffer to the base topic:
 *                                              what every later plugin and the broker authorize
 *     MOSQ_EVT_SUBSCRIBE    subscribe_confirm  first in the chain: is this the entry that was checked?
 *                           subscribe_commit   last in the chain: notes what the broker is about to insert
 */
#ifndef PLUGIN_SUBSCRIBE_H
#define PLUGIN_SUBSCRIBE_H

#include <stdbool.h>

struct plugin;
struct session;
struct mosquitto_evt_acl_check;
struct mosquitto_evt_subscribe;
struct mosquitto_evt_unsubscribe;

/* MOSQ_ERR_PLUGIN_IGNORE: go on; MOSQ_ERR_ACL_DENIED: the entry is refused, nothing else has changed. */
int subscribe_check(struct plugin *plugin, struct mosquitto_evt_acl_check *check);

/* MOSQ_ERR_SUCCESS, or an error that closes the connection: the chain went past subscribe_check. */
int subscribe_confirm(struct plugin *plugin, const struct mosquitto_evt_subscribe *event);

/* MOSQ_ERR_SUCCESS: noted; an error closes the connection and nothing has changed. */
int subscribe_commit(struct plugin *plugin, struct mosquitto_evt_subscribe *event);

/* Shortens the broker's buffer to the base topic. Always MOSQ_ERR_PLUGIN_IGNORE. */
int unsubscribe_check(struct plugin *plugin, struct mosquitto_evt_acl_check *check);

/* Last in the chain: notes what the broker is about to remove. */
int unsubscribe_commit(struct plugin *plugin, struct mosquitto_evt_unsubscribe *event);

/* Of the refusals of one client only a few are logged in a while. When that while, or the session, is over: log how many
 * there were more. */
void subscribe_end_refusals(struct session *session, bool session_ends);

/* Drop what subscribe_check left for subscribe_commit. */
void subscribe_forget_pending(struct plugin *plugin);

#endif
