/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The lexer of sql (LANGUAGE, text). */
#include "lexer.h"

#include "error.h"
#include "escape.h"
#include "utf8.h"
#include "visible.h"

/* ---- characters ------------------------------------------------------------------------------------------------ */

/* Spaces, punctuation and symbols beyond ASCII: in a name they need quotes. */
static bool is_symbol(uint32_t code) {
    static const struct {
        uint32_t first;
        uint32_t last;
    } ranges[] = {
        {0x0080, 0x00BF}, {0x00D7, 0x00D7}, {0x00F7, 0x00F7}, {0x2000, 0x2BFF},
        {0x3000, 0x303F}, {0xFE00, 0xFE6F}, {0xFEFF, 0xFEFF}, {0xFF00, 0xFFEF},
    };
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        if (code >= ranges[i].first && code <= ranges[i].last) {
            return true;
        }
    }
    return false;
}

static bool is_name_start(char c) {
    return sf_is_letter(c) || c == '_' || !sf_is_ascii(c);
}

static bool is_name_part(char c) {
    return is_name_start(c) || sf_is_digit(c) || c == '.' || c == '$';
}

/* How far the unquoted name goes that starts at `at`; *symbol_out is the first character in it that needs quotes, or
 * the end of the name. */
static size_t name_end(struct sf_text text, size_t at, size_t *symbol_out) {
    bool found = false;
    while (at < text.bytes && is_name_part(text.at[at])) {
        uint32_t code = 0;
        size_t length = 1;
        if (!sf_is_ascii(text.at[at])) {
            length = sf_utf8_next(text.at + at, text.bytes - at, &code);
            if (!found && is_symbol(code)) {
                found = true;
                *symbol_out = at;
            }
        }
        at += length;
    }
    if (!found) {
        *symbol_out = at;
    }
    return at;
}

static char char_at(const struct sf_lexer *lexer, size_t at) {
    return at < lexer->text.bytes ? lexer->text.at[at] : '\0';
}

static struct sf_text slice(const struct sf_lexer *lexer, size_t start, size_t end) {
    return (struct sf_text){lexer->text.at + start, end - start};
}

/* ---- keywords -------------------------------------------------------------------------------------------------- */

static enum sf_token_type keyword(struct sf_text word) {
    static const struct {
        const char *word;
        size_t bytes;
        enum sf_token_type type;
    } keywords[] = {
        {"and", 3, SF_TOKEN_AND},
        {"or", 2, SF_TOKEN_OR},
        {"not", 3, SF_TOKEN_NOT},
        {"in", 2, SF_TOKEN_IN},
        {"is", 2, SF_TOKEN_IS},
        {"null", 4, SF_TOKEN_NULL},
        {"between", 7, SF_TOKEN_BETWEEN},
        {"like", 4, SF_TOKEN_LIKE},
        {"escape", 6, SF_TOKEN_ESCAPE},
        {"contains", 8, SF_TOKEN_CONTAINS},
        {"startswith", 10, SF_TOKEN_STARTSWITH},
        {"endswith", 8, SF_TOKEN_ENDSWITH},
        {"true", 4, SF_TOKEN_TRUE},
        {"false", 5, SF_TOKEN_FALSE},
    };
    for (size_t i = 0; i < sizeof keywords / sizeof keywords[0]; i++) {
        if (word.bytes == keywords[i].bytes && sf_text_is_word(word, keywords[i].word)) {
            return keywords[i].type;
        }
    }
    return SF_TOKEN_NAME;
}

bool sf_lexer_is_plain_name(struct sf_text name) {
    size_t symbol = 0;
    return name.bytes > 0 && is_name_start(name.at[0]) &&
           name_end(name, 0, &symbol) == name.bytes && symbol == name.bytes &&
           keyword(name) == SF_TOKEN_NAME;
}

bool sf_lexer_has_keyword(struct sf_text text) {
    for (size_t start = 0, at = 0; at <= text.bytes; at++) {
        if (at == text.bytes || sf_is_space(text.at[at])) {
            if (keyword((struct sf_text){text.at + start, at - start}) != SF_TOKEN_NAME) {
                return true;
            }
            start = at + 1;
        }
    }
    return false;
}

/* ---- white space ----------------------------------------------------------------------------------------------- */

