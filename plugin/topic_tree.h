/* SPDX-License-Identifier: BSD-3-Clause
 *
 * topic_tree: the topic filters of all known subscriptions as a tree of levels, in the shape of the broker's own tree,
 * so that the filters that match a topic come out in the order in which the broker asks for READ (DESIGN fact F11:
 * literal child before '+' before '#', a deeper match before the level itself). Shared subscriptions live in a tree of
 * their own, as in the broker.
 *
 * A node stays as long as it has children or users: topic_tree_add and topic_tree_release count users.
 */
#ifndef PLUGIN_TOPIC_TREE_H
#define PLUGIN_TOPIC_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <uthash.h>

struct topic_node {
    uint64_t mark; /* the tree's user's: 0 in a new node */
    struct topic_node *parent;
    struct topic_node *literals; /* uthash */
    struct topic_node *plus;
    struct topic_node *hash;
    uint32_t users;
    uint16_t level_bytes;
    bool hashed;
    UT_hash_handle hh;
    char level[]; /* NUL-terminated */
};

struct topic_tree {
    struct topic_node *root; /* children are first levels; NULL in an empty tree */
};

/* Receives each match; `node` stays valid until the tree changes. */
typedef void topic_visit_fn(void *user, struct topic_node *node);

/* The node of `filter` (borrowed, NUL-terminated: a valid topic filter without $share/<group>/), one user more; made if
 * it is not there. NULL: out of memory, the tree is as before. */
struct topic_node *topic_tree_add(struct topic_tree *tree, const char *filter) __attribute__((warn_unused_result));

/* The node of `filter`, or NULL when it has no user. */
struct topic_node *topic_tree_find(const struct topic_tree *tree, const char *filter);

/* One user less; a node without users and children is freed, and so on up. */
void topic_tree_release(struct topic_tree *tree, struct topic_node *node);

/* Call `visit` for each node with users that matches `topic` (NUL-terminated, as published), in the broker's order.
 * Allocates nothing. */
void topic_tree_match(const struct topic_tree *tree, const char *topic, topic_visit_fn *visit, void *user);

/* Bytes of the topic filter of `node`, without the NUL. */
size_t topic_node_bytes(const struct topic_node *node);

/* Write the topic filter of `node` and a NUL to `out`, which has room for topic_node_bytes + 1. */
void topic_node_write(const struct topic_node *node, char *out);

/* Whether the topic filter of `node` matches `topic` (NUL-terminated), which does not start with '$'. */
bool topic_node_matches(const struct topic_node *node, const char *topic);

/* Whether one topic filter matches one topic (both NUL-terminated) as the broker's tree does. */
bool topic_matches(const char *filter, const char *topic);

/* Free everything, with or without users. The tree is empty and usable afterwards. */
void topic_tree_deinit(struct topic_tree *tree);

#endif
