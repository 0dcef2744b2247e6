//! The command line of `juror model`.

use crate::arguments::Messages;
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  juror model check philosophers.pml          assertions, deadlocks, formulas
  juror model check --ltl '[]<> eating' philosophers.pml
                                              one formula, with fair processes: --fair
  juror model check --trail run.svg breakpoint.pml
                                              the way to the error as a picture
  juror model simulate philosophers.pml       choose each step at a prompt
  juror model simulate --violation philosophers.pml
                                              step along the way to the error
  juror model simulate --random 7 --steps 100 philosophers.pml
  juror model conform control.asm run.jsonl   did this session follow the model?";

const CHECK_AFTER: &str = "\
Without --ltl, --claim, --acceptance and --progress, the steps and states of the
model are checked, and then each of its ltl formulas and its never claim. --order,
--jobs, --symmetry and --compact say how steps and states are searched; --reduce is
for formulas, too.

Exit status: 0 everything holds, 1 something is wrong, 2 a mistake in the model,
or the search was cut short and found nothing.";

const SIMULATE_AFTER: &str = "\
At the prompt: a number takes that step, Enter the first one, b goes back, s
shows all values, t shows the way up to here, q ends. With --violation, Enter takes
the marked step, which is on the way to what is wrong. An abstract state machine
asks for what its step reads: a value, or its number.

Exit status: 0, or 1 if the run went wrong, 2 a mistake in the model.";

const CONFORM_AFTER: &str = "\
The model says what the lines of the record mean (record { when ... }); what the
record does not tell may have been so in any way.

Exit status: 0 the session followed the model, 1 it did not, 2 a mistake in the
model or the record.";

/// `juror model`.
#[derive(Debug, Args)]
#[command(before_help = EXAMPLES, subcommand_required = true, arg_required_else_help = true)]
pub struct ModelCommand {
    #[command(subcommand)]
    pub action: ModelAction,
}

/// What is done with a model.
#[derive(Debug, Subcommand)]
pub enum ModelAction {
    /// Search all runs of a model for one that goes wrong
    #[command(before_help = EXAMPLES, after_help = CHECK_AFTER)]
    Check(Box<CheckModel>),
    /// Walk through a model step by step, or at random
    #[command(before_help = EXAMPLES, after_help = SIMULATE_AFTER)]
    Simulate(Simulate),
    /// Say whether a recorded session followed a model
    #[command(before_help = EXAMPLES, after_help = CONFORM_AFTER)]
    Conform(Conform),
}

/// The model, and how it is read.
#[derive(Debug, Args)]
pub struct ModelFile {
    /// Define a macro before the model is read; may be given several times
    #[arg(short = 'D', long = "define", value_name = "NAME[=VALUE]")]
    pub definitions: Vec<String>,
    /// Cut values that do not fit their variables, as C and Spin do
    #[arg(long)]
    pub wrap: bool,
    /// The model, in PROMELA, or an abstract state machine (.asm)
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
}

/// How the states are searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Order {
    /// The shortest way to an error
    Breadth,
    /// Less memory beside the states
    Depth,
}

/// `juror model check`.
#[derive(Debug, Args)]
pub struct CheckModel {
    /// Check this formula: the name of one in the model, or the formula itself
    #[arg(long, value_name = "FORMULA")]
    pub ltl: Vec<String>,
    /// Check the never claim
    #[arg(long)]
    pub claim: bool,
    /// Look for runs that come to accept labels again and again
    #[arg(long)]
    pub acceptance: bool,
    /// Look for runs that come to no progress label any more
    #[arg(long)]
    pub progress: bool,
    /// Take only runs in which no process is passed over for ever
    #[arg(long)]
    pub fair: bool,
    /// A state where nobody can go on is no error
    #[arg(long)]
    pub no_deadlock: bool,
    /// The order of the search: breadth or depth
    #[arg(
        long,
        value_enum,
        value_name = "ORDER",
        default_value = "breadth",
        hide_possible_values = true
    )]
    pub order: Order,
    /// Search with so many threads
    #[arg(long, value_name = "COUNT", default_value_t = 1)]
    pub jobs: usize,
    /// Leave out orders of steps that make no difference
    #[arg(long, conflicts_with = "jobs")]
    pub reduce: bool,
    /// Take identical processes for one another
    #[arg(long, conflicts_with = "reduce")]
    pub symmetry: bool,
    /// Keep 8 bytes of each state; if nothing wrong is found, that is incomplete
    #[arg(long, conflicts_with_all = ["reduce", "jobs", "order"])]
    pub compact: bool,
    /// The most states
    #[arg(long, value_name = "COUNT")]
    pub states: Option<u32>,
    /// The most steps of a run
    #[arg(long, value_name = "COUNT")]
    pub depth: Option<u32>,
    /// The most memory for the states, in megabytes; if not told, most of what the
    /// machine has free
    #[arg(long, value_name = "MEGABYTES")]
    pub memory: Option<u64>,
    /// Write the way to the error to FILE: .svg, .json, or as text
    #[arg(long, value_name = "FILE")]
    pub trail: Option<PathBuf>,
    /// Write the answers as JSON lines, to FILE or to the output
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true,
          default_missing_value = "-")]
    pub json: Option<PathBuf>,
    #[command(flatten)]
    pub messages: Messages,
    #[command(flatten)]
    pub model: ModelFile,
}

/// `juror model simulate`.
#[derive(Debug, Args)]
pub struct Simulate {
    /// Take steps at random, with this seed
    #[arg(long, value_name = "SEED")]
    pub random: Option<u64>,
    /// The most steps of a random run
    #[arg(
        long,
        value_name = "COUNT",
        default_value_t = 1000,
        requires = "random"
    )]
    pub steps: u32,
    /// Walk along the way to what is wrong: Enter takes its next step
    #[arg(long, conflicts_with_all = ["random", "script"])]
    pub violation: bool,
    /// Let this script be the environment of an abstract state machine
    #[arg(long, value_name = "FILE", conflicts_with = "random")]
    pub script: Option<PathBuf>,
    #[command(flatten)]
    pub messages: Messages,
    #[command(flatten)]
    pub model: ModelFile,
}

/// `juror model conform`.
#[derive(Debug, Args)]
pub struct Conform {
    /// Write the answer as a JSON line, to FILE or to the output
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true,
          default_missing_value = "-")]
    pub json: Option<PathBuf>,
    #[command(flatten)]
    pub messages: Messages,
    /// The model, an abstract state machine
    #[arg(value_name = "MODEL")]
    pub model: PathBuf,
    /// The JSON lines of the session (juror run --json=FILE)
    #[arg(value_name = "RECORD")]
    pub record: PathBuf,
}
