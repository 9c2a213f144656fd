/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the two halves of the harness need of each other.
 */
#ifndef TEST_HARNESS_INTERNAL_H
#define TEST_HARNESS_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Milliseconds of a clock that only goes forward. */
int64_t harness_now_ms(void);

/* When a wait that begins now has taken too long. Generous: only failures ever wait for it. */
int64_t harness_deadline(void);

/* Wait until one of `fds` (n of them; may be 0) is readable or closed, or something happened on the connection of a
 * client; serves all clients. False: the deadline has passed. Callers loop around it and look at what they wait for. */
bool harness_wait(const int *fds, size_t n, int64_t deadline_ms);

/* Read and forget what comes on `fd` until the other side closes it; then close it. Ends the case at the deadline. */
void harness_drain(int fd);

#endif
