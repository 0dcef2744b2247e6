//! Several elements of what a view shows, in one walk.

use super::evaluate::{Halt, Run, Shown};
use super::seek::Wanted;
use super::{Shape, Views};
use crate::typed::{Memory, Typed};
use juror_symbols::Type;

/// What came of looking for elements.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Slice {
    /// They are there.
    Found(Vec<Typed>),
    /// Not all of them are, of so many.
    Missing(usize),
    /// They may be there, further in than a walk goes.
    Far,
    /// There are values by keys, and no first one.
    Keys,
    /// This stands in the place of the value; nothing for characters, which lie side by side.
    Instead(Option<Shown>),
}

/// Looks for `count` elements from `start` on; nothing where no view fits the value.
pub(crate) fn slice(
    value: &Typed,
    (start, count): (usize, usize),
    views: &Views,
    memory: &dyn Memory,
    types: &dyn Fn(&str) -> Option<Type>,
) -> Option<Slice> {
    let memory = &value.memory(memory);
    views.of(&value.r#type).find_map(|view| {
        let wanted = match view.shape {
            Shape::Value => Wanted::Text(0),
            Shape::Map => return Some(Slice::Keys),
            _ => Wanted::Elements(start, count),
        };
        let mut run = Run::new(value, view, wanted, memory, types);
        match run.block(&view.body) {
            Ok(()) if view.shape == Shape::Value && run.characters.is_some() => {
                Some(Slice::Instead(None))
            }
            Ok(()) if view.shape == Shape::Value => {
                run.shown.map(|shown| Slice::Instead(Some(shown)))
            }
            Ok(()) => Some(Slice::Missing(run.passed + run.elements.len())),
            Err(Halt::Full) => Some(Slice::Found(run.elements)),
            Err(Halt::Far) => Some(Slice::Far),
            Err(Halt::Failed) => None,
        }
    })
}
