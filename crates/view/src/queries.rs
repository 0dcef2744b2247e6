//! Questions of front ends that no command line answers as data.
//!
//! **Invariant**: an answer changes nothing that a later command refers to, except those whose
//! names say so.

use crate::FrameView;
use crate::error::CommandError;
use crate::nodes::{Group, Node, NodeId, PartFilter};
use serde::Serialize;

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
    /// Whether there is source for it to show.
    pub is_users: bool,
}

/// A source file of the program.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct SourcePathView {
    /// Its path, as the debug information names it.
    pub compiled: String,
    /// Its present path; absent if it is not found.
    pub present: Option<String>,
}

/// A session that answers questions.
pub trait Queries {
    /// Returns the selected thread and frame.
    fn selection(&self) -> Option<SelectionView>;
    /// Selects a thread and a frame for the commands that follow.
    ///
    /// # Errors
    /// There is no such thread or frame.
    fn select(&mut self, selection: SelectionView) -> Result<(), CommandError>;
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
    /// Returns the lines of a range for which there is code.
    ///
    /// # Errors
    /// There is no program.
    fn lines_with_code(
        &mut self,
        path: &str,
        first: u32,
        last: u32,
    ) -> Result<Vec<u32>, CommandError>;
    /// Returns the values of a group in a frame.
    ///
    /// # Errors
    /// There is no such frame.
    fn scope_nodes(
        &mut self,
        frame: SelectionView,
        group: Group,
    ) -> Result<Vec<Node>, CommandError>;
    /// Returns `count` parts of a value, from the part `first` on.
    ///
    /// # Errors
    /// The value is of an earlier stop.
    fn part_nodes(
        &mut self,
        node: NodeId,
        filter: PartFilter,
        first: u64,
        count: u64,
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
    /// Assigns to a part of a value. Returns the part with its new value.
    ///
    /// # Errors
    /// The part does not take it.
    fn assign_node(
        &mut self,
        parent: NodeId,
        name: &str,
        value: &str,
    ) -> Result<Node, CommandError>;
    /// Assigns to an expression in a frame. Returns its new value.
    ///
    /// # Errors
    /// The expression does not take it.
    fn assign_expression(
        &mut self,
        frame: SelectionView,
        place: &str,
        value: &str,
    ) -> Result<Node, CommandError>;
}
