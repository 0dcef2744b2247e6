//! The control of a debugger: whether the user, the program or the debugger itself
//! acts.
//!
//! The modes are those of Barnett and others, section 3. In their model the debugger
//! gives the control back to the program if an event is pending at a stop, and the stop
//! is lost. Here a stop is *owed* from its notification until it has been shown;
//! meanwhile nothing runs, unless the command ends with an error.
//!
//! The session asks [`Control::permit`] whether a command is possible, and makes each
//! transition in one place. `Conversation` puts a user and a program around this very
//! machine; the tests explore all that these can do. Every mode that the control passes
//! through must be one of its model (`check`).
//!
//! **Invariant:** a stop is owed in [`Mode::Deciding`] only.

use std::fmt;

mod check;
#[cfg(test)]
mod conversation;
#[cfg(test)]
mod tests;

pub use check::{ControlCheck, ControlCheckMaker};

/// The current holder of the control.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Mode {
    /// The user; there is no program.
    Init,
    /// The user; the program is loaded and has executed nothing. The case study has no
    /// such mode, since its `Init` ends with a program that runs.
    Loaded,
    /// The user; the program is stopped.
    Break,
    /// The program.
    Run,
    /// The debugger: it was notified of an event and decides who gets the control. The
    /// case study calls this mode `Break?`.
    Deciding,
}

impl Mode {
    /// All modes.
    pub const ALL: [Mode; 5] = [
        Mode::Init,
        Mode::Loaded,
        Mode::Break,
        Mode::Run,
        Mode::Deciding,
    ];

    /// Returns the name of the mode in the case study and in the models.
    pub fn name(self) -> &'static str {
        match self {
            Mode::Init => "Init",
            Mode::Loaded => "Loaded",
            Mode::Break => "Break",
            Mode::Run => "Run",
            Mode::Deciding => "Break?",
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The modes in which a command of the user is possible.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Modes {
    /// Whenever the user has the control.
    Always,
    /// While no program has begun: there is none, or it is only loaded.
    Before,
    /// While there is a program, loaded or begun.
    Program,
    /// While the program has begun and is stopped.
    Begun,
}

impl Modes {
    /// All sets of modes.
    pub const ALL: [Modes; 4] = [Modes::Always, Modes::Before, Modes::Program, Modes::Begun];

    /// Returns true if such a command is possible in a mode.
    pub fn contain(self, mode: Mode) -> bool {
        match mode {
            Mode::Init => matches!(self, Modes::Always | Modes::Before),
            Mode::Loaded => self != Modes::Begun,
            Mode::Break => self != Modes::Before,
            Mode::Run | Mode::Deciding => false,
        }
    }

    /// Returns the sentence for help that says when such a command is possible, or
    /// `None` if it always is.
    pub fn words(self) -> Option<&'static str> {
        match self {
            Modes::Always => None,
            Modes::Before => Some("Possible while no program is being debugged."),
            Modes::Program => Some("Possible while there is a program."),
            Modes::Begun => Some("Possible while the program is stopped."),
        }
    }
}

/// The reason why a transition is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Refusal {
    /// A stop is owed: the user has not seen it.
    Owed,
    /// The transition is not possible in this mode.
    Mode(Mode),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Owed => f.write_str("a stop that has not been shown would be lost"),
            Refusal::Mode(mode) => write!(f, "this is not possible in mode {mode}"),
        }
    }
}

impl std::error::Error for Refusal {}

/// What the debugger shows once all threads are stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Settled {
    /// Show the stop that was owed. This also answers a request to interrupt.
    Show,
    /// Show nothing; a request to interrupt remains pending.
    Quiet,
}

/// A snapshot of the control.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ControlState {
    /// The current mode.
    pub mode: Mode,
    /// True if a stop is owed.
    pub owed: bool,
}

impl ControlState {
    /// Returns the values of the model's functions `mode` and `owed` in this state.
    pub fn shown(self) -> [&'static str; 2] {
        [self.mode.name(), if self.owed { "true" } else { "false" }]
    }
}

/// The control of a debugger.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Control {
    mode: Mode,
    owed: bool,
    /// The states passed through since they were last taken, if recorded.
    history: Option<Vec<ControlState>>,
}

impl Default for Control {
    fn default() -> Control {
        Control {
            mode: Mode::Init,
            owed: false,
            history: None,
        }
    }
}

impl Control {
    /// Creates the control of a debugger whose program has begun and is stopped.
    pub fn stopped() -> Control {
        Control {
            mode: Mode::Break,
            ..Control::default()
        }
    }

    /// Records the states that the control passes through, for
    /// [`Control::take_history`].
    #[must_use]
    pub fn with_history(self) -> Control {
        Control {
            history: Some(Vec::new()),
            ..self
        }
    }

