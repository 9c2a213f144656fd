/* SPDX-License-Identifier: BSD-3-Clause
 *
 * broker: the plugin interface of the broker. Functions that came with Mosquitto 2.1, or that not every build exports,
 * are weak here: on an older broker the module still loads far enough to say what is wrong (DESIGN fact F24).
 */
#ifndef PLUGIN_BROKER_H
#define PLUGIN_BROKER_H

#include <mosquitto.h>
#include <mosquitto/broker.h>
#include <mosquitto/broker_plugin.h>
#include <mosquitto/libcommon_memory.h>
#include <mosquitto/libcommon_properties.h>
#include <mosquitto/mqtt_protocol.h>

#define BROKER_WEAK __attribute__((weak))

/* new in 2.1, needed */
extern BROKER_WEAK int mosquitto_plugin_set_info(mosquitto_plugin_id_t *identifier, const char *plugin_name,
                                                 const char *plugin_version);
extern BROKER_WEAK struct mosquitto *mosquitto_client(const char *clientid);
extern BROKER_WEAK unsigned mosquitto_client_id_hashv(const struct mosquitto *client);
extern BROKER_WEAK int mosquitto_apply_on_all_clients(int (*functor)(const struct mosquitto *, void *), void *context);
extern BROKER_WEAK int mosquitto_subscription_add(const struct mosquitto_subscription *sub);
extern BROKER_WEAK int mosquitto_subscription_delete(const char *clientid, const char *topic_filter);
extern BROKER_WEAK const char *mosquitto_persistence_location(void);

/* new in 2.1, and marked as unstable there: done without where they are missing */
extern BROKER_WEAK int mosquitto_persist_client_add(struct mosquitto_client *client);
extern BROKER_WEAK int mosquitto_persist_client_delete(const char *clientid);

/* read a property without copying it: not exported by every build */
extern BROKER_WEAK const char *mosquitto_property_string_name(const mosquitto_property *property);
extern BROKER_WEAK uint16_t mosquitto_property_string_name_length(const mosquitto_property *property);
extern BROKER_WEAK const char *mosquitto_property_string_value(const mosquitto_property *property);
extern BROKER_WEAK uint16_t mosquitto_property_string_value_length(const mosquitto_property *property);

#endif
