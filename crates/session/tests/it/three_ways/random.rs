//! Programs at random, in the notation of `programs`, and properties.
//!
//! Each program comes to its end: `v2` counts the rounds of `main` down, `v3` is 1,
//! and nothing else is written there.

use juror_testing::any_properties;
use proptest::collection::vec;
use proptest::prelude::*;

/// What is read.
const CELLS: [&str; 8] = [
    "v0",
    "v1",
    "v2",
    "v3",
    "v4",
    "argument1",
    "argument2",
    "result",
];
/// What is written, with its number among the cells.
const WRITTEN: [(&str, u8); 6] = [
    ("v0", 0),
    ("v1", 1),
    ("v4", 4),
    ("argument1", 5),
    ("argument2", 6),
    ("result", 7),
];

/// Some lines of a function.
fn lines() -> impl Strategy<Value = Vec<String>> {
    let read = || prop_oneof![2 => 0..2_usize, 1 => 0..CELLS.len()].prop_map(|it| CELLS[it]);
    let written = || prop_oneof![2 => 0..2_usize, 1 => 0..WRITTEN.len()].prop_map(|it| WRITTEN[it]);
    let operation = prop_oneof![Just("+"), Just("-")];
    prop_oneof![
        2 => (written(), -2..5_i64).prop_map(|((to, _), value)| vec![format!("{to} = {value}")]),
        4 => (written(), read(), operation, read()).prop_map(|((to, _), left, operation, right)| {
            vec![format!("{to} = {left} {operation} {right}")]
        }),
        1 => (written(), read()).prop_map(|((to, _), from)| vec![format!("{to} = {from} * v3")]),
        1 => (written(), read()).prop_map(|((_, number), from)| {
            vec![format!("v4 = {number}"), format!("store v4 {from}")]
        }),
        1 => (written(), 0..8_u8).prop_map(|((to, _), number)| {
            vec![format!("v4 = {number}"), format!("{to} = load v4")]
        }),
        1 => Just(vec!["call g".to_owned()]),
    ]
}

fn body(name: &'static str) -> impl Strategy<Value = String> {
    // Some of the lines are skipped where a value is not 0.
    (vec(lines(), 1..5), vec(lines(), 1..4), 0..CELLS.len()).prop_map(
        move |(first, second, cell)| {
            let is_last = name == "g";
            let mut text = Vec::new();
            text.extend(first.concat());
            text.push(format!("if {} .{name}", CELLS[cell]));
            text.extend(second.concat());
            text.push(format!(".{name}: result = result + v3"));
            // The last function calls none.
            text.retain(|line| !is_last || !line.starts_with("call"));
            format!("{name}: {}\nreturn", text.join("\n"))
        },
    )
}

/// A program.
pub fn program() -> impl Strategy<Value = String> {
    (1..4_u8, vec(lines(), 1..6), body("f"), body("g")).prop_map(|(rounds, lines, f, g)| {
        let lines = lines.concat().join("\n");
        format!(
            "main: v3 = 1\nv2 = {rounds}\n.next: call f\n{lines}\n\
             v2 = v2 - v3\nif v2 .next\ncall g\nstop\n{f}\n{g}"
        )
    })
}

const EVENTS: [&str; 10] = [
    "before f(x = arg 1)",
    "before g(x = arg 2)",
    "before f(x = arg 2)",
    "after f() returns x",
    "after g() returns x",
    "write v0 (x = value)",
    "read v0 (x = value)",
    "change v1 (x = value)",
    "access v2 (x = value)",
    "write v2 (x = old)",
];

/// One or two properties over these events.
pub fn properties() -> impl Strategy<Value = Vec<String>> {
    any_properties(&EVENTS)
}
