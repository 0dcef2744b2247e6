//! Measuring runners: they alternate, and the best round counts.

use std::time::Instant;

/// The extent of the measurement.
pub struct Effort {
    pub rounds: usize,
    pub events: u64,
    pub objects_max: u64,
}

/// The extent without `--quick`.
pub const FULL: Effort = Effort {
    rounds: 5,
    events: 4_000_000,
    objects_max: 1_000_000,
};

/// The extent with `--quick`.
pub const QUICK: Effort = Effort {
    rounds: 1,
    events: 50_000,
    objects_max: 1_000,
};

/// A consumer of events, numbered from 0.
pub trait Runner {
    /// Processes this event; an error fails the benchmark.
    fn take(&mut self, number: u64) -> Result<(), String>;
    /// Returns the bytes per object, if known.
    fn bytes(&self) -> Option<f64>;
}

/// Returns the millions of events per second, the best of all rounds. The runners
/// alternate.
pub fn measure<const N: usize>(
    effort: &Effort,
    runners: &mut [&mut dyn Measured; N],
) -> Result<[f64; N], String> {
    let mut best = [0.0_f64; N];
    for round in 0..effort.rounds as u64 {
        for (runner, best) in runners.iter_mut().zip(&mut best) {
            let first = round * effort.events;
            let rate = runner.rate(first, effort.events)?;
            *best = best.max(rate);
        }
    }
    Ok(best)
}

/// A runner whose loop is compiled with it.
pub trait Measured {
    fn rate(&mut self, first: u64, events: u64) -> Result<f64, String>;
    fn bytes_each(&self) -> Option<f64>;
}

impl<R: Runner> Measured for R {
    fn rate(&mut self, first: u64, events: u64) -> Result<f64, String> {
        let start = Instant::now();
        for number in first..first + events {
            self.take(number)?;
        }
        Ok(events as f64 / start.elapsed().as_secs_f64() / 1e6)
    }

    fn bytes_each(&self) -> Option<f64> {
        self.bytes()
    }
}

/// Prints the title of a table.
pub fn heading(title: &str) {
    println!("\n{title}");
    println!(
        "{:>10}  {:26} {:>10} {:>10} {:>12}",
        "instances", "evaluated", "M events/s", "of by hand", "bytes each"
    );
}

/// Prints a row of a table.
pub fn row(objects: u64, name: &str, rate: f64, by_hand: f64, bytes: Option<f64>) {
    let bytes = bytes.map_or_else(String::new, |bytes| format!("{bytes:.1}"));
    let ratio = rate / by_hand;
    println!("{objects:10}  {name:26} {rate:10.1} {ratio:10.2} {bytes:>12}");
}
