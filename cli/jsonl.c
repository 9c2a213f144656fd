/* SPDX-License-Identifier: BSD-3-Clause
 *
 * match --jsonl: one JSON object a line on standard input, one word a line on standard output.
 *
 *     {"expr": "location=roomA", "props": [["location", "roomA"]], "attrs": {"$qos": 1}, …}
 *
 * Other members are ignored, so that lines may carry notes or the answer that is expected. Nothing grows with the
 * number of lines: filters are kept in a table of fixed size, where a newcomer replaces the one in its place.
 */
#include "cli.h"

#include <jansson.h>

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { N_SLOTS = 256 };

/* An expression and what it compiled to: no filter, when it is invalid. */
struct slot {
    char *text; /* NULL: the slot is empty */
    size_t bytes;
    struct sf_filter *filter;
};

struct matcher {
    const struct sf_options *options;
    struct sf_schema *schema;
    struct sf_message *message;
    struct slot slots[N_SLOTS];
    size_t line;
};

/* ---- complaints ---- */

/* "line N: " and the message, in which `format` is ours and what %s stands for may be anything. */
__attribute__((format(printf, 2, 3))) static enum cli_exit bad_line(const struct matcher *matcher,
                                                                    const char *format, ...) {
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    complain("line %zu: %s", matcher->line, text);
    return CLI_DATA;
}

static enum cli_exit out_of_memory(void) {
    complain("out of memory");
    return CLI_NOMEM;
}

/* ---- filters ---- */

static void empty_slot(struct slot *slot) {
    free(slot->text);
    sf_filter_unref(slot->filter);
    *slot = (struct slot){0};
}

/* FNV-1a: any spread will do, a collision only costs compiling again. */
static struct slot *find_slot(struct matcher *matcher, const char *text, size_t bytes) {
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < bytes; i++) {
        hash = (hash ^ (unsigned char)text[i]) * 16777619u;
    }
    return &matcher->slots[(hash ^ hash >> 16) % N_SLOTS];
}

/* Put into *filter_out the filter of an expression, NULL when it is invalid. The slot keeps the reference. */
static enum cli_exit find_filter(struct matcher *matcher, const char *text, size_t bytes,
                                 struct sf_filter **filter_out) {
    struct slot *slot = find_slot(matcher, text, bytes);
    if (!slot->text || slot->bytes != bytes || memcmp(slot->text, text, bytes) != 0) {
        empty_slot(slot);
        enum sf_status status =
            sf_compile(matcher->schema, matcher->options, text, bytes, &slot->filter, NULL);
        char *copy = malloc(bytes + 1);
        if (!copy || status == SF_E_NOMEM) {
            free(copy);
            return out_of_memory();
        }
        memcpy(copy, text, bytes);
        slot->text = copy;
        slot->bytes = bytes;
    }
    *filter_out = slot->filter;
    return CLI_OK;
}

/* ---- one line ---- */

static enum cli_exit bind_properties(struct matcher *matcher, const json_t *list) {
    size_t i;
    json_t *pair;
    json_array_foreach(list, i, pair) {
        const json_t *name = json_array_get(pair, 0);
        const json_t *value = json_array_get(pair, 1);
        if (json_array_size(pair) != 2 || !json_is_string(name) || !json_is_string(value)) {
            return bad_line(matcher, "props[%zu] is not a pair of strings", i);
        }
        sf_message_add(matcher->message, json_string_value(name), json_string_length(name),
                       json_string_value(value), json_string_length(value));
    }
    return CLI_OK;
}

static bool bind_attribute(struct sf_message *message, const struct attribute *attribute,
                           const json_t *value) {
    if (attribute->set_text && json_is_string(value)) {
        attribute->set_text(message, json_string_value(value), json_string_length(value));
        return true;
    }
    if (attribute->set_flag && json_is_boolean(value)) {
        attribute->set_flag(message, json_is_true(value));
        return true;
    }
    json_int_t number = json_integer_value(value);
    if (attribute->set_number && json_is_integer(value) && number >= 0 &&
        (uint64_t)number <= attribute->max) {
        attribute->set_number(message, (uint64_t)number);
        return true;
    }
    return false;
}

