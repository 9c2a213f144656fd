/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The other floor of the benchmarks: a plugin that denies every delivery at once.
 */
#include <mosquitto.h>
#include <mosquitto/broker.h>
#include <mosquitto/broker_plugin.h>

MOSQUITTO_PLUGIN_DECLARE_VERSION(5);

static int on_acl_check(int event, void *event_data, void *user) {
    (void)event, (void)user;
    const struct mosquitto_evt_acl_check *check = event_data;
    return check->access == MOSQ_ACL_READ ? MOSQ_ERR_ACL_DENIED : MOSQ_ERR_PLUGIN_IGNORE;
}

int mosquitto_plugin_init(mosquitto_plugin_id_t *identifier, void **userdata,
                          struct mosquitto_opt *options, int option_count) {
    (void)userdata, (void)options, (void)option_count;
    return mosquitto_callback_register(identifier, MOSQ_EVT_ACL_CHECK, on_acl_check, NULL, NULL);
}
