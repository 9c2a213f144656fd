/* SPDX-License-Identifier: BSD-3-Clause
 *
 * mosquitto_filter: the filter language of subscription-filter on the command line, by the same engine that the broker
 * uses. This file reads the command line; the commands are in commands.c and jsonl.c.
 */
#include "cli.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

static const struct command {
    const char *name;
    size_t max_arguments; /* at least one is needed */
    enum cli_exit (*run)(const struct cli *cli);
} commands[] = {
    {"check", 1, command_check},
    {"explain", 1, command_explain},
    {"match", SIZE_MAX, command_match},
    {"split", 1, command_split},
};

static const char usage[] = "usage: mosquitto_filter check   [OPTIONS] EXPRESSION\n"
                            "       mosquitto_filter explain [OPTIONS] EXPRESSION\n"
                            "       mosquitto_filter match   [OPTIONS] EXPRESSION [NAME=VALUE...]\n"
                            "       mosquitto_filter match   [OPTIONS] --jsonl\n"
                            "       mosquitto_filter split   [OPTIONS] SUBSCRIPTION\n";

static const char help[] =
    "\n"
    "EXPRESSION is what follows the '?' of a subscription: location=roomA&value>25\n"
    "or, with a prefix, sql:amount > 100 AND region = 'BEIJING' or tag:PAID||SHIPPED.\n"
    "\n"
    "  check    say whether an expression is valid, and where it is not\n"
    "  explain  show how it is read: tree, program, and the properties it needs\n"
    "  match    say whether a message with these User Properties would be delivered, and why\n"
    "  split    show the parts of a whole subscription string\n"
    "\n"
    "  --subscription            EXPRESSION is a whole subscription string: topic?expression\n"
    "  --tag-key NAME            the property that carries the tag (TAGS)\n"
    "  --strict-integers         RocketMQ's rule for integer literals\n"
    "  --dialects LIST           the dialects that may be used (kv,sql,tag)\n"
    "  --max-expression-bytes N  longer expressions are refused (4096)\n"
    "  --attr NAME=VALUE         match: a system attribute of the message, as in --attr qos=1: "
    "topic,\n"
    "                            qos, retain, payload_bytes, content_type or response_topic\n"
    "  --jsonl                   match: read lines of JSON from standard input, each with the "
    "members\n"
    "                            expr, props (a list of [name, value]) and perhaps attrs\n"
    "                            ({\"$qos\": 1}); answer each with match, nomatch or invalid\n"
    "  --help, --version         show this text, or the version, and do nothing else\n"
    "\n"
    "Exit status: 0 valid, match, or all lines answered; 1 invalid, or no match; 2 match: invalid\n"
    "filter; 64 wrong usage; 65 a bad line of JSON; 71 out of memory; 74 reading or writing "
    "failed.\n";

/* ---- options ---- */

static bool set_dialects(struct cli *cli, char *list) {
    static const enum sf_dialect dialects[] = {SF_DIALECT_KV, SF_DIALECT_SQL, SF_DIALECT_TAG};
    cli->options.dialects = 0;
    for (char *name = list, *next; name; name = next) {
        next = strchr(name, ',');
        if (next) {
            *next++ = '\0';
        }
        unsigned found = 0;
        for (size_t i = 0; i < sizeof dialects / sizeof dialects[0]; i++) {
            found |= strcmp(name, sf_dialect_name(dialects[i])) == 0 ? dialects[i] : 0u;
        }
        if (!found) {
            complain("--dialects: '%s' is none of kv, sql, tag", name);
            return false;
        }
        cli->options.dialects |= found;
    }
    return true;
}

static bool set_max_expression_bytes(struct cli *cli, const char *text) {
    uint64_t number;
    if (!parse_number(text, UINT32_MAX, &number) || number == 0) {
        complain("--max-expression-bytes: '%s' is not a number of bytes", text);
        return false;
    }
    cli->options.max_expression_bytes = number;
    return true;
}

/* NAME=VALUE, where NAME may be written without its $, which shells like to expand. */
static bool set_attribute(struct cli *cli, const char *text) {
    cli->has_attributes = true;
    const char *name = text[0] == '$' ? text + 1 : text;
    size_t bytes = strcspn(name, "=");
    for (size_t i = 0; name[bytes] == '=' && i < N_ATTRIBUTES; i++) {
        const char *candidate = attributes[i].name + 1;
        if (strlen(candidate) == bytes && memcmp(candidate, name, bytes) == 0) {
            cli->attributes[i] = name + bytes + 1;
            return true;
        }
    }
    complain("--attr: '%s' is not topic=…, qos=…, retain=…, payload_bytes=…, content_type=… or "
             "response_topic=…",
             text);
    return false;
}

