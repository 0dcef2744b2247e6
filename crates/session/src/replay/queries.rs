//! The answers of a recording to questions of front ends ([`juror_view::queries`]).
//!
//! A thread has one frame: its last event up to the present one, with its place and its values. The
//! events whose threads were not recorded have a thread of their own, behind the others.
//!
//! **Invariant**: nothing of the program is there but what its events tell; the rest is refused.

use crate::replay::RecordedRun;
use crate::replay::settings::unchangeable;
use juror_fault::CommandError;
use juror_trace::Place;
use juror_view::nodes::{Group, Node, NodeId, NodeKind, PartFilter};
use juror_view::queries::{
    CheckpointsView, FramesView, LineCallView, PlacedFrameView, Queries, SelectionView,
    SourcePathView, StatementView,
};
use juror_view::{
    AssemblyLine, FrameView, LineView, Location, ModuleView, PointView, ProgramView, StopReason,
    ThreadView,
};
use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Returns the error for what an event does not tell.
fn absent(what: &str) -> CommandError {
    CommandError::with_help(
        format!("a recording has no {what}"),
        "it has the events of a run, with their values and places",
    )
}

impl RecordedRun {
    /// Returns the shown number of a thread, by its recorded one.
    fn shown_thread(&self, recorded: u32) -> u32 {
        match recorded {
            0 => self.tape.threads.last().map_or(1, |last| last + 1),
            known => known,
        }
    }

    /// Returns the recorded number of a thread, by its shown one.
    fn recorded_thread(&self, shown: u32) -> Result<u32, CommandError> {
        let mut threads = self.tape.threads.iter().copied();
        let found = threads.find(|it| self.shown_thread(*it) == shown);
        found.ok_or_else(|| {
            CommandError::with_help(format!("there is no thread {shown}"), "see: info threads")
        })
    }

    /// Returns the recorded number of the selected thread; before the first event, that of its
    /// thread.
    fn selected_thread(&self) -> u32 {
        let event = self.tape.event(self.position.max(1));
        let of_event = event.map_or(0, |(_, event)| event.thread);
        self.selected.unwrap_or(of_event)
    }

    /// Returns the event that the frame of a thread is about; 0 before its first.
    fn event_of(&self, selection: SelectionView) -> Result<u64, CommandError> {
        if selection.level > 0 {
            let level = selection.level;
            return Err(CommandError::new(format!("there is no frame {level}")));
        }
        let thread = self.recorded_thread(selection.thread)?;
        let last = self.tape.last_of_thread(thread, self.position);
        Ok(last.unwrap_or(0))
    }

    /// Returns the place of an event, named by the function and the event.
    fn place_of(&self, number: u64) -> Location {
        let Some((_, event)) = self.tape.event(number) else {
            return Location {
                function: Some("before the first event".to_owned()),
                ..Location::default()
            };
        };
        let told = self.offline.describe(0, event, StopReason::Step);
        let place = told.location.unwrap_or_default();
        let function = match &place.function {
            Some(function) => format!("{function}: {}", told.what),
            None => told.what,
        };
        Location {
            function: Some(function),
            ..place
        }
    }

    /// Returns the views of the threads.
    pub(super) fn thread_views(&self) -> Vec<ThreadView> {
        let selected = self.selected_thread();
        let threads = self.tape.threads.iter().map(|&thread| ThreadView {
            number: self.shown_thread(thread),
            id: 0,
            name: String::new(),
            current: thread == selected,
            location: {
                let last = self.tape.last_of_thread(thread, self.position);
                self.place_of(last.unwrap_or(0))
            },
            caller: None,
            waits: None,
        });
        threads.collect()
    }

    /// Returns the places in a file, by either of its paths.
    fn places_in(&mut self, path: &str) -> Vec<Place> {
        let places = self.tape.places.iter();
        let files: BTreeSet<String> = places.filter_map(|place| place.file.clone()).collect();
        let is_meant = |file: &String| {
            let present = self.sources.present_path(Path::new(file));
            file == path || present.is_some_and(|it| it == Path::new(path))
        };
        let files: BTreeSet<String> = files.into_iter().filter(is_meant).collect();
        let is_there = |place: &&Place| place.file.as_ref().is_some_and(|it| files.contains(it));
        let places = self.tape.places.iter().filter(is_there);
        places.cloned().collect()
    }
}

/// Returns a value of an event as a node.
fn node(name: String, value: String) -> Node {
    Node {
        id: NodeId(0),
        evaluate_name: Some(name.clone()),
        name,
        type_name: None,
        summary: value,
        named: 0,
        indexed: 0,
        address: None,
        memory: None,
        size: None,
        writable: false,
        kind: NodeKind::Data,
    }
}

impl Queries for RecordedRun {
    fn points(&mut self) -> Vec<PointView> {
        self.stops.views()
    }

    fn threads(&mut self) -> Result<Vec<ThreadView>, CommandError> {
        Ok(self.thread_views())
    }

