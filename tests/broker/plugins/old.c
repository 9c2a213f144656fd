/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A plugin of the old interface, version 4, which exports mosquitto_auth_plugin_version only. It grants everything.
 */
#include "test_plugin.h"

EXPORT int mosquitto_auth_plugin_version(void) {
    return 4;
}

EXPORT int mosquitto_auth_plugin_init(void **user, struct mosquitto_opt *options, int n_options) {
    (void)user, (void)options, (void)n_options;
    return MOSQ_ERR_SUCCESS;
}

EXPORT int mosquitto_auth_plugin_cleanup(void *user, struct mosquitto_opt *options, int n_options) {
    (void)user, (void)options, (void)n_options;
    return MOSQ_ERR_SUCCESS;
}

EXPORT int mosquitto_auth_security_init(void *user, struct mosquitto_opt *options, int n_options,
                                        bool reload) {
    (void)user, (void)options, (void)n_options, (void)reload;
    return MOSQ_ERR_SUCCESS;
}

EXPORT int mosquitto_auth_security_cleanup(void *user, struct mosquitto_opt *options, int n_options,
                                           bool reload) {
    (void)user, (void)options, (void)n_options, (void)reload;
    return MOSQ_ERR_SUCCESS;
}

EXPORT int mosquitto_auth_acl_check(void *user, int access, struct mosquitto *client,
                                    const struct mosquitto_acl_msg *message) {
    (void)user, (void)access, (void)client, (void)message;
    return MOSQ_ERR_SUCCESS;
}

EXPORT int mosquitto_auth_unpwd_check(void *user, struct mosquitto *client, const char *username,
                                      const char *password) {
    (void)user, (void)client, (void)username, (void)password;
    return MOSQ_ERR_SUCCESS;
}
