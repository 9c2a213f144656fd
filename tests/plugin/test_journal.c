/* SPDX-License-Identifier: BSD-3-Clause
 *
 * journal: what is written is what is loaded, at any moment, also when the disk is full for a while. */
#include "journal_fixture.h"
#include "runner.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static struct state state; /* test_defer outlives the stack of a case */

/* Check that the file at state.journal.path says what memory says. */
static void check_file(const char *when) {
    bool torn = true;
    const char *error = NULL;
    char *in_file = journal_file_text(state.journal.path, &torn, &error);
    char *in_memory = state_text(&state);
    CHECK(in_file != NULL, "%s: %s", when, error);
    CHECK(in_file == NULL || strcmp(in_file, in_memory) == 0, "%s: in the file\n%sin memory\n%s",
          when, in_file, in_memory);
    CHECK(!torn, "%s: torn", when);
    free(in_file);
    free(in_memory);
}

static size_t n_lines(const char *path) {
    char *text = file_read(path, NULL);
    size_t n = 0;
    for (const char *p = text; (p = strchr(p, '\n')) != NULL; p++) {
        n++;
    }
    free(text);
    return n;
}

/* ---- round trips ---- */

static void test_journal_loads_what_was_written(void) {
    state_start(&state, journal_path("j"));
    uint64_t random = test_seed();
    size_t n_steps = test_long() ? 20000 : 600;
    for (size_t step = 0; step < n_steps; step++) {
        REQUIRE(state_random_change(&state, &random), "step %zu: refused", step);
        if (step % 3 == 0) {
            char when[32];
            snprintf(when, sizeof when, "step %zu", step);
            check_file(when);
        }
        if (step % 100 == 99) { /* a restart */
            char *before = state_text(&state);
            const char *path = journal_path("j");
            state_close(&state);
            REQUIRE(state_open(&state, path), "step %zu: %s", step, state.error);
            char *after = state_text(&state);
            CHECK(strcmp(before, after) == 0, "step %zu: before\n%safter\n%s", step, before, after);
            free(before);
            free(after);
        }
        REQUIRE(!test_has_failed(), "step %zu", step);
    }
}

static void test_journal_format(void) {
    state_start(&state, journal_path("j"));
    state_subscribe(&state, "plain", "x", NULL, 0, 0); /* no filter: not in the journal */
    state_subscribe(&state, "c1", "a/b", NULL, 0, 0);
    state_subscribe(&state, "c1", "a/+", "value>25", 1, 7);
    state_subscribe(&state, "c1", "a/c", NULL, 0x2D, 268435455);
    state_unsubscribe(&state, "c1", "a/b");
    state_end(&state, "c1");
    state_end(&state, "plain");
    char *text = file_read(state.journal.path, NULL);
    static const char expected[] =
        "{\"journal\":\"subscription-filter\",\"version\":1}\n"
        "[{\"client\":\"c1\",\"topic\":\"a/b\",\"options\":0,\"identifier\":0},"
        "{\"client\":\"c1\",\"topic\":\"a/+\",\"filter\":\"kv:value>25\",\"options\":1,"
        "\"identifier\":7}]\n"
        "{\"client\":\"c1\",\"topic\":\"a/c\",\"options\":45,\"identifier\":268435455}\n"
        "{\"client\":\"c1\",\"topic\":\"a/b\",\"removed\":true}\n"
        "{\"client\":\"c1\",\"ended\":true}\n";
    CHECK(strcmp(text, expected) == 0, "%s", text);
    free(text);
}

static void test_journal_is_written_anew_at_start(void) {
    const char *path = journal_path("j");
    state_start(&state, path);
    for (size_t i = 0; i < 50; i++) {
        state_subscribe(&state, "c", "a", "v=1", 0, (uint32_t)i);
    }
    CHECK(n_lines(path) == 51, "%zu lines", n_lines(path));
    state_close(&state);
    REQUIRE(state_open(&state, path), "%s", state.error);
    CHECK(n_lines(path) == 2, "%zu lines", n_lines(path));
    CHECK(state_subscribe(&state, "c", "b", "v=1", 0, 0), "appended to the new file");
    check_file("after a restart");
    CHECK(n_lines(path) == 3, "%zu lines", n_lines(path));
}

