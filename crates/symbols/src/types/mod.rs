//! Types of the debuggee's values, read from DWARF on demand.
//!
//! A [`Type`] is a cheap handle; [`Type::kind`] reads one level of its structure. Recursive
//! types therefore need no special care, and a cycle in damaged DWARF ends at the depth
//! limit.

mod abi;
mod base;
mod bounds;
mod cache;
mod character;
mod class_scope;
mod copying;
mod derived;
mod field;
mod lookup;
mod member;
mod member_pointer;
mod method;
mod name;
mod read;
mod registers;
mod system;
mod template;
mod variable_length;
mod vtable;
mod words;

pub(crate) use cache::TypeCache;

pub use abi::AbiLayout;
pub use base::{Base, VirtualStep, VtableOwner};
pub use bounds::ArrayIndex;
pub use character::Character;
pub use class_scope::ClassName;
pub use lookup::{EnumeratorCandidate, standard_name};
pub use member::{Access, ClassMember, ClassMemberKind};
pub use member_pointer::DeclaredField;
pub use method::{Method, is_instance};
pub use registers::{processor_flags, vector_control, vector_register};
pub use system::signal_information;
pub use template::TemplateArgument;
pub use words::is_base_type;

pub(crate) use lookup::split_tag;
pub(crate) use read::target;

use crate::dwarf::{DebugInfo, DieRef};
use std::fmt;
use std::sync::Arc;

/// The maximum depth to which types are followed.
pub(crate) const TYPE_DEPTH_MAX: usize = 64;

/// A type of the debuggee.
#[derive(Clone)]
pub struct Type {
    source: Source,
}

#[derive(Clone)]
enum Source {
    Die {
        info: Arc<DebugInfo>,
        die: DieRef,
    },
    Void,
    Pointer(Arc<Type>),
    Reference {
        to: Arc<Type>,
        is_rvalue: bool,
    },
    Const(Arc<Type>),
    Volatile(Arc<Type>),
    Array {
        element: Arc<Type>,
        count: u64,
        index: ArrayIndex,
    },
    Function(Arc<derived::FunctionType>),
    MemberPointer {
        class: Arc<Type>,
        member: Arc<Type>,
    },
    /// A base type of the language, known without debug information.
    Builtin {
        name: &'static str,
        encoding: Encoding,
        size: u64,
    },
    /// A structure defined by the operating system, known without debug information.
    System {
        name: &'static str,
        size: u64,
        composite: Arc<Composite>,
    },
    /// The unknown type of a variable that only the symbol table has.
    Symbol {
        name: Arc<str>,
        size: u64,
    },
    /// Four bytes of a register with named bits.
    Flags {
        name: &'static str,
        bits: &'static [(u8, &'static str)],
    },
}

/// The encoding of a base type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// A boolean.
    Boolean,
    /// A two's complement integer.
    Signed,
    /// An unsigned integer.
    Unsigned,
    /// A signed character.
    SignedCharacter,
    /// An unsigned character.
    UnsignedCharacter,
    /// A Unicode character (`char32_t`, `char` of Rust).
    Unicode,
    /// A binary floating-point number (IEEE 754, or 80-bit extended).
    Float,
    /// Two floating-point numbers, real and imaginary.
    ComplexFloat,
    /// An unknown encoding, shown as bytes.
    Other,
}

/// A member of a structure, class or union.
#[derive(Debug, Clone)]
pub struct Field {
    /// The name; `None` for an anonymous member, whose members count as the structure's
    /// own.
    pub name: Option<Box<str>>,
    /// The offset in bytes from the start of the structure.
    pub offset: u64,
    /// The bits of a bit field.
    pub bits: Option<BitField>,
    /// The type.
    pub r#type: Type,
}

/// The bits that a bit field occupies in its structure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BitField {
    /// The first bit, counted from the start of the structure in the order of addresses.
    pub offset_bits: u64,
    /// The number of bits.
    pub size_bits: u64,
}

impl BitField {
    /// Returns the distance in bits of its lowest bit from the lowest bit of the bytes that
    /// contain it. In a big-endian structure, bits are counted from the most significant
    /// one.
    pub fn shift(&self, is_big_endian: bool) -> u64 {
        let end = self.offset_bits.saturating_add(self.size_bits);
        if is_big_endian {
            end.next_multiple_of(8).saturating_sub(end)
        } else {
            self.offset_bits
        }
    }
}

