//! Checks rules. A fault in one does not prevent checking the others.

use super::expression::arguments_in_words;
use super::{Checker, Outcome};
use crate::asm::program::{Arm, Pattern, Rule, RuleId, RuleKind, Term, TermKind};
use crate::asm::syntax::{self, Expression, FunctionKind, Name, RuleKind as S};
use crate::asm::types::Type;
use crate::{Fault, Span};
use std::sync::Arc;

/// Returns the type of the collection that contains a location.
fn place_kind(place: &Term) -> Option<&Type> {
    match &place.kind {
        TermKind::Index(collection, _) => Some(collection.of.present()),
        _ => None,
    }
}

impl Checker<'_> {
    pub(super) fn rule(&mut self, rule: &syntax::Rule) -> Rule {
        let depth = self.locals.len();
        let kind = self.rule_kind(rule);
        self.locals.truncate(depth);
        match self.keep(kind) {
            Some(kind) => Rule {
                kind,
                span: rule.span,
            },
            None => Checker::no_rule(rule.span),
        }
    }

    fn rules(&mut self, rules: &[syntax::Rule]) -> Vec<Rule> {
        rules.iter().map(|rule| self.rule(rule)).collect()
    }

    fn boxed(&mut self, rule: &syntax::Rule) -> Box<Rule> {
        Box::new(self.rule(rule))
    }

    fn rule_kind(&mut self, rule: &syntax::Rule) -> Outcome<RuleKind> {
        Ok(match &rule.kind {
            S::Skip => RuleKind::Skip,
            S::Par(rules) => RuleKind::Par(self.rules(rules)),
            S::Seq(rules) => RuleKind::Seq(self.rules(rules)),
            S::Either(rules) => RuleKind::Either(self.rules(rules)),
            S::Update(place, value) => self.update(place, value)?,
            S::If(condition, then, otherwise) => {
                let condition = self.condition(condition);
                let (then, otherwise) = (self.boxed(then), self.boxed(otherwise));
                RuleKind::If(condition?, then, otherwise)
            }
            S::Case(subject, arms, otherwise) => {
                let subject = self.expression(subject)?;
                let arms: Outcome<Vec<Arm>> =
                    arms.iter().map(|arm| self.arm(arm, &subject.of)).collect();
                RuleKind::Case(subject, arms?, self.boxed(otherwise))
            }
            S::Let(name, value, body) => {
                let value = self.value(value)?;
                self.locals.push((Arc::clone(&name.text), value.of.clone()));
                RuleKind::Let(value, self.boxed(body))
            }
            S::Forall(each, body) => {
                let each = self.each(each)?;
                RuleKind::Forall(each, self.boxed(body))
            }
            S::Choose(each, body, otherwise) => {
                let depth = self.locals.len();
                let each = self.each(each)?;
                let body = self.boxed(body);
                self.locals.truncate(depth);
                RuleKind::Choose(each, body, self.boxed(otherwise))
            }
            S::Call(name, arguments) => self.call_rule(name, arguments, rule.span)?,
            S::Assert(condition) => RuleKind::Assert(self.condition(condition)?),
        })
    }

    fn update(&mut self, place: &Expression, value: &Expression) -> Outcome<RuleKind> {
        let place = self.expression(place)?;
        let TermKind::Apply(id, arguments) = place.kind else {
            let message = "this cannot be updated";
            let help = match (&place.kind, place_kind(&place)) {
                (TermKind::Local(_), _) => "here it is the name of a value, which cannot change",
                (_, Some(Type::Map(..))) => "update the whole: `m := m ++ {key -> value}`",
                (TermKind::Index(..) | TermKind::Part(..), _) => {
                    "update the whole that this is a part of"
                }
                _ => "controlled and shared functions and fields of objects can be updated",
            };
            return Err(Fault::new("update", message, Some(place.span)).help(help));
        };
        if let Some(function) = self.function(id) {
            let reason = match function.kind {
                FunctionKind::Controlled | FunctionKind::Shared => None,
                FunctionKind::Static => Some("it is static"),
                FunctionKind::Derived => Some("it is derived from other functions"),
                FunctionKind::Monitored => Some("it is monitored: only the environment sets it"),
            };
            if let Some(reason) = reason {
                let message = format!("`{}` cannot be updated: {reason}", function.name);
                return Err(Fault::new("update", message, Some(place.span))
                    .label(function.span, "declared here"));
            }
        }
        let value = self.value(value)?;
        if !place.of.takes(&value.of) {
            return Err(self.mismatch(&place.of, &value));
        }
        Ok(RuleKind::Update {
            function: id,
            arguments,
            value,
        })
    }

    fn arm(&mut self, arm: &syntax::Arm, of: &Type) -> Outcome<Arm> {
        let depth = self.locals.len();
        let patterns: Outcome<Vec<Pattern>> = arm
            .patterns
            .iter()
            .map(|pattern| self.pattern(pattern, of))
            .collect();
        let patterns = patterns?;
        if patterns.len() > 1 && self.locals.len() > depth {
            let message = "alternative patterns cannot bind a name";
            return Err(Fault::new("pattern", message, Some(arm.body.span))
                .help("write an arm for each pattern"));
        }
        let body = self.rule(&arm.body);
        self.locals.truncate(depth);
        Ok(Arm { patterns, body })
    }

    fn pattern(&mut self, pattern: &syntax::Pattern, of: &Type) -> Outcome<Pattern> {
        Ok(match pattern {
            syntax::Pattern::Any => Pattern::Any,
            syntax::Pattern::Bind(name) => {
                self.locals.push((Arc::clone(&name.text), of.clone()));
                Pattern::Bind
            }
            syntax::Pattern::Tuple(parts, span) => match of.present() {
                Type::Tuple(types) if types.len() == parts.len() => {
                    let types = Arc::clone(types);
                    let parts: Outcome<Vec<Pattern>> = parts
                        .iter()
                        .zip(types.iter())
                        .map(|(part, of)| self.pattern(part, of))
                        .collect();
                    Pattern::Tuple(parts?)
                }
                _ => {
                    let message =
                        format!("{} does not have {} components", self.show(of), parts.len());
                    return Err(Fault::new("pattern", message, Some(*span)));
                }
            },
            syntax::Pattern::Value(value) => {
                let value = self.expression(value)?;
                if of.join(&value.of).is_none() {
                    return Err(self.mismatch(of, &value));
                }
                Pattern::Value(value)
            }
        })
    }

    fn call_rule(
        &mut self,
        name: &Name,
        arguments: &[Expression],
        span: Span,
    ) -> Outcome<RuleKind> {
        let arguments: Vec<Term> = self.terms(arguments)?;
        let found = self
            .rules
            .iter()
            .position(|rule| rule.name.text == name.text);
        let Some((number, rule)) = found.and_then(|number| Some((number, self.rules.get(number)?)))
        else {
            let names: Vec<&str> = self.rules.iter().map(|rule| &*rule.name.text).collect();
            return Err(Checker::unknown("rule", name, names));
        };
        if rule.parameters.len() != arguments.len() {
            let message = format!(
                "the rule `{}` takes {}, not {}",
                name.text,
                arguments_in_words(rule.parameters.len()),
                arguments.len()
            );
            return Err(
                Fault::new("arguments", message, Some(span)).label(rule.name.span, "declared here")
            );
        }
        for (argument, wanted) in arguments.iter().zip(&rule.parameters) {
            if !wanted.takes(&argument.of) {
                return Err(self.mismatch(wanted, argument));
            }
        }
        Ok(RuleKind::Call(RuleId(number as u32), arguments))
    }
}
