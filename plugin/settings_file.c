/* SPDX-License-Identifier: BSD-3-Clause
 *
 * settings_file: the JSON file of settings that SIGHUP reads again. A value is turned into the text that mosquitto.conf
 * would have, so that both go through the same row of the table.
 */
#include "settings_internal.h"

#include "log.h"
#include "write_file.h"

#include <jansson.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VALUE_BYTES = 64, MAX_FILE_BYTES = 1 << 20 };

/* Read a whole file as text. NULL: `error` says why. */
static char *read_whole_file(const char *path, char error[SETTINGS_ERROR_BYTES]) {
    FILE *file = fopen(path, "re");
    char *text = malloc(MAX_FILE_BYTES + 1);
    size_t bytes = file == NULL || text == NULL ? 0 : fread(text, 1, MAX_FILE_BYTES + 1, file);
    const char *reason = NULL;
    if (file == NULL) {
        reason = strerror(errno);
    } else if (text == NULL) {
        reason = "out of memory";
    } else if (ferror(file)) {
        reason = "it cannot be read";
    } else if (bytes > MAX_FILE_BYTES) {
        reason = "it is larger than a file of settings can be";
    }
    if (file != NULL) {
        fclose(file);
    }
    if (reason != NULL) {
        snprintf(error, SETTINGS_ERROR_BYTES, "config_file %s: %s", path, reason);
        free(text);
        return NULL;
    }
    text[bytes] = '\0';
    return text;
}

/* The line on which the key of a member of the outermost object stands. `text` is valid JSON. */
static int line_of_key(const char *text, const char *key) {
    size_t key_bytes = strlen(key);
    int line = 1;
    int depth = 0;
    for (const char *p = text; *p != '\0'; p++) {
        if (*p == '\n') {
            line++;
        } else if (*p == '{' || *p == '[') {
            depth++;
        } else if (*p == '}' || *p == ']') {
            depth--;
        } else if (*p == '"') {
            const char *start = p + 1;
            for (p++; *p != '"' && *p != '\0'; p++) {
                p += *p == '\\' && p[1] != '\0';
            }
            const char *after = p + (*p == '"');
            after += strspn(after, " \t\r\n");
            if (depth == 1 && *after == ':' && (size_t)(p - start) == key_bytes && memcmp(start, key, key_bytes) == 0) {
                return line;
            }
        }
    }
    return 1; /* a key with escapes in it */
}

static bool to_list(const json_t *value, char out[VALUE_BYTES]) {
    size_t used = 0;
    size_t index;
    json_t *item;
    out[0] = '\0';
    json_array_foreach(value, index, item) {
        const char *text = json_string_value(item);
        if (text == NULL || used + strlen(text) + 2 > VALUE_BYTES) {
            return false;
        }
        used += (size_t)snprintf(out + used, VALUE_BYTES - used, "%s%s", index == 0 ? "" : ",", text);
    }
    return true;
}

