/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The state file when something is wrong with it or its disk. Each case looks at three things: nothing is
 * delivered that a filter keeps back, the log tells the operator what to do, and doing it helps.
 */
#define _GNU_SOURCE /* prlimit */

#include "scenario.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define FIRST_LINE "{\"journal\":\"subscription-filter\",\"version\":1}\n"

/* A file in the broker's folder. Valid until the next call but one. */
static const char *path_of(struct broker *broker, const char *name) {
    static char paths[2][PATH_MAX];
    static unsigned n;
    char *path = paths[n++ % N_ROWS(paths)];
    snprintf(path, PATH_MAX, "%s/%s", broker_dir(broker), name);
    return path;
}

static void append_to(struct broker *broker, const char *name, const char *text) {
    FILE *file = fopen(path_of(broker, name), "ae");
    REQUIRE(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0, "%s", name);
}

static long file_bytes(struct broker *broker, const char *name) {
    struct stat status;
    return stat(path_of(broker, name), &status) == 0 ? (long)status.st_size : -1;
}

/* mosquitto.db holds everything up to now. */
static void save(struct broker *broker, struct client *client) {
    broker_save(broker);
    client_ping(client);
    client_ping(client);
}

/* A broker that has been stopped, with one kept session "reader": t?x=1, and u plain. */
static struct broker *stopped_broker(void) {
    struct broker *broker = broker_start(PLUGIN PERSISTENT);
    struct client *reader = keep(broker, "reader");
    subscribe(reader, "t?x=1", 1);
    subscribe(reader, "u", 1);
    client_disconnect(reader);
    broker_stop(broker);
    return broker;
}

/* Whether the filter of that session is in force. */
static void check_in_force(struct broker *broker, const char *row) {
    struct client *writer = client_open(broker, "writer");
    publish(writer, "t", "no", 1, "2");
    publish(writer, "t", "a", 1, "1");
    publish(writer, "u", "b", 1, "2");
    struct client *reader = keep(broker, "reader");
    CHECK(client_session_present(reader), "%s: the session", row);
    const char *got = arrived(reader, writer);
    CHECK(strcmp(got, "a b") == 0, "%s: '%s' arrived", row, got);
    client_disconnect(reader);
}

/* ---- what a crash leaves ----------------------------------------------------------------------------------------- */

/* The last line may end anywhere: its change was not acknowledged. */
static void test_a_torn_last_line_is_dropped(void) {
    static const char *const tails[] = {
        "{",
        "{\"client\":\"reader\",\"ended\":tr",
        "{\"client\":\"reader\",\"ended\":true}", /* complete but for its line feed */
        "{\"client\":\"reader\",\"topic\":\"t\",\"removed\":true}",
        "\xFF\xFE",
    };
    for (size_t i = 0; i < N_ROWS(tails); i++) {
        struct broker *broker = stopped_broker();
        append_to(broker, STATE_FILE, tails[i]);
        broker_run(broker);
        CHECK(broker_await_log(broker, "the last line of the state file"), "row %zu", i);
        CHECK(broker_log_count(broker, "was incomplete and was dropped") == 1, "row %zu", i);
        check_in_force(broker, tails[i]);
        /* And the next start has nothing to complain about. */
        broker_stop(broker);
        broker_run(broker);
        check_in_force(broker, tails[i]);
        CHECK(broker_log_count(broker, "was incomplete and was dropped") == 1, "row %zu", i);
    }
}

/* A crash while the file was written anew leaves the new one half done. */
static void test_a_new_file_that_was_not_finished(void) {
    struct broker *broker = stopped_broker();
    broker_write_file(broker, STATE_FILE ".new", FIRST_LINE "{\"client\":\"rea");
    broker_run(broker);
    check_in_force(broker, "half a file");
    CHECK(file_bytes(broker, STATE_FILE ".new") < 0, "it is gone");
}

/* The first line cannot be torn: the file is only ever put in place as a whole. */
static void test_a_torn_first_line_is_damage(void) {
    static const char *const texts[] = {"", "{\"journal\":\"subscr", "rubbish", "\n"};
    for (size_t i = 0; i < N_ROWS(texts); i++) {
        struct broker *broker = stopped_broker();
        broker_write_file(broker, STATE_FILE, texts[i]);
        broker_expect_failure(broker);
        CHECK(!broker_try_run(broker), "row %zu: it starts and delivers unfiltered", i);
        CHECK(broker_log_count(broker, i == 0 ? "the file is empty" : STATE_FILE ", line 1:") == 1,
              "row %zu: log", i);
    }
}

/* ---- damage ------------------------------------------------------------------------------------------------------ */

