//! Evaluation of rules to sets of updates.

use super::{Machine, Outcome, Update, Updates};
use crate::asm::program::{Arm, FunctionId, Pattern, Rule, RuleId, RuleKind, Term, TermKind};
use crate::asm::state::Location;
use crate::asm::value::Value;
use crate::{Fault, Span};
use std::collections::btree_map::Entry;
use std::ops::ControlFlow;
use std::sync::Arc;

impl<'a> Machine<'a> {
    /// Returns the updates of a rule.
    pub(super) fn fire(&mut self, rule: &'a Rule) -> Outcome<Updates> {
        let mut updates = Updates::new();
        self.rule(rule, &mut updates)?;
        Ok(updates)
    }

    /// Adds the updates of a rule to a set of parallel updates.
    pub(super) fn rule(&mut self, rule: &'a Rule, all: &mut Updates) -> Outcome<()> {
        self.deeper(rule.span, |machine| machine.any_rule(rule, all))
    }

    fn any_rule(&mut self, rule: &'a Rule, all: &mut Updates) -> Outcome<()> {
        match &rule.kind {
            RuleKind::Skip => Ok(()),
            RuleKind::Par(rules) => rules.iter().try_for_each(|rule| self.rule(rule, all)),
            RuleKind::Seq(rules) => self.after(Updates::new(), all, |machine| {
                rules.iter().try_for_each(|rule| machine.next_rule(rule))
            }),
            RuleKind::Update {
                function,
                arguments,
                value,
            } => self.update(*function, arguments, value, rule.span, all),
            RuleKind::If(condition, then, otherwise) => {
                if self.truth(condition)? {
                    self.rule(then, all)
                } else {
                    self.rule(otherwise, all)
                }
            }
            RuleKind::Case(subject, arms, otherwise) => self.case(subject, arms, otherwise, all),
            RuleKind::Let(value, body) => {
                let mut fields = Updates::new();
                let value = self.value(value, &mut fields)?;
                if fields.is_empty() {
                    return self.with(value, |machine| machine.rule(body, all));
                }
                // Rules that use a new object see its fields.
                self.after(fields, all, |machine| {
                    machine.with(value, |machine| machine.next_rule(body))
                })
            }
            RuleKind::Forall(each, body) => self.each(each, |machine, _| {
                machine.rule(body, all)?;
                Ok(ControlFlow::Continue(()))
            }),
            RuleKind::Choose(each, body, otherwise) => match self.choose_among(each, rule.span)? {
                Some(value) => self.with(value, |machine| machine.rule(body, all)),
                None => self.rule(otherwise, all),
            },
            RuleKind::Either(rules) => self.either(rules, rule.span, all),
            RuleKind::Call(id, terms) => self.call(*id, terms, all),
            RuleKind::Assert(condition) => {
                if self.truth(condition)? {
                    Ok(())
                } else {
                    let text = self.model.source(condition.span);
                    let message = format!("the assertion `{text}` does not hold");
                    Err(Fault::new("assertion", message, Some(rule.span)).into())
                }
            }
        }
    }

    fn either(&mut self, rules: &'a [Rule], span: Span, all: &mut Updates) -> Outcome<()> {
        let numbers = (1..=rules.len() as i64).map(Value::Integer).collect();
        let nameless: Arc<str> = "".into();
        let chosen = self.choose(&nameless, numbers, span)?;
        let position = match chosen {
            Value::Integer(number) => usize::try_from(number - 1).ok(),
            _ => None,
        };
        match position.and_then(|position| rules.get(position)) {
            Some(rule) => self.rule(rule, all),
            None => Ok(()),
        }
    }

    fn call(&mut self, id: RuleId, terms: &'a [Term], all: &mut Updates) -> Outcome<()> {
        let arguments = self.terms(terms)?;
        let model = self.model;
        let Some(called) = model.rules.get(id.0 as usize) else {
            return Ok(());
        };
        for ((argument, of), term) in arguments.iter().zip(&called.parameters).zip(terms) {
            if !of.has(argument, &model.enumerations) {
                let message = format!(
                    "rule `{}` takes {}, not {}",
                    called.name,
                    model.show_type(of),
                    model.show(argument)
                );
                return Err(Fault::new("range", message, Some(term.span)).into());
            }
        }
        self.rules.push(id);
        let done = self.framed(arguments, |machine| machine.rule(&called.body, all));
        self.rules.pop();
        done
    }

