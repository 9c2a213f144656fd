/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the files of the generator share, see generator.h. */
#ifndef TESTS_SUPPORT_GENERATOR_INTERNAL_H
#define TESTS_SUPPORT_GENERATOR_INTERNAL_H

#include "generator.h"

#define GEN_N_NAMES   23
#define GEN_N_TEXTS   49
#define GEN_N_NUMBERS 35

extern const char *const gen_names[GEN_N_NAMES]; /* the first are the frequent ones */
extern const char *const gen_texts[GEN_N_TEXTS];
extern const char
    *const gen_numbers[GEN_N_NUMBERS]; /* also literals; the first five are in order */

struct generator {
    uint64_t structure;
    uint64_t spelling;
    char *text;
    size_t bytes;
    size_t budget; /* how many more operators */
};

/* Below n; "spell" for what does not change what the expression says. */
size_t gen_pick(struct generator *g, size_t n);
bool gen_chance(struct generator *g, size_t percent);
size_t gen_spell(struct generator *g, size_t n);
bool gen_spell_chance(struct generator *g, size_t percent);

void gen_put_bytes(struct generator *g, const char *text, size_t bytes);
void gen_put(struct generator *g, const char *text);

/* Write a sql expression without its prefix, no escape in it yet. */
void gen_sql(struct generator *g);

#endif
