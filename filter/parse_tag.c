/* SPDX-License-Identifier: BSD-3-Clause
 *
 * tag: A||B. Split as it was sent; only then are escapes decoded. */
#include "error.h"
#include "parse.h"

static struct sf_node *parse_tag(struct sf_parse *parse, size_t start, size_t bytes) {
    struct sf_text body = sf_parse_body(parse);
    struct sf_text raw = {body.at + start, bytes};
    struct sf_text tag = sf_text_trim(raw);
    if (tag.bytes == 0) {
        return sf_parse_refuse(parse, SF_E_EMPTY, start, sf_parse_empty_bytes(parse, start, bytes),
                               bytes == body.bytes ? "the expression is empty"
                                                   : "a tag is missing beside the ||");
    }
    start += (size_t)(tag.at - raw.at);
    if (!sf_parse_count(parse, start, tag.bytes, "tags")) {
        return NULL;
    }
    if (tag.bytes == 1 && tag.at[0] == '*') {
        struct sf_node *all = sf_parse_node(parse, SF_NODE_TRUTH, start, 1);
        if (all != NULL) {
            all->is_true = true;
            all->any = true;
        }
        return all;
    }
    struct sf_node *node = sf_parse_node(parse, SF_NODE_STRING, start, tag.bytes);
    if (node == NULL || !sf_parse_decode(parse, tag, start, &node->text)) {
        return NULL;
    }
    return node;
}

/* Where the || at or behind `start` is; the end when there is none. */
static size_t find_separator(struct sf_text body, size_t start) {
    while (start < body.bytes &&
           !(body.at[start] == '|' && start + 1 < body.bytes && body.at[start + 1] == '|')) {
        start++;
    }
    return start;
}

struct sf_node *sf_parse_tag(struct sf_parse *parse) {
    struct sf_text body = sf_parse_body(parse);
    struct sf_node *root = sf_parse_node(parse, SF_NODE_IN, 0, body.bytes);
    struct sf_node *key = root == NULL ? NULL : sf_parse_node(parse, SF_NODE_NAME, 0, 0);
    if (key == NULL) {
        return NULL;
    }
    root->any = true;
    root->first = key;
    key->text = (struct sf_text){parse->tag_key, strlen(parse->tag_key)};
    struct sf_node **link = &key->next;
    for (size_t start = 0; start <= body.bytes;) {
        size_t end = find_separator(body, start);
        *link = parse_tag(parse, start, end - start);
        if (*link == NULL) {
            return NULL;
        }
        link = &(*link)->next;
        start = end == body.bytes ? end + 1 : end + 2;
    }
    return root;
}
