//! What is explored, and the violations that must be found.

mod any_input;
mod cases;
mod deadlocks;
mod meanings;
mod predictions;
mod programs;
mod rules;
mod single_inputs;
mod strategies;

use super::library::{Writer, start_and_join};
use super::program::{Instruction, Operand, Program, address};
use super::search::{Budget, Case, End, Explored, explore};
use std::println;
use std::vec;
use std::vec::Vec;

/// Returns true if `JUROR_EXPLORE` asks for one of these.
fn is_asked_for(names: &[&str]) -> bool {
    std::env::var("JUROR_EXPLORE").is_ok_and(|value| names.contains(&value.as_str()))
}

/// Returns the program in which the first thread starts and joins these.
fn program_of(threads: Vec<Vec<Instruction>>) -> Program {
    let mut code = vec![start_and_join(threads.len())];
    code.extend(threads);
    Program {
        code,
        ..Program::default()
    }
}

/// Returns the program in which the first thread starts all others and goes on with the code.
fn program_with(main: Vec<Instruction>, threads: Vec<Vec<Instruction>>) -> Program {
    let spawns = (1..=threads.len()).map(Instruction::Spawn);
    // Jumps of the code are moved by the instructions before it.
    let offset = threads.len();
    let moved = main.into_iter().map(|instruction| match instruction {
        Instruction::Jump(to) => Instruction::Jump(to + offset),
        Instruction::JumpIfEqual(register, operand, to) => {
            Instruction::JumpIfEqual(register, operand, to + offset)
        }
        Instruction::JumpIfDifferent(register, operand, to) => {
            Instruction::JumpIfDifferent(register, operand, to + offset)
        }
        other => other,
    });
    let mut code = vec![spawns.chain(moved).collect()];
    code.extend(threads);
    Program {
        code,
        ..Program::default()
    }
}

fn written(write: impl FnOnce(&mut Writer)) -> Vec<Instruction> {
    let mut writer = Writer::new();
    write(&mut writer);
    writer.code()
}

#[track_caller]
fn check(name: &str, case: &Case) -> Explored {
    match explore(case) {
        Ok(explored) => {
            println!(
                "{name}: {} states, {} transitions, {} replays, ends {:?}",
                explored.states, explored.transitions, explored.replays, explored.ends
            );
            explored
        }
        Err(violation) => panic!("{name}: {violation}"),
    }
}
