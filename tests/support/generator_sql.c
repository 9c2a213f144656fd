/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Random sql expressions. The functions follow the grammar of LANGUAGE from the bottom up; a "level" is how tight an
 * expression binds, and what is looser than its place allows gets parentheses.
 */
#include <stdio.h>
#include <string.h>

#include "generator_internal.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Whether a token that starts with `next` could grow together with what is there. */
static bool would_join(const struct generator *g, char next) {
    char last = g->bytes > 0 ? g->text[g->bytes - 1] : ' ';
    bool word = strchr("'\"()=<>!,*/%+- \t\n\r\v\f:", last) == NULL;
    bool next_word = strchr("'\"()=<>!,*/+-", next) == NULL;
    bool symbols = (last == '-' && next == '-') || (last == '/' && next == '*');
    bool quotes = (last == '\'' && next == '\'') || (last == '"' && next == '"');
    bool minus = next == '-' && word; /* a- could be half a name */
    return (word && next_word) || symbols || quotes || minus;
}

static void put_white_space(struct generator *g, bool needed) {
    static const char *const spaces[] = {
        " ", "  ", "\t", "\n", "\r", "\v", "\f", "/**/", "/* c ' \" -- */", "-- c\n"};
    if (!needed && !gen_spell_chance(g, 40)) {
        return;
    }
    bool behind_minus = g->bytes > 0 && g->text[g->bytes - 1] == '-';
    gen_put(g, behind_minus || gen_spell_chance(g, 70) ? " " : spaces[gen_spell(g, COUNT(spaces))]);
}

/* One token, white space before it. */
static void put_token(struct generator *g, const char *text) {
    put_white_space(g, would_join(g, text[0]));
    gen_put(g, text);
}

static void put_keyword(struct generator *g, const char *keyword) {
    char cased[16];
    size_t style = gen_spell(g, 4);
    for (size_t i = 0; i <= strlen(keyword); i++) {
        bool lower = style == 0 || (style == 1 && gen_spell_chance(g, 50));
        bool letter = keyword[i] >= 'A' && keyword[i] <= 'Z';
        cased[i] = lower && letter ? (char)(keyword[i] + ('a' - 'A')) : keyword[i];
    }
    put_token(g, cased);
}

static void put_quoted(struct generator *g, const char *text, char quote) {
    char quoted[128];
    size_t n = 0;
    quoted[n++] = quote;
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == quote) {
            quoted[n++] = quote;
        }
        quoted[n++] = *c;
    }
    quoted[n++] = quote;
    quoted[n] = '\0';
    put_token(g, quoted);
}

static bool needs_quotes(const char *name) {
    static const char *const plain[] = {"a",
                                        "b",
                                        "c",
                                        "A",
                                        "_x9",
                                        "x.y",
                                        "a$b",
                                        "\xE6\xB8\xA9\xE5\xBA\xA6",
                                        "TAGS",
                                        "temperature1",
                                        "temperature2",
                                        "temperature"};
    for (size_t i = 0; i < COUNT(plain); i++) {
        if (strcmp(plain[i], name) == 0) {
            return false;
        }
    }
    return true;
}

/* ---- sql: operands --------------------------------------------------------------------------- */

enum level {
    LEVEL_OR,
    LEVEL_AND,
    LEVEL_NOT,
    LEVEL_EQUALITY,
    LEVEL_RELATION,
    LEVEL_SUM,
    LEVEL_PRODUCT,
    LEVEL_FACTOR
};

static void put_condition(struct generator *g, enum level place);
static void put_number(struct generator *g, enum level place);

/* The opening parenthesis of an expression of `level` in `place`: needed, or redundant. Returns how many. */
static size_t open(struct generator *g, enum level level, enum level place) {
    size_t n = (level < place ? 1U : 0U) + (gen_spell_chance(g, 8) ? 1U : 0U);
    for (size_t i = 0; i < n; i++) {
        put_token(g, "(");
    }
    return n;
}

static void close(struct generator *g, size_t n) {
    for (size_t i = 0; i < n; i++) {
        put_token(g, ")");
    }
}

