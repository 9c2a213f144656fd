/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The engine against the reference, on random expressions and messages. Some dozens of filters live in one schema,
 * some of them are replaced all the time, and every message is bound once and evaluated against all: so filters
 * share names, numbers that were converted once, and slots that others have left.
 *
 * TEST_SEED=<number> repeats a run; SF_PAIRS=<number> or TEST_LONG=1 makes it longer.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "generator.h"
#include "runner.h"

#define N_FILTERS    32
#define N_REPLACED   8 /* per round */
#define N_MESSAGES   8 /* per round */
#define MAX_FAILURES 20

struct entry {
    struct sf_filter *filter;
    struct ref_filter *reference;
    struct sf_options options;
    struct generated_expression expression;
};

static struct {
    struct sf_schema *schema;
    struct sf_message *message;
    struct entry entries[N_FILTERS];
    unsigned long n_pairs;
    unsigned long n_accepted;
    unsigned long n_refused;
    unsigned long n_truths[3];
    unsigned n_failures;
} run;

static unsigned long wanted_pairs(void) {
    const char *wanted = getenv("SF_PAIRS");
    if (wanted != NULL && *wanted != '\0') {
        return strtoul(wanted, NULL, 10);
    }
    return test_long() ? 5000000 : 250000;
}

static void drop(struct entry *entry) {
    sf_filter_unref(entry->filter);
    ref_free(entry->reference);
    entry->filter = NULL;
    entry->reference = NULL;
}

static void finish(void *user) {
    (void)user;
    for (size_t i = 0; i < N_FILTERS; i++) {
        drop(&run.entries[i]);
    }
    sf_message_free(run.message);
    CHECK(sf_schema_filters(run.schema) == 0 && sf_schema_names(run.schema) == 0, "%s",
          "the schema is not empty");
    sf_schema_free(run.schema);
}

static void start(void) {
    memset(&run, 0, sizeof run);
    run.schema = sf_schema_new();
    REQUIRE(run.schema != NULL, "%s", "memory");
    run.message = sf_message_new(run.schema);
    test_defer(finish, NULL);
    REQUIRE(run.message != NULL, "%s", "memory");
}

static void fail(const struct generated_expression *expression, const char *what) {
    run.n_failures++;
    CHECK(false, "%.*s: %s", expression->bytes < 700 ? (int)expression->bytes : 700,
          expression->text, what);
}

/* ---- expressions ----------------------------------------------------------------------------- */

static void check_refused(const struct generated_expression *expression, enum sf_status status,
                          const struct sf_error *error, ref_codes codes) {
    char what[512];
    const char *wrong = status == SF_OK ? "accepted, not refused"
                                        : engine_check_error(status, error, expression->bytes);
    if (wrong == NULL && (codes & (ref_codes)1 << status) == 0) {
        wrong = "another code";
    }
    if (wrong != NULL) {
        snprintf(what, sizeof what, "%s (%s: %.200s); the reference has codes %#x", wrong,
                 sf_status_name(status), status == SF_OK ? "" : error->text, codes);
        fail(expression, what);
    }
}

/* Another spelling of the same must be the same filter. */
static void check_spelling(struct entry *entry, const struct generated_expression *other) {
    struct sf_filter *filter = NULL;
    struct sf_error error = {.text = ""};
    enum sf_status status =
        sf_compile(run.schema, &entry->options, other->text, other->bytes, &filter, &error);
    if (filter != entry->filter) {
        char what[2048];
        snprintf(what, sizeof what, "is not the same as %.*s (%s%s), but %s",
                 other->bytes < 700 ? (int)other->bytes : 700, other->text, sf_status_name(status),
                 error.text, sf_filter_text(entry->filter, NULL));
        fail(&entry->expression, what);
    }
    sf_filter_unref(filter);
}

