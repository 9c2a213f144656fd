/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One decision of the plugin, without the broker around it: delivery_read is called as the broker calls it in a fan-out to
 * many clients. The broker's functions that it needs are here, as small as they are there; each client is a block of the
 * size of the broker's, so that memory is as far apart.
 *
 *     decision [--clients N] [--messages N] [--case NAME]     nanoseconds per decision; `--list` names the cases
 *     decision --count …                                      runs a fixed workload for callgrind (see budget.py)
 */
#include "delivery.h"

#include "broker.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CLIENT_BYTES = 1000, N_MESSAGES = 16, N_PROPERTIES = 5, REPETITIONS = 15 };

/* ---- the broker's side ---- */

struct mosquitto {
    char *id;
    unsigned hash;
    char between[CLIENT_BYTES - 64];
    int sub_count;
};

struct mqtt5__property {
    struct mqtt5__property *next;
    const char *name;
    const char *value;
};

unsigned mosquitto_client_id_hashv(const struct mosquitto *client) {
    return client->hash;
}

int mosquitto_client_protocol_version(const struct mosquitto *client) {
    (void)client;
    return 5;
}

const char *mosquitto_client_id(const struct mosquitto *client) {
    return client->id;
}

struct mosquitto *mosquitto_client(const char *id) {
    (void)id;
    return NULL;
}

int mosquitto_client_sub_count(const struct mosquitto *client) {
    return client->sub_count;
}

mosquitto_property *mosquitto_property_next(const mosquitto_property *property) {
    return property->next;
}

int mosquitto_property_identifier(const mosquitto_property *property) {
    (void)property;
    return MQTT_PROP_USER_PROPERTY;
}

const char *mosquitto_property_string_name(const mosquitto_property *property) {
    return property->name;
}

uint16_t mosquitto_property_string_name_length(const mosquitto_property *property) {
    return (uint16_t)strlen(property->name);
}

const char *mosquitto_property_string_value(const mosquitto_property *property) {
    return property->value;
}

uint16_t mosquitto_property_string_value_length(const mosquitto_property *property) {
    return (uint16_t)strlen(property->value);
}

const mosquitto_property *mosquitto_property_read_string(const mosquitto_property *list,
                                                         int identifier, char **value,
                                                         bool skip_first) {
    (void)list, (void)identifier, (void)value, (void)skip_first;
    return NULL;
}

const mosquitto_property *mosquitto_property_read_string_pair(const mosquitto_property *list,
                                                              int identifier, char **name,
                                                              char **value, bool skip_first) {
    (void)list, (void)identifier, (void)name, (void)value, (void)skip_first;
    return NULL;
}

void mosquitto_free(void *memory) {
    free(memory);
}

/* ---- the workload ---- */

/* What each client subscribes to, on sensor/+/t, then sensor/1/t, sensor/#; the client's number may be in it, so that
 * filters are different, or not. */
static const struct workload {
    const char *name;
    const char *filters[3]; /* NULL: none */
    bool is_first_only;     /* the first client's; the others have the same topic filters without */
} workloads[] = {
    {"different", {"location=room%u&value>%u"}},
    {"equal", {"location=roomX&value>5"}},
    {"matching", {"location=room0&value>%u"}},
    {"three", {"location=room%u&value>%u", "location=room%u", "value>%u"}},
    {"beside", {"location=room%u&value>%u"}, .is_first_only = true},
    {"plain", {NULL}},
};
enum { N_WORKLOADS = sizeof workloads / sizeof workloads[0] };

static const char *const topics[] = {"sensor/+/t", "sensor/1/t", "sensor/#"};

struct bench {
    struct sf_schema *schema;
    struct sessions sessions;
    struct delivery delivery;
    struct mosquitto *clients;
    size_t n_clients;
    size_t n_subscriptions; /* of each client */
    struct mqtt5__property properties[N_MESSAGES][N_PROPERTIES];
    char values[N_MESSAGES][16];
};

#define die(text) (fprintf(stderr, "decision: %s\n", text), exit(1))

static struct sf_filter *compile(struct bench *bench, const char *format, unsigned number) {
    char text[128];
    struct sf_filter *filter = NULL;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral" /* formats are those of the table above */
    int bytes = snprintf(text, sizeof text, format, number + 1, number % 40);
#pragma GCC diagnostic pop
    if (sf_compile(bench->schema, NULL, text, (size_t)bytes, &filter, NULL) != SF_OK ||
        !delivery_reserve(&bench->delivery, filter)) {
        die("cannot compile");
    }
    return filter;
}

