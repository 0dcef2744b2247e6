//! The debugged program: figures 7 to 15. Each rule is a function with its name.
//!
//! **Invariant** (definition 7.1): apart from breakpoint instructions, the program is
//! as it would be without a debugger.

mod commands;

use super::monitors::{Event, EventNumber, Monitors};
use super::points::{Owner, Point, watched_for};
use crate::{Access, Debuggee, Executed, Fault};
use juror_control::Control;
use juror_event::EventKind;
use std::collections::{BTreeMap, BTreeSet};

/// Whether the program may run: the paper's I and P, to which the modes of
/// [`juror_control`] reduce here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mode {
    /// The developer gives commands.
    Interactive,
    /// The program runs.
    Passive,
}

/// The output of a rule of the debugged program.
#[derive(Debug, Clone, PartialEq)]
pub enum Output {
    /// An instruction has been executed.
    Executed,
    /// The program has ended.
    Ended,
    /// A point of the developer was reached.
    Stopped(Point),
    /// A point of the scenario was reached.
    Point(Point),
    /// Events occurred.
    Events(Vec<Event>),
    /// The original instruction was restored: all its breakpoints are handled.
    BreakpointRemoved,
}

/// A rule that a test omits, or replaces by a plausible wrong one.
#[cfg(test)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Dropped {
    /// Triggered points are not remembered.
    Handled,
    /// The breakpoint is not reinserted after the instruction.
    Reinsert,
    /// A checkpoint does not keep which points were triggered, as in the paper.
    KeptHandled,
    /// A breakpoint set for monitors in the middle of an instruction is triggered at
    /// that instruction, as in the paper.
    Arrival,
    /// Accesses that monitors have passed may be events later, as in the paper.
    AccessOrder,
    /// Of the events of one moment, only those occur that are needed when it begins.
    SameMoment,
    /// The monitors are not restored with the program.
    RestoredMonitors,
    /// The monitors' points are not restored with the program.
    RestoredEvents,
    /// Points are not updated when the states of the monitors change.
    Instrument,
}

/// A checkpoint of the program and of the debugger's state.
#[derive(Debug, Clone)]
struct Checkpoint<C> {
    program: C,
    events: Vec<EventNumber>,
    handled: BTreeSet<Point>,
    accesses_passed: usize,
    /// The scenario's points at the time of the checkpoint.
    scenario: BTreeSet<Point>,
}

/// A program with a debugger: `Conf_P × Conf_D`.
#[derive(Debug, Clone)]
pub struct Debugged<D: Debuggee> {
    pub(super) debuggee: D,
    /// The control, the same type that the session uses.
    control: Control,
    /// Breakpoints and watchpoints (`bpts`, `wpts`).
    points: BTreeSet<Point>,
    /// The events of each monitor point (`evts`). A point may have several events; in
    /// the paper it has one, and of two properties that need the same location one
    /// would miss the event.
    events: BTreeMap<Point, Vec<EventNumber>>,
    /// The points triggered at the current instruction (`hdld`).
    handled: BTreeSet<Point>,
    /// The number of accesses of the current instruction that the monitors have passed.
    /// In the paper a watchpoint that an event adds may match an access before that
    /// event.
    accesses_passed: usize,
    checkpoints: Vec<Checkpoint<D::Checkpoint>>,
    #[cfg(test)]
    pub(crate) dropped: Option<Dropped>,
}

impl<D: Debuggee> Debugged<D> {
    /// Creates a program at its beginning; the developer has the control.
    pub fn new(debuggee: D) -> Debugged<D> {
        Debugged {
            debuggee,
            control: Control::stopped(),
            points: BTreeSet::new(),
            events: BTreeMap::new(),
            handled: BTreeSet::new(),
            accesses_passed: 0,
            checkpoints: Vec::new(),
            #[cfg(test)]
            dropped: None,
        }
    }

    /// Returns the program.
    pub fn debuggee(&self) -> &D {
        &self.debuggee
    }

    /// Returns whether the program may run.
    pub fn mode(&self) -> Mode {
        match self.control.mode() {
            juror_control::Mode::Run | juror_control::Mode::Deciding => Mode::Passive,
            juror_control::Mode::Init
            | juror_control::Mode::Loaded
            | juror_control::Mode::Break => Mode::Interactive,
        }
    }

    /// Iterates over all points.
    pub fn points(&self) -> impl Iterator<Item = Point> {
        self.points.iter().copied()
    }

    fn points_of(&self, owner: Owner) -> impl Iterator<Item = Point> {
        self.points().filter(move |it| it.owner == owner)
    }

    #[cfg(test)]
    pub(super) fn drops(&self, rule: Dropped) -> bool {
        self.dropped == Some(rule)
    }

    /// Applies one rule in passive mode. Watchpoints trigger before the access and
    /// after the breakpoints, since a breakpoint instruction accesses nothing. A
    /// processor's watchpoints trap after the access; the session takes the old value
    /// from a copy that it keeps.
    ///
    /// # Errors
    /// If the debugger is interactive, or the program cannot go on.
    pub fn execute(&mut self, monitors: &Monitors) -> Result<Output, Fault> {
        if self.mode() != Mode::Passive {
            return Err(Fault::Mode("stands"));
        }
        self.cont()?;
        let output = self.rule(monitors)?;
        self.control.notify();
        Ok(output)
    }

