//! Checks the bodies of declarations: values of functions, rules, invariants and
//! formulas.

use super::{Checker, Outcome};
use crate::asm::program::{Invariant, NamedFormula, NamedRule, Rule, RuleKind, Term};
use crate::asm::syntax::{self, Expression, FunctionItem, FunctionKind, Item, Name, Parameter};
use crate::asm::types::Type;
use crate::{Fault, Span};
use std::sync::Arc;

impl Checker<'_> {
    pub(super) fn bodies(&mut self, items: &[Item]) {
        let mut field = 0;
        let mut function = self.classes.iter().map(|class| class.fields.len()).sum();
        let mut rule = 0;
        for item in items {
            match item {
                Item::Class(_, fields) => {
                    for one in fields {
                        let matches = self.functions.get(field).is_some_and(|function| {
                            function.class.is_some() && function.span == one.parameter.name.span
                        });
                        if matches {
                            self.initial(field, one.value.as_ref(), one.parameter.name.span);
                            field += 1;
                        }
                    }
                }
                Item::Function(item) => {
                    self.function_body(function, item);
                    function += 1;
                }
                Item::Rule {
                    name,
                    parameters,
                    body,
                    ..
                } => {
                    self.rule_body(rule, name, parameters, body);
                    rule += 1;
                }
                _ => {}
            }
        }
    }

    fn function_body(&mut self, number: usize, item: &FunctionItem) {
        let Some(function) = self.functions.get(number) else {
            return;
        };
        let names = function.parameter_names.iter().cloned();
        self.locals = names.zip(function.parameters.iter().cloned()).collect();
        let result = function.result.clone();
        if let Some(possible) = &item.possible {
            let term = self.possible(item, possible, &result);
            let term = self.keep(term);
            if let Some(function) = self.functions.get_mut(number) {
                function.possible = term;
            }
        }
        self.initial(number, item.value.as_ref(), item.name.span);
        self.locals.clear();
    }

    fn possible(
        &mut self,
        item: &FunctionItem,
        possible: &Expression,
        result: &Type,
    ) -> Outcome<Term> {
        if !matches!(item.kind, FunctionKind::Monitored | FunctionKind::Shared) {
            let message = "only monitored and shared functions have possible values";
            return Err(Fault::new("possible", message, Some(possible.span)));
        }
        let term = self.expression(possible)?;
        let wanted = Type::Set(Arc::new(result.clone()));
        if wanted.takes(&term.of) {
            Ok(term)
        } else {
            Err(self.mismatch(&wanted, &term))
        }
    }

    /// Checks the defining or initial value of a function.
    fn initial(&mut self, number: usize, value: Option<&Expression>, span: Span) {
        let Some(function) = self.functions.get(number) else {
            return;
        };
        let (kind, result) = (function.kind, function.result.clone());
        let name = Arc::clone(&function.name);
        let is_field = function.class.is_some();
        let term = match (kind, value) {
            (FunctionKind::Monitored, Some(value)) => {
                let message = format!("`{name}` is monitored and cannot have a value of its own");
                Err(Fault::new("value", message, Some(value.span))
                    .help("write `possible { ... }` for the values that the environment may give"))
            }
            (FunctionKind::Monitored, None) => return,
            (_, Some(value)) => self.expression(value).and_then(|term| {
                if result.takes(&term.of) {
                    Ok(Some(term))
                } else {
                    Err(self.mismatch(&result, &term))
                }
            }),
            (_, None) if is_field || matches!(result, Type::Optional(_)) => Ok(None),
            (FunctionKind::Static | FunctionKind::Derived, None) => {
                Err(
                    Fault::new("value", format!("`{name}` has no value"), Some(span))
                        .help("write `= ...` after its type"),
                )
            }
            (_, None) => Err(Fault::new(
                "value",
                format!("`{name}` has no initial value"),
                Some(span),
            )
            .help("write `= ...` after its type, or make the type optional")),
        };
        let term = self.keep(term).flatten();
        if let Some(function) = self.functions.get_mut(number) {
            function.value = term;
        }
    }

    fn rule_body(
        &mut self,
        number: usize,
        name: &Name,
        parameters: &[Parameter],
        body: &syntax::Rule,
    ) {
        let Some(entry) = self.rules.get(number) else {
            return;
        };
        let types = entry.parameters.clone();
        let names = parameters
            .iter()
            .map(|parameter| Arc::clone(&parameter.name.text));
        self.locals = names.zip(types.iter().cloned()).collect();
        let body = self.rule(body);
        self.locals.clear();
        if let Some(entry) = self.rules.get_mut(number) {
            entry.checked = Some(NamedRule {
                name: Arc::clone(&name.text),
                parameters: types,
                body,
            });
        }
    }

    pub(super) fn main(&mut self, items: &[Item]) -> Option<Rule> {
        let main = self.block(items, "main");
        if main.is_none() && self.faults.is_empty() {
            let end = self.texts.first().map_or(0, |text| text.text.len());
            let fault = Fault::new(
                "no-main",
                "the model has no main rule",
                Some(Span::new(0, end..end)),
            );
            self.faults
                .push(fault.help("write `main { ... }`, the rule of each step"));
        }
        main
    }

    pub(super) fn block(&mut self, items: &[Item], wanted: &str) -> Option<Rule> {
        let body = items.iter().find_map(|item| match item {
            Item::Block { name, body, .. } if &*name.text == wanted => Some(body),
            _ => None,
        })?;
        Some(self.rule(body))
    }

    pub(super) fn invariants(&mut self, items: &[Item]) -> Vec<Invariant> {
        let mut invariants = Vec::new();
        for item in items {
            let Item::Invariant {
                name, condition, ..
            } = item
            else {
                continue;
            };
            let condition = self.condition(condition);
            if let Some(condition) = self.keep(condition) {
                invariants.push(Invariant {
                    name: Arc::clone(&name.text),
                    condition,
                });
            }
        }
        invariants
    }

    pub(super) fn formulas(&mut self, items: &[Item]) -> Vec<NamedFormula> {
        let mut formulas = Vec::new();
        for item in items {
            let Item::Ltl { name, formula, .. } = item else {
                continue;
            };
            let formula = self.formula(formula);
            if let Some(formula) = self.keep(formula) {
                formulas.push(NamedFormula {
                    name: Arc::clone(&name.text),
                    span: name.span,
                    formula,
                });
            }
        }
        formulas
    }

    /// Returns a placeholder for a rule with a reported fault.
    pub(super) fn no_rule(span: Span) -> Rule {
        Rule {
            kind: RuleKind::Skip,
            span,
        }
    }
}
