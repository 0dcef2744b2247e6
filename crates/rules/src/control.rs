//! Who has the control: the person, the program, or the debugger itself.
//!
//! The modes are those of Barnett and others, section 3. In theirs, the debugger
//! gives the control back to the program when an event is pending at a stop, and
//! forgets the stop. Here a stop is *owed* until it has been shown, and nothing
//! runs while one is owed.
//!
//! Invariant: a stop is owed in [`Mode::Deciding`] alone. [`Conversation`] puts a
//! person and a program around the machine; the tests explore all that these can
//! do.

use std::fmt;

mod conformance;
mod conversation;
#[cfg(test)]
mod tests;

pub use conformance::ControlCheck;
pub use conversation::{Act, Conversation, Happening};

/// Who has the control.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Mode {
    /// The person; there is no program.
    Init,
    /// The person; the program is loaded, and nothing of it has run. The case
    /// study has no such mode, since its `Init` ends with a program that runs.
    Loaded,
    /// The person; the program stands.
    Break,
    /// The program.
    Run,
    /// The debugger: it has been told of something and decides whom to give the
    /// control to. The case study calls it `Break?`.
    Deciding,
}

impl Mode {
    /// All of them.
    pub const ALL: [Mode; 5] = [
        Mode::Init,
        Mode::Loaded,
        Mode::Break,
        Mode::Run,
        Mode::Deciding,
    ];

    /// What it is called in the case study and in the models.
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

/// The modes in which a command of the person is possible.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Modes {
    /// Whenever the person has the control.
    Always,
    /// While no program is being debugged: there is none, or it is only loaded.
    Before,
    /// While there is a program, loaded or begun.
    Program,
    /// While the program has begun and stands.
    Begun,
}

impl Modes {
    /// All of them.
    pub const ALL: [Modes; 4] = [Modes::Always, Modes::Before, Modes::Program, Modes::Begun];

    /// Whether such a command is possible in a mode.
    pub fn contain(self, mode: Mode) -> bool {
        match mode {
            Mode::Init => matches!(self, Modes::Always | Modes::Before),
            Mode::Loaded => self != Modes::Begun,
            Mode::Break => self != Modes::Before,
            Mode::Run | Mode::Deciding => false,
        }
    }

    /// When such a command is possible, as help says it; nothing for those that
    /// always are.
    pub fn words(self) -> Option<&'static str> {
        match self {
            Modes::Always => None,
            Modes::Before => Some("Possible while no program is being debugged."),
            Modes::Program => Some("Possible while there is a program."),
            Modes::Begun => Some("Possible while the program has begun and stands."),
        }
    }
}

/// Why a transition is not made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Refusal {
    /// A stop is owed: the person has not seen it.
    #[error("a stop that has not been shown would be lost")]
    Owed,
    /// It is not possible in this mode.
    #[error("this is not possible in mode {0}")]
    Mode(Mode),
}

/// What the debugger has to do once everything stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Settled {
    /// Show the stop that was owed. It also answers a request to interrupt.
    Show,
    /// Nothing is to be shown; a request to interrupt stays.
    Quiet,
}

/// What the control is at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Standing {
    /// Who has it.
    pub mode: Mode,
    /// Whether a stop is owed.
    pub owed: bool,
}

/// The control of a debugger.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Control {
    mode: Mode,
    owed: bool,
    /// What it has been, one after the other, where somebody follows.
    passed: Option<Vec<Standing>>,
}

impl Default for Control {
    fn default() -> Control {
        Control {
            mode: Mode::Init,
            owed: false,
            passed: None,
        }
    }
}

impl Control {
    /// That of a debugger whose program has begun, and stands.
    pub fn standing() -> Control {
        Control {
            mode: Mode::Break,
            ..Control::default()
        }
    }

    /// The same, keeping what it passes through: [`Control::take_passed`].
    #[must_use]
    pub fn followed(self) -> Control {
        Control {
            passed: Some(Vec::new()),
            ..self
        }
    }

