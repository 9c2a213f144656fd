/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Brokers of the harness (see harness.h).
 *
 * A broker's output goes to a file in its folder; inotify says when there is more to read. A pipe whose other end
 * only the broker holds says when it has ended. Its ports are reserved among all test processes of this machine by
 * abstract Unix sockets of that number, which vanish with the process; they lie below the range that the kernel gives
 * to outgoing connections, so no client can sit on one.
 */
#define _XOPEN_SOURCE 700 /* nftw */

#include "harness.h"
#include "harness_internal.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define FIRST_PORT  10240
#define LAST_PORT   32767
#define MAX_WRAPPER 16 /* words of TEST_BROKER_WRAPPER */

struct broker {
    char dir[64];
    int ports[BROKER_PORTS];
    int port_locks[BROKER_PORTS];
    char *config; /* as given, without the lines in front */

    pid_t pid; /* 0: not running */
    int life;  /* readable when the broker has ended */
    int status;
    bool may_fail;

    int watch; /* inotify on the log */
    char *log; /* as last read */
    size_t log_bytes;
    size_t run_offset;   /* where the log of the present run begins */
    size_t await_offset; /* where broker_await_log goes on */
};

/* ---- folder and ports ---------------------------------------------------------------------------------------- */

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *walk) {
    (void)status;
    (void)type;
    (void)walk;
    return remove(path);
}

/* A socket that no other process of this machine has while this one lives, or -1. */
static int lock_port(int port) {
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    /* sun_path[0] is NUL: an abstract name, without a file. */
    int length =
        snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "subfilter-test-port-%d", port);
    int lock = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (lock >= 0 &&
        bind(lock, (struct sockaddr *)&name,
             (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length)) != 0) {
        close(lock);
        lock = -1;
    }
    return lock;
}

static bool can_listen(int port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int one = 1;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool can = listener >= 0 &&
               setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) == 0 &&
               bind(listener, (struct sockaddr *)&address, sizeof address) == 0 &&
               listen(listener, 1) == 0;
    if (listener >= 0) {
        close(listener);
    }
    return can;
}

static void reserve_ports(struct broker *broker) {
    const int range = LAST_PORT - FIRST_PORT + 1;
    int port = FIRST_PORT + (int)((unsigned)getpid() * 37U % (unsigned)range);
    unsigned found = 0;
    for (int tried = 0; tried < range && found < BROKER_PORTS; tried++) {
        port = port == LAST_PORT ? FIRST_PORT : port + 1;
        int lock = lock_port(port);
        if (lock >= 0 && can_listen(port)) {
            broker->port_locks[found] = lock;
            broker->ports[found++] = port;
        } else if (lock >= 0) {
            close(lock);
        }
    }
    REQUIRE(found == BROKER_PORTS, "no free port");
}

int broker_port(const struct broker *broker, unsigned number) {
    REQUIRE(number >= 1 && number <= BROKER_PORTS, "port %u", number);
    return broker->ports[number - 1];
}

const char *broker_dir(const struct broker *broker) {
    return broker->dir;
}

void broker_write_file(struct broker *broker, const char *name, const char *text) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", broker->dir, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    REQUIRE(file != NULL, "%s: %s", path, strerror(errno));
    bool written = fputs(text, file) >= 0;
    REQUIRE(fclose(file) == 0 && written, "%s: %s", path, strerror(errno));
}

/* ---- configuration ------------------------------------------------------------------------------------------- */

/* What the token at `text` stands for, in `value`; its length, or 0 when it is none. */
static size_t expand(const struct broker *broker, const char *text, char *value,
                     size_t value_bytes) {
    unsigned number = 1;
    int used = 0;
    if (strncmp(text, "@DIR@", 5) == 0) {
        snprintf(value, value_bytes, "%s", broker->dir);
        return 5;
    }
    if (strncmp(text, "@PLUGINS@", 9) == 0) {
        snprintf(value, value_bytes, "%s", TEST_BROKER_PLUGIN_DIR);
        return 9;
    }
    if (strncmp(text, "@PORT@", 6) == 0) {
        used = 6;
    } else if (sscanf(text, "@PORT%1u@%n", &number, &used) != 1 || used == 0) {
        return 0;
    }
    snprintf(value, value_bytes, "%d", broker_port(broker, number));
    return (size_t)used;
}

