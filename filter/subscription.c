/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Subscription strings: where their parts are, and what their topic filter is once decoded. */
#include "subscription.h"

#include "error.h"
#include "escape.h"
#include "utf8.h"

static const char share_prefix[] = "$share/";
static const size_t share_prefix_bytes = sizeof share_prefix - 1;

enum { MAX_TOPIC_BYTES = 65535 };

static const struct {
    const char *name;
    enum sf_dialect dialect;
} dialects[] = {
    {"kv", SF_DIALECT_KV},
    {"sql", SF_DIALECT_SQL},
    {"tag", SF_DIALECT_TAG},
};

enum { N_DIALECTS = sizeof dialects / sizeof dialects[0] };

const char *sf_dialect_name(enum sf_dialect dialect) {
    for (size_t i = 0; i < N_DIALECTS; i++) {
        if (dialects[i].dialect == dialect) {
            return dialects[i].name;
        }
    }
    return NULL;
}

enum sf_dialect sf_dialect_of(struct sf_text expression, size_t *body_out) {
    size_t start = 0;
    while (start < expression.bytes && sf_is_space(expression.at[start])) {
        start++;
    }
    size_t end = start;
    while (end < expression.bytes && sf_is_letter(expression.at[end])) {
        end++;
    }
    bool has_colon = end < expression.bytes && expression.at[end] == ':';
    for (size_t i = 0; has_colon && i < N_DIALECTS; i++) {
        if (sf_text_is_word((struct sf_text){expression.at + start, end - start},
                            dialects[i].name)) {
            *body_out = end + 1;
            return dialects[i].dialect;
        }
    }
    *body_out = 0;
    return SF_DIALECT_KV;
}

/* ---- splitting ------------------------------------------------------------------------------------------------- */

/* The length of the group's name when `topic` is $share/<group>/..., else 0. */
static size_t share_bytes(struct sf_text topic) {
    if (topic.bytes <= share_prefix_bytes ||
        memcmp(topic.at, share_prefix, share_prefix_bytes) != 0) {
        return 0;
    }
    const char *group = topic.at + share_prefix_bytes;
    const char *end = memchr(group, '/', topic.bytes - share_prefix_bytes);
    return end == NULL ? 0 : (size_t)(end - group);
}

void sf_subscription_split(const char *text, size_t bytes, struct sf_subscription *split_out) {
    const char *mark = bytes == 0 ? NULL : memchr(text, '?', bytes);
    struct sf_subscription split = {.topic_bytes = bytes,
                                    .expression_offset = bytes,
                                    .body_offset = bytes,
                                    .dialect = SF_DIALECT_KV};
    if (mark != NULL) {
        split.has_expression = true;
        split.topic_bytes = (size_t)(mark - text);
        split.expression_offset = split.topic_bytes + 1;
        split.expression_bytes = bytes - split.expression_offset;
        struct sf_text expression = {text + split.expression_offset, split.expression_bytes};
        size_t body = 0;
        split.dialect = sf_dialect_of(expression, &body);
        split.body_offset = split.expression_offset + body;
    }
    split.share_bytes = share_bytes((struct sf_text){text, split.topic_bytes});
    split.share_offset = split.share_bytes == 0 ? 0 : share_prefix_bytes;
    *split_out = split;
}

/* ---- topic filters --------------------------------------------------------------------------------------------- */

/* A topic filter as sent, read character by character as it is once decoded. */
struct topic {
    struct sf_text text;
    struct sf_error *error;
};

static char decoded_at(struct sf_text text, size_t at, size_t *bytes_out) {
    if (at < text.bytes && sf_escape_is_wildcard(text, at)) {
        char c;
        sf_escape_decode((struct sf_text){text.at + at, 3}, &c);
        *bytes_out = 3;
        return c;
    }
    *bytes_out = 1;
    return at < text.bytes ? text.at[at] : '\0';
}

