//! Targets of instructions, in source order.
//!
//! Jumps and joins are skipped here; which of them are steps after all depends on the
//! enclosing sequences.

use super::flat::Flat;
use super::{Edge, ElementId, ElementKind, Found, Graph, LabelId, Locations, Sequence};
use crate::Fault;
use rustc_hash::{FxHashMap, FxHashSet};

/// Targets of instructions.
#[derive(Default)]
pub(super) struct Emission {
    pub(super) done: FxHashSet<ElementId>,
    pub(super) edges: FxHashMap<ElementId, Edge>,
    /// By element: the first elements of its escapes.
    pub(super) escapes: FxHashMap<ElementId, Vec<ElementId>>,
    /// Whether a `d_step` in the middle of an atomic sequence is being emitted.
    in_middle: bool,
}

impl Graph {
    pub(super) fn target(&self, label: LabelId) -> Option<ElementId> {
        let index = match label {
            LabelId::Label(index) => index,
            LabelId::Jump(jump) => *self.targets.get(jump)?,
        };
        self.labels[index].at
    }

    /// Returns the element at which a process stops when it goes to one: jumps and joins
    /// are skipped. From inside an atomic sequence, it does not leave the sequence.
    pub(super) fn resolve(&self, from: ElementId, is_atomic: bool) -> Result<ElementId, Fault> {
        let mut here = from;
        for _ in 0..=self.elements.len() {
            let element = self.get(here);
            let next = match element.kind {
                ElementKind::Goto(label) => self.target(label),
                ElementKind::Join | ElementKind::BreakTarget => element.next,
                ElementKind::Unless => match element.inside.first() {
                    Some(normal) => Some(self.resolve(normal.first, is_atomic)?),
                    None => None,
                },
                _ => None,
            };
            match next {
                Some(next) if !is_atomic || self.get(next).is_atomic => here = next,
                _ => return Ok(here),
            }
        }
        let message = "these jumps form a loop without a statement";
        Err(Fault::new("empty-loop", message, Some(self.get(from).span)))
    }

    /// Returns the first element of an option that does something.
    pub(super) fn begin(&self, from: ElementId) -> ElementId {
        let mut here = from;
        for _ in 0..=self.elements.len() {
            let element = self.get(here);
            let next = match element.kind {
                ElementKind::Join => element.next,
                ElementKind::Unless => element.inside.first().map(|normal| normal.first),
                _ => None,
            };
            match next {
                Some(next) => here = next,
                None => break,
            }
        }
        here
    }

    /// Computes the locations of the process with this body.
    pub fn finish(mut self, body: Sequence) -> Result<(Locations, Graph), Fault> {
        for (name, blocks, span) in &self.jumps {
            let message = match self.find_label(name, blocks) {
                Found::One(index) => {
                    self.targets.push(index);
                    continue;
                }
                Found::None => format!("there is no label `{name}`"),
                Found::Several => format!(
                    "several blocks have a label `{name}`, and none of them encloses this jump"
                ),
            };
            return Err(Fault::new("unknown-label", message, Some(*span)));
        }
        let mut emission = Emission::default();
        self.emit(body, &mut emission)?;
        let start = self.resolve(body.first, self.get(body.first).is_atomic)?;
        let mut flat = Flat {
            graph: &self,
            emission: &emission,
            edges: FxHashMap::default(),
            marks: FxHashMap::default(),
            busy: FxHashSet::default(),
        };
        let order = flat.reach(start);
        let locations = flat.locations(&order, start);
        Ok((locations, self))
    }

    /// Emits a sequence in source order, recording the target of each instruction.
    fn emit(&mut self, sequence: Sequence, emission: &mut Emission) -> Result<(), Fault> {
        let mut here = Some(sequence.first);
        while let Some(id) = here {
            if emission.done.insert(id) {
                self.emit_element(id, emission)?;
            }
            if id == sequence.last {
                break;
            }
            here = self.get(id).next;
        }
        Ok(())
    }

    fn emit_element(&mut self, id: ElementId, emission: &mut Emission) -> Result<(), Fault> {
        let element = self.get(id).clone();
        match element.kind {
            ElementKind::Unless => {
                if let Some(normal) = element.inside.first() {
                    self.emit(*normal, emission)?;
                }
            }
            ElementKind::Choice | ElementKind::Loop => {
                for inner in element.inside {
                    self.emit(inner, emission)?;
                }
            }
            ElementKind::Atomic | ElementKind::Block | ElementKind::DStep { .. } => {
                for inner in element.inside {
                    self.bridge_atomic(inner);
                    self.get_mut(inner.last).next = element.next;
                    let is_step = matches!(element.kind, ElementKind::DStep { .. });
                    let in_middle = emission.in_middle || is_step && element.is_atomic;
                    let outside = std::mem::replace(&mut emission.in_middle, in_middle);
                    self.emit(inner, emission)?;
                    emission.in_middle = outside;
                }
                if let ElementKind::DStep { number } = element.kind {
                    self.emit_edge(id, number, emission)?;
                }
            }
            ElementKind::Instruction { number, .. }
            | ElementKind::Else { number }
            | ElementKind::Stop { number } => self.emit_edge(id, number, emission)?,
            ElementKind::Goto(_) | ElementKind::Join | ElementKind::BreakTarget => {
                self.emit_edge(id, self.skip, emission)?;
            }
        }
        Ok(())
    }

    fn emit_edge(
        &mut self,
        id: ElementId,
        instruction: u32,
        emission: &mut Emission,
    ) -> Result<(), Fault> {
        let element = self.get(id);
        let next = match element.kind {
            ElementKind::Goto(label) => self.target(label),
            ElementKind::Stop { .. } => None,
            _ => element.next,
        };
        // After such a `d_step` the atomic sequence continues.
        let is_end = element.in_step && element.ends_atomic;
        let goes_on = element.is_atomic || emission.in_middle && is_end;
        let to = next.map(|next| self.resolve(next, goes_on)).transpose()?;
        let edge = Edge {
            instruction,
            to,
            is_atomic: element.is_atomic,
            of: id,
            escape: 0,
        };
        let is_join = element.kind == ElementKind::Join;
        let escapes = if is_join {
            Vec::new()
        } else {
            element.escapes.clone()
        };
        let is_atomic = element.is_atomic;
        emission.edges.insert(id, edge);
        let mut begins = Vec::new();
        for escape in &escapes {
            begins.push(self.resolve(escape.first, is_atomic)?);
        }
        emission.escapes.insert(id, begins);
        for escape in escapes {
            self.emit(escape, emission)?;
        }
        Ok(())
    }

    /// Adjusts jumps out of atomic sequences, and from one into the next.
    fn bridge_atomic(&mut self, sequence: Sequence) {
        let mut here = Some(sequence.first);
        while let Some(id) = here {
            let element = self.get(id).clone();
            if let ElementKind::Goto(label) = element.kind {
                let to = self.target(label).map(|to| self.get(to));
                let leads_inside = to.is_some_and(|to| to.is_atomic || to.ends_atomic);
                let element = self.get_mut(id);
                if (element.is_atomic || element.ends_atomic) && !leads_inside {
                    element.is_atomic = false;
                    element.ends_atomic = true;
                }
                if element.ends_atomic && leads_inside {
                    element.ends_atomic = false;
                    element.is_atomic = true;
                }
            } else if matches!(
                element.kind,
                ElementKind::Choice | ElementKind::Loop | ElementKind::Unless
            ) {
                for inner in element.inside {
                    self.bridge_atomic(inner);
                }
            }
            if id == sequence.extent {
                break;
            }
            here = self.get(id).next;
        }
    }
}
