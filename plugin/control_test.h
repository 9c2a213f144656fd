/* SPDX-License-Identifier: BSD-3-Clause
 *
 * control_test: the command testFilter: what would a filter say to these properties, and why.
 */
#ifndef PLUGIN_CONTROL_TEST_H
#define PLUGIN_CONTROL_TEST_H

#include "subfilter.h"

#include <jansson.h>

/* The "data" of the answer to `command` (borrowed), new; its filter is compiled under `options`. A filter that is not
 * valid is an answer too: with "valid": false, its code, offset, length and text.
 * NULL: *error says what is wrong with the command, or stays NULL when memory is short. */
json_t *control_test_filter(const struct sf_options *options, json_t *command, const char **error);

#endif
