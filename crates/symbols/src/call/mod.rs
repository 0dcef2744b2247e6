//! Where the values of a call are: arguments at the first instruction of a
//! function, the result at the return.
//!
//! At the first instruction the frame does not exist yet, so what unoptimized
//! debug information says (a slot of the frame) is not true. A plan takes the
//! location from DWARF only when it holds there; otherwise from the calling
//! convention, by the types of all parameters before it.

mod classify;
mod classify_rust;
mod convention;
mod described;
mod outgoing;
mod site;

use crate::dwarf::{DebugInfo, DieRef, Language};
use crate::location::register::{R8, R9, RCX, RDI, RDX, RSI, XMM0};
use crate::variable::{self, Variable};
use crate::{Function, SymbolFile, Type};
use convention::Convention;
pub use outgoing::{OutgoingCall, Signature, outgoing_call_of_c};
pub(crate) use site::returns_to;
pub use site::{CallSite, Callee, JumpPlace};
use smallvec::SmallVec;
use std::sync::Arc;
use thiserror::Error;

/// The registers of integer arguments, by their DWARF numbers, in order.
pub(crate) const INTEGER_ARGUMENTS: [u16; 6] = [RDI, RSI, RDX, RCX, R8, R9];
/// How many vector registers hold arguments.
pub(crate) const VECTOR_ARGUMENT_COUNT: usize = 8;

/// Where a part of an argument or result is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntryPlace {
    /// In the register of this DWARF number, in its low bytes.
    Register(u16),
    /// In memory, so many bytes from the canonical frame address (at the
    /// first instruction: the stack pointer plus 8).
    Stack(i64),
    /// In memory, at the address in the register of this DWARF number.
    PointedByRegister(u16),
    /// In memory, at the address that is so many bytes from the canonical
    /// frame address.
    PointedByStack(i64),
    /// Always these bytes: the compiler made this copy of the function for it.
    Constant(SmallVec<[u8; 8]>),
    /// Nowhere, for this reason.
    Unavailable(EntryUnavailable),
}

/// Why an argument is nowhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Error)]
pub enum EntryUnavailable {
    /// This copy of the function was made without the parameter.
    #[error("optimized out: the compiler removed this parameter")]
    Removed,
    /// The function does not read the parameter, so the compiler passes anything.
    #[error(
        "optimized out: the function does not use this parameter, and callers need not pass it"
    )]
    Unused,
    /// The compiler gave the function a convention of its own.
    #[error("optimized out: the compiler changed how this function is called")]
    ConventionChanged,
    /// The language does not define how the type is passed.
    #[error("how a value of this type is passed is not defined by its language")]
    Undefined,
    /// It is in a register of which only the low half can be read.
    #[error("it is in a vector register of more than 16 bytes, which cannot be read")]
    WideRegister,
    /// The size of the type, or of one before it, is not known.
    #[error("the debug information does not define its type")]
    TypeUnknown,
}

/// A part of an argument or result and where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryPiece {
    /// Where in the value the part begins, in bytes.
    pub offset: u32,
    /// Its size in bytes. A smaller integer leaves the rest of its register
    /// undefined: extend it by the signedness of its type.
    pub size: u32,
    /// Where it is.
    pub place: EntryPlace,
}

/// Where an argument or result is, in parts from its first byte on; empty
/// for a type without bytes.
pub type EntryLocation = SmallVec<[EntryPiece; 2]>;

/// A parameter and where its value is at the first instruction.
#[derive(Debug, Clone)]
pub struct EntryValue {
    /// Its name; may be empty.
    pub name: Arc<str>,
    /// Its type.
    pub r#type: Type,
    /// Where its value is.
    pub location: EntryLocation,
}

/// The result of a function and where it is just after the return.
#[derive(Debug, Clone)]
pub struct ReturnValue {
    /// Its type; `void` for none.
    pub r#type: Type,
    /// Where it is: registers, or memory that a register points to.
    pub location: EntryLocation,
}

/// Which parameter is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parameter<'a> {
    /// The one of this name.
    Name(&'a str),
    /// The one at this place, counted from 1; those that the compiler made
    /// (`this`) count.
    Position(usize),
}

