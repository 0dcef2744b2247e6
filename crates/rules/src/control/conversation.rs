//! A person and a program around the control: all that can be said in any order.
//!
//! The program is several threads, so more than one happening can be pending
//! when it is brought to a stand. Those wait and are told first when it runs on;
//! but when the end of the program is among them, that is told at once, with the
//! stop that was owed.

use super::{Control, Mode, Modes, Refusal, Settled};
use std::fmt;

/// How many happenings can be pending.
const PENDING_MAX: usize = 3;
/// How many evaluations can be open.
const EVALUATIONS_MAX: u8 = 2;

/// What the program has to tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Happening {
    /// Something that stops nothing: a module, a thread, an event that changes
    /// no verdict.
    Plain,
    /// A part of a command is over: a step, a call of an evaluation.
    Part,
    /// Something that the person must see.
    Stop,
    /// The program has ended.
    Ended,
}

impl Happening {
    /// All of them.
    pub const ALL: [Happening; 4] = [
        Happening::Plain,
        Happening::Part,
        Happening::Stop,
        Happening::Ended,
    ];
}

/// What can be done next, by whom it may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Act {
    /// The person: load the program.
    Load,
    /// The person: take over a program that runs.
    Attach,
    /// The person: look at something, by a command possible in these modes.
    Look(Modes),
    /// The person: let the program run.
    Continue,
    /// The person: let the program call a function.
    Evaluate,
    /// The person: give up the innermost evaluation.
    Abandon,
    /// The person: end the program, or let it go.
    Kill,
    /// The person, or a scenario that has been lent the control: keep the
    /// program as it is.
    Checkpoint,
    /// The same: bring back what was kept, also after the end.
    Restore,
    /// Anybody, at any time: ask the program to stand.
    Interrupt,
    /// The program: something happens.
    Happen(Happening),
    /// The program: tell the debugger.
    Tell,
    /// The debugger: bring all threads to a stand.
    Halt,
    /// The debugger: let a scenario act, with everything standing.
    Lend,
    /// The scenario: it has acted.
    GiveBack,
    /// The debugger: run the next part of the command.
    Proceed,
    /// The debugger: give the control to the person.
    Settle,
}

impl fmt::Display for Act {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Act::Look(modes) => write!(f, "person: look ({modes:?})"),
            Act::Load | Act::Attach | Act::Continue | Act::Evaluate | Act::Abandon | Act::Kill => {
                write!(f, "person: {self:?}")
            }
            Act::Checkpoint | Act::Restore => write!(f, "person or scenario: {self:?}"),
            Act::GiveBack => write!(f, "scenario: gives the control back"),
            Act::Interrupt => write!(f, "person: interrupt"),
            Act::Happen(happening) => write!(f, "program: {happening:?} happens"),
            Act::Tell => write!(f, "program: tells the first that is pending"),
            Act::Halt | Act::Lend | Act::Proceed | Act::Settle => write!(f, "debugger: {self:?}"),
        }
    }
}

/// A correction of the published control that a test leaves out.
#[cfg(test)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Dropped {
    /// A stop is forgotten where another event is pending: the published error.
    OwedStop,
    /// What is pending at a stop is dropped.
    Pending,
    /// The end of the program waits with the other pending events.
    EndAtOnce,
    /// A request to interrupt is forgotten between two parts of a command.
    InterruptOverParts,
    /// A request to interrupt is kept though a stop has answered it.
    InterruptAnswered,
    /// The program runs though a stop is owed.
    NothingRunsWhileOwed,
}

/// The control, the program and the person.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Conversation {
    /// The control, as the session uses it.
    pub control: Control,
    /// What has happened and was not told.
    pub pending: Vec<Happening>,
    /// Threads run.
    pub moves: bool,
    /// The process is there.
    pub is_alive: bool,
    /// Somebody asked the program to stand.
    pub interrupt: bool,
    /// How many evaluations are open.
    pub evaluations: u8,
    /// A scenario has the control.
    pub lent: bool,
    /// There is a checkpoint, of a program that was only loaded or had begun.
    pub kept: Option<bool>,
    /// How many stops have happened that the person has not seen. It is counted
    /// apart from where they are kept.
    pub unseen: u8,
    /// Somebody asked the program to stand, and has seen no stop since.
    pub asked: bool,
    #[cfg(test)]
    pub(crate) dropped: Option<Dropped>,
}

