//! Checks scripts against a model.

use super::{Checker, Outcome, Symbol};
use crate::asm::program::{FunctionId, FunctionKind, Model, Term};
use crate::asm::syntax::{Binary, Expression, ExpressionKind, Name};
use crate::promela::Text;
use crate::{Fault, Span};
use std::mem::take;

/// A checker that borrows the tables of a model until they are given back.
pub struct Checking<'a> {
    checker: Checker<'a>,
}

impl<'a> Checking<'a> {
    /// Takes the tables of a model.
    pub fn of(model: &mut Model, texts: &'a [Text]) -> Checking<'a> {
        Checking {
            checker: Checker {
                elements: take(&mut model.elements),
                enumerations: take(&mut model.enumerations),
                classes: take(&mut model.classes),
                functions: take(&mut model.functions),
                types: take(&mut model.types),
                symbols: take(&mut model.symbols),
                ..Checker::new(texts, Vec::new())
            },
        }
    }

    /// Gives the tables back to the model.
    pub fn give_back(self, model: &mut Model) {
        model.elements = self.checker.elements;
        model.enumerations = self.checker.enumerations;
        model.classes = self.checker.classes;
        model.functions = self.checker.functions;
        model.types = self.checker.types;
        model.symbols = self.checker.symbols;
    }

    pub fn expression(&mut self, expression: &Expression) -> Outcome<Term> {
        self.checker.expression(expression)
    }

    pub fn condition(&mut self, expression: &Expression) -> Outcome<Term> {
        self.checker.condition(expression)
    }

    /// Checks a value of a function.
    pub fn value_of(&mut self, id: FunctionId, value: &Expression) -> Outcome<Term> {
        let function = self.checker.function(id);
        let Some(result) = function.map(|function| function.result.clone()) else {
            return self.checker.expression(value);
        };
        self.checker.expect(value, &result)
    }

    fn named(&self, name: &Name) -> Outcome<(FunctionId, FunctionKind)> {
        if let Some((Symbol::Function(number), _)) = self.checker.symbols.get(&name.text) {
            let id = FunctionId(*number);
            if let Some(function) = self.checker.function(id) {
                return Ok((id, function.kind));
            }
        }
        let functions = self.checker.functions.iter();
        let names = functions.map(|function| &*function.name);
        Err(Checker::unknown("function", name, names))
    }

    /// Checks a location that the environment sets.
    pub fn place(
        &mut self,
        name: &Name,
        arguments: &[Expression],
    ) -> Outcome<(FunctionId, Vec<Term>)> {
        let (id, kind) = self.named(name)?;
        if !is_set(kind) {
            let message = format!("`{}` is not set by the environment", name.text);
            return Err(Fault::new("set", message, Some(name.span))
                .help("the environment sets monitored and shared functions"));
        }
        let arguments = self.checker.terms(arguments)?;
        self.arity(id, arguments.len(), name.span)?;
        let parameters = self
            .checker
            .function(id)
            .map(|function| &function.parameters);
        for (argument, wanted) in arguments.iter().zip(parameters.into_iter().flatten()) {
            if !wanted.takes(&argument.of) {
                return Err(self.checker.mismatch(wanted, argument));
            }
        }
        Ok((id, arguments))
    }

    fn arity(&self, id: FunctionId, count: usize, span: Span) -> Outcome<()> {
        match self.checker.function(id) {
            Some(function) if function.parameters.len() != count => {
                let wanted = super::expression::arguments_in_words(function.parameters.len());
                let message = format!("`{}` takes {wanted}, not {count}", function.name);
                Err(Fault::new("arguments", message, Some(span))
                    .label(function.span, "declared here"))
            }
            _ => Ok(()),
        }
    }

    /// Resolves the function of a column, and whether the environment sets it.
    pub fn column(&self, name: &Name) -> Outcome<(FunctionId, bool)> {
        let (id, kind) = self.named(name)?;
        self.arity(id, 0, name.span)?;
        Ok((id, is_set(kind)))
    }

    /// Builds the condition that a function has a value.
    pub fn equal(&mut self, name: &Name, value: Expression) -> Outcome<Term> {
        let span = value.span;
        let function = Expression {
            kind: ExpressionKind::Name(name.clone()),
            span: name.span,
            depth: 1,
        };
        let depth = value.depth + 1;
        let kind = ExpressionKind::Binary(Binary::Equal, Box::new(function), Box::new(value));
        self.checker.condition(&Expression { kind, span, depth })
    }
}

fn is_set(kind: FunctionKind) -> bool {
    matches!(kind, FunctionKind::Monitored | FunctionKind::Shared)
}
