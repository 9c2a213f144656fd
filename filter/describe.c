/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A filter for people: its tree and its program. The tree is parsed again from the canonical text. */
#include <stddef.h>

#include "filter.h"
#include "output.h"

/* ---- the tree -------------------------------------------------------------------------------------------------- */

static void write_label(struct sf_output *out, const struct sf_node *node) {
    const char *negation = node->negated ? "NOT " : "";
    switch (node->type) {
    case SF_NODE_NAME:
        sf_output_print(out, "name ");
        sf_output_text(out, node->text);
        break;
    case SF_NODE_ATTRIBUTE:
        sf_output_print(out, "attribute %s", sf_attribute_name(node->attribute));
        break;
    case SF_NODE_STRING:
        sf_output_print(out, "text '");
        sf_output_text(out, node->text);
        sf_output_print(out, "'");
        break;
    case SF_NODE_NUMBER:
        sf_output_print(out, "number ");
        sf_output_text(out, node->text);
        break;
    case SF_NODE_TRUTH:
        sf_output_print(out, "%s", node->any ? "*" : node->is_true ? "TRUE" : "FALSE");
        break;
    case SF_NODE_NULL:
        sf_output_print(out, "NULL");
        break;
    case SF_NODE_COMPARE:
        sf_output_print(out, "%s%s", sf_relation_name(node->relation),
                        node->any ? " (any value)" : "");
        break;
    case SF_NODE_IS_NULL:
        sf_output_print(out, "IS %sNULL", negation);
        break;
    case SF_NODE_SIGN:
        sf_output_print(out, "sign %c", node->sign);
        break;
    case SF_NODE_ARITHMETIC:
        sf_output_print(out, "%c", node->sign);
        break;
    default:
        sf_output_print(out, "%s%s%s", negation, sf_node_keyword(node->type),
                        node->any ? " (any value)" : "");
        break;
    }
    if (node->type == SF_NODE_LIKE || node->type == SF_NODE_CONTAINS ||
        node->type == SF_NODE_STARTSWITH || node->type == SF_NODE_ENDSWITH) {
        sf_output_print(out, " '");
        sf_output_text(out, node->text);
        sf_output_print(out, node->escape.at == NULL ? "'" : "' ESCAPE '");
        sf_output_text(out, node->escape);
        sf_output_print(out, node->escape.at == NULL ? "" : "'");
    }
}

static void write_tree(struct sf_output *out, const struct sf_node *node, int depth) {
    sf_output_print(out, "%*s", 2 * (depth < 60 ? depth : 60), "");
    write_label(out, node);
    sf_output_end_line(out);
    for (const struct sf_node *child = node->first; child != NULL; child = child->next) {
        write_tree(out, child, depth + 1);
    }
}

enum sf_status sf_filter_write_tree(const struct sf_filter *filter, sf_write_fn *write,
                                    void *user) {
    _Alignas(max_align_t) char first[4096];
    struct sf_arena arena;
    sf_arena_init(&arena, first, sizeof first, SIZE_MAX); /* a known text is not too long */
    const struct sf_node *root = sf_filter_parse(filter, &arena);
    if (root != NULL) {
        struct sf_output out = {.write = write, .user = user};
        write_tree(&out, root, 0);
    }
    sf_arena_deinit(&arena);
    return root == NULL ? SF_E_NOMEM : SF_OK;
}

/* ---- the program ----------------------------------------------------------------------------------------------- */

static struct sf_text slot_name(const void *user, uint32_t slot) {
    return sf_slot_name(user, slot);
}

void sf_filter_write_program(const struct sf_filter *filter, sf_write_fn *write, void *user) {
    sf_program_write(sf_filter_program(filter), slot_name, filter->schema, write, user);
}
