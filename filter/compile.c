/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The compiler: one walk over the tree that finds names and costs, one that emits. NOT is no instruction; it is carried down
 * to the conditions, which can all be negated, and turns AND into OR on the way. How groups look is drawn in program.h. */
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
    size_t last; /* 1 + the latest condition; 0: there is none yet */
    size_t
        last_jump; /* 1 + the latest condition that jumps to the group's end; from there a list, by `jump` */
    size_t n_unchecked; /* conditions since then */
};

/* So many cheap conditions are evaluated before it is looked whether the group is decided. */
enum { MAX_UNCHECKED = 8 };

/* A list that long is costly. */
enum { LONG_LIST = 16 };

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

static void find_slot(struct compiler *c, struct sf_node *node) {
    uint32_t id = 0;
    if (node->type == SF_NODE_ATTRIBUTE) {
        node->slot = sf_slot_of_attribute(node->attribute);
    } else if (c->status == SF_OK && sf_intern_acquire(c->names, node->text, &id) == SF_OK) {
        keep_name(c, id);
        node->slot = sf_slot_of_name(id);
    } else {
        fail(c);
    }
}

/* Whether a tag expression has the tag *: then it reads nothing. */
static bool has_star(const struct sf_node *node) {
    const struct sf_node *literal = node->any && node->type == SF_NODE_IN ? node->first : NULL;
    while (literal != NULL && literal->type != SF_NODE_TRUTH) {
        literal = literal->next;
    }
    return literal != NULL;
}

/* Whether evaluating the node costs more than guessing wrong would, its children aside. */
static bool is_costly_itself(const struct sf_node *node) {
    size_t n = 0;
    switch (node->type) {
    case SF_NODE_LIKE:
    case SF_NODE_CONTAINS:
    case SF_NODE_SIGN:
    case SF_NODE_ARITHMETIC:
        return true;
    case SF_NODE_IN:
        for (const struct sf_node *child = node->first; child != NULL; child = child->next) {
            n++;
        }
        return n > LONG_LIST;
    case SF_NODE_COMPARE: /* of truths */
        return sf_node_kind(node->first) == SF_KIND_CONDITION ||
               sf_node_kind(node->first->next) == SF_KIND_CONDITION;
    case SF_NODE_IS_NULL:
        return sf_node_kind(node->first) == SF_KIND_CONDITION;
    default:
        return false;
    }
}

/* Find the slots of names, in the order in which they stand in the text, and what is costly. */
static void prepare(struct compiler *c, struct sf_node *node) {
    if (is_slot(node)) {
        find_slot(c, node);
    }
    node->is_costly = is_costly_itself(node);
    for (struct sf_node *child = has_star(node) ? NULL : node->first; child != NULL;
         child = child->next) {
        prepare(c, child);
        node->is_costly = node->is_costly || child->is_costly;
    }
}

/* ---- groups ---------------------------------------------------------------------------------------------------- */

static struct group open_group(struct compiler *c, enum sf_truth stop, uint16_t depth) {
    if (depth >= c->n_depths) {
        c->n_depths = (uint16_t)(depth + 1);
    }
    return (struct group){.stop = (uint8_t)stop, .depth = depth};
}

/* A condition of the group. */
static struct sf_instruction *emit_in_group(struct compiler *c, enum sf_opcode opcode,
                                            struct group *group) {
    struct sf_instruction *instruction = emit(c, opcode);
    instruction->stop = group->stop;
    instruction->indent = (uint8_t)group->depth;
    group->last = c->n_code;
    group->n_unchecked++;
    return instruction;
}

static struct sf_instruction *emit_predicate(struct compiler *c, enum sf_opcode opcode,
                                             bool accepted, struct group *group) {
    struct sf_instruction *instruction = emit_in_group(c, opcode, group);
    instruction->flip = accepted != (group->stop == SF_TRUE);
    return instruction;
}

static void emit_constant(struct compiler *c, enum sf_truth truth, struct group *group) {
    emit_in_group(c, SF_OP_CONSTANT, group)->flip = truth == SF_UNKNOWN             ? SF_DOUBTFUL
                                                    : (uint8_t)truth == group->stop ? SF_DECIDED
                                                                                    : 0;
}

