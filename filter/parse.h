/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the parsers of the three dialects and the checker share: the text, where the tree goes, and what is wrong. */
#ifndef SUBFILTER_PARSE_H
#define SUBFILTER_PARSE_H

#include "arena.h"
#include "ast.h"
#include "subfilter.h"

struct sf_parse {
    struct sf_text sent; /* the expression as the caller passed it, dialect prefix included */
    size_t body;         /* where it starts behind the prefix */
    /* sql: the decoded body, in which positions of nodes count; at is NULL in other dialects, where they count in
     * the body as sent */
    struct sf_text decoded;
    const char *tag_key;    /* NUL-terminated */
    struct sf_arena *arena; /* for the tree and its text */
    struct sf_error *error; /* may be NULL */
    enum sf_status status;  /* SF_OK until something is refused */
    size_t n_operators;
};

/* Parse the body in the dialect. NULL: refused or out of memory; parse->status and *parse->error say why. */
struct sf_node *sf_parse_kv(struct sf_parse *parse);
struct sf_node *sf_parse_tag(struct sf_parse *parse);
struct sf_node *sf_parse_sql(struct sf_parse *parse);

/* Check that all operands in a tree of sql have kinds that can be used so, that patterns and bounds make sense, and
 * fold constants: sets is_constant and number. Returns parse->status. */
enum sf_status sf_check(struct sf_parse *parse, struct sf_node *root);

/* The body as sent. */
static inline struct sf_text sf_parse_body(const struct sf_parse *parse) {
    return (struct sf_text){parse->sent.at + parse->body, parse->sent.bytes - parse->body};
}

/* ---- for the parsers ------------------------------------------------------------------------------------------- */

/* Record the first refusal, at `bytes` bytes from `start` (in positions of nodes). Returns NULL, for callers that
 * return a node. */
struct sf_node *sf_parse_refuse(struct sf_parse *parse, enum sf_status code, size_t start,
                                size_t bytes, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Zeroed memory from the arena; NULL: out of memory, which is recorded. */
void *sf_parse_alloc(struct sf_parse *parse, size_t bytes);

/* NULL: out of memory, which is recorded. */
struct sf_node *sf_parse_node(struct sf_parse *parse, enum sf_node_type type, size_t start,
                              size_t bytes);

/* Count the operator, clause or tag at `start`. False: one too many, which is recorded. */
bool sf_parse_count(struct sf_parse *parse, size_t start, size_t bytes, const char *what);

/* Refuse the part at `start` of the body as sent, which is a NUL or not UTF-8 once decoded. */
void sf_parse_refuse_bytes(struct sf_parse *parse, size_t start, size_t bytes, bool is_nul);

/* Decode all escapes of a key, value or tag that is at `start`. False: refused or out of memory, which is recorded. */
bool sf_parse_decode(struct sf_parse *parse, struct sf_text sent, size_t start,
                     struct sf_text *decoded_out);

/* Where a part of the body that was found empty is to be shown: its blanks, or what stands behind it. */
size_t sf_parse_empty_bytes(const struct sf_parse *parse, size_t start, size_t bytes);

#endif
