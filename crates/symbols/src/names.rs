//! Names as users write them, matched against names as compilers write them.
//!
//! A user says `method`, `Class::method` or `ns::Class::method`; the file
//! says `_ZN2ns5Class6methodIiEEvT_`. Both become a list of components
//! without template arguments, parameters and anonymous scopes, and the
//! user's must be the end of the compiler's.

use std::fmt;

/// The most bytes that the readable form of a name takes. A mangled name may
/// repeat its parts, and repeat the repetitions: a few hundred bytes stand for
/// more text than any memory holds.
const READABLE_LENGTH_MAX: usize = 64 << 10;

/// The readable form of a mangled C++ or Rust name, without parameters;
/// `None` for a plain name, and for one whose readable form is out of bounds.
pub fn demangle(raw: &str) -> Option<String> {
    let (mangled, clone) = split_clone(raw);
    if let Ok(name) = rustc_demangle::try_demangle(mangled) {
        return Some(format!("{name:#}{}", clone.unwrap_or("")));
    }
    if !mangled.starts_with("_Z") {
        return None;
    }
    let options = cpp_demangle::DemangleOptions::new()
        .no_params()
        .no_return_type();
    let symbol = cpp_demangle::Symbol::new(mangled).ok()?;
    let mut name = Bounded(String::new());
    symbol.structured_demangle(&mut name, &options).ok()?;
    Some(format!("{}{}", name.0, clone.unwrap_or("")))
}

/// Text that refuses to grow beyond [`READABLE_LENGTH_MAX`].
struct Bounded(String);

impl fmt::Write for Bounded {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if text.len() > READABLE_LENGTH_MAX - self.0.len() {
            return Err(fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}

/// Splits the suffix that gcc and LLVM append to the copies they make
/// (`foo.constprop.0` into `foo` and `.constprop.0`).
pub(crate) fn split_clone(name: &str) -> (&str, Option<&str>) {
    let search_from = end_of_rust_hash(name).unwrap_or(0);
    let dot = name.get(search_from..).and_then(|rest| rest.find('.'));
    match dot.map(|at| at + search_from) {
        Some(at) if at > 0 => {
            let (base, suffix) = name.split_at(at);
            (base, Some(suffix))
        }
        _ => (name, None),
    }
}

/// Where the hash ends that closes an old mangled name of Rust, whose
/// identifiers may hold dots (`_ZN…$LT$a..b$GT$…17h0123456789abcdefE`).
fn end_of_rust_hash(name: &str) -> Option<usize> {
    const MARK: &str = "17h";
    const LENGTH: usize = MARK.len() + 16;
    if !name.starts_with("_ZN") {
        return None;
    }
    let at = name.rfind(MARK)?;
    let hash = name.get(at + MARK.len()..at + LENGTH)?;
    let closed = name.get(at + LENGTH..)?.starts_with('E');
    (closed && hash.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(at + LENGTH + 1)
}

/// What a clone suffix says about the code it names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CloneKind {
    /// The whole function, specialised (`.constprop`, `.isra`, `.llvm`).
    Instance,
    /// An outlined part that other code calls (`.part`).
    Part,
    /// Moved code that is jumped to (`.cold`).
    Fragment,
}

pub(crate) fn clone_kind(suffix: &str) -> CloneKind {
    let mut words = suffix.split('.');
    if words.clone().any(|word| word == "cold") {
        CloneKind::Fragment
    } else if words.any(|word| word == "part") {
        CloneKind::Part
    } else {
        CloneKind::Instance
    }
}

/// The components of a qualified name, as they are compared.
pub(crate) fn components(name: &str) -> Vec<&str> {
    let mut found = Vec::new();
    collect(name, &mut found, 0);
    found
}

fn collect<'a>(name: &'a str, found: &mut Vec<&'a str>, depth: u8) {
    let mut rest = name.trim();
    while !rest.is_empty() {
        let (component, after) = split_component(rest);
        if let Some(inner) = component.strip_prefix('<') {
            // `<Type as Trait>` in Rust: the type is what users name.
            let inner = inner.strip_suffix('>').unwrap_or(inner);
            let subject = split_at_depth_zero(inner, " as ").unwrap_or(inner);
            if depth < 8 {
                collect(subject, found, depth + 1);
            }
        } else {
            let plain = plain_component(component);
            let invisible =
                plain.is_empty() || plain.starts_with("{impl#") || plain == "{anonymous}";
            if !invisible {
                found.push(plain);
            }
        }
        rest = after;
    }
}

/// The first component of a name and what follows its `::`.
fn split_component(name: &str) -> (&str, &str) {
    if is_operator(name) {
        return (name, "");
    }
    match find_at_depth_zero(name, "::") {
        Some(at) => (
            name.get(..at).unwrap_or(name),
            name.get(at + 2..).unwrap_or(""),
        ),
        None => (name, ""),
    }
}

fn split_at_depth_zero<'a>(text: &'a str, separator: &str) -> Option<&'a str> {
    text.get(..find_at_depth_zero(text, separator)?)
}

