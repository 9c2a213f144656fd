/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The walk over the reference's tree: each question (what text? what number? true?) is a function that asks the
 * same of the children, with every property looked up by name in the message each time. */
#include <stdlib.h>
#include <string.h>

#include "reference_internal.h"

struct context {
    const struct ref_filter *filter;
    const struct ref_message *message;
};

static const struct ref_number unknown_number = {.known = false};

/* ---- three-valued logic ---------------------------------------------------------------------- */

static enum sf_truth truth(bool value) {
    return value ? SF_TRUE : SF_FALSE;
}

static enum sf_truth not(enum sf_truth value) {
    return value == SF_UNKNOWN ? SF_UNKNOWN : truth(value == SF_FALSE);
}

static enum sf_truth and (enum sf_truth a, enum sf_truth b) {
    if (a == SF_FALSE || b == SF_FALSE){return SF_FALSE;}
return a == SF_UNKNOWN || b == SF_UNKNOWN ? SF_UNKNOWN : SF_TRUE;
}

static enum sf_truth or (enum sf_truth a, enum sf_truth b) { return not(and(not(a), not(b))); }

/* ---- text ------------------------------------------------------------------------------------ */

static struct ref_text text_of(const struct context *context, const struct ref_node *node) {
    const struct ref_message *message = context->message;
    struct ref_text found = {NULL, 0};
    switch (node->op) {
    case REF_OP_STRING:
        return node->text;
    case REF_OP_TOPIC:
        return message->topic;
    case REF_OP_CONTENT_TYPE:
        return message->content_type;
    case REF_OP_RESPONSE_TOPIC:
        return message->response_topic;
    default:
        for (size_t i = 0; i < message->n_properties; i++) {
            if (ref_equal(message->properties[i].name, node->text)) {
                found = message->properties[i].value;
            }
        }
        return found;
    }
}

static enum sf_truth boolean_from(struct ref_text text) {
    static const char *const words[] = {"false", "true"};
    for (size_t word = 0; text.text != NULL && word < 2; word++) {
        size_t same = 0;
        while (same < text.bytes && same < strlen(words[word])) {
            char c = text.text[same];
            char lower = c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
            if (lower != words[word][same]) {
                break;
            }
            same++;
        }
        if (same == text.bytes && same == strlen(words[word])) {
            return truth(word == 1);
        }
    }
    return SF_UNKNOWN;
}

/* By a table over all beginnings of the text, one row for each beginning of the pattern. */
static bool like(struct ref_text text, struct ref_text pattern, struct ref_text escape) {
    /* starts[i]: where character i of the text starts */
    size_t *starts = calloc(text.bytes + 1, sizeof *starts);
    bool *row =
        calloc(text.bytes + 1,
               sizeof *row); /* row[i]: the pattern read so far matches the first i characters */
    if (starts == NULL || row == NULL) {
        abort();
    }
    size_t n = 0;
    for (size_t i = 0; i < text.bytes; i = starts[n]) {
        starts[n + 1] = i + ref_character(text.text + i, text.bytes - i);
        n++;
    }
    row[0] = true;
    for (size_t p = 0; p < pattern.bytes;) {
        struct ref_text c = {pattern.text + p, ref_character(pattern.text + p, pattern.bytes - p)};
        p += c.bytes;
        bool itself = false;
        if (escape.text != NULL && ref_equal(c, escape)) {
            c = (struct ref_text){pattern.text + p,
                                  ref_character(pattern.text + p, pattern.bytes - p)};
            p += c.bytes;
            itself = true;
        }
        if (!itself && c.text[0] == '%') {
            for (size_t i = 1; i <= n; i++) {
                row[i] = row[i] || row[i - 1];
            }
            continue;
        }
        bool one = !itself && c.text[0] == '_';
        for (size_t i = n; i > 0; i--) {
            struct ref_text t = {text.text + starts[i - 1], starts[i] - starts[i - 1]};
            row[i] = row[i - 1] && (one || ref_equal(t, c));
        }
        row[0] = false;
    }
    bool matches = row[n];
    free(starts);
    free(row);
    return matches;
}

static bool holds_at(struct ref_text text, struct ref_text part, size_t at) {
    return text.bytes >= part.bytes && at <= text.bytes - part.bytes &&
           ref_equal((struct ref_text){text.text + at, part.bytes}, part);
}

static bool contains(struct ref_text text, struct ref_text part) {
    for (size_t at = 0; at + part.bytes <= text.bytes; at++) {
        if (holds_at(text, part, at)) {
            return true;
        }
    }
    return false;
}

