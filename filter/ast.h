/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The syntax tree, one for all dialects: a kv expression is an AND of comparisons, a tag expression an IN. Trees live
 * in an arena and only while a filter is compiled or described. Functions that walk one recur: its depth is bounded by
 * SF_MAX_OPERATORS, since each level but the last two is an operator. */
#ifndef SUBFILTER_AST_H
#define SUBFILTER_AST_H

#include "number.h"
#include "subfilter.h"
#include "text.h"

enum sf_node_type {
    SF_NODE_NAME,      /* text: of a User Property */
    SF_NODE_ATTRIBUTE, /* attribute */
    SF_NODE_STRING,    /* text */
    SF_NODE_NUMBER, /* text: as it was written, with a sign only in an IN list and in the smallest integer */
    SF_NODE_TRUTH, /* TRUE or FALSE: is_true; the tag *: any */
    SF_NODE_NULL,
    SF_NODE_OR,  /* two or more children, none of them an OR */
    SF_NODE_AND, /* two or more, none of them an AND; kv: one or more */
    SF_NODE_NOT,
    SF_NODE_COMPARE,  /* relation, two children */
    SF_NODE_IS_NULL,  /* negated: IS NOT NULL */
    SF_NODE_BETWEEN,  /* three children */
    SF_NODE_IN,       /* what is looked for, then one or more literals */
    SF_NODE_LIKE,     /* text: the pattern as written; escape; pattern; one child */
    SF_NODE_CONTAINS, /* text; one child; the next two as well */
    SF_NODE_STARTSWITH,
    SF_NODE_ENDSWITH,
    SF_NODE_SIGN,       /* sign: + or -; one child */
    SF_NODE_ARITHMETIC, /* sign: + - * or /; two children */
};

/* What an operand is (LANGUAGE, operands). */
enum sf_kind {
    SF_KIND_NAME,
    SF_KIND_STRING,
    SF_KIND_NUMBER,
    SF_KIND_CONDITION,
    SF_KIND_NULL,
};

enum sf_attribute {
    SF_ATTRIBUTE_TOPIC,
    SF_ATTRIBUTE_CONTENT_TYPE,
    SF_ATTRIBUTE_RESPONSE_TOPIC,
    SF_ATTRIBUTE_QOS,
    SF_ATTRIBUTE_PAYLOAD_BYTES,
    SF_ATTRIBUTE_RETAIN,
    SF_N_ATTRIBUTES,
};

struct sf_node {
    enum sf_node_type type;
    enum sf_relation relation; /* of COMPARE; <> is SF_LESS | SF_GREATER */
    enum sf_attribute attribute;
    bool negated; /* NOT IN, NOT LIKE, ..., IS NOT NULL */
    bool any;     /* kv and tag: of several values with one name any may hold, not only the last */
    bool is_true;
    /* a number that does not depend on the message, and that is `number` (set by sf_check) */
    bool is_constant;
    /* a condition that looks at more than a few bytes, or has one below it (set by the compiler) */
    bool is_costly;
    char sign;
    /* of a NAME or ATTRIBUTE: where its value is, as instructions have it (set by the compiler) */
    uint32_t slot;
    size_t start; /* where it is in what the parser read, with its parentheses */
    size_t bytes;
    struct sf_node *first; /* its children: the first, and from each the next */
    struct sf_node *next;
    struct sf_node *last; /* of an AND or OR: its last child */
    struct sf_text text;
    struct sf_text pattern; /* of LIKE: text as like.h encodes it */
    struct sf_text escape;  /* at is NULL without ESCAPE */
    struct sf_number number;
};

enum sf_kind sf_node_kind(const struct sf_node *node);

/* Whether the node has a slot in messages. */
static inline bool sf_node_is_slot(const struct sf_node *node) {
    return node->type == SF_NODE_NAME || node->type == SF_NODE_ATTRIBUTE;
}

/* An integer literal, with or without one sign. */
bool sf_node_is_integer_literal(const struct sf_node *node);

const char *sf_attribute_name(enum sf_attribute attribute);
enum sf_kind sf_attribute_kind(enum sf_attribute attribute);

/* Whether `name` is a system attribute, $ included; which one in *attribute_out. */
bool sf_attribute_find(struct sf_text name, enum sf_attribute *attribute_out);

/* "=", "<>", "<", "<=", ">" or ">=" */
const char *sf_relation_name(enum sf_relation relation);

/* How an operator of this type is written: "IN", "LIKE", ...; "" for what is not written with a word. */
const char *sf_node_keyword(enum sf_node_type type);

#endif
