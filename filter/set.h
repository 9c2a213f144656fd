/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What IN looks in: texts and numbers, in the data of a program. */
#ifndef SUBFILTER_SET_H
#define SUBFILTER_SET_H

#include "arena.h"
#include "ast.h"
#include "buffer.h"
#include "program.h"
#include "value.h"

/* A set as an instruction refers to it. */
struct sf_set {
    uint32_t n_texts;
    uint32_t n_numbers;
    uint32_t offset; /* in the data */
};

/* Append a set of the literals from `first` on to `data`. SF_OK or SF_E_NOMEM. */
SF_MUST_CHECK enum sf_status sf_set_build(struct sf_set *set_out, struct sf_arena *arena,
                                          struct sf_buffer *data, const struct sf_node *first);

/* Whether one of the texts is the value's text. An absent value's is none. */
bool sf_set_has_text(const struct sf_program *program, const struct sf_instruction *in,
                     const struct sf_value *value);

#endif
