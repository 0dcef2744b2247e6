//! The command line of `juror model`.

use super::Messages;
use super::web::Web;
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  juror model check philosophers.pml          check assertions, deadlocks, formulas
  juror model check --ltl '[]<> eating' philosophers.pml
                                              check a formula (fair processes: --fair)
  juror model check --trail run.svg breakpoint.pml
                                              draw the run that leads to the error
  juror model simulate philosophers.pml       choose each step at a prompt
  juror model simulate --violation philosophers.pml
                                              step along the run to the error
  juror model simulate --random 7 --steps 100 philosophers.pml
                                              choose each step at random
  juror model conform control.asm run.jsonl   compare a session with a model";

const CHECK_AFTER: &str = "\
Without --ltl, --claim, --acceptance and --progress, juror checks the steps and
states of the model, then each of its ltl formulas and its never claim. --order,
--jobs, --symmetry and --compact apply to the search of steps and states,
--reduce also to formulas.

Exit status: 0 the model holds, 1 it is violated, 2 an error in the model, or an
incomplete search without a violation.";

const SIMULATE_AFTER: &str = "\
At the prompt, a number takes that step, Enter takes the first step, b goes back,
s shows all values, t shows the steps so far, q quits. With --violation, Enter
takes the marked step, which leads to the violation. An abstract state machine
asks for the inputs of its step: answer with a value, or with its number.

Exit status: 0 the run is valid, 1 it violates the model, 2 an error in the model.";

const CONFORM_AFTER: &str = "\
The model defines the meaning of the lines of the record (record { when ... }).
What the record does not contain may have any value.

Exit status: 0 the session follows the model, 1 it does not, 2 an error in the
model or the record.";

/// `juror model`.
#[derive(Debug, Args)]
#[command(before_help = EXAMPLES, subcommand_required = true, arg_required_else_help = true)]
pub struct ModelCommand {
    #[command(subcommand)]
    pub action: ModelAction,
}

/// A command of `juror model`.
#[derive(Debug, Subcommand)]
pub enum ModelAction {
    /// Search the runs of a model for violations
    #[command(before_help = EXAMPLES, after_help = CHECK_AFTER)]
    Check(Box<CheckModel>),
    /// Step through a model, by hand or at random
    #[command(before_help = EXAMPLES, after_help = SIMULATE_AFTER)]
    Simulate(Simulate),
    /// Check whether a recorded session follows a model
    #[command(before_help = EXAMPLES, after_help = CONFORM_AFTER)]
    Conform(Conform),
}

/// The model, and the options for reading it.
#[derive(Debug, Args)]
pub struct ModelFile {
    /// Define a macro (repeatable)
    #[arg(short = 'D', long = "define", value_name = "NAME[=VALUE]")]
    pub definitions: Vec<String>,
    /// Truncate values that do not fit their variables, as C and Spin do
    #[arg(long)]
    pub wrap: bool,
    /// The model, in PROMELA, or an abstract state machine (.asm)
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
}

/// The order of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Order {
    /// Finds the shortest run to an error
    Breadth,
    /// Needs less memory besides the states
    Depth,
}

/// `juror model check`.
#[derive(Debug, Args)]
pub struct CheckModel {
    /// Check this formula: its name in the model, or the formula itself (repeatable)
    #[arg(long, value_name = "FORMULA")]
    pub ltl: Vec<String>,
    /// Check the never claim
    #[arg(long)]
    pub claim: bool,
    /// Search for runs that reach accept labels infinitely often
    #[arg(long)]
    pub acceptance: bool,
    /// Search for runs that reach progress labels only finitely often
    #[arg(long)]
    pub progress: bool,
    /// Consider only runs in which no process is ignored forever
    #[arg(long)]
    pub fair: bool,
    /// Do not report deadlocks
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
    /// The number of threads of the search
    #[arg(long, value_name = "COUNT", default_value_t = 1)]
    pub jobs: usize,
    /// Use partial order reduction
    #[arg(long, conflicts_with = "jobs")]
    pub reduce: bool,
    /// Use symmetry reduction for identical processes
    #[arg(long, conflicts_with = "reduce")]
    pub symmetry: bool,
    /// Store only 8 bytes of each state; a search without a violation is then incomplete
    #[arg(long, conflicts_with_all = ["reduce", "jobs", "order"])]
    pub compact: bool,
    /// The maximum number of states
    #[arg(long, value_name = "COUNT")]
    pub states: Option<u32>,
    /// The maximum number of steps of a run
    #[arg(long, value_name = "COUNT")]
    pub depth: Option<u32>,
    /// The maximum memory for the states, in megabytes; by default most of the available
    /// memory
    #[arg(long, value_name = "MEGABYTES")]
    pub memory: Option<u64>,
    /// Write the run that leads to the error to FILE: .svg, .json, or text
    #[arg(long, value_name = "FILE")]
    pub trail: Option<PathBuf>,
    /// Show the answers, and the run that leads to the error, on a page at PORT of this machine
    /// (a free one if not given), or write them to FILE.html
    #[arg(long, value_name = "PORT|FILE.html", num_args = 0..=1, require_equals = true,
          default_missing_value = "")]
    pub web: Option<Web>,
    /// Write the answers as JSON lines to FILE, or to the standard output
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
    /// Choose steps at random, with this seed
    #[arg(long, value_name = "SEED")]
    pub random: Option<u64>,
    /// The maximum number of steps of a random run
    #[arg(
        long,
        value_name = "COUNT",
        default_value_t = 1000,
        requires = "random"
    )]
    pub steps: u32,
    /// Follow the run to a violation: Enter takes its next step
    #[arg(long, conflicts_with_all = ["random", "script"])]
    pub violation: bool,
    /// Use this script as the environment of an abstract state machine
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
    /// Write the answer as a JSON line to FILE, or to the standard output
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
