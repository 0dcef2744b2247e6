//! The session that ships, on the same program: the properties from a file, the
//! points and the scenario by its own words, everything else by commands.

use super::built::Built;
use super::{Heard, PROPERTIES, Plan, STEPS, Seen};
use juror_event::Verdict;
use juror_rules::abstract_machine::{VARIABLES, variable_name};
use juror_session::view::{Outcome, ProcessEnd, ScenarioLine, StateChange, StopReason};
use juror_session::{Observer, Options, PropertySource, Session};

/// The same as `super::Keeper`, whose points react without a stop.
const SCENARIO: &str = "
scenario keeper
var entered = 0
on start {
    break g { print \"at g\" }
    awatch v0 { print \"v0\" }
}
on enter accepting, non-accepting {
    entered += 1
    if entered == 3 { checkpoint }
    if entered == 3 { print \"kept\" }
}";

/// The number of the breakpoint at the end.
const END: u32 = 1;

/// What the session tells while it runs.
#[derive(Default)]
struct Listener {
    heard: Vec<Heard>,
    /// How much had been heard at the checkpoint.
    kept: Option<usize>,
    /// How often the scenario's breakpoint was reached.
    reactions: usize,
}

impl Observer for Listener {
    fn state_change(&mut self, change: &StateChange) {
        let step = &change.step;
        assert_eq!(step.repeated, 1);
        self.heard.push(Heard {
            property: change.property.clone(),
            event: step.event.clone(),
            from: step.from.clone(),
            to: step.to.clone(),
            verdict: change.verdict,
        });
    }

    fn wants_state_changes(&self) -> bool {
        true
    }

    fn process_ended(&mut self, end: &ProcessEnd) {
        panic!("{end:?}");
    }

    fn notice(&mut self, _: &str) {}

    fn scenario_line(&mut self, line: &ScenarioLine) {
        match line.text.as_str() {
            "kept" => self.kept = Some(self.heard.len()),
            text => self.reactions += usize::from(text == "at g"),
        }
    }

    fn scenario_outcome(&mut self, _: &str, _: &str, _: &Outcome) {}

    fn scenario_error(&mut self, reason: &StopReason) {
        panic!("{reason:?}");
    }

    fn progress(&mut self, _: &str, _: u64, _: u64) {}
}

struct Shipped {
    session: Session,
    listener: Listener,
}

impl Shipped {
    #[track_caller]
    fn command(&mut self, line: &str) -> Outcome {
        let outcome = self.session.execute(line, &mut self.listener);
        outcome.unwrap_or_else(|error| panic!("{line}: {error:?}"))
    }

    /// The developer steps at first, and goes on at each stop, to where the
    /// program would end. How often the developer's points stopped it; a
    /// violation, which stops it too, is none of them.
    fn finish(&mut self) -> usize {
        for _ in 0..STEPS {
            self.command("stepi");
        }
        let mut stops = 0;
        loop {
            let outcome = self.command("continue");
            let Outcome::Stopped(stop) = &outcome else {
                panic!("{outcome:?}");
            };
            match &stop.reason {
                StopReason::Breakpoint { numbers, .. } if numbers.contains(&END) => return stops,
                StopReason::Breakpoint { .. } | StopReason::Watchpoint { .. } => stops += 1,
                StopReason::Violation { .. } => {}
                _ => panic!("{stop:?}"),
            }
        }
    }

    /// Lets the program end.
    fn end(&mut self) -> Vec<Verdict> {
        match self.command("continue") {
            Outcome::Ended(end) => end.summaries.iter().map(|it| it.verdict).collect(),
            other => panic!("{other:?}"),
        }
    }

    fn values(&mut self) -> Vec<i64> {
        let names = (0..VARIABLES as u8).map(variable_name);
        names
            .map(|name| match self.command(&format!("print {name}")) {
                Outcome::Value(value) => value.value.parse().unwrap(),
                other => panic!("{other:?}"),
            })
            .collect()
    }
}

/// Plays the plan with the session that ships.
pub fn run(built: &Built, plan: &Plan) -> Seen {
    let source = [&PROPERTIES.join("\n"), SCENARIO].concat();
    let options = Options {
        program: built.path.clone(),
        stdin: Some("/dev/null".into()),
        properties: vec![PropertySource::new("all.prop", &source)],
        ..Options::default()
    };
    let mut listener = Listener::default();
    let session = Session::start(options, &mut listener).unwrap();
    let mut shipped = Shipped { session, listener };
    shipped.command(&format!("break *{:#x}", built.symbols["stop"]));
    let mut first = None;
    for (number, symbol) in (END + 1..).zip(plan.breakpoints) {
        shipped.command(&format!("break *{:#x}", built.symbols[*symbol]));
        first.get_or_insert(number);
    }
    let main = built.symbols["main"];
    shipped.command(&format!("tbreak *{main:#x}"));
    shipped.command("run");
    for symbol in plan.watchpoints {
        shipped.command(&format!("watch {symbol}"));
    }
    let stops = shipped.finish();
    let values = shipped.values();
    let verdicts = shipped.end();
    let heard = shipped.listener.heard.clone();
    let reactions = shipped.listener.reactions;
    let entered = heard.iter().filter(|it| it.from != it.to).count();
    assert_eq!(shipped.listener.kept.is_some(), entered >= 3, "{heard:?}");
    let again = shipped.listener.kept.map(|kept| {
        shipped.command("restore 1");
        if let Some(number) = first {
            shipped.command(&format!("delete {number}"));
        }
        shipped.finish();
        assert_eq!(shipped.values(), values);
        assert_eq!(shipped.end(), verdicts);
        let mut whole = heard[..kept].to_vec();
        whole.extend_from_slice(&shipped.listener.heard[heard.len()..]);
        whole
    });
    Seen {
        heard,
        again,
        verdicts,
        values,
        stops,
        reactions,
    }
}
