// VS Code's part of a session with an adapter: starts it, and carries messages to and fro.
'use strict';

const { spawn } = require('node:child_process');

/** A session with an adapter that the extension has described. */
class Client {
    constructor({ command, args, options }) {
        this.adapter = spawn(command, args, { ...options, stdio: ['pipe', 'pipe', 'inherit'] });
        this.ended = new Promise((resolve) => this.adapter.on('exit', resolve));
        this.rest = Buffer.alloc(0);
        this.sequence = 0;
        this.answers = new Map();
        this.messages = [];
        this.waiting = [];
        this.follow = () => {};
        this.adapter.stdout.on('data', (piece) => this.read(piece));
    }

    read(piece) {
        this.rest = Buffer.concat([this.rest, piece]);
        for (;;) {
            const end = this.rest.indexOf('\r\n\r\n');
            const header = end < 0 ? null : /Content-Length: (\d+)/i.exec(this.rest.subarray(0, end));
            if (header === null || this.rest.length < end + 4 + Number(header[1])) {
                return;
            }
            const body = this.rest.subarray(end + 4, end + 4 + Number(header[1]));
            this.rest = this.rest.subarray(end + 4 + body.length);
            this.take(JSON.parse(body));
        }
    }

    take(message) {
        this.follow(message);
        if (message.type === 'response') {
            const { resolve, reject } = this.answers.get(message.request_seq);
            this.answers.delete(message.request_seq);
            return message.success ? resolve(message.body || {}) : reject(new Error(message.message));
        }
        this.messages.push(message);
        this.waiting.splice(0).forEach((wake) => wake());
        return undefined;
    }

    /** Sends a request. Returns the body of its answer. */
    ask(command, body) {
        this.sequence += 1;
        const text = JSON.stringify({ seq: this.sequence, type: 'request', command, arguments: body });
        this.adapter.stdin.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
        const seq = this.sequence;
        return new Promise((resolve, reject) => this.answers.set(seq, { resolve, reject }));
    }

    /** Waits for the next event of a kind. Returns its body. */
    async event(name) {
        for (;;) {
            const at = this.messages.findIndex((it) => it.event === name);
            if (at >= 0) {
                return this.messages.splice(at, 1)[0].body;
            }
            await new Promise((resolve) => this.waiting.push(resolve));
        }
    }

    /** Begins as VS Code does. */
    async launch(configuration) {
        await this.ask('initialize', {
            adapterID: 'juror', clientID: 'vscode', linesStartAt1: true, columnsStartAt1: true,
            pathFormat: 'path', supportsInvalidatedEvent: true,
        });
        const launched = this.ask('launch', configuration);
        await this.event('initialized');
        await this.ask('setExceptionBreakpoints', { filters: ['violations'] });
        await this.ask('configurationDone');
        await launched;
    }

    /** Ends the session. Returns the exit status of the adapter. */
    async leave() {
        await this.ask('disconnect', {});
        return this.ended;
    }
}

module.exports = { Client };
