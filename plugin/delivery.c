/* SPDX-License-Identifier: BSD-3-Clause
 *
 * delivery: see the header. The order of the file is the order of rarity: what nearly every READ takes comes last and is
 * kept short; decide_any is the fallback that needs no memory of earlier READs.
 */
#include "delivery.h"

#include "broker.h"

#include <stdlib.h>
#include <string.h>

enum {
    TOPIC_CAPACITY = 65536, /* an MQTT string has at most 65,535 bytes */
    NO_LOCAL = MQTT_SUB_OPT_NO_LOCAL,
    MIN_ANSWERS = 16,
};
#define UNDECIDED UINT64_C(3) /* in place of an answer: out of memory */

bool delivery_init(struct delivery *delivery, struct sessions *sessions, struct sf_schema *schema) {
    *delivery = (struct delivery){.sessions = sessions};
    delivery->topic_text = malloc(TOPIC_CAPACITY);
    delivery->announced.topic_text = malloc(TOPIC_CAPACITY);
    delivery->replay_topic = malloc(TOPIC_CAPACITY);
    if (delivery->topic_text == NULL || delivery->announced.topic_text == NULL || delivery->replay_topic == NULL ||
        !message_init(&delivery->message, schema) || !message_init(&delivery->scratch, schema)) {
        delivery_deinit(delivery);
        return false;
    }
    return true;
}

void delivery_deinit(struct delivery *delivery) {
    message_deinit(&delivery->message);
    message_deinit(&delivery->scratch);
    free(delivery->topic_text);
    free(delivery->announced.topic_text);
    free(delivery->replay_topic);
    free(delivery->matches.nodes);
    free(delivery->shared_matches.nodes);
    free(delivery->answers);
    *delivery = (struct delivery){0};
}

bool delivery_reserve(struct delivery *delivery, const struct sf_filter *filter) {
    size_t id = sf_filter_id(filter);
    if (id < delivery->n_answers) {
        return true;
    }
    size_t n = delivery->n_answers == 0 ? MIN_ANSWERS : delivery->n_answers;
    while (n <= id) {
        n *= 2;
    }
    uint64_t *answers = realloc(delivery->answers, n * sizeof *answers);
    if (answers == NULL) {
        return false;
    }
    memset(answers + delivery->n_answers, 0, (n - delivery->n_answers) * sizeof *answers);
    delivery->answers = answers;
    delivery->n_answers = n;
    return true;
}

/* ---- events ---- */

void delivery_event(struct delivery *delivery) {
    delivery->topic = NULL;
    delivery->stray = false;
    delivery->announced.client = NULL;
    delivery->replay_client = NULL;
}

void delivery_interrupt(struct delivery *delivery) {
    if (delivery->topic != NULL) {
        delivery->interrupted = delivery->topic;
    }
    delivery_event(delivery);
}

void delivery_announce(struct delivery *delivery, const struct mosquitto_evt_message *message) {
    delivery->interrupted = NULL; /* no other one is under way */
    size_t bytes = strnlen(message->topic, TOPIC_CAPACITY);
    if (message->qos < 2 && bytes < TOPIC_CAPACITY) { /* QoS 2 is delivered at PUBREL: by then others may have come */
        memcpy(delivery->announced.topic_text, message->topic, bytes + 1);
        delivery->announced.client = message->client;
        delivery->announced.topic = message->topic;
        delivery->announced.payload = message->payload;
        delivery->announced.properties = message->properties;
        delivery->announced.payload_bytes = message->payloadlen;
        delivery->announced.qos = message->qos;
        delivery->announced.retain = message->retain;
        delivery->announced.is_whole =
            message->qos == 0 || mosquitto_client_protocol_version(message->client) >= MQTT_PROTOCOL_V5;
    }
}

void delivery_expect_retained(struct delivery *delivery, struct subscription *subscription) {
    if (subscription->group == NULL && topic_node_bytes(subscription->node) < TOPIC_CAPACITY) {
        delivery->replay_client = subscription->session->client;
        delivery->replay = subscription;
        topic_node_write(subscription->node, delivery->replay_topic);
    }
}

/* ---- one answer ---- */

static bool settle(struct delivery *delivery, struct subscription *subscription, enum sf_truth truth) {
    if (truth == SF_TRUE) {
        subscription->passed++;
        delivery->counts.passed++;
        return true;
    }
    subscription->dropped++;
    delivery->counts.dropped++;
    delivery->counts.unknown += truth == SF_UNKNOWN;
    return false;
}

