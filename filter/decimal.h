/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Decimal digits to the nearest double. */
#ifndef SUBFILTER_DECIMAL_H
#define SUBFILTER_DECIMAL_H

#include <stdbool.h>
#include <stdint.h>

#include "text.h"

/* A decimal number that is not 0: 0.d1d2d3... times ten to the power of `point`, where d1 is not 0. */
struct sf_decimal {
    struct sf_text digits; /* d1d2d3..., with one '.' among them or without */
    int64_t point;
    uint64_t head; /* the first n_head digits, at most 19 */
    int n_head;
    bool has_more; /* digits behind the head that are not all 0 */
};

/* The nearest double, of two equally near ones the even one; infinity when it is beyond all doubles. The time is
 * linear in the digits. */
double sf_decimal_to_double(const struct sf_decimal *decimal);

#endif
