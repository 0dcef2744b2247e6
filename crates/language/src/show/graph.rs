//! The graph of a property: its states and transitions as they are displayed.

use crate::property::{Branch, Property, State, Transition};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;

/// The meaning of a state for the verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Sort {
    /// The property holds if the run ends here.
    Accepting,
    /// The property would be violated if the run ended here.
    NonAccepting,
    /// The property is violated, whatever happens next.
    Violation,
    /// The property holds, whatever happens next.
    Satisfaction,
    /// Slices that enter this state are forgotten.
    Final,
}

impl Sort {
    /// Returns its name.
    pub fn word(self) -> &'static str {
        match self {
            Sort::Accepting => "accepting",
            Sort::NonAccepting => "non-accepting",
            Sort::Violation => "violation",
            Sort::Satisfaction => "satisfied",
            Sort::Final => "final",
        }
    }
}

/// A state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// The identifier in the picture: `state-0`.
    pub id: String,
    /// The name in the property.
    pub name: String,
    /// The meaning for the verdict.
    pub sort: Sort,
    /// True if the run is in this state.
    pub current: bool,
    /// The number of slices in this state, if it is displayed.
    pub slices: Option<u64>,
}

impl Node {
    /// Returns the name and the number of slices.
    pub fn label(&self) -> Cow<'_, str> {
        match self.slices {
            None | Some(0) => Cow::Borrowed(&self.name),
            Some(count) => Cow::Owned(format!("{} ({count})", self.name)),
        }
    }
}

/// A transition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edge {
    /// The identifier in the picture: `edge-0`.
    pub id: String,
    /// The position of the source state.
    pub from: usize,
    /// The position of the target state.
    pub to: usize,
    /// The trigger: an event, or a condition over propositions.
    pub event: String,
    /// The guard as written.
    pub guard: Option<String>,
    /// True if the transition is taken when the guard is false.
    pub otherwise: bool,
    /// The `ignore when` condition as written.
    pub ignored: Option<String>,
    /// The updates as written.
    pub updates: Option<String>,
}

impl Edge {
    /// Returns event and guard: `push when count < capacity`.
    pub fn condition(&self) -> String {
        let condition = match (&self.guard, self.otherwise) {
            (Some(guard), true) => format!("{} unless {guard}", self.event),
            (Some(guard), false) => format!("{} when {guard}", self.event),
            (None, _) => self.event.clone(),
        };
        match &self.ignored {
            Some(doubt) => format!("{condition} ignore when {doubt}"),
            None => condition,
        }
    }

    /// Returns the lines of the label: condition, then updates.
    pub fn label(&self) -> Vec<String> {
        let mut lines = vec![self.condition()];
        lines.extend(self.updates.clone());
        lines
    }
}

/// The displayed data of a property.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Graph {
    /// The name of the property.
    pub name: String,
    /// The description.
    pub description: Option<String>,
    /// Further information, one line each: the parameters, the formula.
    pub notes: Vec<String>,
    /// The states.
    pub nodes: Vec<Node>,
    /// The transitions, in order.
    pub edges: Vec<Edge>,
    /// The position of the initial state.
    pub initial: usize,
}

impl Graph {
    /// Creates the graph of an automaton; `source` is the text from which the property
    /// was read. A formula or an expression has no states: its graph is created by
    /// [`Graph::of_parts`].
    pub fn of_automaton(property: &Property, source: &str) -> Graph {
        let states = property.states();
        let mut graph = Graph::of_parts(property);
        graph.initial = property.initial().index();
        for (position, state) in states.iter().enumerate() {
            graph.add_node(&state.name, sort(states, position));
        }
        for (position, state) in states.iter().enumerate() {
            // A slice in a final state is forgotten, so its transitions are never
            // taken.
            let transitions = if state.is_final {
                &[][..]
            } else {
                &state.transitions
            };
            for transition in transitions {
                graph.add_transition(position, transition, property, source);
            }
        }
        graph
    }

