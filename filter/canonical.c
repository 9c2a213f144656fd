/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From tree to text. sql is written with keywords in capitals, one blank around operators and no parentheses but those
 * that the tree needs. In each dialect what a subscription string cannot hold as it is (LANGUAGE, subscription strings)
 * is escaped. */
#include "canonical.h"

#include "escape.h"
#include "lexer.h"

/* ---- kv and tag ------------------------------------------------------------------------------------------------ */

static void add_escaped(struct sf_buffer *buffer, char c) {
    static const char digits[] = "0123456789ABCDEF";
    unsigned char byte = (unsigned char)c;
    const char escape[] = {'%', digits[byte >> 4], digits[byte & 15]};
    sf_buffer_add(buffer, escape, sizeof escape);
}

/* What is escaped wherever it stands: in canonical text, where controls and a ! at an end are as well, and for a
 * reader. */
static const char canonical_syntax[] = "%&=<>|#+?";
static const char kv_syntax[] = "&=<>";
static const char tag_syntax[] = "|";

/* A key, value or tag. All that could be taken for syntax in it is escaped. */
static void write_part(struct sf_buffer *buffer, struct sf_text text, const char *syntax) {
    bool is_canonical = syntax == canonical_syntax;
    for (size_t i = 0; i < text.bytes; i++) {
        char c = text.at[i];
        bool at_edge = i == 0 || i + 1 == text.bytes;
        bool is_control = (unsigned char)c < 0x20 || c == 0x7F;
        bool is_syntax = strchr(syntax, c) != NULL || (c == '%' && sf_escape_is_any(text, i)) ||
                         (at_edge && c == ' ') ||
                         (c == '*' && text.bytes == 1 && syntax != kv_syntax);
        if (is_syntax || (is_canonical && (is_control || (at_edge && c == '!')))) {
            add_escaped(buffer, c);
        } else {
            sf_buffer_add_char(buffer, c);
        }
    }
}

static void write_clause(struct sf_buffer *buffer, const struct sf_node *node, const char *syntax) {
    write_part(buffer, node->first->text, syntax);
    sf_buffer_add_string(buffer, sf_relation_name(node->relation));
    write_part(buffer, node->first->next->text, syntax);
}

static void write_kv(struct sf_buffer *buffer, const struct sf_node *root) {
    for (const struct sf_node *clause = root->first; clause != NULL; clause = clause->next) {
        write_clause(buffer, clause, canonical_syntax);
        sf_buffer_add(buffer, "&", clause->next == NULL ? 0 : 1);
    }
}

static void write_tag(struct sf_buffer *buffer, const struct sf_node *node, const char *syntax) {
    for (const struct sf_node *tag = node->first->next; tag != NULL; tag = tag->next) {
        if (tag->type == SF_NODE_TRUTH) {
            sf_buffer_add_char(buffer, '*');
        } else {
            write_part(buffer, tag->text, syntax);
        }
        sf_buffer_add(buffer, "||", tag->next == NULL ? 0 : 2);
    }
}

/* ---- sql ------------------------------------------------------------------------------------------------------- */

/* How tightly a node binds, as in the grammar: or, and, not, equality, relation, sum, product, factor. */
enum level { OR = 1, AND, NOT, EQUALITY, RELATION, SUM, PRODUCT, FACTOR };

static enum level level_of(const struct sf_node *node) {
    switch (node->type) {
    case SF_NODE_OR:
        return OR;
    case SF_NODE_AND:
        return AND;
    case SF_NODE_NOT:
        return NOT;
    case SF_NODE_IS_NULL:
        return EQUALITY;
    case SF_NODE_COMPARE:
        return node->relation == SF_EQUAL || node->relation == (SF_LESS | SF_GREATER) ? EQUALITY
                                                                                      : RELATION;
    case SF_NODE_BETWEEN:
    case SF_NODE_IN:
    case SF_NODE_LIKE:
    case SF_NODE_CONTAINS:
    case SF_NODE_STARTSWITH:
    case SF_NODE_ENDSWITH:
        return RELATION;
    case SF_NODE_ARITHMETIC:
        return node->sign == '+' || node->sign == '-' ? SUM : PRODUCT;
    default:
        return FACTOR;
    }
}