static bool undecided(struct delivery *delivery) {
    delivery->counts.dropped++;
    delivery->counts.undecided++;
    return false;
}

/* ---- where the order cannot tell: $ topics, unknown publishers, several share groups, differing counts ---- */

struct candidates {
    struct delivery *delivery;
    const struct mosquitto_evt_acl_check *check;
    struct session *session;
    struct subscription *first;  /* the first candidate with a filter */
    struct subscription *holder; /* the one whose filter holds, or that has none */
    size_t count;
    bool bound;
    bool failed;
    bool unknown;
};

static void try_candidate(struct candidates *try, struct subscription *subscription) {
    struct delivery *delivery = try->delivery;
    try->count++;
    if (subscription->filter == NULL) {
        try->holder = try->holder == NULL ? subscription : try->holder;
        return;
    }
    if (!try->bound && !try->failed) {
        try->bound = message_bind(&delivery->scratch, try->check);
        try->failed = !try->bound;
    }
    enum sf_truth truth = try->failed ? SF_FALSE : sf_eval(subscription->filter, delivery->scratch.bound);
    if (truth == SF_TRUE && (try->holder == NULL || try->holder->filter == NULL)) {
        try->holder = subscription;
    }
    try->unknown |= truth == SF_UNKNOWN;
    try->first = try->first == NULL ? subscription : try->first;
}

static void try_normal(void *user, struct topic_node *node) {
    struct candidates *try = user;
    struct subscription *subscription = session_on_node(try->delivery->sessions, try->session, node);
    if (subscription != NULL) {
        try_candidate(try, subscription);
    }
}

static void try_shared(void *user, struct topic_node *node) {
    struct candidates *try = user;
    for (uint32_t i = 0; i < try->session->shared.count; i++) {
        if (try->session->shared.items[i]->node == node) {
            try_candidate(try, try->session->shared.items[i]);
        }
    }
}

/* The answer once all candidates have been tried. */
static bool conclude(const struct candidates *try) {
    struct delivery *delivery = try->delivery;
    delivery->counts.ambiguous += try->count > 1;
    if (try->holder != NULL) {
        return try->holder->filter == NULL || settle(delivery, try->holder, SF_TRUE);
    }
    if (try->failed) {
        return undecided(delivery);
    }
    if (try->first != NULL) {
        return settle(delivery, try->first, try->unknown ? SF_UNKNOWN : SF_FALSE);
    }
    delivery->counts.dropped++;
    delivery->counts.unexplained++;
    try->session->unexplained = true;
    delivery->mismatch = true;
    return false;
}

/* Without memory: deliver if any subscription of the session that matches the topic would take the message. */
static bool decide_any(struct delivery *delivery, const struct mosquitto_evt_acl_check *check,
                       struct session *session) {
    struct candidates try = {.delivery = delivery, .check = check, .session = session};
    topic_tree_match(&delivery->sessions->tree, check->topic, try_normal, &try);
    if (session->shared.count > 0 && check->topic[0] != '$') {
        topic_tree_match(&delivery->sessions->shared_tree, check->topic, try_shared, &try);
    }
    return conclude(&try);
}

/* ---- the current message ---- */

static inline bool has_same_addresses(const struct delivery *delivery, const struct mosquitto_evt_acl_check *check) {
    return delivery->topic == check->topic && delivery->payload == check->payload &&
           delivery->properties == check->properties;
}

static bool has_same_rest(const struct delivery *delivery, const struct mosquitto_evt_acl_check *check) {
    return delivery->payload_bytes == check->payloadlen && delivery->qos == check->qos &&
           delivery->retain == check->retain && strcmp(delivery->topic_text, check->topic) == 0;
}

/* ---- its topic filters ---- */

struct search {
    struct topic_matches *matches;
    size_t count_before;
    bool is_same; /* as the list before, so far */
};

static void add_match(void *user, struct topic_node *node) {
    struct search *search = user;
    struct topic_matches *matches = search->matches;
    if (matches->count == matches->capacity) {
        size_t capacity = matches->capacity == 0 ? 16 : matches->capacity * 2;
        struct topic_node **nodes = realloc(matches->nodes, capacity * sizeof(struct topic_node *));
        if (nodes == NULL) {
            matches->failed = true;
            return;
        }
        matches->nodes = nodes;
        matches->capacity = capacity;
    }
    search->is_same &= matches->count < search->count_before && matches->nodes[matches->count] == node;
    matches->nodes[matches->count++] = node;
}

