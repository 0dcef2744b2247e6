//! One program, three ways: the abstract machine, a recorded run of it, and a
//! live process that was assembled from it. The rules, the properties and what
//! the developer and the scenario do are the same; so must be what the monitors
//! hear, the verdicts, and the values at the end.

mod assembler;
mod live;
mod programs;

use juror_language::{Property, load};
use juror_rules::abstract_machine::{AbstractMachine, Program, VARIABLES, variable_name};
use juror_rules::machine::{
    Command, Mode, Monitors, Owner, Point, Reply, Scenario, Told, Transition, Verified, Watched,
};
use juror_rules::recorded::Recorded;
use juror_rules::{Debuggee, Fault};
use live::Live;
use programs::PROGRAMS;
use std::sync::Arc;

const FUNCTIONS: [&str; 3] = ["main", "f", "g"];
/// More than any of the programs executes.
const INSTRUCTIONS_MAX: usize = 2_000;
/// How many steps the developer makes. An instruction of the machine is several
/// of the processor; none of these comes to a point.
const STEPS: usize = 2;
/// More rules than any of the programs needs.
const RULES_MAX: usize = 20_000;

const PROPERTIES: [&str; 3] = [
    "property alternating
     event f = before f(x = arg 1)
     event g = after g() returns x
     var n = 0
     state idle accepting { on f when x > 0 { n += 1 } -> busy }
     state busy accepting { on g { n -= x } -> idle  on f -> twice }
     state twice non-accepting { on g -> idle }",
    "property accesses
     event store = write v0 (x = value, was = old)
     event look = read v0 (x = value)
     event other = change v1 (x = value)
     state none accepting { on store when x != was -> stored  on other -> none }
     state stored non-accepting { on look -> seen }
     state seen accepting { on store -> stored  on other when x > 3 -> none }",
    "property same_place
     event in = before f(x = arg 1)
     event again = before f(x = arg 2)
     event out = after f() returns x
     event begin = before main()
     state init accepting { on begin -> ready }
     state ready accepting { on in -> inside }
     state inside accepting { on again -> deep  on out -> ready }
     state deep non-accepting { on out when x > 0 -> ready }",
];

/// Takes a checkpoint at its third event, and writes down what it hears.
#[derive(Default)]
struct Keeper {
    heard: Vec<Transition>,
    /// What had been heard at the checkpoint.
    kept: Option<Vec<Transition>>,
}

impl Scenario for Keeper {
    fn on_verdict(&mut self, told: &Told<'_>) -> Command {
        self.heard.extend(told.transitions);
        match self.heard.len() >= 3 && self.kept.is_none() {
            true => Command::Checkpoint,
            false => Command::Nothing,
        }
    }

    fn on_point(&mut self, _point: Point) -> Command {
        Command::GetProgramCounter
    }

    fn on_reply(&mut self, reply: Reply) -> Command {
        if let Reply::Checkpoint(_) = reply {
            self.kept = Some(self.heard.clone());
        }
        Command::Nothing
    }
}

/// What is compared.
#[derive(Debug, PartialEq)]
struct Seen {
    heard: Vec<Transition>,
    /// What was heard after the checkpoint was restored at the end.
    again: Option<Vec<Transition>>,
    verdicts: Vec<juror_event::Verdict>,
    values: Vec<i64>,
    /// How often the developer's points stopped the program.
    stops: usize,
}

