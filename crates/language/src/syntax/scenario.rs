//! The syntax of scenarios.

use super::{Expression, Name, Statement, VariableDeclaration};
use std::ops::Range;

/// `scenario name "description" for property` and what follows it.
#[derive(Debug, Clone, PartialEq)]
pub struct ScenarioDeclaration {
    /// The name.
    pub name: Name,
    /// The description.
    pub description: Option<Box<str>>,
    /// The properties to which it applies; all if empty.
    pub properties: Vec<Name>,
    /// The variables, in order.
    pub variables: Vec<VariableDeclaration>,
    /// The reactions, in order.
    pub reactions: Vec<ReactionDeclaration>,
    /// True if it has no syntax errors.
    pub complete: bool,
    /// The position in the source, in bytes.
    pub span: Range<usize>,
}

/// `on trigger of property when guard { … }`
#[derive(Debug, Clone, PartialEq)]
pub struct ReactionDeclaration {
    /// The trigger.
    pub trigger: TriggerDeclaration,
    /// The property to which it is restricted; all of the scenario's if `None`.
    pub property: Option<Name>,
    /// The guard.
    pub guard: Option<Expression>,
    /// The body.
    pub body: Vec<ReactionStatement>,
    /// The position of the trigger, in bytes.
    pub span: Range<usize>,
}

/// The trigger of a reaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TriggerDeclaration {
    /// `enter state, state`: names, `accepting`, `non-accepting`, `final`.
    Enter(Vec<Name>),
    /// `leave state, state`
    Leave(Vec<Name>),
    /// `verdict`, `verdict violated, presumably satisfied`
    Verdict(Vec<Name>),
    /// `action name`
    Action(Name),
    /// `start`
    Start,
    /// `exit`
    Exit,
    /// `stop`
    Stop,
    /// `signal`, `signal SIGUSR1`
    Signal(Option<Name>),
}

/// A statement of a reaction.
#[derive(Debug, Clone, PartialEq)]
pub struct ReactionStatement {
    /// The kind.
    pub kind: ReactionKind,
    /// The position in the source, in bytes.
    pub span: Range<usize>,
}

/// The kinds of statements of a reaction.
#[derive(Debug, Clone, PartialEq)]
pub enum ReactionKind {
    /// An assignment, or a local variable.
    Update(Statement),
    /// `if condition { … } else { … }`
    If {
        /// The condition.
        condition: Expression,
        /// Executed if the condition is true.
        then: Vec<ReactionStatement>,
        /// Executed if the condition is false.
        otherwise: Vec<ReactionStatement>,
    },
    /// `for element in collection { … }`
    For {
        /// The variable for the element.
        element: Name,
        /// The collection to iterate over.
        collection: Expression,
        /// The body.
        body: Vec<ReactionStatement>,
    },
    /// `print "text", value`
    Print(Vec<Message>),
    /// `report "text", value`
    Report(Vec<Message>),
    /// `stop`, `stop "why"`
    Stop(Vec<Message>),
    /// `continue`
    Continue,
    /// `backtrace`, `backtrace 3`
    Backtrace(Option<Expression>),
    /// `checkpoint`, `last = checkpoint`
    Checkpoint(Option<Target>),
    /// `restore last`
    Restore(Expression),
    /// `set place = value`
    Set {
        /// The assigned location in the program.
        place: Expression,
        /// The value.
        value: Expression,
    },
    /// `break place when condition while state { … }`
    Point(Box<PointDeclaration>),
    /// `remove point`
    Remove(Expression),
    /// `enable property`, `disable property`
    Switch {
        /// The property.
        property: Name,
        /// True to enable it.
        is_enabled: bool,
    },
    /// `command "info threads"`
    Command(Message),
}

/// The variable that receives the number of a checkpoint or point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The variable.
    pub name: Name,
    /// True if it is declared here: `var p = break f`.
    pub is_new: bool,
}

/// The kind of a point that a reaction sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PointWord {
    /// `break`
    Break,
    /// `tbreak`: a temporary breakpoint.
    TemporaryBreak,
    /// `watch`: writes.
    Watch,
    /// `change`: writes of a different value.
    Change,
    /// `rwatch`: reads.
    ReadWatch,
    /// `awatch`: reads and writes.
    AccessWatch,
}

impl PointWord {
    /// All variants.
    pub const ALL: [PointWord; 6] = [
        PointWord::Break,
        PointWord::TemporaryBreak,
        PointWord::Watch,
        PointWord::Change,
        PointWord::ReadWatch,
        PointWord::AccessWatch,
    ];

    /// Returns its keyword, the name of the command.
    pub fn text(self) -> &'static str {
        match self {
            PointWord::Break => "break",
            PointWord::TemporaryBreak => "tbreak",
            PointWord::Watch => "watch",
            PointWord::Change => "change",
            PointWord::ReadWatch => "rwatch",
            PointWord::AccessWatch => "awatch",
        }
    }

    /// Returns the kind with this keyword.
    pub fn named(text: &str) -> Option<PointWord> {
        PointWord::ALL.into_iter().find(|word| word.text() == text)
    }

    /// Returns true for watchpoints.
    pub fn is_watch(self) -> bool {
        !matches!(self, PointWord::Break | PointWord::TemporaryBreak)
    }
}

/// A point that a reaction sets.
#[derive(Debug, Clone, PartialEq)]
pub struct PointDeclaration {
    /// The kind.
    pub word: PointWord,
    /// The location.
    pub place: PointLocation,
    /// The condition on the program.
    pub condition: Option<Expression>,
    /// The states in which it stays; permanent if empty.
    pub lasting: Vec<Name>,
    /// The variable that receives its number.
    pub into: Option<Target>,
    /// The statements executed when it is hit; `None` stops the program.
    pub body: Option<Vec<ReactionStatement>>,
}

/// The location of a point.
#[derive(Debug, Clone, PartialEq)]
pub enum PointLocation {
    /// `"queue.c:30"`
    Text(Message),
    /// `queue_push`
    Function(Name),
    /// `queue->count`
    Memory(Expression),
}

/// Text with embedded values: `"cell {i}"`, or a single value.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// The pieces, in order.
    pub pieces: Vec<MessagePiece>,
    /// The position in the source, in bytes.
    pub span: Range<usize>,
}

/// A piece of a message.
#[derive(Debug, Clone, PartialEq)]
pub enum MessagePiece {
    /// Literal text.
    Text(String),
    /// The current value of an expression.
    Value(Expression),
}
