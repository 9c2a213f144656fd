/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The tokens of the reference's sql dialect: read one at a time from decoded text. */
#ifndef TESTS_SUPPORT_REFERENCE_TOKENS_H
#define TESTS_SUPPORT_REFERENCE_TOKENS_H

#include <setjmp.h>

#include "reference_internal.h"

enum ref_token_type {
    REF_TOKEN_END,
    REF_TOKEN_NUMBER,
    REF_TOKEN_STRING,
    REF_TOKEN_NAME,      /* text: decoded name */
    REF_TOKEN_ATTRIBUTE, /* text: with the $ */
    REF_TOKEN_KEYWORD,   /* text: in capitals */
    REF_TOKEN_SYMBOL,    /* text */
};

struct ref_token {
    enum ref_token_type type;
    size_t start;
    size_t end;
    struct ref_text text;
    struct ref_number number;
    ref_codes faults; /* what is wrong with it; it is reported when it is consumed */
    bool smallest; /* 9223372036854775808, which only the '-' directly before it makes a number */
};

struct ref_parser {
    struct ref_filter *filter;
    const char *text;
    size_t bytes;
    struct ref_token token; /* the one to be consumed next */
    size_t n_operators;
    size_t nesting;
    jmp_buf stop;
};

/* Make the next token of the text parser->token. */
void ref_advance(struct ref_parser *parser);

/* Whether there is an attribute of this name ($ included), and what its node is. */
bool ref_attribute(struct ref_text text, struct ref_node *node_out);

/* A fault of the text: jump to parser->stop with it. */
_Noreturn void ref_stop(struct ref_parser *parser, ref_codes codes);

/* A fault of meaning unless `fine`: go on as if it were. */
void ref_note(struct ref_parser *parser, bool fine, enum sf_status code);

#endif