static void write_config(struct broker *broker) {
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    REQUIRE(out != NULL, "out of memory");
    fputs("log_dest stderr\nlog_type all\nlog_timestamp false\nset_tcp_nodelay true\n", out);
    if (geteuid() == 0) {
        fputs("user root\n", out); /* otherwise it could not write into its folder */
    }
    if (strstr(broker->config, "@PORT") == NULL) {
        fprintf(out, "listener %d 127.0.0.1\nallow_anonymous true\n", broker->ports[0]);
    }
    for (const char *at = broker->config; *at != '\0';) {
        char value[PATH_MAX];
        size_t used = *at == '@' ? expand(broker, at, value, sizeof value) : 0;
        if (used > 0) {
            fputs(value, out);
            at += used;
        } else {
            fputc(*at++, out);
        }
    }
    REQUIRE(fclose(out) == 0, "out of memory");
    broker_write_file(broker, "mosquitto.conf", text);
    free(text);
}

__attribute__((format(printf, 2, 0))) static void
set_config(struct broker *broker, const char *format, va_list arguments) {
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *config = length < 0 ? NULL : malloc((size_t)length + 1);
    REQUIRE(config != NULL, "out of memory");
    vsnprintf(config, (size_t)length + 1, format, arguments);
    free(broker->config);
    broker->config = config;
    write_config(broker);
}

void broker_configure(struct broker *broker, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    set_config(broker, format, arguments);
    va_end(arguments);
}

/* ---- the log ------------------------------------------------------------------------------------------------- */

const char *broker_log(struct broker *broker) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/broker.log", broker->dir);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    REQUIRE(fd >= 0 && fstat(fd, &status) == 0, "%s: %s", path, strerror(errno));
    /* Only what is new: it grows at the end, and NUL bytes would be a fault of the broker. */
    size_t bytes = (size_t)status.st_size;
    char *log = realloc(broker->log, bytes + 1);
    REQUIRE(log != NULL, "out of memory");
    broker->log = log;
    while (broker->log_bytes < bytes) {
        ssize_t got =
            pread(fd, log + broker->log_bytes, bytes - broker->log_bytes, (off_t)broker->log_bytes);
        REQUIRE(got > 0, "%s: %s", path, strerror(errno));
        broker->log_bytes += (size_t)got;
    }
    log[broker->log_bytes] = '\0';
    close(fd);
    return log;
}

size_t broker_log_count(struct broker *broker, const char *text) {
    size_t n = 0;
    broker_log(broker);
    for (char *line = broker->log; *line != '\0';) {
        /* Each line by itself: a sanitizer measures all of the text that strstr is given. */
        char *next = line + strcspn(line, "\n");
        next += *next == '\n';
        char first = *next;
        *next = '\0';
        n += strstr(line, text) != NULL;
        *next = first;
        line = next;
    }
    return n;
}

static void print_log(struct broker *broker) {
    test_note("---- log of the broker in %s, port %d", broker->dir, broker->ports[0]);
    const char *line = broker_log(broker);
    while (*line != '\0') {
        size_t length = strcspn(line, "\n");
        test_note("| %.*s", (int)length, line);
        line += length + (line[length] == '\n');
    }
    test_note("----");
}

/* Take note of the end of a broker whose life line is closed. */
static void reap(struct broker *broker) {
    int status = 0;
    pid_t pid;
    do {
        pid = waitpid(broker->pid, &status, 0);
    } while (pid < 0 && errno == EINTR);
    REQUIRE(pid == broker->pid, "waitpid: %s", strerror(errno));
    broker->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    broker->pid = 0;
    close(broker->life);
    broker->life = -1;
}

static bool has_ended(struct broker *broker) {
    char byte;
    if (broker->pid != 0 && read(broker->life, &byte, 1) == 0) {
        reap(broker);
    }
    return broker->pid == 0;
}

