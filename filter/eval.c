/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Running programs.
 *
 * The common predicates are written out in the loop so that they need no call: a text is compared by its length and first
 * eight bytes, a number by the integer that the value remembers. What is rarer is a function of its own. */
#include "eval.h"

#include "like.h"
#include "set.h"

/* ---- values ---------------------------------------------------------------------------------------------------- */

static bool is_absent(const struct sf_value *value) {
    return value->bytes == SF_ABSENT;
}

/* Not inlined: the loop is left only for a value that is looked at as a number for the first time. */
__attribute__((noinline)) static void convert(struct sf_value *value) {
    struct sf_number number = sf_number_parse(sf_value_text(value));
    value->kind = (uint8_t)number.kind;
    if (number.kind == SF_NUMBER_INTEGER) {
        value->integer = number.integer;
    } else if (number.kind == SF_NUMBER_REAL) {
        value->real = number.real;
    }
}

struct sf_number sf_value_number(struct sf_value *value) {
    if (value->kind == SF_NUMBER_UNTRIED) {
        convert(value);
    }
    struct sf_number number = {.kind = (enum sf_number_kind)value->kind};
    if (number.kind == SF_NUMBER_INTEGER) {
        number.integer = value->integer;
    } else if (number.kind == SF_NUMBER_REAL) {
        number.real = value->real;
    }
    return number;
}

static struct sf_value *earlier_value(struct sf_message *message, const struct sf_value *value) {
    return value->earlier == 0 ? NULL : &message->earlier[value->earlier - 1];
}

/* ---- predicates ------------------------------------------------------------------------------------------------ */

static enum sf_truth truth_of(bool holds) {
    return holds ? SF_TRUE : SF_FALSE;
}

/* For a predicate whose operand is known. */
static enum sf_truth accept(bool holds, const struct sf_instruction *instruction) {
    return truth_of(holds == (instruction->accepted != 0));
}

static inline bool has_text(const struct sf_program *program,
                            const struct sf_instruction *instruction,
                            const struct sf_value *value) {
    return value->bytes == instruction->bytes && value->word == instruction->word &&
           (instruction->bytes <= sizeof instruction->word ||
            memcmp(value->at, sf_program_data(program) + instruction->offset, instruction->bytes) ==
                0);
}

static struct sf_number constant_of(const struct sf_instruction *instruction, bool is_integer) {
    return is_integer ? sf_number_integer(instruction->integer)
                      : (struct sf_number){.kind = SF_NUMBER_REAL, .real = instruction->real};
}

/* A value that is perhaps no number, or not of the constant's kind. */
static enum sf_truth compare_value(struct sf_value *value, const struct sf_instruction *instruction,
                                   bool is_integer) {
    struct sf_number number = sf_value_number(value);
    if (number.kind == SF_NUMBER_NONE ||
        (instruction->strict && number.kind != SF_NUMBER_INTEGER)) {
        return SF_UNKNOWN;
    }
    enum sf_relation relation = sf_number_compare(number, constant_of(instruction, is_integer));
    return truth_of((relation & instruction->accepted) != 0);
}

static enum sf_truth between(struct sf_value *value, const struct sf_instruction *instruction) {
    struct sf_number number = sf_value_number(value);
    if (number.kind == SF_NUMBER_NONE ||
        (instruction->strict && number.kind != SF_NUMBER_INTEGER)) {
        return SF_UNKNOWN;
    }
    bool holds = sf_number_compare(number, sf_number_integer(instruction->integer)) != SF_LESS &&
                 sf_number_compare(number, sf_number_integer(instruction->high)) != SF_GREATER;
    return accept(holds, instruction);
}

/* The numbers of a set; `number` is the value's. */
static enum sf_truth find_number(const struct sf_program *program, const struct sf_instruction *in,
                                 struct sf_number number) {
    const void *data =
        sf_program_data(program) + in->offset + in->bytes * sizeof(struct sf_set_text);
    const struct sf_set_number *numbers = data;
    enum sf_truth truth = SF_FALSE;
    if (number.kind == SF_NUMBER_NONE) {
        return SF_UNKNOWN;
    }
    for (uint64_t i = 0; i < in->n_numbers; i++) {
        bool is_integer = numbers[i].kind == SF_NUMBER_INTEGER;
        struct sf_number literal = {.kind = (enum sf_number_kind)numbers[i].kind,
                                    .integer = numbers[i].integer};
        if (is_integer && in->strict && number.kind != SF_NUMBER_INTEGER) {
            truth = SF_UNKNOWN;
        } else if (sf_number_compare(number, literal) == SF_EQUAL) {
            return SF_TRUE;
        }
    }
    return truth;
}

static enum sf_truth in_set(const struct sf_program *program, const struct sf_instruction *in,
                            struct sf_value *value) {
    if (sf_set_has_text(program, in, value)) {
        return accept(true, in);
    }
    enum sf_truth truth = in->n_numbers > 0  ? find_number(program, in, sf_value_number(value))
                          : is_absent(value) ? SF_UNKNOWN
                                             : SF_FALSE;
    return truth == SF_UNKNOWN ? truth : accept(truth == SF_TRUE, in);
}

