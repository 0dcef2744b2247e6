//! Argument locations from the debug information that are valid at the first instruction.

use super::{EntryLocation, EntryPiece, EntryPieceLocation, EntryUnavailable};
use crate::Type;
use crate::dwarf::{DebugInfo, DieRef, Language, Reader};
use crate::location::{LocationSource, evaluation_encoding, frame_base_at, single_register};
use crate::names::{self, CloneKind};
use crate::types::{Encoding, TypeKind, target};
use crate::variable::Variable;
use gimli::{AttributeValue, Expression, Operation};
use juror_arch::abi;
use juror_arch::dwarf::{self, FRAME_POINTER, STACK_POINTER};
use smallvec::SmallVec;
use std::sync::Arc;

/// Returns the location of a parameter at `low_pc` by its own description; `None` if the
/// description does not apply there or is unsupported.
///
/// If `changed`, the calling convention is unknown, and doubtful descriptions are accepted.
pub(super) fn location(
    info: &Arc<DebugInfo>,
    function: DieRef,
    low_pc: u64,
    variable: &Variable,
    changed: bool,
) -> Option<EntryLocation> {
    let size = variable.r#type.size()?;
    if let LocationSource::Constant(bytes) = &variable.location.source {
        return constant(bytes, size);
    }
    let listed = matches!(variable.location.source, LocationSource::List(..));
    let expression = variable.location.expression_at(low_pc)?;
    let reader = DescriptionReader {
        info,
        function,
        low_pc,
        listed,
        trust_argument_registers: changed,
    };
    let pieces = reader.read(&expression, size)?;
    let covered: u64 = pieces.iter().map(|piece| u64::from(piece.size)).sum();
    (covered == size).then_some(pieces)
}

fn constant(bytes: &[u8], size: u64) -> Option<EntryLocation> {
    let size = usize::try_from(size).ok()?;
    let bytes = bytes
        .get(..size)
        .filter(|bytes| !bytes.is_empty() && size <= 64)?;
    let location = EntryPieceLocation::Constant(SmallVec::from_slice(bytes));
    Some(
        std::iter::once(EntryPiece {
            offset: 0,
            size: size as u32,
            location,
        })
        .collect(),
    )
}

/// Returns the type of a function's result.
pub(super) fn return_type(info: &Arc<DebugInfo>, function: DieRef) -> Type {
    info.inherited(function, |info, at, entry| {
        entry.attr_value(gimli::DW_AT_type)?;
        Some((at, info.die(at)?))
    })
    .map_or_else(Type::void, |(at, entry)| target(info, at, &entry))
}

/// Returns whether a function of C is defined without a prototype, so that its arguments are
/// promoted.
pub(super) fn lacks_prototype(info: &DebugInfo, function: DieRef) -> bool {
    let is_c = info
        .unit(function.unit)
        .is_some_and(|unit| unit.language == Language::C);
    let is_prototyped = || {
        let prototyped = info.inherited(function, |_, _, entry| {
            DebugInfo::is_set(entry, gimli::DW_AT_prototyped).then_some(())
        });
        prototyped.is_some()
    };
    is_c && !is_prototyped()
}

/// Returns the type as which a parameter without a prototype is passed, if it is another.
pub(super) fn promoted(of: &Type) -> Option<Type> {
    let stripped = of.strip();
    let is_float = matches!(stripped.kind(), TypeKind::Base(Encoding::Float));
    if is_float && stripped.size() == Some(4) {
        Type::builtin("double")
    } else {
        None
    }
}

/// Returns the reason if the compiler changed the calling convention of this function.
pub(super) fn changed_convention(
    info: &DebugInfo,
    function: DieRef,
    linkage_name: &str,
) -> Option<EntryUnavailable> {
    let convention = info.inherited(function, |_, _, entry| {
        match entry.attr_value(gimli::DW_AT_calling_convention)? {
            AttributeValue::CallingConvention(convention) => Some(convention),
            _ => None,
        }
    });
    if convention == Some(gimli::DW_CC_nocall) {
        return Some(EntryUnavailable::ConventionChanged);
    }
    let (_, suffix) = names::split_clone(linkage_name);
    let suffix = suffix?;
    // `.llvm.` and `.lto_priv` only make a name unique.
    let changed = suffix.contains(".isra")
        || suffix.contains(".constprop")
        || names::clone_kind(suffix) != CloneKind::Instance;
    changed.then_some(EntryUnavailable::Removed)
}

/// Returns whether an LLVM compiler dropped an unused parameter of a function internal to
/// its unit, so that callers pass anything: optimized LLVM code has no location for it.
/// Unoptimized code has locations for all parameters. Parameters of two registers may lack
/// one whether used or not, and calls from other units pass unused ones, so neither counts.
pub(super) fn is_unused(info: &DebugInfo, function: DieRef, variable: &Variable) -> bool {
    let is_nowhere = matches!(variable.location.source, LocationSource::Nowhere);
    let stripped = variable.r#type.strip();
    let is_single = match stripped.kind() {
        TypeKind::Base(encoding) => encoding != Encoding::ComplexFloat,
        TypeKind::Pointer(_) | TypeKind::Reference(_) | TypeKind::Enumeration { .. } => true,
        _ => false,
    };
    is_nowhere
        && is_single
        && stripped.size().is_some_and(|size| (1..=8).contains(&size))
        && info.unit(function.unit).is_some_and(|it| it.by_llvm)
        && !is_external(info, function)
}

