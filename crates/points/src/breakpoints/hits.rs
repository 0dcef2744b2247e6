//! Hits of breakpoints: checks the thread and the condition, counts, and decides whether the
//! program stops.
//!
//! **Invariant**: a hit that does not stop allocates nothing and looks up no name, unless its
//! condition needs frames.

use crate::breakpoints::{Breakpoint, Breakpoints, Location};
use crate::point::{Answer, Stopping};
use juror_debuggee::{Owners, ThreadId};
use juror_instrument::condition::Check;
use juror_language::Expression;
use juror_program::program::Program;
use juror_values::typed::Typed;
use std::rc::Rc;

/// A condition that calls functions of the program.
#[derive(Debug)]
pub struct CallingCondition {
    /// The number of the breakpoint.
    pub number: u32,
    /// The level of its frame.
    pub level: usize,
    /// The condition.
    pub expression: Rc<Expression>,
}

impl Breakpoints {
    /// Returns the conditions that call functions of the program or assign, of the breakpoints for a thread
    /// at an address.
    pub fn calling_conditions(
        &self,
        program: &Program,
        thread: ThreadId,
        address: u64,
    ) -> Vec<CallingCondition> {
        let here = self.index.get(&address).into_iter().flatten();
        here.filter_map(|&(position, location)| {
            let breakpoint = self.list.get(position as usize)?;
            let location = breakpoint.locations.get(location as usize)?;
            if location.address != Some(address) && self.passes.has_begun(thread, address) {
                return None;
            }
            let condition = breakpoint.point.condition.as_ref()?;
            let asks = condition.has_effects() && breakpoint.point.is_for(program, thread);
            asks.then(|| CallingCondition {
                number: breakpoint.point.number,
                level: location.check.level(),
                expression: condition.expression(),
            })
        })
        .collect()
    }

    /// Notes that a thread has reached an address, before breakpoints are checked there.
    pub fn arrive(&mut self, program: &Program, thread: ThreadId, address: u64) {
        let Some(passages) = self.partial.get(&address) else {
            return;
        };
        let frame = program.innermost_frame_address(thread);
        self.passes.arrive(thread, address, frame, passages);
    }

    /// Processes a thread that has reached an address. `values` are those of `$1` and so on;
    /// `answers` are those of [`Breakpoints::calling_conditions`]. Only breakpoints of these owners
    /// are checked.
    pub fn hit(
        &mut self,
        program: &Program,
        thread: ThreadId,
        address: u64,
        values: &dyn Fn(&str) -> Option<Typed>,
        answers: &[(u32, Answer)],
        owners: Owners,
    ) -> Option<Stopping> {
        let mut stopping: Option<Stopping> = None;
        for &(position, location) in self.index.get(&address)? {
            let Some(breakpoint) = self.list.get_mut(position as usize) else {
                continue;
            };
            if !owners.contains(breakpoint.point.owner.of_engine().into()) {
                continue;
            }
            let place = breakpoint.locations.get(location as usize);
            let is_rest = place.is_some_and(|it| it.address != Some(address));
            if is_rest && self.passes.has_begun(thread, address) {
                continue;
            }
            let mut answer = breakpoint.ask(program, thread, place, is_rest, values);
            let number = breakpoint.point.number;
            if let Some((_, known)) = answers.iter().find(|it| it.0 == number) {
                answer.clone_from(known);
            }
            if breakpoint.point.take_hit(answer, &mut stopping)
                && let Some(location) = breakpoint.locations.get_mut(location as usize)
            {
                location.hits += 1;
            }
        }
        stopping
    }
}

impl Breakpoint {
    /// Returns whether the thread matches and the condition is true. A condition that calls
    /// functions is not evaluated here.
    fn ask(
        &self,
        program: &Program,
        thread: ThreadId,
        location: Option<&Location>,
        is_rest: bool,
        values: &dyn Fn(&str) -> Option<Typed>,
    ) -> Answer {
        if !self.point.is_for(program, thread) {
            return Ok(false);
        }
        match (&self.point.condition, location) {
            (Some(condition), Some(location)) if !condition.has_effects() => {
                // It was prepared for the other address.
                let check = if is_rest {
                    &Check::default()
                } else {
                    &location.check
                };
                condition.holds(check, program, thread, values)
            }
            _ => Ok(true),
        }
    }
}
