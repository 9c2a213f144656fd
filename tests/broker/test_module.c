/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The module as a file: what it exports, and what it says to a broker that is too old. This program stands for
 * Mosquitto 2.0: it exports what the module may count on there, and nothing that came later.
 */
#include "runner.h"
#include "test_paths.h"

#include <mosquitto.h>
#include <mosquitto/broker.h>
#include <mosquitto/broker_plugin.h>
#include <mosquitto/libcommon_memory.h>
#include <mosquitto/libcommon_properties.h>

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Mosquitto 2.0 ---- */

static char logged[2048];
static unsigned n_logged;
static unsigned n_other_calls;

void mosquitto_log_printf(int level, const char *format, ...) __attribute__((format(printf, 2, 3)));

void mosquitto_log_printf(int level, const char *format, ...) {
    (void)level;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(logged, sizeof logged, format, arguments);
    va_end(arguments);
    n_logged++;
}

int mosquitto_callback_register(mosquitto_plugin_id_t *identifier, int event,
                                MOSQ_FUNC_generic_callback callback, const void *event_data,
                                void *user) {
    (void)identifier, (void)event, (void)callback, (void)event_data, (void)user;
    n_other_calls++;
    return MOSQ_ERR_SUCCESS;
}

int mosquitto_broker_publish_copy(const char *clientid, const char *topic, int payloadlen,
                                  const void *payload, int qos, bool retain,
                                  mosquitto_property *properties) {
    (void)clientid, (void)topic, (void)payloadlen, (void)payload, (void)qos, (void)retain;
    (void)properties;
    n_other_calls++;
    return MOSQ_ERR_SUCCESS;
}

bool mosquitto_client_clean_session(const struct mosquitto *client) {
    (void)client;
    n_other_calls++;
    return true;
}

const char *mosquitto_client_id(const struct mosquitto *client) {
    (void)client;
    n_other_calls++;
    return NULL;
}

int mosquitto_client_protocol_version(const struct mosquitto *client) {
    (void)client;
    n_other_calls++;
    return 5;
}

int mosquitto_client_sub_count(const struct mosquitto *client) {
    (void)client;
    n_other_calls++;
    return 0;
}

int mosquitto_property_identifier(const mosquitto_property *property) {
    (void)property;
    n_other_calls++;
    return 0;
}

mosquitto_property *mosquitto_property_next(const mosquitto_property *property) {
    (void)property;
    n_other_calls++;
    return NULL;
}

const mosquitto_property *mosquitto_property_read_string(const mosquitto_property *property,
                                                         int identifier, char **value,
                                                         bool skip_first) {
    (void)property, (void)identifier, (void)value, (void)skip_first;
    n_other_calls++;
    return NULL;
}

const mosquitto_property *mosquitto_property_read_string_pair(const mosquitto_property *property,
                                                              int identifier, char **name,
                                                              char **value, bool skip_first) {
    (void)property, (void)identifier, (void)name, (void)value, (void)skip_first;
    n_other_calls++;
    return NULL;
}

const char *mosquitto_strerror(int error) {
    (void)error;
    n_other_calls++;
    return "";
}

void *mosquitto_malloc(size_t bytes) {
    n_other_calls++;
    return malloc(bytes);
}

char *mosquitto_strdup(const char *text) {
    n_other_calls++;
    return strdup(text);
}

void mosquitto_free(void *memory) {
    free(memory);
}

/* ---- cases ---- */

static void test_it_exports_three_functions(void) {
    static const char *const wanted[] = {"mosquitto_plugin_cleanup", "mosquitto_plugin_init",
                                         "mosquitto_plugin_version"};
    FILE *nm = popen("nm -D --defined-only " TEST_PLUGIN, "r");
    REQUIRE(nm != NULL, "nm");
    char line[512], type, name[256];
    bool seen[N_ROWS(wanted)] = {false};
    while (fgets(line, sizeof line, nm) != NULL) {
        REQUIRE(sscanf(line, "%*s %c %255s", &type, name) == 2, "nm: %s", line);
        size_t i = 0;
        while (i < N_ROWS(wanted) && strcmp(wanted[i], name) != 0) {
            i++;
        }
        CHECK(i < N_ROWS(wanted), "it exports %s", name);
        if (i < N_ROWS(wanted)) {
            seen[i] = true;
        }
    }
    CHECK(pclose(nm) == 0, "nm");
    for (size_t i = 0; i < N_ROWS(wanted); i++) {
        CHECK(seen[i], "%s is missing", wanted[i]);
    }
}

typedef int version_function(int, const int *);
typedef int init_function(mosquitto_plugin_id_t *, void **, struct mosquitto_opt *, int);
typedef int cleanup_function(void *, struct mosquitto_opt *, int);

static void close_module(void *module) {
    dlclose(module);
}

static void test_a_broker_that_is_too_old_hears_it(void) {
    void *module = dlopen(TEST_PLUGIN, RTLD_NOW | RTLD_GLOBAL); /* as Mosquitto 2.0 does */
    REQUIRE(module != NULL, "it needs what 2.0 does not have: %s", dlerror());
    test_defer(close_module, module);
    version_function *version;
    init_function *init;
    cleanup_function *cleanup;
    *(void **)&version = dlsym(module, "mosquitto_plugin_version");
    *(void **)&init = dlsym(module, "mosquitto_plugin_init");
    *(void **)&cleanup = dlsym(module, "mosquitto_plugin_cleanup");
    REQUIRE(version != NULL && init != NULL && cleanup != NULL, "entry points");

    CHECK(version(4, (const int[]){5, 4, 3, 2}) == 5, "interface 5");
    CHECK(version(3, (const int[]){4, 3, 2}) == -1, "no other");
    CHECK(version(0, NULL) == -1, "none");
    for (int i = 0; i < 2; i++) {
        void *user = NULL;
        n_logged = 0;
        int rc = init(NULL, &user, NULL, 0);
        CHECK(rc == MOSQ_ERR_NOT_SUPPORTED, "init: %d", rc);
        CHECK(n_logged == 1 &&
                  strstr(logged, "not loaded: this broker is older than Mosquitto 2.1"),
              "%u lines: %s", n_logged, logged);
        CHECK(cleanup(user, NULL, 0) == MOSQ_ERR_SUCCESS, "cleanup");
    }
    CHECK(n_other_calls == 0, "%u calls of the broker", n_other_calls);
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        TEST(test_it_exports_three_functions),
        TEST(test_a_broker_that_is_too_old_hears_it),
    };
    return run_tests(argc, argv, cases, N_ROWS(cases));
}
