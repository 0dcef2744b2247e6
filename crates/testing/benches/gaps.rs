//! The slowdown of a program by the gap between its events, and what is saved if only the
//! needed events are watched: the experiments of Jakse, Falcone and Méhaut, *Interactive
//! Runtime Verification* (2019), sections 10.4 and 10.7.
//!
//! ```text
//! cargo bench -p juror-testing --bench gaps [-- --quick] [-- --plot FILE.svg]
//! ```
//!
//! `programs/gap.c` calls a function that does nothing, with a loop between the calls. The
//! program alone, juror in both tiers and gdb with a breakpoint of Python alternate for
//! several rounds; the slowdown is the time of the loop over that of the program alone.
//! `programs/stack.c` adds and removes the first 100 numbers; one property needs `take` only
//! while 42 is in the stack, another one always. A run that misses a call fails.

mod gaps {
    pub mod plot;
}

use gaps::plot::{Curve, plot};
use juror_testing::measure::{events_seen, median, number_after};
use juror_testing::{Build, Fixture, Juror, Language, is_installed, run_with_deadline};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

const DEADLINE: Duration = Duration::from_secs(600);

/// How much is measured.
#[derive(Debug, Clone, Copy)]
struct Effort {
    rounds: usize,
    /// The time of the program alone, as far as the number of calls allows.
    program_ns: u64,
    /// The calls at least.
    least_calls: u64,
    stack_rounds: u32,
}

const FULL: Effort = Effort {
    rounds: 5,
    program_ns: 50_000_000,
    least_calls: 10,
    stack_rounds: 100,
};
const QUICK: Effort = Effort {
    rounds: 1,
    program_ns: 100_000,
    least_calls: 2,
    stack_rounds: 2,
};

/// The gaps in nanoseconds.
const GAPS_NS: [u64; 11] = [
    0, 100, 300, 1_000, 10_000, 100_000, 300_000, 500_000, 1_000_000, 3_000_000, 10_000_000,
];

/// The slowdowns that the paper states for its property with an argument, by gap.
const PAPER: [(u64, f64); 3] = [(500_000, 2.0), (3_000_000, 1.2), (10_000_000, 1.05)];

/// What runs the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Runner {
    Bare,
    /// juror, with this tier and property.
    Juror(&'static str, &'static str),
    Gdb,
}

const RUNNERS: [Runner; 6] = [
    Runner::Bare,
    Runner::Juror("native", "gap"),
    Runner::Juror("native", "gap_argument"),
    Runner::Juror("trap", "gap"),
    Runner::Juror("trap", "gap_argument"),
    Runner::Gdb,
];

impl Runner {
    fn name(self) -> &'static str {
        match self {
            Runner::Bare => "alone",
            Runner::Juror("native", "gap") => "native",
            Runner::Juror("native", _) => "native, argument",
            Runner::Juror(_, "gap") => "trap",
            Runner::Juror(..) => "trap, argument",
            Runner::Gdb => "gdb, argument",
        }
    }

    /// Returns the greatest number of calls for a run of some seconds.
    fn most_calls(self) -> u64 {
        match self {
            Runner::Bare | Runner::Juror("native", _) => 5_000_000,
            Runner::Juror(..) => 20_000,
            Runner::Gdb => 2_000,
        }
    }
}

/// The programs and the runners.
struct Bench {
    effort: Effort,
    gap: PathBuf,
    stack: PathBuf,
    programs: PathBuf,
    juror: PathBuf,
    gdb: bool,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    let has = |wanted: &str| arguments.iter().any(|argument| argument == wanted);
    if !has("--quick") && !has("--bench") {
        println!("Not run by cargo bench: nothing is measured.");
        return ExitCode::SUCCESS;
    }
    let effort = if has("--quick") { QUICK } else { FULL };
    let at = arguments.iter().position(|argument| argument == "--plot");
    let file = at.and_then(|at| arguments.get(at + 1)).map(PathBuf::from);
    let measured = Bench::prepare(effort).and_then(|bench| {
        bench.gaps(file.as_deref())?;
        bench.stack()
    });
    match measured {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("gaps: {message}");
            ExitCode::FAILURE
        }
    }
}

impl Bench {
    fn prepare(effort: Effort) -> Result<Bench, String> {
        let compile = |file| {
            let compiled = Fixture::program(file).try_compile(&Build::plain(Language::C));
            compiled.map_err(|error| error.to_string())
        };
        let gdb = is_installed("gdb");
        if !gdb {
            println!("gdb is not installed; juror is measured without it.");
        }
        Ok(Bench {
            effort,
            gap: compile("gap.c")?,
            stack: compile("stack.c")?,
            programs: Path::new(env!("CARGO_MANIFEST_DIR")).join("programs"),
            juror: Juror::find_as_built()?,
            gdb,
        })
    }

