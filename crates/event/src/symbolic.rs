//! Symbolic events: events as properties name them.

use crate::Capture;
use std::fmt;
use std::ops::Range;

/// The index of a symbolic event among those of its property.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventId(pub u16);

/// The kind of an event: the moment of the run at which it occurs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EventKind {
    /// A call is about to execute its first instruction.
    BeforeCall,
    /// A call has returned to its caller.
    AfterCall,
    /// A call has ended without returning: an uncaught exception or a `longjmp` has
    /// removed its frame from the stack.
    Unwound,
    /// A location in the debuggee's memory was read.
    Read,
    /// A value was written to the location, the same or a different one.
    Write,
    /// The value of the location has changed.
    Change,
    /// The location was read or written.
    Access,
    /// A thread is about to enter a system call.
    SystemCallEntry,
    /// A system call has returned.
    SystemCallExit,
    /// A signal is about to be delivered to a thread.
    Signal,
    /// A thread is about to execute its first instruction.
    ThreadStart,
    /// A thread has ended.
    ThreadEnd,
    /// A module has been loaded; its initialisers have not run yet.
    ModuleLoad,
    /// A module has been unloaded.
    ModuleUnload,
    /// A source line is about to run.
    Line,
    /// The program is about to execute its first instruction after loading.
    ProgramStart,
    /// The program has ended.
    ProgramExit,
}

impl EventKind {
    /// All kinds.
    pub const ALL: [EventKind; 17] = [
        EventKind::BeforeCall,
        EventKind::AfterCall,
        EventKind::Unwound,
        EventKind::Read,
        EventKind::Write,
        EventKind::Change,
        EventKind::Access,
        EventKind::SystemCallEntry,
        EventKind::SystemCallExit,
        EventKind::Signal,
        EventKind::ThreadStart,
        EventKind::ThreadEnd,
        EventKind::ModuleLoad,
        EventKind::ModuleUnload,
        EventKind::Line,
        EventKind::ProgramStart,
        EventKind::ProgramExit,
    ];

    /// Returns the words that denote the kind in the property language.
    pub fn word(self) -> &'static str {
        match self {
            EventKind::BeforeCall => "before",
            EventKind::AfterCall => "after",
            EventKind::Unwound => "unwound",
            EventKind::Read => "read",
            EventKind::Write => "write",
            EventKind::Change => "change",
            EventKind::Access => "access",
            EventKind::SystemCallEntry => "entry",
            EventKind::SystemCallExit => "exit",
            EventKind::Signal => "signal",
            EventKind::ThreadStart => "thread start",
            EventKind::ThreadEnd => "thread end",
            EventKind::ModuleLoad => "module load",
            EventKind::ModuleUnload => "module unload",
            EventKind::Line => "line",
            EventKind::ProgramStart => "program start",
            EventKind::ProgramExit => "program exit",
        }
    }

    /// Splits the words of an event, such as `write queue->count` or `thread end`, into
    /// its kind and its subject, which may be empty.
    pub fn of_words(words: &str) -> Option<(EventKind, &str)> {
        EventKind::ALL.into_iter().find_map(|kind| {
            let subject = words.strip_prefix(kind.word())?;
            if subject.is_empty() {
                Some((kind, subject))
            } else {
                Some((kind, subject.strip_prefix(' ')?))
            }
        })
    }

    /// Returns true for accesses to memory.
    pub fn is_about_memory(self) -> bool {
        matches!(
            self,
            EventKind::Read | EventKind::Write | EventKind::Change | EventKind::Access
        )
    }

    /// Returns true for events of a call.
    pub fn is_call(self) -> bool {
        self == EventKind::BeforeCall || self.is_end_of_call()
    }

    /// Returns true for both ends of a call, by return and by unwinding. Such a call is
    /// followed from its entry, where its arguments are read.
    pub fn is_end_of_call(self) -> bool {
        matches!(self, EventKind::AfterCall | EventKind::Unwound)
    }
}

impl fmt::Display for EventKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// The modules in which the function of an event is looked up.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Reach {
    /// Every module that is loaded at the start or later; it is an error if no module
    /// loaded at the start defines the function.
    Anywhere,
    /// A library that may be loaded later (`in library`). It is no error if the library
    /// is absent, but the report says that it was never loaded.
    Library,
    /// Only modules whose file name begins with this text (`in "libc.so"`); they may be
    /// loaded later.
    Module(Box<str>),
}

/// An event declaration of a property.
#[derive(Debug, Clone, PartialEq)]
pub struct SymbolicEvent {
    /// The name that the property gives to the event.
    pub name: Box<str>,
    /// The kind of the event.
    pub kind: EventKind,
    /// The subject: the name of a function as in the debuggee's symbols, the expression
    /// of a watched location, the name of a system call, signal or module, or
    /// `FILE:LINE`. Empty if any subject matches (`signal`, `thread start`) and if
    /// there is only one.
    pub subject: Box<str>,
    /// The modules in which the function or location is looked up.
    pub reach: Reach,
    /// The values to read when the event occurs: the declared parameters in order, then
    /// the hoisted ones.
    pub captures: Vec<Capture>,
    /// The position of the declaration in the property source, in bytes.
    pub span: Range<usize>,
    /// The position of the subject in the property source, in bytes.
    pub subject_span: Range<usize>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_an_event_tell_its_kind_and_subject() {
        for kind in EventKind::ALL {
            for subject in ["", "queue->count", "exit", "queue.c:42"] {
                let words = match subject {
                    "" => kind.to_string(),
                    _ => format!("{kind} {subject}"),
                };
                assert_eq!(EventKind::of_words(&words), Some((kind, subject)));
            }
        }
        for words in ["", "thread", "writes total", "a new kind"] {
            assert_eq!(EventKind::of_words(words), None, "{words}");
        }
    }

    #[test]
    fn kinds_are_about_memory_or_calls_or_neither() {
        let those = |predicate: fn(EventKind) -> bool| {
            let kinds = EventKind::ALL.into_iter().filter(|kind| predicate(*kind));
            kinds.map(EventKind::word).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(
            those(EventKind::is_about_memory),
            "read write change access"
        );
        assert_eq!(those(EventKind::is_call), "before after unwound");
        assert_eq!(those(EventKind::is_end_of_call), "after unwound");
    }
}
