// The command line of the adapter.
'use strict';

const fs = require('fs');
const vscode = require('vscode');

/** The type of the debugger in launch configurations. */
const TYPE = 'juror';

/** Returns the executable that the settings name. */
function executable(session) {
    const scope = session && session.workspaceFolder;
    const path = vscode.workspace.getConfiguration('juror', scope).get('path', 'juror');
    return path.trim() === '' ? 'juror' : path;
}

/** Starts `juror dap`, which speaks the protocol on its standard input and output. */
class AdapterFactory {
    createDebugAdapterDescriptor(session) {
        // A program with a relative path is looked for where its properties are.
        const folder = session.workspaceFolder && session.workspaceFolder.uri.fsPath;
        const wanted = session.configuration.cwd || folder;
        // In a directory that is not there nothing can be started; the adapter says what is wrong.
        const options = wanted && fs.existsSync(wanted) ? { cwd: wanted } : {};
        return new vscode.DebugAdapterExecutable(executable(session), ['dap'], options);
    }
}

module.exports = { AdapterFactory, TYPE, executable };
