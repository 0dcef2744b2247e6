//! Parameter types in function names, which select an overload: `area(int)`.
//!
//! Users write types freely (`const char*`, `unsigned`, `string const &`); the debug
//! information and mangled names have their own spellings. All are normalized to
//! [`Written`] and compared.

use crate::dwarf::{DebugInfo, DieRef};
use crate::{Function, SymbolFile, Type, TypeKind, parameters};
use std::sync::Arc;

/// The maximum number of typedefs followed.
const NAMES_MAX: usize = 16;
/// The maximum nesting of template arguments.
const DEPTH_MAX: usize = 16;

/// Splits `area(int, char)` into `area` and the types; `None` if the name does not end with
/// a parameter list. `operator()` and `(anonymous namespace)` are parts of names.
pub(crate) fn split(name: &str) -> Option<(&str, Vec<&str>)> {
    let inside = without_qualifiers(name).0.strip_suffix(')')?;
    let mut depth = 1;
    let open = inside.char_indices().rev().find_map(|(at, c)| {
        match c {
            ')' => depth += 1,
            '(' => depth -= 1,
            _ => {}
        }
        (depth == 0).then_some(at)
    })?;
    let (plain, list) = inside.split_at(open);
    let plain = plain.trim_end();
    let is_name = !plain.is_empty() && !plain.ends_with("::") && !plain.ends_with("operator");
    let list = list.strip_prefix('(').unwrap_or(list).trim();
    is_name.then(|| (plain, types_of(list)))
}

/// The qualifiers of a member function: `const`, `volatile`, `&`, `&&`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Qualifiers {
    is_const: bool,
    is_volatile: bool,
    is_lvalue: bool,
    is_rvalue: bool,
}

/// Splits off the qualifiers behind a parameter list.
fn without_qualifiers(name: &str) -> (&str, Qualifiers) {
    let mut rest = name.trim_end();
    let mut found = Qualifiers::default();
    loop {
        let mut none = false;
        let taken = [
            ("&&", &mut found.is_rvalue),
            ("&", &mut found.is_lvalue),
            ("const", &mut found.is_const),
            ("volatile", &mut found.is_volatile),
            ("noexcept", &mut none),
        ]
        .into_iter()
        .find_map(|(word, is_there)| Some((rest.strip_suffix(word)?, is_there)));
        let Some((before, is_there)) = taken else {
            return (rest, found);
        };
        *is_there = true;
        rest = before.trim_end();
    }
}

/// The qualifiers of a function by its mangled name (*Itanium C++ ABI*, section 5.1.3).
fn mangled_qualifiers(linkage_name: &str) -> Qualifiers {
    let letters = linkage_name.strip_prefix("_ZN").unwrap_or("");
    let mut found = Qualifiers::default();
    for letter in letters.chars() {
        match letter {
            'K' => found.is_const = true,
            'V' => found.is_volatile = true,
            'R' => found.is_lvalue = true,
            'O' => found.is_rvalue = true,
            'r' => {}
            _ => break,
        }
    }
    found
}

/// Keeps the functions with the qualifiers that stand behind a written parameter list. If none
/// stand there, functions with qualifiers are kept where none of the same name is without.
pub(crate) fn keep_qualified(functions: &mut Vec<Function>, written: &str) {
    let asked = without_qualifiers(written).1;
    let has = |function: &Function| {
        let linkage_name = function.linkage_name.as_deref();
        linkage_name.is_none_or(|name| mangled_qualifiers(name) == asked)
    };
    let exact: Vec<Arc<str>> = functions
        .iter()
        .filter(|function| has(function))
        .map(|function| Arc::clone(&function.name))
        .collect();
    let is_unqualified = asked == Qualifiers::default();
    functions.retain(|it| has(it) || is_unqualified && !exact.contains(&it.name));
}

/// Splits a list of types at its commas.
fn types_of(list: &str) -> Vec<&str> {
    if list.is_empty() || list == "void" {
        return Vec::new();
    }
    let mut depth = 0;
    let is_comma = |c: char| {
        match c {
            '<' | '(' | '[' => depth += 1,
            '>' | ')' | ']' => depth -= 1,
            _ => {}
        }
        c == ',' && depth == 0
    };
    list.split(is_comma).map(str::trim).collect()
}

