/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Clients of the harness (see harness.h), over libmosquitto's callbacks and without its threads: harness_wait polls the
 * sockets of all clients and lets the library read and write. The callbacks only note what came; the functions
 * that wait look at the notes.
 */
#include "harness.h"
#include "harness_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <mosquitto.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define DEADLINE_MS         20000
#define DEADLINE_WRAPPED_MS 180000 /* under valgrind */
#define MAX_ENTRIES         64     /* of one SUBSCRIBE */
#define NO_ANSWER           (-100)

struct client {
    struct broker *broker;
    struct mosquitto *mosq;
    char id[256];
    int port;
    int protocol;
    bool keep;
    uint32_t expiry_s;
    uint16_t receive_maximum;

    bool connected;
    bool session_present;
    int connack; /* NO_ANSWER until it comes */
    int closed;  /* what the disconnect callback said */

    int awaited; /* the packet identifier whose answer is wanted */
    int answers[MAX_ENTRIES];
    int n_answers; /* NO_ANSWER until it comes */

    /* QoS 1 and 2 messages on their way to the broker; the library goes on with them after a reconnect. */
    bool unfinished[UINT16_MAX + 1]; /* by packet identifier */
    size_t n_unfinished;

    struct inbox inbox;
    bool fence_subscribed;

    struct client *next;
};

static struct client *clients; /* all of the running case */
static unsigned n_fences;
static unsigned n_anonymous;

/* ---- waiting ------------------------------------------------------------------------------------------------- */

int64_t harness_now_ms(void) {
    struct timespec now = {0};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t harness_deadline(void) {
    return harness_now_ms() +
           (getenv("TEST_BROKER_WRAPPER") == NULL ? DEADLINE_MS : DEADLINE_WRAPPED_MS);
}

static void serve(struct client *client, short events) {
    if (events & (POLLIN | POLLHUP | POLLERR)) {
        mosquitto_loop_read(client->mosq, 1);
    }
    if (mosquitto_want_write(client->mosq)) {
        mosquitto_loop_write(client->mosq, 1);
    }
}

bool harness_wait(const int *fds, size_t n, int64_t deadline_ms) {
    size_t n_clients = 0;
    for (struct client *client = clients; client != NULL; client = client->next) {
        n_clients++;
    }
    struct pollfd *polled = calloc(n + n_clients + 1, sizeof *polled);
    struct client **owners = calloc(n_clients + 1, sizeof *owners);
    REQUIRE(polled != NULL && owners != NULL, "out of memory");
    for (size_t i = 0; i < n; i++) {
        polled[i] = (struct pollfd){.fd = fds[i], .events = POLLIN};
    }
    size_t n_owners = 0;
    for (struct client *client = clients; client != NULL; client = client->next) {
        int fd = client->connected ? mosquitto_socket(client->mosq) : -1;
        if (fd >= 0) {
            short events = mosquitto_want_write(client->mosq) ? POLLIN | POLLOUT : POLLIN;
            polled[n + n_owners] = (struct pollfd){.fd = fd, .events = events};
            owners[n_owners++] = client;
        }
    }

    int64_t left = deadline_ms - harness_now_ms();
    int timeout = left < 0 ? 0 : left > DEADLINE_WRAPPED_MS ? DEADLINE_WRAPPED_MS : (int)left;
    int ready = poll(polled, n + n_owners, timeout);
    for (size_t i = 0; ready > 0 && i < n_owners; i++) {
        if (polled[n + i].revents != 0) {
            serve(owners[i], polled[n + i].revents);
        }
    }
    bool in_time = ready != 0 || left > 0;
    free(polled);
    free(owners);
    return in_time;
}

void harness_drain(int fd) {
    int64_t deadline = harness_deadline();
    char bytes[4096];
    for (;;) {
        ssize_t got = recv(fd, bytes, sizeof bytes, MSG_DONTWAIT);
        if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) {
            break;
        }
        if (got < 0 && !harness_wait(&fd, 1, deadline)) {
            close(fd);
            REQUIRE(false, "the broker does not close the connection");
        }
    }
    close(fd);
}

/* Wait until the wanted answer has come (true) or the connection has ended (false). */
static bool await_answer(struct client *client) {
    int64_t deadline = harness_deadline();
    while (client->n_answers == NO_ANSWER && client->connected) {
        bool in_time = harness_wait(NULL, 0, deadline);
        REQUIRE(in_time, "client %s: the broker does not answer", client->id);
    }
    return client->n_answers != NO_ANSWER;
}

