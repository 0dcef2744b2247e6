//! The settings that `set` changes.

use juror_program::program::Program;
use juror_values::format::ELEMENTS_MAX;

/// The default number of lines that `list` shows.
pub(crate) const LIST_LINES: u32 = 10;

/// The display settings.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settings {
    /// The number of lines that `list` shows.
    pub list_lines: u32,
    /// The limit of array elements and string characters shown.
    pub elements_max: u64,
    /// Whether each field is shown on its own line.
    pub is_pretty: bool,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            list_lines: LIST_LINES,
            elements_max: ELEMENTS_MAX,
            is_pretty: false,
        }
    }
}

impl Settings {
    /// Applies them to the values of a program.
    pub(crate) fn apply(&self, program: &mut Program) {
        program.elements_max = self.elements_max;
    }
}