fn is_external(info: &DebugInfo, function: DieRef) -> bool {
    let external = info.inherited(function, |_, _, entry| {
        DebugInfo::is_set(entry, gimli::DW_AT_external).then_some(())
    });
    external.is_some()
}

struct DescriptionReader<'a> {
    info: &'a Arc<DebugInfo>,
    function: DieRef,
    low_pc: u64,
    /// Whether it comes from a location list, whose entries are exact.
    listed: bool,
    /// Whether to trust a register that holds the value "everywhere" at the entry, too. gcc
    /// writes this for 16-byte integers that the first instructions only move there, so the
    /// calling convention is tried first.
    trust_argument_registers: bool,
}

impl DescriptionReader<'_> {
    fn read(&self, expression: &Expression<Reader>, size: u64) -> Option<EntryLocation> {
        let encoding = evaluation_encoding(self.info, self.function.unit);
        let mut operations = expression.clone().operations(encoding);
        let mut pieces = EntryLocation::new();
        let mut pending: Option<Described> = None;
        let mut offset: u64 = 0;
        while let Some(operation) = operations.next().ok()? {
            match operation {
                Operation::Piece {
                    size_in_bits,
                    bit_offset: None,
                } if size_in_bits % 8 == 0 => {
                    let piece_size = size_in_bits / 8;
                    pieces.push(EntryPiece {
                        offset: u32::try_from(offset).ok()?,
                        size: u32::try_from(piece_size).ok()?,
                        // A piece without a location; the convention may have one.
                        location: pending.take()?.location()?,
                    });
                    offset = offset.checked_add(piece_size)?;
                }
                Operation::StackValue => {
                    pending = Some(Described::Location(pending.take()?.value()?));
                }
                other => {
                    if pending.is_some() {
                        return None;
                    }
                    pending = Some(self.describe(other)?);
                }
            }
        }
        if let Some(described) = pending {
            let location = described.location()?;
            if !pieces.is_empty() || !fits(&location, size) {
                return None;
            }
            pieces.push(EntryPiece {
                offset: 0,
                size: u32::try_from(size).ok()?,
                location,
            });
        }
        Some(pieces)
    }

    /// Returns what one operation describes.
    fn describe(&self, operation: Operation<Reader>) -> Option<Described> {
        let location = match operation {
            Operation::Register { register } => {
                let is_argument = abi::is_argument(register.0);
                let trusted = self.listed || self.trust_argument_registers && is_argument;
                trusted.then_some(EntryPieceLocation::Register(register.0))?
            }
            Operation::FrameOffset { offset } => (self.frame_base_is_cfa() && offset >= 0)
                .then_some(EntryPieceLocation::Stack(offset))?,
            Operation::CallFrameCFA => EntryPieceLocation::Stack(0),
            Operation::RegisterOffset {
                register, offset, ..
            } => match register.0 {
                // The return address is between the stack pointer and the CFA.
                STACK_POINTER if self.listed && offset >= 8 => {
                    EntryPieceLocation::Stack(offset - 8)
                }
                STACK_POINTER | FRAME_POINTER => return None,
                number if self.listed && offset == 0 => return Some(Described::OfRegister(number)),
                _ => return None,
            },
            Operation::EntryValue { expression } => {
                let encoding = evaluation_encoding(self.info, self.function.unit);
                let register = single_register(&Expression(expression), encoding)?;
                return Some(Described::OfRegister(register));
            }
            Operation::UnsignedConstant { value } => return Some(Described::Number(value)),
            Operation::SignedConstant { value } => return Some(Described::Number(value as u64)),
            Operation::ImplicitValue { data } => EntryPieceLocation::Constant(data.bytes().into()),
            _ => return None,
        };
        Some(Described::Location(location))
    }

    fn frame_base_is_cfa(&self) -> bool {
        let encoding = evaluation_encoding(self.info, self.function.unit);
        let Some(base) = frame_base_at(self.info, self.function, self.low_pc) else {
            return false;
        };
        let mut operations = base.operations(encoding);
        matches!(
            (operations.next(), operations.next()),
            (Ok(Some(Operation::CallFrameCFA)), Ok(None))
        )
    }
}

/// The top of the expression stack: an address, unless `DW_OP_stack_value` makes it the
/// value itself.
enum Described {
    Location(EntryPieceLocation),
    OfRegister(u16),
    Number(u64),
}

impl Described {
    fn location(self) -> Option<EntryPieceLocation> {
        match self {
            Described::Location(location) => Some(location),
            Described::OfRegister(register) => {
                Some(EntryPieceLocation::PointedByRegister(register))
            }
            Described::Number(_) => None,
        }
    }

    fn value(self) -> Option<EntryPieceLocation> {
        match self {
            Described::Location(_) => None,
            Described::OfRegister(register) => Some(EntryPieceLocation::Register(register)),
            Described::Number(value) => {
                Some(EntryPieceLocation::Constant(value.to_le_bytes().into()))
            }
        }
    }
}

/// Returns whether a location can hold `size` bytes.
fn fits(location: &EntryPieceLocation, size: u64) -> bool {
    match location {
        EntryPieceLocation::Register(register) if dwarf::is_unwound(*register) => size <= 8,
        EntryPieceLocation::Register(_) => size <= 64,
        EntryPieceLocation::Constant(bytes) => size <= bytes.len() as u64,
        _ => true,
    }
}