/// How an argument without a known type is passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ArgumentClass {
    /// Integers and pointers.
    #[default]
    Integer,
    /// `float` and `double`.
    Float,
}

/// Why there is no plan for a parameter.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum EntryError {
    /// Only the symbol table knows the function.
    #[error("`{function}` has no debug information: name its arguments by position (`arg 1`)")]
    NoDebugInfo {
        /// The function.
        function: String,
    },
    /// The function has no such parameter.
    #[error("`{function}` has no parameter {wanted}{}", known_parameters(known))]
    NoSuchParameter {
        /// The function.
        function: String,
        /// The name in quotes, or the number, that was asked for.
        wanted: String,
        /// The names of those that it has.
        known: Vec<String>,
    },
}

fn known_parameters(known: &[String]) -> String {
    if known.is_empty() {
        "; it has none".to_owned()
    } else {
        format!("; it has {}", known.join(", "))
    }
}

impl SymbolFile {
    /// The entry that tells how a function is called; an assembler's entry
    /// does not.
    fn described(&self, function: &Function) -> Option<(&Arc<DebugInfo>, DieRef)> {
        let (info, die) = self.inner.debug_info().zip(function.die)?;
        let unit = info.unit(die.unit)?;
        (unit.language != Language::Assembler).then_some((info, die))
    }