/* Starting would deliver unfiltered what somebody asked to be filtered. */
static void test_damage_stops_the_start(void) {
    static const struct {
        const char *text;
        const char *log; /* after the name of the file */
    } rows[] = {
        {FIRST_LINE "rubbish\n{\"client\":\"a\",\"ended\":true}\n",
         ", line 2: the line is damaged"},
        {FIRST_LINE "\n", ", line 2: the line is damaged"},
        {FIRST_LINE "{\"client\":\"a\",\"topic\":\"t\",\"filter\":\"x=1\",\"opt\n",
         ", line 2: the line is damaged"},
        {FIRST_LINE "{\"client\":\"a\",\"client\":\"b\",\"ended\":true}\n",
         ", line 2: the line is damaged"},
        {FIRST_LINE "{\"client\":\"a\"}\n", ", line 2: it is not a record"},
        {FIRST_LINE "{\"client\":\"a\",\"topic\":\"\",\"options\":1}\n",
         ", line 2: it is not a record"},
        {FIRST_LINE
         "{\"client\":\"a\",\"topic\":\"t\",\"filter\":\"x=1\",\"options\":1,\"more\":1}\n",
         ", line 2: it is not a record"},
        {FIRST_LINE
         "{\"client\":\"a\",\"topic\":\"t\",\"filter\":\"x\",\"options\":1,\"identifier\":0}\n",
         ", line 2: the filter is not valid in this version"},
        {FIRST_LINE "{\"client\":\"a\",\"ended\":true}\n"
                    "{\"client\":\"a\",\"topic\":\"$share/"
                    "g\",\"filter\":\"x=1\",\"options\":1,\"identifier\":0}\n",
         ", line 3: a topic, options or identifier"},
        {FIRST_LINE
         "{\"client\":\"a\",\"topic\":\"t\",\"filter\":\"x=1\",\"options\":256,\"identifier\":0}\n",
         ", line 2: a topic, options or identifier"},
        {FIRST_LINE
         "{\"client\":\"a\",\"topic\":\"t\",\"filter\":\"x=1\",\"options\":1,\"identifier\":-1}\n",
         ", line 2: a topic, options or identifier"},
        {"{\"journal\":\"subscription-filter\",\"version\":0}\n",
         ", line 1: the journal has version 0"},
        {"{\"journal\":\"subscription-filter\",\"version\":2}\n",
         ", line 1: the journal has version 2"},
        {"{\"journal\":\"something-else\",\"version\":1}\n", ", line 1: the file is not a journal"},
        {"{\"client\":\"a\",\"ended\":true}\n", ", line 1: the file is not a journal"},
        {"[1]\n", ", line 1: the file is not a journal"},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        struct broker *broker = stopped_broker();
        const char *good = read_file(broker, STATE_FILE);
        broker_write_file(broker, STATE_FILE, rows[i].text);
        broker_expect_failure(broker);
        CHECK(!broker_try_run(broker), "row %zu: it starts", i);
        char line[256];
        snprintf(line, sizeof line, "%s%s", STATE_FILE, rows[i].log);
        CHECK(broker_log_count(broker, line) == 1, "row %zu: not logged: %s", i, line);
        CHECK(broker_log_count(broker, "Restore the file from a copy; or remove it") == 1,
              "row %zu: the way out", i);
        CHECK(strcmp(read_file(broker, STATE_FILE), rows[i].text) == 0,
              "row %zu: the file is untouched", i);

        /* Both ways out. */
        if (i % 2 == 0) {
            broker_write_file(broker, STATE_FILE, good);
            CHECK(broker_try_run(broker), "row %zu: with the copy", i);
            check_in_force(broker, rows[i].log);
        } else {
            REQUIRE(unlink(path_of(broker, STATE_FILE)) == 0, "unlink");
            CHECK(broker_try_run(broker), "row %zu: without", i);
            struct client *reader = keep(broker, "reader");
            subscribe_refused(broker, reader, "t?x=1", "connect with Clean Start");
        }
    }
}

/* NUL bytes, as file systems leave them after a power loss. */
static void test_a_hole_in_the_file(void) {
    struct broker *broker = stopped_broker();
    char hole[100] = {0};
    FILE *file = fopen(path_of(broker, STATE_FILE), "ae");
    REQUIRE(file != NULL, "open");
    fwrite(hole, 1, sizeof hole, file);
    fclose(file);
    broker_run(broker); /* at the end, it is a torn line */
    CHECK(broker_log_count(broker, "was incomplete and was dropped") == 1, "dropped");
    check_in_force(broker, "hole");
    broker_stop(broker);

    file = fopen(path_of(broker, STATE_FILE), "ae");
    REQUIRE(file != NULL, "open");
    fwrite(hole, 1, sizeof hole, file);
    fputs("\n{\"client\":\"reader\",\"ended\":true}\n", file);
    fclose(file);
    broker_expect_failure(broker);
    CHECK(!broker_try_run(broker), "in the middle it is damage");
    CHECK(broker_await_log(broker, "the line is damaged"), "log");
}

