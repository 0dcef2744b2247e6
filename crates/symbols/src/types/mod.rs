//! Types of the debuggee's values, read from DWARF when they are looked at.
//!
//! A [`Type`] is a cheap handle; what it consists of is read by
//! [`Type::kind`], one level at a time. So recursive types need no care, and
//! a cycle in damaged DWARF is found by the bound on how deep any question
//! looks.

mod base;
mod copying;
mod counted;
mod field;
mod kept;
mod lookup;
mod made;
mod member;
mod member_pointer;
mod method;
mod name;
mod read;
mod registers;
mod system;
mod template;
mod text;
mod vtable;

pub(crate) use kept::KeptKinds;

pub use base::{Base, TableOwner, VirtualStep};
pub use lookup::standard_name;
pub use member::{Access, ClassMember, ClassMemberKind};
pub use member_pointer::PlacedField;
pub use method::Method;
pub use registers::{processor_flags, vector_control, vector_register};
pub use system::signal_information;
pub use template::TemplateArgument;
pub use text::Character;

pub(crate) use read::target;

use crate::dwarf::{DebugInfo, DieRef};
use std::fmt;
use std::sync::Arc;

/// How deep any question about a type looks.
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
    Array {
        element: Arc<Type>,
        count: u64,
    },
    Function(Arc<made::FunctionType>),
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
    /// A structure that the system defines, known without debug information.
    System {
        name: &'static str,
        size: u64,
        composite: Arc<Composite>,
    },
    /// Four bytes of a register, whose bits have names.
    Flags {
        name: &'static str,
        bits: &'static [(u8, &'static str)],
    },
}

/// How the bytes of a base type are to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// A truth value.
    Boolean,
    /// A two's complement integer.
    Signed,
    /// An unsigned integer.
    Unsigned,
    /// A character that is signed.
    SignedCharacter,
    /// A character that is unsigned.
    UnsignedCharacter,
    /// A Unicode character (`char32_t`, `char` of Rust).
    Unicode,
    /// A binary floating point number (IEEE 754, or 80-bit extended).
    Float,
    /// Two floating point numbers, real and imaginary.
    ComplexFloat,
    /// Something else; the bytes can be shown.
    Other,
}

/// A member of a structure, class or union.
#[derive(Debug, Clone)]
pub struct Field {
    /// `None` for an anonymous member, whose own members count as the
    /// structure's.
    pub name: Option<Box<str>>,
    /// Where it begins, in bytes from the start of the structure.
    pub offset: u64,
    /// For a bit field: its first bit, counted from the structure's start in
    /// the order of the addresses, and its size in bits.
    pub bits: Option<BitField>,
    /// Its type.
    pub r#type: Type,
}

/// Which bits of a structure a bit field is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BitField {
    /// The first bit, from the start of the structure.
    pub offset_bits: u64,
    /// How many there are.
    pub size_bits: u64,
}

impl BitField {
    /// How far its lowest bit is from that of the bytes that hold it, as a number; where
    /// the highest byte comes first, bits are counted from the highest one.
    pub fn shift(&self, is_big_endian: bool) -> u64 {
        let end = self.offset_bits.saturating_add(self.size_bits);
        match is_big_endian {
            true => end.next_multiple_of(8).saturating_sub(end),
            false => self.offset_bits,
        }
    }
}

/// What introduces a structure in its language.
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
    /// Which of them.
    pub kind: CompositeKind,
    /// Its members, in order; static ones left out.
    pub fields: Vec<Field>,
    /// Its base classes, in order.
    pub bases: Vec<Base>,
    /// The alternatives, for an enumeration of Rust that carries data.
    pub variants: Option<VariantPart>,
    /// Only declared here, and nowhere defined in this file.
    pub incomplete: bool,
    /// Passed and returned by the address of a copy, because copying it runs
    /// code (C++); `None` when the compiler did not say.
    pub by_reference: Option<bool>,
}

/// The alternatives of an enumeration that carries data.
#[derive(Debug, Clone)]
pub struct VariantPart {
    /// The member that tells which alternative it is; `None` when there is
    /// only one.
    pub discriminant: Option<Box<Field>>,
    /// The alternatives.
    pub variants: Vec<Variant>,
}

/// One alternative of an enumeration that carries data.
#[derive(Debug, Clone)]
pub struct Variant {
    /// The discriminant's value; `None` for the alternative of all others.
    pub value: Option<i128>,
    /// The alternative's data.
    pub field: Field,
}

/// One name of an enumeration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Enumerator {
    /// Its name.
    pub name: Box<str>,
    /// Its value.
    pub value: i128,
}

/// What a type consists of.
#[derive(Debug, Clone)]
pub enum TypeKind {
    /// No value.
    Void,
    /// A number, character or truth value.
    Base(Encoding),
    /// An address of such a value.
    Pointer(Type),
    /// An address that the language hides (`&` and `&&` of C++).
    Reference(Type),
    /// Values in a row; the outermost dimension first, `None` where the
    /// length is not known.
    Array {
        /// The type of one element.
        element: Type,
        /// The number of elements in each dimension.
        dimensions: Vec<Option<u64>>,
        /// A vector of the machine (`__m128`), passed in vector registers.
        vector: bool,
    },
    /// A structure, class or union.
    Composite(Arc<Composite>),
    /// Named integers.
    Enumeration {
        /// The names and their values.
        enumerators: Vec<Enumerator>,
        /// The integer type, where known.
        underlying: Option<Type>,
    },
    /// Another name for a type.
    Typedef(Type),
    /// The type with `const`.
    Const(Type),
    /// The type with `volatile`.
    Volatile(Type),
    /// The type with another qualifier (`restrict`, `_Atomic`).
    Qualified(Type),
    /// A function.
    Function {
        /// The type of its result.
        returns: Type,
        /// The types of its parameters.
        parameters: Vec<Type>,
        /// Whether more arguments may follow.
        variadic: bool,
    },
    /// A pointer to a member of a class of C++.
    MemberPointer {
        /// The class.
        class: Type,
        /// What the member is; the first parameter of a function is its object.
        member: Type,
    },
    /// Something that is not understood; its name and size may be known.
    Other,
}

