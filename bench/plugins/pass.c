/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The floor of the benchmarks: a plugin whose ACL callback does nothing.
 */
#include <mosquitto.h>
#include <mosquitto/broker.h>
#include <mosquitto/broker_plugin.h>

MOSQUITTO_PLUGIN_DECLARE_VERSION(5);

static int on_acl_check(int event, void *event_data, void *user) {
    (void)event, (void)event_data, (void)user;
    return MOSQ_ERR_PLUGIN_IGNORE;
}

int mosquitto_plugin_init(mosquitto_plugin_id_t *identifier, void **userdata,
                          struct mosquitto_opt *options, int option_count) {
    (void)userdata, (void)options, (void)option_count;
    return mosquitto_callback_register(identifier, MOSQ_EVT_ACL_CHECK, on_acl_check, NULL, NULL);
}
