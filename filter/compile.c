/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The compiler: one walk over the tree. NOT is no instruction; it is carried down to the conditions, which can all be
 * negated, and turns AND into OR on the way. How groups become jumps is drawn in program.h. */
#include "compile.h"

#include <assert.h>

#include "buffer.h"
#include "like.h"
#include "set.h"
#include "value.h"

struct compiler {
    struct sf_arena *arena;
    struct sf_intern *names;
    bool strict_integers;
    enum sf_status status;
    struct sf_instruction *code;
    size_t n_code;
    size_t code_capacity;
    struct sf_instruction spare; /* what is emitted when there is no memory left */
    struct sf_buffer data;
    uint32_t *name_ids;
    uint32_t n_names;
    uint32_t names_capacity;
    uint16_t n_depths;
    uint16_t n_numbers;
    uint16_t n_truths;
    uint16_t open_truths; /* truth registers that are in use */
};

/* Conditions whose truths are joined. */
struct group {
    uint8_t stop; /* the truth that decides: SF_FALSE of AND, SF_TRUE of OR */
    uint16_t depth;
    size_t
        last_jump; /* 1 + the instruction that last was to go to the group's end; from there a list, by `jump` */
};

static void emit_condition(struct compiler *c, const struct sf_node *node, bool negated,
                           struct group *group);

/* ---- memory ---------------------------------------------------------------------------------------------------- */

static void fail(struct compiler *c) {
    c->status = SF_E_NOMEM;
}

static void *alloc(struct compiler *c, size_t bytes) {
    void *memory = sf_arena_alloc(c->arena, bytes);
    if (memory == NULL) {
        fail(c);
    }
    return memory;
}

/* A new instruction, zeroed. Never NULL. */
static struct sf_instruction *emit(struct compiler *c, enum sf_opcode opcode) {
    if (c->n_code == c->code_capacity && c->status == SF_OK) {
        size_t capacity = c->code_capacity == 0 ? 16 : 2 * c->code_capacity;
        struct sf_instruction *code = alloc(c, capacity * sizeof *code);
        if (code != NULL && c->n_code > 0) {
            memcpy(code, c->code, c->n_code * sizeof *code);
        }
        c->code = code;
        c->code_capacity = capacity;
    }
    struct sf_instruction *instruction = c->status == SF_OK ? &c->code[c->n_code++] : &c->spare;
    *instruction = (struct sf_instruction){.opcode = (uint8_t)opcode};
    return instruction;
}

/* Put bytes into the data; returns where. */
static uint32_t add_data(struct compiler *c, const void *bytes, size_t n) {
    size_t offset = c->data.bytes;
    sf_buffer_add(&c->data, bytes, n);
    if (c->data.failed) {
        fail(c);
    }
    return (uint32_t)offset;
}

/* ---- names ----------------------------------------------------------------------------------------------------- */

/* Keep `id`, to which a reference was just acquired, unless it is kept already. */
static void keep_name(struct compiler *c, uint32_t id) {
    for (uint32_t i = 0; i < c->n_names; i++) {
        if (c->name_ids[i] == id) {
            (void)sf_intern_release(c->names, id);
            return;
        }
    }
    if (c->n_names == c->names_capacity) {
        uint32_t capacity = c->names_capacity == 0 ? 8 : 2 * c->names_capacity;
        uint32_t *ids = alloc(c, capacity * sizeof *ids);
        if (ids == NULL) {
            (void)sf_intern_release(c->names, id);
            return;
        }
        if (c->n_names > 0) {
            memcpy(ids, c->name_ids, c->n_names * sizeof *ids);
        }
        c->name_ids = ids;
        c->names_capacity = capacity;
    }
    c->name_ids[c->n_names++] = id;
}

static bool is_slot(const struct sf_node *node) {
    return node->type == SF_NODE_NAME || node->type == SF_NODE_ATTRIBUTE;
}

static uint32_t slot_of(struct compiler *c, const struct sf_node *node) {
    if (node->type == SF_NODE_ATTRIBUTE) {
        return sf_slot_of_attribute(node->attribute);
    }
    uint32_t id = 0;
    if (c->status != SF_OK || sf_intern_acquire(c->names, node->text, &id) != SF_OK) {
        fail(c);
        return 0;
    }
    keep_name(c, id);
    return sf_slot_of_name(id);
}

/* ---- groups ---------------------------------------------------------------------------------------------------- */

