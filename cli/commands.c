/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The commands that look at one expression: check, explain, match and split. Each compiles its argument in a schema of
 * its own and prints what is asked: answers to standard output, complaints to standard error.
 */
#include "cli.h"
#include "utf8.h"

#include <stdlib.h>
#include <string.h>

/* What clients and brokers let through at most, whatever a subscription string says. */
enum { MAX_SLASHES = 200, MAX_BYTES = 65535 };

/* A compiled argument; give back with finish(), also after an error. */
struct subject {
    const char *text; /* the argument */
    size_t bytes;
    struct sf_subscription
        split;   /* of a subscription string; else all of the text is the expression */
    char *topic; /* of a subscription string, decoded; else NULL */
    size_t topic_bytes;
    struct sf_schema *schema;
    struct sf_filter *filter; /* NULL when a subscription string has no expression */
};

static void finish(struct subject *subject) {
    sf_filter_unref(subject->filter);
    sf_schema_free(subject->schema);
    free(subject->topic);
}

static enum sf_status out_of_memory(struct sf_error *error) {
    error->code = SF_E_NOMEM;
    return SF_E_NOMEM;
}

static enum sf_status refuse_spot(struct sf_error *error, size_t offset, size_t length,
                                  const char *text) {
    *error = (struct sf_error){.code = SF_E_TOPIC, .offset = offset, .length = length};
    snprintf(error->text, sizeof error->text, "%s", text);
    return SF_E_TOPIC;
}

/* Why no string of MQTT holds this character; NULL: it may. */
static const char *fault_of_character(uint32_t code) {
    if (code > SF_UTF8_LAST) {
        return "what is not UTF-8 ends the connection";
    }
    if (code < 0x20 || (code >= 0x7F && code < 0xA0)) {
        return "a control character here ends the connection";
    }
    if ((code >= 0xFDD0 && code <= 0xFDEF) || (code & 0xFFFE) == 0xFFFE) {
        return "a code point that is no character ends the connection";
    }
    return NULL;
}

/* Why the character at text[i], a whole level or part of one, is not let through; NULL: it is. Escapes help only in an
 * expression, and in front of it. */
static const char *fault_of_wildcard(const char *text, size_t bytes, size_t i) {
    bool is_first = i == 0 || text[i - 1] == '/';
    bool is_last = i + 1 == bytes;
    bool is_whole = is_first && (is_last || text[i + 1] == '/');
    bool can_be_escaped =
        memchr(text, '?', i) != NULL || (is_first && !is_last && text[i + 1] == '?');
    if (text[i] == '+' && !is_whole) {
        return can_be_escaped ? "a + that is not a whole level ends the connection; write %2B"
                              : "a + that is not a whole level ends the connection";
    }
    if (text[i] == '#' && !(is_whole && is_last)) {
        return can_be_escaped ? "a # that is not the last level ends the connection; write %23"
                              : "a # that is not the last level ends the connection";
    }
    return NULL;
}

/* What clients and brokers look at before there is any talk of expressions, in the whole string as it is sent:
 * characters, wildcards that stand alone in their level, and how long and deep it is. */
static enum sf_status check_as_sent(const char *text, size_t bytes, struct sf_error *error) {
    size_t n_slashes = 0;
    size_t length = 0;
    if (bytes == 0) {
        return refuse_spot(error, 0, 0, "a topic filter has at least one character");
    }
    for (size_t i = 0; i < bytes; i += length) {
        uint32_t code = 0;
        length = sf_utf8_next(text + i, bytes - i, &code);
        const char *fault = fault_of_character(code);
        fault = fault ? fault : fault_of_wildcard(text, bytes, i);
        n_slashes += code == '/' ? 1 : 0;
        if (!fault && n_slashes > MAX_SLASHES) {
            fault = "more than 200 slashes end the connection, wherever they stand";
        }
        if (fault) {
            return refuse_spot(error, i, length, fault);
        }
    }
    return bytes <= MAX_BYTES
               ? SF_OK
               : refuse_spot(error, MAX_BYTES, bytes - MAX_BYTES,
                             "more than 65535 bytes cannot be sent as a subscription");
}

