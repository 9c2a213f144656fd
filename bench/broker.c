/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the plugin costs the broker, in CPU time of the broker's process (its own clock, so that other processes do not
 * count). Brokers that are compared run at the same time, each with a plugin of its own:
 *
 *     deny    an ACL callback that denies every delivery at once: what the broker takes to ask
 *     pass    one that does nothing: everything is delivered, and clients would have to filter
 *     filter  the plugin of this project
 *
 * They take turns: each gets a block of messages, then the next one, and so on, many times over; shown are the least, the
 * median and the most of the blocks (a block that shared its core with something else is slower, never faster), and the
 * ratio of the least ones. Messages carry five User Properties and a payload of 32 bytes, at QoS 0, and rotate over 16
 * different ones. A block ends when the broker has answered a PINGREQ behind the last message.
 *
 * `--json` prints a list of objects, `--smoke` runs everything shortly, `--scale FILE` writes the figures of the scale part
 * as a table for gnuplot (docs/performance.gp), `--filters N` measures only what N filters on one topic cost (0: what the
 * plugin costs where there is no filter anywhere).
 */
#include "wire.h"

#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum {
    N_MESSAGES = 16,
    MAX_BLOCKS = 40,
    PACKET_BYTES = 1024,
    FILTER_BYTES = 128,
    PER_CLIENT = 100,
    PER_CONNECTION = 10
};

#define ALL_PARTS SIZE_MAX

static struct {
    const char *broker;
    const char *filter;
    const char *pass;
    const char *deny;
    bool json;
    bool smoke;
    FILE *scale;
    size_t only; /* so many filters */
} options = {BENCH_BROKER, BENCH_FILTER, BENCH_PASS, BENCH_DENY, false, false, NULL, ALL_PARTS};

static bool printed;

/* ---- messages ---- */

static uint8_t packet_bytes[N_MESSAGES][PACKET_BYTES];
static const uint8_t *packets[N_MESSAGES];
static size_t lengths[N_MESSAGES];

/* Messages on `topic` with location=room0, value=20 to 35 and three more properties. */
static void make_messages(const char *topic) {
    for (size_t i = 0; i < N_MESSAGES; i++) {
        char value[16], serial[32];
        snprintf(value, sizeof value, "%zu.5", 20 + i);
        snprintf(serial, sizeof serial, "A7-%06zu", 4711 * i);
        const char *properties[] = {"location", "room0", "value", value,        "unit", "celsius",
                                    "serial",   serial,  "site",  "plant-7-hh", NULL};
        lengths[i] = wire_publish(packet_bytes[i], PACKET_BYTES, topic, properties,
                                  "0123456789abcdef0123456789abcdef");
        packets[i] = packet_bytes[i];
    }
}

/* ---- measuring ---- */

struct side {
    const char *name;
    struct bench_broker broker;
    size_t publisher;
    size_t n_messages;         /* in a block */
    const struct side *beside; /* what it is compared with */
    double ns[MAX_BLOCKS];     /* of each block, for each message */
    double least;
    double median;
    double most;
};

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void sort_out(struct side *side, size_t blocks) {
    qsort(side->ns, blocks, sizeof(double), ascending);
    side->least = side->ns[0];
    side->median = side->ns[blocks / 2];
    side->most = side->ns[blocks - 1];
}

/* Give each side a block of its messages in turn, `blocks` times. */
static void measure(struct side *sides, size_t n_sides, size_t blocks) {
    for (size_t i = 0; i < n_sides; i++) {
        (void)broker_publish(&sides[i].broker, sides[i].publisher, packets, lengths, N_MESSAGES,
                             N_MESSAGES);
    }
    for (size_t block = 0; block < blocks; block++) {
        for (size_t k = 0; k < n_sides; k++) {
            /* forwards and backwards: a side would always come after the same one, which was seen to matter */
            size_t turn = (block / 2 + k) % n_sides;
            struct side *side = &sides[block % 2 == 0 ? turn : n_sides - 1 - turn];
            uint64_t start = broker_cpu_ns(&side->broker);
            (void)broker_publish(&side->broker, side->publisher, packets, lengths, N_MESSAGES,
                                 side->n_messages);
            side->ns[block] =
                (double)(broker_cpu_ns(&side->broker) - start) / (double)side->n_messages;
        }
    }
    for (size_t i = 0; i < n_sides; i++) {
        sort_out(&sides[i], blocks);
    }
}

