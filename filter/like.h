/* SPDX-License-Identifier: BSD-3-Clause
 *
 * LIKE and CONTAINS, in time that is linear in the text, but that a part of a pattern with _ counts its length. */
#ifndef SUBFILTER_LIKE_H
#define SUBFILTER_LIKE_H

#include "text.h"

/* A pattern is encoded as its text with these for the wildcards: bytes that UTF-8 does not have. Runs are never next to
 * each other. */
#define SF_LIKE_RUN '\xFE' /* % */
#define SF_LIKE_ONE '\xFF' /* _ */

enum sf_like_fault {
    SF_LIKE_OK,
    SF_LIKE_ESCAPE_NOT_ONE, /* ESCAPE is not one character */
    SF_LIKE_ESCAPE_AT_END,  /* the pattern ends in the escape character */
    SF_LIKE_TOO_LONG, /* more than SF_MAX_PATTERN characters between two % with a _ among them */
};

/* Encode a pattern (UTF-8); escape.at is NULL without ESCAPE. `out` has pattern.bytes; the encoded pattern is not
 * longer. */
enum sf_like_fault sf_like_encode(struct sf_text pattern, struct sf_text escape, char *out,
                                  size_t *bytes_out);

/* Whether `text` as a whole is like the encoded pattern. */
bool sf_like_match(struct sf_text encoded, struct sf_text text);

bool sf_contains(struct sf_text text, struct sf_text part);
bool sf_starts_with(struct sf_text text, struct sf_text part);
bool sf_ends_with(struct sf_text text, struct sf_text part);

#endif
