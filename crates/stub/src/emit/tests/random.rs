//! Random operations, which no lowering makes: each template against the
//! interpreter, and led out at every instruction.

use super::lab::*;
use super::*;
use juror_monitor::lowering::{
    Alu, Base, Checked, Condition, EndKind, HeaderWord, JournalWord, Journaled, Op, Operand,
    Register, Source,
};

/// Operations that a branch passes over or none of; the target of a branch is a
/// number of units to pass.
#[derive(Debug, Clone)]
enum Unit {
    Ops(Vec<Op>),
    Branch(Condition, Register, Operand, usize),
    Jump(usize),
}

fn any_register() -> impl Strategy<Value = Register> {
    (0..Register::COUNT).prop_map(Register)
}

fn any_word() -> impl Strategy<Value = u64> {
    prop_oneof![
        Just(0),
        Just(1),
        Just(u64::MAX),
        Just(i64::MIN as u64),
        any::<u64>(),
        any::<u32>().prop_map(u64::from),
        any::<i32>().prop_map(|word| i64::from(word) as u64),
    ]
}

fn any_operand() -> impl Strategy<Value = Operand> {
    prop_oneof![
        any_register().prop_map(Operand::Register),
        prop_oneof![-3i32..3, any::<i32>()].prop_map(Operand::Constant),
    ]
}

fn any_alu() -> impl Strategy<Value = Unit> {
    let operations = vec![
        Alu::Move,
        Alu::Add,
        Alu::Subtract,
        Alu::And,
        Alu::Or,
        Alu::Xor,
    ];
    let plain = (
        prop::sample::select(operations),
        any_register(),
        any_operand(),
    )
        .prop_map(|(operation, to, right)| Op::Alu {
            operation,
            to,
            right,
        });
    let shifts = prop::sample::select(vec![Alu::ShiftLeft, Alu::ShiftRight]);
    let shift = (shifts, any_register(), 0i32..64).prop_map(|(operation, to, count)| Op::Alu {
        operation,
        to,
        right: Operand::Constant(count),
    });
    prop_oneof![plain, shift].prop_map(|op| Unit::Ops(vec![op]))
}

fn any_checked() -> impl Strategy<Value = Unit> {
    let operations = vec![
        Checked::Add,
        Checked::Subtract,
        Checked::Multiply,
        Checked::Divide,
        Checked::Remainder,
    ];
    (
        prop::sample::select(operations),
        any_register(),
        any_operand(),
    )
        .prop_map(|(operation, to, right)| {
            Unit::Ops(vec![Op::Checked {
                operation,
                to,
                right,
            }])
        })
}

fn any_branch() -> impl Strategy<Value = Unit> {
    let conditions = vec![
        Condition::Equal,
        Condition::NotEqual,
        Condition::Less,
        Condition::LessEqual,
        Condition::Greater,
        Condition::GreaterEqual,
        Condition::Below,
        Condition::BelowEqual,
        Condition::Above,
        Condition::AboveEqual,
        Condition::AnySet,
        Condition::NoneSet,
    ];
    prop_oneof![
        4 => (prop::sample::select(conditions), any_register(), any_operand(), 0usize..4)
            .prop_map(|(condition, left, right, over)| Unit::Branch(condition, left, right, over)),
        1 => (0usize..3).prop_map(Unit::Jump),
    ]
}

/// A word of the journal that nothing else uses, with or without an index.
fn any_access(is_load: bool) -> impl Strategy<Value = Unit> {
    let journal = vec![JournalWord::Slot, JournalWord::Id, JournalWord::Born];
    (
        prop::sample::select(journal),
        any_register(),
        any_operand(),
        prop::option::of(0u64..3),
    )
        .prop_map(move |(word, to, from, index)| {
            let mut ops = Vec::new();
            let number = Register((to.0 + 1) % Register::COUNT);
            if let Some(at) = index {
                ops.push(Op::Set {
                    to: number,
                    word: at,
                });
            }
            let index = index.map(|_| number);
            let (base, offset) = (Base::Journal, word.offset());
            ops.push(if is_load {
                Op::Load {
                    to,
                    base,
                    offset,
                    index,
                }
            } else {
                Op::Store {
                    from,
                    base,
                    offset,
                    index,
                }
            });
            Unit::Ops(ops)
        })
}

fn any_set() -> impl Strategy<Value = Unit> {
    (any_register(), any_word()).prop_map(|(to, word)| Unit::Ops(vec![Op::Set { to, word }]))
}

fn any_hash() -> impl Strategy<Value = Unit> {
    let both = (any_register(), any_register());
    both.prop_map(|(to, word)| Unit::Ops(vec![Op::Hash { to, word }]))
}