static enum sf_status refuse(const struct topic *topic, size_t start, size_t bytes,
                             const char *sentence) {
    return sf_error_set(topic->error, SF_E_TOPIC, start, bytes, "%s", sentence);
}

/* Wildcards in the levels from `start` on. */
static enum sf_status check_levels(const struct topic *topic, size_t start) {
    bool at_level_start = true;
    size_t bytes = 0;
    for (size_t at = start; at < topic->text.bytes; at += bytes) {
        char c = decoded_at(topic->text, at, &bytes);
        size_t next_bytes = 0;
        bool at_end = at + bytes == topic->text.bytes;
        bool alone =
            at_level_start && (at_end || decoded_at(topic->text, at + bytes, &next_bytes) == '/');
        if ((c == '+' || c == '#') && !alone) {
            return refuse(topic, at, bytes,
                          "a wildcard stands alone in its level of a topic filter");
        }
        if (c == '#' && !at_end) {
            return refuse(topic, at, bytes, "# is the last level of a topic filter");
        }
        at_level_start = c == '/';
    }
    return SF_OK;
}

/* Where the topic filter behind $share/<group>/ starts; `error` when the group is no group. */
static enum sf_status check_share(const struct topic *topic, size_t *start_out) {
    struct sf_text text = topic->text;
    *start_out = 0;
    if (text.bytes < share_prefix_bytes || memcmp(text.at, share_prefix, share_prefix_bytes) != 0) {
        return SF_OK;
    }
    size_t bytes = share_bytes(text);
    size_t end = share_prefix_bytes + bytes;
    if (bytes == 0) {
        return refuse(topic, 0, text.bytes, "expected $share/<group>/<topic filter>");
    }
    size_t step = 0;
    for (size_t at = share_prefix_bytes; at < end; at += step) {
        char c = decoded_at(text, at, &step);
        if (c == '+' || c == '#') {
            return refuse(topic, at, step, "the name of a share group has no wildcards");
        }
    }
    if (end + 1 == text.bytes) {
        return refuse(topic, end + 1, 0, "the topic filter behind $share/<group>/ is empty");
    }
    *start_out = end + 1;
    return SF_OK;
}

static enum sf_status check_topic(const struct topic *topic, size_t decoded_bytes) {
    struct sf_text text = topic->text;
    size_t valid = sf_utf8_valid_bytes(text.at, text.bytes);
    if (valid < text.bytes) {
        size_t fault = sf_utf8_fault_bytes(text.at + valid, text.bytes - valid);
        struct sf_quoted quoted;
        return sf_error_set(topic->error, SF_E_ESCAPE, valid, fault,
                            text.at[valid] == '\0' ? "%s is a NUL, which no topic filter can hold"
                                                   : "%s is not UTF-8",
                            sf_quote(&quoted, (struct sf_text){text.at + valid, fault}));
    }
    if (decoded_bytes == 0) {
        return refuse(topic, 0, 0, "the topic filter is empty");
    }
    if (decoded_bytes > MAX_TOPIC_BYTES) {
        return refuse(topic, 0, text.bytes, "a topic filter has at most 65535 bytes");
    }
    size_t start = 0;
    enum sf_status status = check_share(topic, &start);
    return status == SF_OK ? check_levels(topic, start) : status;
}

/* How long `text` is once decoded. */
static size_t decoded_length(struct sf_text text) {
    size_t n = 0;
    size_t bytes = 0;
    for (size_t at = 0; at < text.bytes; at += bytes) {
        decoded_at(text, at, &bytes);
        n++;
    }
    return n;
}

enum sf_status sf_topic_decode(char *text, size_t bytes, size_t *decoded_bytes_out,
                               struct sf_error *error) {
    const struct topic topic = {.text = {text, bytes}, .error = error};
    enum sf_status status = check_topic(&topic, decoded_length(topic.text));
    if (status == SF_OK) {
        *decoded_bytes_out = sf_escape_decode_wildcards(topic.text, text);
    }
    return status;
}
