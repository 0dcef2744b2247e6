//! Checks whether a scenario may execute a command.

use crate::command_table;
use crate::command_table::arguments;
use crate::commands::dump_restore::is_from_file;
use crate::options::Permissions;
use crate::session::Session;
use crate::state::command_line::CommandLine;
use juror_view::error::CommandError;

/// Checks whether a scenario may run a command.
///
/// # Errors
/// It may not; the reason, and how to allow it.
pub(crate) fn check(line: &str, allowed: Permissions) -> Result<(), CommandError> {
    let own = command_table::translated(line);
    let (word, rest) = arguments::split_line(own.as_deref().unwrap_or(line));
    let Ok(entry) = command_table::find(word) else {
        return Ok(());
    };
    let refuse_file = |what: &str| match allowed.files {
        true => Ok(()),
        false => Err(CommandError::with_help(
            format!("`{}` {what}, which scenarios may not do", entry.name),
            "start juror with --allow-files to allow it",
        )),
    };
    match entry.name {
        "run" | "start" | "starti" if redirects(rest) => refuse_file("redirects to a file"),
        "attach" if !allowed.programs => Err(CommandError::with_help(
            "`attach` takes over another program, which scenarios may not do",
            "start juror with --allow-programs to allow it",
        )),
        "shell" if !allowed.programs => Err(CommandError::with_help(
            "`shell` runs another program, which scenarios may not do",
            "start juror with --allow-programs to allow it",
        )),
        "dump" => refuse_file("writes a file"),
        "restore" if is_from_file(rest) => refuse_file("reads a file"),
        "save" if !rest.is_empty() => refuse_file("writes a file"),
        "source" if !(allowed.files && allowed.programs) => Err(CommandError::with_help(
            "`source` executes any commands of a file, which scenarios may not do",
            "start juror with --allow-files and --allow-programs to allow it",
        )),
        "commands" | "group" => Err(CommandError::with_help(
            format!(
                "`{}` reads more lines, which a reaction does not have",
                entry.name
            ),
            "a point has its reaction in braces: break queue_push { print \"pushed\" }",
        )),
        "scenario" if rest.starts_with("load") || rest.starts_with("add") => {
            refuse_file("reads a file")
        }
        "property" if rest.starts_with("add") => refuse_file("reads a file"),
        "views" if !rest.is_empty() => refuse_file("reads a file"),
        "show-graph" | "info"
            if rest
                .split_whitespace()
                .any(crate::commands::info_graph::is_picture) =>
        {
            refuse_file("writes a file")
        }
        _ => Ok(()),
    }
}

/// Returns whether the arguments of a program redirect its standard streams.
fn redirects(rest: &str) -> bool {
    let given = CommandLine::parse(rest);
    given.is_ok_and(|line| !line.redirections.is_empty())
}

/// Runs an action of a scenario, with its permissions.
pub(super) fn for_scenario<T>(session: &mut Session, act: impl FnOnce(&mut Session) -> T) -> T {
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
        check_line("run a b", false, false, None);
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