static enum cli_exit bind_attributes(struct matcher *matcher, json_t *object) {
    const char *name;
    json_t *value;
    json_object_foreach(object, name, value) {
        const struct attribute *attribute = attribute_find(name);
        if (!attribute) {
            return bad_line(matcher, "attrs: there is no attribute '%s'", name);
        }
        if (!bind_attribute(matcher->message, attribute, value)) {
            return bad_line(matcher, "attrs: %s must be %s", name, attribute_values(attribute));
        }
    }
    return CLI_OK;
}

static enum cli_exit answer_object(struct matcher *matcher, json_t *object) {
    const json_t *expression = json_object_get(object, "expr");
    const json_t *properties = json_object_get(object, "props");
    json_t *attrs = json_object_get(object, "attrs");
    if (!json_is_object(object)) {
        return bad_line(matcher, "not an object");
    }
    if (!json_is_string(expression)) {
        return bad_line(matcher, "expr must be a string");
    }
    if (!json_is_array(properties)) {
        return bad_line(matcher, "props must be a list of pairs");
    }
    if (attrs && !json_is_object(attrs)) {
        return bad_line(matcher, "attrs must be an object");
    }
    /* In this order: what a message keeps depends on the names that filters read. */
    struct sf_filter *filter;
    enum cli_exit result = find_filter(matcher, json_string_value(expression),
                                       json_string_length(expression), &filter);
    if (result == CLI_OK && sf_message_reset(matcher->message) != SF_OK) {
        result = out_of_memory();
    }
    if (result == CLI_OK) {
        result = bind_properties(matcher, properties);
    }
    if (result == CLI_OK && attrs) {
        result = bind_attributes(matcher, attrs);
    }
    if (result == CLI_OK) {
        bool match = filter && sf_eval(filter, matcher->message) == SF_TRUE;
        puts(match ? "match" : filter ? "nomatch" : "invalid");
    }
    return result;
}

static enum cli_exit answer_line(struct matcher *matcher, const char *text, size_t bytes) {
    json_error_t error;
    json_t *value =
        json_loadb(text, bytes, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL | JSON_DECODE_ANY, &error);
    if (!value) {
        return json_error_code(&error) == json_error_out_of_memory
                   ? out_of_memory()
                   : bad_line(matcher, "column %d: not JSON: %s", error.column, error.text);
    }
    enum cli_exit result = answer_object(matcher, value);
    json_decref(value);
    return result;
}

/* ---- all lines ---- */

static enum cli_exit answer_lines(struct matcher *matcher, FILE *in) {
    char *text = NULL;
    size_t capacity = 0;
    enum cli_exit result = CLI_OK;
    ssize_t bytes;
    errno = 0;
    /* A full disk or a closed pipe ends the work; main() says so. */
    while (result == CLI_OK && !ferror(stdout) && (bytes = getline(&text, &capacity, in)) >= 0) {
        matcher->line++;
        result = answer_line(matcher, text, (size_t)bytes);
        errno = 0;
    }
    if (result == CLI_OK && !ferror(stdout) && !feof(in)) {
        complain("line %zu: %s", matcher->line + 1, strerror(errno));
        result = errno == ENOMEM ? CLI_NOMEM : CLI_IO;
    }
    free(text);
    return result;
}

enum cli_exit match_lines(const struct cli *cli, FILE *in) {
    struct matcher matcher = {.options = &cli->options, .schema = sf_schema_new()};
    matcher.message = matcher.schema ? sf_message_new(matcher.schema) : NULL;
    enum cli_exit result = matcher.message ? answer_lines(&matcher, in) : out_of_memory();
    sf_message_free(matcher.message);
    for (size_t i = 0; i < N_SLOTS; i++) {
        empty_slot(&matcher.slots[i]);
    }
    sf_schema_free(matcher.schema);
    return result;
}
