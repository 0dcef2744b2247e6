//! `set PLACE = VALUE`: assigns to variables, fields, elements, memory and registers of the
//! program.

use crate::command_table::assignments::split_any;
use crate::commands::info_frame;
use crate::inspect::{expressions, frames};
use crate::run::scenarios::permissions;
use crate::session::Session;
use crate::state::evaluations::Purpose;
use crate::state::values::can_be_named;
use juror_fault::CommandError;
use juror_language::{Expression, ExpressionKind};
use juror_program::assignment::{assignment_target, bytes_for};
use juror_program::scope::whole_register;
use juror_symbols::{Type, ValueLocation, register, register_name};
use juror_values::format::{Radix, format};
use juror_values::typed::{Location, Number, Typed};
use juror_view::observer::Observer;
use juror_view::{Outcome, ValueView, VariableView};

mod special_registers;

pub(crate) use special_registers::refusal;

/// The help of syntax errors.
const HELP: &str = "for example: set var count = 3, set queue->items[2] = 0, set $rax = 1";

/// `set PLACE = VALUE`, `set var PLACE = VALUE`.
pub(crate) fn assign(session: &mut Session, text: &str) -> Result<Outcome, CommandError> {
    let parts = split_any(text).filter(|(a, b)| !a.is_empty() && !b.is_empty());
    let (place, value) =
        parts.ok_or_else(|| CommandError::with_help("a variable and a value are missing", HELP))?;
    let expression = expressions::read(session, &place)?;
    let is_named = matches!(&expression.kind, ExpressionKind::Register(name) if can_be_named(name));
    if !is_named {
        session.begun()?;
    }
    assign_to(session, &place, &expression, &value)
}

/// Assigns to a place in a program that has begun.
pub(crate) fn assign_to(
    session: &mut Session,
    place: &str,
    expression: &Expression,
    value: &str,
) -> Result<Outcome, CommandError> {
    if let ExpressionKind::Register(name) = &expression.kind
        && can_be_named(name)
    {
        let value = expressions::evaluate(session, value)?;
        let value = expressions::as_it_is(session, value);
        session.user.values.set(name, value);
        return Ok(Outcome::Done);
    }
    let value = evaluate_meant(session, value)?;
    if let ExpressionKind::Register(name) = &expression.kind
        && vector_part(expression).is_none()
    {
        permissions::permit_assignment(session, expression, None, &[])?;
        assign_register(session, name, &value)?;
        return assigned(session, place);
    }
    let typed = evaluate_meant(session, place)?;
    let bytes = bytes_for(&typed, &value, session.running()?).map_err(CommandError::new)?;
    permissions::permit_assignment(session, expression, Some(&typed), &bytes)?;
    match typed.location {
        Location::Memory(address) => {
            session.running_mut()?.debuggee.write(address, &bytes)?;
            session.processes.nodes.note_written(address, bytes.len());
        }
        Location::Bytes(_) => match vector_part(expression) {
            Some(register) => assign_in_vector(session, register, expression, &bytes)?,
            None => assign_in_register(session, expression, &bytes)?,
        },
        Location::Partial(_) => return Err(CommandError::new("partly optimized out")),
        Location::Missing(why) => return Err(CommandError::new(why)),
    }
    assigned(session, place)
}

/// Assigns a value whose expression may call functions of the program.
pub(crate) fn assign_result(
    session: &mut Session,
    text: &str,
    observer: &mut dyn Observer,
) -> Result<Outcome, CommandError> {
    let parts = split_any(text).filter(|(place, value)| !place.is_empty() && !value.is_empty());
    let Some((place, value)) = parts.filter(|_| session.processes.program.is_some()) else {
        return assign(session, text);
    };
    let expression = expressions::read(session, &value)?;
    // `int(x)` is written like a call.
    let is_call = expression.calls_functions()
        && expressions::evaluate_expression(session, &expression).is_err();
    if !is_call {
        return assign(session, text);
    }
    match session.evaluate_with_calls(&value, expression, Purpose::Assign, observer)? {
        Outcome::Value(ValueView { number: 0, .. }) => Err(CommandError::new(format!(
            "`{value}` has no value: the function returns nothing"
        ))),
        Outcome::Value(ValueView { number, .. }) => {
            // The thread is back where it was before the call.
            let target = expressions::read(session, &place);
            let kept = format!("${number}");
            let outcome = target.and_then(|it| assign_to(session, &place, &it, &kept));
            session.user.values.remove_last(number);
            outcome
        }
        stopped => {
            observer.notice(&format!(
                "`{place}` is not assigned: the program stopped in the call"
            ));
            Ok(stopped)
        }
    }
}

