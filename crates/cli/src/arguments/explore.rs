//! The command line of `juror explore`.

use super::{Messages, options};
use crate::driver::PropertySource;
use clap::{Args, ValueEnum};
use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

pub(super) const EXPLORE_EXAMPLES: &str = "\
Examples:
  juror explore ./bank
      run ./bank 1000 times, its threads in different orders: deadlocks, crashes, failed
      assertions; the first failure is written to bank.N.run
  juror explore --property lock-order.prop ./bank
      a violation of the property is a failure, too
  juror explore --runs 10000 --seed 7 ./bank --accounts 2
      more orders, others than the usual ones
  juror replay bank.17.run
      the same run again";

pub(super) const EXPLORE_AFTER: &str = "\
The threads run one at a time, from one schedule point to the next; sleeps and time-outs take no
time, and a time-out may come before what it waits for. Each run is a whole run of the program; its
output is not shown, and what it does to files goes with it. What depends on the time of day, on
random numbers or on other processes may differ when a run is made again; that is said.

Exit status: 0 no failure in the runs that were made, 1 a failure, 2 an error, 130 Ctrl-C before a
failure.";

pub(super) const INEVITABLE_EXAMPLES: &str = "\
Examples:
  juror inevitable bank.17.run
      find the last moment of the run at which another order of the threads still avoids its failure
  juror inevitable --orders 200 bank.17.run
      the same, with more orders from each moment";

pub(super) const INEVITABLE_AFTER: &str = "\
The run is made again up to a moment, and goes on in other orders from there. The moment is the last
one as far as these orders tell: an order that was not tried may avoid the failure later.

Exit status: 0 the moment was found, or no order that was tried avoids the failure, 2 a usage error,
or the run has gone another way.";

/// `juror inevitable`.
#[derive(Debug, Args)]
pub struct Inevitable {
    /// The number of orders that are tried from each moment
    #[arg(long, value_name = "N", default_value_t = 20,
          value_parser = clap::value_parser!(u32).range(1..))]
    pub orders: u32,
    #[command(flatten)]
    pub messages: Messages,
    /// The file of a run of juror explore
    #[arg(value_name = "FILE.run")]
    pub file: PathBuf,
}

impl Explore {
    /// Returns the program.
    pub fn program(&self) -> &Path {
        self.program.first().map_or(Path::new(""), Path::new)
    }

    /// Returns the arguments of the program.
    pub fn arguments(&self) -> &[OsString] {
        self.program.get(1..).unwrap_or_default()
    }

    /// Reads the property files.
    pub fn sources(&self) -> anyhow::Result<Vec<PropertySource>> {
        options::read_properties(&self.properties)
    }
}

/// `juror explore`.
#[derive(Debug, Args)]
pub struct Explore {
    /// Monitor the properties in this file, too (repeatable)
    #[arg(long = "property", value_name = "FILE")]
    pub properties: Vec<PathBuf>,
    /// The number of runs
    #[arg(long, value_name = "N", default_value_t = 1000,
          value_parser = clap::value_parser!(u32).range(1..))]
    pub runs: u32,
    /// The seed of the orders
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// The points at which threads are switched: sync, atomic, memory, back-edges (the first three in turn if not given)
    #[arg(long, value_enum, value_name = "SET", hide_possible_values = true)]
    pub points: Option<Points>,
    /// The longest time of a run, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 10,
          value_parser = clap::value_parser!(u64).range(1..))]
    pub run_limit: u64,
    /// The number of runs that are made at once; by default that of processors. The result is the
    /// same
    #[arg(long, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
    /// Let the runs change files; otherwise what they do to files goes with them
    #[arg(long)]
    pub real_files: bool,
    /// Who makes the runs: ptrace, the agent in the process, or both, to compare them
    #[arg(long, value_enum, value_name = "SHELL", hide = true)]
    pub by: Option<MadeBy>,
    #[command(flatten)]
    pub messages: Messages,
    // One list, so that clap takes each word after the first as a value.
    /// The program and its arguments
    #[arg(
        value_names = ["PROGRAM", "ARGUMENTS"],
        required = true,
        num_args = 1..,
        trailing_var_arg = true
    )]
    program: Vec<OsString>,
}

/// Who makes the runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MadeBy {
    /// The shell by ptrace
    Ptrace,
    /// The agent, as far as it can
    Agent,
    /// Both; a difference is an error
    Both,
}

/// A set of schedule points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Points {
    /// Calls of the synchronisation library
    Sync,
    /// And locked instructions
    Atomic,
    /// And accesses to memory that is shared
    Memory,
    /// And the beginnings of loops
    BackEdges,
}
