/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Why a filter gives what it gives. The tree is parsed again from the canonical text; its parts are compiled and run by
 * themselves, by the compiler and the evaluator that filters have, so that there is no second opinion on what an
 * expression means. What is told are the conditions that decided: of an AND that is false the first that is false, of
 * one that is true all of them. */
#include <stddef.h>

#include "canonical.h"
#include "compile.h"
#include "error.h"
#include "eval.h"
#include "filter.h"
#include "output.h"

enum {
    FIRST_BYTES = 4096,
    MAX_VALUES = 4, /* of one name that are shown */
    MAX_NAMES = 32, /* in one sentence */
};

struct explainer {
    const struct sf_filter *filter;
    struct sf_message *message;
    struct sf_output out;
    enum sf_status status;
};

/* ---- values ---------------------------------------------------------------------------------------------------- */

static void write_node(struct explainer *explainer, const struct sf_node *node) {
    _Alignas(max_align_t) char first[FIRST_BYTES];
    struct sf_arena arena;
    sf_arena_init(&arena, first, sizeof first, SIZE_MAX);
    struct sf_buffer buffer = {.arena = &arena};
    sf_canonical_write_plain(&buffer, sf_filter_dialect(explainer->filter), node);
    if (buffer.failed) {
        explainer->status = SF_E_NOMEM;
    } else {
        sf_output_text(&explainer->out, sf_buffer_text(&buffer));
    }
    sf_arena_deinit(&arena);
}

/* The slot of a name or attribute; SF_NO_ID when no filter reads the name, nor does this one: that of tag:*. */
static uint32_t slot_of(const struct explainer *explainer, const struct sf_node *node) {
    if (node->type == SF_NODE_ATTRIBUTE) {
        return sf_slot_of_attribute(node->attribute);
    }
    uint32_t id = sf_intern_find(&explainer->filter->schema->names, node->text);
    return id == SF_NO_ID ? id : sf_slot_of_name(id);
}

static unsigned state_of(const struct explainer *explainer, uint32_t at) {
    return explainer->message->values[at].state;
}

/* ---- parts of the tree ----------------------------------------------------------------------------------------- */

/* The truth of a part of the tree. */
static enum sf_truth evaluate(struct explainer *explainer, struct sf_node *node) {
    const struct sf_filter *filter = explainer->filter;
    _Alignas(max_align_t) char first[FIRST_BYTES];
    struct sf_arena arena;
    enum sf_truth truth = SF_UNKNOWN;
    sf_arena_init(&arena, first, sizeof first, SIZE_MAX);
    const struct sf_program *program =
        sf_compile_part(&arena, &filter->schema->names, filter->strict_integers, node);
    if (program != NULL) {
        truth = sf_run(program, explainer->message);
    } else {
        explainer->status = SF_E_NOMEM;
    }
    sf_arena_deinit(&arena);
    return truth;
}

/* Whether an operand of arithmetic has a number. */
static bool has_number(struct explainer *explainer, const struct sf_node *operand) {
    struct sf_node copy = *operand;
    copy.next = NULL;
    struct sf_node number = {.type = SF_NODE_SIGN, .sign = '+', .first = &copy};
    struct sf_node is_there = {.type = SF_NODE_IS_NULL, .negated = true, .first = &number};
    return evaluate(explainer, &is_there) == SF_TRUE;
}

static bool is_zero(struct explainer *explainer, const struct sf_node *operand) {
    struct sf_node zero = {
        .type = SF_NODE_NUMBER, .is_constant = true, .number = sf_number_integer(0)};
    struct sf_node copy = *operand;
    copy.next = NULL;
    struct sf_node number = {.type = SF_NODE_SIGN, .sign = '+', .first = &copy, .next = &zero};
    struct sf_node comparison = {.type = SF_NODE_COMPARE, .relation = SF_EQUAL, .first = &number};
    return evaluate(explainer, &comparison) == SF_TRUE;
}

