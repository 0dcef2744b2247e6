//! A row of the table of commands.

use crate::session::Session;
use juror_rules::control::Modes;
use juror_view::Outcome;
use juror_view::error::CommandError;
use juror_view::observer::Observer;

/// What a command does with the text behind its name.
pub type Handler = fn(&mut Session, &str, &mut dyn Observer) -> Result<Outcome, CommandError>;

/// The group of a command, by which help lists it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// Starting, resuming, stepping, ending.
    Running,
    /// Breakpoints, watchpoints, catchpoints, and what happens at them.
    Breakpoints,
    /// Values, memory, instructions, types.
    Data,
    /// Frames.
    Stack,
    /// Threads and processes.
    Threads,
    /// Properties, monitors and scenarios.
    Properties,
    /// Checkpoints.
    Checkpoints,
    /// Files, directories and other programs.
    Files,
    /// Settings, and juror itself.
    Settings,
}

impl Group {
    /// All groups, in the order of help.
    pub const ALL: [Group; 9] = [
        Group::Running,
        Group::Breakpoints,
        Group::Data,
        Group::Stack,
        Group::Threads,
        Group::Properties,
        Group::Checkpoints,
        Group::Files,
        Group::Settings,
    ];

    /// Returns the name, as `help` takes it.
    pub fn name(self) -> &'static str {
        match self {
            Group::Running => "running",
            Group::Breakpoints => "breakpoints",
            Group::Data => "data",
            Group::Stack => "stack",
            Group::Threads => "threads",
            Group::Properties => "properties",
            Group::Checkpoints => "checkpoints",
            Group::Files => "files",
            Group::Settings => "settings",
        }
    }

    /// Returns what its commands are for, in a line.
    pub fn summary(self) -> &'static str {
        match self {
            Group::Running => "start, continue, step and end the program",
            Group::Breakpoints => "stop at locations, accesses and events",
            Group::Data => "print values, memory, instructions and types",
            Group::Stack => "show and select frames",
            Group::Threads => "show and select threads and processes",
            Group::Properties => "monitor properties, react with scenarios",
            Group::Checkpoints => "save the state of the program and restore it",
            Group::Files => "files, directories and other programs",
            Group::Settings => "settings, help, and juror itself",
        }
    }
}

/// The names that a command looks up, so that the symbols which it needs are read first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Names {
    /// None.
    Nothing,
    /// That of its location spec.
    Location,
    /// Those of a location spec, or of two with a comma between them.
    Lines,
    /// All that match its regular expression.
    Matching,
    /// The main function.
    Main,
    /// Those that the subject of `info` needs.
    InfoSubject,
    /// Those in its expression.
    Expression,
}

/// The open evaluation that a command which lets the program run resumes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenEvaluation {
    /// None: the command does not resume one.
    Nothing,
    /// The selected thread's, or that of the thread which has one.
    Any,
    /// The selected thread's; it is an error if only another thread has one.
    Own,
}

/// What Enter alone does after a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repeats {
    /// Nothing.
    No,
    /// The line again.
    Line,
    /// The command without its argument.
    Name,
    /// The command without its argument; the line again if it goes backwards (`list -`).
    Onwards,
}

/// What completes an argument of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Completes {
    /// Nothing to complete.
    Nothing,
    /// Functions and source files.
    Places,
    /// What can be caught.
    Caught,
    /// Signals, and what `handle` does with them.
    Signals,
    /// Variables in scope, globals, functions.
    Expressions,
    /// The subjects of `info`.
    InfoSubjects,
    /// Names of commands.
    Commands,
    /// Files and directories.
    Files,
    /// What can be set and shown, and variables in scope.
    Settings,
    /// What `frame` and `thread` take beside a number.
    Words(&'static [&'static str]),
    /// Names of properties.
    Properties,
    /// What is done with properties, and their names.
    PropertyActions,
    /// What is done with scenarios, and their names.
    ScenarioActions,
}

/// A command: its name, its help, and what it does.
#[derive(Debug)]
pub struct Entry {
    /// Its full name.
    pub name: &'static str,
    /// Its other names; they win over prefixes.
    pub aliases: &'static [&'static str],
    /// The group in which help lists it.
    pub group: Group,
    /// What it does, in a line.
    pub summary: &'static str,
    /// What is typed, and what that does.
    pub examples: &'static [(&'static str, &'static str)],
    /// More help.
    pub details: &'static str,
    /// What Enter alone does after it.
    pub repeats: Repeats,
    /// What completes its argument.
    pub completes: Completes,
    /// The modes in which it is possible. Its argument may demand more: a call of a
    /// function needs a program that has begun.
    pub modes: Modes,
    /// The names that it looks up.
    pub names: Names,
    /// Whether it may change which points are wanted, in every process.
    pub changes_points: bool,
    /// Whether it lets the program run, or ends it: a reaction of a scenario waits for it.
    pub moves: bool,
    /// The open evaluation that it resumes.
    pub evaluation: OpenEvaluation,
    /// What it does.
    pub run: Handler,
}

impl Entry {
    /// A row of which only the differences need to be written.
    pub(crate) const DEFAULT: Entry = Entry {
        name: "",
        aliases: &[],
        group: Group::Settings,
        summary: "",
        examples: &[],
        details: "",
        repeats: Repeats::No,
        completes: Completes::Nothing,
        modes: Modes::Always,
        names: Names::Nothing,
        changes_points: false,
        moves: false,
        evaluation: OpenEvaluation::Nothing,
        run: |_, _, _| Ok(Outcome::Done),
    };
}
