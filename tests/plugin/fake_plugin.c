/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Stands for another plugin of the broker in test_load_order.c: an object that exports the function FAKE_EXPORT, or
 * none; with FAKE_USE one that depends on the object with that function, which the linker would else leave out. */
#ifdef FAKE_EXPORT
int FAKE_EXPORT(void);

__attribute__((visibility("default"))) int FAKE_EXPORT(void) {
    return 5;
}
#else
#ifdef FAKE_USE
int FAKE_USE(void);
#else
#define FAKE_USE() 0
#endif
int fake_nothing(void);

__attribute__((visibility("default"))) int fake_nothing(void) {
    return FAKE_USE();
}
#endif
