/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Random expressions and messages. An expression comes from two streams of random numbers: one decides what it
 * says, the other how it is spelled (white space, comments, letter case, escapes, quotes, redundant parentheses).
 * The same first stream with another second one gives another spelling of the same expression.
 */
#ifndef TESTS_SUPPORT_GENERATOR_H
#define TESTS_SUPPORT_GENERATOR_H

#include "reference.h"

#define GENERATOR_MAX_BYTES      16384
#define GENERATOR_MAX_PROPERTIES 300

struct generated_expression {
    char text[GENERATOR_MAX_BYTES];
    size_t bytes;
};

/* Nearly always an expression that is accepted; all dialects. */
void generate_expression(uint64_t structure_seed, uint64_t spelling_seed,
                         struct generated_expression *expression_out);

/* Damage an expression in one or a few places: mostly it is not accepted any more. */
void generate_damage(uint64_t *state, struct generated_expression *expression);

struct generated_message {
    struct ref_property properties[GENERATOR_MAX_PROPERTIES];
    struct ref_message message;
};

/* A message whose names and values are mostly those that expressions speak of. Borrows static text. */
void generate_message(uint64_t *state, struct generated_message *message_out);

/* One of the names that the tag property may have in generated messages. */
const char *generate_tag_key(uint64_t *state);

#endif
