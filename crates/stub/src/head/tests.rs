//! Heads of known code, and twins of known and random code on the toy processor.

use super::*;
use crate::toy::{Flags, Machine};
use proptest::prelude::*;

const AT: u64 = 0x5555_0000_1000;
const TWINS: u64 = 0x5555_2222_0000;
const STACK: u64 = 0x7fff_0000_8000;

/// Looks for a head at the start of the code.
fn head_of(code: &[u8], place: Place) -> Result<Head, Obstacle> {
    let text = Text {
        address: AT,
        bytes: code,
    };
    let branches = BranchTargets::of(text);
    let site = Site {
        address: AT,
        end: AT + code.len() as u64,
        place,
        branches: &branches,
        shadow_stack: false,
    };
    Head::at(text, site)
}

fn entry(code: &[u8]) -> Result<Head, Obstacle> {
    head_of(code, Place::Entry)
}

fn not_relocatable(code: &[u8], why: Immovable) {
    match entry(code) {
        Err(Obstacle::NotRelocatable { why: found, .. }) => assert_eq!(found, why, "{code:x?}"),
        other => panic!("{code:x?}: {other:?}"),
    }
}

#[test]
fn a_prologue_is_a_head() {
    // push rbp; mov rbp, rsp; push r15; ret
    let head = entry(&[0x55, 0x48, 0x89, 0xe5, 0x41, 0x57, 0xc3]).unwrap();
    assert_eq!(head.boundaries().collect::<Vec<_>>(), [0, 1, 4]);
    assert_eq!((head.jump, head.end()), (AT, AT + 6));
    assert_eq!(head.original_bytes(), [0x55, 0x48, 0x89, 0xe5, 0x41, 0x57]);
    let relocated = head.relocate(TWINS).unwrap();
    assert_eq!(relocated.bytes.len(), head.relocated_size());
    assert_eq!(relocated.twin_of(AT + 1), Some(TWINS + 1));
    assert_eq!(relocated.twin_of(AT + 2), None);
}

#[test]
fn the_landing_instruction_stays() {
    let head = entry(&[
        0xf3, 0x0f, 0x1e, 0xfa, 0x48, 0x83, 0xec, 0x28, 0x31, 0xc0, 0xc3,
    ])
    .unwrap();
    assert_eq!((head.address, head.jump, head.end()), (AT, AT + 4, AT + 10));
    assert_eq!(head.boundaries().collect::<Vec<_>>(), [0, 4]);
}

#[test]
fn short_code_is_refused_unless_padding_follows() {
    // xor eax, eax; ret
    assert_eq!(entry(&[0x31, 0xc0, 0xc3]), Err(Obstacle::TooShort(3)));
    assert_eq!(
        entry(&[0x31, 0xc0, 0xc3, 0x55, 0x53]),
        Err(Obstacle::TooShort(3))
    );
    // Behind a return site it is code of the same function.
    let joined = head_of(&[0x31, 0xc0, 0xc3, 0x55, 0x53], Place::ReturnSite).unwrap();
    assert_eq!(joined.boundaries().collect::<Vec<_>>(), [0, 2, 3, 4]);
    let padded = entry(&[0x31, 0xc0, 0xc3, 0x90, 0xcc]).unwrap();
    assert_eq!(padded.end(), AT + 5);
    let nop = entry(&[0x31, 0xc0, 0xc3, 0x66, 0x90]).unwrap();
    assert_eq!(
        nop.relocate(TWINS).unwrap().bytes,
        [0x31, 0xc0, 0xc3, 0x66, 0x90]
    );
    assert_eq!(entry(&[]), Err(Obstacle::OutsideText(AT)));
}

#[test]
fn branches_into_the_head_are_obstacles() {
    // push rbp; push rbx; xor eax, eax; nop; jmp back by n
    let code = |back: u8| [0x55, 0x53, 0x31, 0xc0, 0x90, 0xeb, back];
    let inside = Obstacle::BranchTargetInside {
        target: AT + 3,
        from: AT + 5,
    };
    assert_eq!(entry(&code(0xfc)), Err(inside));
    // Where an instruction begins, the byte of the jump traps.
    assert!(entry(&code(0xfb)).is_ok());
    assert_eq!(entry(&code(0xf9)), Err(Obstacle::BranchBackToEntry(AT + 5)));
    assert!(entry(&code(0xfe)).is_ok());
    assert!(head_of(&code(0xf9), Place::ReturnSite).is_ok());
}

