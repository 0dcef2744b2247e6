//! Random models and formulas.
//!
//! The processes of a model share all variables, so that most steps matter to the others;
//! those of a model that is written apart have their own ones, too, so that many do not.

use super::extras::{EXTRAS, Extra, trace};
use std::fmt::Write as _;

/// S. Vigna's splitmix64.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, count: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % count
    }

    pub fn of<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.below(words.len() as u64) as usize]
    }
}

const VARIABLES: &[&str] = &["x", "y", "a[0]", "a[1]", "l", "r.f"];
/// What each process that is written apart has alone, beside little that it shares; `#` is
/// its number.
const APART: &[&str] = &["l", "l", "r.f", "o#", "o#", "x", "a[#]", "a[l % 3]"];

/// Writes a model.
pub struct Writer {
    random: Random,
    text: String,
    /// Inside `atomic` or `d_step`: no loops.
    atomic: bool,
    /// Inside `d_step`: nothing may block, and nothing is undecided.
    steady: bool,
    labels: u64,
    /// The number of the process, where it is written apart.
    apart: Option<u64>,
    /// What this model has beside the usual.
    extras: Vec<Extra>,
}

impl Writer {
    /// One of the words that the extras have for something, in one of three cases.
    fn extra(&mut self, words: impl Fn(&Extra) -> &'static [&'static str]) -> Option<&'static str> {
        let all: Vec<&str> = self.extras.iter().flat_map(words).copied().collect();
        if all.is_empty() || self.random.below(3) > 0 {
            return None;
        }
        Some(all[self.random.below(all.len() as u64) as usize])
    }

    fn variable(&mut self) -> String {
        match self.apart {
            Some(number) => self.random.of(APART).replace('#', &number.to_string()),
            None => self.random.of(VARIABLES).to_owned(),
        }
    }

    fn value(&mut self) -> String {
        if let Some(value) = self.extra(|extra| extra.values) {
            return value.to_owned();
        }
        match self.random.below(4) {
            0 => self.random.below(3).to_string(),
            1 => self.variable(),
            2 => format!("({} + 1) % 3", self.variable()),
            _ => format!("a[{} % 2]", self.variable()),
        }
    }

    fn condition(&mut self) -> String {
        // Spin asks where others stand, but not inside of a `d_step`.
        if let Some(condition) = self.extra(|extra| extra.conditions)
            && !(self.steady && condition.contains('@'))
        {
            return condition.to_owned();
        }
        let left = self.variable();
        let operator = self.random.of(&["==", "!=", "<", ">="]);
        match self.random.below(6) {
            0 => format!("len(buffer) {operator} 1"),
            1 => "nempty(buffer)".to_owned(),
            2 => format!("buffer?[{}, _]", self.random.below(3)).replace(", _", ""),
            _ => format!("{left} {operator} {}", self.value()),
        }
    }

    fn simple(&mut self) {
        if !self.atomic
            && let Some(number) = self.apart
            && self.random.below(3) == 0
        {
            return self.apart(number);
        }
        if !self.steady
            && !self.atomic
            && let Some(statement) = self.extra(|extra| extra.statements)
        {
            self.text += statement;
            return;
        }
        let statement = match self.random.below(if self.steady { 2 } else { 12 }) {
            0 | 1 => format!("{} = {}", self.variable(), self.value()),
            2 => self.condition(),
            3 => format!("hand!{}", self.value()),
            4 => format!("hand?{}", self.variable()),
            5 => format!("hand?{}", self.random.below(3)),
            6 => format!("buffer!{},{}", self.value(), self.value()),
            // Spin takes no variable twice in one message.
            7 => format!(
                "buffer?{}",
                self.random.of(&["x,y", "l,x", "y,l", "a[0],r.f", "r.f,y"])
            ),
            8 => format!("buffer??eval({}),_", self.variable()),
            9 => format!("buffer!!{},{}", self.value(), self.value()),
            10 => "skip".to_owned(),
            _ => format!("buffer?<{},_>", self.variable()),
        };
        self.text += &statement;
    }

    /// What a process that is written apart does with channels and sequences: `next` is
    /// the process behind it, `o` and `p` are channels that few use.
    fn apart(&mut self, number: u64) {
        let next = (number + 1) % 3;
        let (value, variable) = (self.value(), self.variable());
        let (first, second) = (self.variable(), self.value());
        self.text += &match self.random.below(9) {
            0 => format!("to[{next}]!{value}"),
            1 => format!("to[{number}]?{variable}"),
            2 => format!("atomic {{ hand?{variable}; {first} = {second} }}"),
            3 => format!("atomic {{ hand?{variable}; hand!{value}; {first} = {second} }}"),
            4 => format!("atomic {{ hand!{value}; {first} = {second} }}"),
            5 => format!("d_step {{ hand?{variable}; {first} = {second} }}"),
            6 => format!("atomic {{ to[{number}]?{variable}; to[{next}]!{value} }}"),
            7 => format!("atomic {{ {variable} = {value}; hand!{value}; {first} = {second} }}"),
            _ => format!("assert({first} <= 2 || {variable} == {second})"),
        };
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
        if self.random.below(6) == 0 && !self.atomic && self.apart.is_none() {
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
        let header = self.extra(|extra| extra.header).unwrap_or("");
        let locals = self.extras.iter().map(|extra| extra.local);
        let local = locals.collect::<String>();
        let _ = write!(
            self.text,
            "active {count}proctype P{number}(){header} {{\n  byte l; record r; {local}\n"
        );
        self.labels = 0;
        self.apart = self.apart.map(|_| number);
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
        if let Some(last) = self.extra(|extra| extra.last) {
            let _ = writeln!(self.text, "  {last}");
        }
        self.text += "}\n";
    }
}

