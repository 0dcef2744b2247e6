//! The part of a row that is about recordings.

use crate::command_table::entry::{Completes, Repeats};
use crate::replay::RecordedRun;
use juror_control::Modes;
use juror_fault::CommandError;
use juror_view::Outcome;
use juror_view::observer::Observer;

/// Executes a command over a recording, given its argument.
pub type RecordedHandler =
    fn(&mut RecordedRun, &str, &mut dyn Observer) -> Result<Outcome, CommandError>;

/// A command over a recording: the help that differs from that with the program, and the handler.
#[derive(Debug)]
pub struct Recorded {
    /// Its summary, in a line.
    pub summary: &'static str,
    /// Lines to type, and their effects.
    pub examples: &'static [(&'static str, &'static str)],
    /// The effect of an empty line after it.
    pub repeats: Repeats,
    /// The completion of its argument.
    pub completes: Completes,
    /// The modes in which it is possible: no program is loaded after the last event.
    pub modes: Modes,
    /// Whether it has no argument: words behind its name are refused.
    pub takes_nothing: bool,
    /// The handler.
    pub run: RecordedHandler,
}

impl Recorded {
    /// The default, for struct update syntax.
    pub(crate) const DEFAULT: Recorded = Recorded {
        summary: "",
        examples: &[],
        repeats: Repeats::No,
        completes: Completes::Nothing,
        modes: Modes::Always,
        takes_nothing: false,
        run: |_, _, _| Ok(Outcome::Done),
    };
}
