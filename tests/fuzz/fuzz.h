/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the fuzz targets share. Each target is one function that libFuzzer calls with any bytes (option fuzz), and
 * that corpus.c calls with the files of a corpus, as an ordinary test.
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* Always 0. A fault ends the process. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Print `what` and the input to standard error, and abort. */
_Noreturn void fuzz_fault(const char *what, const void *data, size_t size);

#endif
