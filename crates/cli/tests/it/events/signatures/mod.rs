//! Functions with signatures at random: the values that events capture at the entry and the
//! return are those that the program passed.
//!
//! The oracle is the program itself: each function is called with values that the generator has
//! chosen, and that the compiler does not know. An event says the right value, or is refused
//! with a reason; anything else is a difference. `JUROR_SIGNATURES=1000` checks so many
//! functions of each language and each way to compile, `JUROR_SIGNATURE_SEED=7` one program.

mod c;
mod judge;
mod rust;
mod types;

pub use judge::{Verdicts, Way, judge};
use types::LeafValue;

/// Numbers that look random, and are the same for the same seed (SplitMix64).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below another one.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Moment {
    Before,
    After,
}

/// A value that an event has to capture.
#[derive(Debug, Clone)]
pub struct Check {
    pub function: usize,
    /// The name of the function in properties; `symbol:TEXT` is a symbol that contains the text.
    pub subject: String,
    pub moment: Moment,
    pub capture: String,
    /// By call; the only one of all calls.
    pub values: Vec<LeafValue>,
    pub calls: usize,
    /// What it is, for the statistics.
    pub kind: String,
}

/// A program with the values that it passes.
pub struct Program {
    pub source: String,
    pub checks: Vec<Check>,
}

impl Check {
    /// Returns whether it is a word of a register: such captures are read in the program.
    pub fn is_word(&self) -> bool {
        let is_plain = self.capture.chars().all(|it| it.is_ascii_alphanumeric());
        is_plain
            && self
                .values
                .iter()
                .all(|it| !matches!(it, LeafValue::Float(_)))
    }
}

/// A language of the programs, and a way to compile them.
pub type LanguageWay = (Language, Way);

/// A language of the programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    C,
    Cpp,
    Rust,
}

const fn way(language: Language, compiler: &'static str, option: &'static str) -> LanguageWay {
    (language, Way { compiler, option })
}

/// All ways to compile: those of the smoke first.
pub const WAYS: [LanguageWay; 27] = [
    way(Language::C, "gcc", "-O2"),
    way(Language::C, "clang", "-O2"),
    way(Language::Cpp, "g++", "-O0"),
    way(Language::Cpp, "clang++", "-O1"),
    way(Language::Rust, "rustc", "-Copt-level=0"),
    way(Language::Rust, "rustc", "-Copt-level=3"),
    way(Language::C, "gcc", "-O0"),
    way(Language::C, "gcc", "-Og"),
    way(Language::C, "gcc", "-O1"),
    way(Language::C, "gcc", "-O3"),
    way(Language::C, "gcc", "-Os"),
    way(Language::C, "clang", "-O0"),
    way(Language::C, "clang", "-O1"),
    way(Language::C, "clang", "-O3"),
    way(Language::C, "clang", "-Os"),
    way(Language::Cpp, "g++", "-Og"),
    way(Language::Cpp, "g++", "-O1"),
    way(Language::Cpp, "g++", "-O2"),
    way(Language::Cpp, "g++", "-O3"),
    way(Language::Cpp, "g++", "-Os"),
    way(Language::Cpp, "clang++", "-O0"),
    way(Language::Cpp, "clang++", "-O2"),
    way(Language::Cpp, "clang++", "-O3"),
    way(Language::Cpp, "clang++", "-Os"),
    way(Language::Rust, "rustc", "-Copt-level=1"),
    way(Language::Rust, "rustc", "-Copt-level=2"),
    way(Language::Rust, "rustc", "-Copt-level=s"),
];

/// The number of ways of the smoke.
#[cfg(test)]
const SMOKE_WAYS: usize = 6;

/// Writes the program of a seed.
pub fn program(language: Language, seed: u64, functions: usize) -> Program {
    let mut random = Random(seed);
    match language {
        Language::C => c::program(&mut random, functions, false),
        Language::Cpp => c::program(&mut random, functions, true),
        Language::Rust => rust::program(&mut random, functions),
    }
}

/// Checks so many functions in programs of some.
#[cfg(test)]
fn check(language: Language) {
    let asked = |name: &str| std::env::var(name).ok().and_then(|it| it.parse().ok());
    let long: Option<u64> = asked("JUROR_SIGNATURES");
    let (functions, programs, ways) = match long {
        Some(all) => (50, all.div_ceil(50), WAYS.len()),
        None => (8, 1, SMOKE_WAYS),
    };
    let seeds = match asked("JUROR_SIGNATURE_SEED") {
        Some(seed) => seed..seed + 1,
        None => 1..1 + programs,
    };
    let juror = std::ffi::OsStr::new(env!("CARGO_BIN_EXE_juror"));
    let mut total = Verdicts::default();
    for (_, way) in WAYS.iter().take(ways).filter(|it| it.0 == language) {
        if !juror_testing::is_installed(way.compiler) {
            continue;
        }
        let mut verdicts = Verdicts::default();
        for seed in seeds.clone() {
            let directory =
                tempfile::TempDir::with_prefix("juror-signatures-").expect("a directory");
            let program = program(language, seed, functions);
            verdicts.add(judge(juror, &program, *way, seed, directory.path()));
        }
        println!("{way:?}: {verdicts}");
        total.add(verdicts);
    }
    assert!(total.wrong.is_empty(), "{}", total.wrong.join("\n"));
    assert!(total.right > 0, "{total}");
}

#[test]
fn of_c() {
    check(Language::C);
}

#[test]
fn of_cpp() {
    check(Language::Cpp);
}

#[test]
fn of_rust() {
    check(Language::Rust);
}
