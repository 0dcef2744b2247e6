//! The costs of symbols: juror and gdb from their start to the first answer, in the same
//! run, with their memory.
//!
//! ```text
//! cargo bench -p juror-testing --bench symbols [-- --quick]
//! ```
//!
//! Each cell is a whole command: the debugger starts, loads the program, answers and ends.
//! *Cold* is without a cached index; *warm* is with each debugger's own (gdb's
//! `index-cache`). The programs are in the page cache both times. The debuggers alternate,
//! also in who begins; the table (Markdown) has the best of several rounds, since
//! disturbances only add, and gdb's factor.
//!
//! Time is wall-clock time. Memory is the largest resident set of all processes of the
//! command (`ru_maxrss`), measured by a process of its own without other children; touched
//! pages of mapped files count.
//!
//! `--quick` makes one round with the small program, and shows only that everything works.

use juror_testing::{
    Build, Fixture, Juror, Language, Output, repository_directory, run_with_deadline,
};
use nix::sys::resource::{UsageWho, getrusage};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A deadline longer than any command.
const DEADLINE: Duration = Duration::from_secs(300);
/// The argument with which this program measures a command.
const MEASURE: &str = "--measure";
/// The prefix of the last line printed then.
const MEASURED: &str = "measured (ns, KiB): ";

type Failure = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    if let Some((first, command)) = arguments.split_first()
        && first == MEASURE
    {
        return measure_command(command);
    }
    let has = |wanted: &str| arguments.iter().any(|argument| argument == wanted);
    let is_quick = has("--quick");
    if !is_quick && !has("--bench") {
        println!("Not run by cargo bench: nothing is measured.");
        return ExitCode::SUCCESS;
    }
    match compare(is_quick) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("symbols: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs a command and exits with its status.
fn measure_command(command: &[OsString]) -> ExitCode {
    let Some((program, arguments)) = command.split_first() else {
        return ExitCode::FAILURE;
    };
    let begin = Instant::now();
    let status = Command::new(program).args(arguments).status();
    let elapsed = begin.elapsed();
    match (status, getrusage(UsageWho::RUSAGE_CHILDREN)) {
        (Ok(_), Ok(usage)) => {
            println!("\n{MEASURED}{} {}", elapsed.as_nanos(), usage.max_rss());
            ExitCode::SUCCESS
        }
        _ => ExitCode::FAILURE,
    }
}

/// A program and the questions about it.
struct Subject {
    title: String,
    program: PathBuf,
    arguments: Vec<OsString>,
    /// A function called deep inside the program.
    function: &'static str,
    /// A caller of its caller, or one farther out.
    outer: &'static str,
    /// The last part of its name, which both debuggers print.
    pattern: &'static str,
}

/// The question for a debugger.
#[derive(Clone, Copy)]
enum Question {
    Prompt,
    Break,
    Backtrace,
    Functions,
    /// All functions, by an expression that is not a word; it needs the index of all names,
    /// and is not measured.
    AllFunctions,
}

impl Question {
    const ALL: [Question; 4] = [
        Question::Prompt,
        Question::Break,
        Question::Backtrace,
        Question::Functions,
    ];

    fn title(self, subject: &Subject) -> String {
        match self {
            Question::Prompt => "the prompt".to_owned(),
            Question::Break => "a breakpoint by name, and its place".to_owned(),
            Question::Backtrace => "the same, run, the first backtrace".to_owned(),
            Question::Functions => format!("`info functions {}`", subject.pattern),
            Question::AllFunctions => "an index".to_owned(),
        }
    }

    /// Returns the commands, which are the same for both debuggers.
    fn script(self, subject: &Subject) -> Vec<String> {
        let breakpoint = format!("break {}", subject.function);
        match self {
            Question::Prompt => Vec::new(),
            Question::Break => vec![breakpoint],
            Question::Backtrace => vec![breakpoint, "run".to_owned(), "bt".to_owned()],
            Question::Functions => vec![format!("info functions {}", subject.pattern)],
            Question::AllFunctions => vec![format!("info functions {}[^^]*", subject.pattern)],
        }
    }

    /// Returns the text that both print if they answered.
    fn proof(self, subject: &Subject) -> Option<&'static str> {
        match self {
            Question::Prompt => None,
            Question::Break => Some("point 1 at 0x"),
            Question::Backtrace => Some(subject.outer),
            Question::Functions | Question::AllFunctions => Some(subject.pattern),
        }
    }
}

