/* SPDX-License-Identifier: BSD-3-Clause
 *
 * settings: the options of mosquitto.conf (plugin_opt_<name>). docs/operations.md and mosquitto.conf.example tell
 * operators what they mean; the table in settings.c is the only place that knows names, ranges and defaults.
 */
#ifndef PLUGIN_SETTINGS_H
#define PLUGIN_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "subfilter.h"

struct mosquitto_opt;

#define SETTINGS_ERROR_BYTES 512

struct settings {
    bool enabled;
    unsigned dialects; /* sum of enum sf_dialect */
    bool filter_retained;
    char *tag_key; /* owned, like all texts here */
    bool strict_integers;
    size_t max_expression_bytes;
    size_t max_filters_per_client; /* 0: no limit */
    char *state_file;              /* NULL: the default place; "none": no journal */
    char *config_file;             /* NULL: none */
    bool control;
    unsigned sys_interval_s; /* 0: no $SYS messages */
};

/* The defaults changed by `options` (borrowed). false: *settings_out is empty and `error` says which option is wrong,
 * why, and what it takes. */
bool settings_read(struct settings *settings_out, const struct mosquitto_opt *options, int n_options,
                   char error[SETTINGS_ERROR_BYTES]) __attribute__((warn_unused_result));

/* How expressions are compiled under these settings; valid as long as they are. */
struct sf_options settings_compile_options(const struct settings *settings);

/* Free the texts. */
void settings_deinit(struct settings *settings);

#endif
