/* SPDX-License-Identifier: BSD-3-Clause
 *
 * wire: see the header.
 */
#include "wire.h"

#include "mqtt_fields.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    PACKET_BYTES = 60000,
    READ_BYTES = 65536,
    START_TRIES = 500, /* of connecting to a broker that starts, 10 ms apart */
    SUBSCRIBE_AT_ONCE = 200,
};

#define die(...) (fprintf(stderr, "bench: " __VA_ARGS__), fputc('\n', stderr), exit(1))

/* ---- packets ---- */

size_t wire_publish(uint8_t *out, size_t capacity, const char *topic, const char *const *properties,
                    const char *payload) {
    struct fields pairs = {0}, body = {0}, packet = {0};
    for (; properties[0] != NULL; properties += 2) {
        put_user_property(&pairs, properties[0], properties[1]);
    }
    put_string(&body, topic);
    put_properties(&body, &pairs);
    put(&body, payload, strlen(payload));
    put_packet(&packet, 0x30, &body);
    if (packet.n > capacity) {
        die("a message is too large");
    }
    size_t bytes = packet.n;
    memcpy(out, packet.bytes, bytes);
    fields_free(&packet);
    return bytes;
}

/* ---- connections ---- */

static void send_all(int fd, const uint8_t *bytes, size_t n) {
    while (n > 0) {
        ssize_t sent = send(fd, bytes, n, MSG_NOSIGNAL);
        if (sent < 0 && (errno == EAGAIN || errno == EINTR)) {
            struct pollfd wait = {.fd = fd, .events = POLLOUT};
            (void)poll(&wait, 1, -1);
            continue;
        }
        if (sent <= 0) {
            die("the broker has closed a connection: %s", strerror(errno));
        }
        bytes += sent;
        n -= (size_t)sent;
    }
}

static void read_exactly(int fd, uint8_t *bytes, size_t n) {
    while (n > 0) {
        ssize_t got = recv(fd, bytes, n, 0);
        if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
            struct pollfd wait = {.fd = fd, .events = POLLIN};
            (void)poll(&wait, 1, -1);
            continue;
        }
        if (got <= 0) {
            die("the broker has closed a connection");
        }
        bytes += got;
        n -= (size_t)got;
    }
}

/* Send a packet, whose body is freed. */
static void send_packet(int fd, unsigned first_byte, struct fields *body) {
    struct fields packet = {0};
    put_packet(&packet, first_byte, body);
    send_all(fd, packet.bytes, packet.n);
    fields_free(&packet);
}

/* Read packets until one of `type` comes; its body is in `body`. */
static size_t read_until(int fd, unsigned type, uint8_t *body, size_t capacity) {
    for (;;) {
        uint8_t first, digit;
        size_t length = 0;
        read_exactly(fd, &first, 1);
        for (unsigned shift = 0;; shift += 7) {
            read_exactly(fd, &digit, 1);
            length |= (size_t)(digit & 0x7F) << shift;
            if ((digit & 0x80) == 0) {
                break;
            }
        }
        if (length > capacity) {
            die("an answer is too large");
        }
        read_exactly(fd, body, length);
        if (first == 0xE0) {
            die("the broker disconnects, with reason 0x%02x", length > 0 ? body[0] : 0);
        }
        if ((first & 0xF0) == type) {
            return length;
        }
    }
}

static int open_socket(int port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
        close(fd);
        fd = -1;
    }
    int on = 1;
    if (fd >= 0) {
        (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    }
    return fd;
}

size_t broker_connect(struct bench_broker *broker) {
    static uint8_t answer[1024];
    struct fields body = {0};
    char id[32];
    int *grown = realloc(broker->connections, (broker->n_connections + 1) * sizeof(int));
    int fd = open_socket(broker->port);
    if (grown == NULL || fd < 0) {
        die("cannot connect: %s", strerror(errno));
    }
    broker->connections = grown;
    snprintf(id, sizeof id, "bench-%zu", broker->n_connections);
    put_string(&body, "MQTT");
    put(&body, "\x05\x02\x00\x00\x00", 5); /* MQTT 5, Clean Start, no keep-alive, no properties */
    put_string(&body, id);
    send_packet(fd, 0x10, &body);
    if (read_until(fd, 0x20, answer, sizeof answer) < 2 || answer[1] != 0) {
        die("the broker refuses a connection");
    }
    broker->connections[broker->n_connections] = fd;
    return broker->n_connections++;
}

static void request(struct bench_broker *broker, size_t client, const char *const *filters,
                    size_t n, bool subscribe) {
    static uint8_t answer[PACKET_BYTES];
    for (size_t done = 0; done < n; done += SUBSCRIBE_AT_ONCE) {
        size_t part = n - done < SUBSCRIBE_AT_ONCE ? n - done : SUBSCRIBE_AT_ONCE;
        struct fields body = {0};
        put(&body, "\x00\x01\x00", 3); /* packet identifier 1, no properties */
        for (size_t i = 0; i < part; i++) {
            put_string(&body, filters[done + i]);
            if (subscribe) {
                put_byte(&body, 0);
            }
        }
        send_packet(broker->connections[client], subscribe ? 0x82 : 0xA2, &body);
        size_t length =
            read_until(broker->connections[client], subscribe ? 0x90 : 0xB0, answer, sizeof answer);
        for (size_t i = 0; i < part; i++) {
            if (length < part || answer[length - part + i] > 2) {
                die("the broker refuses %s", filters[done + i]);
            }
        }
    }
}

void broker_subscribe(struct bench_broker *broker, size_t client, const char *const *filters,
                      size_t n) {
    request(broker, client, filters, n, true);
}

