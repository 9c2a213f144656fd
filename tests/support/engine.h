/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The engine as the tests use it: compile an expression, evaluate it against one message, and check on the way all
 * that must hold for any expression and any message. Tables, vectors, random tests and fuzzers go through here.
 */
#ifndef TESTS_SUPPORT_ENGINE_H
#define TESTS_SUPPORT_ENGINE_H

#include "reference.h"

#define ENGINE_MAX_ROW_PROPERTIES 12

struct engine_properties {
    struct ref_property properties[ENGINE_MAX_ROW_PROPERTIES];
};

/* A message with the properties that tables write as "name", "value", "name", "value", ..., NULL. `storage` must
 * live as long as the message. */
struct ref_message engine_message(const char *const *pairs, struct engine_properties *storage);

/* A copy with nothing behind it, so that a sanitizer sees a read beyond its end; and once it is freed, a late one. New: to
 * be freed. */
char *engine_exact_copy(const char *text, size_t bytes);

struct engine_result {
    enum sf_status status;
    enum sf_truth truth;   /* SF_OK only */
    struct sf_error error; /* unless SF_OK */
};

/* Compile `text` in a schema of its own and evaluate it against `message`.
 * Returns NULL, or a sentence (static, overwritten by the next call) that says which of these does not hold:
 *
 * - the reference accepts it too and gives the same truth, or refuses it with the same code;
 * - refused: no filter, nothing left in the schema, a spot inside the text, a clean error text;
 * - accepted: sf_explain gives the same truth, a second evaluation too; the canonical text is the same filter, and in
 *   another schema the same text; giving the filter back leaves nothing in the schema. */
const char *engine_run(const struct sf_options *options, const char *text, size_t bytes,
                       const struct ref_message *message, struct engine_result *result_out);

/* Reset `message` and add everything of `source`. False: out of memory. */
bool engine_bind(struct sf_message *message, const struct ref_message *source);

/* The parts of the above, for those that hold many filters or messages; NULL or what is wrong. */
const char *engine_check_error(enum sf_status status, const struct sf_error *error,
                               size_t text_bytes);
const char *engine_check_canonical(struct sf_schema *schema, const struct sf_options *options,
                                   const struct sf_filter *filter);
const char *engine_check_truth(const struct sf_filter *filter, struct sf_message *message,
                               enum sf_truth *truth_out);

/* "true", "false", "unknown" */
const char *engine_truth_name(enum sf_truth truth);

/* A growing text, for what the engine writes; give back with free(text). */
struct engine_text {
    char *text; /* NUL-terminated once something was written */
    size_t bytes;
    size_t size; /* allocated */
};

/* An sf_write_fn; user is a struct engine_text. */
void engine_write(void *user, const char *text, size_t bytes);

#endif
