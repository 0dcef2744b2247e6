//! The costs of setting breakpoints: juror, gdb and lldb with the same programs and places, in
//! the same run.
//!
//! ```text
//! cargo bench -p juror-testing --bench breakpoints [-- --quick]
//! ```
//!
//! The large program has many units, as those of a big project: one unit is compiled, and its
//! object is repeated under other names of the same length. The small program is one file with
//! 900 lines, at 400 of which there is a breakpoint; where the C library has debug information,
//! juror reads it, too.
//!
//! Each cell is a whole command: the debugger starts, loads the program, sets the breakpoints
//! and ends. *Start* is without a breakpoint; *first* is the difference that one breakpoint
//! makes, and *each further* that of the others by their number. *Cold* is without an index on
//! disk, *warm* with one that a run before has kept. The peers have no index that helps here.
//!
//! Time is processor time of all processes of the command, so that other work on the machine
//! matters little. The debuggers alternate; the table (Markdown) has the best of several
//! rounds, since disturbances only add.
//!
//! `--quick` makes one round with a smaller program, and shows only that everything works.

use juror_testing::measure::run_benchmark;
use juror_testing::{Juror, Output, run_with_deadline};
use nix::sys::resource::{UsageWho, getrusage};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;
use tempfile::TempDir;

/// A deadline longer than any command.
const DEADLINE: Duration = Duration::from_secs(300);
/// The argument with which this program measures a command.
const MEASURE: &str = "--measure";
/// The prefix of the last line printed then.
const MEASURED: &str = "measured (ns): ";
/// The number of units of the large program, and of that of `--quick`.
const UNITS: [usize; 2] = [2500, 20];
/// The name of the unit that is compiled; those of others have another number.
const UNIT: &str = "u0000";
/// The structures and functions of a unit, and the headers that it includes.
const STRUCTURES: usize = 100;
const FUNCTIONS: usize = 120;
const HEADERS: usize = 40;
/// The lines of a function of the large program.
const FUNCTION_LINES: usize = 8;
/// The breakpoints beyond the first in the large program.
const FURTHER: usize = 100;
/// The lines and breakpoints of the small program.
const SMALL_LINES: usize = 900;
const SMALL_BREAKPOINTS: usize = 400;

type Failure = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    if let Some((first, command)) = arguments.split_first()
        && first == MEASURE
    {
        return measure_command(command);
    }
    run_benchmark("breakpoints", |is_quick| {
        compare(is_quick).map_err(|error| error.to_string())
    })
}

/// Runs a command and prints the processor time that it has taken.
fn measure_command(command: &[OsString]) -> ExitCode {
    let Some((program, arguments)) = command.split_first() else {
        return ExitCode::FAILURE;
    };
    let status = Command::new(program).args(arguments).status();
    match (status, getrusage(UsageWho::RUSAGE_CHILDREN)) {
        (Ok(_), Ok(usage)) => {
            let times = [usage.user_time(), usage.system_time()];
            let ns = times.map(|it| it.tv_sec() * 1_000_000_000 + it.tv_usec() * 1000);
            println!("\n{MEASURED}{}", ns.iter().sum::<i64>());
            ExitCode::SUCCESS
        }
        _ => ExitCode::FAILURE,
    }
}

/// A place for a breakpoint.
#[derive(Clone)]
enum Place {
    Line(String, usize),
    Function(String),
}

/// A debugger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Debugger {
    Juror,
    Gdb,
    Lldb,
}

impl Debugger {
    /// Returns the command that sets a breakpoint.
    fn breakpoint(self, place: &Place) -> String {
        match (self, place) {
            (Debugger::Lldb, Place::Line(file, line)) => {
                format!("breakpoint set -f {file} -l {line}")
            }
            (Debugger::Lldb, Place::Function(name)) => format!("breakpoint set -n {name}"),
            (_, Place::Line(file, line)) => format!("break {file}:{line}"),
            (_, Place::Function(name)) => format!("break {name}"),
        }
    }

