/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Out of memory: each allocation of each call fails in turn, until the call succeeds. What fails must say so, leave
 * everything as it was and leak nothing; what promises not to allocate must not.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "failing_memory.h"
#include "runner.h"

/* ---- fixture --------------------------------------------------------------------------------- */

#define MAX_FAILURES 10000 /* of one call; it must have succeeded long before */

static const char *const expressions[] = {
    "a=1",
    "a=1&b>2&new one=3&%41=4",
    "tag:A||B||C",
    "sql:a = 'x'",
    "sql:(new1 > 100 AND new2 = 'BEIJING') OR \"new 3\" LIKE '%a_b%' ESCAPE '!'",
    "sql:a IN ('a', 'b', 'c', 'd', 5, -6.5, 'e', 'f', 'g', 'h') AND NOT b BETWEEN c AND d + 1",
    "sql:a + b * c - d / e = -f AND $topic CONTAINS 'x' OR g IS NULL OR h STARTSWITH "
    "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'",
    "sql:a LIKE '%x_y%z_%' OR a LIKE '%longer_than_one%word_%' OR a ENDSWITH '' OR a = b = TRUE",
    "sql:n1 OR n2 OR n3 OR n4 OR n5 OR n6 OR n7 OR n8 OR n9 OR n10 OR n11 OR n12 OR n13 OR n14 OR "
    "n15 OR n16 OR n17",
    "sql:a > 'x'", /* refused */
    "sql:a = 1 AND new1 = 2 AND (new2 = 3",
    "a=1&b=2&new1",
    "a=%00",
};

static struct {
    struct sf_schema *schema;
    struct sf_filter *filter;
    struct sf_message *message;
    long n_living_before;
} fixture;

static void bind(void) {
    REQUIRE(sf_message_reset(fixture.message) == SF_OK, "%s", "memory");
    sf_message_add(fixture.message, "b", 1, "2", 1);
    sf_message_add(fixture.message, "c", 1, "4", 1);
}

/* A schema in which "b=2&c>3" lives, and a message for which it holds. */
static void open_fixture(void) {
    fixture.n_living_before = memory.n_living;
    fixture.schema = sf_schema_new();
    REQUIRE(fixture.schema != NULL, "%s", "memory");
    REQUIRE(sf_compile(fixture.schema, NULL, "b=2&c>3", 7, &fixture.filter, NULL) == SF_OK, "%s",
            "memory");
    fixture.message = sf_message_new(fixture.schema);
    REQUIRE(fixture.message != NULL, "%s", "memory");
    bind();
}

static void close_fixture(const char *what) {
    sf_message_free(fixture.message);
    sf_filter_unref(fixture.filter);
    CHECK(sf_schema_filters(fixture.schema) == 0 && sf_schema_names(fixture.schema) == 0,
          "%s: not empty", what);
    sf_schema_free(fixture.schema);
    CHECK(memory.n_living == fixture.n_living_before, "%s: %ld blocks leak", what,
          memory.n_living - fixture.n_living_before);
}

static void check_as_it_was(uint64_t generation, const char *what, size_t n) {
    CHECK(sf_schema_filters(fixture.schema) == 1 && sf_schema_names(fixture.schema) == 2,
          "%s, allocation %zu: %zu and %zu", what, n, sf_schema_filters(fixture.schema),
          sf_schema_names(fixture.schema));
    CHECK(sf_schema_generation(fixture.schema) == generation,
          "%s, allocation %zu: another generation", what, n);
    CHECK(sf_eval(fixture.filter, fixture.message) == SF_TRUE, "%s, allocation %zu: another answer",
          what, n);
}

/* ---- what may fail --------------------------------------------------------------------------- */

static void test_oom_schema_new(void) {
    long before = memory.n_living;
    size_t n = 0;
    for (; n < MAX_FAILURES; n++) {
        memory_arm(n);
        struct sf_schema *schema = sf_schema_new();
        bool failed = memory_disarm();
        CHECK((schema == NULL) == failed, "allocation %zu", n);
        sf_schema_free(schema);
        CHECK(memory.n_living == before, "allocation %zu: %ld blocks leak", n,
              memory.n_living - before);
        if (!failed) {
            break;
        }
    }
    CHECK(n > 0 && n < MAX_FAILURES, "%zu allocations", n);
}

