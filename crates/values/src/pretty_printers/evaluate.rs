//! Evaluates a view over the debuggee's memory.

use super::arguments::{template_numbers, template_types, with_types};
use super::printers::PrettyPrinters;
use super::rule::{PrettyPrinter, Shape, Source, Statement, TypeSource};
use super::seek::{self, Wanted};
use super::walks::Trail;
use crate::error::ValueError;
use crate::expression::{self, Scope};
use crate::standard_types::{LibraryTypes, Shown};
use crate::typed::{Memory, Number, Typed};
use juror_language::{Expression, ExpressionKind};
use juror_symbols::{TemplateArgument, Type, TypeKind};
use std::collections::HashMap;
use std::sync::Arc;

/// The most elements and characters that are read.
pub(crate) const ELEMENTS_MAX: usize = 200;
/// The most elements for which the address space of a program has room.
const COUNT_MAX: i128 = 1 << 47;
/// The most statements that one view executes: a bound for damaged containers.
const STEPS_MAX: usize = 20_000;

/// Returns the form in which a value is shown, or `None` if no view fits.
pub fn show(
    value: &Typed,
    printers: &PrettyPrinters,
    memory: &dyn Memory,
    types: &dyn Fn(&str) -> Option<Type>,
) -> Option<Shown> {
    Some(viewed(value, printers, memory, types)?.1)
}

/// Returns the view that fits a value, and the form that it gives, or `None` if no view fits.
pub(crate) fn viewed(
    value: &Typed,
    printers: &PrettyPrinters,
    memory: &dyn Memory,
    types: &dyn Fn(&str) -> Option<Type>,
) -> Option<(Arc<PrettyPrinter>, Shown)> {
    let memory = &value.memory(memory);
    let mut found = printers.fitting(value, memory);
    found.find_map(|printer| {
        let mut run = Run::new(value, printer, Wanted::All, memory, types);
        let more = match run.block(&printer.body) {
            Ok(()) => false,
            Err(Halt::Full) => true,
            Err(Halt::Failed | Halt::Far) => return None,
        };
        Some((Arc::clone(printer), run.result(printer.shape, more)?))
    })
}

/// The reason for which a view stops.
pub(super) enum Halt {
    /// The view does not fit the value.
    Failed,
    /// Enough has been found.
    Full,
    /// The wanted part is beyond the step limit.
    Far,
}

pub(super) struct Run<'a> {
    pub(super) frame: Variables<'a>,
    pub(super) wanted: Wanted<'a>,
    steps: usize,
    /// The most statements to execute.
    pub(super) steps_max: usize,
    pub(super) shown: Option<Shown>,
    /// The wanted part.
    pub(super) found: Option<Typed>,
    /// The number of elements and entries that were skipped.
    pub(super) passed: usize,
    /// The address of the characters of a text, their type, and their number.
    pub(super) characters: Option<(u64, Type, usize)>,
    pub(super) elements: Vec<Typed>,
    pub(super) entries: Vec<(Typed, Typed)>,
    /// Where the present statement is ([`Place::at`]).
    pub(super) at: Vec<usize>,
    /// The number of loops that it is in.
    pub(super) loops: usize,
    /// The places that are kept for later walks.
    pub(super) trail: Option<Trail>,
}

