/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sha256: the hash of FIPS 180-4, for names that must not collide even when somebody tries. Used once per SUBSCRIBE to
 * a share group with a filter; a cryptographic library as a dependency would outweigh these few lines.
 */
#ifndef PLUGIN_SHA256_H
#define PLUGIN_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define SHA256_BYTES 32

/* Write the SHA-256 digest of `data` (borrowed) to `digest`. */
void sha256(const void *data, size_t bytes, uint8_t digest[SHA256_BYTES]);

#endif
