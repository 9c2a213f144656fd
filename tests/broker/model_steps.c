/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The model test: its steps (see model_run.h). Each does something to the broker, tells the model, and notes it.
 */
#include "model_steps.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MANY_WAITING = MODEL_COPIES / 2, /* then their receivers are connected */
    BURST = 5,                       /* messages of one step */
};

const char *const run_ids[MODEL_CLIENTS] = {"c0", "c1", "c2", "c3", "c4", "c5"};

/* ---- what happened --------------------------------------------------------------------------------------------- */

void run_fail(const char *format, ...) {
    if (!run.failed) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(run.error.text, sizeof run.error.text, format, arguments);
        va_end(arguments);
        run.failed = true;
    }
}

/* Append to what is said about the present step. */
void run_note(const char *format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    char *before = run.history[run.step];
    size_t bytes = (before == NULL ? 0 : strlen(before)) + strlen(text) + 1;
    char *joined = realloc(before, bytes);
    REQUIRE(joined != NULL, "out of memory");
    if (before == NULL) {
        joined[0] = '\0';
    }
    strcat(joined, text);
    run.history[run.step] = joined;
}

void run_note_message(unsigned number) {
    const struct model_message *message = &run.rules.messages[number];
    run_note(" #%u %s qos %d%s%s", number, message->topic, message->qos,
             message->retain ? " retain" : "", message->payload[0] == '\0' ? " empty" : "");
    for (const char *const *at = message->user; *at != NULL; at += 2) {
        run_note(" %s=%s", at[0], at[1]);
    }
    if (message->content_type != NULL) {
        run_note(" $content_type=%s", message->content_type);
    }
    if (message->response_topic != NULL) {
        run_note(" $response_topic=%s", message->response_topic);
    }
    if (strlen(message->payload) > 8) {
        run_note(" (%zu bytes)", strlen(message->payload));
    }
    run_note(";");
}

void run_expect_code(const char *what, int client, int expected, int code) {
    if (code < 0) {
        run_fail("c%d: %s: %s", client, what,
                 code == WIRE_CLOSED    ? "the broker closed the connection"
                 : code == WIRE_STALLED ? "the broker does not answer"
                                        : "a packet that does not belong here");
    } else if (expected != MODEL_ANY_CODE && code != expected) {
        run_fail("c%d: %s: code 0x%02x instead of 0x%02x", client, what, (unsigned)code,
                 (unsigned)expected);
    }
}

/* ---- messages -------------------------------------------------------------------------------------------------- */

static unsigned add_message(const struct model_message *message, const char *rest) {
    REQUIRE(run.rules.n_messages < MAX_MESSAGES, "too many messages");
    unsigned number = (unsigned)run.rules.n_messages++;
    struct model_message *added = &run.rules.messages[number];
    *added = *message;
    if (rest != NULL) {
        int bytes = snprintf(added->payload, sizeof added->payload, "%u%s", number, rest);
        REQUIRE(bytes > 0 && (size_t)bytes < sizeof added->payload, "%s: too long", rest);
    }
    return number;
}

unsigned run_new_message(int client, int protocol, bool may_be_empty) {
    struct model_message message;
    pool_message(&run.chance, protocol, &message);
    message.publisher = client;
    if (may_be_empty && message.retain && chance_of(&run.chance, 25)) {
        return add_message(&message, NULL); /* removes what was retained */
    }
    return add_message(&message, chance_of(&run.chance, 30) ? " and a bit more" : "");
}

static unsigned new_twin(unsigned number) {
    struct model_message twin;
    pool_twin(&run.chance, &run.rules.messages[number], &twin);
    const char *blank = strchr(twin.payload, ' ');
    char rest[sizeof twin.payload];
    strcpy(rest, blank == NULL ? "" : blank);
    return add_message(&twin, twin.payload[0] == '\0' ? NULL : rest);
}

struct publish run_publish_of(unsigned number) {
    const struct model_message *message = &run.rules.messages[number];
    return (struct publish){
        .topic = message->topic,
        .payload = message->payload,
        .qos = message->qos,
        .retain = message->retain,
        .user = message->user,
        .content_type = message->content_type,
        .response_topic = message->response_topic,
    };
}

/* ---- choosing -------------------------------------------------------------------------------------------------- */

/* A random client that is (or is not) online; -1: there is none. */
static int choose_client(bool online) {
    int first = (int)chance_below(&run.chance, MODEL_CLIENTS);
    for (int i = 0; i < MODEL_CLIENTS; i++) {
        int client = (first + i) % MODEL_CLIENTS;
        if (run.model.sessions[client].online == online) {
            return client;
        }
    }
    return -1;
}

