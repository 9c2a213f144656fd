/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Tables of verdicts, see rows.h. */
#include <string.h>

#include "rows.h"
#include "runner.h"

static bool is_expected(const struct engine_result *result, enum row_answer expected) {
    if (expected == ROW_BAD) {
        return result->status != SF_OK;
    }
    if (result->status != SF_OK) {
        return false;
    }
    return expected == ROW_NO ? result->truth != SF_TRUE : (int)result->truth == (int)expected;
}

static const char *answer_name(enum row_answer answer) {
    switch (answer) {
    case ROW_NO:
        return "no match";
    case ROW_BAD:
        return "refused";
    default:
        return engine_truth_name((enum sf_truth)answer);
    }
}

void rows_check_one(const struct sf_options *options, struct ref_text expr,
                    const struct ref_message *message, enum row_answer expected) {
    struct engine_result result;
    const char *wrong = engine_run(options, expr.text, expr.bytes, message, &result);
    int shown = expr.bytes > 400 ? 400 : (int)expr.bytes;
    CHECK(wrong == NULL, "%.*s: %s", shown, expr.text, wrong);
    CHECK(is_expected(&result, expected), "%.*s: %s, expected %s", shown, expr.text,
          result.status == SF_OK ? engine_truth_name(result.truth) : result.error.text,
          answer_name(expected));
}

void rows_check(const struct sf_options *options, const struct row *rows, size_t n_rows) {
    for (size_t i = 0; i < n_rows; i++) {
        struct engine_properties storage;
        struct ref_message message = engine_message(rows[i].pairs, &storage);
        rows_check_one(options, (struct ref_text){rows[i].expr, strlen(rows[i].expr)}, &message,
                       rows[i].expected);
    }
}
