//! The strategies that make decisions.
//!
//! No strategy is best: some faults are found by random choices and never by priorities, and the
//! other way round; so a front end tries several in turn.

mod directed;
mod exhaustive;
mod groups;
mod pct;
mod portfolio;
mod relay;
mod replay;

pub use directed::{Directed, Goal, GoalState, Place};
pub use exhaustive::Exhaustive;
pub use groups::Groups;
pub use pct::Pct;
pub use portfolio::Portfolio;
pub use relay::Relay;
pub use replay::Replay;

use crate::choice::{Choice, ChoiceKind, Decision};
use crate::random::Random;
use alloc::boxed::Box;

/// The answer of a strategy to a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// This offer, by its index.
    Take(usize),
    /// A person must be asked.
    Ask,
    /// All that can follow is known; the usual choice.
    Known,
    /// The choice of the log at this moment is not on offer; the usual choice.
    Diverged,
}

/// A strategy that makes decisions.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Strategy {
    /// Always the usual choice: run on until blocked. A log without deviations replays it.
    RunOn,
    /// The next thread by path at each point.
    RoundRobin,
    /// Each choice by chance.
    Random(Random),
    /// Random priorities that change a few times.
    Pct(Pct),
    /// Random priorities of groups of threads that do the same.
    Groups(Groups),
    /// A thread that has written lets another one go first.
    Relay(Relay),
    /// All choices, one after the other, run by run.
    Exhaustive(Exhaustive),
    /// Threads are held where a fault was predicted.
    Directed(Directed),
    /// As a log says.
    Replay(Replay),
    /// As a log says for some decisions, and then otherwise: the run branches.
    Branch {
        /// The log.
        replay: Replay,
        /// The decisions that are made by it.
        decisions: u64,
        /// How the others are made; not a branch itself.
        then: Box<Strategy>,
    },
    /// As a person says, who is asked each time, even if one thing only can happen.
    Person,
}

impl Strategy {
    /// Returns the strategy that chooses by chance, by its seed.
    pub fn random(seed: u64) -> Strategy {
        Strategy::Random(Random::new(seed))
    }

    /// Makes a decision.
    pub(crate) fn choose(&mut self, decision: &Decision<'_>) -> Verdict {
        if let Strategy::Branch {
            replay,
            decisions,
            then,
        } = self
        {
            match decisions.checked_sub(1) {
                Some(left) => {
                    *decisions = left;
                    return replay.choose(decision);
                }
                // The log may not lead behind where it ends.
                None => *self = core::mem::replace(&mut **then, Strategy::RunOn),
            }
        }
        let usual = Verdict::Take(decision.usual);
        match self {
            Strategy::RunOn => usual,
            Strategy::RoundRobin => Verdict::Take(in_turn(decision)),
            Strategy::Random(random) => Verdict::Take(by_chance(decision, random)),
            Strategy::Pct(pct) => Verdict::Take(pct.choose(decision)),
            Strategy::Groups(groups) => Verdict::Take(groups.choose(decision)),
            Strategy::Relay(relay) => Verdict::Take(relay.choose(decision)),
            Strategy::Exhaustive(exhaustive) => exhaustive.choose(decision),
            Strategy::Directed(directed) => Verdict::Take(directed.choose(decision)),
            Strategy::Replay(replay) => replay.choose(decision),
            Strategy::Branch { .. } => usual,
            Strategy::Person => Verdict::Ask,
        }
    }
}

fn in_turn(decision: &Decision<'_>) -> usize {
    let last = decision.moment.thread;
    let plain = decision.offers.iter().take(decision.plain_count());
    let mut threads = plain.map(|offer| offer.choice.thread);
    if decision.is_wake() {
        return decision.usual;
    }
    let next = threads.clone().find(|thread| *thread > last);
    match next.or_else(|| threads.next()) {
        Some(thread) => with_signal(decision, thread).unwrap_or(decision.usual),
        None => decision.usual,
    }
}

/// Returns the index of the offer that a thread goes on, with its signal if there is one.
fn with_signal(decision: &Decision<'_>, thread: crate::ThreadPath) -> Option<usize> {
    let of_kind = |kind| decision.index_of(Choice { kind, thread });
    of_kind(ChoiceKind::Deliver).or_else(|| of_kind(ChoiceKind::Run))
}

/// An unusual choice is made once in this many times.
const UNUSUAL: u64 = 16;
/// A pending signal is delivered once in this many times.
const SIGNAL: u64 = 4;

fn by_chance(decision: &Decision<'_>, random: &mut Random) -> usize {
    let plain = decision.plain_count();
    let unusual = decision.offers.get(plain..).unwrap_or_default();
    if plain == 0 {
        // Time passes in its order more often than not.
        return if random.one_in(2) {
            any_hopeful(decision, random)
        } else {
            decision.usual
        };
    }
    let is_signal = |offer: &crate::Offer| offer.choice.kind == ChoiceKind::Deliver;
    let rate = if unusual.iter().any(is_signal) {
        SIGNAL
    } else {
        UNUSUAL
    };
    if !unusual.is_empty() && random.one_in(rate) {
        plain + random.index(unusual.len())
    } else {
        random.index(plain)
    }
}

/// Returns the index of any offer but a spurious wake-up.
fn any_hopeful(decision: &Decision<'_>, random: &mut Random) -> usize {
    let is_spurious = |offer: &&crate::Offer| offer.choice.kind != ChoiceKind::Spurious;
    let hopeful = decision.offers.iter().take_while(is_spurious).count();
    random.index(hopeful)
}
