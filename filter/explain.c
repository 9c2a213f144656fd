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
    if (node->type == SF_NODE_NAME && explainer->filter->dialect != SF_DIALECT_SQL) {
        sf_buffer_add(&buffer, node->text.at, node->text.bytes);
    } else {
        sf_canonical_write_node(&buffer, sf_filter_dialect(explainer->filter), node);
    }
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

static void write_value(struct explainer *explainer, uint32_t at) {
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
}

/* ---- sentences ------------------------------------------------------------------------------------------------- */

/* How a name is read. */
enum reading { AS_TEXT, AS_NUMBER, AS_TRUTH };

/* How the names directly below `node` are read. */
static enum reading reading_below(const struct sf_node *node, enum sf_truth truth) {
    switch (node->type) {
    case SF_NODE_OR:
    case SF_NODE_AND:
    case SF_NODE_NOT:
        return AS_TRUTH;
    case SF_NODE_BETWEEN:
    case SF_NODE_SIGN:
    case SF_NODE_ARITHMETIC:
        return AS_NUMBER;
    case SF_NODE_IN: /* unknown can only come from its numbers */
        return truth == SF_UNKNOWN ? AS_NUMBER : AS_TEXT;
    case SF_NODE_COMPARE: {
        enum sf_kind left = sf_node_kind(node->first);
        enum sf_kind right = sf_node_kind(node->first->next);
        bool is_equality = node->relation == SF_EQUAL || node->relation == (SF_LESS | SF_GREATER);
        if (!is_equality || left == SF_KIND_NUMBER || right == SF_KIND_NUMBER) {
            return AS_NUMBER;
        }
        return left == SF_KIND_CONDITION || right == SF_KIND_CONDITION ? AS_TRUTH : AS_TEXT;
    }
    default:
        return AS_TEXT;
    }
}

/* Why a value that is there is of no use when it is read so; "" when it is. */
static const char *fault_of(const struct explainer *explainer, uint32_t at, enum reading reading,
                            enum sf_truth truth) {
    if (reading == AS_TRUTH) {
        struct sf_text text = sf_message_text(explainer->message, at);
        bool is_truth = sf_text_is_word(text, "true") || sf_text_is_word(text, "false");
        return is_truth ? "" : ", which is neither true nor false";
    }
    if (reading == AS_NUMBER) {
        enum sf_number_kind kind = sf_message_number(explainer->message, at).kind;
        bool is_refused_real =
            explainer->filter->strict_integers && truth == SF_UNKNOWN && kind == SF_NUMBER_REAL;
        return kind == SF_NUMBER_NONE ? ", which is not a number"
               : is_refused_real      ? ", which is not an integer"
                                      : "";
    }
    return "";
}

/* A condition with its truth, and what the names in it are. */
struct sentence {
    enum sf_truth truth;
    bool any; /* value of a name counts */
    size_t n_names;
};

/* The last value of a name, and where any counts those before it as well. */
static void write_values(struct explainer *explainer, uint32_t at, enum reading reading,
                         const struct sentence *sentence) {
    for (int n = 1;; n++) {
        write_value(explainer, at);
        sf_output_print(&explainer->out, "%s", fault_of(explainer, at, reading, sentence->truth));
        if (!sentence->any || (state_of(explainer, at) & SF_VALUE_EARLIER) == 0) {
            return;
        }
        sf_output_print(&explainer->out, n < MAX_VALUES ? "; " : "; ...");
        if (n == MAX_VALUES) {
            return;
        }
        at = sf_message_earlier(explainer->message, at);
    }
}

static void write_name(struct explainer *explainer, const struct sf_node *node,
                       enum reading reading, struct sentence *sentence) {
    const unsigned absent = SF_VALUE_ABSENT | SF_VALUE_NO_NUMBER;
    uint32_t slot = slot_of(explainer, node);
    if (slot == SF_NO_ID) {
        return;
    }
    sf_output_print(&explainer->out, sentence->n_names++ == 0 ? ": " : "; ");
    write_node(explainer, node);
    if ((state_of(explainer, slot) & absent) == absent) {
        sf_output_print(&explainer->out, " is absent");
    } else {
        sf_output_print(&explainer->out, " is ");
        write_values(explainer, slot, reading, sentence);
    }
}

static void write_names(struct explainer *explainer, const struct sf_node *node,
                        enum reading reading, struct sentence *sentence) {
    if (node->type == SF_NODE_NAME || node->type == SF_NODE_ATTRIBUTE) {
        write_name(explainer, node, reading, sentence);
    }
    for (const struct sf_node *child = node->first; child != NULL; child = child->next) {
        write_names(explainer, child, reading_below(node, sentence->truth), sentence);
    }
}

static void write_sentence(struct explainer *explainer, const struct sf_node *node,
                           enum sf_truth truth) {
    static const char *const names[] = {
        [SF_FALSE] = " is false", [SF_TRUE] = " is true", [SF_UNKNOWN] = " is unknown"};
    struct sentence sentence = {.truth = truth, .any = node->any};
    write_node(explainer, node);
    sf_output_print(&explainer->out, "%s", names[truth]);
    write_names(explainer, node, AS_TRUTH, &sentence);
    sf_output_end_line(&explainer->out);
}

/* ---- the conditions that decided ------------------------------------------------------------------------------- */

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
