//! Context values of an event, such as its thread, its time, or the value written; and
//! the permitted subjects of events.

use super::Checker;
use crate::syntax::{EventDeclaration, Expression, ExpressionKind, Name, UnaryOperator};
use crate::term::Kind;
use juror_event::{EventKind, Read};
use juror_fault::Diagnostic;

/// Returns the context value with this name, of those that every event has.
pub(super) fn read_for_all(name: &str) -> Option<(Read, Kind)> {
    Some(match name {
        "thread" => (Read::Thread, Kind::Integer),
        "time" => (Read::Time, Kind::Integer),
        "caller" => (Read::CallerName, Kind::String),
        "return_address" => (Read::ReturnAddress, Kind::Address),
        _ => return None,
    })
}

/// Returns the context value with this name for an event of this kind.
pub(super) fn read(name: &str, kind: EventKind) -> Option<(Read, Kind)> {
    if let Some(found) = read_for_all(name) {
        return Some(found);
    }
    Some(match (name, kind) {
        ("value", kind) if kind.is_about_memory() => (Read::Value, Kind::Unknown),
        ("address", kind) if kind.is_about_memory() => (Read::WatchedAddress, Kind::Address),
        ("old", EventKind::Write | EventKind::Change) => (Read::Old, Kind::Unknown),
        ("index", kind) if kind.is_about_memory() => (Read::Position, Kind::Integer),
        ("number", EventKind::Signal) => (Read::Number, Kind::Integer),
        ("sender", EventKind::Signal) => (Read::Sender, Kind::Integer),
        ("code", EventKind::Signal) => (Read::Code, Kind::Integer),
        ("status", EventKind::ProgramExit) => (Read::Status, Kind::Integer),
        ("name", EventKind::ModuleLoad | EventKind::ModuleUnload) => {
            (Read::ModuleName, Kind::String)
        }
        ("start_routine", EventKind::ThreadStart) => (Read::StartRoutine, Kind::Address),
        ("start_function", EventKind::ThreadStart) => (Read::StartFunction, Kind::String),
        ("base", EventKind::ModuleLoad | EventKind::ModuleUnload) => (Read::Base, Kind::Address),
        _ => return None,
    })
}

/// Returns the kind of a context value.
pub(super) fn kind_of(read: &Read) -> Kind {
    match read {
        Read::Thread
        | Read::Time
        | Read::Number
        | Read::Sender
        | Read::Code
        | Read::Status
        | Read::Position => Kind::Integer,
        Read::CallerName | Read::ModuleName | Read::StartFunction => Kind::String,
        Read::ReturnAddress
        | Read::WatchedAddress
        | Read::Base
        | Read::StartRoutine
        | Read::AddressOf(_) => Kind::Address,
        Read::Elements(..) => Kind::Sequence,
        _ => Kind::Unknown,
    }
}

/// Returns true for events that have arguments by position.
pub(super) fn has_arguments(kind: EventKind) -> bool {
    kind.is_call() || matches!(kind, EventKind::SystemCallEntry | EventKind::SystemCallExit)
}

