/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The main program of all test executables: CUnit runs the cases, and what is printed is TAP, which meson counts.
 *
 *     static void test_kv_refuses_two_operators(void)
 *     {
 *         for (size_t i = 0; i < N_ROWS(rows); i++) {
 *             CHECK(refused(rows[i].text), "row %zu: %s", i, rows[i].text);
 *         }
 *     }
 *
 *     int main(int argc, char **argv)
 *     {
 *         static const struct test_case cases[] = {
 *             TEST(test_kv_refuses_two_operators),
 *         };
 *         return run_tests(argc, argv, cases, N_ROWS(cases));
 *     }
 *
 * CUnit's own CU_ASSERT… macros work too; CHECK has the advantage that a failure says which row it was.
 */
#ifndef TEST_RUNNER_H
#define TEST_RUNNER_H

#include <CUnit/CUnit.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct test_case {
    const char *name;
    void (*run)(void);
};

#define TEST(function)                                                                             \
    { #function, function }
#define N_ROWS(array) (sizeof(array) / sizeof((array)[0]))

/* Run the cases in order and print one TAP line for each, with what failed in it. Arguments, if any, are parts of
 * names: only cases that contain one of them run. Returns the exit status for main: 0 when all passed. */
int run_tests(int argc, char **argv, const struct test_case *cases, size_t n_cases);

/* Record whether `condition` holds; if not, the formatted text says where. CHECK goes on with the case, REQUIRE
 * leaves it (by longjmp: what the case has opened stays open, which is why fixtures are closed by test_defer). */
#define CHECK(condition, ...)                                                                      \
    test_check((condition), __FILE__, __LINE__, #condition, false, __VA_ARGS__)
#define REQUIRE(condition, ...)                                                                    \
    test_check((condition), __FILE__, __LINE__, #condition, true, __VA_ARGS__)

/* Returns `held`. Use the macros. */
bool test_check(bool held, const char *file, unsigned line, const char *condition, bool fatal,
                const char *format, ...) __attribute__((format(printf, 6, 7)));

/* Call `undo(user)` when the running case has ended, also when REQUIRE leaves it. Last in, first out. By then the case's
 * function has returned: `user` must not be one of its local variables. */
void test_defer(void (*undo)(void *user), void *user);

/* Whether the running case has failed so far: what test_defer runs may say more then. */
bool test_has_failed(void);

/* Say that the running case cannot be tried here, for want of something that is no part of the project, and is to be
 * counted as skipped; the case goes on and should return. It can still fail. */
void test_skip(const char *reason);

/* A line of explanation in the output, "# …". */
void test_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The seed of this run: TEST_SEED; else the same in each ordinary run, and a new one in each long run. Printed with the
 * first call, so that a failure can be repeated. */
uint64_t test_seed(void);

/* The next number of a small generator (splitmix64) whose state the test owns and starts from test_seed(). */
uint64_t test_random(uint64_t *state);

/* Whether many steps are wanted (scripts/test --long). */
bool test_long(void);

#endif
