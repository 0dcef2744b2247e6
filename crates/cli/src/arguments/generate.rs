//! The command line of `juror generate`.

use clap::{Args, Subcommand};
use clap_complete::Shell;
use std::path::PathBuf;

/// `juror generate`.
#[derive(Debug, Args)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub struct Generate {
    #[command(subcommand)]
    pub files: Files,
}

/// The files that are written.
#[derive(Debug, Subcommand)]
pub enum Files {
    /// Write a man page for each command
    Man {
        /// The directory to write to
        #[arg(value_name = "DIR")]
        directory: PathBuf,
    },
    /// Write the completions for a shell
    Completions {
        /// The shell
        #[arg(value_name = "SHELL")]
        shell: Shell,
        /// The directory to write to
        #[arg(value_name = "DIR")]
        directory: PathBuf,
    },
}