    fn rule(&mut self, monitors: &Monitors) -> Result<Output, Fault> {
        let accesses = self.debuggee.accesses()?;
        for owner in Owner::IN_ORDER {
            let output = match owner {
                Owner::Developer => self.dev_watch(&accesses)?,
                Owner::Scenario => self.scn_watch(&accesses)?,
                Owner::Monitor => self.evt_watch(&accesses, monitors)?,
            };
            if let Some(output) = output {
                return Ok(output);
            }
        }
        let before = self.debuggee.program_counter()?;
        match self.debuggee.execute()? {
            Executed::Instruction => self.normal_exec(before),
            Executed::End => Ok(Output::Ended),
            Executed::Trap => self.trap(monitors),
        }
    }

    /// BPHIT: the breakpoints at the current instruction, in the order of owners.
    fn trap(&mut self, monitors: &Monitors) -> Result<Output, Fault> {
        let address = self.debuggee.program_counter()?;
        for owner in Owner::IN_ORDER {
            let output = match owner {
                Owner::Developer => self.dev_break(address)?,
                Owner::Scenario => self.scn_break(address),
                Owner::Monitor => self.evt_break(address, monitors)?,
            };
            if let Some(output) = output {
                return Ok(output);
            }
        }
        self.trap_no_break(address)
    }

    /// Finds the watchpoint of an owner that the earliest matching access triggers.
    fn watchpoint(&self, owner: Owner, accesses: &[Access]) -> Option<Point> {
        let mut open = accesses.iter().flat_map(|access| {
            let matches = move |point: &&Point| point.matches(access);
            self.points.iter().filter(matches)
        });
        open.find(|point| point.owner == owner && !self.handled.contains(point))
            .copied()
    }

    /// Finds a breakpoint of an owner that is not handled yet.
    fn breakpoint(&self, owner: Owner, address: u64) -> Option<Point> {
        let point = Point::breakpoint(owner, address);
        let is_open = self.points.contains(&point) && !self.handled.contains(&point);
        is_open.then_some(point)
    }

    /// Marks a point as triggered.
    fn handle(&mut self, point: Point) {
        #[cfg(test)]
        if self.drops(Dropped::Handled) {
            return;
        }
        self.handled.insert(point);
    }

    /// DEVWATCH.
    fn dev_watch(&mut self, accesses: &[Access]) -> Result<Option<Output>, Fault> {
        let Some(point) = self.watchpoint(Owner::Developer, accesses) else {
            return Ok(None);
        };
        self.handle(point);
        self.restore_breakpoint()?;
        self.int()?;
        Ok(Some(Output::Stopped(point)))
    }

    /// SCNWATCH.
    fn scn_watch(&mut self, accesses: &[Access]) -> Result<Option<Output>, Fault> {
        let Some(point) = self.watchpoint(Owner::Scenario, accesses) else {
            return Ok(None);
        };
        self.handle(point);
        self.restore_breakpoint()?;
        Ok(Some(Output::Point(point)))
    }

    /// EVTWATCH: finds the first access that is a needed event, and all events of that
    /// access. The accesses before it are passed, whatever is watched afterwards.
    fn evt_watch(
        &mut self,
        accesses: &[Access],
        monitors: &Monitors,
    ) -> Result<Option<Output>, Fault> {
        for (position, access) in accesses.iter().enumerate().skip(self.accesses_passed) {
            let is_open = |point: &Point| point.matches(access) && !self.handled.contains(point);
            let triggered: Vec<Point> = self.events.keys().copied().filter(is_open).collect();
            if triggered.is_empty() {
                continue;
            }
            self.accesses_passed = position + 1;
            #[cfg(test)]
            if self.drops(Dropped::AccessOrder) {
                self.accesses_passed = 0;
                self.handled.extend(triggered);
            }
            self.restore_breakpoint()?;
            let is_here = |point: &Point| point.matches(access);
            let events = self.events_here(is_here, Some(access), monitors)?;
            return Ok(Some(Output::Events(events)));
        }
        Ok(None)
    }

    /// DEVBREAK.
    fn dev_break(&mut self, address: u64) -> Result<Option<Output>, Fault> {
        let Some(point) = self.breakpoint(Owner::Developer, address) else {
            return Ok(None);
        };
        self.handle(point);
        self.int()?;
        Ok(Some(Output::Stopped(point)))
    }

    /// SCNBREAK.
    fn scn_break(&mut self, address: u64) -> Option<Output> {
        let point = self.breakpoint(Owner::Scenario, address)?;
        self.handle(point);
        Some(Output::Point(point))
    }

