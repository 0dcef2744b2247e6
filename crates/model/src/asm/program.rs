//! The executable form of a model: names resolved to numbers, local variables to slots.

use super::check::{Symbols, show_type};
use super::syntax::Quantifier;
use super::types::{Enumeration, Type};
use super::value::Value;
use crate::Span;
use crate::promela::Text;
use juror_logic::Formula;
use rustc_hash::FxHashMap;
use std::sync::{Arc, OnceLock};

pub(super) use super::syntax::Binary;
pub use super::syntax::FunctionKind;

/// Number of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FunctionId(pub u32);

/// Number of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RuleId(pub u32);

/// A built-in function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Builtin {
    Size,
    Head,
    Last,
    Tail,
    Keys,
    Values,
    Elements,
    /// The sorted sequence of the values of a set.
    Ordered,
    Least,
    Greatest,
    Sum,
}

/// A variable that ranges over a collection.
#[derive(Debug)]
pub struct Each {
    pub name: Arc<str>,
    pub among: Box<Term>,
    pub with: Option<Box<Term>>,
}

/// An expression.
#[derive(Debug)]
pub struct Term {
    pub kind: TermKind,
    pub of: Type,
    pub span: Span,
}

/// The kind of an expression.
#[derive(Debug)]
pub enum TermKind {
    Constant(Value),
    Local(usize),
    Apply(FunctionId, Vec<Term>),
    Builtin(Builtin, Box<Term>),
    Part(Box<Term>, usize),
    Index(Box<Term>, Box<Term>),
    Negate(Box<Term>),
    Not(Box<Term>),
    Binary(Binary, Box<Term>, Box<Term>),
    If(Box<Term>, Box<Term>, Box<Term>),
    Quantified(Quantifier, Each, Box<Term>),
    Set(Vec<Term>),
    SetOf(Box<Term>, Each),
    Sequence(Vec<Term>),
    SequenceOf(Box<Term>, Each),
    Map(Vec<(Term, Term)>),
    Tuple(Vec<Term>),
    New(u32, Vec<(FunctionId, Term)>),
}

impl Term {
    /// Calls a function for each direct operand.
    pub fn parts<'a>(&'a self, each: &mut dyn FnMut(&'a Term)) {
        use TermKind as T;
        let among = |over: &'a Each, each: &mut dyn FnMut(&'a Term)| {
            each(&over.among);
            if let Some(with) = &over.with {
                each(with);
            }
        };
        match &self.kind {
            T::Constant(_) | T::Local(_) => {}
            T::Apply(_, parts) | T::Set(parts) | T::Sequence(parts) | T::Tuple(parts) => {
                parts.iter().for_each(each)
            }
            T::Builtin(_, part) | T::Part(part, _) | T::Negate(part) | T::Not(part) => each(part),
            T::Index(left, right) | T::Binary(_, left, right) => {
                each(left);
                each(right);
            }
            T::If(first, second, third) => [first, second, third]
                .into_iter()
                .for_each(|part| each(part)),
            T::Quantified(_, over, part) | T::SetOf(part, over) | T::SequenceOf(part, over) => {
                among(over, each);
                each(part);
            }
            T::Map(pairs) => pairs.iter().for_each(|(key, value)| {
                each(key);
                each(value);
            }),
            T::New(_, fields) => fields.iter().for_each(|(_, value)| each(value)),
        }
    }
}

/// A pattern; variables are bound in source order.
#[derive(Debug)]
pub enum Pattern {
    Any,
    Bind,
    Tuple(Vec<Pattern>),
    Value(Term),
}

/// An arm of `case`.
#[derive(Debug)]
pub struct Arm {
    pub patterns: Vec<Pattern>,
    pub body: Rule,
}

/// A rule.
#[derive(Debug)]
pub struct Rule {
    pub kind: RuleKind,
    pub span: Span,
}

/// The kind of a rule.
#[derive(Debug)]
pub enum RuleKind {
    Skip,
    Par(Vec<Rule>),
    Seq(Vec<Rule>),
    Update {
        function: FunctionId,
        arguments: Vec<Term>,
        value: Term,
    },
    If(Term, Box<Rule>, Box<Rule>),
    Case(Term, Vec<Arm>, Box<Rule>),
    Let(Term, Box<Rule>),
    Forall(Each, Box<Rule>),
    Choose(Each, Box<Rule>, Box<Rule>),
    Either(Vec<Rule>),
    Call(RuleId, Vec<Term>),
    Assert(Term),
}

/// A function.
#[derive(Debug)]
pub struct Function {
    pub kind: FunctionKind,
    pub name: Arc<str>,
    pub span: Span,
    pub parameters: Vec<Type>,
    pub parameter_names: Vec<Arc<str>>,
    pub result: Type,
    pub possible: Option<Term>,
    pub value: Option<Term>,
    /// The class of which the function is a field.
    pub class: Option<u32>,
    /// The cached declared value, if it is constant.
    pub known: OnceLock<Value>,
}

impl Function {
    /// Returns whether states store values of the function.
    pub fn is_dynamic(&self) -> bool {
        matches!(self.kind, FunctionKind::Controlled | FunctionKind::Shared)
    }

    /// Returns whether the declared value is constant. Only derived functions may read
    /// dynamic ones, and the value of a field does not depend on the object.
    pub fn is_constant(&self) -> bool {
        let is_computed = matches!(self.kind, FunctionKind::Derived | FunctionKind::Monitored);
        !is_computed && (self.parameters.is_empty() || self.class.is_some())
    }
}

/// A class of objects.
#[derive(Debug)]
pub struct Class {
    pub name: Arc<str>,
    pub fields: Vec<FunctionId>,
}

