/* SPDX-License-Identifier: BSD-3-Clause
 *
 * subfilter: content filters over the User Properties of MQTT messages.
 *
 * A *schema* is the set of property names that living filters read; it also shares equal filters. A *filter* is one
 * compiled expression. A *message* is one MQTT message bound to a schema: filters are evaluated against it.
 *
 *     struct sf_schema *schema = sf_schema_new();
 *     struct sf_filter *filter;
 *     struct sf_error error;
 *     if (sf_compile(schema, NULL, "location=roomA&value>25", 23, &filter, &error) != SF_OK) {
 *         fprintf(stderr, "%s at %zu: %s\n", sf_status_name(error.code), error.offset, error.text);
 *         return false;
 *     }
 *     struct sf_message *message = sf_message_new(schema);
 *     sf_message_add(message, "location", 8, "roomA", 5);
 *     sf_message_add(message, "value", 5, "26.5", 4);
 *     bool deliver = sf_eval(filter, message) == SF_TRUE;
 *     sf_message_free(message);
 *     sf_filter_unref(filter);
 *     sf_schema_free(schema);
 *
 * "LANGUAGE" below is docs/language.md, which defines what every expression means.
 *
 * Text is always (pointer, length in bytes) and need not end in NUL, except where a comment says "NUL-terminated".
 * Pointers are *borrowed* (the callee reads them and keeps nothing), *kept* (the callee reads them later; the comment
 * says until when) or *new* (the caller must give them back to the function named).
 *
 * Threads: filters are immutable. Evaluating one filter against different messages in different threads is safe.
 * A schema, the compiling and releasing of its filters, and the binding of its messages belong to one thread at a time
 * (the host locks); a message belongs to one thread at a time. While some thread compiles or releases filters of a
 * schema no other thread may call sf_message_add or sf_message_reset on messages of that schema.
 *
 * Nothing here logs, prints, aborts or keeps global state. Out of memory is an outcome (SF_E_NOMEM) that leaves
 * everything as it was.
 */
#ifndef SUBFILTER_H
#define SUBFILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define SF_PUBLIC     __attribute__((visibility("default")))
#define SF_MUST_CHECK __attribute__((warn_unused_result))
#else
#define SF_PUBLIC
#define SF_MUST_CHECK
#endif

/* ---- limits (LANGUAGE, limits) ------------------------------------------------------------------------------- */

#define SF_MAX_EXPRESSION_BYTES 4096 /* default of sf_options.max_expression_bytes */
#define SF_MAX_OPERATORS        512  /* of one expression */
#define SF_MAX_NESTING          200  /* open parentheses, NOTs and signs */
#define SF_MAX_LIST             256  /* literals of one IN list */
#define SF_MAX_PATTERN          64   /* characters between two % of a LIKE pattern with a _ */
#define SF_MAX_PROPERTIES       256  /* User Properties of a message that matches filters */

/* ---- outcomes ------------------------------------------------------------------------------------------------ */

/* Numbers are stable: they are never reused for another meaning. Names, from sf_status_name, are stable too. */
enum sf_status {
    SF_OK = 0,
    SF_E_NOMEM = 1,    /* "nomem": out of memory; nothing has changed */
    SF_E_TOPIC = 2,    /* "topic": the topic filter is not valid after decoding */
    SF_E_DIALECT = 3,  /* "dialect": the dialect is switched off in sf_options.dialects */
    SF_E_ESCAPE = 4,   /* "escape": a decoded NUL, or text that is not UTF-8 */
    SF_E_EMPTY = 5,    /* "empty": no expression, clause, key, value, tag or operand */
    SF_E_OPERATOR = 6, /* "operator": kv: no operator, or more than one */
    SF_E_SYNTAX = 7,   /* "syntax": an unexpected character or word, trailing text */
    SF_E_UNCLOSED = 8, /* "unclosed": no end of a string, quoted name, comment, parenthesis */
    SF_E_NAME = 9,     /* "name": a name that needs quotes, an unknown $ name, "" */
    SF_E_NUMBER = 10,  /* "number": not a number, runs into letters, out of range */
    SF_E_KIND = 11,    /* "kind": operands that cannot be combined so */
    SF_E_PATTERN = 12, /* "pattern": ESCAPE not one character, or last in the pattern */
    SF_E_BOUNDS = 13,  /* "bounds": BETWEEN with constant bounds in the wrong order */
    SF_E_LIMIT = 14,   /* "limit": one of the limits above, named in the text */
};

