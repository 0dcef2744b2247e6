//! The breakpoint engine that is shipped, in the place of the one that the model
//! of breakpoints has.
//!
//! The model's processor tells of a trap and waits; between the two the shell does
//! here what the one of the debugger does: it tells the engine, and carries out
//! what that orders, one order a step. The property is the model's own: a thread
//! that is outside has been reported as often as it has executed the instruction.

use juror_model::promela::{
    Action, Channel, External, Externals, Model, Names, Offer, Reading, Text, Unknown, Variable,
    World,
};
use juror_model::{Chart, Finding, Options, Report, Search, Verdict, search};
use juror_stepping::{
    Engine, FollowSet, Input, Operation, Owner, Rule, StepBy, StepOver, ThreadId,
};
use std::collections::VecDeque;

/// Where the instruction with the breakpoint is, and what can follow it; the
/// places of the model, as addresses.
const AT: u64 = 0x1000;
const AFTER: u64 = 0x2000;

/// The shell of the engine.
#[derive(Debug)]
struct Shell {
    threads: u32,
    rule: Option<Rule>,
    trapped: Channel,
    release: Channel,
    report: Channel,
    held: Variable,
    trap: [Variable; 2],
    counter: Vec<Variable>,
}

/// What the shell and the engine know.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct State {
    engine: Engine,
    /// What is still to be carried out.
    orders: VecDeque<Operation>,
    /// What the engine is to be told when that is done.
    inputs: VecDeque<Input>,
    /// The processor waits to go on.
    owes_release: bool,
}

fn thread_of(process: i32) -> ThreadId {
    ThreadId(process as u32 + 1)
}

fn process_of(thread: ThreadId) -> i32 {
    thread.0 as i32 - 1
}

fn address_of(place: i32) -> u64 {
    0x1000 * (place as u64 + 1)
}

impl State {
    fn tell(&mut self, input: Input) {
        let mut operations = Vec::new();
        self.engine.handle(input, &mut operations);
        self.orders.extend(operations);
    }

    /// Tells the engine what it is to be told, as soon as nothing is left to do.
    fn settle(&mut self) {
        while self.orders.is_empty()
            && let Some(input) = self.inputs.pop_front()
        {
            self.tell(input);
        }
    }
}

impl Shell {
    fn new(names: &Names<'_>, threads: u32, rule: Option<Rule>) -> Result<Shell, Unknown> {
        let counters = (0..threads).map(|thread| names.variable(&format!("counter[{thread}]")));
        Ok(Shell {
            threads,
            rule,
            trapped: names.channel("trapped")?,
            release: names.channel("release")?,
            report: names.channel("report")?,
            held: names.variable("held")?,
            trap: [names.variable("trap[0]")?, names.variable("trap[1]")?],
            counter: counters.collect::<Result<_, Unknown>>()?,
        })
    }

    /// What an order does to the model, and what it makes of the shell.
    fn carry_out(&self, state: &State, world: &World<'_>) -> Option<Offer<State>> {
        let mut next = state.clone();
        let order = next.orders.pop_front()?;
        let place = |address: u64| match address {
            AT => Some(self.trap[0]),
            AFTER => Some(self.trap[1]),
            _ => None,
        };
        let values = match order {
            Operation::InsertTrap { address } => vec![(place(address)?, 1)],
            Operation::RemoveTrap { address } => vec![(place(address)?, 0)],
            Operation::SetCounter { thread, address } => {
                let counter = *self.counter.get(process_of(thread) as usize)?;
                vec![(counter, (address / 0x1000) as i32 - 1)]
            }
            // There is one processor, and it executes nothing while the shell
            // works: who is to be held stands already.
            Operation::HoldThread { thread } => {
                let counter = *self.counter.get(process_of(thread) as usize)?;
                let address = address_of(world.value(counter));
                next.inputs.push_back(Input::Stopped { thread, address });
                vec![(self.held, world.value(self.held) + 1)]
            }
            Operation::ContinueThread { .. } => {
                // The last one who is let go is not held any more; the first is the
                // one who passes, and was not.
                vec![(self.held, self.moving_held(&next))]
            }
            Operation::FindFollowSet { thread, address } => {
                let follow = (address == AT).then(|| FollowSet::one(AFTER));
                next.inputs.push_back(Input::FollowSet {
                    thread,
                    address,
                    follow,
                });
                Vec::new()
            }
            Operation::RunToFollowSet { .. } => Vec::new(),
            Operation::Report { thread, .. } => {
                next.inputs.push_back(Input::Resume { thread });
                next.settle();
                return Some(Offer {
                    text: format!("report!{}", process_of(thread)),
                    action: Action::Send {
                        channel: self.report,
                        message: vec![process_of(thread)],
                        next,
                    },
                });
            }
            // The trap was lifted in the meantime: the thread tries again.
            Operation::Unexplained { thread, .. } => {
                next.inputs.push_back(Input::Resume { thread });
                Vec::new()
            }
            other => {
                return Some(Offer {
                    text: format!("{other:?}"),
                    action: Action::Fail(format!("the engine orders {other:?}")),
                });
            }
        };
        next.settle();
        Some(Offer {
            text: words(order),
            action: Action::Write { values, next },
        })
    }

    /// How many threads are held: those that the engine has stopped.
    fn moving_held(&self, state: &State) -> i32 {
        let threads = (1..=self.threads).map(ThreadId);
        threads
            .filter(|thread| !state.engine.is_running(*thread))
            .count() as i32
    }
}

