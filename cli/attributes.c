/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The system attributes of a message ($topic, $qos, …) as command line and JSON give them: one table of names, kinds
 * and setters.
 */
#include "cli.h"

#include <string.h>

enum { MAX_QOS = 2 };

static void set_qos(struct sf_message *message, uint64_t number) {
    sf_message_set_qos(message, (int)number);
}

const struct attribute attributes[N_ATTRIBUTES] = {
    {.name = "$topic", .set_text = sf_message_set_topic},
    {.name = "$qos", .set_number = set_qos, .max = MAX_QOS},
    {.name = "$retain", .set_flag = sf_message_set_retain},
    {.name = "$payload_bytes", .set_number = sf_message_set_payload_bytes, .max = INT64_MAX},
    {.name = "$content_type", .set_text = sf_message_set_content_type},
    {.name = "$response_topic", .set_text = sf_message_set_response_topic},
};

const struct attribute *attribute_find(const char *name) {
    for (size_t i = 0; i < N_ATTRIBUTES; i++) {
        if (strcmp(attributes[i].name, name) == 0) {
            return &attributes[i];
        }
    }
    return NULL;
}

bool parse_number(const char *text, uint64_t max, uint64_t *number_out) {
    uint64_t number = 0;
    for (const char *c = text; *c; c++) {
        if (*c < '0' || *c > '9') {
            return false;
        }
        unsigned digit = (unsigned)(*c - '0');
        if (digit > max || number > (max - digit) / 10) {
            return false;
        }
        number = number * 10 + digit;
    }
    *number_out = number;
    return *text != '\0';
}

bool attribute_set(struct sf_message *message, const struct attribute *attribute,
                   const char *text) {
    if (attribute->set_text) {
        attribute->set_text(message, text, strlen(text));
        return true;
    }
    if (attribute->set_flag) {
        bool flag = strcmp(text, "true") == 0;
        attribute->set_flag(message, flag);
        return flag || strcmp(text, "false") == 0;
    }
    uint64_t number;
    if (!parse_number(text, attribute->max, &number)) {
        return false;
    }
    attribute->set_number(message, number);
    return true;
}

const char *attribute_values(const struct attribute *attribute) {
    if (attribute->set_text) {
        return "a text";
    }
    if (attribute->set_flag) {
        return "true or false";
    }
    return attribute->max == MAX_QOS ? "0, 1 or 2" : "a number of bytes";
}
