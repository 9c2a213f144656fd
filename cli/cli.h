/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the parts of mosquitto_filter share: the parsed command line, exit codes, attributes, text for terminals.
 */
#ifndef CLI_H
#define CLI_H

#include "subfilter.h"

#include <stdio.h>

/* Exit codes. Those from 64 on are the ones of sysexits.h. */
enum cli_exit {
    CLI_OK = 0,         /* valid, match, or all lines of --jsonl answered */
    CLI_NO = 1,         /* check, explain, split: invalid; match: no match */
    CLI_BAD_FILTER = 2, /* match: invalid filter */
    CLI_USAGE = 64,     /* the command line is wrong */
    CLI_DATA = 65,      /* a line of --jsonl is not what it must be */
    CLI_NOMEM = 71,     /* out of memory */
    CLI_IO = 74,        /* reading or writing failed */
};

/* ---- system attributes (attributes.c) ---- */

/* Exactly one setter is not NULL: it tells what kind of value the attribute takes. */
struct attribute {
    const char *name; /* with the $ */
    void (*set_text)(struct sf_message *message, const char *text, size_t bytes);
    void (*set_number)(struct sf_message *message, uint64_t number);
    void (*set_flag)(struct sf_message *message, bool flag);
    uint64_t max; /* of a number */
};

enum { N_ATTRIBUTES = 6 };
extern const struct attribute attributes[N_ATTRIBUTES];

/* The attribute `name` (NUL-terminated), written with its $. NULL: there is none. */
const struct attribute *attribute_find(const char *name);

/* Set an attribute from the text of a command line (kept by the message). False: it is not a value of its kind. */
bool attribute_set(struct sf_message *message, const struct attribute *attribute, const char *text);

/* An unsigned decimal number of digits only, up to `max`. */
bool parse_number(const char *text, uint64_t max, uint64_t *number_out);

/* What attribute_set takes, in words. */
const char *attribute_values(const struct attribute *attribute);

/* ---- the command line (mosquitto_filter.c) ---- */

struct cli {
    struct sf_options options;
    bool subscription; /* the argument is a whole subscription string */
    bool jsonl;
    bool has_attributes;
    const char *attributes[N_ATTRIBUTES]; /* texts given with --attr, NULL when not given */
    char **arguments;                     /* what follows the command */
    size_t n_arguments;
};

/* ---- commands (commands.c, jsonl.c) ---- */

enum cli_exit command_check(const struct cli *cli);
enum cli_exit command_explain(const struct cli *cli);
enum cli_exit command_match(const struct cli *cli);
enum cli_exit command_split(const struct cli *cli);
enum cli_exit match_lines(const struct cli *cli, FILE *in);

/* ---- notes (notes.c) ---- */

/* Say what in a valid filter is most likely a slip; `text` is the expression as it was written. */
void note_slips(const struct sf_filter *filter, const char *text, size_t bytes);

/* ---- text for terminals (text.c) ---- */

/* Choose the character set that those below write: UTF-8, whatever the user's locale says. Call once. */
void text_init(void);

/* Write `text` with all characters that a terminal would not show, or would obey, as <U+HHHH>, and bytes that are not
 * UTF-8 as \xHH. */
void text_print(FILE *out, const char *text, size_t bytes);

/* "mosquitto_filter: ", the message as text_print writes it, cut short where it is very long, and a line feed to standard
 * error. */
__attribute__((format(printf, 1, 2))) void complain(const char *format, ...);

/* Write `text` as text_print does, on a line of its own, cut on both sides where it is too long, and below it a line
 * with a caret under the byte `offset` and tildes up to `length` bytes. */
void text_print_spot(FILE *out, const char *text, size_t bytes, size_t offset, size_t length);

#endif
