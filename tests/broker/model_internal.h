/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the files of the model share.
 */
#ifndef TEST_MODEL_INTERNAL_H
#define TEST_MODEL_INTERNAL_H

#include "model.h"

/* Whether a subscription takes a message. */
bool model_holds(const struct model *model, const struct model_subscription *subscription,
                 const struct model_message *message);

/* Two members of a share group for whose filters this differs are in different groups. */
int model_meaning(const struct model *model, const struct model_subscription *subscription);

bool model_has_filters(const struct model_session *session);

/* Whether the broker counts other subscriptions than the plugin knows of. */
bool model_is_mismatched(const struct model_session *session);

void model_add_copy(struct model_session *session, const struct model_copy *copy);

/* Pass a message on while the connection of a client is ending (`dying`; MODEL_CLIENTS: all; -1: none). */
void model_pass_on(struct model *model, unsigned number, bool known, int dying);

#endif
