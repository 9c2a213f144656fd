/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The model: whether what the clients have received is what they had to get (see model.h).
 */
#include "model.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

__attribute__((format(printf, 2, 3))) static bool wrong(struct model_error *error,
                                                        const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    return false;
}

/* ---- what the clients report ----------------------------------------------------------------------------------- */

/* Whether a client received `copy`. An MQTT 3 client is not told the Subscription Identifier. */
static bool is_copy(const struct model_session *session, const struct model_copy *copy,
                    const struct wire_message *message) {
    return copy->message == message->number && copy->qos == message->qos &&
           copy->retain == message->retain && (copy->id == message->id || session->protocol != 5);
}

/* The copy that one of the tokens has for a client, or NULL. */
static const struct model_copy *token_copy(const struct model *model, int client,
                                           const struct wire_message *message) {
    for (size_t i = 0; i < model->n_tokens; i++) {
        for (size_t k = 0; k < model->tokens[i].n_places; k++) {
            const struct model_place *place = &model->tokens[i].places[k];
            if (place->client == client &&
                is_copy(&model->sessions[client], &place->copy, message)) {
                return &place->copy;
            }
        }
    }
    return NULL;
}

static bool unexpected(struct model_error *error, int client, const struct wire_message *message) {
    return wrong(error, "c%d got message %u on %s, id %u, qos %d%s, which it must not get", client,
                 message->number, message->topic, message->id, message->qos,
                 message->retain ? ", retain" : "");
}

/* Messages of one QoS come in the order in which they were passed on. */
static bool in_order(unsigned last[3], const struct model_copy *copy, int client,
                     struct model_error *error) {
    if (copy->sequence == 0 ||
        copy->message == 0) { /* retained; without a number, so one of several */
        return true;
    }
    if (copy->sequence < last[copy->qos]) {
        return wrong(error, "c%d got message %u, qos %d, after one that was passed on later",
                     client, copy->message, copy->qos);
    }
    last[copy->qos] = copy->sequence;
    return true;
}

/* The waiting copies of a client are those that are not in `received`; `used` says which of them were found. */
static bool take_received(struct model *model, int client, const struct wire_message *received,
                          size_t n, bool used[MODEL_COPIES], struct model_error *error) {
    struct model_session *session = &model->sessions[client];
    unsigned last[3] = {0};
    for (size_t i = 0; i < n; i++) {
        const struct wire_message *message = &received[i];
        const struct model_message *sent = &model->rules->messages[message->number];
        if (message->number >= model->rules->n_messages ||
            (message->number > 0 && strcmp(sent->topic, message->topic) != 0)) {
            return wrong(error, "c%d got message %u on %s, which nobody has sent", client,
                         message->number, message->topic);
        }
        const struct model_copy *copy = NULL;
        for (size_t k = 0; k < session->n_copies && copy == NULL; k++) {
            if (!used[k] && is_copy(session, &session->copies[k], message)) {
                used[k] = true;
                copy = &session->copies[k];
            }
        }
        if (copy == NULL) {
            copy = token_copy(model, client, message);
            if (copy == NULL) {
                return unexpected(error, client, message);
            }
            if (message->acknowledged) {
                REQUIRE(model->n_receipts < MODEL_TOKENS, "more is open than the model can hold");
                model->receipts[model->n_receipts++] = (struct model_receipt){
                    .client = client, .copy = *copy, .any_id = session->protocol != 5};
            }
        }
        if (!in_order(last, copy, client, error)) {
            return false;
        }
    }
    return true;
}

bool model_report(struct model *model, int client, const struct wire_message *received, size_t n,
                  struct model_error *error) {
    static bool used[MODEL_COPIES];
    struct model_session *session = &model->sessions[client];
    memset(used, 0, sizeof used);
    if (!take_received(model, client, received, n, used, error)) {
        return false;
    }
    size_t left = 0;
    for (size_t i = 0; i < session->n_copies; i++) {
        const struct model_copy *copy = &session->copies[i];
        bool due = !session->deaf || copy->qos == 0;
        if (due && !used[i]) {
            return wrong(error, "c%d did not get message %u on %s, id %u, qos %d%s", client,
                         copy->message, model->rules->messages[copy->message].topic, copy->id,
                         copy->qos, copy->retain ? ", retain" : "");
        }
        if (!due) {
            session->copies[left++] = *copy; /* it has it only when it has acknowledged it */
        }
    }
    session->n_copies = left;
    for (size_t i = 0; i < model->n_tokens; i++) {
        for (size_t k = 0; k < model->tokens[i].n_places; k++) {
            struct model_place *place = &model->tokens[i].places[k];
            if (place->client == client && (!session->deaf || place->copy.qos == 0)) {
                place->taken = true;
            }
        }
    }
    return true;
}

/* ---- tokens ---------------------------------------------------------------------------------------------------- */

/* The tokens and receipts of one message. */
struct puzzle {
    const struct model *model;
    size_t tokens[MODEL_TOKENS];
    size_t n_tokens;
    size_t receipts[MODEL_TOKENS];
    size_t n_receipts;
    bool assigned[MODEL_TOKENS]; /* by position in tokens */
};

