/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Filters over TLS, WebSockets, both, and behind a mount point; with libmosquitto, the Paho C library and MQTT.js, which
 * check topic filters each in its own way before they send them.
 */
#include "scenario.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- listeners ---- */

enum { PLAIN = 1, TLS = 2, WEBSOCKETS = 3, TLS_WEBSOCKETS = 4 };

#define CERTIFICATE "certfile @DIR@/cert.pem\nkeyfile @DIR@/key.pem\n"
#define LISTENERS                                                                                  \
    "listener @PORT1@ 127.0.0.1\nallow_anonymous true\n"                                           \
    "listener @PORT2@ 127.0.0.1\nallow_anonymous true\n" CERTIFICATE                               \
    "listener @PORT3@ 127.0.0.1\nallow_anonymous true\nprotocol websockets\n"                      \
    "listener @PORT4@ 127.0.0.1\nallow_anonymous true\nprotocol websockets\n" CERTIFICATE

/* A key and a certificate for 127.0.0.1 that is its own authority, for two days. */
static void make_certificate(struct broker *broker) {
    char command[512];
    snprintf(command, sizeof command,
             "cd '%s' && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes "
             "-keyout key.pem "
             "-out cert.pem -days 2 -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1 > "
             "openssl.log 2>&1",
             broker_dir(broker));
    int status = system(command);
    REQUIRE(status == 0, "openssl: %d: %s", status, read_file(broker, "openssl.log"));
}

static struct broker *start_listeners(const char *more) {
    struct broker *broker = broker_new("%s" PLUGIN NO_STATE LISTENERS, more);
    make_certificate(broker);
    broker_run(broker);
    return broker;
}

static struct client *connect_by(struct broker *broker, unsigned listener, const char *id,
                                 bool keep_session) {
    char ca_file[128];
    snprintf(ca_file, sizeof ca_file, "%s/cert.pem", broker_dir(broker));
    bool tls = listener == TLS || listener == TLS_WEBSOCKETS;
    return client_connect(broker, &(struct client_options){.id = id,
                                                           .keep = keep_session,
                                                           .expiry_s = keep_session ? 3600 : 0,
                                                           .listener = listener,
                                                           .websockets = listener >= WEBSOCKETS,
                                                           .ca_file = tls ? ca_file : NULL});
}

static const char *name_of(unsigned listener) {
    static const char *const names[] = {"", "TCP", "TLS", "WebSockets", "WebSockets over TLS"};
    return names[listener];
}

/* ---- with libmosquitto ---- */

static void check_filters(struct broker *broker, struct client *writer, unsigned listener) {
    const char *name = name_of(listener);
    struct client *reader = connect_by(broker, listener, NULL, false);
    subscribe(reader, "t?x=1", 2);
    for (int qos = 0; qos <= 2; qos++) {
        publish(writer, "t", "1", qos, "1");
        publish(writer, "t", "2", qos, "2");
    }
    CHECK(strcmp(arrived(reader, writer), "1 1 1") == 0, "%s: %s", name, arrived_last());
    CHECK(client_subscribe(reader, "t?x=>1", 1) == REFUSED, "%s: refused", name);
    subscribe(reader, "t?x=2", 1);
    subscribe(reader, "home/%23?sql:x = '1' /* ' */ OR x > 5", 1);
    subscribe(reader, "$share/g/s/+/s?x=1", 1);
    publish(writer, "t", "t1", 1, "1");
    publish(writer, "t", "t2", 1, "2");
    publish(writer, "home/a/b", "h1", 1, "1");
    publish(writer, "home", "h2", 1, "2");
    publish(writer, "home", "h6", 1, "6");
    publish(writer, "s/a/s", "s1", 1, "1");
    publish(writer, "s/a/s", "s2", 1, "2");
    CHECK(strcmp(arrived(reader, writer), "t2 h1 h6 s1") == 0, "%s: %s", name, arrived_last());
    CHECK(client_unsubscribe(reader, "t?x=2") == 0 && client_unsubscribe(reader, "home/#") == 0,
          "%s: unsubscribe", name);
    publish(writer, "t", "t2", 1, "2");
    publish(writer, "home", "h6", 1, "6");
    CHECK(strcmp(arrived(reader, writer), "") == 0, "%s: %s", name, arrived_last());
    /* A string that MQTT does not allow never comes so far. */
    CHECK(client_subscribe(reader, "home/#?x=1", 1) == CLIENT_REFUSED, "%s: libmosquitto checks",
          name);

    static char big[65000];
    memset(big, 'y', sizeof big - 1);
    client_publish(
        writer, &(struct publish){
                    .topic = "s/b/s", .payload = big, .qos = 1, .user = USER("y", big, "x", "1")});
    CHECK(client_fence(reader, writer) == 1, "%s: a long property", name);
    client_disconnect(reader);
}

