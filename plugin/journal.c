/* SPDX-License-Identifier: BSD-3-Clause
 *
 * journal: see the header. Reading is in journal_load.c. One record is one line, built by jansson in memory and written
 * with one write(2) to a file opened for appending, so a crash tears at most the last line.
 */
#include "journal.h"

#include "journal_internal.h"
#include "write_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    RETRY_S = 1,
    FILE_MODE = 0600,      /* it names clients and topics */
    MIN_DEAD_LINES = 1000, /* a small file is not worth writing anew */
    MAX_REMOVED = 4096,    /* of one session: a client must not grow memory by removing */
};

/* ---- text being built ---- */

struct text {
    char *bytes;
    size_t used;
    size_t capacity;
};

static int append(const char *data, size_t bytes, void *user) {
    struct text *text = user;
    if (bytes > text->capacity - text->used) {
        size_t capacity = (text->used + bytes) * 2;
        char *grown = realloc(text->bytes, capacity);
        if (grown == NULL) {
            return -1;
        }
        text->bytes = grown;
        text->capacity = capacity;
    }
    memcpy(text->bytes + text->used, data, bytes);
    text->used += bytes;
    return 0;
}

/* Append `record` (taken) as a line. false: out of memory. */
static bool append_line(struct text *text, json_t *record) {
    bool done = record != NULL && json_dump_callback(record, append, text, JSON_COMPACT) == 0 &&
                append("\n", 1, text) == 0;
    json_decref(record);
    return done;
}

static bool append_subscription(struct text *text, const char *client, const char *topic, const char *filter_text,
                                uint8_t options, uint32_t identifier) {
    json_t *record = json_pack("{ss, ss, ss*, si, sI}", KEY_CLIENT, client, KEY_TOPIC, topic, KEY_FILTER, filter_text,
                               KEY_OPTIONS, (int)options, KEY_IDENTIFIER, (json_int_t)identifier);
    return append_line(text, record);
}

static bool append_removed(struct text *text, const char *client, const char *topic) {
    return append_line(text, json_pack("{ss, ss, sb}", KEY_CLIENT, client, KEY_TOPIC, topic, KEY_REMOVED, 1));
}

static bool append_held(struct text *text, const struct subscription *subscription) {
    char *topic = malloc(subscription_text_bytes(subscription) + 1);
    if (topic == NULL) {
        return false;
    }
    subscription_write_text(subscription, topic);
    bool done = append_subscription(text, subscription->session->id, topic,
                                    subscription->filter == NULL ? NULL : sf_filter_text(subscription->filter, NULL),
                                    subscription->options, subscription->identifier);
    free(topic);
    return done;
}

/* Append all that the journal has to say of a session. Counts lines. */
static bool append_session(struct text *text, const struct session *session, size_t *n_lines) {
    const struct subscription_list *lists[] = {&session->normal, &session->shared};
    for (size_t i = 0; i < 2; i++) {
        for (uint32_t k = 0; k < lists[i]->count; k++) {
            if (!append_held(text, lists[i]->items[k])) {
                return false;
            }
        }
        *n_lines += lists[i]->count;
    }
    for (const struct removed_topic *removed = session->removed; removed != NULL; removed = removed->hh.next) {
        if (!append_removed(text, session->id, removed->text)) {
            return false;
        }
        ++*n_lines;
    }
    return true;
}

/* ---- appending ---- */

void journal_set_unwell(struct journal *journal, int error) {
    if (journal->path != NULL && !journal->unwell) {
        journal->unwell = true;
        journal->error = error;
        journal->retry_at_s = 0;
    }
}

/* Write `text` (its memory is freed) and count its lines. */
static bool write_text(struct journal *journal, struct text *text, bool built, size_t n_lines) {
    bool done = false;
    if (!built) {
        journal_set_unwell(journal, ENOMEM);
    } else if (!journal->unwell) { /* after a failure a part of a line may stand at the end: nothing may follow it */
        ssize_t written = write(journal->fd, text->bytes, text->used);
        done = written >= 0 && (size_t)written == text->used;
        if (!done) {
            journal_set_unwell(journal, written < 0 ? errno : ENOSPC);
        }
        journal->n_lines += done ? n_lines : 0;
    }
    free(text->bytes);
    return done;
}

