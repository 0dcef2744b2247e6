//! Events of properties without a location in code or memory: system calls, signals, threads,
//! modules, the start and the end.
//!
//! **Invariant**: the debuggee reports exactly those system calls and signals that some monitor
//! needs in its present state, since every other one would cost a stop for nothing. Threads,
//! modules, start and end are always reported.

use crate::monitors::memory_locations::while_halted;
use juror_debuggee::{DebuggeeError, SystemCalls};
use juror_event::{EventId, EventKind, SymbolicEvent};
use juror_instrument::capture_plan::CapturePlan;
use juror_instrument::probes::BindError;
use juror_points::signal_names;
use juror_points::system_call_names::{system_call_names, system_call_number};
use juror_program::program::Program;
use std::collections::BTreeSet;
use std::rc::Rc;

const SIGKILL: i32 = 9;

/// The subject of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Subject {
    /// Everything of its kind.
    Any,
    /// A system call, by number.
    SystemCall(u64),
    /// A signal, by number.
    Signal(i32),
    /// Modules whose file names begin with this.
    Module(Box<str>),
}

/// An event that has occurred.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Happening<'a> {
    /// A system call is entered or left.
    SystemCall(EventKind, u64),
    /// A signal is about to be delivered.
    Signal(i32),
    /// A module of this name was loaded or unloaded.
    Module(EventKind, &'a str),
    /// An event without a subject.
    Plain(EventKind),
}

/// An event of a monitor.
#[derive(Debug, Clone)]
pub(crate) struct Occasion {
    /// The number of the monitor.
    pub monitor: u16,
    /// The event.
    pub event: EventId,
    pub kind: EventKind,
    pub subject: Subject,
    /// By capture slot.
    pub captures: Rc<[CapturePlan]>,
}

/// The events without a location of all monitors.
#[derive(Debug, Default, Clone)]
pub(crate) struct Occasions {
    list: Vec<Occasion>,
    /// The system calls that the debuggee reports.
    system_calls: SystemCalls,
    /// The system calls with an event at their exit, in some state; and those of which the
    /// debuggee knows it.
    exits: SystemCalls,
    known_exits: SystemCalls,
    signals: u64,
}

impl Subject {
    /// Resolves the subject of an event.
    ///
    /// # Errors
    /// There is no such system call or signal, or it can never be observed.
    pub(crate) fn of(event: &SymbolicEvent) -> Result<Subject, BindError> {
        let subject = event.subject.trim();
        let wrong = |message: String, help: Option<String>| BindError::Subject {
            message,
            help,
            is_absent: false,
        };
        if subject.is_empty() {
            return Ok(Subject::Any);
        }
        match event.kind {
            EventKind::SystemCallEntry | EventKind::SystemCallExit => {
                let number = system_call_number(subject).ok_or_else(|| {
                    let near = juror_language::suggest(subject, system_call_names());
                    wrong(
                        format!("there is no system call `{subject}`"),
                        near.map(|near| format!("did you mean `{near}`?")),
                    )
                })?;
                Ok(Subject::SystemCall(number))
            }
            EventKind::Signal => match signal_names::number(subject) {
                Some(SIGKILL) => Err(wrong(
                    "SIGKILL ends the process before juror can stop it".to_owned(),
                    Some("`program exit` comes after it, with status 137".to_owned()),
                )),
                Some(number) => Ok(Subject::Signal(number)),
                None => Err(wrong(
                    format!("there is no signal `{subject}`"),
                    juror_language::suggest(&subject.to_uppercase(), signal_names::names())
                        .map(|near| format!("did you mean `{near}`?")),
                )),
            },
            EventKind::ModuleLoad | EventKind::ModuleUnload => Ok(Subject::Module(subject.into())),
            _ => Ok(Subject::Any),
        }
    }
}

