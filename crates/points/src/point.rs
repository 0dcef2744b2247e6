//! The state that all points share: a number, a condition, a hit count, and what happens after a
//! stop.
//!
//! Breakpoints, hardware breakpoints, watchpoints and catchpoints differ in how they are hit. The
//! effect of a hit is the same for all and is implemented here.
//!
//! **Invariant**: a hit that does not stop allocates nothing.

use crate::breakpoints::targets;
use crate::dynamic_print::DynamicPrint;
use juror_debuggee::{Owner, ThreadId};
use juror_fault::CommandError;
use juror_instrument::condition::Condition;
use juror_program::program::Program;
use juror_stepping::StepOver;
use juror_view::PointView;
use smallvec::SmallVec;
use std::rc::Rc;

/// The value of a condition, or the reason why it cannot be evaluated.
pub type Answer = Result<bool, String>;

/// The kind of a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PointKind {
    /// A location, with an inserted trap.
    Breakpoint,
    /// A location, in a debug register.
    HardwareBreakpoint,
    /// An access to memory.
    Watchpoint,
    /// An event without a location.
    Catchpoint,
}

/// A feature that some kinds of points lack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ability {
    /// Conditions that call functions of the program.
    CallingConditions,
    /// Locations with numbers of their own, `1.2`.
    Locations,
}

/// What happens to a point when it stops the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It stays.
    Keep,
    /// It is disabled after this number of stops.
    Disable(u64),
    /// It is deleted.
    Delete,
}

/// The owner of a point.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PointOwner {
    /// The user at the prompt.
    #[default]
    Developer,
    /// A scenario.
    Scenario {
        /// Its position.
        number: u32,
        /// Whether it has a reaction; otherwise the program stops as at any point.
        reacts: bool,
        /// The start in its file of the statement that set it.
        start: u32,
        /// The end of the statement.
        end: u32,
    },
}

impl PointOwner {
    /// Returns the owner as the breakpoint engine knows it.
    pub fn of_engine(self) -> Owner {
        match self {
            PointOwner::Developer => Owner::Developer,
            PointOwner::Scenario { .. } => Owner::Scenario,
        }
    }
}

/// The state that all points share.
#[derive(Debug, Clone)]
pub struct Point {
    /// The number that the user sees.
    pub number: u32,
    /// The owner.
    pub owner: PointOwner,
    /// The condition.
    pub condition: Option<Condition>,
    /// The only thread that it is for, by juror's number.
    pub thread: Option<u32>,
    /// What happens to it when it stops the program.
    pub fate: Fate,
    /// Whether it is enabled.
    pub enabled: bool,
    /// The number of hits still to be ignored.
    pub ignore: u64,
    /// The number of hits in its thread whose condition held.
    pub hits: u64,
    /// The commands that run when it has stopped the program.
    pub commands: Vec<String>,
    /// The output of a `dprintf`, which replaces the stop.
    pub prints: Option<Rc<DynamicPrint>>,
}

/// The points of one kind that stop the program.
#[derive(Debug, Default)]
pub struct Stopping {
    /// Their numbers.
    pub numbers: SmallVec<[u32; 4]>,
    /// The numbers of those that only a scenario is notified of.
    pub notified: SmallVec<[u32; 4]>,
    /// The numbers of those that print and continue.
    pub printing: SmallVec<[u32; 4]>,
    /// Those that could not print: the point's number and the reason.
    pub unprinted: Vec<(u32, String)>,
    /// Whether one was temporary, and is to be deleted.
    pub temporary: bool,
    /// Conditions that could not be evaluated, which count as true: the point's number and the
    /// reason.
    pub errors: Vec<(u32, String)>,
    /// Those that are to be disabled or deleted.
    pub spent: SmallVec<[u32; 4]>,
    /// The commands of each.
    pub commands: Vec<Vec<String>>,
}

