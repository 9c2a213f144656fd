/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Compiled filters.
 *
 * A program is one block: this header, the instructions, the data that they refer to by offset. It holds no pointers
 * and is never changed; equal expressions give equal bytes. Jumps go forward only, so a program ends.
 *
 *     a > 5 AND (b = 'x' OR c) AND d LIKE 'x_%'      0   equal b 'x'
 *                                                    1   is-true c
 *                                                    2 join or
 *                                                    3 compare a > 5                false: 5
 *                                                    4 like d 'x_%'                 last
 *                                                    5 return false else true
 *
 * Conditions that AND or OR joins are a *group*. One truth decides a group, whatever the others are: false an AND, true
 * an OR; it is the `stop` of its conditions. Evaluation keeps two bits for a group: whether a condition gave that
 * truth, and whether one was unknown. At the group's end they give its truth. Nothing depends on the order of the
 * conditions.
 *
 * Cheap conditions are all evaluated: to leave the group at the first that decides takes a branch that is taken or not
 * as the messages have it, and a processor that guesses wrong loses more time than several comparisons take. A
 * condition with a `jump` does leave a decided group: there is one before each condition that may be costly, and one
 * now and then in a long row of cheap ones. Costly conditions come last in their group. */
#ifndef SUBFILTER_PROGRAM_H
#define SUBFILTER_PROGRAM_H

#include <stdint.h>

#include "number.h"
#include "subfilter.h"
#include "text.h"

enum sf_opcode {
#define SF_OPCODE(name, text, operands, kind) SF_OP_##name,
#include "opcodes.def"
#undef SF_OPCODE
    SF_N_OPCODES,
};

/* The two bits of a group. */
enum { SF_DECIDED = 1, SF_DOUBTFUL = 2 };

/* One instruction. What the fields mean depends on the opcode:
 *
 * - `flip` of a condition: 0 when its group is decided if the predicate holds, 1 when if it does not. Of CONSTANT: the
 *   bits that it sets.
 * - `heeds` of a condition on a value: states of the value that need more than a comparison: SF_VALUE_EARLIER when any
 *   value of the name may hold (kv, tag), SF_VALUE_UNTRIED; in the other ones the truth is unknown.
 * - `jump` of a condition: how many instructions to go forward, to the group's end, when it is decided; 0: go on;
 *   SF_LAST: the outermost group ends with this condition.
 * - `bytes` of BEGIN, JOIN and SETTLE: the depth of the group around; of LESS and SAME: the relation as it was written,
 *   which only the listing needs. */
struct sf_instruction {
    uint8_t opcode;
    uint8_t step; /* which one sf_eval takes: sf_step_of */
    uint8_t flip;
    union {
        uint8_t heeds;
        uint8_t accepts; /* COMPARE_NUMBERS: the relation */
        bool is_first;   /* JOIN: the first thing in the group around, which has no bits yet */
    };
    uint8_t stop : 1;   /* conditions: the truth that decides their group */
    uint8_t indent : 7; /* of the listing: how deep the group is, modulo 128 */
    uint8_t truths;     /* SF_LAST, RETURN, SETTLE: the truths of the group, see sf_truths */
    uint16_t jump;
    uint32_t slot;  /* or the first register */
    uint32_t bytes; /* of a text; how many texts a set has; or the second slot or register */
    union {
        struct sf_rank rank; /* of a number */
        struct {
            union {
                uint64_t word;      /* sf_text_word of the text */
                int64_t low;        /* BETWEEN */
                int64_t integer;    /* to load */
                double real;        /* to load */
                uint64_t n_numbers; /* of a set */
            };
            union {
                uint64_t offset;        /* from here to a text or set in the data */
                uint64_t mask;          /* STARTS_WITH: of the bytes in the word that count */
                uint64_t word_of_false; /* IS_TRUE: what `word` is for true, with blanks behind */
                int64_t high;           /* BETWEEN */
            };
        };
    };
};

