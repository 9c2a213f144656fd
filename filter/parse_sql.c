/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sql (LANGUAGE, sql), by precedence climbing: one function for everything that binds by level, one for what stands
 * before an operand. A parenthesis, NOT or sign costs two stack frames, and there are at most SF_MAX_NESTING of them
 * open. */
#include "error.h"
#include "lexer.h"
#include "like.h"
#include "parse.h"

/* What binds tighter is higher. */
enum level {
    LEVEL_NONE,
    LEVEL_OR,
    LEVEL_AND,
    LEVEL_NOT,
    LEVEL_EQUALITY,
    LEVEL_RELATION, /* does not repeat: a < b < c is refused */
    LEVEL_SUM,
    LEVEL_PRODUCT,
    LEVEL_FACTOR,
};

struct parser {
    struct sf_parse *parse;
    struct sf_lexer lexer;
    struct sf_token token; /* the next one */
    size_t end;            /* of the one before */
    size_t nesting;
};

static struct sf_node *parse_level(struct parser *parser, enum level least);

/* ---- tokens ---------------------------------------------------------------------------------------------------- */

static bool advance(struct parser *parser) {
    parser->end = parser->token.start + parser->token.bytes;
    return sf_lexer_next(&parser->lexer, &parser->token);
}

static bool is_next(const struct parser *parser, enum sf_token_type type) {
    return parser->token.type == type;
}

static struct sf_text token_text(const struct parser *parser) {
    return (struct sf_text){parser->lexer.text.at + parser->token.start, parser->token.bytes};
}

static struct sf_node *refuse_token(struct parser *parser, enum sf_status code, const char *what) {
    return sf_parse_refuse(parser->parse, code, parser->token.start, parser->token.bytes, "%s",
                           what);
}

/* What else to say about a next token that does not fit. */
static const char *hint(const struct parser *parser) {
    if (is_next(parser, SF_TOKEN_NULL)) {
        return "; IS NULL and IS NOT NULL ask whether something is absent";
    }
    bool is_behind_string = parser->end > 0 && parser->end == parser->token.start &&
                            parser->lexer.text.at[parser->end - 1] == '\'';
    char first = parser->lexer.text.at[parser->token.start];
    bool is_word = sf_is_letter(first) || sf_is_digit(first) || !sf_is_ascii(first);
    return is_behind_string && is_word ? "; a ' in a string is written ''" : "";
}

/* The next token does not fit; `expected` says what would. */
static struct sf_node *refuse_unexpected(struct parser *parser, const char *expected) {
    struct sf_quoted quoted;
    if (is_next(parser, SF_TOKEN_END)) {
        return sf_parse_refuse(parser->parse, SF_E_SYNTAX, parser->token.start, 0,
                               "the expression ends where %s must stand", expected);
    }
    return sf_parse_refuse(parser->parse, SF_E_SYNTAX, parser->token.start, parser->token.bytes,
                           "unexpected %s; expected %s%s", sf_quote(&quoted, token_text(parser)),
                           expected, hint(parser));
}

/* An operand must stand here, and something else does or nothing at all. */
static struct sf_node *refuse_no_operand(struct parser *parser, const char *operand) {
    if (is_next(parser, SF_TOKEN_END) && parser->end == 0) {
        return refuse_token(parser, SF_E_EMPTY, "the expression is empty");
    }
    if (is_next(parser, SF_TOKEN_END) || is_next(parser, SF_TOKEN_CLOSE) ||
        is_next(parser, SF_TOKEN_COMMA)) {
        return sf_parse_refuse(parser->parse, SF_E_EMPTY, parser->token.start, parser->token.bytes,
                               "%s is missing here", operand);
    }
    return refuse_unexpected(parser, operand);
}

/* Take the next token as an operator that counts. */
static bool take_operator(struct parser *parser) {
    return sf_parse_count(parser->parse, parser->token.start, parser->token.bytes, "operators") &&
           advance(parser);
}

