/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The sql dialect of the reference: one function for each rule of the grammar. A fault of the text stops the
 * parser (it jumps out); a fault of meaning is noted and the parser goes on as if it were right, so that all codes
 * that may be reported are found. */
#include <string.h>

#include "reference_tokens.h"

/* ---- tokens ---------------------------------------------------------------------------------- */

static bool is_token(const struct ref_parser *parser, enum ref_token_type type, const char *text) {
    const struct ref_token *token = &parser->token;
    return token->type == type && token->text.bytes == strlen(text) &&
           memcmp(token->text.text, text, token->text.bytes) == 0;
}

static bool is_keyword_next(const struct ref_parser *parser, const char *text) {
    return is_token(parser, REF_TOKEN_KEYWORD, text);
}

static bool take(struct ref_parser *parser, enum ref_token_type type, const char *text) {
    if (!is_token(parser, type, text)) {
        return false;
    }
    ref_advance(parser);
    return true;
}

static bool take_keyword(struct ref_parser *parser, const char *text) {
    return take(parser, REF_TOKEN_KEYWORD, text);
}

static bool take_symbol(struct ref_parser *parser, const char *text) {
    return take(parser, REF_TOKEN_SYMBOL, text);
}

/* What stands here is not what must stand here. With `operand` the thing that must stand here is one. */
_Noreturn static void stop_unexpected(struct ref_parser *parser, bool operand) {
    if (operand &&
        (parser->token.type == REF_TOKEN_END || is_token(parser, REF_TOKEN_SYMBOL, ")"))) {
        ref_stop(parser, REF_CODE(SF_E_EMPTY));
    }
    ref_stop(parser,
             REF_CODE(SF_E_SYNTAX) | (operand ? REF_CODE(SF_E_EMPTY) : 0) | parser->token.faults);
}

static void close_parenthesis(struct ref_parser *parser) {
    if (parser->token.type == REF_TOKEN_END) {
        ref_stop(parser, REF_CODE(SF_E_UNCLOSED));
    }
    if (!take_symbol(parser, ")")) {
        stop_unexpected(parser, false);
    }
}

/* ---- grammar --------------------------------------------------------------------------------- */

static struct ref_node *parse_or(struct ref_parser *parser);

static void count_operator(struct ref_parser *parser) {
    if (++parser->n_operators > SF_MAX_OPERATORS) {
        ref_stop(parser, REF_CODE(SF_E_LIMIT));
    }
}

static void enter(struct ref_parser *parser) {
    if (++parser->nesting > SF_MAX_NESTING) {
        ref_stop(parser, REF_CODE(SF_E_LIMIT));
    }
}

static bool is_name(const struct ref_node *node) {
    return node->kind == REF_NAME;
}

static void need_numeric(struct ref_parser *parser, const struct ref_node *node) {
    ref_note(parser, node->kind == REF_NAME || node->kind == REF_NUMBER, SF_E_KIND);
}

static void need_condition(struct ref_parser *parser, const struct ref_node *node) {
    ref_note(parser,
             node->kind == REF_NAME || node->kind == REF_CONDITION || node->kind == REF_NULL,
             SF_E_KIND);
}

static struct ref_node *binary(struct ref_parser *parser, enum ref_op op, enum ref_kind kind,
                               struct ref_node *left, struct ref_node *right) {
    struct ref_node *node = ref_node(parser->filter, op, kind);
    node->left = left;
    node->right = right;
    return node;
}

static struct ref_node *parse_constant_keyword(struct ref_parser *parser) {
    if (take_keyword(parser, "TRUE")) {
        return ref_node(parser->filter, REF_OP_TRUE, REF_CONDITION);
    }
    if (take_keyword(parser, "FALSE")) {
        return ref_node(parser->filter, REF_OP_FALSE, REF_CONDITION);
    }
    if (take_keyword(parser, "NULL")) {
        return ref_node(parser->filter, REF_OP_NULL, REF_NULL);
    }
    stop_unexpected(parser, true);
}