static void put_name(struct generator *g) {
    static const char *const attributes[] = {"$topic", "$content_type", "$response_topic"};
    if (gen_chance(g, 6)) {
        const char *attribute = attributes[gen_pick(g, COUNT(attributes))];
        size_t n = open(g, LEVEL_FACTOR, LEVEL_FACTOR);
        put_token(g, attribute);
        close(g, n);
        return;
    }
    const char *name = gen_names[gen_chance(g, 70) ? gen_pick(g, 3) : gen_pick(g, GEN_N_NAMES)];
    size_t n = open(g, LEVEL_FACTOR, LEVEL_FACTOR);
    if (needs_quotes(name) || gen_spell_chance(g, 20)) {
        put_quoted(g, name, '"');
    } else {
        put_token(g, name);
    }
    close(g, n);
}

static void put_string(struct generator *g) {
    const char *const *pool = gen_chance(g, 75) ? gen_texts : gen_numbers;
    put_quoted(g, pool[gen_pick(g, pool == gen_texts ? GEN_N_TEXTS : GEN_N_NUMBERS)], '\'');
}

static void put_unsigned(struct generator *g) {
    const char *number =
        gen_numbers[gen_chance(g, 60) ? gen_pick(g, 10) : gen_pick(g, GEN_N_NUMBERS)];
    put_token(g, number);
    if (strpbrk(number, ".eE") == NULL && gen_chance(g, 5)) {
        gen_put(g, gen_chance(g, 50) ? "L" : "l");
    }
}

/* literal of an IN list: string or [sign] number */
static void put_literal(struct generator *g, bool number) {
    if (!number && gen_chance(g, 60)) {
        put_string(g);
        return;
    }
    if (gen_chance(g, 3)) {
        put_token(g, "-");
        gen_put(g, "9223372036854775808");
        return;
    }
    if (gen_chance(g, 25)) {
        put_token(g, gen_chance(g, 80) ? "-" : "+");
    }
    put_unsigned(g);
}

static void put_number_primary(struct generator *g) {
    if (gen_chance(g, 8)) {
        size_t n = open(g, LEVEL_FACTOR, LEVEL_FACTOR);
        put_token(g, gen_chance(g, 60) ? "$qos" : "$payload_bytes");
        close(g, n);
        return;
    }
    size_t n = open(g, LEVEL_FACTOR, LEVEL_FACTOR);
    put_unsigned(g);
    close(g, n);
}

/* A name or a number: what orders and computes. */
static void put_numeric(struct generator *g, enum level place) {
    if (gen_chance(g, 55)) {
        put_name(g);
    } else {
        put_number(g, place);
    }
}

static void put_sign(struct generator *g, enum level place) {
    size_t n = open(g, LEVEL_FACTOR, place);
    if (gen_chance(g, 5)) {
        put_token(g, "-");
        gen_put(g, "9223372036854775808");
    } else {
        put_token(g, gen_chance(g, 75) ? "-" : "+");
        put_numeric(g, LEVEL_FACTOR);
    }
    close(g, n);
}

static void put_arithmetic(struct generator *g, enum level place) {
    bool sum = gen_chance(g, 60);
    enum level level = sum ? LEVEL_SUM : LEVEL_PRODUCT;
    size_t n = open(g, level, place);
    const char *op = sum ? (gen_chance(g, 50) ? "+" : "-") : (gen_chance(g, 60) ? "*" : "/");
    put_numeric(g, level);
    put_token(g, op);
    put_numeric(g, (enum level)(level + 1));
    close(g, n);
}

/* An operand of kind number. */
static void put_number(struct generator *g, enum level place) {
    if (g->budget == 0 || gen_chance(g, 55)) {
        put_number_primary(g);
        return;
    }
    g->budget--;
    if (gen_chance(g, 40)) {
        put_sign(g, place);
    } else {
        put_arithmetic(g, place);
    }
}

/* ---- sql: conditions ------------------------------------------------------------------------- */

static void put_equality_op(struct generator *g) {
    static const char *const ops[] = {"=", "<>", "!="};
    put_token(g, ops[gen_pick(g, COUNT(ops))]);
}

