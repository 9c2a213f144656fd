/* SPDX-License-Identifier: BSD-3-Clause
 *
 * subscribe: see the header. Nothing is written to the broker's buffer before everything that could refuse the entry has
 * passed; and nothing at all when the buffer may be the broker's own tree (fact F7).
 */
#include "subscribe.h"

#include "changes.h"
#include "log.h"
#include "plugin.h"
#include "subscription_string.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    REFUSALS_LOGGED = 5,    /* of one client within */
    REFUSALS_WINDOW_S = 10, /* so many seconds */
};

/* ACL_CHECK hands the topic of a request as const, but it is the broker's own buffer, used after us (fact F3). */
static char *broker_buffer(const struct mosquitto_evt_acl_check *check) {
    return (char *)(uintptr_t)check->topic;
}

/* ---- refusing ---- */

static long now_s(void) {
    struct timespec now = {0};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

static bool window_is_over(const struct session *session) {
    return now_s() - session->refusals_at_s >= REFUSALS_WINDOW_S;
}

void subscribe_end_refusals(struct session *session, bool session_ends) {
    if (session->refusals == 0 || !(session_ends || window_is_over(session))) {
        return;
    }
    uint64_t refusals = session->refusals;
    session->refusals = 0;
    if (refusals > REFUSALS_LOGGED) {
        char shown[LOG_TEXT_BYTES];
        say("client %s: more subscriptions refused: %" PRIu64 ".", log_text(shown, session->id, strlen(session->id)),
            refusals - REFUSALS_LOGGED);
    }
}

/* Whether a refusal of this client may be logged now: a few in each window; its end says how many were not. */
static bool may_log(struct session *session) {
    if (session == NULL) {
        return true;
    }
    subscribe_end_refusals(session, false);
    if (session->refusals == 0) {
        session->refusals_at_s = now_s();
    }
    return ++session->refusals <= REFUSALS_LOGGED;
}

static void log_refusal(struct plugin *plugin, const char *id, const char *subscription, const struct sf_error *error) {
    plugin->refused++;
    if (!may_log(sessions_find(&plugin->sessions, id))) {
        return;
    }
    char shown_id[LOG_TEXT_BYTES];
    char shown[LOG_TEXT_BYTES];
    char where[64] = ""; /* the language has a code and a place; other reasons have none */
    if (error->code != SF_OK) {
        snprintf(where, sizeof where, " (%s, offset %zu)", sf_status_name(error->code), error->offset);
    }
    say("client %s: subscription '%s' refused%s: %s%s", log_text(shown_id, id, strlen(id)),
        log_text(shown, subscription, strlen(subscription)), where, error->text,
        error->code == SF_E_DIALECT ? " (option dialects)" : "");
    sys_topics_refused(plugin, id, subscription, error);
}

/* ---- ACL_CHECK(SUBSCRIBE) ---- */

void subscribe_forget_pending(struct plugin *plugin) {
    sf_filter_unref(plugin->pending.filter);
    plugin->pending = (struct pending_subscription){0};
}

/* Refuse for a reason that is not in the expression. */
__attribute__((format(printf, 2, 3))) static bool refuse(struct sf_error *error, const char *format, ...) {
    *error = (struct sf_error){.code = SF_OK};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    return false;
}

/* Whether this client can have one more filter at all. */
static bool may_filter(const struct plugin *plugin, const struct mosquitto *client, const struct session *session,
                       struct sf_error *error) {
    if (plugin->refuse_all != NULL) {
        return refuse(error, "%s", plugin->refuse_all);
    }
    if (!changes_possible(plugin)) {
        return refuse(error, "the state file cannot be written (%s); it is tried again every second",
                      strerror(plugin->journal.error));
    }
    uint32_t known = session == NULL ? 0 : session_count(session);
    if ((uint32_t)mosquitto_client_sub_count(client) != known) {
        return refuse(error, "the session holds subscriptions that the plugin did not see, so copies could not be "
                             "assigned; subscribe again to all of them, or connect with Clean Start");
    }
    return true;
}

/* The subscription that one to `base` would replace, or NULL. */
static struct subscription *find_replaced(const struct plugin *plugin, const struct session *session,
                                          const char *base) {
    size_t topic = share_topic_offset(base);
    return topic == 0 ? session_find(&plugin->sessions, session, base)
                      : session_find_shared(&plugin->sessions, session, base + SHARE_PREFIX_BYTES,
                                            share_name_bytes(base), base + topic);
}

static bool within_limit(const struct plugin *plugin, const struct session *session, const char *base,
                         struct sf_error *error) {
    size_t limit = plugin->settings.live.max_filters_per_client;
    if (limit == 0 || session == NULL || session->n_filters < limit) {
        return true;
    }
    const struct subscription *replaced = find_replaced(plugin, session, base);
    if (replaced != NULL && replaced->filter != NULL) {
        return true;
    }
    return refuse(error, "the client has %zu filters, as many as plugin_opt_max_filters_per_client allows", limit);
}

/* Split and compile `text`, a copy of the entry that is shortened to its base topic. false: `error` says why. */
static bool read_entry(struct plugin *plugin, const struct session *session, char *text, struct sf_filter **filter_out,
                       struct sf_error *error) {
    size_t bytes = strlen(text);
    struct sf_subscription split;
    sf_subscription_split(text, bytes, &split);

    const struct sf_options options = settings_compile_options(&plugin->settings);
    if (sf_compile(plugin->schema, &options, text + split.expression_offset, split.expression_bytes, filter_out,
                   error) != SF_OK) {
        error->offset += split.expression_offset;
        return false;
    }
    size_t base_bytes = 0;
    if (sf_topic_decode(text, split.topic_bytes, &base_bytes, error) != SF_OK) {
        sf_filter_unref(*filter_out);
        return false;
    }
    text[base_bytes] = '\0';
    if (!within_limit(plugin, session, text, error)) {
        sf_filter_unref(*filter_out);
        return false;
    }
    if (!delivery_reserve(&plugin->delivery, *filter_out)) {
        sf_filter_unref(*filter_out);
        return refuse(error, "out of memory");
    }
    return true;
}

int subscribe_check(struct plugin *plugin, struct mosquitto_evt_acl_check *check) {
    char *buffer = broker_buffer(check);
    if (plugin->pending.buffer == buffer) {
        subscribe_forget_pending(plugin); /* that entry was denied, and its memory is used again */
    }
    /* From here to the end of the entry another plugin may kick clients, whose subscriptions are then checked again (fact
     * F7): those checks change nothing, so that the entry under way keeps its filter. */
    if (strchr(buffer, '?') == NULL || !plugin->settings.live.enabled ||
        mosquitto_client_protocol_version(check->client) < MQTT_PROTOCOL_V5) {
        return MOSQ_ERR_PLUGIN_IGNORE;
    }
    const char *id = mosquitto_client_id(check->client);
    const struct session *session = sessions_find(&plugin->sessions, id);
    if (session != NULL && session_find(&plugin->sessions, session, buffer) != NULL) {
        return MOSQ_ERR_PLUGIN_IGNORE; /* perhaps the broker's tree itself, in such a check: not to be written to */
    }
    char *text = strdup(buffer);
    struct sf_filter *filter = NULL;
    struct sf_error error;
    bool good = text == NULL ? refuse(&error, "out of memory")
                             : may_filter(plugin, check->client, session, &error) &&
                                   read_entry(plugin, session, text, &filter, &error);
    if (good) {
        memcpy(buffer, text, strlen(text) + 1);
        subscribe_forget_pending(plugin);
        plugin->pending = (struct pending_subscription){check->client, buffer, filter, false};
    } else {
        log_refusal(plugin, id, buffer, &error);
    }
    free(text);
    return good ? MOSQ_ERR_PLUGIN_IGNORE : MOSQ_ERR_ACL_DENIED;
}

/* ---- MOSQ_EVT_SUBSCRIBE ---- */

/* Whether the client held `text` as a literal topic filter, from a time when filters were switched off or from an MQTT 3
 * connection; it does not any more. */
static bool give_up_literal(struct plugin *plugin, const char *id, const char *text) {
    const struct session *session = sessions_find(&plugin->sessions, id);
    struct subscription *literal = session == NULL ? NULL : session_find(&plugin->sessions, session, text);
    if (literal == NULL) {
        return false;
    }
    mosquitto_subscription_delete(id, text);
    change_unsubscribe(plugin, literal);
    return true;
}

int subscribe_confirm(struct plugin *plugin, const struct mosquitto_evt_subscribe *event) {
    struct pending_subscription *pending = &plugin->pending;
    const char *text = event->data.topic_filter;
    if (pending->client == event->client && pending->buffer == text) {
        pending->confirmed = true;
        return MOSQ_ERR_SUCCESS;
    }
    subscribe_forget_pending(plugin);
    if (strchr(text, '?') == NULL || !plugin->settings.live.enabled ||
        mosquitto_client_protocol_version(event->client) < MQTT_PROTOCOL_V5) {
        return MOSQ_ERR_SUCCESS;
    }
    /* What has been authorized is not the base topic: the filter cannot be accepted, and a refusal is not possible any
     * more. A literal topic filter could not be told from a second check of it (fact F7); next time it can. */
    char shown_id[LOG_TEXT_BYTES];
    char shown[LOG_TEXT_BYTES];
    const char *id = mosquitto_client_id(event->client);
    const char *why =
        give_up_literal(plugin, id, text)
            ? "it was held as a literal topic filter, which has been removed; subscribe again for the filter"
            : "it was allowed by another plugin before this one could read its filter; make this plugin the "
              "first global_plugin of the configuration file";
    say_error("client %s: connection closed at subscription '%s': %s.", log_text(shown_id, id, strlen(id)),
              log_text(shown, text, strlen(text)), why);
    return MOSQ_ERR_ACL_DENIED;
}

/* The text that the broker is to insert: for a share group with a filter the renamed one, new from mosquitto_malloc;
 * otherwise `text` itself. NULL: out of memory. */
static char *broker_text(char *text, const struct sf_filter *filter) {
    if (filter == NULL || share_topic_offset(text) == 0) {
        return text;
    }
    char *renamed = mosquitto_malloc(share_renamed_bytes(text));
    if (renamed != NULL) {
        size_t filter_bytes = 0;
        const char *filter_text = sf_filter_text(filter, &filter_bytes);
        share_rename(text, filter_text, filter_bytes, renamed);
    }
    return renamed;
}

/* A share group's member that subscribes with another filter, or none, leaves the group it was in. */
static void leave_group(struct plugin *plugin, struct subscription *old) {
    mosquitto_subscription_delete(old->session->id, old->group->text);
    journal_note_removed(&plugin->journal, old->session, old->group->text);
    subscription_remove(&plugin->sessions, old);
}

static void log_unwell(struct plugin *plugin) {
    say_error("the state file %s cannot be written: %s. Filtered subscriptions are refused until it can.",
              plugin->journal.path, strerror(plugin->journal.error));
}

/* Whether the broker sends retained messages for it: by its Retain Handling, `again` when it is there already. */
static bool brings_retained(uint8_t options, bool again) {
    uint8_t handling = MQTT_SUB_OPT_GET_RETAIN_HANDLING(options);
    return handling == MQTT_SUB_OPT_SEND_RETAIN_ALWAYS || (handling == MQTT_SUB_OPT_SEND_RETAIN_NEW && !again);
}

/* Note in journal and mirror what the broker is about to insert as `text`. */
static int note_subscription(struct plugin *plugin, struct session *session,
                             const struct mosquitto_evt_subscribe *event, char *text, struct sf_filter *filter) {
    size_t name_bytes = share_topic_offset(text) == 0 ? 0 : share_name_bytes(text);
    struct subscription *old = name_bytes == 0 ? NULL : find_replaced(plugin, session, text);
    if (old != NULL && strcmp(old->group->text, text) == 0) {
        old = NULL; /* the same group: it is changed in place */
    }
    const struct journal_subscription record = {
        .text = text,
        .filter_text = filter == NULL ? NULL : sf_filter_text(filter, NULL),
        .replaced = old == NULL ? NULL : old->group->text,
        .identifier = event->data.identifier,
        .options = event->data.options,
    };
    bool was_well = changes_possible(plugin);
    if (!journal_subscribe(&plugin->journal, session, &record)) {
        if (was_well) {
            log_unwell(plugin);
        }
        if (filter != NULL) {
            return MOSQ_ERR_UNKNOWN; /* it would not survive a restart: the connection is closed */
        }
    }
    bool again = session_find(&plugin->sessions, session, text) != NULL;
    struct subscription *subscription =
        session_subscribe(&plugin->sessions, session, text, name_bytes, filter == NULL ? NULL : sf_filter_ref(filter),
                          event->data.options, event->data.identifier);
    if (subscription == NULL) {
        sf_filter_unref(filter);
        journal_set_unwell(&plugin->journal, ENOMEM); /* it says more than we know */
        return MOSQ_ERR_NOMEM;
    }
    if (old != NULL) {
        leave_group(plugin, old);
    }
    if (brings_retained(event->data.options, again)) {
        delivery_expect_retained(&plugin->delivery, subscription);
    }
    return MOSQ_ERR_SUCCESS;
}

int subscribe_commit(struct plugin *plugin, struct mosquitto_evt_subscribe *event) {
    char *text = event->data.topic_filter;
    if (!subscription_text_is_possible(text)) {
        return MOSQ_ERR_SUCCESS; /* the broker closes the connection */
    }
    struct sf_filter *filter = plugin->pending.confirmed ? plugin->pending.filter : NULL;
    struct session *session = sessions_get(&plugin->sessions, mosquitto_client_id(event->client));
    char *renamed = session == NULL ? NULL : broker_text(text, filter);
    if (renamed == NULL) {
        return MOSQ_ERR_NOMEM;
    }
    session_set_client(&plugin->sessions, session, event->client, mosquitto_client_id_hashv(event->client));
    int rc = note_subscription(plugin, session, event, renamed, filter);
    if (rc == MOSQ_ERR_SUCCESS) {
        event->data.topic_filter = renamed; /* the broker frees what was there */
    } else if (renamed != text) {
        mosquitto_free(renamed);
    }
    subscribe_forget_pending(plugin);
    return rc;
}

/* ---- UNSUBSCRIBE ---- */

int unsubscribe_check(struct plugin *plugin, struct mosquitto_evt_acl_check *check) {
    const char *mark = strchr(check->topic, '?');
    if (mark == NULL || mosquitto_client_protocol_version(check->client) < MQTT_PROTOCOL_V5) {
        return MOSQ_ERR_PLUGIN_IGNORE;
    }
    char *buffer = broker_buffer(check);
    const struct session *session = sessions_find(&plugin->sessions, mosquitto_client_id(check->client));
    if (session == NULL || session_find(&plugin->sessions, session, buffer) != NULL) {
        return MOSQ_ERR_PLUGIN_IGNORE; /* nothing to find, or a literal '?' */
    }
    char *base = strndup(buffer, (size_t)(mark - buffer));
    size_t base_bytes = 0;
    if (base != NULL && sf_topic_decode(base, strlen(base), &base_bytes, NULL) == SF_OK) {
        base[base_bytes] = '\0';
        const struct subscription *found = find_replaced(plugin, session, base);
        if (plugin->settings.live.enabled || (found != NULL && found->filter != NULL)) {
            memcpy(buffer, base, base_bytes + 1); /* switched off, '?' is literal but for filters made before */
        }
    }
    free(base);
    return MOSQ_ERR_PLUGIN_IGNORE;
}

int unsubscribe_commit(struct plugin *plugin, struct mosquitto_evt_unsubscribe *event) {
    const struct session *session = sessions_find(&plugin->sessions, mosquitto_client_id(event->client));
    struct subscription *subscription =
        session == NULL ? NULL : find_replaced(plugin, session, event->data.topic_filter);
    if (subscription == NULL) {
        return MOSQ_ERR_SUCCESS;
    }
    if (subscription->group != NULL) {
        char *text = mosquitto_strdup(subscription->group->text);
        if (text == NULL) {
            return MOSQ_ERR_NOMEM;
        }
        event->data.topic_filter = text; /* the broker frees what was there */
    }
    change_unsubscribe(plugin, subscription);
    return MOSQ_ERR_SUCCESS;
}
