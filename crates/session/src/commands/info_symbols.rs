//! `info functions`, `info variables`, `info types`, `info scope`, `info
//! symbol`, `info line PLACE`: what has a name, and where it is.

use crate::commands::examine;
use crate::inspect::{expressions, locations};
use crate::session::Session;
use juror_points::location_spec;
use juror_points::matching::{functions_that_match, pattern};
use juror_program::modules::Module;
use juror_symbols::{FixedLocation, Variable, register_name};
use juror_values::format::Names as _;
use juror_view::error::CommandError;
use juror_view::{Location, NameView, Outcome};
use regex::Regex;

/// What is listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Listed {
    Functions,
    Variables,
    Types,
}

/// `info functions`, `info functions REGEX`, and the like.
pub(crate) fn names(
    session: &Session,
    listed: Listed,
    text: &str,
) -> Result<Outcome, CommandError> {
    let pattern = pattern(text).map_err(|message| {
        CommandError::with_help(message, "for example: info functions ^queue_")
    })?;
    let mut views = Vec::new();
    for module in session.modules().iter() {
        match listed {
            Listed::Functions => functions(module, &pattern, &mut views),
            Listed::Variables => variables(module, &pattern, &mut views),
            Listed::Types => types(module, &pattern, &mut views),
        }
    }
    if listed == Listed::Types {
        // Modules share types.
        views.sort_by(|one: &NameView, other| one.name.cmp(&other.name));
        views.dedup();
    }
    if views.is_empty() {
        let what = match listed {
            Listed::Functions => "function",
            Listed::Variables => "variable",
            Listed::Types => "type",
        };
        let matching = match text {
            "" => String::new(),
            text => format!(" whose name matches `{text}`"),
        };
        return Ok(Outcome::Message(format!("there is no {what}{matching}")));
    }
    Ok(Outcome::Names(views))
}

/// `info symbol ADDRESS`
pub(crate) fn symbol(session: &mut Session, text: &str) -> Result<Outcome, CommandError> {
    if text.is_empty() {
        return Err(CommandError::with_help(
            "which address?",
            "for example: info symbol $rip",
        ));
    }
    let address = examine::address_of(session, text)?;
    let program = session.running()?;
    let module = program.modules.find(address);
    let sentence = match (program.name_of(address), module) {
        (Some(name), Some(module)) => format!("{address:#x} is {name} in {}", module.name()),
        (None, Some(module)) => {
            format!("{address:#x} has no symbol; it is in {}", module.name())
        }
        (_, None) => format!("{address:#x} is in no module"),
    };
    Ok(Outcome::Message(sentence))
}

/// `info address NAME`: where a variable or a function is.
pub(crate) fn where_is(session: &mut Session, text: &str) -> Result<Outcome, CommandError> {
    if text.is_empty() {
        return Err(CommandError::with_help(
            "the address of what?",
            "for example: info address count",
        ));
    }
    let value = expressions::evaluate(session, text)?;
    let sentence = match value.address() {
        Some(address) => format!("{text} is at {address:#x}"),
        None if !session.modules().definitions(text, |_| true).is_empty() => {
            format!(
                "{text} is a function at {:#x}",
                examine::address_of(session, text)?
            )
        }
        None => format!("{text} is nowhere in memory: in a register, or known without one"),
    };
    Ok(Outcome::Message(sentence))
}

/// `info line PLACE`: where the code of a line is.
pub(crate) fn line_of_place(session: &mut Session, text: &str) -> Result<Outcome, CommandError> {
    let placed = location_spec::parse(text).map_err(CommandError::new)?;
    let place = locations::resolvable(session, &placed.place)?;
    let resolved = place.resolve(session.modules());
    let mut sentences = Vec::new();
    for address in resolved.addresses {
        let Some(module) = session.modules().find(address) else {
            continue;
        };
        let Some(line) = module.symbols.line_at(module.to_file(address)) else {
            sentences.push(format!("there is no line information for {address:#x}"));
            continue;
        };
        let name = |at| match session.modules().describe(at) {
            it if it.offset == 0 => it.function,
            it => it.function.map(|name| format!("{name}+{}", it.offset)),
        };
        let shown = |at| match name(at) {
            Some(name) => format!("{at:#x} <{name}>"),
            None => format!("{at:#x}"),
        };
        let file = line.file.file_name().unwrap_or(line.file.as_os_str());
        sentences.push(format!(
            "line {} of {} begins at {} and ends before {}",
            line.line,
            file.display(),
            shown(module.to_process(line.range.start)),
            shown(module.to_process(line.range.end)),
        ));
    }
    if sentences.is_empty() {
        return Err(CommandError::new(format!("there is no code for `{text}`")));
    }
    Ok(Outcome::Message(sentences.join("\n")))
}

