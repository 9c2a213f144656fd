/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Characters that cannot be seen where they stand, for all that shows text to people: controls, spaces other than the
 * blank, what only acts on its neighbours, and what has no shape that all agree on. (Without a library, so that the command line can share it.) */
#ifndef SUBFILTER_VISIBLE_H
#define SUBFILTER_VISIBLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The longest name of a character, with a NUL. */
enum { SF_CHARACTER_NAME_BYTES = sizeof "<U+10FFFF>" };

/* How the name of a character is printed. */
#define SF_CHARACTER_NAME "<U+%04lX>"

/* Whether a reader sees the character; false also for what is none. */
static inline bool sf_is_visible(uint32_t code) {
    static const struct {
        uint32_t first;
        uint32_t last;
    } unseen[] = {
        {0x0000, 0x001F},      {0x007F, 0x00A0},   {0x00AD, 0x00AD},   {0x034F, 0x034F},
        {0x061C, 0x061C},      {0x115F, 0x1160},   {0x1680, 0x1680},   {0x17B4, 0x17B5},
        {0x180B, 0x180F},      {0x2000, 0x200F},   {0x2028, 0x202F},   {0x205F, 0x206F},
        {0x2800, 0x2800},      {0x3000, 0x3000},   {0x3164, 0x3164},   {0xD800, 0xF8FF},
        {0xFDD0, 0xFDEF},      {0xFE00, 0xFE0F},   {0xFEFF, 0xFEFF},   {0xFFA0, 0xFFA0},
        {0xFFF0, 0xFFFB},      {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF},
        {0xF0000, UINT32_MAX},
    };
    for (size_t i = 0; i < sizeof unseen / sizeof unseen[0]; i++) {
        if (code >= unseen[i].first && code <= unseen[i].last) {
            return false;
        }
    }
    return (code & 0xFFFE) != 0xFFFE; /* the last two of each plane are no characters */
}

#endif
