//! A user and a program around the control, who may act in any order.
//!
//! The program has several threads, so more than one event can be pending when it is
//! stopped. Pending events wait and are notified first when the program runs on; only
//! the end of the program is notified at once, together with the owed stop.

use super::{Control, Mode, Modes, Refusal, Settled};
use std::fmt;

/// The maximum number of pending events.
const PENDING_MAX: usize = 3;
/// The maximum number of open evaluations.
const EVALUATIONS_MAX: u8 = 2;

/// An event of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ProgramEvent {
    /// An event that stops nothing: a module, a thread, a property event that changes
    /// no verdict.
    Plain,
    /// A part of a command is complete: a step, a call of an evaluation.
    Part,
    /// An event that must be shown to the user.
    Stop,
    /// The program has ended.
    Ended,
}

impl ProgramEvent {
    /// All events.
    pub const ALL: [ProgramEvent; 4] = [
        ProgramEvent::Plain,
        ProgramEvent::Part,
        ProgramEvent::Stop,
        ProgramEvent::Ended,
    ];
}

/// An action, and who does it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Act {
    /// The user loads the program.
    Load,
    /// The user attaches to a running program.
    Attach,
    /// The user inspects something, with a command possible in these modes.
    Look(Modes),
    /// The user lets the program run.
    Continue,
    /// The user lets the program call a function.
    Evaluate,
    /// The user abandons the innermost evaluation.
    Abandon,
    /// The user kills or detaches the program.
    Kill,
    /// The user, or a scenario that has been lent the control, creates a checkpoint.
    Checkpoint,
    /// The same restores the checkpoint, also after the end of the program.
    Restore,
    /// Anybody, at any time, asks the program to stop.
    Interrupt,
    /// An event occurs in the program.
    Happen(ProgramEvent),
    /// The program notifies the debugger of its first pending event.
    Notify,
    /// The debugger stops all threads.
    Halt,
    /// The debugger lets a scenario act, with all threads stopped.
    Lend,
    /// The scenario returns the control.
    GiveBack,
    /// The debugger runs the next part of the command.
    Proceed,
    /// The debugger gives the control to the user.
    Settle,
}

impl fmt::Display for Act {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Act::Look(modes) => write!(f, "user: look ({modes:?})"),
            Act::Load | Act::Attach | Act::Continue | Act::Evaluate | Act::Abandon | Act::Kill => {
                write!(f, "user: {self:?}")
            }
            Act::Checkpoint | Act::Restore => write!(f, "user or scenario: {self:?}"),
            Act::GiveBack => write!(f, "scenario: returns the control"),
            Act::Interrupt => write!(f, "user: interrupt"),
            Act::Happen(event) => write!(f, "program: {event:?} happens"),
            Act::Notify => write!(f, "program: notifies of the first pending event"),
            Act::Halt | Act::Lend | Act::Proceed | Act::Settle => write!(f, "debugger: {self:?}"),
        }
    }
}

/// A correction of the published control that a test leaves out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Dropped {
    /// A stop is lost if another event is pending: the published error.
    OwedStop,
    /// Events that are pending at a stop are dropped.
    Pending,
    /// The end of the program waits with the other pending events.
    EndAtOnce,
    /// A request to interrupt is lost between two parts of a command.
    InterruptOverParts,
    /// A request to interrupt is kept though a stop has answered it.
    InterruptAnswered,
    /// The program runs though a stop is owed.
    NothingRunsWhileOwed,
}

/// The control, the program and the user.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Conversation {
    /// The control, the same type that the session uses.
    pub control: Control,
    /// Events that have occurred and were not notified yet.
    pub pending: Vec<ProgramEvent>,
    /// True while threads run.
    pub moves: bool,
    /// True while the process exists.
    pub is_alive: bool,
    /// True if the program was asked to stop.
    pub interrupt: bool,
    /// The number of open evaluations.
    pub evaluations: u8,
    /// True while a scenario has the control.
    pub lent: bool,
    /// The checkpoint, if there is one: true if its program was only loaded.
    pub kept: Option<bool>,
    /// The number of stops that have occurred and that the user has not seen, counted
    /// independently of where they are kept.
    pub unseen: u8,
    /// True if the program was asked to stop and no stop was shown since.
    pub asked: bool,
    pub(crate) dropped: Option<Dropped>,
}

impl Conversation {
    fn drops(&self, correction: Dropped) -> bool {
        self.dropped == Some(correction)
    }

