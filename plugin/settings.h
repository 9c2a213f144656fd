/* SPDX-License-Identifier: BSD-3-Clause
 *
 * settings: the options of mosquitto.conf (plugin_opt_<name>), and the JSON file whose settings SIGHUP reads again. docs/operations.md and mosquitto.conf.example tell
 * operators what they mean; the table in settings.c is the only place that knows names, ranges and defaults.
 */
#ifndef PLUGIN_SETTINGS_H
#define PLUGIN_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "subfilter.h"

struct mosquitto_opt;

#define SETTINGS_ERROR_BYTES 512

/* What SIGHUP and the control API may change. */
struct live_settings {
    bool enabled;
    bool filter_retained;
    unsigned dialects; /* sum of enum sf_dialect */
    size_t max_expression_bytes;
    size_t max_filters_per_client; /* 0: no limit */
};

struct settings {
    struct live_settings live;
    bool strict_integers;
    bool control;
    unsigned sys_interval_s; /* 0: no $SYS messages */
    char *tag_key;           /* owned, like all texts here */
    char *state_file;        /* NULL: the default place; "none": no journal */
    char *config_file;       /* NULL: none */
};

/* The defaults changed by `options` (borrowed). false: *settings_out is empty and `error` says which option is wrong,
 * why, and what it takes. */
bool settings_read(struct settings *settings_out, const struct mosquitto_opt *options, int n_options,
                   char error[SETTINGS_ERROR_BYTES]) __attribute__((warn_unused_result));

/* How expressions are compiled under these settings; valid as long as they are. */
struct sf_options settings_compile_options(const struct settings *settings);

/* Change `live` by the JSON object in the file at `path` (borrowed). All or nothing: false: `live` is as it was, and
 * `error` names the file, the line, the key and what is wrong. */
bool settings_read_file(struct live_settings *live, const char *path, char error[SETTINGS_ERROR_BYTES])
    __attribute__((warn_unused_result));

/* Set "enabled" in the JSON file at `path`, leaving the rest of it as it is, and make that durable (the file is
 * replaced). false: the file is as it was, `error` says why. */
bool settings_write_enabled(const char *path, bool enabled, char error[SETTINGS_ERROR_BYTES])
    __attribute__((warn_unused_result));

/* Write what differs between two settings as "name old -> new, …", for the log. */
void settings_describe_change(const struct live_settings *old, const struct live_settings *new,
                              char text[SETTINGS_ERROR_BYTES]);

/* Free the texts. */
void settings_deinit(struct settings *settings);

#endif
