/* SPDX-License-Identifier: BSD-3-Clause
 *
 * topic_tree against a list of filters that is matched level by level and then sorted. */
#include "runner.h"
#include "topic_reference.h"
#include "topic_tree.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_FILTERS = 64, MAX_TEXT = TOPIC_REFERENCE_BYTES };

/* For qsort. */
static int order(const void *a, const void *b) {
    return topic_reference_order(*(const char *const *)a, *(const char *const *)b);
}

/* ---- random filters and topics ---- */

static const char *const words[] = {"", "a", "b", "ab", "$SYS", "$x", "0123456789abcdef0123456789"};

static void random_text(uint64_t *state, bool is_filter, char *out) {
    size_t n = test_random(state) % 5 + 1;
    out[0] = '\0';
    for (size_t i = 0; i < n; i++) {
        uint64_t pick = test_random(state) % (is_filter ? 12 : 8);
        strcat(out, i == 0 ? "" : "/");
        if (pick == 11 && i == n - 1) {
            strcat(out, "#");
        } else if (pick > 7) {
            strcat(out, "+");
        } else {
            /* mostly the same few, so that there are matches */
            strcat(out, words[pick < 5 ? pick % 3 : test_random(state) % N_ROWS(words)]);
        }
    }
    if (out[0] == '\0') {
        strcpy(out, "a"); /* no topic and no filter is empty */
    }
}

/* ---- what a match gave ---- */

struct found {
    char *text[MAX_FILTERS];
    size_t count;
};

static void note(void *user, struct topic_node *node) {
    struct found *found = user;
    char *text = malloc(topic_node_bytes(node) + 1);
    REQUIRE(text != NULL && found->count < MAX_FILTERS, "%zu", found->count);
    topic_node_write(node, text);
    found->text[found->count++] = text;
}

static void forget(struct found *found) {
    for (size_t i = 0; i < found->count; i++) {
        free(found->text[i]);
    }
    found->count = 0;
}

static void deinit_tree(void *tree) {
    topic_tree_deinit(tree);
}

/* ---- tests ---- */

struct model {
    struct topic_tree tree;
    struct {
        char text[MAX_TEXT];
        struct topic_node *node;
        unsigned users;
    } filters[MAX_FILTERS];
    size_t count;
};

static void add(struct model *model, const char *text) {
    struct topic_node *node = topic_tree_add(&model->tree, text);
    REQUIRE(node != NULL, "'%s'", text);
    for (size_t i = 0; i < model->count; i++) {
        if (strcmp(model->filters[i].text, text) == 0) {
            CHECK(model->filters[i].node == node, "'%s': a second node", text);
            model->filters[i].users++;
            return;
        }
    }
    REQUIRE(model->count < MAX_FILTERS, "'%s'", text);
    strcpy(model->filters[model->count].text, text);
    model->filters[model->count].node = node;
    model->filters[model->count].users = 1;
    model->count++;
}

static void release(struct model *model, size_t i) {
    topic_tree_release(&model->tree, model->filters[i].node);
    if (--model->filters[i].users == 0) {
        CHECK(topic_tree_find(&model->tree, model->filters[i].text) == NULL, "'%s': still there",
              model->filters[i].text);
        model->filters[i] = model->filters[--model->count];
    }
}

static void check_match(const struct model *model, const char *topic) {
    const char *expected[MAX_FILTERS];
    size_t n_expected = 0;
    for (size_t i = 0; i < model->count; i++) {
        bool matches = topic_reference_matches(model->filters[i].text, topic);
        CHECK(topic_matches(model->filters[i].text, topic) == matches, "'%s' on '%s'",
              model->filters[i].text, topic);
        CHECK(topic[0] == '$' || topic_node_matches(model->filters[i].node, topic) == matches,
              "the node of '%s' on '%s'", model->filters[i].text, topic);
        if (matches) {
            expected[n_expected++] = model->filters[i].text;
        }
    }
    qsort(expected, n_expected, sizeof expected[0], order);

    struct found found = {.count = 0};
    topic_tree_match(&model->tree, topic, note, &found);
    CHECK(found.count == n_expected, "'%s': %zu matches, expected %zu", topic, found.count,
          n_expected);
    for (size_t i = 0; i < n_expected && i < found.count; i++) {
        CHECK(strcmp(found.text[i], expected[i]) == 0, "'%s': match %zu is '%s', expected '%s'",
              topic, i, found.text[i], expected[i]);
    }
    forget(&found);
}

