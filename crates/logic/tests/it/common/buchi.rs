//! Büchi automata as other tools write them, and which of their states have an
//! accepting run.

use juror_logic::Letter;
use std::collections::HashMap;

/// A set of letters over three propositions: bit n is the letter n.
type Letters = u8;

/// An automaton with any number of acceptance sets.
#[derive(Debug, Default)]
pub struct Buchi {
    pub initial: Vec<usize>,
    /// By state: letters and where they lead.
    pub edges: Vec<Vec<(Letters, usize)>>,
    /// The sets of accepting states.
    pub accepting: Vec<Vec<usize>>,
}

/// The letters in which a proposition is true.
fn proposition(name: &str) -> Letters {
    match name {
        "p0" => 0b1010_1010,
        "p1" => 0b1100_1100,
        "p2" => 0b1111_0000,
        other => panic!("proposition {other}"),
    }
}

impl Buchi {
    /// Whether some endless continuation of a prefix is accepted.
    pub fn accepts_after(&self, prefix: &[Letter]) -> bool {
        let mut states = self.initial.clone();
        for letter in prefix {
            let mut next = Vec::new();
            for state in states {
                for (letters, to) in &self.edges[state] {
                    if letters & (1 << letter.0) != 0 && !next.contains(to) {
                        next.push(*to);
                    }
                }
            }
            states = next;
        }
        let reach: Vec<Vec<bool>> = (0..self.edges.len()).map(|it| self.reach(it)).collect();
        let on_good_cycle = |state: usize| {
            let together = |other: usize| reach[state][other] && reach[other][state];
            together(state)
                && self
                    .accepting
                    .iter()
                    .all(|set| set.iter().any(|other| together(*other)))
        };
        let good: Vec<usize> = (0..self.edges.len())
            .filter(|it| on_good_cycle(*it))
            .collect();
        states
            .into_iter()
            .any(|state| good.iter().any(|to| *to == state || reach[state][*to]))
    }

    /// What can be reached with at least one step.
    fn reach(&self, from: usize) -> Vec<bool> {
        let mut reached = vec![false; self.edges.len()];
        let mut waiting = vec![from];
        while let Some(state) = waiting.pop() {
            for (letters, to) in &self.edges[state] {
                if *letters != 0 && !reached[*to] {
                    reached[*to] = true;
                    waiting.push(*to);
                }
            }
        }
        reached
    }

    /// Reads what `spin -f` writes.
    pub fn of_never_claim(text: &str) -> Buchi {
        let mut buchi = Buchi::default();
        let mut numbers: HashMap<String, usize> = HashMap::new();
        let mut accepting = Vec::new();
        let mut fresh: Vec<usize> = Vec::new();
        let mut number = |buchi: &mut Buchi, accepting: &mut Vec<usize>, name: &str| {
            *numbers.entry(name.to_owned()).or_insert_with(|| {
                let number = buchi.edges.len();
                buchi.edges.push(Vec::new());
                if name.starts_with("accept_") {
                    accepting.push(number);
                }
                number
            })
        };
        for line in text.lines().skip(1) {
            let line = line.trim();
            if let Some(name) = line.strip_suffix(':') {
                // Several labels in a row are one state.
                let state = number(&mut buchi, &mut accepting, name);
                if fresh.iter().any(|other| accepting.contains(other)) {
                    accepting.push(state);
                }
                if name.ends_with("init") && buchi.initial.is_empty() {
                    buchi.initial.push(state);
                }
                fresh.push(state);
                continue;
            }
            let add = |buchi: &mut Buchi, states: &[usize], letters: Letters, to: usize| {
                for state in states {
                    buchi.edges[*state].push((letters, to));
                }
            };
            if line == "skip" {
                let to = fresh[0];
                add(&mut buchi, &fresh, Letters::MAX, to);
                fresh.clear();
            } else if line == "od;" || line == "fi;" {
                fresh.clear();
            } else if let Some(choice) = line.strip_prefix(":: ") {
                let (condition, to) = match choice.strip_prefix("atomic { ") {
                    Some(rest) => (rest.split(" -> ").next().unwrap(), "accept_all"),
                    None => choice.split_once(" -> goto ").unwrap(),
                };
                let to = number(&mut buchi, &mut accepting, to);
                let letters = Infix::new(condition).either();
                add(&mut buchi, &fresh, letters, to);
            }
        }
        buchi.accepting.push(accepting);
        buchi
    }

    /// Reads what `lbt` writes.
    pub fn of_lbt(text: &str) -> Buchi {
        let mut buchi = Buchi::default();
        let mut lines = text.lines();
        let mut head = lines
            .next()
            .unwrap()
            .split_whitespace()
            .map(|it| it.parse().unwrap());
        let (states, sets): (usize, usize) = (head.next().unwrap(), head.next().unwrap());
        buchi.edges = vec![Vec::new(); states];
        buchi.accepting = vec![Vec::new(); sets];
        let mut state = None;
        for line in lines {
            match (state, line.trim()) {
                (_, "-1") => state = None,
                (None, head) => {
                    let mut words = head.split_whitespace().map(|it| it.parse::<i64>().unwrap());
                    let number = words.next().unwrap() as usize;
                    if words.next() == Some(1) {
                        buchi.initial.push(number);
                    }
                    for set in words.take_while(|it| *it >= 0) {
                        buchi.accepting[set as usize].push(number);
                    }
                    state = Some(number);
                }
                (Some(from), edge) => {
                    let (to, condition) = edge.split_once(' ').unwrap();
                    let letters = prefix(&mut condition.split_whitespace());
                    buchi.edges[from].push((letters, to.parse().unwrap()));
                }
            }
        }
        buchi
    }
}

/// A condition with the operators before their parts.
fn prefix<'a>(words: &mut impl Iterator<Item = &'a str>) -> Letters {
    match words.next().unwrap() {
        "t" => Letters::MAX,
        "f" => 0,
        "!" => !prefix(words),
        "&" => prefix(words) & prefix(words),
        "|" => prefix(words) | prefix(words),
        name => proposition(name),
    }
}

/// A condition with the operators between their parts.
struct Infix<'a> {
    rest: &'a str,
}

impl<'a> Infix<'a> {
    fn new(text: &'a str) -> Infix<'a> {
        Infix { rest: text }
    }

    fn take(&mut self, word: &str) -> bool {
        let rest = self.rest.trim_start();
        match rest.strip_prefix(word) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn either(&mut self) -> Letters {
        let mut letters = self.both();
        while self.take("||") {
            letters |= self.both();
        }
        letters
    }

    fn both(&mut self) -> Letters {
        let mut letters = self.one();
        while self.take("&&") {
            letters &= self.one();
        }
        letters
    }

    fn one(&mut self) -> Letters {
        if self.take("!") {
            return !self.one();
        }
        if self.take("(") {
            let letters = self.either();
            assert!(self.take(")"), "{:?}", self.rest);
            return letters;
        }
        for (word, letters) in [("1", Letters::MAX), ("true", Letters::MAX), ("false", 0)] {
            if self.take(word) {
                return letters;
            }
        }
        for name in ["p0", "p1", "p2"] {
            if self.take(name) {
                return proposition(name);
            }
        }
        panic!("a condition: {:?}", self.rest)
    }
}
