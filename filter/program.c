/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Programs as data: their size, whether they hold together, and their listing. */
#include "program.h"

#include "like.h"
#include "output.h"
#include "utf8.h"

enum operands {
    NOTHING,
    TRUTH,
    SLOT,
    SLOT_TEXT,
    SLOT_PATTERN,
    SLOT_NUMBER,
    SLOT_RANGE,
    SLOT_SET,
    SLOT_SLOT,
    NUMBERS,
    NUMBER,
    TRUTHS,
    TRUTH_REGISTER,
    LOAD_NUMBER,
    LOAD_SLOT,
    COMPUTE,
    NEGATE,
    JOIN,
    SETTLE,
    SET,
    RETURN,
};

static const struct {
    const char *name;
    enum operands operands;
} opcodes[SF_N_OPCODES] = {
#define SF_OPCODE(name, text, operands) {text, operands},
#include "opcodes.def"
#undef SF_OPCODE
};

size_t sf_program_bytes(const struct sf_program *program) {
    return sizeof *program + program->n_instructions * sizeof program->code[0] +
           program->data_bytes;
}

/* ---- validity -------------------------------------------------------------------------------------------------- */

static bool is_in_data(const struct sf_program *program, uint64_t offset, uint64_t bytes) {
    return offset <= program->data_bytes && bytes <= program->data_bytes - offset;
}