/* Take the next token, and be one level deeper until leave(). */
static bool enter(struct parser *parser) {
    if (++parser->nesting > SF_MAX_NESTING) {
        sf_parse_refuse(parser->parse, SF_E_LIMIT, parser->token.start, parser->token.bytes,
                        "at most %d parentheses, NOTs and signs can be open", SF_MAX_NESTING);
        return false;
    }
    return advance(parser);
}

static void leave(struct parser *parser) {
    parser->nesting--;
}

static struct sf_node *node_of_token(struct parser *parser, enum sf_node_type type) {
    return sf_parse_node(parser->parse, type, parser->token.start, parser->token.bytes);
}

/* A node from `start` to the last token that was taken. */
static struct sf_node *node_from(struct parser *parser, enum sf_node_type type, size_t start) {
    return sf_parse_node(parser->parse, type, start, parser->end - start);
}

/* ---- operands -------------------------------------------------------------------------------------------------- */

/* A number token, with the sign that was taken just before ('\0': none) when both are one literal. */
static struct sf_node *parse_number(struct parser *parser, char sign, size_t sign_start) {
    const struct sf_token token = parser->token;
    size_t start = sign == '\0' ? token.start : sign_start;
    if (token.is_smallest && !(sign == '-' && sign_start + 1 == token.start)) {
        return refuse_token(parser, SF_E_NUMBER,
                            "9223372036854775808 is out of range without a - directly before it");
    }
    struct sf_node *node =
        sf_parse_node(parser->parse, SF_NODE_NUMBER, start, token.start + token.bytes - start);
    if (node == NULL || !advance(parser)) {
        return NULL;
    }
    node->text = token.text;
    node->number = token.is_smallest ? sf_number_integer(INT64_MIN)
                   : sign == '-'     ? sf_number_negate(token.number)
                                     : token.number;
    if (sign != '\0') {
        char *text = sf_parse_alloc(parser->parse, token.text.bytes + 1);
        if (text == NULL) {
            return NULL;
        }
        text[0] = sign;
        memcpy(text + 1, token.text.at, token.text.bytes);
        node->text = (struct sf_text){text, token.text.bytes + 1};
    }
    return node;
}

static struct sf_node *parse_parenthesis(struct parser *parser) {
    size_t start = parser->token.start;
    if (!enter(parser)) {
        return NULL;
    }
    struct sf_node *node = parse_level(parser, LEVEL_OR);
    if (node == NULL) {
        return NULL;
    }
    if (is_next(parser, SF_TOKEN_END)) {
        return sf_parse_refuse(parser->parse, SF_E_UNCLOSED, start, 1,
                               "this parenthesis is not closed");
    }
    if (!is_next(parser, SF_TOKEN_CLOSE)) {
        return refuse_unexpected(parser, "an operator or )");
    }
    if (!advance(parser)) {
        return NULL;
    }
    leave(parser);
    node->start = start;
    node->bytes = parser->end - start;
    return node;
}

static struct sf_node *parse_sign(struct parser *parser);
static struct sf_node *parse_not(struct parser *parser, enum level least);

static struct sf_node *parse_primary(struct parser *parser) {
    struct sf_node *node = NULL;
    switch (parser->token.type) {
    case SF_TOKEN_OPEN:
        return parse_parenthesis(parser);
    case SF_TOKEN_NUMBER:
        return parse_number(parser, '\0', 0);
    case SF_TOKEN_NAME:
        node = node_of_token(parser, SF_NODE_NAME);
        break;
    case SF_TOKEN_ATTRIBUTE:
        node = node_of_token(parser, SF_NODE_ATTRIBUTE);
        break;
    case SF_TOKEN_STRING:
        node = node_of_token(parser, SF_NODE_STRING);
        break;
    case SF_TOKEN_TRUE:
    case SF_TOKEN_FALSE:
        node = node_of_token(parser, SF_NODE_TRUTH);
        break;
    case SF_TOKEN_NULL:
        node = node_of_token(parser, SF_NODE_NULL);
        break;
    default:
        return refuse_no_operand(parser, "an operand");
    }
    if (node != NULL) {
        node->text = parser->token.text;
        node->attribute = parser->token.attribute;
        node->is_true = is_next(parser, SF_TOKEN_TRUE);
    }
    return node == NULL || !advance(parser) ? NULL : node;
}

