//! The capabilities of scenarios: what they may do by themselves, and what needs a
//! permission.
//!
//! A scenario may look at everything, let the program run, set points, and change
//! variables of the program, since properties and their reactions come from files that
//! are shared. It may not reach out of the program, nor make it run code that it would
//! not run: for that the user gives a permission ([`Permissions`]).
//!
//! **Invariant**: what is not known here is refused. Every command of the table has its
//! row in [`need`], and every assignment of a command passes [`permit_assignment`].

use crate::command_table;
use crate::command_table::arguments;
use crate::command_table::entry::Entry;
use crate::command_table::setting_names::{setting_name, setting_value};
use crate::commands::dump_restore::is_from_file;
use crate::commands::info_graph::is_picture;
use crate::inspect::expressions;
use crate::options::Permissions;
use crate::run::scenarios::addresses;
use crate::session::Session;
use crate::state::command_line::CommandLine;
use juror_fault::CommandError;
use juror_language::{Expression, ExpressionKind, UnaryOperator};
use juror_symbols::TypeKind;
use juror_values::typed::{Location, Typed};

/// What a command needs to be executed for a scenario.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Need {
    /// Nothing: it looks, lets the program run, or changes what belongs to juror.
    Nothing,
    /// Permission to read and write files; what it does with them.
    Files(&'static str),
    /// Permission to run other code; what it does.
    Programs(&'static str),
    /// Both permissions; what it does.
    Both(&'static str),
    /// It asks for more lines.
    Lines,
}

/// Returns the need of a command; none if the command is not known here, and then it is
/// refused.
fn need(entry: &Entry, rest: &str) -> Option<Need> {
    let first = rest.split_whitespace().next().unwrap_or("");
    let any_picture = || rest.split_whitespace().any(is_picture);
    Some(match entry.name {
        // Running. The functions that an expression calls are refused where they are
        // called (`permit_calls`).
        "run" | "start" | "starti" if has_arguments(rest) => need_of_arguments(rest),
        "run" | "start" | "starti" if redirects(rest) => Need::Files("redirects to a file"),
        "run" | "start" | "starti" | "abandon" | "advance" | "call" | "continue" | "detach"
        | "finish" | "goto" | "kill" | "last-write" | "next" | "nexti" | "queue-signal"
        | "quit" | "restart-frame" | "return" | "reverse-continue" | "reverse-finish"
        | "reverse-next" | "reverse-nexti" | "reverse-step" | "reverse-stepi" | "signal"
        | "step" | "stepi" | "until" | "why" => Need::Nothing,
        "record" => Need::Files("writes a file"),
        "jump" => Need::Programs("makes the program run other code"),
        "attach" => Need::Programs("takes over another program"),
        // Looking.
        "apropos" | "backtrace" | "disassemble" | "display" | "down" | "echo" | "faas" | "find"
        | "frame" | "help" | "list" | "output" | "print" | "printf" | "process" | "ptype"
        | "pwd" | "schedule" | "select-frame" | "show" | "taas" | "thread" | "undisplay" | "up"
        | "whatis" | "x" => Need::Nothing,
        "info" | "show-graph" if any_picture() => Need::Files("writes a file"),
        "info" | "show-graph" => Need::Nothing,
        // Points.
        "awatch" | "break" | "catch" | "change" | "clear" | "condition" | "delete" | "disable"
        | "dprintf" | "enable" | "handle" | "hbreak" | "ignore" | "rbreak" | "rwatch" | "skip"
        | "tbreak" | "tcatch" | "thbreak" | "watch" => Need::Nothing,
        "commands" | "document" | "group" => Need::Lines,
        // Properties, scenarios, checkpoints.
        "monitor" => Need::Nothing,
        "property" | "scenario" if matches!(first, "add" | "load") => Need::Files("reads a file"),
        "property" | "scenario" => Need::Nothing,
        "checkpoint" => Need::Nothing,
        "restore" if is_from_file(rest) => Need::Both("writes a file into the program's memory"),
        "restore" => Need::Nothing,
        // Files and settings.
        "cd" => Need::Files("changes the directory of files"),
        "core-file" => Need::Files("reads a file"),
        "dump" | "generate-core-file" => Need::Files("writes a file"),
        "save" if !rest.is_empty() => Need::Files("writes a file"),
        "save" => Need::Nothing,
        "shell" => Need::Programs("runs another program"),
        "source" => Need::Both("executes any commands of a file"),
        "views" if !rest.is_empty() => Need::Files("reads a file"),
        "views" => Need::Nothing,
        "set" | "unset" => return need_of_setting(rest),
        _ => return None,
    })
}

/// Returns the need of `set` and `unset`. An assignment needs nothing here: it is judged
/// by what it changes.
fn need_of_setting(rest: &str) -> Option<Need> {
    Some(match setting_name(rest) {
        None => Need::Nothing,
        Some("args") if has_arguments(setting_value(rest)) => {
            need_of_arguments(setting_value(rest))
        }
        Some("args") if redirects(setting_value(rest)) => Need::Files("redirects to a file"),
        Some("environment") => Need::Programs("changes what the program is started with"),
        Some("cwd") => Need::Programs("changes where the program is started"),
        Some("debug-file-directory" | "substitute-path" | "checkpoint-files") => {
            Need::Files("says where files are")
        }
        Some(
            "allow-unbound"
            | "args"
            | "at-inlined"
            | "checkpoint-namespace"
            | "confirm"
            | "context"
            | "disable-randomization"
            | "follow-fork-mode"
            | "height"
            | "ignore-inlined"
            | "listsize"
            | "pagination"
            | "print elements"
            | "print pretty"
            | "scheduler-locking"
            | "style enabled"
            | "style sources"
            | "width",
        ) => Need::Nothing,
        Some(_) => return None,
    })
}

/// Checks whether a scenario may run a command.
///
/// # Errors
/// It may not; the reason, and how to allow it.
pub(crate) fn check(line: &str, allowed: Permissions) -> Result<(), CommandError> {
    let own = command_table::translated(line);
    let (word, rest) = arguments::split_line(own.as_deref().unwrap_or(line));
    match command_table::find(word) {
        Ok(entry) => check_entry(entry, rest, allowed),
        // The command itself says that there is none.
        Err(_) => Ok(()),
    }
}

/// As [`check`], for a command that has been found.
pub(crate) fn check_entry(
    entry: &Entry,
    rest: &str,
    allowed: Permissions,
) -> Result<(), CommandError> {
    let name = entry.name;
    let refused = |what: &str, by: &str| {
        Err(CommandError::with_help(
            format!("`{name}` {what}, which scenarios may not"),
            format!("start juror with {by} to let them"),
        ))
    };
    match need(entry, rest) {
        Some(Need::Nothing) => Ok(()),
        Some(Need::Files(what)) if !allowed.files => refused(what, "--allow-files"),
        Some(Need::Programs(what)) if !allowed.programs => refused(what, "--allow-programs"),
        Some(Need::Both(what)) if !(allowed.files && allowed.programs) => {
            refused(what, "--allow-files and --allow-programs")
        }
        Some(Need::Files(_) | Need::Programs(_) | Need::Both(_)) => Ok(()),
        Some(Need::Lines) => Err(CommandError::with_help(
            format!("`{name}` asks for more lines, which a reaction does not have"),
            "a point has its reaction in braces: break queue_push { print \"pushed\" }",
        )),
        None => Err(CommandError::new(format!(
            "`{name}` is not among the commands of scenarios"
        ))),
    }
}

/// Whether a place may be given a value now: a number in a variable of the program, in a
/// field or an element of one, or null in a pointer.
///
/// # Errors
/// It is done for a scenario, which may change nothing else; how it can be allowed.
pub(crate) fn permit_assignment(
    session: &mut Session,
    place: &Expression,
    target: Option<&Typed>,
    bytes: &[u8],
) -> Result<(), CommandError> {
    if !session.scenarios.acts || session.options.permissions.programs {
        return Ok(());
    }
    let is_null = bytes.iter().all(|&byte| byte == 0);
    let is_plain = target.is_some_and(|target| {
        target.bits.is_some()
            || match target.r#type.strip().kind() {
                TypeKind::Base(_) | TypeKind::Enumeration { .. } => true,
                TypeKind::Pointer(_) => is_null,
                _ => false,
            }
    });
    if is_plain && is_named_object(session, place) {
        let is_pointer = target.is_some_and(|it| it.r#type.strip().is_pointer());
        if is_pointer || !changes_address(session, place, target, bytes) {
            return Ok(());
        }
        Err(CommandError::with_help(
            "scenarios may change only numbers, and these bytes are an address, or a part of \
             one, or would be: it can make the program run anything",
            "start juror with --allow-programs to let them",
        ))
    } else {
        Err(CommandError::with_help(
            "scenarios may change only numbers, and pointers to null, in variables of the \
             program, their fields and their elements; other changes can make it run \
             anything",
            "start juror with --allow-programs to let them",
        ))
    }
}

/// Returns true if a place is in the bytes of an address.
fn changes_address(
    session: &mut Session,
    place: &Expression,
    target: Option<&Typed>,
    bytes: &[u8],
) -> bool {
    let Some(Location::Memory(address)) = target.map(|it| &it.location) else {
        return false;
    };
    let end = address.saturating_add(bytes.len() as u64);
    addresses::overlies_pointer(session, place, &(*address..end))
        || addresses::are_address(session, *address, bytes)
}

/// Returns true if a place is a variable, what it points to, a field of such an object, or
/// an element within its array.
fn is_named_object(session: &mut Session, place: &Expression) -> bool {
    let mut place = place;
    loop {
        match &place.kind {
            ExpressionKind::Name(_) => return true,
            ExpressionKind::Field { object, .. } => place = object,
            ExpressionKind::Unary {
                operator: UnaryOperator::Dereference,
                operand,
            } => place = operand,
            ExpressionKind::Index { object, .. } => {
                if !is_within(session, object, place) {
                    return false;
                }
                place = object;
            }
            _ => return false,
        }
    }
}

/// Returns true if an element is one of its collection: those of arrays are counted, and
/// those of containers checked when they are evaluated; of a pointer nobody knows how many
/// there are.
fn is_within(session: &mut Session, object: &Expression, element: &Expression) -> bool {
    let (Ok(object), Ok(element)) = (
        expressions::evaluate_expression(session, object),
        expressions::evaluate_expression(session, element),
    ) else {
        return false;
    };
    match object.r#type.strip().kind() {
        TypeKind::Array { .. } => {
            let length = object.r#type.strip().size().unwrap_or(0);
            let size = element.r#type.strip().size().unwrap_or(0);
            let (Location::Memory(from), Location::Memory(at)) =
                (&object.location, &element.location)
            else {
                return false;
            };
            let end = at.checked_add(size);
            *at >= *from && end.is_some_and(|end| end <= from.saturating_add(length))
        }
        TypeKind::Composite(_) => true,
        _ => false,
    }
}

/// Returns the need of other arguments of the program: a shell, an interpreter and many other
/// programs run what their arguments say.
fn need_of_arguments(rest: &str) -> Need {
    const WHAT: &str = "gives the program other arguments, which may be commands";
    if redirects(rest) {
        Need::Both(WHAT)
    } else {
        Need::Programs(WHAT)
    }
}

/// Returns whether a program is given arguments.
fn has_arguments(rest: &str) -> bool {
    CommandLine::parse(rest).is_ok_and(|line| !line.arguments.is_empty())
}

/// Returns whether the arguments of a program redirect its standard streams.
fn redirects(rest: &str) -> bool {
    let given = CommandLine::parse(rest);
    given.is_ok_and(|line| !line.redirections.is_empty())
}

/// Runs an action of a scenario, with its permissions.
pub(crate) fn for_scenario<T>(session: &mut Session, act: impl FnOnce(&mut Session) -> T) -> T {
    let before = std::mem::replace(&mut session.scenarios.acts, true);
    let done = act(session);
    session.scenarios.acts = before;
    done
}

/// Checks whether functions of the program may be called by the present action, or later by a
/// condition that it sets.
///
/// # Errors
/// It is a scenario's, which may not; how to allow it.
pub(crate) fn permit_calls(session: &Session) -> Result<(), CommandError> {
    if session.scenarios.acts && !session.options.permissions.programs {
        return Err(CommandError::with_help(
            "this calls a function of the program, which scenarios may not do",
            "start juror with --allow-programs to allow it",
        ));
    }
    Ok(())
}

/// Checks whether a condition that is set by the present action may have its effects later, at a
/// hit.
///
/// # Errors
/// It calls functions, or assigns, and is a scenario's, which may not; how to allow it.
pub(crate) fn permit_effects(
    session: &Session,
    condition: &Expression,
) -> Result<(), CommandError> {
    if condition.calls_functions() {
        permit_calls(session)?;
    }
    if condition.assigns() && session.scenarios.acts && !session.options.permissions.programs {
        return Err(CommandError::with_help(
            "this condition changes a variable at each hit, which those of scenarios may not do",
            "start juror with --allow-programs to allow it",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_line(line: &str, files: bool, programs: bool, refused: Option<&str>) {
        let allowed = Permissions { files, programs };
        match (check(line, allowed), refused) {
            (Ok(()), None) => {}
            (Err(error), Some(words)) => {
                assert!(error.message.contains(words), "{line}: {}", error.message);
            }
            (result, _) => panic!("{line}: {result:?}"),
        }
    }

    /// A command that is added to the table is refused until its need is stated here.
    #[test]
    fn the_need_of_every_command_is_stated() {
        for entry in command_table::TABLE.iter() {
            let lines = entry.examples.iter().map(|(typed, _)| *typed);
            for line in lines.chain([entry.name]) {
                let (_, rest) = arguments::split_line(line);
                assert!(need(entry, rest).is_some(), "{line}");
            }
        }
    }

    /// A setting that is added is refused until its need is stated here.
    #[test]
    fn the_need_of_every_setting_is_stated() {
        for (name, _) in command_table::setting_names::SETTINGS {
            assert!(need_of_setting(name).is_some(), "{name}");
        }
    }

    /// What each command of the table says by its examples: those that reach out, and
    /// nothing else, need a permission, and one permission does not stand for the other.
    #[test]
    fn examples_that_reach_out_are_refused() {
        let none = Permissions::default();
        let files = Permissions {
            files: true,
            ..none
        };
        let programs = Permissions {
            programs: true,
            ..none
        };
        let mut refused = std::collections::BTreeSet::new();
        for entry in command_table::TABLE.iter() {
            for (line, _) in entry.examples {
                let (word, _) = arguments::split_line(line);
                if !command_table::find(word).is_ok_and(|it| it.name == entry.name)
                    || check(line, none).is_ok()
                {
                    continue;
                }
                refused.insert(entry.name);
                let allowed = [files, programs].map(|it| check(line, it).is_ok());
                assert_ne!(allowed, [true, true], "{line}");
            }
        }
        let refused: Vec<_> = refused.into_iter().collect();
        assert_eq!(
            refused,
            [
                "attach",
                "cd",
                "commands",
                "core-file",
                "document",
                "dump",
                "generate-core-file",
                "group",
                "jump",
                "property",
                "record",
                "restore",
                "run",
                "save",
                "scenario",
                "set",
                "shell",
                "show-graph",
                "source",
                "unset",
                "views",
            ]
        );
    }

    #[test]
    fn what_reaches_out_must_be_allowed() {
        check_line("info threads", false, false, None);
        check_line("print x", false, false, None);
        check_line("property add a.prop", false, true, Some("reads a file"));
        check_line("property add a.prop", true, false, None);
        check_line("property enable p", false, false, None);
        check_line("property remove p", false, false, None);
        for line in [
            "continue", "next", "fin", "until 3", "kill", "quit", "detach",
        ] {
            check_line(line, false, false, None);
        }
        check_line("run", false, false, None);
        check_line("run a b", true, false, Some("other arguments"));
        check_line("start -c 'touch it'", true, false, Some("other arguments"));
        check_line("run a b", false, true, None);
        check_line("run a > out", true, false, Some("other arguments"));
        check_line("run a > out", true, true, None);
        check_line("set args a", true, false, Some("other arguments"));
        check_line("set args", false, false, None);
        check_line("run > out", false, true, Some("redirects to a file"));
        check_line("start < in", true, false, None);
        check_line("attach 3", true, false, Some("takes over another program"));
        check_line("attach 3", false, true, None);
        check_line("scenario disable s", false, false, None);
        check_line("load-scenario s.scn", false, true, Some("reads a file"));
        check_line("shell ls", true, false, Some("runs another program"));
        check_line("!ls", true, false, Some("runs another program"));
        check_line("shell ls", false, true, None);
        check_line("dump value f x", false, true, Some("writes a file"));
        check_line("save breakpoints f", false, true, Some("writes a file"));
        check_line("save", false, false, None);
        check_line("source f", false, true, Some("any commands of a file"));
        check_line("source f", true, false, Some("any commands of a file"));
        check_line("source f", true, true, None);
        check_line("commands 1", true, true, Some("more lines"));
        check_line("frobnicate", false, false, None);
    }
}
