//! Flattens choices: computes the transitions of each location.

use super::emission::Emission;
use super::{Edge, Element, ElementId, ElementKind, Graph, Locations};
use crate::promela::program::{Location, Transition};
use rustc_hash::{FxHashMap, FxHashSet};

/// Attributes of a location that labels give it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Marks {
    is_end: bool,
    is_progress: bool,
    is_accept: bool,
}

/// Flattened choices: all instructions enabled at an element.
pub(super) struct Flat<'a> {
    pub(super) graph: &'a Graph,
    pub(super) emission: &'a Emission,
    pub(super) edges: FxHashMap<ElementId, Vec<Edge>>,
    pub(super) marks: FxHashMap<ElementId, Marks>,
    pub(super) busy: FxHashSet<ElementId>,
}

impl Flat<'_> {
    /// Returns the transitions of an element without its escapes.
    fn plain(&mut self, id: ElementId) -> Vec<Edge> {
        if let Some(edge) = self.emission.edges.get(&id) {
            return vec![*edge];
        }
        if !self.busy.insert(id) {
            return Vec::new();
        }
        let mut edges = Vec::new();
        for inner in self.graph.get(id).inside.clone() {
            let begin = self.graph.begin(inner.first);
            edges.extend(self.plain(begin));
            self.take_marks(id, begin);
        }
        self.busy.remove(&id);
        edges
    }

    /// Copies the labels of a nested element to the enclosing one.
    fn take_marks(&mut self, id: ElementId, inner: ElementId) {
        let is_end = self
            .graph
            .labels_at(inner)
            .any(|name| name.starts_with("end"))
            || self.marks.get(&inner).is_some_and(|marks| marks.is_end);
        self.marks.entry(id).or_default().is_end |= is_end;
        let has = |word: &str| {
            self.graph
                .labels_at(inner)
                .any(|name| name.starts_with(word))
        };
        let (progress, accept) = (has("progress"), has("accept"));
        if progress || accept {
            let targets: Vec<ElementId> = match self.emission.edges.get(&inner) {
                Some(edge) => edge.to.into_iter().collect(),
                None => Vec::new(),
            };
            for to in targets {
                let marks = self.marks.entry(to).or_default();
                marks.is_progress |= progress;
                marks.is_accept |= accept;
            }
        }
    }

    fn all(&mut self, id: ElementId) -> &[Edge] {
        if !self.edges.contains_key(&id) {
            let edges = self.with_escapes(id);
            self.edges.insert(id, edges);
        }
        self.edges.get(&id).map_or(&[], Vec::as_slice)
    }

    /// Adds the transitions of escapes before the others, outer escapes first.
    fn with_escapes(&mut self, id: ElementId) -> Vec<Edge> {
        let plain = self.plain(id);
        let mut edges = plain.clone();
        for edge in plain {
            // A `d_step` cannot be left before it is complete.
            if self.graph.get(edge.of).in_step {
                continue;
            }
            let begins = self
                .emission
                .escapes
                .get(&edge.of)
                .cloned()
                .unwrap_or_default();
            for begin in begins.into_iter().rev() {
                // In Spin's numbering, a choice comes after its contents and their
                // escapes: then the transitions of the escape are possible besides it.
                let inside = if id > begin {
                    self.all(begin).to_vec()
                } else {
                    self.plain(begin)
                };
                for escape in inside {
                    if edges.iter().any(|known| known.of == escape.of) {
                        continue;
                    }
                    let escape = Edge {
                        escape: begin.0 + 1,
                        ..escape
                    };
                    edges.insert(0, escape);
                }
            }
        }
        edges
    }

    pub(super) fn reach(&mut self, start: ElementId) -> Vec<ElementId> {
        let mut order = vec![start];
        let mut seen = FxHashSet::from_iter([start]);
        let mut next = 0;
        while let Some(&id) = order.get(next) {
            next += 1;
            let mut targets: Vec<ElementId> = Vec::new();
            let edges = self.all(id).to_vec();
            for edge in edges {
                targets.extend(edge.to);
                let element = self.graph.get(edge.of);
                if let (ElementKind::DStep { .. }, Some(inner)) =
                    (element.kind, element.inside.first())
                {
                    targets.push(self.graph.begin(inner.first));
                }
            }
            for to in targets {
                if seen.insert(to) {
                    order.push(to);
                }
            }
        }
        order
    }

    pub(super) fn locations(&mut self, order: &[ElementId], start: ElementId) -> Locations {
        let numbers = order
            .iter()
            .enumerate()
            .map(|(number, id)| (*id, number as u32));
        let by_element: FxHashMap<ElementId, u32> = numbers.collect();
        let number =
            |id: Option<ElementId>| id.and_then(|id| by_element.get(&id)).copied().unwrap_or(0);
        let mut locations = Vec::new();
        for id in order {
            let edges = self.all(*id).to_vec();
            let mut transitions = Vec::new();
            for edge in edges {
                transitions.push(Transition {
                    instruction: edge.instruction,
                    to: number(edge.to),
                    is_atomic: edge.is_atomic,
                    escape: edge.escape,
                });
            }
            let element = self.graph.get(*id);
            locations.push(Location {
                transitions,
                in_sequence: element.in_step,
                in_atomic: element.is_atomic || element.ends_atomic,
                is_end: matches!(element.kind, ElementKind::Stop { .. }),
                labels: self.graph.labels_at(*id).cloned().collect(),
                ..Location::default()
            });
        }
        for (location, id) in locations.iter_mut().zip(order) {
            let marks = self.marks.get(id).copied().unwrap_or_default();
            let has = |word: &str| location.labels.iter().any(|name| name.starts_with(word));
            location.is_end |= marks.is_end || has("end");
            location.is_progress = marks.is_progress || has("progress");
            location.is_accept = marks.is_accept || has("accept");
        }
        let start = number(Some(start));
        Locations {
            locations,
            start,
            by_element,
        }
    }
}

impl Locations {
    /// Returns the location at which a `d_step` starts.
    pub fn step_start(&self, graph: &Graph, instruction: u32) -> Option<u32> {
        let is_it = |element: &&Element| matches!(element.kind, ElementKind::DStep { number } if number == instruction);
        let element = graph.elements.iter().find(is_it)?;
        let first = element.inside.first()?.first;
        self.by_element.get(&graph.begin(first)).copied()
    }
}
