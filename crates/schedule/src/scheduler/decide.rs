//! The decision who goes on: what is on offer, what is usual, and what a choice does.

use super::Scheduler;
use super::futex::error;
use crate::choice::{Choice, ChoiceKind, Decision, Moment, Offer};
use crate::protocol::{Order, Standstill};
use crate::rule::Rule;
use crate::strategy::Verdict;
use crate::task::{State, Task};
use crate::terms::{Access, BUDGET, CLOCK, Footprint, PointKind, ThreadPath};
use alloc::vec::Vec;

impl Scheduler {
    /// Decides who goes on, if nobody has the baton.
    pub(super) fn decide(&mut self, orders: &mut Vec<Order>) {
        if self.baton.is_some() && !self.drops(Rule::OneBaton) {
            return;
        }
        let offers = self.offers();
        let hope = |offer: &Offer| {
            offer.choice.kind != ChoiceKind::Spurious || self.drops(Rule::SpuriousIsNoHope)
        };
        if !offers.iter().any(hope) {
            let reason = self.standstill();
            orders.push(Order::Stands { reason });
            return;
        }
        let decision = self.decision(&offers);
        let usual = decision.usual_choice();
        let (moment, usual_index) = (decision.moment, decision.usual);
        let index = match self.strategy.choose(&decision) {
            Verdict::Take(index) => index,
            Verdict::Ask => {
                self.is_asking = true;
                let reason = Standstill::Choice;
                orders.push(Order::Stands { reason });
                return;
            }
            Verdict::Known => {
                orders.push(Order::Known);
                usual_index
            }
            Verdict::Diverged => {
                orders.push(Order::Diverged { moment });
                usual_index
            }
        };
        if let Some(choice) = offers.get(index).map(|offer| offer.choice).or(usual) {
            self.take(choice, usual, orders);
        }
    }

    /// Returns what may happen next, if nobody has the baton: those who can go on by path, then
    /// signals, time-outs and spurious wake-ups.
    pub fn offers(&self) -> Vec<Offer> {
        let has_key = |task: &&Task| task.user_key || self.drops(Rule::TwoKeys);
        let offer = |kind: ChoiceKind, footprint: &dyn Fn(&Task) -> Footprint, task: &Task| {
            let point = task.state.point();
            Offer {
                choice: Choice {
                    kind,
                    thread: task.path,
                },
                footprint: footprint(task),
                site: point.map_or(0, |point| point.site),
                object: point.map_or(0, |point| point.object),
                code: task.code,
            }
        };
        let tasks = || self.tasks.iter().filter(has_key);
        let waits = |task: &&Task| matches!(task.state, State::Waits { is_pi: false, .. });
        let runs = tasks()
            .filter(|task| task.state.can_run() || waits(task) && self.drops(Rule::WaitersStand))
            .map(|task| offer(ChoiceKind::Run, &run_footprint, task));
        let signals = tasks()
            .filter(|task| task.can_be_signalled())
            .map(|task| offer(ChoiceKind::Deliver, &|_| Footprint::UNKNOWN, task));
        let mut offers: Vec<Offer> = runs.chain(signals).collect();
        if self.options.is_time_virtual && !(self.drops(Rule::TimeFirst) && offers.is_empty()) {
            let timed = tasks().filter(|task| task.state.deadline().is_some());
            offers.extend(timed.map(|task| offer(ChoiceKind::TimeOut, &time_out_footprint, task)));
        }
        if self.spurious_left != 0 {
            let waiting = tasks().filter(waits);
            offers
                .extend(waiting.map(|task| offer(ChoiceKind::Spurious, &spurious_footprint, task)));
        }
        offers
    }

    /// Returns the usual one of the offers.
    pub fn usual_choice(&self) -> Option<Choice> {
        self.decision(&self.offers()).usual_choice()
    }

    /// Returns the moment of the decision that is to be made.
    pub fn moment_now(&self) -> Moment {
        self.moment
    }

