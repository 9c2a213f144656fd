/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A client that uses the control API, for the tests of that API and for those that look at counters.
 */
#ifndef TEST_ADMIN_H
#define TEST_ADMIN_H

#include "harness.h"

#include <jansson.h>

#define CONTROL       "plugin_opt_control true\n"
#define CONTROL_TOPIC "$CONTROL/subscription-filter/v1"

/* Connect as `id` and subscribe to the answers. */
struct client *admin_open(struct broker *broker, const char *id);

/* Send a payload with this QoS, and return the one message that comes back, parsed: an object with a list "responses" and
 * nothing else. Ends the case when none comes, or another. New: to be given back by json_decref. */
json_t *admin_exchange(struct client *admin, const struct publish *request);

/* The same, given back when the case ends. */
json_t *admin_send(struct client *admin, const struct publish *request);

/* The answer to one command: {"command":…} as JSON text, with ' for ". */
json_t *admin_ask(struct client *admin, const char *command);

/* The "data" of the answer, which must be there. */
json_t *admin_data(struct client *admin, const char *command);

/* One number of getStats: its name, also one of those under "messages". */
long admin_stat(struct client *admin, const char *name);

#endif