/* Search the topic filters of `tree` that match the current message, once. */
static void search_matches(struct delivery *delivery, struct topic_matches *matches, const struct topic_tree *tree) {
    if (matches->number == delivery->number) {
        return;
    }
    struct search search = {.matches = matches, .count_before = matches->count, .is_same = true};
    matches->number = delivery->number;
    matches->count = 0;
    matches->failed = false;
    topic_tree_match(tree, delivery->topic_text, add_match, &search);
    if (!search.is_same || matches->count != search.count_before || matches->failed || matches->order == ORDER_NONE) {
        matches->order = ++delivery->orders;
    }
    for (size_t i = 0; i < matches->count; i++) {
        matches->nodes[i]->mark = matches->order; /* also those of a new node at an old one's address */
    }
}

static bool is_matched(const struct topic_matches *matches, const struct subscription *subscription) {
    return subscription->node->mark == matches->order;
}

/* ---- its beginning ---- */

static void start_message(struct delivery *delivery, const struct mosquitto_evt_acl_check *check) {
    bool announced =
        delivery->announced.client != NULL && delivery->announced.topic == check->topic &&
        delivery->announced.payload == check->payload && delivery->announced.properties == check->properties &&
        delivery->announced.payload_bytes == check->payloadlen && delivery->announced.qos == check->qos &&
        delivery->announced.retain == check->retain && strcmp(delivery->announced.topic_text, check->topic) == 0;
    delivery->publisher = announced ? delivery->announced.client : NULL;
    delivery->is_whole = announced && delivery->announced.is_whole;
    delivery->announced.client = NULL;
    delivery->replay_client = NULL;
    delivery->is_resumed = delivery->interrupted == check->topic;
    delivery->untracked = delivery->stray;
    delivery->stray = false;
    delivery->continues = 0;

    delivery->number++;
    delivery->bound = false;
    delivery->values = NULL;
    delivery->topic = check->topic;
    delivery->payload = check->payload;
    delivery->properties = check->properties;
    delivery->payload_bytes = check->payloadlen;
    delivery->qos = check->qos;
    delivery->retain = check->retain;
    size_t bytes = strlen(check->topic);
    memcpy(delivery->topic_text, check->topic, bytes + 1);
    if (delivery->is_resumed) {
        delivery->matches.order = ORDER_NONE; /* no session's turns are known */
    }
    search_matches(delivery, &delivery->matches, &delivery->sessions->tree);
}

/* A READ too many: the broker has put another message at the addresses of the current one. A session whose READs could not
 * be assigned may have been asked about the new one already, before this was noticed. */
static void continue_message(struct delivery *delivery, const struct mosquitto_evt_acl_check *check) {
    uint64_t before = delivery->number;
    bool untracked = delivery->untracked;
    start_message(delivery, check);
    delivery->continues = before;
    delivery->untracked |= untracked;
}

/* Make the message of this READ the current one unless it is already. false: its topic is longer than MQTT allows, as
 * only a plugin can publish it, and it is decided without memory. */
static bool make_current(struct delivery *delivery, const struct mosquitto_evt_acl_check *check) {
    if (has_same_addresses(delivery, check) && has_same_rest(delivery, check)) {
        delivery->untracked |= delivery->stray;
        delivery->stray = false;
        return true;
    }
    if (strnlen(check->topic, TOPIC_CAPACITY) == TOPIC_CAPACITY) {
        delivery->topic = NULL;
        return false;
    }
    start_message(delivery, check);
    return true;
}

/* Let a filter answer for the current message, for all that use it. */
static uint64_t evaluate(struct delivery *delivery, const struct mosquitto_evt_acl_check *check,
                         const struct subscription *subscription) {
    if (!delivery->bound) {
        if (!message_bind(&delivery->message, check)) {
            return UNDECIDED;
        }
        delivery->bound = true;
        delivery->values = sf_message_values(delivery->message.bound);
    }
    uint64_t answer = delivery->number << 2 | (uint64_t)sf_eval(subscription->filter, delivery->message.bound);
    delivery->answers[subscription->filter_id] = answer;
    return answer;
}

/* The answer to a READ about the current message and this subscription. Out of line: where its guard has answered, no
 * more is needed. */
__attribute__((noinline)) static bool decide(struct delivery *delivery, const struct mosquitto_evt_acl_check *check,
                                             struct subscription *subscription) {
    if (subscription->filter == NULL) {
        return true;
    }
    uint64_t answer = delivery->answers[subscription->filter_id];
    if (answer >> 2 != delivery->number) {
        answer = evaluate(delivery, check, subscription);
    }
    return answer == UNDECIDED ? undecided(delivery) : settle(delivery, subscription, (enum sf_truth)(answer & 3));
}

