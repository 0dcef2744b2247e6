//! The graph of a formula or a regular expression: its minimal automaton.

use super::condition::condition;
use super::graph::{Graph, Sort};
use crate::property::{Behaviour, Demand, Logic, Property};
use juror_event::Verdict;
use juror_logic::{Guard, LogicError, Machine, Meaning, Table};
use std::collections::BTreeMap;

/// An automaton with more states tells a person nothing.
const STATES_MAX: usize = 500;

impl Graph {
    /// The graph of a property, whatever it is written as; `source` is the
    /// text that it was read from.
    ///
    /// # Errors
    /// When a formula has bounds in time, or its automaton is too large to be
    /// shown. [`Graph::of_parts`] with [`demand`] says what can be said then.
    pub fn of_property(property: &Property, source: &str) -> Result<Graph, LogicError> {
        match &property.behaviour {
            Behaviour::Automaton { .. } => Ok(Graph::of_automaton(property, source)),
            Behaviour::Logic(logic) => of_logic(property, logic),
        }
    }
}

/// What a formula or an expression demands, in words, macros and patterns
/// expanded; nothing for an automaton.
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

fn names(logic: &Logic) -> impl Fn(u8) -> String + '_ {
    |bit| {
        let proposition = logic.propositions.get(usize::from(bit));
        proposition.map_or_else(|| format!("p{bit}"), |p| p.name.to_string())
    }
}

fn of_logic(property: &Property, logic: &Logic) -> Result<Graph, LogicError> {
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
    fill(&mut graph, &table, &names(logic));
    Ok(graph)
}

fn fill(graph: &mut Graph, table: &Table, names: &dyn Fn(u8) -> String) {
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
}

fn sort(verdict: Verdict) -> Sort {
    match verdict {
        Verdict::Satisfied => Sort::Satisfaction,
        Verdict::PresumablySatisfied => Sort::Accepting,
        Verdict::PresumablyViolated => Sort::NonAccepting,
        Verdict::Violated => Sort::Violation,
    }
}
