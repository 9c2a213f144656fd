/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See the header. */
#include "delivery_world.h"

#include "runner.h"
#include "subscription_string.h"
#include "topic_reference.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct world world;
void (*world_around_read)(bool before);

static void around_read(bool before) {
    if (world_around_read != NULL) {
        world_around_read(before);
    }
}

enum {
    SYS_PLACE = FAKE_PLACES - 1,
    RETAINED_PLACE = FAKE_PLACES - 2,
    RECHECK_PLACE = FAKE_PLACES - 3,
    WILL_PLACE = FAKE_PLACES - 4
};

/* ---- rules ---- */

const char *rule_expression(enum rule rule) {
    static const char *const expressions[N_RULES] = {NULL,  "k=1",           "k=2",
                                                     "k>1", "sql:k IS NULL", "sql:$qos = 1"};
    return expressions[rule];
}

bool rule_holds(enum rule rule, const struct world_message *message) {
    const char *k = message->k;
    switch (rule) {
    case K_IS_1:
        return k != NULL && strcmp(k, "1") == 0;
    case K_IS_2:
        return k != NULL && strcmp(k, "2") == 0;
    case K_ABOVE_1:
        return k != NULL && atoi(k) > 1;
    case NO_K:
        return k == NULL;
    case QOS_IS_1:
        return message->qos == 1;
    case PLAIN:
    case N_RULES:
        break;
    }
    return true;
}

/* ---- start and end ---- */

static bool undone_at_end; /* test_defer was called for the running case */

static void clear(void) {
    delivery_deinit(&world.delivery);
    sessions_deinit(&world.sessions);
    sf_schema_free(world.schema);
    fake_reset();
    memset(&world, 0, sizeof world);
    world_around_read = NULL;
}

static void undo(void *user) {
    (void)user;
    clear();
    undone_at_end = false;
}

void world_start(bool filter_retained) {
    clear();
    world.schema = sf_schema_new();
    REQUIRE(world.schema != NULL && delivery_init(&world.delivery, &world.sessions, world.schema),
            "memory");
    world.delivery.filter_retained = filter_retained;
    if (!undone_at_end) {
        test_defer(undo, NULL);
        undone_at_end = true;
    }
}

static const char *id_of(int session) {
    static const char *const ids[WORLD_SESSIONS] = {"s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7"};
    return ids[session];
}

/* ---- what happened ---- */

/* A new line of history. */
__attribute__((format(printf, 1, 2))) static void happens(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(world.history[world.n_history++ % WORLD_HISTORY], sizeof world.history[0], format,
              arguments);
    va_end(arguments);
}

/* More of the newest line. */
__attribute__((format(printf, 1, 2))) static void goes_on(const char *format, ...) {
    char *line = world.history[(world.n_history - 1) % WORLD_HISTORY];
    size_t used = strlen(line);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line + used, sizeof world.history[0] - used, format, arguments);
    va_end(arguments);
}

void world_tell(void) {
    size_t first = world.n_history < WORLD_HISTORY ? 0 : world.n_history - WORLD_HISTORY;
    for (size_t i = first; i < world.n_history; i++) {
        test_note("%zu: %s", i, world.history[i % WORLD_HISTORY]);
    }
}

void world_event(void) {
    delivery_event(&world.delivery);
    world.chain.n = 0;
    world.chain.stray = false;
    world.chain.cut = false;
    world.replaying = false;
    happens("event");
}

/* ---- the broker's subscriptions ---- */

static struct world_subscription *find(int owner, const char *topic, const char *group) {
    for (size_t i = 0; i < world.n_subscriptions; i++) {
        struct world_subscription *s = &world.subscriptions[i];
        if (s->owner == owner && strcmp(s->topic, topic) == 0 && strcmp(s->group, group) == 0) {
            return s;
        }
    }
    return NULL;
}

/* Groups of one name but different filters are different groups. */
static bool same_group(const struct world_subscription *a, const struct world_subscription *b) {
    return a->group[0] != '\0' && strcmp(a->group, b->group) == 0 &&
           strcmp(a->topic, b->topic) == 0 && a->rule == b->rule;
}