/* ---- a file or folder that cannot be used ------------------------------------------------------------------------ */

static void test_unusable_paths_stop_the_start(void) {
    static const struct {
        const char *state_file;
        const char *folder; /* to be made first */
        const char *log;
    } rows[] = {
        {"@DIR@/absent/state", NULL, "cannot be written: No such file or directory"},
        {"@DIR@/mosquitto.conf/state", NULL, "cannot be read: Not a directory"},
        {"@DIR@/folder", "folder", "cannot be read: Is a directory"},
        {"@DIR@/state", "state.new", "cannot be written"},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        struct broker *broker = broker_new(PLUGIN "plugin_opt_state_file %s\n", rows[i].state_file);
        if (rows[i].folder != NULL) {
            REQUIRE(mkdir(path_of(broker, rows[i].folder), 0700) == 0, "mkdir");
        }
        broker_expect_failure(broker);
        CHECK(!broker_try_run(broker), "row %zu: it starts", i);
        CHECK(broker_log_count(broker, rows[i].log) == 1, "row %zu: not logged: %s", i,
              rows[i].log);
    }
}

/* Root may write everywhere, so this says something only for others. */
static void test_missing_permissions_stop_the_start(void) {
    if (geteuid() == 0) {
        test_note("as root everything may be written");
        return;
    }
    struct broker *broker = stopped_broker();
    REQUIRE(chmod(path_of(broker, STATE_FILE), 0) == 0, "chmod");
    broker_expect_failure(broker);
    CHECK(!broker_try_run(broker), "an unreadable file");
    CHECK(broker_log_count(broker, "cannot be read: Permission denied") == 1, "log");
    REQUIRE(chmod(path_of(broker, STATE_FILE), 0600) == 0, "chmod");
    REQUIRE(mkdir(path_of(broker, "shut"), 0500) == 0, "mkdir");
    broker_configure(broker, PLUGIN "plugin_opt_state_file @DIR@/shut/state\n" PERSISTENT);
    CHECK(!broker_try_run(broker), "an unwritable folder");
    CHECK(broker_log_count(broker, "cannot be written: Permission denied") == 1, "log");
}

static void test_the_file_is_private(void) {
    struct broker *broker = stopped_broker();
    struct stat status;
    REQUIRE(stat(path_of(broker, STATE_FILE), &status) == 0, "stat");
    CHECK((status.st_mode & 0777) == 0600, "mode %o", (unsigned)status.st_mode & 0777);
}

/* ---- a disk that is full ----------------------------------------------------------------------------------------- */

/* No file of the broker may grow beyond this (0: as large as it likes). */
static void limit_files(struct broker *broker, long bytes) {
    struct rlimit limit = {.rlim_cur = bytes == 0 ? RLIM_INFINITY : (rlim_t)bytes,
                           .rlim_max = RLIM_INFINITY};
    REQUIRE(prlimit((pid_t)broker_pid(broker), RLIMIT_FSIZE, &limit, NULL) == 0, "prlimit: %s",
            strerror(errno));
}

static void restore_signal(void *user) {
    (void)user;
    signal(SIGXFSZ, SIG_DFL);
}

/* A broker whose state file is larger than its log, so that a limit on the size of files hits the state file
 * alone. The client has 60 filters on s/<i>, each with x=1. */
static struct broker *broker_with_large_state(struct client **client_out) {
    enum { N = 60, PADDING = 4000 };
    signal(SIGXFSZ, SIG_IGN); /* inherited: write(2) fails, instead of the broker being killed */
    test_defer(restore_signal, NULL);
    struct broker *broker = broker_start(PLUGIN PERSISTENT);
    struct client *client = keep(broker, "large");
    for (int i = 0; i < N; i++) {
        static char text[PADDING + 64];
        int used = snprintf(text, sizeof text, "s/%d?sql:x = '1' AND x <> '", i);
        memset(text + used, 'p', PADDING);
        strcpy(text + used + PADDING, "'");
        subscribe(client, text, 1);
    }
    CHECK(file_bytes(broker, STATE_FILE) > 2 * file_bytes(broker, "broker.log"),
          "%ld bytes, log %ld", file_bytes(broker, STATE_FILE), file_bytes(broker, "broker.log"));
    *client_out = client;
    return broker;
}