impl PointKind {
    /// Returns the noun for messages.
    pub fn word(self) -> &'static str {
        match self {
            PointKind::Breakpoint => "breakpoint",
            PointKind::HardwareBreakpoint => "hardware breakpoint",
            PointKind::Watchpoint => "watchpoint",
            PointKind::Catchpoint => "catchpoint",
        }
    }

    /// Returns why points of this kind lack a feature; `None` if they have it. All other features
    /// (conditions, ignore counts, commands, stop counts) are common to all.
    pub fn refusal(self, ability: Ability) -> Option<&'static str> {
        match (self, ability) {
            (PointKind::Breakpoint, _) => None,
            (PointKind::HardwareBreakpoint, Ability::Locations) => {
                Some("a hardware breakpoint is enabled and disabled as a whole")
            }
            (PointKind::Watchpoint | PointKind::Catchpoint, Ability::Locations) => {
                Some("only breakpoints have locations")
            }
            (PointKind::HardwareBreakpoint, Ability::CallingConditions) => Some(
                "the condition of a hardware breakpoint cannot call functions of the program, nor \
                 assign; that of a breakpoint (break) can",
            ),
            (PointKind::Watchpoint, Ability::CallingConditions) => Some(
                "the condition of a watchpoint cannot call functions of the program, nor assign: \
                 that may access the watched memory",
            ),
            (PointKind::Catchpoint, Ability::CallingConditions) => Some(
                "the condition of a catchpoint cannot call functions of the program, nor assign: \
                 that may trigger the caught event",
            ),
        }
    }

    /// Refuses features that points of this kind lack.
    ///
    /// # Errors
    /// They lack it; the reason.
    pub fn must_have(self, ability: Ability) -> Result<(), CommandError> {
        match self.refusal(ability) {
            Some(reason) => Err(CommandError::new(reason)),
            None => Ok(()),
        }
    }
}

impl Point {
    /// Creates an enabled point.
    pub fn new(number: u32, condition: Option<Condition>, fate: Fate) -> Point {
        Point {
            number,
            owner: PointOwner::Developer,
            condition,
            thread: None,
            fate,
            enabled: true,
            ignore: 0,
            hits: 0,
            commands: Vec::new(),
            prints: None,
        }
    }

    /// Returns whether it is for a thread.
    pub fn is_for(&self, program: &Program, thread: ThreadId) -> bool {
        self.thread
            .is_none_or(|wanted| program.thread_number(thread) == wanted)
    }

    /// Processes a hit, given the value of its condition: counts it, and adds it to the points that
    /// stop the program. Returns false if the condition is false.
    pub fn take_hit(&mut self, answer: Answer, stopping: &mut Option<Stopping>) -> bool {
        let error = match answer {
            Ok(false) => return false,
            Ok(true) => None,
            Err(message) => Some(message),
        };
        self.hits += 1;
        if self.ignore > 0 && error.is_none() {
            self.ignore -= 1;
            return true;
        }
        let stopping = stopping.get_or_insert_default();
        let reacts = matches!(self.owner, PointOwner::Scenario { reacts: true, .. });
        // A condition that cannot be evaluated is shown to the user.
        let list = match error.is_none() {
            true if reacts => &mut stopping.notified,
            true if self.prints.is_some() => &mut stopping.printing,
            _ => &mut stopping.numbers,
        };
        list.push(self.number);
        stopping
            .errors
            .extend(error.map(|error| (self.number, error)));
        stopping.temporary |= self.fate == Fate::Delete;
        if self.spend() {
            stopping.spent.push(self.number);
        }
        stopping.commands.push(self.commands.clone());
        true
    }

    /// Notes that it has stopped the program; returns whether it is used up.
    fn spend(&mut self) -> bool {
        match &mut self.fate {
            Fate::Keep => false,
            Fate::Delete => true,
            Fate::Disable(stops) => {
                *stops = stops.saturating_sub(1);
                let is_last = *stops == 0;
                if is_last {
                    self.fate = Fate::Keep;
                    self.enabled = false;
                }
                is_last
            }
        }
    }

    /// Returns its text with its thread and condition, as they would be written now.
    pub fn words(&self, text: &str) -> String {
        let mut words = match self.prints {
            Some(_) => format!("dprintf {text}"),
            None => text.to_owned(),
        };
        if let Some(thread) = self.thread {
            words.push_str(&format!(" thread {thread}"));
        }
        if let Some(condition) = &self.condition {
            words.push_str(&format!(" if {}", condition.text));
        }
        words
    }

