//! The costs of an event that the program takes itself, against a trap, in the same run.
//!
//! ```text
//! cargo bench -p juror-testing --bench native [-- --quick]
//! ```
//!
//! `programs/keyed.c` calls a function with a key; a property counts the calls, for each key
//! or all, before the call or at its end. The program alone, juror with `--tier native` and
//! with `--tier trap` alternate for several rounds. Every run must see every call, or there
//! is no result.

use juror_testing::{Build, Fixture, Juror, Language, run_with_deadline};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

const DEADLINE: Duration = Duration::from_secs(600);

/// How much is measured.
#[derive(Debug, Clone, Copy)]
struct Effort {
    rounds: usize,
    /// Calls of each thread, alone and natively.
    calls: u32,
    /// Calls of each thread by traps.
    trap_calls: u32,
}

const FULL: Effort = Effort {
    rounds: 7,
    calls: 4_000_000,
    trap_calls: 20_000,
};
const QUICK: Effort = Effort {
    rounds: 1,
    calls: 20_000,
    trap_calls: 200,
};

/// What is measured: the property, the number of threads, and the number of keys.
const SETTINGS: [(&str, u32, u32); 7] = [
    ("keyed_before", 1, 1),
    ("keyed_after", 1, 1),
    ("keyed_slices", 1, 1),
    ("keyed_slices", 1, 1_024),
    ("keyed_slices", 1, 100_000),
    ("keyed_before", 2, 1),
    ("keyed_slices", 2, 1_024),
];

/// What runs the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Runner {
    Bare,
    Native,
    Trap,
}

const RUNNERS: [Runner; 3] = [Runner::Bare, Runner::Native, Runner::Trap];

/// The program and the runners.
struct Bench {
    effort: Effort,
    keyed: PathBuf,
    programs: PathBuf,
    juror: PathBuf,
}

fn main() -> ExitCode {
    let has = |wanted| std::env::args().any(|argument| argument == wanted);
    let quick = has("--quick");
    if !quick && !has("--bench") {
        println!("Not run by cargo bench: nothing is measured.");
        return ExitCode::SUCCESS;
    }
    let measured = Bench::prepare(if quick { QUICK } else { FULL }).and_then(|bench| bench.run());
    match measured {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("native: {message}");
            ExitCode::FAILURE
        }
    }
}

impl Bench {
    fn prepare(effort: Effort) -> Result<Bench, String> {
        let keyed = Fixture::program("keyed.c")
            .try_compile(&Build::plain(Language::C))
            .map_err(|error| error.to_string())?;
        Ok(Bench {
            effort,
            keyed,
            programs: Path::new(env!("CARGO_MANIFEST_DIR")).join("programs"),
            juror: Juror::find_as_built()?,
        })
    }

    fn run(&self) -> Result<(), String> {
        println!(
            "{:14}  {:>7}  {:>6}  {:>9} {:>10} {:>8} {:>12} {:>11}",
            "property",
            "threads",
            "keys",
            "call, ns",
            "native, ns",
            "least",
            "trap, ns",
            "trap/native"
        );
        for (property, threads, keys) in SETTINGS {
            let mut samples = [const { Vec::new() }; RUNNERS.len()];
            for _ in 0..self.effort.rounds {
                for (runner, samples) in RUNNERS.into_iter().zip(&mut samples) {
                    samples.push(self.time(runner, (property, threads, keys))?);
                }
            }
            let [bare, native, trap] = samples;
            // The loop itself is part of all three.
            let call = median(&bare);
            let (native_ns, trap_ns) = (median(&native) - call, median(&trap) - call);
            println!(
                "{property:14}  {threads:7}  {keys:6}  {call:9.2} {native_ns:10.2} {:8.2} {trap_ns:12.0} {:11.0}",
                minimum(&native) - call,
                trap_ns / native_ns
            );
        }
        Ok(())
    }

    /// Runs the program once; returns its nanoseconds per call of a thread.
    fn time(
        &self,
        runner: Runner,
        (property, threads, keys): (&str, u32, u32),
    ) -> Result<f64, String> {
        let calls = match runner {
            Runner::Trap => self.effort.trap_calls,
            Runner::Bare | Runner::Native => self.effort.calls,
        };
        let mut command = match runner {
            Runner::Bare => Command::new(&self.keyed),
            Runner::Native => self.juror_command(property, "native"),
            Runner::Trap => self.juror_command(property, "trap"),
        };
        command.args([threads, calls, keys].map(|number| number.to_string()));
        let output =
            run_with_deadline(&mut command, b"", DEADLINE).map_err(|error| error.to_string())?;
        let total = u64::from(calls) * u64::from(threads);
        let seen = match runner {
            Runner::Bare => Some(total),
            Runner::Native | Runner::Trap => events_seen(&output.stdout),
        };
        let elapsed_ns = number_after(&output.stdout, &format!("calls={total} elapsed_ns="));
        match elapsed_ns {
            Some(elapsed_ns) if output.status.success() && seen == Some(total) => {
                Ok(elapsed_ns as f64 / f64::from(calls))
            }
            _ => Err(format!(
                "{command:?} does not run the program to its end and see {total} calls ({}):\n{}{}",
                output.status, output.stdout, output.stderr
            )),
        }
    }

    fn juror_command(&self, property: &str, tier: &str) -> Command {
        let mut command = Command::new(&self.juror);
        command
            .args(["run", "--batch", "--tier", tier, "--property"])
            .arg(self.programs.join(property).with_extension("prop"))
            .arg(&self.keyed);
        command
    }
}

/// Returns the count of the only event in juror's report.
fn events_seen(report: &str) -> Option<u64> {
    let line = report.lines().find(|line| line.contains(" use "))?;
    let (before, _) = line.split_once(" times")?;
    before.rsplit(' ').next()?.parse().ok()
}

fn number_after(output: &str, name: &str) -> Option<u64> {
    let (_, rest) = output.split_once(name)?;
    rest.lines().next()?.trim().parse().ok()
}

/// Returns the median; zero without samples.
fn median(samples: &[f64]) -> f64 {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or_default()
}

/// Returns the minimum.
fn minimum(samples: &[f64]) -> f64 {
    samples.iter().copied().fold(f64::INFINITY, f64::min)
}
