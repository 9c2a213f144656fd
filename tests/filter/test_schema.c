/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Schemas: equal filters are one, names and filters leave with their last reference, numbers are used again,
 * canonical text, and the list of properties that a filter reads.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "runner.h"

static struct sf_schema *schema;

static void close_schema(void *user) {
    (void)user;
    CHECK(sf_schema_filters(schema) == 0, "%zu filters are left", sf_schema_filters(schema));
    CHECK(sf_schema_names(schema) == 0, "%zu names are left", sf_schema_names(schema));
    sf_schema_free(schema);
}

static void open_schema(void) {
    schema = sf_schema_new();
    REQUIRE(schema != NULL, "%s", "memory");
    test_defer(close_schema, NULL);
}

/* NULL and a failed check when refused. */
static struct sf_filter *compile_with(const struct sf_options *options, const char *text) {
    struct sf_filter *filter = NULL;
    struct sf_error error = {.text = ""};
    enum sf_status status = sf_compile(schema, options, text, strlen(text), &filter, &error);
    CHECK(status == SF_OK, "%s: %s", text, error.text);
    return filter;
}

static struct sf_filter *compile(const char *text) {
    return compile_with(NULL, text);
}

/* clang-format off */
static void test_equal_filters_are_one(void) {
    static const char *const rows[][2] = {
        {"a=1", "a=1"},
        {"a=1", " kv: a = 1 "},
        {"a=1", "KV:%61=%31"},
        {"a=1&b>=2", "a = 1 & b >= 2"},
        {"a=%26", "a=%26 "},
        {"a=%25", "a=%"},
        {"a=%20x", "a= %20x"},
        {"a%3Db=c", "%61%3db=c"},
        {"tag:A||B", "TAG: A || B"},
        {"tag:A", "tag:%41"},
        {"tag:*", "tag: * "},
        {"sql:a=1", "sql: a = 1"},
        {"sql:a=1", "SQL:/* c */a/**/=\n1 -- c\n"},
        {"sql:a=1", "sql:(a = 1)"},
        {"sql:a=1", "sql:((a) = ((1)))"},
        {"sql:a=1", "sql:\"a\" = 1"},
        {"sql:\"a b\" = 1", "sql: (\"a b\")=1"},
        {"sql:a AND b OR c", "sql:(a and b) oR (c)"},
        {"sql:a AND b OR c", "sql:((\"a\" AND b) OR c)"},
        {"sql:a AND b AND c", "sql:(a AND b) AND c"},
        {"sql:NOT a = 1", "sql:NOT (a = 1)"},
        {"sql:NOT a = 1", "sql:not(a=1)"},
        {"sql:a + b * c = 1", "sql:a + (b * c) = 1"},
        {"sql:a - b - c = 1", "sql:(a - b) - c = 1"},
        {"sql:a = b = TRUE", "sql:(a = b) = TRUE"},
        {"sql:a IS NULL IS NULL", "sql:(a is null) is null"},
        {"sql:a IN ('x','y')", "sql:(a) in ( 'x' , 'y' )"},
        {"sql:a BETWEEN 1 AND 2", "sql:a between (1) and (2)"},
        {"sql:a NOT LIKE 'x%' ESCAPE '!'", "sql:a not like 'x%25' escape '!'"},
        {"sql:a = '#'", "sql:a = '%23'"},
        {"sql:a %2B 1 = 2", "sql:a+1=2"},
        {"sql:-a = 1", "sql:- a = 1"},
        {"sql:-a = 1", "sql:-(a) = 1"},
        {"sql:a = -1", "sql:a = - 1"},
        {"sql:a = -1", "sql:a = -(1)"},
        {"sql:a = -9223372036854775808", "sql:a = (-9223372036854775808)"},
        {"sql:$qos = 1", "sql:$qos=1"},
        {"sql:a = true", "sql:a = TRUE"},
        {"sql:a contains 'x'", "sql:a CONTAINS 'x'"},
    };
    open_schema();
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        struct sf_filter *one = compile(rows[i][0]);
        struct sf_filter *two = compile(rows[i][1]);
        CHECK(one == two, "%s is not %s: %s and %s", rows[i][0], rows[i][1], sf_filter_text(one, NULL),
              sf_filter_text(two, NULL));
        CHECK(sf_schema_filters(schema) == 1, "%s: %zu filters", rows[i][0], sf_schema_filters(schema));
        sf_filter_unref(one);
        sf_filter_unref(two);
    }
}

