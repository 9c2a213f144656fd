/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Does to clients what an access control plugin does. It is told by messages:
 *
 *     deny               the payload is a topic filter that may not be subscribed to from now on ("": all may)
 *     kick               the payload is the identifier of a client to be disconnected, which may be offline
 *     kick-at-out        the same, but in the next MESSAGE_OUT: while the broker hands a message to its subscribers
 *     kick-at-subscribe  the same, but in the next ACL_CHECK(SUBSCRIBE): while an entry is under way
 *     add                "<client> <topic filter>": subscribe the client behind everybody's back
 */
#include "test_plugin.h"

#include <stdio.h>
#include <string.h>

TEST_PLUGIN_VERSION

static char denied[256];
static char victim_at_out[256];
static char victim_at_subscribe[256];

static void kick(char victim[256]) {
    if (victim[0] != '\0') {
        char id[256];
        strcpy(id, victim);
        victim[0] = '\0';
        mosquitto_kick_client_by_clientid(id, true);
    }
}

static int on_acl_check(int event, void *event_data, void *user) {
    (void)event, (void)user;
    const struct mosquitto_evt_acl_check *check = event_data;
    if (check->access == MOSQ_ACL_SUBSCRIBE) {
        kick(victim_at_subscribe);
    }
    return check->access == MOSQ_ACL_SUBSCRIBE && strcmp(check->topic, denied) == 0
               ? MOSQ_ERR_ACL_DENIED
               : MOSQ_ERR_PLUGIN_IGNORE;
}

static void add(char *client, char *filter) {
    const struct mosquitto_subscription add = {
        .clientid = client, .topic_filter = filter, .options = 1};
    (void)mosquitto_subscription_add(&add);
}

static int on_message_in(int event, void *event_data, void *user) {
    (void)event, (void)user;
    const struct mosquitto_evt_message *message = event_data;
    char text[256];
    snprintf(text, sizeof text, "%.*s", (int)message->payloadlen,
             message->payload == NULL ? "" : (const char *)message->payload);
    if (strcmp(message->topic, "deny") == 0) {
        strcpy(denied, text);
    } else if (strcmp(message->topic, "kick") == 0) {
        mosquitto_kick_client_by_clientid(text, true);
    } else if (strcmp(message->topic, "kick-at-out") == 0) {
        strcpy(victim_at_out, text);
    } else if (strcmp(message->topic, "kick-at-subscribe") == 0) {
        strcpy(victim_at_subscribe, text);
    } else if (strcmp(message->topic, "add") == 0) {
        char *blank = strchr(text, ' ');
        if (blank != NULL) {
            *blank = '\0';
            add(text, blank + 1);
        }
    }
    return MOSQ_ERR_SUCCESS;
}

static int on_message_out(int event, void *event_data, void *user) {
    (void)event, (void)event_data, (void)user;
    kick(victim_at_out);
    return MOSQ_ERR_SUCCESS;
}

EXPORT int mosquitto_plugin_init(mosquitto_plugin_id_t *id, void **user,
                                 struct mosquitto_opt *options, int n_options) {
    (void)user, (void)options, (void)n_options;
    return mosquitto_callback_register(id, MOSQ_EVT_ACL_CHECK, on_acl_check, NULL, NULL) |
           mosquitto_callback_register(id, MOSQ_EVT_MESSAGE_IN, on_message_in, NULL, NULL) |
           mosquitto_callback_register(id, MOSQ_EVT_MESSAGE_OUT, on_message_out, NULL, NULL);
}