/* Skip the comment that starts here. */
static bool skip_comment(struct sf_lexer *lexer) {
    size_t start = lexer->at;
    bool is_block = char_at(lexer, start) == '/';
    for (size_t at = start + 2; at < lexer->text.bytes; at++) {
        char c = lexer->text.at[at];
        if (is_block ? c == '*' && char_at(lexer, at + 1) == '/' : c == '\n' || c == '\r') {
            lexer->at = at + (is_block ? 2 : 1);
            return true;
        }
    }
    sf_parse_refuse(lexer->parse, SF_E_UNCLOSED, start, 2,
                    is_block ? "this comment has no */"
                             : "this comment has no end of line; for a double minus write - -");
    return false;
}

static bool skip_space(struct sf_lexer *lexer) {
    for (;;) {
        char c = char_at(lexer, lexer->at);
        char next = char_at(lexer, lexer->at + 1);
        if (sf_is_space(c)) {
            lexer->at++;
        } else if ((c == '/' && next == '*') || (c == '-' && next == '-')) {
            if (!skip_comment(lexer)) {
                return false;
            }
        } else {
            return true;
        }
    }
}

/* ---- tokens ---------------------------------------------------------------------------------------------------- */

static bool finish(struct sf_lexer *lexer, struct sf_token *token, enum sf_token_type type,
                   size_t bytes) {
    token->type = type;
    token->bytes = bytes;
    lexer->at = token->start + bytes;
    return true;
}

static bool read_name(struct sf_lexer *lexer, struct sf_token *token) {
    size_t symbol = 0;
    size_t end = name_end(lexer->text, token->start, &symbol);
    token->text = slice(lexer, token->start, end);
    if (symbol < end) {
        uint32_t code = 0;
        size_t bytes = sf_utf8_next(lexer->text.at + symbol, end - symbol, &code);
        bool is_quote = code >= 0x2018 && code <= 0x201F;
        struct sf_quoted quoted;
        sf_parse_refuse(lexer->parse, SF_E_NAME, symbol, bytes,
                        is_quote ? "%s is no quote here; a text is written 'x'"
                        : sf_is_visible(code)
                            ? "\"%s\" is neither an operator nor part of a name without quotes"
                            : "%s cannot be seen, and is neither a blank nor part of a name "
                              "without quotes",
                        sf_quote(&quoted, slice(lexer, symbol, symbol + bytes)));
        return false;
    }
    enum sf_token_type type = keyword(token->text);
    if (type == SF_TOKEN_NAME) {
        lexer->name_start = token->start;
        lexer->name_end = end;
    }
    return finish(lexer, token, type, end - token->start);
}

static bool read_attribute(struct sf_lexer *lexer, struct sf_token *token) {
    size_t symbol = 0;
    size_t end = name_end(lexer->text, token->start, &symbol);
    token->text = slice(lexer, token->start, end);
    if (!sf_attribute_find(token->text, &token->attribute)) {
        struct sf_quoted quoted;
        sf_parse_refuse(lexer->parse, SF_E_NAME, token->start, end - token->start,
                        "%s is no system attribute; a property of that name needs double quotes",
                        sf_quote(&quoted, token->text));
        return false;
    }
    return finish(lexer, token, SF_TOKEN_ATTRIBUTE, end - token->start);
}

/* Without the doubled quotes. */
static bool copy_undoubled(struct sf_lexer *lexer, struct sf_token *token, char quote) {
    char *copy = sf_parse_alloc(lexer->parse, token->text.bytes);
    if (copy == NULL) {
        return false;
    }
    size_t n = 0;
    for (size_t i = 0; i < token->text.bytes; i++) {
        copy[n++] = token->text.at[i];
        i += token->text.at[i] == quote ? 1 : 0;
    }
    token->text = (struct sf_text){copy, n};
    return true;
}

/* A string or a quoted name. */
static bool read_quoted(struct sf_lexer *lexer, struct sf_token *token) {
    char quote = lexer->text.at[token->start];
    bool is_string = quote == '\'';
    bool has_doubled = false;
    size_t at = token->start + 1;
    for (; char_at(lexer, at) != quote || char_at(lexer, at + 1) == quote; at++) {
        if (at >= lexer->text.bytes) {
            sf_parse_refuse(lexer->parse, SF_E_UNCLOSED, token->start, 1,
                            is_string ? "this string has no closing '"
                                      : "this name has no closing \"");
            return false;
        }
        if (lexer->text.at[at] == quote) {
            has_doubled = true;
            at++;
        }
    }
    token->text = slice(lexer, token->start + 1, at);
    if (token->text.bytes == 0 && !is_string) {
        sf_parse_refuse(lexer->parse, SF_E_NAME, token->start, 2,
                        "a name cannot be empty; the empty string is ''");
        return false;
    }
    if (has_doubled && !copy_undoubled(lexer, token, quote)) {
        return false;
    }
    return finish(lexer, token, is_string ? SF_TOKEN_STRING : SF_TOKEN_NAME, at + 1 - token->start);
}

