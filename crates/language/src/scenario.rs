//! A scenario that has been checked: what it waits for, and what it does then,
//! with names resolved to slots.
//!
//! After Jakse, Falcone and Méhaut, *Interactive Runtime Verification* (2019),
//! sections 6.5, 8.3 and 9.2.1. Invariant: a scenario does nothing itself. It
//! says what is to be done, and with which values.

use crate::property::Variable;
use crate::syntax::PointWord;
use crate::term::{Term, Update};
use juror_event::Verdict;
use std::ops::Range;
use std::sync::Arc;

/// Reactions to what monitors and the debugger say.
///
/// All spans are in bytes of the source it was read from.
#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    /// Its name.
    pub name: Box<str>,
    /// What it does, in words.
    pub description: Option<Box<str>>,
    /// The names of the properties that it is for; all when there are none.
    pub properties: Vec<Box<str>>,
    /// The variables, by slot. They keep their values when a checkpoint is
    /// restored.
    pub variables: Vec<Variable>,
    /// The reactions, in order.
    pub reactions: Vec<Reaction>,
    /// Where it stands.
    pub span: Range<usize>,
}

impl Scenario {
    /// Whether some reaction does something of which this is true.
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

/// What is done when something happens.
#[derive(Debug, Clone, PartialEq)]
pub struct Reaction {
    /// What it waits for.
    pub trigger: Trigger,
    /// The only property that it is about.
    pub property: Option<Box<str>>,
    /// What must be true.
    pub guard: Option<Term>,
    /// What is done.
    pub body: ReactionBlock,
    /// Where its trigger stands.
    pub span: Range<usize>,
}

/// Statements and what their terms read.
#[derive(Debug, Clone, PartialEq)]
pub struct ReactionBlock {
    /// The statements, in order.
    pub actions: Arc<[Action]>,
    /// What stands in the capture slots of its terms.
    pub reads: Arc<[Input]>,
}

/// What a reaction waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trigger {
    /// A slice comes to one of these states from another state.
    Enter(Vec<StateName>),
    /// A slice leaves one of these states for another.
    Leave(Vec<StateName>),
    /// The verdict of a slice becomes one of these.
    Verdict(Vec<Verdict>),
    /// A state or transition has this action.
    Action(Box<str>),
    /// The program is about to begin.
    Start,
    /// The program has ended.
    Exit,
    /// The program has stopped for the user.
    Stop,
    /// The program is about to get a signal; any without a name.
    Signal(Option<Box<str>>),
}

impl Trigger {
    /// Whether it is about the step of a monitor.
    pub fn is_of_monitor(&self) -> bool {
        matches!(
            self,
            Trigger::Enter(_) | Trigger::Leave(_) | Trigger::Verdict(_) | Trigger::Action(_)
        )
    }
}

/// A state by its name, or by what it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StateName {
    /// The state of this name.
    Named(Box<str>),
    /// All that accept.
    Accepting,
    /// All that do not.
    NonAccepting,
    /// All in which a slice is forgotten.
    Final,
}

/// What a term of a reaction reads besides variables.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    /// Something about what has happened.
    Fact(Fact),
    /// `program(…)`: a value of the program, as the prompt evaluates it.
    Program(Template),
}

/// Something about what has happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fact {
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
    /// Why the program stopped.
    Reason,
    /// The name of the signal.
    Signal,
    /// The exit status; 128 and its number when a signal ended the program.
    ExitStatus,
    /// The number of the point.
    Point,
    /// What was watched, before the access.
    OldValue,
    /// What was watched, after it.
    NewValue,
}

/// Text with values in it; code where the prompt reads it.
#[derive(Debug, Clone, PartialEq)]
pub struct Template {
    /// Its pieces, in order.
    pub pieces: Vec<Piece>,
    /// Where it stands.
    pub span: Range<usize>,
}

/// A piece of a template.
#[derive(Debug, Clone, PartialEq)]
pub enum Piece {
    /// As it is.
    Text(Box<str>),
    /// What this has at that moment, as a person reads it.
    Value(Term),
    /// The same as the prompt reads it: texts are quoted.
    Code(Term),
}

/// A statement of a reaction.
#[derive(Debug, Clone, PartialEq)]
pub struct Action {
    /// What it is.
    pub kind: ActionKind,
    /// Where it stands.
    pub span: Range<usize>,
}

/// The forms of a statement.
#[derive(Debug, Clone, PartialEq)]
pub enum ActionKind {
    /// An assignment, or a local variable.
    Update(Update),
    /// One or the other.
    If {
        /// What decides.
        condition: Term,
        /// Done when it is true.
        then: Arc<[Action]>,
        /// Done when it is false.
        otherwise: Arc<[Action]>,
    },
    /// The same for each element, or each key of a map.
    For {
        /// The slot of the local variable that holds the element.
        slot: u16,
        /// What is gone through.
        collection: Term,
        /// What is done.
        body: Arc<[Action]>,
    },
    /// Shows a line.
    Print(Template),
    /// Writes a line to the report.
    Report(Template),
    /// The program stops for the user when the reactions are done.
    Stop(Option<Template>),
    /// The program does not stop for what has happened.
    Continue,
    /// Shows the stack, or so many frames of it.
    Backtrace(Option<Term>),
    /// Saves the program and the monitors; its number goes there.
    Checkpoint(Option<Target>),
    /// Brings a checkpoint back.
    Restore(Term),
    /// Gives a place in the program a value: `place = value`.
    Set(Template),
    /// Sets a point.
    Point(Box<PointAction>),
    /// Removes a point by its number.
    Remove(Term),
    /// Switches a property on or off.
    Switch {
        /// Its name.
        property: Box<str>,
        /// Whether it is switched on.
        is_enabled: bool,
    },
    /// Runs a command of the prompt.
    Command(Template),
}

/// What takes a number.
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
    /// Its kind.
    pub word: PointWord,
    /// Where it is and what must be true there, as the command of its word
    /// takes them.
    pub place: Template,
    /// It stays while the slice is in one of these states; for good without
    /// any.
    pub lasting: Vec<StateName>,
    /// What takes its number.
    pub into: Option<Target>,
    /// What is done when it is hit. It sees the local variables as they were
    /// when the point was set. Without, the program stops.
    pub body: Option<ReactionBlock>,
}
