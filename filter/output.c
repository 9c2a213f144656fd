/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Text for people. */
#include "output.h"

#include <stdarg.h>
#include <stdio.h>

#include "error.h"
#include "utf8.h"

static void write_bytes(struct sf_output *output, const char *text, size_t bytes) {
    output->write(output->user, text, bytes);
    output->column += bytes;
}

void sf_output_print(struct sf_output *output, const char *format, ...) {
    char text[128];
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (n > 0) {
        write_bytes(output, text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
    }
}

void sf_output_text(struct sf_output *output, struct sf_text text) {
    while (text.bytes > 0) {
        /* As many whole characters as one sf_quoted holds without cutting. */
        size_t n = 0;
        while (n < text.bytes && n < 8) {
            n += sf_utf8_next(text.at + n, text.bytes - n, NULL);
        }
        struct sf_quoted quoted;
        sf_quote(&quoted, (struct sf_text){text.at, n});
        write_bytes(output, quoted.text, strlen(quoted.text));
        text.at += n;
        text.bytes -= n;
    }
}

void sf_output_column(struct sf_output *output, size_t column) {
    size_t blanks = output->column + 2 <= column ? column - output->column : 2;
    sf_output_print(output, "%*s", (int)blanks, "");
}

void sf_output_end_line(struct sf_output *output) {
    output->write(output->user, "\n", 1);
    output->column = 0;
}
