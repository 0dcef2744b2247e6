//! Declarations: first all names, then their bodies ([`super::bodies`]).

use super::{Checker, Outcome, Parts, RuleEntry, Symbol};
use crate::Fault;
use crate::asm::program::{Class, Function, FunctionId};
use crate::asm::syntax::{
    Binary, Expression, ExpressionKind, Field, FunctionKind, Item, Name, Parameter, Written,
};
use crate::asm::types::{Enumeration, Type};
use crate::promela::Reader;
use std::sync::{Arc, OnceLock};

impl Checker<'_> {
    /// Checks all declarations; `None` if there is no main rule.
    pub(super) fn all(
        &mut self,
        items: &[Item],
        reader: &mut Reader<'_>,
        refined: &[String],
    ) -> Option<Parts> {
        self.names_of_types(items);
        self.fields(items);
        self.functions(items);
        self.names_of_rules(items);
        if !self.faults.is_empty() {
            // Later errors would be consequences of the same mistakes.
            return None;
        }
        self.bodies(items);
        let main = self.main(items);
        let initially = self.block(items, "initially");
        let invariants = self.invariants(items);
        let formulas = self.formulas(items);
        let record = self.record(items);
        let unset = self.unset(items);
        let abstraction = self.abstraction(items, reader, refined);
        self.check_reads(&invariants, &record, abstraction.as_deref());
        Some(Parts {
            main: main?,
            initially,
            invariants,
            formulas,
            record,
            unset,
            abstraction,
        })
    }

    fn declare_type(&mut self, name: &Name, of: Type) {
        if self.types.insert(Arc::clone(&name.text), of).is_some() {
            let message = format!("`{}` is a built-in type", name.text);
            self.faults
                .push(Fault::new("declared-twice", message, Some(name.span)));
        }
    }

    fn declare_symbol(&mut self, name: &Name, symbol: Symbol) {
        let before = self
            .symbols
            .insert(Arc::clone(&name.text), (symbol, name.span));
        if let Some((_, span)) = before {
            let message = format!("`{}` is declared twice", name.text);
            self.faults.push(
                Fault::new("declared-twice", message, Some(name.span))
                    .label(span, "first one here"),
            );
        }
    }

    fn names_of_types(&mut self, items: &[Item]) {
        for item in items {
            match item {
                Item::Enumeration(name, elements) => self.enumeration(name, elements),
                Item::Class(name, _) => {
                    let number = self.classes.len() as u32;
                    self.classes.push(Class {
                        name: Arc::clone(&name.text),
                        fields: Vec::new(),
                    });
                    self.declare_type(name, Type::Class(number));
                }
                _ => {}
            }
        }
        self.universes(items);
    }

    /// Checks universes, in any order of declaration.
    fn universes(&mut self, items: &[Item]) {
        let mut left: Vec<(&Name, &Written)> = items
            .iter()
            .filter_map(|item| match item {
                Item::Universe(name, written) => Some((name, written)),
                _ => None,
            })
            .collect();
        loop {
            let names: Vec<Arc<str>> = left.iter().map(|(name, _)| name.text.clone()).collect();
            let (waiting, ready): (Vec<_>, Vec<_>) = left
                .into_iter()
                .partition(|(_, written)| names.iter().any(|name| mentions(written, name)));
            if ready.is_empty() {
                for (name, _) in waiting {
                    let message = format!("the universe `{}` contains itself", name.text);
                    self.faults
                        .push(Fault::new("universe", message, Some(name.span)));
                }
                return;
            }
            for (name, written) in ready {
                let of = self.written(written, items);
                if let Some(of) = self.keep(of) {
                    self.declare_type(name, of);
                }
            }
            left = waiting;
        }
    }

    fn enumeration(&mut self, name: &Name, elements: &[Name]) {
        let of = self.enumerations.len() as u32;
        let first = self.elements.len() as u32;
        self.enumerations.push(Enumeration {
            name: Arc::clone(&name.text),
            first,
            count: elements.len() as u32,
        });
        self.declare_type(name, Type::Enumeration(of));
        for element in elements {
            let number = self.elements.len() as u32;
            self.elements.push(Arc::clone(&element.text));
            self.declare_symbol(element, Symbol::Element { number, of });
        }
    }

    /// Resolves a type; the ends of ranges may refer to other items.
    fn written(&self, written: &Written, items: &[Item]) -> Outcome<Type> {
        let inner = |of: &Written| self.written(of, items).map(Arc::new);
        Ok(match written {
            Written::Name(name) => match self.types.get(&name.text) {
                Some(of) => of.clone(),
                None => {
                    let names = self.types.keys().map(|name| &**name);
                    return Err(Checker::unknown("type", name, names));
                }
            },
            Written::Range(from, to) => Type::Range(end(from, items, 0)?, end(to, items, 0)?),
            Written::Optional(of) => Type::Optional(inner(of)?),
            Written::Set(of) => Type::Set(inner(of)?),
            Written::Sequence(of) => Type::Sequence(inner(of)?),
            Written::Map(key, of) => Type::Map(inner(key)?, inner(of)?),
            Written::Tuple(types) => {
                let types: Outcome<Vec<Type>> =
                    types.iter().map(|of| self.written(of, items)).collect();
                Type::Tuple(types?.into())
            }
        })
    }

    fn parameters(&mut self, parameters: &[Parameter], items: &[Item]) -> Vec<Type> {
        let mut types = Vec::with_capacity(parameters.len());
        for (number, parameter) in parameters.iter().enumerate() {
            let name = &parameter.name;
            let mut before = parameters.iter().take(number).map(|other| &other.name);
            if let Some(before) = before.find(|before| before.text == name.text) {
                let message = format!("the parameter `{}` is declared twice", name.text);
                self.faults.push(
                    Fault::new("declared-twice", message, Some(name.span))
                        .label(before.span, "first one here"),
                );
            }
            let of = self.written(&parameter.written, items);
            types.push(self.keep(of).unwrap_or(Type::Nothing));
        }
        types
    }

    fn push_function(&mut self, function: Function) -> FunctionId {
        let id = FunctionId(self.functions.len() as u32);
        if function.is_dynamic() {
            self.dynamic.push(id);
        }
        self.functions.push(function);
        id
    }

    fn fields(&mut self, items: &[Item]) {
        let classes = items.iter().filter_map(|item| match item {
            Item::Class(_, fields) => Some(fields),
            _ => None,
        });
        for (class, fields) in classes.enumerate() {
            for field in fields {
                self.field(class, field, items);
            }
        }
    }

    fn field(&mut self, class: usize, field: &Field, items: &[Item]) {
        let of = self.written(&field.parameter.written, items);
        let Some(result) = self.keep(of) else {
            return;
        };
        let name = &field.parameter.name;
        if self.field_of(class, &name.text).is_some() {
            let message = format!("the field `{}` is declared twice", name.text);
            self.faults
                .push(Fault::new("declared-twice", message, Some(name.span)));
            return;
        }
        let id = self.push_function(Function {
            kind: FunctionKind::Controlled,
            name: Arc::clone(&name.text),
            span: name.span,
            parameters: vec![Type::Class(class as u32)],
            parameter_names: vec!["object".into()],
            result,
            possible: None,
            value: None,
            class: Some(class as u32),
            known: OnceLock::new(),
        });
        if let Some(class) = self.classes.get_mut(class) {
            class.fields.push(id);
        }
    }

    pub(super) fn field_of(&self, class: usize, name: &str) -> Option<FunctionId> {
        let fields = &self.classes.get(class)?.fields;
        let found = fields.iter().find(|id| {
            let function = self.functions.get(id.0 as usize);
            function.is_some_and(|function| &*function.name == name)
        });
        found.copied()
    }

    fn functions(&mut self, items: &[Item]) {
        for item in items {
            let Item::Function(function) = item else {
                continue;
            };
            let of = self.written(&function.result, items);
            let result = self.keep(of).unwrap_or(Type::Nothing);
            let parameters = self.parameters(&function.parameters, items);
            let names = function.parameters.iter();
            let id = self.push_function(Function {
                kind: function.kind,
                name: Arc::clone(&function.name.text),
                span: function.name.span,
                parameters,
                parameter_names: names.map(|name| Arc::clone(&name.name.text)).collect(),
                result,
                possible: None,
                value: None,
                class: None,
                known: OnceLock::new(),
            });
            self.declare_symbol(&function.name, Symbol::Function(id.0));
        }
    }

    fn names_of_rules(&mut self, items: &[Item]) {
        for item in items {
            if let Item::Rule {
                name, parameters, ..
            } = item
            {
                let parameters = self.parameters(parameters, items);
                self.rules.push(RuleEntry {
                    name: name.clone(),
                    parameters,
                    checked: None,
                });
            }
        }
    }
}

