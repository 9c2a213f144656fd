/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Stands for another plugin of the broker in test_load_order.c: an object that exports the function FAKE_EXPORT, or
 * none. */
#ifdef FAKE_EXPORT
int FAKE_EXPORT(void);

__attribute__((visibility("default"))) int FAKE_EXPORT(void) {
    return 5;
}
#else
int fake_nothing(void);

__attribute__((visibility("default"))) int fake_nothing(void) {
    return 0;
}
#endif