#[test]
fn immovable_instructions_are_named() {
    // mov eax, ecx; syscall; ret; and so on.
    not_relocatable(
        &[0x89, 0xc8, 0x0f, 0x05, 0xc3, 0x90],
        Immovable::EntersKernel,
    );
    not_relocatable(&[0xcc, 0x90, 0x90, 0x90, 0x90], Immovable::EntersKernel);
    not_relocatable(&[0xcd, 0x80, 0x90, 0x90, 0x90], Immovable::EntersKernel);
    not_relocatable(&[0xc7, 0xf8, 0, 0, 0, 0], Immovable::Transaction);
    not_relocatable(&[0xff, 0x54, 0x24, 0x08, 0x90], Immovable::CallThroughStack);
    not_relocatable(&[0xff, 0x1d, 0, 1, 0, 0], Immovable::Far);
    not_relocatable(
        &[0x48, 0x8b, 0x05, 0xf9, 0xff, 0xff, 0xff],
        Immovable::OwnBytes,
    );
    assert_eq!(
        entry(&[0xff, 0xd0, 0x90, 0x90, 0x90, 0x90]),
        Err(Obstacle::ReturnInside(AT))
    );
    assert_eq!(
        entry(&[0x06, 0, 0, 0, 0, 0]),
        Err(Obstacle::Undecodable(AT))
    );
}

#[test]
fn calls_under_a_shadow_stack_stay() {
    let code = [0xe8, 0, 1, 0, 0, 0x90];
    let text = Text {
        address: AT,
        bytes: &code,
    };
    let site = Site {
        address: AT,
        end: AT + 6,
        place: Place::Entry,
        branches: &BranchTargets::of(text),
        shadow_stack: true,
    };
    let refused = Obstacle::NotRelocatable {
        address: AT,
        why: Immovable::ShadowStack,
    };
    assert_eq!(Head::at(text, site), Err(refused));
}

#[test]
fn what_is_out_of_reach_is_refused() {
    // mov rax, [rip + 0x1000]; ret
    let head = entry(&[0x48, 0x8b, 0x05, 0, 0x10, 0, 0, 0xc3]).unwrap();
    let reach = head.reach(100);
    assert!(reach.contains(&TWINS) && !reach.contains(&(AT + (1 << 31))));
    for at in [reach.start, reach.end - 1] {
        assert!(head.relocate(at).is_ok(), "{at:#x}");
    }
    assert_eq!(head.relocate(AT + (1 << 33)), Err(Obstacle::OutOfReach(AT)));
}

/// A machine at the head: the original code, and data that operands reach.
fn machine(code: &[u8], relocated: &Relocated, seed: u64, flags: u8) -> Machine {
    let mut machine = Machine::default();
    machine.put(AT, code);
    machine.map(AT - 0x200, 0x1000);
    machine.put(TWINS, &relocated.bytes);
    machine.map(STACK - 0x1000, 0x2000);
    for (at, register) in machine.registers.iter_mut().enumerate() {
        // Small values, so that rcx reaches 0 and addresses stay mapped.
        *register = STACK + 8 * (seed >> (3 * at) & 7);
    }
    machine.registers[1] = seed & 3;
    // A call through memory below the stack would read its own return address.
    machine.registers[4] = STACK - 0x100;
    machine.registers[5] = STACK - 0xf8;
    machine.flags = Flags::combination(flags);
    for at in 0..64 {
        let word = AT + 0x100 + at;
        machine.store(STACK - 0x100 + 8 * at, 8, word).unwrap();
        machine
            .store(AT + 0x200 + 8 * at, 8, AT + 0x300 + at)
            .unwrap();
    }
    machine
}

/// Runs until the counter leaves the range, and returns whether it did without a
/// fault.
fn run_out(machine: &mut Machine, start: u64, end: u64) -> bool {
    for _ in 0..40 {
        if !(start..end).contains(&machine.counter) {
            return true;
        }
        if machine.step().is_err() {
            return false;
        }
    }
    panic!("the code does not end");
}