    /// Returns the text that it prints once for each breakpoint with a place.
    fn proof(self) -> &'static str {
        match self {
            Debugger::Juror => "breakpoint ",
            Debugger::Gdb => "Breakpoint ",
            Debugger::Lldb => ": where = ",
        }
    }
}

struct Bench {
    juror: PathBuf,
    peers: Vec<Debugger>,
    rounds: usize,
    own: PathBuf,
    /// Programs, scripts, and the cache.
    directory: TempDir,
}

fn compare(is_quick: bool) -> Result<(), Failure> {
    let peers = [(Debugger::Gdb, "gdb"), (Debugger::Lldb, "lldb")];
    let is_here = |(_, command): &(Debugger, &str)| {
        let output = Command::new(command).arg("--version").output();
        let is_here = output.is_ok_and(|output| output.status.success());
        if !is_here {
            println!("{command} is not installed and is left out.\n");
        }
        is_here
    };
    let bench = Bench {
        juror: Juror::find_as_built()?,
        peers: peers.into_iter().filter(is_here).map(|it| it.0).collect(),
        rounds: if is_quick { 1 } else { 7 },
        own: std::env::current_exe()?,
        directory: TempDir::with_prefix("juror-bench-")?,
    };
    println!("| what | juror, cold | juror, warm | gdb | lldb |");
    println!("| --- | ---: | ---: | ---: | ---: |");
    let units = UNITS[usize::from(is_quick)];
    let large = large_program(bench.directory.path(), units)?;
    let size = fs::metadata(&large)?.len() as f64 / 1e6;
    let title = format!("{units} units, {size:.0} MB");
    let places = |number: usize| format!("u{:04}", number * (units - 1) / FURTHER);
    let lines: Vec<Place> = (0..=FURTHER)
        .map(|number| Place::Line(format!("{UNIT}.c"), line_of_function(number) + 2))
        .collect();
    let functions: Vec<Place> = (0..=FURTHER)
        .map(|number| Place::Function(format!("{}_work_{}", places(number), number)))
        .collect();
    bench.print_start(&title, &large)?;
    bench.print_differences(&format!("{title}: `break FILE:LINE`"), &large, &lines)?;
    bench.print_differences(&format!("{title}: `break FUNCTION`"), &large, &functions)?;
    let small = small_program(bench.directory.path())?;
    let lines: Vec<Place> = (0..SMALL_BREAKPOINTS)
        .map(|number| Place::Line("small.c".to_owned(), 3 + 2 * number))
        .collect();
    let title = format!("{SMALL_LINES} lines: start and {SMALL_BREAKPOINTS} breakpoints");
    let times = bench.measure(&small, &lines)?;
    bench.print_row(&title, times.map(|time| time.map(milliseconds)));
    Ok(())
}

impl Bench {
    fn print_start(&self, title: &str, program: &Path) -> Result<(), Failure> {
        let times = self.measure(program, &[])?;
        self.print_row(
            &format!("{title}: start"),
            times.map(|it| it.map(milliseconds)),
        );
        Ok(())
    }

    /// Prints the rows of the first breakpoint, and of each further one.
    fn print_differences(
        &self,
        title: &str,
        program: &Path,
        places: &[Place],
    ) -> Result<(), Failure> {
        let none = self.measure(program, &[])?;
        let one = self.measure(program, &places[..1])?;
        let all = self.measure(program, places)?;
        let further = (places.len() - 1) as f64;
        let cell = |number: usize, (less, more): (&[Option<f64>; 4], &[Option<f64>; 4]), by| {
            let difference = more[number]? - less[number]?;
            Some(milliseconds(difference.max(0.0) / by))
        };
        let row = |pair, by| [0, 1, 2, 3].map(|number| cell(number, pair, by));
        self.print_row(&format!("{title}, the first"), row((&none, &one), 1.0));
        // Only the first breakpoint finds the cache cold.
        let mut others = row((&one, &all), further);
        others[0] = None;
        self.print_row(&format!("{title}, each further"), others);
        Ok(())
    }

