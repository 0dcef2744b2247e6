//! The signal table of `handle`: for each signal, whether it stops, is printed, is passed.

use juror_debuggee::{Debuggee, SignalPolicy, SignalReport};
use juror_points::signal_names;
use juror_points::signal_names::SIGNAL_MAX;
use juror_view::SignalView;

/// Signals that are frequent and uninteresting, as in gdb: alarm clocks and timers, children, input
/// and output, windows, and the two that the C library reserves.
pub(crate) const QUIET: [i32; 9] = [14, 17, 23, 26, 27, 28, 29, 32, 33];
pub(crate) const SIGTRAP: i32 = 5;
/// The signal that nothing can stop or withhold.
pub(crate) const SIGKILL: i32 = 9;
/// Signals that end no program: they are ignored, or suspend or continue it.
const HARMLESS: [i32; 8] = [17, 18, 19, 20, 21, 22, 23, 28];

/// The actions for one signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) stop: bool,
    pub(crate) print: bool,
    pub(crate) pass: bool,
    /// Whether the user set it: then not even the end of the program overrides it.
    pub(crate) is_asked: bool,
}

/// The table of all signals.
#[derive(Debug, Clone)]
pub(crate) struct SignalTable {
    /// By number less one.
    pub(crate) rows: Vec<Row>,
    /// Whether the rows that the user has not set are followed; else signals that do not end the
    /// program are not reported.
    pub(crate) stops: bool,
}

/// The decision on a reported signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Decision {
    /// Whether the program stops for the user.
    pub stop: bool,
    /// Whether it is reported to the user.
    pub print: bool,
    /// Whether the program receives it.
    pub pass: bool,
}

impl SignalTable {
    /// Returns the defaults; fewer stops in batch mode.
    pub(crate) fn new(batch: bool) -> SignalTable {
        let row = |number: i32| {
            let is_shown = !batch && !QUIET.contains(&number) && number != SIGKILL;
            Row {
                stop: is_shown,
                print: is_shown,
                pass: number != SIGTRAP,
                is_asked: false,
            }
        };
        SignalTable {
            rows: (1..=SIGNAL_MAX).map(row).collect(),
            stops: true,
        }
    }

    pub(crate) fn row(&self, number: i32) -> Option<&Row> {
        let index = usize::try_from(number.wrapping_sub(1)).ok()?;
        self.rows.get(index)
    }

    /// Returns the row that is followed for a signal.
    fn followed(&self, number: i32) -> Option<Row> {
        let row = *self.row(number)?;
        let is_followed = self.stops || row.is_asked;
        Some(Row {
            stop: row.stop && is_followed,
            print: row.print && is_followed,
            ..row
        })
    }

    /// Decides what happens to a signal.
    pub(crate) fn decide(&self, number: i32, fatal: bool) -> Decision {
        match self.followed(number) {
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

    /// Sets which signals the debuggee reports, and which are withheld from the program.
    pub(crate) fn apply(&self, debuggee: &mut Debuggee) {
        for number in 1..=SIGNAL_MAX {
            if let Some(row) = self.followed(number) {
                debuggee.set_signal_policy(number, row.signal_policy(number));
            }
        }
    }

    pub(crate) fn change(&mut self, number: i32, actions: &[Action]) {
        let index = usize::try_from(number.wrapping_sub(1)).ok();
        let Some(row) = index.and_then(|index| self.rows.get_mut(index)) else {
            return;
        };
        for action in actions {
            row.apply(*action);
        }
        row.is_asked = true;
    }

    /// Returns what the run does at a signal, which may differ from its row until the user has changed
    /// that.
    pub(crate) fn view(&self, number: i32) -> Option<SignalView> {
        let row = self.row(number)?;
        let (name, description) = signal_names::describe(number);
        let is_own_trap = row.is_own_trap(number);
        let stop = row.stop && !is_own_trap;
        let may_end = number != SIGKILL && !HARMLESS.contains(&number);
        Some(SignalView {
            number,
            name,
            description,
            stop,
            print: row.print && !is_own_trap,
            pass: row.pass || is_own_trap,
            when_fatal: may_end && !row.is_asked && !stop,
            when_handled: is_own_trap,
        })
    }
}

impl Row {
    /// Applies an action as gdb does: stop implies print, and noprint implies nostop.
    pub(crate) fn apply(&mut self, action: Action) {
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

    /// Returns whether it is for traps, and the user has not said what becomes of them: whether one is
    /// the program's own is known only when it arrives.
    fn is_own_trap(&self, number: i32) -> bool {
        number == SIGTRAP && !self.is_asked
    }

    pub(crate) fn signal_policy(&self, number: i32) -> SignalPolicy {
        let is_own_trap = self.is_own_trap(number);
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
pub(crate) enum Action {
    Stop(bool),
    Print(bool),
    Pass(bool),
}

pub(crate) fn action(word: &str) -> Option<Action> {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn row(table: &SignalTable, number: i32) -> (bool, bool, bool) {
        let row = table.row(number).expect("a signal");
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
            let mut table = SignalTable::new(false);
            let actions: Vec<_> = words.split_whitespace().filter_map(action).collect();
            table.change(10, &actions);
            assert_eq!(row(&table, 10), expected, "{words}");
        }
    }

    #[test]
    fn the_listing_says_what_the_run_does() {
        let listed = |words: &str, batch: bool, number: i32| {
            let mut table = SignalTable::new(batch);
            let actions: Vec<_> = words.split_whitespace().filter_map(action).collect();
            if !actions.is_empty() {
                table.change(number, &actions);
            }
            let view = table.view(number).expect("a signal");
            let flags = (view.stop, view.print, view.pass);
            (flags, view.when_fatal, view.when_handled)
        };
        for (words, batch, number, expected) in [
            ("", false, 10, ((true, true, true), false, false)),
            ("", true, 10, ((false, false, true), true, false)),
            ("", false, 14, ((false, false, true), true, false)),
            ("nostop", false, 14, ((false, false, true), false, false)),
            // It ends no program.
            ("", false, 17, ((false, false, true), false, false)),
            ("", false, SIGTRAP, ((false, false, true), true, true)),
            ("stop", false, SIGTRAP, ((true, true, false), false, false)),
            ("", false, SIGKILL, ((false, false, true), false, false)),
        ] {
            assert_eq!(listed(words, batch, number), expected, "{words} {number}");
        }
    }

    #[test]
    fn only_fatal_signals_and_those_that_were_asked_for_stop() {
        let mut table = SignalTable::new(false);
        table.stops = false;
        table.change(12, &[Action::Stop(true)]);
        table.change(11, &[Action::Stop(false)]);
        for (number, fatal, expected) in [
            (10, false, false),
            (10, true, true),
            (12, false, true),
            (11, true, false),
        ] {
            let decision = table.decide(number, fatal);
            assert_eq!(decision.stop, expected, "{number} {fatal}");
        }
        assert!(!table.decide(10, false).print);
        table.stops = true;
        assert!(table.decide(10, false).stop);
    }

    #[test]
    fn the_debuggee_is_asked_for_no_more_than_is_shown() {
        let signal_policy = |words: &str, batch, number| {
            let mut table = SignalTable::new(batch);
            if !words.is_empty() {
                let actions: Vec<_> = words.split_whitespace().filter_map(action).collect();
                table.change(number, &actions);
            }
            let row = table.row(number).expect("a signal");
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
}