impl Type {
    pub(crate) fn from_die(info: Arc<DebugInfo>, die: DieRef) -> Type {
        Type {
            source: Source::Die { info, die },
        }
    }

    /// Its entry, when it is one of the debug information.
    fn die(&self) -> Option<(&Arc<DebugInfo>, DieRef)> {
        match &self.source {
            Source::Die { info, die } => Some((info, *die)),
            _ => None,
        }
    }

    /// The type of no value.
    pub fn void() -> Type {
        Type {
            source: Source::Void,
        }
    }

    /// What the type consists of, one level deep.
    pub fn kind(&self) -> TypeKind {
        match &self.source {
            Source::Void => TypeKind::Void,
            Source::Pointer(to) => TypeKind::Pointer((**to).clone()),
            Source::Reference { to, .. } => TypeKind::Reference((**to).clone()),
            Source::Const(inner) => TypeKind::Const((**inner).clone()),
            Source::Array { element, count } => TypeKind::Array {
                element: (**element).clone(),
                dimensions: vec![Some(*count)],
                vector: false,
            },
            Source::Function(function) => function.kind(),
            Source::MemberPointer { class, member } => TypeKind::MemberPointer {
                class: (**class).clone(),
                member: (**member).clone(),
            },
            Source::Builtin { encoding, .. } => TypeKind::Base(*encoding),
            Source::System { composite, .. } => TypeKind::Composite(Arc::clone(composite)),
            Source::Flags { bits, .. } => TypeKind::Enumeration {
                enumerators: registers::enumerators(bits),
                underlying: Type::builtin("unsigned int"),
            },
            Source::Die { info, die } => info.kinds.get(*die, || read::kind(info, *die)),
        }
    }

    /// The size of a value in bytes; `None` for incomplete types, functions,
    /// and arrays of unknown length.
    pub fn size(&self) -> Option<u64> {
        self.size_within(TYPE_DEPTH_MAX)
    }

    fn size_within(&self, depth: usize) -> Option<u64> {
        let depth = depth.checked_sub(1)?;
        match &self.source {
            Source::Void | Source::Function(_) => return None,
            Source::Pointer(_) | Source::Reference { .. } => return Some(8),
            Source::MemberPointer { .. } | Source::Const(_) => {}
            Source::Array { element, count } => {
                return element.size_within(depth)?.checked_mul(*count);
            }
            Source::Builtin { size, .. } | Source::System { size, .. } => return Some(*size),
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
            _ => None,
        }
    }

    /// The alignment that the debug information says the type has: rustc always does, C
    /// where it was asked for.
    pub(crate) fn declared_alignment(&self) -> Option<u64> {
        let (info, die) = self.die()?;
        let value = info.die(die)?.attr_value(gimli::DW_AT_alignment)?;
        value.udata_value()
    }

    /// Whether the highest byte of its values comes first (`scalar_storage_order` of gcc).
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

    /// The type without typedefs and qualifiers, and with the definition in
    /// place of a mere declaration.
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
        // A cycle of typedefs is damage.
        Type::void()
    }

    /// What a pointer or reference leads to, or an array consists of; a table of rows.
    pub fn target(&self) -> Option<Type> {
        match self.strip().kind() {
            TypeKind::Pointer(to) | TypeKind::Reference(to) => Some(to),
            TypeKind::Array {
                element,
                dimensions,
                ..
            } => {
                let mut inner = dimensions.get(1..).unwrap_or(&[]).iter().rev();
                inner.try_fold(element, |row, count| Some(row.array_of((*count)?)))
            }
            _ => None,
        }
    }

    /// Whether values are addresses (pointers and references).
    pub fn is_pointer(&self) -> bool {
        matches!(
            self.strip().kind(),
            TypeKind::Pointer(_) | TypeKind::Reference(_)
        )
    }

    /// The members, base classes and alternatives of a structure.
    pub fn composite(&self) -> Option<Arc<Composite>> {
        match self.strip().kind() {
            TypeKind::Composite(composite) => Some(composite),
            _ => None,
        }
    }
}

impl Encoding {
    /// Whether the highest bit is a sign.
    pub fn is_signed(self) -> bool {
        matches!(self, Encoding::Signed | Encoding::SignedCharacter)
    }

    /// Whether it is a character.
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
    /// Whether both are the same entry of the same file, or spelt the same
    /// where no file defines them. Equal types of two units may differ here:
    /// compare names for that.
    fn eq(&self, other: &Type) -> bool {
        match (&self.source, &other.source) {
            (Source::Die { info: a, die: x }, Source::Die { info: b, die: y }) => {
                Arc::ptr_eq(a, b) && x == y
            }
            (Source::Void, Source::Void) => true,
            (Source::Pointer(a), Source::Pointer(b)) | (Source::Const(a), Source::Const(b)) => {
                a == b
            }
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
                },
                Source::Array {
                    element: b,
                    count: n,
                },
            ) => m == n && a == b,
            (Source::Builtin { name: a, .. }, Source::Builtin { name: b, .. }) => a == b,
            (Source::System { name: a, .. }, Source::System { name: b, .. }) => a == b,
            (Source::Flags { name: a, .. }, Source::Flags { name: b, .. }) => a == b,
            _ => false,
        }
    }
}