/* Refuse a number that runs into what cannot follow it, to the end of the whole word. */
static bool refuse_run_on(struct sf_lexer *lexer, const struct sf_token *token, size_t at) {
    while (at < lexer->text.bytes && is_name_part(lexer->text.at[at])) {
        at++;
    }
    struct sf_quoted quoted;
    sf_parse_refuse(lexer->parse, SF_E_NUMBER, token->start, at - token->start,
                    "%s is not a number; what follows a number needs a blank before it",
                    sf_quote(&quoted, slice(lexer, token->start, at)));
    return false;
}

static bool read_number(struct sf_lexer *lexer, struct sf_token *token) {
    bool is_integer = false;
    size_t start = token->start;
    size_t end = start + sf_number_scan(slice(lexer, start, lexer->text.bytes), &is_integer);
    token->number = sf_number_parse(slice(lexer, start, end));
    if (is_integer && sf_to_lower(char_at(lexer, end)) == 'l') {
        end++;
    }
    if (end < lexer->text.bytes && is_name_part(lexer->text.at[end])) {
        return refuse_run_on(lexer, token, end);
    }
    token->text = slice(lexer, start, end);
    bool is_too_large = is_integer && token->number.kind != SF_NUMBER_INTEGER;
    token->is_smallest = is_too_large && token->number.kind == SF_NUMBER_REAL &&
                         token->number.real == 9223372036854775808.0;
    if (token->is_smallest) { /* near 2^63 a double cannot tell */
        size_t digits = 0;
        while (lexer->text.at[start + digits] == '0') {
            digits++;
        }
        token->is_smallest =
            strncmp(lexer->text.at + start + digits, "9223372036854775808", 19) == 0 &&
            !sf_is_digit(char_at(lexer, start + digits + 19));
    }
    if (token->number.kind == SF_NUMBER_NONE || (is_too_large && !token->is_smallest)) {
        struct sf_quoted quoted;
        sf_parse_refuse(lexer->parse, SF_E_NUMBER, start, end - start, "%s is out of range",
                        sf_quote(&quoted, token->text));
        return false;
    }
    return finish(lexer, token, SF_TOKEN_NUMBER, end - start);
}

/* A - between a name and a word: is it the name device-type or a difference? */
static bool refuse_ambiguous_minus(struct sf_lexer *lexer, const struct sf_token *token) {
    size_t symbol = 0;
    size_t end = name_end(lexer->text, token->start + 1, &symbol);
    struct sf_quoted name;
    struct sf_quoted word;
    sf_parse_refuse(lexer->parse, SF_E_NAME, lexer->name_start, end - lexer->name_start,
                    "write \"%s-%s\" for the name, %s - %s for the difference",
                    sf_quote(&name, slice(lexer, lexer->name_start, lexer->name_end)),
                    sf_quote(&word, slice(lexer, token->start + 1, end)), name.text, word.text);
    return false;
}

static bool read_minus(struct sf_lexer *lexer, struct sf_token *token) {
    char next = char_at(lexer, token->start + 1);
    bool is_word = is_name_start(next) || sf_is_digit(next);
    if (is_word && lexer->name_end > 0 && lexer->name_end == token->start) {
        return refuse_ambiguous_minus(lexer, token);
    }
    return finish(lexer, token, SF_TOKEN_MINUS, 1);
}

