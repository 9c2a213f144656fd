/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The engine with every invariant checked, see engine.h. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"

#include "guard.h"

static const char *fault(const char *format, ...) __attribute__((format(printf, 1, 2)));

static const char *fault(const char *format, ...) {
    static char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return text;
}

const char *engine_truth_name(enum sf_truth truth) {
    switch (truth) {
    case SF_FALSE:
        return "false";
    case SF_TRUE:
        return "true";
    case SF_UNKNOWN:
        return "unknown";
    }
    return "no truth";
}

void engine_write(void *user, const char *text, size_t bytes) {
    struct engine_text *to = user;
    if (to->size - to->bytes <= bytes) {
        size_t size = 2 * (to->size + bytes) + 64;
        char *grown = realloc(to->text, size);
        if (grown == NULL) {
            abort();
        }
        to->text = grown;
        to->size = size;
    }
    memcpy(to->text + to->bytes, text, bytes);
    to->bytes += bytes;
    to->text[to->bytes] = '\0';
}

struct ref_message engine_message(const char *const *pairs, struct engine_properties *storage) {
    size_t n = 0;
    for (; n < ENGINE_MAX_ROW_PROPERTIES && pairs[2 * n] != NULL; n++) {
        storage->properties[n].name = (struct ref_text){pairs[2 * n], strlen(pairs[2 * n])};
        storage->properties[n].value =
            (struct ref_text){pairs[2 * n + 1], strlen(pairs[2 * n + 1])};
    }
    return (struct ref_message){.properties = storage->properties, .n_properties = n};
}

char *engine_exact_copy(const char *text, size_t bytes) {
    char *copy = malloc(bytes > 0 ? bytes : 1);
    if (copy == NULL) {
        abort();
    }
    if (bytes > 0) {
        memcpy(copy, text, bytes);
    }
    return copy;
}

static void add_property(struct sf_message *message, const struct ref_property *property) {
    char *name = engine_exact_copy(property->name.text,
                                   property->name.bytes); /* borrowed; the value is kept */
    sf_message_add(message, name, property->name.bytes, property->value.text,
                   property->value.bytes);
    free(name);
}

bool engine_bind(struct sf_message *message, const struct ref_message *source) {
    if (sf_message_reset(message) != SF_OK) {
        return false;
    }
    for (size_t i = 0; i < source->n_properties; i++) {
        add_property(message, &source->properties[i]);
    }
    if (source->topic.text != NULL) {
        sf_message_set_topic(message, source->topic.text, source->topic.bytes);
    }
    if (source->content_type.text != NULL) {
        sf_message_set_content_type(message, source->content_type.text, source->content_type.bytes);
    }
    if (source->response_topic.text != NULL) {
        sf_message_set_response_topic(message, source->response_topic.text,
                                      source->response_topic.bytes);
    }
    if (source->has_qos) {
        sf_message_set_qos(message, source->qos);
    }
    if (source->has_retain) {
        sf_message_set_retain(message, source->retain);
    }
    if (source->has_payload_bytes) {
        sf_message_set_payload_bytes(message, source->payload_bytes);
    }
    return true;
}

static bool has_control_character(const char *text, size_t bytes) {
    for (size_t i = 0; i < bytes; i++) {
        unsigned char c = (unsigned char)text[i];
        bool c1 = c == 0xC2 && i + 1 < bytes && (unsigned char)text[i + 1] < 0xA0;
        if (c < 0x20 || c == 0x7F || c1) {
            return true;
        }
    }
    return false;
}

const char *engine_check_error(enum sf_status status, const struct sf_error *error,
                               size_t text_bytes) {
    if (error->code != status) {
        return fault("returned %s, but the error says %s", sf_status_name(status),
                     sf_status_name(error->code));
    }
    if (error->offset > text_bytes || error->length > text_bytes - error->offset) {
        return fault("spot %zu+%zu is not in the text of %zu bytes", error->offset, error->length,
                     text_bytes);
    }
    const char *end = memchr(error->text, '\0', sizeof error->text);
    if (end == NULL || end == error->text) {
        return fault("the error text is empty or has no end");
    }
    size_t bytes = (size_t)(end - error->text);
    if (has_control_character(error->text, bytes)) {
        return fault("control character in the error text: %s", error->text);
    }
    if (!ref_is_utf8(error->text, bytes)) {
        return fault("the error text is not UTF-8: %s", error->text);
    }
    return NULL;
}

/* `options` without the limit on bytes: canonical text has blanks where the original need not have any. */
static struct sf_options without_limit(const struct sf_options *options) {
    static const struct sf_options defaults = SF_OPTIONS_INIT;
    struct sf_options copy = options == NULL ? defaults : *options;
    copy.max_expression_bytes = SIZE_MAX;
    return copy;
}

