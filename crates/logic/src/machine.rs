//! The machine of a formula or an expression: reads letters, returns verdicts.
//!
//! It is a Moore machine built on the fly. Its states are the remaining obligations;
//! equal obligations are one state. Steps are cached, so the common step is one table
//! lookup. A verdict is final at the first step after which no continuation can change
//! it; the other verdicts say how the run would be judged if it ended now (Bauer, Leucker
//! and Schallhart, *Comparing LTL Semantics for Runtime Verification*, 2010).
//!
//! Before its first step, a machine gives the verdict of the run without steps. A final
//! verdict is about infinite runs.

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

/// Default maximum number of states of a machine.
pub const STATES_MAX: usize = 100_000;

/// Maximum number of letter bits for which steps are cached in a dense table.
const TABLE_BITS_MAX: u32 = 8;
/// Maximum number of states explored for the propositions that later steps depend on.
const AHEAD_MAX: usize = 256;
/// Marks a step that is not cached.
const UNKNOWN: u32 = u32::MAX;

/// A state of a [`Machine`]. The numbering is specific to this machine and the clones
/// made since; the numbering of a [`Table`](crate::Table) is canonical.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Default,
)]
pub struct MachineState(pub u32);

impl MachineState {
    /// Returns the number as an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The verdicts that a state can still reach, including its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Outlook {
    verdicts: u8,
}

impl Outlook {
    /// All four verdicts.
    pub const OPEN: Outlook = Outlook { verdicts: 0b1111 };

    /// Returns whether the verdict can be reached.
    pub fn has(self, verdict: Verdict) -> bool {
        self.verdicts & (1 << verdict as u8) != 0
    }

    pub(crate) fn add(&mut self, verdict: Verdict) {
        self.verdicts |= 1 << verdict as u8;
    }

    pub(crate) fn join(&mut self, other: Outlook) {
        self.verdicts |= other.verdicts;
    }
}

/// The cached steps.
#[derive(Debug, Clone)]
enum Steps {
    /// By state and letter, for letters of few bits.
    Table { shift: u32, bits: u32, to: Vec<u32> },
    /// By state and the truth of the propositions that the step depends on.
    Map(FxHashMap<(u32, u64), u32>),
}

/// An automaton that reads letters and returns verdicts, for a formula or an expression.
#[derive(Debug, Clone)]
pub struct Machine {
    source: Source,
    steps: Steps,
    verdicts: Vec<Verdict>,
    /// By state: the propositions that its next step depends on.
    asked: Vec<u64>,
    outlooks: Vec<Option<Outlook>>,
    /// By state: the propositions that later steps depend on, as far as computed.
    ahead: FxHashMap<MachineState, u64>,
    propositions: u64,
    states_max: usize,
}

impl Machine {
    /// Returns the machine of a formula.
    ///
    /// # Errors
    /// The formula has time bounds, or is too large.
    pub fn of_formula(formula: &Formula) -> Result<Machine, LogicError> {
        check_size(formula, DEPTH_MAX, &mut 0)?;
        Ok(Machine::new(Source::of(formula)?, formula.propositions()))
    }

    /// Returns the machine of a regular expression.
    ///
    /// With [`Meaning::MatchViolates`] an expression that matches the empty word is
    /// violated before the first step; see [`Regex::matches_empty`].
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

    /// Sets the maximum number of states.
    pub fn with_states_max(self, states_max: usize) -> Machine {
        Machine { states_max, ..self }
    }

    /// Returns the initial state.
    pub fn initial(&self) -> MachineState {
        MachineState(0)
    }

    /// Returns the state after a step.
    ///
    /// # Errors
    /// The machine would exceed its limits, or the state belongs to another machine.
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

    /// Returns the state after a step, if it is cached.
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

    /// Adds the states that the source has created.
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

    /// Returns the verdict of a state; an undecided one for a state of another machine.
    #[inline]
    pub fn verdict(&self, state: MachineState) -> Verdict {
        let verdict = self.verdicts.get(state.index());
        verdict.copied().unwrap_or(Verdict::PresumablySatisfied)
    }

    /// Returns whether the verdict is final: no step changes it any more.
    pub fn is_decided(&self, state: MachineState) -> bool {
        is_final(self.verdict(state))
    }

    /// Returns the propositions that the next step depends on.
    pub fn letters_that_matter(&self, state: MachineState) -> u64 {
        self.asked.get(state.index()).copied().unwrap_or(0)
    }

    /// Returns the propositions that some step from this state on depends on; all of them
    /// if that takes too long to compute.
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

    /// Returns all propositions of the formula or expression.
    pub fn propositions(&self) -> u64 {
        self.propositions
    }

    /// Returns the number of states created so far.
    pub fn state_count(&self) -> usize {
        self.verdicts.len()
    }

    /// Returns the guards of the next step, which partition the letters, with their
    /// successors.
    ///
    /// # Errors
    /// As for [`step`](Machine::step).
    pub fn successors(
        &mut self,
        state: MachineState,
    ) -> Result<Vec<(Guard, MachineState)>, LogicError> {
        if state.index() >= self.state_count() {
            return Err(LogicError::NoSuchState { state: state.0 });
        }
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
                // All steps together share the budget of one.
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
