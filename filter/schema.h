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

/* One block of memory: this, the slots of the names it reads, its program. */
struct sf_filter {
    struct sf_schema *schema;
    uint32_t id; /* in schema->filters, which counts the references and holds the text */
    uint32_t text_bytes;
    uint32_t n_names;
    uint8_t dialect;
    bool strict_integers;
    uint32_t *names; /* ids in schema->names, in order of first appearance; a reference to each */
    const struct sf_program *program;
};

#endif
