/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Percent-escapes (LANGUAGE, subscription strings). */
#ifndef SUBFILTER_ESCAPE_H
#define SUBFILTER_ESCAPE_H

#include <stddef.h>

#include "text.h"

/* Decode each %HH of `text`; the result, never longer, is written to `out`, which may be where text is. Returns its
 * length. */
size_t sf_escape_decode(struct sf_text text, char *out);

/* The same for %23 %2B %3F %25 only. */
size_t sf_escape_decode_wildcards(struct sf_text text, char *out);

/* Whether a %HH starts at text.at[offset]. */
bool sf_escape_is_any(struct sf_text text, size_t offset);

/* Whether %23 %2B %3F or %25 starts at text.at[offset]. */
bool sf_escape_is_wildcard(struct sf_text text, size_t offset);

/* Where byte `decoded` of what sf_escape_decode makes of `text` comes from. */
size_t sf_escape_source_offset(struct sf_text text, size_t decoded);

/* The same for sf_escape_decode_wildcards. */
size_t sf_escape_source_offset_of_wildcards(struct sf_text text, size_t decoded);

#endif