/* Whether nobody may have got the copy of a token, as far as is known. */
static bool may_be_open(const struct model_token *token) {
    bool open = token->optional;
    for (size_t i = 0; i < token->n_places; i++) {
        open = open || !token->places[i].taken || token->places[i].hidden;
    }
    return open;
}

static bool has_place(const struct model_token *token, const struct model_receipt *receipt) {
    for (size_t i = 0; i < token->n_places; i++) {
        const struct model_copy *copy = &token->places[i].copy;
        if (token->places[i].client == receipt->client && copy->qos == receipt->copy.qos &&
            copy->retain == receipt->copy.retain &&
            (receipt->any_id || copy->id == receipt->copy.id)) {
            return true;
        }
    }
    return false;
}

/* Whether the receipts from number `next` on can be assigned, each to a token of its own, so that the tokens left over
 * may be open. */
static bool can_solve(struct puzzle *puzzle, size_t next) {
    if (next == puzzle->n_receipts) {
        for (size_t i = 0; i < puzzle->n_tokens; i++) {
            if (!puzzle->assigned[i] && !may_be_open(&puzzle->model->tokens[puzzle->tokens[i]])) {
                return false;
            }
        }
        return true;
    }
    const struct model_receipt *receipt = &puzzle->model->receipts[puzzle->receipts[next]];
    for (size_t i = 0; i < puzzle->n_tokens; i++) {
        if (!puzzle->assigned[i] && has_place(&puzzle->model->tokens[puzzle->tokens[i]], receipt)) {
            puzzle->assigned[i] = true;
            if (can_solve(puzzle, next + 1)) {
                return true;
            }
            puzzle->assigned[i] = false;
        }
    }
    return false;
}

static bool not_solved(const struct puzzle *puzzle, unsigned message, struct model_error *error) {
    char *at = error->text;
    char *end = error->text + sizeof error->text;
    at += snprintf(at, (size_t)(end - at), "message %u on %s: got by", message,
                   puzzle->model->rules->messages[message].topic);
    for (size_t i = 0; i < puzzle->n_receipts && end - at > 40; i++) {
        const struct model_receipt *receipt = &puzzle->model->receipts[puzzle->receipts[i]];
        at += snprintf(at, (size_t)(end - at), " c%d(id %u)", receipt->client, receipt->copy.id);
    }
    for (size_t i = 0; i < puzzle->n_tokens && end - at > 200; i++) {
        const struct model_token *token = &puzzle->model->tokens[puzzle->tokens[i]];
        at += snprintf(at, (size_t)(end - at), "; %s of",
                       token->optional ? "perhaps one" : "exactly one");
        for (size_t k = 0; k < token->n_places; k++) {
            const struct model_place *place = &token->places[k];
            at += snprintf(at, (size_t)(end - at), " c%d(id %u, qos %d%s)", place->client,
                           place->copy.id, place->copy.qos,
                           place->hidden  ? ", unseen"
                           : place->taken ? ""
                                          : ", later");
        }
    }
    return false;
}

/* Whether the clients of all places of a message's tokens have reported. */
static bool is_finished(const struct puzzle *puzzle) {
    for (size_t i = 0; i < puzzle->n_tokens; i++) {
        const struct model_token *token = &puzzle->model->tokens[puzzle->tokens[i]];
        for (size_t k = 0; k < token->n_places; k++) {
            if (!token->places[k].taken && !token->places[k].hidden) {
                return false;
            }
        }
    }
    return true;
}

static void forget_message(struct model *model, unsigned message) {
    size_t left = 0;
    for (size_t i = 0; i < model->n_tokens; i++) {
        if (model->tokens[i].message != message) {
            model->tokens[left++] = model->tokens[i];
        }
    }
    model->n_tokens = left;
    left = 0;
    for (size_t i = 0; i < model->n_receipts; i++) {
        if (model->receipts[i].copy.message != message) {
            model->receipts[left++] = model->receipts[i];
        }
    }
    model->n_receipts = left;
}

static void collect(struct puzzle *puzzle, const struct model *model, unsigned message) {
    memset(puzzle, 0, sizeof *puzzle);
    puzzle->model = model;
    for (size_t i = 0; i < model->n_tokens; i++) {
        if (model->tokens[i].message == message) {
            puzzle->tokens[puzzle->n_tokens++] = i;
        }
    }
    for (size_t i = 0; i < model->n_receipts; i++) {
        if (model->receipts[i].copy.message == message) {
            puzzle->receipts[puzzle->n_receipts++] = i;
        }
    }
}

bool model_settle(struct model *model, struct model_error *error) {
    static struct puzzle puzzle;
    for (size_t i = 0; i < model->n_tokens;) {
        unsigned message = model->tokens[i].message;
        collect(&puzzle, model, message);
        if (puzzle.tokens[0] != i) {
            i++; /* done with an earlier one */
            continue;
        }
        if (!can_solve(&puzzle, 0)) {
            return not_solved(&puzzle, message, error);
        }
        if (is_finished(&puzzle)) {
            forget_message(model, message);
        } else {
            i++;
        }
    }
    return true;
}
