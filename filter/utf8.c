/* SPDX-License-Identifier: BSD-3-Clause
 *
 * UTF-8 by RFC 3629's table of well-formed sequences. */
#include "utf8.h"

#include <stdbool.h>

#define NOT_A_CODE UINT32_MAX

/* How long the sequence that starts with `first` must be; 0: none starts so. */
static size_t expected_length(unsigned char first) {
    if (first < 0x80) {
        return 1;
    }
    if (first < 0xC2 || first > 0xF4) {
        return 0;
    }
    return first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
}

/* What rules out overlong forms, surrogates and codes that are too high is always the second byte. */
static bool is_second_allowed(unsigned char first, unsigned char second) {
    switch (first) {
    case 0xE0:
        return second >= 0xA0;
    case 0xED:
        return second <= 0x9F;
    case 0xF0:
        return second >= 0x90;
    case 0xF4:
        return second <= 0x8F;
    default:
        return true;
    }
}

size_t sf_utf8_next(const char *text, size_t bytes, uint32_t *code_out) {
    const unsigned char *at = (const unsigned char *)text;
    size_t length = expected_length(at[0]);
    bool valid = length > 0 && length <= bytes && (length == 1 || is_second_allowed(at[0], at[1]));
    uint32_t code = length <= 1 ? at[0] : at[0] & (0x7Fu >> length);
    for (size_t i = 1; valid && i < length; i++) {
        valid = (at[i] & 0xC0) == 0x80;
        code = code << 6 | (at[i] & 0x3Fu);
    }
    if (code_out != NULL) {
        *code_out = valid ? code : NOT_A_CODE;
    }
    return valid ? length : 1;
}

size_t sf_utf8_previous(const char *text, size_t bytes) {
    size_t length = 1;
    while (length < 4 && length < bytes && ((unsigned char)text[bytes - length] & 0xC0) == 0x80) {
        length++;
    }
    return sf_utf8_next(text + bytes - length, length, NULL) == length ? length : 1;
}

size_t sf_utf8_valid_bytes(const char *text, size_t bytes) {
    size_t at = 0;
    while (at < bytes) {
        if ((signed char)text[at] > 0) { /* ASCII, which most text is */
            at++;
            continue;
        }
        uint32_t code = 0;
        size_t length = sf_utf8_next(text + at, bytes - at, &code);
        if (code == 0 || code == NOT_A_CODE) {
            break;
        }
        at += length;
    }
    return at;
}

size_t sf_utf8_fault_bytes(const char *text, size_t bytes) {
    size_t expected = expected_length((unsigned char)text[0]);
    size_t n = 1;
    while (n < expected && n < bytes && ((unsigned char)text[n] & 0xC0) == 0x80) {
        n++;
    }
    return n;
}
