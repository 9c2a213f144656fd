/* SPDX-License-Identifier: BSD-3-Clause
 *
 * json_text: JSON values as text. jansson's own dump does not notice every failure to store a piece: when memory is short
 * the text may lack some in the middle. Here a text that has failed once stays failed.
 */
#ifndef PLUGIN_JSON_TEXT_H
#define PLUGIN_JSON_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

/* Text that grows. Empty when zeroed; give back with free(text.bytes). */
struct json_text {
    char *bytes; /* no NUL at the end */
    size_t used;
    size_t capacity;
    bool failed; /* out of memory */
};

/* Append `value` (borrowed; NULL: it could not be made) as jansson writes it under `flags`. false: out of memory. */
bool json_text_add(struct json_text *text, const json_t *value, size_t flags) __attribute__((warn_unused_result));

/* The same, and a line end. */
bool json_text_add_line(struct json_text *text, const json_t *value, size_t flags) __attribute__((warn_unused_result));

#endif