/// The debugger.
#[derive(Clone, Copy)]
enum Debugger {
    Juror,
    Gdb,
}

/// The costs of a command.
#[derive(Clone, Copy)]
struct Cost {
    elapsed_ns: f64,
    resident_kib: f64,
}

impl Cost {
    /// Returns the minimum of both, separately for time and memory.
    fn best(self, other: Cost) -> Cost {
        Cost {
            elapsed_ns: self.elapsed_ns.min(other.elapsed_ns),
            resident_kib: self.resident_kib.min(other.resident_kib),
        }
    }
}

struct Bench {
    juror: PathBuf,
    has_gdb: bool,
    rounds: usize,
    own: PathBuf,
}

fn compare(is_quick: bool) -> Result<(), Failure> {
    let gdb = Command::new("gdb").arg("--version").output();
    let has_gdb = gdb.is_ok_and(|output| output.status.success());
    if !has_gdb {
        println!("gdb is not installed; juror is measured alone.\n");
    }
    let bench = Bench {
        juror: Juror::find_as_built()?,
        has_gdb,
        rounds: if is_quick { 1 } else { 7 },
        own: std::env::current_exe()?,
    };
    println!("| what | juror | gdb | gdb / juror | juror | gdb | gdb / juror |");
    println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: |");
    let mut subjects = vec![small()?];
    if !is_quick {
        subjects.push(largest()?);
    }
    for subject in subjects {
        for question in Question::ALL {
            for is_warm in [false, true] {
                bench.print_row(&subject, question, is_warm)?;
            }
        }
    }
    Ok(())
}

fn small() -> Result<Subject, Failure> {
    let program = Fixture::program("calls.c").try_compile(&Build::plain(Language::C))?;
    Ok(Subject {
        title: "small".to_owned(),
        program,
        arguments: vec!["1".into(), "1".into()],
        function: "tick",
        outer: "main (",
        pattern: "tick",
    })
}

/// Returns juror itself, as built for its own tests.
fn largest() -> Result<Subject, Failure> {
    let program = Juror::find("dev")?;
    let megabytes = std::fs::metadata(&program)?.len() as f64 / 1e6;
    let property = repository_directory().join("crates/testing/programs/calls.prop");
    Ok(Subject {
        title: format!("juror itself, {megabytes:.0} MB"),
        program,
        arguments: ["property", "check"]
            .into_iter()
            .map(OsString::from)
            .chain([property.into_os_string()])
            .collect(),
        function: "juror_language::check::check_with",
        outer: "juror::main",
        pattern: "prologue_end",
    })
}

impl Bench {
    /// Measures one row, alternating the debuggers, and prints it.
    fn print_row(
        &self,
        subject: &Subject,
        question: Question,
        is_warm: bool,
    ) -> Result<(), Failure> {
        let debuggers: &[Debugger] = if self.has_gdb {
            &[Debugger::Juror, Debugger::Gdb]
        } else {
            &[Debugger::Juror]
        };
        let kept = TempDir::with_prefix("juror-bench-")?;
        if is_warm {
            for debugger in debuggers {
                self.fill(*debugger, subject, kept.path())?;
            }
        }
        let mut best: [Option<Cost>; 2] = [None; 2];
        for round in 0..self.rounds {
            let mut turns = debuggers.to_vec();
            turns.rotate_left(round % debuggers.len());
            for debugger in turns {
                let place = is_warm.then_some(kept.path());
                let cost = self.ask(debugger, subject, question, place)?;
                let place = &mut best[debugger as usize];
                *place = Some(place.map_or(cost, |known| known.best(cost)));
            }
        }
        let state = if is_warm { "warm" } else { "cold" };
        let title = question.title(subject);
        let [juror, gdb] = best;
        println!(
            "| {}: {title}, {state} | {} | {} |",
            subject.title,
            cells(juror, gdb, |cost| cost.elapsed_ns, duration),
            cells(juror, gdb, |cost| cost.resident_kib, megabytes),
        );
        Ok(())
    }

