// The extension in a module that plays the part of VS Code.
'use strict';

const assert = require('node:assert');
const fs = require('node:fs');
const path = require('node:path');
const test = require('node:test');
const { activate, shown } = require('./fake-vscode');
const { repository } = require('./keywords');

const description = require('../package.json');
const contributes = description.contributes;

/** Fields of the adapter that a user has no need to write, and why. */
const OTHER_FIELDS = {
    noDebug: 'VS Code sets it',
    processId: 'another word for pid',
    nameOfProcess: 'another word for program',
};

test('what package.json names is registered, and nothing else', () => {
    const seen = activate();
    const palette = contributes.commands.map((it) => it.command);
    const picked = Object.values(contributes.debuggers[0].variables);
    assert.deepStrictEqual([...seen.commands.keys()].sort(), [...palette, ...picked].sort());
    assert.deepStrictEqual([...seen.trees.keys()], contributes.views.debug.map((it) => it.id));
    const [{ type }] = contributes.debuggers;
    assert.deepStrictEqual(Object.keys(seen.factories), [type]);
    assert.deepStrictEqual(Object.keys(seen.trackers), [type]);
    assert.deepStrictEqual(seen.providers.map((it) => [it.type, it.trigger]), [[type, undefined], [type, 2]]);
    seen.deactivate();
});

test('the files that package.json names are there', () => {
    const files = [
        description.main,
        ...contributes.languages.map((it) => it.configuration),
        ...contributes.grammars.map((it) => it.path),
    ];
    for (const file of files) {
        assert.ok(fs.existsSync(path.join(__dirname, '..', file)), file);
    }
    assert.deepStrictEqual(description.dependencies, undefined);
});

const fieldsOfAdapter = path.join(repository, 'crates/dap/src/protocol/arguments.rs');
const withoutAdapter = !fs.existsSync(fieldsOfAdapter) && 'the repository has no adapter';

test('the fields of launch configurations are those of the adapter', { skip: withoutAdapter }, () => {
    const source = fs.readFileSync(fieldsOfAdapter, 'utf8');
    const start = source.split('pub struct Start {')[1].split('\n}')[0];
    const camel = (name) => name.replace(/_(\w)/g, (_, letter) => letter.toUpperCase());
    const known = [...start.matchAll(/pub (\w+):/g)].map(([, name]) => camel(name));
    assert.ok(known.length > 10, source);
    const { launch, attach } = contributes.debuggers[0].configurationAttributes;
    const described = new Set([launch, attach].flatMap((it) => Object.keys(it.properties)));
    const missing = known.filter((name) => !described.has(name) && !(name in OTHER_FIELDS));
    assert.deepStrictEqual(missing, [], 'not described');
    assert.deepStrictEqual([...described].filter((name) => !known.includes(name)), [], 'unknown to the adapter');
});

test('the adapter is the executable of the settings with `dap`', () => {
    const seen = activate();
    const factory = seen.factories.juror;
    const of = (configuration) => {
        const { command, args, options } = factory.createDebugAdapterDescriptor({ configuration });
        return [command, args, options];
    };
    assert.deepStrictEqual(of({}), ['juror', ['dap'], {}]);
    seen.settings['juror.path'] = '/opt/juror/bin/juror';
    assert.deepStrictEqual(of({ cwd: __dirname }), ['/opt/juror/bin/juror', ['dap'], { cwd: __dirname }]);
    assert.deepStrictEqual(of({ cwd: '/nowhere/at/all' })[2], {});
    seen.deactivate();
});

test('an adapter that cannot be started is told, and its session ends', () => {
    const seen = activate();
    seen.settings['juror.path'] = 'no-such-juror';
    const { session, tracker } = seen.begin({});
    tracker.onError(new Error('spawn no-such-juror ENOENT'));
    assert.match(seen.errors.join(), /^`no-such-juror` cannot be started: .* juror\.path/);
    assert.deepStrictEqual(seen.stopped, [session]);

    // One that has answered has its own words.
    seen.errors.length = 0;
    tracker.onDidSendMessage({ type: 'response', command: 'initialize', success: true });
    tracker.onError(new Error('read error'));
    assert.deepStrictEqual(seen.errors, []);
});

test('properties of the settings are for configurations that name none', async () => {
    const seen = activate();
    seen.settings['juror.properties'] = ['${workspaceFolder}/a.prop'];
    const { provider } = seen.providers[0];
    const resolve = (given) => provider.resolveDebugConfiguration({}, { type: 'juror', request: 'launch', ...given });
    assert.deepStrictEqual((await resolve({ program: 'a' })).properties, ['${workspaceFolder}/a.prop']);
    assert.deepStrictEqual((await resolve({ properties: [] })).properties, []);
    assert.strictEqual((await resolve({ request: 'attach', coreFile: 'core' })).properties, undefined);
    assert.strictEqual((await resolve({})).cwd, '${workspaceFolder}');
    assert.strictEqual((await resolve({ cwd: '/tmp' })).cwd, '/tmp');
    seen.deactivate();
});