/// A named rule.
#[derive(Debug)]
pub struct NamedRule {
    pub name: Arc<str>,
    pub parameters: Vec<Type>,
    pub body: Rule,
}

/// A condition that every state must satisfy.
#[derive(Debug)]
pub struct Invariant {
    pub name: Arc<str>,
    pub condition: Term,
}

/// A named temporal formula.
#[derive(Debug)]
pub struct NamedFormula {
    /// The name.
    pub name: Arc<str>,
    /// Location of the formula.
    pub span: Span,
    /// The formula; its propositions are the bits of the model's letters.
    pub formula: Formula,
}

/// An action for a line of a recorded session.
#[derive(Debug)]
pub enum Action {
    Set(FunctionId, Term),
    Step(Span),
    Check(Term),
    /// The actions are done or not.
    Maybe(Vec<Action>),
}

impl Action {
    /// Calls a function for the action and all nested ones.
    pub fn each<'a>(&'a self, call: &mut dyn FnMut(&'a Action)) {
        call(self);
        if let Action::Maybe(actions) = self {
            actions.iter().for_each(|action| action.each(call));
        }
    }
}

/// A condition on a line, and the actions for it.
#[derive(Debug)]
pub struct When {
    pub keys: Vec<(Arc<str>, Vec<Arc<str>>)>,
    pub actions: Vec<Action>,
}

/// The claim that the model refines an abstract one.
#[derive(Debug)]
pub struct Abstraction {
    pub model: Model,
    /// Functions of the abstract model, each with its value in this one.
    pub pairs: Vec<(FunctionId, Term)>,
}

/// A model of an abstract state machine.
#[derive(Debug)]
pub struct Model {
    /// The source texts; spans refer to them by number.
    pub texts: Vec<Text>,
    pub(super) elements: Vec<Arc<str>>,
    pub(super) enumerations: Vec<Enumeration>,
    pub(super) classes: Vec<Class>,
    pub(super) functions: Vec<Function>,
    /// Functions whose values are stored in a state.
    pub(super) dynamic: Vec<FunctionId>,
    pub(super) rules: Vec<NamedRule>,
    pub(super) main: Rule,
    pub(super) initially: Option<Rule>,
    pub(super) invariants: Vec<Invariant>,
    /// The propositions: the meaning of the bits of a letter.
    pub(super) propositions: Vec<Term>,
    pub(super) types: FxHashMap<Arc<str>, Type>,
    pub(super) symbols: Symbols,
    /// Temporal formulas that the model should satisfy.
    pub formulas: Vec<NamedFormula>,
    pub(super) record: Vec<When>,
    /// Functions that the record may leave open (`record { any … }`).
    pub(super) unset: Vec<FunctionId>,
    pub(super) abstraction: Option<Box<Abstraction>>,
    /// Maximum size in bytes of the memoized steps of a search.
    pub(super) known_bytes_max: usize,
}

/// Default of `known_bytes_max`.
pub(super) const KNOWN_BYTES_MAX: usize = 48 << 20;

impl Model {
    pub(super) fn function(&self, id: FunctionId) -> Option<&Function> {
        self.functions.get(id.0 as usize)
    }

    /// Returns a function without arguments by its name.
    pub(super) fn nullary(&self, name: &str) -> Option<(FunctionId, &Function)> {
        let position = self
            .functions
            .iter()
            .position(|function| &*function.name == name && function.parameters.is_empty())?;
        let id = FunctionId(position as u32);
        Some((id, self.function(id)?))
    }

    /// Returns a value in source syntax.
    pub fn show(&self, value: &Value) -> String {
        let list = |values: &mut dyn Iterator<Item = &Value>| {
            let texts: Vec<String> = values.map(|value| self.show(value)).collect();
            texts.join(", ")
        };
        match value {
            Value::Undefined => "undef".to_owned(),
            Value::Boolean(value) => value.to_string(),
            Value::Integer(value) => value.to_string(),
            Value::Text(text) => format!("{text:?}"),
            Value::Element(number) => {
                let name = self.elements.get(*number as usize);
                name.map_or_else(String::new, |name| name.to_string())
            }
            Value::Object(class, number) => {
                let name = self.classes.get(*class as usize).map(|class| &*class.name);
                format!("{}#{}", name.unwrap_or_default(), number + 1)
            }
            Value::Tuple(values) => format!("({})", list(&mut values.iter())),
            Value::Set(values) => format!("{{{}}}", list(&mut values.iter())),
            Value::Sequence(values) => format!("[{}]", list(&mut values.iter())),
            Value::Map(map) if map.is_empty() => "{->}".to_owned(),
            Value::Map(map) => {
                let pairs = map
                    .iter()
                    .map(|(key, value)| format!("{} -> {}", self.show(key), self.show(value)));
                format!("{{{}}}", pairs.collect::<Vec<_>>().join(", "))
            }
        }
    }

    /// Returns a type in source syntax.
    pub(super) fn show_type(&self, of: &Type) -> String {
        show_type(of, &self.enumerations, &self.classes)
    }

    /// Returns a location in source syntax: `mode`, `owner(1)`, `Module#1.name`.
    pub(super) fn show_location(&self, id: FunctionId, arguments: &[Value]) -> String {
        let Some(function) = self.function(id) else {
            return String::new();
        };
        let shown: Vec<String> = arguments.iter().map(|value| self.show(value)).collect();
        match (&shown[..], function.class) {
            ([], _) => function.name.to_string(),
            ([object], Some(_)) => format!("{object}.{}", function.name),
            _ => format!("{}({})", function.name, shown.join(", ")),
        }
    }

    /// Returns the source text of a span.
    pub(super) fn source(&self, span: Span) -> &str {
        let text = self.texts.get(span.source as usize);
        text.and_then(|text| text.text.get(span.range()))
            .unwrap_or_default()
    }
}