/* Whether a condition is true for one value of the name in `slot`, as if there were no other. */
static bool is_true_for(struct explainer *explainer, struct sf_node *node, uint32_t slot,
                        uint32_t at) {
    struct sf_message *message = explainer->message;
    const struct sf_value value = message->values[slot];
    const char *text = message->texts[slot];
    message->values[slot] = message->values[at];
    message->values[slot].state &= (uint8_t)~SF_VALUE_EARLIER;
    message->texts[slot] = message->texts[at];
    bool is_true = evaluate(explainer, node) == SF_TRUE;
    message->values[slot] = value;
    message->texts[slot] = text;
    return is_true;
}

/* ---- sentences ------------------------------------------------------------------------------------------------- */

/* How a name is read. */
enum reading { AS_TEXT, AS_NUMBER, AS_INTEGER, AS_TRUTH };

/* A condition with its truth, and what the names in it are. */
struct sentence {
    struct sf_node *node;
    enum sf_truth truth;
    size_t n_parts; /* what is told behind the truth */
    bool is_full;   /* other names are not told */
    size_t n_names;
    struct {
        uint32_t slot;
        enum reading reading;
    } names[MAX_NAMES];
};

/* Whether an operand of a comparison meets an integer literal there. */
static bool meets_integer(const struct sf_node *node, const struct sf_node *operand) {
    for (const struct sf_node *other = node->first; other != NULL; other = other->next) {
        bool is_met = other != operand && (operand == node->first || other == node->first);
        if (is_met && sf_node_is_integer_literal(other)) {
            return true;
        }
    }
    return false;
}

/* How a name directly below `node` is read as a number. */
static enum reading number_reading(const struct explainer *explainer, const struct sf_node *node,
                                   const struct sf_node *name) {
    return explainer->filter->strict_integers && sf_node_kind(name) == SF_KIND_NAME &&
                   meets_integer(node, name)
               ? AS_INTEGER
               : AS_NUMBER;
}

/* How a name directly below `node` is read. */
static enum reading reading_below(struct explainer *explainer, struct sf_node *node,
                                  const struct sf_node *name, const struct sentence *sentence) {
    switch (node->type) {
    case SF_NODE_OR:
    case SF_NODE_AND:
    case SF_NODE_NOT:
        return AS_TRUTH;
    case SF_NODE_SIGN:
    case SF_NODE_ARITHMETIC:
        return AS_NUMBER;
    case SF_NODE_BETWEEN:
        return number_reading(explainer, node, name);
    case SF_NODE_IN: { /* unknown can only come from its numbers */
        enum sf_truth truth = node == sentence->node ? sentence->truth : evaluate(explainer, node);
        return truth == SF_UNKNOWN ? number_reading(explainer, node, name) : AS_TEXT;
    }
    case SF_NODE_COMPARE: {
        enum sf_kind left = sf_node_kind(node->first);
        enum sf_kind right = sf_node_kind(node->first->next);
        bool is_equality = node->relation == SF_EQUAL || node->relation == (SF_LESS | SF_GREATER);
        if (!is_equality || left == SF_KIND_NUMBER || right == SF_KIND_NUMBER) {
            return number_reading(explainer, node, name);
        }
        return left == SF_KIND_CONDITION || right == SF_KIND_CONDITION ? AS_TRUTH : AS_TEXT;
    }
    default:
        return AS_TEXT;
    }
}

/* Why a value that is there is of no use when it is read so; "" when it is. */
static const char *fault_of(const struct explainer *explainer, uint32_t at, enum reading reading) {
    if (reading == AS_TRUTH) {
        struct sf_text text = sf_message_text(explainer->message, at);
        bool is_truth = sf_text_is_word(text, "true") || sf_text_is_word(text, "false");
        return is_truth ? "" : ", which is neither true nor false";
    }
    if (reading == AS_NUMBER || reading == AS_INTEGER) {
        enum sf_number_kind kind = sf_message_number(explainer->message, at).kind;
        return kind == SF_NUMBER_NONE                            ? ", which is not a number"
               : kind == SF_NUMBER_REAL && reading == AS_INTEGER ? ", which is not an integer"
                                                                 : "";
    }
    return "";
}