static void write_sql(struct sf_buffer *buffer, const struct sf_node *node);

/* A child, in parentheses unless it binds at least as tightly as `least`. */
static void write_operand(struct sf_buffer *buffer, const struct sf_node *node, enum level least) {
    bool needs_parentheses = level_of(node) < least;
    sf_buffer_add(buffer, "(", needs_parentheses ? 1 : 0);
    write_sql(buffer, node);
    sf_buffer_add(buffer, ")", needs_parentheses ? 1 : 0);
}

static void write_word(struct sf_buffer *buffer, const char *word) {
    sf_buffer_add_char(buffer, ' ');
    sf_buffer_add_string(buffer, word);
    sf_buffer_add_char(buffer, ' ');
}

static void write_quoted(struct sf_buffer *buffer, struct sf_text text, char quote) {
    sf_buffer_add_char(buffer, quote);
    while (text.bytes > 0) {
        const char *found = memchr(text.at, quote, text.bytes);
        size_t n = found == NULL ? text.bytes : (size_t)(found - text.at) + 1;
        sf_buffer_add(buffer, text.at, n);
        sf_buffer_add(buffer, &quote, found == NULL ? 0 : 1);
        text.at += n;
        text.bytes -= n;
    }
    sf_buffer_add_char(buffer, quote);
}

static void write_name(struct sf_buffer *buffer, struct sf_text name) {
    if (sf_lexer_is_plain_name(name)) {
        sf_buffer_add(buffer, name.at, name.bytes);
    } else {
        write_quoted(buffer, name, '"');
    }
}

static void write_junction(struct sf_buffer *buffer, const struct sf_node *node) {
    for (const struct sf_node *child = node->first; child != NULL; child = child->next) {
        write_operand(buffer, child, level_of(node) + 1);
        if (child->next != NULL) {
            write_word(buffer, sf_node_keyword(node->type));
        }
    }
}

static void write_comparison(struct sf_buffer *buffer, const struct sf_node *node) {
    const struct sf_node *right = node->first->next;
    enum level level = level_of(node);
    /* (a = b) = c keeps its parentheses: without them c may not be a name. */
    bool is_chain = level == EQUALITY && sf_node_kind(right) != SF_KIND_NAME;
    write_operand(buffer, node->first, is_chain ? EQUALITY : level + 1);
    write_word(buffer, sf_relation_name(node->relation));
    write_operand(buffer, right, level + 1);
}

static void write_in(struct sf_buffer *buffer, const struct sf_node *node) {
    sf_buffer_add_string(buffer, node->negated ? " NOT IN (" : " IN (");
    for (const struct sf_node *child = node->first->next; child != NULL; child = child->next) {
        write_sql(buffer, child);
        sf_buffer_add_string(buffer, child->next == NULL ? ")" : ", ");
    }
}

/* What stands behind the left side of a relation that is written with a word. */
static void write_relation(struct sf_buffer *buffer, const struct sf_node *node) {
    write_operand(buffer, node->first, SUM);
    if (node->type == SF_NODE_IN) {
        write_in(buffer, node);
        return;
    }
    sf_buffer_add_string(buffer, node->negated ? " NOT" : "");
    write_word(buffer, sf_node_keyword(node->type));
    if (node->type == SF_NODE_BETWEEN) {
        write_operand(buffer, node->first->next, SUM);
        write_word(buffer, "AND");
        write_operand(buffer, node->first->next->next, SUM);
        return;
    }
    write_quoted(buffer, node->text, '\'');
    if (node->escape.at != NULL) {
        write_word(buffer, "ESCAPE");
        write_quoted(buffer, node->escape, '\'');
    }
}

static void write_sign(struct sf_buffer *buffer, const struct sf_node *node) {
    const struct sf_node *operand = node->first;
    sf_buffer_add_char(buffer, node->sign);
    bool is_signed = operand->type == SF_NODE_SIGN ||
                     (operand->type == SF_NODE_NUMBER && operand->text.at[0] == '-');
    sf_buffer_add(buffer, " ", is_signed ? 1 : 0); /* -- would be a comment */
    write_operand(buffer, operand, FACTOR);
}

