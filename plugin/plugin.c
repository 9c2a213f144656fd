/* SPDX-License-Identifier: BSD-3-Clause
 *
 * plugin: the entry points that the broker calls, and its events. Each callback translates, calls the part whose duty it
 * is, and maps the result; the tables say which events there are and when they are registered.
 */
#include "plugin.h"

#include "changes.h"
#include "control.h"
#include "load_order.h"
#include "log.h"
#include "reconcile.h"
#include "subscribe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <utlist.h>

#define PLUGIN_EXPORT __attribute__((visibility("default")))

enum {
    PLUGIN_INTERFACE = 5,
    SWEEP_INTERVAL_S = 1,
    SWEEP_AT_LEAST = 256,
    SWEEP_PARTS = 16,
    JOURNAL_LOG_INTERVAL_S = 60
};

/* All state. The broker may still ask READ after mosquitto_plugin_cleanup, when other plugins are cleaned up: an empty
 * state has no filters and answers "pass". */
static struct plugin state; /* state.id == NULL: not loaded */
static struct plugin *const plugin = &state;

/* The state in the broker's own thread; in any other one, from which the HTTP API asks READ (DESIGN fact F14), one that
 * has no filters. */
static struct plugin nothing;
static _Thread_local struct plugin *here __attribute__((tls_model("initial-exec"))) = &nothing;

/* ---- sessions to be looked at soon ---- */

/* A session has ended, or the broker may have silently removed some of its subscriptions, as it does when a client is
 * kicked and ACL_CHECK(SUBSCRIBE) denies them (fact F7). `session` may be NULL. */
static void set_due(struct session *session) {
    if (session != NULL && !session->due && !session->over) {
        session->due = true;
        DL_APPEND(plugin->due, session);
    }
}

/* Look at those sessions; at the end of a session only in a TICK, since its own will may still be sent to it. Never in
 * the middle of a fan-out, where another plugin may kick clients: this changes the broker's subscriptions. */
static void look_at_due(bool in_tick) {
    struct session *session, *next;
    DL_FOREACH_SAFE(plugin->due, session, next) {
        if (session->ended) {
            if (in_tick) {
                change_end(plugin, session);
            }
            continue;
        }
        session->due = false;
        DL_DELETE(plugin->due, session);
        struct mosquitto *client = mosquitto_client(session->id);
        if (client != NULL) {
            reconcile_removed(plugin, session, client);
        }
    }
}

/* ---- events ---- */

/* Out of line, so that READ needs few registers. */
__attribute__((noinline)) static int on_other_check(struct mosquitto_evt_acl_check *check) {
    if (here != plugin) {
        return MOSQ_ERR_PLUGIN_IGNORE;
    }
    switch (check->access) {
    case MOSQ_ACL_WRITE:
        /* check_retain_source asks in the middle of a replay, with a client that is not registered (decision D6) */
        if (plugin->sessions.n_filters > 0 && mosquitto_client_id_hashv(check->client) != 0) {
            delivery_event(&plugin->delivery);
        }
        return MOSQ_ERR_PLUGIN_IGNORE;
    case MOSQ_ACL_SUBSCRIBE: /* of a request, or of a kept session whose client is kicked */
        delivery_interrupt(&plugin->delivery);
        set_due(sessions_find(&plugin->sessions, mosquitto_client_id(check->client)));
        return subscribe_check(plugin, check);
    case MOSQ_ACL_UNSUBSCRIBE:
        delivery_event(&plugin->delivery);
        return unsubscribe_check(plugin, check);
    default:
        return MOSQ_ERR_PLUGIN_IGNORE;
    }
}

static int on_acl_check(int event, void *event_data, void *user) {
    (void)event, (void)user;
    struct mosquitto_evt_acl_check *check = event_data;
    if (check->access != MOSQ_ACL_READ) {
        return on_other_check(check);
    }
    if (here->sessions.n_filters == 0) {
        return MOSQ_ERR_PLUGIN_IGNORE;
    }
    return delivery_read(&plugin->delivery, check);
}

