//! How rustc passes values between Rust functions.
//!
//! The language does not specify it; this is the compiler's behaviour (1.95, the same with
//! and without optimization). rustc knows whether the values of a type are one scalar or
//! two, however wrapped, and passes each scalar in a register. All other values are passed
//! as one integer if they fit into a register, otherwise by address. The offsets of the
//! members, the size and the alignment determine which case applies. If they leave it open,
//! the result is unknown rather than guessed.

use super::EntryUnavailable;
use super::classify::{Class, parts};
use super::convention::{Part, Passing};
use crate::types::{Composite, CompositeKind, Encoding, Field, Type, TypeKind, VariantPart};
use smallvec::SmallVec;
use std::sync::Arc;

/// The maximum depth of nested structures.
const NESTING_MAX: usize = 24;
/// The size of a register in bytes.
const REGISTER_SIZE: u64 = 8;

/// A number or pointer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Scalar {
    class: Class,
    size: u64,
}

/// How rustc represents the values of a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// One scalar.
    Scalar(Scalar),
    /// Two scalars, with the offset of the second in bytes.
    Pair(Scalar, Scalar, u64),
    /// Bytes in memory.
    Memory,
}

impl Shape {
    /// Returns the implied alignment; `None` for bytes, which may have any.
    fn alignment(self) -> Option<u64> {
        match self {
            Shape::Scalar(scalar) => Some(scalar.size),
            Shape::Pair(first, second, _) => Some(first.size.max(second.size)),
            Shape::Memory => None,
        }
    }
}

/// Returns how rustc passes a value of this type.
pub(super) fn classify_rust(of: &Type) -> Passing {
    let stripped = of.strip();
    if matches!(stripped.kind(), TypeKind::Void) {
        return Passing::Parts(SmallVec::new());
    }
    let Some(size) = stripped.size() else {
        return Passing::Unknown(EntryUnavailable::TypeUnknown, 0);
    };
    if size == 0 {
        return Passing::Parts(SmallVec::new());
    }
    if size > 2 * REGISTER_SIZE {
        return Passing::Indirect { size };
    }
    match shape(&stripped, NESTING_MAX) {
        Ok(Shape::Scalar(scalar)) if scalar.size > REGISTER_SIZE => {
            let half = |offset| part(Class::Integer, offset, REGISTER_SIZE);
            Passing::Together(SmallVec::from([half(0), half(REGISTER_SIZE)]))
        }
        Ok(Shape::Scalar(scalar)) => parts([part(scalar.class, 0, scalar.size)]),
        Ok(Shape::Pair(first, second, offset)) => parts_of(first, second, offset),
        Ok(Shape::Memory) if size <= REGISTER_SIZE => parts([part(Class::Integer, 0, size)]),
        Ok(Shape::Memory) => Passing::Indirect { size },
        Err(reason) => Passing::Unknown(reason, size),
    }
}

fn part(class: Class, offset: u64, size: u64) -> Part {
    Part {
        class,
        offset: offset as u32,
        size: size as u32,
    }
}

fn parts_of(first: Scalar, second: Scalar, offset: u64) -> Passing {
    parts([
        part(first.class, 0, first.size),
        part(second.class, offset, second.size),
    ])
}

fn shape(of: &Type, depth: usize) -> Result<Shape, EntryUnavailable> {
    let depth = depth.checked_sub(1).ok_or(EntryUnavailable::TypeUnknown)?;
    let of = of.strip();
    let size = of.size().ok_or(EntryUnavailable::TypeUnknown)?;
    let scalar = |class| Ok(Shape::Scalar(Scalar { class, size }));
    match of.kind() {
        TypeKind::Pointer(_) | TypeKind::Reference(_) => Ok(Shape::Scalar(Scalar {
            class: Class::Integer,
            size: REGISTER_SIZE,
        })),
        TypeKind::Base(Encoding::Float) if size <= REGISTER_SIZE => scalar(Class::Vector),
        TypeKind::Base(Encoding::Float | Encoding::ComplexFloat | Encoding::Other) => {
            Err(EntryUnavailable::Undefined)
        }
        TypeKind::Base(_) | TypeKind::Enumeration { .. } => scalar(Class::Integer),
        TypeKind::Array { vector: true, .. } => Err(EntryUnavailable::Undefined),
        // Even an array of one element.
        TypeKind::Array { .. } => Ok(Shape::Memory),
        TypeKind::Composite(composite) => shape_of_composite(&of, &composite, size, depth),
        _ => Err(EntryUnavailable::TypeUnknown),
    }
}

fn shape_of_composite(
    of: &Type,
    composite: &Composite,
    size: u64,
    depth: usize,
) -> Result<Shape, EntryUnavailable> {
    if composite.incomplete || !composite.bases.is_empty() {
        return Err(EntryUnavailable::TypeUnknown);
    }
    let fields = fields_with_bytes(composite)?;
    let found = match (&composite.variants, composite.kind) {
        (Some(variants), _) => shape_of_variants(variants, size, depth)?,
        (None, CompositeKind::Union) => shape_of_union(of, &fields, size, depth)?,
        (None, _) => shape_of_fields(&fields, size, depth)?,
    };
    // A type with an explicit alignment or packing is bytes.
    let declared = of.declared_alignment();
    Ok(match (found.alignment(), declared) {
        (Some(natural), Some(declared)) if natural != declared => Shape::Memory,
        _ => found,
    })
}

