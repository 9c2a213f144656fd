/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Programs as data: their size, whether they hold together, and their listing. */
#include "program.h"

#include "like.h"
#include "output.h"
#include "utf8.h"
#include "value.h"

enum operands {
    TRUTH, /* of a constant */
    SLOT,
    SLOT_TEXT,
    SLOT_WORD, /* a text in the instruction itself */
    SLOT_PATTERN,
    SLOT_NUMBER,
    SLOT_RANGE,
    SLOT_SET,
    SLOT_SLOT,
    NUMBERS, /* two number registers that are compared */
    NUMBER,
    TRUTHS, /* two truth registers */
    TRUTH_REGISTER,
    LOAD_NUMBER,
    LOAD_SLOT,
    COMPUTE, /* two number registers, the result in the first */
    GROUP,
    SETTLE,
    RETURN,
};

static const struct {
    const char *name;
    enum operands operands;
} opcodes[SF_N_OPCODES] = {
#define SF_OPCODE(name, text, operands, kind) {text, operands},
#include "opcodes.def"
#undef SF_OPCODE
};

size_t sf_program_bytes(const struct sf_program *program) {
    return sizeof *program + program->n_instructions * sizeof program->code[0] +
           program->data_bytes;
}

bool sf_opcode_has_data(enum sf_opcode opcode) {
    enum operands operands = opcodes[opcode].operands;
    return operands == SLOT_TEXT || operands == SLOT_PATTERN || operands == SLOT_SET;
}

/* ---- validity -------------------------------------------------------------------------------------------------- */

/* Whether `bytes` at an instruction's offset are in the data. */
static bool is_in_data(const struct sf_program *program, const struct sf_instruction *at,
                       uint64_t bytes) {
    const struct sf_instruction *end = program->code + program->n_instructions;
    uint64_t start = (uint64_t)(end - at) * sizeof *at; /* of the data, seen from there */
    return at->offset >= start && at->offset - start <= program->data_bytes &&
           bytes <= program->data_bytes - (at->offset - start);
}

static bool is_set_valid(const struct sf_program *program, const struct sf_instruction *in) {
    uint64_t bytes = (uint64_t)in->bytes * sizeof(struct sf_set_text) +
                     in->n_numbers * sizeof(struct sf_set_number);
    if (in->n_numbers > SF_MAX_LIST || in->offset % sizeof(uint64_t) != 0 ||
        !is_in_data(program, in, bytes)) {
        return false;
    }
    const struct sf_set_text *texts = sf_instruction_data(in);
    for (uint32_t i = 0; i < in->bytes; i++) {
        if (!is_in_data(program, in, (uint64_t)texts[i].offset + texts[i].bytes)) {
            return false;
        }
    }
    return true;
}

static bool are_operands_valid(const struct sf_program *program, const struct sf_instruction *at,
                               uint32_t n_slots) {
    switch (opcodes[at->opcode].operands) {
    case SLOT:
    case SLOT_NUMBER:
    case SLOT_RANGE:
        return at->slot < n_slots;
    case SLOT_WORD:
        return at->slot < n_slots && at->bytes <= sizeof at->word;
    case SLOT_TEXT:
    case SLOT_PATTERN:
        return at->slot < n_slots && is_in_data(program, at, at->bytes);
    case SLOT_SET:
        return at->slot < n_slots && is_set_valid(program, at);
    case SLOT_SLOT:
        return at->slot < n_slots && at->bytes < n_slots;
    case NUMBERS:
    case COMPUTE:
        return at->slot < program->n_numbers && at->bytes < program->n_numbers;
    case NUMBER:
    case LOAD_NUMBER:
        return at->slot < program->n_numbers;
    case LOAD_SLOT:
        return at->slot < program->n_numbers && at->bytes < n_slots;
    case TRUTHS:
        return at->slot < program->n_truths && at->bytes < program->n_truths;
    case TRUTH_REGISTER:
        return at->slot < program->n_truths;
    case SETTLE:
        return at->slot < program->n_truths && at->bytes < program->n_depths;
    case GROUP:
        return at->bytes < program->n_depths;
    case TRUTH:
    case RETURN:
        return true;
    }
    return false;
}

bool sf_program_is_valid(const struct sf_program *program, uint32_t n_slots) {
    uint32_t n = program->n_instructions;
    if (n == 0 || program->guard > n || program->code[n - 1].opcode != SF_OP_RETURN ||
        program->n_depths == 0 || program->n_depths > SF_MAX_DEPTHS ||
        program->n_numbers > SF_MAX_REGISTERS || program->n_truths > SF_MAX_REGISTERS) {
        return false;
    }
    for (uint32_t i = 0; i < n; i++) {
        const struct sf_instruction *at = &program->code[i];
        bool is_jump_valid = at->jump < n - i || at->jump == SF_LAST;
        if (at->opcode >= SF_N_OPCODES || !is_jump_valid ||
            at->step != sf_step_of(at->opcode, at->jump) ||
            !are_operands_valid(program, at, n_slots)) {
            return false;
        }
    }
    return true;
}

