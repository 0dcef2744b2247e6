// The sessions under way: where each stands, and what is known of its monitors.
'use strict';

const vscode = require('vscode');
const { Focus } = require('./focus');
const { Monitors } = require('./monitors/model');
const { TYPE, executable } = require('./adapter');

/** The requests that let the program run, once they are answered. */
const RESUMING = new Set(['continue', 'next', 'stepIn', 'stepOut', 'restart', 'configurationDone']);

/** A session and what its adapter has told. */
class State {
    constructor(session) {
        this.session = session;
        this.monitors = new Monitors();
        /** The thread that has stopped; undefined while the program runs. */
        this.thread = undefined;
        /** The address of the live page, if the adapter has one. */
        this.page = undefined;
        /** What VS Code asks at a stop. */
        this.focus = new Focus();
        /** Whether the adapter has sent a message. */
        this.hasAnswered = false;
    }

    /** Takes a message of the adapter. Returns whether there is something to show. */
    take(message) {
        if (message.type === 'response') {
            return message.success && RESUMING.has(message.command) && this.resumed();
        }
        const body = message.body || {};
        switch (message.type === 'event' && message.event) {
            case 'stopped':
                this.thread = body.threadId || 1;
                return true;
            case 'continued':
            case 'terminated':
                return this.resumed();
            case 'invalidated':
                return this.thread !== undefined;
            case 'juror/monitor':
                this.monitors.changed(body);
                return true;
            case 'juror/verdict':
                this.monitors.decided(body);
                return true;
            case 'juror/page':
                this.page = body.address;
                return true;
            default:
                return false;
        }
    }

    resumed() {
        this.thread = undefined;
        return true;
    }
}

/** All sessions, by their identifiers. */
class Sessions {
    constructor() {
        this.states = new Map();
        this.emitter = new vscode.EventEmitter();
        /** Happens when what is known of a session has changed. */
        this.onDidChange = this.emitter.event;
    }

    /** Follows the messages of a session. */
    createDebugAdapterTracker(session) {
        const state = new State(session);
        this.states.set(session.id, state);
        return {
            onWillReceiveMessage: (message) => state.focus.asked(message),
            onDidSendMessage: (message) => {
                state.hasAnswered = true;
                state.focus.told(message);
                if (state.take(message)) {
                    this.changed();
                }
            },
            // VS Code itself waits for an adapter that could not be started, and says nothing.
            onError: (error) => state.hasAnswered || tellMissing(session, error),
        };
    }

    /** Returns the state of the session that the user looks at. */
    active() {
        const session = vscode.debug.activeDebugSession;
        return session && session.type === TYPE ? this.states.get(session.id) : undefined;
    }

    /** Returns the state of a session, if it is one of juror's. */
    of(session) {
        return this.states.get(session.id);
    }

    forget(session) {
        this.states.delete(session.id);
        this.changed();
    }

    changed() {
        this.emitter.fire();
    }

    dispose() {
        this.emitter.dispose();
    }
}

/** Says that the adapter could not be started, and ends the session. */
async function tellMissing(session, error) {
    vscode.debug.stopDebugging(session);
    const settings = 'Open the Setting';
    const chosen = await vscode.window.showErrorMessage(
        `\`${executable(session)}\` cannot be started: ${error.message}. The setting juror.path names the executable.`,
        settings,
    );
    if (chosen === settings) {
        vscode.commands.executeCommand('workbench.action.openSettings', 'juror.path');
    }
}

module.exports = { Sessions };