/* Returns whether an allocation failed. */
static bool compile_with_failure(const char *text, size_t n) {
    struct sf_filter *filter = NULL;
    struct sf_error error = {.text = ""};
    uint64_t generation = sf_schema_generation(fixture.schema);
    memory_arm(n);
    enum sf_status status = sf_compile(fixture.schema, NULL, text, strlen(text), &filter, &error);
    bool failed = memory_disarm();
    CHECK(!failed || status == SF_E_NOMEM, "%s, allocation %zu: %s", text, n,
          sf_status_name(status));
    CHECK(failed || status != SF_E_NOMEM, "%s, allocation %zu: %s", text, n,
          sf_status_name(status));
    CHECK((filter == NULL) == (status != SF_OK), "%s, allocation %zu: a filter", text, n);
    if (status != SF_OK) {
        const char *wrong = engine_check_error(status, &error, strlen(text));
        CHECK(wrong == NULL, "%s, allocation %zu: %s", text, n, wrong);
        check_as_it_was(generation, text, n);
    }
    if (filter != NULL) {
        const char *wrong = engine_check_canonical(fixture.schema, NULL, filter);
        CHECK(wrong == NULL, "%s: %s", text, wrong);
        memory_arm(0); /* what would rather have memory to give something back must do without */
        sf_filter_unref(filter);
        memory_disarm();
        CHECK(sf_schema_filters(fixture.schema) == 1 && sf_schema_names(fixture.schema) == 2,
              "%s: given back", text);
    }
    return failed;
}

static void test_oom_compile(void) {
    size_t n_failures = 0;
    for (size_t i = 0; i < N_ROWS(expressions); i++) {
        open_fixture();
        size_t n = 0;
        while (n < MAX_FAILURES && compile_with_failure(expressions[i], n)) {
            n++;
        }
        CHECK(n < MAX_FAILURES, "%s: %zu allocations", expressions[i], n);
        n_failures += n;
        close_fixture(expressions[i]);
    }
    CHECK(n_failures > N_ROWS(expressions), "only %zu allocations failed", n_failures);
}

/* Tables that grow: a failure at any moment of a long life. */
static void test_oom_compile_of_many(void) {
    enum { N = 200 };
    static struct sf_filter *filters[N];
    open_fixture();
    char text[64];
    for (size_t i = 0; i < N; i++) {
        snprintf(text, sizeof text, "sql:name%zu = 'value%zu' AND other%zu > %zu", i, i, i % 7, i);
        for (size_t n = 0;; n++) {
            REQUIRE(n < MAX_FAILURES, "%s", text);
            memory_arm(n);
            enum sf_status status =
                sf_compile(fixture.schema, NULL, text, strlen(text), &filters[i], NULL);
            memory_disarm();
            CHECK(sf_schema_filters(fixture.schema) == i + (status == SF_OK ? 2 : 1),
                  "%s, allocation %zu: %zu", text, n, sf_schema_filters(fixture.schema));
            if (status == SF_OK) {
                break;
            }
            CHECK(status == SF_E_NOMEM && filters[i] == NULL, "%s: %s", text,
                  sf_status_name(status));
        }
    }
    for (size_t i = 0; i < N; i++) {
        snprintf(text, sizeof text, "sql:name%zu='value%zu'AND other%zu>%zu", i, i, i % 7, i);
        struct sf_filter *same = NULL;
        CHECK(sf_compile(fixture.schema, NULL, text, strlen(text), &same, NULL) == SF_OK &&
                  same == filters[i],
              "%s", text);
        sf_filter_unref(same);
    }
    memory_arm(0);
    for (size_t i = 0; i < N; i++) {
        sf_filter_unref(filters[(i * 7) % N]);
    }
    memory_disarm();
    bind();
    check_as_it_was(sf_schema_generation(fixture.schema), "many", 0);
    close_fixture("many");
}

static void test_oom_compile_of_a_living_filter(void) {
    open_fixture();
    uint64_t generation = sf_schema_generation(fixture.schema);
    for (size_t n = 0;; n++) {
        struct sf_filter *same = NULL;
        REQUIRE(n < MAX_FAILURES, "%zu allocations", n);
        memory_arm(n);
        enum sf_status status = sf_compile(fixture.schema, NULL, " b = 2 & c > 3", 14, &same, NULL);
        bool failed = memory_disarm();
        check_as_it_was(generation, "the same", n);
        CHECK(status == (failed ? SF_E_NOMEM : SF_OK), "allocation %zu: %s", n,
              sf_status_name(status));
        sf_filter_unref(same);
        if (!failed) {
            CHECK(same == fixture.filter, "%s", "another one");
            break;
        }
    }
    close_fixture("a living one");
}

