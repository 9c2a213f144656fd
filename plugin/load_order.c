/* SPDX-License-Identifier: BSD-3-Clause
 *
 * load_order: see the header. The broker keeps its list of plugins to itself, but each one is an object of the dynamic
 * linker, which says what it exports.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dl_iterate_phdr, dladdr */
#endif
#include "load_order.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

struct search {
    const void *own_base;
    char *path;
    bool found;
};

static const void *base_of(const void *address) {
    Dl_info info;
    return dladdr(address, &info) == 0 ? NULL : info.dli_fbase;
}

/* Whether the object itself, not one that it depends on, exports `symbol`. */
static bool exports(void *object, const void *base, const char *symbol) {
    const void *address = dlsym(object, symbol);
    return address != NULL && base_of(address) == base;
}

static int look_at(struct dl_phdr_info *info, size_t size, void *user) {
    (void)size;
    struct search *search = user;
    if (info->dlpi_name == NULL || info->dlpi_name[0] == '\0') {
        return 0; /* the broker */
    }
    void *object = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
    if (object == NULL) {
        return 0; /* the kernel's vDSO, or a name that means nothing here */
    }
    const struct link_map *map = NULL;
    const void *base = dlinfo(object, RTLD_DI_LINKMAP, &map) == 0 ? (const void *)map->l_addr : NULL;
    if (base != search->own_base &&
        (exports(object, base, "mosquitto_plugin_version") || exports(object, base, "mosquitto_auth_plugin_version"))) {
        log_text(search->path, info->dlpi_name, strlen(info->dlpi_name));
        search->found = true;
    }
    dlclose(object);
    return search->found;
}

bool load_order_other_plugin(char path[LOG_TEXT_BYTES]) {
    static const char here = 0;
    struct search search = {.own_base = base_of(&here), .path = path};
    dl_iterate_phdr(look_at, &search);
    return search.found;
}
