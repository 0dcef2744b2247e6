//! A block of commands, in a form that can be executed step by step.

use std::rc::Rc;

/// An action at a line of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// The line is executed, or belongs to the list that an earlier line has opened.
    Line,
    /// A condition: if it is false, the next step is this one.
    Test { otherwise: usize },
    /// The next step is this one.
    Go(usize),
}

/// A block of commands.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Block {
    /// The lines, without empty lines and comments.
    pub(crate) lines: Vec<String>,
    /// The step of each line.
    pub(crate) steps: Vec<Step>,
    /// The number of each line in its file; empty if it is in none.
    pub(crate) numbers: Vec<usize>,
    /// Whether a step leads backwards.
    pub(crate) has_loop: bool,
}

impl Block {
    /// Returns a block of lines that are executed as they stand, in order.
    pub(crate) fn of_lines(lines: Vec<String>) -> Rc<Block> {
        Rc::new(Block {
            steps: vec![Step::Line; lines.len()],
            lines,
            ..Block::default()
        })
    }

    /// Returns whether each line is executed once, in order.
    pub(crate) fn is_plain(&self) -> bool {
        self.steps.iter().all(|step| *step == Step::Line)
    }
}