static void test_different_filters_are_two(void) {
    static const char *const rows[][2] = {
        {"a=1", "a=2"},
        {"a=1", "b=1"},
        {"a=1", "A=1"},
        {"a=1", "a=%201"},
        {"a=1", "a=1.0"},
        {"a=1", "a>1"},
        {"a>1", "a>=1"},
        {"a=1", "sql:a=1"},
        {"a=1", "sql:a='1'"},
        {"tag:A", "TAGS=A"},
        {"tag:*", "tag:%2A"},
        {"tag:*", "sql:TRUE"},
        {"tag:A", "tag:a"},
        {"sql:a = 1", "sql:a = '1'"},
        {"sql:a = 'x'", "sql:a = 'X'"},
        {"sql:a = 'x'", "sql:a = ' x'"},
        {"sql:a", "sql:A"},
        {"sql:a = TRUE", "sql:a = 'TRUE'"},
        {"sql:a", "sql:a = TRUE"},
        {"sql:$topic = 'x'", "sql:\"$topic\" = 'x'"},
        {"sql:a = b", "sql:a = 'b'"},
        {"sql:\"TRUE\"", "sql:TRUE"},
        {"sql:a - (b - c) = 1", "sql:a - b - c = 1"},
        {"sql:(a OR b) AND c", "sql:a OR b AND c"},
        {"sql:NOT (a AND b)", "sql:NOT a AND b"},
        {"sql:(NOT a) = TRUE", "sql:NOT a = TRUE"},
        {"sql:(NOT a) IS NULL", "sql:NOT a IS NULL"},
        {"sql:-a + b = 1", "sql:-(a + b) = 1"},
        {"sql:a LIKE '!%' ESCAPE '!'", "sql:a LIKE '!%'"},
        {"sql:a IN ('1')", "sql:a IN (1)"},
        {"sql:a BETWEEN 1 AND 2", "sql:a NOT BETWEEN 1 AND 2"},
    };
    open_schema();
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        struct sf_filter *one = compile(rows[i][0]);
        struct sf_filter *two = compile(rows[i][1]);
        CHECK(one != two && sf_schema_filters(schema) == 2, "%s is %s", rows[i][0], rows[i][1]);
        CHECK(strcmp(sf_filter_text(one, NULL), sf_filter_text(two, NULL)) != 0, "%s has the text of %s", rows[i][0],
              rows[i][1]);
        CHECK(sf_filter_id(one) != sf_filter_id(two), "%s: id %u", rows[i][0], sf_filter_id(one));
        sf_filter_unref(one);
        sf_filter_unref(two);
    }
}
/* clang-format on */

static void test_options_that_change_the_meaning_separate_filters(void) {
    open_schema();
    struct sf_options options = SF_OPTIONS_INIT;
    struct sf_filter *plain = compile("sql:a = 1");
    struct sf_filter *tags = compile("tag:A");
    options.tag_key = "type";
    struct sf_filter *types = compile_with(&options, "tag:A");
    CHECK(types != tags, "%s", "tag_key");
    CHECK(strcmp(sf_filter_text(types, NULL), sf_filter_text(tags, NULL)) == 0, "%s",
          "canonical text is the same whatever the options");
    CHECK(strcmp(sf_filter_property(types, 0, NULL), "type") == 0, "%s",
          sf_filter_property(types, 0, NULL));
    options = (struct sf_options)SF_OPTIONS_INIT;
    options.strict_integers = true;
    struct sf_filter *strict = compile_with(&options, "sql:a = 1");
    CHECK(strict != plain, "%s", "strict_integers");
    CHECK(strcmp(sf_filter_text(strict, NULL), sf_filter_text(plain, NULL)) == 0, "%s",
          sf_filter_text(strict, NULL));
    struct sf_filter *again = compile_with(&options, "sql:(a = 1)");
    CHECK(strict == again, "%s", "equal options, equal filter");
    /* what does not change the meaning does not separate */
    options = (struct sf_options)SF_OPTIONS_INIT;
    options.max_expression_bytes = 100;
    options.dialects = SF_DIALECT_SQL;
    struct sf_filter *same = compile_with(&options, "sql:a = 1");
    CHECK(same == plain, "%s", "max_expression_bytes and dialects");
    sf_filter_unref(plain);
    sf_filter_unref(tags);
    sf_filter_unref(types);
    sf_filter_unref(strict);
    sf_filter_unref(again);
    sf_filter_unref(same);
}