    /// EVTBREAK: finds all events of an instruction at which one is needed.
    fn evt_break(&mut self, address: u64, monitors: &Monitors) -> Result<Option<Output>, Fault> {
        let Some(point) = self.breakpoint(Owner::Monitor, address) else {
            return Ok(None);
        };
        self.handle(point);
        let events = self.events_here(|it| *it == point, None, monitors)?;
        Ok(Some(Output::Events(events)))
    }

    /// TRAPNOBREAK: all breakpoints here are handled, so the original instruction is
    /// restored until it has been executed. The `stepping` crate does not remove a trap
    /// for this while other threads run: it executes a displaced copy.
    fn trap_no_break(&mut self, address: u64) -> Result<Output, Fault> {
        self.debuggee.remove_breakpoint(address)?;
        Ok(Output::BreakpointRemoved)
    }

    /// NORMALEXEC: executes one instruction and reinserts its breakpoint instruction.
    /// Only that one was removed, since programs do not read their code (the paper's
    /// remark 6).
    fn normal_exec(&mut self, executed: u64) -> Result<Output, Fault> {
        self.handled.clear();
        self.accesses_passed = 0;
        #[cfg(test)]
        if self.drops(Dropped::Reinsert) {
            return Ok(Output::Executed);
        }
        if self.is_breakpoint(executed) {
            self.debuggee.insert_breakpoint(executed)?;
        }
        Ok(Output::Executed)
    }

    /// `restoreBP`: reinserts the breakpoint at the current instruction, if it has one.
    fn restore_breakpoint(&mut self) -> Result<(), Fault> {
        let address = self.debuggee.program_counter()?;
        if self.is_breakpoint(address) {
            self.debuggee.insert_breakpoint(address)
        } else {
            Ok(())
        }
    }

    fn is_breakpoint(&self, address: u64) -> bool {
        let has = |owner| self.points.contains(&Point::breakpoint(owner, address));
        Owner::IN_ORDER.into_iter().any(has)
    }

    /// Instantiates the events of one moment, in the order of their numbers: also those
    /// that are not needed, since an event may make the next one needed.
    fn events_here(
        &self,
        is_here: impl Fn(&Point) -> bool,
        access: Option<&Access>,
        monitors: &Monitors,
    ) -> Result<Vec<Event>, Fault> {
        let happens =
            |number: &EventNumber| self.points_for(*number, monitors).iter().any(&is_here);
        #[cfg(test)]
        let happens = |number: &EventNumber| {
            happens(number) && (!self.drops(Dropped::SameMoment) || monitors.needs(*number))
        };
        let numbers = monitors.events().filter(happens);
        let instantiated =
            numbers.map(|number| monitors.instantiate(number, access, &self.debuggee));
        let found: Result<Vec<_>, Fault> = instantiated.collect();
        Ok(found?.into_iter().flatten().collect())
    }

    /// CLEAREVENTS.
    fn clear_events(&mut self) -> Result<(), Fault> {
        for point in std::mem::take(&mut self.events).into_keys() {
            self.remove_point(point)?;
        }
        Ok(())
    }

    /// INSTRUMENT: watches exactly the events that the monitors need now. The session
    /// inserts and removes the difference, in one place.
    pub(super) fn instrument(
        &mut self,
        needed: &[EventNumber],
        monitors: &Monitors,
    ) -> Result<(), Fault> {
        self.clear_events()?;
        for &number in needed {
            for point in self.points_for(number, monitors) {
                self.events.entry(point).or_default().push(number);
                self.set_point(point)?;
            }
        }
        Ok(())
    }

    /// INSTRUMENT after an event. Events that the monitors start to need at this
    /// instruction count from its next arrival on: in the paper they would be triggered
    /// now, after accesses that come later than the arrival.
    pub(super) fn instrument_after_event(
        &mut self,
        needed: &[EventNumber],
        monitors: &Monitors,
    ) -> Result<(), Fault> {
        #[cfg(test)]
        if self.drops(Dropped::Instrument) {
            return Ok(());
        }
        self.instrument(needed, monitors)?;
        #[cfg(test)]
        if self.drops(Dropped::Arrival) {
            return Ok(());
        }
        let here = self.debuggee.program_counter()?;
        self.handle(Point::breakpoint(Owner::Monitor, here));
        Ok(())
    }

    /// `evt2pts`, figure 6.
    fn points_for(&self, number: EventNumber, monitors: &Monitors) -> Vec<Point> {
        let Some(symbolic) = monitors.symbolic(number) else {
            return Vec::new();
        };
        let breakpoint = |address: u64| Point::breakpoint(Owner::Monitor, address);
        let address = self.debuggee.address_of(&symbolic.subject);
        match (symbolic.kind, watched_for(symbolic.kind), address) {
            (EventKind::AfterCall, _, _) => {
                let returns = self.debuggee.returns_of(&symbolic.subject);
                returns.into_iter().map(breakpoint).collect()
            }
            (EventKind::BeforeCall, _, Some(address)) => vec![breakpoint(address)],
            (_, Some(watched), Some(address)) => {
                vec![Point::watchpoint(Owner::Monitor, address, watched)]
            }
            _ => Vec::new(),
        }
    }
}
