/* SPDX-License-Identifier: BSD-3-Clause
 *
 * message: a message of the broker as the engine reads it. The texts are copied: the broker's own may be freed and used
 * again while we still compare addresses (DESIGN fact F12), and then a mistake would be a wrong answer, not a crash.
 */
#ifndef PLUGIN_MESSAGE_H
#define PLUGIN_MESSAGE_H

#include "subfilter.h"

#include <stdbool.h>
#include <stddef.h>

struct mosquitto_evt_acl_check;

struct message {
    struct sf_message *bound;
    char *text; /* the copied values */
    size_t text_capacity;
};

/* Start with an empty message of `schema`, which must outlive it. false: out of memory. */
bool message_init(struct message *message, struct sf_schema *schema) __attribute__((warn_unused_result));

/* Free what message_init and message_bind allocated; nothing happens to a zeroed message. */
void message_deinit(struct message *message);

/* Bind the properties and attributes of the message that the broker asks READ for. Allocates only when the message holds
 * more text, or the schema more names, than any before it. false: out of memory; the message cannot be decided. */
bool message_bind(struct message *message, const struct mosquitto_evt_acl_check *check)
    __attribute__((warn_unused_result));

#endif
