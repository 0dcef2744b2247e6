//! The command lines of `juror run` and `juror attach`, and their common options.

use super::web::Web;
use super::{Messages, TraceFormat};
use crate::driver::AutomaticCheckpoints;
use clap::{Args, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

pub(super) const RUN_EXAMPLES: &str = "\
Examples:
  juror run --property queue.prop ./faulty
      run ./faulty, and stop at the prompt where queue.prop is violated
  juror run --property queue.prop ./faulty --size 8
      the same; arguments after the program are passed to it
  juror run --batch --keep-going --json=report.json --property queue.prop ./faulty
      run to the end and report, for tests and scripts
  juror run --batch --trace run.jsonl --property queue.prop ./faulty
      record the events, for juror check
  juror run --property queue.prop --scenario queue.scn ./faulty
      execute the reactions of queue.scn when the property changes its state
  juror run --web --property queue.prop ./faulty
      follow the property on a page; --web=report.html writes a report instead
  juror run -e 'break queue.c:23' -e run ./faulty
      debug without a property
  juror ./faulty core.1234
      look at a core file of the program; --core core.1234 finds the program";

pub(super) const RUN_AFTER: &str = "\
With a property, the program starts at once, after the commands of -x and -e.
Without a property, juror shows its prompt: type run, start or help.

Exit status: 0 each property holds, 1 a property is violated, 2 a usage error or
a property that could not be evaluated, 3 the program crashed (--fail-on-crash), 101 a
bug in juror, 124 the time was over (--timeout), 130 a batch run was interrupted. The
report contains the exit status of the program; --return-child-result makes it juror's.";

pub(super) const ATTACH_EXAMPLES: &str = "\
Examples:
  juror attach 1234
      stop process 1234 and show the prompt; quit detaches from it
  juror attach --property mutex.prop 1234
      monitor a property in a running process
  juror attach --batch --property mutex.prop 1234
      run until the property is violated or the process ends, then detach
  juror -p 1234
      attach, as in gdb";

pub(super) const ATTACH_AFTER: &str = "\
With a property, the process continues at once, after the commands of -x and -e.
The property does not see events from before the attachment. When juror ends,
for whatever reason, the process continues without it.

Exit status: as for juror run.";

/// The options of every session, whether it starts or attaches to its debuggee.
#[derive(Debug, Args)]
pub struct Common {
    /// Monitor the properties in this file (repeatable)
    #[arg(long = "property", value_name = "FILE")]
    pub properties: Vec<PathBuf>,
    /// Use the scenarios in this file (repeatable)
    #[arg(long = "scenario", value_name = "FILE")]
    pub scenarios: Vec<PathBuf>,
    /// Show the run on a page at PORT of this machine (a free one if not given), or write a
    /// report to FILE.html
    #[arg(long, value_name = "PORT|FILE.html", num_args = 0..=1, require_equals = true,
          default_missing_value = "")]
    pub web: Option<Web>,
    /// Let scenarios read and write files
    #[arg(long)]
    pub(super) allow_files: bool,
    /// Let scenarios call functions of the program, and start programs
    #[arg(long)]
    pub(super) allow_programs: bool,
    /// Report and exit instead of showing a prompt
    #[arg(long)]
    pub batch: bool,
    /// With --batch: run to the end, and count repeated violations
    #[arg(long, requires = "batch")]
    pub keep_going: bool,
    /// With --batch: stop after this time, show the stacks, and exit with status 124
    #[arg(long, value_name = "SECONDS", requires = "batch", value_parser = seconds)]
    pub timeout: Option<Duration>,
    /// With --batch: exit with status 3 if a signal ended the program
    #[arg(long, requires = "batch")]
    pub fail_on_crash: bool,
    /// Exit with the status of the program if each property holds, as in gdb
    #[arg(long)]
    pub return_child_result: bool,
    /// Do not execute the command files init and .juror
    #[arg(long)]
    pub no_init: bool,
    /// Accepted for compatibility with gdb
    #[arg(long, short = 'q', hide = true)]
    pub(super) quiet: bool,
    /// Write events and results as JSON lines to FILE, or to the standard output
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true,
          default_missing_value = "-")]
    pub json: Option<PathBuf>,
    /// Execute the commands in this file
    #[arg(short = 'x', long = "commands", value_name = "FILE")]
    pub(super) command_files: Vec<PathBuf>,
    /// Execute this command; -x and -e are executed in the order given
    #[arg(short = 'e', long = "ex", value_name = "COMMAND")]
    pub(super) command_lines: Vec<String>,
    /// Processors: shared (one; best with many events), free (all), or auto
    #[arg(
        long,
        value_enum,
        value_name = "POLICY",
        default_value = "auto",
        hide_possible_values = true
    )]
    pub(super) cpu: Cpu,
    /// Which process to debug after a fork: parent, child, or both
    #[arg(
        long,
        value_enum,
        value_name = "PROCESS",
        default_value = "parent",
        hide_possible_values = true
    )]
    pub(super) follow: Followed,
    /// How events of calls are taken: in the program where possible (auto), the same but
    /// refusing properties that cannot be (native), or by traps (trap)
    #[arg(
        long,
        value_enum,
        value_name = "TIER",
        default_value = "auto",
        hide_possible_values = true
    )]
    pub(super) tier: TierName,
    /// How many events each monitor keeps for the paths in reports
    #[arg(long, value_name = "N")]
    pub(super) history: Option<usize>,
    /// Record the events of the properties in this file, for juror check
    #[arg(long, value_name = "FILE")]
    pub(super) trace: Option<PathBuf>,
    /// Record also this event: 'before f(x, y)' (repeatable)
    #[arg(long = "record", value_name = "EVENT", requires = "trace")]
    pub(super) record: Vec<String>,
    /// The format of the trace: json, binary, or auto (.jtr is binary)
    #[arg(
        long,
        value_enum,
        value_name = "FORM",
        default_value = "auto",
        hide_possible_values = true,
        requires = "trace"
    )]
    pub(super) trace_format: TraceFormat,
    /// Do not use or write the symbol cache
    #[arg(long)]
    pub(super) no_cache: bool,
    /// Look for separate debug files also in this directory (repeatable)
    #[arg(long, value_name = "DIRECTORY")]
    pub(super) debug_file_directory: Vec<PathBuf>,
    /// Report events before calls also for inlined calls: where the compiler has marked
    /// their begin (marked), or also where their code begins (likely)
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
    /// Let a property hold although no loaded module had a function or variable of its
    /// events
    #[arg(long)]
    pub allow_unbound: bool,
    /// Accept that inlined calls give no events
    #[arg(long)]
    pub(super) ignore_inlined: bool,
    /// Check the breakpoint engine against its model while it runs; log the inputs to
    /// FILE
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    pub(super) self_check: Option<Option<PathBuf>>,
    #[command(flatten)]
    pub messages: Messages,
    /// The commands of -x and -e in the order given.
    #[arg(skip)]
    pub scripts: Vec<Script>,
}