test('a program is debugged with the file that is open, and remembered', async () => {
    const seen = activate();
    const debug = seen.commands.get('juror.debugFile');
    await debug();
    assert.strictEqual(seen.errors.length, 1, 'no file is open');
    seen.open('/project/queue.prop', 'juror-property');
    seen.answers = [[seen.vscode.Uri.file('/project/build/queue')]];
    assert.strictEqual(await debug(), true);
    const [{ configuration }] = seen.debugged;
    assert.deepStrictEqual(configuration, {
        type: 'juror', request: 'launch', name: 'queue with queue.prop', program: '/project/build/queue',
        cwd: '/project/build', properties: ['/project/queue.prop'],
    });
    // The second time it is offered.
    seen.answers = ['/project/build/queue'];
    await debug();
    assert.strictEqual(seen.debugged[1].configuration.program, '/project/build/queue');
    assert.deepStrictEqual(seen.asked.map((it) => it.kind), ['open', 'pick']);
    // Another one replaces it; to choose nothing starts nothing.
    seen.answers = ['Another', [seen.vscode.Uri.file('/other')], undefined];
    await debug();
    assert.strictEqual(seen.debugged[2].configuration.program, '/other');
    assert.strictEqual(await debug(), false);
    assert.strictEqual(seen.debugged.length, 3);
    // F5 without a launch.json asks the same, and the list of configurations has it.
    seen.answers = ['/other'];
    const resolved = await seen.providers[0].provider.resolveDebugConfiguration(undefined, {});
    assert.strictEqual(resolved.program, '/other');
    const [offered] = await seen.providers[1].provider.provideDebugConfigurations();
    assert.deepStrictEqual(offered, resolved);
    seen.open('/project/main.c', 'c');
    assert.strictEqual(await seen.providers[0].provider.resolveDebugConfiguration(undefined, {}), null);
    assert.deepStrictEqual(await seen.providers[1].provider.provideDebugConfigurations(), []);
    seen.open('/project/rows.scn', 'juror-scenario');
    seen.answers = [[seen.vscode.Uri.file('/project/rows')]];
    await debug();
    const last = seen.debugged[3].configuration;
    assert.deepStrictEqual([last.scenarios, last.properties], [['/project/rows.scn'], []]);
    seen.deactivate();
});

/** Returns messages with some state changes and the violation of a run of the example with the queue. */
function recorded() {
    const text = fs.readFileSync(path.join(__dirname, 'events.jsonl'), 'utf8');
    return text.trim().split('\n').map((line) => JSON.parse(line));
}

test('the tree follows the events of a running program, the violated slice first', async () => {
    const seen = activate();
    const { session, tracker } = seen.begin({}, async () => assert.fail('nothing is asked'));
    const events = recorded().filter((it) => it.event !== 'stopped');
    const [verdict] = events.filter((it) => it.event === 'juror/verdict');
    const changes = events.filter((it) => it.event === 'juror/monitor');
    changes.slice(0, 3).forEach((event) => tracker.onDidSendMessage(event));
    assert.deepStrictEqual(await shown(seen.tree), [
        'queue_bounds | presumably satisfied',
        '  queue = 0x5555555592a0 | ready: presumably satisfied',
        '    state | ready',
        '  queue = 0x5555555592e0 | ready: presumably satisfied',
        '    state | ready',
    ]);
    changes.slice(3).forEach((event) => tracker.onDidSendMessage(event));
    tracker.onDidSendMessage(verdict);
    assert.deepStrictEqual(await shown(seen.tree), [
        'queue_bounds | violated',
        '  queue = 0x5555555592e0 | overflow: violated',
        '    state | overflow',
        '    room | 12',
        '    letters | 12',
        '    digits | 3',
        '  queue = 0x5555555592a0 | ready: presumably satisfied',
        '    state | ready',
    ]);
    const [property] = await seen.tree.getChildren();
    const item = seen.tree.getTreeItem(property);
    assert.strictEqual(item.collapsibleState, seen.vscode.TreeItemCollapsibleState.Expanded);
    assert.strictEqual(item.iconPath.id, 'error');
    seen.end(session);
    assert.deepStrictEqual(await shown(seen.tree), []);
    seen.deactivate();
});

