/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A client of the Paho C library that a test drives, as mqttjs/client.js is one of MQTT.js (see there for the lines on
 * stdin and stdout). Argument: the URL.
 */
#include <MQTTClient.h>

#include <stdio.h>
#include <string.h>

enum { DEADLINE_MS = 20000, MAX_LINE = 70000 };

/* In a thread of the library; each line is written at once. */
static int on_message(void *context, char *topic, int topic_bytes, MQTTClient_message *message) {
    (void)context;
    (void)topic_bytes;
    printf("msg %s %.*s\n", topic, message->payloadlen, (const char *)message->payload);
    MQTTClient_freeMessage(&message);
    MQTTClient_free(topic);
    return 1;
}

static MQTTClient open_connection(const char *url) {
    MQTTClient client = NULL;
    MQTTClient_createOptions create = MQTTClient_createOptions_initializer;
    MQTTClient_connectOptions connect = MQTTClient_connectOptions_initializer5;
    create.MQTTVersion = MQTTVERSION_5;
    connect.cleanstart = 1;
    if (MQTTClient_createWithOptions(&client, url, "paho", MQTTCLIENT_PERSISTENCE_NONE, NULL,
                                     &create) != MQTTCLIENT_SUCCESS ||
        MQTTClient_setCallbacks(client, NULL, NULL, on_message, NULL) != MQTTCLIENT_SUCCESS) {
        return NULL;
    }
    MQTTResponse response = MQTTClient_connect5(client, &connect, NULL, NULL);
    int code = (int)response.reasonCode;
    MQTTResponse_free(response);
    return code == MQTTREASONCODE_SUCCESS ? client : NULL;
}

/* Negative codes are the library's own: it has not sent the packet. */
static void answer(const char *command, MQTTResponse response) {
    if ((int)response.reasonCode < 0) {
        printf("%s refused\n", command);
    } else {
        printf("%s %d\n", command, (int)response.reasonCode);
    }
    MQTTResponse_free(response);
}

int main(int argc, char **argv) {
    static char line[MAX_LINE];
    setvbuf(stdout, NULL, _IOLBF, 0);
    MQTTClient client = argc == 2 ? open_connection(argv[1]) : NULL;
    if (client == NULL) {
        fprintf(stderr, "no connection\n");
        return 1;
    }
    printf("connected\n");
    while (fgets(line, sizeof line, stdin) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, "sub ", 4) == 0) {
            answer("sub", MQTTClient_subscribe5(client, line + 4, 1, NULL, NULL));
        } else if (strncmp(line, "unsub ", 6) == 0) {
            answer("unsub", MQTTClient_unsubscribe5(client, line + 6, NULL));
        }
    }
    MQTTClient_disconnect5(client, DEADLINE_MS, MQTTREASONCODE_SUCCESS, NULL);
    MQTTClient_destroy(&client);
    return 0;
}
