/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The steps of the model test: what their two files share, and what a client can do by itself.
 */
#ifndef TEST_MODEL_STEPS_H
#define TEST_MODEL_STEPS_H

#include "model_run.h"

extern const char *const run_ids[MODEL_CLIENTS];

/* Append to what is said about the present step. */
void run_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
void run_note_message(unsigned number);

/* A code that a request was answered with; negative: see wire.h. */
void run_expect_code(const char *what, int client, int expected, int code);

/* A new message of a client (-1: of a plugin); one to retain may be empty. */
unsigned run_new_message(int client, int protocol, bool may_be_empty);

struct publish run_publish_of(unsigned number);

/* One of the subscriptions that a session has, or NULL. */
const struct model_subscription *run_choose_subscription(const struct model_session *session);

/* model_clients.c; all but the first for a client that is online */
void step_connect(int client);
void step_disconnect(int client);
void step_drop(int client);
void step_expire(int client); /* its session, a second after it disconnects */
void step_deafen(int client);
void step_wake(int client);
void step_subscribe(int client);
void step_unsubscribe(int client);

#endif