    /// Returns what is wrong with the state, if anything.
    pub fn wrong(&self) -> Option<&'static str> {
        let pending = self.pending.iter().filter(|&&it| it == ProgramEvent::Stop);
        let kept = pending.count() + usize::from(self.control.owes_stop());
        let mode = self.control.mode();
        let has_program = mode != Mode::Init;
        match () {
            () if usize::from(self.unseen) != kept => Some("a stop was lost"),
            () if self.control.owes_stop() && mode != Mode::Deciding => {
                Some("a stop is owed while the debugger does not have the control")
            }
            () if has_program != self.is_alive => Some("the user is shown a program that ended"),
            () if self.asked && !self.interrupt && !self.control.owes_stop() => {
                Some("a request to interrupt was lost")
            }
            () if self.interrupt && !self.asked => {
                Some("the program would be stopped without a request")
            }
            () => None,
        }
    }

    /// Iterates over all actions in a fixed order; [`Conversation::act`] decides which
    /// are possible.
    pub fn acts() -> impl Iterator<Item = Act> {
        let looks = Modes::ALL.into_iter().map(Act::Look);
        let events = ProgramEvent::ALL.into_iter().map(Act::Happen);
        let others = [
            Act::Load,
            Act::Attach,
            Act::Continue,
            Act::Evaluate,
            Act::Abandon,
            Act::Kill,
            Act::Interrupt,
            Act::Notify,
            Act::Halt,
            Act::Checkpoint,
            Act::Restore,
            Act::Lend,
            Act::GiveBack,
            Act::Proceed,
            Act::Settle,
        ];
        looks.chain(events).chain(others)
    }

    /// Returns the modes in which a command is possible according to help.
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

    /// Performs an action.
    ///
    /// # Errors
    /// If the action is not possible now; nothing has changed then.
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
            Act::Happen(event) => self.happen(event),
            Act::Notify => self.notify(),
            Act::Halt => {
                self.require(self.control.mode() == Mode::Deciding && self.moves)?;
                self.moves = false;
                Ok(())
            }
            Act::Lend => {
                self.require(!self.moves)?;
                self.lent = self.control.lend();
                self.require(self.lent)
            }
            Act::GiveBack => {
                self.require(self.lent)?;
                self.lent = false;
                self.control.give_back(true);
                // A program restored to its beginning leaves it.
                if self.control.begin()? {
                    self.resume()
                } else {
                    Ok(())
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

    /// Replaces the process by another one. A request to interrupt is kept, since it
    /// concerns whichever process there is.
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

    /// Lets the program run; pending events are notified first.
    fn resume(&mut self) -> Result<(), Refusal> {
        if self.drops(Dropped::NothingRunsWhileOwed) && self.control.mode == Mode::Deciding {
            self.control.enter(Mode::Run, self.control.owed);
            self.moves = true;
            return Ok(());
        }
        self.control.run()?;
        self.moves = true;
        if self.drops(Dropped::Pending) {
            self.pending.clear();
        }
        Ok(())
    }

    fn happen(&mut self, event: ProgramEvent) -> Result<(), Refusal> {
        let is_room = self.pending.len() < PENDING_MAX;
        let is_over = self.pending.contains(&ProgramEvent::Ended);
        self.require(self.is_alive && self.moves && is_room && !is_over)?;
        self.pending.push(event);
        self.unseen += u8::from(event == ProgramEvent::Stop);
        Ok(())
    }

    fn notify(&mut self) -> Result<(), Refusal> {
        self.require(self.control.mode() == Mode::Run)?;
        let event = match self.pending.first() {
            Some(_) => self.pending.remove(0),
            None => {
                // A thread is made to stop, which is a notification too.
                self.require(self.interrupt)?;
                self.interrupt = false;
                self.unseen += 1;
                ProgramEvent::Stop
            }
        };
        self.control.notify();
        match event {
            // The other threads need not be stopped for it.
            ProgramEvent::Plain => self.control.run(),
            ProgramEvent::Part => Ok(()),
            ProgramEvent::Stop => self.control.owe_stop(),
            ProgramEvent::Ended => {
                self.vanish();
                Ok(())
            }
        }
    }

    /// Runs the next part of a command, or continues the command since the event stops
    /// nothing.
    fn proceed(&mut self) -> Result<(), Refusal> {
        if self.drops(Dropped::OwedStop) && !self.pending.is_empty() && self.control.owes_stop() {
            self.control.settle()?;
        }
        if self.drops(Dropped::InterruptOverParts) {
            self.interrupt = false;
        }
        self.resume()
    }

    /// Gives the control to the user, with all threads stopped.
    fn settle(&mut self) -> Result<(), Refusal> {
        if self.pending.contains(&ProgramEvent::Ended) {
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
            {
                self.interrupt = self.drops(Dropped::InterruptAnswered) && self.is_alive;
            }
        } else {
            self.evaluations = self.evaluations.saturating_sub(1);
        }
        Ok(())
    }

    /// Records the end of the program; the user is told together with the owed stop.
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
        if holds {
            Ok(())
        } else {
            Err(Refusal::Mode(self.control.mode()))
        }
    }
}
