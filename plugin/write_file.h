/* SPDX-License-Identifier: BSD-3-Clause
 *
 * write_file: replace a file so that a reader, or a crash at any moment, finds the old text or the new one.
 */
#ifndef PLUGIN_WRITE_FILE_H
#define PLUGIN_WRITE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Replace the file at `path` (or make it) by `text`: written to <path>.new, on disk, and then renamed. `mode` is that of
 * the file. *fd_out (NULL: not wanted) is the new file, open for appending, to be closed by the caller.
 * false: errno says why; the old file is as it was. */
bool write_file_open(const char *path, const char *text, size_t bytes, mode_t mode, int *fd_out)
    __attribute__((warn_unused_result));

/* The same for a file that may be there, whose mode is kept (0600 otherwise). */
bool write_file(const char *path, const char *text, size_t bytes) __attribute__((warn_unused_result));

#endif
