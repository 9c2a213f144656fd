/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rewrites topic filters: "move/…" becomes "moved/…". Where it does so is an option:
 *
 *     plugin_opt_where event   in MOSQ_EVT_SUBSCRIBE and MOSQ_EVT_UNSUBSCRIBE, by a new string
 *     plugin_opt_where acl     in ACL_CHECK, in the broker's own buffer ("move" becomes "mOVE")
 */
#include "test_plugin.h"

#include <stdio.h>
#include <string.h>

TEST_PLUGIN_VERSION

static char *moved(const char *filter) {
    static const char from[] = "move/", to[] = "moved/";
    if (strncmp(filter, from, sizeof from - 1) != 0) {
        return NULL;
    }
    size_t bytes = strlen(filter) + sizeof to - sizeof from + 1;
    char *text = mosquitto_malloc(bytes);
    if (text != NULL) {
        snprintf(text, bytes, "%s%s", to, filter + sizeof from - 1);
    }
    return text;
}

static int on_subscribe(int event, void *event_data, void *user) {
    (void)event, (void)user;
    struct mosquitto_evt_subscribe *subscribe = event_data;
    char *text = moved(subscribe->data.topic_filter);
    if (text != NULL) {
        subscribe->data.topic_filter = text; /* the broker frees what was there */
    }
    return MOSQ_ERR_SUCCESS;
}

static int on_unsubscribe(int event, void *event_data, void *user) {
    (void)event, (void)user;
    struct mosquitto_evt_unsubscribe *unsubscribe = event_data;
    char *text = moved(unsubscribe->data.topic_filter);
    if (text != NULL) {
        unsubscribe->data.topic_filter = text;
    }
    return MOSQ_ERR_SUCCESS;
}

static int on_acl_check(int event, void *event_data, void *user) {
    (void)event, (void)user;
    const struct mosquitto_evt_acl_check *check = event_data;
    if (check->access == MOSQ_ACL_SUBSCRIBE && strncmp(check->topic, "move/", 5) == 0) {
        memcpy((char *)(uintptr_t)check->topic, "mOVE", 4);
    }
    return MOSQ_ERR_PLUGIN_IGNORE;
}

EXPORT int mosquitto_plugin_init(mosquitto_plugin_id_t *id, void **user,
                                 struct mosquitto_opt *options, int n_options) {
    (void)user;
    if (n_options == 1 && strcmp(options[0].value, "acl") == 0) {
        return mosquitto_callback_register(id, MOSQ_EVT_ACL_CHECK, on_acl_check, NULL, NULL);
    }
    return mosquitto_callback_register(id, MOSQ_EVT_SUBSCRIBE, on_subscribe, NULL, NULL) |
           mosquitto_callback_register(id, MOSQ_EVT_UNSUBSCRIBE, on_unsubscribe, NULL, NULL);
}
