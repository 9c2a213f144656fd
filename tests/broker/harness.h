/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Tests against a real broker: brokers in folders and on ports of their own, and clients of libmosquitto.
 *
 *     struct broker *broker = broker_start("plugin " TEST_PLUGIN "\n");
 *     struct client *reader = client_open(broker, "reader");
 *     struct client *writer = client_open(broker, "writer");
 *     CHECK(client_subscribe(reader, "t?location=roomA", 1) == 1, "granted");
 *     client_publish(writer, &(struct publish){.topic = "t", .qos = 1, .user = USER("location", "roomA")});
 *     CHECK(client_fence(reader, writer) == 1, "one message");
 *
 * Everything here belongs to the running case and is closed when it ends (test_defer), in the reverse order; a broker
 * that then does not end with status 0 fails the case, and the log of every broker of a failed case is printed.
 *
 * What cannot go on (a broker that does not start, an answer that does not come within the deadline) ends the case by
 * REQUIRE. Nothing sleeps: each wait is for an event, and the deadline only bounds how long a failure takes.
 *
 * One thread. Whenever the harness waits, all connected clients of the process are served: they read, acknowledge and
 * collect. A client that must not do that is a raw one (raw.h).
 *
 * Environment: TEST_BROKER_WRAPPER, words before the broker's path (valgrind -q --error-exitcode=99); TEST_KEEP, keep
 * the folders. In a sanitizer build the runtime is preloaded into the broker by itself (TEST_BROKER_PRELOAD).
 */
#ifndef TEST_HARNESS_H
#define TEST_HARNESS_H

#include "runner.h"
#include "test_paths.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- brokers ------------------------------------------------------------------------------------------------- */

#define BROKER_PORTS 4 /* reserved for each broker */

struct broker;

/* A new broker that is not started yet. `format` and what follows make its configuration, in which
 *
 *     @PORT@ or @PORT1@ … @PORT4@   are its ports
 *     @DIR@                         is its folder, where it is also started
 *     @PLUGINS@                     is the folder of the plugins that come with the broker
 *
 * Before it stand lines for the log (to stderr, all types), the user and set_tcp_nodelay. A configuration without
 * @PORT@ also gets "listener @PORT@ 127.0.0.1" and "allow_anonymous true" in front, so that "" is a whole one. Aborts
 * the case when it cannot. */
