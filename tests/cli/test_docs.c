/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Runs every example of the language's documentation. The forms are described at the end of docs/language.md: fenced
 * blocks of three kinds, and two kinds of tables that are announced by an HTML comment.
 */
#include "cli.h"
#include "cli_runner.h"
#include "runner.h"
#include "test_paths.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_CELLS = 8, MAX_LINE = 1024, MAX_OUTPUT = 4096 };

/* Where the reading of a document is. */
struct place {
    const char *name;
    size_t line;
    struct sf_options options;
    enum { TEXT, FILTER, SUBSCRIPTION, CONSOLE, OTHER } block;
    enum { NO_TABLE, TRUTH, ERRORS } table;
    char properties[MAX_LINE]; /* of a truth table's message */
    char command[MAX_LINE];    /* the last one of a console block, and … */
    char printed[MAX_OUTPUT];  /* … what follows it */
    size_t n_run;
};

/* ---- expressions ---- */

/* A compiled example, or why there is none. */
struct subject {
    struct sf_schema *schema;
    struct sf_filter *filter;
    struct sf_message *message;
    struct sf_error error;
};

static void close_subject(struct subject *subject) {
    sf_message_free(subject->message);
    sf_filter_unref(subject->filter);
    sf_schema_free(subject->schema);
}

static bool open_subject(const struct place *place, const char *text, struct subject *subject) {
    memset(subject, 0, sizeof *subject);
    subject->schema = sf_schema_new();
    REQUIRE(subject->schema, "out of memory");
    enum sf_status status = sf_compile(subject->schema, &place->options, text, strlen(text),
                                       &subject->filter, &subject->error);
    subject->message = sf_message_new(subject->schema);
    REQUIRE(subject->message && sf_message_reset(subject->message) == SF_OK, "out of memory");
    return status == SF_OK;
}

/* name=value, or $name=value for a system attribute, or "$name"=value for a property of such a name. */
static void bind_property(const struct place *place, struct sf_message *message, char *text) {
    char *equals = strchr(text, '=');
    REQUIRE(equals, "%s:%zu: no '=' in %s", place->name, place->line, text);
    *equals = '\0';
    const struct attribute *attribute = attribute_find(text);
    if (attribute) {
        CHECK(attribute_set(message, attribute, equals + 1), "%s:%zu: %s", place->name, place->line,
              text);
        return;
    }
    bool quoted = text[0] == '"' && equals[-1] == '"' && equals - text > 2;
    const char *name = quoted ? text + 1 : text;
    size_t bytes = (size_t)(equals - text) - (quoted ? 2 : 0);
    sf_message_add(message, name, bytes, equals + 1, strlen(equals + 1));
}

/* Properties separated by ", ". The text is cut up, and kept by the message. */
static void bind_properties(const struct place *place, struct sf_message *message, char *text) {
    while (text && *text) {
        char *next = strstr(text, ", ");
        if (next) {
            *next = '\0';
            next += 2;
        }
        bind_property(place, message, text);
        text = next;
    }
}

static bool is_outcome(enum sf_truth truth, const char *word) {
    if (strcmp(word, "match") == 0 || strcmp(word, "true") == 0) {
        return truth == SF_TRUE;
    }
    if (strcmp(word, "nomatch") == 0) {
        return truth != SF_TRUE;
    }
    return strcmp(word, truth == SF_UNKNOWN ? "unknown" : "false") == 0 && truth != SF_TRUE;
}

static void check_expression(struct place *place, const char *expression, const char *properties,
                             const char *outcome) {
    struct subject subject;
    char pairs[MAX_LINE];
    snprintf(pairs, sizeof pairs, "%s", properties);
    if (open_subject(place, expression, &subject)) {
        bind_properties(place, subject.message, pairs);
        enum sf_truth truth = sf_eval(subject.filter, subject.message);
        CHECK(is_outcome(truth, outcome), "%s:%zu: %s | %s: is %s, not %s", place->name,
              place->line, expression, properties,
              truth == SF_TRUE    ? "true"
              : truth == SF_FALSE ? "false"
                                  : "unknown",
              outcome);
    } else {
        char actual[64];
        snprintf(actual, sizeof actual, "%s at offset %zu", sf_status_name(subject.error.code),
                 subject.error.offset);
        CHECK(strcmp(actual, outcome) == 0, "%s:%zu: %s: is %s, not %s", place->name, place->line,
              expression, actual, outcome);
    }
    close_subject(&subject);
    place->n_run++;
}

