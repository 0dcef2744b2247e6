//! Checks the lines of blocks before any of them is executed: their commands exist, and so do the
//! functions and variables of juror in their conditions.
//!
//! Only what cannot become right later is refused: a command may be defined further down in the
//! same file, and a variable may be set by an earlier line.

use crate::command_table;
use crate::command_table::arguments::{is_flag, split_line};
use crate::command_table::words::find;
use crate::commands::blocks::WORDS;
use crate::commands::convenience;
use crate::script::parse::{Kind, condition_of, nested_lines};
use crate::session::Session;
use crate::state::breakpoint_commands::{Purpose, SILENT};
use juror_fault::CommandError;
use juror_language::ExpressionKind;
use juror_points::expressions::read_with_types;
use juror_values::expression::BUILT_IN_NAMES;

/// The variables that juror sets.
const OWN_VARIABLES: [&str; 6] = ["_", "__", "_exitcode", "_inferior", "_siginfo", "_thread"];

/// Checks a line of the block that is being entered.
///
/// # Errors
/// It could only fail.
pub(crate) fn check_given(session: &Session, line: &str) -> Result<(), CommandError> {
    let commands = &session.points.commands;
    let Some(given) = commands.given() else {
        return check_line(session, line, "");
    };
    let is_first = given.parser.lines().is_empty();
    let is_silent = is_first && matches!(given.purpose, Purpose::Points(_)) && line == SILENT;
    if given.parser.is_in_text() || is_silent {
        return Ok(());
    }
    check_line(session, line, &given.parser.lines().join("\n"))
}

/// Checks the lines of a file that are within blocks. Notes the commands that it defines.
///
/// # Errors
/// The number of the first one that could only fail, and why.
pub(crate) fn check_file(session: &mut Session, text: &str) -> Result<(), (usize, CommandError)> {
    let defined = text.lines().filter_map(|line| {
        let (word, rest) = split_line(line.trim());
        let entry = command_table::find(word).ok()?;
        (entry.name == "group" && !rest.is_empty()).then(|| rest.trim().to_owned())
    });
    session.points.commands.promised.extend(defined);
    // Another file may define more.
    let begins_others = |line: &str| {
        let entry = command_table::find(split_line(line.trim()).0);
        entry.is_ok_and(|entry| entry.name == "source")
    };
    if text.lines().any(begins_others) {
        return Ok(());
    }
    for (number, line) in nested_lines(text, WORDS) {
        if line != SILENT {
            check_line(session, line, text).map_err(|error| (number, error))?;
        }
    }
    Ok(())
}

/// Checks a line; `before` has what may set variables.
fn check_line(session: &Session, line: &str, before: &str) -> Result<(), CommandError> {
    match (WORDS.kind_of)(line) {
        Kind::If | Kind::While => check_condition(session, condition_of(line), before),
        Kind::Line | Kind::List | Kind::Text => check_command(session, line),
        _ => Ok(()),
    }
}

fn check_command(session: &Session, line: &str) -> Result<(), CommandError> {
    let own = command_table::translated(line);
    let line = own.as_deref().unwrap_or(line);
    let (word, rest) = split_line(line);
    // An argument of a defined command may be the name.
    if word.is_empty() || word.contains('$') || is_defined(session, line, word) {
        return Ok(());
    }
    let entry = find(word)?;
    match applied(entry.name, rest) {
        Some(line) => check_command(session, line),
        None => Ok(()),
    }
}

/// Returns whether a word is, or will be, a command that the user defines.
fn is_defined(session: &Session, line: &str, word: &str) -> bool {
    let commands = &session.points.commands;
    let own = commands.given().map(|given| &given.purpose);
    let own = own.and_then(|purpose| match purpose {
        Purpose::Define(name) => Some(name),
        _ => None,
    });
    let mut promised = commands.promised.iter().chain(own);
    commands.name_in(line).is_some() || promised.any(|name| name.starts_with(word))
}

/// Returns the command that `thread apply`, `frame apply` and the like execute.
fn applied<'l>(name: &str, rest: &'l str) -> Option<&'l str> {
    let mut rest = match (name, split_line(rest)) {
        ("thread" | "frame", ("apply", after)) => after,
        ("faas" | "taas" | "tfaas", _) => rest,
        _ => return None,
    };
    loop {
        let (word, after) = split_line(rest);
        let is_number = |c: char| c.is_ascii_digit() || matches!(c, '-' | '.' | '*');
        let selects = matches!(word, "all" | "level") || word.chars().all(is_number);
        if word.is_empty() {
            return None;
        }
        if !selects && !is_flag(word) {
            return Some(rest);
        }
        rest = after;
    }
}

/// Checks the names of juror in a condition. Whether it can be evaluated depends on the place where
/// the program stops.
fn check_condition(session: &Session, text: &str, before: &str) -> Result<(), CommandError> {
    if text.contains("$arg") {
        return Ok(());
    }
    // Its types may be known later.
    let Ok(expression) = read_with_types(text, &[]) else {
        return Ok(());
    };
    convenience::check_functions(&expression)?;
    for part in expression.all_parts() {
        let ExpressionKind::Register(name) = &part.kind else {
            continue;
        };
        let is_function = BUILT_IN_NAMES.contains(&&**name);
        if name.starts_with('_') && !is_function && !is_set(session, name, before) {
            return Err(CommandError::with_help(
                format!("no convenience variable is named `${name}`"),
                format!("set ${name} = 3 creates it; show convenience lists them"),
            ));
        }
    }
    Ok(())
}

/// Returns whether a variable is set, or may be by an earlier line or a defined command.
fn is_set(session: &Session, name: &str, before: &str) -> bool {
    let commands = session.points.commands.defined.values();
    let mut lines = commands.flat_map(|defined| &defined.block.lines);
    let text = format!("${name}");
    let sets = |lines: &str| lines.lines().any(|it| it.contains(&text) && is_setting(it));
    OWN_VARIABLES.contains(&name)
        || session.user.values.named.contains_key(name)
        || sets(before)
        || lines.any(|line| sets(line))
}

/// Returns whether a line may set a variable: it is no condition.
fn is_setting(line: &str) -> bool {
    !matches!((WORDS.kind_of)(line.trim()), Kind::If | Kind::While)
}

#[cfg(test)]
mod tests {
    use super::applied;

    #[test]
    fn the_command_is_behind_what_it_is_applied_to() {
        for (name, rest, expected) in [
            ("thread", "apply all -s print x", Some("print x")),
            ("thread", "apply 1-3 2.1 next", Some("next")),
            (
                "frame",
                "apply level 2-3 -q info locals",
                Some("info locals"),
            ),
            ("frame", "apply -2 frob", Some("frob")),
            ("faas", "print i", Some("print i")),
            ("thread", "apply all", None),
            ("thread", "2", None),
            ("frame", "function main", None),
            ("print", "apply", None),
        ] {
            assert_eq!(applied(name, rest), expected, "{name} {rest}");
        }
    }
}
