//! The settings that `set` changes.

use juror_instrument::format::ELEMENTS_MAX;
use juror_instrument::program::Program;

/// Lines that `list` shows at once, unless the user has said otherwise.
pub(crate) const LIST_LINES: u32 = 10;

/// How values and sources are shown.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settings {
    /// How many lines `list` shows.
    pub list_lines: u32,
    /// How many elements of arrays, and characters of texts, are shown.
    pub elements_max: u64,
    /// Each field stands on a line of its own.
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
    /// The values of this program are shown by them.
    pub(crate) fn apply(&self, program: &mut Program) {
        program.elements_max = self.elements_max;
    }
}
