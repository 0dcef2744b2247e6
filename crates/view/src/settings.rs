//! Views of settings, convenience variables and groups of commands, and of commands that act
//! outside the program.

use serde::Serialize;

/// A setting, as `show` shows it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct SettingView {
    /// Its name.
    pub name: String,
    /// Its value as `set` takes it; absent if nothing is set.
    pub value: Option<String>,
    /// The rules of `substitute-path`.
    pub substitutions: Vec<SubstitutionView>,
}

/// What a terminal that shows the results is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TerminalSettings {
    /// Whether text has styles, where the terminal shows them.
    pub has_styles: bool,
    /// Whether a result that is longer than the screen goes through a pager.
    pub paginates: bool,
    /// The columns of a line.
    pub width: Extent,
    /// The lines of the screen.
    pub height: Extent,
}

impl Default for TerminalSettings {
    fn default() -> TerminalSettings {
        TerminalSettings {
            has_styles: true,
            paginates: true,
            width: Extent::Terminal,
            height: Extent::Terminal,
        }
    }
}

/// An extent of a screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// That of the terminal, at each moment.
    Terminal,
    /// None.
    Unlimited,
    /// A number of columns or lines.
    Fixed(u32),
}

impl Extent {
    /// Returns the number of columns or lines, if there is a limit. `terminal` is that of the
    /// terminal, if it is known.
    pub fn limit(self, terminal: Option<usize>) -> Option<usize> {
        match self {
            Extent::Terminal => terminal,
            Extent::Unlimited => None,
            Extent::Fixed(limit) => Some(limit as usize),
        }
    }
}

/// A rule of `substitute-path`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SubstitutionView {
    /// The directory in the debug information.
    pub from: String,
    /// The directory that has its files now.
    pub to: String,
}

/// A variable of the environment of the program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EnvironmentVariableView {
    /// Its name.
    pub name: String,
    /// Its value; absent if it is not set.
    pub value: Option<String>,
}

/// A group of commands of the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CommandGroupView {
    /// The name.
    pub name: String,
    /// The commands.
    pub commands: Vec<String>,
}

/// A file of pretty-printers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PrettyPrinterView {
    /// The file.
    pub file: String,
    /// The number of its rules.
    pub rule_count: usize,
}

/// Functions or files that `step` does not enter.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct SkipView {
    /// Its number, from 1.
    pub number: u32,
    /// Whether it is enabled.
    pub enabled: bool,
    /// The function's name.
    pub function: Option<String>,
    /// The regular expression for names of functions.
    pub function_pattern: Option<String>,
    /// The file or file-name pattern.
    pub file: Option<String>,
}

/// Bytes that were copied between memory and a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CopyView {
    /// The number of bytes.
    pub byte_count: u64,
    /// The file that they were written to.
    pub file: Option<String>,
    /// The address that they were written to.
    pub address: Option<u64>,
}

/// What the user has asked for with `quit`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct QuitView {
    /// The exit status that juror is to end with, if the user has named one.
    pub status: Option<u8>,
}

/// The end of a shell command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ShellEndView {
    /// Its exit status.
    pub status: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<String>,
}
