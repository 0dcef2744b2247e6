//! Operands of a compiled expression: their location and type, and casts, fields and pointers on
//! them.

use super::compile::Names;
use super::node::{Node, NumberClass, Reading, Scalar, Word};
use juror_language::BinaryOperator;
use juror_symbols::{BitField, Encoding, Field, Type, TypeKind};
use juror_values::classes::upcast::moves_address;
use juror_values::error::ValueError;
use juror_values::expression::ExpressionError;
use juror_values::expression::arithmetic::Overflow;
use juror_values::expression::promotion::{literal_type, of_bit_field};
use juror_values::read_plan::VirtualPart;
use juror_values::typed::{Location, Typed};
use std::ops::Range;

/// The reason for which an expression is not compiled.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum NotCompiled {
    /// It can only be evaluated at the hit.
    Evaluate,
    /// It can never be evaluated.
    Wrong(ExpressionError),
}

/// The reason for which a name is not compiled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Unknown {
    /// Its meaning is only known at the hit.
    UntilHit,
    /// It is unknown.
    Missing(ValueError),
}

/// The location of an operand at the hit.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum OperandLocation {
    /// Memory at this address.
    Memory(Word),
    /// The low bytes of this word.
    Bits(Word),
    /// A computed `long`, `double` or `bool`.
    Computed(Node),
}

/// An operand, with its type.
#[derive(Debug, Clone)]
pub(super) struct Operand {
    pub(super) r#type: Type,
    pub(super) location: OperandLocation,
    pub(super) bits: Option<BitField>,
}

/// A number that is computed at the hit, and the pointee type of an address.
pub(super) struct NumberOperand {
    pub(super) node: Node,
    pub(super) target: Option<Type>,
    /// The type of the operand that it is the value of.
    pub(super) r#type: Type,
}

impl Operand {
    pub(super) fn new(r#type: Type, location: OperandLocation) -> Operand {
        Operand {
            r#type,
            location,
            bits: None,
        }
    }

    /// Returns the operand of a value with a fixed location.
    pub(super) fn of(value: Typed) -> Result<Operand, Unknown> {
        let location = match value.location {
            Location::Memory(address) => OperandLocation::Memory(Word::Constant(address)),
            Location::Bytes(bytes) if bytes.len() <= 8 => {
                let mut wide = [0; 8];
                wide.iter_mut()
                    .zip(&bytes)
                    .for_each(|(wide, byte)| *wide = *byte);
                OperandLocation::Bits(Word::Constant(u64::from_le_bytes(wide)))
            }
            Location::Bytes(_) | Location::Partial(_) | Location::Missing(_) => {
                return Err(Unknown::UntilHit);
            }
        };
        Ok(Operand {
            r#type: value.r#type,
            location,
            bits: value.bits,
        })
    }

