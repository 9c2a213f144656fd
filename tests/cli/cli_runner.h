/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Runs a program as a shell would and collects what it did.
 */
#ifndef TESTS_CLI_RUNNER_H
#define TESTS_CLI_RUNNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { CLI_MAX_ARGUMENTS = 12 };

/* What to run, and with what around it. All borrowed. */
struct cli_call {
    const char *program;                      /* NULL: mosquitto_filter */
    const char *arguments[CLI_MAX_ARGUMENTS]; /* without the program; NULL ends them */
    const char *input;                        /* standard input; NULL: empty */
    size_t input_bytes;                       /* 0: up to its NUL */
    void (*feed)(FILE *to);  /* instead of `input`: writes standard input piece by piece */
    const char *output_path; /* standard output goes to this file; NULL: it is collected */
    const char *input_path;  /* standard input comes from this file; NULL: as above */
    bool closed_output;      /* standard output is a pipe that nobody reads, SIGPIPE is ignored */
};

/* What came of it; give back with cli_result_free. */
struct cli_result {
    int exit_code; /* 128 + the signal, when one ended it */
    char *out;     /* NUL-terminated */
    size_t out_bytes;
    char *err;
    size_t err_bytes;
    long max_rss_kib;
};

/* Run and wait. False: it could not be run, errno says why. */
bool cli_run(const struct cli_call *call, struct cli_result *result_out);
void cli_result_free(struct cli_result *result);

/* Whether a text is what a table says: NULL: nothing; "..." and a text: that text is in it; else exactly this. */
bool cli_is_expected(const char *actual, const char *expected);

#endif
