//! Messages on location specs: the functions that a name means, and suggestions for an unknown
//! name.

use crate::inspect::locations;
use crate::inspect::locations::name_of;
use crate::session::Session;
use juror_fault::CommandError;
use juror_points::breakpoints::Resolvable;
use juror_program::modules::Bound;
use juror_program::stack::frames::usual_level;
use juror_view::CodePlaceView;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The limit of functions that are listed.
const NAMED_MAX: usize = 20;
/// The limit of characters of a listed name.
const NAME_LENGTH_MAX: usize = 120;

/// Returns the functions of a location spec that means several: the overloads of a name, the
/// instances of a template, the matches of a regular expression; and the number of those that are
/// left out. Copies of one function are not listed.
pub(crate) fn several_functions(
    session: &Session,
    place: &Resolvable,
    addresses: &[u64],
) -> (Vec<CodePlaceView>, usize) {
    let mut meant: Vec<CodePlaceView> = addresses
        .iter()
        .filter_map(|&address| meant_at(session, place, address))
        .collect();
    let names: BTreeSet<Option<&str>> = meant.iter().map(|it| it.function.as_deref()).collect();
    if names.len() < 2 {
        return (Vec::new(), 0);
    }
    let left_out = meant.len().saturating_sub(NAMED_MAX);
    meant.truncate(NAMED_MAX);
    (meant, left_out)
}

/// Describes a location. A function is named even if its body begins with code that was inlined
/// from elsewhere.
pub(crate) fn place_of_one(session: &Session, place: &Resolvable, address: u64) -> CodePlaceView {
    if let Some(view) = place_of_line(session, place, address) {
        return view;
    }
    let shown = session.modules().describe(address).function;
    let bound = session.modules().function_at(address);
    let is_other = bound.is_some_and(|bound| shown.as_deref() != Some(&*bound.function.name));
    let meant = meant_at(session, place, address);
    let meant = meant.filter(|it| is_other || it.caller.is_some());
    meant.unwrap_or_else(|| locations::place_view(session, address))
}

/// Describes the location of a line, if inlined calls or other lines begin at its address.
fn place_of_line(session: &Session, place: &Resolvable, address: u64) -> Option<CodePlaceView> {
    let modules = session.modules();
    let frames = modules.frames_at(address);
    let line = place.line_taken(modules)?;
    let frame = match place.level_in(&frames, Some(line)) {
        Some(level) if level == usual_level(&frames) => return None,
        Some(level) => frames.get(level)?,
        None => place.statement_among(&frames, line)?,
    };
    let (function, file) = frame.name.as_deref().zip(frame.file.as_deref())?;
    Some(CodePlaceView {
        address,
        function: Some(shortened(function)),
        caller: None,
        file: Some(name_of(file)),
        line: Some(line),
    })
}

/// Returns the function that a named location spec means at one of its addresses: one whose body
/// begins there, or an inlined one.
fn meant_at(session: &Session, place: &Resolvable, address: u64) -> Option<CodePlaceView> {
    let bound = session.modules().function_at(address)?;
    let Bound { module, function } = &bound;
    let at = module.to_file(address);
    let is_named = |name: &str| match place {
        Resolvable::Function(asked) | Resolvable::FunctionIn(_, asked) => {
            module.symbols.is_named_at(at, name, asked)
        }
        Resolvable::Matching(_, pattern) => pattern.is_match(name),
        _ => false,
    };
    let is_body = module.symbols.body_address(function) == at;
    if is_body && is_named(&function.name) {
        // The body may begin with code that was inlined from elsewhere.
        let own = session.modules().frame_at(address);
        let own = own.filter(|frame| !frame.is_inlined());
        let line = match own {
            Some(frame) => frame.file.zip(frame.line),
            None => {
                let opening = module.symbols.opening_line(function);
                opening.map(|line| (line.file.to_path_buf(), line.line))
            }
        };
        let (file, line) = line.unzip();
        return Some(CodePlaceView {
            address,
            function: Some(shortened(&with_parameters(&bound))),
            caller: None,
            file: file.as_deref().map(name_of),
            line,
        });
    }
    let inlined = module.symbols.inlined_frames(at).into_iter();
    let copy = inlined.filter(|frame| is_named(&frame.name)).last()?;
    let line = copy.call_file.as_deref().map(name_of).zip(copy.call_line);
    let (file, line) = line.unzip();
    Some(CodePlaceView {
        address,
        function: Some(shortened(&copy.name)),
        caller: Some(shortened(&function.name)),
        file,
        line,
    })
}

