//! `info functions`, `info variables`, `info types`, `info scope`, `info symbol`, `info line
//! PLACE`: names and their locations.

use crate::commands::examine;
use crate::inspect::{expressions, locations};
use crate::session::Session;
use juror_arch::dwarf;
use juror_fault::CommandError;
use juror_points::location_spec::LocationSpec;
use juror_points::matching::{functions_that_match, pattern};
use juror_program::modules::Module;
use juror_symbols::{FixedLocation, Variable};
use juror_values::format::Names as _;
use juror_view::{
    AddressView, EmptyView, LabelView, LineView, Listed, Location, NameView, Outcome,
    ScopeVariableView, ScopeView, StorageKind, StorageView, SymbolView,
};
use regex::Regex;

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
            _ => types(module, &pattern, &mut views),
        }
    }
    if listed == Listed::Types {
        // Modules share types.
        views.sort_by(|one: &NameView, other| one.name.cmp(&other.name));
        views.dedup();
    }
    if views.is_empty() {
        return Ok(Outcome::Empty(EmptyView {
            listed,
            pattern: Some(text.to_owned()).filter(|text| !text.is_empty()),
            has_debug_info: None,
        }));
    }
    Ok(Outcome::Names(views))
}

/// `info symbol ADDRESS`
pub(crate) fn symbol(session: &mut Session, text: &str) -> Result<Outcome, CommandError> {
    if text.is_empty() {
        return Err(CommandError::with_help(
            "`info symbol` needs an address",
            "for example: info symbol $rip",
        ));
    }
    let address = examine::address_of(session, text)?;
    let program = session.running()?;
    let module = program.modules.find(address);
    Ok(Outcome::Symbol(SymbolView {
        address,
        name: program.name_of(address),
        module: module.map(|module| module.name()),
    }))
}

/// `info address NAME`: the location of a variable or a function.
pub(crate) fn where_is(session: &mut Session, text: &str) -> Result<Outcome, CommandError> {
    if text.is_empty() {
        return Err(CommandError::with_help(
            "`info address` needs a variable or function",
            "for example: info address count",
        ));
    }
    let value = expressions::evaluate(session, text)?;
    let in_memory = value.address();
    let is_function =
        in_memory.is_none() && !session.modules().definitions(text, |_| true).is_empty();
    let address = if is_function {
        Some(examine::address_of(session, text)?)
    } else {
        in_memory
    };
    Ok(Outcome::Address(AddressView {
        expression: text.to_owned(),
        address,
        is_function,
    }))
}

/// `info line PLACE`: the addresses of a line.
pub(crate) fn line_of_place(session: &mut Session, text: &str) -> Result<Outcome, CommandError> {
    let placed = locations::parsed_alone(text)?;
    let views = lines_at(session, &placed.place)?;
    if views.is_empty() {
        Err(CommandError::new(format!("there is no code for `{text}`")))
    } else {
        Ok(Outcome::Lines(views))
    }
}

/// Returns the lines at the addresses of a location spec.
pub(crate) fn lines_at(
    session: &mut Session,
    place: &LocationSpec,
) -> Result<Vec<LineView>, CommandError> {
    let place = locations::resolvable(session, place)?;
    let resolved = place.resolve(session.modules());
    let mut views = Vec::new();
    for address in resolved.addresses {
        let Some(module) = session.modules().find(address) else {
            continue;
        };
        let Some(line) = module.symbols.line_at(module.to_file(address)) else {
            views.push(LineView {
                address,
                ..LineView::default()
            });
            continue;
        };
        let name = |at| match session.modules().describe(at) {
            it if it.offset == 0 => it.function,
            it => it.function.map(|name| format!("{name}+{}", it.offset)),
        };
        let start = module.to_process(line.range.start);
        let end = module.to_process(line.range.end);
        views.push(LineView {
            file: Some(line.file.display().to_string()),
            line: Some(line.line),
            compiler_generated: false,
            address: start,
            name: name(start),
            end_address: Some(end),
            end_name: name(end),
        });
    }
    Ok(views)
}

/// `info scope PLACE`: the variables in scope there.
pub(crate) fn scope(session: &mut Session, text: &str) -> Result<Outcome, CommandError> {
    let placed = locations::parsed_alone(text)?;
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
    let scopes = bound.module.symbols.locals_at(file_address);
    let variables = scopes.iter().flat_map(|scope| scope.variables.iter());
    let variables = variables.filter(|it| !it.name.is_empty());
    let labels = bound.module.symbols.labels(&bound.function).into_iter();
    Ok(Outcome::Scope(ScopeView {
        function: bound.function.name.to_string(),
        variables: variables
            .map(|variable| scope_variable(variable, file_address))
            .collect(),
        labels: labels
            .map(|label| LabelView {
                name: label.name.to_string(),
                line: label.line,
                file_address: label.address,
            })
            .collect(),
    }))
}

/// Returns a variable with its declaration and storage at the file address `pc`.
fn scope_variable(variable: &Variable, pc: u64) -> ScopeVariableView {
    ScopeVariableView {
        name: variable.name.to_string(),
        declaration: variable.r#type.declaration(&variable.name),
        is_parameter: variable.parameter,
        size_bytes: variable.r#type.size(),
        storage: storage(variable, pc),
    }
}

fn storage(variable: &Variable, pc: u64) -> StorageView {
    let of_kind = |kind| StorageView {
        kind,
        ..StorageView::default()
    };
    match variable.location.fixed_at(pc) {
        Some(FixedLocation::Register(number)) => StorageView {
            register: Some(dwarf::name(number)),
            ..of_kind(StorageKind::Register)
        },
        Some(FixedLocation::AtRegister { register, offset }) => StorageView {
            register: Some(dwarf::name(register)),
            offset_bytes: Some(offset),
            ..of_kind(StorageKind::RegisterOffset)
        },
        Some(FixedLocation::AtFrame(offset)) => StorageView {
            offset_bytes: Some(offset),
            ..of_kind(StorageKind::FrameOffset)
        },
        Some(FixedLocation::AtAddress(address)) => StorageView {
            file_address: Some(address),
            ..of_kind(StorageKind::Static)
        },
        Some(FixedLocation::Value(value)) => StorageView {
            value: Some(value),
            ..of_kind(StorageKind::Constant)
        },
        None if variable.location.is_nowhere() => of_kind(StorageKind::OptimizedOut),
        None => of_kind(StorageKind::Computed),
    }
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
