/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Percent-escapes. There is no table from decoded to sent positions: it would be built for every expression and read
 * only for those that are refused, so the way is walked again then. */
#include "escape.h"

static int hex_value(char c) {
    if (sf_is_digit(c)) {
        return c - '0';
    }
    char lower = sf_to_lower(c);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/* The byte that the escape at `offset` stands for; -1: no escape is there. */
static int escape_at(struct sf_text text, size_t offset) {
    if (text.at[offset] != '%' || text.bytes - offset < 3) {
        return -1;
    }
    int high = hex_value(text.at[offset + 1]);
    int low = hex_value(text.at[offset + 2]);
    return high < 0 || low < 0 ? -1 : high * 16 + low;
}

bool sf_escape_is_any(struct sf_text text, size_t offset) {
    return escape_at(text, offset) >= 0;
}

bool sf_escape_is_wildcard(struct sf_text text, size_t offset) {
    int byte = escape_at(text, offset);
    return byte == '#' || byte == '+' || byte == '?' || byte == '%';
}

/* Whether an escape that is to be decoded starts at `offset`. */
static bool is_decoded(struct sf_text text, size_t offset, bool wildcards_only) {
    return wildcards_only ? sf_escape_is_wildcard(text, offset) : sf_escape_is_any(text, offset);
}

static size_t decode(struct sf_text text, bool wildcards_only, char *out) {
    size_t n = 0;
    for (size_t at = 0; at < text.bytes; n++) {
        if (is_decoded(text, at, wildcards_only)) {
            out[n] = (char)escape_at(text, at);
            at += 3;
        } else {
            out[n] = text.at[at++];
        }
    }
    return n;
}

static size_t source_offset(struct sf_text text, bool wildcards_only, size_t decoded) {
    size_t at = 0;
    for (size_t n = 0; n < decoded && at < text.bytes; n++) {
        at += is_decoded(text, at, wildcards_only) ? 3 : 1;
    }
    return at;
}

size_t sf_escape_decode(struct sf_text text, char *out) {
    return decode(text, false, out);
}

size_t sf_escape_decode_wildcards(struct sf_text text, char *out) {
    return decode(text, true, out);
}

size_t sf_escape_source_offset(struct sf_text text, size_t decoded) {
    return source_offset(text, false, decoded);
}

size_t sf_escape_source_offset_of_wildcards(struct sf_text text, size_t decoded) {
    return source_offset(text, true, decoded);
}