static void write_arithmetic(struct sf_buffer *buffer, const struct sf_node *node) {
    const char sign[] = {node->sign, '\0'};
    write_operand(buffer, node->first, level_of(node));
    write_word(buffer, sign);
    write_operand(buffer, node->first->next, level_of(node) + 1);
}

static void write_sql(struct sf_buffer *buffer, const struct sf_node *node) {
    switch (node->type) {
    case SF_NODE_NAME:
        write_name(buffer, node->text);
        break;
    case SF_NODE_ATTRIBUTE:
        sf_buffer_add_string(buffer, sf_attribute_name(node->attribute));
        break;
    case SF_NODE_STRING:
        write_quoted(buffer, node->text, '\'');
        break;
    case SF_NODE_NUMBER:
        sf_buffer_add(buffer, node->text.at, node->text.bytes);
        break;
    case SF_NODE_TRUTH:
        sf_buffer_add_string(buffer, node->is_true ? "TRUE" : "FALSE");
        break;
    case SF_NODE_NULL:
        sf_buffer_add_string(buffer, "NULL");
        break;
    case SF_NODE_OR:
    case SF_NODE_AND:
        write_junction(buffer, node);
        break;
    case SF_NODE_NOT:
        sf_buffer_add_string(buffer, "NOT ");
        write_operand(buffer, node->first, NOT);
        break;
    case SF_NODE_COMPARE:
        write_comparison(buffer, node);
        break;
    case SF_NODE_IS_NULL:
        write_operand(buffer, node->first, EQUALITY);
        sf_buffer_add_string(buffer, node->negated ? " IS NOT NULL" : " IS NULL");
        break;
    case SF_NODE_SIGN:
        write_sign(buffer, node);
        break;
    case SF_NODE_ARITHMETIC:
        write_arithmetic(buffer, node);
        break;
    default:
        write_relation(buffer, node);
        break;
    }
}

/* # and + never stand in a subscription string; a % only where it starts no escape by chance. */
static void add_sql_escaped(struct sf_buffer *buffer, struct sf_text text) {
    size_t start = 0; /* of what is not written yet */
    for (size_t i = 0; i < text.bytes; i++) {
        char c = text.at[i];
        if (c == '#' || c == '+' || (c == '%' && sf_escape_is_wildcard(text, i))) {
            sf_buffer_add(buffer, text.at + start, i - start);
            add_escaped(buffer, c);
            start = i + 1;
        }
    }
    sf_buffer_add(buffer, text.at + start, text.bytes - start);
}

/* ---- all dialects ---------------------------------------------------------------------------------------------- */

void sf_canonical_write(struct sf_buffer *buffer, enum sf_dialect dialect,
                        const struct sf_node *root) {
    sf_buffer_add_string(buffer, sf_dialect_name(dialect));
    sf_buffer_add_char(buffer, ':');
    if (dialect == SF_DIALECT_KV) {
        write_kv(buffer, root);
    } else if (dialect == SF_DIALECT_TAG) {
        write_tag(buffer, root, canonical_syntax);
    } else {
        struct sf_buffer plain = {.arena = buffer->arena};
        write_sql(&plain, root);
        add_sql_escaped(buffer, sf_buffer_text(&plain));
        buffer->failed = buffer->failed || plain.failed;
    }
}

void sf_canonical_write_plain(struct sf_buffer *buffer, enum sf_dialect dialect,
                              const struct sf_node *node) {
    if (dialect == SF_DIALECT_SQL) {
        write_sql(buffer, node);
    } else if (node->type == SF_NODE_NAME) {
        sf_buffer_add(buffer, node->text.at, node->text.bytes);
    } else if (dialect == SF_DIALECT_KV) {
        write_clause(buffer, node, kv_syntax);
    } else {
        write_tag(buffer, node, tag_syntax);
    }
}
