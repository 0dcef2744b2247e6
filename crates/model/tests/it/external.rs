//! Processes in Rust do in a model what the same ones in PROMELA do.

use crate::support::read;
use juror_model::promela::{
    Action, Channel, External, Externals, Model, Names, Offer, Reading, Text, Unknown, Variable,
    World,
};
use juror_model::{Chart, Finding, Options, Report, Search, Verdict, search};

/// A server: it takes a request, counts it, and answers with twice the value.
#[derive(Debug)]
struct Server {
    requests: Channel,
    answers: Channel,
    served: Variable,
    /// It forgets to count.
    forgets: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Stage {
    Idle,
    Asked(i32),
    Counted(i32),
}

impl Server {
    fn new(names: &Names<'_>, forgets: bool) -> Result<Server, Unknown> {
        Ok(Server {
            requests: names.channel("requests")?,
            answers: names.channel("answers[0]")?,
            served: names.variable("served")?,
            forgets,
        })
    }
}

impl External for Server {
    type State = Stage;

    fn begin(&self, _arguments: &[i32]) -> Stage {
        Stage::Idle
    }

    fn offers(&self, state: &Stage, world: &World<'_>) -> Vec<Offer<Stage>> {
        let (text, action) = match *state {
            Stage::Idle => (
                "requests?value",
                Action::Receive {
                    channel: self.requests,
                },
            ),
            Stage::Asked(value) => {
                let count = world.value(self.served) + i32::from(!self.forgets);
                let action = Action::Write {
                    values: vec![(self.served, count)],
                    next: Stage::Counted(value),
                };
                ("served++", action)
            }
            Stage::Counted(value) => {
                let action = Action::Send {
                    channel: self.answers,
                    message: vec![2 * value],
                    next: Stage::Idle,
                };
                ("answers[0]!2 * value", action)
            }
        };
        let text = text.to_owned();
        vec![Offer { text, action }]
    }

    fn received(&self, _state: &Stage, channel: Channel, message: &[i32]) -> Option<Stage> {
        assert_eq!(channel, self.requests);
        match message {
            [value] => Some(Stage::Asked(*value)),
            _ => None,
        }
    }
}

fn text(capacity: u32, server: &str) -> String {
    format!(
        "chan requests = [{capacity}] of {{ byte }};
         chan answers[1] = [{capacity}] of {{ byte }};
         byte served, asked;
         proctype client(byte value) {{
             byte answer;
             asked++;
             requests!value;
             answers[0]?answer;
             assert(answer % 2 == 0 && served > 0);
         }}
         ltl counted {{ [] (served <= asked) }}
         ltl answered {{ <> (served == 2) }}
         {server}
         init {{ atomic {{ run server(); run client(1); run client(2) }} }}"
    )
}

fn outside(text: &str, forgets: bool) -> Model {
    let externals = Externals::new().with("server", move |names| Server::new(names, forgets));
    let source = Text {
        name: "model.pml".to_owned(),
        text: text.to_owned(),
    };
    let none = &mut |name: &str| Err(format!("there is no {name}"));
    Model::read_with(source, &Reading::default(), &externals, none)
        .unwrap_or_else(|refused| panic!("{:?}", refused.faults))
}

fn run(model: &Model, kind: Search) -> Report {
    search(model, kind, &Options::default(), &mut |_, _| true)
}

/// Where the value is held makes no difference between the two.
const SAME: &str = "
    proctype server() {
        byte value;
    end:
        do
        :: requests?value -> served++; answers[0]!2 * value; value = 0
        od
    }";

#[test]
fn a_process_in_rust_is_as_the_one_in_promela() {
    for capacity in [0, 1, 2] {
        let inside = read(&text(capacity, SAME), &[], Vec::new());
        let plain = run(&inside, Search::Breadth);
        assert_eq!(plain.verdict(), Verdict::Holds);
        let model = outside(&text(capacity, "extern proctype server()"), false);
        let counts = run(&model, Search::Breadth);
        assert_eq!(counts.verdict(), Verdict::Holds, "{:?}", counts.finding);
        // It forgets the value with the answer, and so needs no state for that.
        assert!(counts.states < plain.states, "{capacity}");
        for kind in [Search::Depth, Search::Parallel(2), Search::Compact] {
            let report = run(&model, kind);
            assert_eq!(report.states, counts.states, "{kind:?} {capacity}");
            assert_eq!(report.transitions, counts.transitions, "{kind:?}");
        }
    }
}

#[test]
fn what_a_process_in_rust_does_wrong_is_shown() {
    let model = outside(&text(0, "extern proctype server()"), true);
    let report = run(&model, Search::Breadth);
    let (finding, trail) = report.finding.expect("the assertion fails");
    assert!(matches!(finding, Finding::Fault(fault) if fault.code == "assertion"));
    let shown = Chart::of(&model, &trail).text();
    assert!(shown.contains("requests!value → requests?value"), "{shown}");
    assert!(shown.contains("answers[0]!2 * value → "), "{shown}");
    assert!(shown.contains("server(1) = Asked(2)"), "{shown}");
}

#[test]
fn a_process_that_nobody_gives_is_refused() {
    let refused = |text: &str, externals: &Externals| {
        let source = Text {
            name: "model.pml".to_owned(),
            text: text.to_owned(),
        };
        let none = &mut |name: &str| Err(format!("there is no {name}"));
        let read = Model::read_with(source, &Reading::default(), externals, none);
        read.expect_err("it is no model").faults
    };
    let none = Externals::new();
    let faults = refused("extern proctype server() init { run server() }", &none);
    assert_eq!(faults[0].code, "external");
    assert!(faults[0].span.is_some() && faults[0].help.is_some());
    let given = Externals::new().with("server", |names| Server::new(names, false));
    let faults = refused("extern proctype server() init { run server() }", &given);
    assert_eq!(faults[0].message, "the model has no channel `requests`");
}