static void test_references_keep_a_filter(void) {
    open_schema();
    struct sf_filter *filter = compile("sql:a = 1");
    CHECK(sf_filter_ref(filter) == filter, "%s", "ref returns its filter");
    CHECK(compile("sql:a=1") == filter, "%s", "the same");
    for (int i = 0; i < 2; i++) {
        sf_filter_unref(filter);
        CHECK(sf_schema_filters(schema) == 1 && sf_schema_names(schema) == 1, "%d", i);
        CHECK(strcmp(sf_filter_property(filter, 0, NULL), "a") == 0, "%d", i);
    }
    sf_filter_unref(filter);
    CHECK(sf_schema_filters(schema) == 0 && sf_schema_names(schema) == 0, "%s",
          "the last reference");
}

static void test_names_leave_with_the_last_filter_that_reads_them(void) {
    open_schema();
    struct sf_filter *ab = compile("a=1&b=1");
    struct sf_filter *bc = compile("sql:b IS NULL AND c IS NULL AND b = 'x'");
    struct sf_filter *none = compile("sql:$topic = 'x' OR TRUE");
    CHECK(sf_schema_names(schema) == 3, "%zu", sf_schema_names(schema));
    sf_filter_unref(ab);
    CHECK(sf_schema_names(schema) == 2, "%zu", sf_schema_names(schema));
    struct sf_filter *b = compile("b=2");
    CHECK(sf_schema_names(schema) == 2, "%zu", sf_schema_names(schema));
    sf_filter_unref(bc);
    CHECK(sf_schema_names(schema) == 1, "%zu", sf_schema_names(schema));
    sf_filter_unref(b);
    CHECK(sf_schema_names(schema) == 0 && sf_schema_filters(schema) == 1, "%zu",
          sf_schema_names(schema));
    sf_filter_unref(none);
}

static void test_a_refused_filter_leaves_no_trace(void) {
    static const char *const rows[] = {
        "x=1&y=2&z",
        "x>1&y>a",
        "tag:A||B||",
        "sql:x = 1 AND y = 2 AND (z = 3",
        "sql:x = 1 AND y > 'a'",
        "sql:x = y = z",
        "sql:x BETWEEN 2 AND 1",
        "sql:x LIKE 'a!' ESCAPE '!'",
    };
    open_schema();
    struct sf_filter *kept = compile("a=1");
    uint64_t generation = sf_schema_generation(schema);
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        struct sf_filter *filter = kept;
        CHECK(sf_compile(schema, NULL, rows[i], strlen(rows[i]), &filter, NULL) != SF_OK, "%s",
              rows[i]);
        CHECK(filter == NULL, "%s", rows[i]);
        CHECK(sf_schema_names(schema) == 1 && sf_schema_filters(schema) == 1, "%s: %zu names",
              rows[i], sf_schema_names(schema));
        CHECK(sf_schema_generation(schema) == generation, "%s: the generation changed", rows[i]);
    }
    sf_filter_unref(kept);
}