/* Any operand, so that kinds may not fit. */
static void put_any(struct generator *g, enum level place) {
    switch (gen_pick(g, 5)) {
    case 0:
        put_name(g);
        break;
    case 1:
        put_string(g);
        break;
    case 2:
        put_number(g, place);
        break;
    case 3:
        put_keyword(g, "NULL");
        break;
    default:
        put_condition(g, place);
        break;
    }
}

static void put_equality(struct generator *g, enum level place) {
    size_t n = open(g, LEVEL_EQUALITY, place);
    size_t way = gen_pick(g, 100);
    bool swapped = gen_chance(g, 30);
    if (way < 3) {
        put_any(g, LEVEL_RELATION);
        put_equality_op(g);
        put_any(g, LEVEL_RELATION);
    } else if (way < 35) {
        swapped ? put_string(g) : put_name(g);
        put_equality_op(g);
        swapped ? put_name(g) : put_string(g);
    } else if (way < 65) {
        swapped ? put_number(g, LEVEL_SUM) : put_name(g);
        put_equality_op(g);
        swapped ? put_name(g) : put_number(g, LEVEL_SUM);
    } else if (way < 75) {
        put_name(g);
        put_equality_op(g);
        put_name(g);
    } else if (way < 85) {
        swapped ? put_condition(g, LEVEL_RELATION) : put_name(g);
        put_equality_op(g);
        swapped ? put_name(g) : put_condition(g, LEVEL_RELATION);
    } else if (way < 93) {
        put_condition(g, LEVEL_EQUALITY);
        put_equality_op(g);
        put_condition(g, LEVEL_RELATION);
    } else {
        put_number(g, LEVEL_SUM);
        put_equality_op(g);
        put_number(g, LEVEL_SUM);
    }
    close(g, n);
}

static void put_ordering(struct generator *g, enum level place) {
    static const char *const ops[] = {"<", "<=", ">", ">="};
    size_t n = open(g, LEVEL_RELATION, place);
    put_numeric(g, LEVEL_SUM);
    put_token(g, ops[gen_pick(g, COUNT(ops))]);
    put_numeric(g, LEVEL_SUM);
    close(g, n);
}

static void put_negation(struct generator *g) {
    if (gen_chance(g, 30)) {
        put_keyword(g, "NOT");
    }
}

static void put_between(struct generator *g, enum level place) {
    size_t n = open(g, LEVEL_RELATION, place);
    put_numeric(g, LEVEL_SUM);
    put_negation(g);
    put_keyword(g, "BETWEEN");
    if (gen_chance(g, 50)) { /* in order, mostly */
        size_t low = gen_pick(g, 5);
        put_token(g, gen_numbers[low]);
        put_keyword(g, "AND");
        put_token(g, gen_numbers[low + gen_pick(g, 5 - low)]);
    } else {
        put_numeric(g, LEVEL_SUM);
        put_keyword(g, "AND");
        put_numeric(g, LEVEL_SUM);
    }
    close(g, n);
}

static void put_in(struct generator *g, enum level place) {
    size_t n = open(g, LEVEL_RELATION, place);
    bool number = gen_chance(g, 15);
    if (number) {
        put_token(g, gen_chance(g, 60) ? "$qos" : "$payload_bytes");
    } else {
        put_name(g);
    }
    put_negation(g);
    put_keyword(g, "IN");
    put_token(g, "(");
    size_t literals = gen_chance(g, 90) ? 1 + gen_pick(g, 6) : 1 + gen_pick(g, 30);
    for (size_t i = 0; i < literals; i++) {
        if (i > 0) {
            put_token(g, ",");
        }
        put_literal(g, number);
    }
    put_token(g, ")");
    close(g, n);
}

static void put_pattern(struct generator *g, bool escape) {
    static const char *const pieces[] = {
        "%", "_", "a", "b", "ab", "aa", "x", "!", "'", "\xE5\x8C\x97", "1", ".", "%a", "_%", "25"};
    char pattern[128] = "";
    size_t n = gen_pick(g, 7);
    for (size_t i = 0; i < n; i++) {
        strcat(pattern, pieces[gen_chance(g, 45) ? gen_pick(g, 2) : gen_pick(g, COUNT(pieces))]);
        if (escape && gen_chance(g, 25)) {
            strcat(pattern, gen_chance(g, 50) ? "!%" : "!_");
        }
    }
    put_quoted(g, pattern, '\'');
}