/* What starts an operand of a level from `least` on. */
static struct sf_node *parse_prefix(struct parser *parser, enum level least) {
    switch (parser->token.type) {
    case SF_TOKEN_NOT:
        return parse_not(parser, least);
    case SF_TOKEN_PLUS:
    case SF_TOKEN_MINUS:
        return parse_sign(parser);
    default:
        return parse_primary(parser);
    }
}

static struct sf_node *parse_not(struct parser *parser, enum level least) {
    size_t start = parser->token.start;
    if (least > LEVEL_NOT) {
        return refuse_unexpected(parser, "an operand; put NOT ... into parentheses");
    }
    if (!sf_parse_count(parser->parse, start, parser->token.bytes, "operators") || !enter(parser)) {
        return NULL;
    }
    struct sf_node *operand = parse_level(parser, LEVEL_NOT);
    struct sf_node *node = operand == NULL ? NULL : node_from(parser, SF_NODE_NOT, start);
    if (node != NULL) {
        leave(parser);
        node->first = operand;
    }
    return node;
}

static struct sf_node *parse_sign(struct parser *parser) {
    size_t start = parser->token.start;
    char sign = is_next(parser, SF_TOKEN_PLUS) ? '+' : '-';
    if (!sf_parse_count(parser->parse, start, 1, "operators") || !enter(parser)) {
        return NULL;
    }
    if (is_next(parser, SF_TOKEN_NUMBER) && parser->token.is_smallest) {
        leave(parser);
        return parse_number(parser, sign, start);
    }
    struct sf_node *operand = parse_prefix(parser, LEVEL_FACTOR);
    struct sf_node *node = operand == NULL ? NULL : node_from(parser, SF_NODE_SIGN, start);
    if (node != NULL) {
        leave(parser);
        node->sign = sign;
        node->first = operand;
    }
    return node;
}

/* ---- operators ------------------------------------------------------------------------------------------------- */

/* AND and OR are one node for a whole run of them, however it was grouped: a AND (b AND c) is a AND b AND c. */
static struct sf_node *parse_junction(struct parser *parser, struct sf_node *left) {
    bool is_or = is_next(parser, SF_TOKEN_OR);
    enum sf_node_type type = is_or ? SF_NODE_OR : SF_NODE_AND;
    struct sf_node *right =
        take_operator(parser) ? parse_level(parser, is_or ? LEVEL_AND : LEVEL_NOT) : NULL;
    struct sf_node *node = right == NULL ? NULL : node_from(parser, type, left->start);
    if (node == NULL) {
        return NULL;
    }
    struct sf_node *last = left;
    node->first = left;
    if (left->type == type) { /* go on with its children */
        node->first = left->first;
        last = left->last;
    }
    last->next = right->type == type ? right->first : right;
    node->last = right->type == type ? right->last : right;
    return node;
}

static struct sf_node *parse_is(struct parser *parser, struct sf_node *left) {
    if (!take_operator(parser)) {
        return NULL;
    }
    bool negated = is_next(parser, SF_TOKEN_NOT);
    if (negated && !advance(parser)) {
        return NULL;
    }
    if (!is_next(parser, SF_TOKEN_NULL)) {
        return refuse_unexpected(parser, negated ? "NULL" : "NULL or NOT NULL");
    }
    struct sf_node *node = advance(parser) ? node_from(parser, SF_NODE_IS_NULL, left->start) : NULL;
    if (node != NULL) {
        node->negated = negated;
        node->first = left;
    }
    return node;
}