/* The stable name of a code, as quoted in the comments of enum sf_status; "ok" for SF_OK, "unknown" for any other
 * number. Static, NUL-terminated. */
SF_PUBLIC const char *sf_status_name(enum sf_status status);

/* Why something was refused. Filled in by the caller's request: every function that takes a `struct sf_error *` accepts
 * NULL, and writes it only when it does not return SF_OK. */
struct sf_error {
    enum sf_status code;
    size_t offset; /* in the text that the caller passed, as passed (escapes counted as sent) */
    size_t length; /* bytes; 0 when the spot is the end of the text */
    /* One sentence, NUL-terminated UTF-8 without control characters; parts of the input are cut short, with characters
     * that cannot be seen as <U+HHHH> and bytes that are not UTF-8 as \xHH. */
    char text[256];
};

/* ---- subscription strings (LANGUAGE, subscription strings) --------------------------------------------------- */

enum sf_dialect {
    SF_DIALECT_KV = 1,  /* key=value&key>value, the default dialect */
    SF_DIALECT_SQL = 2, /* after "sql:" */
    SF_DIALECT_TAG = 4, /* after "tag:" */
};
#define SF_DIALECT_ALL (SF_DIALECT_KV | SF_DIALECT_SQL | SF_DIALECT_TAG)

/* "kv", "sql" or "tag"; NULL for anything else. Static, NUL-terminated. */
SF_PUBLIC const char *sf_dialect_name(enum sf_dialect dialect);

/* Where the parts of a subscription string are. All offsets are into the string that was split. */
struct sf_subscription {
    bool has_expression; /* there is a '?' */
    size_t topic_bytes;  /* the topic filter, undecoded, with $share/<group>/ if there is one */
    size_t share_offset; /* the share group's name; 0 when it is not $share/<group>/... */
    size_t share_bytes;  /* 0 when it is not shared */
    size_t expression_offset; /* after the '?'; the end of the string when there is none */
    size_t expression_bytes;  /* up to the end of the string, dialect prefix included */
    enum sf_dialect dialect;  /* by the prefix; SF_DIALECT_KV when there is none */
    size_t body_offset;       /* the expression without its dialect prefix, if it has one */
};

/* Split `text` (borrowed) at its first '?'. Reads only where things are: it neither decodes nor checks. Cannot fail. */
SF_PUBLIC void sf_subscription_split(const char *text, size_t bytes,
                                     struct sf_subscription *split_out);

/* Decode %23 %2B %3F %25 of a topic filter in place (the text shrinks or stays) and check that the result is a valid
 * MQTT topic filter (MQTT 5 section 4.7: wildcards stand alone in their level, # is last, no NUL, UTF-8, 1 to 65535
 * bytes, and after $share/<group>/ a group of at least one character without # + and a topic filter that is not empty).
 * Writes the new length to *decoded_bytes_out; no NUL is added.
 * SF_OK; SF_E_TOPIC or SF_E_ESCAPE: `text` is unchanged and `error` has the spot. */
SF_PUBLIC SF_MUST_CHECK enum sf_status
sf_topic_decode(char *text, size_t bytes, size_t *decoded_bytes_out, struct sf_error *error);

/* ---- schemas and filters ------------------------------------------------------------------------------------- */