/// `juror attach`.
#[derive(Debug, Args)]
pub struct Attach {
    #[command(flatten)]
    pub common: Common,
    /// The process ID, as ps shows it
    #[arg(value_name = "PID")]
    pub process: u32,
}

/// `juror run`.
#[derive(Debug, Args)]
pub struct Run {
    #[command(flatten)]
    pub common: Common,
    /// The words after the program are its arguments, also if the only one is a core file
    #[arg(long)]
    pub(super) args: bool,
    /// Debug this core file, of the program if one is given; also as the only word after the
    /// program
    #[arg(long, short = 'c', value_name = "CORE")]
    pub(super) core: Option<PathBuf>,
    /// Run the program in this directory
    #[arg(long = "cd", value_name = "DIR")]
    pub(super) directory: Option<PathBuf>,
    /// Set a variable in the program's environment (repeatable)
    #[arg(long = "env", value_name = "NAME=VALUE")]
    pub(super) environment: Vec<OsString>,
    /// Remove a variable from the program's environment (repeatable)
    #[arg(long = "unset-env", value_name = "NAME")]
    pub(super) unset: Vec<OsString>,
    /// Start the program with an empty environment, plus --env
    #[arg(long = "clear-env")]
    pub(super) clear_environment: bool,
    /// Redirect the standard input of the program from this file
    #[arg(long, value_name = "FILE")]
    pub(super) stdin: Option<PathBuf>,
    /// Redirect the standard output of the program to this file
    #[arg(long, value_name = "FILE")]
    pub(super) stdout: Option<PathBuf>,
    /// Redirect the standard error of the program to this file
    #[arg(long, value_name = "FILE")]
    pub(super) stderr: Option<PathBuf>,
    /// Append to the files of --stdout and --stderr instead of truncating them
    #[arg(long)]
    pub(super) append: bool,
    /// Make checkpoints automatically: at the start, or also after every N events, so
    /// that one precedes a violation
    #[arg(long, value_name = "start|N", value_parser = checkpoints)]
    pub(super) checkpoint: Option<AutomaticCheckpoints>,
    /// Which system calls stop the program, if it has events of system calls: only those, by a
    /// filter, where possible (auto); the same, else an error (filter); every call (all)
    #[arg(
        long,
        value_enum,
        value_name = "CALLS",
        default_value = "auto",
        hide_possible_values = true
    )]
    pub(super) system_calls: StoppedCalls,
    /// Leave address space layout randomization on
    #[arg(long)]
    pub(super) aslr: bool,
    // One list, so that clap takes each word after the first as a value.
    /// The program and its arguments
    #[arg(
        value_names = ["PROGRAM", "ARGUMENTS"],
        required_unless_present_any = ["core", "command_lines", "command_files", "quiet"],
        num_args = 1..,
        trailing_var_arg = true
    )]
    pub(super) program: Vec<OsString>,
}

/// Parses the value of `--timeout`.
fn seconds(word: &str) -> Result<Duration, String> {
    let seconds = word.parse().ok().filter(|&seconds: &f64| seconds > 0.0);
    let time = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    time.ok_or_else(|| "expected a number of seconds such as 10 or 0.5".to_owned())
}

/// Parses the value of `--checkpoint`.
fn checkpoints(word: &str) -> Result<AutomaticCheckpoints, String> {
    match word.parse() {
        _ if word == "start" => Ok(AutomaticCheckpoints::Start),
        Ok(count) if count > 0 => Ok(AutomaticCheckpoints::Every(count)),
        _ => Err("expected start, or a number of events such as 1000".to_owned()),
    }
}

/// Commands that are executed before the prompt.
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

/// Which inlined calls give events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Begins {
    /// Calls whose begin the compiler has marked
    Marked,
    /// Also calls without a mark, where their code begins
    Likely,
}

/// How the events of calls are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum TierName {
    /// In the program where that is possible, else by traps
    Auto,
    /// In the program only
    Native,
    /// By traps
    Trap,
}

/// Which system calls stop the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum StoppedCalls {
    /// Only the calls of events, by a filter; every call where that is not possible
    Auto,
    /// Only the calls of events; an error where that is not possible
    Filter,
    /// Every call
    All,
}

/// Which process is debugged after a fork.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Followed {
    /// The process that forks
    Parent,
    /// The new process
    Child,
    /// Both processes
    Both,
}