/// Returns whether a type contains a name.
fn mentions(written: &Written, wanted: &str) -> bool {
    match written {
        Written::Name(name) => *name.text == *wanted,
        Written::Range(..) => false,
        Written::Optional(of) | Written::Set(of) | Written::Sequence(of) => mentions(of, wanted),
        Written::Map(key, of) => mentions(key, wanted) || mentions(of, wanted),
        Written::Tuple(types) => types.iter().any(|of| mentions(of, wanted)),
    }
}

/// Evaluates an end of a range type: a constant expression over numbers and static
/// functions.
fn end(expression: &Expression, items: &[Item], depth: u32) -> Outcome<i64> {
    let wrong = || {
        Fault::new(
            "type",
            "this is not a constant number",
            Some(expression.span),
        )
        .help("the ends of a range must be numbers, or static functions whose values are numbers")
    };
    if depth > 20 {
        return Err(wrong());
    }
    let part = |part: &Expression| end(part, items, depth + 1);
    let value = match &expression.kind {
        ExpressionKind::Number(number) => Some(*number),
        ExpressionKind::Negate(of) => part(of)?.checked_neg(),
        ExpressionKind::Binary(Binary::Add, left, right) => part(left)?.checked_add(part(right)?),
        ExpressionKind::Binary(Binary::Subtract, left, right) => {
            part(left)?.checked_sub(part(right)?)
        }
        ExpressionKind::Binary(Binary::Multiply, left, right) => {
            part(left)?.checked_mul(part(right)?)
        }
        ExpressionKind::Name(name) => {
            let value = items.iter().find_map(|item| match item {
                Item::Function(function)
                    if function.name.text == name.text
                        && function.kind == FunctionKind::Static
                        && function.parameters.is_empty() =>
                {
                    function.value.as_ref()
                }
                _ => None,
            });
            value.map(part).transpose()?
        }
        _ => None,
    };
    value.ok_or_else(wrong)
}