fn run<D: Debuggee>(debuggee: D, properties: &[Arc<Property>]) -> Result<Seen, Fault> {
    let monitors = Monitors::new(properties)?;
    let mut verified = Verified::init(debuggee, monitors, Keeper::default())?;
    let address = |verified: &Verified<D, Keeper>, name: &str| {
        let address = verified.debugged().debuggee().address_of(name);
        address.ok_or_else(|| Fault::NoSymbol(name.to_owned()))
    };
    let points = [
        Point::breakpoint(Owner::Developer, address(&verified, "f")?),
        Point::watchpoint(Owner::Developer, address(&verified, "v1")?, Watched::Write),
        Point::breakpoint(Owner::Scenario, address(&verified, "g")?),
        Point::watchpoint(Owner::Scenario, address(&verified, "v0")?, Watched::Access),
    ];
    for point in points {
        verified.command(&Command::SetPoint(point))?;
    }
    let stops = finish(&mut verified)?;
    let heard = verified.scenario().heard.clone();
    let verdicts = verified.monitors().verdicts();
    let values = values(verified.debugged().debuggee())?;
    let mut again = None;
    if let Some(kept) = verified.scenario().kept.clone() {
        verified.command(&Command::Restore(0))?;
        // One of the points is gone meanwhile.
        verified.command(&Command::RemovePoint(points[0]))?;
        finish(&mut verified)?;
        let mut whole = kept;
        whole.extend_from_slice(&verified.scenario().heard[heard.len()..]);
        again = Some(whole);
        assert_eq!(verified.monitors().verdicts(), verdicts);
    }
    Ok(Seen {
        heard,
        again,
        verdicts,
        values,
        stops,
    })
}

/// Runs to the end; the developer steps at first, and goes on at each stop.
fn finish<D: Debuggee>(verified: &mut Verified<D, Keeper>) -> Result<usize, Fault> {
    let mut stops = 0;
    for _ in 0..STEPS {
        verified.command(&Command::Step)?;
    }
    for _ in 0..RULES_MAX {
        match verified.debugged().mode() {
            Mode::Passive => {
                verified.execute()?;
            }
            Mode::Interactive if verified.has_ended() => return Ok(stops),
            Mode::Interactive => {
                stops += 1;
                verified.command(&Command::Continue)?;
            }
        }
    }
    Err(Fault::Endless(RULES_MAX))
}

fn values<D: Debuggee>(debuggee: &D) -> Result<Vec<i64>, Fault> {
    let names = (0..VARIABLES as u8).map(variable_name);
    names
        .map(|name| {
            let address = debuggee.address_of(&name);
            debuggee.read(address.ok_or(Fault::NoSymbol(name))?)
        })
        .collect()
}

#[track_caller]
fn check(name: &str, program: &Program) {
    let properties: Vec<Arc<Property>> = PROPERTIES
        .iter()
        .map(|source| {
            let (mut found, diagnostics) = load(source);
            assert_eq!(found.len(), 1, "{diagnostics:#?}");
            Arc::new(found.remove(0))
        })
        .collect();
    let machine = AbstractMachine::new(Arc::new(program.clone()));
    let expected = run(machine.clone(), &properties).unwrap();
    assert!(expected.heard.len() > 3, "{name}: {expected:?}");
    assert_eq!(expected.again.as_ref(), Some(&expected.heard), "{name}");

    let names: Vec<String> = (0..VARIABLES as u8).map(variable_name).collect();
    let variables: Vec<&str> = names.iter().map(String::as_str).collect();
    let record = |recorded: Recorded| {
        assert!(recorded.is_whole(), "{name}");
        run(recorded, &properties).unwrap()
    };
    let mut bare = machine;
    let recorded = Recorded::record(&mut bare, &FUNCTIONS, &variables, INSTRUCTIONS_MAX);
    assert_eq!(record(recorded.unwrap()), expected, "{name}: recorded");

    let live = Live::start(program);
    assert_eq!(run(live, &properties).unwrap(), expected, "{name}: live");
    // The process, recorded.
    let mut live = Live::start(program);
    let recorded = Recorded::record(&mut live, &FUNCTIONS, &variables, INSTRUCTIONS_MAX * 4);
    assert_eq!(
        record(recorded.unwrap()),
        expected,
        "{name}: live, recorded"
    );
}

#[test]
fn one_program_three_ways() {
    for (name, source) in PROGRAMS {
        check(name, &programs::read(source));
    }
}
