/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See the header. */
#include "journal_fixture.h"

#include "runner.h"
#include "subscription_string.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_PATH = 512, N_PATHS = 8 };

static char folder[MAX_PATH];
static char paths[N_PATHS][2 * MAX_PATH]; /* in it */
static size_t n_paths;

static void remove_folder(void *user) {
    (void)user;
    DIR *entries = opendir(folder);
    for (struct dirent *entry; entries != NULL && (entry = readdir(entries)) != NULL;) {
        char path[2 * MAX_PATH];
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (unlink(path) != 0) {
            rmdir(path); /* "." and ".." stay: they are not empty */
        }
    }
    if (entries != NULL) {
        closedir(entries);
    }
    rmdir(folder);
    folder[0] = '\0';
    n_paths = 0;
}

const char *journal_folder(void) {
    if (folder[0] == '\0') {
        const char *above = getenv("TMPDIR");
        snprintf(folder, sizeof folder, "%s/test-journal-XXXXXX", above == NULL ? "/tmp" : above);
        REQUIRE(mkdtemp(folder) != NULL, "%s: %s", folder, strerror(errno));
        test_defer(remove_folder, NULL);
    }
    return folder;
}

const char *journal_path(const char *name) {
    char path[2 * MAX_PATH];
    snprintf(path, sizeof path, "%s/%s", journal_folder(), name);
    size_t i = 0;
    while (i < n_paths && strcmp(paths[i], path) != 0) {
        i++;
    }
    REQUIRE(i < N_PATHS, "too many names");
    if (i == n_paths) {
        strcpy(paths[n_paths++], path);
    }
    return paths[i];
}

/* ---- a state ---- */

void (*state_around_write)(bool before);

static void around_write(bool before) {
    if (state_around_write != NULL) {
        state_around_write(before);
    }
}

bool state_open(struct state *state, const char *path) {
    *state = (struct state){.schema = sf_schema_new()};
    const struct sf_options options = SF_OPTIONS_INIT;
    return state->schema != NULL &&
           journal_open(&state->journal, path, &state->sessions, state->schema, &options,
                        &state->torn, state->error);
}

void state_close(struct state *state) {
    state_around_write = NULL;
    if (state->schema != NULL) {
        journal_close(&state->journal);
        sessions_deinit(&state->sessions);
        CHECK(sf_schema_filters(state->schema) == 0, "%zu filters without owners",
              sf_schema_filters(state->schema));
        sf_schema_free(state->schema);
        state->schema = NULL;
    }
}

static void close_at_end(void *state) {
    state_close(state);
}

void state_start(struct state *state, const char *path) {
    bool opened = state_open(state, path);
    test_defer(close_at_end, state);
    REQUIRE(opened, "%s", state->error);
}

/* The text in the broker's form. */
static void write_broker_text(const char *text, const struct sf_filter *filter, char *out) {
    if (filter == NULL || share_topic_offset(text) == 0) {
        strcpy(out, text);
        return;
    }
    size_t bytes = 0;
    const char *canonical = sf_filter_text(filter, &bytes);
    share_rename(text, canonical, bytes, out);
}

static struct subscription *find_by_topic(const struct state *state, const struct session *session,
                                          const char *text) {
    size_t offset = share_topic_offset(text);
    return offset == 0 ? session_find(&state->sessions, session, text)
                       : session_find_shared(&state->sessions, session, text + SHARE_PREFIX_BYTES,
                                             share_name_bytes(text), text + offset);
}

bool state_subscribe(struct state *state, const char *id, const char *text, const char *expression,
                     uint8_t options, uint32_t identifier) {
    struct sf_filter *filter = NULL;
    if (expression != NULL) {
        enum sf_status status =
            sf_compile(state->schema, NULL, expression, strlen(expression), &filter, NULL);
        REQUIRE(status == SF_OK, "%s", expression);
    }
    char broker_text[1024];
    write_broker_text(text, filter, broker_text);
    struct session *session = sessions_get(&state->sessions, id);
    REQUIRE(session != NULL, "%s", id);
    struct subscription *old = find_by_topic(state, session, text);
    if (old != NULL && (old->group == NULL || strcmp(old->group->text, broker_text) == 0)) {
        old = NULL; /* changed in place */
    }
    const struct journal_subscription record = {
        .text = broker_text,
        .filter_text = filter == NULL ? NULL : sf_filter_text(filter, NULL),
        .replaced = old == NULL ? NULL : old->group->text,
        .identifier = identifier,
        .options = options,
    };
    around_write(true);
    bool written = journal_subscribe(&state->journal, session, &record);
    around_write(false);
    if (!written && filter != NULL) {
        sf_filter_unref(filter);
        return false;
    }
    size_t name_bytes = share_topic_offset(text) == 0 ? 0 : share_name_bytes(text);
    REQUIRE(session_subscribe(&state->sessions, session, broker_text, name_bytes, filter, options,
                              identifier) != NULL,
            "%s", text);
    if (old != NULL) {
        around_write(true);
        journal_note_removed(&state->journal, session, old->group->text);
        around_write(false);
        subscription_remove(&state->sessions, old);
    }
    return true;
}

void state_unsubscribe(struct state *state, const char *id, const char *text) {
    struct session *session = sessions_find(&state->sessions, id);
    struct subscription *gone = session == NULL ? NULL : find_by_topic(state, session, text);
    if (gone != NULL) {
        char broker_text[1024];
        subscription_write_text(gone, broker_text);
        around_write(true);
        journal_unsubscribe(&state->journal, session, broker_text);
        around_write(false);
        subscription_remove(&state->sessions, gone);
    }
}

