/* SPDX-License-Identifier: BSD-3-Clause
 *
 * examples/consumer, the second filter, against real brokers: with our plugin, and without it.
 */
#include "harness.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DEADLINE_MS = 20000, MAX_OUTPUT = 4096 };

struct consumer {
    pid_t pid;
    int out;
    char text[MAX_OUTPUT]; /* what it has printed */
    size_t bytes;
};

/* One at a time. Static, because it is ended after a case that REQUIRE has left. */
static struct consumer consumer;

static void end_consumer(void *user) {
    (void)user;
    if (consumer.pid > 0) {
        kill(consumer.pid, SIGKILL);
        waitpid(consumer.pid, NULL, 0);
    }
    close(consumer.out);
}

/* The last argument is NULL when there is no "--plain". */
static void start_consumer(struct broker *broker, const char *subscription, const char *plain) {
    char port[16];
    int ends[2];
    memset(&consumer, 0, sizeof consumer);
    snprintf(port, sizeof port, "%d", broker_port(broker, 1));
    REQUIRE(pipe(ends) == 0, "pipe");
    consumer.pid = fork();
    if (consumer.pid == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        if (plain) {
            execl(TEST_CONSUMER, TEST_CONSUMER, plain, "127.0.0.1", port, subscription,
                  (char *)NULL);
        } else {
            execl(TEST_CONSUMER, TEST_CONSUMER, "127.0.0.1", port, subscription, (char *)NULL);
        }
        _exit(127);
    }
    close(ends[1]);
    consumer.out = ends[0];
    test_defer(end_consumer, NULL);
    REQUIRE(consumer.pid > 0, "fork");
}

/* Read what it prints until `line` is among it. */
static bool await_line(const char *line) {
    char whole[256];
    snprintf(whole, sizeof whole, "%s\n", line);
    while (!strstr(consumer.text, whole)) {
        struct pollfd poll_fd = {.fd = consumer.out, .events = POLLIN};
        size_t room = sizeof consumer.text - 1 - consumer.bytes;
        ssize_t n = poll(&poll_fd, 1, DEADLINE_MS) == 1
                        ? read(consumer.out, consumer.text + consumer.bytes, room)
                        : 0;
        if (n <= 0) {
            test_note("the consumer printed:\n# %s", consumer.text);
            return false;
        }
        consumer.bytes += (size_t)n;
        consumer.text[consumer.bytes] = '\0';
    }
    return true;
}

static int stop_consumer(void) {
    int status;
    kill(consumer.pid, SIGTERM);
    waitpid(consumer.pid, &status, 0);
    consumer.pid = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void publish(struct client *writer, const char *payload, const char *location) {
    client_publish(writer, &(struct publish){.topic = "t/1",
                                             .payload = payload,
                                             .qos = 1,
                                             .user = USER("location", location, "value", "26.5")});
}

static void test_a_retained_message_is_judged_again(void) {
    struct broker *broker = broker_start("plugin " TEST_PLUGIN "\n");
    struct client *writer = client_open(broker, "writer");
    client_publish(writer, &(struct publish){.topic = "t/1",
                                             .payload = "retained",
                                             .qos = 1,
                                             .retain = true,
                                             .user = USER("location", "roomB")});
    start_consumer(broker, "t/%2B?location=roomA&value>25", NULL);
    CHECK(await_line("subscribed"), "no subscription");
    CHECK(await_line("nomatch t/1 retained"), "retained");

    publish(writer, "other", "roomB");
    publish(writer, "wanted", "roomA");
    CHECK(await_line("match t/1 wanted"), "a message that matches");
    CHECK(!strstr(consumer.text, "other"), "the broker delivered what does not match: %s",
          consumer.text);
    int status = stop_consumer();
    CHECK(status == 0, "status %d", status);
}

static void test_a_broker_without_the_plugin_is_filtered_too(void) {
    struct broker *broker = broker_start("%s", "");
    struct client *writer = client_open(broker, "writer");
    start_consumer(broker, "t/%2B?location=roomA", "--plain");
    CHECK(await_line("subscribed"), "no subscription");
    publish(writer, "other", "roomB");
    publish(writer, "wanted", "roomA");
    CHECK(await_line("match t/1 wanted"), "a message that matches");
    CHECK(strstr(consumer.text, "nomatch t/1 other\n"), "a message that does not match: %s",
          consumer.text);
    int status = stop_consumer();
    CHECK(status == 0, "status %d", status);
}

static void test_all_that_a_message_carries_is_read(void) {
    struct broker *broker = broker_start("%s", "");
    struct client *writer = client_open(broker, "writer");
    start_consumer(
        broker,
        "t?sql:$topic = 't' AND $qos = 1 AND NOT $retain AND $payload_bytes = 3"
        " AND $content_type = 'text/plain' AND $response_topic = 'r' AND empty = '' AND n = '2'",
        "--plain");
    CHECK(await_line("subscribed"), "no subscription");
    client_publish(writer, &(struct publish){.topic = "t",
                                             .payload = "all",
                                             .qos = 1,
                                             .user = USER("n", "1", "empty", "", "n", "2"),
                                             .content_type = "text/plain",
                                             .response_topic = "r"});
    CHECK(await_line("match t all"), "all attributes");
    int status = stop_consumer();
    CHECK(status == 0, "status %d", status);
}

static void test_a_refused_filter_ends_it(void) {
    struct broker *broker = broker_start("%s", "");
    start_consumer(broker, "t?a==1", NULL);
    int status;
    REQUIRE(waitpid(consumer.pid, &status, 0) == consumer.pid, "waitpid");
    consumer.pid = 0;
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 1, "status %d", status);
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        TEST(test_a_retained_message_is_judged_again),
        TEST(test_a_broker_without_the_plugin_is_filtered_too),
        TEST(test_all_that_a_message_carries_is_read),
        TEST(test_a_refused_filter_ends_it),
    };
    return run_tests(argc, argv, cases, N_ROWS(cases));
}
