//! Tests captures of plans by a table, and against the plans on random memory.

use super::*;
use crate::word_chain::interpret;
use juror_event::{EventKind, Reach, Unavailability, Value};
use juror_values::read_plan::{ClassNumber, Machine, VirtualPart};
use proptest::prelude::*;
use smallvec::SmallVec;

/// The start of memory, and its size.
const START: u64 = 0x1000;
const SIZE: usize = 0x200;
/// The stack pointer at the event.
const STACK: u64 = START + 0x80;

/// Memory, and registers by DWARF number.
#[derive(Debug, Clone)]
struct Thread {
    memory: Vec<u8>,
    registers: [u64; 16],
}

impl Machine for Thread {
    fn register(&self, number: u8) -> u64 {
        self.registers[usize::from(number)]
    }

    fn vector(&self, number: u8) -> Option<u64> {
        Some(number.into())
    }

    fn read(&self, address: u64, buffer: &mut [u8]) -> bool {
        let start = usize::try_from(address.wrapping_sub(START)).unwrap_or(usize::MAX);
        let bytes = start.checked_add(buffer.len());
        match bytes.and_then(|end| self.memory.get(start..end)) {
            Some(bytes) => buffer.copy_from_slice(bytes),
            None => return false,
        }
        true
    }
}

fn event(kind: EventKind, captures: &[Read]) -> SymbolicEvent {
    let capture = |read: &Read| Capture {
        name: "it".into(),
        read: read.clone(),
        hoisted: false,
        span: 3..5,
    };
    SymbolicEvent {
        name: "use".into(),
        kind,
        subject: "f".into(),
        reach: Reach::Anywhere,
        captures: captures.iter().map(capture).collect(),
        span: 1..9,
        subject_span: 0..0,
    }
}

fn one_event(kind: EventKind) -> SymbolicEvent {
    event(kind, &[Read::Argument(1)])
}

/// Returns the word and the begun slots of one plan, or the reason for which there is none.
fn one(kind: EventKind, plan: CapturePlan) -> Result<(Option<WordCapture>, u64), String> {
    let found = of_event(&one_event(kind), &[plan]).map_err(|why| why.to_string())?;
    let [capture] = <[_; 1]>::try_from(found.words.captures).unwrap();
    Ok((capture, found.begun))
}

fn plan(source: Source, follow: &[i64], decode: Decode) -> ReadPlan {
    ReadPlan {
        source,
        follow: follow.iter().map(|&offset| Step::Behind(offset)).collect(),
        decode,
    }
}

fn word(origin: Origin, reads: &[i32], bytes: u8, kind: WordKind) -> WordCapture {
    WordCapture {
        origin,
        reads: reads.to_vec(),
        bytes,
        kind,
    }
}

const RDI: Source = Source::Register {
    number: 5,
    shift: 0,
};

#[test]
fn plans_of_numbers_are_words() {
    use Decode::{Address, AddressOf, Bool, Signed, Unsigned};
    let frame = |offset| Source::Frame { offset };
    let rdx = Source::Register {
        number: 1,
        shift: 0,
    };
    let global = Source::Absolute { address: 0x6000 };
    let constant = Source::Constant { bits: 0x6000 };
    let of = |origin, reads: &[i32], bytes, kind| word(origin, reads, bytes, kind);
    use Origin::{Constant, Register, Stack};
    for (plan, expected) in [
        (
            plan(RDI, &[], Address),
            of(Register(7), &[], 8, WordKind::Address),
        ),
        (
            plan(rdx, &[], Signed(4)),
            of(Register(2), &[], 4, WordKind::Signed),
        ),
        (
            plan(RDI, &[8, 16], Bool(1)),
            of(Register(7), &[8, 16], 1, WordKind::Boolean),
        ),
        (
            plan(RDI, &[0], AddressOf),
            of(Register(7), &[], 8, WordKind::Address),
        ),
        (
            plan(RDI, &[8, 0], AddressOf),
            of(Register(7), &[8], 8, WordKind::Address),
        ),
        (
            plan(frame(16), &[], Unsigned(2)),
            of(Stack(24), &[0], 2, WordKind::Unsigned),
        ),
        (
            plan(frame(0), &[4], Signed(8)),
            of(Stack(8), &[0, 4], 8, WordKind::Signed),
        ),
        (
            plan(frame(0), &[], AddressOf),
            of(Stack(8), &[], 8, WordKind::Address),
        ),
        (
            plan(global, &[], Unsigned(4)),
            of(Constant(0x6000), &[0], 4, WordKind::Unsigned),
        ),
        (
            plan(global, &[], AddressOf),
            of(Constant(0x6000), &[], 8, WordKind::Address),
        ),
        (
            plan(constant, &[], Signed(4)),
            of(Constant(0x6000), &[], 4, WordKind::Signed),
        ),
        (
            plan(constant, &[-8], AddressOf),
            of(Constant(0x5ff8), &[], 8, WordKind::Address),
        ),
        (
            plan(constant, &[-8], Signed(1)),
            of(Constant(0x6000), &[-8], 1, WordKind::Signed),
        ),
    ] {
        let found = one(EventKind::BeforeCall, CapturePlan::Entry(plan.clone()));
        assert_eq!(found, Ok((Some(expected), 0)), "{plan:?}");
    }
}

