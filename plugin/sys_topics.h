/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sys_topics: what the plugin tells under $SYS/broker/subscription-filter/: its counters, and why a subscription was
 * refused. Who may read them is the broker's access control on these topics.
 */
#ifndef PLUGIN_SYS_TOPICS_H
#define PLUGIN_SYS_TOPICS_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct plugin;
struct sf_error;

enum { SYS_TOPICS = 7 };

/* What was published last. */
struct sys_topics {
    time_t published_at_s;
    uint64_t values[SYS_TOPICS];
    bool published;
};

/* Publish the counters that have changed, every sys_interval seconds. */
void sys_topics_tick(struct plugin *plugin, time_t now_s);

/* Publish why a subscription (NUL-terminated, as sent) of a client was refused; not retained. */
void sys_topics_refused(const struct plugin *plugin, const char *client_id, const char *subscription,
                        const struct sf_error *error);

#endif