/* Split a subscription string and decode its topic filter. Without a '?' it is left as it is, escapes included. */
static enum sf_status take_subscription(struct subject *subject, struct sf_error *error) {
    struct sf_subscription *split = &subject->split;
    sf_subscription_split(subject->text, subject->bytes, split);
    if (check_as_sent(subject->text, subject->bytes, error) != SF_OK) {
        return error->code;
    }
    subject->topic = malloc(subject->bytes + 1);
    if (!subject->topic) {
        return out_of_memory(error);
    }
    memcpy(subject->topic, subject->text, split->topic_bytes);
    subject->topic_bytes = split->topic_bytes;
    return split->has_expression
               ? sf_topic_decode(subject->topic, split->topic_bytes, &subject->topic_bytes, error)
               : SF_OK;
}

static enum sf_status take_expression(struct subject *subject, const struct sf_options *options,
                                      struct sf_error *error) {
    const struct sf_subscription *split = &subject->split;
    subject->schema = sf_schema_new();
    if (!subject->schema) {
        return out_of_memory(error);
    }
    if (!split->has_expression) {
        return SF_OK;
    }
    enum sf_status status =
        sf_compile(subject->schema, options, subject->text + split->expression_offset,
                   split->expression_bytes, &subject->filter, error);
    if (status != SF_OK) {
        error->offset += split->expression_offset;
    }
    return status;
}

/* Most subscription strings are also valid expressions: clauses with a '?' in their first key. */
static void note_question_mark(const char *text) {
    if (text[strcspn(text, "?=<>'\":")] == '?') {
        complain("note: this was read as an expression that holds a '?'; "
                 "use --subscription for a whole subscription string");
    }
}

/* Report what was refused. Returns the exit code, `refused` where the text is to blame. */
static enum cli_exit refuse(const struct subject *subject, const struct sf_error *error,
                            enum cli_exit refused) {
    if (error->code == SF_E_NOMEM) {
        complain("out of memory");
        return CLI_NOMEM;
    }
    complain("%s at offset %zu: %s", sf_status_name(error->code), error->offset, error->text);
    text_print_spot(stderr, subject->text, subject->bytes, error->offset, error->length);
    return refused;
}

/* Compile the first argument of the command line. CLI_OK; or what failed has been reported, and the exit code says
 * what: `refused` where the text is to blame. */
static enum cli_exit start(struct subject *subject, const struct cli *cli, enum cli_exit refused) {
    struct sf_error error;
    subject->text = cli->arguments[0];
    subject->bytes = strlen(subject->text);
    subject->split =
        (struct sf_subscription){.has_expression = true, .expression_bytes = subject->bytes};
    enum sf_status status = cli->subscription ? take_subscription(subject, &error) : SF_OK;
    if (status == SF_OK) {
        status = take_expression(subject, &cli->options, &error);
    }
    enum cli_exit result = status == SF_OK ? CLI_OK : refuse(subject, &error, refused);
    if (!cli->subscription) {
        note_question_mark(subject->text);
    }
    return result;
}

static void write_to_stdout(void *user, const char *text, size_t bytes) {
    (void)user;
    fwrite(text, 1, bytes, stdout);
}

static void print_line(const char *label, const char *text, size_t bytes) {
    printf("%-12s", label);
    text_print(stdout, text, bytes);
    putchar('\n');
}

/* ---- check ---- */

enum cli_exit command_check(const struct cli *cli) {
    struct subject subject = {0};
    enum cli_exit result = start(&subject, cli, CLI_NO);
    if (result == CLI_OK) {
        puts(subject.filter ? "valid" : "valid, without a filter");
    }
    if (subject.filter) {
        note_slips(subject.filter, subject.text + subject.split.expression_offset,
                   subject.split.expression_bytes);
    }
    finish(&subject);
    return result;
}

/* ---- explain ---- */

static void print_properties(const struct sf_filter *filter) {
    printf("%-12s", "reads");
    const char *name;
    size_t bytes;
    size_t i = 0;
    for (; (name = sf_filter_property(filter, i, &bytes)) != NULL; i++) {
        fputs(i > 0 ? ", " : "", stdout);
        text_print(stdout, name, bytes);
    }
    puts(i > 0 ? "" : "no properties");
}

static enum cli_exit explain_filter(const struct sf_filter *filter) {
    size_t bytes;
    const char *text = sf_filter_text(filter, &bytes);
    print_line("canonical", text, bytes);
    printf("%-12s%s\n", "dialect", sf_dialect_name(sf_filter_dialect(filter)));
    print_properties(filter);
    puts("tree");
    if (sf_filter_write_tree(filter, write_to_stdout, NULL) != SF_OK) {
        complain("out of memory");
        return CLI_NOMEM;
    }
    puts("program");
    sf_filter_write_program(filter, write_to_stdout, NULL);
    return CLI_OK;
}

