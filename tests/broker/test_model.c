/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The model test: random clients do random things to a real broker, and after each step every client must have received
 * exactly what the model (model.h) says.
 *
 *     SF_SEED=<seed>   repeat one run; name its case as well: test_broker_model sqlite
 *     SF_STEPS=<n>     that many steps in each run
 *     SF_RUNS=<n>      that many runs in each case
 *     SF_SKIP=<list>   leave steps out: 3,10-15
 *     SF_SHRINK=1      after a failure, look for steps that can be left out, and print what remains
 *     SF_LOG=1         let the broker log everything; it is printed after a failure
 *
 * What a step does depends on its number, the seed and the state it finds, never on how many random numbers the steps
 * before it have used: so steps can be left out and the others stay what they were.
 */
#include "model_run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct run run;

/* ---- runs ------------------------------------------------------------------------------------------------------ */

static void forget_history(void) {
    for (size_t i = 0; i < MAX_STEPS; i++) {
        free(run.history[i]);
        run.history[i] = NULL;
    }
}

static void close_connections(void) {
    for (int i = 0; i < MODEL_CLIENTS; i++) {
        wire_deinit(&run.wires[i]);
    }
    wire_deinit(&run.admin);
}

static void close_run(void *unused) {
    (void)unused;
    close_connections();
    forget_history();
    free(run.rules.messages);
    run.rules.messages = NULL;
}

/* What earlier runs left in the broker's folder. */
static void remove_files(void) {
    static const char *const names[] = {
        "mosquitto.db",  "mosquitto.db.new", "filters.jsonl",     "db.sqlite",
        "db.sqlite-wal", "db.sqlite-shm",    "db.sqlite-journal",
    };
    for (size_t i = 0; i < N_ROWS(names); i++) {
        char path[256];
        snprintf(path, sizeof path, "%s/%s", broker_dir(run.broker), names[i]);
        unlink(path);
    }
}

static void configure(void) {
    static const char *const state_file[] = {
        [MODEL_MEMORY] = "none",
        [MODEL_DATABASE] = "@DIR@/filters.jsonl",
        [MODEL_SQLITE] = "@DIR@/filters.jsonl",
    };
    static const char *const persistence[] = {
        [MODEL_MEMORY] = "",
        [MODEL_DATABASE] = "persistence true\n"
                           "persistence_location @DIR@/\n"
                           "autosave_interval 0\n",
        [MODEL_SQLITE] = "global_plugin @PLUGINS@/mosquitto_persist_sqlite.so\n"
                         "plugin_opt_db_file @DIR@/db.sqlite\n"
                         "plugin_opt_flush_period 0\n"
                         "plugin_opt_sync off\n",
    };
    char plugin[512] = "";
    if (!run.rules.plain) {
        snprintf(plugin, sizeof plugin,
                 "global_plugin " TEST_PLUGIN "\nplugin_opt_retained %s\nplugin_opt_state_file %s\n"
                 "plugin_opt_max_filters_per_client %zu\n",
                 run.rules.filter_retained ? "filter" : "deliver",
                 state_file[run.rules.persistence], run.rules.max_filters);
    }
    const char *log = "log_type none\nlog_type error\nlog_type warning\nlog_type notice\n"
                      "log_type information\nconnection_messages false\n";
    broker_configure(run.broker, "%s%sglobal_plugin " TEST_PLUGINS_DIR "/test_command.so\n%s",
                     getenv("SF_LOG") != NULL ? "" : log, plugin,
                     persistence[run.rules.persistence]);
}

/* A broker that remembers nothing, and a model of it. */
static void begin(void) {
    run.failed = false;
    run.error.text[0] = '\0';
    forget_history();
    run.chance.state = run.seed;
    run.rules.filter_retained = chance_of(&run.chance, 30) && !run.rules.plain;
    run.rules.max_filters = chance_of(&run.chance, 30) ? 3 : 1000;
    run.rules.n_messages = 1; /* number 0 stands for those without payload */
    run.next_id = 0;
    run.may_expire = run.seed % 4 == 0;
    memset(run.expired, 0, sizeof run.expired);
    model_init(&run.model, &run.rules);
    run.saved = run.model;
    remove_files();
    configure();
    broker_run(run.broker);
    for (int i = 0; i < MODEL_CLIENTS; i++) {
        wire_init(&run.wires[i]);
    }
    wire_init(&run.admin);
    run_connect_admin();
}

/* Run all steps that are not to be skipped, until one fails. False: one did. */
static bool execute(void) {
    begin();
    for (run.step = 0; run.step < run.steps; run.step++) {
        if (run.skip[run.step]) {
            continue;
        }
        run.chance.state = run.seed;
        run.chance.state = test_random(&run.chance.state) + run.step;
        run.chance.state = test_random(&run.chance.state); /* near numbers begin far apart */
        run_act();
        run_settle();
        if (run.failed) {
            break;
        }
    }
    close_connections();
    int status = broker_stop(run.broker);
    if (status != 0) { /* also when something else was wrong: this may be why */
        size_t used = strlen(run.error.text);
        snprintf(run.error.text + used, sizeof run.error.text - used,
                 "%sthe broker ended with status %d", run.failed ? "; " : "", status);
        run.failed = true;
    }
    return !run.failed;
}

