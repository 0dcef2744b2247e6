//! Properties over the functions of `played.cpp`.
//!
//! Two things are left out in which the tiers differ: by traps, an event after a call is not
//! seen if another event of the same moment has just made it needed, nor if its call was not
//! needed when it began and its frame was taken over by a call in tail position. So a property
//! needs all its events in all states, or has one event for each function and none after
//! such calls.

use super::Random;
use std::fmt::Write as _;

/// A function, the types of its parameters (none for one that no capture reads), and that of
/// its result.
type Function = (&'static str, &'static [&'static str], &'static str);

const FUNCTIONS: &[Function] = &[
    ("add", &["int", "int"], "int"),
    ("flag", &["bool", "u8"], "bool"),
    ("touch", &["address", "i16"], "address"),
    ("wide", &["i64", "u64"], "i64"),
    ("narrow", &["i8", "u16"], "i8"),
    (
        "many",
        &["int", "int", "int", "int", "int", "int", "int", "i64"],
        "int",
    ),
    ("tail", &["int"], "int"),
    ("twice", &["int"], "int"),
    ("nothing", &[], ""),
    ("loops", &["int"], "int"),
    ("recurse", &["", "int"], "int"),
    ("onwards", &["", "int"], "int"),
    ("jump", &["", "int"], ""),
    ("fail", &["int"], ""),
    ("tiny", &["int"], "int"),
    ("same", &["int"], "int"),
    ("counted", &["int"], "int"),
    ("after_branch", &["int"], "int"),
];

/// Whether other calls are jumps at their end.
const TAILS: &[&str] = &["tail", "twice", "onwards"];

/// The kind of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Number,
    Boolean,
    Address,
}

/// Values by name.
type Values = Vec<(&'static str, Kind)>;

fn kind_of(of_type: &str) -> Kind {
    match of_type {
        "bool" => Kind::Boolean,
        "address" => Kind::Address,
        _ => Kind::Number,
    }
}

fn names(values: &Values, kind: Kind) -> Vec<&'static str> {
    let named = values.iter().filter(|(_, of)| *of == kind);
    named.map(|(name, _)| *name).collect()
}

/// Writes one property.
pub struct Writer<'a> {
    random: &'a mut Random,
    has_threads: bool,
    /// All events are needed in all states.
    is_steady: bool,
    keys: &'static [&'static str],
    functions: Vec<&'static str>,
    events: Vec<Values>,
    variables: Values,
    text: String,
}

