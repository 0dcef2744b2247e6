//! `handle` and `info signals`: what is done about each signal.
//!
//! The defaults are gdb's, with three differences that cost nothing: a signal
//! that will end the program is always shown, unless the user said otherwise;
//! a `SIGTRAP` that the program has a handler for is the program's own affair;
//! and a `SIGINT` that another process sent is told from Ctrl-C, which never
//! reaches the program while the signal stops. Without a person at a prompt
//! nothing stops but what ends the program.

use crate::options::CommandError;
use crate::session::Session;
use crate::signal;
use crate::view::{Outcome, SignalView};
use juror_debuggee::{Debuggee, SignalPolicy, SignalReport};

/// The highest number of a signal.
pub(crate) const SIGNAL_MAX: i32 = 64;
/// Signals that come often and mean nothing to a person, as gdb has it: alarm
/// clocks and timers, children, input and output, windows, and the two that
/// the C library keeps for itself.
const QUIET: [i32; 9] = [14, 17, 23, 26, 27, 28, 29, 32, 33];
const SIGINT: i32 = 2;
const SIGTRAP: i32 = 5;

/// What is done about one signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Row {
    stop: bool,
    print: bool,
    pass: bool,
    /// The user asked for it: not even an end of the program overrides it.
    is_asked: bool,
}

/// The table of all signals.
#[derive(Debug, Clone)]
pub(crate) struct Handling {
    /// By number less one.
    rows: Vec<Row>,
}

/// What the session does about a signal that was reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Decision {
    /// The program stops for the user.
    pub stop: bool,
    /// The user is told.
    pub print: bool,
    /// The program gets it.
    pub pass: bool,
}

impl Handling {
    /// The defaults; quieter when nobody sits at a prompt.
    pub(crate) fn new(batch: bool) -> Handling {
        let row = |number: i32| Row {
            stop: !batch && !QUIET.contains(&number),
            print: !batch && !QUIET.contains(&number),
            pass: number != SIGTRAP,
            is_asked: false,
        };
        Handling {
            rows: (1..=SIGNAL_MAX).map(row).collect(),
        }
    }

    fn row(&self, number: i32) -> Option<&Row> {
        let index = usize::try_from(number.wrapping_sub(1)).ok()?;
        self.rows.get(index)
    }

    /// What is done about a signal that came.
    pub(crate) fn decide(&self, number: i32, fatal: bool) -> Decision {
        match self.row(number) {
            None => Decision {
                stop: true,
                print: true,
                pass: true,
            },
            Some(row) => Decision {
                stop: row.stop || (fatal && !row.is_asked),
                print: row.print,
                pass: row.pass,
            },
        }
    }

    /// Tells the debuggee what to report, and what to keep from the program.
    pub(crate) fn apply(&self, debuggee: &mut Debuggee) {
        for (row, number) in self.rows.iter().zip(1..) {
            debuggee.set_signal_policy(number, row.signal_policy(number));
        }
    }

    fn change(&mut self, number: i32, actions: &[Action]) {
        let index = usize::try_from(number.wrapping_sub(1)).ok();
        let Some(row) = index.and_then(|index| self.rows.get_mut(index)) else {
            return;
        };
        for action in actions {
            row.apply(*action);
        }
        row.is_asked = true;
    }

    fn view(&self, number: i32) -> Option<SignalView> {
        let row = self.row(number)?;
        let (name, description) = signal::describe(number);
        Some(SignalView {
            number,
            name,
            description,
            stop: row.stop,
            print: row.print,
            pass: row.pass,
        })
    }
}

impl Row {
    /// As gdb does: to stop means to print, and not to print not to stop.
    fn apply(&mut self, action: Action) {
        match action {
            Action::Stop(stop) => {
                self.stop = stop;
                self.print |= stop;
            }
            Action::Print(print) => {
                self.print = print;
                self.stop &= print;
            }
            Action::Pass(pass) => self.pass = pass,
        }
    }

    fn signal_policy(&self, number: i32) -> SignalPolicy {
        // Whether a trap is the program's own shows when it comes.
        let is_own_trap = number == SIGTRAP && !self.is_asked;
        let report = match self.stop || self.print {
            true if is_own_trap => SignalReport::WhenFatal,
            true => SignalReport::Always,
            false if self.is_asked => SignalReport::Never,
            false => SignalReport::WhenFatal,
        };
        SignalPolicy {
            report,
            deliver: self.pass || is_own_trap,
        }
    }
}

/// A word of `handle`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Action {
    Stop(bool),
    Print(bool),
    Pass(bool),
}

