//! Collects the declarations of a model and of the models that it refines.
//!
//! A model refines another one by taking all of its declarations and replacing those
//! marked `override`. A replacement takes the position of the original, so all uses refer
//! to it.

use super::parse::{formula, parse};
use super::syntax::{Item, Name, Parameter, Written};
use crate::promela::{Reader, Text};
use crate::{Fault, Span};

/// Maximum number of texts of a model.
const TEXTS_MAX: usize = 64;

#[derive(Default)]
pub(super) struct Gathered {
    pub texts: Vec<Text>,
    pub items: Vec<Item>,
    pub faults: Vec<Fault>,
}

/// Returns the declarations of a text, with additional formulas.
pub(super) fn gather(text: Text, formulas: &[String], reader: &mut Reader<'_>) -> Gathered {
    let mut gathered = Gathered::default();
    gathered.text(text, reader);
    for text in formulas {
        gathered.formula(text);
    }
    gathered
}

/// Returns the identity of a declaration: its sort, its name, and whether it is an
/// override.
fn identity(item: &Item) -> Option<(&'static str, &Name, bool)> {
    Some(match item {
        Item::Refine(..) | Item::Abstraction { .. } | Item::Record(..) => return None,
        Item::Enumeration(name, _) | Item::Universe(name, _) | Item::Class(name, _) => {
            ("type", name, false)
        }
        Item::Function(function) => ("function", &function.name, function.overrides),
        Item::Rule {
            name, overrides, ..
        } => ("rule", name, *overrides),
        Item::Block {
            name, overrides, ..
        } => ("block", name, *overrides),
        Item::Invariant {
            name, overrides, ..
        } => ("invariant", name, *overrides),
        Item::Ltl {
            name, overrides, ..
        } => ("formula", name, *overrides),
    })
}

fn parameters(item: &Item) -> (&[Parameter], Option<&Written>) {
    match item {
        Item::Function(function) => (&function.parameters, Some(&function.result)),
        Item::Rule { parameters, .. } => (parameters, None),
        _ => (&[], None),
    }
}

impl Gathered {
    fn text(&mut self, text: Text, reader: &mut Reader<'_>) {
        let source = self.texts.len() as u32;
        self.texts.push(text);
        let text = self.texts.last().map_or("", |text| &text.text);
        let too_long = u32::try_from(text.len()).is_err();
        if too_long {
            let fault = Fault::new("too-large", "the model is larger than 4 GiB", None);
            return self.faults.push(fault);
        }
        let (items, faults) = parse(source, text);
        self.faults.extend(faults);
        for item in items {
            match item {
                Item::Refine(file, span) => self.refined(&file, span, reader),
                item => self.item(item),
            }
        }
    }

    /// Adds a formula whose text is its name.
    fn formula(&mut self, text: &str) {
        let source = self.texts.len() as u32;
        self.texts.push(Text {
            name: "formula".to_owned(),
            text: text.to_owned(),
        });
        let (read, faults) = formula(source, text);
        self.faults.extend(faults);
        match read {
            Ok(formula) => self.items.push(Item::Ltl {
                name: Name {
                    text: text.into(),
                    span: formula.span,
                },
                formula,
                overrides: false,
            }),
            Err(fault) => self.faults.push(fault),
        }
    }

    fn refined(&mut self, file: &str, span: Span, reader: &mut Reader<'_>) {
        if self.texts.len() >= TEXTS_MAX {
            let message = format!("the model consists of more than {TEXTS_MAX} files");
            let fault = Fault::new("too-large", message, Some(span));
            return self
                .faults
                .push(fault.help("check that no model refines itself"));
        }
        match reader(file) {
            Ok(text) if self.texts.iter().any(|known| known.name == text.name) => {
                let message = format!("`{file}` is already part of this model");
                self.faults.push(Fault::new("file", message, Some(span)));
            }
            Ok(text) => self.text(text, reader),
            Err(reason) => {
                let message = format!("`{file}` cannot be read: {reason}");
                self.faults.push(Fault::new("file", message, Some(span)));
            }
        }
    }

    fn item(&mut self, item: Item) {
        let Some((sort, name, overrides)) = identity(&item) else {
            return self.items.push(item);
        };
        let before = self.items.iter_mut().find(|other| {
            identity(other).is_some_and(|(other_sort, other_name, _)| {
                other_sort == sort && other_name.text == name.text
            })
        });
        match (before, overrides) {
            (None, false) => self.items.push(item),
            (Some(before), true) => match replaceable(before, &item) {
                Ok(()) => *before = item,
                Err(fault) => self.faults.push(fault),
            },
            (Some(before), false) => {
                let message = format!("`{}` is declared twice", name.text);
                let mut fault = Fault::new("declared-twice", message, Some(name.span));
                if let Some((_, before, _)) = identity(before) {
                    fault = fault.label(before.span, "first one here");
                }
                if sort != "type" {
                    fault = fault.help("write `override` to replace what another file declares");
                }
                self.faults.push(fault);
            }
            (None, true) => {
                let message = format!("there is no {sort} `{}` to override", name.text);
                self.faults
                    .push(Fault::new("override", message, Some(name.span)));
            }
        }
    }
}

/// Checks that one declaration may replace another.
fn replaceable(before: &Item, after: &Item) -> Result<(), Fault> {
    let (Some((_, old, _)), Some((_, new, _))) = (identity(before), identity(after)) else {
        return Ok(());
    };
    if old.span.source == new.span.source {
        let message = format!("`{}` is declared in this file", new.text);
        return Err(Fault::new("override", message, Some(new.span))
            .label(old.span, "here")
            .help("`override` replaces a declaration of a refined file"));
    }
    let ((old_parameters, old_result), (new_parameters, new_result)) =
        (parameters(before), parameters(after));
    let alike = old_parameters.len() == new_parameters.len()
        && old_parameters
            .iter()
            .zip(new_parameters)
            .all(|(old, new)| same(&old.written, &new.written))
        && match (old_result, new_result) {
            (Some(old), Some(new)) => same(old, new),
            (None, None) => true,
            _ => false,
        };
    if alike {
        Ok(())
    } else {
        Err(Fault::new(
            "override",
            format!(
                "this `{}` has other types than the one it overrides",
                new.text
            ),
            Some(new.span),
        )
        .label(old.span, "the one that it overrides"))
    }
}

/// Returns whether two types are written alike.
fn same(left: &Written, right: &Written) -> bool {
    match (left, right) {
        (Written::Name(left), Written::Name(right)) => left.text == right.text,
        (Written::Range(..), Written::Range(..)) => true,
        (Written::Optional(left), Written::Optional(right))
        | (Written::Set(left), Written::Set(right))
        | (Written::Sequence(left), Written::Sequence(right)) => same(left, right),
        (Written::Map(key, value), Written::Map(other_key, other_value)) => {
            same(key, other_key) && same(value, other_value)
        }
        (Written::Tuple(left), Written::Tuple(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .zip(right)
                    .all(|(left, right)| same(left, right))
        }
        _ => false,
    }
}