impl Happening<'_> {
    fn is_of(self, occasion: &Occasion) -> bool {
        let kind = match self {
            Happening::Signal(_) => EventKind::Signal,
            Happening::SystemCall(kind, _)
            | Happening::Module(kind, _)
            | Happening::Plain(kind) => kind,
        };
        kind == occasion.kind
            && match (&occasion.subject, self) {
                (Subject::Any, _) => true,
                (Subject::SystemCall(wanted), Happening::SystemCall(_, number)) => {
                    *wanted == number
                }
                (Subject::Signal(wanted), Happening::Signal(number)) => *wanted == number,
                (Subject::Module(wanted), Happening::Module(_, name)) => {
                    name.starts_with(&**wanted)
                }
                _ => false,
            }
    }
}

impl Occasions {
    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(crate) fn has(&self, monitor: u16, event: EventId) -> bool {
        let mut list = self.list.iter();
        list.any(|it| it.monitor == monitor && it.event == event)
    }

    /// Adds an event; monitors in their order, events in the order of declaration.
    pub(crate) fn add(&mut self, occasion: Occasion) {
        self.list.push(occasion);
        self.list.sort_by_key(|it| (it.monitor, it.event));
        self.find_exits();
    }

    fn find_exits(&mut self) {
        let is_exit = |it: &&Occasion| it.kind == EventKind::SystemCallExit;
        self.exits = wanted_calls(self.list.iter().filter(is_exit));
    }

    /// Renumbers the monitors; events of monitors without a new number are removed.
    pub(crate) fn renumber(&mut self, number: impl Fn(u16) -> Option<u16>) {
        self.list
            .retain_mut(|occasion| match number(occasion.monitor) {
                Some(other) => {
                    occasion.monitor = other;
                    true
                }
                None => false,
            });
        self.find_exits();
    }

    pub(crate) fn get(&self, position: usize) -> Option<&Occasion> {
        self.list.get(position)
    }

    /// Returns the positions of the events that an occurrence concerns.
    pub(crate) fn concerned(&self, happening: Happening<'_>) -> Vec<usize> {
        let concerned = self.list.iter().enumerate();
        concerned
            .filter(|(_, it)| happening.is_of(it))
            .map(|(position, _)| position)
            .collect()
    }

    /// Returns the events for a forked copy of the process, which reports the system calls of its
    /// parent, and no signals yet.
    pub(crate) fn forked(&self) -> Occasions {
        Occasions {
            signals: 0,
            ..self.clone()
        }
    }

    /// Returns whether some event needs modules.
    pub(crate) fn asks_for_modules(&self) -> bool {
        let is_meant =
            |it: &Occasion| matches!(it.kind, EventKind::ModuleLoad | EventKind::ModuleUnload);
        self.list.iter().any(is_meant)
    }

    /// Requests the reports that are needed now from the debuggee.
    pub(crate) fn apply(
        &mut self,
        program: &mut Program,
        is_needed: impl Fn(u16, EventId) -> bool,
    ) -> Result<(), DebuggeeError> {
        let needed = || {
            self.list
                .iter()
                .filter(|it| is_needed(it.monitor, it.event))
        };
        let (calls, signals) = (wanted_calls(needed()), wanted_signals(needed()));
        if signals != self.signals {
            self.signals = signals;
            program.debuggee.monitor_signals(signals);
        }
        if calls == self.system_calls && self.exits == self.known_exits {
            return Ok(());
        }
        self.known_exits.clone_from(&self.exits);
        let exits = self.exits.clone();
        let was_traced = self.system_calls != SystemCalls::None;
        self.system_calls = calls.clone();
        if was_traced || calls == SystemCalls::None {
            program.debuggee.monitor_system_calls(calls, exits);
            return Ok(());
        }
        // A running thread would report only from its next stop on.
        while_halted(program, |program| {
            program.debuggee.monitor_system_calls(calls, exits);
            Ok(())
        })
    }
}

fn wanted_calls<'a>(needed: impl Iterator<Item = &'a Occasion>) -> SystemCalls {
    let calls = needed.filter(|it| is_system_call(it.kind));
    calls_of(calls.map(|it| &it.subject))
}

