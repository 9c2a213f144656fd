/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Putting programs together. program.h draws what comes out. */
#include "emit.h"

#include <assert.h>

#include "value.h"

/* So many cheap conditions are evaluated before it is looked whether their group is decided. */
enum { MAX_UNCHECKED = 8 };

/* ---- memory ---------------------------------------------------------------------------------------------------- */

void sf_emit_fail(struct sf_emitter *emitter) {
    emitter->status = SF_E_NOMEM;
}

void *sf_emit_alloc(struct sf_emitter *emitter, size_t bytes) {
    void *memory = sf_arena_alloc(emitter->arena, bytes);
    if (memory == NULL) {
        sf_emit_fail(emitter);
    }
    return memory;
}

/* An array twice as large (at first `least`) with the same `n` elements. NULL: out of memory. */
static void *grow(struct sf_emitter *emitter, const void *old, size_t n, size_t least,
                  size_t element_bytes, size_t *capacity_out) {
    size_t capacity = n == 0 ? least : 2 * n;
    void *grown = sf_emit_alloc(emitter, capacity * element_bytes);
    if (grown != NULL && n > 0) {
        memcpy(grown, old, n * element_bytes);
    }
    *capacity_out = capacity;
    return grown;
}

struct sf_instruction *sf_emit(struct sf_emitter *emitter, enum sf_opcode opcode) {
    if (emitter->n_code == emitter->code_capacity && emitter->status == SF_OK) {
        emitter->code = grow(emitter, emitter->code, emitter->n_code, 16, sizeof *emitter->code,
                             &emitter->code_capacity);
    }
    struct sf_instruction *instruction =
        emitter->status == SF_OK ? &emitter->code[emitter->n_code++] : &emitter->spare;
    *instruction = (struct sf_instruction){.opcode = (uint8_t)opcode};
    assert(emitter->n_code < SF_LAST);
    return instruction;
}

uint32_t sf_emit_data(struct sf_emitter *emitter, struct sf_text text) {
    size_t offset = emitter->data.bytes;
    sf_buffer_add(&emitter->data, text.at, text.bytes);
    if (emitter->data.failed) {
        sf_emit_fail(emitter);
    }
    return (uint32_t)offset;
}

void sf_emit_use_number(struct sf_emitter *emitter, uint16_t index) {
    if (index >= emitter->n_numbers) {
        emitter->n_numbers = (uint16_t)(index + 1);
    }
}

void sf_emit_use_truth(struct sf_emitter *emitter, uint16_t index) {
    if (index >= emitter->n_truths) {
        emitter->n_truths = (uint16_t)(index + 1);
    }
}

/* ---- names ----------------------------------------------------------------------------------------------------- */

static bool has_name(const struct sf_emitter *emitter, uint32_t id) {
    for (uint32_t i = 0; i < emitter->n_names; i++) {
        if (emitter->name_ids[i] == id) {
            return true;
        }
    }
    return false;
}

/* Make room for one more. */
static void reserve_name(struct sf_emitter *emitter) {
    if (emitter->n_names == emitter->names_capacity) {
        size_t capacity = 0;
        uint32_t *ids =
            grow(emitter, emitter->name_ids, emitter->n_names, 8, sizeof *ids, &capacity);
        emitter->name_ids = ids;
        emitter->names_capacity = (uint32_t)capacity;
    }
}

/* The name's id, to which a reference is kept for the program. */
static uint32_t acquire_name(struct sf_emitter *emitter, struct sf_text name) {
    uint32_t id = 0;
    reserve_name(emitter);
    if (emitter->status != SF_OK) {
        return 0;
    }
    if (sf_intern_acquire(emitter->names, name, &id) != SF_OK) {
        sf_emit_fail(emitter);
        return 0;
    }
    if (has_name(emitter, id)) {
        (void)sf_intern_release(emitter->names, id);
    } else {
        emitter->name_ids[emitter->n_names++] = id;
    }
    return id;
}

uint32_t sf_emit_name(struct sf_emitter *emitter, struct sf_text name) {
    return sf_slot_of_name(emitter->borrows_names ? sf_intern_find(emitter->names, name)
                                                  : acquire_name(emitter, name));
}

void sf_emit_release_names(struct sf_emitter *emitter) {
    for (uint32_t i = 0; i < emitter->n_names; i++) {
        (void)sf_intern_release(emitter->names, emitter->name_ids[i]);
    }
    emitter->n_names = 0;
}

/* ---- groups ---------------------------------------------------------------------------------------------------- */

static struct sf_group open_group(struct sf_emitter *emitter, enum sf_truth stop, unsigned depth) {
    if (depth >= emitter->n_depths) {
        emitter->n_depths = (uint16_t)(depth + 1);
    }
    return (struct sf_group){.stop = (uint8_t)stop, .depth = (uint16_t)depth};
}

struct sf_group sf_group_outermost(struct sf_emitter *emitter, enum sf_truth stop) {
    return open_group(emitter, stop, 0);
}

struct sf_group sf_group_inside(struct sf_emitter *emitter, enum sf_truth stop,
                                const struct sf_group *outer) {
    return open_group(emitter, stop, outer->depth + 1u);
}

