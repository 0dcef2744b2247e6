//! The command line.
//!
//! Everything after the program's name belongs to the program.

use crate::driver::{CpuPolicy, Follow, Options, PropertySource, Recording, SelfCheck};
use crate::model_arguments::ModelCommand;
use crate::property_arguments::PropertyCommand;
use anyhow::{Context as _, anyhow};
use clap::{ArgMatches, Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use std::ffi::{OsStr, OsString};
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
                                              record a run, and check it later";

const RUN_EXAMPLES: &str = "\
Examples:
  juror run --property queue.prop ./faulty
      run ./faulty; stop and look around where queue.prop is violated
  juror run --property queue.prop ./faulty --size 8
      the same; whatever follows the program is the program's
  juror run --batch --keep-going --json=report.json --property queue.prop ./faulty
      report every violation and exit, for tests and scripts
  juror run --batch --trace run.jsonl --property queue.prop ./faulty
      record the events, for juror check
  juror run -e 'break queue.c:23' -e run ./faulty
      without a property: an ordinary debugger";

const CHECK_EXAMPLES: &str = "\
Examples:
  juror check --property queue.prop run.jsonl
      evaluate a property over a recorded run
  juror check --keep-going --property queue.prop monday.jtr tuesday.jtr
      two runs; report every violation, and pass over what cannot be read
  juror check --merge --property protocol.prop client.jsonl server.jsonl
      two programs that ran at the same time, as one run
  juror check --follow --property queue.prop run.jsonl
      a run that is being recorded, as it goes on
  generate | juror check --property jobs.prop --columns 'push=queue,job' -
      CSV on standard input: time,thread,event and values";

const CHECK_AFTER: &str = "\
A trace is written by juror run --trace, or by another program: JSON lines, the
binary form, or CSV. Which it is, its first bytes tell. The forms are described
in the book, in the chapter about traces.

Exit status: 0 every property holds in every trace, 1 a property is violated,
2 an error of use, a trace that is not complete or not in order, or a property
that could not be evaluated, 101 a bug in juror. What comes before a mistake
counts: a violation there is a violation.";

const ATTACH_EXAMPLES: &str = "\
Examples:
  juror attach 1234
      stop process 1234 wherever it is and look around; quit lets it go on
  juror attach --property mutex.prop 1234
      watch a property in a process that has run for a while
  juror attach --batch --property mutex.prop 1234
      until the property is violated or the process ends; then let it go on
  juror -p 1234
      as in gdb";

const ATTACH_AFTER: &str = "\
With a property, the process runs on at once, after the commands of -x and -e.
Events from before the attachment are not known to the property. When juror
ends, in whatever way, the process goes on without it.

Exit status: as for juror run.";

const RUN_AFTER: &str = "\
With a property, the program is started at once, after the commands of -x and
-e. Without one, juror waits at its prompt: type run, start or help.

Exit status: 0 every property holds, 1 a property is violated, 2 an error of
use or a property that could not be evaluated, 101 a bug in juror, 130 a batch
run was interrupted. The program's own exit status is in the report.";

/// The whole command line.
#[derive(Debug, Parser)]
#[command(
    name = "juror",
    version,
    about = "A debugger that knows what the program should do",
    before_help = EXAMPLES,
    override_usage = "juror [run] [OPTIONS] PROGRAM [ARGUMENTS]...\n       \
                      juror attach [OPTIONS] PID\n       \
                      juror check [OPTIONS] TRACE...\n       juror property COMMAND\n       juror model COMMAND\n       juror demo",
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
    #[command(before_help = RUN_EXAMPLES, after_help = RUN_AFTER)]
    Run(Box<Run>),
    /// Debug a process that runs already, and let it go on at the end
    #[command(before_help = ATTACH_EXAMPLES, after_help = ATTACH_AFTER)]
    Attach(Box<Attach>),
    /// Evaluate properties over recorded runs
    #[command(before_help = CHECK_EXAMPLES, after_help = CHECK_AFTER)]
    Check(Box<Check>),
    /// Check property files, lay them out, draw them
    Property(PropertyCommand),
    /// Check the models of a design, and walk through them
    Model(ModelCommand),
    /// Compile an example program with a bug, and catch it
    Demo(Demo),
}

