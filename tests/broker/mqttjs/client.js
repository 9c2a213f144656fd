// SPDX-License-Identifier: BSD-3-Clause
//
// A client of MQTT.js that a test drives. Each line on stdin is a command and has one line of answer on stdout; messages
// are lines too:
//
//     sub <topic filter>       sub <reason code>, or "sub refused" when the library does not send it
//     unsub <topic filter>     unsub <reason code>, or "unsub refused"
//                              msg <topic> <payload>
//
// It ends with stdin. Arguments: the URL, and for TLS the file with the certificate to trust.
'use strict';

const fs = require('node:fs');
const readline = require('node:readline');
const mqtt = require('mqtt');

const [url, caFile] = process.argv.slice(2);
const client = mqtt.connect(url, {
    protocolVersion: 5,
    clientId: 'mqttjs',
    clean: false,
    properties: { sessionExpiryInterval: 3600 },
    reconnectPeriod: 0,
    ca: caFile && fs.readFileSync(caFile),
});
const say = (line) => process.stdout.write(line + '\n');

const commands = {
    // What the broker refuses is an error here too, but one with a packet.
    sub: (topic) => client.subscribe(topic, { qos: 1 }, (error, granted, packet) =>
        say(packet ? `sub ${packet.granted[0]}` : 'sub refused')),
    unsub: (topic) => client.unsubscribe(topic, (error, packet) =>
        say(packet ? `unsub ${packet.granted[0]}` : 'unsub refused')),
};

client.on('message', (topic, payload) => say(`msg ${topic} ${payload}`));
client.on('error', (error) => {
    process.stderr.write(`${error}\n`);
    process.exit(1);
});
client.on('connect', () => {
    say('connected');
    readline.createInterface({ input: process.stdin })
        .on('line', (line) => {
            const end = line.indexOf(' ');
            commands[line.slice(0, end)](line.slice(end + 1));
        })
        .on('close', () => client.end());
});
