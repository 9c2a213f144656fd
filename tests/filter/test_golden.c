/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the engine writes, against files in tests/data/golden: the canonical text, the tree and the program of filters,
 * and explanations. A change to the compiler shows there what it changes; a change to canonical texts is a break of the
 * interface, since hosts derive lasting names from them.
 *
 * A file consists of blocks between blank lines: an expression behind "> ", then what is written about it. In
 * explanations lines "+ name=value" stand between, one for each User Property. Lines with # at the start of a block are
 * comments. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "runner.h"
#include "test_paths.h"

enum { MAX_PROPERTIES = 16, MAX_LINE_BYTES = 1024 };

struct block {
    char expression[MAX_LINE_BYTES];
    unsigned line; /* where the expression is */
    char names[MAX_PROPERTIES][64];
    char values[MAX_PROPERTIES][64];
    size_t n_properties;
    char expected[16384];
};

/* What is written about a filter. */
typedef void describe_fn(struct sf_schema *schema, const struct sf_filter *filter,
                         const struct block *block, struct engine_text *out);

/* ---- files ----------------------------------------------------------------------------------------------------- */

static void add_property(struct block *block, const char *line) {
    const char *equal = strchr(line, '=');
    REQUIRE(equal != NULL && block->n_properties < MAX_PROPERTIES, "line %u: %s", block->line,
            line);
    snprintf(block->names[block->n_properties], sizeof block->names[0], "%.*s", (int)(equal - line),
             line);
    snprintf(block->values[block->n_properties], sizeof block->values[0], "%s", equal + 1);
    block->n_properties++;
}

/* The next block; false: there is none. */
static bool read_block(FILE *file, unsigned *line_number, struct block *block) {
    char line[MAX_LINE_BYTES];
    size_t n = 0;
    *block = (struct block){.line = 0};
    while (fgets(line, sizeof line, file) != NULL) {
        size_t bytes = strcspn(line, "\n");
        (*line_number)++;
        line[bytes] = '\0';
        if (bytes == 0 && block->line != 0) {
            break;
        }
        if (block->line == 0) {
            if (strncmp(line, "> ", 2) == 0) {
                block->line = *line_number;
                memcpy(block->expression, line + 2, bytes - 1);
            } else {
                REQUIRE(bytes == 0 || line[0] == '#', "line %u: %s", *line_number, line);
            }
        } else if (n == 0 && strncmp(line, "+ ", 2) == 0) {
            add_property(block, line + 2);
        } else {
            REQUIRE(n + bytes + 2 <= sizeof block->expected, "line %u: too much", *line_number);
            n += (size_t)snprintf(block->expected + n, sizeof block->expected - n, "%s\n", line);
        }
    }
    return block->line != 0;
}

/* Line by line, so that a comment in TAP shows all of it. */
static void note_lines(const char *title, const char *text) {
    test_note("%s:", title);
    while (*text != '\0') {
        size_t bytes = strcspn(text, "\n");
        test_note("  %.*s", (int)bytes, text);
        text += bytes + (text[bytes] == '\n' ? 1 : 0);
    }
}

static void check_block(const char *path, const struct block *block,
                        const struct sf_options *options, describe_fn *describe) {
    struct sf_schema *schema = sf_schema_new();
    struct sf_filter *filter = NULL;
    struct sf_error error;
    struct engine_text out = {NULL, 0};
    bool compiled =
        schema != NULL && sf_compile(schema, options, block->expression, strlen(block->expression),
                                     &filter, &error) == SF_OK;
    CHECK(compiled, "%s:%u: %s", path, block->line, block->expression);
    if (compiled) {
        describe(schema, filter, block, &out);
        const char *written = out.text == NULL ? "" : out.text;
        if (!CHECK(strcmp(written, block->expected) == 0, "%s:%u: %s", path, block->line,
                   block->expression)) {
            note_lines("written", written);
        }
    }
    free(out.text);
    sf_filter_unref(filter);
    sf_schema_free(schema);
}

static void close_file(void *user) {
    fclose(user);
}

/* Check all blocks of a file; there are at least `least`. */
static void check_file(const char *name, unsigned least, const struct sf_options *options,
                       describe_fn *describe) {
    char path[512];
    snprintf(path, sizeof path, "%s/tests/data/golden/%s", TEST_SOURCE_DIR, name);
    FILE *file = fopen(path, "r");
    REQUIRE(file != NULL, "%s: %s", path, strerror(errno));
    test_defer(close_file, file);
    static struct block block;
    unsigned line = 0;
    unsigned n = 0;
    while (read_block(file, &line, &block)) {
        check_block(name, &block, options, describe);
        n++;
    }
    CHECK(n >= least, "%s: only %u blocks", name, n);
}

/* ---- what is written ------------------------------------------------------------------------------------------- */

static void describe_text(struct sf_schema *schema, const struct sf_filter *filter,
                          const struct block *block, struct engine_text *out) {
    (void)schema;
    (void)block;
    size_t bytes = 0;
    const char *text = sf_filter_text(filter, &bytes);
    engine_write(out, text, bytes);
    engine_write(out, "\n", 1);
}

static void describe_tree(struct sf_schema *schema, const struct sf_filter *filter,
                          const struct block *block, struct engine_text *out) {
    (void)schema;
    enum sf_status status = sf_filter_write_tree(filter, engine_write, out);
    CHECK(status == SF_OK, "%s", block->expression);
}

static void describe_program(struct sf_schema *schema, const struct sf_filter *filter,
                             const struct block *block, struct engine_text *out) {
    (void)schema;
    (void)block;
    sf_filter_write_program(filter, engine_write, out);
}

static void describe_answer(struct sf_schema *schema, const struct sf_filter *filter,
                            const struct block *block, struct engine_text *out) {
    struct sf_message *message = sf_message_new(schema);
    enum sf_truth truth = SF_UNKNOWN;
    bool ok = message != NULL && sf_message_reset(message) == SF_OK;
    for (size_t i = 0; ok && i < block->n_properties; i++) {
        sf_message_add(message, block->names[i], strlen(block->names[i]), block->values[i],
                       strlen(block->values[i]));
    }
    if (ok) {
        sf_message_set_qos(message, 1);
        ok = sf_explain(filter, message, engine_write, out, &truth) == SF_OK;
        ok = ok && truth == sf_eval(filter, message);
    }
    CHECK(ok, "%s", block->expression);
    const char *name = engine_truth_name(truth);
    engine_write(out, name, strlen(name));
    engine_write(out, "\n", 1);
    sf_message_free(message);
}

/* ---- cases ----------------------------------------------------------------------------------------------------- */

static void test_golden_canonical_texts(void) {
    check_file("canonical.txt", 60, NULL, describe_text);
}

static void test_golden_trees(void) {
    check_file("trees.txt", 10, NULL, describe_tree);
}

static void test_golden_programs(void) {
    check_file("programs.txt", 40, NULL, describe_program);
}

static void test_golden_programs_with_strict_integers(void) {
    struct sf_options options = SF_OPTIONS_INIT;
    options.strict_integers = true;
    check_file("programs_strict.txt", 5, &options, describe_program);
}

static void test_golden_explanations(void) {
    check_file("explanations.txt", 30, NULL, describe_answer);
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        TEST(test_golden_canonical_texts), TEST(test_golden_trees),
        TEST(test_golden_programs),        TEST(test_golden_programs_with_strict_integers),
        TEST(test_golden_explanations),
    };
    return run_tests(argc, argv, cases, N_ROWS(cases));
}