enum cli_exit command_explain(const struct cli *cli) {
    struct subject subject = {0};
    enum cli_exit result = start(&subject, cli, CLI_NO);
    if (result == CLI_OK && subject.filter) {
        result = explain_filter(subject.filter);
    } else if (result == CLI_OK) {
        puts("no filter: every message on the topic is delivered");
    }
    finish(&subject);
    return result;
}

/* ---- match ---- */

/* Bind what the command line says of the message. */
static enum cli_exit bind_message(struct sf_message *message, const struct cli *cli) {
    for (size_t i = 0; i < N_ATTRIBUTES; i++) {
        if (cli->attributes[i] && !attribute_set(message, &attributes[i], cli->attributes[i])) {
            complain("--attr '%s=%s': %s is expected", attributes[i].name, cli->attributes[i],
                     attribute_values(&attributes[i]));
            return CLI_USAGE;
        }
    }
    for (size_t i = 1; i < cli->n_arguments; i++) {
        const char *name = cli->arguments[i];
        const char *equals = strchr(name, '=');
        if (!equals) {
            complain("'%s' is not a property: NAME=VALUE is expected", name);
            return CLI_USAGE;
        }
        sf_message_add(message, name, (size_t)(equals - name), equals + 1, strlen(equals + 1));
    }
    return CLI_OK;
}

static enum cli_exit explain_match(const struct sf_filter *filter, struct sf_message *message) {
    /* The answer comes first, the reasons after it. */
    enum sf_truth truth = sf_eval(filter, message);
    puts(truth == SF_TRUE ? "match" : "nomatch");
    if (sf_explain(filter, message, write_to_stdout, NULL, &truth) != SF_OK) {
        complain("out of memory");
        return CLI_NOMEM;
    }
    return truth == SF_TRUE ? CLI_OK : CLI_NO;
}

enum cli_exit command_match(const struct cli *cli) {
    if (cli->jsonl) {
        return match_lines(cli, stdin);
    }
    struct subject subject = {0};
    struct sf_message *message = NULL;
    enum cli_exit result = start(&subject, cli, CLI_BAD_FILTER);
    if (result == CLI_OK) {
        message = sf_message_new(subject.schema);
        if (message && sf_message_reset(message) == SF_OK) {
            result = bind_message(message, cli);
        } else {
            complain("out of memory");
            result = CLI_NOMEM;
        }
    }
    if (result == CLI_OK && subject.filter) {
        result = explain_match(subject.filter, message);
    } else if (result == CLI_OK) {
        puts("match\nno filter: every message on the topic is delivered");
    }
    sf_message_free(message);
    finish(&subject);
    return result;
}

/* ---- split ---- */

/* The decoded topic filter, without $share/<group>/, and the group. */
static void print_topic(const struct subject *subject) {
    const char *topic = subject->topic;
    const char *end = topic + subject->topic_bytes;
    if (subject->split.share_bytes > 0) {
        /* No escape stands for a '/', so group and topic lie between the same slashes as before decoding. */
        const char *group = topic + subject->split.share_offset;
        const char *slash = memchr(group, '/', (size_t)(end - group));
        topic = slash ? slash + 1 : end;
        print_line("topic", topic, (size_t)(end - topic));
        print_line("group", group, (size_t)(slash ? slash - group : end - group));
    } else {
        print_line("topic", topic, subject->topic_bytes);
    }
}

static void print_expression(const struct subject *subject) {
    const struct sf_subscription *split = &subject->split;
    if (!split->has_expression) {
        puts("no filter: every message on the topic is delivered");
        return;
    }
    size_t prefix = split->body_offset - split->expression_offset;
    printf("%-12s%s\n", "dialect", sf_dialect_name(split->dialect));
    print_line("expression", subject->text + split->body_offset, split->expression_bytes - prefix);
    if (subject->filter) {
        size_t bytes;
        const char *text = sf_filter_text(subject->filter, &bytes);
        print_line("canonical", text, bytes);
    }
}

enum cli_exit command_split(const struct cli *cli) {
    struct cli whole = *cli;
    struct subject subject = {0};
    whole.subscription = true;
    enum cli_exit result = start(&subject, &whole, CLI_NO);
    if (result == CLI_OK || (result == CLI_NO && subject.schema)) {
        /* A topic filter that is good is worth showing, though the expression is not. */
        print_topic(&subject);
        print_expression(&subject);
    }
    finish(&subject);
    return result;
}