static void replace(struct entry *entry, uint64_t *state) {
    static struct generated_expression other;
    drop(entry);
    uint64_t structure = test_random(state);
    bool damaged = test_random(state) % 6 == 0;
    generate_expression(structure, test_random(state), &entry->expression);
    generate_expression(structure, test_random(state), &other);
    if (damaged) {
        generate_damage(state, &entry->expression);
    }
    entry->options = (struct sf_options)SF_OPTIONS_INIT;
    entry->options.max_expression_bytes = GENERATOR_MAX_BYTES;
    entry->options.strict_integers = test_random(state) % 4 == 0;
    entry->options.tag_key = generate_tag_key(state);

    struct sf_error error = {.text = ""};
    ref_codes codes = ref_parse(&entry->options, entry->expression.text, entry->expression.bytes,
                                &entry->reference);
    enum sf_status status = sf_compile(run.schema, &entry->options, entry->expression.text,
                                       entry->expression.bytes, &entry->filter, &error);
    if (codes != 0) {
        run.n_refused++;
        check_refused(&entry->expression, status, &error, codes);
        drop(entry);
        return;
    }
    if (status != SF_OK) {
        fail(&entry->expression, error.text);
        drop(entry);
        return;
    }
    run.n_accepted++;
    const char *wrong = engine_check_canonical(run.schema, &entry->options, entry->filter);
    if (wrong != NULL) {
        fail(&entry->expression, wrong);
    }
    if (!damaged) {
        check_spelling(entry, &other);
    }
}

/* ---- messages -------------------------------------------------------------------------------- */

static void note_message(const struct ref_message *message) {
    for (size_t i = 0; i < message->n_properties && i < 20; i++) {
        test_note("    %.*s = '%.*s'", (int)message->properties[i].name.bytes,
                  message->properties[i].name.text, (int)message->properties[i].value.bytes,
                  message->properties[i].value.text);
    }
    test_note("    topic %s, content type %s, response topic %s, qos %d, retain %d, payload bytes "
              "%" PRIu64,
              message->topic.text != NULL ? message->topic.text : "absent",
              message->content_type.text != NULL ? message->content_type.text : "absent",
              message->response_topic.text != NULL ? message->response_topic.text : "absent",
              message->has_qos ? message->qos : -1, message->has_retain ? message->retain : -1,
              message->has_payload_bytes ? message->payload_bytes : 0);
}

static void check_pair(struct entry *entry, const struct ref_message *message) {
    enum sf_truth truth = SF_FALSE;
    enum sf_truth expected = ref_eval(entry->reference, message);
    const char *wrong = engine_check_truth(entry->filter, run.message, &truth);
    run.n_pairs++;
    run.n_truths[expected]++;
    if (wrong == NULL && ref_agrees(entry->reference, expected, truth)) {
        return;
    }
    char what[256];
    snprintf(what, sizeof what, "%s; %s, the reference says %s%s",
             wrong == NULL ? "evaluated" : wrong, engine_truth_name(truth),
             engine_truth_name(expected),
             entry->options.strict_integers ? " (strict_integers)" : "");
    fail(&entry->expression, what);
    note_message(message);
}

static void check_message(uint64_t *state) {
    static struct generated_message generated;
    generate_message(state, &generated);
    if (!engine_bind(run.message, &generated.message)) {
        REQUIRE(false, "%s", "memory");
    }
    size_t first = test_random(state) % N_FILTERS; /* who converts a number first */
    for (size_t i = 0; i < N_FILTERS; i++) {
        struct entry *entry = &run.entries[(first + i) % N_FILTERS];
        if (entry->filter != NULL) {
            check_pair(entry, &generated.message);
        }
    }
}

static void test_engine_agrees_with_the_reference(void) {
    uint64_t state = test_seed();
    start();
    for (unsigned long wanted = wanted_pairs();
         run.n_pairs < wanted && run.n_failures < MAX_FAILURES;) {
        for (size_t i = 0; i < N_REPLACED; i++) {
            replace(&run.entries[test_random(&state) % N_FILTERS], &state);
        }
        for (size_t i = 0; i < N_MESSAGES; i++) {
            check_message(&state);
        }
    }
    test_note("%lu pairs: %lu true, %lu false, %lu unknown; %lu expressions accepted, %lu refused",
              run.n_pairs, run.n_truths[SF_TRUE], run.n_truths[SF_FALSE], run.n_truths[SF_UNKNOWN],
              run.n_accepted, run.n_refused);
    /* that the generator still speaks of something */
    for (size_t truth = 0; truth < N_ROWS(run.n_truths) && run.n_failures == 0; truth++) {
        CHECK(run.n_truths[truth] > run.n_pairs / 10, "hardly ever %s",
              engine_truth_name((enum sf_truth)truth));
    }
    CHECK(run.n_accepted > run.n_refused && run.n_refused > run.n_accepted / 20,
          "%lu accepted, %lu refused", run.n_accepted, run.n_refused);
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        TEST(test_engine_agrees_with_the_reference),
    };
    return run_tests(argc, argv, cases, N_ROWS(cases));
}