struct sf_schema;
struct sf_filter;
struct sf_message;

/* How to compile. Start from SF_OPTIONS_INIT; NULL where a pointer to it is expected means the same. */
struct sf_options {
    unsigned dialects;           /* sum of enum sf_dialect: those that may be used */
    size_t max_expression_bytes; /* longer expressions are refused */
    bool strict_integers; /* RocketMQ's integer rule (LANGUAGE, the option strict_integers) */
    const char *tag_key;  /* NUL-terminated, borrowed: the property that carries the tag */
};
#define SF_OPTIONS_INIT                                                                            \
    { SF_DIALECT_ALL, SF_MAX_EXPRESSION_BYTES, false, "TAGS" }

/* A new schema without names; give back with sf_schema_free. NULL: out of memory. */
SF_PUBLIC SF_MUST_CHECK struct sf_schema *sf_schema_new(void);

/* Free a schema; NULL is allowed. All its filters must have been released and all its messages freed. */
SF_PUBLIC void sf_schema_free(struct sf_schema *schema);

/* Compile `text` (borrowed): what follows the '?' of a subscription string, with or without a dialect prefix.
 * SF_OK: *filter_out is *new*: a reference to give back with sf_filter_unref. Two expressions that mean the same up to
 * spelling (white space, letter case of keywords, comments, escapes, redundant parentheses) and were compiled with the
 * same tag_key and strict_integers give the same pointer as long as a reference to it is held.
 * Anything else: *filter_out is NULL, the schema is as before, `error` (may be NULL) says why. Offsets count from
 * text[0]; a host that shows a whole subscription string adds the offset of the expression in it. */
SF_PUBLIC SF_MUST_CHECK enum sf_status
sf_compile(struct sf_schema *schema, const struct sf_options *options, const char *text,
           size_t bytes, struct sf_filter **filter_out, struct sf_error *error);

/* One more reference to a filter. Returns `filter`. */
SF_PUBLIC struct sf_filter *sf_filter_ref(struct sf_filter *filter);

/* Give a reference back; with the last one the filter is freed, and names that no other filter reads leave the schema.
 * NULL is allowed. */
SF_PUBLIC void sf_filter_unref(struct sf_filter *filter);

/* A small number that no other living filter of the schema has; numbers of freed filters are used again, so they stay
 * below the largest count of filters that lived at once. Hosts use it as an index to remember an answer per message. */
SF_PUBLIC uint32_t sf_filter_id(const struct sf_filter *filter);

/* The canonical spelling of the expression, dialect prefix included: equal for expressions that mean the same up to
 * spelling, whatever the options, and the same in all versions of this library. It compiles to the same filter.
 * NUL-terminated, lives as long as the filter; *bytes_out (may be NULL) is its length. */
SF_PUBLIC const char *sf_filter_text(const struct sf_filter *filter, size_t *bytes_out);

SF_PUBLIC enum sf_dialect sf_filter_dialect(const struct sf_filter *filter);

/* The User Properties that a filter reads: name number `index`, in order of first appearance, each once.
 * NULL when index is not below their count. NUL-terminated, lives as long as the filter. */
SF_PUBLIC const char *sf_filter_property(const struct sf_filter *filter, size_t index,
                                         size_t *bytes_out);

/* Bytes of memory that belong to this filter alone. */
SF_PUBLIC size_t sf_filter_bytes(const struct sf_filter *filter);

/* How many filters live in the schema, and how many names they read. */
SF_PUBLIC size_t sf_schema_filters(const struct sf_schema *schema);
SF_PUBLIC size_t sf_schema_names(const struct sf_schema *schema);

/* A number that changes whenever a name enters or leaves the schema: a message that was bound under another number must
 * be bound again (sf_message_reset and on) before the next sf_eval. */
SF_PUBLIC uint64_t sf_schema_generation(const struct sf_schema *schema);

/* ---- messages ------------------------------------------------------------------------------------------------ */

