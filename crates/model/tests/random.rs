//! Random models have the states and transitions that Spin finds.
//!
//! `JUROR_SPIN=2000` makes so many of them instead of a hundred.

mod support;

use juror_model::{Options, Search, Verdict, search};
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use support::{has_spin, read, spin};

/// S. Vigna's splitmix64.
struct Random(u64);

impl Random {
    fn below(&mut self, count: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % count
    }

    fn of<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.below(words.len() as u64) as usize]
    }
}

const VARIABLES: &[&str] = &["x", "y", "a[0]", "a[1]", "l", "r.f"];

/// Writes a model.
struct Writer {
    random: Random,
    text: String,
    /// Inside `atomic` or `d_step`: no loops.
    atomic: bool,
    /// Inside `d_step`: nothing may block, and nothing is undecided.
    steady: bool,
    labels: u64,
}

impl Writer {
    fn value(&mut self) -> String {
        match self.random.below(4) {
            0 => self.random.below(3).to_string(),
            1 => self.random.of(VARIABLES).to_owned(),
            2 => format!("({} + 1) % 3", self.random.of(VARIABLES)),
            _ => format!("a[{} % 2]", self.random.of(VARIABLES)),
        }
    }

    fn condition(&mut self) -> String {
        let left = self.random.of(VARIABLES);
        let operator = self.random.of(&["==", "!=", "<", ">="]);
        match self.random.below(6) {
            0 => format!("len(buffer) {operator} 1"),
            1 => "nempty(buffer)".to_owned(),
            2 => format!("buffer?[{}, _]", self.random.below(3)).replace(", _", ""),
            _ => format!("{left} {operator} {}", self.value()),
        }
    }

    fn simple(&mut self) {
        let statement = match self.random.below(if self.steady { 2 } else { 12 }) {
            0 | 1 => format!("{} = {}", self.random.of(VARIABLES), self.value()),
            2 => self.condition(),
            3 => format!("hand!{}", self.value()),
            4 => format!("hand?{}", self.random.of(VARIABLES)),
            5 => format!("hand?{}", self.random.below(3)),
            6 => format!("buffer!{},{}", self.value(), self.value()),
            // Spin takes no variable twice in one message.
            7 => format!(
                "buffer?{}",
                self.random.of(&["x,y", "l,x", "y,l", "a[0],r.f", "r.f,y"])
            ),
            8 => format!("buffer??eval({}),_", self.random.of(VARIABLES)),
            9 => format!("buffer!!{},{}", self.value(), self.value()),
            10 => "skip".to_owned(),
            _ => format!("buffer?<{},_>", self.random.of(VARIABLES)),
        };
        self.text += &statement;
    }

    fn sequence(&mut self, depth: u64, most: u64) {
        let count = 1 + self.random.below(most);
        for number in 0..count {
            if number > 0 {
                self.text += "; ";
            }
            self.statement(depth);
        }
    }

    fn statement(&mut self, depth: u64) {
        if depth == 0 {
            return self.simple();
        }
        match self.random.below(14) {
            0 | 1 => self.choice(depth, "if", "fi"),
            2 if !self.atomic => self.choice(depth, "do", "od"),
            3 if !self.atomic => {
                self.atomic = true;
                self.text += "atomic { ";
                self.sequence(depth - 1, 3);
                self.text += " }";
                self.atomic = false;
            }
            4 if !self.steady => {
                let was = std::mem::replace(&mut self.atomic, true);
                self.steady = true;
                self.text += "d_step { ";
                self.sequence(depth - 1, 3);
                self.text += " }";
                self.steady = false;
                self.atomic = was;
            }
            5 if !self.atomic => {
                self.text += "{ ";
                self.sequence(depth - 1, 2);
                self.text += " } unless { ";
                self.simple();
                self.text += " }";
            }
            6 if !self.steady && self.labels > 0 => {
                let label = self.random.below(self.labels);
                // Spin refuses a process that goes from a place to itself
                // without doing anything.
                let before = self.text.trim_end();
                if before.ends_with("skip;") || before.ends_with(&format!("L{label}:")) {
                    self.text += "x = y; ";
                }
                let _ = write!(self.text, "goto L{label}");
            }
            7 => {
                self.text += "{ ";
                self.sequence(depth - 1, 2);
                self.text += " }";
            }
            _ => self.simple(),
        }
    }

    fn choice(&mut self, depth: u64, begin: &str, end: &str) {
        let _ = write!(self.text, "{begin} ");
        let options = 1 + self.random.below(3);
        for _ in 0..options {
            self.text += ":: ";
            // A guard of a choice that may do both is what makes runs differ.
            if self.steady {
                let condition = self.condition();
                self.text += &condition;
            } else {
                self.simple();
            }
            self.text += " -> ";
            self.sequence(depth - 1, 2);
            if end == "od" && self.random.below(3) == 0 {
                self.text += "; break";
            }
            self.text.push(' ');
        }
        if self.steady || self.random.below(3) == 0 {
            let out = if end == "od" { "break" } else { "skip" };
            let _ = write!(self.text, ":: else -> {out} ");
        }
        if self.random.below(6) == 0 && !self.atomic {
            self.text += ":: timeout -> x = 0 ";
        }
        self.text += end;
    }

