//! The command line of `juror replay`.

use super::check::Check;
use super::web::Web;
use super::{Action, Messages, Run, Script, TraceFormat, options};
use crate::driver::PropertySource;
use clap::Args;
use std::ffi::OsString;
use std::path::PathBuf;

pub(super) const REPLAY_EXAMPLES: &str = "\
Examples:
  juror replay --property queue.prop run.jsonl
      go to the first violation of a recorded run, and show the prompt
  juror replay run.jsonl
      begin before the first event: step, continue, break push, reverse-step
  juror replay -e 'goto 27' -e 'info args' run.jsonl
      show the values of the 27th event
  juror replay bank.17.run
      make a run of juror explore again, up to its failure, and show the prompt
  juror replay -e 'break withdraw' bank.17.run
      the same, with a breakpoint
  juror replay --batch bank.17.run
      make it again and report";

pub(super) const REPLAY_AFTER: &str = "\
A recording is written by juror run --trace or by another program. It contains
events, but no stack and no memory. A replay can go backwards.

The file of a run of juror explore has the order of the threads: the program itself runs again, its
threads in that order. run makes it again, as often as you like.

Exit status: 0 no violation was seen, 1 a violation was seen, 2 a usage error, an
invalid recording, or a property that could not be evaluated, 101 a bug in juror. With
--batch and FILE.run: 1 the run failed again, 2 it was another run.";

/// `juror replay`.
#[derive(Debug, Args)]
pub struct Replay {
    /// Monitor the properties in this file (repeatable)
    #[arg(long = "property", value_name = "FILE")]
    pub properties: Vec<PathBuf>,
    /// Write results as JSON lines to FILE, or to the standard output
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true,
          default_missing_value = "-")]
    pub json: Option<PathBuf>,
    /// Show the run on a page at PORT of this machine (a free one if not given), or write a
    /// report to FILE.html
    #[arg(long, value_name = "PORT|FILE.html", num_args = 0..=1, require_equals = true,
          default_missing_value = "")]
    pub web: Option<Web>,
    /// The format of the recording: json, binary, csv, or auto
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
    /// Let a run of juror explore change files, whatever its file says
    #[arg(long)]
    pub real_files: bool,
    /// How many events each monitor keeps for the paths in reports
    #[arg(long, value_name = "N")]
    pub history: Option<usize>,
    /// Execute the commands in this file
    #[arg(short = 'x', long = "commands", value_name = "FILE")]
    pub(super) command_files: Vec<PathBuf>,
    /// Execute this command; -x and -e are executed in the order given
    #[arg(short = 'e', long = "ex", value_name = "COMMAND")]
    pub(super) command_lines: Vec<String>,
    #[arg(skip)]
    pub scripts: Vec<Script>,
    /// Make a run of juror explore again, report and exit instead of showing a prompt
    #[arg(long)]
    pub batch: bool,
    #[command(flatten)]
    pub messages: Messages,
    /// The recorded run, or the file of a run of juror explore
    #[arg(value_name = "TRACE|FILE.run")]
    pub recording: PathBuf,
}

impl From<&Check> for Replay {
    /// Returns the replay of a check's trace, which stops at the first violation.
    fn from(check: &Check) -> Replay {
        Replay {
            properties: check.properties.clone(),
            json: check.json.clone(),
            web: check.web.clone(),
            trace_format: check.trace_format,
            columns: check.columns.clone(),
            real_files: false,
            history: check.history,
            command_files: Vec::new(),
            command_lines: Vec::new(),
            scripts: Vec::new(),
            batch: false,
            messages: check.messages.clone(),
            recording: check.traces.first().cloned().unwrap_or_default(),
        }
    }
}

impl Replay {
    /// Returns the command line of a session of a program with these options.
    pub fn run(&self, program: &str) -> anyhow::Result<Box<Run>> {
        let words = ["juror", "run", "--", program].map(OsString::from);
        let Action::Run(mut run) = super::parse_from(words)?.action else {
            anyhow::bail!("juror run is no command");
        };
        let common = &mut run.common;
        common.properties.clone_from(&self.properties);
        common.json.clone_from(&self.json);
        common.web.clone_from(&self.web);
        common.history = self.history;
        common.scripts.clone_from(&self.scripts);
        common.messages = self.messages.clone();
        Ok(run)
    }

    /// Reads the property files.
    pub fn sources(&self) -> anyhow::Result<Vec<PropertySource>> {
        options::read_properties(&self.properties)
    }
}