/// A normalized type: `unsigned long const *` has the base `unsigned long`, is `const`, and
/// has the suffix `*`.
#[derive(Debug, PartialEq, Eq, Default)]
struct Written {
    base: String,
    is_const: bool,
    is_volatile: bool,
    behind: String,
}

impl Written {
    fn read(text: &str) -> Written {
        let words = words_of(text);
        written(&mut words.as_slice(), DEPTH_MAX)
    }

    /// Returns whether `asked`, in which the user may omit scopes, matches this type.
    fn is_matched_by(&self, asked: &Written) -> bool {
        let is_whole = |rest: &str| {
            // Trailing template arguments, usually defaults, may be omitted.
            rest.is_empty() || asked.base.ends_with('>') && rest.starts_with(',')
        };
        let start = asked.base.strip_suffix('>').unwrap_or(&asked.base);
        let mut found = self.base.match_indices(start);
        let is_base = found.any(|(at, _)| {
            let (scopes, rest) = self.base.split_at(at);
            let rest = rest.get(start.len()..).unwrap_or("");
            let is_scope = scopes.is_empty() || scopes.ends_with("::");
            let rest = if asked.base.ends_with('>') {
                rest.strip_prefix('>').unwrap_or(rest)
            } else {
                rest
            };
            is_scope && !scopes.contains('<') && is_whole(rest)
        });
        // Qualifiers of a parameter passed by value do not matter.
        let is_copy = self.behind.is_empty();
        let is_qualified = self.is_const == asked.is_const && self.is_volatile == asked.is_volatile;
        is_base && self.behind == asked.behind && (is_copy || is_qualified)
    }
}

/// Splits a type into qualified names and single characters.
fn words_of(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = text.trim();
    while let Some(first) = rest.chars().next() {
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':' | '$' | '~');
        let end = if is_part(first) {
            rest.find(|c| !is_part(c)).unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        let (word, after) = rest.split_at(end);
        words.push(word);
        rest = after.trim_start();
    }
    words
}

fn written(words: &mut &[&str], depth: usize) -> Written {
    let mut names: Vec<String> = Vec::new();
    let mut found = Written::default();
    while let [word, rest @ ..] = *words {
        match *word {
            "const" => found.is_const = true,
            "volatile" => found.is_volatile = true,
            "struct" | "class" | "union" | "enum" => {}
            "<" if depth > 0 => {
                *words = rest;
                let arguments = arguments(words, depth - 1);
                if let Some(last) = names.last_mut() {
                    last.push_str(&arguments);
                }
                continue;
            }
            "," | ">" => break,
            name if name.starts_with(|c: char| c.is_alphanumeric() || "_:$~".contains(c)) => {
                // `Vec<T>::iterator` continues after the template arguments.
                match names.last_mut() {
                    Some(last) if name.starts_with("::") => last.push_str(name),
                    _ => names.push(without_versions(name)),
                }
            }
            _ => {
                found.behind = rest_of(words);
                break;
            }
        }
        *words = words.get(1..).unwrap_or(&[]);
    }
    found.base = arithmetic(&names).unwrap_or_else(|| names.join(" "));
    found
}

/// Normalizes template arguments with their brackets.
pub(crate) fn normal_arguments(text: &str) -> String {
    let words = words_of(text);
    arguments(&mut words.get(1..).unwrap_or(&[]), DEPTH_MAX)
}

/// Normalizes template arguments up to their `>`.
fn arguments(words: &mut &[&str], depth: usize) -> String {
    let mut list = Vec::new();
    loop {
        let argument = written(words, depth);
        let qualified = [
            ("const ", argument.is_const),
            ("volatile ", argument.is_volatile),
        ];
        let words_before = qualified
            .iter()
            .filter(|(_, is)| *is)
            .map(|(word, _)| *word);
        list.push(format!(
            "{}{}{}",
            words_before.collect::<String>(),
            argument.base,
            argument.behind
        ));
        match *words {
            [",", rest @ ..] => *words = rest,
            [_, rest @ ..] => {
                *words = rest;
                break;
            }
            [] => break,
        }
    }
    format!("<{}>", list.join(","))
}

