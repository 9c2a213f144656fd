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

/* The SUBSCRIBE entry that ACL_CHECK has read and MOSQ_EVT_SUBSCRIBE will commit: they follow each other. */
struct pending_subscription {
    const struct mosquitto *client; /* NULL: none */
    struct sf_filter *filter;       /* a reference; NULL: '?' is literal in `text` */
    char *text;                     /* what ACL_CHECK left in the broker's buffer */
    bool confirmed;                 /* the first SUBSCRIBE callback saw the same text */
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
    const char *refuse_all; /* why no filter can be accepted at all, and the way out; NULL: they can */
    bool in_global_list;    /* PERSIST_RESTORE came: only the global list gets it */
    bool asked_for_list;    /* PERSIST_RESTORE is registered */
    bool ticked;            /* the first TICK has come */
    struct session *ended;  /* utlist: sessions to be removed at the next TICK */
    time_t journal_logged_at_s; /* when it was last said that the journal cannot be written */
    time_t swept_at_s;
    struct session *sweep_next;
    uint64_t refused; /* SUBSCRIBE entries with a bad filter */
};

#endif
