/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The limits of LANGUAGE, limits: each at the limit and one beyond, with the code and the limit named; and input
 * made to exhaust the stack or the time of an engine that has none. What would take too long is not measured here:
 * it would not end before meson's timeout.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rows.h"
#include "runner.h"

/* ---- building long expressions --------------------------------------------------------------- */

struct builder {
    char *text;
    size_t bytes;
    size_t size;
};

static void builder_free(void *user) {
    struct builder *builder = user;
    free(builder->text);
    *builder = (struct builder){NULL, 0, 0};
}

static void add(struct builder *builder, const char *text) {
    size_t bytes = strlen(text);
    if (builder->size - builder->bytes <= bytes) {
        size_t size = 2 * (builder->size + bytes) + 64;
        char *grown = realloc(builder->text, size);
        if (grown == NULL) {
            abort();
        }
        builder->text = grown;
        builder->size = size;
    }
    memcpy(builder->text + builder->bytes, text, bytes + 1);
    builder->bytes += bytes;
}

static void add_times(struct builder *builder, const char *text, size_t times) {
    for (size_t i = 0; i < times; i++) {
        add(builder, text);
    }
}

/* "before", then `times` times "middle", then "behind". */
static void build(struct builder *builder, const char *before, const char *middle, size_t times,
                  const char *behind) {
    builder->bytes = 0;
    add(builder, before);
    add_times(builder, middle, times);
    add(builder, behind);
}

/* ---- checks ---------------------------------------------------------------------------------- */

static const struct ref_message no_message = {.n_properties = 0};

static void check_accepted(const struct sf_options *options, const struct builder *expr,
                           const char *what) {
    struct engine_result result;
    const char *wrong = engine_run(options, expr->text, expr->bytes, &no_message, &result);
    CHECK(wrong == NULL && result.status == SF_OK, "%s: %s: %.80s", what,
          wrong == NULL ? result.error.text : wrong, expr->text);
}

/* Refused with SF_E_LIMIT, and the text names the number. */
static void check_beyond(const struct sf_options *options, const struct builder *expr, size_t limit,
                         const char *what) {
    struct engine_result result;
    const char *wrong = engine_run(options, expr->text, expr->bytes, &no_message, &result);
    CHECK(wrong == NULL && result.status == SF_E_LIMIT, "%s: %s %s: %.80s", what,
          sf_status_name(result.status), wrong == NULL ? "" : wrong, expr->text);
    char number[32];
    snprintf(number, sizeof number, "%zu", limit);
    CHECK(strstr(result.error.text, number) != NULL, "%s: the text does not name %s: %s", what,
          number, result.error.text);
}

/* Much more than the default, for input that must fail for another reason. */
static struct sf_options without_byte_limit(void) {
    struct sf_options options = SF_OPTIONS_INIT;
    options.max_expression_bytes = SIZE_MAX;
    return options;
}

/* ---- bytes ----------------------------------------------------------------------------------- */

static void check_bytes(const struct sf_options *options, size_t limit, const char *before,
                        const char *filler, const char *behind) {
    static struct builder expr = {NULL, 0, 0}; /* test_defer runs when the case is over */
    size_t fixed = strlen(before) + strlen(behind);
    build(&expr, before, filler, limit - fixed, behind);
    check_accepted(options, &expr, before);
    build(&expr, before, filler, limit - fixed + 1, behind);
    check_beyond(options, &expr, limit, before);
    builder_free(&expr);
}

