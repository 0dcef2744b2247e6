//! `x`: memory as numbers, strings or instructions.
//!
//! The formats are gdb's. Omitted parts are taken from the last `x`; without an address it
//! continues after the last element.

use crate::commands::convenience;
use crate::commands::set_variable::may_call;
use crate::inspect::assignment::evaluate_assigning;
use crate::inspect::{assembly, expressions};
use crate::session::Session;
use crate::state::evaluations::Purpose;
use crate::state::examined::Examined;
use juror_arch::INSTRUCTION_LENGTH_MAX;
use juror_fault::CommandError;
use juror_program::program::Program;
use juror_symbols::{Character, Encoding, Type, TypeKind};
use juror_values::format::{Names as _, Radix, quoted};
use juror_values::typed::{Number, Typed};
use juror_view::observer::Observer;
use juror_view::{AssemblyView, MemoryRow, MemoryView, Outcome};

/// The limit of bytes of a string.
const TEXT_MAX: usize = 400;
/// The number of bytes in a row of numbers.
const ROW_BYTES: usize = 16;

/// `x`, `x/8gx ADDRESS`
pub(crate) fn examine(
    session: &mut Session,
    text: &str,
    observer: &mut dyn Observer,
) -> Result<Outcome, CommandError> {
    let mut how = session.user.examined;
    let mut rest = text;
    if let Some(formatted) = text.strip_prefix('/') {
        let end = formatted
            .find(char::is_whitespace)
            .unwrap_or(formatted.len());
        how = how.with(&formatted[..end])?;
        rest = formatted[end..].trim();
    } else {
        how.count = 1;
    }
    let address = match rest {
        "" => how.next.ok_or_else(|| {
            CommandError::with_help("x needs an address", "for example: x/8gx $rsp")
        })?,
        expression => match after_calls(session, expression, observer)? {
            Ok(expression) => {
                fit_fraction(session, &mut how, &expression)?;
                address_of(session, &expression)?
            }
            Err(outcome) => return Ok(outcome),
        },
    };
    let program = session.running()?;
    let (outcome, next) = match how.letter {
        'i' => examine_code(session, address, how.count)?,
        's' => texts(program, address, how),
        _ => numbers(program, address, how),
    };
    how.next = Some(next);
    session.user.examined = how;
    note_last_examined(session, address, how);
    Ok(outcome)
}

/// Gives a floating-point number the size of the expression's target, unless a size is given.
fn fit_fraction(session: &mut Session, how: &mut Examined, text: &str) -> Result<(), CommandError> {
    if how.letter != 'f' || how.is_size_given {
        return Ok(());
    }
    let target = expressions::evaluate(session, text)?.r#type.target();
    let is_float = |of: &Type| matches!(of.strip().kind(), TypeKind::Base(Encoding::Float));
    let size = target.filter(is_float).and_then(|of| of.size());
    if let Some(size @ (4 | 8)) = size {
        how.size = size as usize;
    }
    Ok(())
}

/// Returns an expression without calls and assignments that has the value of one with them, or
/// the outcome if a call was stopped.
fn after_calls(
    session: &mut Session,
    text: &str,
    observer: &mut dyn Observer,
) -> Result<Result<String, Outcome>, CommandError> {
    let expression = expressions::read(session, text)?;
    if !expression.has_effects() {
        return Ok(Ok(text.to_owned()));
    }
    if !may_call(&expression) {
        let value = evaluate_assigning(session, &expression)?;
        let number = expressions::keep(session, value);
        return Ok(Ok(format!("${number}")));
    }
    let purpose = Purpose::Print(Radix::Natural);
    Ok(
        match session.evaluate_with_calls(text, expression, purpose, observer)? {
            Outcome::Value(view) if view.number > 0 => Ok(format!("${}", view.number)),
            other => Err(other),
        },
    )
}

