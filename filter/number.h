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
    SF_NUMBER_NONE, /* not a number; the result of arithmetic that is unknown */
    SF_NUMBER_REAL, /* finite */
    SF_NUMBER_INTEGER,
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

/* A known number of either kind in the form in which it is compared: the part before the point, and what is behind it
 * (with the number's sign) as an integer that has the order of the doubles. Both are exact, and numbers are in the
 * order of `whole`, and of `rest` where that is equal. A double beyond the integers has the nearest integer as `whole`
 * and itself as `rest`. */
struct sf_rank {
    int64_t whole;
    uint64_t rest;
};

#define SF_RANK_NO_REST (UINT64_C(1) << 63) /* `rest` of an integer */

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

struct sf_rank sf_number_rank(struct sf_number number);

/* The number that has this rank, of the kind that it had. */
struct sf_number sf_number_of_rank(enum sf_number_kind kind, struct sf_rank rank);

/* Without a branch: which way numbers of messages compare is anybody's guess. 0 or 1. */
static inline unsigned sf_rank_is_less(struct sf_rank left, struct sf_rank right) {
    unsigned less = left.whole < right.whole;
    unsigned same = left.whole == right.whole;
    return less | (same & (left.rest < right.rest));
}

static inline unsigned sf_rank_is_equal(struct sf_rank left, struct sf_rank right) {
    return (left.whole == right.whole) & (left.rest == right.rest);
}

/* The least rank above, so that x <= y is x < the next of y. There is one for each finite number. */
static inline struct sf_rank sf_rank_next(struct sf_rank rank) {
    return (struct sf_rank){rank.whole, rank.rest + 1};
}

static inline enum sf_relation sf_rank_compare(struct sf_rank left, struct sf_rank right) {
    return sf_rank_is_less(left, right)    ? SF_LESS
           : sf_rank_is_equal(left, right) ? SF_EQUAL
                                           : SF_GREATER;
}

/* Both must be known. */
static inline enum sf_relation sf_number_compare(struct sf_number left, struct sf_number right) {
    return sf_rank_compare(sf_number_rank(left), sf_number_rank(right));
}

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
