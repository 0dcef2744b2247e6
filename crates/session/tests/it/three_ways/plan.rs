//! What the developer and the scenario do while a program runs, in every way.
//!
//! The moments are those that all ways have: the stops of the developer, one after
//! the other, and the reactions at the scenario's breakpoints. A watchpoint stops the
//! rules before the access and a processor after it, so at such a stop nothing is
//! done for which that makes a difference.

use proptest::prelude::*;

/// What the developer does at a stop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Act {
    Nothing,
    /// Sets a point, unless it is there: a breakpoint at a function, or a watchpoint
    /// for the stores to a variable.
    Set(&'static str),
    /// Removes it, if it is there.
    Remove(&'static str),
    Checkpoint,
    /// Restores one of the developer's checkpoints, if there is one.
    Restore(u8),
}

impl Act {
    /// What is done at the stop of a watchpoint, if that is at hand.
    pub fn at(self, is_watchpoint: bool) -> Act {
        match self {
            Act::Set(name) if is_watchpoint && !is_variable(name) => Act::Nothing,
            Act::Checkpoint if is_watchpoint => Act::Nothing,
            other => other,
        }
    }
}

/// What the scenario does: with so many reactions it sets a breakpoint at `f`, and
/// with so many it removes it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Second {
    pub set: Option<usize>,
    pub removed: Option<usize>,
}

/// What the developer has set when the program begins, and what is done then.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Plan {
    pub points: Vec<&'static str>,
    /// One for each stop.
    pub acts: Vec<Act>,
    pub second: Second,
}

impl Plan {
    pub fn of(points: &[&'static str]) -> Plan {
        Plan {
            points: points.to_vec(),
            ..Plan::default()
        }
    }
}

/// Whether a name is that of a variable, and not of a function.
pub fn is_variable(name: &str) -> bool {
    name.starts_with('v')
}

fn name() -> impl Strategy<Value = &'static str> {
    prop_oneof![2 => Just("f"), 2 => Just("g"), 1 => Just("v0"), 1 => Just("v1")]
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        1 => Just(Act::Nothing),
        4 => name().prop_map(Act::Set),
        4 => name().prop_map(Act::Remove),
        2 => Just(Act::Checkpoint),
        3 => any::<u8>().prop_map(Act::Restore),
    ]
}

/// A plan. What a scenario has set since a checkpoint is gone with a restore, and a
/// scenario that removes it then makes a mistake: so none does both.
pub fn plan() -> impl Strategy<Value = Plan> {
    let acts = proptest::collection::vec(act(), 0..12);
    let points = proptest::sample::subsequence(vec!["f", "g", "v0", "v1"], 0..4);
    let second = (
        proptest::option::of(1..4_usize),
        proptest::option::of(1..4_usize),
    );
    (points, acts, second).prop_map(|(points, acts, (set, after))| {
        let restores = acts.iter().any(|act| matches!(act, Act::Restore(_)));
        let removed = match (set, after) {
            (Some(set), Some(after)) if !restores => Some(set + after),
            _ => None,
        };
        let second = Second { set, removed };
        Plan {
            points,
            acts,
            second,
        }
    })
}
