/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Compiled filters.
 *
 * A program is one block: this header, the instructions, the data that they refer to by offset. It holds no pointers and
 * is never changed; equal expressions give equal bytes. Jumps go forward only, so a program ends.
 *
 *     a > 5 AND (b = 'x' OR c)        0 compare a > 5          false: answer
 *                                     1   equal b 'x'          true: 4
 *                                     2   is-true c            true: 4
 *                                     3   join                 false: answer
 *                                     4 return true
 *
 * Conditions that AND or OR joins are a *group*; nested groups alternate, and have a depth. In an AND group the truth that
 * decides is false, in an OR group true: each instruction says which (`stop`). A condition that gives it jumps behind its
 * group, for a nested group means nothing then to the group around it: true is nothing new to an AND. One that is unknown
 * marks the group. When the end of a nested group is reached, JOIN hands its truth to the group around it: unknown marks
 * that as well; else it is the truth that stops it. RETURN is the end of the outermost group.
 *
 * Where the truth of a condition is an operand ((a = b) = c, (a > 5) IS NULL) the condition is a group that ends in SETTLE
 * and SET, which put the truth into a register. */
#ifndef SUBFILTER_PROGRAM_H
#define SUBFILTER_PROGRAM_H

#include <stdint.h>

#include "number.h"
#include "subfilter.h"
#include "text.h"

enum sf_opcode {
#define SF_OPCODE(name, text, operands) SF_OP_##name,
#include "opcodes.def"
#undef SF_OPCODE
    SF_N_OPCODES,
};

/* What the operand fields mean depends on the opcode. */
struct sf_instruction {
    uint8_t opcode;
    uint8_t
        stop; /* predicates, JOIN: the truth that ends the group; RETURN, SETTLE: its truth at the end */
    uint8_t
        accepted; /* comparisons: bits of sf_relation that make it true; others: 1, or 0 when it is negated */
    bool strict;    /* only integers count (strict_integers) */
    uint16_t depth; /* of the group */
    uint16_t
        jump; /* instructions to skip forward when the group ends here; 0: the answer is `stop` */
    uint32_t slot;  /* a value; or the first register */
    uint32_t bytes; /* of a text; of a set: how many texts; or the second slot or register */
    union {
        int64_t integer;
        double real;
        uint64_t word;      /* sf_text_word of the text */
        uint64_t n_numbers; /* of a set */
    };
    union {
        int64_t high;    /* BETWEEN: the upper bound */
        uint64_t offset; /* of a text or set in the data; JOIN: the depth of the group around */
    };
};

/* A text of a set. The texts come first, in ascending order of sf_set_order, then the numbers. */
struct sf_set_text {
    uint64_t word;
    uint32_t bytes;
    uint32_t offset;
};

struct sf_set_number {
    uint64_t kind; /* enum sf_number_kind */
    union {
        int64_t integer;
        double real;
    };
};

struct sf_program {
    uint32_t n_instructions;
    uint32_t data_bytes;
    uint16_t n_depths;  /* groups are nested that deep: at least 1 */
    uint16_t n_numbers; /* registers */
    uint16_t n_truths;
    uint16_t unused;
    struct sf_instruction code[];
};

/* No program needs more: each level and each register belongs to an operator that is open. */
enum { SF_MAX_DEPTHS = SF_MAX_OPERATORS + 2, SF_MAX_REGISTERS = SF_MAX_OPERATORS + 2 };

static inline const char *sf_program_data(const struct sf_program *program) {
    return (const char *)(program->code + program->n_instructions);
}

static inline struct sf_text sf_program_text(const struct sf_program *program, uint64_t offset,
                                             uint32_t bytes) {
    return (struct sf_text){sf_program_data(program) + offset, bytes};
}

size_t sf_program_bytes(const struct sf_program *program);

/* Whether everything a program refers to is there, so that evaluating it against values with `n_slots` slots reads
 * nothing else. For asserts and tests: the compiler makes no others. */
bool sf_program_is_valid(const struct sf_program *program, uint32_t n_slots);

/* The name of a slot, for listings. */
typedef struct sf_text sf_slot_name_fn(const void *user, uint32_t slot);

void sf_program_write(const struct sf_program *program, sf_slot_name_fn *name,
                      const void *name_user, sf_write_fn *write, void *write_user);

#endif
