/* SPDX-License-Identifier: BSD-3-Clause
 *
 * TAP from CUnit (see runner.h). CUnit calls on_complete after each case with the list of its failures; the condition
 * text it stores is a copy, so CHECK can pass a formatted text there.
 */
#include "runner.h"

#include <CUnit/TestRun.h>

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MAX_DEFERRED 256 /* fixtures of one case */

static struct {
    void (*undo)(void *user);
    void *user;
} deferred[MAX_DEFERRED];
static size_t n_deferred;

static unsigned n_run;
static unsigned n_failed;
static bool case_failed;
static const char *case_skipped; /* the reason; NULL: it is not */

static void run_deferred(void) {
    while (n_deferred > 0) {
        n_deferred--;
        deferred[n_deferred].undo(deferred[n_deferred].user);
    }
}

void test_defer(void (*undo)(void *user), void *user) {
    if (n_deferred == MAX_DEFERRED) {
        fprintf(stderr, "test_defer: more than %d in one case\n", MAX_DEFERRED);
        abort();
    }
    deferred[n_deferred].undo = undo;
    deferred[n_deferred].user = user;
    n_deferred++;
}

bool test_has_failed(void) {
    return case_failed;
}

void test_skip(const char *reason) {
    case_skipped = reason;
}

bool test_check(bool held, const char *file, unsigned line, const char *condition, bool fatal,
                const char *format, ...) {
    if (held) {
        CU_assertImplementation(CU_TRUE, line, condition, file, "", CU_FALSE);
        return true;
    }

    char text[1024];
    int used = snprintf(text, sizeof text, "%s: ", condition);
    if (used >= 0 && (size_t)used < sizeof text) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(text + used, sizeof text - (size_t)used, format, arguments);
        va_end(arguments);
    }
    /* At once as well: if the case crashes later, this is the hint. */
    test_note("%s:%u: %s", file, line, text);
    case_failed = true;
    CU_assertImplementation(CU_FALSE, line, text, file, "", fatal ? CU_TRUE : CU_FALSE);
    return false;
}

/* TAP comments: each line of the text begins with "# ". */
static void print_comment(const char *text) {
    do {
        size_t length = strcspn(text, "\n");
        printf("# %.*s\n", (int)length, text);
        text += length + (text[length] == '\n');
    } while (*text != '\0');
    fflush(stdout);
}

void test_note(const char *format, ...) {
    char text[2048];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    print_comment(text);
}

static void on_start(const CU_pTest test, const CU_pSuite suite) {
    (void)test;
    (void)suite;
    case_failed = false;
    case_skipped = NULL;
}

static void on_complete(const CU_pTest test, const CU_pSuite suite,
                        const CU_pFailureRecord failures) {
    (void)suite;
    /* The list is that of this case only. */
    for (CU_pFailureRecord failure = failures; failure != NULL; failure = failure->pNext) {
        case_failed = true;
        test_note("FAILED %s:%u: %s", failure->strFileName, failure->uiLineNumber,
                  failure->strCondition);
    }
    n_run++;
    if (case_failed) {
        n_failed++;
    }
    printf("%s %u - %s", case_failed ? "not ok" : "ok", n_run, test->pName);
    if (case_skipped != NULL && !case_failed) {
        printf(" # SKIP %s", case_skipped);
    }
    printf("\n");
    fflush(stdout);
}

static bool is_selected(const char *name, int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        if (strstr(name, argv[i]) != NULL) {
            return true;
        }
    }
    return argc < 2;
}

int run_tests(int argc, char **argv, const struct test_case *cases, size_t n_cases) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (CU_initialize_registry() != CUE_SUCCESS) {
        fprintf(stderr, "CUnit: %s\n", CU_get_error_msg());
        return 2;
    }

    /* The suite's tear-down runs after each case, whichever way it ended. */
    CU_pSuite suite = CU_add_suite_with_setup_and_teardown("tests", NULL, NULL, NULL, run_deferred);
    unsigned n_selected = 0;
    for (size_t i = 0; suite != NULL && i < n_cases; i++) {
        if (!is_selected(cases[i].name, argc, argv)) {
            continue;
        }
        if (CU_add_test(suite, cases[i].name, cases[i].run) == NULL) {
            fprintf(stderr, "%s: %s\n", cases[i].name, CU_get_error_msg());
            return 2;
        }
        n_selected++;
    }
    if (n_selected == 0) {
        fprintf(stderr, "no case has such a name\n");
        return 2;
    }

    printf("1..%u\n", n_selected);
    CU_set_test_start_handler(on_start);
    CU_set_test_complete_handler(on_complete);
    CU_ErrorCode result = CU_run_all_tests();
    CU_cleanup_registry();
    return result == CUE_SUCCESS && n_failed == 0 && n_run == n_selected ? 0 : 1;
}

/* The ordinary run is the same for everybody, so that a red one is the fault of the change; long runs explore. */
#define DAILY_SEED UINT64_C(20261130)

uint64_t test_seed(void) {
    static bool known;
    static uint64_t seed;
    if (known) {
        return seed;
    }
    const char *wanted = getenv("TEST_SEED");
    if (wanted != NULL && *wanted != '\0') {
        seed = strtoull(wanted, NULL, 10);
    } else if (!test_long()) {
        seed = DAILY_SEED;
    } else {
        struct timespec now = {0};
        clock_gettime(CLOCK_REALTIME, &now);
        seed = (uint64_t)now.tv_sec * 1000003U ^ (uint64_t)now.tv_nsec ^ (uint64_t)getpid() << 20;
    }
    known = true;
    test_note("TEST_SEED=%" PRIu64, seed);
    return seed;
}

uint64_t test_random(uint64_t *state) {
    *state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t mixed = *state;
    mixed = (mixed ^ mixed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94d049bb133111eb);
    return mixed ^ mixed >> 31;
}

bool test_long(void) {
    const char *wanted = getenv("TEST_LONG");
    return wanted != NULL && *wanted != '\0' && strcmp(wanted, "0") != 0;
}