static void test_journal_is_written_anew_when_mostly_dead(void) {
    state_start(&state, journal_path("j"));
    time_t now = 100;
    size_t largest = 0;
    for (size_t i = 0; i < 5000; i++) {
        REQUIRE(state_subscribe(&state, "c", "a", "v=1", 0, (uint32_t)i), "%zu", i);
        CHECK(journal_tick(&state.journal, &state.sessions, now++) == JOURNAL_NO_NEWS, "%zu", i);
        if (i % 100 == 0) {
            size_t lines = n_lines(state.journal.path);
            largest = lines > largest ? lines : largest;
        }
    }
    CHECK(largest > 500 && largest < 1300, "%zu lines for one subscription", largest);
    check_file("after compaction");
    CHECK(state_subscribe(&state, "c", "b", "v=1", 0, 0), "appended to the new file");
    check_file("after compaction and one more");
}

/* Living records are no reason to write anew. */
static void test_journal_is_left_alone_while_it_lives(void) {
    state_start(&state, journal_path("j"));
    struct stat before = {0}, after = {0};
    for (size_t i = 0; i < 3000; i++) {
        char topic[32];
        snprintf(topic, sizeof topic, "t/%zu", i);
        REQUIRE(state_subscribe(&state, "c", topic, "v=1", 0, 0), "%zu", i);
    }
    REQUIRE(stat(state.journal.path, &before) == 0, "stat");
    for (time_t now = 0; now < 20; now++) {
        CHECK(journal_tick(&state.journal, &state.sessions, now) == JOURNAL_NO_NEWS, "tick");
    }
    REQUIRE(stat(state.journal.path, &after) == 0, "stat");
    CHECK(before.st_ino == after.st_ino && before.st_size == after.st_size, "the same file");
}

static void test_journal_remembers_a_bounded_number_of_removed_topics(void) {
    state_start(&state, journal_path("j"));
    REQUIRE(state_subscribe(&state, "c", "keep", "v=1", 0, 0), "keep");
    for (size_t i = 0; i < 5000; i++) {
        char topic[32];
        snprintf(topic, sizeof topic, "t/%zu", i);
        state_subscribe(&state, "c", topic, NULL, 0, 0);
        state_unsubscribe(&state, "c", topic);
    }
    const struct session *session = sessions_find(&state.sessions, "c");
    REQUIRE(session != NULL, "c");
    CHECK(HASH_COUNT(session->removed) == 4096, "%u", HASH_COUNT(session->removed));
    CHECK(strcmp(session->removed->text, "t/904") == 0, "the oldest is %s", session->removed->text);
    journal_set_unwell(&state.journal, EIO);
    CHECK(journal_tick(&state.journal, &state.sessions, 10) == JOURNAL_MENDED, "written anew");
    check_file("after 5000 removals");
    CHECK(n_lines(state.journal.path) == 4098, "%zu lines", n_lines(state.journal.path));
}

/* ---- no journal ---- */

static void test_journal_without_a_path_does_nothing(void) {
    state_start(&state, NULL);
    uint64_t random = test_seed();
    for (size_t i = 0; i < 300; i++) {
        REQUIRE(state_random_change(&state, &random), "%zu", i);
    }
    journal_set_unwell(&state.journal, ENOSPC);
    CHECK(!state.journal.unwell, "it has nothing to be unwell about");
    CHECK(journal_tick(&state.journal, &state.sessions, 1) == JOURNAL_NO_NEWS, "tick");
    char *text = state_text(&state);
    CHECK(text[0] == '\0', "stored: %s", text);
    free(text);
}

/* ---- the file itself ---- */

static void check_mode(const char *path) {
    struct stat status = {0};
    REQUIRE(lstat(path, &status) == 0, "%s", strerror(errno));
    CHECK(S_ISREG(status.st_mode) && (status.st_mode & 07777) == 0600, "%o",
          (unsigned)status.st_mode);
}

static void test_journal_is_for_its_owner_only(void) {
    static const mode_t masks[] = {0, 022, 077, 0377};
    for (size_t i = 0; i < N_ROWS(masks); i++) {
        const char *path = journal_path("j");
        (void)unlink(path);
        mode_t old = umask(masks[i]);
        state_start(&state, path);
        check_mode(path);
        journal_set_unwell(&state.journal, EIO);
        CHECK(journal_tick(&state.journal, &state.sessions, 10) == JOURNAL_MENDED, "mended");
        umask(old);
        check_mode(path);
        state_close(&state);

        REQUIRE(chmod(path, 0666) == 0, "chmod"); /* what others could read before */
        REQUIRE(state_open(&state, path), "%s", state.error);
        check_mode(path);
        state_close(&state);
    }
}

