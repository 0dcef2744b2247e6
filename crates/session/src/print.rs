//! `print`: expressions in the selected frame, and the values that are kept.

use crate::convenience::convenience;
use crate::evaluations::Purpose;
use crate::options::{CommandError, Observer};
use crate::session::Session;
use crate::view::{Outcome, ValueView};
use juror_instrument::expression::evaluate;
use juror_instrument::format::{Radix, format, pretty};
use juror_instrument::scope::FrameScope;
use juror_instrument::typed::Typed;
use juror_language::Expression;

impl Session {
    /// Keeps a value for `$N`; gives its number.
    pub(crate) fn keep(&mut self, value: Typed) -> u32 {
        self.values.push(value)
    }

    /// Evaluates an expression in the selected frame.
    pub(crate) fn evaluate(&mut self, text: &str) -> Result<Typed, CommandError> {
        self.evaluate_expression(&read(text)?)
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
        evaluate(expression, &scope).map_err(|error| CommandError::new(error.message))
    }

    /// `print/x EXPRESSION`, `call EXPRESSION`
    pub(crate) fn print(
        &mut self,
        text: &str,
        is_call: bool,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, CommandError> {
        let (asks_pretty, text) = split_pretty(text);
        let is_pretty = asks_pretty || self.settings.is_pretty;
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
            let expression = read(text)?;
            if expression.calls_functions() {
                if asks_pretty {
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
            self.evaluate_expression(&expression)?
        };
        let program = self.running()?;
        let shown = format(&value, program, program, radix);
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
        }))
    }
}

impl Session {
    /// `x = 3`, `x += 1`, `x++`: does that, and gives the place, whose value is then
    /// the one of the expression.
    fn assign_first(&mut self, text: &str) -> Result<Option<String>, CommandError> {
        let Some((place, _)) = crate::assignment::split_any(text) else {
            return Ok(None);
        };
        self.assign(text)?;
        Ok(Some(place))
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
    let (expression, diagnostics) = juror_language::parse_expression(text);
    if let Some(error) = diagnostics.iter().find(|diagnostic| diagnostic.is_error()) {
        return Err(CommandError::advised(
            error.message.clone(),
            error.help.clone(),
        ));
    }
    expression.ok_or_else(|| CommandError::new("an expression is missing"))
}

/// `-pretty expression`, `-pretty -- expression`: whether it is there, and the rest.
/// Alone it is the negative of a variable.
fn split_pretty(text: &str) -> (bool, &str) {
    let rest = text.strip_prefix("-pretty");
    match rest.filter(|rest| rest.starts_with(char::is_whitespace)) {
        Some(rest) => {
            let rest = rest.trim_start();
            (true, rest.strip_prefix("-- ").unwrap_or(rest))
        }
        None => (false, text),
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
        _ => {
            return Err(CommandError::with_help(
                format!("there is no format `/{letter}`"),
                "formats: /x /d /u /o /t /c /a /s /r",
            ));
        }
    };
    Ok((radix, rest.trim()))
}
