//! Random scopes against the compiler's own lookup: programs print the value of each name at
//! marked calls of `look`, and `print` has to say the same in the frame of the call.
//!
//! Without optimization each value has to be right. With it, a value is right or optimized out;
//! what gdb prints wrongly, too, is the compiler's description. `JUROR_SCOPES` asks for more
//! scopes than the smoke has, and `JUROR_SCOPES_SEED` for another first program. The seed of a
//! program says how it is compiled, so `JUROR_SCOPES=1 JUROR_SCOPES_SEED=N` repeats program N. What
//! differs is counted by kind on standard error, and appended to the file `JUROR_SCOPES_LOG` while
//! the run goes on.

mod c_family;
mod compare;
mod numbers;
mod rust;

use crate::support::progress::note;
use compare::{Counts, Way};
use tempfile::TempDir;

/// The ways in which programs are compiled: the command, its options, and whether it optimizes.
const WAYS: &[Way] = &[
    Way::new("gcc", &["-O0"]),
    Way::new("g++", &["-O0"]),
    Way::new("clang", &["-O0"]),
    Way::new("clang++", &["-O0"]),
    Way::new("rustc", &["-Copt-level=0"]),
    Way::new("gcc", &["-Og"]),
    Way::new("g++", &["-Og"]),
    Way::new("gcc", &["-O1"]),
    Way::new("clang", &["-O1"]),
    Way::new("g++", &["-O1"]),
    Way::new("clang++", &["-O1"]),
    Way::new("rustc", &["-Copt-level=1"]),
];

/// The number of marked calls of the smoke, in one program for each of the first ways.
const SMOKE: usize = 60;

#[test]
fn names_of_random_scopes_mean_what_the_compiler_says() {
    let number = |name: &str| std::env::var(name).ok().and_then(|it| it.parse().ok());
    let wanted: usize = number("JUROR_SCOPES").unwrap_or(SMOKE);
    let seed: usize = number("JUROR_SCOPES_SEED").unwrap_or(13);
    let is_smoke = wanted <= SMOKE;
    let mut counts = Counts::default();
    for at in 0.. {
        if counts.scopes >= wanted || is_smoke && at >= 6 {
            break;
        }
        let way = &WAYS[(seed + at + WAYS.len() - 1) % WAYS.len()];
        let directory = TempDir::with_prefix("juror-scopes-").unwrap();
        let seed = (seed + at) as u64;
        let source = match way.command {
            "rustc" => rust::program(seed),
            "gcc" | "clang" => {
                c_family::program(seed, false, way.command == "clang", way.is_optimized())
            }
            _ => c_family::program(seed, true, way.command == "clang++", way.is_optimized()),
        };
        let Some(compiled) = way.compile(directory.path(), source) else {
            continue;
        };
        if !compare::run(way, &compiled, seed, &mut counts) {
            let kept = directory.keep();
            eprintln!("kept: {}", kept.display());
        }
        if at % 50 == 49 {
            note("JUROR_SCOPES_LOG", &format!("up to seed {seed}: {counts}"));
        }
    }
    note("JUROR_SCOPES_LOG", &counts.to_string());
    assert!(counts.wrong.is_empty(), "{counts}");
}
