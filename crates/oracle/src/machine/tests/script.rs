//! A program and a scenario written by hand.

use crate::abstract_machine::{AbstractMachine, Instruction, Program, variable};
use crate::machine::{
    Command, EventNotification, Mode, Monitors, Output, Owner, Point, Reply, Scenario, Verified,
    Watched,
};
use crate::{Debuggee, Fault};
use juror_language::{Property, load};
use std::sync::Arc;

/// The address of the function `f`.
pub const F: u64 = 4;

/// Sets `v0`, calls `f` twice, which adds `v0` to `v1`, and ends.
pub fn program() -> AbstractMachine {
    let add = Instruction::Compute {
        operation: crate::abstract_machine::Operation::Add,
        to: 1,
        left: 0,
        right: 1,
    };
    AbstractMachine::new(Arc::new(Program {
        code: vec![
            Instruction::Set { to: 0, value: 7 },
            Instruction::Call { to: F },
            Instruction::Call { to: F },
            Instruction::Stop,
            add,
            Instruction::Return,
        ],
        functions: [("main".to_owned(), 0), ("f".to_owned(), F)].into(),
    }))
}

/// Returns a breakpoint.
pub fn at(owner: Owner, address: u64) -> Point {
    Point::breakpoint(owner, address)
}

/// Returns a watchpoint on the writes of a variable.
pub fn writes(owner: Owner, number: u8) -> Point {
    Point::watchpoint(owner, variable(number), Watched::Write)
}

pub fn property(source: &str) -> Arc<Property> {
    let (mut found, diagnostics) = load(source);
    assert_eq!(found.len(), 1, "{source}\n{diagnostics:#?}");
    Arc::new(found.remove(0))
}

pub fn monitors(sources: &[&str]) -> Monitors {
    let properties: Vec<_> = sources.iter().map(|source| property(source)).collect();
    Monitors::new(&properties).unwrap()
}

/// A scenario that gives the commands of its reactions, one reaction at each moment, and
/// records what it hears.
#[derive(Debug, Clone, Default)]
pub struct Told {
    reactions: Vec<Vec<Command>>,
    commands: Vec<Command>,
    pub heard: Vec<Heard>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Heard {
    /// The number of transitions, and the verdicts.
    Verdicts(usize, String),
    Point(Point),
    Reply(Reply),
}

impl Told {
    pub fn new(reactions: &[&[Command]]) -> Told {
        Told {
            reactions: reactions.iter().map(|it| it.to_vec()).collect(),
            ..Told::default()
        }
    }

    fn react(&mut self, heard: Heard) -> Command {
        self.heard.push(heard);
        if !self.reactions.is_empty() {
            self.commands = self.reactions.remove(0);
        }
        self.next()
    }

    fn next(&mut self) -> Command {
        if self.commands.is_empty() {
            Command::Nothing
        } else {
            self.commands.remove(0)
        }
    }
}

impl Scenario for Told {
    fn on_verdict(&mut self, notification: &EventNotification<'_>) -> Command {
        let verdicts = notification.verdicts.iter().map(ToString::to_string);
        let verdicts = verdicts.collect::<Vec<_>>().join(", ");
        self.react(Heard::Verdicts(notification.transitions.len(), verdicts))
    }

    fn on_point(&mut self, point: Point) -> Command {
        self.react(Heard::Point(point))
    }

    fn on_reply(&mut self, reply: Reply) -> Command {
        self.heard.push(Heard::Reply(reply));
        self.next()
    }
}

pub type Run = Verified<AbstractMachine, Told>;

/// Begins the program with a scenario that reacts so.
pub fn begin(sources: &[&str], reactions: &[&[Command]]) -> Run {
    Verified::init(program(), monitors(sources), Told::new(reactions)).unwrap()
}

/// Lets the program run until it is shown to the developer. Returns the developer's
/// point that was reached.
pub fn go(run: &mut Run) -> Result<Option<Point>, Fault> {
    run.command(&Command::Continue)?;
    let mut reached = None;
    while run.debugged().mode() == Mode::Passive {
        if let Output::Stopped(point) = run.execute()? {
            reached = Some(point);
        }
    }
    Ok(reached)
}

/// Returns the address of the next instruction.
pub fn here(run: &Run) -> u64 {
    run.debugged().debuggee().program_counter().unwrap()
}