static enum sf_relation relation_of(enum sf_token_type type) {
    switch (type) {
    case SF_TOKEN_EQUAL:
        return SF_EQUAL;
    case SF_TOKEN_UNEQUAL:
        return SF_LESS | SF_GREATER;
    case SF_TOKEN_LESS:
        return SF_LESS;
    case SF_TOKEN_LESS_EQUAL:
        return SF_LESS | SF_EQUAL;
    case SF_TOKEN_GREATER:
        return SF_GREATER;
    default:
        return SF_GREATER | SF_EQUAL;
    }
}

/* `chained`: an equality without parentheses is on the left. */
static struct sf_node *parse_comparison(struct parser *parser, struct sf_node *left,
                                        enum level level, bool chained) {
    enum sf_relation relation = relation_of(parser->token.type);
    struct sf_node *right = take_operator(parser) ? parse_level(parser, level + 1) : NULL;
    if (right == NULL) {
        return NULL;
    }
    if (chained && sf_node_kind(right) == SF_KIND_NAME) {
        struct sf_quoted name;
        return sf_parse_refuse(
            parser->parse, SF_E_KIND, right->start, right->bytes,
            "%s is a name; what a comparison gives is compared with names only "
            "when it is in parentheses",
            sf_quote(&name, (struct sf_text){parser->lexer.text.at + right->start, right->bytes}));
    }
    struct sf_node *node = node_from(parser, SF_NODE_COMPARE, left->start);
    if (node != NULL) {
        node->relation = relation;
        node->first = left;
        left->next = right;
    }
    return node;
}

static struct sf_node *parse_arithmetic(struct parser *parser, struct sf_node *left,
                                        enum level level) {
    char sign = parser->lexer.text.at[parser->token.start];
    struct sf_node *right = take_operator(parser) ? parse_level(parser, level + 1) : NULL;
    struct sf_node *node =
        right == NULL ? NULL : node_from(parser, SF_NODE_ARITHMETIC, left->start);
    if (node != NULL) {
        node->sign = sign;
        node->first = left;
        left->next = right;
    }
    return node;
}

static struct sf_node *parse_between(struct parser *parser, struct sf_node *left) {
    struct sf_node *low = parse_level(parser, LEVEL_SUM);
    if (low == NULL) {
        return NULL;
    }
    if (!is_next(parser, SF_TOKEN_AND)) {
        return refuse_unexpected(parser, "AND and the upper bound of BETWEEN");
    }
    struct sf_node *high = advance(parser) ? parse_level(parser, LEVEL_SUM) : NULL;
    struct sf_node *node = high == NULL ? NULL : node_from(parser, SF_NODE_BETWEEN, left->start);
    if (node != NULL) {
        node->first = left;
        left->next = low;
        low->next = high;
    }
    return node;
}

/* literal = string | [ "+" | "-" ] number */
static struct sf_node *parse_literal(struct parser *parser) {
    size_t start = parser->token.start;
    char sign = is_next(parser, SF_TOKEN_PLUS) ? '+' : is_next(parser, SF_TOKEN_MINUS) ? '-' : '\0';
    if (sign != '\0' && !advance(parser)) {
        return NULL;
    }
    if (is_next(parser, SF_TOKEN_NUMBER)) {
        return parse_number(parser, sign, start);
    }
    if (sign != '\0' || !is_next(parser, SF_TOKEN_STRING)) {
        return refuse_no_operand(parser, sign != '\0' ? "a number"
                                                      : "a string in single quotes or a number");
    }
    return parse_primary(parser);
}

static struct sf_node *parse_in(struct parser *parser, struct sf_node *left) {
    if (!is_next(parser, SF_TOKEN_OPEN)) {
        return refuse_unexpected(parser, "( and a list");
    }
    size_t open = parser->token.start;
    struct sf_node **link = &left->next;
    size_t n = 0;
    do {
        if (!advance(parser)) {
            return NULL;
        }
        if (++n > SF_MAX_LIST) {
            return sf_parse_refuse(parser->parse, SF_E_LIMIT, parser->token.start,
                                   parser->token.bytes, "a list has at most %d literals",
                                   SF_MAX_LIST);
        }
        *link = parse_literal(parser);
        if (*link == NULL) {
            return NULL;
        }
        link = &(*link)->next;
    } while (is_next(parser, SF_TOKEN_COMMA));
    if (is_next(parser, SF_TOKEN_END)) {
        return sf_parse_refuse(parser->parse, SF_E_UNCLOSED, open, 1, "this list is not closed");
    }
    if (!is_next(parser, SF_TOKEN_CLOSE)) {
        return refuse_unexpected(parser, ", or )");
    }
    struct sf_node *node = advance(parser) ? node_from(parser, SF_NODE_IN, left->start) : NULL;
    if (node != NULL) {
        node->first = left;
    }
    return node;
}

