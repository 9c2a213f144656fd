/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the plugin costs the broker, in CPU time of the broker's process (its own clock, so that other processes do not
 * count). Brokers that are compared run at the same time, each with a plugin of its own:
 *
 *     pass    an ACL callback that does nothing       deny    one that denies every delivery at once
 *     filter  the plugin of this project
 *
 * They take turns: each gets a block of messages, then the next one, and so on, many times over; shown are the least and the
 * median of the blocks (a block that shared its core with something else is slower, never faster), and the ratio of the
 * least ones. Messages carry five User Properties and a payload of 32 bytes, at QoS 0, and rotate over 16 different ones.
 * A block ends when the broker has answered a PINGREQ behind the last message.
 *
 * `--json` prints a list of objects, `--smoke` runs everything shortly, `--scale FILE` writes the figures of the scale part
 * as a table for gnuplot (docs/performance.gp).
 */
#include "wire.h"

#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { N_MESSAGES = 16, MAX_BLOCKS = 40, PACKET_BYTES = 1024, FILTER_BYTES = 128, PER_CLIENT = 100 };

static struct {
    const char *broker;
    const char *filter;
    const char *pass;
    const char *deny;
    bool json;
    bool smoke;
    FILE *scale;
} options = {BENCH_BROKER, BENCH_FILTER, BENCH_PASS, BENCH_DENY, false, false, NULL};

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
        lengths[i] = wire_publish(packet_bytes[i], PACKET_BYTES, topic, properties, "0123456789abcdef0123456789abcdef");
        packets[i] = packet_bytes[i];
    }
}

/* ---- measuring ---- */

struct side {
    const char *name;
    struct bench_broker broker;
    size_t publisher;
    double ns[MAX_BLOCKS]; /* of each block, for each message */
    double least;
    double median;
    double most;
};

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Give each side a block of `n` messages in turn, `blocks` times. */
static void measure(struct side *sides, size_t n_sides, size_t n, size_t blocks) {
    for (size_t i = 0; i < n_sides; i++) {
        (void)broker_publish(&sides[i].broker, sides[i].publisher, packets, lengths, N_MESSAGES, N_MESSAGES);
    }
    for (size_t block = 0; block < blocks; block++) {
        for (size_t k = 0; k < n_sides; k++) {
            struct side *side = &sides[(block + k) % n_sides];
            uint64_t start = broker_cpu_ns(&side->broker);
            (void)broker_publish(&side->broker, side->publisher, packets, lengths, N_MESSAGES, n);
            side->ns[block] = (double)(broker_cpu_ns(&side->broker) - start) / (double)n;
        }
    }
    for (size_t i = 0; i < n_sides; i++) {
        qsort(sides[i].ns, blocks, sizeof(double), ascending);
        sides[i].least = sides[i].ns[0];
        sides[i].median = sides[i].ns[blocks / 2];
        sides[i].most = sides[i].ns[blocks - 1];
    }
}

/* One line of the result: `unit` is ns or bytes; `ratio` compares with the first side. */
static void print_row(const char *name, const char *side, const char *unit, double least, double median, double most,
                      double ratio) {
    if (options.json) {
        printf("%s{\"name\": \"%s (%s)\", \"%s\": %.1f, \"min\": %.1f, \"max\": %.1f, \"ratio\": %.4f}",
               printed ? ",\n " : "[", name, side, unit, median, least, most, ratio);
    } else {
        printf("%-46s %-8s %12.1f %12.1f %12.1f %9.3f  %s\n", name, side, least, median, most, ratio, unit);
    }
    printed = true;
    fflush(stdout);
}

static void print_sides(const char *name, const struct side *sides, size_t n_sides) {
    for (size_t i = 0; i < n_sides; i++) {
        print_row(name, sides[i].name, "ns", sides[i].least, sides[i].median, sides[i].most,
                  sides[i].least / sides[0].least);
    }
}

/* A figure that is measured once. */
static void print_once(const char *name, const char *side, const char *unit, double value, double ratio) {
    print_row(name, side, unit, value, value, value, ratio);
}