fn find_at_depth_zero(text: &str, separator: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut depth = 0i32;
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'<' | b'(' | b'[' | b'{' => depth += 1,
            b'>' if at > 0 && bytes.get(at - 1) == Some(&b'-') => {}
            b'>' | b')' | b']' | b'}' => depth -= 1,
            _ => {}
        }
        if depth == 0
            && bytes
                .get(at..)
                .is_some_and(|rest| rest.starts_with(separator.as_bytes()))
        {
            return Some(at);
        }
    }
    None
}

fn is_operator(component: &str) -> bool {
    component
        .strip_prefix("operator")
        .and_then(|rest| rest.chars().next())
        .is_some_and(|next| !next.is_alphanumeric() && next != '_')
}

/// A component without template arguments and parameters.
fn plain_component(component: &str) -> &str {
    if is_operator(component) {
        let end = match component.strip_prefix("operator()") {
            Some(rest) => rest.find('(').map(|at| at + "operator()".len()),
            None => component.find('('),
        };
        return end
            .and_then(|end| component.get(..end))
            .unwrap_or(component)
            .trim_end();
    }
    let end = component.find(['<', '(', ' ']).unwrap_or(component.len());
    component.get(..end).unwrap_or("")
}

/// The last component: the name without its scopes.
pub(crate) fn tail(name: &str) -> &str {
    // Most names are plain, and every name of a file comes through here.
    if !name.contains(['<', '(', '[', '{', ' ']) && !name.contains("operator") {
        return name.rsplit("::").next().unwrap_or(name);
    }
    components(name).last().copied().unwrap_or(name)
}

/// Whether a user who says `query` can mean `name`.
pub(crate) fn matches(name: &str, query: &str) -> bool {
    if name == query {
        return true;
    }
    let (name_parts, query_parts) = (components(name), components(query));
    if query_parts.is_empty() || !name_parts.ends_with(&query_parts) {
        return false;
    }
    // Template arguments that the user wrote must be there.
    !query.contains('<') || is_operator(tail(query)) || {
        let strip = |text: &str| {
            text.chars()
                .filter(|c| !c.is_whitespace())
                .collect::<String>()
        };
        strip(name).ends_with(&strip(query))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_match_by_their_last_components() {
        for (name, query, expected) in [
            ("ns::Class::method", "method", true),
            ("ns::Class::method", "Class::method", true),
            ("ns::Class::method", "ns::Class::method", true),
            ("ns::Class::method", "Other::method", false),
            ("ns::Class::method", "ethod", false),
            (
                "ns::Vec<std::pair<int, char> >::push<int>(int const&)",
                "Vec::push",
                true,
            ),
            ("ns::Vec<int>::push", "Vec<int>::push", true),
            ("ns::Vec<int>::push", "Vec<char>::push", false),
            ("ns::(anonymous namespace)::helper", "ns::helper", true),
            (
                "<alloc::vec::Vec<i32> as core::fmt::Debug>::fmt",
                "Vec::fmt",
                true,
            ),
            (
                "<alloc::vec::Vec<i32>>::push",
                "alloc::vec::Vec::push",
                true,
            ),
            ("crate_name::{impl#3}::run", "crate_name::run", true),
            ("Point::operator<", "operator<", true),
            ("Point::operator<", "operator<<", false),
            ("Point::operator()(int)", "operator()", true),
            ("operator<< <char>", "operator<<", false),
            ("Class::~Class", "~Class", true),
            ("main", "main", true),
            ("", "", true),
            ("main", "", false),
        ] {
            assert_eq!(matches(name, query), expected, "{name} for {query}");
        }
    }

    #[test]
    fn mangled_names_become_readable() {
        for (raw, expected) in [
            ("_ZN2ns5Class6methodEi", Some("ns::Class::method")),
            (
                "_ZN4core3fmt5write17h0123456789abcdefE",
                Some("core::fmt::write"),
            ),
            (
                "_ZN13_$LT$a..b$GT$1c17h0123456789abcdefE.llvm.1",
                Some("<a::b>::c.llvm.1"),
            ),
            ("_ZL6helperi.constprop.0", Some("helper.constprop.0")),
            ("main", None),
            ("_Zgarbage", None),
        ] {
            assert_eq!(demangle(raw).as_deref(), expected, "{raw}");
        }
    }

    #[test]
    fn names_that_repeat_their_repetitions_are_left_mangled() {
        let levels = "123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
        let pairs: String = levels
            .chars()
            .map(|level| format!("S0_IS{level}_S{level}_E"))
            .collect();
        let name = |pairs: &str| format!("_Z1fISt4pairIiiE{pairs}EvT_");
        let few = demangle(&name("S0_IS1_S1_E")).unwrap();
        assert!(
            few.contains("std::pair<int, int>, std::pair<int, int>"),
            "{few}"
        );
        assert_eq!(demangle(&name(&pairs)), None);
    }

    #[test]
    fn clone_suffixes_are_told_apart() {
        for (suffix, expected) in [
            (".constprop.0", CloneKind::Instance),
            (".isra.0", CloneKind::Instance),
            (".llvm.1234", CloneKind::Instance),
            (".part.0", CloneKind::Part),
            (".constprop.0.cold", CloneKind::Fragment),
            (".cold", CloneKind::Fragment),
        ] {
            assert_eq!(clone_kind(suffix), expected, "{suffix}");
        }
    }
}
