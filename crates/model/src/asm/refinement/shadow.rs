//! Online conformance: an abstract machine follows a running program.
//!
//! The program reports, step by step, the values of some functions of the machine. It
//! conforms as long as some run of the machine has the same observations. Only the set of
//! possible states of the machine is kept.

use super::abstract_machine::{AbstractMachine, Belief, Observation};
use super::budget::{Budget, Halt};
use crate::asm::program::Model;
use crate::{Fault, Options};
use std::borrow::Borrow;
use std::collections::BTreeSet;

/// An observation that the machine does not allow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// Names of the observed functions.
    pub names: Vec<String>,
    /// The previous observation, which the machine allows.
    pub before: Observation,
    /// The observation.
    pub after: Observation,
    /// The observations that the machine allows instead.
    pub possible: BTreeSet<Observation>,
}

/// The reason that a machine does not follow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ShadowError {
    /// The machine does not allow the observation.
    Mismatch(Box<Mismatch>),
    /// The machine itself is faulty.
    Fault(Box<Fault>),
}

impl From<Fault> for ShadowError {
    fn from(fault: Fault) -> ShadowError {
        ShadowError::Fault(Box::new(fault))
    }
}

impl From<Halt> for ShadowError {
    fn from(halt: Halt) -> ShadowError {
        match halt {
            Halt::Fault(fault) => ShadowError::Fault(fault),
            Halt::Cut(_) => {
                let message = format!("the machine can be in more than {STATES_MAX} states");
                Fault::new("too-large", message, None).into()
            }
        }
    }
}

/// Maximum number of states of the machine, so that a machine with endless unobservable
/// steps does not block the program.
const STATES_MAX: u32 = 1 << 20;

fn options() -> Options {
    Options {
        states_max: STATES_MAX,
        ..Options::default()
    }
}

/// An abstract machine, with the set of states it can be in.
#[derive(Debug)]
pub struct Shadow<M> {
    abstract_machine: AbstractMachine<M>,
    belief: Belief,
    /// The last observation.
    words: Observation,
}

impl<M: Borrow<Model>> Shadow<M> {
    /// Returns the machine in its initial states, with the functions without arguments to
    /// observe and their initial values.
    ///
    /// # Errors
    /// The machine has no such function, is faulty, or does not start with these values.
    pub fn new(model: M, functions: &[&str], shown: Observation) -> Result<Shadow<M>, ShadowError> {
        let functions = super::functions_of(model.borrow(), functions)?;
        let mut abstract_machine = AbstractMachine::new(model, functions);
        let words = shown.clone();
        let go_on = &mut |_| true;
        let budget = &mut Budget::new(&options(), go_on);
        let shown = abstract_machine.show(shown, budget)?;
        let belief = abstract_machine.begin(shown, budget)?;
        if abstract_machine.is_empty(belief) {
            return Err(ShadowError::Mismatch(Box::new(Mismatch {
                names: abstract_machine.names(),
                before: Observation::new(),
                after: words,
                possible: abstract_machine.possible_first(budget)?,
            })));
        }
        Ok(Shadow {
            abstract_machine,
            belief,
            words,
        })
    }

    /// Processes an observation. An unchanged one is ignored.
    ///
    /// # Errors
    /// The machine does not allow the observation in any possible state, or is faulty.
    pub fn show(&mut self, shown: &[&str]) -> Result<(), ShadowError> {
        if self
            .words
            .iter()
            .map(String::as_str)
            .eq(shown.iter().copied())
        {
            return Ok(());
        }
        let words: Observation = shown.iter().map(|&it| it.to_owned()).collect();
        let go_on = &mut |_| true;
        let budget = &mut Budget::new(&options(), go_on);
        let shown = self.abstract_machine.show(words.clone(), budget)?;
        let next = self.abstract_machine.step(self.belief, shown, budget)?;
        if self.abstract_machine.is_empty(next) {
            return Err(ShadowError::Mismatch(Box::new(Mismatch {
                names: self.abstract_machine.names(),
                before: self.words.clone(),
                after: words,
                possible: self.abstract_machine.possible(self.belief, budget)?,
            })));
        }
        self.belief = next;
        self.words = words;
        Ok(())
    }
}

impl std::fmt::Display for ShadowError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ShadowError::Fault(fault) => f.write_str(&fault.message),
            ShadowError::Mismatch(parted) => parted.fmt(f),
        }
    }
}

impl std::fmt::Display for Mismatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let words = |shown: &Observation| {
            let pairs = self.names.iter().zip(shown);
            let pairs: Vec<String> = pairs
                .map(|(name, value)| format!("{name} = {value}"))
                .collect();
            pairs.join(", ")
        };
        write!(
            f,
            "{} is not allowed after {}",
            words(&self.after),
            words(&self.before)
        )?;
        let possible = self.possible.iter().filter(|shown| **shown != self.before);
        for (number, shown) in possible.enumerate() {
            let join = if number == 0 {
                "the model allows "
            } else {
                "or "
            };
            write!(f, "\n{join}{}", words(shown))?;
        }
        Ok(())
    }
}
