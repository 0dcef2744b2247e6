//! The one small language of juror: expressions, update blocks, properties.
//!
//! Text goes through three steps: [`parse`] gives a syntax tree and never
//! fails, [`check`] resolves names to slots and rejects what has no meaning,
//! and [`evaluate`] and [`execute`] compute over an [`Environment`] that the
//! caller supplies. Properties are the automata of Jakse, Falcone and Méhaut,
//! *Interactive Runtime Verification* (2019), sections 6.4 and 9.3.
//!
//! Invariants: nothing here knows where a value comes from; there is no I/O;
//! no input makes any function panic; what a guard or update reads of the
//! debuggee is known once it is checked.

#![forbid(unsafe_code)]

mod arithmetic;
mod check;
mod collection;
mod diagnostic;
mod evaluate;
mod flat;
mod format;
mod include;
mod lexer;
mod parse;
mod property;
mod scenario;
pub mod show;
mod suggest;
pub mod syntax;
mod term;
mod token;
mod unparse;

pub use check::check;
pub use diagnostic::{Diagnostic, Severity};
pub use evaluate::{
    Environment, EvaluationError, STEPS_MAX, Store, evaluate, evaluate_in, execute, execute_in,
    truth,
};
pub use flat::{FlatCondition, FlatUpdates};
pub use format::format;
pub use include::{Loaded, Reader, UsedFile, load_among, load_with};
pub use parse::{
    Parse, parse, parse_expression, parse_expression_with_types, parse_read, parse_type,
    possible_types,
};
pub use property::{
    Behaviour, Branch, Demand, Effect, EffectAction, Ignored, Logic, Property, Proposition, State,
    StateId, Transition, Variable, branch_number,
};
pub use scenario::{
    Action, ActionKind, Fact, Input, Piece, PointAction, Reaction, ReactionBlock, Scenario,
    StateName, Target, Template, Trigger,
};
pub use suggest::suggest;
pub use syntax::{
    BinaryOperator, Derivation, Expression, ExpressionKind, Parameters, PointWord, TypeName,
    UnaryOperator,
};
pub use term::{Builtin, Function, Kind, Place, Term, TermKind, Update};

/// Parses and checks a whole source: the properties without errors, and
/// everything there is to say about the text, in the order of the text.
///
/// It uses no other files; [`load_with`] reads those.
pub fn load(source: &str) -> (Vec<Property>, Vec<Diagnostic>) {
    let loaded = load_with("", source, &mut |_| {
        Err("no other files can be used here".to_owned())
    });
    (loaded.properties, loaded.diagnostics)
}
