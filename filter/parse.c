/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the parsers share. */
#include "parse.h"

#include <stdarg.h>

#include "error.h"
#include "escape.h"
#include "utf8.h"

/* From a position of a node to one in the expression as sent. */
static size_t sent_position(const struct sf_parse *parse, size_t position) {
    if (parse->decoded.at != NULL) {
        position = sf_escape_source_offset_of_wildcards(sf_parse_body(parse), position);
    }
    return parse->body + position;
}

struct sf_node *sf_parse_refuse(struct sf_parse *parse, enum sf_status code, size_t start,
                                size_t bytes, const char *format, ...) {
    if (parse->status != SF_OK) {
        return NULL;
    }
    parse->status = code;
    if (parse->error != NULL) {
        size_t offset = sent_position(parse, start);
        size_t end = sent_position(parse, start + bytes);
        va_list arguments;
        va_start(arguments, format);
        sf_error_vset(parse->error, code, offset, end - offset, format, arguments);
        va_end(arguments);
    }
    return NULL;
}

void *sf_parse_alloc(struct sf_parse *parse, size_t bytes) {
    void *memory = sf_arena_alloc(parse->arena, bytes);
    if (memory == NULL && parse->status == SF_OK) {
        parse->status = sf_error_no_memory(parse->error);
    }
    return memory;
}

struct sf_node *sf_parse_node(struct sf_parse *parse, enum sf_node_type type, size_t start,
                              size_t bytes) {
    struct sf_node *node = sf_parse_alloc(parse, sizeof *node);
    if (node != NULL) {
        node->type = type;
        node->start = start;
        node->bytes = bytes;
    }
    return node;
}

bool sf_parse_count(struct sf_parse *parse, size_t start, size_t bytes, const char *what) {
    if (++parse->n_operators > SF_MAX_OPERATORS) {
        sf_parse_refuse(parse, SF_E_LIMIT, start, bytes, "an expression has at most %d %s",
                        SF_MAX_OPERATORS, what);
        return false;
    }
    return true;
}

void sf_parse_refuse_bytes(struct sf_parse *parse, size_t start, size_t bytes, bool is_nul) {
    struct sf_quoted quoted;
    struct sf_text part = {sf_parse_body(parse).at + start, bytes};
    sf_parse_refuse(parse, SF_E_ESCAPE, start, bytes,
                    is_nul ? "%s is a NUL, which no expression can hold" : "%s is not UTF-8",
                    sf_quote(&quoted, part));
}

bool sf_parse_decode(struct sf_parse *parse, struct sf_text sent, size_t start,
                     struct sf_text *decoded_out) {
    char *text = sf_parse_alloc(parse, sent.bytes + 1);
    if (text == NULL) {
        return false;
    }
    struct sf_text decoded = {text, sf_escape_decode(sent, text)};
    size_t valid = sf_utf8_valid_bytes(decoded.at, decoded.bytes);
    if (valid < decoded.bytes) {
        size_t fault = sf_utf8_fault_bytes(decoded.at + valid, decoded.bytes - valid);
        size_t from = sf_escape_source_offset(sent, valid);
        size_t to = sf_escape_source_offset(sent, valid + fault);
        sf_parse_refuse_bytes(parse, start + from, to - from, decoded.at[valid] == '\0');
        return false;
    }
    *decoded_out = decoded;
    return true;
}

size_t sf_parse_empty_bytes(const struct sf_parse *parse, size_t start, size_t bytes) {
    bool at_end = start >= parse->sent.bytes - parse->body;
    return bytes > 0 ? bytes : at_end ? 0 : 1;
}
