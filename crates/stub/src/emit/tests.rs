//! Stubs of lowered properties on the toy processor, against the interpreter of the
//! same operations, and led out at every instruction.

mod calls;
mod lab;
mod random;
mod threads;

use super::*;
use crate::lead_out::Resume;
use crate::stub_map::StubPhase;
use crate::toy::{Machine, Stop};
use iced_x86::{Decoder, DecoderOptions};
use juror_monitor::lowering::{Origin, Why, WordCapture, WordKind};
use lab::*;
use proptest::prelude::*;

/// Slices, variables, guards, a verdict and a checked division.
const GUARDED: &str = "property guarded
slice on key
event use = before f(key: address = arg 1, n: int = arg 2)
event drop = before g(key: address = arg 1)
var total = 0
state start accepting {
    on use when n == 99 -> bad
    on use when n > 0 { total = total + n } -> used
}
state used accepting {
    on use when (total + 1000) / n > 7 and total % 3 != 2 { total = total * n - 1 } -> start
    on use when n != 5 { total = total + 1 } -> used
    on drop -> start
}
state bad non-accepting
";

/// Without slices.
const PLAIN: &str = "property plain
event use = before f(key: address = arg 1, n: int = arg 2)
event drop = before g(key: address = arg 1)
state even accepting { on use -> odd on drop -> even }
state odd accepting { on use when n != 3 -> even }
";

/// A formula with a slice.
const FORMULA: &str = "property formula
slice on key
event use = before f(key: address = arg 1, n: int = arg 2)
event drop = before g(key: address = arg 1)
ltl always (drop implies not once use)
";

fn words() -> EventWords {
    EventWords {
        captures: vec![
            register(7, 8, WordKind::Address),
            register(6, 4, WordKind::Signed),
        ],
    }
}

/// Sets the arguments of a call.
fn with_arguments(mut machine: Machine, key: u64, number: i64) -> Machine {
    machine.registers[7] = key;
    machine.registers[6] = number as u64;
    machine
}

/// Compares a thread behind the head with one that was never patched.
fn same_program(lab: &Lab, start: &Machine, end: &Machine) {
    let mut expected = start.clone();
    lab.run_original(&mut expected);
    assert_eq!(end.registers, expected.registers);
    assert_eq!(end.flags, expected.flags);
    assert_eq!(end.counter, expected.counter);
    let top = end.registers[4];
    let above = STACK + 0x1000 - top;
    assert_eq!(end.bytes(top, above), expected.bytes(top, above));
}

/// Takes one event by the stub, from the tables, and returns the new ones. If
/// `thoroughly`, the thread is led out before each instruction.
fn take(lab: &Lab, tables: &[Vec<u64>], key: u64, number: i64, thoroughly: bool) -> Vec<Vec<u64>> {
    let start = with_arguments(lab.thread(tables, (number & 63) as u8), key, number);
    let mut expected = tables.to_vec();
    let gate = lab.interpret(&start, &mut expected);
    let mut thread = start.clone();
    loop {
        if thoroughly {
            check_led_out(lab, tables, &start, &thread, (&expected, gate));
        }
        if thread.counter == lab.head.end() || thread.counter == GATE_AT {
            break;
        }
        thread.step().unwrap();
    }
    match gate {
        None => {
            assert_eq!(lab.read_tables(&thread), expected);
            same_program(lab, &start, &thread);
        }
        Some(why) => check_gate(lab, &start, thread, (&expected, why)),
    }
    expected
}

/// A thread at the gate: it is led out, or goes on if juror is gone.
fn check_gate(lab: &Lab, start: &Machine, thread: Machine, (expected, why): (&[Vec<u64>], Why)) {
    assert_eq!(thread.counter, GATE_AT);
    assert_eq!(lab.stub.map.leave(thread.registers[0]), Leave::Gate(why));
    let mut led_out = thread.clone();
    lab.apply(lab.lead_out(&thread), &mut led_out);
    assert_eq!(lab.read_tables(&led_out), expected);
    let mut unattended = thread;
    unattended.step().unwrap();
    lab.run(&mut unattended).unwrap();
    assert_eq!(lab.read_tables(&unattended), expected);
    same_program(lab, start, &unattended);
}

