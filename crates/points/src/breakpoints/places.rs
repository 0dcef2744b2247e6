//! The bindings of breakpoints in processes other than the current one.
//!
//! A breakpoint has one state and one count in all processes; its insertions are separate in each.
//!
//! **Invariant**: the locations of [`Breakpoints`] are bound in the current process, and a
//! [`Places`] holds the bindings of one other.

use crate::breakpoints::{Binding, Breakpoints};
use juror_debuggee::Owner;
use juror_program::program::Program;

/// The bindings in one process, by the numbers of breakpoint and location.
#[derive(Debug, Default)]
pub struct Places(Vec<(u32, u32, Binding)>);

impl Breakpoints {
    /// Returns the bindings for a forked copy of the current process.
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

    /// Makes another process current: `program`, whose bindings are taken from `places` and
    /// replaced there by those of the previous process. Its insertions are updated to the state of
    /// the breakpoints.
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
