//! Random models have the states and transitions that Spin finds.
//!
//! `JUROR_SPIN=2000` makes so many of them instead of a hundred, and
//! `JUROR_SPIN_SEED=100000` others than in every run.

use crate::support::extras::HANDING_ON;
use crate::support::writer::{Random, write, write_apart, write_more};
use crate::support::{compare_many, has_spin, read, spin_deadlock, spin_random};
use juror_model::{
    Fault, Finding, Options, Participants, Search, System, Verdict, Visitor, search,
};
use std::collections::HashSet;

/// Larger models would take a test too long.
const STATES_MAX: u32 = 30_000;

/// Whether an atomic sequence hands something on in a hidden variable, and another process
/// may go on in the middle of it: then the variable is a part of the states between, where
/// Spin never has it, and takes states that differ for one another.
fn hands_on_hidden(text: &str) -> bool {
    let has_turns = text.contains(" priority ") || text.contains("provided");
    has_turns && HANDING_ON.iter().any(|sequence| text.contains(sequence))
}

fn compare(text: &str) -> bool {
    let shown = if hands_on_hidden(text) {
        text.replace("hidden ", "")
    } else {
        text.to_owned()
    };
    let text = &*shown;
    let model = read(text, &[], Vec::new());
    let options = Options {
        deadlocks: false,
        states_max: STATES_MAX,
        ..Options::default()
    };
    let report = search(&model, Search::Breadth, &options, &mut |_, _| true);
    let is_of_trace = match &report.finding {
        Some((Finding::Fault(fault), _)) => fault.code.starts_with("trace"),
        _ => false,
    };
    match report.verdict() {
        Verdict::Holds => {}
        Verdict::Violated if is_of_trace => {}
        // A sequence without end, a wrong value: Spin has other words for it.
        Verdict::Violated | Verdict::Incomplete => return false,
    }
    let Some(found) = spin_random(text) else {
        return false;
    };
    assert_eq!(is_of_trace, found.errors > 0, "{text}");
    if is_of_trace {
        return true;
    }
    let counts = (report.states, report.transitions);
    if counts != (found.states, found.transitions) && is_put_back_wrongly(text) {
        return compare_without_hidden(text);
    }
    assert_eq!(counts, (found.states, found.transitions), "{text}");
    true
}

/// Whether Spin may put a message back that was not received. On its way back from a
/// receive it takes the message from the variable; and where a `d_step` had given that
/// one another value since, that is not taken back if it is hidden.
fn is_put_back_wrongly(text: &str) -> bool {
    text.contains("hidden ") && text.contains("hand?h") && text.contains("d_step { h =")
}

/// Compares the model with variables that are not hidden, and its states with hidden ones
/// to those without.
fn compare_without_hidden(text: &str) -> bool {
    let plain = text.replace("hidden ", "");
    let (Some(all), Some(hidden)) = (states_without_hidden(&plain), states_without_hidden(text))
    else {
        return false;
    };
    assert!(all == hidden, "{text}");
    compare(&plain)
}

#[test]
fn what_spin_puts_back_wrongly_is_compared_without_hidden_variables() {
    if !has_spin() {
        return;
    }
    // Hiding leaves out a part of each state: that adds none.
    let text = "byte x, y, a[2];
        chan hand = [0] of {byte};
        chan buffer = [2] of {byte, byte};
        hidden byte h, k;
        active proctype P0() { L0: hand?2; goto L0 }
        active proctype P1() {
          byte l;
          buffer?eval(l),_; buffer!2,0; x = a[run Q(1) % 2]
        }
        active proctype P2() {
          byte l;
          buffer!0,0; a[0] = (x + 1) % 3; h = y;
          d_step { h = l; x = h; k = 1; y = (h + k) % 3 };
          hand?h;
          if :: buffer!1,a[a[1] % 2] -> hand?x
             :: buffer?l,x -> d_step { h = l; x = h; k = 1; y = (h + k) % 3 } fi;
          if :: x == 2 -> x = 0; run Q(l) :: else fi
        }
        proctype Q(byte n) { y = (y + n) % 3; hand!n }\n";
    let found = spin_random(text).map(|found| found.states);
    let plain = spin_random(&text.replace("hidden ", "")).map(|found| found.states);
    assert!(found > plain, "{found:?} {plain:?}");
    assert!(compare(text));
}

/// The same for whether all may stay where they are when nothing happens any more.
fn compare_deadlock(text: &str) {
    let model = read(text, &[], Vec::new());
    let report = search(&model, Search::Breadth, &Options::default(), &mut |_, _| {
        true
    });
    let found = spin_deadlock(text);
    let is_wrong = report.verdict() == Verdict::Violated;
    assert!(
        found.is_none_or(|found| (found.errors > 0) == is_wrong),
        "{text}"
    );
}