/* ---- whose turn it is ---- */

enum turn {
    TURN_FOUND,
    TURN_AMBIGUOUS, /* one of those that have not had their turn */
    TURN_DOUBTFUL,  /* … or a group that had it in the message before */
    TURN_ANY,       /* any one */
    TURN_NONE,      /* they have all had their turn */
};

/* Find the subscriptions of the session, not shared, that match the current message. */
static void find_turns(struct delivery *delivery, struct session *session) {
    const struct topic_matches *matches = &delivery->matches;
    struct subscription **end = &session->first;
    if (session->normal.count == 1 && is_matched(matches, session->normal.items[0])) {
        *end = session->normal.items[0];
        end = &session->first->next;
    }
    for (size_t i = 0; i < matches->count && session->normal.count > 1; i++) {
        struct subscription *subscription = session_on_node(delivery->sessions, session, matches->nodes[i]);
        if (subscription != NULL) {
            *end = subscription;
            end = &subscription->next;
        }
    }
    *end = NULL;
}

/* The session is asked about the current message for the first time, as far as is known. */
static void line_up(struct delivery *delivery, struct session *session) {
    const struct topic_matches *matches = &delivery->matches;
    bool is_simple = session->n_no_local == 0 && session->shared.count == 0;
    bool was_asked = session->unassigned == delivery->number ||
                     (delivery->continues != 0 && session->unassigned == delivery->continues);
    if (session->order != matches->order) {
        find_turns(delivery, session);
    }
    session->seen = delivery->number;
    session->turn = session->first;
    session->n_unassigned = 0;
    session->adrift = was_asked || matches->failed || delivery->is_resumed;
    session->order = is_simple && !session->adrift ? matches->order : ORDER_NONE;
}

/* The next subscription of the session, among those that are not shared, that the broker asks about. */
static enum turn next_normal(const struct delivery *delivery, const struct mosquitto_evt_acl_check *check,
                             struct session *session, struct subscription **subscription_out) {
    for (; session->turn != NULL; session->turn = session->turn->next) {
        bool is_no_local = (session->turn->options & NO_LOCAL) != 0;
        if (is_no_local && delivery->publisher == NULL) {
            return TURN_AMBIGUOUS; /* from here on */
        }
        if (is_no_local && delivery->publisher == check->client) {
            continue; /* the broker does not ask */
        }
        *subscription_out = session->turn;
        session->turn = session->turn->next;
        return TURN_FOUND;
    }
    return TURN_NONE;
}

/* How many share groups of the session have not had their turn; *one_out is one of them. Each has one in a message. */
static size_t count_unserved(const struct delivery *delivery, const struct session *session,
                             struct subscription **one_out) {
    size_t n = 0;
    for (uint32_t i = 0; i < session->shared.count; i++) {
        struct subscription *subscription = session->shared.items[i];
        if (subscription->group->served != delivery->number && is_matched(&delivery->shared_matches, subscription)) {
            *one_out = subscription;
            n++;
        }
    }
    return n;
}

static size_t count_turns(const struct session *session) {
    size_t n = 0;
    for (const struct subscription *turn = session->turn; turn != NULL; turn = turn->next) {
        n++;
    }
    return n;
}

static enum turn next_turn(struct delivery *delivery, const struct mosquitto_evt_acl_check *check,
                           struct session *session, struct subscription **subscription_out) {
    if (session->shared.count > 0) {
        search_matches(delivery, &delivery->shared_matches, &delivery->sessions->shared_tree);
    }
    if (session->seen != delivery->number) {
        line_up(delivery, session);
    }
    if (session->adrift || (session->shared.count > 0 && delivery->shared_matches.failed)) {
        return TURN_ANY;
    }
    if (next_normal(delivery, check, session, subscription_out) == TURN_FOUND) {
        return TURN_FOUND;
    }
    struct subscription *group = NULL;
    size_t n_groups = count_unserved(delivery, session, &group);
    size_t n = count_turns(session) + n_groups;
    if (session->n_unassigned >= n) {
        return TURN_NONE;
    }
    if (delivery->untracked && n_groups > 0) {
        return TURN_DOUBTFUL;
    }
    if (n > 1 || n_groups == 0) {
        return TURN_AMBIGUOUS;
    }
    group->group->served = delivery->number;
    *subscription_out = group;
    return TURN_FOUND;
}

