//! The ends of runs.

use juror_view::WaitingThreadView;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The end of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The program has ended.
    Exited {
        /// Its exit status.
        status: i32,
    },
    /// Threads wait for one another for ever.
    Deadlock(Deadlocked),
    /// A signal ended the program.
    Killed {
        /// The signal.
        signal: i32,
        /// The thread that got it, and its place.
        place: Option<ThreadPlace>,
    },
    /// A property is violated.
    Violated {
        /// Its name.
        property: String,
        /// Its description.
        description: Option<String>,
        /// The thread whose event has violated it, and its place; none if the end has.
        place: Option<ThreadPlace>,
    },
    /// The run did not end within its limits, or turns in loops that nothing ends.
    Endless {
        /// The places of the threads.
        threads: Vec<ThreadPlace>,
    },
}

/// The threads of a deadlock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deadlocked {
    /// The threads that wait, and for what.
    pub threads: Vec<Waiting>,
    /// Whether other threads go on.
    pub is_partial: bool,
}

/// A thread that waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// The thread, and where it waits.
    pub place: ThreadPlace,
    /// The object that it waits for: a variable, or an address.
    pub object: String,
    /// The thread that has it.
    pub holder: Option<Holding>,
}

/// A thread that has a lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holding {
    /// Its number.
    pub number: u32,
    /// The place at which it has taken the lock, if that is known.
    pub place: Option<String>,
}

impl Waiting {
    /// Returns it as it is shown.
    pub fn view(&self) -> WaitingThreadView {
        WaitingThreadView {
            number: self.place.number,
            place: self.place.place_words(),
            object: Some(self.object.clone()),
            holder: self.holder.as_ref().map(|holder| holder.number),
            taken_at: self.holder.as_ref().and_then(|holder| holder.place.clone()),
        }
    }
}

/// A thread, and where it stands in the user's source.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ThreadPlace {
    /// Its number, from 1 in the order of creation.
    pub number: u32,
    /// The function.
    pub function: Option<String>,
    /// The source file.
    pub file: Option<String>,
    /// The source line.
    pub line: Option<u32>,
}

impl ThreadPlace {
    /// Returns the function, and the file with the line, as far as they are known.
    pub fn place_words(&self) -> String {
        let line = self.file.as_ref().zip(self.line);
        let at = line.map(|(file, line)| {
            let file = Path::new(file).file_name().unwrap_or_default();
            format!("{}:{line}", file.display())
        });
        match (&self.function, at) {
            (Some(function), Some(at)) => format!("{function}, {at}"),
            (Some(function), None) => function.clone(),
            (None, Some(at)) => at,
            (None, None) => String::new(),
        }
    }

    /// Returns the thread with its place.
    pub fn words(&self) -> String {
        match &*self.place_words() {
            "" => format!("thread {}", self.number),
            place => format!("thread {} ({place})", self.number),
        }
    }
}

/// The identity of a failure: equal ones have the same cause, as far as that can be told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Signature {
    /// The program ended with a status.
    Exit {
        /// The status.
        status: i32,
    },
    /// Threads wait for one another: what they wait for, sorted.
    Deadlock {
        /// The objects.
        objects: Vec<String>,
    },
    /// A signal ended the program.
    Signal {
        /// Its number.
        signal: i32,
        /// The function and the line.
        place: Option<(String, u32)>,
    },
    /// The run did not end.
    Endless,
    /// A property was violated.
    Violation {
        /// Its name.
        property: String,
    },
}

impl Outcome {
    /// Returns what tells this end from others.
    pub fn signature(&self) -> Signature {
        match self {
            Outcome::Exited { status } => Signature::Exit { status: *status },
            Outcome::Deadlock(deadlock) => {
                let mut objects: Vec<String> = deadlock
                    .threads
                    .iter()
                    .map(|waiting| waiting.object.clone())
                    .collect();
                objects.sort();
                Signature::Deadlock { objects }
            }
            Outcome::Killed { signal, place } => Signature::Signal {
                signal: *signal,
                place: place
                    .as_ref()
                    .and_then(|place| Some((place.function.clone()?, place.line?))),
            },
            Outcome::Endless { .. } => Signature::Endless,
            Outcome::Violated { property, .. } => Signature::Violation {
                property: property.clone(),
            },
        }
    }

    /// Returns whether the run has failed, if a run in the usual order ends with `usual`.
    pub fn is_failure(&self, usual: i32) -> bool {
        match self {
            Outcome::Exited { status } => *status != 0 && *status != usual,
            _ => true,
        }
    }
}
