//! The command line.
//!
//! Everything after the program's name belongs to the program.

mod check;
mod options;
mod replay;
mod session;

pub use check::{Check, TraceFormat};
pub use replay::Replay;
pub use session::{Attach, Common, Run, Script};

use crate::generate::Generate;
use crate::model_arguments::ModelCommand;
use crate::property_arguments::PropertyCommand;
use clap::{ArgMatches, Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  juror demo                                  see what juror does, in a minute
  juror run --property queue.prop ./faulty    stop where the property is violated
  juror run --batch --property queue.prop ./faulty --size 8
                                              report and exit: 0 holds, 1 violated
  juror ./program a b                         an ordinary debugger
  juror attach 1234                           the same, for a process that runs
  juror run --batch --trace run.jsonl --property queue.prop ./faulty
  juror check --property queue.prop run.jsonl
                                              record a run, and check it later
  juror replay --property queue.prop run.jsonl
                                              or go through it, forwards and backwards";

/// The whole command line.
#[derive(Debug, Parser)]
#[command(
    name = "juror",
    version,
    about = "A debugger that knows what the program should do",
    before_help = EXAMPLES,
    override_usage = "juror [run] [OPTIONS] PROGRAM [ARGUMENTS]...\n       \
                      juror attach [OPTIONS] PID\n       \
                      juror check [OPTIONS] TRACE...\n       juror replay [OPTIONS] TRACE\n       juror property COMMAND\n       juror model COMMAND\n       juror demo",
    subcommand_required = true,
    arg_required_else_help = true
)]
pub struct CommandLine {
    #[command(subcommand)]
    pub action: Action,
}

/// What juror is to do.
#[derive(Debug, Subcommand)]
pub enum Action {
    /// Run a program, and stop where it goes wrong
    #[command(before_help = session::RUN_EXAMPLES, after_help = session::RUN_AFTER)]
    Run(Box<Run>),
    /// Debug a process that runs already, and let it go on at the end
    #[command(before_help = session::ATTACH_EXAMPLES, after_help = session::ATTACH_AFTER)]
    Attach(Box<Attach>),
    /// Evaluate properties over recorded runs
    #[command(before_help = check::CHECK_EXAMPLES, after_help = check::CHECK_AFTER)]
    Check(Box<Check>),
    /// Go through a recorded run at a prompt, forwards and backwards
    #[command(before_help = replay::REPLAY_EXAMPLES, after_help = replay::REPLAY_AFTER)]
    Replay(Box<Replay>),
    /// Check property files, lay them out, draw them
    Property(PropertyCommand),
    /// Check the models of a design, and walk through them
    Model(ModelCommand),
    /// Compile an example program with a bug, and catch it
    Demo(Demo),
    /// Write man pages and shell completions
    #[command(hide = true)]
    Generate(Generate),
}

/// `juror demo`.
#[derive(Debug, Args)]
pub struct Demo {
    /// Where to keep the example
    #[arg(long, value_name = "DIR")]
    pub directory: Option<PathBuf>,
    #[command(flatten)]
    pub messages: Messages,
}

/// How messages look.
#[derive(Debug, Args)]
pub struct Messages {
    /// When to use colours: auto, always or never
    #[arg(
        long,
        value_enum,
        value_name = "WHEN",
        default_value = "auto",
        hide_possible_values = true
    )]
    pub color: Color,
}

/// When to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// Reads the command line of this process; ends it on `--help` and mistakes.
pub fn parse() -> CommandLine {
    parse_from(std::env::args_os()).unwrap_or_else(|error| error.exit())
}

/// Reads a command line, program name first.
pub fn parse_from(words: impl IntoIterator<Item = OsString>) -> Result<CommandLine, clap::Error> {
    let words = with_action(words.into_iter().collect());
    let matches = CommandLine::command().try_get_matches_from(words)?;
    let mut command_line = CommandLine::from_arg_matches(&matches)?;
    if let Some((_, matches)) = matches.subcommand() {
        match &mut command_line.action {
            Action::Run(run) => run.common.scripts = scripts_in_order(matches),
            Action::Attach(attach) => attach.common.scripts = scripts_in_order(matches),
            Action::Replay(replay) => replay.scripts = scripts_in_order(matches),
            Action::Check(_)
            | Action::Demo(_)
            | Action::Generate(_)
            | Action::Property(_)
            | Action::Model(_) => {}
        }
    }
    Ok(command_line)
}

/// `juror PROGRAM` and `juror --batch PROGRAM` mean `juror run ...`; `juror -p
/// PID` means `juror attach PID`.
fn with_action(mut words: Vec<OsString>) -> Vec<OsString> {
    const OWN: [&str; 13] = [
        "run",
        "attach",
        "check",
        "replay",
        "demo",
        "generate",
        "property",
        "model",
        "help",
        "-h",
        "--help",
        "-V",
        "--version",
    ];
    let first = words.get(1).and_then(|word| word.to_str());
    if let Some("-p" | "--pid") = first {
        if let Some(word) = words.get_mut(1) {
            *word = "attach".into();
        }
        return words;
    }
    let is_own = first.is_some_and(|word| OWN.contains(&word));
    if words.len() > 1 && !is_own {
        words.insert(1, "run".into());
    }
    words
}

fn scripts_in_order(matches: &ArgMatches) -> Vec<Script> {
    let files = matches.get_many::<PathBuf>("command_files");
    let lines = matches.get_many::<String>("command_lines");
    let positions = |name| matches.indices_of(name).into_iter().flatten();
    let mut scripts: Vec<(usize, Script)> = positions("command_files")
        .zip(files.into_iter().flatten().cloned().map(Script::File))
        .chain(
            positions("command_lines").zip(lines.into_iter().flatten().cloned().map(Script::Line)),
        )
        .collect();
    scripts.sort_by_key(|(position, _)| *position);
    scripts.into_iter().map(|(_, script)| script).collect()
}

#[cfg(test)]
mod tests;
