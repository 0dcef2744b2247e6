//! Checks the tables of a model: the mapping of a recorded session, and the abstraction.

use super::{ABSTRACTIONS_MAX, Checker, Outcome, load_below};
use crate::asm::program::{Abstraction, Action, Class, FunctionId, FunctionKind, Term, When};
use crate::asm::syntax::{self, Expression, Item, Name};
use crate::asm::types::{Enumeration, Type};
use crate::promela::Reader;
use crate::{Fault, Span};
use std::sync::Arc;

impl Checker<'_> {
    pub(super) fn record(&mut self, items: &[Item]) -> Vec<When> {
        let mut table = Vec::new();
        for item in items {
            let Item::Record(lines, _) = item else {
                continue;
            };
            for line in lines {
                let mut actions = Vec::new();
                for action in &line.actions {
                    let action = self.action(action);
                    actions.extend(self.keep(action));
                }
                let keys = line.keys.iter();
                table.push(When {
                    keys: keys
                        .map(|(name, texts)| (Arc::clone(&name.text), texts.clone()))
                        .collect(),
                    actions,
                });
            }
        }
        table
    }

    /// Returns the functions that the record leaves open.
    pub(super) fn unset(&mut self, items: &[Item]) -> Vec<FunctionId> {
        let names = items.iter().flat_map(|item| match item {
            Item::Record(_, unset) => &unset[..],
            _ => &[],
        });
        let mut unset = Vec::new();
        for name in names {
            let found = self.set_by_the_environment(name);
            unset.extend(self.keep(found));
        }
        unset
    }

    fn action(&mut self, action: &syntax::Action) -> Outcome<Action> {
        Ok(match action {
            syntax::Action::Set(name, value) => {
                let (id, value) = self.setting(name, value)?;
                Action::Set(id, value)
            }
            syntax::Action::Step(span) => Action::Step(*span),
            syntax::Action::Check(condition) => Action::Check(self.condition(condition)?),
            syntax::Action::Maybe(actions) => {
                let actions: Outcome<Vec<Action>> =
                    actions.iter().map(|action| self.action(action)).collect();
                Action::Maybe(actions?)
            }
        })
    }

    fn set_by_the_environment(&self, name: &Name) -> Outcome<FunctionId> {
        let found = self.functions.iter().position(|function| {
            function.name == name.text
                && function.class.is_none()
                && matches!(
                    function.kind,
                    FunctionKind::Monitored | FunctionKind::Shared
                )
        });
        let number = found.ok_or_else(|| settable(name, &self.functions))?;
        Ok(FunctionId(number as u32))
    }

    fn setting(&mut self, name: &Name, value: &Expression) -> Outcome<(FunctionId, Term)> {
        let id = self.set_by_the_environment(name)?;
        let Some(function) = self.function(id).filter(|it| it.parameters.is_empty()) else {
            return Err(settable(name, &self.functions));
        };
        let result = function.result.clone();
        let value = self.expect(value, &result)?;
        Ok((id, value))
    }

    pub(super) fn abstraction(
        &mut self,
        items: &[Item],
        reader: &mut Reader<'_>,
        refined: &[String],
    ) -> Option<Box<Abstraction>> {
        let mut claims = items.iter().filter_map(|item| match item {
            Item::Abstraction { file, span, pairs } => Some((file, *span, pairs)),
            _ => None,
        });
        // The last claim is that of the most refined text.
        let (file, span, pairs) = claims.next_back()?;
        if let Some((_, before, _)) = claims.find(|(_, before, _)| before.source == span.source) {
            let message = "a model can refine only one other model";
            self.faults.push(
                Fault::new("declared-twice", message, Some(span)).label(before, "first claim here"),
            );
        }
        if pairs.is_empty() {
            let message = "this abstraction compares nothing";
            self.faults.push(
                Fault::new("abstraction", message, Some(span)).help(
                    "list functions of the abstract model, each with its value in this model",
                ),
            );
        }
        let model = self.abstract_model(file, span, reader, refined);
        let model = self.keep(model)?;
        let mut known = Vec::new();
        for (number, (name, value)) in pairs.iter().enumerate() {
            let mut before = pairs.iter().take(number).map(|(other, _)| other);
            if let Some(before) = before.find(|before| before.text == name.text) {
                let message = format!("`{}` is listed twice", name.text);
                self.faults.push(
                    Fault::new("declared-twice", message, Some(name.span))
                        .label(before.span, "first one here"),
                );
            }
            let pair = self.pair(&model, name, value);
            known.extend(self.keep(pair));
        }
        Some(Box::new(Abstraction {
            model,
            pairs: known,
        }))
    }

    fn abstract_model(
        &mut self,
        file: &str,
        span: Span,
        reader: &mut Reader<'_>,
        refined: &[String],
    ) -> Outcome<crate::asm::program::Model> {
        if refined.len() >= ABSTRACTIONS_MAX {
            let message = format!("the chain of abstract models is longer than {ABSTRACTIONS_MAX}");
            return Err(Fault::new("too-large", message, Some(span)));
        }
        let text = reader(file).map_err(|reason| {
            let message = format!("`{file}` cannot be read: {reason}");
            Fault::new("file", message, Some(span))
        })?;
        let own = self.texts.first().map(|text| text.name.clone());
        let refined: Vec<String> = refined.iter().cloned().chain(own).collect();
        if refined.contains(&text.name) {
            let message = format!("`{file}` is its own abstract model");
            return Err(Fault::new("file", message, Some(span)));
        }
        load_below(text, &[], reader, &refined).map_err(|rejection| {
            let first = rejection.faults.first();
            let message = format!(
                "`{file}` is not a valid model: {}",
                first.map_or("", |fault| &fault.message)
            );
            Fault::new("file", message, Some(span)).help("check it on its own")
        })
    }

    fn pair(
        &mut self,
        model: &crate::asm::program::Model,
        name: &Name,
        value: &Expression,
    ) -> Outcome<(FunctionId, Term)> {
        let value = self.expression(value)?;
        match model.nullary(&name.text) {
            Some((id, function)) if function.kind != FunctionKind::Monitored => {
                match (sort(&function.result), sort(&value.of)) {
                    (Some(wanted), Some(found)) if wanted != found => {
                        let message = format!(
                            "`{}` is {} in the abstract model, but this is {}",
                            name.text,
                            model.show_type(&function.result),
                            self.show(&value.of)
                        );
                        Err(Fault::new("type", message, Some(value.span)))
                    }
                    _ => Ok((id, value)),
                }
            }
            _ => {
                let names = model
                    .functions
                    .iter()
                    .filter(|function| function.parameters.is_empty());
                Err(Checker::unknown(
                    "function without arguments in the abstract model",
                    name,
                    names.map(|function| &*function.name),
                ))
            }
        }
    }
}

