//! The words of the languages.

use crate::{Kind, Language};

/// Keywords of C, sorted; those that GNU adds are among them.
const C: &[&str] = &[
    "_Alignas",
    "_Alignof",
    "_Atomic",
    "_Generic",
    "_Noreturn",
    "_Static_assert",
    "_Thread_local",
    "__asm__",
    "__attribute__",
    "__extension__",
    "__inline",
    "__inline__",
    "__restrict",
    "__restrict__",
    "__thread",
    "__typeof__",
    "__volatile__",
    "alignas",
    "alignof",
    "asm",
    "auto",
    "break",
    "case",
    "const",
    "constexpr",
    "continue",
    "default",
    "do",
    "else",
    "enum",
    "extern",
    "false",
    "for",
    "goto",
    "if",
    "inline",
    "nullptr",
    "register",
    "restrict",
    "return",
    "sizeof",
    "static",
    "static_assert",
    "struct",
    "switch",
    "thread_local",
    "true",
    "typedef",
    "typeof",
    "union",
    "volatile",
    "while",
];

/// Keywords that C++ has beyond those of C, sorted.
const CPP: &[&str] = &[
    "and",
    "and_eq",
    "bitand",
    "bitor",
    "catch",
    "class",
    "co_await",
    "co_return",
    "co_yield",
    "compl",
    "concept",
    "const_cast",
    "consteval",
    "constinit",
    "decltype",
    "delete",
    "dynamic_cast",
    "explicit",
    "export",
    "final",
    "friend",
    "mutable",
    "namespace",
    "new",
    "noexcept",
    "not",
    "not_eq",
    "operator",
    "or",
    "or_eq",
    "override",
    "private",
    "protected",
    "public",
    "reinterpret_cast",
    "requires",
    "static_cast",
    "template",
    "this",
    "throw",
    "try",
    "typeid",
    "typename",
    "using",
    "virtual",
    "xor",
    "xor_eq",
];

/// Keywords of Rust, sorted.
const RUST: &[&str] = &[
    "as",
    "async",
    "await",
    "break",
    "const",
    "continue",
    "crate",
    "dyn",
    "else",
    "enum",
    "extern",
    "false",
    "fn",
    "for",
    "if",
    "impl",
    "in",
    "let",
    "loop",
    "macro_rules",
    "match",
    "mod",
    "move",
    "mut",
    "pub",
    "ref",
    "return",
    "self",
    "static",
    "struct",
    "super",
    "trait",
    "true",
    "type",
    "union",
    "unsafe",
    "use",
    "where",
    "while",
];

/// Types of C and C++, sorted; other names that end in `_t` are types, too.
const C_TYPES: &[&str] = &[
    "FILE", "_Bool", "_Complex", "bool", "char", "double", "float", "int", "long", "short",
    "signed", "unsigned", "va_list", "void",
];

/// Types of Rust, sorted; other names in capitals and small letters are types, too.
const RUST_TYPES: &[&str] = &[
    "bool", "char", "f128", "f16", "f32", "f64", "i128", "i16", "i32", "i64", "i8", "isize", "str",
    "u128", "u16", "u32", "u64", "u8", "usize",
];

/// Returns the kind of a word.
pub(crate) fn kind_of(language: Language, word: &str) -> Option<Kind> {
    let is_in = |words: &[&str]| words.binary_search(&word).is_ok();
    let (is_keyword, is_type) = match language {
        Language::C => (is_in(C), is_in(C_TYPES) || is_typedef(word)),
        Language::Cpp => (is_in(C) || is_in(CPP), is_in(C_TYPES) || is_typedef(word)),
        Language::Rust => (is_in(RUST), is_in(RUST_TYPES) || is_camel_case(word)),
    };
    match (is_keyword, is_type) {
        (true, _) => Some(Kind::Keyword),
        (_, true) => Some(Kind::Type),
        _ => None,
    }
}

/// Returns whether a word has the ending of a type of C: `size_t`.
fn is_typedef(word: &str) -> bool {
    word.len() > 2 && word.ends_with("_t")
}

/// Returns whether a word is written as a type of Rust: `Vec`, `T`. A constant has no small
/// letters, and more than one capital.
fn is_camel_case(word: &str) -> bool {
    let mut characters = word.chars();
    let is_capital = characters.next().is_some_and(char::is_uppercase);
    let rest = characters.as_str();
    is_capital && (rest.is_empty() || rest.contains(char::is_lowercase))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_sorted() {
        for table in [C, CPP, RUST, C_TYPES, RUST_TYPES] {
            assert!(table.is_sorted(), "{table:?}");
        }
    }

    #[test]
    fn words_have_the_kind_of_their_language() {
        let (keyword, of_type) = (Some(Kind::Keyword), Some(Kind::Type));
        for (language, word, expected) in [
            (Language::C, "while", keyword),
            (Language::C, "class", None),
            (Language::Cpp, "class", keyword),
            (Language::Cpp, "while", keyword),
            (Language::C, "uint8_t", of_type),
            (Language::C, "_t", None),
            (Language::C, "unsigned", of_type),
            (Language::C, "Vec", None),
            (Language::Rust, "Vec", of_type),
            (Language::Rust, "T", of_type),
            (Language::Rust, "Self", of_type),
            (Language::Rust, "LINES_MAX", None),
            (Language::Rust, "size_t", None),
            (Language::Rust, "usize", of_type),
        ] {
            assert_eq!(kind_of(language, word), expected, "{word}");
        }
    }
}