/// Returns `*` and other suffixes up to the end of the argument.
fn rest_of(words: &mut &[&str]) -> String {
    let mut depth = 0;
    let mut text = String::new();
    while let [word, rest @ ..] = *words {
        match *word {
            "," | ">" if depth == 0 => break,
            "<" | "(" | "[" => depth += 1,
            ">" | ")" | "]" => depth -= 1,
            _ => {}
        }
        text.push_str(word);
        *words = rest;
    }
    text
}

/// Returns a name without the inline namespaces of library versions.
fn without_versions(name: &str) -> String {
    name.trim_start_matches("::")
        .replace("::__cxx11::", "::")
        .replace("std::__1::", "std::")
}

/// Returns the normalized name of a C arithmetic type: `unsigned long` for `long unsigned
/// int`.
fn arithmetic(names: &[String]) -> Option<String> {
    let count = |wanted: &str| names.iter().filter(|name| *name == wanted).count();
    let is_word = |name: &String| {
        let words = [
            "unsigned", "signed", "long", "short", "int", "char", "double",
        ];
        words.contains(&name.as_str())
    };
    if names.is_empty() || !names.iter().all(is_word) {
        return None;
    }
    let sign = match (
        count("unsigned") > 0,
        count("signed") > 0 && count("char") > 0,
    ) {
        (true, _) => "unsigned ",
        (_, true) => "signed ",
        _ => "",
    };
    let size = match (count("long"), count("short")) {
        (0, 0) if count("char") > 0 => "char",
        (0, 0) if count("double") > 0 => "double",
        (0, 0) => "int",
        (0, _) => "short",
        (1, _) if count("double") > 0 => "long double",
        (1, _) => "long",
        _ => "long long",
    };
    Some(format!("{sign}{size}"))
}

impl SymbolFile {
    /// Returns the name of a function with its parameter types if known: `area(int,
    /// double)`.
    pub fn name_with_parameters(&self, function: &Function) -> String {
        let described = self.inner.debug_info().zip(function.die);
        let types = match described {
            Some((info, die)) => Some(types_in(info, die).iter().map(Type::name).collect()),
            None => mangled_types(function),
        };
        let types: Option<Vec<String>> = types;
        match types {
            Some(types) => format!("{}({})", function.name, types.join(", ")),
            None => function.name.to_string(),
        }
    }

    /// Returns whether a function has parameters of these types, as far as known.
    pub(crate) fn takes(&self, function: &Function, wanted: &[&str]) -> bool {
        let described = self.inner.debug_info().zip(function.die);
        let is_described = described.is_some_and(|(info, die)| entry_takes(info, die, wanted));
        // The mangled name has other spellings of the same types.
        is_described
            || mangled_types(function).is_some_and(|types| {
                let types: Vec<Vec<String>> = types.into_iter().map(|name| vec![name]).collect();
                all_match(&types, wanted)
            })
    }
}

/// Returns whether the function of a DIE has parameters of these types.
pub(crate) fn entry_takes(info: &Arc<DebugInfo>, function: DieRef, wanted: &[&str]) -> bool {
    let types: Vec<Vec<String>> = types_in(info, function).iter().map(names_of).collect();
    all_match(&types, wanted)
}

/// Returns whether each parameter, given by all its names, matches.
fn all_match(types: &[Vec<String>], wanted: &[&str]) -> bool {
    types.len() == wanted.len()
        && types.iter().zip(wanted).all(|(names, wanted)| {
            let wanted = Written::read(wanted);
            let mut names = names.iter();
            names.any(|name| Written::read(name).is_matched_by(&wanted))
        })
}

