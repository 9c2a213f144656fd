/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How long the engine takes for the rows of docs/performance.md: evaluating, binding a message, compiling.
 *
 * The workload is 256 different messages and eight different filters in one schema. Values are texts of different
 * lengths, as publishers write them; each filter matches some of the messages and fails in others, at different
 * conditions (the table shows the share that matches; a filter that matches none or all of them is an error).
 *
 * Evaluating. All messages are bound beforehand. A round gives each filter in turn a block of 32 consecutive messages,
 * then the next 32, and so on; the clock is read between blocks and the time goes to the block's filter. So the filters
 * take turns often enough that neither caches nor branch predictors can settle on one of them, and yet each has its
 * own figure: a block counts with its median over the rounds, so that what else the machine does is left out, and
 * a filter with the mean of its blocks. One reading of the clock, measured first, is taken off per block; the loop and
 * the call stay in: the row `empty call` is the same loop around a function that does nothing. A value that is compared
 * as a number is converted once per message, before measuring.
 *
 * The row `mixed` shows how much blocks flatter: there both filter and message change at each evaluation, and its
 * figure is to be compared with the mean of the eight filters, printed below the table.
 *
 * Binding is sf_message_reset and sf_message_add for five User Properties that filters read, rotating over the
 * messages. Compiling is sf_compile and sf_filter_unref, in a schema where other filters read the same names. They too
 * count with medians over the rounds.
 *
 * All of this is repeated; shown are median, least and greatest of the repetitions.
 */
#include "subfilter.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    N_MESSAGES = 256,
    N_BLOCK = 32, /* messages that one filter sees in a row */
    N_BLOCKS = N_MESSAGES / N_BLOCK,
    N_FILTERS = 8,
    N_COMPILED = 2,
    N_BOUND = 5, /* properties of the messages of bind/5 */
    N_ROWS = N_FILTERS + 3 + N_COMPILED,
    MAX_REPETITIONS = 41,
    N_ROUNDS = 201, /* of a repetition */
    MAX_PROPERTIES = 16,
    VALUE_BYTES = 32,
};

/* One line of the result. `reach_ns` is the goal of docs/performance.md, 0 when there is none. */
struct row {
    const char *name;
    const char *expression;
    double reach_ns;
    double ns[MAX_REPETITIONS];
    size_t n_matches;
};

static struct row rows[N_ROWS] = {
    {.name = "region = 'BEIJING'", .expression = "sql:region = 'BEIJING'", .reach_ns = 3},
    {.name = "amount > 100 AND region = 'BEIJING'",
     .expression = "sql:amount > 100 AND region = 'BEIJING'",
     .reach_ns = 6},
    {.name = "(amount > 100 AND region = 'BEIJING') OR orderId = 'VIP001'",
     .expression = "sql:(amount > 100 AND region = 'BEIJING') OR orderId = 'VIP001'",
     .reach_ns = 8},
    {.name = "region IN ('HANGZHOU','SHANGHAI','BEIJING')",
     .expression = "sql:region IN ('HANGZHOU','SHANGHAI','BEIJING')",
     .reach_ns = 5},
    {.name = "amount BETWEEN 100 AND 200",
     .expression = "sql:amount BETWEEN 100 AND 200",
     .reach_ns = 5},
    {.name = "eight-term mix",
     .expression = "sql:(region = 'BEIJING' OR region IN ('HANGZHOU','SHANGHAI')) AND amount > 20"
                   " AND weight < 80 AND quantity BETWEEN 1 AND 20"
                   " AND (orderId STARTSWITH 'VIP' OR channel = 'web' OR priority > 6)",
     .reach_ns = 25},
    {.name = "location=roomA&value>25", .expression = "location=roomA&value>25", .reach_ns = 5},
    {.name = "eight-clause conjunction",
     .expression = "unit=celsius&site=plant-7&firmware=2.4.1&tenant=acme"
                   "&value>10&value<40&humidity>=20&battery<=95.5",
     .reach_ns = 20},
    {.name = "mixed"},
    {.name = "empty call"},
    {.name = "bind/5", .reach_ns = 300},
    {.name = "compile/amount > 100 AND region = 'BEIJING'",
     .expression = "sql:amount > 100 AND region = 'BEIJING'",
     .reach_ns = 1000},
    {.name = "compile/location=roomA&value>25",
     .expression = "location=roomA&value>25",
     .reach_ns = 1000},
};

enum { ROW_MIXED = N_FILTERS, ROW_EMPTY, ROW_BIND, ROW_COMPILE };

/* ---- the messages ---- */

