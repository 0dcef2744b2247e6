//! A run in both tiers: the events of calls are taken by traps, or in the program where that
//! is possible. Both runs must say the same, but for how often the program was stopped.

use super::juror;
use juror_testing::Output;
use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// A run that can be made in either tier. Without JSON: its writer sees each change of a
/// state, for which the events are trapped.
#[derive(Debug, Clone, Default)]
pub struct Tiers {
    options: Vec<OsString>,
    directory: Option<PathBuf>,
    input: Vec<u8>,
    verdicts_only: bool,
}

/// The output of one run.
#[derive(Debug)]
pub struct Told {
    pub output: Output,
    /// The lines that do not depend on the tier.
    lines: Vec<String>,
    /// How often events happened that are of calls, and how often the program was stopped
    /// for them, in all properties.
    pub occurrences: u64,
    pub stops: u64,
}

impl Tiers {
    pub fn new() -> Tiers {
        Tiers::default()
    }

    /// Adds words to juror's own arguments.
    pub fn options(mut self, options: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Tiers {
        let options = options.into_iter().map(|it| it.as_ref().to_owned());
        self.options.extend(options);
        self
    }

    /// Monitors a property file.
    pub fn watching_file(self, path: impl AsRef<Path>) -> Tiers {
        self.options([OsStr::new("--property"), path.as_ref().as_os_str()])
    }

    /// Runs in this directory.
    pub fn directory(mut self, directory: impl Into<PathBuf>) -> Tiers {
        self.directory = Some(directory.into());
        self
    }

    /// Gives this on standard input.
    pub fn input(mut self, input: impl Into<Vec<u8>>) -> Tiers {
        self.input = input.into();
        self
    }

    /// Compares only what does not depend on the order in which threads run: what the
    /// program prints, and for each property the verdict and the numbers of its slices and
    /// violations.
    pub fn verdicts(mut self) -> Tiers {
        self.verdicts_only = true;
        self
    }

    /// Runs a program in a tier.
    #[track_caller]
    pub fn run(&self, tier: &str, program: &OsStr, arguments: &[&str]) -> Told {
        let mut juror = juror(&["run", "--batch", "--color=never", "--tier", tier])
            .args(&self.options)
            .args([program])
            .args(arguments)
            .input(self.input.clone());
        if let Some(directory) = &self.directory {
            juror = juror.directory(directory);
        }
        Told::new(juror.run(), self.verdicts_only)
    }

    /// Runs a program in both tiers, and compares; returns the run that may be native.
    ///
    /// # Errors
    /// The runs differ; says how.
    #[track_caller]
    pub fn compare(&self, program: &OsStr, arguments: &[&str]) -> Result<Told, String> {
        let by_traps = self.run("trap", program, arguments);
        let native = self.run("auto", program, arguments);
        let codes = [&by_traps, &native].map(|told| told.output.code());
        if codes[0] == codes[1] && by_traps.lines == native.lines {
            return Ok(native);
        }
        Err(format!(
            "{} {arguments:?} with {:?}\n{codes:?}\n{}\n--- by traps\n{}\n{}\n--- native\n{}\n{}",
            program.display(),
            self.options,
            difference(&by_traps.lines, &native.lines),
            by_traps.output.stdout,
            by_traps.output.stderr,
            native.output.stdout,
            native.output.stderr,
        ))
    }

    /// Checks that both tiers say the same, and returns the run that may be native.
    #[track_caller]
    pub fn check(&self, program: impl AsRef<OsStr>, arguments: &[&str]) -> Told {
        match self.compare(program.as_ref(), arguments) {
            Ok(told) => told,
            Err(difference) => panic!("{difference}"),
        }
    }
}

impl Told {
    /// Returns what an output says that does not depend on the tier.
    pub fn new(output: Output, verdicts_only: bool) -> Told {
        let text = format!("{}\n{}", output.stdout, output.stderr);
        let (mut occurrences, mut stops) = (0, 0);
        let mut addresses = HashMap::new();
        let mut lines = Vec::new();
        for line in text.lines() {
            let (rest, of_line) = without_stops(without_tier(line));
            stops += of_line.unwrap_or(0);
            occurrences += ended_by(rest, &["time", "times"]).map_or(0, |(_, number)| number);
            let plain = plain(rest, &mut addresses);
            lines.push(without_processes(&plain));
        }
        if verdicts_only {
            lines = without_order(lines);
        }
        Told {
            output,
            lines,
            occurrences,
            stops,
        }
    }

    /// Checks that another run says the same.
    #[track_caller]
    pub fn assert_same(&self, other: &Told) {
        assert_eq!(self.output.code(), other.output.code());
        assert_eq!(self.lines, other.lines);
    }