static struct group open_group(struct compiler *c, enum sf_truth stop, uint16_t depth) {
    if (depth >= c->n_depths) {
        c->n_depths = (uint16_t)(depth + 1);
    }
    return (struct group){.stop = (uint8_t)stop, .depth = depth};
}

/* Everything that waits for the end of the group goes to the next instruction. */
static void close_group(struct compiler *c, const struct group *group) {
    for (size_t at = group->last_jump; at != 0 && c->status == SF_OK;) {
        struct sf_instruction *instruction = &c->code[at - 1];
        size_t before = instruction->jump;
        instruction->jump = (uint16_t)(c->n_code - (at - 1));
        at = before;
    }
}

/* The outermost group's end is the answer. */
static void close_outermost(struct compiler *c, const struct group *group) {
    for (size_t at = group->last_jump; at != 0 && c->status == SF_OK;) {
        size_t before = c->code[at - 1].jump;
        c->code[at - 1].jump = 0;
        at = before;
    }
}

/* An instruction that can end the group. */
static struct sf_instruction *emit_in_group(struct compiler *c, enum sf_opcode opcode,
                                            struct group *group) {
    struct sf_instruction *instruction = emit(c, opcode);
    instruction->stop = group->stop;
    instruction->depth = group->depth;
    instruction->jump = (uint16_t)group->last_jump;
    group->last_jump = c->n_code;
    return instruction;
}

static struct sf_instruction *emit_predicate(struct compiler *c, enum sf_opcode opcode,
                                             bool accepted, struct group *group) {
    struct sf_instruction *instruction = emit_in_group(c, opcode, group);
    instruction->accepted = accepted;
    return instruction;
}

static void emit_constant(struct compiler *c, enum sf_truth truth, struct group *group) {
    emit_in_group(c, SF_OP_CONSTANT, group)->accepted = (uint8_t)truth;
}

static enum sf_truth truth_of(bool value) {
    return value ? SF_TRUE : SF_FALSE;
}

static void emit_children(struct compiler *c, const struct sf_node *node, bool negated,
                          struct group *group) {
    for (const struct sf_node *child = node->first; child != NULL; child = child->next) {
        emit_condition(c, child, negated, group);
    }
}

/* The truth that decides an AND or OR. */
static enum sf_truth stop_of(const struct sf_node *node, bool negated) {
    return truth_of((node->type == SF_NODE_OR) != negated);
}

static void emit_junction(struct compiler *c, const struct sf_node *node, bool negated,
                          struct group *group) {
    enum sf_truth stop = stop_of(node, negated);
    if (group->stop == stop) {
        emit_children(c, node, negated, group);
        return;
    }
    struct group inner = open_group(c, stop, (uint16_t)(group->depth + 1));
    emit_children(c, node, negated, &inner);
    struct sf_instruction *join = emit_in_group(c, SF_OP_JOIN, group);
    join->depth = inner.depth;
    join->offset = group->depth;
    close_group(c, &inner);
}

/* Put the truth of a condition into a register. */
static void emit_truth(struct compiler *c, const struct sf_node *node, uint16_t register_,
                       const struct group *group) {
    struct group inner = open_group(c, SF_FALSE, (uint16_t)(group->depth + 1));
    emit_condition(c, node, false, &inner);
    struct sf_instruction *settle = emit(c, SF_OP_SETTLE);
    settle->stop = SF_TRUE;
    settle->slot = register_;
    settle->depth = inner.depth;
    settle->jump = 2;
    close_group(c, &inner);
    struct sf_instruction *set = emit(c, SF_OP_SET);
    set->stop = SF_FALSE;
    set->slot = register_;
    if (register_ >= c->n_truths) {
        c->n_truths = (uint16_t)(register_ + 1);
    }
}

/* ---- numbers --------------------------------------------------------------------------------------------------- */

static void emit_constant_number(struct compiler *c, struct sf_number number, uint16_t register_) {
    struct sf_instruction *load = emit(c, number.kind == SF_NUMBER_INTEGER ? SF_OP_LOAD_INTEGER
                                          : number.kind == SF_NUMBER_REAL  ? SF_OP_LOAD_REAL
                                                                           : SF_OP_LOAD_NONE);
    load->slot = register_;
    if (number.kind == SF_NUMBER_INTEGER) {
        load->integer = number.integer;
    } else if (number.kind == SF_NUMBER_REAL) {
        load->real = number.real;
    }
}

static enum sf_opcode opcode_of_sign(char sign) {
    return sign == '+'   ? SF_OP_ADD
           : sign == '-' ? SF_OP_SUBTRACT
           : sign == '*' ? SF_OP_MULTIPLY
                         : SF_OP_DIVIDE;
}

