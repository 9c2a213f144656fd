/* SPDX-License-Identifier: BSD-3-Clause
 *
 * SipHash (Aumasson and Bernstein, 2012) with one round for each word and three at the end. Words are in the machine's
 * order: hashes are never compared with those of other machines. */
#include "hash.h"

#include <sys/random.h>
#include <time.h>

struct state {
    uint64_t v0;
    uint64_t v1;
    uint64_t v2;
    uint64_t v3;
};

static inline uint64_t rotate(uint64_t x, unsigned bits) {
    return x << bits | x >> (64 - bits);
}

static inline void mix(struct state *s) {
    s->v0 += s->v1;
    s->v1 = rotate(s->v1, 13) ^ s->v0;
    s->v0 = rotate(s->v0, 32);
    s->v2 += s->v3;
    s->v3 = rotate(s->v3, 16) ^ s->v2;
    s->v0 += s->v3;
    s->v3 = rotate(s->v3, 21) ^ s->v0;
    s->v2 += s->v1;
    s->v1 = rotate(s->v1, 17) ^ s->v2;
    s->v2 = rotate(s->v2, 32);
}

static inline void take(struct state *s, uint64_t word) {
    s->v3 ^= word;
    mix(s);
    s->v0 ^= word;
}

uint64_t sf_hash(const uint64_t key[2], struct sf_text text) {
    struct state s = {
        .v0 = key[0] ^ UINT64_C(0x736f6d6570736575),
        .v1 = key[1] ^ UINT64_C(0x646f72616e646f6d),
        .v2 = key[0] ^ UINT64_C(0x6c7967656e657261),
        .v3 = key[1] ^ UINT64_C(0x7465646279746573),
    };
    for (size_t at = 0; at + 8 <= text.bytes; at += 8) {
        take(&s, sf_text_word(text.at + at, 8));
    }
    size_t rest = text.bytes % 8;
    uint64_t last = rest == 0 ? 0 : sf_text_word(text.at + (text.bytes - rest), rest);
    take(&s, last | (uint64_t)text.bytes << 56);
    s.v2 ^= 0xFF;
    mix(&s);
    mix(&s);
    mix(&s);
    return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}

void sf_hash_make_key(uint64_t key_out[2]) {
    const size_t bytes = 2 * sizeof key_out[0];
    if (getrandom(key_out, bytes, GRND_NONBLOCK) == (ssize_t)bytes) {
        return;
    }
    /* Early at boot, or no such call: what an attacker from the network still does not know. */
    struct timespec now = {0};
    clock_gettime(CLOCK_MONOTONIC, &now);
    key_out[0] = (uint64_t)now.tv_nsec ^ (uint64_t)now.tv_sec << 32 ^ (uintptr_t)&now;
    clock_gettime(CLOCK_REALTIME, &now);
    key_out[1] = (uint64_t)now.tv_nsec ^ (uint64_t)now.tv_sec << 32 ^ (uintptr_t)key_out;
}
