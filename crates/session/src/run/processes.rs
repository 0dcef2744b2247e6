//! Several processes in one session: the program and its fork children.
//!
//! Commands and stop events refer to one process, the *current* one ([`crate::state::process`]).
//! Making another one current changes an index; only the tables of points exchange their bindings.
//!
//! **Invariant**: a stop event is handled with its process as the current one, and so is a command.

pub(crate) mod joining;
pub(crate) mod leaving;
pub(crate) mod properties;
pub(crate) mod running;
pub(crate) mod watching;

use crate::run::catchpoints;
use crate::session::Session;
use juror_fault::CommandError;
use juror_view::ProcessName;

impl Session {
    /// Returns the name of the current process, if there have been several.
    pub(crate) fn process_name(&self) -> Option<ProcessName> {
        self.processes.name()
    }

    /// Makes another process the current one.
    pub(crate) fn switch_to(&mut self, number: u32) {
        if let Some((before, now)) = self.processes.make_current(number) {
            self.points.exchange(before, now);
        }
    }

    /// Runs an action in every process, the current one first, and then makes that current again.
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

    /// Inserts the wanted points in every process. All threads are stopped.
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
