//! The operations of a step.
//!
//! A step is a flat list. Branches go forward, except [`Op::Again`] of the search for a
//! slot, which ends since every stripe has an empty slot. The lowering obeys these
//! rules, which a compiler and a lead-out may rely on ([`StepProgram::phases`] checks
//! them):
//!
//! | phase | what is changed | a thread that is found here |
//! | --- | --- | --- |
//! | [`super::Phase::Free`] | its journal | goes back to the beginning of the step |
//! | [`super::Phase::Locked`] | its journal, and words of a slot that is empty (its `Id` is 0) | releases what it has locked, and goes back to the beginning |
//! | [`super::Phase::Committed`] | counters, the slot, a record | runs the rest of the operations |
//!
//! - A lock is a word that holds the byte offset of its owner's journal, or 0. So the
//!   memory says which locks a thread holds. The lock of a stripe is taken first, then
//!   that of the table; no [`Op::Gate`], no checked operation and no capture follows the
//!   lock of the table.
//! - `Gate`, a checked operation that fails, a capture that cannot be read and a lock
//!   that is not had after some attempts do the same: they release the locks, and the
//!   event is taken by a general step. Each operation before `Commit` may be replaced
//!   by a gate.
//! - After [`Op::Commit`] come only loads, stores, `Xadd`, `Alu`, `Set`, `Point`,
//!   branches, `Unlock`, `Done` and `End`: the rest of the step reads the
//!   journal, the slot, counters and constants, and no captures.
//! - The operations after `Commit` may be run by an interpreter that is given the
//!   registers and bases. If the thread is gone with its registers (SIGKILL), a
//!   committed journal is redone from memory, and counters are counted anew.

use super::Layout;
use super::reasons::{NotNative, Why};
use std::ops::Range;

/// A virtual register: 64 bits, undefined at the beginning of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Register(pub u8);

impl Register {
    /// The number of registers.
    pub const COUNT: u8 = 6;
}

/// A register that holds an address within the table. Offsets from it are multiples of
/// 8 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Base {
    /// The start of the table: a constant of the emitted code.
    Table,
    /// The journal of the thread, set before the step.
    Journal,
    /// The stripe of the key.
    Stripe,
    /// The slot.
    Slot,
    /// The record of the history, or another place.
    Record,
}

/// The second operand of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operand {
    /// A register.
    Register(Register),
    /// A number, sign-extended to 64 bits.
    Constant(i32),
}

/// An operation on 64-bit words without a trap or an overflow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Alu {
    /// The second operand.
    Move,
    /// The sum, modulo 2⁶⁴.
    Add,
    /// The first operand minus the second, modulo 2⁶⁴.
    Subtract,
    /// The common bits.
    And,
    /// The bits of either.
    Or,
    /// The bits of one of them only.
    Xor,
    /// A shift to the left by a constant from 0 to 63.
    ShiftLeft,
    /// A shift to the right by a constant from 0 to 63; zeros are shifted in.
    ShiftRight,
}

/// Signed arithmetic that gates as [`Why::Value`] if it has no 64-bit result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Checked {
    /// The sum.
    Add,
    /// The first operand minus the second.
    Subtract,
    /// The product.
    Multiply,
    /// The quotient, rounded towards zero; none for a divisor 0.
    Divide,
    /// The remainder, with the sign of the first operand; none for a divisor 0, nor for
    /// the smallest number and -1.
    Remainder,
}

/// A comparison of two words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Condition {
    /// Equal.
    Equal,
    /// Not equal.
    NotEqual,
    /// Less, signed.
    Less,
    /// Less or equal, signed.
    LessEqual,
    /// Greater, signed.
    Greater,
    /// Greater or equal, signed.
    GreaterEqual,
    /// Less, unsigned.
    Below,
    /// Less or equal, unsigned.
    BelowEqual,
    /// Greater, unsigned.
    Above,
    /// Greater or equal, unsigned.
    AboveEqual,
    /// Some bit is common.
    AnySet,
    /// No bit is common.
    NoneSet,
}

/// A value that an event has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Source {
    /// The capture in this slot of the event ([`super::EventWords`]).
    Capture(u8),
    /// The code address of the occurrence: the return address of the call.
    Address,
}

/// A kind of ending of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EndKind {
    /// No occupied state needs the event: nothing was changed or counted.
    Unneeded,
    /// The event was counted, and no slice took a transition.
    Ignored,
    /// A slice took a transition.
    Taken,
}

/// What a committed journal contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Journaled {
    /// Nothing: the event was ignored.
    Nothing,
    /// The state of a slice.
    State,
    /// The state and all variables of a slice.
    Variables,
}

