/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A schema and its filters. */
#ifndef SUBFILTER_SCHEMA_H
#define SUBFILTER_SCHEMA_H

#include "intern.h"
#include "program.h"
#include "subfilter.h"

struct sf_schema {
    struct sf_intern names;
    struct sf_intern filters; /* by key: see filter.c */
    uint64_t generation;
};

/* One block of memory: this, its program, the ids of the names that it reads. */
struct sf_filter {
    struct sf_schema *schema;
    uint32_t *names; /* ids in schema->names, in order of first appearance; a reference to each */
    uint32_t n_names;
    uint32_t id; /* in schema->filters, which counts the references and holds the text */
    uint32_t text_bytes;
    uint8_t dialect;
    bool strict_integers;
};

static inline const struct sf_program *sf_filter_program(const struct sf_filter *filter) {
    const void *behind = filter + 1;
    return behind;
}

_Static_assert(sizeof(struct sf_filter) % _Alignof(struct sf_program) == 0,
               "the program follows the filter");

#endif