static void append(const struct world_subscription *subscription) {
    REQUIRE(world.n_subscriptions < WORLD_SUBSCRIPTIONS, "too many subscriptions");
    world.subscriptions[world.n_subscriptions++] = *subscription;
    world.client[subscription->owner]->sub_count++;
}

static void take_out(struct world_subscription *subscription) {
    world.client[subscription->owner]->sub_count--;
    size_t i = (size_t)(subscription - world.subscriptions);
    memmove(subscription, subscription + 1, (world.n_subscriptions - i - 1) * sizeof *subscription);
    world.n_subscriptions--;
}

/* As in the broker: the member that was asked goes behind the others. */
static void rotate(size_t member) {
    struct world_subscription first = world.subscriptions[member];
    size_t last = member;
    for (size_t i = member + 1; i < world.n_subscriptions; i++) {
        if (same_group(&world.subscriptions[i], &first)) {
            world.subscriptions[last] = world.subscriptions[i];
            last = i;
        }
    }
    world.subscriptions[last] = first;
}

/* ---- the plugin's ---- */

static struct session *mirror(int session) {
    return sessions_find(&world.sessions, id_of(session));
}

static void write_text(const struct world_subscription *subscription, char *out) {
    char text[128];
    if (subscription->group[0] == '\0') {
        strcpy(out, subscription->topic);
        return;
    }
    snprintf(text, sizeof text, "$share/%s/%s", subscription->group, subscription->topic);
    const char *expression = rule_expression(subscription->rule);
    if (expression == NULL) {
        strcpy(out, text);
    } else {
        share_rename(text, expression, strlen(expression), out);
    }
}

static struct subscription *mirrored(const struct world_subscription *subscription) {
    char text[128];
    write_text(subscription, text);
    const struct session *session = mirror(subscription->owner);
    return session == NULL ? NULL : session_find(&world.sessions, session, text);
}

static void note(const struct world_subscription *subscription) {
    struct session *session = sessions_get(&world.sessions, id_of(subscription->owner));
    struct mosquitto *client = world.client[subscription->owner];
    struct sf_filter *filter = NULL;
    const char *expression = rule_expression(subscription->rule);
    char text[128];
    write_text(subscription, text);
    REQUIRE(session != NULL &&
                (expression == NULL || sf_compile(world.schema, NULL, expression,
                                                  strlen(expression), &filter, NULL) == SF_OK),
            "%s", text);
    REQUIRE(filter == NULL || delivery_reserve(&world.delivery, filter), "memory");
    session_set_client(&world.sessions, session, client, client->id_hashv);
    size_t name_bytes = share_topic_offset(text) == 0 ? 0 : share_name_bytes(text);
    struct subscription *made =
        session_subscribe(&world.sessions, session, text, name_bytes, filter,
                          subscription->no_local ? MQTT_SUB_OPT_NO_LOCAL : 0, 0);
    REQUIRE(made != NULL, "%s", text);
    delivery_expect_retained(&world.delivery, made);
    world.replaying = true;
}

static void forget(const struct world_subscription *subscription) {
    struct subscription *gone = mirrored(subscription);
    if (gone != NULL) {
        subscription_remove(&world.sessions, gone);
    }
}

/* ---- sessions ---- */

static void told_connect(int session, bool clean) {
    struct mosquitto *client = world.client[session];
    world_event();
    sessions_forget_client(&world.sessions, client);
    struct session *old = mirror(session);
    if (old != NULL && clean) {
        session_remove(&world.sessions, old);
    }
    struct session *now = sessions_get(&world.sessions, id_of(session));
    REQUIRE(now != NULL, "memory");
    session_set_client(&world.sessions, now, client, client->id_hashv);
}

void world_connect(int session, size_t place, bool told) {
    REQUIRE(world.client[session] == NULL, "%s is there", id_of(session));
    happens("%s connects at %zu, told %d", id_of(session), place, told);
    world.client[session] = fake_place(place, id_of(session));
    fake_register(world.client[session]);
    if (told ||
        mirror(session) != NULL) { /* a session that is over must not be taken for the new one */
        told_connect(session, true);
    }
}

void world_move(int session, size_t place, bool told) {
    happens("%s moves to %zu, told %d", id_of(session), place, told);
    struct mosquitto *old = world.client[session];
    struct mosquitto *client = fake_place(place, id_of(session));
    client->sub_count = old->sub_count;
    world.client[session] = client;
    world_event(); /* DISCONNECT of the old one: taken over */
    sessions_forget_client(&world.sessions, old);
    *old = (struct mosquitto){.id = ""};
    fake_register(client);
    if (told) {
        told_connect(session, false);
    }
}

