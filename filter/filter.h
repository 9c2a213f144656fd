/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A filter's text, made a tree again. */
#ifndef SUBFILTER_FILTER_H
#define SUBFILTER_FILTER_H

#include "arena.h"
#include "ast.h"
#include "schema.h"

/* The tree of a filter, checked; it lives as long as the arena. NULL: out of memory. */
struct sf_node *sf_filter_parse(const struct sf_filter *filter, struct sf_arena *arena);

/* The name of a slot. */
struct sf_text sf_slot_name(const struct sf_schema *schema, uint32_t slot);

#endif