const char *engine_check_canonical(struct sf_schema *schema, const struct sf_options *options,
                                   const struct sf_filter *filter) {
    struct sf_options unlimited = without_limit(options);
    size_t bytes = 0;
    const char *text = sf_filter_text(filter, &bytes);
    if (strlen(text) != bytes) {
        return fault("canonical text has %zu bytes, not the %zu it says", strlen(text), bytes);
    }
    struct sf_error error;
    struct sf_filter *again = NULL;
    enum sf_status status = sf_compile(schema, &unlimited, text, bytes, &again, &error);
    if (status != SF_OK) {
        return fault("canonical text is refused (%s): %s", error.text, text);
    }
    bool same = again == filter;
    sf_filter_unref(again);
    if (!same) {
        return fault("canonical text is another filter: %s", text);
    }
    struct sf_schema *other = sf_schema_new();
    if (other == NULL || sf_compile(other, &unlimited, text, bytes, &again, &error) != SF_OK) {
        sf_schema_free(other);
        return fault("canonical text is refused in another schema: %s", text);
    }
    same = strcmp(sf_filter_text(again, NULL), text) == 0;
    sf_filter_unref(again);
    sf_schema_free(other);
    return same ? NULL : fault("canonical text is no fixed point: %s", text);
}

/* What is written for people: lines, each with an end, UTF-8 and without control characters. */
static const char *check_lines(const struct engine_text *text, const char *what) {
    if (text->bytes == 0 || text->text[text->bytes - 1] != '\n') {
        return fault("%s is empty or has no end", what);
    }
    if (!ref_is_utf8(text->text, text->bytes)) {
        return fault("%s is not UTF-8: %s", what, text->text);
    }
    for (size_t at = 0; at < text->bytes;) {
        size_t bytes = strcspn(text->text + at, "\n");
        if (bytes == 0 || has_control_character(text->text + at, bytes)) {
            return fault("%s has an empty line or a control character: %s", what, text->text);
        }
        at += bytes + 1;
    }
    return NULL;
}

const char *engine_check_truth(const struct sf_filter *filter, struct sf_message *message,
                               enum sf_truth *truth_out) {
    *truth_out = sf_eval(filter, message);
    enum sf_truth again = sf_eval(filter, message);
    if (again != *truth_out) {
        return fault("%s, and then %s", engine_truth_name(*truth_out), engine_truth_name(again));
    }
    const struct sf_value *values = sf_message_values(message);
    const struct sf_guard guard = sf_filter_guard(filter);
    if (values != NULL && sf_guard_excludes(&guard, values) && *truth_out != SF_FALSE) {
        return fault("its guard excludes it, but it is %s", engine_truth_name(*truth_out));
    }
    struct engine_text reasons = {NULL, 0, 0};
    enum sf_truth explained = SF_FALSE;
    enum sf_status status = sf_explain(filter, message, engine_write, &reasons, &explained);
    const char *wrong = status != SF_OK ? fault("sf_explain gives %s", sf_status_name(status))
                                        : check_lines(&reasons, "the explanation");
    free(reasons.text);
    if (wrong != NULL) {
        return wrong;
    }
    if (explained != *truth_out) {
        return fault("sf_eval says %s, sf_explain %s", engine_truth_name(*truth_out),
                     engine_truth_name(explained));
    }
    return NULL;
}

/* Names of what it reads: each once, and an end. */
static const char *check_properties(const struct sf_filter *filter) {
    size_t n = 0;
    size_t bytes = 0;
    for (const char *name; (name = sf_filter_property(filter, n, &bytes)) != NULL; n++) {
        if (strlen(name) != bytes) {
            return fault("property %zu has %zu bytes, not the %zu it says", n, strlen(name), bytes);
        }
        for (size_t i = 0; i < n; i++) {
            if (strcmp(sf_filter_property(filter, i, NULL), name) == 0) {
                return fault("property %s is listed twice", name);
            }
        }
    }
    if (sf_filter_property(filter, n + 1, NULL) != NULL ||
        sf_filter_property(filter, SIZE_MAX, NULL) != NULL) {
        return fault("properties go on behind their end");
    }
    return NULL;
}

static const char *check_listings(const struct sf_filter *filter) {
    struct engine_text tree = {NULL, 0, 0};
    struct engine_text program = {NULL, 0, 0};
    enum sf_status status = sf_filter_write_tree(filter, engine_write, &tree);
    sf_filter_write_program(filter, engine_write, &program);
    const char *wrong = status != SF_OK
                            ? fault("sf_filter_write_tree gives %s", sf_status_name(status))
                            : check_lines(&tree, "the tree");
    wrong = wrong != NULL ? wrong : check_lines(&program, "the program");
    free(tree.text);
    free(program.text);
    return wrong;
}

