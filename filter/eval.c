/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Running programs. There is a loop, run(), that has all instructions; and for those that filters mostly consist of
 * there are steps, functions that each end by calling the next one, which compilers make a jump. sf_eval goes by steps
 * and gets into the loop when something rarer comes. Both take what an instruction does from the same functions.
 *
 * What values of messages are is anybody's guess, a processor's too, and a wrong guess costs more time than several
 * comparisons. So in steps nothing branches on it but whether a value is there at all. There are no other calls either,
 * so that all they work with stays in registers. */
#include "eval.h"

#include "like.h"
#include "set.h"

/* ---- conditions in a few instructions -------------------------------------------------------------------------- */

/* What a predicate that is known says to its group: SF_DECIDED or nothing. `holds` is 0 or 1. */
static inline unsigned bits_of(unsigned holds, const struct sf_instruction *at) {
    return holds ^ at->flip;
}

_Static_assert(SF_DECIDED == 1, "bits_of gives this bit");

/* EQUAL; whether it may be EQUAL_LONG. */
static inline unsigned equal(const struct sf_instruction *at, const struct sf_value *value) {
    return bits_of((value->bytes == at->bytes) & (value->word == at->word), at);
}

static inline bool may_be_equal(const struct sf_instruction *at, const struct sf_value *value) {
    return value->bytes == at->bytes && value->word == at->word;
}

static inline unsigned less(const struct sf_instruction *at, const struct sf_value *value) {
    return bits_of(sf_rank_is_less(value->rank, at->rank), at);
}

static inline unsigned same(const struct sf_instruction *at, const struct sf_value *value) {
    return bits_of(sf_rank_is_equal(value->rank, at->rank), at);
}

static inline unsigned between(const struct sf_instruction *at, const struct sf_value *value) {
    const struct sf_rank low = {at->low, SF_RANK_NO_REST};
    const struct sf_rank above = {at->high, SF_RANK_NO_REST + 1};
    return bits_of((sf_rank_is_less(value->rank, low) ^ 1) & sf_rank_is_less(value->rank, above),
                   at);
}

/* No two texts of a set have the same word and different lengths, since none has a NUL. */
static inline unsigned in_few(const struct sf_instruction *at, const struct sf_value *value) {
    const struct sf_set_text *texts = sf_instruction_data(at);
    uint32_t found = 0; /* 1 + the length of the text that has the value's word */
    for (uint32_t i = 0; i < at->bytes; i++) {
        found |= (0u - (texts[i].word == value->word)) & (texts[i].bytes + 1);
    }
    return bits_of(found == value->bytes + 1, at);
}

static inline unsigned starts_with(const struct sf_instruction *at, const struct sf_value *value) {
    return bits_of((value->bytes >= at->bytes) & ((value->word & at->mask) == at->word), at);
}

/* A bit makes a letter of ASCII small, and letters of no other character. Blanks have just that bit. */
static inline unsigned is_true(const struct sf_instruction *at, const struct sf_value *value) {
    const uint64_t blanks = UINT64_C(0x2020202020202020);
    uint64_t word = value->word | blanks;
    unsigned is_true = (value->bytes == 4) & (word == at->word);
    unsigned is_false = (value->bytes == 5) & (word == at->word_of_false);
    return (is_true | is_false) != 0 ? bits_of(is_true, at) : (unsigned)SF_DOUBTFUL;
}

static inline unsigned is_present(const struct sf_instruction *at, const struct sf_value *value) {
    return bits_of((value->state & SF_VALUE_ABSENT) == 0, at);
}

/* ---- conditions on one value ----------------------------------------------------------------------------------- */

static bool in(const struct sf_instruction *at, struct sf_message *message, uint32_t index,
               bool *is_unknown_out) {
    const struct sf_value *value = &message->values[index];
    bool is_absent = (value->state & SF_VALUE_ABSENT) != 0;
    enum sf_truth truth = SF_FALSE;
    if (!is_absent && sf_set_has_text(at, sf_message_text(message, index), value->word)) {
        return true;
    }
    if (at->n_numbers > 0) {
        truth = sf_set_has_number(at, value);
    }
    *is_unknown_out = truth == SF_UNKNOWN;
    return truth == SF_TRUE;
}

