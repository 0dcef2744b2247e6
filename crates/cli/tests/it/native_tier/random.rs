//! Properties at random over programs that play scripts at random, in both tiers.
//!
//! A case is the number of a property and of a script: `JUROR_TIER_CASE=7` runs case 7 alone,
//! `JUROR_TIER_CASES=3000` more cases than the ordinary 300. Six properties are monitored in
//! each run, together.
//!
//! With one thread, everything that juror says is compared, with several the verdicts of
//! slices of one thread each, which do not depend on the order.

mod properties;
mod scripts;

use crate::support::program;
use crate::support::tiers::Tiers;
use juror_testing::{Build, Compiler, Language, Optimization};
use properties::Writer;
use std::path::PathBuf;
use tempfile::TempDir;

/// How many properties are monitored at once.
const AT_ONCE: u64 = 6;

/// Numbers that look random, and are the same for the same seed (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below another one.
    fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    /// True in so many of a hundred cases.
    fn percent(&mut self, cases: u64) -> bool {
        self.next() % 100 < cases
    }

    fn of<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())].clone()
    }
}

/// The builds of the program: the compilers lay out functions, calls and jumps differently.
fn builds() -> Vec<Build> {
    let mut builds = Vec::new();
    for compiler in Compiler::of(Language::Cpp) {
        for optimization in [Optimization::None, Optimization::Full] {
            if compiler.is_present() {
                builds.push(Build {
                    compiler: *compiler,
                    optimization,
                    pie: optimization == Optimization::Full,
                    debug: true,
                });
            }
        }
    }
    builds
}

fn executable(number: u64) -> PathBuf {
    let builds = builds();
    let build = &builds[number as usize % builds.len()];
    program("played.cpp").argument("-pthread").compile(build)
}

/// One run in both tiers.
#[track_caller]
fn check(case: u64, threads: usize) {
    let mut random = Random(case.wrapping_mul(0x1000).wrapping_add(threads as u64));
    let lengths = [30, 150, 500];
    let mut scripts = Vec::new();
    for _ in 0..threads {
        let length = random.of(&lengths);
        scripts.push(scripts::script(&mut random, length));
    }
    let directory = TempDir::with_prefix("juror-random-").expect("a directory");
    let mut tiers = Tiers::new();
    for number in 0..AT_ONCE {
        let path = directory.path().join(format!("{number}.prop"));
        let property = Writer::new(&mut random, threads > 1).property(number);
        std::fs::write(&path, property).expect("a file");
        tiers = tiers.watching_file(&path);
    }
    let words: Vec<&str> = scripts.iter().map(String::as_str).collect();
    let executable = executable(case);
    let all = ["--keep-going"].as_slice();
    let checks = match threads {
        1 => vec![tiers.clone().options(all), shown(tiers)],
        _ => vec![tiers.options(all).verdicts()],
    };
    for tiers in checks {
        if let Err(difference) = tiers.compare(executable.as_os_str(), &words) {
            let kept = directory.keep();
            panic!("case {case}, {}: {difference}", kept.display());
        }
    }
}

/// The slices are shown at each violation and at the end.
fn shown(tiers: Tiers) -> Tiers {
    let mut tiers = tiers.options(["-e", "catch syscall exit_group", "-e", "run"]);
    for _ in 0..4 {
        tiers = tiers.options(["-e", "info monitors", "-e", "continue"]);
    }
    tiers
}

/// Runs one part of four of the cases.
#[track_caller]
fn check_part(part: u64, threads: usize) {
    let asked = |name: &str| std::env::var(name).ok().and_then(|it| it.parse().ok());
    if let Some(case) = asked("JUROR_TIER_CASE") {
        return check(case, threads);
    }
    // Half of the cases are of one thread, the others of two, three and four.
    let cases: u64 = asked("JUROR_TIER_CASES").unwrap_or(300);
    let parts = if threads == 1 { 8 } else { 12 };
    let runs = cases.div_ceil(AT_ONCE * parts);
    for number in 0..runs {
        check(number * 4 + part, threads);
    }
}

#[test]
fn one_thread_first() {
    check_part(0, 1);
}

#[test]
fn one_thread_second() {
    check_part(1, 1);
}

#[test]
fn one_thread_third() {
    check_part(2, 1);
}

#[test]
fn one_thread_fourth() {
    check_part(3, 1);
}

#[test]
fn two_threads() {
    for part in 0..2 {
        check_part(part, 2);
    }
}

#[test]
fn three_threads() {
    for part in 2..4 {
        check_part(part, 3);
    }
}

#[test]
fn four_threads() {
    for part in 0..2 {
        check_part(part, 4);
    }
}