static enum sf_truth text_operator(const struct context *context, const struct ref_node *node) {
    struct ref_text text = text_of(context, node->left);
    if (text.text == NULL) {
        return SF_UNKNOWN;
    }
    switch (node->op) {
    case REF_OP_LIKE:
        return truth(like(text, node->text, node->escape));
    case REF_OP_CONTAINS:
        return truth(contains(text, node->text));
    case REF_OP_STARTSWITH:
        return truth(holds_at(text, node->text, 0));
    default:
        return truth(text.bytes >= node->text.bytes &&
                     holds_at(text, node->text, text.bytes - node->text.bytes));
    }
}

/* ---- numbers --------------------------------------------------------------------------------- */

static bool is_integer_literal(const struct ref_node *node) {
    bool sign = node->op == REF_OP_PLUS || node->op == REF_OP_MINUS;
    const struct ref_node *literal = sign ? node->left : node;
    if (literal->op != REF_OP_LITERAL || !literal->number.is_integer) {
        return false;
    }
    return !sign || literal->number.integer != INT64_MIN; /* that one has a sign already */
}

static struct ref_number negate(struct ref_number number) {
    if (!number.known) {
        return number;
    }
    if (!number.is_integer) {
        return ref_number_real(-number.real);
    }
    return number.integer == INT64_MIN ? ref_number_real(9223372036854775808.0)
                                       : ref_number_integer(-number.integer);
}

static struct ref_number number_of(const struct context *context, const struct ref_node *node) {
    const struct ref_message *message = context->message;
    switch (node->op) {
    case REF_OP_LITERAL:
        return node->number;
    case REF_OP_QOS:
        return message->has_qos ? ref_number_integer(message->qos) : unknown_number;
    case REF_OP_PAYLOAD_BYTES:
        if (!message->has_payload_bytes) {
            return unknown_number;
        }
        return message->payload_bytes <= INT64_MAX
                   ? ref_number_integer((int64_t)message->payload_bytes)
                   : ref_number_real((double)message->payload_bytes);
    case REF_OP_PLUS:
        return number_of(context, node->left);
    case REF_OP_MINUS:
        return negate(number_of(context, node->left));
    case REF_OP_ADD:
    case REF_OP_SUBTRACT:
    case REF_OP_MULTIPLY:
    case REF_OP_DIVIDE:
        return ref_number_arithmetic(node->op, number_of(context, node->left),
                                     number_of(context, node->right));
    default:
        break;
    }
    struct ref_text text = text_of(context, node);
    return text.text == NULL ? unknown_number : ref_number_parse(text.text, text.bytes);
}

/* The number of `node` where it meets `other`: strict_integers is about a name beside an integer literal. */
static struct ref_number number_beside(const struct context *context, const struct ref_node *node,
                                       const struct ref_node *other) {
    struct ref_number number = number_of(context, node);
    if (context->filter->strict_integers && node->kind == REF_NAME && is_integer_literal(other) &&
        !number.is_integer) {
        return unknown_number;
    }
    return number;
}

bool ref_is_constant(const struct ref_node *node) {
    if (node == NULL) {
        return true;
    }
    return node->kind == REF_NUMBER && node->op != REF_OP_QOS && node->op != REF_OP_PAYLOAD_BYTES &&
           ref_is_constant(node->left) && ref_is_constant(node->right);
}

struct ref_number ref_constant(const struct ref_node *node) {
    static const struct ref_filter no_filter;
    static const struct ref_message no_message;
    struct context context = {&no_filter, &no_message};
    return number_of(&context, node);
}

/* ---- conditions ------------------------------------------------------------------------------ */

static enum sf_truth truth_of(const struct context *context, const struct ref_node *node);

static enum sf_truth order(const struct context *context, enum ref_op op,
                           const struct ref_node *left, const struct ref_node *right) {
    struct ref_number a = number_beside(context, left, right);
    struct ref_number b = number_beside(context, right, left);
    if (!a.known || !b.known) {
        return SF_UNKNOWN;
    }
    int compared = ref_number_compare(a, b);
    switch (op) {
    case REF_OP_LT:
        return truth(compared < 0);
    case REF_OP_LE:
        return truth(compared <= 0);
    case REF_OP_GT:
        return truth(compared > 0);
    case REF_OP_GE:
        return truth(compared >= 0);
    default:
        return truth(compared == 0);
    }
}

static bool is_text(const struct ref_node *node) {
    return node->kind == REF_NAME || node->kind == REF_STRING;
}

static enum sf_truth equal(const struct context *context, const struct ref_node *left,
                           const struct ref_node *right) {
    if (is_text(left) && is_text(right)) {
        struct ref_text a = text_of(context, left);
        struct ref_text b = text_of(context, right);
        return a.text == NULL || b.text == NULL ? SF_UNKNOWN : truth(ref_equal(a, b));
    }
    if (left->kind == REF_NUMBER || right->kind == REF_NUMBER) {
        return order(context, REF_OP_EQ, left, right);
    }
    enum sf_truth a = truth_of(context, left);
    enum sf_truth b = truth_of(context, right);
    return a == SF_UNKNOWN || b == SF_UNKNOWN ? SF_UNKNOWN : truth(a == b);
}

