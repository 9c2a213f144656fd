/* SPDX-License-Identifier: BSD-3-Clause
 *
 * journal, loading: a file cut at any byte, damaged in any line, of another version, not ours, or not to be had. What
 * was acknowledged is loaded, or the start is refused with the place and the way out; nothing is invented. */
#include "journal_fixture.h"
#include "runner.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct state state;

static const char way_out[] =
    "Restore the file from a copy; or remove it, and the sessions that had filters are "
    "delivered unfiltered until they subscribe again";

static void close_state(void *user) {
    (void)user;
    state_close(&state);
}

/* ---- cut ---- */

enum { MAX_STEPS = 80 };

static struct {
    size_t bytes; /* of the file when the step was acknowledged */
    char *text;   /* what it then held */
} steps[MAX_STEPS];
static size_t n_steps;

static void forget_steps(void *user) {
    (void)user;
    while (n_steps > 0) {
        free(steps[--n_steps].text);
    }
}

static void note_step(void) {
    struct stat status = {0};
    REQUIRE(stat(state.journal.path, &status) == 0, "stat");
    steps[n_steps].bytes = (size_t)status.st_size;
    steps[n_steps].text = state_text(&state);
    n_steps++;
}

static void test_journal_cut_at_every_byte(void) {
    const char *path = journal_path("j");
    const char *cut_path = journal_path("cut");
    state_start(&state, path);
    test_defer(forget_steps, NULL);
    uint64_t random = test_seed();
    note_step();
    while (n_steps < MAX_STEPS) {
        REQUIRE(state_random_change(&state, &random), "step %zu", n_steps);
        note_step();
    }
    size_t bytes = 0;
    char *file = file_read(path, &bytes);
    size_t first_line = (size_t)(strchr(file, '\n') - file);
    size_t step = 0;
    for (size_t cut = 0; cut <= bytes && !test_has_failed(); cut++) {
        file_write(cut_path, file, cut);
        bool torn = false;
        const char *error = NULL;
        char *text = journal_file_text(cut_path, &torn, &error);
        while (step + 1 < n_steps && steps[step + 1].bytes <= cut) {
            step++;
        }
        if (cut < first_line) {
            CHECK(text == NULL && strstr(error, cut == 0 ? "empty" : "line 1:") != NULL,
                  "cut at %zu, in the first line: %s", cut, text == NULL ? error : text);
        } else {
            CHECK(text != NULL && strcmp(text, steps[step].text) == 0,
                  "cut at %zu, after step %zu: %s\n%sexpected\n%s", cut, step, error, text,
                  steps[step].text);
            CHECK(torn == (cut != first_line && file[cut - 1] != '\n'), "cut at %zu", cut);
        }
        free(text);
    }
    free(file);
}

/* ---- damaged ---- */

static char *sample(size_t *bytes_out) {
    const char *path = journal_path("j");
    state_start(&state, path);
    state_subscribe(&state, "c", "plain", NULL, 0, 0);
    state_subscribe(&state, "c", "a", "v=1", 1, 2);
    state_subscribe(&state, "c", "b", "sql:x IS NULL", 1, 2);
    state_subscribe(&state, "c", "$share/g/t", "v=1", 0, 0);
    state_subscribe(&state, "c", "$share/g/t", "v=2", 0, 0);
    state_unsubscribe(&state, "c", "b");
    state_subscribe(&state, "d", "a", "tag:x", 0, 0);
    state_end(&state, "d");
    return file_read(path, bytes_out);
}

