/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The model: who gets a message (see model.h).
 */
#include "model_internal.h"

#include <string.h>

/* ---- topics ---------------------------------------------------------------------------------------------------- */

bool model_matches(const char *filter, const char *topic) {
    if (topic[0] == '$' && filter[0] != '$') {
        return false;
    }
    for (;;) {
        size_t in_filter = strcspn(filter, "/");
        size_t in_topic = strcspn(topic, "/");
        if (strncmp(filter, "#", in_filter) == 0 && in_filter == 1) {
            return true;
        }
        bool any = in_filter == 1 && filter[0] == '+';
        if (!any && (in_filter != in_topic || memcmp(filter, topic, in_topic) != 0)) {
            return false;
        }
        filter += in_filter;
        topic += in_topic;
        if (*topic == '\0') {
            return *filter == '\0' || strcmp(filter, "/#") == 0; /* a/# matches a */
        }
        if (*filter == '\0') {
            return false;
        }
        filter++;
        topic++;
    }
}

/* Literal levels before '+' before '#'. */
static int rank(const char *level) {
    return level[0] == '#' ? 2 : level[0] == '+' ? 1 : 0;
}

/* broker: of two filters that match one topic, which it asks about first: at the first level that differs a literal
 * before '+' before '#', and a/# before a. */
static bool comes_before(const char *left, const char *right) {
    for (;;) {
        size_t in_left = strcspn(left, "/");
        size_t in_right = strcspn(right, "/");
        if (in_left != in_right || memcmp(left, right, in_left) != 0) {
            return rank(left) < rank(right);
        }
        if (left[in_left] == '\0' || right[in_right] == '\0') {
            return right[in_right] == '\0';
        }
        left += in_left + 1;
        right += in_right + 1;
    }
}

/* ---- filters --------------------------------------------------------------------------------------------------- */

static struct ref_text text_of(const char *text) {
    return (struct ref_text){.text = text, .bytes = text == NULL ? 0 : strlen(text)};
}

/* Whether a subscription takes a message. */
bool model_holds(const struct model *model, const struct model_subscription *subscription,
                 const struct model_message *message) {
    if (subscription->filter < 0) {
        return true;
    }
    struct ref_property properties[MODEL_MAX_USER];
    size_t n = 0;
    for (const char *const *at = message->user; *at != NULL; at += 2) {
        properties[n++] = (struct ref_property){.name = text_of(at[0]), .value = text_of(at[1])};
    }
    const struct ref_message bound = {
        .properties = properties,
        .n_properties = n,
        .topic = text_of(message->topic),
        .content_type = text_of(message->content_type),
        .response_topic = text_of(message->response_topic),
        .has_qos = true,
        .has_retain = true,
        .has_payload_bytes = true,
        .retain = message->retain,
        .qos = message->qos,
        .payload_bytes = strlen(message->payload),
    };
    return ref_eval(model->rules->filters[subscription->filter].reference, &bound) == SF_TRUE;
}

/* Two members of a share group whose filters differ are in different groups. */
int model_meaning(const struct model *model, const struct model_subscription *subscription) {
    return subscription->filter < 0 ? -1 : (int)model->rules->filters[subscription->filter].meaning;
}

/* ---- passing a message on -------------------------------------------------------------------------------------- */

/* One message on its way. */
struct fan_out {
    struct model *model;
    const struct model_message *message;
    unsigned number;
    bool known; /* the plugin can tell the publisher */
    int dying;  /* the client whose connection is ending; MODEL_CLIENTS: all; -1: none */
    const struct model_subscription
        *normal[MODEL_SUBSCRIPTIONS]; /* of one session: matching, in the broker's order */
    size_t n_normal;
    const struct model_subscription *shared[MODEL_SUBSCRIPTIONS]; /* of one session: matching */
    size_t n_shared;
    size_t lost; /* the first of `normal` where the order cannot tell any more */
};