/* Find the subscription that this READ is about. One beyond the last is the first of another message. */
static enum turn find_turn(struct delivery *delivery, const struct mosquitto_evt_acl_check *check,
                           struct session *session, struct subscription **subscription_out) {
    enum turn turn = next_turn(delivery, check, session, subscription_out);
    if (turn == TURN_NONE) {
        continue_message(delivery, check);
        turn = next_turn(delivery, check, session, subscription_out);
    }
    if (turn != TURN_FOUND) {
        session->unassigned = delivery->number;
        session->n_unassigned++;
        delivery->untracked |= session->shared.count > 0; /* it may have been the turn of a group */
    }
    return turn;
}

/* Deliver if any of the subscriptions that have not had their turn would take the message. */
static bool decide_rest(struct delivery *delivery, const struct mosquitto_evt_acl_check *check, struct session *session,
                        bool with_served_groups) {
    struct candidates try = {.delivery = delivery, .check = check, .session = session};
    for (struct subscription *turn = session->turn; turn != NULL; turn = turn->next) {
        try_candidate(&try, turn);
    }
    for (uint32_t i = 0; i < session->shared.count; i++) {
        struct subscription *subscription = session->shared.items[i];
        if ((with_served_groups || subscription->group->served != delivery->number) &&
            is_matched(&delivery->shared_matches, subscription)) {
            try_candidate(&try, subscription);
        }
    }
    return conclude(&try);
}

/* Any session. */
static bool decide_turn(struct delivery *delivery, const struct mosquitto_evt_acl_check *check,
                        struct session *session) {
    struct subscription *subscription = NULL;
    switch (find_turn(delivery, check, session, &subscription)) {
    case TURN_FOUND:
        return decide(delivery, check, subscription);
    case TURN_AMBIGUOUS:
        return decide_rest(delivery, check, session, false);
    case TURN_DOUBTFUL:
        return decide_rest(delivery, check, session, true);
    case TURN_ANY:
    case TURN_NONE:
        break;
    }
    return decide_any(delivery, check, session);
}

/* ---- READ ---- */

/* The session of a client that is not known at this address. NULL: the plugin knows no subscription of it. */
static struct session *locate(struct delivery *delivery, struct mosquitto *client, uint32_t hash) {
    const char *id = mosquitto_client_id(client);
    struct session *session = id == NULL ? NULL : sessions_find(delivery->sessions, id);
    if (session != NULL) {
        session_set_client(delivery->sessions, session, client, hash);
    }
    return session;
}

static bool is_replay(const struct delivery *delivery, const struct mosquitto_evt_acl_check *check) {
    return delivery->replay_client == check->client && check->retain &&
           topic_matches(delivery->replay_topic, check->topic);
}

static bool decide_retained(struct delivery *delivery, const struct mosquitto_evt_acl_check *check) {
    struct subscription *subscription = delivery->replay;
    if (!delivery->filter_retained || subscription->filter == NULL) {
        return true;
    }
    if (!message_bind(&delivery->scratch, check)) {
        return undecided(delivery);
    }
    return settle(delivery, subscription, sf_eval(subscription->filter, delivery->scratch.bound));
}

/* A client without filters takes everything; but where it is a member of share groups, its turn is its groups' turn. */
static bool pass_plain(struct delivery *delivery, const struct mosquitto_evt_acl_check *check,
                       struct session *session) {
    if (check->topic[0] != '$') {
        delivery->replay_client = NULL; /* a fan-out has begun */
        if (session->shared.count > 0 && make_current(delivery, check)) {
            struct subscription *subscription = NULL;
            if (session_is_complete(session, mosquitto_client_sub_count(check->client))) {
                (void)find_turn(delivery, check, session, &subscription);
            } else {
                delivery->untracked = true;
            }
        }
    }
    return true;
}