    /// Checks that the events were taken in the program: otherwise a comparison proves
    /// nothing.
    #[track_caller]
    pub fn assert_native(&self) {
        assert!(
            self.occurrences > 0 && self.stops * 3 <= self.occurrences,
            "{} stops for {} events\n{}",
            self.stops,
            self.occurrences,
            self.output.stdout
        );
    }
}

/// Returns the lines of a report that do not depend on the order of threads, sorted.
fn without_order(lines: Vec<String>) -> Vec<String> {
    let is_verdict = |line: &String| {
        let words = ["HOLDS ", "VIOLATED ", "UNDECIDED ", "error"];
        words.iter().any(|word| line.starts_with(word))
    };
    let has_ended = lines
        .iter()
        .position(|line| line.starts_with("The program "));
    let end = has_ended.unwrap_or(lines.len());
    let (before, behind) = lines.split_at(end);
    // The program's own lines come before its end, between those about violations.
    let own = before.iter().filter(|line| line.starts_with("sum "));
    let mut kept: Vec<String> = own.cloned().collect();
    kept.extend(behind.iter().filter(|line| is_verdict(line)).cloned());
    kept.extend(behind.first().cloned());
    kept.sort();
    kept
}

/// Returns a line of a summary without the way in which the event was taken.
fn without_tier(line: &str) -> &str {
    let line = line.split_once("  trap: ").map_or(line, |(rest, _)| rest);
    let line = line.strip_suffix("  native in part").unwrap_or(line);
    let line = line.strip_suffix("  native").unwrap_or(line);
    line.trim_end()
}

/// Returns a line of a summary without how often the program was stopped, and that.
fn without_stops(line: &str) -> (&str, Option<u64>) {
    match ended_by(line, &["stop", "stops"]) {
        Some((rest, number)) => (rest, Some(number)),
        None => (line, None),
    }
}

/// Splits a line that ends with a number and one of these words.
fn ended_by<'a>(line: &'a str, words: &[&str]) -> Option<(&'a str, u64)> {
    let (rest, word) = line.rsplit_once(' ')?;
    if !words.contains(&word) {
        return None;
    }
    let (rest, number) = rest.trim_end().rsplit_once(' ')?;
    Some((rest.trim_end(), number.parse().ok()?))
}

/// Replaces addresses by numbers in their order: memory of juror's in the program moves
/// what is mapped later. The column of `info breakpoints` that names the tier goes.
fn plain(line: &str, addresses: &mut HashMap<String, usize>) -> String {
    let mut made = String::new();
    let mut rest = line;
    while let Some(at) = rest.find("0x") {
        let (before, found) = rest.split_at(at);
        let digits = found[2..].bytes().take_while(u8::is_ascii_hexdigit).count();
        let (address, behind) = found.split_at(2 + digits);
        made.push_str(before);
        if digits > 5 {
            let next = addresses.len();
            let number = *addresses.entry(address.to_owned()).or_insert(next);
            made.push_str(&format!("@{number}"));
        } else {
            made.push_str(address);
        }
        rest = behind;
    }
    made.push_str(rest);
    made
}

/// Returns the words of a line, without the numbers of processes and of threads of the
/// system, which differ from run to run; juror's own numbers of threads are small.
fn without_processes(line: &str) -> String {
    let mut words: Vec<&str> = Vec::new();
    for word in line.split_whitespace() {
        let is_after = words
            .last()
            .is_some_and(|it| ["process", "[process", "thread"].contains(it));
        let digits = word.trim_end_matches(',');
        let is_number = digits.len() > 2 && digits.bytes().all(|byte| byte.is_ascii_digit());
        words.push(if is_after && is_number { "#" } else { word });
    }
    words.join(" ")
}

/// Returns the lines that one has and the other has not, at the same place.
fn difference(one: &[String], other: &[String]) -> String {
    let same = one.iter().zip(other).take_while(|(a, b)| a == b).count();
    let behind = |lines: &[String]| lines.len().saturating_sub(same);
    let ends = one.iter().rev().zip(other.iter().rev());
    let tail = ends.take_while(|(a, b)| a == b).count();
    let tail = tail.min(behind(one)).min(behind(other));
    let part = |lines: &[String], sign: &str| {
        let part = lines.get(same..lines.len() - tail).unwrap_or(&[]);
        let marked: Vec<String> = part.iter().map(|line| format!("{sign} {line}")).collect();
        marked.join("\n")
    };
    format!("{}\n{}", part(one, "-"), part(other, "+"))
}
