//! The words of C's arithmetic types, which may come in any order (ISO C, 6.7.3): `long int`,
//! `int long` and `long` are one type, and `long unsigned int` is another.

use super::{Encoding, Source, Type};
use crate::names::ArithmeticWords;

/// Returns the arithmetic type of C with these words.
pub(super) fn builtin_of_words(name: &str) -> Option<Type> {
    let counts = ArithmeticWords::of(name).filter(ArithmeticWords::are_one_type)?;
    let is_unsigned = counts.unsigned > 0;
    let whole = if is_unsigned {
        Encoding::Unsigned
    } else {
        Encoding::Signed
    };
    let (name, encoding, size) = if counts.double > 0 {
        match counts.long {
            0 => ("double", Encoding::Float, 8),
            _ => ("long double", Encoding::Float, 16),
        }
    } else if counts.char > 0 {
        match (counts.signed, is_unsigned) {
            (0, false) => ("char", Encoding::SignedCharacter, 1),
            (_, false) => ("signed char", Encoding::SignedCharacter, 1),
            (_, true) => ("unsigned char", Encoding::UnsignedCharacter, 1),
        }
    } else {
        let is_long = counts.long;
        let (name, unsigned, size) = match (counts.int128, counts.short, is_long) {
            (1, ..) => ("__int128", "unsigned __int128", 16),
            (_, 1, _) => ("short", "unsigned short", 2),
            (_, _, 0) => ("int", "unsigned int", 4),
            (_, _, 1) => ("long", "unsigned long", 8),
            (_, _, 2) => ("long long", "unsigned long long", 8),
            _ => return None,
        };
        (if is_unsigned { unsigned } else { name }, whole, size)
    };
    Some(Type {
        source: Source::Builtin {
            name,
            encoding,
            size,
        },
    })
}

/// Returns whether a name is that of an arithmetic type of C, in any order of its words.
pub fn is_base_type(name: &str) -> bool {
    builtin_of_words(name).is_some()
}

/// The names of Rust's arithmetic types, with their encodings and sizes.
const OF_RUST: &[(&str, Encoding, u64)] = &[
    ("i8", Encoding::Signed, 1),
    ("i16", Encoding::Signed, 2),
    ("i32", Encoding::Signed, 4),
    ("i64", Encoding::Signed, 8),
    ("i128", Encoding::Signed, 16),
    ("isize", Encoding::Signed, 8),
    ("u8", Encoding::Unsigned, 1),
    ("u16", Encoding::Unsigned, 2),
    ("u32", Encoding::Unsigned, 4),
    ("u64", Encoding::Unsigned, 8),
    ("u128", Encoding::Unsigned, 16),
    ("usize", Encoding::Unsigned, 8),
    ("f32", Encoding::Float, 4),
    ("f64", Encoding::Float, 8),
];

/// Returns whether a base type made without debug information is one of Rust.
pub(super) fn is_of_rust(name: &str) -> bool {
    OF_RUST.iter().any(|(known, ..)| *known == name)
}

impl Type {
    /// Returns an arithmetic type of Rust, which computes as in Rust. Needs no debug
    /// information.
    pub fn builtin_of_rust(name: &str) -> Option<Type> {
        let (name, encoding, size) = OF_RUST.iter().find(|(known, ..)| *known == name)?;
        Some(Type {
            source: Source::Builtin {
                name,
                encoding: *encoding,
                size: *size,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(spellings: &[&str], expected: Option<(&str, u64)>) {
        for spelling in spellings {
            let found = builtin_of_words(spelling).map(|it| (it.name(), it.size()));
            let expected = expected.map(|(name, size)| (name.to_owned(), Some(size)));
            assert_eq!(found, expected, "{spelling}");
        }
    }

    #[test]
    fn words_name_one_type_in_any_order() {
        check(
            &["int", "signed", "signed int", "int signed"],
            Some(("int", 4)),
        );
        check(
            &[
                "long",
                "long int",
                "int long",
                "signed long int",
                "int long signed",
            ],
            Some(("long", 8)),
        );
        check(
            &["long unsigned int", "unsigned long", "int unsigned long"],
            Some(("unsigned long", 8)),
        );
        check(
            &["long unsigned long", "unsigned long long int"],
            Some(("unsigned long long", 8)),
        );
        check(
            &["short", "int short", "signed short int"],
            Some(("short", 2)),
        );
        check(&["char"], Some(("char", 1)));
        check(&["signed char", "char signed"], Some(("signed char", 1)));
        check(&["unsigned", "int unsigned"], Some(("unsigned int", 4)));
        check(&["long double", "double long"], Some(("long double", 16)));
        check(&["__int128", "signed __int128"], Some(("__int128", 16)));
        check(&["__int128 unsigned"], Some(("unsigned __int128", 16)));
        check(
            &[
                "",
                "short char",
                "long char",
                "long short",
                "long long long",
                "signed unsigned",
                "unsigned unsigned",
                "int int",
                "char int",
                "unsigned double",
                "long long double",
                "double int",
                "queue",
            ],
            None,
        );
    }
}