/// Leads the thread out where it is: the program's registers are as without a stub,
/// the table is as before or complete, and it goes on to the same end.
fn check_led_out(
    lab: &Lab,
    before: &[Vec<u64>],
    start: &Machine,
    thread: &Machine,
    (expected, gate): (&[Vec<u64>], Option<Why>),
) {
    if thread.counter == lab.head.end() {
        return;
    }
    let out = lab.lead_out(thread);
    let (resume, done) = (out.resume, out.done);
    let mut led_out = thread.clone();
    lab.apply(out, &mut led_out);
    for (number, table) in lab.read_tables(&led_out).iter().enumerate() {
        if number < done {
            assert_eq!(table, &expected[number], "at {:#x}", thread.counter);
        } else {
            same_but_scratch(lab, number, table, &before[number]);
        }
    }
    if let Resume::Twin { .. } = resume {
        assert_eq!(done, lab.tables.len());
    } else {
        let mut program = start.clone();
        program.counter = led_out.counter;
        assert_eq!(led_out.registers, program.registers);
        assert_eq!(led_out.flags, program.flags);
    }
    lab.run(&mut led_out).unwrap();
    assert_eq!(led_out.counter == GATE_AT, gate.is_some());
    if gate.is_none() {
        assert_eq!(lab.read_tables(&led_out), expected);
        same_program(lab, start, &led_out);
    }
}

/// Compares tables except for the thread's journal and slots without a slice.
fn same_but_scratch(lab: &Lab, section: usize, one: &[u64], other: &[u64]) {
    let layout = &lab.lowered[section].program().layout;
    let journal = layout.journal(JOURNAL) / 8;
    let journal = journal..journal + (1 << layout.journal_shift) / 8;
    let fixed = u64::from(layout.end) / 8;
    let slot = (1 << layout.slot_shift) / 8;
    for (at, (a, b)) in (0u64..).zip(one.iter().zip(other)) {
        let in_empty_slot = at >= fixed && {
            // The slots begin at the end of the fixed part, aligned.
            let id = (at / slot * slot) as usize;
            one[id] == 0 && other[id] == 0
        };
        if !journal.contains(&at) && !in_empty_slot {
            assert_eq!(a, b, "word {at} of table {section}");
        }
    }
}

#[test]
fn the_marks_are_the_instructions() {
    let lab = Lab::new(&[GUARDED, PLAIN], 0, words());
    let map = &lab.stub.map;
    let mut decoder = Decoder::with_ip(64, &lab.stub.bytes, STUB, DecoderOptions::NONE);
    let mut found = 0;
    while decoder.can_decode() {
        let instruction = decoder.decode();
        assert!(!instruction.is_invalid());
        assert!(map.phase(instruction.ip()).is_some(), "{instruction:?}");
        found += 1;
    }
    assert_eq!(found, map.marks.len() + map.relocated.pieces.len());
    println!("{found} instructions, {} bytes", lab.stub.bytes.len());
}

#[test]
fn the_flags_survive_in_all_combinations() {
    let lab = Lab::new(&[PLAIN], 0, words());
    for flags in 0..64 {
        let mut start = with_arguments(lab.thread(&lab.tables, flags), HEAP, 1);
        let mut thread = start.clone();
        while thread.counter != lab.stub.map.relocated.at {
            thread.step().unwrap();
        }
        start.counter = thread.counter;
        assert_eq!(thread.flags, start.flags);
        assert_eq!(thread.registers, start.registers);
    }
}

#[test]
fn a_muted_thread_changes_nothing() {
    let lab = Lab::new(&[GUARDED], 0, words());
    let mut start = with_arguments(lab.thread(&lab.tables, 9), HEAP, 1);
    start
        .store(
            THREAD + u64::from(ARMED_AT),
            4,
            u64::from(crate::emit::MUTED),
        )
        .unwrap();
    let mut thread = start.clone();
    lab.run(&mut thread).unwrap();
    assert_eq!(lab.read_tables(&thread), lab.tables);
    same_program(&lab, &start, &thread);
}

/// The program uses `gs`, and there is no juror to take the event.
#[test]
fn a_thread_without_a_record_passes_an_unattended_gate() {
    for sections in [&[GUARDED][..], &[GUARDED, PLAIN]] {
        let lab = Lab::new(sections, 0, words());
        let mut start = with_arguments(lab.thread(&lab.tables, 9), HEAP, 1);
        start.store(THREAD + u64::from(ARMED_AT), 4, 0).unwrap();
        let mut thread = start.clone();
        lab.run(&mut thread).unwrap();
        assert_eq!(thread.counter, GATE_AT);
        thread.step().unwrap();
        lab.run(&mut thread).unwrap();
        assert_eq!(lab.read_tables(&thread), lab.tables);
        same_program(&lab, &start, &thread);
    }
}

