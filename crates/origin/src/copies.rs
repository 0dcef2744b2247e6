//! The instructions that copy bytes, or whose results depend on nothing.

use crate::effects::{Context, Effects, From};
use crate::location::{Location, Storage};
use crate::operands::{Operand, operand, zeroed_behind};
use crate::{others, stack, strings};
use iced_x86::{ConditionCode, Instruction, Mnemonic, OpKind};

/// The bits of the flags.
const CARRY: u64 = 1;
const PARITY: u64 = 1 << 2;
const ZERO: u64 = 1 << 6;
const SIGN: u64 = 1 << 7;
const OVERFLOW: u64 = 1 << 11;

/// Returns the effects of an instruction that is modelled here.
pub(crate) fn special(context: &Context<'_>) -> Option<Effects> {
    let instruction = &context.instruction;
    if instruction.is_string_instruction() {
        return strings::string(context);
    }
    match instruction.mnemonic() {
        Mnemonic::Lea => Some(address(context)),
        Mnemonic::Xchg => exchange(context),
        Mnemonic::Cmpxchg => compare_and_exchange(context),
        Mnemonic::Xadd => exchange_and_add(context),
        Mnemonic::Push => stack::push(context),
        Mnemonic::Pop => stack::pop(context),
        Mnemonic::Leave => Some(stack::leave(context)),
        Mnemonic::Call => Some(stack::call(context)),
        Mnemonic::Ret => Some(stack::stack_pointer()),
        Mnemonic::Cbw
        | Mnemonic::Cwde
        | Mnemonic::Cdqe
        | Mnemonic::Cwd
        | Mnemonic::Cdq
        | Mnemonic::Cqo => Some(others::extended(context)),
        Mnemonic::Syscall => Some(others::system_call()),
        Mnemonic::Cpuid
        | Mnemonic::Rdtsc
        | Mnemonic::Rdtscp
        | Mnemonic::Rdrand
        | Mnemonic::Rdseed
        | Mnemonic::Xgetbv => Some(others::told_by_processor(context)),
        Mnemonic::Xrstor
        | Mnemonic::Xrstor64
        | Mnemonic::Fxrstor
        | Mnemonic::Fxrstor64
        | Mnemonic::Xrstors
        | Mnemonic::Vzeroall => Some(others::restored()),
        Mnemonic::Vzeroupper => Some(others::zeroed_upper()),
        _ if instruction.is_jcc_short_or_near() || instruction.is_jmp_short_or_near() => {
            Some(Effects::default())
        }
        _ if is_conditional_move(instruction) => conditional_move(context),
        _ => copy(context),
    }
}

/// Returns whether the results of an instruction depend on nothing, whatever it reads.
pub(crate) fn is_constant(instruction: &Instruction) -> bool {
    let register = |index| {
        let is_register = instruction.op_kind(index) == OpKind::Register;
        is_register.then(|| instruction.op_register(index))
    };
    let last = instruction.op_count().saturating_sub(1);
    let are_same = last >= 1 && register(last).is_some() && register(last) == register(last - 1);
    let immediate = |value: i64| {
        last == 1
            && instruction.op_kind(1) != OpKind::Register
            && instruction.op_kind(1) != OpKind::Memory
            && instruction.immediate(1).cast_signed() == value
    };
    match instruction.mnemonic() {
        Mnemonic::Xor | Mnemonic::Sub => are_same,
        Mnemonic::Pxor
        | Mnemonic::Xorps
        | Mnemonic::Xorpd
        | Mnemonic::Vpxor
        | Mnemonic::Vxorps
        | Mnemonic::Vxorpd
        | Mnemonic::Vpxord
        | Mnemonic::Vpxorq
        | Mnemonic::Psubb
        | Mnemonic::Psubd
        | Mnemonic::Psubq
        | Mnemonic::Pcmpeqb
        | Mnemonic::Pcmpeqd
        | Mnemonic::Vpcmpeqb
        | Mnemonic::Vpcmpeqd => are_same,
        Mnemonic::And => immediate(0),
        Mnemonic::Or => immediate(-1),
        _ => false,
    }
}

/// Writes a copy of an operand, of as many bytes as both have.
pub(crate) fn write(context: &Context<'_>, effects: &mut Effects, to: &Location, from: &Operand) {
    match from {
        Operand::At(from) => {
            let size = to.size().min(from.size());
            effects.push(to.part(0..size), From::Copy(from.part(0..size)));
            effects.push(to.part(size..to.size()), From::Zeros);
        }
        Operand::Immediate => effects.push(to.clone(), From::Constant),
        Operand::Unknown => effects.push(to.clone(), From::Unknown),
    }
    if let Some(rest) = zeroed_behind(to, context.is_vex()) {
        effects.push(rest, From::Zeros);
    }
}

