//! Which steps concern only the process that takes them.
//!
//! Such a step reads and writes variables of its process alone. No other
//! process can see it, hinder it, or be hindered by it, so its order among the
//! steps of others makes no difference (D. Peled, *All from One, One for All*,
//! 1993, with the ample sets that Spin has, too). Where the model can ask about
//! places or variables of another process, or about whose turn it is, no step
//! is taken to be local.

use super::Compiler;
use crate::promela::program::{Code, Location, Node, Operation, Place, Program, Scope};

impl Compiler {
    pub(super) fn mark_local(&mut self) {
        let mut kinds = self.program.kinds.iter();
        self.program.has_turns =
            self.program.priorities || kinds.any(|kind| kind.provided.is_some());
        let program = &self.program;
        let is_watched = program.has_turns || program.nodes.iter().any(Node::looks_at_others);
        if is_watched {
            return;
        }
        let mut marks = Vec::new();
        for kind in &program.kinds {
            let local = kind
                .locations
                .iter()
                .map(|location| is_local(program, location));
            marks.push(local.collect::<Vec<bool>>());
        }
        for (kind, marks) in self.program.kinds.iter_mut().zip(marks) {
            for (location, is_local) in kind.locations.iter_mut().zip(marks) {
                location.is_local = is_local;
            }
        }
    }
}

fn is_local(program: &Program, location: &Location) -> bool {
    !location.transitions.is_empty()
        && location.transitions.iter().all(|transition| {
            let operation = program.instruction(transition).map(|it| &it.operation);
            !transition.is_atomic
                && transition.escape == 0
                && operation.is_some_and(|operation| is_local_operation(program, operation))
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
    (place.scope == Scope::Local || place.is_nowhere)
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
