//! The property language of juror: expressions, update blocks, properties.
//!
//! A source is processed in three steps: [`parse`] returns a syntax tree and never
//! fails, [`check`] resolves names to slots and rejects meaningless code, and
//! [`evaluate`] and [`execute`] compute over an [`Environment`] that the caller
//! supplies. Properties are the automata of Jakse, Falcone and Méhaut, *Interactive
//! Runtime Verification* (2019), sections 6.4 and 9.3.
//!
//! **Invariants:** nothing here depends on where values come from; there is no I/O; no
//! input causes a panic; the values of the debuggee that a guard or update reads are
//! known once it is checked.

#![forbid(unsafe_code)]

mod arithmetic;
mod check;
mod collection;
mod evaluate;
mod flat;
mod format;
mod include;
mod inline;
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
pub use evaluate::{
    Environment, EvaluationError, STEPS_MAX, Store, evaluate, evaluate_in, execute, execute_in,
    truth,
};
pub use flat::{
    FlatCondition, FlatUpdates, Operand as FlatOperand, Operation as FlatOperation,
    Scalar as FlatScalar,
};
pub use format::format;
pub use include::{Loaded, Reader, UsedFile, load_among, load_with};
pub use juror_fault::{Diagnostic, Severity};
pub use parse::{
    Parse, is_assignment, parse, parse_expression, parse_expression_with_types,
    parse_pure_expression, parse_read, parse_type, possible_types,
};
pub use property::{
    Behaviour, Branch, Demand, Effect, EffectAction, Ignored, Logic, Property, Proposition, State,
    StateId, Transition, Variable, branch_number,
};
pub use scenario::{
    Action, ActionKind, ContextValue, Input, Piece, PointAction, Reaction, ReactionBlock, Scenario,
    StateName, Target, Template, Trigger,
};
pub use suggest::{suggest, suggest_qualified};
pub use syntax::{
    BinaryOperator, Derivation, Expression, ExpressionKind, Parameters, PointWord, TypeName,
    UnaryOperator,
};
pub use term::{Builtin, Function, Kind, Term, TermKind, Update, VariableSlot};

/// Parses and checks a source: returns the properties without errors, and all
/// diagnostics in the order of the text.
///
/// Other files are not read; see [`load_with`].
pub fn load(source: &str) -> (Vec<Property>, Vec<Diagnostic>) {
    let loaded = load_with("", source, &mut |_| {
        Err("`use` is not possible here".to_owned())
    });
    (loaded.properties, loaded.diagnostics)
}