/// Checks an unknown name: it is a typing error if the program has a similar name; otherwise it may
/// belong to a library to be loaded. Among the thousand short names of the C library there is
/// always a similar one: those do not count.
///
/// # Errors
/// It is a typing error; the error suggests the similar name.
pub(crate) fn check_names(session: &Session, place: &Resolvable) -> Result<(), CommandError> {
    match place {
        Resolvable::Function(name) => check_function_name(session, name),
        Resolvable::FunctionIn(file, name) => {
            if let Some(error) = no_label(session, file, name) {
                return Err(error);
            }
            if !session.modules().definitions(name, |_| true).is_empty() {
                return Err(CommandError::with_help(
                    format!("`{name}` is not in {file}"),
                    format!("break {name} matches it in every file"),
                ));
            }
            check_function_name(session, name)
        }
        Resolvable::Matching(_, pattern) if session.processes.program.is_some() => {
            Err(CommandError::with_help(
                format!("no function with debug information matches `{pattern}`"),
                "info functions lists the names; ^ and $ match their beginnings and ends",
            ))
        }
        _ => Ok(()),
    }
}

/// Returns the error for a missing label; `None` if the function does not exist.
fn no_label(session: &Session, function: &str, label: &str) -> Option<CommandError> {
    let definitions = session.modules().definitions(function, |_| true);
    definitions.first()?;
    let labels = definitions
        .iter()
        .flat_map(|bound| bound.module.symbols.labels(&bound.function));
    let mut names: Vec<Arc<str>> = labels.map(|label| label.name).collect();
    names.sort();
    names.dedup();
    let message = format!("`{function}` has no label `{label}`");
    Some(if names.is_empty() {
        CommandError::new(message)
    } else {
        CommandError::with_help(message, format!("it has {}", names.join(", ")))
    })
}

fn check_function_name(session: &Session, name: &str) -> Result<(), CommandError> {
    let Some(main) = session.modules().main() else {
        return Ok(());
    };
    let unknown = || format!("there is no function `{name}`");
    // It exists with other parameters, or other template arguments.
    let plain = &*without_arguments(name);
    let known = |name: &str| {
        let known = session.modules().definitions(name, |module| module.is_main);
        let mut known: Vec<String> = known.iter().map(with_parameters).collect();
        known.sort();
        known.dedup();
        known
    };
    let mut near = if plain.len() < name.len() && !plain.is_empty() {
        known(plain)
    } else {
        Vec::new()
    };
    // It is in a module of that crate, and named here where it is re-exported.
    if near.is_empty()
        && let Some((first, _)) = plain.split_once("::")
        && let Some((_, last)) = plain.rsplit_once("::")
    {
        near = known(last);
        near.retain(|it| it.split("::").next() == Some(first));
    }
    if !near.is_empty() {
        near.truncate(NAMED_MAX);
        let help = format!("there is {}", near.join(", "));
        return Err(CommandError::with_help(unknown(), help));
    }
    let names: Vec<String> = main.symbols.function_names().collect();
    let scopes = plain.matches("::").count();
    let whole = names.iter().map(String::as_str);
    // A user hardly means the internals of a statically linked library.
    let is_own = |known: &&String| {
        let scope = known.split("::").next().unwrap_or(known);
        !matches!(scope, "std" | "core" | "alloc") && !scope.starts_with(['_', '<'])
    };
    let own = names.iter().filter(is_own);
    let ends = own.map(|known| ending(known, scopes));
    match juror_language::suggest(plain, whole.chain(ends)) {
        Some(near) => Err(CommandError::with_help(
            unknown(),
            format!("did you mean `{near}`?"),
        )),
        None => Ok(()),
    }
}

/// Shortens a name to fit into a line.
fn shortened(name: &str) -> String {
    match name.char_indices().nth(NAME_LENGTH_MAX) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.to_owned(),
    }
}

/// Removes template arguments and parameters from a name.
fn without_arguments(name: &str) -> String {
    let mut depth = 0usize;
    let mut plain = String::new();
    for c in name.replace("::<", "<").chars() {
        match c {
            '<' | '(' => depth += 1,
            '>' | ')' => depth = depth.saturating_sub(1),
            c if depth == 0 => plain.push(c),
            _ => {}
        }
    }
    plain.trim().trim_end_matches("::").to_owned()
}

fn with_parameters(bound: &Bound) -> String {
    bound.module.symbols.name_with_parameters(&bound.function)
}

/// Returns the end of a qualified name with this many scopes, as a user writes it.
fn ending(name: &str, scopes: usize) -> &str {
    let plain = name.split(['<', '(']).next().unwrap_or(name);
    let mut marks = plain.rmatch_indices("::").skip(scopes);
    marks.next().map_or(plain, |(at, _)| &plain[at + 2..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_shortened_to_the_scopes_that_were_written() {
        for (name, scopes, expected) in [
            ("ns::Shape::area", 0, "area"),
            ("ns::Shape::area", 1, "Shape::area"),
            ("ns::Shape::area", 5, "ns::Shape::area"),
            ("ns::max<std::pair<int, int> >", 0, "max"),
            ("main", 0, "main"),
        ] {
            assert_eq!(ending(name, scopes), expected, "{name}");
        }
    }

    #[test]
    fn arguments_are_left_out() {
        for (name, expected) in [
            ("ns::Stack<int>::push(int)", "ns::Stack::push"),
            ("max::<i32>", "max"),
            ("area(std::vector<int>)", "area"),
            ("<Square as Shape>::area", "::area"),
            ("main", "main"),
        ] {
            assert_eq!(without_arguments(name), expected, "{name}");
        }
    }
}
