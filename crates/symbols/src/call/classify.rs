//! The classes of C and C++ types (AMD64 supplement, section 3.2.3, "Classification").

use super::EntryUnavailable;
use super::convention::{Part, Passing};
use crate::types::{Composite, Encoding, Type, TypeKind};
use smallvec::SmallVec;

/// The register class of an eightbyte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    Integer,
    Vector,
    X87,
}

/// The maximum depth of nested structures.
const NESTING_MAX: usize = 24;
/// The maximum number of members of a value in registers.
const LEAF_COUNT_MAX: usize = 64;

/// A number or pointer in a value.
#[derive(Debug, Clone, Copy)]
struct Leaf {
    class: LeafClass,
    offset: u64,
    size: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LeafClass {
    Integer,
    Vector,
    X87,
}

/// The reason why a value cannot be decomposed.
enum Obstacle {
    Unknown,
    /// Too large or unaligned: passed in memory.
    Memory,
    /// Copying it runs code (C++): passed by address.
    ByReference,
    /// Variants share their bytes (Rust).
    Variants,
}

/// Returns how C and C++ pass a value of this type.
pub(super) fn classify(of: &Type) -> Passing {
    let stripped = of.strip();
    if matches!(stripped.kind(), TypeKind::Void) {
        return Passing::Parts(SmallVec::new());
    }
    let Some(size) = stripped.size() else {
        return Passing::Unknown(EntryUnavailable::TypeUnknown, 0);
    };
    let memory = Passing::Memory {
        size,
        alignment: alignment(&stripped),
    };
    if by_reference(&stripped, NESTING_MAX) {
        return Passing::Indirect { size };
    }
    if let Some(parts) = special(&stripped, size) {
        return parts;
    }
    if let Some(passing) = around_vector(&stripped, size) {
        return passing;
    }
    if size > 16 {
        return memory;
    }
    let mut leaves = Vec::new();
    match take_apart(&stripped, 0, &mut leaves, NESTING_MAX) {
        Ok(()) => {}
        Err(Obstacle::Unknown | Obstacle::Variants) => {
            return Passing::Unknown(EntryUnavailable::TypeUnknown, size);
        }
        Err(Obstacle::Memory) => return memory,
        Err(Obstacle::ByReference) => return Passing::Indirect { size },
    }
    if leaves.iter().any(|leaf| leaf.class == LeafClass::X87) {
        // A structure that only contains a `long double`: in memory as an argument, on the
        // x87 stack as a result.
        let alone = leaves.len() == 1;
        return if alone {
            parts([Part {
                class: Class::X87,
                offset: 0,
                size: 16,
            }])
        } else {
            memory
        };
    }
    Passing::Parts(eightbytes(&leaves, size))
}

pub(super) fn parts<const N: usize>(list: [Part; N]) -> Passing {
    Passing::Parts(list.into_iter().collect())
}

/// Returns how types with rules of their own are passed.
fn special(stripped: &Type, size: u64) -> Option<Passing> {
    match stripped.kind() {
        TypeKind::Base(Encoding::Float) if size == 16 => {
            let quad = stripped.name().contains("128");
            let class = if quad { Class::Vector } else { Class::X87 };
            Some(parts([Part {
                class,
                offset: 0,
                size: 16,
            }]))
        }
        TypeKind::Base(Encoding::ComplexFloat) => Some(match size {
            8 => parts([Part {
                class: Class::Vector,
                offset: 0,
                size: 8,
            }]),
            16 => parts([
                Part {
                    class: Class::Vector,
                    offset: 0,
                    size: 8,
                },
                Part {
                    class: Class::Vector,
                    offset: 8,
                    size: 8,
                },
            ]),
            // In memory as an argument, in the top two x87 registers as a result.
            32 if !stripped.name().contains("128") => parts([0, 16].map(|offset| Part {
                class: Class::X87,
                offset,
                size: 16,
            })),
            _ => Passing::Memory {
                size,
                alignment: 16,
            },
        }),
        TypeKind::Array { vector: true, .. } if matches!(size, 32 | 64) => {
            Some(Passing::Unknown(EntryUnavailable::WideRegister, size))
        }
        TypeKind::Array { vector: true, .. } if matches!(size, 8 | 16) => Some(parts([Part {
            class: Class::Vector,
            offset: 0,
            size: size as u32,
        }])),
        _ => None,
    }
}

/// Returns how a structure that only contains a vector is passed: like the vector.
fn around_vector(stripped: &Type, size: u64) -> Option<Passing> {
    if !matches!(stripped.kind(), TypeKind::Composite(_)) || !matches!(size, 16 | 32 | 64) {
        return None;
    }
    let mut leaves = Vec::new();
    take_apart(stripped, 0, &mut leaves, NESTING_MAX).ok()?;
    let is_whole = |leaf: &Leaf| leaf.class == LeafClass::Vector && leaf.size == size;
    match leaves.as_slice() {
        [leaf] if is_whole(leaf) && size == 16 => Some(parts([Part {
            class: Class::Vector,
            offset: 0,
            size: 16,
        }])),
        [leaf] if is_whole(leaf) => Some(Passing::Unknown(EntryUnavailable::WideRegister, size)),
        _ => None,
    }
}

/// Merges the leaves of each eightbyte; an integer makes the whole eightbyte an integer.
fn eightbytes(leaves: &[Leaf], size: u64) -> SmallVec<[Part; 2]> {
    let mut parts = SmallVec::new();
    let mut start = 0;
    while start < size {
        let end = (start + 8).min(size);
        let inside = || {
            leaves
                .iter()
                .filter(|leaf| leaf.offset < end && leaf.offset + leaf.size > start)
        };
        if inside().next().is_some() {
            let vector = inside().all(|leaf| leaf.class == LeafClass::Vector);
            let class = if vector {
                Class::Vector
            } else {
                Class::Integer
            };
            parts.push(Part {
                class,
                offset: start as u32,
                size: (end - start) as u32,
            });
        }
        start += 8;
    }
    parts
}

fn take_apart(of: &Type, at: u64, leaves: &mut Vec<Leaf>, depth: usize) -> Result<(), Obstacle> {
    let depth = depth.checked_sub(1).ok_or(Obstacle::Unknown)?;
    if leaves.len() > LEAF_COUNT_MAX {
        return Err(Obstacle::Memory);
    }
    let of = of.strip();
    let size = of.size();
    let mut leaf = |class, size: u64| {
        if size == 0 {
            return Ok(());
        }
        if !at.is_multiple_of(size.min(8).next_power_of_two()) {
            return Err(Obstacle::Memory);
        }
        leaves.push(Leaf {
            class,
            offset: at,
            size,
        });
        Ok(())
    };
    match of.kind() {
        TypeKind::Pointer(_) | TypeKind::Reference(_) => leaf(LeafClass::Integer, 8),
        // The function address and the adjustment of `this`.
        TypeKind::MemberPointer { .. } if size == Some(16) => {
            leaf(LeafClass::Integer, 8)?;
            let offset = at.checked_add(8).ok_or(Obstacle::Memory)?;
            leaves.push(Leaf {
                class: LeafClass::Integer,
                offset,
                size: 8,
            });
            Ok(())
        }
        TypeKind::MemberPointer { .. } | TypeKind::Enumeration { .. } | TypeKind::Other => {
            leaf(LeafClass::Integer, size.ok_or(Obstacle::Unknown)?)
        }
        TypeKind::Base(Encoding::Float) => match size {
            Some(16) if of.name().contains("128") => leaf(LeafClass::Vector, 16),
            Some(16) => leaf(LeafClass::X87, 16),
            size => leaf(LeafClass::Vector, size.ok_or(Obstacle::Unknown)?),
        },
        // Two adjacent floating-point numbers.
        TypeKind::Base(Encoding::ComplexFloat) => {
            let half = size.ok_or(Obstacle::Unknown)? / 2;
            if half == 0 || !at.is_multiple_of(half) {
                return Err(Obstacle::Memory);
            }
            for offset in [at, at.checked_add(half).ok_or(Obstacle::Memory)?] {
                leaves.push(Leaf {
                    class: LeafClass::Vector,
                    offset,
                    size: half,
                });
            }
            Ok(())
        }
        TypeKind::Base(_) => leaf(LeafClass::Integer, size.ok_or(Obstacle::Unknown)?),
        TypeKind::Array { vector: true, .. } => {
            leaf(LeafClass::Vector, size.ok_or(Obstacle::Unknown)?)
        }
        TypeKind::Array {
            element,
            dimensions,
            ..
        } => {
            let each = element.size().ok_or(Obstacle::Unknown)?;
            let mut count: u64 = 1;
            for dimension in dimensions {
                let length = dimension.ok_or(Obstacle::Unknown)?;
                count = count.checked_mul(length).ok_or(Obstacle::Memory)?;
            }
            if count > LEAF_COUNT_MAX as u64 {
                return Err(Obstacle::Memory);
            }
            for index in 0..count {
                let offset = index
                    .checked_mul(each)
                    .and_then(|o| o.checked_add(at))
                    .ok_or(Obstacle::Memory)?;
                take_apart(&element, offset, leaves, depth)?;
            }
            Ok(())
        }
        TypeKind::Composite(composite) => take_composite_apart(&composite, at, leaves, depth),
        TypeKind::Void | TypeKind::Function { .. } => Err(Obstacle::Unknown),
        TypeKind::Typedef(_)
        | TypeKind::Const(_)
        | TypeKind::Volatile(_)
        | TypeKind::Qualified(_) => Err(Obstacle::Unknown),
    }
}

fn take_composite_apart(
    composite: &Composite,
    at: u64,
    leaves: &mut Vec<Leaf>,
    depth: usize,
) -> Result<(), Obstacle> {
    if composite.incomplete {
        return Err(Obstacle::Unknown);
    }
    if composite.variants.is_some() {
        return Err(Obstacle::Variants);
    }
    if composite.by_reference == Some(true) {
        return Err(Obstacle::ByReference);
    }
    for base in &composite.bases {
        let offset = base.offset.and_then(|offset| at.checked_add(offset));
        take_apart(
            &base.r#type,
            offset.ok_or(Obstacle::ByReference)?,
            leaves,
            depth,
        )?;
    }
    for field in &composite.fields {
        if let Some(bits) = field.bits {
            let first = at
                .checked_add(bits.offset_bits / 8)
                .ok_or(Obstacle::Memory)?;
            let last = bits.offset_bits.saturating_add(bits.size_bits).div_ceil(8);
            let size = at.saturating_add(last).saturating_sub(first).max(1);
            leaves.push(Leaf {
                class: LeafClass::Integer,
                offset: first,
                size: size.min(16),
            });
            continue;
        }
        let offset = at.checked_add(field.offset).ok_or(Obstacle::Memory)?;
        take_apart(&field.r#type, offset, leaves, depth)?;
    }
    Ok(())
}

/// Returns whether C++ passes the type by the address of a copy.
fn by_reference(of: &Type, depth: usize) -> bool {
    let (Some(depth), Some(composite)) = (depth.checked_sub(1), of.composite()) else {
        return false;
    };
    match composite.by_reference {
        Some(answer) => answer,
        // The compiler did not record it; derive it from the members.
        None => {
            let virtual_table =
                |name: Option<&str>| name.is_some_and(|name| name.starts_with("_vptr"));
            composite
                .fields
                .iter()
                .any(|f| virtual_table(f.name.as_deref()) || by_reference(&f.r#type, depth))
                || composite
                    .bases
                    .iter()
                    .any(|b| b.offset.is_none() || by_reference(&b.r#type, depth))
        }
    }
}

/// Returns the alignment of a type in bytes, at most 64.
pub(super) fn alignment(of: &Type) -> u64 {
    alignment_within(of, NESTING_MAX)
}

fn alignment_within(of: &Type, depth: usize) -> u64 {
    let Some(depth) = depth.checked_sub(1) else {
        return 8;
    };
    let of = of.strip();
    match of.kind() {
        TypeKind::Array {
            element,
            vector: false,
            ..
        } => alignment_within(&element, depth),
        TypeKind::Composite(composite) => {
            let fields = composite.fields.iter().map(|field| &field.r#type);
            let bases = composite.bases.iter().map(|base| &base.r#type);
            fields
                .chain(bases)
                .map(|part| alignment_within(part, depth))
                .max()
                .unwrap_or(1)
        }
        TypeKind::Base(Encoding::ComplexFloat) => (of.size().unwrap_or(8) / 2).clamp(1, 16),
        _ => of.size().unwrap_or(8).next_power_of_two().clamp(1, 64),
    }
}