struct broker *broker_new(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Replace the configuration, for the next start or SIGHUP. */
void broker_configure(struct broker *broker, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Write a file into the broker's folder (@DIR@/<name>), readable and writable by its user. */
void broker_write_file(struct broker *broker, const char *name, const char *text);

/* Start a broker that is not running, in its folder with what earlier runs left there, and wait until it accepts
 * connections. False: it ended before that; broker_status and the log say how. */
bool broker_try_run(struct broker *broker);

/* The same where it must succeed. */
void broker_run(struct broker *broker);

/* broker_new and broker_run. */
struct broker *broker_start(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* End a running broker by SIGTERM, wait for its end and return its status: the exit status, or 128 + signal. */
int broker_stop(struct broker *broker);

/* End it by SIGKILL: a crash as far as its files are concerned. */
void broker_kill(struct broker *broker);

/* SIGHUP; returns when the broker has seen it, so that whatever is sent afterwards meets the new settings. */
void broker_reload(struct broker *broker);

/* SIGUSR1: mosquitto.db is written now; returns when the broker has begun, so before it reads anything more. */
void broker_save(struct broker *broker);

bool broker_is_running(const struct broker *broker);

/* The status of the last end, as broker_stop returns it. */
int broker_status(const struct broker *broker);

/* Say that the broker may end with any status: for cases that kill it, or make it refuse to start. */
void broker_expect_failure(struct broker *broker);

long broker_pid(const struct broker *broker);
int broker_port(const struct broker *broker, unsigned number); /* number from 1 */
const char *broker_dir(const struct broker *broker);

/* ---- the log ------------------------------------------------------------------------------------------------- */

/* All that the broker has logged so far, over all its runs. New: freed with the broker; valid until the next call. */
const char *broker_log(struct broker *broker);

/* How many lines of the log contain `text`; counted in all runs. To prove that something was *not* logged, let the
 * broker answer a client first (client_ping): its log is written line by line. */
size_t broker_log_count(struct broker *broker, const char *text);

/* Wait for a line with `text` after the place where the last broker_await_log of this broker ended (at first, the
 * beginning). False, with a note, when the deadline passes or the broker ends without it. */
bool broker_await_log(struct broker *broker, const char *text);

/* ---- clients ------------------------------------------------------------------------------------------------- */

/* User Properties: USER("name", "value", …). */
#define USER(...) ((const char *const[]){__VA_ARGS__, NULL})

struct client_options {
    const char *id;           /* NULL: the broker gives one */
    int protocol;             /* 5 (also 0), 4 for MQTT 3.1.1, 3 for MQTT 3.1 */
    bool keep;                /* Clean Start 0 (MQTT 3: clean session 0) */
    uint32_t expiry_s;        /* Session Expiry Interval, MQTT 5 */
    uint16_t receive_maximum; /* 0: none is sent */
    unsigned listener;        /* number of the port, from 1 (also 0) */
    bool websockets;          /* instead of plain TCP */
    const char *ca_file;      /* TLS, with the certificates in this file; NULL: none */
    const char *username;
    const char *password;
    const struct publish *will;
    uint32_t will_delay_s;
};

/* A message to publish. Nothing is kept after the call. */
struct publish {
    const char *topic;
    const char *payload;  /* NUL-terminated; NULL: empty */
    size_t payload_bytes; /* 0: up to the NUL */
    int qos;
    bool retain;
    const char *const *user; /* USER(…) */
    const char *content_type;
    const char *response_topic;
    uint32_t expiry_s; /* Message Expiry Interval; 0: none */
};

struct subscribe {
    const char *topic;
    int qos;
    uint32_t id; /* Subscription Identifier; 0: none */
    bool no_local;
    bool retain_as_published;
    int retain_handling; /* 0, 1, 2 */
};

/* A message as received. */
struct message {
    char *topic;
    char *payload; /* NUL-terminated */
    size_t payload_bytes;
    int qos;
    bool retain;
    uint32_t *ids; /* Subscription Identifiers */
    size_t n_ids;
    char **user;   /* name, value, name, value … */
    size_t n_user; /* pairs */
    char *content_type;
    char *response_topic;
    struct message *next;
};

/* In place of a reason code, which is 0 to 255. */
enum {
    CLIENT_CLOSED = -1,  /* the connection ended before the answer */
    CLIENT_REFUSED = -2, /* libmosquitto does not send this: not a valid topic or filter */
};

struct client;

/* Connect with Clean Start and MQTT 5 as `id`. */
struct client *client_open(struct broker *broker, const char *id);

/* Connect; the broker must accept. */
struct client *client_connect(struct broker *broker, const struct client_options *options);

/* Connect and return the reason code of the CONNACK in *code_out, or CLIENT_CLOSED. The client is returned in any
 * case. */
struct client *client_try_connect(struct broker *broker, const struct client_options *options,
                                  int *code_out);

/* Whether the last CONNACK said that a session was kept. */
bool client_session_present(const struct client *client);

/* Connect again a client that was opened with .keep and is disconnected. What it has received stays, and so does what
 * the library knows of unfinished exchanges. (For another Clean Start open another client with the same id.) */
void client_reconnect(struct client *client);

/* DISCONNECT, and return when the broker has dealt with it. What it has sent and the client has not read is lost, as it is
 * with client_drop. */
void client_disconnect(struct client *client);

/* Close the connection without DISCONNECT, and return when the broker has noticed (so a will has been published). */
void client_drop(struct client *client);

bool client_is_connected(const struct client *client);

/* Wait until the broker closes the connection. The reason code of its DISCONNECT, 0 when it sent none. */
int client_await_closed(struct client *client);

/* Subscribe. The granted QoS, or the reason code, or CLIENT_CLOSED or CLIENT_REFUSED. */
int client_subscribe(struct client *client, const char *topic, int qos);
int client_subscribe_with(struct client *client, const struct subscribe *subscribe);

/* Several entries in one SUBSCRIBE. Fills codes_out[0 … n-1]; false: closed or refused. */
bool client_subscribe_many(struct client *client, const char *const *topics, size_t n, int qos,
                           int *codes_out);

/* Unsubscribe: the reason code (MQTT 3: 0), or CLIENT_CLOSED or CLIENT_REFUSED. */
int client_unsubscribe(struct client *client, const char *topic);

/* Publish, and return when the broker has passed the message on to its subscribers: with QoS 1 after the PUBACK, with
 * QoS 2 after the PUBCOMP, with QoS 0 after the answer to a client_ping. The reason code, or CLIENT_CLOSED or
 * CLIENT_REFUSED. */
int client_publish(struct client *client, const struct publish *publish);

/* Hand a message over without waiting for anything. 0 or CLIENT_REFUSED. */
int client_publish_later(struct client *client, const struct publish *publish);

/* Wait until all that was handed over by client_publish_later is passed on. False: the connection ended. */
bool client_flush(struct client *client);

/* A round trip that changes nothing (UNSUBSCRIBE of a topic filter that nobody has): when it returns, the broker has
 * dealt with everything this client has sent before, and what it had written to this connection by then has been
 * read. False: the connection ended. */
bool client_ping(struct client *client);

/* Wait until the client has collected `n` messages in all. False, with a note, when they do not come. */
bool client_await(struct client *client, size_t n);

/* Prove that nothing more is coming to `reader`: `writer` (may be the same client) publishes a marker that only the
 * reader gets, and everything that was published before has arrived when the marker does. Returns the number of
 * messages that the reader has collected (the marker is not among them), or ends the case when the marker does not
 * come.
 *
 * Why this proves it: client_publish returns only when the broker has passed a message on, so those messages are sent
 * or queued for the reader before the marker. The broker keeps that order for messages above QoS 0 and sends those of
 * QoS 0 at once. The marker has QoS 2, so libmosquitto hands it over last: a message of QoS 2 is handed over at its
 * PUBREL, in the order of the PUBLISHes, and one of QoS 0 or 1 on arrival. A marker of a lower QoS would overtake
 * messages of QoS 2. If a full queue drops the marker, the case fails.
 *
 * The first fence of a session subscribes the reader to "fence/<client id>" with QoS 2; access control must allow
 * that and let the writer publish there. Messages on fence/… are never collected, whatever else a client has
 * subscribed to. */
size_t client_fence(struct client *reader, struct client *writer);

/* Messages that have been collected and not been taken. */
size_t client_count(const struct client *client);
const struct message *client_message(const struct client *client, size_t index);

/* Take all: forget them. */
void client_clear(struct client *client);

/* The value of the first User Property `name`, or NULL. */
const char *message_user(const struct message *message, const char *name);

/* How many collected messages have this payload. */
size_t client_count_payload(const struct client *client, const char *payload);

const char *client_id(const struct client *client);

#endif