static void test_limit_of_bytes(void) {
    check_bytes(NULL, SF_MAX_EXPRESSION_BYTES, "a=", "x", "");
    check_bytes(NULL, SF_MAX_EXPRESSION_BYTES, "kv:a=", "x", "");
    check_bytes(NULL, SF_MAX_EXPRESSION_BYTES, "a=", "x", "%41");
    check_bytes(NULL, SF_MAX_EXPRESSION_BYTES, "a=1", " ", "");
    check_bytes(NULL, SF_MAX_EXPRESSION_BYTES, "", " ", "a=1");
    check_bytes(NULL, SF_MAX_EXPRESSION_BYTES, "tag:", "x", "");
    check_bytes(NULL, SF_MAX_EXPRESSION_BYTES, " sql:a = '", "x", "'");
    check_bytes(NULL, SF_MAX_EXPRESSION_BYTES, "sql:\"", "x", "\" IS NULL");
    check_bytes(NULL, SF_MAX_EXPRESSION_BYTES, "sql:TRUE /*", " ", "*/");
    check_bytes(NULL, SF_MAX_EXPRESSION_BYTES, "sql:TRUE OR x = '", "%", "%2B'");
    check_bytes(NULL, SF_MAX_EXPRESSION_BYTES, "a=", "%", ""); /* canonical text may be longer */

    struct sf_options options = SF_OPTIONS_INIT;
    options.max_expression_bytes = 12;
    check_bytes(&options, 12, "a=", "x", "");
    check_bytes(&options, 12, "sql:a=", "5", "");
    options.max_expression_bytes = 100000;
    check_bytes(&options, 100000, "a=", "x", "");
    check_bytes(&options, 100000, "sql:a LIKE '%", "x", "%'");
    options.max_expression_bytes = 0;
    static struct builder expr = {NULL, 0, 0};
    build(&expr, "a=1", "", 0, "");
    check_beyond(&options, &expr, 0, "nothing is short enough");
    builder_free(&expr);
}

/* ---- operators ------------------------------------------------------------------------------- */

/* clang-format off */
static const struct {
    const char *unit;
    size_t n_operators;
} units[] = {
    {"a", 0}, {"(((a)))", 0}, {"TRUE", 0}, {"NULL", 0}, {"$retain", 0},
    {"a AND b", 1}, {"a OR b", 1}, {"NOT a", 1}, {"NOT (NOT a)", 2}, {"NOT a AND NOT b OR NOT c", 5},
    {"a = 1", 1}, {"a <> 1", 1}, {"a != 1", 1}, {"a < 1", 1}, {"a <= 1", 1}, {"a > 1", 1}, {"a >= 1", 1},
    {"a = b = TRUE <> FALSE", 3}, {"a = TRUE", 1},
    {"a BETWEEN 1 AND 2", 1}, {"a NOT BETWEEN 1 AND 2", 1}, {"a BETWEEN 1 AND 2 AND b", 2}, {"a BETWEEN -1 AND +2", 3},
    {"a IN (1)", 1}, {"a NOT IN (1)", 1}, {"a IN (-1, +2, - 3, 'x')", 1}, {"NOT a IN (1)", 2}, {"NOT a NOT IN (1)", 2},
    {"a LIKE 'x'", 1}, {"a NOT LIKE 'x'", 1}, {"a LIKE '!%' ESCAPE '!'", 1},
    {"a CONTAINS 'x'", 1}, {"a NOT CONTAINS 'x'", 1}, {"a STARTSWITH 'x'", 1}, {"a NOT STARTSWITH 'x'", 1},
    {"a ENDSWITH 'x'", 1}, {"a NOT ENDSWITH 'x'", 1},
    {"a IS NULL", 1}, {"a IS NOT NULL", 1}, {"a IS NULL IS NOT NULL IS NULL", 3},
    {"a + 1 = 2", 2}, {"a - 1 = 2", 2}, {"a * 1 = 2", 2}, {"a / 1 = 2", 2}, {"a + b - c * d / e = 2", 5},
    {"-a = 2", 2}, {"+a = 2", 2}, {"a = -2", 2}, {"a = +2", 2}, {"a = - - + 2", 4}, {"a - -2 = 2", 3},
    {"a = -9223372036854775808", 2}, {"a = 'AND OR NOT + - * /'", 1}, {"a /* + - * */ = 1", 1}, {"\"AND\" OR \"+\"", 1},
};
/* clang-format on */