static enum sf_truth in(const struct context *context, const struct ref_node *node) {
    enum sf_truth answer = SF_FALSE;
    for (const struct ref_node *literal = node->right; literal != NULL; literal = literal->next) {
        answer = or (answer, equal(context, node->left, literal));
    }
    return answer;
}

static enum sf_truth is_null(const struct context *context, const struct ref_node *node) {
    switch (node->kind) {
    case REF_NAME:
        return truth(text_of(context, node).text == NULL);
    case REF_STRING:
        return SF_FALSE;
    case REF_NUMBER:
        return truth(!number_of(context, node).known);
    case REF_CONDITION:
        return truth(truth_of(context, node) == SF_UNKNOWN);
    case REF_NULL:
        break;
    }
    return SF_TRUE;
}

static enum sf_truth plain_truth_of(const struct context *context, const struct ref_node *node) {
    switch (node->op) {
    case REF_OP_TRUE:
        return SF_TRUE;
    case REF_OP_FALSE:
        return SF_FALSE;
    case REF_OP_NULL:
        return SF_UNKNOWN;
    case REF_OP_RETAIN:
        return context->message->has_retain ? truth(context->message->retain) : SF_UNKNOWN;
    case REF_OP_EQ:
        return equal(context, node->left, node->right);
    case REF_OP_NE:
        return not(equal(context, node->left, node->right));
    case REF_OP_LT:
    case REF_OP_LE:
    case REF_OP_GT:
    case REF_OP_GE:
        return order(context, node->op, node->left, node->right);
    case REF_OP_BETWEEN:
        return and(order(context, REF_OP_GE, node->left, node->right),
                   order(context, REF_OP_LE, node->left, node->third));
    case REF_OP_IN:
        return in(context, node);
    case REF_OP_LIKE:
    case REF_OP_CONTAINS:
    case REF_OP_STARTSWITH:
    case REF_OP_ENDSWITH:
        return text_operator(context, node);
    case REF_OP_IS_NULL:
        return is_null(context, node->left);
    case REF_OP_NOT:
        return not(truth_of(context, node->left));
    case REF_OP_AND:
        return and(truth_of(context, node->left), truth_of(context, node->right));
    case REF_OP_OR:
        return or (truth_of(context, node->left), truth_of(context, node->right));
    default:
        return boolean_from(text_of(context, node)); /* a name where a condition is expected */
    }
}

static enum sf_truth truth_of(const struct context *context, const struct ref_node *node) {
    enum sf_truth answer = plain_truth_of(context, node);
    return node->negated ? not(answer) : answer;
}

/* ---- kv and tag ------------------------------------------------------------------------------ */

static bool clause_holds_for(const struct ref_node *clause, struct ref_text value) {
    if (clause->op == REF_OP_KV_EQ) {
        return ref_equal(value, clause->right->text);
    }
    struct ref_number number = ref_number_parse(value.text, value.bytes);
    if (!number.known) {
        return false;
    }
    int compared = ref_number_compare(number, clause->right->number);
    switch (clause->op) {
    case REF_OP_KV_LT:
        return compared < 0;
    case REF_OP_KV_LE:
        return compared <= 0;
    case REF_OP_KV_GT:
        return compared > 0;
    default:
        return compared >= 0;
    }
}

static bool clause_holds(const struct context *context, const struct ref_node *clause) {
    for (size_t i = 0; i < context->message->n_properties; i++) {
        const struct ref_property *property = &context->message->properties[i];
        if (ref_equal(property->name, clause->text) && clause_holds_for(clause, property->value)) {
            return true;
        }
    }
    return false;
}

static bool tag_holds(const struct context *context, const struct ref_node *tag) {
    for (size_t i = 0; i < context->message->n_properties; i++) {
        const struct ref_property *property = &context->message->properties[i];
        if (ref_equal(property->name, context->filter->tag_key) &&
            ref_equal(property->value, tag->text)) {
            return true;
        }
    }
    return tag->op == REF_OP_TAG_ANY;
}

enum sf_truth ref_eval(const struct ref_filter *filter, const struct ref_message *message) {
    struct context context = {filter, message};
    if (message->n_properties > SF_MAX_PROPERTIES) {
        return SF_FALSE;
    }
    if (filter->dialect == SF_DIALECT_SQL) {
        return truth_of(&context, filter->root);
    }
    bool all = true;
    bool any = false;
    for (const struct ref_node *node = filter->root; node != NULL; node = node->next) {
        bool holds = filter->dialect == SF_DIALECT_KV ? clause_holds(&context, node)
                                                      : tag_holds(&context, node);
        all = all && holds;
        any = any || holds;
    }
    return truth(filter->dialect == SF_DIALECT_KV ? all : any);
}
