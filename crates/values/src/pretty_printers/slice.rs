//! Reads several elements of a library value in one walk.

use super::evaluate::{Halt, Run};
use super::printers::PrettyPrinters;
use super::rule::Shape;
use super::seek::Wanted;
use crate::standard_types::Slice;
use crate::typed::{Memory, Typed};
use juror_symbols::Type;

/// Reads `count` elements from `start` on. Returns `None` if no view fits the value.
pub(super) fn slice(
    value: &Typed,
    (start, count): (usize, usize),
    printers: &PrettyPrinters,
    memory: &dyn Memory,
    types: &dyn Fn(&str) -> Option<Type>,
) -> Option<Slice> {
    let memory = &value.memory(memory);
    printers.fitting(value, memory).find_map(|printer| {
        let wanted = match printer.shape {
            Shape::Value => Wanted::String(0),
            Shape::Map => return Some(Slice::Keys),
            _ => Wanted::Elements(start, count),
        };
        let mut run = Run::new(value, printer, wanted, memory, types);
        match run.block(&printer.body) {
            Ok(()) if printer.shape == Shape::Value && run.characters.is_some() => {
                Some(Slice::Instead(None))
            }
            Ok(()) if printer.shape == Shape::Value => {
                run.shown.map(|shown| Slice::Instead(Some(shown)))
            }
            Ok(()) => Some(Slice::Missing(run.passed + run.elements.len())),
            Err(Halt::Full) => Some(Slice::Found(run.elements)),
            Err(Halt::Far) => Some(Slice::Far),
            Err(Halt::Failed) => None,
        }
    })
}
