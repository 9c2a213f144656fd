/* SPDX-License-Identifier: BSD-3-Clause
 *
 * plugin: the one piece of state, and what its parts share. plugin.c has the entry points and the events.
 */
#ifndef PLUGIN_PLUGIN_H
#define PLUGIN_PLUGIN_H

#include "delivery.h"
#include "journal.h"
#include "sessions.h"
#include "settings.h"
#include "sys_topics.h"

#include "broker.h"

#define PLUGIN_NAME "subscription-filter"

/* A line in the broker's log. As the broker's own do, errors and warnings say so, since the level is not in the log. */
#define say_error(...)   mosquitto_log_printf(MOSQ_LOG_ERR, "Error: " PLUGIN_NAME ": " __VA_ARGS__)
#define say_warning(...) mosquitto_log_printf(MOSQ_LOG_WARNING, "Warning: " PLUGIN_NAME ": " __VA_ARGS__)
#define say(...)         mosquitto_log_printf(MOSQ_LOG_NOTICE, PLUGIN_NAME ": " __VA_ARGS__)

/* The SUBSCRIBE entry whose filter ACL_CHECK has read and MOSQ_EVT_SUBSCRIBE will commit: for one entry both get the
 * same buffer of the broker. */
struct pending_subscription {
    const struct mosquitto *client;
    const char *buffer;       /* compared only; NULL: none */
    struct sf_filter *filter; /* a reference */
    bool confirmed;           /* the first SUBSCRIBE callback saw the same buffer */
};

struct plugin {
    mosquitto_plugin_id_t *id;
    struct settings settings;
    struct live_settings configured; /* as mosquitto.conf has them: what config_file changes */
    struct sf_schema *schema;
    struct sessions sessions;
    struct delivery delivery;
    struct journal journal;
    struct sys_topics sys_topics;
    struct pending_subscription pending;
    const char *refuse_all;     /* why no filter can be accepted at all, and the way out; NULL: they can */
    bool in_global_list;        /* not in the lists of listeners */
    bool probing;               /* finding that out */
    bool ticked;                /* the first TICK has come */
    struct session *over;       /* utlist: ended sessions that an old save of the broker may bring back; oldest first */
    size_t n_over;              /* those, and their removed subscriptions */
    struct session *due;        /* utlist: sessions to be looked at soon: ended, or a subscription may be gone */
    time_t journal_logged_at_s; /* when it was last said that the journal cannot be written */
    time_t swept_at_s;
    struct session *sweep_next;
    uint64_t refused; /* SUBSCRIBE entries with a bad filter */
};

#endif
