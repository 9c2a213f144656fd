/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The vectors in tests/data/vectors, one JSON object a line: {"expr": what follows the '?', "props": [["name",
 * "value"], ...], "attrs": {"$qos": 1, ...} or nothing, "expect": "match" | "nomatch" | "invalid"}. kv and sql
 * were established by running the peers' engines, language by LANGUAGE itself.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "runner.h"
#include "test_paths.h"

/* More than any message may have. */
#define MAX_ROW_PROPERTIES 400

struct row {
    const char *file;
    unsigned line;
    const char *text; /* the line */
    json_t *json;
    struct ref_property properties[MAX_ROW_PROPERTIES];
    struct ref_message message;
};

static struct ref_text text_from(const json_t *json) {
    return (struct ref_text){json_string_value(json), json_string_length(json)};
}

static struct ref_text text_at(const json_t *object, const char *key) {
    return text_from(json_object_get(object, key));
}

static void read_message(struct row *row) {
    json_t *pairs = json_object_get(row->json, "props");
    json_t *attributes = json_object_get(row->json, "attrs");
    row->message = (struct ref_message){
        .properties = row->properties,
        .n_properties = json_array_size(pairs),
        .topic = text_at(attributes, "$topic"),
        .content_type = text_at(attributes, "$content_type"),
        .response_topic = text_at(attributes, "$response_topic"),
        .has_qos = json_object_get(attributes, "$qos") != NULL,
        .qos = (int)json_integer_value(json_object_get(attributes, "$qos")),
        .has_retain = json_object_get(attributes, "$retain") != NULL,
        .retain = json_is_true(json_object_get(attributes, "$retain")),
        .has_payload_bytes = json_object_get(attributes, "$payload_bytes") != NULL,
        .payload_bytes =
            (uint64_t)json_integer_value(json_object_get(attributes, "$payload_bytes")),
    };
    REQUIRE(row->message.n_properties <= MAX_ROW_PROPERTIES, "%s:%u", row->file, row->line);
    for (size_t i = 0; i < row->message.n_properties; i++) {
        row->properties[i].name = text_from(json_array_get(json_array_get(pairs, i), 0));
        row->properties[i].value = text_from(json_array_get(json_array_get(pairs, i), 1));
    }
}

static void check_row(struct row *row) {
    struct ref_text expr = text_at(row->json, "expr");
    const char *expect = json_string_value(json_object_get(row->json, "expect"));
    REQUIRE(expr.text != NULL && expect != NULL, "%s:%u: %s", row->file, row->line, row->text);
    read_message(row);

    struct engine_result result;
    const char *wrong = engine_run(NULL, expr.text, expr.bytes, &row->message, &result);
    CHECK(wrong == NULL, "%s:%u: %s: %s", row->file, row->line, wrong, row->text);
    const char *answer = result.status != SF_OK    ? "invalid"
                         : result.truth == SF_TRUE ? "match"
                                                   : "nomatch";
    CHECK(strcmp(answer, expect) == 0, "%s:%u: %s: %s", row->file, row->line, answer, row->text);
}

static void check_file(const char *path, unsigned n_expected) {
    FILE *file = fopen(path, "r");
    REQUIRE(file != NULL, "%s", path);
    char *line = NULL;
    size_t capacity = 0;
    static struct row row;
    for (row.line = 1, row.file = path; getline(&line, &capacity, file) > 0; row.line++) {
        row.text = line;
        row.json = json_loads(line, 0, NULL);
        if (CHECK(row.json != NULL, "%s:%u: no JSON: %s", path, row.line, line)) {
            check_row(&row);
        }
        json_decref(row.json);
    }
    CHECK(row.line - 1 == n_expected, "%s has %u rows", path, row.line - 1);
    free(line);
    fclose(file);
}

static void test_vectors_kv(void) {
    check_file(TEST_SOURCE_DIR "/tests/data/vectors/kv.jsonl", 1514);
}

static void test_vectors_sql(void) {
    check_file(TEST_SOURCE_DIR "/tests/data/vectors/sql.jsonl", 2809);
}

static void test_vectors_language(void) {
    check_file(TEST_SOURCE_DIR "/tests/data/vectors/language.jsonl", 3150);
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        TEST(test_vectors_kv),
        TEST(test_vectors_sql),
        TEST(test_vectors_language),
    };
    return run_tests(argc, argv, cases, N_ROWS(cases));
}