/* What publishers put under a name: the first text in `usual_percent` of the messages, else one of the others; or a
 * number from low to high. The first N_BOUND fields are those that bind/5 adds. */
struct field {
    const char *name;
    unsigned usual_percent;
    const char *texts[6];
    int low;
    int high;
};

static const struct field fields[] = {
    {"region",
     45,
     {"BEIJING", "HANGZHOU", "SHANGHAI", "SHENZHEN", "GUANGZHOU-NORTH", "XIAN"},
     0,
     0},
    {"amount", 0, {NULL}, 0, 250},
    {"orderId",
     20,
     {"VIP001", "VIP002-rush", "2024-0000-1187", "10045", "web-77120-a", "VIP0010"},
     0,
     0},
    {"location", 60, {"roomA", "roomB", "hall", "roomA-annex", "basement/2", "roof"}, 0, 0},
    {"value", 0, {NULL}, 5, 45},
    {"unit", 92, {"celsius", "fahrenheit", "kelvin", "Celsius", "C", "celsiu5"}, 0, 0},
    {"site", 92, {"plant-7", "plant-70", "plant-8", "office", "plant 7", "lab"}, 0, 0},
    {"firmware", 90, {"2.4.1", "2.4.0", "2.4.1-rc2", "1.9", "2.5.0", "unknown"}, 0, 0},
    {"tenant", 90, {"acme", "globex", "initech", "umbrella", "acme-test", "hooli"}, 0, 0},
    {"humidity", 0, {NULL}, 15, 90},
    {"battery", 0, {NULL}, 30, 100},
    {"weight", 0, {NULL}, 1, 90},
    {"quantity", 0, {NULL}, 1, 24},
    {"channel", 40, {"web", "app", "partner-api", "shop", "phone", "web-mobile"}, 0, 0},
    {"priority", 0, {NULL}, 0, 9},
};

#define N_FIELDS (sizeof fields / sizeof fields[0])
_Static_assert(N_FIELDS < MAX_PROPERTIES, "one more is for a name that no filter reads");

struct property {
    const char *name;
    char value[VALUE_BYTES];
    size_t name_bytes;
    size_t value_bytes;
};

struct source {
    struct property properties[MAX_PROPERTIES];
    size_t n_properties;
};

/* A fixed sequence: each run sees the same messages. (xorshift64, with the usual triple of shifts.) */
static unsigned random_below(unsigned bound) {
    static uint64_t state = UINT64_C(0x9e3779b97f4a7c15);
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (unsigned)((state >> 32) % bound);
}

__attribute__((format(printf, 3, 4))) static void
set_property(struct property *property, const char *name, const char *format, ...) {
    property->name = name;
    property->name_bytes = strlen(name);
    va_list arguments;
    va_start(arguments, format);
    int bytes = vsnprintf(property->value, sizeof property->value, format, arguments);
    va_end(arguments);
    property->value_bytes = bytes < 0 ? 0 : (size_t)bytes;
}

static void make_value(struct property *property, const struct field *field) {
    if (field->texts[0]) {
        bool usual = random_below(100) < field->usual_percent;
        set_property(property, field->name, "%s", field->texts[usual ? 0 : 1 + random_below(5)]);
        return;
    }
    int whole = field->low + (int)random_below((unsigned)(field->high - field->low));
    switch (random_below(10)) {
    case 0:
        set_property(property, field->name, "%d.%03u", whole, random_below(1000));
        break;
    case 1:
        set_property(property, field->name, "%de0", whole);
        break;
    case 2:
    case 3:
    case 4:
        set_property(property, field->name, "%d.%u", whole, random_below(10));
        break;
    default:
        set_property(property, field->name, "%d", whole);
        break;
    }
    if (random_below(50) == 0) {
        set_property(property, field->name, "n/a");
    }
}

/* `n_fields` of the fields, in an order that differs from message to message, one in twenty left out; `all`: none
 * left out. */
static void make_source(struct source *source, size_t n_fields, bool all) {
    source->n_properties = 0;
    for (size_t i = 0; i < n_fields; i++) {
        if (all || random_below(20) != 0) {
            make_value(&source->properties[source->n_properties++], &fields[i]);
        }
    }
    if (!all) {
        set_property(&source->properties[source->n_properties++], "traceId", "%08x-%04x",
                     random_below(1u << 31), random_below(1u << 16));
    }
    for (size_t i = source->n_properties; i > 1; i--) {
        size_t other = random_below((unsigned)i);
        struct property swapped = source->properties[i - 1];
        source->properties[i - 1] = source->properties[other];
        source->properties[other] = swapped;
    }
}

