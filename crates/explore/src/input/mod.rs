//! The inputs of a run: recorded while the program runs, or fed to it when the run is made again.
//!
//! Between two inputs a thread computes the same each time: only what the kernel tells the program,
//! and when, is recorded. So a run that is fed opens no file of its own and sends nothing:
//! calls are not made, but for those on the program's own memory.

pub(crate) mod blocks;
pub(crate) mod classes;
pub(crate) mod entry;
pub(crate) mod feeder;
pub(crate) mod history;
pub(crate) mod recorder;
mod tally;

pub(crate) use entry::{Call, Comes, Ending, Entry, FileIdentity, Way, Written};
pub(crate) use feeder::Feeder;
pub(crate) use recorder::Recorder;
pub use tally::Tally;

/// The inputs of a run.
#[derive(Debug, Default)]
pub(crate) enum Inputs {
    /// They are the world's, and not recorded.
    #[default]
    Own,
    Recorded(Box<Recorder>),
    Fed(Box<Feeder>),
}

impl Inputs {
    /// Returns whether the calls of the program are recorded or fed.
    pub(crate) fn are_kept(&self) -> bool {
        !matches!(self, Inputs::Own)
    }

    pub(crate) fn are_fed(&self) -> bool {
        matches!(self, Inputs::Fed(_))
    }
}
