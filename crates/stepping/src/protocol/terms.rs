//! The words of both directions: threads, owners, ways past a site.

use bitflags::bitflags;
use serde::{Deserialize, Serialize};

/// A thread of the debuggee, by its kernel id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ThreadId(pub u32);

/// Whose point a site is. Owners at one site are notified in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Owner {
    /// A breakpoint of the person at the prompt.
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
        }
    }
}

/// How a thread gets past a planted trap; chosen once per site, from the
/// instruction that the trap displaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepOver {
    /// The instruction changes nothing but the program counter (`nop`,
    /// `endbr64`, a direct `jmp`): set it.
    Skip {
        /// Where the program counter goes.
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
        /// Where the copy starts, in the debuggee.
        at: u64,
    },
    /// Hold the other threads, lift the trap, step, plant, release.
    InPlace,
    /// The same for a repeated string instruction (`rep movsb`), of which a
    /// single step makes one round: steps until the thread has left it.
    #[serde(rename = "in_place_rounds")]
    InPlaceRepeated,
}

impl StepOver {
    /// Whether the trap is lifted for it.
    pub fn is_in_place(self) -> bool {
        matches!(self, StepOver::InPlace | StepOver::InPlaceRepeated)
    }
}

/// How a thread is made to execute one instruction and stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepBy {
    /// The processor's trace flag.
    #[default]
    TraceFlag,
    /// Traps at every instruction that can follow, the others being held: what
    /// machines without a trace flag need. An instruction whose follow set is
    /// not known, that waits for other threads, or that can follow itself is
    /// stepped by the trace flag all the same.
    FollowSet,
}

/// The addresses of the instructions that can follow one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FollowSet {
    first: u64,
    second: Option<u64>,
}

impl FollowSet {
    /// The set of one address.
    pub fn one(address: u64) -> FollowSet {
        FollowSet {
            first: address,
            second: None,
        }
    }

    /// The set of two addresses, which may be the same.
    pub fn two(first: u64, second: u64) -> FollowSet {
        FollowSet {
            first,
            second: Some(second).filter(|second| *second != first),
        }
    }

    /// Whether the set has this address.
    pub fn contains(&self, address: u64) -> bool {
        self.iter().any(|member| member == address)
    }

    /// The addresses, each once.
    pub fn iter(&self) -> impl Iterator<Item = u64> + use<> {
        std::iter::once(self.first).chain(self.second)
    }
}

/// How a thread comes back to an arrival that was reported, when it has not executed
/// the instruction and is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WayBack {
    /// By the trap of the site.
    Trap,
    /// A handler returns into the copy of the instruction, not to the trap.
    #[serde(rename = "copy")]
    OutOfLine,
    /// A handler returns to the site, by a system call. A trap before that belongs to
    /// another arrival: the handler has jumped away.
    Handler {
        /// The stack that the thread had for handlers at that time.
        alternate: StackPart,
    },
}

/// A part of memory that is a stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct StackPart {
    /// Its lowest address.
    pub start: u64,
    /// Its length in bytes; 0 where there is none.
    pub length: u64,
}

impl StackPart {
    /// Whether a stack pointer is in it. That of an empty stack is its end.
    pub(crate) fn contains(&self, stack: u64) -> bool {
        let offset = stack.wrapping_sub(self.start);
        self.length > 0 && offset <= self.length
    }
}