    /// Creates a graph without states, to be filled by the caller.
    pub fn of_parts(property: &Property) -> Graph {
        let mut notes = Vec::new();
        if !property.slice.is_empty() && property.constraint.is_none() {
            notes.push(format!("slice on {}", property.slice.join(", ")));
        }
        Graph {
            name: property.name.to_string(),
            description: property.description.as_deref().map(str::to_owned),
            notes,
            nodes: Vec::new(),
            edges: Vec::new(),
            initial: 0,
        }
    }

    /// Adds a state; returns its position.
    pub fn add_node(&mut self, name: &str, sort: Sort) -> usize {
        let position = self.nodes.len();
        self.nodes.push(Node {
            id: format!("state-{position}"),
            name: name.to_owned(),
            sort,
            current: false,
            slices: None,
        });
        position
    }

    /// Adds a transition between two states.
    pub fn add_edge(&mut self, from: usize, to: usize, event: &str) -> &mut Edge {
        let position = self.edges.len();
        self.edges.push(Edge {
            id: format!("edge-{position}"),
            from,
            to,
            event: event.to_owned(),
            guard: None,
            otherwise: false,
            ignored: None,
            updates: None,
        });
        &mut self.edges[position]
    }

    fn add_transition(
        &mut self,
        from: usize,
        transition: &Transition,
        property: &Property,
        source: &str,
    ) {
        let event = property.event(transition.event);
        let event = event.map_or("", |event| &event.name);
        let ignored = transition.ignored.as_ref();
        let guard = match ignored {
            Some(ignored) => ignored.guard.clone(),
            None => transition.guard.as_ref().map(|guard| guard.span.clone()),
        };
        let guard = guard.map(|guard| written(source, &guard));
        let branches = [
            (Some(&transition.success), false),
            (transition.failure.as_ref(), true),
        ];
        for (branch, otherwise) in branches {
            let Some(branch) = branch else { continue };
            let updates = updates(source, branch);
            let edge = self.add_edge(from, branch.target.index(), event);
            edge.guard.clone_from(&guard);
            edge.otherwise = otherwise || ignored.is_some_and(|it| it.otherwise);
            edge.ignored = ignored.map(|it| written(source, &it.doubt.span));
            edge.updates = updates;
        }
    }
}

/// Returns the text of a span, on one line.
fn written(source: &str, span: &Range<usize>) -> String {
    let text = source.get(span.clone()).unwrap_or("");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the text between the braces of a branch.
fn updates(source: &str, branch: &Branch) -> Option<String> {
    if branch.updates.is_empty() {
        return None;
    }
    let text = written(source, &branch.span);
    let start = text.find('{')? + 1;
    let end = text.rfind('}').filter(|&end| end >= start)?;
    let inner = text.get(start..end)?.trim();
    (!inner.is_empty()).then(|| inner.to_owned())
}

/// Returns the meaning of a state: a non-accepting one that cannot reach an accepting
/// one is a violation.
fn sort(states: &[State], position: usize) -> Sort {
    let Some(state) = states.get(position) else {
        return Sort::Accepting;
    };
    if state.is_final {
        return if state.accepting {
            Sort::Final
        } else {
            Sort::Violation
        };
    }
    if state.accepting {
        return Sort::Accepting;
    }
    let mut seen = BTreeSet::from([position]);
    let mut pending = vec![position];
    while let Some(position) = pending.pop() {
        let Some(state) = states.get(position) else {
            continue;
        };
        if state.accepting {
            return Sort::NonAccepting;
        }
        let leads = |branch: &Branch| branch.target.index();
        let transitions = if state.is_final {
            &[][..]
        } else {
            &state.transitions
        };
        for transition in transitions {
            let failure = transition.failure.as_ref().map(leads);
            for next in std::iter::once(leads(&transition.success)).chain(failure) {
                if seen.insert(next) {
                    pending.push(next);
                }
            }
        }
    }
    Sort::Violation
}
