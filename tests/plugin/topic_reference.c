/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See the header. */
#include "topic_reference.h"

#include <stddef.h>
#include <string.h>

enum { MAX_LEVELS = 256 };

struct levels {
    char text[TOPIC_REFERENCE_BYTES];
    const char *level[MAX_LEVELS];
    size_t count;
};

static void split(const char *text, struct levels *out) {
    out->count = 0;
    char *p = strcpy(out->text, text);
    for (;;) {
        out->level[out->count++] = p;
        p = strchr(p, '/');
        if (p == NULL) {
            return;
        }
        *p++ = '\0';
    }
}

static int rank(const char *level) {
    return strcmp(level, "#") == 0 ? 2 : strcmp(level, "+") == 0 ? 1 : 0;
}

bool topic_reference_matches(const char *filter, const char *topic) {
    struct levels f, t;
    split(filter, &f);
    split(topic, &t);
    if (topic[0] == '$' && rank(f.level[0]) != 0) {
        return false;
    }
    for (size_t i = 0; i < f.count; i++) {
        if (rank(f.level[i]) == 2) {
            return t.count >= i; /* the parent level too */
        }
        if (i >= t.count || (rank(f.level[i]) == 0 && strcmp(f.level[i], t.level[i]) != 0)) {
            return false;
        }
    }
    return f.count == t.count;
}

int topic_reference_order(const char *a, const char *b) {
    struct levels x, y;
    split(a, &x);
    split(b, &y);
    for (size_t i = 0; i < x.count && i < y.count; i++) {
        if (rank(x.level[i]) != rank(y.level[i])) {
            return rank(x.level[i]) - rank(y.level[i]);
        }
    }
    return x.count > y.count ? -1 : x.count < y.count;
}
