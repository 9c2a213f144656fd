/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The compiler: one walk over the tree that finds names and costs, one that emits. NOT is no instruction; it is carried
 * down to the conditions, which can all be negated, and turns AND into OR on the way. */
#include "compile.h"

#include <assert.h>

#include "emit.h"
#include "like.h"
#include "set.h"
#include "value.h"

struct compiler {
    struct sf_emitter out;
    bool strict_integers;
    uint16_t open_truths; /* truth registers that are in use */
};

static void emit_condition(struct compiler *c, const struct sf_node *node, bool negated,
                           struct sf_group *group);

/* ---- names and costs ------------------------------------------------------------------------------------------- */

/* A list that long is costly. */
enum { LONG_LIST = 16 };

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
        return true;
    case SF_NODE_SIGN:
    case SF_NODE_ARITHMETIC:
        return !node->is_constant;
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
    if (sf_node_is_slot(node)) {
        node->slot = node->type == SF_NODE_NAME ? sf_emit_name(&c->out, node->text)
                                                : sf_slot_of_attribute(node->attribute);
    }
    node->is_costly = is_costly_itself(node);
    for (struct sf_node *child = has_star(node) ? NULL : node->first; child != NULL;
         child = child->next) {
        prepare(c, child);
        node->is_costly = node->is_costly || child->is_costly;
    }
}

/* ---- groups ---------------------------------------------------------------------------------------------------- */

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
static bool is_nested(const struct sf_node *node, bool negated, const struct sf_group *group) {
    node = without_not(node, &negated);
    return (node->type == SF_NODE_AND || node->type == SF_NODE_OR) &&
           stop_of(node, negated) != group->stop;
}

/* In which order the conditions of a group come: first those that are groups, since the first thing in a group can be
 * one without a BEGIN; the costly ones last. */
enum turn { TURN_NESTED, TURN_CHEAP, TURN_COSTLY, N_TURNS };

static void emit_children(struct compiler *c, const struct sf_node *node, bool negated,
                          struct sf_group *group) {
    for (unsigned turn = 0; turn < N_TURNS; turn++) {
        for (const struct sf_node *child = node->first; child != NULL; child = child->next) {
            enum turn own = child->is_costly                   ? TURN_COSTLY
                            : is_nested(child, negated, group) ? TURN_NESTED
                                                               : TURN_CHEAP;
            if (own == turn) {
                sf_group_check(&c->out, group, child->is_costly);
                emit_condition(c, child, negated, group);
            }
        }
    }
}

static void emit_junction(struct compiler *c, const struct sf_node *node, bool negated,
                          struct sf_group *group) {
    enum sf_truth stop = stop_of(node, negated);
    if (group->stop == stop) {
        emit_children(c, node, negated, group);
        return;
    }
    bool is_first = group->last == 0;
    struct sf_group inner = sf_group_inside(&c->out, stop, group);
    if (!is_first) {
        sf_group_begin(&c->out, group);
    }
    emit_children(c, node, negated, &inner);
    sf_group_join(&c->out, &inner, group, is_first);
}

/* Put the truth of a condition into a register. */
static void emit_truth(struct compiler *c, const struct sf_node *node, uint16_t register_,
                       const struct sf_group *group) {
    struct sf_group inner = sf_group_inside(&c->out, SF_FALSE, group);
    sf_group_begin(&c->out, group);
    emit_condition(c, node, false, &inner);
    sf_group_settle(&c->out, &inner, group, register_);
}

/* ---- numbers --------------------------------------------------------------------------------------------------- */