/// `juror check`.
#[derive(Debug, Args)]
pub struct Check {
    /// Evaluate the properties in this file; may be given several times
    #[arg(long = "property", value_name = "FILE", required = true)]
    pub properties: Vec<PathBuf>,
    /// Report every violation, pass over records that cannot be read, and go on
    #[arg(long)]
    pub keep_going: bool,
    /// Take all traces as one run, in the order of their times
    #[arg(long, conflicts_with = "follow")]
    pub merge: bool,
    /// Wait for more of a trace that is being recorded, until its end or Ctrl-C
    #[arg(long)]
    pub follow: bool,
    /// Write verdicts as JSON lines, to FILE or to the output
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true,
          default_missing_value = "-")]
    pub json: Option<PathBuf>,
    /// The form of the traces: json, binary, csv, or auto
    #[arg(
        long,
        value_enum,
        value_name = "FORM",
        default_value = "auto",
        hide_possible_values = true
    )]
    pub trace_format: TraceFormat,
    /// Names of an event's values in CSV; may be given several times
    #[arg(long, value_name = "EVENT=NAME,...")]
    pub columns: Vec<String>,
    /// How many events each monitor remembers, for the paths in reports
    #[arg(long, value_name = "N")]
    pub history: Option<usize>,
    /// When to use colours: auto, always or never
    #[arg(
        long,
        value_enum,
        value_name = "WHEN",
        default_value = "auto",
        hide_possible_values = true
    )]
    pub color: Color,
    /// The recorded runs; - is standard input
    #[arg(value_name = "TRACE", required = true)]
    pub traces: Vec<PathBuf>,
}

/// The form of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TraceFormat {
    /// By what it begins with; when recording, by the name: .jtr is binary
    Auto,
    /// JSON lines
    Json,
    /// The binary form
    Binary,
    /// Comma-separated values
    Csv,
}

/// `juror demo`.
#[derive(Debug, Args)]
pub struct Demo {
    /// Where to keep the example
    #[arg(long, value_name = "DIR")]
    pub directory: Option<PathBuf>,
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

/// What every session takes, however it comes to its debuggee.
#[derive(Debug, Args)]
pub struct Common {
    /// Watch the properties in this file; may be given several times
    #[arg(long = "property", value_name = "FILE")]
    pub properties: Vec<PathBuf>,
    /// Report and exit instead of showing a prompt
    #[arg(long)]
    pub batch: bool,
    /// With --batch: report every violation and run on to the end
    #[arg(long, requires = "batch")]
    pub keep_going: bool,
    /// Write events and results as JSON lines, to FILE or to the output
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true,
          default_missing_value = "-")]
    pub json: Option<PathBuf>,
    /// Execute the commands in this file
    #[arg(short = 'x', long = "commands", value_name = "FILE")]
    command_files: Vec<PathBuf>,
    /// Execute this command; -x and -e are done in the order given
    #[arg(short = 'e', long = "ex", value_name = "COMMAND")]
    command_lines: Vec<String>,
    /// Processors: shared (one, best with many events), free (all), or auto
    #[arg(
        long,
        value_enum,
        value_name = "POLICY",
        default_value = "auto",
        hide_possible_values = true
    )]
    cpu: Cpu,
    /// Which process to stay with when the program makes one: parent or child
    #[arg(
        long,
        value_enum,
        value_name = "PROCESS",
        default_value = "parent",
        hide_possible_values = true
    )]
    follow: Followed,
    /// How many events each monitor remembers, for the paths in reports
    #[arg(long, value_name = "N")]
    history: Option<usize>,
    /// Record the events of the properties in this file, for juror check
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Record this event, too: 'before f(x, y)'; may be given several times
    #[arg(long = "record", value_name = "EVENT", requires = "trace")]
    record: Vec<String>,
    /// The form of the trace: json, binary, or auto (.jtr is binary)
    #[arg(
        long,
        value_enum,
        value_name = "FORM",
        default_value = "auto",
        hide_possible_values = true,
        requires = "trace"
    )]
    trace_format: TraceFormat,
    /// Accept that calls which the compiler inlined give no events
    #[arg(long)]
    ignore_inlined: bool,
    /// Check what juror does to the program against the model of its
    /// breakpoint engine; keep what was checked in FILE
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    self_check: Option<Option<PathBuf>>,
    /// When to use colours: auto, always or never
    #[arg(
        long,
        value_enum,
        value_name = "WHEN",
        default_value = "auto",
        hide_possible_values = true
    )]
    pub color: Color,
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
    args: bool,
    /// Run the program in this directory
    #[arg(long = "cd", value_name = "DIR")]
    directory: Option<PathBuf>,
    /// Set a variable of the program's environment
    #[arg(long = "env", value_name = "NAME=VALUE")]
    environment: Vec<OsString>,
    /// Remove a variable from the program's environment
    #[arg(long = "unset-env", value_name = "NAME")]
    unset: Vec<OsString>,
    /// Start the program with an empty environment (before --env)
    #[arg(long = "clear-env")]
    clear_environment: bool,
    /// The program reads its input from this file
    #[arg(long, value_name = "FILE")]
    stdin: Option<PathBuf>,
    /// The program writes its output to this file
    #[arg(long, value_name = "FILE")]
    stdout: Option<PathBuf>,
    /// The program writes its errors to this file
    #[arg(long, value_name = "FILE")]
    stderr: Option<PathBuf>,
    /// Append to the files of --stdout and --stderr instead of emptying them
    #[arg(long)]
    append: bool,
    /// Leave address space randomisation on
    #[arg(long)]
    aslr: bool,
    // One list: clap takes every word after its first value, whatever it is.
    /// The program, and its arguments
    #[arg(
        value_names = ["PROGRAM", "ARGUMENTS"],
        required = true,
        num_args = 1..,
        trailing_var_arg = true
    )]
    program: Vec<OsString>,
}

