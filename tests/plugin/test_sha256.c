/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sha256 against the examples of FIPS 180-4 (NIST's "Cryptographic Standards and Guidelines: Example Values") and
 * against lengths around the block boundaries, digests of which were computed with coreutils' sha256sum. */
#include "runner.h"
#include "sha256.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *hex_of(const void *data, size_t bytes) {
    static char hex[2 * SHA256_BYTES + 1];
    uint8_t digest[SHA256_BYTES];
    sha256(data, bytes, digest);
    for (size_t i = 0; i < SHA256_BYTES; i++) {
        snprintf(hex + 2 * i, 3, "%02x", digest[i]);
    }
    return hex;
}

static void test_sha256_of_the_standards_examples(void) {
    static const struct {
        const char *text;
        const char *digest;
    } rows[] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
        {"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqr"
         "lmnopqrsmnopqrstnopqrstu",
         "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        const char *hex = hex_of(rows[i].text, strlen(rows[i].text));
        CHECK(strcmp(hex, rows[i].digest) == 0, "'%s': %s", rows[i].text, hex);
    }
}

static void test_sha256_of_a_million_letters(void) {
    enum { N = 1000000 };
    char *text = malloc(N);
    REQUIRE(text != NULL, "memory");
    memset(text, 'a', N);
    const char *hex = hex_of(text, N);
    CHECK(strcmp(hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0") == 0,
          "%s", hex);
    free(text);
}

/* Lengths at which the padding needs one block more, or just not. */
static void test_sha256_around_the_block_boundaries(void) {
    static const struct {
        size_t bytes; /* so many 'x' */
        const char *digest;
    } rows[] = {
        {1, "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"},
        {54, "45f316e10b2c99abf374b22bda893cf3300d77263f1e272349ed414680522952"},
        {55, "d5e285683cd4efc02d021a5c62014694958901005d6f71e89e0989fac77e4072"},
        {56, "04c26261370ee7541549d16dee320c723e3fd14671e66a099afe0a377c16888e"},
        {57, "ae14a2563ccf969d99aca69ce6bb74981f734bbf9f655f73b8f06db68cab5217"},
        {63, "75220b47218278e656f2013bb8f0c455a25eaf01e86c64924e9d48d89776d6f2"},
        {64, "7ce100971f64e7001e8fe5a51973ecdfe1ced42befe7ee8d5fd6219506b5393c"},
        {65, "9537c5fdf120482f7d58d25e9ed583f52c02b4e304ea814db1633ad565aed7e9"},
        {118, "d4fc3f146a19ae0453b2195bba6b11cffd0afc8c6f94f902e55a94ed975c6abd"},
        {119, "000b48d4edf0fa7bee3c6236ecd2785baa5db4eeb8bb54341b029e0d9fa5fb0c"},
        {120, "13f05a0b594787f5ecd315edc96141bd3243203d1b7d4f0836f37308b276ba98"},
        {127, "70156a14adbabf98cff3a71c7084b417abf057a8efd27329ca36b7202c87d81f"},
        {128, "24da1b81d0b16df6428eee73c69fcb2a93c76bc6df706f0c6670fe6bfe800464"},
        {129, "0ec9eb33e74510bcdd1f2ea55206e82f21649c5c2becbf2b433eb475b34c01bd"},
        {183, "b95933e340383f43cfb72bb337fbb80bd93b9f54f5b49f5cd9635d2c62e7f386"},
        {184, "f3936e2eb513e068318995db8ff8a043fe9cbcf079934b8dfd49046c0fca45be"},
        {255, "d22609da3ae3956ca4877056a8e580eed744a6f7d7cfa5b19dd88d52fcc0d435"},
    };
    static char text[256];
    memset(text, 'x', sizeof text);
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        const char *hex = hex_of(text, rows[i].bytes);
        CHECK(strcmp(hex, rows[i].digest) == 0, "%zu bytes: %s", rows[i].bytes, hex);
    }
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        TEST(test_sha256_of_the_standards_examples),
        TEST(test_sha256_of_a_million_letters),
        TEST(test_sha256_around_the_block_boundaries),
    };
    return run_tests(argc, argv, cases, N_ROWS(cases));
}