/* Check that `text` is refused, in this line, for a reason that contains `reason`. */
static void check_refused(const char *text, size_t bytes, size_t line, const char *reason) {
    const char *path = journal_path("damaged");
    file_write(path, text, bytes);
    struct state loaded;
    bool opened = state_open(&loaded, path);
    char where[1024];
    snprintf(where, sizeof where, "%s, line %zu: ", path, line);
    CHECK(!opened, "line %zu was taken: %.*s", line, (int)bytes, text);
    if (!opened) {
        CHECK(strncmp(loaded.error, where, strlen(where)) == 0, "line %zu: %s", line, loaded.error);
        CHECK(strstr(loaded.error, reason) != NULL, "line %zu: %s", line, loaded.error);
        CHECK(strstr(loaded.error, way_out) != NULL, "line %zu: %s", line, loaded.error);
    }
    state_close(&loaded);
    char *after = file_read(path, NULL);
    CHECK(strlen(after) == strlen(text) && memcmp(after, text, bytes) == 0,
          "line %zu: the file was changed", line);
    free(after);
}

/* Each line spoilt in several ways, with whole lines before and after it. */
static void test_journal_damaged_in_any_line(void) {
    size_t bytes = 0;
    char *file = sample(&bytes);
    size_t line = 1;
    for (char *start = file; *start != '\0'; line++) {
        char *end = strchr(start, '\n');
        char *spoilt = malloc(bytes + 2);
        REQUIRE(spoilt != NULL, "memory");
        size_t offset = (size_t)(start - file), length = (size_t)(end - start);

        strcpy(spoilt, file); /* the last character is missing */
        memmove(spoilt + offset + length - 1, spoilt + offset + length,
                bytes - offset - length + 1);
        check_refused(spoilt, bytes - 1, line, "damaged");
        strcpy(spoilt, file); /* the first one is */
        memmove(spoilt + offset, spoilt + offset + 1, bytes - offset);
        check_refused(spoilt, bytes - 1, line, "damaged");
        strcpy(spoilt, file); /* one more in the middle */
        memmove(spoilt + offset + length / 2 + 1, spoilt + offset + length / 2,
                bytes - offset - length / 2 + 1);
        spoilt[offset + length / 2] = '\n';
        check_refused(spoilt, bytes + 1, line, "damaged");
        strcpy(spoilt, file); /* a byte that is no text */
        spoilt[offset + length / 2] = '\xFF';
        check_refused(spoilt, bytes, line, "damaged");
        strcpy(spoilt, file); /* empty */
        memmove(spoilt + offset, spoilt + offset + length, bytes - offset - length + 1);
        check_refused(spoilt, bytes - length, line, "damaged");
        free(spoilt);
        start = end + 1;
    }
    CHECK(line > 8, "%zu lines", line);
    free(file);
}

static void test_journal_with_a_nul_in_a_line(void) {
    static const char text[] = "{\"journal\":\"subscription-filter\",\"version\":1}\n"
                               "{\"client\":\"c\",\"topic\":\"a\",\"options\":0}\0\n";
    const char *path = journal_path("damaged");
    file_write(path, text, sizeof text - 1);
    bool torn = false;
    const char *error = NULL;
    CHECK(journal_file_text(path, &torn, &error) == NULL, "taken");
    CHECK(strstr(error, "line 2: the line is damaged") != NULL, "%s", error);
}

#define HEAD "{\"journal\":\"subscription-filter\",\"version\":1}\n"