/// A model; the same one for the same seed.
pub fn write(seed: u64) -> String {
    write_with(Random(seed), Vec::new(), None)
}

/// A model whose processes are written apart.
pub fn write_apart(seed: u64) -> String {
    write_with(Random(seed), Vec::new(), Some(0))
}

/// The same, with some more features of the language, and perhaps a trace.
pub fn write_more(seed: u64) -> String {
    let mut random = Random(seed);
    let count = EXTRAS.len() as u64;
    let (first, second) = (random.below(count), random.below(2 * count));
    let numbers = [Some(first), (second != first).then_some(second)];
    let numbers = numbers.into_iter().flatten();
    let extras = numbers.filter_map(|number| EXTRAS.get(number as usize).copied());
    let extras = extras.collect();
    let mut beside = Random(seed ^ (1 << 40));
    let text = write_with(random, extras, None);
    // Spin has no priorities beside a rendezvous.
    let text = if text.contains("priority") {
        text.replace("chan hand = [0]", "chan hand = [1]")
            .replace("chan two = [0]", "chan two = [1]")
    } else {
        text
    };
    match beside.below(4) {
        0 => trace(&mut beside, &text),
        _ => text,
    }
}

fn write_with(random: Random, extras: Vec<Extra>, apart: Option<u64>) -> String {
    let mut writer = Writer {
        random,
        text: "typedef record { byte f }\nbyte x, y, a[2];\nchan hand = [0] of {byte};\nchan buffer = [2] of {byte, byte};\n"
            .to_owned(),
        atomic: false,
        steady: false,
        labels: 0,
        apart,
        extras,
    };
    for extra in &writer.extras {
        writer.text += extra.declared;
    }
    if apart.is_some() {
        writer.text = writer.text.replace("a[2]", "a[3], o0, o1, o2");
        writer.text += "chan to[3] = [1] of {byte};\n";
    }
    let processes = 1 + writer.random.below(3);
    for number in 0..processes {
        writer.process(number);
    }
    writer.text += "proctype Q(byte n) { y = (y + n) % 3; hand!n }\n";
    writer.text
}

/// What formulas speak of.
const PROPOSITIONS: &[&str] = &[
    "(x == 1)",
    "(y != 0)",
    "(x < y)",
    "(a[0] == 2)",
    "(a[1] >= x)",
    "(len(buffer) == 1)",
    "(len(buffer) > 0)",
];

/// A formula over the variables of the models, in which no operator counts steps.
pub fn formula(random: &mut Random, depth: u64) -> String {
    if depth == 0 || random.below(7) == 0 {
        return random.of(PROPOSITIONS).to_owned();
    }
    let left = formula(random, depth - 1);
    match random.below(9) {
        0 => format!("(!{left})"),
        1 | 2 => format!("([] {left})"),
        3 | 4 => format!("(<> {left})"),
        number => {
            let right = formula(random, depth - 1);
            let operator = match number {
                5 => "&&",
                6 => "||",
                7 => "->",
                _ => random.of(&["U", "W", "V"]),
            };
            format!("({left} {operator} {right})")
        }
    }
}