static void emit_constant_number(struct compiler *c, struct sf_number number, uint16_t register_) {
    if (number.kind == SF_NUMBER_INTEGER) {
        struct sf_instruction *load = sf_emit(&c->out, SF_OP_LOAD_INTEGER);
        load->slot = register_;
        load->integer = number.integer;
    } else if (number.kind == SF_NUMBER_REAL) {
        struct sf_instruction *load = sf_emit(&c->out, SF_OP_LOAD_REAL);
        load->slot = register_;
        load->real = number.real;
    } else {
        sf_emit(&c->out, SF_OP_LOAD_NONE)->slot = register_;
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
    sf_emit_use_number(&c->out, register_);
    if (node->is_constant) {
        emit_constant_number(c, node->number, register_);
    } else if (sf_node_is_slot(node)) {
        struct sf_instruction *load = sf_emit(&c->out, SF_OP_LOAD_SLOT);
        load->slot = register_;
        load->bytes = node->slot;
    } else if (node->type == SF_NODE_SIGN) {
        emit_number(c, node->first, register_);
        if (node->sign == '-') {
            sf_emit(&c->out, SF_OP_NEGATE)->slot = register_;
        }
    } else {
        emit_number(c, node->first, register_);
        emit_number(c, node->first->next, (uint16_t)(register_ + 1));
        struct sf_instruction *compute = sf_emit(&c->out, opcode_of_sign(node->sign));
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
                                 struct sf_group *group) {
    bool is_equality = relation == SF_EQUAL || relation == (SF_LESS | SF_GREATER);
    bool accepted = is_equality ? relation == SF_EQUAL : (relation & SF_LESS) != 0;
    struct sf_instruction *compare =
        sf_group_emit(&c->out, group, is_equality ? SF_OP_SAME : SF_OP_LESS, accepted);
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
                                   struct sf_group *group) {
    if ((left->is_constant && left->number.kind == SF_NUMBER_NONE) ||
        (right->is_constant && right->number.kind == SF_NUMBER_NONE)) {
        sf_group_emit_constant(&c->out, group, SF_UNKNOWN);
    } else if (left->is_constant && right->is_constant) {
        bool holds = (sf_number_compare(left->number, right->number) & relation) != 0;
        sf_group_emit_constant(&c->out, group, truth_of(holds));
    } else if (sf_node_is_slot(left) && right->is_constant) {
        emit_slot_comparison(c, left, right, relation, false, group);
    } else if (sf_node_is_slot(right) && left->is_constant) {
        emit_slot_comparison(c, right, left, mirrored(relation), false, group);
    } else {
        emit_number(c, left, 0);
        emit_number(c, right, 1);
        struct sf_instruction *compare = sf_group_emit(&c->out, group, SF_OP_COMPARE_NUMBERS, true);
        compare->accepts = (uint8_t)relation;
        compare->slot = 0;
        compare->bytes = 1;
    }
}

/* EQUAL_LONG or another operator over a name and a text. Two of them are faster for texts that fit into a word. */
static struct sf_instruction *emit_text(struct compiler *c, enum sf_opcode opcode,
                                        const struct sf_node *name, struct sf_text text,
                                        bool accepted, struct sf_group *group) {
    const uint64_t all = UINT64_MAX;
    bool is_equal = opcode == SF_OP_EQUAL_LONG;
    bool is_word = text.bytes <= sizeof all && (is_equal || opcode == SF_OP_STARTS_WITH_LONG);
    uint32_t offset = is_word ? 0 : sf_emit_data(&c->out, text);
    if (is_word) {
        opcode = is_equal ? SF_OP_EQUAL : SF_OP_STARTS_WITH;
    }
    struct sf_instruction *instruction = sf_group_emit(&c->out, group, opcode, accepted);
    instruction->slot = name->slot;
    instruction->heeds = SF_VALUE_ABSENT;
    instruction->bytes = (uint32_t)text.bytes;
    instruction->word = sf_text_word(text.at, text.bytes);
    if (is_word) {
        instruction->mask = sf_text_word((const char *)&all, text.bytes);
    } else {
        instruction->offset = offset;
    }
    if (is_equal && accepted) {
        sf_group_guard(&c->out, group);
    }
    return instruction;
}

static void emit_text_equality(struct compiler *c, const struct sf_node *left,
                               const struct sf_node *right, bool accepted, struct sf_group *group) {
    if (!sf_node_is_slot(left) && !sf_node_is_slot(right)) {
        sf_group_emit_constant(&c->out, group,
                               truth_of(sf_text_equal(left->text, right->text) == accepted));
    } else if (sf_node_is_slot(left) && sf_node_is_slot(right)) {
        struct sf_instruction *equal = sf_group_emit(&c->out, group, SF_OP_EQUAL_SLOTS, accepted);
        equal->slot = left->slot;
        equal->bytes = right->slot;
        equal->heeds = SF_VALUE_ABSENT;
    } else if (sf_node_is_slot(left)) {
        emit_text(c, SF_OP_EQUAL_LONG, left, right->text, accepted, group);
    } else {
        emit_text(c, SF_OP_EQUAL_LONG, right, left->text, accepted, group);
    }
}

/* Of two operands at least one is a condition, so both are taken as such. */
static void emit_truth_equality(struct compiler *c, const struct sf_node *left,
                                const struct sf_node *right, bool accepted,
                                struct sf_group *group) {
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
        struct sf_instruction *equal = sf_group_emit(&c->out, group, SF_OP_EQUAL_TRUTHS, accepted);
        equal->slot = register_;
        equal->bytes = register_ + 1u;
    }
}

static void emit_comparison(struct compiler *c, const struct sf_node *node, bool negated,
                            struct sf_group *group) {
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
    struct sf_node *nodes = sf_emit_alloc(&c->out, 3 * sizeof *nodes);
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
                         struct sf_group *group) {
    const struct sf_node *operand = node->first;
    const struct sf_node *low = operand->next;
    const struct sf_node *high = low->next;
    negated = negated != node->negated;
    if (sf_node_is_slot(operand) && low->is_constant && high->is_constant &&
        low->number.kind == SF_NUMBER_INTEGER && high->number.kind == SF_NUMBER_INTEGER &&
        heeds_of_number(c, operand, low) == heeds_of_number(c, operand, high)) {
        struct sf_instruction *between = sf_group_emit(&c->out, group, SF_OP_BETWEEN, !negated);
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
                    struct sf_group *group) {
    const struct sf_node *left = node->first;
    negated = negated != node->negated;
    if (has_star(node)) {
        sf_group_emit_constant(&c->out, group, SF_TRUE);
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
    if (sf_set_build(&set, c->out.arena, &c->out.data, left->next, is_strict) != SF_OK) {
        sf_emit_fail(&c->out);
        return;
    }
    bool is_few = sf_set_is_few(&set, &c->out.data);
    struct sf_instruction *in =
        sf_group_emit(&c->out, group, is_few ? SF_OP_IN_FEW : SF_OP_IN, !negated);
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
    bool open_end = text.bytes > 0 ? text.at[text.bytes - 1] == SF_LIKE_RUN : open_start;
    text.bytes -= open_end && text.bytes > 0 ? 1 : 0;
    if (text.bytes > 0 && (memchr(text.at, SF_LIKE_ONE, text.bytes) != NULL ||
                           memchr(text.at, SF_LIKE_RUN, text.bytes) != NULL)) {
        return SF_OP_LIKE;
    }
    *pattern = text;
    if (open_end) {
        return open_start && text.bytes > 0 ? SF_OP_CONTAINS : SF_OP_STARTS_WITH_LONG;
    }
    return open_start ? SF_OP_ENDS_WITH : SF_OP_EQUAL_LONG;
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
                               struct sf_group *group) {
    bool accepted = negated == node->negated;
    if (node->first->type == SF_NODE_STRING) {
        sf_group_emit_constant(&c->out, group,
                               truth_of(holds_for_string(node, node->first->text) == accepted));
    } else if (node->type == SF_NODE_LIKE) {
        struct sf_text pattern = node->pattern;
        enum sf_opcode opcode = simplify_pattern(&pattern);
        emit_text(c, opcode, node->first, pattern, accepted, group);
    } else {
        emit_text(c, opcode_of_text(node->type), node->first, node->text, accepted, group);
    }
}

static void emit_is_true(struct compiler *c, const struct sf_node *node, bool accepted,
                         struct sf_group *group) {
    struct sf_instruction *is_true = sf_group_emit(&c->out, group, SF_OP_IS_TRUE, accepted);
    is_true->slot = node->slot;
    is_true->heeds = SF_VALUE_ABSENT;
    is_true->word = sf_text_word("true    ", 8);
    is_true->word_of_false = sf_text_word("false   ", 8);
}

static void emit_is_null(struct compiler *c, const struct sf_node *node, bool negated,
                         struct sf_group *group) {
    const struct sf_node *operand = node->first;
    bool accepted = negated != node->negated; /* what it is when the operand is known */
    switch (sf_node_kind(operand)) {
    case SF_KIND_NAME:
        sf_group_emit(&c->out, group, SF_OP_IS_PRESENT, accepted)->slot = operand->slot;
        break;
    case SF_KIND_STRING:
        sf_group_emit_constant(&c->out, group, truth_of(accepted));
        break;
    case SF_KIND_NULL:
        sf_group_emit_constant(&c->out, group, truth_of(!accepted));
        break;
    case SF_KIND_NUMBER:
        emit_number(c, operand, 0);
        sf_group_emit(&c->out, group, SF_OP_IS_NUMBER, accepted)->slot = 0;
        break;
    case SF_KIND_CONDITION:
        emit_truth(c, operand, c->open_truths, group);
        sf_group_emit(&c->out, group, SF_OP_IS_KNOWN, accepted)->slot = c->open_truths;
        break;
    }
}

static void emit_condition(struct compiler *c, const struct sf_node *node, bool negated,
                           struct sf_group *group) {
    switch (node->type) {
    case SF_NODE_NAME:
    case SF_NODE_ATTRIBUTE:
        emit_is_true(c, node, !negated, group);
        break;
    case SF_NODE_TRUTH:
        sf_group_emit_constant(&c->out, group, truth_of(node->is_true != negated));
        break;
    case SF_NODE_NULL:
        sf_group_emit_constant(&c->out, group, SF_UNKNOWN);
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
    root = without_not(root, &negated);
    bool is_junction = root->type == SF_NODE_OR || root->type == SF_NODE_AND;
    enum sf_truth stop = is_junction ? stop_of(root, negated) : SF_FALSE;
    struct sf_group group = sf_group_outermost(&c->out, stop);
    emit_condition(c, root, negated, &group);
    sf_group_return(&c->out, &group);
}

static const struct sf_program *compile(struct compiler *c, struct sf_node *root) {
    prepare(c, root);
    emit_root(c, root);
    return sf_emit_program(&c->out);
}

static struct compiler start(struct sf_arena *arena, struct sf_intern *names,
                             bool strict_integers) {
    return (struct compiler){
        .out = {.arena = arena, .names = names, .status = SF_OK, .data = {.arena = arena}},
        .strict_integers = strict_integers,
    };
}

enum sf_status sf_compile_tree(struct sf_arena *arena, struct sf_intern *names,
                               bool strict_integers, struct sf_node *root,
                               struct sf_compiled *compiled_out) {
    struct compiler c = start(arena, names, strict_integers);
    const struct sf_program *program = compile(&c, root);
    if (program == NULL) {
        sf_emit_release_names(&c.out);
        return SF_E_NOMEM;
    }
    *compiled_out = (struct sf_compiled){program, c.out.name_ids, c.out.n_names};
    return SF_OK;
}

const struct sf_program *sf_compile_part(struct sf_arena *arena, struct sf_intern *names,
                                         bool strict_integers, struct sf_node *root) {
    struct compiler c = start(arena, names, strict_integers);
    c.out.borrows_names = true;
    return compile(&c, root);
}
