// Shows the exception of a stop that VS Code leaves out.
//
// At a stop VS Code asks for the innermost frame and chooses it. If the view of the call stack asks
// for the frames at the same time, its answer takes their place, and the frame that is chosen then
// is none of them: VS Code shows the exception only with the innermost frame of the stack, so that
// it is not shown. Choosing the innermost frame once more shows it.
'use strict';

const vscode = require('vscode');

/** The command that chooses the innermost frame of the stack. */
const CHOOSE_INNERMOST = 'workbench.action.debug.callStackTop';

/** What VS Code has asked and chosen at a stop. */
class Focus {
    constructor() {
        this.begin(undefined);
    }

    /** Begins with the thread that has stopped at an exception. */
    begin(thread) {
        this.thread = thread;
        /** How often VS Code has asked for the innermost frame. */
        this.requests = 0;
        /** How often a frame was chosen: first by VS Code. */
        this.choices = 0;
        /** How many of the choices may be those of this class. */
        this.own = 0;
    }

    /** Takes a request of VS Code. */
    asked(request) {
        const { threadId, startFrame } = request.arguments || {};
        // The extension itself asks without a first frame.
        if (request.command !== 'stackTrace' || threadId !== this.thread || startFrame === undefined) {
            return;
        }
        if (startFrame === 0) {
            this.requests += 1;
        } else if (this.choices > 0) {
            // VS Code has the innermost frames now, and asks for the others.
            if (this.choices <= 1 + this.own) {
                this.choose();
            }
            this.thread = undefined;
        }
    }

    /** Takes a message of the adapter. */
    told(message) {
        if (message.type === 'event' && message.event === 'stopped') {
            const { reason, threadId } = message.body || {};
            this.begin(reason === 'exception' ? threadId : undefined);
        }
    }

    /** Takes the frame that was chosen. Further ones are those of the user. */
    chosen(item) {
        if (item.threadId === this.thread) {
            this.choices += 1;
            if (this.choices === 1) {
                this.choose();
            }
        }
    }

    /** Chooses the innermost frame again, if it may have been replaced. */
    choose() {
        if (this.requests > 1) {
            this.own += 1;
            vscode.commands.executeCommand(CHOOSE_INNERMOST);
        }
    }
}

/** Follows the frames that are chosen; versions of VS Code before 1.90 do not tell them. */
function followFocus(sessions) {
    const tells = vscode.debug.onDidChangeActiveStackItem;
    if (tells === undefined) {
        return { dispose() {} };
    }
    return tells((item) => {
        const state = item && item.frameId !== undefined && sessions.of(item.session);
        if (state) {
            state.focus.chosen(item);
        }
    });
}

module.exports = { Focus, followFocus };