/* ---- listing --------------------------------------------------------------------------------------------------- */

struct listing {
    const struct sf_program *program;
    sf_slot_name_fn *name;
    const void *name_user;
    struct sf_output out;
};

static void print_slot(struct listing *listing, uint32_t slot) {
    sf_output_print(&listing->out, " ");
    sf_output_text(&listing->out, listing->name(listing->name_user, slot));
}

static void print_text(struct listing *listing, struct sf_text text) {
    sf_output_print(&listing->out, " '");
    sf_output_text(&listing->out, text);
    sf_output_print(&listing->out, "'");
}

static void print_number(struct listing *listing, struct sf_number number) {
    char text[SF_NUMBER_TEXT_BYTES];
    sf_number_write(number, text);
    sf_output_print(&listing->out, "%s", text);
}

/* Whether it was written as an integer does not show: it makes no difference to a comparison. */
static void print_rank(struct listing *listing, struct sf_rank rank) {
    print_number(
        listing,
        sf_number_of_rank(rank.rest == SF_RANK_NO_REST ? SF_NUMBER_INTEGER : SF_NUMBER_REAL, rank));
}

static const char *relation_name(unsigned accepted) {
    static const char *const names[] = {"never", "<", "=", "<=", ">", "<>", ">=", "any"};
    return names[accepted & SF_ANY_RELATION];
}

static const char *truth_name(unsigned truth) {
    static const char *const names[] = {"false", "true", "unknown"};
    return truth <= SF_UNKNOWN ? names[truth] : "?";
}

/* A pattern with its wildcards as they were written, and all that could be taken for one in brackets. */
static void print_pattern(struct listing *listing, struct sf_text pattern) {
    sf_output_print(&listing->out, " '");
    for (size_t i = 0; i < pattern.bytes;) {
        char c = pattern.at[i];
        size_t n = 1;
        if (c == SF_LIKE_RUN || c == SF_LIKE_ONE) {
            sf_output_print(&listing->out, "%s", c == SF_LIKE_RUN ? "%" : "_");
        } else if (c == '%' || c == '_') {
            sf_output_print(&listing->out, "[%c]", c);
        } else {
            n = sf_utf8_next(pattern.at + i, pattern.bytes - i, NULL);
            sf_output_text(&listing->out, (struct sf_text){pattern.at + i, n});
        }
        i += n;
    }
    sf_output_print(&listing->out, "'");
}

static void print_set(struct listing *listing, const struct sf_instruction *in) {
    const char *data = sf_instruction_data(in);
    const struct sf_set_text *texts = sf_instruction_data(in);
    const struct sf_set_number *numbers = sf_set_numbers(in);
    sf_output_print(&listing->out, " (");
    for (uint32_t i = 0; i < in->bytes; i++) {
        print_text(listing, (struct sf_text){data + texts[i].offset, texts[i].bytes});
    }
    for (uint64_t i = 0; i < in->n_numbers; i++) {
        sf_output_print(&listing->out, " ");
        print_rank(listing, numbers[i].rank);
    }
    sf_output_print(&listing->out, " )");
}

static void print_comparison(struct listing *listing, const struct sf_instruction *at) {
    bool is_next = at->bytes == (SF_LESS | SF_EQUAL) || at->bytes == SF_GREATER;
    struct sf_rank written = {at->rank.whole, at->rank.rest - (is_next ? 1 : 0)};
    sf_output_print(&listing->out, " %s ", relation_name(at->bytes));
    print_rank(listing, written);
}

/* Of conditions on a value. */
static void print_slot_operands(struct listing *listing, const struct sf_instruction *at) {
    print_slot(listing, at->slot);
    switch (opcodes[at->opcode].operands) {
    case SLOT_TEXT:
        print_text(listing, sf_instruction_text(at));
        break;
    case SLOT_WORD:
        print_text(listing, (struct sf_text){(const char *)&at->word, at->bytes});
        break;
    case SLOT_PATTERN:
        print_pattern(listing, sf_instruction_text(at));
        break;
    case SLOT_NUMBER:
        print_comparison(listing, at);
        break;
    case SLOT_RANGE:
        sf_output_print(&listing->out, " %lld %lld", (long long)at->low, (long long)at->high);
        break;
    case SLOT_SET:
        print_set(listing, at);
        break;
    case SLOT_SLOT:
        print_slot(listing, at->bytes);
        break;
    default: /* SLOT */
        break;
    }
}

static unsigned truth_of_constant(const struct sf_instruction *at) {
    return at->flip == SF_DOUBTFUL ? (unsigned)SF_UNKNOWN : at->flip ^ at->stop ^ 1u;
}