static void test_each_transport(void) {
    static const char *const settings[] = {"", "per_listener_settings true\n"};
    for (size_t i = 0; i < N_ROWS(settings); i++) {
        struct broker *broker = start_listeners(settings[i]);
        struct client *writer = client_open(broker, "writer");
        for (unsigned listener = PLAIN; listener <= TLS_WEBSOCKETS; listener++) {
            check_filters(broker, writer, listener);
            check_filters(broker, connect_by(broker, listener, NULL, false), PLAIN);
        }
    }
}

/* A session belongs to the client, not to the way it came. (WebSockets: see test_mqtt_js, because libmosquitto 2.1 sends no
 * CONNECT properties over them, so that a session of its MQTT 5 clients is not kept.) */
static void test_a_session_changes_its_transport(void) {
    static const unsigned ways[] = {PLAIN, TLS, TLS, PLAIN};
    struct broker *broker = start_listeners("");
    struct client *writer = client_open(broker, "writer");
    struct client *reader = connect_by(broker, TLS, "reader", true);
    subscribe(reader, "t?x=1", 1);
    for (size_t i = 0; i < N_ROWS(ways); i++) {
        client_drop(reader);
        publish(writer, "t", "queued1", 1, "1");
        publish(writer, "t", "queued2", 1, "2");
        reader = connect_by(broker, ways[i], "reader", true);
        publish(writer, "t", "live1", 1, "1");
        publish(writer, "t", "live2", 1, "2");
        CHECK(strcmp(arrived(reader, writer), "queued1 live1") == 0, "%zu, %s: %s", i,
              name_of(ways[i]), arrived_last());
    }
}

/* ---- a mount point ---- */