/* Cut `line` at its last " -> ". Returns what follows. */
static char *take_outcome(const struct place *place, char *line) {
    char *arrow = NULL;
    for (char *next = line; (next = strstr(next, " -> ")) != NULL; next++) {
        arrow = next;
    }
    REQUIRE(arrow, "%s:%zu: no outcome in %s", place->name, place->line, line);
    *arrow = '\0';
    return arrow + strlen(" -> ");
}

static void check_filter_line(struct place *place, char *line) {
    char *outcome = take_outcome(place, line);
    char *properties = strstr(line, " | ");
    if (properties) {
        *properties = '\0';
        properties += strlen(" | ");
    }
    check_expression(place, line, properties ? properties : "", outcome);
}

/* ---- subscription strings ---- */

/* SF_OK, and the decoded topic filter in `topic`; or what is wrong, as a host reports it. */
static enum sf_status take_subscription(const struct place *place, const char *text,
                                        char topic[MAX_LINE], struct sf_error *error) {
    struct sf_subscription split;
    size_t bytes;
    sf_subscription_split(text, strlen(text), &split);
    snprintf(topic, MAX_LINE, "%.*s", (int)split.topic_bytes, text);
    enum sf_status status = sf_topic_decode(topic, split.topic_bytes, &bytes, error);
    if (status != SF_OK) {
        return status;
    }
    topic[bytes] = '\0';
    struct subject subject;
    if (!open_subject(place, text + split.expression_offset, &subject)) {
        *error = subject.error;
        error->offset += split.expression_offset;
        status = error->code;
    }
    close_subject(&subject);
    return status;
}

static void check_subscription_line(struct place *place, char *line) {
    char *outcome = take_outcome(place, line);
    char topic[MAX_LINE];
    struct sf_error error;
    if (take_subscription(place, line, topic, &error) != SF_OK) {
        snprintf(topic, sizeof topic, "%s at offset %zu", sf_status_name(error.code), error.offset);
    }
    CHECK(strcmp(topic, outcome) == 0, "%s:%zu: %s: is %s, not %s", place->name, place->line, line,
          topic, outcome);
    place->n_run++;
}

/* ---- tables ---- */

static char *trim(char *text) {
    text += strspn(text, " ");
    size_t bytes = strlen(text);
    while (bytes > 0 && text[bytes - 1] == ' ') {
        bytes--;
    }
    text[bytes] = '\0';
    return text;
}

static size_t take_cells(char *line, char *cells[MAX_CELLS]) {
    size_t n = 0;
    char *cell = line + 1;
    for (char *bar; n < MAX_CELLS && (bar = strchr(cell, '|')) != NULL; cell = bar + 1) {
        *bar = '\0';
        cells[n++] = trim(cell);
    }
    return n;
}

/* The next `…` in *text, which moves behind it; NULL when there is none. */
static char *next_code(char **text) {
    char *start = strchr(*text, '`');
    char *end = start ? strchr(start + 1, '`') : NULL;
    if (!end) {
        return NULL;
    }
    *end = '\0';
    *text = end + 1;
    return start + 1;
}

/* | expressions | value | expressions | value | */
static void check_truth_row(struct place *place, char *cells[], size_t n_cells) {
    for (size_t i = 0; i + 1 < n_cells; i += 2) {
        char *rest = cells[i];
        for (char *code; (code = next_code(&rest)) != NULL;) {
            char expression[MAX_LINE];
            snprintf(expression, sizeof expression, "sql:%s", code);
            check_expression(place, expression, place->properties, cells[i + 1]);
        }
    }
}

/* | code | when | subscription string | offset, length and text | */
static void check_error_row(struct place *place, char *cells[], size_t n_cells) {
    REQUIRE(n_cells == 4, "%s:%zu: %zu cells", place->name, place->line, n_cells);
    char *code = next_code(&cells[0]);
    if (!code) {
        return; /* the head of the table */
    }
    char *subscription = next_code(&cells[2]);
    REQUIRE(subscription, "%s:%zu: no example", place->name, place->line);
    struct place here = *place;
    here.options.dialects = strcmp(code, "dialect") == 0 ? SF_DIALECT_KV : SF_DIALECT_ALL;
    char topic[MAX_LINE];
    struct sf_error error = {.code = SF_OK};
    take_subscription(&here, subscription, topic, &error);
    char says[MAX_LINE];
    snprintf(says, sizeof says, "%zu, %zu: %s", error.offset, error.length, error.text);
    CHECK(strcmp(sf_status_name(error.code), code) == 0, "%s:%zu: %s: is %s", place->name,
          place->line, subscription, sf_status_name(error.code));
    CHECK(strcmp(says, cells[3]) == 0, "%s:%zu: %s: says: %s", place->name, place->line,
          subscription, says);
    place->n_run++;
}

