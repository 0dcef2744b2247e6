//! Commands that begin, repeat and end runs of the program.

use crate::command_table::words::number;
use crate::run::pause::{Pause, Temporary};
use crate::run::step::Lines;
use crate::session::Session;
use crate::state::command_line::CommandLine;
use juror_debuggee::Origin;
use juror_view::error::CommandError;
use juror_view::observer::Observer;
use juror_view::{Outcome, StopReason};

impl Session {
    /// `run`: goes on from the start, or starts anew.
    pub(super) fn run(
        &mut self,
        rest: &str,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, CommandError> {
        self.prepare_run(rest, observer)?;
        self.continue_run(observer)
    }

    pub(super) fn prepare_run(
        &mut self,
        rest: &str,
        observer: &mut dyn Observer,
    ) -> Result<(), CommandError> {
        let said = self.next_line.take();
        let line = match rest {
            "" => said,
            _ => Some(CommandLine::parse(rest)?),
        };
        let is_as_wanted = self.has_wanted_numbers() && !self.starts_anew;
        if self.is_fresh() && line.is_none() && is_as_wanted {
            return Ok(());
        }
        if self.options.program.as_os_str().is_empty() {
            return Err(CommandError::with_help(
                "no program is named that could be run",
                "start juror with one, juror ./program, or attach to a process: attach 1234",
            ));
        }
        if let Some(program) = &self.program
            && program.debuggee.origin() == Origin::Attached
        {
            return Err(CommandError::with_help(
                "this process was running before juror came",
                "let it go on with detach, or end it with kill; then run starts the program",
            ));
        }
        let redirections = line.as_ref().map(|line| &line.redirections);
        redirections.unwrap_or(&self.redirections).check()?;
        if let Some(line) = line {
            self.options.arguments = line.arguments;
            self.redirections = line.redirections;
        }
        self.kill_processes()?;
        self.forget_program();
        self.watch.restart(self.options.history);
        self.forget_hits();
        self.restart_scenarios()?;
        self.launch(observer)?;
        Ok(())
    }

    /// `starti`: stands at the first instruction of the program.
    pub(super) fn start_instruction(
        &mut self,
        rest: &str,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, CommandError> {
        self.prepare_run(rest, observer)?;
        let pause = self.begin(observer)?;
        let thread = self.thread()?;
        match pause {
            Some(pause) => self.settle(pause),
            None => self.stop(StopReason::Started, thread),
        }
    }

    /// `start`: runs to `main`.
    pub(super) fn start_command(
        &mut self,
        rest: &str,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, CommandError> {
        self.prepare_run(rest, observer)?;
        let place = self.main_function();
        let program = self.running_mut()?;
        let addresses = place.resolve(&program.modules).addresses;
        if addresses.is_empty() {
            // Without symbols the entry point is the beginning.
            let Some(main) = program.modules.main() else {
                return Err(CommandError::new(
                    "the program has no beginning that is known",
                ));
            };
            let entry = main.to_process(main.symbols.header().entry);
            let pause = self.run_to_any(
                &[Temporary {
                    address: entry,
                    thread: None,
                    above: 0,
                    up_to: u64::MAX,
                }],
                observer,
            )?;
            return self.settle_at(pause);
        }
        let points: Vec<_> = addresses
            .into_iter()
            .map(|address| Temporary {
                address,
                thread: None,
                above: 0,
                up_to: u64::MAX,
            })
            .collect();
        let pause = self.run_to_any(&points, observer)?;
        if let Pause::Temporary(thread) = pause {
            self.stand_at_place(thread, &place, None)?;
        }
        self.settle_at(pause)
    }

    pub(super) fn settle_at(&mut self, pause: Pause) -> Result<Outcome, CommandError> {
        match pause {
            Pause::Temporary(thread) => self.stop(StopReason::Started, thread),
            other => self.settle(other),
        }
    }

    /// `continue N`: the points that have stopped the program, of whatever kind, are passed
    /// N - 1 times more.
    pub(super) fn continue_command(
        &mut self,
        rest: &str,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, CommandError> {
        if let Some(count) = number(rest)?.filter(|&count| count > 1) {
            // Where the thread stands, whichever frame is looked at.
            let thread = self.thread()?;
            let place = self.running()?.registers(thread)?.rip;
            let numbers = self.attached.stopped_by().to_vec();
            let mut is_point = false;
            for point in self.every_point() {
                if numbers.contains(&point.number) {
                    point.ignore = count - 1;
                    is_point = true;
                }
            }
            if !is_point && !self.breakpoints.ignore_at(place, count - 1) {
                observer.notice("there is no breakpoint here: the number says nothing");
            }
        }
        self.running()?;
        self.continue_run(observer)
    }

    pub(super) fn repeat_lines(
        &mut self,
        rest: &str,
        lines: Lines,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, CommandError> {
        let count = number(rest)?.unwrap_or(1).max(1);
        for round in 1..=count {
            let pause = self.step_line(lines, observer)?;
            let (Pause::Stepped(thread) | Pause::Temporary(thread)) = pause else {
                return self.settle(pause);
            };
            // Only the last one is shown.
            if round == count {
                return self.settle(pause);
            }
            if let Some(pause) = self.announce_breakpoint(thread)? {
                return self.settle(pause);
            }
            self.select_thread(thread);
        }
        Ok(Outcome::Done)
    }

    pub(super) fn repeat_instructions(
        &mut self,
        rest: &str,
        over_calls: bool,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, CommandError> {
        let count = number(rest)?.unwrap_or(1).max(1);
        let thread = self.thread()?;
        for round in 1..=count {
            self.unentered = None;
            let pause = if over_calls {
                self.next_instruction(thread, observer)?
            } else {
                self.step_instruction(thread, observer)?
            };
            let done = matches!(pause, Pause::Stepped(_) | Pause::Temporary(_));
            if round == count || !done {
                return self.settle(pause);
            }
        }
        Ok(Outcome::Done)
    }

    pub(super) fn kill(&mut self) -> Result<Outcome, CommandError> {
        self.running()?;
        self.kill_processes()?;
        Ok(Outcome::Ended(Box::new(self.end(None))))
    }
}
