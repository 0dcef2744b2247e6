//! Control-flow graph of a process.
//!
//! Statements become *elements* linked in sequence; choices, loops, atomic sequences and
//! escapes contain nested sequences. A process is located at an element. Which elements
//! are locations, and which are skipped, determines the number of states of a model; it
//! agrees with `spin`. A jump is skipped if something precedes it, but is a step as a
//! guard, and when it leaves an atomic sequence.

mod emission;
mod flat;
mod labels;
mod nested;

use super::program::Location;
use crate::Span;
pub(super) use labels::LabelId;
use labels::{Found, Label};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// An element of a [`Graph`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct ElementId(pub u32);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ElementKind {
    /// An instruction; `is_skip` if it has no effect.
    Instruction {
        number: u32,
        is_skip: bool,
        is_print: bool,
    },
    Else {
        number: u32,
    },
    Goto(LabelId),
    /// The join of the options of a choice.
    Join,
    /// The target of `break`.
    BreakTarget,
    Choice,
    Loop,
    Unless,
    Atomic,
    DStep {
        number: u32,
    },
    Block,
    Stop {
        number: u32,
    },
}

/// A sequence of elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sequence {
    pub first: ElementId,
    pub last: ElementId,
    /// The last one in the source.
    extent: ElementId,
}

#[derive(Debug, Clone)]
struct Element {
    kind: ElementKind,
    next: Option<ElementId>,
    inside: Vec<Sequence>,
    /// Innermost last.
    escapes: Vec<Sequence>,
    is_atomic: bool,
    ends_atomic: bool,
    in_step: bool,
    span: Span,
}

/// The elements of one process.
#[derive(Debug, Clone, Default)]
pub(super) struct Graph {
    elements: Vec<Element>,
    labels: Vec<Label>,
    /// By name: the numbers of its labels.
    named: FxHashMap<Arc<str>, Vec<usize>>,
    /// The open sequences: first and last elements.
    open: Vec<(Option<ElementId>, Option<ElementId>)>,
    breaks: Vec<LabelId>,
    jumps: Vec<(Arc<str>, Vec<u32>, Span)>,
    /// By jump: its label, once all labels are known.
    targets: Vec<usize>,
    skip: u32,
}

/// The locations of a process.
pub(super) struct Locations {
    pub locations: Vec<Location>,
    pub start: u32,
    /// Location by element.
    pub by_element: FxHashMap<ElementId, u32>,
}

/// A transition before choices are flattened.
#[derive(Debug, Clone, Copy)]
struct Edge {
    instruction: u32,
    to: Option<ElementId>,
    is_atomic: bool,
    of: ElementId,
    escape: u32,
}

impl Graph {
    /// Returns an empty graph; `skip` is the instruction without effect.
    pub fn new(skip: u32) -> Graph {
        Graph {
            skip,
            ..Graph::default()
        }
    }

    fn get(&self, id: ElementId) -> &Element {
        &self.elements[id.0 as usize]
    }

    fn get_mut(&mut self, id: ElementId) -> &mut Element {
        &mut self.elements[id.0 as usize]
    }

    /// Creates an element that is not linked yet.
    fn make(&mut self, kind: ElementKind, inside: Vec<Sequence>, span: Span) -> ElementId {
        self.elements.push(Element {
            kind,
            next: None,
            inside,
            escapes: Vec::new(),
            is_atomic: false,
            ends_atomic: false,
            in_step: false,
            span,
        });
        ElementId(self.elements.len() as u32 - 1)
    }

    /// Opens a sequence.
    pub fn open(&mut self) {
        self.open.push((None, None));
    }

    /// Closes a sequence.
    pub fn close(&mut self, span: Span) -> Sequence {
        let (first, last) = self.open.pop().unwrap_or((None, None));
        let (first, last) = match (first, last) {
            (Some(first), Some(last)) => (first, last),
            _ => {
                // A sequence without statements.
                let skip = self.skip_element(span);
                (skip, skip)
            }
        };
        Sequence {
            first,
            last,
            extent: last,
        }
    }

