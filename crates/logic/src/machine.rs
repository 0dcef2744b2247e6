//! The machine of a formula or an expression: letters in, verdicts out.
//!
//! A Moore machine that is built while it runs. Its states are what is left of
//! the demand; equal rests are equal states. What a step led to is kept, so the
//! common step is one look into a table. A final verdict is given at the first
//! step where no continuation can change it any more; the others say how it
//! would be if the run ended now (Bauer, Leucker and Schallhart, *Comparing LTL
//! Semantics for Runtime Verification*, 2010).
//!
//! Before its first step a machine says what its demand says of a run without
//! any step. A final verdict speaks of runs that go on for ever.

use crate::classes::classes;
use crate::derivative::Derivatives;
use crate::normal::DEPTH_MAX;
use crate::residual::is_final;
use crate::source::Source;
use crate::written::check_size;
use crate::{Formula, Guard, Letter, LogicError, Meaning, Regex};
use juror_event::Verdict;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// The most states of a machine, unless it is told otherwise.
pub const STATES_MAX: usize = 100_000;

/// The widest letters for which steps are kept in a table.
const TABLE_BITS_MAX: u32 = 8;
/// States that are looked through for the propositions that matter.
const AHEAD_MAX: usize = 256;
/// No step is known.
const UNKNOWN: u32 = u32::MAX;

/// A state of a [`Machine`]. The numbers are those of this machine and its
/// clones up to here; those of a [`Table`](crate::Table) are always the same.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Default,
)]
pub struct MachineState(pub u32);

impl MachineState {
    /// As an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Which verdicts a state can still come to; its own is among them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Outlook {
    verdicts: u8,
}

impl Outlook {
    /// All four.
    pub const OPEN: Outlook = Outlook { verdicts: 0b1111 };

    /// Whether the verdict can be reached.
    pub fn has(self, verdict: Verdict) -> bool {
        self.verdicts & (1 << verdict as u8) != 0
    }

    /// Whether a run can end in a violation or be violated on the way.
    pub fn can_fail(self) -> bool {
        self.has(Verdict::Violated) || self.has(Verdict::PresumablyViolated)
    }

    /// Whether every continuation has the verdict that the state has now.
    pub fn is_settled(self) -> bool {
        self.verdicts.count_ones() <= 1
    }

    pub(crate) fn add(&mut self, verdict: Verdict) {
        self.verdicts |= 1 << verdict as u8;
    }

    pub(crate) fn join(&mut self, other: Outlook) {
        self.verdicts |= other.verdicts;
    }
}

/// The steps that are known.
#[derive(Debug, Clone)]
enum Steps {
    /// By state and letter, for letters of few bits.
    Table { shift: u32, bits: u32, to: Vec<u32> },
    /// By state and the propositions that matter there.
    Map(FxHashMap<(u32, u64), u32>),
}

/// A formula or an expression that takes letters and gives verdicts.
#[derive(Debug, Clone)]
pub struct Machine {
    source: Source,
    steps: Steps,
    verdicts: Vec<Verdict>,
    /// By state: the propositions that its next step asks about.
    asked: Vec<u64>,
    outlooks: Vec<Option<Outlook>>,
    /// The propositions that matter from a state on, where that was asked.
    ahead: FxHashMap<MachineState, u64>,
    propositions: u64,
    states_max: usize,
}

impl Machine {
    /// The machine of a formula; bounds in time are refused.
    pub fn of_formula(formula: &Formula) -> Result<Machine, LogicError> {
        check_size(formula, DEPTH_MAX, &mut 0)?;
        Ok(Machine::new(Source::of(formula)?, formula.propositions()))
    }

    /// The machine of a regular expression.
    ///
    /// With [`Meaning::MatchViolates`] an expression that matches the empty word
    /// is violated before the first step; see [`Regex::matches_empty`].
    pub fn of_expression(expression: &Regex, meaning: Meaning) -> Result<Machine, LogicError> {
        let source = Source::Expression(Box::new(Derivatives::new(expression, meaning)?));
        Ok(Machine::new(source, expression.propositions()))
    }

    fn new(source: Source, propositions: u64) -> Machine {
        let (shift, bits) = match propositions {
            0 => (0, 0),
            _ => {
                let shift = propositions.trailing_zeros();
                (shift, 64 - propositions.leading_zeros() - shift)
            }
        };
        let steps = match bits {
            0..=TABLE_BITS_MAX => Steps::Table {
                shift,
                bits,
                to: Vec::new(),
            },
            _ => Steps::Map(FxHashMap::default()),
        };
        let mut machine = Machine {
            source,
            steps,
            verdicts: Vec::new(),
            asked: Vec::new(),
            outlooks: Vec::new(),
            ahead: FxHashMap::default(),
            propositions,
            states_max: STATES_MAX,
        };
        machine.take_states();
        machine
    }

    /// With another limit on the number of states.
    pub fn with_states_max(self, states_max: usize) -> Machine {
        Machine { states_max, ..self }
    }

    /// Where it starts.
    pub fn initial(&self) -> MachineState {
        MachineState(0)
    }

    /// The state after a step. Fails only where the machine would get more
    /// states than allowed, or the state is of another machine.
    #[inline]
    pub fn step(
        &mut self,
        state: MachineState,
        letter: Letter,
    ) -> Result<MachineState, LogicError> {
        match self.known_step(state, letter) {
            Some(known) => Ok(known),
            None => {
                self.source.work().begin_step();
                self.new_step(state, letter)
            }
        }
    }

