/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The reference: text helpers, dialect prefixes, and the kv and tag dialects. sql is in reference_sql.c, the walk
 * over the tree in reference_eval.c. */
#include <stdlib.h>
#include <string.h>

#include "reference_internal.h"

struct ref_chunk {
    struct ref_chunk *next;
    max_align_t memory[];
};

void *ref_allocate(struct ref_filter *filter, size_t bytes) {
    struct ref_chunk *chunk = calloc(1, sizeof *chunk + bytes);
    if (chunk == NULL) {
        abort();
    }
    chunk->next = filter->chunks;
    filter->chunks = chunk;
    return chunk->memory;
}

struct ref_node *ref_node(struct ref_filter *filter, enum ref_op op, enum ref_kind kind) {
    struct ref_node *node = ref_allocate(filter, sizeof *node);
    node->op = op;
    node->kind = kind;
    return node;
}

void ref_free(struct ref_filter *filter) {
    if (filter == NULL) {
        return;
    }
    while (filter->chunks != NULL) {
        struct ref_chunk *chunk = filter->chunks;
        filter->chunks = chunk->next;
        free(chunk);
    }
    free(filter);
}

enum sf_dialect ref_dialect(const struct ref_filter *filter) {
    return filter->dialect;
}

/* ---- text ------------------------------------------------------------------------------------ */