fn any_capture() -> impl Strategy<Value = Unit> {
    let sources = vec![Source::Capture(0), Source::Capture(1), Source::Address];
    (any_register(), prop::sample::select(sources))
        .prop_map(|(to, source)| Unit::Ops(vec![Op::Capture { to, source }]))
}

/// What is allowed after `Commit` alone.
fn any_counting() -> impl Strategy<Value = Unit> {
    let add = prop_oneof![-3i64..3, any::<i64>()];
    let xadd = (any_register(), add).prop_map(|(to, add)| Op::Xadd {
        to,
        base: Base::Table,
        offset: HeaderWord::Drawn.offset(),
        add,
    });
    let store = any_operand().prop_map(|from| Op::Store {
        from,
        base: Base::Table,
        offset: HeaderWord::RecordsBefore.offset(),
        index: None,
    });
    prop_oneof![xadd, store].prop_map(|op| Unit::Ops(vec![op]))
}

fn many(unit: impl Strategy<Value = Unit>) -> impl Strategy<Value = Vec<Unit>> {
    prop::collection::vec(unit, 0..12)
}

/// Appends units with their branches resolved.
fn append(ops: &mut Vec<Op>, units: Vec<Unit>) {
    let mut starts = vec![ops.len()];
    for unit in &units {
        let size = match unit {
            Unit::Ops(ops) => ops.len(),
            _ => 1,
        };
        starts.push(starts[starts.len() - 1] + size);
    }
    for (number, unit) in units.into_iter().enumerate() {
        let target = |over: usize| starts[(number + 1 + over).min(starts.len() - 1)] as u32;
        match unit {
            Unit::Ops(some) => ops.extend(some),
            Unit::Branch(condition, left, right, over) => ops.push(Op::Branch {
                condition,
                left,
                right,
                target: target(over),
            }),
            Unit::Jump(over) => ops.push(Op::Jump {
                target: target(over),
            }),
        }
    }
}

fn any_program(layout: juror_monitor::lowering::Layout) -> impl Strategy<Value = StepProgram> {
    let common = || {
        prop_oneof![
            any_alu(),
            any_branch(),
            any_set(),
            any_access(true),
            any_access(false)
        ]
        .boxed()
    };
    let free = prop_oneof![
        common(),
        any_checked().boxed(),
        any_hash().boxed(),
        any_capture().boxed()
    ];
    let locked = prop_oneof![common(), any_checked().boxed(), any_hash().boxed()];
    let committed = prop_oneof![common(), any_counting().boxed()];
    let words = prop::collection::vec(any_word(), usize::from(Register::COUNT));
    // By distance from the last: the first operation of a range, and its length.
    let unlikely = prop::collection::vec((0..12u32, 1..8u32), 0..6);
    (words, many(free), many(locked), many(committed), unlikely).prop_map(
        move |(words, free, locked, committed, distances)| {
            let mut ops = Vec::new();
            for (to, word) in (0..Register::COUNT).map(Register).zip(words) {
                ops.push(Op::Set { to, word });
            }
            // A step reads no word of its journal that it has not written.
            for word in 0..5 {
                ops.push(Op::Store {
                    from: Operand::Constant(0),
                    base: Base::Journal,
                    offset: JournalWord::Slot.offset() + 8 * word,
                    index: None,
                });
            }
            append(&mut ops, free);
            let at = Register(2);
            let word = u64::from(layout.stripes);
            ops.push(Op::Set { to: at, word });
            ops.push(Op::Point {
                base: Base::Stripe,
                at,
            });
            let (base, offset) = (Base::Stripe, 0);
            ops.push(Op::Lock { base, offset });
            append(&mut ops, locked);
            ops.push(Op::Commit(Journaled::Nothing));
            append(&mut ops, committed);
            ops.push(Op::Done);
            ops.push(Op::Unlock { base, offset });
            ops.push(Op::End(EndKind::Ignored));
            let mut unlikely = Vec::new();
            let mut end = 0;
            for (distance, length) in distances {
                let start = end + distance;
                end = start + length;
                if end as usize <= ops.len() {
                    unlikely.push(start..end);
                }
            }
            StepProgram {
                ops,
                unlikely,
                why: None,
            }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn random_operations_agree_with_the_interpreter(
        program in any_program(lower_source(PLAIN, &words(), 4).program().layout.clone()),
        key: u64,
        number: i64,
    ) {
        prop_assert!(program.phases().is_some());
        let lowered = vec![lower_source(PLAIN, &words(), 4)];
        let lab = Lab::with_programs(lowered, vec![program], words());
        take(&lab, &lab.tables, key, number, true);
    }
}