static void test_journal_replaces_what_a_crash_left(void) {
    const char *path = journal_path("j");
    const char *left = journal_path("j.new");
    const char *victim = journal_path("victim");
    file_write(left, "half a file", 11);
    state_start(&state, path);
    CHECK(access(left, F_OK) != 0, "j.new is still there");
    CHECK(state_subscribe(&state, "c", "a", "v=1", 0, 0), "written");
    check_file("j.new was a file");
    state_close(&state);

    file_write(victim, "precious", 8);
    REQUIRE(symlink(victim, left) == 0, "%s", strerror(errno));
    REQUIRE(state_open(&state, path), "%s", state.error);
    char *text = file_read(victim, NULL);
    CHECK(strcmp(text, "precious") == 0, "written through a link: %s", text);
    free(text);
    check_file("j.new was a link");
    state_close(&state);

    REQUIRE(mkdir(left, 0700) == 0, "%s", strerror(errno));
    CHECK(!state_open(&state, path), "j.new is a folder");
    CHECK(strstr(state.error, "cannot be written: File exists") != NULL, "%s", state.error);
    state_close(&state);
    bool torn = false;
    text = journal_file_text(path, &torn, NULL);
    CHECK(text != NULL && strstr(text, "c | a | kv:v=1") != NULL, "the old file is lost: %s", text);
    free(text);
}

/* Else a power loss could leave the new name on an empty file. */
static void test_journal_is_on_disk_before_it_has_its_name(void) {
    state_start(&state, journal_path("j"));
    CHECK(synced_before_rename, "at start");
    unsigned before = n_fsyncs;
    synced_before_rename = false;
    journal_set_unwell(&state.journal, EIO);
    CHECK(journal_tick(&state.journal, &state.sessions, 10) == JOURNAL_MENDED, "mended");
    CHECK(synced_before_rename, "when mended");
    CHECK(n_fsyncs - before == 2, "%u: the file and its folder", n_fsyncs - before);
}

static void test_journal_closes_what_it_opened(void) {
    const char *path = journal_path("j");
    int before = dup(0);
    close(before);
    for (size_t i = 0; i < 50; i++) {
        REQUIRE(state_open(&state, path), "%s", state.error);
        journal_set_unwell(&state.journal, EIO);
        CHECK(journal_tick(&state.journal, &state.sessions, 10) == JOURNAL_MENDED, "mended");
        state_close(&state);
    }
    CHECK(!state_open(&state, journal_path("no/such/folder")), "no such folder");
    state_close(&state);
    int after = dup(0);
    close(after);
    CHECK(before == after, "the next descriptor was %d, is %d", before, after);
}

/* ---- a disk that is full for a while ---- */

static void allow_bytes(rlim_t bytes) {
    struct rlimit limit;
    REQUIRE(getrlimit(RLIMIT_FSIZE, &limit) == 0, "getrlimit");
    limit.rlim_cur = bytes;
    REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0, "setrlimit");
}

static void allow_all(void *user) {
    (void)user;
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_FSIZE, &limit);
    }
}

/* Fill the disk: `room` bytes more than the file has now. */
static void fill_disk(size_t room) {
    struct stat status = {0};
    REQUIRE(stat(state.journal.path, &status) == 0, "stat");
    allow_bytes((rlim_t)status.st_size + (rlim_t)room);
}

/* Check that the file, as a crash would leave it now, holds exactly `expected`. */
static void check_crash(const char *expected, const char *when, size_t room) {
    bool torn = false;
    const char *error = NULL;
    char *text = journal_file_text(state.journal.path, &torn, &error);
    CHECK(text != NULL && strcmp(text, expected) == 0, "%s, room for %zu: %s\n%sexpected\n%s", when,
          room, error, text, expected);
    free(text);
}

/* The write that finds the disk full, with room for each part of it: nothing of the change may be in the file, the
 * change is refused, later ones too, until the file could be written again. */