static struct ref_node *parse_primary(struct ref_parser *parser) {
    struct ref_token token = parser->token;
    struct ref_node *node = NULL;
    switch (token.type) {
    case REF_TOKEN_NUMBER:
        node = ref_node(parser->filter, REF_OP_LITERAL, REF_NUMBER);
        node->number = token.number;
        /* what makes it the smallest integer is a sign, and that is not here: see parse_factor */
        ref_note(parser, !token.smallest, SF_E_NUMBER);
        break;
    case REF_TOKEN_STRING:
        node = ref_node(parser->filter, REF_OP_STRING, REF_STRING);
        node->text = token.text;
        break;
    case REF_TOKEN_NAME:
        node = ref_node(parser->filter, REF_OP_PROPERTY, REF_NAME);
        node->text = token.text;
        break;
    case REF_TOKEN_ATTRIBUTE:
        node = ref_node(parser->filter, REF_OP_PROPERTY, REF_NAME);
        ref_attribute(token.text, node); /* if there is none, the token has a fault */
        break;
    case REF_TOKEN_KEYWORD:
        return parse_constant_keyword(parser);
    case REF_TOKEN_SYMBOL:
    case REF_TOKEN_END:
        if (!take_symbol(parser, "(")) {
            stop_unexpected(parser, true);
        }
        enter(parser);
        node = parse_or(parser);
        close_parenthesis(parser);
        parser->nesting--;
        return node;
    }
    ref_advance(parser);
    return node;
}

/* A '-' that is directly before 9223372036854775808: the whole is one literal. */
static struct ref_node *parse_smallest(struct ref_parser *parser) {
    struct ref_node *node = ref_node(parser->filter, REF_OP_LITERAL, REF_NUMBER);
    node->number = ref_number_integer(INT64_MIN);
    ref_advance(parser);
    return node;
}

static struct ref_node *parse_factor(struct ref_parser *parser) {
    bool minus = is_token(parser, REF_TOKEN_SYMBOL, "-");
    if (!minus && !is_token(parser, REF_TOKEN_SYMBOL, "+")) {
        return parse_primary(parser);
    }
    count_operator(parser);
    enter(parser);
    ref_advance(parser);
    struct ref_node *node = NULL;
    if (minus && parser->token.type == REF_TOKEN_NUMBER && parser->token.smallest) {
        node = parse_smallest(parser);
    } else {
        struct ref_node *operand = parse_factor(parser);
        need_numeric(parser, operand);
        node = binary(parser, minus ? REF_OP_MINUS : REF_OP_PLUS, REF_NUMBER, operand, NULL);
    }
    parser->nesting--;
    return node;
}

static struct ref_node *arithmetic(struct ref_parser *parser, enum ref_op op, struct ref_node *left,
                                   struct ref_node *right) {
    need_numeric(parser, left);
    need_numeric(parser, right);
    return binary(parser, op, REF_NUMBER, left, right);
}

static struct ref_node *parse_product(struct ref_parser *parser) {
    struct ref_node *node = parse_factor(parser);
    for (;;) {
        enum ref_op op = is_token(parser, REF_TOKEN_SYMBOL, "*") ? REF_OP_MULTIPLY : REF_OP_DIVIDE;
        if (op == REF_OP_DIVIDE && !is_token(parser, REF_TOKEN_SYMBOL, "/")) {
            return node;
        }
        count_operator(parser);
        ref_advance(parser);
        node = arithmetic(parser, op, node, parse_factor(parser));
    }
}

static struct ref_node *parse_sum(struct ref_parser *parser) {
    struct ref_node *node = parse_product(parser);
    for (;;) {
        enum ref_op op = is_token(parser, REF_TOKEN_SYMBOL, "+") ? REF_OP_ADD : REF_OP_SUBTRACT;
        if (op == REF_OP_SUBTRACT && !is_token(parser, REF_TOKEN_SYMBOL, "-")) {
            return node;
        }
        count_operator(parser);
        ref_advance(parser);
        node = arithmetic(parser, op, node, parse_product(parser));
    }
}

static struct ref_node *parse_between(struct ref_parser *parser, struct ref_node *left) {
    struct ref_node *node = ref_node(parser->filter, REF_OP_BETWEEN, REF_CONDITION);
    node->left = left;
    node->right = parse_sum(parser);
    if (!take_keyword(parser, "AND")) {
        stop_unexpected(parser, false);
    }
    node->third = parse_sum(parser);
    need_numeric(parser, left);
    need_numeric(parser, node->right);
    need_numeric(parser, node->third);
    if (parser->filter->codes == 0 && ref_is_constant(node->right) &&
        ref_is_constant(node->third)) {
        struct ref_number low = ref_constant(node->right);
        struct ref_number high = ref_constant(node->third);
        ref_note(parser, !low.known || !high.known || ref_number_compare(low, high) <= 0,
                 SF_E_BOUNDS);
    }
    return node;
}

