//! The costs of events of system calls: with a filter, and with every call stopping.
//!
//! ```text
//! cargo bench -p juror-testing --bench system_calls [-- --quick]
//! ```
//!
//! A program makes system calls in a loop and measures the time of the loop. One call in
//! twenty is an event, at its entry (`programs/asks.prop`) or its exit
//! (`programs/answers.prop`). The program alone, and juror with `--system-calls filter`
//! and `all`, alternate for several rounds, so that load on the machine affects all of
//! them. A run that misses a call fails the benchmark.

use juror_testing::measure::run_benchmark;
use juror_testing::{Build, Fixture, Juror, Language, run_with_deadline};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

/// The extent of the measurement.
struct Effort {
    rounds: usize,
    bare_calls: u32,
    juror_calls: u32,
}

const FULL: Effort = Effort {
    rounds: 7,
    bare_calls: 200_000,
    juror_calls: 5_000,
};

const QUICK: Effort = Effort {
    rounds: 2,
    bare_calls: 2_000,
    juror_calls: 200,
};

/// A deadline longer than any run.
const DEADLINE: Duration = Duration::from_secs(300);

/// The calls of the program for each event.
const CALLS_PER_EVENT: f64 = 20.0;

/// The way the program is run.
#[derive(Clone, Copy, PartialEq)]
enum Runner {
    Bare,
    /// juror with this property, and this value of `--system-calls`.
    Juror(&'static str, &'static str),
}

const RUNNERS: &[Runner] = &[
    Runner::Bare,
    Runner::Juror("asks", "filter"),
    Runner::Juror("answers", "filter"),
    Runner::Juror("asks", "all"),
    Runner::Juror("answers", "all"),
];

impl Runner {
    fn name(self) -> String {
        match self {
            Runner::Bare => "alone".to_owned(),
            Runner::Juror("asks", calls) => format!("juror --system-calls {calls}, entry"),
            Runner::Juror(_, calls) => format!("juror --system-calls {calls}, exit"),
        }
    }
}

/// The program and the runner.
struct Bench {
    effort: Effort,
    requests: PathBuf,
    programs: PathBuf,
    juror: PathBuf,
}

fn main() -> ExitCode {
    run_benchmark("system_calls", |is_quick| {
        Bench::prepare(if is_quick { QUICK } else { FULL })?.run()
    })
}

impl Bench {
    fn prepare(effort: Effort) -> Result<Bench, String> {
        let requests = Fixture::program("requests.c")
            .try_compile(&Build::plain(Language::C))
            .map_err(|error| error.to_string())?;
        Ok(Bench {
            effort,
            requests,
            programs: Path::new(env!("CARGO_MANIFEST_DIR")).join("programs"),
            juror: Juror::find_as_built()?,
        })
    }

    fn run(&self) -> Result<(), String> {
        println!(
            "{:30} {:>11} {:>8} {:>8}",
            "runner", "µs per call", "least", "/ alone"
        );
        let mut samples = vec![Vec::new(); RUNNERS.len()];
        for _ in 0..self.effort.rounds {
            for (&runner, samples) in RUNNERS.iter().zip(&mut samples) {
                samples.push(self.time(runner)?);
            }
        }
        let bare_ns = samples.first().map_or(0.0, |it| median(it));
        for (&runner, samples) in RUNNERS.iter().zip(&samples) {
            println!(
                "{:30} {:11.3} {:8.3} {:8.1}",
                runner.name(),
                median(samples) / 1e3,
                minimum(samples) / 1e3,
                median(samples) / bare_ns,
            );
        }
        Ok(())
    }

    /// Runs the program once; returns its nanoseconds per system call.
    fn time(&self, runner: Runner) -> Result<f64, String> {
        let (mut command, calls) = match runner {
            Runner::Bare => (Command::new(&self.requests), self.effort.bare_calls),
            Runner::Juror(property, stops) => {
                (self.juror_command(property, stops), self.effort.juror_calls)
            }
        };
        command.arg(calls.to_string());
        let output =
            run_with_deadline(&mut command, b"", DEADLINE).map_err(|error| error.to_string())?;
        let calls = u64::from(calls);
        let seen = match runner {
            Runner::Bare => Some(calls),
            Runner::Juror(..) => events_seen(&output.stdout),
        };
        let elapsed_ns = number_after(&output.stdout, &format!("calls={calls} elapsed_ns="));
        match elapsed_ns {
            Some(elapsed_ns) if output.status.success() && seen == Some(calls) => {
                Ok(elapsed_ns as f64 / calls as f64 / CALLS_PER_EVENT)
            }
            _ => Err(format!(
                "{command:?} does not run the program to its end and see {calls} calls ({}):\n{}{}",
                output.status, output.stdout, output.stderr
            )),
        }
    }

    fn juror_command(&self, property: &str, stops: &str) -> Command {
        let mut command = Command::new(&self.juror);
        command
            .args(["run", "--batch", "--system-calls", stops, "--property"])
            .arg(self.programs.join(property).with_extension("prop"))
            .arg(&self.requests);
        command
    }
}

/// Returns the count of the only event in juror's report.
fn events_seen(report: &str) -> Option<u64> {
    let line = report.lines().find(|line| line.contains(" tick "))?;
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