static bool parse_string(struct parser *parser, struct sf_text *text_out) {
    if (!is_next(parser, SF_TOKEN_STRING)) {
        refuse_no_operand(parser, "a string in single quotes");
        return false;
    }
    *text_out = parser->token.text;
    return advance(parser);
}

/* CONTAINS, STARTSWITH, ENDSWITH, taken already. */
static struct sf_node *parse_text_operator(struct parser *parser, struct sf_node *left,
                                           enum sf_node_type type) {
    struct sf_text text = {NULL, 0};
    struct sf_node *node =
        parse_string(parser, &text) ? node_from(parser, type, left->start) : NULL;
    if (node != NULL) {
        node->text = text;
        node->first = left;
    }
    return node;
}

/* Encode the pattern of `node`; the tokens are where the pattern and the escape character were. */
static bool encode_pattern(struct parser *parser, struct sf_node *node,
                           const struct sf_token *pattern, const struct sf_token *escape) {
    char *out = sf_parse_alloc(parser->parse, node->text.bytes);
    if (out == NULL) {
        return false;
    }
    node->pattern.at = out;
    switch (sf_like_encode(node->text, node->escape, out, &node->pattern.bytes)) {
    case SF_LIKE_OK:
        return true;
    case SF_LIKE_ESCAPE_NOT_ONE:
        sf_parse_refuse(parser->parse, SF_E_PATTERN, escape->start, escape->bytes,
                        "ESCAPE takes exactly one character");
        return false;
    case SF_LIKE_ESCAPE_AT_END:
        sf_parse_refuse(parser->parse, SF_E_PATTERN, pattern->start, pattern->bytes,
                        "the pattern ends in its escape character, which has nothing to escape");
        return false;
    case SF_LIKE_TOO_LONG:
        sf_parse_refuse(parser->parse, SF_E_LIMIT, pattern->start, pattern->bytes,
                        "at most %d characters can be between two %% when _ is among them",
                        SF_MAX_PATTERN);
        return false;
    }
    return false;
}

/* string [ ESCAPE string ] */
static struct sf_node *parse_like(struct parser *parser, struct sf_node *left) {
    const struct sf_token pattern = parser->token;
    struct sf_node *node = parse_text_operator(parser, left, SF_NODE_LIKE);
    if (node == NULL) {
        return NULL;
    }
    struct sf_token escape = parser->token;
    if (is_next(parser, SF_TOKEN_ESCAPE)) {
        if (!advance(parser)) {
            return NULL;
        }
        escape = parser->token;
        if (!parse_string(parser, &node->escape)) {
            return NULL;
        }
        node->bytes = parser->end - node->start;
    }
    return encode_pattern(parser, node, &pattern, &escape) ? node : NULL;
}