/* literal = string | [ "+" | "-" ] number */
static struct ref_node *parse_literal(struct ref_parser *parser) {
    bool minus = is_token(parser, REF_TOKEN_SYMBOL, "-");
    bool sign = minus || is_token(parser, REF_TOKEN_SYMBOL, "+");
    if (sign) {
        ref_advance(parser);
        if (minus && parser->token.type == REF_TOKEN_NUMBER && parser->token.smallest) {
            return parse_smallest(parser);
        }
    }
    bool fits =
        parser->token.type == REF_TOKEN_NUMBER || (!sign && parser->token.type == REF_TOKEN_STRING);
    if (!fits) {
        stop_unexpected(parser, true);
    }
    struct ref_node *node = parse_primary(parser);
    if (minus && node->number.is_integer) {
        node->number.integer = -node->number.integer;
    } else if (minus) {
        node->number.real = -node->number.real;
    }
    return node;
}

static struct ref_node *parse_in(struct ref_parser *parser, struct ref_node *left) {
    struct ref_node *node = ref_node(parser->filter, REF_OP_IN, REF_CONDITION);
    node->left = left;
    ref_note(parser, is_name(left) || left->op == REF_OP_QOS || left->op == REF_OP_PAYLOAD_BYTES,
             SF_E_KIND);
    if (!take_symbol(parser, "(")) {
        stop_unexpected(parser, false);
    }
    struct ref_node **link = &node->right;
    size_t n = 0;
    do {
        if (n > 0 && parser->token.type == REF_TOKEN_END) {
            ref_stop(parser, REF_CODE(SF_E_UNCLOSED) | REF_CODE(SF_E_EMPTY));
        }
        *link = parse_literal(parser);
        ref_note(parser, is_name(left) || (*link)->kind == REF_NUMBER, SF_E_KIND);
        link = &(*link)->next;
        ref_note(parser, ++n <= SF_MAX_LIST, SF_E_LIMIT);
    } while (take_symbol(parser, ","));
    close_parenthesis(parser);
    return node;
}

static struct ref_text parse_string(struct ref_parser *parser) {
    struct ref_text text = parser->token.text;
    if (parser->token.type != REF_TOKEN_STRING) {
        stop_unexpected(parser, true);
    }
    ref_advance(parser);
    return text;
}

/* Pattern faults: the escape character last, more than a limit between two % with a _ among them. */
static void check_pattern(struct ref_parser *parser, const struct ref_node *node) {
    size_t n = 0;
    bool between = false; /* behind a % */
    bool any_one = false;
    for (size_t i = 0; i < node->text.bytes;) {
        struct ref_text c = {node->text.text + i,
                             ref_character(node->text.text + i, node->text.bytes - i)};
        i += c.bytes;
        if (node->escape.text != NULL && ref_equal(c, node->escape)) {
            ref_note(parser, i < node->text.bytes, SF_E_PATTERN);
            i +=
                i < node->text.bytes ? ref_character(node->text.text + i, node->text.bytes - i) : 0;
            n++;
        } else if (c.text[0] == '%') {
            ref_note(parser, !between || !any_one || n <= SF_MAX_PATTERN, SF_E_LIMIT);
            between = true;
            any_one = false;
            n = 0;
        } else {
            any_one = any_one || c.text[0] == '_';
            n++;
        }
    }
}

static struct ref_node *parse_like(struct ref_parser *parser, struct ref_node *left) {
    struct ref_node *node = ref_node(parser->filter, REF_OP_LIKE, REF_CONDITION);
    node->left = left;
    node->text = parse_string(parser);
    if (take_keyword(parser, "ESCAPE")) {
        node->escape = parse_string(parser);
        if (node->escape.bytes == 0 ||
            ref_character(node->escape.text, node->escape.bytes) != node->escape.bytes) {
            ref_note(parser, false, SF_E_PATTERN);
            return node;
        }
    }
    check_pattern(parser, node);
    return node;
}

static struct ref_node *parse_text_operator(struct ref_parser *parser, enum ref_op op,
                                            struct ref_node *left) {
    if (op == REF_OP_LIKE) {
        return parse_like(parser, left);
    }
    struct ref_node *node = ref_node(parser->filter, op, REF_CONDITION);
    node->left = left;
    node->text = parse_string(parser);
    return node;
}

static struct ref_node *parse_ordering(struct ref_parser *parser, enum ref_op op,
                                       struct ref_node *left) {
    count_operator(parser);
    ref_advance(parser);
    struct ref_node *right = parse_sum(parser);
    need_numeric(parser, left);
    need_numeric(parser, right);
    return binary(parser, op, REF_CONDITION, left, right);
}

