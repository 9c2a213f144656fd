/* SPDX-License-Identifier: BSD-3-Clause
 *
 * control_test: see the header. Properties are an object of strings, or a list of [name, value] pairs when a name comes
 * more than once; attributes an object such as {"$qos": 1}.
 */
#include "control_test.h"

#include <stdlib.h>
#include <string.h>

static bool add_property(struct sf_message *message, const char *name, size_t name_bytes, const json_t *value) {
    if (!json_is_string(value)) {
        return false;
    }
    (void)sf_message_add(message, name, name_bytes, json_string_value(value), json_string_length(value));
    return true;
}

static bool add_properties(struct sf_message *message, json_t *properties) {
    size_t index;
    const char *name;
    json_t *item;
    bool good = properties == NULL || json_is_object(properties) || json_is_array(properties);
    json_object_foreach(properties, name, item) {
        good = good && add_property(message, name, strlen(name), item);
    }
    json_array_foreach(properties, index, item) {
        const json_t *key = json_array_get(item, 0);
        good = good && json_array_size(item) == 2 && json_is_string(key) &&
               add_property(message, json_string_value(key), json_string_length(key), json_array_get(item, 1));
    }
    return good;
}

static bool set_attribute(struct sf_message *message, const char *name, const json_t *value) {
    static const struct {
        const char *name;
        void (*set)(struct sf_message *message, const char *text, size_t bytes);
    } texts[] = {
        {"$topic", sf_message_set_topic},
        {"$content_type", sf_message_set_content_type},
        {"$response_topic", sf_message_set_response_topic},
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (strcmp(texts[i].name, name) == 0 && json_is_string(value)) {
            texts[i].set(message, json_string_value(value), json_string_length(value));
            return true;
        }
    }
    json_int_t number = json_integer_value(value);
    if (strcmp(name, "$qos") == 0 && json_is_integer(value) && number >= 0 && number <= 2) {
        sf_message_set_qos(message, (int)number);
    } else if (strcmp(name, "$payload_bytes") == 0 && json_is_integer(value) && number >= 0) {
        sf_message_set_payload_bytes(message, (uint64_t)number);
    } else if (strcmp(name, "$retain") == 0 && json_is_boolean(value)) {
        sf_message_set_retain(message, json_is_true(value));
    } else {
        return false;
    }
    return true;
}

static bool set_attributes(struct sf_message *message, json_t *attributes) {
    const char *name;
    json_t *value;
    bool good = attributes == NULL || json_is_object(attributes);
    json_object_foreach(attributes, name, value) {
        good = good && set_attribute(message, name, value);
    }
    return good;
}

/* Text that comes in pieces. */
struct collected {
    char *text;
    size_t bytes;
    bool failed;
};

static void collect(void *user, const char *text, size_t bytes) {
    struct collected *collected = user;
    char *grown = collected->failed ? NULL : realloc(collected->text, collected->bytes + bytes + 1);
    if (grown == NULL) {
        collected->failed = true;
        return;
    }
    memcpy(grown + collected->bytes, text, bytes);
    collected->text = grown;
    collected->bytes += bytes;
    collected->text[collected->bytes] = '\0';
}

static json_t *evaluate(const struct sf_filter *filter, struct sf_message *message) {
    struct collected why = {0};
    enum sf_truth truth = SF_UNKNOWN;
    json_t *data = NULL;
    if (sf_explain(filter, message, collect, &why, &truth) == SF_OK && !why.failed) {
        while (why.bytes > 0 && why.text[why.bytes - 1] == '\n') {
            why.bytes--;
        }
        data = json_pack("{sb, sb, ss, ss%}", "valid", 1, "match", truth == SF_TRUE, "result",
                         truth == SF_TRUE    ? "true"
                         : truth == SF_FALSE ? "false"
                                             : "unknown",
                         "reason", why.text == NULL ? "" : why.text, why.bytes);
    }
    free(why.text);
    return data;
}

static json_t *describe_error(const struct sf_error *error, size_t start) {
    return json_pack("{sb, ss, sI, sI, ss}", "valid", 0, "code", sf_status_name(error->code), "offset",
                     (json_int_t)(error->offset + start), "length", (json_int_t)error->length, "text", error->text);
}

/* Bind the message that the command describes. */
static bool bind(struct sf_message *message, json_t *properties, json_t *attributes, const char **error) {
    if (message == NULL || sf_message_reset(message) != SF_OK) {
        return false;
    }
    if (!add_properties(message, properties)) {
        *error = "properties is an object of strings or a list of [name, value] pairs";
        return false;
    }
    if (!set_attributes(message, attributes)) {
        *error = "attributes is an object of $topic, $content_type, $response_topic (strings), $qos, $payload_bytes "
                 "(numbers) and $retain (true or false)";
        return false;
    }
    return true;
}

/* Whether the first `bytes` of `text` are a topic filter. *data_out: otherwise what is wrong with it, or NULL. */
static bool check_topic(const char *text, size_t bytes, json_t **data_out) {
    char *topic = strndup(text, bytes);
    size_t decoded_bytes = 0;
    struct sf_error why;
    bool good = topic != NULL && sf_topic_decode(topic, bytes, &decoded_bytes, &why) == SF_OK;
    *data_out = good || topic == NULL ? NULL : describe_error(&why, 0);
    free(topic);
    return good;
}

/* `split` is that of a subscription; of zeros when `text` is an expression alone. */
static json_t *test_in(struct sf_schema *schema, const struct sf_options *options, const char *text,
                       const struct sf_subscription *split, json_t *command, const char **error) {
    struct sf_filter *filter = NULL;
    struct sf_error why;
    size_t start = split->expression_offset;
    enum sf_status status = sf_compile(schema, options, text + start, strlen(text + start), &filter, &why);
    if (status != SF_OK) {
        return status == SF_E_NOMEM ? NULL : describe_error(&why, start);
    }
    json_t *data = NULL;
    if (split->has_expression && !check_topic(text, split->topic_bytes, &data)) {
        sf_filter_unref(filter);
        return data;
    }
    struct sf_message *message = sf_message_new(schema);
    if (bind(message, json_object_get(command, "properties"), json_object_get(command, "attributes"), error)) {
        data = evaluate(filter, message);
    }
    sf_message_free(message);
    sf_filter_unref(filter);
    return data;
}

json_t *control_test_filter(const struct sf_options *options, json_t *command, const char **error) {
    const char *expression = json_string_value(json_object_get(command, "expression"));
    const char *subscription = json_string_value(json_object_get(command, "subscription"));
    struct sf_subscription split = {0};
    if ((expression == NULL) == (subscription == NULL)) {
        *error = "one of expression and subscription is needed, as a string";
        return NULL;
    }
    if (subscription != NULL) {
        sf_subscription_split(subscription, strlen(subscription), &split);
        if (!split.has_expression) {
            *error = "the subscription has no filter: there is no '?' in it";
            return NULL;
        }
    }
    struct sf_schema *schema = sf_schema_new();
    json_t *data = NULL;
    if (schema != NULL) {
        data = test_in(schema, options, subscription == NULL ? expression : subscription, &split, command, error);
    }
    sf_schema_free(schema);
    return data;
}