    fn process(&mut self, number: u64) {
        let count = if number == 0 && self.random.below(3) == 0 {
            "[2] "
        } else {
            ""
        };
        let _ = write!(
            self.text,
            "active {count}proctype P{number}() {{\n  byte l; record r;\n"
        );
        self.labels = 0;
        let lines = 1 + self.random.below(4);
        for _ in 0..lines {
            let _ = write!(self.text, "L{}: ", self.labels);
            self.labels += 1;
            self.simple();
            self.text += ";\n  ";
            self.statement(2);
            self.text += ";\n";
        }
        if self.random.below(3) == 0 {
            self.text += "  if :: x == 2 -> x = 0; run Q(l) :: else fi\n";
        }
        self.text += "}\n";
    }
}

fn write(seed: u64) -> String {
    let mut writer = Writer {
        random: Random(seed),
        text: "typedef record { byte f }\nbyte x, y, a[2];\nchan hand = [0] of {byte};\nchan buffer = [2] of {byte, byte};\n"
            .to_owned(),
        atomic: false,
        steady: false,
        labels: 0,
    };
    let processes = 1 + writer.random.below(3);
    for number in 0..processes {
        writer.process(number);
    }
    writer.text += "proctype Q(byte n) { y = (y + n) % 3; hand!n }\n";
    writer.text
}

/// Larger models would take a test too long.
const STATES_MAX: u32 = 30_000;

fn compare(text: &str) -> bool {
    let model = read(text, &[], Vec::new());
    let options = Options {
        deadlocks: false,
        states_max: STATES_MAX,
        ..Options::default()
    };
    let report = search(&model, Search::Breadth, &options, &mut |_, _| true);
    match report.verdict() {
        Verdict::Holds => {}
        // A sequence without end, a wrong value: Spin has other words for it.
        Verdict::Violated | Verdict::Incomplete => return false,
    }
    let found = spin(text, &[], &["-E"]);
    let counts = (report.states, report.transitions);
    assert_eq!(counts, (found.states, found.transitions), "{text}");
    true
}

#[test]
fn random_models_have_the_states_that_spin_finds() {
    if !has_spin() {
        return;
    }
    let wanted = std::env::var("JUROR_SPIN")
        .ok()
        .and_then(|count| count.parse().ok())
        .unwrap_or(100);
    let (next, done) = (AtomicU64::new(0), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(|| {
                while done.load(Ordering::Relaxed) < wanted {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if compare(&write(seed)) {
                        done.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
    });
}

#[test]
fn random_models_have_one_verdict_in_every_search() {
    for seed in 0..300 {
        let text = write(1_000_000 + seed);
        let model = read(&text, &[], Vec::new());
        let options = Options {
            states_max: STATES_MAX,
            ..Options::default()
        };
        let run = |kind, reduces| {
            let options = Options { reduces, ..options };
            search(&model, kind, &options, &mut |_, _| true)
        };
        let plain = run(Search::Breadth, false);
        if plain.verdict() == Verdict::Incomplete {
            continue;
        }
        for kind in [
            Search::Breadth,
            Search::Depth,
            Search::Parallel(2),
            Search::Compact,
        ] {
            for reduces in [false, true] {
                let report = run(kind, reduces);
                let wrong = report.finding.is_some();
                assert_eq!(wrong, plain.finding.is_some(), "{kind:?} {reduces}\n{text}");
                if !reduces && !wrong {
                    let counts = (report.states, report.transitions);
                    assert_eq!(
                        counts,
                        (plain.states, plain.transitions),
                        "{kind:?}\n{text}"
                    );
                }
            }
        }
    }
}

/// Words of the language, in any order.
const NOISE: &[&str] = &[
    "do",
    "od",
    "if",
    "fi",
    "::",
    "->",
    ";",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "atomic",
    "d_step",
    "goto",
    "L0",
    "L0:",
    "unless",
    "else",
    "break",
    "x",
    "y",
    "l",
    "r",
    "r.f",
    "hand",
    "buffer",
    "!",
    "?",
    "??",
    "!!",
    "<",
    ">",
    ",",
    "1",
    "255",
    "=",
    "==",
    "&&",
    "-",
    "run",
    "Q",
    "P0",
    "@",
    ":",
    "typedef",
    "byte",
    "chan",
    "inline",
    "f(x)",
    "#define N",
    "\n",
    "active",
    "proctype",
    "init",
    "never",
    "ltl",
    "[]",
    "<>",
    "U",
    "timeout",
    "_pid",
    "_",
    "len",
    "eval",
    "printf",
    "\"%d\"",
    "assert",
    "for",
    "in",
    "..",
    "select",
    "provided",
    "priority",
    "9999999999",
    "'",
];

#[test]
fn no_text_stops_the_reader() {
    let mut random = Random(5);
    for seed in 0..3000 {
        let text = write(seed);
        let mut words: Vec<&str> = text.split(' ').collect();
        for _ in 0..1 + random.below(4) {
            let at = random.below(words.len() as u64) as usize;
            match random.below(4) {
                0 => drop(words.remove(at)),
                1 => words.insert(at, random.of(NOISE)),
                2 => words[at] = random.of(NOISE),
                _ => {
                    let other = random.below(words.len() as u64) as usize;
                    words.swap(at, other);
                }
            }
            if words.is_empty() {
                break;
            }
        }
        if let Some(model) = support::try_read(&words.join(" ")) {
            let options = Options {
                states_max: 200,
                ..Options::default()
            };
            search(&model, Search::Breadth, &options, &mut |_, _| true);
        }
    }
}
