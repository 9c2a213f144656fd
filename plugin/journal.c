/* SPDX-License-Identifier: BSD-3-Clause
 *
 * journal: see the header. Reading is in journal_load.c. One record is one line (all records of one change too), built by jansson in memory and
 * written with one write(2) to a file opened for appending, so a crash tears at most the last line.
 */
#include "journal.h"

#include "journal_internal.h"
#include "json_text.h"
#include "write_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    RETRY_S = 1,
    FILE_MODE = 0600,        /* it names clients and topics */
    MIN_DEAD_RECORDS = 1000, /* a small file is not worth writing anew */
    MAX_REMOVED = 4096,      /* of one session: a client must not grow memory by removing */
};

/* ---- records ---- */

/* Add `record` (taken; NULL: out of memory) to a list. */
static bool add(json_t *records, json_t *record) {
    return json_array_append_new(records, record) == 0;
}

static json_t *subscription_record(const char *client, const char *topic, const char *filter_text, uint8_t options,
                                   uint32_t identifier) {
    /* Not "ss*": out of memory would leave the filter out. */
    return filter_text == NULL
               ? json_pack("{ss, ss, si, sI}", KEY_CLIENT, client, KEY_TOPIC, topic, KEY_OPTIONS, (int)options,
                           KEY_IDENTIFIER, (json_int_t)identifier)
               : json_pack("{ss, ss, ss, si, sI}", KEY_CLIENT, client, KEY_TOPIC, topic, KEY_FILTER, filter_text,
                           KEY_OPTIONS, (int)options, KEY_IDENTIFIER, (json_int_t)identifier);
}

static json_t *removed_record(const char *client, const char *topic) {
    return json_pack("{ss, ss, sb}", KEY_CLIENT, client, KEY_TOPIC, topic, KEY_REMOVED, 1);
}

static json_t *held_record(const struct subscription *subscription) {
    char *topic = malloc(subscription_text_bytes(subscription) + 1);
    if (topic == NULL) {
        return NULL;
    }
    subscription_write_text(subscription, topic);
    json_t *record =
        subscription_record(subscription->session->id, topic,
                            subscription->filter == NULL ? NULL : sf_filter_text(subscription->filter, NULL),
                            subscription->options, subscription->identifier);
    free(topic);
    return record;
}

/* Add all that the journal has to say of a session. */
static bool add_session(json_t *records, const struct session *session) {
    const struct subscription_list *lists[] = {&session->normal, &session->shared};
    for (size_t i = 0; i < 2; i++) {
        for (uint32_t k = 0; k < lists[i]->count; k++) {
            if (!add(records, held_record(lists[i]->items[k]))) {
                return false;
            }
        }
    }
    for (const struct removed_topic *removed = session->removed; removed != NULL; removed = removed->hh.next) {
        if (!add(records, removed_record(session->id, removed->text))) {
            return false;
        }
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

/* Write the records (taken) of one change as one line: alone or as a list, so that a crash cannot tear them apart.
 * `complete`: false when memory ran out while they were made. */
static bool write_change(struct journal *journal, json_t *records, bool complete) {
    size_t n = json_array_size(records);
    struct json_text line = {0};
    bool done = false;
    if (!complete || !json_text_add_line(&line, n == 1 ? json_array_get(records, 0) : records, JSON_COMPACT)) {
        journal_set_unwell(journal, ENOMEM);
    } else if (!journal->unwell) { /* after a failure a part of a line may stand at the end: nothing may follow it */
        ssize_t written = write(journal->fd, line.bytes, line.used);
        done = written >= 0 && (size_t)written == line.used;
        if (!done) {
            journal_set_unwell(journal, written < 0 ? errno : ENOSPC);
        }
        journal->n_records += done ? n : 0;
    }
    json_decref(records);
    free(line.bytes);
    return done;
}

bool journal_subscribe(struct journal *journal, struct session *session,
                       const struct journal_subscription *subscription) {
    if (journal->path == NULL || (subscription->filter_text == NULL && !session->stored)) {
        return true;
    }
    json_t *records = json_array();
    bool complete = records != NULL && (session->stored || add_session(records, session));
    if (complete && subscription->replaced != NULL) {
        complete = add(records, removed_record(session->id, subscription->replaced));
    }
    complete = complete && add(records, subscription_record(session->id, subscription->text, subscription->filter_text,
                                                            subscription->options, subscription->identifier));
    if (!write_change(journal, records, complete)) {
        return false;
    }
    session->stored = true;
    return true;
}

void journal_note_removed(struct journal *journal, struct session *session, const char *text) {
    if (session->stored && !session_note_removed(session, text, MAX_REMOVED)) {
        journal_set_unwell(journal, ENOMEM);
    }
}

void journal_unsubscribe(struct journal *journal, struct session *session, const char *text) {
    if (journal->path == NULL || !session->stored) {
        return;
    }
    json_t *records = json_array();
    /* when it fails: the removal is in memory, and so in the next whole file */
    (void)write_change(journal, records, add(records, removed_record(session->id, text)));
    journal_note_removed(journal, session, text);
}

/* A record that only says that something is so of a session, which leaves the journal. */
static void write_last(struct journal *journal, struct session *session, const char *key) {
    if (journal->path == NULL || !session->stored) {
        return;
    }
    json_t *records = json_array();
    (void)write_change(journal, records, add(records, json_pack("{ss, sb}", KEY_CLIENT, session->id, key, 1)));
    session->stored = false;
}

void journal_end(struct journal *journal, struct session *session) {
    write_last(journal, session, KEY_ENDED);
}

void journal_forget(struct journal *journal, struct session *session) {
    write_last(journal, session, KEY_FORGOTTEN);
}

/* ---- writing the whole file ---- */

static bool append_session(struct json_text *text, const struct session *session, size_t *n_records) {
    json_t *records = json_array();
    bool done = records != NULL && add_session(records, session);
    for (size_t i = 0; done && i < json_array_size(records); i++) {
        done = json_text_add_line(text, json_array_get(records, i), JSON_COMPACT);
    }
    *n_records += json_array_size(records);
    json_decref(records);
    return done;
}

static bool append_first_line(struct json_text *text) {
    json_t *record = json_pack("{ss, si}", KEY_JOURNAL, JOURNAL_NAME, KEY_VERSION, JOURNAL_VERSION);
    bool done = json_text_add_line(text, record, JSON_COMPACT);
    json_decref(record);
    return done;
}

bool journal_write_all(struct journal *journal, const struct sessions *sessions) {
    struct json_text text = {0};
    size_t n_records = 0;
    bool built = append_first_line(&text);
    for (const struct session *session = sessions->by_id; built && session != NULL; session = session->hh.next) {
        if (session->stored) {
            built = append_session(&text, session, &n_records);
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
    journal->n_records = n_records;
    journal->unwell = false;
    return true;
}

/* Records that a file written now would have. */
static size_t live_records(const struct sessions *sessions) {
    size_t n = 0;
    for (const struct session *session = sessions->by_id; session != NULL; session = session->hh.next) {
        if (session->stored) {
            n += session_count(session) + HASH_COUNT(session->removed);
        }
    }
    return n;
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
    if (journal->n_records < journal->check_at_records) {
        return JOURNAL_NO_NEWS;
    }
    size_t live = live_records(sessions);
    journal->check_at_records = 2 * live + MIN_DEAD_RECORDS;
    if (journal->n_records < journal->check_at_records) {
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
