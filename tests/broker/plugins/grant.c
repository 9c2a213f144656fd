/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Grants every SUBSCRIBE and UNSUBSCRIBE by itself: MOSQ_ERR_SUCCESS from ACL_CHECK ends the chain, so plugins behind it
 * are not asked.
 */
#include "test_plugin.h"

TEST_PLUGIN_VERSION

static int on_acl_check(int event, void *event_data, void *user) {
    (void)event, (void)user;
    const struct mosquitto_evt_acl_check *check = event_data;
    return check->access == MOSQ_ACL_SUBSCRIBE || check->access == MOSQ_ACL_UNSUBSCRIBE
               ? MOSQ_ERR_SUCCESS
               : MOSQ_ERR_PLUGIN_IGNORE;
}

EXPORT int mosquitto_plugin_init(mosquitto_plugin_id_t *id, void **user,
                                 struct mosquitto_opt *options, int n_options) {
    (void)user, (void)options, (void)n_options;
    return mosquitto_callback_register(id, MOSQ_EVT_ACL_CHECK, on_acl_check, NULL, NULL);
}
