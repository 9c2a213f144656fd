/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What operands may be combined (LANGUAGE, operands), and what a number comes to that no message changes. */
#include "error.h"
#include "parse.h"

static const char *kind_name(enum sf_kind kind) {
    static const char *const names[] = {
        [SF_KIND_NAME] = "a name",     [SF_KIND_STRING] = "a string",
        [SF_KIND_NUMBER] = "a number", [SF_KIND_CONDITION] = "a condition",
        [SF_KIND_NULL] = "NULL",
    };
    return names[kind];
}

struct checker {
    struct sf_parse *parse;
    struct sf_text text; /* what positions of nodes count in */
};

/* "'abc' is a string; ..." */
static const char *quote(const struct checker *checker, const struct sf_node *node,
                         struct sf_quoted *quoted) {
    return sf_quote(quoted, (struct sf_text){checker->text.at + node->start, node->bytes});
}

static void refuse(struct checker *checker, const struct sf_node *operand, const char *operator,
                   const char * rule) {
    struct sf_quoted quoted;
    if (sf_node_kind(operand) == SF_KIND_NULL) {
        sf_parse_refuse(
            checker->parse, SF_E_KIND, operand->start, operand->bytes,
            "%s takes no NULL; IS NULL and IS NOT NULL ask whether something is absent", operator);
        return;
    }
    sf_parse_refuse(checker->parse, SF_E_KIND, operand->start, operand->bytes, "%s is %s; %s %s",
                    quote(checker, operand, &quoted), kind_name(sf_node_kind(operand)), operator,
                    rule);
}

/* ---- rules ----------------------------------------------------------------------------------------------------- */

static bool is_numeric(const struct sf_node *node) {
    enum sf_kind kind = sf_node_kind(node);
    return kind == SF_KIND_NAME || kind == SF_KIND_NUMBER;
}

static void check_numeric(struct checker *checker, const struct sf_node *operand,
                          const char *operator, const char * rule) {
    if (!is_numeric(operand)) {
        refuse(checker, operand, operator, rule);
    }
}

static void check_condition(struct checker *checker, const struct sf_node *operand,
                            const char *operator, const char * rule) {
    enum sf_kind kind = sf_node_kind(operand);
    if (kind == SF_KIND_NUMBER || kind == SF_KIND_STRING) {
        refuse(checker, operand, operator, rule);
    }
}

static void check_equality(struct checker *checker, const struct sf_node *node) {
    const struct sf_node *left = node->first;
    const struct sf_node *right = left->next;
    enum sf_kind left_kind = sf_node_kind(left);
    enum sf_kind right_kind = sf_node_kind(right);
    const char *operator= sf_relation_name(node->relation);
    if (left_kind == SF_KIND_NULL && right_kind == SF_KIND_NULL) {
        refuse(checker, left, operator, "");
    } else if (left_kind == SF_KIND_NULL || right_kind == SF_KIND_NULL) {
        const struct sf_node *null = left_kind == SF_KIND_NULL ? left : right;
        struct sf_quoted other;
        sf_parse_refuse(checker->parse, SF_E_KIND, null->start, null->bytes,
                        "%s takes no NULL; write %s %s", operator,
                        quote(checker, null == left ? right : left, &other),
                        node->relation == SF_EQUAL ? "IS NULL" : "IS NOT NULL");
    } else if (left_kind != right_kind && left_kind != SF_KIND_NAME && right_kind != SF_KIND_NAME) {
        struct sf_quoted left_text;
        struct sf_quoted right_text;
        sf_parse_refuse(checker->parse, SF_E_KIND, right->start, right->bytes,
                        "%s is %s and %s is %s; %s cannot compare them",
                        quote(checker, left, &left_text), kind_name(left_kind),
                        quote(checker, right, &right_text), kind_name(right_kind), operator);
    }
}

static void check_comparison(struct checker *checker, const struct sf_node *node) {
    if (node->relation == SF_EQUAL || node->relation == (SF_LESS | SF_GREATER)) {
        check_equality(checker, node);
        return;
    }
    for (const struct sf_node *operand = node->first; operand != NULL; operand = operand->next) {
        check_numeric(checker, operand, sf_relation_name(node->relation), "compares numbers only");
    }
}

static void check_between(struct checker *checker, const struct sf_node *node) {
    for (const struct sf_node *operand = node->first; operand != NULL; operand = operand->next) {
        check_numeric(checker, operand, "BETWEEN", "compares numbers only");
    }
    const struct sf_node *low = node->first->next;
    const struct sf_node *high = low->next;
    if (low->is_constant && high->is_constant && low->number.kind != SF_NUMBER_NONE &&
        high->number.kind != SF_NUMBER_NONE &&
        sf_number_compare(low->number, high->number) == SF_GREATER) {
        struct sf_quoted low_text;
        struct sf_quoted high_text;
        sf_parse_refuse(checker->parse, SF_E_BOUNDS, low->start,
                        high->start + high->bytes - low->start,
                        "no number is between %s and %s; the lower bound comes first",
                        quote(checker, low, &low_text), quote(checker, high, &high_text));
    }
}

