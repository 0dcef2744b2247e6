//! Values that are kept for expressions: `$1` and `$`, those with names of the
//! user's own, and those that juror sets: `$_exitcode`, `$bpnum`, `$_thread`.
//!
//! The names are gdb's. Invariant: a name that is a register's means the
//! register.

use crate::options::CommandError;
use crate::session::Session;
use juror_debuggee::ThreadId;
use juror_language::{Expression, ExpressionKind};
use juror_program::program::Program;
use juror_program::scope::is_register;
use juror_symbols::Type;
use juror_values::typed::Typed;
use std::collections::BTreeMap;

/// What the kernel says of a signal.
const SIGNAL: &str = "_siginfo";

/// The values that are kept.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    printed: Vec<Typed>,
    named: BTreeMap<String, Typed>,
}

impl Kept {
    /// Keeps one that was printed; gives its number.
    pub(crate) fn push(&mut self, value: Typed) -> u32 {
        self.printed.push(value);
        self.printed.len() as u32
    }

    /// The one that was printed last.
    pub(crate) fn last(&self) -> Option<&Typed> {
        self.printed.last()
    }

    /// Those that were printed.
    pub(crate) fn printed(&self) -> &[Typed] {
        &self.printed
    }

    /// Those that have names.
    pub(crate) fn named(&self) -> impl Iterator<Item = (&str, &Typed)> {
        self.named
            .iter()
            .map(|(name, value)| (name.as_str(), value))
    }

    /// Gives a name a value.
    pub(crate) fn set(&mut self, name: &str, value: Typed) {
        match self.named.get_mut(name) {
            Some(known) => *known = value,
            None => {
                self.named.insert(name.to_owned(), value);
            }
        }
    }

    /// Gives a name a number.
    pub(crate) fn set_number(&mut self, name: &str, number: impl Into<i128>) {
        if let Some(value) = Typed::of_integer(number.into()) {
            self.set(name, value);
        }
    }

    /// Nothing has this name any more.
    pub(crate) fn forget(&mut self, name: &str) {
        self.named.remove(name);
    }
}

/// `$1`, `$`, `$$`, `$$3`, `$name`.
pub(crate) fn convenience(kept: &Kept, name: &str) -> Option<Typed> {
    let from_the_end = |count: usize| kept.printed.iter().rev().nth(count).cloned();
    if let Ok(number) = name.parse::<usize>() {
        return kept.printed.get(number.checked_sub(1)?).cloned();
    }
    match name.strip_prefix('$') {
        Some("") => from_the_end(1),
        Some(count) => from_the_end(count.parse().ok()?),
        None if name.is_empty() => from_the_end(0),
        None => kept.named.get(name).cloned(),
    }
}

/// The same at a hit, where the thread is not the selected one.
pub(crate) fn of_thread(
    kept: &Kept,
    program: &Program,
    thread: ThreadId,
    name: &str,
) -> Option<Typed> {
    match name {
        "_thread" => Typed::of_integer(i128::from(program.thread_number(thread))),
        _ => convenience(kept, name),
    }
}

/// Whether a name can be one of the user's own.
pub(crate) fn can_be_named(name: &str) -> bool {
    let is_number = name.starts_with(|c: char| c.is_ascii_digit() || c == '$');
    !name.is_empty() && !is_register(name) && !is_number
}

impl Session {
    /// What a command may ask for by name, as it is now.
    pub(crate) fn note_conveniences(&mut self) {
        match self.breakpoints.last_number() {
            0 => {}
            number => self.values.set_number("bpnum", number),
        }
        let process = self.process_name().map_or(1, |it| it.number);
        self.values.set_number("_inferior", process);
        if let (Some(program), Some(thread)) = (&self.program, self.selection.thread) {
            let number = program.thread_number(thread);
            self.values.set_number("_thread", number);
        }
    }

    /// Refuses a name after `$` that nothing has: what is asked later could only fail.
    pub(crate) fn check_kept(&self, expression: &Expression) -> Result<(), CommandError> {
        for part in expression.all_parts() {
            if let ExpressionKind::Register(name) = &part.kind
                && !is_register(name)
                && !name.starts_with('_')
                && convenience(&self.values, name).is_none()
            {
                let message = format!("there is no register or value `${name}`");
                return Err(CommandError::with_help(
                    message,
                    "set $n = 3 makes a value; show convenience lists those that there are",
                ));
            }
        }
        Ok(())
    }

    /// An expression that speaks of the signal gets what the kernel says of it.
    pub(crate) fn note_signal(&mut self, expression: &Expression) -> Result<(), CommandError> {
        let is_meant = |part: &&Expression| matches!(&part.kind, ExpressionKind::Register(name) if &**name == SIGNAL);
        let parts = expression.all_parts();
        if !parts.into_iter().any(|part| is_meant(&part)) {
            return Ok(());
        }
        let thread = self.thread()?;
        let bytes = self.running()?.debuggee.signal_information(thread);
        let bytes = bytes.ok_or_else(|| {
            CommandError::with_help(
                "no signal has stopped this thread",
                "$_siginfo is what the kernel says of the signal that a thread stands at",
            )
        })?;
        if let Some(of) = juror_symbols::signal_information() {
            self.values.set(SIGNAL, Typed::of_bytes(of, bytes));
        }
        Ok(())
    }

    /// The signal is of the moment: the next stop has another, or none.
    pub(crate) fn forget_signal(&mut self) {
        self.values.forget(SIGNAL);
    }

    /// Where memory was looked at last, and what is there, if that is known.
    pub(crate) fn note_examined(&mut self, address: u64, value: Option<Typed>) {
        let pointer = Type::void().pointer_to();
        let bytes = address.to_le_bytes().to_vec();
        self.values.set("_", Typed::of_bytes(pointer, bytes));
        match value {
            Some(value) => self.values.set("__", value),
            None => self.values.forget("__"),
        }
    }
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
        let mut kept = Kept::default();
        for number in [10, 20, 30] {
            kept.push(Typed::of_integer(number).expect("a number"));
        }
        kept.set_number("count", 7);
        kept.set_number("count", 8);
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
            let found = convenience(&kept, name);
            let found = found.and_then(|it| it.number(&Nothing).ok());
            assert_eq!(found, expected.map(Number::Int), "${name}");
        }
        kept.forget("count");
        assert!(convenience(&kept, "count").is_none());
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
