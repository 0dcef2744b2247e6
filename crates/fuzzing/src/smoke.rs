//! A smoke of the targets: their first inputs, and inputs made of these, for a moment.

use crate::mutation::{Random, mutate};
use crate::targets::{TARGETS, Target};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

/// The longest time of an input.
const INPUT_TIME_MAX: Duration = Duration::from_secs(30);

/// The size of the stack of a target, as the main thread's.
const STACK_BYTES: usize = 8 << 20;

const USAGE: &str = "usage: SECONDS CORPUS ARTIFACTS TARGET...";

/// Runs targets for a number of seconds each. The first inputs of a target are the files of
/// `CORPUS/TARGET`. An input at which a target panics, or takes more than thirty seconds, is kept in
/// `ARTIFACTS/TARGET/smoke`.
///
/// # Errors
/// A target fails, or there is no such target or file.
pub fn run(arguments: &[String]) -> Result<(), String> {
    let [seconds, corpus, artifacts, names @ ..] = arguments else {
        return Err(USAGE.to_owned());
    };
    let seconds = seconds.parse().map_err(|_| USAGE.to_owned())?;
    for name in names {
        let mut targets = TARGETS.iter();
        let target = targets.find(|target| target.name == name);
        let target = *target.ok_or_else(|| format!("there is no target {name}"))?;
        let first = first_inputs(&Path::new(corpus).join(name))?;
        let kept = Path::new(artifacts).join(name).join("smoke");
        let count = smoke(target, first, Duration::from_secs(seconds), &kept)?;
        println!("fuzz {name}: {count} inputs");
    }
    Ok(())
}

/// Returns the contents of the files of a directory, in the order of their names.
fn first_inputs(directory: &Path) -> Result<Vec<Vec<u8>>, String> {
    let at = |error| format!("{}: {error}", directory.display());
    let entries = std::fs::read_dir(directory).map_err(at)?;
    let paths = entries.map(|entry| entry.map(|entry| entry.path()));
    let mut paths = paths.collect::<Result<Vec<PathBuf>, _>>().map_err(at)?;
    paths.sort();
    paths
        .iter()
        .map(|path| std::fs::read(path).map_err(at))
        .collect()
}

/// Runs a target for a time, at least with all first inputs. Returns the number of inputs.
///
/// # Errors
/// The target fails with an input, or takes too long; the input is kept in this file.
pub fn smoke(
    target: Target,
    first: Vec<Vec<u8>>,
    time: Duration,
    kept: &Path,
) -> Result<u64, String> {
    let (began, inputs) = mpsc::channel();
    let worker = thread::Builder::new().stack_size(STACK_BYTES);
    let worker = worker.spawn(move || drive(target, &first, time, &began));
    let worker = worker.map_err(|error| error.to_string())?;
    let mut last: Option<Vec<u8>> = None;
    let mut count = 0;
    let is_late = loop {
        match inputs.recv_timeout(INPUT_TIME_MAX) {
            Ok(input) => {
                last = Some(input);
                count += 1;
            }
            Err(RecvTimeoutError::Disconnected) => break false,
            Err(RecvTimeoutError::Timeout) => break true,
        }
    };
    if !is_late && worker.join().is_ok() {
        return Ok(count);
    }
    std::fs::write(kept, last.unwrap_or_default()).map_err(|error| error.to_string())?;
    let what = if is_late {
        "takes more than thirty seconds"
    } else {
        "fails"
    };
    Err(format!(
        "{} {what}; the input is {}",
        target.name,
        kept.display()
    ))
}

/// Runs a target with its first inputs and with others, each of which is told before.
fn drive(target: Target, first: &[Vec<u8>], time: Duration, began: &Sender<Vec<u8>>) {
    let started = Instant::now();
    let mut random = Random::new(1);
    let mut take = |input: Vec<u8>| {
        // The receiver goes only if an input has taken too long.
        if began.send(input.clone()).is_ok() {
            (target.run)(&input);
        }
    };
    first.iter().cloned().for_each(&mut take);
    while started.elapsed() < time {
        let mut input = first
            .get(random.below(first.len()))
            .cloned()
            .unwrap_or_default();
        mutate(&mut input, first, target.length_max, &mut random);
        take(input);
    }
}