/// Returns the fields by ascending offset, without zero-sized ones.
fn fields_with_bytes(composite: &Composite) -> Result<Vec<&Field>, EntryUnavailable> {
    let mut fields: Vec<&Field> = Vec::new();
    for field in &composite.fields {
        match field.r#type.size() {
            Some(0) => {}
            Some(_) if field.bits.is_none() => fields.push(field),
            _ => return Err(EntryUnavailable::TypeUnknown),
        }
    }
    fields.sort_by_key(|field| field.offset);
    Ok(fields)
}

fn shape_of_fields(fields: &[&Field], size: u64, depth: usize) -> Result<Shape, EntryUnavailable> {
    match fields {
        [] => Err(EntryUnavailable::TypeUnknown),
        [field] if field.offset == 0 && field.r#type.size() == Some(size) => {
            shape(&field.r#type, depth)
        }
        [first, second] => {
            let both = (shape(&first.r#type, depth)?, shape(&second.r#type, depth)?);
            let (Shape::Scalar(a), Shape::Scalar(b)) = both else {
                return Ok(Shape::Memory);
            };
            let pair = pair_at(a, b, second.offset, size).filter(|_| first.offset == 0);
            Ok(pair.unwrap_or(Shape::Memory))
        }
        _ => Ok(Shape::Memory),
    }
}

/// Returns the shape of a union: that of its members if they agree, unless it has the
/// layout of C, which is bytes. The debug information does not record the layout;
/// `MaybeUninit` is known not to be C's.
fn shape_of_union(
    of: &Type,
    fields: &[&Field],
    size: u64,
    depth: usize,
) -> Result<Shape, EntryUnavailable> {
    let mut shapes = fields.iter().map(|field| shape(&field.r#type, depth));
    let first = shapes.next().ok_or(EntryUnavailable::TypeUnknown)??;
    for other in shapes {
        if other? != first {
            return Ok(Shape::Memory);
        }
    }
    let is_integer = matches!(first, Shape::Scalar(Scalar { class: Class::Integer, size: one })
        if one == size && size <= REGISTER_SIZE);
    let is_known = first == Shape::Memory
        || is_integer
        || of
            .name()
            .starts_with("core::mem::maybe_uninit::MaybeUninit<");
    if is_known {
        Ok(first)
    } else {
        Err(EntryUnavailable::Undefined)
    }
}

/// Returns the shape of an enumeration with data. If an invalid value of the only variant
/// with data encodes the others (a niche), it is that variant's shape; if there is a tag,
/// it is a pair of the tag and the scalar that all variants share.
fn shape_of_variants(
    part: &VariantPart,
    size: u64,
    depth: usize,
) -> Result<Shape, EntryUnavailable> {
    let alternatives: Vec<Arc<Composite>> = part
        .variants
        .iter()
        .map(|variant| variant.field.r#type.composite())
        .collect::<Option<_>>()
        .ok_or(EntryUnavailable::TypeUnknown)?;
    let mut fields = Vec::new();
    for alternative in &alternatives {
        fields.push(fields_with_bytes(alternative)?);
    }
    let Some(discriminant) = &part.discriminant else {
        return match fields.as_slice() {
            [only] => shape_of_fields(only, size, depth),
            _ => Err(EntryUnavailable::TypeUnknown),
        };
    };
    let is_by_niche = part.variants.iter().any(|variant| variant.value.is_none());
    fields.retain(|fields| !fields.is_empty());
    if is_by_niche {
        return match fields.as_slice() {
            [only] => shape_of_fields(only, size, depth),
            _ => Ok(Shape::Memory),
        };
    }
    let Shape::Scalar(tag) = shape(&discriminant.r#type, depth)? else {
        return Err(EntryUnavailable::TypeUnknown);
    };
    if tag.size == size {
        return Ok(Shape::Scalar(tag));
    }
    shape_with_tag(tag, &fields, size, depth)
}

fn shape_with_tag(
    tag: Scalar,
    alternatives: &[Vec<&Field>],
    size: u64,
    depth: usize,
) -> Result<Shape, EntryUnavailable> {
    let mut common = None;
    for fields in alternatives {
        let [field] = fields.as_slice() else {
            return Ok(Shape::Memory);
        };
        let Shape::Scalar(scalar) = shape(&field.r#type, depth)? else {
            return Ok(Shape::Memory);
        };
        if *common.get_or_insert((scalar, field.offset)) != (scalar, field.offset) {
            return Ok(Shape::Memory);
        }
    }
    let (scalar, offset) = common.ok_or(EntryUnavailable::TypeUnknown)?;
    Ok(pair_at(tag, scalar, offset, size).unwrap_or(Shape::Memory))
}

/// Returns two scalars as a pair if their offsets are those of a pair.
fn pair_at(first: Scalar, second: Scalar, offset: u64, size: u64) -> Option<Shape> {
    let natural = first.size.next_multiple_of(second.size);
    let end = natural.saturating_add(second.size);
    let whole = end.next_multiple_of(first.size.max(second.size));
    ((offset, size) == (natural, whole)).then_some(Shape::Pair(first, second, offset))
}
