/* SPDX-License-Identifier: BSD-3-Clause
 *
 * control: the commands on $CONTROL/subscription-filter/v1, in the form of the broker's own control API. docs/control.md
 * describes them for operators. Access is the broker's access control on that topic; every command is logged with the
 * client that sent it.
 */
#ifndef PLUGIN_CONTROL_H
#define PLUGIN_CONTROL_H

#define CONTROL_TOPIC "$CONTROL/subscription-filter/v1"

struct plugin;
struct mosquitto_evt_control;

/* Read the commands of one message, carry them out in order, and publish the answers on CONTROL_TOPIC/response. Whatever
 * the message holds, the outcome is an answer. */
void control_handle(struct plugin *plugin, const struct mosquitto_evt_control *event);

#endif
