/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sessions against arrays that are searched from end to end: random subscribing, replacing and removing, clients that
 * move and addresses that are used again. After each step everything that can be asked is asked. */
#include "runner.h"
#include "sessions.h"
#include "subscription_string.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    N_IDS = 6,
    N_PLACES = 5,
    MAX_SUBSCRIPTIONS = 40,
    MAX_TEXT = 128,
    MAX_REMOVED = 4,
    NO_LOCAL = 4
};

/* ---- what is under test ---- */

static struct sf_schema *schema;
static struct sessions sessions;

static void undo(void *user) {
    (void)user;
    sessions_deinit(&sessions);
    sf_schema_free(schema);
    schema = NULL;
}

static void start(void) {
    schema = sf_schema_new();
    REQUIRE(schema != NULL, "memory");
    test_defer(undo, NULL);
}

static struct sf_filter *compile(const char *text) {
    struct sf_filter *filter = NULL;
    struct sf_error error;
    enum sf_status status = sf_compile(schema, NULL, text, strlen(text), &filter, &error);
    REQUIRE(status == SF_OK, "%s: %s", text, error.text);
    return filter;
}

static struct subscription *subscribe(struct session *session, const char *text,
                                      const char *expression, uint8_t options,
                                      uint32_t identifier) {
    size_t name_bytes = share_topic_offset(text) == 0 ? 0 : share_name_bytes(text);
    struct subscription *subscription =
        session_subscribe(&sessions, session, text, name_bytes,
                          expression == NULL ? NULL : compile(expression), options, identifier);
    REQUIRE(subscription != NULL, "%s", text);
    return subscription;
}

/* ---- the model ---- */

static char places[N_PLACES]; /* their addresses stand for `struct mosquitto *` */

static struct mosquitto *place(size_t i) {
    return (struct mosquitto *)(void *)&places[i];
}

static struct model_session {
    bool exists;
    struct mosquitto *client;
    char removed[MAX_REMOVED + MAX_SUBSCRIPTIONS + 1][MAX_TEXT];
    size_t n_removed;
} model_sessions[N_IDS];

static struct model_subscription {
    size_t owner;
    char text[MAX_TEXT];  /* in the broker's form */
    char topic[MAX_TEXT]; /* as the client wrote it */
    const char *expression;
    uint8_t options;
    uint32_t identifier;
    uint64_t passed;
} model[MAX_SUBSCRIPTIONS];
static size_t n_model;

static const char *id_of(size_t i) {
    static const char *const ids[N_IDS] = {"a", "b", "client-2", "\xC3\xBC", "A", "client-20"};
    return ids[i];
}

static struct model_subscription *model_find(size_t owner, const char *text) {
    for (size_t i = 0; i < n_model; i++) {
        if (model[i].owner == owner && strcmp(model[i].text, text) == 0) {
            return &model[i];
        }
    }
    return NULL;
}

static size_t model_distinct(const char *(*part)(const struct model_subscription *)) {
    size_t n = 0;
    for (size_t i = 0; i < n_model; i++) {
        const char *text = part(&model[i]);
        bool seen = text == NULL;
        for (size_t k = 0; k < i && !seen; k++) {
            seen = part(&model[k]) != NULL && strcmp(part(&model[k]), text) == 0;
        }
        n += !seen;
    }
    return n;
}

static const char *group_text(const struct model_subscription *subscription) {
    return share_topic_offset(subscription->text) == 0 ? NULL : subscription->text;
}

static const char *expression_of(const struct model_subscription *subscription) {
    return subscription->expression;
}

/* ---- model and reality ---- */