    fn skip_element(&mut self, span: Span) -> ElementId {
        let number = self.skip;
        let kind = ElementKind::Instruction {
            number,
            is_skip: true,
            is_print: false,
        };
        self.make(kind, Vec::new(), span)
    }

    /// Appends an element to a sequence.
    fn append(&mut self, sequence: &mut (Option<ElementId>, Option<ElementId>), id: ElementId) {
        if let ElementKind::Goto(_) = self.get(id).kind
            && let Some(label) = self.special_label(id)
        {
            // The label needs a location of its own.
            let skip = self.skip_element(self.get(id).span);
            self.labels[label].at = Some(skip);
            self.append(sequence, skip);
        }
        match sequence.1 {
            Some(last) => self.get_mut(last).next = Some(id),
            None => sequence.0 = Some(id),
        }
        sequence.1 = Some(id);
    }

    fn append_to(&mut self, sequence: &mut Sequence, id: ElementId) {
        let mut ends = (Some(sequence.first), Some(sequence.last));
        self.append(&mut ends, id);
        sequence.last = ends.1.unwrap_or(sequence.last);
    }

    fn append_here(&mut self, id: ElementId) {
        let mut current = self.open.pop().unwrap_or((None, None));
        self.append(&mut current, id);
        self.open.push(current);
    }

    /// Appends an instruction, with the labels before it.
    pub fn instruction(&mut self, kind: ElementKind, labels: &[LabelId], span: Span) -> ElementId {
        let id = self.make(kind, Vec::new(), span);
        self.place(labels, id);
        self.append_here(id);
        id
    }

    /// Opens a loop, the target of whose `break` is after it.
    pub fn push_break(&mut self) {
        let label = self.label("".into(), &[]);
        self.breaks.push(label);
    }

    /// Returns the `break` target of the innermost loop.
    pub fn break_label(&self) -> Option<LabelId> {
        self.breaks.last().copied()
    }

    /// Appends a choice or a loop.
    pub fn choice(
        &mut self,
        options: Vec<Sequence>,
        is_loop: bool,
        labels: &[LabelId],
        span: Span,
    ) -> ElementId {
        let kind = if is_loop {
            ElementKind::Loop
        } else {
            ElementKind::Choice
        };
        let mut options = options;
        // `else` is last.
        options
            .sort_by_key(|option| matches!(self.get(option.first).kind, ElementKind::Else { .. }));
        let id = self.make(kind, Vec::new(), span);
        let mut join = self.make(ElementKind::Join, Vec::new(), span);
        for option in &mut options {
            self.append_to(option, join);
        }
        if is_loop {
            self.append_here(join);
            join = self.make(ElementKind::BreakTarget, Vec::new(), span);
            if let Some(label) = self.breaks.pop() {
                self.place(&[label], join);
            }
        }
        self.get_mut(id).inside = options;
        self.place(labels, id);
        self.append_here(id);
        self.append_here(join);
        id
    }

    /// Removes repeated `skip`s from an option of a choice.
    pub fn prune(&mut self, sequence: Sequence) {
        let mut count = 0;
        let mut before = None;
        let mut here = Some(sequence.first);
        while let Some(id) = here {
            let element = self.get(id);
            here = element.next;
            let (is_skip, is_print) = match element.kind {
                ElementKind::Instruction {
                    is_skip, is_print, ..
                } => (is_skip, is_print),
                _ => (false, false),
            };
            let is_labelled = self.labels.iter().any(|label| label.at == Some(id));
            count = if (is_skip || is_print) && !is_labelled {
                count + 1
            } else {
                0
            };
            let is_inside = id != sequence.first && id != sequence.last;
            if count > 1 && !is_print && is_inside {
                if let Some(before) = before {
                    self.get_mut(before).next = here;
                }
            } else {
                before = Some(id);
            }
        }
    }
}
