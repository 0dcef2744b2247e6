//! Checks expressions: resolves names, computes types.

use super::{Checker, Outcome, Symbol};
use crate::asm::program::{Builtin, Each, FunctionId, Term, TermKind};
use crate::asm::syntax::{self, Expression, ExpressionKind as E, Name};
use crate::asm::types::Type;
use crate::asm::value::Value;
use crate::{Fault, Span};
use std::sync::Arc;

const BUILTINS: &[(&str, Builtin)] = &[
    ("size", Builtin::Size),
    ("head", Builtin::Head),
    ("last", Builtin::Last),
    ("tail", Builtin::Tail),
    ("keys", Builtin::Keys),
    ("values", Builtin::Values),
    ("elements", Builtin::Elements),
    ("sequence", Builtin::Ordered),
    ("least", Builtin::Least),
    ("greatest", Builtin::Greatest),
    ("sum", Builtin::Sum),
];

impl Checker<'_> {
    /// Checks a condition.
    pub(super) fn condition(&mut self, expression: &Expression) -> Outcome<Term> {
        let term = self.expression(expression)?;
        if Type::Boolean.takes(&term.of) {
            Ok(term)
        } else {
            Err(self.mismatch(&Type::Boolean, &term))
        }
    }

    pub(super) fn expression(&mut self, expression: &Expression) -> Outcome<Term> {
        let span = expression.span;
        let (kind, of) = match &expression.kind {
            E::Number(number) => (
                TermKind::Constant(Value::Integer(*number)),
                Type::Range(*number, *number),
            ),
            E::Text(text) => (
                TermKind::Constant(Value::Text(Arc::clone(text))),
                Type::Text,
            ),
            E::Boolean(value) => (TermKind::Constant(Value::Boolean(*value)), Type::Boolean),
            E::Undefined => (TermKind::Constant(Value::Undefined), Type::Undefined),
            E::Name(name) => self.name(name)?,
            E::Call(name, arguments) => self.call(name, arguments, span)?,
            E::Field(object, name) => self.member(object, name, span)?,
            E::Part(tuple, number) => self.part(tuple, *number, span)?,
            E::Index(collection, index) => self.index(collection, index)?,
            E::Negate(part) => {
                let part = self.expect(part, &Type::Integer)?;
                let of = match part.of.present() {
                    Type::Range(from, to) => match (to.checked_neg(), from.checked_neg()) {
                        (Some(from), Some(to)) => Type::Range(from, to),
                        _ => Type::Integer,
                    },
                    _ => Type::Integer,
                };
                (TermKind::Negate(Box::new(part)), of)
            }
            E::Not(part) => {
                let part = self.condition(part)?;
                (TermKind::Not(Box::new(part)), Type::Boolean)
            }
            E::Binary(operator, left, right) => self.binary(*operator, left, right, span)?,
            E::If(condition, yes, no) => {
                let condition = self.condition(condition)?;
                let (yes, no) = (self.expression(yes)?, self.expression(no)?);
                let of = yes.of.join(&no.of);
                let of = of.ok_or_else(|| self.mismatch(&yes.of, &no))?;
                let parts = [condition, yes, no].map(Box::new);
                let [condition, yes, no] = parts;
                (TermKind::If(condition, yes, no), of)
            }
            E::Quantified(quantifier, each, holds) => {
                let depth = self.locals.len();
                let each = self.each(each)?;
                let holds = self.condition(holds)?;
                self.locals.truncate(depth);
                let kind = TermKind::Quantified(*quantifier, each, Box::new(holds));
                (kind, Type::Boolean)
            }
            E::Set(parts) => {
                let (parts, of) = self.alike(parts)?;
                (TermKind::Set(parts), Type::Set(Arc::new(of)))
            }
            E::Sequence(parts) => {
                let (parts, of) = self.alike(parts)?;
                (TermKind::Sequence(parts), Type::Sequence(Arc::new(of)))
            }
            E::SetOf(part, each) => {
                let (part, each) = self.comprehension(part, each)?;
                let of = Type::Set(Arc::new(part.of.clone()));
                (TermKind::SetOf(Box::new(part), each), of)
            }
            E::SequenceOf(part, each) => {
                let (part, each) = self.comprehension(part, each)?;
                if !matches!(each.among.of.present(), Type::Sequence(_)) {
                    let message = "a sequence built from a set would have no defined order";
                    return Err(Fault::new("type", message, Some(each.among.span))
                        .help("build a set: `{ ... | x in S }`"));
                }
                let of = Type::Sequence(Arc::new(part.of.clone()));
                (TermKind::SequenceOf(Box::new(part), each), of)
            }
            E::Map(pairs) => self.map(pairs)?,
            E::Tuple(parts) => {
                let parts: Outcome<Vec<Term>> =
                    parts.iter().map(|part| self.expression(part)).collect();
                let parts = parts?;
                let types: Vec<Type> = parts.iter().map(|part| part.of.clone()).collect();
                (TermKind::Tuple(parts), Type::Tuple(types.into()))
            }
            E::New(..) => {
                let message = "an object can be created only in an update or a `let`";
                return Err(Fault::new("new", message, Some(span))
                    .help("write `let x = new ... { ... }` around it"));
            }
            E::Temporal(..) => {
                let message = "a temporal operator is allowed only in `ltl`, under temporal \
                     operators, `not`, `and`, `or` and `implies`";
                let help = "put comparisons in parentheses: `always (n = 0)`";
                return Err(Fault::new("temporal", message, Some(span)).help(help));
            }
        };
        let kind = folded(kind);
        Ok(Term { kind, of, span })
    }

    /// Checks the value of an update or a `let`, which may create an object.
    pub(super) fn value(&mut self, expression: &Expression) -> Outcome<Term> {
        let E::New(name, fields) = &expression.kind else {
            return self.expression(expression);
        };
        let Some(Type::Class(class)) = self.types.get(&name.text).cloned() else {
            let names: Vec<Arc<str>> = self
                .classes
                .iter()
                .map(|class| Arc::clone(&class.name))
                .collect();
            return Err(Checker::unknown(
                "class",
                name,
                names.iter().map(|name| &**name),
            ));
        };
        let mut values: Vec<(FunctionId, Term)> = Vec::new();
        for (field, value) in fields {
            let Some(id) = self.field_of(class as usize, &field.text) else {
                return Err(self.no_field(class, field));
            };
            if values.iter().any(|(known, _)| *known == id) {
                let message = format!("the field `{}` is given twice", field.text);
                return Err(Fault::new("field", message, Some(field.span)));
            }
            let result = self.function(id).map(|function| function.result.clone());
            let value = self.expect(value, &result.unwrap_or(Type::Nothing))?;
            values.push((id, value));
        }
        self.all_fields(class, &values, expression.span)?;
        Ok(Term {
            kind: TermKind::New(class, values),
            of: Type::Class(class),
            span: expression.span,
        })
    }

    fn all_fields(&self, class: u32, values: &[(FunctionId, Term)], span: Span) -> Outcome<()> {
        let fields = self.classes.get(class as usize);
        for id in fields.iter().flat_map(|class| &class.fields) {
            let Some(function) = self.function(*id) else {
                continue;
            };
            let given = values.iter().any(|(known, _)| known == id);
            let has_value =
                function.value.is_some() || matches!(function.result, Type::Optional(_));
            if !given && !has_value {
                let message = format!("the field `{}` is missing", function.name);
                return Err(Fault::new("field", message, Some(span))
                    .label(function.span, "it has no default value"));
            }
        }
        Ok(())
    }

    pub(super) fn function(&self, id: FunctionId) -> Option<&crate::asm::program::Function> {
        self.functions.get(id.0 as usize)
    }

    fn no_field(&self, class: u32, field: &Name) -> Fault {
        let class = self.classes.get(class as usize);
        let fields = class.iter().flat_map(|class| &class.fields);
        let names: Vec<&str> = fields
            .filter_map(|id| self.function(*id))
            .map(|function| &*function.name)
            .collect();
        Checker::unknown("field", field, names)
    }

    /// Checks an expression that must have a type.
    pub(super) fn expect(&mut self, expression: &Expression, wanted: &Type) -> Outcome<Term> {
        let term = self.expression(expression)?;
        if wanted.takes(&term.of) {
            Ok(term)
        } else {
            Err(self.mismatch(wanted, &term))
        }
    }

    fn name(&mut self, name: &Name) -> Outcome<(TermKind, Type)> {
        let local = self
            .locals
            .iter()
            .enumerate()
            .rev()
            .find(|(_, (local, _))| *local == name.text);
        if let Some((place, (_, of))) = local {
            return Ok((TermKind::Local(place), of.clone()));
        }
        match self.symbols.get(&name.text) {
            Some((Symbol::Element { number, of }, _)) => Ok((
                TermKind::Constant(Value::Element(*number)),
                Type::Enumeration(*of),
            )),
            Some((Symbol::Function(number), _)) => {
                let id = FunctionId(*number);
                self.apply(id, Vec::new(), name.span)
            }
            None => self.universe(name),
        }
    }

    /// Resolves the name of a type as the set of its values.
    fn universe(&self, name: &Name) -> Outcome<(TermKind, Type)> {
        let Some(of) = self.types.get(&name.text) else {
            let locals = self.locals.iter().map(|(name, _)| &**name);
            let symbols = self.symbols.keys().map(|name| &**name);
            let types = self.types.keys().map(|name| &**name);
            let names = locals.chain(symbols).chain(types);
            return Err(Checker::unknown("value", name, names));
        };
        match of.values(&self.enumerations) {
            Some(values) => Ok((
                TermKind::Constant(Value::set(values)),
                Type::Set(Arc::new(of.clone())),
            )),
            None => {
                let message = format!("the values of `{}` cannot be enumerated", name.text);
                let fault = Fault::new("universe", message, Some(name.span));
                Err(match of {
                    Type::Class(_) => fault.help(
                        "store the objects in a set: an object that nothing refers to is deleted",
                    ),
                    _ => fault.help("use a subset, for example the numbers `0..9`"),
                })
            }
        }
    }

    fn apply(&self, id: FunctionId, arguments: Vec<Term>, span: Span) -> Outcome<(TermKind, Type)> {
        let Some(function) = self.function(id) else {
            return Err(Fault::new(
                "unknown-name",
                "there is no such function",
                Some(span),
            ));
        };
        if function.parameters.len() != arguments.len() {
            let message = format!(
                "`{}` takes {}, not {}",
                function.name,
                arguments_in_words(function.parameters.len()),
                arguments.len()
            );
            return Err(
                Fault::new("arguments", message, Some(span)).label(function.span, "declared here")
            );
        }
        for (argument, wanted) in arguments.iter().zip(&function.parameters) {
            if !wanted.takes(&argument.of) {
                return Err(self.mismatch(wanted, argument));
            }
        }
        Ok((TermKind::Apply(id, arguments), function.result.clone()))
    }

    pub(super) fn terms(&mut self, expressions: &[Expression]) -> Outcome<Vec<Term>> {
        expressions
            .iter()
            .map(|expression| self.expression(expression))
            .collect()
    }

    fn call(
        &mut self,
        name: &Name,
        arguments: &[Expression],
        span: Span,
    ) -> Outcome<(TermKind, Type)> {
        let arguments = self.terms(arguments)?;
        self.call_with(name, arguments, span)
    }

    fn call_with(
        &mut self,
        name: &Name,
        arguments: Vec<Term>,
        span: Span,
    ) -> Outcome<(TermKind, Type)> {
        if let Some((Symbol::Function(number), _)) = self.symbols.get(&name.text) {
            return self.apply(FunctionId(*number), arguments, span);
        }
        let builtin = BUILTINS.iter().find(|(known, _)| **known == *name.text);
        let Some((_, builtin)) = builtin else {
            let functions = self
                .symbols
                .iter()
                .filter(|(_, (symbol, _))| matches!(symbol, Symbol::Function(_)))
                .map(|(name, _)| &**name);
            let names = functions.chain(BUILTINS.iter().map(|(name, _)| *name));
            return Err(Checker::unknown("function", name, names));
        };
        let count = arguments.len();
        let Ok([argument]) = <[Term; 1]>::try_from(arguments) else {
            let message = format!("`{}` takes one argument, not {count}", name.text);
            return Err(Fault::new("arguments", message, Some(span)));
        };
        let of = self.builtin(*builtin, &argument)?;
        Ok((TermKind::Builtin(*builtin, Box::new(argument)), of))
    }

    fn member(
        &mut self,
        object: &Expression,
        name: &Name,
        span: Span,
    ) -> Outcome<(TermKind, Type)> {
        let object = self.expression(object)?;
        if let Type::Class(class) = object.of.present() {
            let class = *class;
            if let Some(id) = self.field_of(class as usize, &name.text) {
                return self.apply(id, vec![object], span);
            }
            if !self.symbols.contains_key(&name.text) {
                return Err(self.no_field(class, name));
            }
        }
        self.call_with(name, vec![object], span)
    }

    /// Checks expressions that must have a common type.
    fn alike(&mut self, expressions: &[Expression]) -> Outcome<(Vec<Term>, Type)> {
        let terms = self.terms(expressions)?;
        let mut of = Type::Nothing;
        for term in &terms {
            of = of.join(&term.of).ok_or_else(|| self.mismatch(&of, term))?;
        }
        Ok((terms, of))
    }

    fn map(&mut self, pairs: &[(Expression, Expression)]) -> Outcome<(TermKind, Type)> {
        let (mut key_type, mut value_type) = (Type::Nothing, Type::Nothing);
        let mut terms = Vec::with_capacity(pairs.len());
        for (key, value) in pairs {
            let (key, value) = (self.expression(key)?, self.expression(value)?);
            key_type = key_type
                .join(&key.of)
                .ok_or_else(|| self.mismatch(&key_type, &key))?;
            value_type = value_type
                .join(&value.of)
                .ok_or_else(|| self.mismatch(&value_type, &value))?;
            terms.push((key, value));
        }
        let of = Type::Map(Arc::new(key_type), Arc::new(value_type));
        Ok((TermKind::Map(terms), of))
    }

    /// Checks a variable over a collection, which stays in scope.
    pub(super) fn each(&mut self, each: &syntax::Each) -> Outcome<Each> {
        let among = self.expression(&each.among)?;
        let of = match among.of.present() {
            Type::Set(of) | Type::Sequence(of) => Type::clone(of),
            _ => {
                let message = format!(
                    "expected a set or a sequence, found {}",
                    self.show(&among.of)
                );
                return Err(Fault::new("type", message, Some(among.span)));
            }
        };
        self.locals.push((Arc::clone(&each.name.text), of));
        let with = match &each.with {
            Some(with) => Some(Box::new(self.condition(with)?)),
            None => None,
        };
        Ok(Each {
            name: Arc::clone(&each.name.text),
            among: Box::new(among),
            with,
        })
    }

    fn comprehension(&mut self, part: &Expression, each: &syntax::Each) -> Outcome<(Term, Each)> {
        let depth = self.locals.len();
        let each = self.each(each)?;
        let part = self.expression(part)?;
        self.locals.truncate(depth);
        Ok((part, each))
    }
}

/// Returns a number of arguments in words.
pub(super) fn arguments_in_words(count: usize) -> String {
    match count {
        0 => "no arguments".to_owned(),
        1 => "one argument".to_owned(),
        count => format!("{count} arguments"),
    }
}

/// Folds a collection of constants into a constant, so that it is created once. `{}` is
/// left as it is, since it may be a map.
fn folded(kind: TermKind) -> TermKind {
    let constants = |parts: &[Term]| -> Option<Vec<Value>> {
        let values = parts.iter().map(|part| match &part.kind {
            TermKind::Constant(value) => Some(value.clone()),
            _ => None,
        });
        values.collect()
    };
    let value = match &kind {
        TermKind::Set(parts) if !parts.is_empty() => constants(parts).map(Value::set),
        TermKind::Sequence(parts) => constants(parts).map(|it| Value::Sequence(it.into())),
        TermKind::Tuple(parts) => constants(parts).map(|it| Value::Tuple(it.into())),
        _ => None,
    };
    value.map_or(kind, TermKind::Constant)
}
