//! The program launched again, in place of the present one, which is kept until the new one stands
//! where it is to stand.
//!
//! The user's points are in the new one as in the present one, and count from the start of the run; none
//! is used up on the way, and no commands are executed.

use crate::commands::points_edit;
use crate::run::going_back::waypoints::Origin;
use crate::run::points::all_points;
use crate::session::Session;
use crate::state::process::{Inserted, Processes};
use juror_control::Control;
use juror_fault::{CommandError, SessionError};
use juror_monitoring::monitors::Monitors;
use juror_points::breakpoints::Passes;
use juror_points::point::{Fate, Point};
use juror_program::program::Program;
use juror_view::observer::SilentObserver;
use std::cell::Cell;
use std::mem;

/// What the present run has, while another one is made.
pub(super) struct Kept {
    processes: Processes,
    control: Control,
    inserted: Inserted,
    passes: Passes,
    points: Vec<PointState>,
    /// The place from which the walk set out that has found the goal last.
    pub(super) origin: Cell<Origin>,
    /// Whether walks set out at the start only.
    pub(super) starts_anew: Cell<bool>,
    /// Whether any walk has set out at a checkpoint.
    pub(super) has_used_checkpoints: Cell<bool>,
}

/// What a run changes in a point of the user.
struct PointState {
    number: u32,
    hits: u64,
    ignore: u64,
    fate: Fate,
    enabled: bool,
}

impl Kept {
    /// Takes the present program aside.
    pub(super) fn take(session: &mut Session) -> Kept {
        let mut inserted = Inserted {
            breakpoints: session.points.breakpoints.places_of_fork(),
            ..Inserted::default()
        };
        session.points.hardware.exchange(&mut inserted.hardware);
        if let Some(program) = &mut session.processes.program {
            let places = &mut inserted.caught;
            session.points.catchpoints.exchange(places, program);
        }
        let passes = mem::take(&mut session.points.breakpoints.passes);
        let points = all_points(session);
        let points = points.map(|(_, point)| PointState::of(point)).collect();
        session.points.forget_process();
        Kept {
            processes: mem::replace(&mut session.processes, Processes::new(Monitors::default())),
            control: mem::take(&mut session.control.state),
            inserted,
            passes,
            points,
            origin: Cell::default(),
            starts_anew: Cell::default(),
            has_used_checkpoints: Cell::default(),
        }
    }

    /// Returns the present program; none if it has ended.
    pub(super) fn program(&self) -> Option<&Program> {
        self.processes.program.as_ref()
    }

    /// Prepares the session for a program that is launched again, in place of one that was launched so
    /// before.
    pub(super) fn prepare(&self, session: &mut Session) {
        session.points.forget_process();
        let mut monitors = self.processes.monitors.kept();
        monitors.restart(session.options.history);
        session.processes = Processes::new(monitors);
        session.control.state = Control::default();
        session.processes.watchpoints = self.processes.watchpoints.again();
        points_edit::forget_hits(session);
        for (_, point) in all_points(session) {
            if let Some(state) = self.state_of(point.number) {
                state.begin(point);
            }
        }
    }

    /// Launches the program again, in place of one that was launched so before. Nothing of it has
    /// run, and what it writes goes nowhere.
    pub(super) fn launch(&self, session: &mut Session) -> Result<(), CommandError> {
        self.prepare(session);
        session.launch.is_again = true;
        let launched = session.launch(&mut SilentObserver);
        session.launch.is_again = false;
        launched.map_err(|error| launch_error(&error))?;
        session.running_mut()?.debuggee.set_silent(true);
        Ok(())
    }

    /// Ends the program that was launched again: the present one stands where it stood.
    pub(super) fn come_back(mut self, session: &mut Session) -> Result<(), CommandError> {
        session.points.forget_process();
        session.processes = self.processes;
        session.control.state = self.control;
        for (_, point) in all_points(session) {
            let mut states = self.points.iter();
            if let Some(state) = states.find(|state| state.number == point.number) {
                state.put_back(point);
                point.hits = state.hits;
                point.enabled = state.enabled;
            }
        }
        session
            .points
            .hardware
            .exchange(&mut self.inserted.hardware);
        if let Some(program) = &mut session.processes.program {
            let Inserted {
                breakpoints,
                caught,
                ..
            } = &mut self.inserted;
            session.points.breakpoints.exchange(breakpoints, program);
            session.points.catchpoints.exchange(caught, program);
            session.control.share_interrupter(&mut program.debuggee)?;
            session.control.forget_interruption(&mut program.debuggee);
        }
        session.points.breakpoints.passes = self.passes;
        Ok(())
    }

    /// Keeps the program that was launched again, which stands where it is to stand; the present
    /// one ends.
    pub(super) fn leave(self, session: &mut Session) -> Result<Vec<String>, CommandError> {
        for (_, point) in all_points(session) {
            if let Some(state) = self.state_of(point.number) {
                state.put_back(point);
            }
        }
        let mut control = self.control;
        control.restore(false);
        session.control.state = control;
        session.points.commands.clear();
        let debuggee = &mut session.running_mut()?.debuggee;
        debuggee.stop_at_point(None);
        debuggee.set_silent(false);
        Ok(Vec::new())
    }

    fn state_of(&self, number: u32) -> Option<&PointState> {
        self.points.iter().find(|state| state.number == number)
    }
}

impl PointState {
    fn of(point: &Point) -> PointState {
        PointState {
            number: point.number,
            hits: point.hits,
            ignore: point.ignore,
            fate: point.fate,
            enabled: point.enabled,
        }
    }

    /// Sets the point for the run from its start: it stays, and one that ignores its next hits has
    /// ignored all so far.
    fn begin(&self, point: &mut Point) {
        point.fate = Fate::Keep;
        if self.ignore > 0 {
            point.ignore = u64::MAX;
        }
    }

    /// Gives the point back what a run uses up.
    fn put_back(&self, point: &mut Point) {
        point.fate = self.fate;
        point.ignore = self.ignore;
    }
}

fn launch_error(error: &SessionError) -> CommandError {
    CommandError::new(format!("the run cannot be made again: {error}"))
}