fn action(word: &str) -> Option<Action> {
    Some(match word {
        "stop" => Action::Stop(true),
        "nostop" => Action::Stop(false),
        "print" => Action::Print(true),
        "noprint" => Action::Print(false),
        "pass" | "noignore" => Action::Pass(true),
        "nopass" | "ignore" => Action::Pass(false),
        _ => return None,
    })
}

/// The signals that a word means: a name, a number, a range, or `all`, which
/// leaves out those that debugging itself uses.
pub(crate) fn signals_of(word: &str) -> Result<Vec<i32>, CommandError> {
    if word.eq_ignore_ascii_case("all") {
        let is_ours = |number: &i32| *number != SIGINT && *number != SIGTRAP;
        return Ok((1..=SIGNAL_MAX).filter(is_ours).collect());
    }
    if let Some((first, last)) = word.split_once('-')
        && let (Some(first), Some(last)) = (signal::number(first), signal::number(last))
    {
        return Ok((first.min(last)..=first.max(last)).collect());
    }
    match signal::number(word) {
        Some(number) => Ok(vec![number]),
        None => Err(CommandError::with_help(
            format!("there is no signal `{word}`"),
            match juror_language::suggest(&full_name(word), signal::names()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "see: info signals".to_owned(),
            },
        )),
    }
}

fn full_name(word: &str) -> String {
    let upper = word.to_uppercase();
    match upper.starts_with("SIG") {
        true => upper,
        false => format!("SIG{upper}"),
    }
}

impl Session {
    /// `handle SIGNAL... ACTION...`
    pub(crate) fn handle(&mut self, rest: &str) -> Result<Outcome, CommandError> {
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
                "which signal?",
                "for example: handle SIGUSR1 nostop noprint",
            ));
        }
        for &number in &numbers {
            self.handling.change(number, &actions);
        }
        self.renew_catchpoints();
        Ok(self.signal_views(&numbers))
    }

    /// `info signals`, `info signals SIGNAL`
    pub(crate) fn signals(&self, rest: &str) -> Result<Outcome, CommandError> {
        let mut numbers = Vec::new();
        for word in rest.split_whitespace() {
            numbers.extend(signals_of(word)?);
        }
        if numbers.is_empty() {
            numbers.extend(1..=SIGNAL_MAX);
        }
        Ok(self.signal_views(&numbers))
    }

    fn signal_views(&self, numbers: &[i32]) -> Outcome {
        let views = numbers
            .iter()
            .filter_map(|&number| self.handling.view(number));
        Outcome::Signals(views.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(handling: &Handling, number: i32) -> (bool, bool, bool) {
        let row = handling.row(number).expect("a signal");
        (row.stop, row.print, row.pass)
    }

    #[test]
    fn words_change_a_row_as_in_gdb() {
        for (words, expected) in [
            ("nostop", (false, true, true)),
            ("noprint", (false, false, true)),
            ("nostop noprint nopass", (false, false, false)),
            ("noprint stop", (true, true, true)),
            ("ignore", (true, true, false)),
            ("nopass pass", (true, true, true)),
            ("", (true, true, true)),
        ] {
            let mut handling = Handling::new(false);
            let actions: Vec<_> = words.split_whitespace().filter_map(action).collect();
            handling.change(10, &actions);
            assert_eq!(row(&handling, 10), expected, "{words}");
        }
    }

    #[test]
    fn the_debuggee_is_asked_for_no_more_than_is_shown() {
        let signal_policy = |words: &str, batch, number| {
            let mut handling = Handling::new(batch);
            if !words.is_empty() {
                let actions: Vec<_> = words.split_whitespace().filter_map(action).collect();
                handling.change(number, &actions);
            }
            let row = handling.row(number).expect("a signal");
            let signal_policy = row.signal_policy(number);
            (signal_policy.report, signal_policy.deliver)
        };
        for (words, batch, number, expected) in [
            ("", false, 10, (SignalReport::Always, true)),
            ("", true, 10, (SignalReport::WhenFatal, true)),
            ("", false, 17, (SignalReport::WhenFatal, true)),
            ("", false, SIGTRAP, (SignalReport::WhenFatal, true)),
            ("stop", false, SIGTRAP, (SignalReport::Always, false)),
            ("nostop", false, 11, (SignalReport::Always, true)),
            ("noprint", false, 11, (SignalReport::Never, true)),
            ("noprint nopass", false, 10, (SignalReport::Never, false)),
        ] {
            assert_eq!(
                signal_policy(words, batch, number),
                expected,
                "{words} {number}"
            );
        }
    }

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
        assert_eq!(signals_of("all").map(|all| all.len()), Ok(62));
        let error = signals_of("SIGUSR3").expect_err("no signal");
        assert_eq!(error.help.as_deref(), Some("did you mean `SIGUSR1`?"));
        assert!(signals_of("65").is_err() && signals_of("0").is_err());
    }
}
