//! The answers to questions of front ends ([`juror_view::queries`]).

use crate::inspect::frames;
use crate::session::Session;
use juror_debuggee::ThreadId;
use juror_points::breakpoints::Resolvable;
use juror_program::stack::frames::{Frame, users_frames};
use juror_values::format::Radix;
use juror_view::error::CommandError;
use juror_view::nodes::{Group, Node, NodeId, PartFilter};
use juror_view::queries::{FramesView, PlacedFrameView, Queries, SelectionView, SourcePathView};
use std::collections::BTreeSet;
use std::path::Path;

/// The limit of lines that are looked up at once.
const LINES_MAX: u32 = 1000;

impl Queries for Session {
    fn selection(&self) -> Option<SelectionView> {
        let thread = self.thread().ok()?;
        Some(SelectionView {
            thread: self.running().ok()?.thread_number(thread),
            level: u32::try_from(self.processes.selection.level).unwrap_or(u32::MAX),
        })
    }

    fn select(&mut self, selection: SelectionView) -> Result<(), CommandError> {
        let thread = living_thread(self, selection.thread)?;
        if self.thread()? != thread {
            self.select_thread(thread);
        }
        let level = selection.level as usize;
        if level > 0 && self.frames_to(level.saturating_add(1))?.len() <= level {
            return Err(CommandError::new(format!("there is no frame {level}")));
        }
        self.processes.selection.level = level;
        Ok(())
    }

    fn frames(&mut self, thread: u32, first: u64, count: u64) -> Result<FramesView, CommandError> {
        let thread = living_thread(self, thread)?;
        if self.thread()? == thread {
            return frames_of_selected(self, first, count);
        }
        let before = std::mem::take(&mut self.processes.selection);
        self.select_thread(thread);
        let found = frames_of_selected(self, first, count);
        self.processes.selection = before;
        found
    }

    fn read_memory(&mut self, address: u64, count: usize) -> Result<Vec<u8>, CommandError> {
        let mut bytes = vec![0; count];
        let read = self.running()?.debuggee.read_up_to(address, &mut bytes);
        bytes.truncate(read);
        Ok(bytes)
    }

    fn write_memory(&mut self, address: u64, bytes: &[u8]) -> Result<(), CommandError> {
        self.running_mut()?.debuggee.write(address, bytes)?;
        // The shown frames may have changed.
        self.processes.selection.frames = None;
        Ok(())
    }

    fn source_paths(&mut self) -> Result<Vec<SourcePathView>, CommandError> {
        let mut compiled = BTreeSet::new();
        for module in self.modules().iter() {
            compiled.extend(module.symbols.source_files());
        }
        let sources = &mut self.user.sources;
        let views = compiled.into_iter().map(|path| SourcePathView {
            compiled: path.display().to_string(),
            present: sources
                .present_path(&path)
                .map(|present| present.display().to_string()),
        });
        Ok(views.collect())
    }

    fn source_text(&mut self, path: &str) -> Result<String, CommandError> {
        let text = self.user.sources.whole(Path::new(path));
        text.ok_or_else(|| CommandError::new(format!("the file {path} cannot be read")))
    }

    fn lines_with_code(
        &mut self,
        path: &str,
        first: u32,
        last: u32,
    ) -> Result<Vec<u32>, CommandError> {
        let modules = self.modules();
        let last = last.min(first.saturating_add(LINES_MAX));
        let has_code = |line: &u32| {
            let resolved = Resolvable::Line(path.to_owned(), *line).resolve(modules);
            !resolved.addresses.is_empty() && resolved.moved_to_line.is_none()
        };
        Ok((first..=last).filter(has_code).collect())
    }

    fn scope_nodes(
        &mut self,
        frame: SelectionView,
        group: Group,
    ) -> Result<Vec<Node>, CommandError> {
        Session::scope_nodes(self, frame.thread, frame.level as usize, group)
    }

    fn part_nodes(
        &mut self,
        node: NodeId,
        filter: PartFilter,
        first: u64,
        count: u64,
    ) -> Result<Vec<Node>, CommandError> {
        Session::part_nodes(self, node, filter, first, count)
    }

    fn evaluate_node(
        &mut self,
        frame: SelectionView,
        expression: &str,
        is_hex: bool,
    ) -> Result<Node, CommandError> {
        let radix = is_hex.then_some(Radix::Hexadecimal);
        let level = frame.level as usize;
        Session::evaluate_node(self, frame.thread, level, expression, radix, false)
    }

    fn assign_node(
        &mut self,
        parent: NodeId,
        name: &str,
        value: &str,
    ) -> Result<Node, CommandError> {
        Session::assign_node(self, parent, name, value)
    }

    fn assign_expression(
        &mut self,
        frame: SelectionView,
        place: &str,
        value: &str,
    ) -> Result<Node, CommandError> {
        Session::assign_expression(self, frame.thread, frame.level as usize, place, value)
    }
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
    let placed = wanted.map(|(level, frame)| placed_frame(session, level, frame));
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
        is_users: session.is_users(frame),
        frame: view,
    }
}