void broker_unsubscribe(struct bench_broker *broker, size_t client, const char *const *filters,
                        size_t n) {
    request(broker, client, filters, n, false);
}

/* ---- publishing ---- */

/* Read away what has arrived. */
static uint64_t drain(int fd) {
    static uint8_t bytes[READ_BYTES];
    uint64_t total = 0;
    for (;;) {
        ssize_t got = recv(fd, bytes, sizeof bytes, MSG_DONTWAIT);
        if (got <= 0) {
            return total;
        }
        total += (uint64_t)got;
    }
}

static uint64_t drain_others(const struct bench_broker *broker, size_t client) {
    uint64_t total = 0;
    for (size_t i = 0; i < broker->n_connections; i++) {
        if (i != client) {
            total += drain(broker->connections[i]);
        }
    }
    return total;
}

/* PINGREQ, and PINGRESP while the others read. */
static uint64_t fence(const struct bench_broker *broker, size_t client) {
    static const uint8_t ping[] = {0xC0, 0x00};
    uint8_t body[16];
    uint64_t total = 0;
    send_all(broker->connections[client], ping, sizeof ping);
    struct pollfd wait = {.fd = broker->connections[client], .events = POLLIN};
    while (poll(&wait, 1, 1) == 0) {
        total += drain_others(broker, client);
    }
    (void)read_until(broker->connections[client], 0xD0, body, sizeof body);
    return total + drain_others(broker, client);
}

uint64_t broker_publish(struct bench_broker *broker, size_t client, const uint8_t *const *packets,
                        const size_t *lengths, size_t n_packets, size_t n) {
    enum { BATCH = 20 }; /* before the others read: less than what the sockets hold */
    uint64_t total = 0;
    for (size_t i = 0; i < n; i++) {
        send_all(broker->connections[client], packets[i % n_packets], lengths[i % n_packets]);
        if (i % BATCH == BATCH - 1) {
            total += fence(broker, client);
        }
    }
    return total + fence(broker, client);
}

/* ---- the process ---- */

static int free_port(void) {
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t bytes = sizeof address;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) != 0 ||
        getsockname(fd, (struct sockaddr *)&address, &bytes) != 0) {
        die("no port is free: %s", strerror(errno));
    }
    close(fd);
    return ntohs(address.sin_port);
}

void broker_start(struct bench_broker *broker, const char *path, const char *plugin) {
    *broker = (struct bench_broker){.port = free_port()};
    snprintf(broker->folder, sizeof broker->folder, "/tmp/bench-broker-XXXXXX");
    if (mkdtemp(broker->folder) == NULL) {
        die("no folder for the broker: %s", strerror(errno));
    }
    snprintf(broker->config, sizeof broker->config, "%s/mosquitto.conf", broker->folder);
    FILE *config = fopen(broker->config, "w");
    if (config == NULL) {
        die("cannot write the configuration: %s", strerror(errno));
    }
    fprintf(config, "log_dest none\nlog_type none\nsys_interval 0\nmax_queued_messages "
                    "0\nset_tcp_nodelay true\n");
    if (geteuid() == 0) {
        fprintf(config, "user root\n");
    }
    if (plugin != NULL) {
        fprintf(config, "global_plugin %s\n", plugin);
        if (strstr(plugin, "subscription_filter") != NULL) {
            fprintf(config, "plugin_opt_sys_interval 0\nplugin_opt_max_filters_per_client 0\n");
        }
    }
    fprintf(config, "listener %d 127.0.0.1\nallow_anonymous true\n", broker->port);
    fclose(config);
    broker->pid = fork();
    if (broker->pid < 0) {
        die("cannot start a process: %s", strerror(errno));
    }
    if (broker->pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* however this program ends, the broker does too */
        int null = open("/dev/null", O_WRONLY);
        dup2(null, 1);
        dup2(null, 2);
        execl(path, path, "-c", broker->config, (char *)NULL);
        _exit(127);
    }
    int fd = -1;
    for (int i = 0; fd < 0 && i < START_TRIES; i++) {
        fd = open_socket(broker->port);
        if (fd < 0) {
            struct timespec pause = {.tv_nsec = 10000000};
            nanosleep(&pause, NULL);
            if (waitpid(broker->pid, NULL, WNOHANG) == broker->pid) {
                die("the broker %s does not start with %s", path,
                    plugin == NULL ? "no plugin" : plugin);
            }
        }
    }
    if (fd < 0 || clock_getcpuclockid(broker->pid, &broker->cpu) != 0) {
        die("the broker does not start");
    }
    close(fd);
}

void broker_stop(struct bench_broker *broker) {
    for (size_t i = 0; i < broker->n_connections; i++) {
        close(broker->connections[i]);
    }
    free(broker->connections);
    kill(broker->pid, SIGTERM);
    waitpid(broker->pid, NULL, 0);
    (void)unlink(broker->config);
    (void)rmdir(broker->folder);
}

uint64_t broker_cpu_ns(const struct bench_broker *broker) {
    struct timespec now;
    if (clock_gettime(broker->cpu, &now) != 0) {
        die("the broker has ended");
    }
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

uint64_t broker_resident_bytes(const struct bench_broker *broker) {
    char path[64];
    unsigned long pages = 0;
    snprintf(path, sizeof path, "/proc/%d/statm", (int)broker->pid);
    FILE *file = fopen(path, "r");
    if (file == NULL || fscanf(file, "%*u %lu", &pages) != 1) {
        die("cannot read %s", path);
    }
    fclose(file);
    return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}