static void write_value(struct explainer *explainer, uint32_t at, enum reading reading) {
    bool has_text = (state_of(explainer, at) & SF_VALUE_ABSENT) == 0;
    if (!has_text) { /* a number: $qos, $payload_bytes */
        char text[SF_NUMBER_TEXT_BYTES];
        sf_number_write(sf_message_number(explainer->message, at), text);
        sf_output_print(&explainer->out, "%s", text);
    } else {
        struct sf_quoted quoted;
        sf_output_print(&explainer->out, "'%s'",
                        sf_quote(&quoted, sf_message_text(explainer->message, at)));
    }
    sf_output_print(&explainer->out, "%s", fault_of(explainer, at, reading));
}

/* Where the values of a name are, the last one first. Returns how many. */
static size_t find_values(const struct explainer *explainer, uint32_t at,
                          uint32_t places[SF_MAX_PROPERTIES]) {
    size_t n = 0;
    places[n++] = at;
    while (n < SF_MAX_PROPERTIES && (state_of(explainer, at) & SF_VALUE_EARLIER) != 0) {
        at = sf_message_earlier(explainer->message, at);
        places[n++] = at;
    }
    return n;
}

/* The values of a name where any may hold, in the order of the message; when one does, those that do. */
static void write_values(struct explainer *explainer, const uint32_t *places, size_t n,
                         enum reading reading, const struct sentence *sentence) {
    size_t n_told = 0;
    for (size_t i = n; i-- > 0;) {
        bool counts = n == 1 || sentence->truth != SF_TRUE ||
                      is_true_for(explainer, sentence->node, places[0], places[i]);
        if (counts && ++n_told <= MAX_VALUES) {
            sf_output_print(&explainer->out, n_told == 1 ? "" : "; ");
            write_value(explainer, places[i], reading);
        }
    }
    if (n_told > MAX_VALUES) {
        sf_output_print(&explainer->out, " and %zu more", n_told - MAX_VALUES);
    }
}

/* Begin to tell something behind the truth. */
static void begin_part(struct explainer *explainer, struct sentence *sentence) {
    sf_output_print(&explainer->out, sentence->n_parts++ == 0 ? ": " : "; ");
}

/* Whether a name was told already. */
static bool is_told(const struct sentence *sentence, uint32_t slot, enum reading reading) {
    for (size_t i = 0; i < sentence->n_names; i++) {
        if (sentence->names[i].slot == slot && sentence->names[i].reading == reading) {
            return true;
        }
    }
    return false;
}

static void write_name(struct explainer *explainer, const struct sf_node *node,
                       enum reading reading, struct sentence *sentence) {
    const unsigned absent = SF_VALUE_ABSENT | SF_VALUE_NO_NUMBER;
    uint32_t slot = slot_of(explainer, node);
    if (slot == SF_NO_ID || sentence->is_full || is_told(sentence, slot, reading)) {
        return;
    }
    begin_part(explainer, sentence);
    if (sentence->n_names == MAX_NAMES) {
        sentence->is_full = true;
        sf_output_print(&explainer->out, "...");
        return;
    }
    sentence->names[sentence->n_names].slot = slot;
    sentence->names[sentence->n_names++].reading = reading;
    write_node(explainer, node);
    if ((state_of(explainer, slot) & absent) == absent) {
        sf_output_print(&explainer->out, " is absent");
    } else {
        uint32_t places[SF_MAX_PROPERTIES];
        size_t n = find_values(explainer, slot, places);
        sf_output_print(&explainer->out, " is ");
        if (sentence->node->any) {
            write_values(explainer, places, n, reading, sentence);
        } else {
            write_value(explainer, slot, reading);
            if (n > 1) {
                sf_output_print(&explainer->out, " (the last of %zu)", n);
            }
        }
    }
}

