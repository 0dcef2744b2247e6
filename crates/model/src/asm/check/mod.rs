//! Name resolution and type checking: from a syntax tree to a model.
//!
//! Invariant: in a checked model all names are resolved, all calls have the right number
//! of arguments, and only updatable locations are updated. Left to run time are errors of
//! values: numbers out of range, `undef`, division by zero, and inconsistent updates.

mod bodies;
mod declarations;
mod expression;
mod formula;
mod operators;
mod reads;
mod rule;
mod script;
mod tables;

use super::gather::{Gathered, gather};
use super::program::{
    Class, Function, Invariant, KNOWN_BYTES_MAX, Model, NamedFormula, NamedRule, Term, TermKind,
};
use super::syntax::Name;
use super::types::{Enumeration, Type};
pub(super) use script::Checking;
pub(super) use tables::show_type;

use crate::Fault;
use crate::promela::{Reader, Text};
use juror_language::suggest;
use rustc_hash::FxHashMap;
use std::sync::Arc;

type Outcome<T> = Result<T, Fault>;

/// The errors of a text that is not a valid model.
#[derive(Debug, Clone)]
pub struct Rejection {
    /// The texts that were read; spans of the faults refer to them.
    pub texts: Vec<Text>,
    /// The errors, at least one.
    pub faults: Vec<Fault>,
}

/// Loads a model from its text and those that it refers to, which `reader` supplies.
pub fn load(text: Text, reader: &mut Reader<'_>) -> Result<Model, Rejection> {
    load_with(text, &[], reader)
}

/// Loads a model with additional formulas; the text of each is its name.
pub fn load_with(
    text: Text,
    formulas: &[String],
    reader: &mut Reader<'_>,
) -> Result<Model, Rejection> {
    load_below(text, formulas, reader, &[])
}

/// Maximum length of a chain of abstract models.
const ABSTRACTIONS_MAX: usize = 8;

/// Loads the abstract model of others, which are named.
fn load_below(
    text: Text,
    formulas: &[String],
    reader: &mut Reader<'_>,
    refined: &[String],
) -> Result<Model, Rejection> {
    let Gathered {
        texts,
        items,
        faults,
    } = gather(text, formulas, reader);
    let mut checker = Checker::new(&texts, faults);
    let parts = checker.all(&items, reader, refined);
    let Checker {
        faults,
        elements,
        enumerations,
        classes,
        functions,
        dynamic,
        rules,
        propositions,
        types,
        symbols,
        ..
    } = checker;
    let rules: Option<Vec<NamedRule>> = rules.into_iter().map(|rule| rule.checked).collect();
    match (parts, rules) {
        (Some(parts), Some(rules)) if faults.is_empty() => sound(Model {
            elements,
            enumerations,
            classes,
            functions,
            dynamic,
            rules,
            main: parts.main,
            initially: parts.initially,
            invariants: parts.invariants,
            propositions,
            types,
            symbols,
            formulas: parts.formulas,
            record: parts.record,
            unset: parts.unset,
            abstraction: parts.abstraction,
            known_bytes_max: KNOWN_BYTES_MAX,
            texts,
        }),
        _ => Err(Rejection { texts, faults }),
    }
}

/// Checks that the declared values of functions belong to their types.
fn sound(model: Model) -> Result<Model, Rejection> {
    let faults = model.initial_faults();
    if faults.is_empty() {
        Ok(model)
    } else {
        Err(Rejection {
            texts: model.texts,
            faults,
        })
    }
}

/// Results besides the checker's tables.
struct Parts {
    main: super::program::Rule,
    initially: Option<super::program::Rule>,
    invariants: Vec<Invariant>,
    formulas: Vec<NamedFormula>,
    record: Vec<super::program::When>,
    unset: Vec<super::program::FunctionId>,
    abstraction: Option<Box<super::program::Abstraction>>,
}

/// A rule whose body may not be checked yet.
struct RuleEntry {
    name: Name,
    parameters: Vec<Type>,
    checked: Option<NamedRule>,
}

/// The symbols in scope of expressions, with the spans of their declarations.
pub(in crate::asm) type Symbols = FxHashMap<Arc<str>, (Symbol, crate::Span)>;

/// The meaning of a name in an expression.
#[derive(Debug, Clone, Copy)]
pub(in crate::asm) enum Symbol {
    Element { number: u32, of: u32 },
    Function(u32),
}

pub(super) struct Checker<'a> {
    texts: &'a [Text],
    faults: Vec<Fault>,
    elements: Vec<Arc<str>>,
    enumerations: Vec<Enumeration>,
    classes: Vec<Class>,
    types: FxHashMap<Arc<str>, Type>,
    symbols: Symbols,
    functions: Vec<Function>,
    dynamic: Vec<super::program::FunctionId>,
    rules: Vec<RuleEntry>,
    propositions: Vec<Term>,
    /// The variables in scope, by slot.
    locals: Vec<(Arc<str>, Type)>,
}

impl<'a> Checker<'a> {
    fn new(texts: &'a [Text], faults: Vec<Fault>) -> Checker<'a> {
        Checker {
            texts,
            faults,
            elements: Vec::new(),
            enumerations: Vec::new(),
            classes: Vec::new(),
            types: [
                ("Bool", Type::Boolean),
                ("Int", Type::Integer),
                ("Text", Type::Text),
            ]
            .into_iter()
            .map(|(name, of)| (name.into(), of))
            .collect(),
            symbols: FxHashMap::default(),
            functions: Vec::new(),
            dynamic: Vec::new(),
            rules: Vec::new(),
            propositions: Vec::new(),
            locals: Vec::new(),
        }
    }

    /// Records a fault and continues without a value.
    fn keep<T>(&mut self, result: Outcome<T>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(fault) => {
                self.faults.push(fault);
                None
            }
        }
    }

    /// Returns the fault of an unknown name, with a suggestion.
    fn unknown<'n>(what: &str, name: &Name, names: impl IntoIterator<Item = &'n str>) -> Fault {
        let message = format!("there is no {what} `{}`", name.text);
        let fault = Fault::new("unknown-name", message, Some(name.span));
        match suggest(&name.text, names) {
            Some(other) => fault.help(format!("did you mean `{other}`?")),
            None => fault,
        }
    }

    fn show(&self, of: &Type) -> String {
        show_type(of, &self.enumerations, &self.classes)
    }

    /// Returns the fault of a type mismatch.
    fn mismatch(&self, wanted: &Type, term: &Term) -> Fault {
        let message = format!(
            "expected {}, found {}",
            self.show(wanted),
            self.show(&term.of)
        );
        let fault = Fault::new("type", message, Some(term.span));
        match (wanted, &term.kind) {
            (Type::Map(..), TermKind::Set(parts)) if parts.is_empty() => {
                fault.help("the empty map is `{->}`")
            }
            _ => fault,
        }
    }
}

#[cfg(test)]
mod tests;
