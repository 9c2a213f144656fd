/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Text for terminals. What a client may send can hold anything: control characters that a terminal would obey, bytes
 * that are no characters, characters that take no column or two. All of that is walked here glyph by glyph, a glyph
 * being one character, or what is written for one that cannot be shown, so that the caret stands where the reader looks.
 */
#define _XOPEN_SOURCE 700

#include "cli.h"
#include "visible.h"

#include <locale.h>
#include <stdarg.h>
#include <string.h>
#include <wchar.h>

enum {
    INDENT_COLUMNS = 2,
    WINDOW_COLUMNS = 72, /* of the text, without indent and ellipses: fits a terminal of 80 */
    BEFORE_COLUMNS = 40, /* of them, so many at most before the spot */
};

static const char ellipsis[] = "...";

struct glyph {
    size_t bytes;
    size_t columns;
    char name[SF_CHARACTER_NAME_BYTES]; /* what is written instead; empty: the character itself */
};

void text_init(void) {
    /* Where the C library lacks this locale, all beyond ASCII is written as \xHH. */
    setlocale(LC_CTYPE, "C.UTF-8");
}

/* The glyph at the start of `text`, which is not empty. */
static struct glyph next_glyph(const char *text, size_t bytes) {
    wchar_t c = 0;
    mbstate_t state;
    memset(&state, 0, sizeof state);
    size_t used = mbrtowc(&c, text, bytes, &state);
    struct glyph glyph = {.bytes = used > 0 && used <= bytes ? used : 1};
    if (used > bytes) {
        snprintf(glyph.name, sizeof glyph.name, "\\x%02x", (unsigned char)text[0]);
    } else if (wcwidth(c) < 0 || !sf_is_visible((uint32_t)c)) {
        snprintf(glyph.name, sizeof glyph.name, SF_CHARACTER_NAME, (unsigned long)c);
    } else {
        glyph.columns = (size_t)wcwidth(c);
    }
    glyph.columns += strlen(glyph.name);
    return glyph;
}

static void print_glyph(FILE *out, const char *text, struct glyph glyph) {
    if (glyph.name[0] != '\0') {
        fputs(glyph.name, out);
    } else {
        fwrite(text, 1, glyph.bytes, out);
    }
}

void text_print(FILE *out, const char *text, size_t bytes) {
    for (size_t at = 0; at < bytes;) {
        struct glyph glyph = next_glyph(text + at, bytes - at);
        print_glyph(out, text + at, glyph);
        at += glyph.bytes;
    }
}

void complain(const char *format, ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    int bytes = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fputs("mosquitto_filter: ", stderr);
    text_print(stderr, text, strlen(text));
    fputs(bytes < (int)sizeof text ? "\n" : "...\n", stderr);
}

/* The columns before the glyph that holds the byte `offset`, or with `after` behind that glyph. */
static size_t column_of(const char *text, size_t bytes, size_t offset, bool after) {
    size_t column = 0;
    for (size_t at = 0; at < bytes;) {
        struct glyph glyph = next_glyph(text + at, bytes - at);
        bool holds = offset < at + glyph.bytes;
        if (holds && !after) {
            break;
        }
        column += glyph.columns;
        if (holds) {
            break;
        }
        at += glyph.bytes;
    }
    return column;
}

/* Write the glyphs that lie wholly between the columns `left` and `right`. Returns the column of the first of them. */
static size_t print_window(FILE *out, const char *text, size_t bytes, size_t left, size_t right) {
    size_t column = 0;
    size_t first = left;
    bool started = false;
    for (size_t at = 0; at < bytes;) {
        struct glyph glyph = next_glyph(text + at, bytes - at);
        if (column >= left && column + glyph.columns <= right) {
            first = started ? first : column;
            started = true;
            print_glyph(out, text + at, glyph);
        }
        column += glyph.columns;
        at += glyph.bytes;
    }
    return first;
}

static void print_repeated(FILE *out, char c, size_t times) {
    for (size_t i = 0; i < times; i++) {
        fputc(c, out);
    }
}

void text_print_spot(FILE *out, const char *text, size_t bytes, size_t offset, size_t length) {
    size_t from = column_of(text, bytes, offset, false);
    size_t to = length > 0 ? column_of(text, bytes, offset + length - 1, true) : from + 1;
    size_t total = column_of(text, bytes, bytes, false);
    size_t left = 0;
    size_t right = total;
    if (total > WINDOW_COLUMNS) {
        left = from > BEFORE_COLUMNS ? from - BEFORE_COLUMNS : 0;
        left = left + WINDOW_COLUMNS > total ? total - WINDOW_COLUMNS : left;
        right = left + WINDOW_COLUMNS;
    }
    print_repeated(out, ' ', INDENT_COLUMNS);
    fputs(left > 0 ? ellipsis : "", out);
    size_t first = print_window(out, text, bytes, left, right);
    fputs(right < total ? ellipsis : "", out);
    fputc('\n', out);

    print_repeated(out, ' ', INDENT_COLUMNS + (left > 0 ? strlen(ellipsis) : 0) + (from - first));
    fputc('^', out);
    to = to > right ? right : to;
    print_repeated(out, '~', to > from + 1 ? to - from - 1 : 0);
    fputc('\n', out);
}