static void put_text_operator(struct generator *g, enum level place) {
    static const char *const ops[] = {"LIKE", "LIKE", "CONTAINS", "STARTSWITH", "ENDSWITH"};
    size_t n = open(g, LEVEL_RELATION, place);
    if (gen_chance(g, 92)) {
        put_name(g);
    } else {
        put_string(g);
    }
    put_negation(g);
    size_t op = gen_pick(g, COUNT(ops));
    put_keyword(g, ops[op]);
    if (op < 2) {
        bool escape = gen_chance(g, 30);
        put_pattern(g, escape);
        if (escape) {
            put_keyword(g, "ESCAPE");
            put_quoted(g, gen_chance(g, 90) ? "!" : "%", '\'');
        }
    } else if (gen_chance(g, 70)) {
        static const char *const parts[] = {"",    "a",  "ab", "b", "x", "1", "%", "\xE5\x8C\x97",
                                            "aab", ".0", "e"};
        put_quoted(g, parts[gen_pick(g, COUNT(parts))], '\'');
    } else {
        put_string(g);
    }
    close(g, n);
}

static void put_is_null(struct generator *g, enum level place) {
    size_t n = open(g, LEVEL_EQUALITY, place);
    if (gen_chance(g, 60)) {
        put_name(g);
    } else if (gen_chance(g, 40)) {
        put_number(g, LEVEL_SUM);
    } else if (gen_chance(g, 80)) {
        put_condition(g, LEVEL_EQUALITY);
    } else {
        put_any(g, LEVEL_RELATION);
    }
    put_keyword(g, "IS");
    if (gen_chance(g, 40)) {
        put_keyword(g, "NOT");
    }
    put_keyword(g, "NULL");
    close(g, n);
}

static void put_junction(struct generator *g, enum level place) {
    bool and = gen_chance(g, 50);
    enum level level = and? LEVEL_AND : LEVEL_OR;
    size_t n = open(g, level, place);
    put_condition(g, level);
    size_t more = 1 + (gen_chance(g, 20) ? gen_pick(g, 4) : 0);
    for (size_t i = 0; i < more; i++) {
        put_keyword(g, and? "AND" : "OR");
        if (gen_chance(g, 2)) {
            put_any(g, (enum level)(level + 1));
        } else {
            put_condition(g, (enum level)(level + 1));
        }
    }
    close(g, n);
}

static void put_not(struct generator *g, enum level place) {
    size_t n = open(g, LEVEL_NOT, place);
    put_keyword(g, "NOT");
    put_condition(g, LEVEL_NOT);
    close(g, n);
}

static void put_constant_condition(struct generator *g) {
    static const char *const keywords[] = {"TRUE", "FALSE", "NULL"};
    size_t n = open(g, LEVEL_FACTOR, LEVEL_FACTOR);
    if (gen_chance(g, 30)) {
        put_token(g, "$retain");
    } else {
        put_keyword(g, keywords[gen_pick(g, 2 + (gen_chance(g, 20) ? 1 : 0))]);
    }
    close(g, n);
}

static void put_condition(struct generator *g, enum level place) {
    if (g->budget == 0) {
        put_constant_condition(g);
        return;
    }
    g->budget--;
    size_t way = gen_pick(g, 100);
    if (way < 22) {
        put_junction(g, place);
    } else if (way < 30) {
        put_not(g, place);
    } else if (way < 50) {
        put_equality(g, place);
    } else if (way < 63) {
        put_ordering(g, place);
    } else if (way < 70) {
        put_between(g, place);
    } else if (way < 80) {
        put_in(g, place);
    } else if (way < 90) {
        put_text_operator(g, place);
    } else if (way < 95) {
        put_is_null(g, place);
    } else if (way < 97) {
        put_constant_condition(g);
    } else if (place <= LEVEL_NOT) {
        put_name(g); /* only where it is no operand of = */
    } else {
        put_constant_condition(g);
    }
}

void gen_sql(struct generator *g) {
    put_condition(g, LEVEL_OR);
    put_white_space(g, false);
}