/* Compute a number into a register; those above may be overwritten. */
static void emit_number(struct compiler *c, const struct sf_node *node, uint16_t register_) {
    if (register_ >= c->n_numbers) {
        c->n_numbers = (uint16_t)(register_ + 1);
    }
    if (node->is_constant) {
        emit_constant_number(c, node->number, register_);
    } else if (is_slot(node)) {
        uint32_t slot = slot_of(c, node);
        struct sf_instruction *load = emit(c, SF_OP_LOAD_SLOT);
        load->slot = register_;
        load->bytes = slot;
    } else if (node->type == SF_NODE_SIGN) {
        emit_number(c, node->first, register_);
        if (node->sign == '-') {
            emit(c, SF_OP_NEGATE)->slot = register_;
        }
    } else {
        emit_number(c, node->first, register_);
        emit_number(c, node->first->next, (uint16_t)(register_ + 1));
        struct sf_instruction *compute = emit(c, opcode_of_sign(node->sign));
        compute->slot = register_;
        compute->bytes = register_ + 1u;
    }
}

/* ---- comparisons ----------------------------------------------------------------------------------------------- */

static enum sf_relation mirrored(enum sf_relation relation) {
    return (relation & SF_EQUAL) | (relation & SF_LESS ? SF_GREATER : 0) |
           (relation & SF_GREATER ? SF_LESS : 0);
}

/* Whether strict_integers applies where these two meet. */
static bool is_strict(const struct compiler *c, const struct sf_node *name,
                      const struct sf_node *literal) {
    return c->strict_integers && sf_node_kind(name) == SF_KIND_NAME &&
           sf_node_is_integer_literal(literal);
}

static void emit_slot_comparison(struct compiler *c, const struct sf_node *left,
                                 const struct sf_node *right, enum sf_relation relation, bool any,
                                 struct group *group) {
    uint32_t slot = slot_of(c, left);
    bool is_integer = right->number.kind == SF_NUMBER_INTEGER;
    enum sf_opcode opcode = any ? (is_integer ? SF_OP_ANY_COMPARE_INTEGER : SF_OP_ANY_COMPARE_REAL)
                                : (is_integer ? SF_OP_COMPARE_INTEGER : SF_OP_COMPARE_REAL);
    struct sf_instruction *compare = emit_in_group(c, opcode, group);
    compare->slot = slot;
    compare->accepted = (uint8_t)relation;
    compare->strict = !any && is_strict(c, left, right);
    if (is_integer) {
        compare->integer = right->number.integer;
    } else {
        compare->real = right->number.real;
    }
}

static void emit_number_comparison(struct compiler *c, const struct sf_node *left,
                                   const struct sf_node *right, enum sf_relation relation,
                                   struct group *group) {
    if ((left->is_constant && left->number.kind == SF_NUMBER_NONE) ||
        (right->is_constant && right->number.kind == SF_NUMBER_NONE)) {
        emit_constant(c, SF_UNKNOWN, group);
    } else if (left->is_constant && right->is_constant) {
        bool holds = (sf_number_compare(left->number, right->number) & relation) != 0;
        emit_constant(c, truth_of(holds), group);
    } else if (is_slot(left) && right->is_constant) {
        emit_slot_comparison(c, left, right, relation, false, group);
    } else if (is_slot(right) && left->is_constant) {
        emit_slot_comparison(c, right, left, mirrored(relation), false, group);
    } else {
        emit_number(c, left, 0);
        emit_number(c, right, 1);
        struct sf_instruction *compare = emit_in_group(c, SF_OP_COMPARE_NUMBERS, group);
        compare->accepted = (uint8_t)relation;
        compare->slot = 0;
        compare->bytes = 1;
    }
}

/* An operator over a name and a text. */
static void emit_text(struct compiler *c, enum sf_opcode opcode, const struct sf_node *name,
                      struct sf_text text, bool accepted, struct group *group) {
    uint32_t slot = slot_of(c, name);
    uint32_t offset = add_data(c, text.at, text.bytes);
    struct sf_instruction *instruction = emit_predicate(c, opcode, accepted, group);
    instruction->slot = slot;
    instruction->bytes = (uint32_t)text.bytes;
    instruction->word = sf_text_word(text.at, text.bytes);
    instruction->offset = offset;
}

