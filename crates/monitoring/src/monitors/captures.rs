//! The captures that reports need, whether or not the property asks for them.

use juror_event::{Capture, EventKind, Read, SymbolicEvent};

/// Adds the captures that reports need and the property lacks. An added capture has the span of its
/// event.
pub(crate) fn add(event: &mut SymbolicEvent) {
    /// Bits of the mask of captures.
    const CAPTURES_MAX: usize = 64;
    let is_range = event.subject.ends_with(']') && event.subject.contains("..");
    let position = is_range.then_some(Read::Position);
    let any = event.subject.is_empty().then_some(Read::Number);
    let wanted: Vec<Read> = match event.kind {
        EventKind::Read => position.into_iter().chain([Read::Value]).collect(),
        EventKind::Write | EventKind::Change | EventKind::Access => position
            .into_iter()
            .chain([Read::Old, Read::Value])
            .collect(),
        EventKind::SystemCallEntry | EventKind::Signal => any.into_iter().collect(),
        EventKind::SystemCallExit => any.into_iter().chain([Read::Return]).collect(),
        EventKind::ModuleLoad | EventKind::ModuleUnload => vec![Read::ModuleName],
        EventKind::ProgramExit => vec![Read::Status],
        _ => Vec::new(),
    };
    for read in wanted {
        let name: Box<str> = match read {
            Read::Return => "result".into(),
            _ => read.to_string().into(),
        };
        if let Some(known) = event.captures.iter_mut().find(|it| it.read == read) {
            // Reports need it in every state.
            known.hoisted = false;
            continue;
        }
        let is_known = |it: &Capture| it.name == name;
        if event.captures.len() < CAPTURES_MAX && !event.captures.iter().any(is_known) {
            event.captures.push(Capture {
                name,
                read,
                hoisted: false,
                span: event.span.clone(),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use juror_event::Reach;

    fn names(kind: EventKind, subject: &str, known: &[Read]) -> Vec<String> {
        let capture = |read: &Read| Capture {
            name: "mine".into(),
            read: read.clone(),
            hoisted: true,
            span: 3..4,
        };
        let mut event = SymbolicEvent {
            name: "e".into(),
            kind,
            subject: subject.into(),
            reach: Reach::Anywhere,
            captures: known.iter().map(capture).collect(),
            span: 0..9,
            subject_span: 1..2,
        };
        add(&mut event);
        assert!(event.captures.iter().all(|it| !it.hoisted));
        event
            .captures
            .iter()
            .map(|it| it.name.to_string())
            .collect()
    }

    #[test]
    fn what_is_missing_is_added() {
        for (kind, subject, known, expected) in [
            (EventKind::Write, "total", &[][..], &["old", "value"][..]),
            (EventKind::Read, "total", &[], &["value"]),
            (
                EventKind::Change,
                "cells[0..9]",
                &[],
                &["index", "old", "value"],
            ),
            (EventKind::Write, "total", &[Read::Value], &["mine", "old"]),
            (EventKind::Signal, "", &[], &["number"]),
            (EventKind::Signal, "SIGUSR1", &[], &[]),
            (EventKind::SystemCallExit, "read", &[], &["result"]),
            (EventKind::ProgramExit, "", &[Read::Status], &["mine"]),
            (EventKind::BeforeCall, "push", &[], &[]),
        ] {
            assert_eq!(names(kind, subject, known), expected, "{kind} {subject}");
        }
    }
}
