//! Format strings of `printf` and `dprintf`.

pub mod conversion;

use crate::format_string::conversion::{Given, Piece, pieces, split, unescaped};
use juror_fault::CommandError;
use juror_language::{Expression, ExpressionKind};
use juror_symbols::{Memory, TypeKind};
use juror_values::format::{Names, Radix, format, readable};
use juror_values::typed::{Number, Typed};
use std::fmt::Write as _;

/// The help of syntax errors.
pub(crate) const HELP: &str = "for example: printf \"%d of %s\\n\", count, name";
/// The limit of bytes read of a string.
pub(crate) const TEXT_LENGTH_MAX: usize = 64 << 10;

/// A format with its expressions.
#[derive(Debug)]
pub struct Format {
    pub(crate) pieces: Vec<Piece>,
    pub(crate) arguments: Vec<Expression>,
}

impl Format {
    /// Parses `"FORMAT", EXPRESSION, …`.
    pub fn parse(text: &str) -> Result<Format, CommandError> {
        let wrong = |message: String| CommandError::with_help(message, HELP);
        let (format, arguments) =
            split(text).ok_or_else(|| wrong("a quoted format is missing".to_owned()))?;
        let pieces = pieces(&unescaped(format)).map_err(wrong)?;
        let is_value = |piece: &&Piece| matches!(piece, Piece::Value(_));
        let wanted = pieces.iter().filter(is_value).count();
        if wanted != arguments.len() {
            let message = format!(
                "the format takes {wanted} value{}; {} given",
                if wanted == 1 { "" } else { "s" },
                arguments.len()
            );
            return Err(wrong(message));
        }
        let arguments = arguments.into_iter().map(crate::expressions::read);
        Ok(Format {
            pieces,
            arguments: arguments.collect::<Result<_, _>>()?,
        })
    }

    /// Returns the expressions that must be evaluated: all but string literals.
    pub fn values(&self) -> impl Iterator<Item = &Expression> {
        let is_text = |it: &&Expression| matches!(it.kind, ExpressionKind::Text(_));
        self.arguments.iter().filter(move |it| !is_text(it))
    }

    /// Formats the values of [`Format::values`].
    pub fn write(
        &self,
        values: &[Typed],
        memory: &dyn Memory,
        names: &dyn Names,
    ) -> Result<String, CommandError> {
        let mut values = values.iter();
        let mut arguments = self.arguments.iter();
        let mut text = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(plain) => text.push_str(plain),
                Piece::Value(conversion) => {
                    let given = match arguments.next().map(|it| &it.kind) {
                        Some(ExpressionKind::Text(text)) => Given::Text(text.to_string()),
                        _ => {
                            let value = values.next();
                            let value =
                                value.ok_or_else(|| CommandError::new("a value is missing"))?;
                            given(conversion.letter, value, memory, names)?
                        }
                    };
                    let shown = conversion.write(&given);
                    push_value(&mut text, &shown.map_err(CommandError::new)?);
                }
            }
        }
        Ok(text)
    }
}

/// Appends a value of the program, whose control characters become escapes: only those that the
/// user has written in the format act on the terminal.
fn push_value(text: &mut String, value: &str) {
    for character in value.chars() {
        match character {
            '\n' | '\t' => text.push(character),
            control if control.is_control() => {
                let _ = write!(text, "\\{:03o}", u32::from(control));
            }
            plain => text.push(plain),
        }
    }
}

pub(crate) fn given(
    letter: char,
    value: &Typed,
    memory: &dyn Memory,
    names: &dyn Names,
) -> Result<Given, CommandError> {
    if letter == 's' {
        if let Some(text) = c_text(value, memory) {
            return Ok(Given::Text(text));
        }
        // All other values are formatted as by `print`.
        let shown = format(value, memory, names, Radix::Natural);
        let quoted = shown.strip_prefix('"').and_then(|it| it.strip_suffix('"'));
        return Ok(Given::Text(quoted.unwrap_or(&shown).to_owned()));
    }
    let bits = value.r#type.size().unwrap_or(8).clamp(1, 16) as u32 * 8;
    match value.number(memory).map_err(CommandError::new)? {
        Number::Int(whole) => Ok(Given::Whole(whole, bits)),
        Number::Float(value) => Ok(Given::Fraction(value)),
        Number::Wide(value) => Ok(Given::Fraction(value.double())),
        Number::Pointer(address, _) => Ok(Given::Whole(i128::from(address), 64)),
        Number::Bool(truth) => Ok(Given::Whole(i128::from(truth), bits)),
    }
}

/// Reads the string of a `char *` or of an array of characters.
pub(crate) fn c_text(value: &Typed, memory: &dyn Memory) -> Option<String> {
    let target = value.r#type.target()?;
    let is_text = matches!(target.strip().kind(), TypeKind::Base(e) if e.is_character());
    let Ok(Number::Pointer(address, _)) = value.number(memory) else {
        return None;
    };
    if !is_text {
        return None;
    }
    let limit = match value.r#type.strip().kind() {
        TypeKind::Array { .. } => value.r#type.size().unwrap_or(0) as usize,
        _ => TEXT_LENGTH_MAX,
    };
    let mut bytes = Vec::new();
    while bytes.len() < limit.min(TEXT_LENGTH_MAX) {
        let mut byte = [0];
        if !memory.read(address.wrapping_add(bytes.len() as u64), &mut byte) || byte == [0] {
            break;
        }
        bytes.extend(byte);
    }
    Some(readable(&bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_takes_as_many_values_as_it_names() {
        for (text, message) in [
            ("\"%d\"", "the format takes 1 value; 0 given"),
            ("\"%d %s\", n", "the format takes 2 values; 1 given"),
            ("\"plain\", n", "the format takes 0 values; 1 given"),
            ("n", "a quoted format is missing"),
        ] {
            let error = Format::parse(text).expect_err(text);
            assert_eq!(error.message, message);
        }
        let format = Format::parse("\"%d of %s\", n, \"all\"").expect("it is right");
        // A string literal needs no program.
        assert_eq!((format.arguments.len(), format.values().count()), (2, 1));
    }

    #[test]
    fn control_characters_of_values_do_not_reach_the_terminal() {
        let mut text = String::new();
        push_value(&mut text, "a\n\tb\u{1b}[31m\u{7}ä");
        assert_eq!(text, "a\n\tb\\033[31m\\007ä");
    }
}
