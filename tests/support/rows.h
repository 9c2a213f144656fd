/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Tables of (expression, properties, answer), which most tests of the engine are. */
#ifndef TESTS_SUPPORT_ROWS_H
#define TESTS_SUPPORT_ROWS_H

#include "engine.h"

enum row_answer {
    ROW_FALSE = SF_FALSE,
    ROW_TRUE = SF_TRUE,
    ROW_UNKNOWN = SF_UNKNOWN,
    ROW_NO,  /* false or unknown: not delivered */
    ROW_BAD, /* refused */
};

struct row {
    const char *expr;
    enum row_answer expected;
    const char *pairs[2 * ENGINE_MAX_ROW_PROPERTIES + 1]; /* "name", "value", ... */
};

/* Run each row through engine_run with a CHECK that names it. NULL options: the defaults. */
void rows_check(const struct sf_options *options, const struct row *rows, size_t n_rows);

/* The same for one expression against any message. */
void rows_check_one(const struct sf_options *options, struct ref_text expr,
                    const struct ref_message *message, enum row_answer expected);

#endif
