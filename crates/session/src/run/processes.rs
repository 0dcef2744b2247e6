//! Several processes in one session: the program and what it has forked.
//!
//! Commands and stop events are about one process, the *current* one
//! ([`crate::state::process`]). To make another one the current one is to change an
//! index; only the tables of points are told where they are in that process.
//!
//! **Invariant**: a stop event is handled with its process as the current one; so is
//! what the user types.

pub(crate) mod joining;
pub(crate) mod leaving;
pub(crate) mod properties;
pub(crate) mod running;
pub(crate) mod watching;

use crate::run::catchpoints;
use crate::session::Session;
use juror_view::ProcessName;
use juror_view::error::CommandError;

impl Session {
    /// The current process, when there have been several.
    pub(crate) fn process_name(&self) -> Option<ProcessName> {
        self.processes.name()
    }

    /// Makes another process the current one; nothing when it is.
    pub(crate) fn switch_to(&mut self, number: u32) {
        if let Some((before, now)) = self.processes.make_current(number) {
            self.points.exchange(before, now);
        }
    }

    /// Does something in every process, the current one first, which is the
    /// current one again afterwards.
    pub(crate) fn in_every_process(
        &mut self,
        mut action: impl FnMut(&mut Session) -> Result<(), CommandError>,
    ) -> Result<(), CommandError> {
        action(self)?;
        if !self.processes.are_several() {
            return Ok(());
        }
        let home = self.processes.number;
        let mut result = Ok(());
        for number in self.processes.numbers() {
            if number != home {
                self.switch_to(number);
                result = result.and(action(self));
            }
        }
        self.switch_to(home);
        result
    }

    /// Has every process the points that the developer wants now. All threads
    /// stand.
    pub(crate) fn renew_points(&mut self) -> Result<(), CommandError> {
        if !self.processes.are_several() {
            return Ok(());
        }
        self.in_every_process(|session| {
            if let Some(program) = &mut session.processes.program
                && program.debuggee.is_alive()
            {
                session.points.breakpoints.bind(program);
                session.points.hardware.settle(program)?;
            }
            catchpoints::renew_catchpoints(session);
            Ok(())
        })
    }
}
