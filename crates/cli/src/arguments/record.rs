//! The command line of `juror record`.

use super::{Action, Messages, Run};
use clap::Args;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

pub(super) const RECORD_EXAMPLES: &str = "\
Examples:
  juror record ./server 8080
      run ./server, and keep what the kernel tells it in server.1.run
  juror record --property queue.prop -o bad.run ./faulty
      end where the property is violated
  juror replay server.1.run
      the same run again, at the prompt, as often as you like";

pub(super) const RECORD_AFTER: &str = "\
The program runs as usual: it reads and writes its files, and talks to whom it talks. Its threads run
one at a time. A run that is made again does nothing of that: it is told what it was told.

Exit status: as for juror run --batch.";

/// `juror record`.
#[derive(Debug, Args)]
pub struct Record {
    /// Monitor the properties in this file (repeatable)
    #[arg(long = "property", value_name = "FILE")]
    pub properties: Vec<PathBuf>,
    /// The file of the run (PROGRAM.N.run in this directory if not given)
    #[arg(short = 'o', long = "output", value_name = "FILE.run")]
    pub output: Option<PathBuf>,
    /// Write results as JSON lines to FILE, or to the standard output
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true,
          default_missing_value = "-")]
    pub json: Option<PathBuf>,
    /// Let each system call stop, also those that the program could note itself
    #[arg(long, hide = true)]
    pub by_stops: bool,
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

impl Record {
    /// Returns the program.
    pub fn program(&self) -> &Path {
        self.program.first().map_or(Path::new(""), Path::new)
    }

    /// Returns the command line of a batch run of the program with these options.
    pub fn run(&self) -> anyhow::Result<Box<Run>> {
        let words = ["juror", "run", "--batch", "--no-init", "--"].map(OsString::from);
        let words = words.into_iter().chain(self.program.clone());
        let Action::Run(mut run) = super::parse_from(words)?.action else {
            anyhow::bail!("juror run is no command");
        };
        let common = &mut run.common;
        common.properties.clone_from(&self.properties);
        common.json.clone_from(&self.json);
        common.messages = self.messages.clone();
        Ok(run)
    }
}