/// `mov` in all its forms.
fn copy(context: &Context<'_>) -> Option<Effects> {
    let Context {
        instruction,
        before,
        ..
    } = context;
    let mnemonic = instruction.mnemonic();
    let (to, from) = (
        operand(instruction, before, 0),
        operand(instruction, before, 1),
    );
    if let Some(effects) = halves(context, &to, &from) {
        return Some(effects);
    }
    if !is_move(mnemonic) || instruction.op_count() != 2 {
        return None;
    }
    let Operand::At(mut to) = to else {
        return Some(Effects {
            is_barrier: true,
            ..Effects::default()
        });
    };
    let mut effects = Effects::default();
    let is_other = |at: &Location| at.storage == Storage::Other;
    if is_other(&to) {
        return Some(effects);
    }
    let from = match from {
        Operand::At(from) if is_other(&from) => Operand::Unknown,
        from => from,
    };
    let is_vector = |at: &Location| matches!(at.storage, Storage::Vector(_));
    match (mnemonic, &from) {
        (Mnemonic::Movsx | Mnemonic::Movsxd, Operand::At(from)) => {
            let size = from.size().min(to.size());
            effects.push(to.part(0..size), From::Copy(from.part(0..size)));
            let sign = from.part(size - 1..size);
            effects.push(to.part(size..to.size()), From::Sign(sign));
            if let Some(rest) = zeroed_behind(&to, false) {
                effects.push(rest, From::Zeros);
            }
            return Some(effects);
        }
        // One number in a vector: loaded, the rest is zero; between registers, the rest stays.
        (Mnemonic::Movss | Mnemonic::Movsd, Operand::At(from)) => {
            let size = if mnemonic == Mnemonic::Movss { 4 } else { 8 };
            if is_vector(&to) && is_vector(from) {
                to.range.end = size;
            }
            let from = Operand::At(from.part(0..size.min(from.size())));
            write(context, &mut effects, &to, &from);
        }
        (
            Mnemonic::Movd | Mnemonic::Movq | Mnemonic::Vmovd | Mnemonic::Vmovq,
            Operand::At(from),
        ) => {
            let is_double = matches!(mnemonic, Mnemonic::Movq | Mnemonic::Vmovq);
            let size = from.size().min(if is_double { 8 } else { 4 });
            // `movd` with a prefix moves eight bytes.
            let size = match (&to.storage, &from.storage) {
                (Storage::General(_) | Storage::Memory, _) => to.size(),
                (_, Storage::General(_)) => from.size(),
                _ => size,
            };
            let from = Operand::At(from.part(0..size));
            write(context, &mut effects, &to, &from);
        }
        _ => write(context, &mut effects, &to, &from),
    }
    Some(effects)
}

/// Moves of halves of vectors.
fn halves(context: &Context<'_>, to: &Operand, from: &Operand) -> Option<Effects> {
    let (Operand::At(to), Operand::At(from)) = (to, from) else {
        return None;
    };
    let (low, high) = (0..8, 8..16);
    let is_load = matches!(to.storage, Storage::Vector(_));
    let (to_part, from_part) = match (context.instruction.mnemonic(), is_load) {
        (Mnemonic::Movlps | Mnemonic::Movlpd | Mnemonic::Movhps | Mnemonic::Movhpd, _)
            if to.storage != Storage::Memory && from.storage != Storage::Memory =>
        {
            return None;
        }
        (Mnemonic::Movlps | Mnemonic::Movlpd, _) => (low.clone(), low),
        (Mnemonic::Movhps | Mnemonic::Movhpd, true) => (high, low),
        (Mnemonic::Movhps | Mnemonic::Movhpd, false) => (low, high),
        (Mnemonic::Movhlps, _) => (low, high),
        (Mnemonic::Movlhps | Mnemonic::Punpcklqdq | Mnemonic::Unpcklpd, _) => (high, low),
        _ => return None,
    };
    let mut effects = Effects::default();
    effects.push(to.part(to_part), From::Copy(from.part(from_part)));
    Some(effects)
}

fn is_move(mnemonic: Mnemonic) -> bool {
    use Mnemonic::{
        Lddqu, Mov, Movapd, Movaps, Movd, Movdqa, Movdqu, Movntdq, Movnti, Movntps, Movq, Movsd,
        Movss, Movsx, Movsxd, Movupd, Movups, Movzx, Vlddqu, Vmovapd, Vmovaps, Vmovd, Vmovdqa,
        Vmovdqu, Vmovdqu8, Vmovdqu16, Vmovdqu32, Vmovdqu64, Vmovntdq, Vmovq, Vmovsd, Vmovss,
        Vmovupd, Vmovups,
    };
    matches!(
        mnemonic,
        Mov | Movzx
            | Movsx
            | Movsxd
            | Movaps
            | Movups
            | Movapd
            | Movupd
            | Movdqa
            | Movdqu
            | Movntdq
            | Movntps
            | Movnti
            | Lddqu
            | Movd
            | Movq
            | Movss
            | Movsd
            | Vmovaps
            | Vmovups
            | Vmovapd
            | Vmovupd
            | Vmovdqa
            | Vmovdqu
            | Vmovntdq
            | Vlddqu
            | Vmovd
            | Vmovq
            | Vmovss
            | Vmovsd
    ) || matches!(mnemonic, Vmovdqu8 | Vmovdqu16 | Vmovdqu32 | Vmovdqu64)
}

