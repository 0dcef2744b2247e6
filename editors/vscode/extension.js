// The extension: registers what the modules in src/ provide.
'use strict';

const vscode = require('vscode');
const { AdapterFactory, TYPE } = require('./src/adapter');
const { Configurations } = require('./src/configuration');
const { registerCommands } = require('./src/commands');
const { followFocus } = require('./src/focus');
const { MonitorTree } = require('./src/monitors/tree');
const { Sessions } = require('./src/sessions');

/** Registers the debugger, the tree of monitors, and the commands. */
function activate(context) {
    const sessions = new Sessions();
    const configurations = new Configurations(context.workspaceState);
    const tree = new MonitorTree(sessions);
    context.subscriptions.push(
        vscode.debug.registerDebugAdapterDescriptorFactory(TYPE, new AdapterFactory()),
        vscode.debug.registerDebugConfigurationProvider(TYPE, configurations),
        vscode.debug.registerDebugConfigurationProvider(
            TYPE,
            configurations.suggestions(),
            vscode.DebugConfigurationProviderTriggerKind.Dynamic,
        ),
        vscode.debug.registerDebugAdapterTrackerFactory(TYPE, sessions),
        vscode.debug.onDidTerminateDebugSession((session) => sessions.forget(session)),
        vscode.debug.onDidChangeActiveDebugSession(() => sessions.changed()),
        followFocus(sessions),
        vscode.window.registerTreeDataProvider('juror.monitors', tree),
        ...registerCommands(sessions, configurations),
        sessions,
        tree,
    );
}

/** Has nothing to do: what was registered is disposed of by VS Code. */
function deactivate() {}

module.exports = { activate, deactivate };
