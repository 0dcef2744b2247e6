//! The costs of an event that stops the program: juror against gdb, in the same run.
//!
//! ```text
//! cargo bench -p juror-testing --bench events [-- --quick]
//! ```
//!
//! A program calls a function in a loop and measures the time of the loop. Each call is one
//! event: an argument is read, a guard evaluated, a transition taken, a variable updated;
//! by `programs/calls.prop` in juror and by `programs/calls_gdb.py`, with a Python
//! breakpoint, in gdb. The program alone, juror and gdb alternate for several rounds, so
//! that load on the machine affects all of them. The time per event is that of the loop,
//! less that of the loop alone, divided by the number of calls. A run that misses a call
//! fails the benchmark.
//!
//! `juror after` is a call whose event is its return (`programs/returns.prop`): two stops,
//! and a temporary point at the return address.

use juror_testing::measure::{events_seen, median, minimum, number_after};
use juror_testing::{Build, Fixture, Juror, Language, run_with_deadline};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

/// The extent of the measurement.
struct Effort {
    threads: &'static [u32],
    rounds: usize,
    bare_calls: u32,
    juror_calls: u32,
    gdb_calls: u32,
}

const FULL: Effort = Effort {
    threads: &[1, 2],
    rounds: 7,
    bare_calls: 10_000_000,
    juror_calls: 20_000,
    gdb_calls: 2_000,
};

const QUICK: Effort = Effort {
    threads: &[2],
    rounds: 1,
    bare_calls: 1_000_000,
    juror_calls: 1_000,
    gdb_calls: 100,
};

/// A deadline longer than any run.
const DEADLINE: Duration = Duration::from_secs(300);

/// The way the program is run.
#[derive(Clone, Copy, PartialEq)]
enum Runner {
    Bare,
    /// juror with this property, and this value of `--cpu`.
    Juror(&'static str, &'static str),
    Gdb,
}

/// On one processor, juror's policies are the same.
const ONE_PROCESSOR: &[Runner] = &[
    Runner::Bare,
    Runner::Gdb,
    Runner::Juror("calls", "auto"),
    Runner::Juror("returns", "auto"),
];

const ALL_PROCESSORS: &[Runner] = &[
    Runner::Bare,
    Runner::Gdb,
    Runner::Juror("calls", "shared"),
    Runner::Juror("calls", "auto"),
    Runner::Juror("calls", "free"),
    Runner::Juror("returns", "auto"),
];

impl Runner {
    fn name(self) -> String {
        match self {
            Runner::Bare => "alone".to_owned(),
            Runner::Gdb => "gdb".to_owned(),
            Runner::Juror("returns", policy) => format!("juror --cpu {policy}, after"),
            Runner::Juror(_, policy) => format!("juror --cpu {policy}"),
        }
    }
}

/// The program and the runners.
struct Bench {
    effort: Effort,
    calls: PathBuf,
    programs: PathBuf,
    juror: PathBuf,
    gdb: bool,
}

fn main() -> ExitCode {
    let has = |wanted| std::env::args().any(|argument| argument == wanted);
    let quick = has("--quick");
    if !quick && !has("--bench") {
        println!("Not run by cargo bench: nothing is measured.");
        return ExitCode::SUCCESS;
    }
    let bench = match Bench::prepare(if quick { QUICK } else { FULL }) {
        Ok(bench) => bench,
        Err(message) => {
            eprintln!("events: {message}");
            return ExitCode::FAILURE;
        }
    };
    match bench.run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("events: {message}");
            ExitCode::FAILURE
        }
    }
}

impl Bench {
    fn prepare(effort: Effort) -> Result<Bench, String> {
        let calls = Fixture::program("calls.c")
            .try_compile(&Build::plain(Language::C))
            .map_err(|error| error.to_string())?;
        let gdb = Command::new("gdb").arg("--version").output();
        let gdb = gdb.is_ok_and(|output| output.status.success());
        if !gdb {
            println!("gdb is not installed; juror is measured alone.");
        }
        Ok(Bench {
            effort,
            calls,
            programs: Path::new(env!("CARGO_MANIFEST_DIR")).join("programs"),
            juror: Juror::find_as_built()?,
            gdb,
        })
    }

    fn run(&self) -> Result<(), String> {
        println!(
            "{:7}  {:10}  {:24} {:>12} {:>8} {:>8} {:>10}",
            "threads", "processors", "runner", "µs per event", "least", "events", "gdb/juror"
        );
        for &threads in self.effort.threads {
            for one_processor in [true, false] {
                self.run_setting(threads, one_processor)?;
            }
        }
        Ok(())
    }