static bool is_set_valid(const struct sf_program *program, const struct sf_instruction *in) {
    uint64_t texts_bytes = (uint64_t)in->bytes * sizeof(struct sf_set_text);
    uint64_t bytes = texts_bytes + in->n_numbers * sizeof(struct sf_set_number);
    if (in->n_numbers > SF_MAX_OPERATORS || in->offset % sizeof(uint64_t) != 0 ||
        !is_in_data(program, in->offset, bytes)) {
        return false;
    }
    const void *data = sf_program_data(program) + in->offset;
    const struct sf_set_text *texts = data;
    for (uint32_t i = 0; i < in->bytes; i++) {
        if (!is_in_data(program, texts[i].offset, texts[i].bytes)) {
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
    case SLOT_TEXT:
    case SLOT_PATTERN:
        return at->slot < n_slots && is_in_data(program, at->offset, at->bytes);
    case SLOT_SET:
        return at->slot < n_slots && is_set_valid(program, at);
    case SLOT_SLOT:
        return at->slot < n_slots && at->bytes < n_slots;
    case NUMBERS:
    case COMPUTE:
        return at->slot < program->n_numbers && at->bytes < program->n_numbers;
    case NUMBER:
    case LOAD_NUMBER:
    case NEGATE:
        return at->slot < program->n_numbers;
    case LOAD_SLOT:
        return at->slot < program->n_numbers && at->bytes < n_slots;
    case TRUTHS:
        return at->slot < program->n_truths && at->bytes < program->n_truths;
    case TRUTH_REGISTER:
    case SETTLE:
    case SET:
        return at->slot < program->n_truths;
    case JOIN:
        return at->offset < program->n_depths;
    case NOTHING:
    case TRUTH:
    case RETURN:
        return true;
    }
    return false;
}

bool sf_program_is_valid(const struct sf_program *program, uint32_t n_slots) {
    uint32_t n = program->n_instructions;
    if (n == 0 || program->code[n - 1].opcode != SF_OP_RETURN || program->n_depths == 0 ||
        program->n_depths > SF_MAX_DEPTHS || program->n_numbers > SF_MAX_REGISTERS ||
        program->n_truths > SF_MAX_REGISTERS) {
        return false;
    }
    for (uint32_t i = 0; i < n; i++) {
        const struct sf_instruction *at = &program->code[i];
        if (at->opcode >= SF_N_OPCODES || at->depth >= program->n_depths || at->jump >= n - i ||
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
    sf_output_text(&listing->out, listing->name(listing->name_user, slot));
}

static void print_text(struct listing *listing, struct sf_text text) {
    sf_output_print(&listing->out, "'");
    sf_output_text(&listing->out, text);
    sf_output_print(&listing->out, "'");
}

static void print_number(struct listing *listing, struct sf_number number) {
    char text[SF_NUMBER_TEXT_BYTES];
    sf_number_write(number, text);
    sf_output_print(&listing->out, "%s", text);
}

static const char *relation_name(unsigned accepted) {
    static const char *const names[] = {"never", "<", "=", "<=", ">", "<>", ">=", "any"};
    return names[accepted & SF_ANY_RELATION];
}

static const char *truth_name(unsigned truth) {
    static const char *const names[] = {"false", "true", "unknown"};
    return truth <= SF_UNKNOWN ? names[truth] : "?";
}

static struct sf_number constant_of(const struct sf_instruction *at) {
    bool is_integer = at->opcode == SF_OP_COMPARE_INTEGER || at->opcode == SF_OP_LOAD_INTEGER ||
                      at->opcode == SF_OP_ANY_COMPARE_INTEGER;
    return is_integer ? sf_number_integer(at->integer) : sf_number_real(at->real);
}

/* A pattern with its wildcards as they were written, and all that could be taken for one in brackets. */
static void print_pattern(struct listing *listing, struct sf_text pattern) {
    sf_output_print(&listing->out, "'");
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
    const char *data = sf_program_data(listing->program);
    const void *texts_data = data + in->offset;
    const struct sf_set_text *texts = texts_data;
    const void *numbers_data = texts + in->bytes;
    const struct sf_set_number *numbers = numbers_data;
    print_slot(listing, in->slot);
    sf_output_print(&listing->out, " (");
    for (uint32_t i = 0; i < in->bytes; i++) {
        sf_output_print(&listing->out, "%s", i == 0 ? "" : ", ");
        print_text(listing, (struct sf_text){data + texts[i].offset, texts[i].bytes});
    }
    for (uint64_t i = 0; i < in->n_numbers; i++) {
        sf_output_print(&listing->out, "%s", i == 0 && in->bytes == 0 ? "" : ", ");
        print_number(listing, numbers[i].kind == SF_NUMBER_INTEGER
                                  ? sf_number_integer(numbers[i].integer)
                                  : sf_number_real(numbers[i].real));
    }
    sf_output_print(&listing->out, ")");
}

static void print_operands(struct listing *listing, const struct sf_instruction *at) {
    switch (opcodes[at->opcode].operands) {
    case NOTHING:
        break;
    case TRUTH:
        sf_output_print(&listing->out, "%s", truth_name(at->accepted));
        break;
    case SLOT:
        print_slot(listing, at->slot);
        break;
    case SLOT_TEXT:
        print_slot(listing, at->slot);
        sf_output_print(&listing->out, " ");
        print_text(listing, sf_program_text(listing->program, at->offset, at->bytes));
        break;
    case SLOT_PATTERN:
        print_slot(listing, at->slot);
        sf_output_print(&listing->out, " ");
        print_pattern(listing, sf_program_text(listing->program, at->offset, at->bytes));
        break;
    case SLOT_NUMBER:
        print_slot(listing, at->slot);
        sf_output_print(&listing->out, " %s ", relation_name(at->accepted));
        print_number(listing, constant_of(at));
        break;
    case SLOT_RANGE:
        print_slot(listing, at->slot);
        sf_output_print(&listing->out, " %lld %lld", (long long)at->integer, (long long)at->high);
        break;
    case SLOT_SET:
        print_set(listing, at);
        break;
    case SLOT_SLOT:
        print_slot(listing, at->slot);
        sf_output_print(&listing->out, " ");
        print_slot(listing, at->bytes);
        break;
    case NUMBERS:
        sf_output_print(&listing->out, "n%u %s n%u", at->slot, relation_name(at->accepted),
                        at->bytes);
        break;
    case NUMBER:
    case NEGATE:
        sf_output_print(&listing->out, "n%u", at->slot);
        break;
    case TRUTHS:
        sf_output_print(&listing->out, "t%u t%u", at->slot, at->bytes);
        break;
    case TRUTH_REGISTER:
        sf_output_print(&listing->out, "t%u", at->slot);
        break;
    case LOAD_NUMBER:
        sf_output_print(&listing->out, "n%u ", at->slot);
        if (at->opcode != SF_OP_LOAD_NONE) {
            print_number(listing, constant_of(at));
        }
        break;
    case LOAD_SLOT:
        sf_output_print(&listing->out, "n%u ", at->slot);
        print_slot(listing, at->bytes);
        break;
    case COMPUTE:
        sf_output_print(&listing->out, "n%u n%u", at->slot, at->bytes);
        break;
    case JOIN:
        break;
    case SETTLE:
    case SET:
        sf_output_print(&listing->out, "t%u %s", at->slot, truth_name(at->stop));
        break;
    case RETURN:
        sf_output_print(&listing->out, "%s", truth_name(at->stop));
        break;
    }
}

static bool is_negated(const struct sf_instruction *at) {
    switch (opcodes[at->opcode].operands) {
    case SLOT:
    case SLOT_TEXT:
    case SLOT_PATTERN:
    case SLOT_RANGE:
    case SLOT_SET:
    case SLOT_SLOT:
    case NUMBER:
    case TRUTHS:
    case TRUTH_REGISTER:
        return at->accepted == 0;
    default:
        return false;
    }
}

static bool can_jump(const struct sf_instruction *at) {
    switch (opcodes[at->opcode].operands) {
    case LOAD_NUMBER:
    case LOAD_SLOT:
    case COMPUTE:
    case NEGATE:
    case SETTLE:
    case SET:
    case RETURN:
        return false;
    default:
        return true;
    }
}

static void print_instruction(struct listing *listing, uint32_t index) {
    const struct sf_instruction *at = &listing->program->code[index];
    struct sf_output *out = &listing->out;
    int indent = 2 * (at->depth < 10 ? at->depth : 10);
    sf_output_print(out, "%3u %*s%s%s%s ", index, indent, "", is_negated(at) ? "not-" : "",
                    opcodes[at->opcode].name, at->strict ? "-strict" : "");
    print_operands(listing, at);
    if (at->opcode == SF_OP_SETTLE) {
        sf_output_column(out, 48);
        sf_output_print(out, "then: %u", index + at->jump);
    } else if (can_jump(at)) {
        sf_output_column(out, 48);
        sf_output_print(out, "%s: ", truth_name(at->stop));
        if (at->jump == 0) {
            sf_output_print(out, "answer");
        } else {
            sf_output_print(out, "%u", index + at->jump);
        }
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
