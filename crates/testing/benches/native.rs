//! The costs of an event that the program takes itself, against a trap, a library that is
//! preloaded, and gdb, in the same run.
//!
//! ```text
//! cargo bench -p juror-testing --bench native [-- --quick]
//! ```
//!
//! `programs/keyed.c` calls a function with a key; a property counts the calls, for each key
//! or all, before the call or at its end. The program alone, juror with `--tier native` and
//! with `--tier trap`, and the peers alternate for several rounds. `programs/
//! keyed_preload.c` does the same by hand: it comes before the function, which is in a
//! library then, and has a hash table. In gdb a breakpoint of Python does it. Every run must
//! see every call, or there is no result.

use juror_testing::measure::{events_seen, median, minimum, number_after, run_benchmark};
use juror_testing::run_with_deadline;
use juror_testing::{Build, Fixture, Juror, Language, Optimization, is_installed};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

const DEADLINE: Duration = Duration::from_secs(600);

/// The number of functions of one name.
const MANY: u64 = 2_000;

/// How much is measured.
#[derive(Debug, Clone, Copy)]
struct Effort {
    rounds: usize,
    /// Calls of each thread without traps.
    calls: u32,
    /// Calls of each thread by traps.
    trap_calls: u32,
    /// Calls of each thread in gdb.
    gdb_calls: u32,
}

const FULL: Effort = Effort {
    rounds: 7,
    calls: 4_000_000,
    trap_calls: 20_000,
    gdb_calls: 2_000,
};
const QUICK: Effort = Effort {
    rounds: 1,
    calls: 20_000,
    trap_calls: 200,
    gdb_calls: 20,
};

