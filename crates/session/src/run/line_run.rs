//! Runs through the code of a line to the next instruction that a step by line must look at: one
//! run instead of a step for each instruction.
//!
//! The other threads stay stopped meanwhile, as in a step; they run only if the line may loop
//! waiting for one of them.

use crate::run::pause::{Goal, Pause, Temporary};
use crate::session::Session;
use juror_debuggee::{Owner, ThreadId};
use juror_fault::CommandError;
use juror_program::stack::unwinding::{
    Dropped, Drops, FrameDropping, JumpTarget, Raised, frame_dropping_functions,
};
use juror_stepping::{LineStops, line_stops};
use juror_view::observer::Observer;
use std::ops::Range;

/// The limit of a line's code size, in bytes.
const LINE_SIZE_MAX: u64 = 4096;

impl Session {
    /// Returns where a thread that runs through these ranges must be stopped; `None` if it must be
    /// single-stepped.
    pub(crate) fn stops_of_line(&self, ranges: &[Range<u64>]) -> Option<LineStops> {
        let debuggee = &self.processes.program.as_ref()?.debuggee;
        let size: u64 = ranges
            .iter()
            .map(|it| it.end.saturating_sub(it.start))
            .sum();
        if size > LINE_SIZE_MAX {
            return None;
        }
        let mut code = Vec::with_capacity(ranges.len());
        for range in ranges {
            let mut bytes = vec![0; range.end.saturating_sub(range.start) as usize];
            debuggee.read(range.start, &mut bytes).ok()?;
            code.push((range.clone(), bytes));
        }
        line_stops(&code)
    }

    /// Runs a thread to one of the stops of its line.
    pub(crate) fn run_within_line(
        &mut self,
        thread: ThreadId,
        stops: &LineStops,
        observer: &mut dyn Observer,
    ) -> Result<Pause, CommandError> {
        let stack = self.running()?.registers(thread)?.stack_pointer();
        let up_to = self.end_of_stack(thread)?;
        let mut points: Vec<Temporary> = stops
            .addresses
            .iter()
            .map(|&address| Temporary {
                address,
                thread: Some(thread),
                // The line does not move the stack pointer; a signal handler that runs the same
                // code has a lower one.
                above: stack.wrapping_sub(1),
                up_to,
            })
            .collect();
        let jumps: Vec<FrameDropping> = frame_dropping_functions(self.running()?)
            .into_iter()
            .filter(|it| matches!(it.drops, Drops::Jump | Drops::ContextJump))
            .collect();
        points.extend(
            jumps
                .iter()
                .map(|it| Temporary::anywhere(it.address, thread)),
        );
        loop {
            let pause = if stops.has_loop {
                self.run_to_any(&points, observer)?
            } else {
                self.run_alone(thread, &points, observer)?
            };
            if !matches!(pause, Pause::Temporary(_)) {
                return Ok(pause);
            }
            let program = self.running()?;
            let at = program.registers(thread)?.instruction_pointer();
            let Some(jump) = jumps.iter().find(|it| it.address == at) else {
                return Ok(pause);
            };
            // Nothing in the line calls it; a signal handler does, which may leave the line.
            let mut raised = Raised::default();
            let dropped = Dropped::at(program, thread, jump.drops, stack, &mut raised)?;
            let line = JumpTarget { pc: at, stack };
            if let Some(target) = dropped.and_then(|dropped| dropped.resumes_at(line)) {
                return self.run_back(target.pc, thread, target.stack, observer);
            }
            let pause = self.step_instruction(thread, observer)?;
            if !matches!(pause, Pause::Stepped(_)) {
                return Ok(pause);
            }
        }
    }

    /// Returns an upper bound of a thread's stack pointer while the innermost frame lasts. Beyond
    /// its own stack there may be another one that it uses.
    fn end_of_stack(&mut self, thread: ThreadId) -> Result<u64, CommandError> {
        let program = self.running()?;
        let stack = program.registers(thread)?.stack_pointer();
        if let Some(own) = program.own_stack(thread).filter(|own| own.contains(&stack)) {
            return Ok(own.end);
        }
        Ok(self.innermost()?.cfa.unwrap_or(u64::MAX))
    }

    /// Runs one thread until it reaches one of these points; the others stay as they are.
    fn run_alone(
        &mut self,
        thread: ThreadId,
        points: &[Temporary],
        observer: &mut dyn Observer,
    ) -> Result<Pause, CommandError> {
        let process = self.processes.number;
        let program = self.running_mut()?;
        let mut planted = Vec::with_capacity(points.len());
        for point in points {
            // An address that cannot be written to is not mapped, so no thread gets there: it
            // follows a last call that never returns.
            if program.insert(point.address, Owner::Step).is_ok() {
                planted.push(point.address);
            }
        }
        program.debuggee.resume(thread)?;
        let goal = Goal {
            temporaries: points,
            stepping: None,
        };
        let pause = self.pump(observer, goal);
        if !matches!(pause, Ok(Pause::Temporary(_))) {
            self.halt_processes()?;
        }
        if let Some(program) = self.processes.living_program_of(process) {
            for address in planted {
                program.debuggee.remove(address, Owner::Step)?;
            }
        }
        pause
    }
}
