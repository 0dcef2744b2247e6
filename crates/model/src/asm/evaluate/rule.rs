//! Rules: to a set of updates.

use super::{Location, Machine, Outcome, Update, Updates};
use crate::asm::program::{Arm, FunctionId, Pattern, Rule, RuleKind, Term, TermKind};
use crate::asm::value::Value;
use crate::{Fault, Span};
use std::collections::btree_map::Entry;
use std::sync::Arc;

impl<'a> Machine<'a> {
    pub(super) fn rule(&mut self, rule: &'a Rule) -> Outcome<Updates> {
        self.deeper(rule.span, |machine| machine.any_rule(rule))
    }

    fn any_rule(&mut self, rule: &'a Rule) -> Outcome<Updates> {
        match &rule.kind {
            RuleKind::Skip => Ok(Updates::new()),
            RuleKind::Par(rules) => {
                let mut all = Updates::new();
                for rule in rules {
                    let updates = self.rule(rule)?;
                    self.unite(&mut all, updates)?;
                }
                Ok(all)
            }
            RuleKind::Seq(rules) => {
                let mut rules = rules.iter();
                self.after(Updates::new(), &mut |machine| {
                    rules.next().map(|rule| machine.rule(rule))
                })
            }
            RuleKind::Update {
                function,
                arguments,
                value,
            } => self.update(*function, arguments, value, rule.span),
            RuleKind::If(condition, then, otherwise) => match self.truth(condition)? {
                true => self.rule(then),
                false => self.rule(otherwise),
            },
            RuleKind::Case(subject, arms, otherwise) => self.case(subject, arms, otherwise),
            RuleKind::Let(value, body) => {
                let (value, fields) = self.value(value)?;
                // Who uses a new object sees what is in it.
                let mut rest = Some(value);
                self.after(fields, &mut |machine| {
                    let value = rest.take()?;
                    Some(machine.with(value, |machine| machine.rule(body)))
                })
            }
            RuleKind::Forall(each, body) => {
                let mut all = Updates::new();
                for value in self.candidates(each)? {
                    let updates = self.with(value, |machine| machine.rule(body))?;
                    self.unite(&mut all, updates)?;
                }
                Ok(all)
            }
            RuleKind::Choose(each, body, otherwise) => match self.choose_among(each, rule.span)? {
                Some(value) => self.with(value, |machine| machine.rule(body)),
                None => self.rule(otherwise),
            },
            RuleKind::Either(rules) => {
                let numbers = (1..=rules.len() as i64).map(Value::Integer).collect();
                let nameless: Arc<str> = "".into();
                let chosen = self.choose(&nameless, numbers, rule.span)?;
                let position = match chosen {
                    Value::Integer(number) => usize::try_from(number - 1).ok(),
                    _ => None,
                };
                match position.and_then(|position| rules.get(position)) {
                    Some(rule) => self.rule(rule),
                    None => Ok(Updates::new()),
                }
            }
            RuleKind::Call(id, terms) => {
                let arguments = self.terms(terms)?;
                let model = self.model;
                let Some(called) = model.rules.get(id.0 as usize) else {
                    return Ok(Updates::new());
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
                self.rules.push(*id);
                let updates = self.framed(arguments, |machine| machine.rule(&called.body));
                self.rules.pop();
                updates
            }
            RuleKind::Assert(condition) => match self.truth(condition)? {
                true => Ok(Updates::new()),
                false => {
                    let text = self.model.source(condition.span);
                    let message = format!("the assertion `{text}` does not hold");
                    Err(Fault::new("assertion", message, Some(rule.span)).into())
                }
            },
        }
    }

    /// Rules one after the other, each seeing what those before it did.
    fn after(
        &mut self,
        before: Updates,
        next: &mut dyn FnMut(&mut Machine<'a>) -> Option<Outcome<Updates>>,
    ) -> Outcome<Updates> {
        self.overlays.push(before);
        let result = loop {
            match next(self) {
                None => break Ok(()),
                Some(Err(stop)) => break Err(stop),
                Some(Ok(updates)) => {
                    if let Some(overlay) = self.overlays.last_mut() {
                        overlay.extend(updates);
                    }
                }
            }
        };
        let done = self.overlays.pop().unwrap_or_default();
        result.map(|()| done)
    }

    /// Puts updates together that are made at once.
    fn unite(&mut self, all: &mut Updates, updates: Updates) -> Outcome<()> {
        if all.is_empty() {
            *all = updates;
            return Ok(());
        }
        for (location, update) in updates {
            match all.entry(location) {
                Entry::Vacant(entry) => {
                    entry.insert(update);
                }
                Entry::Occupied(entry) if entry.get().value == update.value => {}
                Entry::Occupied(entry) => {
                    return Err(self.clash(entry.key(), entry.get(), &update).into());
                }
            }
        }
        Ok(())
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
            "a clash: `{}` gets two values in one step, {} and {}",
            self.model.show_location(*id, arguments),
            by(first),
            by(second)
        );
        Fault::new("clash", message, Some(second.span))
            .label(first.span, by(first))
            .label(second.span, by(second))
            .help("make the guards exclude each other, or put the rules in `seq`")
    }

    /// A value, and the fields of the object that it is if it is a new one.
    fn value(&mut self, term: &'a Term) -> Outcome<(Value, Updates)> {
        let TermKind::New(class, fields) = &term.kind else {
            return Ok((self.term(term)?, Updates::new()));
        };
        let mut values = Vec::with_capacity(fields.len());
        for (id, value) in fields {
            values.push((*id, self.term(value)?, value.span));
        }
        let state = self.state;
        let objects = self.objects.get_or_insert_with(|| state.live());
        let number = (0..).find(|number| !objects.contains(&(*class, *number)));
        let number = number.unwrap_or(u32::MAX);
        objects.insert((*class, number));
        let object = Value::Object(*class, number);
        let mut updates = Updates::new();
        for (id, value, span) in values {
            self.check_value(id, &value, span)?;
            let update = self.made(value, span);
            updates.insert((id, vec![object.clone()]), update);
        }
        Ok((object, updates))
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
    ) -> Outcome<Updates> {
        let arguments = self.terms(arguments)?;
        let (value, mut updates) = self.value(value)?;
        self.check_arguments(id, &arguments, span)?;
        self.check_value(id, &value, span)?;
        let update = self.made(value, span);
        updates.insert((id, arguments), update);
        Ok(updates)
    }

    fn check_value(&self, id: FunctionId, value: &Value, span: Span) -> Outcome<()> {
        Ok(self.model.takes(id, value, span)?)
    }

    fn case(
        &mut self,
        subject: &'a Term,
        arms: &'a [Arm],
        otherwise: &'a Rule,
    ) -> Outcome<Updates> {
        let value = self.term(subject)?;
        let length = self.locals.len();
        for arm in arms {
            for pattern in &arm.patterns {
                let fits = self.fits(pattern, &value)?;
                let updates = match fits {
                    true => Some(self.rule(&arm.body)),
                    false => None,
                };
                self.locals.truncate(length);
                if let Some(updates) = updates {
                    return updates;
                }
            }
        }
        self.rule(otherwise)
    }

    /// Whether a value looks like a pattern; binds its variables.
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