impl Checker<'_> {
    /// Resolves a capture that is a single name.
    pub(super) fn read_by_name(&mut self, name: &Name, kind: EventKind) -> Option<(Read, Kind)> {
        // In an event of a call, a single name is always the parameter of the function.
        if kind.is_call() {
            return Some((Read::Name(name.text.clone()), Kind::Unknown));
        }
        if let Some(found) = read(&name.text, kind) {
            return Some(found);
        }
        if kind.is_about_memory() || kind == EventKind::Line {
            return Some((Read::Name(name.text.clone()), Kind::Unknown));
        }
        let help = match kind {
            EventKind::SystemCallEntry | EventKind::SystemCallExit => {
                format!("give the position of the argument: `{} = arg 1`", name.text)
            }
            EventKind::Signal => "a signal has a `number`, a `sender` and a `code`".to_owned(),
            EventKind::ProgramExit => "the exit of the program has a `status`".to_owned(),
            EventKind::ModuleLoad | EventKind::ModuleUnload => {
                "a module has a `name` and a `base`".to_owned()
            }
            EventKind::ThreadStart => {
                "a thread that starts has a `start_routine` and a `start_function`".to_owned()
            }
            _ => "it has a `thread` and a `time`".to_owned(),
        };
        let message = format!("`{kind}` has no value called `{}`", name.text);
        let error = Diagnostic::error("bad-read", name.span.clone(), message);
        self.diagnostics.push(error.help(help));
        None
    }

    /// Checks that the subject of a memory event is a location.
    pub(super) fn check_subject(&mut self, event: &EventDeclaration) {
        let Some(place) = &event.place else {
            return;
        };
        if matches!(place.kind, ExpressionKind::Integer(_)) {
            let error = Diagnostic::error(
                "bad-place",
                place.span.clone(),
                "a number is not a location",
            );
            self.diagnostics
                .push(error.help("give the type of the value at this address: `*(int *)0x4010`"));
        }
        self.check_location(place);
    }

    fn check_location(&mut self, place: &Expression) {
        let what = match &place.kind {
            ExpressionKind::Name(_) | ExpressionKind::Integer(_) | ExpressionKind::Error => return,
            ExpressionKind::Field { object, .. } => return self.check_location(object),
            ExpressionKind::Index { object, index } => {
                self.constant_index(index);
                return self.check_location(object);
            }
            ExpressionKind::Slice { object, start, end } => {
                self.constant_range(start, end, &place.span);
                return self.check_location(object);
            }
            ExpressionKind::Cast { operand, .. }
            | ExpressionKind::Unary {
                operator: UnaryOperator::Dereference,
                operand,
            } => return self.check_location(operand),
            ExpressionKind::Register(_) => "a register is not a location in memory",
            _ => "this is not a location in the debuggee",
        };
        let error = Diagnostic::error("bad-place", place.span.clone(), what);
        self.diagnostics.push(error.help(
            "a watched location is a variable, a field, an element, a range of elements or the \
             target of a pointer: `total`, `queue.c::count`, `queue->count`, `board[0..81]`, \
             `*pointer`",
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_event_has_its_context_values() {
        const MEMORY: &str = "read write change access";
        for (name, words, expected, kind) in [
            ("value", MEMORY, Read::Value, Kind::Unknown),
            ("address", MEMORY, Read::WatchedAddress, Kind::Address),
            ("index", MEMORY, Read::Position, Kind::Integer),
            ("old", "write change", Read::Old, Kind::Unknown),
            ("number", "signal", Read::Number, Kind::Integer),
            ("sender", "signal", Read::Sender, Kind::Integer),
            ("code", "signal", Read::Code, Kind::Integer),
            ("status", "program exit", Read::Status, Kind::Integer),
            (
                "name",
                "module load module unload",
                Read::ModuleName,
                Kind::String,
            ),
            (
                "base",
                "module load module unload",
                Read::Base,
                Kind::Address,
            ),
            (
                "start_routine",
                "thread start",
                Read::StartRoutine,
                Kind::Address,
            ),
            (
                "start_function",
                "thread start",
                Read::StartFunction,
                Kind::String,
            ),
        ] {
            let has_it = |kind: &EventKind| read(name, *kind).is_some();
            let kinds = EventKind::ALL.into_iter().filter(has_it);
            let found: Vec<&str> = kinds.clone().map(EventKind::word).collect();
            assert_eq!(found.join(" "), words, "{name}");
            for event in kinds {
                assert_eq!(read(name, event), Some((expected.clone(), kind)));
            }
            assert_eq!(kind_of(&expected), kind, "{name}");
        }
    }

    #[test]
    fn every_event_has_a_thread_a_time_and_a_caller() {
        for kind in EventKind::ALL {
            for (name, expected, of_kind) in [
                ("thread", Read::Thread, Kind::Integer),
                ("time", Read::Time, Kind::Integer),
                ("caller", Read::CallerName, Kind::String),
                ("return_address", Read::ReturnAddress, Kind::Address),
            ] {
                assert_eq!(kind_of(&expected), of_kind, "{name}");
                assert_eq!(read(name, kind), Some((expected, of_kind)));
            }
            assert_eq!(read("queue", kind), None);
        }
    }
}
