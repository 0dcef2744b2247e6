//! The costs of checking a model: juror against Spin, in the same run.
//!
//! ```text
//! cargo bench -p juror-testing --bench model [-- --quick]
//! ```
//!
//! Both search all states of models of this repository without any reduction; Spin's
//! checker is compiled with `-O2`, and its compile time is shown, too. They alternate for
//! several rounds. The processor time of the best round counts, and a round repeats until
//! the clock can resolve it. The memory per state is each tool's own figure, for Spin
//! without its hash table. The gain of two threads is in wall-clock time: `2 jobs` in one
//! search, and `2 apart` in two independent searches, which shows the gain of the machine's
//! second core for unrelated threads. The last columns are the time from the text of the
//! model to the verdict, which for Spin includes its compiler. A count of states that
//! differs from Spin's fails the benchmark. Without Spin, juror is measured alone.

use juror_model::promela::{Model, Reading, Text};
use juror_model::{Options, Report, Search, search};
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

/// The models and macros, from few states to many.
const MODELS: &[(&str, &[&str])] = &[
    ("leader", &[]),
    ("sliding-window", &[]),
    ("breakpoint", &[]),
    ("sorting", &[]),
    ("breakpoint", &["THREADS=3"]),
    ("sorting", &["COUNT=6"]),
];

fn main() -> ExitCode {
    let has = |wanted| std::env::args().any(|argument| argument == wanted);
    let quick = has("--quick");
    if !quick && !has("--bench") {
        println!("Not run by cargo bench: nothing is measured.");
        return ExitCode::SUCCESS;
    }
    let (models, rounds) = if quick {
        (&MODELS[..3], 1)
    } else {
        (MODELS, 3)
    };
    println!(
        "{:<22} {:>8} {:>9} {:>9} {:>6} {:>8} {:>8} {:>7} {:>7} {:>9} {:>9}",
        "model",
        "states",
        "juror/s",
        "Spin/s",
        "ratio",
        "juror B",
        "Spin B",
        "2 jobs",
        "2 apart",
        "juror ms",
        "Spin ms",
    );
    for (name, macros) in models {
        if let Err(message) = measure(name, macros, rounds) {
            eprintln!("model: {name}: {message}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

fn measure(name: &str, macros: &[&str], rounds: usize) -> Result<(), String> {
    let file = juror_testing::repository_directory()
        .join("models")
        .join(format!("{name}.pml"));
    let text = std::fs::read_to_string(&file).map_err(|error| error.to_string())?;
    let begun = Instant::now();
    let model = read(&text, macros)?;
    let report = run(&model, Search::Breadth);
    let to_verdict = begun.elapsed();
    let spin = Spin::new(&file, macros)?;
    let (mut own, mut peer) = (Duration::MAX, Duration::MAX);
    let (mut alone, mut together, mut apart) = (Duration::MAX, Duration::MAX, Duration::MAX);
    let mut spin_bytes = None;
    for _ in 0..rounds {
        own = own.min(repeated(processor_time, || {
            run(&model, Search::Breadth);
            Ok(())
        })?);
        for (jobs, time) in [(1, &mut alone), (2, &mut together)] {
            let begun = Instant::now();
            run(&model, Search::Parallel(jobs));
            *time = begun.elapsed().min(*time);
        }
        apart = apart.min(two_searches(&model));
        if let Some(spin) = &spin {
            let time = repeated(children_time, || {
                let found = spin.run()?;
                let ours = (report.states, report.transitions);
                spin_bytes = Some(found.state_bytes);
                if found.counts == ours {
                    Ok(())
                } else {
                    Err(format!("juror finds {ours:?}, and Spin {:?}", found.counts))
                }
            })?;
            peer = peer.min(time);
        }
    }
    let rate = |time: Duration| report.states as f64 / time.as_secs_f64() / 1e6;
    let shown = |value: Option<f64>, digits: usize, unit: &str| match value {
        Some(value) => format!("{value:.digits$}{unit}"),
        None => "-".into(),
    };
    let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
    let of_spin = spin.as_ref().map(|spin| (spin.compile + peer, rate(peer)));
    println!(
        "{:<22} {:>8} {:>7.2} M {:>9} {:>6} {:>8.0} {:>8} {:>7.2} {:>7.2} {:>9.1} {:>9}",
        format!("{name} {}", macros.join(" ")),
        report.states,
        rate(own),
        shown(of_spin.map(|(_, rate)| rate), 2, " M"),
        shown(of_spin.map(|(_, peer)| rate(own) / peer), 1, ""),
        report.memory_bytes as f64 / report.states as f64,
        shown(spin_bytes, 0, ""),
        alone.as_secs_f64() / together.as_secs_f64(),
        2.0 * alone.as_secs_f64() / apart.as_secs_f64(),
        milliseconds(to_verdict),
        shown(of_spin.map(|(time, _)| milliseconds(time)), 0, ""),
    );
    Ok(())
}

/// Returns the average time of `run` by a clock, over as many runs as the clock needs.
fn repeated(
    clock: fn() -> Duration,
    mut run: impl FnMut() -> Result<(), String>,
) -> Result<Duration, String> {
    const ENOUGH: Duration = Duration::from_millis(400);
    let begun = clock();
    let mut times = 0;
    loop {
        run()?;
        times += 1;
        let passed = clock().saturating_sub(begun);
        if passed >= ENOUGH {
            return Ok(passed / times);
        }
    }
}

fn read(text: &str, macros: &[&str]) -> Result<Model, String> {
    let definitions = macros.iter().filter_map(|word| word.split_once('='));
    let reading = Reading {
        definitions: definitions
            .map(|(name, value)| (name.into(), value.into()))
            .collect(),
        ..Reading::default()
    };
    let text = Text {
        name: "model".into(),
        text: text.into(),
    };
    let none = &mut |name: &str| Err(format!("there is no {name}"));
    Model::read(text, &reading, none).map_err(|refused| format!("{:?}", refused.faults))
}

fn run(model: &Model, kind: Search) -> Report {
    search(model, kind, &Options::default(), &mut |_, _| true)
}

/// Returns the time of two threads that search the same states independently.
fn two_searches(model: &Model) -> Duration {
    let begun = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| run(model, Search::Parallel(1)));
        }
    });
    begun.elapsed()
}

