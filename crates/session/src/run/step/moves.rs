//! The parts of steps: one instruction, a run to a point, a run over a call.

use crate::run::pause::{Goal, Pause, Temporary};
use crate::run::processes::watching;
use crate::session::Session;
use juror_arch::instruction::{INSTRUCTION_LENGTH_MAX, SYSTEM_CALL, SYSTEM_CALL_LENGTH};
use juror_debuggee::{Owner, ThreadId};
use juror_fault::CommandError;
use juror_program::program::Program;
use juror_program::stack::unwinding::{
    Dropped, Drops, JumpTarget, Raised, frame_dropping_functions,
};
use juror_stepping::{Flow, flow_of};
use juror_view::observer::Observer;

impl Session {
    /// Resumes all threads until a call of one thread has returned to `back`, or was dropped by
    /// `longjmp` or an exception. `stack` is the stack pointer before the call.
    pub(super) fn run_over_call(
        &mut self,
        back: u64,
        thread: ThreadId,
        stack: u64,
        observer: &mut dyn Observer,
    ) -> Result<Pause, CommandError> {
        let goal = [Temporary::back(back, thread, stack)];
        let call = JumpTarget { pc: back, stack };
        self.run_inside_call(&goal, thread, call, observer)
    }

    /// Does the same until one of these points is reached, or the call has ended.
    pub(super) fn run_inside_call(
        &mut self,
        goals: &[Temporary],
        thread: ThreadId,
        call: JumpTarget,
        observer: &mut dyn Observer,
    ) -> Result<Pause, CommandError> {
        let stack = call.stack;
        let program = self.running()?;
        let own = program.own_stack(thread).filter(|own| own.contains(&stack));
        let exits = frame_dropping_functions(program);
        let mut points = goals.to_vec();
        points.extend(exits.iter().filter_map(|exit| {
            let anywhere = Temporary::anywhere(exit.address, thread);
            match (exit.drops, &own) {
                (Drops::Raised, Some(_)) => None,
                // Frames inside the call do not matter.
                (Drops::Caught, Some(own)) => Some(Temporary {
                    above: stack.wrapping_sub(9),
                    up_to: own.end,
                    ..anywhere
                }),
                _ => Some(anywhere),
            }
        }));
        let mut raised = Raised::default();
        loop {
            let pause = self.run_to_any(&points, observer)?;
            // The thread of a forked child, if that is followed.
            let Pause::Temporary(thread) = pause else {
                return Ok(pause);
            };
            let program = self.running()?;
            let registers = *program.registers(thread)?;
            let exit = exits
                .iter()
                .find(|exit| exit.address == registers.instruction_pointer());
            let is_goal = goals
                .iter()
                .any(|goal| goal.address == registers.instruction_pointer());
            let Some(exit) = exit.filter(|_| !is_goal) else {
                return Ok(pause);
            };
            let dropped = Dropped::at(program, thread, exit.drops, stack, &mut raised)?;
            if let Some(target) = dropped.and_then(|dropped| dropped.resumes_at(call)) {
                return self.run_back(target.pc, thread, target.stack, observer);
            }
            // Caught inside the call, or a jump there: past its point.
            let pause = self.step_instruction(thread, observer)?;
            if !matches!(pause, Pause::Stepped(_)) {
                return Ok(pause);
            }
        }
    }

    /// Executes one instruction of a thread. The others stay stopped, unless it may wait for them:
    /// in a system call.
    pub(crate) fn step_instruction(
        &mut self,
        thread: ThreadId,
        observer: &mut dyn Observer,
    ) -> Result<Pause, CommandError> {
        if let Some(pause) = self.begin(observer)? {
            return Ok(pause);
        }
        watching::prepare_all_followed(self)?;
        let program = self.running_mut()?;
        let may_wait = is_at_system_call(program, thread)?;
        program.debuggee.step(thread)?;
        if may_wait {
            self.resume_processes()?;
        }
        let goal = Goal {
            stepping: Some(thread),
            ..Goal::default()
        };
        let pause = self.pump(observer, goal);
        if may_wait {
            self.halt_processes()?;
        }
        pause
    }

    /// Executes one instruction, or steps over it if it is a call.
    pub(crate) fn next_instruction(
        &mut self,
        thread: ThreadId,
        observer: &mut dyn Observer,
    ) -> Result<Pause, CommandError> {
        let registers = *self.running()?.registers(thread)?;
        match self.flow_at(registers.instruction_pointer())? {
            Flow::Call { back } => {
                self.run_over_call(back, thread, registers.stack_pointer(), observer)
            }
            _ => self.step_instruction(thread, observer),
        }
    }

    /// Resumes all threads until one thread is back at an address, with a stack pointer.
    pub(crate) fn run_back(
        &mut self,
        address: u64,
        thread: ThreadId,
        stack: u64,
        observer: &mut dyn Observer,
    ) -> Result<Pause, CommandError> {
        self.run_to_any(&[Temporary::back(address, thread, stack)], observer)
    }

    /// Resumes all threads until one of these points is reached.
    pub(crate) fn run_to_any(
        &mut self,
        points: &[Temporary],
        observer: &mut dyn Observer,
    ) -> Result<Pause, CommandError> {
        if let Some(pause) = self.begin(observer)? {
            return Ok(pause);
        }
        watching::prepare_all_followed(self)?;
        let process = self.processes.number;
        let program = self.running_mut()?;
        for point in points {
            program.insert(point.address, Owner::Step)?;
        }
        self.resume_processes()?;
        let pause = self.pump(
            observer,
            Goal {
                temporaries: points,
                stepping: None,
            },
        );
        self.halt_processes()?;
        if let Some(program) = self.processes.living_program_of(process) {
            for point in points {
                program.debuggee.remove(point.address, Owner::Step)?;
            }
        }
        pause
    }

    pub(super) fn flow_at(&self, address: u64) -> Result<Flow, CommandError> {
        let program = self.running()?;
        let mut bytes = [0; INSTRUCTION_LENGTH_MAX];
        // The instruction may be the last one before unmapped memory.
        let count = (1..=INSTRUCTION_LENGTH_MAX)
            .rev()
            .find(|&count| program.debuggee.read(address, &mut bytes[..count]).is_ok());
        let bytes = bytes.get(..count.unwrap_or(0)).unwrap_or(&[]);
        Ok(flow_of(bytes, address))
    }
}

/// Returns whether the thread is about to make a system call, or was stopped in one that continues
/// when it runs.
fn is_at_system_call(program: &Program, thread: ThreadId) -> Result<bool, CommandError> {
    let pc = program.registers(thread)?.instruction_pointer();
    let is_call = |address| {
        let mut bytes = [0; SYSTEM_CALL.len()];
        program.debuggee.read(address, &mut bytes).is_ok() && bytes == SYSTEM_CALL
    };
    Ok(is_call(pc) || is_call(pc.wrapping_sub(SYSTEM_CALL_LENGTH)))
}
