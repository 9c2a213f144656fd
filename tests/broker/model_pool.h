/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the model test draws from: topics, topic filters, expressions, User Properties. Few of each, so that things meet.
 */
#ifndef TEST_MODEL_POOL_H
#define TEST_MODEL_POOL_H

#include "model.h"

enum { POOL_FILTERS = 128, POOL_TEXT_BYTES = 256 };

/* A source of random numbers. */
struct chance {
    uint64_t state;
};

/* 0 … n-1. */
unsigned chance_below(struct chance *chance, unsigned n);

/* True in `percent` of 100. */
bool chance_of(struct chance *chance, unsigned percent);

/* Parse all expressions with the reference, once; a broken pool ends the case. */
const struct model_filter *pool_filters(size_t *n_out);

const char *pool_topic(struct chance *chance);
const char *pool_topic_filter(struct chance *chance);

/* An expression of the pool; mostly a valid one. */
int pool_filter(struct chance *chance);

/* Everything of a message but payload and publisher; with properties only for MQTT 5. */
void pool_message(struct chance *chance, int protocol, struct model_message *message_out);

/* A message that needs as much memory as `from` in every part, so that the broker may put it where that was: it differs
 * only in values. */
void pool_twin(struct chance *chance, const struct model_message *from,
               struct model_message *message_out);

/* What a client sends to subscribe to (or unsubscribe from) `topic` in `group` with the expression `text` (NULL: none):
 * with a '?' in front of the expression, and escapes where they must and sometimes where they may stand. */
void pool_write(struct chance *chance, const char *group, const char *topic, const char *text,
                char out[POOL_TEXT_BYTES]);

#endif
