//! Sharing the terminal between juror and the debuggee.
//!
//! The debuggee is a process group of its own. While it runs it is the
//! terminal's foreground group, so Ctrl-C goes to it and never to juror. While
//! the user types at juror's prompt, juror's group is in the foreground. Each
//! finds the terminal's modes as it left them.

mod handing_over;

use std::io::{IsTerminal, stdin};

use nix::sys::signal::{SigHandler, Signal, signal};
use nix::sys::termios::{SetArg, Termios, tcgetattr, tcsetattr};
use nix::unistd::{Pid, getpgrp, tcgetpgrp, tcsetpgrp};

#[derive(Debug)]
pub(crate) struct Terminal {
    debuggee: Pid,
    juror: Pid,
    is_with_debuggee: bool,
    /// The debuggee does not get it, since somebody types at juror's prompt.
    stays_with_juror: bool,
    juror_modes: Option<Termios>,
    debuggee_modes: Option<Termios>,
}

impl Terminal {
    /// Hands the terminal of standard input to the debuggee; `None` if there is
    /// none, or if juror itself is in the background.
    pub(crate) fn hand_over(debuggee: u32) -> Option<Terminal> {
        let juror = getpgrp();
        if !stdin().is_terminal() || tcgetpgrp(stdin()).ok()? != juror {
            return None;
        }
        // A group in the background that changes the terminal is stopped by
        // this signal, unless it ignores it.
        // SAFETY: ignoring a signal installs no handler.
        unsafe { signal(Signal::SIGTTOU, SigHandler::SigIgn) }.ok()?;
        let mut terminal = Terminal {
            debuggee: Pid::from_raw(debuggee as i32),
            juror,
            is_with_debuggee: false,
            stays_with_juror: false,
            juror_modes: None,
            debuggee_modes: None,
        };
        terminal.give();
        Some(terminal)
    }

    /// Gives the terminal to the debuggee, with the modes that it had.
    pub(crate) fn give(&mut self) {
        if self.is_with_debuggee || self.stays_with_juror {
            return;
        }
        self.juror_modes = tcgetattr(stdin()).ok();
        if let Some(modes) = &self.debuggee_modes {
            let _ = tcsetattr(stdin(), SetArg::TCSADRAIN, modes);
        }
        self.is_with_debuggee = tcsetpgrp(stdin(), self.debuggee).is_ok();
    }

    /// Returns the modes that the debuggee has, or finds when it gets the
    /// terminal.
    pub(crate) fn modes_of_debuggee(&self) -> Option<Termios> {
        if self.is_with_debuggee {
            tcgetattr(stdin()).ok()
        } else {
            self.debuggee_modes.clone()
        }
    }

    /// Sets the modes that the debuggee finds when it gets the terminal, which
    /// juror has now.
    pub(crate) fn set_modes_of_debuggee(&mut self, modes: Termios) {
        self.debuggee_modes = Some(modes);
    }

    /// Sets the process group that gets the terminal from now on.
    pub(crate) fn belongs_to(&mut self, debuggee: u32) {
        self.debuggee = Pid::from_raw(debuggee as i32);
    }

    /// Gives the terminal to juror, with the modes that it had.
    pub(crate) fn take(&mut self) {
        if !self.is_with_debuggee {
            return;
        }
        self.debuggee_modes = tcgetattr(stdin()).ok();
        let _ = tcsetpgrp(stdin(), self.juror);
        if let Some(modes) = &self.juror_modes {
            let _ = tcsetattr(stdin(), SetArg::TCSADRAIN, modes);
        }
        self.is_with_debuggee = false;
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.take();
    }
}
