//! Names as users write them, matched against names as compilers write them.
//!
//! A user writes `method`, `Class::method` or `ns::Class::method`; the file has
//! `_ZN2ns5Class6methodIiEEvT_`. Both are split into components without template arguments,
//! parameters and anonymous scopes, and the user's components must be the end of the
//! compiler's. Template arguments that the user writes must match, and Rust's `<Type as
//! Trait>::method` matches by the type and by the trait. Parameter types are compared by
//! `function::signature`.

use crate::function::signature::{self, normal_arguments};
use std::fmt;

mod omitted;
mod operator;
mod words;

pub(crate) use omitted::matches_without_inline;
use words::is_part_of_standard;
pub(crate) use words::{Word, may_be_shortened};

/// The maximum length of a readable name in bytes. Mangled names refer back to their parts,
/// so a few hundred bytes may expand beyond any memory.
const READABLE_LENGTH_MAX: usize = 64 << 10;

/// Demangles a C++ or Rust name, without parameters; `None` for a name that is not mangled
/// or is too long when readable.
pub fn demangle(raw: &str) -> Option<String> {
    let (mangled, clone) = split_clone(raw);
    // `.llvm.` suffixes only make a name unique; they mean nothing to users.
    let clone = clone.filter(|clone| !clone.starts_with(".llvm."));
    if let Ok(name) = rustc_demangle::try_demangle(mangled) {
        return Some(format!("{name:#}{}", clone.unwrap_or("")));
    }
    let options = cpp_demangle::DemangleOptions::new()
        .no_params()
        .no_return_type();
    let name = demangle_cpp(mangled, &options)?;
    Some(format!("{name}{}", clone.unwrap_or("")))
}

/// Demangles a C++ name with its parameters.
pub(crate) fn demangle_whole(raw: &str) -> Option<String> {
    let options = cpp_demangle::DemangleOptions::new().no_return_type();
    demangle_cpp(split_clone(raw).0, &options)
}

fn demangle_cpp(mangled: &str, options: &cpp_demangle::DemangleOptions) -> Option<String> {
    if !mangled.starts_with("_Z") {
        return None;
    }
    let symbol = cpp_demangle::Symbol::new(mangled).ok()?;
    let mut name = Bounded(String::new());
    symbol.structured_demangle(&mut name, options).ok()?;
    Some(name.0)
}

/// Returns the scopes of a name that occur literally in its mangled form.
pub(crate) fn literal_scopes(written: &str) -> Vec<&str> {
    let mut found = components(written);
    found.pop();
    let is_letter = |it: u8| it.is_ascii_alphanumeric() || it == b'_';
    found.retain(|it| {
        it.bytes().all(is_letter) && !may_be_shortened(it) && !is_part_of_standard(it)
    });
    found
}

/// A string that refuses to grow beyond [`READABLE_LENGTH_MAX`].
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

/// Splits off the suffix that gcc and LLVM append to clones: `foo.constprop.0` into `foo`
/// and `.constprop.0`.
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

/// Returns the end of the hash of a legacy Rust mangled name, whose identifiers may contain
/// dots (`_ZN…$LT$a..b$GT$…17h0123456789abcdefE`).
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

/// The kind of code that a clone suffix denotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CloneKind {
    /// A specialised clone of the whole function (`.constprop`, `.isra`, `.llvm`).
    Instance,
    /// An outlined part that other code calls (`.part`).
    Part,
    /// A cold part, entered by jumps (`.cold`).
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

/// A component of a qualified name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Part<'a> {
    name: &'a str,
    /// The template arguments with their brackets; empty if none.
    arguments: &'a str,
}

/// Splits a qualified name into the components that are compared.
pub(crate) fn components(name: &str) -> Vec<&str> {
    parts(name).into_iter().map(|part| part.name).collect()
}

fn parts(name: &str) -> Vec<Part<'_>> {
    let mut found = Vec::new();
    collect(name, &mut found, 0);
    found
}

/// Returns the components of a Rust trait method by its trait: `Shape::area` for `<Square
/// as Shape>::area`.
fn parts_by_trait(name: &str) -> Option<Vec<Part<'_>>> {
    let (component, rest) = split_component(name.trim());
    let inner = component.strip_prefix('<')?.strip_suffix('>')?;
    let at = find_at_depth_zero(inner, " as ")?;
    let mut found = parts(inner.get(at + " as ".len()..)?);
    collect(rest, &mut found, 0);
    Some(found)
}

