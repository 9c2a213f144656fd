/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Random expressions and messages, see generator.h: the pools of names and values, kv and tag, escapes, messages. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "generator_internal.h"
#include "runner.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* clang-format off */
const char *const gen_names[GEN_N_NAMES] = {
    "a", "b", "c", "A", "_x9", "x.y", "a$b", "device-type", "and", "it's",
    "\xE6\xB8\xA9\xE5\xBA\xA6", "sql:a", "q\"q", "k=<>&!", " sp ", "TAGS", "$topic", "100%",
    "%41", "\xE2\x80\x93", "temperature1", "temperature2", "temperature",
};

const char *const gen_texts[GEN_N_TEXTS] = {
    "x", "X", "xyz", "abc", "", " ", "ab", "a_b", "100%", "%41", "it's", "\"dq\"", "true", "TRUE",
    "False", "false", "tru", "PAID", "a||b", "|", "*", "#", "+", "?", "%23", "a=b&c<d>e!", " sp ",
    "\xE5\x8C\x97\xE4\xBA\xAC", "\xF0\x9F\x99\x82", "e\xCC\x81", "--", "/* c */", "aaaaab",
    "aabaab", "abababab", "NULL", "\x01\x1F\x7F", "O'Brien", "a/b/c", "location-A1",
    "location-A2", "location-B1", "location", "locations", "abcdefg", "abcdefgh", "abcdefgi",
    "abcdefgha", "abcdefghb",
};

const char *const gen_numbers[GEN_N_NUMBERS] = {
    "0", "1", "2", "3", "5", "5.0", "05", "5.", ".5", "0.5", "1e3", "1000", "1E+3", "1e-3",
    "26.5", "100", "25", "7", "9007199254740992", "9007199254740993", "9007199254740992.0",
    "9007199254740993.5", "9223372036854775807", "9223372036854775806", "4.9e-324",
    "1.7976931348623157e308", "1e308", "1e-400", "0.1", "0.30000000000000004", "0.0",
    "3037000500", "4611686018427387904", "2147483648", "1700000000000",
};

static const char *const odd_numbers[] = {
    "9223372036854775808", "-9223372036854775809", "1e400", "99999999999999999999", " 5 ",
    "\t5\r\n", "+5", "-5", "-5.0", "-0", "- 5", "5 5", "0x5", "inf", "nan", "5L", "1_0", "5,5",
    "-9223372036854775808", "-9007199254740993", "--5", "1e", "\xD9\xA5", "-1", "-2.5", "-.5",
    "1e999999999999", "0e999999999999",
};
/* clang-format on */

/* ---- random numbers -------------------------------------------------------------------------- */

size_t gen_pick(struct generator *g, size_t n) {
    return test_random(&g->structure) % n;
}

bool gen_chance(struct generator *g, size_t percent) {
    return gen_pick(g, 100) < percent;
}

size_t gen_spell(struct generator *g, size_t n) {
    return test_random(&g->spelling) % n;
}

bool gen_spell_chance(struct generator *g, size_t percent) {
    return gen_spell(g, 100) < percent;
}

/* ---- text ------------------------------------------------------------------------------------ */

void gen_put_bytes(struct generator *g, const char *text, size_t bytes) {
    if (g->bytes + bytes > GENERATOR_MAX_BYTES) {
        abort(); /* the budget bounds it */
    }
    memcpy(g->text + g->bytes, text, bytes);
    g->bytes += bytes;
}

void gen_put(struct generator *g, const char *text) {
    gen_put_bytes(g, text, strlen(text));
}

static void put_blank(struct generator *g) {
    static const char *const spaces[] = {" ", "  ", "\t", "\n", "\r", "\v", "\f", " \t "};
    if (gen_spell_chance(g, 30)) {
        gen_put(g, spaces[gen_spell(g, COUNT(spaces))]);
    }
}

static void put_escape(struct generator *g, char c) {
    char escape[4];
    snprintf(escape, sizeof escape, gen_spell_chance(g, 50) ? "%%%02X" : "%%%02x",
             (unsigned)(unsigned char)c);
    gen_put(g, escape);
}

/* How many of the characters that may be escaped are. */
static size_t escape_percent(struct generator *g) {
    return gen_spell_chance(g, 60) ? 0 : gen_spell(g, 100);
}

static bool is_one_of(char c, const char *set) {
    return c != '\0' && strchr(set, c) != NULL;
}