/* Wait until `text` stands in the log at or after *offset; on success *offset is the end of its line. */
static bool await_log(struct broker *broker, const char *text, size_t *offset) {
    int64_t deadline = harness_deadline();
    size_t from = *offset;
    for (;;) {
        /* In this order: what a broker wrote before its end is there once it has ended. */
        bool ended = has_ended(broker);
        const char *log = broker_log(broker);
        const char *found = strstr(log + from, text);
        if (found != NULL) {
            *offset = (size_t)(found - log) + strcspn(found, "\n");
            return true;
        }
        /* Next time only what is new, and what may be the beginning of the text. */
        if (broker->log_bytes > from + strlen(text)) {
            from = broker->log_bytes - strlen(text);
        }
        int fds[] = {broker->watch, broker->life};
        if (ended || !harness_wait(fds, 2, deadline)) {
            return false;
        }
        char events[4096]; /* which they are doesn't matter: there is only one file */
        while (read(broker->watch, events, sizeof events) > 0) {
        }
    }
}

bool broker_await_log(struct broker *broker, const char *text) {
    bool found = await_log(broker, text, &broker->await_offset);
    if (!found) {
        test_note("not in the log: %s", text);
    }
    return found;
}

/* ---- start and end ------------------------------------------------------------------------------------------- */

/* In the child: become the broker. */
static void exec_broker(const struct broker *broker, int log) {
    const char *arguments[MAX_WRAPPER + 4];
    size_t n = 0;
    const char *wrapper = getenv("TEST_BROKER_WRAPPER");
    char *words = strdup(wrapper == NULL ? "" : wrapper);
    for (char *word = strtok(words, " "); word != NULL && n < MAX_WRAPPER;
         word = strtok(NULL, " ")) {
        arguments[n++] = word;
    }
    arguments[n++] = TEST_BROKER;
    arguments[n++] = "-c";
    arguments[n++] = "mosquitto.conf";
    arguments[n] = NULL;

    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that is killed leaves no broker */
    if (chdir(broker->dir) != 0 || dup2(log, STDOUT_FILENO) < 0 || dup2(log, STDERR_FILENO) < 0) {
        _exit(127);
    }
    if (TEST_BROKER_PRELOAD[0] != '\0') {
        setenv("LD_PRELOAD", TEST_BROKER_PRELOAD, 1);
        setenv("LSAN_OPTIONS",
               "print_suppressions=0:suppressions=" TEST_SOURCE_DIR
               "/tests/support/broker-leaks.supp",
               1);
    }
    execv(arguments[0], (char *const *)(uintptr_t)arguments);
    dprintf(STDERR_FILENO, "%s: %s\n", arguments[0], strerror(errno));
    _exit(127);
}

static int open_log(const struct broker *broker) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/broker.log", broker->dir);
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    REQUIRE(fd >= 0, "%s: %s", path, strerror(errno));
    return fd;
}

/* Of the last end, if there was one. */
static void check_status(const struct broker *broker) {
    CHECK(broker->may_fail || broker->status == 0, "the broker in %s ended with status %d",
          broker->dir, broker->status);
}

bool broker_try_run(struct broker *broker) {
    REQUIRE(broker->pid == 0, "it is running already");
    check_status(broker);
    int life[2];
    int log = open_log(broker);
    REQUIRE(pipe(life) == 0, "pipe: %s", strerror(errno));
    fcntl(life[0], F_SETFD, FD_CLOEXEC);
    fcntl(life[0], F_SETFL, O_NONBLOCK);
    broker_log(broker);
    broker->run_offset = broker->log_bytes;

    fflush(NULL);
    pid_t pid = fork();
    REQUIRE(pid >= 0, "fork: %s", strerror(errno));
    if (pid == 0) {
        exec_broker(broker, log);
    }
    close(log);
    close(life[1]); /* only the broker holds it now */
    broker->pid = pid;
    broker->life = life[0];

    size_t offset = broker->run_offset;
    bool runs = await_log(broker, " running\n", &offset);
    REQUIRE(runs || broker->pid == 0, "the broker does not get ready");
    return runs;
}

void broker_run(struct broker *broker) {
    bool runs = broker_try_run(broker);
    REQUIRE(runs, "the broker ended with status %d instead of starting", broker->status);
}

/* Wait for the end of a broker that was told to end. */
static int await_end(struct broker *broker) {
    int64_t deadline = harness_deadline();
    while (!has_ended(broker)) {
        if (!harness_wait(&broker->life, 1, deadline)) {
            kill(broker->pid, SIGKILL);
            CHECK(false, "the broker did not end; it was killed");
            deadline = INT64_MAX;
        }
    }
    return broker->status;
}

