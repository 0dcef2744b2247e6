//! `save breakpoints`: writes the points as commands that set them again.
//!
//! The file holds commands as a user would type them; `source` reads it.
//!
//! **Invariant**: a point that cannot be set again, because it belongs to a thread or a call of
//! this run, is a comment in the file, and is reported.

use crate::commands::checkpoint;
use crate::session::Session;
use juror_fault::CommandError;
use juror_points::catchpoints::INITIAL;
use juror_points::point::{Fate, Point, PointOwner};
use juror_view::Outcome;

/// The help of syntax errors.
const HELP: &str = "for example: save breakpoints points.juror; then source points.juror";

/// The number of the last point, in the lines after the one that sets it.
const THIS: &str = "$bpnum";

/// The lines of one point.
struct Written {
    number: u32,
    lines: Vec<String>,
    /// Whether it is only a comment.
    is_lost: bool,
}

/// `save`, `save breakpoints FILE`
pub(crate) fn save(session: &mut Session, rest: &str) -> Result<Outcome, CommandError> {
    let (what, file) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let file = file.trim();
    if what.is_empty() {
        return checkpoint::checkpoint_command(session, "");
    }
    if !"breakpoints".starts_with(what) {
        return Err(CommandError::with_help(
            format!("`{what}` cannot be saved"),
            HELP,
        ));
    }
    if file.is_empty() {
        return Err(CommandError::with_help(
            "the name of a file is missing",
            HELP,
        ));
    }
    let written = written_points(session);
    if written.is_empty() {
        return Err(CommandError::new("there are no breakpoints to save"));
    }
    let lines = written.iter().flat_map(|it| &it.lines);
    let text: String = lines.map(|line| format!("{line}\n")).collect();
    std::fs::write(file, text)
        .map_err(|error| CommandError::new(format!("{file} cannot be written: {error}")))?;
    let lost: Vec<String> = (written.iter().filter(|it| it.is_lost))
        .map(|it| it.number.to_string())
        .collect();
    let count = written.len() - lost.len();
    let points = if count == 1 { "point" } else { "points" };
    let mut message = format!("{count} {points} in {file}");
    if !lost.is_empty() {
        message.push_str(&format!(
            "; not those specific to this run: {}",
            lost.join(", ")
        ));
    }
    Ok(Outcome::Message(message))
}

/// Returns the user's points, in the order of their numbers.
fn written_points(session: &Session) -> Vec<Written> {
    let mut all = Vec::new();
    for breakpoint in session.points.breakpoints.iter() {
        let point = &breakpoint.point;
        let place = breakpoint.written_place();
        let mut written = match &point.prints {
            Some(prints) => {
                let line = format!("dprintf {place},{}", prints.text);
                written(point, line, true)
            }
            None => {
                let word = if point.fate == Fate::Delete {
                    "tbreak"
                } else {
                    "break"
                };
                written(point, format!("{word} {place}"), false)
            }
        };
        for location in breakpoint.locations.iter().filter(|it| !it.enabled) {
            let line = format!("disable {THIS}.{}", location.number);
            written.lines.push(line);
        }
        all.push((point.owner, written));
    }
    for breakpoint in session.points.hardware.iter() {
        let point = &breakpoint.point;
        let word = if point.fate == Fate::Delete {
            "thbreak"
        } else {
            "hbreak"
        };
        let line = format!("{word} {}", breakpoint.text);
        all.push((point.owner, written(point, line, false)));
    }
    for watchpoint in session.processes.watchpoints.iter() {
        let line = format!("{} {}", watchpoint.kind.word(), watchpoint.text);
        let mut written = written(&watchpoint.point, line, false);
        // The variable belongs to a call, which another run does not have.
        written.is_lost |= watchpoint.home.is_some();
        all.push((watchpoint.point.owner, written));
    }
    // A point that is there from the start need not be set again.
    let catchpoints = session.points.catchpoints.iter();
    for catchpoint in catchpoints.filter(|it| it.point.number != INITIAL) {
        let point = &catchpoint.point;
        let word = if point.fate == Fate::Delete {
            "tcatch"
        } else {
            "catch"
        };
        let line = format!("{word} {}", catchpoint.text);
        all.push((point.owner, written(point, line, true)));
    }
    let own = all.into_iter().filter(|it| it.0 == PointOwner::Developer);
    let mut points: Vec<Written> = own.map(|(_, written)| written).collect();
    points.sort_by_key(|it| it.number);
    for point in points.iter_mut().filter(|it| it.is_lost) {
        for line in &mut point.lines {
            line.insert_str(0, "# ");
        }
    }
    points
}

/// Returns the line that sets a point, and the lines after it; a condition that does not fit into
/// the line is a separate line.
fn written(point: &Point, mut line: String, has_own_condition: bool) -> Written {
    let mut after = Vec::new();
    if let Some(condition) = &point.condition {
        if has_own_condition {
            after.push(format!("condition {THIS} {}", condition.text))
        } else {
            line.push_str(&format!(" if {}", condition.text))
        }
    }
    if point.ignore > 0 {
        after.push(format!("ignore {THIS} {}", point.ignore));
    }
    match point.fate {
        Fate::Disable(1) => after.push(format!("enable once {THIS}")),
        Fate::Disable(stops) => after.push(format!("enable count {stops} {THIS}")),
        Fate::Delete if has_own_condition => after.push(format!("enable delete {THIS}")),
        Fate::Keep | Fate::Delete => {}
    }
    if !point.commands.is_empty() {
        after.push("commands".to_owned());
        after.extend(point.commands.iter().map(|line| format!("  {line}")));
        after.push("end".to_owned());
    }
    if !point.enabled {
        after.push(format!("disable {THIS}"));
    }
    let mut lines = vec![line];
    lines.append(&mut after);
    Written {
        number: point.number,
        lines,
        is_lost: point.thread.is_some(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use juror_instrument::condition::Condition;

    #[test]
    fn lines_set_the_point_again() {
        let mut point = Point::new(3, Condition::parse("n > 3", &[]).ok(), Fate::Disable(2));
        point.ignore = 7;
        point.enabled = false;
        point.commands = vec!["silent".into(), "print n".into()];
        let lines = [
            "break f if n > 3",
            "ignore $bpnum 7",
            "enable count 2 $bpnum",
            "commands",
            "  silent",
            "  print n",
            "end",
            "disable $bpnum",
        ];
        assert_eq!(written(&point, "break f".into(), false).lines, lines);
        let own = written(&point, "catch throw".into(), true).lines;
        assert_eq!(own[..2], ["catch throw", "condition $bpnum n > 3"]);
        point.thread = Some(2);
        assert!(written(&point, "break f".into(), false).is_lost);
    }
}