static void test_limit_of_operators(void) {
    static struct builder expr = {NULL, 0, 0};
    test_defer(builder_free, &expr);
    for (size_t i = 0; i < N_ROWS(units); i++) {
        build(&expr, "sql:", units[i].unit, 1, "");
        add_times(&expr, " OR t", SF_MAX_OPERATORS - units[i].n_operators);
        check_accepted(NULL, &expr, units[i].unit);
        add(&expr, " OR t");
        check_beyond(NULL, &expr, SF_MAX_OPERATORS, units[i].unit);

        /* the same with the unit at the end */
        build(&expr, "sql:", "t OR ", SF_MAX_OPERATORS - units[i].n_operators, units[i].unit);
        check_accepted(NULL, &expr, units[i].unit);
        build(&expr, "sql:", "t OR ", SF_MAX_OPERATORS - units[i].n_operators + 1, units[i].unit);
        check_beyond(NULL, &expr, SF_MAX_OPERATORS, units[i].unit);
    }
}

static void test_limit_of_clauses_and_tags(void) {
    static const struct {
        const char *before, *middle, *behind;
    } rows[] = {
        {"", "a=1&", "a=1"},  {"", "a>1&", "b<1"},  {"kv:", "a=1&", "b=%26"},
        {"tag:", "a||", "b"}, {"tag:", "*||", "*"}, {"tag:", "%7C||", "a|b"},
    };
    static struct builder expr = {NULL, 0, 0};
    test_defer(builder_free, &expr);
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        build(&expr, rows[i].before, rows[i].middle, SF_MAX_OPERATORS - 1, rows[i].behind);
        check_accepted(NULL, &expr, rows[i].middle);
        build(&expr, rows[i].before, rows[i].middle, SF_MAX_OPERATORS, rows[i].behind);
        check_beyond(NULL, &expr, SF_MAX_OPERATORS, rows[i].middle);
    }
}

static void test_limit_of_operators_with_all_different_names(void) {
    static const struct {
        const char *before, *op, *between;
        size_t n;
    } rows[] = {
        {"", "=", "&", SF_MAX_OPERATORS},
        {"", ">", "&", SF_MAX_OPERATORS},
        {"tag:", ".", "||", SF_MAX_OPERATORS},
        {"sql:", "<", " OR ", SF_MAX_OPERATORS / 2},
    };
    struct sf_options options = without_byte_limit();
    static struct builder expr = {NULL, 0, 0};
    test_defer(builder_free, &expr);
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        build(&expr, rows[i].before, "", 0, "");
        for (size_t k = 0; k < rows[i].n; k++) {
            char part[64];
            snprintf(part, sizeof part, "%skey%zu%s%zu", k == 0 ? "" : rows[i].between, k,
                     rows[i].op, k);
            add(&expr, part);
        }
        check_accepted(&options, &expr, rows[i].op);
    }
}

/* ---- nesting --------------------------------------------------------------------------------- */

/* clang-format off */
static const struct {
    const char *open;  /* one level */
    size_t n_levels;
    const char *inside; /* with `inside_levels` of its own */
    size_t inside_levels;
    const char *close;
    const char *behind;
} nests[] = {
    {"(", 1, "a", 0, ")", ""},
    {"(", 1, "NOT a", 1, ")", ""},
    {"(", 1, "-a = 1", 1, ")", ""},
    {"(", 1, "a = -9223372036854775808", 1, ")", ""},
    {"(", 1, "a IN (1, -2)", 0, ")", ""},
    {"(", 1, "a BETWEEN 1 AND 2", 0, ")", ""},
    {"(", 1, "(a) = (b)", 1, ")", ""},
    {"(", 1, "(NOT a) = (NOT b)", 2, ")", ""},
    {"NOT ", 1, "a", 0, "", ""},
    {"NOT ", 1, "a = 5 AND a", 0, "", ""},
    {"NOT(", 2, "a", 0, ")", ""},
    {"- ", 1, "a", 0, "", " = 1"},
    {"+ ", 1, "a", 0, "", " + -a = 1"},
    {"- + ", 2, "5", 0, "", " = a"},
    {"-(", 2, "a", 0, ")", " = 1"},
    {"(- ", 2, "a", 0, ")", " = 1"},
};
/* clang-format on */