static void test_journal_refuses_lines_that_are_no_records(void) {
    static const struct {
        const char *line;
        const char *reason;
    } rows[] = {
        {"{}", "not a record"},
        {"[1]", "not a record"},
        {"[\"x\"]", "not a record"},
        {"[null]", "not a record"},
        {"1", ""}, /* alone it is no JSON text, in a list it is no record */
        {"null", ""},
        {"[[]]", "not a record"},
        {"{\"client\":\"c\"}", "not a record"},
        {"{\"client\":1,\"ended\":true}", "not a record"},
        {"{\"topic\":\"a\",\"options\":0}", "not a record"},
        {"{\"client\":\"c\",\"topic\":\"a\",\"options\":0,\"x\":1}", "not a record"},
        {"{\"client\":\"c\",\"topic\":\"\",\"options\":0}", "not a record"},
        {"{\"client\":\"c\",\"topic\":1,\"options\":0}", "not a record"},
        {"{\"client\":\"c\",\"topic\":\"a\",\"filter\":1,\"options\":0}", "not a record"},
        {"{\"client\":\"c\",\"topic\":\"a\",\"options\":\"0\"}", "not a record"},
        {"{\"client\":\"c\",\"topic\":\"a\",\"options\":1.5}", "not a record"},
        {"{\"client\":\"c\",\"topic\":\"a\",\"removed\":1}", "not a record"},
        {"{\"client\":\"c\",\"ended\":\"true\"}", "not a record"},
        {"{\"client\":\"c\",\"client\":\"d\",\"ended\":true}", "damaged"},
        {"{\"client\":\"c\",\"topic\":\"a\"}", "no subscription has"}, /* no options */
        {"{\"client\":\"c\",\"topic\":\"a\",\"options\":-1}", "no subscription has"},
        {"{\"client\":\"c\",\"topic\":\"a\",\"options\":256}", "no subscription has"},
        {"{\"client\":\"c\",\"topic\":\"a\",\"options\":0,\"identifier\":-1}",
         "no subscription has"},
        {"{\"client\":\"c\",\"topic\":\"a\",\"options\":0,\"identifier\":4294967296}",
         "no subscription has"},
        {"{\"client\":\"c\",\"topic\":\"$share/g\",\"options\":0}", "no subscription has"},
        {"{\"client\":\"c\",\"topic\":\"$share/+/a\",\"options\":0}", "no subscription has"},
        {"{\"client\":\"c\",\"topic\":\"a\",\"filter\":\"\",\"options\":0}", "not valid in this"},
        {"{\"client\":\"c\",\"topic\":\"a\",\"filter\":\"v>x\",\"options\":0}",
         "not valid in this"},
        {"{\"client\":\"c\",\"topic\":\"a\\u0000b\",\"options\":0}", "damaged"},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        char text[512];
        snprintf(text, sizeof text, HEAD "%s\n", rows[i].line);
        check_refused(text, strlen(text), 2, rows[i].reason);
        snprintf(text, sizeof text, HEAD "[{\"client\":\"x\",\"topic\":\"y\",\"options\":0},%s]\n",
                 rows[i].line);
        check_refused(text, strlen(text), 2, rows[i].reason);
    }
}

static void test_journal_refuses_what_is_no_journal_of_ours(void) {
    static const struct {
        const char *text;
        const char *reason;
    } rows[] = {
        {"", "the file is empty"},
        {"{}\n", "the file is not a journal of subscription-filter"},
        {"{}", "the file is not a journal of subscription-filter"}, /* somebody's JSON, one line */
        {"[]\n", "the file is not a journal of subscription-filter"},
        {"{\"clients\":[]}", "the file is not a journal of subscription-filter"},
        {"{\n  \"clients\": []\n}\n", "damaged"},
        {"# comment\n", "damaged"},
        {"# comment", "damaged"},
        {"\n" HEAD, "damaged"},
        {"{\"journal\":\"other\",\"version\":1}\n", "not a journal of subscription-filter"},
        {"{\"journal\":\"subscription-filter\"}\n", "not a journal of subscription-filter"},
        {"{\"journal\":\"subscription-filter\",\"version\":\"1\"}\n",
         "not a journal of subscription-filter"},
        {"{\"journal\":\"subscription-filter\",\"version\":0}\n",
         "the journal has version 0, this plugin reads version 1"},
        {"{\"journal\":\"subscription-filter\",\"version\":2}\n",
         "the journal has version 2, this plugin reads version 1"},
        {"{\"client\":\"c\",\"topic\":\"a\",\"options\":0}\n",
         "the file is not a journal of subscription-filter"},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        check_refused(rows[i].text, strlen(rows[i].text), rows[i].text[0] == '\0' ? 0 : 1,
                      rows[i].reason);
    }
}

