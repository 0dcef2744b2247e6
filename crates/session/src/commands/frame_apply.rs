//! `frame apply`, `faas`: run a command in several frames of the stack.

use crate::command_table;
use crate::command_table::arguments::{self, is_flag};
use crate::inspect::expressions;
use crate::session::Session;
use juror_fault::CommandError;
use juror_program::stack::frames::users_frames;
use juror_view::Outcome;

/// The help of syntax errors.
const HELP: &str = "for example: frame apply all info locals, frame apply 3 print i, \
                    frame apply level 2 print i";

/// The selected frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Extent {
    All,
    Innermost(usize),
    Outermost(usize),
    Levels(usize, usize),
}

/// The parsed argument of `frame apply`.
#[derive(Debug, PartialEq, Eq)]
struct Applied<'a> {
    extent: Extent,
    /// Whether frames in which the command fails are left out.
    is_tolerant: bool,
    line: &'a str,
}

fn word(text: &str) -> (&str, &str) {
    let text = text.trim();
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    (word, rest.trim())
}

impl Applied<'_> {
    fn parse(text: &str) -> Result<Applied<'_>, CommandError> {
        let wrong = |message: String| CommandError::with_help(message, HELP);
        let number = |text: &str| text.parse::<usize>().ok();
        let (first, mut rest) = word(text);
        let extent = match first {
            "all" => Some(Extent::All),
            "level" => {
                let (levels, after) = word(rest);
                rest = after;
                let (from, to) = levels.split_once('-').unwrap_or((levels, levels));
                number(from)
                    .zip(number(to))
                    .map(|(a, b)| Extent::Levels(a, b))
            }
            first => match first.strip_prefix('-') {
                Some(count) => number(count).map(Extent::Outermost),
                None => number(first).map(Extent::Innermost),
            },
        };
        let extent = extent.ok_or_else(|| wrong("for which frames?".to_owned()))?;
        let mut is_tolerant = false;
        while let (flag, after) = word(rest)
            && is_flag(flag)
        {
            is_tolerant |= flag == "-s";
            rest = after;
        }
        match rest {
            "" => Err(wrong("`frame apply` needs a command".to_owned())),
            line => Ok(Applied {
                extent,
                is_tolerant,
                line,
            }),
        }
    }
}

impl Extent {
    fn levels(self, count: usize) -> std::ops::Range<usize> {
        match self {
            Extent::All => 0..count,
            Extent::Innermost(wanted) => 0..wanted.min(count),
            Extent::Outermost(wanted) => count.saturating_sub(wanted)..count,
            Extent::Levels(first, last) => first..last.saturating_add(1).min(count),
        }
    }
}

/// `frame apply all COMMAND`, `faas COMMAND`: executes the command in one frame after the other,
/// each selected first; then selects the present one again. An error ends it, unless frames are to
/// be left out.
pub(crate) fn apply_to_frames(session: &mut Session, text: &str) -> Result<Outcome, CommandError> {
    let applied = Applied::parse(text)?;
    let (word, rest) = arguments::split_line(applied.line);
    let shows_value = match session.points.commands.name_in(applied.line) {
        Some(_) => false,
        None => {
            let entry = command_table::words::find(word)?;
            matches!(entry.name, "print" | "output")
        }
    };
    let frames = session.all_frames()?;
    let count = users_frames(frames).unwrap_or(frames.len());
    let before = session.processes.selection.level;
    let mut levels: Vec<usize> = applied.extent.levels(count).collect();
    if applied.is_tolerant && shows_value {
        levels.retain(|&level| has_value(session, level, rest));
    }
    session.processes.selection.level = before;
    if levels.is_empty() {
        return Err(CommandError::new(
            "the command fails in every frame of this stack",
        ));
    }
    let lines = levels.iter().flat_map(|level| {
        let select = format!("frame line {level}");
        [select, applied.line.to_owned()]
    });
    let mut lines: Vec<String> = lines.collect();
    lines.push(format!("select-frame {before}"));
    session.points.commands.begin_script(lines);
    Ok(Outcome::Done)
}

/// Returns whether an expression, with an optional format, has a value in a frame.
fn has_value(session: &mut Session, level: usize, text: &str) -> bool {
    let Ok((_, expression)) = crate::state::format_options::split_format(text) else {
        return false;
    };
    session.processes.selection.level = level;
    expressions::evaluate(session, expression).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, extent: Extent, levels: &[usize], is_tolerant: bool) {
        let applied = Applied::parse(text).expect(text);
        let line = "print i";
        assert_eq!(
            applied,
            Applied {
                extent,
                is_tolerant,
                line
            },
            "{text}"
        );
        assert_eq!(extent.levels(4).collect::<Vec<_>>(), levels, "{text}");
    }

    #[test]
    fn frames_are_named_as_in_gdb() {
        check("all print i", Extent::All, &[0, 1, 2, 3], false);
        check("all -q -s print i", Extent::All, &[0, 1, 2, 3], true);
        check("2 print i", Extent::Innermost(2), &[0, 1], false);
        check("9 print i", Extent::Innermost(9), &[0, 1, 2, 3], false);
        check("-1  -- print i", Extent::Outermost(1), &[3], false);
        check("level 2 print i", Extent::Levels(2, 2), &[2], false);
        check("level 1-2 print i", Extent::Levels(1, 2), &[1, 2], false);
        check("level 7 print i", Extent::Levels(7, 7), &[], false);
        for wrong in ["", "all", "print i", "level x print i", "3"] {
            assert!(Applied::parse(wrong).is_err(), "{wrong}");
        }
    }
}