static void build_nest(struct builder *expr, size_t row, size_t levels) {
    expr->bytes = 0;
    size_t n = (levels - nests[row].inside_levels) / nests[row].n_levels;
    size_t odd = (levels - nests[row].inside_levels) % nests[row].n_levels;
    add(expr, "sql:");
    add_times(expr, "(", odd); /* one more level that any expression can have */
    add_times(expr, nests[row].open, n);
    add(expr, nests[row].inside);
    add_times(expr, nests[row].close, n);
    add(expr, nests[row].behind);
    add_times(expr, ")", odd);
}

static void test_limit_of_nesting(void) {
    static struct builder expr = {NULL, 0, 0};
    test_defer(builder_free, &expr);
    for (size_t i = 0; i < N_ROWS(nests); i++) {
        build_nest(&expr, i, SF_MAX_NESTING);
        check_accepted(NULL, &expr, nests[i].open);
        build_nest(&expr, i, SF_MAX_NESTING + 1);
        check_beyond(NULL, &expr, SF_MAX_NESTING, nests[i].open);
    }
}

/* What is complete does not count any more. */
static void test_nesting_side_by_side_is_not_limited(void) {
    static const struct {
        const char *middle, *behind;
    } rows[] = {
        {"(a) AND ", "(a)"}, {"NOT a OR ", "NOT b"},
        {"-a + ", "-a = 1"}, {"(a) OR NOT (b) AND ", "(c)"},
        {"((a)) AND ", "b"},
    };
    static struct builder expr = {NULL, 0, 0};
    test_defer(builder_free, &expr);
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        build(&expr, "sql:", rows[i].middle, 150, rows[i].behind);
        check_accepted(NULL, &expr, rows[i].middle);
    }
    /* twice as deep as can be, one behind the other */
    build_nest(&expr, 0, SF_MAX_NESTING);
    add(&expr, " AND ");
    add_times(&expr, "(", SF_MAX_NESTING);
    add(&expr, "b");
    add_times(&expr, ")", SF_MAX_NESTING);
    check_accepted(NULL, &expr, "twice");
}

static void test_endless_nesting_is_refused(void) {
    static const char *const rows[] = {
        "(",     "NOT ",    "- ",         "+ ",    "NOT(",   "-(",          "((",       "(NOT ",
        "a = (", "a AND (", "a OR NOT (", "1 + (", "1 * -(", "(a = b) = (", "NOT NOT ", "a < (",
    };
    struct sf_options options = without_byte_limit();
    static struct builder expr = {NULL, 0, 0};
    test_defer(builder_free, &expr);
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        build(&expr, "sql:", rows[i], 200000, "");
        check_beyond(&options, &expr, SF_MAX_NESTING, rows[i]);
    }
}

static void test_endless_chains_are_refused(void) {
    static const char *const rows[] = {
        "sql:|a AND ",
        "sql:|a OR ",
        "sql:|TRUE = ",
        "sql:|1 + ",
        "sql:|1 * ",
        "sql:|a - ",
        "sql:|a AND NOT b OR ",
        "sql:a |IS NULL ",
        "sql:|(a) OR ",
        "|a=1&",
        "|a>1&",
        "tag:|a||",
        "sql:|a IN (1) OR ",
    };
    struct sf_options options = without_byte_limit();
    static struct builder expr = {NULL, 0, 0};
    test_defer(builder_free, &expr);
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        char before[16] = {0};
        size_t bytes = strcspn(rows[i], "|");
        memcpy(before, rows[i], bytes);
        build(&expr, before, rows[i] + bytes + 1, 100000, "a=1");
        check_beyond(&options, &expr, SF_MAX_OPERATORS, rows[i]);
    }
    /* no more than one operator or level, and long */
    build(&expr, "sql:a = 'x' ", "/**/ ", 200000, "");
    check_accepted(&options, &expr, "comments");
    build(&expr, "sql:a = '", "''", 200000, "'");
    check_accepted(&options, &expr, "quotes");
    build(&expr, "sql:a = ", "0", 200000, "5");
    check_accepted(&options, &expr, "zeros");
    build(&expr, "sql:a = 0.", "9", 200000, "");
    check_accepted(&options, &expr, "digits");
    build(&expr, "a=", "%25", 200000, "");
    check_accepted(&options, &expr, "escapes");
    build(&expr, "sql:a", "a", 200000, " IS NULL");
    check_accepted(&options, &expr, "a name");
}

