//! The bare program, and what monitors say that are given its whole trace: the
//! oracle. It knows nothing of points, and nobody debugs.

use super::{Heard, INSTRUCTIONS_MAX, in_words, values};
use juror_event::{EventKind, Verdict};
use juror_language::Property;
use juror_oracle::abstract_machine::{AbstractMachine, Instruction};
use juror_oracle::machine::{EventNumber, Monitors, Transition};
use juror_oracle::{Access, AccessMode, Debuggee, Executed, Fault};
use std::sync::Arc;

/// What the monitors hear, their verdicts, and the values at the end.
pub struct Offline {
    pub heard: Vec<Heard>,
    pub verdicts: Vec<Verdict>,
    pub values: Vec<i64>,
}

/// Runs the program to its end.
pub fn run(mut machine: AbstractMachine, properties: &[Arc<Property>]) -> Result<Offline, Fault> {
    let mut monitors = Monitors::new(properties)?;
    let mut heard = Vec::new();
    for _ in 0..INSTRUCTIONS_MAX {
        hear(&mut monitors, &machine, None, &mut heard)?;
        for access in machine.accesses()? {
            hear(&mut monitors, &machine, Some(&access), &mut heard)?;
        }
        if machine.execute()? == Executed::End {
            monitors.finish();
            let words = heard.iter().map(|it| in_words(properties, it));
            return Ok(Offline {
                heard: words.collect(),
                verdicts: monitors.verdicts(),
                values: values(&machine)?,
            });
        }
    }
    Err(Fault::Endless(INSTRUCTIONS_MAX))
}

/// Whatever happens in a moment, in order.
fn hear(
    monitors: &mut Monitors,
    machine: &AbstractMachine,
    access: Option<&Access>,
    heard: &mut Vec<Transition>,
) -> Result<(), Fault> {
    let mut all: Vec<EventNumber> = monitors.events().collect();
    all.retain(|&number| happens(monitors, number, machine, access));
    for number in all {
        if let Some(event) = monitors.instantiate(number, access, machine)? {
            heard.extend(monitors.take(&event)?);
        }
    }
    Ok(())
}

fn happens(
    monitors: &Monitors,
    number: EventNumber,
    machine: &AbstractMachine,
    access: Option<&Access>,
) -> bool {
    let symbolic = monitors.symbolic(number).unwrap();
    let here = machine.program_counter().unwrap();
    let subject = machine.address_of(&symbolic.subject);
    let is_place = access.is_some_and(|it| Some(it.address) == subject);
    let mode = access.map(|it| it.mode);
    match symbolic.kind {
        EventKind::BeforeCall => access.is_none() && Some(here) == subject,
        EventKind::AfterCall => {
            access.is_none()
                && machine.program().code[here as usize] == Instruction::Return
                && machine.program().function_at(here) == Some(&symbolic.subject)
        }
        EventKind::Read => is_place && mode == Some(AccessMode::Read),
        EventKind::Write => is_place && mode == Some(AccessMode::Write),
        EventKind::Change => is_place && access.is_some_and(|it| it.old != it.new),
        _ => is_place,
    }
}
