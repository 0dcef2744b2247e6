//! The syntax of types.

use std::fmt;
use std::ops::Range;

/// A type of the debuggee: a name and derivations from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypeName {
    /// The words, one space between (`unsigned long`, `struct queue`).
    pub name: Box<str>,
    /// The derivations, in the order in which they apply: `int (*)[4]` is an array,
    /// then a pointer.
    pub derivations: Vec<Derivation>,
    /// The position in the source, in bytes.
    pub span: Range<usize>,
}

/// A derivation from a type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Derivation {
    /// `*`
    Pointer,
    /// `&`
    Reference,
    /// `&&`
    RvalueReference,
    /// `Class::*`
    MemberPointer(Box<str>),
    /// `[4]`
    Array(u64),
    /// `(int, char *)`
    Function(Parameters),
}

/// The parameters of a function type.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Parameters {
    /// The types, in order.
    pub types: Vec<TypeName>,
    /// True if `...` follows.
    pub is_variadic: bool,
    /// True if it is a `const` member function.
    pub is_const: bool,
}

impl fmt::Display for TypeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut declarator = String::new();
        let mut is_pointer = false;
        for derivation in self.derivations.iter().rev() {
            let is_behind = matches!(derivation, Derivation::Array(_) | Derivation::Function(_));
            if is_behind && is_pointer {
                declarator = format!("({declarator})");
            }
            declarator = match derivation {
                Derivation::Pointer => format!("*{declarator}"),
                Derivation::Reference => format!("&{declarator}"),
                Derivation::RvalueReference => format!("&&{declarator}"),
                Derivation::MemberPointer(class) => format!("{class}::*{declarator}"),
                Derivation::Array(count) => format!("{declarator}[{count}]"),
                Derivation::Function(parameters) => format!("{declarator}{parameters}"),
            };
            is_pointer = !is_behind;
        }
        f.write_str(&self.name)?;
        if !declarator.is_empty() {
            write!(f, " {declarator}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Parameters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut list: Vec<String> = self.types.iter().map(TypeName::to_string).collect();
        if self.is_variadic {
            list.push("...".to_owned());
        }
        write!(f, "({})", list.join(", "))?;
        f.write_str(if self.is_const { " const" } else { "" })
    }
}
