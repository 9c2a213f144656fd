/* SPDX-License-Identifier: BSD-3-Clause
 *
 * journal_load: reading the journal at start. What cannot be understood stops the start: going on would deliver
 * unfiltered what somebody asked to be filtered. The one exception is a last line without its end, which a crash leaves:
 * its change was never acknowledged.
 */
#include "journal_internal.h"

#include "subscription_string.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct load {
    struct sessions *sessions;
    struct sf_schema *schema;
    struct sf_options options;
    const char *path;
    size_t line;
    char *error; /* JOURNAL_ERROR_BYTES */
};

__attribute__((format(printf, 2, 3))) static bool fail(struct load *load, const char *format, ...) {
    char reason[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    snprintf(load->error, JOURNAL_ERROR_BYTES,
             "%s, line %zu: %s. Restore the file from a copy; or remove it, and the sessions that had filters are "
             "delivered unfiltered until they subscribe again",
             load->path, load->line, reason);
    return false;
}

/* The subscription of one record is put in place. */
static bool load_subscription(struct load *load, struct session *session, const char *topic, const char *filter_text,
                              json_int_t options, json_int_t identifier) {
    struct sf_filter *filter = NULL;
    struct sf_error error;
    if (!subscription_text_is_possible(topic) || options < 0 || options > UINT8_MAX || identifier < 0 ||
        identifier > UINT32_MAX) {
        return fail(load, "a topic, options or identifier that no subscription has");
    }
    if (filter_text != NULL &&
        sf_compile(load->schema, &load->options, filter_text, strlen(filter_text), &filter, &error) != SF_OK) {
        return fail(load, "the filter is not valid in this version: %s", error.text);
    }
    size_t name_bytes = share_topic_offset(topic) == 0 ? 0 : share_name_bytes(topic);
    if (session_subscribe(load->sessions, session, topic, name_bytes, filter, (uint8_t)options, (uint32_t)identifier) ==
        NULL) {
        sf_filter_unref(filter);
        return fail(load, "out of memory");
    }
    session_forget_removed(session, topic);
    return true;
}

static bool load_removed(struct load *load, struct session *session, const char *topic) {
    struct subscription *subscription = session_find(load->sessions, session, topic);
    if (subscription != NULL) {
        subscription_remove(load->sessions, subscription);
    }
    return session_note_removed(session, topic, SIZE_MAX) || fail(load, "out of memory");
}

static bool load_record(struct load *load, json_t *record) {
    const char *client = NULL, *topic = NULL, *filter_text = NULL;
    int removed = 0, ended = 0, forgotten = 0;
    json_int_t options = -1, identifier = 0;
    if (json_unpack(record, "{ss, s?s, s?s, s?I, s?I, s?b, s?b, s?b !}", KEY_CLIENT, &client, KEY_TOPIC, &topic,
                    KEY_FILTER, &filter_text, KEY_OPTIONS, &options, KEY_IDENTIFIER, &identifier, KEY_REMOVED, &removed,
                    KEY_ENDED, &ended, KEY_FORGOTTEN, &forgotten) != 0) {
        return fail(load, "it is not a record of this journal");
    }
    struct session *session = sessions_get(load->sessions, client);
    if (session == NULL) {
        return fail(load, "out of memory");
    }
    session->stored = true;
    if (forgotten) {
        session_remove(load->sessions, session);
        return true;
    }
    if (ended) { /* the broker may still have it as it was */
        return session_bury(load->sessions, session) || fail(load, "out of memory");
    }
    if (topic == NULL || topic[0] == '\0') {
        return fail(load, "it is not a record of this journal");
    }
    return removed ? load_removed(load, session, topic)
                   : load_subscription(load, session, topic, filter_text, options, identifier);
}

/* One record, or a list of those of one change. */
static bool load_change(struct load *load, json_t *change) {
    if (!json_is_array(change)) {
        return load_record(load, change);
    }
    bool done = true;
    for (size_t i = 0; done && i < json_array_size(change); i++) {
        done = load_record(load, json_array_get(change, i));
    }
    return done;
}

static bool load_first_line(struct load *load, json_t *record) {
    const char *name = NULL;
    int version = 0;
    if (json_unpack(record, "{ss, si}", KEY_JOURNAL, &name, KEY_VERSION, &version) != 0 ||
        strcmp(name, JOURNAL_NAME) != 0) {
        return fail(load, "the file is not a journal of %s", JOURNAL_NAME);
    }
    if (version != JOURNAL_VERSION) {
        return fail(load, "the journal has version %d, this plugin reads version %d", version, JOURNAL_VERSION);
    }
    return true;
}

static bool load_line(struct load *load, const char *text, size_t bytes) {
    json_error_t error;
    json_t *record = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, &error);
    if (record == NULL) {
        return fail(load, "the line is damaged (%s)", error.text);
    }
    bool done = load->line == 1 ? load_first_line(load, record) : load_change(load, record);
    json_decref(record);
    return done;
}

/* Load all lines that have an end. */
static bool load_lines(struct load *load, FILE *file, bool *torn_out) {
    char *text = NULL;
    size_t capacity = 0;
    bool good = true;
    ssize_t bytes;
    errno = 0;
    while (good && !*torn_out && (bytes = getline(&text, &capacity, file)) > 0) {
        load->line++;
        *torn_out = load->line > 1 && text[bytes - 1] != '\n'; /* the first one was complete before the file was here */
        good = *torn_out || load_line(load, text, (size_t)bytes);
    }
    if (good && !feof(file)) {
        good = fail(load, "it cannot be read: %s", strerror(errno));
    } else if (good && load->line == 0) {
        good = fail(load, "the file is empty");
    }
    free(text);
    return good;
}

static bool load_file(struct load *load, bool *torn_out) {
    FILE *file = fopen(load->path, "re");
    if (file == NULL) {
        if (errno == ENOENT) {
            return true; /* the first start */
        }
        snprintf(load->error, JOURNAL_ERROR_BYTES,
                 "the state file %s cannot be read: %s. Give the broker's user access, "
                 "or set plugin_opt_state_file",
                 load->path, strerror(errno));
        return false;
    }
    bool good = load_lines(load, file, torn_out);
    fclose(file);
    return good;
}

bool journal_open(struct journal *journal, const char *path, struct sessions *sessions, struct sf_schema *schema,
                  const struct sf_options *options, bool *torn_out, char error[JOURNAL_ERROR_BYTES]) {
    *journal = (struct journal){.fd = -1};
    *torn_out = false;
    if (path == NULL) {
        return true;
    }
    struct load load = {.sessions = sessions, .schema = schema, .options = *options, .path = path, .error = error};
    load.options.dialects = SF_DIALECT_ALL; /* what is in force stays in force (decision D11) */
    load.options.max_expression_bytes = SIZE_MAX;
    if (!load_file(&load, torn_out)) {
        return false;
    }
    journal->path = strdup(path);
    if (journal->path == NULL) {
        snprintf(error, JOURNAL_ERROR_BYTES, "out of memory");
        journal_close(journal);
        return false;
    }
    if (!journal_write_all(journal, sessions)) {
        snprintf(error, JOURNAL_ERROR_BYTES,
                 "the state file %s cannot be written: %s. Give the broker's user access to "
                 "its folder, set plugin_opt_state_file to another place, or to none if filters need not survive a "
                 "restart",
                 path, strerror(journal->error));
        journal_close(journal);
        return false;
    }
    return true;
}
