//! `print`: expressions in the selected frame, and the values that are kept.

use crate::convenience::convenience;
use crate::evaluations::Purpose;
use crate::options::{CommandError, Observer};
use crate::session::Session;
use crate::settings::Settings;
use crate::view::{Outcome, ValueView};
use juror_language::Expression;
use juror_program::scope::FrameScope;
use juror_symbols::TypeKind;
use juror_values::expression::evaluate;
use juror_values::format::{Radix, format, pretty};
use juror_values::typed::{Place, Typed};

impl Session {
    /// Keeps a value for `$N`; gives its number.
    pub(crate) fn keep(&mut self, value: Typed) -> u32 {
        let value = self.as_it_is(value);
        self.values.push(value)
    }

    /// A value as it is now: what is kept stays when the program changes the variable.
    /// What consists of parts has its place, too, so that one may go on from it.
    pub(crate) fn as_it_is(&self, value: Typed) -> Typed {
        let is_number = matches!(
            value.r#type.strip().kind(),
            TypeKind::Base(_) | TypeKind::Pointer(_) | TypeKind::Enumeration { .. }
        );
        let (Some(program), Some(_)) = (&self.program, value.address()) else {
            return value;
        };
        if !is_number {
            return value.kept(program);
        }
        let size = match value.bits {
            Some(bits) => (bits.offset_bits + bits.size_bits).div_ceil(8),
            None => value.r#type.size().unwrap_or(0),
        };
        match value.bytes(program, size) {
            Ok(bytes) => Typed {
                place: Place::Bytes(bytes),
                ..value
            },
            Err(_) => value,
        }
    }

    /// Evaluates an expression in the selected frame.
    pub(crate) fn evaluate(&mut self, text: &str) -> Result<Typed, CommandError> {
        let expression = self.read(text)?;
        self.evaluate_expression(&expression)
    }

    /// An expression as it was typed, with the types of the program in its casts.
    pub(crate) fn read(&mut self, text: &str) -> Result<Expression, CommandError> {
        read_with_types(text, &self.types_in(text))
    }

    /// The names in parentheses that are types here, and no values.
    pub(crate) fn types_in(&mut self, text: &str) -> Vec<String> {
        if !text.contains('(') {
            return Vec::new();
        }
        let mut names = juror_language::possible_types(text);
        names.retain(|name| {
            let value = read_with_types(name, &[]).and_then(|it| self.evaluate_expression(&it));
            value.is_err() && self.type_named(name).is_some()
        });
        names
    }

    pub(crate) fn evaluate_expression(
        &mut self,
        expression: &Expression,
    ) -> Result<Typed, CommandError> {
        self.note_signal(expression)?;
        // Without a program only numbers can be computed with.
        let frames = if self.program.is_some() {
            self.frames()?.to_vec()
        } else {
            Vec::new()
        };
        let program = self.running()?;
        let values = |name: &str| convenience(&self.values, name);
        let scope = FrameScope {
            program,
            frames: &frames,
            level: self.selection.level,
            convenience: &values,
        };
        let value = evaluate(expression, &scope);
        self.forget_signal();
        value.map_err(|error| CommandError::new(error.message))
    }

    /// `print/x EXPRESSION`, `call EXPRESSION`
    pub(crate) fn print(
        &mut self,
        text: &str,
        is_call: bool,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, CommandError> {
        let (shape, text) = split_options(text);
        let is_pretty = shape.is_pretty.unwrap_or(self.settings.is_pretty);
        let (radix, text) = split_format(text)?;
        let place = self.assign_first(text)?;
        let text = place.as_deref().unwrap_or(text);
        let value = if text.is_empty() && is_call {
            return Err(CommandError::with_help(
                "call what?",
                "for example: call f(1)",
            ));
        } else if text.is_empty() {
            self.values
                .last()
                .cloned()
                .ok_or_else(|| CommandError::with_help("print what?", "for example: print count"))?
        } else {
            let expression = self.read(text)?;
            if expression.calls_functions() {
                if shape.is_pretty == Some(true) {
                    return Err(CommandError::with_help(
                        "what a function returns is printed on one line first",
                        "then: print -pretty $",
                    ));
                }
                let purpose = match is_call && radix == Radix::Natural {
                    true => Purpose::Call,
                    false => Purpose::Print(radix),
                };
                return self.evaluate_with_calls(text, expression, purpose, observer);
            }
            match self.evaluate_expression(&expression) {
                // It may be a function of the program that is called `len`.
                Err(_) if expression.counts() => {
                    let purpose = Purpose::Print(radix);
                    return self.evaluate_with_calls(text, expression, purpose, observer);
                }
                found => found?,
            }
        };
        let settings = Settings {
            elements_max: shape.elements_max.unwrap_or(self.settings.elements_max),
            ..self.settings
        };
        let own = self.settings;
        let program = self.running_mut()?;
        settings.apply(program);
        let shown = format(&value, &*program, &*program, radix);
        own.apply(program);
        let shown = match is_pretty {
            true => pretty(&shown),
            false => shown,
        };
        let type_name = value.r#type.name();
        let number = self.keep(value);
        Ok(Outcome::Value(ValueView {
            number,
            type_name,
            value: shown,
            is_formatted: is_formatted(radix),
        }))
    }
}

/// Whether a format was asked for, so that a value is no longer what its type makes of it.
pub(crate) fn is_formatted(radix: Radix) -> bool {
    !matches!(radix, Radix::Natural | Radix::Raw | Radix::Text)
}

impl Session {
    /// `x = 3`, `x += 1`, `x++`: does that, and gives the expression that has its value
    /// then.
    fn assign_first(&mut self, text: &str) -> Result<Option<String>, CommandError> {
        let Some((place, _)) = crate::assignment::split_any(text) else {
            return Ok(None);
        };
        self.assign(text)?;
        // The value of `x++` is the one before.
        let undone = match text.trim_end() {
            text if text.ends_with("++") => '-',
            text if text.ends_with("--") => '+',
            _ => return Ok(Some(place)),
        };
        let of = self.evaluate_meant(&place)?.r#type.name();
        Ok(Some(format!("({of})(({place}) {undone} 1)")))
    }