const struct model_subscription *run_choose_subscription(const struct model_session *session) {
    size_t n = session->n_subscriptions;
    return n == 0 ? NULL : &session->subscriptions[chance_below(&run.chance, (unsigned)n)];
}

/* ---- publishing ------------------------------------------------------------------------------------------------ */

/* Take a QoS 2 message whose PUBREL is due, of those that a session holds. */
static unsigned take_held(struct model_session *session, uint16_t *mid_out) {
    size_t at = chance_below(&run.chance, (unsigned)session->n_held);
    unsigned number = session->held[at].message;
    *mid_out = session->held[at].mid;
    session->held[at] = session->held[--session->n_held];
    return number;
}

static void release(int client, uint16_t *mids, size_t *n_mids) {
    struct model_session *session = &run.model.sessions[client];
    uint16_t mid = 0;
    unsigned number = take_held(session, &mid);
    run_note(" PUBREL #%u;", number);
    wire_put_ack(&run.wires[client], RAW_PUBREL, mid);
    mids[(*n_mids)++] = mid;
    model_publish(&run.model, number, false);
}

static void expect_acknowledgement(int client, enum raw_type type, uint16_t mid) {
    enum { NO_MATCHING_SUBSCRIBERS = 0x10 };
    int code = wire_await(&run.wires[client], type, mid);
    run_expect_code("acknowledgement", client, code == NO_MATCHING_SUBSCRIBERS ? MODEL_ANY_CODE : 0,
                    code);
}

/* Several messages at once: the broker deals with them one after the other and finds the same addresses free again. */
static void do_publish(int client) {
    struct model_session *session = &run.model.sessions[client];
    struct wire *wire = &run.wires[client];
    uint16_t released[2 * BURST + MODEL_HELD];
    size_t n_released = 0;
    struct {
        unsigned message;
        uint16_t mid;
    } sent[BURST];
    size_t n_sent = 1 + (chance_of(&run.chance, 50) ? 0 : chance_below(&run.chance, BURST));

    run_note("c%d publishes", client);
    for (size_t i = 0; i < n_sent; i++) {
        while (session->n_held > 0 && chance_of(&run.chance, 25)) {
            release(client, released, &n_released);
        }
        sent[i].message = i > 0 && chance_of(&run.chance, 50)
                              ? new_twin(sent[i - 1].message)
                              : run_new_message(client, session->protocol, true);
        run_note_message(sent[i].message);
        const struct publish publish = run_publish_of(sent[i].message);
        sent[i].mid = wire_put_publish(wire, &publish);
        if (publish.qos < 2) {
            model_publish(&run.model, sent[i].message, true);
        }
    }
    if (!wire_flush(wire)) {
        run_fail("c%d: the connection is closed", client);
    }
    for (size_t i = 0; i < n_sent; i++) {
        int qos = run.rules.messages[sent[i].message].qos;
        if (qos > 0) {
            expect_acknowledgement(client, qos == 1 ? RAW_PUBACK : RAW_PUBREC, sent[i].mid);
        }
        if (qos == 2) {
            size_t at = session->n_held++;
            session->held[at].message = sent[i].message;
            session->held[at].mid = sent[i].mid;
        }
    }
    while (session->n_held > 0 &&
           (session->n_held + BURST > MODEL_HELD || chance_of(&run.chance, 75))) {
        release(client, released, &n_released);
    }
    wire_flush(wire);
    for (size_t i = 0; i < n_released; i++) {
        expect_acknowledgement(client, RAW_PUBCOMP, released[i]);
    }
}

/* ---- what another plugin does ---------------------------------------------------------------------------------- */

void run_connect_admin(void) {
    const struct mqtt_connect options = {.id = "admin", .protocol = 5, .clean = true};
    bool present = false;
    int code = wire_connect(&run.admin, run.broker, &options, &present);
    if (code != 0) {
        run_fail("the admin cannot connect: %d", code);
    }
}

/* Tell plugins/command.c to do something. Returns when it has. */
static void command(const struct publish *properties, const char *text) {
    struct publish publish = properties == NULL ? (struct publish){.payload = NULL} : *properties;
    publish.topic = "$CONTROL/test/v1";
    publish.payload = text;
    publish.qos = 1;
    publish.retain = false;
    uint16_t mid = wire_put_publish(&run.admin, &publish);
    wire_flush(&run.admin);
    int code = wire_await(&run.admin, RAW_PUBACK, mid);
    if (code != 0) {
        run_fail("the command \"%s\" gives %d", text, code);
    }
}

