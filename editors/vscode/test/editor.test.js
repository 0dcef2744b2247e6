// The extension in a real VS Code: what a person sees of a violation, and the picture of the book.
//
// With JUROR_UPDATE=1 the picture is written anew.
'use strict';

const assert = require('node:assert');
const { execFileSync } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const test = require('node:test');
const { Editor, writeJson } = require('./editor');
const { repository } = require('./keywords');

const PICTURE = path.join(repository, 'book/src/images/editor.png');
const PICTURE_MAX = 300 << 10;

let directory;

test.before(() => {
    directory = fs.mkdtempSync(path.join(os.tmpdir(), 'juror-editor-'));
    const example = path.join(repository, 'examples/queue');
    const folder = path.join(directory, 'queue');
    fs.cpSync(example, folder, { recursive: true });
    execFileSync('cc', ['-g', '-o', 'queue', 'queue.c', 'main.c'], { cwd: folder });
    writeJson(path.join(folder, '.vscode/launch.json'), {
        version: '0.2.0',
        configurations: [
            {
                type: 'juror',
                request: 'launch',
                name: 'queue',
                program: '${workspaceFolder}/queue',
                properties: ['${workspaceFolder}/queue.prop'],
            },
        ],
    });
});

test.after(() => fs.rmSync(directory, { recursive: true, force: true }));

/** Opens the folder in an editor of its own, which starts this executable, and begins to debug. */
async function debugged(name, juror, run) {
    const own = path.join(directory, name);
    fs.mkdirSync(own);
    const editor = await Editor.start(own, path.join(directory, 'queue'), juror);
    try {
        await editor.debug('queue');
        await run(editor, editor.page);
    } catch (error) {
        await editor.picture(`${name}-failed`);
        throw error;
    } finally {
        await editor.close();
    }
}

/** Replaces addresses, which differ from machine to machine. */
function plain(lines) {
    return lines.map((line) => line.replace(/0x[0-9a-f]+/g, 'ADDRESS'));
}

test('a violation is an exception, and the monitors are a tree', () =>
    debugged('violation', path.resolve(process.env.JUROR_EXECUTABLE), async (editor, page) => {
        const stack = page.locator('.debug-call-stack');
        await stack.getByText('main', { exact: true }).waitFor();
        await page.getByText('Exception has occurred: property:queue_bounds').waitFor();
        for (const title of ['Watch', 'Breakpoints', 'Loaded Scripts']) {
            await editor.fold(title, false);
        }
        await editor.fold('Monitors', true);
        await editor.drag(editor.section('Loaded Scripts'), 'top', -220);
        await editor.drag(page.locator('.part.sidebar'), 'right', 90);
        const rows = page.getByRole('tree', { name: 'Monitors' }).getByRole('treeitem');
        await rows.filter({ hasText: 'overflow' }).first().click();
        const state = rows.filter({ hasText: /^state/ });
        await state.waitFor();
        const labels = await rows.evaluateAll((all) => all.map((row) => row.getAttribute('aria-label')));
        assert.deepStrictEqual(plain(labels).slice(0, 6), [
            'queue_bounds, violated, 2 slices',
            'queue = ADDRESS, overflow: violated',
            'state, overflow',
            'room, 12',
            'letters, 12',
            'digits, 3',
        ]);
        const line = page.locator('.debug-top-stack-frame-line');
        await line.first().waitFor();
        const console = page.locator('.repl');
        await console.getByText('room = 12, letters = 12, digits = 3').waitFor();
        const picture = await page.screenshot();
        assert.ok(picture.length <= PICTURE_MAX, `the picture has ${picture.length} bytes`);
        if (process.env.JUROR_UPDATE === '1') {
            fs.writeFileSync(PICTURE, picture);
        }
    }));

test('an executable that is missing is told', () =>
    debugged('missing', 'no-such-juror', async (_, page) => {
        await page.getByText(/`no-such-juror` cannot be started/).first().waitFor();
    }));
