/* SPDX-License-Identifier: BSD-3-Clause
 *
 * topic_tree: see the header. The literal children of a node are a uthash table; '+' and '#', which every match looks
 * for at every level, are plain pointers. Recursion is as deep as the tree: the broker lets no filter with more than
 * 200 levels in (DESIGN fact F2).
 */
/* a failed allocation inside uthash leaves the element out; the macro tells us */
#define HASH_NONFATAL_OOM            1
#define uthash_nonfatal_oom(element) (element)->hashed = false

#include "topic_tree.h"

#include <stdlib.h>
#include <string.h>

static bool is(const char *level, size_t bytes, char wildcard) {
    return bytes == 1 && level[0] == wildcard;
}

static struct topic_node *find_child(const struct topic_node *node, const char *level, size_t bytes) {
    if (is(level, bytes, '+')) {
        return node->plus;
    }
    if (is(level, bytes, '#')) {
        return node->hash;
    }
    struct topic_node *child = NULL;
    HASH_FIND(hh, node->literals, level, bytes, child);
    return child;
}

static struct topic_node *new_node(struct topic_node *parent, const char *level, size_t bytes) {
    struct topic_node *node = calloc(1, sizeof *node + bytes + 1);
    if (node != NULL) {
        node->parent = parent;
        node->level_bytes = (uint16_t)bytes; /* a topic filter has at most 65,535 bytes */
        memcpy(node->level, level, bytes);
    }
    return node;
}

static struct topic_node *add_child(struct topic_node *node, const char *level, size_t bytes) {
    struct topic_node *child = new_node(node, level, bytes);
    if (child == NULL) {
        return NULL;
    }
    if (is(level, bytes, '+')) {
        node->plus = child;
    } else if (is(level, bytes, '#')) {
        node->hash = child;
    } else {
        child->hashed = true;
        HASH_ADD_KEYPTR(hh, node->literals, child->level, bytes, child);
        if (!child->hashed) {
            free(child);
            return NULL;
        }
    }
    return child;
}

/* Free `node` and its parents as far as nothing needs them. */
static void prune(struct topic_tree *tree, struct topic_node *node) {
    while (node != NULL && node->users == 0 && node->literals == NULL && node->plus == NULL && node->hash == NULL) {
        struct topic_node *parent = node->parent;
        if (parent == NULL) {
            tree->root = NULL;
        } else if (parent->plus == node) {
            parent->plus = NULL;
        } else if (parent->hash == node) {
            parent->hash = NULL;
        } else {
            HASH_DELETE(hh, parent->literals, node);
        }
        free(node);
        node = parent;
    }
}

struct topic_node *topic_tree_add(struct topic_tree *tree, const char *filter) {
    if (tree->root == NULL) {
        tree->root = new_node(NULL, "", 0);
        if (tree->root == NULL) {
            return NULL;
        }
    }
    struct topic_node *node = tree->root;
    for (const char *level = filter;;) {
        size_t bytes = strcspn(level, "/");
        struct topic_node *child = find_child(node, level, bytes);
        if (child == NULL) {
            child = add_child(node, level, bytes);
            if (child == NULL) {
                prune(tree, node);
                return NULL;
            }
        }
        node = child;
        if (level[bytes] == '\0') {
            break;
        }
        level += bytes + 1;
    }
    node->users++;
    return node;
}

struct topic_node *topic_tree_find(const struct topic_tree *tree, const char *filter) {
    struct topic_node *node = tree->root;
    for (const char *level = filter; node != NULL;) {
        size_t bytes = strcspn(level, "/");
        node = find_child(node, level, bytes);
        if (level[bytes] == '\0') {
            break;
        }
        level += bytes + 1;
    }
    return node != NULL && node->users > 0 ? node : NULL;
}

void topic_tree_release(struct topic_tree *tree, struct topic_node *node) {
    node->users--;
    prune(tree, node);
}

struct search {
    topic_visit_fn *visit;
    void *user;
};

static void take(const struct search *search, struct topic_node *node) {
    if (node != NULL && node->users > 0) {
        search->visit(search->user, node);
    }
}

/* Walk as the broker does: first what is below the child, then the child itself if the topic ends there. `level` is the
 * next level of the topic, NULL after the last. */
