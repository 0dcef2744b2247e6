// The extension with the real adapter: to the violation of the example with the queue.
'use strict';

const assert = require('node:assert');
const { execFileSync } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const test = require('node:test');
const { Client } = require('./client');
const { activate, shown } = require('./fake-vscode');
const { repository } = require('./keywords');

const executable = path.resolve(process.env.JUROR_EXECUTABLE);
const example = path.join(repository, 'examples/queue');
const property = path.join(example, 'queue.prop');
let directory;
let program;

test.before(() => {
    directory = fs.mkdtempSync(path.join(os.tmpdir(), 'juror-vscode-'));
    program = path.join(directory, 'queue');
    const sources = ['queue.c', 'main.c'].map((file) => path.join(example, file));
    execFileSync('cc', ['-g', '-o', program, ...sources]);
});

test.after(() => fs.rmSync(directory, { recursive: true }));

/** Starts a session as the command for the open file does, up to its launch. */
async function begin(change) {
    const seen = activate();
    seen.settings['juror.path'] = executable;
    seen.open(property, 'juror-property');
    seen.answers = [[seen.vscode.Uri.file(program)]];
    await seen.commands.get('juror.debugFile')();
    const configuration = { ...seen.debugged[0].configuration, ...change };
    const descriptor = seen.factories.juror.createDebugAdapterDescriptor({ configuration });
    const client = new Client(descriptor);
    const { session, tracker } = seen.begin(configuration, (command, body) => client.ask(command, body));
    client.follow = (message) => tracker.onDidSendMessage(message);
    await client.launch(configuration);
    return { seen, client, session };
}

/** Replaces addresses, which differ from machine to machine. */
function plain(lines) {
    return lines.map((line) => line.replace(/0x[0-9a-f]+/g, 'ADDRESS'));
}

test('the program stops at the violation, and the tree shows the slice', async () => {
    const { seen, client, session } = await begin({});
    const stop = await client.event('stopped');
    assert.deepStrictEqual([stop.reason, stop.text], ['exception', 'queue_bounds']);
    const info = await client.ask('exceptionInfo', { threadId: stop.threadId });
    assert.match(info.description, /^VIOLATED {2}queue_bounds:/);
    const lines = plain(await shown(seen.tree));
    assert.deepStrictEqual(lines.slice(0, 6), [
        'queue_bounds | violated, 2 slices',
        '  queue = ADDRESS | overflow: violated',
        '    state | overflow',
        '    room | 12',
        '    letters | 12',
        '    digits | 3',
    ]);
    assert.match(lines[6], /^ {4}path \| the last \d+ steps$/);
    assert.match(lines[7], /^ {6}27 \| .*ready -> overflow/);
    assert.ok(lines.some((line) => line === '  queue = ADDRESS | ready: presumably satisfied'), lines.join('\n'));

    // The program goes on to its end; the tree keeps what it knew.
    await client.ask('continue', { threadId: stop.threadId });
    await client.event('terminated');
    const [node] = await seen.tree.getChildren();
    assert.deepStrictEqual([node.label, node.verdict], ['queue_bounds', 'violated']);
    assert.strictEqual(await client.leave(), 0);
    seen.end(session);
    seen.deactivate();
});

test('with stateChanges the tree is that of the events', async () => {
    const { seen, client, session } = await begin({ stateChanges: true });
    const stop = await client.event('stopped');
    const changes = client.messages.filter((it) => it.event === 'juror/monitor');
    assert.strictEqual(changes.length, 27);
    await client.ask('continue', { threadId: stop.threadId });
    await client.event('terminated');
    const lines = plain(await shown(seen.tree));
    assert.deepStrictEqual(lines.slice(0, 3), [
        'queue_bounds | violated',
        '  queue = ADDRESS | overflow: violated',
        '    state | overflow',
    ]);
    assert.strictEqual(await client.leave(), 0);
    seen.end(session);
    seen.deactivate();
});

test('a property is added to a session that has none', async () => {
    const { seen, client, session } = await begin({ properties: [], stopOnEntry: true });
    await client.event('stopped');
    seen.answers = [[seen.vscode.Uri.file(property)]];
    await seen.commands.get('juror.addProperty')();
    assert.deepStrictEqual(seen.errors, []);
    assert.match(seen.console.join('\n'), /queue_bounds/);
    await client.ask('continue', { threadId: 1 });
    const stop = await client.event('stopped');
    assert.deepStrictEqual([stop.reason, stop.text], ['exception', 'queue_bounds']);
    const [node] = await seen.tree.getChildren();
    assert.deepStrictEqual([node.label, node.verdict], ['queue_bounds', 'violated']);
    assert.strictEqual(await client.leave(), 0);
    seen.end(session);
    seen.deactivate();
});