/* A topic filter that the client of a session may not be subscribed to while it is kicked, or NULL. */
static const char *choose_denied(const struct model_session *session) {
    const struct model_subscription *chosen = run_choose_subscription(session);
    if (chosen == NULL || chance_of(&run.chance, 50)) {
        return NULL;
    }
    for (size_t i = 0; i < session->n_subscriptions; i++) {
        if (!session->subscriptions[i].seen) {
            return NULL; /* one more and one less than the plugin knows: the count would not tell */
        }
    }
    /* broker: what goes without an event stays in the database of persist-sqlite */
    return run.rules.persistence == MODEL_SQLITE && !session->stored ? NULL : chosen->topic;
}

/* Whether a kick would remove something that persist-sqlite brings back later. */
static bool must_not_be_kicked(const struct model_session *session) {
    bool found = false;
    for (size_t i = 0; i < session->n_subscriptions; i++) {
        found = found || model_is_undone_by_kick(&run.model, session, &session->subscriptions[i]);
    }
    return found && run.rules.persistence == MODEL_SQLITE;
}

static void do_kick(int client) {
    struct model_session *session = &run.model.sessions[client];
    bool online = session->online;
    bool five = session->protocol == 5;
    bool with_will = chance_of(&run.chance, 50);
    char denied[MODEL_TOPIC_BYTES] = ""; /* a copy: the original goes with the subscription */
    const char *chosen = choose_denied(session);
    if (must_not_be_kicked(session)) {
        step_disconnect(client);
        return;
    }
    strcpy(denied, chosen == NULL ? "" : chosen);
    run_note("c%d is kicked%s%s%s", client, with_will ? ", with its will" : "",
             chosen == NULL ? "" : ", and may not be subscribed to ", denied);
    char text[128];
    snprintf(text, sizeof text, "kick c%d %d %s", client, with_will, denied);
    command(NULL, text);
    model_kick(&run.model, client, with_will, chosen == NULL ? NULL : denied);
    if (online) {
        run_expect_code("end of the connection", client, 0, wire_await_closed(&run.wires[client]));
        if (five && run.wires[client].disconnect_code != 0x98) {
            run_fail("c%d: kicked with 0x%02x", client,
                     (unsigned)run.wires[client].disconnect_code);
        }
    }
}

/* Several messages of a plugin follow each other without anything between them. */
static void do_publish_by_plugin(int client) {
    bool to_all = chance_of(&run.chance, 80);
    bool bare = chance_of(&run.chance, 50);
    unsigned last = 0;
    size_t n = 1 + chance_below(&run.chance, BURST);
    run_note("a plugin publishes%s%s", to_all ? "" : " to ", to_all ? "" : run_ids[client]);
    for (size_t i = 0; i < n; i++) {
        unsigned number = i == 0 ? run_new_message(-1, bare ? 4 : 5, false) : new_twin(last);
        const struct model_message *message = &run.rules.messages[number];
        last = number;
        run_note_message(number);
        const struct publish properties = run_publish_of(number);
        char text[128];
        snprintf(text, sizeof text, "publish %s %d %d %s %s", to_all ? "*" : run_ids[client],
                 message->qos, message->retain, message->topic, message->payload);
        command(&properties, text);
        if (to_all) {
            model_publish(&run.model, number, false);
        } else {
            model_publish_to(&run.model, number, client);
        }
    }
    int code = wire_settle(&run.admin); /* they are passed on in the broker's next turn */
    if (code != 0) {
        run_fail("the admin gets no answer: %d", code);
    }
}

/* ---- the broker ------------------------------------------------------------------------------------------------ */

static void lose_connections(void) {
    for (int i = 0; i < MODEL_CLIENTS; i++) {
        wire_lose(&run.wires[i]);
    }
    wire_lose(&run.admin);
}

static void do_restart(void) {
    run_note("the broker is stopped and started");
    int status = broker_stop(run.broker);
    if (status != 0) {
        run_fail("the broker ended with status %d", status);
    }
    lose_connections();
    if (!run.failed && !broker_try_run(run.broker)) {
        run_fail("the broker does not start again: status %d", broker_status(run.broker));
    }
    run_connect_admin();
    model_restart(&run.model);
    run.saved = run.model;
    memset(run.expired, 0, sizeof run.expired);
}