    /// A value with a name, where there is no program to ask: `$_exitcode` is of most
    /// use then.
    pub(crate) fn kept_without_program(&self, text: &str) -> Option<Typed> {
        if self.program.is_some() {
            return None;
        }
        convenience(&self.values, text.strip_prefix('$')?)
    }

    pub(crate) fn shown_kept(&mut self, value: Typed) -> Outcome {
        let view = ValueView {
            number: 0,
            type_name: value.r#type.name(),
            value: self.value_text(&value),
            is_formatted: false,
        };
        Outcome::Value(ValueView {
            number: self.keep(value),
            ..view
        })
    }

    /// `output/x EXPRESSION`: the value alone, which is not kept.
    pub(crate) fn output(&mut self, text: &str) -> Result<Outcome, CommandError> {
        let (radix, text) = split_format(text)?;
        if text.is_empty() {
            return Err(CommandError::with_help(
                "output what?",
                "for example: output count",
            ));
        }
        let value = self.evaluate(text)?;
        let program = self.running()?;
        let shown = format(&value, program, program, radix);
        let is_pretty = self.settings.is_pretty;
        let shown = if is_pretty { pretty(&shown) } else { shown };
        Ok(Outcome::Message(shown))
    }
}

/// An expression as it was typed.
pub(crate) fn read(text: &str) -> Result<Expression, CommandError> {
    read_with_types(text, &[])
}

fn read_with_types(text: &str, types: &[String]) -> Result<Expression, CommandError> {
    let (expression, diagnostics) = juror_language::parse_expression_with_types(text, types);
    if let Some(error) = diagnostics.iter().find(|diagnostic| diagnostic.is_error()) {
        return Err(CommandError::advised(
            error.message.clone(),
            error.help.clone(),
        ));
    }
    expression.ok_or_else(|| CommandError::new("an expression is missing"))
}

/// What is said before the expression about how its value is shown.
#[derive(Debug, Default, PartialEq, Eq)]
struct Shape {
    is_pretty: Option<bool>,
    elements_max: Option<u64>,
}

/// `-pretty expression`, `-elements 5 -- expression`: what is said there, and the
/// rest. A word alone is the negative of a variable.
fn split_options(text: &str) -> (Shape, &str) {
    let mut shape = Shape::default();
    let mut rest = text;
    loop {
        let (word, after) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let after = after.trim_start();
        match word {
            _ if after.is_empty() => return (shape, rest),
            "-pretty" => {
                let (value, behind) = after.split_once(char::is_whitespace).unwrap_or((after, ""));
                let is_on = value == "on";
                (shape.is_pretty, rest) = match is_on || value == "off" {
                    true => (Some(is_on), behind.trim_start()),
                    false => (Some(true), after),
                };
            }
            "-elements" => {
                let (value, behind) = after.split_once(char::is_whitespace).unwrap_or((after, ""));
                shape.elements_max = match value {
                    "unlimited" | "0" => Some(u64::MAX),
                    value => value.parse().ok(),
                };
                if shape.elements_max.is_none() {
                    return (Shape::default(), text);
                }
                rest = behind.trim_start();
            }
            "--" if shape != Shape::default() => return (shape, after),
            _ => return (shape, rest),
        }
    }
}

/// `/x expression`: the format and the rest.
pub(crate) fn split_format(text: &str) -> Result<(Radix, &str), CommandError> {
    let Some(rest) = text.strip_prefix('/') else {
        return Ok((Radix::Natural, text));
    };
    let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
    let (letter, rest) = rest.split_at(end);
    let radix = match letter {
        "x" => Radix::Hexadecimal,
        "d" => Radix::Decimal,
        "u" => Radix::Unsigned,
        "o" => Radix::Octal,
        "t" => Radix::Binary,
        "c" => Radix::Character,
        "a" => Radix::Address,
        "s" => Radix::Text,
        "r" => Radix::Raw,
        "z" => Radix::Padded,
        "f" => Radix::Float,
        _ => {
            return Err(CommandError::with_help(
                format!("there is no format `/{letter}`"),
                "formats: /x /z /d /u /o /t /c /a /f /s /r",
            ));
        }
    };
    Ok((radix, rest.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_stand_before_the_expression() {
        let shape = |is_pretty, elements_max| Shape {
            is_pretty,
            elements_max,
        };
        for (text, expected, rest) in [
            ("count", shape(None, None), "count"),
            ("-pretty", shape(None, None), "-pretty"),
            ("-pretty *queue", shape(Some(true), None), "*queue"),
            ("-pretty -- -x", shape(Some(true), None), "-x"),
            ("-pretty off -- x", shape(Some(false), None), "x"),
            ("-elements 3 -- table", shape(None, Some(3)), "table"),
            (
                "-elements 0 -pretty on table",
                shape(Some(true), Some(u64::MAX)),
                "table",
            ),
            ("-elements - 3", shape(None, None), "-elements - 3"),
            ("-x + 1", shape(None, None), "-x + 1"),
        ] {
            assert_eq!(split_options(text), (expected, rest), "{text}");
        }
    }
}
