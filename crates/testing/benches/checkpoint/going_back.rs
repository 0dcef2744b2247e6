//! The time of commands that go back in a recorded run, at its first place and near it again, from the
//! prompt's line to its answer; gdb's `record full` beside it, on the same program with one thread.

use crate::{Failure, milliseconds};
use juror_testing::{Juror, is_installed};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

pub const SOURCE: &str = include_str!("../../../cli/tests/programs/record/rounds.c");

/// Rounds of each thread, megabytes, threads.
const CASES: [(u32, u32, u32); 4] = [
    (300, 1, 3),
    (3_000, 50, 3),
    (30_000, 50, 3),
    (30_000, 50, 1),
];

/// The time that gdb has, in seconds.
const GDB_SECONDS: &str = "120";

/// The commands that are measured, after the run has gone to a place near its end.
const COMMANDS: [&str; 7] = [
    "goto {last}",
    "goto {before}",
    "last-write sum",
    "last-write sum",
    "reverse-stepi",
    "break turn",
    "reverse-continue",
];

/// A debugger that answers lines.
struct Dialog {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Dialog {
    fn begin(mut command: Command) -> Result<Dialog, Failure> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.stderr(Stdio::null()).spawn()?;
        let input = process.stdin.take().ok_or("no input")?;
        let output = process.stdout.take().ok_or("no output")?;
        Ok(Dialog {
            process,
            input,
            output: BufReader::new(output),
        })
    }

    /// Returns the time until a command is answered, and the answer.
    fn ask(&mut self, line: &str) -> Result<(Duration, String), Failure> {
        let begun = Instant::now();
        writeln!(self.input, "{line}\necho =answered\\n")?;
        let mut answer = String::new();
        while !answer.ends_with("=answered\n") {
            if self.output.read_line(&mut answer)? == 0 {
                return Err(format!("{line}: {answer}").into());
            }
        }
        Ok((begun.elapsed(), answer))
    }
}

impl Drop for Dialog {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

pub fn measure(program: &Path, directory: &Path, is_quick: bool) -> Result<(), Failure> {
    println!("\n| rounds, memory, threads | command | first | again |");
    println!("| --- | --- | ---: | ---: |");
    let juror = Juror::find_as_built()?;
    for (rounds, megabytes, threads) in CASES {
        if is_quick && rounds > 1_000 {
            continue;
        }
        let arguments = [rounds, megabytes, threads].map(|it| it.to_string());
        let mut record = Command::new(&juror);
        record.arg("record").arg(program).args(&arguments);
        let text = String::from_utf8(record.current_dir(directory).output()?.stdout)?;
        let (_, file) = text.split_once("recorded in ").ok_or("not recorded")?;
        let (file, _) = file.split_once(' ').ok_or("not recorded")?;
        let mut replay = Command::new(&juror);
        replay.arg("replay").arg(directory.join(file));
        let mut dialog = Dialog::begin(replay)?;
        // The run is made once before the first line is read.
        dialog.ask("schedule")?;
        // A turn has four schedule points at least.
        let last = rounds * threads * 4;
        let case = format!("{}, {megabytes} MB, {threads}", rounds);
        for command in COMMANDS {
            let command = command.replace("{last}", &last.to_string());
            let command = command.replace("{before}", &(last - 3).to_string());
            let (first, _) = dialog.ask(&command)?;
            if command.starts_with("break") {
                continue;
            }
            let (again, _) = dialog.ask(&command)?;
            let (first, again) = (milliseconds(first), milliseconds(again));
            println!("| {case} | {command} | {first} | {again} |");
        }
    }
    if !is_quick && is_installed("gdb") && gdb(program).is_err() {
        println!("| gdb, 50 rounds, 1 MB, 1 | no answer in {GDB_SECONDS} s | | |");
    }
    Ok(())
}

/// Records a shorter run, as each instruction is stepped, and goes back in it.
fn gdb(program: &Path) -> Result<(), Failure> {
    let mut command = Command::new("timeout");
    command
        .args([GDB_SECONDS, "gdb", "-nx", "-q", "--args"])
        .arg(program);
    command.args(["100", "1", "1"]);
    let mut dialog = Dialog::begin(command)?;
    let lines = [
        "set pagination off",
        "set confirm off",
        "set record full insn-number-max unlimited",
        "break work",
        "run",
        "record full",
        "break turn",
        "ignore 2 50",
    ];
    for line in lines {
        dialog.ask(line)?;
    }
    let rows = [
        "continue",
        "reverse-continue",
        "reverse-stepi",
        "reverse-step",
    ];
    for line in rows {
        let (first, _) = dialog.ask(line)?;
        let (again, _) = match line {
            "continue" => (first, String::new()),
            _ => dialog.ask(line)?,
        };
        let (first, again) = (milliseconds(first), milliseconds(again));
        println!("| gdb, 50 rounds, 1 MB, 1 | {line} | {first} | {again} |");
    }
    Ok(())
}
