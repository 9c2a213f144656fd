/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The table of interned texts. Whatever grows does so into new memory, which is checked before anything is changed. */
#include "intern.h"

#include <stdlib.h>

#include "hash.h"

enum { LEAST_BUCKETS = 8, LEAST_ENTRIES = 4 };

void sf_intern_init(struct sf_intern *intern, const uint64_t key[2]) {
    *intern = (struct sf_intern){.key = {key[0], key[1]}, .first_free = SF_NO_ID};
}

void sf_intern_deinit(struct sf_intern *intern) {
    for (uint32_t id = 0; id < intern->n_used; id++) {
        free(intern->entries[id].text);
    }
    free(intern->entries);
    free(intern->buckets);
    *intern = (struct sf_intern){.first_free = SF_NO_ID};
}

size_t sf_intern_entry_bytes(size_t text_bytes) {
    return sizeof(struct sf_interned) + 2 * sizeof(struct sf_intern_bucket) + text_bytes + 1;
}

/* ---- buckets --------------------------------------------------------------------------------------------------- */

/* The bucket that holds `text`, or the free one where it would go. There are buckets. */
static uint32_t find_bucket(const struct sf_intern *intern, struct sf_text text, uint32_t hash) {
    uint32_t mask = intern->n_buckets - 1;
    uint32_t at = hash & mask;
    for (;; at = (at + 1) & mask) {
        const struct sf_intern_bucket *bucket = &intern->buckets[at];
        if (bucket->id == SF_NO_ID) {
            return at;
        }
        if (bucket->hash == hash) {
            const struct sf_interned *entry = &intern->entries[bucket->id];
            if (sf_text_equal((struct sf_text){entry->text, entry->bytes}, text)) {
                return at;
            }
        }
    }
}

static uint32_t hash_of(const struct sf_intern *intern, struct sf_text text) {
    return (uint32_t)sf_hash(intern->key, text);
}

uint32_t sf_intern_find(const struct sf_intern *intern, struct sf_text text) {
    if (intern->n_living == 0) {
        return SF_NO_ID;
    }
    return intern->buckets[find_bucket(intern, text, hash_of(intern, text))].id;
}

/* Move everything to `n` buckets. */
static enum sf_status resize_buckets(struct sf_intern *intern, uint32_t n) {
    struct sf_intern_bucket *buckets = malloc(n * sizeof *buckets);
    if (buckets == NULL) {
        return SF_E_NOMEM;
    }
    for (uint32_t i = 0; i < n; i++) {
        buckets[i] = (struct sf_intern_bucket){.id = SF_NO_ID};
    }
    for (uint32_t i = 0; i < intern->n_buckets; i++) {
        struct sf_intern_bucket bucket = intern->buckets[i];
        if (bucket.id != SF_NO_ID) {
            uint32_t at = bucket.hash & (n - 1);
            while (buckets[at].id != SF_NO_ID) {
                at = (at + 1) & (n - 1);
            }
            buckets[at] = bucket;
        }
    }
    free(intern->buckets);
    intern->buckets = buckets;
    intern->n_buckets = n;
    return SF_OK;
}

/* Empty a bucket and move up those behind it that would not be found any more. */
static void clear_bucket(struct sf_intern *intern, uint32_t hole) {
    uint32_t mask = intern->n_buckets - 1;
    for (uint32_t at = (hole + 1) & mask; intern->buckets[at].id != SF_NO_ID;
         at = (at + 1) & mask) {
        uint32_t home = intern->buckets[at].hash & mask;
        if (((at - home) & mask) >= ((at - hole) & mask)) {
            intern->buckets[hole] = intern->buckets[at];
            hole = at;
        }
    }
    intern->buckets[hole].id = SF_NO_ID;
}

/* ---- entries --------------------------------------------------------------------------------------------------- */

static enum sf_status reserve_entry(struct sf_intern *intern) {
    if (intern->first_free != SF_NO_ID || intern->n_used < intern->n_entries) {
        return SF_OK;
    }
    if (intern->n_entries >= SF_MAX_INTERNED) {
        return SF_E_NOMEM;
    }
    uint32_t n = intern->n_entries == 0 ? LEAST_ENTRIES : 2 * intern->n_entries;
    struct sf_interned *entries = realloc(intern->entries, n * sizeof *entries);
    if (entries == NULL) {
        return SF_E_NOMEM;
    }
    intern->entries = entries;
    intern->n_entries = n;
    return SF_OK;
}

/* Buckets are at most half full with one more. */
static enum sf_status reserve_bucket(struct sf_intern *intern) {
    if (intern->n_living < intern->n_buckets / 2) {
        return SF_OK;
    }
    return resize_buckets(intern, intern->n_buckets == 0 ? LEAST_BUCKETS : 2 * intern->n_buckets);
}

static uint32_t take_id(struct sf_intern *intern) {
    uint32_t id = intern->first_free;
    if (id == SF_NO_ID) {
        return intern->n_used++;
    }
    intern->first_free = intern->entries[id].next_free;
    return id;
}

static enum sf_status add(struct sf_intern *intern, struct sf_text text, uint32_t hash,
                          uint32_t *id_out) {
    char *copy = malloc(text.bytes + 1);
    if (copy == NULL || reserve_entry(intern) != SF_OK || reserve_bucket(intern) != SF_OK) {
        free(copy);
        return SF_E_NOMEM;
    }
    if (text.bytes > 0) {
        memcpy(copy, text.at, text.bytes);
    }
    copy[text.bytes] = '\0';
    uint32_t id = take_id(intern);
    intern->entries[id] =
        (struct sf_interned){.text = copy, .bytes = text.bytes, .hash = hash, .n_references = 1};
    intern->buckets[find_bucket(intern, text, hash)] = (struct sf_intern_bucket){hash, id};
    intern->n_living++;
    *id_out = id;
    return SF_OK;
}

enum sf_status sf_intern_acquire(struct sf_intern *intern, struct sf_text text, uint32_t *id_out) {
    uint32_t hash = hash_of(intern, text);
    if (intern->n_living > 0) {
        uint32_t id = intern->buckets[find_bucket(intern, text, hash)].id;
        if (id != SF_NO_ID) {
            intern->entries[id].n_references++;
            *id_out = id;
            return SF_OK;
        }
    }
    return add(intern, text, hash, id_out);
}

bool sf_intern_release(struct sf_intern *intern, uint32_t id) {
    struct sf_interned *entry = &intern->entries[id];
    if (--entry->n_references > 0) {
        return false;
    }
    clear_bucket(intern,
                 find_bucket(intern, (struct sf_text){entry->text, entry->bytes}, entry->hash));
    free(entry->text);
    *entry = (struct sf_interned){.next_free = intern->first_free};
    intern->first_free = id;
    intern->n_living--;
    /* Room that is not needed any more is given back; when there is no memory even for that, it stays. */
    if (intern->n_buckets > LEAST_BUCKETS && intern->n_living < intern->n_buckets / 8) {
        (void)resize_buckets(intern, intern->n_buckets / 2);
    }
    return true;
}
