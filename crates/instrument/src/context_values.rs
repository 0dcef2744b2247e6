//! The context values of an event, which are not read from the debuggee's variables: thread, time,
//! caller, and the information of the kernel or processor.
//!
//! Invariant: a context value is computed only if a capture uses it; the name of a caller is
//! computed once for each address.

use juror_debuggee::ThreadId;
use juror_event::{Conversion, EventKind, Read, Unavailability, Value};
use juror_program::program::Program;
use juror_values::read_plan::Machine;

/// A context value that a capture may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContextValue {
    /// juror's number of the thread.
    Thread,
    /// The nanoseconds since the start.
    Time,
    /// The name of the function that made the call.
    CallerName,
    /// The return address of the call.
    ReturnAddress,
    /// The present value of a watched location.
    Value,
    /// Its previous value.
    Old,
    /// Its address.
    Place,
    /// Its position in the watched range.
    Index,
    /// The number of a signal or system call.
    Number,
    /// The process that sent a signal.
    Sender,
    /// The reason for the signal (`si_code`).
    Code,
    /// The program's exit status.
    Status,
    /// The name of a module's file.
    ModuleName,
    /// The load bias of a module.
    Base,
    /// The start routine of a thread.
    StartRoutine,
    /// Its name.
    StartFunction,
}

/// The information about one occurrence of an event.
#[derive(Debug, Clone, Copy, Default)]
pub struct EventContext<'a> {
    /// The return address of the call; if it is `None`, it is found on the stack when a capture
    /// uses it.
    pub return_address: Option<u64>,
    /// The information specific to the kind of event.
    pub details: Details<'a>,
}

/// The information specific to a kind of event.
#[derive(Debug, Clone, Copy, Default)]
pub enum Details<'a> {
    /// The event has no further information.
    #[default]
    None,
    /// An access to memory.
    Access {
        /// The present value of the location.
        value: &'a Value,
        /// Its previous value.
        old: &'a Value,
        /// Its address.
        address: u64,
        /// Its position in the watched range, from the range's first index.
        index: i64,
    },
    /// An inlined call, which has no return address.
    InlinedCall {
        /// The function that makes the call.
        caller: &'a std::sync::Arc<str>,
    },
    /// A system call.
    SystemCall {
        /// Its number.
        number: u64,
    },
    /// A signal.
    Signal {
        /// Its number.
        number: i32,
        /// The process that sent it.
        sender: Option<u32>,
        /// `si_code`.
        code: i32,
    },
    /// A module.
    Module {
        /// The name of its file.
        name: &'a str,
        /// Its load bias.
        base: u64,
    },
    /// The end of the program.
    Exit {
        /// Its status.
        status: i32,
    },
}

impl ContextValue {
    /// Returns the context value that a read denotes, or `None` if it reads the debuggee.
    pub fn of(read: &Read) -> Option<ContextValue> {
        Some(match read {
            Read::Thread => ContextValue::Thread,
            Read::Time => ContextValue::Time,
            Read::CallerName => ContextValue::CallerName,
            Read::ReturnAddress => ContextValue::ReturnAddress,
            Read::Value => ContextValue::Value,
            Read::Old => ContextValue::Old,
            Read::WatchedAddress => ContextValue::Place,
            Read::Position => ContextValue::Index,
            Read::Number => ContextValue::Number,
            Read::Sender => ContextValue::Sender,
            Read::Code => ContextValue::Code,
            Read::Status => ContextValue::Status,
            Read::ModuleName => ContextValue::ModuleName,
            Read::Base => ContextValue::Base,
            Read::StartRoutine => ContextValue::StartRoutine,
            Read::StartFunction => ContextValue::StartFunction,
            _ => return None,
        })
    }

    /// Converts a value to the type that a property gives it (`now: i64 = value`).
    pub fn converted(value: Value, conversion: Conversion) -> Value {
        let Some(number) = value.as_integer() else {
            return value;
        };
        let low = number as u64;
        match conversion {
            Conversion::Signed { bytes } => {
                let unused = 64 - 8 * u32::from(bytes.clamp(1, 8));
                Value::Int(i128::from(((low << unused) as i64) >> unused))
            }
            Conversion::Unsigned { bytes } => {
                let unused = 64 - 8 * u32::from(bytes.clamp(1, 8));
                Value::Int(i128::from((low << unused) >> unused))
            }
            Conversion::Bool => Value::Bool(number != 0),
            Conversion::Address | Conversion::String => Value::Address(low),
            Conversion::Float32 | Conversion::Float64 => Value::Float(number as f64),
        }
    }