#[test]
fn random_models_have_the_states_that_spin_finds() {
    if !has_spin() {
        return;
    }
    compare_many(|seed| compare(&write(seed)));
}

#[test]
fn random_models_of_more_features_have_the_states_that_spin_finds() {
    if !has_spin() {
        return;
    }
    compare_many(|seed| {
        let text = write_more(seed);
        let is_compared = compare(&text);
        if is_compared && (seed % 8 == 0 || text.contains("trace {")) {
            compare_deadlock(&text);
        }
        is_compared
    });
}

#[test]
fn random_models_of_processes_apart_have_the_states_that_spin_finds() {
    if !has_spin() {
        return;
    }
    compare_many(|seed| compare(&write_apart(seed)));
}

/// A model of some more features, with hidden variables beside priorities.
fn hidden_with_priorities(seed: u64) -> Option<String> {
    let text = write_more(6_000_000 + seed);
    if !text.contains("hidden ") {
        return None;
    }
    // Spin has no priorities beside a rendezvous.
    let text = text.replace("chan hand = [0]", "chan hand = [1]");
    let text = text.replace("chan two = [0]", "chan two = [1]");
    let first = text.replacen("proctype P1()", "proctype P1() priority 5", 1);
    Some(first.replacen("proctype P2()", "proctype P2() priority 3", 1))
}

#[test]
fn hidden_variables_beside_priorities_have_the_states_that_spin_finds() {
    if !has_spin() {
        return;
    }
    let (mut seed, mut compared) = (0, 0);
    while compared < 25 {
        seed += 1;
        assert!(seed < 3000, "most models are not compared");
        let text = hidden_with_priorities(seed);
        let text = text.filter(|it| it.contains("priority") && !hands_on_hidden(it));
        compared += u32::from(text.is_some_and(|text| compare(&text)));
    }
}

/// All states that are reached, without those that a fault ends.
struct Reached(Vec<Vec<u8>>);

impl Visitor for Reached {
    fn next(&mut self, state: &[u8], _participants: Participants) -> bool {
        self.0.push(state.to_vec());
        true
    }

    fn fault(&mut self, _fault: Fault) -> bool {
        true
    }
}

/// The states of a model in words, without the hidden variables; nothing where there
/// are many.
fn states_without_hidden(text: &str) -> Option<HashSet<String>> {
    let model = read(text, &[], Vec::new());
    let mut scratch = model.scratch();
    let mut reached = Reached(Vec::new());
    model.initial(&mut scratch, &mut reached);
    let mut known: HashSet<Vec<u8>> = reached.0.iter().cloned().collect();
    while let Some(state) = reached.0.pop() {
        let mut next = Reached(Vec::new());
        model.successors(&mut scratch, &state, &mut next);
        let new = next
            .0
            .into_iter()
            .filter(|state| known.insert(state.clone()));
        reached.0.extend(new);
        if known.len() > 3000 {
            return None;
        }
    }
    let words = known.iter().map(|state| {
        let values = model.values(state);
        let values = values.iter().filter(|it| it.name != "h" && it.name != "k");
        let values: Vec<_> = values.map(|it| (&it.name, &it.value)).collect();
        format!(
            "{values:?} {:?} {:?}",
            model.actors(state),
            model.standing(state)
        )
    });
    Some(words.collect())
}

#[test]
fn states_without_hidden_variables_are_the_states_otherwise() {
    let mut compared = 0;
    for seed in 0..2000 {
        let text = write_more(3_000_000 + seed).replace("hand?h", "buffer?h,y");
        if !text.contains("hidden") {
            continue;
        }
        let plain = states_without_hidden(&text.replace("hidden ", ""));
        let hidden = states_without_hidden(&text);
        if let (Some(plain), Some(hidden)) = (plain, hidden) {
            assert!(plain == hidden, "{text}");
            compared += 1;
        }
    }
    assert!(compared > 50, "{compared}");
}

#[test]
fn random_models_have_one_verdict_in_every_search() {
    for seed in 0..3000 {
        let text = match seed % 3 {
            0 => write(1_000_000 + seed),
            1 => write_more(1_000_000 + seed),
            _ => write_apart(1_000_000 + seed),
        };
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
                // In another order, the limit may come before what is wrong.
                let has_own_order = matches!(kind, Search::Depth | Search::Parallel(_));
                let is_cut = report.verdict() == Verdict::Incomplete;
                if is_cut && plain.finding.is_some() && has_own_order {
                    continue;
                }
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
        if let Some(model) = crate::support::try_read(&words.join(" ")) {
            let options = Options {
                states_max: 200,
                ..Options::default()
            };
            search(&model, Search::Breadth, &options, &mut |_, _| true);
        }
    }
}