static const char *check_accepted(struct sf_schema *schema, const struct sf_options *options,
                                  struct sf_filter *filter, const struct ref_filter *reference,
                                  const struct ref_message *source, enum sf_truth *truth_out) {
    if (sf_schema_filters(schema) != 1 || sf_filter_id(filter) != 0) {
        return fault("%zu filters live, not 1, or the first has id %u", sf_schema_filters(schema),
                     sf_filter_id(filter));
    }
    if (sf_filter_dialect(filter) != ref_dialect(reference)) {
        return fault("wrong dialect");
    }
    if (sf_filter_bytes(filter) == 0) {
        return fault("it takes no memory");
    }
    const char *wrong = engine_check_canonical(schema, options, filter);
    wrong = wrong != NULL ? wrong : check_properties(filter);
    wrong = wrong != NULL ? wrong : check_listings(filter);
    if (wrong != NULL) {
        return wrong;
    }
    struct sf_message *message = sf_message_new(schema);
    if (message == NULL || !engine_bind(message, source)) {
        sf_message_free(message);
        return fault("out of memory");
    }
    wrong = engine_check_truth(filter, message, truth_out);
    sf_message_free(message);
    if (wrong != NULL) {
        return wrong;
    }
    enum sf_truth expected = ref_eval(reference, source);
    if (!ref_agrees(reference, expected, *truth_out)) {
        return fault("%s; the reference says %s", engine_truth_name(*truth_out),
                     engine_truth_name(expected));
    }
    return NULL;
}

static const char *check_refused(struct sf_schema *schema, const struct sf_options *options,
                                 const char *text, size_t bytes,
                                 const struct engine_result *result) {
    if (sf_schema_filters(schema) != 0 || sf_schema_names(schema) != 0) {
        return fault("refused, but %zu filters and %zu names live", sf_schema_filters(schema),
                     sf_schema_names(schema));
    }
    struct sf_filter *none = NULL;
    enum sf_status silent = sf_compile(schema, options, text, bytes, &none, NULL);
    if (silent != result->status || none != NULL) {
        return fault("without an error to fill in: %s", sf_status_name(silent));
    }
    return engine_check_error(result->status, &result->error, bytes);
}

static const char *check_same_codes(const struct engine_result *result, ref_codes codes) {
    if (result->status == SF_OK && codes != 0) {
        return fault("accepted; the reference refuses it (codes %#x)", codes);
    }
    if (result->status != SF_OK && codes == 0) {
        return fault("%s at %zu+%zu: %s; the reference accepts it", sf_status_name(result->status),
                     result->error.offset, result->error.length, result->error.text);
    }
    if (result->status != SF_OK && (codes & (ref_codes)1 << result->status) == 0) {
        return fault("%s at %zu+%zu: %s; the reference has other codes (%#x)",
                     sf_status_name(result->status), result->error.offset, result->error.length,
                     result->error.text, codes);
    }
    return NULL;
}

const char *engine_run(const struct sf_options *options, const char *text, size_t bytes,
                       const struct ref_message *message, struct engine_result *result_out) {
    *result_out = (struct engine_result){.status = SF_E_NOMEM, .truth = SF_FALSE};
    struct sf_schema *schema = sf_schema_new();
    if (schema == NULL) {
        return fault("out of memory");
    }
    struct ref_filter *reference = NULL;
    ref_codes codes = ref_parse(options, text, bytes, &reference);
    struct sf_filter *filter = NULL;
    const size_t untouched = 987654321; /* an error is written only when there is one */
    result_out->error.offset = untouched;
    char *copy = engine_exact_copy(text, bytes);
    result_out->status = sf_compile(schema, options, copy, bytes, &filter, &result_out->error);
    free(copy);
    const char *wrong = check_same_codes(result_out, codes);
    if (result_out->status == SF_OK && result_out->error.offset != untouched) {
        wrong = fault("accepted, but an error is written");
    }
    if (wrong == NULL && result_out->status == SF_OK) {
        wrong = check_accepted(schema, options, filter, reference, message, &result_out->truth);
    } else if (wrong == NULL) {
        wrong = check_refused(schema, options, text, bytes, result_out);
    }
    sf_filter_unref(filter);
    ref_free(reference);
    if (wrong == NULL && (sf_schema_filters(schema) != 0 || sf_schema_names(schema) != 0)) {
        wrong = fault("%zu filters and %zu names live on", sf_schema_filters(schema),
                      sf_schema_names(schema));
    }
    sf_schema_free(schema);
    return wrong;
}
