//! Names get meaning and expressions types: from a syntax tree to a model.
//!
//! Invariant: what passes refers only to what there is, calls with as many
//! arguments as there are parameters, and updates only what may be updated.
//! What remains for the run are values: numbers out of a range, `undef`, a
//! division by zero, and clashes.

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

/// A text that is no model.
#[derive(Debug, Clone)]
pub struct Rejection {
    /// The texts that were read; the places of the faults speak of them.
    pub texts: Vec<Text>,
    /// What is wrong, at least one thing.
    pub faults: Vec<Fault>,
}

/// A model from its text and those that it names, which the reader gives.
pub fn load(text: Text, reader: &mut Reader<'_>) -> Result<Model, Rejection> {
    load_with(text, &[], reader)
}

/// The same with formulas that are asked about, beside those of the model: each is
/// its own name.
pub fn load_with(
    text: Text,
    formulas: &[String],
    reader: &mut Reader<'_>,
) -> Result<Model, Rejection> {
    load_below(text, formulas, reader, &[])
}

/// How long a chain of abstract models may be.
const ABSTRACTIONS_MAX: usize = 8;

/// The same for the abstract model of others, which are named.
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
            untold: parts.untold,
            abstraction: parts.abstraction,
            known_bytes_max: KNOWN_BYTES_MAX,
            texts,
        }),
        _ => Err(Rejection { texts, faults }),
    }
}

/// A model whose functions are declared with values that they may have.
fn sound(model: Model) -> Result<Model, Rejection> {
    let faults = model.wrong_in_the_beginning();
    match faults.is_empty() {
        true => Ok(model),
        false => Err(Rejection {
            texts: model.texts,
            faults,
        }),
    }
}

/// What the texts come to beside what the checker has.
struct Parts {
    main: super::program::Rule,
    initially: Option<super::program::Rule>,
    invariants: Vec<Invariant>,
    formulas: Vec<NamedFormula>,
    record: Vec<super::program::When>,
    untold: Vec<super::program::FunctionId>,
    abstraction: Option<Box<super::program::Abstraction>>,
}

/// A rule as far as it is known.
struct RuleEntry {
    name: Name,
    parameters: Vec<Type>,
    checked: Option<NamedRule>,
}

/// What the names in expressions mean, and where they are declared.
pub(in crate::asm) type Symbols = FxHashMap<Arc<str>, (Symbol, crate::Span)>;

/// What a name in an expression means.
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
    /// The variables in scope, at their places.
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

    /// Keeps a fault, and goes on without a value.
    fn keep<T>(&mut self, result: Outcome<T>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(fault) => {
                self.faults.push(fault);
                None
            }
        }
    }

    /// Something is not known; perhaps another name was meant.
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

    /// A value has another type than its place.
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