/// The keyword of a composite type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CompositeKind {
    /// `struct`.
    Struct,
    /// `class`.
    Class,
    /// `union`.
    Union,
}

/// A structure, class or union.
#[derive(Debug, Clone)]
pub struct Composite {
    /// The keyword.
    pub kind: CompositeKind,
    /// The members in order, without static ones.
    pub fields: Vec<Field>,
    /// The base classes in order.
    pub bases: Vec<Base>,
    /// The variants of a Rust enumeration with data.
    pub variants: Option<VariantPart>,
    /// Whether the type is only declared, and nowhere defined in this file.
    pub incomplete: bool,
    /// The layout of a library's ABI, for a type that is only declared; nothing in the file
    /// confirms it.
    pub by_abi: Option<AbiLayout>,
    /// Whether values are passed and returned by the address of a copy, because copying
    /// runs code (C++); `None` if the compiler did not record it.
    pub by_reference: Option<bool>,
}

/// The variants of an enumeration with data (`DW_TAG_variant_part`).
#[derive(Debug, Clone)]
pub struct VariantPart {
    /// The member that selects the variant; `None` if there is only one.
    pub discriminant: Option<Box<Field>>,
    /// The variants.
    pub variants: Vec<Variant>,
}

/// A variant of an enumeration with data (`DW_TAG_variant`).
#[derive(Debug, Clone)]
pub struct Variant {
    /// The discriminant's value; `None` for the default variant.
    pub value: Option<i128>,
    /// The variant's data.
    pub field: Field,
}

/// An enumerator of an enumeration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Enumerator {
    /// The name.
    pub name: Box<str>,
    /// The value.
    pub value: i128,
}

/// The structure of a type, one level deep.
#[derive(Debug, Clone)]
pub enum TypeKind {
    /// No value (`void`).
    Void,
    /// A number, character or boolean.
    Base(Encoding),
    /// A pointer to a type.
    Pointer(Type),
    /// A C++ reference (`&` or `&&`).
    Reference(Type),
    /// An array.
    Array {
        /// The type of an element.
        element: Type,
        /// The number of elements in each dimension, outermost first; `None` if unknown.
        dimensions: Vec<Option<u64>>,
        /// The indexes of the elements in each dimension, outermost first.
        indexes: Vec<ArrayIndex>,
        /// Whether it is a vector of the machine (`__m128`), passed in vector registers.
        vector: bool,
    },
    /// A structure, class or union.
    Composite(Arc<Composite>),
    /// An enumeration.
    Enumeration {
        /// The enumerators.
        enumerators: Vec<Enumerator>,
        /// The underlying integer type, if known.
        underlying: Option<Type>,
    },
    /// A typedef.
    Typedef(Type),
    /// The type with `const`.
    Const(Type),
    /// The type with `volatile`.
    Volatile(Type),
    /// The type with another qualifier (`restrict`, `_Atomic`).
    Qualified(Type),
    /// A function.
    Function {
        /// The type of the result.
        returns: Type,
        /// The types of the parameters.
        parameters: Vec<Type>,
        /// Whether it accepts further arguments.
        variadic: bool,
    },
    /// A C++ pointer to a member.
    MemberPointer {
        /// The class.
        class: Type,
        /// The type of the member; the first parameter of a function is its object.
        member: Type,
    },
    /// An unknown type, whose name and size may be known.
    Other,
}

impl Type {
    pub(crate) fn from_die(info: Arc<DebugInfo>, die: DieRef) -> Type {
        Type {
            source: Source::Die { info, die },
        }
    }

    /// Returns its DIE if it is from debug information.
    pub(crate) fn die(&self) -> Option<(&Arc<DebugInfo>, DieRef)> {
        match &self.source {
            Source::Die { info, die } => Some((info, *die)),
            _ => None,
        }
    }

    /// Returns the type `void`.
    pub fn void() -> Type {
        Type {
            source: Source::Void,
        }
    }

