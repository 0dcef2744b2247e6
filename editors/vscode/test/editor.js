// A real VS Code: code-server over a directory of its own, with the packaged extension, in Chromium.
'use strict';

const { execFileSync, spawn } = require('node:child_process');
const fs = require('node:fs');
const { createRequire } = require('node:module');
const path = require('node:path');
const { repository } = require('./keywords');

const DEADLINE = 60000;

/** What would cover the session, move, or ask somebody elsewhere. */
const SETTINGS = {
    'debug.console.fontSize': 12,
    'debug.internalConsoleOptions': 'openOnSessionStart',
    'debug.toolBarLocation': 'docked',
    'editor.minimap.enabled': false,
    'extensions.autoCheckUpdates': false,
    'extensions.ignoreRecommendations': true,
    'security.workspace.trust.enabled': false,
    'telemetry.telemetryLevel': 'off',
    'window.commandCenter': false,
    'workbench.layoutControl.enabled': false,
    'workbench.reduceMotion': 'on',
    'workbench.startupEditor': 'none',
    'workbench.tips.enabled': false,
};

/** Writes a file as JSON; makes its directory. */
function writeJson(file, value) {
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, JSON.stringify(value, null, 2));
}

/** An editor that has a folder open. */
class Editor {
    /** Starts an editor for a folder; its own files go into a directory. */
    static async start(directory, folder, juror) {
        const editor = new Editor(directory);
        try {
            editor.install(juror);
            await editor.serve();
            await editor.open(folder);
        } catch (error) {
            await editor.close();
            throw error;
        }
        return editor;
    }

    constructor(directory) {
        this.directory = directory;
        const server = path.join(process.env.JUROR_CODE_SERVER, 'node_modules/code-server/out/node/entry.js');
        const places = ['--user-data-dir', 'data', '--extensions-dir', 'extensions'];
        this.command = [server, ...places, '--disable-telemetry', '--disable-update-check'];
        const home = { HOME: directory, XDG_CONFIG_HOME: directory, XDG_DATA_HOME: directory };
        this.options = { cwd: directory, env: { ...process.env, ...home } };
    }

    install(juror) {
        const data = path.join(this.directory, 'data');
        writeJson(path.join(data, 'User/settings.json'), SETTINGS);
        // The path of the executable is a setting of the machine that the extension is on.
        writeJson(path.join(data, 'Machine/settings.json'), { 'juror.path': juror });
        const script = path.join(repository, 'editors/vscode/package.sh');
        const extension = path.join(this.directory, 'juror.vsix');
        execFileSync('sh', [script, extension], { stdio: ['ignore', 'ignore', 'inherit'] });
        const install = [...this.command, '--install-extension', extension];
        execFileSync(process.execPath, install, { ...this.options, stdio: ['ignore', 'ignore', 'inherit'] });
    }

    /** Starts the server on a port that is free. */
    async serve() {
        const listen = [...this.command, '--auth', 'none', '--bind-addr', '127.0.0.1:0'];
        this.server = spawn(process.execPath, listen, { ...this.options, stdio: ['ignore', 'pipe', 'pipe'] });
        this.ended = new Promise((resolve) => this.server.on('exit', resolve));
        let said = '';
        const address = new Promise((resolve) => {
            for (const stream of [this.server.stdout, this.server.stderr]) {
                stream.on('data', (text) => {
                    said += text;
                    const found = /listening on (http:\/\/127\.0\.0\.1:\d+)/.exec(said);
                    if (found) {
                        resolve(found[1]);
                    }
                });
            }
        });
        const failed = this.ended.then(() => {
            throw new Error(`code-server has ended: ${said}`);
        });
        this.address = await Promise.race([address, failed]);
        failed.catch(() => {});
    }

    async open(folder) {
        const { chromium } = createRequire(`${process.env.JUROR_PAGE_MODULES}/`)('playwright-core');
        // Root has no sandbox of its own, as in a container.
        const args = process.getuid() === 0 ? ['--no-sandbox'] : [];
        this.browser = await chromium.launch({ executablePath: process.env.JUROR_PAGE_CHROMIUM, args });
        this.page = await this.browser.newPage({ viewport: { width: 1280, height: 800 } });
        this.page.setDefaultTimeout(DEADLINE);
        await this.page.goto(`${this.address}/?folder=${encodeURIComponent(folder)}`);
    }

    /** Begins to debug with the launch configuration of a name. */
    async debug(name) {
        await this.page.getByRole('tab', { name: 'Run and Debug' }).click();
        const chosen = this.page.getByRole('combobox', { name: 'Debug Launch Configurations' });
        await chosen.getByRole('option', { name, exact: true }).waitFor({ state: 'attached' });
        await this.page.getByRole('button', { name: 'Start Debugging' }).click();
    }

    /** Returns the part of the side bar with a title. */
    section(title) {
        return this.page.getByRole('button', { name: `${title} Section` });
    }

    /** Opens or closes a part of the side bar. */
    async fold(title, isOpen) {
        const header = this.section(title);
        if ((await header.getAttribute('aria-expanded')) !== String(isOpen)) {
            await header.click();
        }
    }

    /** Returns where an element is, once it has stayed there for a few frames. */
    async placeOf(element) {
        let place;
        for (let same = 0; same < 5; ) {
            await this.page.evaluate(() => new Promise((drawn) => requestAnimationFrame(drawn)));
            const next = await element.boundingBox();
            same = JSON.stringify(next) === JSON.stringify(place) ? same + 1 : 0;
            place = next;
        }
        return place;
    }

    /** Drags an edge of an element. */
    async drag(element, edge, by) {
        const { x, y, width, height } = await this.placeOf(element);
        const { mouse } = this.page;
        const from = edge === 'top' ? { x: x + width / 2, y } : { x: x + width, y: y + height / 2 };
        const to = edge === 'top' ? { x: from.x, y: y + by } : { x: from.x + by, y: from.y };
        await mouse.move(from.x, from.y);
        await mouse.down();
        await mouse.move(to.x, to.y, { steps: 4 });
        await mouse.up();
    }

    /** Writes a picture, if a directory for them was given. */
    async picture(name) {
        const pictures = process.env.JUROR_PAGE_SCREENSHOTS;
        if (pictures) {
            await this.page.screenshot({ path: path.join(pictures, `${name}.png`) });
        }
    }

    async close() {
        await this.browser?.close();
        this.server?.kill();
        await this.ended;
    }
}

module.exports = { Editor, writeJson };
