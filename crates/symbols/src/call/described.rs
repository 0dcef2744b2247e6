//! Argument locations from the debug information that are valid at the first instruction.

use super::certainty::is_optimized;
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
/// If `trusts_registers`, an argument register that has the value in the whole function has it
/// at the entry, too.
pub(super) fn location(
    info: &Arc<DebugInfo>,
    function: DieRef,
    low_pc: u64,
    variable: &Variable,
    trusts_registers: bool,
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
        trust_argument_registers: trusts_registers,
        by_llvm: info.unit(function.unit).is_some_and(|it| it.by_llvm),
    };
    let mut pieces = reader.read(&expression, size)?;
    let covered: u64 = pieces.iter().map(|piece| u64::from(piece.size)).sum();
    if reader.by_llvm && covered < size {
        // Nothing is said of padding, and of what is not passed.
        pieces.push(EntryPiece {
            offset: u32::try_from(covered).ok()?,
            size: u32::try_from(size - covered).ok()?,
            location: EntryPieceLocation::Unavailable(EntryUnavailable::Unused),
        });
        return Some(pieces);
    }
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
    /// Whether an LLVM compiler wrote it, which describes all parts that are passed.
    by_llvm: bool,
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
                        location: self.piece(pending.take(), piece_size)?,
                    });
                    offset = offset.checked_add(piece_size)?;
                }
                Operation::Piece { .. } => return None,
                other => {
                    pending = Some(match pending.take() {
                        None => self.describe(other).unwrap_or(Described::Unknown),
                        Some(before) => before.changed(&other),
                    });
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

    /// Returns the location of a piece. For one without a description the convention may have
    /// a location.
    fn piece(&self, described: Option<Described>, size: u64) -> Option<EntryPieceLocation> {
        let why = match described {
            Some(described) => match described.location() {
                Some(location) if fits(&location, size) => return Some(location),
                _ => EntryUnavailable::Undescribed,
            },
            None => EntryUnavailable::Unused,
        };
        self.by_llvm.then_some(EntryPieceLocation::Unavailable(why))
    }

    /// Returns what one operation describes.
    fn describe(&self, operation: Operation<Reader>) -> Option<Described> {
        let location = match operation {
            Operation::Register { register } => {
                let trusted = self.trusts(register.0);
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
                number if offset == 0 && self.trusts_address(number) => {
                    return Some(Described::OfRegister(number));
                }
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

    /// Returns whether what is said of a register applies at the entry.
    fn trusts(&self, register: u16) -> bool {
        self.listed || self.trust_argument_registers && abi::is_argument(register)
    }

    /// Returns whether an address that is said to be in a register is there at the entry:
    /// unoptimized code of LLVM may have it there only behind the prologue.
    fn trusts_address(&self, register: u16) -> bool {
        self.listed
            || self.by_llvm && self.trusts(register) && is_optimized(self.info, self.function.unit)
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

/// What the operations up to one describe.
enum Described {
    Location(EntryPieceLocation),
    /// The number in a register, which is an address unless `DW_OP_stack_value` makes it the
    /// value itself.
    OfRegister(u16),
    /// The number in a register, shifted right by so many bits.
    Shifted(u16, u8),
    /// The number in a register, shifted right, and another number for the next operation.
    WithOperand(u16, u8, u64),
    Number(u64),
    /// The result of a computation that is not understood.
    Unknown,
}

impl Described {
    /// Returns what is described after the next operation.
    fn changed(self, operation: &Operation<Reader>) -> Described {
        match (self, operation) {
            (described, Operation::StackValue) => match described.value() {
                Some(value) => Described::Location(value),
                None => Described::Unknown,
            },
            // LLVM takes a member out of a register.
            (Described::OfRegister(register), Operation::UnsignedConstant { value }) => {
                Described::WithOperand(register, 0, *value)
            }
            (Described::Shifted(register, shift), Operation::UnsignedConstant { value }) => {
                Described::WithOperand(register, shift, *value)
            }
            (Described::WithOperand(register, 0, bits @ 0..64), Operation::Shr) => {
                Described::Shifted(register, bits as u8)
            }
            // The mask has the bits of the type.
            (Described::WithOperand(register, shift, mask), Operation::And)
                if [0xff, 0xffff, 0xffff_ffff].contains(&mask) =>
            {
                Described::Shifted(register, shift)
            }
            (
                described @ (Described::OfRegister(_) | Described::Shifted(..)),
                Operation::Convert { .. },
            ) => described,
            _ => Described::Unknown,
        }
    }

    fn location(self) -> Option<EntryPieceLocation> {
        match self {
            Described::Location(location) => Some(location),
            Described::OfRegister(register) => {
                Some(EntryPieceLocation::PointedByRegister(register))
            }
            _ => None,
        }
    }

    fn value(self) -> Option<EntryPieceLocation> {
        match self {
            Described::OfRegister(register) | Described::Shifted(register, 0) => {
                Some(EntryPieceLocation::Register(register))
            }
            Described::Shifted(register, shift_bits) => Some(EntryPieceLocation::RegisterPart {
                register,
                shift_bits,
            }),
            Described::Number(value) => {
                Some(EntryPieceLocation::Constant(value.to_le_bytes().into()))
            }
            _ => None,
        }
    }
}

/// Returns whether a location can hold `size` bytes.
fn fits(location: &EntryPieceLocation, size: u64) -> bool {
    match location {
        EntryPieceLocation::Register(register) if dwarf::is_unwound(*register) => size <= 8,
        EntryPieceLocation::Register(_) => size <= 64,
        EntryPieceLocation::RegisterPart {
            register,
            shift_bits,
        } => dwarf::is_unwound(*register) && size * 8 + u64::from(*shift_bits) <= 64,
        EntryPieceLocation::Constant(bytes) => size <= bytes.len() as u64,
        _ => true,
    }
}
