//! A checked scenario: its triggers and reactions, with names resolved to slots.
//!
//! After Jakse, Falcone and Méhaut, *Interactive Runtime Verification* (2019), sections
//! 6.5, 8.3 and 9.2.1.
//!
//! **Invariant:** a scenario has no effects itself. It describes the effects and their
//! values.

use crate::property::Variable;
use crate::syntax::PointWord;
use crate::term::{Term, Update};
use juror_event::Verdict;
use std::ops::Range;
use std::sync::Arc;

/// Reactions to notifications by monitors and the debugger.
///
/// All spans are in bytes of the source from which it was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    /// The name.
    pub name: Box<str>,
    /// The description.
    pub description: Option<Box<str>>,
    /// The names of the properties to which it applies; empty for all.
    pub properties: Vec<Box<str>>,
    /// The variables, by slot. They keep their values when a checkpoint is restored.
    pub variables: Vec<Variable>,
    /// The reactions, in order.
    pub reactions: Vec<Reaction>,
    /// The position in the source, in bytes.
    pub span: Range<usize>,
}

impl Scenario {
    /// Returns true if some statement of a reaction satisfies the condition.
    pub fn has_action(&self, is_meant: impl Fn(&ActionKind) -> bool) -> bool {
        let mut reactions = self.reactions.iter();
        reactions.any(|reaction| has_action(&reaction.body.actions, &is_meant))
    }
}

fn has_action(actions: &[Action], is_meant: &dyn Fn(&ActionKind) -> bool) -> bool {
    let inside = |kind: &ActionKind| match kind {
        ActionKind::If {
            then, otherwise, ..
        } => has_action(then, is_meant) || has_action(otherwise, is_meant),
        ActionKind::For { body, .. } => has_action(body, is_meant),
        ActionKind::Point(point) => {
            let body = point.body.as_ref();
            body.is_some_and(|body| has_action(&body.actions, is_meant))
        }
        _ => false,
    };
    let mut kinds = actions.iter().map(|action| &action.kind);
    kinds.any(|kind| is_meant(kind) || inside(kind))
}

/// A reaction: a trigger and the statements that it executes.
#[derive(Debug, Clone, PartialEq)]
pub struct Reaction {
    /// The trigger.
    pub trigger: Trigger,
    /// The property to which it is restricted.
    pub property: Option<Box<str>>,
    /// The guard.
    pub guard: Option<Term>,
    /// The statements.
    pub body: ReactionBlock,
    /// The position of the trigger.
    pub span: Range<usize>,
}

/// Statements and the inputs of their terms.
#[derive(Debug, Clone, PartialEq)]
pub struct ReactionBlock {
    /// The statements, in order.
    pub actions: Arc<[Action]>,
    /// The inputs in the capture slots of the terms.
    pub reads: Arc<[Input]>,
}

/// The trigger of a reaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trigger {
    /// A slice enters one of these states from another state.
    Enter(Vec<StateName>),
    /// A slice leaves one of these states for another.
    Leave(Vec<StateName>),
    /// The verdict of a slice becomes one of these.
    Verdict(Vec<Verdict>),
    /// A state or transition with this action is entered or taken.
    Action(Box<str>),
    /// The program is about to begin.
    Start,
    /// The program has ended.
    Exit,
    /// The program has stopped for the user.
    Stop,
    /// The program is about to receive this signal; any signal if `None`.
    Signal(Option<Box<str>>),
}

impl Trigger {
    /// Returns true if it concerns the step of a monitor.
    pub fn is_of_monitor(&self) -> bool {
        matches!(
            self,
            Trigger::Enter(_) | Trigger::Leave(_) | Trigger::Verdict(_) | Trigger::Action(_)
        )
    }
}

/// A state by name, or a class of states.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StateName {
    /// The state with this name.
    Named(Box<str>),
    /// All accepting states.
    Accepting,
    /// All non-accepting states.
    NonAccepting,
    /// All final states.
    Final,
}

