//! The slices of random programs against an interpreter that carries labels.

mod interpreter;

use crate::{Executed, Location, Origin, Storage, Window};
use interpreter::{Labels, Operation, Program, initial};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// The most inputs that are followed.
const FOLLOWED_MAX: usize = 4000;

/// Returns the labels of all that a location depends on.
fn labels_of(window: &Window, location: &Location, before: usize) -> Option<Labels> {
    let mut labels = BTreeSet::new();
    let mut seen = BTreeSet::new();
    let mut pending = vec![(location.clone(), before)];
    while let Some((location, before)) = pending.pop() {
        if !seen.insert((format!("{location:?}"), before)) {
            continue;
        }
        if seen.len() > FOLLOWED_MAX {
            return None;
        }
        for leaf in window.trace(&location, before) {
            match leaf.origin {
                Origin::Memory { range, .. } => labels.extend(initial(&Location::memory(range))),
                Origin::Register(location) => labels.extend(initial(&location)),
                Origin::Computed { at, inputs } => {
                    pending.extend(inputs.into_iter().map(|input| (input, at)));
                }
                Origin::Constant { .. } => {}
                other => panic!("{other:?}"),
            }
        }
    }
    Some(labels)
}

fn check(operations: &[Operation], target: &Location) {
    let program = Program::run(operations);
    let window = Window::new(program.steps.clone(), program.end);
    let end = program.steps.len();
    for location in [
        target.clone(),
        target.part(0..1),
        target.part(target.size() - 1..target.size()),
    ] {
        if let Some(labels) = labels_of(&window, &location, end) {
            assert_eq!(
                labels,
                program.labels(&location),
                "{location:?} {operations:#?}"
            );
        }
    }
}

