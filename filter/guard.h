/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What can be told of most filters without running their programs: a text that one value must be equal to, or else the
 * filter is false. A host that asks many filters about one message keeps it beside whatever it keeps per filter, and
 * touches the filter itself only when this does not answer. Not installed: it shows how values are laid out. */
#ifndef SUBFILTER_GUARD_H
#define SUBFILTER_GUARD_H

#include "message.h"

/* A guard that never tells anything has this slot. */
#define SF_NO_SLOT UINT32_MAX

/* The value must be as long as this text, and have the same first eight bytes. */
struct sf_guard {
    uint64_t word; /* sf_text_word of the text */
    uint32_t slot;
    uint32_t bytes;
};

/* The guard of a filter (NULL: one that tells nothing). It holds as long as the filter lives. */
struct sf_guard sf_filter_guard(const struct sf_filter *filter);

/* The values of a message for sf_guard_excludes, valid until it is bound again; NULL: guards tell nothing about it. */
static inline const struct sf_value *sf_message_values(const struct sf_message *message) {
    return sf_message_is_bound(message) ? message->values : NULL;
}

/* Whether sf_eval gives SF_FALSE for the guard's filter. If not, it may be anything. */
static inline bool sf_guard_excludes(const struct sf_guard *guard, const struct sf_value *values) {
    if (guard->slot == SF_NO_SLOT) {
        return false;
    }
    const struct sf_value *value = &values[guard->slot];
    /* absent: that is unknown and not false; several values: another one may be equal */
    return (value->state & (SF_VALUE_ABSENT | SF_VALUE_EARLIER)) == 0 &&
           (value->word != guard->word || value->bytes != guard->bytes);
}

#endif