/* Spell # + ? % of text[from..] as escapes: some of them, and a % that would make one of them. */
static void escape_sql(struct generator *g, size_t from) {
    static char copy[GENERATOR_MAX_BYTES + 3];
    size_t n = g->bytes - from;
    memcpy(copy, g->text + from, n);
    memset(copy + n, 0, 3);
    g->bytes = from;
    size_t percent = escape_percent(g);
    for (size_t i = 0; i < n; i++) {
        bool makes_one = (copy[i + 1] == '2' && is_one_of(copy[i + 2], "35bB")) ||
                         (copy[i + 1] == '3' && is_one_of(copy[i + 2], "fF"));
        bool must = copy[i] == '%' && makes_one;
        bool may = is_one_of(copy[i], "#+?%");
        if (must || (may && gen_spell_chance(g, percent))) {
            put_escape(g, copy[i]);
        } else {
            gen_put_bytes(g, copy + i, 1);
        }
    }
}

/* One key, value or tag: escape what is `special`, white space and what else has a meaning at the ends, and some of the
 * rest. */
static void put_escaped(struct generator *g, const char *text, const char *special) {
    size_t n = strlen(text);
    size_t percent = escape_percent(g);
    put_blank(g);
    for (size_t i = 0; i < n; i++) {
        bool at_end = i == 0 || i + 1 == n;
        bool makes_one = text[i] == '%' && i + 2 < n &&
                         is_one_of(text[i + 1], "0123456789abcdefABCDEF") &&
                         is_one_of(text[i + 2], "0123456789abcdefABCDEF");
        bool must = makes_one || is_one_of(text[i], special) ||
                    (at_end && is_one_of(text[i], " \t\n\r\v\f!*|"));
        if (must || gen_spell_chance(g, percent)) {
            put_escape(g, text[i]);
        } else {
            gen_put_bytes(g, text + i, 1);
        }
    }
    put_blank(g);
}

/* ---- expressions ----------------------------------------------------------------------------- */

static void put_prefix(struct generator *g, const char *prefix) {
    put_blank(g);
    for (const char *c = prefix; *c != '\0'; c++) {
        bool upper = gen_spell_chance(g, 30) && *c >= 'a' && *c <= 'z';
        char cased = upper ? (char)(*c - ('a' - 'A')) : *c;
        gen_put_bytes(g, &cased, 1);
    }
}

/* Not empty, which kv and tag cannot have. */
static const char *pick_text(struct generator *g) {
    const char *text =
        gen_chance(g, 60) ? gen_texts[gen_pick(g, GEN_N_TEXTS)] : gen_numbers[gen_pick(g, 10)];
    return text[0] == '\0' ? "x" : text;
}

static void put_kv(struct generator *g) {
    static const char *const ops[] = {"=", "=", "=", ">", "<", ">=", "<="};
    size_t n = 1 + (gen_chance(g, 60) ? gen_pick(g, 4) : 0);
    bool prefix = gen_spell_chance(g, 30);
    for (size_t i = 0; i < n; i++) {
        const char *op = ops[gen_pick(g, COUNT(ops))];
        const char *name = gen_names[gen_chance(g, 75) ? gen_pick(g, 3) : gen_pick(g, GEN_N_NAMES)];
        bool looks_like_prefix = i == 0 && strchr(name, ':') != NULL;
        if (i == 0 && (prefix || looks_like_prefix)) {
            put_prefix(g, "kv:");
        }
        gen_put(g, i == 0 ? "" : "&");
        put_escaped(g, name, "&=<>");
        gen_put(g, op);
        if (op[0] != '=' && gen_chance(g, 97)) {
            char number[64];
            bool minus = gen_chance(g, 15);
            snprintf(number, sizeof number, "%s%s", minus ? "-" : "",
                     gen_numbers[gen_pick(g, GEN_N_NUMBERS)]);
            put_escaped(g, number, "&=<>");
        } else {
            put_escaped(g, pick_text(g), "&=<>");
        }
    }
}

static void put_tag(struct generator *g) {
    size_t n = 1 + gen_pick(g, 4);
    put_prefix(g, "tag:");
    for (size_t i = 0; i < n; i++) {
        gen_put(g, i == 0 ? "" : "||");
        if (gen_chance(g, 3)) {
            gen_put(g, " *");
        } else {
            put_escaped(g, pick_text(g), "|");
        }
    }
}

void generate_expression(uint64_t structure_seed, uint64_t spelling_seed,
                         struct generated_expression *expression_out) {
    struct generator g = {
        .structure = structure_seed, .spelling = spelling_seed, .text = expression_out->text};
    size_t dialect = gen_pick(&g, 10);
    if (dialect < 2) {
        put_kv(&g);
    } else if (dialect < 3) {
        put_tag(&g);
    } else {
        g.budget = 1 + gen_pick(&g, gen_chance(&g, 80) ? 4 : 20);
        put_prefix(&g, "sql:");
        size_t from = g.bytes;
        gen_sql(&g);
        escape_sql(&g, from);
    }
    expression_out->bytes = g.bytes;
}