/* What is in force stays in force, whatever the options say now about new filters (decision D11). */
static void test_journal_loads_filters_that_would_be_refused_now(void) {
    static const char text[] =
        HEAD "{\"client\":\"c\",\"topic\":\"a\",\"filter\":\"sql:x = 1\",\"options\":0}\n"
             "{\"client\":\"c\",\"topic\":\"b\",\"filter\":\"tag:x\",\"options\":0}\n";
    const char *path = journal_path("j");
    file_write(path, text, sizeof text - 1);
    struct sf_options options = SF_OPTIONS_INIT;
    options.dialects = SF_DIALECT_KV;
    options.max_expression_bytes = 1;
    test_defer(close_state, NULL);
    state.schema = sf_schema_new();
    REQUIRE(state.schema != NULL, "memory");
    CHECK(journal_open(&state.journal, path, &state.sessions, state.schema, &options, &state.torn,
                       state.error),
          "%s", state.error);
    CHECK(state.sessions.n_filters == 2, "%zu filters", state.sessions.n_filters);
}

static void test_journal_takes_a_first_line_without_its_end(void) {
    const char *path = journal_path("j");
    file_write(path, HEAD, strlen(HEAD) - 1);
    state_start(&state, path);
    CHECK(state.sessions.n_sessions == 0 && !state.torn, "nothing in it");
}

/* What the loader makes of records that this version never writes in this order. */
static void test_journal_applies_records_in_order(void) {
    static const struct {
        const char *records;
        const char *expected;
    } rows[] = {
        {"", ""},
        {"{\"client\":\"c\",\"topic\":\"a\",\"options\":0,\"identifier\":0}\n"
         "{\"client\":\"c\",\"topic\":\"a\",\"filter\":\"v=1\",\"options\":1,\"identifier\":5}\n",
         "c | a | kv:v=1 | 1 | 5\n"},
        {"{\"client\":\"c\",\"topic\":\"a\",\"options\":0}\n", "c | a | plain | 0 | 0\n"},
        {"{\"client\":\"c\",\"topic\":\"a\",\"removed\":true}\n"
         "{\"client\":\"c\",\"topic\":\"a\",\"options\":0}\n",
         "c | a | plain | 0 | 0\n"},
        {"{\"client\":\"c\",\"topic\":\"a\",\"options\":0}\n"
         "{\"client\":\"c\",\"topic\":\"a\",\"removed\":true}\n",
         "c | a | removed\n"},
        {"{\"client\":\"c\",\"topic\":\"a\",\"removed\":true}\n", "c | a | removed\n"},
        {"{\"client\":\"c\",\"ended\":true}\n", ""},
        {"{\"client\":\"c\",\"topic\":\"a\",\"options\":0}\n"
         "{\"client\":\"c\",\"ended\":true}\n"
         "{\"client\":\"c\",\"topic\":\"b\",\"options\":0}\n",
         "c | a | removed\nc | b | plain | 0 | 0\n"}, /* an old save of the broker may still have it */
        {"[{\"client\":\"c\",\"topic\":\"a\",\"options\":0},"
         "{\"client\":\"d\",\"topic\":\"b\",\"options\":0}]\n",
         "c | a | plain | 0 | 0\nd | b | plain | 0 | 0\n"},
        {"[]\n", ""},
        /* white space is no damage */
        {" { \"client\" : \"c\" , \"topic\" : \"a\" , \"options\" : 0 } \r\n",
         "c | a | plain | 0 | 0\n"},
        /* sent with an old spelling of the same filter */
        {"{\"client\":\"c\",\"topic\":\"a\",\"filter\":\" v = 1 \",\"options\":0}\n",
         "c | a | kv:v=1 | 0 | 0\n"},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        char text[1024];
        snprintf(text, sizeof text, HEAD "%s", rows[i].records);
        const char *path = journal_path("j");
        file_write(path, text, strlen(text));
        bool torn = false;
        const char *error = NULL;
        char *loaded = journal_file_text(path, &torn, &error);
        CHECK(loaded != NULL && strcmp(loaded, rows[i].expected) == 0, "row %zu: %s%s", i, error,
              loaded);
        free(loaded);
    }
}