    fn print_row(&self, title: &str, cells: [Option<String>; 4]) {
        let cells = cells.map(|cell| cell.unwrap_or_else(|| "–".to_owned()));
        println!("| {title} | {} |", cells.join(" | "));
    }

    /// Measures setting these breakpoints: juror cold and warm, gdb, lldb, in nanoseconds.
    fn measure(&self, program: &Path, places: &[Place]) -> Result<[Option<f64>; 4], Failure> {
        let kept = self.directory.path().join("cache");
        // Both searches keep what they read.
        self.ask(Debugger::Juror, program, places, &kept)?;
        let mut best: [Option<f64>; 4] = [None; 4];
        for _ in 0..self.rounds {
            let cold = TempDir::with_prefix("juror-bench-")?;
            let mut note = |column: usize, time: f64| {
                let known = &mut best[column];
                *known = Some(known.map_or(time, |known: f64| known.min(time)));
            };
            note(0, self.ask(Debugger::Juror, program, places, cold.path())?);
            note(1, self.ask(Debugger::Juror, program, places, &kept)?);
            for peer in &self.peers {
                let column = if *peer == Debugger::Gdb { 2 } else { 3 };
                note(column, self.ask(*peer, program, places, cold.path())?);
            }
        }
        Ok(best)
    }

    /// Sets breakpoints once; returns the processor time in nanoseconds.
    fn ask(
        &self,
        debugger: Debugger,
        program: &Path,
        places: &[Place],
        cache: &Path,
    ) -> Result<f64, Failure> {
        let commands = places.iter().map(|place| debugger.breakpoint(place));
        let script = self.directory.path().join("script");
        fs::write(&script, commands.collect::<Vec<_>>().join("\n"))?;
        let mut command = Command::new(&self.own);
        command
            .arg(MEASURE)
            .env("XDG_STATE_HOME", self.directory.path())
            .env("XDG_CACHE_HOME", cache);
        match debugger {
            Debugger::Juror => command.arg(&self.juror).args(["run", "--batch", "-x"]),
            Debugger::Gdb => command.args(["gdb", "-nx", "-q", "-batch"]).args([
                "-iex",
                "set debuginfod enabled off",
                "-x",
            ]),
            Debugger::Lldb => command.args(["lldb", "--no-lldbinit", "-b", "-s"]),
        };
        command.arg(&script);
        if debugger == Debugger::Juror {
            // Without it the program would run to its end.
            command.args(["-e", "quit", "--"]);
        }
        command.arg(program);
        let output = run_with_deadline(&mut command, b"", DEADLINE)?;
        let lines = output.stdout.lines();
        let set = lines.filter(|line| line.contains(debugger.proof()) && line.contains("0x"));
        let time = (set.count() >= places.len()).then(|| measured(&output));
        time.flatten()
            .ok_or_else(|| format!("{command:?}:\n{}{}", output.stdout, output.stderr).into())
    }
}

/// Returns the time that the measuring process printed after the command's output.
fn measured(output: &Output) -> Option<f64> {
    let (_, time) = output.stdout.rsplit_once(MEASURED)?;
    time.trim().parse().ok()
}

fn milliseconds(ns: f64) -> String {
    match ns / 1e6 {
        ms if ms < 10.0 => format!("{ms:.2} ms"),
        ms => format!("{ms:.0} ms"),
    }
}

/// Builds a program of many units.
fn large_program(directory: &Path, units: usize) -> Result<PathBuf, Failure> {
    let mut includes = String::new();
    for number in 0..HEADERS {
        // Files of the same name are in several directories.
        let name = format!("part_{}/types_{}.h", number % 4, number / 4);
        fs::create_dir_all(directory.join(format!("part_{}", number % 4)))?;
        let text = format!(
            "struct shared_{number} {{ int a; long b; struct shared_{number} *next; }};\n\
             static inline int shared_of_{number}(struct shared_{number} *it) {{\n\
             \x20   return it->a;\n}}\n"
        );
        fs::write(directory.join(&name), text)?;
        writeln!(includes, "#include \"{name}\"")?;
    }
    fs::write(directory.join("headers.h"), includes)?;
    fs::write(directory.join(format!("{UNIT}.c")), unit_source()?)?;
    fs::write(directory.join("main.c"), "int main(void) { return 0; }\n")?;
    compile(directory, &["-c", &format!("{UNIT}.c")])?;
    let object = fs::read(directory.join(format!("{UNIT}.o")))?;
    let mut objects = Vec::new();
    for number in 0..units {
        let name = format!("u{number:04}");
        fs::write(directory.join(format!("{name}.o")), renamed(&object, &name))?;
        objects.push(format!("{name}.o"));
    }
    fs::write(directory.join("objects"), objects.join("\n"))?;
    compile(directory, &["-o", "large", "main.c", "@objects"])?;
    for object in objects {
        fs::remove_file(directory.join(object))?;
    }
    Ok(directory.join("large"))
}

