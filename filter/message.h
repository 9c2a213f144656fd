/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A message bound to a schema. */
#ifndef SUBFILTER_MESSAGE_H
#define SUBFILTER_MESSAGE_H

#include "schema.h"
#include "value.h"

struct sf_message {
    struct sf_value *slots; /* by slot: the last value of each name */
    uint64_t generation;    /* of the schema when it was bound */
    struct sf_schema *schema;
    bool has_no_memory;
    uint32_t n_slots;
    uint32_t n_properties; /* all of them; beyond SF_MAX_PROPERTIES it stays one above */
    uint32_t n_touched;
    uint32_t n_earlier;
    uint32_t touched[SF_MAX_PROPERTIES];        /* slots of names with a value */
    struct sf_value earlier[SF_MAX_PROPERTIES]; /* values that are not the last of their name */
};

/* What every filter gives for this message whatever it says; SF_TRUE: it must be evaluated. */
enum sf_truth sf_message_verdict(const struct sf_message *message);

#endif
