/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What is valid, but most likely not what was meant: such a filter would be accepted by the broker and then hold for
 * nothing. Each note is one line on standard error; the exit code stays.
 */
#include "cli.h"
#include "utf8.h"
#include "visible.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

static bool begins_with(const char *text, const char *word) {
    return strncasecmp(text, word, strlen(word)) == 0;
}

/* A key that most likely was meant to be more than a key. */
static void note_key(const char *key) {
    if (begins_with(key, "sq") || begins_with(key, "select") || begins_with(key, "tag:") ||
        begins_with(key, "kv:")) {
        complain("note: this is key=value with the key \"%s\"; sql: in front makes it SQL, "
                 "tag: a list of tags",
                 key);
    } else if (strchr(key, ' ') != NULL) {
        complain("note: the blanks belong to the key \"%s\"; & joins clauses, and sql: in front "
                 "makes it SQL",
                 key);
    }
}

/* Clauses with a value in quotes, in canonical text: what is between two & is one clause. */
static void note_quoted_values(const char *text) {
    while (*text != '\0') {
        size_t bytes = strcspn(text, "&");
        size_t value = strcspn(text, "=<>");
        value += strspn(text + value, "=<>");
        char first = text[value];
        if (value + 1 < bytes && (first == '\'' || first == '"') && text[bytes - 1] == first) {
            complain("note: the quotes belong to the value %.*s; in key=value texts have none",
                     (int)(bytes - value), text + value);
        }
        text += bytes + (text[bytes] == '&');
    }
}

static void note_key_value(const struct sf_filter *filter) {
    const char *key;
    for (size_t i = 0; (key = sf_filter_property(filter, i, NULL)) != NULL; i++) {
        note_key(key);
    }
    note_quoted_values(sf_filter_text(filter, NULL));
}

/* Names in quotes that need none. */
static void note_quoted_names(const char *text, size_t bytes) {
    bool is_string = false;
    for (size_t i = 0; i < bytes; i++) {
        size_t name = 0;
        is_string ^= text[i] == '\'';
        if (text[i] != '"' || is_string) {
            continue;
        }
        const char *start = text + i + 1;
        bool is_plain = true;
        for (; i + 1 + name < bytes && start[name] != '"'; name++) {
            is_plain &= isalnum((unsigned char)start[name]) || start[name] == '_';
        }
        if (is_plain && name > 0) {
            complain("note: \"%.*s\" is the property of that name; a text is written '%.*s'",
                     (int)name, start, (int)name, start);
        }
        i += name + 1;
    }
}

static void note_tags(const char *text) {
    if (strpbrk(text, ",; '\"") != NULL || strstr(text, "%7C") != NULL) {
        complain("note: only || separates tags; everything else belongs to them");
    }
}

/* Characters that cannot be seen are refused where SQL has no use for them; elsewhere they are part of a text. */
static void note_unseen(const char *text, size_t bytes) {
    size_t length = 0;
    for (size_t i = 0; i < bytes; i += length) {
        uint32_t code = 0;
        length = sf_utf8_next(text + i, bytes - i, &code);
        if (code <= SF_UTF8_LAST && !sf_is_visible(code)) {
            complain("note: " SF_CHARACTER_NAME
                     " at offset %zu cannot be seen, and is part of the filter",
                     (unsigned long)code, i);
        }
    }
}

void note_slips(const struct sf_filter *filter, const char *text, size_t bytes) {
    note_unseen(text, bytes);
    switch (sf_filter_dialect(filter)) {
    case SF_DIALECT_KV:
        note_key_value(filter);
        break;
    case SF_DIALECT_SQL:
        note_quoted_names(text, bytes);
        break;
    case SF_DIALECT_TAG:
        note_tags(sf_filter_text(filter, NULL) + strlen("tag:"));
        break;
    }
}
