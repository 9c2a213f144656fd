/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Runs a fuzz target over the files of a folder, whole and cut at each byte: the corpus as an ordinary test.
 *
 *     corpus_subscription tests/fuzz/corpus/subscription
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "runner.h"

static const char *folder;

/* Of longer ones not every beginning is run. */
#define MAX_CUTS 400

static void run_file(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!CHECK(file != NULL, "%s", path)) {
        return;
    }
    static uint8_t data[1 << 20];
    size_t size = fread(data, 1, sizeof data, file);
    CHECK(feof(file) && !ferror(file), "%s", path);
    fclose(file);
    size_t step = size / MAX_CUTS + 1;
    for (size_t cut = 0; cut <= size; cut += step) {
        /* a copy of its own, so that a sanitizer sees a read behind its end */
        uint8_t *copy = malloc(cut > 0 ? cut : 1);
        REQUIRE(copy != NULL, "%s", path);
        memcpy(copy, data, cut);
        CHECK(LLVMFuzzerTestOneInput(copy, cut) == 0, "%s", path);
        free(copy);
    }
    CHECK(LLVMFuzzerTestOneInput(data, size) == 0, "%s", path);
}

static void test_corpus(void) {
    DIR *directory = opendir(folder);
    REQUIRE(directory != NULL, "%s", folder);
    size_t n = 0;
    for (const struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        char path[4096];
        int bytes = snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (entry->d_name[0] != '.' &&
            CHECK(bytes > 0 && (size_t)bytes < sizeof path, "%s", entry->d_name)) {
            run_file(path);
            n++;
        }
    }
    closedir(directory);
    CHECK(n > 0, "%s is empty", folder);
    test_note("%zu files", n);
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {TEST(test_corpus)};
    if (argc != 2) {
        fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
        return 2;
    }
    folder = argv[1];
    return run_tests(1, argv, cases, N_ROWS(cases));
}
