/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Does what it is told by messages on $CONTROL/test/v1, which reach nobody else:
 *
 *     kick <client> <will> [<topic filter>]    disconnect the client, with its will if <will> is 1; meanwhile nobody may be
 *                                              subscribed to the topic filter
 *     publish <client> <qos> <retain> <topic> <payload>    with the properties of the command; "*": to all subscribers
 */
#include "test_plugin.h"

#include <stdio.h>
#include <string.h>

TEST_PLUGIN_VERSION

#define TOPIC "$CONTROL/test/v1"

static mosquitto_plugin_id_t *own_id;
static char denied[256];

static int on_acl_check(int event, void *event_data, void *user) {
    (void)event, (void)user;
    const struct mosquitto_evt_acl_check *check = event_data;
    return check->access == MOSQ_ACL_SUBSCRIBE && strcmp(check->topic, denied) == 0
               ? MOSQ_ERR_ACL_DENIED
               : MOSQ_ERR_PLUGIN_IGNORE;
}

static void publish(const char *text, const mosquitto_property *properties) {
    char client[64];
    char topic[64];
    char payload[64];
    int qos = 0;
    int retain = 0;
    mosquitto_property *copy = NULL;
    if (sscanf(text, "publish %63s %d %d %63s %63[^\n]", client, &qos, &retain, topic, payload) ==
            5 &&
        mosquitto_property_copy_all(&copy, properties) == MOSQ_ERR_SUCCESS) {
        (void)mosquitto_broker_publish_copy(strcmp(client, "*") == 0 ? NULL : client, topic,
                                            (int)strlen(payload), payload, qos, retain != 0, copy);
    }
}

static int on_control(int event, void *event_data, void *user) {
    (void)event, (void)user;
    const struct mosquitto_evt_control *control = event_data;
    char text[256];
    char client[64];
    int will = 0;
    snprintf(text, sizeof text, "%.*s", (int)control->payloadlen, (const char *)control->payload);
    if (sscanf(text, "kick %63s %d %255s", client, &will, denied) >= 2) {
        (void)mosquitto_kick_client_by_clientid(client, will != 0);
        denied[0] = '\0';
    } else {
        publish(text, control->properties);
    }
    return MOSQ_ERR_SUCCESS;
}

EXPORT int mosquitto_plugin_init(mosquitto_plugin_id_t *id, void **user,
                                 struct mosquitto_opt *options, int n_options) {
    (void)user, (void)options, (void)n_options;
    own_id = id;
    return mosquitto_callback_register(id, MOSQ_EVT_ACL_CHECK, on_acl_check, NULL, NULL) |
           mosquitto_callback_register(id, MOSQ_EVT_CONTROL, on_control, TOPIC, NULL);
}

EXPORT int mosquitto_plugin_cleanup(void *user, struct mosquitto_opt *options, int n_options) {
    (void)user, (void)options, (void)n_options;
    return mosquitto_callback_unregister(own_id, MOSQ_EVT_CONTROL, on_control, TOPIC);
}