static void setup(struct bench *bench, const struct workload *workload, size_t n_clients) {
    *bench = (struct bench){.n_clients = n_clients};
    bench->schema = sf_schema_new();
    bench->clients = calloc(n_clients, sizeof *bench->clients);
    if (bench->schema == NULL || bench->clients == NULL ||
        !delivery_init(&bench->delivery, &bench->sessions, bench->schema)) {
        die("out of memory");
    }
    for (size_t i = 0; i < n_clients; i++) {
        char id[32];
        snprintf(id, sizeof id, "client-%zu", i);
        struct mosquitto *client = &bench->clients[i];
        struct session *session = sessions_get(&bench->sessions, id);
        if (session == NULL) {
            die("out of memory");
        }
        client->id = session->id;
        client->hash = (unsigned)i * 2654435761U | 1;
        session_set_client(&bench->sessions, session, client, client->hash);
        for (size_t k = 0; k < 3 && workload->filters[k] != NULL; k++) {
            bool is_plain = workload->is_first_only && i > 0;
            struct sf_filter *filter =
                is_plain ? NULL : compile(bench, workload->filters[k], (unsigned)i);
            if (session_subscribe(&bench->sessions, session, topics[k], 0, filter, 0, 0) == NULL) {
                die("out of memory");
            }
            client->sub_count++;
        }
        bench->n_subscriptions = (size_t)client->sub_count;
    }
    static const char *const names[N_PROPERTIES] = {"location", "value", "unit", "serial", "site"};
    static const char *const values[N_PROPERTIES] = {"room0", NULL, "celsius", "A7-004711",
                                                     "plant-7-hh"};
    for (size_t m = 0; m < N_MESSAGES; m++) {
        snprintf(bench->values[m], sizeof bench->values[m], "%zu.5", 20 + m);
        for (size_t p = 0; p < N_PROPERTIES; p++) {
            bench->properties[m][p] = (struct mqtt5__property){
                .next = p + 1 < N_PROPERTIES ? &bench->properties[m][p + 1] : NULL,
                .name = names[p],
                .value = values[p] == NULL ? bench->values[m] : values[p],
            };
        }
    }
}

static void teardown(struct bench *bench) {
    delivery_deinit(&bench->delivery);
    sessions_deinit(&bench->sessions);
    sf_schema_free(bench->schema);
    free(bench->clients);
}

/* The fan-out of one message. Returns how many copies pass. */
static size_t deliver(struct bench *bench, size_t m) {
    struct mosquitto_evt_acl_check check = {
        .topic = "sensor/1/t",
        .payload = "0123456789abcdef",
        .payloadlen = 16,
        .access = MOSQ_ACL_READ,
        .properties = bench->properties[m % N_MESSAGES],
    };
    const struct mosquitto_evt_message message = {
        .client = &bench->clients[0],
        .topic = (char *)(uintptr_t)check.topic,
        .payload = (void *)(uintptr_t)check.payload,
        .payloadlen = check.payloadlen,
        .properties = check.properties,
    };
    size_t passed = 0;
    delivery_event(&bench->delivery);
    delivery_announce(&bench->delivery, &message);
    for (size_t k = 0; k < (bench->n_subscriptions == 0 ? 1 : bench->n_subscriptions); k++) {
        for (size_t i = 0; i < bench->n_clients; i++) {
            check.client = &bench->clients[i];
            passed += bench->sessions.n_filters == 0 ||
                      delivery_read(&bench->delivery, &check) == MOSQ_ERR_PLUGIN_IGNORE;
        }
    }
    return passed;
}

/* ---- */

static double now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void run(const struct workload *workload, size_t n_clients, size_t n_messages, bool count) {
    struct bench bench;
    setup(&bench, workload, n_clients);
    double ns[REPETITIONS];
    volatile size_t passed = 0; /* the calls must not be optimised away */
    size_t per_message = n_clients * (bench.n_subscriptions == 0 ? 1 : bench.n_subscriptions);
    (void)deliver(&bench, 0);
    for (size_t r = 0; r < (count ? 1 : REPETITIONS); r++) {
        double start = now_ns();
        for (size_t m = 0; m < n_messages; m++) {
            passed += deliver(&bench, m);
        }
        ns[r] = (now_ns() - start) / (double)(n_messages * per_message);
    }
    if (count) { /* all that were made, the first message's too */
        printf("%zu decisions\n", (n_messages + 1) * per_message);
    } else {
        qsort(ns, REPETITIONS, sizeof ns[0], ascending);
        printf("%-12s %6zu clients %8.2f ns  (least %.2f, most %.2f)\n", workload->name, n_clients,
               ns[REPETITIONS / 2], ns[0], ns[REPETITIONS - 1]);
    }
    (void)passed; /* clang says it is not used */
    teardown(&bench);
}

int main(int argc, char **argv) {
    static const struct option known[] = {
        {"clients", required_argument, NULL, 'c'},
        {"messages", required_argument, NULL, 'm'},
        {"case", required_argument, NULL, 'n'},
        {"count", no_argument, NULL, 'k'},
        {"list", no_argument, NULL, 'l'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    size_t n_clients = 1000, n_messages = 200;
    const char *name = NULL;
    bool count = false, list = false;
    for (int c; (c = getopt_long(argc, argv, "", known, NULL)) != -1;) {
        switch (c) {
        case 'c':
            n_clients = (size_t)strtoul(optarg, NULL, 10);
            break;
        case 'm':
            n_messages = (size_t)strtoul(optarg, NULL, 10);
            break;
        case 'n':
            name = optarg;
            break;
        case 'k':
            count = true;
            break;
        case 'l':
            list = true;
            break;
        default:
            printf("Usage: decision [--clients N] [--messages N] [--case NAME] [--count] [--list]\n"
                   "Measures one decision of the plugin, without the broker around it.\n");
            return c == 'h' ? 0 : 64;
        }
    }
    for (size_t i = 0; i < N_WORKLOADS; i++) {
        if (list) {
            printf("%s\n", workloads[i].name);
        } else if (name == NULL || strcmp(name, workloads[i].name) == 0) {
            run(&workloads[i], n_clients, n_messages, count);
        }
    }
    return 0;
}
