//! Assigns to registers that are more or less than a number of eight bytes in general use: flags,
//! the bases of segments, and parts of other registers. The others are refused with the reason.

use super::registers::{innermost_only, write_register};
use crate::inspect::{expressions, frames};
use crate::session::Session;
use juror_arch::names::{self, SpecialRegister, register_part};
use juror_arch::{Register, dwarf, flags};
use juror_fault::CommandError;
use juror_program::assignment::bytes_for;
use juror_values::typed::{Number, Typed};

/// Assigns to a register by its name.
///
/// # Errors
/// It cannot be set, or there is none.
pub(super) fn assign(session: &mut Session, name: &str, value: &Typed) -> Result<(), CommandError> {
    if let Some(why) = refusal(name) {
        return Err(CommandError::new(format!("`${name}` cannot be set: {why}")));
    }
    if register_part(name).is_some() {
        return assign_part(session, name, value);
    }
    let special = SpecialRegister::named(name);
    let is_known = matches!(
        special,
        Some(SpecialRegister::VectorControl | SpecialRegister::Kernel(_))
    );
    if name != names::FLAGS && !is_known {
        return Err(CommandError::new(format!("there is no register `${name}`")));
    }
    innermost_only(session)?;
    let word = word_of(session, value)?;
    let thread = session.thread()?;
    let debuggee = &mut session.running_mut()?.debuggee;
    if special == Some(SpecialRegister::VectorControl) {
        let mut vectors = debuggee.vector_registers(thread)?;
        vectors.control = u32::try_from(word)
            .map_err(|_| CommandError::new(format!("{word:#x} does not fit into `${name}`")))?;
        return Ok(debuggee.set_vector_registers(thread, &vectors)?);
    }
    let mut registers = *debuggee.registers(thread)?;
    match special {
        Some(SpecialRegister::Kernel(register)) => registers.set(register, word),
        _ if (registers.flags() ^ word) & flags::KEPT != 0 => {
            return Err(CommandError::new(
                "only the flags CF, PF, AF, ZF, SF, DF, OF and AC can be set",
            ));
        }
        // Bits without a name stay what they are.
        _ => {
            let kept = registers.flags() & !flags::SETTABLE;
            registers.set_flags(kept | word & flags::SETTABLE);
        }
    }
    Ok(debuggee.set_registers(thread, &registers)?)
}

/// Returns why a register cannot be set, whatever the value is.
pub(crate) fn refusal(name: &str) -> Option<&'static str> {
    match SpecialRegister::named(name)? {
        SpecialRegister::Kernel(Register::FsBase | Register::GsBase) => None,
        SpecialRegister::Kernel(Register::OrigRax) => {
            Some("it says which system call the kernel restarts")
        }
        SpecialRegister::Kernel(_) => {
            Some("the kernel chooses the segments of a process; $fs_base and $gs_base can be set")
        }
        SpecialRegister::WideVector(_) => {
            Some("the upper half of a vector is only shown; the lower one is $xmm0 to $xmm15")
        }
        _ => None,
    }
}

fn word_of(session: &Session, value: &Typed) -> Result<u64, CommandError> {
    let number = value.number(session.running()?).map_err(|error| {
        let error: juror_values::error::ValueError = error;
        CommandError::new(error)
    })?;
    let word = match number {
        Number::Int(number) => u64::try_from(number).ok(),
        Number::Pointer(address, _) => Some(address),
        _ => None,
    };
    word.ok_or_else(|| CommandError::new("a register takes a whole number that is not negative"))
}

/// Assigns to `$eax`, `$ax`, `$al`, `$ah`: the rest of the register stays.
fn assign_part(session: &mut Session, name: &str, value: &Typed) -> Result<(), CommandError> {
    let unknown = || CommandError::new(format!("there is no register `${name}`"));
    let (number, from, size) = register_part(name).ok_or_else(unknown)?;
    let part = expressions::evaluate(session, &format!("${name}"))?;
    let program = session.running()?;
    let bytes = bytes_for(&part, value, program).or_else(|error| {
        let wide = Typed::of_integer(i128::from(u32::MAX)).filter(|_| size == 4);
        bytes_for(&wide.ok_or(error)?, value, program)
    });
    let bytes = bytes.map_err(CommandError::new)?;
    let present = frames::selected_frame(session)?.registers.get(number);
    let mut word = present.unwrap_or(0).to_le_bytes();
    for (to, given) in word.iter_mut().skip(from).take(size).zip(&bytes) {
        *to = *given;
    }
    if number == dwarf::STACK_POINTER {
        innermost_only(session)?;
    }
    write_register(session, number, &word)
}
