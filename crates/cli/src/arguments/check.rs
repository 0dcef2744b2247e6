//! The command line of `juror check`.

use super::web::Web;
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
      check two runs, report each violation, and skip invalid records
  juror check --merge --property protocol.prop client.jsonl server.jsonl
      check two programs that ran at the same time as one run
  juror check --follow --property queue.prop run.jsonl
      check a run while it is being recorded
  juror check --property new.prop server.1.run
      make a run of juror record or juror explore again, with a property over it
  generate | juror check --property jobs.prop --columns 'push=queue,job' -
      read CSV from the standard input: time,thread,event and values";

pub(super) const CHECK_AFTER: &str = "\
A trace is written by juror run --trace or by another program, as JSON lines, in
the binary format, or as CSV. juror detects the format by the first bytes. The
chapter on traces of the book describes the formats. A run file is written by
juror record or juror explore: its run is made again, so that a property may name
any event and any value. Run files and traces are checked apart.

Exit status: 0 each property holds in each trace, 1 a property is violated, 2 a
usage error, a trace that is incomplete or out of order, or a property that
could not be evaluated, 101 a bug in juror. A violation before an error in a
trace counts.";

/// `juror check`.
#[derive(Debug, Args)]
pub struct Check {
    /// Evaluate the properties in this file (repeatable)
    #[arg(long = "property", value_name = "FILE", required = true)]
    pub properties: Vec<PathBuf>,
    /// Continue after violations, and skip invalid records
    #[arg(long)]
    pub keep_going: bool,
    /// Let a property hold although no module of the run had a function or variable of
    /// its events
    #[arg(long)]
    pub allow_unbound: bool,
    /// Check all traces as one run, ordered by time
    #[arg(long, conflicts_with = "follow")]
    pub merge: bool,
    /// Wait for more of a trace that is being recorded, until its end or Ctrl-C
    #[arg(long)]
    pub follow: bool,
    /// Write verdicts as JSON lines to FILE, or to the standard output
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true,
          default_missing_value = "-")]
    pub json: Option<PathBuf>,
    /// Show the first violation of a trace on a page at PORT of this machine (a free one if
    /// not given), or write a report to FILE.html
    #[arg(long, value_name = "PORT|FILE.html", num_args = 0..=1, require_equals = true,
          default_missing_value = "")]
    pub web: Option<Web>,
    /// The format of the traces: json, binary, csv, or auto
    #[arg(
        long,
        value_enum,
        value_name = "FORM",
        default_value = "auto",
        hide_possible_values = true
    )]
    pub trace_format: TraceFormat,
    /// The names of an event's values in CSV (repeatable)
    #[arg(long, value_name = "EVENT=NAME,...")]
    pub columns: Vec<String>,
    /// How many events each monitor keeps for the paths in reports
    #[arg(long, value_name = "N")]
    pub history: Option<usize>,
    /// How many threads read a trace, and how many evaluate properties and their
    /// slices; by default the number of processors
    #[arg(long, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
    #[command(flatten)]
    pub messages: Messages,
    /// The traces, or run files; - is the standard input
    #[arg(value_name = "TRACE|FILE.run", required = true)]
    pub traces: Vec<PathBuf>,
}

/// The format of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TraceFormat {
    /// By the first bytes; when recording, by the name: .jtr is binary
    Auto,
    /// JSON lines
    Json,
    /// The binary format
    Binary,
    /// Comma-separated values
    Csv,
}

impl TraceFormat {
    /// Returns the format, unless it is detected from the trace.
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
    /// Reads the property files.
    pub fn sources(&self) -> anyhow::Result<Vec<PropertySource>> {
        options::read_properties(&self.properties)
    }
}