fn is_conditional_move(instruction: &Instruction) -> bool {
    instruction.condition_code() != ConditionCode::None
        && instruction.op_count() == 2
        && instruction.op_kind(0) == OpKind::Register
}

/// A move that was made, or not, as the flags said.
fn conditional_move(context: &Context<'_>) -> Option<Effects> {
    let Operand::At(to) = operand(&context.instruction, context.before, 0) else {
        return None;
    };
    let mut effects = Effects::default();
    if holds(context.instruction.condition_code(), context.before.flags()) {
        let from = operand(&context.instruction, context.before, 1);
        write(context, &mut effects, &to, &from);
    } else {
        let rest = zeroed_behind(&to, false);
        rest.into_iter()
            .for_each(|rest| effects.push(rest, From::Zeros));
    }
    Some(effects)
}

/// Returns whether a condition holds.
fn holds(condition: ConditionCode, flags: u64) -> bool {
    let has = |flag: u64| flags & flag != 0;
    let is_less = has(SIGN) != has(OVERFLOW);
    match condition {
        ConditionCode::None => false,
        ConditionCode::o => has(OVERFLOW),
        ConditionCode::no => !has(OVERFLOW),
        ConditionCode::b => has(CARRY),
        ConditionCode::ae => !has(CARRY),
        ConditionCode::e => has(ZERO),
        ConditionCode::ne => !has(ZERO),
        ConditionCode::be => has(CARRY) || has(ZERO),
        ConditionCode::a => !has(CARRY) && !has(ZERO),
        ConditionCode::s => has(SIGN),
        ConditionCode::ns => !has(SIGN),
        ConditionCode::p => has(PARITY),
        ConditionCode::np => !has(PARITY),
        ConditionCode::l => is_less,
        ConditionCode::ge => !is_less,
        ConditionCode::le => is_less || has(ZERO),
        ConditionCode::g => !is_less && !has(ZERO),
    }
}

/// An address that is computed from registers.
fn address(context: &Context<'_>) -> Effects {
    let instruction = &context.instruction;
    let registers = [instruction.memory_base(), instruction.memory_index()];
    let inputs: Vec<Location> = registers
        .into_iter()
        .filter(|it| it.is_gpr())
        .map(Location::of)
        .collect();
    let from = if inputs.is_empty() {
        From::Constant
    } else {
        From::Computed(inputs)
    };
    let mut effects = Effects::default();
    if let Operand::At(to) = operand(instruction, context.before, 0) {
        if let Some(rest) = zeroed_behind(&to, false) {
            effects.push(rest, From::Zeros);
        }
        effects.push(to, from);
    }
    effects
}

fn two(context: &Context<'_>) -> Option<(Location, Location)> {
    let first = operand(&context.instruction, context.before, 0);
    let second = operand(&context.instruction, context.before, 1);
    match (first, second) {
        (Operand::At(first), Operand::At(second)) => Some((first, second)),
        _ => None,
    }
}

fn exchange(context: &Context<'_>) -> Option<Effects> {
    let (first, second) = two(context)?;
    let mut effects = Effects::default();
    write(context, &mut effects, &first, &Operand::At(second.clone()));
    if first != second {
        write(context, &mut effects, &second, &Operand::At(first));
    }
    Some(effects)
}

fn compare_and_exchange(context: &Context<'_>) -> Option<Effects> {
    let (to, from) = two(context)?;
    let accumulator = Location::general(0, to.size());
    let mut effects = Effects::default();
    let compared = vec![to.clone(), accumulator.clone()];
    effects.push(Location::flags(), From::Computed(compared));
    if context.after.flags() & ZERO != 0 {
        write(context, &mut effects, &to, &Operand::At(from))
    } else {
        write(context, &mut effects, &accumulator, &Operand::At(to))
    }
    Some(effects)
}

fn exchange_and_add(context: &Context<'_>) -> Option<Effects> {
    let (to, from) = two(context)?;
    let mut effects = Effects::default();
    let sum = vec![to.clone(), from.clone()];
    effects.push(Location::flags(), From::Computed(sum.clone()));
    if to != from {
        write(context, &mut effects, &from, &Operand::At(to.clone()));
    }
    if let Some(rest) = zeroed_behind(&to, false) {
        effects.push(rest, From::Zeros);
    }
    effects.push(to, From::Computed(sum));
    Some(effects)
}
