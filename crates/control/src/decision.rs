//! The consequence of one moment of a run: the order in which the owners of points are
//! asked, what their answers mean together ([`Moment`]), what the reactions of
//! scenarios change ([`next`]), and whether a thread repeats its step ([`go_on`]).
//!
//! After Jakse, Falcone and Méhaut, section 6: the order of DEVBREAK, SCNBREAK and
//! EVTBREAK; EXECPOINT and EXECEVENT with SCNCMD; and STEPREDO. The session calls these
//! functions wherever a stop event of the debuggee becomes a user-visible stop or none,
//! and so does the oracle of the session; neither decides on its own. Only the
//! representation of a stop differs: the session has threads, signals, processes,
//! evaluations and line steps, the oracle an abstract program.
//!
//! **Invariant:** every result is a function of the answers. Nothing here depends on
//! threads, processes or texts.

/// The owner of a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Owner {
    /// The developer (`dev`): the program stops there.
    Developer,
    /// The scenario (`scn`): it reacts.
    Scenario,
    /// The monitors (`evt`): the point is an event.
    Monitor,
}

impl Owner {
    /// The order in which the owners of points at one location are asked.
    pub const IN_ORDER: [Owner; 3] = [Owner::Developer, Owner::Scenario, Owner::Monitor];

    /// Returns the priority of an owner's reason if several owners want to stop: a
    /// verdict says more than a point, and the user's own point more than one of a
    /// scenario.
    fn weight(self) -> u8 {
        match self {
            Owner::Monitor => 2,
            Owner::Developer => 1,
            Owner::Scenario => 0,
        }
    }
}

/// The answers of all owners at one moment.
#[derive(Debug, Clone)]
pub struct Moment<S> {
    stop: Option<(Owner, S)>,
    goal: Option<S>,
    is_notified: bool,
}

impl<S> Default for Moment<S> {
    fn default() -> Moment<S> {
        Moment {
            stop: None,
            goal: None,
            is_notified: false,
        }
    }
}

impl<S> Moment<S> {
    /// Records that an owner wants the program to stop for a reason. Of reasons with
    /// the same priority the first is kept.
    pub fn stop(&mut self, owner: Owner, reason: S) {
        let is_weightier = |(known, _): &(Owner, S)| owner.weight() > known.weight();
        if self.stop.as_ref().is_none_or(is_weightier) {
            self.stop = Some((owner, reason));
        }
    }

    /// Records that the command that lets the program run is complete.
    pub fn reach(&mut self, goal: S) {
        self.goal.get_or_insert(goal);
    }

    /// Records that scenarios have something to react to.
    pub fn notify_scenarios(&mut self) {
        self.is_notified = true;
    }

    /// Returns true if some owner already wants the program to stop.
    pub fn has_stop(&self) -> bool {
        self.stop.is_some()
    }

    /// Returns the meaning of all answers. Scenarios react to their notifications in
    /// every case.
    pub fn meaning(self) -> Meaning<S> {
        match (self.stop, self.goal, self.is_notified) {
            (Some((_, stop)), _, _) => Meaning::Stop(stop),
            (None, Some(goal), _) => Meaning::Goal(goal),
            (None, None, true) => Meaning::ScenariosOnly,
            (None, None, false) => Meaning::Nothing,
        }
    }
}

/// The meaning of the answers at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning<S> {
    /// The program stops for the user.
    Stop(S),
    /// The command is complete.
    Goal(S),
    /// Only scenarios were notified.
    ScenariosOnly,
    /// Nothing was reported: the program runs on.
    Nothing,
}

/// What scenarios react to, as far as it matters for what follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Notification {
    /// The program is to stop. Evaluation errors and stops that the user has just
    /// requested are always shown.
    Stop {
        /// True if a scenario may let the program run on instead.
        may_be_passed: bool,
    },
    /// The command is complete.
    Goal,
    /// A notification for scenarios only.
    ScenariosOnly,
    /// The program has ended.
    End,
}

/// The combined requests of the reactions to one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Wishes {
    /// A reaction failed.
    pub has_failed: bool,
    /// The program is to stop.
    pub stops: bool,
    /// The program is not to stop for this moment.
    pub continues: bool,
    /// A command that moves or ends the program waits until the reactions are done.
    pub moves: bool,
    /// The program was restored from a checkpoint since that moment.
    pub is_restored: bool,
}

/// The consequence of a moment and the reactions to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Next {
    /// Show the user the error of a reaction.
    ShowError,
    /// Show the user what has happened.
    Show,
    /// Show the user that a scenario stops the program.
    ShowScenario,
    /// Execute the waiting commands.
    Move {
        /// True if the user is shown what has happened before that.
        shows: bool,
    },
    /// Let all threads run, since the program was restored from a checkpoint.
    RunAll,
    /// Let the threads that ran before continue.
    GoOn,
}

/// Computes the consequence. A request to stop is stronger than one that lets the
/// program run; if both the moment and a scenario stop the program, the user is shown
/// the moment.
pub fn next(notification: Notification, wishes: Wishes) -> Next {
    let has_happened = !wishes.is_restored;
    let is_shown =
        has_happened && matches!(notification, Notification::Stop { .. } | Notification::End);
    let is_kept = has_happened
        && matches!(
            notification,
            Notification::Stop {
                may_be_passed: false
            }
        );
    if wishes.has_failed {
        return Next::ShowError;
    }
    if wishes.stops {
        return if is_shown {
            Next::Show
        } else {
            Next::ShowScenario
        };
    }
    if wishes.moves && !is_kept {
        let shows = match notification {
            Notification::Stop { .. } => has_happened && !wishes.continues,
            Notification::End => has_happened,
            Notification::Goal | Notification::ScenariosOnly => false,
        };
        return Next::Move { shows };
    }
    if wishes.is_restored {
        return Next::RunAll;
    }
    match notification {
        Notification::ScenariosOnly => Next::GoOn,
        Notification::Stop {
            may_be_passed: true,
        } if wishes.continues => Next::GoOn,
        Notification::Stop { .. } | Notification::Goal | Notification::End => Next::Show,
    }
}

/// How a notified thread continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum GoOn {
    /// It was to execute one instruction and has not: STEPREDO.
    StepAgain,
    /// It runs.
    Run,
}

/// Decides how a thread continues that has not yet executed its instruction; `stepping`
/// is the thread that is being single-stepped.
#[inline]
pub fn go_on<T: PartialEq>(thread: T, stepping: Option<T>) -> GoOn {
    if stepping == Some(thread) {
        GoOn::StepAgain
    } else {
        GoOn::Run
    }
}

#[cfg(test)]
mod tests;