fn targets() -> impl Strategy<Value = Location> {
    prop_oneof![
        (
            prop::sample::select(vec![0_u8, 1, 2, 3, 6, 7]),
            prop_oneof![Just(1_u64), Just(2), Just(4), Just(8)]
        )
            .prop_map(|(number, size)| Location::general(number, size)),
        (0..4_u8).prop_map(|number| Location::vector(number, 16)),
        (0..24_u64, 1..16_u64).prop_map(|(offset, size)| interpreter::memory(offset, size)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn a_slice_has_the_labels_that_an_interpreter_carries(
        operations in proptest::collection::vec(interpreter::operations(), 1..40),
        target in targets(),
    ) {
        check(&operations, &target);
    }
}

/// Returns the window of some machine code, whose registers are all zero but for these.
fn window(code: &[&[u8]], registers: juror_arch::Registers) -> Window {
    let mut steps = Vec::new();
    let mut registers = registers;
    for code in code {
        let mut bytes = [0; crate::INSTRUCTION_SIZE_MAX];
        bytes[..code.len()].copy_from_slice(code);
        steps.push(Executed {
            bytes,
            registers,
            stretch: 0,
        });
        let behind = registers.instruction_pointer() + code.len() as u64;
        registers.set_instruction_pointer(behind);
    }
    Window::new(steps, registers)
}

fn origins(code: &[&[u8]], location: &Location) -> Vec<Origin> {
    let window = window(code, juror_arch::Registers::default());
    let leaves = window.trace(location, code.len());
    leaves.into_iter().map(|leaf| leaf.origin).collect()
}

const XOR_EAX_EAX: &[u8] = &[0x31, 0xc0];
const SYSCALL: &[u8] = &[0x0f, 0x05];
const RDTSC: &[u8] = &[0x0f, 0x31];
/// `mov eax, [rbx]`.
const LOAD: &[u8] = &[0x8b, 0x03];
/// `fld qword ptr [rbx]`, `fstp qword ptr [rbx]`.
const FLOAT_LOAD: &[u8] = &[0xdd, 0x03];
const FLOAT_STORE: &[u8] = &[0xdd, 0x1b];

#[test]
fn a_register_that_is_cleared_is_constant() {
    let rax = Location::general(0, 8);
    assert_eq!(origins(&[XOR_EAX_EAX], &rax), [Origin::Constant { at: 0 }]);
}

#[test]
fn what_the_kernel_and_the_processor_tell_ends_a_slice() {
    let rax = Location::general(0, 8);
    assert_eq!(origins(&[SYSCALL], &rax), [Origin::Kernel { at: 0 }]);
    let eax = Location::general(0, 4);
    assert_eq!(
        origins(&[SYSCALL, RDTSC], &eax),
        [Origin::Processor { at: 1 }]
    );
}

#[test]
fn memory_is_not_followed_through_a_system_call() {
    let eax = Location::general(0, 4);
    let memory = |at| Origin::Memory { range: 0..4, at };
    // `mov [rbx], ecx`
    let store: &[u8] = &[0x89, 0x0b];
    assert_eq!(origins(&[store, SYSCALL, LOAD], &eax), [memory(2)]);
    let ecx = Origin::Register(Location::general(1, 4));
    assert_eq!(
        origins(&[SYSCALL, store, LOAD, XOR_EAX_EAX, LOAD], &eax),
        [Origin::Constant { at: 0 }]
    );
    assert_eq!(origins(&[store, LOAD], &eax), [ecx]);
}

#[test]
fn an_address_is_no_source_of_what_is_there() {
    let eax = Location::general(0, 4);
    // `mov ebx, 0` is not asked for.
    let set: &[u8] = &[0xbb, 0, 0, 0, 0];
    assert_eq!(
        origins(&[set, LOAD], &eax),
        [Origin::Memory { range: 0..4, at: 1 }]
    );
}

#[test]
fn what_is_not_modelled_is_unknown() {
    let stored = Location::memory(0..8);
    assert_eq!(
        origins(&[FLOAT_LOAD, FLOAT_STORE], &stored),
        [Origin::Unknown { at: 1 }]
    );
    // An instruction that does not exist.
    let rax = Location::general(0, 8);
    assert_eq!(origins(&[&[0x06]], &rax), [Origin::Unknown { at: 0 }]);
}

#[test]
fn a_conditional_move_copies_if_its_condition_holds() {
    // `cmove eax, ecx`
    let code: &[u8] = &[0x0f, 0x44, 0xc1];
    let mut registers = juror_arch::Registers::default();
    let eax = Location::general(0, 4);
    for (flags, number) in [(0x40, 1), (0, 0)] {
        registers.set_flags(flags);
        let leaves = window(&[code], registers).trace(&eax, 1);
        let expected = Origin::Register(Location::general(number, 4));
        assert_eq!(leaves[0].origin, expected);
    }
}

#[test]
fn a_value_is_not_followed_past_missing_instructions() {
    // `nop`, then a short jump to itself, then a call with a comparison and with a move behind it.
    let compared: &[u8] = &[0x0f, 0x05, 0x48, 0x3d, 0, 0xf0, 0xff, 0xff];
    let moved: &[u8] = &[0x0f, 0x05, 0x89, 0xcb];
    let code: [(&[u8], u64, bool); 7] = [
        (&[0x90], 0x1001, true),
        (&[0x90], 0x1002, false),
        (&[0xeb, 0xfe], 0x1000, true),
        (&[0xeb, 0xfe], 0x1002, false),
        (SYSCALL, 0x1002, true),
        (compared, 0x1008, true),
        (moved, 0x1004, false),
    ];
    for (code, end, is_known) in code {
        let mut registers = juror_arch::Registers::default();
        registers.set_instruction_pointer(0x1000);
        let steps = window(&[code], registers).steps().to_vec();
        registers.set_instruction_pointer(end);
        let rbx = Location::general(3, 8);
        let leaves = Window::new(steps, registers).trace(&rbx, 1);
        let expected = if is_known {
            Origin::Register(rbx)
        } else {
            Origin::Unknown { at: 0 }
        };
        assert_eq!(leaves[0].origin, expected, "{code:x?}");
    }
}

#[test]
fn a_store_of_another_stretch_is_not_taken() {
    let store: &[u8] = &[0x89, 0x0b];
    let window = window(&[store, LOAD], juror_arch::Registers::default());
    let end = *window.after(1);
    let mut steps = window.steps().to_vec();
    steps[1].stretch = 1;
    let window = Window::new(steps, end);
    let leaves = window.trace(&Location::general(0, 4), 2);
    assert_eq!(leaves[0].origin, Origin::Memory { range: 0..4, at: 1 });
    assert!(window.writes(0, &(2..3)) && !window.writes(0, &(4..5)) && !window.writes(1, &(0..4)));
    assert_eq!(Storage::Memory, Location::memory(0..1).storage);
}
