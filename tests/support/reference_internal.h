/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The tree that the reference parses expressions into, and what its files share. */
#ifndef TESTS_SUPPORT_REFERENCE_INTERNAL_H
#define TESTS_SUPPORT_REFERENCE_INTERNAL_H

#include "reference.h"

enum ref_kind {
    REF_NAME,
    REF_STRING,
    REF_NUMBER,
    REF_CONDITION,
    REF_NULL,
};

enum ref_op {
    /* operands */
    REF_OP_PROPERTY, /* text */
    REF_OP_TOPIC,
    REF_OP_CONTENT_TYPE,
    REF_OP_RESPONSE_TOPIC,
    REF_OP_QOS,
    REF_OP_PAYLOAD_BYTES,
    REF_OP_RETAIN,
    REF_OP_STRING,  /* text */
    REF_OP_LITERAL, /* number */
    REF_OP_TRUE,
    REF_OP_FALSE,
    REF_OP_NULL,
    /* arithmetic */
    REF_OP_PLUS, /* sign: left */
    REF_OP_MINUS,
    REF_OP_ADD,
    REF_OP_SUBTRACT,
    REF_OP_MULTIPLY,
    REF_OP_DIVIDE,
    /* conditions */
    REF_OP_EQ,
    REF_OP_NE,
    REF_OP_LT,
    REF_OP_LE,
    REF_OP_GT,
    REF_OP_GE,
    REF_OP_BETWEEN, /* left, right .. third */
    REF_OP_IN,      /* left, literals from right by ->next */
    REF_OP_LIKE,    /* left, text is the pattern, escape the character */
    REF_OP_CONTAINS,
    REF_OP_STARTSWITH,
    REF_OP_ENDSWITH,
    REF_OP_IS_NULL,
    REF_OP_NOT,
    REF_OP_AND,
    REF_OP_OR,
    /* kv: text is the key, right the value (a string or a number); tag: text is the tag */
    REF_OP_KV_EQ,
    REF_OP_KV_LT,
    REF_OP_KV_LE,
    REF_OP_KV_GT,
    REF_OP_KV_GE,
    REF_OP_TAG,
    REF_OP_TAG_ANY,
};

struct ref_node {
    enum ref_op op;
    enum ref_kind kind;
    bool negated; /* NOT BETWEEN, NOT IN, NOT LIKE ..., IS NOT NULL */
    struct ref_node *left;
    struct ref_node *right;
    struct ref_node *third;
    struct ref_node *next;
    struct ref_text text;
    struct ref_text escape; /* .text NULL: none */
    struct ref_number number;
};

struct ref_filter {
    enum sf_dialect dialect;
    bool strict_integers;
    struct ref_text tag_key;
    struct ref_node *root;
    struct ref_chunk *chunks; /* everything that was allocated for this filter */
    ref_codes codes;          /* faults found so far */
};

#define REF_CODE(status) ((ref_codes)1 << (status))

/* Zeroed memory that lives as long as the filter. */
void *ref_allocate(struct ref_filter *filter, size_t bytes);
struct ref_node *ref_node(struct ref_filter *filter, enum ref_op op, enum ref_kind kind);

bool ref_is_space(char c);
struct ref_text ref_trim(struct ref_text text);
bool ref_equal(struct ref_text left, struct ref_text right);
/* 0 to 15, -1 for anything else */
int ref_hex(char c);

/* The bytes of the character that starts at text[0]; at least 1. */
size_t ref_character(const char *text, size_t bytes);

/* Parse `text`, decoded and UTF-8, as a sql expression into filter->root, faults into filter->codes. */
void ref_parse_sql(struct ref_filter *filter, struct ref_text text);

/* Numbers; what is not finite is not known. */
struct ref_number ref_number_integer(int64_t integer);
struct ref_number ref_number_real(double real);
struct ref_number ref_number_arithmetic(enum ref_op op, struct ref_number left,
                                        struct ref_number right);

/* The value of an operand that reads no message: literals, signs, arithmetic. */
struct ref_number ref_constant(const struct ref_node *node);
bool ref_is_constant(const struct ref_node *node);

#endif
