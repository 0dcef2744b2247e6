//! The value history and the convenience variables.

use juror_arch::names::is_register;
use juror_debuggee::ThreadId;
use juror_program::program::Program;
use juror_values::typed::Typed;
use std::collections::BTreeMap;

/// The value history and the convenience variables.
#[derive(Debug, Default)]
pub(crate) struct ValueHistory {
    pub(crate) printed: Vec<Typed>,
    pub(crate) named: BTreeMap<String, Typed>,
}

impl ValueHistory {
    /// Adds a printed value; returns its number.
    pub(crate) fn push(&mut self, value: Typed) -> u32 {
        self.printed.push(value);
        self.printed.len() as u32
    }

    /// Returns the value that was printed last.
    pub(crate) fn last(&self) -> Option<&Typed> {
        self.printed.last()
    }

    /// Returns the value history.
    pub(crate) fn printed(&self) -> &[Typed] {
        &self.printed
    }

    /// Returns the convenience variables.
    pub(crate) fn named(&self) -> impl Iterator<Item = (&str, &Typed)> {
        self.named
            .iter()
            .map(|(name, value)| (name.as_str(), value))
    }

    /// Sets a convenience variable.
    pub(crate) fn set(&mut self, name: &str, value: Typed) {
        match self.named.get_mut(name) {
            Some(known) => *known = value,
            None => {
                self.named.insert(name.to_owned(), value);
            }
        }
    }

    /// Sets a convenience variable to a number.
    pub(crate) fn set_number(&mut self, name: &str, number: impl Into<i128>) {
        if let Some(value) = Typed::of_integer(number.into()) {
            self.set(name, value);
        }
    }

    /// Deletes a convenience variable.
    pub(crate) fn forget(&mut self, name: &str) {
        self.named.remove(name);
    }
}

/// Returns the value of `$1`, `$`, `$$`, `$$3` or `$name`.
pub(crate) fn convenience(history: &ValueHistory, name: &str) -> Option<Typed> {
    let from_the_end = |count: usize| history.printed.iter().rev().nth(count).cloned();
    if let Ok(number) = name.parse::<usize>() {
        return history.printed.get(number.checked_sub(1)?).cloned();
    }
    match name.strip_prefix('$') {
        Some("") => from_the_end(1),
        Some(count) => from_the_end(count.parse().ok()?),
        None if name.is_empty() => from_the_end(0),
        None => history.named.get(name).cloned(),
    }
}

/// Returns the same at a hit, whose thread is not the selected one.
pub(crate) fn of_thread(
    history: &ValueHistory,
    program: &Program,
    thread: ThreadId,
    name: &str,
) -> Option<Typed> {
    match name {
        "_thread" => Typed::of_integer(i128::from(program.thread_number(thread))),
        _ => convenience(history, name),
    }
}

/// Returns whether a name can be that of a convenience variable.
pub(crate) fn can_be_named(name: &str) -> bool {
    let is_number = name.starts_with(|c: char| c.is_ascii_digit() || c == '$');
    !name.is_empty() && !is_register(name) && !is_number
}

#[cfg(test)]
mod tests {
    use super::*;
    use juror_values::typed::{Memory, Number};

    struct Nothing;

    impl Memory for Nothing {
        fn read(&self, _: u64, _: &mut [u8]) -> bool {
            false
        }
    }

    #[test]
    fn values_go_by_number_and_by_name() {
        let mut history = ValueHistory::default();
        for number in [10, 20, 30] {
            history.push(Typed::of_integer(number).expect("a number"));
        }
        history.set_number("count", 7);
        history.set_number("count", 8);
        for (name, expected) in [
            ("", Some(30)),
            ("$", Some(20)),
            ("$0", Some(30)),
            ("$2", Some(10)),
            ("$3", None),
            ("1", Some(10)),
            ("0", None),
            ("4", None),
            ("count", Some(8)),
            ("other", None),
        ] {
            let found = convenience(&history, name);
            let found = found.and_then(|it| it.number(&Nothing).ok());
            assert_eq!(found, expected.map(Number::Int), "${name}");
        }
        history.forget("count");
        assert!(convenience(&history, "count").is_none());
    }

    #[test]
    fn registers_keep_their_names() {
        for (name, can) in [
            ("count", true),
            ("_", true),
            ("rax", false),
            ("pc", false),
            ("3", false),
            ("$2", false),
            ("", false),
        ] {
            assert_eq!(can_be_named(name), can, "{name}");
        }
    }
}
