/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sets. Texts are kept in ascending order of length, first eight bytes and the rest, each once, and looked for by
 * halving; but short lists of short texts are compared one by one in the evaluator. */
#include "set.h"

#include <stdlib.h>

/* A text while sets are built. */
struct element {
    struct sf_text text;
    uint64_t word;
};

static int compare_words(uint64_t left, uint64_t right) {
    return left < right ? -1 : left > right;
}

static int compare_elements(const void *left, const void *right) {
    const struct element *a = left;
    const struct element *b = right;
    int order = compare_words(a->text.bytes, b->text.bytes);
    if (order == 0) {
        order = compare_words(a->word, b->word);
    }
    if (order == 0 && a->text.bytes > 0) {
        order = memcmp(a->text.at, b->text.at, a->text.bytes);
    }
    return order;
}

static size_t count(const struct sf_node *first, enum sf_node_type type) {
    size_t n = 0;
    for (const struct sf_node *node = first; node != NULL; node = node->next) {
        n += node->type == type ? 1 : 0;
    }
    return n;
}

/* Texts in order, each once; NULL: out of memory. */
static struct element *collect_texts(struct sf_arena *arena, const struct sf_node *first,
                                     uint32_t *n_out) {
    size_t n = count(first, SF_NODE_STRING);
    struct element *elements = sf_arena_alloc(arena, (n + 1) * sizeof *elements);
    if (elements == NULL) {
        return NULL;
    }
    n = 0;
    for (const struct sf_node *node = first; node != NULL; node = node->next) {
        if (node->type == SF_NODE_STRING) {
            elements[n].text = node->text;
            elements[n++].word = sf_text_word(node->text.at, node->text.bytes);
        }
    }
    qsort(elements, n, sizeof *elements, compare_elements);
    size_t n_different = 0;
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || compare_elements(&elements[i], &elements[n_different - 1]) != 0) {
            elements[n_different++] = elements[i];
        }
    }
    *n_out = (uint32_t)n_different;
    return elements;
}

static void add_texts(struct sf_buffer *data, const struct element *elements, uint32_t n,
                      size_t offset) {
    for (uint32_t i = 0; i < n; i++) {
        struct sf_set_text text = {.word = elements[i].word,
                                   .bytes = (uint32_t)elements[i].text.bytes,
                                   .offset = (uint32_t)offset};
        sf_buffer_add(data, (const char *)&text, sizeof text);
        offset += elements[i].text.bytes;
    }
}

/* The states of a value that make it unknown whether it is this number. */
static uint64_t heeds_of(enum sf_number_kind kind, bool is_strict) {
    return SF_VALUE_NO_NUMBER | (is_strict && kind == SF_NUMBER_INTEGER ? SF_VALUE_REAL : 0);
}

static uint32_t add_numbers(struct sf_buffer *data, const struct sf_node *first, bool is_strict) {
    uint32_t n = 0;
    for (const struct sf_node *node = first; node != NULL; node = node->next) {
        if (node->type == SF_NODE_NUMBER) {
            struct sf_set_number number = {.rank = sf_number_rank(node->number),
                                           .heeds = heeds_of(node->number.kind, is_strict)};
            sf_buffer_add(data, (const char *)&number, sizeof number);
            n++;
        }
    }
    return n;
}

enum sf_status sf_set_build(struct sf_set *set_out, struct sf_arena *arena, struct sf_buffer *data,
                            const struct sf_node *first, bool is_strict) {
    static const char zeros[8] = {0};
    *set_out = (struct sf_set){0};
    struct element *elements = collect_texts(arena, first, &set_out->n_texts);
    if (elements == NULL) {
        return SF_E_NOMEM;
    }
    sf_buffer_add(data, zeros, -data->bytes % sizeof zeros); /* words stand at multiples of eight */
    set_out->offset = (uint32_t)data->bytes;
    size_t texts_offset = set_out->n_texts * sizeof(struct sf_set_text) +
                          count(first, SF_NODE_NUMBER) * sizeof(struct sf_set_number);
    add_texts(data, elements, set_out->n_texts, texts_offset);
    set_out->n_numbers = add_numbers(data, first, is_strict);
    for (uint32_t i = 0; i < set_out->n_texts; i++) {
        sf_buffer_add(data, elements[i].text.at, elements[i].text.bytes);
    }
    return data->failed ? SF_E_NOMEM : SF_OK;
}

bool sf_set_is_few(const struct sf_set *set, const struct sf_buffer *data) {
    if (set->n_numbers > 0 || set->n_texts > SF_SET_FEW) {
        return false;
    }
    const void *start = data->at + set->offset;
    const struct sf_set_text *texts = start;
    return texts[set->n_texts - 1].bytes <= sizeof texts->word; /* the last is the longest */
}

/* ---- looking --------------------------------------------------------------------------------------------------- */

/* The order of the set, of a text in it and another. */
static int compare(const struct sf_set_text *set, const struct sf_set_text *own,
                   struct sf_text text, uint64_t word) {
    int order = compare_words(own->bytes, text.bytes);
    if (order == 0) {
        order = compare_words(own->word, word);
    }
    if (order == 0 && own->bytes > sizeof word) {
        order = memcmp((const char *)set + own->offset, text.at, text.bytes);
    }
    return order;
}

bool sf_set_has_text(const struct sf_instruction *in, struct sf_text text, uint64_t word) {
    const struct sf_set_text *set = sf_instruction_data(in);
    size_t low = 0;
    size_t high = in->bytes;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = compare(set, &set[middle], text, word);
        if (order == 0) {
            return true;
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return false;
}

enum sf_truth sf_set_has_number(const struct sf_instruction *in, const struct sf_value *value) {
    const struct sf_set_number *numbers = sf_set_numbers(in);
    enum sf_truth truth = SF_FALSE;
    for (uint64_t i = 0; i < in->n_numbers; i++) {
        if ((numbers[i].heeds & value->state) != 0) {
            truth = SF_UNKNOWN;
        } else if (sf_rank_is_equal(numbers[i].rank, value->rank)) {
            return SF_TRUE;
        }
    }
    return truth;
}
