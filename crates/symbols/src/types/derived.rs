//! Types derived from others, as users write them in casts: pointers, references, arrays,
//! functions and pointers to members.

use super::{ArrayIndex, Source, Type, TypeKind};
use std::sync::Arc;

/// The result and the parameters of a function.
#[derive(Clone, PartialEq)]
pub(super) struct FunctionType {
    returns: Type,
    parameters: Vec<Type>,
    variadic: bool,
}

impl FunctionType {
    pub(super) fn kind(&self) -> TypeKind {
        TypeKind::Function {
            returns: self.returns.clone(),
            parameters: self.parameters.clone(),
            variadic: self.variadic,
        }
    }
}

impl Type {
    /// Returns the type of a pointer to this type.
    pub fn pointer_to(&self) -> Type {
        Type {
            source: Source::Pointer(Arc::new(self.clone())),
        }
    }

    /// Returns the type of a variable that only the symbol table has, which says nothing but
    /// its size.
    pub fn of_symbol(name: &str, size: u64) -> Type {
        Type {
            source: Source::Symbol {
                name: name.into(),
                size,
            },
        }
    }

    /// Returns the name and the size in bytes of the variable that a type is made for by
    /// [`Type::of_symbol`].
    pub fn untyped_symbol(&self) -> Option<(&str, u64)> {
        match &self.source {
            Source::Symbol { name, size } => Some((name, *size)),
            _ => None,
        }
    }

    /// Completes the type of an array without a length, as in `extern int table[]`, by the size
    /// in bytes of its symbol. Other types are returned unchanged.
    pub fn of_symbol_size(&self, size: u64) -> Type {
        let is_endless = match self.strip().kind() {
            TypeKind::Array { dimensions, .. } => dimensions.first() == Some(&None),
            _ => false,
        };
        let row = self.target().filter(|_| is_endless);
        let count = row.as_ref().and_then(|row| match row.size()? {
            0 => None,
            one => (size > 0 && size.is_multiple_of(one)).then_some(size / one),
        });
        match row.zip(count) {
            Some((row, count)) => row.array_of(count),
            None => self.clone(),
        }
    }

    /// Returns the type of a C++ lvalue reference to this type.
    pub fn reference_to(&self) -> Type {
        Type {
            source: Source::Reference {
                to: Arc::new(self.clone()),
                is_rvalue: false,
            },
        }
    }

    /// Returns the type of a C++ rvalue reference (`&&`) to this type.
    pub fn rvalue_reference_to(&self) -> Type {
        Type {
            source: Source::Reference {
                to: Arc::new(self.clone()),
                is_rvalue: true,
            },
        }
    }

    /// Returns whether it is an rvalue reference.
    pub(super) fn is_rvalue_reference(&self) -> bool {
        match &self.source {
            Source::Reference { is_rvalue, .. } => *is_rvalue,
            Source::Die { info, die } => {
                let tag = info.die(*die).map(|entry| entry.tag());
                tag == Some(gimli::DW_TAG_rvalue_reference_type)
            }
            _ => false,
        }
    }

    /// Returns the type with `const`.
    pub fn constant(&self) -> Type {
        Type {
            source: Source::Const(Arc::new(self.clone())),
        }
    }

    /// Returns the type with `volatile`.
    pub fn volatile(&self) -> Type {
        Type {
            source: Source::Volatile(Arc::new(self.clone())),
        }
    }

    /// Returns the type of an array of `count` elements of this type.
    pub fn array_of(&self, count: u64) -> Type {
        Type {
            source: Source::Array {
                element: Arc::new(self.clone()),
                count,
                index: ArrayIndex::From(0),
            },
        }
    }

    /// Returns the type of a function that returns this type.
    pub fn function(&self, parameters: Vec<Type>, variadic: bool) -> Type {
        Type {
            source: Source::Function(Arc::new(FunctionType {
                returns: self.clone(),
                parameters,
                variadic,
            })),
        }
    }

    /// Returns the type of a pointer to a member of `class` that has this type. A function
    /// has its object as the first parameter.
    pub fn member_pointer_of(&self, class: &Type) -> Type {
        Type {
            source: Source::MemberPointer {
                class: Arc::new(class.clone()),
                member: Arc::new(self.clone()),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn made_types_are_named_as_c_declares_them() {
        let int = Type::builtin("int").expect("a type");
        let char = Type::builtin("char").expect("a type");
        let function = int.function(vec![int.clone(), char.pointer_to()], true);
        let of_object = int.function(vec![char.pointer_to(), int.clone()], false);
        for (made, name, size) in [
            (int.pointer_to(), "int *", Some(8)),
            (int.reference_to(), "int &", Some(8)),
            (int.rvalue_reference_to(), "int &&", Some(8)),
            (int.array_of(4).array_of(3), "int [3][4]", Some(48)),
            (int.array_of(4).pointer_to(), "int (*)[4]", Some(8)),
            (int.pointer_to().array_of(4), "int *[4]", Some(32)),
            (function.clone(), "int (int, char *, ...)", None),
            (function.pointer_to(), "int (*)(int, char *, ...)", Some(8)),
            (
                int.function(Vec::new(), false).pointer_to().array_of(2),
                "int (*[2])(void)",
                Some(16),
            ),
            (
                char.volatile().constant().pointer_to(),
                "const volatile char *",
                Some(8),
            ),
            (int.member_pointer_of(&char), "int char::*", Some(8)),
            (
                int.array_of(3).member_pointer_of(&char),
                "int (char::*)[3]",
                Some(8),
            ),
            (
                int.function(vec![char.constant().pointer_to()], false)
                    .member_pointer_of(&char),
                "int (char::*)(void) const",
                Some(16),
            ),
            (
                of_object.member_pointer_of(&char),
                "int (char::*)(int)",
                Some(16),
            ),
        ] {
            assert_eq!((made.name().as_str(), made.size()), (name, size));
            assert_eq!(made, made.clone());
        }
        assert_ne!(int.pointer_to(), int.reference_to());
        let declared = of_object.member_pointer_of(&char).declaration("m");
        assert_eq!(declared, "int (char::*m)(int)");
    }
}
