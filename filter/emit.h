/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A program while it is put together: instructions, the data behind them, the names it reads, its groups. Out of memory
 * is remembered and looked at once, in the end; until then nothing here fails. */
#ifndef SUBFILTER_EMIT_H
#define SUBFILTER_EMIT_H

#include "arena.h"
#include "buffer.h"
#include "intern.h"
#include "program.h"

struct sf_emitter {
    struct sf_arena *arena;
    struct sf_intern *names;
    bool borrows_names; /* all names are known and somebody else holds references to them */
    enum sf_status status;
    struct sf_instruction *code;
    size_t n_code;
    size_t code_capacity;
    struct sf_instruction spare; /* what is written to when there is no memory left */
    struct sf_buffer data;
    uint32_t *
        name_ids; /* each once, in order of first appearance; unless borrowed, a reference to each */
    uint32_t n_names;
    uint32_t names_capacity;
    uint16_t n_depths;
    uint16_t n_numbers;
    uint16_t n_truths;
    uint16_t guard; /* as in the program */
};

/* Conditions that AND or OR joins, while they are emitted. */
struct sf_group {
    uint8_t stop; /* the truth that decides: SF_FALSE of AND, SF_TRUE of OR */
    uint16_t depth;
    size_t last;        /* 1 + the latest condition; 0: there is none yet */
    size_t last_jump;   /* 1 + the latest one that jumps to the end; from there a list, by `jump` */
    size_t n_unchecked; /* conditions since then */
};

/* Zeroed memory from the arena; NULL: out of memory, which is remembered. */
void *sf_emit_alloc(struct sf_emitter *emitter, size_t bytes);

/* Remember that there was no memory. */
void sf_emit_fail(struct sf_emitter *emitter);

/* A new instruction, zeroed; to be filled in before the next call. Never NULL. */
struct sf_instruction *sf_emit(struct sf_emitter *emitter, enum sf_opcode opcode);

/* Put a text into the data; returns where. */
uint32_t sf_emit_data(struct sf_emitter *emitter, struct sf_text text);

/* The slot of a name, which the program reads from now on. */
uint32_t sf_emit_name(struct sf_emitter *emitter, struct sf_text name);

/* Count registers up to this one. */
void sf_emit_use_number(struct sf_emitter *emitter, uint16_t index);
void sf_emit_use_truth(struct sf_emitter *emitter, uint16_t index);

/* A group that `stop` decides, the outermost one or inside `outer`. */
struct sf_group sf_group_outermost(struct sf_emitter *emitter, enum sf_truth stop);
struct sf_group sf_group_inside(struct sf_emitter *emitter, enum sf_truth stop,
                                const struct sf_group *outer);

/* A condition of the group that is true when its predicate holds, or with accepted false when that does not. */
struct sf_instruction *sf_group_emit(struct sf_emitter *emitter, struct sf_group *group,
                                     enum sf_opcode opcode, bool accepted);

/* Without the condition of the group that was emitted last, an equality with a text, the group does not hold. */
void sf_group_guard(struct sf_emitter *emitter, const struct sf_group *group);

/* A condition whose truth is known. */
void sf_group_emit_constant(struct sf_emitter *emitter, struct sf_group *group,
                            enum sf_truth truth);

/* Before the next condition: let the latest one leave the group when that is decided, if that is worth it. */
void sf_group_check(struct sf_emitter *emitter, struct sf_group *group, bool before_costly);

/* Before the first condition of a group inside `outer`. */
void sf_group_begin(struct sf_emitter *emitter, const struct sf_group *outer);

/* The end of a group: as a condition of `outer` (is_first: there was no sf_group_begin), or into a truth register. */
void sf_group_join(struct sf_emitter *emitter, const struct sf_group *group, struct sf_group *outer,
                   bool is_first);
void sf_group_settle(struct sf_emitter *emitter, const struct sf_group *group,
                     const struct sf_group *outer, uint16_t register_);

/* The end of the outermost group, and of the code. */
void sf_group_return(struct sf_emitter *emitter, const struct sf_group *group);

/* Everything in one block, in the arena. NULL: out of memory, now or before. */
const struct sf_program *sf_emit_program(struct sf_emitter *emitter);

/* Give the references to names back. */
void sf_emit_release_names(struct sf_emitter *emitter);

#endif
