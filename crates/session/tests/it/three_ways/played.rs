//! A program under the rules, with a developer and a scenario who do what is planned.

use super::plan::{Act, Plan, Second, is_variable};
use super::{RULES_MAX, STEPS, Seen, in_words, values};
use juror_language::Property;
use juror_oracle::machine::{
    Command, EventNotification, Mode, Monitors, Output, Owner, Place, Point, Reply, Scenario,
    Transition, Verified, Watched,
};
use juror_oracle::{Debuggee, Fault};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

/// What the scenario has heard and done. The developer's restores take back what was
/// heard, as they take back what has happened.
#[derive(Default)]
struct Log {
    heard: Vec<Transition>,
    /// The checkpoint of the scenario, and what had been heard there.
    kept: Option<(usize, Vec<Transition>)>,
    /// How often its breakpoints were reached.
    reactions: usize,
}

/// Takes a checkpoint at its third event, and writes down what it hears.
struct Keeper {
    log: Rc<RefCell<Log>>,
    /// The breakpoint that it sets and removes.
    second: Point,
    plan: Second,
}

impl Scenario for Keeper {
    fn on_verdict(&mut self, notification: &EventNotification<'_>) -> Command {
        let mut log = self.log.borrow_mut();
        log.heard.extend(notification.transitions);
        if log.heard.len() >= 3 && log.kept.is_none() {
            Command::Checkpoint
        } else {
            Command::Nothing
        }
    }

    fn on_point(&mut self, point: Point) -> Command {
        if !matches!(point.place, Place::Instruction(_)) {
            return Command::GetProgramCounter;
        }
        let mut log = self.log.borrow_mut();
        log.reactions += 1;
        match Some(log.reactions) {
            now if now == self.plan.set => Command::SetPoint(self.second),
            now if now == self.plan.removed => Command::RemovePoint(self.second),
            _ => Command::GetProgramCounter,
        }
    }

    fn on_reply(&mut self, reply: Reply) -> Command {
        if let Reply::Checkpoint(number) = reply {
            let mut log = self.log.borrow_mut();
            log.kept = Some((number, log.heard.clone()));
        }
        Command::Nothing
    }
}

/// A program under the rules, in the hands of a developer with a plan.
struct Played<D: Debuggee> {
    verified: Verified<D, Keeper>,
    log: Rc<RefCell<Log>>,
    /// The developer's points.
    own: BTreeMap<&'static str, Point>,
    /// The developer's checkpoints, and what had been heard there.
    kept: Vec<(usize, Vec<Transition>)>,
}

impl<D: Debuggee> Played<D> {
    fn start(debuggee: D, properties: &[Arc<Property>], plan: &Plan) -> Result<Played<D>, Fault> {
        let log = Rc::default();
        let address = |name: &str| {
            let address = debuggee.address_of(name);
            address.ok_or_else(|| Fault::NoSymbol(name.to_owned()))
        };
        let second = Point::breakpoint(Owner::Scenario, address("f")?);
        let scenario = [
            Point::breakpoint(Owner::Scenario, address("g")?),
            Point::watchpoint(Owner::Scenario, address("v0")?, Watched::Access),
        ];
        let keeper = Keeper {
            log: Rc::clone(&log),
            second,
            plan: plan.second,
        };
        let verified = Verified::init(debuggee, Monitors::new(properties)?, keeper)?;
        let mut played = Played {
            verified,
            log,
            own: BTreeMap::new(),
            kept: Vec::new(),
        };
        for point in scenario {
            played.verified.command(&Command::SetPoint(point))?;
        }
        for name in &plan.points {
            played.set(name)?;
        }
        Ok(played)
    }

    fn set(&mut self, name: &'static str) -> Result<(), Fault> {
        let address = self.verified.debugged().debuggee().address_of(name);
        let address = address.ok_or_else(|| Fault::NoSymbol(name.to_owned()))?;
        let point = if is_variable(name) {
            Point::watchpoint(Owner::Developer, address, Watched::Write)
        } else {
            Point::breakpoint(Owner::Developer, address)
        };
        self.own.insert(name, point);
        self.verified.command(&Command::SetPoint(point)).map(drop)
    }

    fn act(&mut self, act: Act) -> Result<(), Fault> {
        match act {
            Act::Nothing => {}
            Act::Set(name) => self.set(name)?,
            Act::Remove(name) => {
                if let Some(point) = self.own.remove(name) {
                    self.verified.command(&Command::RemovePoint(point))?;
                }
            }
            Act::Checkpoint => {
                if let Reply::Checkpoint(number) = self.verified.command(&Command::Checkpoint)? {
                    let heard = self.log.borrow().heard.clone();
                    self.kept.push((number, heard));
                }
            }
            Act::Restore(_) if self.kept.is_empty() => {}
            Act::Restore(which) => {
                let (number, heard) = &self.kept[usize::from(which) % self.kept.len()];
                self.log.borrow_mut().heard.clone_from(heard);
                self.verified.command(&Command::Restore(*number))?;
            }
        }
        Ok(())
    }

    /// Runs to the end; the developer steps at first, then does what is planned at
    /// each stop, and goes on. How many stops there were.
    fn finish(&mut self, acts: &[Act]) -> Result<usize, Fault> {
        let mut stops = 0;
        for _ in 0..STEPS {
            self.verified.command(&Command::Step)?;
        }
        self.verified.command(&Command::Continue)?;
        for _ in 0..RULES_MAX {
            let output = match self.verified.debugged().mode() {
                Mode::Passive => self.verified.execute()?,
                Mode::Interactive if self.verified.has_ended() => return Ok(stops),
                Mode::Interactive => return Err(Fault::Mode("stands")),
            };
            if let Output::Stopped(point) = output {
                let act = acts.get(stops).copied().unwrap_or(Act::Nothing);
                stops += 1;
                self.act(act.at(matches!(point.place, Place::Value(..))))?;
                self.verified.command(&Command::Continue)?;
            }
        }
        Err(Fault::Endless(RULES_MAX))
    }
}

/// Plays the plan by the rules.
pub fn run<D: Debuggee>(
    debuggee: D,
    properties: &[Arc<Property>],
    plan: &Plan,
) -> Result<Seen, Fault> {
    let mut played = Played::start(debuggee, properties, plan)?;
    let stops = played.finish(&plan.acts)?;
    let heard = played.log.borrow().heard.clone();
    let reactions = played.log.borrow().reactions;
    let verdicts = played.verified.monitors().verdicts();
    let values = values(played.verified.debugged().debuggee())?;
    let mut again = None;
    let kept = played.log.borrow().kept.clone();
    if let Some((number, before)) = kept {
        played.verified.command(&Command::Restore(number))?;
        played.log.borrow_mut().heard = before;
        // One of the points is gone meanwhile.
        if let Some(first) = plan.points.first() {
            played.act(Act::Remove(first))?;
        }
        played.finish(&[])?;
        again = Some(played.log.borrow().heard.clone());
        assert_eq!(played.verified.monitors().verdicts(), verdicts);
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