static void test_ids_are_small_and_used_again(void) {
    enum { N = 500 };
    open_schema();
    static struct sf_filter *filters[N];
    bool used[N] = {false};
    char text[32];
    for (int i = 0; i < N; i++) {
        snprintf(text, sizeof text, "a=%d", i);
        filters[i] = compile(text);
        uint32_t id = sf_filter_id(filters[i]);
        CHECK(id <= (uint32_t)i && !used[id % N], "filter %d has id %u", i, id);
        used[id % N] = true;
    }
    for (int round = 0; round < 5; round++) {
        for (int i = round; i < N; i += 3) {
            used[sf_filter_id(filters[i])] = false;
            sf_filter_unref(filters[i]);
        }
        CHECK(sf_schema_filters(schema) < N, "%zu", sf_schema_filters(schema));
        for (int i = round; i < N; i += 3) {
            snprintf(text, sizeof text, "b=%d.%d", round, i);
            filters[i] = compile(text);
            uint32_t id = sf_filter_id(filters[i]);
            CHECK(id < N && !used[id % N], "filter %d has id %u", i, id);
            used[id % N] = true;
        }
    }
    for (int i = 0; i < N; i++) {
        sf_filter_unref(filters[i]);
    }
}

/* Filters come and go in any order; whoever is left is still itself. */
static void test_many_filters_come_and_go(void) {
    enum { N = 300, STEPS = 20000 };
    open_schema();
    static struct sf_filter *filters[N];
    memset(filters, 0, sizeof filters);
    uint64_t state = test_seed();
    char text[64];
    for (int step = 0; step < STEPS; step++) {
        size_t i = test_random(&state) % N;
        snprintf(text, sizeof text,
                 i % 3 == 0   ? "name%zu=%zu"
                 : i % 3 == 1 ? "sql:name%zu = %zu"
                              : "tag:%zu||%zu",
                 i, i / 7);
        if (filters[i] != NULL && test_random(&state) % 2 == 0) {
            sf_filter_unref(filters[i]);
            filters[i] = NULL;
            continue;
        }
        struct sf_filter *filter = compile(text);
        CHECK(filters[i] == NULL || filters[i] == filter, "%s", text);
        if (filters[i] != NULL) {
            sf_filter_unref(filter);
        }
        filters[i] = filter;
    }
    size_t n = 0;
    for (size_t i = 0; i < N; i++) {
        n += filters[i] != NULL ? 1 : 0;
    }
    CHECK(sf_schema_filters(schema) == n, "%zu, not %zu", sf_schema_filters(schema), n);
    for (size_t i = 0; i < N; i++) {
        sf_filter_unref(filters[i]);
    }
}

static void test_schemas_are_apart(void) {
    open_schema();
    struct sf_schema *other = sf_schema_new();
    REQUIRE(other != NULL, "%s", "memory");
    struct sf_filter *here = compile("a=1");
    struct sf_filter *there = NULL;
    CHECK(sf_compile(other, NULL, "a=1", 3, &there, NULL) == SF_OK, "%s", "compile");
    CHECK(here != there, "%s", "one filter in two schemas");
    CHECK(strcmp(sf_filter_text(here, NULL), sf_filter_text(there, NULL)) == 0, "%s",
          sf_filter_text(there, NULL));
    sf_filter_unref(here);
    CHECK(sf_schema_filters(other) == 1, "%zu", sf_schema_filters(other));
    sf_filter_unref(there);
    sf_schema_free(other);
}

/* ---- canonical text and properties ----------------------------------------------------------- */

static void test_canonical_text_has_its_dialect_prefix(void) {
    static const struct {
        const char *text, *prefix;
    } rows[] = {{"a=1", "kv:"},
                {"KV:a=1", "kv:"},
                {"sql: a", "sql:"},
                {"SQL:a", "sql:"},
                {" Tag:a", "tag:"}};
    open_schema();
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        struct sf_filter *filter = compile(rows[i].text);
        CHECK(strncmp(sf_filter_text(filter, NULL), rows[i].prefix, strlen(rows[i].prefix)) == 0,
              "%s: %s", rows[i].text, sf_filter_text(filter, NULL));
        sf_filter_unref(filter);
    }
}