/// Returns the source of the unit: structures with members, and functions that use them.
fn unit_source() -> Result<String, Failure> {
    let mut source = "#include \"headers.h\"\n".to_owned();
    for number in 0..STRUCTURES {
        let members = (0..12).map(|member| match member % 3 {
            0 => format!("int {UNIT}_count_{number}_{member};"),
            1 => format!(
                "struct shared_{} *link_{member};",
                (number + member) % HEADERS
            ),
            _ => format!("double value_{member};"),
        });
        let members: Vec<String> = members.collect();
        writeln!(
            source,
            "struct {UNIT}_s{number} {{ {} }};",
            members.join(" ")
        )?;
    }
    assert_eq!(source.lines().count() + 1, line_of_function(0));
    for number in 0..FUNCTIONS {
        let kind = number % STRUCTURES;
        writeln!(
            source,
            "int {UNIT}_work_{number}(struct {UNIT}_s{kind} *it, int by) {{"
        )?;
        writeln!(source, "    int sum = by;")?;
        writeln!(source, "    sum += it->{UNIT}_count_{kind}_0;")?;
        writeln!(source, "    for (int round = 0; round < by; round++)")?;
        let (header, link) = ((kind + 1) % HEADERS, 1);
        writeln!(
            source,
            "        sum += shared_of_{header}(it->link_{link});"
        )?;
        writeln!(source, "    it->value_2 += sum;")?;
        writeln!(source, "    return sum;")?;
        writeln!(source, "}}")?;
    }
    Ok(source)
}

/// Returns the line at which a function of the unit begins.
fn line_of_function(number: usize) -> usize {
    2 + STRUCTURES + FUNCTION_LINES * number
}

/// Returns an object with the names of another unit, which are as long.
fn renamed(object: &[u8], name: &str) -> Vec<u8> {
    let mut object = object.to_vec();
    let mut at = 0;
    while let Some(found) = memchr::memmem::find(&object[at..], UNIT.as_bytes()) {
        at += found;
        object[at..at + name.len()].copy_from_slice(name.as_bytes());
        at += name.len();
    }
    object
}

/// Builds a program of one file; a statement begins on every line of its functions.
fn small_program(directory: &Path) -> Result<PathBuf, Failure> {
    let mut source = "#include <stdio.h>\nvolatile int sink;\n".to_owned();
    let mut lines = 2;
    while lines + 20 < SMALL_LINES {
        writeln!(source, "int work_{lines}(int x) {{")?;
        for number in 0..6 {
            writeln!(source, "    sink = x + {number};")?;
        }
        writeln!(source, "    return sink;\n}}")?;
        lines += 9;
    }
    source.push_str("int main(void) {\n    puts(\"\");\n");
    source.push_str(&"    sink++;\n".repeat(SMALL_LINES - lines - 4));
    source.push_str("    return 0;\n}\n");
    fs::write(directory.join("small.c"), source)?;
    compile(directory, &["-o", "small", "small.c"])?;
    Ok(directory.join("small"))
}

fn compile(directory: &Path, arguments: &[&str]) -> Result<(), Failure> {
    let mut command = Command::new("gcc");
    command
        .current_dir(directory)
        .args(["-g", "-O0"])
        .args(arguments);
    let output = command.output()?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("{command:?}: {said}").into())
}