    /// Returns its view for `info breakpoints`, without locations; `text` is its location spec or
    /// event.
    pub fn view(&self, kind: PointKind, text: &str) -> PointView {
        PointView {
            number: Some(self.number),
            owner: match self.owner {
                PointOwner::Developer => "developer".to_owned(),
                PointOwner::Scenario { .. } => "scenario".to_owned(),
            },
            kind: kind.word(),
            for_what: self.words(text),
            enabled: self.enabled,
            temporary: self.fate == Fate::Delete,
            locations: Vec::new(),
            hits: self.hits,
            passage: None,
            condition: self.condition.as_ref().map(|it| it.text.clone()),
            thread: self.thread,
            process: None,
            ignore: self.ignore,
            stops_left: match self.fate {
                Fate::Disable(stops) => Some(stops),
                _ => None,
            },
            commands: match &self.prints {
                Some(prints) => vec![format!("printf {}", prints.text)],
                None => self.commands.clone(),
            },
        }
    }
}

impl Stopping {
    /// Returns the number of points.
    pub fn count(&self) -> usize {
        self.numbers.len() + self.notified.len()
    }

    /// Returns a sentence about each condition that could not be evaluated.
    pub fn error_sentences(&self, kind: PointKind) -> Vec<String> {
        let word = match kind {
            PointKind::HardwareBreakpoint => PointKind::Breakpoint.word(),
            kind => kind.word(),
        };
        let sentence = |(number, message): &(u32, String)| {
            format!("the condition of {word} {number} cannot be evaluated: {message}")
        };
        let unprinted = |(number, message): &(u32, String)| {
            format!("the text of {word} {number} cannot be printed: {message}")
        };
        let errors = self.errors.iter().map(sentence);
        errors.chain(self.unprinted.iter().map(unprinted)).collect()
    }
}

/// Parses the numbers of whole points, in order.
///
/// # Errors
/// A word is not a number, or names a location; a sentence for the user.
pub fn whole_points(text: &str) -> Result<Vec<u32>, CommandError> {
    let named = targets(text).map_err(CommandError::new)?;
    let whole = |target: &crate::breakpoints::Target| match target.location {
        None => Ok(target.number),
        Some(location) => Err(CommandError::new(format!(
            "this is possible for a whole breakpoint, not for its location {}.{location}",
            target.number
        ))),
    };
    named.iter().map(whole).collect()
}