static void start_side(struct side *side, const char *name, const char *plugin) {
    side->name = name;
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
    struct side sides[2];
    static const char *const plain[] = {"sensor/1/temperature"};
    start_side(&sides[0], "pass", options.pass);
    start_side(&sides[1], "filter", options.filter);
    for (size_t i = 0; i < 2; i++) {
        broker_subscribe(&sides[i].broker, broker_connect(&sides[i].broker), plain, 1);
    }
    make_messages("sensor/1/temperature");
    measure(sides, 2, options.smoke ? 100 : 4000, options.smoke ? 2 : MAX_BLOCKS);
    print_sides("no filter, one plain subscriber", sides, 2);
    stop_sides(sides, 2);
}

/* ---- many filters on one topic ---- */

/* Subscribe `n` filters of `per` to a connection; filter i matches every message when i is below `matching`. */
static void subscribe_many(struct bench_broker *broker, size_t n, size_t per, size_t matching, bool with_filter) {
    static const char *const topics[] = {"sensor/1/temperature", "sensor/+/temperature", "+/1/temperature",
                                         "sensor/1/+",           "+/+/temperature",      "sensor/+/+",
                                         "+/1/+",                "+/+/+",                "sensor/1/%23",
                                         "sensor/%23"};
    for (size_t i = 0; i < n; i += per) {
        size_t client = broker_connect(broker);
        char text[10][FILTER_BYTES];
        const char *filters[10];
        for (size_t k = 0; k < per && i + k < n; k++) {
            const char *topic = topics[k];
            if (!with_filter) {
                topic = k == 8 ? "sensor/1/#" : k == 9 ? "sensor/#" : topic;
                snprintf(text[k], FILTER_BYTES, "%s", topic);
            } else if (i + k < matching) {
                snprintf(text[k], FILTER_BYTES, "%s?location=room0&value>%zu", topic, (i + k) % 19);
            } else {
                snprintf(text[k], FILTER_BYTES, "%s?location=room%zu&value>%zu", topic, i + k + 1, i % 40);
            }
            filters[k] = text[k];
        }
        broker_subscribe(broker, client, filters, i + per <= n ? per : n - i);
    }
}

/* `n` different filters, `percent` of them matching, beside the same subscribers behind another plugin. */
static void bench_many(const char *name, size_t n, size_t percent, const char *other_name, const char *other) {
    struct side sides[2];
    size_t per = n > 1000 ? 10 : 1;
    start_side(&sides[0], other_name, other);
    start_side(&sides[1], "filter", options.filter);
    subscribe_many(&sides[0].broker, n, per, 0, false);
    subscribe_many(&sides[1].broker, n, per, n * percent / 100, true);
    make_messages("sensor/1/temperature");
    size_t messages = options.smoke ? 32 : 2000000 / (n + 1000) / (percent == 100 || other == options.pass ? 10 : 1);
    measure(sides, 2, messages < 32 ? 32 : messages, options.smoke ? 2 : 12);
    print_sides(name, sides, 2);
    if (options.scale != NULL) {
        fprintf(options.scale, "%zu %zu %s %.1f %.1f\n", n, percent, other_name, sides[0].least, sides[1].least);
    }
    stop_sides(sides, 2);
}

static void bench_scale(void) {
    static const size_t counts[] = {1, 10, 100, 1000, 10000};
    static const size_t percents[] = {0, 1, 100};
    for (size_t i = 0; i < (options.smoke ? 2 : 5); i++) {
        for (size_t k = 0; k < 3; k++) {
            char name[64];
            if (percents[k] == 1 && counts[i] < 100) {
                continue;
            }
            snprintf(name, sizeof name, "%zu filters, %zu %% match", counts[i], percents[k]);
            bench_many(name, counts[i], percents[k], "deny", options.deny);
        }
        char name[64];
        snprintf(name, sizeof name, "%zu filters, 1 %% match, beside delivering all", counts[i]);
        bench_many(name, counts[i], 1, "pass", options.pass);
    }
}

/* ---- many subscriptions ---- */

static double resident_per_subscription(const struct side *side, uint64_t before, size_t n) {
    return (double)(broker_resident_bytes(&side->broker) - before) / (double)n;
}