static void emit_text_equality(struct compiler *c, const struct sf_node *left,
                               const struct sf_node *right, bool accepted, struct group *group) {
    if (!is_slot(left) && !is_slot(right)) {
        emit_constant(c, truth_of(sf_text_equal(left->text, right->text) == accepted), group);
    } else if (is_slot(left) && is_slot(right)) {
        uint32_t left_slot = slot_of(c, left);
        uint32_t right_slot = slot_of(c, right);
        struct sf_instruction *equal = emit_predicate(c, SF_OP_EQUAL_SLOTS, accepted, group);
        equal->slot = left_slot;
        equal->bytes = right_slot;
    } else if (is_slot(left)) {
        emit_text(c, SF_OP_EQUAL, left, right->text, accepted, group);
    } else {
        emit_text(c, SF_OP_EQUAL, right, left->text, accepted, group);
    }
}

/* Of two operands at least one is a condition, so both are taken as such. */
static void emit_truth_equality(struct compiler *c, const struct sf_node *left,
                                const struct sf_node *right, bool accepted, struct group *group) {
    if (right->type == SF_NODE_TRUTH) { /* a = TRUE is a */
        emit_condition(c, left, right->is_true != accepted, group);
    } else if (left->type == SF_NODE_TRUTH) {
        emit_condition(c, right, left->is_true != accepted, group);
    } else {
        uint16_t register_ = c->open_truths;
        emit_truth(c, left, register_, group);
        c->open_truths = (uint16_t)(register_ + 1);
        emit_truth(c, right, c->open_truths, group);
        c->open_truths = register_;
        struct sf_instruction *equal = emit_predicate(c, SF_OP_EQUAL_TRUTHS, accepted, group);
        equal->slot = register_;
        equal->bytes = register_ + 1u;
    }
}

static void emit_comparison(struct compiler *c, const struct sf_node *node, bool negated,
                            struct group *group) {
    const struct sf_node *left = node->first;
    const struct sf_node *right = left->next;
    enum sf_kind left_kind = sf_node_kind(left);
    enum sf_kind right_kind = sf_node_kind(right);
    enum sf_relation relation = negated ? node->relation ^ SF_ANY_RELATION : node->relation;
    bool is_equality = node->relation == SF_EQUAL || node->relation == (SF_LESS | SF_GREATER);
    bool accepted = (relation & SF_EQUAL) != 0;
    if (node->any && is_equality) {
        emit_text(c, SF_OP_ANY_EQUAL, left, right->text, true, group);
    } else if (node->any) {
        emit_slot_comparison(c, left, right, relation, true, group);
    } else if (!is_equality || left_kind == SF_KIND_NUMBER || right_kind == SF_KIND_NUMBER) {
        emit_number_comparison(c, left, right, relation, group);
    } else if (left_kind == SF_KIND_CONDITION || right_kind == SF_KIND_CONDITION) {
        emit_truth_equality(c, left, right, accepted, group);
    } else {
        emit_text_equality(c, left, right, accepted, group);
    }
}

/* A comparison that is not in the tree. */
static struct sf_node *make_comparison(struct compiler *c, const struct sf_node *left,
                                       enum sf_relation relation, const struct sf_node *right,
                                       bool any) {
    struct sf_node *nodes = alloc(c, 3 * sizeof *nodes);
    if (nodes == NULL) {
        return NULL;
    }
    nodes[0] = (struct sf_node){
        .type = SF_NODE_COMPARE, .relation = relation, .any = any, .first = &nodes[1]};
    nodes[1] = *left;
    nodes[1].next = &nodes[2];
    nodes[2] = *right;
    nodes[2].next = NULL;
    return nodes;
}

/* x BETWEEN l AND h is x >= l AND x <= h; one instruction for a name and integers. */
static void emit_between(struct compiler *c, const struct sf_node *node, bool negated,
                         struct group *group) {
    const struct sf_node *operand = node->first;
    const struct sf_node *low = operand->next;
    const struct sf_node *high = low->next;
    negated = negated != node->negated;
    if (is_slot(operand) && low->is_constant && high->is_constant &&
        low->number.kind == SF_NUMBER_INTEGER && high->number.kind == SF_NUMBER_INTEGER &&
        is_strict(c, operand, low) == is_strict(c, operand, high)) {
        uint32_t slot = slot_of(c, operand);
        struct sf_instruction *between = emit_predicate(c, SF_OP_BETWEEN, !negated, group);
        between->slot = slot;
        between->strict = is_strict(c, operand, low);
        between->integer = low->number.integer;
        between->high = high->number.integer;
        return;
    }
    struct sf_node both = {.type = SF_NODE_AND};
    both.first = make_comparison(c, operand, SF_GREATER | SF_EQUAL, low, false);
    if (both.first != NULL) {
        both.first->next = make_comparison(c, operand, SF_LESS | SF_EQUAL, high, false);
        emit_junction(c, &both, negated, group);
    }
}