/* Whether the plugin may not know yet of a session that has expired, which a crash may bring back. */
static bool has_expired(void) {
    bool any = false;
    for (int i = 0; i < MODEL_CLIENTS; i++) {
        any = any || run.expired[i];
    }
    return any;
}

static void do_crash(void) {
    if (has_expired()) {
        do_restart();
        return;
    }
    /* broker: persist-sqlite commits at the beginning of a turn: now everything is in the file */
    run_settle();
    run_note("the broker is killed and started");
    broker_kill(run.broker);
    lose_connections();
    if (!broker_try_run(run.broker)) {
        run_fail("the broker does not start again: status %d", broker_status(run.broker));
    }
    run_connect_admin();
    if (run.rules.persistence == MODEL_SQLITE) {
        model_restart(&run.model); /* there are no wills in these runs */
    } else {
        model_crash(&run.model, &run.saved);
    }
}

static void do_save(void) {
    if (run.rules.persistence == MODEL_DATABASE) {
        run_note("the broker saves");
        broker_save(run.broker);
        run.saved = run.model;
    } else {
        run_note("the broker reloads");
        broker_reload(run.broker);
    }
}

/* ---- steps ----------------------------------------------------------------------------------------------------- */

/* A client for which too much is waiting; -1: there is none. */
static int overfull_client(void) {
    for (int i = 0; i < MODEL_CLIENTS; i++) {
        const struct model_session *session = &run.model.sessions[i];
        if ((!session->online || session->deaf) &&
            (session->n_copies > MANY_WAITING ||
             (session->exists && run.model.n_tokens > MANY_WAITING))) {
            return i;
        }
    }
    return -1;
}

static void do_online(int client) {
    static const struct {
        unsigned weight;
        void (*act)(int client);
    } actions[] = {
        {40, do_publish}, {26, step_subscribe}, {8, step_unsubscribe}, {5, step_disconnect},
        {5, step_drop},   {4, step_connect},    {2, do_kick},          {4, do_publish_by_plugin},
        {3, step_deafen}, {1, step_expire},
    };
    unsigned total = 0;
    for (size_t i = 0; i < N_ROWS(actions); i++) {
        total += actions[i].weight;
    }
    unsigned chosen = chance_below(&run.chance, total);
    for (size_t i = 0; i < N_ROWS(actions); i++) {
        if (chosen < actions[i].weight) {
            actions[i].act(client);
            return;
        }
        chosen -= actions[i].weight;
    }
}

void run_act(void) {
    struct chance *chance = &run.chance;
    int overfull = overfull_client();
    if (overfull >= 0) {
        if (run.model.sessions[overfull].online) {
            step_wake(overfull);
        } else {
            step_connect(overfull);
        }
        return;
    }
    if (run.rules.persistence != MODEL_MEMORY && chance_of(chance, 5)) {
        void (*const acts[])(void) = {do_save, do_save, do_restart, do_crash};
        acts[chance_below(chance, N_ROWS(acts))]();
        return;
    }
    int client = choose_client(true);
    int offline = choose_client(false);
    if (client < 0 || (offline >= 0 && chance_of(chance, 15))) {
        step_connect(offline);
    } else if (run.model.sessions[client].deaf && chance_of(chance, 25)) {
        step_wake(client);
    } else {
        do_online(client);
    }
}

/* Compare what a client has received with what it must have. */
static void report(int client) {
    struct wire *wire = &run.wires[client];
    if (!model_report(&run.model, client, wire->received, wire->n_received, &run.error)) {
        run.failed = true;
    }
    size_t left = 0;
    for (size_t i = 0; i < wire->n_received; i++) {
        if (!wire->received[i].acknowledged) {
            wire->received[left++] = wire->received[i];
        }
    }
    wire->n_received = left;
}

void run_settle(void) {
    /* One turn of the broker's loop more: plugins do things at its beginning. */
    int code = run.failed ? 0 : wire_settle(&run.admin);
    if (code != 0) {
        run_fail("the admin gets no answer: %d", code);
    }
    for (int i = 0; i < MODEL_CLIENTS && !run.failed; i++) {
        if (run.model.sessions[i].online) {
            run_expect_code("PINGRESP", i, 0, wire_settle(&run.wires[i]));
        }
    }
    for (int i = 0; i < MODEL_CLIENTS && !run.failed; i++) {
        if (run.model.sessions[i].online) {
            report(i);
        }
    }
    if (!run.failed && !model_settle(&run.model, &run.error)) {
        run.failed = true;
    }
}
