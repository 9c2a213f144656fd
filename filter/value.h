/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The values of a message, as programs read them. Each name that living filters read has a slot, an index into the
 * array of values of every message; system attributes have the first slots. */
#ifndef SUBFILTER_VALUE_H
#define SUBFILTER_VALUE_H

#include "ast.h"
#include "number.h"

#define SF_ABSENT UINT32_MAX /* longer than any value */

/* What is known about a value, as bits. */
enum sf_value_state {
    SF_VALUE_ABSENT = 1,    /* it has no text */
    SF_VALUE_EARLIER = 2,   /* the name has other values as well */
    SF_VALUE_UNTRIED = 4,   /* nobody has asked yet whether the text is a number */
    SF_VALUE_NO_NUMBER = 8, /* it is none */
    SF_VALUE_REAL = 16,     /* it is one, but not in integer form */
};

/* Half a cache line, with all that comparisons look at first. The text itself is in another array. */
struct sf_value {
    uint64_t word;       /* sf_text_word of the text */
    struct sf_rank rank; /* of a number */
    uint32_t bytes;      /* of the text; SF_ABSENT */
    uint8_t state;       /* bits of enum sf_value_state */
    /* with SF_VALUE_EARLIER: where the value before this one is, in slots behind those of names */
    uint16_t earlier;
};

static inline struct sf_value sf_value_absent(void) {
    return (struct sf_value){.bytes = SF_ABSENT, .state = SF_VALUE_ABSENT | SF_VALUE_NO_NUMBER};
}

/* A system attribute's slot, and a name's. */
static inline uint32_t sf_slot_of_attribute(enum sf_attribute attribute) {
    return (uint32_t)attribute;
}

static inline uint32_t sf_slot_of_name(uint32_t id) {
    return id + SF_N_ATTRIBUTES;
}

#endif