enum { SF_LAST = UINT16_MAX };

/* What comes after a condition, by its `jump`. */
enum sf_next { SF_NEXT_GOES_ON, SF_NEXT_MAY_LEAVE, SF_NEXT_IS_THE_END, SF_N_NEXT };

/* The `step` of an instruction with this opcode and jump. */
static inline uint8_t sf_step_of(unsigned opcode, unsigned jump) {
    unsigned next = jump == 0         ? SF_NEXT_GOES_ON
                    : jump == SF_LAST ? SF_NEXT_IS_THE_END
                                      : SF_NEXT_MAY_LEAVE;
    return (uint8_t)(opcode * SF_N_NEXT + next);
}

/* The truths of a group that `stop` decides, two bits for each value of the group's bits. */
static inline uint8_t sf_truths(unsigned stop) {
    const unsigned otherwise = stop ^ 1u;
    return (uint8_t)(otherwise | stop << 2 | (unsigned)SF_UNKNOWN << 4 | stop << 6);
}

static inline unsigned sf_truth_of_group(uint8_t truths, unsigned bits) {
    return (unsigned)truths >> (2 * bits) & 3;
}

/* What a nested group means to the group around, by its bits. The truth that decides one is nothing new to the other,
 * and the other way round. */
static inline unsigned sf_bits_of_nested(unsigned bits) {
    const unsigned undecided = SF_DECIDED;
    const unsigned doubtful = SF_DOUBTFUL;
    return (undecided | doubtful << (2 * SF_DOUBTFUL)) >> (2 * bits) & 3;
}

/* A text of a set. The texts come first, in ascending order of length, word and the rest, then the numbers. */
struct sf_set_text {
    uint64_t word;
    uint32_t bytes;
    uint32_t offset; /* from the start of the set */
};

struct sf_set_number {
    struct sf_rank rank;
    uint64_t heeds; /* states of a value that make it unknown whether it is this number */
};

struct sf_program {
    uint32_t n_instructions;
    uint32_t data_bytes;
    uint16_t n_depths;  /* groups are nested that deep: at least 1 */
    uint16_t n_numbers; /* registers */
    uint16_t n_truths;
    uint16_t
        guard; /* 1 + the first EQUAL or EQUAL_LONG that makes the program false unless it holds; 0: none */
    struct sf_instruction code[];
};

/* Groups of which the bits fit into one word while they are open. */
enum { SF_DEPTHS_IN_WORD = 32 };

/* No program needs more: each level and each register belongs to an operator that is open. */
enum { SF_MAX_DEPTHS = SF_MAX_OPERATORS + 2, SF_MAX_REGISTERS = SF_MAX_OPERATORS + 2 };

/* The text or set of an instruction. */
static inline const void *sf_instruction_data(const struct sf_instruction *at) {
    return (const char *)at + at->offset;
}

static inline struct sf_text sf_instruction_text(const struct sf_instruction *at) {
    return (struct sf_text){sf_instruction_data(at), at->bytes};
}

/* The numbers of a set; they are behind its texts. */
static inline const struct sf_set_number *sf_set_numbers(const struct sf_instruction *in) {
    const struct sf_set_text *texts = sf_instruction_data(in);
    const void *behind = texts + in->bytes;
    return behind;
}

/* Whether instructions of this kind have a text or set in the data. */
bool sf_opcode_has_data(enum sf_opcode opcode);

size_t sf_program_bytes(const struct sf_program *program);

/* Whether everything a program refers to is there, so that evaluating it against values with `n_slots` slots reads
 * nothing else. For asserts and tests: the compiler makes no others. */
bool sf_program_is_valid(const struct sf_program *program, uint32_t n_slots);

/* The name of a slot, for listings. */
typedef struct sf_text sf_slot_name_fn(const void *user, uint32_t slot);

void sf_program_write(const struct sf_program *program, sf_slot_name_fn *name,
                      const void *name_user, sf_write_fn *write, void *write_user);

#endif