void generate_damage(uint64_t *state, struct generated_expression *expression) {
    static const char *const pieces[] = {
        "(",        ")",        "'",
        "\"",       "=",        "<",
        ">",        "!",        "&",
        "|",        "||",       "%",
        "%2",       "%00",      "%FF",
        "%25",      "-",        "--",
        "+",        "*",        "/",
        "/*",       "*/",       ".",
        ",",        "$",        "$x",
        "AND",      " OR ",     "NOT ",
        " IS ",     " NULL ",   " IN ",
        " 5",       "5",        "x",
        " x",       "L",        "e",
        "sql:",     "\xFF",     "\xC3",
        "\xC2\xA0", " ",        "\n",
        ";",        "0x",       " BETWEEN ",
        " LIKE ",   " ESCAPE ", "9223372036854775808",
        "1e400",    "%2B",      "?",
    };
    size_t n = 1 + test_random(state) % 3;
    for (size_t i = 0; i < n; i++) {
        size_t at = expression->bytes > 0 ? test_random(state) % (expression->bytes + 1) : 0;
        size_t remove = test_random(state) % 3 == 0 ? 1 + test_random(state) % 6 : 0;
        remove = remove < expression->bytes - at ? remove : expression->bytes - at;
        const char *piece =
            test_random(state) % 4 == 0 ? "" : pieces[test_random(state) % COUNT(pieces)];
        size_t piece_bytes = strlen(piece);
        if (expression->bytes - remove + piece_bytes > GENERATOR_MAX_BYTES) {
            return;
        }
        memmove(expression->text + at + piece_bytes, expression->text + at + remove,
                expression->bytes - at - remove);
        memcpy(expression->text + at, piece, piece_bytes);
        expression->bytes = expression->bytes - remove + piece_bytes;
    }
}

/* ---- messages -------------------------------------------------------------------------------- */

static struct ref_text text_of(const char *text) {
    return (struct ref_text){text, strlen(text)};
}

static struct ref_text random_value(uint64_t *state) {
    switch (test_random(state) % 8) {
    case 0:
    case 1:
        return text_of(gen_texts[test_random(state) % GEN_N_TEXTS]);
    case 2:
        return text_of(odd_numbers[test_random(state) % COUNT(odd_numbers)]);
    case 3:
        return text_of(test_random(state) % 2 == 0 ? "true" : "false");
    case 4:
    case 5:
        return text_of(gen_numbers[test_random(state) % GEN_N_NUMBERS]);
    default:
        return text_of(gen_numbers[test_random(state) % 10]);
    }
}

static struct ref_text maybe_text(uint64_t *state) {
    return test_random(state) % 2 == 0 ? random_value(state) : (struct ref_text){NULL, 0};
}

const char *generate_tag_key(uint64_t *state) {
    static const char *const keys[] = {"TAGS", "TAGS", "a", "k=<>&!"};
    return keys[test_random(state) % COUNT(keys)];
}

void generate_message(uint64_t *state, struct generated_message *message_out) {
    static const size_t counts[] = {0, 1, 2, 2, 3, 3, 4, 5, 6, 8, 12};
    size_t n = counts[test_random(state) % COUNT(counts)];
    if (test_random(state) % 200 == 0) {
        n = SF_MAX_PROPERTIES - 1 + test_random(state) % 4;
    }
    for (size_t i = 0; i < n; i++) {
        bool frequent = test_random(state) % 4 != 0;
        const char *name = gen_names[test_random(state) % (frequent ? 3 : GEN_N_NAMES)];
        message_out->properties[i] = (struct ref_property){text_of(name), random_value(state)};
    }
    uint64_t bits = test_random(state);
    message_out->message = (struct ref_message){
        .properties = message_out->properties,
        .n_properties = n,
        .topic = maybe_text(state),
        .content_type = maybe_text(state),
        .response_topic = maybe_text(state),
        .has_qos = (bits & 1) != 0,
        .has_retain = (bits & 2) != 0,
        .has_payload_bytes = (bits & 4) != 0,
        .retain = (bits & 8) != 0,
        .qos = (int)(bits >> 8 & 0xFF) % 3,
        .payload_bytes = test_random(state) >> (test_random(state) % 64),
    };
}