pub(crate) fn is_system_call(kind: EventKind) -> bool {
    matches!(kind, EventKind::SystemCallEntry | EventKind::SystemCallExit)
}

/// Returns the system calls of which events of these properties are, in any state: whether or not
/// the properties are bound. An event of no known call is an error later.
pub(crate) fn named_calls<'a>(events: impl Iterator<Item = &'a SymbolicEvent>) -> SystemCalls {
    let calls = events.filter(|event| is_system_call(event.kind));
    let subjects: Vec<Subject> = calls.filter_map(|event| Subject::of(event).ok()).collect();
    calls_of(subjects.iter())
}

fn calls_of<'a>(subjects: impl Iterator<Item = &'a Subject>) -> SystemCalls {
    let mut numbers = BTreeSet::new();
    for subject in subjects {
        match subject {
            Subject::Any => return SystemCalls::All,
            Subject::SystemCall(number) => {
                numbers.insert(*number);
            }
            _ => {}
        }
    }
    if numbers.is_empty() {
        SystemCalls::None
    } else {
        SystemCalls::Only(numbers)
    }
}

fn wanted_signals<'a>(needed: impl Iterator<Item = &'a Occasion>) -> u64 {
    needed.fold(0, |signals, it| match (it.kind, &it.subject) {
        (EventKind::Signal, Subject::Any) => u64::MAX,
        (_, Subject::Signal(number)) => {
            let bit = u32::try_from(*number).ok().and_then(|it| it.checked_sub(1));
            signals | bit.and_then(|bit| 1_u64.checked_shl(bit)).unwrap_or(0)
        }
        _ => signals,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn occasion(event: u16, kind: EventKind, subject: Subject) -> Occasion {
        Occasion {
            monitor: 0,
            event: EventId(event),
            kind,
            subject,
            captures: Rc::new([]),
        }
    }

    #[test]
    fn what_happens_concerns_those_who_wait_for_it() {
        let mut occasions = Occasions::default();
        let entry = EventKind::SystemCallEntry;
        occasions.add(occasion(0, entry, Subject::SystemCall(1)));
        occasions.add(occasion(1, entry, Subject::Any));
        occasions.add(occasion(
            2,
            EventKind::SystemCallExit,
            Subject::SystemCall(1),
        ));
        occasions.add(occasion(3, EventKind::Signal, Subject::Signal(10)));
        let load = EventKind::ModuleLoad;
        occasions.add(occasion(4, load, Subject::Module("libz".into())));
        occasions.add(occasion(5, EventKind::ThreadStart, Subject::Any));
        for (happening, expected) in [
            (Happening::SystemCall(entry, 1), vec![0, 1]),
            (Happening::SystemCall(entry, 2), vec![1]),
            (Happening::SystemCall(EventKind::SystemCallExit, 1), vec![2]),
            (Happening::Signal(10), vec![3]),
            (Happening::Signal(12), vec![]),
            (Happening::Module(load, "libz.so.1"), vec![4]),
            (Happening::Module(load, "libc.so.6"), vec![]),
            (
                Happening::Module(EventKind::ModuleUnload, "libz.so.1"),
                vec![],
            ),
            (Happening::Plain(EventKind::ThreadStart), vec![5]),
        ] {
            assert_eq!(occasions.concerned(happening), expected, "{happening:?}");
        }
    }

    #[test]
    fn only_what_is_needed_is_asked_for() {
        let entry = EventKind::SystemCallEntry;
        let list = [
            occasion(0, entry, Subject::SystemCall(1)),
            occasion(1, EventKind::SystemCallExit, Subject::SystemCall(3)),
            occasion(2, EventKind::Signal, Subject::Signal(10)),
            occasion(3, entry, Subject::Any),
        ];
        let only = |numbers: &[u64]| SystemCalls::Only(numbers.iter().copied().collect());
        assert_eq!(wanted_calls(list[..3].iter()), only(&[1, 3]));
        assert_eq!(wanted_calls(list[2..3].iter()), SystemCalls::None);
        assert_eq!(wanted_calls(list.iter()), SystemCalls::All);
        assert_eq!(wanted_signals(list.iter()), 1 << 9);
    }

    /// Returns the subject of an event, or the message and help of its error.
    fn subject(text: &str) -> Result<Subject, (String, String)> {
        Subject::of(&crate::samples::event(text)).map_err(|error| match error {
            BindError::Subject { message, help, .. } => (message, help.unwrap_or_default()),
            other => panic!("{other:?}"),
        })
    }

    #[test]
    fn subjects_are_numbers_of_calls_and_signals() {
        for (text, expected) in [
            ("entry write", Subject::SystemCall(1)),
            ("exit write", Subject::SystemCall(1)),
            ("signal", Subject::Any),
            ("signal SIGUSR1", Subject::Signal(10)),
            ("module load \"libz\"", Subject::Module("libz".into())),
            ("thread start", Subject::Any),
        ] {
            assert_eq!(subject(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn subjects_that_do_not_exist_have_a_near_one() {
        for (text, message, help) in [
            (
                "entry wirte",
                "there is no system call `wirte`",
                "did you mean `write`?",
            ),
            (
                "signal SIGUSR9",
                "there is no signal `SIGUSR9`",
                "did you mean `SIGUSR",
            ),
            (
                "signal SIGKILL",
                "SIGKILL ends the process",
                "`program exit`",
            ),
        ] {
            let (told, advice) = subject(text).expect_err(text);
            assert!(told.starts_with(message), "{told}");
            assert!(advice.starts_with(help), "{advice}");
        }
    }

    #[test]
    fn events_are_asked_in_the_order_of_properties_and_declarations() {
        let mut occasions = Occasions::default();
        for (monitor, event) in [(1, 0), (0, 2), (0, 1)] {
            occasions.add(Occasion {
                monitor,
                ..occasion(event, EventKind::ThreadStart, Subject::Any)
            });
        }
        let order = |it: &Occasions| {
            it.list
                .iter()
                .map(|it| (it.monitor, it.event.0))
                .collect::<Vec<_>>()
        };
        assert_eq!(order(&occasions), [(0, 1), (0, 2), (1, 0)]);
        occasions.renumber(|number| number.checked_sub(1));
        assert_eq!(order(&occasions), [(0, 0)]);
    }

    #[test]
    fn exits_are_followed_while_some_event_is_at_one() {
        let mut occasions = Occasions::default();
        let call = || Subject::SystemCall(3);
        occasions.add(occasion(
            0,
            EventKind::SystemCallEntry,
            Subject::SystemCall(1),
        ));
        assert_eq!(occasions.exits, SystemCalls::None);
        occasions.add(Occasion {
            monitor: 1,
            ..occasion(0, EventKind::SystemCallExit, call())
        });
        assert_eq!(occasions.exits, SystemCalls::Only([3].into()));
        occasions.renumber(|number| (number == 0).then_some(0));
        assert_eq!(occasions.exits, SystemCalls::None);
    }

    #[test]
    fn a_forked_process_reports_no_signals_until_they_are_asked_for() {
        let occasions = Occasions {
            signals: 1 << 9,
            system_calls: SystemCalls::All,
            ..Occasions::default()
        };
        let forked = occasions.forked();
        assert_eq!((forked.signals, forked.system_calls), (0, SystemCalls::All));
    }

    #[test]
    fn all_calls_are_named_whether_or_not_a_state_needs_them() {
        let events = ["entry write", "exit close", "before f()", "entry wirte"];
        let events = events.map(crate::samples::event);
        assert_eq!(named_calls(events.iter()), SystemCalls::Only([1, 3].into()));
        assert_eq!(named_calls(events[2..3].iter()), SystemCalls::None);
        let any = SymbolicEvent {
            subject: "".into(),
            ..crate::samples::event("entry write")
        };
        assert_eq!(named_calls(events.iter().chain([&any])), SystemCalls::All);
    }
}
