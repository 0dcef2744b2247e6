//! What checking a model costs: juror against Spin, in the same run.
//!
//! ```text
//! cargo bench -p juror-testing --bench model [-- --quick]
//! ```
//!
//! Both search all states of models of this repository, without any reduction;
//! Spin's checker is compiled with `-O2`, and what that takes is shown, too. They
//! take turns, several rounds; the time on the processor counts, of the best
//! round of each. Other counts of states than Spin's fail the benchmark. Without
//! Spin, juror is measured alone.

use juror_model::promela::{Model, Reading, Text};
use juror_model::{Options, Report, Search, search};
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

/// Models and macros, from few states to many.
const MODELS: &[(&str, &[&str])] = &[
    ("leader", &[]),
    ("sliding-window", &[]),
    ("breakpoint", &[]),
    ("sorting", &[]),
    ("breakpoint", &["THREADS=3"]),
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
        "{:<28} {:>9} {:>10} {:>9} {:>10} {:>9} {:>6} {:>7}",
        "model", "states", "juror/s", "B/state", "Spin/s", "compile", "ratio", "2 jobs"
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
    let model = read(&text, macros)?;
    let spin = Spin::new(&file, macros)?;
    let (mut own, mut peer) = (Duration::MAX, Duration::MAX);
    let mut report = None;
    for _ in 0..rounds {
        let begun = processor_time();
        report = Some(run(&model, Search::Breadth));
        own = own.min(processor_time().saturating_sub(begun));
        if let Some(spin) = &spin {
            let (counts, time) = spin.run()?;
            let ours = report
                .as_ref()
                .map(|report| (report.states, report.transitions));
            if ours != Some(counts) {
                return Err(format!("juror finds {ours:?}, and Spin {counts:?}"));
            }
            peer = peer.min(time);
        }
    }
    let begun = Instant::now();
    run(&model, Search::Breadth);
    let alone = begun.elapsed();
    let begun = Instant::now();
    run(&model, Search::Parallel(2));
    let together = begun.elapsed();
    let report = report.ok_or("no round was run")?;
    let rate = |time: Duration| report.states as f64 / time.as_secs_f64().max(1e-6) / 1e6;
    let shown = format!("{name} {}", macros.join(" "));
    let (spin_rate, compile, ratio) = match &spin {
        Some(spin) => (
            format!("{:.2} M", rate(peer)),
            format!("{:.1} s", spin.compile.as_secs_f64()),
            format!("{:.1}", rate(own) / rate(peer)),
        ),
        None => ("-".into(), "-".into(), "-".into()),
    };
    println!(
        "{shown:<28} {:>9} {:>8.2} M {:>9.0} {spin_rate:>10} {compile:>9} {ratio:>6} {:>7.2}",
        report.states,
        rate(own),
        report.memory_bytes as f64 / report.states as f64,
        alone.as_secs_f64() / together.as_secs_f64().max(1e-6),
    );
    Ok(())
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

/// The time of this thread on the processor.
fn processor_time() -> Duration {
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
    /// Nothing where Spin is not installed.
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

    /// States and transitions, and the time on the processor that Spin tells.
    fn run(&self) -> Result<((u64, u64), Duration), String> {
        let begun = children_time();
        let output = Command::new(self.directory.path().join("pan"))
            .args(["-m1000000", "-n"])
            .current_dir(self.directory.path())
            .output();
        let time = children_time().saturating_sub(begun);
        let shown = output.map_err(|error| error.to_string())?.stdout;
        let shown = String::from_utf8_lossy(&shown).into_owned();
        let number = |what: &str| -> Result<u64, String> {
            let line = shown.lines().find(|line| line.contains(what));
            let word = line.and_then(|line| line.split_whitespace().next());
            // Large counts have an exponent.
            let number: Option<f64> = word.and_then(|word| word.parse().ok());
            number.map(|number| number as u64).ok_or(shown.clone())
        };
        Ok(((number("states, stored")?, number("transitions (=")?), time))
    }
}

/// What a second has of the units in which Linux tells times of processes.
const TICKS: f64 = 100.0;

/// The time on the processor of all processes that have been waited for.
fn children_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the program may have spaces; fields are counted behind it.
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
