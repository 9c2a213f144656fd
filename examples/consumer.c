/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The second filter: a consumer that subscribes with an expression and asks the same engine again, for each message that
 * arrives, whether the expression holds.
 *
 * Why twice? The broker's filter saves bandwidth; this one makes the consumer sure, also where the broker's cannot:
 * retained messages are delivered on subscribe whatever the filter says, a broker without the plugin delivers
 * everything (--plain: such a broker), and a message that had waited in a queue was judged by the filter of that time.
 *
 *     cc consumer.c -o consumer $(pkg-config --cflags --libs subfilter libmosquitto)
 *     (from a build that is not installed: PKG_CONFIG_PATH=build/meson-uninstalled; build/examples/consumer is there)
 *     ./consumer localhost 1883 'sensor/+/temperature?location=roomA&value>25'
 *
 * Prints "subscribed", then for each message "match" or "nomatch", its topic and its payload.
 */
#include <mosquitto.h>
#include <subfilter.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_TEXTS = SF_MAX_PROPERTIES + 1 };

struct consumer {
    const char *subscription; /* as sent to the broker */
    struct sf_schema *schema;
    struct sf_filter *filter;
    struct sf_message *message; /* each received message in turn */
    bool failed;
};

static volatile sig_atomic_t stopped;

static void on_signal(int signal_number) {
    (void)signal_number;
    stopped = 1;
}

/* ---- the filter ---- */

/* Compile what follows the '?'. The topic filter stays in `topic`, decoded, for a broker without the plugin. */
static bool compile(struct consumer *consumer, const char *subscription, char *topic) {
    struct sf_subscription split;
    struct sf_error error;
    size_t topic_bytes;
    sf_subscription_split(subscription, strlen(subscription), &split);
    if (!split.has_expression) {
        fputs("consumer: the subscription has no expression\n", stderr);
        return false;
    }
    enum sf_status status = sf_topic_decode(topic, split.topic_bytes, &topic_bytes, &error);
    if (status == SF_OK) {
        topic[topic_bytes] = '\0';
        status = sf_compile(consumer->schema, NULL, subscription + split.expression_offset,
                            split.expression_bytes, &consumer->filter, &error);
    }
    if (status != SF_OK) {
        fprintf(stderr, "consumer: %s: %s\n", sf_status_name(status), error.text);
    }
    return status == SF_OK;
}

/* ---- binding a message ---- */

/* Texts of the message being judged. libmosquitto hands out copies; the engine keeps pointers to some of them. */
struct texts {
    char *texts[MAX_TEXTS + 2]; /* values of User Properties, content type, response topic */
    size_t n;
};

static void free_texts(struct texts *texts) {
    for (size_t i = 0; i < texts->n; i++) {
        free(texts->texts[i]);
    }
    texts->n = 0;
}

/* All User Properties in their order. One more than the engine judges is enough for it to refuse the message. */
static bool bind_user_properties(struct sf_message *message, const mosquitto_property *properties,
                                 struct texts *texts) {
    const mosquitto_property *property = properties;
    for (; property && texts->n < MAX_TEXTS; property = mosquitto_property_next(property)) {
        if (mosquitto_property_identifier(property) != MQTT_PROP_USER_PROPERTY) {
            continue;
        }
        char *name = NULL;
        char *value = NULL;
        if (!mosquitto_property_read_string_pair(property, MQTT_PROP_USER_PROPERTY, &name, &value,
                                                 false)) {
            return false; /* out of memory */
        }
        /* An empty text is NULL. */
        sf_message_add(message, name ? name : "", name ? strlen(name) : 0, value ? value : "",
                       value ? strlen(value) : 0);
        free(name);
        texts->texts[texts->n++] = value;
    }
    return true;
}

static void bind_text(struct sf_message *message, const mosquitto_property *properties,
                      int identifier, void (*set)(struct sf_message *, const char *, size_t),
                      struct texts *texts) {
    char *text = NULL;
    if (mosquitto_property_read_string(properties, identifier, &text, false)) {
        set(message, text ? text : "", text ? strlen(text) : 0);
        texts->texts[texts->n++] = text;
    }
}

/* QoS and retain flag are those of the delivery: a client cannot know those of the publish. */
static bool bind(struct sf_message *message, const struct mosquitto_message *received,
                 const mosquitto_property *properties, struct texts *texts) {
    if (sf_message_reset(message) != SF_OK || !bind_user_properties(message, properties, texts)) {
        return false;
    }
    sf_message_set_topic(message, received->topic, strlen(received->topic));
    sf_message_set_qos(message, received->qos);
    sf_message_set_retain(message, received->retain);
    sf_message_set_payload_bytes(message, (uint64_t)received->payloadlen);
    bind_text(message, properties, MQTT_PROP_CONTENT_TYPE, sf_message_set_content_type, texts);
    bind_text(message, properties, MQTT_PROP_RESPONSE_TOPIC, sf_message_set_response_topic, texts);
    return true;
}

