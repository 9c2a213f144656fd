/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Texts to small numbers, counted: equal texts share one id, the last release makes the id free for the next text. So
 * ids stay below the largest number of texts that lived at once, and memory does too. The hash is seeded: clients
 * choose the texts. */
#ifndef SUBFILTER_INTERN_H
#define SUBFILTER_INTERN_H

#include <stdint.h>

#include "subfilter.h"
#include "text.h"

#define SF_NO_ID        UINT32_MAX
#define SF_MAX_INTERNED (1u << 26) /* so that slots can be counted in bytes: see value.h */

struct sf_interned {
    char *text; /* NUL-terminated; NULL: the id is free */
    size_t bytes;
    void *owner; /* the caller's; NULL at first */
    uint32_t hash;
    uint32_t n_references;
    uint32_t next_free; /* of a free id */
};

/* The table from hashes to ids is open: an entry is in the first free bucket from its hash on. */
struct sf_intern_bucket {
    uint32_t hash;
    uint32_t id; /* SF_NO_ID: free */
};

struct sf_intern {
    uint64_t key[2];
    struct sf_interned *entries; /* by id */
    uint32_t n_entries;          /* allocated */
    uint32_t n_used;             /* ids from here on were never used */
    uint32_t n_living;
    uint32_t first_free; /* a list of ids that were used; SF_NO_ID: none */
    struct sf_intern_bucket *buckets;
    uint32_t n_buckets; /* 0 or a power of two */
};

/* An empty table; allocates nothing. */
void sf_intern_init(struct sf_intern *intern, const uint64_t key[2]);
void sf_intern_deinit(struct sf_intern *intern);

/* The id of `text`; SF_NO_ID when it has none. */
uint32_t sf_intern_find(const struct sf_intern *intern, struct sf_text text);

/* A reference to the id of `text` (copied), new or not. SF_OK or SF_E_NOMEM. */
SF_MUST_CHECK enum sf_status sf_intern_acquire(struct sf_intern *intern, struct sf_text text,
                                               uint32_t *id_out);

/* Give a reference back; whether it was the last one. */
bool sf_intern_release(struct sf_intern *intern, uint32_t id);

static inline struct sf_interned *sf_intern_at(const struct sf_intern *intern, uint32_t id) {
    return &intern->entries[id];
}

/* Bytes that an entry with a text of that length takes. */
size_t sf_intern_entry_bytes(size_t text_bytes);

#endif