/* Conditions that look at the text itself. */
static unsigned test_text(const struct sf_instruction *at, struct sf_message *message,
                          uint32_t index) {
    struct sf_text text = sf_message_text(message, index);
    bool holds = false;
    bool is_unknown = false;
    switch ((enum sf_opcode)at->opcode) {
    case SF_OP_EQUAL_LONG:
        holds = may_be_equal(at, &message->values[index]) &&
                sf_text_equal(text, sf_instruction_text(at));
        break;
    case SF_OP_EQUAL_SLOTS:
        is_unknown = (message->values[at->bytes].state & SF_VALUE_ABSENT) != 0;
        holds = !is_unknown && sf_text_equal(text, sf_message_text(message, at->bytes));
        break;
    case SF_OP_STARTS_WITH_LONG:
        holds = sf_starts_with(text, sf_instruction_text(at));
        break;
    case SF_OP_ENDS_WITH:
        holds = sf_ends_with(text, sf_instruction_text(at));
        break;
    case SF_OP_CONTAINS:
        holds = sf_contains(text, sf_instruction_text(at));
        break;
    case SF_OP_LIKE:
        holds = sf_like_match(sf_instruction_text(at), text);
        break;
    default: /* IN */
        holds = in(at, message, index, &is_unknown);
        break;
    }
    return is_unknown ? (unsigned)SF_DOUBTFUL : bits_of(holds, at);
}

/* Any condition, on values[index] alone. */
static unsigned test_one(const struct sf_instruction *at, struct sf_message *message,
                         uint32_t index) {
    struct sf_value *value = &message->values[index];
    if ((value->state & at->heeds & SF_VALUE_UNTRIED) != 0) {
        (void)sf_message_number(message, index);
    }
    if ((value->state & at->heeds & ~(unsigned)SF_VALUE_EARLIER) != 0) {
        return SF_DOUBTFUL;
    }
    switch ((enum sf_opcode)at->opcode) {
    case SF_OP_EQUAL:
        return equal(at, value);
    case SF_OP_LESS:
        return less(at, value);
    case SF_OP_SAME:
        return same(at, value);
    case SF_OP_BETWEEN:
        return between(at, value);
    case SF_OP_IN_FEW:
        return in_few(at, value);
    case SF_OP_STARTS_WITH:
        return starts_with(at, value);
    case SF_OP_IS_TRUE:
        return is_true(at, value);
    case SF_OP_IS_PRESENT:
        return is_present(at, value);
    default:
        return test_text(at, message, index);
    }
}

/* Any condition on the value of a name; where any value of the name may hold, the truths for all joined by OR. */
static unsigned test(const struct sf_instruction *at, struct sf_message *message) {
    unsigned when_true = at->stop == SF_TRUE ? SF_DECIDED : 0;
    uint32_t index = at->slot;
    unsigned bits = test_one(at, message, index);
    while (bits != when_true &&
           (message->values[index].state & at->heeds & SF_VALUE_EARLIER) != 0) {
        index = sf_message_earlier(message, index);
        unsigned own = test_one(at, message, index);
        bits = own == when_true || own == SF_DOUBTFUL ? own : bits;
    }
    return bits;
}

/* ---- registers ------------------------------------------------------------------------------------------------- */

/* Where a program keeps what it computes, and the bits of groups that do not fit into a word. */
struct registers {
    struct sf_number numbers[SF_MAX_REGISTERS];
    uint8_t truths[SF_MAX_REGISTERS];
    uint64_t outer_bits[SF_MAX_DEPTHS / SF_DEPTHS_IN_WORD + 1];
};

/* Instructions that put a number into a register. */
static void compute(const struct sf_instruction *at, struct sf_message *message,
                    struct sf_number *numbers) {
    struct sf_number *result = &numbers[at->slot];
    switch ((enum sf_opcode)at->opcode) {
    case SF_OP_LOAD_INTEGER:
        *result = sf_number_integer(at->integer);
        break;
    case SF_OP_LOAD_REAL:
        *result = sf_number_real(at->real);
        break;
    case SF_OP_LOAD_SLOT:
        *result = sf_message_number(message, at->bytes);
        break;
    case SF_OP_ADD:
        *result = sf_number_add(*result, numbers[at->bytes]);
        break;
    case SF_OP_SUBTRACT:
        *result = sf_number_subtract(*result, numbers[at->bytes]);
        break;
    case SF_OP_MULTIPLY:
        *result = sf_number_multiply(*result, numbers[at->bytes]);
        break;
    case SF_OP_DIVIDE:
        *result = sf_number_divide(*result, numbers[at->bytes]);
        break;
    case SF_OP_NEGATE:
        *result = sf_number_negate(*result);
        break;
    default: /* LOAD_NONE */
        *result = sf_number_none();
        break;
    }
}

static unsigned compare_numbers(const struct sf_instruction *at, const struct sf_number *numbers) {
    struct sf_number left = numbers[at->slot];
    struct sf_number right = numbers[at->bytes];
    if (left.kind == SF_NUMBER_NONE || right.kind == SF_NUMBER_NONE) {
        return SF_DOUBTFUL;
    }
    return bits_of((sf_number_compare(left, right) & at->accepts) != 0, at);
}