/* Whatever is not quick. */
__attribute__((noinline)) static bool read_slowly(struct delivery *delivery,
                                                  const struct mosquitto_evt_acl_check *check) {
    struct mosquitto *client = check->client;
    uint32_t hash = mosquitto_client_id_hashv(client);
    if (hash == 0 && mosquitto_client(mosquitto_client_id(client)) != client) {
        delivery->stray |= check->topic[0] != '$'; /* or one that has just ended */
        return true; /* not registered: the broker re-checks the queue of a reconnecting client (decision D8) */
    }
    struct session *session = map_get(&delivery->sessions->by_client, client, NULL);
    if (session == NULL || session->client_hash != hash ||
        (check->topic[0] == '$' && strcmp(session->id, mosquitto_client_id(client)) != 0)) { /* before its CONNECT */
        session = locate(delivery, client, hash);
        if (session == NULL) {
            delivery->stray |= check->topic[0] != '$';
            return true;
        }
    }
    if (session->n_filters == 0) {
        return pass_plain(delivery, check, session);
    }
    if (delivery->replay_client != NULL && is_replay(delivery, check)) {
        return decide_retained(delivery, check);
    }
    if (check->topic[0] == '$' || !make_current(delivery, check)) {
        return decide_any(delivery, check, session);
    }
    if (!session_is_complete(session, mosquitto_client_sub_count(client))) {
        session->has_unknown = true;
        session->mismatched = true;
        session->order = ORDER_NONE; /* not quickly any more */
        session->adrift = true;
        session->unassigned = delivery->number;
        delivery->mismatch = true;
        delivery->untracked = true;
        return decide_any(delivery, check, session);
    }
    return decide_turn(delivery, check, session);
}

/* It is the turn of this subscription. */
static inline bool take_turn(struct delivery *delivery, const struct mosquitto_evt_acl_check *check,
                             struct session *session, struct subscription *turn) {
    session->seen = delivery->number;
    session->turn = turn->next;
    if (delivery->values != NULL && sf_guard_excludes(&turn->guard, delivery->values)) {
        turn->dropped++;
        delivery->counts.dropped++;
        return false;
    }
    return decide(delivery, check, turn);
}

/* One of several turns of a session: they are in order only while all are known. */
__attribute__((noinline)) static bool read_one_of_several(struct delivery *delivery,
                                                          const struct mosquitto_evt_acl_check *check,
                                                          struct session *session, struct subscription *turn) {
    return session_is_complete(session, mosquitto_client_sub_count(check->client))
               ? take_turn(delivery, check, session, turn)
               : read_slowly(delivery, check);
}

/* A READ that may be about the current message, for the session that was last at the client's address. */
static inline bool read_session(struct delivery *delivery, const struct mosquitto_evt_acl_check *check,
                                struct session *session, uint32_t hash) {
    delivery->sessions->last_read = session;
    if (session->client_hash != hash || hash == 0) {
        return read_slowly(delivery, check);
    }
    if (session->order != delivery->matches.order) {
        return session->order == ORDER_PLAIN || read_slowly(delivery, check);
    }
    struct subscription *turn = session->seen == delivery->number ? session->turn : session->first;
    if (turn == NULL) {
        return read_slowly(delivery, check);
    }
    return session->first->next == NULL ? take_turn(delivery, check, session, turn)
                                        : read_one_of_several(delivery, check, session, turn);
}

/* The session does not follow the one before it as it did the last time. */
__attribute__((noinline)) static bool read_out_of_order(struct delivery *delivery,
                                                        const struct mosquitto_evt_acl_check *check, uint32_t hash) {
    struct sessions *sessions = delivery->sessions;
    struct session *session = map_get(&sessions->by_client, check->client, NULL);
    if (session == NULL) {
        return read_slowly(delivery, check);
    }
    if (sessions->last_read != NULL) {
        sessions->last_read->follower = session;
        sessions->last_read->follower_removals = sessions->removals;
    }
    return read_session(delivery, check, session, hash);
}

/* The common case is a straight line through the functions above: the current message, by its addresses alone if it is a
 * whole one (docs/architecture.md has the argument why it cannot be another one there); the session that followed the one
 * before it the last time, too, since the broker goes through the subscribers of a topic in the same order each time; its
 * next turn; the guard of the filter. */
static inline bool is_delivered(struct delivery *delivery, const struct mosquitto_evt_acl_check *check) {
    if (!has_same_addresses(delivery, check) || !(delivery->is_whole || has_same_rest(delivery, check))) {
        return read_slowly(delivery, check);
    }
    uint32_t hash = mosquitto_client_id_hashv(check->client);
    const struct sessions *sessions = delivery->sessions;
    const struct session *last = sessions->last_read;
    if (last != NULL && last->follower_removals == sessions->removals && last->follower->client == check->client) {
        return read_session(delivery, check, last->follower, hash);
    }
    return read_out_of_order(delivery, check, hash);
}

int delivery_read(struct delivery *delivery, const struct mosquitto_evt_acl_check *check) {
    return is_delivered(delivery, check) ? MOSQ_ERR_PLUGIN_IGNORE : MOSQ_ERR_ACL_DENIED;
}