/// Runs events in a row, and leads out of each at every instruction.
fn check_events(sources: &[&str], event: usize, words: EventWords, events: &[(u64, i64)]) {
    let lab = Lab::new(sources, event, words);
    let mut tables = lab.tables.clone();
    for (key, number) in events {
        tables = take(&lab, &tables, *key, *number, true);
    }
}

#[test]
fn led_out_anywhere_a_guarded_property_goes_on() {
    let events = [
        (HEAP, 1),
        (HEAP, 2),
        (HEAP + 8, 5),
        (HEAP, 0),
        (HEAP, 4),
        (HEAP, 99),
        (HEAP + 8, 3),
    ];
    check_events(&[GUARDED], 0, words(), &events);
}

#[test]
fn led_out_anywhere_a_property_without_slices_goes_on() {
    check_events(
        &[PLAIN],
        0,
        words(),
        &[(HEAP, 1), (HEAP, 3), (HEAP, 4), (HEAP, 4)],
    );
}

#[test]
fn led_out_anywhere_a_formula_goes_on() {
    check_events(
        &[FORMULA],
        0,
        words(),
        &[(HEAP, 1), (HEAP + 8, 3), (HEAP, 4)],
    );
}

#[test]
fn led_out_anywhere_two_sections_go_on() {
    let events = [(HEAP, 1), (HEAP, 2), (HEAP + 8, 5), (HEAP, 99), (HEAP, 3)];
    check_events(&[GUARDED, PLAIN], 0, words(), &events);
    check_events(&[PLAIN, GUARDED, FORMULA], 0, words(), &events);
}

#[test]
fn keys_beyond_63_bits_gate() {
    check_events(&[GUARDED], 0, words(), &[(1 << 63, 1)]);
}

#[test]
fn a_lock_that_is_held_is_waited_for_and_gates() {
    let lab = Lab::new(&[GUARDED], 0, words());
    let layout = &lab.lowered[0].program().layout;
    let mut tables = lab.tables.clone();
    for stripe in 0..2 {
        tables[0][(layout.stripe(stripe) / 8) as usize] = layout.journal(2);
    }
    let start = with_arguments(lab.thread(&tables, 0), HEAP, 1);
    let mut thread = start.clone();
    lab.run(&mut thread).unwrap();
    assert_eq!(
        lab.stub.map.leave(thread.registers[0]),
        Leave::Gate(Why::Busy)
    );
    let out = lab.lead_out(&thread);
    assert!(out.release.is_empty(), "the lock is another thread's");
    assert_eq!((out.resume, out.done), (Resume::Entry, 0));
    assert_eq!(out.registers.general, start.registers);
    // The thread that holds it is gone, and so is juror.
    thread.step().unwrap();
    lab.run(&mut thread).unwrap();
    same_but_scratch(&lab, 0, &lab.read_tables(&thread)[0], &tables[0]);
    same_program(&lab, &start, &thread);
}

#[test]
fn a_bad_pointer_faults_where_the_map_says() {
    let far = |reads: &[i32], bytes| {
        Some(WordCapture {
            origin: Origin::Register(7),
            reads: reads.to_vec(),
            bytes,
            kind: WordKind::Address,
        })
    };
    let words = EventWords {
        captures: vec![far(&[16, 8], 8), register(6, 1, WordKind::Signed)],
    };
    let lab = Lab::new(&[GUARDED], 0, words);
    for (first, second) in [(0x10, HEAP), (HEAP, 0x20)] {
        let mut start = with_arguments(lab.thread(&lab.tables, 0), first, 1);
        start.store(HEAP + 16, 8, second).unwrap();
        let mut thread = start.clone();
        assert!(matches!(lab.run(&mut thread), Err(Stop::Fault(_))));
        assert_eq!(lab.stub.map.leave(thread.counter), Leave::Capture);
        assert!(lab.stub.map.faulting().any(|at| at == thread.counter));
        let out = lab.lead_out(&thread);
        assert_eq!(out.registers.general, start.registers);
        assert_eq!((out.resume, out.release.len()), (Resume::Entry, 0));
    }
}

#[test]
fn a_full_stack_is_left_as_it_was() {
    let lab = Lab::new(&[PLAIN], 0, words());
    for room in 0..8 {
        let mut start = with_arguments(lab.thread(&lab.tables, 5), HEAP, 1);
        start.registers[4] = STACK - 0x1000 + 8 * room;
        let mut thread = start.clone();
        if lab.run(&mut thread).is_ok() {
            continue;
        }
        assert_eq!(lab.stub.map.leave(thread.counter), Leave::Stack);
        let out = lab.lead_out(&thread);
        assert_eq!(out.registers.general, start.registers);
        assert_eq!(out.registers.flags, start.flags.to_bits());
    }
}

