/* SPDX-License-Identifier: BSD-3-Clause
 *
 * UTF-8, as RFC 3629 defines it: no overlong forms, no surrogates, nothing above U+10FFFF. */
#ifndef SUBFILTER_UTF8_H
#define SUBFILTER_UTF8_H

#include <stddef.h>
#include <stdint.h>

#define SF_UTF8_LAST 0x10FFFFu /* code point */

/* The length of the character at text[0], and its code point in *code_out (may be NULL). What is not UTF-8 counts as
 * one character for each byte, with a code point above all others. `bytes` must not be 0. */
size_t sf_utf8_next(const char *text, size_t bytes, uint32_t *code_out);

/* The length of the character that ends at text[bytes - 1]; the same rules. `bytes` must not be 0. */
size_t sf_utf8_previous(const char *text, size_t bytes);

/* How many bytes of `text` are UTF-8 without a NUL: `bytes` when all are, else where the first fault is. */
size_t sf_utf8_valid_bytes(const char *text, size_t bytes);

/* How long the fault at text[0] is: a NUL, or the bytes that begin like a character and are none. `bytes` must not be
 * 0. */
size_t sf_utf8_fault_bytes(const char *text, size_t bytes);

#endif
