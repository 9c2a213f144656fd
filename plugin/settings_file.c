/* SPDX-License-Identifier: BSD-3-Clause
 *
 * settings_file: the JSON file of settings that SIGHUP reads again. A value is turned into the text that mosquitto.conf
 * would have, so that both go through the same row of the table.
 */
#include "settings_internal.h"

#include "json_text.h"
#include "log.h"
#include "write_file.h"

#include <jansson.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { VALUE_BYTES = 64, MAX_FILE_BYTES = 1 << 20 };

/* A file of settings as text, with a NUL after it. */
struct file_text {
    char *text; /* new */
    size_t bytes;
};

/* false: `error` says why. */
static bool read_whole_file(const char *path, struct file_text *file_out, char error[SETTINGS_ERROR_BYTES]) {
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* not waiting for the other end of a FIFO */
    FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
    char *text = malloc(MAX_FILE_BYTES + 1);
    size_t bytes = file == NULL || text == NULL ? 0 : fread(text, 1, MAX_FILE_BYTES + 1, file);
    const char *reason = NULL;
    if (file == NULL || text == NULL || ferror(file)) {
        reason = strerror(errno);
    } else if (bytes > MAX_FILE_BYTES) {
        reason = "it is larger than a file of settings can be";
    }
    if (file != NULL) {
        fclose(file);
    } else if (fd >= 0) {
        close(fd);
    }
    if (reason != NULL) {
        snprintf(error, SETTINGS_ERROR_BYTES, "config_file %s: %s", path, reason);
        free(text);
        return false;
    }
    text[bytes] = '\0';
    *file_out = (struct file_text){text, bytes};
    return true;
}

/* Parse a file of settings. NULL: `error` says what is wrong, with the line. */
static json_t *parse_file(const struct file_text *file, const char *path, char error[SETTINGS_ERROR_BYTES]) {
    json_error_t where;
    json_t *object = json_loadb(file->text, file->bytes, JSON_REJECT_DUPLICATES, &where);
    if (object == NULL) {
        char shown[LOG_TEXT_BYTES];
        snprintf(error, SETTINGS_ERROR_BYTES, "config_file %s, line %d: %s", path, where.line,
                 log_text(shown, where.text, strlen(where.text)));
    } else if (!json_is_object(object)) {
        snprintf(error, SETTINGS_ERROR_BYTES, "config_file %s, line 1: it is not a JSON object", path);
        json_decref(object);
        return NULL;
    }
    return object;
}

/* Whether the string that begins at `quote` and ends before `end`, both quotes included, is `key` when its escapes are
 * read. */
static bool is_key(const char *quote, const char *end, const char *key) {
    json_t *text = json_loadb(quote, (size_t)(end - quote), JSON_DECODE_ANY, NULL);
    bool same = json_is_string(text) && strcmp(json_string_value(text), key) == 0;
    json_decref(text);
    return same;
}

/* The line on which the key of a member of the outermost object stands. `text` is valid JSON. */
static int line_of_key(const char *text, const char *key) {
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
            const char *quote = p;
            for (p++; *p != '"' && *p != '\0'; p++) {
                p += *p == '\\' && p[1] != '\0';
            }
            const char *after = p + (*p == '"');
            if (depth == 1 && after[strspn(after, " \t\r\n")] == ':' && is_key(quote, after, key)) {
                return line;
            }
        }
    }
    return line; /* out of memory */
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

static bool to_string(const json_t *value, char out[VALUE_BYTES]) {
    return json_is_string(value) && snprintf(out, VALUE_BYTES, "%s", json_string_value(value)) < VALUE_BYTES;
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
        return to_string(value, out);
    case OPTION_LIVE_LIST:
        return json_is_array(value) ? to_list(value, out) : to_string(value, out);
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
        bool quoted = option->kind == OPTION_LIVE_TEXT || option->kind == OPTION_LIVE_LIST;
        snprintf(error, SETTINGS_ERROR_BYTES, "config_file %s, line %d: \"%s\" takes %s%s", path,
                 line_of_key(text, key), shown, option->takes, quoted ? ", as a JSON string" : ", not quoted");
        return false;
    }
    return true;
}

/* Change `live` by all members. false: `live` may hold a part, `error` says what is wrong. */
static bool read_members(struct live_settings *live, const struct file_text *file, const char *path, json_t *object,
                         char error[SETTINGS_ERROR_BYTES]) {
    struct settings settings = {.live = *live};
    bool done = true;
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value) {
        done = done && read_member(&settings, path, file->text, key, value, error);
    }
    *live = settings.live;
    return done;
}

/* Read and check all of the file. NULL: `error` says what is wrong; otherwise its settings, and *live is changed. */
static json_t *load_file(struct live_settings *live, const char *path, char error[SETTINGS_ERROR_BYTES]) {
    struct file_text file;
    if (!read_whole_file(path, &file, error)) {
        return NULL;
    }
    struct live_settings changed = *live;
    json_t *object = parse_file(&file, path, error);
    if (object != NULL && !read_members(&changed, &file, path, object, error)) {
        json_decref(object);
        object = NULL;
    }
    free(file.text);
    if (object != NULL) {
        *live = changed;
    }
    return object;
}

bool settings_read_file(struct live_settings *live, const char *path, char error[SETTINGS_ERROR_BYTES]) {
    json_t *object = load_file(live, path, error);
    json_decref(object);
    return object != NULL;
}

bool settings_write_enabled(const char *path, bool enabled, char error[SETTINGS_ERROR_BYTES]) {
    struct live_settings ignored = {0};
    json_t *object = load_file(&ignored, path, error); /* with a bad file the broker would not start again */
    if (object == NULL) {
        return false;
    }
    struct json_text text = {0};
    bool built = json_object_set_new(object, "enabled", json_boolean(enabled)) == 0 &&
                 json_text_add_line(&text, object, JSON_INDENT(4));
    json_decref(object);
    bool done = built && write_file(path, text.bytes, text.used);
    if (!done) {
        snprintf(error, SETTINGS_ERROR_BYTES, "config_file %s cannot be written: %s", path,
                 built ? strerror(errno) : "out of memory");
    }
    free(text.bytes);
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
    describe(text, "retained", old->filter_retained ? "filter" : "deliver",
             new->filter_retained ? "filter" : "deliver");
    snprintf(before, sizeof before, "%zu", old->max_expression_bytes);
    snprintf(after, sizeof after, "%zu", new->max_expression_bytes);
    describe(text, "max_expression_bytes", before, after);
    snprintf(before, sizeof before, "%zu", old->max_filters_per_client);
    snprintf(after, sizeof after, "%zu", new->max_filters_per_client);
    describe(text, "max_filters_per_client", before, after);
}