static enum sf_truth text_predicate(const struct sf_program *program,
                                    const struct sf_instruction *instruction,
                                    const struct sf_value *value) {
    if (is_absent(value)) {
        return SF_UNKNOWN;
    }
    struct sf_text part = sf_program_text(program, instruction->offset, instruction->bytes);
    struct sf_text text = sf_value_text(value);
    switch ((enum sf_opcode)instruction->opcode) {
    case SF_OP_LIKE:
        return accept(sf_like_match(part, text), instruction);
    case SF_OP_CONTAINS:
        return accept(sf_contains(text, part), instruction);
    case SF_OP_STARTS_WITH:
        return accept(sf_starts_with(text, part), instruction);
    default:
        return accept(sf_ends_with(text, part), instruction);
    }
}

static enum sf_truth is_true(const struct sf_instruction *instruction,
                             const struct sf_value *value) {
    if (is_absent(value)) {
        return SF_UNKNOWN;
    }
    if (sf_text_is_word(sf_value_text(value), "true")) {
        return accept(true, instruction);
    }
    return sf_text_is_word(sf_value_text(value), "false") ? accept(false, instruction) : SF_UNKNOWN;
}

static enum sf_truth equal_slots(const struct sf_instruction *instruction,
                                 const struct sf_value *left, const struct sf_value *right) {
    if (is_absent(left) || is_absent(right)) {
        return SF_UNKNOWN;
    }
    return accept(sf_text_equal(sf_value_text(left), sf_value_text(right)), instruction);
}

/* One value of a predicate that asks all of them. */
static enum sf_truth test_value(const struct sf_program *program,
                                const struct sf_instruction *instruction, struct sf_value *value) {
    switch ((enum sf_opcode)instruction->opcode) {
    case SF_OP_ANY_EQUAL:
        return is_absent(value) ? SF_UNKNOWN : truth_of(has_text(program, instruction, value));
    case SF_OP_ANY_IN:
        return in_set(program, instruction, value);
    default:
        return compare_value(value, instruction, instruction->opcode == SF_OP_ANY_COMPARE_INTEGER);
    }
}

/* Whether it holds for any value of the name: the truths of all, joined by OR. */
static enum sf_truth any_value(const struct sf_program *program,
                               const struct sf_instruction *instruction,
                               struct sf_message *message) {
    enum sf_truth result = SF_FALSE;
    for (struct sf_value *value = &message->slots[instruction->slot]; value != NULL;
         value = earlier_value(message, value)) {
        enum sf_truth truth = test_value(program, instruction, value);
        if (truth == SF_TRUE) {
            return SF_TRUE;
        }
        result = truth == SF_UNKNOWN ? SF_UNKNOWN : result;
    }
    return result;
}

/* ---- registers ------------------------------------------------------------------------------------------------- */

static enum sf_truth compare_numbers(const struct sf_instruction *instruction,
                                     const struct sf_number *numbers) {
    struct sf_number left = numbers[instruction->slot];
    struct sf_number right = numbers[instruction->bytes];
    if (left.kind == SF_NUMBER_NONE || right.kind == SF_NUMBER_NONE) {
        return SF_UNKNOWN;
    }
    return truth_of((sf_number_compare(left, right) & instruction->accepted) != 0);
}

/* Instructions that put a number into a register. */
static void compute(const struct sf_instruction *instruction, struct sf_message *message,
                    struct sf_number *numbers) {
    struct sf_number *result = &numbers[instruction->slot];
    switch ((enum sf_opcode)instruction->opcode) {
    case SF_OP_LOAD_INTEGER:
        *result = constant_of(instruction, true);
        break;
    case SF_OP_LOAD_REAL:
        *result = constant_of(instruction, false);
        break;
    case SF_OP_LOAD_SLOT:
        *result = sf_value_number(&message->slots[instruction->bytes]);
        break;
    case SF_OP_ADD:
        *result = sf_number_add(*result, numbers[instruction->bytes]);
        break;
    case SF_OP_SUBTRACT:
        *result = sf_number_subtract(*result, numbers[instruction->bytes]);
        break;
    case SF_OP_MULTIPLY:
        *result = sf_number_multiply(*result, numbers[instruction->bytes]);
        break;
    case SF_OP_DIVIDE:
        *result = sf_number_divide(*result, numbers[instruction->bytes]);
        break;
    case SF_OP_NEGATE:
        *result = sf_number_negate(*result);
        break;
    default: /* LOAD_NONE */
        *result = sf_number_none();
        break;
    }
}

static enum sf_truth equal_truths(const struct sf_instruction *instruction, const uint8_t *truths) {
    uint8_t left = truths[instruction->slot];
    uint8_t right = truths[instruction->bytes];
    if (left == SF_UNKNOWN || right == SF_UNKNOWN) {
        return SF_UNKNOWN;
    }
    return accept(left == right, instruction);
}

