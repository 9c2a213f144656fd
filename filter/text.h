/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Pieces of text as all of the engine passes them, and ASCII's classes of characters: the C library's ask the
 * locale. */
#ifndef SUBFILTER_TEXT_H
#define SUBFILTER_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Text is borrowed wherever it is passed in this form. `at` may be NULL when there are no bytes. */
struct sf_text {
    const char *at;
    size_t bytes;
};

static inline bool sf_is_space(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static inline bool sf_is_digit(char c) {
    return c >= '0' && c <= '9';
}

static inline bool sf_is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static inline bool sf_is_ascii(char c) {
    return ((unsigned char)c & 0x80) == 0;
}

static inline char sf_to_lower(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

static inline bool sf_text_equal(struct sf_text a, struct sf_text b) {
    return a.bytes == b.bytes && (a.bytes == 0 || memcmp(a.at, b.at, a.bytes) == 0);
}

/* Whether `text` is `word` (NUL-terminated, in lower case), in any ASCII case. */
static inline bool sf_text_is_word(struct sf_text text, const char *word) {
    size_t i = 0;
    while (i < text.bytes && word[i] != '\0' && sf_to_lower(text.at[i]) == word[i]) {
        i++;
    }
    return i == text.bytes && word[i] == '\0';
}

static inline struct sf_text sf_text_trim(struct sf_text text) {
    while (text.bytes > 0 && sf_is_space(text.at[0])) {
        text.at++;
        text.bytes--;
    }
    while (text.bytes > 0 && sf_is_space(text.at[text.bytes - 1])) {
        text.bytes--;
    }
    return text;
}

static inline uint64_t sf_load_32(const char *text) {
    uint32_t word;
    memcpy(&word, text, sizeof word);
    return word;
}

/* Up to the first eight bytes of a text as one word, in the order in which they are in memory, and zeros behind. */
static inline uint64_t sf_text_word(const char *text, size_t bytes) {
    uint64_t word = 0;
    if (bytes >= sizeof word) {
        memcpy(&word, text, sizeof word);
        return word;
    }
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    /* Names and values are mostly short, so a copy of `bytes` bytes, which is a call, is worth avoiding: two loads that
     * overlap, or three single bytes of which some may be the same. */
    if (bytes >= 4) {
        return sf_load_32(text) | sf_load_32(text + bytes - 4) << (8 * (bytes - 4));
    }
    if (bytes > 0) {
        const unsigned char *at = (const unsigned char *)text;
        return at[0] | (uint64_t)at[bytes / 2] << (8 * (bytes / 2)) |
               (uint64_t)at[bytes - 1] << (8 * (bytes - 1));
    }
#else
    if (bytes > 0) {
        memcpy(&word, text, bytes);
    }
#endif
    return word;
}

#endif