/** Answers as the adapter of a program that has stopped, with a property of `count` slices. */
function stoppedAdapter(count, asked) {
    const slices = Array.from({ length: count }, (_, index) => ({
        name: `p = ${index}`, value: index === 0 ? 'bad: violated' : 'ready: presumably satisfied',
        variablesReference: 100 + index,
    }));
    return async (command, body) => {
        asked.push([command, body]);
        switch (command) {
            case 'stackTrace': return { stackFrames: [{ id: 7 }] };
            case 'scopes': return { scopes: [
                { name: 'Locals', variablesReference: 1 }, { name: 'Monitors', variablesReference: 2 },
            ] };
            case 'variables': break;
            default: throw new Error(command);
        }
        const { variablesReference: reference, start = 0, count: wanted = slices.length } = body;
        if (reference === 2) {
            return { variables: [
                { name: 'calm', value: 'presumably satisfied', variablesReference: 4 },
                { name: 'slots', value: `violated, ${count} slices`, variablesReference: 3, indexedVariables: count },
            ] };
        }
        if (reference === 3) {
            return { variables: slices.slice(start, start + wanted) };
        }
        return { variables: [{ name: 'state', value: `of ${reference}`, variablesReference: 0 }] };
    };
}

test('while the program is stopped the tree is the scope of the monitors, by pages', async () => {
    const seen = activate();
    const asked = [];
    const { tracker } = seen.begin({}, stoppedAdapter(250, asked));
    tracker.onDidSendMessage({ type: 'event', event: 'stopped', body: { threadId: 3 } });
    const properties = await seen.tree.getChildren();
    assert.deepStrictEqual(properties.map((it) => it.label), ['slots', 'calm'], 'the violated first');
    assert.deepStrictEqual(asked[0], ['stackTrace', { threadId: 3, levels: 1 }]);
    const first = await seen.tree.getChildren(properties[0]);
    assert.strictEqual(first.length, 101);
    assert.deepStrictEqual([first[0].verdict, first[1].verdict], ['violated', 'presumably satisfied']);
    assert.strictEqual(first[100].label, '150 more');
    const second = await seen.tree.getChildren(first[100]);
    assert.deepStrictEqual([second[0].label, second[100].label], ['p = 100', '50 more']);
    const third = await seen.tree.getChildren(second[100]);
    assert.deepStrictEqual([third.length, third[49].label], [50, 'p = 249']);
    assert.deepStrictEqual(await shown(seen.tree, third[49]), ['state | of 349']);
    // A property without slices has its state at once.
    assert.deepStrictEqual(await shown(seen.tree, properties[1]), ['state | of 4']);
    seen.deactivate();
});

test('an exception is shown although the view of the call stack asks for its frames, too', () => {
    const seen = activate();
    const { session, tracker } = seen.begin({});
    const stop = (reason) =>
        tracker.onDidSendMessage({ type: 'event', event: 'stopped', body: { reason, threadId: 3 } });
    const ask = (more) => tracker.onWillReceiveMessage({
        type: 'request', command: 'stackTrace', arguments: { threadId: 3, startFrame: 0, ...more },
    });
    const choose = (more) => seen.choose({ session, threadId: 3, frameId: 7, ...more });
    const [first, others] = [() => ask(), () => ask({ startFrame: 1 })];
    for (const [reason, steps, expected] of [
        ['exception', [first, choose, others], 0],
        ['exception', [first, () => ask({ threadId: 2 }), choose], 0],
        ['exception', [first, first, () => choose({ frameId: undefined }), () => choose({ threadId: 2 })], 0],
        ['step', [first, first, choose, others], 0],
        // The frame was replaced before it was chosen, or it is replaced after that.
        ['exception', [first, first, choose, choose, others, choose], 2],
        ['exception', [first, choose, first, others, choose], 1],
        ['exception', [first, first, others, choose, choose], 1],
        // The user has chosen another frame.
        ['exception', [first, choose, first, () => choose({ frameId: 8 }), others], 0],
        ['exception', [first, first, choose, choose, () => choose({ frameId: 8 }), others], 1],
    ]) {
        seen.executed.length = 0;
        stop(reason);
        steps.forEach((step) => step());
        assert.deepStrictEqual(seen.executed, Array(expected).fill('workbench.action.debug.callStackTop'));
    }
    seen.choose({ session: { id: 'another', type: 'node' }, threadId: 3, frameId: 7 });
    seen.choose(undefined);
    seen.deactivate();
});