/* Let the latest condition leave the group when that is decided, if it is worth it before what comes next. */
static void check_group(struct compiler *c, struct group *group, bool before_costly) {
    bool worth = before_costly ? group->n_unchecked > 0 : group->n_unchecked >= MAX_UNCHECKED;
    if (worth && c->status == SF_OK) {
        c->code[group->last - 1].jump = (uint16_t)group->last_jump;
        group->last_jump = group->last;
        group->n_unchecked = 0;
    }
}

/* The end of a group: where all that leave it go. `depth` is that of the group around. */
static struct sf_instruction *emit_end(struct compiler *c, enum sf_opcode opcode,
                                       const struct group *group, uint16_t depth) {
    for (size_t at = group->last_jump; at != 0 && c->status == SF_OK;) {
        struct sf_instruction *instruction = &c->code[at - 1];
        size_t before = instruction->jump;
        instruction->jump = (uint16_t)(c->n_code - (at - 1));
        at = before;
    }
    struct sf_instruction *end = emit(c, opcode);
    end->truths = sf_truths(group->stop);
    end->indent = (uint8_t)depth;
    end->bytes = depth;
    return end;
}

static enum sf_truth truth_of(bool value) {
    return value ? SF_TRUE : SF_FALSE;
}

/* The truth that decides an AND or OR. */
static enum sf_truth stop_of(const struct sf_node *node, bool negated) {
    return truth_of((node->type == SF_NODE_OR) != negated);
}

/* NOT taken off a condition. */
static const struct sf_node *without_not(const struct sf_node *node, bool *negated) {
    while (node->type == SF_NODE_NOT) {
        node = node->first;
        *negated = !*negated;
    }
    return node;
}

/* Whether a condition becomes a group inside this one. */
static bool is_nested(const struct sf_node *node, bool negated, const struct group *group) {
    node = without_not(node, &negated);
    return (node->type == SF_NODE_AND || node->type == SF_NODE_OR) &&
           stop_of(node, negated) != group->stop;
}

/* In which order the conditions of a group come: first those that are groups, since the first thing in a group can be one
 * without a BEGIN; the costly ones last. */
enum turn { TURN_NESTED, TURN_CHEAP, TURN_COSTLY, N_TURNS };

static void emit_children(struct compiler *c, const struct sf_node *node, bool negated,
                          struct group *group) {
    for (unsigned turn = 0; turn < N_TURNS; turn++) {
        for (const struct sf_node *child = node->first; child != NULL; child = child->next) {
            enum turn own = child->is_costly                   ? TURN_COSTLY
                            : is_nested(child, negated, group) ? TURN_NESTED
                                                               : TURN_CHEAP;
            if (own == turn) {
                check_group(c, group, child->is_costly);
                emit_condition(c, child, negated, group);
            }
        }
    }
}

static void emit_begin(struct compiler *c, const struct group *outer) {
    struct sf_instruction *begin = emit(c, SF_OP_BEGIN);
    begin->indent = (uint8_t)outer->depth;
    begin->bytes = outer->depth;
}

static void emit_junction(struct compiler *c, const struct sf_node *node, bool negated,
                          struct group *group) {
    enum sf_truth stop = stop_of(node, negated);
    if (group->stop == stop) {
        emit_children(c, node, negated, group);
        return;
    }
    bool is_first = group->last == 0;
    struct group inner = open_group(c, stop, (uint16_t)(group->depth + 1));
    if (!is_first) {
        emit_begin(c, group);
    }
    emit_children(c, node, negated, &inner);
    struct sf_instruction *join = emit_end(c, SF_OP_JOIN, &inner, group->depth);
    join->stop = group->stop;
    join->is_first = is_first;
    group->last = c->n_code;
    group->n_unchecked++;
}

/* Put the truth of a condition into a register. */
static void emit_truth(struct compiler *c, const struct sf_node *node, uint16_t register_,
                       const struct group *group) {
    struct group inner = open_group(c, SF_FALSE, (uint16_t)(group->depth + 1));
    emit_begin(c, group);
    emit_condition(c, node, false, &inner);
    emit_end(c, SF_OP_SETTLE, &inner, group->depth)->slot = register_;
    if (register_ >= c->n_truths) {
        c->n_truths = (uint16_t)(register_ + 1);
    }
}

/* ---- numbers --------------------------------------------------------------------------------------------------- */

