/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which topic filters match a topic, and in which order the broker asks about them (DESIGN fact F11), without a tree:
 * level by level, for two filters at a time. What the plugin's tree is compared with. */
#ifndef TESTS_PLUGIN_TOPIC_REFERENCE_H
#define TESTS_PLUGIN_TOPIC_REFERENCE_H

#include <stdbool.h>

enum { TOPIC_REFERENCE_BYTES = 2048 }; /* the longest text, NUL included */

/* Whether `filter` (without $share/<group>/) matches `topic`. */
bool topic_reference_matches(const char *filter, const char *topic);

/* For two filters that match one topic: negative when the broker asks about `a` first. At the first level in which they
 * differ a literal comes before '+' before '#'; where one ends, the longer one comes first. */
int topic_reference_order(const char *a, const char *b);

#endif
