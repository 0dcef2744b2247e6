//! Several processes in one session: the program and what it has forked.
//!
//! The session's own fields are those of one process, the *current* one; the
//! others are parked. What belongs to a process (its debuggee, its modules, its
//! monitors, where breakpoints are in it, what is selected in it) is exchanged
//! when another becomes the current one; what belongs to the user (breakpoints
//! with their counts, settings, values) is not.
//!
//! Invariant: when there is a process, there is a current one, and none of the
//! parked ones is without its program. A notice is taken in with its process
//! as the current one; so is what a person types.

mod joining;
mod leaving;
mod properties;
mod running;
mod selecting;
mod watching;

use crate::session::Session;
use crate::state::process::{FIRST, Parked};
use juror_instrument::program::Program;
use juror_view::ProcessName;
use juror_view::error::CommandError;
use std::mem;

impl Session {
    /// The current process, when there have been several.
    pub(crate) fn process_name(&self) -> Option<ProcessName> {
        let program = self.program.as_ref()?;
        (self.processes.last > FIRST).then(|| ProcessName {
            number: self.processes.current,
            id: program.debuggee.pid(),
            count: self.processes.others.len() + 1,
        })
    }

    /// Makes another process the current one; nothing when it is.
    pub(crate) fn switch_to(&mut self, number: u32) {
        let mut others = self.processes.others.iter();
        let Some(position) = others.position(|it| it.number == number) else {
            return;
        };
        let mut others = mem::take(&mut self.processes.others);
        if let Some(parked) = others.get_mut(position) {
            self.exchange(parked);
        }
        self.processes.others = others;
    }

    /// The parked process becomes the current one, and the other way round.
    fn exchange(&mut self, parked: &mut Parked) {
        mem::swap(&mut self.processes.current, &mut parked.number);
        mem::swap(&mut self.program, &mut parked.program);
        mem::swap(&mut self.watch, &mut parked.watch);
        mem::swap(&mut self.evaluations, &mut parked.evaluations);
        mem::swap(&mut self.announced, &mut parked.announced);
        mem::swap(&mut self.asked, &mut parked.asked);
        mem::swap(&mut self.selection, &mut parked.selection);
        mem::swap(&mut self.watchpoints, &mut parked.watchpoints);
        mem::swap(&mut self.exit_violations, &mut parked.exit_violations);
        self.hardware_breakpoints.exchange(&mut parked.hardware);
        let Some(program) = &mut self.program else {
            return;
        };
        self.breakpoints.exchange(&mut parked.places, program);
        self.catchpoints.exchange(&mut parked.caught, program);
        // The terminal, and what an interruption is sent to.
        if let Some(before) = &mut parked.program {
            before.debuggee.hand_over(&mut program.debuggee);
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
        let home = self.processes.current;
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

    /// The program of a process, wherever it is; none when it is gone.
    pub(crate) fn program_of(&mut self, number: u32) -> Option<&mut Program> {
        if number == self.processes.current {
            return self.program.as_mut();
        }
        let mut others = self.processes.others.iter_mut();
        let parked = others.find(|it| it.number == number)?;
        parked.program.as_mut()
    }

    /// Has every process the points that the developer wants now. All threads
    /// stand.
    pub(crate) fn renew_points(&mut self) -> Result<(), CommandError> {
        if !self.processes.are_several() {
            return Ok(());
        }
        self.in_every_process(|session| {
            if let Some(program) = &mut session.program
                && program.debuggee.is_alive()
            {
                session.breakpoints.bind(program);
                session.hardware_breakpoints.settle(program)?;
            }
            session.renew_catchpoints();
            Ok(())
        })
    }
}
