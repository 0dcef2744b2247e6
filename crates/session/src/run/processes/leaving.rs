//! One of several processes ends, or is let go; and the end of all of them.

use crate::run::pause::Pause;
use crate::session::Session;
use crate::state::process::Parked;
use juror_debuggee::Notice;
use juror_monitoring::report;
use juror_view::error::CommandError;
use juror_view::{Ending, Outcome, ProcessEnd, ViolationView};

impl Session {
    /// The current process has ended: the run is over when it was the last.
    pub(crate) fn on_process_end(&mut self, ending: Ending) -> Option<Pause> {
        if !self.processes.are_several() {
            return Some(Pause::Ended(Some(ending)));
        }
        self.retire(Some(ending));
        None
    }

    /// What the end of the current process violates; nothing where it was ended
    /// by the user, by a command or by a function that a command called.
    pub(crate) fn final_violations(&mut self, ending: Option<Ending>) -> Vec<ViolationView> {
        let is_called = self.evaluations.running_function().is_some();
        let violations = match ending {
            Some(ending) if ending.is_final() && !is_called => self.watch.finish(),
            _ => Vec::new(),
        };
        let program = self.program.as_ref();
        let at_exit = std::mem::take(&mut self.exit_violations);
        let mut shown = report::end_violations(&self.watch, &at_exit, program, false);
        shown.extend(report::end_violations(
            &self.watch,
            &violations,
            program,
            true,
        ));
        shown
    }

    /// The current process is gone, and others are there: its part of the
    /// verdicts is kept, and another is the current one.
    pub(crate) fn retire(&mut self, ending: Option<Ending>) {
        let violations = self.final_violations(ending);
        let end = ProcessEnd {
            number: self.processes.current,
            id: self.program.as_ref().map_or(0, |it| it.debuggee.pid()),
            ending,
            violations,
        };
        self.processes.untold.push(end);
        if let Some(mut gone) = self.replace_current(ending) {
            self.processes.keep_watchpoints(&mut gone);
        }
    }

    /// Makes another process the current one in place of this, which is given
    /// away with what belongs to it. Its monitors are counted.
    fn replace_current(&mut self, ending: Option<Ending>) -> Option<Parked> {
        let others = &self.processes.others;
        let first = others.iter().enumerate().min_by_key(|(_, it)| it.number);
        let position = first.map(|(position, _)| position)?;
        let program = self.program.as_ref();
        self.processes.count(&mut self.watch, program, ending);
        let mut parked = self.processes.others.swap_remove(position);
        self.exchange(&mut parked);
        if let Some(program) = &mut self.program
            && self.processes.others.is_empty()
        {
            program.debuggee.set_alone(true);
        }
        Some(parked)
    }

    /// Takes note of the processes that have ended while they were being
    /// stopped. False when the current one was among them.
    pub(crate) fn retire_ended(&mut self) -> bool {
        let home = self.processes.current;
        for number in self.processes.numbers() {
            let program = self.program_of(number);
            let has_ended = program.is_some_and(|it| !it.debuggee.is_alive());
            if has_ended && self.processes.are_several() {
                self.switch_to(number);
                let ending = self.ending_told();
                self.retire(ending);
            }
        }
        self.switch_to(home);
        self.processes.current == home
    }

    /// How the current process, which is gone, has ended.
    pub(crate) fn ending_told(&mut self) -> Option<Ending> {
        let debuggee = &mut self.program.as_mut()?.debuggee;
        loop {
            match debuggee.wait() {
                Ok(Notice::Exited { status }) => return Some(Ending::Exited { status }),
                Ok(Notice::Killed { signal, .. }) => return Some(Ending::Killed { signal }),
                Ok(_) => {}
                Err(_) => return None,
            }
        }
    }

    /// Lets the current one of several processes go on alone.
    pub(crate) fn detach_one(&mut self) -> Result<Outcome, CommandError> {
        let (number, process) = (self.processes.current, self.running()?.debuggee.pid());
        let ending = Some(Ending::Detached { process });
        let Some(mut left) = self.replace_current(ending) else {
            return Ok(Outcome::Done);
        };
        self.processes.keep_watchpoints(&mut left);
        for program in self
            .program
            .iter_mut()
            .chain(self.processes.other_programs_mut())
        {
            program.debuggee.spare_group();
        }
        if let Some(program) = left.program.take() {
            program.debuggee.detach()?;
        }
        let selected = self.processes.current;
        let id = self.running()?.debuggee.pid();
        Ok(Outcome::Message(format!(
            "Process {number} ({process}) goes on without juror; process {selected} ({id}) is \
             selected."
        )))
    }

    /// Lets all processes but the current one go on alone. What it was is told
    /// of the first that could not be let go as it was.
    pub(crate) fn detach_others(&mut self) -> Result<(), CommandError> {
        let mut result = Ok(());
        for mut other in std::mem::take(&mut self.processes.others) {
            let ending = other.program.as_ref().map(|it| Ending::Detached {
                process: it.debuggee.pid(),
            });
            self.processes
                .count(&mut other.watch, other.program.as_ref(), ending);
            self.processes.keep_watchpoints(&mut other);
            if let Some(program) = other.program.take() {
                result = result.and(program.debuggee.detach());
            }
        }
        Ok(result?)
    }

    /// Ends all processes.
    pub(crate) fn kill_processes(&mut self) -> Result<(), CommandError> {
        let mut result = match &mut self.program {
            Some(program) => program.debuggee.kill(),
            None => Ok(()),
        };
        for mut other in std::mem::take(&mut self.processes.others) {
            self.processes
                .count(&mut other.watch, other.program.as_ref(), None);
            self.processes.keep_watchpoints(&mut other);
            if let Some(program) = &mut other.program {
                result = result.and(program.debuggee.kill());
            }
        }
        Ok(result?)
    }
}