/// Returns the parameter types of a function, without generated parameters (`this`).
fn types_in(info: &Arc<DebugInfo>, function: DieRef) -> Vec<Type> {
    let parameters = parameters::parameters(info, function).into_iter();
    let own = parameters.filter(|parameter| !parameter.artificial);
    own.map(|parameter| parameter.r#type).collect()
}

/// Returns the names of a type: its own, and those of the types that its typedefs stand
/// for.
fn names_of(r#type: &Type) -> Vec<String> {
    let mut names = vec![r#type.name()];
    let mut inner = r#type.clone();
    for _ in 0..NAMES_MAX {
        inner = match inner.kind() {
            TypeKind::Typedef(to) => to,
            TypeKind::Const(to) | TypeKind::Volatile(to) | TypeKind::Qualified(to) => to,
            _ => break,
        };
        names.push(inner.name());
    }
    names
}

/// Returns the parameter types in the function's mangled name.
pub(crate) fn mangled_types(function: &Function) -> Option<Vec<String>> {
    let raw = function.linkage_name.as_deref()?;
    let readable = crate::names::demangle_whole(raw)?;
    let (_, types) = split(&readable)?;
    Some(types.into_iter().map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn qualifiers_are_read_from_both_spellings() {
        for (written, linkage_name, expected) in [
            ("X::get()", "_ZN1X3getEv", true),
            ("X::get() const", "_ZNK1X3getEv", true),
            ("X::get()", "_ZNK1X3getEv", false),
            ("X::get() const", "_ZN1X3getEv", false),
            ("X::where() &", "_ZNR1X5whereEv", true),
            ("X::where()&&", "_ZNO1X5whereEv", true),
            ("X::where() &", "_ZNO1X5whereEv", false),
            ("X::f() const volatile", "_ZNVK1X1fEv", true),
            ("X::f() const & noexcept", "_ZNKR1X1fEv", true),
            ("f(int)", "_Z1fi", true),
            ("f(int)", "", true),
        ] {
            let is_same = without_qualifiers(written).1 == mangled_qualifiers(linkage_name);
            assert_eq!(is_same, expected, "{written} {linkage_name}");
        }
    }

    #[test]
    fn parameters_are_split_off_names() {
        for (name, expected) in [
            ("area(int)", Some(("area", vec!["int"]))),
            ("area()", Some(("area", vec![]))),
            ("area(void)", Some(("area", vec![]))),
            (
                "ns::f(std::map<int, char>, int (*)(int, int)) const",
                Some(("ns::f", vec!["std::map<int, char>", "int (*)(int, int)"])),
            ),
            (
                "Point::operator()(int)",
                Some(("Point::operator()", vec!["int"])),
            ),
            ("Point::operator()", None),
            ("ns::(anonymous namespace)::helper", None),
            ("ns::(anonymous namespace)", None),
            ("max<int>", None),
            ("main", None),
            ("(int)", None),
            (")", None),
        ] {
            assert_eq!(split(name), expected, "{name}");
        }
    }

    #[test]
    fn types_are_the_same_in_all_notations() {
        for (known, asked, expected) in [
            ("int", "int", true),
            ("int", "unsigned", false),
            ("unsigned int", "unsigned", true),
            ("long unsigned int", "unsigned long", true),
            ("long int", "long", true),
            ("long int", "int", false),
            ("long long int", "long long", true),
            ("short int", "short", true),
            ("const char *", "char const*", true),
            ("const char *", "char *", false),
            ("const int", "int", true),
            ("char", "signed char", false),
            ("struct queue *", "queue*", true),
            ("std::__cxx11::string", "std::string", true),
            ("const std::string &", "string const &", true),
            ("ns::Shape &", "Shape&", true),
            ("ns::Shape &", "ape&", false),
            ("std::vector<unsigned int>", "vector<unsigned>", true),
            (
                "std::map<int, char const*> &",
                "std::map<int,const char *>&",
                true,
            ),
            ("std::map<int, char>", "std::map<int, int>", false),
            (
                "std::vector<int, std::allocator<int> >",
                "vector<int>",
                true,
            ),
            ("std::vector<int, std::allocator<int> >", "vector<i>", false),
            ("std::pair<std::string, int>", "string", false),
            ("std::pair<ns::string, int>", "string", false),
            ("int (*)(int, int)", "int(*)(int,int)", true),
            ("std::vector<int>::iterator", "vector<int>::iterator", true),
            ("&str", "&str", true),
            ("", "", true),
        ] {
            let (one, other) = (Written::read(known), Written::read(asked));
            assert_eq!(one.is_matched_by(&other), expected, "{known} for {asked}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read(text in ".*") {
            let _ = split(&text);
            let _ = Written::read(&text);
        }
    }
}
