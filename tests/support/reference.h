/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A second reading of docs/language.md, to test the engine against: it parses an expression into a tree and walks
 * that tree for every message. Nothing is shared with filter/ but the names in subfilter.h; nothing is fast. Where
 * both disagree, the language's text decides.
 *
 * Out of memory ends the process: this is a test's measure, not a part of the product.
 */
#ifndef TESTS_SUPPORT_REFERENCE_H
#define TESTS_SUPPORT_REFERENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "subfilter.h"

struct ref_text {
    const char *text; /* NULL: absent */
    size_t bytes;
};

struct ref_property {
    struct ref_text name;
    struct ref_text value;
};

/* A message as the tests hold it; all text is borrowed. */
struct ref_message {
    const struct ref_property *properties;
    size_t n_properties;
    struct ref_text topic;
    struct ref_text content_type;
    struct ref_text response_topic;
    bool has_qos;
    bool has_retain;
    bool has_payload_bytes;
    bool retain;
    int qos;
    uint64_t payload_bytes;
};

struct ref_filter;

/* A set of codes: bit `1 << code` for each. */
typedef uint32_t ref_codes;

/* Parse what follows the '?'. 0: accepted, and *filter_out is to be given to ref_free. Otherwise the codes that may be
 * reported: more than one when the expression has several faults, or one to which the language gives no single
 * name. */
ref_codes ref_parse(const struct sf_options *options, const char *text, size_t bytes,
                    struct ref_filter **filter_out);
void ref_free(struct ref_filter *filter);

enum sf_dialect ref_dialect(const struct ref_filter *filter);

/* In kv and tag the language knows only "holds" and "does not hold": SF_TRUE and SF_FALSE. */
enum sf_truth ref_eval(const struct ref_filter *filter, const struct ref_message *message);

/* Whether the engine's answer is what ref_eval's says: in kv and tag, false and unknown are one. */
bool ref_agrees(const struct ref_filter *filter, enum sf_truth expected, enum sf_truth actual);

/* ---- values, also for tests that need an expectation of their own ---------------------------- */

struct ref_number {
    bool known;
    bool is_integer;
    int64_t integer;
    double real; /* unless is_integer */
};

/* LANGUAGE, numbers: surrounding white space allowed; .known is false for what is no number. */
struct ref_number ref_number_parse(const char *text, size_t bytes);

/* -1, 0 or 1, by mathematical value; both must be known. */
int ref_number_compare(struct ref_number left, struct ref_number right);

bool ref_is_utf8(const char *text, size_t bytes);

#endif