/* ---- messages -------------------------------------------------------------------------------------------------- */

static void on_message(struct mosquitto *mosq, void *user, const struct mosquitto_message *message,
                       const mosquitto_property *properties) {
    (void)mosq;
    struct client *client = user;
    inbox_add(&client->inbox, message, properties);
}

size_t client_count(const struct client *client) {
    return client->inbox.count;
}

const struct message *client_message(const struct client *client, size_t index) {
    REQUIRE(index < client->inbox.count, "client %s has %zu messages, not %zu", client->id,
            client->inbox.count, index + 1);
    const struct message *message = client->inbox.first;
    while (index-- > 0) {
        message = message->next;
    }
    return message;
}

void client_clear(struct client *client) {
    inbox_clear(&client->inbox);
}

size_t client_count_payload(const struct client *client, const char *payload) {
    size_t n = 0;
    for (const struct message *message = client->inbox.first; message != NULL;
         message = message->next) {
        n += strcmp(message->payload, payload) == 0;
    }
    return n;
}

/* ---- the other callbacks --------------------------------------------------------------------------------------- */

static void on_connect(struct mosquitto *mosq, void *user, int code, int flags,
                       const mosquitto_property *properties) {
    (void)mosq;
    (void)properties;
    struct client *client = user;
    client->connack = code;
    client->session_present = (flags & 1) != 0;
}

static void on_disconnect(struct mosquitto *mosq, void *user, int code,
                          const mosquitto_property *properties) {
    (void)mosq;
    (void)properties;
    struct client *client = user;
    client->connected = false;
    client->closed = code;
}

static void note_answers(struct client *client, int mid, int n, const int *codes) {
    if (mid != client->awaited) {
        return;
    }
    client->n_answers = n;
    for (int i = 0; i < n && i < MAX_ENTRIES; i++) {
        client->answers[i] = codes[i];
    }
}

static void on_subscribe(struct mosquitto *mosq, void *user, int mid, int n, const int *granted,
                         const mosquitto_property *properties) {
    (void)mosq;
    (void)properties;
    note_answers(user, mid, n, granted);
}

static void on_unsubscribe(struct mosquitto *mosq, void *user, int mid, int n, const int *codes,
                           const mosquitto_property *properties) {
    (void)mosq;
    (void)properties;
    note_answers(user, mid, n, codes);
}

/* For QoS 0 the library calls this once the bytes are written, which says nothing; such messages are never unfinished. */
static void on_publish(struct mosquitto *mosq, void *user, int mid, int code,
                       const mosquitto_property *properties) {
    (void)mosq;
    (void)properties;
    struct client *client = user;
    if (client->unfinished[mid]) {
        client->unfinished[mid] = false;
        client->n_unfinished--;
    }
    note_answers(client, mid, 1, &code);
}

/* ---- connecting ------------------------------------------------------------------------------------------------ */

static void client_free(void *user) {
    struct client *client = user;
    struct client **link = &clients;
    while (*link != client) {
        link = &(*link)->next;
    }
    *link = client->next;
    client_clear(client);
    mosquitto_destroy(client->mosq);
    free(client);
}

static void set_will(struct client *client, const struct publish *will, uint32_t delay_s) {
    mosquitto_property *properties = client->protocol == 5 ? message_properties(will) : NULL;
    int rc = MOSQ_ERR_SUCCESS;
    if (delay_s > 0) {
        rc = mosquitto_property_add_int32(&properties, MQTT_PROP_WILL_DELAY_INTERVAL, delay_s);
    }
    if (rc == MOSQ_ERR_SUCCESS) {
        /* Takes the properties. */
        rc = mosquitto_will_set_v5(client->mosq, will->topic, (int)message_payload_bytes(will),
                                   will->payload, will->qos, will->retain, properties);
    }
    REQUIRE(rc == MOSQ_ERR_SUCCESS, "will: %s", mosquitto_strerror(rc));
}

