//! Labels, and their resolution by jumps.
//!
//! A label is created before the element that it names, and a jump may precede its label;
//! so jumps are resolved when all labels are known.

use super::{ElementId, ElementKind, Graph};
use crate::Span;
use std::sync::Arc;

/// A label, by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::promela) enum LabelId {
    Label(usize),
    /// A jump, resolved when all labels are known.
    Jump(usize),
}

/// A label.
#[derive(Debug, Clone)]
pub(super) struct Label {
    pub name: Arc<str>,
    /// Numbers of the enclosing blocks, innermost last.
    pub blocks: Vec<u32>,
    pub at: Option<ElementId>,
}

/// The result of resolving a jump.
pub(super) enum Found {
    None,
    One(usize),
    /// Labels of several blocks, none of which encloses the jump.
    Several,
}

impl Graph {
    pub(super) fn special_label(&self, id: ElementId) -> Option<usize> {
        let is_special = |label: &Label| {
            label.at == Some(id)
                && ["accept", "end", "progress"]
                    .iter()
                    .any(|it| label.name.starts_with(it))
        };
        self.labels.iter().position(is_special)
    }

    /// Creates a label that is not placed yet.
    pub fn label(&mut self, name: Arc<str>, blocks: &[u32]) -> LabelId {
        let number = self.labels.len();
        self.named.entry(name.clone()).or_default().push(number);
        self.labels.push(Label {
            name,
            blocks: blocks.to_vec(),
            at: None,
        });
        LabelId::Label(number)
    }

    /// Creates a jump to a label by name, which may be placed later.
    pub fn jump(&mut self, name: Arc<str>, blocks: &[u32], span: Span) -> LabelId {
        self.jumps.push((name, blocks.to_vec(), span));
        LabelId::Jump(self.jumps.len() - 1)
    }

    /// Returns whether a block, or one that encloses it, has a label of this name.
    pub fn has_label(&self, name: &str, blocks: &[u32]) -> bool {
        let mut labels = self.labels_named(name);
        labels.any(|(_, label)| blocks.starts_with(&label.blocks))
    }

    fn labels_named(&self, name: &str) -> impl Iterator<Item = (usize, &Label)> {
        let numbers = self.named.get(name).into_iter().flatten();
        numbers.filter_map(|number| Some((*number, self.labels.get(*number)?)))
    }

    /// Resolves a jump: to the label in the nearest enclosing block, or to the only one
    /// elsewhere.
    pub(super) fn find_label(&self, name: &str, blocks: &[u32]) -> Found {
        let around = self
            .labels_named(name)
            .filter(|(_, label)| blocks.starts_with(&label.blocks))
            .max_by_key(|(_, label)| label.blocks.len());
        let mut anywhere = self.labels_named(name).map(|(index, _)| index);
        match (around, anywhere.next(), anywhere.next()) {
            (Some((index, _)), ..) | (None, Some(index), None) => Found::One(index),
            (None, None, _) => Found::None,
            (None, Some(_), Some(_)) => Found::Several,
        }
    }

    /// Returns the element with a label, if there is one.
    pub fn labelled(&self, name: &str) -> Option<ElementId> {
        let label = self
            .labels
            .iter()
            .find(|label| &*label.name == name && label.at.is_some());
        label.and_then(|label| label.at)
    }

    pub(super) fn place(&mut self, labels: &[LabelId], id: ElementId) {
        for label in labels {
            if let LabelId::Label(index) = label {
                self.labels[*index].at = Some(id);
            }
        }
    }

    /// Gives a label used in remote references a location of its own.
    pub fn make_visible(&mut self, name: &str) {
        let Some(id) = self.labelled(name) else {
            return;
        };
        if let ElementKind::Goto(label) = self.get(id).kind {
            let span = self.get(id).span;
            let jump = self.make(ElementKind::Goto(label), Vec::new(), span);
            let old = self.get(id).clone();
            let moved = self.get_mut(jump);
            moved.next = old.next;
            let number = self.skip;
            let element = self.get_mut(id);
            element.kind = ElementKind::Instruction {
                number,
                is_skip: true,
                is_print: false,
            };
            element.next = Some(jump);
        }
    }

    pub(super) fn labels_at(&self, id: ElementId) -> impl Iterator<Item = &Arc<str>> {
        let labels = self.labels.iter().filter(move |label| label.at == Some(id));
        labels
            .map(|label| &label.name)
            .filter(|name| !name.is_empty())
    }
}
