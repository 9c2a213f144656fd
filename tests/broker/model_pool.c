/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The pools of the model test (see model_pool.h).
 */
#include "model_pool.h"

#include <stdio.h>
#include <string.h>

unsigned chance_below(struct chance *chance, unsigned n) {
    return (unsigned)(test_random(&chance->state) % n);
}

bool chance_of(struct chance *chance, unsigned percent) {
    return chance_below(chance, 100) < percent;
}

#define ONE_OF(chance, table) ((table)[chance_below(chance, N_ROWS(table))])

/* ---- expressions ----------------------------------------------------------------------------------------------- */

enum { SPELLINGS = 3 };

/* Each row is one filter in several spellings. */
static const char *const spellings[][SPELLINGS] = {
    {"location=roomA", " location = roomA ", "kv:location=room%41"},
    {"location=roomB"},
    {"value>5", "KV: value > 5"},
    {"location=roomA&value>5", "location = roomA & value > 5"},
    {"value>=5&value<=10"},
    {"n<0"},
    {"sql:location = 'roomA'", "SQL:  location='roomA'", "sql:(location = 'roomA')"},
    {"sql:value > 5 AND location <> 'roomB'", "sql:value>5 and/**/location <>'roomB'"},
    {"sql:value IS NULL", "sql:value is  null"},
    {"sql:NOT (value BETWEEN 1 AND 10)", "sql:not (value between 1 and 10)"},
    {"sql:location LIKE 'room%'"},
    {"sql:location IN ('roomA', 'roomC') OR n = 1", "sql:location IN('roomA','roomC')OR n=1"},
    {"sql:value %2B 1 > 6"},
    {"sql:$qos >= 1", "sql:$qos>=1"},
    {"sql:$retain"},
    {"sql:NOT $retain"},
    {"sql:$topic LIKE 'a/%'"},
    {"sql:$payload_bytes > 8"},
    {"sql:$content_type = 'text/plain'"},
    {"sql:$response_topic IS NOT NULL"},
    {"sql:TRUE", "sql: true "},
    {"sql:FALSE"},
    {"tag:A", "TAG: A"},
    {"tag:A||B", "tag: A || B "},
    {"tag:*"},
};

/* Refused, each for another reason. */
static const char *const refused[] = {
    "",        "location",    "value>abc",        "a=1=2",  "sql:", "sql:location >",
    "tag:A||", "sql:a > 'x'", "sql:$nothing = 1", "sql:'a", "&",    "sql:a BETWEEN 5 AND 1",
};

const struct model_filter *pool_filters(size_t *n_out) {
    static struct model_filter filters[POOL_FILTERS];
    static size_t n;
    if (n == 0) {
        for (unsigned i = 0; i < N_ROWS(spellings); i++) {
            for (size_t k = 0; k < SPELLINGS && spellings[i][k] != NULL; k++) {
                filters[n++] = (struct model_filter){.text = spellings[i][k], .meaning = i};
            }
        }
        for (size_t i = 0; i < N_ROWS(refused); i++) {
            filters[n++] = (struct model_filter){.text = refused[i], .meaning = UINT16_MAX};
        }
        for (size_t i = 0; i < n; i++) {
            ref_codes codes =
                ref_parse(NULL, filters[i].text, strlen(filters[i].text), &filters[i].reference);
            filters[i].valid = codes == 0;
        }
    }
    *n_out = n;
    return filters;
}

int pool_filter(struct chance *chance) {
    size_t n = 0;
    const struct model_filter *filters = pool_filters(&n);
    int chosen;
    do {
        chosen = (int)chance_below(chance, (unsigned)n);
    } while (!filters[chosen].valid && !chance_of(chance, 20));
    return chosen;
}

/* ---- topics ---------------------------------------------------------------------------------------------------- */

static const char *const topics[] = {
    "a/b", "a/b", "a/b", "a/b", "a/b/c", "a/b/c", "a/c", "a", "b", "/a", "a/", "$d/x", "a?b",
};

static const char *const topic_filters[] = {
    "#",     "#",     "+",     "a/#",   "a/#", "a/+", "a/+", "+/b", "+/b",  "a/b",  "a/b", "a/b",
    "a/b/#", "a/b/c", "+/+/#", "a/+/c", "a",   "+/#", "/+",  "b",   "$d/#", "$d/+", "a?b",
};

const char *pool_topic(struct chance *chance) {
    return ONE_OF(chance, topics);
}

const char *pool_topic_filter(struct chance *chance) {
    return ONE_OF(chance, topic_filters);
}

void pool_write(struct chance *chance, const char *group, const char *topic, const char *text,
                char out[POOL_TEXT_BYTES]) {
    static const char digits[2][17] = {"0123456789ABCDEF", "0123456789abcdef"};
    char *at = out;
    if (group[0] != '\0') {
        at += sprintf(at, "$share/%s/", group);
    }
    for (const char *from = topic; *from != '\0'; from++) {
        bool wildcard = *from == '+' || *from == '#';
        bool must =
            *from == '?' || (wildcard && from[1] == '\0'); /* it must not stand before the '?' */
        if (text != NULL && (must || (wildcard && chance_of(chance, 30)))) {
            const char *hex = digits[chance_below(chance, 2)];
            *at++ = '%';
            *at++ = hex[*from >> 4];
            *at++ = hex[*from & 15];
        } else {
            *at++ = *from;
        }
    }
    if (text != NULL) {
        at += sprintf(at, "?%s", text);
    }
    *at = '\0';
}

/* ---- messages -------------------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    const char *value;
} properties[] = {
    {"location", "roomA"}, {"location", "roomA"}, {"location", "roomB"}, {"location", "roomC"},
    {"location", ""},      {"value", "1"},        {"value", "5"},        {"value", "5.0"},
    {"value", "7"},        {"value", "26.5"},     {"value", "warm"},     {"n", "1"},
    {"n", "-2"},           {"TAGS", "A"},         {"TAGS", "B"},         {"TAGS", "C"},
    {"unit", "celsius"},
};

void pool_message(struct chance *chance, int protocol, struct model_message *message_out) {
    *message_out = (struct model_message){.qos = (int)chance_below(chance, 3),
                                          .retain = chance_of(chance, 15)};
    strcpy(message_out->topic, pool_topic(chance));
    if (protocol != 5) {
        return;
    }
    unsigned n = chance_below(chance, (MODEL_MAX_USER - 1) / 2);
    for (unsigned i = 0; i < n; i++) {
        size_t row = chance_below(chance, N_ROWS(properties));
        message_out->user[2 * i] = properties[row].name;
        message_out->user[2 * i + 1] = properties[row].value;
    }
    message_out->content_type = chance_of(chance, 20) ? "text/plain" : NULL;
    message_out->response_topic = chance_of(chance, 20) ? "r" : NULL;
}

void pool_twin(struct chance *chance, const struct model_message *from,
               struct model_message *message_out) {
    *message_out = *from;
    for (size_t i = 0; message_out->user[i] != NULL; i += 2) {
        size_t first = chance_below(chance, N_ROWS(properties));
        for (size_t k = 0; k < N_ROWS(properties); k++) {
            size_t row = (first + k) % N_ROWS(properties);
            if (strcmp(properties[row].name, from->user[i]) == 0 &&
                strlen(properties[row].value) == strlen(from->user[i + 1])) {
                message_out->user[i + 1] = properties[row].value;
                break;
            }
        }
    }
}