    /// The state after a step, if that step was made before.
    #[inline]
    pub fn known_step(&self, state: MachineState, letter: Letter) -> Option<MachineState> {
        let to = match &self.steps {
            Steps::Table { shift, bits, to } => {
                let low = (letter.0 >> shift) & ((1 << bits) - 1);
                *to.get((state.index() << bits) | low as usize)?
            }
            Steps::Map(map) => {
                let asked = self.asked.get(state.index())?;
                *map.get(&(state.0, letter.0 & asked))?
            }
        };
        (to != UNKNOWN).then_some(MachineState(to))
    }

    #[cold]
    fn new_step(
        &mut self,
        state: MachineState,
        letter: Letter,
    ) -> Result<MachineState, LogicError> {
        if state.index() >= self.verdicts.len() {
            return Err(LogicError::NoSuchState { state: state.0 });
        }
        let to = self.source.step(state.0, letter.0)?;
        if self.source.len() > self.states_max {
            return Err(LogicError::TooManyStates {
                limit: self.states_max,
            });
        }
        self.take_states();
        match &mut self.steps {
            Steps::Table {
                shift,
                bits,
                to: table,
            } => {
                let low = (letter.0 >> *shift) & ((1 << *bits) - 1);
                if let Some(entry) = table.get_mut((state.index() << *bits) | low as usize) {
                    *entry = to;
                }
            }
            Steps::Map(map) => {
                let asked = self.asked.get(state.index()).copied().unwrap_or(0);
                map.insert((state.0, letter.0 & asked), to);
            }
        }
        Ok(MachineState(to))
    }

    /// Makes room for the states that the source has made.
    fn take_states(&mut self) {
        for state in self.verdicts.len()..self.source.len() {
            let state = state as u32;
            self.verdicts.push(self.source.verdict(state));
            let guards = self.source.guards(state);
            let asked = guards
                .iter()
                .fold(0, |asked, guard| asked | guard.propositions());
            self.asked.push(asked);
            self.outlooks.push(None);
        }
        if let Steps::Table { bits, to, .. } = &mut self.steps {
            to.resize(self.verdicts.len() << *bits, UNKNOWN);
        }
    }

    /// What a state says; a state of another machine is not decided.
    #[inline]
    pub fn verdict(&self, state: MachineState) -> Verdict {
        let verdict = self.verdicts.get(state.index());
        verdict.copied().unwrap_or(Verdict::PresumablySatisfied)
    }

    /// Whether no step changes the verdict any more.
    pub fn is_decided(&self, state: MachineState) -> bool {
        is_final(self.verdict(state))
    }

    /// The propositions that the next step asks about.
    pub fn letters_that_matter(&self, state: MachineState) -> u64 {
        self.asked.get(state.index()).copied().unwrap_or(0)
    }

    /// The propositions that any step from this state on asks about. All of them
    /// where that takes too long to find out.
    pub fn propositions_ahead(&mut self, state: MachineState) -> u64 {
        if let Some(known) = self.ahead.get(&state) {
            return *known;
        }
        let ahead = match &mut self.source {
            Source::Product(product) if state.index() < product.len() => {
                product.propositions_ahead(state.0)
            }
            _ => self.look_ahead(state).unwrap_or(u64::MAX),
        };
        self.ahead.insert(state, ahead);
        ahead
    }

    fn look_ahead(&mut self, state: MachineState) -> Option<u64> {
        let mut asked = 0;
        let mut seen = vec![state];
        let mut next = 0;
        while let Some(from) = seen.get(next).copied() {
            next += 1;
            asked |= self.letters_that_matter(from);
            for (_, to) in self.successors(from).ok()? {
                if !seen.contains(&to) {
                    seen.push(to);
                }
            }
            if seen.len() > AHEAD_MAX {
                return None;
            }
        }
        Some(asked)
    }

    /// The propositions that it asks about anywhere.
    pub fn propositions(&self) -> u64 {
        self.propositions
    }

    /// How many states have been made.
    pub fn state_count(&self) -> usize {
        self.verdicts.len()
    }

    /// The guards of the next step, such that each letter is taken by exactly
    /// one, with the states that they lead to.
    pub fn successors(
        &mut self,
        state: MachineState,
    ) -> Result<Vec<(Guard, MachineState)>, LogicError> {
        if self.is_decided(state) {
            return Ok(vec![(Guard::default(), state)]);
        }
        let guards = self.source.guards(state.0);
        let classes = classes(guards.into_iter(), self.source.work())?;
        let mut successors = Vec::with_capacity(classes.len());
        for class in classes {
            let letter = Letter(class.required);
            let to = match self.known_step(state, letter) {
                Some(known) => known,
                // All steps together have the allowance of one.
                None => self.new_step(state, letter)?,
            };
            successors.push((class, to));
        }
        Ok(successors)
    }

    pub(crate) fn known_outlook(&self, state: MachineState) -> Option<Outlook> {
        self.outlooks.get(state.index()).copied().flatten()
    }

    pub(crate) fn set_outlook(&mut self, state: MachineState, outlook: Outlook) {
        if let Some(entry) = self.outlooks.get_mut(state.index()) {
            *entry = Some(outlook);
        }
    }

    pub(crate) fn source(&self) -> &Source {
        &self.source
    }
}