    /// Returns the structure of the type, one level deep.
    pub fn kind(&self) -> TypeKind {
        match &self.source {
            Source::Void => TypeKind::Void,
            Source::Pointer(to) => TypeKind::Pointer((**to).clone()),
            Source::Reference { to, .. } => TypeKind::Reference((**to).clone()),
            Source::Const(inner) => TypeKind::Const((**inner).clone()),
            Source::Volatile(inner) => TypeKind::Volatile((**inner).clone()),
            Source::Array {
                element,
                count,
                index,
            } => TypeKind::Array {
                element: (**element).clone(),
                dimensions: vec![Some(*count)],
                indexes: vec![*index],
                vector: false,
            },
            Source::Function(function) => function.kind(),
            Source::MemberPointer { class, member } => TypeKind::MemberPointer {
                class: (**class).clone(),
                member: (**member).clone(),
            },
            Source::Builtin { encoding, .. } => TypeKind::Base(*encoding),
            Source::Symbol { .. } => TypeKind::Other,
            Source::System { composite, .. } => TypeKind::Composite(Arc::clone(composite)),
            Source::Flags { bits, .. } => TypeKind::Enumeration {
                enumerators: registers::enumerators(bits),
                underlying: Type::builtin("unsigned int"),
            },
            Source::Die { info, die } => info.kinds.get(*die, || read::kind(info, *die)),
        }
    }

    /// Returns the size of a value in bytes; `None` for incomplete types, functions, and
    /// arrays of unknown length.
    pub fn size(&self) -> Option<u64> {
        self.size_within(TYPE_DEPTH_MAX)
    }

    fn size_within(&self, depth: usize) -> Option<u64> {
        let depth = depth.checked_sub(1)?;
        match &self.source {
            Source::Void | Source::Function(_) => return None,
            Source::Pointer(_) | Source::Reference { .. } => return Some(8),
            Source::MemberPointer { .. } | Source::Const(_) | Source::Volatile(_) => {}
            Source::Array { element, count, .. } => {
                return element.size_within(depth)?.checked_mul(*count);
            }
            Source::Builtin { size, .. }
            | Source::System { size, .. }
            | Source::Symbol { size, .. } => return Some(*size),
            Source::Flags { .. } => return Some(4),
            Source::Die { info, die } => {
                if let Some(size) = read::byte_size(info, *die) {
                    return Some(size);
                }
            }
        }
        match self.kind() {
            TypeKind::Pointer(_) | TypeKind::Reference(_) => Some(8),
            TypeKind::Typedef(inner)
            | TypeKind::Const(inner)
            | TypeKind::Volatile(inner)
            | TypeKind::Qualified(inner) => inner.size_within(depth),
            TypeKind::Array {
                element,
                dimensions,
                ..
            } => {
                let mut size = element.size_within(depth)?;
                for dimension in dimensions {
                    size = size.checked_mul(dimension?)?;
                }
                Some(size)
            }
            TypeKind::Enumeration { underlying, .. } => underlying?.size_within(depth),
            TypeKind::MemberPointer { member, .. } => Some(member_pointer::size_to(&member)),
            TypeKind::Composite(composite) => abi::size(&composite),
            _ => None,
        }
    }

    /// Returns the alignment in bytes recorded in the debug information: rustc always
    /// records it, C compilers only for an explicit `_Alignas`.
    pub fn declared_alignment(&self) -> Option<u64> {
        let (info, die) = self.die()?;
        let value = info.die(die)?.attr_value(gimli::DW_AT_alignment)?;
        value.udata_value()
    }

    /// Returns the bits of the bytes that the value of a base type consists of, if these are not
    /// all (`DW_AT_bit_size`): those of a `_BitInt(7)`.
    pub fn value_bits(&self) -> Option<BitField> {
        let (info, die) = self.die()?;
        let entry = info.die(die)?;
        let number = |name| entry.attr_value(name)?.udata_value();
        let size_bits = number(gimli::DW_AT_bit_size)?;
        let is_base = entry.tag() == gimli::DW_TAG_base_type;
        let offset_bits = number(gimli::DW_AT_data_bit_offset).unwrap_or(0);
        let is_part = size_bits > 0 && size_bits < self.size()?.checked_mul(8)?;
        (is_base && is_part).then_some(BitField {
            offset_bits,
            size_bits,
        })
    }

    /// Returns whether values are big-endian (gcc's `scalar_storage_order`).
    pub fn is_big_endian(&self) -> bool {
        let stripped = self.strip();
        let endianity = stripped.die().and_then(|(info, die)| {
            let entry = info.die(die)?;
            entry.attr_value(gimli::DW_AT_endianity)
        });
        matches!(
            endianity,
            Some(gimli::AttributeValue::Endianity(gimli::DW_END_big))
        )
    }

