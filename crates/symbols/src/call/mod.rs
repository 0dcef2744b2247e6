//! Locations of the values of a call: arguments at the first instruction of a function, the
//! result at the return.
//!
//! At the first instruction the frame does not exist yet, so the locations in unoptimized
//! debug information (slots of the frame) are wrong. A plan uses the DWARF location if it is
//! valid there; then the argument that the function's first instructions store in the slot;
//! then the calling convention, applied to the types of all preceding parameters, if the
//! function is certain to follow it.

mod by_reference;
mod callers;
mod certainty;
mod classify;
mod classify_rust;
mod convention;
mod described;
mod expected;
mod go;
mod kept;
mod outgoing;
mod prologue;
mod site;
mod slot;

use crate::dwarf::{DebugInfo, DieRef, Language};
use crate::parameters;
use crate::variable::Variable;
use crate::{Function, SymbolFile, Type};
use convention::Convention;
use juror_arch::abi::{self, INTEGER_ARGUMENTS, VECTOR_ARGUMENT_COUNT};
pub use kept::KeptLocation;
pub use outgoing::{OutgoingCall, Signature, outgoing_call_of_c};
pub(crate) use site::returns_to;
pub use site::{CallSite, Callee, JumpAddresses};
pub use slot::{EntryPath, EntryStep};
use smallvec::SmallVec;
use std::sync::Arc;
use thiserror::Error;

/// The location of a part of an argument or result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntryPieceLocation {
    /// In the low bytes of the register with this DWARF number.
    Register(u16),
    /// In a register, above some of its bits.
    RegisterPart {
        /// The DWARF number.
        register: u16,
        /// The number of bits below.
        shift_bits: u8,
    },
    /// In memory, at this offset in bytes from the canonical frame address (at the first
    /// instruction: the stack pointer plus 8).
    Stack(i64),
    /// In memory, at the address in the register with this DWARF number.
    PointedByRegister(u16),
    /// In memory, at the address stored at this offset in bytes from the canonical frame
    /// address.
    PointedByStack(i64),
    /// A constant, for which the compiler specialized the function.
    Constant(SmallVec<[u8; 8]>),
    /// No location, for this reason.
    Unavailable(EntryUnavailable),
}

/// The reason why an argument has no location.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Error)]
pub enum EntryUnavailable {
    /// The compiler removed the parameter from this clone of the function.
    #[error("optimized out: the compiler removed this parameter")]
    Removed,
    /// The function does not use the parameter, so callers pass anything.
    #[error(
        "optimized out: the function may not use this parameter, and then callers need not pass it"
    )]
    Unused,
    /// The compiler changed the function's calling convention.
    #[error("optimized out: the compiler changed how this function is called")]
    ConventionChanged,
    /// The compiler removed other parameters, and does not say where this one is.
    #[error(
        "not known: the compiler has changed how this function is called, and does not say where \
         this parameter is then"
    )]
    Undescribed,
    /// The function has an argument that is not in the debug information, like the environment of
    /// a closure, and of which it is unknown how it is passed.
    #[error("not known: the function has an argument that the debug information does not list")]
    Hidden,
    /// The compiler may have removed the result from this clone of the function.
    #[error("not known: the compiler made a copy of this function, which may return nothing")]
    ResultRemoved,
    /// No caller in the file uses the result, so the compiler may have removed it.
    #[error(
        "not known: no caller uses the result, and the compiler may have removed it from the \
         function"
    )]
    ResultUnused,
    /// The language does not define how the type is passed.
    #[error("the language does not define how values of this type are passed")]
    Undefined,
    /// The value is in a register of which only the low half can be read.
    #[error("it is in a vector register of more than 16 bytes, which cannot be read")]
    WideRegister,
    /// The address of a result in memory was in a register at the entry of the call.
    #[error(
        "the function returns it in memory, and its address, which was known at the entry of the \
         call, is not known any more"
    )]
    AddressLost,
    /// The size of the type, or of a preceding parameter's type, is unknown.
    #[error("the debug information does not define its type")]
    TypeUnknown,
}

/// A part of an argument or result and its location.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryPiece {
    /// The offset of the part in the value, in bytes.
    pub offset: u32,
    /// The size in bytes. The upper bits of a register are undefined for a smaller integer:
    /// extend it by the signedness of its type.
    pub size: u32,
    /// The location.
    pub location: EntryPieceLocation,
}

