//! Sequences with escapes, and atomic sequences.
//!
//! Both mark nested elements at any depth: with the escapes of an element, and with its
//! being atomic.

use super::{ElementId, ElementKind, Graph, LabelId, Sequence};
use crate::Span;

impl Graph {
    /// Appends a sequence with an escape.
    pub fn unless(&mut self, normal: Sequence, escape: Sequence, labels: &[LabelId], span: Span) {
        let id = self.make(ElementKind::Unless, Vec::new(), span);
        let join = self.make(ElementKind::Join, Vec::new(), span);
        let (mut normal, mut escape) = (normal, escape);
        self.append_to(&mut normal, join);
        self.append_to(&mut escape, join);
        self.get_mut(id).inside = vec![normal, escape];
        self.attach_escape(normal, escape);
        self.place(labels, id);
        self.append_here(id);
        self.append_here(join);
    }

    fn attach_escape(&mut self, normal: Sequence, escape: Sequence) {
        let mut here = Some(normal.first);
        while let Some(id) = here {
            self.escape_element(id, escape);
            if id == normal.extent {
                break;
            }
            here = self.get(id).next;
        }
    }

    fn escape_element(&mut self, id: ElementId, escape: Sequence) {
        if self
            .get(id)
            .escapes
            .iter()
            .any(|known| known.first == escape.first)
        {
            return;
        }
        for inner in self.get(id).escapes.clone() {
            self.attach_escape(inner, escape);
        }
        let element = self.get_mut(id);
        element.escapes.insert(0, escape);
        let inside = element.inside.clone();
        match element.kind {
            ElementKind::Unless => {
                if let Some(normal) = inside.first() {
                    self.attach_escape(*normal, escape);
                }
            }
            ElementKind::DStep { .. } => {
                if let Some(guard) = inside.first() {
                    self.escape_element(guard.first, escape);
                }
            }
            _ => {
                for inner in inside {
                    self.attach_escape(inner, escape);
                }
            }
        }
    }

    /// Appends statements in braces, atomic or not.
    pub fn block(
        &mut self,
        kind: ElementKind,
        inside: Sequence,
        labels: &[LabelId],
        span: Span,
    ) -> ElementId {
        let id = self.make(kind, vec![inside], span);
        self.place(labels, id);
        self.append_here(id);
        match kind {
            ElementKind::Atomic => self.make_atomic(inside, false),
            ElementKind::DStep { .. } => self.make_atomic(inside, true),
            _ => {}
        }
        id
    }

    fn make_atomic(&mut self, sequence: Sequence, in_step: bool) {
        self.mark_atomic(sequence, in_step);
        let last = self.get_mut(sequence.last);
        let inside = last.inside.first().copied();
        match (last.kind, inside) {
            (ElementKind::Block | ElementKind::Atomic | ElementKind::Unless, Some(inside)) => {
                self.make_atomic(inside, in_step);
            }
            _ => {
                last.is_atomic = false;
                last.ends_atomic = true;
            }
        }
    }

    fn mark_atomic(&mut self, sequence: Sequence, in_step: bool) {
        let mut here = Some(sequence.first);
        while let Some(id) = here {
            let element = self.get_mut(id);
            element.is_atomic = true;
            element.in_step |= in_step;
            // An atomic sequence within an atomic sequence is an ordinary block.
            if element.kind == ElementKind::Atomic
                || in_step && matches!(element.kind, ElementKind::DStep { .. })
            {
                element.kind = ElementKind::Block;
            }
            let is_step = matches!(element.kind, ElementKind::DStep { .. });
            if !is_step {
                for inner in element.inside.clone() {
                    self.mark_atomic(inner, in_step);
                }
            }
            if id == sequence.last {
                break;
            }
            here = self.get(id).next;
        }
    }
}