    /// What it has been since this was asked last, one after the other; nothing
    /// where nobody follows.
    pub fn take_passed(&mut self) -> impl Iterator<Item = Standing> + '_ {
        self.passed.iter_mut().flat_map(|passed| passed.drain(..))
    }

    #[inline]
    fn enter(&mut self, mode: Mode, owed: bool) {
        self.mode = mode;
        self.owed = owed;
        if let Some(passed) = &mut self.passed {
            passed.push(Standing { mode, owed });
        }
    }

    /// Who has the control.
    #[inline]
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Whether a stop is to be shown before anything may run.
    pub fn owes_stop(&self) -> bool {
        self.owed
    }

    /// Whether a command may be done now.
    ///
    /// # Errors
    /// It is not possible in this mode.
    pub fn permit(&self, modes: Modes) -> Result<(), Refusal> {
        self.require(modes.contain(self.mode))
    }

    /// A program has been loaded: nothing of it has run.
    ///
    /// # Errors
    /// There is one already.
    pub fn load(&mut self) -> Result<(), Refusal> {
        self.require(self.mode == Mode::Init)?;
        self.enter(Mode::Loaded, false);
        Ok(())
    }

    /// A program that was running has been taken over, and stands.
    ///
    /// # Errors
    /// There is one already.
    pub fn attach(&mut self) -> Result<(), Refusal> {
        self.require(self.mode == Mode::Init)?;
        self.enter(Mode::Break, false);
        Ok(())
    }

    /// The loaded program is about to run its first instruction. Gives whether
    /// it was only loaded until now.
    ///
    /// # Errors
    /// There is no program, or it runs.
    pub fn begin(&mut self) -> Result<bool, Refusal> {
        match self.mode {
            Mode::Loaded => {
                self.enter(Mode::Break, false);
                Ok(true)
            }
            // Commands that run in several parts come here before each.
            Mode::Break | Mode::Deciding => Ok(false),
            Mode::Init | Mode::Run => Err(Refusal::Mode(self.mode)),
        }
    }

    /// The program gets the control: it has begun and stands.
    ///
    /// # Errors
    /// A stop is owed, or the program does not stand.
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

    /// The program has told something: the debugger decides.
    #[inline]
    pub fn told(&mut self) {
        if self.mode == Mode::Run {
            self.enter(Mode::Deciding, false);
        }
    }

    /// What it has told is to be shown to the person.
    ///
    /// # Errors
    /// The debugger does not have the control.
    pub fn owe(&mut self) -> Result<(), Refusal> {
        match self.mode {
            Mode::Break | Mode::Run | Mode::Deciding => {
                // The program may stop before it has run at all: it is given the
                // control, and tells at once.
                if self.mode == Mode::Break {
                    self.enter(Mode::Run, false);
                }
                self.told();
                if !self.owed {
                    self.enter(Mode::Deciding, true);
                }
                Ok(())
            }
            mode => Err(Refusal::Mode(mode)),
        }
    }

    /// What is owed has happened in a call that the debugger made to ask for
    /// something: it is the answer, and no stop of the program.
    pub fn withdraw(&mut self) {
        if self.owed {
            self.enter(self.mode, false);
        }
    }

    /// Everything stands: the person gets the control.
    ///
    /// # Errors
    /// There is no program that has begun.
    pub fn settle(&mut self) -> Result<Settled, Refusal> {
        self.require(!matches!(self.mode, Mode::Init | Mode::Loaded))?;
        let owed = self.owed;
        self.take_control(Mode::Break);
        Ok(match owed {
            true => Settled::Show,
            false => Settled::Quiet,
        })
    }

    /// A program has come back from a checkpoint, in place of the present one or
    /// after its end; loaded, if nothing of it had run then. What was owed was of
    /// the one that is gone. In the middle of a run the debugger still decides.
    pub fn restore(&mut self, is_loaded: bool) {
        self.take_control(match (is_loaded, self.mode) {
            (true, _) => Mode::Loaded,
            (false, Mode::Run | Mode::Deciding) => Mode::Deciding,
            (false, _) => Mode::Break,
        });
    }

    /// A scenario is about to act in the middle of a run, with everything standing:
    /// it may do what a person may. Gives whether the control is to be given back.
    pub fn lend(&mut self) -> bool {
        let is_lent = self.mode == Mode::Deciding && !self.owed;
        if is_lent {
            self.enter(Mode::Break, false);
        }
        is_lent
    }

    /// The scenario has acted: the debugger decides again, unless the program is
    /// gone or has come back to its beginning.
    pub fn give_back(&mut self, is_lent: bool) {
        if is_lent && self.mode == Mode::Break {
            self.enter(Mode::Deciding, false);
        }
    }

    /// A command is over, with a value or an error, and no stop is to be shown:
    /// the person has the control. An error in the middle of a run is seen in
    /// place of the stop that was owed.
    pub fn finish(&mut self) {
        if matches!(self.mode, Mode::Run | Mode::Deciding) {
            self.take_control(Mode::Break);
        }
    }

    /// The program is gone, from whichever mode. Gives whether a stop was owed,
    /// which is shown with the end.
    pub fn end(&mut self) -> bool {
        let owed = self.owed;
        self.take_control(Mode::Init);
        owed
    }

    /// The debugger has it, and gives it on; nothing is owed any more.
    fn take_control(&mut self, mode: Mode) {
        self.told();
        if (self.mode, self.owed) != (mode, false) {
            self.enter(mode, false);
        }
    }

    fn require(&self, holds: bool) -> Result<(), Refusal> {
        match holds {
            true => Ok(()),
            false => Err(Refusal::Mode(self.mode)),
        }
    }
}