/* ---- IN lists -------------------------------------------------------------------------------- */

/* before, then n numbers between `open` and `close` in no order, with commas, then ")". */
static void build_list(struct builder *expr, const char *before, const char *open,
                       const char *close, size_t n) {
    build(expr, before, "", 0, "");
    for (size_t i = 0; i < n; i++) {
        char literal[64];
        snprintf(literal, sizeof literal, "%s%s%zu%s", i == 0 ? "" : ",", open,
                 i % 2 == 0 ? i : n - i, close);
        add(expr, literal);
    }
    add(expr, ")");
}

static void test_limit_of_in_lists(void) {
    static const struct {
        const char *before, *open, *close;
    } rows[] = {
        {"sql:a IN (", "", ""},
        {"sql:a IN (", "'", "'"},
        {"sql:a NOT IN (", "-", ".5"},
        {"sql:$qos IN (", "", ""},
        {"sql:a IN (1) OR a IN (", "'s", "'"}, /* of one list */
    };
    static struct builder expr = {NULL, 0, 0};
    test_defer(builder_free, &expr);
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        build_list(&expr, rows[i].before, rows[i].open, rows[i].close, SF_MAX_LIST);
        check_accepted(NULL, &expr, rows[i].open);
        build_list(&expr, rows[i].before, rows[i].open, rows[i].close, SF_MAX_LIST + 1);
        check_beyond(NULL, &expr, SF_MAX_LIST, rows[i].open);
    }
    build(&expr, "sql:a IN ('x'", ",'x'", SF_MAX_LIST - 1, ")"); /* equal ones count */
    check_accepted(NULL, &expr, "equal");
    build(&expr, "sql:a IN ('x'", ",'x'", SF_MAX_LIST, ")");
    check_beyond(NULL, &expr, SF_MAX_LIST, "equal");
}

static void test_long_in_lists_find_each_literal(void) {
    struct builder strings = {NULL, 0, 0};
    struct builder numbers = {NULL, 0, 0};
    build_list(&strings, "sql:a IN (", "'v", "'", SF_MAX_LIST);
    build_list(&numbers, "sql:a IN (", "", "", SF_MAX_LIST);
    for (int i = -1; i <= SF_MAX_LIST; i++) {
        char value[16];
        snprintf(value, sizeof value, "v%d", i);
        struct ref_property property = {{"a", 1}, {value, strlen(value)}};
        struct ref_message message = {.properties = &property, .n_properties = 1};
        bool is_listed = i >= 0 && i < SF_MAX_LIST && (i % 2 == 0 || i == 255);
        for (int k = 1; k < SF_MAX_LIST; k += 2) {
            is_listed = is_listed || SF_MAX_LIST - k == i;
        }
        rows_check_one(NULL, (struct ref_text){strings.text, strings.bytes}, &message,
                       is_listed ? ROW_TRUE : ROW_FALSE);
        property.value = (struct ref_text){value + 1, strlen(value) - 1};
        rows_check_one(NULL, (struct ref_text){numbers.text, numbers.bytes}, &message,
                       is_listed ? ROW_TRUE : ROW_FALSE);
    }
    builder_free(&strings);
    builder_free(&numbers);
}

/* ---- LIKE patterns --------------------------------------------------------------------------- */

