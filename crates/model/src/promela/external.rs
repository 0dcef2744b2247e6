//! Processes implemented in Rust: `extern proctype`.
//!
//! A part of a program, the very code that is shipped, can be model checked together with
//! a model of its environment. The state of such a process may be of any type; the state
//! vector holds its number. The process offers its next actions; whether and when an
//! action is enabled is decided as for all other processes.
//!
//! Invariant: states of a process have the same number exactly if they are equal, so
//! equal states of the model have equal bytes.

use super::memory::load;
use super::program::{Cell, Program, Scalar};
use crate::Fault;
use rustc_hash::FxHashMap;
use std::fmt::Debug;
use std::hash::Hash;
use std::sync::{Arc, PoisonError, RwLock};

/// A process in Rust.
///
/// All functions must be deterministic: their results depend on their arguments alone.
pub trait External: Debug + Send + Sync + 'static {
    /// The local state.
    type State: Clone + Eq + Hash + Debug + Send + Sync;

    /// Returns the initial state for the arguments of `run`.
    fn begin(&self, arguments: &[i32]) -> Self::State;

    /// Returns the possible next actions, in a fixed order. A send is blocked until the
    /// channel has room or a receiver is ready, a receive until there is a message.
    fn offers(&self, state: &Self::State, world: &World<'_>) -> Vec<Offer<Self::State>>;

    /// Returns the state after a message from a channel that it offered to receive from;
    /// `None` if it does not accept this message.
    fn received(
        &self,
        state: &Self::State,
        channel: Channel,
        message: &[i32],
    ) -> Option<Self::State>;

    /// Returns whether a state is a valid end state.
    fn may_end(&self, _state: &Self::State) -> bool {
        true
    }

    /// Returns the display of a state in trails.
    fn shown(&self, state: &Self::State) -> String {
        format!("{state:?}")
    }
}

/// A possible action of a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer<S> {
    /// Description of the action in a trail.
    pub text: String,
    /// The action.
    pub action: Action<S>,
}

/// An action of a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action<S> {
    /// Assigns variables of the model.
    Write {
        /// Variables with their new values.
        values: Vec<(Variable, i32)>,
        /// The next state.
        next: S,
    },
    /// Sends a message.
    Send {
        /// The channel.
        channel: Channel,
        /// The fields.
        message: Vec<i32>,
        /// The next state.
        next: S,
    },
    /// Receives a message; see [`External::received`].
    Receive {
        /// The channel.
        channel: Channel,
    },
    /// Reports an error with this message.
    Fail(String),
}

/// A global variable of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Variable(pub(super) Cell);

/// A global variable of a model that holds a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Channel(pub(super) Cell);

/// The names declared by a model.
#[derive(Debug, Clone, Copy)]
pub struct Names<'a> {
    program: &'a Program,
}

/// A name that the model does not declare.
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

    /// Returns a global variable: `held`, `trap[1]`, `record.field`.
    ///
    /// # Errors
    /// There is no such variable.
    pub fn variable(&self, name: &str) -> Result<Variable, Unknown> {
        self.cell(name, "variable").map(Variable)
    }

    /// Returns a global channel: `report`, `attempt[1]`.
    ///
    /// # Errors
    /// There is no such channel.
    pub fn channel(&self, name: &str) -> Result<Channel, Unknown> {
        self.cell(name, "channel").map(Channel)
    }

    /// Returns the value of an `mtype` name.
    ///
    /// # Errors
    /// There is no such name.
    pub fn message(&self, name: &str) -> Result<i32, Unknown> {
        let mut sets = self.program.mtypes.iter();
        let index = sets.find_map(|names| names.iter().position(|it| **it == *name));
        index.map(|index| index as i32 + 1).ok_or_else(|| Unknown {
            kind: "mtype",
            name: name.to_owned(),
        })
    }
}

/// The state of the model, as seen by a process.
#[derive(Debug, Clone, Copy)]
pub struct World<'a> {
    pub(super) state: &'a [u8],
    pub(super) process: usize,
}

impl World<'_> {
    /// Returns the value of a variable.
    pub fn value(&self, variable: Variable) -> i32 {
        load(self.state, 0, &variable.0)
    }

    /// Returns the number of the process itself.
    pub fn process(&self) -> i32 {
        self.process as i32
    }
}

type Maker = dyn Fn(&Names<'_>) -> Result<Arc<dyn Numbered>, Unknown>;

/// Implementations of `extern proctype`s, by name.
#[derive(Default)]
pub struct Externals {
    makers: Vec<(String, Box<Maker>)>,
}

impl Externals {
    /// Returns an empty set.
    pub fn new() -> Externals {
        Externals::default()
    }

    /// Adds an implementation, created when the names of the model are known.
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

/// An [`External`] with numbered states.
pub(super) trait Numbered: Debug + Send + Sync {
    fn begin(&self, arguments: &[i32]) -> Option<u32>;
    fn offers(&self, state: u32, world: &World<'_>) -> Vec<Offer<Option<u32>>>;
    fn received(&self, state: u32, channel: Channel, message: &[i32]) -> Option<Option<u32>>;
    fn may_end(&self, state: u32) -> bool;
    fn shown(&self, state: u32) -> String;
}

/// A process with its states by number.
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

/// Storage of a state number in the state vector.
pub(super) const NUMBER: Scalar = Scalar {
    kept: super::program::Kept::Int,
    least: 0,
    greatest: i32::MAX,
    mtype: None,
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

    /// Returns the number of a state; `None` if there are too many.
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

/// Compiled form of an `extern proctype`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Outside {
    /// Location of the state number in the frame of a process.
    pub cell: Cell,
    /// Instruction that represents its steps, if no description is needed.
    pub instruction: u32,
}

/// Assigns the Rust implementations to the process types.
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
                let message = "this process has no implementation in Rust";
                let help = "write the process in PROMELA, or pass its implementation to \
                     `Model::read_with`";
                Fault::new("external", message, Some(kind.span)).help(help)
            }
        };
        faults.push(fault);
        None
    });
    let outside = kinds.collect();
    if faults.is_empty() {
        Ok(outside)
    } else {
        Err(faults)
    }
}
