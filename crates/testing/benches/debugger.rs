//! The costs of a debugger: juror, gdb and lldb doing the same work in the same run.
//!
//! ```text
//! cargo bench -p juror-testing --bench debugger [-- --quick]
//! ```
//!
//! The debuggers alternate for several rounds, so that load on the machine affects all of
//! them; the table (Markdown) has medians, and the factors of the peers. If possible, the
//! program measures the time itself, from before the first hit to after the last, so that
//! the debugger's start does not count. Attaching is measured as a whole command.
//!
//! The floor (`programs/floor.c`) runs beside them: a tracer that only does what the kernel
//! requires for a trap.
//!
//! `--quick` takes less than a minute and shows only that everything works.

use juror_debuggee::{Debuggee, Launch, Redirection, StopEvent};
use juror_testing::{Build, Debugger, Fixture, Language, Task, run_with_deadline};
use std::cell::RefCell;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

/// The extent of the measurement.
#[derive(Clone, Copy, PartialEq)]
enum Effort {
    Full,
    Quick,
}

/// A deadline longer than any run.
const DEADLINE: Duration = Duration::from_secs(300);
const THREADS: usize = 64;
/// The number of stops of all threads per round.
const HALTS: usize = 50;

/// A row of the table.
struct Case {
    title: &'static str,
    task: Task<'static>,
    work: Work,
    /// The units of work of juror, gdb and lldb; each takes about a second.
    amounts: [u32; 3],
}

/// The program's work and its unit.
#[derive(Clone, Copy)]
enum Work {
    /// Calls of `tick` by this many threads.
    Calls(u32),
    /// `work` in this mode; the unit is a store or a line.
    Mode(&'static str),
}

const COUNT: Task<'static> = Task::Count {
    function: "tick",
    own_traps: 0,
};
const FALSE: Task<'static> = Task::Ask {
    function: "tick",
    condition: "1 == 0",
};
const ARGUMENT: Task<'static> = Task::Ask {
    function: "tick",
    condition: "n < 0",
};

const fn calls(title: &'static str, task: Task<'static>, threads: u32, amounts: [u32; 3]) -> Case {
    Case {
        title,
        task,
        work: Work::Calls(threads),
        amounts,
    }
}

const CASES: &[Case] = &[
    calls(
        "a breakpoint is counted, 1 thread",
        COUNT,
        1,
        [40_000, 4000, 400],
    ),
    calls(
        "a breakpoint is counted, 4 threads",
        COUNT,
        4,
        [40_000, 4000, 400],
    ),
    calls(
        "a condition is false, 1 thread",
        FALSE,
        1,
        [40_000, 4000, 200],
    ),
    calls(
        "a condition is false, 4 threads",
        FALSE,
        4,
        [40_000, 4000, 200],
    ),
    calls(
        "a condition on an argument, 1 thread",
        ARGUMENT,
        1,
        [40_000, 4000, 200],
    ),
    calls(
        "a condition on an argument, 4 threads",
        ARGUMENT,
        4,
        [40_000, 4000, 200],
    ),
    Case {
        title: "a store to a watched variable (debug register)",
        task: Task::CountStores {
            variable: "counter",
        },
        work: Work::Mode("stores"),
        amounts: [10_000, 4000, 400],
    },
    Case {
        title: "a store to a watched array of 64 bytes",
        task: Task::CountStores { variable: "table" },
        work: Work::Mode("table"),
        amounts: [10_000, 200, 200],
    },
    Case {
        title: "a line stepped over",
        task: Task::Step {
            function: "lines",
            lines: 0,
        },
        work: Work::Mode("lines"),
        amounts: [10_000, 10_000, 1000],
    },
];

fn main() -> ExitCode {
    let has = |wanted| std::env::args().any(|argument| argument == wanted);
    let effort = if has("--quick") {
        Effort::Quick
    } else {
        Effort::Full
    };
    if effort == Effort::Full && !has("--bench") {
        println!("Not run by cargo bench: nothing is measured.");
        return ExitCode::SUCCESS;
    }
    match Bench::prepare(effort).and_then(|bench| bench.run()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("debugger: {message}");
            ExitCode::FAILURE
        }
    }
}

struct Bench {
    effort: Effort,
    debuggers: Vec<Debugger>,
    calls: PathBuf,
    work: PathBuf,
    floor: PathBuf,
}