static void test_limit_of_like_patterns(void) {
    static const struct {
        const char *before, *middle;
        size_t n_before; /* characters that count in `before` */
        const char *behind;
        bool limited;
    } rows[] = {
        {"sql:a LIKE '%", "_", 0, "%'", true},
        {"sql:a LIKE '%_", "x", 1, "%'", true},
        {"sql:a LIKE 'x%_", "\xF0\x9F\x99\x82", 1, "%x'", true}, /* characters, not bytes */
        {"sql:a LIKE '%x%_", "''", 1, "%'", true},
        {"sql:a LIKE '%_", "!%", 1, "%' ESCAPE '!'", true},
        {"sql:a LIKE '%x%_", "!!", 1, "%' ESCAPE '!'", true},
        {"sql:a LIKE '%", "x", 0, "%'", false},  /* no _ */
        {"sql:a LIKE '%x_", "x", 2, "'", false}, /* not between two % */
        {"sql:a LIKE '_", "x", 1, "%'", false},
        {"sql:a LIKE '_", "_", 1, "%'", false},
        {"sql:a LIKE '%", "_", 0, "'", false},
        {"sql:a LIKE '_", "_", 1, "'", false},
        {"sql:a LIKE '%!_", "x", 1, "%' ESCAPE '!'", false}, /* an escaped _ is none */
        {"sql:a LIKE '%_%", "x", 0, "%_%'", false},
    };
    static struct builder expr = {NULL, 0, 0};
    test_defer(builder_free, &expr);
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        size_t n = SF_MAX_PATTERN - rows[i].n_before;
        build(&expr, rows[i].before, rows[i].middle, n, rows[i].behind);
        check_accepted(NULL, &expr, rows[i].before);
        build(&expr, rows[i].before, rows[i].middle, n + 1, rows[i].behind);
        if (rows[i].limited) {
            check_beyond(NULL, &expr, SF_MAX_PATTERN, rows[i].before);
            continue;
        }
        check_accepted(NULL, &expr, rows[i].before);
        build(&expr, rows[i].before, rows[i].middle, 300, rows[i].behind);
        check_accepted(NULL, &expr, rows[i].before);
    }
}

/* Evaluate without the reference, which would take its time. */
static void check_value(const char *expr, size_t bytes, const char *value, size_t value_bytes,
                        enum sf_truth expected) {
    struct sf_options options = without_byte_limit();
    struct sf_schema *schema = sf_schema_new();
    struct sf_filter *filter = NULL;
    struct sf_error error = {.text = ""};
    enum sf_status status = sf_compile(schema, &options, expr, bytes, &filter, &error);
    if (CHECK(status == SF_OK, "%.60s: %s", expr, error.text)) {
        struct sf_message *message = sf_message_new(schema);
        struct ref_property property = {{"a", 1}, {value, value_bytes}};
        struct ref_message source = {.properties = &property, .n_properties = 1};
        CHECK(engine_bind(message, &source), "%s", "memory");
        enum sf_truth truth = sf_eval(filter, message);
        CHECK(truth == expected, "%.60s: %s", expr, engine_truth_name(truth));
        sf_message_free(message);
    }
    sf_filter_unref(filter);
    sf_schema_free(schema);
}