static void print_history(void) {
    static const char *const names[] = {"in_memory", "with_database", "with_sqlite"};
    test_note("SF_SEED=%" PRIu64 ", case test_model_%s%s, `retained %s`, step %u: %s", run.seed,
              run.rules.plain ? "of_broker_" : "", names[run.rules.persistence],
              run.rules.filter_retained ? "filter" : "deliver", run.step, run.error.text);
    for (unsigned i = 0; i <= run.step && i < MAX_STEPS; i++) {
        if (run.history[i] != NULL) {
            test_note("%4u  %s", i, run.history[i]);
        }
    }
}

/* Leave out ever smaller parts of the history as long as something still goes wrong. */
static void shrink(void) {
    static bool best[MAX_STEPS];
    unsigned steps = run.step + 1;
    run.steps = steps;
    memcpy(best, run.skip, sizeof best);
    for (unsigned part = steps / 2; part > 0; part = part == 1 ? 0 : (part + 1) / 2) {
        for (unsigned from = 0; from < steps; from += part) {
            bool any = false;
            memcpy(run.skip, best, sizeof best);
            for (unsigned i = from; i < from + part && i + 1 < steps; i++) {
                any = any || !run.skip[i];
                run.skip[i] = true;
            }
            if (any && !execute()) {
                memcpy(best, run.skip, sizeof best);
            }
        }
    }
    memcpy(run.skip, best, sizeof best);
    execute();
}

static unsigned number_from(const char *name, unsigned otherwise) {
    const char *text = getenv(name);
    return text == NULL || *text == '\0' ? otherwise : (unsigned)strtoul(text, NULL, 10);
}

static void read_skip(void) {
    memset(run.skip, 0, sizeof run.skip);
    const char *at = getenv("SF_SKIP");
    while (at != NULL && *at != '\0') {
        char *end = NULL;
        unsigned long from = strtoul(at, &end, 10);
        unsigned long to = *end == '-' ? strtoul(end + 1, &end, 10) : from;
        for (; from <= to && from < MAX_STEPS; from++) {
            run.skip[from] = true;
        }
        at = *end == ',' ? end + 1 : end;
    }
}

static void run_all(enum model_persistence persistence, bool plain) {
    const char *wanted = getenv("SF_SEED");
    bool one = wanted != NULL && *wanted != '\0';
    unsigned runs = one ? 1 : number_from("SF_RUNS", test_long() ? 40 : plain ? 2 : 6);
    run.steps = number_from("SF_STEPS", test_long() ? 1000 : 300);
    REQUIRE(run.steps <= MAX_STEPS, "at most %d steps", MAX_STEPS);
    run.rules.persistence = persistence;
    run.rules.plain = plain;
    run.broker = broker_new("%s", "");
    for (int i = 0; i < MODEL_CLIENTS; i++) {
        run.wires[i].fd = -1;
    }
    run.admin.fd = -1;
    test_defer(close_run, NULL);
    run.rules.messages = calloc(MAX_MESSAGES, sizeof *run.rules.messages);
    REQUIRE(run.rules.messages != NULL, "out of memory");
    size_t n = 0;
    run.rules.filters = pool_filters(&n);
    for (unsigned i = 0; i < runs; i++) {
        read_skip();
        run.seed = one ? strtoull(wanted, NULL, 10) : test_seed() + i * 3U + (unsigned)persistence;
        bool good = execute();
        if (!good) {
            print_history();
            if (getenv("SF_SHRINK") != NULL) {
                shrink();
                test_note("after leaving steps out:");
                print_history();
            }
        }
        CHECK(good, "SF_SEED=%" PRIu64 ", step %u: %s", run.seed, run.step, run.error.text);
        if (!good) {
            return;
        }
    }
}

static void test_model_in_memory(void) {
    run_all(MODEL_MEMORY, false);
}

static void test_model_with_database(void) {
    run_all(MODEL_DATABASE, false);
}

static void test_model_with_sqlite(void) {
    run_all(MODEL_SQLITE, false);
}

/* The model's rules of the broker are those of the broker alone. */
static void test_model_of_broker_in_memory(void) {
    run_all(MODEL_MEMORY, true);
}

static void test_model_of_broker_with_database(void) {
    run_all(MODEL_DATABASE, true);
}

static void test_model_of_broker_with_sqlite(void) {
    run_all(MODEL_SQLITE, true);
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        TEST(test_model_in_memory),
        TEST(test_model_with_database),
        TEST(test_model_with_sqlite),
        TEST(test_model_of_broker_in_memory),
        TEST(test_model_of_broker_with_database),
        TEST(test_model_of_broker_with_sqlite),
    };
    return run_tests(argc, argv, cases, N_ROWS(cases));
}
