//! `handle` and `info signals`: the actions for each signal.
//!
//! The defaults are gdb's, with three differences: a signal that will end the program is always
//! shown, unless the user said otherwise; a `SIGTRAP` that the program has a handler for is passed
//! to it; and a `SIGINT` that another process sent is distinguished from Ctrl-C, which never
//! reaches the program while the signal stops. In batch mode only signals that end the program stop
//! it.

use crate::run::catchpoints;
use crate::session::Session;
use crate::state::signals::{SIGKILL, SIGTRAP, action};
use juror_fault::CommandError;
use juror_points::signal_names;
use juror_points::signal_names::SIGNAL_MAX;
use juror_view::Outcome;

const SIGINT: i32 = 2;

/// Parses signals: a name, a number, a range, or `all`, which excludes those that debugging itself
/// uses and the one that nothing can change.
pub(crate) fn signals_of(word: &str) -> Result<Vec<i32>, CommandError> {
    if word.eq_ignore_ascii_case("all") {
        let is_ours = |number: &i32| ![SIGINT, SIGTRAP, SIGKILL].contains(number);
        return Ok((1..=SIGNAL_MAX).filter(is_ours).collect());
    }
    if let Some((first, last)) = word.split_once('-')
        && let (Some(first), Some(last)) = (signal_names::number(first), signal_names::number(last))
    {
        return Ok((first.min(last)..=first.max(last)).collect());
    }
    match signal_names::number(word) {
        Some(number) => Ok(vec![number]),
        None => Err(CommandError::with_help(
            format!("there is no signal `{word}`"),
            match juror_language::suggest(&full_name(word), signal_names::names()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "see: info signals".to_owned(),
            },
        )),
    }
}

fn full_name(word: &str) -> String {
    let upper = word.to_uppercase();
    if upper.starts_with("SIG") {
        upper
    } else {
        format!("SIG{upper}")
    }
}

/// `handle SIGNAL... ACTION...`
pub(crate) fn handle(session: &mut Session, rest: &str) -> Result<Outcome, CommandError> {
    let mut numbers = Vec::new();
    let mut actions = Vec::new();
    for word in rest.split_whitespace() {
        match action(word) {
            Some(action) => actions.push(action),
            None => numbers.extend(signals_of(word)?),
        }
    }
    if numbers.is_empty() {
        return Err(CommandError::with_help(
            "`handle` needs a signal",
            "for example: handle SIGUSR1 nostop noprint",
        ));
    }
    if numbers == [SIGKILL] && !actions.is_empty() {
        return Err(CommandError::with_help(
            "SIGKILL ends the program at once: nothing stops at it, or withholds it",
            "break at the function that sends it, or: catch syscall kill",
        ));
    }
    numbers.retain(|&number| number != SIGKILL || actions.is_empty());
    for &number in &numbers {
        session.user.signals.change(number, &actions);
    }
    catchpoints::renew_catchpoints(session);
    Ok(signal_views(session, &numbers))
}

/// `info signals`, `info signals SIGNAL`
pub(crate) fn signals(session: &Session, rest: &str) -> Result<Outcome, CommandError> {
    let mut numbers = Vec::new();
    for word in rest.split_whitespace() {
        numbers.extend(signals_of(word)?);
    }
    if numbers.is_empty() {
        numbers.extend(1..=SIGNAL_MAX);
    }
    Ok(signal_views(session, &numbers))
}

fn signal_views(session: &Session, numbers: &[i32]) -> Outcome {
    let views = numbers
        .iter()
        .filter_map(|&number| session.user.signals.view(number));
    Outcome::Signals(views.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_are_named_in_many_ways() {
        for (word, expected) in [
            ("SIGUSR1", vec![10]),
            ("usr1", vec![10]),
            ("10", vec![10]),
            ("10-12", vec![10, 11, 12]),
            ("SIG40", vec![40]),
        ] {
            assert_eq!(signals_of(word), Ok(expected), "{word}");
        }
        assert_eq!(signals_of("all").map(|all| all.len()), Ok(61));
        let error = signals_of("SIGUSR3").expect_err("no signal");
        assert_eq!(error.help.as_deref(), Some("did you mean `SIGUSR1`?"));
        assert!(signals_of("65").is_err() && signals_of("0").is_err());
    }
}