#[test]
fn the_reason_is_said_for_what_is_no_word() {
    let text = Decode::StringPointer(juror_symbols::Character::Byte);
    let part = ReadPlan {
        follow: SmallVec::from_slice(&[
            Step::Part(
                0,
                VirtualPart {
                    class: ClassNumber(1),
                    entry: -24,
                },
            ),
            Step::Behind(0),
        ]),
        ..plan(RDI, &[], Decode::Signed(4))
    };
    let bits = Decode::UnsignedBits {
        bytes: 1,
        shift: 0,
        bits: 3,
    };
    let shifted = Source::Register {
        number: 5,
        shift: 32,
    };
    let counter = Source::Register {
        number: 16,
        shift: 0,
    };
    let vector = Source::Vector {
        number: 0,
        shift: 0,
    };
    for (plan, why) in [
        (plan(RDI, &[], text), "reads text"),
        (plan(vector, &[], Decode::Float64), "reads a fraction"),
        (
            plan(vector, &[], Decode::Signed(4)),
            "reads a vector register",
        ),
        (plan(RDI, &[0], bits), "reads a bit field"),
        (
            plan(shifted, &[], Decode::Signed(4)),
            "reads a part of a register",
        ),
        (
            plan(counter, &[], Decode::Address),
            "reads the program counter",
        ),
        (plan(RDI, &[8], Decode::AddressOf), "adds to an address"),
        (
            plan(RDI, &[], Decode::AddressOf),
            "takes the address of a register",
        ),
        (
            plan(RDI, &[], Decode::Signed(3)),
            "reads an integer of an unusual size",
        ),
        (
            plan(RDI, &[1 << 40], Decode::Signed(4)),
            "reads too far from a pointer",
        ),
        (part, "goes to a virtual base class"),
        (
            plan(Source::OptimizedOut, &[], Decode::Signed(4)),
            "reads what the compiler has left out",
        ),
    ] {
        let found = one(EventKind::BeforeCall, CapturePlan::Entry(plan.clone()));
        assert_eq!(found, Err(format!("the event `use` {why}")), "{plan:?}");
    }
    let elements = CapturePlan::Elements {
        plans: Box::default(),
        is_late: false,
    };
    let time = CapturePlan::Context(ContextValue::Time, None);
    let name = CapturePlan::Context(ContextValue::CallerName, None);
    for (plan, why) in [
        (elements, "reads a sequence"),
        (time, "reads the time"),
        (name, "reads the caller's name"),
    ] {
        let found = one(EventKind::BeforeCall, plan);
        assert_eq!(found, Err(format!("the event `use` {why}")));
    }
    let line = one(EventKind::Line, CapturePlan::Exact);
    assert_eq!(line, Err("the event `use` is not one of a call".to_owned()));
    let caller = Read::Convert(
        Box::new(Read::Field(
            Box::new(Read::Caller(Box::new(Read::Argument(1)))),
            "x".into(),
        )),
        Conversion::Address,
    );
    assert_eq!(of_expression(&caller), "reads the caller's variables");
    let sum = Read::Expression("a + b".into());
    assert_eq!(of_expression(&sum), "evaluates an expression");
}