impl Bench {
    fn prepare(effort: Effort) -> Result<Bench, String> {
        let compile = |file| {
            Fixture::program(file)
                .try_compile(&Build::plain(Language::C))
                .map_err(|error| error.to_string())
        };
        Ok(Bench {
            effort,
            debuggers: Debugger::all_present()?,
            calls: compile("calls.c")?,
            work: compile("work.c")?,
            floor: compile("floor.c")?,
        })
    }

    fn rounds(&self) -> usize {
        match self.effort {
            Effort::Full => 5,
            Effort::Quick => 1,
        }
    }

    fn run(&self) -> Result<(), String> {
        self.print_header();
        let floors = RefCell::new(Vec::new());
        let mut counted = None;
        for (number, case) in CASES.iter().enumerate() {
            // The floor is measured with the first row.
            let own = self.print_row(case.title, |debugger| {
                if number == 0 && debugger.is_juror() {
                    floors.borrow_mut().push(self.time_floor()?);
                }
                self.time(case, debugger)
            })?;
            counted = counted.or(own);
        }
        let title = format!("attach to {THREADS} threads and detach");
        self.print_row(&title, |debugger| self.time_attach(debugger).map(Some))?;
        let floor = median(&floors.borrow());
        if let Some((floor, counted)) = floor.zip(counted) {
            println!(
                "\nThe kernel alone takes {} for a trap; juror's counted breakpoint, 1 thread, is {:.2} times that.",
                duration(floor),
                counted / floor
            );
        }
        let halts = self.time_halts()?;
        println!(
            "\njuror stops all of {THREADS} threads in {}, the median of {} stops.",
            duration(halts),
            HALTS * self.rounds()
        );
        Ok(())
    }

    fn print_header(&self) {
        let mut header = vec!["of juror, gdb and lldb".to_owned()];
        for debugger in &self.debuggers {
            header.push(debugger.name().to_owned());
            if !debugger.is_juror() {
                header.push("/ juror".to_owned());
            }
        }
        println!("| {} |", header.join(" | "));
        println!("|{}", " --- |".repeat(header.len()));
    }

    /// Measures one row, alternating the debuggers, and prints it; returns juror's median.
    /// `time` returns `None` if a debugger cannot do the work.
    fn print_row(
        &self,
        title: &str,
        time: impl Fn(&Debugger) -> Result<Option<f64>, String>,
    ) -> Result<Option<f64>, String> {
        let mut samples = vec![Vec::new(); self.debuggers.len()];
        for _ in 0..self.rounds() {
            for (debugger, samples) in self.debuggers.iter().zip(&mut samples) {
                samples.extend(time(debugger)?);
            }
        }
        let medians: Vec<Option<f64>> = samples.iter().map(|samples| median(samples)).collect();
        let own = medians.first().copied().flatten();
        let mut cells = vec![title.to_owned()];
        for (debugger, median) in self.debuggers.iter().zip(&medians) {
            cells.push(median.map_or("not done".to_owned(), duration));
            if !debugger.is_juror() {
                let ratio = median.zip(own).map(|(peer, own)| peer / own);
                cells.push(ratio.map_or(String::new(), |ratio| format!("{ratio:.1}")));
            }
        }
        println!("| {} |", cells.join(" | "));
        Ok(own)
    }

    /// Returns the nanoseconds of a trap under a tracer that does nothing else.
    fn time_floor(&self) -> Result<f64, String> {
        let traps = match self.effort {
            Effort::Full => 40_000,
            Effort::Quick => 2_000,
        };
        let mut command = Command::new(&self.floor);
        command.arg(traps.to_string());
        let output =
            run_with_deadline(&mut command, b"", DEADLINE).map_err(|error| error.to_string())?;
        number_after(&output.stdout, "elapsed_ns=")
            .map(|elapsed_ns| elapsed_ns as f64 / f64::from(traps))
            .ok_or_else(|| format!("{command:?} does not run to its end:\n{}", output.stderr))
    }

    /// Returns the nanoseconds per unit of work.
    fn time(&self, case: &Case, debugger: &Debugger) -> Result<Option<f64>, String> {
        let amount = self.amount(case, debugger);
        let task = match case.task {
            Task::Step { function, .. } => Task::Step {
                function,
                lines: amount,
            },
            task => task,
        };
        let (program, arguments) = match case.work {
            Work::Calls(threads) => {
                let each = amount / threads;
                (&self.calls, [threads.to_string(), each.to_string()])
            }
            Work::Mode(mode) => (&self.work, [mode.to_owned(), amount.to_string()]),
        };
        let mut command = debugger.command(task, program);
        command.args(arguments);
        let output =
            run_with_deadline(&mut command, b"", DEADLINE).map_err(|error| error.to_string())?;
        let elapsed_ns = number_after(&output.stdout, "elapsed_ns=");
        let is_done = match task {
            Task::Count { .. } | Task::CountStores { .. } | Task::CountChanges { .. } => {
                debugger.count(task, &output.stdout) == Some(u64::from(amount))
            }
            _ => true,
        };
        match elapsed_ns.filter(|_| is_done) {
            Some(elapsed_ns) => Ok(Some(elapsed_ns as f64 / f64::from(amount))),
            None if debugger.is_juror() => Err(format!(
                "{command:?} does not run to its end and see {amount} hits:\n{}{}",
                output.stdout, output.stderr
            )),
            None => Ok(None),
        }
    }

