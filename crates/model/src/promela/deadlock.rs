//! Deadlocks as errors, with the source locations of the blocked processes.

use super::model::Model;
use super::program::{Instruction, Operation};
use crate::system::{Fault, Span};

/// Maximum number of locations shown; the processes at others are counted.
const PLACES_MAX: usize = 8;
/// Maximum number of processes named at a location.
const NAMES_MAX: usize = 8;

/// Processes of one type at one location.
struct Group<'a> {
    /// Whether it is the end of the process.
    is_end: bool,
    place: Span,
    kind: &'a str,
    numbers: Vec<usize>,
}

impl Model {
    /// Returns the fault of a deadlock, with the locations of the processes.
    pub fn stuck(&self, state: &[u8]) -> Fault {
        let mut groups = self.groups(state);
        let place = groups.first().map(|group| group.place);
        let message = "deadlock: no process can continue, and this is not a valid end state";
        let mut fault = Fault::new("deadlock", message, place);
        let left = groups.split_off(groups.len().min(PLACES_MAX));
        for group in &groups {
            fault = fault.label(group.place, group.words());
        }
        let mut help = String::new();
        if !left.is_empty() {
            let count: usize = left.iter().map(|group| group.numbers.len()).sum();
            help += &format!("{count} more processes are elsewhere; ");
        }
        if let Some((name, texts)) = self.machine.trace_shown(state) {
            help += &format!("{name} is at {texts}; ");
        }
        fault.help(help + "mark the statements where a process may stay forever with `end` labels")
    }

    /// Returns the processes grouped by statement, in the order of their first members;
    /// terminated ones last.
    fn groups(&self, state: &[u8]) -> Vec<Group<'_>> {
        let mut groups: Vec<Group<'_>> = Vec::new();
        let Some(shape) = self.machine.shape(state) else {
            return groups;
        };
        let program = &self.machine.program;
        for (number, frame) in shape.frames.iter().enumerate() {
            let location = self.machine.location(state, frame);
            let transitions = location.map_or(&[][..], |location| &location.transitions);
            let mut instructions = transitions.iter().map(|it| program.instruction(it));
            let first: Option<&Instruction> = instructions.find_map(|it| it);
            let (Some(first), Some(kind)) = (first, program.kinds.get(frame.kind as usize)) else {
                continue;
            };
            let is_same = |it: &&mut Group<'_>| it.place == first.span && *it.kind == *kind.name;
            match groups.iter_mut().find(is_same) {
                Some(group) => group.numbers.push(number),
                None => groups.push(Group {
                    is_end: matches!(first.operation, Operation::End),
                    place: first.span,
                    kind: &kind.name,
                    numbers: vec![number],
                }),
            }
        }
        // Terminated processes are rarely the cause.
        groups.sort_by_key(|group| group.is_end);
        groups
    }
}

impl Group<'_> {
    /// Returns the label, for example `philosopher 1, 2 and 3 stand here`.
    fn words(&self) -> String {
        let named = self.numbers.iter().take(NAMES_MAX).map(usize::to_string);
        let mut named: Vec<String> = named.collect();
        let others = self.numbers.len() - named.len();
        if others > 0 {
            named.push(format!("{others} others"));
        }
        let (kind, last) = (self.kind, named.pop().unwrap_or_default());
        if named.is_empty() {
            format!("{kind} {last} is here")
        } else {
            format!("{kind} {} and {last} are here", named.join(", "))
        }
    }
}
