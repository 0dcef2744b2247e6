// The live page: in a panel if the adapter tells its address, else by `juror run --web`.
'use strict';

const vscode = require('vscode');
const { executable } = require('./adapter');
const { openDocument } = require('./configuration');

/** Opens the live page of a session; without a session, of a run with the file that is open. */
async function openPage(state, configurations) {
    if (state !== undefined && state.page !== undefined) {
        return showPanel(state.page);
    }
    let configuration = state && state.session.configuration;
    if (configuration === undefined) {
        configuration = await configurations.ofDocument(openDocument());
    }
    if (configuration === undefined) {
        return undefined;
    }
    if (configuration.program === undefined) {
        vscode.window.showErrorMessage('The page of an attached process is shown by `juror attach --web`.');
        return undefined;
    }
    // The adapter has no page: another run has one.
    const terminal = vscode.window.createTerminal({
        name: 'juror --web',
        shellPath: executable(state && state.session),
        shellArgs: webArguments(configuration),
        cwd: configuration.cwd,
    });
    terminal.show();
    return terminal;
}

/** Returns the arguments of `juror` that run a program with its page. */
function webArguments(configuration) {
    const of = (option, files) => (files || []).flatMap((file) => [option, file]);
    return [
        'run',
        '--web',
        ...of('--property', configuration.properties),
        ...of('--scenario', configuration.scenarios),
        configuration.program,
        ...(configuration.args || []),
    ];
}

/** Shows the page at an address beside the editor. */
async function showPanel(address) {
    // On another machine the port is reached through the editor's connection.
    const outer = await vscode.env.asExternalUri(vscode.Uri.parse(address));
    const panel = vscode.window.createWebviewPanel(
        'juror.page',
        'juror',
        { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true },
        { enableScripts: true, retainContextWhenHidden: true },
    );
    panel.webview.html = html(outer.toString(true));
    return panel;
}

/** Returns a document that consists of the page. */
function html(address) {
    const origin = new URL(address).origin;
    const text = address.replace(/&/g, '&amp;').replace(/"/g, '&quot;').replace(/</g, '&lt;');
    return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy"
    content="default-src 'none'; frame-src ${origin}; style-src 'unsafe-inline'">
<style>html, body, iframe { margin: 0; border: 0; padding: 0; width: 100%; height: 100vh; }</style>
<title>juror</title>
</head>
<body><iframe src="${text}" title="The live page of juror"></iframe></body>
</html>
`;
}

module.exports = { html, openPage, webArguments };
