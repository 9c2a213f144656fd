/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How a fuzz target says what it has found. */
#include <stdio.h>
#include <stdlib.h>

#include "fuzz.h"

_Noreturn void fuzz_fault(const char *what, const void *data, size_t size) {
    const unsigned char *bytes = data;
    fprintf(stderr, "FAULT: %s\ninput: \"", what);
    for (size_t i = 0; i < size; i++) {
        if (bytes[i] >= 0x20 && bytes[i] < 0x7F && bytes[i] != '"' && bytes[i] != '\\') {
            fputc(bytes[i], stderr);
        } else {
            fprintf(stderr, "\\%03o",
                    bytes[i]); /* never more than three digits: can be pasted into C */
        }
    }
    fputs("\"\n", stderr);
    abort();
}
