//! The control flow of a process, from its statements.
//!
//! Statements become *elements* that follow each other; choices, loops, atomic
//! sequences and escapes have sequences inside them. A process stands at an
//! element. Which elements are places of their own, and which are passed over,
//! decides how many states a model has: here it is as `spin` has it. A jump is
//! passed over when something comes before it, but is a step of its own as a
//! guard, and where it leaves an atomic sequence.

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
    /// An instruction; with a note that it does nothing.
    Instruction {
        number: u32,
        is_skip: bool,
        is_print: bool,
    },
    Else {
        number: u32,
    },
    Goto(LabelId),
    /// Where the ways of a choice meet.
    Meeting,
    /// Where `break` leads.
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

/// Elements that follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sequence {
    pub first: ElementId,
    pub last: ElementId,
    /// The last one as it was written.
    extent: ElementId,
}

#[derive(Debug, Clone)]
struct Element {
    kind: ElementKind,
    next: Option<ElementId>,
    inside: Vec<Sequence>,
    /// The innermost last.
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
    /// The sequences that are open.
    open: Vec<(Option<ElementId>, Option<ElementId>)>,
    breaks: Vec<LabelId>,
    jumps: Vec<(Arc<str>, Vec<u32>, Span)>,
    skip: u32,
}

/// The locations of a process.
pub(super) struct Locations {
    pub locations: Vec<Location>,
    pub start: u32,
    /// By element: the location.
    pub by_element: FxHashMap<ElementId, u32>,
}

/// One transition before choices are resolved.
#[derive(Debug, Clone, Copy)]
struct Way {
    instruction: u32,
    to: Option<ElementId>,
    is_atomic: bool,
    of: ElementId,
    escape: u32,
}

impl Graph {
    /// A graph without elements; `skip` is the instruction that does nothing.
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

    /// A new element that stands nowhere yet.
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

    /// Begins a sequence.
    pub fn open(&mut self) {
        self.open.push((None, None));
    }

    /// Ends a sequence.
    pub fn close(&mut self, span: Span) -> Sequence {
        let (first, last) = self.open.pop().unwrap_or((None, None));
        let (first, last) = match (first, last) {
            (Some(first), Some(last)) => (first, last),
            _ => {
                // A sequence of declarations alone.
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

    /// Puts an element at the end of a sequence.
    fn append(&mut self, sequence: &mut (Option<ElementId>, Option<ElementId>), id: ElementId) {
        if let ElementKind::Goto(_) = self.get(id).kind
            && let Some(label) = self.special_label(id)
        {
            // The label needs a place of its own.
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

    /// An instruction, with the labels before it.
    pub fn instruction(&mut self, kind: ElementKind, labels: &[LabelId], span: Span) -> ElementId {
        let id = self.make(kind, Vec::new(), span);
        self.place(labels, id);
        self.append_here(id);
        id
    }

    /// A loop begins: `break` leads behind it.
    pub fn push_break(&mut self) {
        let label = self.label("".into(), &[]);
        self.breaks.push(label);
    }

    /// A loop is put aside while an escape of it is read.
    pub fn break_label(&self) -> Option<LabelId> {
        self.breaks.last().copied()
    }

    /// A choice or a loop.
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
        // `else` comes last.
        options
            .sort_by_key(|option| matches!(self.get(option.first).kind, ElementKind::Else { .. }));
        let id = self.make(kind, Vec::new(), span);
        let mut meeting = self.make(ElementKind::Meeting, Vec::new(), span);
        for option in &mut options {
            self.append_to(option, meeting);
        }
        if is_loop {
            self.append_here(meeting);
            meeting = self.make(ElementKind::BreakTarget, Vec::new(), span);
            if let Some(label) = self.breaks.pop() {
                self.place(&[label], meeting);
            }
        }
        self.get_mut(id).inside = options;
        self.place(labels, id);
        self.append_here(id);
        self.append_here(meeting);
        id
    }

    /// Leaves out `skip` after `skip` in the options of a choice.
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
