/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See decimal_comma.h: localedef compiles tests/data/decimal_comma.locale, without root and wherever the system keeps
 * its own locales.
 */
#include "decimal_comma.h"

#include "runner.h"
#include "test_paths.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static void use_c(void *user) {
    (void)user;
    setlocale(LC_NUMERIC, "C");
}

bool use_decimal_comma(void) {
    char folder[] = "/tmp/subfilter-locale-XXXXXX";
    REQUIRE(mkdtemp(folder) != NULL, "no folder for the locale");
    char command[1024];
    /* It warns of the categories that the file leaves out, and ends with 1. */
    snprintf(command, sizeof command, "localedef -c -i '%s' %s/comma > %s/log 2>&1",
             TEST_SOURCE_DIR "/tests/data/decimal_comma.locale", folder, folder);
    int status = system(command);
    bool made = WIFEXITED(status) && WEXITSTATUS(status) <= 1;
    if (made) {
        test_defer(use_c, NULL);
        setenv("LOCPATH", folder, 1);
        REQUIRE(setlocale(LC_NUMERIC, "comma") != NULL, "the locale that was made");
        char number[8];
        snprintf(number, sizeof number, "%.1f", 5.5);
        CHECK(strcmp(number, "5,5") == 0, "5.5 is %s", number);
    } else {
        test_skip("no locale can be made; Debian's package locales has what is needed");
    }
    snprintf(command, sizeof command, "rm -r %s", folder);
    status = system(command);
    CHECK(status == 0, "%s", command);
    return made;
}
