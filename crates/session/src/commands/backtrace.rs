//! `backtrace`, the stacks of several threads (`thread apply all backtrace`), and
//! other commands for several threads.

use crate::command_table;
use crate::command_table::arguments;
use crate::commands::info_views;
use crate::inspect::frames;
use crate::session::Session;
use juror_fault::CommandError;
use juror_program::stack::frames::{Frame, users_frames};
use juror_view::{FrameView, Outcome, StackView, ThreadView, VariableView};

/// The help of `thread apply`.
const APPLY_HELP: &str = "for example: thread apply all backtrace, thread apply 1 2 print count";

/// The extent of a backtrace.
#[derive(Default)]
struct Extent {
    /// The limit of frames, the innermost.
    count: Option<u64>,
    /// Whether they are the outermost.
    outermost: bool,
    /// Whether to show the callers of `main`.
    all: bool,
    /// Whether to show the local variables of each frame.
    full: bool,
}

impl Extent {
    fn parse(text: &str) -> Result<Extent, CommandError> {
        let mut extent = Extent::default();
        for word in text.split_whitespace() {
            match word {
                "all" => extent.all = true,
                "full" | "-full" => extent.full = true,
                _ if extent.count.is_some() => {
                    return Err(CommandError::unexpected(word, "backtrace N"));
                }
                word => {
                    let outer = word.strip_prefix('-');
                    extent.outermost = outer.is_some();
                    extent.count = crate::command_table::arguments::number(outer.unwrap_or(word))?;
                }
            }
        }
        Ok(extent)
    }
}

/// `backtrace`, `backtrace N`, `backtrace full`, `backtrace all`
pub(crate) fn backtrace(session: &mut Session, text: &str) -> Result<Outcome, CommandError> {
    let extent = Extent::parse(text)?;
    let (frames, more) = stack(session, &extent)?;
    Ok(Outcome::Backtrace { frames, more })
}

/// `thread apply all COMMAND`, `thread apply 1 2 COMMAND`
pub(crate) fn apply_to_threads(session: &mut Session, text: &str) -> Result<Outcome, CommandError> {
    let wrong = |message: String| CommandError::with_help(message, APPLY_HELP);
    let Outcome::Threads(threads) = info_views::threads(session, "")? else {
        return Err(wrong("there are no threads".to_owned()));
    };
    let mut rest = text;
    let mut chosen: Vec<ThreadView> = Vec::new();
    loop {
        let (word, after) = arguments::split_line(rest);
        if word == "all" && chosen.is_empty() {
            chosen.clone_from(&threads);
            rest = after;
            continue;
        }
        if arguments::is_flag(word) {
            rest = after;
            continue;
        }
        let Ok(number) = word.parse::<u32>() else {
            break;
        };
        let found = threads.iter().find(|thread| thread.number == number);
        let found = found.ok_or_else(|| {
            CommandError::with_help(format!("there is no thread {number}"), "see: info threads")
        })?;
        chosen.push(found.clone());
        rest = after;
    }
    if chosen.is_empty() {
        return Err(wrong("for which threads?".to_owned()));
    }
    let (word, words) = arguments::split_line(rest);
    let is_backtrace = command_table::find(word).is_ok_and(|entry| entry.name == "backtrace");
    if !is_backtrace {
        return apply_line(session, &chosen, rest);
    }
    let extent = Extent::parse(words)?;
    let before = std::mem::take(&mut session.processes.selection);
    let views = stacks_of(session, chosen, &extent);
    session.processes.selection = before;
    Ok(Outcome::Stacks(views?))
}

/// Executes the line in one thread after the other, each selected first; then selects the present
/// one again. An error ends it.
fn apply_line(
    session: &mut Session,
    chosen: &[ThreadView],
    line: &str,
) -> Result<Outcome, CommandError> {
    if line.is_empty() {
        return Err(CommandError::with_help(
            "`thread apply` needs a command",
            APPLY_HELP,
        ));
    }
    if session.points.commands.name_in(line).is_none() {
        crate::command_table::words::find(arguments::split_line(line).0)?;
    }
    let current = session.thread()?;
    let current = session.running()?.thread_number(current);
    let level = session.processes.selection.level;
    let select = |number: u32| format!("thread line {number}");
    let mut lines: Vec<String> = chosen
        .iter()
        .flat_map(|thread| [select(thread.number), line.to_owned()])
        .collect();
    lines.push(format!("thread back {current} {level}"));
    session.points.commands.begin_script(lines);
    Ok(Outcome::Done)
}

fn stacks_of(
    session: &mut Session,
    threads: Vec<ThreadView>,
    extent: &Extent,
) -> Result<Vec<StackView>, CommandError> {
    let mut views = Vec::new();
    for thread in threads {
        let Some(id) = session.running()?.thread_of_number(thread.number) else {
            continue;
        };
        session.select_thread(id);
        let (frames, more) = stack(session, extent)?;
        views.push(StackView {
            thread,
            frames,
            more,
        });
    }
    Ok(views)
}

/// Returns the frames of the current thread to be shown, and whether there are more.
fn stack(session: &mut Session, extent: &Extent) -> Result<(Vec<FrameView>, bool), CommandError> {
    let needed = match (extent.count, extent.outermost) {
        (Some(count), false) => usize::try_from(count)
            .unwrap_or(usize::MAX)
            .saturating_add(1),
        _ => usize::MAX,
    };
    let mut frames = session.frames_to(needed)?.to_vec();
    if !extent.all {
        let users = users_frames(&frames).unwrap_or(frames.len());
        frames.truncate(users);
    }
    let wanted = extent.count.map_or(usize::MAX, |count| count as usize);
    let shown = frames.len().min(wanted);
    let first = if extent.outermost {
        frames.len() - shown
    } else {
        0
    };
    let views = frames.iter().enumerate().skip(first).take(shown);
    let views = views.map(|(level, frame)| {
        let locals = extent.full.then(|| locals_of(session, frame));
        FrameView {
            locals,
            ..frames::frame_view(session, level, frame)
        }
    });
    Ok((views.collect(), first + shown < frames.len()))
}

/// Returns the local variables of a frame; an inner one hides an outer one of its name.
fn locals_of(session: &Session, frame: &Frame) -> Vec<VariableView> {
    let Some(program) = &session.processes.program else {
        return Vec::new();
    };
    let mut seen = Vec::new();
    let mut views = Vec::new();
    for (variable, is_parameter) in program.variables(frame) {
        if is_parameter || seen.contains(&variable.name) {
            continue;
        }
        let value = program.value_of(frame, &variable);
        views.push(frames::variable_view(session, &variable.name, &value));
        seen.push(variable.name);
    }
    views
}
