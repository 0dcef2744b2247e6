// A module that plays the part of VS Code: it keeps what the extension registers, and answers its
// questions as the test says. It has only what the extension uses; anything else is an error.
'use strict';

const Module = require('node:module');
const path = require('node:path');

/** An event, as VS Code's `EventEmitter`. */
class EventEmitter {
    constructor() {
        this.listeners = new Set();
        this.event = (listener) => {
            this.listeners.add(listener);
            return { dispose: () => this.listeners.delete(listener) };
        };
    }

    fire(value) {
        [...this.listeners].forEach((listener) => listener(value));
    }

    dispose() {
        this.listeners.clear();
    }
}

class Uri {
    constructor(text) {
        this.text = text;
    }

    static file(file) {
        return new Uri(`file://${file}`);
    }

    static parse(text) {
        return new Uri(text);
    }

    get fsPath() {
        return this.text.replace(/^file:\/\//, '');
    }

    toString() {
        return this.text;
    }
}

class TreeItem {
    constructor(label, collapsibleState) {
        this.label = label;
        this.collapsibleState = collapsibleState;
    }
}

/** Returns an object that has nothing but these members: others are an error, and not undefined. */
function strict(name, members) {
    return new Proxy(members, {
        get(target, member) {
            if (!(member in target) && typeof member === 'string' && member !== 'then') {
                throw new Error(`vscode${name}.${member} is not played`);
            }
            return target[member];
        },
    });
}

/** Creates the module, and what a test sees of it. */
function create() {
    const seen = {
        commands: new Map(), factories: {}, trackers: {}, providers: [], trees: new Map(), errors: [],
        debugged: [], terminals: [], panels: [], stopped: [], console: [], asked: [], executed: [],
        /** The settings, the answers to questions in order, and the open document. */
        settings: {}, answers: [],
    };
    const terminated = new EventEmitter();
    const activeChanged = new EventEmitter();
    const frameChosen = new EventEmitter();
    const disposable = { dispose() {} };
    const ask = async (kind, options) => {
        seen.asked.push({ kind, options });
        return seen.answers.shift();
    };
    const debug = strict('.debug', {
        activeDebugSession: undefined,
        activeDebugConsole: { appendLine: (line) => seen.console.push(line) },
        registerDebugAdapterDescriptorFactory(type, factory) {
            seen.factories[type] = factory;
            return disposable;
        },
        registerDebugAdapterTrackerFactory(type, factory) {
            seen.trackers[type] = factory;
            return disposable;
        },
        registerDebugConfigurationProvider(type, provider, trigger) {
            seen.providers.push({ type, provider, trigger });
            return disposable;
        },
        onDidTerminateDebugSession: terminated.event,
        onDidChangeActiveDebugSession: activeChanged.event,
        onDidChangeActiveStackItem: frameChosen.event,
        async startDebugging(folder, configuration) {
            seen.debugged.push({ folder, configuration });
            return true;
        },
        stopDebugging: async (session) => seen.stopped.push(session),
    });
    const window = strict('.window', {
        activeTextEditor: undefined,
        registerTreeDataProvider(id, provider) {
            seen.trees.set(id, provider);
            return disposable;
        },
        async showErrorMessage(message) {
            seen.errors.push(message);
        },
        showQuickPick: async (items) => {
            const answer = await ask('pick', items);
            return answer && items.find((item) => item.label.startsWith(answer));
        },
        showOpenDialog: (options) => ask('open', options),
        createTerminal(options) {
            const terminal = { options, show() {} };
            seen.terminals.push(terminal);
            return terminal;
        },
        createWebviewPanel(type, title, column, options) {
            const panel = { type, title, options, webview: { html: '' } };
            seen.panels.push(panel);
            return panel;
        },
    });
    const vscode = strict('', {
        EventEmitter, Uri, TreeItem, debug, window,
        ThemeIcon: class { constructor(id, color) { Object.assign(this, { id, color }); } },
        ThemeColor: class { constructor(id) { this.id = id; } },
        TreeItemCollapsibleState: { None: 0, Collapsed: 1, Expanded: 2 },
        DebugConfigurationProviderTriggerKind: { Initial: 1, Dynamic: 2 },
        ViewColumn: { Beside: -2 },
        DebugAdapterExecutable: class {
            constructor(command, args, options) { Object.assign(this, { command, args, options }); }
        },
        commands: strict('.commands', {
            executeCommand: async (name) => seen.executed.push(name),
            registerCommand(name, run) {
                seen.commands.set(name, run);
                return disposable;
            },
        }),
        env: strict('.env', { asExternalUri: async (uri) => uri }),
        workspace: strict('.workspace', {
            getConfiguration: (section) => ({
                get: (name, byDefault) => seen.settings[`${section}.${name}`] ?? byDefault,
            }),
            getWorkspaceFolder: () => undefined,
        }),
    });
    seen.vscode = vscode;
    /** Opens a document in the editor. */
    seen.open = (file, languageId) => {
        const document = { uri: Uri.file(file), languageId, isDirty: false };
        window.activeTextEditor = { document };
    };
    /** Chooses a frame. */
    seen.choose = (frame) => frameChosen.fire(frame);
    /** Begins a session. Returns it, and what takes the messages of its adapter. */
    seen.begin = (configuration, customRequest) => {
        const id = String(Math.random());
        const session = { id, type: 'juror', configuration, customRequest };
        const tracker = seen.trackers.juror.createDebugAdapterTracker(session);
        debug.activeDebugSession = session;
        activeChanged.fire(session);
        return { session, tracker };
    };
    seen.end = (session) => {
        debug.activeDebugSession = undefined;
        terminated.fire(session);
    };
    return seen;
}

/** Activates the extension in a fresh module. Returns what a test sees of it. */
function activate() {
    const seen = create();
    const directory = path.resolve(__dirname, '..');
    const load = Module._load;
    for (const file of Object.keys(require.cache)) {
        if (file.startsWith(path.join(directory, 'src')) || file === path.join(directory, 'extension.js')) {
            delete require.cache[file];
        }
    }
    Module._load = (request, ...rest) => (request === 'vscode' ? seen.vscode : load(request, ...rest));
    try {
        seen.extension = require('../extension.js');
    } finally {
        Module._load = load;
    }
    const memory = new Map();
    seen.context = {
        subscriptions: [],
        workspaceState: {
            get: (key, byDefault) => memory.get(key) ?? byDefault,
            update: async (key, value) => memory.set(key, value),
        },
    };
    seen.extension.activate(seen.context);
    seen.deactivate = () => seen.context.subscriptions.forEach((it) => it.dispose());
    seen.tree = seen.trees.get('juror.monitors');
    return seen;
}

/** Returns the tree below a node as it is shown: lines that are indented by their depth. */
async function shown(tree, node, depth = 0) {
    const lines = [];
    for (const child of await tree.getChildren(node)) {
        const item = tree.getTreeItem(child);
        lines.push(`${'  '.repeat(depth)}${item.label} | ${item.description}`);
        lines.push(...await shown(tree, child, depth + 1));
    }
    return lines;
}

module.exports = { activate, shown };