static int on_subscribe_first(int event, void *event_data, void *user) {
    (void)event, (void)user;
    delivery_event(&plugin->delivery);
    return subscribe_confirm(plugin, event_data);
}

static int on_subscribe_last(int event, void *event_data, void *user) {
    (void)event, (void)user;
    delivery_event(&plugin->delivery); /* others may have kicked clients, whose wills were sent */
    return subscribe_commit(plugin, event_data);
}

static int on_unsubscribe(int event, void *event_data, void *user) {
    (void)event, (void)user;
    delivery_event(&plugin->delivery);
    return unsubscribe_commit(plugin, event_data);
}

static int on_message_in(int event, void *event_data, void *user) {
    (void)event, (void)user;
    if (plugin->sessions.n_filters > 0) {
        delivery_event(&plugin->delivery);
        if (plugin->due != NULL) {
            look_at_due(false);
        }
        delivery_announce(&plugin->delivery, event_data);
    }
    return MOSQ_ERR_SUCCESS;
}

static int on_connect(int event, void *event_data, void *user) {
    (void)event, (void)user;
    const struct mosquitto_evt_connect *connect = event_data;
    struct mosquitto *client = connect->client;
    const char *id = mosquitto_client_id(client);
    delivery_event(&plugin->delivery);
    sessions_forget_client(&plugin->sessions, client); /* whoever was at this address is gone (fact F16) */

    struct session *session = sessions_find(&plugin->sessions, id);
    bool nothing_survived = mosquitto_client_clean_session(client) || mosquitto_client_sub_count(client) == 0;
    if (session != NULL && nothing_survived && !session->over) {
        session->saved |= !mosquitto_client_clean_session(client); /* it may go on, without subscriptions */
        change_end(plugin, session);
    }
    session = sessions_get(&plugin->sessions, id);
    if (session != NULL) {
        change_revive(plugin, session);
        session->saved |= !mosquitto_client_clean_session(client);
        session_set_client(&plugin->sessions, session, client, mosquitto_client_id_hashv(client));
        reconcile_removed(plugin, session, client);
    }
    return MOSQ_ERR_SUCCESS;
}

/* The session that ends, or goes on, without this connection. NULL: none: a connection that failed to authenticate has
 * an event as well, under whatever client identifier it claimed. */
static struct session *session_at(struct mosquitto *client) {
    const char *id = mosquitto_client_id(client);
    return id == NULL || mosquitto_client(id) != client ? NULL : sessions_find(&plugin->sessions, id);
}

/* A client is gone. Kicked by another plugin, it may be in the middle of a message's delivery. */
static void note_gone(int reason) {
    if (reason == MOSQ_ERR_ADMINISTRATIVE_ACTION) {
        delivery_interrupt(&plugin->delivery);
    } else {
        delivery_event(&plugin->delivery);
    }
}

static int on_disconnect(int event, void *event_data, void *user) {
    (void)event, (void)user;
    const struct mosquitto_evt_disconnect *disconnect = event_data;
    if (plugin->probing) {
        plugin->in_global_list = true;
        return MOSQ_ERR_SUCCESS;
    }
    note_gone(disconnect->reason);
    if (disconnect->reason == MOSQ_ERR_SESSION_TAKEN_OVER) {
        sessions_forget_client(&plugin->sessions, disconnect->client); /* it may go on elsewhere: CONNECT will tell */
        return MOSQ_ERR_SUCCESS;
    }
    struct session *session = session_at(disconnect->client);
    if (session != NULL) {
        session->ended = true;
        set_due(session);
    }
    return MOSQ_ERR_SUCCESS;
}

static int on_client_offline(int event, void *event_data, void *user) {
    (void)event, (void)user;
    const struct mosquitto_evt_client_offline *offline = event_data;
    note_gone(offline->reason);
    struct session *session = session_at(offline->client);
    if (session != NULL) {
        session->saved = true;
    }
    return MOSQ_ERR_SUCCESS;
}