/* Any single byte of the file changed: loaded as something, or refused, never a crash (the sanitizers watch). */
static void test_journal_with_any_byte_changed(void) {
    size_t bytes = 0;
    char *file = sample(&bytes);
    const char *path = journal_path("changed");
    uint64_t random = test_seed();
    size_t n_refused = 0;
    for (size_t i = 0; i < bytes; i++) {
        char old = file[i];
        file[i] = (char)test_random(&random);
        file_write(path, file, bytes);
        bool torn = false;
        char *text = journal_file_text(path, &torn, NULL);
        n_refused += text == NULL;
        free(text);
        file[i] = old;
    }
    CHECK(n_refused > bytes / 3, "%zu of %zu refused", n_refused, bytes);
    free(file);
}

/* ---- not to be had ---- */

static void restore_user(void *user) {
    (void)user;
    (void)seteuid(getuid());
    (void)chmod(journal_folder(), 0700);
}

/* Nobody's rights, for what root may do all the same. */
static void drop_rights(void) {
    test_defer(restore_user, NULL);
    if (geteuid() == 0) {
        REQUIRE(seteuid(65534) == 0, "%s", strerror(errno));
    }
}

static void check_not_opened(const char *path, const char *expected) {
    CHECK(!state_open(&state, path), "%s", path);
    CHECK(strcmp(state.error, expected) == 0, "%s\nexpected %s", state.error, expected);
    CHECK(state.journal.path == NULL, "the journal holds nothing");
    state_close(&state);
}

static void test_journal_that_cannot_be_read_or_written(void) {
    char expected[JOURNAL_ERROR_BYTES];
    const char *path = journal_path("j");
    file_write(path, HEAD, strlen(HEAD));

    const char *nowhere = journal_path("no/such/j");
    static const char unwritable[] =
        "the state file %s cannot be written: %s. Give the broker's user access to its folder, set "
        "plugin_opt_state_file to another place, or to none if filters need not survive a restart";
    snprintf(expected, sizeof expected, unwritable, nowhere, strerror(ENOENT));
    check_not_opened(nowhere, expected);

    snprintf(expected, sizeof expected, "%s, line 0: it cannot be read: %s. %s", journal_folder(),
             strerror(EISDIR), way_out);
    check_not_opened(journal_folder(), expected);

    REQUIRE(chmod(path, 0) == 0 && chmod(journal_folder(), 0755) == 0, "chmod");
    drop_rights();
    snprintf(expected, sizeof expected,
             "the state file %s cannot be read: %s. Give the broker's user access, or set "
             "plugin_opt_state_file",
             path, strerror(EACCES));
    check_not_opened(path, expected);

    const char *missing = journal_path("missing");
    if (getuid() == 0) { /* else the folder is ours */
        snprintf(expected, sizeof expected, unwritable, missing, strerror(EACCES));
        check_not_opened(missing, expected);
    }
}

/* A file that can be read but not be replaced: the filters would not survive the next restart, so say so now. */
static void test_journal_in_a_folder_that_cannot_be_written(void) {
    const char *path = journal_path("j");
    file_write(path, HEAD, strlen(HEAD));
    REQUIRE(chmod(path, 0644) == 0 && chmod(journal_folder(), 0555) == 0, "chmod");
    drop_rights();
    CHECK(!state_open(&state, path), "opened");
    CHECK(strstr(state.error, "cannot be written: Permission denied") != NULL, "%s", state.error);
    state_close(&state);
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        TEST(test_journal_cut_at_every_byte),
        TEST(test_journal_damaged_in_any_line),
        TEST(test_journal_with_a_nul_in_a_line),
        TEST(test_journal_refuses_lines_that_are_no_records),
        TEST(test_journal_refuses_what_is_no_journal_of_ours),
        TEST(test_journal_loads_filters_that_would_be_refused_now),
        TEST(test_journal_takes_a_first_line_without_its_end),
        TEST(test_journal_applies_records_in_order),
        TEST(test_journal_with_any_byte_changed),
        TEST(test_journal_that_cannot_be_read_or_written),
        TEST(test_journal_in_a_folder_that_cannot_be_written),
    };
    return run_tests(argc, argv, cases, N_ROWS(cases));
}
