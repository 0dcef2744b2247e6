//! All choices, one after the other: each run is a path of the tree of decisions, depth first.
//!
//! Sleep sets (P. Godefroid, *Partial-Order Methods for the Verification of Concurrent Systems*,
//! 1996) leave out runs that differ from one that was made in the order of independent steps
//! only. What a step touches is its footprint, so a search is of all schedules only if footprints
//! are complete: all accesses that others can see are points.
//!
//! Backtrack sets (C. Flanagan, P. Godefroid, *Dynamic Partial-Order Reduction for Model Checking
//! Software*, POPL 2005) leave out more ([`Exhaustive::backtracking`]): at a decision another thread
//! is tried only if its step and a later one are in a race, in some run below. As they are here
//! they leave out an end of some programs with three threads, so only a search by sleep sets alone
//! is one of all schedules.
//!
//! With a bound on preemptions (M. Musuvathi, S. Qadeer, *Iterative Context Bounding*, PLDI 2007)
//! nothing is left out beside what exceeds it: a run that a sleep set leaves out may be equal to
//! one with more preemptions, which the bound has left out (K. Coons, M. Musuvathi, K. McKinley,
//! *Bounded Partial-Order Reduction*, OOPSLA 2013).

use super::Verdict;
use crate::choice::{Choice, ChoiceKind, Decision, Offer};
use crate::clock::Clock;
use crate::terms::ThreadPath;
use alloc::vec;
use alloc::vec::Vec;

/// A decision on the path of the present run.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Node {
    offers: Vec<Offer>,
    /// The index of the choice on the present path.
    taken: usize,
    /// Which choices have been tried, the present one not among them.
    done: Vec<bool>,
    /// Steps that lead to what is known, unless a step before depends on them.
    asleep: Vec<Offer>,
    usual: usize,
    /// Whether the thread that ran last could go on, so that another one preempts it.
    preempts: bool,
    /// Preemptions before.
    preemptions: u32,
    /// Which choices must be tried.
    wanted: Vec<bool>,
    /// What comes before the end of the step.
    clock: Clock,
}

impl Node {
    fn is_wake(&self) -> bool {
        let first = self.offers.first();
        first.is_some_and(|offer| offer.choice.kind == ChoiceKind::Wake)
    }

    /// Returns the preemptions after the choice.
    fn preemptions_after(&self, index: usize) -> u32 {
        let is_preemption = self.preempts && index != self.usual;
        self.preemptions.saturating_add(u32::from(is_preemption))
    }

    /// Returns the next choice to try: the usual one first.
    fn next(&self, bound: Option<u32>) -> Option<usize> {
        let is_asleep = |index: usize| {
            let choice = self.offers.get(index).map(|offer| offer.choice);
            let is_it = |offer: &Offer| Some(offer.choice) == choice;
            !self.is_wake() && self.asleep.iter().any(is_it)
        };
        let is_open = |index: &usize| {
            self.done.get(*index) == Some(&false)
                && self.wanted.get(*index) == Some(&true)
                && !is_asleep(*index)
                && bound.is_none_or(|bound| self.preemptions_after(*index) <= bound)
        };
        let indices = core::iter::once(self.usual).chain(0..self.offers.len());
        indices.into_iter().find(is_open)
    }

    /// Returns the offer on the path, if it is a step and no choice within one.
    fn step(&self) -> Option<&Offer> {
        let taken = self.offers.get(self.taken);
        taken.filter(|offer| offer.choice.kind != ChoiceKind::Wake)
    }

    /// The step of a thread races with this one: it must be tried first, or if the thread cannot
    /// go on here, all must.
    fn want(&mut self, thread: ThreadPath) {
        let is_run = |offer: &Offer| offer.choice.kind == ChoiceKind::Run;
        let is_it = |offer: &Offer| is_run(offer) && offer.choice.thread == thread;
        let can_run = self.offers.iter().any(is_it);
        for (offer, wanted) in self.offers.iter().zip(&mut self.wanted) {
            *wanted |= !can_run || is_it(offer);
        }
    }

    /// Returns what sleeps behind the choice on the path.
    fn asleep_after(&self) -> Vec<Offer> {
        if self.is_wake() {
            return self.asleep.clone();
        }
        let Some(taken) = self.offers.get(self.taken) else {
            return Vec::new();
        };
        let tried = self.offers.iter().zip(&self.done);
        let tried = tried.filter(|(_, done)| **done).map(|(offer, _)| offer);
        self.asleep
            .iter()
            .chain(tried)
            .filter(|offer| offer.choice.thread != taken.choice.thread)
            .filter(|offer| !offer.footprint.conflicts(&taken.footprint))
            .copied()
            .collect()
    }
}

/// The search through all choices.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Exhaustive {
    path: Vec<Node>,
    /// The number of decisions of the present run.
    at: usize,
    bound: Option<u32>,
    /// Whether sleep sets are kept.
    sleeps: bool,
    /// Whether backtrack sets are kept.
    backtracks: bool,
    /// What sleeps at the next decision.
    asleep: Vec<Offer>,
    preemptions: u32,
    /// Whether the rest of the present run is known.
    is_known: bool,
    has_diverged: bool,
}