static void test_topic_tree_matches_in_the_brokers_order(void) {
    static struct model model;
    uint64_t state = test_seed();
    size_t n_rounds = test_long() ? 2000 : 100;
    for (size_t round = 0; round < n_rounds; round++) {
        memset(&model, 0, sizeof model);
        char text[MAX_TEXT];
        for (size_t step = 0; step < 200; step++) {
            if (model.count < MAX_FILTERS - 1 && test_random(&state) % 3 != 0) {
                random_text(&state, true, text);
                add(&model, text);
            } else if (model.count > 0) {
                release(&model, test_random(&state) % model.count);
            }
            for (size_t i = 0; i < model.count; i++) {
                REQUIRE(topic_tree_find(&model.tree, model.filters[i].text) ==
                            model.filters[i].node,
                        "'%s' is lost", model.filters[i].text);
            }
            random_text(&state, false, text);
            check_match(&model, text);
            REQUIRE(!test_has_failed(), "round %zu, step %zu", round, step);
        }
        while (model.count > 0) {
            release(&model, test_random(&state) % model.count);
        }
        REQUIRE(model.tree.root == NULL, "round %zu: nodes without users", round);
    }
}

static void test_topic_tree_orders_by_hand(void) {
    static struct model model;
    memset(&model, 0, sizeof model);
    test_defer(deinit_tree, &model.tree);
    static const char *const filters[] = {"#",   "+",     "a",   "a/#", "+/#", "a/b",   "a/+",
                                          "+/b", "a/b/#", "+/+", "/",   "/#",  "+/b/#", "$SYS/#"};
    for (size_t i = 0; i < N_ROWS(filters); i++) {
        add(&model, filters[i]);
    }
    static const struct {
        const char *topic;
        const char *expected; /* joined by blanks */
    } rows[] = {
        {"a", "a/# a +/# + #"},
        {"a/b", "a/b/# a/b a/+ a/# +/b/# +/b +/+ +/# #"},
        {"a/c", "a/+ a/# +/+ +/# #"},
        {"c/b", "+/b/# +/b +/+ +/# #"},
        {"/", "/ /# +/+ +/# #"},
        {"", "/# +/# + #"},
        {"a/", "a/+ a/# +/+ +/# #"},
        {"a/b/c", "a/b/# a/# +/b/# +/# #"},
        {"$SYS/x", "$SYS/#"},
        {"$SYS", "$SYS/#"},
        {"$other", ""},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        struct found found = {.count = 0};
        char joined[MAX_TEXT] = "";
        topic_tree_match(&model.tree, rows[i].topic, note, &found);
        for (size_t k = 0; k < found.count; k++) {
            strcat(strcat(joined, k == 0 ? "" : " "), found.text[k]);
        }
        forget(&found);
        CHECK(strcmp(joined, rows[i].expected) == 0, "'%s': %s, expected %s", rows[i].topic, joined,
              rows[i].expected);
    }
}

static void test_topic_tree_ignores_nodes_without_users(void) {
    static struct topic_tree tree; /* test_defer outlives the stack of a case */
    test_defer(deinit_tree, &tree);
    struct topic_node *deep = topic_tree_add(&tree, "a/b/c");
    REQUIRE(deep != NULL, "a/b/c");
    CHECK(topic_tree_find(&tree, "a/b") == NULL, "a level on the way is no filter");
    CHECK(topic_tree_find(&tree, "a/b/c/d") == NULL, "below the last level");
    CHECK(topic_tree_find(&tree, "") == NULL, "the root is no filter");
    struct found found = {.count = 0};
    topic_tree_match(&tree, "a/b", note, &found);
    CHECK(found.count == 0, "%zu matches", found.count);

    struct topic_node *middle = topic_tree_add(&tree, "a/b");
    REQUIRE(middle != NULL && topic_tree_add(&tree, "a/b") == middle, "twice the same");
    topic_tree_release(&tree, middle);
    CHECK(topic_tree_find(&tree, "a/b") == middle, "one user is left");
    topic_tree_release(&tree, middle);
    CHECK(topic_tree_find(&tree, "a/b") == NULL, "no user is left");
    CHECK(topic_tree_find(&tree, "a/b/c") == deep, "its child is");
    topic_tree_release(&tree, deep);
    CHECK(tree.root == NULL, "empty");
}