    /// Returns the type of a number in arithmetic, after the promotion of a narrow bit field, or
    /// `None` for other types.
    pub(super) fn type_of_number(self) -> Option<Type> {
        let is_number = matches!(
            self.r#type.strip().kind(),
            TypeKind::Base(_) | TypeKind::Enumeration { .. } | TypeKind::Pointer(_)
        );
        is_number.then(|| of_bit_field(self.r#type, self.bits))
    }

    /// Returns whether it is the known address of a function.
    pub(super) fn leads_to_function(&self) -> bool {
        let target = self.r#type.target().map(|target| target.strip().kind());
        let is_known = matches!(self.location, OperandLocation::Bits(Word::Constant(_)));
        is_known && matches!(target, Some(TypeKind::Function { .. }))
    }

    pub(super) fn computed(node: Node, type_name: &str) -> Result<Operand, NotCompiled> {
        let r#type = Type::builtin(type_name).ok_or(NotCompiled::Evaluate)?;
        Ok(Operand::new(r#type, OperandLocation::Computed(node)))
    }

    /// Returns the operand of a number in the type of its computation.
    pub(super) fn computed_in(node: Node, r#type: Option<Type>) -> Result<Operand, NotCompiled> {
        let r#type = r#type
            .or_else(|| Type::builtin("long"))
            .ok_or(NotCompiled::Evaluate)?;
        // A `float` is rounded at each step.
        let node = match (r#type.size(), node.class()) {
            (Some(4), NumberClass::Float) => Node::Rounded(Box::new(node)),
            _ => node,
        };
        Ok(Operand::new(r#type, OperandLocation::Computed(node)))
    }

    pub(super) fn truth(node: Node) -> Result<Operand, NotCompiled> {
        Operand::computed(node, "bool")
    }

    pub(super) fn size(bytes: u64) -> Result<Operand, NotCompiled> {
        let r#type = Type::builtin("unsigned long").ok_or(NotCompiled::Evaluate)?;
        Ok(Operand::new(
            r#type,
            OperandLocation::Bits(Word::Constant(bytes)),
        ))
    }

    pub(super) fn whole(number: i128) -> Result<Operand, NotCompiled> {
        Operand::computed(Node::Constant(Scalar::Int(number)), literal_type(number))
    }
}

pub(super) fn wrong<T>(why: impl Into<ValueError>, span: &Range<usize>) -> Result<T, NotCompiled> {
    Err(NotCompiled::Wrong(ExpressionError::new(why, span)))
}

/// Compiles the addition of a number to a pointer, or its subtraction.
pub(super) fn moved(
    operator: BinaryOperator,
    pointer: Node,
    target: Type,
    count: Node,
    span: &Range<usize>,
) -> Result<Operand, NotCompiled> {
    let count = match operator {
        BinaryOperator::Add => count,
        BinaryOperator::Subtract => Node::Negate(Overflow::Error, Box::new(count)),
        _ => {
            let message = format!("`{operator}` does not apply to a pointer and a number");
            return wrong(message, span);
        }
    };
    let size = target.size().unwrap_or(1).max(1);
    let address = Word::Element(Box::new(word_of(pointer)), Box::new(count), size);
    Ok(Operand::new(
        target.pointer_to(),
        OperandLocation::Bits(address),
    ))
}

/// Returns the address of an element of `size` bytes.
pub(super) fn behind(address: Word, index: Node, size: u64) -> Word {
    if let Node::Constant(Scalar::Int(number)) = index
        && let Some(distance) = number.checked_mul(i128::from(size))
        && let Ok(distance) = i32::try_from(distance)
    {
        return address.offset(i64::from(distance));
    }
    Word::Element(Box::new(address), Box::new(index), size)
}

pub(super) fn word_of(node: Node) -> Word {
    match node {
        Node::Read(word, Reading::Address) => word,
        node => Word::Computed(Box::new(node)),
    }
}

pub(super) fn field_of(
    object: &Operand,
    name: &str,
    span: &Range<usize>,
    names: &impl Names,
) -> Result<Operand, NotCompiled> {
    let Some(field) = object.r#type.field(name) else {
        if let Some((steps, field)) = object.r#type.virtual_field(name) {
            let OperandLocation::Memory(address) = &object.location else {
                return Err(NotCompiled::Evaluate);
            };
            let part = steps.iter().try_fold(address.clone(), |at, step| {
                let offset = i64::try_from(step.offset).ok()?;
                let part = VirtualPart {
                    class: names.class_number(&step.class)?,
                    entry: step.base.vtable_entry()?,
                };
                Some(Word::Part(Box::new(at.offset(offset)), part))
            });
            return part_of(&part.ok_or(NotCompiled::Evaluate)?, field);
        }
        if object
            .r#type
            .composite()
            .is_some_and(|it| it.variants.is_some())
        {
            // The current variant is read at each hit.
            return Err(NotCompiled::Evaluate);
        }
        // It may be a static member, a member of a named class, or ambiguous.
        let class = &object.r#type;
        if name.contains("::")
            || !class.class_names(name).is_empty()
            || !class.ambiguous_field(name).is_empty()
        {
            return Err(NotCompiled::Evaluate);
        }
        // The message is that of a value without such a field.
        let value = Typed::missing(object.r#type.clone(), "");
        return wrong(value.no_field(name), span);
    };
    match &object.location {
        OperandLocation::Memory(address) => part_of(address, field),
        _ => Err(NotCompiled::Evaluate),
    }
}

/// Returns a member of the object at an address.
fn part_of(address: &Word, field: Field) -> Result<Operand, NotCompiled> {
    let (offset, bits) = match field.bits {
        Some(bits) => {
            let inside = BitField {
                offset_bits: bits.offset_bits % 8,
                ..bits
            };
            (bits.offset_bits / 8, Some(inside))
        }
        None => (field.offset, None),
    };
    let offset = i64::try_from(offset).map_err(|_| NotCompiled::Evaluate)?;
    Ok(Operand {
        r#type: field.r#type,
        location: OperandLocation::Memory(address.clone().offset(offset)),
        bits,
    })
}

/// Returns a field of the target of a pointer, which has it.
pub(super) fn field_behind(
    pointer: Operand,
    name: &str,
    names: &impl Names,
) -> Result<Operand, Unknown> {
    let target = pointer.r#type.target().ok_or(Unknown::UntilHit)?;
    let Ok(counted) = number_operand(pointer, &(0..0)) else {
        return Err(Unknown::UntilHit);
    };
    let object = Operand::new(target, OperandLocation::Memory(word_of(counted.node)));
    field_of(&object, name, &(0..0), names).map_err(|_| Unknown::UntilHit)
}

pub(super) fn cast(operand: NumberOperand, r#type: Type) -> Result<Operand, NotCompiled> {
    let stripped = r#type.strip();
    if let TypeKind::Base(Encoding::Boolean) = stripped.kind() {
        let node = Node::Not(Box::new(Node::Not(Box::new(operand.node))));
        return Operand::truth(node);
    }
    let is_whole = match stripped.kind() {
        TypeKind::Base(encoding) => !matches!(
            encoding,
            Encoding::Float | Encoding::ComplexFloat | Encoding::Other
        ),
        TypeKind::Pointer(_) | TypeKind::Enumeration { .. } => true,
        _ => false,
    };
    let target = stripped.is_pointer().then(|| stripped.target()).flatten();
    if let (Some(from), Some(to)) = (&operand.target, &target)
        && moves_address(from, to)
    {
        return Err(NotCompiled::Evaluate);
    }
    let size = r#type.size().filter(|size| (1..=8).contains(size));
    let (true, Some(size)) = (is_whole, size) else {
        return Err(NotCompiled::Evaluate);
    };
    let reading = Reading::Unsigned {
        shift: 0,
        bits: (size * 8) as u8,
    };
    let wrapped = Node::Wrapped(Box::new(operand.node), reading);
    Ok(Operand::new(
        r#type,
        OperandLocation::Bits(Word::Computed(Box::new(wrapped))),
    ))
}

/// Returns an operand as a number.
pub(super) fn number_operand(
    operand: Operand,
    span: &Range<usize>,
) -> Result<NumberOperand, NotCompiled> {
    let Operand {
        r#type,
        location,
        bits: field_bits,
    } = operand;
    let location = match location {
        OperandLocation::Computed(node) => {
            return Ok(NumberOperand {
                node,
                target: None,
                r#type,
            });
        }
        location => location,
    };
    let stripped = r#type.strip();
    let encoding = match stripped.kind() {
        TypeKind::Base(encoding) => encoding,
        TypeKind::Enumeration { underlying, .. } => {
            let base = underlying.map(|inner| inner.strip().kind());
            match base {
                Some(TypeKind::Base(encoding)) if !encoding.is_signed() => Encoding::Unsigned,
                Some(TypeKind::Base(_)) | None => Encoding::Signed,
                Some(_) => Encoding::Unsigned,
            }
        }
        TypeKind::Pointer(target) | TypeKind::Reference(target) => {
            let word = match location {
                OperandLocation::Memory(address) => Word::Load(Box::new(address), 8),
                OperandLocation::Bits(word) => word,
                OperandLocation::Computed(_) => return Err(NotCompiled::Evaluate),
            };
            return Ok(NumberOperand {
                node: Node::Read(word, Reading::Address),
                target: Some(target),
                r#type,
            });
        }
        TypeKind::Array { .. } | TypeKind::Function { .. } => {
            let target = match stripped.kind() {
                TypeKind::Array { .. } => r#type.target(),
                _ => Some(stripped),
            };
            return match (location, target) {
                (OperandLocation::Memory(address), Some(target)) => Ok(NumberOperand {
                    node: Node::Read(address, Reading::Address),
                    target: Some(target),
                    r#type,
                }),
                _ => Err(NotCompiled::Evaluate),
            };
        }
        TypeKind::MemberPointer { .. } => return Err(NotCompiled::Evaluate),
        _ => {
            let message = format!("a value of type `{}` is not a number", r#type.name());
            return wrong(message, span);
        }
    };
    let size = stripped.size().unwrap_or(8);
    let (shift, width) = match field_bits.or_else(|| stripped.value_bits()) {
        Some(bits) => (bits.offset_bits, bits.size_bits),
        None => (0, size * 8),
    };
    let bytes = (shift + width).div_ceil(8);
    if !(1..=8).contains(&bytes) || width == 0 || stripped.is_big_endian() {
        return Err(NotCompiled::Evaluate);
    }
    let word = match location {
        OperandLocation::Memory(address) => Word::Load(Box::new(address), bytes as u8),
        OperandLocation::Bits(word) => word,
        OperandLocation::Computed(_) => return Err(NotCompiled::Evaluate),
    };
    let (shift, bits) = (shift as u8, width as u8);
    let reading = match encoding {
        Encoding::Boolean => Reading::Bool { shift, bits },
        Encoding::Float if size == 4 => Reading::Float32,
        Encoding::Float if size == 8 => Reading::Float64,
        Encoding::Float | Encoding::ComplexFloat | Encoding::Other => {
            return Err(NotCompiled::Evaluate);
        }
        encoding if encoding.is_signed() => Reading::Signed { shift, bits },
        _ => Reading::Unsigned { shift, bits },
    };
    Ok(NumberOperand {
        node: Node::Read(word, reading),
        target: None,
        r#type: of_bit_field(r#type, field_bits),
    })
}

#[cfg(test)]
mod tests;