impl Exhaustive {
    /// Returns the search of all schedules, without those that differ in the order of
    /// independent steps only: by sleep sets.
    pub fn reduced() -> Exhaustive {
        Exhaustive {
            sleeps: true,
            ..Exhaustive::default()
        }
    }

    /// Returns a search by sleep sets and backtrack sets, of fewer runs. With three threads it is
    /// known to leave out schedules: it must not be said to be of all.
    pub fn backtracking() -> Exhaustive {
        Exhaustive {
            sleeps: true,
            backtracks: true,
            ..Exhaustive::default()
        }
    }

    /// Returns the search of all schedules.
    pub fn full() -> Exhaustive {
        Exhaustive::default()
    }

    /// Returns the search of all schedules with at most this many preemptions.
    pub fn bounded(preemptions: u32) -> Exhaustive {
        Exhaustive {
            bound: Some(preemptions),
            ..Exhaustive::default()
        }
    }

    /// Returns true if a run took another course than one before with the same choices: then
    /// the search is not of all schedules.
    pub fn has_diverged(&self) -> bool {
        self.has_diverged
    }

    /// Prepares the next run. Returns false if there is none.
    pub fn begin_next_run(&mut self) -> bool {
        self.at = 0;
        self.asleep.clear();
        self.preemptions = 0;
        self.is_known = false;
        while let Some(mut node) = self.path.pop() {
            if let Some(done) = node.done.get_mut(node.taken) {
                *done = true;
            }
            if let Some(next) = node.next(self.bound) {
                node.taken = next;
                node.clock = self.clock_after(&node);
                self.path.push(node);
                return true;
            }
        }
        false
    }

    pub(super) fn choose(&mut self, decision: &Decision<'_>) -> Verdict {
        if self.is_known {
            return Verdict::Take(decision.usual);
        }
        if self.at == self.path.len() {
            if self.backtracks && !decision.is_wake() {
                self.want_racing(decision.offers);
            }
            let mut node = self.node_of(decision);
            let is_unusual = |offer: &Offer| offer.choice.kind != ChoiceKind::Run;
            let wants = |offer: &Offer| !self.backtracks || is_unusual(offer);
            let wanted: Vec<bool> = decision.offers.iter().map(wants).collect();
            let Some(taken) = node.next(self.bound) else {
                self.is_known = true;
                return Verdict::Known;
            };
            node.wanted = wanted;
            node.taken = taken;
            if let Some(wanted) = node.wanted.get_mut(taken) {
                *wanted = true;
            }
            node.clock = self.clock_after(&node);
            self.path.push(node);
        }
        let Some(node) = self.path.get(self.at) else {
            return Verdict::Take(decision.usual);
        };
        let choices =
            |offers: &[Offer]| -> Vec<Choice> { offers.iter().map(|offer| offer.choice).collect() };
        if choices(&node.offers) != choices(decision.offers) {
            self.has_diverged = true;
            self.is_known = true;
            return Verdict::Diverged;
        }
        self.at += 1;
        self.preemptions = node.preemptions_after(node.taken);
        self.asleep = if self.sleeps {
            node.asleep_after()
        } else {
            Vec::new()
        };
        Verdict::Take(node.taken)
    }

    fn node_of(&self, decision: &Decision<'_>) -> Node {
        let usual = decision.usual_choice();
        let goes_on = usual.is_some_and(|it| it.thread == decision.moment.thread);
        Node {
            offers: decision.offers.to_vec(),
            taken: decision.usual,
            done: vec![false; decision.offers.len()],
            asleep: self.asleep.clone(),
            usual: decision.usual,
            preempts: goes_on && !decision.is_wake(),
            preemptions: self.preemptions,
            wanted: vec![true; decision.offers.len()],
            clock: Clock::default(),
        }
    }

    /// Returns what comes before the end of a step behind the path: what the thread did before,
    /// and all that conflicts with it.
    fn clock_after(&self, node: &Node) -> Clock {
        let mut clock = Clock::default();
        let Some(step) = node.step().filter(|_| self.backtracks) else {
            return clock;
        };
        for before in &self.path {
            let comes_before = before.step().is_some_and(|other| {
                other.choice.thread == step.choice.thread
                    || other.footprint.conflicts(&step.footprint)
            });
            if comes_before {
                clock.join(&before.clock);
            }
        }
        clock.set(self.path.len());
        clock
    }

    /// Lets the threads that can go on now be tried before the steps that they race with.
    fn want_racing(&mut self, offers: &[Offer]) {
        let runs = offers
            .iter()
            .filter(|offer| offer.choice.kind == ChoiceKind::Run);
        for offer in runs {
            let own = |node: &&Node| {
                let step = node.step();
                step.is_some_and(|step| step.choice.thread == offer.choice.thread)
            };
            let last = self.path.iter().rev().find(own);
            let known = last.map_or_else(Clock::default, |node| node.clock.clone());
            for (number, node) in self.path.iter_mut().enumerate() {
                let races = node.step().is_some_and(|step| {
                    step.choice.thread != offer.choice.thread
                        && step.footprint.conflicts(&offer.footprint)
                });
                if races && known.of(number) == 0 {
                    node.want(offer.choice.thread);
                }
            }
        }
    }
}
