//! The instructions of the stack.

use crate::copies::write;
use crate::effects::{Context, Effects, From};
use crate::location::{Location, Storage};
use crate::operands::{Operand, operand, value_of};
use iced_x86::Register;

/// The number of `rsp`.
const RSP: u8 = 4;

pub(crate) fn stack_pointer() -> Effects {
    let mut effects = Effects::default();
    effects.push(Location::general(RSP, 8), From::StackPointer);
    effects
}

pub(crate) fn push(context: &Context<'_>) -> Option<Effects> {
    let size = (-i64::from(context.instruction.stack_pointer_increment())).cast_unsigned();
    let top = context.before.stack_pointer().wrapping_sub(size);
    let from = operand(&context.instruction, context.before, 0);
    if matches!(&from, Operand::At(at) if at.storage == Storage::Other) {
        return None;
    }
    let mut effects = stack_pointer();
    let to = Location::memory(top..top.wrapping_add(size));
    write(context, &mut effects, &to, &from);
    Some(effects)
}

pub(crate) fn pop(context: &Context<'_>) -> Option<Effects> {
    let size = i64::from(context.instruction.stack_pointer_increment()).cast_unsigned();
    let top = context.before.stack_pointer();
    let mut effects = Effects::default();
    let from = Location::memory(top..top.wrapping_add(size));
    let Operand::At(to) = operand(&context.instruction, context.before, 0) else {
        return None;
    };
    if to != Location::general(RSP, 8) {
        effects = stack_pointer();
    }
    write(context, &mut effects, &to, &Operand::At(from));
    Some(effects)
}

pub(crate) fn leave(context: &Context<'_>) -> Effects {
    let mut effects = stack_pointer();
    let base = value_of(context.before, Register::RBP).unwrap_or_default();
    let saved = Location::memory(base..base.wrapping_add(8));
    effects.push(Location::general(5, 8), From::Copy(saved));
    effects
}

/// A call writes the return address.
pub(crate) fn call(context: &Context<'_>) -> Effects {
    let mut effects = stack_pointer();
    let top = context.before.stack_pointer();
    effects.push(Location::memory(top.wrapping_sub(8)..top), From::Constant);
    effects
}
