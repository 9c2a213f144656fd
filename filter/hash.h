/* SPDX-License-Identifier: BSD-3-Clause
 *
 * SipHash-1-3: a keyed hash, so that nobody who does not know the key can choose texts that collide. */
#ifndef SUBFILTER_HASH_H
#define SUBFILTER_HASH_H

#include <stdint.h>

#include "text.h"

uint64_t sf_hash(const uint64_t key[2], struct sf_text text);

/* A random key. */
void sf_hash_make_key(uint64_t key_out[2]);

#endif