/* The value as mosquitto.conf would write it. false: the wrong kind of JSON value. */
static bool to_text(const struct option *option, const json_t *value, char out[VALUE_BYTES]) {
    switch (option->kind) {
    case OPTION_LIVE_BOOL:
        snprintf(out, VALUE_BYTES, "%s", json_is_true(value) ? "true" : "false");
        return json_is_boolean(value);
    case OPTION_LIVE_NUMBER:
        snprintf(out, VALUE_BYTES, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        return json_is_integer(value);
    case OPTION_LIVE_TEXT:
        if (json_is_array(value)) {
            return to_list(value, out);
        }
        return json_is_string(value) && snprintf(out, VALUE_BYTES, "%s", json_string_value(value)) < VALUE_BYTES;
    case OPTION_FIXED:
        break;
    }
    return false;
}

static bool read_member(struct settings *settings, const char *path, const char *text, const char *key,
                        const json_t *value, char error[SETTINGS_ERROR_BYTES]) {
    const struct option *option = settings_find(key);
    char shown[LOG_TEXT_BYTES];
    char as_text[VALUE_BYTES];
    log_text(shown, key, strlen(key));
    if (option == NULL || option->kind == OPTION_FIXED) {
        snprintf(error, SETTINGS_ERROR_BYTES, "config_file %s, line %d: \"%s\" %s", path, line_of_key(text, key), shown,
                 option == NULL ? "is no setting"
                                : "cannot be changed while the broker runs: it belongs in mosquitto.conf");
        return false;
    }
    if (!to_text(option, value, as_text) || !option->read(settings, as_text)) {
        snprintf(error, SETTINGS_ERROR_BYTES, "config_file %s, line %d: \"%s\" takes %s%s", path,
                 line_of_key(text, key), shown, option->takes,
                 option->kind == OPTION_LIVE_TEXT ? ", as a JSON string" : ", not quoted");
        return false;
    }
    return true;
}

bool settings_read_file(struct live_settings *live, const char *path, char error[SETTINGS_ERROR_BYTES]) {
    char *text = read_whole_file(path, error);
    if (text == NULL) {
        return false;
    }
    json_error_t where;
    json_t *object = json_loads(text, JSON_REJECT_DUPLICATES, &where);
    bool done = json_is_object(object);
    if (object == NULL) {
        snprintf(error, SETTINGS_ERROR_BYTES, "config_file %s, line %d: %s", path, where.line, where.text);
    } else if (!done) {
        snprintf(error, SETTINGS_ERROR_BYTES, "config_file %s, line 1: it is not a JSON object", path);
    }
    struct settings changed = {.live = *live};
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value) {
        done = done && read_member(&changed, path, text, key, value, error);
    }
    if (done) {
        *live = changed.live;
    }
    json_decref(object);
    free(text);
    return done;
}

bool settings_write_enabled(const char *path, bool enabled, char error[SETTINGS_ERROR_BYTES]) {
    char *text = read_whole_file(path, error);
    json_t *object = text == NULL ? NULL : json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    bool read = text != NULL;
    free(text);
    if (!read) {
        return false;
    }
    char *changed = NULL;
    if (json_is_object(object) && json_object_set_new(object, "enabled", json_boolean(enabled)) == 0) {
        changed = json_dumps(object, JSON_INDENT(4) | JSON_PRESERVE_ORDER);
    }
    json_decref(object);
    bool done = changed != NULL && write_file(path, changed, strlen(changed));
    if (!done) {
        snprintf(error, SETTINGS_ERROR_BYTES, "config_file %s %s", path,
                 changed == NULL ? "is not a JSON object" : "cannot be written");
    }
    free(changed);
    return done;
}

static const char *name_bool(bool value) {
    return value ? "true" : "false";
}

/* "kv,sql,tag" */
static void write_dialects(unsigned dialects, char out[VALUE_BYTES]) {
    size_t used = 0;
    out[0] = '\0';
    for (unsigned d = 1; d <= dialects; d *= 2) {
        if ((dialects & d) != 0 && sf_dialect_name((enum sf_dialect)d) != NULL) {
            used += (size_t)snprintf(out + used, VALUE_BYTES - used, "%s%s", used == 0 ? "" : ",",
                                     sf_dialect_name((enum sf_dialect)d));
        }
    }
}

static void describe(char text[SETTINGS_ERROR_BYTES], const char *name, const char *old, const char *new) {
    if (strcmp(old, new) != 0) {
        size_t used = strlen(text);
        snprintf(text + used, SETTINGS_ERROR_BYTES - used, "%s%s %s -> %s", used == 0 ? "" : ", ", name, old, new);
    }
}

void settings_describe_change(const struct live_settings *old, const struct live_settings *new,
                              char text[SETTINGS_ERROR_BYTES]) {
    char before[VALUE_BYTES], after[VALUE_BYTES];
    text[0] = '\0';
    describe(text, "enabled", name_bool(old->enabled), name_bool(new->enabled));
    write_dialects(old->dialects, before);
    write_dialects(new->dialects, after);
    describe(text, "dialects", before, after);
    describe(text, "retained", old->filter_retained ? "filter" : "deliver", new->filter_retained ? "filter" : "deliver");
    snprintf(before, sizeof before, "%zu", old->max_expression_bytes);
    snprintf(after, sizeof after, "%zu", new->max_expression_bytes);
    describe(text, "max_expression_bytes", before, after);
    snprintf(before, sizeof before, "%zu", old->max_filters_per_client);
    snprintf(after, sizeof after, "%zu", new->max_filters_per_client);
    describe(text, "max_filters_per_client", before, after);
}
