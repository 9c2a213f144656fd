/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The model test: what clients do, but for publishing (see model_steps.h).
 */
#include "model_steps.h"

#include <stdio.h>
#include <string.h>

enum {
    MANY_SUBSCRIPTIONS = 12, /* then a client subscribes only to what it has */
    EXPIRY_S = 3600,         /* longer than any run */
};

/* ---- connections ----------------------------------------------------------------------------------------------- */

/* What a client connects with, at random. */
static struct model_connect choose_connect(int client) {
    struct chance *chance = &run.chance;
    const struct model_session *session = &run.model.sessions[client];
    struct model_connect connect = {
        .protocol = chance_of(chance, 80) ? 5 : 4,
        .clean = chance_of(chance, 25),
        .will = -1,
    };
    if (run.rules.persistence == MODEL_SQLITE && session->online && !session->kept) {
        /* broker: persist-sqlite brings the subscriptions back if a takeover ends a session otherwise */
        connect.clean = true;
    }
    connect.kept = connect.protocol == 5 ? chance_of(chance, 70) : !connect.clean;
    /* broker: persist-sqlite keeps wills that were cancelled, and sends them after a restart */
    if (run.rules.persistence != MODEL_SQLITE && chance_of(chance, 30)) {
        connect.will = (int)run_new_message(client, connect.protocol, false);
        /* broker: a client with a delayed will that is not kept goes on taking messages of its share groups */
        connect.delayed = connect.protocol == 5 && connect.kept && chance_of(chance, 30);
    }
    return connect;
}

/* Open a new connection and, when there is an old one, see how that ends. Returns whether a session is present. */
static bool open_connection(int client, const struct mqtt_connect *options) {
    const struct model_session *session = &run.model.sessions[client];
    struct wire *old = &run.wires[client];
    struct wire fresh;
    bool present = false;
    wire_init(&fresh);
    fresh.last_mid = old->last_mid;
    run_expect_code("CONNACK", client, 0, wire_connect(&fresh, run.broker, options, &present));
    if (session->online) {
        run_expect_code("end of the old connection", client, 0, wire_await_closed(old));
        if (session->protocol == 5 && old->disconnect_code != 0x8E) {
            run_fail("c%d: the old connection ended with 0x%02x", client,
                     (unsigned)old->disconnect_code);
        }
    }
    wire_deinit(old);
    *old = fresh;
    return present;
}

void step_connect(int client) {
    const struct model_connect connect = choose_connect(client);
    const struct publish will = run_publish_of(connect.will < 0 ? 0 : (unsigned)connect.will);
    const struct mqtt_connect options = {
        .id = run_ids[client],
        .protocol = connect.protocol,
        .clean = connect.clean,
        .expiry_s = connect.kept ? EXPIRY_S : 0,
        .receive_maximum =
            (uint16_t)(chance_of(&run.chance, 50) ? 0 : 1 + chance_below(&run.chance, 3)),
        .will = connect.will < 0 ? NULL : &will,
        .will_delay_s = connect.delayed ? EXPIRY_S + (uint32_t)connect.will : 0,
    };
    run_note("c%d connects%s: MQTT %s%s%s", client,
             run.model.sessions[client].online ? ", taking over" : "",
             connect.protocol == 5 ? "5" : "3.1.1", connect.clean ? ", clean" : "",
             connect.kept ? ", kept" : "");
    if (options.receive_maximum > 0) {
        run_note(", receive maximum %u", options.receive_maximum);
    }
    if (connect.will >= 0) {
        run_note(connect.delayed ? ", delayed will" : ", will");
        run_note_message((unsigned)connect.will);
    }
    bool present = open_connection(client, &options);
    bool expected = model_connect(&run.model, client, &connect);
    run.expired[client] = false;
    run_note(expected ? " (session present)" : " (new session)");
    if (present != expected) {
        run_fail("c%d: session present %d instead of %d", client, present, expected);
    }
}

