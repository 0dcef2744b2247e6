// The tree of the monitors: property, slice, state and variables.
'use strict';

const vscode = require('vscode');
const { propertyNodes } = require('./nodes');

/** The icons of the verdicts, and their colours. The description has the verdict in words. */
const ICONS = {
    violated: ['error', 'testing.iconFailed'],
    'presumably violated': ['warning', 'testing.iconQueued'],
    'presumably satisfied': ['circle-outline', undefined],
    satisfied: ['pass', 'testing.iconPassed'],
};

/** While the program runs, the tree is drawn at most this often, in milliseconds. */
const PERIOD = 200;

/** Provides the tree of the active session. */
class MonitorTree {
    constructor(sessions) {
        this.sessions = sessions;
        this.emitter = new vscode.EventEmitter();
        this.onDidChangeTreeData = this.emitter.event;
        this.timer = undefined;
        this.subscription = sessions.onDidChange(() => this.change());
    }

    /** Draws the tree soon, once for many changes. */
    change() {
        if (this.timer === undefined) {
            this.timer = setTimeout(() => {
                this.timer = undefined;
                this.emitter.fire();
            }, PERIOD);
        }
    }

    async getChildren(node) {
        if (node !== undefined) {
            // The program may have resumed since the node was made.
            return node.children ? Promise.resolve(node.children()).catch(() => []) : [];
        }
        const state = this.sessions.active();
        return state === undefined ? [] : propertyNodes(state);
    }

    getTreeItem(node) {
        const item = new vscode.TreeItem(node.label || '(no slice)', foldingOf(node));
        item.description = node.description;
        item.contextValue = `juror.${node.kind}`;
        const icon = ICONS[node.verdict];
        if (icon !== undefined) {
            const [name, colour] = icon;
            item.iconPath = new vscode.ThemeIcon(name, colour && new vscode.ThemeColor(colour));
        }
        const words = [node.label, node.description].filter((it) => it);
        item.tooltip = words.join(': ');
        item.accessibilityInformation = { label: words.join(', ') };
        return item;
    }

    dispose() {
        clearTimeout(this.timer);
        this.subscription.dispose();
        this.emitter.dispose();
    }
}

/** Returns whether a node is open at first: a violated property is. */
function foldingOf(node) {
    const { None, Collapsed, Expanded } = vscode.TreeItemCollapsibleState;
    if (!node.children) {
        return None;
    }
    return node.kind === 'property' && node.verdict === 'violated' ? Expanded : Collapsed;
}

module.exports = { MonitorTree };