/// Compares the twins with the originals, from each instruction of the twins.
fn check_twins(code: &[u8], seed: u64, flags: u8) {
    let head = entry(code).unwrap_or_else(|obstacle| panic!("{code:x?}: {obstacle}"));
    let relocated = head.relocate(TWINS).unwrap();
    let end = TWINS + relocated.bytes.len() as u64;
    let start = machine(code, &relocated, seed, flags);
    let mut expected = start.clone();
    expected.counter = head.jump;
    let ran = run_out(&mut expected, head.jump, head.end());
    let mut twins = start;
    twins.counter = TWINS;
    loop {
        let piece = *relocated.piece_at(twins.counter).unwrap();
        let mut led_out = twins.clone();
        led_out.counter = piece.original;
        if piece.undo == Undo::ReturnAddress {
            led_out.registers[4] += 8;
        }
        let goes_on = run_out(&mut led_out, head.jump, head.end());
        assert_eq!(goes_on, ran, "{code:x?}");
        // A faulting instruction is that of the original.
        same_state(code, &led_out, &expected);
        if twins.step().is_err() {
            assert!(!ran, "{code:x?}");
            return;
        }
        if !(TWINS..end).contains(&twins.counter) {
            break;
        }
    }
    assert!(ran);
    same_state(code, &twins, &expected);
}

/// Compares all but what lies below the stack pointer.
fn same_state(code: &[u8], one: &Machine, other: &Machine) {
    assert_eq!(one.registers, other.registers, "{code:x?}");
    assert_eq!(one.counter, other.counter, "{code:x?}");
    assert_eq!(one.flags, other.flags, "{code:x?}");
    let top = one.registers[4].clamp(STACK - 0x1000, STACK + 0xfff);
    let size = STACK + 0x1000 - top;
    assert_eq!(one.bytes(top, size), other.bytes(top, size), "{code:x?}");
}

/// Instructions from which heads are made. Displacements lead to mapped data or to
/// code that is not run.
const MIDDLE: [&[u8]; 12] = [
    &[0x55],
    &[0x48, 0x89, 0xe5],
    &[0x41, 0x57],
    &[0x48, 0x83, 0xec, 0x28],
    &[0x31, 0xc0],
    &[0x48, 0x8b, 0x15, 0x40, 0x02, 0, 0],
    &[0x48, 0x01, 0x35, 0x40, 0x02, 0, 0],
    &[0x85, 0xff],
    &[0x74, 0x60],
    &[0x0f, 0x8c, 0x00, 0x02, 0, 0],
    &[0xe3, 0x60],
    &[0xe2, 0x60],
];
const LAST: [&[u8]; 9] = [
    &[0xe8, 0x00, 0x01, 0, 0],
    &[0xeb, 0x60],
    &[0xe9, 0x00, 0x01, 0, 0],
    &[0xc3],
    &[0xff, 0x25, 0x40, 0x02, 0, 0],
    &[0xff, 0x15, 0x40, 0x02, 0, 0],
    &[0xff, 0x56, 0x08],
    &[0xff, 0xe6],
    &[0xff, 0xd6],
];

proptest! {
    #[test]
    fn twins_do_the_same(
        middle in prop::collection::vec(0..MIDDLE.len(), 0..5),
        last in 0..LAST.len(),
        seed: u64,
        flags in 0u8..64,
    ) {
        let mut code: Vec<u8> = middle.iter().flat_map(|at| MIDDLE[*at].to_vec()).collect();
        code.extend_from_slice(LAST[last]);
        code.extend_from_slice(&[0x90; 8]);
        match entry(&code) {
            Ok(_) => check_twins(&code, seed, flags),
            Err(Obstacle::ReturnInside(_)) => {}
            Err(other) => panic!("{code:x?}: {other}"),
        }
    }

    #[test]
    fn random_bytes_are_decoded_or_refused(
        code in prop::collection::vec(any::<u8>(), 0..40),
        is_entry: bool,
    ) {
        let place = if is_entry { Place::Entry } else { Place::ReturnSite };
        let Ok(head) = head_of(&code, place) else { return Ok(()) };
        prop_assert!(head.end() - head.jump >= JUMP_LENGTH);
        prop_assert_eq!(head.boundaries().next(), Some(0));
        prop_assert!(head.boundaries().all(|at| at < JUMP_LENGTH));
        let from = (head.jump - AT) as usize;
        let to = (head.end() - AT) as usize;
        prop_assert_eq!(head.original_bytes(), &code[from..to]);
        let near = head.reach(100);
        if !near.is_empty() {
            for at in [near.start, near.end - 1] {
                let relocated = head.relocate(at).unwrap();
                prop_assert_eq!(relocated.bytes.len(), head.relocated_size());
            }
        }
    }
}