    fn decision<'a>(&self, offers: &'a [Offer]) -> Decision<'a> {
        let last = self.moment.thread;
        let yields = self.task(last).is_some_and(
            |task| matches!(&task.state, State::At(point) if point.kind == PointKind::Yield),
        );
        let mut decision = Decision {
            moment: self.moment,
            offers,
            usual: 0,
            yields,
            is_due: self.consecutive >= self.options.share,
        };
        decision.usual = self.usual_index(&decision);
        decision
    }

    /// Run on until blocked, until a yield, or until the share is used up; then the next thread
    /// by path. Signals are delivered to who goes on, and time passes if nobody can.
    fn usual_index(&self, decision: &Decision<'_>) -> usize {
        let last = decision.moment.thread;
        let passes = decision.yields && !self.drops(Rule::YieldPasses)
            || decision.is_due && !self.drops(Rule::ShareEnds);
        let index_of = |kind, thread| decision.index_of(Choice { kind, thread });
        let of_kind = |kind| {
            let of_kind = move |offer: &&Offer| offer.choice.kind == kind;
            decision.offers.iter().filter(of_kind)
        };
        let next = || {
            let threads = || of_kind(ChoiceKind::Run).map(|offer| offer.choice.thread);
            threads()
                .find(|thread| *thread > last)
                .or_else(|| threads().next())
        };
        let own = index_of(ChoiceKind::Run, last).map(|_| last);
        let picked = if passes { next() } else { own.or_else(next) };
        let signalled = picked.and_then(|thread| index_of(ChoiceKind::Deliver, thread));
        let run = picked.and_then(|thread| index_of(ChoiceKind::Run, thread));
        let first_signalled = || of_kind(ChoiceKind::Deliver).next();
        let deadline = |offer: &&Offer| {
            let task = self.task(offer.choice.thread);
            task.and_then(|task| task.state.deadline())
        };
        let earliest = || of_kind(ChoiceKind::TimeOut).min_by_key(deadline);
        signalled
            .or(run)
            .or_else(|| {
                let offer = first_signalled().or_else(earliest)?;
                decision.index_of(offer.choice)
            })
            .unwrap_or(0)
    }

    /// Notes a decision in the log.
    pub(super) fn note(&mut self, choice: Choice, usual: Option<Choice>) {
        let is_lost = match choice.kind {
            ChoiceKind::Wake => self.drops(Rule::LogWoken),
            ChoiceKind::Run => false,
            _ => self.drops(Rule::LogUnusual),
        };
        if !is_lost {
            self.log.note(self.moment, choice, usual);
        }
        if self.drops(Rule::CountParts) {
            return;
        }
        self.moment.part = self.moment.part.saturating_add(1);
        let Moment { thread, part, .. } = self.moment;
        if let Some(task) = self.task_mut(thread) {
            task.part = part;
        }
    }

    /// Carries out a choice: the thread gets the baton.
    pub(super) fn take(&mut self, choice: Choice, usual: Option<Choice>, orders: &mut Vec<Order>) {
        self.is_asking = false;
        self.note(choice, usual);
        let path = choice.thread;
        match choice.kind {
            ChoiceKind::Run | ChoiceKind::Wake => {}
            ChoiceKind::Deliver => {
                self.interrupt(path, error::INTERRUPTED, orders);
                let taken = self
                    .task_mut(path)
                    .and_then(|task| Some((task.id, task.take_signal()?)));
                if let Some((thread, signal)) = taken {
                    orders.push(Order::Deliver { thread, signal });
                }
            }
            ChoiceKind::TimeOut => self.pass_time(path, orders),
            ChoiceKind::Spurious => {
                self.spurious_left = self.spurious_left.saturating_sub(1);
                self.interrupt(path, 0, orders);
            }
        }
        self.grant(path, orders);
    }

    /// Gives a thread the baton. Others have something new to see.
    fn grant(&mut self, path: ThreadPath, orders: &mut Vec<Order>) {
        let others_could = self
            .tasks
            .iter()
            .any(|task| task.path != path && task.state.can_run() && task.user_key);
        let goes_on = self.moment.thread == path && others_could;
        self.consecutive = if goes_on {
            self.consecutive.saturating_add(1)
        } else {
            0
        };
        let writes = self.task(path).is_some_and(|task| match &task.state {
            State::At(point) => point.footprint.writes(),
            _ => true,
        });
        if writes {
            self.note_change(path);
        }
        let Some(task) = self.task_mut(path) else {
            return;
        };
        task.state = State::Running;
        let (thread, point, part) = (task.id, task.points, task.part);
        self.moment = Moment {
            thread: path,
            point,
            part,
        };
        self.baton = Some(path);
        orders.push(Order::Run { thread });
    }

    /// Returns why nobody goes on.
    fn standstill(&self) -> Standstill {
        let any = |test: &dyn Fn(&Task) -> bool| self.tasks.iter().any(test);
        let waits_for_moment = |task: &Task| task.state.deadline().is_some();
        let could_go_on =
            |task: &Task| task.state.can_run() || task.can_be_signalled() || waits_for_moment(task);
        if self.tasks.is_empty() {
            Standstill::Over
        } else if any(&|task| task.state == State::InKernel) && !self.drops(Rule::KernelFirst)
            || !self.options.is_time_virtual && any(&waits_for_moment)
        {
            Standstill::Outside
        } else if any(&|task| !task.user_key && could_go_on(task)) && !self.drops(Rule::UserFirst) {
            Standstill::User
        } else if any(&|task| matches!(task.state, State::Spins(_))) {
            Standstill::Spin
        } else {
            Standstill::Deadlock
        }
    }
}

fn run_footprint(task: &Task) -> Footprint {
    match &task.state {
        State::At(point) => point.footprint,
        _ => Footprint::NONE,
    }
}

/// Returns the word that a thread waits for, as an access.
fn word_of(task: &Task) -> Footprint {
    match task.state {
        State::Waits { address, .. } => Footprint::of(Access::write(address, 4)),
        _ => Footprint::NONE,
    }
}

fn time_out_footprint(task: &Task) -> Footprint {
    word_of(task).and(Access::write(CLOCK, 1))
}

fn spurious_footprint(task: &Task) -> Footprint {
    word_of(task).and(Access::write(BUDGET, 1))
}