static void match(const struct search *search, const struct topic_node *node, const char *level) {
    if (level != NULL) {
        size_t bytes = strcspn(level, "/");
        const char *next = level[bytes] == '\0' ? NULL : level + bytes + 1;
        struct topic_node *literal = NULL;
        HASH_FIND(hh, node->literals, level, bytes, literal);
        struct topic_node *children[] = {literal, node->plus};
        for (size_t i = 0; i < 2; i++) {
            if (children[i] != NULL) {
                match(search, children[i], next);
                if (next == NULL) {
                    take(search, children[i]);
                }
            }
        }
    }
    take(search, node->hash);
}

void topic_tree_match(const struct topic_tree *tree, const char *topic, topic_visit_fn *visit, void *user) {
    const struct search search = {visit, user};
    if (tree->root == NULL) {
        return;
    }
    if (topic[0] != '$') {
        match(&search, tree->root, topic);
        return;
    }
    /* a first level with $ is matched by no wildcard (MQTT 5 section 4.7.2) */
    size_t bytes = strcspn(topic, "/");
    struct topic_node *first = NULL;
    HASH_FIND(hh, tree->root->literals, topic, bytes, first);
    if (first != NULL) {
        match(&search, first, topic[bytes] == '\0' ? NULL : topic + bytes + 1);
        if (topic[bytes] == '\0') {
            take(&search, first);
        }
    }
}

size_t topic_node_bytes(const struct topic_node *node) {
    size_t bytes = node->level_bytes;
    for (const struct topic_node *up = node->parent; up->parent != NULL; up = up->parent) {
        bytes += (size_t)up->level_bytes + 1;
    }
    return bytes;
}

void topic_node_write(const struct topic_node *node, char *out) {
    char *end = out + topic_node_bytes(node);
    *end = '\0';
    for (;;) {
        end -= node->level_bytes;
        memcpy(end, node->level, node->level_bytes);
        node = node->parent;
        if (node->parent == NULL) {
            return;
        }
        *--end = '/';
    }
}

/* The levels of `topic` that are left when those of `node` and above have matched: *rest_out, NULL after the last one. */
static bool match_up(const struct topic_node *node, const char *topic, const char **rest_out) {
    if (node->parent == NULL) {
        *rest_out = topic;
        return true;
    }
    const char *rest = NULL;
    if (!match_up(node->parent, topic, &rest)) {
        return false;
    }
    if (is(node->level, node->level_bytes, '#')) {
        *rest_out = NULL; /* also for no further level */
        return true;
    }
    if (rest == NULL) {
        return false;
    }
    size_t bytes = strcspn(rest, "/");
    *rest_out = rest[bytes] == '\0' ? NULL : rest + bytes + 1;
    return is(node->level, node->level_bytes, '+') ||
           (bytes == node->level_bytes && memcmp(rest, node->level, bytes) == 0);
}

bool topic_node_matches(const struct topic_node *node, const char *topic) {
    const char *rest = NULL;
    return match_up(node, topic, &rest) && rest == NULL;
}

bool topic_matches(const char *filter, const char *topic) {
    if (topic[0] == '$' && filter[0] != '$') {
        return false;
    }
    for (;;) {
        size_t filter_bytes = strcspn(filter, "/");
        if (is(filter, filter_bytes, '#')) {
            return true;
        }
        size_t topic_bytes = strcspn(topic, "/");
        if (!is(filter, filter_bytes, '+') &&
            (filter_bytes != topic_bytes || memcmp(filter, topic, topic_bytes) != 0)) {
            return false;
        }
        filter += filter_bytes;
        topic += topic_bytes;
        if (*topic == '\0') {
            return *filter == '\0' || strcmp(filter, "/#") == 0;
        }
        if (*filter == '\0') {
            return false;
        }
        filter++;
        topic++;
    }
}

static void free_below(struct topic_node *node) {
    struct topic_node *child, *next;
    HASH_ITER(hh, node->literals, child, next) {
        HASH_DELETE(hh, node->literals, child);
        free_below(child);
    }
    if (node->plus != NULL) {
        free_below(node->plus);
    }
    if (node->hash != NULL) {
        free_below(node->hash);
    }
    free(node);
}

void topic_tree_deinit(struct topic_tree *tree) {
    if (tree->root != NULL) {
        free_below(tree->root);
    }
    *tree = (struct topic_tree){0};
}
