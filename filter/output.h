/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Text for people, handed to the caller's sf_write_fn in pieces. */
#ifndef SUBFILTER_OUTPUT_H
#define SUBFILTER_OUTPUT_H

#include "subfilter.h"
#include "text.h"

struct sf_output {
    sf_write_fn *write;
    void *user;
    size_t column; /* bytes since the last sf_output_end_line */
};

/* At most 127 bytes at a time. */
void sf_output_print(struct sf_output *output, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* All of `text`, as sf_quote writes it. */
void sf_output_text(struct sf_output *output, struct sf_text text);

/* Blanks up to a column, at least two. */
void sf_output_column(struct sf_output *output, size_t column);

void sf_output_end_line(struct sf_output *output);

#endif