static void test_oom_message_new(void) {
    open_fixture();
    size_t n = 0;
    for (bool failed = true; failed && n < MAX_FAILURES; n++) {
        long before = memory.n_living;
        memory_arm(n);
        struct sf_message *message = sf_message_new(fixture.schema);
        failed = memory_disarm();
        CHECK((message == NULL) == failed, "allocation %zu", n);
        sf_message_free(message);
        CHECK(memory.n_living == before, "allocation %zu: %ld blocks leak", n,
              memory.n_living - before);
    }
    CHECK(n > 1 && n < MAX_FAILURES, "%zu allocations", n);
    close_fixture("message");
}

/* The schema has grown, and the message cannot: it is empty, and nothing is known until a reset succeeds. */
static void test_oom_message_reset(void) {
    enum { N = 100 };
    static struct sf_filter *filters[N];
    open_fixture();
    struct sf_filter *always = NULL;
    REQUIRE(sf_compile(fixture.schema, NULL, "sql:TRUE", 8, &always, NULL) == SF_OK, "%s",
            "memory");
    size_t n_failures = 0;
    for (size_t i = 0; i < N; i++) {
        char text[32];
        snprintf(text, sizeof text, "sql:n%zu IS NULL", i);
        REQUIRE(sf_compile(fixture.schema, NULL, text, strlen(text), &filters[i], NULL) == SF_OK,
                "%s", text);
        for (size_t n = 0;; n++) {
            REQUIRE(n < MAX_FAILURES, "%s", text);
            memory_arm(n);
            enum sf_status status = sf_message_reset(fixture.message);
            bool failed = memory_disarm();
            CHECK(status == (failed ? SF_E_NOMEM : SF_OK), "%s, allocation %zu: %s", text, n,
                  sf_status_name(status));
            sf_message_add(fixture.message, "b", 1, "2", 1);
            sf_message_add(fixture.message, "c", 1, "4", 1);
            sf_message_set_qos(fixture.message, 1);
            enum sf_truth truths[] = {sf_eval(fixture.filter, fixture.message),
                                      sf_eval(always, fixture.message),
                                      sf_eval(filters[i], fixture.message)};
            for (size_t k = 0; k < N_ROWS(truths); k++) {
                CHECK(truths[k] == (failed ? SF_UNKNOWN : SF_TRUE),
                      "%s, allocation %zu, filter %zu: %s", text, n, k,
                      engine_truth_name(truths[k]));
            }
            if (!failed) {
                break;
            }
            n_failures++;
        }
    }
    CHECK(n_failures > 0, "%s", "it never needed memory");
    for (size_t i = 0; i < N; i++) {
        sf_filter_unref(filters[i]);
    }
    sf_filter_unref(always);
    close_fixture("reset");
}

/* Writes nothing to the heap while the allocator may be armed. */
struct fixed_text {
    char text[65536];
    size_t bytes;
};

static void write_fixed(void *user, const char *text, size_t bytes) {
    struct fixed_text *to = user;
    if (bytes < sizeof to->text - to->bytes) {
        memcpy(to->text + to->bytes, text, bytes);
        to->bytes += bytes;
    }
}

static void check_listings(const char *text, const struct sf_filter *filter) {
    static struct fixed_text whole;
    static struct fixed_text part;
    for (size_t n = 0; n <= MAX_FAILURES; n++) {
        part.bytes = 0;
        memory_arm(n);
        enum sf_status status = sf_filter_write_tree(filter, write_fixed, &part);
        bool failed = memory_disarm();
        CHECK(status == (failed ? SF_E_NOMEM : SF_OK), "%s, tree, allocation %zu: %s", text, n,
              sf_status_name(status));
        if (!failed) {
            CHECK(part.bytes > 0, "%s: no tree", text);
            break;
        }
    }
    for (size_t n = 0; n <= MAX_FAILURES; n++) {
        enum sf_truth truth = SF_FALSE;
        part.bytes = 0;
        memory_arm(n);
        enum sf_status status = sf_explain(filter, fixture.message, write_fixed, &part, &truth);
        bool failed = memory_disarm();
        CHECK(status == (failed ? SF_E_NOMEM : SF_OK), "%s, explain, allocation %zu: %s", text, n,
              sf_status_name(status));
        if (!failed) {
            CHECK(truth == sf_eval(filter, fixture.message) && part.bytes > 0, "%s: no reason",
                  text);
            break;
        }
    }
    whole.bytes = 0;
    part.bytes = 0;
    sf_filter_write_program(filter, write_fixed, &whole);
    memory_arm(0);
    sf_filter_write_program(filter, write_fixed, &part);
    memory_disarm();
    CHECK(part.bytes == whole.bytes && memcmp(part.text, whole.text, part.bytes) == 0,
          "%s: the program is another one without memory", text);
}