static void check_table_line(struct place *place, char *line) {
    char *cells[MAX_CELLS];
    size_t n_cells = take_cells(line, cells);
    if (place->table == TRUTH) {
        check_truth_row(place, cells, n_cells);
    } else if (place->table == ERRORS) {
        check_error_row(place, cells, n_cells);
    }
}

/* ---- commands ---- */

static void check_command(struct place *place) {
    if (place->command[0] == '\0') {
        return;
    }
    char script[2 * MAX_LINE];
    int folder = (int)(strrchr(TEST_CLI, '/') - TEST_CLI);
    snprintf(script, sizeof script, "exec 2>&1; PATH='%.*s':$PATH; %s", folder, TEST_CLI,
             place->command);
    struct cli_result result;
    REQUIRE(cli_run(&(struct cli_call){.program = "/bin/sh", .arguments = {"-c", script}}, &result),
            "%s", place->command);
    CHECK(strcmp(result.out, place->printed) == 0, "%s:%zu: before this line, %s\nprints:\n%s",
          place->name, place->line, place->command, result.out);
    cli_result_free(&result);
    place->command[0] = '\0';
    place->printed[0] = '\0';
    place->n_run++;
}

static void take_console_line(struct place *place, const char *line) {
    if (strncmp(line, "$ ", 2) == 0) {
        check_command(place);
        snprintf(place->command, sizeof place->command, "%s", line + 2);
        return;
    }
    size_t used = strlen(place->printed);
    snprintf(place->printed + used, sizeof place->printed - used, "%s\n", line);
}

/* ---- documents ---- */

static void take_fence(struct place *place, const char *info) {
    if (place->block == CONSOLE) {
        check_command(place);
    }
    if (place->block != TEXT) {
        place->block = TEXT;
        return;
    }
    place->options = (struct sf_options)SF_OPTIONS_INIT;
    place->options.strict_integers = strstr(info, "strict_integers") != NULL;
    place->block = strncmp(info, "filter", 6) == 0          ? FILTER
                   : strncmp(info, "subscription", 12) == 0 ? SUBSCRIPTION
                   : strncmp(info, "console", 7) == 0       ? CONSOLE
                                                            : OTHER;
}

static void take_text_line(struct place *place, char *line) {
    static const char truth[] = "<!-- truth: ";
    if (strncmp(line, truth, strlen(truth)) == 0) {
        char *end = strstr(line, " -->");
        REQUIRE(end, "%s:%zu: %s", place->name, place->line, line);
        *end = '\0';
        snprintf(place->properties, sizeof place->properties, "%s", line + strlen(truth));
        place->table = TRUTH;
    } else if (strcmp(line, "<!-- errors -->") == 0) {
        place->table = ERRORS;
    } else if (line[0] == '|') {
        check_table_line(place, line);
    } else if (line[0] != '\0') {
        place->table = NO_TABLE;
    }
}

static void take_line(struct place *place, char *line) {
    if (strncmp(line, "```", 3) == 0) {
        take_fence(place, line + 3);
    } else if (place->block == FILTER) {
        check_filter_line(place, line);
    } else if (place->block == SUBSCRIPTION) {
        check_subscription_line(place, line);
    } else if (place->block == CONSOLE) {
        take_console_line(place, line);
    } else if (place->block == TEXT) {
        take_text_line(place, line);
    }
}

static void close_file(void *file) {
    fclose(file);
}

/* Run the examples of one document, of which there must be at least `min_examples`. */
static void check_document(const char *name, size_t min_examples) {
    struct place place = {.name = name, .options = SF_OPTIONS_INIT};
    char path[MAX_LINE];
    char line[MAX_LINE];
    snprintf(path, sizeof path, "%s/%s", TEST_SOURCE_DIR, name);
    FILE *file = fopen(path, "r");
    REQUIRE(file, "%s", path);
    test_defer(close_file, file);
    while (fgets(line, sizeof line, file)) {
        place.line++;
        size_t bytes = strcspn(line, "\n");
        REQUIRE(line[bytes] == '\n', "%s:%zu: the line is too long", name, place.line);
        line[bytes] = '\0';
        take_line(&place, line);
    }
    REQUIRE(place.block == TEXT, "%s: a block without an end", name);
    CHECK(place.n_run >= min_examples, "%s: only %zu examples", name, place.n_run);
}

static void test_examples_of_the_language(void) {
    check_document("docs/language.md", 200);
}

static void test_examples_of_the_compatibility_page(void) {
    check_document("docs/compatibility.md", 20);
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        TEST(test_examples_of_the_language),
        TEST(test_examples_of_the_compatibility_page),
    };
    text_init();
    return run_tests(argc, argv, cases, N_ROWS(cases));
}