static struct client *client_new(struct broker *broker, const struct client_options *options) {
    static bool ready;
    if (!ready) {
        ready = true;
        mosquitto_lib_init();
    }
    struct client *client = calloc(1, sizeof *client);
    REQUIRE(client != NULL, "out of memory");
    client->broker = broker;
    client->port = broker_port(broker, options->listener == 0 ? 1 : options->listener);
    client->protocol = options->protocol == 0 ? 5 : options->protocol;
    client->keep = options->keep;
    client->expiry_s = options->expiry_s;
    client->receive_maximum = options->receive_maximum;
    if (options->id != NULL) {
        snprintf(client->id, sizeof client->id, "%s", options->id);
    } else {
        snprintf(client->id, sizeof client->id, "(anonymous-%u)", ++n_anonymous);
    }
    client->mosq = mosquitto_new(options->id, !options->keep, client);
    if (client->mosq == NULL) {
        free(client);
        REQUIRE(false, "mosquitto_new: %s", strerror(errno));
    }
    client->next = clients;
    clients = client;
    test_defer(client_free, client);

    mosquitto_connect_v5_callback_set(client->mosq, on_connect);
    mosquitto_disconnect_v5_callback_set(client->mosq, on_disconnect);
    mosquitto_subscribe_v5_callback_set(client->mosq, on_subscribe);
    mosquitto_unsubscribe2_v5_callback_set(client->mosq, on_unsubscribe);
    mosquitto_publish_v5_callback_set(client->mosq, on_publish);
    mosquitto_message_v5_callback_set(client->mosq, on_message);
    int rc = mosquitto_int_option(client->mosq, MOSQ_OPT_PROTOCOL_VERSION, client->protocol);
    if (rc == MOSQ_ERR_SUCCESS) {
        /* A small packet must not wait for the acknowledgement of the one before. */
        rc = mosquitto_int_option(client->mosq, MOSQ_OPT_TCP_NODELAY, 1);
    }
    if (rc == MOSQ_ERR_SUCCESS && options->websockets) {
        rc = mosquitto_int_option(client->mosq, MOSQ_OPT_TRANSPORT, MOSQ_T_WEBSOCKETS);
    }
    if (rc == MOSQ_ERR_SUCCESS && options->ca_file != NULL) {
        rc = mosquitto_tls_set(client->mosq, options->ca_file, NULL, NULL, NULL, NULL);
    }
    if (rc == MOSQ_ERR_SUCCESS && options->username != NULL) {
        rc = mosquitto_username_pw_set(client->mosq, options->username, options->password);
    }
    REQUIRE(rc == MOSQ_ERR_SUCCESS, "client %s: %s", client->id, mosquitto_strerror(rc));
    if (options->will != NULL) {
        set_will(client, options->will, options->will_delay_s);
    }
    return client;
}

/* The reason code of the CONNACK, or CLIENT_CLOSED. */
static int open_connection(struct client *client) {
    mosquitto_property *properties = NULL;
    int rc = MOSQ_ERR_SUCCESS;
    if (client->protocol == 5 && client->expiry_s > 0) {
        rc = mosquitto_property_add_int32(&properties, MQTT_PROP_SESSION_EXPIRY_INTERVAL,
                                          client->expiry_s);
    }
    if (client->protocol == 5 && client->receive_maximum > 0 && rc == MOSQ_ERR_SUCCESS) {
        /* Not as a property: the library must know it too. */
        rc = mosquitto_int_option(client->mosq, MOSQ_OPT_RECEIVE_MAXIMUM, client->receive_maximum);
    }
    if (rc == MOSQ_ERR_SUCCESS) {
        client->connack = NO_ANSWER;
        client->connected = true;
        /* Keep alive 0: no pings, so nothing here depends on the clock. */
        rc =
            mosquitto_connect_bind_v5(client->mosq, "127.0.0.1", client->port, 0, NULL, properties);
    }
    mosquitto_property_free_all(&properties);
    REQUIRE(rc == MOSQ_ERR_SUCCESS, "client %s: connect: %s", client->id, mosquitto_strerror(rc));
    fcntl(mosquitto_socket(client->mosq), F_SETFD,
          FD_CLOEXEC); /* a broker started later must not hold it */

    int64_t deadline = harness_deadline();
    while (client->connack == NO_ANSWER && client->connected) {
        bool in_time = harness_wait(NULL, 0, deadline);
        REQUIRE(in_time, "client %s: no CONNACK", client->id);
    }
    return client->connack == NO_ANSWER ? CLIENT_CLOSED : client->connack;
}

struct client *client_try_connect(struct broker *broker, const struct client_options *options,
                                  int *code_out) {
    struct client *client = client_new(broker, options);
    *code_out = open_connection(client);
    return client;
}

struct client *client_connect(struct broker *broker, const struct client_options *options) {
    int code;
    struct client *client = client_try_connect(broker, options, &code);
    REQUIRE(code == 0, "client %s: connection refused with %d", client->id, code);
    return client;
}