/// The location of an argument or result, in parts from the first byte on; empty for a
/// zero-sized type.
pub type EntryLocation = SmallVec<[EntryPiece; 2]>;

/// A parameter and its location at the first instruction.
#[derive(Debug, Clone)]
pub struct EntryValue {
    /// The name; may be empty.
    pub name: Arc<str>,
    /// The type.
    pub r#type: Type,
    /// The location of the value.
    pub location: EntryLocation,
}

/// The result of a function and its location just after the return.
#[derive(Debug, Clone)]
pub struct ReturnValue {
    /// The type; `void` for none.
    pub r#type: Type,
    /// The location: registers, or memory that a register points to.
    pub location: EntryLocation,
    /// The register that had the address of a result in memory at the entry of the call, if
    /// no register has it after the return (Rust); the location is then unavailable.
    pub address_at_entry: Option<u16>,
}

/// The selection of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parameter<'a> {
    /// By name.
    Name(&'a str),
    /// By position, counted from 1 and including generated parameters (`this`).
    Position(usize),
}

/// The class of an argument whose type is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ArgumentClass {
    /// Integers and pointers.
    #[default]
    Integer,
    /// `float` and `double`.
    Float,
}

/// The reason why a parameter has no plan.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum EntryError {
    /// The function has no debug information.
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
        /// The requested name in quotes, or the number.
        wanted: String,
        /// The names of the existing parameters.
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
    /// Returns the DIE that describes how a function is called; assemblers write none.
    fn described(&self, function: &Function) -> Option<(&Arc<DebugInfo>, DieRef)> {
        let (info, die) = self.inner.debug_info().zip(function.die)?;
        let unit = info.unit(die.unit)?;
        (unit.language != Language::Assembler).then_some((info, die))
    }

    /// Returns the location of a parameter's value at exactly `low_pc`, before the first
    /// instruction is executed.
    ///
    /// # Errors
    /// The function has no debug information, or no such parameter. A value without a
    /// location is not an error: see [`EntryPieceLocation::Unavailable`].
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
        let parameters = parameters::parameters(info, die);
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
        if changed.is_none()
            && described::lacks_prototype(info, die)
            && let Some(promoted) = described::promoted(&variable.r#type)
        {
            let location = by_convention(info, die, &parameters, index);
            return Ok(EntryValue {
                name: variable.name.clone(),
                location: location
                    .into_iter()
                    .map(|piece| EntryPiece { size: 8, ..piece })
                    .collect(),
                r#type: promoted,
            });
        }
        let doubt = certainty::doubt(info, die, function, &parameters, index);
        let by_llvm = info.unit(die.unit).is_some_and(|unit| unit.by_llvm);
        let trusts_registers = changed.is_some() || by_llvm;
        let location = described::location(info, die, function.low_pc, variable, trusts_registers)
            .filter(|location| {
                let is_exact = !by_llvm || variable.location.moves();
                is_exact || prologue::may_begin_with(self, function, location)
            })
            .or_else(|| slot::stored(self, info, die, function, variable))
            .unwrap_or_else(|| match doubt {
                Some(reason) => unavailable(reason, variable.r#type.size().unwrap_or(0)),
                None => by_convention(info, die, &parameters, index),
            });
        let location = match certainty::is_left_out(self, info, die, function, &location) {
            true => unavailable(
                EntryUnavailable::Unused,
                variable.r#type.size().unwrap_or(0),
            ),
            false => location,
        };
        Ok(EntryValue {
            name: variable.name.clone(),
            r#type: variable.r#type.clone(),
            location,
        })
    }

    /// Returns the locations of all parameters at `low_pc`, in order.
    pub fn entry_value_plans(&self, function: &Function) -> Vec<EntryValue> {
        let count = self.parameters(function).len();
        (1..=count)
            .filter_map(|position| {
                self.entry_value_plan(function, Parameter::Position(position))
                    .ok()
            })
            .collect()
    }

    /// Returns the location of a function's result just after its return; `None` without
    /// debug information. A result in memory is at the address in [`abi::RESULT_ADDRESS`]; of Rust, whose
    /// optimized functions do not leave it there, at [`ReturnValue::address_at_entry`].
    pub fn return_value_plan(&self, function: &Function) -> Option<ReturnValue> {
        let (info, die) = self.described(function)?;
        let linkage_name = function.linkage_name.as_deref().unwrap_or("");
        if let Some(result) = go::result(info, die, linkage_name) {
            return Some(result);
        }
        let r#type = described::return_type(info, die);
        let convention = Convention::new(info, die);
        let size = r#type.size().unwrap_or(0);
        let location = convention.location_of_result(&r#type);
        let location = match certainty::doubt_of_result(self, info, die, function, &location) {
            Some(reason) => unavailable(reason, size),
            None => location,
        };
        let is_in_memory = matches!(
            location.first().map(|piece| &piece.location),
            Some(EntryPieceLocation::PointedByRegister(_))
        );
        // Optimized functions leave the address in the register only if others may call them.
        let is_lost = is_in_memory
            && (!convention.is_of_c() || certainty::may_be_changed(info, die, function));
        Some(if is_lost {
            ReturnValue {
                r#type,
                location: unavailable(EntryUnavailable::AddressLost, size),
                address_at_entry: Some(abi::RESULT_POINTER),
            }
        } else {
            ReturnValue {
                r#type,
                location,
                address_at_entry: None,
            }
        })
    }
}

/// Assigns locations to all parameters up to one, and returns that one's.
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
        let location = convention.next_location(&variable.passed_type());
        if at == index {
            return match variable.is_by_reference() {
                true => by_reference::behind(location, wanted),
                false => location,
            };
        }
        // If the location of an argument is unknown, so are those after it.
        if let Some(EntryPieceLocation::Unavailable(reason)) =
            location.first().map(|piece| &piece.location)
        {
            return unavailable(*reason, wanted);
        }
    }
    unavailable(EntryUnavailable::TypeUnknown, wanted)
}

