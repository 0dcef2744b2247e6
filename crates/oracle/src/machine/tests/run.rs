//! Runs a case three times: bare, debugged, and offline over its trace.

use super::generate::{Action, Case};
use crate::abstract_machine::{AbstractMachine, Instruction};
use crate::machine::debugged::Dropped;
use crate::machine::{
    Command, EventNotification, EventNumber, Mode, Monitors, Place, Point, Reply, Scenario,
    Transition, Verified,
};
use crate::{Access, Debuggee, Executed};
use juror_event::EventKind;
use juror_language::{Property, load};
use std::sync::Arc;

/// The number of instructions of a program that are compared.
const INSTRUCTIONS_MAX: usize = 60;
/// The maximum number of rules between two instructions: more than there can be points
/// at one.
const RULES_BETWEEN_MAX: usize = 60;

/// A scenario that gives one or two commands at each moment and records its
/// notifications.
#[derive(Debug, Clone, Default)]
struct Script {
    commands: Vec<Command>,
    next: usize,
    notified: Vec<Transition>,
    /// The transitions notified up to each checkpoint.
    kept: Vec<Vec<Transition>>,
}

impl Script {
    fn say(&mut self) -> Command {
        let command = self.commands.get(self.next).cloned();
        self.next += 1;
        command.unwrap_or(Command::Nothing)
    }
}

impl Scenario for Script {
    fn on_verdict(&mut self, notification: &EventNotification<'_>) -> Command {
        self.notified.extend(notification.transitions);
        self.say()
    }

    fn on_point(&mut self, _point: Point) -> Command {
        self.say()
    }

    fn on_reply(&mut self, reply: Reply) -> Command {
        if matches!(reply, Reply::Checkpoint(_)) {
            self.kept.push(self.notified.clone());
        }
        match self.next % 2 {
            0 => self.say(),
            _ => Command::Nothing,
        }
    }
}

/// Returns the configurations of the bare program, and whether the last is its end.
fn bare(machine: &AbstractMachine) -> (Vec<AbstractMachine>, bool) {
    let mut machine = machine.clone();
    let mut all = vec![machine.clone()];
    while all.len() <= INSTRUCTIONS_MAX {
        match machine.execute().unwrap() {
            Executed::End => return (all, true),
            _ => all.push(machine.clone()),
        }
    }
    (all, false)
}

/// Applies the events at one instruction to monitors that receive everything: the
/// oracle, which does not use points.
fn take_events(
    monitors: &mut Monitors,
    machine: &AbstractMachine,
    access: Option<&Access>,
    notified: &mut Vec<Transition>,
) {
    let here = machine.program_counter().unwrap();
    let code = machine.program().code[here as usize];
    let is_it = |number: EventNumber| {
        let symbolic = monitors.symbolic(number).unwrap();
        let subject = machine.address_of(&symbolic.subject).unwrap();
        let written = access.map(|it| it.mode == crate::AccessMode::Write);
        let is_place = access.is_some_and(|it| it.address == subject);
        match symbolic.kind {
            EventKind::BeforeCall => access.is_none() && here == subject,
            EventKind::AfterCall => {
                access.is_none()
                    && code == Instruction::Return
                    && machine.program().function_at(here) == Some(&symbolic.subject)
            }
            EventKind::Read => is_place && written == Some(false),
            EventKind::Write => is_place && written == Some(true),
            EventKind::Change => is_place && access.is_some_and(|it| it.old != it.new),
            _ => is_place,
        }
    };
    let happening: Vec<_> = monitors.events().filter(|&it| is_it(it)).collect();
    for number in happening {
        let event = monitors.instantiate(number, access, machine).unwrap();
        if let Some(event) = event {
            notified.extend(monitors.take(&event).unwrap());
        }
    }
}

/// Runs the monitors over the whole trace.
fn offline(monitors: &mut Monitors, run: &[AbstractMachine], ended: bool) -> Vec<Transition> {
    let mut notified = Vec::new();
    let executed = run.len() - usize::from(!ended);
    for machine in &run[..executed] {
        take_events(monitors, machine, None, &mut notified);
        for access in machine.accesses().unwrap() {
            take_events(monitors, machine, Some(&access), &mut notified);
        }
    }
    if ended {
        monitors.finish();
    }
    notified
}

