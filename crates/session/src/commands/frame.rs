//! `frame`, `up`, `down`: the selected frame.

use crate::command_table::arguments::number;
use crate::commands::frame_apply;
use crate::inspect::frames;
use crate::session::Session;
use juror_fault::CommandError;
use juror_program::stack::frames::{Frame, users_frames};
use juror_view::Outcome;

/// `frame`, `frame N`, `frame level N`, `frame function NAME`
pub(crate) fn choose_frame(session: &mut Session, rest: &str) -> Result<Outcome, CommandError> {
    let (word, name) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let level = match (word, name.trim()) {
        ("function", "") => {
            return Err(CommandError::with_help(
                "the name of a function is missing",
                "for example: frame function main",
            ));
        }
        ("function", name) => {
            // From the selected one outwards, then from the innermost.
            let here = session.processes.selection.level;
            let frames = session.all_frames()?;
            let is_meant = |frame: &Frame| frame.is_called(name);
            let outer = frames.iter().skip(here).position(is_meant);
            let found = outer
                .map(|level| level + here)
                .or_else(|| frames.iter().position(is_meant));
            found.ok_or_else(|| {
                let message = format!("no frame of this stack is of `{name}`");
                CommandError::with_help(message, "see: backtrace")
            })?
        }
        ("apply", which) => return frame_apply::apply_to_frames(session, which),
        ("line", level) => {
            let level = number(level)?.map_or(session.processes.selection.level, |it| it as usize);
            let shown = frames::select_frame(session, level)?;
            return Ok(match shown {
                Outcome::Frame(view, _) => Outcome::Frame(view, None),
                other => other,
            });
        }
        ("level", level) => {
            number(level)?.map_or(session.processes.selection.level, |it| it as usize)
        }
        _ => number(rest)?.map_or(session.processes.selection.level, |level| level as usize),
    };
    frames::select_frame(session, level)
}

pub(crate) fn move_frame(
    session: &mut Session,
    rest: &str,
    direction: i64,
) -> Result<Outcome, CommandError> {
    let count = i64::try_from(number(rest)?.unwrap_or(1)).unwrap_or(i64::MAX);
    let level = session.processes.selection.level as i64;
    // The callers of `main` are not shown, unless one is selected.
    let outermost = level.saturating_add(count.max(0)).saturating_add(2);
    let frames = session.frames_to(usize::try_from(outermost).unwrap_or(usize::MAX))?;
    let shown = users_frames(frames).unwrap_or(frames.len());
    let last = match shown as i64 - 1 {
        last if level <= last => last,
        _ => frames.len() as i64 - 1,
    };
    let wanted = level.saturating_add(direction.saturating_mul(count));
    if wanted < 0 && level == 0 {
        return Err(CommandError::new("this is the innermost frame"));
    }
    if wanted > last && level == last {
        let is_cut = frames.get(last as usize).is_some_and(|frame| frame.is_cut);
        return Err(CommandError::new(if is_cut {
            "the backtrace ends here: the caller of this frame cannot be found"
        } else {
            "this is the outermost frame"
        }));
    }
    frames::select_frame(session, wanted.clamp(0, last.max(0)) as usize)
}