/* ---- the loop -------------------------------------------------------------------------------------------------- */

/* Where a program keeps what it computes; only programs that need it get it. */
struct registers {
    struct sf_number numbers[SF_MAX_REGISTERS];
    uint8_t truths[SF_MAX_REGISTERS];
};

static enum sf_truth run(const struct sf_program *program, struct sf_message *message,
                         uint8_t *marks, struct registers *registers) {
    struct sf_value *slots = message->slots;
    const struct sf_instruction *at = program->code;
    enum sf_truth truth = SF_UNKNOWN;
    for (;;) {
        struct sf_value *value;
        switch ((enum sf_opcode)at->opcode) {
        case SF_OP_CONSTANT:
            truth = (enum sf_truth)at->accepted;
            break;
        case SF_OP_EQUAL:
            value = &slots[at->slot];
            truth = is_absent(value) ? SF_UNKNOWN : accept(has_text(program, at, value), at);
            break;
        case SF_OP_EQUAL_SLOTS:
            truth = equal_slots(at, &slots[at->slot], &slots[at->bytes]);
            break;
        case SF_OP_COMPARE_INTEGER:
            truth = compare_value(&slots[at->slot], at, true);
            break;
        case SF_OP_COMPARE_REAL:
            truth = compare_value(&slots[at->slot], at, false);
            break;
        case SF_OP_BETWEEN:
            truth = between(&slots[at->slot], at);
            break;
        case SF_OP_IN:
            truth = in_set(program, at, &slots[at->slot]);
            break;
        case SF_OP_LIKE:
        case SF_OP_CONTAINS:
        case SF_OP_STARTS_WITH:
        case SF_OP_ENDS_WITH:
            truth = text_predicate(program, at, &slots[at->slot]);
            break;
        case SF_OP_IS_TRUE:
            truth = is_true(at, &slots[at->slot]);
            break;
        case SF_OP_IS_PRESENT:
            truth = accept(!is_absent(&slots[at->slot]), at);
            break;
        case SF_OP_ANY_EQUAL:
        case SF_OP_ANY_COMPARE_INTEGER:
        case SF_OP_ANY_COMPARE_REAL:
        case SF_OP_ANY_IN:
            truth = any_value(program, at, message);
            break;
        case SF_OP_COMPARE_NUMBERS:
            truth = compare_numbers(at, registers->numbers);
            break;
        case SF_OP_IS_NUMBER:
            truth = accept(registers->numbers[at->slot].kind != SF_NUMBER_NONE, at);
            break;
        case SF_OP_EQUAL_TRUTHS:
            truth = equal_truths(at, registers->truths);
            break;
        case SF_OP_IS_KNOWN:
            truth = accept(registers->truths[at->slot] != SF_UNKNOWN, at);
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
            compute(at++, message, registers->numbers);
            continue;
        case SF_OP_JOIN:
            truth = marks[at->depth] != 0 ? SF_UNKNOWN : (enum sf_truth)at->stop;
            marks[at->depth] = 0;
            break;
        case SF_OP_SETTLE:
            registers->truths[at->slot] = marks[at->depth] != 0 ? SF_UNKNOWN : at->stop;
            marks[at->depth] = 0;
            at += at->jump;
            continue;
        case SF_OP_SET:
            registers->truths[at->slot] = at->stop;
            at++;
            continue;
        case SF_OP_RETURN:
        default:
            return marks[0] != 0 ? SF_UNKNOWN : (enum sf_truth)at->stop;
        }
        /* a predicate or JOIN: `outer` is the depth of the group that it belongs to */
        size_t outer = at->opcode == SF_OP_JOIN ? at->offset : at->depth;
        if (truth == (enum sf_truth)at->stop) {
            if (at->jump == 0) {
                return truth;
            }
            marks[outer] = 0;
            at += at->jump;
        } else {
            marks[outer] |= truth == SF_UNKNOWN;
            at++;
        }
    }
}

/* Programs that need more than the common ones do. */
__attribute__((noinline)) static enum sf_truth run_large(const struct sf_program *program,
                                                         struct sf_message *message) {
    struct registers registers;
    uint8_t marks[SF_MAX_DEPTHS] = {0};
    return run(program, message, marks, &registers);
}

enum { SMALL_DEPTHS = 8 };

enum sf_truth sf_run(const struct sf_program *program, struct sf_message *message) {
    if (program->n_depths > SMALL_DEPTHS || program->n_numbers > 0 || program->n_truths > 0) {
        return run_large(program, message);
    }
    uint8_t marks[SMALL_DEPTHS] = {0};
    return run(program, message, marks, NULL);
}

enum sf_truth sf_eval(const struct sf_filter *filter, struct sf_message *message) {
    enum sf_truth verdict = sf_message_verdict(message);
    return verdict != SF_TRUE ? verdict : sf_run(filter->program, message);
}
