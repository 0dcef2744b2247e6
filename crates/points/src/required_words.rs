//! Extracts the words that every match of a regular expression contains, so that names can be
//! searched for them without an index of all names.
//!
//! **Invariant**: every match of the expression contains one word of each set.

use regex_syntax::hir::{Class, Hir, HirKind};

/// The limit of texts that are treated as alternatives.
const ALTERNATIVES_MAX: usize = 4;
/// The minimal length of each of several words.
const LENGTH_MIN: usize = 3;
/// The limit of sets of words that are worth a search.
const SETS_MAX: usize = 2;

/// Returns sets of words of letters, digits and `_`: every match contains one word of each set.
/// Longer words come first, since fewer names have them. Empty if there are no such words, or the
/// expression is invalid.
pub fn required_words(pattern: &str) -> Vec<Vec<String>> {
    let Ok(expression) = regex_syntax::parse(pattern) else {
        return Vec::new();
    };
    let mut sets = Matches::of(&expression).required();
    // Searching for many short words takes longer than the index.
    sets.retain(|set| set.len() == 1 || set.iter().all(|word| word.len() >= LENGTH_MIN));
    for set in &mut sets {
        set.sort_unstable();
        set.dedup();
    }
    sets.sort_by_key(|set| std::cmp::Reverse(set.iter().map(String::len).min()));
    sets.truncate(SETS_MAX);
    sets
}

/// What is known of the texts that a part of an expression matches.
enum Matches {
    /// It matches exactly these.
    Exact(Vec<String>),
    /// Each text contains one word of each of these sets.
    With(Vec<Vec<String>>),
}

impl Matches {
    fn of(expression: &Hir) -> Matches {
        match expression.kind() {
            HirKind::Empty | HirKind::Look(_) => Matches::Exact(vec![String::new()]),
            HirKind::Literal(literal) => match std::str::from_utf8(&literal.0) {
                Ok(text) => Matches::Exact(vec![text.to_owned()]),
                Err(_) => Matches::With(Vec::new()),
            },
            HirKind::Class(class) => match letters(class) {
                Some(letters) => Matches::Exact(letters),
                None => Matches::With(Vec::new()),
            },
            HirKind::Capture(capture) => Matches::of(&capture.sub),
            HirKind::Repetition(repetition) => Matches::With(match repetition.min {
                0 => Vec::new(),
                _ => Matches::of(&repetition.sub).required(),
            }),
            HirKind::Concat(parts) => in_turn(parts),
            HirKind::Alternation(parts) => one_of(parts),
        }
    }

    fn required(self) -> Vec<Vec<String>> {
        match self {
            // A single text contains all of its words.
            Matches::Exact(texts) if texts.len() == 1 => {
                let words = texts.iter().flat_map(|text| words_of(text));
                words.map(|word| vec![word.to_owned()]).collect()
            }
            Matches::Exact(texts) => {
                let words: Option<Vec<String>> = texts.iter().map(|it| longest_word(it)).collect();
                words.into_iter().collect()
            }
            Matches::With(sets) => sets,
        }
    }
}

/// Combines parts in sequence.
fn in_turn(parts: &[Hir]) -> Matches {
    let mut sets = Vec::new();
    let mut run = vec![String::new()];
    let mut is_exact = true;
    for part in parts {
        match Matches::of(part) {
            Matches::Exact(texts) if texts.len() * run.len() <= ALTERNATIVES_MAX => {
                run = joined(&run, &texts);
            }
            other => {
                is_exact = false;
                let before = std::mem::replace(&mut run, vec![String::new()]);
                sets.extend(Matches::Exact(before).required());
                sets.extend(other.required());
            }
        }
    }
    if is_exact {
        return Matches::Exact(run);
    }
    sets.extend(Matches::Exact(run).required());
    Matches::With(sets)
}

/// Concatenates each of the first with each of the second.
fn joined(starts: &[String], ends: &[String]) -> Vec<String> {
    let mut texts = Vec::with_capacity(starts.len() * ends.len());
    for start in starts {
        texts.extend(ends.iter().map(|end| format!("{start}{end}")));
    }
    texts
}

/// Combines alternatives: the best set of each.
fn one_of(parts: &[Hir]) -> Matches {
    let mut exact = Vec::new();
    let mut words: Option<Vec<String>> = Some(Vec::new());
    let mut is_exact = true;
    for part in parts {
        let matches = Matches::of(part);
        match &matches {
            Matches::Exact(texts) => exact.extend(texts.iter().cloned()),
            Matches::With(_) => is_exact = false,
        }
        let sets = matches.required().into_iter();
        let best = sets.max_by_key(|set| set.iter().map(String::len).min());
        words = words.zip(best).map(|(mut words, more)| {
            words.extend(more);
            words
        });
    }
    if is_exact && exact.len() <= ALTERNATIVES_MAX {
        return Matches::Exact(exact);
    }
    let words = words.filter(|words| words.len() <= ALTERNATIVES_MAX);
    Matches::With(words.into_iter().collect())
}

/// Returns the letters of a small class.
fn letters(class: &Class) -> Option<Vec<String>> {
    let mut letters = Vec::new();
    let Class::Unicode(class) = class else {
        return None;
    };
    for range in class.ranges() {
        for letter in range.start()..=range.end() {
            if letters.len() >= ALTERNATIVES_MAX {
                return None;
            }
            letters.push(letter.to_string());
        }
    }
    Some(letters)
}

fn words_of(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|it: char| !it.is_ascii_alphanumeric() && it != '_');
    words.filter(|word| !word.is_empty())
}

fn longest_word(text: &str) -> Option<String> {
    let longest = words_of(text).max_by_key(|word| word.len());
    longest.map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(pattern: &str, expected: &[&[&str]]) {
        assert_eq!(required_words(pattern), expected, "{pattern}");
    }

    #[test]
    fn words_of_patterns() {
        check("queue_push", &[&["queue_push"]]);
        check("^queue_push$", &[&["queue_push"]]);
        check("^queue_", &[&["queue_"]]);
        check("queue.*push_back", &[&["push_back"], &["queue"]]);
        check("std::vector<.*>::push", &[&["vector"], &["push"]]);
        check(r"operator\+\(", &[&["operator"]]);
        check("push|pop", &[&["pop", "push"]]);
        check(
            "^(read|write)_(line|file)$",
            &[&["read_file", "read_line", "write_file", "write_line"]],
        );
        check("(a|b+)c", &[&["c"]]);
        check("[Qq]ueue", &[&["Queue", "queue"]]);
        check("(queue)+", &[&["queue"]]);
        check("x?y_long", &[&["y_long"]]);
        check("lock_{2}", &[&["lock"], &["_"]]);
    }

    #[test]
    fn patterns_that_have_no_words() {
        check("", &[]);
        check("^$", &[]);
        check(".", &[]);
        check("a*", &[]);
        check("queue|", &[]);
        check("queue|.", &[]);
        check("(?i)queue", &[]);
        check("::", &[]);
        check("(", &[]);
    }

    proptest! {
        #[test]
        fn what_matches_has_one_of_the_words(
            pattern in "(\\(\\?i\\))?[ab_(|][ab_:.*+?|()\\[\\]^$]{0,12}",
            text in "[abAB_:]{0,8}",
        ) {
            let Ok(regex) = regex::Regex::new(&pattern) else {
                return Ok(());
            };
            for words in required_words(&pattern).iter().filter(|_| regex.is_match(&text)) {
                prop_assert!(words.iter().any(|word| text.contains(word.as_str())), "{words:?}");
            }
        }
    }
}
