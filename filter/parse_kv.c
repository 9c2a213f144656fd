/* SPDX-License-Identifier: BSD-3-Clause
 *
 * kv: key=value&key>value. Clauses and their parts are found in the text as it was sent; only then are escapes
 * decoded. */
#include "error.h"
#include "lexer.h"
#include "parse.h"

/* A clause as sent, without blanks around it. Positions count from the body's start. */
struct clause {
    size_t start;
    size_t bytes;
    size_t operator_start;
    size_t operator_bytes;
    enum sf_relation relation;
};

static bool is_operator(char c) {
    return c == '=' || c == '<' || c == '>';
}

/* Where the first operator character at or behind `at` is; `end` when there is none. */
static size_t find_operator(struct sf_text body, size_t at, size_t end) {
    while (at < end && !is_operator(body.at[at])) {
        at++;
    }
    return at;
}

/* What else to say about a clause that is none: it may be of another dialect. */
static const char *hint(struct sf_text clause) {
    return sf_lexer_has_keyword(clause) ? "; an SQL expression begins with sql:" : "";
}

/* What was most likely meant by an operator of one character that is followed by the character `second`. */
static const char *likely_operator(char first, char second) {
    return first != '=' ? "" : second == '=' ? " =, or" : second == '<' ? " <=, or" : " >=, or";
}

/* Find the one operator of the clause, or refuse. */
static bool find_relation(struct sf_parse *parse, struct sf_text body, struct clause *clause) {
    const struct sf_text text = {body.at + clause->start, clause->bytes};
    size_t end = clause->start + clause->bytes;
    size_t at = find_operator(body, clause->start, end);
    if (at == end) {
        struct sf_quoted quoted;
        sf_parse_refuse(parse, SF_E_OPERATOR, clause->start, clause->bytes,
                        "\"%s\" has no operator; expected key=value (or > < >= <=)%s",
                        sf_quote(&quoted, text), hint(text));
        return false;
    }
    clause->operator_start = at;
    clause->operator_bytes = 1;
    clause->relation = body.at[at] == '=' ? SF_EQUAL : body.at[at] == '<' ? SF_LESS : SF_GREATER;
    if (body.at[at] != '=' && at + 1 < end && body.at[at + 1] == '=') {
        clause->operator_bytes = 2;
        clause->relation |= SF_EQUAL;
    }
    size_t second = find_operator(body, at + clause->operator_bytes, end);
    if (second < end) {
        sf_parse_refuse(
            parse, SF_E_OPERATOR, second, 1,
            "a second operator; write%s %s if this character belongs to the key or value%s",
            second == at + 1 ? likely_operator(body.at[at], body.at[second]) : "",
            body.at[second] == '='   ? "%3D"
            : body.at[second] == '<' ? "%3C"
                                     : "%3E",
            hint(text));
        return false;
    }
    return true;
}

/* Read the key or the value: trimmed, decoded. */
static struct sf_node *read_part(struct sf_parse *parse, enum sf_node_type type, size_t start,
                                 size_t bytes) {
    struct sf_text raw = {sf_parse_body(parse).at + start, bytes};
    struct sf_text trimmed = sf_text_trim(raw);
    if (trimmed.bytes == 0) {
        return sf_parse_refuse(parse, SF_E_EMPTY, start, sf_parse_empty_bytes(parse, start, bytes),
                               type == SF_NODE_NAME ? "a key is missing before the operator"
                                                    : "a value is missing behind the operator");
    }
    start += (size_t)(trimmed.at - raw.at);
    if (type == SF_NODE_NAME && trimmed.at[trimmed.bytes - 1] == '!') {
        return sf_parse_refuse(parse, SF_E_OPERATOR, start + trimmed.bytes - 1, 1,
                               "kv has no negation; write %%21 if the ! belongs to the key");
    }
    struct sf_node *node = sf_parse_node(parse, type, start, trimmed.bytes);
    if (node == NULL || !sf_parse_decode(parse, trimmed, start, &node->text)) {
        return NULL;
    }
    return node;
}

/* Make a number of the value, for the operators that order. */
static bool read_number(struct sf_parse *parse, struct sf_node *value, enum sf_relation relation) {
    value->number = sf_number_parse(value->text);
    if (value->number.kind == SF_NUMBER_NONE) {
        struct sf_quoted quoted;
        sf_parse_refuse(parse, SF_E_NUMBER, value->start, value->bytes,
                        "\"%s\" is not a number; %s compares numbers only%s",
                        sf_quote(&quoted, value->text), sf_relation_name(relation),
                        hint(value->text));
        return false;
    }
    value->type = SF_NODE_NUMBER;
    value->is_constant = true;
    value->text = sf_text_trim(value->text); /* escaped blanks around a number mean nothing */
    return true;
}

static struct sf_node *parse_clause(struct sf_parse *parse, size_t start, size_t bytes) {
    struct sf_text body = sf_parse_body(parse);
    struct sf_text trimmed = sf_text_trim((struct sf_text){body.at + start, bytes});
    struct clause clause = {.start = (size_t)(trimmed.at - body.at), .bytes = trimmed.bytes};
    if (trimmed.bytes == 0) {
        return sf_parse_refuse(parse, SF_E_EMPTY, start, sf_parse_empty_bytes(parse, start, bytes),
                               bytes == body.bytes ? "the expression is empty"
                                                   : "a clause is missing beside the &");
    }
    if (!sf_parse_count(parse, clause.start, clause.bytes, "clauses") ||
        !find_relation(parse, body, &clause)) {
        return NULL;
    }
    size_t behind = clause.operator_start + clause.operator_bytes;
    struct sf_node *key = read_part(parse, SF_NODE_NAME, start, clause.operator_start - start);
    struct sf_node *value =
        key == NULL ? NULL : read_part(parse, SF_NODE_STRING, behind, start + bytes - behind);
    if (value == NULL ||
        (clause.relation != SF_EQUAL && !read_number(parse, value, clause.relation))) {
        return NULL;
    }
    struct sf_node *node = sf_parse_node(parse, SF_NODE_COMPARE, start, bytes);
    if (node != NULL) {
        node->relation = clause.relation;
        node->any = true;
        node->first = key;
        key->next = value;
    }
    return node;
}

struct sf_node *sf_parse_kv(struct sf_parse *parse) {
    struct sf_text body = sf_parse_body(parse);
    struct sf_node *root = sf_parse_node(parse, SF_NODE_AND, 0, body.bytes);
    struct sf_node **link = root == NULL ? NULL : &root->first;
    for (size_t start = 0; root != NULL && start <= body.bytes;) {
        const char *end =
            body.bytes == start ? NULL : memchr(body.at + start, '&', body.bytes - start);
        size_t bytes = end == NULL ? body.bytes - start : (size_t)(end - body.at) - start;
        *link = parse_clause(parse, start, bytes);
        if (*link == NULL) {
            return NULL;
        }
        link = &(*link)->next;
        start += bytes + 1;
    }
    return root;
}