    /// Returns the type without typedefs and qualifiers, with a declaration replaced by its
    /// definition.
    pub fn strip(&self) -> Type {
        let mut at = self.clone();
        for _ in 0..TYPE_DEPTH_MAX {
            at = match at.kind() {
                TypeKind::Typedef(inner)
                | TypeKind::Const(inner)
                | TypeKind::Volatile(inner)
                | TypeKind::Qualified(inner) => inner,
                _ => return at,
            };
        }
        // A cycle of typedefs occurs only in damaged debug information.
        Type::void()
    }

    /// Returns the target of a pointer or reference, or the element type of an array; the
    /// row type of a multidimensional array.
    pub fn target(&self) -> Option<Type> {
        match self.strip().kind() {
            TypeKind::Pointer(to) | TypeKind::Reference(to) => Some(to),
            TypeKind::Array { indexes, .. } if indexes.contains(&ArrayIndex::Unknown) => None,
            TypeKind::Array {
                element,
                dimensions,
                indexes,
                ..
            } => {
                let mut inner = dimensions.iter().zip(indexes).skip(1).rev();
                inner.try_fold(element, |row, (count, index)| {
                    Some(row.array_indexed((*count)?, index))
                })
            }
            _ => None,
        }
    }

    /// Returns whether values are addresses (pointers and references).
    pub fn is_pointer(&self) -> bool {
        matches!(
            self.strip().kind(),
            TypeKind::Pointer(_) | TypeKind::Reference(_)
        )
    }

    /// Returns the file name of the unit that a type's debug information is in.
    pub fn declared_in(&self) -> Option<String> {
        let stripped = self.strip();
        let (info, die) = stripped.die()?;
        let name = info.unit(die.unit)?.unit.name.as_ref()?;
        let name = String::from_utf8_lossy(name.bytes()).into_owned();
        let file = name.rsplit('/').next().filter(|file| !file.is_empty())?;
        Some(file.to_owned())
    }

    /// Returns the composite type, or `None` for other types.
    pub fn composite(&self) -> Option<Arc<Composite>> {
        match self.strip().kind() {
            TypeKind::Composite(composite) => Some(composite),
            _ => None,
        }
    }
}

impl Encoding {
    /// Returns whether the highest bit is a sign.
    pub fn is_signed(self) -> bool {
        matches!(self, Encoding::Signed | Encoding::SignedCharacter)
    }

    /// Returns whether it is a character.
    pub fn is_character(self) -> bool {
        matches!(
            self,
            Encoding::SignedCharacter | Encoding::UnsignedCharacter | Encoding::Unicode
        )
    }
}

impl fmt::Debug for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Type({})", self.name())
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())
    }
}

impl PartialEq for Type {
    /// Returns whether both are the same DIE of the same file, or spelled the same if no
    /// file defines them. Equal types of two units may differ here; to compare those,
    /// compare names.
    fn eq(&self, other: &Type) -> bool {
        match (&self.source, &other.source) {
            (Source::Die { info: a, die: x }, Source::Die { info: b, die: y }) => {
                Arc::ptr_eq(a, b) && x == y
            }
            (Source::Void, Source::Void) => true,
            (Source::Pointer(a), Source::Pointer(b))
            | (Source::Const(a), Source::Const(b))
            | (Source::Volatile(a), Source::Volatile(b)) => a == b,
            (
                Source::Reference {
                    to: a,
                    is_rvalue: x,
                },
                Source::Reference {
                    to: b,
                    is_rvalue: y,
                },
            ) => a == b && x == y,
            (Source::Function(a), Source::Function(b)) => a == b,
            (
                Source::MemberPointer {
                    class: a,
                    member: x,
                },
                Source::MemberPointer {
                    class: b,
                    member: y,
                },
            ) => a == b && x == y,
            (
                Source::Array {
                    element: a,
                    count: m,
                    index: i,
                },
                Source::Array {
                    element: b,
                    count: n,
                    index: j,
                },
            ) => m == n && i == j && a == b,
            (Source::Builtin { name: a, .. }, Source::Builtin { name: b, .. }) => a == b,
            (Source::System { name: a, .. }, Source::System { name: b, .. }) => a == b,
            (Source::Flags { name: a, .. }, Source::Flags { name: b, .. }) => a == b,
            (Source::Symbol { name: a, .. }, Source::Symbol { name: b, .. }) => a == b,
            _ => false,
        }
    }
}
