/* SPDX-License-Identifier: BSD-3-Clause
 *
 * write_file: see the header.
 */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700 /* realpath */
#endif
#include "write_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool write_all(int fd, const char *text, size_t bytes) {
    while (bytes > 0) {
        ssize_t n = write(fd, text, bytes);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            errno = n < 0 ? errno : ENOSPC;
            return false;
        }
        text += n;
        bytes -= (size_t)n;
    }
    return true;
}

/* Make a rename durable. Not every file system can; the text itself is safe either way. */
static void sync_folder(char *path) {
    char *slash = strrchr(path, '/');
    const char *folder = slash == NULL ? "." : slash == path ? "/" : path;
    if (slash != NULL && slash != path) {
        *slash = '\0';
    }
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        (void)fsync(fd);
        close(fd);
    }
}

/* The steps after <path>.new is open. The text must be on disk before the rename is. */
static bool fill_and_rename(int fd, const char *new_path, const char *path, const char *text, size_t bytes,
                            mode_t mode) {
    if (write_all(fd, text, bytes) && fchmod(fd, mode) == 0 && fsync(fd) == 0 && rename(new_path, path) == 0) {
        return true;
    }
    int error = errno;
    (void)unlink(new_path);
    errno = error;
    return false;
}

/* Where the text goes: the file itself, not a symbolic link to it, which the rename would replace. New; NULL: no memory. */
static char *resolve(const char *path) {
    char *real = realpath(path, NULL);
    return real == NULL && errno != ENOMEM ? strdup(path) : real; /* a new file has no real path yet */
}

static char *with_suffix(const char *path) {
    static const char suffix[] = ".new";
    size_t bytes = strlen(path);
    char *longer = malloc(bytes + sizeof suffix);
    if (longer != NULL) {
        memcpy(longer, path, bytes);
        memcpy(longer + bytes, suffix, sizeof suffix);
    }
    return longer;
}

bool write_file_open(const char *path, const char *text, size_t bytes, mode_t mode, int *fd_out) {
    char *real_path = resolve(path);
    char *new_path = real_path == NULL ? NULL : with_suffix(real_path);
    if (new_path == NULL) {
        free(real_path);
        errno = ENOMEM;
        return false;
    }
    (void)unlink(new_path); /* one that a crash left; if it cannot be removed, open says so */
    int fd = open(new_path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
    bool done = fd >= 0 && fill_and_rename(fd, new_path, real_path, text, bytes, mode);
    int error = errno;
    if (done) {
        sync_folder(new_path);
    }
    if (fd >= 0 && (!done || fd_out == NULL)) {
        close(fd);
    }
    if (done && fd_out != NULL) {
        *fd_out = fd;
    }
    free(new_path);
    free(real_path);
    errno = error;
    return done;
}

bool write_file(const char *path, const char *text, size_t bytes) {
    struct stat old;
    mode_t mode = stat(path, &old) == 0 ? old.st_mode & 07777 : 0600;
    return write_file_open(path, text, bytes, mode, NULL);
}
