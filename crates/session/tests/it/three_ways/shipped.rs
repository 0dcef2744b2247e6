//! The session that ships, on the same program: the properties from a file, the
//! points and the scenario by its own words, everything else by commands.

use super::built::Built;
use super::plan::{Act, Plan, Second, is_variable};
use super::{Heard, STEPS, Seen};
use juror_event::Verdict;
use juror_monitoring::property_files::PropertySource;
use juror_oracle::abstract_machine::{VARIABLES, variable_name};
use juror_session::{Options, Session};
use juror_view::observer::Observer;
use juror_view::{Outcome, ProcessEnd, ScenarioLine, StateChange, StopReason};
use std::collections::BTreeMap;

/// The same as `super::Keeper`, whose points react without a stop.
fn scenario(plan: Second) -> String {
    let at = |number: Option<usize>, what: &str| {
        number.map_or_else(String::new, |it| format!("if reached == {it} {{ {what} }}"))
    };
    let second = "second = break f { reached += 1 print \"reached\" }";
    let set = at(plan.set, second);
    let removed = at(plan.removed, "remove second");
    let removed_there = removed.as_str();
    let set = set.replace(
        "print \"reached\"",
        &format!("print \"reached\" {removed_there}"),
    );
    format!(
        "
scenario keeper
var entered = 0
var reached = 0
var second = 0
var last = 0
on start {{
    break g {{ reached += 1 print \"reached\" {set} {removed} }}
    awatch v0 {{ print \"v0\" }}
}}
on enter accepting, non-accepting {{
    entered += 1
    if entered == 3 {{ last = checkpoint }}
    if entered == 3 {{ print \"kept {{last}}\" }}
}}"
    )
}

/// The number of the breakpoint at the end.
const END: u32 = 1;

/// What the session tells while it runs.
#[derive(Default)]
struct Listener {
    heard: Vec<Heard>,
    /// The scenario's checkpoint, and what had been heard there.
    kept: Option<(String, Vec<Heard>)>,
    /// How often the scenario's breakpoints were reached.
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
        match line.text.strip_prefix("kept ") {
            Some(number) => self.kept = Some((number.to_owned(), self.heard.clone())),
            None => self.reactions += usize::from(line.text == "reached"),
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
    symbols: BTreeMap<String, u64>,
    /// The numbers of the developer's points.
    own: BTreeMap<&'static str, String>,
    /// The developer's checkpoints, and what had been heard there.
    kept: Vec<(u32, Vec<Heard>)>,
}

impl Shipped {
    #[track_caller]
    fn command(&mut self, line: &str) -> Outcome {
        let outcome = self.session.execute(line, &mut self.listener);
        outcome.unwrap_or_else(|error| panic!("{line}: {error:?}"))
    }

    fn set(&mut self, name: &'static str) {
        if self.own.contains_key(name) {
            return;
        }
        let outcome = if is_variable(name) {
            self.command(&format!("watch {name}"))
        } else {
            self.command(&format!("break *{:#x}", self.symbols[name]))
        };
        let Outcome::PointSet(set) = outcome else {
            panic!("{outcome:?}");
        };
        let number = set.point.number.expect("a point of the user has a number");
        self.own.insert(name, number.to_string());
    }

    fn act(&mut self, act: Act) {
        match act {
            Act::Nothing => {}
            Act::Set(name) => self.set(name),
            Act::Remove(name) => {
                if let Some(number) = self.own.remove(name) {
                    self.command(&format!("delete {number}"));
                }
            }
            Act::Checkpoint => match self.command("checkpoint") {
                Outcome::Checkpoint(made) => {
                    self.kept.push((made.number, self.listener.heard.clone()));
                }
                other => panic!("{other:?}"),
            },
            Act::Restore(_) if self.kept.is_empty() => {}
            Act::Restore(which) => {
                let (number, heard) = self.kept[usize::from(which) % self.kept.len()].clone();
                self.listener.heard = heard;
                self.command(&format!("restore {number}"));
            }
        }
    }

    /// The developer steps at first, does what is planned at each stop, and goes on,
    /// to where the program would end. How often the developer's points stopped it; a
    /// violation, which stops it too, is none of them.
    fn finish(&mut self, acts: &[Act]) -> usize {
        for _ in 0..STEPS {
            let outcome = self.command("stepi");
            if self.is_at_end(&outcome) {
                return 0;
            }
        }
        let mut stops = 0;
        loop {
            let outcome = self.command("continue");
            let Outcome::Stopped(stop) = &outcome else {
                panic!("{outcome:?}");
            };
            let is_watchpoint = match &stop.reason {
                StopReason::Breakpoint { numbers, .. } if numbers.contains(&END) => return stops,
                StopReason::Breakpoint { .. } => false,
                StopReason::Watchpoint { .. } => true,
                // One stop for both, of which the violation is told.
                StopReason::Violation { .. } if self.is_at_end(&outcome) => return stops,
                StopReason::Violation { .. } => continue,
                _ => panic!("{stop:?}"),
            };
            let act = acts.get(stops).copied().unwrap_or(Act::Nothing);
            stops += 1;
            self.act(act.at(is_watchpoint));
        }
    }

    /// Whether the program stands where it would end, whatever the reason is.
    fn is_at_end(&self, outcome: &Outcome) -> bool {
        match outcome {
            Outcome::Stopped(stop) => stop.location.address == self.symbols["stop"],
            _ => false,
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
pub fn run(built: &Built, properties: &[String], plan: &Plan) -> Seen {
    let source = [properties.join("\n"), scenario(plan.second)].concat();
    let options = Options {
        program: built.path.clone(),
        stdin: Some("/dev/null".into()),
        properties: vec![PropertySource::new("all.prop", &source)],
        ..Options::default()
    };
    let mut listener = Listener::default();
    let session = Session::start(options, &mut listener).unwrap();
    let mut shipped = Shipped {
        session,
        listener,
        symbols: built.symbols.clone(),
        own: BTreeMap::new(),
        kept: Vec::new(),
    };
    shipped.command(&format!("break *{:#x}", built.symbols["stop"]));
    let (variables, functions): (Vec<_>, Vec<_>) =
        plan.points.iter().partition(|name| is_variable(name));
    for name in functions {
        shipped.set(name);
    }
    let main = built.symbols["main"];
    shipped.command(&format!("tbreak *{main:#x}"));
    shipped.command("run");
    for name in variables {
        shipped.set(name);
    }
    let stops = shipped.finish(&plan.acts);
    let values = shipped.values();
    let verdicts = shipped.end();
    let heard = shipped.listener.heard.clone();
    let reactions = shipped.listener.reactions;
    let entered = heard.iter().filter(|it| it.from != it.to).count();
    assert!(shipped.listener.kept.is_some() || entered < 3, "{heard:?}");
    let again = shipped.listener.kept.clone().map(|(number, before)| {
        if plan.second.removed.is_some() {
            // It has been removed already.
            shipped.command("scenario disable keeper");
        }
        let back = shipped.command(&format!("restore {number}"));
        shipped.listener.heard = before;
        if let Some(first) = plan.points.first() {
            shipped.act(Act::Remove(first));
        }
        // What was kept may be the last event of all.
        if !shipped.is_at_end(&back) {
            shipped.finish(&[]);
        }
        assert_eq!(shipped.values(), values);
        assert_eq!(shipped.end(), verdicts);
        shipped.listener.heard.clone()
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
