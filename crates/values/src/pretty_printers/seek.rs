//! Finds one part of a library value: an element by number, a value by key, the complete text.
//!
//! The statements of the view are executed, so that an index finds the value that is shown. A loop
//! whose body is a single `element` statement is not executed but entered at the wanted element.

use super::evaluate::{Halt, Run};
use super::printers::PrettyPrinters;
use super::rule::{PrettyPrinter, Shape, Statement};
use crate::standard_types::{Index, Length, Shown, Sought};
use crate::typed::{Memory, Typed};
use juror_symbols::Type;

/// The most statements of one search.
pub(super) const STEPS_MAX: usize = 200_000;

/// The parts that a walk collects.
#[derive(Clone, Copy)]
pub(crate) enum Wanted<'a> {
    /// As much as is shown.
    All,
    /// The element with this number, from 0.
    Element(usize),
    /// So many elements from the one with this number on: start, count.
    Elements(usize, usize),
    /// The value of the key that satisfies the predicate.
    Key(&'a dyn Fn(&Typed) -> bool),
    /// So many characters of a text.
    String(usize),
    /// The number of elements, without a walk.
    Length,
}

/// Looks up one part. Returns `None` if no view fits the value.
pub(super) fn seek(
    value: &Typed,
    index: Index<'_>,
    printers: &PrettyPrinters,
    memory: &dyn Memory,
    types: &dyn Fn(&str) -> Option<Type>,
) -> Option<Sought> {
    let memory = &value.memory(memory);
    printers.fitting(value, memory).find_map(|printer| {
        let wanted = match (printer.shape, index.number) {
            (Shape::Value, _) => Wanted::All,
            (Shape::Map, _) => Wanted::Key(index.is_key),
            (_, Some(number)) => Wanted::Element(number),
            (_, None) => return None,
        };
        let mut run = Run::new(value, printer, wanted, memory, types);
        match run.block(&printer.body) {
            Ok(()) if printer.shape == Shape::Value => match (run.characters, index.number) {
                (Some((_, _, count)), Some(number)) if number >= count => {
                    Some(Sought::Missing(count))
                }
                (Some((address, character, _)), Some(number)) => {
                    let distance = (number as u64).wrapping_mul(character.size().unwrap_or(1));
                    let address = address.wrapping_add(distance);
                    Some(Sought::Found(Typed::in_memory(character, address)))
                }
                _ => run.shown.map(Sought::Instead),
            },
            Ok(()) => Some(Sought::Missing(run.passed)),
            Err(Halt::Full) => run.found.map(Sought::Found),
            Err(Halt::Far) => Some(Sought::Far),
            Err(Halt::Failed) => None,
        }
    })
}

/// Returns the number of elements, or `None` if no view that fits gives it.
pub(super) fn length(
    value: &Typed,
    printers: &PrettyPrinters,
    memory: &dyn Memory,
    types: &dyn Fn(&str) -> Option<Type>,
) -> Option<Length> {
    let memory = &value.memory(memory);
    printers.fitting(value, memory).find_map(|printer| {
        if !printer.knows_length() {
            return None;
        }
        let mut run = Run::new(value, printer, Wanted::Length, memory, types);
        match (run.block(&printer.body), run.characters) {
            (Ok(()), Some((_, _, count))) => Some(Length::Known(count)),
            (Ok(()), None) if printer.shape == Shape::Value => run.shown.map(Length::Instead),
            (Ok(()) | Err(Halt::Full), _) => Some(Length::Known(run.passed)),
            (Err(Halt::Far | Halt::Failed), _) => None,
        }
    })
}

/// Returns the value in the place of a library value: the target of a pointer, or the contents. At
/// most `characters` characters of text are read.
pub(super) fn instead(
    value: &Typed,
    characters: usize,
    printers: &PrettyPrinters,
    memory: &dyn Memory,
    types: &dyn Fn(&str) -> Option<Type>,
) -> Option<Shown> {
    let memory = &value.memory(memory);
    let mut fitting = printers.fitting(value, memory);
    fitting.find_map(|printer| {
        if printer.shape != Shape::Value {
            return None;
        }
        let mut run = Run::new(value, printer, Wanted::String(characters), memory, types);
        run.block(&printer.body).ok()?;
        run.shown
    })
}

impl PrettyPrinter {
    pub(super) fn knows_length(&self) -> bool {
        let counts = |statement: &Statement| match statement {
            Statement::Count(_) => true,
            Statement::For(_, _, _, body) => matches!(&**body, [Statement::Element(_)]),
            _ => false,
        };
        match self.shape {
            Shape::Value => true,
            Shape::Tuple => false,
            Shape::List | Shape::Set | Shape::Map => self.body.iter().any(counts),
        }
    }

    /// Returns the number of rounds of a loop that lead to the wanted element, if each round has
    /// one element.
    pub(super) fn rounds_to(
        wanted: Wanted<'_>,
        passed: usize,
        body: &[Statement],
    ) -> Option<usize> {
        match (wanted, body) {
            (Wanted::Element(number), [Statement::Element(_)]) => number.checked_sub(passed),
            (Wanted::Elements(start, _), [Statement::Element(_)]) => {
                Some(start.saturating_sub(passed))
            }
            (Wanted::Length, [Statement::Element(_)]) => Some(usize::MAX),
            _ => None,
        }
    }
}