/* The settings in force become those of mosquitto.conf, changed by config_file. false: they stay as they were. */
static bool read_config_file(char error[SETTINGS_ERROR_BYTES]) {
    struct live_settings live = plugin->configured;
    if (plugin->settings.config_file != NULL && !settings_read_file(&live, plugin->settings.config_file, error)) {
        return false;
    }
    plugin->settings.live = live;
    plugin->delivery.filter_retained = live.filter_retained;
    return true;
}

static int on_reload(int event, void *event_data, void *user) {
    (void)event, (void)event_data, (void)user;
    delivery_event(&plugin->delivery);
    if (plugin->settings.config_file == NULL) {
        return MOSQ_ERR_SUCCESS;
    }
    char text[SETTINGS_ERROR_BYTES];
    const struct live_settings old = plugin->settings.live;
    if (!read_config_file(text)) {
        say_error("the settings are unchanged: %s.", text);
        return MOSQ_ERR_SUCCESS; /* an error would end the broker (fact F4) */
    }
    settings_describe_change(&old, &plugin->settings.live, text);
    say("config_file %s read: %s.", plugin->settings.config_file, text[0] == '\0' ? "nothing has changed" : text);
    return MOSQ_ERR_SUCCESS;
}

static int on_control(int event, void *event_data, void *user) {
    (void)event, (void)user;
    delivery_event(&plugin->delivery);
    control_handle(plugin, event_data);
    return MOSQ_ERR_SUCCESS; /* an error would disconnect the client (fact F4) */
}

/* ---- the clock ---- */

/* The events whose callbacks run after those of all other plugins, so that they see what the broker will really do. */
static const struct event {
    int event;
    int (*callback)(int, void *, void *);
} late_events[] = {
    {MOSQ_EVT_SUBSCRIBE, on_subscribe_last},
    {MOSQ_EVT_UNSUBSCRIBE, on_unsubscribe},
    {MOSQ_EVT_MESSAGE_IN, on_message_in},
};

static int note_client(const struct mosquitto *client, void *user) {
    (void)user;
    const char *id = mosquitto_client_id(client);
    struct session *session = id == NULL ? NULL : sessions_get(&plugin->sessions, id);
    if (session != NULL) {
        session_set_client(&plugin->sessions, session, mosquitto_client(id), mosquitto_client_id_hashv(client));
        session->has_unknown = !session_is_complete(session, mosquitto_client_sub_count(client));
    }
    return MOSQ_ERR_SUCCESS;
}

/* Before the first packet of a client, after all other plugins have been loaded (fact F18). */
static void first_tick(void) {
    plugin->ticked = true;
    for (size_t i = 0; i < sizeof late_events / sizeof late_events[0]; i++) {
        if (mosquitto_callback_register(plugin->id, late_events[i].event, late_events[i].callback, NULL, NULL) !=
            MOSQ_ERR_SUCCESS) {
            plugin->refuse_all = "the plugin could not register its events: see the broker's log";
        }
    }
    if (!plugin->in_global_list) {
        plugin->refuse_all = "the plugin is loaded for listeners, not for all clients; load it with global_plugin";
    }
    if (plugin->refuse_all != NULL) {
        say_error("every filter will be refused: %s.", plugin->refuse_all);
    }
    size_t n_restored = plugin->sessions.n_sessions;
    size_t n_ended = reconcile_restored(plugin);
    if (n_restored > 0) {
        say("%zu sessions restored with %zu filters; %zu more in the state file are over.", n_restored - n_ended,
            plugin->sessions.n_filters, n_ended);
    }
    mosquitto_apply_on_all_clients(note_client, NULL);
}