#[test]
fn an_event_itself_has_words() {
    let of = |value, conversion| {
        let plan = CapturePlan::Context(value, conversion);
        one(EventKind::AfterCall, plan).unwrap()
    };
    let (thread, address) = (ContextValue::Thread, ContextValue::ReturnAddress);
    for (value, conversion, expected) in [
        (thread, None, word(Origin::Thread, &[], 8, WordKind::Signed)),
        (
            thread,
            Some(Conversion::Unsigned { bytes: 4 }),
            word(Origin::Thread, &[], 4, WordKind::Unsigned),
        ),
        (
            thread,
            Some(Conversion::Bool),
            word(Origin::Thread, &[], 8, WordKind::Boolean),
        ),
        (
            address,
            None,
            word(Origin::ReturnAddress, &[], 8, WordKind::Address),
        ),
    ] {
        assert_eq!(of(value, conversion), (Some(expected), 0));
    }
}

#[test]
fn arguments_are_taken_at_the_entry_and_results_at_the_return() {
    let argument = CapturePlan::Entry(plan(RDI, &[], Decode::Address));
    let on_stack = CapturePlan::Entry(plan(Source::Frame { offset: 0 }, &[], Decode::Signed(4)));
    let pointed = CapturePlan::Entry(plan(RDI, &[0], Decode::AddressOf));
    let constant = CapturePlan::Entry(plan(
        Source::Constant { bits: 0x6000 },
        &[0],
        Decode::Signed(4),
    ));
    let rax = Source::Register {
        number: 0,
        shift: 0,
    };
    let result = CapturePlan::Return(plan(rax, &[8], Decode::Signed(4)));
    let in_memory = CapturePlan::Return(plan(Source::Frame { offset: 8 }, &[], Decode::Signed(4)));
    let plans = [
        argument,
        on_stack,
        pointed,
        constant,
        result,
        in_memory,
        CapturePlan::Exact,
    ];
    let event = event(EventKind::AfterCall, &vec![Read::Return; plans.len()]);
    let found = of_event(&event, &plans).unwrap();
    assert_eq!(found.begun, 0b111);
    let kind = WordKind::Signed;
    let expected = [
        Some(word(Origin::Begun, &[], 8, WordKind::Address)),
        Some(word(Origin::Begun, &[], 4, kind)),
        Some(word(Origin::Begun, &[], 8, WordKind::Address)),
        Some(word(Origin::Constant(0x6000), &[0], 4, kind)),
        Some(word(Origin::Register(0), &[8], 4, kind)),
        Some(word(Origin::Stack(8), &[0], 4, kind)),
        None,
    ];
    assert_eq!(found.words.captures, expected);
    let kept = [
        Some(word(Origin::Register(7), &[], 8, WordKind::Address)),
        Some(word(Origin::Stack(8), &[0], 4, kind)),
        Some(word(Origin::Register(7), &[], 8, WordKind::Address)),
    ];
    assert_eq!(found.kept.captures[..3], kept);
    assert_eq!(found.kept.captures[3..], [None, None, None, None]);
    // Memory behind an argument is read at the return.
    let late = CapturePlan::Entry(plan(
        Source::Frame { offset: 0 },
        &[8, 16],
        Decode::Signed(4),
    ));
    let found = of_event(&one_event(EventKind::AfterCall), &[late]).unwrap();
    assert_eq!(found.begun, 1);
    let expected = [Some(word(Origin::Begun, &[8, 16], 4, kind))];
    assert_eq!(found.words.captures, expected);
    let kept = [Some(word(Origin::Stack(8), &[0], 8, WordKind::Address))];
    assert_eq!(found.kept.captures, kept);
    let many = vec![CapturePlan::Entry(plan(RDI, &[], Decode::Address)); 13];
    let event = super::tests::event(EventKind::Unwound, &vec![Read::Argument(1); 13]);
    assert!(of_event(&event, &many).is_err());
    assert!(of_event(&event, &many[..12]).is_err());
}

#[test]
fn definitions_are_compatible_if_their_kinds_agree() {
    let event = event(EventKind::BeforeCall, &[]);
    let words = |captures: &[Option<(u8, WordKind)>]| EventWords {
        captures: captures
            .iter()
            .map(|it| it.map(|(bytes, kind)| word(Origin::Thread, &[], bytes, kind)))
            .collect(),
    };
    let int = words(&[Some((4, WordKind::Signed))]);
    let long = words(&[Some((8, WordKind::Signed))]);
    let size = words(&[Some((8, WordKind::Unsigned))]);
    let none = words(&[None]);
    assert_eq!(compatible(&event, &[]), Ok(()));
    assert_eq!(
        compatible(&event, &[int.clone(), long.clone(), long.clone()]),
        Ok(())
    );
    for other in [size, none] {
        let why = compatible(&event, &[int.clone(), other]).unwrap_err();
        let expected = "the event `use` has values of different types in its functions";
        assert_eq!(why.to_string(), expected);
    }
}