static bool refuse_character(struct sf_lexer *lexer, const struct sf_token *token) {
    static const struct {
        char c;
        const char *text;
    } hints[] = {
        {'&', "; write AND"},
        {'|', "; write OR"},
        {'!', "; write NOT or <>"},
        {'`', "; names are quoted with \""},
        {'[', "; names are quoted with \""},
        {';', "; nothing ends an expression"},
        {'%', "; there is no remainder"},
    };
    char c = lexer->text.at[token->start];
    const char *hint = "";
    for (size_t i = 0; i < sizeof hints / sizeof hints[0]; i++) {
        hint = hints[i].c == c ? hints[i].text : hint;
    }
    struct sf_quoted quoted;
    sf_parse_refuse(lexer->parse, SF_E_SYNTAX, token->start, 1, "unexpected character %s%s",
                    sf_quote(&quoted, slice(lexer, token->start, token->start + 1)), hint);
    return false;
}

/* An operator of other languages that starts with =. */
static bool refuse_operator(struct sf_lexer *lexer, const struct sf_token *token, char second) {
    sf_parse_refuse(lexer->parse, SF_E_SYNTAX, token->start, 2, "unexpected =%c; write %s", second,
                    second == '='   ? "="
                    : second == '<' ? "<="
                                    : ">=");
    return false;
}

static bool read_symbol(struct sf_lexer *lexer, struct sf_token *token) {
    char next = char_at(lexer, token->start + 1);
    switch (lexer->text.at[token->start]) {
    case '(':
        return finish(lexer, token, SF_TOKEN_OPEN, 1);
    case ')':
        return finish(lexer, token, SF_TOKEN_CLOSE, 1);
    case ',':
        return finish(lexer, token, SF_TOKEN_COMMA, 1);
    case '+':
        return finish(lexer, token, SF_TOKEN_PLUS, 1);
    case '*':
        return finish(lexer, token, SF_TOKEN_STAR, 1);
    case '/':
        return finish(lexer, token, SF_TOKEN_SLASH, 1);
    case '=':
        return next == '=' || next == '<' || next == '>' ? refuse_operator(lexer, token, next)
                                                         : finish(lexer, token, SF_TOKEN_EQUAL, 1);
    case '<':
        return next == '='   ? finish(lexer, token, SF_TOKEN_LESS_EQUAL, 2)
               : next == '>' ? finish(lexer, token, SF_TOKEN_UNEQUAL, 2)
                             : finish(lexer, token, SF_TOKEN_LESS, 1);
    case '>':
        return next == '=' ? finish(lexer, token, SF_TOKEN_GREATER_EQUAL, 2)
                           : finish(lexer, token, SF_TOKEN_GREATER, 1);
    case '!':
        return next == '=' ? finish(lexer, token, SF_TOKEN_UNEQUAL, 2)
                           : refuse_character(lexer, token);
    default:
        return refuse_character(lexer, token);
    }
}

bool sf_lexer_next(struct sf_lexer *lexer, struct sf_token *token) {
    if (!skip_space(lexer)) {
        return false;
    }
    *token = (struct sf_token){.type = SF_TOKEN_END, .start = lexer->at};
    if (lexer->at == lexer->text.bytes) {
        return true;
    }
    char c = lexer->text.at[lexer->at];
    if (is_name_start(c)) {
        return read_name(lexer, token);
    }
    if (sf_is_digit(c) || (c == '.' && sf_is_digit(char_at(lexer, lexer->at + 1)))) {
        return read_number(lexer, token);
    }
    switch (c) {
    case '\'':
    case '"':
        return read_quoted(lexer, token);
    case '$':
        return read_attribute(lexer, token);
    case '-':
        return read_minus(lexer, token);
    default:
        return read_symbol(lexer, token);
    }
}

bool sf_lexer_init(struct sf_lexer *lexer, struct sf_parse *parse) {
    struct sf_text body = sf_parse_body(parse);
    *lexer = (struct sf_lexer){.parse = parse, .text = body};
    /* What the escapes stand for is ASCII, so the text is UTF-8 before decoding when it is behind. */
    size_t valid = sf_utf8_valid_bytes(body.at, body.bytes);
    if (valid < body.bytes) {
        size_t fault = sf_utf8_fault_bytes(body.at + valid, body.bytes - valid);
        sf_parse_refuse_bytes(parse, valid, fault, body.at[valid] == '\0');
        return false;
    }
    if (body.bytes > 0 && memchr(body.at, '%', body.bytes) != NULL) {
        char *text = sf_parse_alloc(parse, body.bytes);
        if (text == NULL) {
            return false;
        }
        lexer->text = (struct sf_text){text, sf_escape_decode_wildcards(body, text)};
    }
    parse->decoded = lexer->text;
    return true;
}
