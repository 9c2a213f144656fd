/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The words of sql. A token is a piece of the decoded text; only strings and quoted names with doubled quotes in them
 * are copied. */
#ifndef SUBFILTER_LEXER_H
#define SUBFILTER_LEXER_H

#include "parse.h"

enum sf_token_type {
    SF_TOKEN_END,
    SF_TOKEN_NAME,      /* text */
    SF_TOKEN_ATTRIBUTE, /* attribute */
    SF_TOKEN_STRING,    /* text */
    SF_TOKEN_NUMBER, /* text, number; is_smallest: 9223372036854775808, which needs a '-' directly before it */
    SF_TOKEN_OPEN,
    SF_TOKEN_CLOSE,
    SF_TOKEN_COMMA,
    SF_TOKEN_PLUS,
    SF_TOKEN_MINUS,
    SF_TOKEN_STAR,
    SF_TOKEN_SLASH,
    SF_TOKEN_EQUAL,
    SF_TOKEN_UNEQUAL,
    SF_TOKEN_LESS,
    SF_TOKEN_LESS_EQUAL,
    SF_TOKEN_GREATER,
    SF_TOKEN_GREATER_EQUAL,
    SF_TOKEN_AND,
    SF_TOKEN_OR,
    SF_TOKEN_NOT,
    SF_TOKEN_IS,
    SF_TOKEN_NULL,
    SF_TOKEN_TRUE,
    SF_TOKEN_FALSE,
    SF_TOKEN_ESCAPE,
    /* the words that NOT may stand before, as in NOT IN, and nothing else from here on */
    SF_TOKEN_BETWEEN,
    SF_TOKEN_IN,
    SF_TOKEN_LIKE,
    SF_TOKEN_CONTAINS,
    SF_TOKEN_STARTSWITH,
    SF_TOKEN_ENDSWITH,
};

struct sf_token {
    enum sf_token_type type;
    size_t start;
    size_t bytes;
    struct sf_text text;
    enum sf_attribute attribute;
    struct sf_number number;
    bool is_smallest;
};

struct sf_lexer {
    struct sf_parse *parse;
    struct sf_text text; /* decoded */
    size_t at;
    size_t name_start; /* the unquoted name that was read last */
    size_t name_end;   /* 0: none yet */
};

/* Decode the body of `parse` and start to read it. False: refused or out of memory, which is recorded there. */
bool sf_lexer_init(struct sf_lexer *lexer, struct sf_parse *parse);

/* Read the next token; at the end, SF_TOKEN_END with no bytes, for ever. False: refused or out of memory. */
bool sf_lexer_next(struct sf_lexer *lexer, struct sf_token *token);

/* Whether `name` can be written in sql without quotes. */
bool sf_lexer_is_plain_name(struct sf_text name);

/* Whether one of the words of `text`, which are between white space, is a keyword of sql. */
bool sf_lexer_has_keyword(struct sf_text text);

#endif