fn words(order: Operation) -> String {
    let of = |thread: ThreadId| process_of(thread);
    let place = |address: u64| if address == AT { "AT" } else { "AFTER" };
    match order {
        Operation::InsertTrap { address } => format!("plants the trap at {}", place(address)),
        Operation::RemoveTrap { address } => format!("lifts the trap at {}", place(address)),
        Operation::SetCounter { thread, .. } => format!("sets thread {} back", of(thread)),
        Operation::HoldThread { thread } => format!("holds thread {}", of(thread)),
        Operation::ContinueThread { thread } => format!("lets thread {} go", of(thread)),
        Operation::FindFollowSet { .. } => "finds what can follow".to_owned(),
        Operation::RunToFollowSet { thread } => format!("lets thread {} make its step", of(thread)),
        Operation::Unexplained { thread, .. } => format!("cannot explain thread {}", of(thread)),
        other => format!("{other:?}"),
    }
}

impl External for Shell {
    type State = State;

    fn begin(&self, _arguments: &[i32]) -> State {
        let engine = Engine::stepping_by(StepBy::FollowSet);
        let mut state = State {
            engine: match self.rule {
                Some(rule) => engine.without(rule),
                None => engine,
            },
            orders: VecDeque::new(),
            inputs: VecDeque::new(),
            owes_release: false,
        };
        state.tell(Input::Insert {
            address: AT,
            owner: Owner::Developer,
            step_over: StepOver::InPlace,
        });
        for thread in (1..=self.threads).map(ThreadId) {
            state.tell(Input::Attached { thread });
        }
        // The model begins with the trap planted.
        state.orders.clear();
        state
    }

    fn offers(&self, state: &State, world: &World<'_>) -> Vec<Offer<State>> {
        if let Some(offer) = self.carry_out(state, world) {
            return vec![offer];
        }
        let (text, action) = if state.owes_release {
            let next = State {
                owes_release: false,
                ..state.clone()
            };
            let action = Action::Send {
                channel: self.release,
                message: vec![0],
                next,
            };
            ("release!nothing", action)
        } else {
            (
                "trapped?thread",
                Action::Receive {
                    channel: self.trapped,
                },
            )
        };
        let text = text.to_owned();
        vec![Offer { text, action }]
    }

    fn received(&self, state: &State, channel: Channel, message: &[i32]) -> Option<State> {
        let &[process] = message else { return None };
        if channel != self.trapped {
            return None;
        }
        let mut next = state.clone();
        // One of the two places has the trap; which one, the engine knows.
        let address = if next.engine.expects_trap(AFTER) {
            AFTER
        } else {
            AT
        };
        next.tell(Input::Trapped {
            thread: thread_of(process),
            address,
            stack: 0,
        });
        next.settle();
        next.owes_release = true;
        Some(next)
    }

    fn shown(&self, state: &State) -> String {
        let threads = (1..=self.threads).map(ThreadId);
        let states = threads.map(|thread| match state.engine.thread_state(thread) {
            Some(state) => format!("{state:?}"),
            None => "unknown".to_owned(),
        });
        states.collect::<Vec<_>>().join(", ")
    }
}

fn model(threads: u32, rule: Option<Rule>) -> Model {
    let file = juror_testing::repository_directory().join("models/breakpoint.pml");
    let text = std::fs::read_to_string(&file).expect("the model is there");
    let reading = Reading {
        definitions: vec![
            ("SHIPPED".to_owned(), "1".to_owned()),
            ("THREADS".to_owned(), threads.to_string()),
        ],
        ..Reading::default()
    };
    let externals = Externals::new().with("engine", move |names| Shell::new(names, threads, rule));
    let source = Text {
        name: "breakpoint.pml".to_owned(),
        text,
    };
    let none = &mut |name: &str| Err(format!("there is no {name}"));
    Model::read_with(source, &reading, &externals, none)
        .unwrap_or_else(|refused| panic!("{:?}", refused.faults))
}

fn check(threads: u32, rule: Option<Rule>) -> (Model, Report) {
    let model = model(threads, rule);
    let report = search(&model, Search::Breadth, &Options::default(), &mut |_, _| {
        true
    });
    (model, report)
}

#[test]
fn the_shipped_engine_misses_no_breakpoint_of_the_model() {
    for (threads, states) in [(1, 389), (2, 65_347)] {
        let (model, report) = check(threads, None);
        let shown = report
            .finding
            .as_ref()
            .map(|(finding, trail)| format!("{finding:?}\n{}", Chart::of(&model, trail).text()));
        assert_eq!(
            report.verdict(),
            Verdict::Holds,
            "{threads}: {}",
            shown.unwrap_or_default()
        );
        assert_eq!(report.states, states, "{threads}");
    }
}

/// Only the rule of the paper shows where there is one processor and nothing
/// disturbs. The crate of the engine drops all rules in its own exploration.
#[test]
fn the_model_finds_that_the_others_are_not_held() {
    let (model, report) = check(2, Some(Rule::HoldOthers));
    let (finding, trail) = report.finding.expect("a breakpoint is missed");
    let shown = Chart::of(&model, &trail).text();
    let Finding::Fault(fault) = finding else {
        panic!("{finding:?}\n{shown}");
    };
    assert_eq!(fault.code, "assertion", "{shown}");
    assert!(shown.contains("lifts the trap at AT"), "{shown}");
}
