/* SPDX-License-Identifier: BSD-3-Clause
 *
 * settings: one row for each option: its name, what it takes, and the function that reads it.
 */
#include "settings_internal.h"

#include "broker.h"
#include "log.h"
#include "subfilter.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool parse_bool(const char *text, bool *out) {
    if (strcasecmp(text, "true") == 0 || strcmp(text, "1") == 0) {
        *out = true;
        return true;
    }
    if (strcasecmp(text, "false") == 0 || strcmp(text, "0") == 0) {
        *out = false;
        return true;
    }
    return false;
}

/* A decimal number without sign, blanks or anything behind it. */
static bool parse_number(const char *text, size_t least, size_t most, size_t *out) {
    if (text[0] == '\0' || strspn(text, "0123456789") != strlen(text)) {
        return false;
    }
    errno = 0;
    unsigned long long value = strtoull(text, NULL, 10);
    if (errno != 0 || value < least || value > most) {
        return false;
    }
    *out = (size_t)value;
    return true;
}

static bool parse_text(const char *text, char **out) {
    if (text[0] == '\0') {
        return false;
    }
    free(*out);
    *out = strdup(text); /* NULL: errno is ENOMEM */
    return *out != NULL;
}

static bool parse_dialects(const char *text, unsigned *dialects_out) {
    static const enum sf_dialect all[] = {SF_DIALECT_KV, SF_DIALECT_SQL, SF_DIALECT_TAG};
    unsigned dialects = 0;
    for (const char *p = text;;) {
        p += strspn(p, " \t");
        size_t bytes = strcspn(p, ", \t");
        unsigned found = 0;
        for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
            const char *name = sf_dialect_name(all[i]);
            if (strlen(name) == bytes && strncasecmp(name, p, bytes) == 0) {
                found = all[i];
            }
        }
        if (found == 0) {
            return false;
        }
        dialects |= found;
        p += bytes;
        p += strspn(p, " \t");
        if (*p == '\0') {
            *dialects_out = dialects;
            return true;
        }
        if (*p++ != ',') {
            return false;
        }
    }
}

static bool read_enabled(struct settings *settings, const char *text) {
    return parse_bool(text, &settings->live.enabled);
}

static bool read_dialects(struct settings *settings, const char *text) {
    return parse_dialects(text, &settings->live.dialects);
}

static bool read_retained(struct settings *settings, const char *text) {
    settings->live.filter_retained = strcmp(text, "filter") == 0;
    return settings->live.filter_retained || strcmp(text, "deliver") == 0;
}

static bool read_tag_key(struct settings *settings, const char *text) {
    return parse_text(text, &settings->tag_key);
}

static bool read_strict_integers(struct settings *settings, const char *text) {
    return parse_bool(text, &settings->strict_integers);
}

static bool read_max_expression_bytes(struct settings *settings, const char *text) {
    return parse_number(text, 1, 65535, &settings->live.max_expression_bytes);
}

static bool read_max_filters_per_client(struct settings *settings, const char *text) {
    return parse_number(text, 0, 1000000, &settings->live.max_filters_per_client);
}

static bool read_state_file(struct settings *settings, const char *text) {
    return parse_text(text, &settings->state_file);
}

static bool read_config_file(struct settings *settings, const char *text) {
    return parse_text(text, &settings->config_file);
}

static bool read_control(struct settings *settings, const char *text) {
    return parse_bool(text, &settings->control);
}

static bool read_sys_interval(struct settings *settings, const char *text) {
    size_t seconds = 0;
    if (!parse_number(text, 0, 86400, &seconds)) {
        return false;
    }
    settings->sys_interval_s = (unsigned)seconds;
    return true;
}

