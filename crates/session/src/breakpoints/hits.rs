//! What a hit of a breakpoint does: asks its thread and condition, counts, and
//! stops the program or lets it pass.
//!
//! Invariant: a hit that stops nothing allocates nothing and looks nothing up
//! by name, unless its condition can be evaluated only with frames.

use super::{Breakpoint, Breakpoints, Fate};
use juror_debuggee::ThreadId;
use juror_instrument::program::Program;
use juror_instrument::typed::Typed;
use juror_language::Expression;
use smallvec::SmallVec;
use std::rc::Rc;

/// What a condition says; why it cannot be evaluated.
pub type Answer = Result<bool, String>;

/// The breakpoints that stop the program at a place.
#[derive(Debug, Default)]
pub struct Stopping {
    /// Their numbers.
    pub numbers: SmallVec<[u32; 4]>,
    /// One was temporary, and is to be deleted.
    pub temporary: bool,
    /// Conditions that could not be evaluated, which is never false: the
    /// breakpoint's number and why.
    pub errors: Vec<(u32, String)>,
    /// Some breakpoint is to be disabled or deleted.
    pub is_spent: bool,
}

impl Breakpoints {
    /// The conditions that call functions of the program, of the breakpoints
    /// at an address that are for a thread: by the breakpoints' numbers.
    pub fn calling_conditions(
        &self,
        program: &Program,
        thread: ThreadId,
        address: u64,
    ) -> Vec<(u32, Rc<Expression>)> {
        let here = self.index.get(&address).into_iter().flatten();
        here.filter_map(|&(position, _)| {
            let breakpoint = self.list.get(position as usize)?;
            let condition = breakpoint.condition.as_ref()?;
            let asks = condition.calls_functions() && breakpoint.is_for(program, thread);
            asks.then(|| (breakpoint.number, condition.expression()))
        })
        .collect()
    }

    /// A thread has come to an address. `values` are those of `$1` and so on;
    /// `answers` are those of [`Breakpoints::calling_conditions`].
    pub fn hit(
        &mut self,
        program: &Program,
        thread: ThreadId,
        address: u64,
        values: &dyn Fn(&str) -> Option<Typed>,
        answers: &[(u32, Answer)],
    ) -> Option<Stopping> {
        let mut stopping: Option<Stopping> = None;
        for &(position, location) in self.index.get(&address)? {
            let Some(breakpoint) = self.list.get_mut(position as usize) else {
                continue;
            };
            let mut answer = breakpoint.ask(program, thread, location as usize, values);
            if let Some((_, known)) = answers.iter().find(|it| it.0 == breakpoint.number) {
                answer.clone_from(known);
            }
            let error = match answer {
                Ok(false) => continue,
                Ok(true) => None,
                Err(message) => Some(message),
            };
            breakpoint.hits += 1;
            if let Some(location) = breakpoint.locations.get_mut(location as usize) {
                location.hits += 1;
            }
            if breakpoint.ignore > 0 && error.is_none() {
                breakpoint.ignore -= 1;
                continue;
            }
            let stopping = stopping.get_or_insert_default();
            stopping.numbers.push(breakpoint.number);
            stopping
                .errors
                .extend(error.map(|error| (breakpoint.number, error)));
            stopping.is_spent |= breakpoint.spend();
            stopping.temporary |= breakpoint.fate == Fate::Delete;
        }
        stopping
    }

    /// The numbers of the breakpoints that a stop has used up.
    pub fn used_up(&self, stopping: &Stopping) -> Vec<u32> {
        let is_used_up =
            |it: &&Breakpoint| it.fate == Fate::Delete && stopping.numbers.contains(&it.number);
        self.list
            .iter()
            .filter(is_used_up)
            .map(|it| it.number)
            .collect()
    }
}

impl Breakpoint {
    /// Whether it is for a thread.
    fn is_for(&self, program: &Program, thread: ThreadId) -> bool {
        self.thread
            .is_none_or(|wanted| program.thread_number(thread) == wanted)
    }

    /// Whether the thread is its own and its condition is true. One that calls
    /// functions is not asked here.
    fn ask(
        &self,
        program: &Program,
        thread: ThreadId,
        location: usize,
        values: &dyn Fn(&str) -> Option<Typed>,
    ) -> Answer {
        if !self.is_for(program, thread) {
            return Ok(false);
        }
        match (&self.condition, self.locations.get(location)) {
            (Some(condition), Some(location)) if !condition.calls_functions() => {
                condition.holds(&location.check, program, thread, values)
            }
            _ => Ok(true),
        }
    }

    /// It has stopped the program; tells whether that uses it up.
    fn spend(&mut self) -> bool {
        match &mut self.fate {
            Fate::Keep => false,
            Fate::Delete => true,
            Fate::Disable(stops) => {
                *stops = stops.saturating_sub(1);
                let is_last = *stops == 0;
                if is_last {
                    self.fate = Fate::Keep;
                    self.enabled = false;
                }
                is_last
            }
        }
    }
}
