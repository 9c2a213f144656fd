/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The tokenizer of the reference's sql dialect. */
#include <string.h>

#include "reference_tokens.h"

_Noreturn void ref_stop(struct ref_parser *parser, ref_codes codes) {
    parser->filter->codes |= codes;
    longjmp(parser->stop, 1);
}

void ref_note(struct ref_parser *parser, bool fine, enum sf_status code) {
    if (!fine) {
        parser->filter->codes |= REF_CODE(code);
    }
}

/* ---- tokens ---------------------------------------------------------------------------------- */

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_non_ascii(char c) {
    return ((unsigned char)c & 0x80) != 0;
}

static char at(const struct ref_parser *parser, size_t index) {
    return index < parser->bytes ? parser->text[index] : '\0';
}

static bool is_at(const struct ref_parser *parser, size_t index, const char *what) {
    size_t bytes = strlen(what);
    return index <= parser->bytes && parser->bytes - index >= bytes &&
           memcmp(parser->text + index, what, bytes) == 0;
}

static uint32_t code_point(const char *text, size_t bytes) {
    uint32_t value = (unsigned char)text[0] & (0xFFu >> (bytes + 1));
    for (size_t i = 1; i < bytes; i++) {
        value = value << 6 | ((unsigned char)text[i] & 0x3Fu);
    }
    return value;
}

/* Spaces, punctuation and symbols that need quotes in a name. */
static bool needs_quotes(uint32_t c) {
    static const uint32_t ranges[][2] = {
        {0x80, 0xBF},     {0xD7, 0xD7},     {0xF7, 0xF7},     {0x2000, 0x2BFF},
        {0x3000, 0x303F}, {0xFE00, 0xFE6F}, {0xFEFF, 0xFEFF}, {0xFF00, 0xFFEF},
    };
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        if (c >= ranges[i][0] && c <= ranges[i][1]) {
            return true;
        }
    }
    return false;
}

/* The index behind white space and comments. */
static size_t skip_space(struct ref_parser *parser, size_t index) {
    for (;;) {
        if (index < parser->bytes && ref_is_space(parser->text[index])) {
            index++;
        } else if (is_at(parser, index, "/*")) {
            index += 2;
            while (!is_at(parser, index, "*/")) {
                if (index >= parser->bytes) {
                    ref_stop(parser, REF_CODE(SF_E_UNCLOSED));
                }
                index++;
            }
            index += 2;
        } else if (is_at(parser, index, "--")) {
            while (at(parser, index) != '\n' && at(parser, index) != '\r') {
                if (index >= parser->bytes) {
                    ref_stop(parser, REF_CODE(SF_E_UNCLOSED));
                }
                index++;
            }
        } else {
            return index;
        }
    }
}

/* 'text' or "text"; a quote inside is doubled. */
static void read_quoted(struct ref_parser *parser, struct ref_token *token, char quote) {
    char *copy = ref_allocate(parser->filter, parser->bytes - token->start);
    size_t n = 0;
    size_t index = token->start + 1;
    for (;; index++) {
        if (index >= parser->bytes) {
            token->faults |= REF_CODE(SF_E_UNCLOSED);
            break;
        }
        if (parser->text[index] == quote) {
            if (at(parser, index + 1) != quote) {
                break;
            }
            index++;
        }
        copy[n++] = parser->text[index];
    }
    token->text = (struct ref_text){copy, n};
    token->end = index + 1;
    token->type = quote == '"' ? REF_TOKEN_NAME : REF_TOKEN_STRING;
    if (quote == '"' && n == 0) {
        token->faults |= REF_CODE(SF_E_NAME);
    }
}

/* The digits 9223372036854775808 with a '-' directly before. */
static bool is_smallest(const struct ref_parser *parser, size_t start, size_t end) {
    bool minus = start > 0 && parser->text[start - 1] == '-';
    while (at(parser, start) == '0') {
        start++;
    }
    return minus && end - start == 19 && is_at(parser, start, "9223372036854775808");
}

static void read_number(struct ref_parser *parser, struct ref_token *token) {
    size_t index = token->start;
    bool is_integer = true;
    while (is_digit(at(parser, index))) {
        index++;
    }
    if (at(parser, index) == '.') {
        is_integer = false;
        index++;
        while (is_digit(at(parser, index))) {
            index++;
        }
    }
    if (at(parser, index) == 'e' || at(parser, index) == 'E') {
        size_t exponent =
            index + (at(parser, index + 1) == '+' || at(parser, index + 1) == '-' ? 2 : 1);
        if (is_digit(at(parser, exponent))) {
            is_integer = false;
            index = exponent;
            while (is_digit(at(parser, index))) {
                index++;
            }
        }
    }
    token->type = REF_TOKEN_NUMBER;
    token->number = ref_number_parse(parser->text + token->start, index - token->start);
    if (is_integer && !token->number.is_integer) {
        token->smallest = is_smallest(parser, token->start, index);
        token->faults |= token->smallest ? 0 : REF_CODE(SF_E_NUMBER);
    }
    token->faults |= token->number.known ? 0 : REF_CODE(SF_E_NUMBER);
    if (is_integer && (at(parser, index) == 'L' || at(parser, index) == 'l')) {
        index++;
    }
    char next = at(parser, index);
    if (is_letter(next) || is_digit(next) || next == '_' || next == '.' || next == '$' ||
        is_non_ascii(next)) {
        token->faults |= REF_CODE(SF_E_NUMBER);
    }
    token->end = index;
}

