//! Events as properties name them.

use crate::Capture;
use std::fmt;
use std::ops::Range;

/// The position of a symbolic event among those of its property.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventId(pub u16);

/// Which moment of the run an event is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EventKind {
    /// A call is about to run its first instruction.
    BeforeCall,
    /// A call has returned to its caller.
    AfterCall,
    /// A call has ended without returning: an exception that it did not catch, or a
    /// `longjmp`, has taken its frame from the stack.
    Unwound,
    /// A place of the debuggee's memory was read.
    Read,
    /// Something was stored there, the same value or another.
    Write,
    /// The value there is another than before.
    Change,
    /// The place was read or written.
    Access,
    /// A thread is about to enter a system call.
    SystemCallEntry,
    /// A system call has returned.
    SystemCallExit,
    /// A signal is about to be delivered to a thread.
    Signal,
    /// A thread is about to run its first instruction.
    ThreadStart,
    /// A thread has ended.
    ThreadEnd,
    /// A module has been loaded; its initialisers have not run.
    ModuleLoad,
    /// A module has been unloaded.
    ModuleUnload,
    /// A line of the source is about to run.
    Line,
    /// The program is about to run its first instruction after loading.
    ProgramStart,
    /// The program has ended.
    ProgramExit,
}

impl EventKind {
    /// All of them.
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

    /// The word by which the language knows it.
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

    /// What an event's words, such as `write queue->count` or `thread end`,
    /// are about: the kind, and the subject, which may be empty.
    pub fn of_words(words: &str) -> Option<(EventKind, &str)> {
        EventKind::ALL.into_iter().find_map(|kind| {
            let subject = words.strip_prefix(kind.word())?;
            match subject.is_empty() {
                true => Some((kind, subject)),
                false => Some((kind, subject.strip_prefix(' ')?)),
            }
        })
    }

    /// True for accesses to memory.
    pub fn is_about_memory(self) -> bool {
        matches!(
            self,
            EventKind::Read | EventKind::Write | EventKind::Change | EventKind::Access
        )
    }

    /// True for the moments of a call.
    pub fn is_call(self) -> bool {
        self == EventKind::BeforeCall || self.is_end_of_call()
    }

    /// True where a call has ended in one way or the other: it is followed from its
    /// entry, and what is read of its arguments is read there.
    pub fn is_end_of_call(self) -> bool {
        matches!(self, EventKind::AfterCall | EventKind::Unwound)
    }
}

impl fmt::Display for EventKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// Where the function of an event is looked for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Reach {
    /// In every module that is loaded at the start or later; it is an error
    /// when none of those loaded at the start has it.
    Anywhere,
    /// In a library that may be loaded later (`in library`): no error when it
    /// is absent, but the report says that it never appeared.
    Library,
    /// Only in the modules whose file name begins so (`in "libc.so"`), which
    /// may be loaded later.
    Module(Box<str>),
}

/// An event as a property declares it.
#[derive(Debug, Clone, PartialEq)]
pub struct SymbolicEvent {
    /// The name that the property gives to it.
    pub name: Box<str>,
    /// Which moment it is.
    pub kind: EventKind,
    /// What it is about: the name of the function, as in the debuggee's
    /// symbols; the expression of the place that is read or written; the name
    /// of the system call, signal or module; `FILE:LINE`. Empty where any
    /// will do (`signal`, `thread start`) and where there is only one.
    pub subject: Box<str>,
    /// Where the function or place is looked for.
    pub reach: Reach,
    /// What is read when it happens: the declared parameters in order, then
    /// the hoisted ones.
    pub captures: Vec<Capture>,
    /// Where the declaration stands in the property source, in bytes.
    pub span: Range<usize>,
    /// Where the subject stands in the property source, in bytes.
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
}