impl<'a> Writer<'a> {
    pub fn new(random: &'a mut Random, has_threads: bool) -> Writer<'a> {
        let is_steady = has_threads || random.percent(50);
        Writer {
            random,
            has_threads,
            is_steady,
            keys: &[],
            functions: Vec::new(),
            events: Vec::new(),
            variables: Vec::new(),
            text: String::new(),
        }
    }

    pub fn property(mut self, number: u64) -> String {
        let _ = writeln!(self.text, "property p{number}");
        if self.has_threads || self.random.percent(80) {
            self.automaton()
        } else {
            self.formula()
        }
        self.text
    }

    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn slice(&mut self) {
        if !self.keys.is_empty() {
            self.line(&format!("slice on {}", self.keys.join(", ")));
        }
    }

    /// Chooses a moment that has the keys, mostly.
    fn event(&mut self) -> (String, Values) {
        loop {
            let (function, types, result) = self.random.of(FUNCTIONS);
            let moments = ["before", "before", "before", "after", "after", "unwound"];
            let moment = self.random.of(&moments);
            let is_tail = moment != "before" && TAILS.contains(&function);
            if !self.is_steady && (is_tail || self.functions.contains(&function)) {
                continue;
            }
            if moment == "unwound" && !["recurse", "onwards", "fail", "jump"].contains(&function) {
                continue;
            }
            let is_integer = |of: &str| !["", "bool", "address"].contains(&of);
            let mut free: Vec<usize> = (0..types.len())
                .filter(|it| is_integer(types[*it]))
                .collect();
            let keys: Vec<&'static str> = self
                .keys
                .iter()
                .copied()
                .filter(|key| *key != "thread")
                .collect();
            if free.len() < keys.len() && (self.has_threads || self.random.percent(85)) {
                continue;
            }
            let mut captures = Vec::new();
            let mut values = Values::new();
            for key in keys {
                if let Some(argument) = self.take(&mut free) {
                    captures.push(format!("{key}: int = arg {}", argument + 1));
                    values.push((key, Kind::Number));
                }
            }
            if self.random.percent(70)
                && let Some(argument) = self.take(&mut free)
            {
                captures.push(format!("x: {} = arg {}", types[argument], argument + 1));
                values.push(("x", Kind::Number));
            }
            self.others(function, moment, &mut captures, &mut values);
            let mut text = format!("{moment} {function}({})", captures.join(", "));
            if moment == "after" && !result.is_empty() && self.random.percent(80) {
                let _ = write!(text, " returns r: {result}");
                values.push(("r", kind_of(result)));
            }
            self.functions.push(function);
            return (text, values);
        }
    }

    fn take(&mut self, free: &mut Vec<usize>) -> Option<usize> {
        (!free.is_empty()).then(|| {
            let chosen = self.random.below(free.len());
            free.swap_remove(chosen)
        })
    }

    /// Adds captures of other kinds: a global, a truth value, an address, memory that is
    /// perhaps not there.
    fn others(
        &mut self,
        function: &str,
        moment: &str,
        captures: &mut Vec<String>,
        values: &mut Values,
    ) {
        let mut add = |capture: &str, name: &'static str, kind: Kind| {
            captures.push(capture.to_owned());
            values.push((name, kind));
        };
        // Threads change it in any order.
        if !self.has_threads && moment != "unwound" && self.random.percent(15) {
            add("g: i64 = shared", "g", Kind::Number);
        }
        if function == "flag" && self.random.percent(50) {
            add("o: bool = arg 1", "o", Kind::Boolean);
        }
        if function == "touch" && self.random.percent(60) {
            add("n: address = arg 1", "n", Kind::Address);
        }
        if function == "touch" && moment == "before" && self.random.percent(20) {
            let field = self.random.of(&["kind", "weight", "small", "next->weight"]);
            add(&format!("d = n->{field}"), "d", Kind::Number);
        }
    }

    fn term(&mut self, values: &Values) -> String {
        let mut numbers = names(values, Kind::Number);
        numbers.extend(names(&self.variables, Kind::Number));
        if numbers.is_empty() || self.random.percent(20) {
            return (self.random.below(12) as i64 - 2).to_string();
        }
        let first = self.random.of(&numbers);
        let mut others: Vec<&str> = numbers.clone();
        others.extend(["1", "2", "3"]);
        let second = self.random.of(&others);
        match self.random.below(20) {
            0..8 => format!("{first} {} {second}", self.random.of(&["+", "-", "*"])),
            8..10 => format!("({first} % {second})"),
            _ => first.to_owned(),
        }
    }

    fn guard(&mut self, values: &Values) -> String {
        let count = self.random.of(&[1, 1, 1, 2]);
        let parts: Vec<String> = (0..count).map(|_| self.comparison(values)).collect();
        let word = self.random.of(&[" and ", " or "]);
        parts.join(word)
    }

    fn comparison(&mut self, values: &Values) -> String {
        let mut booleans = names(values, Kind::Boolean);
        booleans.extend(names(&self.variables, Kind::Boolean));
        let addresses = names(values, Kind::Address);
        if !booleans.is_empty() && self.random.percent(30) {
            let not = self.random.of(&["", "not "]);
            return format!("{not}{}", self.random.of(&booleans));
        }
        if !addresses.is_empty() && self.random.percent(40) {
            let mut others = names(&self.variables, Kind::Address);
            others.push("null");
            let sign = self.random.of(&["==", "!="]);
            let (first, second) = (self.random.of(&addresses), self.random.of(&others));
            return format!("{first} {sign} {second}");
        }
        let sign = self.random.of(&["<", "<=", "==", "!=", ">"]);
        format!("{} {sign} {}", self.term(values), self.term(values))
    }