    /// Evaluates sequential rules, each of which sees the updates before it: first the
    /// given updates, then those of each [`Machine::next_rule`].
    fn after(
        &mut self,
        before: Updates,
        all: &mut Updates,
        rules: impl FnOnce(&mut Machine<'a>) -> Outcome<()>,
    ) -> Outcome<()> {
        self.overlays.push(before);
        let result = rules(self);
        let done = self.overlays.pop().unwrap_or_default();
        result?;
        done.into_iter()
            .try_for_each(|(location, update)| self.unite(all, location, update))
    }

    /// Evaluates the next sequential rule.
    fn next_rule(&mut self, rule: &'a Rule) -> Outcome<()> {
        let mut updates = self.fire(rule)?;
        if let Some(overlay) = self.overlays.last_mut() {
            overlay.append(&mut updates);
        }
        Ok(())
    }

    /// Adds an update to a set of parallel updates.
    fn unite(&self, all: &mut Updates, location: Location, update: Update) -> Outcome<()> {
        match all.entry(location) {
            Entry::Vacant(entry) => {
                entry.insert(update);
                Ok(())
            }
            Entry::Occupied(entry) if entry.get().value == update.value => Ok(()),
            Entry::Occupied(entry) => Err(self.clash(entry.key(), entry.get(), &update).into()),
        }
    }

    fn clash(&self, location: &Location, first: &Update, second: &Update) -> Fault {
        let (id, arguments) = location;
        let by = |update: &Update| {
            let rule = update
                .rule
                .and_then(|id| self.model.rules.get(id.0 as usize));
            let rule = rule.map_or(format!("`{}`", self.root), |rule| {
                format!("rule `{}`", rule.name)
            });
            format!("{} by {rule}", self.model.show(&update.value))
        };
        let message = format!(
            "inconsistent updates: `{}` gets two values in one step, {} and {}",
            self.model.show_location(*id, arguments),
            by(first),
            by(second)
        );
        Fault::new("clash", message, Some(second.span))
            .label(first.span, by(first))
            .label(second.span, by(second))
            .help("make the guards exclude each other, or put the rules in `seq`")
    }

    /// Evaluates a value. If it is a new object, the values of its fields are added to
    /// the updates.
    fn value(&mut self, term: &'a Term, all: &mut Updates) -> Outcome<Value> {
        let TermKind::New(class, fields) = &term.kind else {
            return self.term(term);
        };
        let mut values = Vec::with_capacity(fields.len());
        for (id, value) in fields {
            values.push((*id, self.term(value)?, value.span));
        }
        let (state, log) = (self.state, &mut self.log);
        let objects = self.objects.get_or_insert_with(|| {
            let live = state.live();
            if let Some(log) = log {
                log.objects(&live);
            }
            live
        });
        let number = (0..).find(|number| !objects.contains(&(*class, *number)));
        let number = number.unwrap_or(u32::MAX);
        objects.insert((*class, number));
        let object = Value::Object(*class, number);
        for (id, value, span) in values {
            self.check_value(id, &value, span)?;
            let update = self.made(value, span);
            self.unite(all, (id, vec![object.clone()]), update)?;
        }
        Ok(object)
    }

    fn made(&self, value: Value, span: Span) -> Update {
        Update {
            value,
            span,
            rule: self.rules.last().copied(),
        }
    }

    fn update(
        &mut self,
        id: FunctionId,
        arguments: &'a [Term],
        value: &'a Term,
        span: Span,
        all: &mut Updates,
    ) -> Outcome<()> {
        let arguments = self.terms(arguments)?;
        let value = self.value(value, all)?;
        self.check_arguments(id, &arguments, span)?;
        self.check_value(id, &value, span)?;
        let update = self.made(value, span);
        self.unite(all, (id, arguments), update)
    }

    fn check_value(&self, id: FunctionId, value: &Value, span: Span) -> Outcome<()> {
        Ok(self.model.takes(id, value, span)?)
    }

    fn case(
        &mut self,
        subject: &'a Term,
        arms: &'a [Arm],
        otherwise: &'a Rule,
        all: &mut Updates,
    ) -> Outcome<()> {
        let value = self.term(subject)?;
        let length = self.locals.len();
        for arm in arms {
            for pattern in &arm.patterns {
                let fits = self.fits(pattern, &value)?;
                let done = if fits {
                    Some(self.rule(&arm.body, all))
                } else {
                    None
                };
                self.locals.truncate(length);
                if let Some(done) = done {
                    return done;
                }
            }
        }
        self.rule(otherwise, all)
    }

    /// Matches a value against a pattern; binds its variables.
    fn fits(&mut self, pattern: &'a Pattern, value: &Value) -> Outcome<bool> {
        Ok(match (pattern, value) {
            (Pattern::Any, _) => true,
            (Pattern::Bind, value) => {
                self.locals.push(value.clone());
                true
            }
            (Pattern::Tuple(parts), Value::Tuple(values)) => {
                for (part, value) in parts.iter().zip(values.iter()) {
                    if !self.fits(part, value)? {
                        return Ok(false);
                    }
                }
                true
            }
            (Pattern::Tuple(_), _) => false,
            (Pattern::Value(term), value) => self.term(term)? == *value,
        })
    }
}