static bool is_keyword(struct ref_parser *parser, struct ref_token *token) {
    static const char *const keywords[] = {"AND",  "OR",     "NOT",      "BETWEEN",    "IN",
                                           "LIKE", "ESCAPE", "CONTAINS", "STARTSWITH", "ENDSWITH",
                                           "IS",   "NULL",   "TRUE",     "FALSE"};
    char capitals[16] = {0};
    size_t bytes = token->end - token->start;
    if (bytes >= sizeof capitals) {
        return false;
    }
    for (size_t i = 0; i < bytes; i++) {
        char c = parser->text[token->start + i];
        capitals[i] = c >= 'a' && c <= 'z' ? (char)(c - ('a' - 'A')) : c;
    }
    for (size_t i = 0; i < sizeof keywords / sizeof keywords[0]; i++) {
        if (strcmp(keywords[i], capitals) == 0) {
            token->text = (struct ref_text){keywords[i], bytes};
            return true;
        }
    }
    return false;
}

bool ref_attribute(struct ref_text text, struct ref_node *node_out) {
    static const struct {
        const char *text;
        enum ref_op op;
        enum ref_kind kind;
    } rows[] = {
        {"$topic", REF_OP_TOPIC, REF_NAME},
        {"$content_type", REF_OP_CONTENT_TYPE, REF_NAME},
        {"$response_topic", REF_OP_RESPONSE_TOPIC, REF_NAME},
        {"$qos", REF_OP_QOS, REF_NUMBER},
        {"$payload_bytes", REF_OP_PAYLOAD_BYTES, REF_NUMBER},
        {"$retain", REF_OP_RETAIN, REF_CONDITION},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (ref_equal(text, (struct ref_text){rows[i].text, strlen(rows[i].text)})) {
            if (node_out != NULL) {
                node_out->op = rows[i].op;
                node_out->kind = rows[i].kind;
            }
            return true;
        }
    }
    return false;
}

/* An unquoted name, a keyword, or after a $ an attribute. */
static void read_word(struct ref_parser *parser, struct ref_token *token) {
    bool is_attribute = at(parser, token->start) == '$';
    size_t index = token->start + (is_attribute ? 1 : 0);
    for (;;) {
        char c = at(parser, index);
        if (is_non_ascii(c)) {
            size_t bytes = ref_character(parser->text + index, parser->bytes - index);
            if (needs_quotes(code_point(parser->text + index, bytes))) {
                token->faults |= REF_CODE(SF_E_NAME);
            }
            index += bytes;
        } else if (is_letter(c) || c == '_' ||
                   (index > token->start && (is_digit(c) || c == '.' || c == '$'))) {
            index++;
        } else {
            break;
        }
    }
    token->end = index;
    token->text = (struct ref_text){parser->text + token->start, index - token->start};
    if (is_attribute) {
        token->type = REF_TOKEN_ATTRIBUTE;
        token->faults |= ref_attribute(token->text, NULL) ? 0 : REF_CODE(SF_E_NAME);
        return;
    }
    token->type = is_keyword(parser, token) ? REF_TOKEN_KEYWORD : REF_TOKEN_NAME;
    char behind = at(parser, index + 1);
    if (token->type == REF_TOKEN_NAME && at(parser, index) == '-' &&
        (is_letter(behind) || is_digit(behind) || behind == '_' || is_non_ascii(behind))) {
        token->faults |= REF_CODE(SF_E_NAME);
    }
}

static void read_symbol(struct ref_parser *parser, struct ref_token *token) {
    static const char *const symbols[] = {"<>", "<=", "!=", ">=", "<", ">", "=",
                                          "(",  ")",  ",",  "+",  "-", "*", "/"};
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
        if (is_at(parser, token->start, symbols[i])) {
            token->type = REF_TOKEN_SYMBOL;
            token->text = (struct ref_text){symbols[i], strlen(symbols[i])};
            token->end = token->start + token->text.bytes;
            return;
        }
    }
    ref_stop(parser, REF_CODE(SF_E_SYNTAX));
}

void ref_advance(struct ref_parser *parser) {
    if (parser->token.faults != 0) {
        ref_stop(parser, parser->token.faults);
    }
    struct ref_token token = {.start = skip_space(parser, parser->token.end)};
    token.end = token.start;
    char c = at(parser, token.start);
    if (token.start >= parser->bytes) {
        token.type = REF_TOKEN_END;
    } else if (c == '\'' || c == '"') {
        read_quoted(parser, &token, c);
    } else if (is_digit(c) || (c == '.' && is_digit(at(parser, token.start + 1)))) {
        read_number(parser, &token);
    } else if (is_letter(c) || c == '_' || c == '$' || is_non_ascii(c)) {
        read_word(parser, &token);
    } else {
        read_symbol(parser, &token);
    }
    parser->token = token;
}
