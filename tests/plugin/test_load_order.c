/* SPDX-License-Identifier: BSD-3-Clause
 *
 * load_order: objects that export one of the version functions of a plugin are found, others are not. The executable
 * stands for the broker and for us at once, so it exports such a function itself, as our module does. */
#include "load_order.h"
#include "runner.h"

#include <dlfcn.h>
#include <string.h>

int mosquitto_plugin_version(int count, const int *versions);

__attribute__((visibility("default"))) int mosquitto_plugin_version(int count,
                                                                    const int *versions) {
    (void)versions;
    return count;
}

static void close_object(void *object) {
    dlclose(object);
}

/* The path of the other plugin as load_order_other_plugin says it; NULL: there is none. */
static const char *other(void) {
    static char path[LOG_TEXT_BYTES];
    strcpy(path, "unchanged");
    return load_order_other_plugin(path) ? path : NULL;
}

static void test_load_order_alone(void) {
    CHECK(other() == NULL, "%s", other());
}

static void test_load_order_sees_plugins_only(void) {
    static const struct {
        const char *path;
        int flags;
        bool is_plugin;
    } rows[] = {
        {FAKE_DIR "/fake_new.so", RTLD_NOW | RTLD_LOCAL, true},
        {FAKE_DIR "/fake_new.so", RTLD_LAZY | RTLD_GLOBAL, true}, /* as Mosquitto loads */
        {FAKE_DIR "/fake_old.so", RTLD_NOW | RTLD_LOCAL, true},
        {FAKE_DIR "/fake_old.so", RTLD_LAZY | RTLD_GLOBAL, true},
        {FAKE_DIR "/fake_none.so", RTLD_NOW | RTLD_LOCAL, false},
        /* depends on fake_new.so, which is then loaded as well */
        {FAKE_DIR "/fake_dependent.so", RTLD_NOW | RTLD_LOCAL, true},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        void *object = dlopen(rows[i].path, rows[i].flags);
        REQUIRE(object != NULL, "%s", dlerror());
        const char *found = other();
        CHECK((found != NULL) == rows[i].is_plugin, "row %zu, %s: %s", i, rows[i].path,
              found == NULL ? "none" : found);
        if (found != NULL) {
            const char *name = strstr(rows[i].path, "old") != NULL ? "fake_old.so" : "fake_new.so";
            CHECK(strstr(found, name) != NULL, "row %zu, %s: %s", i, rows[i].path, found);
        }
        dlclose(object);
        CHECK(other() == NULL, "row %zu: after dlclose: %s", i, other());
    }
}

/* Looking must not keep an object loaded, and must look past objects that are no plugins. */
static void test_load_order_looks_past_others(void) {
    void *none = dlopen(FAKE_DIR "/fake_none.so", RTLD_NOW | RTLD_LOCAL);
    REQUIRE(none != NULL, "%s", dlerror());
    test_defer(close_object, none);
    void *old = dlopen(FAKE_DIR "/fake_old.so", RTLD_NOW | RTLD_LOCAL);
    REQUIRE(old != NULL, "%s", dlerror());
    const char *found = other();
    CHECK(found != NULL && strstr(found, "fake_old.so") != NULL, "%s", found);
    dlclose(old);
    CHECK(dlopen(FAKE_DIR "/fake_old.so", RTLD_NOW | RTLD_NOLOAD) == NULL, "it stays loaded");
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        TEST(test_load_order_alone),
        TEST(test_load_order_sees_plugins_only),
        TEST(test_load_order_looks_past_others),
    };
    return run_tests(argc, argv, cases, N_ROWS(cases));
}