static void check_subscription(const struct model_subscription *expected, size_t step) {
    struct session *session = sessions_find(&sessions, id_of(expected->owner));
    REQUIRE(session != NULL, "step %zu: session %s", step, id_of(expected->owner));
    struct subscription *found = session_find(&sessions, session, expected->text);
    REQUIRE(found != NULL, "step %zu: %s of %s", step, expected->text, session->id);
    CHECK(found->session == session && found->options == expected->options &&
              found->identifier == expected->identifier && found->passed == expected->passed,
          "step %zu: %s of %s", step, expected->text, session->id);
    CHECK((found->filter != NULL) == (expected->expression != NULL) &&
              (found->filter == NULL ||
               (strcmp(sf_filter_text(found->filter, NULL), expected->expression) == 0 &&
                found->filter_id == sf_filter_id(found->filter))),
          "step %zu: the filter of %s of %s", step, expected->text, session->id);
    const struct subscription_list *list =
        found->group == NULL ? &session->normal : &session->shared;
    CHECK(found->index < list->count && list->items[found->index] == found, "step %zu: index",
          step);

    char text[MAX_TEXT];
    subscription_write_text(found, text);
    CHECK(strcmp(text, expected->text) == 0 && subscription_text_bytes(found) == strlen(text),
          "step %zu: written as %s, not %s", step, text, expected->text);
    subscription_write_topic(found, text);
    CHECK(strcmp(text, expected->topic) == 0 && subscription_topic_bytes(found) == strlen(text),
          "step %zu: topic %s, not %s", step, text, expected->topic);

    if (found->group == NULL) {
        CHECK(session_on_node(&sessions, session, found->node) == found, "step %zu: %s on its node",
              step, text);
        return;
    }
    size_t offset = share_topic_offset(expected->topic);
    const struct subscription *shared =
        session_find_shared(&sessions, session, expected->topic + SHARE_PREFIX_BYTES,
                            share_name_bytes(expected->topic), expected->topic + offset);
    REQUIRE(shared != NULL, "step %zu: %s by its name", step, expected->topic);
    subscription_write_topic(shared, text); /* perhaps another filter's group of that name */
    CHECK(strcmp(text, expected->topic) == 0, "step %zu: %s by its name", step, text);
    size_t n_members = 0;
    for (size_t i = 0; i < n_model; i++) {
        n_members += strcmp(model[i].text, expected->text) == 0;
    }
    CHECK(found->group->n_members == n_members, "step %zu: %zu members of %s", step,
          found->group->n_members, expected->text);
}

static void check_session(size_t i, size_t step) {
    const struct model_session *expected = &model_sessions[i];
    struct session *session = sessions_find(&sessions, id_of(i));
    REQUIRE((session != NULL) == expected->exists, "step %zu: session %s", step, id_of(i));
    if (session == NULL) {
        return;
    }
    CHECK(session->client == expected->client, "step %zu: where %s is", step, session->id);
    uint32_t n_filters = 0, n_no_local = 0, n_all = 0;
    for (size_t k = 0; k < n_model; k++) {
        if (model[k].owner == i) {
            n_all++;
            n_filters += model[k].expression != NULL;
            n_no_local += (model[k].options & NO_LOCAL) != 0;
        }
    }
    CHECK(session_count(session) == n_all && session->n_filters == n_filters &&
              session->n_no_local == n_no_local,
          "step %zu: %s counts %u, %u, %u, expected %u, %u, %u", step, session->id,
          session_count(session), session->n_filters, session->n_no_local, n_all, n_filters,
          n_no_local);
    size_t n_removed = 0;
    for (const struct removed_topic *r = session->removed; r != NULL; r = r->hh.next) {
        bool found = false;
        for (size_t k = 0; k < expected->n_removed && !found; k++) {
            found = strcmp(r->text, expected->removed[k]) == 0;
        }
        CHECK(found && session_find(&sessions, session, r->text) == NULL,
              "step %zu: removed %s of %s", step, r->text, session->id);
        n_removed++;
    }
    CHECK(n_removed == expected->n_removed, "step %zu: %zu removed of %s", step, n_removed,
          session->id);
}

static void check_all(size_t step) {
    size_t n_sessions = 0, n_filters = 0, n_no_local = 0;
    for (size_t i = 0; i < N_IDS; i++) {
        check_session(i, step);
        n_sessions += model_sessions[i].exists;
    }
    for (size_t i = 0; i < n_model; i++) {
        check_subscription(&model[i], step);
        n_filters += model[i].expression != NULL;
        n_no_local += (model[i].options & NO_LOCAL) != 0;
    }
    CHECK(sessions.n_sessions == n_sessions && sessions.n_subscriptions == n_model &&
              sessions.n_filters == n_filters && sessions.n_no_local == n_no_local,
          "step %zu: %zu, %zu, %zu, %zu; expected %zu, %zu, %zu, %zu", step, sessions.n_sessions,
          sessions.n_subscriptions, sessions.n_filters, sessions.n_no_local, n_sessions, n_model,
          n_filters, n_no_local);
    CHECK(HASH_COUNT(sessions.groups) == model_distinct(group_text), "step %zu: groups", step);
    CHECK(sf_schema_filters(schema) == model_distinct(expression_of),
          "step %zu: %zu filters live, %zu are in use", step, sf_schema_filters(schema),
          model_distinct(expression_of));
    for (size_t i = 0; i < N_PLACES; i++) {
        struct session *found = map_get(&sessions.by_client, place(i), NULL);
        const char *expected = NULL;
        for (size_t k = 0; k < N_IDS; k++) {
            if (model_sessions[k].exists && model_sessions[k].client == place(i)) {
                expected = id_of(k);
            }
        }
        CHECK((found == NULL) == (expected == NULL) &&
                  (found == NULL || strcmp(found->id, expected) == 0),
              "step %zu: at place %zu is %s, expected %s", step, i,
              found == NULL ? "nobody" : found->id, expected == NULL ? "nobody" : expected);
    }
}

