/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Fuzz target: a subscription string, and a message to evaluate its expression against.
 *
 *     sensor/+/temperature?room=a&v>25 NUL room NUL a NUL v NUL 26
 *
 * The string ends at the first NUL; after it come names and values of properties. Those whose name is a system
 * attribute ($topic, $qos, ...) set that as well.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "fuzz.h"

#define MAX_PROPERTIES 300

struct input {
    const uint8_t *data;
    size_t size;
    struct ref_text subscription;
    struct ref_property properties[MAX_PROPERTIES];
    struct ref_message message;
};

/* The text up to the next NUL or the end; *at moves behind it. .text NULL: nothing is left. */
static struct ref_text take(const struct input *input, size_t *at) {
    if (*at > input->size) {
        return (struct ref_text){NULL, 0};
    }
    /* never NULL: an empty text is not an absent one */
    const char *start = *at < input->size ? (const char *)input->data + *at : "";
    const char *end = *at < input->size ? memchr(start, '\0', input->size - *at) : NULL;
    size_t bytes = end != NULL ? (size_t)(end - start) : input->size - *at;
    *at += bytes + 1;
    return (struct ref_text){start, bytes};
}

static bool is(struct ref_text text, const char *word) {
    return text.bytes == strlen(word) && memcmp(text.text, word, text.bytes) == 0;
}

static void set_attribute(struct ref_message *message, struct ref_text name,
                          struct ref_text value) {
    struct ref_number number = ref_number_parse(value.text, value.bytes);
    int64_t integer = number.known && number.is_integer && number.integer >= 0 ? number.integer : 0;
    if (is(name, "$topic")) {
        message->topic = value;
    } else if (is(name, "$content_type")) {
        message->content_type = value;
    } else if (is(name, "$response_topic")) {
        message->response_topic = value;
    } else if (is(name, "$qos")) {
        message->has_qos = true;
        message->qos = (int)(integer % 3);
    } else if (is(name, "$retain")) {
        message->has_retain = true;
        message->retain = is(value, "true");
    } else if (is(name, "$payload_bytes")) {
        message->has_payload_bytes = true;
        message->payload_bytes = (uint64_t)integer;
    }
}

static void read_input(struct input *input) {
    size_t at = 0;
    size_t n = 0;
    input->subscription = take(input, &at);
    input->message = (struct ref_message){.properties = input->properties};
    while (n < MAX_PROPERTIES) {
        struct ref_text name = take(input, &at);
        struct ref_text value = take(input, &at);
        /* in a broker all text is UTF-8; what a _ in LIKE is in other text is nobody's business */
        if (value.text == NULL || !ref_is_utf8(value.text, value.bytes)) {
            break;
        }
        input->properties[n++] = (struct ref_property){name, value};
        set_attribute(&input->message, name, value);
    }
    input->message.n_properties = n;
}

/* ---- topic filters --------------------------------------------------------------------------- */

static void check_topic(const struct input *input, struct ref_text topic) {
    char *copy = malloc(topic.bytes > 0 ? topic.bytes : 1);
    if (copy == NULL) {
        abort();
    }
    memcpy(copy, topic.text, topic.bytes);
    struct sf_error error;
    size_t bytes = SIZE_MAX;
    enum sf_status status = sf_topic_decode(copy, topic.bytes, &bytes, &error);
    const char *wrong = NULL;
    if (status != SF_OK) {
        wrong = memcmp(copy, topic.text, topic.bytes) != 0
                    ? "a refused topic filter was changed"
                    : engine_check_error(status, &error, topic.bytes);
    } else if (bytes > topic.bytes || bytes == 0 || !ref_is_utf8(copy, bytes)) {
        wrong = "an accepted topic filter is longer, empty or not UTF-8";
    }
    free(copy);
    if (wrong != NULL) {
        fuzz_fault(wrong, input->data, input->size);
    }
}

/* ---- expressions ----------------------------------------------------------------------------- */

static void check_expression(const struct input *input, struct ref_text expression,
                             enum sf_dialect dialect) {
    struct sf_options options[3] = {SF_OPTIONS_INIT, SF_OPTIONS_INIT, SF_OPTIONS_INIT};
    options[1].strict_integers = true;
    options[1].tag_key = "a";
    options[2].dialects = SF_DIALECT_ALL - (unsigned)dialect;
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        struct engine_result result;
        const char *wrong =
            engine_run(&options[i], expression.text, expression.bytes, &input->message, &result);
        if (wrong == NULL && i == 2 && result.status != SF_E_DIALECT &&
            result.status != SF_E_LIMIT) {
            wrong = "a dialect that is off was not refused";
        }
        if (wrong != NULL) {
            fuzz_fault(wrong, input->data, input->size);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct input input;
    input.data = data;
    input.size = size;
    read_input(&input);
    struct sf_subscription split;
    sf_subscription_split(input.subscription.text, input.subscription.bytes, &split);
    size_t bytes = input.subscription.bytes;
    if (split.topic_bytes > bytes || split.expression_offset > bytes ||
        split.body_offset < split.expression_offset || split.body_offset > bytes ||
        split.expression_offset + split.expression_bytes != bytes ||
        split.share_offset + split.share_bytes > split.topic_bytes) {
        fuzz_fault("a part is outside of the subscription string", data, size);
    }
    check_topic(&input, (struct ref_text){input.subscription.text, split.topic_bytes});
    check_expression(&input,
                     (struct ref_text){input.subscription.text + split.expression_offset,
                                       split.expression_bytes},
                     split.dialect);
    return 0;
}