static void test_a_full_disk(void) {
    struct client *large;
    struct broker *broker = broker_with_large_state(&large);
    struct client *writer = client_open(broker, "writer");
    struct client *other = keep(broker, "other");
    subscribe(other, "u", 1);
    limit_files(broker,
                file_bytes(broker, STATE_FILE) / 2); /* a whole new one does not fit either */

    /* The first one meets the failure: it would not survive a restart, so it is not acknowledged. */
    CHECK(client_subscribe(other, "t?x=1", 1) == CLIENT_CLOSED, "it is not acknowledged");
    CHECK(broker_await_log(broker, "cannot be written: File too large"), "log");
    client_reconnect(other);
    CHECK(client_session_present(other), "the session goes on");
    /* From then on they are refused, and nothing else is. */
    subscribe_refused(broker, other, "t?x=1", "the state file cannot be written (File too large)");
    subscribe(other, "v", 1);
    CHECK(client_unsubscribe(large, "s/1") == 0, "s/1");
    subscribe(large, "s/2", 1); /* plain now */
    publish(writer, "t", "no", 1, "1");
    publish(writer, "s/0", "no", 1, "2");
    publish(writer, "s/0", "a", 1, "1");
    publish(writer, "s/1", "no", 1, "1");
    publish(writer, "s/2", "b", 1, "2");
    publish(writer, "u", "c", 1, NULL);
    publish(writer, "v", "d", 1, NULL);
    CHECK_ARRIVED(large, writer, "a b");
    CHECK_ARRIVED(other, writer, "c d");

    /* There is room again: by itself everything is well within a second or so. */
    limit_files(broker, 0);
    CHECK(broker_await_log(broker, "is written again; filtered subscriptions are accepted"), "log");
    subscribe(other, "t?x=1", 1);
    client_disconnect(large);
    client_disconnect(other);
    save(broker, writer);
    client_drop(writer);
    broker_kill(broker);
    broker_run(broker);
    writer = client_open(broker, "writer");
    publish(writer, "t", "no", 1, "2");
    publish(writer, "t", "a", 1, "1");
    publish(writer, "s/0", "no", 1, "2");
    publish(writer, "s/1", "no", 1, "1");
    publish(writer, "s/2", "b", 1, "2");
    client_reconnect(large);
    client_reconnect(other);
    CHECK_ARRIVED(large, writer, "b");
    CHECK_ARRIVED(other, writer, "a");
}

/* A line that was cut off for lack of room: what follows must not be appended to it. */
static void test_a_line_that_did_not_fit(void) {
    static const long rooms[] = {0, 1, 40};
    for (size_t i = 0; i < N_ROWS(rooms); i++) {
        struct client *large;
        struct broker *broker = broker_with_large_state(&large);
        struct client *writer = client_open(broker, "writer");
        limit_files(broker, file_bytes(broker, STATE_FILE) + rooms[i]);
        CHECK(client_unsubscribe(large, "s/1") == 0, "room %ld", rooms[i]);
        subscribe(large, "s/2", 1);
        /* Without s/1 the whole file is smaller, so it can be written anew. */
        CHECK(broker_await_log(broker, "is written again"), "room %ld: mended", rooms[i]);
        subscribe(large, "s/3?x=2", 1);
        save(broker, large);
        client_drop(large);
        broker_kill(broker);
        broker_run(broker);
        CHECK(broker_log_count(broker, "was incomplete") == 0, "room %ld: no torn line", rooms[i]);
        writer = client_open(broker, "writer");
        publish(writer, "s/0", "no", 1, "2");
        publish(writer, "s/1", "no", 1, "1");
        publish(writer, "s/2", "a", 1, "2");
        publish(writer, "s/3", "b", 1, "2");
        client_reconnect(large);
        CHECK_ARRIVED(large, writer, "a b");
    }
}