/// Sets `$_` to the last address that was shown, `$__` to its value.
fn note_last_examined(session: &mut Session, address: u64, how: Examined) {
    let (Some(next), Ok(program)) = (how.next, session.running()) else {
        return;
    };
    if next == address || matches!(how.letter, 's' | 'i') {
        return convenience::note_examined(session, address, None);
    }
    let last = next.wrapping_sub(how.size as u64);
    let mut bytes = vec![0; how.size];
    let is_read = program.debuggee.read(last, &mut bytes).is_ok();
    let name = match how.size {
        1 => "char",
        2 => "short",
        4 => "int",
        _ => "long",
    };
    let r#type = Type::builtin(name).filter(|_| is_read);
    convenience::note_examined(session, last, r#type.map(|of| Typed::of_bytes(of, bytes)));
}

/// Returns the target of an expression that is a pointer, a reference or a number; for other
/// variables, their address. A reference to a pointer is that pointer.
pub(crate) fn address_of(session: &mut Session, expression: &str) -> Result<u64, CommandError> {
    let value = expressions::evaluate(session, expression)?;
    let program = session.running()?;
    let no_address = || CommandError::new(format!("`{expression}` is not an address"));
    match value.number(program) {
        Ok(Number::Pointer(address, target))
            if matches!(value.r#type.strip().kind(), TypeKind::Reference(_))
                && target.is_pointer() =>
        {
            let pointer = Typed::in_memory(target, address).number(program);
            match pointer.map_err(CommandError::new)? {
                Number::Pointer(address, _) => Ok(address),
                _ => Err(no_address()),
            }
        }
        Ok(Number::Pointer(address, _)) => Ok(address),
        Ok(Number::Int(number)) => u64::try_from(number).map_err(|_| no_address()),
        Ok(_) => Err(no_address()),
        Err(why) => value.address().ok_or_else(|| CommandError::new(why)),
    }
}

fn examine_code(
    session: &Session,
    address: u64,
    count: u64,
) -> Result<(Outcome, u64), CommandError> {
    let size = (count as usize).saturating_mul(INSTRUCTION_LENGTH_MAX);
    let mut view = assembly::assembly(session, address..address.saturating_add(size as u64))?;
    view.lines.truncate(count as usize);
    if view.lines.len() as u64 == count {
        view.unreadable = None;
    }
    let next = match view.lines.last() {
        Some(last) => last.address + last.bytes.len() as u64 / 2,
        None => address,
    };
    for line in &mut view.lines {
        line.bytes.clear();
    }
    let view = AssemblyView {
        function: None,
        ..view
    };
    Ok((Outcome::Assembly(view), next))
}

fn numbers(program: &Program, address: u64, how: Examined) -> (Outcome, u64) {
    let in_row = (ROW_BYTES / how.size).max(1) as u64;
    let mut view = MemoryView {
        rows: Vec::new(),
        unreadable: None,
    };
    let mut at = address;
    for index in 0..how.count {
        let mut bytes = vec![0; how.size];
        if program.debuggee.read(at, &mut bytes).is_err() {
            view.unreadable = Some(format!("the memory at {at:#x} cannot be read"));
            break;
        }
        let cell = how.cell(&bytes);
        let name = match (how.letter, <[u8; 8]>::try_from(bytes.as_slice())) {
            ('a', Ok(word)) => program.name_of(u64::from_le_bytes(word)),
            _ => None,
        };
        let cell = match name {
            Some(name) => format!("{cell} <{name}>"),
            None => cell,
        };
        match view.rows.last_mut() {
            Some(row) if index % in_row != 0 => row.cells.push(cell),
            _ => view.rows.push(MemoryRow {
                address: at,
                name: program.name_of(at),
                cells: vec![cell],
            }),
        }
        at = at.wrapping_add(how.size as u64);
    }
    (Outcome::Memory(view), at)
}

/// Formats zero-terminated strings, one after the other.
fn texts(program: &Program, address: u64, how: Examined) -> (Outcome, u64) {
    let wide = match how.character {
        2 => Some(Character::Utf16),
        4 => Some(Character::Utf32),
        _ => None,
    };
    let size = how.character;
    let mut view = MemoryView {
        rows: Vec::new(),
        unreadable: None,
    };
    let mut at = address;
    for _ in 0..how.count {
        let mut bytes = vec![0; TEXT_MAX * size];
        let read = program.debuggee.read_up_to(at, &mut bytes);
        let bytes = bytes.get(..read).unwrap_or(&[]);
        if bytes.is_empty() {
            view.unreadable = Some(format!("the memory at {at:#x} cannot be read"));
            break;
        }
        let mut units = bytes.chunks_exact(size);
        let end = units.position(|unit| unit.iter().all(|&byte| byte == 0));
        let end = end.map(|count| count * size);
        let shown = bytes.get(..end.unwrap_or(read)).unwrap_or(bytes);
        let dots = if end.is_some() { "" } else { "..." };
        let text = match wide {
            Some(wide) => {
                let characters = wide.decoded(shown).into_iter();
                let text = characters.map(|it| it.unwrap_or(char::REPLACEMENT_CHARACTER));
                format!("{}{:?}", wide.prefix(), text.collect::<String>())
            }
            None => quoted(shown),
        };
        view.rows.push(MemoryRow {
            address: at,
            name: program.name_of(at),
            cells: vec![format!("{text}{dots}")],
        });
        at = at.wrapping_add(end.map_or(read, |end| end + size) as u64);
    }
    (Outcome::Memory(view), at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_those_of_gdb() {
        for (format, bytes, expected) in [
            ("x", &[0x36, 0x11, 0x40, 0][..], "0x00401136"),
            ("wx", &[1, 0, 0, 0], "0x00000001"),
            ("bd", &[0xff], "-1"),
            ("bu", &[0xff], "255"),
            ("hd", &[0x00, 0x80], "-32768"),
            ("bt", &[5], "00000101"),
            ("bo", &[8], "010"),
            ("c", b"A", "65 'A'"),
            ("c", b"\n", "10 '\\n'"),
            ("c", &[0xe9], "-23 '\\xe9'"),
            ("a", &[0x10, 0, 0, 0, 0, 0, 0, 0], "0x10"),
            ("fw", &[0, 0, 0x80, 0x3f], "1"),
            ("f", &[0, 0, 0, 0, 0, 0, 0xf8, 0x3f], "1.5"),
        ] {
            let how = Examined::default().with(format).expect("a format");
            assert_eq!(how.size, bytes.len(), "{format}");
            assert_eq!(how.cell(bytes), expected, "{format}");
        }
    }

    #[test]
    fn counts_sizes_and_letters_are_read() {
        let how = Examined::default().with("3wd").expect("a format");
        assert_eq!((how.count, how.size, how.letter), (3, 4, 'd'));
        // The rest stays as it was.
        let next = how.with("2").expect("a format");
        assert_eq!((next.count, next.size, next.letter), (2, 4, 'd'));
        for wrong in ["k", "3xq", "99999x", "bf"] {
            assert!(Examined::default().with(wrong).is_err(), "{wrong}");
        }
    }
}
