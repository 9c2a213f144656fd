/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Publishes by itself, to "t", one message with the User Property room=a and one with room=b:
 *
 *     a message on "tick"    makes it do so at the next TICK, the payload says how often
 *     a message on "retain"  does it at once, with the retain flag
 *     every MESSAGE_OUT of a message on "out" does it at once
 */
#include "test_plugin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TEST_PLUGIN_VERSION

static int wanted;

static void publish(const char *room, bool retain) {
    mosquitto_property *properties = NULL;
    char payload[32];
    int bytes = snprintf(payload, sizeof payload, "plugin %s", room);
    if (mosquitto_property_add_string_pair(&properties, MQTT_PROP_USER_PROPERTY, "room", room) ==
        MOSQ_ERR_SUCCESS) {
        mosquitto_broker_publish_copy(NULL, "t", bytes, payload, 1, retain, properties);
    }
}

static void publish_both(bool retain) {
    publish("a", retain);
    publish("b", retain);
}

static int on_message_in(int event, void *event_data, void *user) {
    (void)event, (void)user;
    const struct mosquitto_evt_message *message = event_data;
    if (strcmp(message->topic, "tick") == 0 && message->payload != NULL) {
        char text[16];
        snprintf(text, sizeof text, "%.*s", (int)message->payloadlen, (char *)message->payload);
        wanted += atoi(text);
    } else if (strcmp(message->topic, "retain") == 0) {
        publish_both(true);
    }
    return MOSQ_ERR_SUCCESS;
}

static int on_message_out(int event, void *event_data, void *user) {
    (void)event, (void)user;
    const struct mosquitto_evt_message *message = event_data;
    if (strcmp(message->topic, "out") == 0) {
        publish_both(false);
    }
    return MOSQ_ERR_SUCCESS;
}

static int on_tick(int event, void *event_data, void *user) {
    (void)event, (void)event_data, (void)user;
    for (; wanted > 0; wanted--) {
        publish_both(false);
    }
    return MOSQ_ERR_SUCCESS;
}

EXPORT int mosquitto_plugin_init(mosquitto_plugin_id_t *id, void **user,
                                 struct mosquitto_opt *options, int n_options) {
    (void)user, (void)options, (void)n_options;
    return mosquitto_callback_register(id, MOSQ_EVT_MESSAGE_IN, on_message_in, NULL, NULL) |
           mosquitto_callback_register(id, MOSQ_EVT_MESSAGE_OUT, on_message_out, NULL, NULL) |
           mosquitto_callback_register(id, MOSQ_EVT_TICK, on_tick, NULL, NULL);
}