/* [NOT] BETWEEN, IN, LIKE, CONTAINS, STARTSWITH, ENDSWITH */
static struct sf_node *parse_word_relation(struct parser *parser, struct sf_node *left) {
    bool negated = is_next(parser, SF_TOKEN_NOT);
    if (negated && !advance(parser)) {
        return NULL;
    }
    enum sf_token_type type = parser->token.type;
    if (type < SF_TOKEN_BETWEEN || type > SF_TOKEN_ENDSWITH) {
        return refuse_unexpected(parser, "IN, LIKE, BETWEEN or another such word behind NOT");
    }
    if (!take_operator(parser)) {
        return NULL;
    }
    struct sf_node *node = NULL;
    switch (type) {
    case SF_TOKEN_BETWEEN:
        node = parse_between(parser, left);
        break;
    case SF_TOKEN_IN:
        node = parse_in(parser, left);
        break;
    case SF_TOKEN_LIKE:
        node = parse_like(parser, left);
        break;
    case SF_TOKEN_CONTAINS:
        node = parse_text_operator(parser, left, SF_NODE_CONTAINS);
        break;
    case SF_TOKEN_STARTSWITH:
        node = parse_text_operator(parser, left, SF_NODE_STARTSWITH);
        break;
    default:
        node = parse_text_operator(parser, left, SF_NODE_ENDSWITH);
        break;
    }
    if (node != NULL) {
        node->negated = negated;
    }
    return node;
}

static enum level level_of(enum sf_token_type type) {
    switch (type) {
    case SF_TOKEN_OR:
        return LEVEL_OR;
    case SF_TOKEN_AND:
        return LEVEL_AND;
    case SF_TOKEN_EQUAL:
    case SF_TOKEN_UNEQUAL:
    case SF_TOKEN_IS:
        return LEVEL_EQUALITY;
    case SF_TOKEN_LESS:
    case SF_TOKEN_LESS_EQUAL:
    case SF_TOKEN_GREATER:
    case SF_TOKEN_GREATER_EQUAL:
    case SF_TOKEN_NOT: /* of NOT IN and the like */
    case SF_TOKEN_BETWEEN:
    case SF_TOKEN_IN:
    case SF_TOKEN_LIKE:
    case SF_TOKEN_CONTAINS:
    case SF_TOKEN_STARTSWITH:
    case SF_TOKEN_ENDSWITH:
        return LEVEL_RELATION;
    case SF_TOKEN_PLUS:
    case SF_TOKEN_MINUS:
        return LEVEL_SUM;
    case SF_TOKEN_STAR:
    case SF_TOKEN_SLASH:
        return LEVEL_PRODUCT;
    default:
        return LEVEL_NONE;
    }
}

static struct sf_node *parse_infix(struct parser *parser, struct sf_node *left, enum level level,
                                   bool chained) {
    switch (level) {
    case LEVEL_OR:
    case LEVEL_AND:
        return parse_junction(parser, left);
    case LEVEL_EQUALITY:
        return is_next(parser, SF_TOKEN_IS) ? parse_is(parser, left)
                                            : parse_comparison(parser, left, level, chained);
    case LEVEL_RELATION:
        return is_next(parser, SF_TOKEN_NOT) || parser->token.type >= SF_TOKEN_BETWEEN
                   ? parse_word_relation(parser, left)
                   : parse_comparison(parser, left, level, false);
    default:
        return parse_arithmetic(parser, left, level);
    }
}

/* Everything that binds at least as tightly as `least`. */
static struct sf_node *parse_level(struct parser *parser, enum level least) {
    bool is_not = is_next(parser, SF_TOKEN_NOT);
    struct sf_node *node = parse_prefix(parser, least);
    enum level reached = is_not ? LEVEL_NOT : LEVEL_FACTOR; /* how tightly `node` itself binds */
    while (node != NULL) {
        enum level level = level_of(parser->token.type);
        if (level == LEVEL_NONE || level < least || level > reached ||
            (level == LEVEL_RELATION && reached == LEVEL_RELATION)) {
            break;
        }
        node = parse_infix(parser, node, level, reached == LEVEL_EQUALITY);
        reached = level;
    }
    return node;
}

struct sf_node *sf_parse_sql(struct sf_parse *parse) {
    struct parser parser = {.parse = parse};
    if (!sf_lexer_init(&parser.lexer, parse) || !sf_lexer_next(&parser.lexer, &parser.token)) {
        return NULL;
    }
    struct sf_node *root = parse_level(&parser, LEVEL_OR);
    if (root != NULL && !is_next(&parser, SF_TOKEN_END)) {
        return refuse_unexpected(&parser, "an operator, AND, OR or the end");
    }
    return root;
}