const struct option settings_options[] = {
    {"enabled", "true or false", read_enabled, OPTION_LIVE_BOOL},
    {"dialects", "a list of kv, sql and tag, separated by commas", read_dialects, OPTION_LIVE_LIST},
    {"retained", "deliver or filter", read_retained, OPTION_LIVE_TEXT},
    {"tag_key", "the name of a User Property", read_tag_key, OPTION_FIXED},
    {"strict_integers", "true or false", read_strict_integers, OPTION_FIXED},
    {"max_expression_bytes", "a number from 1 to 65535", read_max_expression_bytes, OPTION_LIVE_NUMBER},
    {"max_filters_per_client", "a number from 0 (no limit) to 1000000", read_max_filters_per_client,
     OPTION_LIVE_NUMBER},
    {"state_file", "the path of a file, or none", read_state_file, OPTION_FIXED},
    {"config_file", "the path of a file", read_config_file, OPTION_FIXED},
    {"control", "true or false", read_control, OPTION_FIXED},
    {"sys_interval", "a number of seconds from 0 (none) to 86400", read_sys_interval, OPTION_FIXED},
};
enum { N_OPTIONS = sizeof settings_options / sizeof settings_options[0] };

const struct option *settings_find(const char *name) {
    for (size_t i = 0; i < N_OPTIONS; i++) {
        if (strcmp(settings_options[i].name, name) == 0) {
            return &settings_options[i];
        }
    }
    return NULL;
}

static void write_unknown(const char *name, char error[SETTINGS_ERROR_BYTES]) {
    char shown[LOG_TEXT_BYTES];
    int used = snprintf(error, SETTINGS_ERROR_BYTES, "unknown option plugin_opt_%s; the options are",
                        log_text(shown, name, strlen(name)));
    for (size_t i = 0; i < N_OPTIONS && used > 0 && used < SETTINGS_ERROR_BYTES; i++) {
        used += snprintf(error + used, SETTINGS_ERROR_BYTES - (size_t)used, "%s %s", i == 0 ? "" : ",",
                         settings_options[i].name);
    }
}

static bool read_options(struct settings *settings, const struct mosquitto_opt *options, int n_options,
                         char error[SETTINGS_ERROR_BYTES]) {
    bool seen[N_OPTIONS] = {false};
    for (int i = 0; i < n_options; i++) {
        const char *value = options[i].value == NULL ? "" : options[i].value;
        const struct option *option = settings_find(options[i].key);
        if (option == NULL) {
            write_unknown(options[i].key, error);
            return false;
        }
        if (seen[option - settings_options]) {
            snprintf(error, SETTINGS_ERROR_BYTES, "option plugin_opt_%s is given twice", option->name);
            return false;
        }
        seen[option - settings_options] = true;
        errno = 0;
        if (!option->read(settings, value)) {
            if (errno == ENOMEM) {
                snprintf(error, SETTINGS_ERROR_BYTES, "out of memory");
                return false;
            }
            char shown[LOG_TEXT_BYTES];
            snprintf(error, SETTINGS_ERROR_BYTES, "option plugin_opt_%s is '%s', but takes %s", option->name,
                     log_text(shown, value, strlen(value)), option->takes);
            return false;
        }
    }
    return true;
}

bool settings_read(struct settings *settings_out, const struct mosquitto_opt *options, int n_options,
                   char error[SETTINGS_ERROR_BYTES]) {
    const struct sf_options defaults = SF_OPTIONS_INIT;
    struct settings settings = {
        .live.enabled = true,
        .live.dialects = defaults.dialects,
        .live.max_expression_bytes = defaults.max_expression_bytes,
        .live.max_filters_per_client = 1000,
        .tag_key = strdup(defaults.tag_key),
        .sys_interval_s = 10,
    };
    *settings_out = (struct settings){0};
    if (settings.tag_key == NULL) {
        snprintf(error, SETTINGS_ERROR_BYTES, "out of memory");
        return false;
    }
    if (!read_options(&settings, options, n_options, error)) {
        settings_deinit(&settings);
        return false;
    }
    *settings_out = settings;
    return true;
}

struct sf_options settings_compile_options(const struct settings *settings) {
    return (struct sf_options){
        .dialects = settings->live.dialects,
        .max_expression_bytes = settings->live.max_expression_bytes,
        .strict_integers = settings->strict_integers,
        .tag_key = settings->tag_key,
    };
}

void settings_deinit(struct settings *settings) {
    free(settings->tag_key);
    free(settings->state_file);
    free(settings->config_file);
    *settings = (struct settings){0};
}
