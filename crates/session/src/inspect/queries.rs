//! The answers to questions of front ends ([`juror_view::queries`]).

use crate::commands::restart_frame;
use crate::inspect::{frames, statements};
use crate::session::Session;
use juror_debuggee::ThreadId;
use juror_fault::CommandError;
use juror_program::stack::frames::{Frame, users_frames};
use juror_view::queries::{FramesView, PlacedFrameView, SelectionView, SourcePathView};
use std::collections::BTreeSet;
use std::path::Path;

/// Returns the selected thread and frame.
pub(crate) fn selection(session: &Session) -> Option<SelectionView> {
    let thread = session.thread().ok()?;
    let program = session.running().ok()?;
    let is_there = program.debuggee.thread_ids().any(|it| it == thread);
    if !is_there {
        // It has ended.
        let other = program.debuggee.thread_ids().next()?;
        return Some(SelectionView {
            thread: program.thread_number(other),
            level: 0,
        });
    }
    Some(SelectionView {
        thread: program.thread_number(thread),
        level: u32::try_from(session.processes.selection.level).unwrap_or(u32::MAX),
    })
}

/// Selects a thread and a frame.
pub(crate) fn select(session: &mut Session, selection: SelectionView) -> Result<(), CommandError> {
    let thread = living_thread(session, selection.thread)?;
    if session.thread()? != thread {
        session.select_thread(thread);
    }
    let level = selection.level as usize;
    if level > 0 && session.frames_to(level.saturating_add(1))?.len() <= level {
        return Err(CommandError::new(format!("there is no frame {level}")));
    }
    session.processes.selection.level = level;
    Ok(())
}

/// Returns frames of a thread; the selection stays.
pub(crate) fn frames(
    session: &mut Session,
    thread: u32,
    first: u64,
    count: u64,
) -> Result<FramesView, CommandError> {
    at_innermost(session, thread, |session| {
        frames_of_selected(session, first, count)
    })
}

/// Asks something of the innermost frame of a thread; the selection stays.
pub(crate) fn at_innermost<T>(
    session: &mut Session,
    thread: u32,
    ask: impl FnOnce(&mut Session) -> Result<T, CommandError>,
) -> Result<T, CommandError> {
    let thread = living_thread(session, thread)?;
    if session.thread()? == thread {
        return ask(session);
    }
    let before = std::mem::take(&mut session.processes.selection);
    session.select_thread(thread);
    let found = ask(session);
    session.processes.selection = before;
    found
}

/// Returns the source files of all modules.
pub(crate) fn source_paths(session: &mut Session) -> Result<Vec<SourcePathView>, CommandError> {
    let mut compiled = BTreeSet::new();
    for module in session.modules().iter() {
        compiled.extend(module.symbols.source_files());
    }
    let sources = &mut session.user.sources;
    let views = compiled.into_iter().map(|path| SourcePathView {
        compiled: path.display().to_string(),
        present: sources
            .present_path(&path)
            .map(|present| present.display().to_string()),
    });
    Ok(views.collect())
}

/// Returns the living thread of a number.
fn living_thread(session: &Session, number: u32) -> Result<ThreadId, CommandError> {
    let program = session.running()?;
    let known = program.thread_of_number(number);
    let is_alive = |thread: &ThreadId| program.debuggee.thread_ids().any(|it| it == *thread);
    let missing =
        || CommandError::with_help(format!("there is no thread {number}"), "see: info threads");
    known.filter(is_alive).ok_or_else(missing)
}

/// Returns frames of the selected thread.
fn frames_of_selected(
    session: &mut Session,
    first: u64,
    count: u64,
) -> Result<FramesView, CommandError> {
    let end = usize::try_from(first.saturating_add(count)).unwrap_or(usize::MAX);
    // One more tells whether there are others.
    let mut frames = session.frames_to(end.saturating_add(1))?.to_vec();
    let mut is_whole = session.processes.selection.has_all_frames;
    if let Some(users) = users_frames(&frames) {
        frames.truncate(users);
        is_whole = true;
    }
    let total = is_whole.then_some(frames.len() as u64);
    let first = usize::try_from(first).unwrap_or(usize::MAX);
    let wanted = frames.iter().enumerate().take(end).skip(first);
    let placed = wanted.map(|(level, frame)| PlacedFrameView {
        may_restart: restart_frame::may_restart(session, &frames, level),
        ..placed_frame(session, level, frame)
    });
    Ok(FramesView {
        frames: placed.collect(),
        total,
    })
}

fn placed_frame(session: &mut Session, level: usize, frame: &Frame) -> PlacedFrameView {
    let view = frames::frame_view(session, level, frame);
    let module = frame.module.as_ref();
    let file = view.location.file.as_deref();
    let file = file.or(view.location.near.as_ref().map(|near| near.file.as_str()));
    let source = file.and_then(|file| {
        let file = Path::new(file);
        let checksum = module.and_then(|module| {
            let address = module.to_file(frame.lookup);
            module.symbols.source_checksum(file, address)
        });
        session.user.sources.expect(file, checksum);
        session.user.sources.present_path(file)
    });
    PlacedFrameView {
        module: module.map(|module| module.path.display().to_string()),
        source: source.map(|source| source.display().to_string()),
        column: statements::column_of_frame(session, frame),
        is_users: session.is_users(frame),
        may_restart: false,
        frame: view,
    }
}
