/* SPDX-License-Identifier: BSD-3-Clause
 *
 * json_text: see the header.
 */
#include "json_text.h"

#include <stdlib.h>
#include <string.h>

static int append(const char *data, size_t bytes, void *user) {
    struct json_text *text = user;
    if (text->failed) {
        return -1;
    }
    if (bytes > text->capacity - text->used) {
        size_t capacity = (text->used + bytes) * 2;
        char *grown = realloc(text->bytes, capacity);
        if (grown == NULL) {
            text->failed = true;
            return -1;
        }
        text->bytes = grown;
        text->capacity = capacity;
    }
    memcpy(text->bytes + text->used, data, bytes);
    text->used += bytes;
    return 0;
}

bool json_text_add(struct json_text *text, const json_t *value, size_t flags) {
    if (value == NULL || json_dump_callback(value, append, text, flags) != 0) {
        text->failed = true;
    }
    return !text->failed;
}

bool json_text_add_line(struct json_text *text, const json_t *value, size_t flags) {
    return json_text_add(text, value, flags) && append("\n", 1, text) == 0;
}