fn collect<'a>(name: &'a str, found: &mut Vec<Part<'a>>, depth: u8) {
    let mut rest = name.trim();
    while !rest.is_empty() {
        let (component, after) = split_component(rest);
        let is_generic = !found.is_empty() && !component.starts_with("<impl ");
        if is_generic && component.starts_with('<') {
            // `max::<i32>` in Rust: arguments of the preceding component.
            if let Some(last) = found.last_mut() {
                last.arguments = component;
            }
        } else if let Some(inner) = component.strip_prefix('<') {
            // `<Type as Trait>` in Rust: users name the type.
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
                found.push(Part {
                    name: plain,
                    arguments: arguments_of(component, plain),
                });
            }
        }
        rest = after;
    }
}

/// Returns the template arguments after the name of a component.
fn arguments_of<'a>(component: &'a str, plain: &str) -> &'a str {
    let behind = component.get(plain.len()..).unwrap_or("").trim();
    if !behind.starts_with('<') {
        return "";
    }
    let mut depth = 0;
    let end = behind.find(|c| {
        match c {
            '<' => depth += 1,
            '>' => depth -= 1,
            _ => {}
        }
        depth == 0
    });
    end.and_then(|end| behind.get(..=end)).unwrap_or(behind)
}

/// Splits off the first component of a name; returns it and the text after its `::`.
pub(crate) fn split_component(name: &str) -> (&str, &str) {
    let begin = match operator::sign_end(name) {
        Some(end) => end,
        // A conversion operator, whose type may be qualified.
        None if operator::is_operator(name) => return (name, ""),
        None => 0,
    };
    let behind = name.get(begin..).unwrap_or("");
    match find_at_depth_zero(behind, "::").map(|at| begin + at) {
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

/// Returns a component without template arguments and parameters.
fn plain_component(component: &str) -> &str {
    if let Some(end) = operator::sign_end(component) {
        return component.get(..end).unwrap_or(component);
    }
    if operator::is_operator(component) {
        let end = component.find('(').unwrap_or(component.len());
        return component.get(..end).unwrap_or(component).trim_end();
    }
    // Of several lambdas of a function, the parameters and the number tell which it is.
    if component.starts_with("{lambda(") {
        return component
            .get(..=component.rfind('}').unwrap_or(0))
            .unwrap_or("");
    }
    let end = component.find(['<', '(', ' ']).unwrap_or(component.len());
    component.get(..end).unwrap_or("")
}

/// Returns the type that implements a Rust trait method: `Square` for `<Square as
/// Shape>::area`.
pub(crate) fn subject(name: &str) -> Option<&str> {
    let (component, _) = split_component(name.trim());
    let inner = component.strip_prefix('<')?.strip_suffix('>')?;
    split_at_depth_zero(inner, " as ")
}

/// Returns the last component: the name without its scopes.
pub(crate) fn tail(name: &str) -> &str {
    // Most names are plain, and this function is called for every name of a file.
    if !name.contains(['<', '(', '[', '{', ' ']) && !name.contains("operator") {
        return name.rsplit("::").next().unwrap_or(name);
    }
    components(name).last().copied().unwrap_or(name)
}

/// Splits a name into its scope and its last component; `None` for a name without scopes.
pub fn scope_and_name(name: &str) -> Option<(&str, &str)> {
    let last = tail(name);
    let scope = name.strip_suffix(last)?.strip_suffix("::")?;
    (!scope.is_empty()).then_some((scope, last))
}

/// Returns the scopes around a function, innermost first, each with its `::`: `n::C::` and
/// `n::` for `n::C::f`. Those of a method of a Rust trait are those of the type.
pub fn enclosing_scopes(name: &str) -> Vec<String> {
    let mut found = Vec::new();
    if let Some(of) = subject(name) {
        found.extend(enclosing_scopes(of).into_iter().rev());
        found.push(format!("{of}::"));
    }
    let mut rest = name;
    let mut end = 0;
    loop {
        let (component, behind) = split_component(rest);
        if behind.is_empty() {
            break;
        }
        end += component.len() + 2;
        found.push(name.get(..end).unwrap_or("").to_owned());
        rest = behind;
    }
    found.reverse();
    found
}

/// Returns whether `written` matches the function called `name`: by its last components,
/// with or without template arguments.
pub fn is_name_of(written: &str, name: &str) -> bool {
    matches(name, written)
}

/// Returns a name without the parameter types that follow it.
pub fn without_parameters(written: &str) -> &str {
    signature::split(written).map_or(written, |(name, _)| name)
}

/// Returns whether `written` is a complete name: with all scopes except anonymous
/// namespaces. Template arguments, if written, must match.
pub fn is_whole_name_of(written: &str, name: &str) -> bool {
    parts(written).len() == parts(name).len() && matches(name, written)
}

/// Returns whether a name is that of a template instance, and `written` omits its
/// arguments.
pub fn omits_template_arguments(written: &str, name: &str) -> bool {
    let has_arguments = |name| {
        parts(name)
            .last()
            .is_some_and(|it| !it.arguments.is_empty())
    };
    has_arguments(name) && !has_arguments(written)
}

/// Returns whether the query of a user matches `name`.
pub(crate) fn matches(name: &str, query: &str) -> bool {
    if name == query {
        return true;
    }
    let by_trait = |query: &[Part<'_>]| {
        let parts = parts_by_trait(name);
        parts.is_some_and(|parts| ends_with(&parts, query))
    };
    match parts_by_trait(query) {
        // `<Square as Shape>::area` names both.
        Some(wanted) => by_trait(&wanted) && ends_with(&parts(name), &parts(query)),
        None => {
            let wanted = parts(query);
            ends_with(&parts(name), &wanted) || by_trait(&wanted)
        }
    }
}

fn ends_with(name: &[Part<'_>], query: &[Part<'_>]) -> bool {
    let end = name.len().checked_sub(query.len());
    let end = end.and_then(|start| name.get(start..)).unwrap_or(&[]);
    let mut both = end.iter().zip(query);
    !query.is_empty()
        && end.len() == query.len()
        && both.all(|(known, asked)| is_same_part(known, asked))
}

fn is_same_part(known: &Part<'_>, asked: &Part<'_>) -> bool {
    let is_named = known.name == asked.name
        // As frames show them; the debug information numbers them.
        || asked.name == CLOSURE && is_closure(known.name)
        || is_same_lambda(known.name, asked.name);
    is_named && has_arguments(known.arguments, asked.arguments)
}

/// A closure, or the body of an `async fn`, in names of Rust without numbers.
pub(crate) const CLOSURE: &str = "{{closure}}";

fn is_closure(name: &str) -> bool {
    [
        "{closure#",
        "{async_fn#",
        "{async_block#",
        "{async_closure#",
    ]
    .iter()
    .any(|start| name.starts_with(start))
}

/// Returns whether both name the same lambda, whatever the spaces in its parameters.
fn is_same_lambda(known: &str, asked: &str) -> bool {
    let is_lambda = |name: &str| name.starts_with("{lambda(");
    let letters = |name: &str| -> String { name.split_whitespace().collect() };
    is_lambda(known) && is_lambda(asked) && letters(known) == letters(asked)
}

/// Returns whether template arguments written by a user match. Trailing ones may be
/// omitted, as defaults are.
fn has_arguments(known: &str, asked: &str) -> bool {
    if asked.is_empty() {
        return true;
    }
    let (known, asked) = (normal_arguments(known), normal_arguments(asked));
    let is_beginning = |asked: &str| {
        let rest = known.strip_prefix(asked);
        rest.is_some_and(|rest| rest.starts_with(','))
    };
    known == asked || asked.strip_suffix('>').is_some_and(is_beginning)
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
            ("operator<< <char>", "operator<<", true),
            ("operator<< <char>", "operator<", false),
            ("n::operator==<int>", "operator==", true),
            ("n::operator==<int>", "n::operator==", true),
            ("n::operator==<int>", "operator==<int>", true),
            ("n::operator==<int>", "operator==<char>", false),
            ("n::operator== <n::A>", "operator==", true),
            ("n::operator< <int>", "operator<", true),
            ("n::operator<<int>", "operator<", true),
            ("n::operator<<int>", "operator<<", false),
            ("n::operator<<<int>", "operator<<", true),
            ("n::operator<=><int>", "operator<=>", true),
            ("Any::operator()<int>(int)", "operator()", true),
            ("Any::operator-><int>", "operator->", true),
            (
                "n::operator==<int>(n::A)::{lambda()#1}",
                "operator==",
                false,
            ),
            ("A::operator n::B<int>", "operator n::B<int>", true),
            ("operator new[]", "operator new[]", true),
            ("generics::Stack<u8>::push<u8>", "Stack<u8>::push", true),
            ("generics::Stack<u8>::push<u8>", "Stack<i8>::push", false),
            ("generics::Stack<u8>::push<u8>", "push<u8>", true),
            (
                "std::vector<int, std::allocator<int> >::at",
                "vector<int>::at",
                true,
            ),
            (
                "std::vector<int, std::allocator<int> >::at",
                "vector<i>::at",
                false,
            ),
            ("<k::Square as k::Shape>::area", "Shape::area", true),
            ("<k::Square as k::Shape>::area", "k::Square::area", true),
            (
                "<k::Square as k::Shape>::area",
                "<Square as Shape>::area",
                true,
            ),
            (
                "<k::Square as k::Shape>::area",
                "<Circle as Shape>::area",
                false,
            ),
            ("k::Square::area", "<Square as Shape>::area", false),
            ("Stack<int>::operator()", "Stack<int>::operator()", true),
            ("Stack<int>::operator()", "Stack<char>::operator()", false),
            ("Stack<int>::operator<", "Stack<int>::operator<", true),
            ("krate::max<i32>", "max::<i32>", true),
            ("max<long unsigned int>", "max<unsigned long>", true),
            ("max<unsigned long>", "max<long>", false),
            (
                "max<std::__cxx11::basic_string<char> >",
                "max<std::basic_string<char>>",
                true,
            ),
            ("max<const char*>", "max<char const *>", true),
            ("max<const char*>", "max<char *>", false),
            ("krate::max::<i32>", "max<i32>", true),
            ("krate::max::<i32>", "max", true),
            ("krate::max<i32>", "max::<u8>", false),
            ("krate::Stack::<u8>::push", "Stack::push", true),
            ("Class::~Class", "~Class", true),
            (
                "f::{lambda(int)#1}::operator() const",
                "f::{lambda(int)#1}::operator()",
                true,
            ),
            (
                "f::{lambda(int)#1}::operator()",
                "f::{lambda(int)#1}::operator()",
                true,
            ),
            (
                "f::{lambda(int)#1}::operator()",
                "f::{lambda(int)#2}::operator()",
                false,
            ),
            (
                "f::{lambda(char const*)#2}::operator()",
                "f::{lambda(int)#2}::operator()",
                false,
            ),
            (
                "f::{lambda(char const*)#2}::operator()",
                "{lambda(char const *)#2}::operator()",
                true,
            ),
            ("f::{lambda(int)#1}::operator()", "operator()", true),
            ("n::run::{closure#0}", "run::{{closure}}", true),
            ("n::run::{async_fn#0}", "run::{{closure}}", true),
            ("n::run::{{closure}}", "run::{{closure}}", true),
            ("n::run::{impl#0}", "run::{{closure}}", false),
            ("n::run::{closure#1}", "run::{closure#0}", false),
            ("main", "main", true),
            ("", "", true),
            ("main", "", false),
        ] {
            assert_eq!(matches(name, query), expected, "{name} for {query}");
        }
    }

    #[test]
    fn scopes_are_literal_where_no_mangled_name_shortens_them() {
        for (written, expected) in [
            (
                "corpus::unit_7::worker::run",
                &["corpus", "unit_7", "worker"][..],
            ),
            ("std::vector<int>::push_back", &["vector"]),
            ("std::basic_string<char>::size", &[]),
            ("std::istream::get", &[]),
            ("shop::(anonymous namespace)::hidden", &["shop"]),
            ("<k::Square as k::Shape>::area", &["Square"]),
            ("isize::checked_add", &[]),
            ("f", &[]),
            ("", &[]),
        ] {
            assert_eq!(literal_scopes(written), expected, "{written}");
        }
    }

    #[test]
    fn a_whole_name_has_all_scopes() {
        for (written, name, whole, left_out) in [
            ("max<int>", "max<int>", true, false),
            ("max", "max<int>", true, true),
            ("ns::max", "ns::max<int>", true, true),
            ("max", "ns::max<int>", false, true),
            ("push", "Stack<int>::push", false, false),
            ("Stack::push", "Stack<int>::push", true, false),
            ("helper", "(anonymous namespace)::helper", true, false),
            ("max::<i32>", "max<i32>", true, false),
            ("operator<", "operator<", true, false),
        ] {
            assert_eq!(is_whole_name_of(written, name), whole, "{written} {name}");
            assert_eq!(
                omits_template_arguments(written, name),
                left_out,
                "{written} {name}"
            );
        }
    }

    #[test]
    fn scopes_around_a_function_are_listed_from_the_inside() {
        for (name, expected) in [
            ("n::C::f", &["n::C::", "n::"][..]),
            ("O<a::b>::get", &["O<a::b>::"]),
            (
                "main::<lambda(int)>::operator()",
                &["main::<lambda(int)>::", "main::"],
            ),
            ("<k::S as k::T>::f", &["<k::S as k::T>::", "k::S::", "k::"]),
            ("f", &[]),
            ("", &[]),
        ] {
            assert_eq!(enclosing_scopes(name), expected, "{name}");
        }
    }

    #[test]
    fn methods_of_traits_are_for_a_type() {
        for (name, expected) in [
            ("<k::Square as k::Shape>::{vtable}", Some("k::Square")),
            (
                "<k::f::{closure_env#0}<A> as core::Fn<(B as C)>>::{vtable}",
                Some("k::f::{closure_env#0}<A>"),
            ),
            ("k::Square::area", None),
        ] {
            assert_eq!(subject(name), expected, "{name}");
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
                Some("<a::b>::c"),
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