static void try_full_disk(size_t room, bool shared) {
    const char *path = journal_path("j");
    (void)unlink(path);
    REQUIRE(state_open(&state, path), "%s", state.error);
    const char *text = shared ? "$share/g/a" : "a";
    state_subscribe(&state, "c", "plain/1", NULL, 0, 0);
    state_subscribe(&state, "c", "plain/2", NULL, 0, 0);
    if (shared) {
        REQUIRE(state_subscribe(&state, "c", text, "v=1", 0, 0), "written");
    }
    char *before = state_text(&state);

    fill_disk(room);
    bool written = state_subscribe(&state, "c", text, "v=2", 0, 0);
    if (!written) {
        CHECK(state.journal.unwell &&
                  (state.journal.error == EFBIG || state.journal.error == ENOSPC),
              "room for %zu: %s", room, strerror(state.journal.error));
        allow_all(NULL); /* for the copy */
        check_crash(before, "after the failure", room);
        state_subscribe(&state, "c", "plain/4", NULL, 0,
                        0); /* there is room again, but nothing may be added */
        check_crash(before, "after one more", room);
        fill_disk(0);
        CHECK(!state_subscribe(&state, "d", "b", "v=1", 0, 0), "refused while unwell");
        state_unsubscribe(&state, "c", "plain/1");
        CHECK(!state_has(&state, "c", "plain/1"), "a removal is done all the same");
        state_subscribe(&state, "c", "plain/3", NULL, 0, 0);
        allow_bytes(10);
        CHECK(journal_tick(&state.journal, &state.sessions, 100) == JOURNAL_FAILED, "still full");
        CHECK(journal_tick(&state.journal, &state.sessions, 100) == JOURNAL_NO_NEWS,
              "not twice in a second");
        allow_all(NULL);
        check_crash(before, "after the failure to mend", room);
        CHECK(access(journal_path("j.new"), F_OK) != 0, "room for %zu: j.new is left", room);
        CHECK(journal_tick(&state.journal, &state.sessions, 101) == JOURNAL_MENDED, "mended");
    }
    allow_all(NULL);
    CHECK(!state.journal.unwell, "room for %zu", room);
    CHECK(!shared || state_has(&state, "c", text), "room for %zu: the old one is lost", room);
    check_file("mended");
    CHECK(state_subscribe(&state, "c", text, "v=3", 0, 0), "room for %zu: again", room);
    check_file("after one more");
    state_close(&state);
    free(before);
}

static void test_journal_survives_a_full_disk(void) {
    signal(SIGXFSZ, SIG_IGN);
    test_defer(allow_all, NULL);
    state_start(&state, journal_path("j"));
    state_close(&state);
    for (size_t room = 0; room < 320; room++) {
        try_full_disk(room, false);
        try_full_disk(room, true);
        REQUIRE(!test_has_failed(), "room for %zu bytes", room);
    }
}

/* What a session has is not what it has removed, whatever was written in between: else the next start would remove it. */
static void test_journal_keeps_what_was_made_again_while_unwell(void) {
    const char *path = journal_path("j");
    state_start(&state, path);
    REQUIRE(state_subscribe(&state, "c", "a", "v=1", 0, 0), "a");
    REQUIRE(state_subscribe(&state, "c", "b", NULL, 0, 0), "b");
    state_unsubscribe(&state, "c", "b");
    journal_set_unwell(&state.journal, ENOSPC);
    state_subscribe(&state, "c", "b", NULL, 0, 0);
    CHECK(journal_tick(&state.journal, &state.sessions, 10) == JOURNAL_MENDED, "mended");
    check_file("mended");
    state_close(&state);
    REQUIRE(state_open(&state, path), "%s", state.error);
    CHECK(state_has(&state, "c", "b"), "lost in the restart");
}

static void test_journal_forgets_a_session_that_ended_while_unwell(void) {
    const char *path = journal_path("j");
    state_start(&state, path);
    REQUIRE(state_subscribe(&state, "c", "a", "v=1", 0, 0), "a");
    REQUIRE(state_subscribe(&state, "d", "a", "v=1", 0, 0), "a");
    journal_set_unwell(&state.journal, ENOSPC);
    state_end(&state, "c");
    state_unsubscribe(&state, "d", "a");
    CHECK(journal_tick(&state.journal, &state.sessions, 10) == JOURNAL_MENDED, "mended");
    state_close(&state);
    REQUIRE(state_open(&state, path), "%s", state.error);
    CHECK(!state_has(&state, "c", "a"), "c is back");
    CHECK(!state_has(&state, "d", "a"), "d's a is back");
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        TEST(test_journal_loads_what_was_written),
        TEST(test_journal_format),
        TEST(test_journal_is_written_anew_at_start),
        TEST(test_journal_is_written_anew_when_mostly_dead),
        TEST(test_journal_is_left_alone_while_it_lives),
        TEST(test_journal_remembers_a_bounded_number_of_removed_topics),
        TEST(test_journal_without_a_path_does_nothing),
        TEST(test_journal_is_for_its_owner_only),
        TEST(test_journal_replaces_what_a_crash_left),
        TEST(test_journal_is_on_disk_before_it_has_its_name),
        TEST(test_journal_closes_what_it_opened),
        TEST(test_journal_survives_a_full_disk),
        TEST(test_journal_keeps_what_was_made_again_while_unwell),
        TEST(test_journal_forgets_a_session_that_ended_while_unwell),
    };
    return run_tests(argc, argv, cases, N_ROWS(cases));
}
