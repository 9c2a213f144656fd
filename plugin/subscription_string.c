/* SPDX-License-Identifier: BSD-3-Clause
 *
 * subscription_string: see the header.
 */
#include "subscription_string.h"

#include "sha256.h"

#include <string.h>

size_t share_topic_offset(const char *text) {
    if (strncmp(text, SHARE_PREFIX, SHARE_PREFIX_BYTES) != 0) {
        return 0;
    }
    const char *slash = strchr(text + SHARE_PREFIX_BYTES, '/');
    return slash == NULL || slash[1] == '\0' ? 0 : (size_t)(slash - text) + 1;
}

bool subscription_text_is_possible(const char *text) {
    if (text[0] == '\0') {
        return false;
    }
    if (strncmp(text, SHARE_PREFIX, SHARE_PREFIX_BYTES - 1) != 0 ||
        (text[SHARE_PREFIX_BYTES - 1] != '/' && text[SHARE_PREFIX_BYTES - 1] != '\0')) {
        return true;
    }
    size_t offset = share_topic_offset(text);
    return offset != 0 && strcspn(text + SHARE_PREFIX_BYTES, "+#") >= offset - 1 - SHARE_PREFIX_BYTES;
}

size_t share_name_bytes(const char *text) {
    static const char ends[] = {SHARE_SEPARATOR, '/', '\0'};
    return strcspn(text + SHARE_PREFIX_BYTES, ends);
}

size_t share_renamed_bytes(const char *text) {
    return strlen(text) + 1 + SHARE_FINGERPRINT_BYTES + 1;
}

void share_rename(const char *text, const char *filter_text, size_t filter_bytes, char *out) {
    static const char digits[] = "0123456789abcdef";
    uint8_t digest[SHA256_BYTES];
    sha256(filter_text, filter_bytes, digest);

    size_t head = SHARE_PREFIX_BYTES + share_name_bytes(text);
    memcpy(out, text, head);
    out[head] = SHARE_SEPARATOR;
    char *p = out + head + 1;
    for (size_t i = 0; i < SHARE_FINGERPRINT_BYTES / 2; i++) {
        *p++ = digits[digest[i] >> 4];
        *p++ = digits[digest[i] & 0x0F];
    }
    memcpy(p, text + head, strlen(text + head) + 1);
}