/* The instruction that was just emitted is a condition of the group. */
static void add_condition(struct sf_emitter *emitter, struct sf_group *group,
                          struct sf_instruction *condition) {
    condition->stop = group->stop & 1u;
    condition->indent = group->depth & 127u;
    group->last = emitter->n_code;
    group->n_unchecked++;
}

struct sf_instruction *sf_group_emit(struct sf_emitter *emitter, struct sf_group *group,
                                     enum sf_opcode opcode, bool accepted) {
    struct sf_instruction *condition = sf_emit(emitter, opcode);
    condition->flip = accepted != (group->stop == SF_TRUE);
    add_condition(emitter, group, condition);
    return condition;
}

void sf_group_guard(struct sf_emitter *emitter, const struct sf_group *group) {
    if (group->depth == 0 && group->stop == SF_FALSE && emitter->guard == 0) {
        emitter->guard = (uint16_t)group->last;
    }
}

void sf_group_emit_constant(struct sf_emitter *emitter, struct sf_group *group,
                            enum sf_truth truth) {
    uint8_t decided = (uint8_t)truth == group->stop ? SF_DECIDED : 0;
    sf_group_emit(emitter, group, SF_OP_CONSTANT, true)->flip =
        truth == SF_UNKNOWN ? SF_DOUBTFUL : decided;
}

void sf_group_check(struct sf_emitter *emitter, struct sf_group *group, bool before_costly) {
    bool is_worth_it = group->n_unchecked >= (before_costly ? 1 : MAX_UNCHECKED);
    if (is_worth_it && emitter->status == SF_OK) {
        emitter->code[group->last - 1].jump = (uint16_t)group->last_jump;
        group->last_jump = group->last;
        group->n_unchecked = 0;
    }
}

void sf_group_begin(struct sf_emitter *emitter, const struct sf_group *outer) {
    struct sf_instruction *begin = sf_emit(emitter, SF_OP_BEGIN);
    begin->indent = outer->depth & 127u;
    begin->bytes = outer->depth;
}

/* The instruction to which all conditions go that leave the group. */
static struct sf_instruction *emit_end(struct sf_emitter *emitter, const struct sf_group *group,
                                       enum sf_opcode opcode, unsigned outer_depth) {
    for (size_t at = group->last_jump; at != 0 && emitter->status == SF_OK;) {
        struct sf_instruction *leaving = &emitter->code[at - 1];
        size_t before = leaving->jump;
        leaving->jump = (uint16_t)(emitter->n_code - (at - 1));
        at = before;
    }
    struct sf_instruction *end = sf_emit(emitter, opcode);
    end->indent = outer_depth & 127u;
    end->bytes = outer_depth;
    end->truths = sf_truths(group->stop);
    return end;
}

void sf_group_join(struct sf_emitter *emitter, const struct sf_group *group, struct sf_group *outer,
                   bool is_first) {
    struct sf_instruction *join = emit_end(emitter, group, SF_OP_JOIN, outer->depth);
    join->is_first = is_first;
    add_condition(emitter, outer, join);
}

void sf_group_settle(struct sf_emitter *emitter, const struct sf_group *group,
                     const struct sf_group *outer, uint16_t register_) {
    emit_end(emitter, group, SF_OP_SETTLE, outer->depth)->slot = register_;
    sf_emit_use_truth(emitter, register_);
}

void sf_group_return(struct sf_emitter *emitter, const struct sf_group *group) {
    if (emitter->status == SF_OK) {
        struct sf_instruction *last = &emitter->code[group->last - 1];
        last->jump = SF_LAST;
        last->truths = sf_truths(group->stop);
    }
    (void)emit_end(emitter, group, SF_OP_RETURN, 0);
}

/* ---- the whole ------------------------------------------------------------------------------------------------- */

const struct sf_program *sf_emit_program(struct sf_emitter *emitter) {
    size_t n = emitter->n_code;
    size_t code_bytes = n * sizeof *emitter->code;
    struct sf_program *program = NULL;
    if (emitter->status == SF_OK) {
        program = sf_emit_alloc(emitter, sizeof *program + code_bytes + emitter->data.bytes);
    }
    if (program == NULL) {
        return NULL;
    }
    program->n_instructions = (uint32_t)n;
    program->data_bytes = (uint32_t)emitter->data.bytes;
    program->n_depths = emitter->n_depths;
    program->n_numbers = emitter->n_numbers;
    program->n_truths = emitter->n_truths;
    program->guard = emitter->guard;
    memcpy(program->code, emitter->code, code_bytes);
    for (size_t i = 0; i < n; i++) {
        struct sf_instruction *at = &program->code[i];
        at->step = sf_step_of(at->opcode, at->jump);
        if (sf_opcode_has_data((enum sf_opcode)at->opcode)) {
            at->offset += (n - i) * sizeof *at;
        }
    }
    if (emitter->data.bytes > 0) {
        memcpy((char *)(program->code + n), emitter->data.at, emitter->data.bytes);
    }
    assert(sf_program_is_valid(program, sf_slot_of_name(emitter->names->n_used)));
    return program;
}
