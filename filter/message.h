/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A message bound to a schema. */
#ifndef SUBFILTER_MESSAGE_H
#define SUBFILTER_MESSAGE_H

#include "schema.h"
#include "value.h"

struct sf_message {
    uint64_t generation; /* of the schema when it was bound; 0: no filter is to look at it */
    const struct sf_schema *schema;
    struct sf_value *
        values; /* n_slots, by slot: the last value of each name; then SF_MAX_PROPERTIES for earlier ones */
    const char **texts; /* kept by the host; texts[i] is the text of values[i] */
    uint32_t n_slots;
    uint32_t n_properties; /* all of them; beyond SF_MAX_PROPERTIES it stays one above */
    uint32_t n_touched;
    uint32_t n_earlier;
    uint32_t touched[SF_MAX_PROPERTIES]; /* slots of names with a value */
};

/* Whether filters are to look at the message. */
static inline bool sf_message_is_bound(const struct sf_message *message) {
    return message->generation == message->schema->generation;
}

/* What all filters give for a message that is not bound. */
static inline enum sf_truth sf_message_verdict(const struct sf_message *message) {
    return message->n_properties > SF_MAX_PROPERTIES ? SF_FALSE : SF_UNKNOWN;
}

/* The text of values[at], which is not absent. */
static inline struct sf_text sf_message_text(const struct sf_message *message, uint32_t at) {
    return (struct sf_text){message->texts[at], message->values[at].bytes};
}

/* With SF_VALUE_EARLIER: where the value before values[at] is. */
static inline uint32_t sf_message_earlier(const struct sf_message *message, uint32_t at) {
    return message->n_slots + message->values[at].earlier;
}

/* values[at] as a number. Its text is converted if nobody has asked yet. */
struct sf_number sf_message_number(struct sf_message *message, uint32_t at);

#endif