static void find_matches(struct fan_out *out, const struct model_session *session) {
    out->n_normal = 0;
    out->n_shared = 0;
    for (size_t i = 0; i < session->n_subscriptions; i++) {
        const struct model_subscription *subscription = &session->subscriptions[i];
        if (!model_matches(subscription->topic, out->message->topic)) {
            continue;
        }
        if (subscription->group[0] != '\0') {
            if (out->message->topic[0] !=
                '$') { /* broker: shared subscriptions never match $ topics */
                out->shared[out->n_shared++] = subscription;
            }
            continue;
        }
        size_t at = out->n_normal++;
        for (; at > 0 && comes_before(subscription->topic, out->normal[at - 1]->topic); at--) {
            out->normal[at] = out->normal[at - 1];
        }
        out->normal[at] = subscription;
    }
    out->lost = out->n_normal;
    for (size_t i = out->n_normal; !out->known && i-- > 0;) {
        out->lost = out->normal[i]->no_local ? i : out->lost;
    }
    if (out->message->topic[0] == '$' || model_is_mismatched(session)) {
        out->lost = 0;
    }
}

/* Whether a copy passes that the order cannot assign: any of the subscriptions that it may be for would take it. */
static bool any_holds(const struct fan_out *out) {
    for (size_t i = out->lost; i < out->n_normal; i++) {
        if (!out->normal[i]->ghost && model_holds(out->model, out->normal[i], out->message)) {
            return true;
        }
    }
    for (size_t i = 0; i < out->n_shared; i++) {
        if (model_holds(out->model, out->shared[i], out->message)) {
            return true;
        }
    }
    return false;
}

static struct model_copy copy_for(const struct fan_out *out,
                                  const struct model_subscription *subscription) {
    const struct model_message *message = out->message;
    int qos = message->qos < subscription->qos ? message->qos : subscription->qos;
    return (struct model_copy){
        .message = message->payload[0] == '\0' ? 0 : out->number,
        .sequence = out->model->sequence,
        .id = subscription->id,
        .qos = (uint8_t)qos,
        .retain = message->retain && subscription->retain_as_published,
    };
}

/* Whether a copy reaches the client's queue or the client: broker: with QoS 0 only when it is connected, or in the
 * moment in which it disconnects with its will: then the copy waits for the next connection. */
static bool reaches(const struct fan_out *out, int client, const struct model_copy *copy) {
    bool dying = out->dying == client || out->dying == MODEL_CLIENTS;
    return copy->qos > 0 || (out->model->sessions[client].online && !dying);
}

void model_add_copy(struct model_session *session, const struct model_copy *copy) {
    REQUIRE(session->n_copies < MODEL_COPIES, "more waits for a session than the model can hold");
    session->copies[session->n_copies++] = *copy;
}

static struct model_token *new_token(const struct fan_out *out, bool optional) {
    struct model *model = out->model;
    REQUIRE(model->n_tokens < MODEL_TOKENS, "more is open than the model can hold");
    struct model_token *token = &model->tokens[model->n_tokens++];
    *token = (struct model_token){
        .optional = optional,
        .message = out->message->payload[0] == '\0' ? 0 : out->number,
    };
    return token;
}

static void add_place(const struct fan_out *out, struct model_token *token, int client,
                      const struct model_subscription *subscription) {
    struct model_place *place = &token->places[token->n_places++];
    *place = (struct model_place){.client = client, .copy = copy_for(out, subscription)};
    place->hidden = !reaches(out, client, &place->copy);
}

static void pass_to_normal(struct fan_out *out, int client) {
    struct model_session *session = &out->model->sessions[client];
    bool filters = model_has_filters(session);
    for (size_t i = 0; i < out->n_normal; i++) {
        const struct model_subscription *subscription = out->normal[i];
        if (subscription->gone || (subscription->no_local && out->message->publisher == client)) {
            continue;
        }
        struct model_copy copy = copy_for(out, subscription);
        bool unknown = subscription->ghost && filters;
        if (!unknown && model_holds(out->model, subscription, out->message)) {
            if (reaches(out, client, &copy)) {
                model_add_copy(session, &copy);
            }
        } else if (i >= out->lost && any_holds(out)) {
            add_place(out, new_token(out, true), client, subscription);
        }
    }
}