    fn update(&mut self, values: &Values) -> String {
        let mut updates = Vec::new();
        for (variable, kind) in self.variables.clone() {
            if self.random.percent(50) {
                continue;
            }
            let right = match kind {
                Kind::Number => {
                    let term = self.term(values);
                    let more = [format!("{variable} + 1"), format!("{variable} - 1"), term];
                    self.random.of(&more)
                }
                Kind::Boolean => {
                    let mut choices = vec!["true".to_owned(), "false".to_owned()];
                    choices.push(format!("not {variable}"));
                    let captured = names(values, Kind::Boolean);
                    choices.extend(captured.into_iter().map(str::to_owned));
                    self.random.of(&choices)
                }
                Kind::Address => {
                    let captured = names(values, Kind::Address);
                    if captured.is_empty() {
                        continue;
                    }
                    self.random.of(&captured).to_owned()
                }
            };
            updates.push(format!("{variable} = {right}"));
        }
        if updates.is_empty() {
            String::new()
        } else {
            format!("{{ {} }} ", updates.join("  "))
        }
    }

    fn automaton(&mut self) {
        let choices: &[&'static [&'static str]] = if self.has_threads {
            &[&["thread"], &["thread", "k"]]
        } else {
            &[
                &[],
                &["k"],
                &["k"],
                &["k", "q"],
                &["thread"],
                &["thread", "k"],
            ]
        };
        self.keys = self.random.of(choices);
        self.slice();
        for number in 0..2 + self.random.below(3) {
            let (text, values) = self.event();
            self.line(&format!("event e{number} = {text}"));
            self.events.push(values);
        }
        if self.random.percent(60) {
            let first = self.random.below(4);
            self.line(&format!("var c = {first}"));
            self.variables.push(("c", Kind::Number));
        }
        if self.random.percent(30) {
            self.line("var s = false");
            self.variables.push(("s", Kind::Boolean));
        }
        if self.random.percent(20) {
            self.line("var l = null");
            self.variables.push(("l", Kind::Address));
        }
        let states = 2 + self.random.below(3);
        let has_bad = self.random.percent(40);
        for state in 0..states {
            self.state(state, states, has_bad && state == 0);
        }
        if has_bad {
            self.line("state bad non-accepting");
        }
    }

    fn state(&mut self, state: usize, states: usize, leads_to_bad: bool) {
        let accepting = self.random.of(&["", "", "", "non-accepting "]);
        if state > 0 && !self.is_steady && self.random.percent(10) {
            return self.line(&format!("state s{state} {accepting}final"));
        }
        self.line(&format!("state s{state} {accepting}{{"));
        if leads_to_bad {
            let event = self.random.below(self.events.len());
            let values = self.events[event].clone();
            let guard = self.guard(&values);
            self.line(&format!("    on e{event} when {guard} -> bad"));
        }
        for _ in 0..1 + self.random.below(4) {
            let event = self.random.below(self.events.len());
            let values = self.events[event].clone();
            let mut line = format!("    on e{event} ");
            let is_guarded = self.random.percent(60);
            if is_guarded {
                let _ = write!(line, "when {} ", self.guard(&values));
            }
            line.push_str(&self.update(&values));
            if self.random.percent(70) {
                let _ = write!(line, "-> s{} ", self.random.below(states));
            }
            if is_guarded && self.random.percent(30) {
                let update = self.update(&values);
                let _ = write!(line, "else {update}-> s{}", self.random.below(states));
            }
            self.line(line.trim_end());
        }
        if self.is_steady {
            for event in 0..self.events.len() {
                self.line(&format!("    on e{event}"));
            }
        }
        self.line("}");
    }

    fn formula(&mut self) {
        self.is_steady = false;
        for number in 0..3 {
            let (text, values) = self.event();
            self.line(&format!("event e{number} = {text}"));
            self.events.push(values);
        }
        if self.random.percent(50) {
            self.line("proposition h set e0 cleared e1")
        } else {
            let values = self.events[0].clone();
            let guard = self.guard(&values);
            self.line(&format!("proposition h pulse e0 when {guard}"));
        }
        let atoms = ["e0", "e1", "e2", "h", "not h", "(h and e1)", "(e2 or e0)"];
        let (a, b) = (self.random.of(&atoms), self.random.of(&atoms));
        let formulas = [
            format!("always ({a} implies eventually {b})"),
            format!("{a} until {b}"),
            format!("always ({a} implies once {b})"),
            format!("always ({a} implies next {b})"),
            format!("eventually ({a} and {b})"),
            format!("always ({a} implies (h since {b}))"),
            format!("({a} unless {b})"),
        ];
        let formula = self.random.of(&formulas);
        self.line(&format!("ltl {formula}"));
    }
}
