//! Samples of measurements, what programs print of them, and the start of a benchmark.

use std::process::ExitCode;

/// Runs a benchmark if `cargo bench` runs this program, or `--quick` is given, which `measure`
/// is told. Its error is printed after the name.
pub fn run_benchmark(name: &str, measure: impl FnOnce(bool) -> Result<(), String>) -> ExitCode {
    let has = |wanted| std::env::args().any(|argument| argument == wanted);
    let is_quick = has("--quick");
    if !is_quick && !has("--bench") {
        println!("Not run by cargo bench: nothing is measured.");
        return ExitCode::SUCCESS;
    }
    match measure(is_quick) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{name}: {message}");
            ExitCode::FAILURE
        }
    }
}

/// Returns the median; zero without samples.
pub fn median(samples: &[f64]) -> f64 {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or_default()
}

/// Returns the minimum; infinity without samples.
pub fn minimum(samples: &[f64]) -> f64 {
    samples.iter().copied().fold(f64::INFINITY, f64::min)
}

/// Returns the number that follows a name in an output, to the end of its line.
pub fn number_after(output: &str, name: &str) -> Option<u64> {
    let (_, rest) = output.split_once(name)?;
    rest.lines().next()?.trim().parse().ok()
}

/// Returns how often an event happened, by juror's report.
pub fn events_seen(report: &str, event: &str) -> Option<u64> {
    let named = format!(" {event} ");
    let line = report.lines().find(|line| line.contains(&named))?;
    let (before, _) = line.split_once(" times")?;
    before.rsplit(' ').next()?.parse().ok()
}