static void tick_journal(time_t now_s) {
    switch (journal_tick(&plugin->journal, &plugin->sessions, now_s)) {
    case JOURNAL_NO_NEWS:
        return;
    case JOURNAL_MENDED:
        plugin->journal_logged_at_s = 0;
        say("the state file %s is written again; filtered subscriptions are accepted.", plugin->journal.path);
        return;
    case JOURNAL_FAILED:
        if (plugin->journal_logged_at_s == 0 || now_s - plugin->journal_logged_at_s >= JOURNAL_LOG_INTERVAL_S) {
            plugin->journal_logged_at_s = now_s;
            say_error("the state file %s cannot be written: %s. Make room, or give the broker's user access to its "
                      "folder; filtered subscriptions are refused until then.",
                      plugin->journal.path, strerror(plugin->journal.error));
        }
        return;
    }
}

/* Sessions that the broker ended without an event (expiry, fact F16) are found by looking: a part of them each second.
 * So are those whose refusals were not all logged. */
static void sweep(void) {
    size_t n = plugin->sessions.n_sessions / SWEEP_PARTS;
    n = n < SWEEP_AT_LEAST ? SWEEP_AT_LEAST : n;
    struct session *session = plugin->sweep_next == NULL ? plugin->sessions.by_id : plugin->sweep_next;
    for (; n > 0 && session != NULL; n--) {
        plugin->sweep_next = session->hh.next; /* change_end moves it on when it removes that one too */
        subscribe_end_refusals(session, false);
        if (!session->over && mosquitto_client(session->id) == NULL) {
            change_end(plugin, session);
        }
        session = plugin->sweep_next;
    }
}

static void log_mismatches(void) {
    plugin->delivery.mismatch = false;
    for (struct session *session = plugin->sessions.by_id; session != NULL; session = session->hh.next) {
        const struct mosquitto *client = session->mismatched ? mosquitto_client(session->id) : NULL;
        if (client == NULL || session_is_complete(session, mosquitto_client_sub_count(client))) {
            session->mismatched = false; /* if it was, then for a moment, until we looked */
        }
        if ((session->mismatched || session->unexplained) && !session->mismatch_logged) {
            char shown[LOG_TEXT_BYTES];
            say_warning(
                "client %s holds subscriptions that this plugin did not see; where none of the known ones explains a "
                "copy it is not delivered. It has to subscribe again to all of them, or connect with Clean Start.",
                log_text(shown, session->id, strlen(session->id)));
            session->mismatch_logged = true;
        }
    }
}

static int on_tick(int event, void *event_data, void *user) {
    (void)event, (void)user;
    const struct mosquitto_evt_tick *tick = event_data;
    here = plugin;
    delivery_event(&plugin->delivery);
    plugin->delivery.interrupted = NULL; /* no message is under way */
    if (!plugin->ticked) {
        first_tick();
    }
    look_at_due(true);
    if (plugin->delivery.mismatch) {
        log_mismatches();
    }
    tick_journal(tick->now_s);
    sys_topics_tick(plugin, tick->now_s);
    if (tick->now_s - plugin->swept_at_s >= SWEEP_INTERVAL_S) {
        plugin->swept_at_s = tick->now_s;
        sweep();
    }
    return MOSQ_ERR_SUCCESS;
}

/* ---- entry points ---- */

/* clang-format off */
static const struct event early_events[] = {
    {MOSQ_EVT_ACL_CHECK, on_acl_check},
    {MOSQ_EVT_SUBSCRIBE, on_subscribe_first},
    {MOSQ_EVT_CONNECT, on_connect},
    {MOSQ_EVT_DISCONNECT, on_disconnect},
    {MOSQ_EVT_CLIENT_OFFLINE, on_client_offline},
    {MOSQ_EVT_TICK, on_tick},
    {MOSQ_EVT_RELOAD, on_reload},
};
/* clang-format on */

