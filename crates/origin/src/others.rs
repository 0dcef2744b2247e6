//! Instructions with registers that no operand names, and what the kernel and the processor tell.

use crate::effects::{Context, Effects, From};
use crate::location::Location;
use crate::operands::{Operand, operand, zeroed_behind};
use iced_x86::Mnemonic;

/// The sign of a register, in another one or in its end.
pub(crate) fn extended(context: &Context<'_>) -> Effects {
    let (to, sign) = match context.instruction.mnemonic() {
        Mnemonic::Cbw => (Location::general(0, 2).part(1..2), 0),
        Mnemonic::Cwde => (Location::general(0, 4).part(2..4), 1),
        Mnemonic::Cdqe => (Location::general(0, 8).part(4..8), 3),
        Mnemonic::Cwd => (Location::general(2, 2), 1),
        Mnemonic::Cdq => (Location::general(2, 4), 3),
        _ => (Location::general(2, 8), 7),
    };
    let mut effects = Effects::default();
    let is_half = matches!(
        context.instruction.mnemonic(),
        Mnemonic::Cwde | Mnemonic::Cdq
    );
    if is_half {
        effects.push(
            Location::general(if to.range.start == 0 { 2 } else { 0 }, 8).part(4..8),
            From::Zeros,
        );
    }
    effects.push(to, From::Sign(Location::general(0, 8).part(sign..sign + 1)));
    effects
}

/// A system call: what it wrote to memory is not in the window.
pub(crate) fn system_call() -> Effects {
    let mut effects = Effects {
        is_barrier: true,
        ..Effects::default()
    };
    effects.push(Location::general(0, 8), From::Kernel);
    effects.push(Location::general(1, 8), From::Constant);
    effects.push(Location::general(11, 8), From::Constant);
    effects
}

pub(crate) fn told_by_processor(context: &Context<'_>) -> Effects {
    let mut effects = Effects::default();
    let written: &[u8] = match context.instruction.mnemonic() {
        Mnemonic::Cpuid => &[0, 1, 2, 3],
        Mnemonic::Rdtsc | Mnemonic::Xgetbv => &[0, 2],
        Mnemonic::Rdtscp => &[0, 1, 2],
        _ => {
            let to = operand(&context.instruction, context.before, 0);
            if let Operand::At(to) = to {
                if let Some(rest) = zeroed_behind(&to, false) {
                    effects.push(rest, From::Zeros);
                }
                effects.push(to, From::Processor);
            }
            effects.push(Location::flags(), From::Processor);
            &[]
        }
    };
    for number in written {
        effects.push(Location::general(*number, 8), From::Processor);
    }
    effects
}

/// All vector registers, of which it is not known what they were set to.
pub(crate) fn restored() -> Effects {
    let mut effects = Effects::default();
    for number in 0..32 {
        effects.push(Location::vector(number, 64), From::Unknown);
    }
    effects
}

pub(crate) fn zeroed_upper() -> Effects {
    let mut effects = Effects::default();
    for number in 0..16 {
        effects.push(Location::vector(number, 64).part(16..64), From::Zeros);
    }
    effects
}
