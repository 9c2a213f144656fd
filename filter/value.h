/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One value of a message, as programs read it. Each name that living filters read has a slot, an index into the array of
 * values of every message; system attributes have the first slots. */
#ifndef SUBFILTER_VALUE_H
#define SUBFILTER_VALUE_H

#include "ast.h"
#include "number.h"

#define SF_ABSENT UINT32_MAX /* longer than any value */

/* Half a cache line. What most comparisons look at, length and first bytes, stands beside what the others need. */
struct sf_value {
    const char *at; /* kept by the host */
    uint64_t word;  /* sf_text_word of the text */
    union {
        int64_t integer;
        double real;
    };
    uint32_t bytes; /* SF_ABSENT: no such property */
    uint8_t
        kind; /* enum sf_number_kind: whether and what the text is as a number; absent: SF_NUMBER_NONE */
    uint16_t
        earlier; /* 1 + the index of the value before in sf_message.earlier; 0: this is the first one */
};

static inline struct sf_value sf_value_absent(void) {
    return (struct sf_value){.bytes = SF_ABSENT, .kind = SF_NUMBER_NONE};
}

static inline struct sf_text sf_value_text(const struct sf_value *value) {
    return (struct sf_text){value->at, value->bytes};
}

/* A system attribute's slot, and a name's. */
static inline uint32_t sf_slot_of_attribute(enum sf_attribute attribute) {
    return (uint32_t)attribute;
}

static inline uint32_t sf_slot_of_name(uint32_t id) {
    return id + SF_N_ATTRIBUTES;
}

#endif
