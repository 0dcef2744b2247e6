//! The command lines of `juror run` and `juror attach`, and what they share.

use super::{Messages, TraceFormat};
use crate::driver::AutomaticCheckpoints;
use clap::{Args, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;

pub(super) const RUN_EXAMPLES: &str = "\
Examples:
  juror run --property queue.prop ./faulty
      run ./faulty; stop and look around where queue.prop is violated
  juror run --property queue.prop ./faulty --size 8
      the same; whatever follows the program is the program's
  juror run --batch --keep-going --json=report.json --property queue.prop ./faulty
      report, and run on to the end; for tests and scripts
  juror run --batch --trace run.jsonl --property queue.prop ./faulty
      record the events, for juror check
  juror run --property queue.prop --scenario queue.scn ./faulty
      and do what queue.scn says when the property changes its state
  juror run -e 'break queue.c:23' -e run ./faulty
      without a property: an ordinary debugger";

pub(super) const RUN_AFTER: &str = "\
With a property, the program is started at once, after the commands of -x and
-e. Without one, juror waits at its prompt: type run, start or help.

Exit status: 0 every property holds, 1 a property is violated, 2 an error of
use or a property that could not be evaluated, 101 a bug in juror, 130 a batch
run was interrupted. The program's own exit status is in the report.";

pub(super) const ATTACH_EXAMPLES: &str = "\
Examples:
  juror attach 1234
      stop process 1234 wherever it is and look around; quit lets it go on
  juror attach --property mutex.prop 1234
      watch a property in a process that has run for a while
  juror attach --batch --property mutex.prop 1234
      until the property is violated or the process ends; then let it go on
  juror -p 1234
      as in gdb";

pub(super) const ATTACH_AFTER: &str = "\
With a property, the process runs on at once, after the commands of -x and -e.
Events from before the attachment are not known to the property. When juror
ends, in whatever way, the process goes on without it.

Exit status: as for juror run.";

/// What every session takes, however it comes to its debuggee.
#[derive(Debug, Args)]
pub struct Common {
    /// Watch the properties in this file; may be given several times
    #[arg(long = "property", value_name = "FILE")]
    pub properties: Vec<PathBuf>,
    /// React by the scenarios in this file; may be given several times
    #[arg(long = "scenario", value_name = "FILE")]
    pub scenarios: Vec<PathBuf>,
    /// Let scenarios read and write files
    #[arg(long)]
    pub(super) allow_files: bool,
    /// Let scenarios call functions of the program, and start programs
    #[arg(long)]
    pub(super) allow_programs: bool,
    /// Report and exit instead of showing a prompt
    #[arg(long)]
    pub batch: bool,
    /// With --batch: run on to the end, and count what is violated again
    #[arg(long, requires = "batch")]
    pub keep_going: bool,
    /// Write events and results as JSON lines, to FILE or to the output
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true,
          default_missing_value = "-")]
    pub json: Option<PathBuf>,
    /// Execute the commands in this file
    #[arg(short = 'x', long = "commands", value_name = "FILE")]
    pub(super) command_files: Vec<PathBuf>,
    /// Execute this command; -x and -e are done in the order given
    #[arg(short = 'e', long = "ex", value_name = "COMMAND")]
    pub(super) command_lines: Vec<String>,
    /// Processors: shared (one, best with many events), free (all), or auto
    #[arg(
        long,
        value_enum,
        value_name = "POLICY",
        default_value = "auto",
        hide_possible_values = true
    )]
    pub(super) cpu: Cpu,
    /// Which process to stay with when the program makes one: parent or child
    #[arg(
        long,
        value_enum,
        value_name = "PROCESS",
        default_value = "parent",
        hide_possible_values = true
    )]
    pub(super) follow: Followed,
    /// How many events each monitor remembers, for the paths in reports
    #[arg(long, value_name = "N")]
    pub(super) history: Option<usize>,
    /// Record the events of the properties in this file, for juror check
    #[arg(long, value_name = "FILE")]
    pub(super) trace: Option<PathBuf>,
    /// Record this event, too: 'before f(x, y)'; may be given several times
    #[arg(long = "record", value_name = "EVENT", requires = "trace")]
    pub(super) record: Vec<String>,
    /// The form of the trace: json, binary, or auto (.jtr is binary)
    #[arg(
        long,
        value_enum,
        value_name = "FORM",
        default_value = "auto",
        hide_possible_values = true,
        requires = "trace"
    )]
    pub(super) trace_format: TraceFormat,
    /// Keep no index of the program's names on disk, and use none
    #[arg(long)]
    pub(super) no_cache: bool,
    /// Look for separate debug files here, too; may be given several times
    #[arg(long, value_name = "DIRECTORY")]
    pub(super) debug_file_directory: Vec<PathBuf>,
    /// Events before calls also happen at calls that the compiler inlined: where it has
    /// marked that they begin, or likely also where their code begins
    #[arg(
        long,
        value_enum,
        value_name = "BEGIN",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "marked",
        hide_possible_values = true
    )]
    pub(super) at_inlined: Option<Begins>,
    /// Accept that calls which the compiler inlined give no events
    #[arg(long)]
    pub(super) ignore_inlined: bool,
    /// Check what juror does to the program against the model of its
    /// breakpoint engine; keep what was checked in FILE
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    pub(super) self_check: Option<Option<PathBuf>>,
    #[command(flatten)]
    pub messages: Messages,
    /// The commands of -x and -e in their order.
    #[arg(skip)]
    pub scripts: Vec<Script>,
}