/// What is measured: the property, the number of threads, and the number of keys.
type Setting = (&'static str, u32, u32);

const SETTINGS: [Setting; 7] = [
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
    Preloaded,
    Gdb,
}

const RUNNERS: [Runner; 5] = [
    Runner::Bare,
    Runner::Native,
    Runner::Trap,
    Runner::Preloaded,
    Runner::Gdb,
];

/// The program and the runners.
struct Bench {
    effort: Effort,
    keyed: PathBuf,
    /// The program whose function is in a library.
    keyed_library: PathBuf,
    preload: PathBuf,
    programs: PathBuf,
    juror: PathBuf,
    gdb: bool,
    /// The program with many functions of one name.
    many: PathBuf,
}

fn main() -> ExitCode {
    run_benchmark("native", |is_quick| {
        Bench::prepare(if is_quick { QUICK } else { FULL })?.run()
    })
}

/// Compiles a program of `programs`.
fn compile(fixture: Fixture, optimization: Optimization) -> Result<PathBuf, String> {
    let build = Build {
        optimization,
        ..Build::plain(Language::C)
    };
    let compiled = fixture.try_compile(&build);
    compiled.map_err(|error| error.to_string())
}

fn compile_many() -> Result<PathBuf, String> {
    let compiled = Fixture::program("many.cpp").try_compile(&Build::plain(Language::Cpp));
    compiled.map_err(|error| error.to_string())
}

impl Bench {
    fn prepare(effort: Effort) -> Result<Bench, String> {
        let plain = |fixture| compile(fixture, Optimization::None);
        let shared = |file| Fixture::program(file).argument("-shared").argument("-fPIC");
        let library = plain(shared("keyed_use.c"))?;
        let program = Fixture::program("keyed.c").define("LIBRARY");
        let gdb = is_installed("gdb");
        if !gdb {
            println!("gdb is not installed; the others are measured without it.");
        }
        Ok(Bench {
            effort,
            keyed: plain(Fixture::program("keyed.c"))?,
            // The library stands before the source that needs it.
            keyed_library: plain(
                program
                    .argument("-Wl,--no-as-needed")
                    .argument(&library.to_string_lossy()),
            )?,
            preload: compile(shared("keyed_preload.c"), Optimization::Full)?,
            programs: Path::new(env!("CARGO_MANIFEST_DIR")).join("programs"),
            juror: Juror::find_as_built()?,
            gdb,
            many: compile_many()?,
        })
    }

    fn run(&self) -> Result<(), String> {
        println!("Nanoseconds per call of a thread, beyond the call; medians, and the least.");
        println!(
            "{:14} {:>7} {:>6} {:>7} {:>8} {:>7} {:>8} {:>9} {:>9} {:>11} {:>10}",
            "property",
            "threads",
            "keys",
            "call",
            "native",
            "least",
            "trap",
            "preloaded",
            "gdb",
            "trap/native",
            "gdb/native"
        );
        for setting in SETTINGS {
            self.run_setting(setting)?;
        }
        self.run_many()
    }

    /// Measures the time to find and patch many functions, and prints it.
    fn run_many(&self) -> Result<(), String> {
        let mut samples = [const { Vec::new() }; 4];
        let runs = ["native", "trap"].map(|tier| [("many", tier), ("many_none", tier)]);
        for _ in 0..self.effort.rounds {
            for (run, samples) in runs.iter().flatten().zip(&mut samples) {
                samples.push(self.time_many(*run)?);
            }
        }
        let [native, native_none, trap, trap_none] = samples.map(|it| median(&it));
        println!(
            "{MANY} functions of one name, found and watched: {:.0} ms native, {:.0} ms trap, \
             beyond {native_none:.0} ms of a run with one",
            native - native_none,
            trap - trap_none
        );
        Ok(())
    }

    /// Runs the program with many functions once; returns the milliseconds. By traps no
    /// function is called.
    fn time_many(&self, (property, tier): (&str, &str)) -> Result<f64, String> {
        let rounds = u64::from(tier == "native");
        let mut command = self.juror_command(property, tier, &self.many);
        command.arg(rounds.to_string());
        let start = Instant::now();
        let output =
            run_with_deadline(&mut command, b"", DEADLINE).map_err(|error| error.to_string())?;
        let elapsed = start.elapsed().as_secs_f64() * 1e3;
        let expected = (property == "many" && rounds > 0).then_some(rounds * MANY);
        let seen = events_seen(&output.stdout, "work");
        if output.status.success() && seen == expected {
            Ok(elapsed)
        } else {
            Err(format!(
                "{command:?} does not see {expected:?} calls ({}):\n{}{}",
                output.status, output.stdout, output.stderr
            ))
        }
    }

    /// Measures a setting, and prints its row.
    fn run_setting(&self, setting: Setting) -> Result<(), String> {
        let mut samples = [const { Vec::new() }; RUNNERS.len()];
        for _ in 0..self.effort.rounds {
            for (runner, samples) in RUNNERS.into_iter().zip(&mut samples) {
                if self.has(runner, setting) {
                    samples.push(self.time(runner, setting)?);
                }
            }
        }
        let [bare, native, trap, preloaded, gdb] = samples;
        // The loop itself is part of all.
        let call = median(&bare);
        let beyond = |samples: &[f64]| median(samples) - call;
        let shown = |samples: &[f64], ratio: f64| {
            if samples.is_empty() {
                "-".to_owned()
            } else {
                format!("{:.1}", beyond(samples) / ratio)
            }
        };
        let (property, threads, keys) = setting;
        let native_ns = beyond(&native);
        println!(
            "{property:14} {threads:7} {keys:6} {call:7.2} {native_ns:8.1} {:7.1} {:>8} {:>9} {:>9} {:>11} {:>10}",
            minimum(&native) - call,
            shown(&trap, 1.0),
            shown(&preloaded, 1.0),
            shown(&gdb, 1.0),
            shown(&trap, native_ns),
            shown(&gdb, native_ns),
        );
        Ok(())
    }

    /// Returns true if the runner can do what the property does.
    fn has(&self, runner: Runner, (property, ..): Setting) -> bool {
        match runner {
            Runner::Bare | Runner::Native | Runner::Trap => true,
            Runner::Preloaded => property == "keyed_slices",
            Runner::Gdb => self.gdb && property != "keyed_after",
        }
    }

    /// Runs the program once; returns its nanoseconds per call of a thread.
    fn time(&self, runner: Runner, (property, threads, keys): Setting) -> Result<f64, String> {
        let calls = match runner {
            Runner::Gdb => self.effort.gdb_calls,
            Runner::Trap => self.effort.trap_calls,
            Runner::Bare | Runner::Native | Runner::Preloaded => self.effort.calls,
        };
        let mut command = match runner {
            Runner::Bare => Command::new(&self.keyed),
            Runner::Native => self.juror_command(property, "native", &self.keyed),
            Runner::Trap => self.juror_command(property, "trap", &self.keyed),
            Runner::Preloaded => {
                let mut command = Command::new(&self.keyed_library);
                command.env("LD_PRELOAD", &self.preload);
                command
            }
            Runner::Gdb => self.gdb_command(),
        };
        command.args([threads, calls, keys].map(|number| number.to_string()));
        let output =
            run_with_deadline(&mut command, b"", DEADLINE).map_err(|error| error.to_string())?;
        let total = u64::from(calls) * u64::from(threads);
        let seen = match runner {
            Runner::Bare => Some(total),
            Runner::Native | Runner::Trap => events_seen(&output.stdout, "use"),
            Runner::Preloaded | Runner::Gdb => number_after(&output.stdout, "seen="),
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

    fn juror_command(&self, property: &str, tier: &str, program: &Path) -> Command {
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
            .arg(self.programs.join("keyed_gdb.py"))
            .arg("--args")
            .arg(&self.keyed);
        command
    }
}