/// Returns the processor time of this thread. Linux updates it when the thread yields.
fn processor_time() -> Duration {
    std::thread::yield_now();
    let shown = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = shown
        .split_whitespace()
        .next()
        .and_then(|word| word.parse().ok());
    Duration::from_nanos(nanoseconds.unwrap_or(0))
}

/// Spin's checker of one model.
struct Spin {
    directory: tempfile::TempDir,
    compile: Duration,
}

impl Spin {
    /// Returns `None` if Spin is not installed.
    fn new(file: &Path, macros: &[&str]) -> Result<Option<Spin>, String> {
        let directory = tempfile::tempdir().map_err(|error| error.to_string())?;
        let begun = Instant::now();
        let mut command = Command::new("spin");
        command.args(["-o1", "-o2", "-o3"]);
        command.args(macros.iter().map(|word| format!("-D{word}")));
        command.arg("-a").arg(file).current_dir(directory.path());
        if command.output().is_err() {
            return Ok(None);
        }
        let flags = [
            "-O2",
            "-w",
            "-DNOREDUCE",
            "-DSAFETY",
            "-DNOCLAIM",
            "-DMEMLIM=8000",
            "-o",
            "pan",
            "pan.c",
        ];
        let output = Command::new("cc")
            .args(flags)
            .current_dir(directory.path())
            .output();
        match output {
            Ok(output) if output.status.success() => Ok(Some(Spin {
                directory,
                compile: begun.elapsed(),
            })),
            _ => Err("Spin's checker cannot be compiled".into()),
        }
    }

    fn run(&self) -> Result<Found, String> {
        let output = Command::new(self.directory.path().join("pan"))
            .args(["-m1000000", "-n"])
            .current_dir(self.directory.path())
            .output();
        let shown = output.map_err(|error| error.to_string())?.stdout;
        let shown = String::from_utf8_lossy(&shown).into_owned();
        let number = |what: &str| -> Result<f64, String> {
            let line = shown.lines().find(|line| line.contains(what));
            let word = line.and_then(|line| line.split_whitespace().next());
            // Large counts have an exponent.
            let number: Option<f64> = word.and_then(|word| word.parse().ok());
            number.ok_or_else(|| shown.clone())
        };
        let states = number("states, stored")?;
        let megabytes = number("actual memory usage for states")?;
        Ok(Found {
            counts: (states as u64, number("transitions (=")? as u64),
            state_bytes: megabytes * f64::from(1 << 20) / states,
        })
    }
}

/// The results of Spin's checker.
struct Found {
    /// The numbers of states and transitions.
    counts: (u64, u64),
    /// The memory per state in bytes.
    state_bytes: f64,
}

/// The number of clock ticks per second in which Linux reports process times.
const TICKS: f64 = 100.0;

/// Returns the processor time of all reaped child processes.
fn children_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the program may contain spaces; fields are counted after it.
    let rest = stat.rsplit(')').next().unwrap_or("");
    let mut fields = rest.split_whitespace().skip(13);
    let mut field = || -> u64 {
        fields
            .next()
            .and_then(|field| field.parse().ok())
            .unwrap_or(0)
    };
    let (user, system) = (field(), field());
    Duration::from_secs_f64((user + system) as f64 / TICKS)
}