    /// Fills a debugger's index cache by a question that needs the index.
    fn fill(&self, debugger: Debugger, subject: &Subject, kept: &Path) -> Result<(), Failure> {
        self.ask(debugger, subject, Question::AllFunctions, Some(kept))?;
        Ok(())
    }

    /// Asks one question; the cache is in the directory `kept`, if given.
    fn ask(
        &self,
        debugger: Debugger,
        subject: &Subject,
        question: Question,
        kept: Option<&Path>,
    ) -> Result<Cost, Failure> {
        let empty = TempDir::with_prefix("juror-bench-")?;
        let place = kept.unwrap_or(empty.path());
        let mut command = Command::new(&self.own);
        command
            .arg(MEASURE)
            .env("XDG_STATE_HOME", empty.path())
            .env("XDG_CACHE_HOME", place);
        match debugger {
            Debugger::Juror => self.juror_arguments(&mut command, subject, question),
            Debugger::Gdb => gdb_arguments(&mut command, subject, question, kept),
        }
        command.arg(&subject.program).args(&subject.arguments);
        let output = run_with_deadline(&mut command, b"", DEADLINE)?;
        let proof = question.proof(subject);
        let cost = proof
            .is_none_or(|proof| output.stdout.contains(proof))
            .then(|| cost(&output));
        cost.flatten()
            .ok_or_else(|| format!("{command:?}:\n{}{}", output.stdout, output.stderr).into())
    }

    fn juror_arguments(&self, command: &mut Command, subject: &Subject, question: Question) {
        command.arg(&self.juror).args(["run", "--batch"]);
        for line in question.script(subject) {
            command.args(["-e", &line]);
        }
        // Without it the program would run to its end.
        command.args(["-e", "quit", "--"]);
    }
}

fn gdb_arguments(
    command: &mut Command,
    subject: &Subject,
    question: Question,
    kept: Option<&Path>,
) {
    command.args(["gdb", "-nx", "-q", "-batch"]);
    command.args(["-iex", "set debuginfod enabled off"]);
    match kept {
        Some(kept) => {
            let directory = format!("set index-cache directory {}", kept.display());
            command.args(["-iex", &directory, "-iex", "set index-cache enabled on"]);
        }
        None => drop(command.args(["-iex", "set index-cache enabled off"])),
    }
    for line in question.script(subject) {
        command.args(["-ex", &line]);
    }
    command.arg("--args");
}

/// Returns the costs that the measuring process printed after the command's output.
fn cost(output: &Output) -> Option<Cost> {
    let (_, measured) = output.stdout.rsplit_once(MEASURED)?;
    let (elapsed_ns, resident_kib) = measured.trim().split_once(' ')?;
    Some(Cost {
        elapsed_ns: elapsed_ns.parse().ok()?,
        resident_kib: resident_kib.parse().ok()?,
    })
}

/// Formats both costs and gdb's factor.
fn cells(
    juror: Option<Cost>,
    gdb: Option<Cost>,
    of: impl Fn(Cost) -> f64,
    shown: impl Fn(f64) -> String,
) -> String {
    let (juror, gdb) = (juror.map(&of), gdb.map(&of));
    let ratio = juror.zip(gdb).map(|(juror, gdb)| gdb / juror);
    let cell = |value: Option<f64>| value.map_or("-".to_owned(), &shown);
    let ratio = ratio.map_or("-".to_owned(), |ratio| format!("{ratio:.1}"));
    format!("{} | {} | {ratio}", cell(juror), cell(gdb))
}

fn duration(ns: f64) -> String {
    format!("{:.0} ms", ns / 1e6)
}

fn megabytes(kib: f64) -> String {
    format!("{:.0} MB", kib * 1024.0 / 1e6)
}