/// Returns the location of the argument at `position`, counted from 1, at the first
/// instruction of a function without debug information, if every argument is an integer,
/// pointer, `float` or `double`. `classes` gives the known classes in order; arguments
/// beyond count as integers.
///
/// The piece has eight bytes; only the user knows how many of them are significant.
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
        ArgumentClass::Float => abi::vector_argument(floats),
    };
    let on_stack = integers.saturating_sub(INTEGER_ARGUMENTS.len())
        + floats.saturating_sub(VECTOR_ARGUMENT_COUNT);
    let location = match register {
        Some(register) => EntryPieceLocation::Register(register),
        None => EntryPieceLocation::Stack(on_stack as i64 * 8),
    };
    EntryPiece {
        offset: 0,
        size: 8,
        location,
    }
}

/// Returns the sizes of a function's parameters, and of its result.
pub(crate) fn shape_of(info: &Arc<DebugInfo>, die: DieRef) -> (Vec<Option<u64>>, Option<u64>) {
    let parameters = parameters::parameters(info, die);
    let sizes = parameters.iter().map(|it| it.passed_type().size());
    (sizes.collect(), described::return_type(info, die).size())
}

pub(crate) fn unavailable(reason: EntryUnavailable, size: u64) -> EntryLocation {
    let size = u32::try_from(size).unwrap_or(u32::MAX);
    std::iter::once(EntryPiece {
        offset: 0,
        size,
        location: EntryPieceLocation::Unavailable(reason),
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
            (
                1,
                &[][..],
                EntryPieceLocation::Register(INTEGER_ARGUMENTS[0]),
            ),
            (6, &[], EntryPieceLocation::Register(INTEGER_ARGUMENTS[5])),
            (7, &[], EntryPieceLocation::Stack(0)),
            (9, &[], EntryPieceLocation::Stack(16)),
            (
                1,
                &[Float],
                EntryPieceLocation::Register(abi::VECTOR_RESULTS[0]),
            ),
            (
                2,
                &[Integer, Float],
                EntryPieceLocation::Register(abi::VECTOR_RESULTS[0]),
            ),
            (
                3,
                &[Integer, Float],
                EntryPieceLocation::Register(INTEGER_ARGUMENTS[1]),
            ),
            (
                4,
                &many,
                EntryPieceLocation::Register(abi::VECTOR_RESULTS[1]),
            ),
            (9, &many, EntryPieceLocation::Stack(0)),
            (9, &[Float; 10], EntryPieceLocation::Stack(0)),
        ] {
            assert_eq!(
                argument_plan(position, classes).location,
                expected,
                "{position} of {classes:?}"
            );
        }
    }
}
