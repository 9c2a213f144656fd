/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Filters are immutable: several threads evaluate the same ones at once, each against messages of its own. (Build with
 * -Db_sanitize=thread to see a race even where the answers come out right.)
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "generator.h"
#include "runner.h"

#define N_THREADS  4
#define N_FILTERS  40
#define N_MESSAGES 300 /* per thread */

static struct sf_schema *schema;
static struct sf_filter *filters[N_FILTERS];
static struct ref_filter *references[N_FILTERS];

struct worker {
    pthread_t thread;
    struct sf_message *message;
    struct generated_message generated;
    uint64_t state;
    size_t n_wrong;
    size_t n_pairs;
};

static struct worker workers[N_THREADS];

/* Binding belongs to one thread at a time, and no filter comes or goes: each may do it for its own message. */
static void *work(void *user) {
    struct worker *worker = user;
    for (size_t i = 0; i < N_MESSAGES; i++) {
        generate_message(&worker->state, &worker->generated);
        if (!engine_bind(worker->message, &worker->generated.message)) {
            worker->n_wrong++;
            continue;
        }
        for (size_t k = 0; k < N_FILTERS; k++) {
            enum sf_truth truth = sf_eval(filters[k], worker->message);
            enum sf_truth expected = ref_eval(references[k], &worker->generated.message);
            worker->n_wrong += ref_agrees(references[k], expected, truth) ? 0 : 1;
            worker->n_pairs++;
        }
    }
    return NULL;
}

static void close_all(void *user) {
    (void)user;
    for (size_t i = 0; i < N_THREADS; i++) {
        sf_message_free(workers[i].message);
    }
    for (size_t i = 0; i < N_FILTERS; i++) {
        sf_filter_unref(filters[i]);
        ref_free(references[i]);
    }
    sf_schema_free(schema);
}

static void compile_filters(uint64_t *state) {
    struct sf_options options = SF_OPTIONS_INIT;
    options.max_expression_bytes = GENERATOR_MAX_BYTES;
    static struct generated_expression expression;
    for (size_t n = 0; n < N_FILTERS;) {
        generate_expression(test_random(state), test_random(state), &expression);
        if (sf_compile(schema, &options, expression.text, expression.bytes, &filters[n], NULL) !=
            SF_OK) {
            continue;
        }
        REQUIRE(ref_parse(&options, expression.text, expression.bytes, &references[n]) == 0, "%.*s",
                (int)expression.bytes, expression.text);
        n++;
    }
}

static void test_threads_evaluate_the_same_filters(void) {
    uint64_t state = test_seed();
    schema = sf_schema_new();
    REQUIRE(schema != NULL, "%s", "memory");
    test_defer(close_all, NULL);
    compile_filters(&state);
    for (size_t i = 0; i < N_THREADS; i++) {
        workers[i].state = test_random(&state);
        workers[i].message = sf_message_new(schema);
        REQUIRE(workers[i].message != NULL, "%s", "memory");
    }
    for (size_t i = 0; i < N_THREADS; i++) {
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0) {
            abort(); /* those that run already use what this case would free */
        }
    }
    for (size_t i = 0; i < N_THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
        CHECK(workers[i].n_wrong == 0 && workers[i].n_pairs == N_MESSAGES * N_FILTERS,
              "%zu of %zu wrong", workers[i].n_wrong, workers[i].n_pairs);
    }
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        TEST(test_threads_evaluate_the_same_filters),
    };
    return run_tests(argc, argv, cases, N_ROWS(cases));
}
