//! The search of the states of a model: its kind, limits and progress.

use crate::arguments::model::{CheckModel, Order};
use crate::driver::Observer as _;
use crate::output::Output;
use juror_model::{Options, Report, Search, System};
use std::time::{Duration, Instant};

/// The maximum part of the available memory that states take; the rest is for the data
/// about them.
const MEMORY_PERCENT: u64 = 60;

/// The duration of a search after which progress is shown.
const PROGRESS_AFTER: Duration = Duration::from_secs(1);

/// Returns why the options do not go together. An option without effect is an
/// error: the user would believe that the search was the one asked for.
pub fn without_effect(check: &CheckModel) -> Option<&'static str> {
    let asks = !check.ltl.is_empty() || check.claim || check.acceptance || check.progress;
    let is_plain = !check.compact
        && !check.symmetry
        && check.jobs == 1
        && matches!(check.order, Order::Breadth);
    if asks && !is_plain {
        return Some(
            "--order, --jobs, --symmetry and --compact apply to the search of steps and states, not \
             to formulas, claims and labels\nhelp: omit them",
        );
    }
    if check.reduce && check.fair {
        return Some(
            "--fair needs all steps, and --reduce leaves some out\nhelp: omit --reduce or --fair",
        );
    }
    if matches!(check.order, Order::Depth) && check.jobs > 1 {
        return Some("a depth-first search has one thread\nhelp: omit --order or --jobs");
    }
    (check.jobs == 0).then_some("a search needs a thread\nhelp: use --jobs 1 or more")
}

/// Returns the available memory in bytes, if the kernel reports it.
fn available_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let rest = text
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kilobytes: u64 = rest.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

/// Returns the default limit of the memory for states, in bytes.
pub fn memory_bytes_max() -> u64 {
    available_memory().map_or(u64::MAX, |bytes| bytes / 100 * MEMORY_PERCENT)
}

/// Returns the limits of a search. By default, states take no more memory than is
/// available: a search that the kernel kills has no answer.
pub fn options(check: &CheckModel) -> Options {
    let unlimited = Options::default();
    Options {
        states_max: check.states.unwrap_or(unlimited.states_max),
        depth_max: check.depth.unwrap_or(unlimited.depth_max),
        memory_bytes_max: match check.memory {
            Some(megabytes) => megabytes.saturating_mul(1_000_000),
            None => memory_bytes_max(),
        },
        deadlocks: !check.no_deadlock,
        all: false,
        reduces: check.reduce,
    }
}

/// Returns a function that shows progress if the search takes long.
pub fn progress(output: &mut Output) -> impl FnMut(u64, u64) -> bool {
    let started = Instant::now();
    move |done, known| {
        if started.elapsed() > PROGRESS_AFTER {
            output.progress("searching", done.min(known.saturating_sub(1)), known.max(1));
        }
        true
    }
}

/// Searches the states of a model.
pub fn search<S: System>(check: &CheckModel, model: &S, output: &mut Output) -> Report {
    let kind = match (check.compact, check.order, check.jobs) {
        (true, ..) => Search::Compact,
        (false, Order::Depth, _) => Search::Depth,
        (false, Order::Breadth, jobs) if jobs > 1 => Search::Parallel(jobs),
        (false, Order::Breadth, _) => Search::Breadth,
    };
    juror_model::search(model, kind, &options(check), &mut progress(output))
}