    /// Where a parameter's value is when execution stands exactly at
    /// `low_pc`, before any instruction of the function ran.
    ///
    /// # Errors
    /// The function has no debug information, or no such parameter. That the
    /// value is nowhere is no error: its place says so.
    pub fn entry_value_plan(
        &self,
        function: &Function,
        parameter: Parameter<'_>,
    ) -> Result<EntryValue, EntryError> {
        let Some((info, die)) = self.described(function) else {
            return Err(EntryError::NoDebugInfo {
                function: function.name.to_string(),
            });
        };
        let parameters = variable::parameters(info, die);
        let found = match parameter {
            Parameter::Name(name) => parameters
                .iter()
                .position(|variable| &*variable.name == name),
            Parameter::Position(position) => position
                .checked_sub(1)
                .filter(|index| *index < parameters.len()),
        };
        let chosen = found.and_then(|index| Some((index, parameters.get(index)?)));
        let Some((index, variable)) = chosen else {
            return Err(EntryError::NoSuchParameter {
                function: function.name.to_string(),
                wanted: match parameter {
                    Parameter::Name(name) => format!("`{name}`"),
                    Parameter::Position(position) => position.to_string(),
                },
                known: parameters
                    .iter()
                    .map(|variable| variable.name.to_string())
                    .filter(|name| !name.is_empty())
                    .collect(),
            });
        };
        let linkage_name = function.linkage_name.as_deref().unwrap_or("");
        let changed = described::changed_convention(info, die, linkage_name);
        let location = described::location(info, die, function.low_pc, variable, changed.is_some())
            .unwrap_or_else(|| match changed {
                Some(reason) => unavailable(reason, variable.r#type.size().unwrap_or(0)),
                None if described::is_unused(info, die, variable) => unavailable(
                    EntryUnavailable::Unused,
                    variable.r#type.size().unwrap_or(0),
                ),
                None => by_convention(info, die, &parameters, index),
            });
        Ok(EntryValue {
            name: variable.name.clone(),
            r#type: variable.r#type.clone(),
            location,
        })
    }

    /// Where all parameters' values are at `low_pc`, in order.
    pub fn entry_value_plans(&self, function: &Function) -> Vec<EntryValue> {
        let count = self.parameters(function).len();
        (1..=count)
            .filter_map(|position| {
                self.entry_value_plan(function, Parameter::Position(position))
                    .ok()
            })
            .collect()
    }

    /// Where the result of a function is when it has just returned; `None`
    /// without debug information. A result in memory is where `rax` points.
    pub fn return_value_plan(&self, function: &Function) -> Option<ReturnValue> {
        let (info, die) = self.described(function)?;
        let r#type = described::return_type(info, die);
        let linkage_name = function.linkage_name.as_deref().unwrap_or("");
        // A copy of gcc's keeps the place of its result; LLVM drops results
        // that nobody reads.
        let changed = described::changed_convention(info, die, linkage_name)
            .filter(|reason| *reason == EntryUnavailable::ConventionChanged);
        let location = match changed {
            Some(reason) => unavailable(reason, r#type.size().unwrap_or(0)),
            None => Convention::new(info, die).place_of_result(&r#type),
        };
        Some(ReturnValue { r#type, location })
    }
}

/// Deals out all parameters up to one, and says where that one is.
fn by_convention(
    info: &Arc<DebugInfo>,
    function: DieRef,
    parameters: &[Variable],
    index: usize,
) -> EntryLocation {
    let wanted = parameters
        .get(index)
        .and_then(|variable| variable.r#type.size())
        .unwrap_or(0);
    let mut convention = Convention::new(info, function);
    if let Err(reason) = convention.take_result_pointer(&described::return_type(info, function)) {
        return unavailable(reason, wanted);
    }
    for (at, variable) in parameters.iter().enumerate() {
        let location = convention.place(&variable.r#type);
        if at == index {
            return location;
        }
        // Once one argument's place is unknown, so are those after it.
        if let Some(EntryPlace::Unavailable(reason)) = location.first().map(|piece| &piece.place) {
            return unavailable(*reason, wanted);
        }
    }
    unavailable(EntryUnavailable::TypeUnknown, wanted)
}

/// Where the argument at `position`, counted from 1, is at the first
/// instruction of a function without debug information, when each argument
/// is an integer, pointer, `float` or `double`. `classes` tells what is known
/// of the arguments in order; those it leaves out count as integers.
///
/// The piece is eight bytes: how many of them count, only the user knows.
pub fn argument_plan(position: usize, classes: &[ArgumentClass]) -> EntryPiece {
    let class_of = |at: usize| classes.get(at).copied().unwrap_or_default();
    let index = position.saturating_sub(1);
    let class = class_of(index);
    let before = |wanted: ArgumentClass| {
        (0..index.min(1024))
            .filter(|at| class_of(*at) == wanted)
            .count()
    };
    let (integers, floats) = (before(ArgumentClass::Integer), before(ArgumentClass::Float));
    let register = match class {
        ArgumentClass::Integer => INTEGER_ARGUMENTS.get(integers).copied(),
        ArgumentClass::Float => (floats < VECTOR_ARGUMENT_COUNT).then(|| XMM0 + floats as u16),
    };
    let on_stack = integers.saturating_sub(INTEGER_ARGUMENTS.len())
        + floats.saturating_sub(VECTOR_ARGUMENT_COUNT);
    let place = match register {
        Some(register) => EntryPlace::Register(register),
        None => EntryPlace::Stack(on_stack as i64 * 8),
    };
    EntryPiece {
        offset: 0,
        size: 8,
        place,
    }
}

pub(crate) fn unavailable(reason: EntryUnavailable, size: u64) -> EntryLocation {
    let size = u32::try_from(size).unwrap_or(u32::MAX);
    std::iter::once(EntryPiece {
        offset: 0,
        size,
        place: EntryPlace::Unavailable(reason),
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_without_types_go_by_position() {
        use ArgumentClass::{Float, Integer};
        let many = [
            Integer, Float, Integer, Float, Integer, Integer, Integer, Integer, Integer,
        ];
        for (position, classes, expected) in [
            (1, &[][..], EntryPlace::Register(RDI)),
            (6, &[], EntryPlace::Register(R9)),
            (7, &[], EntryPlace::Stack(0)),
            (9, &[], EntryPlace::Stack(16)),
            (1, &[Float], EntryPlace::Register(XMM0)),
            (2, &[Integer, Float], EntryPlace::Register(XMM0)),
            (3, &[Integer, Float], EntryPlace::Register(RSI)),
            (4, &many, EntryPlace::Register(XMM0 + 1)),
            (9, &many, EntryPlace::Stack(0)),
            (9, &[Float; 10], EntryPlace::Stack(0)),
        ] {
            assert_eq!(
                argument_plan(position, classes).place,
                expected,
                "{position} of {classes:?}"
            );
        }
    }
}
