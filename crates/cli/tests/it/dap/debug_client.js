// Drives an adapter by VS Code's test client, and prints what it saw as JSON.
'use strict';
const { DebugClient } = require('@vscode/debugadapter-testsupport');
const { spawn } = require('child_process');
const assert = require('assert');

const [juror, program, property, source] = process.argv.slice(2);

/** Runs a session with an adapter of its own. */
async function session(drive) {
    const adapter = spawn(juror, ['dap'], { stdio: ['pipe', 'pipe', 'inherit'] });
    const ended = new Promise((resolve) => adapter.on('exit', resolve));
    const client = new DebugClient('', '', 'juror');
    client.defaultTimeout = 60000;
    client.connect(adapter.stdout, adapter.stdin);
    try {
        await drive(client);
        await client.disconnectRequest();
        assert.strictEqual(await ended, 0);
    } finally {
        adapter.kill();
    }
}

async function toTheViolation(client) {
    const launch = { program, properties: [property] };
    await client.hitBreakpoint(launch, { path: source, line: 30 });
    const stack = await client.stackTraceRequest({ threadId: 1 });
    const frame = stack.body.stackFrames[0];
    const value = await client.evaluateRequest({
        expression: 'i', frameId: frame.id, context: 'watch',
    });
    assert.strictEqual(value.body.result, '0');
    await client.setBreakpointsRequest({ source: { path: source }, breakpoints: [] });
    const violation = client.assertStoppedLocation('exception', { path: /queue\.c$/ });
    await client.continueRequest({ threadId: 1 });
    await violation;
    const info = await client.exceptionInfoRequest({ threadId: 1 });
    assert.strictEqual(info.body.exceptionId, 'property:queue_bounds');
}

async function toTheEnd(client) {
    await Promise.all([
        client.configurationSequence(),
        client.launch({ program }),
        client.assertOutput('stdout', '2 eggs, 1 ham: letters eggsham, digits 21\n', 60000),
        client.waitForEvent('terminated'),
    ]);
}

async function main() {
    await session(toTheViolation);
    await session(toTheEnd);
    console.log('both sessions are over');
}

main().catch((error) => {
    console.error(error);
    process.exit(1);
});
