//! Where the breakpoints are in a process that is not looked at just now.
//!
//! A breakpoint is one thing, with one state and one count, in all processes;
//! where its traps are is each process's own. Invariant: the locations of
//! [`Breakpoints`] say where they are in one process, and a [`Places`] says it
//! for one other.

use crate::breakpoints::{Binding, Breakpoints};
use juror_debuggee::Owner;
use juror_instrument::program::Program;

/// The places in one process, by the numbers of breakpoint and location.
#[derive(Debug, Default)]
pub struct Places(Vec<(u32, u32, Binding)>);

impl Breakpoints {
    /// The places in a forked copy of the process that is looked at.
    pub fn places_of_fork(&self) -> Places {
        let mut places = Vec::new();
        for breakpoint in &self.list {
            for location in breakpoint.locations.iter() {
                let binding = breakpoint.locations.binding(location.number);
                places.extend(binding.map(|it| (breakpoint.point.number, location.number, it)));
            }
        }
        Places(places)
    }

    /// Looks at another process from now on: `program`, whose places come from
    /// `places` and make room for those of the one before. Its traps become
    /// what the breakpoints want now.
    pub fn exchange(&mut self, places: &mut Places, program: &mut Program) {
        let mut before = std::mem::take(&mut places.0);
        for breakpoint in &mut self.list {
            let numbers = 1..=breakpoint.locations.last_number();
            for number in numbers {
                let taken = breakpoint.locations.take_binding(number);
                places
                    .0
                    .extend(taken.map(|it| (breakpoint.point.number, number, it)));
            }
        }
        for (breakpoint, location, binding) in before.drain(..) {
            let planted = binding.planted.clone();
            let known = self.numbered(breakpoint);
            let is_put = known.is_some_and(|it| it.locations.put_binding(location, binding));
            // It may have been deleted meanwhile.
            for address in planted.into_iter().filter(|_| !is_put) {
                let _ = program.debuggee.remove(address, Owner::Developer);
            }
        }
        let _ = self.settle(Some(program));
    }
}
