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

/* So many short texts are faster compared one by one. */
enum { SF_SET_FEW = 8 };

/* A set as an instruction refers to it. */
struct sf_set {
    uint32_t n_texts;
    uint32_t n_numbers;
    uint32_t offset; /* in the data */
};

/* Append a set of the literals from `first` on to `data`; `is_strict`: strict_integers applies. SF_OK or SF_E_NOMEM. */
SF_MUST_CHECK enum sf_status sf_set_build(struct sf_set *set_out, struct sf_arena *arena,
                                          struct sf_buffer *data, const struct sf_node *first,
                                          bool is_strict);

/* Whether a set is what IN_FEW looks in: few texts of up to eight bytes each, no numbers. */
bool sf_set_is_few(const struct sf_set *set, const struct sf_buffer *data);

/* Whether one of the texts is `text`, whose sf_text_word is `word`. */
bool sf_set_has_text(const struct sf_instruction *in, struct sf_text text, uint64_t word);

/* Whether one of the numbers is the value, which has been tried as a number; unknown when it is in a state that they do
 * not meet. */
enum sf_truth sf_set_has_number(const struct sf_instruction *in, const struct sf_value *value);

#endif
