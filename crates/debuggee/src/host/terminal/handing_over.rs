//! Giving the terminal to the debuggee, and taking it.

use crate::debuggee::Debuggee;

impl Debuggee {
    /// Gives the terminal to juror, for the user to type at its prompt. The
    /// debuggee gets it back when a thread is resumed or stepped. Does nothing
    /// if the debuggee does not share juror's terminal.
    pub fn take_terminal(&mut self) {
        if let Some(terminal) = &mut self.host.terminal {
            terminal.take();
        }
    }

    /// Sets whether juror keeps the terminal while the debuggee runs: a debuggee that reads it is
    /// stopped by SIGTTIN then.
    pub fn keep_terminal(&mut self, keeps: bool) {
        if let Some(terminal) = &mut self.host.terminal {
            terminal.take();
            terminal.stays_with_juror = keeps;
        }
    }

    /// Gives the terminal back to the debuggee's process group, as resuming one
    /// of its threads does.
    pub fn give_terminal(&mut self) {
        self.return_terminal();
    }

    pub(crate) fn return_terminal(&mut self) {
        if let Some(terminal) = &mut self.host.terminal {
            terminal.give();
        }
    }
}