/// `info scope PLACE`: the variables that can be named there.
pub(crate) fn scope(session: &mut Session, text: &str) -> Result<Outcome, CommandError> {
    let placed = location_spec::parse(text).map_err(CommandError::new)?;
    let place = locations::resolvable(session, &placed.place)?;
    let addresses = place.resolve(session.modules()).addresses;
    let Some(bound) = addresses
        .first()
        .and_then(|&address| Some((address, session.modules().function_at(address)?)))
    else {
        return Err(CommandError::new(format!("there is no code for `{text}`")));
    };
    let (address, bound) = bound;
    let file_address = bound.module.to_file(address);
    let mut lines = Vec::new();
    for scope in bound.module.symbols.locals_at(file_address) {
        for variable in scope.variables.iter().filter(|it| !it.name.is_empty()) {
            lines.push(variable_words(variable, file_address));
        }
    }
    for label in bound.module.symbols.labels(&bound.function) {
        let line = label.line.map(|line| format!(", line {line}"));
        lines.push(format!(
            "label {}{}, at {:#x} of the file",
            label.name,
            line.unwrap_or_default(),
            label.address
        ));
    }
    if lines.is_empty() {
        return Ok(Outcome::Message(format!(
            "no variables are known in {}",
            bound.function.name
        )));
    }
    Ok(Outcome::Message(lines.join("\n")))
}

/// A variable with its type, and where it is kept.
fn variable_words(variable: &Variable, pc: u64) -> String {
    let what = match variable.parameter {
        true => "parameter",
        false => "variable",
    };
    let size = match variable.r#type.size() {
        Some(1) => ", 1 byte".to_owned(),
        Some(size) => format!(", {size} bytes"),
        None => String::new(),
    };
    let place = match variable.location.fixed_at(pc) {
        Some(FixedLocation::Register(number)) => format!("in ${}", register_name(number)),
        Some(FixedLocation::AtRegister { register, offset }) => {
            format!("in memory at ${}{offset:+}", register_name(register))
        }
        Some(FixedLocation::AtFrame(offset)) => {
            format!("in memory at the canonical frame address {offset:+}")
        }
        Some(FixedLocation::AtAddress(address)) => format!("in memory at {address:#x} of the file"),
        Some(FixedLocation::Value(value)) => format!("nowhere; it is {value}"),
        None if variable.location.is_nowhere() => "optimized out".to_owned(),
        None => "in a place that is computed".to_owned(),
    };
    let declaration = variable.r#type.declaration(&variable.name);
    format!("{what} {declaration}{size}, {place}")
}

fn functions(module: &Module, pattern: &Regex, views: &mut Vec<NameView>) {
    let mut found: Vec<NameView> = functions_that_match(module, pattern)
        .map(|function| NameView {
            location: Some(located(module, function.low_pc, &function.name)),
            name: function.name.to_string(),
            type_name: String::new(),
        })
        .collect();
    found.sort_by(|one, other| one.name.cmp(&other.name));
    views.append(&mut found);
}

fn variables(module: &Module, pattern: &Regex, views: &mut Vec<NameView>) {
    let symbols = &module.symbols;
    let mut names = symbols.global_names();
    names.retain(|name| pattern.is_match(name));
    for name in names {
        for variable in symbols.globals_named(&name) {
            if *variable.name != *name {
                continue;
            }
            let address = match variable.location.fixed_at(0) {
                Some(FixedLocation::AtAddress(address)) => Some(address),
                _ => None,
            };
            views.push(NameView {
                type_name: variable.r#type.name(),
                location: address.map(|address| Location {
                    address: module.to_process(address),
                    line: variable.line,
                    module: Some(module.name()),
                    ..Location::default()
                }),
                name: name.clone(),
            });
        }
    }
}

fn types(module: &Module, pattern: &Regex, views: &mut Vec<NameView>) {
    for name in module.symbols.type_names() {
        if !name.is_empty() && pattern.is_match(&name) {
            views.push(NameView {
                name,
                type_name: String::new(),
                location: None,
            });
        }
    }
}

fn located(module: &Module, file_address: u64, name: &str) -> Location {
    let line = module.symbols.line_at(file_address);
    Location {
        address: module.to_process(file_address),
        function: Some(name.to_owned()),
        offset: 0,
        file: line.as_ref().map(|line| line.file.display().to_string()),
        line: line.map(|line| line.line).filter(|&line| line != 0),
        near: None,
        module: Some(module.name()),
    }
}