static struct ref_node *parse_relation(struct ref_parser *parser) {
    static const struct {
        const char *text;
        enum ref_op op;
    } orderings[] = {{"<", REF_OP_LT}, {"<=", REF_OP_LE}, {">", REF_OP_GT}, {">=", REF_OP_GE}},
      texts[] = {{"LIKE", REF_OP_LIKE},
                 {"CONTAINS", REF_OP_CONTAINS},
                 {"STARTSWITH", REF_OP_STARTSWITH},
                 {"ENDSWITH", REF_OP_ENDSWITH}};
    struct ref_node *left = parse_sum(parser);
    for (size_t i = 0; i < sizeof orderings / sizeof orderings[0]; i++) {
        if (is_token(parser, REF_TOKEN_SYMBOL, orderings[i].text)) {
            return parse_ordering(parser, orderings[i].op, left);
        }
    }
    bool negated = take_keyword(parser, "NOT");
    struct ref_node *node = NULL;
    if (is_keyword_next(parser, "BETWEEN") || is_keyword_next(parser, "IN")) {
        count_operator(parser);
        bool between = is_keyword_next(parser, "BETWEEN");
        ref_advance(parser);
        node = between ? parse_between(parser, left) : parse_in(parser, left);
        node->negated = negated;
        return node;
    }
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (is_keyword_next(parser, texts[i].text)) {
            count_operator(parser);
            ref_advance(parser);
            ref_note(parser, left->kind == REF_NAME || left->kind == REF_STRING, SF_E_KIND);
            node = parse_text_operator(parser, texts[i].op, left);
            node->negated = negated;
            return node;
        }
    }
    if (negated) {
        stop_unexpected(parser, false);
    }
    return left;
}

static bool can_equal(enum ref_kind a, enum ref_kind b) {
    if (a == REF_NULL || b == REF_NULL) {
        return false;
    }
    return a == REF_NAME || b == REF_NAME || a == b;
}

static struct ref_node *parse_equality(struct ref_parser *parser) {
    struct ref_node *node = parse_relation(parser);
    for (bool further = false;; further = true) {
        bool equal = is_token(parser, REF_TOKEN_SYMBOL, "=");
        if (equal || is_token(parser, REF_TOKEN_SYMBOL, "<>") ||
            is_token(parser, REF_TOKEN_SYMBOL, "!=")) {
            count_operator(parser);
            ref_advance(parser);
            struct ref_node *right = parse_relation(parser);
            ref_note(parser, can_equal(node->kind, right->kind), SF_E_KIND);
            ref_note(parser, !further || !is_name(right), SF_E_KIND);
            node = binary(parser, equal ? REF_OP_EQ : REF_OP_NE, REF_CONDITION, node, right);
        } else if (is_keyword_next(parser, "IS")) {
            count_operator(parser);
            ref_advance(parser);
            bool negated = take_keyword(parser, "NOT");
            if (!take_keyword(parser, "NULL")) {
                stop_unexpected(parser, false);
            }
            node = binary(parser, REF_OP_IS_NULL, REF_CONDITION, node, NULL);
            node->negated = negated;
        } else {
            return node;
        }
    }
}

static struct ref_node *parse_not(struct ref_parser *parser) {
    if (!is_keyword_next(parser, "NOT")) {
        return parse_equality(parser);
    }
    count_operator(parser);
    enter(parser);
    ref_advance(parser);
    struct ref_node *operand = parse_not(parser);
    need_condition(parser, operand);
    parser->nesting--;
    return binary(parser, REF_OP_NOT, REF_CONDITION, operand, NULL);
}

static struct ref_node *parse_junction(struct ref_parser *parser, const char *keyword,
                                       enum ref_op op,
                                       struct ref_node *(*parse)(struct ref_parser *)) {
    struct ref_node *node = parse(parser);
    while (is_keyword_next(parser, keyword)) {
        count_operator(parser);
        ref_advance(parser);
        struct ref_node *right = parse(parser);
        need_condition(parser, node);
        need_condition(parser, right);
        node = binary(parser, op, REF_CONDITION, node, right);
    }
    return node;
}

static struct ref_node *parse_and(struct ref_parser *parser) {
    return parse_junction(parser, "AND", REF_OP_AND, parse_not);
}

static struct ref_node *parse_or(struct ref_parser *parser) {
    return parse_junction(parser, "OR", REF_OP_OR, parse_and);
}

void ref_parse_sql(struct ref_filter *filter, struct ref_text text) {
    if (filter->codes != 0) {
        return; /* not UTF-8: nothing to read */
    }
    struct ref_parser parser = {.filter = filter, .text = text.text, .bytes = text.bytes};
    if (setjmp(parser.stop) != 0) {
        return;
    }
    ref_advance(&parser);
    filter->root = parse_or(&parser);
    if (parser.token.type != REF_TOKEN_END) {
        stop_unexpected(&parser, false);
    }
    need_condition(&parser, filter->root);
}
