/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What can be said about a node without its surroundings. */
#include "ast.h"

static const struct {
    const char *name;
    enum sf_kind kind;
} attributes[SF_N_ATTRIBUTES] = {
    [SF_ATTRIBUTE_TOPIC] = {"$topic", SF_KIND_NAME},
    [SF_ATTRIBUTE_CONTENT_TYPE] = {"$content_type", SF_KIND_NAME},
    [SF_ATTRIBUTE_RESPONSE_TOPIC] = {"$response_topic", SF_KIND_NAME},
    [SF_ATTRIBUTE_QOS] = {"$qos", SF_KIND_NUMBER},
    [SF_ATTRIBUTE_PAYLOAD_BYTES] = {"$payload_bytes", SF_KIND_NUMBER},
    [SF_ATTRIBUTE_RETAIN] = {"$retain", SF_KIND_CONDITION},
};

const char *sf_attribute_name(enum sf_attribute attribute) {
    return attributes[attribute].name;
}

enum sf_kind sf_attribute_kind(enum sf_attribute attribute) {
    return attributes[attribute].kind;
}

bool sf_attribute_find(struct sf_text name, enum sf_attribute *attribute_out) {
    for (size_t i = 0; i < SF_N_ATTRIBUTES; i++) {
        if (sf_text_equal(name, (struct sf_text){attributes[i].name, strlen(attributes[i].name)})) {
            *attribute_out = (enum sf_attribute)i;
            return true;
        }
    }
    return false;
}

enum sf_kind sf_node_kind(const struct sf_node *node) {
    switch (node->type) {
    case SF_NODE_NAME:
        return SF_KIND_NAME;
    case SF_NODE_ATTRIBUTE:
        return sf_attribute_kind(node->attribute);
    case SF_NODE_STRING:
        return SF_KIND_STRING;
    case SF_NODE_NUMBER:
    case SF_NODE_SIGN:
    case SF_NODE_ARITHMETIC:
        return SF_KIND_NUMBER;
    case SF_NODE_NULL:
        return SF_KIND_NULL;
    default:
        return SF_KIND_CONDITION;
    }
}

bool sf_node_is_integer_literal(const struct sf_node *node) {
    if (node->type == SF_NODE_SIGN) {
        /* The text of the smallest integer has its sign already. */
        node = node->first;
        return node->type == SF_NODE_NUMBER && node->number.kind == SF_NUMBER_INTEGER &&
               node->text.at[0] != '-';
    }
    return node->type == SF_NODE_NUMBER && node->number.kind == SF_NUMBER_INTEGER;
}

const char *sf_relation_name(enum sf_relation relation) {
    switch ((int)relation) {
    case SF_EQUAL:
        return "=";
    case SF_LESS:
        return "<";
    case SF_LESS | SF_EQUAL:
        return "<=";
    case SF_GREATER:
        return ">";
    case SF_GREATER | SF_EQUAL:
        return ">=";
    default:
        return "<>";
    }
}

const char *sf_node_keyword(enum sf_node_type type) {
    switch (type) {
    case SF_NODE_OR:
        return "OR";
    case SF_NODE_AND:
        return "AND";
    case SF_NODE_NOT:
        return "NOT";
    case SF_NODE_BETWEEN:
        return "BETWEEN";
    case SF_NODE_IN:
        return "IN";
    case SF_NODE_LIKE:
        return "LIKE";
    case SF_NODE_CONTAINS:
        return "CONTAINS";
    case SF_NODE_STARTSWITH:
        return "STARTSWITH";
    case SF_NODE_ENDSWITH:
        return "ENDSWITH";
    default:
        return "";
    }
}
