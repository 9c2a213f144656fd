/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The dialect prefix of an expression. */
#ifndef SUBFILTER_SUBSCRIPTION_H
#define SUBFILTER_SUBSCRIPTION_H

#include "subfilter.h"
#include "text.h"

/* The dialect of an expression, and where its body starts. */
enum sf_dialect sf_dialect_of(struct sf_text expression, size_t *body_out);

#endif
