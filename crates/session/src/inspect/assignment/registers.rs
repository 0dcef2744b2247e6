//! Writes registers: of the selected frame, of the innermost one, and parts of vectors.

use super::special_registers;
use crate::commands::info_frame;
use crate::inspect::{expressions, frames};
use crate::session::Session;
use juror_arch::dwarf;
use juror_arch::names::{SpecialRegister, whole_register};
use juror_fault::CommandError;
use juror_language::{Expression, ExpressionKind};
use juror_program::assignment::bytes_for;
use juror_symbols::ValueLocation;
use juror_values::typed::{Number, Typed};

/// Assigns to a register of the selected frame.
pub(super) fn assign_register(
    session: &mut Session,
    name: &str,
    value: &Typed,
) -> Result<(), CommandError> {
    let Some(number) = whole_register(name) else {
        return special_registers::assign(session, name, value);
    };
    let word = Typed::of_integer(0).ok_or_else(|| CommandError::new("no type for registers"))?;
    let program = session.running()?;
    let bytes = bytes_for(&word, value, program).or_else(|error| {
        // Addresses and unsigned numbers use the highest bit too.
        let wide = Typed::of_integer(i128::from(u64::MAX)).ok_or(error)?;
        bytes_for(&wide, value, program)
    });
    let bytes = bytes.map_err(CommandError::new)?;
    if matches!(number, dwarf::INSTRUCTION_POINTER | dwarf::STACK_POINTER) {
        innermost_only(session)?;
    }
    write_register(session, number, &bytes)
}

/// Assigns to a variable in a register of the selected frame.
pub(super) fn assign_in_register(
    session: &mut Session,
    expression: &Expression,
    bytes: &[u8],
) -> Result<(), CommandError> {
    let no_place = || {
        CommandError::with_help(
            "this cannot be assigned to",
            "assign to a variable, a field, an element, *POINTER, or a register such as $rax",
        )
    };
    let ExpressionKind::Name(name) = &expression.kind else {
        return Err(no_place());
    };
    let frame = frames::selected_frame(session)?;
    let program = session.running()?;
    let variables = program.variables(&frame);
    let found = variables.iter().find(|(it, _)| *it.name == **name);
    let pieces = found.map(|(variable, _)| program.pieces_of(&frame, variable));
    match pieces.as_deref() {
        Some([piece]) => match piece.location {
            ValueLocation::Register(number) if dwarf::is_unwound(number) => {
                write_register(session, number, bytes)
            }
            ValueLocation::Register(number) if let Some(index) = dwarf::vector_index(number) => {
                innermost_only(session)?;
                write_vector(session, VectorPlace::Vector(index), 0, bytes)
            }
            _ => Err(CommandError::new(format!(
                "`{name}` is not stored anywhere: it is a constant in the debug information"
            ))),
        },
        _ => Err(no_place()),
    }
}

/// Assigns to a vector register or a part of it, or to a register of the x87.
pub(super) fn assign_in_vector(
    session: &mut Session,
    register: VectorPlace,
    expression: &Expression,
    bytes: &[u8],
) -> Result<(), CommandError> {
    innermost_only(session)?;
    let offset = offset_in_register(session, expression)?;
    write_vector(session, register, offset, bytes)
}

/// Returns the offset of a part of a register, in bytes.
fn offset_in_register(session: &mut Session, part: &Expression) -> Result<usize, CommandError> {
    let no_part = || CommandError::new("this is not a part of a register");
    match &part.kind {
        ExpressionKind::Register(_) => Ok(0),
        ExpressionKind::Field { object, field, .. } => {
            let of = expressions::evaluate_expression(session, object)?.r#type;
            let field = of.field(&field.text).ok_or_else(no_part)?;
            Ok(offset_in_register(session, object)? + field.offset as usize)
        }
        ExpressionKind::Index { object, index } => {
            let of = expressions::evaluate_expression(session, object)?.r#type;
            let size = of.target().and_then(|element| element.size());
            let size = size.ok_or_else(no_part)? as usize;
            let index = expressions::evaluate_expression(session, index)?;
            let index = match index.number(session.running()?) {
                Ok(Number::Int(index)) => usize::try_from(index).ok(),
                _ => None,
            };
            let distance = index.and_then(|index| index.checked_mul(size));
            let before = offset_in_register(session, object)?;
            distance
                .and_then(|distance| distance.checked_add(before))
                .ok_or_else(no_part)
        }
        _ => Err(no_part()),
    }
}