/* NULL: it is no expression. The message is empty, with room for what the filter reads. */
static struct sf_filter *compile(const char *expression) {
    struct sf_filter *filter = NULL;
    if (sf_compile(fixture.schema, NULL, expression, strlen(expression), &filter, NULL) != SF_OK) {
        return NULL;
    }
    REQUIRE(sf_message_reset(fixture.message) == SF_OK, "%s", "memory");
    return filter;
}

static void test_oom_listings(void) {
    open_fixture();
    for (size_t i = 0; i < N_ROWS(expressions); i++) {
        struct sf_filter *filter = compile(expressions[i]);
        if (filter == NULL) {
            continue;
        }
        sf_message_add(fixture.message, "a", 1, "5", 1);
        check_listings(expressions[i], filter);
        sf_filter_unref(filter);
    }
    close_fixture("listings");
}

/* ---- what may not ---------------------------------------------------------------------------- */

static void test_evaluation_and_binding_never_allocate(void) {
    open_fixture();
    for (size_t i = 0; i < N_ROWS(expressions); i++) {
        struct sf_filter *filter = compile(expressions[i]);
        if (filter == NULL) {
            continue;
        }
        memory_arm(0);
        enum sf_status status = sf_message_reset(fixture.message); /* nothing has grown since */
        for (int k = 0; k < SF_MAX_PROPERTIES + 10; k++) {
            sf_message_add(fixture.message, k % 2 == 0 ? "a" : "unread", k % 2 == 0 ? 1 : 6, "12.5",
                           4);
            sf_eval(filter, fixture.message);
        }
        sf_message_set_topic(fixture.message, "t", 1);
        sf_message_set_content_type(fixture.message, "t", 1);
        sf_message_set_response_topic(fixture.message, "t", 1);
        sf_message_set_qos(fixture.message, 1);
        sf_message_set_retain(fixture.message, true);
        sf_message_set_payload_bytes(fixture.message, 1);
        enum sf_truth truth = sf_eval(filter, fixture.message);
        sf_filter_ref(filter);
        sf_filter_unref(filter);
        memory_disarm();
        CHECK(memory.n_calls == 0 && status == SF_OK && truth == SF_FALSE, "%s: %zu allocations",
              expressions[i], memory.n_calls);
        sf_filter_unref(filter);
    }
    close_fixture("evaluation");
}

static void test_subscription_strings_never_allocate(void) {
    char text[] = "$share/g/a%3Fb/%2B/%23";
    char bad[] = "a%23";
    struct sf_subscription split;
    size_t bytes = 0;
    struct sf_error error = {.text = ""};
    memory_arm(0);
    sf_subscription_split(text, strlen(text), &split);
    enum sf_status fine = sf_topic_decode(text, strlen(text), &bytes, &error);
    enum sf_status refused = sf_topic_decode(bad, strlen(bad), &bytes, &error);
    memory_disarm();
    CHECK(memory.n_calls == 0 && fine == SF_OK && refused == SF_E_TOPIC, "%zu allocations",
          memory.n_calls);
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        TEST(test_oom_schema_new),
        TEST(test_oom_compile),
        TEST(test_oom_compile_of_many),
        TEST(test_oom_compile_of_a_living_filter),
        TEST(test_oom_message_new),
        TEST(test_oom_message_reset),
        TEST(test_oom_listings),
        TEST(test_evaluation_and_binding_never_allocate),
        TEST(test_subscription_strings_never_allocate),
    };
    return run_tests(argc, argv, cases, N_ROWS(cases));
}