/// Returns the sort of a type that can be compared between models; elements and objects
/// are compared by name.
fn sort(of: &Type) -> Option<&'static str> {
    match of.present() {
        Type::Boolean => Some("a truth value"),
        Type::Integer | Type::Range(..) => Some("a number"),
        Type::Text => Some("a text"),
        Type::Enumeration(_) => Some("an element"),
        Type::Set(_) => Some("a set"),
        Type::Sequence(_) => Some("a sequence"),
        Type::Map(..) => Some("a map"),
        Type::Tuple(_) => Some("a tuple"),
        Type::Nothing | Type::Undefined | Type::Class(_) | Type::Optional(_) => None,
    }
}

/// Returns the fault of a function that the environment does not set.
fn settable(name: &Name, functions: &[crate::asm::program::Function]) -> Fault {
    let names = functions.iter().filter(|function| {
        matches!(
            function.kind,
            FunctionKind::Monitored | FunctionKind::Shared
        )
    });
    Checker::unknown(
        "monitored or shared function without arguments",
        name,
        names.map(|function| &*function.name),
    )
}

/// Returns a type in source syntax.
pub(in crate::asm) fn show_type(
    of: &Type,
    enumerations: &[Enumeration],
    classes: &[Class],
) -> String {
    let show = |of: &Type| show_type(of, enumerations, classes);
    match of {
        Type::Nothing => "nothing".to_owned(),
        Type::Undefined => "undef".to_owned(),
        Type::Boolean => "Bool".to_owned(),
        Type::Integer => "Int".to_owned(),
        Type::Range(from, to) if from == to => "a number".to_owned(),
        Type::Range(from, to) => format!("{from}..{to}"),
        Type::Text => "Text".to_owned(),
        Type::Enumeration(number) => {
            let found = enumerations.get(*number as usize);
            found.map_or_else(String::new, |found| found.name.to_string())
        }
        Type::Class(number) => {
            let found = classes.get(*number as usize);
            found.map_or_else(String::new, |found| found.name.to_string())
        }
        Type::Optional(of) => format!("optional {}", show(of)),
        Type::Set(of) => format!("{{{}}}", show(of)),
        Type::Sequence(of) => format!("[{}]", show(of)),
        Type::Map(key, of) => format!("{{{} -> {}}}", show(key), show(of)),
        Type::Tuple(types) => {
            let types: Vec<String> = types.iter().map(show).collect();
            format!("({})", types.join(", "))
        }
    }
}
