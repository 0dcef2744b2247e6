//! Reports of debuggers compared with the truth: juror, gdb and lldb on the programs of
//! [`juror_testing::exact`], whose counts are known.
//!
//! ```text
//! cargo bench -p juror-testing --bench peers
//! ```
//!
//! Each debugger has one breakpoint or watchpoint that counts and never stops (an ignore
//! count), and passes on the signals that the program handles. The table is Markdown. A
//! wrong count is in bold, and so is the program's own count if it went wrong under the
//! debugger. A debugger that has not finished after a minute hangs; it is killed with its
//! descendants.

use juror_testing::exact::{ROWS, Row, program_says};
use juror_testing::{Build, Debugger, Language, RunError, run_with_deadline};
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Duration;

/// A deadline longer than any debugger takes that makes progress.
const DEADLINE: Duration = Duration::from_secs(60);

/// The result of a run.
enum Finding {
    /// The number of reports, and the count printed by the program.
    Counted(u64, Option<String>),
    /// The debugger printed no count.
    NoCount,
    /// The debugger had not finished at the deadline.
    Hangs,
}

fn main() -> ExitCode {
    let is_bench = std::env::args().any(|argument| argument == "--bench");
    if !is_bench {
        println!("Not run by cargo bench: nothing is compared.");
        return ExitCode::SUCCESS;
    }
    match compare() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => {
            eprintln!("peers: juror is wrong");
            ExitCode::FAILURE
        }
        Err(message) => {
            eprintln!("peers: {message}");
            ExitCode::FAILURE
        }
    }
}

/// Prints the table; returns whether juror is right everywhere.
fn compare() -> Result<bool, String> {
    let debuggers = Debugger::all_present()?;
    let names = debuggers.iter().map(Debugger::name);
    let header: Vec<&str> = ["the program", "right"].into_iter().chain(names).collect();
    println!("{}, {}:\n", today(), kernel());
    println!("| {} |", header.join(" | "));
    println!("|{}", " --- |".repeat(header.len()));
    let mut is_right = true;
    for row in ROWS {
        let program = row
            .fixture()
            .try_compile(&build())
            .map_err(|error| error.to_string())?;
        let mut cells = vec![row.title.to_owned(), number(row.expected)];
        for debugger in &debuggers {
            let finding = find(debugger, row, &program)?;
            let cell = cell(row, &finding);
            is_right &= !(debugger.is_juror() && cell.contains("**"));
            cells.push(cell);
        }
        println!("| {} |", cells.join(" | "));
    }
    Ok(is_right)
}

/// Returns a build with fixed addresses, so that addresses can be given before the program
/// runs.
fn build() -> Build {
    Build {
        pie: false,
        ..Build::plain(Language::C)
    }
}

fn find(debugger: &Debugger, row: &Row, program: &Path) -> Result<Finding, String> {
    let mut command = debugger.command(row.task(), program);
    command.args(row.arguments);
    let output = match run_with_deadline(&mut command, b"", DEADLINE) {
        Ok(output) => output,
        Err(RunError::Deadline { .. }) => return Ok(Finding::Hangs),
        Err(error) => return Err(error.to_string()),
    };
    let says = program_says(&output.stdout).map(str::to_owned);
    Ok(match debugger.count(row.task(), &output.stdout) {
        Some(count) => Finding::Counted(count, says),
        None => Finding::NoCount,
    })
}

/// Formats a cell of the table, with errors in bold.
fn cell(row: &Row, finding: &Finding) -> String {
    let (count, says) = match finding {
        Finding::Counted(count, says) => (*count, says),
        Finding::NoCount => return "**no count**".to_owned(),
        Finding::Hangs => return "**hangs**".to_owned(),
    };
    let counted = if count == row.expected {
        number(count)
    } else {
        format!("**{}**", number(count))
    };
    match says.as_deref() {
        Some(says) if says == row.says => counted,
        Some(says) => format!("{counted}, **{says}**"),
        None => format!("{counted}, **the program does not end**"),
    }
}

/// Formats a number with a space between groups of three digits.
fn number(number: u64) -> String {
    let digits = number.to_string();
    let mut spaced = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            spaced.push(' ');
        }
        spaced.push(digit);
    }
    spaced
}

fn today() -> String {
    said_by(Command::new("date").arg("+%F"))
}

fn kernel() -> String {
    said_by(Command::new("uname").arg("-sr"))
}

fn said_by(command: &mut Command) -> String {
    let output = command.output().map(|output| output.stdout);
    let words = String::from_utf8_lossy(&output.unwrap_or_default()).into_owned();
    words.trim().to_owned()
}