/* n / PER_CLIENT clients with PER_CLIENT topics each; all filters are one of 100 expressions. */
static void bench_subscriptions(void) {
    struct side sides[2];
    size_t n = options.smoke ? 1000 : 100000;
    start_side(&sides[0], "pass", options.pass);
    start_side(&sides[1], "filter", options.filter);
    static char text[PER_CLIENT][FILTER_BYTES];
    static const char *filters[PER_CLIENT];
    uint64_t before[2], cpu[2];
    for (size_t side = 0; side < 2; side++) {
        struct bench_broker *broker = &sides[side].broker;
        size_t first = broker->n_connections;
        for (size_t i = 0; i < n / PER_CLIENT; i++) {
            (void)broker_connect(broker);
        }
        before[side] = broker_resident_bytes(broker);
        uint64_t start = broker_cpu_ns(broker);
        for (size_t i = 0; i < n / PER_CLIENT; i++) {
            for (size_t k = 0; k < PER_CLIENT; k++) {
                snprintf(text[k], FILTER_BYTES, side == 0 ? "plant/%zu/sensor/%zu" : "plant/%zu/sensor/%zu?location=room%zu",
                         i % 10, k * 10 + i % 7, k);
                filters[k] = text[k];
            }
            broker_subscribe(broker, first + i, filters, PER_CLIENT);
        }
        cpu[side] = broker_cpu_ns(broker) - start;
    }
    double ns[2] = {(double)cpu[0] / (double)n, (double)cpu[1] / (double)n};
    double bytes[2] = {resident_per_subscription(&sides[0], before[0], n),
                       resident_per_subscription(&sides[1], before[1], n)};
    for (size_t i = 0; i < 2; i++) {
        print_once("subscribe, 100,000 of 100 expressions", sides[i].name, "ns", ns[i], ns[i] / ns[0]);
    }
    for (size_t i = 0; i < 2; i++) {
        print_once("memory of a subscription", sides[i].name, "bytes", bytes[i], bytes[i] / bytes[0]);
    }
    make_messages("plant/3/sensor/500");
    measure(sides, 2, options.smoke ? 32 : 2000, options.smoke ? 2 : 20);
    print_sides("message, 100,000 subscriptions present", sides, 2);

    for (size_t side = 0; side < 2; side++) {
        struct bench_broker *broker = &sides[side].broker;
        uint64_t start = broker_cpu_ns(broker);
        for (size_t k = 0; k < PER_CLIENT; k++) {
            snprintf(text[k], FILTER_BYTES, "plant/%d/sensor/%zu", 0, k * 10);
        }
        broker_unsubscribe(broker, 1, filters, PER_CLIENT);
        double each = (double)(broker_cpu_ns(broker) - start) / PER_CLIENT;
        print_once("unsubscribe, 100,000 present", sides[side].name, "ns", each, 0);
    }
    stop_sides(sides, 2);
}

/* ---- */

static void print_help(void) {
    printf("Usage: broker [--json] [--smoke] [--scale FILE] [--broker PATH] [--filter PATH]\n"
           "Measures what the plugin costs the broker, beside plugins that do nothing.\n");
}

static bool read_arguments(int argc, char **argv) {
    static const struct option known[] = {
        {"json", no_argument, NULL, 'j'},           {"smoke", no_argument, NULL, 's'},
        {"scale", required_argument, NULL, 'f'},    {"broker", required_argument, NULL, 'b'},
        {"filter", required_argument, NULL, 'p'},   {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
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
            fprintf(options.scale, "# filters percent other other_ns filter_ns (CPU time of the broker per message)\n");
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
        printf("%-46s %-8s %12s %12s %12s %9s\n", "CPU time of the broker per message", "", "least", "median", "most",
               "ratio");
    }
    bench_unused();
    bench_many("1,000 clients, 1,000 filters, none matches", options.smoke ? 50 : 1000, 0, "deny", options.deny);
    bench_scale();
    bench_subscriptions();
    if (options.json) {
        printf("]\n");
    }
    if (options.scale != NULL) {
        fclose(options.scale);
    }
    return 0;
}
