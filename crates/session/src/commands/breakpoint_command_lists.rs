//! `commands`: the commands that run when a point has stopped the program.
//!
//! The lines are entered one by one, up to `end`; the front end reads them at a prompt of their
//! own. After a stop it takes them from [`Session::next_queued_command`] and executes each as if it had
//! been typed. As in gdb, commands after one that resumes the program, or after an error, are
//! dropped.

use crate::command_table;
use crate::command_table::arguments;
use crate::run::points;
use crate::session::Session;
use crate::state::breakpoint_commands::Given;
use juror_points::point::whole_points;
use juror_view::error::CommandError;
use juror_view::{CommandGroupView, Outcome};

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
    session.points.commands.given = Some(Given {
        points: numbers,
        group: None,
        lines: Vec::new(),
        depth: 1,
    });
    Ok(Outcome::Done)
}

/// `group`, `group NAME`: defines a group from the lines that follow.
pub(crate) fn group(session: &mut Session, name: &str) -> Result<Outcome, CommandError> {
    if name.is_empty() {
        return groups(session);
    }
    let is_name = name
        .chars()
        .all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'));
    if !is_name || command_table::find(name).is_ok() || command_table::translated(name).is_some() {
        return Err(CommandError::with_help(
            format!("`{name}` cannot be the name of a group"),
            "use one word that is neither a command nor a prefix of one",
        ));
    }
    session.points.commands.given = Some(Given {
        points: Vec::new(),
        group: Some(name.to_owned()),
        lines: Vec::new(),
        depth: 1,
    });
    Ok(Outcome::Done)
}

/// `show user`: the groups, with their commands.
pub(crate) fn groups(session: &Session) -> Result<Outcome, CommandError> {
    let groups = session.points.commands.groups.iter();
    let views: Vec<CommandGroupView> = groups
        .map(|(name, commands)| CommandGroupView {
            name: name.clone(),
            commands: commands.clone(),
        })
        .collect();
    match views.is_empty() {
        true => Err(CommandError::with_help(
            "no groups are defined",
            "define one: group NAME",
        )),
        false => Ok(Outcome::CommandGroups(views)),
    }
}

/// Takes a line of the commands that are being entered.
pub(crate) fn take_given(session: &mut Session, line: &str) -> Outcome {
    let own = command_table::translated(line);
    let ends = own.as_deref() == Some("end");
    let line = line.trim();
    let Some(given) = &mut session.points.commands.given else {
        return Outcome::Done;
    };
    let (word, _) = arguments::split_line(line);
    let opens = command_table::find(word).is_ok_and(|it| it.name == "commands");
    match word {
        "end" => given.depth -= 1,
        _ if ends => given.depth -= 1,
        _ if opens => given.depth += 1,
        _ => {}
    }
    if given.depth > 0 {
        if !line.is_empty() && !line.starts_with('#') {
            given.lines.push(line.to_owned());
        }
        return Outcome::Done;
    }
    if let Some(given) = session.points.commands.given.take() {
        if let Some(name) = given.group {
            session.points.commands.groups.insert(name, given.lines);
            return Outcome::Done;
        }
        for number in given.points {
            if let Ok(point) = points::point(session, number) {
                point.commands.clone_from(&given.lines);
            }
        }
    }
    Outcome::Done
}
