//! The models that come with juror are as they say they are.
//!
//! A line `// expect [-DNAME[=VALUE]].. [--ltl NAME [--fair]] VERDICT [STATES
//! TRANSITIONS]` of a model is a test. Where Spin is installed, it has to come to
//! the same, with the same counts.

use crate::support::{has_spin, models, read, spin};
use juror_model::promela::{Model, Question};
use juror_model::{Finding, Options, Report, Search, Verdict, accepting_run, search};
use std::fs;

/// One of the lines.
#[derive(Debug)]
struct Expected {
    definitions: Vec<(String, String)>,
    formula: Option<String>,
    fair: bool,
    holds: bool,
    counts: Option<(u64, u64)>,
}

fn expected(text: &str) -> Vec<Expected> {
    let lines = text
        .lines()
        .filter_map(|line| line.strip_prefix("// expect "));
    lines.map(one).collect()
}

fn one(line: &str) -> Expected {
    let mut expected = Expected {
        definitions: Vec::new(),
        formula: None,
        fair: false,
        holds: false,
        counts: None,
    };
    let mut numbers = Vec::new();
    let mut words = line.split_whitespace();
    while let Some(word) = words.next() {
        match word {
            "--ltl" => expected.formula = words.next().map(str::to_owned),
            "--fair" => expected.fair = true,
            "holds" => expected.holds = true,
            "violated" => expected.holds = false,
            _ => match word.strip_prefix("-D") {
                Some(definition) => {
                    let (name, value) = definition.split_once('=').unwrap_or((definition, "1"));
                    expected
                        .definitions
                        .push((name.to_owned(), value.to_owned()));
                }
                None => numbers.push(word.parse().unwrap_or_else(|_| panic!("{line}"))),
            },
        }
    }
    if let [states, transitions] = numbers[..] {
        expected.counts = Some((states, transitions));
    }
    expected
}

fn check(model: &mut Model, expected: &Expected) -> Report {
    match &expected.formula {
        None => search(model, Search::Breadth, &Options::default(), &mut |_, _| {
            true
        }),
        Some(name) => {
            let automaton = model.ask(&Question::Formula(name.clone())).unwrap();
            let options = Options {
                deadlocks: false,
                ..Options::default()
            };
            accepting_run(
                model,
                &automaton,
                expected.fair,
                name,
                &options,
                &mut |_, _| true,
            )
        }
    }
}

/// Three threads in the breakpoint take a while: `JUROR_EXPLORE` asks for them.
fn is_large(expected: &Expected) -> bool {
    expected
        .counts
        .is_some_and(|(states, _)| states > 1_000_000)
        && std::env::var_os("JUROR_EXPLORE").is_none()
}

fn all() -> Vec<(String, String, Vec<Expected>)> {
    let mut all = Vec::new();
    for entry in fs::read_dir(models()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "pml") {
            let text = fs::read_to_string(&path).unwrap();
            let expected = expected(&text);
            assert!(!expected.is_empty(), "{} expects nothing", path.display());
            all.push((path.display().to_string(), text, expected));
        }
    }
    all.sort();
    all
}

impl PartialEq for Expected {
    fn eq(&self, other: &Expected) -> bool {
        self.definitions == other.definitions && self.formula == other.formula
    }
}
impl Eq for Expected {}
impl PartialOrd for Expected {
    fn partial_cmp(&self, other: &Expected) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Expected {
    fn cmp(&self, other: &Expected) -> std::cmp::Ordering {
        self.definitions.cmp(&other.definitions)
    }
}

#[test]
fn models_are_as_they_say() {
    for (name, text, lines) in all() {
        for expected in lines {
            if is_large(&expected) {
                continue;
            }
            let mut model = read(&text, &expected.definitions, Vec::new());
            let report = check(&mut model, &expected);
            let holds = report.verdict() == Verdict::Holds;
            assert_eq!(
                holds, expected.holds,
                "{name}: {expected:?}\n{:?}",
                report.finding
            );
            assert_eq!(report.cut, None, "{name}");
            if let Some(counts) = expected.counts {
                assert_eq!((report.states, report.transitions), counts, "{name}");
            }
        }
    }
}

#[test]
fn spin_comes_to_the_same() {
    if !has_spin() {
        return;
    }
    for (name, text, lines) in all() {
        for expected in lines {
            if is_large(&expected) || expected.formula.is_some() {
                continue;
            }
            let found = spin(&text, &expected.definitions, &[]);
            assert_eq!(found.errors == 0, expected.holds, "{name}: {expected:?}");
            if expected.holds {
                let mut model = read(&text, &expected.definitions, Vec::new());
                let report = check(&mut model, &expected);
                let counts = (report.states, report.transitions);
                assert_eq!(
                    counts,
                    (found.states, found.transitions),
                    "{name}: {expected:?}"
                );
            }
        }
    }
}

/// The run of Ramsey's Figure 2, in 63 steps.
#[test]
fn the_missed_breakpoint_has_the_shortest_trail() {
    let text = fs::read_to_string(models().join("breakpoint.pml")).unwrap();
    let model = read(&text, &[("MISSED".to_owned(), "1".to_owned())], Vec::new());
    let report = search(&model, Search::Breadth, &Options::default(), &mut |_, _| {
        true
    });
    let (finding, trail) = report.finding.unwrap();
    assert!(matches!(finding, Finding::Fault(fault) if fault.code == "assertion"));
    assert_eq!(trail.moves.len(), 63);
    let shown = juror_model::Chart::of(&model, &trail).text();
    assert!(shown.contains("report!thread → report?thread"), "{shown}");
}

/// Without the rule the threads may also trap for ever, one at AT and the other
/// at AFTER, and nobody comes through.
#[test]
fn the_missed_breakpoint_has_a_livelock() {
    let text = fs::read_to_string(models().join("breakpoint.pml")).unwrap();
    let formula = "[]<> (counter[0] == OUTSIDE || counter[1] == OUTSIDE)";
    let missed = [("MISSED".to_owned(), "1".to_owned())];
    let mut model = read(&text, &missed, vec![formula.to_owned()]);
    let automaton = model.ask(&Question::Formula(formula.to_owned())).unwrap();
    let options = Options {
        deadlocks: false,
        ..Options::default()
    };
    let report = accepting_run(&model, &automaton, true, formula, &options, &mut |_, _| {
        true
    });
    assert_eq!(report.verdict(), Verdict::Violated);
}
