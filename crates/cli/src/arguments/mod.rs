//! The command line.
//!
//! All arguments after the name of the program are the program's.

mod check;
mod dap;
mod explore;
mod file_kind;
mod gdb;
pub mod generate;
pub mod model;
mod options;
pub mod property;
mod record;
mod replay;
mod session;
pub mod trust;
mod web;

pub use check::{Check, TraceFormat};
pub use dap::Dap;
pub use explore::{Explore, Inevitable, MadeBy, Points};
pub use options::symbol_settings;
pub use record::Record;
pub use replay::Replay;
pub use session::{Attach, Common, Run, Script};
#[cfg(not(feature = "web"))]
pub use web::NO_PAGE;
pub use web::Web;

use clap::{ArgMatches, Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use generate::Generate;
use model::ModelCommand;
use property::PropertyCommand;
use std::ffi::OsString;
use std::path::PathBuf;
use trust::Trust;

const EXAMPLES: &str = "\
Examples:
  juror demo                                  see what juror does in a minute
  juror run --property queue.prop ./faulty    stop where the property is violated
  juror run --batch --property queue.prop ./faulty --size 8
                                              report and exit: 0 holds, 1 violated
  juror ./program a b                         debug a program without a property
  juror attach 1234                           debug a running process
  juror ./program core.1234                   debug a core file
  juror run --batch --trace run.jsonl --property queue.prop ./faulty
  juror check --property queue.prop run.jsonl
                                              record a run, and check it later
  juror replay --property queue.prop run.jsonl
                                              or step through it, in both directions";

/// The whole command line.
#[derive(Debug, Parser)]
#[command(
    name = "juror",
    version,
    about = "A debugger that knows what the program should do",
    before_help = EXAMPLES,
    override_usage = "juror [run] [OPTIONS] PROGRAM [ARGUMENTS]...\n       \
                      juror attach [OPTIONS] PID\n       \
                      juror check [OPTIONS] TRACE...\n       juror replay [OPTIONS] TRACE|FILE.run\n       juror record [OPTIONS] PROGRAM [ARGUMENTS]...\n       juror explore [OPTIONS] PROGRAM [ARGUMENTS]...\n       juror inevitable FILE.run\n       juror property COMMAND\n       juror model COMMAND\n       juror trust [DIR]\n       juror dap\n       juror demo",
    subcommand_required = true,
    arg_required_else_help = true
)]
pub struct CommandLine {
    #[command(subcommand)]
    pub action: Action,
}

/// A command of juror.
#[derive(Debug, Subcommand)]
pub enum Action {
    /// Run a program, and stop where it violates a property
    #[command(before_help = session::RUN_EXAMPLES, after_help = session::RUN_AFTER)]
    Run(Box<Run>),
    /// Debug a running process, and detach from it at the end
    #[command(before_help = session::ATTACH_EXAMPLES, after_help = session::ATTACH_AFTER)]
    Attach(Box<Attach>),
    /// Evaluate properties over recorded runs
    #[command(before_help = check::CHECK_EXAMPLES, after_help = check::CHECK_AFTER)]
    Check(Box<Check>),
    /// Step through a recorded run at a prompt, in both directions, or make a run of explore again
    #[command(before_help = replay::REPLAY_EXAMPLES, after_help = replay::REPLAY_AFTER)]
    Replay(Box<Replay>),
    /// Run a program, and keep its run in a file that makes it again
    #[command(before_help = record::RECORD_EXAMPLES, after_help = record::RECORD_AFTER)]
    Record(Record),
    /// Run a program with its threads in different orders, until it fails
    #[command(before_help = explore::EXPLORE_EXAMPLES, after_help = explore::EXPLORE_AFTER)]
    Explore(Explore),
    /// Find the last moment at which another order of the threads still avoids a failure
    #[command(before_help = explore::INEVITABLE_EXAMPLES, after_help = explore::INEVITABLE_AFTER)]
    Inevitable(Inevitable),
    /// Let an editor debug, by the Debug Adapter Protocol
    #[command(before_help = dap::DAP_EXAMPLES, after_help = dap::DAP_AFTER)]
    Dap(Dap),
    /// Check, format and draw property files
    Property(PropertyCommand),
    /// Check and simulate models of a design
    Model(ModelCommand),
    /// Compile an example program with a bug, and stop at the bug
    Demo(Demo),
    /// Allow the command file `.juror` of a directory
    #[command(before_help = trust::EXAMPLES, after_help = trust::AFTER)]
    Trust(Trust),
    /// Write man pages and shell completions
    #[command(hide = true)]
    Generate(Generate),
}

/// `juror demo`.
#[derive(Debug, Args)]
pub struct Demo {
    /// Keep the example in this directory
    #[arg(long, value_name = "DIR")]
    pub directory: Option<PathBuf>,
    #[command(flatten)]
    pub messages: Messages,
}

/// The appearance of messages.
#[derive(Clone, Debug, Args)]
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

/// Parses the command line of this process. Exits on `--help` and on errors.
pub fn parse() -> CommandLine {
    parse_from(std::env::args_os()).unwrap_or_else(|error| error.exit())
}

/// Parses a command line, which begins with the name of juror.
pub fn parse_from(words: impl IntoIterator<Item = OsString>) -> Result<CommandLine, clap::Error> {
    let words = gdb::translated(with_action(words.into_iter().collect()));
    let matches = CommandLine::command().try_get_matches_from(words)?;
    let mut command_line = CommandLine::from_arg_matches(&matches)?;
    if let Some((_, matches)) = matches.subcommand() {
        match &mut command_line.action {
            Action::Run(run) => run.common.scripts = scripts_in_order(matches),
            Action::Attach(attach) => attach.common.scripts = scripts_in_order(matches),
            Action::Replay(replay) => replay.scripts = scripts_in_order(matches),
            Action::Check(_)
            | Action::Explore(_)
            | Action::Inevitable(_)
            | Action::Record(_)
            | Action::Dap(_)
            | Action::Demo(_)
            | Action::Generate(_)
            | Action::Property(_)
            | Action::Model(_)
            | Action::Trust(_) => {}
        }
    }
    Ok(command_line)
}

/// Inserts the command if it is missing: `juror PROGRAM` and `juror --batch PROGRAM` mean
/// `juror run ...`.
fn with_action(mut words: Vec<OsString>) -> Vec<OsString> {
    const OWN: [&str; 18] = [
        "run",
        "attach",
        "check",
        "replay",
        "explore",
        "inevitable",
        "record",
        "dap",
        "demo",
        "generate",
        "property",
        "model",
        "trust",
        "help",
        "-h",
        "--help",
        "-V",
        "--version",
    ];
    let first = words.get(1).and_then(|word| word.to_str());
    let is_own = first.is_some_and(|word| OWN.contains(&word));
    if words.len() > 1 && !is_own {
        words.insert(1, "run".into());
    }
    words
}

/// Returns the files of `-x` and the commands of `-e`, in the order given.
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
