/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The model test: what its two files share: a run (test_model.c), and the steps that it takes (model_steps.c).
 */
#ifndef TEST_MODEL_RUN_H
#define TEST_MODEL_RUN_H

#include "model.h"
#include "model_pool.h"

enum { MAX_STEPS = 20000, MAX_MESSAGES = 6 * MAX_STEPS };

/* One run of the test. */
struct run {
    struct broker *broker;
    uint64_t seed;
    unsigned steps;
    bool skip[MAX_STEPS];
    bool may_expire; /* one session may expire in this run: that takes seconds */
    bool expired
        [MODEL_CLIENTS]; /* the plugin may not have found that out yet: it looks once a second */

    struct model_rules rules;
    struct model model;
    struct model saved; /* what mosquitto.db has */
    struct wire wires[MODEL_CLIENTS];
    struct wire admin; /* tells plugins/command.c what to do */
    uint32_t next_id;
    char *history[MAX_STEPS];

    unsigned step;
    struct chance chance;
    bool failed;
    struct model_error error;
};

extern struct run run; /* one at a time, and large */

/* Say what is wrong; the first time counts. */
void run_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Do something, as run.chance has it, to the broker and to the model, and say so in run.history. */
void run_act(void);

/* Connect run.admin, after each start of the broker. */
void run_connect_admin(void);

/* Wait until nothing more is coming to any client, and compare what they have received with the model. */
void run_settle(void);

#endif