static bool broker_is_new_enough(void) {
    return mosquitto_plugin_set_info != NULL && mosquitto_client != NULL && mosquitto_client_id_hashv != NULL &&
           mosquitto_apply_on_all_clients != NULL && mosquitto_subscription_add != NULL &&
           mosquitto_subscription_delete != NULL && mosquitto_persistence_location != NULL;
}

static void deinit(void) {
    subscribe_forget_pending(plugin);
    journal_close(&plugin->journal);
    delivery_deinit(&plugin->delivery);
    sessions_deinit(&plugin->sessions);
    sf_schema_free(plugin->schema);
    settings_deinit(&plugin->settings);
    *plugin = (struct plugin){.journal.fd = -1};
}

/* Take `settings` and make what depends on nothing else. false: out of memory; deinit frees what there is. */
static bool init(mosquitto_plugin_id_t *id, const struct settings *settings) {
    *plugin = (struct plugin){.id = id, .settings = *settings, .journal.fd = -1};
    plugin->schema = sf_schema_new();
    if (plugin->schema == NULL || !delivery_init(&plugin->delivery, &plugin->sessions, plugin->schema)) {
        return false;
    }
    plugin->configured = settings->live;
    return true;
}

/* Where the journal is: *path_out is new, or NULL for none. false: out of memory. */
static bool find_state_file(char **path_out) {
    static const char name[] = "subscription-filter.jsonl";
    const char *file = plugin->settings.state_file;
    const char *folder = mosquitto_persistence_location();
    *path_out = NULL;
    if (file != NULL) {
        if (strcmp(file, "none") == 0) {
            return true;
        }
        *path_out = strdup(file);
        return *path_out != NULL;
    }
    if (folder == NULL || folder[0] == '\0') {
        say_warning(
            "filters will not survive a restart of the broker: there is no persistence_location to "
            "keep them in. If sessions are persistent they come back unfiltered: set plugin_opt_state_file to a "
            "path, or to none if this is meant.");
        return true;
    }
    size_t bytes = strlen(folder) + 1 + sizeof name;
    *path_out = malloc(bytes);
    if (*path_out == NULL) {
        return false;
    }
    snprintf(*path_out, bytes, "%s%s%s", folder, folder[strlen(folder) - 1] == '/' ? "" : "/", name);
    return true;
}

static bool reserve_answers(const struct subscription_list *list) {
    for (uint32_t i = 0; i < list->count; i++) {
        const struct sf_filter *filter = list->items[i]->filter;
        if (filter != NULL && !delivery_reserve(&plugin->delivery, filter)) {
            return false;
        }
    }
    return true;
}

static int load_state(void) {
    char error[JOURNAL_ERROR_BYTES] = "out of memory";
    char *path = NULL;
    bool torn = false;
    const struct sf_options options = settings_compile_options(&plugin->settings);
    bool done = find_state_file(&path) &&
                journal_open(&plugin->journal, path, &plugin->sessions, plugin->schema, &options, &torn, error);
    if (!done) {
        say_error("not loaded: %s.", error);
    } else if (torn) {
        say_warning("the last line of the state file %s was incomplete and was dropped: its change had not "
                    "been acknowledged to the client.",
                    path);
    }
    free(path);
    if (!done) {
        return MOSQ_ERR_UNKNOWN;
    }
    for (const struct session *session = plugin->sessions.by_id; session != NULL; session = session->hh.next) {
        if (!reserve_answers(&session->normal) || !reserve_answers(&session->shared)) {
            say_error("not loaded: out of memory.");
            return MOSQ_ERR_NOMEM;
        }
    }
    return MOSQ_ERR_SUCCESS;
}

static int register_early_events(void) {
    for (size_t i = 0; i < sizeof early_events / sizeof early_events[0]; i++) {
        int rc = mosquitto_callback_register(plugin->id, early_events[i].event, early_events[i].callback, NULL, NULL);
        if (rc != MOSQ_ERR_SUCCESS) {
            say_error("not loaded: the broker did not register an event: %s.", mosquitto_strerror(rc));
            return rc;
        }
    }
    if (plugin->settings.control && mosquitto_callback_register(plugin->id, MOSQ_EVT_CONTROL, on_control, CONTROL_TOPIC,
                                                                NULL) != MOSQ_ERR_SUCCESS) {
        say_error("not loaded: the broker did not register " CONTROL_TOPIC ".");
        return MOSQ_ERR_UNKNOWN;
    }
    return MOSQ_ERR_SUCCESS;
}