/// `juror attach`.
#[derive(Debug, Args)]
pub struct Attach {
    #[command(flatten)]
    pub common: Common,
    /// The process, by its number as ps shows it
    #[arg(value_name = "PID")]
    pub process: u32,
}

/// `juror run`.
#[derive(Debug, Args)]
pub struct Run {
    #[command(flatten)]
    pub common: Common,
    /// As in gdb: the program and its arguments follow
    #[arg(long)]
    pub(super) args: bool,
    /// Run the program in this directory
    #[arg(long = "cd", value_name = "DIR")]
    pub(super) directory: Option<PathBuf>,
    /// Set a variable of the program's environment
    #[arg(long = "env", value_name = "NAME=VALUE")]
    pub(super) environment: Vec<OsString>,
    /// Remove a variable from the program's environment
    #[arg(long = "unset-env", value_name = "NAME")]
    pub(super) unset: Vec<OsString>,
    /// Start the program with an empty environment (before --env)
    #[arg(long = "clear-env")]
    pub(super) clear_environment: bool,
    /// The program reads its input from this file
    #[arg(long, value_name = "FILE")]
    pub(super) stdin: Option<PathBuf>,
    /// The program writes its output to this file
    #[arg(long, value_name = "FILE")]
    pub(super) stdout: Option<PathBuf>,
    /// The program writes its errors to this file
    #[arg(long, value_name = "FILE")]
    pub(super) stderr: Option<PathBuf>,
    /// Append to the files of --stdout and --stderr instead of emptying them
    #[arg(long)]
    pub(super) append: bool,
    /// Make checkpoints without being asked: at the start, or also after every
    /// N events, so that there is one from before a violation
    #[arg(long, value_name = "start|N", value_parser = checkpoints)]
    pub(super) checkpoint: Option<AutomaticCheckpoints>,
    /// Leave address space randomisation on
    #[arg(long)]
    pub(super) aslr: bool,
    // One list: clap takes every word after its first value, whatever it is.
    /// The program, and its arguments
    #[arg(
        value_names = ["PROGRAM", "ARGUMENTS"],
        required = true,
        num_args = 1..,
        trailing_var_arg = true
    )]
    pub(super) program: Vec<OsString>,
}

/// When checkpoints are made by themselves.
fn checkpoints(word: &str) -> Result<AutomaticCheckpoints, String> {
    match word.parse() {
        _ if word == "start" => Ok(AutomaticCheckpoints::Start),
        Ok(count) if count > 0 => Ok(AutomaticCheckpoints::Every(count)),
        _ => Err("say start, or after how many events: 1000".to_owned()),
    }
}

/// Where commands come from before the prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Script {
    /// `-x FILE`
    File(PathBuf),
    /// `-e COMMAND`
    Line(String),
}

/// Which processors juror and the program use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Cpu {
    /// One while events are frequent, all otherwise
    Auto,
    /// Always one: fastest with many events
    Shared,
    /// All: fastest with few events
    Free,
}

/// At which inlined calls events happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Begins {
    /// Where the compiler has marked that one begins
    Marked,
    /// Also where the code of one begins that has no mark
    Likely,
}

/// Which process stays the debuggee when it makes another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Followed {
    /// The one that makes it
    Parent,
    /// The one that is made
    Child,
    /// Both: each process is debugged
    Both,
}
