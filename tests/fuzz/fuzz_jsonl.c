/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Fuzz target: JSON Lines as `mosquitto_filter match --jsonl` reads them. The command's own code runs; what it
 * answers to each line is compared with the reference. (Its puts comes here: --wrap, see meson.build.)
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../cli/cli.h"
#include "engine.h"
#include "fuzz.h"

#define MAX_PROPERTIES 400
#define MAX_LINES      100

enum answer { ANSWER_NO_MATCH, ANSWER_MATCH, ANSWER_INVALID };

static const char *const words[] = {"nomatch", "match", "invalid"};

static struct {
    const uint8_t *data;
    size_t size;
    enum answer answers[MAX_LINES]; /* that are expected */
    size_t n_answers;
    size_t n_given;
} run;

int __wrap_puts(const char *text);

int __wrap_puts(const char *text) {
    if (run.n_given >= run.n_answers) {
        fuzz_fault("an answer to a bad line", run.data, run.size);
    }
    if (strcmp(text, words[run.answers[run.n_given]]) != 0) {
        char what[128];
        snprintf(what, sizeof what, "line %zu: %.20s, the reference says %s", run.n_given + 1, text,
                 words[run.answers[run.n_given]]);
        fuzz_fault(what, run.data, run.size);
    }
    run.n_given++;
    return 0;
}

/* ---- what must be answered ------------------------------------------------------------------- */

static struct ref_text text_from(const json_t *json) {
    return (struct ref_text){json_string_value(json), json_string_length(json)};
}

static bool read_property(const json_t *pair, struct ref_property *property_out) {
    const json_t *name = json_array_get(pair, 0);
    const json_t *value = json_array_get(pair, 1);
    *property_out = (struct ref_property){text_from(name), text_from(value)};
    return json_array_size(pair) == 2 && json_is_string(name) && json_is_string(value);
}

static bool read_attribute(struct ref_message *message, const char *name, const json_t *value) {
    struct {
        const char *name;
        struct ref_text *text;
    } texts[] = {{"$topic", &message->topic},
                 {"$content_type", &message->content_type},
                 {"$response_topic", &message->response_topic}};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (strcmp(name, texts[i].name) == 0) {
            *texts[i].text = text_from(value);
            return json_is_string(value);
        }
    }
    json_int_t number = json_integer_value(value);
    if (strcmp(name, "$qos") == 0) {
        message->has_qos = true;
        message->qos = number >= 0 && number <= 2 ? (int)number : 0;
        return json_is_integer(value) && number >= 0 && number <= 2;
    }
    if (strcmp(name, "$payload_bytes") == 0) {
        message->has_payload_bytes = true;
        message->payload_bytes = (uint64_t)number;
        return json_is_integer(value) && number >= 0;
    }
    message->has_retain = true;
    message->retain = json_is_true(value);
    return strcmp(name, "$retain") == 0 && json_is_boolean(value);
}

static bool read_message(const json_t *line, struct ref_property *properties,
                         struct ref_message *message_out) {
    const json_t *list = json_object_get(line, "props");
    json_t *attrs = json_object_get(line, "attrs");
    *message_out =
        (struct ref_message){.properties = properties, .n_properties = json_array_size(list)};
    bool fine = json_is_array(list) && (attrs == NULL || json_is_object(attrs));
    for (size_t i = 0; i < message_out->n_properties; i++) {
        /* those that are too many are looked at, but do not fit: the message matches nothing anyway */
        fine = read_property(json_array_get(list, i),
                             &properties[i < MAX_PROPERTIES ? i : MAX_PROPERTIES - 1]) &&
               fine;
    }
    const char *name;
    json_t *value;
    json_object_foreach(attrs, name, value) {
        fine = read_attribute(message_out, name, value) && fine;
    }
    return fine;
}

/* Whether the line is answered, and how. */
static bool expect(const char *text, size_t bytes, enum answer *answer_out) {
    static struct ref_property properties[MAX_PROPERTIES];
    struct ref_message message;
    json_t *line =
        json_loadb(text, bytes, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL | JSON_DECODE_ANY, NULL);
    const json_t *expression = json_object_get(line, "expr");
    bool fine = json_is_object(line) && json_is_string(expression) &&
                read_message(line, properties, &message);
    if (fine) {
        struct ref_text expr = text_from(expression);
        struct ref_filter *filter = NULL;
        bool refused = ref_parse(NULL, expr.text, expr.bytes, &filter) != 0;
        *answer_out = refused                                 ? ANSWER_INVALID
                      : ref_eval(filter, &message) == SF_TRUE ? ANSWER_MATCH
                                                              : ANSWER_NO_MATCH;
        ref_free(filter);
    }
    json_decref(line);
    return fine;
}

/* Returns whether all lines are answered. */
static bool expect_lines(const char *text, size_t bytes) {
    for (size_t start = 0; start < bytes;) {
        const char *end = memchr(text + start, '\n', bytes - start);
        size_t line_bytes = end != NULL ? (size_t)(end - text) + 1 - start : bytes - start;
        if (run.n_answers == MAX_LINES ||
            !expect(text + start, line_bytes, &run.answers[run.n_answers])) {
            return false;
        }
        run.n_answers++;
        start += line_bytes;
    }
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    run.data = data;
    run.size = size;
    run.n_answers = 0;
    run.n_given = 0;
    bool all = expect_lines((const char *)data, size);
    if (size == 0 || run.n_answers == MAX_LINES) {
        return 0;
    }
    char *copy = malloc(size); /* fmemopen wants to be able to write */
    FILE *in = copy != NULL ? fmemopen(copy, size, "r") : NULL;
    if (in == NULL) {
        abort();
    }
    memcpy(copy, data, size);
    struct cli cli = {.options = SF_OPTIONS_INIT, .jsonl = true};
    enum cli_exit result = match_lines(&cli, in);
    fclose(in);
    free(copy);
    if (run.n_given != run.n_answers || result != (all ? CLI_OK : CLI_DATA)) {
        fuzz_fault("not all good lines are answered, or another exit code", data, size);
    }
    return 0;
}
