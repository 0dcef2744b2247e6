//! Processes that are written in Rust and stand in a model: `extern proctype`.
//!
//! So a part of a program can be searched together with a model of what is
//! around it, and it is the very part that is shipped. The state of such a
//! process may be of any type; the state of the model has its number. What it
//! can do next, it offers; whether an offer can be taken, and when, is decided as
//! for all other processes.
//!
//! Invariant: states of a process have the same number if and only if they are
//! equal, so equal states of the model have equal bytes.

use super::memory::load;
use super::program::{Cell, Program, Scalar};
use crate::Fault;
use rustc_hash::FxHashMap;
use std::fmt::Debug;
use std::hash::Hash;
use std::sync::{Arc, PoisonError, RwLock};

/// A process in Rust.
///
/// All functions are deterministic: what they give depends on what they are given
/// alone.
pub trait External: Debug + Send + Sync + 'static {
    /// Where it may stand.
    type State: Clone + Eq + Hash + Debug + Send + Sync;

    /// Where it begins, with the values that it is run with.
    fn begin(&self, arguments: &[i32]) -> Self::State;

    /// What it can do next, in a fixed order. A send waits until there is room in
    /// the channel, or somebody takes the message; a receive, until there is one.
    fn offers(&self, state: &Self::State, world: &World<'_>) -> Vec<Offer<Self::State>>;

    /// Where it is after a message from a channel that it offered to receive from;
    /// nothing if it does not take this message.
    fn received(
        &self,
        state: &Self::State,
        channel: Channel,
        message: &[i32],
    ) -> Option<Self::State>;

    /// Whether it may stay in a state for ever.
    fn may_end(&self, _state: &Self::State) -> bool {
        true
    }

    /// Where it is, as trails show it.
    fn shown(&self, state: &Self::State) -> String {
        format!("{state:?}")
    }
}

/// One thing that a process can do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer<S> {
    /// What it is called in a trail.
    pub text: String,
    /// What it is.
    pub action: Action<S>,
}

/// What a process does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action<S> {
    /// It gives variables of the model values, and goes on.
    Write {
        /// The variables and what they are then.
        values: Vec<(Variable, i32)>,
        /// Where it stands then.
        next: S,
    },
    /// It sends a message.
    Send {
        /// Where to.
        channel: Channel,
        /// The fields.
        message: Vec<i32>,
        /// Where it stands then.
        next: S,
    },
    /// It receives a message: [`External::received`].
    Receive {
        /// Where from.
        channel: Channel,
    },
    /// It has found something wrong: an error with these words.
    Fail(String),
}

/// A global variable of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Variable(pub(super) Cell);

/// A global variable of a model that names a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Channel(pub(super) Cell);

/// What a model has, by name.
#[derive(Debug, Clone, Copy)]
pub struct Names<'a> {
    program: &'a Program,
}

/// The names of a model's own that it does not have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the model has no {kind} `{name}`")]
pub struct Unknown {
    kind: &'static str,
    name: String,
}

impl Names<'_> {
    fn cell(&self, name: &str, kind: &'static str) -> Result<Cell, Unknown> {
        let mut leaves = self.program.global_leaves.iter();
        let leaf = leaves
            .find(|leaf| *leaf.name == *name && leaf.cell.scalar.is_channel == (kind == "channel"));
        leaf.map(|leaf| leaf.cell).ok_or_else(|| Unknown {
            kind,
            name: name.to_owned(),
        })
    }

    /// A global variable: `held`, `trap[1]`, `record.field`.
    ///
    /// # Errors
    /// There is none with this name.
    pub fn variable(&self, name: &str) -> Result<Variable, Unknown> {
        self.cell(name, "variable").map(Variable)
    }

    /// A global channel: `report`, `attempt[1]`.
    ///
    /// # Errors
    /// There is none with this name.
    pub fn channel(&self, name: &str) -> Result<Channel, Unknown> {
        self.cell(name, "channel").map(Channel)
    }

    /// The number of a name of messages.
    ///
    /// # Errors
    /// There is none with this name.
    pub fn message(&self, name: &str) -> Result<i32, Unknown> {
        let names = &self.program.mtypes;
        let index = names.iter().position(|it| **it == *name);
        index.map(|index| index as i32 + 1).ok_or_else(|| Unknown {
            kind: "mtype",
            name: name.to_owned(),
        })
    }
}

/// The state of the model, for a process that reads it.
#[derive(Debug, Clone, Copy)]
pub struct World<'a> {
    pub(super) state: &'a [u8],
    pub(super) process: usize,
}

impl World<'_> {
    /// The value of a variable.
    pub fn value(&self, variable: Variable) -> i32 {
        load(self.state, 0, &variable.0)
    }

    /// The number of the process itself.
    pub fn process(&self) -> i32 {
        self.process as i32
    }
}

