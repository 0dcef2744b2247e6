//! Programs that execute an instruction or store to a variable a known number of times, in
//! situations in which debuggers miss some or report some twice.
//!
//! The sources are in `programs/exact`. Each program prints its own count on a line that
//! begins with `program: `; a row of [`ROWS`] has this line and the correct number of
//! reports. juror's tests run the rows, and so does the comparison with other debuggers
//! (`cargo bench -p juror-testing --bench peers`).

use crate::{Fixture, Task};

/// The events that a debugger is asked to report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Watched {
    /// The executions of the instruction at the symbol `point`.
    Point,
    /// The stores to the variable `watched`.
    Stores,
    /// The stores that change the variable `watched`.
    Changes,
}

/// A program, the events to report, and their true number.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// The situation, as a table title.
    pub title: &'static str,
    /// The file name of the program without extension.
    pub program: &'static str,
    /// The arguments of the program.
    pub arguments: &'static [&'static str],
    /// The events to report.
    pub watched: Watched,
    /// The true number of events.
    pub expected: u64,
    /// The count that the program prints.
    pub says: &'static str,
    /// The number of SIGTRAP signals that the program itself handles.
    pub own_traps: u32,
}

const fn row(
    title: &'static str,
    program: &'static str,
    arguments: &'static [&'static str],
    watched: Watched,
    expected: u64,
    says: &'static str,
) -> Row {
    Row {
        title,
        program,
        arguments,
        watched,
        expected,
        says,
        own_traps: 0,
    }
}

/// All rows.
pub const ROWS: &[Row] = &[
    row(
        "4 threads, 2 000 passes each",
        "threads",
        &[],
        Watched::Point,
        8000,
        "8000 passes",
    ),
    row(
        "a system call that blocks until another thread wakes it, 20 times",
        "blocked",
        &[],
        Watched::Point,
        20,
        "20 waits",
    ),
    row(
        "`loop` that branches to itself, 50 rounds",
        "self_loop",
        &[],
        Watched::Point,
        50,
        "0 rounds left",
    ),
    row(
        "one `rep stosb` of 50 bytes",
        "repeated",
        &[],
        Watched::Point,
        1,
        "50 bytes",
    ),
    row(
        "3 000 passes, a signal every 1 ms",
        "timer",
        &["1000"],
        Watched::Point,
        3000,
        "3000 passes",
    ),
    row(
        "3 000 passes, a signal every 0.3 ms",
        "timer",
        &["300"],
        Watched::Point,
        3000,
        "3000 passes",
    ),
    row(
        "5 passes, and 5 forked children that pass too",
        "children",
        &[],
        Watched::Point,
        5,
        "5 of 5 children lived",
    ),
    Row {
        own_traps: 10,
        ..row(
            "10 passes, each after a trap of the program's own",
            "own_trap",
            &[],
            Watched::Point,
            10,
            "10 traps handled",
        )
    },
    row(
        "`read(2)` into a variable, once",
        "received",
        &[],
        Watched::Stores,
        1,
        "4 bytes received",
    ),
    row(
        "100 stores to a variable",
        "stores",
        &[],
        Watched::Stores,
        100,
        "9 changes",
    ),
    row(
        "9 of 100 stores change a variable",
        "stores",
        &[],
        Watched::Changes,
        9,
        "9 changes",
    ),
];

/// The header that all programs include.
const HEADER: &str = include_str!("../programs/exact/point.h");

impl Row {
    /// Returns the task for a debugger.
    pub fn task(&self) -> Task<'static> {
        match self.watched {
            Watched::Point => Task::Count {
                function: "point",
                own_traps: self.own_traps,
            },
            Watched::Stores => Task::CountStores {
                variable: "watched",
            },
            Watched::Changes => Task::CountChanges {
                variable: "watched",
            },
        }
    }

    /// Returns the program.
    ///
    /// # Panics
    ///
    /// Its source does not exist.
    #[track_caller]
    pub fn fixture(&self) -> Fixture {
        let file = format!("{}.c", self.program);
        let source = Fixture::source(&format!("exact/{file}"));
        Fixture::files(self.program, &[(&file, &source), ("point.h", HEADER)])
    }
}

/// Returns the count that a program of a row printed; other text, such as its source, does
/// not have it at the beginning of a line.
pub fn program_says(output: &str) -> Option<&str> {
    let mut lines = output.lines();
    lines.find_map(|line| Some(line.strip_prefix("program: ")?.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Build, run_with_deadline};
    use std::process::Command;
    use std::time::Duration;

    #[test]
    fn programs_count_right_without_a_debugger() {
        for row in ROWS {
            for build in Build::all() {
                let mut command = Command::new(row.fixture().compile(&build));
                command.args(row.arguments);
                let output = run_with_deadline(&mut command, b"", Duration::from_secs(60));
                let output = output.unwrap();
                output.assert_code(0);
                assert_eq!(program_says(&output.stdout), Some(row.says), "{build}");
            }
        }
    }
}
