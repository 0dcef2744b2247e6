//! Arbitrary instructions at arbitrary addresses: a relocated copy must be the same
//! instruction and have the original's target.
//!
//! The first 16 bytes are the two addresses; the instruction follows.

use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, OpKind};
use juror_stepping::{
    OUT_OF_LINE_LENGTH_MAX, OutOfLineCode, StepOver, map_counter, plan_step_over,
};

/// Runs the target with an input.
pub fn fuzz(bytes: &[u8]) {
    let Some((words, code)) = bytes.split_first_chunk::<16>() else {
        return;
    };
    let code = &code[..code.len().min(15)];
    // Addresses within a process, away from both ends.
    let user = |at: u64| 0x1_0000 + at % 0x7fff_fff0_0000;
    let [address, slot] = [0, 8].map(|at| {
        let mut word = [0; 8];
        word.copy_from_slice(&words[at..at + 8]);
        user(u64::from_le_bytes(word))
    });
    check(code, address, slot);
    check(code, address, user(address ^ (slot % 0x4000_0000)));
}

fn check(code: &[u8], address: u64, slot: u64) {
    let planned = plan_step_over(code, address, Some(slot));
    assert!(planned.length <= code.len());
    let original = decode(code, address);
    match planned.step_over {
        StepOver::OutOfLine { at } => {
            assert_eq!(at, slot);
            let copy = planned.code.expect("a copy has code");
            assert!(copy.bytes.len() <= OUT_OF_LINE_LENGTH_MAX);
            assert_eq!(map_counter(&copy, slot), Some((address, false)));
            if original.flow_control() == FlowControl::ConditionalBranch {
                check_branch(&copy, &original);
            } else {
                check_copy(&copy, &original);
            }
        }
        StepOver::Skip { to } => {
            let jump = original.flow_control() == FlowControl::UnconditionalBranch;
            let expected = if jump {
                original.near_branch_target()
            } else {
                original.next_ip()
            };
            assert_eq!(to, expected);
        }
        StepOver::Call { to, back } => {
            assert_eq!(
                (to, back),
                (original.near_branch_target(), original.next_ip())
            );
        }
        StepOver::InPlace | StepOver::InPlaceRepeated => assert!(planned.code.is_none()),
    }
}

fn decode(bytes: &[u8], at: u64) -> Instruction {
    Decoder::with_ip(64, bytes, at, DecoderOptions::NONE).decode()
}

fn decode_at(copy: &OutOfLineCode, at: u64) -> Instruction {
    decode(&copy.bytes[(at - copy.at) as usize..], at)
}

/// Returns the target of a copied unconditional jump.
fn follow_jump(copy: &OutOfLineCode, at: u64) -> u64 {
    let jump = decode_at(copy, at);
    if jump.is_jmp_short_or_near() {
        return jump.near_branch_target();
    }
    assert!(jump.is_jmp_near_indirect(), "{jump:?} is no jump");
    let pointer = (jump.ip_rel_memory_address() - copy.at) as usize;
    let mut word = [0; 8];
    word.copy_from_slice(&copy.bytes[pointer..pointer + 8]);
    u64::from_le_bytes(word)
}

/// Checks for the same condition and both its outcomes.
fn check_branch(copy: &OutOfLineCode, original: &Instruction) {
    let test = decode_at(copy, copy.at);
    assert_eq!(test.mnemonic(), original.mnemonic());
    assert_eq!(test.condition_code(), original.condition_code());
    for (at, target) in [
        (test.next_ip(), original.next_ip()),
        (test.near_branch_target(), original.near_branch_target()),
    ] {
        assert_eq!(map_counter(copy, at), Some((target, true)));
        assert_eq!(follow_jump(copy, at), target);
    }
}

/// Checks for the same instruction, and a way back if needed.
fn check_copy(copy: &OutOfLineCode, original: &Instruction) {
    let copied = decode_at(copy, copy.at);
    assert_eq!(copied.code(), original.code());
    assert_eq!(copied.len(), original.len());
    assert_eq!(prefixes(&copied), prefixes(original));
    for operand in 0..original.op_count() {
        let kind = original.op_kind(operand);
        assert_eq!(copied.op_kind(operand), kind);
        assert_ne!(
            kind,
            OpKind::NearBranch64,
            "relative branches are not copied"
        );
        assert_eq!(copied.op_register(operand), original.op_register(operand));
        assert_eq!(
            copied.try_immediate(operand).ok(),
            original.try_immediate(operand).ok()
        );
    }
    assert_eq!(memory(&copied), memory(original));
    if matches!(
        original.flow_control(),
        FlowControl::Return | FlowControl::IndirectBranch
    ) {
        assert_eq!(copy.bytes.len(), original.len());
        return;
    }
    let last = copy.map.last().expect("a copy has instructions");
    let at = copy.at + u64::from(last.offset);
    assert_eq!((last.original, last.executed), (original.next_ip(), true));
    assert_eq!(follow_jump(copy, at), original.next_ip());
    assert_eq!(
        map_counter(copy, copied.next_ip()),
        Some((original.next_ip(), true))
    );
}

fn prefixes(of: &Instruction) -> [bool; 4] {
    [
        of.has_lock_prefix(),
        of.has_rep_prefix(),
        of.has_repne_prefix(),
        of.is_broadcast(),
    ]
}

fn memory(of: &Instruction) -> impl PartialEq + std::fmt::Debug {
    (
        of.memory_segment(),
        of.memory_base(),
        of.memory_index(),
        of.memory_index_scale(),
        of.memory_displacement64(),
        of.op_mask(),
    )
}
