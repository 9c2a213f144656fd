/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the scenarios of the plugin share: configuration lines, and short words for the steps that nearly all of
 * them take. A message is told apart by its payload; its User Property "x" is what most filters look at.
 *
 *     struct broker *broker = broker_start(PLUGIN NO_STATE);
 *     struct client *reader = client_open(broker, "reader");
 *     subscribe(reader, "t?x=1", 1);
 *     publish(writer, "t", "m1", 1, "1");
 *     publish(writer, "t", "m2", 1, "2");
 *     CHECK_ARRIVED(reader, writer, "m1");
 */
#ifndef TEST_SCENARIO_H
#define TEST_SCENARIO_H

#include "harness.h"
#include "raw.h"

#include <string.h>

#define PLUGIN   "global_plugin " TEST_PLUGIN "\n"
#define NO_STATE "plugin_opt_state_file none\n"

/* mosquitto.db in the broker's folder, written at the end and by broker_save. */
#define PERSISTENT "persistence true\npersistence_location @DIR@/\nautosave_interval 0\n"

/* The same by a plugin, which is loaded after ours: to stand behind it. */
#define SQLITE "plugin @PLUGINS@/mosquitto_persist_sqlite.so\nplugin_opt_db_file @DIR@/db.sqlite\n"

/* One of the small plugins in plugins/, behind ours. */
#define OTHER(name) "plugin " TEST_PLUGINS_DIR "/test_" name ".so\n"

/* Dynamic security, which must be written by write_dynsec. */
#define DYNSEC                                                                                     \
    "plugin @PLUGINS@/mosquitto_dynamic_security.so\nplugin_opt_config_file @DIR@/dynsec.json\n"

#define LISTENER(n) "listener @PORT" n "@ 127.0.0.1\nallow_anonymous true\n"

#define REFUSED 0x87 /* not authorized */

/* The journal, where PERSISTENT puts it. */
#define STATE_FILE "subscription-filter.jsonl"

/* A broker with our plugin, without a state file, with these options. */
struct broker *start_plugin(const char *options);

/* One role for everybody, which allows all but for these rules: ",{…},{…}". */
void write_dynsec(struct broker *broker, const char *acls);

/* Connect to a session that is kept for an hour, whether there is one already or not. */
struct client *keep(struct broker *broker, const char *id);

/* Subscribe where `qos` must be granted. */
void subscribe(struct client *client, const char *topic, int qos);

/* Subscribe where it must be refused, and the broker's log must say so with `reason` in the line. */
void subscribe_refused(struct broker *broker, struct client *client, const char *topic,
                       const char *reason);

/* Publish with the User Property x (NULL: without). Returns when the broker has passed it on. */
void publish(struct client *writer, const char *topic, const char *payload, int qos, const char *x);

/* The same at QoS 1 with these User Properties (USER(…)); and with the payload and the User Property room the same. */
void publish_user(struct client *writer, const char *topic, const char *const *user);
void publish_room(struct client *writer, const char *topic, const char *room);

/* That the filter room=a holds on `topic`: of two messages one arrives. `where` is for the message. */
void check_filtered(struct client *reader, struct client *writer, const char *topic,
                    const char *where);

/* How many messages have arrived at `reader` up to a fence of `writer`; takes them. */
size_t count_arrived(struct client *reader, struct client *writer);

/* The payloads of all that has arrived at `reader` up to a fence of `writer`, in order, with blanks between; takes the
 * messages. Valid until the next call. */
const char *arrived(struct client *reader, struct client *writer);

#define CHECK_ARRIVED(reader, writer, payloads)                                                    \
    CHECK(strcmp(arrived((reader), (writer)), (payloads)) == 0, "'%s' arrived", arrived_last())

/* What the last call of arrived() returned, for messages. */
const char *arrived_last(void);

/* A file of the broker's folder as text; "" when there is none. Freed with the case. */
const char *read_file(struct broker *broker, const char *name);

/* How many lines of the file hold `text`. */
size_t count_lines(struct broker *broker, const char *name, const char *text);

/* Stop the broker's process for a while, so that what clients send meanwhile meets it at once; then let it go on. */
void freeze(struct broker *broker);
void unfreeze(struct broker *broker);

/* Send bytes on a connection of their own, and collect what the broker answers until it closes that. They must
 * make it do so: end with a DISCONNECT, or be against the protocol. Returns how many bytes of the answer are in
 * `answer`. */
size_t talk(struct broker *broker, const void *bytes, size_t n, unsigned char *answer, size_t room);

/* Subscribe with a raw client and read the SUBACK, which must grant. */
void raw_subscribe_granted(struct raw *raw, const char *topic, unsigned options);

#endif