static void test_patterns_made_to_blow_up(void) {
    enum { N = 65535 };
    static const struct {
        const char *before, *middle;
        size_t times;
        const char *behind;
        enum sf_truth all_a;  /* for "aaa...a" */
        enum sf_truth then_b; /* for "aaa...ab" */
    } rows[] = {
        {"sql:a LIKE '", "%a", 1500, "b'", SF_FALSE, SF_TRUE},
        {"sql:a LIKE '", "%a", 1500, "%b'", SF_FALSE, SF_TRUE},
        {"sql:a LIKE '", "%a", 1500, "%c%'", SF_FALSE, SF_FALSE},
        {"sql:a LIKE '", "%_", 1500, "'", SF_TRUE, SF_TRUE},
        {"sql:a LIKE '", "%_", 1500, "c'", SF_FALSE, SF_FALSE},
        {"sql:a LIKE '", "%_", 1500, "%c%'", SF_FALSE, SF_FALSE},
        {"sql:a LIKE '", "_%", 1500, "'", SF_TRUE, SF_TRUE},
        {"sql:a LIKE '", "_%", 1500, "c'", SF_FALSE, SF_FALSE},
        {"sql:a LIKE '", "%_a", 1300, "%c'", SF_FALSE, SF_FALSE},
        {"sql:a LIKE '", "%a_", 1300, "%ba'", SF_FALSE, SF_FALSE},
        {"sql:a LIKE '", "%aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa_b", 60,
         "%'", SF_FALSE, SF_FALSE},
        {"sql:a LIKE '", "%_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", 60,
         "%'", SF_FALSE, SF_FALSE},
        {"sql:a LIKE '%_", "a", 62, "b%'", SF_FALSE, SF_TRUE},
        {"sql:a LIKE '%", "a", 4000, "b%'", SF_FALSE, SF_TRUE},
        {"sql:a LIKE '%", "a", 4000, "c%'", SF_FALSE, SF_FALSE},
        {"sql:a LIKE '%", "_", 4000, "'", SF_TRUE, SF_TRUE},
        {"sql:a LIKE '", "_", 4000, "%'", SF_TRUE, SF_TRUE},
        {"sql:a LIKE '", "%", 4000, "'", SF_TRUE, SF_TRUE},
        {"sql:a LIKE '", "%", 4000, "c'", SF_FALSE, SF_FALSE},
        {"sql:a CONTAINS '", "a", 4000, "b'", SF_FALSE, SF_TRUE},
        {"sql:a CONTAINS '", "a", 4000, "c'", SF_FALSE, SF_FALSE},
        {"sql:a CONTAINS 'b", "a", 4000, "'", SF_FALSE, SF_FALSE},
        {"sql:a ENDSWITH 'b", "a", 4000, "'", SF_FALSE, SF_FALSE},
        {"sql:a ENDSWITH '", "a", 4000, "b'", SF_FALSE, SF_TRUE},
        {"sql:a STARTSWITH '", "a", 4000, "'", SF_TRUE, SF_TRUE},
        {"sql:a CONTAINS '", "ab", 2000, "'", SF_FALSE, SF_FALSE},
        {"sql:a CONTAINS '", "aaaaaaaaab", 400, "'", SF_FALSE, SF_FALSE},
        /* a search that starts again at each byte takes 2^30 steps for each of these */
        {"sql:a CONTAINS '", "a", 32768, "c'", SF_FALSE, SF_FALSE},
        {"sql:a CONTAINS 'c", "a", 32768, "'", SF_FALSE, SF_FALSE},
        {"sql:a LIKE '%", "a", 32768, "c%'", SF_FALSE, SF_FALSE},
        {"sql:a LIKE '%c", "a", 32768, "%'", SF_FALSE, SF_FALSE},
        {"sql:a LIKE '%", "a", 16384, "ca%a%'", SF_FALSE, SF_FALSE},
        {"sql:a NOT LIKE '%", "a", 32768, "c%'", SF_TRUE, SF_TRUE},
    };
    char *value = malloc(N + 1);
    static struct builder expr = {NULL, 0, 0};
    REQUIRE(value != NULL, "%s", "memory");
    test_defer(free, value);
    test_defer(builder_free, &expr);
    memset(value, 'a', N + 1);
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        build(&expr, rows[i].before, rows[i].middle, rows[i].times, rows[i].behind);
        value[N - 1] = 'a';
        check_value(expr.text, expr.bytes, value, N, rows[i].all_a);
        value[N - 1] = 'b';
        check_value(expr.text, expr.bytes, value, N, rows[i].then_b);
    }
}

/* One evaluation that starts again at each byte would do in a second what a hundred of these do not in the timeout. */
static void test_many_searches_in_one_filter(void) {
    enum { N = 65535 };
    char *value = malloc(N);
    static struct builder expr = {NULL, 0, 0};
    REQUIRE(value != NULL, "%s", "memory");
    test_defer(free, value);
    test_defer(builder_free, &expr);
    memset(value, 'a', N);
    add(&expr, "sql:a CONTAINS 'b'");
    for (size_t i = 0; i < 200; i++) {
        add(&expr, i % 2 == 0 ? " OR a CONTAINS '" : " OR a LIKE '%");
        add_times(&expr, "a", 20000 + i);
        add(&expr, i % 2 == 0 ? "b'" : "b%'");
    }
    check_value(expr.text, expr.bytes, value, N, SF_FALSE);
}