    /// Returns whether events of a kind have it.
    pub fn belongs_to(self, kind: EventKind) -> bool {
        use EventKind::{
            Access, Change, ModuleLoad, ModuleUnload, ProgramExit, Read, Signal, SystemCallEntry,
            SystemCallExit, ThreadEnd, ThreadStart, Write,
        };
        let is_access = matches!(kind, Read | Write | Change | Access);
        match self {
            ContextValue::Thread | ContextValue::Time => true,
            // The stack is gone then.
            ContextValue::CallerName | ContextValue::ReturnAddress => {
                !matches!(kind, ThreadEnd | ProgramExit)
            }
            ContextValue::Value | ContextValue::Place | ContextValue::Index => is_access,
            ContextValue::Old => is_access && kind != Read,
            ContextValue::Number => matches!(kind, Signal | SystemCallEntry | SystemCallExit),
            ContextValue::Sender | ContextValue::Code => kind == Signal,
            ContextValue::Status => kind == ProgramExit,
            ContextValue::ModuleName | ContextValue::Base => {
                matches!(kind, ModuleLoad | ModuleUnload)
            }
            ContextValue::StartRoutine | ContextValue::StartFunction => kind == ThreadStart,
        }
    }

    /// Returns its value for one occurrence, in the type that the property gives it.
    pub fn value_as(
        self,
        conversion: Option<Conversion>,
        program: &Program,
        thread: ThreadId,
        context: &EventContext<'_>,
    ) -> Value {
        let value = self.value(program, thread, context);
        match conversion {
            None => value,
            Some(conversion) => ContextValue::converted(value, conversion),
        }
    }

    /// Returns its value for one occurrence.
    pub fn value(self, program: &Program, thread: ThreadId, context: &EventContext<'_>) -> Value {
        let whole = |number: i128| Value::Int(number);
        match (self, context.details) {
            (ContextValue::Thread, _) => whole(program.thread_number(thread).into()),
            (ContextValue::Time, _) => whole(program.elapsed_ns().into()),
            (ContextValue::CallerName, Details::InlinedCall { caller }) => {
                Value::String(std::sync::Arc::clone(caller))
            }
            (ContextValue::ReturnAddress, Details::InlinedCall { .. }) => {
                Value::Unavailable(Unavailability::NoValue)
            }
            (ContextValue::ReturnAddress, _) => match context.return_address(program, thread) {
                Some(address) => Value::Address(address),
                None => MISSING,
            },
            (ContextValue::CallerName, _) => match context.return_address(program, thread) {
                Some(address) => Value::String(program.caller_name(address)),
                None => MISSING,
            },
            (ContextValue::Value, Details::Access { value, .. }) => value.clone(),
            (ContextValue::Old, Details::Access { old, .. }) => old.clone(),
            (ContextValue::Place, Details::Access { address, .. }) => Value::Address(address),
            (ContextValue::Index, Details::Access { index, .. }) => whole(index.into()),
            (ContextValue::Number, Details::SystemCall { number }) => whole(number.into()),
            (ContextValue::Number, Details::Signal { number, .. }) => whole(number.into()),
            (ContextValue::Sender, Details::Signal { sender, .. }) => {
                whole(sender.unwrap_or(0).into())
            }
            (ContextValue::Code, Details::Signal { code, .. }) => whole(code.into()),
            (ContextValue::Status, Details::Exit { status }) => whole(status.into()),
            (ContextValue::ModuleName, Details::Module { name, .. }) => Value::String(name.into()),
            (ContextValue::Base, Details::Module { base, .. }) => Value::Address(base),
            (ContextValue::StartRoutine, _) => match program.start_routine(thread) {
                Some(address) => Value::Address(address),
                None => MISSING,
            },
            (ContextValue::StartFunction, _) => match program.start_routine(thread) {
                Some(address) => Value::String(program.named_function(address).into()),
                None => MISSING,
            },
            _ => MISSING,
        }
    }
}

/// The value for an event that does not have it.
const MISSING: Value = Value::Unavailable(Unavailability::OptimizedOut);

impl EventContext<'_> {
    /// Returns the context of an event with these details.
    pub fn of(details: Details<'_>) -> EventContext<'_> {
        EventContext {
            return_address: None,
            details,
        }
    }

    fn return_address(&self, program: &Program, thread: ThreadId) -> Option<u64> {
        self.return_address
            .or_else(|| program.return_address(thread))
    }
}