impl<'a> Run<'a> {
    pub(super) fn new(
        value: &'a Typed,
        printer: &PrettyPrinter,
        wanted: Wanted<'a>,
        memory: &'a dyn Memory,
        types: &'a dyn Fn(&str) -> Option<Type>,
    ) -> Run<'a> {
        Run {
            frame: Variables {
                value,
                memory,
                types,
                variables: template_numbers(printer, &value.r#type),
                names: template_types(printer, &value.r#type, types),
            },
            wanted,
            steps: 0,
            steps_max: match wanted {
                Wanted::All | Wanted::String(_) | Wanted::Length => STEPS_MAX,
                Wanted::Element(_) | Wanted::Elements(..) | Wanted::Key(_) => seek::STEPS_MAX,
            },
            shown: None,
            found: None,
            passed: 0,
            characters: None,
            elements: Vec::new(),
            entries: Vec::new(),
            at: Vec::new(),
            loops: 0,
            trail: None,
        }
    }

    pub(super) fn block(&mut self, statements: &[Statement]) -> Result<(), Halt> {
        self.block_from(statements, 0)
    }

    pub(super) fn block_from(
        &mut self,
        statements: &[Statement],
        first: usize,
    ) -> Result<(), Halt> {
        for (number, statement) in statements.iter().enumerate().skip(first) {
            self.at.push(number);
            let done = self.statement(statement);
            self.at.pop();
            done?;
        }
        Ok(())
    }

    fn statement(&mut self, statement: &Statement) -> Result<(), Halt> {
        self.step()?;
        match statement {
            Statement::Assign(name, source) => {
                let value = match source {
                    Source::Expression(expression) => self.settled(expression)?,
                    Source::Base(index, of) => {
                        base(&self.evaluate(of)?, *index, self.frame.memory)?
                    }
                    Source::Argument(index, of) => number_argument(&self.made_from(of)?, *index)?,
                };
                self.frame.variables.insert(name.clone(), value);
            }
            Statement::Name(name, source) => {
                let found = match source {
                    TypeSource::Argument(index, of) => argument(&self.made_from(of)?, *index)?,
                    TypeSource::Target(of) => {
                        self.evaluate(of)?.r#type.target().ok_or(Halt::Failed)?
                    }
                };
                self.frame.names.insert(name.clone(), found);
            }
            Statement::If(condition, then, otherwise) => {
                let is_true = self.is_true(condition)?;
                let chosen = if is_true { then } else { otherwise };
                self.at.push(usize::from(is_true));
                self.block(chosen)?;
                self.at.pop();
            }
            Statement::While(condition, body) => self.rounds(condition, body)?,
            Statement::For(name, start, end, body) => self.count(name, start, end, body)?,
            Statement::Count(expression) => {
                let count = self.integer(expression)?;
                // A container that is not made yet, or is damaged.
                if !(0..=COUNT_MAX).contains(&count) {
                    return Err(Halt::Failed);
                }
                if matches!(self.wanted, Wanted::Length) {
                    self.passed = usize::try_from(count).map_err(|_| Halt::Failed)?;
                    return Err(Halt::Full);
                }
            }
            Statement::Element(_) | Statement::Entry(..) if self.skips() => self.passed += 1,
            Statement::Element(expression) => {
                let element = self.evaluate(expression)?;
                self.element(element)?;
            }
            Statement::Entry(key, value) => {
                let entry = (self.evaluate(key)?, self.evaluate(value)?);
                self.entry(entry)?;
            }
            Statement::Every(name) => self.every(name)?,
            Statement::Text(pointer, length) => {
                let text = self.text(pointer, length)?;
                self.shown = Some(text);
            }
            Statement::Value(expression) => {
                self.shown = Some(Shown::Value(self.evaluate(expression)?));
            }
            Statement::At(expression) => {
                let (address, target) = self.pointer(expression)?;
                self.shown = Some(match address {
                    0 => Shown::Word("null".into()),
                    _ => Shown::At(address, Typed::in_memory(target, address)),
                });
            }
            Statement::Word(words) => {
                let value = |expression: &Expression| self.evaluate(expression).ok();
                let text = words.written(value, self.frame.memory);
                self.shown = Some(Shown::Word(text.ok_or(Halt::Failed)?.into()));
            }
        }
        Ok(())
    }

    pub(super) fn step(&mut self) -> Result<(), Halt> {
        self.steps += 1;
        match self.wanted {
            _ if self.steps <= self.steps_max => Ok(()),
            Wanted::All | Wanted::String(_) | Wanted::Length => Err(Halt::Failed),
            Wanted::Element(_) | Wanted::Elements(..) | Wanted::Key(_) => Err(Halt::Far),
        }
    }

    fn element(&mut self, element: Typed) -> Result<(), Halt> {
        match self.wanted {
            Wanted::Element(number) if number == self.passed => {
                self.found = Some(element);
                return Err(Halt::Full);
            }
            Wanted::Element(_) => self.passed += 1,
            Wanted::Elements(start, _) if self.passed < start => self.passed += 1,
            Wanted::Elements(_, count) => {
                self.elements.push(element);
                if self.elements.len() >= count {
                    return Err(Halt::Full);
                }
            }
            Wanted::Length => return Err(Halt::Far),
            _ if self.elements.len() >= ELEMENTS_MAX => return Err(Halt::Full),
            _ => self.elements.push(element),
        }
        Ok(())
    }

    fn entry(&mut self, (key, value): (Typed, Typed)) -> Result<(), Halt> {
        match self.wanted {
            Wanted::Key(is_wanted) if is_wanted(&key) => {
                self.found = Some(value);
                return Err(Halt::Full);
            }
            Wanted::Key(_) => self.passed += 1,
            Wanted::Elements(start, _) if self.passed < start => self.passed += 1,
            Wanted::Elements(_, count) => {
                self.entries.push((key, value));
                if self.entries.len() >= count {
                    return Err(Halt::Full);
                }
            }
            Wanted::Length => return Err(Halt::Far),
            _ if self.entries.len() >= ELEMENTS_MAX => return Err(Halt::Full),
            _ => self.entries.push((key, value)),
        }
        Ok(())
    }

    fn count(
        &mut self,
        name: &str,
        start: &Expression,
        end: &Expression,
        body: &[Statement],
    ) -> Result<(), Halt> {
        let (start, end) = (self.integer(start)?, self.integer(end)?);
        // No container has a negative length: the value is damaged.
        if end < start {
            return Err(Halt::Failed);
        }
        let mut first = start;
        if let Some(rounds) = PrettyPrinter::rounds_to(self.wanted, self.passed, body) {
            // The number of rounds may be known for a value that the view does not fit.
            if let (true, [Statement::Element(element)]) = (first < end, body) {
                let number = Typed::of_integer(first).ok_or(Halt::Failed)?;
                self.frame.variables.insert(name.into(), number);
                self.evaluate(element)?;
            }
            let rounds = (rounds as i128).min(end - start);
            first += rounds;
            self.passed += rounds as usize;
        }
        self.numbered_rounds(name, (first, end), body)
    }

    /// Collects the field of this name from each base class, the outermost first.
    fn every(&mut self, name: &str) -> Result<(), Halt> {
        let mut waiting = vec![self.frame.value.clone()];
        while let Some(part) = waiting.pop() {
            self.step()?;
            let Some(composite) = part.r#type.composite() else {
                continue;
            };
            let own = composite.fields.iter();
            let mut own = own.filter(|field| field.name.as_deref() == Some(name));
            if let Some(field) = own.next() {
                self.element(part.member(field))?;
            }
            let bases = composite.bases.iter().filter_map(|base| {
                let part = part.base(base, self.frame.memory).ok()?;
                Some((has_own(&base.r#type, name), part))
            });
            let (with, without): (Vec<_>, Vec<_>) = bases.partition(|(has, _)| *has);
            // The last one is visited first.
            waiting.extend(without.into_iter().rev().map(|(_, part)| part));
            waiting.extend(with.into_iter().rev().map(|(_, part)| part));
        }
        Ok(())
    }

    fn text(&mut self, pointer: &Expression, length: &Expression) -> Result<Shown, Halt> {
        let (address, target) = self.pointer(pointer)?;
        let length = usize::try_from(self.integer(length)?).map_err(|_| Halt::Failed)?;
        let size = target.size().and_then(|size| usize::try_from(size).ok());
        let size = size
            .filter(|size| matches!(size, 1 | 2 | 4))
            .ok_or(Halt::Failed)?;
        let most = match self.wanted {
            Wanted::String(characters) => characters,
            _ => ELEMENTS_MAX,
        };
        let mut bytes = vec![0; length.min(most) * size];
        if !bytes.is_empty() && !self.frame.memory.read(address, &mut bytes) {
            return Err(Halt::Failed);
        }
        self.characters = Some((address, target, length));
        Ok(Shown::String {
            bytes,
            size,
            more: length > most,
        })
    }

    /// Returns the type of a value, or the type that a name denotes in the view.
    fn made_from(&self, expression: &Expression) -> Result<Type, Halt> {
        if let ExpressionKind::Name(name) = &expression.kind
            && let Some(r#type) = self.frame.names.get(&**name)
        {
            return Ok(r#type.clone());
        }
        Ok(self.evaluate(expression)?.r#type)
    }

    fn evaluate(&self, expression: &Expression) -> Result<Typed, Halt> {
        expression::evaluate(expression, &self.frame).map_err(|_| Halt::Failed)
    }

    /// Evaluates an expression to a value that later changes of the location do not affect: numbers
    /// and pointers are read now.
    fn settled(&self, expression: &Expression) -> Result<Typed, Halt> {
        let value = self.evaluate(expression)?;
        match value.r#type.strip().kind() {
            TypeKind::Base(_) | TypeKind::Pointer(_) | TypeKind::Enumeration { .. } => {
                let size = value.r#type.size().unwrap_or(8);
                let bytes = value.bytes(self.frame.memory, size);
                let bytes = bytes.map_err(|_| Halt::Failed)?;
                Ok(Typed {
                    location: crate::typed::Location::Bytes(bytes),
                    ..value
                })
            }
            _ => Ok(value),
        }
    }

    pub(super) fn is_true(&self, expression: &Expression) -> Result<bool, Halt> {
        expression::is_true(expression, &self.frame).map_err(|_| Halt::Failed)
    }

    fn integer(&self, expression: &Expression) -> Result<i128, Halt> {
        match self.evaluate(expression)?.number(self.frame.memory) {
            Ok(Number::Int(number)) => Ok(number),
            Ok(Number::Bool(truth)) => Ok(i128::from(truth)),
            _ => Err(Halt::Failed),
        }
    }

    fn pointer(&self, expression: &Expression) -> Result<(u64, Type), Halt> {
        match self.evaluate(expression)?.number(self.frame.memory) {
            Ok(Number::Pointer(address, target)) => Ok((address, target)),
            _ => Err(Halt::Failed),
        }
    }

    fn result(self, shape: Shape, more: bool) -> Option<Shown> {
        match shape {
            Shape::Value => self.shown,
            Shape::List => Some(Shown::List(self.elements, more)),
            Shape::Set => Some(Shown::Set(self.elements, more)),
            Shape::Map => Some(Shown::Map(self.entries, more)),
            Shape::Tuple => Some(Shown::Tuple(self.elements)),
        }
    }
}

fn has_own(r#type: &Type, name: &str) -> bool {
    let Some(composite) = r#type.composite() else {
        return false;
    };
    let mut names = composite.fields.iter().map(|field| field.name.as_deref());
    names.any(|own| own == Some(name))
}

fn base(value: &Typed, index: usize, memory: &dyn Memory) -> Result<Typed, Halt> {
    let composite = value.r#type.composite().ok_or(Halt::Failed)?;
    let base = composite.bases.get(index).ok_or(Halt::Failed)?;
    value.base(base, memory).map_err(|_| Halt::Failed)
}

fn argument(of: &Type, index: usize) -> Result<Type, Halt> {
    match of.template_arguments().into_iter().nth(index) {
        Some(TemplateArgument::Type(r#type)) => Ok(r#type),
        _ => Err(Halt::Failed),
    }
}

fn number_argument(of: &Type, index: usize) -> Result<Typed, Halt> {
    match of.template_arguments().into_iter().nth(index) {
        Some(TemplateArgument::Number(number)) => Typed::of_integer(number).ok_or(Halt::Failed),
        _ => Err(Halt::Failed),
    }
}

/// The names in a view: its variables, then the fields of the value.
pub(super) struct Variables<'a> {
    value: &'a Typed,
    memory: &'a dyn Memory,
    types: &'a dyn Fn(&str) -> Option<Type>,
    pub(super) variables: HashMap<Box<str>, Typed>,
    pub(super) names: HashMap<Box<str>, Type>,
}

impl Scope for Variables<'_> {
    fn name(&self, name: &str) -> Result<Typed, ValueError> {
        if let Some(value) = self.variables.get(name) {
            return Ok(value.clone());
        }
        match name {
            "this" => Ok(self.value.clone()),
            _ => self.value.field(name, self.memory),
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
        self.memory
    }
}