static void test_a_mount_point(void) {
    struct broker *broker =
        broker_start(PLUGIN NO_STATE "listener @PORT1@ 127.0.0.1\nallow_anonymous true\n"
                                     "listener @PORT2@ 127.0.0.1\nmount_point site1/\n"
                                     "allow_anonymous true\n");
    struct client *outside = client_open(broker, "outside");
    struct client *inside =
        client_connect(broker, &(struct client_options){.id = "inside", .listener = 2});
    struct client *other =
        client_connect(broker, &(struct client_options){.id = "other", .listener = 2});
    subscribe(inside, "t?x=1", 1);
    subscribe(inside, "a/%23?sql:$topic STARTSWITH 'site1/a' AND x > 1", 1);
    subscribe(outside, "site1/t?x=2", 1);
    publish(other, "t", "in1", 1, "1");
    publish(other, "t", "in2", 1, "2");
    publish(outside, "site1/t", "out1", 2, "1");
    publish(outside, "site1/t", "out2", 2, "2");
    publish(outside, "t", "elsewhere", 1, "1");
    publish(other, "a/b", "a1", 1, "1");
    publish(other, "a/b", "a2", 1, "2");
    client_fence(inside, other);
    CHECK(client_count(inside) == 3 && strcmp(client_message(inside, 0)->topic, "t") == 0 &&
              strcmp(client_message(inside, 2)->topic, "a/b") == 0,
          "topics are those inside: %zu", client_count(inside));
    CHECK_ARRIVED(inside, other, "in1 out1 a2");
    CHECK_ARRIVED(outside, outside, "in2 out2");
    CHECK(client_subscribe(inside, "t?x=>1", 1) == REFUSED, "refused");
    CHECK(broker_log_count(broker, "subscription 'site1/t?x=>1' refused (operator, offset 10)") ==
              1,
          "in the log with its mount point");
    subscribe(inside, "t?x=2", 1);
    publish(other, "t", "in1", 1, "1");
    publish(other, "t", "in2", 1, "2");
    CHECK_ARRIVED(inside, other, "in2");

    /* Mosquitto does not put the mount point before what is unsubscribed from, with or without this plugin: the client
     * is told that there was no such subscription, and its filter stays as it is. */
    enum { NO_SUBSCRIPTION = 0x11 };
    subscribe(inside, "plain", 1);
    static const char *const topics[] = {"t?x=2", "t", "plain"};
    for (size_t i = 0; i < N_ROWS(topics); i++) {
        int code = client_unsubscribe(inside, topics[i]);
        CHECK(code == NO_SUBSCRIPTION, "%s: 0x%02x", topics[i], (unsigned)code);
    }
    publish(other, "t", "in1", 1, "1");
    publish(other, "t", "in2", 1, "2");
    publish(other, "plain", "p", 1, NULL);
    CHECK_ARRIVED(inside, other, "in2 p");
    /* What works is the topic filter as the broker has it, and the end of the session. */
    CHECK(client_unsubscribe(inside, "site1/t?x=2") == 0, "with the mount point");
    publish(other, "t", "in2", 1, "2");
    CHECK_ARRIVED(inside, other, "");
    subscribe(inside, "t?x=1", 1);
    publish(other, "t", "in1", 1, "1");
    publish(other, "t", "in2", 1, "2");
    CHECK_ARRIVED(inside, other, "in1");
}

/* ---- other client libraries ---- */

enum { DEADLINE_MS = 20000, MAX_LINE = 4096 };

/* A program that is driven over its stdin and stdout (see mqttjs/client.js). One at a time; static, because it is ended
 * after a case that REQUIRE has left. */
static struct {
    pid_t pid;
    int in;
    int out;
    char text[MAX_LINE]; /* what has been read and not been used */
    size_t bytes;
    char messages
        [MAX_LINE]; /* the payloads of "msg" lines that came before an answer, with blanks between */
} program;

static void end_program(void *user) {
    (void)user;
    close(program.in);
    close(program.out);
    if (program.pid > 0) {
        kill(program.pid, SIGKILL);
        waitpid(program.pid, NULL, 0);
    }
    program.pid = 0;
}

