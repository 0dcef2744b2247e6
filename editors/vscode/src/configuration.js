// Launch configurations: what is added to the user's, and those for a file that is open.
'use strict';

const path = require('path');
const vscode = require('vscode');
const { TYPE } = require('./adapter');

/** The field of a launch configuration for a file of a language. */
const FIELD_OF = { 'juror-property': 'properties', 'juror-scenario': 'scenarios' };

/** The key of the programs that were chosen, by the file that they are debugged with. */
const PROGRAMS = 'juror.programs';

/** Returns the document in the editor, if it is a file of properties or scenarios. */
function openDocument() {
    const editor = vscode.window.activeTextEditor;
    const document = editor && editor.document;
    return document && document.languageId in FIELD_OF ? document : undefined;
}

/** Completes launch configurations. */
class Configurations {
    constructor(memory) {
        this.memory = memory;
    }

    /**
     * Adds what the settings say. Without a configuration, debugs with the file that is open; null
     * lets the user write one.
     */
    async resolveDebugConfiguration(folder, configuration) {
        if (!configuration.type && !configuration.request) {
            const document = openDocument();
            return document === undefined ? null : this.ofDocument(document);
        }
        // A core file has no events.
        if (configuration.properties === undefined && configuration.coreFile === undefined) {
            const settings = vscode.workspace.getConfiguration('juror', folder);
            const files = settings.get('properties', []);
            if (files.length > 0) {
                configuration.properties = [...files];
            }
        }
        if (configuration.cwd === undefined && folder) {
            configuration.cwd = '${workspaceFolder}';
        }
        return configuration;
    }

    /** Returns the provider of configurations that a user may choose without a `launch.json`. */
    suggestions() {
        return { provideDebugConfigurations: () => this.ofOpenFile() };
    }

    async ofOpenFile() {
        const document = openDocument();
        const program = document && this.remembered(document);
        return program ? [configurationOf(document, program)] : [];
    }

    /** Returns a configuration for a file of properties or scenarios. Asks for the program. */
    async ofDocument(document) {
        if (document === undefined) {
            vscode.window.showErrorMessage(
                'juror needs a launch configuration, or a .prop or .scn file in the editor.',
            );
            return undefined;
        }
        const program = await this.programFor(document);
        return program === undefined ? undefined : configurationOf(document, program);
    }

    remembered(document) {
        return this.memory.get(PROGRAMS, {})[document.uri.toString()];
    }

    /** Returns the program to debug with a file: the remembered one, or one that the user chooses. */
    async programFor(document) {
        const known = this.remembered(document);
        if (known !== undefined) {
            const other = { label: 'Another program…' };
            const same = { label: known };
            const title = `The program to debug with ${path.basename(document.uri.fsPath)}`;
            const chosen = await vscode.window.showQuickPick([same, other], { title });
            if (chosen === undefined || chosen.label === known) {
                return chosen && known;
            }
        }
        const chosen = await vscode.window.showOpenDialog({
            title: 'The program to debug',
            openLabel: 'Debug',
            canSelectMany: false,
            defaultUri: vscode.Uri.file(path.dirname(document.uri.fsPath)),
        });
        if (chosen === undefined || chosen.length === 0) {
            return undefined;
        }
        const program = chosen[0].fsPath;
        const all = { ...this.memory.get(PROGRAMS, {}), [document.uri.toString()]: program };
        await this.memory.update(PROGRAMS, all);
        return program;
    }
}

function configurationOf(document, program) {
    const file = document.uri.fsPath;
    return {
        type: TYPE,
        request: 'launch',
        name: `${path.basename(program)} with ${path.basename(file)}`,
        program,
        cwd: path.dirname(program),
        // A file of scenarios says itself which properties it uses.
        properties: [],
        [FIELD_OF[document.languageId]]: [file],
    };
}

module.exports = { Configurations, openDocument };
