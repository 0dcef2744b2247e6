//! Samples of measurements, and what programs print of them.

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
