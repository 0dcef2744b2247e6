//! What an event has as machine words, and why something is not native.

use super::Layout;
use juror_event::Value;
use std::fmt;
use std::ops::Range;

/// The kind of a value that is a machine word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WordKind {
    /// A signed integer.
    Signed,
    /// An unsigned integer.
    Unsigned,
    /// An address.
    Address,
    /// A truth value: the word is 0 or 1.
    Boolean,
}

impl WordKind {
    /// Returns the word of a value of this kind; `None` if it is of another kind, or is
    /// no such number.
    pub fn word_of(self, value: &Value) -> Option<u64> {
        match (self, value) {
            (WordKind::Signed, Value::Int(number)) => {
                i64::try_from(*number).ok().map(|number| number as u64)
            }
            (WordKind::Unsigned, Value::Int(number)) => u64::try_from(*number).ok(),
            (WordKind::Address, Value::Address(address)) => Some(*address),
            (WordKind::Boolean, Value::Bool(truth)) => Some((*truth).into()),
            _ => None,
        }
    }

    /// Returns the value of a word of this kind.
    pub fn value_of(self, word: u64) -> Value {
        match self {
            WordKind::Signed => Value::Int((word as i64).into()),
            WordKind::Unsigned => Value::Int(word.into()),
            WordKind::Address => Value::Address(word),
            WordKind::Boolean => Value::Bool(word != 0),
        }
    }
}

/// The place from which a captured word comes, before memory is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Origin {
    /// A general register, by its number in x86-64 instructions: 0 is `rax`, 7 is
    /// `rdi`.
    Register(u8),
    /// The address of the stack pointer plus this many bytes.
    Stack(i32),
    /// A number that is known when the code is emitted, such as the address of a global
    /// variable.
    Constant(u64),
    /// The number of the thread.
    Thread,
    /// The return address of the call.
    ReturnAddress,
    /// At the end of a call: the word that its entry has kept for this slot.
    Begun,
}

/// A capture that is a machine word: where it is, and how it is read.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct WordCapture {
    /// The first word.
    pub origin: Origin,
    /// For each read of memory, the offset that is added to the last word to give the
    /// address. All reads but the last are of 8 bytes.
    pub reads: Vec<i32>,
    /// The number of bytes of the value: 1, 2, 4 or 8. The result is sign-extended for
    /// `WordKind::Signed`, zero-extended otherwise; for `Boolean` it becomes 1 if it is
    /// not 0.
    pub bytes: u8,
    /// The kind of the value.
    pub kind: WordKind,
}

/// The captures of an event, by slot.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct EventWords {
    /// By slot; `None` for a capture that is never made: an operation whose result does
    /// not depend on the types of its operands.
    pub captures: Vec<Option<WordCapture>>,
}

/// A reason why an event is taken by a general step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Why {
    /// A value is no 64-bit word of its kind, a result overflows, or a divisor is 0.
    Value,
    /// A captured value cannot be read.
    Capture,
    /// A guard or an update has no flat form.
    Term,
    /// The transition decides the verdict of a slice, or ends the slice in a final
    /// state.
    Verdict,
    /// A formula's slice has come to equal the base, and is dropped.
    Drop,
    /// A scenario listens to the event.
    Scenario,
    /// Branches that lead to one state differ in their actions.
    Twin,
    /// A slice is excluded by a constraint that is no inequality of parameters.
    Constraint,
    /// The stripe has no room for another slot.
    Full,
    /// A lock was not had.
    Busy,
    /// The numbers of events that are drawn are near the end of their range: after two
    /// thousand million events.
    Numbers,
    /// Every occurrence of the event: [`super::StepProgram::why`] says why.
    Event,
}

impl Why {
    /// All reasons.
    pub const ALL: [Why; 12] = [
        Why::Value,
        Why::Capture,
        Why::Term,
        Why::Verdict,
        Why::Drop,
        Why::Scenario,
        Why::Twin,
        Why::Constraint,
        Why::Full,
        Why::Busy,
        Why::Numbers,
        Why::Event,
    ];

    /// Returns what the general step is for.
    pub fn words(self) -> &'static str {
        match self {
            Why::Value => "a value is no machine word",
            Why::Capture => "a value cannot be read",
            Why::Term => "a guard or an update has no machine code",
            Why::Verdict => "it decides the verdict of a slice, or ends it in a final state",
            Why::Drop => "a slice is dropped",
            Why::Scenario => "a scenario listens",
            Why::Twin => "its branches differ in their actions",
            Why::Constraint => "a slice is excluded",
            Why::Full => "the table grows",
            Why::Busy => "a lock is taken",
            Why::Numbers => "the numbers of events are renewed",
            Why::Event => "it has no machine code",
        }
    }

    /// Returns the reason in the word of a row ([`Layout::GATE`]).
    pub(crate) fn of_row(word: u64) -> Option<Why> {
        let number = (word & Layout::TARGET) as usize;
        let why = Why::ALL.get(number).copied();
        why.filter(|_| word & Layout::GATE != 0)
    }
}

/// The part of a property that is not native.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// The property as a whole.
    Property,
    /// The event with this name.
    Event(Box<str>),
    /// The variable with this name.
    Variable(Box<str>),
}

/// The reason why a property or an event is not native, with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotNative {
    /// The part of the property.
    pub place: Place,
    /// Its position in the source, in bytes.
    pub span: Range<usize>,
    /// The reason, as words that follow the place: `reads text`.
    pub why: Box<str>,
}

impl fmt::Display for NotNative {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Place::Property => write!(f, "the property {}", self.why),
            Place::Event(name) => write!(f, "the event `{name}` {}", self.why),
            Place::Variable(name) => write!(f, "the variable `{name}` {}", self.why),
        }
    }
}

impl std::error::Error for NotNative {}