impl Conversation {
    #[cfg(test)]
    fn drops(&self, correction: Dropped) -> bool {
        self.dropped == Some(correction)
    }

    /// What is wrong with the state, if something is.
    pub fn wrong(&self) -> Option<&'static str> {
        let pending = self.pending.iter().filter(|&&it| it == Happening::Stop);
        let kept = pending.count() + usize::from(self.control.owes_stop());
        let mode = self.control.mode();
        let has_program = mode != Mode::Init;
        match () {
            () if usize::from(self.unseen) != kept => Some("a stop was swallowed"),
            () if self.control.owes_stop() && mode != Mode::Deciding => {
                Some("a stop is owed while somebody else has the control")
            }
            () if has_program != self.is_alive => Some("the person is shown a program that ended"),
            () if self.asked && !self.interrupt && !self.control.owes_stop() => {
                Some("a request to interrupt was lost")
            }
            () if self.interrupt && !self.asked => {
                Some("the program would be stopped though nobody asked for it")
            }
            () => None,
        }
    }

    /// All that could be done, in a fixed order; [`Conversation::act`] says what
    /// is possible.
    pub fn acts() -> impl Iterator<Item = Act> {
        let looks = Modes::ALL.into_iter().map(Act::Look);
        let happenings = Happening::ALL.into_iter().map(Act::Happen);
        let others = [
            Act::Load,
            Act::Attach,
            Act::Continue,
            Act::Evaluate,
            Act::Abandon,
            Act::Kill,
            Act::Interrupt,
            Act::Tell,
            Act::Halt,
            Act::Checkpoint,
            Act::Restore,
            Act::Lend,
            Act::GiveBack,
            Act::Proceed,
            Act::Settle,
        ];
        looks.chain(happenings).chain(others)
    }

    /// The commands, with the modes in which help says that they are possible.
    pub fn modes_of(act: Act) -> Option<Modes> {
        Some(match act {
            Act::Look(modes) => modes,
            Act::Load | Act::Attach => Modes::Before,
            Act::Continue | Act::Kill | Act::Checkpoint => Modes::Program,
            Act::Restore => Modes::Always,
            Act::Evaluate | Act::Abandon => Modes::Begun,
            _ => return None,
        })
    }

    /// Does something.
    ///
    /// # Errors
    /// It cannot be done now; nothing has changed then.
    pub fn act(&mut self, act: Act) -> Result<(), Refusal> {
        let before = self.clone();
        let done = self.attempt(act);
        if done.is_err() {
            *self = before;
        }
        done
    }

    fn attempt(&mut self, act: Act) -> Result<(), Refusal> {
        if let Some(modes) = Conversation::modes_of(act) {
            self.control.permit(modes)?;
            // A reaction lets nothing run and starts nothing.
            let is_quiet = matches!(act, Act::Look(_) | Act::Checkpoint | Act::Restore);
            self.require(!self.lent || is_quiet)?;
        }
        match act {
            Act::Look(_) => Ok(()),
            Act::Checkpoint => {
                self.kept = Some(self.control.mode() == Mode::Loaded);
                Ok(())
            }
            Act::Restore => self.restore(),
            Act::Load => {
                self.control.end();
                self.control.load()?;
                self.start();
                Ok(())
            }
            Act::Attach => {
                self.control.end();
                self.control.attach()?;
                self.start();
                Ok(())
            }
            Act::Continue => {
                self.control.begin()?;
                self.resume()
            }
            Act::Evaluate => {
                self.require(self.evaluations < EVALUATIONS_MAX)?;
                self.evaluations += 1;
                self.resume()
            }
            Act::Abandon => {
                self.require(self.evaluations > 0)?;
                self.evaluations -= 1;
                Ok(())
            }
            Act::Kill => {
                self.vanish();
                Ok(())
            }
            Act::Interrupt => {
                self.require(self.is_alive && !self.interrupt)?;
                self.interrupt = true;
                self.asked = true;
                Ok(())
            }
            Act::Happen(happening) => self.happen(happening),
            Act::Tell => self.tell(),
            Act::Halt => {
                self.require(self.control.mode() == Mode::Deciding && self.moves)?;
                self.moves = false;
                Ok(())
            }
            Act::Lend => {
                self.require(self.control.mode() == Mode::Deciding && !self.moves)?;
                self.lent = self.control.lend();
                self.require(self.lent)
            }
            Act::GiveBack => {
                self.require(self.lent)?;
                self.lent = false;
                self.control.give_back(true);
                // What came back to its beginning leaves it.
                match self.control.begin()? {
                    true => self.resume(),
                    false => Ok(()),
                }
            }
            Act::Proceed => {
                self.require(self.control.mode() == Mode::Deciding)?;
                self.proceed()
            }
            Act::Settle => {
                self.require(self.control.mode() == Mode::Deciding && !self.moves)?;
                self.settle()
            }
        }
    }

    fn start(&mut self) {
        self.vanish_process();
        self.is_alive = true;
    }

    /// Another process takes the place of the present one. A request to
    /// interrupt is one to stand, whichever process it is.
    fn restore(&mut self) -> Result<(), Refusal> {
        let Some(is_loaded) = self.kept else {
            return self.require(false);
        };
        self.control.restore(is_loaded);
        let (interrupt, asked) = (self.interrupt, self.asked);
        self.start();
        (self.interrupt, self.asked) = (interrupt, asked);
        Ok(())
    }

    /// The program runs: what is pending is told first.
    fn resume(&mut self) -> Result<(), Refusal> {
        #[cfg(test)]
        if self.drops(Dropped::NothingRunsWhileOwed) && self.control.mode == Mode::Deciding {
            self.control.enter(Mode::Run, self.control.owed);
            self.moves = true;
            return Ok(());
        }
        self.control.run()?;
        self.moves = true;
        #[cfg(test)]
        if self.drops(Dropped::Pending) {
            self.pending.clear();
        }
        Ok(())
    }

    fn happen(&mut self, happening: Happening) -> Result<(), Refusal> {
        let is_room = self.pending.len() < PENDING_MAX;
        let is_over = self.pending.contains(&Happening::Ended);
        self.require(self.is_alive && self.moves && is_room && !is_over)?;
        self.pending.push(happening);
        self.unseen += u8::from(happening == Happening::Stop);
        Ok(())
    }

    fn tell(&mut self) -> Result<(), Refusal> {
        self.require(self.control.mode() == Mode::Run)?;
        let happening = match self.pending.first() {
            Some(_) => self.pending.remove(0),
            None => {
                // A thread is made to stand, and tells that.
                self.require(self.interrupt)?;
                self.interrupt = false;
                self.unseen += 1;
                Happening::Stop
            }
        };
        self.control.told();
        match happening {
            // Nobody else needs to stand for it.
            Happening::Plain => self.control.run(),
            Happening::Part => Ok(()),
            Happening::Stop => self.control.owe(),
            Happening::Ended => {
                self.vanish();
                Ok(())
            }
        }
    }

    /// The next part of a command that has several, or the command goes on since
    /// what it was told of stops nothing.
    fn proceed(&mut self) -> Result<(), Refusal> {
        #[cfg(test)]
        if self.drops(Dropped::OwedStop) && !self.pending.is_empty() && self.control.owes_stop() {
            self.control.settle()?;
        }
        #[cfg(test)]
        if self.drops(Dropped::InterruptOverParts) {
            self.interrupt = false;
        }
        self.resume()
    }

    /// All threads stand.
    fn settle(&mut self) -> Result<(), Refusal> {
        if self.pending.contains(&Happening::Ended) {
            #[cfg(test)]
            if self.drops(Dropped::EndAtOnce) {
                self.is_alive = false;
                return self.control.settle().map(|_| ());
            }
            self.vanish();
            return Ok(());
        }
        if self.control.settle()? == Settled::Show {
            self.unseen = self.unseen.saturating_sub(1);
            self.asked = false;
            self.interrupt = false;
            #[cfg(test)]
            {
                self.interrupt = self.drops(Dropped::InterruptAnswered) && self.is_alive;
            }
        } else {
            self.evaluations = self.evaluations.saturating_sub(1);
        }
        Ok(())
    }

    /// The program is gone, and the person is told, with what was owed.
    fn vanish(&mut self) {
        self.control.end();
        self.vanish_process();
    }

    fn vanish_process(&mut self) {
        self.pending.clear();
        self.moves = false;
        self.is_alive = false;
        self.interrupt = false;
        self.unseen = 0;
        self.asked = false;
        self.evaluations = 0;
    }

    fn require(&self, holds: bool) -> Result<(), Refusal> {
        match holds {
            true => Ok(()),
            false => Err(Refusal::Mode(self.control.mode())),
        }
    }
}
