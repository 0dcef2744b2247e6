//! The graph of a formula with time bounds: the pending obligations as states, with the
//! passage of time as transitions.

use super::condition::condition;
use super::graph::{Graph, Sort};
use super::logic::{STATES_MAX, demand, names, sort};
use crate::property::{Logic, Property};
use juror_logic::{Formula, Guard, LogicError, NoOutline, Outline, Passed, TimedMachine};
use std::collections::BTreeMap;

/// The alternative if nothing is displayed.
const INSTEAD: &str = "`monitor` at the prompt shows what each instance waits for, and with \
                       bounds in steps (`within 5 steps`) there is a picture";

/// Creates the graph of a formula with time bounds, or returns the reason why there is
/// none.
pub(super) fn of_timed(
    property: &Property,
    logic: &Logic,
    formula: &Formula,
) -> Result<Graph, String> {
    let machine = TimedMachine::of_formula(formula).map_err(|error| error.to_string())?;
    let names = names(logic);
    let outline = machine.outline().map_err(|error| why(&error, &names))?;
    if outline.states.len() > STATES_MAX {
        return Err(why(&NoOutline::TooLarge, &names));
    }
    let mut graph = Graph::of_parts(property);
    graph.notes.extend(demand(property));
    fill(&mut graph, &outline, &names);
    Ok(graph)
}

fn why(error: &NoOutline, names: &dyn Fn(u8) -> String) -> String {
    match error {
        NoOutline::Waits(part) => format!(
            "`{}` can be pending any number of times at once, each with its own deadline, so its \
             states are known only while the program runs; {INSTEAD}",
            part.display(names)
        ),
        NoOutline::Order => format!(
            "the next state depends on which of its time bounds ends first, so its states are \
             known only while the program runs; {INSTEAD}"
        ),
        NoOutline::TooLarge => format!(
            "its time bounds end at too many different moments to be drawn; it can be evaluated \
             nevertheless, and {INSTEAD}"
        ),
        NoOutline::Logic(LogicError::Timed) => INSTEAD.to_owned(),
        NoOutline::Logic(error) => error.to_string(),
    }
}

fn fill(graph: &mut Graph, outline: &Outline, names: &dyn Fn(u8) -> String) {
    let all = outline.states.iter().flat_map(|state| &state.passing);
    let mut parts: Vec<&Formula> = all
        .flat_map(|(passed, _)| passed)
        .map(|one| &one.part)
        .collect();
    parts.sort();
    parts.dedup();
    // With one bound it is clear which is meant.
    let is_named = parts.len() > 1;
    for (position, state) in outline.states.iter().enumerate() {
        graph.add_node(&format!("{}", position + 1), sort(state.verdict));
    }
    for (position, state) in outline.states.iter().enumerate() {
        if matches!(sort(state.verdict), Sort::Violation | Sort::Satisfaction) {
            continue;
        }
        let mut ways: BTreeMap<usize, Vec<Guard>> = BTreeMap::new();
        for (guard, to) in &state.steps {
            ways.entry(*to).or_default().push(*guard);
        }
        for (to, guards) in ways {
            graph.add_edge(position, to, &condition(&guards, names));
        }
        for (passed, to) in &state.passing {
            let said: Vec<String> = passed
                .iter()
                .map(|one: &Passed| one.describe(names, is_named))
                .collect();
            graph.add_edge(position, *to, &said.join(" and "));
        }
    }
}
