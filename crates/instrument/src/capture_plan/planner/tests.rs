//! Tests the sources of captures that depend on the kind of event and the calling convention
//! alone.

use super::*;
use juror_event::{Capture, Reach};
use juror_symbols::EntryPiece;
use juror_values::read_plan::{Decode, ReadPlan, Step};

fn event(kind: EventKind, reads: &[Read]) -> SymbolicEvent {
    let capture = |read: &Read| Capture {
        name: "it".into(),
        read: read.clone(),
        hoisted: false,
        span: 0..0,
    };
    SymbolicEvent {
        name: "use".into(),
        kind,
        subject: "f".into(),
        reach: Reach::Anywhere,
        captures: reads.iter().map(capture).collect(),
        span: 0..0,
        subject_span: 0..0,
    }
}

/// Plans a read of an event without a function and without modules.
fn plan(kind: EventKind, read: &Read) -> Result<ReadPlan, CaptureError> {
    let event = event(kind, std::slice::from_ref(read));
    let planner = Planner {
        event: &event,
        bound: None,
        modules: &Modules::default(),
    };
    planner.draft(read)?.finish()
}

#[track_caller]
fn refused(kind: EventKind, read: &Read, words: &str) {
    let error = plan(kind, read).expect_err("a refusal");
    assert!(error.message.contains(words), "{}", error.message);
}

const fn register_of(number: u8) -> Source {
    Source::Register { number, shift: 0 }
}

#[test]
fn a_system_call_has_six_arguments_in_registers_of_its_own() {
    // rdi, rsi, rdx, r10, r8, r9
    for (position, number) in [(1, 5), (2, 4), (3, 1), (4, 10), (5, 8), (6, 9)] {
        let found = plan(EventKind::SystemCallEntry, &Read::Argument(position));
        let found = found.expect("a plan");
        assert_eq!(found.source, register_of(number), "{position}");
        assert_eq!(found.decode, Decode::Signed(8));
    }
    for position in [0, 7] {
        let read = Read::Argument(position);
        refused(EventKind::SystemCallExit, &read, "arguments 1 to 6");
    }
}

#[test]
fn other_events_than_calls_have_neither_arguments_nor_results() {
    refused(EventKind::Signal, &Read::Argument(1), "only calls have");
    refused(EventKind::Signal, &Read::Return, "only calls return");
}

#[test]
fn a_system_call_has_its_result_at_the_exit() {
    let found = plan(EventKind::SystemCallExit, &Read::Return).expect("a plan");
    assert_eq!(found.source, register_of(0));
    refused(
        EventKind::SystemCallEntry,
        &Read::Return,
        "nothing has been",
    );
}

#[test]
fn the_target_of_a_word_of_a_system_call_has_no_type() {
    let read = Read::Dereference(Box::new(Read::Argument(1)));
    let found = plan(EventKind::SystemCallEntry, &read).expect("a plan");
    assert_eq!(&*found.follow, &[Step::Behind(0)]);
    assert_eq!(found.decode, Decode::Unsigned(8));
}

#[test]
fn arguments_without_debug_information_are_counted_by_class() {
    let float = Read::Convert(Box::new(Read::Argument(1)), Conversion::Float64);
    let event = event(EventKind::BeforeCall, &[float.clone(), Read::Argument(2)]);
    let planner = Planner {
        event: &event,
        bound: None,
        modules: &Modules::default(),
    };
    let first = planner.draft(&float).and_then(|it| it.finish());
    let first = first.expect("a plan");
    assert_eq!(
        first.source,
        Source::Vector {
            number: 0,
            shift: 0,
        }
    );
    assert_eq!(first.decode, Decode::Float64);
    // The second argument is the first integer.
    let second = planner.untyped_argument(2).finish().expect("a plan");
    assert_eq!(second.source, register_of(5));
}

#[test]
fn a_floating_point_result_without_debug_information_is_in_a_vector_register() {
    let read = Read::Convert(Box::new(Read::Return), Conversion::Float32);
    let found = plan(EventKind::AfterCall, &read).expect("a plan");
    assert_eq!(
        found.source,
        Source::Vector {
            number: 0,
            shift: 0,
        }
    );
}

#[test]
fn reads_that_are_no_location_are_refused() {
    let caller = Read::Caller(Box::new(Read::Argument(1)));
    refused(EventKind::BeforeCall, &caller, "read at the stop");
    refused(EventKind::BeforeCall, &Read::Time, "not a place");
    refused(
        EventKind::Signal,
        &Read::Name("x".into()),
        "no global variable `x`",
    );
}

#[test]
fn a_location_is_a_value_or_the_address_of_one() {
    for (location, expected) in [
        (
            EntryPieceLocation::Register(5),
            Some((register_of(5), false)),
        ),
        (
            EntryPieceLocation::PointedByRegister(5),
            Some((register_of(5), true)),
        ),
        (
            EntryPieceLocation::Register(dwarf::vector(2)),
            Some((
                Source::Vector {
                    number: 2,
                    shift: 0,
                },
                false,
            )),
        ),
        (EntryPieceLocation::Register(dwarf::x87(0)), None),
        (
            EntryPieceLocation::Stack(8),
            Some((Source::Frame { offset: 8 }, false)),
        ),
        (
            EntryPieceLocation::PointedByStack(8),
            Some((Source::Frame { offset: 8 }, true)),
        ),
    ] {
        assert_eq!(part_of(&location), expected, "{location:?}");
    }
}

#[test]
fn an_unavailable_argument_is_refused_with_what_to_do() {
    for (reason, help) in [
        (EntryUnavailable::Removed, "build without optimization"),
        (EntryUnavailable::Unused, "build without optimization"),
        (EntryUnavailable::Undefined, "read it at a line"),
        (EntryUnavailable::WideRegister, "read it at a line"),
        (EntryUnavailable::AddressLost, "in an event `after`"),
        (EntryUnavailable::TypeUnknown, "with -g"),
    ] {
        let piece = EntryPiece {
            offset: 0,
            size: 8,
            location: EntryPieceLocation::Unavailable(reason),
        };
        let location: EntryLocation = std::iter::once(piece).collect();
        let error = parts_of(&location).expect_err("a refusal");
        let given = error.help.unwrap_or_default();
        assert!(
            error.is_final && given.contains(help),
            "{reason:?}: {given}"
        );
    }
}
