//! One program, three ways: the abstract machine, a recorded run of it, and a
//! live process that was compiled from it; and the session that ships, over that
//! process. The rules, the properties and what the developer and the scenario do
//! are the same; so must be what the monitors hear, the verdicts, where the program
//! stops, what the scenario does, and the values at the end.

mod assembler;
mod built;
mod live;
mod programs;
mod random;
mod shipped;

use built::Built;
use juror_language::{Property, load};
use juror_rules::abstract_machine::{AbstractMachine, VARIABLES, variable_name};
use juror_rules::machine::{
    Command, Mode, Monitors, Owner, Place, Point, Reply, Scenario, Told, Transition, Verified,
    Watched,
};
use juror_rules::recorded::Recorded;
use juror_rules::{Debuggee, Fault};
use live::Live;
use programs::PROGRAMS;
use proptest::prelude::*;
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
    /// How often its breakpoint was reached.
    reactions: usize,
}

impl Scenario for Keeper {
    fn on_verdict(&mut self, told: &Told<'_>) -> Command {
        self.heard.extend(told.transitions);
        match self.heard.len() >= 3 && self.kept.is_none() {
            true => Command::Checkpoint,
            false => Command::Nothing,
        }
    }

    fn on_point(&mut self, point: Point) -> Command {
        self.reactions += usize::from(matches!(point.place, Place::Instruction(_)));
        Command::GetProgramCounter
    }

    fn on_reply(&mut self, reply: Reply) -> Command {
        if let Reply::Checkpoint(_) = reply {
            self.kept = Some(self.heard.clone());
        }
        Command::Nothing
    }
}

/// A transition of a monitor, in words.
#[derive(Debug, Clone, PartialEq)]
struct Heard {
    property: String,
    event: String,
    from: String,
    to: String,
    verdict: juror_event::Verdict,
}

/// What the developer has set: functions, and variables whose stores stop.
#[derive(Debug, Clone)]
struct Plan {
    breakpoints: &'static [&'static str],
    watchpoints: &'static [&'static str],
}

/// What is compared.
#[derive(Debug, PartialEq)]
struct Seen {
    heard: Vec<Heard>,
    /// What was heard after the checkpoint was restored at the end.
    again: Option<Vec<Heard>>,
    verdicts: Vec<juror_event::Verdict>,
    values: Vec<i64>,
    /// How often the developer's points stopped the program.
    stops: usize,
    /// How often the scenario's breakpoint was reached.
    reactions: usize,
}

impl Seen {
    /// What comes after the checkpoint is what came there before. When it is made
    /// is a matter of the scenario.
    #[track_caller]
    fn without_checkpoint(self, what: &str) -> Seen {
        if let Some(again) = &self.again {
            assert_eq!(*again, self.heard, "{what}");
        }
        Seen {
            again: None,
            ..self
        }
    }
}

fn run<D: Debuggee>(debuggee: D, properties: &[Arc<Property>], plan: &Plan) -> Result<Seen, Fault> {
    let monitors = Monitors::new(properties)?;
    let mut verified = Verified::init(debuggee, monitors, Keeper::default())?;
    let address = |verified: &Verified<D, Keeper>, name: &str| {
        let address = verified.debugged().debuggee().address_of(name);
        address.ok_or_else(|| Fault::NoSymbol(name.to_owned()))
    };
    let mut own = Vec::new();
    for name in plan.breakpoints {
        own.push(Point::breakpoint(
            Owner::Developer,
            address(&verified, name)?,
        ));
    }
    for name in plan.watchpoints {
        let place = address(&verified, name)?;
        own.push(Point::watchpoint(Owner::Developer, place, Watched::Write));
    }
    let scenario = [
        Point::breakpoint(Owner::Scenario, address(&verified, "g")?),
        Point::watchpoint(Owner::Scenario, address(&verified, "v0")?, Watched::Access),
    ];
    for point in own.iter().chain(&scenario) {
        verified.command(&Command::SetPoint(*point))?;
    }
    let stops = finish(&mut verified)?;
    let heard = verified.scenario().heard.clone();
    let reactions = verified.scenario().reactions;
    let verdicts = verified.monitors().verdicts();
    let values = values(verified.debugged().debuggee())?;
    let mut again = None;
    if let Some(kept) = verified.scenario().kept.clone() {
        verified.command(&Command::Restore(0))?;
        // One of the points is gone meanwhile.
        if let Some(point) = own.first() {
            verified.command(&Command::RemovePoint(*point))?;
        }
        finish(&mut verified)?;
        let mut whole = kept;
        whole.extend_from_slice(&verified.scenario().heard[heard.len()..]);
        again = Some(whole);
        assert_eq!(verified.monitors().verdicts(), verdicts);
    }
    let words = |heard: Vec<Transition>| heard.iter().map(|it| in_words(properties, it)).collect();
    Ok(Seen {
        heard: words(heard),
        again: again.map(words),
        verdicts,
        values,
        stops,
        reactions,
    })
}