/// A copy of bytes as memory.
pub(crate) struct BytesAt<'a> {
    /// The address of the first byte.
    pub start: u64,
    /// The bytes.
    pub bytes: &'a [u8],
}

impl Machine for BytesAt<'_> {
    fn register(&self, _number: u8) -> u64 {
        0
    }

    fn vector(&self, _number: u8) -> Option<u64> {
        None
    }

    fn read(&self, address: u64, buffer: &mut [u8]) -> bool {
        let Some(offset) = address.checked_sub(self.start) else {
            return false;
        };
        let Some(offset) = usize::try_from(offset).ok() else {
            return false;
        };
        let end = offset.saturating_add(buffer.len());
        match self.bytes.get(offset..end) {
            Some(bytes) => {
                buffer.copy_from_slice(bytes);
                true
            }
            None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fact_belongs_to_the_events_that_have_it() {
        for (value, kind, expected) in [
            (ContextValue::Thread, EventKind::ProgramExit, true),
            (ContextValue::CallerName, EventKind::Write, true),
            (ContextValue::CallerName, EventKind::ProgramExit, false),
            (ContextValue::Old, EventKind::Change, true),
            (ContextValue::Old, EventKind::Read, false),
            (ContextValue::Value, EventKind::BeforeCall, false),
            (ContextValue::Number, EventKind::SystemCallExit, true),
            (ContextValue::Sender, EventKind::SystemCallExit, false),
            (ContextValue::Status, EventKind::ProgramExit, true),
            (ContextValue::Base, EventKind::ModuleUnload, true),
            (ContextValue::StartRoutine, EventKind::ThreadStart, true),
            (ContextValue::StartFunction, EventKind::ThreadEnd, false),
        ] {
            assert_eq!(value.belongs_to(kind), expected, "{value:?} {kind}");
        }
    }

    #[test]
    fn a_fact_is_what_the_property_calls_it() {
        let signed = Conversion::Signed { bytes: 4 };
        for (value, conversion, expected) in [
            (Value::Int(0xffff_ffff), signed, Value::Int(-1)),
            (
                Value::Int(-1),
                Conversion::Unsigned { bytes: 2 },
                Value::Int(0xffff),
            ),
            (
                Value::Int(5),
                Conversion::Signed { bytes: 8 },
                Value::Int(5),
            ),
            (Value::Int(2), Conversion::Bool, Value::Bool(true)),
            (Value::Int(16), Conversion::Address, Value::Address(16)),
            (Value::String("f".into()), signed, Value::String("f".into())),
        ] {
            assert_eq!(
                ContextValue::converted(value.clone(), conversion),
                expected,
                "{value:?}"
            );
        }
    }

    #[test]
    fn a_snapshot_is_memory_where_it_has_bytes() {
        let snapshot = BytesAt {
            start: 0x10,
            bytes: &[1, 2, 3, 4],
        };
        let mut two = [0; 2];
        for (address, expected) in [
            (0x10, Some([1, 2])),
            (0x12, Some([3, 4])),
            (0x13, None),
            (0xf, None),
            (u64::MAX, None),
        ] {
            let read = snapshot.read(address, &mut two).then_some(two);
            assert_eq!(read, expected, "{address:#x}");
        }
    }

    #[test]
    fn a_read_of_the_debuggee_is_no_context_value() {
        for (read, expected) in [
            (Read::Thread, Some(ContextValue::Thread)),
            (Read::WatchedAddress, Some(ContextValue::Place)),
            (Read::Position, Some(ContextValue::Index)),
            (Read::StartFunction, Some(ContextValue::StartFunction)),
            (Read::Return, None),
            (Read::Argument(1), None),
            (Read::Name("thread".into()), None),
        ] {
            assert_eq!(ContextValue::of(&read), expected, "{read}");
        }
    }

    #[test]
    fn a_number_becomes_the_fraction_or_address_that_a_property_asks_for() {
        for (value, conversion, expected) in [
            (Value::Int(3), Conversion::Float64, Value::Float(3.0)),
            (Value::Int(0), Conversion::Bool, Value::Bool(false)),
            (Value::Int(-1), Conversion::String, Value::Address(u64::MAX)),
            (
                Value::Address(0x1_0000_0080),
                Conversion::Signed { bytes: 1 },
                Value::Int(-128),
            ),
            (
                Value::Float(1.5),
                Conversion::Signed { bytes: 4 },
                Value::Float(1.5),
            ),
        ] {
            let found = ContextValue::converted(value.clone(), conversion);
            assert_eq!(found, expected, "{value:?} {conversion:?}");
        }
    }
}
