//! `commands`, `define` and `document`, and blocks with `if` and `while`.
//!
//! The lines are entered one by one, up to `end`; the front end reads them at a prompt of their
//! own. It takes the lines to execute from [`Session::next_queued_command`] and executes each as if
//! it had been typed. As in gdb, the commands of a point after one that resumes the program, and
//! all commands after an error, are dropped.

use crate::command_table;
use crate::command_table::arguments;
use crate::commands::block_lines;
use crate::run::points;
use crate::script::run::Origin;
use crate::session::Session;
use crate::state::breakpoint_commands::{Defined, Purpose};
use juror_fault::CommandError;
use juror_points::point::whole_points;
use juror_view::{CommandGroupView, CommandHelp, Outcome};

/// The beginnings of the names of hooks.
const HOOKS: [&str; 2] = ["hookpost-", "hook-"];

/// `commands`, `commands N`: for the last point without a number.
pub(crate) fn begin_commands(session: &mut Session, rest: &str) -> Result<Outcome, CommandError> {
    let numbers = match rest {
        "" => vec![session.points.breakpoints.last_number()],
        "$bpnum" => vec![session.points.breakpoints.last_number()],
        _ => whole_points(rest)?,
    };
    for &number in &numbers {
        if points::point(session, number)?.prints.is_some() {
            return Err(CommandError::with_help(
                format!("{number} is a dprintf: it cannot have commands"),
                "set a breakpoint at the same location: break",
            ));
        }
    }
    let commands = &mut session.points.commands;
    commands.begin_input(Purpose::Points(numbers));
    Ok(Outcome::Done)
}

/// `define`, `define NAME`: defines a command from the lines that follow.
pub(crate) fn define(session: &mut Session, name: &str) -> Result<Outcome, CommandError> {
    if name.is_empty() {
        return defined(session);
    }
    check_name(name)?;
    let purpose = Purpose::Define(name.to_owned());
    session.points.commands.begin_input(purpose);
    Ok(Outcome::Done)
}

/// Refuses a name that no command can have.
fn check_name(name: &str) -> Result<(), CommandError> {
    let is_name = name
        .chars()
        .all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'));
    let is_known = is_whole_name(name) || command_table::translated(name).is_some();
    if !is_name || is_known {
        return Err(CommandError::with_help(
            format!("`{name}` cannot be the name of a command"),
            "use one word of letters, digits, _ and - that is not a command of juror",
        ));
    }
    let hooked = HOOKS.iter().find_map(|hook| name.strip_prefix(hook));
    match hooked {
        Some(hooked) if name != "hook-stop" && command_table::find_exact(hooked).is_none() => {
            Err(CommandError::with_help(
                format!("`{hooked}` is not a command that can have a hook"),
                "use the whole name of a command of juror: hook-continue; or hook-stop",
            ))
        }
        _ => Ok(()),
    }
}

/// Returns whether a word is a name or an alias of a command, or one of the words of blocks.
fn is_whole_name(word: &str) -> bool {
    const WORDS: [&str; 6] = ["if", "else", "while", "end", "loop_break", "loop_continue"];
    let is_alias = |entry: &&'static command_table::entry::Entry| entry.aliases.contains(&word);
    WORDS.contains(&word)
        || command_table::find_exact(word).is_some()
        || command_table::TABLE.iter().any(is_alias)
}

/// `document NAME`: the help of a defined command, from the lines that follow.
pub(crate) fn document(session: &mut Session, name: &str) -> Result<Outcome, CommandError> {
    let commands = &mut session.points.commands;
    if !commands.defined.contains_key(name) {
        return Err(CommandError::with_help(
            format!("no command `{name}` is defined"),
            "define it first: define NAME",
        ));
    }
    commands.begin_input(Purpose::Document(name.to_owned()));
    Ok(Outcome::Done)
}

/// `show user`: the defined commands.
pub(crate) fn defined(session: &Session) -> Result<Outcome, CommandError> {
    let defined = session.points.commands.defined.iter();
    let views: Vec<CommandGroupView> = defined
        .map(|(name, defined)| CommandGroupView {
            name: name.clone(),
            commands: defined.block.lines.clone(),
        })
        .collect();
    if views.is_empty() {
        Err(CommandError::with_help(
            "no commands are defined",
            "define one: define NAME",
        ))
    } else {
        Ok(Outcome::CommandGroups(views))
    }
}

/// Returns the help of a defined command.
pub(crate) fn help_of_defined(session: &Session, word: &str) -> Option<CommandHelp> {
    let (name, defined) = session.points.commands.defined.get_key_value(word)?;
    let mut text = defined.text.iter();
    let summary = text.next().cloned();
    Some(CommandHelp {
        name: name.clone(),
        summary: summary.unwrap_or_else(|| "defined by the user".to_owned()),
        details: text.cloned().collect::<Vec<_>>().join("\n"),
        ..CommandHelp::default()
    })
}

/// Begins a block, if a line is its first.
///
/// # Errors
/// The line has no condition.
pub(crate) fn begin_block(session: &mut Session, line: &str) -> Result<bool, CommandError> {
    let (word, _) = arguments::split_line(line);
    if !matches!(word, "if" | "while") {
        return Ok(false);
    }
    let checked = block_lines::check_given(session, line);
    let is_corrected = session.options.is_interactive;
    let commands = &mut session.points.commands;
    match checked {
        Err(error) if is_corrected => return Err(error),
        checked => {
            commands.begin_input(Purpose::Execute);
            commands.take_line(line, checked)?;
        }
    }
    Ok(true)
}

/// Takes a line of those that are being entered.
///
/// # Errors
/// The line has no place there, or could only fail. Somebody who types may correct it; otherwise
/// what follows may belong to it, and the block is dropped at its end.
pub(crate) fn take_given(session: &mut Session, line: &str) -> Result<Outcome, CommandError> {
    let checked = block_lines::check_given(session, line);
    let is_corrected = session.options.is_interactive;
    let commands = &mut session.points.commands;
    let taken = match checked {
        Err(error) if is_corrected => return Err(to_be_corrected(error)),
        checked => commands.take_line(line, checked)?,
    };
    let Some((purpose, block)) = taken else {
        return Ok(Outcome::Done);
    };
    let commands = &mut session.points.commands;
    match purpose {
        Purpose::Points(numbers) => {
            for number in numbers {
                if let Ok(point) = points::point(session, number) {
                    point.commands.clone_from(&block.lines);
                }
            }
        }
        Purpose::Define(name) => {
            let text = commands.defined.remove(&name).map(|it| it.text);
            let text = text.unwrap_or_default();
            commands.defined.insert(name, Defined { block, text });
        }
        Purpose::Document(name) => {
            if let Some(defined) = commands.defined.get_mut(&name) {
                defined.text.clone_from(&block.lines);
            }
        }
        Purpose::Execute => commands.runner.begin(block, Vec::new(), Origin::Lines),
    }
    Ok(Outcome::Done)
}

/// Returns the error of a line that is left out of its block.
fn to_be_corrected(error: CommandError) -> CommandError {
    let help = "the line is left out: type the right one; Ctrl-C drops all lines";
    CommandError {
        help: Some(match error.help {
            Some(own) => format!("{own}\n{help}"),
            None => help.to_owned(),
        }),
        ..error
    }
}