#[test]
fn two_thousand_stubs_are_made_quickly() {
    let lab = Lab::new(&[GUARDED], 0, words());
    let section = Section {
        program: lab.program(0),
        words: &lab.words,
        table: TABLE,
        journal: 32,
        action: Action::Step,
    };
    let start = std::time::Instant::now();
    let mut size = 0;
    for number in 0..2000 {
        let draft = draft(&lab.head, Place::Entry, &[section], lab.region).unwrap();
        size += draft
            .place(&lab.head, STUB + 64 * number)
            .unwrap()
            .bytes
            .len();
    }
    let elapsed = start.elapsed();
    println!("2 000 stubs of {} bytes in {elapsed:?}", size / 2000);
    assert!(elapsed.as_secs() < 5, "{elapsed:?}");
}

#[test]
fn every_phase_occurs() {
    let lab = Lab::new(&[GUARDED], 0, words());
    let map = &lab.stub.map;
    let phases: Vec<StubPhase> = (STUB..STUB + map.size)
        .filter_map(|at| map.phase(at))
        .collect();
    for phase in [
        StubPhase::Free { section: 0 },
        StubPhase::Locked { section: 0 },
        StubPhase::Committed { section: 0 },
        StubPhase::Done,
        StubPhase::Twin {
            original: ENTRY + 1,
        },
    ] {
        assert!(phases.contains(&phase), "{phase:?}");
    }
    assert_eq!(map.twin_of(ENTRY), Some(map.relocated.at));
    for prefix in &lab.stub.lock_prefixes {
        assert_eq!(lab.stub.bytes[(prefix - STUB) as usize], LOCK_OFF);
    }
}

/// Captures from anywhere, of any width.
fn any_words() -> impl Strategy<Value = EventWords> {
    let kinds = prop::sample::select(vec![
        WordKind::Signed,
        WordKind::Unsigned,
        WordKind::Address,
        WordKind::Boolean,
    ]);
    let origin = prop_oneof![
        (0u8..16).prop_map(Origin::Register),
        (0i32..6).prop_map(|words| Origin::Stack(8 * words)),
        Just(Origin::Constant(HEAP + 64)),
        Just(Origin::ReturnAddress),
    ];
    let width = prop::sample::select(vec![1u8, 2, 4, 8]);
    let reads = prop::collection::vec(prop::sample::select(vec![0, 8, 300, 16]), 0..3);
    let capture = (origin, reads, width, kinds).prop_map(|(origin, reads, bytes, kind)| {
        Some(WordCapture {
            origin,
            reads,
            bytes,
            kind,
        })
    });
    let number = capture.clone();
    (capture, number).prop_map(|(mut key, mut number)| {
        // The kinds that the property compiles with.
        if let (Some(key), Some(number)) = (&mut key, &mut number) {
            key.kind = WordKind::Address;
            if number.kind == WordKind::Boolean || number.kind == WordKind::Address {
                number.kind = WordKind::Unsigned;
            }
        }
        EventWords {
            captures: vec![key, number],
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn many_events_agree_with_the_interpreter(
        events in prop::collection::vec((0u64..12, -8i64..120), 1..60),
    ) {
        let lab = Lab::new(&[GUARDED, FORMULA], 0, words());
        let mut tables = lab.tables.clone();
        for (key, number) in events {
            tables = take(&lab, &tables, HEAP + 8 * key, number, false);
        }
    }

    #[test]
    fn captures_agree_with_their_definition(words in any_words(), key: u64, number: i64) {
        let lab = Lab::new(&[GUARDED], 0, words);
        let start = with_arguments(lab.thread(&lab.tables, 0), key, number);
        let mut expected = lab.tables.clone();
        let gate = lab.interpret(&start, &mut expected);
        let mut thread = start.clone();
        match lab.run(&mut thread) {
            Ok(()) => prop_assert_eq!(thread.counter == GATE_AT, gate.is_some()),
            Err(_) => prop_assert_eq!(gate, Some(Why::Capture)),
        }
        let mut led_out = thread.clone();
        if thread.counter != lab.head.end() {
            lab.apply(lab.lead_out(&thread), &mut led_out);
        }
        prop_assert_eq!(lab.read_tables(&led_out), expected);
    }
}
