//! The terms of both directions: threads, owners, step-over methods.

use bitflags::bitflags;
use serde::{Deserialize, Serialize};

/// A thread of the debuggee, by its kernel id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ThreadId(pub u32);

/// The owner of a point. Owners of one site are notified in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Owner {
    /// A breakpoint of the user.
    Developer,
    /// A point that a scenario set.
    Scenario,
    /// A point that a monitor needs for an event before a call.
    Monitor,
    /// A temporary point of a command such as `next` or `finish`.
    Step,
    /// A return address that an event after a call waits for.
    Return,
    /// A point of juror's own (module loading, `longjmp`).
    Internal,
    /// A schedule point: the thread gives the baton back there.
    Schedule,
}

bitflags! {
    /// A set of [`Owner`]s.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    pub struct Owners: u8 {
        /// [`Owner::Developer`].
        const DEVELOPER = 1;
        /// [`Owner::Scenario`].
        const SCENARIO = 2;
        /// [`Owner::Monitor`].
        const MONITOR = 4;
        /// [`Owner::Step`].
        const STEP = 8;
        /// [`Owner::Return`].
        const RETURN = 16;
        /// [`Owner::Internal`].
        const INTERNAL = 32;
        /// [`Owner::Schedule`].
        const SCHEDULE = 64;
    }
}

impl From<Owner> for Owners {
    fn from(owner: Owner) -> Owners {
        match owner {
            Owner::Developer => Owners::DEVELOPER,
            Owner::Scenario => Owners::SCENARIO,
            Owner::Monitor => Owners::MONITOR,
            Owner::Step => Owners::STEP,
            Owner::Return => Owners::RETURN,
            Owner::Internal => Owners::INTERNAL,
            Owner::Schedule => Owners::SCHEDULE,
        }
    }
}

/// The method by which a thread steps over an inserted trap; chosen once per
/// site, from the instruction that the trap displaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepOver {
    /// The instruction changes nothing but the program counter (`nop`,
    /// `endbr64`, a direct `jmp`): set it.
    Skip {
        /// The new program counter.
        to: u64,
    },
    /// A direct call: push the return address, then go to the callee.
    Call {
        /// The first instruction of the callee.
        to: u64,
        /// The address of the instruction after the call.
        back: u64,
    },
    /// Run the relocated copy, which jumps back by itself. The copy outlives
    /// its site: a thread that was reported there before the site was removed
    /// still leaves through it.
    #[serde(rename = "copy")]
    OutOfLine {
        /// The address of the slot in the debuggee.
        at: u64,
    },
    /// Hold the other threads, remove the trap, step, insert the trap, release
    /// the threads.
    InPlace,
    /// As [`StepOver::InPlace`] for a repeated string instruction (`rep
    /// movsb`), of which a single step makes one iteration: steps until the
    /// thread has left it.
    #[serde(rename = "in_place_rounds")]
    InPlaceRepeated,
}

impl StepOver {
    /// Returns true if the trap is removed for the step.
    pub fn is_in_place(self) -> bool {
        matches!(self, StepOver::InPlace | StepOver::InPlaceRepeated)
    }
}

/// The way in which a thread executes one instruction and stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepBy {
    /// The processor's trace flag.
    #[default]
    TraceFlag,
    /// Traps at every instruction that can follow, with the other threads held,
    /// for machines without a trace flag. An instruction whose follow set is
    /// unknown, that waits for other threads, or that can follow itself is
    /// still stepped by the trace flag.
    FollowSet,
}

/// The addresses of the instructions that can follow one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FollowSet {
    first: u64,
    second: Option<u64>,
}

impl FollowSet {
    /// Returns the set of one address.
    pub fn one(address: u64) -> FollowSet {
        FollowSet {
            first: address,
            second: None,
        }
    }

    /// Returns the set of two addresses, which may be equal.
    pub fn two(first: u64, second: u64) -> FollowSet {
        FollowSet {
            first,
            second: Some(second).filter(|second| *second != first),
        }
    }

    /// Returns true if the set contains this address.
    pub fn contains(&self, address: u64) -> bool {
        self.iter().any(|member| member == address)
    }

    /// Returns the addresses, each once.
    pub fn iter(&self) -> impl Iterator<Item = u64> + use<> {
        std::iter::once(self.first).chain(self.second)
    }
}

/// The way in which a thread returns to a reported arrival whose instruction it
/// has not executed and at which it does not stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WayBack {
    /// By the trap of the site.
    Trap,
    /// A handler returns into the out-of-line slot, not to the trap.
    #[serde(rename = "copy")]
    OutOfLine,
    /// A handler returns to the site, by a system call. A trap before that
    /// belongs to another arrival: the handler has jumped away.
    Handler {
        /// The alternate signal stack that the thread had at that time.
        alternate: StackPart,
    },
}

/// A region of memory that is a stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct StackPart {
    /// Its lowest address.
    pub start: u64,
    /// Its length in bytes; 0 if there is none.
    pub length: u64,
}

impl StackPart {
    /// Returns true if the region contains a stack pointer. The stack pointer
    /// of an empty stack is its end.
    pub(crate) fn contains(&self, stack: u64) -> bool {
        let offset = stack.wrapping_sub(self.start);
        self.length > 0 && offset <= self.length
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stack_contains_its_end_and_an_empty_part_nothing() {
        let part = |start, length| StackPart { start, length };
        for (part, stack, expected) in [
            (part(0x1000, 0x100), 0x1000, true),
            (part(0x1000, 0x100), 0x1100, true),
            (part(0x1000, 0x100), 0x1101, false),
            (part(0x1000, 0x100), 0xfff, false),
            (part(0x1000, 0), 0x1000, false),
        ] {
            assert_eq!(part.contains(stack), expected, "{part:?} {stack:#x}");
        }
    }
}
