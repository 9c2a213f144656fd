/* SPDX-License-Identifier: BSD-3-Clause
 *
 * log: see the header.
 */
#include "log.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Bytes of the UTF-8 sequence at `text` that may be printed as it is: 0 when it is broken or a control character. */
static size_t printable(const uint8_t *text, size_t bytes) {
    uint8_t c = text[0];
    if (c < 0x80) {
        return c >= 0x20 && c != 0x7F && c != '\\';
    }
    size_t need = c >= 0xC2 && c < 0xE0 ? 2 : c >= 0xE0 && c < 0xF0 ? 3 : c >= 0xF0 && c < 0xF5 ? 4 : 0;
    if (need == 0 || need > bytes) {
        return 0;
    }
    for (size_t i = 1; i < need; i++) {
        if ((text[i] & 0xC0) != 0x80) {
            return 0;
        }
    }
    bool over_long = (c == 0xE0 && text[1] < 0xA0) || (c == 0xF0 && text[1] < 0x90);
    bool no_character = (c == 0xED && text[1] >= 0xA0) || (c == 0xF4 && text[1] >= 0x90); /* surrogate, > U+10FFFF */
    if (over_long || no_character) {
        return 0;
    }
    /* U+0080 to U+009F; U+2028, U+2029 */
    bool control = c == 0xC2 && text[1] < 0xA0;
    bool line_end = c == 0xE2 && text[1] == 0x80 && (text[2] == 0xA8 || text[2] == 0xA9);
    return control || line_end ? 0 : need;
}

const char *log_text(char out[LOG_TEXT_BYTES], const char *text, size_t bytes) {
    static const char digits[] = "0123456789abcdef";
    static const char cut[] = "...";
    const uint8_t *p = (const uint8_t *)text;
    size_t used = 0;
    size_t cut_at = 0; /* the last place where "..." has room */
    while (bytes > 0) {
        size_t n = printable(p, bytes);
        size_t need = n > 0 ? n : 4;
        if (used + need >= LOG_TEXT_BYTES) {
            memcpy(out + cut_at, cut, sizeof cut);
            return out;
        }
        if (n > 0) {
            memcpy(out + used, p, n);
        } else {
            n = 1;
            out[used] = '\\';
            out[used + 1] = 'x';
            out[used + 2] = digits[*p >> 4];
            out[used + 3] = digits[*p & 0x0F];
        }
        used += need;
        cut_at = used + sizeof cut <= LOG_TEXT_BYTES ? used : cut_at;
        p += n;
        bytes -= n;
    }
    out[used] = '\0';
    return out;
}
