/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What every plugin of this folder needs: the broker's headers and the version function.
 */
#ifndef TEST_PLUGIN_H
#define TEST_PLUGIN_H

#include <mosquitto.h>
#include <mosquitto/broker.h>
#include <mosquitto/broker_plugin.h>
#include <mosquitto/libcommon_memory.h>
#include <mosquitto/libcommon_properties.h>
#include <mosquitto/mqtt_protocol.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT int mosquitto_plugin_version(int n, const int *versions);

/* Define the version function: interface 5 is the one of Mosquitto 2. */
#define TEST_PLUGIN_VERSION                                                                        \
    EXPORT int mosquitto_plugin_version(int n, const int *versions) {                              \
        for (int i = 0; i < n; i++) {                                                              \
            if (versions[i] == 5) {                                                                \
                return 5;                                                                          \
            }                                                                                      \
        }                                                                                          \
        return -1;                                                                                 \
    }

#endif