/* Whether the order cannot tell which of its share groups a session is asked about. */
static bool is_ambiguous(const struct fan_out *out, const struct model_session *session) {
    return out->n_shared > 1 || out->lost < out->n_normal || model_is_mismatched(session);
}

/* The group of one member: exactly one of the members gets the message if their filter holds. */
static void pass_to_group(struct fan_out *out, const struct model_subscription *first) {
    struct model *model = out->model;
    bool passes = model_holds(model, first, out->message);
    struct model_token *token = new_token(out, !passes);
    for (int client = 0; client < MODEL_CLIENTS; client++) {
        const struct model_subscription *member =
            model_find(model, client, first->group, first->topic);
        if (member == NULL || model_meaning(model, member) != model_meaning(model, first)) {
            continue;
        }
        find_matches(out, &model->sessions[client]);
        if (passes || (is_ambiguous(out, &model->sessions[client]) && any_holds(out))) {
            add_place(out, token, client, member);
        }
    }
    if (token->n_places == 0) {
        model->n_tokens--;
    } else if (passes && token->n_places == 1) {
        struct model_place *only = &token->places[0];
        if (!only->hidden) {
            model_add_copy(&model->sessions[only->client], &only->copy);
        }
        model->n_tokens--;
    }
}

static bool is_first_of_group(struct model *model, int client,
                              const struct model_subscription *subscription) {
    for (int other = 0; other < client; other++) {
        const struct model_subscription *member =
            model_find(model, other, subscription->group, subscription->topic);
        if (member != NULL && model_meaning(model, member) == model_meaning(model, subscription)) {
            return false;
        }
    }
    return true;
}

static void keep_retained(struct model *model, unsigned number) {
    const struct model_message *message = &model->rules->messages[number];
    size_t at = MODEL_RETAINED;
    for (size_t i = 0; i < MODEL_RETAINED; i++) {
        bool same =
            model->retained[i].used &&
            strcmp(model->rules->messages[model->retained[i].message].topic, message->topic) == 0;
        if (same || (at == MODEL_RETAINED && !model->retained[i].used)) {
            at = i;
        }
        if (same) {
            break;
        }
    }
    REQUIRE(at < MODEL_RETAINED, "more topics than the model can retain");
    model->retained[at].used = message->payload[0] != '\0';
    model->retained[at].message = number;
}

void model_pass_on(struct model *model, unsigned number, bool known, int dying) {
    struct fan_out out = {
        .model = model,
        .message = &model->rules->messages[number],
        .number = number,
        .known = known,
        .dying = dying,
    };
    model->sequence++;
    for (int client = 0; client < MODEL_CLIENTS; client++) {
        struct model_session *session = &model->sessions[client];
        if (session->exists) {
            find_matches(&out, session);
            pass_to_normal(&out, client);
        }
    }
    for (int client = 0; client < MODEL_CLIENTS; client++) {
        struct model_session *session = &model->sessions[client];
        for (size_t i = 0; i < session->n_subscriptions; i++) {
            const struct model_subscription *subscription = &session->subscriptions[i];
            if (subscription->group[0] != '\0' && out.message->topic[0] != '$' &&
                model_matches(subscription->topic, out.message->topic) &&
                is_first_of_group(model, client, subscription)) {
                pass_to_group(&out, subscription);
            }
        }
    }
    if (out.message->retain) {
        keep_retained(model, number);
    }
}

void model_publish_to(struct model *model, unsigned number, int client) {
    struct model_session *session = &model->sessions[client];
    const struct model_copy copy = {
        .message = number,
        .sequence = ++model->sequence,
        .qos = (uint8_t)model->rules->messages[number].qos,
    };
    if (session->online || (session->exists && copy.qos > 0)) {
        model_add_copy(session, &copy);
    }
}

void model_publish(struct model *model, unsigned message, bool known) {
    model_pass_on(model, message, known, -1);
}
