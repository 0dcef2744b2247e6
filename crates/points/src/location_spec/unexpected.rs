//! Words behind a complete name of a function.
//!
//! A name has spaces in its brackets (`f(int, long)`, `<A as B>::f`), before them, around `::`, in
//! the names of operators, and in what follows the parameters (`const`). Everything else that
//! follows a space is no part of it.

/// The qualifiers that follow the parameters of a function.
const QUALIFIERS: &[&str] = &[
    "const", "volatile", "&", "&&", "noexcept", "const&", "const&&",
];
/// What compilers write before the name of a function that they have made for another one.
const PREFIXES: &[&str] = &[
    "non-virtual thunk to ",
    "virtual thunk to ",
    "covariant return thunk to ",
    "TLS init function for ",
    "TLS wrapper function for ",
];
const OPERATOR: &str = "operator";

/// Returns where the words begin that cannot belong to the name at the beginning of a text.
pub(super) fn begin(text: &str) -> Option<usize> {
    let made = PREFIXES.iter().find(|prefix| text.starts_with(**prefix));
    let mut at = made.map_or(0, |prefix| prefix.len());
    let mut depth = 0_u32;
    let mut before = ' ';
    while let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) {
        let rest = text.get(at..).unwrap_or_default();
        if depth == 0 && !is_of_word(before) && is_operator(rest) {
            let length = operator_length(rest);
            at += length;
            before = 'x';
            continue;
        }
        match c {
            '(' | '<' | '[' | '{' => depth += 1,
            ')' | '>' | ']' | '}' => depth = depth.saturating_sub(1),
            c if c.is_whitespace() && depth == 0 => {
                let word = rest.trim_start();
                if !word.is_empty() && !goes_on(before, word) {
                    return Some(text.len() - word.len());
                }
            }
            _ => {}
        }
        if !c.is_whitespace() {
            before = c;
        }
        at += c.len_utf8();
    }
    None
}

/// Returns whether a name goes on with a word after a space; `before` is its last character.
fn goes_on(before: char, word: &str) -> bool {
    let first = word.split_whitespace().next().unwrap_or(word);
    let is_joined =
        before == ':' || word.starts_with(['(', '<', '[', '{']) || word.starts_with("::");
    let is_qualifier = matches!(before, ')' | 't' | 'e' | '&') && QUALIFIERS.contains(&first);
    is_joined || is_qualifier
}

fn is_operator(rest: &str) -> bool {
    let after = rest.strip_prefix(OPERATOR);
    after.is_some_and(|after| !after.starts_with(is_of_word))
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Returns the length of an operator's name at the beginning of a text, without its parameters.
fn operator_length(text: &str) -> usize {
    let after = text.get(OPERATOR.len()..).unwrap_or_default();
    let name = after.trim_start();
    let start = text.len() - name.len();
    if name.starts_with("()") || name.starts_with("[]") {
        return start + 2;
    }
    if name.starts_with("\"\"") {
        // The suffix of a literal, which may stand apart.
        let suffix = name.get(2..).unwrap_or_default().trim_start();
        let rest = suffix.trim_start_matches(is_of_word);
        return text.len() - rest.len();
    }
    let is_sign = |c: char| !is_of_word(c) && !c.is_whitespace() && c != '(';
    if name.starts_with(is_sign) {
        return start + name.find(|c| !is_sign(c)).unwrap_or(name.len());
    }
    // A conversion: its type goes on to the parameters.
    start + name.find('(').unwrap_or(name.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_spaces_where_languages_write_them() {
        for name in [
            "push",
            "f(int, long)",
            "f (int)",
            "ns :: f",
            "C<int, long>::f(int) const",
            "C::f() const &",
            "(anonymous namespace)::f",
            "operator new",
            "operator new[](unsigned long)",
            "C::operator unsigned long",
            "C::operator unsigned long() const",
            "operator<(A, B)",
            "operator <<",
            "operator->",
            "C::operator()(int) const",
            "operator\"\" _km",
            "<A as B>::f",
            "<impl B for A>::f",
            "main::{closure#0}",
            "f(int)::{lambda(int)#1}::operator()(int) const",
            "f [clone .isra.0]",
            "non-virtual thunk to C::f()",
            "my_operator",
        ] {
            assert_eq!(begin(name), None, "{name}");
        }
    }

    #[test]
    fn other_words_are_no_part_of_a_name() {
        for (text, expected) in [
            ("main x", "x"),
            ("turn n == 3", "n == 3"),
            ("turn when n == 3", "when n == 3"),
            ("f(int) if1 x", "if1 x"),
            ("f(int) const x", "x"),
            ("C<int> f", "f"),
            ("my_operator new", "new"),
            ("operator() x", "x"),
            ("turn const", "const"),
            ("é ü", "ü"),
        ] {
            let found = begin(text).and_then(|at| text.get(at..));
            assert_eq!(found, Some(expected), "{text}");
        }
    }
}
