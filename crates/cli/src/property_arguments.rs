//! The command line of `juror property`.

use crate::arguments::Messages;
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  juror property check queue.prop             is it right?
  juror property fmt queue.prop               lay it out as all properties are
  juror property show queue.prop              its states, as text
  juror property show --as svg queue.prop > queue.svg
                                              the same as a picture";

const FORMAT_AFTER: &str = "\
Without files, or with -, the text comes from standard input and goes to
standard output. A file with a mistake is shown and left as it is. Line breaks
and comments stay where they are.

Exit status: 0 done, 1 with --check: a file is not laid out, 2 a mistake.";

const CHECK_AFTER: &str = "\
Exit status: 0 no mistakes, 2 mistakes, or warnings with --strict.";

const SHOW_AFTER: &str = "\
Exit status: 0 shown, 2 a mistake.";

/// `juror property`.
#[derive(Debug, Args)]
#[command(before_help = EXAMPLES, subcommand_required = true, arg_required_else_help = true)]
pub struct PropertyCommand {
    #[command(subcommand)]
    pub action: PropertyAction,
}

/// What is done with property files.
#[derive(Debug, Subcommand)]
pub enum PropertyAction {
    /// Look for mistakes in property files
    #[command(before_help = EXAMPLES, after_help = CHECK_AFTER)]
    Check(CheckProperties),
    /// Lay property files out
    #[command(name = "fmt", alias = "format", before_help = EXAMPLES, after_help = FORMAT_AFTER)]
    Format(FormatProperties),
    /// Draw the automaton of a property
    #[command(before_help = EXAMPLES, after_help = SHOW_AFTER)]
    Show(ShowProperty),
}

/// `juror property check`.
#[derive(Debug, Args)]
pub struct CheckProperties {
    /// Take warnings as mistakes
    #[arg(long)]
    pub strict: bool,
    /// Write what is found as JSON lines, to FILE or to the output
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true,
          default_missing_value = "-")]
    pub json: Option<PathBuf>,
    #[command(flatten)]
    pub messages: Messages,
    /// The property files; - is standard input
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
}

/// `juror property fmt`.
#[derive(Debug, Args)]
pub struct FormatProperties {
    /// Change nothing; name the files that are not laid out
    #[arg(long)]
    pub check: bool,
    #[command(flatten)]
    pub messages: Messages,
    /// The property files; - is standard input
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
}

/// `juror property show`.
#[derive(Debug, Args)]
pub struct ShowProperty {
    /// The form: text, dot, svg or mermaid
    #[arg(
        long = "as",
        value_enum,
        value_name = "FORM",
        default_value = "text",
        hide_possible_values = true
    )]
    pub form: ShownForm,
    /// Say only what is demanded, with patterns and macros expanded
    #[arg(long)]
    pub expand: bool,
    #[command(flatten)]
    pub messages: Messages,
    /// The property file; - is standard input
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The name of the property; all of the file without
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
}

/// The form of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ShownForm {
    /// For a terminal
    Text,
    /// For Graphviz
    Dot,
    /// A picture
    Svg,
    /// For Markdown pages
    Mermaid,
}
