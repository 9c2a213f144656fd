/* SPDX-License-Identifier: BSD-3-Clause
 *
 * journal: the file that brings filters back after a restart. The broker restores the sessions it kept, but with base
 * topics only, without shared subscriptions, and after a crash in a state older than ours (DESIGN fact F18): so the
 * journal, not the broker, says what a session with filters has subscribed to.
 *
 * The file is JSON Lines, appended to with one write(2) for each change, before the broker acknowledges it; it is
 * written anew at start and when most of it is dead. docs/architecture.md describes the format.
 *
 *     {"journal":"subscription-filter","version":1}
 *     {"client":"c1","topic":"a/+","filter":"value>25","options":1,"identifier":7}
 *     {"client":"c1","topic":"a/b","options":0,"identifier":0}        plain: no filter
 *     {"client":"c1","topic":"a/b","removed":true}
 *     {"client":"c1","ended":true}                                     what it had is removed, and remembered
 *     {"client":"c1","forgotten":true}                                 and it is not
 *     [{...},{...}]                                                    several that are one change
 *
 * Only sessions that have, or once had, a filter are in it, with all of their subscriptions. A removed one is remembered
 * while the session lives, and so are those of a session that has ended (up to a limit, see changes.c) until a start at
 * which the broker does not have that session: after a crash the broker brings back what it saved last. A write that fails
 * leaves the journal *unwell*: what is in memory stays true, filtered SUBSCRIBEs have to be refused, and journal_tick
 * writes the whole file again until that succeeds.
 */
#ifndef PLUGIN_JOURNAL_H
#define PLUGIN_JOURNAL_H

#include "sessions.h"

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#define JOURNAL_ERROR_BYTES 512

struct journal {
    char *path; /* NULL: no journal is kept, and every call below succeeds without doing anything */
    int fd;
    bool unwell;
    int error;               /* errno of the failure that made it unwell */
    size_t n_records;        /* in the file */
    size_t check_at_records; /* so many make it worth counting the living ones */
    time_t retry_at_s;
};

/* Load the file at `path` (borrowed, NUL-terminated; NULL: keep no journal) into `sessions`, which is empty, compiling
 * its filters in `schema` under `options` with every dialect allowed, and write it anew. *torn_out: the last line was
 * incomplete, as after a crash, and was dropped.
 * false: `error` says what is wrong, with file and line, and the way out; `sessions` may hold a part, `journal` holds
 * nothing. */
bool journal_open(struct journal *journal, const char *path, struct sessions *sessions, struct sf_schema *schema,
                  const struct sf_options *options, bool *torn_out, char error[JOURNAL_ERROR_BYTES])
    __attribute__((warn_unused_result));

/* Close the file, if any. */
void journal_close(struct journal *journal);

/* What a SUBSCRIBE entry makes or changes. */
struct journal_subscription {
    const char *text;        /* in the broker's form */
    const char *filter_text; /* canonical; NULL: plain */
    const char *replaced;    /* the subscription, in the broker's form, that it takes the place of; NULL: none */
    uint32_t identifier;
    uint8_t options;
};

/* `subscription` (borrowed) is about to be made; nothing has changed in `session` yet. Written when it has a filter or
 * its session is in the journal. false: not written; the journal is unwell. */
bool journal_subscribe(struct journal *journal, struct session *session,
                       const struct journal_subscription *subscription) __attribute__((warn_unused_result));

/* A subscription is about to be removed. If it cannot be written, the journal is unwell, and it will be. */
void journal_unsubscribe(struct journal *journal, struct session *session, const char *text);

/* A subscription that journal_subscribe was told is replaced is about to be removed: remember that. */
void journal_note_removed(struct journal *journal, struct session *session, const char *text);

/* A session has ended; what it had is remembered as removed. As journal_unsubscribe. */
void journal_end(struct journal *journal, struct session *session);

/* A session is about to be removed, with all that is remembered of it. As journal_unsubscribe. */
void journal_forget(struct journal *journal, struct session *session);

/* What memory holds is no longer what was written: write the whole file at the next journal_tick. */
void journal_set_unwell(struct journal *journal, int error);

enum journal_news {
    JOURNAL_NO_NEWS,
    JOURNAL_FAILED, /* it could not be written again; said once in a while */
    JOURNAL_MENDED, /* it was unwell and is well again */
};

/* Write the file anew when it is unwell (at most once a second) or mostly dead. */
enum journal_news journal_tick(struct journal *journal, const struct sessions *sessions, time_t now_s);

#endif