static void start_program(char *const *arguments) {
    int in[2], out[2];
    REQUIRE(pipe(in) == 0 && pipe(out) == 0, "pipe");
    fflush(NULL);
    memset(&program, 0, sizeof program);
    program.pid = fork();
    if (program.pid == 0) {
        dup2(in[0], STDIN_FILENO);
        dup2(out[1], STDOUT_FILENO);
        close(in[1]);
        close(out[0]);
        execvp(arguments[0], arguments);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    program.in = in[1];
    program.out = out[0];
    test_defer(end_program, NULL);
    REQUIRE(program.pid > 0, "fork");
}

/* The next line. Valid until the next call. */
static const char *read_line(void) {
    static char line[MAX_LINE];
    char *end;
    while ((end = memchr(program.text, '\n', program.bytes)) == NULL) {
        struct pollfd fd = {.fd = program.out, .events = POLLIN};
        size_t room = sizeof program.text - program.bytes;
        ssize_t n = poll(&fd, 1, DEADLINE_MS) == 1
                        ? read(program.out, program.text + program.bytes, room)
                        : -1;
        REQUIRE(n > 0, "the program %s", n == 0 ? "has ended" : "says nothing");
        program.bytes += (size_t)n;
    }
    size_t bytes = (size_t)(end - program.text);
    memcpy(line, program.text, bytes);
    line[bytes] = '\0';
    program.bytes -= bytes + 1;
    memmove(program.text, end + 1, program.bytes);
    return line;
}

/* The next line that is no message. */
static const char *read_answer(void) {
    for (;;) {
        const char *line = read_line();
        if (strncmp(line, "msg ", 4) != 0) {
            return line;
        }
        size_t used = strlen(program.messages);
        snprintf(program.messages + used, sizeof program.messages - used, "%s%s",
                 used == 0 ? "" : " ", strrchr(line, ' ') + 1);
    }
}

static const char *ask(const char *command) {
    REQUIRE(dprintf(program.in, "%s\n", command) > 0, "%s: %s", command, strerror(errno));
    return read_answer();
}

/* What has arrived. The answer to an UNSUBSCRIBE comes after all that the broker has sent before it; the messages have
 * QoS 1 at most and are handed over as they come. */
static const char *program_arrived(void) {
    static char messages[MAX_LINE];
    const char *answer = ask("unsub nothing");
    CHECK(strcmp(answer, "unsub 17") == 0, "%s", answer);
    strcpy(messages, program.messages);
    program.messages[0] = '\0';
    return messages;
}

struct expectation {
    const char *subscription;
    const char *answer;      /* to "sub" */
    const char *topic;       /* to publish on, x=1 and x=2 */
    const char *arrives;     /* of the payloads "1" and "2" */
    const char *unsubscribe; /* NULL: it stays, and is replaced by the next row */
};

static void check_program(struct client *writer, const struct expectation *rows, size_t n) {
    char command[512];
    const char *answer = read_answer();
    REQUIRE(strcmp(answer, "connected") == 0, "%s", answer);
    for (size_t i = 0; i < n; i++) {
        snprintf(command, sizeof command, "sub %s", rows[i].subscription);
        answer = ask(command);
        CHECK(strcmp(answer, rows[i].answer) == 0, "%s: %s", rows[i].subscription, answer);
        publish(writer, rows[i].topic, "1", 1, "1");
        publish(writer, rows[i].topic, "2", 0, "2");
        const char *payloads = program_arrived();
        CHECK(strcmp(payloads, rows[i].arrives) == 0, "%s: '%s' arrived", rows[i].subscription,
              payloads);
        if (rows[i].unsubscribe != NULL) {
            snprintf(command, sizeof command, "unsub %s", rows[i].unsubscribe);
            answer = ask(command);
            CHECK(strcmp(answer, "unsub 0") == 0, "%s: %s", rows[i].unsubscribe, answer);
            publish(writer, rows[i].topic, "1", 1, "1");
            payloads = program_arrived();
            CHECK(payloads[0] == '\0', "%s: '%s' arrived", rows[i].unsubscribe, payloads);
        }
    }
}

/* What every library lets through. */
#define COMMON_ROWS                                                                                \
    {"t?x=1", "sub 1", "t", "1", NULL}, {"t?x=2", "sub 1", "t", "2", NULL},                        \
        {"t?x=>2", "sub 135", "t", "2", NULL}, {"t?x>=1&x<2", "sub 1", "t", "1", "t?x=7"},         \
        {"s/+/t?sql:x = '2' AND NOT y IS NOT NULL", "sub 1", "s/a/t", "2", "s/+/t"},               \
        {"home/%23?x=1", "sub 1", "home/a/b", "1", "home/%23?x=1"},                                \
        {"r/%2B?x%3D=1&x=1", "sub 1", "r/a", "", "r/%2B?"},                                        \
        {"$share/g/%2B/b?tag:2", "sub 1", "a/b", "", "$share/g/%2B/b?tag:2"},                      \
        {"$share/g/a/b?x=2", "sub 1", "a/b", "2", "$share/g/a/b"}, {                               \
        "\u00fc/\u20ac?\u00fc=1", "sub 1", "\u00fc/\u20ac", "", "\u00fc/\u20ac"                    \
    }

static void test_mqtt_js(void) {
    static const struct expectation rows[] = {
        COMMON_ROWS,
        {"home/#?x=1", "sub refused", "home/a", "",
         NULL}, /* it checks wildcards, as libmosquitto does */
        {"r/+?x=1", "sub refused", "r/a", "", NULL},
    };
    char modules[512], script[512], url[64], ca_file[128];
    snprintf(modules, sizeof modules, "%s/.deps/mqttjs/node_modules", TEST_SOURCE_DIR);
    snprintf(script, sizeof script, "%s/tests/broker/mqttjs/client.js", TEST_SOURCE_DIR);
    if (system("node --version > /dev/null 2>&1") != 0 || access(modules, R_OK) != 0) {
        test_skip("scripts/setup installs MQTT.js where node and npm are, and the npm registry can "
                  "be reached");
        return;
    }
    setenv("NODE_PATH", modules, 1);
    struct broker *broker = start_listeners("");
    snprintf(ca_file, sizeof ca_file, "%s/cert.pem", broker_dir(broker));
    struct client *writer = client_open(broker, "writer");
    for (unsigned listener = WEBSOCKETS; listener <= TLS_WEBSOCKETS; listener++) {
        snprintf(url, sizeof url, "%s://127.0.0.1:%d", listener == WEBSOCKETS ? "ws" : "wss",
                 broker_port(broker, listener));
        start_program((char *[]){(char[]){"node"}, script, url, ca_file, NULL});
        check_program(writer, rows, N_ROWS(rows));
    }
    /* Its session goes on where another library takes it up. */
    const char *answer = ask("sub t?x=1");
    CHECK(strcmp(answer, "sub 1") == 0, "%s", answer);
    close(program.in);
    waitpid(program.pid, NULL, 0);
    program.pid = 0;
    publish(writer, "t", "queued1", 1, "1");
    publish(writer, "t", "queued2", 1, "2");
    CHECK_ARRIVED(keep(broker, "mqttjs"), writer, "queued1");
}

#ifdef TEST_PAHO_CLIENT
static void test_paho(void) {
    static const struct expectation rows[] = {COMMON_ROWS};
    char path[] = TEST_PAHO_CLIENT, url[64];
    struct broker *broker = start_listeners("");
    struct client *writer = client_open(broker, "writer");
    static const struct {
        const char *scheme;
        unsigned listener;
    } transports[] = {{"tcp", PLAIN}, {"ws", WEBSOCKETS}};
    for (size_t i = 0; i < N_ROWS(transports); i++) {
        snprintf(url, sizeof url, "%s://127.0.0.1:%d", transports[i].scheme,
                 broker_port(broker, transports[i].listener));
        start_program((char *[]){path, url, NULL});
        check_program(writer, rows, N_ROWS(rows));
    }
    /* It checks nothing: the broker sees the wildcard that does not stand alone, and closes the connection. */
    REQUIRE(dprintf(program.in, "sub home/#?x=1\n") > 0, "write");
    CHECK(broker_await_log(broker, "Client paho [127.0.0.1:") &&
              broker_await_log(broker, " disconnected: malformed packet."),
          "closed");
}
#else
static void test_paho(void) {
    test_skip(
        "the Paho C library (Debian: libpaho-mqtt-dev) was not there when this was configured");
}
#endif

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        TEST(test_each_transport), TEST(test_a_session_changes_its_transport),
        TEST(test_a_mount_point),  TEST(test_mqtt_js),
        TEST(test_paho),
    };
    signal(SIGPIPE, SIG_IGN);
    return run_tests(argc, argv, cases, N_ROWS(cases));
}