/* What long options without a letter return from getopt_long. */
enum {
    OPTION_SUBSCRIPTION = 256,
    OPTION_TAG_KEY,
    OPTION_STRICT_INTEGERS,
    OPTION_DIALECTS,
    OPTION_MAX_EXPRESSION_BYTES,
    OPTION_ATTR,
    OPTION_JSONL,
    OPTION_HELP,
    OPTION_VERSION,
};

static const struct option long_options[] = {
    {"subscription", no_argument, NULL, OPTION_SUBSCRIPTION},
    {"tag-key", required_argument, NULL, OPTION_TAG_KEY},
    {"strict-integers", no_argument, NULL, OPTION_STRICT_INTEGERS},
    {"dialects", required_argument, NULL, OPTION_DIALECTS},
    {"max-expression-bytes", required_argument, NULL, OPTION_MAX_EXPRESSION_BYTES},
    {"attr", required_argument, NULL, OPTION_ATTR},
    {"jsonl", no_argument, NULL, OPTION_JSONL},
    {"help", no_argument, NULL, OPTION_HELP},
    {"version", no_argument, NULL, OPTION_VERSION},
    {NULL, 0, NULL, 0},
};

static bool set_tag_key(struct cli *cli, const char *name) {
    if (name[0] == '\0') {
        complain("--tag-key: the name is empty");
        return false;
    }
    cli->options.tag_key = name;
    return true;
}

/* Take one option. False: it has been complained of. */
static bool take_option(struct cli *cli, int option, char *argument) {
    switch (option) {
    case OPTION_SUBSCRIPTION:
        cli->subscription = true;
        return true;
    case OPTION_TAG_KEY:
        return set_tag_key(cli, argument);
    case OPTION_STRICT_INTEGERS:
        cli->options.strict_integers = true;
        return true;
    case OPTION_DIALECTS:
        return set_dialects(cli, argument);
    case OPTION_MAX_EXPRESSION_BYTES:
        return set_max_expression_bytes(cli, argument);
    case OPTION_ATTR:
        return set_attribute(cli, argument);
    case OPTION_JSONL:
        cli->jsonl = true;
        return true;
    default:
        return false; /* getopt_long has complained */
    }
}

/* ---- commands ---- */

static const struct command *find_command(const char *name) {
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        if (strcmp(commands[i].name, name) == 0) {
            return &commands[i];
        }
    }
    return NULL;
}

/* What is wrong with the command line, options and arguments being parsed; NULL: nothing. */
static const char *find_misuse(const struct cli *cli, const struct command *command) {
    bool is_match = command->run == command_match;
    if (cli->jsonl && !is_match) {
        return "--jsonl goes with match only";
    }
    if (cli->has_attributes && !is_match) {
        return "--attr goes with match only";
    }
    if (cli->jsonl) {
        return cli->n_arguments > 0 || cli->subscription || cli->has_attributes
                   ? "--jsonl reads expression, properties and attributes from standard input"
                   : NULL;
    }
    if (cli->n_arguments == 0) {
        return "an expression is missing";
    }
    return cli->n_arguments > command->max_arguments
               ? "too many arguments; an expression with blanks needs quotes"
               : NULL;
}

static enum cli_exit run_command(struct cli *cli) {
    if (cli->n_arguments == 0) {
        complain("a command is missing");
        return CLI_USAGE;
    }
    const struct command *command = find_command(cli->arguments[0]);
    if (!command) {
        complain("'%s' is no command", cli->arguments[0]);
        return CLI_USAGE;
    }
    cli->arguments++;
    cli->n_arguments--;
    const char *misuse = find_misuse(cli, command);
    if (misuse) {
        complain("%s: %s", command->name, misuse);
        return CLI_USAGE;
    }
    return command->run(cli);
}

/* Parse the options, wherever they stand, and run. */
static enum cli_exit run(int argc, char **argv) {
    struct cli cli = {.options = SF_OPTIONS_INIT};
    for (int option; (option = getopt_long(argc, argv, "", long_options, NULL)) != -1;) {
        if (option == OPTION_HELP) {
            printf("%s%s", usage, help);
            return CLI_OK;
        }
        if (option == OPTION_VERSION) {
            printf("mosquitto_filter %s\n", sf_version());
            return CLI_OK;
        }
        if (!take_option(&cli, option, optarg)) {
            return CLI_USAGE;
        }
    }
    cli.arguments = argv + optind;
    cli.n_arguments = (size_t)(argc - optind);
    return run_command(&cli);
}

int main(int argc, char **argv) {
    text_init();
    enum cli_exit result = run(argc, argv);
    if (result == CLI_USAGE) {
        fprintf(stderr, "%sTry mosquitto_filter --help for more.\n", usage);
    }
    /* An answer that did not arrive is no answer. */
    if (fflush(stdout) != 0 || ferror(stdout)) {
        perror("mosquitto_filter: standard output");
        return CLI_IO;
    }
    return (int)result;
}
