//! Conditions of breakpoints that call functions.
//!
//! They are evaluated during a run: all threads are stopped, the call is made, and the threads are
//! resumed. Inside the call breakpoints do not stop, including that of the condition: evaluating a
//! condition inside itself would not terminate. If anything else stops the call, the condition
//! cannot be evaluated, and the call is abandoned.

use crate::run::evaluations::Driven;
use crate::run::pause::Pause;
use crate::session::Session;
use crate::state::evaluations::Purpose;
use juror_debuggee::ThreadId;
use juror_fault::CommandError;
use juror_language::Expression;
use juror_points::point::Answer;
use juror_values::typed::{Number, Typed};
use juror_view::StopReason;
use juror_view::observer::SilentObserver;

/// The limit of frames that a condition may refer to.
const FRAMES_MAX: usize = 16;

/// The reason why a condition has no value.
#[derive(Debug)]
pub(crate) enum ConditionError {
    /// It cannot be evaluated.
    Message(String),
    /// An event that must first be shown to the user.
    Pause(Box<Pause>),
}

impl From<juror_fault::CommandError> for ConditionError {
    fn from(error: juror_fault::CommandError) -> ConditionError {
        ConditionError::Message(error.message)
    }
}

impl From<juror_debuggee::DebuggeeError> for ConditionError {
    fn from(error: juror_debuggee::DebuggeeError) -> ConditionError {
        ConditionError::Message(error.to_string())
    }
}

impl Session {
    /// Evaluates the conditions with calls of the breakpoints at an address; returns a pause if the
    /// program has ended, or stopped, meanwhile.
    pub(crate) fn answers_of_calls(
        &mut self,
        thread: ThreadId,
        address: u64,
    ) -> Result<Result<Vec<(u32, Answer)>, Pause>, CommandError> {
        let program = self.running()?;
        let asked = self
            .points
            .breakpoints
            .calling_conditions(program, thread, address);
        let mut answers = Vec::new();
        for asked in asked {
            let answer = match self.condition_with_calls(thread, asked.level, &asked.expression) {
                Ok(holds) => Ok(holds),
                Err(ConditionError::Message(message)) => Err(message),
                Err(ConditionError::Pause(pause)) => return Ok(Err(*pause)),
            };
            answers.push((asked.number, answer));
        }
        Ok(Ok(answers))
    }

    /// Evaluates a condition with calls at the position of a thread, in the frame at a level. If
    /// the other threads run, they continue to run.
    pub(crate) fn condition_with_calls(
        &mut self,
        thread: ThreadId,
        level: usize,
        condition: &Expression,
    ) -> Result<bool, ConditionError> {
        let debuggee = &mut self.running_mut()?.debuggee;
        let ran: Vec<ThreadId> = debuggee
            .thread_ids()
            .filter(|&other| other != thread && !debuggee.is_waiting(other))
            .collect();
        debuggee.halt_all()?;
        let answer = self.ask(thread, level, condition);
        if let Err(ConditionError::Pause(_)) = answer {
            return answer;
        }
        self.running_mut()?.debuggee.resume_halted(ran)?;
        answer
    }

    fn ask(
        &mut self,
        thread: ThreadId,
        level: usize,
        condition: &Expression,
    ) -> Result<bool, ConditionError> {
        let (frames, _) = self.running()?.backtrace(thread, level + FRAMES_MAX);
        let expression = condition.clone();
        let purpose = Purpose::Condition;
        let evaluation = self.new_evaluation(thread, "", expression, purpose, frames, level);
        let depth = evaluation.depth;
        let was_asking = std::mem::replace(&mut self.processes.stop.is_asking, true);
        let driven = self.drive(evaluation, &mut SilentObserver);
        self.processes.stop.is_asking = was_asking;
        match driven? {
            Driven::Value(_, value) => self.truth(&value),
            Driven::Paused(pause) => Err(self.trouble(thread, depth, pause)),
        }
    }

    fn truth(&self, value: &Typed) -> Result<bool, ConditionError> {
        let number = value.number(self.running()?);
        Ok(
            match number.map_err(|why| ConditionError::Message(why.into()))? {
                Number::Int(number) => number != 0,
                Number::Float(number) => number != 0.0,
                Number::Wide(number) => !number.is_zero(),
                Number::Pointer(address, _) => address != 0,
                Number::Bool(truth) => truth,
            },
        )
    }

    /// Abandons the stopped call of a condition, and returns the reason.
    fn trouble(&mut self, thread: ThreadId, depth: usize, pause: Pause) -> ConditionError {
        let function = self
            .processes
            .evaluations
            .running_function()
            .unwrap_or_default();
        if matches!(pause, Pause::Ended(_)) {
            return ConditionError::Pause(Box::new(pause));
        }
        if let Err(error) = self.give_up(thread, depth) {
            return error.into();
        }
        match pause {
            Pause::Reason(StopReason::Signal { signal, .. }, of) if of == thread => {
                // It is reported with the breakpoint whose condition was evaluated.
                self.control.state.withdraw_stop();
                ConditionError::Message(format!("`{function}` received {signal}"))
            }
            pause => ConditionError::Pause(Box::new(pause)),
        }
    }
}