struct client *client_open(struct broker *broker, const char *id) {
    return client_connect(broker, &(struct client_options){.id = id});
}

bool client_session_present(const struct client *client) {
    return client->session_present;
}

void client_reconnect(struct client *client) {
    REQUIRE(!client->connected, "client %s is connected", client->id);
    REQUIRE(client->keep, "client %s was not opened with .keep", client->id);
    int code = open_connection(client);
    REQUIRE(code == 0, "client %s: connection refused with %d", client->id, code);
    client->fence_subscribed = client->fence_subscribed && client->session_present;
}

bool client_is_connected(const struct client *client) {
    return client->connected;
}

/* The library closes its socket and does not wait; a second descriptor sees when the broker has closed its side. */
static int second_descriptor(const struct client *client) {
    REQUIRE(client->connected, "client %s is not connected", client->id);
    int fd = fcntl(mosquitto_socket(client->mosq), F_DUPFD_CLOEXEC, 3);
    REQUIRE(fd >= 0, "dup: %s", strerror(errno));
    return fd;
}

/* Nothing can be sent any more: wait until the broker closes the connection. What it still sends is lost, and the library
 * does not see it: when it cannot acknowledge a packet it gives up, leaks the message if that was a PUBREL, and takes the
 * packets behind it for the beginning of the next connection. */
static void lose_connection(struct client *client, int fd) {
    client->connected = false; /* so it is not served */
    harness_drain(fd);
    mosquitto_loop_read(client->mosq, 1); /* nothing but the end */
    REQUIRE(mosquitto_socket(client->mosq) < 0, "client %s: still open", client->id);
}

void client_disconnect(struct client *client) {
    int fd = second_descriptor(client);
    mosquitto_disconnect_v5(client->mosq, 0, NULL);
    lose_connection(client, fd);
}

void client_drop(struct client *client) {
    int fd = second_descriptor(client);
    shutdown(fd, SHUT_WR);
    lose_connection(client, fd);
}

int client_await_closed(struct client *client) {
    int64_t deadline = harness_deadline();
    while (client->connected) {
        bool in_time = harness_wait(NULL, 0, deadline);
        REQUIRE(in_time, "client %s: the broker does not close the connection", client->id);
    }
    /* Below 0x80 it is a code of the library: the connection was lost without a DISCONNECT. */
    return client->closed >= 0x80 ? client->closed : 0;
}

/* ---- requests --------------------------------------------------------------------------------------------------- */

/* The outcome of a request that the library took or refused with `rc`; its first answer. */
static int first_answer(struct client *client, int rc) {
    if (rc == MOSQ_ERR_NO_CONN || rc == MOSQ_ERR_CONN_LOST) {
        return CLIENT_CLOSED;
    }
    if (rc != MOSQ_ERR_SUCCESS) {
        return CLIENT_REFUSED;
    }
    if (!await_answer(client)) {
        return CLIENT_CLOSED;
    }
    return client->n_answers > 0 ? client->answers[0] : 0;
}

static int send_subscribe(struct client *client, const char *const *topics, size_t n, int qos,
                          int options, const mosquitto_property *properties) {
    REQUIRE(n <= MAX_ENTRIES, "%zu entries", n);
    client->n_answers = NO_ANSWER;
    return mosquitto_subscribe_multiple(client->mosq, &client->awaited, (int)n,
                                        (char *const *)(uintptr_t)topics, qos, options, properties);
}

int client_subscribe_with(struct client *client, const struct subscribe *subscribe) {
    mosquitto_property *properties = NULL;
    if (subscribe->id > 0) {
        int rc = mosquitto_property_add_varint(&properties, MQTT_PROP_SUBSCRIPTION_IDENTIFIER,
                                               subscribe->id);
        REQUIRE(rc == MOSQ_ERR_SUCCESS, "subscription identifier: %s", mosquitto_strerror(rc));
    }
    int options = (subscribe->no_local ? MQTT_SUB_OPT_NO_LOCAL : 0) |
                  (subscribe->retain_as_published ? MQTT_SUB_OPT_RETAIN_AS_PUBLISHED : 0) |
                  subscribe->retain_handling << 4;
    int rc = send_subscribe(client, &subscribe->topic, 1, subscribe->qos, options, properties);
    mosquitto_property_free_all(&properties);
    return first_answer(client, rc);
}