fn write_vector(
    session: &mut Session,
    register: VectorPlace,
    offset: usize,
    bytes: &[u8],
) -> Result<(), CommandError> {
    let thread = session.thread()?;
    let debuggee = &mut session.running_mut()?.debuggee;
    let mut vectors = debuggee.vector_registers(thread)?;
    let whole = match register {
        VectorPlace::Vector(index) => vectors.vectors.get_mut(index),
        VectorPlace::X87(index) => vectors.x87.get_mut(index),
    };
    let end = offset.checked_add(bytes.len());
    let part = whole.zip(end).and_then(|(it, end)| it.get_mut(offset..end));
    let part = part.ok_or_else(|| CommandError::new("this is not a part of the register"))?;
    part.copy_from_slice(bytes);
    Ok(debuggee.set_vector_registers(thread, &vectors)?)
}

/// Requires the innermost frame: outer frames have no vector registers, and their program
/// counters and stack pointers follow from the frames inside.
pub(super) fn innermost_only(session: &mut Session) -> Result<(), CommandError> {
    match session.processes.selection.level {
        0 => Ok(()),
        _ => Err(CommandError::with_help(
            "registers can be set only in the innermost frame",
            "frame 0 selects it",
        )),
    }
}

/// Writes the low bytes of a register of the selected frame; the others stay, except those that a
/// four-byte instruction would clear.
pub(super) fn write_register(
    session: &mut Session,
    number: u16,
    bytes: &[u8],
) -> Result<(), CommandError> {
    let saved_at = saved_address(session, number)?;
    let present = frames::selected_frame(session)?.registers.get(number);
    let mut word = match bytes.len() {
        4 => [0; 8],
        _ => present.unwrap_or(0).to_le_bytes(),
    };
    for (to, from) in word.iter_mut().zip(bytes) {
        *to = *from;
    }
    let thread = session.thread()?;
    if let Some(address) = saved_at {
        session.running_mut()?.debuggee.write(address, &word)?;
        session.processes.nodes.note_written(address, word.len());
        return Ok(());
    }
    let debuggee = &mut session.running_mut()?.debuggee;
    let mut registers = *debuggee.registers(thread)?;
    registers.set_by_dwarf_number(number, u64::from_le_bytes(word));
    Ok(debuggee.set_registers(thread, &registers)?)
}

/// Returns where a frame inside of the selected one has saved a register of it; nothing if the
/// register still has its value.
///
/// # Errors
/// The value is not known to be in one place.
fn saved_address(session: &mut Session, number: u16) -> Result<Option<u64>, CommandError> {
    let selected = session.processes.selection.level;
    let frames = session.frames()?.to_vec();
    let unknown = || {
        let name = dwarf::name(number);
        CommandError::new(format!(
            "the value of `${name}` in this frame was not saved"
        ))
    };
    let of_selected = frames.get(selected).ok_or_else(unknown)?;
    let inner = frames.get(..selected).unwrap_or_default().iter().rev();
    for frame in inner.filter(|frame| !frame.is_inlined()) {
        let saved = info_frame::saved_registers(session, frame).ok_or_else(unknown)?;
        let Some(address) = saved.get(number) else {
            continue;
        };
        let known = of_selected.registers.get(number);
        let is_there = known.is_some_and(|it| {
            let read = session
                .running()
                .map(|program| program.debuggee.read_u64(address));
            matches!(read, Ok(Ok(found)) if found == it)
        });
        return is_there.then_some(Some(address)).ok_or_else(unknown);
    }
    // No frame inside has saved it: each of them preserves it, or it has no value here.
    let innermost = frames.first().and_then(|it| it.registers.get(number));
    if innermost == of_selected.registers.get(number) {
        Ok(None)
    } else {
        Err(unknown())
    }
}

/// A register of sixteen bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum VectorPlace {
    Vector(usize),
    X87(usize),
}

/// Returns the sixteen-byte register that an expression is a part of.
pub(super) fn vector_part(place: &Expression) -> Option<VectorPlace> {
    match &place.kind {
        ExpressionKind::Register(name) => match SpecialRegister::named(name)? {
            SpecialRegister::Vector(index) => Some(VectorPlace::Vector(index)),
            SpecialRegister::X87(index) => Some(VectorPlace::X87(index)),
            _ => None,
        },
        ExpressionKind::Field { object, .. } | ExpressionKind::Index { object, .. } => {
            vector_part(object)
        }
        _ => None,
    }
}