type Maker = dyn Fn(&Names<'_>) -> Result<Arc<dyn Numbered>, Unknown>;

/// The processes in Rust that a model is given, by the names of their
/// `extern proctype`.
#[derive(Default)]
pub struct Externals {
    makers: Vec<(String, Box<Maker>)>,
}

impl Externals {
    /// None.
    pub fn new() -> Externals {
        Externals::default()
    }

    /// With one more, made when the names of the model are known.
    #[must_use]
    pub fn with<P: External>(
        mut self,
        name: &str,
        make: impl Fn(&Names<'_>) -> Result<P, Unknown> + 'static,
    ) -> Externals {
        let maker = move |names: &Names<'_>| -> Result<Arc<dyn Numbered>, Unknown> {
            Ok(Arc::new(Table::new(make(names)?)))
        };
        self.makers.push((name.to_owned(), Box::new(maker)));
        self
    }

    pub(super) fn make(
        &self,
        name: &str,
        names: &Names<'_>,
    ) -> Option<Result<Arc<dyn Numbered>, Unknown>> {
        let maker = self.makers.iter().find(|(known, _)| known == name);
        maker.map(|(_, make)| make(names))
    }
}

/// An [`External`] whose states are numbers.
pub(super) trait Numbered: Debug + Send + Sync {
    fn begin(&self, arguments: &[i32]) -> Option<u32>;
    fn offers(&self, state: u32, world: &World<'_>) -> Vec<Offer<Option<u32>>>;
    fn received(&self, state: u32, channel: Channel, message: &[i32]) -> Option<Option<u32>>;
    fn may_end(&self, state: u32) -> bool;
    fn shown(&self, state: u32) -> String;
}

/// A process, and its states by number.
#[derive(Debug)]
struct Table<P: External> {
    process: P,
    states: RwLock<States<P::State>>,
}

#[derive(Debug)]
struct States<S> {
    states: Vec<Arc<S>>,
    numbers: FxHashMap<Arc<S>, u32>,
}

/// How a process keeps the number of its state.
pub(super) const NUMBER: Scalar = Scalar {
    kept: super::program::Kept::Int,
    least: 0,
    greatest: i32::MAX,
    is_mtype: false,
    is_channel: false,
};

impl<P: External> Table<P> {
    fn new(process: P) -> Table<P> {
        Table {
            process,
            states: RwLock::new(States {
                states: Vec::new(),
                numbers: FxHashMap::default(),
            }),
        }
    }

    fn get(&self, number: u32) -> Option<Arc<P::State>> {
        let states = self.states.read().unwrap_or_else(PoisonError::into_inner);
        states.states.get(number as usize).cloned()
    }

    /// The number of a state; nothing when there are more than fit.
    fn number(&self, state: P::State) -> Option<u32> {
        {
            let states = self.states.read().unwrap_or_else(PoisonError::into_inner);
            if let Some(number) = states.numbers.get(&state) {
                return Some(*number);
            }
        }
        let mut states = self.states.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(number) = states.numbers.get(&state) {
            return Some(*number);
        }
        let number = i32::try_from(states.states.len()).ok()? as u32;
        let state = Arc::new(state);
        states.states.push(Arc::clone(&state));
        states.numbers.insert(state, number);
        Some(number)
    }
}

impl<P: External> Numbered for Table<P> {
    fn begin(&self, arguments: &[i32]) -> Option<u32> {
        self.number(self.process.begin(arguments))
    }

    fn offers(&self, state: u32, world: &World<'_>) -> Vec<Offer<Option<u32>>> {
        let Some(state) = self.get(state) else {
            return Vec::new();
        };
        let offers = self.process.offers(&state, world).into_iter();
        let numbered = offers.map(|offer| Offer {
            text: offer.text,
            action: match offer.action {
                Action::Write { values, next } => Action::Write {
                    values,
                    next: self.number(next),
                },
                Action::Send {
                    channel,
                    message,
                    next,
                } => Action::Send {
                    channel,
                    message,
                    next: self.number(next),
                },
                Action::Receive { channel } => Action::Receive { channel },
                Action::Fail(words) => Action::Fail(words),
            },
        });
        numbered.collect()
    }

    fn received(&self, state: u32, channel: Channel, message: &[i32]) -> Option<Option<u32>> {
        let state = self.get(state)?;
        let next = self.process.received(&state, channel, message)?;
        Some(self.number(next))
    }

    fn may_end(&self, state: u32) -> bool {
        self.get(state)
            .is_none_or(|state| self.process.may_end(&state))
    }

    fn shown(&self, state: u32) -> String {
        self.get(state)
            .map_or(String::new(), |state| self.process.shown(&state))
    }
}

/// An `extern proctype` of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Outside {
    /// Where a process of this kind keeps the number of its state, in its frame.
    pub cell: Cell,
    /// What stands for its steps where no words are needed.
    pub instruction: u32,
}

/// Finds the processes in Rust, by kind.
pub(super) fn join(
    program: &Program,
    externals: &Externals,
) -> Result<Vec<Option<Arc<dyn Numbered>>>, Vec<Fault>> {
    let mut faults = Vec::new();
    let names = Names { program };
    let kinds = program.kinds.iter().map(|kind| {
        kind.outside?;
        let fault = match externals.make(&kind.name, &names) {
            Some(Ok(made)) => return Some(made),
            Some(Err(unknown)) => Fault::new("external", unknown.to_string(), Some(kind.span)),
            None => {
                let message = "nothing in Rust stands for this process here";
                let help = "write the process in PROMELA, or give it to `Model::read_with`";
                Fault::new("external", message, Some(kind.span)).help(help)
            }
        };
        faults.push(fault);
        None
    });
    let outside = kinds.collect();
    match faults.is_empty() {
        true => Ok(outside),
        false => Err(faults),
    }
}
