//! A row of the table of commands.

use crate::command_table::recorded::Recorded;
use crate::session::Session;
use juror_control::Modes;
use juror_fault::CommandError;
use juror_view::Outcome;
use juror_view::observer::Observer;

/// Executes a command, given its argument.
pub type Handler = fn(&mut Session, &str, &mut dyn Observer) -> Result<Outcome, CommandError>;

/// The group in which help lists a command.
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

/// The names that a command looks up, so that their symbols are read first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Names {
    /// None.
    Nothing,
    /// The name in its location spec.
    Location,
    /// The names in a location spec, or in two separated by a comma.
    Lines,
    /// All names that match its regular expression.
    Matching,
    /// The main function.
    Main,
    /// The names that the subject of `info` needs.
    InfoSubject,
    /// The names in its expression.
    Expression,
}

/// The open evaluation that a resuming command continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenEvaluation {
    /// None.
    Nothing,
    /// The selected thread's, or else that of any thread.
    Any,
    /// The selected thread's; it is an error if only another thread has one.
    Own,
}

/// The effect of an empty line after a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repeats {
    /// Nothing.
    No,
    /// Repeats the line.
    Line,
    /// Repeats the command without its argument.
    Name,
    /// Repeats the command without its argument, or the whole line if it goes backwards (`list -`).
    Onwards,
}

/// The completion of a command's argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Completes {
    /// Nothing to complete.
    Nothing,
    /// Functions and source files.
    Places,
    /// Events that can be caught.
    Caught,
    /// Signals, and actions of `handle`.
    Signals,
    /// Variables in scope, globals, functions.
    Expressions,
    /// The subjects of `info`.
    InfoSubjects,
    /// Names of commands.
    Commands,
    /// Files and directories.
    Files,
    /// Settings, and variables in scope.
    Settings,
    /// Words of `frame` and `thread`.
    Words(&'static [&'static str]),
    /// Names of properties.
    Properties,
    /// Actions of `property`, and names of properties.
    PropertyActions,
    /// Actions of `scenario`, and names of scenarios.
    ScenarioActions,
}

/// A command: its name, help and handler.
#[derive(Debug)]
pub struct Entry {
    /// Its full name.
    pub name: &'static str,
    /// Its other names; they take precedence over prefixes.
    pub aliases: &'static [&'static str],
    /// The group in which help lists it.
    pub group: Group,
    /// Its summary, in a line.
    pub summary: &'static str,
    /// Lines to type, and their effects.
    pub examples: &'static [(&'static str, &'static str)],
    /// More help.
    pub details: &'static str,
    /// The effect of an empty line after it.
    pub repeats: Repeats,
    /// The completion of its argument.
    pub completes: Completes,
    /// The modes in which it is possible. Its argument may require more: a call of a function needs
    /// a program that has begun.
    pub modes: Modes,
    /// Whether it has no argument: words behind its name are refused.
    pub takes_nothing: bool,
    /// The names that it looks up.
    pub names: Names,
    /// Whether it may change the points to insert, in every process.
    pub changes_points: bool,
    /// Whether it resumes or ends the program: a reaction of a scenario waits for it.
    pub moves: bool,
    /// The open evaluation that it resumes.
    pub evaluation: OpenEvaluation,
    /// The handler.
    pub run: Handler,
    /// The command over a recording, if a recording has it.
    pub recorded: Option<&'static Recorded>,
}

impl Entry {
    /// Returns whether it reads values to show them, which Ctrl-C ends.
    pub fn is_question(&self) -> bool {
        matches!(self.group, Group::Data | Group::Stack) || self.name == "info"
    }

    /// Checks that the command may be executed while another one lets the program run; `word` is
    /// what the user has typed for it.
    ///
    /// # Errors
    /// It would lose the other one.
    pub(crate) fn permit_while_running(&self, word: &str) -> Result<(), CommandError> {
        const OTHERS: &[&str] = &[
            "commands", "group", "restore", "scenario", "shell", "source",
        ];
        if !self.moves && !OTHERS.contains(&self.name) {
            return Ok(());
        }
        Err(CommandError::with_help(
            format!("`{word}` is not possible while the program runs"),
            "interrupt the program first",
        ))
    }

    /// The default row, for struct update syntax.
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
        takes_nothing: false,
        names: Names::Nothing,
        changes_points: false,
        moves: false,
        evaluation: OpenEvaluation::Nothing,
        run: |_, _, _| Ok(Outcome::Done),
        recorded: None,
    };
}