    /// Measures one setting, and prints its rows of the table.
    fn run_setting(&self, threads: u32, one_processor: bool) -> Result<(), String> {
        let (processors, runners) = if one_processor {
            ("one", ONE_PROCESSOR)
        } else {
            ("all", ALL_PROCESSORS)
        };
        let affinity = if one_processor {
            Some(bind_to_one_processor()?)
        } else {
            None
        };
        let samples = self.measure(runners, threads);
        if let Some(affinity) = affinity {
            set_affinity(&affinity)?;
        }
        let samples = samples?;
        let of = |wanted: Runner| {
            let position = runners.iter().position(|&runner| runner == wanted);
            median(position.and_then(|p| samples.get(p)).map_or(&[], |s| s))
        };
        let (bare_ns, gdb_ns) = (of(Runner::Bare), of(Runner::Gdb));
        for (&runner, samples) in runners.iter().zip(&samples) {
            if samples.is_empty() {
                continue;
            }
            // The bare loop is shown as it is, the others less the bare loop.
            let own_ns = if runner == Runner::Bare { 0.0 } else { bare_ns };
            let median_ns = median(samples) - own_ns;
            let ratio = match runner {
                Runner::Juror(..) if self.gdb => format!("{:.1}", (gdb_ns - bare_ns) / median_ns),
                _ => String::new(),
            };
            println!(
                "{threads:7}  {processors:10}  {:24} {:12.2} {:8.2} {:8} {ratio:>10}",
                runner.name(),
                median_ns / 1e3,
                (minimum(samples) - own_ns) / 1e3,
                self.calls_of(runner) * threads,
            );
        }
        Ok(())
    }

    /// Returns the nanoseconds per call of each runner, one value per round. The runners
    /// alternate.
    fn measure(&self, runners: &[Runner], threads: u32) -> Result<Vec<Vec<f64>>, String> {
        let mut samples = vec![Vec::new(); runners.len()];
        for _ in 0..self.effort.rounds {
            for (&runner, samples) in runners.iter().zip(&mut samples) {
                if runner != Runner::Gdb || self.gdb {
                    samples.push(self.time(runner, threads)?);
                }
            }
        }
        Ok(samples)
    }

    fn calls_of(&self, runner: Runner) -> u32 {
        match runner {
            Runner::Bare => self.effort.bare_calls,
            Runner::Juror(..) => self.effort.juror_calls,
            Runner::Gdb => self.effort.gdb_calls,
        }
    }

    /// Runs the program once; returns its nanoseconds per call.
    fn time(&self, runner: Runner, threads: u32) -> Result<f64, String> {
        let mut command = match runner {
            Runner::Bare => Command::new(&self.calls),
            Runner::Juror(property, policy) => self.juror_command(property, policy),
            Runner::Gdb => self.gdb_command(),
        };
        let calls = self.calls_of(runner);
        command.args([threads.to_string(), calls.to_string()]);
        let output =
            run_with_deadline(&mut command, b"", DEADLINE).map_err(|error| error.to_string())?;
        let calls = u64::from(calls) * u64::from(threads);
        let seen = match runner {
            Runner::Bare => Some(calls),
            Runner::Juror(..) => events_seen(&output.stdout, "tick"),
            Runner::Gdb => number_after(&output.stdout, "seen="),
        };
        let elapsed_ns = number_after(&output.stdout, &format!("calls={calls} elapsed_ns="));
        match elapsed_ns {
            Some(elapsed_ns) if output.status.success() && seen == Some(calls) => {
                Ok(elapsed_ns as f64 / calls as f64)
            }
            _ => Err(format!(
                "{command:?} does not run the program to its end and see {calls} calls ({}):\n{}{}",
                output.status, output.stdout, output.stderr
            )),
        }
    }

    fn juror_command(&self, property: &str, policy: &str) -> Command {
        let mut command = Command::new(&self.juror);
        command
            .args(["run", "--batch", "--tier", "trap"])
            .args(["--cpu", policy, "--property"])
            .arg(self.programs.join(property).with_extension("prop"))
            .arg(&self.calls);
        command
    }

    fn gdb_command(&self) -> Command {
        let mut command = Command::new("gdb");
        command
            .args(["-nx", "-q", "-batch", "-x"])
            .arg(self.programs.join("calls_gdb.py"))
            .arg("--args")
            .arg(&self.calls);
        command
    }
}

/// Binds this thread and its children to the highest-numbered processor allowed; returns
/// the processors allowed before.
fn bind_to_one_processor() -> Result<CpuSet, String> {
    let before = sched_getaffinity(None).map_err(|error| error.to_string())?;
    let mut one = CpuSet::new();
    if let Some(last) = (0..CpuSet::MAX_CPU).rev().find(|&n| before.is_set(n)) {
        one.set(last);
    }
    set_affinity(&one)?;
    Ok(before)
}

fn set_affinity(processors: &CpuSet) -> Result<(), String> {
    sched_setaffinity(None, processors).map_err(|error| error.to_string())
}