static enum sf_status bind_source(struct sf_message *message, const struct source *source) {
    enum sf_status status = sf_message_reset(message);
    for (size_t i = 0; i < source->n_properties; i++) {
        const struct property *p = &source->properties[i];
        sf_message_add(message, p->name, p->name_bytes, p->value, p->value_bytes);
    }
    return status;
}

/* ---- the workload ---- */

struct workload {
    struct sf_schema *schema;
    struct sf_filter *filters[N_FILTERS];
    struct sf_message *messages[N_MESSAGES];
    struct sf_message *rebound; /* bind/5 binds this one again and again */
    struct sf_schema *compile_schema;
    struct sf_filter *neighbours[N_COMPILED]; /* other filters over the names that are compiled */
    struct source sources[N_MESSAGES];
    struct source bound[N_MESSAGES];
    double clock_ns; /* one reading of the clock */
};

static struct workload workload;

/* What was computed must not be optimised away. */
static volatile unsigned sink;

static uint64_t now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* The least of several means: what the clock costs when nothing disturbs it, so never too much is taken off. */
static double clock_reading_ns(void) {
    double least = 1e9;
    for (int i = 0; i < 32; i++) {
        uint64_t start = now_ns();
        uint64_t end = start;
        for (int j = 0; j < 1000; j++) {
            end = now_ns();
        }
        double mean = (double)(end - start) / 1000;
        least = mean < least ? mean : least;
    }
    return least;
}

static bool compile_into(struct sf_schema *schema, const char *expression,
                         struct sf_filter **filter_out) {
    struct sf_error error;
    if (sf_compile(schema, NULL, expression, strlen(expression), filter_out, &error) != SF_OK) {
        fprintf(stderr, "engine: %s: %s at %zu: %s\n", expression, sf_status_name(error.code),
                error.offset, error.text);
        return false;
    }
    return true;
}

static bool prepare_filters(struct workload *w) {
    static const char *const neighbours[N_COMPILED] = {"sql:amount < 7 OR region = 'LONDON'",
                                                       "location=x&value<3"};
    w->schema = sf_schema_new();
    w->compile_schema = sf_schema_new();
    bool ok = w->schema && w->compile_schema;
    for (size_t i = 0; ok && i < N_FILTERS; i++) {
        ok = compile_into(w->schema, rows[i].expression, &w->filters[i]);
    }
    for (size_t i = 0; ok && i < N_COMPILED; i++) {
        ok = compile_into(w->compile_schema, neighbours[i], &w->neighbours[i]);
    }
    return ok;
}

static bool prepare_messages(struct workload *w) {
    w->rebound = sf_message_new(w->schema);
    bool ok = w->rebound != NULL;
    for (size_t i = 0; ok && i < N_MESSAGES; i++) {
        make_source(&w->sources[i], N_FIELDS, false);
        make_source(&w->bound[i], N_BOUND, true);
        w->messages[i] = sf_message_new(w->schema);
        ok = w->messages[i] && bind_source(w->messages[i], &w->sources[i]) == SF_OK;
    }
    if (!ok) {
        fputs("engine: out of memory\n", stderr);
    }
    return ok;
}

/* Also the unmeasured first round, after which all numbers are converted. */
static bool count_matches(struct workload *w) {
    bool ok = true;
    for (size_t i = 0; i < N_FILTERS; i++) {
        for (size_t j = 0; j < N_MESSAGES; j++) {
            rows[i].n_matches += sf_eval(w->filters[i], w->messages[j]) == SF_TRUE;
        }
        if (rows[i].n_matches == 0 || rows[i].n_matches == N_MESSAGES) {
            fprintf(stderr, "engine: %s: matches %zu of %d messages\n", rows[i].name,
                    rows[i].n_matches, N_MESSAGES);
            ok = false;
        }
    }
    return ok;
}

static void release(struct workload *w) {
    for (size_t i = 0; i < N_MESSAGES; i++) {
        sf_message_free(w->messages[i]);
    }
    sf_message_free(w->rebound);
    for (size_t i = 0; i < N_FILTERS; i++) {
        sf_filter_unref(w->filters[i]);
    }
    for (size_t i = 0; i < N_COMPILED; i++) {
        sf_filter_unref(w->neighbours[i]);
    }
    sf_schema_free(w->schema);
    sf_schema_free(w->compile_schema);
}

/* ---- measuring ---- */

/* Durations of the same piece of work, once per round. */
struct samples {
    uint64_t ns[N_ROUNDS];
};

