//! Questions of front ends that no command line answers as data.
//!
//! **Invariant**: an answer changes nothing that a later command refers to, except those whose
//! names say so.

use crate::nodes::{Group, Node, NodeId, PartFilter};
use crate::{
    AssemblyLine, CheckpointView, FrameView, LineView, ModuleView, PointView, ProgramView,
    RecordedCheckpointView, ThreadView,
};
use juror_fault::CommandError;
use serde::Serialize;
use std::ops::Range;

/// The thread and frame that commands refer to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct SelectionView {
    /// juror's number of the thread, from 1.
    pub thread: u32,
    /// The frame; 0 is the innermost.
    pub level: u32,
}

/// Some frames of a stack.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct FramesView {
    /// The frames, innermost first.
    pub frames: Vec<PlacedFrameView>,
    /// The number of all frames, if it is known.
    pub total: Option<u64>,
}

/// A frame, and the files that it is from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct PlacedFrameView {
    /// The frame.
    pub frame: FrameView,
    /// The path of its module.
    pub module: Option<String>,
    /// The present path of its source file, which may have moved; absent if it is not found.
    pub source: Option<String>,
    /// The column of its line.
    pub column: Option<ColumnView>,
    /// Whether there is source for it to show.
    pub is_users: bool,
    /// Whether its call can begin anew, as far as that does not depend on its arguments.
    pub may_restart: bool,
}

/// A source file of the program.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct SourcePathView {
    /// Its path, as the debug information names it.
    pub compiled: String,
    /// Its present path; absent if it is not found.
    pub present: Option<String>,
}

/// A place of a source file where a breakpoint can stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct StatementView {
    /// The line.
    pub line: u32,
    /// The column where the statement begins, if it is known.
    pub column: Option<ColumnView>,
}

/// A column of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ColumnView {
    /// The column as debug information and commands have it: from 1, in bytes.
    pub byte: u32,
    /// The column as editors have it: from 1, in UTF-16 units.
    pub unit: u32,
}

/// A call that the line of a frame makes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LineCallView {
    /// The address of the instruction that calls.
    pub address: u64,
    /// The function.
    pub function: String,
    /// The line of the call.
    pub line: Option<u32>,
    /// Its column.
    pub column: Option<ColumnView>,
}

/// The checkpoints of a program or of a recording.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum CheckpointsView {
    /// Those of a program.
    Live(Vec<CheckpointView>),
    /// Those of a recording.
    Recorded(Vec<RecordedCheckpointView>),
}

