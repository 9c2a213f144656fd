/* SPDX-License-Identifier: BSD-3-Clause
 *
 * filter/program.h by itself: equal expressions are equal bytes, and a program that was damaged is found to be. */
#include "program.h"

#include <stdlib.h>
#include <string.h>

#include "runner.h"
#include "schema.h"
#include "value.h"

static const char *const expressions[] = {
    "location=roomA&value>25&text=longer than a word",
    "tag:PAID||SHIPPED||a tag that is longer than a word",
    "sql:amount > 100 AND (region = 'BEIJING' OR NOT flag) AND a LIKE '%x_y%' AND b <> c",
    "sql:a IN ('x', 'y') OR a IN ('x', 5, -6.5, 'longer than a word') OR a BETWEEN 1 AND 5",
    "sql:(a = 1) = (b = 2) AND a + b * 2 > -c AND (d - 1) IS NULL AND (e < 5) IS NOT NULL",
    "sql:a STARTSWITH 'x' OR a STARTSWITH 'longer than a word' OR a ENDSWITH 'x' OR a CONTAINS 'x'",
};

struct fixture {
    struct sf_schema *schema;
    struct sf_filter *filter;
};

static void undo_fixture(void *user) {
    struct fixture *fixture = user;
    sf_filter_unref(fixture->filter);
    sf_schema_free(fixture->schema);
    *fixture = (struct fixture){0};
}

static void compile(struct fixture *fixture, const char *expression) {
    fixture->schema = sf_schema_new();
    test_defer(undo_fixture, fixture);
    struct sf_error error = {.text = "no schema"};
    bool ok =
        fixture->schema != NULL && sf_compile(fixture->schema, NULL, expression, strlen(expression),
                                              &fixture->filter, &error) == SF_OK;
    REQUIRE(ok, "%s: %s", expression, error.text);
}

static uint32_t n_slots_of(const struct fixture *fixture) {
    return sf_slot_of_name(fixture->schema->names.n_used);
}

static void test_program_bytes_depend_on_the_meaning_only(void) {
    static const char *const spellings[][2] = {
        {"sql:a>5 and b in('x','y')", "SQL:((a) > 5) /* */ AND (b IN ( 'x' , 'y' ))"},
        {"sql:a <> 5", "sql:a != 5"},
        {"loc%61tion=a&b>=2", " location = a & b >= 2 "},
        {"sql:a LIKE 'abc%'", "sql:a STARTSWITH 'abc'"},
        {"sql:a > 5.0", "sql:a > 5"},
    };
    for (size_t i = 0; i < N_ROWS(spellings); i++) {
        static struct fixture first;
        static struct fixture second;
        compile(&first, spellings[i][0]);
        compile(&second, spellings[i][1]);
        const struct sf_program *a = sf_filter_program(first.filter);
        const struct sf_program *b = sf_filter_program(second.filter);
        CHECK(sf_program_bytes(a) == sf_program_bytes(b) && memcmp(a, b, sf_program_bytes(a)) == 0,
              "%s", spellings[i][0]);
        undo_fixture(&first);
        undo_fixture(&second);
    }
}

/* ---- damage ---------------------------------------------------------------------------------------------------- */

struct damage {
    const char *what;
    void (*apply)(struct sf_program *program, struct sf_instruction *at);
    bool (*is_sure)(
        const struct sf_instruction *at); /* that it is found; NULL: in any instruction */
};

static bool has_data(const struct sf_instruction *at) {
    return sf_opcode_has_data((enum sf_opcode)at->opcode);
}

static bool has_slot(const struct sf_instruction *at) {
    return at->opcode == SF_OP_EQUAL || at->opcode == SF_OP_LESS || at->opcode == SF_OP_LIKE ||
           at->opcode == SF_OP_IN || at->opcode == SF_OP_EQUAL_SLOTS ||
           at->opcode == SF_OP_LOAD_INTEGER || at->opcode == SF_OP_SETTLE ||
           at->opcode == SF_OP_IS_KNOWN;
}

static bool is_set(const struct sf_instruction *at) {
    return at->opcode == SF_OP_IN;
}

static bool is_begin(const struct sf_instruction *at) {
    return at->opcode == SF_OP_BEGIN;
}

static void spoil_opcode(struct sf_program *program, struct sf_instruction *at) {
    (void)program;
    at->opcode = SF_N_OPCODES;
}

static void spoil_step(struct sf_program *program, struct sf_instruction *at) {
    (void)program;
    at->step++;
}

static void spoil_jump(struct sf_program *program, struct sf_instruction *at) {
    at->jump = (uint16_t)(program->n_instructions - (uint32_t)(at - program->code));
}

static void spoil_slot(struct sf_program *program, struct sf_instruction *at) {
    (void)program;
    at->slot = UINT32_MAX;
}

static void spoil_offset(struct sf_program *program, struct sf_instruction *at) {
    (void)program;
    at->offset += program->data_bytes + 1;
}

static void spoil_offset_downwards(struct sf_program *program, struct sf_instruction *at) {
    (void)program;
    at->offset = 0;
}

static void spoil_bytes(struct sf_program *program, struct sf_instruction *at) {
    (void)program;
    at->bytes = UINT32_MAX;
}

static void spoil_n_numbers(struct sf_program *program, struct sf_instruction *at) {
    (void)program;
    at->n_numbers = UINT64_MAX / 16;
}

static void spoil_data_bytes(struct sf_program *program, struct sf_instruction *at) {
    (void)at;
    program->data_bytes = 0;
}

static const struct damage damages[] = {
    {"opcode", spoil_opcode, NULL},
    {"step", spoil_step, NULL},
    {"jump", spoil_jump, NULL},
    {"slot", spoil_slot, has_slot},
    {"offset", spoil_offset, has_data},
    {"offset 0", spoil_offset_downwards, has_data},
    {"bytes of text", spoil_bytes, has_data},
    {"depth", spoil_bytes, is_begin},
    {"numbers", spoil_n_numbers, is_set},
    {"data", spoil_data_bytes, is_set},
};

static void check_damages(const struct fixture *fixture, const char *expression) {
    const struct sf_program *program = sf_filter_program(fixture->filter);
    size_t bytes = sf_program_bytes(program);
    struct sf_program *copy = malloc(bytes);
    REQUIRE(copy != NULL, "%zu bytes", bytes);
    CHECK(sf_program_is_valid(program, n_slots_of(fixture)), "%s", expression);
    for (size_t i = 0; i < N_ROWS(damages); i++) {
        for (uint32_t at = 0; at < program->n_instructions; at++) {
            memcpy(copy, program, bytes);
            if (damages[i].is_sure == NULL || damages[i].is_sure(&copy->code[at])) {
                damages[i].apply(copy, &copy->code[at]);
                CHECK(!sf_program_is_valid(copy, n_slots_of(fixture)), "%s, instruction %u: %s",
                      expression, at, damages[i].what);
            }
        }
    }
    free(copy);
}

static void test_program_damage_is_found(void) {
    for (size_t i = 0; i < N_ROWS(expressions); i++) {
        static struct fixture fixture;
        compile(&fixture, expressions[i]);
        check_damages(&fixture, expressions[i]);
        CHECK(!sf_program_is_valid(sf_filter_program(fixture.filter), 1), "%s: slots",
              expressions[i]);
        undo_fixture(&fixture);
    }
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        TEST(test_program_bytes_depend_on_the_meaning_only),
        TEST(test_program_damage_is_found),
    };
    return run_tests(argc, argv, cases, N_ROWS(cases));
}
