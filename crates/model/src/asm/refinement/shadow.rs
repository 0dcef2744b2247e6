//! Online conformance: an abstract machine follows a running program.
//!
//! The program reports, step by step, the values of some functions of the machine. It
//! conforms as long as some run of the machine has the same observations. Only the set of
//! possible states of the machine is kept.

use super::above::{Above, Belief, Observation};
use super::room::{Halt, Room};
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
    above: Above<M>,
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
        let mut above = Above::new(model, functions);
        let words = shown.clone();
        let go_on = &mut |_| true;
        let room = &mut Room::new(&options(), go_on);
        let shown = above.show(shown, room)?;
        let belief = above.begin(shown, room)?;
        if above.is_nowhere(belief) {
            return Err(ShadowError::Mismatch(Box::new(Mismatch {
                names: above.names(),
                before: Observation::new(),
                after: words,
                possible: above.possible_first(room)?,
            })));
        }
        Ok(Shadow {
            above,
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
        let room = &mut Room::new(&options(), go_on);
        let shown = self.above.show(words.clone(), room)?;
        let next = self.above.step(self.belief, shown, room)?;
        if self.above.is_nowhere(next) {
            return Err(ShadowError::Mismatch(Box::new(Mismatch {
                names: self.above.names(),
                before: self.words.clone(),
                after: words,
                possible: self.above.possible(self.belief, room)?,
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
