//! The command line of `juror property`.

use super::Messages;
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  juror property check queue.prop             report errors and warnings
  juror property check --program ./faulty queue.prop
                                              show where each event is bound
  juror property fmt queue.prop               format the file
  juror property show queue.prop              show the automaton as text
  juror property show --as svg queue.prop > queue.svg
                                              draw the automaton";

const FORMAT_AFTER: &str = "\
Without files, or with -, juror formats the standard input to the standard
output. A file with an error is reported and not changed. Line breaks and
comments are kept.

Exit status: 0 done, 1 with --check: a file is not formatted, 2 an error.";

const CHECK_AFTER: &str = "\
With --program, juror loads the program and its libraries, shows for each event
where it is bound and which inlined calls it misses, and ends the program before
any constructor and main.

Exit status: 0 no errors, 2 errors, or warnings or unbound events with --strict.";

const SHOW_AFTER: &str = "\
Exit status: 0 done, 2 an error.";

/// `juror property`.
#[derive(Debug, Args)]
#[command(before_help = EXAMPLES, subcommand_required = true, arg_required_else_help = true)]
pub struct PropertyCommand {
    #[command(subcommand)]
    pub action: PropertyAction,
}

/// A command of `juror property`.
#[derive(Debug, Subcommand)]
pub enum PropertyAction {
    /// Check property files for errors
    #[command(before_help = EXAMPLES, after_help = CHECK_AFTER)]
    Check(CheckProperties),
    /// Format property files
    #[command(name = "fmt", alias = "format", before_help = EXAMPLES, after_help = FORMAT_AFTER)]
    Format(FormatProperties),
    /// Draw the automaton of a property
    #[command(before_help = EXAMPLES, after_help = SHOW_AFTER)]
    Show(ShowProperty),
}

/// `juror property check`.
#[derive(Debug, Args)]
pub struct CheckProperties {
    /// Treat warnings as errors
    #[arg(long)]
    pub strict: bool,
    /// Bind the events to this program, without running it
    #[arg(long, value_name = "PROGRAM")]
    pub program: Option<PathBuf>,
    /// With --program: report events before calls also for inlined calls
    #[arg(long, requires = "program")]
    pub at_inlined: bool,
    /// With --program: accept that inlined calls give no events
    #[arg(long, requires = "program")]
    pub ignore_inlined: bool,
    /// Write diagnostics as JSON lines to FILE, or to the standard output
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true,
          default_missing_value = "-")]
    pub json: Option<PathBuf>,
    #[command(flatten)]
    pub messages: Messages,
    /// The property files; - is the standard input
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
}

/// `juror property fmt`.
#[derive(Debug, Args)]
pub struct FormatProperties {
    /// Change nothing; list the files that are not formatted
    #[arg(long)]
    pub check: bool,
    #[command(flatten)]
    pub messages: Messages,
    /// The property files; - is the standard input
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
}

/// `juror property show`.
#[derive(Debug, Args)]
pub struct ShowProperty {
    /// The format: text, dot, svg or mermaid
    #[arg(
        long = "as",
        value_enum,
        value_name = "FORM",
        default_value = "text",
        hide_possible_values = true
    )]
    pub form: ShownForm,
    /// Show the formula instead, with patterns and macros expanded
    #[arg(long)]
    pub expand: bool,
    #[command(flatten)]
    pub messages: Messages,
    /// The property file; - is the standard input
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The name of the property; default: all properties of the file
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
}

/// The format of a drawing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ShownForm {
    /// For a terminal
    Text,
    /// For Graphviz
    Dot,
    /// An image
    Svg,
    /// For Markdown pages
    Mermaid,
}
