//! What a hit of a breakpoint does: asks its thread and condition, counts, and
//! stops the program or lets it pass.
//!
//! Invariant: a hit that stops nothing allocates nothing and looks nothing up
//! by name, unless its condition can be evaluated only with frames.

use super::{Breakpoint, Breakpoints, Fate};
use juror_debuggee::ThreadId;
use juror_instrument::program::Program;
use juror_instrument::typed::Typed;
use smallvec::SmallVec;

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
    /// A thread has come to an address. `values` are those of `$1` and so on.
    pub fn hit(
        &mut self,
        program: &Program,
        thread: ThreadId,
        address: u64,
        values: &dyn Fn(&str) -> Option<Typed>,
    ) -> Option<Stopping> {
        let mut stopping: Option<Stopping> = None;
        for &(position, location) in self.index.get(&address)? {
            let Some(breakpoint) = self.list.get_mut(position as usize) else {
                continue;
            };
            let mut error = None;
            if !breakpoint.is_meant(program, thread, location as usize, values, &mut error) {
                continue;
            }
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
    /// Whether the thread is its own and its condition is true.
    fn is_meant(
        &self,
        program: &Program,
        thread: ThreadId,
        location: usize,
        values: &dyn Fn(&str) -> Option<Typed>,
        error: &mut Option<String>,
    ) -> bool {
        let is_own = |wanted| program.thread_number(thread) == wanted;
        if !self.thread.is_none_or(is_own) {
            return false;
        }
        let (Some(condition), Some(location)) = (&self.condition, self.locations.get(location))
        else {
            return true;
        };
        match condition.holds(&location.check, program, thread, values) {
            Ok(holds) => holds,
            Err(message) => {
                *error = Some(message);
                true
            }
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
