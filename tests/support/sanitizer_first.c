/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Preloaded into the broker together with the address sanitizer's runtime, and initialised before every other library
 * (the linker's -z initfirst): its one call of malloc makes the runtime initialise itself here. Otherwise it does
 * that in the first malloc of some library's constructor; libp11-kit's comes while the C library holds a lock that
 * the runtime's initialisation takes too, and a broker that has printed any error then hangs at its end.
 */
#include <stdlib.h>

static void *volatile first;

__attribute__((constructor)) static void initialise(void) {
    first = malloc(1);
    free(first);
}
