//! A machine that follows what is shown to it, while it is shown.
//!
//! A program that runs shows, step by step, what some functions of the machine
//! are in it. As long as some run of the machine has shown the same, the program
//! follows the machine. Nothing of the program is kept but where the machine can
//! be.

use super::above::{Above, Belief, Shown};
use super::room::{Halt, Room};
use crate::asm::program::Model;
use crate::{Fault, Options};
use std::borrow::Borrow;
use std::collections::BTreeSet;

/// What a machine does not show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parted {
    /// What the functions are called.
    pub names: Vec<String>,
    /// What was shown last that the machine has shown, too.
    pub before: Shown,
    /// What was shown then.
    pub after: Shown,
    /// What the machine could have shown instead.
    pub possible: BTreeSet<Shown>,
}

/// Why a machine does not follow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Astray {
    /// It does not do what was shown.
    Parted(Box<Parted>),
    /// The machine itself is wrong.
    Fault(Box<Fault>),
}

impl From<Fault> for Astray {
    fn from(fault: Fault) -> Astray {
        Astray::Fault(Box::new(fault))
    }
}

impl From<Halt> for Astray {
    fn from(halt: Halt) -> Astray {
        match halt {
            Halt::Fault(fault) => Astray::Fault(fault),
            Halt::Cut(_) => {
                let message = format!("the machine can be in more than {STATES_MAX} states");
                Fault::new("too-large", message, None).into()
            }
        }
    }
}

/// The most states of a machine that is followed: one that goes on for ever without
/// showing it must not keep the program waiting.
const STATES_MAX: u32 = 1 << 20;

fn options() -> Options {
    Options {
        states_max: STATES_MAX,
        ..Options::default()
    }
}

/// The machine, where it can be.
#[derive(Debug)]
pub struct Shadow<M> {
    above: Above<M>,
    belief: Belief,
    /// What was shown last.
    words: Shown,
}

impl<M: Borrow<Model>> Shadow<M> {
    /// A machine of which functions without arguments are shown, at its beginning.
    ///
    /// # Errors
    /// The machine has no such function, is wrong, or does not begin so.
    pub fn new(model: M, functions: &[&str], shown: Shown) -> Result<Shadow<M>, Astray> {
        let functions = super::functions_of(model.borrow(), functions)?;
        let mut above = Above::new(model, functions);
        let words = shown.clone();
        let go_on = &mut |_| true;
        let room = &mut Room::new(&options(), go_on);
        let shown = above.show(shown, room)?;
        let belief = above.begin(shown, room)?;
        if above.is_nowhere(belief) {
            return Err(Astray::Parted(Box::new(Parted {
                names: above.names(),
                before: Shown::new(),
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

    /// Takes what is shown now. What is as before says nothing.
    ///
    /// # Errors
    /// The machine does not do that from anywhere it can be, or is wrong.
    pub fn show(&mut self, shown: &[&str]) -> Result<(), Astray> {
        if self
            .words
            .iter()
            .map(String::as_str)
            .eq(shown.iter().copied())
        {
            return Ok(());
        }
        let words: Shown = shown.iter().map(|&it| it.to_owned()).collect();
        let go_on = &mut |_| true;
        let room = &mut Room::new(&options(), go_on);
        let shown = self.above.show(words.clone(), room)?;
        let next = self.above.step(self.belief, shown, room)?;
        if self.above.is_nowhere(next) {
            return Err(Astray::Parted(Box::new(Parted {
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

impl std::fmt::Display for Astray {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Astray::Fault(fault) => f.write_str(&fault.message),
            Astray::Parted(parted) => parted.fmt(f),
        }
    }
}

impl std::fmt::Display for Parted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let words = |shown: &Shown| {
            let pairs = self.names.iter().zip(shown);
            let pairs: Vec<String> = pairs
                .map(|(name, value)| format!("{name} = {value}"))
                .collect();
            pairs.join(", ")
        };
        write!(
            f,
            "after {} came {}",
            words(&self.before),
            words(&self.after)
        )?;
        let possible = self.possible.iter().filter(|shown| **shown != self.before);
        for (number, shown) in possible.enumerate() {
            let join = if number == 0 { "the model has " } else { "or " };
            write!(f, "\n{join}{}", words(shown))?;
        }
        Ok(())
    }
}