void world_end(int session, bool told) {
    happens("%s ends, told %d", id_of(session), told);
    if (told) {
        world_event();
    }
    fake_unregister(world.client[session]);
}

void world_free(int session) {
    for (size_t i = world.n_subscriptions; i-- > 0;) {
        if (world.subscriptions[i].owner == session) {
            take_out(&world.subscriptions[i]);
        }
    }
    *world.client[session] = (struct mosquitto){.id = ""};
    world.client[session] = NULL;
}

void world_sweep(int session) {
    happens("%s is swept", id_of(session));
    world_event();
    if (mirror(session) != NULL) {
        session_remove(&world.sessions, mirror(session));
    }
}

/* ---- subscriptions ---- */

void world_subscribe(int session, const char *topic, const char *group, enum rule rule,
                     bool no_local) {
    struct world_subscription wanted = {
        .owner = session, .rule = rule, .no_local = no_local && group[0] == '\0', .known = true};
    snprintf(wanted.topic, sizeof wanted.topic, "%s", topic);
    snprintf(wanted.group, sizeof wanted.group, "%s", group);
    happens("%s subscribes to %s/%s %s%s", id_of(session), group, topic,
            rule == PLAIN ? "" : rule_expression(rule), wanted.no_local ? ", no local" : "");
    world_event();
    struct world_subscription *old = find(session, topic, group);
    if (old != NULL && (group[0] == '\0' || old->rule == rule)) {
        *old = wanted; /* its place among the others stays */
        note(&wanted);
        return;
    }
    note(&wanted);
    if (old != NULL) { /* another filter, another group */
        forget(old);
        take_out(old);
    }
    append(&wanted);
}

void world_unsubscribe(int session, const char *topic, const char *group) {
    struct world_subscription *gone = find(session, topic, group);
    if (gone != NULL) {
        happens("%s unsubscribes from %s/%s", id_of(session), group, topic);
        world_event();
        forget(gone);
        take_out(gone);
    }
}

void world_add_unknown(int session, const char *topic, const char *group) {
    if (find(session, topic, group) == NULL) {
        struct world_subscription made = {.owner = session, .rule = PLAIN};
        snprintf(made.topic, sizeof made.topic, "%s", topic);
        snprintf(made.group, sizeof made.group, "%s", group);
        happens("%s gets %s/%s by another plugin", id_of(session), group, topic);
        world_event(); /* something made the other plugin do it */
        append(&made);
    }
}

void world_remove_unknown(int session) {
    for (size_t i = world.n_subscriptions; i-- > 0;) {
        if (world.subscriptions[i].owner == session && !world.subscriptions[i].known) {
            world_event();
            take_out(&world.subscriptions[i]);
        }
    }
}

/* ---- READ ---- */

static bool matches(const struct world_subscription *subscription, const char *topic) {
    return topic_reference_matches(subscription->topic, topic) &&
           (subscription->group[0] == '\0' || topic[0] != '$');
}

static bool is_mismatched(int session) {
    const struct session *known = mirror(session);
    return world.client[session]->sub_count != (int)(known == NULL ? 0 : session_count(known));
}

/* Whether one of two subscriptions is asked about first. */
static int order(const struct world_subscription *a, const struct world_subscription *b) {
    bool a_shared = a->group[0] != '\0', b_shared = b->group[0] != '\0';
    return a_shared != b_shared ? (int)a_shared - (int)b_shared
                                : topic_reference_order(a->topic, b->topic);
}

/* Whether a question about `asked` might, for all that the plugin can know, be about `other`, of the same session. */
static bool may_be_meant(const struct world_subscription *asked,
                         const struct world_subscription *other,
                         const struct world_message *message, bool publisher_known) {
    if (message->topic[0] == '$' || is_mismatched(asked->owner) ||
        world.interrupted == message->place + 1 || (world.chain.n > 1 && world.chain.doubt)) {
        return true;
    }
    if (asked->group[0] != '\0' && other->group[0] != '\0') {
        return true; /* several groups of one client */
    }
    for (size_t i = 0; i < world.n_subscriptions && !publisher_known; i++) {
        const struct world_subscription *s = &world.subscriptions[i];
        if (s->owner == asked->owner && s->no_local && matches(s, message->topic) &&
            order(s, asked) <= 0 && order(s, other) <= 0) {
            return true; /* from this one on */
        }
    }
    return false;
}