/* ---- other conditions ------------------------------------------------------------------------------------------ */

static void emit_in(struct compiler *c, const struct sf_node *node, bool negated,
                    struct group *group) {
    const struct sf_node *left = node->first;
    negated = negated != node->negated;
    for (const struct sf_node *literal = left->next; literal != NULL; literal = literal->next) {
        if (literal->type == SF_NODE_TRUTH) { /* the tag * */
            emit_constant(c, SF_TRUE, group);
            return;
        }
    }
    if (left->next->next == NULL) {
        struct sf_node *comparison = make_comparison(c, left, SF_EQUAL, left->next, node->any);
        if (comparison != NULL) {
            emit_comparison(c, comparison, negated, group);
        }
        return;
    }
    struct sf_set set;
    uint32_t slot = slot_of(c, left);
    if (sf_set_build(&set, c->arena, &c->data, left->next) != SF_OK) {
        fail(c);
        return;
    }
    struct sf_instruction *in =
        emit_predicate(c, node->any ? SF_OP_ANY_IN : SF_OP_IN, !negated, group);
    in->slot = slot;
    in->bytes = set.n_texts;
    in->n_numbers = set.n_numbers;
    in->offset = set.offset;
    in->strict = c->strict_integers && !node->any && sf_node_kind(left) == SF_KIND_NAME;
}

static enum sf_opcode opcode_of_text(enum sf_node_type type) {
    return type == SF_NODE_CONTAINS     ? SF_OP_CONTAINS
           : type == SF_NODE_STARTSWITH ? SF_OP_STARTS_WITH
                                        : SF_OP_ENDS_WITH;
}

/* A pattern that is no more than another operator becomes that. */
static enum sf_opcode simplify_pattern(struct sf_text *pattern) {
    struct sf_text text = *pattern;
    bool open_start = text.bytes > 0 && text.at[0] == SF_LIKE_RUN;
    if (open_start) {
        text.at++;
        text.bytes--;
    }
    bool open_end = text.bytes > 0 && text.at[text.bytes - 1] == SF_LIKE_RUN;
    text.bytes -= open_end ? 1 : 0;
    if (text.bytes > 0 && (memchr(text.at, SF_LIKE_ONE, text.bytes) != NULL ||
                           memchr(text.at, SF_LIKE_RUN, text.bytes) != NULL)) {
        return SF_OP_LIKE;
    }
    *pattern = text;
    return open_start ? (open_end ? SF_OP_CONTAINS : SF_OP_ENDS_WITH)
                      : (open_end ? SF_OP_STARTS_WITH : SF_OP_EQUAL);
}

static bool holds_for_string(const struct sf_node *node, struct sf_text text) {
    switch (node->type) {
    case SF_NODE_LIKE:
        return sf_like_match(node->pattern, text);
    case SF_NODE_CONTAINS:
        return sf_contains(text, node->text);
    case SF_NODE_STARTSWITH:
        return sf_starts_with(text, node->text);
    default:
        return sf_ends_with(text, node->text);
    }
}

static void emit_text_operator(struct compiler *c, const struct sf_node *node, bool negated,
                               struct group *group) {
    bool accepted = negated == node->negated;
    if (node->first->type == SF_NODE_STRING) {
        emit_constant(c, truth_of(holds_for_string(node, node->first->text) == accepted), group);
    } else if (node->type == SF_NODE_LIKE) {
        struct sf_text pattern = node->pattern;
        enum sf_opcode opcode = simplify_pattern(&pattern);
        emit_text(c, opcode, node->first, pattern, accepted, group);
    } else {
        emit_text(c, opcode_of_text(node->type), node->first, node->text, accepted, group);
    }
}