    /// Returns the units of work of this debugger.
    fn amount(&self, case: &Case, debugger: &Debugger) -> u32 {
        let [juror, gdb, lldb] = case.amounts;
        let amount = match debugger.name() {
            name if name.starts_with("gdb") => gdb,
            name if name.starts_with("lldb") => lldb,
            _ => juror,
        };
        match self.effort {
            Effort::Full => amount,
            Effort::Quick => amount / 20,
        }
    }

    /// Returns the nanoseconds of a command that attaches to threads and detaches.
    fn time_attach(&self, debugger: &Debugger) -> Result<f64, String> {
        let failed = |error: std::io::Error| error.to_string();
        let mut program = Command::new(&self.work)
            .args(["threads", &THREADS.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        let mut line = String::new();
        if let Some(output) = &mut program.stdout {
            BufReader::new(output)
                .read_line(&mut line)
                .map_err(failed)?;
        }
        let mut command = debugger.attach_command(program.id());
        let begin = Instant::now();
        let output = run_with_deadline(&mut command, b"", DEADLINE);
        let elapsed = begin.elapsed();
        // The program ends when its input ends.
        drop(program.stdin.take());
        let status = program.wait().map_err(failed)?;
        let output = output.map_err(|error| error.to_string())?;
        if status.success() && output.status.success() {
            Ok(elapsed.as_nanos() as f64)
        } else {
            Err(format!(
                "{command:?} does not attach and detach (the program: {status}):\n{}{}",
                output.stdout, output.stderr
            ))
        }
    }

    /// Returns the nanoseconds in which juror stops all threads, in this process.
    fn time_halts(&self) -> Result<f64, String> {
        let mut samples = Vec::new();
        for _ in 0..self.rounds() {
            samples.extend(halts(&self.work).map_err(|error| error.to_string())?);
        }
        median(&samples).ok_or_else(|| "nothing was stopped".to_owned())
    }
}

/// Runs the sleeping threads, and stops all of them repeatedly.
fn halts(program: &Path) -> Result<Vec<f64>, Box<dyn std::error::Error>> {
    let (input, keep) = std::io::pipe()?;
    let mut debuggee = Debuggee::launch(&Launch {
        arguments: vec!["threads".into(), THREADS.to_string().into()],
        input: Redirection::Descriptor(std::sync::Arc::new(input.into())),
        output: Redirection::File("/dev/null".into()),
        ..Launch::new(program)
    })?;
    debuggee.resume_all()?;
    while debuggee.thread_ids().count() < THREADS {
        let stop_event: StopEvent = debuggee.wait()?;
        if let Some(thread) = stop_event.waiting_thread() {
            debuggee.resume(thread)?;
        }
    }
    let mut samples = Vec::new();
    for _ in 0..HALTS {
        let begin = Instant::now();
        debuggee.halt_all()?;
        samples.push(begin.elapsed().as_nanos() as f64);
        debuggee.resume_all()?;
        // The threads must be asleep before the next stop.
        std::thread::sleep(Duration::from_millis(2));
    }
    drop(keep);
    debuggee.kill()?;
    Ok(samples)
}

fn number_after(output: &str, name: &str) -> Option<u64> {
    let (_, rest) = output.rsplit_once(name)?;
    let end = rest.find(|c: char| !c.is_ascii_digit());
    rest.get(..end.unwrap_or(rest.len()))?.parse().ok()
}

/// Returns the median, if there are samples.
fn median(samples: &[f64]) -> Option<f64> {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied()
}

/// Formats a duration in a suitable unit.
fn duration(ns: f64) -> String {
    match ns {
        ns if ns >= 1e7 => format!("{:.0} ms", ns / 1e6),
        ns if ns >= 1e6 => format!("{:.1} ms", ns / 1e6),
        ns if ns >= 1e5 => format!("{:.0} µs", ns / 1e3),
        ns => format!("{:.1} µs", ns / 1e3),
    }
}
