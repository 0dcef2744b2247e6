//! `break`, `tbreak`, `delete`, `enable`, `disable`.

use crate::breakpoints::Resolvable;
use crate::options::CommandError;
use crate::place;
use crate::session::Session;
use crate::view::Outcome;

impl Session {
    pub(crate) fn set_breakpoint(
        &mut self,
        rest: &str,
        temporary: bool,
    ) -> Result<Outcome, CommandError> {
        let placed = place::parse(rest).map_err(CommandError::new)?;
        let condition = match &placed.condition {
            None => None,
            Some(text) => {
                let (expression, diagnostics) = juror_language::parse_expression(text);
                if let Some(error) = diagnostics.iter().find(|diagnostic| diagnostic.is_error()) {
                    return Err(CommandError {
                        message: format!("in the condition: {}", error.message),
                        help: error.help.clone(),
                    });
                }
                expression
            }
        };
        let place = self.resolvable(&placed.place)?;
        let resolved = place.resolve(self.modules());
        if resolved.addresses.is_empty()
            && let Resolvable::Function(name) = &place
        {
            self.check_function_name(name)?;
        }
        if resolved.addresses.is_empty()
            && let Resolvable::Line(file, line) = &place
            && self.is_source_file(file)
        {
            return Err(CommandError::new(format!(
                "there is no code at line {line} of {}, nor after it",
                file.rsplit('/').next().unwrap_or(file)
            )));
        }
        let text = if rest.is_empty() { "here" } else { rest };
        let program = self.program.as_mut();
        let number = self
            .breakpoints
            .add(program, text, place, condition, temporary)?;
        let kind = if temporary {
            "temporary breakpoint"
        } else {
            "breakpoint"
        };
        let mut message = match resolved.addresses.as_slice() {
            [] => format!(
                "{kind} {number} at {text}: no loaded module has it; it waits for one that does"
            ),
            [address] => format!("{kind} {number} at {}", self.place_words(*address)),
            several => format!("{kind} {number} at {text} ({} places)", several.len()),
        };
        if let Some(line) = resolved.moved_to_line {
            message.push_str(&format!(
                " (the line has no code; line {line} is the next that has)"
            ));
        }
        Ok(Outcome::Message(message))
    }

    fn place_words(&self, address: u64) -> String {
        let described = self.modules().describe(address);
        match (described.function, described.file, described.line) {
            (Some(function), Some(file), Some(line)) => {
                let file = file
                    .file_name()
                    .map(|name| name.to_string_lossy().into_owned());
                format!(
                    "{address:#x}: {function}, {}:{line}",
                    file.unwrap_or_default()
                )
            }
            (Some(function), ..) => format!("{address:#x}: {function}"),
            _ => format!("{address:#x}"),
        }
    }

    /// A name that nothing has is a slip when something near has one;
    /// otherwise it may belong to a library to come.
    fn check_function_name(&self, name: &str) -> Result<(), CommandError> {
        let mut names: Vec<String> = Vec::new();
        for module in self.modules().iter() {
            names.extend(module.symbols.function_names());
        }
        match juror_language::suggest(name, names.iter().map(String::as_str)) {
            Some(near) => Err(CommandError::with_help(
                format!("there is no function `{name}`"),
                format!("did you mean `{near}`?"),
            )),
            None => Ok(()),
        }
    }

    fn is_source_file(&self, file: &str) -> bool {
        let is_meant = |known: &std::path::Path| known.ends_with(file);
        self.modules().iter().any(|module| {
            module
                .symbols
                .source_files()
                .iter()
                .any(|known| is_meant(known))
        })
    }

    pub(crate) fn delete(&mut self, rest: &str) -> Result<Outcome, CommandError> {
        let numbers = self.split_watchpoints(numbers(rest)?, |session, number| {
            let program = session.program.as_mut();
            session.watchpoints.delete(program, number)?;
            let program = session.program.as_mut();
            Ok(session.hardware_breakpoints.delete(program, number)?)
        })?;
        let Some(numbers) = numbers else {
            return Ok(Outcome::Done);
        };
        let unknown = self.breakpoints.delete(self.program.as_mut(), &numbers)?;
        no_breakpoint(unknown)
    }

    pub(crate) fn enable(&mut self, rest: &str, enabled: bool) -> Result<Outcome, CommandError> {
        let numbers = self.split_watchpoints(numbers(rest)?, |session, number| {
            let program = session.program.as_mut();
            session.watchpoints.enable(program, number, enabled)?;
            let program = session.program.as_mut();
            let points = &mut session.hardware_breakpoints;
            Ok(points.enable(program, number, enabled)?)
        })?;
        let Some(numbers) = numbers else {
            return Ok(Outcome::Done);
        };
        let unknown = self
            .breakpoints
            .enable(self.program.as_mut(), &numbers, enabled)?;
        no_breakpoint(unknown)
    }
}

fn no_breakpoint(unknown: Option<u32>) -> Result<Outcome, CommandError> {
    match unknown {
        None => Ok(Outcome::Done),
        Some(number) => Err(CommandError::with_help(
            format!("there is no breakpoint {number}"),
            "see: info breakpoints",
        )),
    }
}

fn numbers(text: &str) -> Result<Vec<u32>, CommandError> {
    text.split_whitespace()
        .map(|word| {
            word.parse()
                .map_err(|_| CommandError::new(format!("`{word}` is not a number")))
        })
        .collect()
}