static void emit_is_null(struct compiler *c, const struct sf_node *node, bool negated,
                         struct group *group) {
    const struct sf_node *operand = node->first;
    bool accepted = negated != node->negated; /* what it is when the operand is known */
    switch (sf_node_kind(operand)) {
    case SF_KIND_NAME: {
        uint32_t slot = slot_of(c, operand);
        emit_predicate(c, SF_OP_IS_PRESENT, accepted, group)->slot = slot;
        break;
    }
    case SF_KIND_STRING:
        emit_constant(c, truth_of(accepted), group);
        break;
    case SF_KIND_NULL:
        emit_constant(c, truth_of(!accepted), group);
        break;
    case SF_KIND_NUMBER:
        emit_number(c, operand, 0);
        emit_predicate(c, SF_OP_IS_NUMBER, accepted, group)->slot = 0;
        break;
    case SF_KIND_CONDITION:
        emit_truth(c, operand, c->open_truths, group);
        emit_predicate(c, SF_OP_IS_KNOWN, accepted, group)->slot = c->open_truths;
        break;
    }
}

static void emit_condition(struct compiler *c, const struct sf_node *node, bool negated,
                           struct group *group) {
    switch (node->type) {
    case SF_NODE_NAME:
    case SF_NODE_ATTRIBUTE: {
        uint32_t slot = slot_of(c, node);
        emit_predicate(c, SF_OP_IS_TRUE, !negated, group)->slot = slot;
        break;
    }
    case SF_NODE_TRUTH:
        emit_constant(c, truth_of(node->is_true != negated), group);
        break;
    case SF_NODE_NULL:
        emit_constant(c, SF_UNKNOWN, group);
        break;
    case SF_NODE_OR:
    case SF_NODE_AND:
        emit_junction(c, node, negated, group);
        break;
    case SF_NODE_NOT:
        emit_condition(c, node->first, !negated, group);
        break;
    case SF_NODE_COMPARE:
        emit_comparison(c, node, negated, group);
        break;
    case SF_NODE_IS_NULL:
        emit_is_null(c, node, negated, group);
        break;
    case SF_NODE_BETWEEN:
        emit_between(c, node, negated, group);
        break;
    case SF_NODE_IN:
        emit_in(c, node, negated, group);
        break;
    case SF_NODE_LIKE:
    case SF_NODE_CONTAINS:
    case SF_NODE_STARTSWITH:
    case SF_NODE_ENDSWITH:
        emit_text_operator(c, node, negated, group);
        break;
    case SF_NODE_STRING:
    case SF_NODE_NUMBER:
    case SF_NODE_SIGN:
    case SF_NODE_ARITHMETIC:
        assert(!"the checker refuses these as conditions");
        break;
    }
}

/* ---- the whole ------------------------------------------------------------------------------------------------- */

static void emit_root(struct compiler *c, const struct sf_node *root) {
    const struct sf_node *inner = root;
    bool negated = false;
    while (inner->type == SF_NODE_NOT) {
        inner = inner->first;
        negated = !negated;
    }
    bool is_junction = inner->type == SF_NODE_OR || inner->type == SF_NODE_AND;
    struct group group = open_group(c, is_junction ? stop_of(inner, negated) : SF_FALSE, 0);
    emit_condition(c, root, false, &group);
    close_outermost(c, &group);
    emit(c, SF_OP_RETURN)->stop = (uint8_t)truth_of(group.stop == SF_FALSE);
}

/* Put everything into one block. */
static const struct sf_program *assemble(struct compiler *c) {
    size_t code_bytes = c->n_code * sizeof *c->code;
    struct sf_program *program =
        c->status == SF_OK ? alloc(c, sizeof *program + code_bytes + c->data.bytes) : NULL;
    if (program == NULL) {
        return NULL;
    }
    program->n_instructions = (uint32_t)c->n_code;
    program->data_bytes = (uint32_t)c->data.bytes;
    program->n_depths = c->n_depths;
    program->n_numbers = c->n_numbers;
    program->n_truths = c->n_truths;
    memcpy(program->code, c->code, code_bytes);
    if (c->data.bytes > 0) {
        memcpy((char *)(program->code + c->n_code), c->data.at, c->data.bytes);
    }
    assert(sf_program_is_valid(program, sf_slot_of_name(c->names->n_used)));
    return program;
}

enum sf_status sf_compile_tree(struct sf_arena *arena, struct sf_intern *names,
                               bool strict_integers, const struct sf_node *root,
                               struct sf_compiled *compiled_out) {
    struct compiler c = {
        .arena = arena,
        .names = names,
        .strict_integers = strict_integers,
        .data = {.arena = arena},
    };
    emit_root(&c, root);
    *compiled_out =
        (struct sf_compiled){.program = assemble(&c), .names = c.name_ids, .n_names = c.n_names};
    if (c.status != SF_OK) {
        for (uint32_t i = 0; i < c.n_names; i++) {
            (void)sf_intern_release(names, c.name_ids[i]);
        }
    }
    return c.status;
}
