//! The string instructions.

use crate::effects::{Context, Effects, From};
use crate::location::Location;
use crate::operands::{value_of, zeroed_behind};
use iced_x86::{Mnemonic, Register};
use juror_arch::Registers;

const DIRECTION: u64 = 1 << 10;

/// `movs`, `stos` and `lods`, once or repeated.
pub(crate) fn string(context: &Context<'_>) -> Option<Effects> {
    let Context {
        instruction,
        before,
        after,
    } = context;
    let size = match instruction.mnemonic() {
        Mnemonic::Movsb | Mnemonic::Stosb | Mnemonic::Lodsb => 1,
        Mnemonic::Movsw | Mnemonic::Stosw | Mnemonic::Lodsw => 2,
        Mnemonic::Movsd | Mnemonic::Stosd | Mnemonic::Lodsd => 4,
        Mnemonic::Movsq | Mnemonic::Stosq | Mnemonic::Lodsq => 8,
        _ => return None,
    };
    let repeats = instruction.has_rep_prefix() || instruction.has_repne_prefix();
    let register = |registers: &Registers, it| value_of(registers, it).unwrap_or_default();
    let count = if repeats {
        register(before, Register::RCX).wrapping_sub(register(after, Register::RCX))
    } else {
        1
    };
    let is_down = before.flags() & DIRECTION != 0;
    let range = |pointer| {
        let first = register(before, pointer);
        let rest = count.saturating_sub(1).wrapping_mul(size);
        let start = if is_down {
            first.wrapping_sub(rest)
        } else {
            first
        };
        Location::memory(start..start.wrapping_add(count.wrapping_mul(size)))
    };
    let mut effects = Effects::default();
    let advance = |effects: &mut Effects, number| {
        let register = Location::general(number, 8);
        let counter = repeats.then(|| Location::general(1, 8));
        let inputs = [register.clone()].into_iter().chain(counter).collect();
        effects.push(register, From::Computed(inputs));
    };
    match instruction.mnemonic() {
        Mnemonic::Movsb | Mnemonic::Movsw | Mnemonic::Movsd | Mnemonic::Movsq => {
            let (to, from) = (range(Register::RDI), range(Register::RSI));
            match to.common(&from) {
                // A copy onto itself repeats bytes.
                Some(_) if count > 1 => effects.push(to, From::Computed(vec![from])),
                _ => effects.push(to, From::Copy(from)),
            }
            advance(&mut effects, 6);
            advance(&mut effects, 7);
        }
        Mnemonic::Stosb | Mnemonic::Stosw | Mnemonic::Stosd | Mnemonic::Stosq => {
            let (to, value) = (range(Register::RDI), Location::general(0, size));
            let from = match count {
                1 => From::Copy(value),
                _ => From::Computed(vec![value]),
            };
            effects.push(to, from);
            advance(&mut effects, 7);
        }
        _ => {
            let to = Location::general(0, size);
            if let Some(rest) = zeroed_behind(&to, false) {
                effects.push(rest, From::Zeros);
            }
            effects.push(to, From::Copy(range(Register::RSI)));
            advance(&mut effects, 6);
        }
    }
    if repeats {
        let counter = Location::general(1, 8);
        effects.push(counter.clone(), From::Computed(vec![counter]));
    }
    Some(effects)
}
