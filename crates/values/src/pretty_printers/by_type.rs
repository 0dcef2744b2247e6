//! Determines the contents of a library type without a value.
//!
//! Before the program runs there is no value to walk, but the parts that an event reads must have
//! known types. The statements of a view give them without reading memory.
//!
//! Invariant: nothing is guessed. If only a value can tell (the variants of a `std::variant`), if
//! branches differ, or if the view does not fit, there is no answer.

use super::arguments::{template_numbers, template_types, with_types};
use super::printers::PrettyPrinters;
use super::rule::{PrettyPrinter, Shape, Source, Statement, TypeSource};
use crate::error::ValueError;
use crate::expression::{self, Scope};
use crate::standard_types::LibraryTypes;
use crate::typed::{Memory, NoMemory, Typed};
use juror_language::{Expression, ExpressionKind};
use juror_symbols::{TemplateArgument, Type};
use std::collections::HashMap;

/// The contents of a library type, or the value in its place.
#[derive(Debug, Clone)]
pub enum Contents {
    /// Elements by number.
    Elements(Type),
    /// Values by key.
    Entries {
        /// The type of the keys.
        key: Type,
        /// The type of the values.
        value: Type,
    },
    /// Text.
    String,
    /// Another value in its place.
    Instead(Type),
    /// The target of a pointer.
    Target(Type),
}

impl Contents {
    fn is_same(&self, other: &Contents) -> bool {
        match (self, other) {
            (Contents::Elements(a), Contents::Elements(b))
            | (Contents::Instead(a), Contents::Instead(b))
            | (Contents::Target(a), Contents::Target(b)) => a.name() == b.name(),
            (Contents::Entries { value: a, .. }, Contents::Entries { value: b, .. }) => {
                a.name() == b.name()
            }
            (Contents::String, Contents::String) => true,
            _ => false,
        }
    }
}

