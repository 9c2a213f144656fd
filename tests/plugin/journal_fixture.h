/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the tests of the journal share: a folder that is removed afterwards, a journal with the sessions it belongs to,
 * changes made in the order in which subscribe.c and changes.c make them, and the state as a text to compare. */
#ifndef TESTS_PLUGIN_JOURNAL_FIXTURE_H
#define TESTS_PLUGIN_JOURNAL_FIXTURE_H

#include "journal.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct state {
    struct sf_schema *schema;
    struct sessions sessions;
    struct journal journal;
    char error[JOURNAL_ERROR_BYTES];
    bool torn;
};

/* A new folder for the running case; removed with all files in it when the case ends. */
const char *journal_folder(void);

/* "<folder>/<name>": the same address for the same name, until the case ends. */
const char *journal_path(const char *name);

/* Open the journal at `path`; false as journal_open. Closed by state_close, which may come at any time, or again. */
bool state_open(struct state *state, const char *path);
void state_close(struct state *state);

/* The same with a CHECK that it opens, and closed when the case ends. `state` is static. */
void state_start(struct state *state, const char *path);

/* What a client's SUBSCRIBE, UNSUBSCRIBE or end of session does to journal and sessions. `expression` NULL: plain;
 * `text` is what clients write ($share/<name>/… is renamed here). false: refused, as the journal could not be written. */
bool state_subscribe(struct state *state, const char *id, const char *text, const char *expression,
                     uint8_t options, uint32_t identifier);
void state_unsubscribe(struct state *state, const char *id, const char *text);
void state_end(struct state *state, const char *id);

/* Called before and after the journal's functions in these three; NULL: nothing is. */
extern void (*state_around_write)(bool before);

/* Whether the session has this subscription, as clients write it. */
bool state_has(const struct state *state, const char *id, const char *text);

/* One random change of a few clients and topics. false: it was refused. */
bool state_random_change(struct state *state, uint64_t *random);

/* What the journal should hold: a sorted line for each subscription and each removed one of all stored sessions.
 * New; free it. */
char *state_text(const struct state *state);

/* What a journal file holds, loaded into a state of its own from a copy (loading writes the file anew). New; free it.
 * NULL: not loaded, *error_out (may be NULL; static) says why. */
char *journal_file_text(const char *path, bool *torn_out, const char **error_out);

/* How often fsync was called in this executable, and the state of things when rename was last called: whether the file
 * had been synced after its last write. fsync does nothing else here: no test pulls a plug, and a disk takes its time. */
extern unsigned n_fsyncs;
extern bool synced_before_rename;

/* Whole files. `bytes_out` may be NULL. The text is new and ends in a NUL. */
char *file_read(const char *path, size_t *bytes_out);
void file_write(const char *path, const char *text, size_t bytes);

#endif