static void check_in(struct checker *checker, const struct sf_node *node) {
    const struct sf_node *left = node->first;
    bool is_number_attribute =
        left->type == SF_NODE_ATTRIBUTE && sf_node_kind(left) == SF_KIND_NUMBER;
    if (sf_node_kind(left) != SF_KIND_NAME && !is_number_attribute) {
        refuse(checker, left, "IN", "looks for a name, $qos or $payload_bytes");
        return;
    }
    for (const struct sf_node *literal = left->next; literal != NULL; literal = literal->next) {
        if (is_number_attribute && literal->type == SF_NODE_STRING) {
            struct sf_quoted quoted;
            sf_parse_refuse(checker->parse, SF_E_KIND, literal->start, literal->bytes,
                            "%s is a string; %s is a number, which IN compares with numbers only",
                            quote(checker, literal, &quoted), sf_attribute_name(left->attribute));
            return;
        }
    }
}

static void check_text_operator(struct checker *checker, const struct sf_node *node) {
    enum sf_kind kind = sf_node_kind(node->first);
    if (kind != SF_KIND_NAME && kind != SF_KIND_STRING) {
        refuse(checker, node->first, sf_node_keyword(node->type), "takes a name or a string");
    }
}

/* ---- constants ------------------------------------------------------------------------------------------------- */

static struct sf_number calculate(char sign, struct sf_number left, struct sf_number right) {
    switch (sign) {
    case '+':
        return sf_number_add(left, right);
    case '-':
        return sf_number_subtract(left, right);
    case '*':
        return sf_number_multiply(left, right);
    default:
        return sf_number_divide(left, right);
    }
}

static void check_arithmetic(struct checker *checker, struct sf_node *node) {
    const struct sf_node *left = node->first;
    const char operator[] = {node->sign, '\0'};
    for (const struct sf_node *operand = left; operand != NULL; operand = operand->next) {
        check_numeric(checker, operand, operator, "computes with numbers only");
    }
    if (node->type == SF_NODE_SIGN) {
        node->is_constant = left->is_constant;
        node->number = node->sign == '-' ? sf_number_negate(left->number) : left->number;
    } else {
        node->is_constant = left->is_constant && left->next->is_constant;
        if (node->is_constant) {
            node->number = calculate(node->sign, left->number, left->next->number);
        }
    }
}

/* ---- the walk -------------------------------------------------------------------------------------------------- */

static void check_node(struct checker *checker, struct sf_node *node) {
    switch (node->type) {
    case SF_NODE_NUMBER:
        node->is_constant = true;
        break;
    case SF_NODE_COMPARE:
        check_comparison(checker, node);
        break;
    case SF_NODE_BETWEEN:
        check_between(checker, node);
        break;
    case SF_NODE_IN:
        check_in(checker, node);
        break;
    case SF_NODE_LIKE:
    case SF_NODE_CONTAINS:
    case SF_NODE_STARTSWITH:
    case SF_NODE_ENDSWITH:
        check_text_operator(checker, node);
        break;
    case SF_NODE_SIGN:
    case SF_NODE_ARITHMETIC:
        check_arithmetic(checker, node);
        break;
    case SF_NODE_NAME:
    case SF_NODE_ATTRIBUTE:
    case SF_NODE_STRING:
    case SF_NODE_TRUTH:
    case SF_NODE_NULL:
    case SF_NODE_OR:
    case SF_NODE_AND:
    case SF_NODE_NOT:
    case SF_NODE_IS_NULL:
        break;
    }
}

/* In the order of the text, so that the first thing wrong in it is what is told. */
static void walk(struct checker *checker, struct sf_node *node) {
    bool joins = node->type == SF_NODE_OR || node->type == SF_NODE_AND || node->type == SF_NODE_NOT;
    for (struct sf_node *child = node->first; child != NULL; child = child->next) {
        walk(checker, child);
        if (joins) {
            check_condition(checker, child, sf_node_keyword(node->type), "takes conditions only");
        }
    }
    if (checker->parse->status == SF_OK) {
        check_node(checker, node);
    }
}

enum sf_status sf_check(struct sf_parse *parse, struct sf_node *root) {
    struct checker checker = {.parse = parse, .text = parse->decoded};
    walk(&checker, root);
    if (parse->status == SF_OK) {
        check_condition(&checker, root, "the expression", "must be a condition");
    }
    return parse->status;
}