bool journal_subscribe(struct journal *journal, struct session *session,
                       const struct journal_subscription *subscription) {
    if (journal->path == NULL || (subscription->filter_text == NULL && !session->stored)) {
        return true;
    }
    struct text lines = {0};
    size_t n_lines = 1;
    bool built = session->stored || append_session(&lines, session, &n_lines);
    if (built && subscription->replaced != NULL) {
        built = append_removed(&lines, session->id, subscription->replaced) &&
                session_note_removed(session, subscription->replaced, MAX_REMOVED);
        n_lines++;
    }
    built = built && append_subscription(&lines, session->id, subscription->text, subscription->filter_text,
                                         subscription->options, subscription->identifier);
    if (!write_text(journal, &lines, built, n_lines)) {
        return false;
    }
    session->stored = true;
    session_forget_removed(session, subscription->text);
    return true;
}

void journal_unsubscribe(struct journal *journal, struct session *session, const char *text) {
    if (journal->path == NULL || !session->stored) {
        return;
    }
    struct text lines = {0};
    bool built = append_removed(&lines, session->id, text);
    (void)write_text(journal, &lines, built, 1); /* unwell: the removal is in memory, and so in the next whole file */
    if (!session_note_removed(session, text, MAX_REMOVED)) {
        journal_set_unwell(journal, ENOMEM);
    }
}

void journal_end(struct journal *journal, struct session *session) {
    if (journal->path == NULL || !session->stored) {
        return;
    }
    struct text lines = {0};
    bool built = append_line(&lines, json_pack("{ss, sb}", KEY_CLIENT, session->id, KEY_ENDED, 1));
    (void)write_text(journal, &lines, built, 1);
    session->stored = false;
}

/* ---- writing the whole file ---- */

bool journal_write_all(struct journal *journal, const struct sessions *sessions) {
    struct text text = {0};
    size_t n_lines = 1;
    bool built = append_line(&text, json_pack("{ss, si}", KEY_JOURNAL, JOURNAL_NAME, KEY_VERSION, JOURNAL_VERSION));
    for (const struct session *session = sessions->by_id; built && session != NULL; session = session->hh.next) {
        if (session->stored) {
            built = append_session(&text, session, &n_lines);
        }
    }
    int fd = -1;
    errno = ENOMEM;
    bool done = built && write_file_open(journal->path, text.bytes, text.used, FILE_MODE, &fd);
    int error = errno;
    free(text.bytes);
    if (!done) {
        journal_set_unwell(journal, error);
        journal->error = error;
        return false;
    }
    if (journal->fd >= 0) {
        close(journal->fd);
    }
    journal->fd = fd;
    journal->n_lines = n_lines;
    journal->unwell = false;
    return true;
}

/* Lines that a file written now would have. */
static size_t live_lines(const struct sessions *sessions) {
    size_t lines = 1;
    for (const struct session *session = sessions->by_id; session != NULL; session = session->hh.next) {
        if (session->stored) {
            lines += session_count(session) + HASH_COUNT(session->removed);
        }
    }
    return lines;
}

enum journal_news journal_tick(struct journal *journal, const struct sessions *sessions, time_t now_s) {
    if (journal->path == NULL) {
        return JOURNAL_NO_NEWS;
    }
    if (journal->unwell) {
        if (now_s < journal->retry_at_s) {
            return JOURNAL_NO_NEWS;
        }
        journal->retry_at_s = now_s + RETRY_S;
        return journal_write_all(journal, sessions) ? JOURNAL_MENDED : JOURNAL_FAILED;
    }
    if (journal->n_lines < journal->check_at_lines) {
        return JOURNAL_NO_NEWS;
    }
    size_t live = live_lines(sessions);
    journal->check_at_lines = 2 * live + MIN_DEAD_LINES;
    if (journal->n_lines < journal->check_at_lines) {
        return JOURNAL_NO_NEWS;
    }
    return journal_write_all(journal, sessions) ? JOURNAL_NO_NEWS : JOURNAL_FAILED;
}

void journal_close(struct journal *journal) {
    if (journal->fd >= 0 && journal->path != NULL) {
        close(journal->fd);
    }
    free(journal->path);
    *journal = (struct journal){.fd = -1};
}