static unsigned equal_truths(const struct sf_instruction *at, const uint8_t *truths) {
    unsigned left = truths[at->slot];
    unsigned right = truths[at->bytes];
    bool is_unknown = left == SF_UNKNOWN || right == SF_UNKNOWN;
    return is_unknown ? (unsigned)SF_DOUBTFUL : bits_of(left == right, at);
}

/* ---- groups ---------------------------------------------------------------------------------------------------- */

/* `bits` holds two bits for each group that is open, those of the innermost lowest. BEGIN, JOIN and SETTLE have in
 * `bytes` the depth of the group around theirs. */

static inline bool is_word_full(uint32_t depth) {
    return depth % SF_DEPTHS_IN_WORD == SF_DEPTHS_IN_WORD - 1;
}

static uint64_t begin(const struct sf_instruction *at, uint64_t bits, struct registers *registers) {
    if (!is_word_full(at->bytes)) {
        return bits << 2;
    }
    registers->outer_bits[at->bytes / SF_DEPTHS_IN_WORD] = bits;
    return 0;
}

/* The bits of the group around. */
static uint64_t end(const struct sf_instruction *at, uint64_t bits,
                    const struct registers *registers) {
    return is_word_full(at->bytes) ? registers->outer_bits[at->bytes / SF_DEPTHS_IN_WORD]
                                   : bits >> 2;
}

static inline enum sf_truth truth_at_end(const struct sf_instruction *at, uint64_t bits) {
    return (enum sf_truth)sf_truth_of_group(at->truths, bits & 3);
}

/* ---- the loop -------------------------------------------------------------------------------------------------- */

/* Go on from `at` to the end. */
static enum sf_truth run(struct sf_message *message, const struct sf_instruction *at,
                         uint64_t bits) {
    struct registers registers;
    for (;;) {
        switch ((enum sf_opcode)at->opcode) {
        case SF_OP_CONSTANT:
            bits |= at->flip;
            break;
        default: /* all that look at a value */
            bits |= test(at, message);
            break;
        case SF_OP_COMPARE_NUMBERS:
            bits |= compare_numbers(at, registers.numbers);
            break;
        case SF_OP_IS_NUMBER:
            bits |= bits_of(registers.numbers[at->slot].kind != SF_NUMBER_NONE, at);
            break;
        case SF_OP_EQUAL_TRUTHS:
            bits |= equal_truths(at, registers.truths);
            break;
        case SF_OP_IS_KNOWN:
            bits |= bits_of(registers.truths[at->slot] != SF_UNKNOWN, at);
            break;
        case SF_OP_LOAD_INTEGER:
        case SF_OP_LOAD_REAL:
        case SF_OP_LOAD_NONE:
        case SF_OP_LOAD_SLOT:
        case SF_OP_ADD:
        case SF_OP_SUBTRACT:
        case SF_OP_MULTIPLY:
        case SF_OP_DIVIDE:
        case SF_OP_NEGATE:
            compute(at++, message, registers.numbers);
            continue;
        case SF_OP_BEGIN:
            bits = begin(at++, bits, &registers);
            continue;
        case SF_OP_JOIN:
            bits = (at->is_first ? bits & ~UINT64_C(3) : end(at, bits, &registers)) |
                   sf_bits_of_nested(bits & 3);
            break;
        case SF_OP_SETTLE:
            registers.truths[at->slot] = (uint8_t)truth_at_end(at, bits);
            bits = end(at++, bits, &registers);
            continue;
        case SF_OP_RETURN:
            return truth_at_end(at, bits);
        }
        if (at->jump == SF_LAST) {
            return truth_at_end(at, bits);
        }
        at += at->jump != 0 && (bits & SF_DECIDED) != 0 ? at->jump : 1;
    }
}

enum sf_truth sf_run(const struct sf_program *program, struct sf_message *message) {
    return run(message, program->code, 0);
}

/* ---- steps ----------------------------------------------------------------------------------------------------- */

/* The instruction `at` and all behind it. */
typedef enum sf_truth step_fn(const struct sf_value *values, const struct sf_instruction *at,
                              uint64_t bits, struct sf_message *message);

static step_fn *const steps[SF_N_OPCODES * SF_N_NEXT];

static inline enum sf_truth step(const struct sf_value *values, const struct sf_instruction *at,
                                 uint64_t bits, struct sf_message *message) {
    return steps[at->step](values, at, bits, message);
}