/* The broker crashes while the disk is full: what was removed in the meantime may come back, but never unfiltered. */
static void test_a_crash_with_a_full_disk(void) {
    struct client *large;
    struct broker *broker = broker_with_large_state(&large);
    struct client *writer = client_open(broker, "writer");
    CHECK_ARRIVED(large, writer, ""); /* now the fence's subscription is saved too */
    save(broker, writer);
    limit_files(broker, file_bytes(broker, STATE_FILE) + 30);
    REQUIRE(mkdir(path_of(broker, STATE_FILE ".new"), 0700) == 0,
            "mkdir"); /* nor can it be written anew */
    CHECK(client_unsubscribe(large, "s/1") == 0, "it is removed");
    CHECK(broker_await_log(broker, "cannot be written: "), "log");
    subscribe(large, "s/2", 1);
    publish(writer, "s/1", "no", 1, "1");
    publish(writer, "s/2", "a", 1, "2");
    CHECK_ARRIVED(large, writer, "a");
    client_drop(writer);
    client_drop(large);
    broker_kill(broker);
    REQUIRE(rmdir(path_of(broker, STATE_FILE ".new")) == 0, "rmdir");
    broker_run(broker);
    CHECK(broker_log_count(broker, "was incomplete and was dropped") == 1, "a torn line");
    writer = client_open(broker, "writer");
    client_reconnect(large);
    for (int i = 0; i < 3; i++) {
        char topic[16];
        snprintf(topic, sizeof topic, "s/%d", i);
        publish(writer, topic, "no", 1, "2");
        publish(writer, topic, topic, 1, "1");
    }
    CHECK_ARRIVED(large, writer, "s/0 s/1 s/2");
}

/* The folder goes away and comes back. */
static void test_a_folder_that_goes_away(void) {
    struct broker *broker =
        broker_new(PLUGIN "plugin_opt_state_file @DIR@/folder/state\n" PERSISTENT);
    char folder[PATH_MAX];
    char moved[PATH_MAX];
    snprintf(folder, sizeof folder, "%s", path_of(broker, "folder"));
    snprintf(moved, sizeof moved, "%s", path_of(broker, "moved"));
    REQUIRE(mkdir(folder, 0700) == 0, "mkdir");
    broker_run(broker);
    struct client *reader = keep(broker, "reader");
    subscribe(reader, "t?x=1", 1);
    /* The open file still takes lines; writing the file anew is what fails. */
    REQUIRE(rename(folder, moved) == 0, "rename");
    int code = 1;
    for (int i = 0; i < 5000 && code == 1; i++) {
        code = client_subscribe(reader, i % 2 == 0 ? "t?x=2" : "t?x=1", 1);
    }
    CHECK(code == 0x87, "0x%02x", (unsigned)code);
    CHECK(broker_await_log(broker, "cannot be written: No such file or directory"), "log");
    subscribe_refused(broker, reader, "v?x=1", "the state file cannot be written");
    REQUIRE(rename(moved, folder) == 0, "rename");
    CHECK(broker_await_log(broker, "is written again"), "mended");
    subscribe(reader, "t?x=1", 1);
    subscribe(reader, "v?x=1", 1);
    save(broker, reader);
    client_drop(reader);
    broker_kill(broker);
    broker_run(broker);
    struct client *writer = client_open(broker, "writer");
    publish(writer, "t", "no", 1, "2");
    publish(writer, "v", "a", 1, "1");
    client_reconnect(reader);
    CHECK_ARRIVED(reader, writer, "a");
}

/* ---- its size ---------------------------------------------------------------------------------------------------- */

static void test_the_file_does_not_grow_without_bound(void) {
    struct broker *broker = broker_start(PLUGIN PERSISTENT);
    struct client *reader = keep(broker, "reader");
    long most = 0;
    const int n = test_long() ? 50000 : 4000;
    for (int i = 0; i < n; i++) {
        char topic[32];
        snprintf(topic, sizeof topic, "t/%d?x=%d", i % 10, i % 3);
        subscribe(reader, topic, 1);
        if (i % 5 == 0) {
            snprintf(topic, sizeof topic, "t/%d", i % 10);
            CHECK(client_unsubscribe(reader, topic) == 0, "%s", topic);
        }
        long bytes = file_bytes(broker, STATE_FILE);
        most = bytes > most ? bytes : most;
    }
    test_note("%d changes: at most %ld bytes", n, most);
    CHECK(most < 200000, "%ld bytes",
          most); /* about 1,000 dead lines of 90 bytes are allowed, and as many per second */
    CHECK(n < 4000 || file_bytes(broker, STATE_FILE) <= most, "it shrinks");
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        TEST(test_a_torn_last_line_is_dropped),
        TEST(test_a_new_file_that_was_not_finished),
        TEST(test_a_torn_first_line_is_damage),
        TEST(test_damage_stops_the_start),
        TEST(test_a_hole_in_the_file),
        TEST(test_unusable_paths_stop_the_start),
        TEST(test_missing_permissions_stop_the_start),
        TEST(test_the_file_is_private),
        TEST(test_a_full_disk),
        TEST(test_a_line_that_did_not_fit),
        TEST(test_a_crash_with_a_full_disk),
        TEST(test_a_folder_that_goes_away),
        TEST(test_the_file_does_not_grow_without_bound),
    };
    return run_tests(argc, argv, cases, N_ROWS(cases));
}