void state_end(struct state *state, const char *id) {
    struct session *session = sessions_find(&state->sessions, id);
    if (session != NULL) {
        /* as one that the broker may have saved */
        bool stored = session->stored;
        around_write(true);
        journal_end(&state->journal, session);
        around_write(false);
        if (stored) {
            REQUIRE(session_bury(&state->sessions, session), "memory");
            session->stored = true;
        } else {
            session_remove(&state->sessions, session);
        }
    }
}

bool state_has(const struct state *state, const char *id, const char *text) {
    const struct session *session = sessions_find(&state->sessions, id);
    return session != NULL && find_by_topic(state, session, text) != NULL;
}

bool state_random_change(struct state *state, uint64_t *random) {
    static const char *const ids[] = {"a", "b", "client \"3\"", "\xC3\xBC\\/"};
    static const char *const texts[] = {"a",
                                        "a/+",
                                        "#",
                                        "/",
                                        "$share/g/a",
                                        "$share/g/a/b",
                                        "$share/\xE2\x82\xAC/#",
                                        "t/\xF0\x9F\x98\x80"};
    static const char *const expressions[] = {
        NULL, NULL, "v=1", "v>5&a=\"x\"", "sql:a = 'it''s' OR b > 1", "tag:x||y"};
    const char *id = ids[test_random(random) % N_ROWS(ids)];
    const char *text = texts[test_random(random) % N_ROWS(texts)];
    const char *expression = expressions[test_random(random) % N_ROWS(expressions)];
    uint64_t kind = test_random(random) % 20;
    if (kind == 0) {
        state_end(state, id);
    } else if (kind < 7) {
        state_unsubscribe(state, id, text);
    } else {
        return state_subscribe(state, id, text, expression, (uint8_t)(test_random(random) % 64),
                               (uint32_t)(test_random(random) % 3 * 134217727));
    }
    return true;
}

/* ---- as text ---- */

struct lines {
    char **line;
    size_t count;
    size_t bytes;
};

static void add_line(struct lines *lines, char *line) {
    lines->line = realloc(lines->line, (lines->count + 1) * sizeof *lines->line);
    REQUIRE(lines->line != NULL && line != NULL, "memory");
    lines->line[lines->count++] = line;
    lines->bytes += strlen(line);
}

static int compare(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static char *joined(struct lines *lines) {
    if (lines->count > 0) {
        qsort(lines->line, lines->count, sizeof *lines->line, compare);
    }
    char *text = malloc(lines->bytes + 1);
    REQUIRE(text != NULL, "memory");
    char *end = text;
    *end = '\0';
    for (size_t i = 0; i < lines->count; i++) {
        end = strcpy(end, lines->line[i]) + strlen(lines->line[i]);
        free(lines->line[i]);
    }
    free(lines->line);
    return text;
}

static void add_list(struct lines *lines, const struct subscription_list *list) {
    for (uint32_t i = 0; i < list->count; i++) {
        const struct subscription *s = list->items[i];
        char text[1024], line[4096];
        subscription_write_text(s, text);
        snprintf(line, sizeof line, "%s | %s | %s | %u | %u\n", s->session->id, text,
                 s->filter == NULL ? "plain" : sf_filter_text(s->filter, NULL), s->options,
                 s->identifier);
        add_line(lines, strdup(line));
    }
}

char *state_text(const struct state *state) {
    struct lines lines = {0};
    const struct session *session = state->sessions.by_id;
    for (; session != NULL; session = session->hh.next) {
        if (!session->stored) {
            continue;
        }
        add_list(&lines, &session->normal);
        add_list(&lines, &session->shared);
        for (const struct removed_topic *r = session->removed; r != NULL; r = r->hh.next) {
            char line[2048];
            snprintf(line, sizeof line, "%s | %s | removed\n", session->id, r->text);
            add_line(&lines, strdup(line));
        }
    }
    return joined(&lines);
}

char *journal_file_text(const char *path, bool *torn_out, const char **error_out) {
    static char error[JOURNAL_ERROR_BYTES];
    const char *copy = journal_path("copy.jsonl");
    size_t bytes = 0;
    char *text = file_read(path, &bytes);
    file_write(copy, text, bytes);
    free(text);
    struct state loaded;
    bool opened = state_open(&loaded, copy);
    strcpy(error, opened ? "" : loaded.error);
    if (error_out != NULL) {
        *error_out = error;
    }
    *torn_out = loaded.torn;
    char *result = opened ? state_text(&loaded) : NULL;
    state_close(&loaded);
    return result;
}

/* ---- instead of the C library's ---- */

unsigned n_fsyncs;
bool synced_before_rename;
static bool synced;

int fsync(int fd) {
    (void)fd;
    n_fsyncs++;
    synced = true;
    return 0;
}

int rename(const char *old_path, const char *new_path) {
    synced_before_rename = synced;
    synced = false;
    return renameat(AT_FDCWD, old_path, AT_FDCWD, new_path);
}

/* ---- files ---- */

char *file_read(const char *path, size_t *bytes_out) {
    FILE *file = fopen(path, "r");
    REQUIRE(file != NULL, "%s: %s", path, strerror(errno));
    struct stat status;
    REQUIRE(fstat(fileno(file), &status) == 0, "%s", strerror(errno));
    size_t bytes = (size_t)status.st_size;
    char *text = malloc(bytes + 1);
    REQUIRE(text != NULL && fread(text, 1, bytes, file) == bytes, "%s", path);
    text[bytes] = '\0';
    fclose(file);
    if (bytes_out != NULL) {
        *bytes_out = bytes;
    }
    return text;
}

void file_write(const char *path, const char *text, size_t bytes) {
    FILE *file = fopen(path, "w");
    REQUIRE(file != NULL, "%s: %s", path, strerror(errno));
    REQUIRE(fwrite(text, 1, bytes, file) == bytes && fclose(file) == 0, "%s: %s", path,
            strerror(errno));
}