static void test_patterns_on_long_text_of_wide_characters(void) {
    enum { N = 16383 };
    char *value = malloc(4 * N);
    static struct builder expr = {NULL, 0, 0};
    REQUIRE(value != NULL, "%s", "memory");
    test_defer(free, value);
    test_defer(builder_free, &expr);
    for (size_t i = 0; i < N; i++) {
        memcpy(value + 4 * i, "\xF0\x9F\x99\x82", 4);
    }
    build(&expr, "sql:a LIKE '", "_", N, "'");
    check_value(expr.text, expr.bytes, value, 4 * N, SF_TRUE);
    build(&expr, "sql:a LIKE '", "_", N + 1, "'");
    check_value(expr.text, expr.bytes, value, 4 * N, SF_FALSE);
    build(&expr, "sql:a LIKE '%", "_", N, "'");
    check_value(expr.text, expr.bytes, value, 4 * N, SF_TRUE);
    build(&expr, "sql:a LIKE '", "_", N + 1, "%'");
    check_value(expr.text, expr.bytes, value, 4 * N, SF_FALSE);
    build(&expr, "sql:a LIKE '", "%_", 1000,
          "%\xF0\x9F\x99\x83'"); /* all bytes but the last are those of the value */
    check_value(expr.text, expr.bytes, value, 4 * N, SF_FALSE);
    build(&expr, "sql:a LIKE '%", "\xF0\x9F\x99\x82", 60, "_%'");
    check_value(expr.text, expr.bytes, value, 4 * N, SF_TRUE);
}

/* ---- properties of a message ----------------------------------------------------------------- */

static void test_limit_of_properties(void) {
    static const struct {
        const char *expr;
        enum row_answer at_limit;
    } rows[] = {
        {"tag:*", ROW_TRUE},
        {"sql:TRUE", ROW_TRUE},
        {"sql:b IS NULL", ROW_TRUE},
        {"a=1", ROW_TRUE},
        {"a>0", ROW_TRUE},
        {"last=x", ROW_TRUE},
        {"sql:last = 'x'", ROW_TRUE},
        {"sql:a = 1", ROW_TRUE},
        {"sql:NULL", ROW_UNKNOWN},
        {"sql:b = 1", ROW_UNKNOWN},
        {"sql:NOT a = 1", ROW_FALSE},
        {"b=1", ROW_NO},
    };
    enum { N = 1000 };
    static struct ref_property properties[N];
    static const size_t counts[] = {SF_MAX_PROPERTIES, SF_MAX_PROPERTIES + 1, SF_MAX_PROPERTIES + 2,
                                    N};
    for (size_t k = 0; k < N_ROWS(counts); k++) {
        size_t n = counts[k];
        for (size_t i = 0; i < n; i++) {
            properties[i] = (struct ref_property){{"filler", 6}, {"y", 1}};
        }
        properties[0] = (struct ref_property){{"a", 1}, {"1", 1}};
        properties[n - 1] = (struct ref_property){{"last", 4}, {"x", 1}};
        struct ref_message message = {.properties = properties, .n_properties = n};
        for (size_t i = 0; i < N_ROWS(rows); i++) {
            struct ref_text expr = {rows[i].expr, strlen(rows[i].expr)};
            rows_check_one(NULL, expr, &message,
                           n > SF_MAX_PROPERTIES ? ROW_FALSE : rows[i].at_limit);
        }
    }
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        TEST(test_limit_of_bytes),
        TEST(test_limit_of_operators),
        TEST(test_limit_of_clauses_and_tags),
        TEST(test_limit_of_operators_with_all_different_names),
        TEST(test_limit_of_nesting),
        TEST(test_nesting_side_by_side_is_not_limited),
        TEST(test_endless_nesting_is_refused),
        TEST(test_endless_chains_are_refused),
        TEST(test_limit_of_in_lists),
        TEST(test_long_in_lists_find_each_literal),
        TEST(test_limit_of_like_patterns),
        TEST(test_patterns_made_to_blow_up),
        TEST(test_many_searches_in_one_filter),
        TEST(test_patterns_on_long_text_of_wide_characters),
        TEST(test_limit_of_properties),
    };
    return run_tests(argc, argv, cases, N_ROWS(cases));
}