int client_subscribe(struct client *client, const char *topic, int qos) {
    return client_subscribe_with(client, &(struct subscribe){.topic = topic, .qos = qos});
}

bool client_subscribe_many(struct client *client, const char *const *topics, size_t n, int qos,
                           int *codes_out) {
    int rc = send_subscribe(client, topics, n, qos, 0, NULL);
    if (first_answer(client, rc) < 0) {
        return false;
    }
    REQUIRE(client->n_answers == (int)n, "SUBACK with %d codes for %zu entries", client->n_answers,
            n);
    memcpy(codes_out, client->answers, n * sizeof *codes_out);
    return true;
}

int client_unsubscribe(struct client *client, const char *topic) {
    client->n_answers = NO_ANSWER;
    return first_answer(client,
                        mosquitto_unsubscribe_v5(client->mosq, &client->awaited, topic, NULL));
}

bool client_ping(struct client *client) {
    return client_unsubscribe(client, FENCE_PREFIX "nobody") >= 0;
}

static int send_publish(struct client *client, const struct publish *publish, int *mid_out) {
    mosquitto_property *properties = client->protocol == 5 ? message_properties(publish) : NULL;
    client->n_answers = NO_ANSWER;
    client->awaited = 0;
    int rc = mosquitto_publish_v5(client->mosq, mid_out, publish->topic,
                                  (int)message_payload_bytes(publish), publish->payload,
                                  publish->qos, publish->retain, properties);
    mosquitto_property_free_all(&properties);
    if (rc == MOSQ_ERR_SUCCESS && publish->qos > 0) {
        client->unfinished[*mid_out] = true;
        client->n_unfinished++;
    }
    return rc;
}

int client_publish(struct client *client, const struct publish *publish) {
    int mid = 0;
    int rc = send_publish(client, publish, &mid);
    if (publish->qos > 0) {
        client->awaited = mid;
        return first_answer(client, rc);
    }
    if (rc == MOSQ_ERR_SUCCESS) {
        return client_ping(client) ? 0 : CLIENT_CLOSED;
    }
    return rc == MOSQ_ERR_NO_CONN || rc == MOSQ_ERR_CONN_LOST ? CLIENT_CLOSED : CLIENT_REFUSED;
}

int client_publish_later(struct client *client, const struct publish *publish) {
    int mid = 0;
    return send_publish(client, publish, &mid) == MOSQ_ERR_SUCCESS ? 0 : CLIENT_REFUSED;
}

bool client_flush(struct client *client) {
    int64_t deadline = harness_deadline();
    while (client->n_unfinished > 0 && client->connected) {
        bool in_time = harness_wait(NULL, 0, deadline);
        REQUIRE(in_time, "client %s: %zu messages are not acknowledged", client->id,
                client->n_unfinished);
    }
    return client_ping(client);
}

bool client_await(struct client *client, size_t n) {
    int64_t deadline = harness_deadline();
    while (client->inbox.count < n) {
        if (!client->connected || !harness_wait(NULL, 0, deadline)) {
            test_note("client %s has %zu messages of %zu", client->id, client->inbox.count, n);
            return false;
        }
    }
    return true;
}

size_t client_fence(struct client *reader, struct client *writer) {
    char topic[sizeof FENCE_PREFIX + sizeof reader->id];
    snprintf(topic, sizeof topic, FENCE_PREFIX "%s", reader->id);
    if (!reader->fence_subscribed) {
        int granted = client_subscribe(reader, topic, 2);
        REQUIRE(granted == 2, "client %s may not subscribe to %s: %d", reader->id, topic, granted);
        reader->fence_subscribed = true;
    }

    unsigned number = ++n_fences;
    char payload[16];
    snprintf(payload, sizeof payload, "%u", number);
    int code =
        client_publish(writer, &(struct publish){.topic = topic, .payload = payload, .qos = 2});
    REQUIRE(code == 0, "client %s may not publish to %s: %d", writer->id, topic, code);

    int64_t deadline = harness_deadline();
    while (reader->inbox.fence_seen != number) {
        REQUIRE(reader->connected, "client %s was disconnected before the fence", reader->id);
        bool in_time = harness_wait(NULL, 0, deadline);
        REQUIRE(in_time, "client %s: the fence does not arrive; %zu messages did", reader->id,
                reader->inbox.count);
    }
    return reader->inbox.count;
}

const char *client_id(const struct client *client) {
    return client->id;
}