/* One line of the result: `unit` is ns or bytes. */
static void print_row(const char *name, const char *side, const char *unit, double least,
                      double median, double most, double ratio) {
    if (options.json) {
        printf("%s{\"name\": \"%s (%s)\", \"%s\": %.1f, \"min\": %.1f, \"max\": %.1f, \"ratio\": "
               "%.4f}",
               printed ? ",\n " : "[", name, side, unit, median, least, most, ratio);
    } else {
        printf("%-42s %-18s %12.1f %12.1f %12.1f %9.3f  %s\n", name, side, least, median, most,
               ratio, unit);
    }
    printed = true;
    fflush(stdout);
}

static void print_sides(const char *name, const struct side *sides, size_t n_sides) {
    for (size_t i = 0; i < n_sides; i++) {
        print_row(name, sides[i].name, "ns", sides[i].least, sides[i].median, sides[i].most,
                  sides[i].least / sides[i].beside->least);
    }
}

/* A figure that is measured once. */
static void print_once(const char *name, const char *side, const char *unit, double value,
                       double ratio) {
    print_row(name, side, unit, value, value, value, ratio);
}

static void start_side(struct side *side, const char *name, const char *plugin,
                       const struct side *beside, size_t n_messages) {
    *side = (struct side){.name = name, .beside = beside, .n_messages = n_messages};
    broker_start(&side->broker, options.broker, plugin);
    side->publisher = broker_connect(&side->broker);
}

static void stop_sides(struct side *sides, size_t n_sides) {
    for (size_t i = 0; i < n_sides; i++) {
        broker_stop(&sides[i].broker);
    }
}

/* ---- no filter anywhere ---- */

static void bench_unused(void) {
    static struct side sides[2];
    static const char *const plain[] = {"sensor/1/temperature"};
    size_t n_messages = options.smoke ? 100 : 4000;
    start_side(&sides[0], "pass", options.pass, &sides[0], n_messages);
    start_side(&sides[1], "filter", options.filter, &sides[0], n_messages);
    for (size_t i = 0; i < 2; i++) {
        broker_subscribe(&sides[i].broker, broker_connect(&sides[i].broker), plain, 1);
    }
    make_messages("sensor/1/temperature");
    measure(sides, 2, options.smoke ? 2 : MAX_BLOCKS);
    print_sides("no filter, one plain subscriber", sides, 2);
    stop_sides(sides, 2);
}

/* ---- many filters on one topic ---- */

/* The k-th topic filter of a connection; all match sensor/1/temperature. A wildcard that is followed by an expression
 * at once is escaped. */
static const char *const topics[PER_CONNECTION] = {
    "sensor/1/temperature", "sensor/+/temperature", "+/1/temperature", "sensor/1/%2B",
    "+/+/temperature",      "sensor/+/%2B",         "+/1/%2B",         "+/+/%2B",
    "sensor/1/%23",         "sensor/%23",
};
static const char *const plain_topics[PER_CONNECTION] = {
    "sensor/1/temperature",
    "sensor/+/temperature",
    "+/1/temperature",
    "sensor/1/+",
    "+/+/temperature",
    "sensor/+/+",
    "+/1/+",
    "+/+/+",
    "sensor/1/#",
    "sensor/#",
};

/* Subscribe to `n` different filters, `per` in a connection; the first `matching` ones match every message. */
static void subscribe_many(struct bench_broker *broker, size_t n, size_t per, size_t matching,
                           bool with_filter) {
    for (size_t i = 0; i < n; i += per) {
        char text[PER_CONNECTION][FILTER_BYTES];
        const char *filters[PER_CONNECTION];
        size_t part = i + per <= n ? per : n - i;
        for (size_t k = 0; k < part; k++) {
            bool matches = i + k < matching;
            if (!with_filter) {
                snprintf(text[k], FILTER_BYTES, "%s", plain_topics[k]);
            } else if (matches) {
                snprintf(text[k], FILTER_BYTES, "%s?location=room0&value>-%zu", topics[k], i + k);
            } else {
                snprintf(text[k], FILTER_BYTES, "%s?location=room%zu&value>%zu", topics[k],
                         i + k + 1, i % 40);
            }
            filters[k] = text[k];
        }
        broker_subscribe(broker, broker_connect(broker), filters, part);
    }
}

