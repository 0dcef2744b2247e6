// The commands.
'use strict';

const vscode = require('vscode');
const { openDocument } = require('./configuration');
const { openPage } = require('./page');
const { processes } = require('./processes');

/** Registers the commands. Returns what undoes that. */
function registerCommands(sessions, configurations) {
    const commands = {
        'juror.debugFile': () => debugFile(configurations),
        'juror.addProperty': () => addProperty(sessions),
        'juror.openPage': () => openPage(sessions.active(), configurations),
        'juror.pickProcess': pickProcess,
    };
    const all = Object.entries(commands);
    return all.map(([name, run]) => vscode.commands.registerCommand(name, run));
}

/** Debugs a program with the file that is open. */
async function debugFile(configurations) {
    const document = openDocument();
    if (document !== undefined && document.isDirty) {
        await document.save();
    }
    const configuration = await configurations.ofDocument(document);
    if (configuration === undefined) {
        return false;
    }
    const folder = vscode.workspace.getWorkspaceFolder(document.uri);
    return vscode.debug.startDebugging(folder, configuration);
}

/** Adds a file of properties to the session. */
async function addProperty(sessions) {
    const state = sessions.active();
    if (state === undefined) {
        vscode.window.showErrorMessage('No program is being debugged with juror.');
        return;
    }
    const document = openDocument();
    const chosen = await vscode.window.showOpenDialog({
        title: 'The properties to add',
        openLabel: 'Add',
        canSelectMany: false,
        filters: { 'juror properties': ['prop'] },
        defaultUri: document && document.uri,
    });
    if (chosen === undefined || chosen.length === 0) {
        return;
    }
    // All of the line behind `add` is the name of the file.
    const expression = `property add ${chosen[0].fsPath}`;
    try {
        const answer = await state.session.customRequest('evaluate', { expression, context: 'repl' });
        vscode.debug.activeDebugConsole.appendLine(answer.result.trimEnd());
        sessions.changed();
    } catch (error) {
        vscode.window.showErrorMessage(`The property was not added: ${error.message}`);
    }
}

/** Asks for a process. Returns its number as a launch configuration has it. */
async function pickProcess() {
    const chosen = await vscode.window.showQuickPick(processes(), {
        title: 'The process to attach to',
        matchOnDescription: true,
        matchOnDetail: true,
    });
    return chosen && chosen.description;
}

module.exports = { registerCommands };