/* Whether passing a copy that is not wanted is explained by another subscription. */
static bool is_explained(const struct world_subscription *asked,
                         const struct world_message *message, bool publisher_known) {
    for (size_t i = 0; i < world.n_subscriptions; i++) {
        const struct world_subscription *other = &world.subscriptions[i];
        if (other != asked && other->owner == asked->owner && other->known &&
            matches(other, message->topic) && rule_holds(other->rule, message) &&
            may_be_meant(asked, other, message, publisher_known)) {
            return true;
        }
    }
    return false;
}

/* Whether the plugin has no way to assign a READ about `asked` to a subscription. */
static bool is_doubtful(const struct world_subscription *asked, const struct world_message *message,
                        bool publisher_known) {
    size_t n_groups = 0;
    bool lost = false;
    for (size_t i = 0; i < world.n_subscriptions; i++) {
        const struct world_subscription *s = &world.subscriptions[i];
        if (s->owner == asked->owner && matches(s, message->topic)) {
            n_groups += s->group[0] != '\0';
            lost |= s->no_local && !publisher_known;
        }
    }
    return n_groups > 1 || lost || !world.client[asked->owner]->registered ||
           mirror(asked->owner) == NULL || is_mismatched(asked->owner);
}

/* Whether the plugin can tell this message from the one before by counting only. */
static bool is_next_in_chain(const struct world_message *message) {
    const struct world_message *last = &world.chain.last;
    return world.chain.n > 0 && last->place == message->place && last->qos == message->qos &&
           last->retain == message->retain && strcmp(last->topic, message->topic) == 0;
}

/* The plugin has a READ to take note of, the first one of `message` perhaps. */
static void link_message(const struct world_message *message) {
    if (world.chain.linked != message && is_next_in_chain(message)) {
        world.chain.n++;
    } else if (world.chain.linked != message) {
        world.chain.n = 1;
        world.chain.doubt = false;
    }
    world.chain.doubt |= world.chain.stray;
    world.chain.stray = false;
    world.chain.last = *message;
    world.chain.linked = message;
}

/* Ask READ about one subscription, and judge the answer. */
static bool ask(const struct world_subscription *asked, const struct world_message *message,
                const struct mosquitto_evt_acl_check *template, bool publisher_known) {
    struct mosquitto_evt_acl_check check = *template;
    check.client = world.client[asked->owner];
    if (check.client == NULL) {
        CHECK(false, "client %zu is asked about, and nowhere", (size_t)asked->owner);
        return false;
    }
    const struct session *known = mirror(asked->owner);
    bool plain_session = known == NULL || known->n_filters == 0;
    bool doubtful = message->topic[0] != '$' && is_doubtful(asked, message, publisher_known);
    bool noticed = message->topic[0] != '$' && check.client->registered && known != NULL &&
                   (known->n_filters > 0 || known->shared.count > 0);
    if (noticed) {
        link_message(message);
        world.chain.doubt |= doubtful;
    } else {
        world.chain.stray |= doubtful;
    }
    struct delivery_counts before = world.delivery.counts;
    around_read(true);
    bool passed = world_delivers(&check);
    around_read(false);
    struct delivery_counts after = world.delivery.counts;
    world.n_reads++;
    world.n_passed += passed;

    const char *wrong = NULL;
    bool holds = rule_holds(asked->rule, message);
    if (!check.client->registered || plain_session) {
        wrong = passed ? NULL : "must pass";
    } else if (passed && !holds) {
        world.n_extra++;
        wrong = is_explained(asked, message, publisher_known) ? NULL : "must not pass";
    } else if (!passed && holds && asked->known) {
        wrong = "lost";
    } else if (passed && !asked->known) {
        wrong = is_explained(asked, message, publisher_known) ? NULL : "nothing explains it";
    }
    if (after.dropped - before.dropped != !passed || after.passed - before.passed > passed ||
        after.undecided != before.undecided || (plain_session && after.passed != before.passed)) {
        wrong = "counted wrongly";
    }
    goes_on("; %s %s%s%s %s%s: %s", id_of(asked->owner), asked->group,
            asked->group[0] == '\0' ? "" : "/", asked->topic,
            asked->rule == PLAIN ? "" : rule_expression(asked->rule),
            asked->no_local ? ", no local" : "", passed ? "pass" : "drop");
    if (wrong != NULL && !test_has_failed()) {
        world_tell();
    }
    return CHECK(wrong == NULL, "%s", wrong);
}