/* Arithmetic that has no result though its operands are numbers. */
static void write_arithmetic(struct explainer *explainer, const struct sf_node *node,
                             struct sentence *sentence) {
    const struct sf_node *right = node->first->next;
    if (has_number(explainer, node) || !has_number(explainer, node->first) ||
        !has_number(explainer, right)) {
        return;
    }
    begin_part(explainer, sentence);
    write_node(explainer, node);
    sf_output_print(&explainer->out, node->sign == '/' && is_zero(explainer, right)
                                         ? " divides by zero"
                                         : " is out of range");
}

/* What is in `node` and decides about its truth. */
static void write_parts(struct explainer *explainer, struct sf_node *node,
                        struct sentence *sentence) {
    for (struct sf_node *child = node->first; child != NULL; child = child->next) {
        if (sf_node_is_slot(child)) {
            write_name(explainer, child, reading_below(explainer, node, child, sentence), sentence);
        } else {
            write_parts(explainer, child, sentence);
        }
    }
    if (node->type == SF_NODE_ARITHMETIC) {
        write_arithmetic(explainer, node, sentence);
    }
}

static void write_sentence(struct explainer *explainer, struct sf_node *node, enum sf_truth truth) {
    static const char *const names[] = {
        [SF_FALSE] = " is false", [SF_TRUE] = " is true", [SF_UNKNOWN] = " is unknown"};
    struct sentence sentence = {.node = node, .truth = truth};
    write_node(explainer, node);
    sf_output_print(&explainer->out, "%s", names[truth]);
    if (sf_node_is_slot(node)) {
        write_name(explainer, node, AS_TRUTH, &sentence);
    } else {
        write_parts(explainer, node, &sentence);
    }
    sf_output_end_line(&explainer->out);
}

/* ---- the conditions that decided ------------------------------------------------------------------------------- */

static enum sf_truth negate(enum sf_truth truth) {
    return truth == SF_UNKNOWN ? truth : truth == SF_TRUE ? SF_FALSE : SF_TRUE;
}

static void explain(struct explainer *explainer, struct sf_node *node, enum sf_truth truth) {
    if (node->type == SF_NODE_NOT) {
        explain(explainer, node->first, negate(truth));
        return;
    }
    if (node->type != SF_NODE_AND && node->type != SF_NODE_OR) {
        write_sentence(explainer, node, truth);
        return;
    }
    enum sf_truth deciding = node->type == SF_NODE_AND ? SF_FALSE : SF_TRUE;
    for (struct sf_node *child = node->first; child != NULL; child = child->next) {
        if (explainer->status == SF_OK && evaluate(explainer, child) == truth) {
            explain(explainer, child, truth);
            if (truth == deciding) {
                return;
            }
        }
    }
}

/* The message decided alone. */
static void explain_unbound(struct explainer *explainer, enum sf_truth verdict) {
    if (verdict == SF_FALSE) {
        sf_output_print(&explainer->out,
                        "the message has more than %d User Properties, so it matches no filter",
                        SF_MAX_PROPERTIES);
    } else {
        sf_output_print(&explainer->out, "the message is not bound to the filters of now");
    }
    sf_output_end_line(&explainer->out);
}

enum sf_status sf_explain(const struct sf_filter *filter, struct sf_message *message,
                          sf_write_fn *write, void *user, enum sf_truth *truth_out) {
    struct explainer explainer = {.filter = filter,
                                  .message = message,
                                  .out = {.write = write, .user = user},
                                  .status = SF_OK};
    *truth_out = sf_eval(filter, message);
    if (!sf_message_is_bound(message)) {
        explain_unbound(&explainer, *truth_out);
        return SF_OK;
    }
    _Alignas(max_align_t) char first[FIRST_BYTES];
    struct sf_arena arena;
    sf_arena_init(&arena, first, sizeof first, SIZE_MAX);
    struct sf_node *root = sf_filter_parse(filter, &arena);
    if (root == NULL) {
        explainer.status = SF_E_NOMEM;
    } else {
        explain(&explainer, root, *truth_out);
    }
    sf_arena_deinit(&arena);
    return explainer.status;
}