/* Whatever must be quoted or escaped in some dialect, alone and in context. */
static void test_canonical_text_keeps_odd_characters(void) {
    static const char *const pieces[] = {
        " ",
        "  ",
        "\t",
        "\n",
        "\r",
        "\v",
        "\f",
        "&",
        "=",
        "<",
        ">",
        "|",
        "||",
        "!",
        "%25",
        "%2525",
        "%2541",
        "'",
        "\"",
        "\\",
        "/*",
        "--",
        "*",
        "%3F",
        "%23",
        "%2B",
        "+",
        "#",
        "?",
        "$",
        ".",
        "-",
        "(",
        ")",
        ",",
        ";",
        ":",
        "sql:",
        "tag:",
        "kv:",
        "\x01",
        "\x7F",
        "\xC2\x80",
        "\xC2\xA0",
        "\xE2\x80\x93",
        "\xEF\xBB\xBF",
        "\xF0\x9F\x99\x82",
        "a",
        "A",
        "5",
        "AND",
        "null",
        "%25x",
        "%2",
        "%25%32%33",
        "%25%32%35",
    };
    struct sf_options options = SF_OPTIONS_INIT;
    open_schema();
    for (size_t i = 0; i < N_ROWS(pieces); i++) {
        for (size_t k = 0; k < N_ROWS(pieces); k++) {
            char escaped[128];
            char quoted[128];
            size_t n = 0;
            size_t m = 0;
            char raw[64];
            snprintf(raw, sizeof raw, "%s%s", pieces[i], pieces[k]);
            for (const char *c = raw; *c != '\0'; c++) {
                bool escape = *c == '%' || strchr("&=<>|!", *c) != NULL ||
                              ref_is_utf8(c, 1) == false || *c == ' ' || (*c >= '\t' && *c <= '\r');
                n += (size_t)snprintf(escaped + n, sizeof escaped - n, escape ? "%%%02X" : "%c",
                                      (unsigned)(unsigned char)*c);
                m += (size_t)snprintf(quoted + m, sizeof quoted - m,
                                      *c == '\'' || *c == '"' ? "%c%c" : "%c", *c, *c);
            }
            char texts[5][320];
            snprintf(texts[0], sizeof texts[0], "kv:%s=%s", escaped, escaped);
            snprintf(texts[1], sizeof texts[1], "tag:%s||%%20%s", escaped, escaped);
            snprintf(texts[2], sizeof texts[2], "sql:\"x%s\" = 'y'", quoted);
            snprintf(texts[3], sizeof texts[3], "sql:a LIKE '%s'", quoted);
            snprintf(texts[4], sizeof texts[4], "sql:a IN ('%s', '')", quoted);
            for (size_t t = 0; t < N_ROWS(texts); t++) {
                struct sf_filter *filter = NULL;
                /* in a string or name a quote of the other kind was doubled: two of it, which is as good */
                if (sf_compile(schema, &options, texts[t], strlen(texts[t]), &filter, NULL) !=
                    SF_OK) {
                    CHECK(false, "%s is refused", texts[t]);
                    continue;
                }
                const char *wrong = engine_check_canonical(schema, &options, filter);
                CHECK(wrong == NULL, "%s: %s", texts[t], wrong);
                sf_filter_unref(filter);
            }
        }
    }
}

