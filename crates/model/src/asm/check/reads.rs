//! Checks of reads: initial values must not read dynamic functions, and conditions on
//! states must not read monitored ones.

use super::Checker;
use crate::Fault;
use crate::asm::program::{
    Abstraction, Action, FunctionId, FunctionKind, Invariant, Term, TermKind, When,
};

/// The kinds of functions that a function depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Reads {
    /// Functions stored in the state.
    state: bool,
    /// Functions of the environment, which have values only within a step.
    environment: bool,
}

impl Reads {
    fn with(self, other: Reads) -> Reads {
        Reads {
            state: self.state || other.state,
            environment: self.environment || other.environment,
        }
    }
}

/// Returns the first part that reads a forbidden function, and that function.
fn find(term: &Term, reads: &[Reads], bad: fn(Reads) -> bool) -> Option<(crate::Span, FunctionId)> {
    if let TermKind::Apply(id, _) = &term.kind
        && reads.get(id.0 as usize).copied().is_some_and(bad)
    {
        return Some((term.span, *id));
    }
    let mut found = None;
    term.parts(&mut |part| {
        if found.is_none() {
            found = find(part, reads, bad);
        }
    });
    found
}

fn all(term: &Term, reads: &[Reads]) -> Reads {
    let mut sum = match &term.kind {
        TermKind::Apply(id, _) => reads.get(id.0 as usize).copied().unwrap_or_default(),
        _ => Reads::default(),
    };
    term.parts(&mut |part| sum = sum.with(all(part, reads)));
    sum
}

impl Checker<'_> {
    /// Computes the reads of each function, transitively.
    fn reads(&self) -> Vec<Reads> {
        let mut reads: Vec<Reads> = self
            .functions
            .iter()
            .map(|function| Reads {
                state: matches!(
                    function.kind,
                    FunctionKind::Controlled | FunctionKind::Shared
                ),
                environment: function.kind == FunctionKind::Monitored,
            })
            .collect();
        loop {
            let mut changed = false;
            for (number, function) in self.functions.iter().enumerate() {
                let is_computed =
                    matches!(function.kind, FunctionKind::Derived | FunctionKind::Static);
                let Some(value) = function.value.as_ref().filter(|_| is_computed) else {
                    continue;
                };
                let sum = all(value, &reads);
                if let Some(entry) = reads.get_mut(number) {
                    let with = entry.with(sum);
                    changed |= with != *entry;
                    *entry = with;
                }
            }
            if !changed {
                return reads;
            }
        }
    }

    pub(super) fn check_reads(
        &mut self,
        invariants: &[Invariant],
        record: &[When],
        abstraction: Option<&Abstraction>,
    ) {
        let reads = self.reads();
        let mut faults = Vec::new();
        for function in &self.functions {
            if let Some(value) = &function.value
                && function.kind != FunctionKind::Derived
                && let Some((span, id)) =
                    find(value, &reads, |reads| reads.state || reads.environment)
            {
                let message = format!("`{}` may change and cannot be read here", self.named(id));
                faults.push(Fault::new("reads", message, Some(span)).label(
                    function.span,
                    "this value is computed before the first step",
                ));
            }
        }
        let mut recorded = Vec::new();
        for action in record.iter().flat_map(|when| &when.actions) {
            action.each(&mut |action| match action {
                Action::Set(_, term) | Action::Check(term) => recorded.push(term),
                Action::Step(_) | Action::Maybe(_) => {}
            });
        }
        let pairs = abstraction
            .iter()
            .flat_map(|abstraction| &abstraction.pairs);
        let of_states = invariants
            .iter()
            .map(|invariant| &invariant.condition)
            .chain(&self.propositions)
            .chain(recorded)
            .chain(pairs.map(|(_, term)| term));
        for term in of_states {
            if let Some((span, id)) = find(term, &reads, |reads| reads.environment) {
                let message = format!("`{}` has a value only within a step", self.named(id));
                faults.push(Fault::new("reads", message, Some(span)).help(
                    "monitored functions are not part of a state; use a shared function, or a \
                     controlled one that stores the value",
                ));
            }
        }
        self.faults.extend(faults);
    }

    fn named(&self, id: FunctionId) -> &str {
        self.function(id).map_or("", |function| &function.name)
    }
}
