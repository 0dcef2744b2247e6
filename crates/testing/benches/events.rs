//! What an event costs: juror against gdb, in the same run.
//!
//! ```text
//! cargo bench -p juror-testing --bench events [-- --quick]
//! ```
//!
//! A program calls a function in a loop and takes the time of the loop. Each
//! call is one event: an argument is read, a guard asked, a transition taken, a
//! variable updated; `programs/calls.prop` says so for juror,
//! `programs/calls_gdb.py` for gdb, with a Python breakpoint. The program alone,
//! juror and gdb take turns, several rounds, so that a busy machine is busy for
//! all of them. The time per event is that of the loop, less that of the loop
//! alone, divided by the calls.

use juror_testing::{Build, Fixture, Juror, Language, run_with_deadline};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

/// How much is measured.
struct Effort {
    rounds: usize,
    bare_calls: u32,
    juror_calls: u32,
    gdb_calls: u32,
}

const FULL: Effort = Effort {
    rounds: 7,
    bare_calls: 10_000_000,
    juror_calls: 20_000,
    gdb_calls: 2_000,
};

const QUICK: Effort = Effort {
    rounds: 2,
    bare_calls: 1_000_000,
    juror_calls: 1_000,
    gdb_calls: 100,
};

/// Longer than any run on any machine.
const DEADLINE: Duration = Duration::from_secs(300);

/// What runs the program.
#[derive(Clone, Copy, PartialEq)]
enum Runner {
    Bare,
    Juror,
    Gdb,
}

/// The program and those who run it.
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
            println!("There is no gdb here: juror is measured without its peer.");
        }
        Ok(Bench {
            effort,
            calls,
            programs: Path::new(env!("CARGO_MANIFEST_DIR")).join("programs"),
            juror: Juror::find("release")?,
            gdb,
        })
    }

    fn run(&self) -> Result<(), String> {
        println!("threads  processors  runner   µs per event      min   events    gdb/juror");
        for threads in [1, 2] {
            for one_processor in [true, false] {
                self.run_setting(threads, one_processor)?;
            }
        }
        Ok(())
    }

    /// Measures one setting, and prints its rows of the table.
    fn run_setting(&self, threads: u32, one_processor: bool) -> Result<(), String> {
        let affinity = match one_processor {
            true => Some(bind_to_one_processor()?),
            false => None,
        };
        let samples = self.measure(threads);
        if let Some(affinity) = affinity {
            set_affinity(&affinity)?;
        }
        let [bare, juror, gdb] = samples?;
        let bare_ns = median(&bare);
        let gdb_ns = median(&gdb) - bare_ns;
        let juror_ns = median(&juror) - bare_ns;
        let processors = if one_processor { "one" } else { "all" };
        for (name, samples, calls) in [
            ("juror", &juror, self.effort.juror_calls),
            ("gdb", &gdb, self.effort.gdb_calls),
        ] {
            if samples.is_empty() {
                continue;
            }
            let ratio = match name {
                "juror" if self.gdb => format!("{:12.1}", gdb_ns / juror_ns),
                _ => String::new(),
            };
            println!(
                "{threads:7}  {processors:10}  {name:6} {:14.2} {:8.2} {:8} {ratio}",
                (median(samples) - bare_ns) / 1e3,
                (minimum(samples) - bare_ns) / 1e3,
                calls * threads,
            );
        }
        Ok(())
    }

    /// Nanoseconds per call, one for each round: alone, in juror, in gdb.
    fn measure(&self, threads: u32) -> Result<[Vec<f64>; 3], String> {
        let mut samples = [Vec::new(), Vec::new(), Vec::new()];
        for _ in 0..self.effort.rounds {
            for (runner, samples) in [Runner::Bare, Runner::Juror, Runner::Gdb]
                .into_iter()
                .zip(&mut samples)
            {
                if runner != Runner::Gdb || self.gdb {
                    samples.push(self.time(runner, threads)?);
                }
            }
        }
        Ok(samples)
    }

    /// Runs the program once, and gives its nanoseconds per call.
    fn time(&self, runner: Runner, threads: u32) -> Result<f64, String> {
        let (mut command, calls) = match runner {
            Runner::Bare => (Command::new(&self.calls), self.effort.bare_calls),
            Runner::Juror => (self.juror_command(), self.effort.juror_calls),
            Runner::Gdb => (self.gdb_command(), self.effort.gdb_calls),
        };
        command.args([threads.to_string(), calls.to_string()]);
        let output =
            run_with_deadline(&mut command, b"", DEADLINE).map_err(|error| error.to_string())?;
        let events = u64::from(calls) * u64::from(threads);
        let elapsed_ns = elapsed_ns(&output.stdout, events);
        match elapsed_ns {
            Some(elapsed_ns) if output.status.success() => Ok(elapsed_ns / events as f64),
            _ => Err(format!(
                "{command:?} does not run the program to its end ({}):\n{}{}",
                output.status, output.stdout, output.stderr
            )),
        }
    }

    fn juror_command(&self) -> Command {
        let mut command = Command::new(&self.juror);
        command
            .args(["run", "--batch", "--property"])
            .arg(self.programs.join("calls.prop"))
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

/// The time that the program printed, if it counted this many calls; and those
/// who saw the calls, too.
fn elapsed_ns(output: &str, calls: u64) -> Option<f64> {
    if output.contains("seen=") && !output.contains(&format!("seen={calls}\n")) {
        return None;
    }
    let (_, rest) = output.split_once(&format!("calls={calls} elapsed_ns="))?;
    rest.lines().next()?.parse().ok()
}

/// Binds this thread, and what it starts, to the processor with the highest
/// number that it may use. Gives the processors that it had.
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

/// The middle of the samples; of none, it is zero.
fn median(samples: &[f64]) -> f64 {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or_default()
}

/// The least of the samples.
fn minimum(samples: &[f64]) -> f64 {
    samples.iter().copied().fold(f64::INFINITY, f64::min)
}