void step_disconnect(int client) {
    struct model_session *session = &run.model.sessions[client];
    bool with_will = session->protocol == 5 && chance_of(&run.chance, 20);
    bool change =
        session->protocol == 5 && session->kept && !session->delayed && chance_of(&run.chance, 20);
    const uint32_t expiry_s = 0;
    const bool kept = false;
    run_note("c%d disconnects%s%s", client, with_will ? ", with its will" : "",
             change ? ", ending its session" : "");
    wire_disconnect(&run.wires[client], with_will ? 0x04 : 0, change ? &expiry_s : NULL);
    model_disconnect(&run.model, client, with_will ? MODEL_WITH_WILL : MODEL_DISCONNECTED,
                     change ? &kept : NULL);
}

void step_drop(int client) {
    run_note("c%d is lost", client);
    wire_drop(&run.wires[client]);
    model_disconnect(&run.model, client, MODEL_LOST, NULL);
}

void step_expire(int client) {
    struct model_session *session = &run.model.sessions[client];
    if (!run.may_expire || session->protocol != 5 || !session->kept) {
        step_disconnect(client);
        return;
    }
    run.may_expire = false;
    run.expired[client] = true;
    bool with_will = session->delayed; /* it is sent when the session expires */
    run_note("c%d disconnects%s, and its session expires", client,
             with_will ? ", with its will" : "");
    const uint32_t expiry_s = 1;
    wire_disconnect(&run.wires[client], with_will ? 0x04 : 0, &expiry_s);
    model_disconnect(&run.model, client, with_will ? MODEL_WITH_WILL : MODEL_DISCONNECTED, NULL);
    char line[64];
    snprintf(line, sizeof line, "Expiring client %s due to timeout.", run_ids[client]);
    if (!broker_await_log(run.broker, line)) {
        run_fail("c%d: its session does not expire", client);
    }
    model_expire(&run.model, client);
}

void step_deafen(int client) {
    run_note("c%d goes deaf", client);
    run.wires[client].deaf = true;
    run.model.sessions[client].deaf = true;
}

void step_wake(int client) {
    run_note("c%d wakes", client);
    wire_wake(&run.wires[client]);
    run.model.sessions[client].deaf = false;
}

/* ---- subscriptions --------------------------------------------------------------------------------------------- */

static const char *choose_group(void) {
    static const char *const groups[] = {"", "", "", "g1", "g1", "g2"};
    return groups[chance_below(&run.chance, N_ROWS(groups))];
}

/* A text with a '?' that MQTT 5 clients cannot mean literally, sent all the same: see DESIGN decision D4. */
static void subscribe_raw(int client, const char *group, const char *text, int qos) {
    const struct model_subscription *literal = model_find(&run.model, client, group, "a?b");
    bool closes = literal != NULL && literal->seen && (group[0] == '\0' || literal->filter < 0);
    if (closes && run.rules.persistence == MODEL_SQLITE) {
        run_note(" (not sent)"); /* broker: what a plugin removes stays in the database */
        return;
    }
    int codes[WIRE_ENTRIES];
    int failed = wire_subscribe(&run.wires[client], &(struct subscribe){.topic = text, .qos = qos},
                                1, codes);
    if (!closes) {
        run_expect_code("SUBACK", client, MODEL_DENIED, failed != 0 ? failed : codes[0]);
    } else if (failed != WIRE_CLOSED) {
        run_fail("c%d: the broker does not close the connection", client);
    } else {
        run_note(" (closed)");
        wire_lose(&run.wires[client]);
        model_unsubscribe(&run.model, client, group, "a?b"); /* it is given up */
        model_disconnect(&run.model, client, MODEL_LOST, NULL);
    }
}

static struct model_subscription choose_entry(const struct model_session *session) {
    struct chance *chance = &run.chance;
    bool five = session->protocol == 5;
    struct model_subscription entry = {
        .qos = (int)chance_below(chance, 3),
        .no_local = five && chance_of(chance, 15),
        .retain_as_published = five && chance_of(chance, 30),
        .filter = five && !run.rules.plain && chance_of(chance, 70) ? pool_filter(chance) : -1,
    };
    const struct model_subscription *old = run_choose_subscription(session);
    bool many = session->n_subscriptions >= MANY_SUBSCRIPTIONS;
    bool again = old != NULL && (many || chance_of(chance, 30));
    strcpy(entry.topic, again ? old->topic : pool_topic_filter(chance));
    strcpy(entry.group, again ? old->group : choose_group());
    entry.no_local = entry.no_local && entry.group[0] == '\0'; /* MQTT 5 forbids it */
    return entry;
}