impl Journaled {
    /// Returns the word that [`Op::Commit`] stores as [`JournalWord::Committed`](super::JournalWord::Committed).
    pub fn word(self) -> u64 {
        match self {
            Journaled::Nothing => 1,
            Journaled::State => 2,
            Journaled::Variables => 3,
        }
    }
}

/// An operation of a step.
///
/// `index` is a register that is multiplied by 8 and added to the address; targets are
/// positions in the list of operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Op {
    /// `to` := a value of the event. Gates as [`Why::Capture`] if it cannot be read.
    Capture {
        /// The result.
        to: Register,
        /// The value.
        source: Source,
    },
    /// `to` := the word.
    Set {
        /// The result.
        to: Register,
        /// The word.
        word: u64,
    },
    /// `to` := the word at `base + offset + 8 * index`.
    Load {
        /// The result.
        to: Register,
        /// The base of the address.
        base: Base,
        /// The offset in bytes.
        offset: u32,
        /// Added to the address, times 8.
        index: Option<Register>,
    },
    /// Stores a word at `base + offset + 8 * index`.
    Store {
        /// The word.
        from: Operand,
        /// The base of the address.
        base: Base,
        /// The offset in bytes.
        offset: u32,
        /// Added to the address, times 8.
        index: Option<Register>,
    },
    /// Adds a constant to the word at the address, atomically; `to` := the word before.
    /// Only after `Commit`.
    Xadd {
        /// The word before.
        to: Register,
        /// The base of the address.
        base: Base,
        /// The offset in bytes.
        offset: u32,
        /// The number to add.
        add: i64,
    },
    /// `to` := `to` `operation` `right`.
    Alu {
        /// The operation.
        operation: Alu,
        /// The first operand and the result.
        to: Register,
        /// The second operand.
        right: Operand,
    },
    /// `to` := `to` `operation` `right`, or a gate.
    Checked {
        /// The operation.
        operation: Checked,
        /// The first operand and the result.
        to: Register,
        /// The second operand.
        right: Operand,
    },
    /// `to` := the hash of `to` and `word`: both halves of the 128-bit product of
    /// `to ^ word ^ 0x2545f4914f6cdd1d` and `0x9e3779b97f4a7c15`, combined by `xor`.
    Hash {
        /// The hash so far, and the result.
        to: Register,
        /// The word that is mixed in.
        word: Register,
    },
    /// `base` := the table + `at` (a byte offset).
    Point {
        /// The base.
        base: Base,
        /// The offset in bytes.
        at: Register,
    },
    /// Goes to `target` if the condition holds. The target is behind this operation.
    Branch {
        /// The comparison.
        condition: Condition,
        /// The first operand.
        left: Register,
        /// The second operand.
        right: Operand,
        /// The position of the next operation.
        target: u32,
    },
    /// Goes to `target`, which is behind this operation.
    Jump {
        /// The position of the next operation.
        target: u32,
    },
    /// Goes back to `target`: the loop of the search for a slot.
    Again {
        /// The position of the next operation.
        target: u32,
    },
    /// Takes a lock: compares and exchanges the word at `base + offset` from 0 to the
    /// offset of the journal, repeatedly; gates as [`Why::Busy`] after some attempts.
    Lock {
        /// The base of the address: `Stripe`, or `Table` for the lock of the table.
        base: Base,
        /// The offset in bytes.
        offset: u32,
    },
    /// Releases a lock: stores 0.
    Unlock {
        /// The base of the address.
        base: Base,
        /// The offset in bytes.
        offset: u32,
    },
    /// The point from which on the step must be finished: stores
    /// [`Journaled::word`] as [`JournalWord::Committed`](super::JournalWord::Committed) of the journal. Everything else
    /// that a redo reads is in the journal before.
    Commit(Journaled),
    /// The point from which on a redo is not needed: stores 0 as
    /// [`JournalWord::Committed`](super::JournalWord::Committed). The locks are released after it.
    Done,
    /// Ends the step. No lock is held.
    End(EndKind),
    /// Releases the locks and has the event taken by a general step.
    Gate(Why),
}

/// The operations of one event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepProgram {
    /// The operations. Their last is `End` or `Gate`, so none is fallen through.
    pub ops: Vec<Op>,
    /// The reason why every occurrence is taken by a general step, if `ops` is only a
    /// gate.
    pub why: Option<NotNative>,
    /// The operations that few steps run, ascending ranges of positions. A compiler puts
    /// them out of the way of the others.
    pub unlikely: Vec<Range<u32>>,
}

/// A property as operations: one program for each event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MonitorProgram {
    /// The table.
    pub layout: Layout,
    /// By event.
    pub steps: Vec<StepProgram>,
    /// The words of the new table that are not 0: the offset in bytes, and the word.
    pub image: Vec<(u64, u64)>,
}
