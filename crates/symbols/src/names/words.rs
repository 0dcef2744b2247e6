//! Search for words of readable names in mangled ones.
//!
//! A mangled name contains each identifier literally at least once; repetitions refer to
//! the first. So a word of an identifier is found without demangling. Not literal are the
//! names of types, operators and closures, numbers, and the most frequent names of the
//! standard library; words that may be part of these are searched in demangled names.

use super::{demangle, end_of_rust_hash};
use memchr::memmem;

/// A word of letters, digits and `_`.
pub(crate) struct Word<'a> {
    finder: memmem::Finder<'a>,
    /// Whether readable names may contain it although the mangled ones do not.
    is_shortened: bool,
}

impl<'a> Word<'a> {
    /// Prepares the search for a word.
    pub fn new(word: &'a str) -> Word<'a> {
        let is_shortened = may_be_shortened(word)
            || is_part_of_standard(word)
            || GENERATED.iter().any(|it| it.contains(word));
        Word {
            finder: memmem::Finder::new(word),
            is_shortened,
        }
    }

    /// Returns whether the readable form of a name contains the word.
    pub fn is_in(&self, raw: &str) -> bool {
        if self.finder.find(raw.as_bytes()).is_some() {
            return true;
        }
        let is_mangled = raw.starts_with("_Z") || raw.starts_with("_R");
        if !self.is_shortened || !is_mangled || is_literal_rust(raw) {
            return false;
        }
        demangle(raw).is_some_and(|name| self.finder.find(name.as_bytes()).is_some())
    }
}

/// Returns whether a name has Rust's legacy mangling and contains all words of its readable
/// form: lengths and identifiers, with only symbols escaped.
fn is_literal_rust(raw: &str) -> bool {
    let Some(end) = end_of_rust_hash(raw) else {
        return false;
    };
    let mut rest = raw.get("_ZN".len()..end).unwrap_or("");
    while let Some(digits) = rest
        .find(|it: char| !it.is_ascii_digit())
        .filter(|it| *it > 0)
    {
        let (length, behind) = rest.split_at(digits);
        let length = length.parse().ok();
        match length.and_then(|length: usize| behind.split_at_checked(length)) {
            Some((_, behind)) => rest = behind,
            None => return false,
        }
    }
    // `$u7b$` is a symbol given by its code.
    let mut numbered = raw.split("$u").skip(1);
    rest == "E"
        && numbered.all(|it| {
            let number = it.split('$').next();
            let sign = number.and_then(|it| u8::from_str_radix(it, 16).ok());
            sign.is_some_and(|it| it.is_ascii() && !it.is_ascii_alphanumeric() && it != b'_')
        })
}

/// The words that Rust's v0 mangling abbreviates.
const SHORTENED: &[&str] = &[
    "bool", "char", "isize", "usize", "i128", "u128", "f128", "true", "false", "closure", "shim",
    "impl", "const", "unsafe", "extern", "punycode",
];

/// Returns whether readable Rust names may contain this word although the mangled ones do
/// not.
pub(crate) fn may_be_shortened(word: &str) -> bool {
    // Numbers are written in another base, and the other types have at most three letters.
    let is_like_number = word.starts_with(|first: char| first.is_ascii_digit());
    word.len() < 4 || is_like_number || SHORTENED.iter().any(|it| it.contains(word))
}

/// The words that C++ mangled names abbreviate.
const STANDARD: &[&str] = &[
    "allocator",
    "basic_string",
    "char_traits",
    "basic_istream",
    "basic_ostream",
    "basic_iostream",
];

/// Returns whether a word is part of one that C++ mangled names abbreviate.
pub(super) fn is_part_of_standard(word: &str) -> bool {
    STANDARD.iter().any(|it| it.contains(word))
}

/// The words of readable C++ names that are not identifiers, from four letters on.
const GENERATED: &[&str] = &[
    "namespace",
    "anonymous",
    "operator",
    "lambda",
    "unnamed",
    "parm",
    "type",
    "literal",
    "clone",
    "auto",
    "decltype",
    "nullptr_t",
    "this",
    "delete",
    "class",
    "enum",
    "union",
    "throw",
    "noexcept",
    "sizeof",
    "alignof",
    "typeid",
    "const_cast",
    "dynamic_cast",
    "reinterpret_cast",
    "static_cast",
    "volatile",
    "restrict",
    "complex",
    "imaginary",
    "__vector",
    "unsigned",
    "signed",
    "short",
    "long",
    "double",
    "float",
    "wchar_t",
    "char8_t",
    "char16_t",
    "char32_t",
    "decimal32",
    "decimal64",
    "decimal128",
    "half",
    "bfloat16_t",
    "_Float",
    "_BitInt",
    "_Accum",
    "_Fract",
    "__int128",
    "__float128",
    "_Sat",
    "typeinfo",
    "vtable",
    "construction",
    "guard",
    "variable",
    "reference",
    "temporary",
    "global",
    "constructors",
    "destructors",
    "keyed",
    "java",
    "resource",
    "invocation",
    "function",
    "block",
    "init",
    "wrapper",
    "transaction",
    "virtual",
    "override",
    "thunk",
    "covariant",
    "offset",
    "void",
    "name",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(raw: &str, word: &str, expected: bool) {
        assert_eq!(Word::new(word).is_in(raw), expected, "{word} in {raw}");
    }

    #[test]
    fn words_of_mangled_names() {
        let push = "_ZNSt6vectorIjSaIjEE9push_backERKj";
        check(push, "push_back", true);
        check(push, "vector", true);
        check(push, "allocator", true);
        check(push, "unsigned", true);
        check(push, "push_front", false);
        check("_ZN5queuelsEi", "operator", true);
        check("_ZNSs6appendEPKc", "basic_string", false);
        check("_ZNSs6appendEPKc", "string", true);
        check("_ZN1a1bILi12345EEEvv", "12345", true);
        check("plain_name", "plain", true);
        check("plain_name", "operator", false);
    }

    /// Checks each word of each readable name of this program and of the C++ library.
    #[test]
    fn no_word_of_a_readable_name_is_missed() {
        let own = std::env::current_exe().expect("this program");
        check_symbols(&own);
        let library = std::path::Path::new("/usr/lib/x86_64-linux-gnu/libstdc++.so.6");
        if library.exists() {
            check_symbols(library);
        }
    }

    fn check_symbols(path: &std::path::Path) {
        use object::{Object as _, ObjectSymbol as _};
        let bytes = std::fs::read(path).expect("its bytes");
        let file = object::File::parse(&*bytes).expect("a program");
        let symbols = file.symbols().chain(file.dynamic_symbols());
        for raw in symbols.filter_map(|symbol| symbol.name().ok()) {
            let readable = demangle(raw).unwrap_or_default();
            let parts = readable.split(|it: char| !it.is_ascii_alphanumeric() && it != '_');
            for word in parts.filter(|part| !part.is_empty()) {
                check(raw, word, true);
            }
        }
    }
}
