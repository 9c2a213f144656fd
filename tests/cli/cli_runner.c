/* SPDX-License-Identifier: BSD-3-Clause
 *
 * cli_runner: standard output and error go to temporary files, so that only standard input needs a pipe and nothing can
 * wait for anything else for ever.
 */
#define _DEFAULT_SOURCE /* wait4 */

#include "cli_runner.h"

#include "test_paths.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CANNOT_RUN = 127 };

/* In the child: put `fd` where the program expects it. */
static void move_fd(int fd, int to) {
    if (fd < 0 || dup2(fd, to) < 0) {
        _exit(CANNOT_RUN);
    }
    if (fd != to) {
        close(fd);
    }
}

static int open_unread_pipe(void) {
    int ends[2];
    if (pipe(ends) != 0) {
        return -1;
    }
    close(ends[0]);
    return ends[1];
}

static int open_output(const struct cli_call *call, FILE *out) {
    if (call->closed_output) {
        return open_unread_pipe();
    }
    return call->output_path ? open(call->output_path, O_WRONLY) : fileno(out);
}

_Noreturn static void run_child(const struct cli_call *call, int input, FILE *out, FILE *err) {
    char *arguments[CLI_MAX_ARGUMENTS + 2];
    const char *program = call->program ? call->program : TEST_CLI;
    signal(SIGPIPE, call->closed_output ? SIG_IGN : SIG_DFL);
    move_fd(call->input_path ? open(call->input_path, O_RDONLY) : input, STDIN_FILENO);
    move_fd(open_output(call, out), STDOUT_FILENO);
    move_fd(fileno(err), STDERR_FILENO);
    size_t n = 0;
    arguments[n++] = strdup(program);
    for (size_t i = 0; i < CLI_MAX_ARGUMENTS && call->arguments[i]; i++) {
        arguments[n++] = strdup(call->arguments[i]);
    }
    arguments[n] = NULL;
    execv(program, arguments);
    _exit(CANNOT_RUN);
}

/* A program that does not read all of its input is no mistake here: what it did is looked at, not this. */
static void write_input(const struct cli_call *call, int fd) {
    FILE *to = fdopen(fd, "w");
    if (!to) {
        close(fd);
        return;
    }
    if (call->feed) {
        call->feed(to);
    } else if (call->input) {
        size_t bytes = call->input_bytes > 0 ? call->input_bytes : strlen(call->input);
        fwrite(call->input, 1, bytes, to);
    }
    fclose(to);
}

static char *read_all(FILE *from, size_t *bytes_out) {
    long bytes = fseek(from, 0, SEEK_END) == 0 ? ftell(from) : -1;
    char *text = bytes < 0 ? NULL : malloc((size_t)bytes + 1);
    if (!text) {
        return NULL;
    }
    rewind(from);
    *bytes_out = fread(text, 1, (size_t)bytes, from);
    text[*bytes_out] = '\0';
    return text;
}

static bool wait_for(pid_t child, struct cli_result *result) {
    int status;
    struct rusage usage;
    if (wait4(child, &status, 0, &usage) != child) {
        return false;
    }
    result->exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    result->max_rss_kib = usage.ru_maxrss;
    return true;
}

static bool run_with(const struct cli_call *call, FILE *out, FILE *err, struct cli_result *result) {
    int input[2];
    if (pipe(input) != 0) {
        return false;
    }
    fflush(stdout); /* or the child would print it again, should it fail to run */
    pid_t child = fork();
    if (child == 0) {
        close(input[1]);
        run_child(call, input[0], out, err);
    }
    close(input[0]);
    if (child < 0) {
        close(input[1]);
        return false;
    }
    write_input(call, input[1]);
    if (!wait_for(child, result)) {
        return false;
    }
    result->out = read_all(out, &result->out_bytes);
    result->err = read_all(err, &result->err_bytes);
    return result->out && result->err;
}

bool cli_run(const struct cli_call *call, struct cli_result *result_out) {
    memset(result_out, 0, sizeof *result_out);
    signal(SIGPIPE, SIG_IGN);
    FILE *out = tmpfile();
    FILE *err = tmpfile();
    bool ok = out && err && run_with(call, out, err, result_out);
    if (out) {
        fclose(out);
    }
    if (err) {
        fclose(err);
    }
    return ok;
}

void cli_result_free(struct cli_result *result) {
    free(result->out);
    free(result->err);
    result->out = NULL;
    result->err = NULL;
}

bool cli_is_expected(const char *actual, const char *expected) {
    if (!expected) {
        return actual[0] == '\0';
    }
    return strncmp(expected, "...", 3) == 0 ? strstr(actual, expected + 3) != NULL
                                            : strcmp(actual, expected) == 0;
}