/* ---- random steps ---- */

static void pick_subscription(uint64_t *state, struct model_subscription *out) {
    static const char *const topics[] = {"a", "a/b", "a/+", "#", "a/b/c", "/", "$SYS/#", "+/+"};
    static const char *const expressions[] = {NULL, "kv:v=1", "kv:v>5", "sql:a = 1", "tag:x"};
    static const char *const names[] = {"g", "gg", "\xE2\x82\xAC"};
    const char *topic = topics[test_random(state) % N_ROWS(topics)];
    out->expression = expressions[test_random(state) % N_ROWS(expressions)];
    struct sf_filter *filter = NULL;
    if (out->expression != NULL) { /* the canonical text is what the model keeps */
        static char canonical[N_ROWS(expressions)][64];
        filter = compile(out->expression);
        for (size_t i = 0; i < N_ROWS(expressions); i++) {
            if (expressions[i] == out->expression) {
                snprintf(canonical[i], sizeof canonical[i], "%s", sf_filter_text(filter, NULL));
                out->expression = canonical[i];
                break;
            }
        }
    }
    if (test_random(state) % 2 == 0) {
        snprintf(out->topic, sizeof out->topic, "%s", topic);
        strcpy(out->text, out->topic);
    } else {
        snprintf(out->topic, sizeof out->topic, "$share/%s/%s",
                 names[test_random(state) % N_ROWS(names)], topic);
        if (filter == NULL) {
            strcpy(out->text, out->topic);
        } else {
            share_rename(out->topic, out->expression, strlen(out->expression), out->text);
        }
    }
    sf_filter_unref(filter);
    out->options = (uint8_t)(test_random(state) % 8);
    out->identifier = (uint32_t)(test_random(state) % 3);
}

static void forget_place(struct mosquitto *client) {
    for (size_t i = 0; i < N_IDS; i++) {
        if (model_sessions[i].client == client) {
            model_sessions[i].client = NULL;
        }
    }
}

static void drop_removed(struct model_session *session, const char *text) {
    for (size_t i = 0; i < session->n_removed; i++) {
        if (strcmp(session->removed[i], text) == 0) {
            memmove(session->removed[i], session->removed[i + 1],
                    (session->n_removed - i - 1) * sizeof session->removed[0]);
            session->n_removed--;
            return;
        }
    }
}

static void step_subscribe(uint64_t *state, size_t owner, struct session *session) {
    struct model_subscription wanted = {.owner = owner};
    pick_subscription(state, &wanted);
    struct model_subscription *old = model_find(owner, wanted.text);
    if (old == NULL && n_model == MAX_SUBSCRIPTIONS) {
        return;
    }
    bool same_filter = old != NULL && old->expression != NULL && wanted.expression != NULL
                           ? strcmp(old->expression, wanted.expression) == 0
                           : old != NULL && old->expression == NULL && wanted.expression == NULL;
    struct subscription *subscription =
        subscribe(session, wanted.text, wanted.expression, wanted.options, wanted.identifier);
    wanted.passed = same_filter ? old->passed + 1 : subscription->passed + 1;
    CHECK(same_filter || subscription->passed == 0, "counters start again for another filter");
    subscription->passed++;
    if (old == NULL) {
        old = &model[n_model++];
    }
    *old = wanted;
    drop_removed(&model_sessions[owner], wanted.text); /* what is there is not removed */
}

static void step_unsubscribe(uint64_t *state) {
    if (n_model > 0) {
        size_t i = test_random(state) % n_model;
        struct session *session = sessions_find(&sessions, id_of(model[i].owner));
        REQUIRE(session != NULL, "%s", id_of(model[i].owner));
        struct subscription *gone = session_find(&sessions, session, model[i].text);
        REQUIRE(gone != NULL, "%s", model[i].text);
        subscription_remove(&sessions, gone);
        model[i] = model[--n_model];
    }
}

