/* SPDX-License-Identifier: BSD-3-Clause
 *
 * LIKE. A pattern is a row of segments with a % between each two. The first one is tied to the start of the text, the
 * last one to its end; for each of those between the leftmost place behind the one before is as good as any other, so
 * nothing is ever tried again. */
#define _GNU_SOURCE /* memmem, which is linear in both texts */
#include "like.h"

#include <stdint.h>

#include "subfilter.h"
#include "utf8.h"

/* ---- encoding -------------------------------------------------------------------------------------------------- */

enum sf_like_fault sf_like_encode(struct sf_text pattern, struct sf_text escape, char *out,
                                  size_t *bytes_out) {
    if (escape.at != NULL &&
        (escape.bytes == 0 || sf_utf8_next(escape.at, escape.bytes, NULL) != escape.bytes)) {
        return SF_LIKE_ESCAPE_NOT_ONE;
    }
    size_t n = 0;
    size_t n_characters = 0; /* since the last % */
    bool behind_run = false;
    bool has_one = false;
    for (size_t at = 0; at < pattern.bytes;) {
        size_t length = sf_utf8_next(pattern.at + at, pattern.bytes - at, NULL);
        bool is_escaped =
            escape.at != NULL && sf_text_equal((struct sf_text){pattern.at + at, length}, escape);
        if (is_escaped) {
            at += length;
            if (at == pattern.bytes) {
                return SF_LIKE_ESCAPE_AT_END;
            }
            length = sf_utf8_next(pattern.at + at, pattern.bytes - at, NULL);
        }
        if (!is_escaped && pattern.at[at] == '%') {
            if (behind_run && has_one && n_characters > SF_MAX_PATTERN) {
                return SF_LIKE_TOO_LONG;
            }
            if (n == 0 || out[n - 1] != SF_LIKE_RUN) {
                out[n++] = SF_LIKE_RUN;
            }
            behind_run = true;
            has_one = false;
            n_characters = 0;
        } else if (!is_escaped && pattern.at[at] == '_') {
            out[n++] = SF_LIKE_ONE;
            has_one = true;
            n_characters++;
        } else {
            memcpy(out + n, pattern.at + at, length);
            n += length;
            n_characters++;
        }
        at += length;
    }
    *bytes_out = n;
    return SF_LIKE_OK;
}

/* ---- matching -------------------------------------------------------------------------------------------------- */

/* How many bytes at the start of `text` the segment matches; SIZE_MAX: none do. */
static size_t match_start(struct sf_text segment, struct sf_text text) {
    size_t at = 0;
    for (size_t i = 0; i < segment.bytes; i++) {
        if (at == text.bytes) {
            return SIZE_MAX;
        }
        if (segment.at[i] == SF_LIKE_ONE) {
            at += sf_utf8_next(text.at + at, text.bytes - at, NULL);
        } else if (segment.at[i] == text.at[at]) {
            at++;
        } else {
            return SIZE_MAX;
        }
    }
    return at;
}

/* Whether `text` ends in what the segment matches. */
static bool match_end(struct sf_text segment, struct sf_text text) {
    /* Go back by as many bytes as the literal ones, and as many characters as there are _. */
    size_t at = text.bytes;
    for (size_t i = segment.bytes; i > 0; i--) {
        if (at == 0) {
            return false;
        }
        if (segment.at[i - 1] == SF_LIKE_ONE) {
            at -= sf_utf8_previous(text.at, at);
        } else if (segment.at[i - 1] == text.at[at - 1]) {
            at--;
        } else {
            return false;
        }
    }
    return true;
}

/* The end of the leftmost place in `text` that the segment matches; SIZE_MAX: there is none. */
static size_t find(struct sf_text segment, struct sf_text text) {
    if (memchr(segment.at, SF_LIKE_ONE, segment.bytes) == NULL) {
        const char *found = memmem(text.at, text.bytes, segment.at, segment.bytes);
        return found == NULL ? SIZE_MAX : (size_t)(found - text.at) + segment.bytes;
    }
    for (size_t at = 0; at < text.bytes;) {
        size_t matched = match_start(segment, (struct sf_text){text.at + at, text.bytes - at});
        if (matched != SIZE_MAX) {
            return at + matched;
        }
        at += sf_utf8_next(text.at + at, text.bytes - at, NULL);
    }
    return SIZE_MAX;
}

/* Take the segment up to the next run off the pattern, and the run. */
static struct sf_text next_segment(struct sf_text *pattern, bool *is_last_out) {
    const char *run = pattern->bytes == 0 ? NULL : memchr(pattern->at, SF_LIKE_RUN, pattern->bytes);
    struct sf_text segment = *pattern;
    *is_last_out = run == NULL;
    if (run != NULL) {
        segment.bytes = (size_t)(run - pattern->at);
        pattern->at = run + 1;
        pattern->bytes -= segment.bytes + 1;
    }
    return segment;
}

bool sf_like_match(struct sf_text encoded, struct sf_text text) {
    bool is_last = false;
    struct sf_text segment = next_segment(&encoded, &is_last);
    size_t matched = match_start(segment, text);
    if (matched == SIZE_MAX || is_last) {
        return matched == text.bytes;
    }
    for (;;) {
        text.at += matched;
        text.bytes -= matched;
        segment = next_segment(&encoded, &is_last);
        if (is_last) {
            return match_end(segment, text);
        }
        matched = find(segment, text);
        if (matched == SIZE_MAX) {
            return false;
        }
    }
}

bool sf_contains(struct sf_text text, struct sf_text part) {
    return part.bytes == 0 ||
           (text.bytes > 0 && memmem(text.at, text.bytes, part.at, part.bytes) != NULL);
}

bool sf_starts_with(struct sf_text text, struct sf_text part) {
    return text.bytes >= part.bytes &&
           (part.bytes == 0 || memcmp(text.at, part.at, part.bytes) == 0);
}

bool sf_ends_with(struct sf_text text, struct sf_text part) {
    return text.bytes >= part.bytes &&
           (part.bytes == 0 ||
            memcmp(text.at + (text.bytes - part.bytes), part.at, part.bytes) == 0);
}
