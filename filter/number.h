/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Numbers (LANGUAGE, numbers): an exact 64-bit integer or a finite IEEE double, compared by mathematical value. The C
 * library's conversions are not used: they depend on the locale and read what the language does not. */
#ifndef SUBFILTER_NUMBER_H
#define SUBFILTER_NUMBER_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "text.h"

enum sf_number_kind {
    SF_NUMBER_UNTRIED, /* of a value: nobody has asked yet */
    SF_NUMBER_NONE,    /* not a number; the result of arithmetic that is unknown */
    SF_NUMBER_INTEGER,
    SF_NUMBER_REAL, /* finite */
};

struct sf_number {
    enum sf_number_kind kind;
    union {
        int64_t integer;
        double real;
    };
};

/* What a comparison finds, as bits, so that a set of them is an operator: SF_LESS | SF_EQUAL is <=. */
enum sf_relation {
    SF_LESS = 1,
    SF_EQUAL = 2,
    SF_GREATER = 4,
    SF_ANY_RELATION = 7,
};

static inline struct sf_number sf_number_none(void) {
    return (struct sf_number){.kind = SF_NUMBER_NONE};
}

static inline struct sf_number sf_number_integer(int64_t integer) {
    return (struct sf_number){.kind = SF_NUMBER_INTEGER, .integer = integer};
}

/* SF_NUMBER_NONE when `real` is not finite. */
static inline struct sf_number sf_number_real(double real) {
    return (struct sf_number){.kind = isfinite(real) ? SF_NUMBER_REAL : SF_NUMBER_NONE,
                              .real = real};
}

/* The number that `text` is, white space around it allowed; else SF_NUMBER_NONE. */
struct sf_number sf_number_parse(struct sf_text text);

/* How many bytes at the start of `text` have the form of an unsigned number: the longest such beginning; 0: none. */
size_t sf_number_scan(struct sf_text text, bool *is_integer_out);

/* Both must be known. Exact also between integers and doubles. */
enum sf_relation sf_number_compare(struct sf_number left, struct sf_number right);

/* LANGUAGE, operands: the result is SF_NUMBER_NONE when an operand is, and where the result is unknown. */
struct sf_number sf_number_add(struct sf_number left, struct sf_number right);
struct sf_number sf_number_subtract(struct sf_number left, struct sf_number right);
struct sf_number sf_number_multiply(struct sf_number left, struct sf_number right);
struct sf_number sf_number_divide(struct sf_number left, struct sf_number right);
struct sf_number sf_number_negate(struct sf_number number);

/* Write a known number so that reading it gives the same; NUL-terminated. `out` has SF_NUMBER_TEXT_BYTES. Returns the
 * length. Slow: for people. */
enum { SF_NUMBER_TEXT_BYTES = 32 };
size_t sf_number_write(struct sf_number number, char *out);

#endif