/// Checks definition 7.1, and that breakpoint instructions are inserted exactly at
/// breakpoints, except at the current instruction.
fn related(
    verified: &Verified<AbstractMachine, Script>,
    bare: &[AbstractMachine],
) -> Option<String> {
    let machine = verified.debugged().debuggee();
    let expected = &bare[machine.executed() as usize];
    let here = machine.program_counter().unwrap();
    if machine.data() != expected.data() {
        return Some("a value is another".to_owned());
    }
    if here != expected.program_counter().unwrap() {
        return Some("it is at another instruction".to_owned());
    }
    let points: Vec<Place> = verified.debugged().points().map(|it| it.place).collect();
    for (at, (now, original)) in machine.code().iter().zip(expected.code()).enumerate() {
        let is_breakpoint = points.contains(&Place::Instruction(at as u64));
        let is_trap = *now == Instruction::Break;
        if !is_trap && now != original {
            return Some(format!("instruction {at} is another"));
        }
        if is_trap != is_breakpoint && !(is_breakpoint && at as u64 == here) {
            return Some(format!("the breakpoint instruction at {at} is wrong"));
        }
    }
    None
}

/// Performs a due action of the developer. Returns what is wrong.
fn act(verified: &mut Verified<AbstractMachine, Script>, action: &Action) -> Result<(), String> {
    let command = match action {
        Action::Restore(which) => match verified.scenario.kept.len() {
            0 => return Ok(()),
            count => Command::Restore(usize::from(*which) % count),
        },
        Action::Command(command) => command.clone(),
    };
    if command == Command::Step {
        verified
            .command(&Command::Interrupt)
            .map_err(|error| error.to_string())?;
    }
    let reply = verified
        .command(&command)
        .map_err(|error| error.to_string())?;
    let script = &mut verified.scenario;
    match (command, reply) {
        (_, Reply::Checkpoint(_)) => script.kept.push(script.notified.clone()),
        (Command::Restore(number), _) => script.notified.clone_from(&script.kept[number]),
        _ => {}
    }
    Ok(())
}

/// Runs a case; returns what differs.
pub fn check(case: &Case, dropped: Option<Dropped>) -> Result<(), String> {
    let sources = case.properties.iter();
    let properties: Vec<Arc<Property>> = sources
        .map(|source| {
            let (mut found, diagnostics) = load(source);
            assert_eq!(found.len(), 1, "{source}\n{diagnostics:#?}");
            Arc::new(found.remove(0))
        })
        .collect();
    let machine = AbstractMachine::new(Arc::new(case.program.clone()));
    let (run, ended) = bare(&machine);
    let fresh = Monitors::new(&properties).map_err(|error| error.to_string())?;
    let mut expected = fresh.clone();
    let transitions = offline(&mut expected, &run, ended);

    let script = Script {
        commands: case.scenario.clone(),
        ..Script::default()
    };
    let mut verified = Verified::init(machine, fresh, script).map_err(|error| error.to_string())?;
    verified.debugged_mut().dropped = dropped;
    drive(&mut verified, case, &run, ended)?;
    let notified = &verified.scenario.notified;
    if *notified != transitions {
        return Err(format!(
            "the scenario was notified of {notified:?}, not {transitions:?}"
        ));
    }
    let verdicts = (verified.monitors().verdicts(), expected.verdicts());
    if verdicts.0 != verdicts.1 {
        return Err(format!(
            "the verdicts are {:?}, not {:?}",
            verdicts.0, verdicts.1
        ));
    }
    Ok(())
}

/// Runs the debugged program as far as the bare one was run.
fn drive(
    verified: &mut Verified<AbstractMachine, Script>,
    case: &Case,
    run: &[AbstractMachine],
    ended: bool,
) -> Result<(), String> {
    let last = run.len() as u64 - 1;
    let mut actions = case.actions.iter();
    let mut due = actions.next();
    let mut waited = 0_u32;
    let mut between = 0;
    loop {
        if let Some(wrong) = related(verified, run) {
            return Err(wrong);
        }
        let executed = verified.debugged().debuggee().executed();
        let is_over = if ended {
            verified.has_ended()
        } else {
            executed == last
        };
        if is_over && due.is_none() {
            return Ok(());
        }
        if let Some((_, action)) = due.filter(|(rules, _)| waited >= u32::from(*rules) || is_over) {
            // Nothing more is executed at the end of the comparison.
            if !(is_over && matches!(action, Action::Command(Command::Step))) {
                act(verified, action)?;
            }
            due = actions.next();
            waited = 0;
            between = 0;
            continue;
        }
        waited += 1;
        between += 1;
        if between > RULES_BETWEEN_MAX {
            return Err("it never comes to the next instruction".to_owned());
        }
        let done = match verified.debugged().mode() {
            Mode::Interactive => verified.command(&Command::Continue).map(|_| ()),
            Mode::Passive => verified.execute().map(|_| ()),
        };
        done.map_err(|error| error.to_string())?;
        if verified.debugged().debuggee().executed() != executed {
            between = 0;
        }
    }
}