    /// Measures the slowdowns, prints them, and draws them.
    fn gaps(&self, file: Option<&Path>) -> Result<(), String> {
        print!("{:>12}", "gap, ns");
        for runner in RUNNERS.into_iter().skip(1) {
            print!(" {:>17}", runner.name());
        }
        println!("    (times the program alone)");
        let mut curves: Vec<Curve> = RUNNERS.map(|runner| Curve::new(runner.name())).into();
        for gap_ns in GAPS_NS {
            let slowdowns = self.slowdowns(gap_ns)?;
            print!("{gap_ns:12}");
            for slowdown in slowdowns.iter().skip(1) {
                match slowdown {
                    Some(slowdown) => print!(" {slowdown:17.3}"),
                    None => print!(" {:>17}", "-"),
                }
            }
            println!();
            for (curve, slowdown) in curves.iter_mut().zip(slowdowns) {
                curve
                    .points
                    .extend(slowdown.map(|slowdown| (gap_ns, slowdown)));
            }
        }
        let mut paper = Curve::new("the paper, argument");
        paper.points.extend(PAPER);
        curves.push(paper);
        let picture = plot(curves.get(1..).unwrap_or_default());
        match file {
            Some(file) => std::fs::write(file, picture).map_err(|error| error.to_string()),
            None => Ok(()),
        }
    }

    /// Returns the slowdown of each runner; none if it is not installed.
    fn slowdowns(&self, gap_ns: u64) -> Result<[Option<f64>; RUNNERS.len()], String> {
        let mut samples = [const { Vec::new() }; RUNNERS.len()];
        for _ in 0..self.effort.rounds {
            for (runner, samples) in RUNNERS.into_iter().zip(&mut samples) {
                if runner != Runner::Gdb || self.gdb {
                    samples.push(self.time(runner, gap_ns)?);
                }
            }
        }
        let alone = median(samples.first().map_or(&[], Vec::as_slice));
        Ok(samples.map(|samples| (!samples.is_empty()).then(|| median(&samples) / alone)))
    }

    /// Runs `gap` once; returns the nanoseconds per call.
    fn time(&self, runner: Runner, gap_ns: u64) -> Result<f64, String> {
        let wanted = self.effort.program_ns / gap_ns.max(5);
        let calls = wanted.clamp(self.effort.least_calls, runner.most_calls());
        let mut command = match runner {
            Runner::Bare => Command::new(&self.gap),
            Runner::Juror(tier, property) => self.juror_command(tier, property, &self.gap),
            Runner::Gdb => self.gdb_command(),
        };
        command.args([calls, gap_ns].map(|number| number.to_string()));
        let output = run(&mut command)?;
        let seen = match runner {
            Runner::Bare => Some(calls),
            Runner::Juror(..) => events_seen(&output, "nop"),
            Runner::Gdb => number_after(&output, "seen="),
        };
        let elapsed_ns = number_after(&output, &format!("calls={calls} elapsed_ns="));
        match elapsed_ns {
            Some(elapsed_ns) if seen == Some(calls) => Ok(elapsed_ns as f64 / calls as f64),
            _ => Err(format!("{command:?} does not see {calls} calls:\n{output}")),
        }
    }

    /// Measures what is saved if `take` is watched only while it is needed.
    fn stack(&self) -> Result<(), String> {
        println!("\nThe stack: the time with both functions watched always, over that with");
        println!("`take` watched only while 42 is in the stack (the paper: 2.2)");
        for tier in ["trap", "native"] {
            let (mut always, mut needed) = (Vec::new(), Vec::new());
            for _ in 0..self.effort.rounds {
                always.push(self.time_stack(tier, "stack_always", 100)?);
                needed.push(self.time_stack(tier, "stack_needed", 1)?);
            }
            println!("{tier:8} {:.2}", median(&always) / median(&needed));
        }
        Ok(())
    }

    /// Runs `stack` once, of whose calls `takes` a round are events; returns its
    /// nanoseconds.
    fn time_stack(&self, tier: &str, property: &str, takes: u64) -> Result<f64, String> {
        let rounds = match tier {
            "native" => self.effort.stack_rounds * 100,
            _ => self.effort.stack_rounds,
        };
        let mut command = self.juror_command(tier, property, &self.stack);
        let output = run(command.arg(rounds.to_string()))?;
        let elapsed_ns = number_after(&output, &format!("rounds={rounds} elapsed_ns="));
        let seen = [events_seen(&output, "add"), events_seen(&output, "take")];
        let expected = [100, takes].map(|calls| Some(calls * u64::from(rounds)));
        match elapsed_ns {
            Some(elapsed_ns) if seen == expected => Ok(elapsed_ns as f64),
            _ => Err(format!("{command:?} does not see each call:\n{output}")),
        }
    }

    fn juror_command(&self, tier: &str, property: &str, program: &Path) -> Command {
        let mut command = Command::new(&self.juror);
        command
            .args(["run", "--batch", "--tier", tier, "--property"])
            .arg(self.programs.join(property).with_extension("prop"))
            .arg(program);
        command
    }

    fn gdb_command(&self) -> Command {
        let mut command = Command::new("gdb");
        command
            .args(["-nx", "-q", "-batch", "-x"])
            .arg(self.programs.join("gap_gdb.py"))
            .arg("--args")
            .arg(&self.gap);
        command
    }
}

/// Runs a command to its end; returns what it prints.
fn run(command: &mut Command) -> Result<String, String> {
    let output = run_with_deadline(command, b"", DEADLINE).map_err(|error| error.to_string())?;
    if output.status.success() {
        Ok(output.stdout)
    } else {
        Err(format!(
            "{command:?}: {}\n{}{}",
            output.status, output.stdout, output.stderr
        ))
    }
}