static void test_properties_in_order_of_first_appearance(void) {
    static const struct {
        const char *text;
        const char *names[8];
    } rows[] = {
        {"a=1", {"a"}},
        {"b=1&a=1&b>2&c<1", {"b", "a", "c"}},
        {"%20a%3D=1", {" a="}},
        {"tag:A||B", {"TAGS"}},
        {"sql:b = 1 OR a = 2 OR b = c", {"b", "a", "c"}},
        {"sql:NOT (z + 1 > \"d e\" AND a LIKE 'x') OR \"a\" IS NULL", {"z", "d e", "a"}},
        {"sql:c BETWEEN b AND a", {"c", "b", "a"}},
        {"sql:x IN (1) = y", {"x", "y"}},
        {"sql:\"$topic\" = $topic", {"$topic"}},
        {"sql:$topic = 'a' AND $qos = 1 AND $retain", {NULL}},
        {"sql:TRUE", {NULL}},
        {"sql:NULL IS NULL", {NULL}},
        {"sql:\xE6\xB8\xA9 = 1", {"\xE6\xB8\xA9"}},
    };
    open_schema();
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        struct sf_filter *filter = compile(rows[i].text);
        size_t n = 0;
        while (rows[i].names[n] != NULL) {
            size_t bytes = 0;
            const char *name = sf_filter_property(filter, n, &bytes);
            CHECK(name != NULL && strcmp(name, rows[i].names[n]) == 0 &&
                      bytes == strlen(rows[i].names[n]),
                  "%s: name %zu is %s", rows[i].text, n, name != NULL ? name : "none");
            n++;
        }
        CHECK(sf_filter_property(filter, n, NULL) == NULL, "%s: one more", rows[i].text);
        CHECK(sf_schema_names(schema) == n, "%s: %zu names", rows[i].text, sf_schema_names(schema));
        sf_filter_unref(filter);
    }
}

static void test_dialects_can_be_switched_off(void) {
    static const struct {
        const char *text;
        enum sf_dialect dialect;
    } rows[] = {{"a=1", SF_DIALECT_KV},
                {"kv:a=1", SF_DIALECT_KV},
                {"sql:a = 1", SF_DIALECT_SQL},
                {"TAG:A", SF_DIALECT_TAG}};
    open_schema();
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        for (unsigned dialects = 0; dialects <= SF_DIALECT_ALL; dialects++) {
            struct sf_options options = SF_OPTIONS_INIT;
            options.dialects = dialects;
            struct sf_filter *filter = NULL;
            enum sf_status status =
                sf_compile(schema, &options, rows[i].text, strlen(rows[i].text), &filter, NULL);
            bool allowed = (dialects & (unsigned)rows[i].dialect) != 0;
            CHECK(status == (allowed ? SF_OK : SF_E_DIALECT), "%s with %u: %s", rows[i].text,
                  dialects, sf_status_name(status));
            CHECK(!allowed || sf_filter_dialect(filter) == rows[i].dialect, "%s", rows[i].text);
            sf_filter_unref(filter);
        }
    }
}

/* Memory of a filter is bounded by what it holds. */
static void test_filter_bytes_are_stated(void) {
    open_schema();
    struct sf_filter *small = compile("a=1");
    char text[2048];
    memset(text, 'x', sizeof text);
    memcpy(text, "a=", 2);
    text[sizeof text - 1] = '\0';
    struct sf_filter *big = compile(text);
    CHECK(sf_filter_bytes(small) > 0 && sf_filter_bytes(small) < 1024, "%zu",
          sf_filter_bytes(small));
    CHECK(sf_filter_bytes(big) > sf_filter_bytes(small) + 2000, "%zu", sf_filter_bytes(big));
    sf_filter_unref(small);
    sf_filter_unref(big);
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        TEST(test_equal_filters_are_one),
        TEST(test_different_filters_are_two),
        TEST(test_options_that_change_the_meaning_separate_filters),
        TEST(test_references_keep_a_filter),
        TEST(test_names_leave_with_the_last_filter_that_reads_them),
        TEST(test_a_refused_filter_leaves_no_trace),
        TEST(test_ids_are_small_and_used_again),
        TEST(test_many_filters_come_and_go),
        TEST(test_schemas_are_apart),
        TEST(test_canonical_text_has_its_dialect_prefix),
        TEST(test_canonical_text_keeps_odd_characters),
        TEST(test_properties_in_order_of_first_appearance),
        TEST(test_dialects_can_be_switched_off),
        TEST(test_filter_bytes_are_stated),
    };
    return run_tests(argc, argv, cases, N_ROWS(cases));
}