test('a request that resumes the program ends the questions', async () => {
    for (const message of [
        { type: 'response', success: true, command: 'continue' },
        { type: 'event', event: 'continued', body: {} },
        { type: 'event', event: 'terminated' },
    ]) {
        const seen = activate();
        const asked = [];
        const { tracker } = seen.begin({}, stoppedAdapter(1, asked));
        tracker.onDidSendMessage({ type: 'event', event: 'stopped', body: { threadId: 1 } });
        await seen.tree.getChildren();
        const before = asked.length;
        assert.ok(before > 0);
        tracker.onDidSendMessage({ type: 'response', success: false, command: 'continue' });
        await seen.tree.getChildren();
        assert.ok(asked.length > before, 'a refused request changes nothing');
        const after = asked.length;
        tracker.onDidSendMessage(message);
        // The data from the scope stays.
        const nodes = await seen.tree.getChildren();
        assert.deepStrictEqual(nodes.map((it) => [it.label, it.verdict]), [
            ['slots', 'violated'], ['calm', 'presumably satisfied'],
        ]);
        assert.strictEqual(asked.length, after, JSON.stringify(message));
        seen.deactivate();
    }
});

test('an adapter that refuses leaves what the events have told', async () => {
    const seen = activate();
    const refuse = async () => { throw new Error('notStopped'); };
    const { tracker } = seen.begin({}, refuse);
    recorded().forEach((event) => tracker.onDidSendMessage(event));
    const [property] = await seen.tree.getChildren();
    assert.deepStrictEqual([property.label, property.verdict], ['queue_bounds', 'violated']);
    assert.deepStrictEqual(await seen.tree.getChildren({ children: refuse }), []);
    seen.deactivate();
});

test('the slices that are remembered are limited, and violated ones stay', () => {
    activate().deactivate();
    const { Monitors, SLICES_MAX } = require('../src/monitors/model');
    const monitors = new Monitors();
    const change = (value, verdict) => monitors.changed({
        property: 'p', slice: [{ name: 'x', value }], to: 'there', verdict,
    });
    change(-1, 'violated');
    for (let value = 0; value < 2 * SLICES_MAX; value += 1) {
        change(value, 'presumably_satisfied');
    }
    const { slices, verdict } = monitors.property('p');
    assert.strictEqual(slices.size, SLICES_MAX);
    assert.ok(slices.has('x = -1') && slices.has(`x = ${2 * SLICES_MAX - 1}`) && !slices.has('x = 0'));
    assert.strictEqual(verdict, 'violated');
});

test('a property is added by the command of the prompt', async () => {
    const seen = activate();
    const add = seen.commands.get('juror.addProperty');
    await add();
    assert.strictEqual(seen.errors.length, 1, 'there is no session');
    const asked = [];
    seen.begin({}, async (command, body) => {
        asked.push([command, body]);
        return { result: 'p is monitored from now on' };
    });
    seen.answers = [[seen.vscode.Uri.file('/a project/p.prop')], undefined];
    await add();
    await add();
    const expected = { expression: 'property add /a project/p.prop', context: 'repl' };
    assert.deepStrictEqual(asked, [['evaluate', expected]]);
    assert.deepStrictEqual(seen.console, ['p is monitored from now on']);
    seen.begin({}, async () => { throw new Error('p.prop:1: an error'); });
    seen.answers = [[seen.vscode.Uri.file('/p.prop')]];
    await add();
    assert.match(seen.errors[1], /p\.prop:1: an error/);
    seen.deactivate();
});

test('the page is in a panel if the adapter has one, else in a run of its own', async () => {
    const seen = activate();
    const open = seen.commands.get('juror.openPage');
    const configuration = {
        program: './queue', args: ['--size', '8'], cwd: '/project', properties: ['a.prop', 'b.prop'], scenarios: ['c.scn'],
    };
    const { tracker } = seen.begin(configuration, undefined);
    await open();
    const [{ options }] = seen.terminals;
    assert.deepStrictEqual(options.shellArgs, [
        'run', '--web', '--property', 'a.prop', '--property', 'b.prop', '--scenario', 'c.scn', './queue', '--size', '8',
    ]);
    assert.deepStrictEqual([options.shellPath, options.cwd], ['juror', '/project']);
    tracker.onDidSendMessage({
        type: 'event', event: 'juror/page', body: { address: 'http://127.0.0.1:4000/#token"<' },
    });
    await open();
    assert.strictEqual(seen.terminals.length, 1);
    const { html } = seen.panels[0].webview;
    assert.ok(html.includes('<iframe src="http://127.0.0.1:4000/#token&quot;&lt;"'), html);
    assert.ok(html.includes('frame-src http://127.0.0.1:4000;'), html);
    seen.deactivate();
});

test('a process is chosen by its number', async () => {
    const seen = activate();
    seen.answers = [path.basename(process.argv[0])];
    const number = await seen.commands.get('juror.pickProcess')();
    const [{ options }] = seen.asked;
    assert.ok(options.some((it) => it.description === String(process.pid)), 'this process is among them');
    assert.match(number, /^[0-9]+$/);
    seen.deactivate();
});
