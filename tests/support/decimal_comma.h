/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A locale whose decimal point is a comma, made for the running case.
 */
#ifndef TESTS_SUPPORT_DECIMAL_COMMA_H
#define TESTS_SUPPORT_DECIMAL_COMMA_H

#include <stdbool.h>

/* Use such a locale until the case ends. False, and the case is skipped, where none can be made. */
bool use_decimal_comma(void);

#endif
