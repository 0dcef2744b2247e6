//! One program, three ways: the abstract machine, a recorded run of it, and a
//! live process that was compiled from it; and the session that ships, over that
//! process. The rules, the properties and what the developer and the scenario do
//! are the same; so must be what the monitors hear, the verdicts, where the program
//! stops, what the scenario does, and the values at the end. And these must be the
//! values of the bare program, and what monitors say that are given its whole trace.

mod assembler;
mod built;
mod live;
mod offline;
mod plan;
mod played;
mod programs;
mod random;
mod shipped;

use built::Built;
use juror_language::{Property, load};
use juror_oracle::abstract_machine::{AbstractMachine, VARIABLES, variable_name};
use juror_oracle::machine::Transition;
use juror_oracle::recorded::Recorded;
use juror_oracle::{Debuggee, Fault};
use live::Live;
use plan::{Act, Plan, Second};
use played::run;
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

/// A transition of a monitor, in words.
#[derive(Debug, Clone, PartialEq)]
struct Heard {
    property: String,
    event: String,
    from: String,
    to: String,
    verdict: juror_event::Verdict,
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

    /// What each property has heard, one property after the other. At one access, the
    /// session asks the properties in the order in which it has come to watch for them,
    /// the rules in that of the properties; none sees another.
    fn by_property(mut self) -> Seen {
        sort(&mut self.heard);
        if let Some(again) = &mut self.again {
            sort(again);
        }
        self
    }
}

fn sort(heard: &mut [Heard]) {
    heard.sort_by(|one, other| one.property.cmp(&other.property));
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

fn values<D: Debuggee>(debuggee: &D) -> Result<Vec<i64>, Fault> {
    let names = (0..VARIABLES as u8).map(variable_name);
    names
        .map(|name| {
            let address = debuggee.address_of(&name);
            debuggee.read(address.ok_or(Fault::NoSymbol(name))?)
        })
        .collect()
}

/// The properties of a text.
fn loaded(sources: &[String]) -> Vec<Arc<Property>> {
    let all = sources.iter().map(|source| {
        let (mut found, diagnostics) = load(source);
        assert_eq!(found.len(), 1, "{source}\n{diagnostics:#?}");
        Arc::new(found.remove(0))
    });
    all.collect()
}

fn fixed_properties() -> Vec<String> {
    PROPERTIES.map(str::to_owned).to_vec()
}

/// Plays a program in all ways; what was seen by the abstract machine.
#[track_caller]
fn check(source: &str, sources: &[String], plan: &Plan) -> Seen {
    let program = &programs::read(source);
    let properties = loaded(sources);
    let machine = AbstractMachine::new(Arc::new(program.clone()));
    let names: Vec<String> = (0..VARIABLES as u8).map(variable_name).collect();
    let variables: Vec<&str> = names.iter().map(String::as_str).collect();
    let case = || format!("{plan:?}\n{source}\n{}", sources.join("\n"));
    let follow = |recorded: Recorded| {
        assert!(recorded.is_whole(), "{}", case());
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
    let mut bare = offline::run(machine.clone(), &properties).unwrap();
    let restores = plan.acts.iter().any(|act| matches!(act, Act::Restore(_)));
    let compared = |mut seen: Seen| {
        // Where the developer stops, the session has reacted, and the rules are about
        // to: what is kept there reacts once more, or does not.
        seen.reactions *= usize::from(!restores);
        if sources == fixed_properties() {
            // These are such that the order is the same.
            seen
        } else {
            seen.by_property()
        }
    };
    if sources != fixed_properties() {
        sort(&mut bare.heard);
    }
    let seen = compared(run(machine, &properties, plan).unwrap());
    let expected = seen.without_checkpoint("abstract");
    let ways = [
        ("recorded", follow(abstract_run.unwrap())),
        ("live", run(Live::start(&built), &properties, plan).unwrap()),
        ("live, recorded", follow(live_run.unwrap())),
        ("shipped", shipped::run(&built, sources, plan)),
    ];
    for (name, seen) in ways {
        assert_eq!(
            compared(seen).without_checkpoint(name),
            expected,
            "{name}: {}",
            case()
        );
    }
    // Whatever is done while it runs: the values of the bare program, and what the
    // monitors say of its whole trace.
    assert_eq!(expected.values, bare.values, "{}", case());
    assert_eq!(expected.heard, bare.heard, "{}", case());
    assert_eq!(expected.verdicts, bare.verdicts, "{}", case());
    expected
}

/// Without points, with some, and with one where an event is, too.
fn plans() -> [Plan; 3] {
    [
        Plan::of(&[]),
        Plan::of(&["f", "v1"]),
        Plan::of(&["g", "f", "v0"]),
    ]
}

#[test]
fn one_program_in_all_ways() {
    for (name, source) in PROGRAMS {
        for plan in &plans() {
            let seen = check(source, &fixed_properties(), plan);
            assert!(seen.heard.len() > 3, "{name}: {seen:?}");
        }
    }
}

/// Points come and go, and checkpoints are gone back to, at the stops of a run.
#[test]
fn one_program_with_points_that_come_and_go_in_all_ways() {
    let plan = Plan {
        acts: vec![
            Act::Checkpoint,
            Act::Set("v0"),
            Act::Remove("f"),
            Act::Set("g"),
            Act::Checkpoint,
            Act::Restore(0),
            Act::Set("f"),
            Act::Remove("g"),
            Act::Restore(1),
        ],
        second: Second {
            set: Some(1),
            removed: None,
        },
        ..Plan::of(&["f", "v1"])
    };
    for (_, source) in PROGRAMS {
        let seen = check(source, &fixed_properties(), &plan);
        assert!(seen.stops > 3, "{seen:?}");
    }
}

fn config() -> ProptestConfig {
    ProptestConfig {
        failure_persistence: None,
        ..juror_testing::with_cases(24)
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn random_programs_in_all_ways(source in random::program(), plan in plan::plan()) {
        check(&source, &fixed_properties(), &plan);
    }

    #[test]
    fn random_properties_in_all_ways(
        source in random::program(),
        properties in random::properties(),
        plan in plan::plan(),
    ) {
        check(&source, &properties, &plan);
    }
}