/* ---- what the broker says ---- */

static void fail(struct consumer *consumer, const char *what, const char *why) {
    fprintf(stderr, "consumer: %s: %s\n", what, why);
    consumer->failed = true;
}

static void on_connect(struct mosquitto *client, void *user, int reason, int flags,
                       const mosquitto_property *properties) {
    struct consumer *consumer = user;
    (void)flags;
    (void)properties;
    if (reason != 0) {
        fail(consumer, "connect", mosquitto_reason_string(reason));
        return;
    }
    int result = mosquitto_subscribe_v5(client, NULL, consumer->subscription, 1, 0, NULL);
    if (result != MOSQ_ERR_SUCCESS) {
        fail(consumer, consumer->subscription, mosquitto_strerror(result));
    }
}

static void on_subscribe(struct mosquitto *client, void *user, int id, int n_granted,
                         const int *granted, const mosquitto_property *properties) {
    (void)client;
    (void)id;
    (void)properties;
    if (n_granted != 1 || granted[0] >= 0x80) {
        fail(user, "subscribe", n_granted == 1 ? mosquitto_reason_string(granted[0]) : "no answer");
        return;
    }
    puts("subscribed");
    fflush(stdout);
}

static void on_message(struct mosquitto *client, void *user,
                       const struct mosquitto_message *received,
                       const mosquitto_property *properties) {
    struct consumer *consumer = user;
    struct texts texts = {.n = 0};
    (void)client;
    if (bind(consumer->message, received, properties, &texts)) {
        bool match = sf_eval(consumer->filter, consumer->message) == SF_TRUE;
        printf("%s %s %.*s\n", match ? "match" : "nomatch", received->topic, received->payloadlen,
               received->payloadlen > 0 ? (const char *)received->payload : "");
        fflush(stdout);
    } else {
        fail(consumer, received->topic, "out of memory");
    }
    free_texts(&texts);
}

/* ---- running ---- */

static bool run(struct consumer *consumer, const char *host, int port) {
    struct mosquitto *client = mosquitto_new(NULL, true, consumer);
    if (!client) {
        fail(consumer, "connect", "out of memory");
        return false;
    }
    mosquitto_int_option(client, MOSQ_OPT_PROTOCOL_VERSION, MQTT_PROTOCOL_V5);
    mosquitto_connect_v5_callback_set(client, on_connect);
    mosquitto_subscribe_v5_callback_set(client, on_subscribe);
    mosquitto_message_v5_callback_set(client, on_message);

    int result = mosquitto_connect(client, host, port, 60);
    while (result == MOSQ_ERR_SUCCESS && !stopped && !consumer->failed) {
        result = mosquitto_loop(client, 1000, 1);
    }
    if (result != MOSQ_ERR_SUCCESS && !stopped) {
        fail(consumer, "connection", mosquitto_strerror(result));
    }
    mosquitto_disconnect(client);
    mosquitto_destroy(client);
    return !consumer->failed;
}

/* 0 when `text` is not the number of a port. */
static int parse_port(const char *text) {
    char *end;
    long port = strtol(text, &end, 10);
    return *text != '\0' && *end == '\0' && port > 0 && port <= UINT16_MAX ? (int)port : 0;
}

int main(int argc, char **argv) {
    bool plain = argc == 5 && strcmp(argv[1], "--plain") == 0;
    char **arguments = argv + argc - 3; /* host, port, subscription */
    int port = argc == 4 || plain ? parse_port(arguments[1]) : 0;
    if (port == 0) {
        fputs("usage: consumer [--plain] HOST PORT TOPIC?EXPRESSION\n", stderr);
        return EXIT_FAILURE;
    }
    const struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);

    struct consumer consumer = {.schema = sf_schema_new()};
    char *topic = strdup(arguments[2]);
    bool ok = consumer.schema && topic && compile(&consumer, arguments[2], topic);
    consumer.message = ok ? sf_message_new(consumer.schema) : NULL;
    if (consumer.message) {
        consumer.subscription = plain ? topic : arguments[2];
        mosquitto_lib_init();
        ok = run(&consumer, arguments[0], port);
        mosquitto_lib_cleanup();
    } else {
        ok = false;
    }
    sf_message_free(consumer.message);
    sf_filter_unref(consumer.filter);
    sf_schema_free(consumer.schema);
    free(topic);
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
