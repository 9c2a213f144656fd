/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Codes and sentences of errors. The caller owns the struct; nothing is kept here. */
#include "error.h"

#include <stdio.h>

#include "utf8.h"
#include "visible.h"

static const char *const names[] = {
    [SF_OK] = "ok",
    [SF_E_NOMEM] = "nomem",
    [SF_E_TOPIC] = "topic",
    [SF_E_DIALECT] = "dialect",
    [SF_E_ESCAPE] = "escape",
    [SF_E_EMPTY] = "empty",
    [SF_E_OPERATOR] = "operator",
    [SF_E_SYNTAX] = "syntax",
    [SF_E_UNCLOSED] = "unclosed",
    [SF_E_NAME] = "name",
    [SF_E_NUMBER] = "number",
    [SF_E_KIND] = "kind",
    [SF_E_PATTERN] = "pattern",
    [SF_E_BOUNDS] = "bounds",
    [SF_E_LIMIT] = "limit",
};

const char *sf_status_name(enum sf_status status) {
    size_t index = (size_t)status;
    return index < sizeof names / sizeof names[0] ? names[index] : "unknown";
}

/* Write one character, or a byte that is none, of `bytes` bytes; a name or \xHH and a NUL must have room. Returns how
 * long that is. */
static size_t quote_character(char *out, const char *at, size_t bytes, uint32_t code) {
    if (sf_is_visible(code)) {
        memcpy(out, at, bytes);
        return bytes;
    }
    int n = code > SF_UTF8_LAST ? sprintf(out, "\\x%02x", (unsigned char)*at)
                                : sprintf(out, SF_CHARACTER_NAME, (unsigned long)code);
    return (size_t)n;
}

const char *sf_quote(struct sf_quoted *quoted, struct sf_text text) {
    static const char ellipsis[] = "\xE2\x80\xA6";
    enum { LONGEST = 40 }; /* where no other character begins */
    _Static_assert(LONGEST + SF_CHARACTER_NAME_BYTES + sizeof ellipsis <= sizeof quoted->text,
                   "the last one and an ellipsis fit");
    size_t n = 0;
    size_t at = 0;
    while (at < text.bytes && n < LONGEST) {
        uint32_t code = 0;
        size_t length = sf_utf8_next(text.at + at, text.bytes - at, &code);
        n += quote_character(quoted->text + n, text.at + at, length, code);
        at += length;
    }
    if (at < text.bytes) {
        memcpy(quoted->text + n, ellipsis, sizeof ellipsis - 1);
        n += sizeof ellipsis - 1;
    }
    quoted->text[n] = '\0';
    return quoted->text;
}

enum sf_status sf_error_vset(struct sf_error *error, enum sf_status code, size_t offset,
                             size_t length, const char *format, va_list arguments) {
    if (error == NULL) {
        return code;
    }
    error->code = code;
    error->offset = offset;
    error->length = length;
    int written = vsnprintf(error->text, sizeof error->text, format, arguments);
    if (written < 0) {
        error->text[0] = '\0';
    } else if ((size_t)written >= sizeof error->text) {
        error->text[sf_utf8_valid_bytes(error->text, sizeof error->text - 1)] = '\0';
    }
    return code;
}

enum sf_status sf_error_set(struct sf_error *error, enum sf_status code, size_t offset,
                            size_t length, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    sf_error_vset(error, code, offset, length, format, arguments);
    va_end(arguments);
    return code;
}

enum sf_status sf_error_no_memory(struct sf_error *error) {
    return sf_error_set(error, SF_E_NOMEM, 0, 0, "out of memory");
}
