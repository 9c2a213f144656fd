/* SPDX-License-Identifier: BSD-3-Clause
 *
 * log: text that clients control, made fit for a log line: bounded and without control characters.
 */
#ifndef PLUGIN_LOG_H
#define PLUGIN_LOG_H

#include <stddef.h>

#define LOG_TEXT_BYTES 160 /* room for any quoted text, NUL included */

/* Write `text` (borrowed) to `out`, NUL-terminated: control characters, DEL, backslashes and bytes that are not UTF-8 as
 * \xHH; what does not fit is cut between characters and "..." says so. Returns `out`. */
const char *log_text(char out[LOG_TEXT_BYTES], const char *text, size_t bytes);

#endif
