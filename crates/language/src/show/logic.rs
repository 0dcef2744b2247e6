//! The graph of a formula or a regular expression: its minimal automaton.

use super::condition::condition;
use super::graph::{Graph, Sort};
use super::timed::of_timed;
use crate::property::{Behaviour, Demand, Logic, Property, StateId};
use juror_event::Verdict;
use juror_logic::{Guard, Letter, LogicError, Machine, MachineState, Meaning, Table};
use std::collections::BTreeMap;

/// The maximum number of states of a graph that is useful to a reader.
pub(super) const STATES_MAX: usize = 500;

/// The graph of a property, with the positions of slices in it.
#[derive(Debug)]
pub struct Map {
    /// The graph.
    pub graph: Graph,
    /// For a formula: the automaton, and the position of its states in the graph.
    table: Option<(Table, BTreeMap<MachineState, usize>)>,
}

impl Map {
    /// Creates the graph of any property; `source` is the text from which it was read.
    ///
    /// # Errors
    /// If a formula has time bounds, so that its states are not those of a table, or if
    /// its automaton is too large to be displayed.
    pub fn of_property(property: &Property, source: &str) -> Result<Map, LogicError> {
        match &property.behaviour {
            Behaviour::Automaton { .. } => Ok(Map {
                graph: Graph::of_automaton(property, source),
                table: None,
            }),
            Behaviour::Logic(logic) => of_logic(property, logic),
        }
    }

    /// Returns the position of a state: for an automaton that of the state itself, for
    /// a formula that of the state that the letters reach from the initial state.
    pub fn position(&self, state: StateId, letters: &[Letter]) -> Option<usize> {
        let Some((table, positions)) = &self.table else {
            return (state.index() < self.graph.nodes.len()).then(|| state.index());
        };
        let steps = letters.iter();
        let reached = steps.fold(table.initial(), |at, &letter| table.step(at, letter));
        positions.get(&reached).copied()
    }
}

impl Graph {
    /// Creates the graph of any property; `source` is the text from which it was read.
    ///
    /// # Errors
    /// A message with the reason why a formula has no picture: its automaton is too
    /// large, or it has time bounds that cannot be displayed. [`Graph::of_parts`] with
    /// [`demand`] still describes it.
    pub fn of_property(property: &Property, source: &str) -> Result<Graph, String> {
        match (Map::of_property(property, source), &property.behaviour) {
            (Ok(map), _) => Ok(map.graph),
            (
                Err(LogicError::Timed),
                Behaviour::Logic(
                    logic @ Logic {
                        demand: Demand::Formula(formula),
                        ..
                    },
                ),
            ) => of_timed(property, logic, formula),
            (Err(error), _) => Err(undrawn(error)),
        }
    }
}

/// Describes the demand of a formula or an expression, with macros and patterns
/// expanded; `None` for an automaton.
pub fn demand(property: &Property) -> Option<String> {
    let Behaviour::Logic(logic) = &property.behaviour else {
        return None;
    };
    let names = names(logic);
    Some(match &logic.demand {
        Demand::Formula(formula) => formula.display(&names).to_string(),
        Demand::Expression {
            expression,
            meaning,
        } => {
            let meaning = match meaning {
                Meaning::MatchViolates => "never",
                Meaning::MatchRequired => "the whole run is",
            };
            format!("{meaning} {}", expression.display(&names))
        }
    })
}

/// Describes why a property is not displayed, and alternatives.
pub fn undrawn(error: LogicError) -> String {
    match error {
        LogicError::Timed => "it has time bounds, so the state of an instance depends on the \
                              times of events; `monitor` at the prompt shows what each instance \
                              waits for, and `juror property show` draws it if its obligations \
                              can be told apart"
            .to_owned(),
        LogicError::TooManyStates { limit } => format!(
            "its automaton has more than {limit} states, which is too large for a picture; it can \
             be evaluated nevertheless"
        ),
        other => other.to_string(),
    }
}

pub(super) fn names(logic: &Logic) -> impl Fn(u8) -> String + '_ {
    |bit| {
        let proposition = logic.propositions.get(usize::from(bit));
        proposition.map_or_else(|| format!("p{bit}"), |p| p.name.to_string())
    }
}

fn of_logic(property: &Property, logic: &Logic) -> Result<Map, LogicError> {
    let mut machine = match &logic.demand {
        Demand::Formula(formula) => Machine::of_formula(formula)?,
        Demand::Expression {
            expression,
            meaning,
        } => Machine::of_expression(expression, *meaning)?,
    };
    let table = machine.to_table(STATES_MAX)?;
    let mut graph = Graph::of_parts(property);
    graph.notes.extend(demand(property));
    let positions = fill(&mut graph, &table, &names(logic));
    Ok(Map {
        graph,
        table: Some((table, positions)),
    })
}

/// Adds the states and transitions of the automaton to the graph.
fn fill(
    graph: &mut Graph,
    table: &Table,
    names: &dyn Fn(u8) -> String,
) -> BTreeMap<MachineState, usize> {
    let mut pending = vec![table.initial()];
    let mut places = BTreeMap::from([(table.initial(), 0)]);
    let mut next = 0;
    while let Some(&state) = pending.get(next) {
        next += 1;
        let sort = sort(table.verdict(state));
        let from = graph.add_node(&format!("{next}"), sort);
        if matches!(sort, Sort::Violation | Sort::Satisfaction) {
            continue;
        }
        let mut ways: BTreeMap<usize, Vec<Guard>> = BTreeMap::new();
        for (guard, to) in table.successors(state) {
            let place = *places.entry(to).or_insert_with(|| {
                pending.push(to);
                pending.len() - 1
            });
            ways.entry(place).or_default().push(guard);
        }
        for (to, guards) in ways {
            graph.add_edge(from, to, &condition(&guards, names));
        }
    }
    places
}

pub(super) fn sort(verdict: Verdict) -> Sort {
    match verdict {
        Verdict::Satisfied => Sort::Satisfaction,
        Verdict::PresumablySatisfied => Sort::Accepting,
        Verdict::PresumablyViolated => Sort::NonAccepting,
        Verdict::Violated => Sort::Violation,
    }
}
