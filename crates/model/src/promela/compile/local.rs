//! Local steps for partial-order reduction.
//!
//! A local step reads and writes only variables of its process. No other process can
//! observe, disable, or be disabled by it, so its order relative to the steps of others
//! does not matter (D. Peled, *All from One, One for All*, 1993; the ample sets of Spin).
//! If the model contains remote references or depends on which process may run, no step
//! is local.
//!
//! Nor is a step that leads to a receive, if another process behaves differently as long
//! as nobody receives its rendezvous message: it takes an `else` branch, an alternative
//! to an escape, or lets others run between the steps of an atomic sequence.

use super::Compiler;
use crate::promela::program::{
    Code, Location, Node, Operation, Place, ProcessType, Program, Scope, Transition,
};
use rustc_hash::FxHashSet;

impl Compiler {
    pub(super) fn mark_local(&mut self) {
        let mut kinds = self.program.kinds.iter();
        self.program.has_run_conditions =
            self.program.priorities || kinds.any(|kind| kind.provided.is_some());
        let program = &self.program;
        let is_observed =
            program.has_run_conditions || program.nodes.iter().any(Node::reads_other_processes);
        if is_observed {
            return;
        }
        let receivers_matter = receivers_matter(program);
        let mut marks = Vec::new();
        for kind in &program.kinds {
            let local = kind.locations.iter().map(|location| {
                is_local(program, location)
                    && !(receivers_matter && leads_to_reception(program, kind, location))
            });
            marks.push(local.collect::<Vec<bool>>());
        }
        for (kind, marks) in self.program.kinds.iter_mut().zip(marks) {
            for (location, is_local) in kind.locations.iter_mut().zip(marks) {
                location.is_local = is_local;
            }
        }
    }
}

/// Returns whether some step is enabled only as long as nobody receives a rendezvous
/// message.
fn receivers_matter(program: &Program) -> bool {
    let may_hand_over = program.channels.iter().any(|kind| kind.capacity == 0);
    let mut kinds = program.kinds.iter();
    program.has_outside
        || may_hand_over && kinds.any(|kind| has_step_without_receiver(program, kind))
}

fn has_step_without_receiver(program: &Program, kind: &ProcessType) -> bool {
    let transitions = kind.locations.iter().flat_map(|it| &it.transitions);
    let in_atomic: FxHashSet<u32> = transitions
        .filter(|transition| transition.is_atomic)
        .map(|transition| transition.to)
        .collect();
    (0..).zip(&kind.locations).any(|(number, location)| {
        let is_any = |is_it: fn(&Transition, &Operation) -> bool| {
            let mut transitions = location.transitions.iter();
            transitions.any(|it| operation(program, it).is_some_and(|does| is_it(it, does)))
        };
        let sends = is_any(|_, operation| matches!(operation, Operation::Send { .. }));
        let has_alternative = is_any(|transition, operation| {
            transition.escape > 0 || matches!(operation, Operation::Else)
        });
        sends && (has_alternative || location.in_sequence || in_atomic.contains(&number))
    })
}

/// Returns whether a process can receive after a step from a location.
fn leads_to_reception(program: &Program, kind: &ProcessType, location: &Location) -> bool {
    let at = |number: u32| kind.locations.get(number as usize);
    let receives = |transition: &Transition| match operation(program, transition) {
        Some(Operation::Receive(_)) => true,
        Some(Operation::Sequence(start)) => {
            let first = at(*start).and_then(|it| it.transitions.first());
            let first = first.and_then(|it| operation(program, it));
            matches!(first, Some(Operation::Receive(_)))
        }
        _ => false,
    };
    let mut next = location.transitions.iter().filter_map(|it| at(it.to));
    next.any(|next| next.transitions.iter().any(receives))
}

fn operation<'a>(program: &'a Program, transition: &Transition) -> Option<&'a Operation> {
    let instruction = program.instruction(transition);
    instruction.map(|instruction| &instruction.operation)
}

fn is_local(program: &Program, location: &Location) -> bool {
    !location.transitions.is_empty()
        && location.transitions.iter().all(|transition| {
            !transition.is_atomic
                && transition.escape == 0
                && operation(program, transition).is_some_and(|it| is_local_operation(program, it))
        })
}

fn is_local_operation(program: &Program, operation: &Operation) -> bool {
    match operation {
        Operation::Skip | Operation::Else => true,
        Operation::Condition(code) | Operation::Assert(code) => is_local_value(program, *code),
        Operation::Assign(place, code) => {
            is_local_place(program, place) && is_local_value(program, *code)
        }
        Operation::Print(_, values) => values.iter().all(|value| is_local_value(program, *value)),
        _ => false,
    }
}

fn is_local_place(program: &Program, place: &Place) -> bool {
    (place.scope == Scope::Local || place.is_discard)
        && place
            .indices
            .iter()
            .all(|index| is_local_value(program, index.value))
}

fn is_local_value(program: &Program, code: Code) -> bool {
    match program.node(code) {
        Node::Number(_) | Node::Local(_) | Node::Itself => true,
        Node::Compare(_, scope, ..) => *scope == Scope::Local,
        Node::Unary(_, part) => is_local_value(program, *part),
        Node::Binary(_, left, right) => {
            is_local_value(program, *left) && is_local_value(program, *right)
        }
        Node::Conditional(first, second, third) => [first, second, third]
            .into_iter()
            .all(|part| is_local_value(program, *part)),
        Node::Indexed(place) => is_local_place(program, place),
        _ => false,
    }
}