/* What comes after a condition. */
static inline enum sf_truth go_on(enum sf_next next, const struct sf_value *values,
                                  const struct sf_instruction *at, uint64_t bits,
                                  struct sf_message *message) {
    if (next == SF_NEXT_IS_THE_END) {
        return truth_at_end(at, bits);
    }
    bool leaves = next == SF_NEXT_MAY_LEAVE && (bits & SF_DECIDED) != 0;
    return step(values, at + (leaves ? at->jump : 1), bits, message);
}

/* A condition on a value that is in one of the states that it heeds. */
static enum sf_truth step_odd(const struct sf_value *values, const struct sf_instruction *at,
                              uint64_t bits, struct sf_message *message) {
    unsigned odd = values[at->slot].state & at->heeds;
    if ((odd & (SF_VALUE_EARLIER | SF_VALUE_UNTRIED)) != 0) {
        return run(message, at, bits);
    }
    enum sf_next next = (enum sf_next)(at->step % SF_N_NEXT);
    return go_on(next, values, at, bits | SF_DOUBTFUL, message);
}

/* Three steps of each kind: `next` is known in each, so none looks at `jump` in vain. */
#define STEP(kind, suffix, next)                                                                   \
    static enum sf_truth step_##kind##suffix(const struct sf_value *values,                        \
                                             const struct sf_instruction *at, uint64_t bits,       \
                                             struct sf_message *message) {                         \
        return kind##_then(next, values, at, bits, message);                                       \
    }
#define STEPS(kind)                                                                                \
    STEP(kind, , SF_NEXT_GOES_ON)                                                                  \
    STEP(kind, _or_leave, SF_NEXT_MAY_LEAVE)                                                       \
    STEP(kind, _at_end, SF_NEXT_IS_THE_END)

/* Of a condition that is not odd. */
#define CONDITION_STEPS(kind)                                                                      \
    static inline enum sf_truth kind##_then(enum sf_next next, const struct sf_value *values,      \
                                            const struct sf_instruction *at, uint64_t bits,        \
                                            struct sf_message *message) {                          \
        const struct sf_value *value = &values[at->slot];                                          \
        if ((value->state & at->heeds) != 0) {                                                     \
            return step_odd(values, at, bits, message);                                            \
        }                                                                                          \
        return go_on(next, values, at, bits | kind(at, value), message);                           \
    }                                                                                              \
    STEPS(kind)

CONDITION_STEPS(equal)
CONDITION_STEPS(less)
CONDITION_STEPS(same)
CONDITION_STEPS(between)
CONDITION_STEPS(in_few)
CONDITION_STEPS(starts_with)
CONDITION_STEPS(is_true)
CONDITION_STEPS(is_present)

static inline enum sf_truth equal_long_then(enum sf_next next, const struct sf_value *values,
                                            const struct sf_instruction *at, uint64_t bits,
                                            struct sf_message *message) {
    const struct sf_value *value = &values[at->slot];
    if ((value->state & at->heeds) != 0) {
        return step_odd(values, at, bits, message);
    }
    if (may_be_equal(at, value)) {
        return run(message, at, bits);
    }
    return go_on(next, values, at, bits | bits_of(0, at), message);
}
STEPS(equal_long)

static inline enum sf_truth begin_then(enum sf_next next, const struct sf_value *values,
                                       const struct sf_instruction *at, uint64_t bits,
                                       struct sf_message *message) {
    (void)next;
    if (is_word_full(at->bytes)) {
        return run(message, at, bits);
    }
    return step(values, at + 1, bits << 2, message);
}
STEPS(begin)

static inline enum sf_truth join_then(enum sf_next next, const struct sf_value *values,
                                      const struct sf_instruction *at, uint64_t bits,
                                      struct sf_message *message) {
    uint64_t outer = at->is_first ? bits & ~UINT64_C(3) : bits >> 2;
    return go_on(next, values, at, outer | sf_bits_of_nested(bits & 3), message);
}
STEPS(join)

/* Of anything else. */
static inline enum sf_truth other_then(enum sf_next next, const struct sf_value *values,
                                       const struct sf_instruction *at, uint64_t bits,
                                       struct sf_message *message) {
    (void)next;
    (void)values;
    return run(message, at, bits);
}
STEPS(other)

/* In the order of sf_step_of. */
static step_fn *const steps[SF_N_OPCODES * SF_N_NEXT] = {
#define SF_OPCODE(name, text, operands, kind)                                                      \
    step_##kind, step_##kind##_or_leave, step_##kind##_at_end,
#include "opcodes.def"
#undef SF_OPCODE
};

enum sf_truth sf_eval(const struct sf_filter *filter, struct sf_message *message) {
    if (!sf_message_is_bound(message)) {
        return sf_message_verdict(message);
    }
    return step(message->values, sf_filter_program(filter)->code, 0, message);
}