/* Find out whether our callbacks are in the global list (decision D3). The end of a session that has no listener is told
 * to that list only, so make one and end it: nothing else comes of it, since nothing else is running yet. Where that
 * fails it cannot be found out, and we take it that they are. */
static void find_list(void) {
    static const char id[] = PLUGIN_NAME " looks for its place";
    if (mosquitto_persist_client_add == NULL || mosquitto_persist_client_delete == NULL) {
        plugin->in_global_list = true;
        return;
    }
    struct mosquitto_client probe = {.clientid = mosquitto_strdup(id)}; /* NULL is refused like any bad one */
    plugin->probing = true;
    if (mosquitto_persist_client_add(&probe) == MOSQ_ERR_SUCCESS) {
        (void)mosquitto_persist_client_delete(id);
    } else {
        plugin->in_global_list = true;
    }
    plugin->probing = false;
}

PLUGIN_EXPORT int mosquitto_plugin_version(int supported_version_count, const int *supported_versions) {
    for (int i = 0; i < supported_version_count; i++) {
        if (supported_versions[i] == PLUGIN_INTERFACE) {
            return PLUGIN_INTERFACE;
        }
    }
    return -1;
}

PLUGIN_EXPORT int mosquitto_plugin_init(mosquitto_plugin_id_t *identifier, void **userdata,
                                        struct mosquitto_opt *options, int option_count) {
    if (!broker_is_new_enough()) {
        say_error("not loaded: this broker is older than Mosquitto 2.1, which hands no properties to "
                  "plugins when it delivers. Install Mosquitto 2.1 or later.");
        return MOSQ_ERR_NOT_SUPPORTED;
    }
    if (plugin->id != NULL) {
        say_error("not loaded: it is loaded twice. Keep one line in the configuration file: the first "
                  "global_plugin.");
        return MOSQ_ERR_ALREADY_EXISTS;
    }
    char other[LOG_TEXT_BYTES];
    if (load_order_other_plugin(other)) {
        say_error("not loaded: the plugin %s is loaded before it. Move the line that loads this plugin above "
                  "all others in the configuration file.",
                  other);
        return MOSQ_ERR_INVAL;
    }
    struct settings settings;
    char error[SETTINGS_ERROR_BYTES];
    if (!settings_read(&settings, options, option_count, error)) {
        say_error("not loaded: %s.", error);
        return MOSQ_ERR_INVAL;
    }
    here = plugin;
    mosquitto_plugin_set_info(identifier, PLUGIN_NAME, sf_version());
    int rc = MOSQ_ERR_NOMEM;
    if (!init(identifier, &settings)) {
        say_error("not loaded: out of memory.");
    } else if (!read_config_file(error)) {
        say_error("not loaded: %s.", error);
        rc = MOSQ_ERR_INVAL;
    } else {
        rc = load_state();
    }
    if (rc == MOSQ_ERR_SUCCESS) {
        rc = register_early_events();
    }
    if (rc == MOSQ_ERR_SUCCESS) {
        find_list();
    }
    if (rc != MOSQ_ERR_SUCCESS) {
        deinit();
        return rc;
    }
    *userdata = plugin;
    return MOSQ_ERR_SUCCESS;
}

PLUGIN_EXPORT int mosquitto_plugin_cleanup(void *userdata, struct mosquitto_opt *options, int option_count) {
    (void)options, (void)option_count;
    if (userdata == plugin) { /* not after a second init that failed */
        deinit();
    }
    return MOSQ_ERR_SUCCESS;
}