static int compare_durations(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* What the work takes when it is not interrupted: on a busy machine a mean would tell of the other processes. */
static double median_of(struct samples *samples, size_t n_rounds) {
    qsort(samples->ns, n_rounds, sizeof samples->ns[0], compare_durations);
    return (double)samples->ns[n_rounds / 2];
}

static void measure_filters(struct workload *w, size_t repetition, size_t n_rounds) {
    static struct samples samples[N_FILTERS][N_BLOCKS];
    unsigned matches = 0;
    uint64_t start = now_ns();
    for (size_t round = 0; round < n_rounds; round++) {
        for (size_t block = 0; block < N_BLOCKS; block++) {
            for (size_t turn = 0; turn < N_FILTERS; turn++) {
                /* Another one begins in each block: the first one to see a message fetches it from farther away. */
                size_t i = (turn + block) % N_FILTERS;
                const struct sf_filter *filter = w->filters[i];
                for (size_t j = block * N_BLOCK; j < (block + 1) * N_BLOCK; j++) {
                    matches += (unsigned)sf_eval(filter, w->messages[j]);
                }
                uint64_t end = now_ns();
                samples[i][block].ns[round] = end - start;
                start = end;
            }
        }
    }
    sink += matches;
    for (size_t i = 0; i < N_FILTERS; i++) {
        double spent = 0;
        for (size_t block = 0; block < N_BLOCKS; block++) {
            spent += median_of(&samples[i][block], n_rounds) - w->clock_ns;
        }
        rows[i].ns[repetition] = spent / N_MESSAGES;
    }
}

static void measure_mixed(struct workload *w, size_t repetition, size_t n_rounds) {
    struct samples samples;
    unsigned matches = 0;
    for (size_t round = 0; round < n_rounds; round++) {
        uint64_t start = now_ns();
        for (size_t j = 0; j < N_MESSAGES; j++) {
            for (size_t i = 0; i < N_FILTERS; i++) {
                matches += (unsigned)sf_eval(w->filters[i], w->messages[(j + i * 37) % N_MESSAGES]);
            }
        }
        samples.ns[round] = now_ns() - start;
    }
    sink += matches;
    rows[ROW_MIXED].ns[repetition] = median_of(&samples, n_rounds) / (N_MESSAGES * N_FILTERS);
}

/* Not inlined and not known to be empty, as far as the compiler can tell. */
__attribute__((noinline)) static enum sf_truth empty_call(const struct sf_filter *filter,
                                                          struct sf_message *message) {
    __asm__ volatile("" : : "r"(filter), "r"(message) : "memory");
    return SF_TRUE;
}

static void measure_empty_call(struct workload *w, size_t repetition, size_t n_rounds) {
    struct samples samples;
    unsigned matches = 0;
    for (size_t round = 0; round < n_rounds; round++) {
        uint64_t start = now_ns();
        for (size_t j = 0; j < N_MESSAGES; j++) {
            matches += (unsigned)empty_call(w->filters[0], w->messages[j]);
        }
        samples.ns[round] = now_ns() - start;
    }
    sink += matches;
    rows[ROW_EMPTY].ns[repetition] = median_of(&samples, n_rounds) / N_MESSAGES;
}

static bool measure_bind(struct workload *w, size_t repetition, size_t n_rounds) {
    struct samples samples;
    bool ok = true;
    for (size_t round = 0; round < n_rounds; round++) {
        uint64_t start = now_ns();
        for (size_t j = 0; j < N_MESSAGES; j++) {
            ok &= bind_source(w->rebound, &w->bound[j]) == SF_OK;
        }
        samples.ns[round] = now_ns() - start;
    }
    rows[ROW_BIND].ns[repetition] = median_of(&samples, n_rounds) / N_MESSAGES;
    return ok;
}

static bool measure_compile(struct workload *w, size_t repetition, size_t n_rounds) {
    static struct samples samples[N_COMPILED];
    bool ok = true;
    for (size_t round = 0; round < n_rounds; round++) {
        for (size_t i = 0; i < N_COMPILED; i++) {
            const char *text = rows[ROW_COMPILE + i].expression;
            size_t bytes = strlen(text);
            uint64_t start = now_ns();
            for (size_t j = 0; j < N_BLOCK; j++) {
                struct sf_filter *filter;
                ok &= sf_compile(w->compile_schema, NULL, text, bytes, &filter, NULL) == SF_OK;
                sf_filter_unref(filter);
            }
            samples[i].ns[round] = now_ns() - start;
        }
    }
    for (size_t i = 0; i < N_COMPILED; i++) {
        rows[ROW_COMPILE + i].ns[repetition] = median_of(&samples[i], n_rounds) / N_BLOCK;
    }
    return ok;
}

static bool measure(struct workload *w, size_t n_repetitions, size_t n_rounds) {
    w->clock_ns = clock_reading_ns();
    bool ok = true;
    for (size_t i = 0; ok && i < n_repetitions; i++) {
        measure_filters(w, i, n_rounds);
        measure_mixed(w, i, n_rounds);
        measure_empty_call(w, i, n_rounds);
        ok = measure_bind(w, i, n_rounds) && measure_compile(w, i, n_rounds);
    }
    if (!ok) {
        fputs("engine: out of memory\n", stderr);
    }
    return ok;
}

/* ---- printing ---- */

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* After this ns[0] is the least and ns[n - 1] the greatest. */
static double sort_and_take_median(struct row *row, size_t n_repetitions) {
    qsort(row->ns, n_repetitions, sizeof row->ns[0], compare_doubles);
    return row->ns[n_repetitions / 2];
}

/* No name holds a character that JSON escapes. */
static void print_json(size_t n_repetitions) {
    for (size_t i = 0; i < N_ROWS; i++) {
        double median = sort_and_take_median(&rows[i], n_repetitions);
        printf("%s{\"name\": \"%s\", \"ns\": %.2f, \"min\": %.2f, \"max\": %.2f}%s\n",
               i == 0 ? "[" : " ", rows[i].name, median, rows[i].ns[0],
               rows[i].ns[n_repetitions - 1], i + 1 < N_ROWS ? "," : "]");
    }
}

static void print_table(size_t n_repetitions) {
    double mean = 0;
    printf("%-60s %9s %9s %9s %9s %8s\n", "", "median ns", "min", "max", "goal", "match");
    for (size_t i = 0; i < N_ROWS; i++) {
        double median = sort_and_take_median(&rows[i], n_repetitions);
        printf("%-60s %9.2f %9.2f %9.2f", rows[i].name, median, rows[i].ns[0],
               rows[i].ns[n_repetitions - 1]);
        if (rows[i].reach_ns > 0) {
            printf(" %9.0f", rows[i].reach_ns);
        }
        if (i < N_FILTERS) {
            printf(" %6.0f %%", 100.0 * (double)rows[i].n_matches / N_MESSAGES);
            mean += median / N_FILTERS;
        }
        putchar('\n');
    }
    printf(
        "mean of the %d filters %.2f ns, to be compared with `mixed`; median of %zu repetitions\n",
        N_FILTERS, mean, n_repetitions);
}

/* A fixed workload, without a clock, for callgrind (see budget.py): every filter on every message, again and again. */
static void count_evaluations(struct workload *w) {
    enum { N_TURNS = 20 };
    unsigned matches = 0;
    for (size_t turn = 0; turn < N_TURNS; turn++) {
        for (size_t i = 0; i < N_FILTERS; i++) {
            for (size_t j = 0; j < N_MESSAGES; j++) {
                matches += (unsigned)sf_eval(w->filters[i], w->messages[j]);
            }
        }
    }
    sink += matches;
    printf("%d evaluations\n",
           (N_TURNS + 1) * N_FILTERS * N_MESSAGES); /* count_matches is one turn more */
}

static const char usage[] =
    "usage: engine [--json] [--smoke] [--count]\n"
    "  --json   print a list of {\"name\", \"ns\" (median), \"min\", \"max\"}\n"
    "  --smoke  a short run, to see that everything works; its figures mean little\n"
    "  --count  no measurement, only a fixed number of evaluations, for callgrind\n";

int main(int argc, char **argv) {
    static const struct option options[] = {
        {"json", no_argument, NULL, 'j'},
        {"smoke", no_argument, NULL, 's'},
        {"count", no_argument, NULL, 'c'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    size_t n_repetitions = MAX_REPETITIONS;
    size_t n_rounds = N_ROUNDS;
    bool json = false;
    bool count = false;
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        switch (option) {
        case 'j':
            json = true;
            break;
        case 's':
            n_repetitions = 3;
            n_rounds = 2;
            break;
        case 'c':
            count = true;
            break;
        case 'h':
            fputs(usage, stdout);
            return EXIT_SUCCESS;
        default:
            fputs(usage, stderr);
            return EXIT_FAILURE;
        }
    }
    bool ok = prepare_filters(&workload) && prepare_messages(&workload) && count_matches(&workload);
    if (ok && count) {
        count_evaluations(&workload);
    } else if (ok) {
        ok = measure(&workload, n_repetitions, n_rounds);
    }
    if (ok && !count) {
        (json ? print_json : print_table)(n_repetitions);
        ok = fflush(stdout) == 0;
    }
    release(&workload);
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