/// An input of a reaction's term, besides variables.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    /// A context value of the notification.
    Context(ContextValue),
    /// `program(…)`: a value of the program, evaluated by the prompt's evaluator.
    Program(Template),
}

/// A context value of a notification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ContextValue {
    /// The name of the property.
    Property,
    /// The name of the event.
    Event,
    /// The name of the state before.
    OldState,
    /// The name of the state after.
    NewState,
    /// The verdict of the slice after.
    Verdict,
    /// juror's number of the thread.
    Thread,
    /// A parameter of the slice.
    Parameter(Box<str>),
    /// A variable of the monitor, in that slice.
    Variable(Box<str>),
    /// The reason of the stop.
    Reason,
    /// The name of the signal.
    Signal,
    /// The exit status; 128 plus the signal number if a signal ended the program.
    ExitStatus,
    /// The number of the point.
    Point,
    /// The watched value before the access.
    OldValue,
    /// The watched value after the access.
    NewValue,
}

/// Text with embedded values; source code if it is passed to the prompt.
#[derive(Debug, Clone, PartialEq)]
pub struct Template {
    /// The pieces, in order.
    pub pieces: Vec<Piece>,
    /// The position in the source, in bytes.
    pub span: Range<usize>,
}

/// A piece of a template.
#[derive(Debug, Clone, PartialEq)]
pub enum Piece {
    /// Literal text.
    Text(Box<str>),
    /// The current value of a term, formatted for the user.
    Value(Term),
    /// The current value of a term, formatted as source code: strings are quoted.
    Code(Term),
}

/// A statement of a reaction.
#[derive(Debug, Clone, PartialEq)]
pub struct Action {
    /// The kind.
    pub kind: ActionKind,
    /// The position in the source, in bytes.
    pub span: Range<usize>,
}

/// The kinds of statements.
#[derive(Debug, Clone, PartialEq)]
pub enum ActionKind {
    /// An assignment, or a local variable.
    Update(Update),
    /// A conditional statement.
    If {
        /// The condition.
        condition: Term,
        /// Executed if the condition is true.
        then: Arc<[Action]>,
        /// Executed if the condition is false.
        otherwise: Arc<[Action]>,
    },
    /// A loop over the elements of a collection, or the keys of a map.
    For {
        /// The slot of the local variable for the element.
        slot: u16,
        /// The collection to iterate over.
        collection: Term,
        /// The body.
        body: Arc<[Action]>,
    },
    /// Prints a line.
    Print(Template),
    /// Writes a line to the report.
    Report(Template),
    /// Stops the program for the user when the reactions are done.
    Stop(Option<Template>),
    /// Suppresses the stop for this moment.
    Continue,
    /// Prints the stack, or this many frames of it.
    Backtrace(Option<Term>),
    /// Creates a checkpoint of the program and the monitors; its number is assigned to
    /// the target.
    Checkpoint(Option<Target>),
    /// Restores a checkpoint.
    Restore(Term),
    /// Assigns a location in the program: `location = value`.
    Set(Template),
    /// Sets a point.
    Point(Box<PointAction>),
    /// Removes a point by its number.
    Remove(Term),
    /// Enables or disables a property.
    Switch {
        /// The name.
        property: Box<str>,
        /// True to enable it.
        is_enabled: bool,
    },
    /// Executes a command of the prompt.
    Command(Template),
}

/// The variable that receives a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// The variable in this slot.
    Variable(u16),
    /// The local variable in this slot.
    Local(u16),
}

/// A point that a reaction sets.
#[derive(Debug, Clone, PartialEq)]
pub struct PointAction {
    /// The kind.
    pub word: PointWord,
    /// The location and condition, in the syntax of the command for this kind of point.
    pub place: Template,
    /// The states of the slice in which the point stays; permanent if empty.
    pub lasting: Vec<StateName>,
    /// The variable that receives its number.
    pub into: Option<Target>,
    /// The statements executed when the point is hit, which see the local variables as
    /// they were when the point was set. `None` stops the program.
    pub body: Option<ReactionBlock>,
}