/* `n` different filters, of which none, 1 % and all match, beside the same subscribers behind the other plugins. */
static void bench_filters(size_t n) {
    enum { DENY, PASS, NONE, ALL, SOME, N_SIDES };
    static struct side sides[N_SIDES];
    size_t n_sides = n < 100 ? SOME : N_SIDES; /* 1 % of them is less than one */
    size_t per = n > 1000 ? PER_CONNECTION : 1;
    size_t quick = options.smoke ? 32 : 2000000 / (n + 1000); /* messages in a block */
    size_t slow = options.smoke ? 16 : 100000 / (n + 100);
    slow = slow < 20 ? 20 : slow;
    start_side(&sides[DENY], "deny", options.deny, &sides[DENY], quick);
    start_side(&sides[PASS], "pass", options.pass, &sides[PASS], slow);
    start_side(&sides[NONE], "filter, none match", options.filter, &sides[DENY], quick);
    start_side(&sides[ALL], "filter, all match", options.filter, &sides[PASS], slow);
    subscribe_many(&sides[DENY].broker, n, per, 0, false);
    subscribe_many(&sides[PASS].broker, n, per, 0, false);
    subscribe_many(&sides[NONE].broker, n, per, 0, true);
    subscribe_many(&sides[ALL].broker, n, per, n, true);
    if (n_sides > SOME) {
        start_side(&sides[SOME], "filter, 1 % match", options.filter, &sides[PASS], quick);
        subscribe_many(&sides[SOME].broker, n, per, n / 100, true);
    }
    make_messages("sensor/1/temperature");
    measure(sides, n_sides, options.smoke ? 2 : 20);
    char name[64];
    snprintf(name, sizeof name, "%zu filters on one topic", n);
    print_sides(name, sides, n_sides);
    if (options.scale != NULL) {
        fprintf(options.scale, "%zu", n);
        for (size_t i = 0; i < n_sides; i++) {
            fprintf(options.scale, " %.1f", sides[i].least);
        }
        fprintf(options.scale, "%s\n", n_sides > SOME ? "" : " -");
    }
    stop_sides(sides, n_sides);
}

static void bench_scale(void) {
    static const size_t counts[] = {1, 10, 100, 1000, 10000};
    for (size_t i = 0; i < (options.smoke ? 3 : 5); i++) {
        bench_filters(counts[i]);
    }
}

/* ---- many subscriptions ---- */

/* Client i's topic filters, with one of 100 expressions each or without. */
static const char *const *many_filters(size_t i, bool with_filter) {
    static char text[PER_CLIENT][FILTER_BYTES];
    static const char *filters[PER_CLIENT];
    for (size_t k = 0; k < PER_CLIENT; k++) {
        int bytes = snprintf(text[k], FILTER_BYTES, "plant/%zu/sensor/%zu", i % 10, k * 10 + i % 7);
        if (with_filter) {
            snprintf(text[k] + bytes, FILTER_BYTES - (size_t)bytes, "?location=room%zu", k);
        }
        filters[k] = text[k];
    }
    return filters;
}

static double resident_per_subscription(const struct side *side, uint64_t before, size_t n) {
    return (double)(broker_resident_bytes(&side->broker) - before) / (double)n;
}

/* Of medians, since a block is too short to trust the least one. */
static void print_changes(const char *name, const struct side sides[2]) {
    for (size_t i = 0; i < 2; i++) {
        print_row(name, sides[i].name, "ns", sides[i].least, sides[i].median, sides[i].most,
                  sides[i].median / sides[0].median);
    }
}

/* Unsubscribe some clients from everything and subscribe them again, while all the others stay. */
static void bench_changes(struct side *sides, size_t first, size_t n_clients) {
    enum { N_CHANGED = 20 };
    static struct side removed[2], added[2];
    size_t n = n_clients < N_CHANGED ? n_clients : N_CHANGED;
    for (size_t k = 0; k < 2; k++) {
        struct bench_broker *broker = &sides[k].broker;
        removed[k] = (struct side){.name = sides[k].name};
        added[k] = (struct side){.name = sides[k].name};
        for (size_t i = 0; i < n; i++) {
            uint64_t start = broker_cpu_ns(broker);
            broker_unsubscribe(broker, first + i, many_filters(i, false), PER_CLIENT);
            uint64_t middle = broker_cpu_ns(broker);
            broker_subscribe(broker, first + i, many_filters(i, k == 1), PER_CLIENT);
            removed[k].ns[i] = (double)(middle - start) / PER_CLIENT;
            added[k].ns[i] = (double)(broker_cpu_ns(broker) - middle) / PER_CLIENT;
        }
        sort_out(&removed[k], n);
        sort_out(&added[k], n);
    }
    print_changes("unsubscribe one, all the others present", removed);
    print_changes("subscribe to one, all the others present", added);
}

