/* SPDX-License-Identifier: BSD-3-Clause
 *
 * subscription_string: the text of a subscription in the broker's form.
 *
 * A share group with a filter is renamed, so that only members with equal filters form a group: each message goes to
 * one member, and that member's filter must be the one that decided (DESIGN decision D5).
 *
 *     $share/<name>?<expression>/…   as sent           $share/workers/orders?amount>5
 *     $share/<name>\x01<fingerprint>/<topic filter>    in the broker
 *
 * The byte 0x01 separates: the broker closes the connection of a client that sends it, so no client of any protocol
 * version can enter such a group by its inner name. The fingerprint is the first 128 bits of SHA-256 over the filter's
 * canonical text, in hexadecimal.
 */
#ifndef PLUGIN_SUBSCRIPTION_STRING_H
#define PLUGIN_SUBSCRIPTION_STRING_H

#include <stdbool.h>
#include <stddef.h>

#define SHARE_PREFIX            "$share/"
#define SHARE_PREFIX_BYTES      7
#define SHARE_SEPARATOR         '\x01'
#define SHARE_FINGERPRINT_BYTES 32 /* hexadecimal digits */

/* Where the topic filter of a shared subscription starts in its text (NUL-terminated); 0 when it is not shared. */
size_t share_topic_offset(const char *text);

/* Whether the broker will take `text` as a subscription at all: it closes the connection of a client that subscribes to
 * "$share/<name>" without a topic filter, or with a wildcard in the name. */
bool subscription_text_is_possible(const char *text);

/* Bytes of the name of the share group as clients write it: up to the separator. `text` is a shared subscription. */
size_t share_name_bytes(const char *text);

/* Bytes that share_rename needs for `text`, NUL included. */
size_t share_renamed_bytes(const char *text);

/* Write `text` (a shared subscription, not renamed) with its group renamed for the filter with this canonical text. */
void share_rename(const char *text, const char *filter_text, size_t filter_bytes, char *out);

#endif
