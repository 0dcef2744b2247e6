//! `print`: expressions in the selected frame, and the values that are kept.

use crate::session::Session;
use crate::state::evaluations::Purpose;
use crate::state::format_options::{is_formatted, split_format, split_options};
use crate::state::settings::Settings;
use crate::state::values::convenience;
use juror_language::Expression;
use juror_points::expressions::read_with_types;
use juror_program::scope::FrameScope;
use juror_symbols::TypeKind;
use juror_values::expression::evaluate;
use juror_values::format::{Radix, format, pretty};
use juror_values::typed::{Location, Typed};
use juror_view::error::CommandError;
use juror_view::observer::Observer;
use juror_view::{Outcome, ValueView};

impl Session {
    /// Keeps a value for `$N`; gives its number.
    pub(crate) fn keep(&mut self, value: Typed) -> u32 {
        let value = self.as_it_is(value);
        self.user.values.push(value)
    }

    /// A value as it is now: what is kept stays when the program changes the variable.
    /// What consists of parts has its place, too, so that one may go on from it.
    pub(crate) fn as_it_is(&self, value: Typed) -> Typed {
        let is_number = matches!(
            value.r#type.strip().kind(),
            TypeKind::Base(_) | TypeKind::Pointer(_) | TypeKind::Enumeration { .. }
        );
        let (Some(program), Some(_)) = (&self.processes.program, value.address()) else {
            return value;
        };
        if !is_number {
            return value.with_snapshot(program);
        }
        let size = match value.bits {
            Some(bits) => (bits.offset_bits + bits.size_bits).div_ceil(8),
            None => value.r#type.size().unwrap_or(0),
        };
        match value.bytes(program, size) {
            Ok(bytes) => Typed {
                location: Location::Bytes(bytes),
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
        let frames = if self.processes.program.is_some() {
            self.frames()?.to_vec()
        } else {
            Vec::new()
        };
        let program = self.running()?;
        let values = |name: &str| convenience(&self.user.values, name);
        let scope = FrameScope {
            program,
            frames: &frames,
            level: self.processes.selection.level,
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
        let is_pretty = shape.is_pretty.unwrap_or(self.user.settings.is_pretty);
        let (radix, text) = split_format(text)?;
        let place = self.assign_first(text)?;
        let text = place.as_deref().unwrap_or(text);
        let value =
            if text.is_empty() && is_call {
                return Err(CommandError::with_help(
                    "call what?",
                    "for example: call f(1)",
                ));
            } else if text.is_empty() {
                self.user.values.last().cloned().ok_or_else(|| {
                    CommandError::with_help("print what?", "for example: print count")
                })?
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
            elements_max: shape
                .elements_max
                .unwrap_or(self.user.settings.elements_max),
            ..self.user.settings
        };
        let own = self.user.settings;
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

impl Session {
    /// `x = 3`, `x += 1`, `x++`: does that, and gives the expression that has its value
    /// then.
    fn assign_first(&mut self, text: &str) -> Result<Option<String>, CommandError> {
        let Some((place, _)) = crate::commands::set_variable::split_any(text) else {
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
        if self.processes.program.is_some() {
            return None;
        }
        convenience(&self.user.values, text.strip_prefix('$')?)
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
        let is_pretty = self.user.settings.is_pretty;
        let shown = if is_pretty { pretty(&shown) } else { shown };
        Ok(Outcome::Message(shown))
    }
}