/* ---- messages ---- */

static struct mosquitto_evt_acl_check put(const struct world_message *message) {
    const char *const pairs[] = {"k", message->k, NULL};
    struct mosquitto_evt_acl_check check =
        fake_message(message->place, message->topic, message->k == NULL ? NULL : pairs);
    check.qos = message->qos;
    check.retain = message->retain;
    return check;
}

static void nest(uint64_t bits) {
    static const char *const topics[] = {"$SYS/broker/log/N", "$SYS/x", "$other"};
    const struct world_message message = {.origin = FROM_PLUGIN,
                                          .publisher = NOBODY,
                                          .place = SYS_PLACE,
                                          .topic = topics[bits % N_ROWS(topics)],
                                          .k = bits % 2 == 0 ? "1" : NULL,
                                          .cut_after = -1};
    world_publish(&message);
}

/* In the middle of `message`. */
static void kick(const struct world_message *message) {
    delivery_interrupt(&world.delivery);
    if (world.chain.n > 0) {
        world.interrupted =
            world.chain.last.place + 1; /* that of the last one that the plugin has noticed */
    }
    world_event();
    if (message->with_will) {
        const struct world_message will = {.origin = FROM_WILL,
                                           .publisher = NOBODY,
                                           .place = WILL_PLACE,
                                           .topic = message->topic,
                                           .k = message->k == NULL ? "1" : NULL,
                                           .cut_after = -1};
        world_publish(&will);
    }
}

/* The subscriptions that the broker asks about, in its order. */
static size_t list_questions(const struct world_message *message, size_t *list) {
    size_t n = 0;
    for (size_t i = 0; i < world.n_subscriptions; i++) {
        const struct world_subscription *s = &world.subscriptions[i];
        if (!matches(s, message->topic) || (s->no_local && s->owner == message->publisher)) {
            continue;
        }
        bool first_of_group = true; /* the list of members is kept rotated */
        for (size_t k = 0; k < i && first_of_group; k++) {
            first_of_group = !same_group(&world.subscriptions[k], s);
        }
        if (!first_of_group) {
            continue;
        }
        size_t at = n++;
        for (; at > 0 && order(s, &world.subscriptions[list[at - 1]]) < 0; at--) {
            list[at] = list[at - 1];
        }
        list[at] = i;
    }
    return n;
}

static bool announce(const struct world_message *message,
                     const struct mosquitto_evt_acl_check *check) {
    if (message->origin == FROM_PUBLISH || message->origin == FROM_WILL) {
        world_event(); /* WRITE */
    }
    if (message->origin != FROM_PUBLISH) {
        return false;
    }
    world_event(); /* MESSAGE_IN */
    struct mosquitto_evt_message event = {
        .client = world.client[message->publisher],
        .topic = (char *)(uintptr_t)check->topic,
        .payload = (void *)(uintptr_t)check->payload,
        .properties = check->properties,
        .payloadlen = check->payloadlen,
        .qos = message->qos,
        .retain = message->retain,
    };
    delivery_announce(&world.delivery, &event);
    world.interrupted = 0;
    return message->qos < 2;
}

/* Whether one session has a subscription of its own and a share group for this topic. */
static bool has_both(int session, const char *topic) {
    bool normal = false, shared = false;
    for (size_t i = 0; i < world.n_subscriptions; i++) {
        const struct world_subscription *s = &world.subscriptions[i];
        if (s->owner == session && matches(s, topic)) {
            normal |= s->group[0] == '\0';
            shared |= s->group[0] != '\0';
        }
    }
    return normal && shared;
}

