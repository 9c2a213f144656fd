/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Filling in a struct sf_error. */
#ifndef SUBFILTER_ERROR_H
#define SUBFILTER_ERROR_H

#include <stdarg.h>

#include "subfilter.h"
#include "text.h"

/* Part of the input, fit to stand in a sentence. */
struct sf_quoted {
    char text[64];
};

/* Write `text` into *quoted: cut short, characters that cannot be seen as <U+HHHH>, bytes that are not UTF-8 as \xHH.
 * Returns quoted->text. */
const char *sf_quote(struct sf_quoted *quoted, struct sf_text text);

/* Fill in *error (may be NULL) and return `code`. A sentence that is too long is cut between characters. */
enum sf_status sf_error_set(struct sf_error *error, enum sf_status code, size_t offset,
                            size_t length, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* The same for callers that have a va_list. */
enum sf_status sf_error_vset(struct sf_error *error, enum sf_status code, size_t offset,
                             size_t length, const char *format, va_list arguments)
    __attribute__((format(printf, 5, 0)));

enum sf_status sf_error_no_memory(struct sf_error *error);

#endif