bool ref_is_space(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

struct ref_text ref_trim(struct ref_text text) {
    while (text.bytes > 0 && ref_is_space(text.text[0])) {
        text.text++;
        text.bytes--;
    }
    while (text.bytes > 0 && ref_is_space(text.text[text.bytes - 1])) {
        text.bytes--;
    }
    return text;
}

bool ref_equal(struct ref_text left, struct ref_text right) {
    return left.bytes == right.bytes &&
           (left.bytes == 0 || memcmp(left.text, right.text, left.bytes) == 0);
}

int ref_hex(char c) {
    const char *digits = "0123456789abcdefABCDEF";
    const char *found = c == '\0' ? NULL : strchr(digits, c);
    if (found == NULL) {
        return -1;
    }
    return found - digits < 16 ? (int)(found - digits) : (int)(found - digits) - 6;
}

size_t ref_character(const char *text, size_t bytes) {
    unsigned char first = (unsigned char)text[0];
    size_t length = first < 0xC0 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    size_t at = 1;
    while (at < length && at < bytes && ((unsigned char)text[at] & 0xC0) == 0x80) {
        at++;
    }
    return at;
}

/* RFC 3629's table: first byte, and what the second may be. */
bool ref_is_utf8(const char *text, size_t bytes) {
    static const struct {
        unsigned char first_low, first_high, second_low, second_high, length;
    } rows[] = {
        {0x00, 0x7F, 0, 0, 1},       {0xC2, 0xDF, 0x80, 0xBF, 2}, {0xE0, 0xE0, 0xA0, 0xBF, 3},
        {0xE1, 0xEC, 0x80, 0xBF, 3}, {0xED, 0xED, 0x80, 0x9F, 3}, {0xEE, 0xEF, 0x80, 0xBF, 3},
        {0xF0, 0xF0, 0x90, 0xBF, 4}, {0xF1, 0xF3, 0x80, 0xBF, 4}, {0xF4, 0xF4, 0x80, 0x8F, 4},
    };
    const size_t n_rows = sizeof rows / sizeof rows[0];
    for (size_t at = 0; at < bytes;) {
        unsigned char first = (unsigned char)text[at];
        size_t row = 0;
        while (row < n_rows && (first < rows[row].first_low || first > rows[row].first_high)) {
            row++;
        }
        if (row == n_rows || bytes - at < rows[row].length) {
            return false;
        }
        for (size_t i = 1; i < rows[row].length; i++) {
            unsigned char c = (unsigned char)text[at + i];
            unsigned char low = i == 1 ? rows[row].second_low : 0x80;
            unsigned char high = i == 1 ? rows[row].second_high : 0xBF;
            if (c < low || c > high) {
                return false;
            }
        }
        at += rows[row].length;
    }
    return true;
}

/* `text` with its escapes decoded: every %HH, or with `only_four` just %23 %2B %3F %25. */
static struct ref_text decode(struct ref_filter *filter, struct ref_text text, bool only_four) {
    char *copy = ref_allocate(filter, text.bytes + 1);
    size_t n = 0;
    for (size_t at = 0; at < text.bytes; at++) {
        int high = at + 2 < text.bytes ? ref_hex(text.text[at + 1]) : -1;
        int low = at + 2 < text.bytes ? ref_hex(text.text[at + 2]) : -1;
        char decoded = (char)(high * 16 + low);
        bool escape = text.text[at] == '%' && high >= 0 && low >= 0;
        if (escape && only_four) {
            escape = decoded == '#' || decoded == '+' || decoded == '?' || decoded == '%';
        }
        copy[n++] = escape ? decoded : text.text[at];
        at += escape ? 2 : 0;
    }
    struct ref_text result = {copy, n};
    if (memchr(copy, '\0', n) != NULL || !ref_is_utf8(copy, n)) {
        filter->codes |= REF_CODE(SF_E_ESCAPE);
    }
    return result;
}

/* ---- kv -------------------------------------------------------------------------------------- */

static bool is_kv_operator(char c) {
    return c == '=' || c == '<' || c == '>';
}

static enum ref_op kv_op(char first, bool or_equal) {
    if (first == '=') {
        return REF_OP_KV_EQ;
    }
    if (first == '<') {
        return or_equal ? REF_OP_KV_LE : REF_OP_KV_LT;
    }
    return or_equal ? REF_OP_KV_GE : REF_OP_KV_GT;
}

static struct ref_node *parse_clause(struct ref_filter *filter, struct ref_text clause) {
    if (ref_trim(clause).bytes == 0) {
        filter->codes |= REF_CODE(SF_E_EMPTY);
        return NULL;
    }
    size_t at = 0;
    while (at < clause.bytes && !is_kv_operator(clause.text[at])) {
        at++;
    }
    if (at == clause.bytes) {
        filter->codes |= REF_CODE(SF_E_OPERATOR);
        return NULL;
    }
    bool or_equal = clause.text[at] != '=' && at + 1 < clause.bytes && clause.text[at + 1] == '=';
    size_t after = at + (or_equal ? 2 : 1);
    struct ref_text key = ref_trim((struct ref_text){clause.text, at});
    struct ref_text value = ref_trim((struct ref_text){clause.text + after, clause.bytes - after});
    ref_codes codes = 0;
    for (size_t i = after; i < clause.bytes; i++) {
        if (is_kv_operator(clause.text[i])) {
            codes |= REF_CODE(SF_E_OPERATOR);
        }
    }
    if (key.bytes == 0 || value.bytes == 0) {
        codes |= REF_CODE(SF_E_EMPTY);
    }
    if (key.bytes > 0 && key.text[key.bytes - 1] == '!') {
        codes |= REF_CODE(SF_E_OPERATOR);
    }
    filter->codes |= codes;
    struct ref_node *node = ref_node(filter, kv_op(clause.text[at], or_equal), REF_CONDITION);
    node->text = decode(filter, key, false);
    node->right = ref_node(filter, REF_OP_STRING, REF_STRING);
    node->right->text = decode(filter, value, false);
    if (node->op != REF_OP_KV_EQ && codes == 0) {
        node->right->number = ref_number_parse(node->right->text.text, node->right->text.bytes);
        if (!node->right->number.known) {
            filter->codes |= REF_CODE(SF_E_NUMBER);
        }
    }
    return node;
}

static struct ref_node *parse_tag(struct ref_filter *filter, struct ref_text tag) {
    tag = ref_trim(tag);
    if (tag.bytes == 0) {
        filter->codes |= REF_CODE(SF_E_EMPTY);
    }
    bool any = tag.bytes == 1 && tag.text[0] == '*';
    struct ref_node *node = ref_node(filter, any ? REF_OP_TAG_ANY : REF_OP_TAG, REF_CONDITION);
    node->text = decode(filter, tag, false);
    return node;
}

/* Both dialects are lists: of clauses that must all hold, of tags one of which must. filter->root is the first. */
static void parse_list(struct ref_filter *filter, struct ref_text text, const char *separator,
                       struct ref_node *(*parse)(struct ref_filter *, struct ref_text)) {
    size_t separator_bytes = strlen(separator);
    struct ref_node **link = &filter->root;
    size_t n = 0;
    size_t start = 0;
    for (size_t at = 0; at <= text.bytes;) {
        bool found = text.bytes - at >= separator_bytes &&
                     memcmp(text.text + at, separator, separator_bytes) == 0;
        if (!found && at < text.bytes) {
            at++;
            continue;
        }
        struct ref_node *node = parse(filter, (struct ref_text){text.text + start, at - start});
        if (node != NULL) {
            *link = node;
            link = &node->next;
        }
        n++;
        at += found ? separator_bytes : 1;
        start = at;
    }
    if (n > SF_MAX_OPERATORS) {
        filter->codes |= REF_CODE(SF_E_LIMIT);
    }
}

/* ---- the whole ------------------------------------------------------------------------------- */

static struct ref_text take_prefix(struct ref_text text, enum sf_dialect *dialect_out) {
    static const struct {
        const char *prefix;
        enum sf_dialect dialect;
    } rows[] = {{"sql:", SF_DIALECT_SQL}, {"tag:", SF_DIALECT_TAG}, {"kv:", SF_DIALECT_KV}};
    *dialect_out = SF_DIALECT_KV;
    struct ref_text rest = text;
    while (rest.bytes > 0 && ref_is_space(rest.text[0])) {
        rest.text++;
        rest.bytes--;
    }
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        size_t bytes = strlen(rows[row].prefix);
        size_t same = 0;
        while (same < bytes && same < rest.bytes) {
            char c = rest.text[same];
            char lower = c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
            if (lower != rows[row].prefix[same]) {
                break;
            }
            same++;
        }
        if (same == bytes) {
            *dialect_out = rows[row].dialect;
            return (struct ref_text){rest.text + bytes, rest.bytes - bytes};
        }
    }
    return text;
}