static void print_operands(struct listing *listing, const struct sf_instruction *at) {
    struct sf_output *out = &listing->out;
    switch (opcodes[at->opcode].operands) {
    case TRUTH:
        sf_output_print(out, " %s", truth_name(truth_of_constant(at)));
        break;
    case NUMBERS:
        sf_output_print(out, " n%u %s n%u", at->slot, relation_name(at->accepts), at->bytes);
        break;
    case COMPUTE:
        sf_output_print(out, " n%u n%u", at->slot, at->bytes);
        break;
    case LOAD_SLOT:
        sf_output_print(out, " n%u", at->slot);
        print_slot(listing, at->bytes);
        break;
    case LOAD_NUMBER:
        sf_output_print(out, " n%u ", at->slot);
        print_number(listing, at->opcode == SF_OP_LOAD_INTEGER ? sf_number_integer(at->integer)
                                                               : sf_number_real(at->real));
        break;
    case NUMBER:
        sf_output_print(out, " n%u", at->slot);
        break;
    case TRUTHS:
        sf_output_print(out, " t%u t%u", at->slot, at->bytes);
        break;
    case TRUTH_REGISTER:
    case SETTLE:
        sf_output_print(out, " t%u", at->slot);
        break;
    case RETURN:
        sf_output_print(out, " %s else %s", truth_name(sf_truth_of_group(at->truths, SF_DECIDED)),
                        truth_name(sf_truth_of_group(at->truths, 0)));
        break;
    case GROUP:
        if (at->opcode == SF_OP_JOIN) { /* `stop` is of the group around */
            sf_output_print(out, " %s", at->stop == SF_TRUE ? "and" : "or");
        }
        break;
    default:
        print_slot_operands(listing, at);
        break;
    }
}

/* Whether a condition is true when its predicate holds. */
static bool is_accepted(const struct sf_instruction *at) {
    return (at->flip == 0) == (at->stop == SF_TRUE);
}

/* Whether the listing has to say that a condition is negated: that of a comparison shows in its relation. */
static bool is_negated(const struct sf_instruction *at) {
    switch (opcodes[at->opcode].operands) {
    case SLOT:
    case SLOT_TEXT:
    case SLOT_WORD:
    case SLOT_PATTERN:
    case SLOT_RANGE:
    case SLOT_SET:
    case SLOT_SLOT:
    case TRUTHS:
    case TRUTH_REGISTER:
        return !is_accepted(at);
    default:
        return at->opcode == SF_OP_IS_NUMBER && !is_accepted(at);
    }
}

/* The states of a value that a condition heeds, those of numbers in a set included. */
static uint64_t all_heeds(const struct sf_instruction *at) {
    uint64_t heeds = at->heeds;
    if (opcodes[at->opcode].operands == SLOT_SET) {
        const struct sf_set_number *numbers = sf_set_numbers(at);
        for (uint64_t i = 0; i < at->n_numbers; i++) {
            heeds |= numbers[i].heeds;
        }
    }
    return heeds;
}

/* What of that is no matter of course. */
static const char *heeds_name(const struct sf_instruction *at) {
    switch (opcodes[at->opcode].operands) {
    case SLOT_WORD:
    case SLOT_TEXT:
    case SLOT_NUMBER:
    case SLOT_RANGE:
    case SLOT_SET:
        return (all_heeds(at) & SF_VALUE_EARLIER) != 0 ? "any-"
               : (all_heeds(at) & SF_VALUE_REAL) != 0  ? "strict-"
                                                       : "";
    default:
        return "";
    }
}

static void print_instruction(struct listing *listing, uint32_t index) {
    const struct sf_instruction *at = &listing->program->code[index];
    struct sf_output *out = &listing->out;
    int indent = 2 * (at->indent < 10 ? at->indent : 10);
    sf_output_print(out, "%3u %*s%s%s%s", index, indent, "", is_negated(at) ? "not-" : "",
                    heeds_name(at), opcodes[at->opcode].name);
    print_operands(listing, at);
    if (at->jump == SF_LAST) {
        sf_output_column(out, 48);
        sf_output_print(out, "last");
    } else if (at->jump > 0) {
        sf_output_column(out, 48);
        sf_output_print(out, "%s: %u", truth_name(at->stop), index + at->jump);
    }
    sf_output_end_line(out);
}

void sf_program_write(const struct sf_program *program, sf_slot_name_fn *name,
                      const void *name_user, sf_write_fn *write, void *write_user) {
    struct listing listing = {.program = program,
                              .name = name,
                              .name_user = name_user,
                              .out = {.write = write, .user = write_user}};
    for (uint32_t i = 0; i < program->n_instructions; i++) {
        print_instruction(&listing, i);
    }
}
