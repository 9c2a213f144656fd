/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The one spelling of expressions that are the same up to spelling. Filters are shared by it and hosts derive lasting
 * names from it, so it must not change: what is written here is part of the interface. */
#ifndef SUBFILTER_CANONICAL_H
#define SUBFILTER_CANONICAL_H

#include "ast.h"
#include "buffer.h"

/* Write a whole checked tree with its dialect prefix. It parses to the same tree again. */
void sf_canonical_write(struct sf_buffer *buffer, enum sf_dialect dialect,
                        const struct sf_node *root);

/* Write one node of such a tree for a reader: escaped is only what the dialect itself would take for something else, not
 * what a subscription string cannot hold. A name of kv or tag is written as it is. */
void sf_canonical_write_plain(struct sf_buffer *buffer, enum sf_dialect dialect,
                              const struct sf_node *node);

#endif
