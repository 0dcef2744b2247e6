//! Random programs, properties, and actions during their runs.

use crate::abstract_machine::{Instruction, Operation, Program, VARIABLES, variable};
use crate::machine::{Command, Owner, Place, Point, Watched};
use juror_testing::any_properties;
use proptest::collection::vec;
use proptest::prelude::*;
use std::fmt;

/// All inputs of a run.
#[derive(Debug, Clone)]
pub struct Case {
    pub program: Program,
    /// Property sources.
    pub properties: Vec<String>,
    /// The commands of the scenario, in order.
    pub scenario: Vec<Command>,
    /// The actions of the developer, each after a number of rules.
    pub actions: Vec<(u8, Action)>,
}

/// An action of the developer.
#[derive(Debug, Clone)]
pub enum Action {
    Command(Command),
    /// Restore one of the existing checkpoints.
    Restore(u8),
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (instruction, at) in self.program.code.iter().zip(0..) {
            let begun = self.program.functions.iter().find(|(_, to)| **to == at);
            let name = begun.map_or("", |(name, _)| name.as_str());
            writeln!(f, "{name:<6}{at:>3}  {instruction:?}")?;
        }
        for property in &self.properties {
            writeln!(f, "{property}")?;
        }
        writeln!(f, "scenario: {:?}", self.scenario)?;
        writeln!(f, "developer: {:?}", self.actions)
    }
}

fn small_variable() -> impl Strategy<Value = u8> {
    // Few variables, so that uses coincide, and the arguments and the result.
    prop_oneof![4 => 0..3_u8, 1 => 0..VARIABLES as u8]
}

fn instruction(length: u64, functions: [u64; 2]) -> impl Strategy<Value = Instruction> {
    let cell = small_variable;
    let operation = prop_oneof![
        Just(Operation::Add),
        Just(Operation::Subtract),
        Just(Operation::Multiply)
    ];
    prop_oneof![
        2 => (cell(), -2..6_i64).prop_map(|(to, value)| Instruction::Set { to, value }),
        3 => (operation, cell(), cell(), cell()).prop_map(|(operation, to, left, right)| {
            Instruction::Compute { operation, to, left, right }
        }),
        1 => (cell(), cell()).prop_map(|(to, pointer)| Instruction::Load { to, pointer }),
        1 => (cell(), cell()).prop_map(|(pointer, from)| Instruction::Store { pointer, from }),
        1 => (0..length).prop_map(|to| Instruction::Jump { to }),
        2 => (cell(), 0..length).prop_map(|(variable, to)| Instruction::JumpIf { variable, to }),
        3 => (0..2_usize).prop_map(move |which| Instruction::Call { to: functions[which] }),
        1 => Just(Instruction::Return),
    ]
}

/// Generates `main`, which loops forever or stops, and two functions.
fn program() -> impl Strategy<Value = Program> {
    (1..6_usize, 1..4_usize, 1..4_usize).prop_flat_map(|(main, f, g)| {
        let starts = [main as u64 + 1, (main + f) as u64 + 2];
        let length = (main + f + g) as u64 + 3;
        let part = move |count: usize| vec(instruction(length, starts), count);
        (part(main), part(f), part(g)).prop_map(move |(main, f, g)| {
            let mut code = main;
            code.push(Instruction::Stop);
            for function in [f, g] {
                code.extend(function);
                code.push(Instruction::Return);
            }
            let functions = [("main", 0), ("f", starts[0]), ("g", starts[1])];
            Program {
                code,
                functions: functions.map(|(name, at)| (name.to_owned(), at)).into(),
            }
        })
    })
}

const EVENTS: [&str; 12] = [
    "before f(x = arg 1)",
    "before g(x = arg 2)",
    "before f(x = arg 2)",
    "before main(x = arg 1)",
    "after f() returns x",
    "after g(x = arg 1)",
    "write v0 (x = value)",
    "read v0 (x = value)",
    "read v1 (x = value)",
    "change v1 (x = value)",
    "access v2 (x = value)",
    "write v2 (x = old)",
];

fn point(owner: Owner) -> impl Strategy<Value = Point> {
    let watched = prop_oneof![
        Just(Watched::Read),
        Just(Watched::Write),
        Just(Watched::Access)
    ];
    prop_oneof![
        (0..8_u64).prop_map(move |address| Point::breakpoint(owner, address)),
        (small_variable(), watched).prop_map(move |(cell, watched)| Point::watchpoint(
            owner,
            variable(cell),
            watched
        )),
    ]
}

/// Generates commands that change no value.
fn command(owner: Owner) -> impl Strategy<Value = Command> {
    prop_oneof![
        6 => point(owner).prop_map(Command::SetPoint),
        3 => point(owner).prop_map(Command::RemovePoint),
        1 => Just(Command::Interrupt),
        1 => Just(Command::GetProgramCounter),
        1 => small_variable().prop_map(|cell| Command::GetAddress(variable(cell))),
        1 => Just(Command::GetSymbol("v0".to_owned())),
        3 => Just(Command::Checkpoint),
        2 => Just(Command::Step),
    ]
}

/// Generates commands of a scenario, which may let the program run, too.
fn reaction() -> impl Strategy<Value = Command> {
    prop_oneof![
        12 => command(Owner::Scenario),
        1 => Just(Command::Continue),
    ]
}

fn action(restores: bool) -> impl Strategy<Value = Action> {
    let restore = u32::from(restores) * 3;
    prop_oneof![
        5 => command(Owner::Developer).prop_map(Action::Command),
        restore => any::<u8>().prop_map(Action::Restore),
    ]
}

pub fn case(restores: bool) -> impl Strategy<Value = Case> {
    (
        program(),
        any_properties(&EVENTS),
        vec(reaction(), 0..6),
        vec((0..12_u8, action(restores)), 0..8),
    )
        .prop_map(|(program, properties, mut scenario, mut actions)| {
            let length = program.code.len() as u64;
            for command in &mut scenario {
                stay_inside(command, length);
            }
            for (_, action) in &mut actions {
                if let Action::Command(command) = action {
                    stay_inside(command, length);
                }
            }
            Case {
                program,
                properties,
                scenario,
                actions,
            }
        })
}

/// Moves breakpoints to addresses that have code.
fn stay_inside(command: &mut Command, length: u64) {
    if let Command::SetPoint(point) | Command::RemovePoint(point) = command
        && let Place::Instruction(address) = &mut point.place
    {
        *address %= length;
    }
}