/// Where commands come from before the prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Script {
    /// `-x FILE`
    File(PathBuf),
    /// `-e COMMAND`
    Line(String),
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

/// Which processors juror and the program use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Cpu {
    /// One while events are frequent, all otherwise
    Auto,
    /// Always one: fastest with many events
    Shared,
    /// All: fastest with few events
    Free,
}

/// Which process stays the debuggee when it makes another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Followed {
    /// The one that makes it
    Parent,
    /// The one that is made
    Child,
    /// Both: each process is debugged
    Both,
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
            Action::Check(_) | Action::Demo(_) | Action::Property(_) | Action::Model(_) => {}
        }
    }
    Ok(command_line)
}

/// `juror PROGRAM` and `juror --batch PROGRAM` mean `juror run ...`; `juror -p
/// PID` means `juror attach PID`.
fn with_action(mut words: Vec<OsString>) -> Vec<OsString> {
    const OWN: [&str; 11] = [
        "run",
        "attach",
        "check",
        "demo",
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

impl Common {
    /// What the session is to do, but for where the debuggee comes from; reads
    /// the property files.
    fn options(&self) -> anyhow::Result<Options> {
        Ok(Options {
            recording: self.recording()?,
            cpu: match self.cpu {
                Cpu::Auto => CpuPolicy::Auto,
                Cpu::Shared => CpuPolicy::Shared,
                Cpu::Free => CpuPolicy::Free,
            },
            follow: match self.follow {
                Followed::Parent => Follow::Parent,
                Followed::Child => Follow::Child,
                Followed::Both => Follow::Both,
            },
            properties: read_properties(&self.properties)?,
            history: self.history.unwrap_or_default(),
            batch: self.batch,
            ignore_inlined: self.ignore_inlined,
            self_check: self.self_check()?,
            ..Options::default()
        })
    }

    fn self_check(&self) -> anyhow::Result<Option<SelfCheck>> {
        Ok(match &self.self_check {
            None => None,
            Some(None) => Some(SelfCheck::new()),
            Some(Some(file)) => {
                let check = SelfCheck::with_log(file);
                Some(check.with_context(|| {
                    format!(
                        "the file {} for --self-check cannot be written",
                        file.display()
                    )
                })?)
            }
        })
    }

    /// What is to be recorded, and where.
    fn recording(&self) -> anyhow::Result<Option<Recording>> {
        let Some(file) = &self.trace else {
            return Ok(None);
        };
        if self.properties.is_empty() && self.record.is_empty() {
            return Err(anyhow!(
                "--trace has nothing to record\n\
                 help: name events with --record 'before f(x)', or give a property"
            ));
        }
        let is_binary = match self.trace_format {
            TraceFormat::Auto => file.extension().is_some_and(|it| it == "jtr"),
            TraceFormat::Json => false,
            TraceFormat::Binary => true,
            TraceFormat::Csv => {
                return Err(anyhow!(
                    "juror reads CSV, and does not record it\nhelp: --trace-format json"
                ));
            }
        };
        Ok(Some(Recording {
            file: file.clone(),
            binary: is_binary,
            events: self.record.clone(),
        }))
    }
}

impl Check {
    /// The properties; reads their files.
    pub fn sources(&self) -> anyhow::Result<Vec<PropertySource>> {
        read_properties(&self.properties)
    }
}

impl Attach {
    /// What the session is to do; reads the property files.
    pub fn options(&self) -> anyhow::Result<Options> {
        self.common.options()
    }
}

impl Run {
    /// What the session is to run; reads the property files.
    pub fn options(&self) -> anyhow::Result<Options> {
        let (program, arguments) = self
            .program
            .split_first()
            .ok_or_else(|| anyhow!("no program is named"))?;
        Ok(Options {
            program: program.into(),
            arguments: arguments.to_vec(),
            environment: self.environment()?,
            clear_environment: self.clear_environment,
            directory: self.directory.clone(),
            stdin: self.stdin.clone(),
            stdout: self.stdout.clone(),
            stderr: self.stderr.clone(),
            append_stdout: self.append,
            append_stderr: self.append,
            randomize: self.aslr,
            ..self.common.options()?
        })
    }

    /// Variables to remove, then those to set.
    fn environment(&self) -> anyhow::Result<Vec<(OsString, Option<OsString>)>> {
        let removed = self.unset.iter().map(|name| Ok((name.clone(), None)));
        let set = self.environment.iter().map(|word| split_variable(word));
        removed.chain(set).collect()
    }
}

fn read_properties(files: &[PathBuf]) -> anyhow::Result<Vec<PropertySource>> {
    files.iter().map(|file| read_property(file)).collect()
}

/// Reads a file of properties.
pub fn read_property(file: &std::path::Path) -> anyhow::Result<PropertySource> {
    let bytes = std::fs::read(file)
        .with_context(|| format!("the property file {} cannot be read", file.display()))?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let line = error
            .as_bytes()
            .iter()
            .take(error.utf8_error().valid_up_to());
        let line = line.filter(|byte| **byte == b'\n').count() + 1;
        anyhow!(
            "the property file {} is not text: line {line} is not UTF-8",
            file.display()
        )
    })?;
    Ok(PropertySource {
        file: file.display().to_string(),
        text,
    })
}

