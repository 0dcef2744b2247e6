//! The command line of `juror check`.

use super::{Messages, options};
use crate::driver::PropertySource;
use clap::{Args, ValueEnum};
use juror_trace::Form;
use std::num::NonZeroUsize;
use std::path::PathBuf;

pub(super) const CHECK_EXAMPLES: &str = "\
Examples:
  juror check --property queue.prop run.jsonl
      evaluate a property over a recorded run
  juror check --keep-going --property queue.prop monday.jtr tuesday.jtr
      two runs; report every violation, and pass over what cannot be read
  juror check --merge --property protocol.prop client.jsonl server.jsonl
      two programs that ran at the same time, as one run
  juror check --follow --property queue.prop run.jsonl
      a run that is being recorded, as it goes on
  generate | juror check --property jobs.prop --columns 'push=queue,job' -
      CSV on standard input: time,thread,event and values";

pub(super) const CHECK_AFTER: &str = "\
A trace is written by juror run --trace, or by another program: JSON lines, the
binary form, or CSV. Which it is, its first bytes tell. The forms are described
in the book, in the chapter about traces.

Exit status: 0 every property holds in every trace, 1 a property is violated,
2 an error of use, a trace that is not complete or not in order, or a property
that could not be evaluated, 101 a bug in juror. What comes before a mistake
counts: a violation there is a violation.";

/// `juror check`.
#[derive(Debug, Args)]
pub struct Check {
    /// Evaluate the properties in this file; may be given several times
    #[arg(long = "property", value_name = "FILE", required = true)]
    pub properties: Vec<PathBuf>,
    /// Go on after violations, and pass over records that cannot be read
    #[arg(long)]
    pub keep_going: bool,
    /// Take all traces as one run, in the order of their times
    #[arg(long, conflicts_with = "follow")]
    pub merge: bool,
    /// Wait for more of a trace that is being recorded, until its end or Ctrl-C
    #[arg(long)]
    pub follow: bool,
    /// Write verdicts as JSON lines, to FILE or to the output
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true,
          default_missing_value = "-")]
    pub json: Option<PathBuf>,
    /// The form of the traces: json, binary, csv, or auto
    #[arg(
        long,
        value_enum,
        value_name = "FORM",
        default_value = "auto",
        hide_possible_values = true
    )]
    pub trace_format: TraceFormat,
    /// Names of an event's values in CSV; may be given several times
    #[arg(long, value_name = "EVENT=NAME,...")]
    pub columns: Vec<String>,
    /// How many events each monitor remembers, for the paths in reports
    #[arg(long, value_name = "N")]
    pub history: Option<usize>,
    /// How many threads read a trace, and how many evaluate its properties and
    /// their slices; by default as many as there are processors
    #[arg(long, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
    #[command(flatten)]
    pub messages: Messages,
    /// The recorded runs; - is standard input
    #[arg(value_name = "TRACE", required = true)]
    pub traces: Vec<PathBuf>,
}

/// The form of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TraceFormat {
    /// By what it begins with; when recording, by the name: .jtr is binary
    Auto,
    /// JSON lines
    Json,
    /// The binary form
    Binary,
    /// Comma-separated values
    Csv,
}

impl TraceFormat {
    /// The form that was asked for; nothing where the trace itself tells.
    pub fn form(self) -> Option<Form> {
        match self {
            TraceFormat::Auto => None,
            TraceFormat::Json => Some(Form::Json),
            TraceFormat::Binary => Some(Form::Binary),
            TraceFormat::Csv => Some(Form::Csv),
        }
    }
}

impl Check {
    /// The properties; reads their files.
    pub fn sources(&self) -> anyhow::Result<Vec<PropertySource>> {
        options::read_properties(&self.properties)
    }
}