/* A new, empty message of `schema` (kept: the schema must outlive it); give back with sf_message_free.
 * NULL: out of memory. All that it will ever need is allocated here or by sf_message_reset. */
SF_PUBLIC SF_MUST_CHECK struct sf_message *sf_message_new(struct sf_schema *schema);

/* Free a message; NULL is allowed. */
SF_PUBLIC void sf_message_free(struct sf_message *message);

/* Forget all properties and attributes, ready for the next message. Allocates only when the schema has grown beyond all
 * that this message has seen. SF_OK; SF_E_NOMEM: the message is empty and sf_eval against it gives SF_UNKNOWN until a
 * later reset succeeds. */
SF_PUBLIC SF_MUST_CHECK enum sf_status sf_message_reset(struct sf_message *message);

/* Add a User Property, in the order of the message. `name` is borrowed; `value` is kept until the next reset or free.
 * Never fails: with more than SF_MAX_PROPERTIES every filter gives SF_FALSE. Returns whether some filter of the schema
 * reads this name: when false, `value` is not kept. */
SF_PUBLIC bool sf_message_add(struct sf_message *message, const char *name, size_t name_bytes,
                              const char *value, size_t value_bytes);

/* System attributes (LANGUAGE, system attributes). What is not set is absent. Text is kept until the next reset or free. */
SF_PUBLIC void sf_message_set_topic(struct sf_message *message, const char *text, size_t bytes);
SF_PUBLIC void sf_message_set_content_type(struct sf_message *message, const char *text,
                                           size_t bytes);
SF_PUBLIC void sf_message_set_response_topic(struct sf_message *message, const char *text,
                                             size_t bytes);
SF_PUBLIC void sf_message_set_qos(struct sf_message *message, int qos);
SF_PUBLIC void sf_message_set_retain(struct sf_message *message, bool retain);
SF_PUBLIC void sf_message_set_payload_bytes(struct sf_message *message, uint64_t bytes);

/* ---- evaluation ---------------------------------------------------------------------------------------------- */

enum sf_truth {
    SF_FALSE = 0,
    SF_TRUE = 1,    /* deliver */
    SF_UNKNOWN = 2, /* a value was absent or did not convert, and that decided: do not deliver */
};

/* Whether `message` satisfies `filter`; both of the same schema, the message bound under its present generation.
 * Allocates nothing; writes only what `message` remembers of its own values (a number, once converted). */
SF_PUBLIC enum sf_truth sf_eval(const struct sf_filter *filter, struct sf_message *message);

/* ---- for people ---------------------------------------------------------------------------------------------- */

/* Receives text in pieces (borrowed, no NUL). */
typedef void sf_write_fn(void *user, const char *text, size_t bytes);

/* Write the syntax tree of a filter, one node a line, children indented by two blanks. SF_OK or SF_E_NOMEM. */
SF_PUBLIC SF_MUST_CHECK enum sf_status sf_filter_write_tree(const struct sf_filter *filter,
                                                            sf_write_fn *write, void *user);

/* Write the compiled program of a filter, one instruction a line: index, name, operands. */
SF_PUBLIC void sf_filter_write_program(const struct sf_filter *filter, sf_write_fn *write,
                                       void *user);

/* Evaluate as sf_eval does and write why, in one or more sentences, each on its own line: which condition decided, which
 * property was absent or did not convert, and which arithmetic has no result. *truth_out is the answer. SF_OK or
 * SF_E_NOMEM. */
SF_PUBLIC SF_MUST_CHECK enum sf_status sf_explain(const struct sf_filter *filter,
                                                  struct sf_message *message, sf_write_fn *write,
                                                  void *user, enum sf_truth *truth_out);

/* The version of the library, "major.minor.patch". Static, NUL-terminated. */
SF_PUBLIC const char *sf_version(void);

#ifdef __cplusplus
}
#endif
#endif