/* Open a connection and wait until the broker has closed it. Before a SIGTERM: the broker forgets one that comes
 * between "running" and its main loop, which this proves it has reached. After a signal: one that comes just before
 * the broker waits is only seen at its next event, which this is. Nothing is done when it has no such listener. */
static void await_main_loop(struct broker *broker) {
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)broker->ports[0])};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int64_t deadline = harness_deadline();
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) == 0) {
        char bytes[256];
        shutdown(fd, SHUT_WR);
        while (recv(fd, bytes, sizeof bytes, MSG_DONTWAIT) < 0 && errno == EAGAIN &&
               !has_ended(broker) && harness_wait((int[]){fd, broker->life}, 2, deadline)) {
        }
    }
    if (fd >= 0) {
        close(fd);
    }
}

int broker_stop(struct broker *broker) {
    if (!has_ended(broker)) {
        await_main_loop(broker);
    }
    if (broker->pid != 0) {
        kill(broker->pid, SIGTERM);
        await_main_loop(broker);
        await_end(broker);
    }
    return broker->status;
}

void broker_kill(struct broker *broker) {
    REQUIRE(broker->pid != 0, "it is not running");
    kill(broker->pid, SIGKILL);
    await_end(broker);
    broker->status = 0; /* as wanted */
}

static void signal_and_await(struct broker *broker, int signal_number, const char *text) {
    REQUIRE(broker->pid != 0, "it is not running");
    broker_log(broker);
    size_t offset = broker->log_bytes;
    kill(broker->pid, signal_number);
    await_main_loop(broker);
    bool seen = await_log(broker, text, &offset);
    REQUIRE(seen, "the broker does not log \"%s\"", text);
}

void broker_reload(struct broker *broker) {
    signal_and_await(broker, SIGHUP, "Reloading config.");
}

void broker_save(struct broker *broker) {
    signal_and_await(broker, SIGUSR1, "Saving in-memory database to ");
}

bool broker_is_running(const struct broker *broker) {
    return broker->pid != 0 && kill(broker->pid, 0) == 0;
}

int broker_status(const struct broker *broker) {
    return broker->status;
}

void broker_expect_failure(struct broker *broker) {
    broker->may_fail = true;
}

long broker_pid(const struct broker *broker) {
    return broker->pid;
}

/* ---- life of the struct -------------------------------------------------------------------------------------- */

static void broker_free(void *user) {
    struct broker *broker = user;
    broker_stop(broker);
    check_status(broker);
    if (test_has_failed()) {
        print_log(broker);
    }
    if (getenv("TEST_KEEP") != NULL) {
        test_note("kept: %s", broker->dir);
    } else if (nftw(broker->dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS) != 0) {
        test_note("cannot remove %s: %s", broker->dir, strerror(errno));
    }
    for (size_t i = 0; i < BROKER_PORTS; i++) {
        close(broker->port_locks[i]);
    }
    close(broker->watch);
    free(broker->config);
    free(broker->log);
    free(broker);
}

__attribute__((format(printf, 1, 0))) static struct broker *new_broker(const char *format,
                                                                       va_list arguments) {
    struct broker *broker = calloc(1, sizeof *broker);
    REQUIRE(broker != NULL, "out of memory");
    broker->life = -1;

    snprintf(broker->dir, sizeof broker->dir, "/tmp/subfilter-test-XXXXXX");
    REQUIRE(mkdtemp(broker->dir) != NULL, "%s: %s", broker->dir, strerror(errno));
    reserve_ports(broker);
    close(open_log(broker));
    broker->watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/broker.log", broker->dir);
    REQUIRE(broker->watch >= 0 && inotify_add_watch(broker->watch, path, IN_MODIFY) >= 0,
            "inotify: %s", strerror(errno));
    test_defer(broker_free, broker);
    set_config(broker, format, arguments);
    return broker;
}

struct broker *broker_new(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    struct broker *broker = new_broker(format, arguments);
    va_end(arguments);
    return broker;
}

struct broker *broker_start(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    struct broker *broker = new_broker(format, arguments);
    va_end(arguments);
    broker_run(broker);
    return broker;
}
