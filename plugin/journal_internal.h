/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What journal.c and journal_load.c share: the names in the file, and writing it as a whole.
 */
#ifndef PLUGIN_JOURNAL_INTERNAL_H
#define PLUGIN_JOURNAL_INTERNAL_H

#include "journal.h"

#include <jansson.h>

#define KEY_JOURNAL     "journal"
#define KEY_VERSION     "version"
#define KEY_CLIENT      "client"
#define KEY_TOPIC       "topic"
#define KEY_FILTER      "filter"
#define KEY_OPTIONS     "options"
#define KEY_IDENTIFIER  "identifier"
#define KEY_REMOVED     "removed"
#define KEY_ENDED       "ended"
#define KEY_FORGOTTEN   "forgotten"
#define JOURNAL_NAME    "subscription-filter"
#define JOURNAL_VERSION 1

/* Replace the file by one that says what `sessions` holds. false: the old file is as it was, the journal is unwell, and
 * journal->error and errno say why. */
bool journal_write_all(struct journal *journal, const struct sessions *sessions) __attribute__((warn_unused_result));

#endif