    /// Takes the states recorded since the last call, in order; none if they are not
    /// recorded.
    pub fn take_history(&mut self) -> impl Iterator<Item = ControlState> + '_ {
        self.history
            .iter_mut()
            .flat_map(|history| history.drain(..))
    }

    #[inline]
    fn enter(&mut self, mode: Mode, owed: bool) {
        self.mode = mode;
        self.owed = owed;
        if let Some(history) = &mut self.history {
            history.push(ControlState { mode, owed });
        }
    }

    /// Returns the current mode.
    #[inline]
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Returns true if a stop must be shown before anything may run.
    pub fn owes_stop(&self) -> bool {
        self.owed
    }

    /// Checks that a command is possible now.
    ///
    /// # Errors
    /// If it is not possible in the current mode.
    pub fn permit(&self, modes: Modes) -> Result<(), Refusal> {
        self.require(modes.contain(self.mode))
    }

    /// Enters [`Mode::Loaded`]: a program has been loaded and has executed nothing.
    ///
    /// # Errors
    /// If there is a program already.
    pub fn load(&mut self) -> Result<(), Refusal> {
        self.require(self.mode == Mode::Init)?;
        self.enter(Mode::Loaded, false);
        Ok(())
    }

    /// Enters [`Mode::Break`] for a running program that was attached and stopped.
    ///
    /// # Errors
    /// If there is a program already.
    pub fn attach(&mut self) -> Result<(), Refusal> {
        self.require(self.mode == Mode::Init)?;
        self.enter(Mode::Break, false);
        Ok(())
    }

    /// Begins the program, which is about to run its first instruction. Returns true if
    /// it was only loaded until now.
    ///
    /// # Errors
    /// If there is no program, or it runs.
    pub fn begin(&mut self) -> Result<bool, Refusal> {
        match self.mode {
            Mode::Loaded => {
                self.enter(Mode::Break, false);
                Ok(true)
            }
            // Commands that run in several parts call this before each part.
            Mode::Break | Mode::Deciding => Ok(false),
            Mode::Init | Mode::Run => Err(Refusal::Mode(self.mode)),
        }
    }

    /// Gives the control to the program, which has begun and is stopped.
    ///
    /// # Errors
    /// If a stop is owed, or the program is not stopped.
    #[inline]
    pub fn run(&mut self) -> Result<(), Refusal> {
        match self.mode {
            Mode::Deciding if self.owed => Err(Refusal::Owed),
            Mode::Break | Mode::Deciding => {
                self.enter(Mode::Run, false);
                Ok(())
            }
            mode => Err(Refusal::Mode(mode)),
        }
    }

    /// Gives the control to the debugger, which was notified by the program.
    #[inline]
    pub fn notify(&mut self) {
        if self.mode == Mode::Run {
            self.enter(Mode::Deciding, false);
        }
    }

    /// Records that the notification must be shown to the user.
    ///
    /// # Errors
    /// If there is no program that has begun.
    pub fn owe_stop(&mut self) -> Result<(), Refusal> {
        match self.mode {
            Mode::Break | Mode::Run | Mode::Deciding => {
                // The program may stop before it has run at all: it gets the control
                // and notifies the debugger at once.
                if self.mode == Mode::Break {
                    self.enter(Mode::Run, false);
                }
                self.notify();
                if !self.owed {
                    self.enter(Mode::Deciding, true);
                }
                Ok(())
            }
            mode => Err(Refusal::Mode(mode)),
        }
    }

    /// Cancels the owed stop: it occurred in a call that the debugger made for an
    /// evaluation, so it is the result of that and no stop of the program.
    pub fn withdraw_stop(&mut self) {
        if self.owed {
            self.enter(self.mode, false);
        }
    }

    /// Gives the control to the user once all threads are stopped.
    ///
    /// # Errors
    /// If there is no program that has begun.
    pub fn settle(&mut self) -> Result<Settled, Refusal> {
        self.require(!matches!(self.mode, Mode::Init | Mode::Loaded))?;
        let owed = self.owed;
        self.take_control(Mode::Break);
        Ok(if owed { Settled::Show } else { Settled::Quiet })
    }

    /// Replaces the program, or one that has ended, by a checkpoint; `is_loaded` if the
    /// checkpoint had executed nothing. An owed stop belonged to the replaced program
    /// and is dropped. In the middle of a run the debugger continues to decide.
    pub fn restore(&mut self, is_loaded: bool) {
        self.take_control(match (is_loaded, self.mode) {
            (true, _) => Mode::Loaded,
            (false, Mode::Run | Mode::Deciding) => Mode::Deciding,
            (false, _) => Mode::Break,
        });
    }

    /// Lends the control to a scenario in the middle of a run, with all threads
    /// stopped: the scenario may do what the user may. Returns whether
    /// [`Control::give_back`] is due.
    pub fn lend(&mut self) -> bool {
        let is_lent = self.mode == Mode::Deciding && !self.owed;
        if is_lent {
            self.enter(Mode::Break, false);
        }
        is_lent
    }

    /// Takes the control back from the scenario: the debugger decides again, unless the
    /// program has ended or was restored to its beginning.
    pub fn give_back(&mut self, is_lent: bool) {
        if is_lent && self.mode == Mode::Break {
            self.enter(Mode::Deciding, false);
        }
    }

    /// Gives the control to the user after a command with a value or an error and no
    /// stop to show. An error in the middle of a run replaces the owed stop.
    pub fn finish(&mut self) {
        if matches!(self.mode, Mode::Run | Mode::Deciding) {
            self.take_control(Mode::Break);
        }
    }

    /// Records the end of the program, in any mode. Returns whether a stop was owed,
    /// which is shown together with the end.
    pub fn end(&mut self) -> bool {
        let owed = self.owed;
        self.take_control(Mode::Init);
        owed
    }

    /// Passes the control through the debugger to `mode`; no stop is owed afterwards.
    fn take_control(&mut self, mode: Mode) {
        self.notify();
        if (self.mode, self.owed) != (mode, false) {
            self.enter(mode, false);
        }
    }

    fn require(&self, holds: bool) -> Result<(), Refusal> {
        if holds {
            Ok(())
        } else {
            Err(Refusal::Mode(self.mode))
        }
    }
}