/* n / PER_CLIENT clients with PER_CLIENT topics each; all filters are one of 100 expressions. */
static void bench_subscriptions(void) {
    static struct side sides[2];
    size_t n = options.smoke ? 10000 : 100000;
    size_t n_messages = options.smoke ? 32 : 2000;
    size_t first = 1; /* after the publisher */
    double ns[2], bytes[2];
    start_side(&sides[0], "deny", options.deny, &sides[0], n_messages);
    start_side(&sides[1], "filter", options.filter, &sides[0], n_messages);
    for (size_t k = 0; k < 2; k++) {
        struct bench_broker *broker = &sides[k].broker;
        for (size_t i = 0; i < n / PER_CLIENT; i++) {
            (void)broker_connect(broker);
        }
        uint64_t before = broker_resident_bytes(broker);
        uint64_t start = broker_cpu_ns(broker);
        for (size_t i = 0; i < n / PER_CLIENT; i++) {
            broker_subscribe(broker, first + i, many_filters(i, k == 1), PER_CLIENT);
        }
        ns[k] = (double)(broker_cpu_ns(broker) - start) / (double)n;
        bytes[k] = resident_per_subscription(&sides[k], before, n);
    }
    char name[64];
    for (size_t k = 0; k < 2; k++) {
        snprintf(name, sizeof name, "subscribe to %zu, 100 expressions", n);
        print_once(name, sides[k].name, "ns", ns[k], ns[k] / ns[0]);
    }
    for (size_t k = 0; k < 2; k++) {
        snprintf(name, sizeof name, "memory of each of %zu subscriptions", n);
        print_once(name, sides[k].name, "bytes", bytes[k], bytes[k] / bytes[0]);
    }
    make_messages(
        "plant/3/sensor/500"); /* which clients 63, 133, 203 … subscribe to, and their filters do not match */
    measure(sides, 2, options.smoke ? 2 : 20);
    snprintf(name, sizeof name, "message to %zu clients of %zu", 1 + (n / PER_CLIENT - 64) / 70,
             n / PER_CLIENT);
    print_sides(name, sides, 2);
    bench_changes(sides, first, n / PER_CLIENT);
    stop_sides(sides, 2);
}

/* ---- */

static void print_help(void) {
    printf("Usage: broker [--json] [--smoke] [--scale FILE] [--filters N] [--broker PATH] "
           "[--filter PATH]\n"
           "Measures what the plugin costs the broker, beside plugins that do nothing.\n");
}

static bool read_arguments(int argc, char **argv) {
    static const struct option known[] = {
        {"json", no_argument, NULL, 'j'},         {"smoke", no_argument, NULL, 's'},
        {"scale", required_argument, NULL, 'f'},  {"filters", required_argument, NULL, 'n'},
        {"broker", required_argument, NULL, 'b'}, {"filter", required_argument, NULL, 'p'},
        {"help", no_argument, NULL, 'h'},         {NULL, 0, NULL, 0},
    };
    for (int c; (c = getopt_long(argc, argv, "", known, NULL)) != -1;) {
        switch (c) {
        case 'j':
            options.json = true;
            break;
        case 's':
            options.smoke = true;
            break;
        case 'f':
            options.scale = fopen(optarg, "w");
            if (options.scale == NULL) {
                perror(optarg);
                return false;
            }
            fprintf(options.scale, "# CPU time of the broker per message in ns\n# filters deny "
                                   "pass none all some (-: fewer than 100 filters)\n");
            break;
        case 'n':
            options.only = (size_t)strtoul(optarg, NULL, 10);
            break;
        case 'b':
            options.broker = optarg;
            break;
        case 'p':
            options.filter = optarg;
            break;
        default:
            print_help();
            return false;
        }
    }
    return true;
}

int main(int argc, char **argv) {
    struct rlimit files;
    if (!read_arguments(argc, argv)) {
        return 64;
    }
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &files);
    }
    if (!options.json) {
        printf("%-42s %-18s %12s %12s %12s %9s\n", "CPU time of the broker per message", "",
               "least", "median", "most", "ratio");
        printf("(ratio: of the least, to deny where nothing is delivered, to pass elsewhere%s)\n",
               options.smoke ? "; --smoke: the figures mean nothing" : "");
    }
    if (options.only == ALL_PARTS || options.only == 0) {
        bench_unused();
    }
    if (options.only == ALL_PARTS) {
        bench_scale();
        bench_subscriptions();
    } else if (options.only > 0) {
        bench_filters(options.only);
    }
    if (options.json) {
        printf("]\n");
    }
    if (options.scale != NULL) {
        fclose(options.scale);
    }
    return 0;
}
