//! Random expressions over variables of all arithmetic types. They are compiled into a program,
//! which shows their values itself; `print`, conditions of breakpoints and the captures of events
//! have to agree. What C leaves undefined traps in the program, and is not compared.
//!
//! `JUROR_EXPRESSIONS` is the number of programs, `JUROR_EXPRESSIONS_FIRST` the seed of the first
//! one, and `JUROR_EXPRESSIONS_GDB` asks gdb, too. A difference is reduced to the smallest part
//! of the expression that differs, and appended to the file `JUROR_EXPRESSIONS_LOG`, as is how far
//! the run is.

mod generated;
mod oracle;

use crate::support::printed::plain_builds;
use crate::support::progress::note;
use generated::{Form, Forms};
use juror_testing::{Build, Language};
use oracle::{Seen, compiled, of_gdb, of_juror, of_program};
use std::collections::BTreeMap;

/// How many expressions one program has.
const FORMS: usize = 200;

/// A difference: where it was seen, the expression, and what was expected and shown.
struct Difference {
    way: &'static str,
    text: String,
    told: String,
}

/// Returns the differences in what juror says, and the numbers of their expressions.
fn differences(forms: &[&Form], seen: &Seen) -> Vec<(usize, Difference)> {
    let mut found = Vec::new();
    for (at, form) in forms.iter().enumerate() {
        let Some(known) = &seen.known[at] else {
            continue;
        };
        let mut add = |way, told: String| {
            let told = format!("{told}, and is {known:?}");
            let text = form.text.clone();
            found.push((at, Difference { way, text, told }));
        };
        match &seen.printed[at] {
            Ok(text) if known.is_shown(text) => {}
            Ok(text) => add("print", text.clone()),
            // The compiler computes with constants what no type holds.
            Err(why) if why.contains("no C type holds") => continue,
            Err(why) => add("print refused", why.clone()),
        }
        match &seen.conditions[at] {
            None | Some(Ok(true)) => {}
            Some(Ok(false)) => add("condition", "is false".to_owned()),
            Some(Err(why)) => add("condition refused", why.clone()),
        }
        match &seen.captured[at] {
            Some(text) if known.is_shown(text) => {}
            Some(text) => add("capture", text.clone()),
            None if !form.reads => {}
            None => add("capture refused", "not captured".to_owned()),
        }
    }
    found
}

/// Returns all parts of expressions, each once, and how deep it is.
fn parts<'a>(form: &'a Form, found: &mut Vec<&'a Form>) {
    let mut waiting = vec![form];
    while let Some(form) = waiting.pop() {
        found.push(form);
        waiting.extend(&form.parts);
    }
}

/// Reduces differing expressions to their smallest parts that differ.
fn reduced(source: &Forms, forms: &[&Form], build: &Build) -> Vec<Difference> {
    let mut all = Vec::new();
    for form in forms {
        parts(form, &mut all);
    }
    all.sort_by_key(|form| form.text.len());
    all.dedup_by_key(|form| &form.text);
    all.truncate(3 * FORMS);
    let mut again = Forms {
        numbers: source.numbers.clone(),
        language: source.language,
    };
    let executable = compiled(&mut again, &all, build);
    let seen = of_juror(&executable, &all);
    let mut smallest: Vec<Difference> = Vec::new();
    for (at, difference) in differences(&all, &seen) {
        let mut inner = Vec::new();
        for part in &all[at].parts {
            parts(part, &mut inner);
        }
        let is_known = |text: &str| {
            smallest
                .iter()
                .any(|it| it.way == difference.way && it.text == text)
        };
        if !inner.iter().any(|part| is_known(&part.text)) {
            smallest.push(difference);
        }
    }
    smallest
}

/// Checks one program; returns the number of compared expressions and the differences.
fn check(seed: u64, build: &Build, counts: &mut BTreeMap<&'static str, usize>) -> Vec<Difference> {
    let mut source = Forms::new(seed, build.compiler.language());
    let all: Vec<Form> = (0..FORMS).map(|_| source.form()).collect();
    let all: Vec<&Form> = all.iter().collect();
    let values = source.numbers.clone();
    let executable = compiled(&mut source, &all, build);
    let seen = of_juror(&executable, &all);
    let compared = seen.known.iter().flatten().count();
    *counts.entry("compared").or_default() += compared;
    *counts.entry("undefined").or_default() += all.len() - compared;
    if std::env::var_os("JUROR_EXPRESSIONS_GDB").is_some()
        && let Some(shown) = of_gdb(&executable, &all)
    {
        let known = of_program(&executable, all.len());
        let differing = known.iter().zip(&shown);
        let differing = differing
            .filter(|(known, shown)| known.as_ref().is_some_and(|known| !known.is_shown(shown)));
        *counts.entry("gdb differs").or_default() += differing.count();
    }
    let found = differences(&all, &seen);
    if found.is_empty() {
        return Vec::new();
    }
    let mut numbers: Vec<usize> = found.iter().map(|(at, _)| *at).collect();
    numbers.dedup();
    let differing: Vec<&Form> = numbers.iter().map(|at| all[*at]).collect();
    source.numbers = values;
    let smallest = reduced(&source, &differing, build);
    if smallest.is_empty() {
        return found.into_iter().map(|(_, it)| it).collect();
    }
    smallest
}

#[test]
fn random_expressions_have_the_values_of_the_compiler() {
    let number = |name: &str| std::env::var(name).ok()?.parse::<u64>().ok();
    let programs = number("JUROR_EXPRESSIONS").unwrap_or(1);
    let first = number("JUROR_EXPRESSIONS_FIRST").unwrap_or(1);
    let mut counts = BTreeMap::new();
    let mut found: Vec<String> = Vec::new();
    for seed in first..first + programs {
        for language in [Language::C, Language::Cpp] {
            for build in plain_builds(language) {
                for Difference { way, text, told } in check(seed, &build, &mut counts) {
                    *counts.entry(way).or_default() += 1;
                    let difference = format!("{way}: {text}: {told} (seed {seed}, {build})");
                    note("JUROR_EXPRESSIONS_LOG", &difference);
                    found.push(difference);
                }
            }
        }
        if seed % 10 == 0 {
            note(
                "JUROR_EXPRESSIONS_LOG",
                &format!("up to seed {seed}: {counts:?}"),
            );
        }
    }
    note("JUROR_EXPRESSIONS_LOG", &format!("{counts:?}"));
    assert!(found.is_empty(), "{}", found.join("\n"));
}