static void emit_constant_number(struct compiler *c, struct sf_number number, uint16_t register_) {
    if (number.kind == SF_NUMBER_INTEGER) {
        struct sf_instruction *load = emit(c, SF_OP_LOAD_INTEGER);
        load->slot = register_;
        load->integer = number.integer;
    } else if (number.kind == SF_NUMBER_REAL) {
        struct sf_instruction *load = emit(c, SF_OP_LOAD_REAL);
        load->slot = register_;
        load->real = number.real;
    } else {
        emit(c, SF_OP_LOAD_NONE)->slot = register_;
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
        struct sf_instruction *load = emit(c, SF_OP_LOAD_SLOT);
        load->slot = register_;
        load->bytes = node->slot;
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

/* The states of a value that need more than a comparison with a number. */
static uint8_t heeds_of_number(const struct compiler *c, const struct sf_node *name,
                               const struct sf_node *literal) {
    bool is_strict = c->strict_integers && sf_node_kind(name) == SF_KIND_NAME &&
                     sf_node_is_integer_literal(literal);
    return SF_VALUE_UNTRIED | SF_VALUE_NO_NUMBER | (is_strict ? SF_VALUE_REAL : 0);
}

/* x <= 5 is x < the next number, x > 5 is not that, and so on: one instruction for all that order. */
static void emit_slot_comparison(struct compiler *c, const struct sf_node *left,
                                 const struct sf_node *right, enum sf_relation relation, bool any,
                                 struct group *group) {
    bool is_equality = relation == SF_EQUAL || relation == (SF_LESS | SF_GREATER);
    bool accepted = is_equality ? relation == SF_EQUAL : (relation & SF_LESS) != 0;
    struct sf_instruction *compare =
        emit_predicate(c, is_equality ? SF_OP_SAME : SF_OP_LESS, accepted, group);
    compare->slot = left->slot;
    compare->heeds = any ? SF_VALUE_UNTRIED | SF_VALUE_NO_NUMBER | SF_VALUE_EARLIER
                         : heeds_of_number(c, left, right);
    compare->bytes = (uint32_t)relation;
    compare->rank = sf_number_rank(right->number);
    if (relation == (SF_LESS | SF_EQUAL) || relation == SF_GREATER) {
        compare->rank = sf_rank_next(compare->rank);
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
        struct sf_instruction *compare = emit_predicate(c, SF_OP_COMPARE_NUMBERS, true, group);
        compare->accepts = (uint8_t)relation;
        compare->slot = 0;
        compare->bytes = 1;
    }
}

/* EQUAL_LONG or another operator over a name and a text. Two of them are faster for texts that fit into a word. */
static struct sf_instruction *emit_text(struct compiler *c, enum sf_opcode opcode,
                                        const struct sf_node *name, struct sf_text text,
                                        bool accepted, struct group *group) {
    const uint64_t all = UINT64_MAX;
    bool is_equal = opcode == SF_OP_EQUAL_LONG;
    bool is_word = text.bytes <= sizeof all && (is_equal || opcode == SF_OP_STARTS_WITH_LONG);
    uint32_t offset = is_word ? 0 : add_data(c, text.at, text.bytes);
    if (is_word) {
        opcode = is_equal ? SF_OP_EQUAL : SF_OP_STARTS_WITH;
    }
    struct sf_instruction *instruction = emit_predicate(c, opcode, accepted, group);
    instruction->slot = name->slot;
    instruction->heeds = SF_VALUE_ABSENT;
    instruction->bytes = (uint32_t)text.bytes;
    instruction->word = sf_text_word(text.at, text.bytes);
    if (is_word) {
        instruction->mask = sf_text_word((const char *)&all, text.bytes);
    } else {
        instruction->offset = offset;
    }
    return instruction;
}

static void emit_text_equality(struct compiler *c, const struct sf_node *left,
                               const struct sf_node *right, bool accepted, struct group *group) {
    if (!is_slot(left) && !is_slot(right)) {
        emit_constant(c, truth_of(sf_text_equal(left->text, right->text) == accepted), group);
    } else if (is_slot(left) && is_slot(right)) {
        struct sf_instruction *equal = emit_predicate(c, SF_OP_EQUAL_SLOTS, accepted, group);
        equal->slot = left->slot;
        equal->bytes = right->slot;
        equal->heeds = SF_VALUE_ABSENT;
    } else if (is_slot(left)) {
        emit_text(c, SF_OP_EQUAL_LONG, left, right->text, accepted, group);
    } else {
        emit_text(c, SF_OP_EQUAL_LONG, right, left->text, accepted, group);
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
        emit_text(c, SF_OP_EQUAL_LONG, left, right->text, true, group)->heeds |= SF_VALUE_EARLIER;
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
        heeds_of_number(c, operand, low) == heeds_of_number(c, operand, high)) {
        struct sf_instruction *between = emit_predicate(c, SF_OP_BETWEEN, !negated, group);
        between->slot = operand->slot;
        between->heeds = heeds_of_number(c, operand, low);
        between->low = low->number.integer;
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
    if (has_star(node)) {
        emit_constant(c, SF_TRUE, group);
        return;
    }
    if (left->next->next == NULL) {
        struct sf_node *comparison = make_comparison(c, left, SF_EQUAL, left->next, node->any);
        if (comparison != NULL) {
            emit_comparison(c, comparison, negated, group);
        }
        return;
    }
    bool is_strict = c->strict_integers && sf_node_kind(left) == SF_KIND_NAME;
    struct sf_set set;
    if (sf_set_build(&set, c->arena, &c->data, left->next, is_strict) != SF_OK) {
        fail(c);
        return;
    }
    bool is_few = sf_set_is_few(&set, &c->data);
    struct sf_instruction *in =
        emit_predicate(c, is_few ? SF_OP_IN_FEW : SF_OP_IN, !negated, group);
    in->slot = left->slot;
    in->heeds = (uint8_t)((set.n_numbers == 0 ? SF_VALUE_ABSENT : SF_VALUE_UNTRIED) |
                          (node->any ? SF_VALUE_EARLIER : 0));
    in->bytes = set.n_texts;
    in->n_numbers = set.n_numbers;
    in->offset = set.offset;
}

static enum sf_opcode opcode_of_text(enum sf_node_type type) {
    return type == SF_NODE_CONTAINS     ? SF_OP_CONTAINS
           : type == SF_NODE_STARTSWITH ? SF_OP_STARTS_WITH_LONG
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
                      : (open_end ? SF_OP_STARTS_WITH_LONG : SF_OP_EQUAL_LONG);
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

static void emit_is_true(struct compiler *c, const struct sf_node *node, bool accepted,
                         struct group *group) {
    struct sf_instruction *is_true = emit_predicate(c, SF_OP_IS_TRUE, accepted, group);
    is_true->slot = node->slot;
    is_true->heeds = SF_VALUE_ABSENT;
}

static void emit_is_null(struct compiler *c, const struct sf_node *node, bool negated,
                         struct group *group) {
    const struct sf_node *operand = node->first;
    bool accepted = negated != node->negated; /* what it is when the operand is known */
    switch (sf_node_kind(operand)) {
    case SF_KIND_NAME:
        emit_predicate(c, SF_OP_IS_PRESENT, accepted, group)->slot = operand->slot;
        break;
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
    case SF_NODE_ATTRIBUTE:
        emit_is_true(c, node, !negated, group);
        break;
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
        assert(false); /* the checker refuses these as conditions */
        break;
    }
}

/* ---- the whole ------------------------------------------------------------------------------------------------- */

static void emit_root(struct compiler *c, const struct sf_node *root) {
    bool negated = false;
    const struct sf_node *inner = without_not(root, &negated);
    bool is_junction = inner->type == SF_NODE_OR || inner->type == SF_NODE_AND;
    struct group group = open_group(c, is_junction ? stop_of(inner, negated) : SF_FALSE, 0);
    emit_condition(c, inner, negated, &group);
    if (c->status == SF_OK) {
        c->code[group.last - 1].jump = SF_LAST;
        c->code[group.last - 1].truths = sf_truths(group.stop);
    }
    emit_end(c, SF_OP_RETURN, &group, 0);
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
    for (size_t i = 0; i < c->n_code; i++) {
        if (sf_opcode_has_data((enum sf_opcode)program->code[i].opcode)) {
            program->code[i].offset += (c->n_code - i) * sizeof *c->code;
        }
    }
    if (c->data.bytes > 0) {
        memcpy((char *)(program->code + c->n_code), c->data.at, c->data.bytes);
    }
    assert(sf_program_is_valid(program, sf_slot_of_name(c->names->n_used)));
    return program;
}

enum sf_status sf_compile_tree(struct sf_arena *arena, struct sf_intern *names,
                               bool strict_integers, struct sf_node *root,
                               struct sf_compiled *compiled_out) {
    struct compiler c = {
        .arena = arena,
        .names = names,
        .strict_integers = strict_integers,
        .data = {.arena = arena},
    };
    prepare(&c, root);
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