static void step_remove_session(size_t owner, struct session *session) {
    session_remove(&sessions, session);
    model_sessions[owner] = (struct model_session){0};
    for (size_t i = n_model; i-- > 0;) {
        if (model[i].owner == owner) {
            model[i] = model[--n_model];
        }
    }
}

static void step_note_removed(uint64_t *state, size_t owner, struct session *session) {
    static const char *const texts[] = {"a", "b", "c", "$share/g/a", "e", "f"};
    const char *text = texts[test_random(state) % N_ROWS(texts)];
    struct model_session *expected = &model_sessions[owner];
    if (model_find(owner, text) != NULL) {
        return; /* what is there is not removed */
    }
    drop_removed(expected, text);
    if (test_random(state) % 3 == 0) {
        session_forget_removed(session, text);
        return;
    }
    REQUIRE(session_note_removed(session, text, MAX_REMOVED), "%s", text);
    strcpy(expected->removed[expected->n_removed++], text);
    if (expected->n_removed > MAX_REMOVED) {
        drop_removed(expected, expected->removed[0]);
    }
}

/* All that it has becomes what it had, in whatever order. */
static void step_bury(size_t owner, struct session *session) {
    struct model_session *expected = &model_sessions[owner];
    if (expected->n_removed > MAX_REMOVED) {
        return; /* once is enough for the model's room */
    }
    REQUIRE(session_bury(&sessions, session), "memory");
    for (size_t i = n_model; i-- > 0;) {
        if (model[i].owner == owner) {
            drop_removed(expected, model[i].text);
            strcpy(expected->removed[expected->n_removed++], model[i].text);
            model[i] = model[--n_model];
        }
    }
    check_session(owner, 0);
    size_t n = 0; /* the model takes over the order in which they will be forgotten */
    for (const struct removed_topic *r = session->removed; r != NULL; r = r->hh.next) {
        strcpy(expected->removed[n++], r->text);
    }
}

static void random_step(uint64_t *state) {
    size_t owner = test_random(state) % N_IDS;
    struct session *session = sessions_get(&sessions, id_of(owner));
    REQUIRE(session != NULL && strcmp(session->id, id_of(owner)) == 0, "%s", id_of(owner));
    model_sessions[owner].exists = true;
    struct mosquitto *client = place(test_random(state) % N_PLACES);
    switch (test_random(state) % 16) {
    case 0:
        step_remove_session(owner, session);
        break;
    case 1:
        sessions_forget_client(&sessions, client);
        forget_place(client);
        break;
    case 2:
    case 3:
    case 4:
        session_set_client(&sessions, session, client, (uint32_t)owner + 1);
        forget_place(client);
        model_sessions[owner].client = client;
        break;
    case 5:
    case 6:
    case 7:
    case 8:
        step_unsubscribe(state);
        break;
    case 9:
        step_note_removed(state, owner, session);
        break;
    case 10:
        if (test_random(state) % 8 == 0) {
            step_bury(owner, session);
        }
        break;
    default:
        step_subscribe(state, owner, session);
    }
}

static void test_sessions_hold_what_arrays_hold(void) {
    uint64_t state = test_seed();
    size_t n_rounds = test_long() ? 200 : 8;
    for (size_t round = 0; round < n_rounds; round++) {
        memset(model_sessions, 0, sizeof model_sessions);
        n_model = 0;
        if (round == 0) {
            start();
        }
        for (size_t step = 0; step < 1500; step++) {
            random_step(&state);
            check_all(step);
            REQUIRE(!test_has_failed(), "round %zu, step %zu", round, step);
        }
        sessions_deinit(&sessions);
        CHECK(sf_schema_filters(schema) == 0, "round %zu: filters without owners", round);
        CHECK(sessions.tree.root == NULL && sessions.n_subscriptions == 0, "empty");
    }
}

/* ---- by hand ---- */

static void test_sessions_look_up_by_the_whole_identifier(void) {
    start();
    struct session *session = sessions_get(&sessions, "client");
    REQUIRE(session != NULL, "memory");
    CHECK(sessions_get(&sessions, "client") == session, "the same again");
    CHECK(sessions_find(&sessions, "clien") == NULL &&
              sessions_find(&sessions, "client1") == NULL &&
              sessions_find(&sessions, "Client") == NULL && sessions_find(&sessions, "") == NULL,
          "other identifiers");
    CHECK(sessions.n_sessions == 1, "%zu", sessions.n_sessions);
}