bool world_cannot_tell(const struct world_message *message) {
    if (message->origin == FROM_PUBLISH || message->origin == FROM_WILL) {
        return false;
    }
    if ((message->retain && world.replaying) || world.chain.cut) {
        return true;
    }
    if (message->topic[0] == '$' || !is_next_in_chain(message)) {
        return false;
    }
    bool own_no_local = false, both = false;
    for (size_t i = 0; i < world.n_subscriptions; i++) {
        const struct world_subscription *s = &world.subscriptions[i];
        own_no_local |= s->no_local && s->owner == world.chain.last.publisher &&
                        world.chain.last.origin != FROM_PUBLISH && matches(s, message->topic);
        both |= has_both(s->owner, message->topic);
    }
    return own_no_local || ((world.chain.doubt || world.chain.stray) && both);
}

bool world_publish(const struct world_message *message) {
    struct mosquitto_evt_acl_check check = put(message);
    bool publisher_known = announce(message, &check);
    bool was_kicked = false;
    world.chain.linked = NULL;
    static const char *const origins[] = {"PUBLISH", "PUBREL", "will", "plugin"};
    happens("%s by %d, QoS %d, %s, k=%s, place %zu%s", origins[message->origin], message->publisher,
            message->qos, message->topic, message->k == NULL ? "-" : message->k, message->place,
            message->retain ? ", retain" : "");
    size_t list[WORLD_SUBSCRIPTIONS];
    size_t n = list_questions(message, list);
    struct world_subscription asked[WORLD_SUBSCRIPTIONS];
    for (size_t i = 0; i < n; i++) { /* rotation moves them */
        asked[i] = world.subscriptions[list[i]];
    }
    for (size_t i = 0; i < n && (message->cut_after < 0 || i < (size_t)message->cut_after); i++) {
        const struct world_subscription *s = NULL;
        size_t at = 0;
        for (; at < world.n_subscriptions && s == NULL; at++) {
            const struct world_subscription *c = &world.subscriptions[at];
            bool same = c->owner == asked[i].owner && strcmp(c->topic, asked[i].topic) == 0 &&
                        strcmp(c->group, asked[i].group) == 0;
            s = same ? c : NULL;
        }
        if (s == NULL || !ask(s, message, &check, publisher_known)) {
            return CHECK(s != NULL, "a subscription is gone in the middle of a message") && false;
        }
        if (s->group[0] != '\0') {
            rotate(at - 1);
        }
        if (message->nesting != NULL && (*message->nesting >> (i % 60) & 3) == 3) {
            nest(*message->nesting >> (i % 60));
        }
        if ((size_t)message->kick_after == i + 1) {
            kick(message);
            publisher_known = false;
            was_kicked = true;
        }
    }
    fake_free_message(message->place);
    world.chain.cut |= message->cut_after >= 0;
    if (was_kicked && world.chain.linked == message) {
        world.chain.last.origin = FROM_PUBREL; /* nobody is known to have published it */
    }
    return true;
}

void world_replay(int session, const char *topic, const char *const *topics, const char *k) {
    const struct world_subscription *asked = find(session, topic, "");
    REQUIRE(asked != NULL, "%s of %s", topic, id_of(session));
    for (; *topics != NULL; topics++) {
        struct world_message message = {
            .place = RETAINED_PLACE, .topic = *topics, .k = k, .retain = true};
        if (!matches(asked, message.topic)) {
            continue;
        }
        struct mosquitto_evt_acl_check check = put(&message);
        check.client = world.client[session];
        bool expected = !world.delivery.filter_retained || rule_holds(asked->rule, &message);
        CHECK(world_delivers(&check) == expected, "retained %s for %s of %s, k=%s: expected %d",
              message.topic, topic, id_of(session), k == NULL ? "-" : k, expected);
        fake_free_message(message.place);
    }
}

void world_recheck(int session, size_t place, const struct world_message *message) {
    struct world_message queued = *message;
    queued.place = RECHECK_PLACE;
    struct mosquitto_evt_acl_check check = put(&queued);
    check.client = fake_place(place, id_of(session)); /* not registered */
    struct delivery_counts before = world.delivery.counts;
    CHECK(world_delivers(&check), "a queued message is lost");
    CHECK(memcmp(&before, &world.delivery.counts, sizeof before) == 0, "counted");
    fake_free_message(queued.place);
    *check.client = (struct mosquitto){.id = ""};
}