impl PrettyPrinters {
    /// Returns the contents of a type, by the first view that fits.
    pub fn contents(
        &self,
        r#type: &Type,
        types: &dyn Fn(&str) -> Option<Type>,
    ) -> Option<Contents> {
        let value = Typed::missing(r#type.clone(), "nothing is read");
        self.of(r#type).find_map(|printer| {
            if printer.shape == Shape::Tuple {
                return None;
            }
            let mut walk = Walk {
                value: &value,
                types,
                variables: types_of_numbers(printer, r#type),
                names: template_types(printer, r#type, types),
                found: None,
            };
            walk.block(&printer.body)?;
            walk.found
        })
    }
}

fn types_of_numbers(printer: &PrettyPrinter, r#type: &Type) -> HashMap<Box<str>, Type> {
    let numbers = template_numbers(printer, r#type).into_iter();
    numbers.map(|(name, value)| (name, value.r#type)).collect()
}

/// A walk that visits each statement of a view once.
struct Walk<'a> {
    value: &'a Typed,
    types: &'a dyn Fn(&str) -> Option<Type>,
    variables: HashMap<Box<str>, Type>,
    names: HashMap<Box<str>, Type>,
    found: Option<Contents>,
}

impl Walk<'_> {
    fn block(&mut self, statements: &[Statement]) -> Option<()> {
        statements
            .iter()
            .try_for_each(|statement| self.statement(statement))
    }

    fn statement(&mut self, statement: &Statement) -> Option<()> {
        match statement {
            Statement::Assign(name, source) => {
                let r#type = match source {
                    Source::Expression(expression) => self.type_of(expression)?,
                    Source::Base(index, of) => {
                        let composite = self.type_of(of)?.composite()?;
                        composite.bases.get(*index)?.r#type.clone()
                    }
                    Source::Argument(_, of) => {
                        self.made_from(of)?;
                        Type::builtin("long")?
                    }
                };
                let before = self.variables.insert(name.clone(), r#type.clone());
                // A variable whose type changes has a type that only a value can tell.
                before
                    .is_none_or(|before| is_same(&before, &r#type))
                    .then_some(())
            }
            Statement::Name(name, source) => {
                let found = match source {
                    TypeSource::Argument(index, of) => argument(&self.made_from(of)?, *index)?,
                    TypeSource::Target(of) => self.type_of(of)?.target()?,
                };
                self.names.insert(name.clone(), found);
                Some(())
            }
            Statement::If(condition, then, otherwise) => {
                self.fits(condition)?;
                self.block(then)?;
                self.block(otherwise)
            }
            Statement::While(condition, body) => {
                self.fits(condition)?;
                self.block(body)
            }
            Statement::For(name, start, end, body) => {
                self.fits(start)?;
                self.fits(end)?;
                self.variables.insert(name.clone(), Type::builtin("long")?);
                self.block(body)
            }
            Statement::Element(expression) => {
                let r#type = self.type_of(expression)?;
                self.find(Contents::Elements(r#type))
            }
            Statement::Entry(key, value) => {
                let (key, value) = (self.type_of(key)?, self.type_of(value)?);
                self.find(Contents::Entries { key, value })
            }
            Statement::Text(pointer, length) => {
                self.fits(length)?;
                self.type_of(pointer)?.target()?.size()?;
                self.find(Contents::String)
            }
            Statement::Value(expression) => {
                let r#type = self.type_of(expression)?;
                self.find(Contents::Instead(r#type))
            }
            Statement::At(expression) => {
                let target = self.type_of(expression)?.target()?;
                self.find(Contents::Target(target))
            }
            Statement::Every(_) => None,
            Statement::Count(count) => self.fits(count),
            Statement::Word(_) => Some(()),
        }
    }

    /// Records the contents. All paths must give the same.
    fn find(&mut self, contents: Contents) -> Option<()> {
        match &self.found {
            Some(found) if !found.is_same(&contents) => None,
            _ => {
                self.found = Some(contents);
                Some(())
            }
        }
    }

    /// Returns the type of a value, or the type that a name denotes in the view.
    fn made_from(&self, expression: &Expression) -> Option<Type> {
        let named = match &expression.kind {
            ExpressionKind::Name(name) => self.names.get(&**name).cloned(),
            _ => None,
        };
        named.or_else(|| self.type_of(expression))
    }

    fn type_of(&self, expression: &Expression) -> Option<Type> {
        self.fits(expression)?;
        expression::static_type(expression, self)
    }

    /// Returns `Some` if the value has all fields that the expression names, since a comparison has
    /// a type even without them. One name has views for several libraries.
    fn fits(&self, expression: &Expression) -> Option<()> {
        let is_named = |part: &&Expression| {
            matches!(
                part.kind,
                ExpressionKind::Name(_) | ExpressionKind::Field { .. }
            )
        };
        let parts = expression.all_parts().into_iter();
        parts
            .filter(is_named)
            .all(|part| expression::static_type(part, self).is_some())
            .then_some(())
    }
}

/// Returns whether both are one type, or pointers to one type.
fn is_same(a: &Type, b: &Type) -> bool {
    let targets = a.target().zip(b.target());
    a.name() == b.name() || targets.is_some_and(|(a, b)| a.name() == b.name())
}

fn argument(r#type: &Type, index: usize) -> Option<Type> {
    match r#type.template_arguments().into_iter().nth(index)? {
        TemplateArgument::Type(r#type) => Some(r#type),
        TemplateArgument::Number(_) => None,
    }
}

/// The names in a view: its variables, then the fields of the value.
impl Scope for Walk<'_> {
    fn name(&self, name: &str) -> Result<Typed, ValueError> {
        match (self.variables.get(name), name) {
            (Some(r#type), _) => Ok(Typed::missing(r#type.clone(), "nothing is read")),
            (None, "this") => Ok(self.value.clone()),
            (None, _) => self.value.field(name, &NoMemory),
        }
    }

    fn register(&self, name: &str) -> Result<Typed, ValueError> {
        Err(format!("`${name}` belongs to a thread").into())
    }

    fn argument(&self, _: u8) -> Result<Typed, ValueError> {
        Err("a view has no call".into())
    }

    fn returned(&self) -> Result<Typed, ValueError> {
        Err("a view has no call".into())
    }

    fn caller(&self) -> Result<Box<dyn Scope + '_>, ValueError> {
        Err("a view has no caller".into())
    }

    /// Returns `None`: a view accesses fields as they are.
    fn standard_types(&self) -> Option<&dyn LibraryTypes> {
        None
    }

    fn type_named(&self, name: &str) -> Option<Type> {
        let known = self.names.get(name).cloned();
        let made = || (self.types)(&with_types(name, &self.names)?);
        known.or_else(|| (self.types)(name)).or_else(made)
    }

    fn memory(&self) -> &dyn Memory {
        &NoMemory
    }
}