static void test_session_keeps_its_place_when_set_again(void) {
    start();
    struct session *first = sessions_get(&sessions, "first");
    struct session *second = sessions_get(&sessions, "second");
    REQUIRE(first != NULL && second != NULL, "memory");
    session_set_client(&sessions, first, place(0), 1);
    session_set_client(&sessions, first, place(0), 2);
    CHECK(first->client == place(0) && first->client_hash == 2, "another hash is noted");
    session_set_client(&sessions, second, place(0), 3);
    CHECK(first->client == NULL && map_get(&sessions.by_client, place(0), NULL) == second,
          "the later one has the address");
    session_set_client(&sessions, first, place(1), 2);
    sessions_forget_client(&sessions, place(2));
    CHECK(first->client == place(1) && second->client == place(0), "nobody was there");
    session_remove(&sessions, second);
    CHECK(map_get(&sessions.by_client, place(0), NULL) == NULL, "gone with its session");
    CHECK(sessions.by_client.count == 1, "%zu", sessions.by_client.count);
}

/* One filter, held by several subscriptions: replaced by itself it must survive. */
static void test_session_subscribe_again_with_the_same_filter(void) {
    start();
    struct session *session = sessions_get(&sessions, "c");
    REQUIRE(session != NULL, "memory");
    struct subscription *subscription = subscribe(session, "a", "v>1", 0, 0);
    subscription->passed = 5;
    subscription->dropped = 6;
    CHECK(subscribe(session, "a", "v>1", 1, 9) == subscription, "the same subscription");
    CHECK(subscription->passed == 5 && subscription->dropped == 6, "counters go on");
    CHECK(subscription->options == 1 && subscription->identifier == 9, "options are new");
    CHECK(sf_schema_filters(schema) == 1, "%zu", sf_schema_filters(schema));
    subscribe(session, "a", "v>2", 1, 9);
    CHECK(subscription->passed == 0 && subscription->dropped == 0, "counters start again");
    CHECK(sf_schema_filters(schema) == 1, "%zu", sf_schema_filters(schema));
    subscribe(session, "a", NULL, NO_LOCAL, 0);
    CHECK(session->n_filters == 0 && session->n_no_local == 1 && sessions.n_filters == 0, "plain");
    CHECK(sf_schema_filters(schema) == 0, "%zu", sf_schema_filters(schema));
}

static void test_share_groups_of_different_filters_are_apart(void) {
    start();
    static const char *const expressions[] = {NULL, "v=1", "v=2"};
    struct share_group *groups[N_ROWS(expressions)];
    for (size_t i = 0; i < N_ROWS(expressions); i++) {
        char id[8], text[MAX_TEXT] = "$share/g/t";
        for (size_t member = 0; member < 2; member++) {
            snprintf(id, sizeof id, "c%zu%zu", i, member);
            struct session *session = sessions_get(&sessions, id);
            REQUIRE(session != NULL, "memory");
            if (expressions[i] != NULL) {
                struct sf_filter *filter = compile(expressions[i]);
                size_t bytes = 0;
                const char *canonical = sf_filter_text(filter, &bytes);
                share_rename("$share/g/t", canonical, bytes, text);
                sf_filter_unref(filter);
            }
            struct subscription *subscription = subscribe(session, text, expressions[i], 0, 0);
            CHECK(member == 0 || subscription->group == groups[i], "%s: one group", text);
            groups[i] = subscription->group;
            CHECK(session_find_shared(&sessions, session, "g", 1, "t") == subscription, "%s", text);
            CHECK(session_find_shared(&sessions, session, "h", 1, "t") == NULL, "another name");
            CHECK(session_find_shared(&sessions, session, "gg", 2, "t") == NULL, "another name");
            CHECK(session_find_shared(&sessions, session, "g", 1, "u") == NULL, "another topic");
        }
        CHECK(groups[i]->n_members == 2 && groups[i]->name_bytes == 1, "%s", text);
    }
    CHECK(groups[0] != groups[1] && groups[1] != groups[2], "three groups");
    CHECK(groups[0]->node == groups[1]->node && groups[1]->node == groups[2]->node, "one node");
    CHECK(HASH_COUNT(sessions.groups) == 3, "%u", HASH_COUNT(sessions.groups));
    CHECK(sessions.tree.root == NULL, "shared subscriptions have a tree of their own");
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        TEST(test_sessions_hold_what_arrays_hold),
        TEST(test_sessions_look_up_by_the_whole_identifier),
        TEST(test_session_keeps_its_place_when_set_again),
        TEST(test_session_subscribe_again_with_the_same_filter),
        TEST(test_share_groups_of_different_filters_are_apart),
    };
    return run_tests(argc, argv, cases, N_ROWS(cases));
}
