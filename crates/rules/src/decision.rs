//! What a moment of a run leads to: who is asked, in which order, what their
//! answers mean together, what reactions make of it, and how it goes on.
//!
//! Jakse, Falcone and Méhaut, section 6: the order of DEVBREAK, SCNBREAK and
//! EVTBREAK, EXECPOINT and EXECEVENT with SCNCMD, and STEPREDO. The machine of
//! the rules and the session that ships both decide by these functions; what a
//! stop *is* is theirs alone.
//!
//! Invariant: a function of what was said. Nothing here knows of threads,
//! processes or texts.

pub use crate::machine::Owner;

impl Owner {
    /// In which order the owners of points at one place are asked.
    pub const IN_ORDER: [Owner; 3] = [Owner::Developer, Owner::Scenario, Owner::Monitor];

    /// Whose reason to stop is shown, where several have one: a verdict says more
    /// than a point, and your own point more than one of a scenario.
    fn weight(self) -> u8 {
        match self {
            Owner::Monitor => 2,
            Owner::Developer => 1,
            Owner::Scenario => 0,
        }
    }
}

/// What was said at one moment, by all who were asked.
#[derive(Debug, Clone)]
pub struct Moment<S> {
    stop: Option<(Owner, S)>,
    goal: Option<S>,
    is_heard: bool,
}

impl<S> Default for Moment<S> {
    fn default() -> Moment<S> {
        Moment {
            stop: None,
            goal: None,
            is_heard: false,
        }
    }
}

impl<S> Moment<S> {
    /// Somebody wants the program to stop, for this reason. Of reasons of the
    /// same weight the first is kept.
    pub fn stop(&mut self, owner: Owner, reason: S) {
        let is_weightier = |(known, _): &(Owner, S)| owner.weight() > known.weight();
        if self.stop.as_ref().is_none_or(is_weightier) {
            self.stop = Some((owner, reason));
        }
    }

    /// The command that lets the program run has come to its end.
    pub fn reach(&mut self, goal: S) {
        self.goal.get_or_insert(goal);
    }

    /// Scenarios have something to react to.
    pub fn hear(&mut self) {
        self.is_heard = true;
    }

    /// Somebody has said already that the program is to stop.
    pub fn has_stop(&self) -> bool {
        self.stop.is_some()
    }

    /// What all of it means. Whatever it is, what scenarios have heard they react
    /// to.
    pub fn meaning(self) -> Meaning<S> {
        match (self.stop, self.goal, self.is_heard) {
            (Some((_, stop)), _, _) => Meaning::Stop(stop),
            (None, Some(goal), _) => Meaning::Goal(goal),
            (None, None, true) => Meaning::Heard,
            (None, None, false) => Meaning::Nothing,
        }
    }
}

/// What a moment means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning<S> {
    /// The program is to stop for the person.
    Stop(S),
    /// The command has come to its end.
    Goal(S),
    /// Only scenarios are concerned.
    Heard,
    /// Nobody is: it runs on.
    Nothing,
}

/// What scenarios react to, as far as it matters for what follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Told {
    /// The program is to stop. What could not be evaluated, and what the person
    /// has just asked for, is always shown.
    Stop {
        /// A scenario may let the program run on instead.
        may_be_passed: bool,
    },
    /// The command has come to its end.
    Goal,
    /// Something that is for scenarios alone.
    Heard,
    /// The program has ended.
    End,
}

/// What the reactions to one moment want, all together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Wishes {
    /// One went wrong.
    pub has_failed: bool,
    /// The program is to stop.
    pub stops: bool,
    /// It is not to stop for what has happened.
    pub continues: bool,
    /// A command that lets the program run, or ends it, waits until the
    /// reactions are done.
    pub moves: bool,
    /// The program is another one than at that moment.
    pub is_restored: bool,
}

/// What follows from a moment and the reactions to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Next {
    /// The person sees what went wrong with a reaction.
    ShowError,
    /// The person sees what has happened.
    Show,
    /// The person sees that a scenario stops the program.
    ShowScenario,
    /// The commands that wait are done.
    Move {
        /// The person sees what has happened before that.
        shows: bool,
    },
    /// All of the program runs, since it came back from a checkpoint.
    RunAll,
    /// What ran runs on.
    GoOn,
}

/// What follows. A stop is stronger than what lets the program run; where both a
/// stop and a scenario's own are to be shown, the person sees why the program
/// would have stopped anyway.
pub fn next(told: Told, wishes: Wishes) -> Next {
    let has_happened = !wishes.is_restored;
    let is_shown = has_happened && matches!(told, Told::Stop { .. } | Told::End);
    let is_kept = has_happened
        && matches!(
            told,
            Told::Stop {
                may_be_passed: false
            }
        );
    if wishes.has_failed {
        return Next::ShowError;
    }
    if wishes.stops {
        return match is_shown {
            true => Next::Show,
            false => Next::ShowScenario,
        };
    }
    if wishes.moves && !is_kept {
        let shows = match told {
            Told::Stop { .. } => has_happened && !wishes.continues,
            Told::End => has_happened,
            Told::Goal | Told::Heard => false,
        };
        return Next::Move { shows };
    }
    if wishes.is_restored {
        return Next::RunAll;
    }
    match told {
        Told::Heard => Next::GoOn,
        Told::Stop {
            may_be_passed: true,
        } if wishes.continues => Next::GoOn,
        Told::Stop { .. } | Told::Goal | Told::End => Next::Show,
    }
}

/// How a thread goes on of which something was told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum GoOn {
    /// It was to execute one instruction, and has not: STEPREDO.
    StepAgain,
    /// It runs.
    Run,
}

/// How a thread goes on before what it was to execute; `stepping` is the one that
/// executes a single instruction.
#[inline]
pub fn go_on<T: PartialEq>(thread: T, stepping: Option<T>) -> GoOn {
    match stepping == Some(thread) {
        true => GoOn::StepAgain,
        false => GoOn::Run,
    }
}

#[cfg(test)]
mod tests;
