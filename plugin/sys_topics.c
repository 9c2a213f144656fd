/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sys_topics: see the header.
 */
#include "sys_topics.h"

#include "json_text.h"
#include "plugin.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#define PREFIX "$SYS/broker/subscription-filter/"

enum {
    ID_BYTES = 192,            /* of an escaped client identifier in a topic: longer ones are cut */
    SUBSCRIPTION_BYTES = 4096, /* of a subscription string in a message: longer ones are cut */
};

static uint64_t enabled(const struct plugin *plugin) {
    return plugin->settings.live.enabled;
}

static uint64_t subscriptions(const struct plugin *plugin) {
    return plugin->sessions.n_filters;
}

static uint64_t filters(const struct plugin *plugin) {
    return sf_schema_filters(plugin->schema);
}

static uint64_t passed(const struct plugin *plugin) {
    return plugin->delivery.counts.passed;
}

static uint64_t dropped(const struct plugin *plugin) {
    return plugin->delivery.counts.dropped;
}

static uint64_t unknown(const struct plugin *plugin) {
    return plugin->delivery.counts.unknown;
}

static uint64_t refused(const struct plugin *plugin) {
    return plugin->refused;
}

/* clang-format off */
static const struct {
    const char *topic;
    uint64_t (*value)(const struct plugin *plugin);
} topics[SYS_TOPICS] = {
    {PREFIX "enabled", enabled},
    {PREFIX "subscriptions/count", subscriptions},
    {PREFIX "filters/count", filters},
    {PREFIX "messages/passed", passed},
    {PREFIX "messages/dropped", dropped},
    {PREFIX "messages/unknown", unknown},
    {PREFIX "refused/count", refused},
};
/* clang-format on */

void sys_topics_tick(struct plugin *plugin, time_t now_s) {
    struct sys_topics *sys = &plugin->sys_topics;
    time_t interval_s = (time_t)plugin->settings.sys_interval_s;
    if (interval_s == 0 || (sys->published && now_s - sys->published_at_s < interval_s)) {
        return;
    }
    for (size_t i = 0; i < SYS_TOPICS; i++) {
        uint64_t value = topics[i].value(plugin);
        if (sys->published && value == sys->values[i]) {
            continue;
        }
        char text[24];
        int bytes = snprintf(text, sizeof text, "%" PRIu64, value);
        if (mosquitto_broker_publish_copy(NULL, topics[i].topic, bytes, text, 0, true, NULL) == MOSQ_ERR_SUCCESS) {
            sys->values[i] = value;
        } else {
            sys->values[i] = ~value; /* out of memory: again next time */
        }
    }
    sys->published = true;
    sys->published_at_s = now_s;
}

/* A client identifier as one level of a topic: every byte but letters, digits, '-', '.', '_' and '~' as %HH; the first one
 * too of "count", which is the topic of a counter. */
static void escape_id(const char *id, char out[ID_BYTES]) {
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    bool is_counter = strcmp(id, "count") == 0;
    size_t used = 0;
    for (; *id != '\0' && used + 4 <= ID_BYTES; id++) {
        if (strchr(plain, *id) != NULL && !(is_counter && used == 0)) {
            out[used++] = *id;
        } else {
            used += (size_t)snprintf(out + used, ID_BYTES - used, "%%%02X", (unsigned char)*id);
        }
    }
    out[used] = '\0';
}

/* The subscription as JSON text, cut between characters. */
static json_t *cut(const char *subscription) {
    size_t bytes = strlen(subscription);
    if (bytes > SUBSCRIPTION_BYTES) {
        bytes = SUBSCRIPTION_BYTES;
        while (bytes > 0 && ((unsigned char)subscription[bytes] & 0xC0) == 0x80) {
            bytes--;
        }
    }
    return json_stringn(subscription, bytes);
}

void sys_topics_refused(const struct plugin *plugin, const char *client_id, const char *subscription,
                        const struct sf_error *error) {
    if (plugin->settings.sys_interval_s == 0) {
        return;
    }
    json_t *report =
        error->code == SF_OK /* a reason that is not in the language has no place in the text */
            ? json_pack("{so, ss}", "subscription", cut(subscription), "text", error->text)
            : json_pack("{so, ss, sI, ss}", "subscription", cut(subscription), "code", sf_status_name(error->code),
                        "offset", (json_int_t)error->offset, "text", error->text);
    struct json_text text = {0};
    if (json_text_add(&text, report, JSON_COMPACT)) {
        char topic[sizeof PREFIX "refused/" + ID_BYTES] = PREFIX "refused/";
        escape_id(client_id, topic + strlen(topic));
        (void)mosquitto_broker_publish_copy(NULL, topic, (int)text.used, text.bytes, 0, false, NULL);
    }
    free(text.bytes);
    json_decref(report);
}