/// Splits `NAME=VALUE`.
fn split_variable(word: &OsStr) -> anyhow::Result<(OsString, Option<OsString>)> {
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    let bytes = word.as_bytes();
    match bytes.iter().position(|&byte| byte == b'=') {
        None | Some(0) => Err(anyhow!(
            "--env takes NAME=VALUE, not `{}`; --unset-env removes a variable",
            word.display()
        )),
        Some(equals) => {
            let (name, value) = bytes.split_at(equals);
            let value = value.get(1..).unwrap_or(&[]).to_vec();
            Ok((
                OsString::from_vec(name.to_vec()),
                Some(OsString::from_vec(value)),
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_line(line: &str) -> Result<CommandLine, clap::Error> {
        parse_from(line.split_whitespace().map(OsString::from))
    }

    fn run(line: &str) -> Run {
        match parse_line(line).map(|command_line| command_line.action) {
            Ok(Action::Run(run)) => *run,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn what_follows_the_program_is_the_programs() {
        for (line, program) in [
            ("juror run prog", "prog"),
            ("juror prog", "prog"),
            ("juror --batch prog --batch", "prog --batch"),
            ("juror run prog -- a --", "prog -- a --"),
            ("juror run prog --property p -x y", "prog --property p -x y"),
            ("juror run -- prog -h", "prog -h"),
            ("juror run --args prog --args -e", "prog --args -e"),
            ("juror prog run", "prog run"),
            ("juror ./run run demo", "./run run demo"),
            ("juror run demo --help", "demo --help"),
        ] {
            let words: Vec<_> = program.split(' ').map(OsString::from).collect();
            let run = run(line);
            assert_eq!(run.program, words, "{line}");
            assert!(run.common.properties.is_empty() && run.common.scripts.is_empty());
        }
    }

    #[test]
    fn a_process_is_named_by_its_number() {
        for line in [
            "juror attach 12",
            "juror -p 12",
            "juror --pid 12",
            "juror attach --batch -e bt 12",
        ] {
            match parse_line(line).map(|command_line| command_line.action) {
                Ok(Action::Attach(attach)) => {
                    assert_eq!(attach.process, 12, "{line}");
                    let options = attach.options().expect("these are right");
                    assert!(options.program.as_os_str().is_empty());
                    assert_eq!(attach.common.scripts.len(), usize::from(options.batch));
                }
                other => panic!("{line}: {other:?}"),
            }
        }
        let error = parse_line("juror attach faulty").expect_err("no number");
        assert!(error.to_string().contains("PID"), "{error}");
    }

    #[test]
    fn mistakes_are_told() {
        for (line, expected) in [
            ("juror run", "<PROGRAM>"),
            ("juror run --bogus prog", "--bogus"),
            ("juror --bogus prog", "--bogus"),
            ("juror run --keep-going prog", "--batch"),
            ("juror run --cpu fast prog", "auto, shared, free"),
            ("juror run --record before prog", "--trace"),
            ("juror check run.jsonl", "--property"),
            ("juror check --property p", "<TRACE>"),
            ("juror check --merge --follow --property p t", "--follow"),
        ] {
            let error = parse_line(line).expect_err(line);
            assert!(error.to_string().contains(expected), "{line}: {error}");
            assert_eq!(error.exit_code(), 2, "{line}");
        }
    }

    #[test]
    fn help_begins_with_examples() {
        for line in [
            "juror --help",
            "juror help",
            "juror run --help",
            "juror attach --help",
            "juror check --help",
        ] {
            let help = parse_line(line).expect_err(line);
            assert_eq!(help.exit_code(), 0);
            assert!(help.to_string().starts_with("Examples:\n"), "{help}");
        }
    }

    #[test]
    fn scripts_keep_their_order() {
        let run = run("juror run -e a -x f --ex b --commands g prog");
        let expected = [
            Script::Line("a".into()),
            Script::File("f".into()),
            Script::Line("b".into()),
            Script::File("g".into()),
        ];
        assert_eq!(run.common.scripts, expected);
    }

    #[test]
    fn json_takes_a_file_only_with_an_equals_sign() {
        assert_eq!(run("juror run --json prog").common.json, Some("-".into()));
        assert_eq!(run("juror run --json=f prog").common.json, Some("f".into()));
        assert_eq!(run("juror run prog").common.json, None);
    }

    #[test]
    fn options_say_what_was_asked_for() {
        let run = run(
            "juror run --env A=1=2 --unset-env B --cd /tmp --stdout out --append \
                       --aslr --cpu free --history 9 --ignore-inlined prog a",
        );
        let options = run.options().expect("these are right");
        let expected = Options {
            program: "prog".into(),
            arguments: vec!["a".into()],
            environment: vec![("B".into(), None), ("A".into(), Some("1=2".into()))],
            directory: Some("/tmp".into()),
            stdout: Some("out".into()),
            append_stdout: true,
            append_stderr: true,
            randomize: true,
            cpu: CpuPolicy::Free,
            history: 9,
            ignore_inlined: true,
            self_check: None,
            ..Options::default()
        };
        assert_eq!(options, expected);
    }

    #[test]
    fn options_that_cannot_be_are_refused() {
        for (line, expected) in [
            ("juror run --env A prog", "--env takes NAME=VALUE, not `A`"),
            ("juror run --trace t prog", "--trace has nothing to record"),
            (
                "juror run --trace t --record e --trace-format csv prog",
                "juror reads CSV, and does not record it",
            ),
            (
                "juror run --property /no/such/file prog",
                "the property file /no/such/file cannot be read",
            ),
        ] {
            let error = run(line).options().expect_err(line);
            assert!(error.to_string().contains(expected), "{error}");
        }
    }

    #[test]
    fn the_name_tells_the_form_of_a_trace() {
        for (line, binary) in [
            ("juror run --trace t.jtr --record e prog", true),
            ("juror run --trace t.jsonl --record e prog", false),
            (
                "juror run --trace t --record e --trace-format binary prog",
                true,
            ),
            (
                "juror run --trace t.jtr --record e --trace-format json prog",
                false,
            ),
        ] {
            let options = run(line).options().expect("these are right");
            let recording = options.recording.expect("it is asked for");
            assert_eq!(recording.binary, binary, "{line}");
            assert_eq!(recording.events, ["e"]);
        }
    }

    #[test]
    fn a_property_file_must_be_text() {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("p.prop");
        std::fs::write(&file, b"property p\n\xff").expect("a file");
        let error = read_property(&file).expect_err("not UTF-8");
        assert!(
            error.to_string().ends_with("line 2 is not UTF-8"),
            "{error}"
        );
    }
}
