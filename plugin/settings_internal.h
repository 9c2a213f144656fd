/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What settings.c and settings_file.c share: the table of options.
 */
#ifndef PLUGIN_SETTINGS_INTERNAL_H
#define PLUGIN_SETTINGS_INTERNAL_H

#include "settings.h"

/* Whether an option may stand in config_file, and as what kind of JSON value. */
enum option_kind {
    OPTION_FIXED, /* in mosquitto.conf only */
    OPTION_LIVE_BOOL,
    OPTION_LIVE_NUMBER,
    OPTION_LIVE_TEXT,
    OPTION_LIVE_LIST, /* of texts, or one text with commas */
};

struct option {
    const char *name;
    const char *takes;
    bool (*read)(struct settings *settings, const char *text);
    enum option_kind kind;
};

extern const struct option settings_options[];

/* The option of this name, or NULL. */
const struct option *settings_find(const char *name);

#endif