/// Evaluates the location or the value of an assignment: references are resolved.
pub(crate) fn evaluate_meant(session: &mut Session, text: &str) -> Result<Typed, CommandError> {
    let expression = expressions::read(session, text)?;
    let value = match &expression.kind {
        ExpressionKind::Text(text) => characters(text)?,
        _ => expressions::evaluate_expression(session, &expression)?,
    };
    match &session.processes.program {
        Some(program) => assignment_target(&value, program).map_err(CommandError::new),
        None => Ok(value),
    }
}

/// Returns a text in quotation marks as the array of its characters, with a zero at the end.
fn characters(text: &str) -> Result<Typed, CommandError> {
    let mut bytes = text.as_bytes().to_vec();
    bytes.push(0);
    let character = Type::builtin("char");
    let character = character.ok_or_else(|| CommandError::new("no type for characters"))?;
    Ok(Typed::of_bytes(
        character.array_of(bytes.len() as u64),
        bytes,
    ))
}

/// Shows the new value.
fn assigned(session: &mut Session, place: &str) -> Result<Outcome, CommandError> {
    // The frames have cached old values of registers.
    session.processes.selection.frames = None;
    let value = expressions::evaluate(session, place)?.without_snapshot();
    let program = session.running()?;
    let shown = format(&value, program, program, Radix::Natural);
    Ok(Outcome::Assigned(VariableView {
        name: place.to_owned(),
        type_name: value.r#type.name(),
        value: shown,
    }))
}

/// Assigns to a register of the innermost frame.
fn assign_register(session: &mut Session, name: &str, value: &Typed) -> Result<(), CommandError> {
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
    if matches!(number, register::RIP | register::RSP) {
        innermost_only(session)?;
    }
    write_register(session, number, &bytes)
}

/// Assigns to a variable in a register of the selected frame.
fn assign_in_register(
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
            ValueLocation::Register(number) if number <= register::RIP => {
                write_register(session, number, bytes)
            }
            ValueLocation::Register(number) if (register::XMM0..=32).contains(&number) => {
                innermost_only(session)?;
                let place = VectorPlace::Xmm(usize::from(number - register::XMM0));
                write_vector(session, place, 0, bytes)
            }
            _ => Err(CommandError::new(format!(
                "`{name}` is not stored anywhere: it is a constant in the debug information"
            ))),
        },
        _ => Err(no_place()),
    }
}

/// Assigns to a vector register or a part of it, or to a register of the x87.
fn assign_in_vector(
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
        VectorPlace::Xmm(number) => vectors.xmm.get_mut(number),
        VectorPlace::St(number) => vectors.st.get_mut(number),
    };
    let end = offset.checked_add(bytes.len());
    let part = whole.zip(end).and_then(|(it, end)| it.get_mut(offset..end));
    let part = part.ok_or_else(|| CommandError::new("this is not a part of the register"))?;
    part.copy_from_slice(bytes);
    Ok(debuggee.set_vector_registers(thread, &vectors)?)
}

/// Requires the innermost frame: outer frames have no vector registers, and their program
/// counters and stack pointers follow from the frames inside.
fn innermost_only(session: &mut Session) -> Result<(), CommandError> {
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
fn write_register(session: &mut Session, number: u16, bytes: &[u8]) -> Result<(), CommandError> {
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
        let name = register_name(number);
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
enum VectorPlace {
    Xmm(usize),
    St(usize),
}

/// Returns the sixteen-byte register that an expression is a part of.
fn vector_part(place: &Expression) -> Option<VectorPlace> {
    match &place.kind {
        ExpressionKind::Register(name) => {
            let number = |digits: &str| digits.parse().ok();
            match (name.strip_prefix("xmm"), name.strip_prefix("st")) {
                (Some(digits), _) => number(digits).map(VectorPlace::Xmm),
                (_, Some(digits)) => number(digits).map(VectorPlace::St),
                _ => None,
            }
        }
        ExpressionKind::Field { object, .. } | ExpressionKind::Index { object, .. } => {
            vector_part(object)
        }
        _ => None,
    }
}