    fn checkpoints(&mut self) -> Result<CheckpointsView, CommandError> {
        Ok(CheckpointsView::Recorded(self.checkpoint_views()))
    }

    fn program(&mut self) -> Result<ProgramView, CommandError> {
        Err(absent("process"))
    }

    fn loaded_modules(&mut self) -> Result<Vec<ModuleView>, CommandError> {
        Err(absent("modules"))
    }

    fn addresses_of_line(&mut self, _: &str, _: u32) -> Result<Vec<LineView>, CommandError> {
        Err(absent("addresses"))
    }

    fn instructions(&mut self, _: Range<u64>) -> Result<Vec<AssemblyLine>, CommandError> {
        Err(absent("instructions"))
    }

    fn selection(&self) -> Option<SelectionView> {
        Some(SelectionView {
            thread: self.shown_thread(self.selected_thread()),
            level: 0,
        })
    }

    fn select(&mut self, selection: SelectionView) -> Result<(), CommandError> {
        self.event_of(selection)?;
        self.selected = Some(self.recorded_thread(selection.thread)?);
        Ok(())
    }

    fn thread_numbers(&mut self) -> Vec<u32> {
        let threads = self.tape.threads.iter();
        threads.map(|thread| self.shown_thread(*thread)).collect()
    }

    fn frames(&mut self, thread: u32, first: u64, count: u64) -> Result<FramesView, CommandError> {
        let number = self.event_of(SelectionView { thread, level: 0 })?;
        let location = self.place_of(number);
        let file = location.file.as_ref().map(PathBuf::from);
        let source = file.and_then(|file| self.sources.present_path(&file));
        let frame = PlacedFrameView {
            source: source.map(|source| source.display().to_string()),
            is_users: number > 0,
            frame: FrameView {
                location,
                ..FrameView::default()
            },
            ..PlacedFrameView::default()
        };
        Ok(FramesView {
            frames: if first == 0 && count > 0 {
                vec![frame]
            } else {
                Vec::new()
            },
            total: Some(1),
        })
    }

    fn read_memory(&mut self, _: u64, _: usize) -> Result<Vec<u8>, CommandError> {
        Err(absent("memory"))
    }

    fn write_memory(&mut self, _: u64, _: &[u8]) -> Result<(), CommandError> {
        Err(absent("memory"))
    }

    fn source_paths(&mut self) -> Result<Vec<SourcePathView>, CommandError> {
        let places = self.tape.places.iter();
        let files: BTreeSet<String> = places.filter_map(|place| place.file.clone()).collect();
        let view = |compiled: String| SourcePathView {
            present: {
                let present = self.sources.present_path(Path::new(&compiled));
                present.map(|it| it.display().to_string())
            },
            compiled,
        };
        Ok(files.into_iter().map(view).collect())
    }

    fn source_text(&mut self, path: &str) -> Result<String, CommandError> {
        self.sources.whole(Path::new(path))
    }

    fn statements(
        &mut self,
        path: &str,
        first: u32,
        last: u32,
    ) -> Result<Vec<StatementView>, CommandError> {
        let places = self.places_in(path).into_iter();
        let lines: BTreeSet<u32> = places.filter_map(|place| place.line).collect();
        let lines = lines.range(first..=last.max(first));
        let statement = |&line: &u32| StatementView { line, column: None };
        Ok(lines.map(statement).collect())
    }

    fn calls_of_line(&mut self, _: SelectionView) -> Result<Vec<LineCallView>, CommandError> {
        Ok(Vec::new())
    }

    fn scope_nodes(
        &mut self,
        frame: SelectionView,
        group: Group,
        _: bool,
    ) -> Result<Vec<Node>, CommandError> {
        let number = self.event_of(frame)?;
        let values = match group {
            Group::Arguments => self.values_of(number),
            Group::Registers => return Err(absent("registers")),
            Group::Locals | Group::ReturnValue | Group::Statics => Vec::new(),
        };
        let values = values.into_iter();
        Ok(values
            .map(|it| node(it.name, it.value.to_string()))
            .collect())
    }

    fn part_nodes(
        &mut self,
        _: NodeId,
        _: PartFilter,
        _: u64,
        _: u64,
        _: bool,
    ) -> Result<Vec<Node>, CommandError> {
        Ok(Vec::new())
    }

    fn evaluate_node(
        &mut self,
        frame: SelectionView,
        expression: &str,
        _: bool,
    ) -> Result<Node, CommandError> {
        let value = self.value_of(self.event_of(frame)?, expression)?;
        Ok(node(expression.to_owned(), value))
    }

    fn assign_node(&mut self, _: NodeId, _: &str, _: &str, _: bool) -> Result<Node, CommandError> {
        Err(unchangeable())
    }

    fn assign_expression(
        &mut self,
        _: SelectionView,
        _: &str,
        _: &str,
        _: bool,
    ) -> Result<Node, CommandError> {
        Err(unchangeable())
    }
}
