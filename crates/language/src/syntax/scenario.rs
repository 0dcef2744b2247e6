//! Scenarios as they were written.

use super::{Expression, Name, Statement, VariableDeclaration};
use std::ops::Range;

/// `scenario name "description" for property` and what follows it.
#[derive(Debug, Clone, PartialEq)]
pub struct ScenarioDeclaration {
    /// Its name.
    pub name: Name,
    /// What it does, in words.
    pub description: Option<Box<str>>,
    /// The properties that it reacts to; all when there are none.
    pub properties: Vec<Name>,
    /// The variables, in order.
    pub variables: Vec<VariableDeclaration>,
    /// The reactions, in order.
    pub reactions: Vec<ReactionDeclaration>,
    /// True when everything in it could be read.
    pub complete: bool,
    /// Where it stands, in bytes.
    pub span: Range<usize>,
}

/// `on trigger of property when guard { … }`
#[derive(Debug, Clone, PartialEq)]
pub struct ReactionDeclaration {
    /// What it waits for.
    pub trigger: TriggerDeclaration,
    /// The property that it is about; all of the scenario's without one.
    pub property: Option<Name>,
    /// What must be true.
    pub guard: Option<Expression>,
    /// What is done.
    pub body: Vec<ReactionStatement>,
    /// Where the trigger stands, in bytes.
    pub span: Range<usize>,
}

/// What a reaction waits for.
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
    /// What it is.
    pub kind: ReactionKind,
    /// Where it stands, in bytes.
    pub span: Range<usize>,
}

/// The forms of a statement of a reaction.
#[derive(Debug, Clone, PartialEq)]
pub enum ReactionKind {
    /// An assignment, or a local variable.
    Update(Statement),
    /// `if condition { … } else { … }`
    If {
        /// The condition.
        condition: Expression,
        /// What is done when it is true.
        then: Vec<ReactionStatement>,
        /// What is done when it is false.
        otherwise: Vec<ReactionStatement>,
    },
    /// `for element in collection { … }`
    For {
        /// What stands for each element in turn.
        element: Name,
        /// What is gone through.
        collection: Expression,
        /// What is done.
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
        /// What gets the value, in the program.
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
        /// Whether it is switched on.
        is_enabled: bool,
    },
    /// `command "info threads"`
    Command(Message),
}

/// What takes the number of a checkpoint or point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The variable.
    pub name: Name,
    /// It is declared here: `var p = break f`.
    pub is_new: bool,
}

/// What kind of point a reaction sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PointWord {
    /// `break`
    Break,
    /// `tbreak`: once.
    TemporaryBreak,
    /// `watch`: stores.
    Watch,
    /// `change`: stores of another value.
    Change,
    /// `rwatch`: reads.
    ReadWatch,
    /// `awatch`: both.
    AccessWatch,
}

impl PointWord {
    /// All of them.
    pub const ALL: [PointWord; 6] = [
        PointWord::Break,
        PointWord::TemporaryBreak,
        PointWord::Watch,
        PointWord::Change,
        PointWord::ReadWatch,
        PointWord::AccessWatch,
    ];

    /// How it is written, as the command of that name.
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

    /// The one that is written so.
    pub fn named(text: &str) -> Option<PointWord> {
        PointWord::ALL.into_iter().find(|word| word.text() == text)
    }

    /// True for points at memory, not at code.
    pub fn is_watch(self) -> bool {
        !matches!(self, PointWord::Break | PointWord::TemporaryBreak)
    }
}

/// A point that a reaction sets.
#[derive(Debug, Clone, PartialEq)]
pub struct PointDeclaration {
    /// Its kind.
    pub word: PointWord,
    /// Where it is.
    pub place: PointPlace,
    /// What must be true in the program.
    pub condition: Option<Expression>,
    /// The states for which it stays; for good without any.
    pub lasting: Vec<Name>,
    /// What takes its number.
    pub into: Option<Target>,
    /// What is done when it is hit; without, the program stops.
    pub body: Option<Vec<ReactionStatement>>,
}

/// Where a point is.
#[derive(Debug, Clone, PartialEq)]
pub enum PointPlace {
    /// `"queue.c:30"`
    Text(Message),
    /// `queue_push`
    Function(Name),
    /// `queue->count`
    Memory(Expression),
}

/// Text with values in it: `"cell {i}"`, or a value alone.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// Its pieces, in order.
    pub pieces: Vec<MessagePiece>,
    /// Where it stands, in bytes.
    pub span: Range<usize>,
}

/// A piece of a message.
#[derive(Debug, Clone, PartialEq)]
pub enum MessagePiece {
    /// As it is.
    Text(String),
    /// What this has at that moment.
    Value(Expression),
}
