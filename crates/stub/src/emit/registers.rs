//! Which general registers stand for the virtual ones.
//!
//! `rax` and `rdx` are scratch registers, as multiplication, division and
//! `cmpxchg` want them, and `r15` is a third. `rbp` is left alone.

use super::assembler::{Physical, RAX, RDX};
use super::{Action, Section};
use juror_monitor::lowering::{Base, Checked, Op, Operand, Register};

/// By number of the virtual register: `rcx`, `rsi`, `rdi`, `r8`, `r9`, `r10`.
const VIRTUAL: [Physical; Register::COUNT as usize] = [1, 6, 7, 8, 9, 10];

/// The third scratch register, `r15`.
pub(super) const SCRATCH: Physical = 15;

/// Returns the general register of a virtual one, by its number in instructions.
pub fn virtual_register(register: Register) -> Option<Physical> {
    VIRTUAL.get(usize::from(register.0)).copied()
}

/// Returns the general register of a base, by its number in instructions.
pub fn base_register(base: Base) -> Physical {
    match base {
        Base::Table => 11,
        Base::Journal => 3,
        Base::Stripe => 12,
        Base::Slot => 13,
        Base::Record => 14,
    }
}

/// Returns the registers besides `rax` that the sections write, in ascending
/// order.
pub(super) fn used(sections: &[Section<'_>]) -> Vec<Physical> {
    let mut used = vec![base_register(Base::Table), base_register(Base::Journal)];
    for section in sections {
        if !matches!(section.action, Action::Step) {
            used.extend([RDX, SCRATCH]);
        }
        if !matches!(section.action, Action::Begin(_)) {
            used.extend(section.program.ops.iter().flat_map(written));
        }
    }
    used.sort_unstable();
    used.dedup();
    used.retain(|register| *register != RAX);
    used
}

/// Returns the registers that the code of an operation writes, perhaps more.
fn written(op: &Op) -> Vec<Physical> {
    let one = |register: &Register| virtual_register(*register).into_iter().collect::<Vec<_>>();
    match op {
        Op::Capture { to, .. }
        | Op::Set { to, .. }
        | Op::Load { to, .. }
        | Op::Xadd { to, .. }
        | Op::Alu { to, .. } => one(to),
        Op::Checked {
            operation,
            to,
            right,
        } => {
            let mut used = one(to);
            let divides = matches!(operation, Checked::Divide | Checked::Remainder);
            let needs_register = divides || *operation == Checked::Multiply;
            if divides {
                used.push(RDX);
            }
            if needs_register && matches!(right, Operand::Constant(_)) {
                used.push(SCRATCH);
            }
            used
        }
        Op::Hash { to, .. } => {
            let mut used = one(to);
            used.push(RDX);
            used
        }
        Op::Point { base, .. } => vec![base_register(*base)],
        Op::Lock { .. } => vec![RDX],
        Op::Store { .. }
        | Op::Branch { .. }
        | Op::Jump { .. }
        | Op::Again { .. }
        | Op::Unlock { .. }
        | Op::Commit(_)
        | Op::Done
        | Op::End(_)
        | Op::Gate(_) => Vec::new(),
    }
}