fn in_words(properties: &[Arc<Property>], transition: &Transition) -> Heard {
    let property = &properties[transition.number.monitor];
    let state = |id| property.state(id).unwrap().name.to_string();
    Heard {
        property: property.name.to_string(),
        event: property
            .event(transition.number.event)
            .unwrap()
            .name
            .to_string(),
        from: state(transition.from),
        to: state(transition.to),
        verdict: transition.verdict,
    }
}

/// Runs to the end; the developer steps at first, and goes on at each stop.
fn finish<D: Debuggee>(verified: &mut Verified<D, Keeper>) -> Result<usize, Fault> {
    let mut stops = 0;
    for _ in 0..STEPS {
        verified.command(&Command::Step)?;
    }
    verified.command(&Command::Continue)?;
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

/// Plays a program in all ways; what was seen by the abstract machine.
#[track_caller]
fn check(source: &str, plan: &Plan) -> Seen {
    let program = &programs::read(source);
    let properties: Vec<Arc<Property>> = PROPERTIES
        .iter()
        .map(|source| {
            let (mut found, diagnostics) = load(source);
            assert_eq!(found.len(), 1, "{diagnostics:#?}");
            Arc::new(found.remove(0))
        })
        .collect();
    let machine = AbstractMachine::new(Arc::new(program.clone()));
    let names: Vec<String> = (0..VARIABLES as u8).map(variable_name).collect();
    let variables: Vec<&str> = names.iter().map(String::as_str).collect();
    let follow = |recorded: Recorded| {
        assert!(recorded.is_whole(), "{source}");
        run(recorded, &properties, plan).unwrap()
    };
    let abstract_run = Recorded::record(
        &mut machine.clone(),
        &FUNCTIONS,
        &variables,
        INSTRUCTIONS_MAX,
    );
    let built = Built::new(program);
    let mut live = Live::start(&built);
    let live_run = Recorded::record(&mut live, &FUNCTIONS, &variables, INSTRUCTIONS_MAX * 4);
    let seen = run(machine, &properties, plan).unwrap();
    let expected = seen.without_checkpoint("abstract");
    let ways = [
        ("recorded", follow(abstract_run.unwrap())),
        ("live", run(Live::start(&built), &properties, plan).unwrap()),
        ("live, recorded", follow(live_run.unwrap())),
        ("shipped", shipped::run(&built, plan)),
    ];
    for (name, seen) in ways {
        assert_eq!(
            seen.without_checkpoint(name),
            expected,
            "{name}: {plan:?}\n{source}"
        );
    }
    expected
}

/// Without points, with some, and with one where an event is, too.
const PLANS: [Plan; 3] = [
    Plan {
        breakpoints: &[],
        watchpoints: &[],
    },
    Plan {
        breakpoints: &["f"],
        watchpoints: &["v1"],
    },
    Plan {
        breakpoints: &["g", "f"],
        watchpoints: &["v0"],
    },
];

#[test]
fn one_program_in_all_ways() {
    for (name, source) in PROGRAMS {
        for plan in &PLANS {
            let seen = check(source, plan);
            assert!(seen.heard.len() > 3, "{name}: {seen:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 24,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn random_programs_in_all_ways(source in random::program(), plan in 0..PLANS.len()) {
        check(&source, &PLANS[plan]);
    }
}