static void parse_body(struct ref_filter *filter, struct ref_text body) {
    switch (filter->dialect) {
    case SF_DIALECT_KV:
        parse_list(filter, body, "&", parse_clause);
        break;
    case SF_DIALECT_TAG:
        parse_list(filter, body, "||", parse_tag);
        break;
    case SF_DIALECT_SQL:
        ref_parse_sql(filter, decode(filter, body, true));
        break;
    }
}

ref_codes ref_parse(const struct sf_options *options, const char *text, size_t bytes,
                    struct ref_filter **filter_out) {
    static const struct sf_options defaults = SF_OPTIONS_INIT;
    options = options == NULL ? &defaults : options;
    *filter_out = NULL;
    struct ref_filter *filter = calloc(1, sizeof *filter);
    if (filter == NULL) {
        abort();
    }
    struct ref_text body = take_prefix((struct ref_text){text, bytes}, &filter->dialect);
    filter->strict_integers = options->strict_integers;
    if (bytes > options->max_expression_bytes) {
        filter->codes |= REF_CODE(SF_E_LIMIT);
    }
    if ((options->dialects & (unsigned)filter->dialect) == 0) {
        filter->codes |= REF_CODE(SF_E_DIALECT);
    }
    char *tag_key = ref_allocate(filter, strlen(options->tag_key) + 1);
    strcpy(tag_key, options->tag_key);
    filter->tag_key = (struct ref_text){tag_key, strlen(tag_key)};
    if (filter->codes == 0) {
        parse_body(filter, body);
    }
    ref_codes codes = filter->codes;
    if (codes != 0) {
        ref_free(filter);
        return codes;
    }
    *filter_out = filter;
    return 0;
}

bool ref_agrees(const struct ref_filter *filter, enum sf_truth expected, enum sf_truth actual) {
    if (filter->dialect == SF_DIALECT_SQL) {
        return expected == actual;
    }
    return (expected == SF_TRUE) == (actual == SF_TRUE);
}
