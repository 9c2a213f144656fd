/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rewrites messages as they come in: the payload "room=<value>" becomes the User Property "room", in place of all
 * properties that were there.
 */
#include "test_plugin.h"

#include <string.h>

TEST_PLUGIN_VERSION

static int on_message_in(int event, void *event_data, void *user) {
    (void)event, (void)user;
    static const char name[] = "room=";
    struct mosquitto_evt_message *message = event_data;
    char value[64];
    size_t bytes = message->payloadlen;
    if (bytes < sizeof name - 1 || bytes >= sizeof value ||
        memcmp(message->payload, name, sizeof name - 1) != 0) {
        return MOSQ_ERR_SUCCESS;
    }
    memcpy(value, (const char *)message->payload + sizeof name - 1, bytes - (sizeof name - 1));
    value[bytes - (sizeof name - 1)] = '\0';
    mosquitto_property *properties = NULL;
    if (mosquitto_property_add_string_pair(&properties, MQTT_PROP_USER_PROPERTY, "room", value) ==
        MOSQ_ERR_SUCCESS) {
        message->properties = properties; /* the broker frees what was there */
    }
    return MOSQ_ERR_SUCCESS;
}

EXPORT int mosquitto_plugin_init(mosquitto_plugin_id_t *id, void **user,
                                 struct mosquitto_opt *options, int n_options) {
    (void)user, (void)options, (void)n_options;
    return mosquitto_callback_register(id, MOSQ_EVT_MESSAGE_IN, on_message_in, NULL, NULL);
}