/// Returns the step-over method at an address, in words.
pub fn passage(program: &Program, address: u64) -> Option<String> {
    let step_over = program.debuggee.engine().step_over_at(address)?;
    Some(
        match step_over {
            StepOver::Skip { .. } | StepOver::Call { .. } => "emulated",
            StepOver::OutOfLine { .. } => "copied",
            StepOver::InPlace | StepOver::InPlaceRepeated => "in place",
        }
        .to_owned(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(point: &mut Point, answer: Answer, stops: bool, hits: u64) -> Option<Stopping> {
        let mut stopping = None;
        point.take_hit(answer, &mut stopping);
        assert_eq!((stopping.is_some(), point.hits), (stops, hits));
        stopping
    }

    #[test]
    fn hits_are_counted_passed_and_stop() {
        let mut point = Point::new(3, None, Fate::Keep);
        point.ignore = 1;
        check(&mut point, Ok(false), false, 0);
        check(&mut point, Ok(true), false, 1);
        check(&mut point, Ok(true), true, 2);
        // A condition that cannot be evaluated counts as true.
        point.ignore = 1;
        let stopping = check(&mut point, Err("no `x`".into()), true, 3).expect("a stop");
        assert_eq!(
            stopping.error_sentences(PointKind::Watchpoint),
            ["the condition of watchpoint 3 cannot be evaluated: no `x`"]
        );
        assert_eq!(point.ignore, 1);
    }

    #[test]
    fn a_number_of_stops_disables_and_one_deletes() {
        let mut point = Point::new(1, None, Fate::Disable(2));
        let stopping = check(&mut point, Ok(true), true, 1).expect("a stop");
        assert!(stopping.spent.is_empty() && point.enabled);
        let stopping = check(&mut point, Ok(true), true, 2).expect("a stop");
        assert_eq!((&stopping.spent[..], point.enabled), (&[1][..], false));
        let mut point = Point::new(2, None, Fate::Delete);
        let stopping = check(&mut point, Ok(true), true, 1).expect("a stop");
        assert!(stopping.temporary && stopping.spent[..] == [2]);
    }

    #[test]
    fn what_is_senseless_is_refused_with_a_reason() {
        for (kind, ability, refused) in [
            (PointKind::Breakpoint, Ability::Locations, false),
            (PointKind::Breakpoint, Ability::CallingConditions, false),
            (PointKind::HardwareBreakpoint, Ability::Locations, true),
            (PointKind::Watchpoint, Ability::CallingConditions, true),
            (PointKind::Catchpoint, Ability::Locations, true),
        ] {
            assert_eq!(kind.must_have(ability).is_err(), refused, "{kind:?}");
        }
    }

    /// Returns where a hit puts a point: among those that stop, notify or print.
    fn lists(point: &mut Point, answer: Answer) -> [usize; 3] {
        let mut stopping = None;
        point.take_hit(answer, &mut stopping);
        let stopping = stopping.expect("a stop");
        [&stopping.numbers, &stopping.notified, &stopping.printing].map(|list| list.len())
    }

    #[test]
    fn a_reaction_is_notified_and_a_scenario_without_one_stops() {
        let mut point = Point::new(1, None, Fate::Keep);
        let scenario = |reacts| PointOwner::Scenario {
            number: 0,
            reacts,
            start: 0,
            end: 0,
        };
        point.owner = scenario(true);
        assert_eq!(lists(&mut point, Ok(true)), [0, 1, 0]);
        // The user is told of a condition that cannot be evaluated.
        assert_eq!(lists(&mut point, Err("no `x`".into())), [1, 0, 0]);
        point.owner = scenario(false);
        assert_eq!(lists(&mut point, Ok(true)), [1, 0, 0]);
        assert_eq!(point.owner.of_engine(), Owner::Scenario);
    }

    fn printing() -> Point {
        let text = "\"%d\", n";
        let format = crate::format_string::Format::parse(text).expect("it is right");
        Point {
            prints: Some(Rc::new(DynamicPrint {
                text: text.to_owned(),
                format,
                caller_count: 0,
            })),
            ..Point::new(4, None, Fate::Keep)
        }
    }

    #[test]
    fn a_dprintf_prints_and_does_not_stop() {
        assert_eq!(lists(&mut printing(), Ok(true)), [0, 0, 1]);
        assert_eq!(lists(&mut printing(), Err("no `x`".into())), [1, 0, 0]);
        let view = printing().view(PointKind::Breakpoint, "main");
        assert_eq!(
            (view.for_what.as_str(), view.commands),
            ("dprintf main", vec!["printf \"%d\", n".to_owned()])
        );
    }

    #[test]
    fn the_view_of_a_point_has_its_thread_and_the_stops_that_are_left() {
        let mut point = Point::new(3, None, Fate::Disable(2));
        point.thread = Some(7);
        let view = point.view(PointKind::HardwareBreakpoint, "push");
        assert_eq!(view.for_what, "push thread 7");
        assert_eq!((view.stops_left, view.temporary), (Some(2), false));
        let view = Point::new(3, None, Fate::Delete).view(PointKind::Watchpoint, "n");
        assert_eq!((view.stops_left, view.temporary), (None, true));
    }

    #[test]
    fn an_error_of_a_hardware_breakpoint_is_one_of_a_breakpoint() {
        let stopping = Stopping {
            errors: vec![(1, "no `x`".to_owned())],
            unprinted: vec![(2, "no `y`".to_owned())],
            ..Stopping::default()
        };
        assert_eq!(
            stopping.error_sentences(PointKind::HardwareBreakpoint),
            [
                "the condition of breakpoint 1 cannot be evaluated: no `x`",
                "the text of breakpoint 2 cannot be printed: no `y`"
            ]
        );
    }

    #[test]
    fn a_location_is_not_a_whole_point() {
        assert_eq!(whole_points("1-3 5").ok(), Some(vec![1, 2, 3, 5]));
        let message = |text| whole_points(text).expect_err("it is wrong").message;
        assert_eq!(
            message("1 2.3"),
            "this is possible for a whole breakpoint, not for its location 2.3"
        );
        assert_eq!(message("x"), "`x` is not the number of a breakpoint");
    }
}