/// A session that answers questions.
pub trait Queries {
    /// Returns the points of the user, and those of the monitors.
    fn points(&mut self) -> Vec<PointView>;
    /// Returns the threads of every process.
    ///
    /// # Errors
    /// There is no program.
    fn threads(&mut self) -> Result<Vec<ThreadView>, CommandError>;
    /// Returns the checkpoints.
    ///
    /// # Errors
    /// There is no program.
    fn checkpoints(&mut self) -> Result<CheckpointsView, CommandError>;
    /// Returns the process and its selected thread.
    ///
    /// # Errors
    /// There is no program.
    fn program(&mut self) -> Result<ProgramView, CommandError>;
    /// Returns the loaded modules.
    ///
    /// # Errors
    /// There is no program.
    fn loaded_modules(&mut self) -> Result<Vec<ModuleView>, CommandError>;
    /// Returns the addresses where the code of a line begins, or of the next line with code.
    ///
    /// # Errors
    /// There is no program.
    fn addresses_of_line(&mut self, path: &str, line: u32) -> Result<Vec<LineView>, CommandError>;
    /// Returns the instructions of a range of memory with their bytes and lines; those before the
    /// first that cannot be read.
    ///
    /// # Errors
    /// There is no program.
    fn instructions(&mut self, range: Range<u64>) -> Result<Vec<AssemblyLine>, CommandError>;
    /// Returns where the function begins that an address is in.
    fn function_start(&mut self, address: u64) -> Option<u64> {
        let _ = address;
        None
    }
    /// Returns the selected thread and frame.
    fn selection(&self) -> Option<SelectionView>;
    /// Selects a thread and a frame for the commands that follow.
    ///
    /// # Errors
    /// There is no such thread or frame.
    fn select(&mut self, selection: SelectionView) -> Result<(), CommandError>;
    /// Returns the numbers of all threads, of every process.
    fn thread_numbers(&mut self) -> Vec<u32>;
    /// Returns `count` frames of a thread, from the frame `first` on.
    ///
    /// # Errors
    /// There is no such thread.
    fn frames(&mut self, thread: u32, first: u64, count: u64) -> Result<FramesView, CommandError>;
    /// Returns the bytes from an address on, as many as can be read; without inserted
    /// breakpoints.
    ///
    /// # Errors
    /// There is no program.
    fn read_memory(&mut self, address: u64, count: usize) -> Result<Vec<u8>, CommandError>;
    /// Writes bytes to the memory of the program.
    ///
    /// # Errors
    /// They cannot be written.
    fn write_memory(&mut self, address: u64, bytes: &[u8]) -> Result<(), CommandError>;
    /// Returns the source files of the modules with debug information.
    ///
    /// # Errors
    /// There is no program.
    fn source_paths(&mut self) -> Result<Vec<SourcePathView>, CommandError>;
    /// Returns the text of a source file, by either of its paths.
    ///
    /// # Errors
    /// The file cannot be read.
    fn source_text(&mut self, path: &str) -> Result<String, CommandError>;
    /// Returns where statements begin in a range of lines; a line with code and without columns is
    /// one statement.
    ///
    /// # Errors
    /// There is no program.
    fn statements(
        &mut self,
        path: &str,
        first: u32,
        last: u32,
    ) -> Result<Vec<StatementView>, CommandError>;
    /// Returns the calls of the line that a frame is in that can be named and stepped into; none
    /// for a frame that is not the innermost of its thread.
    ///
    /// # Errors
    /// There is no such thread.
    fn calls_of_line(&mut self, frame: SelectionView) -> Result<Vec<LineCallView>, CommandError>;
    /// Checks that a place is in the function that a thread is in: the thread may go on there.
    ///
    /// # Errors
    /// It is in another function.
    fn check_target(&mut self, thread: u32, address: u64) -> Result<(), CommandError> {
        let _ = (thread, address);
        Err(CommandError::new("this run cannot go on elsewhere"))
    }
    /// Returns the values of a group in a frame; in hexadecimal if `is_hex`.
    ///
    /// # Errors
    /// There is no such frame.
    fn scope_nodes(
        &mut self,
        frame: SelectionView,
        group: Group,
        is_hex: bool,
    ) -> Result<Vec<Node>, CommandError>;
    /// Returns `count` parts of a value, from the part `first` on; in hexadecimal if `is_hex`.
    ///
    /// # Errors
    /// The value is of an earlier stop.
    fn part_nodes(
        &mut self,
        node: NodeId,
        filter: PartFilter,
        first: u64,
        count: u64,
        is_hex: bool,
    ) -> Result<Vec<Node>, CommandError>;
    /// Returns the value of an expression in a frame, calling no function of the program; in
    /// hexadecimal if `is_hex`.
    ///
    /// # Errors
    /// The expression has no value.
    fn evaluate_node(
        &mut self,
        frame: SelectionView,
        expression: &str,
        is_hex: bool,
    ) -> Result<Node, CommandError>;
    /// Returns the whole value of an expression in a frame as text, for a copy of it; what is
    /// longer than a large limit is cut, and the text says so.
    ///
    /// # Errors
    /// The expression has no value.
    fn whole_value(
        &mut self,
        frame: SelectionView,
        expression: &str,
        is_hex: bool,
    ) -> Result<String, CommandError> {
        let node = self.evaluate_node(frame, expression, is_hex)?;
        Ok(node.summary)
    }
    /// Takes the ranges of memory that the user has changed since the program stopped, or since
    /// they were taken last.
    fn take_written(&mut self) -> Vec<Range<u64>> {
        Vec::new()
    }
    /// Assigns to a part of a value; a value is also given as it is shown. Returns the part with
    /// its new value, in hexadecimal if `is_hex`.
    ///
    /// # Errors
    /// The part does not take it.
    fn assign_node(
        &mut self,
        parent: NodeId,
        name: &str,
        value: &str,
        is_hex: bool,
    ) -> Result<Node, CommandError>;
    /// Assigns to an expression in a frame; a value is also given as it is shown. Returns its new
    /// value, in hexadecimal if `is_hex`.
    ///
    /// # Errors
    /// The expression does not take it.
    fn assign_expression(
        &mut self,
        frame: SelectionView,
        place: &str,
        value: &str,
        is_hex: bool,
    ) -> Result<Node, CommandError>;
}