void step_subscribe(int client) {
    struct chance *chance = &run.chance;
    struct model_session *session = &run.model.sessions[client];
    struct model_subscription entries[WIRE_ENTRIES];
    struct subscribe sent[WIRE_ENTRIES];
    char texts[WIRE_ENTRIES][POOL_TEXT_BYTES];
    bool five = session->protocol == 5;
    size_t n = 1 + (chance_of(chance, 75) ? 0 : chance_below(chance, WIRE_ENTRIES));
    uint32_t id = five && chance_of(chance, 85) ? ++run.next_id : 0;
    run_note("c%d subscribes, id %u:", client, id);
    for (size_t i = 0; i < n; i++) {
        struct model_subscription *entry = &entries[i];
        *entry = choose_entry(session);
        entry->id = id;
        const char *expression = entry->filter < 0 ? NULL : run.rules.filters[entry->filter].text;
        pool_write(chance, entry->group, entry->topic, expression, texts[i]);
        sent[i] = (struct subscribe){
            .topic = texts[i],
            .qos = entry->qos,
            .id = id,
            .no_local = entry->no_local,
            .retain_as_published = entry->retain_as_published,
            .retain_handling = five ? (int)chance_below(chance, 3) : 0,
        };
        run_note(" %s qos %d%s%s, retain handling %d;", texts[i], entry->qos,
                 entry->no_local ? ", no local" : "",
                 entry->retain_as_published ? ", retain as published" : "",
                 sent[i].retain_handling);
        if (five && !run.rules.plain && expression == NULL && strchr(texts[i], '?') != NULL) {
            subscribe_raw(client, entry->group, texts[i], entry->qos); /* alone */
            return;
        }
    }
    int codes[WIRE_ENTRIES];
    int failed = wire_subscribe(&run.wires[client], sent, n, codes);
    for (size_t i = 0; i < n; i++) {
        int expected = model_subscribe(&run.model, client, &entries[i], sent[i].retain_handling);
        run_note(expected == MODEL_DENIED ? " refused" : " granted");
        run_expect_code("SUBACK", client, expected, failed != 0 ? failed : codes[i]);
    }
}

void step_unsubscribe(int client) {
    struct chance *chance = &run.chance;
    struct model_session *session = &run.model.sessions[client];
    bool five = session->protocol == 5;
    char topic[MODEL_TOPIC_BYTES];
    char group[8];
    strcpy(topic, pool_topic_filter(chance));
    strcpy(group, choose_group());
    const struct model_subscription *old = run_choose_subscription(session);
    if (old != NULL && chance_of(chance, 85)) {
        strcpy(topic, old->topic);
        strcpy(group, old->group);
    }
    const char *expression = NULL;
    if (five && !run.rules.plain &&
        chance_of(chance, 50)) { /* any, not only its own: it is not read */
        expression = run.rules.filters[pool_filter(chance)].text;
    }
    char text[POOL_TEXT_BYTES];
    pool_write(chance, group, topic, expression, text);
    run_note("c%d unsubscribes from %s", client, text);
    if (five && !run.rules.plain && expression == NULL && strcmp(topic, "a?b") == 0) {
        /* an exact known literal goes first; otherwise this is topic filter "a" with an expression "b" */
        const struct model_subscription *literal = model_find(&run.model, client, group, topic);
        if (literal == NULL || !literal->seen || (group[0] != '\0' && literal->filter >= 0)) {
            strcpy(topic, "a");
        }
    }
    int code = wire_unsubscribe(&run.wires[client], text);
    int expected = model_unsubscribe(&run.model, client, group, topic);
    run_expect_code("UNSUBACK", client, five ? expected : 0, code);
}
