//! The programs, in a notation of a line for each instruction.

use juror_oracle::abstract_machine::{Instruction, Operation, Program, VARIABLES, variable_name};
use std::collections::BTreeMap;

/// Programs by name. `NAME:` begins a function, `.NAME:` marks a place.
pub const PROGRAMS: &[(&str, &str)] = &[
    (
        "a loop with calls",
        "main:  v2 = 4
                v3 = 1
         .next: argument1 = v2 + v3
                call f
                v0 = v0 + result
                call g
                v2 = v2 - v3
                if v2 .next
                stop
         f:     v1 = argument1 * argument1
                result = v1 - v3
                return
         g:     argument2 = v0 + v1
                result = v1 - v1
                return",
    ),
    (
        "pointers into its own variables",
        "main:  v4 = 0
                v3 = 1
                argument2 = 3
         .next: store v4 v3
                v0 = load v4
                argument1 = v4 + v3
                call f
                v4 = v4 + v3
                v2 = v4 - argument2
                if v2 .next
                call g
                stop
         f:     v1 = v0 + argument1
                result = v1 * v1
                return
         g:     v0 = v0 + v0
                result = v0 - v1
                return",
    ),
    (
        "recursion",
        "main:  argument1 = 5
                v3 = 1
                call f
                call g
                v1 = result + result
                stop
         f:     v0 = v0 + argument1
                argument1 = argument1 - v3
                if argument1 .down
                result = v0 + v3
                return
         .down: call f
                v1 = v0 - v3
                call g
                result = result + v3
                return
         g:     v0 = v0 * v3
                result = argument1 + v3
                return",
    ),
    (
        "a breakpoint in a loop of one instruction's length",
        "main:  v2 = 3
                v3 = 1
         .next: call f
                v2 = v2 - v3
                if v2 .next
                call g
                stop
         f:     v0 = v0 + v3
                argument1 = v0 + v0
         .spin: v1 = v1 + v3
                argument1 = argument1 - v3
                if argument1 .spin
                result = v1 + v3
                return
         g:     result = v0 + v1
                return",
    ),
];

/// Reads a program.
pub fn read(source: &str) -> Program {
    let mut lines = Vec::new();
    let mut functions = BTreeMap::new();
    let mut places = BTreeMap::new();
    for line in source.lines().map(str::trim) {
        let (label, words) = match line.split_once(':') {
            Some((label, words)) => (Some(label), words),
            None => (None, line),
        };
        let at = lines.len() as u64;
        if let Some(label) = label {
            places.insert(label, at);
            if !label.starts_with('.') {
                functions.insert(label.to_owned(), at);
            }
        }
        lines.push(words.split_whitespace().collect::<Vec<_>>());
    }
    let code = lines.iter().map(|words| instruction(words, &places));
    Program {
        code: code.collect(),
        functions,
    }
}

fn instruction(words: &[&str], places: &BTreeMap<&str, u64>) -> Instruction {
    let cell = |name: &str| {
        let mut numbers = 0..VARIABLES as u8;
        let number = numbers.find(|&it| variable_name(it) == name);
        number.unwrap_or_else(|| panic!("{name} in {words:?}"))
    };
    match words {
        ["stop"] => Instruction::Stop,
        ["return"] => Instruction::Return,
        ["call", to] => Instruction::Call { to: places[to] },
        ["if", variable, to] => Instruction::JumpIf {
            variable: cell(variable),
            to: places[to],
        },
        ["store", pointer, from] => Instruction::Store {
            pointer: cell(pointer),
            from: cell(from),
        },
        [to, "=", "load", pointer] => Instruction::Load {
            to: cell(to),
            pointer: cell(pointer),
        },
        [to, "=", value] => Instruction::Set {
            to: cell(to),
            value: value.parse().unwrap(),
        },
        [to, "=", left, operation, right] => Instruction::Compute {
            operation: match *operation {
                "+" => Operation::Add,
                "-" => Operation::Subtract,
                "*" => Operation::Multiply,
                other => panic!("{other}"),
            },
            to: cell(to),
            left: cell(left),
            right: cell(right),
        },
        other => panic!("{other:?}"),
    }
}
