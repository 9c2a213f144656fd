/* SPDX-License-Identifier: BSD-3-Clause
 *
 * load_order: whether another plugin of the broker is loaded already. Ours has to be the first: a plugin before it would
 * authorize subscriptions with their expressions still in them (DESIGN decision D3).
 */
#ifndef PLUGIN_LOAD_ORDER_H
#define PLUGIN_LOAD_ORDER_H

#include "log.h"

#include <stdbool.h>

/* Whether some loaded object other than this one and the broker exports a plugin's version function; its path, fit for a
 * log line, is written to `path`. */
bool load_order_other_plugin(char path[LOG_TEXT_BYTES]);

#endif
