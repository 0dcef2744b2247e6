//! The command line of `juror trust`.

use super::Messages;
use clap::Args;
use std::path::PathBuf;

pub(super) const EXAMPLES: &str = "\
Examples:
  juror trust                  execute .juror of this directory from now on
  juror trust ~/src/queue      the same for another directory
  juror trust --forget         do not execute it any more
  juror trust --list           the directories whose .juror is executed";

pub(super) const AFTER: &str = "\
juror run and juror attach execute the commands in .juror of the current directory if it
has been allowed there, and has not changed since. Commands can run programs: read the
file first. --no-init leaves it out.";

/// `juror trust`.
#[derive(Debug, Args)]
pub struct Trust {
    /// Do not execute the file any more
    #[arg(long, conflicts_with = "list")]
    pub forget: bool,
    /// List the directories
    #[arg(long, conflicts_with = "directory")]
    pub list: bool,
    #[command(flatten)]
    pub messages: Messages,
    /// The directory; the current one by default
    #[arg(value_name = "DIR")]
    pub directory: Option<PathBuf>,
}