fn sources() -> impl Strategy<Value = Source> {
    let address = START - 4..START + SIZE as u64 + 4;
    prop_oneof![
        4 => (0..16u8).prop_map(|number| Source::Register { number, shift: 0 }),
        2 => (-0x80..0x180i64).prop_map(|offset| Source::Frame { offset }),
        2 => address.clone().prop_map(|address| Source::Absolute { address }),
        1 => address.prop_map(|bits| Source::Constant { bits }),
        1 => any::<u64>().prop_map(|bits| Source::Constant { bits }),
    ]
}

fn decodes() -> impl Strategy<Value = Decode> {
    let bytes = prop_oneof![Just(1u8), Just(2), Just(4), Just(8)];
    prop_oneof![
        bytes.clone().prop_map(Decode::Signed),
        bytes.clone().prop_map(Decode::Unsigned),
        bytes.prop_map(Decode::Bool),
        Just(Decode::Address),
        Just(Decode::AddressOf),
    ]
}

fn follows() -> impl Strategy<Value = SmallVec<[Step; 2]>> {
    let offset = prop_oneof![2 => Just(0i64), 3 => -16..16i64];
    let steps = prop::collection::vec(offset.prop_map(Step::Behind), 0..4);
    steps.prop_map(SmallVec::from_vec)
}

/// Generates threads in which half of the words of memory and of the registers point to memory.
fn threads() -> impl Strategy<Value = Thread> {
    let pointer = START..START + SIZE as u64;
    let word = prop_oneof![3 => pointer, 1 => any::<u64>(), 1 => Just(0)];
    let memory = prop::collection::vec(word.clone(), SIZE / 8);
    (memory, prop::array::uniform16(word)).prop_map(|(words, mut registers)| {
        registers[7] = STACK;
        Thread {
            memory: words.into_iter().flat_map(u64::to_le_bytes).collect(),
            registers,
        }
    })
}

/// Returns whether a value equals the word of a capture.
fn is_same(capture: &WordCapture, (thread, begun): (&Thread, Option<u64>), value: &Value) -> bool {
    match (interpret(capture, thread, begun), value) {
        (None, Value::Unavailable(Unavailability::Unreadable { .. })) => true,
        (Some(word), value) => {
            let is_alike = std::mem::discriminant(&capture.kind.value_of(word))
                == std::mem::discriminant(value);
            is_alike
                && capture.kind.value_of(word) == *value
                && capture.kind.word_of(value) == Some(word)
        }
        _ => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn words_are_what_plans_read(
        source in sources(),
        follow in follows(),
        decode in decodes(),
        entry in threads(),
        end in threads(),
    ) {
        let plan = ReadPlan { source, follow, decode };
        // Before a call.
        if let Ok((capture, begun)) = one(EventKind::BeforeCall, CapturePlan::Entry(plan.clone())) {
            prop_assert_eq!(begun, 0);
            let value = plan.read(&entry, STACK + 8);
            prop_assert!(is_same(&capture.unwrap(), (&entry, None), &value), "{value}");
        } else {
            let is_address = decode == Decode::AddressOf;
            prop_assert!(is_address, "refused");
        }
        // A result.
        if let Ok((capture, begun)) = one(EventKind::AfterCall, CapturePlan::Return(plan.clone())) {
            prop_assert_eq!(begun, 0);
            let value = plan.read(&end, STACK);
            prop_assert!(is_same(&capture.unwrap(), (&end, None), &value), "{value}");
        }
        // An argument after the call.
        let late = CapturePlan::Entry(plan.clone());
        if let Ok(found) = of_event(&one_event(EventKind::AfterCall), &[late]) {
            let value = plan.complete(&end, plan.begin(&entry, STACK + 8));
            let kept = found.kept.captures[0].as_ref();
            let kept = kept.and_then(|kept| interpret(kept, &entry, None));
            let capture = found.words.captures[0].as_ref().unwrap();
            prop_assert!(is_same(capture, (&end, kept), &value), "{value}");
        }
    }
}
