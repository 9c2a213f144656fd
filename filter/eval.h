/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The evaluator: the only place that says what a program means. */
#ifndef SUBFILTER_EVAL_H
#define SUBFILTER_EVAL_H

#include "message.h"
#include "program.h"

/* The truth of a program against a message that is bound. sf_eval gives the same, faster. */
enum sf_truth sf_run(const struct sf_program *program, struct sf_message *message);

#endif
