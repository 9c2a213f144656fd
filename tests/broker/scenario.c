/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See scenario.h.
 */
#include "scenario.h"
#include "packet.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NO_MATCHING_SUBSCRIBERS = 0x10, MAX_ARRIVED = 1 << 16 };

static char arrived_text[MAX_ARRIVED];

struct broker *start_plugin(const char *options) {
    return broker_start(PLUGIN NO_STATE "%s", options);
}

void write_dynsec(struct broker *broker, const char *acls) {
    static const char before[] =
        "{\"defaultACLAccess\":{\"publishClientSend\":true,\"publishClientReceive\":true,"
        "\"subscribe\":true,\"unsubscribe\":true},\"clients\":[],"
        "\"groups\":[{\"groupname\":\"all\",\"roles\":[{\"rolename\":\"r\"}]}],"
        "\"anonymousGroup\":\"all\",\"roles\":[{\"rolename\":\"r\",\"acls\":["
        "{\"acltype\":\"publishClientSend\",\"topic\":\"$CONTROL/#\",\"allow\":true}";
    char text[2048];
    snprintf(text, sizeof text, "%s%s]}]}", before, acls);
    broker_write_file(broker, "dynsec.json", text);
}

struct client *keep(struct broker *broker, const char *id) {
    return client_connect(broker,
                          &(struct client_options){.id = id, .keep = true, .expiry_s = 3600});
}

void subscribe(struct client *client, const char *topic, int qos) {
    int code = client_subscribe(client, topic, qos);
    REQUIRE(code == qos, "%s: subscribe %s: 0x%02x", client_id(client), topic, (unsigned)code);
}

void subscribe_refused(struct broker *broker, struct client *client, const char *topic,
                       const char *reason) {
    size_t before = broker_log_count(broker, reason);
    int code = client_subscribe(client, topic, 1);
    CHECK(code == REFUSED, "%s: subscribe %s: 0x%02x", client_id(client), topic, (unsigned)code);
    CHECK(broker_log_count(broker, reason) > before, "not logged: %s", reason);
}

static void must_publish(struct client *writer, const struct publish *message) {
    int code = client_publish(writer, message);
    REQUIRE(code == 0 || code == NO_MATCHING_SUBSCRIBERS, "%s: publish on %s: 0x%02x",
            client_id(writer), message->topic, (unsigned)code);
}

void publish(struct client *writer, const char *topic, const char *payload, int qos,
             const char *x) {
    must_publish(writer, &(struct publish){.topic = topic,
                                           .payload = payload,
                                           .qos = qos,
                                           .user = x == NULL ? NULL : USER("x", x)});
}

void publish_user(struct client *writer, const char *topic, const char *const *user) {
    must_publish(writer, &(struct publish){.topic = topic, .payload = "x", .qos = 1, .user = user});
}

void publish_room(struct client *writer, const char *topic, const char *room) {
    must_publish(
        writer,
        &(struct publish){.topic = topic, .payload = room, .qos = 1, .user = USER("room", room)});
}

size_t count_arrived(struct client *reader, struct client *writer) {
    size_t n = client_fence(reader, writer);
    client_clear(reader);
    return n;
}

void check_filtered(struct client *reader, struct client *writer, const char *topic,
                    const char *where) {
    publish_room(writer, topic, "a");
    publish_room(writer, topic, "b");
    size_t n = client_fence(reader, writer);
    CHECK(n == 1 && client_count_payload(reader, "a") == 1, "%s: %zu messages on %s", where, n,
          topic);
    client_clear(reader);
}

const char *arrived(struct client *reader, struct client *writer) {
    size_t n = client_fence(reader, writer);
    size_t used = 0;
    arrived_text[0] = '\0';
    for (size_t i = 0; i < n; i++) {
        int bytes = snprintf(arrived_text + used, MAX_ARRIVED - used, "%s%s", i == 0 ? "" : " ",
                             client_message(reader, i)->payload);
        REQUIRE(bytes >= 0 && (size_t)bytes < MAX_ARRIVED - used, "too much has arrived");
        used += (size_t)bytes;
    }
    client_clear(reader);
    return arrived_text;
}

const char *arrived_last(void) {
    return arrived_text;
}

const char *read_file(struct broker *broker, const char *name) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", broker_dir(broker), name);
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    REQUIRE(out != NULL, "out of memory");
    FILE *in = fopen(path, "re");
    REQUIRE(in != NULL || errno == ENOENT, "%s: %s", path, strerror(errno));
    for (int c; in != NULL && (c = fgetc(in)) != EOF;) {
        fputc(c, out);
    }
    if (in != NULL) {
        fclose(in);
    }
    REQUIRE(fclose(out) == 0, "out of memory");
    test_defer(free, text);
    return text;
}

size_t count_lines(struct broker *broker, const char *name, const char *text) {
    size_t n = 0;
    for (const char *line = read_file(broker, name); *line != '\0';) {
        size_t bytes = strcspn(line, "\n");
        const char *found = strstr(line, text);
        n += found != NULL && found < line + bytes;
        line += bytes + (line[bytes] == '\n');
    }
    return n;
}

void freeze(struct broker *broker) {
    pid_t pid = (pid_t)broker_pid(broker);
    int status = 0;
    kill(pid, SIGSTOP);
    REQUIRE(waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status), "it does not stop");
}

void unfreeze(struct broker *broker) {
    kill((pid_t)broker_pid(broker), SIGCONT);
}

size_t talk(struct broker *broker, const void *bytes, size_t n, unsigned char *answer,
            size_t room) {
    int fd = packet_socket(broker, 1);
    bool sent = fd >= 0 && packet_send(fd, bytes, n);
    size_t got = 0;
    for (ssize_t now; sent && (now = recv(fd, answer + got, room - got, 0)) > 0;) {
        got += (size_t)now;
    }
    close(fd);
    REQUIRE(sent, "talk: %s", strerror(errno));
    return got;
}

void raw_subscribe_granted(struct raw *raw, const char *topic, unsigned options) {
    raw_subscribe(raw, 1, topic, strlen(topic), options);
    const struct raw_packet *suback = raw_expect(raw, RAW_SUBACK);
    REQUIRE(suback->code == (int)(options & 3), "subscribe %s: 0x%02x", topic,
            (unsigned)suback->code);
}