/* As deep as the broker lets a filter be: 200 '/' make 201 levels. Each level once literal and once '+'. */
static void test_topic_tree_goes_200_levels_deep(void) {
    static struct model model;
    memset(&model, 0, sizeof model);
    test_defer(deinit_tree, &model.tree);
    char topic[MAX_TEXT] = "a", text[MAX_TEXT];
    for (size_t i = 0; i < 200; i++) {
        strcat(topic, "/a");
    }
    add(&model, topic);
    for (size_t i = 0; i < 40; i++) {
        strcpy(text, topic);
        text[i * 10] = '+';
        add(&model, text);
    }
    strcpy(text, topic);
    for (size_t i = 0; text[i] != '\0'; i++) {
        text[i] = text[i] == 'a' ? '+' : '/';
    }
    add(&model, text);
    strcpy(strrchr(text, '+'), "#");
    add(&model, text);
    strcpy(text, topic);
    strcat(text, "/#");
    add(&model, text);
    check_match(&model, topic);
    strcat(topic, "/a");
    check_match(&model, topic);
    *strrchr(topic, '/') = '\0';
    *strrchr(topic, '/') = '\0';
    check_match(&model, topic);
}

static void test_topic_tree_takes_the_longest_level(void) {
    static struct topic_tree tree; /* test_defer outlives the stack of a case */
    test_defer(deinit_tree, &tree);
    static char longest[65536];
    memset(longest, 'x', sizeof longest - 1);
    struct topic_node *node = topic_tree_add(&tree, longest);
    REQUIRE(node != NULL, "65,535 bytes");
    CHECK(topic_node_bytes(node) == sizeof longest - 1, "%zu", topic_node_bytes(node));
    static char written[65536];
    topic_node_write(node, written);
    CHECK(strcmp(written, longest) == 0, "written back");
    CHECK(topic_tree_find(&tree, longest) == node, "found");
}

static void test_topic_matches_as_the_reference(void) {
    uint64_t state = test_seed();
    size_t n_steps = test_long() ? 3000000 : 200000;
    size_t n_matches = 0;
    for (size_t step = 0; step < n_steps; step++) {
        char filter[MAX_TEXT], topic[MAX_TEXT];
        random_text(&state, true, filter);
        random_text(&state, false, topic);
        bool expected = topic_reference_matches(filter, topic);
        n_matches += expected;
        REQUIRE(topic_matches(filter, topic) == expected, "'%s' on '%s', expected %d", filter,
                topic, expected);
    }
    CHECK(n_matches > n_steps / 100, "%zu matches in %zu pairs test little", n_matches, n_steps);
}

/* deinit with users: the sanitizer's leak check is the assertion about memory. */
static void test_topic_tree_deinit_frees_nodes_in_use(void) {
    struct topic_tree tree = {0};
    static const char *const filters[] = {"a/b/c", "a/+/c", "#",   "a/#",
                                          "+/+",   "/",     "//#", "$SYS/#"};
    for (size_t i = 0; i < N_ROWS(filters); i++) {
        REQUIRE(topic_tree_add(&tree, filters[i]) != NULL, "%s", filters[i]);
    }
    topic_tree_deinit(&tree);
    CHECK(tree.root == NULL, "empty");
    topic_tree_deinit(&tree);
    REQUIRE(topic_tree_add(&tree, "a") != NULL, "usable again");
    topic_tree_deinit(&tree);
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        TEST(test_topic_tree_orders_by_hand),
        TEST(test_topic_tree_matches_in_the_brokers_order),
        TEST(test_topic_tree_ignores_nodes_without_users),
        TEST(test_topic_tree_goes_200_levels_deep),
        TEST(test_topic_tree_takes_the_longest_level),
        TEST(test_topic_matches_as_the_reference),
        TEST(test_topic_tree_deinit_frees_nodes_in_use),
    };
    return run_tests(argc, argv, cases, N_ROWS(cases));
}
