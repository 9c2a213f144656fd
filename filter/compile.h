/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From a checked tree to a program. */
#ifndef SUBFILTER_COMPILE_H
#define SUBFILTER_COMPILE_H

#include "arena.h"
#include "ast.h"
#include "intern.h"
#include "program.h"

struct sf_compiled {
    const struct sf_program *program; /* in the arena */
    uint32_t *names; /* in the arena: ids of the names it reads, each once, in order of first
                                         appearance; a reference to each, to be given back */
    uint32_t n_names;
};

/* Compile `root`, whose slot and is_costly are set on the way, with names in `names`. SF_OK or SF_E_NOMEM: then no
 * reference is kept. */
SF_MUST_CHECK enum sf_status sf_compile_tree(struct sf_arena *arena, struct sf_intern *names,
                                             bool strict_integers, struct sf_node *root,
                                             struct sf_compiled *compiled_out);

/* The same for a tree of which all names are in `names` and stay there: takes no references and changes nothing, so it
 * can run beside others. NULL: out of memory. */
const struct sf_program *sf_compile_part(struct sf_arena *arena, struct sf_intern *names,
                                         bool strict_integers, struct sf_node *root);

#endif
